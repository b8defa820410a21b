package discover_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/discover"
	"nero/run/job"
)

// voxels is a subject of volumes of noise.
func voxels(n int, d, h, w int, f func(v *space.Volume) float64) *discover.Subject {
	s := about(n, 1, 1, func([]float64) []float64 { return []float64{0} })
	s.In = space.Spec{Name: "scan", Kind: space.KindVolume, Shape: []int{1, d, h, w}}
	r := rand.New(rand.NewPCG(5, 2))
	for _, side := range [][]dataset.Sample{s.Fit, s.Choose} {
		for i := range side {
			v := space.NewVolume(1, d, h, w)
			for k := range v.Val {
				v.Val[k] = r.NormFloat64()
			}
			side[i].Value = v
		}
	}
	s.Answers = func(_ context.Context, v []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(v))
		for i := range v {
			x, ok := v[i].(*space.Volume)
			if !ok {
				return nil, discover.ErrAnswer
			}
			out[i] = &space.Rows{N: 1, W: 1, Val: []float64{f(x)}}
		}
		return out, nil
	}
	return s
}

// at is a voxel, around the ends.
func at(v *space.Volume, z, y, x int) float64 {
	return v.Val[(((z+v.D)%v.D)*v.H+(y+v.H)%v.H)*v.W+(x+v.W)%v.W]
}

// sum adds up something of every voxel.
func sum(v *space.Volume, f func(z, y, x int) float64) float64 {
	total := 0.0
	for z := range v.D {
		for y := range v.H {
			for x := range v.W {
				total += f(z, y, x)
			}
		}
	}
	return total
}

// What was planted into functions of volumes is found, all of it and nothing else; a function of no symmetry has none.
func TestVolumes(t *testing.T) {
	t.Parallel()
	const side = 6
	middle := func(i, n int) float64 { return float64(i) - float64(n-1)/2 }
	for name, c := range map[string]struct {
		size [3]int
		f    func(v *space.Volume) float64
		want []string
	}{
		"what depends on the distance from the middle": {
			f: func(v *space.Volume) float64 {
				return sum(v, func(z, y, x int) float64 {
					a, b, c := middle(z, side), middle(y, side), middle(x, side)
					return at(v, z, y, x) * at(v, z, y, x) * math.Exp(-(a*a+b*b+c*c)/4)
				})
			},
			want: []string{"Oh"},
		},
		"neighbors around each other along x": {
			f: func(v *space.Volume) float64 {
				return sum(v, func(z, y, x int) float64 { return math.Tanh(at(v, z, y, x) * at(v, z, y, x+1)) })
			},
			want: []string{
				"roll by 1", "quarter turns about x", "half turn about y", "half turn about z", "mirror x",
				"mirror y", "mirror z", "inversion",
			},
		},
		"a screw that knows left from right": {
			f: func(v *space.Volume) float64 {
				return sum(v, func(z, y, x int) float64 {
					return at(v, z, y, x)*at(v, z, y, x+1)*at(v, z, y+1, x)*at(v, z+1, y, x)*at(v, z, y+2, x+1) +
						at(v, z, y, x)*at(v, z+2, y, x)*at(v, z, y+1, x)
				})
			},
			want: []string{"roll by 1"},
		},
		"a box of unequal sides": {
			size: [3]int{4, 6, 6},
			f: func(v *space.Volume) float64 {
				return sum(v, func(z, y, x int) float64 {
					a, b := middle(y, v.H), middle(x, v.W)
					return at(v, z, y, x) * at(v, z, y, x) * math.Exp(-(a*a+b*b)/4) * float64(1+z)
				})
			},
			want: []string{"quarter turns about z", "mirror x", "mirror y"},
		},
		"nothing": {
			f: func(v *space.Volume) float64 {
				k := 0.0
				return sum(v, func(z, y, x int) float64 {
					k++
					return math.Sin(float64(k*k)) * at(v, z, y, x) * at(v, z, y, x+1)
				})
			},
		},
	} {
		if c.size == [3]int{} {
			c.size = [3]int{side, side, side}
		}
		s := voxels(40, c.size[0], c.size[1], c.size[2], c.f)
		got := scan(t, s)
		found := map[string]bool{}
		for _, h := range got.Hypotheses() {
			family, _, _ := strings.Cut(h.Claim, ":")
			if h.Word == discover.Holds || len(c.want) == 0 {
				found[family] = true
			}
			study := job.Study{}
			h.Lay(&study)
			if _, err := job.OpenGroup(t.Context(), study.Group.Name, study.Group.Definition, nil); err != nil {
				t.Errorf("%s: %s: %v", name, family, err)
			}
		}
		for _, w := range c.want {
			if !found[w] {
				t.Errorf("%s: %s is not found", name, w)
			}
			delete(found, w)
		}
		if len(found) > 0 {
			t.Errorf("%s: found beside: %v", name, found)
		}
	}
}

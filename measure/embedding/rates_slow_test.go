//go:build slow

package embedding

import (
	"math"
	"testing"

	"nero/internal/elementary"
	"nero/internal/slow"

	"gonum.org/v1/gonum/mat"
)

// Intervals of 95 % hold the truth in so many of so many data sets of 40 objects. The truth is a closed form where
// there is one, else the number itself on very many objects. Of 200, fewer than 178 are seen with probability 1e-4 at
// 0.95; what a bootstrap over 40 objects holds is a little less.
func TestIntervalsCover(t *testing.T) {
	slow.Test(t)
	const sets, some, least = 200, 40, 178
	angles := grid(4)
	noisy := func(n int, seed uint64) *Orbits {
		r := source(seed + 9000)
		return planted(n, angles, seed, func(x []float64, a float64) []float64 {
			s, c := math.Sincos(a)
			y := []float64{x[0], c*x[1] - s*x[2], s*x[1] + c*x[2], x[3]}
			for k := range y {
				y[k] += 0.4 * elementary.Normal(r)
			}
			return y
		})
	}
	fit, choose := noisy(80, 1), noisy(40, 2)
	var maps []*Map
	for k := range angles {
		m, err := Learn(fit.Pairs(k), choose.Pairs(k), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		maps = append(maps, m)
	}
	target := Target{Half: HalfPlane}
	for _, a := range angles {
		target.Coordinates = append(target.Coordinates, []float64{math.Cos(a), math.Sin(a)})
	}
	posed := func(n int, seed uint64) *Orbits { // features that know the pose, which the above do not
		r := source(seed + 70000)
		return planted(n, angles, seed, func(x []float64, a float64) []float64 {
			s, c := math.Sincos(a)
			return []float64{c + 0.8*elementary.Normal(r), s + 0.8*elementary.Normal(r), x[0]}
		})
	}
	noise := func(n int, seed uint64) Release {
		r := source(seed + 31)
		x := normal(n, 6, r)
		y := normal(n, 6, r)
		y.Scale(0.7, y)
		y.Add(y, x)
		return Release{Old: x, New: y, AsIs: y, Object: upTo(n)}
	}
	old := noise(80, 1)
	turn, _, err := procrustes(old)
	if err != nil {
		t.Fatal(err)
	}
	adapter := turned(old, turn, 1)
	for _, c := range []struct {
		name string
		// NaN is the mean over data sets: of what depends on how many candidates there are
		truth float64
		of    func(seed uint64) Estimate
	}{
		{"R² of a map", explained(maps[1], noisy(20000, 3)).Value, func(seed uint64) Estimate {
			return explained(maps[1], noisy(some, seed))
		}},
		{"MRR of views", math.NaN(), func(seed uint64) Estimate {
			return noisy(some, seed).Views(maps, Options{Seed: seed}).MRR
		}},
		{"effective rank", rank(t, noisy(20000, 3)).Value, func(seed uint64) Estimate {
			return rank(t, noisy(some, seed))
		}},
		{"R² of the pose", read(t, posed, posed(5000, 5), target).Value, func(seed uint64) Estimate {
			return read(t, posed, posed(some, seed), target)
		}},
		// of y = x + σe, d/(√d √d (1 + σ²))
		{"CKA", 1 / (1 + 0.7*0.7), func(seed uint64) Estimate {
			return CKA(noise(some, seed), Options{Seed: seed})
		}},
		{"R² of a turn", isometry(adapter, noise(20000, 3)).Value, func(seed uint64) Estimate {
			return isometry(adapter, noise(some, seed))
		}},
		{"own, of units", 0.6, func(seed uint64) Estimate { return paired(some, 0.5, seed).Diagonal }},
		{"others, of units", 0.0625, func(seed uint64) Estimate { return paired(some, 0.5, seed).OffDiagonal }},
		{"others, of units that are unrelated", 0, func(seed uint64) Estimate {
			return paired(some, 0, seed).OffDiagonal
		}},
		{"same object", math.NaN(), func(seed uint64) Estimate {
			share, _ := noisy(some, seed).identity(Options{Seed: seed})
			return share
		}},
		{"R² held near a turn", held(t, old, noise(5000, 3), turn).Value, func(seed uint64) Estimate {
			return held(t, old, noise(some, seed), turn)
		}},
		{"frequency", 1, func(seed uint64) Estimate {
			g, err := Generate(flowing(some, around(), 0.05, seed), flowing(20, around(), 0.05, seed+5000),
				flowing(20, around(), 0.05, seed+9000), Options{Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			return g.Frequencies[1]
		}},
	} {
		n, each := sets, make([]Estimate, 0, sets)
		if c.name == "frequency" {
			n = 60 // each is a fit
		}
		centre, width := c.truth, 0.0
		for seed := range uint64(n) {
			each = append(each, c.of(100+seed))
		}
		if math.IsNaN(centre) {
			centre = 0
			for _, e := range each {
				centre += e.Value / float64(n)
			}
		}
		held := 0
		for _, e := range each {
			if e.Interval.Low <= centre && centre <= e.Interval.High {
				held++
			}
			width += (e.Interval.High - e.Interval.Low) / float64(n)
		}
		t.Logf("%s: %d of %d intervals hold %.4g, mean width %.3g", c.name, held, n, centre, width)
		if held < least*n/sets {
			t.Errorf("%s: %d of %d intervals hold %.4g", c.name, held, n, centre)
		}
	}
}

// paired are units of variance 1 that share a number of the object by the weight a: of two of them the correlation is
// a², of one with itself after the element a² + 0.35 (1 - a²)/0.75.
func paired(n int, a float64, seed uint64) Transformation {
	r := source(seed + 4000)
	const units = 6
	x, y := mat.NewDense(n, units, nil), mat.NewDense(n, units, nil)
	for i := range n {
		z := elementary.Normal(r)
		for j := range units {
			own, b := elementary.Normal(r), math.Sqrt(1-a*a)
			x.Set(i, j, a*z+b*own)
			y.Set(i, j, a*z+b*((0.35/0.75)*own+math.Sqrt(1-0.35*0.35/0.75/0.75)*elementary.Normal(r)))
		}
	}
	var out Transformation
	out.Diagonal, out.OffDiagonal = correlations(x, y, objects(upTo(n)), Options{Seed: seed})
	return out
}

// held is R² of the map that is held near a turn by the penalty 1.
func held(t *testing.T, fit, confirm Release, turn *mat.Dense) Estimate {
	t.Helper()
	all, err := curve(fit, confirm, turn, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return all[2].R2
}

func explained(m *Map, o *Orbits) Estimate {
	p := o.Pairs(1)
	return Explain(m.Of(p.Before), p.After, p.Object, Options{Seed: 1}).Overall
}

func isometry(m *Map, r Release) Estimate {
	return Explain(m.Of(r.New), r.Old, r.Object, Options{Seed: 1}).Overall
}

func rank(t *testing.T, o *Orbits) Estimate {
	t.Helper()
	few := &Orbits{Object: o.Object, At: []*mat.Dense{o.Still(), o.At[1]}}
	got, err := few.Invariance(Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return got.Rank
}

func read(t *testing.T, of func(int, uint64) *Orbits, confirm *Orbits, target Target) Estimate {
	t.Helper()
	p, err := ReadPose(of(40, 1), of(40, 2), confirm, target, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p.Overall
}

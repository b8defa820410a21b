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
	const sets, objects, least = 200, 40, 178
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
		return Release{Old: x, New: y, Object: upTo(n)}
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
			return explained(maps[1], noisy(objects, seed))
		}},
		{"MRR of views", math.NaN(), func(seed uint64) Estimate {
			return noisy(objects, seed).Views(maps, Options{Seed: seed}).MRR
		}},
		{"effective rank", rank(t, noisy(20000, 3)).Value, func(seed uint64) Estimate {
			return rank(t, noisy(objects, seed))
		}},
		{"R² of the pose", read(t, posed, posed(5000, 5), target).Value, func(seed uint64) Estimate {
			return read(t, posed, posed(objects, seed), target)
		}},
		// of y = x + σe, d/(√d √d (1 + σ²))
		{"CKA", 1 / (1 + 0.7*0.7), func(seed uint64) Estimate {
			return CKA(noise(objects, seed), Options{Seed: seed})
		}},
		{"R² of a turn", isometry(adapter, noise(20000, 3)).Value, func(seed uint64) Estimate {
			return isometry(adapter, noise(objects, seed))
		}},
		{"frequency", 1, func(seed uint64) Estimate {
			g, err := Generate(flowing(objects, around(), 0.05, seed), flowing(20, around(), 0.05, seed+5000),
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

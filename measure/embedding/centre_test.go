package embedding

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// offset is a path with a constant in its features.
func offset(p *Path, by ...float64) *Path {
	o := &Orbits{Object: p.Object, Identity: p.Identity}
	for _, at := range p.At {
		y := mat.DenseCopyOf(at)
		n, _ := y.Dims()
		for i := range n {
			for j, c := range by {
				y.Set(i, j, y.At(i, j)+c)
			}
		}
		o.At = append(o.At, y)
	}
	return &Path{T: p.T, Orbits: o, Period: p.Period}
}

// Features that move linearly, and the same with a constant in them: the first have a linear map, the others none, and
// one generator once the constant is away. It is known up to what no element moves: ρ(g)(m - c) = m - c for all g.
func TestConstantInFeatures(t *testing.T) {
	by := []float64{3, -20, 7, 100, -1}
	for _, noise := range []float64{0, 0.05} {
		sets := func(by ...float64) (fit, choose, confirm *Path) {
			return offset(flowing(80, around(), noise, 1), by...), offset(flowing(40, around(), noise, 2), by...),
				offset(flowing(40, around(), noise, 3), by...)
		}
		fit, choose, confirm := sets()
		c, err := Centre(fit.Orbits, choose.Orbits)
		if err != nil || c != nil {
			t.Errorf("noise %g: a constant in features that have none: %v, %v", noise, c, err)
		}
		was, err := Learn(fit.Pairs(3), choose.Pairs(3), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		is, err := Either(fit.Pairs(3), choose.Pairs(3))
		if err != nil || is.Shift != nil || !mat.Equal(is.M, was.M) {
			t.Errorf("noise %g: another map than the linear one: %v, %v", noise, is, err)
		}
		plain, err := Generate(fit, choose, confirm, Options{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}

		fit, choose, confirm = sets(by...)
		if is, err = Either(fit.Pairs(3), choose.Pairs(3)); err != nil || is.Shift == nil {
			t.Fatalf("noise %g: a linear map of what has a constant: %v", noise, err)
		}
		p := confirm.Pairs(3)
		if x := Explain(is.Of(p.Before), p.After, p.Object, Options{}); !(x.Overall.Value > 0.98) {
			t.Errorf("noise %g: it explains %g", noise, x.Overall.Value)
		}
		if c, err = Centre(fit.Orbits, choose.Orbits); err != nil || c == nil {
			t.Fatalf("noise %g: no constant: %v", noise, err)
		}
		var rho mat.Dense // of what is left of the constant
		rho.Exp(scaled(1, plain.A))
		rest := mat.NewVecDense(5, nil)
		for j := range by {
			rest.SetVec(j, c[j]-by[j])
		}
		var moved mat.VecDense
		moved.MulVec(&rho, rest)
		moved.SubVec(&moved, rest)
		if d := mat.Norm(&moved, 2); !(d < 1e-6+4*noise) {
			t.Errorf("noise %g: the constant is off by %g where elements move it", noise, d)
		}
		from := func(p *Path) *Path { return &Path{T: p.T, Orbits: p.From(c), Period: p.Period} }
		g, err := Generate(from(fit), from(choose), from(confirm), Options{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		for k, f := range g.Frequencies {
			if !isNear(f.Value, float64(k), 1e-6+0.1*noise) {
				t.Errorf("noise %g: frequency %d is %g", noise, k, f.Value)
			}
		}
		if !(g.R2.Value > 0.97) {
			t.Errorf("noise %g: R² %g", noise, g.R2.Value)
		}
	}
}

func scaled(f float64, a *mat.Dense) *mat.Dense {
	out := &mat.Dense{}
	out.Scale(f, a)
	return out
}

// A direction that holds all is a collapse, of two numbers, too; two that hold as much are none. And what only rounding
// tells apart tells nothing.
func TestCollapse(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(x []float64) []float64
		why  string
	}{
		{"a circle", func(x []float64) []float64 {
			s, c := math.Sincos(x[0])
			return []float64{c, s}
		}, ""},
		{
			"a line in the plane", func(x []float64) []float64 { return []float64{x[0], 2*x[0] + 0.1*x[1]} },
			"the effective rank is below 1.5",
		},
		{"a plane in space", func(x []float64) []float64 { return []float64{x[0], x[1], 0.01 * x[2]} }, ""},
		{
			"a line in space", func(x []float64) []float64 { return []float64{x[0], 2 * x[0], 0.1 * x[2]} },
			"the effective rank is below 1.5",
		},
		{"rounding", func(x []float64) []float64 {
			return []float64{1 + 1e-8*x[0], 2 + 1e-8*x[1], 3 + 1e-8*x[2]}
		}, "two objects are 6e-09 of the size of the features apart, which is what rounding to float32 " +
			"leaves (if they hold more digits, take their mean off)"},
		{"small beside a constant", func(x []float64) []float64 {
			return []float64{1 + 1e-4*x[0], 2 + 1e-4*x[1], 3 + 1e-4*x[2]}
		}, ""},
	} {
		got, err := planted(400, grid(4), 1, func(x []float64, _ float64) []float64 { return c.of(x) }).
			Invariance(Options{Seed: 3})
		if err != nil || got.Why != c.why {
			t.Errorf("%s: %q (rank %g), %v", c.name, got.Why, got.Rank.Value, err)
		}
	}
}

package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/internal/elementary"
)

// made is a field of a size with the vectors that f gives for column x and row y.
func made(h, w int, f func(x, y float64) (u, v float64)) *space.Field {
	o := space.NewField(h, w)
	for i := range h * w {
		o.U()[i], o.V()[i] = f(float64(i%w), float64(i/w))
	}
	return o
}

func TestFieldsByHand(t *testing.T) {
	truth := &space.Field{H: 1, W: 4, Val: []float64{1, 1, 1, 0, 2, 2, 2, 0}}
	// Errors (3, 4), (0, 0), (-1, 1), (1, 0): their squares are 25, 0, 2, 1, their lengths 5, 0, √2, 1.
	at := &space.Field{H: 1, W: 4, Val: []float64{4, 1, 0, 1, 6, 2, 3, 0}}
	c := Case{At: at, Truth: truth}
	for name, want := range map[string]float64{
		"mse": 28.0 / 8, "rmse": math.Sqrt(3.5), "rmse_pooled": math.Sqrt(3.5), "mae": (7 + 2 + 1) / 8.0,
		"aee": (6 + math.Sqrt2) / 4, "aee95": 5,
		"rmse@self": math.Sqrt(3.5), "aee@consensus": (6 + math.Sqrt2) / 4, "vorticity_error": math.NaN(),
	} {
		if got := find(t, name).Measure(c); !(math.Abs(got-want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s = %.12g, want %.12g", name, got, want)
		}
	}
	// Two samples with a root mean square of 1 and 7: the mean is 4, that of all pixels 5.
	if got := FieldRMSEPooled.Pooled([]Evidence{{Value: 1}, {Value: 7}}); got != 5 {
		t.Errorf("pooled = %g, want 5", got)
	}
	// The angle between (0, 0, 1) and (1, 0, 1) is 45 degrees, between (1, 0, 1) and (0, 1, 1) it is 60.
	a, b := &space.Field{H: 1, W: 2, Val: []float64{0, 1, 0, 0}}, &space.Field{H: 1, W: 2, Val: []float64{1, 0, 0, 1}}
	if got := AngularError.Measure(Case{At: a, Truth: b}); !(math.Abs(got-52.5) < 1e-12) {
		t.Errorf("angular error = %g, want 52.5", got)
	}
	if got := AngularError.Measure(Case{
		At:    &space.Field{H: 1, W: 1, Val: []float64{1e-9, 0}},
		Truth: space.NewField(1, 1),
	}); !(math.Abs(got-1e-9*180/math.Pi) < 1e-18) {
		t.Errorf("a small angle = %g", got)
	}
	// Of 1 to 40 the 38th is what 95 % do not exceed.
	many := made(1, 40, func(x, _ float64) (float64, float64) { return 0, 40 - x })
	if got := EndPoint95.Measure(Case{At: many, Truth: space.NewField(1, 40)}); got != 38 {
		t.Errorf("aee95 = %g, want 38", got)
	}
}

// A turn of angular velocity w, counter-clockwise as displayed, is u = w·y, v = -w·x with y down: dv/dx - du/dy = -2w.
// A source has du/dx + dv/dy = 2s.
func TestDerivativesOfFields(t *testing.T) {
	zero := space.NewField(5, 7)
	turn := made(5, 7, func(x, y float64) (float64, float64) { return 0.3 * y, -0.3 * x })
	source := made(5, 7, func(x, y float64) (float64, float64) { return 0.2 * x, 0.2 * y })
	shear := made(5, 7, func(_, y float64) (float64, float64) { return 0.5 * y, 0 })
	for name, c := range map[string]struct {
		f            *space.Field
		curl, spread float64
	}{"turn": {turn, 0.6, 0}, "source": {source, 0, 0.4}, "shear": {shear, 0.5, 0}} {
		if got := VorticityError.Measure(Case{At: c.f, Truth: zero}); !(math.Abs(got-c.curl) < 1e-12) {
			t.Errorf("%s: vorticity error %g, want %g", name, got, c.curl)
		}
		if got := DivergenceError.Measure(Case{At: zero, Truth: c.f}); !(math.Abs(got-c.spread) < 1e-12) {
			t.Errorf("%s: divergence error %g, want %g", name, got, c.spread)
		}
	}
}

func TestFieldsWithoutValue(t *testing.T) {
	good, nan, inf := space.NewField(3, 3), space.NewField(3, 3), space.NewField(3, 3)
	nan.Val[4], inf.Val[17] = math.NaN(), math.Inf(1)
	for name, c := range map[string]Case{
		"NaN": {At: nan, Truth: good}, "NaN in the reference": {At: good, Truth: nan},
		"infinite": {At: inf, Truth: inf}, "no reference": {At: good},
		"another size": {At: good, Truth: space.NewField(3, 4)},
		"no pixels":    {At: space.NewField(0, 3), Truth: space.NewField(0, 3)},
		"no field":     {At: (*space.Field)(nil), Truth: good},
		"too few numbers": {
			At:    &space.Field{H: 3, W: 3, Val: make([]float64, 9)},
			Truth: &space.Field{H: 3, W: 3, Val: make([]float64, 9)},
		},
	} {
		for _, m := range velocimetry() {
			if got := m.Measure(c); !math.IsNaN(got) {
				t.Errorf("%s: %s = %g", name, m.Name, got)
			}
		}
	}
}

// Turning prediction and reference by a quarter, vectors and places, changes no error, and neither does negating both;
// the errors are ordered as means are.
func TestFieldLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 6).Draw(t, "n")
		draw := func(name string) *space.Field {
			return &space.Field{H: n, W: n, Val: rapid.SliceOfN(rapid.Float64Range(-5, 5), 2*n*n, 2*n*n).Draw(t, name)}
		}
		// Element 2 of the square's symmetries: out[r][c] = in[c][n-1-r], (u, v) becomes (v, -u).
		quarter := func(f *space.Field) *space.Field {
			o := space.NewField(n, n)
			for r := range n {
				for c := range n {
					from := c*n + n - 1 - r
					o.U()[r*n+c], o.V()[r*n+c] = f.V()[from], -f.U()[from]
				}
			}
			return o
		}
		negative := func(f *space.Field) *space.Field {
			o := space.NewField(n, n)
			for i, x := range f.Val {
				o.Val[i] = -x
			}
			return o
		}
		a, b := draw("a"), draw("b")
		value := map[string]float64{}
		for _, m := range velocimetry() {
			v := m.Measure(Case{At: a, Truth: b})
			value[m.Name] = v
			for k, w := range []float64{
				m.Measure(Case{At: b, Truth: a}),
				m.Measure(Case{At: quarter(a), Truth: quarter(b)}),
				m.Measure(Case{At: negative(a), Truth: negative(b)}),
			} {
				if !(math.Abs(v-w) <= 1e-9*max(1, v)) {
					t.Fatalf("%s = %g, and %g the other way, turned, negated (%d)", m.Name, v, w, k)
				}
			}
			if x := m.Measure(Case{At: a, Truth: a}); x != 0 {
				t.Fatalf("%s with itself = %g", m.Name, x)
			}
		}
		const e = 1 + 1e-12
		if value["mae"] > value["rmse"]*e || value["aee"] > math.Sqrt2*value["rmse"]*e ||
			value["rmse"] > math.Sqrt(value["mse"])*e || value["mae"] > value["aee"]*e {
			t.Fatalf("%v", value)
		}
	})
}

// fieldsOfFlow are an answer of a size and what it is compared with, with errors as those of a model.
func fieldsOfFlow(n int) Case {
	r := rand.New(rand.NewPCG(7, 8))
	a, b := space.NewField(n, n), space.NewField(n, n)
	for i := range a.Val {
		b.Val[i] = 3 * r.NormFloat64()
		a.Val[i] = float64(float32(b.Val[i] + 0.2*r.NormFloat64()))
	}
	return Case{At: a, Truth: b, Got: a, Want: b}
}

// Lengths and angles are those of one pixel after the other, to the last bit and in the order of the pixels.
func TestFieldsOneByOne(t *testing.T) {
	for _, n := range []int{1, 3, 16, 17, 40} {
		c := fieldsOfFlow(n)
		f, _ := newFlow(c)
		u, v, p, q := f.numbers()
		length, angle := 0.0, 0.0
		for i := range u {
			u, v, p, q := u[i], v[i], p[i], q[i]
			length += elementary.Hypot(u-p, v-q)
			sine := elementary.Hypot(elementary.Hypot(v-q, p-u), float64(u*q)-float64(v*p))
			angle += float64(elementary.Atan2(sine, float64(u*p)+float64(v*q)+1) * (180 / math.Pi))
		}
		for m, want := range map[*Metric]float64{EndPoint: length / float64(n*n), AngularError: angle / float64(n*n)} {
			if got := m.Measure(c); math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%s of %d x %d pixels is %g, want %g", m.Name, n, n, got, want)
			}
		}
	}
}

func BenchmarkFields(b *testing.B) {
	c := fieldsOfFlow(256)
	for _, m := range []*Metric{FieldRMSE, EndPoint, EndPoint95, AngularError, Relative} {
		b.Run(m.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Measure(c)
			}
		})
	}
}

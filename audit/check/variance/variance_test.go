package variance_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/variance"
	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/aggregate"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
)

const inputs = 40

// of is a model of a point of the plane.
func of(f func(x, y float64) []float64) audit.Predictor {
	return audittest.Pointwise(func(v space.Value) space.Value {
		p := v.(*space.Tensor).Val //nolint:errcheck // vectors only
		y := f(p[0], p[1])
		return &space.Tensor{Shape: []int{len(y)}, Val: y}
	})
}

// rays are points on the positive x axis, every fifth of them far out.
func rays(i int) (dataset.Sample, error) {
	r := 1 + 0.37*float64(i%17)/17
	if i%5 == 0 {
		r += 10
	}
	return dataset.Sample{
		ID: "ray " + strconv.Itoa(i), Label: -1,
		Value: &space.Tensor{Shape: []int{2}, Val: []float64{r, 0}},
	}, nil
}

func subject(t *testing.T, name string, p audit.Predictor, n int) *audit.Subject {
	t.Helper()
	g := catalog.SO2()
	return &audit.Subject{
		Name: name, Predictor: p, Plan: audittest.Plan(t, audittest.Plane(t, g), action.Trivial{G: g},
			audittest.Angles(n)...),
		N: inputs, Sample: audittest.Vectors(inputs, 3), Seed: 1,
	}
}

func onRays(t *testing.T, name string, f func(x, y float64) []float64) *audit.Subject {
	t.Helper()
	s := subject(t, name, of(f), 12)
	s.Sample = rays
	return s
}

// run returns the result of the check and its part of the report.
func run(t *testing.T, s *audit.Subject) (*variance.Result, *audit.Result) {
	t.Helper()
	var v *variance.Result
	probe := &audit.Check{
		Name: "probe", Doc: "Probe keeps the result.", Requires: []*audit.Check{variance.Check},
		Run: keep(&v),
	}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, probe)
	for _, c := range r.Results {
		if c.Check == variance.Check {
			return v, c
		}
	}
	t.Fatal("no result")
	return nil, nil
}

func near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*math.Max(math.Abs(a), math.Abs(b))+1e-9
}

// The split of a linear function is that of the table of w·R(g)x, written down by hand.
func TestSplitOfALinearFunction(t *testing.T) {
	s := subject(t, "linear", audittest.Linear(1, 2), 12)
	got, _ := run(t, s)
	for _, exact := range []bool{true, false} {
		angles := []float64{0}
		for k := 1; k < 12; k++ {
			if (k%3 == 0) == exact {
				angles = append(angles, 30*float64(k))
			}
		}
		z := func(i, g, _ int) float64 {
			x, err := s.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			v := x.Value.(*space.Tensor).Val //nolint:errcheck // vectors only
			sin, cos := math.Sincos(angles[g] * math.Pi / 180)
			return cos*v[0] + sin*v[1] + 2*(cos*v[1]-sin*v[0])
		}
		want := aggregate.SplitVariance(inputs, len(angles), 1, z)
		o := got.Sets[exact].Outputs
		if o.Inputs != inputs || o.Elements != len(angles) || !near(o.SSInput, want.SSInput, 1e-4) ||
			!near(o.SSElement, want.SSElement, 1e-4) ||
			!near(o.SSInteract, want.SSInteract, 1e-4) {
			t.Errorf("exact %t: %+v, want %+v", exact, o, want)
		}
		// By hand as well: √ of the mean over elements of the variance over inputs, and the other way round.
		var over [2]float64
		for g := range angles {
			var m aggregate.Moments
			for i := range inputs {
				m.Add(z(i, g, 0), i)
			}
			over[1] += m.Std() / float64(len(angles))
		}
		for i := range inputs {
			var m aggregate.Moments
			for g := range angles {
				m.Add(z(i, g, 0), g)
			}
			over[0] += m.Std() / inputs
		}
		if n := got.Sets[exact].Norm[0]; !near(n.Ratio, over[0]/over[1], 1e-4) {
			t.Errorf("exact %t: normalised variance %+v, want %g", exact, n, over[0]/over[1])
		}
	}
}

// A number that never moves is undefined, one that only the element moves is infinite, an invariant one is 0.
func TestNormalisedVariance(t *testing.T) {
	s := onRays(t, "three", func(x, y float64) []float64 { return []float64{3, x / math.Hypot(x, y), x*x + y*y} })
	got, res := run(t, s)
	n := got.Sets[false].Norm
	if len(n) != 3 || !math.IsNaN(n[0].Ratio) || !math.IsInf(n[1].Ratio, 1) || n[2].Ratio > 1e-6 {
		t.Errorf("%+v, want undefined, infinite, 0", n)
	}
	var words []string
	for _, e := range res.Exhibits {
		if e.Name == "normalised-continuous" {
			for _, row := range e.Table.Rows {
				words = append(words, row[len(row)-1].Text)
			}
		}
	}
	if got := strings.Join(words, "|"); got != "does not vary: undefined, not perfect|only the element moves it|" {
		t.Errorf("remarks %q", got)
	}
}

// Noise of a known size is found as noise, and nothing of it is blamed on elements.
func TestNoise(t *testing.T) {
	const size = 0.5
	s := subject(t, "noisy", audittest.Stochastic(audittest.Radius(0), size, 3), 12)
	got, _ := run(t, s)
	o := got.Sets[false].Outputs
	v := o.Split()
	if o.Repeats != 2 || !(v.Noise.Variance > 0.6*size*size && v.Noise.Variance < 1.5*size*size) {
		t.Errorf("%+v: noise %g, want about %g", o, v.Noise.Variance, size*size)
	}
	if !(v.Element.Share < 0.05 && v.Noise.Share > 0.01) {
		t.Errorf("shares %+v", v)
	}
	quiet, res := run(t, subject(t, "quiet", audittest.Radius(0), 12))
	if o := quiet.Sets[false].Outputs; o.Repeats != 1 || o.Split().Element.Share > 1e-9 {
		t.Errorf("quiet: %+v", o)
	}
	for _, m := range res.Measures {
		if strings.Contains(m.Name, "noise") {
			t.Errorf("noise of a model without noise: %+v", m)
		}
	}
}

// Projections of a large output have nearly the shares of the output.
func TestProjections(t *testing.T) {
	wide := func(n int) audit.Predictor {
		return of(func(x, y float64) []float64 {
			out := make([]float64, n)
			for k := range out {
				out[k] = (x*x + y*y) * math.Sin(float64(k+1))
				if k%2 == 0 {
					out[k] += 0.5*x + 0.3*y*math.Cos(float64(3*k))
				}
			}
			return out
		})
	}
	small, _ := run(t, subject(t, "8", wide(8), 12))
	large, res := run(t, subject(t, "400", wide(400), 12))
	a, b := small.Sets[false], large.Sets[false]
	if a.Projected || !b.Projected || len(b.Norm) != 8 {
		t.Fatalf("projected %t and %t, %d numbers", a.Projected, b.Projected, len(b.Norm))
	}
	// The sums of the 400 components, not projected.
	var all aggregate.TwoWay
	angles := []float64{0, 30, 60, 120, 150, 210, 240, 300, 330}
	s := subject(t, "400", nil, 12)
	for k := range 400 {
		o := aggregate.SplitVariance(inputs, len(angles), 1, func(i, g, _ int) float64 {
			x, err := s.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			v := x.Value.(*space.Tensor).Val //nolint:errcheck // vectors only
			sin, cos := math.Sincos(angles[g] * math.Pi / 180)
			px, py := cos*v[0]+sin*v[1], cos*v[1]-sin*v[0]
			f := (px*px + py*py) * math.Sin(float64(k+1))
			if k%2 == 0 {
				f += 0.5*px + 0.3*py*math.Cos(float64(3*k))
			}
			return f
		})
		if k == 0 {
			all = o
		} else {
			all.Add(o)
		}
	}
	want, got := all.Split().Interaction.Share, b.Outputs.Split().Interaction.Share
	if !(math.Abs(want-got) < 0.1) || !(want > 0.05) {
		t.Errorf("interaction %g of the projections, %g of all components", got, want)
	}
	if total := all.SSInput + all.SSElement + all.SSInteract; !near(
		b.Outputs.SSInput+b.Outputs.SSElement+b.Outputs.SSInteract, total, 0.6) {
		t.Errorf("squares of the projections %+v, of all components %g", b.Outputs, total)
	}
	for _, e := range res.Exhibits {
		if e.Name == "split-continuous" && !strings.Contains(e.Note, "8 random projections") {
			t.Errorf("note %q does not say that it is of projections", e.Note)
		}
	}
}

func TestClues(t *testing.T) {
	everyone := onRays(t, "everyone",
		func(x, y float64) []float64 { return []float64{x*x + y*y + 0.1*x/math.Hypot(x, y)} })
	few := onRays(t, "few", func(x, y float64) []float64 {
		r := math.Hypot(x, y)
		if r > 5 {
			return []float64{r*r + x/r}
		}
		return []float64{r * r}
	})
	linear := subject(t, "linear", audittest.Linear(1, 2), 12)
	for _, c := range []struct {
		name          audit.ClueName
		faulty, clean *audit.Subject
	}{
		{audit.ClueElementEffect, everyone, linear},
		{audit.ClueSampleEffect, few, everyone},
		{audit.ClueSampleEffect, few, linear},
	} {
		for _, x := range []struct {
			s    *audit.Subject
			want bool
		}{{c.faulty, true}, {c.clean, false}} {
			_, res := run(t, x.s)
			looked := false
			for _, k := range res.Clues {
				if k.Name != c.name {
					continue
				}
				looked = true
				if k.Holds != x.want || !(k.Strength >= 0.5 && k.Strength <= 1) {
					t.Errorf("%s: %s holds %t, strength %g: %s", x.s.Name, c.name, k.Holds, k.Strength, k.Text)
				}
			}
			if !looked {
				t.Errorf("%s: nobody looked for %s", x.s.Name, c.name)
			}
		}
	}
	_, res := run(t, subject(t, "clean", audittest.Radius(0), 12))
	if len(res.Clues) > 0 {
		t.Errorf("a clean model has %d clues: %+v", len(res.Clues), res.Clues)
	}
	for _, e := range res.Exhibits {
		if e.Name == "sensitive-inputs" {
			t.Error("inputs of a clean model are called sensitive")
		}
	}
}

// What cannot be split says why.
func TestReasons(t *testing.T) {
	constant := subject(t, "constant", audittest.Constant(1), 12)
	broken := subject(t, "broken", of(func(x, _ float64) []float64 {
		if x > -1 {
			return []float64{math.NaN()}
		}
		return []float64{x}
	}), 12)
	for _, c := range []struct {
		s      *audit.Subject
		status audit.Status
		why    string
	}{{constant, audit.NotApplicable, "do not vary"}, {broken, audit.NotTested, "fewer than 2 inputs"}} {
		r := audittest.Audit(t, audittest.Fixture{Subject: c.s}, variance.Check)
		res := r.Results[len(r.Results)-1]
		if res.Status != c.status || !strings.Contains(res.Reason, c.why) {
			t.Errorf("%s: %s: %s; want %s: %s", c.s.Name, res.Status, res.Reason, c.status, c.why)
		}
	}
}

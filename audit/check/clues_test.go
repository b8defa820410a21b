package check_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/controls"
	"nero/audit/check/endtoend"
	"nero/audit/check/lattice"
	"nero/audit/check/preflight"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// orbitChecks are those whose clues are tested here.
var orbitChecks = []*audit.Check{preflight.Check, sweep.Check, controls.Check, lattice.Check, endtoend.Check}

// found is the clue of a name that a diagnosis would go by: one that holds before one that does not; nil if nobody
// looked.
func found(r *audit.Report, name audit.ClueName) *audit.Clue {
	var best *audit.Clue
	for _, c := range r.Clues() {
		if c.Name == name && (best == nil || (c.Holds && !best.Holds)) {
			best = &c
		}
	}
	return best
}

// of is a model of a point of the plane.
func of(f func(x, y float64) []float64) audit.Predictor {
	return audittest.Pointwise(func(v space.Value) space.Value {
		p := v.(*space.Tensor).Val //nolint:errcheck // vectors only
		y := f(p[0], p[1])
		return &space.Tensor{Shape: []int{len(y)}, Val: y}
	})
}

// batches is a model whose micro-batches can be chosen and that sees all of one.
type batches struct {
	f    func(batch [][]float64) []float64
	size int
}

func (b batches) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	return b.PredictBatch(ctx, b.size, values)
}

func (b batches) PredictBatch(_ context.Context, size int, values []space.Value) ([]space.Value, error) {
	var out []space.Value
	for len(values) > 0 {
		n := min(size, len(values))
		var batch [][]float64
		for _, v := range values[:n] {
			batch = append(batch, v.(*space.Tensor).Val) //nolint:errcheck // vectors only
		}
		for _, y := range b.f(batch) {
			out = append(out, &space.Tensor{Shape: []int{1}, Val: []float64{float64(float32(y))}})
		}
		values = values[n:]
	}
	return out, nil
}

func squares(batch [][]float64) []float64 {
	out := make([]float64, len(batch))
	for i, x := range batch {
		out[i] = x[0]*x[0] + x[1]*x[1]
	}
	return out
}

// rays are points on the positive x axis, so that the angle of an input is that of the element that moved it. Every
// fifth is of class 1 and lies farther out.
func rays(i int) (dataset.Sample, error) {
	r, label := 1+0.37*float64(17*i%101)/101, 0
	if i%5 == 0 {
		r, label = r+10, 1
	}
	return dataset.Sample{
		ID: strconv.Itoa(i), Label: label,
		Value: &space.Tensor{Shape: []int{2}, Val: []float64{r, 0}},
	}, nil
}

// angle of a point in degrees, counter-clockwise as displayed, in [0, 360).
func angle(x, y float64) float64 { return math.Mod(math.Atan2(-y, x)*180/math.Pi+360, 360) }

func TestClues(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	d4 := finite(t)(catalog.Dihedral(4))
	so2 := catalog.SO2()
	plane := audittest.Plane(t, c4)
	turns := audittest.Plan(t, plane, action.Trivial{G: c4})
	square := audittest.Plan(t, audittest.Plane(t, d4), action.Trivial{G: d4})
	circle := audittest.Plan(t, audittest.Plane(t, so2), action.Trivial{G: so2}, audittest.Angles(24)...)
	clean := vectors("radius", audittest.Radius(0), turns)
	onRays := func(name string, f func(x, y float64) []float64) *audit.Subject {
		s := vectors(name, of(f), circle)
		s.Sample = rays
		return s
	}
	round := onRays("round", func(x, y float64) []float64 { return []float64{x*x + y*y} })
	bad, err := clean.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	dim := pictures("dim", audittest.Rings(3), audittest.Plan(t, moves(t, d4, action.Options{}), action.Trivial{G: d4}))
	dim.Input = job.Input{Scale: 255}
	bright := *dim
	bright.Name = "bright"
	full := dim.Sample
	plain := bright
	plain.Name, plain.Input = "plain", job.Input{}
	plain.Sample = func(i int) (dataset.Sample, error) {
		s, err := full(i)
		if err != nil {
			return s, err
		}
		x := space.NewImage(s.Value.Dims()[0], s.Value.Dims()[1], s.Value.Dims()[2])
		for k := range x.Pix {
			x.Pix[k] = float64(i)
		}
		s.Value = x
		return s, nil
	}
	dim.Sample = func(i int) (dataset.Sample, error) {
		s, err := full(i)
		m := *s.Value.(*space.Image) //nolint:errcheck // pictures only
		for j := range m.Pix {
			m.Pix[j] /= 1020
		}
		s.Value = &m
		return s, err
	}
	// reads the corners: quarter turns hold; eight points hold turns of 45 degrees
	quarter := func(eight bool) audit.Predictor {
		return of(func(x, y float64) []float64 {
			r := x*x + y*y
			f := r * r * math.Cos(4*math.Atan2(y, x))
			if eight {
				f = r * r
			}
			return []float64{r + 0.1*f}
		})
	}
	bump := func(x, at, width float64) float64 {
		d := (x - at) / width
		return math.Exp(-d * d)
	}
	eight := func(broken int) func(x, y float64) []float64 {
		return func(x, y float64) []float64 {
			out := make([]float64, 8)
			for k := range out {
				out[k] = float64(k+1) * math.Pow(x*x+y*y, 0.3+0.1*float64(k))
				if k == broken {
					out[k] += 0.3 * x
				}
			}
			return out
		}
	}
	bilinear := audittest.Plan(t, moves(t, so2, action.Options{Kernel: action.Bilinear}), action.Trivial{G: so2},
		audittest.Angles(10)...)
	quadrant := audittest.Pointwise(func(v space.Value) space.Value {
		m := v.(*space.Image) //nolint:errcheck // pictures only
		var s float64
		for i, p := range m.Pix {
			if i/side < side/2 && i%side < side/2 {
				s += p
			}
		}
		return &space.Tensor{Shape: []int{1}, Val: []float64{s}}
	})
	sharp := moves(t, d4, action.Options{})
	pixel := audittest.Convolution([]float64{0.1}, true)
	for _, c := range []struct {
		clue   audit.ClueName
		faulty *audit.Subject
		// regular expression
		location string
		clean    *audit.Subject
		// that must not hold for the faulty one
		not []audit.ClueName
	}{
		{
			audit.ClueActionLaw,
			vectors("shifted", audittest.Radius(0), audittest.Plan(t, shifted{plane}, action.Trivial{G: c4})), "action",
			clean, nil,
		},
		{audit.ClueNonFinite, vectors("nan", audittest.NaNAt(bad.Value), turns), "s000", clean, nil},
		{
			audit.ClueRepeats, vectors("stochastic", audittest.Stochastic(audittest.Radius(0), 1e-2, 3), turns),
			"sample s", clean,
			[]audit.ClueName{audit.ClueBatchCompany, audit.ClueBatchPosition, audit.ClueBatchSize},
		},
		{
			audit.ClueBatchPosition, vectors("leaky", audittest.Leaky{Predictor: audittest.Radius(0), Size: 1e-2},
				turns), "sample s",
			vectors("tight", audittest.Leaky{Predictor: audittest.Radius(0)}, turns),
			[]audit.ClueName{audit.ClueRepeats, audit.ClueBatchCompany, audit.ClueBatchSize},
		},
		{
			audit.ClueBatchCompany, vectors("training", batches{func(b [][]float64) []float64 {
				y := squares(b)
				var mean float64
				for _, v := range y {
					mean += v / float64(len(y))
				}
				for i := range y {
					y[i] += 0.01 * mean
				}
				return y
			}, 16}, turns), "sample s", vectors("evaluation", batches{squares, 16}, turns),
			[]audit.ClueName{audit.ClueRepeats, audit.ClueBatchPosition, audit.ClueBatchSize},
		},
		{
			audit.ClueBatchSize, vectors("sized", batches{func(b [][]float64) []float64 {
				y := squares(b)
				for i := range y {
					y[i] += 0.01 * float64(len(y))
				}
				return y
			}, 16}, turns), "sample s", vectors("unsized", batches{squares, 16}, turns),
			[]audit.ClueName{audit.ClueRepeats, audit.ClueBatchPosition, audit.ClueBatchCompany},
		},
		{
			audit.ClueIdentityError,
			pictures("blurred", pixel, audittest.Plan(t, sharp, moves(t, d4, action.Options{Kernel: action.Up3}))),
			"output action",
			pictures("sharp", pixel, audittest.Plan(t, sharp, sharp)), nil,
		},
		{audit.ClueConstant, vectors("constant", audittest.Constant(1, 2), turns), "output", clean, nil},
		{
			audit.ClueConstant, vectors("one dead", of(func(x, y float64) []float64 { return []float64{x*x + y*y, 3} }),
				turns), "output channel 1",
			vectors("both alive", of(func(x, y float64) []float64 { return []float64{x*x + y*y, math.Hypot(x, y)} }),
				turns), nil,
		},
		{audit.ClueOffset, vectors("shifted by 100",
			of(func(x, y float64) []float64 { return []float64{100 + x*x + y*y} }), turns), "output", clean, nil},
		{audit.ClueInputScale, dim, "input scale", &bright, nil},
		{audit.ClueUnmoved, &plain, "input", &bright, nil},
		{
			audit.ClueResampling, pictures("rings", audittest.Rings(4), bilinear), "",
			pictures("quadrant", quadrant, bilinear), nil,
		},
		{
			audit.ClueCleanComb, vectors("quarter", quarter(false), circle), "",
			vectors("eight", quarter(true), circle),
			nil,
		},
		{
			audit.ClueCleanComb, vectors("quarter", quarter(false), circle), "",
			vectors("linear", audittest.Linear(1, 2), circle), nil,
		},
		{
			audit.ClueHandedness,
			vectors("chiral", of(func(x, y float64) []float64 { return []float64{x*x + y*y + 0.2*(x*x*x*y-x*y*y*y)} }),
				square), "mirrors",
			vectors("lopsided", audittest.Linear(1, 2), square), nil,
		},
		{
			audit.ClueScaleMismatch,
			vectors("pseudo", of(func(x, y float64) []float64 { return []float64{x*x*x*y - x*y*y*y} }), square),
			"output",
			vectors("lopsided", audittest.Linear(1, 2), square),
			[]audit.ClueName{audit.ClueShiftMismatch},
		},
		{
			audit.ClueShiftMismatch,
			onRays("moved", func(x, y float64) []float64 { return []float64{x*x + y*y + 0.1*x/math.Hypot(x, y)} }),
			"output",
			onRays("mixed", func(x,
				y float64,
			) []float64 {
				return []float64{x*x + y*y + 0.1*y*math.Sin(40*(x*x+y*y))}
			}),
			[]audit.ClueName{audit.ClueScaleMismatch},
		},
		{
			audit.ClueScaleMismatch, onRays("moved and scaled", func(x, y float64) []float64 {
				r, c := x*x+y*y, x/math.Hypot(x, y)
				return []float64{r*(1.2+0.2*c) + 30*(1-c)}
			}), "output", onRays("mixed",
				func(x, y float64) []float64 { return []float64{x*x + y*y + 0.1*y*math.Sin(40*(x*x+y*y))} }), nil,
		},
		{
			audit.ClueOneElement,
			onRays("narrow", func(x, y float64) []float64 { return []float64{x*x + y*y + bump(angle(x, y), 45, 2)} }),
			"^45°$",
			onRays("wide", func(x, y float64) []float64 { return []float64{x*x + y*y + x} }),
			[]audit.ClueName{audit.ClueHandedness},
		},
		{
			audit.ClueOneElement,
			onRays("narrow", func(x, y float64) []float64 { return []float64{x*x + y*y + bump(angle(x, y), 45, 2)} }),
			"^45°$",
			onRays("four", func(x, y float64) []float64 {
				a, f := angle(x, y), x*x+y*y
				return []float64{f + bump(a, 45, 2) + bump(a, 105, 2) + bump(a, 165, 2) + bump(a, 225, 2)}
			}), nil,
		},
		{
			audit.ClueHeavyTail, vectors("tie", of(func(x, y float64) []float64 {
				f := x*x + y*y
				if math.Abs(x-y) < 6e-3 {
					f += 10
				}
				return []float64{f}
			}), circle), "sample s", vectors("linear", audittest.Linear(1, 2), circle), nil,
		},
		{
			audit.ClueChannel, vectors("sixth", of(eight(5)), turns), "^output channel 5$",
			vectors("all", of(func(x, y float64) []float64 {
				out := eight(-1)(x, y)
				for k := range out {
					out[k] += 0.3 * float64(k) * x
				}
				return out
			}), turns), nil,
		},
		{
			audit.ClueChannel, vectors("sixth", of(eight(5)), turns), "^output channel 5$",
			vectors("three", of(func(x, y float64) []float64 {
				out := eight(5)(x, y)
				out[2] += 0.3 * y
				out[7] += 0.3 * x
				return out
			}), turns), nil,
		},
		{
			audit.ClueClasses, onRays("class 1", func(x, y float64) []float64 {
				r := math.Hypot(x, y)
				if r > 5 {
					return []float64{r*r + x}
				}
				return []float64{r*r + 1e-3*x}
			}), "^class 1$", onRays("both",
				func(x, y float64) []float64 { return []float64{x*x + y*y + x/math.Hypot(x, y)} }), nil,
		},
		{audit.ClueForwardHolds, round, "", vectors("linear", audittest.Linear(1, 2), circle), nil},
		{audit.ClueForwardHolds, clean, "", vectors("linear", audittest.Linear(1, 2), turns), nil},
	} {
		t.Run(fmt.Sprintf("%s of %s", c.clue, c.faulty.Name), func(t *testing.T) {
			r := audittest.Audit(t, audittest.Fixture{Subject: c.faulty}, orbitChecks...)
			got := found(r, c.clue)
			switch {
			case got == nil:
				t.Errorf("%s: nobody looked for %s", c.faulty.Name, c.clue)
			case !got.Holds:
				t.Errorf("%s: %s does not hold: %s", c.faulty.Name, c.clue, got.Text)
			case !regexp.MustCompile(c.location).MatchString(got.Location):
				t.Errorf("%s: %s at %q, want %q: %s", c.faulty.Name, c.clue, got.Location, c.location, got.Text)
			case got.Strength <= 0 || got.Strength > 1 || got.Text == "":
				t.Errorf("%s: %+v", c.faulty.Name, got)
			default:
				t.Logf("strength %.2g: %s", got.Strength, got.Text)
			}
			for _, n := range c.not {
				if x := found(r, n); x != nil && x.Holds {
					t.Errorf("%s: %s holds as well: %s", c.faulty.Name, n, x.Text)
				}
			}
			if x := found(audittest.Audit(t, audittest.Fixture{Subject: c.clean}, orbitChecks...), c.clue); x != nil &&
				x.Holds {
				t.Errorf("clean twin %s: %s holds: %s", c.clean.Name, c.clue, x.Text)
			} else if x != nil {
				t.Logf("clean, strength %.2g: %s", x.Strength, x.Text)
			}
		})
	}
}

// Classes are called by the names that the data gives them, wherever an error is laid out by class.
func TestClassNames(t *testing.T) {
	so2 := catalog.SO2()
	circle := audittest.Plan(t, audittest.Plane(t, so2), action.Trivial{G: so2}, audittest.Angles(24)...)
	s := vectors("named", of(func(x, y float64) []float64 {
		r := math.Hypot(x, y)
		if r > 5 {
			return []float64{r*r + x}
		}
		return []float64{r*r + 1e-3*x}
	}), circle)
	s.Sample, s.Classes = rays, []string{"near", "far"}
	r := audittest.Audit(t, audittest.Fixture{Subject: s}, orbitChecks...)
	if c := found(r, audit.ClueClasses); c == nil || !c.Holds || c.Location != "class far" {
		t.Errorf("the clue is %+v", c)
	}
	var names []string
	for _, c := range r.Results {
		for _, e := range c.Exhibits {
			if e.Name != "classes" {
				continue
			}
			for _, row := range e.Table.Rows {
				names = append(names, row[0].Text)
			}
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); !slices.Equal(names, []string{"far", "near"}) {
		t.Errorf("the rows by class are called %q", names)
	}
	if got := s.ClassName(7); got != "7" {
		t.Errorf("a class without a name is called %q", got)
	}
}

// A limit below what rounding does can never be met, and the report says so; a model that is exact bit for bit meets it
// all the same.
func TestThresholdBelowTheFloor(t *testing.T) {
	c4 := finite(t)(catalog.Cyclic(4))
	plan := audittest.Plan(t, audittest.Plane(t, c4), action.Trivial{G: c4})
	// Turns swap the two squares, which float32 does not add in the same way.
	rounds := of(func(x, y float64) []float64 { return []float64{float64(float32(x)*float32(x)) + y*y + 3e-8*x} })
	exact := of(func(x, y float64) []float64 { return []float64{math.Max(math.Abs(x), math.Abs(y))} })
	for _, c := range []struct {
		name      string
		p         audit.Predictor
		threshold float64
		want      bool
	}{{"rounds", rounds, 1e-9, true}, {"rounds, higher limit", rounds, 1e-4, false}, {"exact", exact, 1e-9, false}} {
		p, err := audit.NewPolicy("", c.threshold, 0)
		if err != nil {
			t.Fatal(err)
		}
		r := audittest.Audit(t, audittest.Fixture{Subject: vectors(c.name, c.p, plan), Policy: p}, lattice.Check)
		got := ""
		for _, f := range r.Findings() {
			if strings.Contains(f.Message, "rounding alone may exceed it") {
				if got = f.Message; f.Category != audit.Explanation || len(f.Remedies) != 2 ||
					f.Evidence[0].Value != c.threshold {
					t.Errorf("%s: %+v", c.name, f)
				}
			}
		}
		if (got != "") != c.want {
			t.Errorf("%s: %q, want one: %t", c.name, got, c.want)
		}
		if c.want && r.Verdict == audit.Passed {
			t.Errorf("%s: %s", c.name, r.Verdict)
		}
	}
}

// The profile of an orbit of one coordinate is a curve, with the exact elements as marks; a mirror has one for each
// side; the worst elements are labelled there and listed. Several coordinates have the list alone, and a model that is
// exact bit for bit has nothing to look at.
func TestProfile(t *testing.T) {
	so2, o2 := catalog.SO2(), catalog.O2()
	var both []group.Element
	for k := range 8 {
		both = append(both, group.Element{45 * float64(k), 0}, group.Element{45 * float64(k), 1})
	}
	shows := func(s *audit.Subject, checks ...*audit.Check) map[string]audit.Exhibit {
		all := map[string]audit.Exhibit{}
		for _, r := range audittest.Audit(t, audittest.Fixture{Subject: s}, checks...).Results {
			for _, e := range r.Exhibits {
				all[r.Check.Name+" "+e.Name] = e
			}
		}
		return all
	}
	circle := audittest.Plan(t, audittest.Plane(t, so2), action.Trivial{G: so2}, audittest.Angles(24)...)
	got := shows(vectors("linear", audittest.Linear(1, 2), circle), orbitChecks...)
	curve := got["endtoend profile"].Curve
	if curve == nil || curve.X.Unit != "deg" || curve.Limit != 1e-4 {
		t.Fatalf("%+v", got["endtoend profile"])
	}
	var names []string
	labelled := 0
	for _, s := range curve.Series {
		names = append(names, s.Name)
		for i := 1; i < len(s.X); i++ {
			if s.X[i] <= s.X[i-1] {
				t.Errorf("%s is not in order", s.Name)
			}
		}
		for _, l := range s.Labels {
			if l != "" {
				labelled++
			}
		}
		if s.Marks != strings.HasPrefix(s.Name, "exact") || s.Marks && len(s.X) != 3 || s.Name == "largest" &&
			len(s.X) != 20 {
			t.Errorf("%s: %d points, marks %t", s.Name, len(s.X), s.Marks)
		}
	}
	if want := "mean, 95 %, largest, exact, largest, rounding floor"; strings.Join(names, ", ") != want ||
		labelled != 5 {
		t.Errorf("series %s with %d labels, want %s with 5", strings.Join(names, ", "), labelled, want)
	}
	// E e(x,g) is largest half-way round, and the five worst of steps of 15 degrees lie there: 150 to 225 over these
	// inputs.
	if table := got["endtoend worst-elements"].Table; table == nil || len(table.Rows) != 5 ||
		table.Rows[2][0].Text != "180°" || table.Rows[2][1].Text != "exact" {
		t.Errorf("%+v", table)
	}
	if e, ok := got["lattice profile"]; ok {
		t.Errorf("the exact elements are drawn twice: %+v", e)
	}
	got = shows(vectors("mirrors", audittest.Linear(1, 2),
		audittest.Plan(t, audittest.Plane(t, o2), action.Trivial{G: o2}, both...)), orbitChecks...)
	if a, b := got["endtoend profile"], got["endtoend profile-2"]; a.Title != "Error along the orbit, mirror 0" ||
		b.Title != "Error along the orbit, mirror 1" || b.Curve == nil {
		t.Errorf("%q and %q", a.Title, b.Title)
	}
	roll := finite(t)(catalog.Roll(3, 3))
	shift, err := action.NewImage(roll, space.Spec{Kind: space.KindImage, Shape: []int{1, 3, 3}},
		action.Options{Border: action.Circular})
	if err != nil {
		t.Fatal(err)
	}
	first := audittest.Pointwise(func(v space.Value) space.Value {
		return &space.Tensor{
			Shape: []int{1},
			Val:   []float64{v.(*space.Image).Pix[0]}, //nolint:errcheck // pictures only
		}
	})
	s := &audit.Subject{
		Name: "pixel", Predictor: first, Plan: audittest.Plan(t, shift, action.Trivial{G: roll}),
		N: inputs, Sample: audittest.Noise(inputs, 3, 3, 1),
	}
	got = shows(s, lattice.Check)
	if _, drawn := got["lattice profile"]; drawn || got["lattice worst-elements"].Table == nil {
		t.Errorf("two coordinates: %v", got)
	}
	largest := of(func(x, y float64) []float64 { return []float64{math.Max(math.Abs(x), math.Abs(y))} })
	c4 := finite(t)(catalog.Cyclic(4))
	if got = shows(vectors("exact", largest, audittest.Plan(t, audittest.Plane(t, c4), action.Trivial{G: c4})),
		lattice.Check); len(got) > 0 {
		t.Errorf("nothing is wrong: %v", got)
	}
}

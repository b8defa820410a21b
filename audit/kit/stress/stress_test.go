package stress_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/border"
	"nero/audit/check/company"
	"nero/audit/check/ends"
	"nero/audit/check/engines"
	"nero/audit/check/extremes"
	"nero/audit/check/laws"
	"nero/audit/check/shifts"
	"nero/audit/check/sizes"
	"nero/audit/kit/stress"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

const inputs = 8

// side of the pictures of the fixtures.
const side = 32

func parse(tb testing.TB, name string) group.Group {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// moves is the action of a group on pictures.
func moves(tb testing.TB, g group.Group, o action.Options, n int) action.Action {
	tb.Helper()
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, n, n}}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// subject of a model of square pictures; a nil output action is invariant.
func subject(tb testing.TB, name string, g group.Group, n int, m audit.Predictor, out action.Action,
	elements ...group.Element,
) *audit.Subject {
	tb.Helper()
	if out == nil {
		out = action.Trivial{G: g}
	}
	return &audit.Subject{
		Name: name, Predictor: m, Plan: audittest.Plan(tb, moves(tb, g, action.Options{}, n), out, elements...),
		N: inputs, Sample: audittest.Pictures(inputs, n, n, 3), Seed: 1,
	}
}

// family are the checks.
func family() []*audit.Check {
	return []*audit.Check{
		laws.Check, ends.Check, company.Check, engines.Check, shifts.Check, border.Check, extremes.Check, sizes.Check,
	}
}

// try runs a check on a subject, beside others that it uses. The result is nil where the check gave none.
func try(tb testing.TB, s *audit.Subject, c *audit.Check) (any, *audit.Result) {
	tb.Helper()
	var got any
	outer := &audit.Check{
		Name: "outer", Doc: "Outer looks at the result.", Uses: []*audit.Check{c},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			got, _ = audit.ResultIf[any](p, c)
			return nil, nil //nolint:nilnil // nobody reads it
		},
	}
	r := audittest.Audit(tb, audittest.Fixture{Subject: s}, append(slices.Clone(c.Uses), c, outer)...)
	for _, x := range r.Results {
		if x.Check == c {
			return got, x
		}
	}
	tb.Fatal("no result")
	return nil, nil
}

// look is try for a check that must give a result.
func look[T any](tb testing.TB, s *audit.Subject, c *audit.Check) (T, *audit.Result) {
	tb.Helper()
	got, of := try(tb, s, c)
	r, ok := got.(T)
	if !ok {
		tb.Fatalf("%s: %s: %s: %s", s.Name, c.Name, of.Status, of.Reason)
	}
	return r, of
}

// asked is look for a check whose result is that of the family and no more.
func asked(tb testing.TB, s *audit.Subject, c *audit.Check) (*stress.Result, *audit.Result) {
	tb.Helper()
	return look[*stress.Result](tb, s, c)
}

// answered fails unless a check came to the answer.
func answered(tb testing.TB, of *audit.Result, r *stress.Result, want stress.Answer) {
	tb.Helper()
	if r.Answer != want {
		tb.Errorf("%s: %+v, want %s", of.Check.Name, r, want)
	}
}

// clue is the one of a name.
func clue(r *audit.Result, name audit.ClueName) (audit.Clue, bool) {
	for _, c := range r.Clues {
		if c.Name == name {
			return c, true
		}
	}
	return audit.Clue{}, false
}

// holds fails unless a clue was looked for and is as expected.
func holds(tb testing.TB, r *audit.Result, name audit.ClueName, want bool) audit.Clue {
	tb.Helper()
	c, ok := clue(r, name)
	if !ok || c.Holds != want {
		tb.Errorf("clue %s: %+v, looked for: %v, want %v", name, c, ok, want)
	}
	return c
}

// Every question of a clean model comes to nothing.
func TestClean(t *testing.T) {
	d4 := parse(t, "D4")
	roll := parse(t, fmt.Sprintf("Roll(%d,%d)", side, side))
	rolled := subject(t, "circular", roll, side, audittest.Convolution(symmetric, true),
		moves(t, roll, action.Options{}, side), moved...)
	rings := subject(t, "rings", d4, side, audittest.Rings(4), nil)
	rings.Twin, rings.TwinName = audittest.Rings(4), "the same once more"
	for _, s := range []*audit.Subject{
		rings, rolled,
		subject(t, "turns of maps", d4, side, audittest.Convolution(symmetric, false),
			moves(t, d4, action.Options{}, side)),
		subject(t, "every angle", parse(t, "SO(2)"), side, audittest.Rings(4), nil, audittest.Angles(12)...),
		subject(t, "total", roll, side, total(1), nil, moved...),
	} {
		for _, of := range audittest.Audit(t, audittest.Fixture{Subject: s}, family()...).Results {
			name := s.Name + ": " + of.Check.Name
			if of.Check.Family != stress.Family {
				continue
			}
			for _, f := range of.Findings {
				t.Errorf("%s: %s: %s", name, f.Category, f.Message)
			}
			for _, clue := range of.Clues {
				if clue.Holds {
					t.Errorf("%s: clue %s: %s", name, clue.Name, clue.Text)
				}
			}
			x := exhibit(of, "answer")
			switch {
			case of.Status != audit.Tested:
				if of.Reason == "" || x != nil {
					t.Errorf("%s: %s without a reason", name, of.Status)
				}
			case x == nil || x.Table.Rows[0][0].Text == string(stress.Broken) || x.Table.Rows[0][3].Text == "":
				t.Errorf("%s: %+v", name, x)
			}
		}
	}
	r, of := asked(t, rings, laws.Check)
	answered(t, of, r, stress.Holds)
	if !strings.HasPrefix(r.Text, "52 exact pairs") || strings.Contains(r.Text, "lose") {
		t.Errorf("%q", r.Text)
	}
	for c, name := range map[*audit.Check]audit.ClueName{
		company.Check: audit.ClueBatchCompany, engines.Check: audit.ClueEngines, extremes.Check: audit.ClueExtreme,
	} {
		r, of = asked(t, rings, c)
		answered(t, of, r, stress.Holds)
		holds(t, of, name, false)
	}
	b, of := look[*border.Result](t, rolled, border.Check)
	answered(t, of, &b.Result, stress.Holds)
	holds(t, of, audit.ClueEdgeBand, false)
	p, of := look[*shifts.Result](t, rolled, shifts.Check)
	holds(t, of, audit.ClueStridePattern, false)
	if p.Period != [2]int{1, 1} {
		t.Errorf("period %v, want 1", p.Period)
	}
}

// symmetric is a kernel with the symmetry of the square.
var symmetric = []float64{0.1, 0.3, 0.1, 0.3, 1, 0.3, 0.1, 0.3, 0.1}

// moved are elements of a group of shifts.
var moved = []group.Element{{0, 0}, {5, 0}, {0, 3}, {7, 9}, {11, 2}, {3, 16}}

// total is the sum of the squares of pixels that are a whole number of strides apart.
func total(stride int) audit.Predictor {
	return audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Image) //nolint:errcheck // pictures only
		var a, b float64
		for r := 0; r < x.H; r += stride {
			for c := 0; c < x.W; c += stride {
				p := x.Pix[r*x.W+c] / 255
				a, b = a+p*p, b+p*p*p
			}
		}
		return &space.Tensor{Shape: []int{2}, Val: []float64{a, b}}
	})
}

// twisted is an action that goes on turning: it reads its angle in units of which a full turn is no whole number.
type twisted struct{ action.Action }

func (a twisted) Apply(g group.Element, v space.Value) (space.Value, error) {
	x, ok := v.(*space.Tensor)
	if !ok {
		return nil, errors.New("want a vector")
	}
	s, c := math.Sincos(g[0])
	return &space.Tensor{Shape: x.Shape, Val: []float64{c*x.Val[0] + s*x.Val[1], -s*x.Val[0] + c*x.Val[1]}}, nil
}

func (a twisted) Exact(group.Element) bool { return false }

// A law that an action breaks shows through the model.
func TestLaws(t *testing.T) {
	so2 := parse(t, "SO(2)")
	in := audittest.Plane(t, so2)
	vectors := func(name string, in action.Action, m audit.Predictor) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: m,
			Plan: audittest.Plan(t, in, action.Trivial{G: so2}, audittest.Angles(8)...), N: inputs,
			Sample: audittest.Vectors(inputs, 3), Seed: 1,
		}
	}
	audittest.Run(t, laws.Check,
		audittest.Fixture{
			Subject: vectors("radians", twisted{in}, audittest.Linear(1, 0.5)),
			Want:    []audittest.Want{{Category: audit.Stress, Message: "a law of the group"}},
		},
		audittest.Fixture{Subject: vectors("degrees", in, audittest.Linear(1, 0.5))})
}

// Pairs that lose content at the border are left out and counted; the model is not to blame.
func TestLawsAtTheBorder(t *testing.T) {
	g := parse(t, "T(2,Z)")
	s := subject(t, "moments", g, side, total(1), nil, group.Element{0, 0}, group.Element{20, 0}, group.Element{1, 0})
	r, of := asked(t, s, laws.Check)
	answered(t, of, r, stress.Holds)
	if !strings.Contains(r.Text, "lose content at the border") {
		t.Errorf("%q", r.Text)
	}
	if len(of.Findings) > 0 {
		t.Errorf("findings %+v", of.Findings)
	}
}

// Elements that cut numbers at the ends of their range are no product of others there; the model is not to blame.
func TestLawsAtTheEndsOfTheRange(t *testing.T) {
	g := parse(t, "Brightness")
	spec := space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{1, side, side}}
	in, err := action.NewColor(g, spec, action.Options{Range: []float64{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	s := &audit.Subject{
		Name: "mean", Predictor: total(1), N: inputs, Seed: 1, InSpec: spec,
		Plan: audittest.Plan(t, in, action.Trivial{G: g}, group.Element{0}, group.Element{0.25}, group.Element{-0.25}),
		Sample: func(i int) (dataset.Sample, error) {
			x := space.NewImage(1, side, side)
			for k := range x.Pix {
				x.Pix[k] = 0.6 + float64((k*7+i)%11)/25 // near the upper end alone
			}
			return dataset.Sample{ID: strconv.Itoa(i), Value: x}, nil
		},
	}
	_, of := asked(t, s, laws.Check)
	if len(of.Findings) > 0 {
		t.Errorf("findings %+v", of.Findings)
	}
}

// An error at the ends of a range of shifts.
func TestEnds(t *testing.T) {
	g := parse(t, "T(2,Z)")
	var elements []group.Element
	for d := -6.0; d <= 6; d++ {
		elements = append(elements, group.Element{d, 0})
	}
	far := func(limit float64) audit.Predictor {
		return audittest.Pointwise(func(v space.Value) space.Value {
			x := v.(*space.Image) //nolint:errcheck // pictures only
			var n, at float64
			for i, p := range x.Pix {
				n, at = n+p, at+p*(float64(i%x.W)-float64(x.W-1)/2)
			}
			at /= n + 1e-9
			return &space.Tensor{Shape: []int{1}, Val: []float64{n + 1e4*max(0, math.Abs(at)-limit)}}
		})
	}
	// Every picture has the same brightness but for its label and its content in the middle.
	sample := func(i int) (dataset.Sample, error) {
		m := space.NewImage(1, side, side)
		for r := 12; r < 20; r++ {
			for c := 12; c < 20; c++ {
				m.Pix[r*side+c] = 100 + 5*float64(i)
			}
		}
		return dataset.Sample{ID: strconv.Itoa(i), Value: m}, nil
	}
	ranged := func(name string, limit float64) *audit.Subject {
		s := subject(t, name, g, side, far(limit), nil, elements...)
		s.Sample = sample
		return s
	}
	faulty, clean := ranged("ends", 5.5), ranged("no ends", 100)
	r, of := asked(t, faulty, ends.Check)
	answered(t, of, r, stress.Broken)
	if !finds(of, audit.Stress, "at the ends of the range") {
		t.Errorf("findings %+v", of.Findings)
	}
	r, of = asked(t, clean, ends.Check)
	answered(t, of, r, stress.Holds)
	if len(of.Findings) > 0 {
		t.Errorf("findings %+v", of.Findings)
	}
}

// finds reports whether a finding is there.
func finds(of *audit.Result, c *audit.Category, message string) bool {
	return slices.ContainsFunc(of.Findings, func(f audit.Finding) bool {
		return f.Category == c && strings.Contains(f.Message, message) && len(f.Evidence) > 0
	})
}

// blinded are answers that change when a batch holds a blank input, and no other company.
type blinded struct{ audit.Predictor }

func (b blinded) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	return b.PredictBatch(ctx, len(values), values)
}

func (b blinded) PredictBatch(ctx context.Context, n int, values []space.Value) ([]space.Value, error) {
	out, err := b.Predictor.Predict(ctx, values)
	for i := 0; i < len(values); i += n {
		end := min(i+n, len(values))
		for _, v := range values[i:end] {
			if x := v.(*space.Image); slices.Max(x.Pix) == 0 { //nolint:errcheck // pictures only
				for _, y := range out[i:end] {
					y.(*space.Tensor).Val[0] *= 1.01 //nolint:errcheck // that is what Rings returns
				}
			}
		}
	}
	return out, err
}

func TestCompany(t *testing.T) {
	c4 := parse(t, "C4")
	faulty := subject(t, "blinded", c4, side, blinded{audittest.Rings(4)}, nil)
	r, of := asked(t, faulty, company.Check)
	answered(t, of, r, stress.Broken)
	if c := holds(t, of, audit.ClueBatchCompany, true); !strings.Contains(c.Text, "zeros") {
		t.Errorf("clue %q", c.Text)
	}
	if !finds(of, audit.BatchDependent, "among zeros") {
		t.Errorf("findings %+v", of.Findings)
	}
}

func TestEngines(t *testing.T) {
	c4 := parse(t, "C4")
	off := audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
		out, err := audittest.Rings(4).Predict(ctx, values)
		for _, y := range out {
			y.(*space.Tensor).Val[1] *= 1.001 //nolint:errcheck // that is what Rings returns
		}
		return out, err
	})
	nan := audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i := range out {
			out[i] = &space.Tensor{Shape: []int{4}, Val: []float64{1, math.NaN(), 0, 0}}
		}
		return out, nil
	})
	for name, twin := range map[string]audit.Predictor{"off": off, "nan": nan} {
		s := subject(t, name, c4, side, audittest.Rings(4), nil)
		s.Twin, s.TwinName = twin, "another engine"
		r, of := asked(t, s, engines.Check)
		answered(t, of, r, stress.Broken)
		holds(t, of, audit.ClueEngines, true)
		if !slices.ContainsFunc(of.Findings,
			func(f audit.Finding) bool { return f.Category == audit.Engines && f.Worst.Index >= 0 }) {
			t.Errorf("%s: findings %+v", name, of.Findings)
		}
	}
	s := subject(t, "none", c4, side, audittest.Rings(4), nil)
	s.NoTwin = "there is but one"
	_, of := try(t, s, engines.Check)
	if of.Status != audit.NotTested || of.Reason != "there is but one" {
		t.Errorf("%s: %q", of.Status, of.Reason)
	}
	if _, ok := clue(of, audit.ClueEngines); ok || len(of.Findings) > 0 {
		t.Errorf("an engine that is not there was compared: %+v", of.Findings)
	}
	s.Twin = audit.PredictFunc(func(context.Context, []space.Value) ([]space.Value, error) {
		return nil, errors.New("no such operator")
	})
	if _, of = try(t, s, engines.Check); of.Status != audit.NotTested ||
		!strings.Contains(of.Reason, "no such operator") {
		t.Errorf("%s: %q", of.Status, of.Reason)
	}
	// The unit of the scores is that of the audit.
	for _, unit := range []string{audit.AsReturned, audit.Logits, audit.Probabilities} {
		scores := audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
			out, err := audittest.Rings(3).Predict(ctx, values)
			for i, y := range out {
				x := slices.Clone(y.(*space.Tensor).Val) //nolint:errcheck // that is what Rings returns
				for k := range x {
					x[k] /= 1e6
				}
				p := slices.Clone(x)
				decode.Softmax(p)
				out[i] = &space.Scores{Val: p, Raw: x, Probabilities: true}
			}
			return out, err
		})
		s := subject(t, "scores "+unit, c4, side, scores, nil)
		s.Twin, s.OutputUnit = scores, unit
		r, of := asked(t, s, engines.Check)
		answered(t, of, r, stress.Holds)
		if r.Error != 0 {
			t.Errorf("%q: the same scores differ by %g", unit, r.Error)
		}
	}
}

// The first of the worked examples of the measures: zero padding of L layers of k×k convolutions under a roll by r
// columns. In the frame of the pulled-back output the seam lies at -r and the border where it is.
func TestBandOfZeroPadding(t *testing.T) {
	const w, k = 20, 3
	g := parse(t, fmt.Sprintf("Roll(%d,%d)", w, w))
	kernel := []float64{0.2, -0.3, 0.5, 0.7, 1, -0.4, 0.3, 0.6, -0.2}
	noise, err := audittest.Noise(1, w, w, 4)(0)
	if err != nil {
		t.Fatal(err)
	}
	in := moves(t, g, action.Options{}, w)
	for layers := 1; layers <= 2; layers++ {
		run := func(v space.Value) space.Value {
			for range layers {
				y, err := audittest.Convolution(kernel, false).Predict(context.Background(), []space.Value{v})
				if err != nil {
					t.Fatal(err)
				}
				v = y[0]
				for i := range v.(*space.Image).Pix { //nolint:errcheck // that is what Convolution returns
					v.(*space.Image).Pix[i] = math.Sqrt(v.(*space.Image).Pix[i]) / 100 //nolint:errcheck // see above
				}
			}
			return v
		}
		const r = 7
		e := group.Element{r, 0}
		moved, err := in.Apply(e, noise.Value)
		if err != nil {
			t.Fatal(err)
		}
		there, err := in.Apply(e, run(noise.Value))
		if err != nil {
			t.Fatal(err)
		}
		a, b := run(moved).(*space.Image), there.(*space.Image) //nolint:errcheck // pictures only
		var columns []int
		for c := range w {
			for row := 5; row < w-5; row++ {
				if math.Abs(a.Pix[row*w+c]-b.Pix[row*w+c]) > 1e-6 {
					columns = append(columns, c)
					break
				}
			}
		}
		want := []int{0, 6, 7, 19}
		if layers == 2 {
			want = []int{0, 1, 5, 6, 7, 8, 18, 19}
		}
		if !slices.Equal(columns, want) {
			t.Errorf("%d layers: columns %v, want %v", layers, columns, want)
		}
		// Distances say the same of the pulled-back frame: near the border or near the seam, by L pixels.
		dist := border.Distances(g, e, w, w)
		for c := range w {
			if near, is := slices.Contains(want, (c+r)%w), dist[10*w+c] < layers; near != is {
				t.Errorf("%d layers: column %d near is %v, want %v", layers, c, is, near)
			}
		}
	}
	// The check finds the band and its width, and none with circular padding.
	for layers := 1; layers <= 3; layers++ {
		for _, circular := range []bool{false, true} {
			model := audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
				for range layers {
					var err error
					if values, err = audittest.Convolution(kernel, circular).Predict(ctx, values); err != nil {
						return nil, err
					}
					for _, v := range values {
						for i, p := range v.(*space.Image).Pix { //nolint:errcheck // that is what Convolution returns
							v.(*space.Image).Pix[i] = math.Sqrt(p) //nolint:errcheck // see above
						}
					}
				}
				return values, nil
			})
			s := subject(t, fmt.Sprintf("%d layers, circular %v", layers, circular), g, w, model, in, moved...)
			s.Sample = audittest.Noise(inputs, w, w, 3)
			r, of := look[*border.Result](t, s, border.Check)
			c := holds(t, of, audit.ClueEdgeBand, !circular)
			want := layers
			if circular {
				want = 0
			}
			if r.Band != want {
				t.Errorf("%s: band of %d pixels, want %d: %s", s.Name, r.Band, want, c.Text)
			}
			m := exhibit(of, "error-map")
			if m == nil || m.Map == nil || m.Map.H != w || m.Map.W != w || len(m.Map.Val) != w*w {
				t.Fatalf("%s: no map", s.Name)
			}
		}
	}
}

func exhibit(of *audit.Result, name string) *audit.Exhibit {
	for i := range of.Exhibits {
		if of.Exhibits[i].Name == name {
			return &of.Exhibits[i]
		}
	}
	return nil
}

// Zero padding before a mean over the places: no map shows it, keeping content away from the border does.
func TestMargins(t *testing.T) {
	roll := parse(t, fmt.Sprintf("Roll(%d,%d)", side, side))
	pooled := func(circular bool) audit.Predictor {
		return audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
			out, err := audittest.Convolution(symmetric, circular).Predict(ctx, values)
			for i, v := range out {
				var a, b float64
				for _, p := range v.(*space.Image).Pix { //nolint:errcheck // that is what Convolution returns
					a, b = a+p/1e4, b+math.Sqrt(p)
				}
				out[i] = &space.Tensor{Shape: []int{2}, Val: []float64{float64(float32(a)), float64(float32(b))}}
			}
			return out, err
		})
	}
	for _, circular := range []bool{true, false} {
		s := subject(t, fmt.Sprintf("circular %v", circular), roll, side, pooled(circular), nil, moved...)
		s.Sample = audittest.Noise(inputs, side, side, 3)
		r, of := look[*border.Result](t, s, border.Check)
		holds(t, of, audit.ClueEdgeBand, !circular)
		if !circular && (r.Band < 1 || r.Band > 2) {
			t.Errorf("band of %d pixels, want 1 or 2", r.Band)
		}
	}
}

// Strides show as a period of the error over shifts.
func TestShifts(t *testing.T) {
	c4 := parse(t, "C4")
	for _, k := range []int{1, 2, 3, 4, 8} {
		s := subject(t, fmt.Sprintf("stride %d", k), c4, 36, total(k), nil)
		s.Sample = audittest.Noise(inputs, 36, 36, 3)
		r, of := look[*shifts.Result](t, s, shifts.Check)
		c := holds(t, of, audit.ClueStridePattern, k > 1)
		if r.Period != [2]int{k, k} {
			t.Errorf("stride %d: period %v: %s", k, r.Period, c.Text)
		}
		if x := exhibit(of, "shift-sweep"); x == nil || x.Curve == nil || len(x.Curve.Series) != 2 ||
			len(x.Curve.Series[0].X) != 8 {
			t.Errorf("stride %d: %+v", k, x)
		}
	}
	// An output that is a map moves by whole pixels only.
	pool := audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Image) //nolint:errcheck // pictures only
		y := space.NewImage(1, x.H/2, x.W/2)
		for i := range y.Pix {
			r, c := 2*(i/y.W), 2*(i%y.W)
			y.Pix[i] = max(x.Pix[r*x.W+c], x.Pix[r*x.W+c+1], x.Pix[(r+1)*x.W+c], x.Pix[(r+1)*x.W+c+1])
		}
		return y
	})
	out, err := action.NewImage(c4, space.Spec{Kind: space.KindImage}, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, of := look[*shifts.Result](t, subject(t, "pool", c4, 36, pool, out), shifts.Check)
	holds(t, of, audit.ClueStridePattern, false)
	if x := exhibit(of, "shift-sweep"); r.Period != [2]int{1, 1} || len(x.Curve.Series[0].X) != 4 {
		t.Errorf("period %v, shifts %v", r.Period, x.Curve.Series[0].X)
	}
	// A model that tells all places apart has no period.
	r, of = look[*shifts.Result](t, subject(t, "rings", c4, 36, audittest.Rings(4), nil), shifts.Check)
	holds(t, of, audit.ClueStridePattern, false)
	if r.Period != [2]int{0, 0} {
		t.Errorf("period %v, want none", r.Period)
	}
}

// The period of a sequence that vanishes at the multiples of k, whatever it is elsewhere.
func TestPeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "shifts")
		k := rapid.IntRange(1, n).Draw(t, "period")
		e := make([]float64, n)
		for i := range e {
			if (i+1)%k != 0 {
				e[i] = rapid.Float64Range(1e-3, 10).Draw(t, "error")
			} else {
				e[i] = rapid.Float64Range(0, 1e-7).Draw(t, "rounding")
			}
		}
		if got, vanishes := shifts.Period(e, 1e-6); got != k || !vanishes {
			t.Fatalf("%v: period %d %v, want %d", e, got, vanishes, k)
		}
	})
	nan := math.NaN()
	for _, c := range []struct {
		e        []float64
		k        int
		vanishes bool
	}{
		{nil, 0, false},
		{[]float64{nan, nan}, 0, false},
		{[]float64{1, 2, 3, 4}, 0, false},
		{[]float64{1, 0.01, 1, 0.02}, 2, false},
		{[]float64{nan, 0, nan, 0}, 1, true},
		{[]float64{nan, 1, nan, 0}, 4, true},
	} {
		if k, v := shifts.Period(c.e, 1e-6); k != c.k || v != c.vanishes {
			t.Errorf("%v: period %d %v, want %d %v", c.e, k, v, c.k, c.vanishes)
		}
	}
}

// Inputs that nobody has break what ordinary ones keep.
func TestExtremes(t *testing.T) {
	c4 := parse(t, "C4")
	// After the sum, so that everything ordinary is symmetric.
	model := func(f func(x *space.Image, y []float64)) audit.Predictor {
		return audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
			out, err := audittest.Rings(3).Predict(ctx, values)
			for i, v := range out {
				f(values[i].(*space.Image), v.(*space.Tensor).Val) //nolint:errcheck // pictures in, vectors out
			}
			return out, err
		})
	}
	for _, c := range []struct {
		name string
		f    func(x *space.Image, y []float64)
		want string
	}{
		{"root of zero", func(_ *space.Image, y []float64) {
			n := math.Sqrt(y[0]*y[0] + y[1]*y[1])
			y[0], y[1] = y[0]/n, y[1]/n
		}, "not finite for inputs of the kinds zero"},
		{"overflow", func(_ *space.Image, y []float64) {
			if y[0] > 1e15 {
				y[0] = math.Inf(1)
			}
		}, "not finite for inputs of the kinds a million times"},
		{"clipped on one side", func(x *space.Image, y []float64) {
			for i, p := range x.Pix {
				if p > 1.3e5 && i == 5*x.W+7 {
					y[0] *= 1.1
					return
				}
			}
		}, "the error is .* for inputs of the kinds .*a thousand times"},
		{"first of ties", func(x *space.Image, y []float64) {
			// Only pictures with four values or fewer tie, at their top.
			top, n, first := slices.Max(x.Pix), 0, -1
			for i, p := range x.Pix {
				if p == top {
					if n++; first < 0 {
						first = i
					}
				}
			}
			if n > 1 {
				y[1] += 1e5 * float64(first%x.W)
			}
		}, "for inputs of the kinds saturated, tied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			faulty := subject(t, c.name, c4, side, model(c.f), nil)
			faulty.Sample = audittest.Noise(inputs, side, side, 8)
			r, of := asked(t, faulty, extremes.Check)
			answered(t, of, r, stress.Broken)
			q := holds(t, of, audit.ClueExtreme, true)
			if !slices.ContainsFunc(of.Findings, func(f audit.Finding) bool {
				return f.Category == audit.Stress && regexp.MustCompile(c.want).MatchString(f.Message) &&
					f.Worst.Index >= 0
			}) {
				t.Errorf("findings %+v", of.Findings)
			}
			if q.Location == "" {
				t.Errorf("clue %+v names no input", q)
			}
			for _, f := range of.Findings {
				if f.Category == audit.NonFinite {
					t.Errorf("an absurd input counts as an ordinary one: %s", f.Message)
				}
			}
		})
	}
	// The squares of all pixels summed up forwards and backwards differ by rounding alone, which products of large
	// numbers make larger than what is bounded behind them; a tenth of one pixel is no rounding.
	summed := func(off float32) func(x *space.Image, y []float64) {
		return func(x *space.Image, y []float64) {
			var there, back float32
			for i := range x.Pix {
				p, q := float32(x.Pix[i]/255), float32(x.Pix[len(x.Pix)-1-i]/255)
				there, back = there+p*p, back+q*q
			}
			if corner := float32(x.Pix[0] / 255); corner > 400 {
				there += off * corner * corner
			}
			y[0] *= 1 + 0.1*math.Tanh(float64(there-back)/1e3)
		}
	}
	for _, c := range []struct {
		off    float32
		answer stress.Answer
		text   string
	}{
		{0, stress.Holds, "nothing can be said: rounding alone"},
		{10, stress.Broken, "a thousand times"},
	} {
		s := subject(t, "sums", c4, side, model(summed(c.off)), nil)
		s.Sample = audittest.Noise(inputs, side, side, 8)
		r, of := asked(t, s, extremes.Check)
		answered(t, of, r, c.answer)
		holds(t, of, audit.ClueExtreme, c.answer == stress.Broken)
		if !strings.Contains(r.Text, c.text) {
			t.Errorf("%q, want %q", r.Text, c.text)
		}
	}
	t.Run("broken anyway", func(t *testing.T) {
		s := subject(t, "linear", c4, side, audittest.Pointwise(func(v space.Value) space.Value {
			return &space.Tensor{
				Shape: []int{1},
				Val:   []float64{v.(*space.Image).Pix[5*side+7]}, //nolint:errcheck // pictures only
			}
		}), nil)
		s.Sample = audittest.Noise(inputs, side, side, 8)
		r, of := asked(t, s, extremes.Check)
		answered(t, of, r, stress.Holds)
		if c, ok := clue(of, audit.ClueExtreme); ok {
			t.Errorf("clue %+v of a model that ordinary inputs break", c)
		}
	})
}

// A strided graph keeps quarter turns at the sizes that its grid fits, and at no others.
func TestSizes(t *testing.T) {
	c4 := parse(t, "C4")
	const n = 13
	model := func(size any, stride int64) *onnx.Model {
		b := onnx.NewBuilder(17)
		k := make([]float32, 9)
		for i := range k {
			k[i] = float32(symmetric[i])
		}
		x := b.Op("Conv", []string{
			b.Input("x", tensor.Float32, "N", 1, size, size),
			b.Const(tensor.FromFloat32(k, 1, 1, 3, 3)),
		},
			onnx.AttrInts("strides", stride, stride), onnx.AttrInts("pads", 1, 1, 1, 1))
		x = b.Op("Mul", []string{x, x})
		b.Output(b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{x})}), tensor.Float32, "N", 1)
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	graph := func(name string, m *onnx.Model) *audit.Subject {
		s := subject(t, name, c4, n, nil, nil)
		s.Sample = audittest.Noise(inputs, n, n, 4)
		audittest.Graph(t, s, m, audittest.Images(t, m, 255, decode.OutputSpec{Space: space.KindTensor}, 1, -1, -1))
		return s
	}
	r, of := look[*sizes.Result](t, graph("stride 2", model("S", 2)), sizes.Check)
	for size, ok := range r.Sizes {
		if want := size%2 == 1; ok != want { // (size + 2 - 3) divisible by 2
			t.Errorf("size %d: holds %v, want %v", size, ok, want)
		}
	}
	if len(r.Sizes) != 9 ||
		!finds(of, audit.Explanation, "exact elements hold at the sizes 9, 11, 13, 15, 17 and not at 10, 12, 14, 16") {
		t.Errorf("sizes %v, findings %+v", r.Sizes, of.Findings)
	}
	r, of = look[*sizes.Result](t, graph("stride 1", model("S", 1)), sizes.Check)
	answered(t, of, &r.Result, stress.Holds)
	if len(r.Sizes) != 9 || len(of.Findings) > 0 {
		t.Errorf("sizes %v, findings %+v", r.Sizes, of.Findings)
	}
	if _, of := try(t, graph("fixed", model(n, 2)), sizes.Check); of.Status != audit.NotApplicable ||
		!strings.Contains(of.Reason, "fixes the size") {
		t.Errorf("%s: %q", of.Status, of.Reason)
	}
}

// Where nothing can be held against anything, no check of the family passes.
func TestVacuous(t *testing.T) {
	s := subject(t, "constant", parse(t, "C4"), side, audittest.Constant(1, 2), nil)
	for _, x := range audittest.Audit(t, audittest.Fixture{Subject: s}, family()...).Results {
		if x.Check.Family == stress.Family && x.Status != audit.NotTested {
			t.Errorf("%s: %s: %s", x.Check.Name, x.Status, x.Reason)
		}
	}
}

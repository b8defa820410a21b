package convention_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/convention"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

const (
	inputs = 14
	side   = 17
)

func parse(tb testing.TB, name string) group.Group {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// pictures is the action of a group on pictures of one size.
func pictures(tb testing.TB, g group.Group, o action.Options, c, h, w int) action.Action {
	tb.Helper()
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{c, h, w}}, o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// tensors is the action on feature maps or vectors.
func tensors(tb testing.TB, g group.Group, rep action.Representation, shape ...int) action.Action {
	tb.Helper()
	a, err := action.NewTensor(g, space.Spec{Kind: space.KindTensor, Shape: shape}, action.Options{}, rep)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func regular(tb testing.TB, g group.Group) action.Representation {
	tb.Helper()
	f, ok := g.(group.Finite)
	if !ok {
		tb.Fatalf("%s is not finite", g.Name())
	}
	return action.Regular(f)
}

// scores is the action on scores.
func scores(tb testing.TB, g group.Group, rep action.Representation) action.Action {
	tb.Helper()
	a, err := action.NewScores(g, space.Spec{Kind: space.KindScores, Shape: []int{-1}}, rep)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// look runs the check; of is its result in the report, which may say that it was not applicable.
func look(tb testing.TB, s *audit.Subject) (r *convention.Result, of *audit.Result) {
	tb.Helper()
	outer := &audit.Check{
		Name: "outer", Doc: "Outer looks at the result.", Uses: []*audit.Check{convention.Check},
		Run: func(_ context.Context, p *audit.Pass) (any, error) {
			r, _ = audit.ResultIf[*convention.Result](p, convention.Check)
			return nil, nil
		},
	}
	for _, x := range audittest.Audit(tb, audittest.Fixture{Subject: s}, convention.Check, outer).Results {
		if x.Check == convention.Check {
			of = x
		}
	}
	return r, of
}

func clue(of *audit.Result, name audit.ClueName) (audit.Clue, bool) {
	for _, c := range of.Clues {
		if c.Name == name {
			return c, true
		}
	}
	return audit.Clue{}, false
}

// silent fails unless there was nothing to search for.
func silent(tb testing.TB, s *audit.Subject) {
	tb.Helper()
	_, of := look(tb, s)
	if of.Status != audit.NotApplicable || len(of.Findings) > 0 || len(of.Clues) > 0 {
		tb.Errorf("%s: %s: %s, %d findings, %d clues", s.Name, of.Status, of.Reason, len(of.Findings), len(of.Clues))
	}
}

// named fails unless the first variant that passes matches.
func named(tb testing.TB, s *audit.Subject, want string) (*convention.Result, *audit.Result) {
	tb.Helper()
	r, of := look(tb, s)
	if r == nil {
		tb.Fatalf("%s: %s: %s", s.Name, of.Status, of.Reason)
	}
	c, _ := clue(of, audit.ClueConvention)
	if len(r.Passing) == 0 || !regexp.MustCompile(want).MatchString(c.Text) {
		for _, x := range r.Tried {
			tb.Logf("%10.3g %v %s %s", x.Error, x.Passes, x.Name, x.Why)
		}
		tb.Errorf("%s: passing %v, clue %q; want %q", s.Name, r.Passing, c.Text, want)
		return r, of
	}
	if !c.Holds || c.Location != r.Passing[0] || len(of.Findings) != 1 || of.Findings[0].Category != audit.Convention ||
		len(of.Findings[0].Remedies) == 0 || len(of.Findings[0].Evidence) == 0 {
		tb.Errorf("%s: clue %+v, findings %+v", s.Name, c, of.Findings)
	}
	return r, of
}

// unnamed fails unless conventions were tried and none passes.
func unnamed(tb testing.TB, s *audit.Subject) *convention.Result {
	tb.Helper()
	r, of := look(tb, s)
	if r == nil {
		tb.Fatalf("%s: %s: %s", s.Name, of.Status, of.Reason)
	}
	c, looked := clue(of, audit.ClueConvention)
	if len(r.Passing) > 0 || !looked || c.Holds || len(of.Findings) > 0 || len(r.Tried) == 0 {
		tb.Errorf("%s: passing %v, clue %+v, findings %+v", s.Name, r.Passing, c, of.Findings)
	}
	return r
}

// symmetric is a kernel with the symmetry of the square.
var symmetric = []float64{0.1, 0.3, 0.1, 0.3, 1, 0.3, 0.1, 0.3, 0.1}

// lopsided has none.
var lopsided = []float64{0.1, 0.7, -0.2, 0.3, 1, 0.1, -0.4, 0.2, 0.5}

// after changes what a model returns, before what it reads.
func after(m audit.Predictor, f func(v space.Value) space.Value) audit.Predictor {
	return audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
		out, err := m.Predict(ctx, values)
		for i := range out {
			out[i] = f(out[i])
		}
		return out, err
	})
}

func before(m audit.Predictor, f func(v space.Value) space.Value) audit.Predictor {
	return audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
		in := make([]space.Value, len(values))
		for i := range in {
			in[i] = f(values[i])
		}
		return m.Predict(ctx, in)
	})
}

// indexed makes a picture whose pixel (r, c) is that of the given place, 0 outside.
func indexed(v space.Value, from func(r, c, h, w int) (int, int)) space.Value {
	x, ok := v.(*space.Image)
	if !ok {
		return v
	}
	y := space.NewImage(x.C, x.H, x.W)
	for i := range y.Pix {
		r, c := from(i/x.W%x.H, i%x.W, x.H, x.W)
		if r >= 0 && r < x.H && c >= 0 && c < x.W {
			y.Pix[i] = x.Pix[i/(x.H*x.W)*x.H*x.W+r*x.W+c]
		}
	}
	return y
}

func transpose(v space.Value) space.Value {
	return indexed(v, func(r, c, _, _ int) (int, int) { return c, r })
}

func flipRows(v space.Value) space.Value {
	return indexed(v, func(r, c, h, _ int) (int, int) { return h - 1 - r, c })
}

func aside(down, right int) func(v space.Value) space.Value {
	return func(v space.Value) space.Value {
		return indexed(v, func(r, c, _, _ int) (int, int) { return r - down, c - right })
	}
}

// picture is a subject of pictures that returns pictures.
func picture(tb testing.TB, name, g string, m audit.Predictor,
	sample func(n, h, w int, seed uint64) func(i int) (dataset.Sample, error),
) *audit.Subject {
	tb.Helper()
	a := pictures(tb, parse(tb, g), action.Options{}, 1, side, side)
	return &audit.Subject{
		Name: name, Predictor: m, Plan: audittest.Plan(tb, a, a), N: inputs,
		Sample: sample(inputs, side, side, 5), Seed: 1,
	}
}

// Maps in other frames than declared.
func TestFramesOfMaps(t *testing.T) {
	conv := audittest.Convolution(symmetric, true)
	for _, c := range []struct {
		name, group string
		change      func(v space.Value) space.Value
		want        string
	}{
		{"rows flipped, D4", "D4", flipRows, "rows run the other way"},
		{"transposed, D4", "D4", transpose, "transposed"},
		{"transposed, C4", "C4", transpose, `the inverse element.*transposed`},
		{"rows flipped, shifts", fmt.Sprintf("Roll(%d,%d)", side, side), flipRows, "rows run the other way"},
		{"transposed, shifts", fmt.Sprintf("Roll(%d,%d)", side, side), transpose, "transposed"},
		{
			"half turn, shifts", fmt.Sprintf("Roll(%d,%d)", side, side),
			func(v space.Value) space.Value { return flipRows(transpose(flipRows(transpose(v)))) }, "inverse element",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			sample := audittest.Noise
			named(t, some(picture(t, "faulty", c.group, after(conv, c.change), sample)), c.want)
		})
	}
	for _, g := range []string{"C4", "D4", fmt.Sprintf("Roll(%d,%d)", side, side)} {
		silent(t, some(picture(t, "clean", g, conv, audittest.Noise)))
	}
	t.Run("broken", func(t *testing.T) {
		for _, g := range []string{"C4", "D4"} {
			unnamed(t, picture(t, "broken", g, audittest.Convolution(lopsided, true), audittest.Noise))
		}
		unnamed(t, some(picture(t, "zero padding", fmt.Sprintf("Roll(%d,%d)", side, side),
			audittest.Convolution(symmetric, false), audittest.Noise)))
	})
}

// some thins a plan of many elements.
func some(s *audit.Subject) *audit.Subject {
	if n := len(s.Plan.Elements); n > 40 {
		var keep []group.Element
		for i := 0; i < n; i += n/20 + 1 {
			keep = append(keep, s.Plan.Elements[i])
		}
		s.Plan.Elements = keep
	}
	return s
}

// A model that moves its picture before or after it works turns about another centre.
func TestCentres(t *testing.T) {
	// Brighter away from the centre: equivariant about it and about no other place.
	conv := audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Image) //nolint:errcheck // pictures only
		y := space.NewImage(x.C, x.H, x.W)
		for i, p := range x.Pix {
			y.Pix[i] = p * math.Hypot(float64(i/x.W)-float64(x.H-1)/2, float64(i%x.W)-float64(x.W-1)/2)
		}
		return y
	})
	rings := audittest.Rings(5)
	for _, c := range []struct {
		name string
		s    *audit.Subject
		want string
	}{
		{
			"input, invariant", invariant(t, "C4", before(rings, aside(0, 1))),
			"the input turns about a centre -1 px right and \\+0 px down",
		},
		{
			"input, D4", invariant(t, "D4", before(rings, aside(1, 0))),
			"the input turns about a centre \\+0 px right and -1 px down",
		},
		{
			"both", picture(t, "both", "C4", after(before(conv, aside(0, 1)), aside(0, -1)), audittest.Pictures),
			"input and output turn about a centre -1 px right",
		},
		{
			"output", picture(t, "output", "C4", after(conv, aside(1, 1)), audittest.Pictures),
			"the output turns about a centre \\+1 px right and \\+1 px down",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, of := named(t, c.s, c.want)
			if q, ok := clue(of, audit.ClueCentre); !ok || !q.Holds {
				t.Errorf("clue centre: %+v", q)
			}
		})
	}
	t.Run("background", func(t *testing.T) {
		// What a turn about another centre brings in from outside is not what the model puts there.
		lit := func(v space.Value) space.Value {
			x := v.(*space.Image) //nolint:errcheck // pictures only
			for i := range x.Pix {
				x.Pix[i] += 100
			}
			return x
		}
		named(t, picture(t, "background", "C4", after(after(conv, aside(1, 1)), lit), audittest.Pictures),
			"the output turns about a centre \\+1 px right and \\+1 px down")
	})
	t.Run("clean", func(t *testing.T) {
		silent(t, invariant(t, "C4", rings))
		silent(t, picture(t, "clean", "C4", conv, audittest.Pictures))
	})
	t.Run("broken", func(t *testing.T) {
		s := invariant(t, "C4", audittest.Pointwise(func(v space.Value) space.Value {
			x := v.(*space.Image) //nolint:errcheck // pictures only
			var a, b float64
			for i, p := range x.Pix {
				a, b = a+p*float64(i%x.W), b+p*p*math.Sin(float64(i))
			}
			return &space.Tensor{Shape: []int{2}, Val: []float64{a, b}}
		}))
		unnamed(t, s)
		_, of := look(t, s)
		if q, ok := clue(of, audit.ClueCentre); !ok || q.Holds {
			t.Errorf("clue centre: %+v %v", q, ok)
		}
	})
}

// invariant is a subject of pictures that returns numbers without places.
func invariant(tb testing.TB, g string, m audit.Predictor) *audit.Subject {
	tb.Helper()
	G := parse(tb, g)
	return &audit.Subject{
		Name: "invariant " + g, Predictor: m, Plan: audittest.Plan(tb, pictures(tb, G, action.Options{}, 1, side, side),
			action.Trivial{G: G}),
		N: inputs, Sample: audittest.Pictures(inputs, side, side, 5), Seed: 1,
	}
}

// Scores and vectors whose numbers change places in another way than declared.
func TestChannels(t *testing.T) {
	c4 := parse(t, "C4")
	compass := audittest.Compass()
	order := func(to ...int) audit.Predictor {
		return after(compass, func(v space.Value) space.Value {
			y := v.(*space.Scores) //nolint:errcheck // that is what Compass returns
			o := &space.Scores{Val: make([]float64, len(to))}
			for k, f := range to {
				o.Val[k] = y.Val[f]
			}
			return o
		})
	}
	in := audittest.Plane(t, c4)
	subject := func(name string, m audit.Predictor, out action.Action) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: m, Plan: audittest.Plan(t, in, out), N: inputs,
			Sample: audittest.Vectors(inputs, 3), Seed: 1,
		}
	}
	silent(t, subject("clean", compass, scores(t, c4, regular(t, c4))))
	named(t, subject("two exchanged", order(0, 2, 1, 3), scores(t, c4, regular(t, c4))),
		"scores 1 and 2 of the output are exchanged")
	named(t, subject("declared invariant", compass, action.Trivial{G: c4}), "regular representation")
	named(t, subject("reverse order", order(3, 2, 1, 0), scores(t, c4, regular(t, c4))),
		"inverse element|reverse order")
	named(t, subject("radius declared to move", scored(audittest.Radius(0)), scores(t, c4, regular(t, c4))),
		"it is invariant")
	unnamed(t, subject("broken", after(compass, func(v space.Value) space.Value {
		y := v.(*space.Scores) //nolint:errcheck // that is what Compass returns
		y.Val[2] *= 1.3
		return y
	}), scores(t, c4, regular(t, c4))))
}

// scored returns four scores that are functions of a number.
func scored(m audit.Predictor) audit.Predictor {
	return after(m, func(v space.Value) space.Value {
		x := v.(*space.Tensor).Val[0] //nolint:errcheck // that is what Radius returns
		return &space.Scores{Val: []float64{x, math.Sin(x), x * x, math.Cos(x)}}
	})
}

// squared is x·‖x‖, a vector that turns with its argument, seen in a frame given by signs and order.
func squared(f func(x, y float64) (float64, float64)) audit.Predictor {
	return audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Tensor).Val //nolint:errcheck // vectors only
		r := math.Hypot(x[0], x[1])
		a, b := f(x[0]*r, x[1]*r)
		return &space.Tensor{Shape: []int{2}, Val: []float64{a, b}}
	})
}

func TestVectors(t *testing.T) {
	so2, o2 := parse(t, "SO(2)"), parse(t, "O(2)")
	angles := audittest.Angles(8)
	var mirrors []group.Element
	for _, a := range angles {
		mirrors = append(mirrors, group.Element{a[0], 0}, group.Element{a[0], 1})
	}
	subject := func(name string, g group.Group, m audit.Predictor, out action.Action,
		elements []group.Element,
	) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: m, Plan: audittest.Plan(t, audittest.Plane(t, g), out, elements...), N: inputs,
			Sample: audittest.Vectors(inputs, 3), Seed: 1,
		}
	}
	keep := func(x, y float64) (float64, float64) { return x, y }
	up := func(x, y float64) (float64, float64) { return x, -y }
	swap := func(x, y float64) (float64, float64) { return y, x }
	silent(t, subject("clean", so2, squared(keep), audittest.Plane(t, so2), angles))
	silent(t, subject("clean with mirrors", o2, squared(keep), audittest.Plane(t, o2), mirrors))
	named(t, subject("y up", so2, squared(up), audittest.Plane(t, so2), angles), "y up")
	named(t, subject("y up with mirrors", o2, squared(up), audittest.Plane(t, o2), mirrors), "y up")
	named(t, subject("exchanged", o2, squared(swap), audittest.Plane(t, o2), mirrors),
		"y before x|transposed|exchanged")
	named(t, subject("declared invariant", so2, squared(keep), action.Trivial{G: so2}, angles),
		"as the input does|is a vector")
	named(t, subject("radius", so2, after(audittest.Radius(0), func(v space.Value) space.Value {
		x := v.(*space.Tensor).Val[0] //nolint:errcheck // that is what Radius returns
		return &space.Tensor{Shape: []int{2}, Val: []float64{x, math.Sin(x)}}
	}), audittest.Plane(t, so2), angles), "it is invariant")
	unnamed(t, subject("broken", so2, squared(func(x, y float64) (float64, float64) { return x, 0.8*y + 0.1*x }),
		audittest.Plane(t, so2), angles))
}

// turning turns vectors of the plane, or points in rows, by an angle made of an element.
type turning struct {
	g group.Group
	// radians
	angle func(g group.Element) float64
}

func (a turning) Group() group.Group { return a.g }

func (a turning) Apply(g group.Element, v space.Value) (space.Value, error) {
	x, ok := v.(*space.Tensor)
	if !ok || len(x.Val)%2 != 0 {
		return nil, errors.New("want points of the plane")
	}
	s, c := math.Sincos(a.angle(g))
	y := &space.Tensor{Shape: x.Shape, Val: make([]float64, len(x.Val))}
	for i := 0; i < len(x.Val); i += 2 {
		y.Val[i], y.Val[i+1] = c*x.Val[i]+s*x.Val[i+1], -s*x.Val[i]+c*x.Val[i+1]
	}
	return y, nil
}

// An action that takes its angles for radians is found on either side.
func TestUnits(t *testing.T) {
	so2 := parse(t, "SO(2)")
	right := audittest.Plane(t, so2)
	wrong := turning{so2, func(g group.Element) float64 { return g[0] }} // degrees, taken for radians
	elements := []group.Element{{0}, {10}, {20}, {35}, {50}}
	subject := func(name string, in, out action.Action) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: squared(func(x, y float64) (float64, float64) { return x, y }),
			Plan: audittest.Plan(t, in, out, elements...), N: inputs, Sample: audittest.Vectors(inputs, 3), Seed: 1,
		}
	}
	silent(t, subject("clean", right, right))
	named(t, subject("output", right, wrong), "the output is given degrees where it takes radians")
	named(t, subject("input", wrong, right), "the input is given degrees where it takes radians")
}

// A variant that moves next to nothing passes with every model that jumps, and means nothing.
func TestNothingMoves(t *testing.T) {
	so2 := parse(t, "SO(2)")
	in := turning{so2, func(g group.Element) float64 { return g[0] * math.Pi / 180 }}
	steps := audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Tensor).Val //nolint:errcheck // vectors only
		return &space.Tensor{Shape: []int{2}, Val: []float64{math.Copysign(1, x[0]), math.Copysign(1, x[1])}}
	})
	s := &audit.Subject{
		Name: "steps", Predictor: steps, Plan: audittest.Plan(t, in, action.Trivial{G: so2}, group.Element{0},
			group.Element{20}, group.Element{40}, group.Element{50}),
		N: inputs, Sample: audittest.Vectors(inputs, 3), Seed: 1,
	}
	r := unnamed(t, s)
	if !slices.ContainsFunc(r.Tried,
		func(x convention.Tried) bool { return strings.Contains(x.Why, "hardly moves the input") }) {
		t.Errorf("tried %+v", r.Tried)
	}
}

// Channels that change places at every element, but not as the elements compose, are no representation.
func TestNoRepresentation(t *testing.T) {
	c4 := parse(t, "C4")
	in := exactly{audittest.Plane(t, c4), func(g group.Element) group.Element {
		if g[0] == 0 {
			return g
		}
		return group.Element{90}
	}}
	unnamed(t, &audit.Subject{
		Name: "stuck", Predictor: audittest.Compass(), Plan: audittest.Plan(t, in, action.Trivial{G: c4}), N: inputs,
		Sample: audittest.Vectors(inputs, 3), Seed: 1,
	})
}

// sets are n sets of points as rows.
func sets(n, points int) func(i int) (dataset.Sample, error) {
	return func(i int) (dataset.Sample, error) {
		if i < 0 || i >= n {
			return dataset.Sample{}, fmt.Errorf("sample %d of %d", i, n)
		}
		r := rand.New(rand.NewPCG(9, uint64(i)))
		x := &space.Tensor{Shape: []int{points, 2}, Val: make([]float64, 2*points)}
		cx, cy := 2+r.Float64(), r.Float64()
		for k := range points {
			x.Val[2*k], x.Val[2*k+1] = cx+r.NormFloat64(), cy+r.NormFloat64()
		}
		return dataset.Sample{ID: strconv.Itoa(i), Label: -1, Value: x}, nil
	}
}

// A model of points that keeps their mean fixed is invariant about that mean and not about the origin.
func TestPoints(t *testing.T) {
	so2 := parse(t, "SO(2)")
	in := turning{so2, func(g group.Element) float64 { return g[0] * math.Pi / 180 }}
	model := func(origin bool) audit.Predictor {
		return audittest.Pointwise(func(v space.Value) space.Value {
			x := v.(*space.Tensor) //nolint:errcheck // points only
			n := float64(x.Shape[0])
			var mx, my, s float64
			for k := 0; k < len(x.Val); k += 2 {
				mx, my = mx+x.Val[k]/n, my+x.Val[k+1]/n
			}
			for k := 0; k < len(x.Val); k += 2 {
				s += (x.Val[k]-mx)*(x.Val[k]-mx) + (x.Val[k+1]-my)*(x.Val[k+1]-my)
			}
			if origin {
				return &space.Tensor{Shape: []int{2}, Val: []float64{math.Hypot(mx, my), s}}
			}
			return &space.Tensor{Shape: []int{2}, Val: []float64{mx, s}}
		})
	}
	subject := func(name string, m audit.Predictor) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: m,
			Plan: audittest.Plan(t, in, action.Trivial{G: so2}, audittest.Angles(7)...), N: inputs,
			Sample: sets(inputs, 6), Seed: 1,
		}
	}
	// The same of points that were moved before.
	moments := audittest.Pointwise(func(v space.Value) space.Value {
		var a, b float64
		for k, x := 0, v.(*space.Tensor).Val; k < len(x); k += 2 { //nolint:errcheck // points only
			r := x[k]*x[k] + x[k+1]*x[k+1]
			a, b = a+r, b+math.Sqrt(r)
		}
		return &space.Tensor{Shape: []int{2}, Val: []float64{a, b}}
	})
	silent(t, subject("clean moments", moments))
	pushed := before(moments, func(v space.Value) space.Value {
		x := v.(*space.Tensor) //nolint:errcheck // points only
		y := &space.Tensor{Shape: x.Shape, Val: slices.Clone(x.Val)}
		for k := 0; k < len(y.Val); k += 2 {
			y.Val[k], y.Val[k+1] = y.Val[k]+0.5, y.Val[k+1]-0.25
		}
		return y
	})
	_, of := named(t, subject("about another point", pushed),
		`the points turn about \(-0\.5, 0\.25\) in place of the origin`)
	if q, ok := clue(of, audit.ClueCentre); !ok || !q.Holds {
		t.Errorf("clue centre: %+v", q)
	}
	silent(t, subject("clean", model(true)))
	named(t, subject("about the mean", model(false)), "the points turn about their own mean")
	unnamed(t, subject("broken", audittest.Linear(1, 0.5, -0.3, 0.2, 0.7, -1, 0.1, 0.4, 0.9, -0.2, 0.3, 0.6)))
}

// Shifts along one axis of a model that ignores the other.
func TestExchangedShifts(t *testing.T) {
	roll := parse(t, fmt.Sprintf("Roll(%d,%d)", side, side))
	a := pictures(t, roll, action.Options{}, 1, side, side)
	sums := func(rows bool) audit.Predictor {
		return audittest.Pointwise(func(v space.Value) space.Value {
			x := v.(*space.Image) //nolint:errcheck // pictures only
			y := make([]float64, side)
			for i, p := range x.Pix {
				k := i % side
				if rows {
					k = i / side
				}
				y[k] += p * p
			}
			return &space.Tensor{Shape: []int{side}, Val: y}
		})
	}
	var elements []group.Element
	for d := range 6 {
		elements = append(elements, group.Element{float64(2 * d), 0})
	}
	subject := func(rows bool) *audit.Subject {
		return &audit.Subject{
			Name: fmt.Sprint("rows ", rows), Predictor: sums(rows),
			Plan: audittest.Plan(t, a, action.Trivial{G: roll}, elements...), N: inputs,
			Sample: audittest.Noise(inputs, side, side, 5), Seed: 1,
		}
	}
	silent(t, subject(true))
	named(t, subject(false), "rows and columns are exchanged|quarter turn")
}

// Graphs: a map that is transposed on the way out, and two labels that a mirror exchanges.
func TestGraphs(t *testing.T) {
	const n = 12
	noise := audittest.Noise(inputs, n, n, 5)
	c := func(b *onnx.Builder, shape []int, v ...float32) string {
		return b.Const(tensor.FromFloat32(v, shape...))
	}
	kernel := []float32{0.1, 0.3, 0.1, 0.3, 1, 0.3, 0.1, 0.3, 0.1}
	t.Run("transposed", func(t *testing.T) {
		model := func(turned bool) *onnx.Model {
			b := onnx.NewBuilder(17)
			x := b.Op("Conv", []string{b.Input("x", tensor.Float32, "N", 1, n, n), c(b, []int{1, 1, 3, 3}, kernel...)},
				onnx.AttrInts("pads", 1, 1, 1, 1))
			x = b.Op("Tanh", []string{x})
			if turned {
				x = b.Op("Transpose", []string{x}, onnx.AttrInts("perm", 0, 1, 3, 2))
			}
			b.Output(x, tensor.Float32, "N", 1, n, n)
			m, err := b.Model()
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		d4 := parse(t, "D4")
		subject := func(name string, m *onnx.Model) *audit.Subject {
			s := &audit.Subject{
				Name: name, Plan: audittest.Plan(t, pictures(t, d4, action.Options{}, 1, n, n),
					tensors(t, d4, action.Identical(), 1, n, n)),
				N: inputs, Sample: noise, Seed: 1,
			}
			audittest.Graph(t, s, m, audittest.Images(t, m, 255, decode.OutputSpec{Space: space.KindTensor}, 1, n, n))
			return s
		}
		silent(t, subject("clean", model(false)))
		named(t, subject("transposed", model(true)), "transposed")
	})
	t.Run("left and right", func(t *testing.T) {
		model := func(broken float32) *onnx.Model {
			b := onnx.NewBuilder(17)
			w := []float32{0.2, -0.5, 0.1, 0.7, 0.1, -0.6, 0.3, 0.2, -0.1}
			f := make([]float32, 9)
			for i := range f {
				f[i] = w[i/3*3+2-i%3]
			}
			f[4] += broken
			k := slices.Concat(w, f, kernel)
			x := b.Op("Conv", []string{b.Input("x", tensor.Float32, "N", 1, n, n), c(b, []int{3, 1, 3, 3}, k...)},
				onnx.AttrInts("pads", 1, 1, 1, 1))
			x = b.Op("Relu", []string{x})
			x = b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{x})})
			b.Output(x, tensor.Float32, "N", 3)
			m, err := b.Model()
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		d1 := parse(t, "D1")
		subject := func(name string, m *onnx.Model, out action.Action) *audit.Subject {
			s := &audit.Subject{
				Name: name, Plan: audittest.Plan(t, pictures(t, d1, action.Options{}, 1, n, n), out),
				N: inputs, Sample: noise, Seed: 1,
			}
			audittest.Graph(t, s, m,
				audittest.Images(t, m, 255, decode.OutputSpec{Space: space.KindScores, Decode: "logits"}, 1, n, n))
			return s
		}
		rep, err := action.Given(d1, "left and right", 3, func(g group.Element) []float64 {
			if g[1] != 0 {
				return []float64{0, 1, 0, 1, 0, 0, 0, 0, 1}
			}
			return []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
		})
		if err != nil {
			t.Fatal(err)
		}
		silent(t, subject("clean", model(0), scores(t, d1, rep)))
		named(t, subject("declared invariant", model(0), action.Trivial{G: d1}), "change under mirrors: 0 <-> 1")
		unnamed(t, subject("broken", model(0.3), action.Trivial{G: d1}))
	})
}

// around is a pixel of a torus.
func around(x *space.Image, r, c int) float64 {
	return x.Pix[(r+x.H)%x.H*x.W+(c+x.W)%x.W]
}

// slopes are central differences to the right and down.
func slopes(x *space.Image, r, c int) (right, down float64) {
	return around(x, r, c+1) - around(x, r, c-1), around(x, r+1, c) - around(x, r-1, c)
}

// Outputs whose places move as declared and whose numbers do not.
func TestFields(t *testing.T) {
	d4 := parse(t, "D4")
	in := pictures(t, d4, action.Options{}, 1, side, side)
	planar, ok := d4.(group.Planar)
	if !ok {
		t.Fatal("D4 does not act on the plane")
	}
	vector := func(up float64) action.Action {
		rep, err := action.Given(d4, "vector", 2, func(g group.Element) []float64 {
			a, _ := planar.Affine(g)
			return []float64{a[0][0], up * a[0][1], up * a[1][0], a[1][1]}
		})
		if err != nil {
			t.Fatal(err)
		}
		return tensors(t, d4, rep, 2, side, side)
	}
	subject := func(name string, m audit.Predictor, out action.Action) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: m, Plan: audittest.Plan(t, in, out), N: inputs,
			Sample: audittest.Noise(inputs, side, side, 5), Seed: 1,
		}
	}
	gradient := func(up float64) audit.Predictor {
		return audittest.Pointwise(func(v space.Value) space.Value {
			x := v.(*space.Image) //nolint:errcheck // pictures only
			y := &space.Tensor{Shape: []int{2, side, side}, Val: make([]float64, 2*side*side)}
			for i := range side * side {
				right, down := slopes(x, i/side, i%side)
				y.Val[i], y.Val[side*side+i] = right, up*down
			}
			return y
		})
	}
	// The determinant of the slopes of two pictures made of one changes its sign under mirrors.
	determinant := audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Image) //nolint:errcheck // pictures only
		z, y := space.NewImage(1, side, side), space.NewImage(1, side, side)
		for i := range z.Pix {
			r, c := i/side, i%side
			z.Pix[i] = around(x, r-1, c) + around(x, r+1, c) + around(x, r, c-1) + around(x, r, c+1)
		}
		for i := range y.Pix {
			a, b := slopes(x, i/side, i%side)
			p, q := slopes(z, i/side, i%side)
			y.Pix[i] = a*q - b*p
		}
		return y
	})
	silent(t, subject("gradient", gradient(1), vector(1)))
	silent(t, subject("gradient, y up", gradient(-1), vector(-1)))
	named(t, subject("declared trivial", gradient(1), tensors(t, d4, action.Identical(), 2, side, side)),
		"field of vectors, x to the right and y down")
	named(t, subject("declared down", gradient(-1), vector(1)), "field of vectors, x to the right and y up")
	named(t, subject("pseudo-scalar", determinant, in), "pseudo-scalar")
	named(t, subject("declared a vector",
		after(audittest.Convolution(symmetric, true), func(v space.Value) space.Value {
			x := v.(*space.Image).Pix //nolint:errcheck // that is what Convolution returns
			y := make([]float64, 2*len(x))
			for i, p := range x {
				y[i], y[len(x)+i] = p, math.Sqrt(p)
			}
			return &space.Tensor{Shape: []int{2, side, side}, Val: y}
		}), vector(1)), "the places of the output move and its channels do not")
}

// Fields of the regular representation whose elements come in another order.
func TestRegularMaps(t *testing.T) {
	c4 := parse(t, "C4")
	in := pictures(t, c4, action.Options{}, 1, side, side)
	turned := func(w []float64) []float64 {
		o := make([]float64, 9)
		for r := range 3 {
			for c := range 3 {
				o[r*3+c] = w[c*3+2-r]
			}
		}
		return o
	}
	lifted := func(order ...int) audit.Predictor {
		kernels := [][]float64{lopsided}
		for range 3 {
			kernels = append(kernels, turned(kernels[len(kernels)-1]))
		}
		return audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
			out := make([]space.Value, len(values))
			for _, k := range order {
				y, err := audittest.Convolution(kernels[k], true).Predict(ctx, values)
				if err != nil {
					return nil, err
				}
				for i := range out {
					if out[i] == nil {
						out[i] = &space.Tensor{Shape: []int{4, side, side}}
					}
					f := out[i].(*space.Tensor) //nolint:errcheck // see above
					f.Val = append(f.Val,
						y[i].(*space.Image).Pix...) //nolint:errcheck // that is what Convolution returns
				}
			}
			return out, nil
		})
	}
	subject := func(name string, m audit.Predictor, rep action.Representation) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: m, Plan: audittest.Plan(t, in, tensors(t, c4, rep, 4, side, side)),
			N: inputs, Sample: audittest.Noise(inputs, side, side, 5), Seed: 1,
		}
	}
	silent(t, subject("clean", lifted(0, 1, 2, 3), regular(t, c4)))
	named(t, subject("declared trivial", lifted(0, 1, 2, 3), action.Identical()), "regular representation of the group")
	named(t, subject("clockwise", lifted(0, 3, 2, 1), regular(t, c4)), "reverse order|inverse element")
	named(t, subject("exchanged", lifted(0, 2, 1, 3), regular(t, c4)), "channels 1 and 2 of the output are exchanged")
	unnamed(t, subject("one channel wrong", after(lifted(0, 1, 2, 3), func(v space.Value) space.Value {
		x := v.(*space.Tensor).Val //nolint:errcheck // see above
		for i := range side * side {
			x[2*side*side+i] *= 1.2
		}
		return v
	}), regular(t, c4)))
}

// A map of half the size shifts by half as many pixels.
func TestOwnPixels(t *testing.T) {
	const n = 32
	g := parse(t, "T(2,Z)")
	in := pictures(t, g, action.Options{}, 1, n, n)
	out := pictures(t, g, action.Options{}, 1, -1, -1)
	pool := audittest.Pointwise(func(v space.Value) space.Value {
		x := v.(*space.Image) //nolint:errcheck // pictures only
		y := space.NewImage(1, n/2, n/2)
		for i := range x.Pix {
			y.Pix[i/n/2*(n/2)+i%n/2] += x.Pix[i] * x.Pix[i]
		}
		return y
	})
	sample := func(i int) (dataset.Sample, error) {
		s, err := audittest.Noise(inputs, n, n, 5)(i)
		x, ok := s.Value.(*space.Image)
		if err != nil || !ok {
			return s, err
		}
		for i := range x.Pix {
			if r, c := i/n, i%n; min(r, c, n-1-r, n-1-c) < 8 {
				x.Pix[i] = 0
			}
		}
		return s, nil
	}
	elements := []group.Element{{0, 0}, {2, 0}, {0, 4}, {-2, 6}, {4, -4}}
	s := &audit.Subject{
		Name: "pool", Predictor: pool, Plan: audittest.Plan(t, in, out, elements...), N: inputs,
		Sample: sample, Seed: 1,
	}
	named(t, s, "shifts by pixels of its own, 0.5 of those of the input")
}

// Mirrors and turns in the other order, and matrices that move as gradients do.
func TestOrderAndMatrices(t *testing.T) {
	d4 := parse(t, "D4")
	right := pictures(t, d4, action.Options{}, 1, side, side)
	subject := func(name string, in action.Action) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: audittest.Convolution(symmetric, true), Plan: audittest.Plan(t, in, right),
			N: inputs, Sample: audittest.Noise(inputs, side, side, 5), Seed: 1,
		}
	}
	silent(t, subject("clean", exactly{right, func(g group.Element) group.Element { return g }}))
	named(t, subject("reversed", exactly{right, func(g group.Element) group.Element {
		if g[1] != 0 {
			return group.Element{math.Mod(360-g[0], 360), 1}
		}
		return g
	}}), "in the other order: mirrors after it turns|columns run the other way")

	shear := parse(t, "Affine(shear)")
	in := audittest.Plane(t, shear)
	elements := []group.Element{{0}, {0.3}, {-0.5}, {1}, {-1.2}}
	model := func(f func(x, y float64) (float64, float64)) audit.Predictor {
		return audittest.Pointwise(func(v space.Value) space.Value {
			x := v.(*space.Tensor).Val //nolint:errcheck // vectors only
			a, b := f(x[0], x[1])
			return &space.Tensor{Shape: []int{2}, Val: []float64{a, b}}
		})
	}
	sheared := func(name string, m audit.Predictor) *audit.Subject {
		return &audit.Subject{
			Name: name, Predictor: m, Plan: audittest.Plan(t, in, in, elements...), N: inputs,
			Sample: audittest.Vectors(inputs, 3), Seed: 1,
		}
	}
	silent(t, sheared("clean", model(func(x, y float64) (float64, float64) { return x * (1 + y*y), y * (1 + y*y) })))
	named(t, sheared("gradients",
		model(func(x, y float64) (float64, float64) { return -y * (1 + y*y), x * (1 + y*y) })), "as gradients move")
}

// exactly is an action that reads its elements in its own way.
type exactly struct {
	action.Action
	read func(g group.Element) group.Element
}

func (a exactly) Apply(g group.Element, v space.Value) (space.Value, error) {
	return a.Action.Apply(a.read(g), v)
}

func (a exactly) Exact(g group.Element) bool { return action.Exact(a.Action, a.read(g)) }

// A set that is empty of inputs that vary, or whose error is noise, is not searched.
func TestNothingToSearch(t *testing.T) {
	c4 := parse(t, "C4")
	plan := audittest.Plan(t, audittest.Plane(t, c4), action.Trivial{G: c4})
	for name, m := range map[string]audit.Predictor{
		"constant": audittest.Constant(1, 2),
		"noisy":    audittest.Stochastic(audittest.Radius(0), 0.5, 1),
	} {
		silent(t, &audit.Subject{
			Name: name, Predictor: m, Plan: plan, N: inputs, Sample: audittest.Vectors(inputs, 3),
			Seed: 1,
		})
	}
}

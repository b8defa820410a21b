package encoder_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nero/data/split"
	"nero/encoder"
	"nero/internal/elementary"
	"nero/measure/embedding"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"

	"gonum.org/v1/gonum/mat"
)

var update = flag.Bool("update", false, "write golden files")

// kind is how features are made of an object and an angle in degrees.
type kind func(object []float64, angle float64, r *rand.Rand) []float64

// stays and turns are features that do so: one plane turns as the input does, one twice as fast.
func stays(x []float64, _ float64, _ *rand.Rand) []float64 { return x[:5] }

func turns(x []float64, angle float64, _ *rand.Rand) []float64 {
	s, c := elementary.Sincos(angle * math.Pi / 180)
	s2, c2 := elementary.Sincos(2 * angle * math.Pi / 180)
	return []float64{
		x[0], c*x[1] - s*x[2], s*x[1] + c*x[2], c2*x[3] - s2*x[4], s2*x[3] + c2*x[4], x[5],
	}
}

// raised is turns with a constant, as a bias leaves it: no linear map takes it from one place to the next.
func raised(x []float64, angle float64, r *rand.Rand) []float64 {
	out := turns(x, angle, r)
	for i := range out {
		out[i] += float64(7 * (i + 1))
	}
	return out
}

// quick turns six and seven times as fast as the input.
func quick(x []float64, angle float64, _ *rand.Rand) []float64 {
	s, c := elementary.Sincos(6 * angle * math.Pi / 180)
	s2, c2 := elementary.Sincos(7 * angle * math.Pi / 180)
	return []float64{c*x[1] - s*x[2], s*x[1] + c*x[2], c2*x[3] - s2*x[4], s2*x[3] + c2*x[4]}
}

// blurred is turns with noise.
func blurred(x []float64, angle float64, r *rand.Rand) []float64 {
	out := turns(x, angle, r)
	for i := range out {
		out[i] += 0.05 * elementary.Normal(r)
	}
	return out
}

func loses(x []float64, angle float64, r *rand.Rand) []float64 {
	if angle == 0 {
		return x[:5]
	}
	out := normals(5, r)
	for i := range out { // further apart than objects are
		out[i] *= 3
	}
	return out
}

func collapses(x []float64, _ float64, _ *rand.Rand) []float64 { return []float64{x[0], 2 * x[0], 7} }

// swings has one direction, along which features go far.
func swings(x []float64, angle float64, _ *rand.Rand) []float64 {
	return []float64{x[0] + angle, 2*x[0] + 2*angle, 7}
}

func breaks(x []float64, angle float64, _ *rand.Rand) []float64 {
	if angle == 180 && x[0] > 1 {
		return []float64{x[0], math.NaN(), x[1]}
	}
	return x[:3]
}

func constant([]float64, float64, *rand.Rand) []float64 { return []float64{1, 2} }

func normals(n int, r *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = elementary.Normal(r)
	}
	return out
}

// subject is a planted encoder under a group, asked at n equal turns.
func subject(t *testing.T, name string, n int, of kind) *encoder.Subject {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &encoder.Subject{
		Model: "planted", Digest: "00", Value: "features", Group: g, Sides: map[split.Side]*encoder.Side{}, Seed: 3,
		Confidence: 0.95,
	}
	for k := range n {
		s.Elements = append(s.Elements, group.Element{float64(k) * 360 / float64(n)})
	}
	s.Ladder = s.Rungs()
	for i, side := range split.Sides() {
		r := rand.New(rand.NewPCG(uint64(i), 4))
		many := map[split.Side]int{split.Fit: 60, split.Choose: 30, split.Confirm: 40}[side]
		x := &encoder.Side{}
		var objects [][]float64
		for j := range many {
			id := fmt.Sprintf("%s%d", side, j)
			x.Names, x.Objects, x.Inputs = append(x.Names, id), append(x.Objects, id), append(x.Inputs, id)
			x.Labels = append(x.Labels, j%4)
			o := normals(8, r)
			for k := range o {
				o[k] += 3 * float64((j%4)>>(k%2)&1) // classes lie apart
			}
			objects = append(objects, o)
		}
		for _, e := range slices.Concat(s.Elements, s.Ladder) {
			var at *mat.Dense
			for j, o := range objects {
				f := of(o, e[0], r)
				if at == nil {
					at = mat.NewDense(many, len(f), nil)
				}
				at.SetRow(j, f)
			}
			x.At = append(x.At, at)
		}
		x.Ladder = x.At[len(s.Elements):]
		x.At = x.At[:len(s.Elements):len(s.Elements)]
		s.Sides[side] = x
	}
	return s
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		of    kind
		state encoder.State
		says  string
		good  bool
	}{
		{stays, encoder.Stay, "the features stay", true},
		{turns, encoder.Move, "the features move", true},
		{raised, encoder.Move, "a linear map explains 100.0%", true},
		{loses, encoder.Lost, "lose the object", false},
		{loses, encoder.Lost, "no linear map was found", false},
		{collapses, encoder.Collapsed, "effective rank is below 1.5", false},
		{swings, encoder.Collapsed, "what is left does not stay", false},
		{constant, encoder.Collapsed, "the same for every sample", false},
		{breaks, encoder.NotFinite, "180°", false},
	} {
		m, err := encoder.Take(subject(t, "C4", 4, c.of))
		if err != nil {
			t.Fatal(err)
		}
		if m.State != c.state || !strings.Contains(m.Sentence, c.says) {
			t.Errorf("%s: %s, want %s with %q", m.State, m.Sentence, c.state, c.says)
		}
		if len(c.of(normals(8, rand.New(rand.NewPCG(1, 1))), 0, rand.New(rand.NewPCG(1, 1)))) != m.Width {
			t.Errorf("%s: %d numbers", m.State, m.Width)
		}
		r := &encoder.Report{Models: []*encoder.Model{m}}
		if r.Good() != c.good {
			t.Errorf("%s: good is %v", m.State, r.Good())
		}
	}
}

// Features that are not finite where something is asked beside the elements are that, and no error.
func TestNotFiniteBeside(t *testing.T) {
	for _, c := range []struct {
		change func(*encoder.Subject)
		says   string
	}{
		{func(s *encoder.Subject) { s.Sides[split.Fit].Ladder[1].Set(3, 2, math.Inf(1)) }, "is +Inf at sample fit3, "},
		{func(s *encoder.Subject) {
			x := s.Sides[split.Confirm]
			x.Back = make([]*mat.Dense, len(x.At))
			x.Back[2] = mat.DenseCopyOf(x.At[0])
			x.Back[2].Set(5, 0, math.NaN())
		}, "is NaN at sample confirm5, 90° and back"},
	} {
		s := subject(t, "SO(2)", 8, turns)
		if m, err := encoder.Take(s); err != nil || m.State != encoder.Move {
			t.Fatalf("%v: %+v", err, m)
		}
		c.change(s)
		m, err := encoder.Take(s)
		if err != nil || m.State != encoder.NotFinite || !strings.Contains(m.Sentence, c.says) {
			t.Errorf("%v: %+v", err, m)
		}
	}
}

// A generator that explains nothing has planes that turn, and they say nothing: of features that are drawn anew at each
// element no frequency is told, of those that turn two.
func TestNoGeneratorNoFrequencies(t *testing.T) {
	for _, c := range []struct {
		of   kind
		told bool
	}{{loses, false}, {turns, true}} {
		s := subject(t, "SO(2)", 12, c.of)
		s.NoSplit = true
		m, err := encoder.Take(s)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(written(t, m)), " ")
		if m.Generators == nil || (m.Generators.R2Unseen.Value > 0) != c.told ||
			strings.Contains(text, "Frequencies (side fit): ") != c.told ||
			strings.Contains(text, "no more than the mean of the features does") == c.told {
			t.Errorf("%+v: %s", m.Generators, text)
		}
	}
	r := rand.New(rand.NewPCG(5, 5))
	m, err := encoder.Take(moving(t, "SO(3)", 10, func(o, _, _ []float64) []float64 {
		return []float64{o[0] + 3*elementary.Normal(r), o[1] + 3*elementary.Normal(r), o[2] + 3*elementary.Normal(r)}
	}))
	if err != nil {
		t.Fatal(err)
	}
	s := strings.Join(strings.Fields(written(t, m)), " ")
	if m.Algebra == nil || m.Algebra.R2Unseen.Value > 0 || strings.Contains(s, "Their brackets") ||
		strings.Contains(s, "largest growth") || !strings.Contains(s, "what the brackets are says nothing") {
		t.Errorf("%+v: %s", m.Algebra, s)
	}
}

// At eight angles of a turn a plane that turns six times as fast is one that turns twice as fast the other way round:
// smaller steps tell them apart. With 24 angles none are needed. A constant in the features hides none of them.
func TestFastPlanes(t *testing.T) {
	for _, c := range []struct {
		of       kind
		n, rungs int
		want     []float64
		most     float64
	}{
		{quick, 8, 4, []float64{6, 7}, 12},
		{quick, 24, 0, []float64{6, 7}, 12},
		{turns, 8, 4, []float64{0, 0, 1, 2}, 12},
		{turns, 72, 0, []float64{0, 0, 1, 2}, 36},
		{raised, 12, 2, []float64{0, 0, 1, 2}, 12},
	} {
		s := subject(t, "SO(2)", c.n, c.of)
		if len(s.Ladder) != c.rungs {
			t.Errorf("%d elements: %d steps between them, want %d", c.n, len(s.Ladder), c.rungs)
		}
		m, err := encoder.Take(s)
		if err != nil {
			t.Fatal(err)
		}
		g := m.Generators
		if g == nil || len(g.Frequencies) != len(c.want) {
			t.Fatalf("%d elements: %+v", c.n, g)
		}
		for i, f := range g.Frequencies {
			if !(math.Abs(float64(f.Value)-c.want[i]) < 1e-6) {
				t.Errorf("%d elements: frequency %g, want %g", c.n, f.Value, c.want[i])
			}
		}
		if !(math.Abs(float64(g.Most)-c.most) < 1e-9) {
			t.Errorf("%d elements: the most is %g, want %g", c.n, g.Most, c.most)
		}
	}
}

// clumped are objects most of which lie together, beside some that are far out, and features that all go equally far:
// of
// each two of a share p that lie together, both as they are or both moved are nearer, so that the AUC is about
// 1 - 3p²/4.
func clumped(share, far float64) kind {
	return func(x []float64, angle float64, _ *rand.Rand) []float64 {
		size := 100.0
		if rand.New(rand.NewPCG(math.Float64bits(x[0]), 1)).Float64() < share {
			size = 1e-4
		}
		s, c := elementary.Sincos(angle * math.Pi / 180)
		return []float64{size*x[0] + far*(1-c), size*x[1] + far*s, size * x[2], size * x[3], size * x[4]}
	}
}

// A few objects that lie far out make every other distance small on average. Features that stay by that alone do not.
func TestStayOnAverage(t *testing.T) {
	for _, c := range []struct {
		share, far   float64
		state        encoder.State
		says, remedy string
		good         bool
	}{
		{0.6, 1e-2, encoder.Move, "the features move: on average they stay, within ", "", true},
		{0.25, 1e-2, encoder.Undecided, "not decided: on average they stay, within ", "; give more samples.", false},
		{0.93, 1e-2, encoder.Undecided, "not decided: on average they stay, within ", "; give more samples.", false},
		{0.6, 1e-7, encoder.Stay, "the features stay: on average no element takes them further than ", "", true},
		{0, 1e-2, encoder.Stay, "; the furthest is sample confirm", "", true},
	} {
		s := subject(t, "C4", 4, clumped(c.share, c.far))
		m, err := encoder.Take(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range m.Transformations {
			if !(x.Ratio.High < encoder.StaysBelow) || x.AUC == nil {
				t.Fatalf("%+v", x)
			}
		}
		r := &encoder.Report{Models: []*encoder.Model{m}}
		if m.State != c.state || !strings.Contains(m.Sentence, c.says) || r.Good() != c.good ||
			c.remedy == "" && strings.Contains(m.Sentence, "samples") || !strings.HasSuffix(m.Sentence, c.remedy) {
			t.Errorf("%s: %s %+v, want %s with %q", m.State, m.Sentence, *m.Transformations[1].AUC, c.state, c.says)
		}
		const column = "nearer than others"
		if text := written(t, m); strings.Contains(text, column) != (c.state != encoder.Stay) {
			t.Errorf("%s: %s", m.State, text)
		}
	}
	// What asks more is known to who reads the data.
	s := subject(t, "C4", 4, clumped(0.25, 1e-2))
	s.More = "all 40 samples were asked: give more data"
	if m, err := encoder.Take(s); err != nil || !strings.HasSuffix(m.Sentence, "; "+s.More+".") {
		t.Errorf("%v: %s", err, m.Sentence)
	}
	// Where the model draws its features, elements are not told from that, and with none that moves nothing is asked.
	s = subject(t, "C4", 4, clumped(0.6, 1e-2))
	at := mat.DenseCopyOf(s.Sides[split.Confirm].At[0])
	at.Apply(func(i, j int, x float64) float64 { return x + 10*float64((i+j)%2) }, at)
	s.Sides[split.Confirm].Again = at
	for _, says := range []string{"cannot be told from that", "no element moves any of the samples"} {
		m, err := encoder.Take(s)
		if err != nil {
			t.Fatal(err)
		}
		if m.State != encoder.Undecided || !strings.Contains(m.Sentence, says) || written(t, m) == "" ||
			strings.Contains(m.Sentence, "give more samples") {
			t.Errorf("%s: %s", m.State, m.Sentence)
		}
		s.Idle = []bool{true, true, true, true}
	}
}

// written is what people read of a model.
func written(t *testing.T, m *encoder.Model) string {
	t.Helper()
	r := &encoder.Report{Format: encoder.FormatNumber, Samples: encoder.Samples{Fit: 1}, Models: []*encoder.Model{m}}
	r.Conclude()
	var b bytes.Buffer
	if err := encoder.Forms()[0].Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// digits are more than a number has that somebody reads.
var digits = regexp.MustCompile(`\d{8}`)

// However large numbers are, they have the digits that count.
func TestLargeNumbers(t *testing.T) {
	far := func(size float64) kind {
		return func(x []float64, angle float64, r *rand.Rand) []float64 {
			out := turns(x, angle, r)
			out[0] += size * angle * x[5]
			return out
		}
	}
	s := subject(t, "C4", 4, far(1e20))
	for side, x := range s.Sides {
		for k, at := range x.At {
			if k == 0 || side == split.Confirm {
				y := mat.DenseCopyOf(at)
				y.Scale(1e30, y)
				x.Other = append(x.Other, y)
			}
		}
	}
	s.Against = &encoder.Release{Model: "next", Value: "features"}
	m, err := encoder.Take(s)
	if err != nil {
		t.Fatal(err)
	}
	text := written(t, m)
	if found := digits.FindString(text); found != "" || !strings.Contains(m.Sentence, "e+60 by a turn") ||
		!strings.Contains(m.Sentence, "e+24% of the way") && !strings.Contains(m.Sentence, "e+23% of the way") {
		t.Errorf("%q in %s", found, text)
	}
	if m, err = encoder.Take(subject(t, "C4", 4, far(0))); err != nil || !strings.Contains(m.Sentence, ".") {
		t.Errorf("%v: %+v", err, m)
	}
}

// Samples that the elements leave as they are say nothing of an encoder whose features stay; where some elements move
// them, those are judged.
func TestIdleElements(t *testing.T) {
	for _, c := range []struct {
		idle  []bool
		state encoder.State
		says  string
		notes int
	}{
		{[]bool{true, true, true, true}, encoder.Undecided, "no element moves any of the samples", 1},
		{[]bool{true, false, true, false}, encoder.Stay, "the features stay", 1},
		{[]bool{true, false, false, false}, encoder.Stay, "the features stay", 0},
	} {
		s := subject(t, "C4", 4, stays)
		s.NoGenerators = true
		s.Idle = c.idle
		m, err := encoder.Take(s)
		if err != nil {
			t.Fatal(err)
		}
		if m.State != c.state || !strings.Contains(m.Sentence, c.says) || len(m.Notes) != c.notes {
			t.Errorf("%v: %s: %s, %q", c.idle, m.State, m.Sentence, m.Notes)
		}
	}
}

// rings are forty pairs of features that turn by the same angle: more directions than maps look at for so few objects.
func rings(x []float64, angle float64, _ *rand.Rand) []float64 {
	r := rand.New(rand.NewPCG(math.Float64bits(x[0]), 1))
	s, c := elementary.Sincos(angle * math.Pi / 180)
	out := make([]float64, 80)
	for i := 0; i < len(out); i += 2 {
		a, b := elementary.Normal(r), elementary.Normal(r)
		out[i], out[i+1] = c*a-s*b, s*a+c*b
	}
	return out
}

// A share that a map explains is of the directions that maps look at, and is not said of all that there are.
func TestShareOfFewDirections(t *testing.T) {
	m, err := encoder.Take(subject(t, "C4", 4, rings))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("in the %d directions that hold", m.Axes)
	if m.State != encoder.Move && m.State != encoder.Lost || !strings.Contains(m.Sentence, want) {
		t.Errorf("%s, want %q", m.Sentence, want)
	}
}

// One number that moves with the input does not stay, though one direction holds all.
func TestOneNumberMoves(t *testing.T) {
	m, err := encoder.Take(subject(t, "C4", 4, func(x []float64, angle float64, _ *rand.Rand) []float64 {
		return []float64{x[int(angle)/90]}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if m.State != encoder.Collapsed || strings.Contains(m.Sentence, "staying") ||
		!strings.Contains(m.Sentence, "does not stay") {
		t.Error(m.Sentence)
	}
}

// The features of SO(2) that turn once and twice have a generator with these frequencies, maps that compose, and parts.
func TestTurningFeatures(t *testing.T) {
	m, err := encoder.Take(subject(t, "SO(2)", 24, turns))
	if err != nil {
		t.Fatal(err)
	}
	g := m.Generators
	if g == nil {
		t.Fatalf("no generator: %v", m.Notes)
	}
	var got []float64
	for _, f := range g.Frequencies {
		got = append(got, float64(f.Value))
	}
	for k, want := range []float64{0, 0, 1, 2} {
		if len(got) != 4 || !(math.Abs(got[k]-want) < 1e-3) {
			t.Fatalf("frequencies %v, want 0, 0, 1, 2 per %s", got, g.Unit)
		}
	}
	if !(g.R2Unseen.Value > 0.999) || g.Period == nil || !(*g.Period < 0.01) || g.Unit != "rad" {
		t.Errorf("%+v", g)
	}
	if m.Maps.Homomorphism == nil || !(*m.Maps.Homomorphism < 1e-3) || m.Maps.Products != 23*23 {
		t.Errorf("%+v", m.Maps)
	}
	if r := m.Retrieval; r.H1.Value != 1 || r.Candidates != 24 {
		t.Errorf("%+v", r)
	}
	if m.Split.Invariant.Value != 2 || m.Extrapolation != nil {
		t.Errorf("%+v", m.Split)
	}
	m, err = encoder.Take(subject(t, "C4", 4, turns))
	if err != nil {
		t.Fatal(err)
	}
	if m.Generators != nil || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "no generators") {
		t.Errorf("C4 has a generator: %+v, %v", m.Generators, m.Notes)
	}
}

// Features that are drawn anew move as far when nobody moves the input: that is no movement of theirs. Where the draw
// is small beside what an element does, or nothing goes far, it is said and changes nothing.
func TestDrawnFeatures(t *testing.T) {
	drawn := func(by float64, of kind) kind {
		return func(x []float64, a float64, r *rand.Rand) []float64 {
			out := of(x, a, r)
			for i := range out {
				out[i] += by * elementary.Normal(r)
			}
			return out
		}
	}
	for _, c := range []struct {
		name  string
		of    kind
		by    float64
		state encoder.State
		says  string
	}{
		{"steady", stays, 0, encoder.Stay, ""},
		{"steady and moved", turns, 0, encoder.Move, ""},
		{"drawn", stays, 1, encoder.Undecided, "and what elements do cannot be told from that."},
		{"drawn a little", stays, 0.01, encoder.Stay, "it draws its features"},
		{"drawn less than moved", turns, 0.1, encoder.Move, "it draws its features"},
	} {
		s := subject(t, "C4", 4, drawn(c.by, c.of))
		x := s.Sides[split.Confirm]
		again := mat.DenseCopyOf(x.At[0].Slice(0, 16, 0, x.At[0].RawMatrix().Cols))
		r := rand.New(rand.NewPCG(1, 2))
		for i := range again.RawMatrix().Data {
			again.RawMatrix().Data[i] += c.by * math.Sqrt2 * elementary.Normal(r)
		}
		x.Again = again
		m, err := encoder.Take(s)
		if err != nil {
			t.Fatal(err)
		}
		if m.State != c.state || c.says == "" && (m.Again != nil || strings.Contains(m.Sentence, "again")) ||
			!strings.Contains(m.Sentence, c.says) {
			t.Errorf("%s: %s, %s", c.name, m.State, m.Sentence)
		}
	}
}

// A release that turned all features cannot read the index, and can through the turn back; one that is noise cannot.
func TestOtherRelease(t *testing.T) {
	s := subject(t, "C4", 4, stays)
	swap := mat.NewDense(5, 5, []float64{0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0})
	noise := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		of                   func(x *mat.Dense) *mat.Dense
		reading, index, says string
	}{
		{
			func(x *mat.Dense) *mat.Dense { return x }, string(embedding.Unmoved), embedding.Compatible,
			"next is the same space, as it is (R² 1.000); it can read the old index as it is.",
		},
		{func(x *mat.Dense) *mat.Dense {
			y := &mat.Dense{}
			y.Mul(x, swap)
			return y
		}, string(embedding.SameSpace), "", "the same space, turned"},
		{func(x *mat.Dense) *mat.Dense {
			n, _ := x.Dims()
			return mat.NewDense(n, 3, normals(3*n, noise))
		}, string(embedding.Reembed), embedding.Worse, "next is another space: less than 95% " +
			"of the old one is explained by an affine adapter (R² "},
		{
			func(x *mat.Dense) *mat.Dense {
				n, _ := x.Dims()
				return mat.NewDense(n, 3, nil)
			}, string(embedding.Reembed), embedding.Worse,
			"next cannot read the old index: its features are the same for every sample.",
		},
		{
			func(x *mat.Dense) *mat.Dense {
				y := mat.DenseCopyOf(x)
				y.Set(2, 1, math.NaN())
				return y
			}, string(embedding.Reembed), embedding.Worse,
			"next cannot read the old index: feature 1 of features is NaN at sample ",
		},
	} {
		for side, x := range s.Sides {
			x.Other = nil
			for k, at := range x.At {
				if k == 0 || side == split.Confirm {
					x.Other = append(x.Other, c.of(at))
				}
			}
		}
		s.Against = &encoder.Release{Model: "next", Value: "features"}
		m, err := encoder.Take(s)
		if err != nil {
			t.Fatal(err)
		}
		if m.Against.Reading != c.reading || c.index != "" && m.Against.Index != c.index ||
			!strings.Contains(m.Sentence, c.says) {
			t.Errorf("%s: %+v", m.Sentence, m.Against)
		}
		r := &encoder.Report{Models: []*encoder.Model{m}}
		r.Conclude()
		for _, f := range encoder.Forms() {
			if err := f.Write(io.Discard, r); err != nil {
				t.Errorf("%s, %s: %v", m.Sentence, f.Name, err)
			}
		}
		if r.Good() != (c.index == embedding.Compatible) {
			t.Errorf("%s: good is %v", m.Sentence, r.Good())
		}
		if c.index == "" { // as they are, and through three maps, at 1 and 5
			worse, through := m.Against.Backward[0], m.Against.Backward[2]
			if len(m.Against.Backward) != 8 || worse.Adapter != "none" || worse.State != embedding.Worse ||
				through.Adapter != "isometry" || through.State == embedding.Worse {
				t.Errorf("%+v", m.Against.Backward)
			}
		}
	}
}

// Wide features are looked at along few directions, and the release is still told to be the same space.
func TestWideRelease(t *testing.T) {
	s := subject(t, "C4", 4, func(x []float64, _ float64, r *rand.Rand) []float64 {
		out := make([]float64, 600)
		for i := range out {
			out[i] = x[i%5] + 0.001*elementary.Normal(r)
		}
		return out
	})
	for side, x := range s.Sides {
		for k, at := range x.At {
			if k == 0 || side == split.Confirm {
				y := mat.DenseCopyOf(at)
				y.Scale(-1, y)
				x.Other = append(x.Other, y)
			}
		}
	}
	s.Against = &encoder.Release{Model: "next", Value: "features"}
	m, err := encoder.Take(s)
	if err != nil {
		t.Fatal(err)
	}
	a := m.Against
	if a.Reading != string(embedding.SameSpace) || a.Width != 600 || a.Backward[0].Adapter != "none" ||
		a.Backward[0].State != embedding.Worse || a.Backward[2].New != a.Backward[2].Old {
		t.Errorf("%s: %+v", m.Sentence, a)
	}
	if len(m.Notes) != 3 || !strings.Contains(m.Notes[1], "more than 5 directions") {
		t.Errorf("%q", m.Notes)
	}
}

// Samples of one object, and samples with one input, are not on two sides.
func TestDuplicates(t *testing.T) {
	for _, change := range []func(fit, confirm *encoder.Side){
		func(fit, confirm *encoder.Side) { confirm.Objects[3] = fit.Objects[5] },
		func(fit, confirm *encoder.Side) { confirm.Inputs[3] = fit.Inputs[5] },
	} {
		s := subject(t, "C4", 4, stays)
		change(s.Sides[split.Fit], s.Sides[split.Confirm])
		_, err := encoder.Take(s)
		if !errors.Is(err, encoder.ErrBoth) || !strings.Contains(err.Error(), "fit5 (fit) and confirm3 (confirm)") {
			t.Errorf("a sample on two sides: %v", err)
		}
	}
	all := subject(t, "C4", 4, stays)
	for k := range 5 {
		all.Sides[split.Confirm].Inputs[k] = all.Sides[split.Fit].Inputs[k]
	}
	const want = "5 samples show the same as one on another side: fit0 (fit) and confirm0 (confirm), " +
		"fit1 (fit) and confirm1 (confirm), fit2 (fit) and confirm2 (confirm), and 2 more: leave all but one"
	if _, err := encoder.Take(all); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	s := subject(t, "C4", 4, stays)
	s.Elements = s.Elements[1:]
	if _, err := encoder.Take(s); err == nil {
		t.Error("features are compared without the identity")
	}
	s = subject(t, "C4", 4, stays)
	for k := range s.Sides[split.Choose].Objects {
		s.Sides[split.Choose].Objects[k] = fmt.Sprint("choose", k%3)
	}
	if _, err := encoder.Take(s); !errors.Is(err, embedding.ErrFew) || !strings.Contains(err.Error(), "side choose") {
		t.Errorf("three objects: %v", err)
	}
}

func TestForms(t *testing.T) {
	m, err := encoder.Take(subject(t, "SO(2)", 12, blurred))
	if err != nil {
		t.Fatal(err)
	}
	m.Engine = "wasm 1.18.0"
	r := &encoder.Report{
		Format: encoder.FormatNumber, Seed: 3, Confidence: 0.95, Group: "SO(2)", Measure: "12 angles",
		Elements: []string{"0°"}, Samples: encoder.Samples{Fit: 60, Choose: 30, Confirm: 40, Objects: 40},
		Models: []*encoder.Model{m},
	}
	r.Conclude()
	for _, f := range encoder.Forms() {
		var b bytes.Buffer
		if err := f.Write(&b, r); err != nil {
			t.Fatal(err)
		}
		if f.Name == "json" {
			var back encoder.Report
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Models[0].Sentence != m.Sentence {
				t.Errorf("%v: %+v", err, back)
			}
			continue
		}
		golden(t, "embedding"+f.Ending, b.Bytes())
	}
}

// listed are n things with three views: as they are, with an error of a size, and with another.
func listed(n int, size float64, seed uint64) *encoder.Listed {
	r := rand.New(rand.NewPCG(seed, 8))
	l := &encoder.Listed{
		Model: "planted", Digest: "00", Value: "features", Views: []string{"plain", "near", "far"}, Seed: 3,
		Confidence: 0.95, At: mat.NewDense(3*n, 4, nil),
	}
	for i := range n {
		x := normals(4, r)
		for j := range 3 {
			e := normals(4, r)
			row := make([]float64, 4)
			for k := range row {
				row[k] = x[k] + float64(j)*size*e[k]
			}
			l.At.SetRow(3*i+j, row)
			l.Inputs = append(l.Inputs, fmt.Sprintf("%d %s", i, l.Views[j]))
		}
		l.Objects = append(l.Objects, []int{3 * i, 3*i + 1, 3*i + 2})
	}
	return l
}

func TestListed(t *testing.T) {
	for _, c := range []struct {
		of    *encoder.Listed
		state encoder.State
		says  string
		good  bool
	}{
		{listed(40, 1e-3, 1), encoder.Stay, "the features stay: ", true},
		{listed(40, 0.15, 1), encoder.Move, "the features move and keep the thing: near and far are ", true},
		{listed(40, 3, 1), encoder.Lost, "the features lose the thing: near and far are ", false},
		{listed(6, 1, 1), encoder.Undecided, "is not decided", false},
	} {
		m, err := c.of.Take()
		if err != nil {
			t.Fatal(err)
		}
		if m.State != c.state || !strings.Contains(m.Sentence, c.says) {
			t.Errorf("%s: %s, want %s with %q", m.State, m.Sentence, c.state, c.says)
		}
		if r := (&encoder.Report{Models: []*encoder.Model{m}}); r.Good() != c.good {
			t.Errorf("%s: good is %v", m.State, r.Good())
		}
		if len(m.Given.Steps) != 1 || len(m.Given.Views) != 3 || m.Given.Steps[0].Pairs != m.Given.Things*3 {
			t.Errorf("%+v", m.Given)
		}
	}
	// Of a chain the first and the last view follow from the others.
	l := listed(40, 0.15, 1)
	l.Chain = true
	m, err := l.Take()
	if err != nil {
		t.Fatal(err)
	}
	if g := m.Given; len(g.Steps) != 2 || g.Steps[1].Pairs != 40 || g.Steps[1].Steps != 2 || len(g.Views) != 2 ||
		!(g.Steps[1].Ratio.Value > g.Steps[0].Ratio.Value) {
		t.Errorf("%+v", g)
	}
	// Objects that share an input are one thing.
	l = listed(40, 0.15, 1)
	for k := range 20 {
		l.Objects[2*k+1][0] = l.Objects[2*k][0]
	}
	if m, err = l.Take(); err != nil {
		t.Fatal(err)
	}
	if g := m.Given; g.Things != 20+20 || len(g.Steps) != 2 || g.Steps[1].Pairs != 80 {
		// twenty inputs are in no object now, and so things of their own
		t.Errorf("%+v", g)
	}
	// The same input twice is no evidence.
	l = listed(40, 0.15, 1)
	for _, o := range l.Objects {
		o[1] = o[0]
	}
	if m, err = l.Take(); err != nil {
		t.Fatal(err)
	}
	if m.Given.Same != 40 || len(m.Notes) != 1 || !strings.Contains(m.Notes[0],
		"40 pairs of views that are one input") {
		t.Errorf("%+v %q", m.Given, m.Notes)
	}
	// Features that are constant, of rank 1 or not finite, and few things.
	l = listed(40, 0.15, 1)
	l.At.Set(4, 2, math.Inf(1))
	if m, err = l.Take(); err != nil || m.State != encoder.NotFinite || !strings.Contains(m.Sentence, "1 near") {
		t.Errorf("%v: %+v", err, m)
	}
	l.At = mat.NewDense(120, 4, nil)
	if m, err = l.Take(); err != nil || m.State != encoder.Collapsed {
		t.Errorf("%v: %+v", err, m)
	}
	for i := range 120 {
		l.At.Set(i, 0, float64(i))
	}
	if m, err = l.Take(); err != nil || m.State != encoder.Collapsed || m.Given == nil {
		t.Errorf("%v: %+v", err, m)
	}
	if _, err = listed(3, 1, 1).Take(); !errors.Is(err, embedding.ErrFew) {
		t.Errorf("three things: %v", err)
	}
	l = listed(10, 1, 1)
	for i := range l.Objects {
		l.Objects[i] = []int{3 * i, -1, -1}
	}
	if _, err = l.Take(); !errors.Is(err, embedding.ErrFew) || !strings.Contains(err.Error(), "two different inputs") {
		t.Errorf("objects of one view: %v", err)
	}
}

// Of views of one thing it is the same: on average they stay, and most things are nearer to each other.
func TestListedOnAverage(t *testing.T) {
	clumps := func(share int, size float64) *encoder.Listed {
		l := listed(60, 0, 1)
		for i := range 60 {
			far := 1e-4
			if i%10 >= share {
				far = 100
			}
			for j := range 3 {
				row := l.At.RawRowView(3*i + j)
				for k := range row {
					row[k] *= far
				}
				row[0] += size * float64(j)
			}
		}
		return l
	}
	one := func(l *encoder.Listed) *encoder.Listed { // a view of the eighth thing lies a third of the way off
		l.At.Set(22, 1, l.At.At(22, 1)+1)
		return l
	}
	for _, c := range []struct {
		of          *encoder.Listed
		more        string
		state       encoder.State
		says, never string
	}{
		{
			clumps(5, 1e-2), "", encoder.Move, "features move: on average they stay, within ", "more",
		},
		{clumps(9, 1e-2), "", encoder.Undecided, "not decided: on average they stay, within ", "list more things"},
		{clumps(2, 1e-2), "", encoder.Undecided, "%); list more things.", "keep the thing: "},
		{clumps(2, 1e-2), "ask for more", encoder.Undecided, "%); ask for more.", "list"},
		{clumps(5, 1e-7), "", encoder.Stay, "stay: on average no views of one thing are further apart than ", "more"},
		{one(listed(60, 1e-4, 1)), "", encoder.Stay, "; the furthest are 7 plain and 7 near, 0.", "more"},
		{listed(60, 0, 1), "", encoder.Stay, "of the distance to another thing; a given pair", "furthest"},
		{listed(6, 1, 1), "ask for more", encoder.Undecided, "; ask for more.", "list"},
	} {
		c.of.More = c.more
		m, err := c.of.Take()
		if err != nil {
			t.Fatal(err)
		}
		if m.State != c.state || !strings.Contains(m.Sentence, c.says) || strings.Contains(m.Sentence, c.never) {
			t.Errorf("%s: %s, want %s with %q and no %q", m.State, m.Sentence, c.state, c.says, c.never)
		}
	}
	l := listed(3, 1, 1)
	l.More = "ask for more"
	if _, err := l.Take(); !errors.Is(err, embedding.ErrFew) || !strings.HasSuffix(err.Error(), "; ask for more") {
		t.Errorf("three things of more: %v", err)
	}
	l = listed(10, 1, 1)
	for i := range l.Objects {
		l.Objects[i] = []int{3 * i, -1, -1}
	}
	l.More = "ask for more"
	if _, err := l.Take(); !errors.Is(err, embedding.ErrFew) || !strings.Contains(err.Error(),
		": ask for more, or list") {
		t.Errorf("objects of one view: %v", err)
	}
}

func TestListedForms(t *testing.T) {
	l := listed(20, 0.15, 1)
	l.Chain = true
	m, err := l.Take()
	if err != nil {
		t.Fatal(err)
	}
	r := &encoder.Report{
		Format: encoder.FormatNumber, Seed: 3, Confidence: 0.95, Group: "given", Measure: "those next to each other",
		Elements: l.Views, Samples: encoder.Samples{Confirm: 60, Objects: 20}, Models: []*encoder.Model{m},
	}
	r.Conclude()
	var b bytes.Buffer
	if err := encoder.Forms()[0].Write(&b, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "given.txt", b.Bytes())
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s:\n%s", file, got)
	}
}

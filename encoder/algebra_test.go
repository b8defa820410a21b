package encoder_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/data/split"
	"nero/encoder"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"

	"gonum.org/v1/gonum/mat"
)

// moving is a planted encoder under a group that moves points: of makes features of an object and a motion.
func moving(t *testing.T, name string, elements int, of func(object, a, shift []float64) []float64) *encoder.Subject {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	spatial, ok := group.AsSpatial(g)
	if !ok {
		t.Fatalf("%s moves no points", name)
	}
	s := &encoder.Subject{
		Model: "planted", Digest: "00", Value: "features", Group: g, Sides: map[split.Side]*encoder.Side{}, Seed: 3,
		Confidence: 0.95, NoSplit: true,
		Elements: []group.Element{g.Identity()}, Ladder: (&encoder.Subject{Group: g}).Rungs(),
	}
	r := rand.New(rand.NewPCG(9, 9))
	sampler, ok := g.(group.Sampler)
	if !ok {
		t.Fatalf("%s cannot be sampled", name)
	}
	for len(s.Elements) < elements {
		s.Elements = append(s.Elements, sampler.Sample(r))
	}
	for i, side := range split.Sides() {
		r := rand.New(rand.NewPCG(uint64(i), 24))
		many := map[split.Side]int{split.Fit: 50, split.Choose: 20, split.Confirm: 20}[side]
		x := &encoder.Side{}
		var objects [][]float64
		for j := range many {
			id := fmt.Sprintf("%s%d", side, j)
			x.Names, x.Objects, x.Inputs = append(x.Names, id), append(x.Objects, id), append(x.Inputs, id)
			objects = append(objects, normals(9, r))
		}
		at := func(e group.Element) *mat.Dense {
			var out *mat.Dense
			a, shift := spatial.Motion(e)
			for j, o := range objects {
				f := of(o, a, shift)
				if out == nil {
					out = mat.NewDense(many, len(f), nil)
				}
				out.SetRow(j, f)
			}
			return out
		}
		for _, e := range s.Elements {
			x.At = append(x.At, at(e))
		}
		for _, e := range s.Ladder {
			x.Ladder = append(x.Ladder, at(e))
		}
		s.Sides[side] = x
	}
	return s
}

// apply moves a point.
func apply(a, x []float64) []float64 {
	d := len(x)
	out := make([]float64, d)
	for i := range d {
		for j := range d {
			out[i] += a[i*d+j] * x[j]
		}
	}
	return out
}

// A number and a vector turn with the frequencies 0, 0, 1 along each axis of space, and their matrices close as the
// generators of SO(3) do.
func TestTurnsOfSpace(t *testing.T) {
	m, err := encoder.Take(moving(t, "SO(3)", 10, func(o, a, _ []float64) []float64 {
		return append([]float64{o[0]}, apply(a, o[1:4])...)
	}))
	if err != nil {
		t.Fatal(err)
	}
	g := m.Algebra
	if g == nil || m.Generators != nil {
		t.Fatalf("no generators: %v", m.Notes)
	}
	for _, x := range g.Generators {
		n := len(x.Frequencies)
		if x.Unit != "rad" || !(math.Abs(float64(x.Frequencies[n-1].Value)-1) < 1e-6) ||
			!(x.Frequencies[n-2].Value < 1e-6) {
			t.Errorf("%+v", x)
		}
	}
	for _, b := range g.Brackets {
		if !(b.Defect < 1e-6) {
			t.Errorf("%+v", b)
		}
	}
	if len(g.Brackets) != 3 || !(g.R2Unseen.Value > 1-1e-9) || g.Unseen != 3 || g.Axes != 4 {
		t.Errorf("%+v", g)
	}
	var b bytes.Buffer
	r := &encoder.Report{Models: []*encoder.Model{m}, Samples: encoder.Samples{Fit: 50}}
	if err := encoder.Forms()[0].Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); !strings.Contains(s, "Do generators move features along the whole group?") ||
		!strings.Contains(s, "rotation z") {
		t.Error(s)
	}
}

// Points that motions of the plane take along, with a third number that stays: shifts have no basis of eigenvectors.
// Features that a group moves by something that is no representation are not explained, and do not close.
func TestMotionsOfThePlane(t *testing.T) {
	m, err := encoder.Take(moving(t, "SE(2)", 10, func(o, a, shift []float64) []float64 {
		p := apply(a, o[:2])
		return []float64{p[0] + 0.2*shift[0]*o[2], p[1] + 0.2*shift[1]*o[2], o[2]}
	}))
	if err != nil {
		t.Fatal(err)
	}
	g := m.Algebra
	if g == nil || len(g.Generators) != 3 || !(g.R2Unseen.Value > 1-1e-6) {
		t.Fatalf("%v %+v", m.Notes, g)
	}
	for _, b := range g.Brackets {
		if !(b.Defect < 1e-4) {
			t.Errorf("%+v", b)
		}
	}
	if m, err = encoder.Take(moving(t, "SE(2)", 10, func(o, a, shift []float64) []float64 {
		p := apply(a, o[:2]) // shifts that come back, and along one axis alone
		return []float64{p[0] + math.Sin(shift[0])*o[2], p[1] * math.Cos(shift[1]), o[2]}
	})); err != nil {
		t.Fatal(err)
	}
	if g = m.Algebra; g == nil || !(g.R2Unseen.Value < 0.9) {
		t.Errorf("%v %+v", m.Notes, g)
	}
}

func TestLadder(t *testing.T) {
	for name, want := range map[string]int{"SO(3)": 18, "SE(2)": 18, "SE(3)": 36, "SO(2)": 0, "C4": 0, "S(4)": 0} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		all := (&encoder.Subject{Group: g}).Rungs()
		if len(all) != want {
			t.Errorf("%s: %d steps, want %d", name, len(all), want)
		}
	}
}

// Features that a group leaves where they are, up to rounding, have matrices of rounding: their brackets are not told.
func TestStillFeaturesHaveNoBrackets(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	m, err := encoder.Take(moving(t, "SO(3)", 10, func(o, _, _ []float64) []float64 {
		out := slices.Clone(o[:4])
		for i := range out {
			out[i] += 1e-7 * r.NormFloat64()
		}
		return out
	}))
	if err != nil {
		t.Fatal(err)
	}
	if m.State != encoder.Stay || m.Algebra == nil || len(m.Algebra.Brackets) != 0 {
		t.Fatalf("%s %+v", m.State, m.Algebra)
	}
	var b bytes.Buffer
	if err := encoder.Forms()[0].Write(&b, &encoder.Report{Models: []*encoder.Model{m}}); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	if strings.Contains(s, "Their brackets") || !strings.Contains(s, "No generator moves the features") {
		t.Error(s)
	}
}

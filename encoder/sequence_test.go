package encoder_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/data/split"
	"nero/encoder"
	"nero/measure/embedding"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Routes end at one view, whatever their length; another order has the same views, another route the same ends; and
// their actions lead along them.
func TestRoutes(t *testing.T) {
	g, elements := finite(t, "C8")
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfNDistinct(rapid.IntRange(1, 12), 1, 5, rapid.ID[int]).Draw(t, "lengths")
		slices.Sort(lengths)
		n := rapid.IntRange(3, len(elements)).Draw(t, "elements")
		seed, name := rapid.Uint64().Draw(t, "seed"), rapid.String().Draw(t, "sample")
		all := encoder.DrawRoutes(seed, name, n, lengths)
		if again := encoder.DrawRoutes(seed, name, n, lengths); fmt.Sprint(all) != fmt.Sprint(again) {
			t.Fatal("another draw")
		}
		longest := all[len(all)-1].Base
		for i, k := range lengths {
			r := all[i]
			if !slices.Equal(r.Base, longest[len(longest)-k:]) {
				t.Fatalf("%v is not the end of %v", r.Base, longest)
			}
			if k >= 2 {
				a, b := slices.Sorted(slices.Values(r.Base)), slices.Sorted(slices.Values(r.Shuffled))
				if !slices.Equal(a, b) || slices.Equal(r.Base, r.Shuffled) {
					t.Fatalf("%v shuffled is %v", r.Base, r.Shuffled)
				}
			}
			if k >= 3 && (len(r.Other) != k || r.Other[0] != r.Base[0] || r.Other[k-1] != r.Base[k-1] ||
				slices.Equal(r.Other, r.Base)) {
				t.Fatalf("another route than %v is %v", r.Base, r.Other)
			}
			if k < 3 && r.Other != nil || k < 2 && r.Shuffled != nil {
				t.Fatalf("routes of %d views: %+v", k, r)
			}
			at := elements[r.Base[0]]
			for j, h := range r.Base.Actions(g, elements) {
				if g.Dist(at, elements[r.Base[j]]) > group.Tolerance {
					t.Fatalf("the actions of %v lead elsewhere", r.Base)
				}
				at = g.Mul(h, at)
			}
			if g.Dist(at, elements[r.Base[k-1]]) > group.Tolerance {
				t.Fatal("the last action moves something")
			}
		}
	})
}

// finite is a group with its elements.
func finite(t *testing.T, name string) (group.Group, []group.Element) {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := g.(group.Finite)
	if !ok {
		t.Fatalf("%s is not finite", name)
	}
	return g, f.Elements()
}

// sequenced is a planted encoder of sequences: of sees the views, each the features of turns, and answers a vector.
func sequenced(t *testing.T, lengths []int, of func(views [][]float64) []float64) *encoder.Sequenced {
	t.Helper()
	g, elements := finite(t, "C4")
	s := &encoder.Sequenced{
		Model: "planted", Digest: "00", Value: "vector", Views: "views", Actions: "actions", Group: g,
		Elements: elements, Lengths: lengths, Sides: map[split.Side]*encoder.SequencedSide{},
		Seed: 3, Confidence: 0.95,
	}
	for i, side := range split.Sides() {
		r := rand.New(rand.NewPCG(uint64(i), 14))
		x := &encoder.SequencedSide{By: make([]encoder.SequencedLength, len(lengths))}
		s.Sides[side] = x
		many := map[split.Side]int{split.Fit: 60, split.Choose: 30, split.Confirm: 40}[side]
		add := func(to **mat.Dense, i int, row []float64) {
			if *to == nil {
				*to = mat.NewDense(many, len(row), nil)
			}
			(*to).SetRow(i, row)
		}
		x.Single = make([]*mat.Dense, len(s.Elements))
		for j := range many {
			name := fmt.Sprintf("%s%d", side, j)
			x.Names, x.Objects = append(x.Names, name), append(x.Objects, name)
			object := normals(6, r)
			see := func(route encoder.Route) []float64 {
				var views [][]float64
				for _, k := range route {
					views = append(views, turns(object, s.Elements[k][0], nil))
				}
				return of(views)
			}
			for k := range s.Elements {
				add(&x.Single[k], j, see(encoder.Route{k}))
			}
			for k, routes := range encoder.DrawRoutes(s.Seed, name, len(s.Elements), lengths) {
				l := &x.By[k]
				add(&l.Base, j, see(routes.Base))
				l.Last = append(l.Last, routes.Base[len(routes.Base)-1])
				if routes.Shuffled != nil {
					add(&l.Shuffled, j, see(routes.Shuffled))
				}
				if routes.Other != nil {
					add(&l.Other, j, see(routes.Other))
				}
			}
		}
	}
	return s
}

// still is what turns leaves of each view, averaged: neither order nor route nor pose is left of it.
func still(views [][]float64) []float64 {
	out := make([]float64, 4)
	for _, v := range views {
		n := float64(len(views))
		out[0] += v[0] / n
		out[1] += v[5] / n
		out[2] += math.Hypot(v[1], v[2]) / n
		out[3] += math.Hypot(v[3], v[4]) / n
	}
	return out
}

// latest is the last view.
func latest(views [][]float64) []float64 { return views[len(views)-1] }

// forgets halves what it knew with every view.
func forgets(views [][]float64) []float64 {
	out := make([]float64, len(views[0]))
	for _, v := range views {
		for j := range out {
			out[j] = (out[j] + v[j]) / 2
		}
	}
	return out
}

func TestSequences(t *testing.T) {
	take := func(s *encoder.Sequenced) *encoder.Model {
		m, err := s.Take()
		if err != nil {
			t.Fatal(err)
		}
		t.Log(m.Sentence)
		return m
	}
	lengths := []int{1, 3, 6}
	m := take(sequenced(t, lengths, still))
	if m.State != encoder.Stay || !(m.Sequences.Lengths[2].Order.Ratio.High < 1e-12) ||
		!strings.Contains(m.Sentence, "the vector of a sequence stays") {
		t.Errorf("%+v", m.Sequences)
	}
	m = take(sequenced(t, lengths, latest))
	for _, l := range m.Sequences.Lengths[1:] {
		if l.Route.Ratio.High != 0 || !(l.Order.Ratio.Low > 0.2) || l.Retrieval.H1.Value != 1 {
			t.Errorf("the last view: %+v", l)
		}
	}
	if x := m.Sequences.Lengths[0]; x.Order != nil || x.Route != nil || x.Longest.Ratio.Value != 0 {
		t.Errorf("one view: %+v", x)
	}
	if m.Sequences.Lengths[2].Longest != nil || len(m.Sequences.Next) != 3 {
		t.Errorf("%+v", m.Sequences)
	}
	m = take(sequenced(t, lengths, forgets))
	if m.State != encoder.Move || !(m.Sequences.Lengths[1].Route.Ratio.Low > 0.05) ||
		!(m.Sequences.Lengths[1].Longest.Ratio.Value > m.Sequences.Lengths[1].Longest.Ratio.Low) {
		t.Errorf("%+v", m.Sequences)
	}
	// Of views without their pose nobody finds the next one better than by chance.
	m = take(sequenced(t, lengths, func(views [][]float64) []float64 {
		v := latest(views)
		out := slices.Clone(v)
		if len(views) > 1 { // the pose goes, and is there in single views
			out = []float64{v[0], math.Hypot(v[1], v[2]), 0, math.Hypot(v[3], v[4]), 0, v[5]}
		}
		return out
	}))
	if r := m.Sequences.Lengths[2].Retrieval; !(float64(r.MRR.Low) < float64(r.Chance)) || !(r.MRR.High < 0.75) {
		t.Errorf("%+v", r)
	}
}

// A few samples that lie far out make every other distance small on average. Vectors that stay by that alone do not.
func TestSequencesStayOnAverage(t *testing.T) {
	clumps := func(share, far float64) func(views [][]float64) []float64 {
		return func(views [][]float64) []float64 {
			out, last, size := still(views), latest(views), 100.0
			if rand.New(rand.NewPCG(math.Float64bits(last[0]), 1)).Float64() < share {
				size = 1e-4
			}
			for k := range out {
				out[k] *= size
			}
			n := math.Hypot(last[1], last[2])
			out[0] += far * last[1] / n
			out[1] += far * last[2] / n
			return out
		}
	}
	const more = "name a larger --samples"
	for _, c := range []struct {
		share, far float64
		state      encoder.State
		says       string
	}{
		{0.7, 1e-2, encoder.Move, "moves: on average it stays, within "},
		{0.35, 1e-2, encoder.Undecided, "not decided: on average it stays, within "},
		{0.7, 1e-7, encoder.Stay, "stays: another order of "},
		{0, 1e-2, encoder.Stay, "stays: another order of "},
	} {
		s := sequenced(t, []int{1, 3, 6}, clumps(c.share, c.far))
		s.More = more
		m, err := s.Take()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range m.Sequences.Lengths[1:] {
			if !(l.Order.Ratio.High < encoder.StaysBelow) || !(l.Route.AUC.Value > 0.99) {
				t.Fatalf("%+v, %+v", l.Order, l.Route)
			}
		}
		if m.State != c.state || !strings.Contains(m.Sentence, c.says) ||
			strings.HasSuffix(m.Sentence, "; "+more+".") != (c.state == encoder.Undecided) {
			t.Errorf("%s: %s, want %s", m.State, m.Sentence, c.state)
		}
		if text := written(t, m); strings.Contains(text, "order nearer") != (c.state != encoder.Stay) {
			t.Errorf("%s: %s", m.State, text)
		}
	}
}

func TestSequencesFail(t *testing.T) {
	s := sequenced(t, []int{3}, latest)
	s.Sides[split.Confirm].By[0].Other.Set(4, 2, math.NaN())
	m, err := s.Take()
	if err != nil || m.State != encoder.NotFinite || !strings.Contains(m.Sentence, "confirm4, 3 views") {
		t.Errorf("%v: %+v", err, m)
	}
	m, err = sequenced(t, []int{1, 3}, func([][]float64) []float64 { return []float64{1, 2} }).Take()
	if err != nil || m.State != encoder.Collapsed {
		t.Errorf("%v: %+v", err, m)
	}
	m, err = sequenced(t, []int{3}, func(v [][]float64) []float64 { return v[0][:1] }).Take()
	if err != nil || m.State != encoder.Collapsed ||
		!strings.Contains(m.Sentence, "of 3 views, the effective rank is below") {
		t.Errorf("%v: %+v", err, m)
	}
	m, err = sequenced(t, []int{1}, latest).Take()
	if err != nil || m.State != encoder.Undecided || !strings.Contains(m.Sentence, "lengths of at least 3") {
		t.Errorf("%v: %+v", err, m)
	}
	s = sequenced(t, []int{3}, latest)
	for _, x := range s.Sides {
		x.Single = nil
	}
	if m, err = s.Take(); err != nil || len(m.Notes) != 1 || m.Sequences.Lengths[0].Retrieval != nil {
		t.Errorf("%v: %+v", err, m)
	}
	s.Elements = s.Elements[:2]
	if _, err = s.Take(); err == nil || !strings.Contains(err.Error(), "two routes") {
		t.Errorf("two elements: %v", err)
	}
	s = sequenced(t, []int{3}, latest)
	for i := range s.Sides[split.Confirm].Objects {
		s.Sides[split.Confirm].Objects[i] = strconv.Itoa(i % 3)
	}
	if _, err = s.Take(); !errors.Is(err, embedding.ErrFew) {
		t.Errorf("three objects: %v", err)
	}
}

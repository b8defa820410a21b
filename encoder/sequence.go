package encoder

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"nero/data/split"
	"nero/measure/embedding"
	"nero/present/sheet"
	"nero/present/words"
	"nero/symmetry/group"

	"gonum.org/v1/gonum/mat"
)

// Route is the elements at which a sample is seen, one after another.
type Route []int

// Routes are what is asked of one sample and so many views: one route, its views in another order, and another route
// from the same first view to the same last one.
type Routes struct{ Base, Shuffled, Other Route }

// leastElements is how few elements leave a choice between routes.
const leastElements = 3

// DrawRoutes draws routes over so many elements, for each length: that of the longest is drawn, and those of fewer
// views are its end, so that all of them arrive at one view. What is drawn depends on the seed and the name of the
// sample alone. Shuffled is nil for fewer than two views, Other for fewer than three.
func DrawRoutes(seed uint64, sample string, elements int, lengths []int) []Routes {
	h := fnv.New64a()
	_, _ = h.Write([]byte(sample)) // a hash takes everything
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	longest := make(Route, slices.Max(lengths))
	for k := range longest {
		longest[k] = r.IntN(elements)
		for k > 0 && longest[k] == longest[k-1] { // each action moves something
			longest[k] = r.IntN(elements)
		}
	}
	var out []Routes
	for _, n := range lengths {
		x := Routes{Base: longest[len(longest)-n:]}
		if n >= 2 {
			x.Shuffled = slices.Clone(x.Base)
			for slices.Equal(x.Shuffled, x.Base) {
				r.Shuffle(n, func(i, j int) { x.Shuffled[i], x.Shuffled[j] = x.Shuffled[j], x.Shuffled[i] })
			}
		}
		if n >= 3 {
			x.Other = slices.Clone(x.Base)
			for slices.Equal(x.Other, x.Base) {
				for k := 1; k < n-1; k++ {
					x.Other[k] = r.IntN(elements)
				}
			}
		}
		out = append(out, x)
	}
	return out
}

// Actions are the elements that move each view of a route to the next, and after the last one the identity.
func (r Route) Actions(g group.Group, elements []group.Element) []group.Element {
	out := make([]group.Element, len(r))
	for k := range r {
		out[k] = g.Identity()
		if k+1 < len(r) {
			out[k] = g.Mul(elements[r[k+1]], g.Inv(elements[r[k]]))
		}
	}
	return out
}

// Sequenced is a model that reads sequences of views, and the vectors that it answers.
type Sequenced struct {
	Model, Digest, Value string
	// Views and Actions are its inputs.
	Views, Actions string
	Group          group.Group
	Elements       []group.Element
	// Lengths are how many views there are, ascending.
	Lengths []int
	Sides   map[split.Side]*SequencedSide
	// More is what asks more where too few samples leave something undecided; "" for what always does.
	More string
	// Seed decides what is drawn; Confidence is that of intervals.
	Seed       uint64
	Confidence float64
}

// SequencedSide is what is answered of the samples of one side.
type SequencedSide struct {
	Names, Objects []string
	// Single are the vectors of one view alone, at each element; nil where the model reads no single view.
	Single []*mat.Dense
	// By are those of each length.
	By []SequencedLength
}

// SequencedLength are vectors of so many views, a row for each sample.
type SequencedLength struct {
	// of the routes, nil for those that there are not
	Base, Shuffled, Other *mat.Dense
	// Last is the element of the last view of each sample.
	Last []int
}

// mostNext is how many actions views are predicted by.
const mostNext = 4

// next are some elements that lead from each element to another one, and where.
func (s *Sequenced) next() (actions []int, to [][]int) {
	for k, h := range s.Elements {
		if s.Group.Dist(s.Group.Identity(), h) < group.Tolerance {
			continue
		}
		var all []int
		for _, g := range s.Elements {
			x := s.Group.Mul(h, g)
			if i := slices.IndexFunc(s.Elements, func(e group.Element) bool {
				return s.Group.Dist(x, e) < group.Tolerance
			}); i >= 0 {
				all = append(all, i)
			}
		}
		if len(all) == len(s.Elements) {
			actions, to = append(actions, k), append(to, all)
		}
	}
	n := len(actions)
	for i := range min(n, mostNext) { // spread over those that there are
		actions[i], to[i] = actions[i*n/min(n, mostNext)], to[i*n/min(n, mostNext)]
	}
	return actions[:min(n, mostNext)], to[:min(n, mostNext)]
}

// Take looks at the vectors. Such as are not finite, or never vary, are a result; the error says what cannot be asked.
func (s *Sequenced) Take() (*Model, error) {
	if len(s.Elements) < leastElements {
		return nil, fmt.Errorf("%s with %s: want at least %d, so that there are two routes between two views",
			s.Group.Name(), words.Plural(len(s.Elements), "element", "elements"), leastElements)
	}
	s, unit := s.inUnit()
	confirm := s.Sides[split.Confirm]
	m := &Model{
		Model: s.Model, Digest: s.Digest, Value: s.Value, Width: wide(confirm.By[0].Base),
		Sequences: &Sequences{Views: s.Views, Actions: s.Actions, remedy: cmp.Or(s.More, moreSamples)},
	}
	actions, to := s.next()
	switch {
	case confirm.Single == nil:
		m.Notes = append(m.Notes, "prediction of the next view: the model is not asked about one view alone; name 1 "+
			"among the lengths")
	case len(actions) == 0:
		m.Notes = append(m.Notes, "prediction of the next view: no element leads from each view to another one that "+
			"is asked; name elements that are equally spaced")
	default:
		for _, k := range actions {
			m.Sequences.Next = append(m.Sequences.Next, group.Title(s.Group, s.Elements[k]))
		}
	}
	for i := range s.Lengths {
		l, err := s.length(m, i)
		if err != nil {
			return nil, err
		}
		if l == nil { // not finite, or the same for all
			m.conclude()
			return m, nil
		}
		l.Apart = Number(float64(l.Apart) * unit)
		if len(m.Sequences.Next) > 0 {
			if l.Retrieval, err = s.predicted(i, to); err != nil {
				return nil, err
			}
		}
		m.Sequences.Lengths = append(m.Sequences.Lengths, *l)
	}
	m.conclude()
	return m, nil
}

// length is what order and route do to so many views; nil where vectors are such that nothing can be said, which the
// model then says.
func (s *Sequenced) length(m *Model, at int) (*Length, error) {
	side := s.Sides[split.Confirm]
	l := &Length{Views: s.Lengths[at]}
	all, longest := side.By[at], side.By[len(s.Lengths)-1]
	o := &embedding.Orbits{Object: numbered(side.Objects), At: []*mat.Dense{all.Base}}
	var to []**Step
	for _, x := range []struct {
		at *mat.Dense
		to **Step
	}{{all.Shuffled, &l.Order}, {all.Other, &l.Route}, {longest.Base, &l.Longest}} {
		if x.at != nil && x.at != all.Base {
			o.At, to = append(o.At, x.at), append(to, x.to)
		}
	}
	opt := embedding.Options{Seed: s.Seed, Confidence: s.Confidence}
	got, err := o.Invariance(opt)
	if nf, ok := errors.AsType[*embedding.NotFiniteError](err); ok {
		m.State = NotFinite
		m.Why = fmt.Sprintf("number %d of %s is %g at sample %s, %s", nf.Component, s.Value, nf.Value,
			side.Names[nf.Sample], words.Plural(l.Views, "view", "views"))
		return nil, nil //nolint:nilnil // the model says why
	}
	if errors.Is(err, embedding.ErrConstant) {
		m.State, m.Why = Collapsed, fmt.Sprintf("vectors of %s are the same for every sample",
			words.Plural(l.Views, "view", "views"))
		return nil, nil //nolint:nilnil // likewise
	}
	if err != nil {
		return nil, err
	}
	l.Rank, l.Apart = estimate(got.Rank), Number(got.Apart)
	if got.Why != "" && m.State == "" {
		m.State, m.Why = Collapsed, fmt.Sprintf("of %s, %s", words.Plural(l.Views, "view", "views"), got.Why)
	}
	for k, t := range to {
		by := got.By[k+1]
		near, err := o.Nearer(k+1, opt)
		if err != nil {
			return nil, err
		}
		*t = &Step{
			Ratio: estimate(by.Ratio), AUC: estimate(near.AUC), Worst: side.Names[by.Worst],
			WorstRatio: Number(by.WorstRatio), seen: near.Seen.Low,
		}
	}
	return l, nil
}

// predicted says how far maps of the vectors of so many views, one for each next action, find the view that it leads to
// among the views of the sample.
func (s *Sequenced) predicted(at int, to [][]int) (*Retrieval, error) {
	fit, choose, confirm := s.Sides[split.Fit], s.Sides[split.Choose], s.Sides[split.Confirm]
	from, err := embedding.Leading(&embedding.Orbits{
		Object: numbered(fit.Objects), At: []*mat.Dense{fit.By[at].Base},
	}, s.Seed)
	if err != nil {
		return nil, err
	}
	single, err := embedding.Leading(&embedding.Orbits{Object: numbered(fit.Objects), At: fit.Single}, s.Seed)
	if err != nil {
		return nil, err
	}
	// what the action makes of the last view of each sample
	after := func(x *SequencedSide, next []int) *mat.Dense {
		out := mat.NewDense(len(x.Names), wide(single.Axes), nil)
		for i, last := range x.By[at].Last {
			one := x.Single[next[last]].Slice(i, i+1, 0, wide(x.Single[0]))
			out.SetRow(i, single.Of(mat.DenseCopyOf(one)).RawRowView(0))
		}
		return out
	}
	var candidates []*mat.Dense
	for _, x := range confirm.Single {
		candidates = append(candidates, single.Of(x))
	}
	var places []embedding.Place
	var object []int
	for _, next := range to {
		pairs := func(x *SequencedSide) embedding.Pairs {
			return embedding.Pairs{
				Before: from.Of(x.By[at].Base), After: after(x, next), Object: numbered(x.Objects),
			}
		}
		m, err := embedding.Learn(pairs(fit), pairs(choose), true, nil)
		if err != nil {
			return nil, err
		}
		got := m.Of(from.Of(confirm.By[at].Base))
		for i, last := range confirm.By[at].Last {
			var views [][]float64
			for _, c := range candidates {
				views = append(views, c.RawRowView(i))
			}
			places = append(places, embedding.Rank(got.RawRowView(i), views, next[last]))
		}
		object = append(object, numbered(confirm.Objects)...)
	}
	r := retrieval(embedding.Retrieve(places, object, embedding.Options{
		Seed: s.Seed, Confidence: s.Confidence,
	}))
	return &r, nil
}

// taken is what order or route does at one length.
type taken struct {
	*Step
	// what was done, in words
	what  string
	views int
}

// steps are what order does at each length, and then what the route does.
func (s *Sequences) steps() []taken {
	var out []taken
	for _, x := range []struct {
		what string
		of   func(*Length) *Step
	}{
		{"another order", func(l *Length) *Step { return l.Order }},
		{"another route", func(l *Length) *Step { return l.Route }},
	} {
		for i := range s.Lengths {
			if step := x.of(&s.Lengths[i]); step != nil {
				out = append(out, taken{step, x.what, s.Lengths[i].Views})
			}
		}
	}
	return out
}

// onAverage tells whether vectors stay where they are on average.
func (x *Step) onAverage() bool { return float64(x.Ratio.High) < StaysBelow }

// state is what is said of one order or route. A few samples that lie far out make all distances but their own small,
// so that vectors which stay are nearer than two samples, too.
func (x *Step) state() State {
	low, high := float64(x.Ratio.Low), float64(x.Ratio.High)
	switch { // NaN is undecided
	case x.onAverage():
		return beside(x.seen, x.AUC)
	case low > LostAbove:
		return Lost
	case low >= StaysBelow && high <= LostAbove:
		return Move
	}
	return Undecided
}

// state is what is said of order and route together, at every length: the worst.
func (s *Sequences) state() State {
	all := s.steps()
	if len(all) == 0 {
		return Undecided
	}
	order := []State{Stay, Move, Undecided, Lost}
	at := 0
	for _, x := range all {
		at = max(at, slices.Index(order, x.state()))
	}
	return order[at]
}

// apart is the order or route that is why vectors which stay on average do not: of those that decide, the one after
// which samples are nearer than two are least often; nil where how far vectors go decides.
func (s *Sequences) apart() *taken {
	state := s.state()
	if state != Move && state != Undecided {
		return nil
	}
	var out *taken
	for _, x := range s.steps() {
		switch {
		case x.state() != state:
		case !x.onAverage():
			return nil
		case out == nil || x.AUC.Value < out.AUC.Value:
			out = &x
		}
	}
	return out
}

// sentence says what was found.
func (s *Sequences) sentence(state State) string {
	if len(s.steps()) == 0 {
		return "nothing can be told of order and route: name lengths of at least 3."
	}
	var steps []string
	var far *taken
	all := s.steps()
	for k, x := range all { // the furthest of each
		if far == nil || x.Ratio.Value > far.Ratio.Value {
			far = &x
		}
		if k+1 == len(all) || all[k+1].what != x.what {
			steps = append(steps, fmt.Sprintf("%s of %d views takes it %s of the way to another sample (%s)", far.what,
				far.views, words.Percent(float64(far.Ratio.Value)), far.Ratio.percent()))
			far = nil
		}
	}
	if x := s.apart(); x != nil {
		steps = []string{fmt.Sprintf("on average it stays, within %s of the distance to another sample, but with %s "+
			"of %d views a sample is nearer to where it was than two samples are to each other in only %s (%s)",
			figure(float64(x.Ratio.High)), x.what, x.views, share(float64(x.AUC.Value)), x.AUC.percent())}
	}
	head := map[State]string{
		Stay: "the vector of a sequence stays: ", Move: "the vector of a sequence moves: ",
		Lost:      "the vector of a sequence loses the sample: ",
		Undecided: "how far the vector of a sequence moves is not decided: ",
	}[state]
	said := []string{strings.Join(steps, ", ")}
	for i := range s.Lengths {
		l := &s.Lengths[i]
		if l.Retrieval == nil || i > 0 && i < len(s.Lengths)-1 {
			continue
		}
		said = append(said, fmt.Sprintf("the next view after %d is found with MRR %s, chance %s", l.Views,
			l.Retrieval.MRR.text(), figure(float64(l.Retrieval.Chance))))
	}
	if x := s.apart(); state == Undecided && !(x != nil && float64(x.AUC.High) < 0.5) { // more would not change that
		said = append(said, s.remedy)
	}
	return head + strings.Join(said, "; ") + "."
}

func (s *Sequences) parts() []sheet.Part {
	p := sheet.Part{
		Title: "What do order and route of views do?",
		Table: [][]string{{
			"views", "order", "interval", "route", "interval", "longest", "interval", "next view", "interval", "chance",
		}},
		Notes: []string{
			"Ratio: how far the vector goes, over how far two samples are apart. Order: the same views, shuffled. " +
				"Route: another way between the same first and the same last view. Longest: more views before these. " +
				"0: it stays; 1: nothing is left of the sample.",
		},
	}
	cells := func(x *Step) (a, b string) {
		if x == nil {
			return "none", ""
		}
		return x.Ratio.text(), x.Ratio.interval()
	}
	for i := range s.Lengths {
		l := &s.Lengths[i]
		row := []string{strconv.Itoa(l.Views)}
		for _, x := range []*Step{l.Order, l.Route, l.Longest} {
			a, b := cells(x)
			row = append(row, a, b)
		}
		if r := l.Retrieval; r != nil {
			row = append(row, r.MRR.text(), r.MRR.interval(), figure(float64(r.Chance)))
		} else {
			row = append(row, "none", "", "")
		}
		p.Table = append(p.Table, row)
	}
	if s.apart() != nil { // they decide
		p.Table[0] = append(p.Table[0], "order nearer", "interval", "route nearer", "interval")
		for i := range s.Lengths {
			for _, x := range []*Step{s.Lengths[i].Order, s.Lengths[i].Route} {
				a, b := "none", ""
				if x != nil {
					a, b = x.AUC.text(), x.AUC.interval()
				}
				p.Table[i+1] = append(p.Table[i+1], a, b)
			}
		}
		p.Notes = append(p.Notes, "Nearer: the probability that a sample is nearer to where it was than two samples "+
			"are to each other; 0.5: as often as not.")
	}
	if len(s.Next) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("Next view: MRR of the view after one more action (%s), by a linear map "+
			"for each of them from the vector, among the single views of the sample.", words.List(s.Next)))
	}
	return []sheet.Part{p}
}

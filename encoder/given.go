package encoder

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"nero/measure/embedding"
	"nero/present/sheet"
	"nero/present/words"

	"gonum.org/v1/gonum/mat"
)

// Listed is a model whose features of given views are looked at: somebody has listed which inputs show one object, and
// there is no group.
type Listed struct {
	Model, Digest, Value string
	// Views are the names of the views.
	Views []string
	// Objects have the input of each view, -1 where one is lacking. Objects that share an input show the same thing.
	Objects [][]int
	// More is what asks more of the things that were listed, "" where all are here.
	More string
	// Chain says that only views next to each other are given, in the order of Views: others follow from these.
	Chain bool
	// Inputs are what inputs are called, At are their features.
	Inputs []string
	At     *mat.Dense
	// Seed decides what is drawn; Confidence is that of intervals.
	Seed       uint64
	Confidence float64
}

// mostNamed is of how many views each two are compared by their names.
const mostNamed = 12

// Things says which of the things each object shows: objects that share an input show one.
func Things(objects [][]int, inputs int) []int {
	thing := embedding.Things(inputs, objectsOf(objects, false))
	out := make([]int, len(objects))
	for k, o := range objects {
		out[k] = -1
		for _, i := range o {
			if i >= 0 {
				out[k] = thing[i]
			}
		}
	}
	return out
}

// objectsOf are the sets of inputs that are given to show one thing.
func objectsOf(objects [][]int, chain bool) [][]int {
	var sets [][]int
	for _, o := range objects {
		var set []int
		for _, i := range o {
			if i >= 0 && !slices.Contains(set, i) {
				set = append(set, i)
			}
		}
		if !chain || len(set) < 2 {
			sets = append(sets, set)
			continue
		}
		for k := range set[1:] {
			sets = append(sets, set[k:k+2])
		}
	}
	return sets
}

// Take looks at the features. Such as are not finite, or never vary, are a result; the error says what cannot be asked.
func (l *Listed) Take() (*Model, error) {
	opt := embedding.Options{Seed: l.Seed, Confidence: l.Confidence}
	m := &Model{Model: l.Model, Digest: l.Digest, Value: l.Value, Width: wide(l.At)}
	thing, pairs := embedding.Chain(len(l.Inputs), objectsOf(l.Objects, l.Chain), l.Seed)
	unit := embedding.Unit(l.At)
	at := embedding.In(unit, l.At)
	o := &embedding.Orbits{Object: thing, At: []*mat.Dense{at}}
	got, err := o.Invariance(opt)
	switch nf, ok := errors.AsType[*embedding.NotFiniteError](err); {
	case ok:
		m.State = NotFinite
		m.Why = fmt.Sprintf("feature %d of %s is %g at %s", nf.Component, l.Value, nf.Value, l.Inputs[nf.Sample])
		m.conclude()
		return m, nil
	case errors.Is(err, embedding.ErrConstant):
		m.State, m.Why = Collapsed, "features are the same for every sample"
		m.conclude()
		return m, nil
	case errors.Is(err, embedding.ErrFew):
		return nil, fmt.Errorf("%w: views of different things are what others are compared with; %s", err,
			cmp.Or(l.More, "list more things, objects that share an input are one"))
	case err != nil:
		return nil, err
	}
	rank, apart := estimate(got.Rank), Number(got.Apart*unit)
	m.Rank, m.Dead, m.Apart, m.Pairs = &rank, got.Dead, &apart, got.Pairs
	if got.Why != "" {
		m.State, m.Why = Collapsed, got.Why
	}
	g, err := embedding.NewGiven(at, thing, opt)
	if err != nil {
		return nil, err
	}
	m.Given = &Given{
		Inputs: len(l.Inputs), Things: 1 + slices.Max(thing), Others: g.Others,
		remedy: cmp.Or(l.More, "list more things"),
	}
	by := make([][]embedding.Pair, embedding.MostSteps+1)
	for _, p := range pairs {
		by[p.Steps] = append(by[p.Steps], p)
	}
	for steps, some := range by {
		if len(some) == 0 {
			continue
		}
		n := l.near(g.Compare(some), steps, nil)
		if n.Things < embedding.LeastObjects {
			m.Notes = append(m.Notes, fmt.Sprintf("pairs over %s: %s of them, want at least %d",
				words.Plural(steps, "given pair", "given pairs"), words.Plural(n.Things, "thing has", "things have"),
				embedding.LeastObjects))
			continue
		}
		m.Given.Steps = append(m.Given.Steps, n)
	}
	if len(m.Given.Steps) == 0 {
		remedy := "list at least two different inputs of each"
		if l.More != "" {
			remedy = l.More + ", or " + remedy
		}
		return nil, fmt.Errorf("%w: few of them have two views: %s", embedding.ErrFew, remedy)
	}
	l.named(m, g)
	m.conclude()
	return m, nil
}

// named compares listed pairs by the names of their views.
func (l *Listed) named(m *Model, g *embedding.Given) {
	for b := range l.Views {
		for a := range b {
			var pairs []embedding.Pair
			for _, o := range l.Objects {
				i, j := o[a], o[b]
				switch {
				case i < 0 || j < 0 || l.Chain && slices.ContainsFunc(o[a+1:b], func(k int) bool { return k >= 0 }):
				case i == j:
					m.Given.Same++
				default:
					pairs = append(pairs, embedding.Pair{A: min(i, j), B: max(i, j), Steps: 1})
				}
			}
			if len(l.Views) > mostNamed {
				continue
			}
			n := l.near(g.Compare(pairs), 1, []string{l.Views[a], l.Views[b]})
			if n.Things >= embedding.LeastObjects {
				m.Given.Views = append(m.Given.Views, n)
			}
		}
	}
	if m.Given.Same > 0 {
		m.Notes = append(m.Notes, words.Plural(m.Given.Same, "pair of views that is", "pairs of views that are")+
			" one input, of which every model answers the same")
	}
}

func (l *Listed) near(n embedding.Nearness, steps int, names []string) Near {
	out := Near{
		Steps: steps, Views: names, Pairs: n.Pairs, Things: n.Things, Ratio: estimate(n.Ratio), AUC: estimate(n.AUC),
		WorstRatio: Number(n.WorstRatio), seen: n.Seen.Low,
	}
	if n.Pairs > 0 {
		out.Worst = []string{l.Inputs[n.Worst.A], l.Inputs[n.Worst.B]}
	}
	return out
}

// state is what is said of pairs.
func (n *Near) state() State {
	low, high := float64(n.Ratio.Low), float64(n.Ratio.High)
	switch { // NaN is undecided
	case n.onAverage():
		return beside(n.seen, n.AUC)
	case low > LostAbove:
		return Lost
	case low >= StaysBelow && high <= LostAbove && float64(n.AUC.Low) > 0.5:
		return Move
	}
	return Undecided
}

// onAverage tells whether pairs lie where the thing does on average.
func (n *Near) onAverage() bool { return float64(n.Ratio.High) < StaysBelow }

// all are pairs by their steps, and by the names of their views.
func (g *Given) all() iter.Seq[*Near] {
	return func(yield func(*Near) bool) {
		for _, some := range [][]Near{g.Steps, g.Views} {
			for i := range some {
				if !yield(&some[i]) {
					return
				}
			}
		}
	}
}

// furthest are the pairs that decide: of those in the worst state those that are furthest apart, or, where all stay on
// average, those that are nearer than two things least often.
func (g *Given) furthest() *Near {
	order := []State{Stay, Move, Undecided, Lost}
	var out *Near
	for n := range g.all() {
		if out == nil {
			out = n
			continue
		}
		a, b := slices.Index(order, n.state()), slices.Index(order, out.state())
		further := n.Ratio.Value > out.Ratio.Value
		if n.onAverage() && out.onAverage() && n.state() != Stay {
			further = n.AUC.Value < out.AUC.Value
		}
		if a > b || a == b && further {
			out = n
		}
	}
	return out
}

// state is that of the pairs that are furthest apart.
func (g *Given) state() State { return g.furthest().state() }

// what are the pairs in words.
func (n *Near) what() string {
	switch {
	case n.Views != nil:
		return n.Views[0] + " and " + n.Views[1]
	case n.Steps == 1:
		return "given pairs"
	}
	return fmt.Sprintf("pairs over %d given ones", n.Steps)
}

// sentence says what was found.
func (g *Given) sentence(s State) string {
	n, all := g.furthest(), g.Steps[0]
	where := fmt.Sprintf("%s are %s of the way to another thing apart (%s)", n.what(),
		share(float64(n.Ratio.Value)), n.Ratio.percent())
	nearer := fmt.Sprintf("a given pair is nearer than two things with probability %s (%s)", all.AUC.text(),
		all.AUC.interval())
	if n.onAverage() && (s == Move || s == Undecided) {
		return g.disagrees(n, s)
	}
	switch s { //nolint:exhaustive // others are said of features alone
	case Stay:
		return fmt.Sprintf("the features stay: %s; %s.", g.stays(), nearer)
	case Move:
		return fmt.Sprintf("the features move and keep the thing: %s; %s.", where, nearer)
	case Lost:
		return fmt.Sprintf("the features lose the thing: %s; %s.", where, nearer)
	}
	return fmt.Sprintf("whether the features keep the thing is not decided: %s; %s; %s.", where, nearer, g.remedy)
}

// stays says how far views are apart at most, on average and those that are furthest.
func (g *Given) stays() string {
	most, worst := 0.0, &g.Steps[0]
	for n := range g.all() {
		most = max(most, float64(n.Ratio.High))
		if n.WorstRatio > worst.WorstRatio {
			worst = n
		}
	}
	out := fmt.Sprintf("on average no views of one thing are further apart than %s of the distance to another thing",
		figure(most))
	if worst.WorstRatio > 0 {
		out += fmt.Sprintf("; the furthest are %s and %s, %s", worst.Worst[0], worst.Worst[1],
			figure(float64(worst.WorstRatio)))
	}
	return out
}

// disagrees says that views stay on average, and are nearer than two things too seldom for that.
func (g *Given) disagrees(n *Near, s State) string {
	head, tail := "the features move: ", ""
	if s == Undecided {
		head = "whether the features keep the thing is not decided: "
		if !(float64(n.AUC.High) < 0.5) { // more would not change the latter
			tail = "; " + g.remedy
		}
	}
	which := ""
	if n.Views != nil || n.Steps > 1 {
		which = " (" + n.what() + ")"
	}
	return fmt.Sprintf("%son average they stay, within %s of the distance to another thing, but of two views of one "+
		"thing%s and two things the views are nearer in only %s (%s)%s.", head, figure(float64(n.Ratio.High)), which,
		share(float64(n.AUC.Value)), n.AUC.percent(), tail)
}

func (g *Given) parts() []sheet.Part {
	head := []string{"pairs", "ratio", "interval", "nearer than others", "interval", "pairs", "things", "furthest"}
	row := func(n *Near) []string {
		return []string{
			n.what(), n.Ratio.text(), n.Ratio.interval(), n.AUC.text(), n.AUC.interval(), words.Count(n.Pairs),
			words.Count(n.Things), fmt.Sprintf("%s, %s: %s", n.Worst[0], n.Worst[1], figure(float64(n.WorstRatio))),
		}
	}
	steps := sheet.Part{
		Title: "Are views of one thing nearer than those of others?",
		Table: [][]string{head},
		Notes: []string{
			"Ratio: how far two views of one thing are apart, over how far those of two things are. 0: they are one; " +
				"1: nothing is left of the thing. Nearer than others: the probability that a pair is nearer than two " +
				"views of two things; 0.5: as often as not. Each thing weighs the same.",
		},
	}
	for i := range g.Steps {
		steps.Table = append(steps.Table, row(&g.Steps[i]))
	}
	out := []sheet.Part{steps}
	if len(g.Views) > 1 {
		views := sheet.Part{Title: "Which views are far from each other?", Table: [][]string{head}}
		all := slices.Clone(g.Views)
		slices.SortStableFunc(all, func(a, b Near) int { return cmp.Compare(b.Ratio.Value, a.Ratio.Value) })
		for i := range all[:min(len(all), mostRows)] {
			views.Table = append(views.Table, row(&all[i]))
		}
		if n := len(all) - mostRows; n > 0 {
			views.Notes = append(views.Notes, words.Plural(n, "pair", "pairs")+
				" of views that are nearer are left out here; the JSON has all.")
		}
		out = append(out, views)
	}
	return out
}

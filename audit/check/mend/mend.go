// Package mend is the check that leaves nodes of a model out, a few at a time, and asks without which of them the claim
// holds.
package mend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/layers"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/measure/metric"
	"nero/model/interior"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// Check is the check that leaves nodes out. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "mend",
	Title: "Layers without which it holds",
	Doc: `Mend leaves nodes of a model out, a few at a time, and asks without which of them the claim holds. Where elements that do not resample fail,
each node whose result has the form of a value that it reads is replaced by that value: a table is not added, a factor does not multiply, a nonlinearity
hands its input on, a branch does not join. If no single node will do, runs of up to four nodes from a value to one of the same form are left out. A node mends
the model if without it the error over the variation of the outputs falls below the limit of the claim and to 1/30 or less, while the outputs still tell
inputs apart, in every channel or column, and boxes are left to compare; and what comes after a layer that is seen to break only forgives it, as what makes values that still move rightly is not to blame; of several the one counts that takes the fewest nodes with it, of equals the one that changes the answers least, and it is tried again on more inputs and elements. This needs no
knowledge of how values inside the model move, so that it works for every group, kind of output and layer.

It says what the node does: add or multiply by stored numbers that differ from place to place (positions), bend single numbers (a nonlinearity), coarsen a grid,
round, hand numbers to other places just before the output, or anything else. It names one culprit; a model with two breaks, or with
weights that are not symmetric in a layer that changes the form of its input, is mended by none.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs that every attempt is made on.", Default: 4, Min: 2, Max: 1000, Least: 2},
		{
			Name: "elements", Doc: "Elements that every attempt is made on: those with the largest errors and others.",
			Default: 4, Min: 1, Max: 1000, Least: 1,
		},
		{
			Name: "nodes", Doc: "Attempts at most, of single nodes and again of runs of nodes.", Default: 128, Min: 1,
			Max: 10000, Least: 4,
		},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Uses:     []*audit.Check{layers.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		if p.Subject.Interior == nil {
			return 0
		}
		n := min(len(p.Subject.Interior.Layers()), int(p.Param("nodes")))
		return n * min(int(p.Param("samples")), p.Subject.N) * (1 + int(p.Param("elements")))
	},
}

// Result is what mended the model.
type Result struct {
	// Tried counts the attempts.
	Tried int
	// Node is the name of the node without which the claim holds; "" if none was found.
	Node string
	// Nodes are those that were left out, Node among them.
	Nodes []string
	// What is what Node does.
	What Deed
	// Before and After are the error with and without, over the variation of the outputs.
	Before, After float64
}

// shrinks is to which part of itself the error has to fall.
const shrinks = 1.0 / 30

// varies is the least part of the variation between inputs that a model must keep that lacks a node.
const varies = 0.05

func run(ctx context.Context, p *audit.Pass) (any, error) {
	m := p.Subject.Interior
	if m == nil {
		return nil, fmt.Errorf("%w: the model is not at hand as a graph", audit.ErrUntested)
	}
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	if p.Policy.Noisy(c.Floors) {
		return nil, fmt.Errorf("%w: repeats or batches change the answers, which leaving nodes out does not mend",
			audit.ErrNotApplicable)
	}
	t := &trier{
		p: p, m: m, scale: sw.Scale,
		limit: max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0)),
	}
	elements := t.failing(sw)
	if len(elements) == 0 {
		return nil, fmt.Errorf("%w: no element fails that does not resample", audit.ErrNotApplicable)
	}
	few, n := elements[:min(len(elements), int(p.Param("elements")))], int(p.Param("samples"))
	more := elements[:min(len(elements), 2*len(few))]
	if err := t.load(ctx, p.Pick(n), few); err != nil {
		return nil, err
	}
	if !(t.whole.err > t.limit) {
		return nil, fmt.Errorf("%w: on these inputs and elements nothing fails", audit.ErrNotApplicable)
	}
	g, err := survey(ctx, p, m, t.values[0])
	if err != nil {
		return nil, err
	}
	if v, ok := audit.ResultIf[*layers.Result](p, layers.Check); ok {
		g.broken, g.sound = broken(v), sound(v, p.Policy.RoundingFactor)
		if v.First >= 0 {
			g.first = v.Rows[v.First].Name
		}
	}
	r := &Result{Before: t.whole.err, After: math.NaN()}
	for _, list := range [][]*gap{g.single(), g.runs()} {
		some, err := t.try(ctx, g, list, r)
		if err != nil {
			return nil, err
		}
		best, err := t.confirm(ctx, g, some, p.Pick(3*n), more, r)
		if err != nil {
			return nil, err
		}
		if best != nil {
			report(p, g, r, best)
			return r, nil
		}
		if len(some) > 0 {
			if err := t.load(ctx, p.Pick(n), few); err != nil {
				return nil, err
			}
		}
	}
	report(p, g, r, nil)
	return r, nil
}

// ownShare is the share of the error at the output from which one layer has made it.
const ownShare = 0.8

// broken is the name of a layer that is known to break: how its values move follows from the graph or shows in them,
// and it is the first; or nearly all of the error is its own. "" if there is none.
func broken(r *layers.Result) string {
	if r.First >= 0 && r.Rows[r.First].Origin != feature.ByDefault {
		return r.Rows[r.First].Name
	}
	for _, w := range r.Rows {
		if w.Above && math.Abs(w.Share.Value-1) <= 1-ownShare {
			return w.Name
		}
	}
	return ""
}

// sound are the names of layers up to which nothing is broken: how their values move is seen in them, and they do so to
// rounding.
func sound(r *layers.Result, factor float64) map[string]bool {
	out := map[string]bool{}
	for _, w := range r.Rows {
		if w.Origin == feature.ByData && w.Prefix <= factor*w.Floor {
			out[w.Name] = true
		}
	}
	return out
}

// trier measures errors of models that lack nodes.
type trier struct {
	p     *audit.Pass
	m     *interior.Model
	scale float64
	limit float64

	// per sample: unmoved, then moved by each element
	values   []space.Value
	elements []group.Element
	// of the whole model
	whole outcome
}

// outcome is the error of a model, and how much its outputs vary between inputs.
type outcome struct {
	// mean over inputs of the largest error
	err float64
	// mean distance between the answers to two inputs; NaN if no two can be compared
	spread float64
	// of every channel or column, the sum of its square; empty where answers have different forms
	each []float64
	// answers to unmoved inputs
	base []space.Value
	// comparisons of sets of boxes that hold any box; what finds none keeps every symmetry
	told int
}

// failing are elements that do not resample: those of each set with the largest errors first, then others of all sets,
// which must hold as well. None if no set of them fails.
func (t *trier) failing(sw *sweep.Result) []group.Element {
	type point struct {
		g group.Element
		e float64
	}
	var worst, others []point
	for _, exact := range []bool{true, false} {
		s := sw.Set(t.p, exact)
		if s == nil {
			continue
		}
		if exact && t.p.Policy.CutOff(s) {
			continue // what leaves the frame explains it
		}
		for _, x := range s.Profile {
			if x.Resampling > t.limit {
				continue // what is left would be the error of resampling
			}
			if x.Mean > t.limit {
				worst = append(worst, point{x.Element, x.Mean})
			} else {
				others = append(others, point{x.Element, x.Mean})
			}
		}
	}
	if len(worst) == 0 {
		return nil
	}
	slices.SortStableFunc(worst, func(a, b point) int {
		switch {
		case a.e > b.e:
			return -1
		case a.e < b.e:
			return 1
		}
		return 0
	})
	// One that fails most, one that holds, one from the middle: what mends must mend all.
	var out []group.Element
	for len(worst)+len(others) > 0 {
		if len(worst) > 0 {
			out, worst = append(out, worst[0].g), worst[1:]
		}
		if k := len(worst); k > 0 {
			out, worst = append(out, worst[k/2].g), slices.Delete(worst, k/2, k/2+1)
		}
		if len(others) > 0 {
			out, others = append(out, others[0].g), others[1:]
		}
	}
	return out
}

// load moves inputs and measures the whole model on them.
func (t *trier) load(ctx context.Context, pick []int, elements []group.Element) (err error) {
	t.values, t.elements = nil, elements
	plan := t.p.Subject.Plan
	for _, i := range pick {
		s, err := t.p.Sample(i)
		if err != nil {
			return err
		}
		for _, g := range append([]group.Element{plan.Group.Identity()}, elements...) {
			x, err := plan.In.Apply(g, s.Value)
			if err != nil {
				return fmt.Errorf("sample %s: %w", s.ID, err)
			}
			t.values = append(t.values, x)
		}
	}
	t.whole, err = t.measure(ctx, t.m)
	return err
}

// errForm marks answers that cannot be compared.
var errForm = errors.New("the answers have different forms")

// measure is the error of a model on what was loaded.
func (t *trier) measure(ctx context.Context, m *interior.Model) (outcome, error) {
	out, err := t.p.PredictForm(ctx, &audit.Form{Name: "without a node", Predictor: m}, t.values)
	if err != nil {
		return outcome{}, err
	}
	plan, per := t.p.Subject.Plan, 1+len(t.elements)
	var e outcome
	var sum float64
	n, pairs := len(out)/per, 0
	for i := range n {
		base, top := out[i*per], 0.0
		e.base = append(e.base, base)
		for j, g := range t.elements {
			z, err := plan.Out.Apply(plan.Group.Inv(g), out[i*per+1+j])
			if err != nil {
				return outcome{}, fmt.Errorf("%w: %w", errForm, err)
			}
			d, err := t.p.Compare(z, base)
			if err != nil {
				return outcome{}, fmt.Errorf("%w: %w", errForm, err)
			}
			if x := d.Norm / t.scale; !(x <= top) {
				top = x
			}
			if u, v, ok := space.Both[*space.Boxes](z, base); ok {
				if b := metric.Between(u, v); b.Matched+b.Missed+b.Extra > 0 {
					e.told++
				}
			}
		}
		e.err += top / float64(n)
		next := out[(i+1)%n*per]
		d, err := t.p.Compare(next, base)
		if err != nil {
			continue
		}
		sum, pairs = sum+d.Norm/t.scale, pairs+1
		e.add(base, t.p.Numbers(base), t.p.Numbers(next))
	}
	e.spread = sum / float64(pairs)
	return e, nil
}

// add takes in how far the channels or columns of two answers are apart.
func (e *outcome) add(v space.Value, a, b []float64) {
	of, n := channels(v, len(a))
	if e.each == nil {
		e.each = make([]float64, n)
	}
	if len(a) != len(b) || n != len(e.each) {
		e.each = []float64{}
		return
	}
	for k := range a {
		e.each[of(k)] += float64((a[k] - b[k]) * (a[k] - b[k]))
	}
}

// channels says to which of how many channels of a map or a signal, or columns of rows, each of n numbers of an answer
// belongs: a single pixel may well be the same for all inputs.
func channels(v space.Value, n int) (of func(k int) int, count int) {
	dims := v.Dims()
	size := 1
	for _, d := range dims {
		size *= d
	}
	_, sequence := v.(space.Sequence)
	switch rank := len(dims); {
	case size != n || n == 0:
	case space.RowsOf(v) != nil:
		w := dims[rank-1]
		return func(k int) int { return k % w }, w
	case rank >= 3:
		places := dims[rank-2] * dims[rank-1]
		return func(k int) int { return k / places }, n / places
	case sequence && rank == 2:
		return func(k int) int { return k / dims[1] }, dims[0]
	}
	return func(k int) int { return k }, n
}

// silent tells whether a channel that varied in the whole model does so no more: what is constant keeps every
// symmetry.
func (e *outcome) silent(whole *outcome) bool {
	if len(e.each) != len(whole.each) {
		return false
	}
	const least = 1e-3 // of how far answers are apart
	for k, x := range whole.each {
		if e.each[k] < least*least*x {
			return true
		}
	}
	return false
}

// mends tells whether an error is one of a model that holds.
func (t *trier) mends(e float64) bool { return e <= t.limit && e <= shrinks*t.whole.err }

// without is the error of the model that lacks what a gap leaves out, as if its outputs varied as those of the whole
// model do, and how far its answers are from those of the whole model; infinite if they vary too little, or if it does
// not run.
func (t *trier) without(ctx context.Context, g *graph, a *gap) (err, change float64, failed error) {
	none := math.Inf(1)
	edited, failed := g.without(a)
	if failed != nil {
		return none, none, nil //nolint:nilerr // a graph that cannot be is no candidate
	}
	m, failed := t.m.With(edited)
	if failed != nil {
		return none, none, nil //nolint:nilerr // as above
	}
	e, failed := t.measure(ctx, m)
	if closing := m.Close(); failed == nil {
		failed = closing
	}
	if ctx.Err() != nil {
		return 0, 0, ctx.Err()
	}
	if failed != nil {
		return none, none, nil //nolint:nilerr // shapes that do not fit any more, or answers of another form
	}
	factor := t.whole.spread / e.spread
	if math.IsNaN(factor) {
		factor = 1
	}
	if factor > 1/varies || math.IsNaN(e.err) || e.silent(&t.whole) || 2*e.told < t.whole.told {
		return none, none, nil
	}
	for i, y := range e.base {
		d, failed := t.p.Compare(y, t.whole.base[i])
		if failed != nil {
			return e.err * max(factor, 1), none, nil //nolint:nilerr // answers of another form are far away
		}
		change += d.Norm
	}
	return e.err * max(factor, 1), change, nil
}

// try makes attempts, evenly spread over the list if there are too many, and returns the gaps that mend: those that
// take the fewest nodes with them first, of equals those that change the answers least: what comes before a break may
// mend it by leaving it nothing to break, and what comes after it by forgiving it.
func (t *trier) try(ctx context.Context, g *graph, list []*gap, r *Result) ([]*gap, error) {
	if most := int(t.p.Param("nodes")); len(list) > most {
		some := make([]*gap, most)
		for i := range some {
			some[i] = list[(2*i+1)*len(list)/(2*most)]
		}
		list = some
	}
	var out []*gap
	changes := map[*gap]float64{}
	for _, a := range list {
		e, change, err := t.without(ctx, g, a)
		if err != nil {
			return nil, err
		}
		r.Tried++
		if t.mends(e) && !g.forgives(a) {
			out, changes[a] = append(out, a), change
		}
	}
	slices.SortStableFunc(out, func(a, b *gap) int {
		return cmp.Or(cmp.Compare(len(a.left), len(b.left)), cmp.Compare(changes[a], changes[b]))
	})
	return out, nil
}

// mostConfirmed bounds the gaps that are tried again.
const mostConfirmed = 6

// confirm tries gaps again, on more inputs and elements, and returns the first that mends there as well; nil if none
// does. A few inputs may all lie where a nonlinearity hardly bends.
func (t *trier) confirm(ctx context.Context, g *graph, list []*gap, pick []int, elements []group.Element,
	r *Result,
) (*gap, error) {
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // none, and nothing is wrong
	}
	if err := t.load(ctx, pick, elements); err != nil {
		return nil, err
	}
	for _, a := range list[:min(len(list), mostConfirmed)] {
		e, _, err := t.without(ctx, g, a)
		if err != nil {
			return nil, err
		}
		if t.mends(e) {
			r.Before, r.After = t.whole.err, e
			return a, nil
		}
	}
	return nil, nil //nolint:nilnil // as above
}

// report says what mended the model.
func report(p *audit.Pass, g *graph, r *Result, best *gap) {
	p.Measure(audit.Number("attempts to leave nodes out", float64(r.Tried), ""))
	if best == nil {
		p.Clue(audit.Clue{
			Name: audit.ClueMends, Strength: 0.5,
			Text: fmt.Sprintf("leaving out one node, or a few in a row, mends nothing in %d attempts", r.Tried),
		})
		return
	}
	what, node := g.deed(best)
	r.Node, r.What = node, what
	for _, i := range best.nodes {
		r.Nodes = append(r.Nodes, g.name(i))
	}
	ev := []audit.Evidence{
		audit.Number("error without "+node, r.After, "").Against(p.Policy.Threshold),
		audit.Number("error with it", r.Before, ""),
	}
	rest := ""
	beside := len(r.Nodes) - 1
	if !slices.Contains(r.Nodes, node) { // it is one of a branch
		beside, r.Nodes = len(best.left)-1, nil
		for _, i := range best.left {
			r.Nodes = append(r.Nodes, g.name(i))
		}
	}
	if beside > 0 {
		rest = fmt.Sprintf(", with %d nodes beside it,", beside)
	}
	text := fmt.Sprintf("without %s (%s)%s the error is %s in place of %s: it %s", node, g.op(node), rest,
		audit.Figures(r.After), audit.Figures(r.Before), what.words())
	give := func(name audit.ClueName) {
		p.Clue(audit.Clue{Name: name, Holds: true, Strength: 1, Location: node, Text: text, Evidence: ev})
	}
	give(audit.ClueMends)
	if name := what.clue(); name != "" {
		give(name)
	}
	p.Report(audit.Finding{
		Category: audit.Explanation, Location: node, Worst: audit.Nowhere, Evidence: ev,
		Message: "The claim holds without one node: " + text,
		Remedies: []string{
			"look at " + node + ": the rest of the model keeps the symmetry",
		},
	})
}

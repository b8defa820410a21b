package stress

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// pair is two inputs that the group says are the same.
type pair struct {
	sample, element int
	text            string
	a, b            space.Value
	// an input that was only resampled, to hold a's sample against; nil for exact pairs
	floor space.Value
}

// floorFactor is how many times the resampling floor two resampled paths may be apart: three resamplings are compared,
// and they add up.
const floorFactor = 3

// askLaws carries the laws of the group through the model.
func (t *tester) askLaws(ctx context.Context) error {
	in := t.p.Subject.Plan.In
	e := in.Group().Identity()
	// A window cut from a larger picture cannot be moved twice.
	if audit.Form(t.still[0]) != audit.Form(t.raw[0]) {
		t.skip(Laws, "a moved input has another form than the sample, so it cannot be moved again")
		return nil
	}
	var pairs []pair
	lost := 0
	for i, x := range t.raw {
		if action.Exact(in, e) {
			pairs = append(pairs, pair{sample: i, element: -1, text: "ρ(e) = 1", a: t.still[i], b: x})
		}
		for _, list := range [][]int{t.exact, t.resample} {
			for k, j := range list {
				more, l, err := t.pairsAt(i, j, list[(k+1)%len(list)])
				if err != nil {
					return fmt.Errorf("sample %s at %s: %w", t.ids[i], t.label(j), err)
				}
				pairs, lost = append(pairs, more...), lost+l
			}
		}
	}
	if len(pairs) == 0 {
		t.skip(Laws, "every pair of elements loses content at the border")
		return nil
	}
	values := make([]space.Value, 0, 3*len(pairs))
	for _, q := range pairs {
		values = append(values, q.a, q.b)
		if q.floor != nil {
			values = append(values, q.floor)
		}
	}
	y, err := t.predict(ctx, values)
	if err != nil {
		return err
	}
	var exact, resampled, excess worst
	for _, q := range pairs {
		d := t.apart(y[0], y[1])
		if q.floor == nil {
			exact.add(d, q.sample, q.element, q.text)
			y = y[2:]
			continue
		}
		f := t.apart(y[2], t.base[q.sample])
		if t.laws != "" {
			f = 0 // an action that does not undo itself excuses nothing
		}
		resampled.add(d, q.sample, q.element, q.text)
		excess.add(d-floorFactor*f, q.sample, q.element,
			fmt.Sprintf("%s: %.2g, resampling there and back alone gives %.2g", q.text, d, f))
		y = y[3:]
	}
	t.concludeLaws(exact, resampled, excess, lost)
	return nil
}

// pairsAt are the laws at g = element j and h = element k for one sample, and how many of them lose content at the
// border.
func (t *tester) pairsAt(i, j, k int) (out []pair, lost int, err error) {
	in, G, x := t.p.Subject.Plan.In, t.p.Subject.Plan.Group, t.raw[i]
	g, h := t.p.Elements[j].G, t.p.Elements[k].G
	move := func(v space.Value, gs ...group.Element) space.Value {
		for _, g := range gs {
			if err == nil {
				v, err = in.Apply(g, v)
			}
		}
		return v
	}
	gh := G.Mul(g, h)
	home := move(x, g, G.Inv(g))
	list := []pair{
		{text: "ρ(g⁻¹)ρ(g) = 1 at " + t.label(j), a: home, b: x},
		{text: "ρ(g)ρ(h) = ρ(gh) at " + t.label(j) + " after " + t.label(k), a: move(x, h, g), b: move(x, gh)},
	}
	// A full turn more is the same element, whoever reduces it.
	for a, axis := range G.Chart() {
		if axis.Periodic {
			around := append(group.Element{}, g...)
			around[a] += axis.Max - axis.Min
			list = append(list, pair{
				text: fmt.Sprintf("a full period of %s more at %s", axis.Name, t.label(j)),
				a:    move(x, around), b: move(x, g),
			})
		}
	}
	if err != nil {
		return nil, 0, err
	}
	exact := t.p.Elements[j].Exact && t.p.Elements[k].Exact && action.Exact(in, G.Inv(g)) && action.Exact(in, gh)
	for _, q := range list {
		q.sample, q.element = i, j
		switch {
		case !exact:
			q.floor = home
			if q.b == x {
				continue // that is the floor itself
			}
		case t.laws == "" && !same(q.a, q.b):
			lost++ // the actions are sound, so the border took something
			continue
		}
		out = append(out, q)
	}
	return out, lost, nil
}

func (t *tester) concludeLaws(exact, resampled, excess worst, lost int) {
	p := t.p
	q := Question{Name: Laws, Answer: Holds, Error: math.NaN(), Limit: t.floor}
	limit := max(t.floor, p.Policy.Threshold)
	if exact.n > 0 {
		q.Answer, q.Error, q.Text = held(exact.e, limit), exact.e,
			fmt.Sprintf("%d exact pairs differ by at most %.2g", exact.n, exact.e)
		q.Limit = limit
		p.Measure(audit.Number("laws through the model, exact pairs", exact.e, "").Against(limit))
	}
	if lost > 0 {
		q.Text += fmt.Sprintf("; %d pairs lose content at the border and are left out", lost)
	}
	if resampled.n > 0 {
		q.Text += fmt.Sprintf("; %d resampled pairs differ by at most %.2g", resampled.n, resampled.e)
		p.Measure(audit.Number("laws through the model, resampled pairs", resampled.e, ""))
		if exact.n == 0 {
			q.Error, q.Limit = resampled.e, math.NaN()
		}
	}
	at, what, size := exact, exact.text, exact.e
	_, boxes := t.base[0].(*space.Boxes)
	// A box near the limit of the score comes or goes with the least change, so that boxes have no floor that would
	// bound all pairs.
	if q.Answer == Holds && resampled.n > 0 && !boxes && !(excess.e <= limit) {
		q.Answer, at, what, size = Broken, excess, excess.text, excess.e
		q.Error, q.Limit = excess.e, limit
	}
	if q.Answer == Broken {
		p.Report(audit.Finding{
			Category: audit.Stress, Location: "input action", Worst: t.where(at.sample, at.element),
			Message:  "a law of the group does not survive the model: " + what,
			Evidence: []audit.Evidence{audit.Number("difference", size, "").Against(limit)},
			Remedies: []string{
				"check the action: composition, inverse, and whether coordinates are reduced by their period before " +
					"use",
				"if repeats of one input differ as well, the model is not deterministic",
			},
		})
	}
	t.answer(q)
}

// endsFactor is how many times larger than within an error at the ends of the range is worth saying.
const endsFactor = 10

// askEnds compares the error at the ends of the plan's range with that within. It predicts nothing.
func (t *tester) askEnds(context.Context) error {
	p := t.p
	chart := p.Subject.Plan.Group.Chart()
	end := make([]bool, len(p.Elements))
	bounded := false
	for a := range chart {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, e := range p.Elements {
			lo, hi = min(lo, e.G[a]), max(hi, e.G[a])
		}
		if chart[a].Periodic && hi-lo >= (chart[a].Max-chart[a].Min)/2 {
			continue // the plan goes round
		}
		if !(hi > lo) || (chart[a].Unit == "" && hi-lo <= 1) {
			continue // one value, or a switch
		}
		bounded = true
		for j, e := range p.Elements {
			end[j] = end[j] || e.G[a] == lo || e.G[a] == hi
		}
	}
	if !bounded {
		t.skip(Ends, "the plan has no ends: it goes round, or holds one value of each coordinate")
		return nil
	}
	var outer, inner []float64
	most, at := 0.0, -1
	for k, e := range t.sw.Err {
		j := k % len(p.Elements)
		if math.IsNaN(e) {
			continue
		}
		if e /= t.scale; end[j] {
			outer = append(outer, e)
			if e > most {
				most, at = e, k
			}
		} else {
			inner = append(inner, e)
		}
	}
	o, i := audit.Describe(outer), audit.Describe(inner)
	if o.N == 0 || i.N == 0 {
		t.skip(Ends, "every element lies at an end of the range")
		return nil
	}
	p.Measure(audit.Number("mean error at the ends of the range", o.Mean, ""),
		audit.Number("mean error within the range", i.Mean, ""))
	q := Question{
		Name: Ends, Answer: Holds, Error: o.Mean, Limit: math.NaN(),
		Text: fmt.Sprintf("mean error %.2g at the ends, %.2g within", o.Mean, i.Mean),
	}
	if o.Mean > endsFactor*max(i.Mean, t.floor) && o.Mean > p.Policy.Threshold && at >= 0 {
		q.Answer, q.Limit = Broken, endsFactor*max(i.Mean, t.floor)
		j, s := at%len(p.Elements), at/len(p.Elements)
		p.Report(audit.Finding{
			Category: audit.Stress, Location: "range",
			Worst:   audit.Where{Sample: t.sw.IDs[s], Index: s, Element: p.Elements[j].G, Label: t.label(j)},
			Message: fmt.Sprintf("the error is %.2g at the ends of the range and %.2g within", o.Mean, i.Mean),
			Evidence: []audit.Evidence{audit.Number("mean error at the ends of the range", o.Mean,
				"").Against(q.Limit)},
			Remedies: []string{
				"claim a smaller range, or look at what leaves the picture there",
				"visit more elements near the ends",
			},
		})
	}
	t.answer(q)
	return nil
}

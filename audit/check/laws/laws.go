// Package laws is the check of the laws of the group, carried through the model.
package laws

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/preflight"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the laws check. Its result is a [*stress.Result].
var Check = &audit.Check{
	Name:  "laws",
	Title: "Laws of the group",
	Doc: `Laws asks whether the laws of the group survive the model.

It compares f(ρ(g)ρ(h)x) with f(ρ(gh)x), f(ρ(g⁻¹)ρ(g)x) with f(x), f(ρ(e)x) with f(x), and a full turn more of every periodic coordinate. Exact pairs
must agree to rounding wherever no content is lost at the border; resampled ones are held against the floor of moving there and back.`,
	Family:   stress.Family,
	Params:   []audit.Param{stress.Samples, stress.Elements},
	Requires: stress.Requires(),
	Optional: true,
	Run:      run,
	Work:     stress.Work(func(p *audit.Pass) int { return 6 * int(p.Param("elements")) }),
}

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

// run carries the laws of the group through the model.
func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	in := p.Subject.Plan.In
	e := in.Group().Identity()
	// A window cut from a larger picture cannot be moved twice.
	if t.Still[0].Form() != t.Raw[0].Form() {
		return nil, fmt.Errorf("%w: a moved input has another form than the sample, so it cannot be moved again",
			audit.ErrNotApplicable)
	}
	var pairs []pair
	lost := 0
	for i, x := range t.Raw {
		if action.Exact(in, e) {
			pairs = append(pairs, pair{sample: i, element: -1, text: "ρ(e) = 1", a: t.Still[i], b: x})
		}
		for _, list := range [][]int{t.Exact, t.Resample} {
			for k, j := range list {
				more, l, err := pairsAt(t, i, j, list[(k+1)%len(list)])
				if err != nil {
					return nil, fmt.Errorf("sample %s at %s: %w", t.IDs[i], t.Label(j), err)
				}
				pairs, lost = append(pairs, more...), lost+l
			}
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%w: every pair of elements loses content at the border or at "+
			"the ends of the range", audit.ErrUntested)
	}
	values := make([]space.Value, 0, 3*len(pairs))
	for _, q := range pairs {
		values = append(values, q.a, q.b)
		if q.floor != nil {
			values = append(values, q.floor)
		}
	}
	base, err := t.Base(ctx)
	if err != nil {
		return nil, err
	}
	boxes := stress.Boxes(base[0])
	y, err := t.Predict(ctx, values)
	if err != nil {
		return nil, err
	}
	var exact, resampled, excess stress.Worst
	for _, q := range pairs {
		d := t.Apart(y[0], y[1])
		if q.floor == nil {
			exact.Add(d, q.sample, q.element, q.text)
			y = y[2:]
			continue
		}
		f := t.Apart(y[2], base[q.sample])
		if t.Laws != "" {
			f = 0 // an action that does not undo itself excuses nothing
		}
		resampled.Add(d, q.sample, q.element, q.text)
		excess.Add(d-float64(floorFactor*f), q.sample, q.element,
			fmt.Sprintf("%s: %.2g, resampling there and back alone gives %.2g", q.text, d, f))
		y = y[3:]
	}
	return conclude(t, exact, resampled, excess, lost, boxes), nil
}

// pairsAt are the laws at g = element j and h = element k for one sample, and how many of them lose content at the
// border.
func pairsAt(t *stress.Test, i, j, k int) (out []pair, lost int, err error) {
	p := t.Pass
	in, G, x := p.Subject.Plan.In, p.Subject.Plan.Group, t.Raw[i]
	g, h := p.Elements[j].G, p.Elements[k].G
	move := func(v space.Value, gs ...group.Element) space.Value {
		for _, g := range gs {
			if err == nil {
				v, err = in.Apply(g, v)
			}
		}
		return v
	}
	home := move(x, g, G.Inv(g))
	list := []pair{{text: "ρ(g⁻¹)ρ(g) = 1 at " + t.Label(j), a: home, b: x}}
	// Of a sample with fewer rows than the group permutes a product is one only where a permutation rests.
	rest, gh := preflight.Resting(G, h, x), G.Mul(g, h)
	if rest != nil {
		after := t.Label(k)
		if !slices.Equal(rest, h) {
			gh, after = G.Mul(g, rest), after+" without its permutation"
		}
		product := pair{
			text: "ρ(g)ρ(h) = ρ(gh) at " + t.Label(j) + " after " + after, a: move(x, rest, g), b: move(x, gh),
		}
		if err != nil {
			return nil, 0, err
		}
		if !clipped(in, x, gh) && !clipped(in, x, rest) && !clipped(in, move(x, rest), g) {
			list = append(list, product)
		}
	}
	// A full turn more is the same element, whoever reduces it.
	for a, axis := range G.Chart() {
		if axis.Periodic {
			around := append(group.Element{}, g...)
			around[a] += axis.Max - axis.Min
			list = append(list, pair{
				text: fmt.Sprintf("a full period of %s more at %s", axis.Name, t.Label(j)),
				a:    move(x, around), b: move(x, g),
			})
		}
	}
	if err != nil {
		return nil, 0, err
	}
	exact := p.Elements[j].Exact && p.Elements[k].Exact && action.Exact(in, G.Inv(g)) && action.Exact(in, gh)
	for _, q := range list {
		q.sample, q.element = i, j
		switch {
		case !exact:
			q.floor = home
			if q.b == x {
				continue // that is the floor itself
			}
		case t.Laws == "" && !stress.Same(q.a, q.b):
			lost++ // the actions are sound, so the border took something
			continue
		}
		out = append(out, q)
	}
	return out, lost, nil
}

// clipped tells whether an element cuts numbers of a value at the ends of their range, which no other brings back.
func clipped(in action.Action, v space.Value, g group.Element) bool {
	c, ok := in.(action.Clipper)
	if !ok {
		return false
	}
	n, err := c.Clipped(g, v)
	return err != nil || n > 0
}

// conclude reports what came of the pairs. Boxes says that the answers are boxes.
func conclude(t *stress.Test, exact, resampled, excess stress.Worst, lost int, boxes bool) *stress.Result {
	p := t.Pass
	q := stress.Result{Answer: stress.Holds, Error: math.NaN(), Limit: t.Floor}
	limit := max(t.Floor, p.Policy.Threshold)
	if exact.N > 0 {
		q.Answer, q.Error, q.Text = stress.Held(exact.E, limit), exact.E,
			fmt.Sprintf("%d exact pairs differ by at most %.2g", exact.N, exact.E)
		q.Limit = limit
		p.Measure(audit.Number("laws through the model, exact pairs", exact.E, "").Against(limit))
	}
	if lost > 0 {
		q.Text += fmt.Sprintf("; %d pairs lose content at the border and are left out", lost)
	}
	if resampled.N > 0 {
		q.Text += fmt.Sprintf("; %d resampled pairs differ by at most %.2g", resampled.N, resampled.E)
		p.Measure(audit.Number("laws through the model, resampled pairs", resampled.E, ""))
		if exact.N == 0 {
			q.Error, q.Limit = resampled.E, math.NaN()
		}
	}
	at, what, size := exact, exact.Text, exact.E
	// A box near the limit of the score comes or goes with the least change, so that boxes have no floor that would
	// bound all pairs.
	if q.Answer == stress.Holds && resampled.N > 0 && !boxes && !(excess.E <= limit) {
		q.Answer, at, what, size = stress.Broken, excess, excess.Text, excess.E
		q.Error, q.Limit = excess.E, limit
	}
	if q.Answer == stress.Broken {
		p.Report(audit.Finding{
			Category: audit.Stress, Location: "input action", Worst: t.Where(at.Sample, at.Element),
			Message:  "a law of the group does not survive the model: " + what,
			Evidence: []audit.Evidence{audit.Number("difference", size, "").Against(limit)},
			Remedies: []string{
				"check the action: composition, inverse, and whether coordinates are reduced by their period before " +
					"use",
				"if repeats of one input differ as well, the model is not deterministic",
			},
		})
	}
	q.Show(p)
	return &q
}

package gradient

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/audit/kit/tangent"
	"nero/data/space"
)

// set gathers the exact elements, or the others; nil if there are none, or the derivative is 0 everywhere.
func (s *study) set(ctx context.Context, sw *sweep.Result, exact bool) (*Set, error) {
	p := s.p
	r := &Set{
		Name: sweep.SetName(exact), Exact: exact, At: audit.Nowhere, Limit: p.Policy.Threshold * p.Param("factor"),
		Single: math.NaN(), Double: math.NaN(), Forward: math.NaN(),
	}
	var ways []int
	for k, w := range s.ways {
		if w.g.Exact == exact && s.sizes[kind(w.pull)] > 0 {
			ways = append(ways, k)
		}
	}
	if len(ways) == 0 {
		return nil, nil
	}
	n := len(s.pick)
	worst, mean, floor, ulp, forward := nans(n), nans(n), nans(n), nans(n), nans(n)
	top, resamples := 0.0, false
	var medians []float64
	for i := range n {
		var sum, floors, count float64
		for _, k := range ways {
			w := s.ways[k]
			scale := s.sizes[kind(w.pull)]
			e := s.err[i][k] / scale
			if !(e <= math.MaxFloat64) {
				r.NonFinite++
				if r.At.Index < 0 {
					r.At = s.where(i, k)
				}
				continue
			}
			r.Pairs++
			if e > r.Limit {
				r.Exceed++
			}
			if !(e <= worst[i]) {
				worst[i] = e
			}
			if e > top && r.NonFinite == 0 {
				top, r.At = e, s.where(i, k)
			}
			u := s.ulp[kind(w.pull)][i] / scale
			if !(u <= ulp[i]) {
				ulp[i] = u
			}
			if f := s.floor[i][k]; !math.IsNaN(f) {
				resamples = true
				sum, floors, count = sum+e, floors+f/scale, count+1
			}
			if f := sw.Err[s.pick[i]*len(p.Elements)+w.index] / sw.Scale; !(f <= forward[i]) {
				forward[i] = f
			}
		}
		if count > 0 {
			mean[i], floor[i] = sum/count, floors/count
		}
		if !math.IsNaN(worst[i]) {
			medians = append(medians, worst[i])
		}
	}
	c := p.Policy.Confidence
	r.Worst, r.Mean = audit.MeanInterval(worst, c).NotNegative(), audit.MeanInterval(mean, c).NotNegative()
	r.Ratio = audit.MeanInterval(nil, c)
	if resamples {
		r.Ratio = audit.RatioInterval(mean, floor, c).NotNegative()
	}
	r.Median = audit.Describe(medians).P50
	r.Rounding = audit.MeanInterval(ulp, c).Value
	for k, apart := range s.apart {
		if len(apart) > 0 && s.sizes[k] > 0 {
			r.Rounding = max(r.Rounding, audit.Describe(slices.Clone(apart)).Mean/s.sizes[k])
		}
	}
	r.Forward = audit.MeanInterval(forward, c).Value
	r.Found = r.Worst.Lo > r.Limit && r.Median > r.Limit && r.Worst.Value > p.Policy.RoundingFactor*r.Rounding
	if r.Found && resamples {
		// The floor moves the input there and back, which is no bound of moving it once: where the outputs themselves
		// cannot be told from resampling, derivatives must be twice above. A floor of 0, or one that is not known,
		// excuses no error.
		above := 2.0
		if f := sw.Set(p, false); f != nil && f.Ratio.Lo > 1 {
			above = 1
		}
		r.Found = r.Ratio.Lo > above || math.IsNaN(r.Ratio.Value)
	}
	if r.Found && p.Subject.Reference != nil {
		if err := s.double(ctx, r, ways); err != nil {
			return nil, err
		}
		const shrinks = 1 << 12 // rounding shrinks by about 2²⁹, a violation not at all
		r.Found = !(r.Double <= r.Single/shrinks)
	}
	return r, nil
}

func nans(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

func (s *study) where(i, k int) audit.Where {
	return audit.Where{Sample: s.ids[i], Index: s.pick[i], Element: s.ways[k].g.G, Label: s.ways[k].g.Label}
}

// double repeats the four worst pairs in float64. Operators that the evaluator lacks leave the numbers unknown.
func (s *study) double(ctx context.Context, r *Set, ways []int) error {
	type pair struct {
		i, k int
		e    float64
	}
	var pairs []pair
	for i := range s.err {
		for _, k := range ways {
			if e := s.err[i][k] / s.sizes[kind(s.ways[k].pull)]; e <= math.MaxFloat64 {
				pairs = append(pairs, pair{i, k, e})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		switch {
		case a.e > b.e:
			return -1
		case a.e < b.e:
			return 1
		}
		return 0
	})
	var single, double float64
	pairs = pairs[:min(4, len(pairs))]
	for _, q := range pairs {
		o, err := s.point(ctx, q.i)
		if err != nil {
			return err
		}
		w := s.ways[q.k]
		e, err := s.doubleAt(ctx, q.i, o, w)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return nil // the evaluator is a second opinion; without it the first stands
		}
		single, double = single+q.e, double+e/s.sizes[kind(w.pull)]
	}
	n := float64(len(pairs))
	r.Single, r.Double = single/n, double/n
	return nil
}

// again are derivatives in float64 at an input and at a moved one, where of takes those from an index on: the first
// may be known from another pair.
func (s *study) again(known map[int]space.Value, i int, of func(from int) ([]space.Value, error)) ([]space.Value,
	error,
) {
	if first := known[i]; first != nil {
		rest, err := of(1)
		return append([]space.Value{first}, rest...), err
	}
	all, err := of(0)
	if err == nil {
		known[i] = all[0]
	}
	return all, err
}

// doubleAt is the error of one pair, at the input i, in float64.
func (s *study) doubleAt(ctx context.Context, i int, o *point, w way) (float64, error) {
	m := s.p.Subject.Reference
	if w.pull {
		gx, c, err := pairOf(w, o.raw, o.cot)
		if err != nil {
			return 0, err
		}
		values := []space.Value{o.x, gx}
		cots, err := s.written(ctx, m, values, []*audit.Mover{nil, w.out}, []space.Value{o.cot, c})
		if err != nil {
			return 0, err
		}
		g, err := s.again(s.exact[1], i, func(from int) ([]space.Value, error) {
			return s.gradients(ctx, m, values[from:], cots[from:])
		})
		if err != nil {
			return 0, err
		}
		home, err := tangent.Change(w.inBack, g[1])
		return tangent.Apart(home, g[0]), err
	}
	v, err := tangent.Change(s.base, o.direction)
	if err != nil {
		return 0, err
	}
	gx, gv, err := both(w.in, o.raw, o.direction)
	if err != nil {
		return 0, err
	}
	values := []space.Value{o.x, gx}
	changes := []space.Value{v, gv}
	d, err := s.again(s.exact[0], i, func(from int) ([]space.Value, error) {
		return s.directional(ctx, m, values[from:], changes[from:])
	})
	if err != nil {
		return 0, err
	}
	if d, err = s.written(ctx, m, values, []*audit.Mover{nil, w.out}, d); err != nil {
		return 0, err
	}
	home, err := tangent.Change(w.outBack, d[1])
	return tangent.Apart(home, d[0]), err
}

func pairOf(w way, x, cot space.Value) (gx, c space.Value, err error) {
	if gx, err = w.in.Move(x); err != nil {
		return nil, nil, err
	}
	c, err = tangent.Change(w.out, cot)
	return gx, c, err
}

// report hands in what a set showed.
func (s *study) report(r *Set) {
	p := s.p
	p.Measure(
		audit.Measured("derivatives, largest error on "+r.Name+", mean over inputs", r.Worst, "").Against(r.Limit),
		audit.Number("derivatives, median over inputs on "+r.Name, r.Median, ""),
		audit.Number("derivatives, rounding floor on "+r.Name, r.Rounding, ""),
		audit.Number("derivatives, pairs above the limit on "+r.Name, float64(r.Exceed), fmt.Sprintf("of %d", r.Pairs)))
	if !math.IsNaN(r.Ratio.Value) {
		p.Measure(audit.Measured("derivatives, error over resampling floor on "+r.Name, r.Ratio, ""))
	}
	ev := []audit.Evidence{
		audit.Measured("largest error of derivatives, mean over inputs", r.Worst, "").Against(r.Limit),
		audit.Number("median over inputs", r.Median, "").Against(r.Limit),
		audit.Number("rounding floor", r.Rounding, "").Against(r.Worst.Value),
		audit.Number("error of the outputs at the same pairs", r.Forward, "").Against(p.Policy.Threshold),
	}
	if !math.IsNaN(r.Double) {
		ev = append(ev, audit.Number("worst pairs in float64", r.Double, "").Against(r.Single))
	}
	if r.NonFinite > 0 {
		p.Report(audit.Finding{
			Category: audit.Gradient, Set: r.Name, Location: "gradient", Worst: r.At,
			Message: fmt.Sprintf("%d of %d derivatives are not finite", r.NonFinite, r.NonFinite+r.Pairs),
			Evidence: []audit.Evidence{audit.Number("derivatives that are not finite", float64(r.NonFinite),
				"").Against(0)},
			Remedies: []string{"look for roots, norms and quotients at 0, and add a small number under the root or " +
				"in the denominator"},
		})
	}
	holds := r.Forward <= p.Policy.Threshold
	clue := audit.Clue{
		Name: audit.ClueGradient, Holds: r.Found, Strength: 0.9, Set: r.Name, Evidence: ev,
		Text: fmt.Sprintf("on the %s gradients keep the symmetry to %.2g of their size (limit %.2g)", r.Name,
			r.Worst.Value, r.Limit),
	}
	if r.Found {
		clue.Text = fmt.Sprintf("on the %s gradients change by %.2g times their size (limit %.2g); the outputs by %.2g",
			r.Name, r.Worst.Value, r.Limit, r.Forward)
		f := audit.Finding{
			Category: audit.Gradient, Set: r.Name, Location: "gradient", Worst: r.At, Evidence: ev,
			Message: clue.Text,
			Remedies: []string{
				"repair the forward pass first; derivatives follow it",
				"train with the symmetry in the loss of the derivatives too, if they are used",
			},
		}
		if holds {
			f.Message += ": the outputs hide a break that training and forces see"
			f.Remedies = []string{
				"look for terms of small size and high frequency, for steps and for clamps that hold values but not " +
					"slopes",
				"compare the derivative layer by layer, starting at the last",
			}
		}
		p.Report(f)
	}
	p.Clue(clue)
	if holds {
		p.Clue(audit.Clue{
			Name: audit.ClueForwardHolds, Holds: true, Strength: 0.9, Set: r.Name, Evidence: ev[3:4],
			Text: fmt.Sprintf("outputs keep the symmetry to %.2g of their spread where gradients were taken",
				r.Forward),
		})
	}
}

// show makes the table of elements and the picture of the worst gradient.
func (s *study) show() {
	t := &audit.Table{Columns: []audit.Column{
		{Name: "element"},
		{Name: "set"},
		{Name: "by", Doc: "gradient: of a seeded projection of the output, by the input; direction: of the output " +
			"along the difference of two inputs"},
		{Name: "mean", Doc: "relative error, mean over inputs"},
		{Name: "median"},
		{Name: "p95"},
		{Name: "largest"},
		{Name: "resampling", Doc: "the same for the input moved there and back, mean over inputs"},
	}}
	for k, w := range s.ways {
		scale := s.sizes[kind(w.pull)]
		if !(scale > 0) {
			continue
		}
		col, floor := make([]float64, 0, len(s.err)), make([]float64, 0, len(s.err))
		for i := range s.err {
			col, floor = append(col, s.err[i][k]/scale), append(floor, s.floor[i][k]/scale)
		}
		d := audit.Describe(col)
		by := "direction"
		if w.pull {
			by = "gradient"
		}
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(w.g.Label), audit.Word(sweep.SetName(w.g.Exact)), audit.Word(by),
			audit.Num(d.Mean), audit.Num(d.P50), audit.Num(d.P95), audit.Num(d.Max),
			audit.Num(audit.Describe(floor).Mean),
		})
	}
	s.p.Show(audit.Exhibit{
		Name: "elements", Title: "Derivatives at single elements", Table: t,
		Note: "Errors are relative to the root mean square of the derivative over the inputs. A median far below the " +
			"mean says that few inputs lie on a kink.",
	})
	for _, exact := range []bool{true, false} {
		w, ok := s.worst[exact]
		if !ok {
			continue
		}
		img, ok := w.value.(*space.Image)
		if !ok || !(w.err > s.sizes[1]*s.p.Policy.Threshold*s.p.Param("factor")) {
			continue
		}
		m := &audit.Map{H: img.H, W: img.W, Val: make([]float64, img.H*img.W), Unit: "of the RMS gradient"}
		for c := range img.C {
			for i, v := range img.Plane(c) {
				m.Val[i] += float64(v * v)
			}
		}
		for i, v := range m.Val {
			m.Val[i] = math.Sqrt(v) / s.sizes[1]
		}
		name := "worst-exact"
		if !exact {
			name = "worst-continuous"
		}
		s.p.Show(audit.Exhibit{
			Name: name, Title: "Where the gradient differs: " + w.where.String(), Map: m,
			Note: "Size of the difference of the two gradients by the same input, per pixel, over all channels.",
		})
	}
}

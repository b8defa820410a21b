package shelf

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/present/view"
	"nero/run/fold"
	"nero/serve/api"

	"golang.org/x/sync/errgroup"
)

// confidence of the intervals of a run without a summary, whose study says nothing.
const confidence = 0.95

func (r *Run) confidence() float64 {
	for _, p := range r.parts {
		if s := p.fold(p.at); s != nil {
			return s.Confidence
		}
	}
	return cmp.Or(r.job.Study.Audit.Confidence, confidence)
}

// Aggregate is the curves of a metric over a set of samples. The numbers are those of package fold: counts, extremes,
// quantiles, and everything that is per sample, bit for bit, means and their intervals at the elements but for
// rounding. Samples of the set without values, because they failed or are not computed yet, do not count.
func (r *Run) Aggregate(ctx context.Context, q api.AggregateRequest) (*api.Aggregate, error) {
	if q.Models == nil {
		for m := range r.models {
			q.Models = append(q.Models, m)
		}
	}
	for _, m := range slices.Concat(q.Models, q.Pair) {
		if err := r.check(m, q.Metric); err != nil {
			return nil, err
		}
	}
	if q.Pair != nil && (len(q.Pair) != 2 || q.Pair[0] == q.Pair[1]) {
		return nil, mark(ErrBad, "pair: %v; expected the indexes of two different models", q.Pair)
	}
	o := &api.Aggregate{Confidence: r.confidence(), Curves: []fold.Curve{}}
	ready, ok := r.stored(q)
	if ok {
		o.N, o.Curves, o.Says = ready.N, ready.Curves, ready.Says
		if q.Pair == nil {
			return o, nil
		}
	}
	set, err := r.selected(q.Set, q.Metric)
	if err != nil {
		return nil, err
	}
	rows, samples, err := r.members(set)
	if err != nil {
		return nil, err
	}
	o.N = len(rows)
	if !ok {
		for _, m := range q.Models {
			c, err := r.curve(ctx, m, q.Metric, rows, samples, o.Confidence)
			if err != nil {
				return nil, err
			}
			if r.metrics[q.Metric].Pooled != nil {
				if err := r.pooled(ctx, c, m, q.Metric, rows); err != nil {
					return nil, err
				}
			}
			o.Curves = append(o.Curves, *c)
		}
		if o.Says, err = r.says(ctx, q.Models, o.Confidence, rows, samples); err != nil {
			return nil, err
		}
	}
	if q.Pair != nil && r.metrics[q.Metric].Pooled != nil {
		both, err := r.Aggregate(ctx, api.AggregateRequest{Set: q.Set, Metric: q.Metric, Models: q.Pair})
		if err != nil {
			return nil, err
		}
		o.Pair = apart(&both.Curves[0], &both.Curves[1])
		return o, nil
	}
	if q.Pair != nil {
		if o.Pair, err = r.pair(ctx, q.Pair[0], q.Pair[1], q.Metric, rows, o.Confidence); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// stored is what the summary of the run already says: everything, or one class.
func (r *Run) stored(q api.AggregateRequest) (*api.Aggregate, bool) {
	set := q.Set
	if len(r.parts) != 1 || set.Rule != "" || set.Indexes != nil || set.Bits != "" || set.Slice != "" ||
		set.And != nil || set.Or != nil || set.Not != nil {
		return nil, false
	}
	sum := r.parts[0].fold(r.parts[0].at)
	if sum == nil {
		return nil, false
	}
	k := 0
	if set.Label != nil {
		k = slices.IndexFunc(sum.Slices, func(s fold.Slice) bool { return s.Label == *set.Label })
	}
	if k < 0 || set.Label != nil && *set.Label < 0 {
		return nil, false
	}
	o := &api.Aggregate{N: sum.Slices[k].N, Curves: []fold.Curve{}}
	for _, m := range q.Models {
		c := *sum.Curve(m, q.Metric, k)
		c.Slice = 0
		o.Curves = append(o.Curves, c)
		o.Says = append(o.Says, view.SayerOf(sum, r.label).Says(sum.Models[m], set.Label != nil,
			func(i int) *fold.Curve { return sum.Curve(m, i, k) }))
	}
	return o, true
}

// label is an element of the plan for people.
func (r *Run) label(k int) string { return view.Label(r.group, r.job.Elements[k]) }

// says is what the run says of models on some samples.
func (r *Run) says(ctx context.Context, models []int, confidence float64, rows []int32, samples *table) ([]string,
	error,
) {
	s := &view.Sayer{Metrics: r.metrics, Confidence: confidence, Identity: r.identity, Label: r.label}
	for _, m := range r.metrics {
		s.Units = append(s.Units, fold.MetricOf(m, r.job.Study.Output).Unit)
	}
	all := r.Models()
	var out []string
	for _, model := range models {
		curves := map[int]*fold.Curve{}
		for _, k := range s.Needs() {
			c := newCurve(model, k, r.e)
			if _, err := r.estimates(c, rows, samples, confidence); err != nil {
				return nil, err
			}
			if err := r.means(ctx, c, rows); err != nil {
				return nil, err
			}
			curves[k] = c
		}
		out = append(out, s.Says(all[model], len(rows) < r.n, func(i int) *fold.Curve { return curves[i] }))
	}
	return out, nil
}

// means fills in what a sentence needs of a curve at its elements: the means over samples, and where they are worst.
func (r *Run) means(ctx context.Context, o *fold.Curve, rows []int32) error {
	err := r.windows(ctx, []int{o.Model}, o.Metric, rows, func(w *window) error {
		sums, wide := make([]float64, w.hi-w.lo), w.hi-w.lo
		for _, i := range w.rows {
			for g, v := range w.values[0][int(i)*wide : (int(i)+1)*wide] {
				if finite(v) {
					sums[g] += float64(v)
					o.N[w.lo+g]++
				}
			}
		}
		for g, sum := range sums {
			o.Mean[w.lo+g] = fold.Number(sum / float64(o.N[w.lo+g]))
		}
		return nil
	})
	r.worstElement(o)
	return err
}

// curve is the aggregate curve of some samples.
func (r *Run) curve(ctx context.Context, model, k int, rows []int32, samples *table, confidence float64) (*fold.Curve,
	error,
) {
	o := newCurve(model, k, r.e)
	m, err := r.estimates(o, rows, samples, confidence)
	if err != nil {
		return nil, err
	}
	take := func(g int, c column, in *intervals) {
		e := in.of(&c.Moments, m, m.Binary, confidence)
		o.N[g], o.Bad[g], o.Mean[g], o.SD[g], o.Lo[g], o.Hi[g] = e.N, c.NaN, e.Mean, e.SD, e.Lo, e.Hi
		o.P10[g], o.P90[g], o.Min[g], o.Max[g] = fold.Number(c.p10), fold.Number(c.p90), fold.Number(math.NaN()),
			fold.Number(math.NaN())
		if e.N > 0 {
			o.Min[g], o.Max[g] = fold.Number(c.Min), fold.Number(c.Max)
		}
	}
	err = r.windows(ctx, []int{model}, k, rows, func(w *window) error {
		wide := w.hi - w.lo
		return columns(ctx, wide, len(rows), func(lo, hi int, block []float32) {
			transpose(block, w.values[0], w.rows, wide, lo, hi)
		}, func(g int, c column, in *intervals) { take(w.lo+g, c, in) })
	})
	if err != nil {
		return nil, err
	}
	r.worstElement(o)
	return o, nil
}

// worstElement fills in where the means of a curve are worst.
func (r *Run) worstElement(o *fold.Curve) {
	for g := range r.e {
		if o.N[g] > 0 && (o.WorstElement < 0 ||
			worseMean(r.metrics[o.Metric], o.Mean[g], o.Mean[o.WorstElement])) {
			o.WorstElement = g
		}
	}
}

// estimates fills in what a curve says over the orbit, sample by sample, and returns the metric.
func (r *Run) estimates(o *fold.Curve, rows []int32, samples *table, confidence float64) (*metric.Metric, error) {
	stats, err := r.Stats(o.Model, o.Metric)
	if err != nil {
		return nil, err
	}
	m := r.metrics[o.Metric]
	var orbit, worst, change, moved aggregate.Moments
	share := 1.0
	if r.identity >= 0 {
		share = fold.ShareOf(r.job.Weights, r.e, r.identity)
	}
	single, at := missing, int32(-1)
	for _, i := range rows {
		whole := stats.bad[i] < 0
		if !whole && o.BadAt < 0 {
			o.FirstBad, o.BadAt = samples.IDs[i], int(stats.bad[i])
		}
		orbit.Add(stats.orbit[i], int(i))
		if r.identity >= 0 {
			still := float64(stats.Identity[i])
			change.Add(stats.orbit[i]-still, int(i))
			if share < 1 {
				moved.Add(fold.Moved(stats.orbit[i], still, share), int(i))
			}
		}
		w := math.NaN()
		if k := stats.Worst[i]; k >= 0 {
			v := stats.worst(m, i)
			if at < 0 || worse(m, v, single) {
				single, at = v, k
				o.WorstSample = samples.IDs[i]
			}
			if whole {
				w = float64(v)
			}
		}
		worst.Add(w, int(i))
	}
	o.WorstAt, o.WorstValue = int(at), fold.Number(single)
	free := freed(m)
	o.Moved = fold.EstimateOf(moved, m, false, confidence)
	o.Orbit, o.Worst, o.Change = fold.EstimateOf(orbit, m, false, confidence),
		fold.EstimateOf(worst, m, m.Binary, confidence), fold.EstimateOf(change, free, false, confidence)
	return m, nil
}

func worseMean(m *metric.Metric, a, b fold.Number) bool {
	if m.Better == metric.Higher {
		return a < b
	}
	return a > b
}

// freed is a metric for differences of its values: they have no range that matters.
func freed(m *metric.Metric) *metric.Metric {
	free := *m
	free.Range = [2]float64{math.Inf(-1), math.Inf(1)}
	return &free
}

// differing is a metric for differences of values of two models, which lie between those of the ends of its range:
// where every sample differs by the same, that says how sure a handful of them makes one, see [fold.EstimateOf].
func differing(m *metric.Metric) *metric.Metric {
	d := *m
	d.Range = [2]float64{m.Range[0] - m.Range[1], m.Range[1] - m.Range[0]}
	return &d
}

func newCurve(model, metric, e int) *fold.Curve {
	n := func() []fold.Number { return make([]fold.Number, e) }
	return &fold.Curve{
		Model: model, Metric: metric, N: make([]int, e), Bad: make([]int, e), Mean: n(), SD: n(), Lo: n(), Hi: n(),
		P10: n(), P90: n(), Min: n(), Max: n(),
		WorstElement: -1, WorstAt: -1, WorstValue: fold.Number(math.NaN()), BadAt: -1,
	}
}

// widest is how many elements are worked on at a time. Rows of a large plan are far apart in memory: what is read of
// one should be several cache lines, or reading would take longer than everything else; and the columns should stay in
// the cache of a core.
const widest = 64

// A block has at most mostBlock values, or narrowest elements: with many samples it would else be larger than the
// curves that are kept.
const (
	mostBlock = 1 << 20
	narrowest = 16
)

// columns works on n values at each of e elements, some elements at a time on every core: read fills the block with
// those at the elements lo to hi-1, one after the other, and take gets what they come to. Values that are not finite
// are counted and left out.
func columns[T float32 | float64](ctx context.Context, e, n int, read func(lo, hi int, block []T),
	take func(g int, c column, in *intervals),
) error {
	workers := runtime.GOMAXPROCS(0)
	size := min(max((e+workers-1)/workers, 1), widest, max(narrowest, mostBlock/max(n, 1)))
	next := make(chan int, (e+size-1)/size)
	for lo := 0; lo < e; lo += size {
		next <- lo
	}
	close(next)
	var g errgroup.Group
	for range min(workers, cap(next)) {
		g.Go(func() error {
			counts, block, in := new(counter), make([]T, size*n), newIntervals()
			for lo := range next {
				if err := ctx.Err(); err != nil {
					return err
				}
				hi := min(lo+size, e)
				read(lo, hi, block)
				for k := range hi - lo {
					take(lo+k, summarise(counts, block[k*n:(k+1)*n]), in)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// transpose puts the values of some rows at the elements lo to hi-1 into a block, element by element. Eight rows at a
// time keep the memory busy: each is somewhere else.
func transpose(block, values []float32, rows []int32, e, lo, hi int) {
	n, w := len(rows), hi-lo
	row := func(t int) []float32 {
		from := int(rows[t])*e + lo
		return values[from : from+w : from+w]
	}
	t := 0
	for ; t+8 <= n; t += 8 {
		r0, r1, r2, r3, r4, r5, r6, r7 := row(t), row(t+1), row(t+2), row(t+3), row(t+4), row(t+5), row(t+6), row(t+7)
		r1, r2, r3, r4, r5, r6, r7 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)], r4[:len(r0)], r5[:len(r0)], r6[:len(r0)],
			r7[:len(r0)]
		for g, v := range r0 {
			b := block[g*n+t : g*n+t+8 : g*n+t+8]
			b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7] = v, r1[g], r2[g], r3[g], r4[g], r5[g], r6[g], r7[g]
		}
	}
	for ; t < n; t++ {
		for g, v := range row(t) {
			block[g*n+t] = v
		}
	}
}

// intervals makes intervals of many means. Their quantiles depend on little more than the number of samples, which is
// mostly the same at every element, and take longer than all else: they are kept.
type intervals struct {
	// half the width of Student's interval for a deviation of 1, by the number of samples
	width map[int]float64
	// of proportions, by successes and trials
	share map[[2]int]fold.Estimate
}

func newIntervals() *intervals {
	return &intervals{width: map[int]float64{}, share: map[[2]int]fold.Estimate{}}
}

// of is [fold.EstimateOf] but for rounding.
func (in *intervals) of(m *aggregate.Moments, of *metric.Metric, binary bool, confidence float64) fold.Estimate {
	if binary && m.N > 0 {
		k := [2]int{int(math.Round(m.Mean * float64(m.N))), m.N}
		e, ok := in.share[k]
		if !ok {
			e = fold.EstimateOf(*m, of, true, confidence)
			in.share[k] = e
		}
		e.Mean, e.SD = fold.Number(m.Mean), fold.Number(m.Std())
		return e
	}
	sd := m.Std()
	if m.N < 2 || m.Min == m.Max || math.IsNaN(sd) || math.IsInf(sd, 0) {
		return fold.EstimateOf(*m, of, binary, confidence)
	}
	w, ok := in.width[m.N]
	if !ok {
		w = aggregate.MeanInterval(aggregate.Moments{N: m.N, M2: float64(m.N - 1)}, confidence).High
		in.width[m.N] = w
	}
	return fold.Estimate{
		N: m.N, Mean: fold.Number(m.Mean), SD: fold.Number(sd),
		Lo: fold.Number(max(m.Mean-float64(w*sd), of.Range[0])),
		Hi: fold.Number(min(m.Mean+float64(w*sd), of.Range[1])),
	}
}

// pair is the difference of model b less model a, sample by sample.
func (r *Run) pair(ctx context.Context, a, b, k int, rows []int32, confidence float64) (*api.Pair, error) {
	s, err := r.Stats(a, k)
	if err != nil {
		return nil, err
	}
	t, err := r.Stats(b, k)
	if err != nil {
		return nil, err
	}
	m := r.metrics[k]
	free := differing(m)
	n := func() []fold.Number { return make([]fold.Number, r.e) }
	o := &api.Pair{A: a, B: b, N: make([]int, r.e), Mean: n(), Lo: n(), Hi: n(), P10: n(), P90: n()}
	var orbit aggregate.Moments
	for _, i := range rows {
		orbit.Add(t.orbit[i]-s.orbit[i], int(i))
	}
	o.Orbit = fold.EstimateOf(orbit, free, false, confidence)
	o.Verdict = verdict(m, o.Orbit)
	take := func(g int, c column, in *intervals) {
		e := in.of(&c.Moments, free, false, confidence)
		o.N[g], o.Mean[g], o.Lo[g], o.Hi[g] = e.N, e.Mean, e.Lo, e.Hi
		o.P10[g], o.P90[g] = fold.Number(c.p10), fold.Number(c.p90)
	}
	err = r.windows(ctx, []int{a, b}, k, rows, func(w *window) error {
		x, y, wide, n := w.values[0], w.values[1], w.hi-w.lo, len(rows)
		return columns(ctx, wide, n, func(lo, hi int, block []float64) {
			for t, i := range w.rows {
				from := int(i) * wide
				at, second := t, y[from+lo:from+hi]
				for g, v := range x[from+lo : from+hi] {
					block[at] = float64(second[g]) - float64(v) // not finite if one of the two is not
					at += n
				}
			}
		}, func(g int, c column, in *intervals) { take(w.lo+g, c, in) })
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// verdict says what the interval of a difference is evidence of.
func verdict(m *metric.Metric, d fold.Estimate) string {
	lo, hi := float64(d.Lo), float64(d.Hi)
	if m.Better == metric.Lower {
		lo, hi = -hi, -lo
	}
	switch {
	case lo > 0:
		return "better"
	case hi < 0:
		return "worse"
	}
	return "no clear difference"
}

package shelf

import (
	"context"
	"math"

	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/slice"
	"nero/run/store"
	"nero/serve/api"
)

// pooled replaces the means over samples of a metric that is computed of a whole set, such as an average precision, by
// its values of the set. The set was chosen by hand: there are no intervals, which for the slices of the summary come
// from resamples.
func (r *Run) pooled(ctx context.Context, o *fold.Curve, model, k int, rows []int32) error {
	m, ref := r.metrics[k], r.models[model]
	p := r.parts[ref.part]
	in := slice.NewBits(p.at.run.Job().Count)
	for _, i := range rows {
		in.Add(p.row(int(i)))
	}
	sets := make([][]metric.Evidence, r.e)
	filter := store.Filter{
		Models: []int{ref.index}, Metrics: []string{p.at.run.Job().Metrics[p.metrics[k]]},
		NoTop: true, Boxes: m.OfHits,
	}
	for row, err := range p.at.run.Rows(filter) {
		if err != nil {
			return p.clean(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !in.Has(row.Index) || row.Err != "" {
			continue
		}
		for e := range sets {
			sets[e] = append(sets[e], evidenceOf(&row, e))
		}
	}
	nan := fold.Number(math.NaN())
	values := make([]float32, r.e)
	for e, set := range sets {
		v := math.NaN()
		if len(set) > 0 {
			v = m.Pooled(set)
		}
		values[e] = float32(v)
		o.Mean[e], o.SD[e], o.Lo[e], o.Hi[e], o.P10[e], o.P90[e] = fold.Number(v), nan, nan, nan, nan, nan
	}
	o.WorstElement = -1
	for e := range sets {
		if v := o.Mean[e]; !math.IsNaN(float64(v)) && (o.WorstElement < 0 || worseMean(m, v, o.Mean[o.WorstElement])) {
			o.WorstElement = e
		}
	}
	none := fold.Estimate{N: len(rows), Mean: nan, SD: nan, Lo: nan, Hi: nan}
	o.Orbit, o.Worst, o.Change = none, none, none
	o.Orbit.Mean = fold.Number(aggregate.CurveMean(r.job.Weights)(values))
	if o.WorstElement >= 0 {
		o.Worst.Mean = o.Mean[o.WorstElement]
	}
	if r.identity >= 0 {
		o.Change.Mean = o.Orbit.Mean - o.Mean[r.identity]
	}
	return nil
}

// evidenceOf is what a row adds at an element, as package fold has it.
func evidenceOf(r *job.Row, e int) metric.Evidence {
	ev := metric.Evidence{Value: float64(r.Curves[0][e])}
	if r.Boxes == nil || r.Truths == nil {
		return ev
	}
	ev.Truths = r.Truths[e]
	for _, d := range r.Boxes[e] {
		ev.Hits = append(ev.Hits, metric.Hit{Score: d.Score, Label: d.Label, Match: d.Match})
	}
	return ev
}

// apart is the difference of two curves of a metric that is computed of a whole set: no sample has one by itself, so
// there is no interval.
func apart(a, b *fold.Curve) *api.Pair {
	nan := fold.Number(math.NaN())
	o := &api.Pair{A: a.Model, B: b.Model, N: b.N, Verdict: "no interval: the metric is one of the whole set"}
	for e := range b.Mean {
		o.Mean = append(o.Mean, b.Mean[e]-a.Mean[e])
		o.Lo, o.Hi, o.P10, o.P90 = append(o.Lo, nan), append(o.Hi, nan), append(o.P10, nan), append(o.P90, nan)
	}
	o.Orbit = fold.Estimate{N: b.Orbit.N, Mean: b.Orbit.Mean - a.Orbit.Mean, SD: nan, Lo: nan, Hi: nan}
	return o
}

package shelf

import (
	"context"
	"math"

	"nero/measure/metric"
	"nero/run/fold"
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
		NoTop: true, Boxes: m.OfHits, Pixels: m.OfPixels,
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
			sets[e] = append(sets[e], fold.EvidenceOf(&row, e))
		}
	}
	nan := fold.Number(math.NaN())
	for e := range sets {
		o.SD[e], o.P10[e], o.P90[e] = nan, nan, nan
	}
	o.Change = fold.Estimate{N: len(rows), Mean: nan, SD: nan, Lo: nan, Hi: nan}
	fold.Pooled(o, m, sets, r.job.Weights, r.identity)
	return nil
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

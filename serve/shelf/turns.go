package shelf

import (
	"cmp"
	"context"
	"slices"

	"nero/measure/aggregate"
	"nero/run/fold"
	"nero/run/slice"
	"nero/serve/api"
)

// mostTurns bounds the entries of an answer about classes: a model of thousands of classes has millions of pairs.
const mostTurns = 5000

// cellOf sums up how often samples of one class are taken for another.
type cellOf struct {
	from, to int32
	sum, sq  float64
	samples  int
	worst    float64
	sample   int32
	element  int
}

// Turns says which classes turn into which when samples are moved: for the samples of a class, by their label or by
// what the model answers at the identity, at which share of the other elements the model answers each class. Shares are
// taken sample by sample, with the weights of the plan, so intervals are clustered by sample.
func (r *Run) Turns(ctx context.Context, q api.TurnsRequest) (*api.Turns, error) {
	if err := r.check(q.Model, 0); err != nil {
		return nil, mark(ErrBad, "model: %v", err)
	}
	self := q.Against == "self"
	if !self && q.Against != "" && q.Against != "truth" {
		return nil, mark(ErrBad, "against: %.40q; expected truth or self", q.Against)
	}
	if self && r.identity < 0 {
		return nil, mark(ErrBad, "the plan of the run does not visit the identity, so there is no answer at rest")
	}
	set, err := r.selected(q.Set, 0)
	if err != nil {
		return nil, err
	}
	rows, samples, err := r.members(set)
	if err != nil {
		return nil, err
	}
	o := &api.Turns{
		Model: q.Model, Against: cmp.Or(q.Against, "truth"), Confidence: r.confidence(), N: len(rows),
		From: []api.TurnsOf{}, Entries: []api.Turn{},
	}
	counts, cells := map[int32]int{}, map[[2]int32]*cellOf{}
	share := map[int32]float64{}
	first := map[int32]int{}
	there, err := r.answers(ctx, q.Model, rows, func(i int32, answers []int32) {
		from := samples.labels[i]
		if self {
			from = answers[r.identity]
		}
		if from < 0 {
			return
		}
		clear(share)
		clear(first)
		all := 0.0
		for g, to := range answers {
			if g == r.identity || to < 0 {
				continue
			}
			w := 1.0
			if r.job.Weights != nil {
				w = r.job.Weights[g]
			}
			if _, seen := share[to]; !seen {
				first[to] = g
			}
			share[to] += w
			all += w
		}
		if !(all > 0) {
			return
		}
		counts[from]++
		for to, s := range share {
			c := cells[[2]int32{from, to}]
			if c == nil {
				c = &cellOf{from: from, to: to, sample: -1}
				cells[[2]int32{from, to}] = c
			}
			s /= all
			c.sum += s
			c.sq += float64(s * s)
			c.samples++
			if s > c.worst {
				c.worst, c.sample, c.element = s, i, first[to]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, mark(ErrBad,
			"the run holds no predicted classes: its output has none, or an older program wrote it")
	}
	for _, c := range cells {
		n := float64(counts[c.from])
		mean := c.sum / n
		m := aggregate.Moments{N: counts[c.from], Mean: mean, M2: max(0, c.sq-float64(float64(n*mean)*mean))}
		i := aggregate.ShareInterval(m, o.Confidence)
		o.Entries = append(o.Entries, api.Turn{
			From: int(c.from), To: int(c.to), Share: fold.Number(mean), Lo: fold.Number(i.Low),
			Hi: fold.Number(i.High), Samples: c.samples, Sample: int(c.sample), Element: c.element,
		})
	}
	slices.SortFunc(o.Entries, func(a, b api.Turn) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	if len(o.Entries) > mostTurns {
		o.Left, o.Entries = len(o.Entries)-mostTurns, o.Entries[:mostTurns]
	}
	for from, n := range counts {
		o.From = append(o.From, api.TurnsOf{Class: int(from), N: n})
	}
	slices.SortFunc(o.From, func(a, b api.TurnsOf) int { return cmp.Compare(a.Class, b.Class) })
	return o, nil
}

// ModelTable is every model by every metric over a set of samples: at the identity, over the orbit, and the paired
// difference of the latter to one of them, the base.
func (r *Run) ModelTable(ctx context.Context, q api.ModelsRequest) (*api.Models, error) {
	if err := r.check(q.Base, 0); err != nil {
		return nil, mark(ErrBad, "base: %v", err)
	}
	o := &api.Models{Base: q.Base, Confidence: r.confidence(), Rows: []api.ModelRow{}}
	for k := range r.metrics {
		a, err := r.Aggregate(ctx, api.AggregateRequest{Set: q.Set, Metric: k})
		if err != nil {
			return nil, err
		}
		o.N = a.N
		for i := range a.Curves {
			c := &a.Curves[i]
			row := api.ModelRow{Model: c.Model, Metric: k, Orbit: c.Orbit, Worst: c.Worst}
			if r.identity >= 0 {
				g := r.identity
				row.Rest = &fold.Estimate{N: c.N[g], Mean: c.Mean[g], SD: c.SD[g], Lo: c.Lo[g], Hi: c.Hi[g]}
			}
			if c.Model != q.Base {
				p, err := r.Aggregate(ctx, api.AggregateRequest{
					Set: q.Set, Metric: k, Models: []int{q.Base, c.Model}, Pair: []int{q.Base, c.Model},
				})
				if err != nil {
					return nil, err
				}
				row.Difference, row.Verdict = &p.Pair.Orbit, p.Pair.Verdict
			}
			o.Rows = append(o.Rows, row)
		}
	}
	return o, nil
}

// bitsOf is the set of some samples.
func bitsOf(n int, in func(i int) bool) slice.Bits {
	b := slice.NewBits(n)
	for i := range n {
		if in(i) {
			b.Add(i)
		}
	}
	return b
}

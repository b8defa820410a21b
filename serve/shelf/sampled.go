package shelf

import (
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"nero/present/words"
	"nero/run/store"
)

// Sampled is the run with at most so many of its samples, evenly spread over it in its order, the same ones each time;
// the run itself where it has no more. Curves over all samples and over classes stay those of the whole run, as its
// summary has them.
func (r *Run) Sampled(most int) *Run {
	if r.n <= most || len(r.parts) != 1 || most < 1 {
		return r
	}
	p := r.parts[0]
	rows := make([]int32, most)
	for i := range rows {
		rows[i] = int32(p.row(int(int64(i) * int64(r.n) / int64(most))))
	}
	p.rows, p.picked = rows, true
	return &Run{
		shelf: r.shelf, id: r.id, name: r.name, generation: r.shelf.cache.next(), parts: []part{p}, models: r.models,
		metrics: r.metrics, group: r.group, job: r.job, n: most, e: r.e, identity: r.identity,
	}
}

// sampledNote says of a run with some of its samples which they are.
func (r *Run) sampledNote(n int) string {
	return fmt.Sprintf("%s of the %s samples are here, spread evenly over the run; the curves of all samples and of "+
		"classes are those of the whole run, and what is asked of other sets is answered by the samples that are here.",
		words.Count(r.n), words.Count(n))
}

// pick reads what is wanted of the chosen samples alone, shard by shard: row by row of the folder, do gets the position
// among the chosen ones.
func (p *part) pick(f store.Filter, do func(at int, values []float32, top []int32)) error {
	byShard := map[int][]int{}
	j := p.at.run.Job()
	for at, i := range p.rows {
		byShard[int(i)/j.Shard] = append(byShard[int(i)/j.Shard], at)
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, shard := range j.Shards() {
		chosen := byShard[shard.Index]
		if len(chosen) == 0 || !p.at.complete() && !p.at.done[shard.Index] {
			continue
		}
		g.Go(func() error {
			f := f
			f.Lo, f.Hi = shard.Lo, shard.Hi
			next := 0
			for row, err := range p.at.run.Rows(f) {
				if err != nil {
					return err
				}
				if next == len(chosen) || int(p.rows[chosen[next]]) != row.Index {
					continue
				}
				var values []float32
				if len(row.Curves) > 0 {
					values = row.Curves[0]
				}
				do(chosen[next], values, row.Top)
				next++
			}
			return nil
		})
	}
	return p.clean(g.Wait())
}

// pickedCurves are the curves of the chosen samples, NaN where there are none.
func (r *Run) pickedCurves(p part, model int, metric string) ([]float32, int64, error) {
	out := filled(r.n * r.e)
	err := p.pick(store.Filter{Models: []int{model}, Metrics: []string{metric}, NoTop: true},
		func(at int, values []float32, _ []int32) { copy(out[at*r.e:(at+1)*r.e], values) })
	return out, int64(4 * len(out)), err
}

// pickedTop are the predicted classes of the chosen samples, -1 where there are none.
func (r *Run) pickedTop(p part, model int) ([]int32, int64, error) {
	if p.at.run.Job().Classes == 0 {
		return nil, 0, nil
	}
	out := make([]int32, r.n*r.e)
	for i := range out {
		out[i] = -1
	}
	err := p.pick(store.Filter{Models: []int{model}, Metrics: []string{}}, func(at int, _ []float32, top []int32) {
		copy(out[at*r.e:(at+1)*r.e], top)
	})
	return out, int64(4 * len(out)), err
}

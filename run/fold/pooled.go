package fold

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/run/job"
)

const (
	// draws is how many resamples of the samples an interval of a pooled metric rests on.
	draws = 400
	// drawSeed makes them, the same for every element, model and metric: differences between elements are then
	// differences of the same resamples.
	drawSeed = 0x626f6f74
	// evidenceBudget bounds what is held at once, in samples times elements of some 200 bytes; elements beyond it take
	// another pass over the rows.
	evidenceBudget = 500_000
)

// pooled replaces the means over samples of a metric that is computed of a whole set, such as an average precision, by
// its values of the slices, with intervals from resamples of the samples, each of which is drawn with its whole orbit;
// see [aggregate.Resample].
func (p *pair) pooled() error {
	f := p.folder
	f.pooling.Lock()
	defer f.pooling.Unlock()
	j, m := f.in.Job, f.metrics[p.metric]
	n := 0
	for _, c := range p.count {
		n = max(n, c)
	}
	if n == 0 {
		return nil
	}
	elements := len(j.Elements)
	budget := f.in.budget
	if budget == 0 {
		budget = evidenceBudget
	}
	block := min(elements, max(1, budget/n))
	pools := make([]pool, len(p.labels))
	for k, l := range p.labels {
		pools[k] = newPool(p.count[l], elements, f.in.Confidence)
	}
	for lo := 0; lo < elements; lo += block {
		hi := min(lo+block, elements)
		sets, err := p.evidence(lo, hi)
		if err != nil {
			return err
		}
		for k := range p.labels {
			for e := lo; e < hi; e++ {
				pools[k].element(e, m, sets[k][e-lo])
			}
		}
	}
	for k := range pools {
		pools[k].fill(&p.curves[k], m, j.Weights, f.identity)
	}
	return nil
}

// evidence reads what every sample adds at the elements lo to hi, by slice and element.
func (p *pair) evidence(lo, hi int) ([][][]metric.Evidence, error) {
	f, i := p.folder, p.metric
	sets := make([][][]metric.Evidence, len(p.labels))
	for k := range sets {
		sets[k] = make([][]metric.Evidence, hi-lo)
	}
	for r, err := range f.in.Rows(p.model, i) {
		if err != nil {
			return nil, err
		}
		if r.Err != "" {
			continue
		}
		if f.metrics[i].OfPixels && f.in.Job.Pixels && r.Pixels == nil {
			return nil, fmt.Errorf("metric %s: the row of sample %s has no pixels to pool", f.metrics[i].Name, r.Sample)
		}
		if f.metrics[i].OfHits && (r.Boxes == nil || r.Truths == nil) {
			return nil, fmt.Errorf("metric %s: the row of sample %s has no boxes to pool", f.metrics[i].Name, r.Sample)
		}
		for k, l := range p.labels {
			if l != all && l != r.Label {
				continue
			}
			for e := lo; e < hi; e++ {
				sets[k][e-lo] = append(sets[k][e-lo], EvidenceOf(&r, e))
			}
		}
	}
	return sets, nil
}

// EvidenceOf is what a row adds at an element to a metric of a set. A box with a place that is not finite has a score
// of NaN, for which [Pooled] gives no value.
func EvidenceOf(r *job.Row, e int) metric.Evidence {
	ev := metric.Evidence{Value: float64(r.Curves[0][e]), Label: r.Label}
	if r.Pixels != nil {
		ev.Pixels = make([]metric.Pixels, len(r.Pixels[e]))
		for i, p := range r.Pixels[e] {
			ev.Pixels[i] = metric.Pixels(p)
		}
		return ev
	}
	if r.Boxes == nil || r.Truths == nil {
		return ev
	}
	ev.Truths = r.Truths[e]
	for _, d := range r.Boxes[e] {
		score := d.Score
		if sum := float64(d.X1) + float64(d.Y1) + float64(d.X2) + float64(d.Y2) + float64(d.Angle); math.IsNaN(sum) ||
			math.IsInf(sum, 0) {
			score = float32(math.NaN())
		}
		ev.Hits = append(ev.Hits, metric.Hit{Score: score, Label: d.Label, Match: d.Match})
	}
	return ev
}

// Pooled replaces the means over samples of a metric that is computed of a whole set by its values of a set that was
// chosen by hand, as [Fold] does for slices but without intervals: those take resamples. The sets are the evidence of
// the samples at each element, weights those of the elements or nil, identity the index of the identity or -1.
func Pooled(c *Curve, m *metric.Metric, sets [][]metric.Evidence, weights []float64, identity int) {
	p := newPool(0, len(sets), 0)
	p.broken = true // without resamples
	for e, set := range sets {
		p.n = len(set)
		p.none(e)
		if finite(set) {
			p.value[e] = m.Pooled(set)
		}
	}
	p.fill(c, m, weights, identity)
}

// finite reports whether a set may have a value: there is something in it, no infinite value and no score that is NaN.
// A value that is NaN is left to the metric: a picture without objects has none by itself.
func finite(set []metric.Evidence) bool {
	return len(set) > 0 && !slices.ContainsFunc(set, func(e metric.Evidence) bool {
		return math.IsInf(e.Value, 0) ||
			slices.ContainsFunc(e.Hits, func(h metric.Hit) bool { return math.IsNaN(float64(h.Score)) })
	})
}

// pool holds the values of one slice at every element, of all its samples and of the resamples.
type pool struct {
	// samples
	n          int
	confidence float64
	// by element
	value []float64
	// by element
	interval []aggregate.Interval
	// values by call of the statistic and by element: every element is asked about the same resamples in the same order
	called [][]float64
	// an element has resamples without a value
	broken bool
}

func newPool(samples, elements int, confidence float64) pool {
	return pool{
		n: samples, confidence: confidence, value: make([]float64, elements),
		interval: make([]aggregate.Interval, elements),
	}
}

// resample is the interval of a statistic of the slice. The draws are the same each time.
func (p *pool) resample(statistic func(call int, count []int) float64) (float64, aggregate.Interval) {
	call := -1
	return aggregate.Resample(p.n, func(count []int) float64 {
		call++
		return statistic(call, count)
	}, draws, p.confidence, rand.New(rand.NewPCG(drawSeed, uint64(p.n))))
}

// element computes the metric of the slice and of its resamples at one element. A value that is not finite in any
// sample leaves none.
func (p *pool) element(k int, m *metric.Metric, set []metric.Evidence) {
	if !finite(set) {
		p.none(k)
		return
	}
	of := m.Resampler(set)
	p.value[k], p.interval[k] = p.resample(func(call int, count []int) float64 {
		if call == len(p.called) {
			p.called = append(p.called, make([]float64, len(p.value)))
		}
		v := of(count)
		p.called[call][k] = v
		p.broken = p.broken || math.IsNaN(v)
		return v
	})
}

// none is an element without a value.
func (p *pool) none(k int) {
	p.value[k], p.interval[k], p.broken = math.NaN(), aggregate.Interval{Low: math.NaN(), High: math.NaN()}, true
}

// fill writes the values of the slice over the means of its samples.
func (p *pool) fill(c *Curve, m *metric.Metric, weights []float64, identity int) {
	c.WorstElement = -1
	for k, v := range p.value {
		c.Mean[k], c.Lo[k], c.Hi[k] = Number(v), Number(max(p.interval[k].Low, m.Range[0])),
			Number(min(p.interval[k].High, m.Range[1]))
		if math.IsNaN(v) {
			c.Lo[k], c.Hi[k] = Number(v), Number(v)
			continue
		}
		if c.WorstElement < 0 || worse(m, v, float64(c.Mean[c.WorstElement])) {
			c.WorstElement = k
		}
	}
	n := c.Orbit.N
	// a picture without objects, or without a class, has no value of its own and is pooled all the same
	if m.OfHits || m.OfPixels {
		n = p.n
		broken := false
		for k, v := range p.value {
			if math.IsNaN(v) {
				broken = true
				continue
			}
			c.N[k], c.Bad[k] = p.n, 0
		}
		if !broken {
			c.FirstBad, c.BadAt = "", -1
		}
	}
	c.Orbit = p.estimate(n, m.Range, func(v []float64) float64 { return weighted(v, weights) })
	c.Worst = p.estimate(n, m.Range, func(v []float64) float64 {
		at := math.NaN()
		for _, x := range v {
			if math.IsNaN(x) {
				return math.NaN()
			}
			if math.IsNaN(at) || worse(m, x, at) {
				at = x
			}
		}
		return at
	})
	if identity >= 0 {
		free := [2]float64{math.Inf(-1), math.Inf(1)}
		c.Change = p.estimate(n, free, func(v []float64) float64 { return weighted(v, weights) - v[identity] })
		if share := ShareOf(weights, len(p.value), identity); share < 1 {
			c.Moved = p.estimate(n, m.Range, func(v []float64) float64 {
				return Moved(weighted(v, weights), v[identity], share)
			})
		}
	}
}

// estimate is a function of the curve with its interval. There is no standard deviation over samples: they have no
// values of their own.
func (p *pool) estimate(n int, in [2]float64, of func([]float64) float64) Estimate {
	e := Estimate{
		N: n, Mean: Number(of(p.value)), SD: Number(math.NaN()), Lo: Number(math.NaN()),
		Hi: Number(math.NaN()),
	}
	if p.broken || p.called == nil {
		return e
	}
	_, i := p.resample(func(call int, _ []int) float64 { return of(p.called[call]) })
	e.Lo, e.Hi = Number(max(i.Low, in[0])), Number(min(i.High, in[1]))
	return e
}

// weighted is the mean over the orbit; NaN if a value is.
func weighted(v, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for k, x := range v {
		w := 1.0
		if weights != nil {
			w = weights[k]
		}
		sum, total = sum+float64(w*x), total+w
	}
	return sum / total
}

package fold

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/measure/metric"
	"nero/run/job"
)

const (
	// draws is how many resamples of the samples an interval of a pooled metric rests on. The limits are quantiles of them, so that with 200 a limit
	// at 2.5 % is the fifth of each tail.
	draws = 200
	// drawSeed makes them, the same for every element, model and metric: differences between elements are then differences of the same resamples.
	drawSeed = 0x626f6f74
	// evidenceBudget bounds the hits that are held at once; elements beyond it take another pass over the rows.
	evidenceBudget = 4_000_000
)

// pooled replaces the means over samples of a metric that is computed of a whole set, such as an average precision, by its values of the slices, with
// intervals from resamples of the samples (Efron and Tibshirani 1993, percentile method; a sample is drawn with its whole orbit).
func (f *folder) pooled(model, i int, curves []Curve) error {
	j, m := f.in.Job, f.metrics[i]
	n := 0
	for _, c := range f.count {
		n = max(n, c)
	}
	if n == 0 {
		return nil
	}
	elements := len(j.Elements)
	block := min(elements, max(1, evidenceBudget/n))
	pools := make([]pool, len(f.labels))
	for k, l := range f.labels {
		pools[k] = newPool(f.count[l], elements)
	}
	for lo := 0; lo < elements; lo += block {
		hi := min(lo+block, elements)
		sets, err := f.evidence(model, i, lo, hi)
		if err != nil {
			return err
		}
		for k := range f.labels {
			for e := lo; e < hi; e++ {
				pools[k].element(e, m, sets[k][e-lo])
			}
		}
	}
	for k := range pools {
		pools[k].fill(&curves[k], m, j.Weights, f.identity, f.in.Confidence)
	}
	return nil
}

// evidence reads what every sample adds at the elements lo to hi, by slice and element.
func (f *folder) evidence(model, i, lo, hi int) ([][][]metric.Evidence, error) {
	sets := make([][][]metric.Evidence, len(f.labels))
	for k := range sets {
		sets[k] = make([][]metric.Evidence, hi-lo)
	}
	for r, err := range f.in.Rows(model, i) {
		if err != nil {
			return nil, err
		}
		if r.Err != "" {
			continue
		}
		if f.metrics[i].OfHits && (r.Boxes == nil || r.Truths == nil) {
			return nil, fmt.Errorf("metric %s: the row of sample %s has no boxes to pool", f.metrics[i].Name, r.Sample)
		}
		for k, l := range f.labels {
			if l != all && l != r.Label {
				continue
			}
			for e := lo; e < hi; e++ {
				sets[k][e-lo] = append(sets[k][e-lo], evidenceOf(&r, e))
			}
		}
	}
	return sets, nil
}

// evidenceOf is what a row adds at an element.
func evidenceOf(r *job.Row, e int) metric.Evidence {
	ev := metric.Evidence{Value: float64(r.Curves[0][e])}
	if r.Boxes == nil || r.Truths == nil {
		return ev
	}
	ev.Truths = r.Truths[e]
	for _, d := range r.Boxes[e] {
		score := d.Score
		if sum := float64(d.X1) + float64(d.Y1) + float64(d.X2) + float64(d.Y2) + float64(d.Angle); math.IsNaN(sum) || math.IsInf(sum, 0) {
			score = float32(math.NaN())
		}
		ev.Hits = append(ev.Hits, metric.Hit{Score: score, Label: d.Label, Match: d.Match})
	}
	return ev
}

// pool holds the values of one slice at every element, of all its samples and of the resamples.
type pool struct {
	value  []float64   // by element
	counts [][]int     // by draw and sample
	drawn  [][]float64 // by draw and element
}

func newPool(samples, elements int) pool {
	p := pool{value: make([]float64, elements)}
	if samples < 2 {
		return p // nothing can be said of the spread of one
	}
	r := rand.New(rand.NewPCG(drawSeed, uint64(samples)))
	for range draws {
		count := make([]int, samples)
		for range samples {
			count[r.IntN(samples)]++
		}
		p.counts, p.drawn = append(p.counts, count), append(p.drawn, make([]float64, elements))
	}
	return p
}

// element computes the metric of the slice and of its resamples at one element. A value that is not finite in any sample leaves none.
func (p *pool) element(k int, m *metric.Metric, set []metric.Evidence) {
	bad := slices.ContainsFunc(set, func(e metric.Evidence) bool {
		return math.IsInf(e.Value, 0) || slices.ContainsFunc(e.Hits, func(h metric.Hit) bool { return h.Score != h.Score }) // NaN
	})
	if bad || len(set) == 0 {
		p.value[k] = math.NaN()
		for b := range p.drawn {
			p.drawn[b][k] = math.NaN()
		}
		return
	}
	p.value[k] = m.Pooled(set)
	if p.counts == nil {
		return
	}
	of := m.Resampler(set)
	for b, c := range p.counts {
		p.drawn[b][k] = of(c)
	}
}

// fill writes the values of the slice over the means of its samples.
func (p *pool) fill(c *Curve, m *metric.Metric, weights []float64, identity int, confidence float64) {
	c.WorstElement = -1
	column := make([]float64, 0, len(p.drawn))
	for k, v := range p.value {
		column = column[:0]
		for _, d := range p.drawn {
			column = append(column, d[k])
		}
		lo, hi := limits(column, confidence)
		c.Mean[k], c.Lo[k], c.Hi[k] = Number(v), Number(lo), Number(hi)
		if !math.IsNaN(v) && (c.WorstElement < 0 || worse(m, v, float64(c.Mean[c.WorstElement]))) {
			c.WorstElement = k
		}
	}
	n := c.Orbit.N
	c.Orbit = p.estimate(n, confidence, func(v []float64) float64 { return weighted(v, weights) })
	c.Worst = p.estimate(n, confidence, func(v []float64) float64 {
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
		c.Change = p.estimate(n, confidence, func(v []float64) float64 { return weighted(v, weights) - v[identity] })
	}
}

// estimate is a function of the curve with its interval and the standard deviation of the resamples.
func (p *pool) estimate(n int, confidence float64, of func([]float64) float64) Estimate {
	vs := make([]float64, len(p.drawn))
	mean := 0.0
	for b, d := range p.drawn {
		vs[b] = of(d)
		mean += vs[b] / float64(len(p.drawn))
	}
	sd := 0.0
	for _, v := range vs {
		sd += (v - mean) * (v - mean)
	}
	lo, hi := limits(vs, confidence)
	sd = math.Sqrt(sd / float64(max(len(vs)-1, 1)))
	if len(vs) == 0 {
		sd = math.NaN()
	}
	return Estimate{N: n, Mean: Number(of(p.value)), SD: Number(sd), Lo: Number(lo), Hi: Number(hi)}
}

// weighted is the mean over the orbit; NaN if a value is.
func weighted(v, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for k, x := range v {
		w := 1.0
		if weights != nil {
			w = weights[k]
		}
		sum, total = sum+w*x, total+w
	}
	return sum / total
}

// limits are the quantiles of resamples that leave half of 1-confidence on either side, counted inwards; NaN if one is not finite or there are none.
func limits(v []float64, confidence float64) (lo, hi float64) {
	if len(v) == 0 || slices.ContainsFunc(v, math.IsNaN) {
		return math.NaN(), math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	k := int(math.Floor((1 - confidence) / 2 * float64(len(s)-1)))
	return s[k], s[len(s)-1-k]
}

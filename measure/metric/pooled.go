package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// shape says how precision over recall becomes a number.
type shape int

const (
	envelope shape = iota // area under the monotone envelope, every point counts
	// Mean at the recalls 0, 0.01, ..., 1, and at most 100 boxes of a class in a picture: as pycocotools.
	coco
	recall // recall of at most 100 boxes of a class in a picture, COCO's AR
)

// mostBoxes is how many boxes of a class in one picture count in COCO's numbers.
const mostBoxes = 100

// average makes a pooled metric of the thresholds lo <= k < hi.
func average(name, doc string, s shape, lo, hi int) *Metric {
	sorted := func(e []Evidence) func(count []int) float64 { return newPool(e, s, lo, hi).at }
	pooled := func(e []Evidence) float64 {
		count := make([]int, len(e))
		for i := range count {
			count[i] = 1
		}
		return sorted(e)(count)
	}
	return &Metric{
		Name: name, Ref: Target, Better: Higher, Range: [2]float64{0, 1}, Spaces: boxes, Pooled: pooled, OfHits: true,
		sorted: sorted,
		Doc: doc + "; over samples recomputed from all their boxes at each element, per class, then the mean over " +
			"the classes that occur",
		Measure: func(c Case) float64 {
			e := EvidenceOf(c, 0)
			if e.Truths == nil {
				return math.NaN()
			}
			return pooled([]Evidence{e})
		},
	}
}

// AveragePrecision50 is the area under precision over recall at an IoU of 0.5.
var AveragePrecision50 = titled("average precision at IoU 0.5", average("ap50",
	"average precision at IoU >= 0.5: area under the monotone envelope of precision over recall, all points", envelope,
	0, 1))

// AveragePrecision75 is the area under precision over recall at an IoU of 0.75.
var AveragePrecision75 = titled("average precision at IoU 0.75",
	average("ap75", "average precision at IoU >= 0.75, all points", envelope, 5, 6))

// AveragePrecision is the mean of the areas under precision over recall at ten thresholds.
var AveragePrecision = titled("average precision", average("ap",
	"average precision, the mean of IoU >= 0.50, 0.55, ..., 0.95, all points",
	envelope, 0, Thresholds))

// CocoAP is AP as pycocotools computes it.
var CocoAP = titled("COCO AP", average("coco_ap",
	"AP as pycocotools has it: precision at the recalls 0, 0.01, ..., 1, IoU >= 0.50 to 0.95, at most 100 boxes of a "+
		"class in a picture", coco, 0, Thresholds))

// CocoAP50 is AP50 as pycocotools computes it.
var CocoAP50 = titled("COCO AP50", average("coco_ap50", "AP at IoU >= 0.50 as pycocotools has it", coco, 0, 1))

// CocoAP75 is AP75 as pycocotools computes it.
var CocoAP75 = titled("COCO AP75", average("coco_ap75", "AP at IoU >= 0.75 as pycocotools has it", coco, 5, 6))

// CocoAR100 is AR100 as pycocotools computes it.
var CocoAR100 = titled("COCO AR100", average("coco_ar100",
	"AR100 as pycocotools has it: share of the objects found, the mean of IoU >= 0.50 to 0.95, at most 100 boxes of "+
		"a class in a picture", recall, 0, Thresholds))

// Resampler prepares the metric of many resamples of one set of samples, for [nero/measure/aggregate.Resample]: count
// says how often each sample is in the resample, 0 for not at all. Counts of 1 give what Pooled gives; of a sample that
// counts twice, which of its boxes of equal score comes first may differ. It panics if the metric is not pooled, and
// the function that it returns panics if count has another length than e or a negative number.
func (m *Metric) Resampler(e []Evidence) func(count []int) float64 {
	if m.Pooled == nil {
		panic("metric: " + m.Name + " is not pooled")
	}
	check := func(count []int) {
		if len(count) != len(e) || slices.ContainsFunc(count, func(n int) bool { return n < 0 }) {
			panic(fmt.Sprintf("metric: %d counts for %d samples, or a negative one", len(count), len(e)))
		}
	}
	if m.sorted != nil {
		f := m.sorted(e)
		return func(count []int) float64 { check(count); return f(count) }
	}
	var drawn []Evidence
	return func(count []int) float64 {
		check(count)
		drawn = drawn[:0]
		for i, n := range count {
			for range n {
				drawn = append(drawn, e[i])
			}
		}
		return m.Pooled(drawn)
	}
}

// pool is the evidence of a set of samples, sorted once, so that the metric of a resample is one pass.
type pool struct {
	shape  shape
	lo, hi int
	// class × sample
	truths [][]int32
	// class × hit, by falling score
	hits [][]sample
	// scratch: where recall rises, at each threshold
	steps [Thresholds][]step
}

// step is a hit that was right: as often as its sample was drawn, and so is the rise of recall.
type step struct {
	// boxes that are right, down to this one
	right int
	// down to this one
	precision float64
}

// sample is a hit and whose it is.
type sample struct {
	of    int32
	match uint16
}

func newPool(e []Evidence, s shape, lo, hi int) *pool {
	p := &pool{shape: s, lo: lo, hi: hi}
	classes := 0
	for _, x := range e {
		classes = max(classes, len(x.Truths))
	}
	p.truths, p.hits = make([][]int32, classes), make([][]sample, classes)
	// Classes that nobody asked for, because no object has them, have no precision: their boxes are left out, as in
	// COCO's evaluation.
	type scored struct {
		sample
		score float32
	}
	by := make([][]scored, classes)
	used := make([]int, classes)
	for i, x := range e {
		for c, n := range x.Truths {
			if n != 0 {
				if p.truths[c] == nil {
					p.truths[c] = make([]int32, len(e))
				}
				p.truths[c][i] = n
			}
		}
		clear(used)
		hits := x.Hits
		if falling := func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) }; !slices.IsSortedFunc(hits, falling) {
			hits = slices.Clone(hits)
			slices.SortStableFunc(hits, falling)
		}
		for _, h := range hits {
			c := int(h.Label)
			if c < 0 || c >= classes {
				continue
			}
			if used[c]++; used[c] > mostBoxes && s != envelope {
				continue
			}
			by[c] = append(by[c], scored{sample{int32(i), h.Match}, h.Score})
		}
	}
	for c, h := range by {
		if p.truths[c] == nil {
			continue
		}
		slices.SortStableFunc(h, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
		p.hits[c] = make([]sample, len(h))
		for i, x := range h {
			p.hits[c][i] = x.sample
		}
	}
	return p
}

// at is the metric of a resample; NaN if it has no object at all.
func (p *pool) at(count []int) float64 {
	sum, classes := 0.0, 0
	for c, truths := range p.truths {
		objects := 0
		for i, n := range truths {
			objects += int(n) * count[i]
		}
		if objects == 0 {
			continue
		}
		classes++
		p.walk(p.hits[c], count)
		of := 0.0
		for k := p.lo; k < p.hi; k++ {
			of += p.class(p.steps[k], float64(objects))
		}
		sum += of / float64(p.hi-p.lo)
	}
	if classes == 0 {
		return math.NaN()
	}
	return sum / float64(classes)
}

// walk goes down the hits of a class, all thresholds at once. Precision falls from one right box to the next, so what
// lies between is of no interest.
func (p *pool) walk(hits []sample, count []int) {
	for k := p.lo; k < p.hi; k++ {
		p.steps[k] = p.steps[k][:0]
	}
	var right [Thresholds]int
	n := 0
	for _, h := range hits {
		times := count[h.of]
		if times == 0 {
			continue
		}
		n += times
		if h.match == 0 {
			continue
		}
		for k := p.lo; k < p.hi; k++ {
			if h.match&(1<<k) != 0 {
				right[k] += times
				p.steps[k] = append(p.steps[k], step{right[k], float64(right[k]) / float64(n)})
			}
		}
	}
}

// class is the metric of one class at one threshold.
func (p *pool) class(steps []step, objects float64) float64 {
	if len(steps) == 0 {
		return 0
	}
	if p.shape == recall {
		return float64(steps[len(steps)-1].right) / objects
	}
	for i := len(steps) - 2; i >= 0; i-- {
		steps[i].precision = max(steps[i].precision, steps[i+1].precision)
	}
	area := 0.0
	if p.shape == envelope {
		last := 0
		for _, s := range steps {
			area += float64(float64(s.right-last) / objects * s.precision)
			last = s.right
		}
		return area
	}
	k := 0
	for _, s := range steps {
		for found := float64(s.right) / objects; k <= 100 && recallAt(k) <= found; k++ {
			area += s.precision
		}
	}
	return area / 101
}

// recallAt is the k-th of COCO's recalls, to the last bit that of numpy.linspace(0, 1, 101).
func recallAt(k int) float64 {
	if k == 100 {
		return 1
	}
	return float64(k) * 0.01
}

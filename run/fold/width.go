package fold

import (
	"cmp"
	"math"
	"slices"

	"nero/internal/elementary"
	"nero/measure/metric"
	"nero/symmetry/group"
)

// Width is how far a curve over shifts stays above half of its maximum, along one axis through the element with the
// maximum.
type Width struct {
	Axis string `json:"axis"`
	Unit string `json:"unit"`
	// from where the value falls to half on one side to where it does on the other; NaN without a maximum above 0
	Value Number `json:"value"`
	// Open is on how many sides, 0 to 2, the value has not fallen to half where the elements end: the width is at least
	// Value.
	Open int `json:"open,omitempty"`
}

// widths are the full widths at half maximum of the means of a metric that is better when higher, along the axes of
// shifts; nil for other charts and metrics. The baseline is 0. Of equal maxima the one nearest to the middle of the
// elements counts. Between two elements the value is taken to go straight; a NaN ends the line like the last element.
func widths(chart []group.Axis, elements []group.Element, m *metric.Metric, mean []Number) []Width {
	if m.Better != metric.Higher || len(elements) < 3 {
		return nil
	}
	var axes []int
	for a, x := range chart {
		if x.Form() == group.FormPixels && !x.Periodic {
			axes = append(axes, a)
		}
	}
	if len(axes) == 0 {
		return nil
	}
	middle := make([]float64, len(chart))
	for a := range chart {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, e := range elements {
			lo, hi = min(lo, e[a]), max(hi, e[a])
		}
		middle[a] = (lo + hi) / 2
	}
	far := func(k int) float64 {
		d := 0.0
		for _, a := range axes {
			d = elementary.Hypot(d, elements[k][a]-middle[a])
		}
		return d
	}
	at := -1
	for k, v := range mean {
		if v := float64(v); v > 0 && !math.IsInf(v, 0) && (at < 0 || v > float64(mean[at]) || v == float64(mean[at]) &&
			far(k) < far(at)) {
			at = k
		}
	}
	ws := make([]Width, len(axes))
	for i, a := range axes {
		ws[i] = Width{Axis: chart[a].Name, Unit: chart[a].Unit, Value: Number(math.NaN())}
		if at >= 0 {
			ws[i].Value, ws[i].Open = line(elements, mean, at, a)
		}
	}
	return ws
}

// line is the width along axis a through element at.
func line(elements []group.Element, mean []Number, at, a int) (Number, int) {
	var on []int
	for k, e := range elements {
		same := true
		for b := range e {
			same = same && (b == a || e[b] == elements[at][b])
		}
		if same {
			on = append(on, k)
		}
	}
	slices.SortFunc(on, func(j, k int) int { return cmp.Compare(elements[j][a], elements[k][a]) })
	here, half := slices.Index(on, at), float64(mean[at])/2
	side := func(by int) (float64, int) {
		for i := here; ; i += by {
			x, p := elements[on[i]][a], float64(mean[on[i]])
			if i+by < 0 || i+by >= len(on) || math.IsNaN(float64(mean[on[i+by]])) {
				return x, 1
			}
			if q := float64(mean[on[i+by]]); q <= half {
				return x + float64((p-half)/(p-q)*(elements[on[i+by]][a]-x)), 0
			}
		}
	}
	lo, m := side(-1)
	hi, n := side(1)
	return Number(hi - lo), m + n
}

// Consensus says what the consensus of one model rests on, over the samples.
type Consensus struct {
	Model int `json:"model"`
	// samples
	N int `json:"n"`
	// Weak is how many samples have a consensus that rests on too few elements to support a verdict, or none at all.
	Weak int `json:"weak"`
	// median share of contributing elements
	Support Number `json:"support"`
	// Agreement is the median, over the samples that have one, of the correlation along the orbit between the first
	// metric against the target and the same against the consensus; NaN if there are no targets.
	Agreement Number `json:"agreement"`
	// samples with a correlation
	Agreed int `json:"agreed"`
}

// consensus sums up what the rows of a model say of their consensus.
func (f *folder) consensus(model, i int) (Consensus, error) {
	c := Consensus{Model: model}
	limit := f.in.Job.Study.Consensus.Weak
	if limit == 0 {
		limit = weak
	}
	var support, agreement []float64
	for r, err := range f.in.Rows(model, i) {
		if err != nil {
			return c, err
		}
		if r.Err != "" {
			continue
		}
		c.N++
		s := float64(r.Support)
		if !(r.Support >= float32(limit)) { // in the precision in which shares are kept
			c.Weak++
		}
		if !math.IsNaN(s) {
			support = append(support, s)
		}
		if a := float64(r.Agreement); !math.IsNaN(a) {
			agreement = append(agreement, a)
		}
	}
	c.Support, c.Agreement, c.Agreed = Number(median(support)), Number(median(agreement)), len(agreement)
	return c, nil
}

// median is the middle of the numbers, NaN of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

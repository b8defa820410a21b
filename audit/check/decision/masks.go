package decision

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/measure/aggregate"
	"nero/measure/metric"
)

// resamples of the inputs behind an interval.
const resamples = 1000

// mostClasses is of how many classes the IoU is given one by one, those with the most pixels in the truth.
const mostClasses = 30

// overlap says how much of the masks is right, unmoved and moved. It judges nothing: how good a model is no symmetry
// demands.
func overlap(p *audit.Pass, sw *sweep.Result) (any, error) {
	n, per := len(sw.IDs), 1+len(p.Elements)
	// of element j, -1 for the identity, under so many copies of each input; prepared once, for resamples are many
	at := func(m *metric.Metric, j int) func(count []int) float64 {
		e := make([]metric.Evidence, n)
		for i := range e {
			e[i].Pixels = sw.Pixels[i*per+1+j]
		}
		return m.Resampler(e)
	}
	once := slices.Repeat([]int{1}, n)
	over := func(m *metric.Metric) func(count []int) float64 {
		each := make([]func(count []int) float64, len(p.Elements))
		for j := range each {
			each[j] = at(m, j)
		}
		return func(count []int) float64 {
			sum, weight := 0.0, 0.0
			for j, e := range p.Elements {
				sum += float64(e.Weight * each[j](count))
				weight += e.Weight
			}
			return sum / weight
		}
	}
	interval := func(name string, of func(count []int) float64) audit.Interval {
		_, r := aggregate.Resample(n, of, resamples, p.Policy.Confidence, p.Rand("interval of the overlap", name))
		return share(audit.Interval{Value: of(once), Lo: r.Low, Hi: r.High, N: n})
	}
	iou, right := metric.MaskIoU, metric.PixelAccuracy
	rest, moved := interval("unmoved", at(iou, -1)), interval("moved", over(iou))
	if math.IsNaN(rest.Value) && math.IsNaN(moved.Value) {
		return nil, fmt.Errorf("%w: no pixel of a mask can be held against the truth", audit.ErrNotApplicable)
	}
	worst, where := math.NaN(), 0
	for j := range p.Elements {
		if v := at(iou, j)(once); math.IsNaN(worst) || v < worst {
			worst, where = v, j
		}
	}
	p.Abstain()
	p.Measure(
		audit.Measured("mean IoU with the truth unmoved", rest, "share"),
		audit.Measured("mean IoU with the truth over the orbit", moved, "share"),
		audit.Number("mean IoU with the truth at the worst element, "+p.Elements[where].Label, worst, "share"),
		audit.Number("pixels that are right unmoved", at(right, -1)(once), "share"),
		audit.Number("pixels that are right over the orbit", over(right)(once), "share"))
	for _, k := range classes(sw) {
		one := metric.ClassIoU.ByClass(int(k), "")
		p.Measure(
			audit.Number("IoU of class "+strconv.Itoa(int(k))+" unmoved", at(one, -1)(once), "share"),
			audit.Number("IoU of class "+strconv.Itoa(int(k))+" over the orbit", over(one)(once), "share"))
	}
	p.Say(maskGist(rest.Value, moved.Value, worst, p.Elements[where].Label, at(right, -1)(once), over(right)(once)))
	return nil, nil
}

// maskGist is what becomes of masks when inputs move, in a sentence.
func maskGist(rest, moved, worst float64, where string, right, over float64) string {
	text := fmt.Sprintf("The masks reach a mean IoU of %s on the inputs as they are and of %s on them moved",
		audit.Percent(rest), audit.Percent(moved))
	if audit.Percent(worst) != audit.Percent(moved) {
		text += fmt.Sprintf(", %s at worst, at %s", audit.Percent(worst), where)
	}
	return fmt.Sprintf("%s; right are %s of the pixels and %s moved.", text, audit.Percent(right), audit.Percent(over))
}

// classes are those of the truth, the ones with the most pixels if they are many, by number.
func classes(sw *sweep.Result) []int32 {
	n := map[int32]int{}
	for _, all := range sw.Pixels {
		for _, x := range all {
			if x.Class >= 0 && x.Want > 0 {
				n[x.Class] += int(x.Want)
			}
		}
	}
	var out []int32
	for c := range n {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b int32) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return int(a - b)
	})
	out = out[:min(len(out), mostClasses)]
	slices.Sort(out)
	return out
}

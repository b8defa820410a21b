package sweep

import (
	"math"
	"math/rand/v2"
	"slices"

	"nero/audit"
)

// Unit is that of the errors: "" for numbers relative to the scale, [audit.PixelShare] or [audit.BoxShare].
func (r *Result) Unit() string {
	switch {
	case r.Boxes:
		return audit.BoxShare
	case r.Mask:
		return audit.PixelShare
	}
	return ""
}

// Countless says in words why an output has no numbers for each component.
func (r *Result) Countless() string {
	if r.Boxes {
		return "boxes come and go, so that a set of them has no numbers component by component"
	}
	return "masks are labels"
}

// Set gathers the exact elements, or the others, into a set that can be judged; nil if there are none. Floors, cause
// and verdict are left to the caller. Errors are divided by s; an s of 0 leaves them undefined.
func (r *Result) Set(p *audit.Pass, exact bool) *audit.Set {
	var cols []int
	var total float64
	for j, e := range r.elements {
		if e.Exact == exact {
			cols = append(cols, j)
			total += e.Weight
		}
	}
	if len(cols) == 0 {
		return nil
	}
	n, m := len(r.IDs), len(r.elements)
	s := &audit.Set{
		Name: SetName(exact), Exact: exact, Inputs: n, NonFinite: r.NonFinite[exact], NonFiniteAt: audit.Nowhere,
		Scale: r.Scale, Component: r.Component[exact], At: audit.Nowhere, Detectable: math.NaN(),
		Ratio: audit.MeanInterval(nil, p.Policy.Confidence), Resampling: audit.Describe(nil),
	}
	s.Unit = r.Unit()
	defer func() {
		if s.Shares() { // a share is no less than 0 and no more than 1, whatever an interval of few inputs says
			for _, i := range []*audit.Interval{&s.Mean, &s.Worst} {
				i.Lo, i.Hi = within(i.Lo), within(i.Hi)
			}
		}
	}()
	if s.NonFinite > 0 {
		s.NonFiniteAt = r.NonFiniteAt[exact]
	}
	rel := func(e float64) float64 {
		if !(r.Scale > 0) {
			return math.NaN()
		}
		return e / r.Scale
	}
	mean, worst, floor := make([]float64, n), make([]float64, n), make([]float64, n)
	abs, all := make([]float64, 0, n*len(cols)), make([]float64, 0, n*len(cols))
	top := 0.0
	for i := range n {
		var sum, w float64
		most := math.NaN()
		for _, j := range cols {
			e := r.Err[i*m+j]
			if math.IsNaN(e) {
				continue
			}
			abs, all = append(abs, e), append(all, rel(e))
			sum, w = sum+float64(r.elements[j].Weight*e), w+r.elements[j].Weight
			if !(e <= most) {
				most = e
			}
			if e > top {
				top = e
				g := r.elements[j]
				s.At = audit.Where{Sample: r.IDs[i], Index: i, Element: g.G, Label: g.Label}
			}
		}
		mean[i], worst[i], floor[i] = math.NaN(), rel(most), rel(r.FloorMean[i])
		if w > 0 {
			mean[i] = rel(sum / w)
		}
	}
	s.IDs, s.Means, s.Largest = r.IDs, mean, worst
	s.Pairs = len(abs)
	s.Abs, s.Rel = audit.Describe(abs), audit.Describe(all)
	// Every draw depends on the seed and on what is measured, so that all checks that ask for a set see the same
	// limits.
	draws := func(what string) *rand.Rand { return p.Rand("interval of the "+what, s.Name) }
	if r.Parts != nil {
		r.judgeParts(p, s)
	} else {
		lo, hi := 1.0, 1.0
		if g := p.Gauge(); g != nil && len(g.Parts) == 1 {
			lo, hi = g.Parts[0].Low, g.Parts[0].High
		}
		s.Mean = audit.ErrorInterval(mean, p.Policy.Confidence, draws("mean error")).
			Over(lo, hi, p.ScaleCorrelation(0, mean))
		s.Worst = audit.ErrorInterval(worst, p.Policy.Confidence, draws("largest error")).
			Over(lo, hi, p.ScaleCorrelation(0, worst))
		s.Scaled(func(i int, factor func(lo, hi float64) float64) float64 { return worst[i] / factor(lo, hi) }, n,
			p.Policy)
	}
	if !exact {
		s.Ratio = audit.FactorInterval(mean, rounded(floor), p.Policy.Confidence, draws("ratio"))
		s.Resampling = audit.Describe(floor)
		s.Resampling.Max = rel(r.FloorMost)
		if s.Resampling.N == 0 {
			s.Resampling.Max = math.NaN()
		}
	}
	if exact && r.CutMean != nil {
		r.cutOff(p, s, mean, rel)
	}
	for _, j := range cols {
		s.Profile = append(s.Profile, r.point(j, rel))
		if r.elements[j].Added {
			s.Added++
		}
	}
	return s
}

// CutOff reports whether the error on the exact elements cannot be told from what content that leaves the frame does.
func (r *Result) CutOff(p *audit.Pass) bool {
	s := r.Set(p, true)
	return s != nil && s.Cut != nil && s.Worst.Value > p.Policy.Threshold && p.Policy.CutOff(s)
}

// cutOff fills in what leaves the frame and what that does alone. mean is the mean error of each sample, rel makes an
// error relative.
func (r *Result) cutOff(p *audit.Pass, s *audit.Set, mean []float64, rel func(float64) float64) {
	c := &audit.Cut{}
	floor := make([]float64, len(r.CutMean))
	for i, x := range r.Lost {
		c.Share += x / float64(len(r.Lost))
		if x > 0 {
			c.Inputs++
		}
		floor[i] = rel(r.CutMean[i])
	}
	c.Ratio = audit.FactorInterval(mean, rounded(floor), p.Policy.Confidence,
		p.Rand("interval of the ratio to what is cut off", s.Name))
	c.Floor = audit.Describe(floor)
	s.Cut = c
}

// rounded are floors of resampling that are no smaller than the rounding of float32, so that those of inputs that are
// moved without resampling, such as points, do not make the error over them a division by nothing, with limits that
// hold any number. One of 0 stays: moving there and back changes nothing.
func rounded(floor []float64) []float64 {
	const ulp = 0x1p-23
	out := slices.Clone(floor)
	for i, f := range out {
		if f > 0 && f < ulp {
			out[i] = ulp
		}
	}
	return out
}

// point is one element of the profile.
func (r *Result) point(j int, rel func(float64) float64) audit.Point {
	e, m := r.elements[j], len(r.elements)
	col := make([]float64, len(r.IDs))
	bad := 0
	for i := range col {
		if col[i] = rel(r.Err[i*m+j]); math.IsNaN(r.Err[i*m+j]) {
			bad++
		}
	}
	d := audit.Describe(col)
	pt := audit.Point{
		Element: e.G, Label: e.Label, Exact: e.Exact, Added: e.Added, N: len(r.IDs) - bad, NonFinite: bad,
		Mean: d.Mean, P95: d.P95, Max: d.Max, Resampling: math.NaN(),
	}
	if r.FloorN[j] > 0 {
		pt.Resampling = rel(r.FloorAt[j] / float64(r.FloorN[j]))
	}
	return pt
}

// within brings a limit of a share into [0, 1]; NaN stays.
func within(x float64) float64 { return min(max(x, 0), 1) }

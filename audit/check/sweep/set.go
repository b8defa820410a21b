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
			sum, w = sum+r.elements[j].Weight*e, w+r.elements[j].Weight
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
		if worst[i] > p.Policy.Threshold {
			s.Exceeding++
		}
	}
	s.IDs, s.Means, s.Largest = r.IDs, mean, worst
	s.Pairs = len(abs)
	s.Abs, s.Rel = audit.Describe(abs), audit.Describe(all)
	// Every draw depends on the seed and on what is measured, so that all checks that ask for a set see the same
	// limits.
	draws := func(what string) *rand.Rand { return p.Rand("interval of the "+what, s.Name) }
	s.Mean = audit.ErrorInterval(mean, p.Policy.Confidence, draws("mean error"))
	s.Worst = audit.ErrorInterval(worst, p.Policy.Confidence, draws("largest error"))
	s.Exceed = audit.ShareInterval(s.Exceeding, s.Worst.N, p.Policy.Confidence)
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
	r.fields(p, s, cols)
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
	return s != nil && s.Cut != nil && s.Worst.Value > p.Policy.Threshold && s.Cut.Ratio.Lo <= 1
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

// fields fills in what is known of each field of outputs that are records.
func (r *Result) fields(p *audit.Pass, s *audit.Set, cols []int) {
	n, m := len(r.IDs), len(r.elements)
	g := p.Gauge()
	for k, name := range r.Fields {
		f := audit.FieldError{Name: name, Scale: math.NaN(), At: audit.Nowhere}
		if g != nil && k < len(g.Scales) {
			f.Scale = g.Scales[k]
		}
		mean, worst := make([]float64, n), make([]float64, n)
		for i := range n {
			var sum, w float64
			mean[i], worst[i] = math.NaN(), math.NaN()
			for _, j := range cols {
				e := r.FieldErr[k][i*m+j]
				if math.IsNaN(e) {
					continue
				}
				sum, w = sum+r.elements[j].Weight*e, w+r.elements[j].Weight
				if !(e <= worst[i]) {
					worst[i] = e
				}
				if e > f.Max {
					f.Max, f.At = e, audit.Where{
						Sample: r.IDs[i], Index: i, Element: r.elements[j].G,
						Label: r.elements[j].Label,
					}
				}
			}
			if w > 0 {
				mean[i] = sum / w
			}
		}
		f.Mean = audit.ErrorInterval(mean, p.Policy.Confidence, p.Rand("interval of the mean error of "+name, s.Name))
		f.Worst = audit.ErrorInterval(worst, p.Policy.Confidence,
			p.Rand("interval of the largest error of "+name, s.Name))
		s.Fields = append(s.Fields, f)
	}
}

// ShowFields shows the errors of the fields of outputs that are records.
func (r *Result) ShowFields(p *audit.Pass, s *audit.Set) {
	if len(s.Fields) == 0 {
		return
	}
	t := &audit.Table{Columns: []audit.Column{
		{Name: "field"},
		{Name: "scale", Doc: "centred size of the field over the inputs, in its unit"},
		{Name: "mean", Doc: "error over the scale, mean over inputs and elements"},
		{Name: "largest per input", Doc: "mean over inputs of the largest error"},
		{Name: "largest"},
		{Name: "worst"},
	}}
	for _, f := range s.Fields {
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(f.Name), audit.Num(f.Scale), audit.Num(f.Mean.Value), audit.Num(f.Worst.Value), audit.Num(f.Max),
			audit.Word(f.At.String()),
		})
	}
	p.Show(audit.Exhibit{
		Name: "fields", Title: "Errors of the fields of the output, " + s.Name, Table: t,
		Note: "Each field has a scale of its own. What is judged is, pair by pair, the field that errs most.",
	})
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

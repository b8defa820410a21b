package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/measure/scale"
)

// PartErrors are the errors of one part of the output, relative to its own scale, reduced to numbers per input; by
// whether the elements are exact.
type PartErrors struct {
	// Most is the largest error of an input over a set, NaN where none is finite.
	Most map[bool][]float64
	// Sum and Weight give its mean error.
	Sum, Weight map[bool][]float64
	// Max is the largest of all, at At.
	Max map[bool]float64
	At  map[bool]audit.Where
}

// part keeps the errors of the parts of one pair.
func (r *Result) part(p *audit.Pass, q audit.Request, d scale.Difference, exact bool) {
	if len(d.Parts) < 2 {
		return
	}
	n := p.Subject.N
	if r.Parts == nil {
		for range d.Parts {
			e := &PartErrors{
				Most: map[bool][]float64{}, Sum: map[bool][]float64{}, Weight: map[bool][]float64{},
				Max: map[bool]float64{}, At: map[bool]audit.Where{true: audit.Nowhere, false: audit.Nowhere},
			}
			for _, exact := range []bool{true, false} {
				if r.count(exact) > 0 {
					e.Most[exact], e.Sum[exact], e.Weight[exact] = undefined(n), make([]float64, n), make([]float64, n)
				}
			}
			r.Parts = append(r.Parts, e)
		}
	}
	g := p.Elements[q.Element]
	for k, x := range d.Parts {
		if math.IsNaN(x) || math.IsNaN(d.Norm) || k >= len(r.Parts) {
			continue
		}
		e := r.Parts[k]
		if !(x <= e.Most[exact][q.Sample]) {
			e.Most[exact][q.Sample] = x
		}
		e.Sum[exact][q.Sample] += float64(g.Weight * x)
		e.Weight[exact][q.Sample] += g.Weight
		if x > e.Max[exact] {
			e.Max[exact] = x
			e.At[exact] = audit.Where{Sample: r.IDs[q.Sample], Index: q.Sample, Element: g.G, Label: g.Label}
		}
	}
}

// mostExact bounds the parts whose intervals are found by resampling: those with the largest errors.
const mostExact = 16

// judgeParts fills in the errors of the parts, of which there are several, and what follows for the set. What is judged
// is the part whose error is largest. That no part is above the limit needs every upper end below it, each at the
// confidence of the set; that one is, needs a lower end that holds for all parts together, by Holm's method, whose
// first step is Bonferroni's: the largest of many numbers is large by chance.
func (r *Result) judgeParts(p *audit.Pass, s *audit.Set) {
	exact := s.Exact
	g, n := p.Gauge(), len(r.IDs)
	conf := p.Policy.Confidence
	var judged []int
	for k := range r.Parts {
		if g.Judged(k) {
			judged = append(judged, k)
		}
	}
	joint := 1 - (1-conf)/float64(len(judged))
	type part struct {
		k           int
		mean, worst audit.Interval
		// lower end for all parts together
		low float64
	}
	all := make([]part, 0, len(judged))
	for _, k := range judged {
		e := r.Parts[k]
		all = append(all, part{k: k, worst: audit.MeanInterval(e.Most[exact], conf)})
	}
	slices.SortStableFunc(all, func(a, b part) int {
		return cmp.Or(-cmp.Compare(a.worst.Hi, b.worst.Hi), -cmp.Compare(a.worst.Value, b.worst.Value))
	})
	best, top := -1, math.Inf(-1)
	low := math.Inf(-1)
	for i := range all {
		x := &all[i]
		e, q := r.Parts[x.k], g.Parts[x.k]
		mean := make([]float64, n)
		for j := range mean {
			mean[j] = e.Sum[exact][j] / e.Weight[exact][j]
		}
		interval := func(what string, v []float64, conf, hi float64) audit.Interval {
			iv := audit.MeanInterval(v, conf).NotNegative()
			if i < mostExact {
				iv = audit.ErrorInterval(v, conf, p.Rand("interval of the "+what+" of "+q.Name, s.Name))
			}
			return iv.Over(q.Low, hi, p.ScaleCorrelation(x.k, v))
		}
		x.mean = interval("mean error", mean, conf, q.High)
		x.worst = interval("largest error", e.Most[exact][:n], conf, q.High)
		x.low = x.worst.Lo
		if len(judged) > 1 {
			x.low = min(x.low, interval("largest error", e.Most[exact][:n], joint, q.Joint).Lo)
		}
		low = max(low, x.low)
		if best < 0 || x.worst.Value > all[best].worst.Value {
			best = i
		}
		if !(x.worst.Hi <= top) {
			top = x.worst.Hi
		}
	}
	b := all[best]
	s.Mean, s.Worst = b.mean, b.worst
	s.Worst.Lo, s.Worst.Hi = low, top
	if math.IsNaN(b.worst.Lo) {
		s.Worst.Lo = math.NaN()
	}
	s.Largest = slices.Clone(r.Parts[b.k].Most[exact][:n])
	for j := range s.Means {
		s.Means[j] = r.Parts[b.k].Sum[exact][j] / r.Parts[b.k].Weight[exact][j]
	}
	slices.SortFunc(all, func(a, b part) int { return cmp.Compare(a.k, b.k) })
	for _, x := range all {
		e, q := r.Parts[x.k], g.Parts[x.k]
		s.Fields = append(s.Fields, audit.FieldError{
			Name: q.Name, Scale: q.Scale, Still: q.Still, Mean: x.mean, Worst: x.worst, Max: e.Max[exact],
			At: e.At[exact],
		})
	}
	s.Scaled(func(i int, factor func(lo, hi float64) float64) float64 {
		most := math.NaN()
		for _, k := range judged {
			if x := r.Parts[k].Most[exact][i] / factor(g.Parts[k].Low, g.Parts[k].Joint); !(x <= most) &&
				!math.IsNaN(x) {
				most = x
			}
		}
		return most
	}, n, p.Policy)
}

// ShowFields shows the errors of the parts of the output, the largest first where there are many.
func (r *Result) ShowFields(p *audit.Pass, s *audit.Set) {
	if len(s.Fields) == 0 {
		return
	}
	list := slices.Clone(s.Fields)
	note := "Each part has a scale of its own. The part that errs most is judged."
	if len(list) > mostExact {
		slices.SortStableFunc(list,
			func(a, b audit.FieldError) int { return -cmp.Compare(a.Worst.Value, b.Worst.Value) })
		note += fmt.Sprintf(" These are the %d worst of %d.", mostExact, len(list))
		list = list[:mostExact]
	}
	t := &audit.Table{Columns: []audit.Column{
		{Name: "field"},
		{Name: "scale", Doc: "centred size of the part over the inputs, in its unit"},
		{Name: "mean", Doc: "error over the scale, mean over inputs and elements"},
		{Name: "largest per input", Doc: "mean over inputs of the largest error"},
		{Name: "largest"},
		{Name: "worst"},
	}}
	for _, f := range list {
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(cmp.Or(f.Name, "the scores")), audit.Num(f.Scale), audit.Num(f.Mean.Value),
			audit.Num(f.Worst.Value), audit.Num(f.Max), audit.Word(f.At.String()),
		})
	}
	p.Show(audit.Exhibit{
		Name: "fields", Title: "Errors of the parts of the output, " + s.Name, Table: t, Note: note,
	})
}

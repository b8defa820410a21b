package discover

import (
	"math"
	"reflect"
	"slices"

	"nero/audit/document"
	"nero/run/job"
	"nero/symmetry/group"
)

// CouldNotRun stands for the verdict of an audit that ended with an error.
const CouldNotRun = string(document.CouldNotRun)

// Hypothesis is a symmetry that a model may have, as the claim of a study.
type Hypothesis struct {
	// Claim is a sentence that says which.
	Claim string `json:"claim"`
	// Word is how sure the part is; where several parts found it, the surest of them.
	Word Word `json:"says"`
	// Part is the one that found it first.
	Part string `json:"part"`
	// Also are the parts that found the same in another way.
	Also []Evidence `json:"also,omitempty"`
	// Study is the file that it was written to, "" for none.
	Study string `json:"study,omitempty"`
	// Audit is the verdict of an audit of that study, "" as long as nobody made one, and [CouldNotRun] where one ended
	// with an error. Why is the first reason, unless it passed.
	Audit string `json:"audit,omitempty"`
	Why   string `json:"why,omitempty"`
	// Lay lays the claim over the study that was asked about: the group with its elements, and what moves how.
	Lay func(s *job.Study) `json:"-"`

	family *family
}

// Evidence is what another part says of a hypothesis.
type Evidence struct {
	Part  string `json:"part"`
	Claim string `json:"claim"`
	Word  Word   `json:"says"`
}

// join proposes once what several parts found: the claim of the first, with the others as evidence.
func join(all []*Hypothesis, s *Subject) []*Hypothesis {
	var out []*Hypothesis
	for _, h := range all {
		i := slices.IndexFunc(out, func(o *Hypothesis) bool { return o.Part != h.Part && o.same(h, s) })
		if i < 0 {
			out = append(out, h)
			continue
		}
		first := out[i]
		first.Also = append(first.Also, Evidence{h.Part, h.Claim, h.Word})
		if rank := ranks(); slices.Index(rank, h.Word) < slices.Index(rank, first.Word) {
			first.Word = h.Word
		}
	}
	return out
}

// same reports whether two hypotheses claim the same of the same outputs.
func (h *Hypothesis) same(o *Hypothesis, s *Subject) bool {
	if h.family == nil || o.family == nil || !h.family.same(*o.family) {
		return false
	}
	laid := func(h *Hypothesis) *job.Study {
		var study job.Study
		if s.Out.IsRecord() {
			for _, leaf := range s.Out.Leaves() {
				study.Output.Fields = append(study.Output.Fields, job.Port{Name: leaf.Name, Type: leaf.Type})
			}
		}
		h.Lay(&study)
		return &study
	}
	a, b := laid(h), laid(o)
	return reflect.DeepEqual(a.Output, b.Output) && reflect.DeepEqual(a.Input.Fields, b.Input.Fields)
}

// same reports whether two families are the same motions of the same fields.
func (f family) same(o family) bool {
	if !reflect.DeepEqual(f.types, o.types) || f.options.Border != o.options.Border {
		return false
	}
	if f.definition == "" || o.definition == "" {
		return f.definition == o.definition && f.groupName() == o.groupName() && f.subset == o.subset &&
			(!f.subset || reflect.DeepEqual(f.elements, o.elements))
	}
	a, infinite := f.matrices()
	b, other := o.matrices()
	if len(a) == 0 || len(a) != len(b) || infinite != other {
		return false
	}
	if infinite {
		return within(a, b)
	}
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y []float64) bool { return apart(x, y) <= 1e-9 }) {
			return false
		}
	}
	return true
}

// matrices are those of the elements of a finite group that a study defines, or of the generators of one that goes on
// forever.
func (f family) matrices() (all [][]float64, infinite bool) {
	g, ok := f.group.(group.Represented)
	if !ok {
		return nil, false
	}
	name := ""
	for n := range g.Representations() {
		if name == "" || n < name {
			name = n
		}
	}
	if lie, ok := f.group.(group.Lie); ok {
		const step = 1e-4 // the third power of which is rounding
		for i := range lie.Generators() {
			at := func(t float64) []float64 {
				x := make([]float64, len(lie.Generators()))
				x[i] = t
				m, _ := g.Matrix(name, lie.Exp(x))
				return m
			}
			forth, back := at(step), at(-step)
			if len(forth) == 0 || len(forth) != len(back) {
				return nil, true
			}
			for k := range forth {
				forth[k] = (forth[k] - back[k]) / (2 * step)
			}
			all = append(all, forth)
		}
		return all, true
	}
	if listed, ok := f.group.(group.Finite); ok {
		for _, e := range listed.Elements() {
			m, _ := g.Matrix(name, e)
			all = append(all, m)
		}
	}
	return all, false
}

// within reports whether the first matrices are combinations of the others, up to a tenth of a degree, which is what
// generators that were measured are known to.
func within(a, b [][]float64) bool {
	const angle = 0.1 * math.Pi / 180
	var basis [][]float64
	rest := func(x []float64) []float64 {
		x = slices.Clone(x)
		for range 2 {
			for _, v := range basis {
				f := inner(v, x)
				for i := range x {
					x[i] -= float64(f * v[i])
				}
			}
		}
		return x
	}
	for _, y := range b {
		r := rest(y)
		size := math.Sqrt(inner(r, r))
		if !(size > 1e-6*math.Sqrt(inner(y, y))) {
			return false // they are not independent
		}
		for i := range r {
			r[i] /= size
		}
		basis = append(basis, r)
	}
	for _, x := range a {
		r := rest(x)
		if size := inner(x, x); !(inner(r, r) <= angle*angle*size) || size == 0 {
			return false
		}
	}
	return true
}

func inner(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}

// apart is the largest difference of two lists; infinity where they have different lengths.
func apart(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	var most float64
	for i, v := range a {
		most = max(most, math.Abs(v-b[i]))
	}
	return most
}

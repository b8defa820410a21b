// Package stress is what the checks of the family stress share. They ask what an audit on ordinary inputs does not
// meet, a few predictions each: the laws of the group carried through the model, the ends of the plan's range, strange
// company in a batch, another engine, the border of a map, shifts, extreme inputs, and other sizes.
package stress

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/preflight"
	"nero/audit/check/sweep"
	"nero/audit/kit/tangent"
	"nero/data/space"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Family is the name of the family.
const Family = "stress"

// Requires are the checks that every one of the family requires.
func Requires() []*audit.Check {
	return []*audit.Check{preflight.Check, sweep.Check, controls.Check}
}

// The parameters that the checks share.
var (
	// Samples is how many inputs a check takes.
	Samples = audit.Param{
		Name: "samples", Doc: "Inputs of the question, spread over the data.", Default: 4, Min: 2, Max: 1000, Least: 2,
	}
	// Elements is how many elements a check takes.
	Elements = audit.Param{Name: "elements", Doc: "Elements of the question.", Default: 4, Min: 1, Max: 1000, Least: 2}
)

// Answer is what a check came to.
type Answer string

// The answers.
const (
	Holds    Answer = "holds"
	Broken   Answer = "broken"
	Measured Answer = "measured" // a number without a limit
)

// Held is Holds or Broken; NaN never holds.
func Held(e, limit float64) Answer {
	if e <= limit {
		return Holds
	}
	return Broken
}

// Result is the answer of a check with its number.
type Result struct {
	Answer Answer
	// the largest, relative to the scale of the outputs; NaN if there is none
	Error float64
	// NaN if there is none
	Limit float64
	// what was seen
	Text string
}

// Show writes the result into the report.
func (r *Result) Show(p *audit.Pass) {
	p.Show(audit.Exhibit{Name: "answer", Title: "What was seen", Table: &audit.Table{
		Columns: []audit.Column{
			{Name: "answer"},
			{Name: "error", Doc: "largest, relative to the scale of the outputs"},
			{Name: "limit"},
			{Name: "what was seen"},
		},
		Rows: [][]audit.Cell{{
			audit.Word(string(r.Answer)), audit.Num(r.Error), audit.Num(r.Limit), audit.Word(r.Text),
		}},
	}})
}

// Test is a few inputs and elements of an audit, and what an error of theirs is held against.
type Test struct {
	Pass  *audit.Pass
	Sweep *sweep.Result
	// of the outputs
	Scale float64
	// up to which an error is rounding or the model's own noise
	Floor float64
	// up to which it is rounding
	Rounding float64
	// what is wrong with the actions
	Laws string
	// fields of whole numbers, that stay
	Whole []string
	// Exact are elements of the audit that do not resample, as many as the parameter "elements" says.
	Exact []int
	// and those that do
	Resample []int
	// IDs and Index name the inputs, as many as the parameter "samples" says.
	IDs   []string
	Index []int
	// the samples
	Raw []space.Value
	// ρ(e)x
	Still []space.Value

	base []space.Value
}

// New reads the inputs of a check. One without the parameters "samples" or "elements" gets none. The error wraps
// [audit.ErrUntested] where nothing could be held against anything.
func New(p *audit.Pass) (*Test, error) {
	c := audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary, so there is nothing to hold an error against",
			audit.ErrUntested)
	}
	t := &Test{
		Pass: p, Sweep: audit.ResultOf[*sweep.Result](p, sweep.Check),
		Laws: audit.ResultOf[*preflight.Result](p, preflight.Check).Laws, Whole: tangent.Whole(p.Subject),
	}
	t.Scale = t.Sweep.Scale
	t.Rounding = p.Policy.RoundingFactor * max(c.Floors.Rounding, 0)
	t.Floor = max(t.Rounding, p.Policy.NoiseFactor*max(c.Floors.Repeat, c.Floors.Batch, 0))
	for _, j := range p.PickElements(count(p, Elements.Name)) {
		if p.Elements[j].Exact {
			t.Exact = append(t.Exact, j)
		} else {
			t.Resample = append(t.Resample, j)
		}
	}
	identity := audit.NewMover(p.Subject.Plan.In, p.Subject.Plan.Group.Identity())
	for _, i := range p.Pick(count(p, Samples.Name)) {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		x, err := identity.Move(s.Value)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		t.IDs, t.Index = append(t.IDs, s.ID), append(t.Index, i)
		t.Raw, t.Still = append(t.Raw, s.Value), append(t.Still, x)
	}
	return t, nil
}

// count is a parameter of the check, 0 if it has none of that name.
func count(p *audit.Pass, name string) int {
	if !slices.ContainsFunc(p.Check.Params, func(q audit.Param) bool { return q.Name == name }) {
		return 0
	}
	return int(p.Param(name))
}

// Work is about how many predictions a check of the family makes for each input, times the inputs.
func Work(each func(p *audit.Pass) int) func(p *audit.Pass) int {
	return func(p *audit.Pass) int { return min(count(p, Samples.Name), p.Subject.N) * each(p) }
}

// Base are the answers f(ρ(e)x) to the unmoved inputs.
func (t *Test) Base(ctx context.Context) ([]space.Value, error) {
	var err error
	if t.base == nil {
		t.base, err = t.Predict(ctx, t.Still)
	}
	return t.base, err
}

// Predict is a list of inputs through the model, in chunks of the audit.
func (t *Test) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	out := make([]space.Value, 0, len(values))
	stream := func(yield func(audit.Request, error) bool) {
		for _, v := range values {
			if !yield(audit.Request{Input: v}, nil) {
				return
			}
		}
	}
	err := t.Pass.Predict(ctx, stream, func(_ audit.Request, y space.Value) error {
		out = append(out, y)
		return nil
	})
	return out, err
}

// Apart is ‖a - b‖/s; NaN if a number is not finite, +Inf for values of different form.
func (t *Test) Apart(a, b space.Value) float64 {
	d, err := t.Pass.Compare(a, b)
	if err != nil {
		return math.Inf(1)
	}
	return d.Norm / t.Scale
}

// Size is ‖v‖ of an output, as errors are measured.
func (t *Test) Size(v space.Value) float64 {
	x := v.Numbers()
	zero, err := v.With(make([]float64, len(x)))
	if err != nil {
		return math.NaN()
	}
	d, err := t.Pass.Compare(v, zero)
	if err != nil {
		return math.NaN()
	}
	return d.Norm
}

// Label is element j for people.
func (t *Test) Label(j int) string { return t.Pass.Elements[j].Label }

// Where is input i at element j; a j below 0 is no element.
func (t *Test) Where(i, j int) audit.Where {
	w := audit.Where{Sample: t.IDs[i], Index: t.Index[i]}
	if j >= 0 {
		w.Element, w.Label = t.Pass.Elements[j].G, t.Pass.Elements[j].Label
	}
	return w
}

// Worst keeps the largest of errors and where it was; NaN counts as larger than any number.
type Worst struct {
	E float64
	// of the inputs and elements of a [Test]; an element below 0 is none
	Sample, Element int
	Text            string
	// how many were added
	N int
}

// Add takes in an error.
func (w *Worst) Add(e float64, sample, element int, text string) {
	w.N++
	if w.N == 1 || e > w.E || (math.IsNaN(e) && !math.IsNaN(w.E)) {
		w.E, w.Sample, w.Element, w.Text = e, sample, element, text
	}
}

// Same reports whether two values are equal number for number.
func Same(a, b space.Value) bool {
	d, err := scale.Compare(a, b)
	return err == nil && d.Max == 0
}

// Loses reports whether moving x by g and back gives something else than x: content crosses the border, or numbers are
// resampled.
func Loses(in action.Action, g group.Element, x space.Value) (bool, error) {
	y, err := in.Apply(g, x)
	if err != nil {
		return false, err
	}
	if y.Form() != x.Form() {
		return true, nil
	}
	if y, err = in.Apply(in.Group().Inv(g), y); err != nil {
		return false, err
	}
	still, err := in.Apply(in.Group().Identity(), x) // blanks what does not count
	if err != nil {
		return false, err
	}
	return !Same(still, y), nil
}

// Package trial measures the error of a model under actions other than those of the claim: of a subgroup, of a larger
// group, of another type of the output. Checks that ask what holds in place of the claim, or beside it, share it.
package trial

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Trial is a list of elements with the actions that they move by.
type Trial struct {
	In, Out  action.Action
	Elements []group.Element
	// Before, if not nil, changes an input after it was moved and before the model reads it. What it changes of the
	// unmoved input is what the error is held against.
	Before func(v space.Value) (space.Value, error)
	// Only is the index of the one field of a record whose error counts; it counts if Single is set.
	Only int
	// whether Only counts
	Single bool
}

// Errors are what came of one trial.
type Errors struct {
	// Rel is the relative error of sample i at element j, in Rel[i][j]: over the scale of the outputs; NaN where an
	// output is not finite.
	Rel [][]float64
	// Field is the index of the field of a record that errs most there.
	Field [][]int
	IDs   []string
	// of the samples
	Index []int

	trial *Trial
}

// Largest are the largest errors of each sample; +Inf where an output is not finite.
func (e *Errors) Largest() []float64 {
	out := make([]float64, len(e.Rel))
	for i, row := range e.Rel {
		for _, x := range row {
			if math.IsNaN(x) {
				x = math.Inf(1)
			}
			out[i] = max(out[i], x)
		}
	}
	return out
}

// Interval is that of the mean over samples of the largest error.
func (e *Errors) Interval(p *audit.Pass, name string) audit.Interval {
	return audit.ErrorInterval(e.Largest(), p.Policy.Confidence, p.Rand("interval of a trial", name))
}

// Worst is where the error is largest, how large it is, and the field of a record that has it.
func (e *Errors) Worst(p *audit.Pass) (at audit.Where, most float64, field string) {
	at = audit.Nowhere
	for i, row := range e.Rel {
		for j, x := range row {
			if x > most || math.IsNaN(x) && !math.IsNaN(most) || at.Index < 0 {
				most = x
				g := e.trial.Elements[j]
				at = audit.Where{
					Sample: e.IDs[i], Index: e.Index[i], Element: g,
					Label: audit.Label(e.trial.In.Group(), g),
				}
				field = p.Gauge().Name(e.Field[i][j])
			}
		}
	}
	return at, most, field
}

// unmoved is the element of the request for f(x).
const unmoved = -1

// Measure runs trials on some samples. Scale is that of the outputs.
func Measure(ctx context.Context, p *audit.Pass, pick []int, scale float64, trials []*Trial) ([]*Errors, error) {
	out := make([]*Errors, len(trials))
	for k, t := range trials {
		out[k] = &Errors{trial: t, Index: pick, IDs: make([]string, len(pick))}
		for range pick {
			out[k].Rel = append(out[k].Rel, make([]float64, len(t.Elements)))
			out[k].Field = append(out[k].Field, make([]int, len(t.Elements)))
		}
	}
	stream := func(yield func(audit.Request, error) bool) {
		for row, i := range pick {
			s, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			for k, t := range trials {
				out[k].IDs[row] = s.ID
				for j := unmoved; j < len(t.Elements); j++ {
					x, err := t.input(s.Value, j)
					if err != nil {
						yield(audit.Request{}, fmt.Errorf("sample %s under %s: %w", s.ID, t.In.Group().Name(), err))
						return
					}
					if !yield(audit.Request{Sample: row, Role: k, Element: j, Input: x}, nil) {
						return
					}
				}
			}
		}
	}
	var base space.Value
	err := p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
		if q.Element == unmoved {
			base = y
			return nil
		}
		t, e := trials[q.Role], out[q.Role]
		z, err := t.Out.Apply(t.Out.Group().Inv(t.Elements[q.Element]), y)
		if err != nil {
			return fmt.Errorf("sample %s under %s: output: %w", e.IDs[q.Sample], t.In.Group().Name(), err)
		}
		d, err := p.Compare(z, base)
		if err != nil {
			return fmt.Errorf("sample %s under %s: output: %w", e.IDs[q.Sample], t.In.Group().Name(), err)
		}
		if t.Single && t.Only < len(d.Fields) {
			d.Norm, d.Field = d.Fields[t.Only].Norm, t.Only
		}
		e.Rel[q.Sample][q.Element], e.Field[q.Sample][q.Element] = d.Norm/scale, d.Field
		return nil
	})
	return out, err
}

// input is what the model reads at element j.
func (t *Trial) input(v space.Value, j int) (space.Value, error) {
	g := t.In.Group().Identity()
	if j >= 0 {
		g = t.Elements[j]
	}
	x, err := t.In.Apply(g, v)
	if err != nil || t.Before == nil {
		return x, err
	}
	return t.Before(x)
}

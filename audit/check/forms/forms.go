// Package forms is the check that holds the exported forms of a model against each other: in float32, float16, with
// integers of 8 bits, before and after an optimizer.
package forms

import (
	"context"
	"errors"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/space"
)

// Check is the check of exported forms. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "forms",
	Title: "Other exported forms",
	Doc: `Forms asks how far the answers of the other exported forms of the model are from those of this one. Every form has an audit of its own, with the
same inputs, elements and seeds; this check compares their answers to the inputs as they are: ‖f_k(x) - f_1(x)‖ over the scale of f_1, mean over inputs
with its interval, and the largest; for classifiers the share of inputs to which both name the same class. It judges nothing: a form may answer
otherwise and be as symmetric.`,
	Requires: []*audit.Check{sweep.Check},
	Optional: true,
	Views:    true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		if len(p.Subject.Forms) == 0 {
			return 0
		}
		return p.Subject.N * (1 + len(p.Subject.Forms))
	},
}

// Result is what became of the answers, this form first.
type Result struct{ Forms []audit.FormOf }

// Describe puts the forms at the head of the report.
func (r *Result) Describe(to *audit.Report) { to.Forms = r.Forms }

// classed are answers that name a class.
type classed interface{ Class() int }

// apart collects the distances of one form.
type apart struct {
	of   audit.FormOf
	d    []float64
	same int
	// inputs with classes
	classes int
	broken  error
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	s := p.Subject
	if len(s.Forms) == 0 {
		return nil, fmt.Errorf("%w: one form of the model was given; --form FILE.onnx adds others",
			audit.ErrNotApplicable)
	}
	scale := audit.ResultOf[*sweep.Result](p, sweep.Check).Scale
	if !(scale > 0) {
		return nil, fmt.Errorf("%w: the outputs do not vary, so there is no scale to compare answers by",
			audit.ErrUntested)
	}
	all := make([]apart, len(s.Forms))
	for k, f := range s.Forms {
		all[k].of = audit.FormOf{Name: f.Name, Bytes: f.Bytes, Most: math.NaN(), At: audit.Nowhere}
	}
	identity := audit.NewMover(s.Plan.In, s.Plan.Group.Identity())
	var ids []string
	var values []space.Value
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		first, err := p.PredictBatch(ctx, 0, values)
		if err != nil {
			return err
		}
		for k := range all {
			if err := all[k].add(ctx, p, &s.Forms[k], values, first, ids, scale); err != nil {
				return err
			}
		}
		values, ids = values[:0], ids[:0]
		return nil
	}
	cut := s.Cutter()
	for i := range s.N {
		x, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		v, err := identity.Move(x.Value)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", x.ID, err)
		}
		values, ids = append(values, v), append(ids, x.ID)
		if cut.Add(v.Bytes()) {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return conclude(p, all), nil
}

// add takes in the answers of a form to some inputs. A form that does not run is said, and the others stand.
func (a *apart) add(ctx context.Context, p *audit.Pass, f *audit.Form, values, first []space.Value, ids []string,
	scale float64,
) error {
	if a.broken != nil {
		return nil //nolint:nilerr // said before
	}
	out, err := p.PredictForm(ctx, f, values)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.broken = err
		return nil
	}
	for i, y := range out {
		at := audit.Where{Sample: ids[i], Index: len(a.d)}
		e := math.NaN()
		d, err := p.Compare(y, first[i])
		switch {
		case err != nil:
			a.broken = errors.Join(fmt.Errorf("form %s, sample %s", f.Name, ids[i]), err)
			return nil
		case space.Finite(y) && space.Finite(first[i]):
			e = d.Norm / scale
		}
		if a.d = append(a.d, e); math.IsNaN(e) {
			a.of.NonFinite++
			continue
		}
		if !(e <= a.of.Most) {
			a.of.Most, a.of.At = e, at
		}
		x, ok := y.(classed)
		o, both := first[i].(classed)
		if !ok || !both {
			continue
		}
		if a.classes++; x.Class() == o.Class() {
			a.same++
		}
	}
	return nil
}

// conclude hands in the numbers and the table.
func conclude(p *audit.Pass, all []apart) *Result {
	conf := p.Policy.Confidence
	r := &Result{Forms: []audit.FormOf{{
		Name: p.Subject.Name, Bytes: p.Subject.Bytes, Apart: audit.MeanInterval(nil, conf), Most: math.NaN(),
		At: audit.Nowhere,
	}}}
	t := &audit.Table{Columns: []audit.Column{
		{Name: "form"},
		{Name: "differs by", Doc: "mean over inputs, over the scale of the outputs of " + p.Subject.Name},
		{Name: "at least"},
		{Name: "at most"},
		{Name: "most", Doc: "largest over inputs"},
		{Name: "sample"},
		{Name: "same class", Unit: "share"},
		{Name: "not finite", Doc: "inputs without a finite difference"},
	}}
	for _, a := range all {
		f := a.of
		f.Apart, f.Agree = audit.MeanInterval(a.d, conf).NotNegative(), audit.MeanInterval(nil, conf)
		same := audit.Word("no classes")
		switch {
		case a.broken != nil:
			f.Error = a.broken.Error()
			same = audit.Word(f.Error)
		case a.classes > 0:
			f.Agree = audit.ShareInterval(a.same, a.classes, conf)
			same = audit.Num(f.Agree.Value)
			p.Measure(audit.Measured("same class as "+f.Name, f.Agree, "share"))
		}
		if a.broken == nil {
			p.Measure(audit.Measured("answers of "+f.Name+" differ by", f.Apart, ""),
				audit.Number("answers of "+f.Name+" differ by at most", f.Most, ""))
		}
		r.Forms = append(r.Forms, f)
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(f.Name), audit.Num(f.Apart.Value), audit.Num(f.Apart.Lo), audit.Num(f.Apart.Hi),
			audit.Num(f.Most), audit.Word(f.At.Sample), same, audit.Num(float64(f.NonFinite)),
		})
	}
	p.Show(audit.Exhibit{
		Name: "forms", Title: "Answers of the other forms to the inputs as they are", Table: t,
		Note: "Distances from the answers of " + p.Subject.Name + ", which is no judgement on symmetry: each form " +
			"has a verdict of its own.",
	})
	return r
}

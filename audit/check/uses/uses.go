// Package uses is the check of what a model looks at: does its answer depend on each of its inputs, and on what lies
// outside of a chosen subset?
package uses

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/data/space"
)

// Check is the check of inputs that no answer depends on.
var Check = &audit.Check{
	Name:  "uses",
	Title: "What the answers depend on",
	Doc: `Uses asks whether the answers depend on each input of a model that has several: its value is exchanged for that of another sample of the same
shape, and all others are kept. Where an input of a number for every row is 0 or 1 throughout, it is taken for the mask of a chosen subset, and the rows within it and those outside of it,
the rest of the superset, are exchanged apart.

A model that does not look at an input keeps every law about it, so that nothing about it was shown: the report says of which inputs and rows that is so. No law is broken by that, and
the verdict stays. It sees whether an answer varies, not whether it varies as it should.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs, spread over the data.", Default: 12, Min: 3, Max: 1000},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
}

// Result says how far the answers go when one thing is exchanged.
type Result struct {
	Asked []Asked
}

// Asked is one thing that was exchanged: an input, or the rows within or outside of a subset of its rows.
type Asked struct {
	What string
	// Change is the largest change of an answer of each sample, relative to the scale of the outputs, as a mean over
	// the samples, and Most the largest of all.
	Change audit.Interval
	Most   float64
}

// question is what is exchanged.
type question struct {
	what string
	// of a record
	field int
	// rows that are exchanged; nil for all of the value
	rows func(r *space.Record) []bool
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	pick := p.Pick(int(p.Param("samples")))
	records := make([]*space.Record, len(pick))
	ids := make([]string, len(pick))
	for k, i := range pick {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		x, err := p.Subject.Plan.In.Apply(p.Subject.Plan.Group.Identity(), s.Value)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		names, fields := space.Fields(x)
		if len(names) < 2 {
			return nil, fmt.Errorf("%w: the model has one input", audit.ErrNotApplicable)
		}
		records[k], ids[k] = &space.Record{Names: names, Values: fields}, s.ID
	}
	base := make([]space.Value, len(records))
	for i, r := range records {
		base[i] = r
	}
	before, err := p.PredictBatch(ctx, 0, base)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	for _, q := range questions(p, records) {
		var values []space.Value
		var of []int
		for i := range records {
			if v := exchanged(records, i, q); v != nil {
				values, of = append(values, v), append(of, i)
			}
		}
		if len(values) < 2 {
			continue
		}
		after, err := p.PredictBatch(ctx, 0, values)
		if err != nil {
			return nil, err
		}
		a := Asked{What: q.what}
		changes := make([]float64, len(of))
		for k, i := range of {
			d, err := p.Compare(after[k], before[i])
			if err != nil {
				changes[k] = math.Inf(1) // an answer of another form depends on it
				a.Most = changes[k]
				continue
			}
			changes[k] = d.Norm / sw.Scale
			if !(changes[k] <= a.Most) {
				a.Most = changes[k]
			}
		}
		a.Change = audit.MeanInterval(changes, p.Policy.Confidence).NotNegative()
		r.Asked = append(r.Asked, a)
	}
	if len(r.Asked) == 0 {
		return nil, fmt.Errorf("%w: no two samples have inputs of one shape, so that none can be exchanged",
			audit.ErrNotApplicable)
	}
	report(p, r, p.Policy.RoundingFactor*max(c.Floors.Rounding, c.Floors.Repeat, 0))
	return r, nil
}

// questions are all that can be exchanged: every input, and of those with rows of nodes the ones within and outside of
// each mask.
func questions(p *audit.Pass, records []*space.Record) []question {
	var all []question
	specs := p.Subject.InSpec.Leaves()
	for k, name := range records[0].Names {
		all = append(all, question{what: "input " + name, field: k})
	}
	for k, name := range records[0].Names {
		if k >= len(specs) || !specs[k].OfNodes() || !mask(records, k) {
			continue
		}
		for j, other := range records[0].Names {
			if j == k || j >= len(specs) || space.RowsOf(records[0].Values[j]) == nil || !specs[j].OfNodes() ||
				specs[j].Set != specs[k].Set {
				continue
			}
			for i, where := range []string{"within", "outside of"} {
				within := i == 0
				all = append(all, question{
					what: fmt.Sprintf("rows of %s %s %s", other, where, name), field: j,
					rows: func(r *space.Record) []bool {
						m := r.Values[k].Numbers()
						out := make([]bool, len(m))
						for n, v := range m {
							out[n] = (v == 1) == within
						}
						return out
					},
				})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b question) int { return a.field - b.field })
	return all
}

// mask reports whether a field has a number for every row that is 0 or 1, and some of each.
func mask(records []*space.Record, k int) bool {
	seen := [2]bool{}
	for _, r := range records {
		x := space.RowsOf(r.Values[k])
		if x == nil || x.W != 1 {
			return false
		}
		for _, v := range x.Val {
			if v != 0 && v != 1 {
				return false
			}
			seen[int(v)] = true
		}
	}
	return seen[0] && seen[1]
}

// exchanged is a record in which something is that of the next one of the same shape; nil if there is none, or if
// nothing differs.
func exchanged(records []*space.Record, i int, q question) *space.Record {
	mine := records[i].Values[q.field]
	for k := 1; k < len(records); k++ {
		theirs := records[(i+k)%len(records)].Values[q.field]
		if theirs.Form() != mine.Form() || !slices.Equal(theirs.Dims(), mine.Dims()) {
			continue
		}
		v := theirs
		if q.rows != nil {
			rows := q.rows(records[i])
			from, to := space.RowsOf(theirs), space.RowsOf(mine.Clone())
			if from == nil || to == nil || len(rows) != to.N {
				return nil
			}
			for r, take := range rows {
				if take {
					copy(to.Row(r), from.Row(r))
				}
			}
			v = to
		}
		if slices.Equal(v.Numbers(), mine.Numbers()) {
			continue
		}
		out := &space.Record{Names: records[i].Names, Values: slices.Clone(records[i].Values)}
		out.Values[q.field] = v
		return out
	}
	return nil
}

func report(p *audit.Pass, r *Result, floor float64) {
	t := &audit.Table{Columns: []audit.Column{
		{Name: "exchanged"},
		{Name: "change of the answer", Doc: "mean over inputs"},
		{Name: "largest"},
		{Name: "answer"},
	}}
	for _, a := range r.Asked {
		answer := "counts"
		if a.Most <= floor { // false for NaN
			answer = "does not count"
			p.Report(audit.Finding{
				Category: audit.Explanation, Location: a.What, Worst: audit.Nowhere,
				Message: fmt.Sprintf("No answer depends on the %s: that of another sample in its place changes "+
					"answers by at most %s. What the claim says of it holds whatever the model does, so nothing was "+
					"shown of it.", a.What, audit.Figures(a.Most)),
				Evidence: []audit.Evidence{
					audit.Measured("change of the answer with another "+a.What, a.Change, "").Against(floor),
				},
				Remedies: []string{
					"if the answer should depend on it, look at where the model loses it, such as by a mask or a " +
						"pooling",
					"or leave it out of the study's input",
				},
			})
		}
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(a.What), audit.Num(a.Change.Value), audit.Num(a.Most), audit.Word(answer),
		})
	}
	p.Show(audit.Exhibit{
		Name: "uses", Title: "What the answers depend on", Table: t,
		Note: "Each is exchanged for that of another sample while all else is kept. Relative to the scale of the " +
			"outputs.",
	})
	p.Measure(audit.Number("inputs and rows exchanged", float64(len(r.Asked)), ""))
}

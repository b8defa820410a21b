// Package company is the check of strange company in a batch.
package company

import (
	"context"
	"errors"
	"fmt"

	"nero/audit"
	"nero/audit/kit/stress"
	"nero/data/space"
)

// Check is the company check. Its result is a [*stress.Result].
var Check = &audit.Check{
	Name:  "company",
	Title: "Strange company in a batch",
	Doc: `Company asks whether strange company in a batch changes an answer.

One input is put among zeros, among constants, among copies of itself and among inputs a thousand times brighter, at one place of a batch of one size.
That catches leaks which ordinary company hides; preflight asks about places, sizes and ordinary company.`,
	Family:   stress.Family,
	Params:   []audit.Param{stress.Samples},
	Requires: stress.Requires(),
	Optional: true,
	Anew:     true,
	Views:    true,
	Run:      run,
	Work:     stress.Work(func(*audit.Pass) int { return 10 }),
}

// leastBatch is the size of the batches in which company is changed.
const leastBatch = 4

// run puts each input among strange ones, at one place of a batch of one size.
func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	if len(t.Still) < 2 {
		return nil, fmt.Errorf("%w: one input has no other one for company", audit.ErrNotApplicable)
	}
	n := max(leastBatch, len(t.Still))
	// fill is a batch that holds x at a place and something else everywhere else.
	fill := func(x space.Value, at int, other func(k int) (space.Value, error)) ([]space.Value, error) {
		batch := make([]space.Value, n)
		for k := range batch {
			if k == at {
				batch[k] = x
				continue
			}
			v, err := other(k)
			if err != nil {
				return nil, err
			}
			batch[k] = v
		}
		return batch, nil
	}
	through := func(batch []space.Value) ([]space.Value, error) {
		y, err := p.PredictBatch(ctx, n, batch)
		if errors.Is(err, errors.ErrUnsupported) {
			return p.PredictBatch(ctx, 0, batch)
		}
		return y, err
	}
	ordinary := func(i int) func(int) (space.Value, error) {
		return func(k int) (space.Value, error) { return t.Still[(i+1+k)%len(t.Still)], nil }
	}
	kinds := []struct {
		name  string
		other func(i int) func(int) (space.Value, error)
	}{
		{"zeros", func(i int) func(int) (space.Value, error) {
			return func(int) (space.Value, error) { return stress.Changed(t.Still[i], stress.Times(0), t.Whole...) }
		}},
		{"constants", func(i int) func(int) (space.Value, error) {
			return func(int) (space.Value, error) { return stress.Changed(t.Still[i], stress.Constant, t.Whole...) }
		}},
		{"copies of itself", func(i int) func(int) (space.Value, error) {
			return func(int) (space.Value, error) { return t.Still[i], nil }
		}},
		{"inputs a thousand times brighter", func(i int) func(int) (space.Value, error) {
			return func(k int) (space.Value, error) {
				return stress.Changed(t.Still[(i+1+k)%len(t.Still)], stress.Times(1000), t.Whole...)
			}
		}},
	}
	var w stress.Worst
	for i := range min(2, len(t.Still)) {
		at := i + 1 // neither first nor last
		batch, err := fill(t.Still[i], at, ordinary(i))
		if err != nil {
			return nil, err
		}
		y, err := through(batch)
		if err != nil {
			return nil, err
		}
		base := y[at]
		for _, k := range kinds {
			if batch, err = fill(t.Still[i], at, k.other(i)); errors.Is(err, errors.ErrUnsupported) {
				return nil, fmt.Errorf("%w: %w", audit.ErrNotApplicable, err)
			} else if err != nil {
				return nil, err
			}
			if y, err = through(batch); err != nil {
				return nil, err
			}
			w.Add(t.Apart(y[at], base), i, -1, k.name)
		}
	}
	limit := max(t.Floor, t.Rounding)
	p.Measure(audit.Number("changes in strange company", w.E, "").Against(limit))
	q := stress.Result{
		Answer: stress.Held(w.E, limit), Error: w.E, Limit: limit,
		Text: fmt.Sprintf("among zeros, constants, copies and bright inputs an answer changes by at most %.2g", w.E),
	}
	clue := audit.Clue{
		Name: audit.ClueBatchCompany, Holds: q.Answer == stress.Broken, Strength: 1, Text: q.Text,
		Evidence: []audit.Evidence{audit.Number("change of an answer", w.E, "").Against(limit)},
	}
	if clue.Holds {
		clue.Text = fmt.Sprintf("among %s the answer to sample %s changes by %.2g of its scale", w.Text,
			t.IDs[w.Sample], w.E)
		q.Text = clue.Text
		p.Report(audit.Finding{
			Category: audit.BatchDependent, Location: "model", Worst: t.Where(w.Sample, -1), Message: clue.Text,
			Evidence: clue.Evidence,
			Remedies: []string{
				"export batch normalisation in evaluation form",
				"look for a mean, a maximum or a reshape that mixes the batch axis",
			},
		})
	}
	p.Clue(clue)
	q.Show(p)
	return &q, nil
}

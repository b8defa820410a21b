package stress

import (
	"context"
	"errors"
	"fmt"

	"nero/audit"
	"nero/data/space"
)

// leastBatch is the size of the batches in which company is changed.
const leastBatch = 4

// askCompany puts each input among strange ones, at one place of a batch of one size.
func (t *tester) askCompany(ctx context.Context) error {
	p := t.p
	if len(t.still) < 2 {
		t.skip(Company, "one input has no other one for company")
		return nil
	}
	n := max(leastBatch, len(t.still))
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
		return func(k int) (space.Value, error) { return t.still[(i+1+k)%len(t.still)], nil }
	}
	kinds := []struct {
		name  string
		other func(i int) func(int) (space.Value, error)
	}{
		{"zeros", func(i int) func(int) (space.Value, error) {
			return func(int) (space.Value, error) { return changed(t.still[i], times(0), t.whole...) }
		}},
		{"constants", func(i int) func(int) (space.Value, error) {
			return func(int) (space.Value, error) { return changed(t.still[i], constant, t.whole...) }
		}},
		{"copies of itself", func(i int) func(int) (space.Value, error) {
			return func(int) (space.Value, error) { return t.still[i], nil }
		}},
		{"inputs a thousand times brighter", func(i int) func(int) (space.Value, error) {
			return func(k int) (space.Value, error) {
				return changed(t.still[(i+1+k)%len(t.still)], times(1000), t.whole...)
			}
		}},
	}
	var w worst
	for i := range min(2, len(t.still)) {
		at := i + 1 // neither first nor last
		batch, err := fill(t.still[i], at, ordinary(i))
		if err != nil {
			return err
		}
		y, err := through(batch)
		if err != nil {
			return err
		}
		base := y[at]
		for _, k := range kinds {
			if batch, err = fill(t.still[i], at, k.other(i)); errors.Is(err, errors.ErrUnsupported) {
				t.skip(Company, err.Error())
				return nil
			} else if err != nil {
				return err
			}
			if y, err = through(batch); err != nil {
				return err
			}
			w.add(t.apart(y[at], base), i, -1, k.name)
		}
	}
	limit := max(t.floor, t.rounding)
	p.Measure(audit.Number("changes in strange company", w.e, "").Against(limit))
	q := Question{
		Name: Company, Answer: held(w.e, limit), Error: w.e, Limit: limit,
		Text: fmt.Sprintf("among zeros, constants, copies and bright inputs an answer changes by at most %.2g", w.e),
	}
	clue := audit.Clue{
		Name: audit.ClueBatchCompany, Holds: q.Answer == Broken, Strength: 1, Text: q.Text,
		Evidence: []audit.Evidence{audit.Number("change of an answer", w.e, "").Against(limit)},
	}
	if clue.Holds {
		clue.Text = fmt.Sprintf("among %s the answer to sample %s changes by %.2g of its scale", w.text,
			t.ids[w.sample], w.e)
		q.Text = clue.Text
		p.Report(audit.Finding{
			Category: audit.BatchDependent, Location: "model", Worst: t.where(w.sample, -1), Message: clue.Text,
			Evidence: clue.Evidence,
			Remedies: []string{
				"export batch normalisation in evaluation form",
				"look for a mean, a maximum or a reshape that mixes the batch axis",
			},
		})
	}
	p.Clue(clue)
	t.answer(q)
	return nil
}

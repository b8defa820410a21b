package stress

import (
	"context"
	"errors"
	"fmt"
	"math"

	"nero/audit"
	"nero/data/space"
)

// mostValues bounds how many inputs the other engine is sent at once.
const mostValues = 32

// order is what summing in another order may do to an output, relative to the scale: about a hundred float32 roundings.
const order = 1e-5

// askEngines compares the model with itself on another engine.
func (t *tester) askEngines(ctx context.Context) error {
	s := t.p.Subject
	if s.Twin == nil {
		why := s.NoTwin
		if why == "" {
			why = "there is no other engine to run the model on"
		}
		t.skip(Engines, why)
		return nil
	}
	var values, here []space.Value
	type place struct{ sample, element int }
	var at []place
	for i, x := range t.raw {
		values, here, at = append(values, t.still[i]), append(here, t.base[i]), append(at, place{i, -1})
		for _, j := range t.exact {
			gx, err := s.Plan.In.Apply(t.p.Elements[j].G, x)
			if err != nil {
				return fmt.Errorf("sample %s at %s: %w", t.ids[i], t.label(j), err)
			}
			y, err := t.predict(ctx, []space.Value{gx})
			if err != nil {
				return err
			}
			values, here, at = append(values, gx), append(here, y[0]), append(at, place{i, j})
		}
	}
	var w worst
	for k := 0; k < len(values); k += mostValues {
		n := min(mostValues, len(values)-k)
		there, err := s.Twin.Predict(ctx, values[k:k+n])
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, audit.ErrUntested), err != nil:
			t.skip(Engines, fmt.Sprintf("on %s: %v", t.twin(), err))
			return nil
		case len(there) != n:
			t.skip(Engines, fmt.Sprintf("%s gave %d predictions for %d inputs", t.twin(), len(there), n))
			return nil
		}
		for i, y := range there {
			a := at[k+i]
			w.add(t.apart(t.unit(y), here[k+i]), a.sample, a.element, "")
		}
		t.p.Progress(n)
	}
	limit := max(t.floor, order, t.p.Policy.Threshold) // below the threshold it changes no verdict
	if t.sw.Mask {
		limit = t.p.Policy.Threshold // of labels, a share of pixels
	}
	ev := []audit.Evidence{audit.Number("outputs of both engines differ by at most", w.e, "").Against(limit)}
	t.p.Measure(ev...)
	q := Question{
		Name: Engines, Answer: held(w.e, limit), Error: w.e, Limit: limit,
		Text: fmt.Sprintf("%s differs by at most %.2g on %d inputs", t.twin(), w.e, len(values)),
	}
	t.p.Clue(audit.Clue{Name: audit.ClueEngines, Holds: q.Answer == Broken, Strength: 1, Text: q.Text, Evidence: ev})
	if q.Answer == Broken {
		message := fmt.Sprintf("two engines disagree by %.2g of the scale of the outputs, rounding explains %.2g", w.e,
			limit)
		if math.IsNaN(w.e) {
			message = "on one of two engines an output is not finite"
		}
		t.p.Report(audit.Finding{
			Category: audit.Engines, Location: "engine", Worst: t.where(w.sample, w.element), Message: message,
			Evidence: ev,
			Remedies: []string{
				"compare the engines layer by layer: nero compare",
				"check resize modes, padding and quantisation of the export",
			},
		})
	}
	t.answer(q)
	return nil
}

func (t *tester) twin() string {
	if t.p.Subject.TwinName != "" {
		return t.p.Subject.TwinName
	}
	return "the other engine"
}

// unit brings scores of the other engine to the unit in which the audit compares them.
func (t *tester) unit(v space.Value) space.Value {
	s, ok := v.(*space.Scores)
	if !ok {
		return v
	}
	if t.p.Subject.OutputUnit == audit.Probabilities {
		if s.Probabilities {
			return &space.Scores{Val: s.Val, Probabilities: true}
		}
		return audit.Softmax(s)
	}
	return &space.Scores{Val: s.Output(), Probabilities: s.Raw == nil && s.Probabilities}
}

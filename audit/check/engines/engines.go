// Package engines is the check of a model against itself on another engine.
package engines

import (
	"context"
	"errors"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/kit/stress"
	"nero/data/space"
)

// Check is the engines check. Its result is a [*stress.Result].
var Check = &audit.Check{
	Name:  "engines",
	Title: "Other engines",
	Doc: `Engines asks whether another engine gives the same answers.

The same inputs run on both, unmoved and moved by exact elements. Engines sum in other orders, so differences up to the rounding floor times its factor, and
up to 1e-5 of the scale in any case, are rounding.`,
	Family:   stress.Family,
	Params:   []audit.Param{stress.Samples, stress.Elements},
	Requires: stress.Requires(),
	Optional: true,
	Views:    true,
	Run:      run,
	Work:     stress.Work(func(p *audit.Pass) int { return 2 * (1 + int(p.Param("elements"))) }),
	Price: stress.Work(func(p *audit.Pass) int {
		return (1 + audit.PriceTwin) * (1 + int(p.Param("elements")))
	}),
}

// mostValues bounds how many inputs the other engine is sent at once.
const mostValues = 32

// order is what summing in another order may do to an output, relative to the scale: about a hundred float32 roundings.
const order = 1e-5

// run compares the model with itself on another engine.
func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	s := p.Subject
	if s.Twin == nil {
		why := s.NoTwin
		if why == "" {
			why = "there is no other engine to run the model on"
		}
		return nil, fmt.Errorf("%w: %s", audit.ErrUntested, why)
	}
	base, err := t.Base(ctx)
	if err != nil {
		return nil, err
	}
	var values, here []space.Value
	type place struct{ sample, element int }
	var at []place
	for i, x := range t.Raw {
		values, here, at = append(values, t.Still[i]), append(here, base[i]), append(at, place{i, -1})
		for _, j := range t.Exact {
			gx, err := s.Plan.In.Apply(p.Elements[j].G, x)
			if err != nil {
				return nil, fmt.Errorf("sample %s at %s: %w", t.IDs[i], t.Label(j), err)
			}
			y, err := t.Predict(ctx, []space.Value{gx})
			if err != nil {
				return nil, err
			}
			values, here, at = append(values, gx), append(here, y[0]), append(at, place{i, j})
		}
	}
	var w stress.Worst
	for k := 0; k < len(values); k += mostValues {
		n := min(mostValues, len(values)-k)
		there, err := s.Twin.Predict(ctx, values[k:k+n])
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, audit.ErrUntested), err != nil:
			return nil, fmt.Errorf("%w: on %s: %s", audit.ErrUntested, twin(s), err.Error())
		case len(there) != n:
			return nil, fmt.Errorf("%w: %s gave %d predictions for %d inputs", audit.ErrUntested, twin(s), len(there),
				n)
		}
		for i, y := range there {
			a := at[k+i]
			w.Add(t.Apart(unit(s, y), here[k+i]), a.sample, a.element, "")
		}
		p.Progress(n)
	}
	limit := max(t.Floor, order, p.Policy.Threshold) // below the threshold it changes no verdict
	if t.Sweep.Mask {
		limit = p.Policy.Threshold // of labels, a share of pixels
	}
	ev := []audit.Evidence{audit.Number("outputs of both engines differ by at most", w.E, "").Against(limit)}
	p.Measure(ev...)
	q := stress.Result{
		Answer: stress.Held(w.E, limit), Error: w.E, Limit: limit,
		Text: fmt.Sprintf("%s differs by at most %.2g on %d inputs", twin(s), w.E, len(values)),
	}
	p.Clue(audit.Clue{
		Name: audit.ClueEngines, Holds: q.Answer == stress.Broken, Strength: 1, Text: q.Text,
		Evidence: ev,
	})
	if q.Answer == stress.Broken {
		message := fmt.Sprintf("two engines disagree by %.2g of the scale of the outputs, rounding explains %.2g", w.E,
			limit)
		if math.IsNaN(w.E) {
			message = "on one of two engines an output is not finite"
		}
		p.Report(audit.Finding{
			Category: audit.Engines, Location: "engine", Worst: t.Where(w.Sample, w.Element), Message: message,
			Evidence: ev,
			Remedies: []string{
				"compare the engines layer by layer: nero compare",
				"check resize modes, padding and quantisation of the export",
				"look for a step that magnifies rounding, such as a normalization over values that hardly differ: a " +
					"larger epsilon makes the model well-conditioned, and its answers the same on every engine",
			},
		})
	}
	q.Show(p)
	return &q, nil
}

// twin is the name of the other engine.
func twin(s *audit.Subject) string {
	if s.TwinName != "" {
		return s.TwinName
	}
	return "the other engine"
}

// unit brings scores of the other engine to the unit in which the audit compares them.
func unit(subject *audit.Subject, v space.Value) space.Value {
	s, ok := v.(*space.Scores)
	if !ok {
		return v
	}
	if subject.OutputUnit == audit.Probabilities {
		if s.Probabilities {
			return &space.Scores{Val: s.Val, Probabilities: true}
		}
		return audit.Softmax(s)
	}
	return &space.Scores{Val: s.Output(), Probabilities: s.Raw == nil && s.Probabilities}
}

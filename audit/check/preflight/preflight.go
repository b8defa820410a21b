// Package preflight is the check that comes before all others: does the model answer at all, twice the same, whatever
// stands next to an input in a batch, and are the actions of the claim actions?
package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/group"
)

// Check is the preflight check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "preflight",
	Title: "Sanity checks",
	Doc: `Preflight asks whether the audit can mean anything. A few inputs, unmoved, go through the model: outputs must be finite and of one
form; the same inputs again give the run-to-run floor, in other places and sizes of a batch the batch floor. Place, company and size are also
changed one at a time: the same inputs in reverse, other inputs around one that keeps its place, one alone against copies of itself. Batches
of 1, 2, 4, 8 and so on must all give finite outputs. The actions on both sides must
be representations, ρ(e) = 1, ρ(g⁻¹)ρ(g) = 1 and ρ(g)ρ(h) = ρ(gh): exact elements index by index wherever no content crosses
the border, resampled ones on a smooth blob up to half its size, which tells a wrong action from a lossy one.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs, spread over the data.", Default: 8, Min: 1, Max: 1000},
		{Name: "repeats", Doc: "How many more times each input is predicted.", Default: 3, Min: 1, Max: 1000},
		{Name: "batch", Doc: "Largest batch whose outputs must be finite.", Default: 32, Min: 1, Max: 1024},
	},
	Anew:  true,
	Views: true,
	Run:   run,
	Work: func(p *audit.Pass) int {
		rounds := 2 + int(p.Param("repeats"))
		if _, ok := p.Subject.Predictor.(audit.BatchPredictor); ok {
			rounds += 2
		}
		n := min(int(p.Param("samples")), p.Subject.N)
		work := n*rounds + parts(n)
		for _, size := range growing(p) {
			work += size
		}
		return work
	},
}

// Result is what the floors are before the scale of the outputs is known.
type Result struct {
	// largest ‖difference‖ between repeats, in the unit of the output
	Repeat float64
	// largest ‖difference‖ with place and size of the batch, in the unit of the output
	Batch float64
	// what is wrong with the actions; "" if nothing was found
	Laws string
	// Place, Company and Size are the largest ‖difference‖ when one of them alone changes; NaN where there were too few
	// inputs to tell.
	Place, Company, Size float64
	// NotFinite are the sizes of batches whose outputs are not finite although those of other sizes are.
	NotFinite []int
	// the sample that shows the largest difference between "repeats" and of "place", "company", "size"
	Worst map[string]audit.Where
}

// largest is the largest difference between two lists of outputs and its index, -1 if there is none. Outputs that are
// not finite do not count: they are reported as such.
func largest(p *audit.Pass, a, b []space.Value) (most float64, at int, err error) {
	at = -1
	for i := range a {
		d, err := p.Compare(a[i], b[i])
		if err != nil {
			return 0, -1, err
		}
		if d.Norm > most {
			most, at = d.Norm, i
		}
	}
	return most, at, nil
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	in := audit.NewMover(p.Subject.Plan.In, p.Subject.Plan.Group.Identity())
	var values []space.Value
	var still space.Value // the first input before anything is done to it
	var ids []string
	pick := p.Pick(int(p.Param("samples")))
	for _, i := range pick {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		if still == nil {
			still = s.Value
		}
		v, err := in.Move(s.Value)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		values, ids = append(values, v), append(ids, s.ID)
	}
	first, err := p.PredictBatch(ctx, 0, values)
	if err != nil {
		return nil, err
	}
	where := func(i int) audit.Where { return audit.Where{Sample: ids[i], Index: pick[i]} }
	finite := audit.Clue{
		Name: audit.ClueNonFinite, Strength: 1,
		Text: fmt.Sprintf("the outputs of %d inputs, unmoved, are finite", len(first)),
	}
	for i, y := range first {
		ok := space.Finite(y)
		if !ok {
			p.Report(audit.Finding{
				Category: audit.NonFinite, Location: "output", Worst: where(i),
				Message:  "the output is not finite for sample " + ids[i] + ", unmoved",
				Evidence: []audit.Evidence{audit.Number("sample", float64(pick[i]), "")},
				Remedies: []string{"look for an overflow, a root of 0 or a division by the norm of a zero vector in " +
					"the model"},
			})
			finite.Holds, finite.Location = true, where(i).String()
			finite.Text = "the output is not finite for sample " + ids[i] + ", unmoved"
			break
		}
	}
	p.Clue(finite)
	for i, y := range first {
		if a, b := first[0].Form(), y.Form(); space.Style(first[0]) != space.Style(y) {
			p.Report(audit.Finding{
				Category: audit.Shape, Location: "output", Worst: where(i),
				Message:  fmt.Sprintf("the output is %s for sample %s and %s for sample %s", a, ids[0], b, ids[i]),
				Evidence: []audit.Evidence{audit.Number("sample", float64(pick[i]), "")},
				Remedies: []string{"fix the output shape of the model, or audit inputs of one size"},
			})
			return nil, fmt.Errorf("%w: outputs of different form cannot be compared", audit.ErrUntested)
		}
	}
	r := &Result{Worst: map[string]audit.Where{}}
	for range int(p.Param("repeats")) {
		again, err := p.PredictBatch(ctx, 0, values)
		if err != nil {
			return nil, err
		}
		d, at, err := largest(p, first, again)
		if err != nil {
			return nil, err
		}
		if d > r.Repeat {
			r.Repeat, r.Worst["repeats"] = d, where(at)
		}
	}
	if r.Batch, err = batches(ctx, p, values, first); err != nil {
		return nil, err
	}
	if err := r.apart(ctx, p, values, where); err != nil {
		return nil, err
	}
	for _, x := range []float64{r.Place, r.Company, r.Size} {
		if x > r.Batch {
			r.Batch = x
		}
	}
	if err := r.grow(ctx, p, values, first, where); err != nil {
		return nil, err
	}
	p.Measure(audit.Number("repeats differ by at most", r.Repeat, "output"),
		audit.Number("batches differ by at most", r.Batch, "output"))
	// A difference of outputs that are not finite is not known.
	unknown := slices.ContainsFunc(first, func(y space.Value) bool { return !space.Finite(y) })
	if r.Repeat == 0 && r.Batch == 0 && !unknown {
		p.Repeats()
	}
	if group.IsLawless(p.Subject.Plan.Group) {
		p.Say("The views are given, no laws: somebody has listed them, and invariance is all that is claimed.")
		return r, nil
	}
	if r.Laws, err = laws(p, still, first[0]); err != nil {
		return nil, err
	}
	p.Clue(lawClue(p, r.Laws))
	return r, nil
}

// lawClue says whether the actions are representations.
func lawClue(p *audit.Pass, broken string) audit.Clue {
	c := audit.Clue{
		Name: audit.ClueActionLaw, Strength: 1, Holds: broken != "",
		Text: fmt.Sprintf("ρ(e) = 1, ρ(g⁻¹)ρ(g) = 1 and ρ(g)ρ(h) = ρ(gh) hold at %d elements", len(choose(p.Elements))),
	}
	if c.Holds {
		c.Text, c.Location = broken, "action"
	}
	return c
}

// batches predicts the same inputs in reverse and in other batch sizes and returns the largest change.
func batches(ctx context.Context, p *audit.Pass, values, first []space.Value) (float64, error) {
	back := slices.Clone(values)
	slices.Reverse(back)
	var most float64
	for _, size := range []int{0, 1, 3} {
		out, err := p.PredictBatch(ctx, size, back)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			return 0, err
		}
		slices.Reverse(out)
		d, _, err := largest(p, first, out)
		if err != nil {
			return 0, err
		}
		most = max(most, d)
	}
	return most, nil
}

// Package stress is the check of what an audit on ordinary inputs does not meet: the laws of the group carried through
// the model, strange inputs and strange company in a batch, another engine, the border of a map, shifts, and other
// sizes.
package stress

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/preflight"
	"nero/audit/check/sweep"
	"nero/audit/check/tangent"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the stress check. Its result is a [*Result].
var Check = &audit.Check{
	Name: "stress",
	Doc: `Stress asks what ordinary inputs do not ask, a few predictions each. Its questions are:

laws: f(ρ(g)ρ(h)x) against f(ρ(gh)x), f(ρ(g⁻¹)ρ(g)x) against f(x), f(ρ(e)x) against f(x), and a full turn of every periodic coordinate, through the
model. Exact pairs must agree to rounding wherever no content is lost at the border; resampled ones are held against the floor of moving there and back.

ends: whether the error at the ends of the plan's range is larger than within.

company: one input among zeros, among constants, among copies of itself and among inputs a thousand times brighter, at one place of a batch of one
size. That catches leaks which ordinary company hides; preflight asks about places, sizes and ordinary company.

engines: the same inputs on another engine, unmoved and moved by exact elements. Engines sum in other orders, so differences up to the rounding floor times
its factor, and up to 1e-5 of the scale in any case, are rounding.

border: where on a map the error |z - f| lies. An error of a band along the border, or along the seam that a roll tears, is told from one that is
everywhere; for an output without places, the content of the input is kept away from the border instead.

shifts: whole shifts of 1 to 8 pixels along each axis, whatever the group: a probe, not part of the claim. The content is kept away from the border. An
error that vanishes at every k-th shift and at no other shows strides. Where the study moves a crop window, the window takes all places within its reach
along each axis, whatever the elements of the study; the medians of the change over all pairs of places so far apart show the period, though real content
comes in at the edges. Boxes near an edge of a window are left out, and the period is held against the strides of the graph.

extremes: blank, constant, single-pixel, saturated and tied inputs, inputs a thousand and a million times as bright and a thousandth, at exact
elements. An output that is not finite for such an input is a stress finding and no more: no model is made for it.

sizes: exact elements at larger and smaller pictures, odd and even, where the model takes them.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs of each question, spread over the data.", Default: 4, Min: 2, Max: 1000},
		{Name: "elements", Doc: "Elements of each question.", Default: 4, Min: 1, Max: 1000},
		{Name: "shift", Doc: "Largest shift of the shift sweep.", Unit: "px", Default: 8, Min: 2, Max: 64},
		{
			Name: "window", Doc: "Largest shift of the sweep of a crop window, as far as the pictures have room for it.",
			Unit: "px", Default: 64, Min: 4, Max: 256,
		},
		{Name: "sizes", Doc: "How many larger and how many smaller sizes are tried.", Default: 4, Min: 0, Max: 64},
	},
	Requires: []*audit.Check{preflight.Check, sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
	Work:     work,
}

// The questions.
const (
	Laws     = "laws"
	Ends     = "ends"
	Company  = "company"
	Engines  = "engines"
	Border   = "border"
	Shifts   = "shifts"
	Extremes = "extremes"
	Sizes    = "sizes"
)

// What a question came to.
const (
	Holds    = "holds"
	Broken   = "broken"
	Measured = "measured" // a number without a limit
	Untested = "not tested"
)

// Question is one sub-question and its answer.
type Question struct {
	Name string
	// one of Holds, Broken, Measured and Untested
	Answer string
	// the largest, relative to the scale of the outputs; NaN if there is none
	Error float64
	// NaN if there is none
	Limit float64
	// what was seen, or why it was not tested
	Text string
}

// Result is what stress showed.
type Result struct {
	Questions []Question
	// Period is that of the error over shifts down and across, in pixels: 1 for none, 0 where it is not known.
	Period [2]int
	// Band is the width of the band of a map that holds the error, in pixels; 0 if there is none.
	Band int
	// Sizes are those that were tried, and whether the exact elements hold there.
	Sizes map[int]bool
}

// Of is the answer to a question; ok is false if it was not asked.
func (r *Result) Of(name string) (q Question, ok bool) {
	for _, q := range r.Questions {
		if q.Name == name {
			return q, true
		}
	}
	return Question{}, false
}

// tester holds what every question needs.
type tester struct {
	p     *audit.Pass
	sw    *sweep.Result
	r     *Result
	scale float64
	// up to which an error is rounding or the model's own noise
	floor    float64
	rounding float64
	// what is wrong with the actions
	laws string
	// fields of whole numbers, that stay
	whole []string
	// elements of the audit that do not resample, a few
	exact []int
	// and that do
	resample []int
	ids      []string
	index    []int
	// the samples
	raw []space.Value
	// ρ(e)x
	still []space.Value
	// f(ρ(e)x)
	base []space.Value
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	c := audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary, so there is nothing to hold an error against",
			audit.ErrUntested)
	}
	t := &tester{
		p: p, sw: audit.ResultOf[*sweep.Result](p, sweep.Check), r: &Result{Sizes: map[int]bool{}},
		laws: audit.ResultOf[*preflight.Result](p, preflight.Check).Laws, whole: tangent.Whole(p.Subject),
	}
	t.scale = t.sw.Scale
	t.rounding = p.Policy.RoundingFactor * max(c.Floors.Rounding, 0)
	t.floor = max(t.rounding, p.Policy.NoiseFactor*max(c.Floors.Repeat, c.Floors.Batch, 0))
	for _, j := range p.PickElements(int(p.Param("elements"))) {
		if p.Elements[j].Exact {
			t.exact = append(t.exact, j)
		} else {
			t.resample = append(t.resample, j)
		}
	}
	if err := t.samples(ctx); err != nil {
		return nil, err
	}
	for _, ask := range []func(context.Context) error{
		t.askLaws, t.askEnds, t.askCompany, t.askEngines, t.askBorder, t.askShifts, t.askExtremes, t.askSizes,
	} {
		if err := ask(ctx); err != nil {
			return nil, err
		}
	}
	t.show()
	return t.r, nil
}

// work is about how many predictions are asked for.
func work(p *audit.Pass) int {
	n, e := min(int(p.Param("samples")), p.Subject.N), int(p.Param("elements"))
	w := n + 6*n*e + 6*n + n*(1+e) + n*(1+2*int(p.Param("shift"))) + len(extremes)*2*(1+e)
	if p.Subject.Interior != nil {
		w += 2 * int(p.Param("sizes")) * n * (1 + e)
	}
	return w
}

// samples reads the inputs and their answers.
func (t *tester) samples(ctx context.Context) error {
	identity := audit.NewMover(t.p.Subject.Plan.In, t.p.Subject.Plan.Group.Identity())
	for _, i := range t.p.Pick(int(t.p.Param("samples"))) {
		s, err := t.p.Sample(i)
		if err != nil {
			return err
		}
		x, err := identity.Move(s.Value)
		if err != nil {
			return fmt.Errorf("sample %s: %w", s.ID, err)
		}
		t.ids, t.index = append(t.ids, s.ID), append(t.index, i)
		t.raw, t.still = append(t.raw, s.Value), append(t.still, x)
	}
	var err error
	t.base, err = t.predict(ctx, t.still)
	return err
}

// predict is a list of inputs through the model, in chunks of the audit.
func (t *tester) predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	out := make([]space.Value, 0, len(values))
	stream := func(yield func(audit.Request, error) bool) {
		for _, v := range values {
			if !yield(audit.Request{Input: v}, nil) {
				return
			}
		}
	}
	err := t.p.Predict(ctx, stream, func(_ audit.Request, y space.Value) error {
		out = append(out, y)
		return nil
	})
	return out, err
}

// apart is ‖a - b‖/s; NaN if a number is not finite, +Inf for values of different form.
func (t *tester) apart(a, b space.Value) float64 {
	d, err := t.p.Compare(a, b)
	if err != nil {
		return math.Inf(1)
	}
	return d.Norm / t.scale
}

// label is element j for people.
func (t *tester) label(j int) string { return t.p.Elements[j].Label }

func (t *tester) where(i, j int) audit.Where {
	w := audit.Where{Sample: t.ids[i], Index: t.index[i]}
	if j >= 0 {
		w.Element, w.Label = t.p.Elements[j].G, t.p.Elements[j].Label
	}
	return w
}

// answer writes down the answer to a question.
func (t *tester) answer(q Question) { t.r.Questions = append(t.r.Questions, q) }

// skip writes down that a question was not answered.
func (t *tester) skip(name, why string) {
	t.answer(Question{Name: name, Answer: Untested, Error: math.NaN(), Limit: math.NaN(), Text: why})
}

// held is Holds or Broken; NaN never holds.
func held(e, limit float64) string {
	if e <= limit {
		return Holds
	}
	return Broken
}

// show writes the table of questions.
func (t *tester) show() {
	table := &audit.Table{Columns: []audit.Column{
		{Name: "question"},
		{Name: "answer"},
		{Name: "error", Doc: "largest, relative to the scale of the outputs"},
		{Name: "limit"},
		{Name: "what was seen"},
	}}
	tested := 0
	for _, q := range t.r.Questions {
		table.Rows = append(table.Rows, []audit.Cell{
			audit.Word(q.Name), audit.Word(q.Answer), audit.Num(q.Error),
			audit.Num(q.Limit), audit.Word(q.Text),
		})
		if q.Answer != Untested {
			tested++
		}
	}
	t.p.Show(audit.Exhibit{
		Name: "questions", Title: "What unusual inputs do",
		Note: "Questions that could not be asked say why.", Table: table,
	})
	t.p.Measure(audit.Number("stress questions answered", float64(tested), fmt.Sprintf("of %d", len(t.r.Questions))))
}

// worst keeps the largest of errors and where it was; NaN counts as larger than any number.
type worst struct {
	e       float64
	sample  int
	element int
	text    string
	n       int
}

func (w *worst) add(e float64, sample, element int, text string) {
	w.n++
	if w.n == 1 || e > w.e || (math.IsNaN(e) && !math.IsNaN(w.e)) {
		w.e, w.sample, w.element, w.text = e, sample, element, text
	}
}

// same reports whether two values are equal number for number.
func same(a, b space.Value) bool {
	d, err := audit.Compare(a, b)
	return err == nil && d.Max == 0
}

// loses reports whether moving x by g and back gives something else than x: content crosses the border, or numbers are
// resampled.
func loses(in action.Action, g group.Element, x space.Value) (bool, error) {
	y, err := in.Apply(g, x)
	if err != nil {
		return false, err
	}
	if audit.Form(y) != audit.Form(x) {
		return true, nil
	}
	if y, err = in.Apply(in.Group().Inv(g), y); err != nil {
		return false, err
	}
	return !same(x, y), nil
}

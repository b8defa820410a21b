// Package audit asks whether a model is as symmetric as somebody claims, and says how far its answer can be trusted.
//
// An audit is a list of checks. A [Check] is a documented constant value with parameters and requirements; it measures
// and reports findings and the error of sets of elements, each with its floors, its interval and its worst case, and
// has no opinion on how bad they are. A [Policy] turns what was measured into a [Verdict]. The driver [Run] puts the
// checks in order, feeds the model in batches, and returns a [Report]; [Document] says it as plain data, which
// audit/render writes in the forms that people and programs read.
//
// The checks themselves live in packages audit/check/NAME; audit/check lists those that a program is built with. The
// kit for testing a check, with models whose error is known in closed form, is audit/audittest.
//
// Words: the pull-back is z(g,x) = ρ_out(g)⁻¹ f(ρ_in(g) x), the error e(x,g) is the Euclidean norm of z(g,x) - f(x)
// over all components of the output, and the relative error divides it by s, the centred scale of the output over the
// inputs, s² = E_x ‖f(x) - E f‖². f(x) itself is f(ρ_in(e) x): the identity goes through the same path as every other
// element.
package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"nero/symmetry/group"
)

// Check is one question that an audit asks. It is a constant value: name, help, order and documentation come from here.
type Check struct {
	// lower-case letters, digits and dashes, such as "endtoend"
	Name string
	// what reports call it, in a few words such as "Sanity checks"; "" for its name
	Title string
	// the question and the rule; the first sentence is the summary
	Doc string
	// Family is a name under which several checks are chosen, left out, required and set together, such as "stress";
	// "" for a check that stands alone. It is no check's name.
	Family string
	// what a caller may set
	Params []Param
	// run before this one; their results are at hand through [ResultOf]
	Requires []*Check
	// Optional says that the check explains or extends what others judge. That it could not run is said and does not
	// stand in the way of PASS, unless the policy requires it.
	Optional bool
	// run before this one if they are part of the audit; what they found is at hand through [ResultIf]
	Uses []*Check
	// Views says that the question arises of given views, too, see [group.Lawless]: it needs no product, no inverse and
	// no input that nobody has listed.
	Views bool
	// Anew says that the check asks whether answers repeat, or lays the ground for others: every input goes through the
	// model, whether or not it has been answered before.
	Anew bool
	// Run measures. An error says that the check could not run, never that it found something; [ErrUntested] and
	// [ErrNotApplicable] mark the two kinds that leave the rest of the audit standing.
	Run func(ctx context.Context, p *Pass) (any, error)
	// Work estimates how many predictions Run asks for; nil for none. It serves the progress display alone.
	Work func(p *Pass) int
	// Price is what Run spends in predictions of the model, where some cost more than one: derivatives, predictions in
	// float64 or on another engine. Nil for Work. It decides what the check can afford, see [Param.Least].
	Price func(p *Pass) int
}

// price is what a run spends in predictions of the model.
func (c *Check) price(p *Pass) int {
	switch {
	case c.Price != nil:
		return c.Price(p)
	case c.Work != nil:
		return c.Work(p)
	}
	return 0
}

// What some predictions cost beside one of the model on ONNX Runtime's shared library.
const (
	// PriceDouble is one by the evaluator in float64.
	PriceDouble = 4
	// PriceDerivative is one derivative of an output, forward or backward.
	PriceDerivative = 3
	// PriceTwin is one on another engine, as a rule the embedded one.
	PriceTwin = 4
)

// Summary is the first sentence of the documentation.
func (c *Check) Summary() string {
	s, _, _ := strings.Cut(c.Doc, "\n\n")
	words := strings.Fields(s)
	for i, w := range words {
		if strings.HasSuffix(w, ".") && !slices.Contains([]string{"al.", "e.g.", "i.e."}, strings.TrimLeft(w, "(")) {
			words = words[:i+1]
			break
		}
	}
	return strings.Join(words, " ")
}

// Param is a number that a caller may set.
type Param struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	// "" for a pure number or a count
	Unit    string  `json:"unit,omitempty"`
	Default float64 `json:"default"`
	// smallest value allowed
	Min float64 `json:"min"`
	// largest value allowed
	Max float64 `json:"max"`
	// Least is how far a count is lowered by itself where the predictions of a model are expensive; 0 if it never is.
	// Whoever sets the parameter gets what was set.
	Least float64 `json:"least,omitempty"`
}

// ErrNotApplicable marks a question that does not arise, such as flipped decisions of a model without classes. It does
// not stand in the way of PASS.
var ErrNotApplicable = errors.New("not applicable")

// ErrUntested marks a question that arises but could not be answered. It stands in the way of PASS.
var ErrUntested = errors.New("not tested")

// Evidence is one number behind a finding. A finding without a number is not one.
type Evidence struct {
	Name  string
	Value float64
	// interval of Value; both NaN if there is none
	Lo float64
	Hi float64
	// what Value is held against; NaN if nothing
	Limit float64
	// "" for a pure number
	Unit string
}

// Number makes evidence without interval and limit.
func Number(name string, value float64, unit string) Evidence {
	return Evidence{Name: name, Value: value, Lo: math.NaN(), Hi: math.NaN(), Limit: math.NaN(), Unit: unit}
}

// Against is the same evidence held against a limit.
func (e Evidence) Against(limit float64) Evidence {
	e.Limit = limit
	return e
}

// Measured makes evidence from an interval.
func Measured(name string, i Interval, unit string) Evidence {
	return Evidence{Name: name, Value: i.Value, Lo: i.Lo, Hi: i.Hi, Limit: math.NaN(), Unit: unit}
}

// Where is a place in the measurement: one sample at one element.
type Where struct {
	// id of the sample; "" if the place is not known
	Sample string
	// of the sample, 0-based; -1 if the place is not known
	Index int
	// nil if the place is not one element
	Element group.Element
	// the element as people write it
	Label string
}

// Nowhere is the place of nothing.
var Nowhere = Where{Index: -1}

// String is such as "sample 17 at 45°".
func (w Where) String() string {
	switch {
	case w.Index < 0 && w.Label == "":
		return "-"
	case w.Index < 0:
		return w.Label
	case w.Label == "":
		return "sample " + w.Sample
	}
	return "sample " + w.Sample + " at " + w.Label
}

// Finding is something that a check saw and that somebody should know. It has no severity: a policy gives it one.
type Finding struct {
	Category *Category
	// name of the set of elements it concerns; "" for the model as a whole
	Set     string
	Message string
	// what part of the model or of the specification: "output", "input action", ...
	Location string
	Evidence []Evidence
	Worst    Where
	// the most likely to help first
	Remedies []string
}

var nameRule = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// Validate says whether the checks, with all that they require, can run: names valid and unique, documentation,
// parameters with documentation and a default inside their range, a Run function, and no cycle among the requirements.
func Validate(checks []*Check) error {
	_, err := order(checks)
	return err
}

// order lists the checks with their requirements, requirements first, each once.
func order(checks []*Check) ([]*Check, error) {
	const (
		visiting = 1
		done     = 2
	)
	part := map[*Check]bool{} // of the audit: given or required
	var add func(c *Check)
	add = func(c *Check) {
		if c == nil || part[c] {
			return
		}
		part[c] = true
		for _, r := range c.Requires {
			add(r)
		}
	}
	for _, c := range checks {
		add(c)
	}
	state := map[*Check]int{}
	names := map[string]*Check{}
	families := map[string]bool{}
	var out []*Check
	var visit func(c *Check, path []string) error
	visit = func(c *Check, path []string) error {
		if c == nil {
			return fmt.Errorf("audit: nil check required by %s", strings.Join(path, " -> "))
		}
		path = append(slices.Clip(path), c.Name)
		switch state[c] {
		case visiting:
			return fmt.Errorf("audit: checks require each other: %s", strings.Join(path, " -> "))
		case done:
			return nil
		}
		if err := validate(c); err != nil {
			return err
		}
		if other := names[c.Name]; other != nil {
			return fmt.Errorf("audit: two checks are named %q", c.Name)
		}
		names[c.Name] = c
		families[c.Family] = true
		state[c] = visiting
		for _, r := range c.Requires {
			if err := visit(r, path); err != nil {
				return err
			}
		}
		for _, u := range c.Uses {
			if !part[u] {
				continue
			}
			if err := visit(u, path); err != nil {
				return err
			}
		}
		state[c] = done
		out = append(out, c)
		return nil
	}
	for _, c := range checks {
		if err := visit(c, nil); err != nil {
			return nil, err
		}
	}
	for _, c := range out {
		if families[c.Name] {
			return nil, fmt.Errorf("audit: %q is the name of a check and of a family", c.Name)
		}
	}
	return out, nil
}

func validate(c *Check) error {
	switch {
	case !nameRule.MatchString(c.Name):
		return fmt.Errorf("audit: check name %q: want lower-case letters, digits and dashes", c.Name)
	case c.Family != "" && !nameRule.MatchString(c.Family):
		return fmt.Errorf("audit: check %s: family %q: want lower-case letters, digits and dashes", c.Name, c.Family)
	case strings.TrimSpace(c.Doc) == "":
		return fmt.Errorf("audit: check %s has no documentation", c.Name)
	case c.Run == nil:
		return fmt.Errorf("audit: check %s has no Run", c.Name)
	}
	seen := map[string]bool{}
	for _, p := range c.Params {
		switch {
		case !nameRule.MatchString(p.Name):
			return fmt.Errorf("audit: check %s: parameter name %q: want lower-case letters, digits and dashes", c.Name,
				p.Name)
		case seen[p.Name]:
			return fmt.Errorf("audit: check %s: two parameters are named %q", c.Name, p.Name)
		case strings.TrimSpace(p.Doc) == "":
			return fmt.Errorf("audit: check %s: parameter %s has no documentation", c.Name, p.Name)
		case !(p.Min <= p.Default && p.Default <= p.Max):
			return fmt.Errorf("audit: check %s: parameter %s: default %g outside [%g, %g]", c.Name, p.Name, p.Default,
				p.Min, p.Max)
		}
		seen[p.Name] = true
	}
	return nil
}

package audit

import (
	"cmp"
	"slices"
)

// Category is a kind of finding. It is a constant value: what a policy makes of a finding and how reports name it come
// from here. Checks report findings with a category and have no opinion on how bad they are.
//
// A check may bring a category of its own: a value of this type is all that the driver, the policy and the reports
// need. [Categories] lists those of this program.
type Category struct {
	// lower-case letters, digits and dashes, such as "action-law". JSON, SARIF and the ids of findings hold it, so it
	// never changes.
	Name string
	// what reports print, in a few words; "" for the name
	Title string
	// what a finding of the category says
	Doc string
	// Severity of every finding of the category; "" where the first number that is held against a limit gives it.
	Severity Severity
	// Verdict is the worst that a finding of the category leaves possible; "" means [NeedsAttention]. [Passed] is for
	// findings that explain what something else judges.
	Verdict Verdict
	// Noise says that the finding changes no verdict where repeats are averaged, see [Policy]: the model is then judged
	// in its mean, and the noise that is left counts as error.
	Noise bool
	// Doubt says that the finding puts the test in doubt and not the model.
	Doubt bool
	// Wrong says that the finding shows the test to be no test of the claim, and not only puts it in doubt.
	Wrong bool
	// OfSet says that the finding tells the cause of the error of a set, which is judged by itself.
	OfSet bool
}

// The categories.
var (
	// NonFinite stands for NaN or infinity for a finite input.
	NonFinite = &Category{
		Name: "non-finite", Title: "output not finite", Doc: "NaN or infinity for a finite input.",
		Severity: High, Verdict: Failed,
	}
	// Shape stands for an output that changes its shape.
	Shape = &Category{
		Name: "shape", Title: "shape of the output", Doc: "The output changes its shape.",
		Severity: High, Verdict: Failed,
	}
	// NonRepeatable stands for one input with different outputs.
	NonRepeatable = &Category{
		Name: "non-repeatable", Title: "not repeatable", Doc: "The same input gives different outputs.",
		Severity: Medium, Verdict: NeedsAttention, Noise: true,
	}
	// BatchDependent stands for outputs that company, position or size of the batch changes.
	BatchDependent = &Category{
		Name: "batch-dependent", Title: "depends on the batch",
		Doc:      "Company, position or size of the batch changes an output.",
		Severity: High, Verdict: NeedsAttention,
	}
	// ActionLaw stands for an action that is not a representation.
	ActionLaw = &Category{
		Name: "action-law", Title: "law of the action", Doc: "An action is not a representation.",
		Severity: High, Verdict: NeedsAttention, Doubt: true,
	}
	// Convention stands for another convention of the action that would pass.
	Convention = &Category{
		Name: "convention", Title: "convention", Doc: "Another convention of the action would pass.",
		Severity: Medium, Verdict: NeedsAttention, Doubt: true,
	}
	// Vacuous stands for an output that does not vary, so that no error can show.
	Vacuous = &Category{
		Name: "vacuous", Title: "vacuous test", Doc: "The output does not vary, so no error can show.",
		Severity: Medium, Verdict: NeedsAttention, Doubt: true,
	}
	// Uninformative stands for inputs that do not change under the group.
	Uninformative = &Category{
		Name: "uninformative", Title: "uninformative inputs", Doc: "The inputs do not change under the group.",
		Severity: Low, Verdict: NeedsAttention, Doubt: true,
	}
	// IdentityControl stands for an error at the identity.
	IdentityControl = &Category{
		Name: "identity-control", Title: "error at the identity", Doc: "There is an error at the identity.",
		Severity: Medium, Verdict: NeedsAttention, Doubt: true,
	}
	// PositiveControl stands for a planted break that was not detected.
	PositiveControl = &Category{
		Name: "positive-control", Title: "planted break not noticed", Doc: "A planted break was not detected.",
		Severity: Medium, Verdict: NeedsAttention, Doubt: true,
	}
	// CutOff stands for an error that cannot be told from that of content which leaves the frame.
	CutOff = &Category{
		Name: "cut-off", Title: "cut off at the border",
		Doc:      "Elements move content out of the frame, and the error cannot be told from what its loss does.",
		Severity: Low, Verdict: NeedsAttention, Wrong: true,
	}
	// Violation stands for an error that is real.
	Violation = &Category{
		Name: "violation", Title: "violation", Doc: "The error is real.", Verdict: Passed, OfSet: true,
	}
	// Resampling stands for an error that cannot be told from that of resampling the input.
	Resampling = &Category{
		Name: "resampling", Title: "resampling",
		Doc:      "The error cannot be told from that of resampling the input.",
		Severity: Low, Verdict: Passed, OfSet: true,
	}
	// Roundoff stands for an error that cannot be told from rounding.
	Roundoff = &Category{
		Name: "roundoff", Title: "rounding", Doc: "The error cannot be told from rounding.",
		Severity: Low, Verdict: Passed, OfSet: true,
	}
	// Undecided stands for an interval that contains the limit.
	Undecided = &Category{
		Name: "undecided", Title: "undecided", Doc: "The interval contains the limit.",
		Severity: Low, Verdict: Passed, OfSet: true,
	}
	// Gradient stands for gradients that break the symmetry.
	Gradient = &Category{
		Name: "gradient", Title: "derivatives", Doc: "Gradients break the symmetry.", Verdict: NeedsAttention,
	}
	// Layer stands for the layer in which the error enters.
	Layer = &Category{
		Name: "layer", Title: "layer", Doc: "The layer in which the error enters.", Verdict: Passed,
	}
	// Stress stands for unusual inputs or elements that break what the usual ones keep.
	Stress = &Category{
		Name: "stress", Title: "unusual inputs",
		Doc:     "Unusual inputs or elements break what the usual ones keep.",
		Verdict: NeedsAttention,
	}
	// Engines stands for two engines that disagree beyond rounding.
	Engines = &Category{
		Name: "engines", Title: "engines differ", Doc: "Two engines disagree beyond rounding.",
		Verdict: NeedsAttention,
	}
	// Prediction stands for a graph that cannot have the symmetry, whatever it was measured to be.
	Prediction = &Category{
		Name: "prediction", Title: "prediction from the graph",
		Doc:     "The graph cannot have the symmetry, whatever it was measured to be.",
		Verdict: NeedsAttention,
	}
	// Contract stands for a contract of the study that is broken.
	Contract = &Category{
		Name: "contract", Title: "contract broken", Doc: "The contract of the study is broken.",
		Severity: Medium, Verdict: Failed,
	}
	// ContractOpen stands for too few inputs to say whether the contract of the study is met.
	ContractOpen = &Category{
		Name: "contract-open", Title: "contract open",
		Doc:      "Too few inputs to say whether the contract of the study is met.",
		Severity: Low, Verdict: NeedsAttention,
	}
	// Decisions stands for classes that change with the element for too many inputs.
	Decisions = &Category{
		Name: "decisions", Title: "class changes",
		Doc:      "The class with the largest score changes with the element for too many inputs.",
		Severity: Medium, Verdict: NeedsAttention,
	}
	// Regression stands for a model that is worse than the baseline.
	Regression = &Category{
		Name: "regression", Title: "worse than the baseline", Doc: "Worse than the baseline.",
		Severity: Medium, Verdict: Failed,
	}
	// Explanation says why, or what limits the audit.
	Explanation = &Category{
		Name: "explanation", Title: "explanation", Doc: "Says why, or what limits the audit.",
		Severity: Note, Verdict: Passed,
	}
)

// Categories are those of this program.
func Categories() []*Category {
	return []*Category{
		NonFinite, Shape, NonRepeatable, BatchDependent, ActionLaw, Convention, Vacuous, Uninformative, IdentityControl,
		PositiveControl, CutOff, Violation, Resampling, Roundoff, Undecided, Gradient, Layer, Stress, Engines,
		Prediction,
		Contract, ContractOpen, Decisions, Regression, Explanation,
	}
}

// CategoryNamed is the category of a stored finding. One that this program does not know has its name as title.
func CategoryNamed(name string) *Category {
	all := Categories()
	if i := slices.IndexFunc(all, func(c *Category) bool { return c.Name == name }); i >= 0 {
		return all[i]
	}
	return &Category{Name: name, Title: name}
}

// String is the name.
func (c *Category) String() string { return c.Name }

// title is what reports print, also for a category that has none.
func (c *Category) title() string { return cmp.Or(c.Title, c.Name) }

// other is the title, "" where that is the name.
func (c *Category) other() string {
	if c.Title == c.Name {
		return ""
	}
	return c.Title
}

// weigh is the worst verdict that a finding of the category leaves possible.
func (p *Policy) weigh(c *Category) Verdict {
	switch {
	case c.Noise && p.Average > 1:
		return Passed
	case c.Verdict == "":
		return NeedsAttention
	}
	return c.Verdict
}

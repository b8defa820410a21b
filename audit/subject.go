package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"nero/data/dataset"
	"nero/data/space"
	"nero/model/interior"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// Predictor is a model as an audit sees it: values in, predictions out.
type Predictor interface {
	// Predict returns one prediction per value, in order. It cuts the values into the micro-batches that the model runs
	// at, must not change the values, and must not keep them.
	Predict(ctx context.Context, values []space.Value) ([]space.Value, error)
}

// BatchPredictor is a predictor whose micro-batch can be chosen, which lets an audit see whether the size of a batch
// changes an answer.
type BatchPredictor interface {
	Predictor
	// PredictBatch is Predict with micro-batches of at most size values.
	PredictBatch(ctx context.Context, size int, values []space.Value) ([]space.Value, error)
}

// PredictFunc is a function that is a [Predictor].
type PredictFunc func(ctx context.Context, values []space.Value) ([]space.Value, error)

// Predict calls f.
func (f PredictFunc) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	return f(ctx, values)
}

// Units in which the scores of a classifier are compared.
const (
	// AsReturned is the model's own numbers, before any softmax that was applied to them outside the model.
	AsReturned    = ""
	Logits        = "logits"        // the same, refused if the model itself returns probabilities
	Probabilities = "probabilities" // after the softmax, which is applied where the predictor returns logits
)

// Subject is what an audit examines: a model, the claim about it, and the inputs.
type Subject struct {
	Name      string
	Predictor Predictor
	// Plan names the elements and how they act on both sides. The audit adds exact lattice elements that lie within the
	// reach of the plan, and the identity.
	Plan *orbit.Plan
	// N is the number of samples and Sample decodes one, in the unit of the file: a value that the plan's input action
	// can move. Sample is called from one goroutine at a time.
	N      int
	Sample func(i int) (dataset.Sample, error)
	// Classes are the names of the classes that labels number; nil where the data names none.
	Classes []string
	// Unaudited are outputs of the model that the predictor leaves out.
	Unaudited []string
	// Parameters are how many numbers of the model training set; 0 if that is not known.
	Parameters int64
	// Author answers for the audit; "" if nobody said.
	Author string
	// Given is how many samples there were before copies were left out, see [Subject.Distinct]; 0 if nobody looked.
	Given int
	// Supply is how many inputs there would be for an audit of more of them.
	Supply Supply
	// Members are further samples of the same data, beyond the N, in random order: what the answers to them vary by is
	// part of the scale, and nothing else of the audit looks at them. Member decodes one, under the terms of Sample.
	Members int
	Member  func(i int) (dataset.Sample, error)
	// Declared says that scores were declared to be those of classes. Scores that nobody declared may be any numbers:
	// each is then judged in its own unit where the others would hide it, and so is what all of them have in common.
	Declared bool
	// Input says how a value becomes the numbers that the model reads. It sizes the rounding of the input and changes
	// nothing else; the zero Input says that the model reads the values as they are.
	Input job.Input
	// InSpec and OutSpec declare what the values on both sides are: which numbers of a record are positions, vectors or
	// irreps, and what belongs to nodes. The zero Spec declares nothing, and checks that need to know say so.
	InSpec, OutSpec space.Spec
	// Act gives the actions of another group on values that are declared like this, for checks that look beyond the
	// claim. Nil means the rules of package action with the options of the plan's actions.
	Act func(g group.Group, in, out space.Spec) (move, moved action.Action, err error)
	// OutputUnit is the unit in which scores are compared, one of [AsReturned], [Logits] and [Probabilities].
	OutputUnit string
	// Roundoff is the unit roundoff of the model's arithmetic; 0 means float32, 2⁻²⁴.
	Roundoff float64
	// Cost is how many multiply-adds one prediction takes, as counted in the graph; 0 if it is not known. Checks that
	// explain what others judge take fewer inputs of a model with expensive predictions, see [Param.Least].
	Cost int64
	// Seed decides every random choice. Equal subjects with equal seeds give equal reports.
	Seed uint64
	// Chunk is how many values one Predict receives at most; 0 means 256. Fewer are sent when the values are large.
	Chunk int
	// Progress, if not nil, is told how many of about how many predictions are done.
	Progress func(done, total int)
	// Stage, if not nil, is told the name of each check before it runs.
	Stage func(check string)

	// Drawn says how the samples were chosen from the data where they are not a plain draw, such as "the same number of
	// each class".
	Drawn string
	// Interior opens the model itself: layers, derivatives, the graph. Nil if there is no graph to open, and the checks
	// that need one say so. It runs on the same engine as Predictor.
	Interior *interior.Model
	// Layers are those to look at, by the name of the node or of its output; nil for all.
	Layers []string
	// Reference is the same model in float64. Nil if it cannot be had; NoReference says why.
	Reference   *interior.Model
	NoReference string
	// Block answers a block of the sweep in place of the model, see [Request.Block]; nil for the model.
	Block func(block int) (Predictor, error)
	// Rest is called after each check: what checks had opened is not needed before the next one, which opens it anew.
	// Nil for nothing to do.
	Rest func()
	// Twin is the same model on another engine, TwinName that engine. Nil if there is none; NoTwin says why.
	Twin             Predictor
	TwinName, NoTwin string
	// Forms are other exported forms of the model, and Bytes the size of its own file; nil and 0 where nobody compares
	// forms.
	Forms []Form
	Bytes int64
	// Contract is what must hold of inputs like these beyond the policy; the zero Contract demands nothing.
	Contract job.Contract
	// EarlyStop lets an audit do with fewer samples: it stops adding them once it is certain, at any time, whether the
	// contract holds, or without one whether the share of the policy does. Samples must come in random order, so that
	// the first are like the rest.
	EarlyStop bool
	// Basis is what another audit must share to be compared with this one, for [Report].
	Basis []About
	// About says what is audited and where, for the head of the report.
	About []About
	// Rules say how groups move values; nil for [action.Rules].
	Rules action.Table
	// Groups are those that checks may name beside those of package catalog.
	Groups []group.Group
	// Kinds are those of values beside [space.Kinds].
	Kinds space.List
}

// float32Roundoff is the unit roundoff of float32.
const float32Roundoff = 1.0 / (1 << 24)

func (s *Subject) roundoff() float64 {
	if s.Roundoff == 0 {
		return float32Roundoff
	}
	return s.Roundoff
}

// Table says how groups move values: [Subject.Rules], or those of nero.
func (s *Subject) Table() action.Table {
	if s.Rules == nil {
		return action.Rules()
	}
	return s.Rules
}

// Group is the group of a name: of [Subject.Groups] or of package catalog.
func (s *Subject) Group(name string) (group.Group, error) { return catalog.Parse(name, s.Groups...) }

// Actions are those of another group on the values of the subject, which are declared as given. The error wraps
// errors.ErrUnsupported where no rule covers a side. An output that the claim calls invariant is so under every group,
// unless its declared type says how it moves.
func (s *Subject) Actions(g group.Group, in, out space.Spec) (move, moved action.Action, err error) {
	if s.Act != nil {
		return s.Act(g, in, out)
	}
	if in.Kind == "" {
		return nil, nil, fmt.Errorf("the inputs are not declared: %w", errors.ErrUnsupported)
	}
	rules := s.Table()
	o, _ := action.OptionsOf(s.Plan.In)
	if move, err = rules.For(g, in, o); err != nil {
		return nil, nil, fmt.Errorf("input: %w", err)
	}
	if _, ok := s.Plan.Out.(action.Trivial); ok && out.Type == "" && len(out.Fields) == 0 {
		return move, action.Trivial{G: g}, nil
	}
	if out.Kind == "" {
		return nil, nil, fmt.Errorf("the outputs are not declared: %w", errors.ErrUnsupported)
	}
	if o, ok := action.OptionsOf(s.Plan.Out); ok {
		o.Invariant = true
		if moved, err = rules.For(g, out, o); err == nil {
			return move, moved, nil
		}
	}
	if moved, err = rules.For(g, out, action.Options{Invariant: true}); err != nil {
		return nil, nil, fmt.Errorf("output: %w", err)
	}
	return move, moved, nil
}

func (s *Subject) check() error {
	switch {
	case s.Predictor == nil:
		return errors.New("no model to audit")
	case s.Plan == nil || s.Plan.Group == nil:
		return errors.New("no group to audit against")
	case s.Plan.In == nil || s.Plan.Out == nil:
		return errors.New("the plan lacks an input or an output action; say \"invariant\" by name if the output " +
			"should not move")
	case len(s.Plan.Elements) == 0:
		return errors.New("the plan has no elements")
	case s.N < 1 || s.Sample == nil:
		return errors.New("no samples to audit with")
	case s.Chunk < 0:
		return fmt.Errorf("chunk is %d; want at least 1, or 0 for the default", s.Chunk)
	case math.IsNaN(s.Roundoff) || s.Roundoff < 0 || s.Roundoff >= 1:
		return fmt.Errorf("unit roundoff is %g; want a number in (0, 1), or 0 for float32", s.Roundoff)
	case s.OutputUnit != AsReturned && s.OutputUnit != Logits && s.OutputUnit != Probabilities:
		return fmt.Errorf("output unit is %q; want %q or %q", s.OutputUnit, Logits, Probabilities)
	}
	if w := s.Plan.Weights; w != nil && len(w) != len(s.Plan.Elements) {
		return fmt.Errorf("the plan has %d weights for %d elements", len(w), len(s.Plan.Elements))
	}
	n := len(s.Plan.Group.Chart())
	for i, g := range s.Plan.Elements {
		if len(g) != n {
			return fmt.Errorf("element %d of the plan has %d coordinates; %s has %d", i, len(g), s.Plan.Group.Name(), n)
		}
		for _, h := range s.Plan.Elements[:i] {
			if s.Plan.Group.Dist(g, h) == 0 {
				return fmt.Errorf("element %s is in the plan twice", Label(s.Plan.Group, g))
			}
		}
	}
	return nil
}

// PresetSize is the number of inputs and elements that an audit of a model with the given number of parameters uses
// unless told otherwise: 100 × 50 under a million parameters, 200 × 100 up to a hundred million, 200 × 200 above.
func PresetSize(parameters int64) (inputs, elements int) {
	switch {
	case parameters < 1_000_000:
		return 100, 50
	case parameters <= 100_000_000:
		return 200, 100
	}
	return 200, 200
}

// ClassName is what a label is called: its name in the data, else its number.
func (s *Subject) ClassName(label int) string {
	if label >= 0 && label < len(s.Classes) && s.Classes[label] != "" {
		return s.Classes[label]
	}
	return strconv.Itoa(label)
}

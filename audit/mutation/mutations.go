package mutation

import (
	"slices"

	"nero/audit"
	"nero/symmetry/orbit"
)

// Mutation is one planted break, or none.
type Mutation struct {
	Name  string
	Doc   string // how it was planted
	Base  string
	Group string
	// Causes are the right diagnoses, the usual one first; empty for a clean model, about which nothing may be said.
	Causes []string
	// Because says why a second cause is right as well; "" where there is one.
	Because string
	// At are the places that are right, any of them; empty where the break has no place in the graph.
	At []string
	// Quiet says that the forward pass holds and a finding is what is expected, not a verdict.
	Quiet bool

	plant plant
	claim claim
}

// Clean reports whether nothing was planted.
func (m Mutation) Clean() bool { return len(m.Causes) == 0 }

// claims that the models are audited for.
var (
	square   = claim{group: "D4", orbit: orbit.Spec{All: true}}
	quarters = claim{group: "C4", orbit: orbit.Spec{All: true}}
	around   = claim{group: "roll(12,12)", orbit: orbit.Spec{Grid: []int{4, 4}}, cyclic: true}
	turns    = claim{group: "SO(2)", orbit: orbit.Spec{Grid: []int{72}}}
	plane    = claim{group: "O(2)", orbit: orbit.Spec{Grid: []int{12, 2}}}
	lists    = claim{group: "C8", orbit: orbit.Spec{All: true}, permuted: true}
)

// All are the mutations and the clean models, each under its group.
func All() []Mutation {
	type row struct {
		name, doc, base string
		claim           claim
		plant           plant
		causes          []string
		because         string
		at              []string
		quiet           bool
	}
	one := func(s ...string) []string { return s }
	basis := "a linear map of vectors changes their basis: what breaks is the layer, or that the output is not declared in that basis"
	weights := "an asymmetric weight is a bug of that layer as well"
	rows := []row{
		{name: "kernel asymmetry", doc: "one weight per output channel of conv2 is changed", base: "scores", claim: square, plant: plant{kernel: true}, causes: one("kernel"), at: one("conv2")},
		{name: "kernel asymmetry", doc: "one weight per output channel of conv2 is changed", base: "picture", claim: square, plant: plant{kernel: true}, causes: one("kernel"), at: one("conv2")},
		{name: "kernel asymmetry", doc: "one turn of one field's kernel is not that of the others", base: "lifted", claim: quarters, plant: plant{tie: true}, causes: one("kernel"), at: one("group")},
		{name: "kernel asymmetry", doc: "one axis counts more than the other in the inner product", base: "set", claim: plane, plant: plant{metric: true}, causes: one("kernel", "layer-bug"), because: weights, at: one("metric")},
		{name: "kernel asymmetry", doc: "one axis counts more than the other before the mean", base: "field", claim: plane, plant: plant{metric: true}, causes: one("kernel", "layer-bug", "output-action"), because: basis, at: one("metric", "mean", "out")},
		{name: "kernel asymmetry, output scaled by 1e-4", doc: "as above; every output is multiplied by 1e-4", base: "scores", claim: square, plant: plant{kernel: true, scale: 1e-4}, causes: one("kernel"), at: one("conv2")},
		{name: "kernel asymmetry, output shifted by 100", doc: "as above; 100 is added to every output", base: "scores", claim: square, plant: plant{kernel: true, offset: 100}, causes: one("kernel"), at: one("conv2")},
		{name: "metric asymmetry, output scaled by 1e-4", doc: "as above; every output is multiplied by 1e-4", base: "set", claim: plane, plant: plant{metric: true, scale: 1e-4}, causes: one("kernel", "layer-bug"), because: weights, at: one("metric")},
		{name: "zero padding", doc: "zeros beyond the border instead of the other side", base: "rolled", claim: around, plant: plant{zeros: true}, causes: one("padding"), at: one("conv1", "conv2")},
		{name: "stride parity", doc: "an even side: the windows of the pooling end one pixel before the border", base: "scores", claim: square, plant: plant{stride: true}, causes: one("striding"), at: one("pool")},
		{name: "stride parity", doc: "pooling by two and enlarging again: only even shifts hold", base: "rolled", claim: around, plant: plant{stride: true}, causes: one("striding"), at: one("pool", "enlarge")},
		{name: "dropped transpose", doc: "rows and columns of the output are exchanged", base: "picture", claim: square, plant: plant{transpose: true}, causes: one("convention", "output-action"), because: "the search names the exchange; without it the layer table blames the output"},
		{name: "dropped transpose", doc: "the two components of the output are exchanged", base: "field", claim: plane, plant: plant{transpose: true}, causes: one("convention", "output-action"), because: "the search names the exchange; without it the layer table blames the output"},
		{name: "wrong output channel", doc: "one of three output channels has a lopsided kernel", base: "picture", claim: square, plant: plant{channel: true}, causes: one("channel", "kernel"), because: "the channel is wrong because its kernel is"},
		{name: "wrong output channel", doc: "the second component is 1.3 times too large", base: "field", claim: plane, plant: plant{channel: true}, causes: one("channel", "kernel", "layer-bug", "output-action"), because: basis, at: one("channel", "out", "1")},
		{name: "NaN at one element", doc: "a root of a number that is negative for some inputs at some elements", base: "scores", claim: square, plant: plant{nan: true}, causes: one("non-finite")},
		{name: "NaN at one element", doc: "the same", base: "set", claim: plane, plant: plant{nan: true}, causes: one("non-finite")},
		{name: "5-degree defect", doc: "a bump of five degrees where the first point stands at 40 degrees", base: "set", claim: turns, plant: plant{bump: 5}, causes: one("narrow-defect")},
		{name: "reduced precision", doc: "sums of rows are rounded to float16 before the columns are summed", base: "scores", claim: square, plant: plant{half: true}, causes: one("reduced-precision"), at: one("half")},
		{name: "training-mode normalisation", doc: "mean and variance of the batch at hand", base: "scores", claim: square, plant: plant{training: true}, causes: one("training-norm"), at: one("norm", "norm-mean", "norm-variance")},
		{name: "training-mode normalisation", doc: "the same", base: "picture", claim: square, plant: plant{training: true}, causes: one("training-norm"), at: one("norm", "norm-mean", "norm-variance")},
		{name: "dropout left on", doc: "a tenth of the values is dropped at random", base: "scores", claim: square, plant: plant{dropout: true}, causes: one("stochastic")},
		{name: "constant output", doc: "the scores are multiplied by 0 and a constant is added", base: "scores", claim: square, plant: plant{dead: true}, causes: one("collapsed")},
		{name: "constant output", doc: "the same", base: "set", claim: plane, plant: plant{dead: true}, causes: one("collapsed")},
		{name: "batch-position dependence", doc: "0.02 times the place in the batch is added", base: "scores", claim: square, plant: plant{leak: true}, causes: one("batch-leak")},
		{name: "batch-position dependence", doc: "the same", base: "set", claim: plane, plant: plant{leak: true}, causes: one("batch-leak")},
		{name: "wrong center", doc: "the picture is pushed by one pixel before the first layer", base: "scores", claim: quarters, plant: plant{shifted: true}, causes: one("wrong-centre")},
		{name: "wrong center", doc: "a vector is added to every point", base: "set", claim: turns, plant: plant{shifted: true}, causes: one("wrong-centre")},
		{name: "mirrored handedness", doc: "a kernel that is its own quarter turn and not its own mirror image", base: "scores", claim: square, plant: plant{chiral: true}, causes: one("handedness")},
		{name: "mirrored handedness", doc: "the same", base: "picture", claim: square, plant: plant{chiral: true}, causes: one("handedness")},
		{name: "mirrored handedness", doc: "the signed area between points enters", base: "set", claim: plane, plant: plant{chiral: true}, causes: one("handedness")},
		{name: "gradient-only break", doc: "a ripple of height 1e-6 and slope 0.3", base: "scores", claim: square, plant: plant{ripple: true}, causes: one("gradient-only"), quiet: true},
		{name: "gradient-only break", doc: "the same", base: "set", claim: plane, plant: plant{ripple: true}, causes: one("gradient-only"), quiet: true},
		{name: "position table", doc: "a table with a number for every place is added", base: "scores", claim: square, plant: plant{table: true}, causes: one("positions"), at: one("table")},
		{name: "position table", doc: "the same", base: "picture", claim: square, plant: plant{table: true}, causes: one("positions"), at: one("table")},
		{name: "position table", doc: "the same", base: "rolled", claim: around, plant: plant{table: true}, causes: one("positions"), at: one("table")},
		{name: "componentwise nonlinearity", doc: "ReLU on the components of vectors", base: "field", claim: plane, plant: plant{relu: true}, causes: one("nonlinearity"), at: one("componentwise")},
		{name: "componentwise nonlinearity", doc: "ReLU on the coordinates of the points", base: "set", claim: plane, plant: plant{relu: true}, causes: one("nonlinearity"), at: one("componentwise")},
		{name: "order dependence", doc: "points are weighted by their place in the list", base: "set", claim: lists, plant: plant{order: true}, causes: one("order", "positions"), because: "the weights by place are a position table", at: one("order")},

		{base: "scores", claim: square},
		{base: "scores", claim: quarters},
		{base: "picture", claim: square},
		{base: "rolled", claim: around},
		{base: "lifted", claim: quarters},
		{base: "set", claim: plane},
		{base: "set", claim: turns},
		{base: "set", claim: lists},
		{base: "field", claim: plane},
		{doc: "every output is multiplied by 1e-4", base: "scores", claim: square, plant: plant{scale: 1e-4}},
		{doc: "100 is added to every output", base: "scores", claim: square, plant: plant{offset: 100}},
		{doc: "every output is multiplied by 1e-4", base: "set", claim: plane, plant: plant{scale: 1e-4}},
		{doc: "100 is added to every output", base: "set", claim: plane, plant: plant{offset: 100}},
	}
	out := make([]Mutation, len(rows))
	for i, r := range rows {
		if r.causes == nil {
			r.name = "none"
		}
		out[i] = Mutation{Name: r.name, Doc: r.doc, Base: r.base, Group: r.claim.group, Causes: r.causes, Because: r.because, At: r.at, Quiet: r.quiet, plant: r.plant, claim: r.claim}
	}
	return out
}

// Score is what an audit said of a mutation.
type Score struct {
	Verdict audit.Verdict
	// Found says that the break was seen: a verdict other than PASS, or a finding that is more than a note.
	Found bool
	// First is the cause that was named first, "" if none was; Right says that it is right, Place that its location is too.
	First      string
	Location   string
	Confidence float64
	Right      bool
	Place      bool
	Rest       []string // the runners-up
}

// Judge holds a report against what was planted.
func (m Mutation) Judge(r *audit.Report) Score {
	s := Score{Verdict: r.Verdict, Found: r.Verdict != audit.Passed}
	for _, f := range r.Findings() {
		if v := r.Policy.Severity(f); v == audit.High || v == audit.Medium {
			s.Found = true
		}
	}
	if len(r.Diagnoses) > 0 {
		d := r.Diagnoses[0]
		s.First, s.Location, s.Confidence = d.ID, d.Location, d.Confidence
		s.Right = slices.Contains(m.Causes, d.ID)
		s.Place = s.Right && (len(m.At) == 0 || slices.Contains(m.At, d.Location))
		for _, x := range r.Diagnoses[1:] {
			s.Rest = append(s.Rest, x.ID)
		}
	}
	if m.Clean() {
		s.Right = !s.Found && s.First == ""
		s.Place = s.Right
	}
	return s
}

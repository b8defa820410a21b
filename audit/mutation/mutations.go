package mutation

import (
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/symmetry/orbit"
)

// Mutation is one planted break, or none.
type Mutation struct {
	Name string
	// how it was planted
	Doc   string
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
	// Short says why the audit is known to fall short here; "" where it does not. The table shows it, and nothing is
	// excused without it.
	Short string

	plant plant
	claim claim
	// of a member of a family; nil for a base of the first list
	prepare func() (ready, error)
	// Set is which list it is from, and Task what such models are for; both empty in the first list.
	Set, Task string
	// of the group, with n for sizes
	label string
	// the least relative error in float64, see [broken]
	least float64
	// the clean member in float64
	slack float64
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
	turns3   = claim{group: "SO(3)", orbit: orbit.Spec{Haar: 12}}
	linear3  = claim{group: "O(3)", orbit: orbit.Spec{Haar: 12}}
	motions  = claim{group: "E(3)", orbit: orbit.Spec{Haar: 12}}
	atoms    = claim{group: "S(6)", orbit: orbit.Spec{Haar: 12}}
	rows8    = claim{group: "S(8)", orbit: orbit.Spec{Haar: 12}}
	rolls    = claim{
		group: "Roll(32)",
		orbit: orbit.Spec{Values: [][]float64{{0}, {1}, {2}, {3}, {5}, {8}, {16}, {31}}}, cyclic: true,
	}
	shifts = claim{group: "T(1,Z)", orbit: orbit.Spec{Values: [][]float64{{0}, {1}, {2}, {3}, {-1}, {-2}, {5}}}}
	hops   = claim{group: "T(1,Z)", orbit: orbit.Spec{Values: [][]float64{{0}, {4}, {8}, {-4}, {-8}}}}
	drifts = claim{
		group: "Flow(shift x, shift y)",
		orbit: orbit.Spec{Values: [][]float64{{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {1, -1}}}, cyclic: true,
	}
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
		short           string
	}
	one := func(s ...string) []string { return s }
	basis := "a linear map of vectors changes their basis: what breaks is the layer, or that the output is not " +
		"declared in that basis"
	weights := "an asymmetric weight is a bug of that layer as well"
	const (
		flat     = "the graph is read for pictures alone: padding, strides and tables of signals are not looked for"
		windowed = "derivatives at the ends of a window are compared although the output there is not"
	)
	rows := []row{
		{
			name: "kernel asymmetry", doc: "one weight per output channel of conv2 is changed", base: "scores",
			claim: square, plant: plant{kernel: true}, causes: one("kernel"), at: one("conv2"),
		},
		{
			name: "kernel asymmetry", doc: "one weight per output channel of conv2 is changed", base: "picture",
			claim: square, plant: plant{kernel: true}, causes: one("kernel"), at: one("conv2"),
		},
		{
			name: "kernel asymmetry", doc: "one turn of one field's kernel is not that of the others", base: "lifted",
			claim: quarters, plant: plant{tie: true}, causes: one("kernel"), at: one("group"),
		},
		{
			name: "kernel asymmetry", doc: "one axis counts more than the other in the inner product", base: "set",
			claim: plane, plant: plant{metric: true}, causes: one("kernel", "layer-bug"), because: weights,
			at: one("metric"),
		},
		{
			name: "kernel asymmetry", doc: "one axis counts more than the other before the mean", base: "field",
			claim: plane, plant: plant{metric: true}, causes: one("kernel", "layer-bug", "output-action"),
			because: basis, at: one("metric", "mean", "out"),
		},
		{
			name: "kernel asymmetry, output scaled by 1e-4", doc: "as above; every output is multiplied by 1e-4",
			base: "scores", claim: square, plant: plant{kernel: true, scale: 1e-4}, causes: one("kernel"),
			at: one("conv2"),
		},
		{
			name: "kernel asymmetry, output shifted by 100", doc: "as above; 100 is added to every output",
			base:  "scores",
			claim: square, plant: plant{kernel: true, offset: 100}, causes: one("kernel"), at: one("conv2"),
		},
		{
			name: "metric asymmetry, output scaled by 1e-4", doc: "as above; every output is multiplied by 1e-4",
			base: "set", claim: plane, plant: plant{metric: true, scale: 1e-4}, causes: one("kernel", "layer-bug"),
			because: weights, at: one("metric"),
		},
		{
			name: "zero padding", doc: "zeros beyond the border instead of the other side", base: "rolled",
			claim: around,
			plant: plant{zeros: true}, causes: one("padding"), at: one("conv1", "conv2"),
		},
		{
			name: "stride parity", doc: "an even side: the windows of the pooling end one pixel before the border",
			base: "scores", claim: square, plant: plant{stride: true}, causes: one("striding"), at: one("pool"),
		},
		{
			name: "stride parity", doc: "pooling by two and enlarging again: only even shifts hold", base: "rolled",
			claim: around, plant: plant{stride: true}, causes: one("striding"), at: one("pool", "enlarge"),
		},
		{
			name: "dropped transpose", doc: "rows and columns of the output are exchanged", base: "picture",
			claim: square,
			plant: plant{transpose: true}, causes: one("convention", "output-action"),
			because: "the search names the exchange; without it the layer table blames the output",
		},
		{
			name: "dropped transpose", doc: "the two components of the output are exchanged", base: "field",
			claim: plane,
			plant: plant{transpose: true}, causes: one("convention", "output-action"),
			because: "the search names the exchange; without it the layer table blames the output",
		},
		{
			name: "wrong output channel", doc: "one of three output channels has a lopsided kernel", base: "picture",
			claim: square, plant: plant{channel: true}, causes: one("channel", "kernel"),
			because: "the channel is wrong because its kernel is",
		},
		{
			name: "wrong output channel", doc: "the second component is 1.3 times too large", base: "field",
			claim: plane,
			plant: plant{channel: true}, causes: one("channel", "kernel", "layer-bug", "output-action"), because: basis,
			at: one("channel", "out", "1"),
		},
		{
			name: "NaN at one element", doc: "a root of a number that is negative for some inputs at some elements",
			base: "scores", claim: square, plant: plant{nan: true}, causes: one("non-finite"),
		},
		{
			name: "NaN at one element", doc: "the same", base: "set", claim: plane, plant: plant{nan: true},
			causes: one("non-finite"),
		},
		{
			name: "5-degree defect", doc: "a bump of five degrees where the first point stands at 40 degrees",
			base:  "set",
			claim: turns, plant: plant{bump: 5}, causes: one("narrow-defect"),
		},
		{
			name: "reduced precision", doc: "sums of rows are rounded to float16 before the columns are summed",
			base: "scores", claim: square, plant: plant{half: true}, causes: one("reduced-precision"), at: one("half"),
		},
		{
			name: "training-mode normalisation", doc: "mean and variance of the batch at hand", base: "scores",
			claim: square, plant: plant{training: true}, causes: one("training-norm"),
			at: one("norm", "norm-mean", "norm-variance"),
		},
		{
			name: "training-mode normalisation", doc: "the same", base: "picture", claim: square,
			plant: plant{training: true}, causes: one("training-norm"), at: one("norm", "norm-mean", "norm-variance"),
		},
		{
			name: "dropout left on", doc: "a tenth of the values is dropped at random", base: "scores", claim: square,
			plant: plant{dropout: true}, causes: one("stochastic"),
		},
		{
			name: "constant output", doc: "the scores are multiplied by 0 and a constant is added", base: "scores",
			claim: square, plant: plant{dead: true}, causes: one("collapsed"),
		},
		{
			name: "constant output", doc: "the same", base: "set", claim: plane, plant: plant{dead: true},
			causes: one("collapsed"),
		},
		{
			name: "batch-position dependence", doc: "0.02 times the place in the batch is added", base: "scores",
			claim: square, plant: plant{leak: true}, causes: one("batch-leak"),
		},
		{
			name: "batch-position dependence", doc: "the same", base: "set", claim: plane, plant: plant{leak: true},
			causes: one("batch-leak"),
		},
		{
			name: "wrong center", doc: "the picture is pushed by one pixel before the first layer", base: "scores",
			claim: quarters, plant: plant{shifted: true}, causes: one("wrong-centre"),
		},
		{
			name: "wrong center", doc: "a vector is added to every point", base: "set", claim: turns,
			plant: plant{shifted: true}, causes: one("wrong-centre"),
		},
		{
			name: "mirrored handedness", doc: "a kernel that is its own quarter turn and not its own mirror image",
			base: "scores", claim: square, plant: plant{chiral: true}, causes: one("handedness"),
		},
		{
			name: "mirrored handedness", doc: "the same", base: "picture", claim: square, plant: plant{chiral: true},
			causes: one("handedness"),
		},
		{
			name: "mirrored handedness", doc: "the signed area between points enters", base: "set", claim: plane,
			plant: plant{chiral: true}, causes: one("handedness"),
		},
		{
			name: "gradient-only break", doc: "a ripple of height 1e-6 and slope 0.3", base: "scores", claim: square,
			plant: plant{ripple: true}, causes: one("gradient-only"), quiet: true,
		},
		{
			name: "gradient-only break", doc: "the same", base: "set", claim: plane, plant: plant{ripple: true},
			causes: one("gradient-only"), quiet: true,
		},
		{
			name: "position table", doc: "a table with a number for every place is added", base: "scores",
			claim: square,
			plant: plant{table: true}, causes: one("positions"), at: one("table"),
		},
		{
			name: "position table", doc: "the same", base: "picture", claim: square, plant: plant{table: true},
			causes: one("positions"), at: one("table"),
		},
		{
			name: "position table", doc: "the same", base: "rolled", claim: around, plant: plant{table: true},
			causes: one("positions"), at: one("table"),
		},
		{
			name: "componentwise nonlinearity", doc: "ReLU on the components of vectors", base: "field", claim: plane,
			plant: plant{relu: true}, causes: one("nonlinearity"), at: one("componentwise"),
		},
		{
			name: "componentwise nonlinearity", doc: "ReLU on the coordinates of the points", base: "set", claim: plane,
			plant: plant{relu: true}, causes: one("nonlinearity"), at: one("componentwise"),
		},
		{
			name: "order dependence", doc: "points are weighted by their place in the list", base: "set", claim: lists,
			plant: plant{order: true}, causes: one("order", "positions"),
			because: "the weights by place are a position table", at: one("order"),
		},

		{
			name: "height", doc: "the heights of the points over the plane xy count, 0.3 times", base: "cloud",
			claim: turns3, plant: plant{height: 0.3}, causes: one("direction"),
		},
		{
			name: "height", doc: "the same", base: "cloud", claim: linear3, plant: plant{height: 0.3},
			causes: one("direction"),
		},
		{
			name: "height, a hundredth", doc: "the same, 0.003 times", base: "cloud", claim: linear3,
			plant: plant{height: 0.003}, causes: one("direction"),
		},
		{
			name: "handedness in space", doc: "the volume that three vectors span enters", base: "cloud",
			claim: linear3,
			plant: plant{hand: 1}, causes: one("handedness"),
		},
		{
			name: "handedness in space, a hundredth", doc: "the same, a hundredth as much", base: "cloud",
			claim: linear3,
			plant: plant{hand: 0.01}, causes: one("handedness"),
			short: "the volume is large for some inputs alone, and then a small break looks like inputs that are " +
				"sensitive",
		},
		{
			name: "handedness in space", doc: "an axial vector is added to a polar one", base: "arrow", claim: linear3,
			plant: plant{hand: 1, axial: 1}, causes: one("handedness"),
		},
		{
			name: "places in space", doc: "distances from the origin count, 0.3 times", base: "cloud", claim: motions,
			plant: plant{origin: 0.3}, causes: one("centering"),
		},
		{
			name: "places in space, a hundredth", doc: "the same, 0.003 times", base: "cloud", claim: motions,
			plant: plant{origin: 0.003}, causes: one("centering"),
		},
		{
			name: "order dependence", doc: "pairs are weighted by the place of the second point in the list",
			base: "cloud", claim: atoms, plant: plant{order: true}, causes: one("order", "positions"),
			because: "the weights by place are a position table",
		},
		{
			name: "order dependence", doc: "rows are weighted by their place in the list", base: "bag", claim: rows8,
			plant: plant{order: true}, causes: one("order", "positions"),
			because: "the weights by place are a position table",
		},
		{
			name: "order dependence", doc: "a running sum along the rows before the sum over them", base: "bag",
			claim: rows8, plant: plant{running: true}, causes: one("order"),
		},
		{
			name: "position table", doc: "a table with a number for every place is added", base: "bag", claim: rows8,
			plant: plant{table: true}, causes: one("order", "positions"),
			because: "a position table makes the order matter",
		},
		{
			name: "hard cut-off", doc: "pairs that are more than 1.2 apart count nothing", base: "cloud",
			claim: linear3,
			plant: plant{cutoff: 1.2}, causes: one("neighbors"), quiet: true,
		},
		{
			name: "hard cut-off", doc: "the same, in energy and forces", base: "molecule", claim: linear3,
			plant: plant{cutoff: 1.2}, causes: one("neighbors"), quiet: true,
		},
		{
			name: "direct forces", doc: "forces of a head that falls more slowly with the distance than the energy",
			base: "molecule", claim: linear3, plant: plant{head: 0.5}, causes: one("direct-forces"), quiet: true,
		},
		{
			name: "direct forces, a tenth", doc: "the same with an exponent that is off by 0.05", base: "molecule",
			claim: linear3, plant: plant{head: 0.05}, causes: one("direct-forces"), quiet: true,
		},
		{
			name: "height", doc: "heights count in the energy, not in the forces", base: "molecule", claim: linear3,
			plant: plant{height: 5}, causes: one("direction"),
		},
		{
			name: "handedness in space", doc: "a volume enters the energy", base: "molecule", claim: linear3,
			plant: plant{hand: 5}, causes: one("handedness"),
		},
		{
			name: "places in space", doc: "distances from the origin enter the energy", base: "molecule",
			claim: motions,
			plant: plant{origin: 5}, causes: one("centering"),
			short: "the field that fails is named before the reason for it, and exact elements that do not shift are " +
				"taken for a comb",
		},
		{
			name: "componentwise nonlinearity", doc: "ReLU on the components of the forces", base: "molecule",
			claim: linear3, plant: plant{relu: true}, causes: one("nonlinearity"), at: one("componentwise"),
			short: "forces that do not turn are no gradient either, and that outweighs the layer",
		},
		{
			name: "componentwise nonlinearity", doc: "ReLU on the coordinates about the centre", base: "arrow",
			claim: linear3, plant: plant{relu: true}, causes: one("nonlinearity"), at: one("componentwise"),
		},
		{
			name: "kernel asymmetry", doc: "z counts 1.2 times", base: "arrow", claim: linear3,
			plant:   plant{metric: true},
			causes:  one("direction", "kernel", "layer-bug"),
			because: "an axis that counts more is a direction that is singled out",
		},
		{
			name: "other type", doc: "an axial vector declared as a polar one", base: "arrow", claim: linear3,
			plant: plant{axial: 1}, causes: one("irreps"),
		},
		{
			name: "other type", doc: "z in place of y as the polar axis", base: "shape", claim: turns3,
			plant: plant{polar: true}, causes: one("irreps"),
		},
		{
			name: "other type", doc: "1x2o declared as 1x2e", base: "shape", claim: linear3, plant: plant{typed: true},
			causes: one("irreps"),
		},
		{
			name: "zero padding", doc: "zeros beyond the ends instead of the other end", base: "ring", claim: rolls,
			plant: plant{zeros: true}, causes: one("padding"), short: flat,
		},
		{
			name: "zero padding", doc: "zeros beyond the ends of the window", base: "window", claim: shifts,
			plant: plant{zeros: true}, causes: one("padding"), short: flat,
		},
		{
			name: "strided read", doc: "the larger of every two numbers, repeated", base: "ring", claim: rolls,
			plant: plant{stride: true}, causes: one("striding"), at: one("pool", "enlarge"),
		},
		{
			name: "strided read", doc: "the same", base: "window", claim: shifts, plant: plant{stride: true},
			causes: one("striding"), at: one("pool", "enlarge"), short: flat,
		},
		{
			name: "position table", doc: "a table with a number for every moment is added", base: "ring", claim: rolls,
			plant: plant{table: true}, causes: one("positions"), at: one("table"), short: flat,
		},
		{
			name: "position table", doc: "the same", base: "window", claim: shifts, plant: plant{table: true},
			causes: one("positions"), at: one("table"), short: flat,
		},
		{
			name: "cold state", doc: "the state keeps a third of what it held", base: "steps", claim: hops,
			plant: plant{keep: 0.33}, causes: one("warmup"),
		},
		{
			name: "cold state", doc: "the state keeps nine tenths of what it held", base: "steps", claim: hops,
			plant: plant{keep: 0.9}, causes: one("warmup"),
		},
		{
			name: "state that stays in its place", doc: "half of the state is kept while the pictures move on",
			base: "film", claim: drifts, plant: plant{keep: 0.5}, causes: one("static-state"),
		},

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
		{
			doc: "100 is added to every output", base: "set", claim: plane, plant: plant{offset: 100},
			short: "beside 100 the answer is rounded by as much as the limit, for one input in a hundred on one " +
				"engine: " +
				"undecided",
		},
		{base: "cloud", claim: turns3},
		{base: "cloud", claim: linear3},
		{base: "cloud", claim: motions},
		{base: "cloud", claim: atoms},
		{doc: "every output is multiplied by 1e-4", base: "cloud", claim: linear3, plant: plant{scale: 1e-4}},
		{base: "arrow", claim: turns3},
		{base: "arrow", claim: linear3},
		{base: "arrow", claim: motions},
		{base: "shape", claim: turns3},
		{base: "shape", claim: linear3},
		{base: "bag", claim: rows8},
		{base: "molecule", claim: linear3},
		{base: "molecule", claim: motions},
		{base: "molecule", claim: atoms},
		{base: "ring", claim: rolls},
		{base: "window", claim: shifts, short: windowed},
		{base: "steps", claim: hops},
		{base: "film", claim: drifts},
	}
	out := make([]Mutation, len(rows))
	for i, r := range rows {
		if r.causes == nil {
			r.name = "none"
		}
		out[i] = Mutation{
			Name: r.name, Doc: r.doc, Base: r.base, Group: r.claim.group, Causes: r.causes,
			Because: r.because, At: r.at, Quiet: r.quiet, Short: r.short, plant: r.plant, claim: r.claim,
		}
	}
	return out
}

// Score is what an audit said of a mutation.
type Score struct {
	Verdict audit.Verdict
	// Found says that the break was seen: a verdict other than PASS, or a finding that is more than a note.
	Found bool
	// First is the cause that was named first, "" if none was; Right says that it is right, Place that its location is
	// too.
	First      string
	Location   string
	Confidence float64
	Right      bool
	Place      bool
	// the runners-up
	Rest []string
}

// elsewhere are the causes whose place is no node of the graph but an element, an axis, rows, or a convention.
var elsewhere = []string{
	"order", "direction", "centering", "handedness", "convention", "wrong-centre", "irreps", "neighbors", "non-finite",
	"stochastic", "batch-leak", "collapsed", "sensitive-inputs", "not-a-symmetry", "ties",
}

// sits reports whether a location is a node of the given name, or one of several that an edit gave that name and a
// number.
func sits(location, at string) bool {
	rest, ok := strings.CutPrefix(location, at)
	if _, err := strconv.Atoi(strings.TrimPrefix(rest, "-")); !ok || rest != "" && err != nil {
		return false
	}
	return true
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
		s.Place = s.Right &&
			(len(m.At) == 0 || slices.Contains(elsewhere, d.ID) ||
				slices.ContainsFunc(m.At, func(at string) bool { return sits(d.Location, at) }))
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

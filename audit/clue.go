package audit

// Clue is a fact that speaks for or against a cause. Checks hand clues in; a diagnosis weighs them. A clue that nobody
// hands in was not looked for, which is neither for nor against.
type Clue struct {
	Name ClueName
	// Holds says whether the fact was seen; false means that it was looked for and is not so.
	Holds bool
	// Strength says how clear that is, in (0, 1]: 1 for a fact beyond doubt, 0.5 for one that is as likely as not.
	Strength float64
	// the fact in words with its numbers
	Text string
	// layer, port or element that it is about; may be empty
	Location string
	// set of elements that it is about; may be empty
	Set      string
	Evidence []Evidence
	// Check is the name of the check that handed it in; filled in by [Pass.Clue].
	Check string
}

// ClueName names a kind of fact.
type ClueName string

// The clues. The comment says what Holds means.
const (
	ClueIdentityError ClueName = "identity-error" // the error at the identity is above the repeat floor
	ClueActionLaw     ClueName = "action-law"     // an action is not a representation
	ClueConvention    ClueName = "convention"     // another convention of the actions passes; Location names it
	ClueNonFinite     ClueName = "non-finite"     // an output is not finite for a finite input
	ClueRepeats       ClueName = "repeats"        // repeats of one input differ beyond rounding
	ClueBatchCompany  ClueName = "batch-company"  // an answer depends on the other samples of its batch
	ClueBatchPosition ClueName = "batch-position" // an answer depends on its position in the batch
	ClueBatchSize     ClueName = "batch-size"     // an answer depends on the size of its batch
	// ClueBatchFinite: outputs are not finite in batches of some sizes and finite in others; Location names the sizes.
	ClueBatchFinite  ClueName = "batch-finite"
	ClueTrainingNorm ClueName = "training-norm" // the graph normalises over the batch; Location names the node
	// ClueRandomNode: the graph holds an operator that draws random numbers; Location names it.
	ClueRandomNode ClueName = "random-node"
	ClueConstant   ClueName = "constant-output" // outputs, or channels of them, do not vary
	// ClueCollapsed: an embedding holds less than two directions, or nothing beyond rounding.
	ClueCollapsed      ClueName = "collapsed-features"
	ClueOffset         ClueName = "offset"          // the uncentred size of the outputs is far above their spread
	ClueSlopeRounding  ClueName = "slope-rounding"  // float64 shrinks the error as rounding would
	ClueSlopeViolation ClueName = "slope-violation" // float64 leaves the error as it is
	// ClueReducedPrecision: the error has the size of a coarser type than float32, or the graph casts to one.
	ClueReducedPrecision ClueName = "reduced-precision"
	ClueResampling       ClueName = "resampling" // the error cannot be told from its resampling floor
	// ClueCut: the error cannot be told from what content that leaves the frame does.
	ClueCut       ClueName = "cut-off"
	ClueCleanComb ClueName = "clean-comb" // exact elements hold, those between do not
	ClueEdgeBand  ClueName = "edge-band"  // the error lies at the border of the map
	// CluePaddingLayer: the graph pads with zeros where the group would need another border; Location.
	CluePaddingLayer  ClueName = "padding-layer"
	ClueStridePattern ClueName = "stride-pattern" // the error over shifts has a period above 1
	// ClueStrideParity: lint: the grid of a strided layer is not mapped to itself; Location names the node.
	ClueStrideParity ClueName = "stride-parity"
	// ClueCrop: lint: a crop or a pad treats the sides of a map differently; Location names the node.
	ClueCrop ClueName = "crop"
	// CluePositions: lint: absolute positions, a table or a dense layer on a spatial map; Location.
	CluePositions ClueName = "positions"
	// ClueLintAllows: the structure of the graph allows every element that was tested.
	ClueLintAllows      ClueName = "lint-allows"
	ClueKernelAsymmetry ClueName = "kernel-asymmetry" // lint: weights are not symmetric; Location names the node
	// ClueUntied: lint: the weights of a layer break elements that a grid, a crop or a pad breaks as well, so mending
	// that alone mends nothing; Location names the node.
	ClueUntied ClueName = "untied-weights"
	// ClueFirstLayer: one layer is the first that breaks; Location names it, Text its operator and share.
	ClueFirstLayer  ClueName = "first-layer"
	ClueSingleLayer ClueName = "single-layer" // one layer injects nearly all of the error; Location names it
	ClueGrows       ClueName = "grows"        // the error grows steadily with depth
	// ClueNonlinearity: the layer that injects it is a pointwise nonlinearity on directional features; Location.
	ClueNonlinearity  ClueName = "nonlinearity"
	ClueNormalisation ClueName = "normalisation" // the layer that injects it is a normalisation; Location
	// CluePooling: the layer that injects it is a pooling or strided layer; Location.
	CluePooling     ClueName = "pooling"
	ClueConvolution ClueName = "convolution" // the layer that injects it is a convolution; Location
	ClueDense       ClueName = "dense"       // the layer that injects it is a dense layer; Location
	// ClueCoupling: the layer that injects it couples a product of irreps; Location.
	ClueCoupling ClueName = "coupling"
	// ClueSphere: the layer that injects it reads harmonics off a product that was taken on the sphere; Location.
	ClueSphere ClueName = "sphere"
	// ClueParities: one layer of a network of irreps breaks under mirrors and not under rotations; Location.
	ClueParities    ClueName = "parities"
	ClueOutputLayer ClueName = "output-layer" // all layers hold but the output does not move as declared
	// ClueChannel: one or few output channels carry the error; Location names them.
	ClueChannel    ClueName = "channel"
	ClueHandedness ClueName = "handedness" // turns hold, mirrors do not
	ClueCentre     ClueName = "centre"     // another centre of rotation passes
	// ClueElementEffect: variance split: the element explains the error, for every input.
	ClueElementEffect   ClueName = "element-effect"
	ClueSampleEffect    ClueName = "sample-effect"    // variance split: some inputs are sensitive
	ClueOneElement      ClueName = "one-element"      // one or few elements carry the error; Location names them
	ClueHeavyTail       ClueName = "heavy-tail"       // the largest errors are far above the 99 % quantile
	ClueNarrowPeak      ClueName = "narrow-peak"      // a search between the elements found a larger error
	ClueGradient        ClueName = "gradient"         // gradients break the symmetry; the forward pass may hold
	ClueForwardHolds    ClueName = "forward-holds"    // the forward pass holds
	ClueNotConservative ClueName = "not-conservative" // a vector output is not the gradient of its energy
	// ClueForceFactor: the forces are minus the gradient times a factor that is not 1; Text has it.
	ClueForceFactor ClueName = "force-factor"
	ClueEngines     ClueName = "engines"        // two engines disagree beyond rounding
	ClueExtreme     ClueName = "extreme-inputs" // extreme inputs break what ordinary ones keep
	ClueClasses     ClueName = "classes"        // only some classes are affected; Location names them
	ClueOrder       ClueName = "order"          // one transposition suffices to break a permutation
	// ClueScaleMismatch: the pulled-back output is a constant factor away from the output.
	ClueScaleMismatch ClueName = "scale-mismatch"
	// ClueShiftMismatch: the pulled-back output is a constant offset away from the output.
	ClueShiftMismatch ClueName = "shift-mismatch"
	// ClueFades: boxes are found less surely the farther an element is from the identity.
	ClueFades ClueName = "fades"
	// ClueStays: boxes keep their place in a moving window while what they stand for moves on.
	ClueStays ClueName = "stays"
	// ClueDirection: rotations about one direction hold and the others do not; Location names the group.
	ClueDirection ClueName = "direction"
	ClueCentering ClueName = "centering" // shifts of space fail
	// ClueStaysBehind: shifts leave the output where it is, though it is declared to move with them.
	ClueStaysBehind ClueName = "stays-behind"
	// ClueMovesAlong: shifts move the output along, though it is declared to stay.
	ClueMovesAlong ClueName = "moves-along"
	// ClueWarmup: the first frames after a start differ from what the same frames give later.
	ClueWarmup ClueName = "warmup"
	ClueMoving ClueName = "moving" // static shifts hold and moving ones do not
	ClueIrreps ClueName = "irreps" // another type of the output passes; Location names it
	// ClueNeighbors: the output jumps where a distance crosses a cut-off or ties with another; Text has the distance.
	ClueNeighbors ClueName = "neighbors"
	ClueEnergy    ClueName = "energy" // the energy is not invariant
	ClueForces    ClueName = "forces" // the forces are not equivariant
	// ClueBatchScale: a quantisation takes its scale from the whole batch; Location names the node.
	ClueBatchScale ClueName = "batch-scale"
	// CluePoses: answers change with the element alone, in one way for all inputs: they name the pose; Text has the
	// classes.
	CluePoses ClueName = "poses"
	// ClueEven: errors are well below the spread of the outputs and much the same at all elements.
	ClueEven ClueName = "even"
	// ClueOutlier: few inputs make nearly all of the scale; Location names the first.
	ClueOutlier ClueName = "outlier"
	// ClueFineDetail: the error falls where inputs are blurred before the model reads them.
	ClueFineDetail ClueName = "fine-detail"
	// ClueMends: the claim holds without one node, or a few in a row; Location names it.
	ClueMends ClueName = "mends"
	// ClueOddLayer: the node without which the claim holds is none of those that other clues tell: no table of
	// positions, no nonlinearity, no pooling; Location names it.
	ClueOddLayer ClueName = "odd-layer"
	// ClueGeneric: nearly all layers with weights break the symmetry by themselves, whatever those before them do.
	ClueGeneric ClueName = "generic"
	// ClueUnmoved: most inputs do not change under the group, or by no more than rounding.
	ClueUnmoved ClueName = "unmoved"
	// ClueInputScale: the inputs are blank or far from the range the model was made for.
	ClueInputScale ClueName = "input-scale"
)

// Clue hands in a fact.
func (p *Pass) Clue(c Clue) {
	c.Check = p.Check.Name
	p.out.Clues = append(p.out.Clues, c)
}

// Diagnosis is one explanation of what was seen, with what speaks for and against it.
type Diagnosis struct {
	// lower-case letters, digits and dashes, such as "zero-padding"
	ID string
	// in words
	Cause string
	// in [0, 1]; those of all explanations of a report sum to at most 1
	Confidence float64
	// layer, port or element; may be empty
	Location string
	For      []Clue
	Against  []Clue
	// would decide, and was not looked for
	Missing []ClueName
	// what to do
	Fix string
	// how to see that it helped
	Verify string
}

package diagnosis

import "nero/audit"

// Rules are the causes that this package knows, in the order in which people should rule them out.
func Rules() []Rule {
	const (
		sure   = 5.0 // hardly ever seen without the cause
		strong = 3.0
		some   = 1.5
		weak   = 0.7
	)
	return []Rule{
		{
			ID: "action-not-representation", Cause: "an action is not a representation of the group: the test itself is inconsistent", Benign: true,
			Needs:  []audit.ClueName{audit.ClueActionLaw},
			Weigh:  []Weight{{audit.ClueActionLaw, sure + strong, -sure}},
			Fix:    "mend the action: ρ(e) = 1, ρ(gh) = ρ(g)ρ(h), ρ(g)ρ(g⁻¹) = 1",
			Verify: "run the check preflight again; it must find nothing",
		},
		{
			ID: "wrong-centre", Cause: "the input or the output is turned about another centre than declared", Benign: true,
			Needs:  []audit.ClueName{audit.ClueCentre},
			Weigh:  []Weight{{audit.ClueCentre, sure + strong, -sure}, {audit.ClueConvention, weak, 0}, {audit.ClueIdentityError, -some, 0}},
			Fix:    "turn about (n-1)/2 on each axis, or move the shift out of the model's first layer (often a crop or a pad of one side)",
			Verify: "the search for conventions names no other centre any more",
		},
		{
			ID: "handedness", Cause: "handedness: turns hold and mirrors do not, as with a convention of the opposite orientation or a chiral layer",
			Needs:  []audit.ClueName{audit.ClueHandedness},
			Weigh:  []Weight{{audit.ClueHandedness, sure, -sure}, {audit.ClueKernelAsymmetry, weak, 0}, {audit.ClueConvention, some, 0}, {audit.ClueStrideParity, -some, 0}, {audit.ClueEdgeBand, -some, 0}},
			Fix:    "claim the turns alone, or make every kernel its own mirror image; for vectors check the sign of one axis and det(R) for pseudo-vectors",
			Verify: "audit with the group that holds turns only: it must pass; then with mirrors",
		},
		{
			ID: "convention", Cause: "the model follows another convention than the one declared", Benign: true,
			Needs:  []audit.ClueName{audit.ClueConvention},
			Weigh:  []Weight{{audit.ClueConvention, sure + some, -strong}, {audit.ClueOutputLayer, some, 0}, {audit.ClueFirstLayer, -weak, 0}},
			Fix:    "adopt the variant that the search names, if it is what the model means",
			Verify: "audit again with that variant declared: it must pass",
		},
		{
			ID: "output-action", Cause: "the output does not move as declared: the output action is not that of the output",
			Needs:  []audit.ClueName{audit.ClueOutputLayer, audit.ClueIdentityError},
			Weigh:  []Weight{{audit.ClueOutputLayer, strong, -some}, {audit.ClueIdentityError, sure, -weak}, {audit.ClueConvention, some, 0}, {audit.ClueCentre, -strong, 0}, {audit.ClueSingleLayer, weak, 0}, {audit.ClueKernelAsymmetry, -some, 0}},
			Fix:    "declare the representation that the output has, or undo the transposition in the last layers",
			Verify: "the layer table shows the last layer clean",
		},
		{
			ID: "unmoved-port", Cause: "one input port is not moved with the others",
			Needs:  []audit.ClueName{audit.ClueFrozenPort},
			Weigh:  []Weight{{audit.ClueFrozenPort, sure, -strong}},
			Fix:    "give the port its action (cell, edges, velocity, gravity, mask)",
			Verify: "the error vanishes with the port moved",
		},
		{
			ID: "non-finite", Cause: "an overflow, a root of zero or a division by the norm of a zero vector gives outputs that are not finite",
			Needs:  []audit.ClueName{audit.ClueNonFinite},
			Weigh:  []Weight{{audit.ClueNonFinite, sure + sure, -sure}},
			Fix:    "add ε inside the root, guard the normalisation at zero, clamp the exponent",
			Verify: "replay the named sample and element: the output is finite",
		},
		{
			ID: "stochastic", Cause: "the model draws random numbers: dropout left on, sampling, or a kernel that is not deterministic",
			Needs:  []audit.ClueName{audit.ClueRepeats},
			Weigh:  []Weight{{audit.ClueRepeats, sure, -sure}, {audit.ClueRandomNode, strong, -some}},
			Fix:    "export the model in evaluation mode, or fix the seed; else audit its mean with --average",
			Verify: "repeats of one input are equal",
		},
		{
			ID: "training-norm", Cause: "a normalisation uses the statistics of the batch: the model was exported in training mode",
			Needs:  []audit.ClueName{audit.ClueTrainingNorm, audit.ClueBatchCompany},
			Weigh:  []Weight{{audit.ClueTrainingNorm, sure, -strong}, {audit.ClueBatchCompany, strong, -strong}, {audit.ClueBatchPosition, -weak, 0}, {audit.ClueRepeats, -some, 0}},
			Fix:    "export in evaluation mode, or use layer, group or instance normalisation",
			Verify: "the same sample alone and in any company gives the same answer",
		},
		{
			ID: "batch-leak", Cause: "an answer depends on its place in the batch or on the batch's size: samples leak into each other",
			Needs:  []audit.ClueName{audit.ClueBatchPosition, audit.ClueBatchSize, audit.ClueBatchCompany},
			Weigh:  []Weight{{audit.ClueBatchPosition, sure, -some}, {audit.ClueBatchSize, some, -weak}, {audit.ClueBatchCompany, some, 0}, {audit.ClueTrainingNorm, -strong, weak}, {audit.ClueRepeats, -strong, 0}},
			Fix:    "repair the masking or the reshape that mixes the batch axis with another",
			Verify: "the same sample at every position gives the same answer",
		},
		{
			ID: "collapsed", Cause: "the output, or the channel that matters, does not vary: a collapsed model or a vacuous test",
			Needs:  []audit.ClueName{audit.ClueConstant, audit.ClueInputScale},
			Weigh:  []Weight{{audit.ClueConstant, sure + some, -sure}, {audit.ClueInputScale, strong, 0}},
			Fix:    "look at the head and at the scale of the inputs; use inputs that the model tells apart",
			Verify: "the scale s of the outputs is far above rounding",
		},
		{
			ID: "rounding", Cause: "rounding: the error is that of the arithmetic and not of the model", Benign: true,
			Needs:  []audit.ClueName{audit.ClueSlopeRounding},
			Weigh:  []Weight{{audit.ClueSlopeRounding, sure, -sure}, {audit.ClueSlopeViolation, -sure, some}, {audit.ClueReducedPrecision, -some, 0}, {audit.ClueGradient, -some, 0}},
			Fix:    "none is needed; for a smaller error use float64, √(x+ε), or sums in a stable order",
			Verify: "in float64 the error shrinks about 2²⁹-fold",
		},
		{
			ID: "reduced-precision", Cause: "part of the model computes in a coarser type than float32",
			Needs:  []audit.ClueName{audit.ClueReducedPrecision},
			Weigh:  []Weight{{audit.ClueReducedPrecision, sure, -strong}, {audit.ClueSlopeViolation, -weak, 0}, {audit.ClueFirstLayer, weak, 0}},
			Fix:    "compute in float32: take out the casts, use full-precision products, raise the bits of the quantisation",
			Verify: "the error falls to the float32 floor",
		},
		{
			ID: "resampling", Cause: "resampling: moving the input costs as much as the error is", Benign: true,
			Needs:  []audit.ClueName{audit.ClueResampling},
			Weigh:  []Weight{{audit.ClueResampling, strong + weak, -strong}, {audit.ClueCleanComb, some, -some}, {audit.ClueSlopeRounding, -weak, 0}, {audit.ClueGradient, -weak, 0}},
			Fix:    "judge by the exact elements, use a finer kernel (spline, lanczos), or smoother inputs",
			Verify: "with a finer kernel the error falls with its floor",
		},
		{
			ID: "narrow-defect", Cause: "a defect at one or a few elements of the orbit, narrower than the plan",
			Needs:  []audit.ClueName{audit.ClueOneElement, audit.ClueNarrowPeak},
			Weigh:  []Weight{{audit.ClueOneElement, strong + some, -some}, {audit.ClueNarrowPeak, strong, -weak}, {audit.ClueKernelAsymmetry, -some, weak}, {audit.ClueHandedness, -strong, 0}, {audit.ClueCleanComb, -weak, 0}},
			Fix:    "look at the model's answer around that element; visit more elements near it before and after the fix",
			Verify: "a plan that is dense around the element shows no peak",
		},
		{
			ID: "gradient-only", Cause: "the forward pass holds and its derivative does not: a detached path, a wrong backward kernel, or a fast ripple",
			Needs:  []audit.ClueName{audit.ClueGradient, audit.ClueNotConservative},
			Weigh:  []Weight{{audit.ClueForwardHolds, strong, -sure}, {audit.ClueGradient, strong, -sure}, {audit.ClueNotConservative, some, 0}},
			Fix:    "compare the gradient of each layer with a difference quotient; look for steps, roundings and detached branches",
			Verify: "the check gradient passes on the same inputs",
		},
		{
			ID: "positions", Cause: "absolute positions: a table, a coordinate channel or a dense layer on a map tells places apart",
			Needs:  []audit.ClueName{audit.CluePositions},
			Weigh:  []Weight{{audit.CluePositions, strong, -sure}, {audit.ClueDense, some, 0}, {audit.ClueFirstLayer, weak, 0}, {audit.ClueStridePattern, -some, 0}, {audit.ClueSingleLayer, weak, 0}, {audit.ClueKernelAsymmetry, -some, weak}, {audit.ClueConvolution, -weak, 0}},
			Fix:    "pool globally before the dense layer, or use relative positions",
			Verify: "the layer table shows no error injected there",
		},
		{
			ID: "striding", Cause: "striding or pooling: the sampling grid does not follow the input",
			Needs:  []audit.ClueName{audit.ClueStridePattern, audit.ClueStrideParity},
			Weigh:  []Weight{{audit.ClueStridePattern, strong + weak, -some}, {audit.ClueStrideParity, strong, -strong}, {audit.CluePooling, some, 0}, {audit.ClueKernelAsymmetry, -some, weak}, {audit.ClueEdgeBand, -weak, 0}, {audit.ClueLintAllows, -some, weak}, {audit.ClueSingleLayer, weak, 0}},
			Fix:    "use a size, odd kernel and padding with (size + padding - kernel) divisible by the stride; for shifts blur before striding or sample adaptively",
			Verify: "the predicted subgroup of the graph holds every element asked for, and the measured one agrees",
		},
		{
			ID: "padding", Cause: "zero padding: what enters at the border is not what the group would bring",
			Needs:  []audit.ClueName{audit.ClueEdgeBand, audit.CluePaddingLayer},
			Weigh:  []Weight{{audit.ClueEdgeBand, strong, -strong}, {audit.CluePaddingLayer, some, -strong}, {audit.ClueStridePattern, -weak, 0}, {audit.ClueKernelAsymmetry, -weak, weak}},
			Fix:    "pad as the group moves (circular for rolls, none or reflect for others), or mask the border of the output",
			Verify: "the error map has no band at the border; with circular padding the error is at the floor",
		},
		{
			ID: "channel", Cause: "one output channel is wrong while the others hold",
			Needs:  []audit.ClueName{audit.ClueChannel},
			Weigh:  []Weight{{audit.ClueChannel, sure, -strong}, {audit.ClueDense, weak, 0}, {audit.ClueKernelAsymmetry, -weak, 0}},
			Fix:    "look at the weights and the representation of that channel",
			Verify: "the error of that channel falls to that of the others",
		},
		{
			ID: "nonlinearity", Cause: "a componentwise nonlinearity on directional features",
			Needs:  []audit.ClueName{audit.ClueNonlinearity},
			Weigh:  []Weight{{audit.ClueNonlinearity, strong + weak, -strong}, {audit.ClueSingleLayer, some, 0}, {audit.ClueKernelAsymmetry, -weak, weak}},
			Fix:    "use gated or norm-based nonlinearities, or apply it to scalars and regular features only",
			Verify: "nothing is injected at that layer",
		},
		{
			ID: "aliasing", Cause: "aliasing: a nonlinearity or a stride makes frequencies that the grid cannot hold",
			Needs:  []audit.ClueName{audit.ClueAliasing},
			Weigh:  []Weight{{audit.ClueAliasing, strong, -strong}, {audit.ClueCleanComb, some, -some}, {audit.ClueResampling, -some, 0}},
			Fix:    "filter or oversample around the nonlinearity, blur before strides",
			Verify: "the error falls with smoother inputs and with the filter",
		},
		{
			ID: "discretised-kernels", Cause: "kernels on a grid: the exact elements hold and those between cannot, to this accuracy",
			Needs:  []audit.ClueName{audit.ClueCleanComb},
			Weigh:  []Weight{{audit.ClueCleanComb, strong, -sure}, {audit.ClueResampling, -some, some}, {audit.ClueAliasing, -weak, 0}},
			Fix:    "use a finer group (C8, C16), band-limited or steerable filters, or claim the exact subgroup only",
			Verify: "the error between the exact elements falls with the finer group",
		},
		{
			ID: "kernel", Cause: "the weights of a layer are not symmetric",
			Needs: []audit.ClueName{audit.ClueSingleLayer, audit.ClueKernelAsymmetry, audit.ClueConvolution, audit.ClueDense},
			Weigh: []Weight{
				{audit.ClueSingleLayer, some, -weak}, {audit.ClueKernelAsymmetry, some, -sure}, {audit.ClueConvolution, weak, 0}, {audit.ClueDense, weak, 0},
				{audit.ClueSlopeViolation, weak, -some}, {audit.ClueStridePattern, -some, 0}, {audit.ClueEdgeBand, -some, 0}, {audit.ClueGrows, -some, 0},
				{audit.CluePositions, -some, 0}, {audit.ClueChannel, -some, 0}, {audit.ClueHandedness, -some, 0}, {audit.ClueNonlinearity, -some, 0}, {audit.CluePooling, -some, 0},
				{audit.ClueStrideParity, -some, weak}, {audit.ClueReducedPrecision, -strong, 0}, {audit.ClueSlopeRounding, -strong, 0},
			},
			Fix:    "look at weight sharing, indices and initialisation of that layer; a filter must be its own turn or mirror image, up to the channels' permutation",
			Verify: "nothing is injected at that layer, its neighbors stay at the floor",
		},
		{
			ID: "unconstrained", Cause: "nothing makes the model symmetric: its layers are generic and training did not supply the symmetry",
			Needs: []audit.ClueName{audit.ClueGrows, audit.ClueKernelAsymmetry},
			Weigh: []Weight{
				{audit.ClueGrows, some, -some}, {audit.ClueKernelAsymmetry, some, -sure}, {audit.ClueSingleLayer, -strong, some}, {audit.ClueSlopeViolation, weak, -some},
				{audit.ClueConvolution, weak, 0}, {audit.ClueCleanComb, -sure, weak}, {audit.ClueReducedPrecision, -some, 0}, {audit.ClueSlopeRounding, -strong, 0}, {audit.ClueHandedness, -some, 0},
			},
			Fix:    "train with the group's augmentation, build the symmetry in, or average the answers over the group",
			Verify: "audit the new model on the same inputs: nero compare",
		},
		{
			ID: "layer-bug", Cause: "one layer breaks the symmetry and its neighbors do not: a bug in a custom layer",
			Needs: []audit.ClueName{audit.ClueSingleLayer},
			Weigh: []Weight{
				{audit.ClueSingleLayer, some, -some}, {audit.ClueKernelAsymmetry, -weak, weak}, {audit.ClueConvolution, -weak, 0}, {audit.ClueDense, -weak, 0},
				{audit.CluePositions, -some, 0}, {audit.ClueStrideParity, -some, 0}, {audit.ClueEdgeBand, -some, 0}, {audit.ClueChannel, -some, 0}, {audit.ClueNonlinearity, -weak, 0},
			},
			Fix:    "check indices, weight sharing and the batch axis of that layer",
			Verify: "nothing is injected at that layer",
		},
		{
			ID: "order", Cause: "the order of the elements matters: a pooling or a position that is not symmetric",
			Needs:  []audit.ClueName{audit.ClueOrder},
			Weigh:  []Weight{{audit.ClueOrder, strong + weak, -sure}, {audit.CluePositions, weak, 0}},
			Fix:    "pool by sum, mean or maximum; drop the positions",
			Verify: "one transposition changes nothing",
		},
		{
			ID: "sensitive-inputs", Cause: "only some inputs are sensitive: preprocessing, or inputs whose orientation carries meaning",
			Needs:  []audit.ClueName{audit.ClueSampleEffect},
			Weigh:  []Weight{{audit.ClueSampleEffect, some, -some}, {audit.ClueElementEffect, -some, 0}, {audit.ClueClasses, some, 0}, {audit.ClueKernelAsymmetry, -some, 0}},
			Fix:    "move the preprocessing inside the action; look at the worst inputs",
			Verify: "the share of the interaction falls",
		},
		{
			ID: "not-a-symmetry", Cause: "the symmetry is not true of the task for some classes (6 and 9)",
			Needs:  []audit.ClueName{audit.ClueClasses},
			Weigh:  []Weight{{audit.ClueClasses, some + weak, -some}, {audit.ClueSampleEffect, weak, 0}, {audit.ClueSingleLayer, -weak, 0}},
			Fix:    "claim a smaller group or range for those classes",
			Verify: "the smaller claim passes",
		},
		{
			ID: "ties", Cause: "rare large errors: ties in top-k or in a cutoff, degenerate frames",
			Needs:  []audit.ClueName{audit.ClueHeavyTail},
			Weigh:  []Weight{{audit.ClueHeavyTail, some + weak, -some}, {audit.ClueSingleLayer, -weak, 0}, {audit.ClueOneElement, -some, 0}},
			Fix:    "smooth the cutoff, raise the cap, break ties in a stable way",
			Verify: "the largest error is near the 99 % quantile",
		},
		{
			ID: "engines", Cause: "two engines disagree: an exported operator means something else, or a kernel is wrong",
			Needs:  []audit.ClueName{audit.ClueEngines},
			Weigh:  []Weight{{audit.ClueEngines, strong, -strong}, {audit.ClueReducedPrecision, weak, 0}},
			Fix:    "compare the engines layer by layer; check resize modes, padding and quantisation of the export",
			Verify: "the engines agree to rounding",
		},
		{
			ID: "extreme-inputs", Cause: "extreme inputs break what ordinary ones keep: overflow, saturation or a clipped range",
			Needs:  []audit.ClueName{audit.ClueExtreme},
			Weigh:  []Weight{{audit.ClueExtreme, some, -some}},
			Fix:    "normalise the inputs, or guard the range",
			Verify: "the check stress passes",
		},
	}
}

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
			ID:    "action-not-representation",
			Cause: "an action is not a representation of the group: the test itself is inconsistent", Benign: true,
			Needs:  []audit.ClueName{audit.ClueActionLaw},
			Weigh:  []Weight{{audit.ClueActionLaw, sure + strong, -sure}},
			Fix:    "mend the action: ρ(e) = 1, ρ(gh) = ρ(g)ρ(h), ρ(g)ρ(g⁻¹) = 1",
			Verify: "run the check preflight again; it must find nothing",
		},
		{
			ID: "wrong-centre", Cause: "the input or the output is turned about another centre than declared",
			Benign: true,
			Needs:  []audit.ClueName{audit.ClueCentre},
			Weigh: []Weight{
				{audit.ClueCentre, sure + strong, -sure},
				{audit.ClueConvention, weak, 0},
				{audit.ClueStrideParity, -sure - strong, 0},
				{audit.ClueIdentityError, -some, 0},
			},
			Fix: "turn about (n-1)/2 on each axis, or move the shift out of the model's first layer (often a crop " +
				"or a pad of one side)",
			Verify: "the search for conventions names no other centre any more",
		},
		{
			ID: "handedness", Cause: "handedness: turns hold and mirrors do not, as with a convention of the " +
				"opposite orientation or a chiral layer",
			Needs: []audit.ClueName{audit.ClueHandedness},
			Weigh: []Weight{
				{audit.ClueHandedness, sure, -sure},
				{audit.ClueParities, -sure, 0}, // which says where
				{audit.ClueBatchCompany, -strong, 0},
				{audit.ClueBatchPosition, -strong, 0},
				{audit.ClueRepeats, -strong, 0},
				{audit.ClueKernelAsymmetry, weak, 0},
				{audit.ClueConvention, some, 0},
				{audit.ClueStrideParity, -some, 0},
				{audit.ClueEdgeBand, -some, 0},
			},
			Fix: "claim the turns alone, or make every kernel its own mirror image; for vectors check the sign of " +
				"one axis and det(R) for pseudo-vectors",
			Verify: "audit with the group that holds turns only: it must pass; then with mirrors",
		},
		{
			ID: "convention", Cause: "the model follows another convention than the one declared", Benign: true,
			Needs: []audit.ClueName{audit.ClueConvention},
			Weigh: []Weight{
				{audit.ClueStrideParity, -sure - strong, 0},
				{audit.ClueConvention, sure + some, -strong},
				{audit.ClueOutputLayer, some, 0},
				{audit.ClueFirstLayer, -weak, 0},
			},
			Fix:    "adopt the variant that the search names, if it is what the model means",
			Verify: "audit again with that variant declared: it must pass",
		},
		{
			ID:    "output-action",
			Cause: "the output does not move as declared: the output action is not that of the output",
			Needs: []audit.ClueName{audit.ClueOutputLayer, audit.ClueIdentityError},
			Weigh: []Weight{
				{audit.ClueOutputLayer, strong, -some},
				{audit.ClueIdentityError, sure, -weak},
				{audit.ClueConvention, some, 0},
				{audit.ClueCentre, -strong, 0},
				{audit.ClueSingleLayer, weak, 0},
				{audit.ClueKernelAsymmetry, -some, 0},
			},
			Fix:    "declare the representation that the output has, or undo the transposition in the last layers",
			Verify: "the layer table shows the last layer clean",
		},
		{
			ID: "non-finite-batch", Quiet: true,
			Cause: "the size of the batch alone makes outputs not finite: the graph reads the length of the batch axis",
			Needs: []audit.ClueName{audit.ClueBatchFinite},
			Weigh: []Weight{{audit.ClueBatchFinite, sure + sure + sure, -sure}},
			Fix: "find the operator that reads the length of the batch axis (Shape, Reshape, a mean or a count over " +
				"axis 0) and take it out, or export the model again",
			Verify: "batches of every size give finite outputs: audit again with --set preflight.batch=64",
		},
		{
			ID: "non-finite", Quiet: true,
			Cause: "an overflow, a root of zero or a division by the norm of a zero vector gives outputs that are " +
				"not finite",
			Needs:  []audit.ClueName{audit.ClueNonFinite},
			Weigh:  []Weight{{audit.ClueNonFinite, sure + sure, -sure}, {audit.ClueBatchFinite, -sure, 0}},
			Fix:    "add ε inside the root, guard the normalisation at zero, clamp the exponent",
			Verify: "replay the named sample and element: the output is finite",
		},
		{
			ID: "stochastic", Quiet: true,
			Cause:  "the model draws random numbers: dropout left on, sampling, or a kernel that is not deterministic",
			Needs:  []audit.ClueName{audit.ClueRepeats},
			Weigh:  []Weight{{audit.ClueRepeats, sure, -sure}, {audit.ClueRandomNode, strong, -some}},
			Fix:    "export the model in evaluation mode, or fix the seed; else audit its mean with --average",
			Verify: "repeats of one input are equal",
		},
		{
			ID: "training-norm", Quiet: true,
			Cause: "a normalisation uses the statistics of the batch: the model was exported in training mode",
			Needs: []audit.ClueName{audit.ClueTrainingNorm, audit.ClueBatchCompany},
			Weigh: []Weight{
				{audit.ClueTrainingNorm, sure, -strong},
				{audit.ClueBatchScale, -strong, 0},
				{audit.ClueBatchCompany, strong, -strong},
				{audit.ClueBatchPosition, -weak, 0},
				{audit.ClueRepeats, -some, 0},
			},
			Fix:    "export in evaluation mode, or use layer, group or instance normalisation",
			Verify: "the same sample alone and in any company gives the same answer",
		},
		{
			ID: "batch-scale", Quiet: true,
			Cause: "a quantisation takes its scale from the whole batch: in other company a sample is rounded " +
				"otherwise",
			Needs: []audit.ClueName{audit.ClueBatchScale},
			Musts: []audit.ClueName{audit.ClueBatchCompany},
			Weigh: []Weight{
				{audit.ClueBatchScale, strong, -strong},
				{audit.ClueBatchCompany, strong, 0},
				{audit.ClueTrainingNorm, -strong, 0},
				{audit.ClueBatchPosition, -some, weak},
				{audit.ClueRepeats, -strong, 0},
			},
			Fix: "quantise with scales that are stored in the file, or with one for each sample; or run the model on " +
				"one sample at a time",
			Verify: "the same sample alone and in any company gives the same answer",
		},
		{
			ID: "batch-leak", Quiet: true,
			Cause: "an answer depends on its place in the batch or on the batch's size: samples leak into each other",
			Needs: []audit.ClueName{audit.ClueBatchPosition, audit.ClueBatchSize, audit.ClueBatchCompany},
			Weigh: []Weight{
				{audit.ClueBatchPosition, sure, -some},
				{audit.ClueBatchSize, sure, -weak},
				{audit.ClueBatchCompany, strong, 0},
				{audit.ClueTrainingNorm, -strong, weak},
				{audit.ClueRepeats, -strong, 0},
			},
			Fix:    "repair the masking or the reshape that mixes the batch axis with another",
			Verify: "the same sample at every position gives the same answer",
		},
		{
			ID: "collapsed", Quiet: true,
			Cause:  "the output, or the channel that matters, does not vary: a collapsed model or a vacuous test",
			Needs:  []audit.ClueName{audit.ClueConstant, audit.ClueInputScale},
			Weigh:  []Weight{{audit.ClueConstant, sure + some, -sure}, {audit.ClueInputScale, strong, 0}},
			Fix:    "look at the head and at the scale of the inputs; use inputs that the model tells apart",
			Verify: "the scale s of the outputs is far above rounding",
		},
		{
			ID: "collapsed-features", Quiet: true, Everywhere: true,
			Cause: "the embedding has collapsed: its features hold next to nothing of the input, and that they stay " +
				"says nothing",
			Needs: []audit.ClueName{audit.ClueCollapsed},
			Weigh: []Weight{{audit.ClueCollapsed, sure + strong, -sure}},
			Fix: "train it anew with a loss that keeps inputs apart: negatives, a term for variance and covariance, " +
				"or a stopped gradient; or name the output that is the embedding",
			Verify: "the effective rank is well above 2",
		},
		{
			ID: "unmoved", Quiet: true, Benign: true,
			Cause: "the group leaves the inputs as they are: they are blank, or symmetric themselves, and no error " +
				"can show",
			Needs:  []audit.ClueName{audit.ClueUnmoved},
			Weigh:  []Weight{{audit.ClueUnmoved, sure, 0}, {audit.ClueConstant, -some, 0}},
			Fix:    "use inputs that the group changes; look at their scale: a wrong one makes every picture blank",
			Verify: "the share of inputs that the group changes is 100%",
		},
		{
			ID: "outlier", Quiet: true, Benign: true,
			Cause: "one input, or a few, are of another size than the rest: the scale that errors are divided by is " +
				"theirs, and hides what happens to the others",
			Needs: []audit.ClueName{audit.ClueOutlier},
			Weigh: []Weight{{audit.ClueOutlier, sure + some, -sure}},
			Fix: "leave these inputs out, or audit them by themselves; look for a unit or a value that stands for a " +
				"missing one",
			Verify: "without them the check controls sees the planted break",
		},
		{
			ID: "poses",
			Cause: "the model was taught to tell poses apart: its answer names the pose, and changes with it in one " +
				"way",
			Needs: []audit.ClueName{audit.CluePoses},
			Weigh: []Weight{
				{audit.CluePoses, sure + strong, -sure},
				{audit.ClueConvention, -sure, 0},
				{audit.ClueIdentityError, -some, 0},
				{audit.ClueConstant, -some, 0},
				{audit.ClueClasses, -some, 0},
			},
			Fix: "claim no invariance of a model whose task is the pose: declare that classes are exchanged " +
				"by the group, or audit what it is used for, such as the answers after it has turned the input upright",
			Verify: "with the classes exchanged as the group does the answers agree on the whole orbit",
		},
		{
			ID: "rounding", Excuse: audit.CauseRoundoff,
			Cause: "rounding: the error is that of the arithmetic and not of the model", Benign: true,
			Needs: []audit.ClueName{audit.ClueSlopeRounding},
			Weigh: []Weight{
				{audit.ClueSlopeRounding, sure, -sure},
				{audit.ClueSlopeViolation, -sure, some},
				{audit.ClueReducedPrecision, -some, 0},
				{audit.ClueGradient, -some, 0},
			},
			Fix:    "none is needed; for a smaller error use float64, √(x+ε), or sums in a stable order",
			Verify: "in float64 the error shrinks about 2²⁹-fold",
		},
		{
			ID: "reduced-precision", Cause: "part of the model computes in a coarser type than float32",
			// Engines round differently inside, and derivatives are coarser than values: it shows where all elements
			// hold.
			Quiet: true,
			Needs: []audit.ClueName{audit.ClueReducedPrecision},
			Weigh: []Weight{
				{audit.ClueReducedPrecision, sure, -strong},
				{audit.ClueEngines, some, 0},
				// In float64 weights that are equal stay equal, however coarse they are.
				{audit.ClueConvolution, -sure, 0},
				{audit.ClueDense, -sure, 0},
				// Coarse arithmetic answers alike in any company.
				{audit.ClueBatchCompany, -strong, 0},
				{audit.ClueBatchPosition, -strong, 0},
				{audit.ClueBatchSize, -strong, 0},
				{audit.ClueSlopeViolation, -weak, 0},
				{audit.ClueFirstLayer, weak, 0},
			},
			Fix: "compute in float32: take out the casts, use full-precision products, raise the bits of the " +
				"quantisation",
			Verify: "the error falls to the float32 floor",
		},
		{
			ID: "clipping", Where: audit.Setting.Clips, Excuse: audit.CauseResampling, Benign: true,
			Cause:  "clipping: elements cut numbers at the ends of their range, and that costs as much as the error is",
			Needs:  []audit.ClueName{audit.ClueResampling},
			Weigh:  []Weight{{audit.ClueResampling, sure + some, -strong}},
			Fix:    "judge by the exact elements, take smaller elements, or inputs that lie well inside their range",
			Verify: "with inputs that no element cuts the error falls to the rounding floor",
		},
		{
			ID: "cut-off", Excuse: audit.CauseCut, Benign: true,
			Cause: "the border: content leaves the frame, and its loss alone changes the answer as much as the error",
			Needs: []audit.ClueName{audit.ClueCut},
			Weigh: []Weight{{audit.ClueCut, sure + some, -strong}},
			Fix: "use inputs with an empty margin as wide as the largest shift, a circular border (--border " +
				"circular), " +
				"or smaller shifts",
			Verify: "nothing leaves the frame any more, and the error is at the rounding floor",
		},
		{
			ID: "resampling", Where: audit.Setting.Resamples, Excuse: audit.CauseResampling,
			Cause: "resampling: moving the input costs as much as the error is", Benign: true,
			Needs: []audit.ClueName{audit.ClueResampling},
			Weigh: []Weight{
				{audit.ClueResampling, strong + weak, -strong},
				{audit.ClueFades, -some, 0},
				{audit.ClueCleanComb, some, -some},
				{audit.ClueSlopeRounding, -weak, 0},
				{audit.ClueGradient, -weak, 0},
			},
			Fix:    "judge by the exact elements, use a finer kernel (spline, lanczos), or smoother inputs",
			Verify: "with a finer kernel the error falls with its floor",
		},
		{
			ID: "narrow-defect", Quiet: true,
			Cause: "a defect at one or a few elements of the orbit, or between them, narrower than the plan",
			Needs: []audit.ClueName{audit.ClueOneElement, audit.ClueNarrowPeak},
			Weigh: []Weight{
				{audit.ClueOneElement, strong + some, -some},
				{audit.ClueNarrowPeak, strong, -weak},
				{audit.ClueFades, -strong, 0},
				{audit.ClueKernelAsymmetry, -some, weak},
				{audit.ClueHandedness, -strong, 0},
				{audit.ClueCleanComb, -weak, 0},
			},
			Fix: "look at the model's answer around that element; visit more elements near it before and after " +
				"the fix",
			Verify: "a plan that is dense around the element shows no peak",
		},
		{
			ID: "gradient-only", Quiet: true,
			Cause: "the forward pass holds and its derivative does not: a detached path, a wrong backward kernel, or " +
				"a fast ripple",
			Needs: []audit.ClueName{audit.ClueGradient, audit.ClueNotConservative},
			Musts: []audit.ClueName{audit.ClueForwardHolds},
			Weigh: []Weight{
				{audit.ClueResampling, -strong, 0},
				{audit.ClueCleanComb, -strong, 0},
				// The forward pass holds nowhere but where it was looked at: on the plan, in this batch, at this scale.
				{audit.ClueNarrowPeak, -sure, 0},
				{audit.ClueBatchSize, -sure, 0},
				{audit.ClueBatchCompany, -sure, 0},
				{audit.ClueBatchPosition, -sure, 0},
				{audit.ClueOutlier, -sure, 0},
				{audit.ClueUnmoved, -sure - some, 0},
				{audit.ClueForwardHolds, strong, -sure},
				{audit.ClueGradient, strong, -sure},
				{audit.ClueNotConservative, some, 0},
				{audit.ClueForceFactor, -sure - sure, 0},
			},
			Fix: "compare the gradient of each layer with a difference quotient; look for steps, roundings and " +
				"detached branches",
			Verify: "the check gradient passes on the same inputs",
		},
		{
			ID: "positions", Cause: "absolute positions: a table, a coordinate channel or a dense layer on a map " +
				"tells places apart",
			Needs: []audit.ClueName{audit.CluePositions},
			Weigh: []Weight{
				{audit.ClueOddLayer, -some, 0},
				{audit.CluePositions, strong, -sure},
				{audit.ClueDense, some, 0},
				{audit.ClueFirstLayer, weak, 0},
				{audit.ClueStridePattern, -some, 0},
				{audit.ClueFineDetail, -weak, 0}, // places are told apart on smooth inputs as well
				{audit.ClueSingleLayer, weak, 0},
				{audit.ClueKernelAsymmetry, -some, weak},
				{audit.ClueConvolution, -weak, 0},
			},
			Fix:    "pool globally before the dense layer, or use relative positions",
			Verify: "the layer table shows no error injected there",
		},
		{
			ID: "place", Cause: "the place is learned: boxes stay where training showed objects, whatever lies there " +
				"now",
			Needs: []audit.ClueName{audit.ClueStays},
			Weigh: []Weight{
				{audit.ClueStays, sure + some, -sure},
				{audit.ClueFades, some, 0},
				{audit.ClueConvention, -sure - some, 0},
				{audit.ClueStridePattern, -weak, 0},
			},
			Fix: "train on windows that are shifted about their objects, as far as objects will lie from the middle; " +
				"what tells places apart (a table of positions, a dense layer on a map) may then go as well",
			Verify: "the check shifts finds that boxes move by 1 px for each pixel that the content moves",
		},
		{
			ID: "striding", Where: audit.Setting.Grid,
			Cause: "striding or pooling: the sampling grid does not follow the input",
			Needs: []audit.ClueName{audit.ClueStrideParity, audit.ClueStridePattern},
			Weigh: []Weight{
				{audit.ClueStridePattern, strong + weak, -some},
				{audit.ClueStrideParity, strong, -strong},
				{audit.ClueUntied, -strong - some, 0}, // a grid that follows would not be enough
				{audit.ClueStays, -strong, 0},
				{audit.ClueCentre, some, 0},
				{audit.CluePooling, some, 0},
				{audit.ClueFineDetail, weak, 0}, // what lies between the values that are taken
				{audit.ClueFades, -strong, 0},
				{audit.ClueKernelAsymmetry, -some, weak},
				{audit.ClueEdgeBand, -weak, 0},
				{audit.ClueLintAllows, -some, weak},
				{audit.ClueSingleLayer, weak, 0},
			},
			Fix: "use a size, odd kernel and padding with (size + padding - kernel) divisible by the stride; for " +
				"shifts blur before striding or sample adaptively",
			Verify: "the predicted subgroup of the graph holds every element asked for, and the measured one agrees",
		},
		{
			ID: "one-sided", Where: audit.Setting.Grid,
			Cause: "a crop, a pad or a join treats one side of a map otherwise than the other",
			Needs: []audit.ClueName{audit.ClueCrop},
			Weigh: []Weight{
				{audit.ClueCrop, strong, -strong},
				{audit.ClueUntied, -strong - some, 0},
				{audit.ClueCentre, -some, 0},
				{audit.ClueLintAllows, -some, weak},
				{audit.ClueKernelAsymmetry, -some, weak},
			},
			Fix:    "crop, pad and join both sides alike; exporters write circular padding as slices that are joined",
			Verify: "the predicted subgroup of the graph holds every element asked for, and the measured one agrees",
		},
		{
			ID: "padding", Where: audit.Setting.Grid,
			Cause: "zero padding: what enters at the border is not what the group would bring",
			Needs: []audit.ClueName{audit.CluePaddingLayer, audit.ClueEdgeBand},
			Weigh: []Weight{
				{audit.ClueEdgeBand, strong, -strong},
				{audit.CluePaddingLayer, some, -strong},
				{audit.ClueStays, -strong, 0},
				{audit.ClueStridePattern, -weak, 0},
				{audit.ClueKernelAsymmetry, -weak, weak},
				{audit.ClueSingleLayer, weak, 0},
				{audit.ClueConvolution, weak, 0},
			},
			Fix: "pad as the group moves (circular for rolls, none or reflect for others), or mask the border of " +
				"the output",
			Verify: "the error map has no band at the border; with circular padding the error is at the floor",
		},
		{
			ID: "channel", Cause: "one output channel is wrong while the others hold",
			Needs: []audit.ClueName{audit.ClueChannel},
			Weigh: []Weight{
				{audit.ClueMends, -strong, 0},
				{audit.ClueCentering, -strong, 0},
				{audit.ClueDirection, -some, 0},
				{audit.ClueChannel, sure, -strong},
				{audit.ClueDense, weak, 0},
				// they say why, the channel where it shows
				{audit.ClueHandedness, -some, 0},
				{audit.ClueOrder, -strong, 0},
				{audit.CluePositions, -some, 0},
				{audit.ClueKernelAsymmetry, -weak, 0},
			},
			Fix:    "look at the weights and the representation of that channel",
			Verify: "the error of that channel falls to that of the others",
		},
		{
			ID: "nonlinearity", Cause: "a componentwise nonlinearity on directional features",
			Needs: []audit.ClueName{audit.ClueNonlinearity},
			Weigh: []Weight{
				{audit.ClueMends, some, 0},
				{audit.ClueOddLayer, -sure - some, 0},
				{audit.ClueOutputLayer, -sure - some, 0}, // without it the claim holds, nonlinearities and all
				{audit.ClueHandedness, -strong, 0},       // turns would fail as well
				{audit.ClueNonlinearity, strong + weak, -strong},
				{audit.ClueSingleLayer, some, 0},
				{audit.ClueKernelAsymmetry, -weak, weak},
			},
			Fix:    "use gated or norm-based nonlinearities, or apply it to scalars and regular features only",
			Verify: "nothing is injected at that layer",
		},
		{
			ID:     "discretised-kernels",
			Where:  func(s audit.Setting) bool { return s.Picture() && !s.Still && !s.Shifts },
			Cause:  "kernels on a grid: the exact elements hold and those between cannot, to this accuracy",
			Needs:  []audit.ClueName{audit.ClueCleanComb},
			Weigh:  []Weight{{audit.ClueCleanComb, strong, -sure}, {audit.ClueResampling, -some, some}},
			Fix:    "use a finer group (C8, C16), band-limited or steerable filters, or claim the exact subgroup only",
			Verify: "the error between the exact elements falls with the finer group",
		},
		{
			ID: "aliasing", Where: func(s audit.Setting) bool { return s.Grid() && s.Shifts },
			Cause: "aliasing: whole shifts hold and those between do not, for layers make frequencies that the grid " +
				"cannot hold",
			Needs: []audit.ClueName{audit.ClueCleanComb},
			Weigh: []Weight{
				{audit.ClueCleanComb, strong, -sure},
				{audit.ClueResampling, -some, some},
				{audit.ClueFineDetail, some, -some},
			},
			Fix: "take a smooth nonlinearity on a finer grid and filter before going back, blur before striding, " +
				"or claim whole shifts only",
			Verify: "the error between whole shifts falls with the finer grid",
		},
		{
			ID: "componentwise", Where: func(s audit.Setting) bool { return !s.Picture() && s.Space },
			Cause: "a componentwise nonlinearity, or another operation along the axes: turns that exchange axes hold " +
				"and the others do not",
			Needs: []audit.ClueName{audit.ClueCleanComb},
			Weigh: []Weight{
				{audit.ClueMends, -some, 0},
				{audit.ClueCleanComb, strong, -sure},
				{audit.ClueNonlinearity, -weak, 0},
				{audit.ClueDirection, -strong, 0},
				{audit.ClueCentering, -strong, 0},
				{audit.ClueIrreps, -strong, 0},
			},
			Fix:    "let nonlinearities act on norms and inner products alone, or gate vectors and tensors by scalars",
			Verify: "the elements between the exact ones hold as well",
		},
		{
			ID: "finite-subgroup", Where: func(s audit.Setting) bool {
				return (s.Still || !s.Picture()) && !s.Space &&
					!s.Shifts
			},
			Cause: "the architecture does not have the symmetry, only the exact elements: a norm of another metric, " +
				"or an operation on single components, is kept by these alone",
			Needs: []audit.ClueName{audit.ClueCleanComb},
			Weigh: []Weight{
				{audit.ClueMends, -some, 0},
				{audit.ClueCleanComb, strong, -sure},
				{audit.ClueResampling, -some, 0},
			},
			Fix: "build the model of quantities that the whole group keeps, such as inner products in its own " +
				"metric, or claim the exact elements only",
			Verify: "the elements between the exact ones hold as well",
		},
		{
			// No weights can break a shift of what a convolution sees.
			ID: "kernel", Where: func(s audit.Setting) bool { return !s.Shifts },
			Elsewhere: "look at weight sharing, indices and initialisation of that layer",
			Cause:     "the weights of a layer are not symmetric",
			Needs: []audit.ClueName{
				audit.ClueSingleLayer, audit.ClueKernelAsymmetry, audit.ClueConvolution,
				audit.ClueDense,
			},
			Weigh: []Weight{
				{audit.ClueCoupling, -sure, 0},
				{audit.ClueSphere, -sure, 0},
				{audit.ClueParities, -strong, 0},
				{audit.ClueOddLayer, -weak, 0},
				{audit.ClueGeneric, -some, 0},
				{audit.ClueSingleLayer, some, -weak},
				{audit.ClueKernelAsymmetry, some, -sure},
				{audit.ClueUntied, -some, 0}, // more than one layer breaks it
				{audit.ClueConvolution, weak, 0},
				{audit.ClueDense, weak, 0},
				{audit.ClueSlopeViolation, weak, -some},
				{audit.ClueStridePattern, -some, 0},
				{audit.ClueEdgeBand, -some, 0},
				{audit.ClueGrows, -some, 0},
				{audit.CluePositions, -some, 0},
				{audit.ClueChannel, -some, 0},
				{audit.ClueHandedness, -some, 0},
				{audit.ClueNonlinearity, -some, 0},
				{audit.CluePooling, -some, 0},
				{audit.ClueStrideParity, -some, weak},
				{audit.ClueReducedPrecision, -some, 0},
				{audit.ClueSlopeRounding, -strong, 0},
			},
			Fix: "look at weight sharing, indices and initialisation of that layer; a filter must be its own turn " +
				"or mirror image, up to the channels' permutation",
			Instead: []Instead{{
				audit.ClueEven,
				"the weights of a layer are not symmetric, and what that leaves is small and much the same all " +
					"over the " +
					"orbit: training on moved inputs taught the symmetry in part, or a few weights are wrong",
				"if the model learned the symmetry from moved inputs, no layer is wired for it: build it in " +
					"where this " +
					"layer reads its input (invariants such as distances, steerable filters), or average the answers " +
					"over the group; if it was built to keep it, look at weight sharing, indices and " +
					"initialisation of " +
					"that layer",
			}},
			Verify: "nothing is injected at that layer, its neighbors stay at the floor",
		},
		{
			ID:    "unconstrained",
			Cause: "the layers are ordinary ones, and training did not make up for it",
			Needs: []audit.ClueName{
				audit.ClueGeneric, audit.ClueGrows, audit.ClueKernelAsymmetry, audit.ClueFades, audit.ClueUntied,
			},
			Everywhere: true,
			Weigh: []Weight{
				{audit.ClueStays, -strong, 0},
				{audit.ClueUntied, some + weak/2, 0},
				{audit.ClueGeneric, some, -weak},
				{audit.ClueMends, -sure, 0},
				{audit.ClueStridePattern, -strong, 0},
				{audit.CluePositions, -some, 0},
				{audit.ClueEdgeBand, -weak, 0},
				{audit.ClueGrows, some, -some},
				{audit.ClueFades, strong + weak, -some},
				{audit.ClueKernelAsymmetry, some, -sure},
				{audit.ClueSingleLayer, -strong, some},
				{audit.ClueSlopeViolation, weak, -some},
				{audit.ClueConvolution, weak, 0},
				{audit.ClueCleanComb, -sure, weak},
				{audit.ClueReducedPrecision, -some, 0},
				{audit.ClueSlopeRounding, -strong, 0},
				{audit.ClueHandedness, -some, 0},
			},
			Fix: "train with the group's augmentation, build the symmetry in, or average the answers over the group",
			Instead: []Instead{{
				audit.ClueEven,
				"the layers are ordinary ones; the error is small beside the spread of the answers and much the " +
					"same all over the orbit, as training with augmentation leaves it",
				"build the symmetry in, or average the answers over the group; train with the group's augmentation " +
					"if that was not done: more of it gives little where the error is even already",
			}},
			Verify: "audit the new model on the same inputs: nero compare",
		},
		{
			ID: "layer-bug", Cause: "one layer breaks the symmetry and its neighbors do not: a bug in a custom layer",
			Needs: []audit.ClueName{audit.ClueOddLayer, audit.ClueSingleLayer},
			Weigh: []Weight{
				{audit.ClueOddLayer, sure, 0},
				{audit.ClueCoupling, -sure, 0}, // of which more is known
				{audit.ClueSphere, -sure, 0},
				{audit.ClueParities, -sure, 0},
				{audit.ClueOneElement, -strong, 0},
				{audit.ClueNarrowPeak, -some, 0},
				{audit.ClueConvention, -sure, 0},
				{audit.ClueCentre, -sure, 0},
				{audit.ClueIrreps, -sure, 0},
				{audit.ClueOrder, -sure, 0},
				{audit.ClueHandedness, -strong, 0},
				{audit.ClueDirection, -strong, 0},
				{audit.ClueCentering, -strong, 0},
				{audit.ClueMoving, -strong, 0},
				{audit.ClueSingleLayer, some, -some},
				{audit.ClueKernelAsymmetry, -weak, weak},
				{audit.ClueConvolution, -weak, 0},
				{audit.ClueDense, -weak, 0},
				{audit.CluePositions, -some, 0},
				{audit.ClueStrideParity, -some, 0},
				{audit.ClueEdgeBand, -some, 0},
				{audit.CluePaddingLayer, -some, 0},
				{audit.ClueChannel, -some, 0},
				{audit.ClueNonlinearity, -weak, 0},
			},
			Fix:    "check indices, weight sharing and the batch axis of that layer",
			Verify: "nothing is injected at that layer",
		},
		{
			ID: "coupling", Cause: "the coefficients of a product of irreps are wrong: a sign, an order of " +
				"components, or a path",
			Needs: []audit.ClueName{audit.ClueCoupling},
			Weigh: []Weight{
				{audit.ClueCoupling, sure + strong, 0},
				{audit.ClueSingleLayer, weak, -weak},
				{audit.ClueIrreps, -some, 0},
			},
			Fix: "hold the stored numbers of that layer against the Clebsch-Gordan coefficients of the irreps that " +
				"it reads, in the order of components that the other layers have",
			Verify: "nothing is injected at that layer",
		},
		{
			ID: "sphere", Cause: "the grid of the sphere is too coarse, or its weights are wrong, for the " +
				"product that is taken on it",
			Needs: []audit.ClueName{audit.ClueSphere},
			Weigh: []Weight{
				{audit.ClueSphere, sure + strong, 0},
				{audit.ClueSingleLayer, weak, -weak},
			},
			Fix: "take more directions: a product of degrees a and b has degree a+b, and the grid must integrate " +
				"that times the highest harmonic that is read off",
			Verify: "nothing is injected at the way back from the sphere",
		},
		{
			ID: "parities", Cause: "values that are even and odd under mirrors come together in one layer",
			Needs: []audit.ClueName{audit.ClueParities},
			Weigh: []Weight{
				{audit.ClueParities, sure + strong, 0},
				{audit.ClueSingleLayer, weak, -weak},
				{audit.ClueConvention, -some, 0},
				{audit.ClueIrreps, -sure, 0},
				{audit.ClueOutputLayer, -strong, 0},
			},
			Fix: "keep parities apart at that layer: the product of two odd values is even, and an odd function such " +
				"as tanh keeps a pseudoscalar odd; or claim the turns alone, SO(3) or SE(3)",
			Verify: "nothing is injected at that layer; or the claim of the turns alone passes",
		},
		{
			ID: "order", Cause: "the order of the elements matters: a pooling or a position that is not symmetric",
			Needs: []audit.ClueName{audit.ClueOrder},
			Weigh: []Weight{
				{audit.ClueOrder, strong + weak, -sure},
				{audit.ClueFirstLayer, weak, 0},
				{audit.CluePositions, weak, 0},
			},
			Fix:    "pool by sum, mean or maximum; drop the positions",
			Verify: "one transposition changes nothing",
		},
		{
			ID: "direction", Cause: "a direction of space is singled out, such as that of gravity or of the axis of " +
				"a grid: turns about it hold and the others do not",
			Needs: []audit.ClueName{audit.ClueDirection},
			Weigh: []Weight{
				{audit.ClueDirection, sure + some, -strong},
				{audit.ClueCoupling, -sure, 0}, // a wrong coefficient leaves an axis, too
				{audit.ClueSphere, -sure, 0},
				{audit.ClueConvention, -weak, 0},
				{audit.ClueHandedness, -weak, 0},
			},
			Fix: "claim the group that keeps the direction, Og(3), or make the direction an input that moves with " +
				"the points",
			Verify: "the claim of Og(3) passes; with the direction as a moving input that of O(3) does",
		},
		{
			ID: "centering", Cause: "places in space count: coordinates enter relative to the origin, not to each " +
				"other",
			Needs: []audit.ClueName{audit.ClueCentering},
			Weigh: []Weight{
				{audit.ClueCentering, strong + weak, -sure},
				{audit.ClueOutputLayer, -strong, 0}, // the output says why shifts fail
				{audit.ClueMovesAlong, strong, 0},
				{audit.ClueStaysBehind, some, 0},
				{audit.ClueDirection, -some, 0},
				{audit.ClueOrder, -weak, 0},
				{audit.ClueHandedness, -weak, 0},
			},
			Fix: "subtract the mean of the points inside the model, or use differences and distances alone",
			Instead: []Instead{
				{
					audit.ClueStaysBehind,
					"the answer stays where it is when everything is shifted, and is declared to move along: a " +
						"centre that was taken out was not put back",
					"add the centre again that the model subtracts, or declare a type that shifts leave as it is",
				},
				{
					audit.ClueMovesAlong,
					"the answer moves along when everything is shifted, and is declared to stay: places where " +
						"displacements are declared",
					"subtract from each answer the point that it starts at, or declare positions",
				},
			},
			Verify: "the check subgroup finds that T(3) holds",
		},
		{
			ID: "irreps", Cause: "the output has another type than declared: parity, degree or order of the components",
			Benign: true,
			Needs:  []audit.ClueName{audit.ClueIrreps},
			Weigh: []Weight{
				{audit.ClueIrreps, sure + strong + some, -strong},
				{audit.ClueHandedness, weak, 0},
				{audit.ClueConvention, weak, 0},
			},
			Fix: "declare the type that the search names, or align the parities and the order of components of " +
				"the last layers",
			Verify: "audit again with that type declared: it must pass",
		},
		{
			ID: "direct-forces", Quiet: true,
			Cause: "forces that are not the gradient of the energy: a head of their own, equivariant but not " +
				"conservative",
			Needs: []audit.ClueName{audit.ClueNotConservative},
			Musts: []audit.ClueName{audit.ClueNotConservative},
			Weigh: []Weight{
				{audit.ClueMends, -strong, 0},
				{audit.ClueNotConservative, sure, -sure},
				{audit.ClueForceFactor, -sure - sure, 0},
				{audit.ClueForces, -strong, some},
				{audit.ClueEnergy, -strong, some},
			},
			Fix: "take the forces as minus the gradient of the energy; a head of its own drifts in a simulation " +
				"at constant energy",
			Verify: "the check forces finds that the forces are minus the gradient, and no work around a loop",
		},
		{
			ID: "force-factor", Quiet: true,
			Cause: "forces and the gradient of the energy differ by a factor: a wrong sign, or another unit",
			Needs: []audit.ClueName{audit.ClueForceFactor},
			Weigh: []Weight{{audit.ClueForceFactor, sure, -sure}, {audit.ClueNotConservative, weak, 0}},
			Fix: "multiply the forces by the factor that the check forces names, or bring energy and forces to " +
				"one unit",
			Verify: "the check forces finds that the forces are minus the gradient",
		},
		{
			ID: "warmup", Quiet: true,
			Cause: "a state that starts cold: the first frames after a start are not yet what they would be later",
			Needs: []audit.ClueName{audit.ClueWarmup},
			Weigh: []Weight{{audit.ClueWarmup, strong + some, -sure}, {audit.ClueMoving, -weak, 0}},
			Fix: "run the model over as many frames before the first that counts, or leave the first ones out; or " +
				"start from a state that was learned for it",
			Verify: "the check warmup finds no frames, or the audit passes with these left out",
		},
		{
			ID: "static-state", Cause: "the state of a recurrent model stays where it is while the input moves: " +
				"static shifts hold and moving ones do not",
			Needs: []audit.ClueName{audit.ClueMoving},
			Weigh: []Weight{{audit.ClueMoving, sure + some, -sure}, {audit.ClueFirstLayer, -weak, 0}},
			Fix: "move the state with the input, one copy for each velocity (flow equivariance), or claim the " +
				"static group alone",
			Verify: "the error at velocities falls to that of static shifts",
		},
		{
			ID: "neighbors", Quiet: true,
			Cause: "a hard cut-off or a tie among neighbors: the answer jumps where a distance crosses a limit or " +
				"two are equal",
			Needs: []audit.ClueName{audit.ClueNeighbors},
			Weigh: []Weight{
				{audit.ClueMends, -strong, 0},
				{audit.ClueNeighbors, sure, -strong},
				{audit.ClueHeavyTail, some, 0},
			},
			Fix: "let the contribution of a pair go to zero smoothly before the cut-off, raise the cap on " +
				"neighbors, break ties in a way that does not depend on coordinates",
			Verify: "the largest error is near the 99 % quantile, and the scan finds no jump",
		},
		{
			ID:    "sensitive-inputs",
			Cause: "only some inputs are sensitive: preprocessing, or inputs whose orientation carries meaning",
			Needs: []audit.ClueName{audit.ClueSampleEffect},
			Weigh: []Weight{
				{audit.ClueMends, -some, 0},
				{audit.ClueSampleEffect, some, -some},
				{audit.ClueElementEffect, -some, 0},
				{audit.ClueClasses, some, 0},
				{audit.ClueKernelAsymmetry, -some, 0},
			},
			Fix:    "move the preprocessing inside the action; look at the worst inputs",
			Verify: "the share of the interaction falls",
		},
		{
			ID: "not-a-symmetry", Cause: "the symmetry is not true of the task for some classes (6 and 9)",
			Needs: []audit.ClueName{audit.ClueClasses},
			Weigh: []Weight{
				{audit.ClueClasses, some + weak, -some},
				{audit.ClueSampleEffect, weak, 0},
				{audit.ClueSingleLayer, -weak, 0},
			},
			Fix:    "claim a smaller group or range for those classes",
			Verify: "the smaller claim passes",
		},
		{
			ID: "ties", Quiet: true, Cause: "rare large errors: ties in top-k or in a cutoff, degenerate frames",
			Needs: []audit.ClueName{audit.ClueHeavyTail},
			Weigh: []Weight{
				{audit.ClueHeavyTail, some + weak, -some},
				{audit.ClueSingleLayer, -weak, 0},
				{audit.ClueOneElement, -some, 0},
			},
			Fix:    "smooth the cutoff, raise the cap, break ties in a stable way",
			Verify: "the largest error is near the 99 % quantile",
		},
		{
			ID: "engines", Quiet: true,
			Cause:  "two engines disagree: an exported operator means something else, or a kernel is wrong",
			Needs:  []audit.ClueName{audit.ClueEngines},
			Weigh:  []Weight{{audit.ClueEngines, strong, -strong}, {audit.ClueReducedPrecision, -strong, weak}},
			Fix:    "compare the engines layer by layer; check resize modes, padding and quantisation of the export",
			Verify: "the engines agree to rounding",
		},
		{
			ID: "extreme-inputs", Quiet: true,
			Cause: "extreme inputs break what ordinary ones keep: overflow, saturation or a clipped range",
			Needs: []audit.ClueName{audit.ClueExtreme},
			// what ordinary inputs break as well, it does not explain
			Weigh:  []Weight{{audit.ClueExtreme, some, -some}, {audit.ClueForwardHolds, 0, -some}},
			Fix:    "normalise the inputs, or guard the range",
			Verify: "the check extremes passes",
		},
	}
}

package mutation

// heldOutVolumes are the breaks of volumes that were written before any rule was changed for them. They belong to the
// half of [heldOut]: what an audit says of them tunes nothing.
func heldOutVolumes() map[string][]broken {
	return map[string][]broken{
		"lump": {
			{
				name: "one weight", doc: "a weight of every kernel of the first channel is off",
				edits: edits{"conv2": every(4*27, 5, 0.4)}, causes: "kernel", at: "conv2",
			},
			{
				name: "pictures one by one", doc: "kernels of the first layer see one slice",
				edits: edits{"conv1": flatKernel()}, causes: "kernel direction layer-bug", at: "conv1",
				because: axisToo,
			},
			{
				name: "slices by themselves", doc: "every slice of the maps is normalised by itself",
				edits: edits{"maps": sliceNorm()}, causes: "layer-bug kernel direction",
				at:      "slices | slices-center | slices-mean | slices-variance | slices-square | slices-deviation",
				because: axisToo,
			},
			{
				name: "position embedding", doc: "a number for every voxel is added",
				edits: edits{"maps": table(0.3, 1, 1, 7, 7, 7)}, causes: "positions", at: "table",
			},
			{
				name: "even side", doc: "the grid of the pooling is off the centre", size: 8, causes: "striding",
				at: "pool",
			},
			{
				name: "pushed", doc: "the volume is pushed by a voxel first", edits: edits{"input": pushedBox(4, 7)},
				causes: "wrong-centre layer-bug", because: "a layer that pushes is one that breaks",
			},
			{
				name: "branch", doc: "a dense layer of the volume enters the means",
				edits: edits{"vector": branch(0.3, 2)}, causes: "positions layer-bug", because: branchToo,
			},
			{
				name: "scaled", doc: "the maps count twice: still invariant", edits: edits{"maps2": scaled(2)},
			},
			{
				name: "dropout", doc: "a twentieth of the values is dropped", edits: edits{"maps2": dropout(0.05)},
				causes: "stochastic", least: -1,
			},
		},
		"mist": {
			{
				name: "handedness", doc: "the triple product of slopes is added", edits: edits{"answer": handed(1)},
				causes: "handedness",
			},
			{
				name: "mirrored", doc: "up and down of the answer are exchanged",
				edits: edits{"answer": reorder(2, down(6)...)}, causes: "convention output-action layer-bug",
				because: frameToo,
			},
			{
				name: "axes exchanged", doc: "depth and width of the answer are exchanged",
				edits:  edits{"answer": turned(0, 1, 4, 3, 2)},
				causes: "convention output-action layer-bug", because: frameToo,
			},
			{
				name: "one channel", doc: "the second channel looks up",
				edits: edits{"conv2": nudged(0.3, 5*27+4, 6*27+4)}, causes: "channel kernel", at: "conv2",
				because: channelToo,
			},
			{
				name: "mean pooling offset", doc: "windows of two that look down, down and right",
				edits: edits{"maps": pooled("AveragePool", 2, 1, 0, 0, 0, 1, 1, 1)}, causes: "one-sided striding",
				at: "pool", because: shiftToo,
			},
			{
				name: "training mode", doc: "the batch's own mean and deviation",
				edits: edits{"conv1 out": batchNorm(0, 2, 3, 4)}, causes: "training-norm batch-leak",
				at: "norm | norm-mean | norm-variance | norm-center | norm-square | norm-deviation", least: -1,
				because: batchToo,
			},
			{
				name: "another sign", doc: "the answer has the other sign: still equivariant",
				edits: edits{"answer": scaled(-1)},
			},
		},
		"crystal": {
			{
				name: "zero padding", doc: "zeros enter at the first layer", edits: edits{"zeros at conv1": setTo(1)},
				causes: "padding", at: "conv1",
			},
			{
				name: "pooling by two", doc: "the largest of every two voxels, repeated",
				edits: edits{"maps2": coarse(3)}, causes: "striding", at: "pool | enlarge",
			},
			{
				name: "slice embedding", doc: "a number for one slice is added",
				edits: edits{"maps": everySlice(6, 0, 0, 0.3)}, causes: "positions layer-bug", at: "bias",
				because: "a number for one slice",
			},
			{
				name: "pushed", doc: "the maps move by a voxel, and zeros enter",
				edits: edits{"maps": pushedBox(3, 6)}, causes: "padding layer-bug positions",
				at: "cut | push", because: "what enters at the border is padding, at one place",
			},
			{
				name: "another kernel", doc: "a weight is another: still equivariant",
				edits: edits{"conv2": nudged(0.5, 4)},
			},
		},
	}
}

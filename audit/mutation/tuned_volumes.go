package mutation

// tunedVolumes are the breaks of volumes that rules and weights may be tuned on; they belong to the half of [tuned].
func tunedVolumes() map[string][]broken {
	return map[string][]broken{
		"lump": {
			{
				name: "kernels of one layer", doc: "a corner of every kernel is off",
				edits: edits{"conv1": every(27, 0, 0.3)}, causes: "kernel", at: "conv1",
			},
			{
				name: "slice embedding", doc: "a number for every slice is added",
				edits: edits{"maps": table(0.3, 1, 1, 9, 1, 1)}, causes: "positions", at: "table",
			},
			{
				name: "even side", doc: "the grid of the pooling is off the centre", size: 10, causes: "striding",
				at: "pool",
			},
			{
				name: "pushed", doc: "the volume is pushed by a voxel first", edits: edits{"input": pushedBox(2, 9)},
				causes: "wrong-centre layer-bug", because: "a layer that pushes is one that breaks",
			},
			{
				name: "constant", doc: "the answer is constant", edits: edits{"answer": dead(5)}, causes: "collapsed",
				least: -1,
			},
			{
				name: "handedness", doc: "the triple product of slopes enters: still invariant under turns",
				edits: edits{"maps": handed(1)},
			},
		},
		"mist": {
			{
				name: "one weight", doc: "a weight of a kernel is off", edits: edits{"conv1": nudged(0.4, 27+3)},
				causes: "kernel", at: "conv1",
			},
			{
				name: "handedness", doc: "the triple product of slopes is added to the maps",
				edits: edits{"maps": handed(1)}, causes: "handedness",
			},
			{
				name: "mirrored", doc: "left and right of the answer are exchanged",
				edits: edits{"answer": reorder(4, down(7)...)}, causes: "convention output-action layer-bug",
				because: frameToo,
			},
			{
				name: "pictures one by one", doc: "kernels of the second layer see one slice",
				edits: edits{"conv2": flatKernel()}, causes: "kernel direction layer-bug", at: "conv2",
				because: axisToo,
			},
			{
				name: "position embedding", doc: "a number for every voxel is added",
				edits: edits{"maps": table(0.3, 1, 1, 7, 7, 7)}, causes: "positions", at: "table",
			},
			{
				name: "float16 island", doc: "the first sums pass through float16",
				edits: edits{"input": {value: func(s *sketch, v string) string {
					return half().value(s, s.box("blur", v, s.cubic(1, 1), 1, 1))
				}}}, causes: "reduced-precision", at: "half", least: -1,
			},
		},
		"crystal": {
			{
				name: "zero padding", doc: "zeros enter at the last layer", edits: edits{"zeros at conv3": setTo(1)},
				causes: "padding", at: "conv3",
			},
			{
				name: "pooling by two", doc: "the largest of every two voxels, repeated",
				edits: edits{"maps": coarse(3)}, causes: "striding", at: "pool | enlarge",
			},
			{
				name: "position embedding", doc: "a number for every voxel is added",
				edits: edits{"maps2": table(0.3, 1, 1, 8, 8, 8)}, causes: "positions", at: "table",
			},
			{
				name: "another kernel", doc: "a weight is another: still equivariant",
				edits: edits{"conv2": nudged(0.5, 4)},
			},
		},
	}
}

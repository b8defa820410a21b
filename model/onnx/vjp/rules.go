package vjp

// flat lists operators whose derivative is 0 wherever it exists: a gradient ends there.
var flat = map[string]bool{
	"Shape": true, "Size": true, "NonZero": true, "ArgMax": true, "ArgMin": true, "EyeLike": true,
	"ConstantOfShape": true, "Constant": true,
	"Equal": true, "Greater": true, "GreaterOrEqual": true, "Less": true, "LessOrEqual": true, "And": true, "Or": true,
	"Xor": true, "Not": true,
	"IsNaN": true, "IsInf": true, "Floor": true, "Ceil": true, "Round": true, "Sign": true, "Hardmax": true,
	"RandomNormalLike": true, "RandomUniformLike": true, "RandomNormal": true, "RandomUniform": true,
}

// rules are the derivatives, by operator.
var rules = map[string]rule{
	"Identity": {vjp: identity},
	"Dropout":  {attrs: []string{"seed"}, vjp: dropout},
	"Cast":     {attrs: []string{"to", "saturate"}, vjp: cast},
	"CastLike": {least: 2, attrs: []string{"saturate"}, vjp: cast},

	"Add":   {least: 2, vjp: addRule},
	"Sub":   {least: 2, vjp: subRule},
	"Mul":   {least: 2, vjp: mulRule},
	"Div":   {least: 2, vjp: divRule},
	"Pow":   {least: 2, vjp: pow},
	"Sum":   {vjp: sumRule},
	"Mean":  {vjp: meanRule},
	"Max":   {vjp: extreme},
	"Min":   {vjp: extreme},
	"Where": {least: 3, vjp: whereRule},
	"Clip":  {vjp: clip},
	"PRelu": {least: 2, vjp: prelu},

	"Neg":        {vjp: unary(func(c *call, _, _ string) string { return c.neg(c.d) })},
	"Abs":        {vjp: unary(func(c *call, x, _ string) string { return c.mul(c.d, c.op("Sign", x)) })},
	"Exp":        {vjp: unary(func(c *call, _, y string) string { return c.mul(c.d, y) })},
	"Log":        {vjp: unary(func(c *call, x, _ string) string { return c.div(c.d, x) })},
	"Sqrt":       {vjp: unary(func(c *call, _, y string) string { return c.div(c.scale(c.d, .5), y) })},
	"Reciprocal": {vjp: unary(func(c *call, _, y string) string { return c.neg(c.mul(c.d, c.mul(y, y))) })},
	"Sin":        {vjp: unary(func(c *call, x, _ string) string { return c.mul(c.d, c.op("Cos", x)) })},
	"Cos":        {vjp: unary(func(c *call, x, _ string) string { return c.neg(c.mul(c.d, c.op("Sin", x))) })},
	"Tan":        {vjp: unary(func(c *call, _, y string) string { return c.mul(c.d, c.add(c.num(1), c.mul(y, y))) })},
	"Asin": {vjp: unary(func(c *call, x,
		_ string,
	) string {
		return c.div(c.d, c.op("Sqrt", c.oneMinusSquare(x)))
	})},
	"Acos": {vjp: unary(func(c *call, x,
		_ string,
	) string {
		return c.neg(c.div(c.d, c.op("Sqrt", c.oneMinusSquare(x))))
	})},
	"Atan": {vjp: unary(func(c *call, x, _ string) string { return c.div(c.d, c.add(c.num(1), c.mul(x, x))) })},
	"Sinh": {vjp: unary(func(c *call, x, _ string) string { return c.mul(c.d, c.op("Cosh", x)) })},
	"Cosh": {vjp: unary(func(c *call, x, _ string) string { return c.mul(c.d, c.op("Sinh", x)) })},
	"Asinh": {vjp: unary(func(c *call, x,
		_ string,
	) string {
		return c.div(c.d, c.op("Sqrt", c.add(c.mul(x, x), c.num(1))))
	})},
	"Acosh": {vjp: unary(func(c *call, x,
		_ string,
	) string {
		return c.div(c.d, c.op("Sqrt", c.sub(c.mul(x, x), c.num(1))))
	})},
	"Atanh":     {vjp: unary(func(c *call, x, _ string) string { return c.div(c.d, c.oneMinusSquare(x)) })},
	"Tanh":      {vjp: unary(func(c *call, _, y string) string { return c.mul(c.d, c.oneMinusSquare(y)) })},
	"Erf":       {vjp: unary(erf)},
	"Sigmoid":   {vjp: unary(func(c *call, _, y string) string { return c.mul(c.d, c.mul(y, c.sub(c.num(1), y))) })},
	"Relu":      {vjp: unary(relu)},
	"Softplus":  {vjp: unary(func(c *call, x, _ string) string { return c.mul(c.d, c.op("Sigmoid", x)) })},
	"Softsign":  {vjp: unary(softsign)},
	"Mish":      {vjp: unary(mish)},
	"HardSwish": {vjp: unary(hardSwish)},

	"LeakyRelu":       {attrs: []string{"alpha"}, vjp: unary(leakyRelu)},
	"ThresholdedRelu": {attrs: []string{"alpha"}, vjp: unary(thresholdedRelu)},
	"Elu":             {attrs: []string{"alpha"}, vjp: unary(elu)},
	"Celu":            {attrs: []string{"alpha"}, vjp: unary(celu)},
	"Selu":            {attrs: []string{"alpha", "gamma"}, vjp: unary(selu)},
	"HardSigmoid":     {attrs: []string{"alpha", "beta"}, vjp: unary(hardSigmoid)},
	"Gelu":            {attrs: []string{"approximate"}, vjp: gelu},
	"Shrink":          {attrs: []string{"bias", "lambd"}, vjp: unary(shrink)},

	"Softmax":            {rank: 1, attrs: []string{"axis"}, vjp: softmax},
	"LogSoftmax":         {rank: 1, attrs: []string{"axis"}, vjp: softmax},
	"LayerNormalization": {least: 2, rank: 1, attrs: []string{"axis", "epsilon", "stash_type"}, vjp: layerNorm},
	"RMSNormalization":   {least: 2, rank: 1, attrs: []string{"axis", "epsilon", "stash_type"}, vjp: rmsNorm},
	"BatchNormalization": {
		least: 5, rank: 2, attrs: []string{"epsilon", "momentum", "training_mode"},
		vjp: batchNorm,
	},
	"InstanceNormalization": {least: 3, rank: 3, attrs: []string{"epsilon"}, vjp: instanceNorm},
	"GroupNormalization": {
		least: 3, rank: 3, attrs: []string{"epsilon", "num_groups", "stash_type"},
		vjp: groupNorm,
	},
	"LpNormalization":           {rank: 1, attrs: []string{"axis", "p"}, vjp: lpNorm},
	"LRN":                       {rank: 3, attrs: []string{"alpha", "beta", "bias", "size"}, vjp: lrn},
	"MeanVarianceNormalization": {attrs: []string{"axes"}, vjp: meanVariance},

	"ReduceSum":       {attrs: reduceAttrs, vjp: reduction},
	"ReduceMean":      {attrs: reduceAttrs, vjp: reduction},
	"ReduceMax":       {attrs: reduceAttrs, vjp: reduction},
	"ReduceMin":       {attrs: reduceAttrs, vjp: reduction},
	"ReduceProd":      {attrs: reduceAttrs, vjp: reduction},
	"ReduceSumSquare": {attrs: reduceAttrs, vjp: reduction},
	"ReduceL1":        {attrs: reduceAttrs, vjp: reduction},
	"ReduceL2":        {attrs: reduceAttrs, vjp: reduction},
	"ReduceLogSum":    {attrs: reduceAttrs, vjp: reduction},
	"ReduceLogSumExp": {attrs: reduceAttrs, vjp: reduction},
	"CumSum":          {least: 2, attrs: []string{"exclusive", "reverse"}, vjp: cumSum},
	"TopK":            {least: 2, rank: 1, attrs: []string{"axis", "largest", "sorted"}, vjp: topK},

	"Reshape":         {least: 2, attrs: []string{"allowzero"}, vjp: reshape},
	"Flatten":         {attrs: []string{"axis"}, vjp: reshape},
	"Squeeze":         {vjp: reshape},
	"Unsqueeze":       {vjp: reshape},
	"Transpose":       {attrs: []string{"perm"}, vjp: transpose},
	"Concat":          {attrs: []string{"axis"}, vjp: concat},
	"Split":           {attrs: []string{"axis", "split", "num_outputs"}, outs: 1 << 20, vjp: split},
	"Expand":          {least: 2, vjp: expand},
	"Tile":            {least: 2, vjp: tile},
	"Pad":             {least: 2, attrs: []string{"mode"}, vjp: pad},
	"Slice":           {least: 3, vjp: slice},
	"Gather":          {least: 2, attrs: []string{"axis"}, vjp: gather},
	"GatherElements":  {least: 2, attrs: []string{"axis"}, vjp: gatherElements},
	"GatherND":        {least: 2, attrs: []string{"batch_dims"}, vjp: picks},
	"ScatterElements": {least: 3, attrs: []string{"axis", "reduction"}, vjp: scatterRule},
	"ScatterND":       {least: 3, attrs: []string{"reduction"}, vjp: scatterRule},
	"Trilu":           {attrs: []string{"upper"}, vjp: trilu},
	"DepthToSpace":    {rank: 4, attrs: []string{"blocksize", "mode"}, vjp: depthToSpace},
	"SpaceToDepth":    {rank: 4, attrs: []string{"blocksize"}, vjp: spaceToDepth},
	"Resize": {
		attrs: []string{
			"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside",
			"extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode",
		},
		vjp: resize,
	},
	"GridSample": {least: 2, attrs: []string{"align_corners", "mode", "padding_mode"}, vjp: gridSample},

	"LSTM": {least: 3, rank: 3, outs: 3, attrs: append([]string{"input_forget"}, recurrentAttrs...), vjp: recur},
	"GRU":  {least: 3, rank: 3, outs: 2, attrs: append([]string{"linear_before_reset"}, recurrentAttrs...), vjp: recur},
	"RNN":  {least: 3, rank: 3, outs: 2, attrs: recurrentAttrs, vjp: recur},

	"MatMul": {least: 2, vjp: matMul},
	"Gemm":   {least: 2, attrs: []string{"alpha", "beta", "transA", "transB"}, vjp: gemm},
	"Einsum": {attrs: []string{"equation"}, vjp: einsum},

	"Conv": {least: 2, rank: 3, attrs: []string{
		"auto_pad", "dilations", "group", "kernel_shape", "pads",
		"strides",
	}, vjp: conv},
	"ConvTranspose": {least: 2, rank: 3, attrs: []string{
		"auto_pad", "dilations", "group", "kernel_shape",
		"output_padding", "output_shape", "pads", "strides",
	}, vjp: convTranspose},
	"AveragePool": {rank: 3, attrs: []string{
		"auto_pad", "ceil_mode", "count_include_pad", "dilations",
		"kernel_shape", "pads", "strides",
	}, vjp: averagePool},
	"MaxPool": {rank: 3, attrs: []string{
		"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads",
		"storage_order", "strides",
	}, vjp: maxPool},
	"GlobalAveragePool": {rank: 3, vjp: globalAverage},
	"GlobalMaxPool":     {rank: 3, vjp: globalMax},
}

var recurrentAttrs = []string{
	"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size",
	"layout",
}

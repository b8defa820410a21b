// Package oracle evaluates ONNX graphs in float64. It is slow and plain on purpose: every operator is written from
// its definition, sums run in the order of the definition, and nothing is fused, so that the result is what the model
// means up to rounding of about 1e-15. Compared with an engine's float32 result it tells rounding from a real
// difference, and it is an oracle for engines and for graphs that were edited.
//
// [Load] checks every node before anything runs. An operator, an attribute, a number of inputs or an operator version
// that is not known here is an [*UnsupportedError] that names all such nodes: the evaluator refuses, it never guesses.
// [Supported] lists the operators.
//
// # Element types
//
// All floating-point values, whatever the model declares (float16, bfloat16, float32, float64), are held and returned
// as float64. Integers and booleans keep their type and wrap around as it does. Strings, complex numbers, sequences,
// maps and optional values are refused. Weights and attributes are what the file stores: a float32 weight of 0.1 is the
// float32 nearest to 0.1, and the default alpha of LeakyRelu is the float32 nearest to 0.01, as for every engine.
//
// # Precision
//
// [Options].Round simulates a machine of lower precision: inputs, weights and the floating-point outputs of every node
// are rounded to the nearest number of that type, ties to even. Sums (of products, of reductions, pools and
// normalizations) are kept in float32 while they grow, as machines keep those of narrower numbers too; the order is
// that of the definition, where an engine adds in blocks. What else happens inside a node stays float64: an exponential
// is rounded once. The conversion operators Cast and CastLike to float16 and bfloat16 always round, because the model
// says so; conversions to float32 and float64 round nothing in Float64 mode. With another Round every value is rounded
// to it, those that the model declares float64 too.
//
// # Choices where the specification leaves one
//
//   - NaN: Min, Max, Relu, Clip and pooling pass NaN on.
//   - Ties: ArgMax, ArgMin, TopK and MaxPool take the first.
//   - Float to integer conversions out of range saturate; NaN becomes 0.
//   - Resize: lengths, and which element is the nearest, are found in float32, as engines do it, for scales are float32
//     numbers that stand for others such as 0.6; weights are found in float64.
//   - Integer division by zero is an error.
package oracle

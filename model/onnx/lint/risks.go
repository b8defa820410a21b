package lint

import (
	"fmt"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
)

// risks lists what the prediction does not promise.
func (l *linter) risks() {
	const evaluate = "export the model in evaluation mode: model.eval() before torch.onnx.export"
	for i, n := range l.f.Model().Proto().GetGraph().GetNode() {
		rec := l.f.Nodes[i]
		add := func(kind, reason, remedy string) {
			l.res.Risks = append(l.res.Risks, Risk{
				Kind: kind, Node: rec.Name, Op: rec.Op, Reason: reason,
				Remedy: remedy,
			})
		}
		data := slices.ContainsFunc(n.GetInput(), l.f.Depends)
		switch op := n.GetOpType(); op {
		case "BatchNormalization":
			if (&tracer{f: l.f, node: n}).training() {
				add(RiskTraining, "normalizes by the statistics of the batch at hand: a result depends on the other "+
					"samples", evaluate)
			}
		case "Dropout":
			if len(n.GetInput()) > 2 && n.GetInput()[2] != "" {
				if v, ok := l.f.Integers(n.GetInput()[2]); !ok || len(v) != 1 || v[0] != 0 {
					add(RiskDropout, "drops values at random", evaluate)
				}
			}
		case "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli":
			add(RiskRandom, "draws random numbers: two runs differ", "take the noise as an input")
		case "ArgMax", "ArgMin", "TopK", "Hardmax", "NonMaxSuppression", "Unique":
			if data {
				add(RiskTies, "decides between values: where two tie, or nearly do, rounding or their order decides",
					"compare the scores before this node")
			}
		case "Cast":
			if d := tensor.DType(onnx.Int(n, "to", 0)); data && (d == tensor.Float16 || d == tensor.BFloat16) {
				add(RiskPrecision, fmt.Sprintf("goes on in %s: what is exact on paper differs by its rounding", d),
					"export in float32 to tell rounding from structure")
			} else if data && !sizes(l.f, n) && d != tensor.Float32 && d != tensor.Float64 && d != tensor.Undefined {
				add(RiskPrecision, fmt.Sprintf("cuts numbers to %s: values next to a step fall on either side of it",
					d), "compare the values before this node")
			}
		case "QuantizeLinear", "DynamicQuantizeLinear":
			if data {
				add(RiskPrecision, "rounds to a few bits: what is exact on paper differs by the rounding",
					"audit the model before quantization")
			}
		case "Round", "Floor", "Ceil", "Sign":
			if data {
				add(RiskPrecision, "takes whole numbers: values next to a step fall on either side of it",
					"compare the values before this node")
			}
		case "Resize", "Upsample":
			if data && onnx.String(n, "mode", "nearest") == "nearest" && rec.Out[0] != nil {
				in := l.f.Shapes[n.GetInput()[0]]
				for a, m := range rec.Out[0] {
					if a < len(in) && in[a] > 0 && m%in[a] != 0 && in[a]%max(m, 1) != 0 {
						add(RiskResize, fmt.Sprintf(
							"picks nearest places from %d to %d: engines round the coordinates differently", in[a], m),
							"resize by a whole factor, or linearly")
						break
					}
				}
			}
		case "Gemm", "MatMul":
			for k, name := range n.GetInput()[:min(2, len(n.GetInput()))] {
				other := n.GetInput()[min(1-k, len(n.GetInput())-1)]
				if l.f.Depends(name) && !l.f.Depends(other) && l.run != nil && l.run.dense[i] {
					add(RiskFlatten, "a dense layer reads a map: every place has weights of its own, and only "+
						"weights that are symmetric over places keep turns and mirrors; no shift is kept",
						"pool over the picture before it (global average)")
				}
			}
		default:
			if l.run == nil || !l.run.tabled[i] {
				continue
			}
			add(RiskPositions, fmt.Sprintf(
				"combines the map with a stored table that has a value of its own for every place (%s)",
				strings.ToLower(op)), "use relative positions; a table of its own for every place keeps no shift")
		}
	}
}

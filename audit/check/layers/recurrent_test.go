package layers_test

import (
	"math"
	"strings"
	"testing"

	"nero/audit/audittest"
	"nero/audit/check/sweep"
	"nero/data/tensor"
	"nero/model/onnx"
)

// A recurrent layer inside of a graph is a place: one that reads the points of a cloud in their order breaks the
// permutations, and none of the motions. One that reads a sequence that every point has by itself breaks nothing.
func TestRecurrentLayers(t *testing.T) {
	gates := map[string]int{"GRU": 3, "LSTM": 4, "RNN": 1}
	for op, k := range gates {
		for _, broken := range []bool{true, false} {
			n := newCloud(8)
			_, f := n.apart(4)
			s := n.op("gather", "ReduceSum", []string{f, n.b.Ints(2)}, onnx.AttrInt("keepdims", 0)) // [N, P, 4]
			const hidden = 4
			layer := func(x string, in int) string {
				out := n.b.Ops(op, 2, []string{x, n.weights(1, k*hidden, in), n.weights(1, k*hidden, hidden)},
					onnx.AttrInt("hidden_size", hidden))
				nodes := n.b.Graph().GetNode()
				nodes[len(nodes)-1].Name = new("bad-" + strings.ToLower(op))
				return out[1] // [1, batch, hidden]
			}
			var y string
			if broken {
				y = layer(n.op("first", "Transpose", []string{s}, onnx.AttrInts("perm", 1, 0, 2)), 4)
				y = n.op("last", "Squeeze", []string{y, n.b.Ints(0)})
			} else {
				// four numbers of each point are a sequence: [4, N·P, 1]
				y = n.op("sequence", "Transpose", []string{n.op("each", "Reshape", []string{s, n.b.Ints(-1, 4, 1)})},
					onnx.AttrInts("perm", 1, 0, 2))
				y = n.op("of-points", "Reshape", []string{layer(y, 1), n.b.Ints(-1, atoms, hidden)})
				y = n.op("sum", "ReduceSum", []string{y, n.b.Ints(1)}, onnx.AttrInt("keepdims", 0))
			}
			n.b.Output(n.op("end", "Tanh", []string{n.op("small", "Mul", []string{y, n.floats([]float32{0.5}, 1)})}),
				tensor.Float32, "N", hidden)
			m, err := n.b.Model()
			if err != nil {
				t.Fatal(err)
			}
			found, r := look(t, audittest.Fixture{Subject: clouds(t, op, "E(3) x S(5)", m)}, sweep.Check)
			if !broken {
				if r.First >= 0 || len(found.Findings) > 0 {
					show(t, r)
					t.Errorf("%s: %+v", op, found.Findings)
				}
				continue
			}
			if len(found.Findings) != 1 || found.Findings[0].Location != "bad-"+strings.ToLower(op) ||
				!strings.Contains(found.Findings[0].Message, "a recurrent layer") ||
				!strings.Contains(found.Findings[0].Message, "under S(5) alone") ||
				math.IsNaN(r.Rows[r.First].Injected) {
				show(t, r)
				t.Errorf("%s: %+v", op, found.Findings)
			}
		}
	}
}

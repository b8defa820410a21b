package layers_test

import (
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/sweep"
	"nero/model/onnx"
)

// A bias on vectors and products that are none of vectors are told by what is measured of them: by how much the
// elements move the stored numbers, and how what is made grows with what turns. A cross product, inner products and
// norms are right products and give no clue.
func TestBiasesAndProducts(t *testing.T) {
	for _, g := range []string{"SO(3)", "E(3) x S(5)"} {
		for broken, want := range map[string]struct {
			place string
			clue  audit.ClueName
		}{
			"bias":       {"bad-bias", audit.ClueBias},
			"one-by-one": {"bad-product", audit.ClueProduct},
			"alone":      {"bad-product", audit.ClueProduct},
			"order":      {"bad-coupling", audit.ClueProduct},
			"relu":       {"bad-relu", audit.ClueNonlinearity},
			"metric":     {"bad-metric", audit.ClueDense},
			"cross":      {},
			"":           {},
		} {
			found, r := look(t, audittest.Fixture{Subject: clouds(t, broken, g, vectors(t, broken))}, sweep.Check)
			if want.place == "" {
				if r.First >= 0 || len(found.Findings) > 0 {
					show(t, r)
					t.Errorf("%s under %s: %+v", broken, g, found.Findings)
				}
			} else if len(found.Findings) != 1 || found.Findings[0].Location != want.place {
				show(t, r)
				t.Errorf("%s under %s: %+v", broken, g, found.Findings)
			}
			seen := false
			for _, c := range found.Clues {
				if seen = seen || c.Name == want.clue && c.Holds && c.Location == want.place; !c.Holds {
					continue
				}
				if (c.Name == audit.ClueBias || c.Name == audit.ClueProduct) && c.Name != want.clue {
					t.Errorf("%s under %s: %s: %s", broken, g, c.Name, c.Text)
				}
				if c.Name == audit.ClueBias && !strings.Contains(c.Text, "of itself") {
					t.Errorf("%s under %s: no number in %q", broken, g, c.Text)
				}
			}
			if want.place != "" && !seen {
				show(t, r)
				t.Errorf("%s under %s: no clue %s at %s: %+v", broken, g, want.clue, want.place, found.Clues)
			}
		}
	}
}

// Rows of scalars, vectors and tensors, as networks of irreps hold them in one line, are told whatever the
// multiplicities are, and a bias on their vectors is named.
func TestRowsOfThreeDegrees(t *testing.T) {
	for _, broken := range []bool{false, true} {
		n := newCloud(9)
		d, f := n.apart(8)
		part := func(name, x string, from, to int64) string {
			return n.op(name, "Slice", []string{x, n.b.Ints(from), n.b.Ints(to), n.b.Ints(3)})
		}
		gather := func(name, y string, wide int64) string { // of every pair, to numbers of every point
			y = n.op(name+"-sum", "ReduceSum", []string{y, n.b.Ints(2)}, onnx.AttrInt("keepdims", 0))
			return n.op(name, "Reshape", []string{y, n.b.Ints(0, 0, wide)})
		}
		v := n.op("messages", "Mul", []string{
			n.op("wide", "Unsqueeze", []string{d, n.b.Ints(3)}),
			n.op("tall", "Unsqueeze", []string{part("weights", f, 0, 2), n.b.Ints(4)}),
		})
		x, y, z := part("dx", d, 0, 1), part("dy", d, 1, 2), part("dz", d, 2, 3)
		mul := func(a, b string, by float32) string {
			return n.op(a+b, "Mul", []string{n.op(a+"-"+b, "Mul", []string{a, b}), n.floats([]float32{by})})
		}
		const r3 = 1.7320508
		xx, yy, zz := mul(x, x, 1), mul(y, y, 1), mul(z, z, 1)
		axial := n.op("axial", "Sub", []string{
			yy, n.op("ring", "Mul", []string{n.op("around", "Add", []string{xx, zz}), n.floats([]float32{0.5})}),
		})
		planar := n.op("planar", "Mul", []string{n.op("across", "Sub", []string{zz, xx}), n.floats([]float32{r3 / 2})})
		y2 := n.op("harmonics", "Concat", []string{mul(x, z, r3), mul(x, y, r3), axial, mul(y, z, r3), planar},
			onnx.AttrInt("axis", 3))
		y2 = n.op("tensors", "Mul", []string{y2, part("weight2", f, 2, 3)})
		line := n.op("line", "Concat", []string{
			gather("scalars", part("numbers", f, 3, 8), 5), gather("vectors", v, 6), gather("degree2", y2, 5),
		}, onnx.AttrInt("axis", 2)) // 5x0e+2x1o+1x2e
		line = n.op("small", "Mul", []string{line, n.floats([]float32{0.05})})
		if broken {
			b := make([]float32, 16)
			b[5], b[9] = 0.1, -0.2
			line = n.op("bad-bias", "Add", []string{line, n.floats(b, 16)})
		}
		sq := n.op("squares", "Mul", []string{line, line})
		blocks := make([]float32, 16*8) // of each irrep the sum
		for i := range 16 {
			switch {
			case i < 5:
				blocks[8*i+i] = 1
			case i < 11:
				blocks[8*i+5+(i-5)/3] = 1
			default:
				blocks[8*i+7] = 1
			}
		}
		m := n.pooled(t, n.op("norms", "MatMul", []string{sq, n.floats(blocks, 16, 8)}), 8)
		found, r := look(t, audittest.Fixture{Subject: clouds(t, "line", "E(3) x S(5)", m)}, sweep.Check)
		if w := row(t, r, "small"); !strings.HasPrefix(w.Rep, "5x0e+2x1o+1x2e of each row") {
			t.Errorf("the line moves as %q", w.Rep)
		}
		named := slices.ContainsFunc(found.Clues, func(c audit.Clue) bool {
			return c.Name == audit.ClueBias && c.Holds && c.Location == "bad-bias"
		})
		if named != broken || !broken && (r.First >= 0 || len(found.Findings) > 0) {
			show(t, r)
			t.Errorf("broken %v: findings %+v, clues %+v", broken, found.Findings, found.Clues)
		}
	}
}

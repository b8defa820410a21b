package check_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/endtoend"
	"nero/audit/check/gradient"
	"nero/audit/check/lie"
	"nero/audit/check/preflight"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/orbit"
)

// aliased is a model of rows whose numbers are not the only ones for what they mean, on data of the same type.
func aliased(t *testing.T, typ, group string, rows func(r *rand.Rand) []float64,
	model func(b *onnx.Builder, x string) string,
) *audit.Subject {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 5))
	f, err := os.Create(filepath.Join(dir, "rows.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // written and read here
	w := 0
	for range 80 {
		var list [][]float64
		for range 5 {
			list = append(list, rows(r))
			w = len(list[0])
		}
		if err := json.NewEncoder(f).Encode(map[string]any{"nodes": list}); err != nil {
			t.Fatal(err)
		}
	}
	b := onnx.NewBuilder(17)
	b.Output(model(b, b.Input("nodes", tensor.Float32, "N", "R", w)), tensor.Float32, "N", "R", w)
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "model.onnx")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return audittest.Open(t, audittest.Files{
		Model: path, Data: dataset.Spec{Format: "graphs", Images: f.Name()},
		Types:   map[string]string{"nodes": typ},
		Outputs: []decode.OutputField{{Name: "out", Type: typ, Per: space.PerNode}},
		Group:   group, Orbit: orbit.Spec{Haar: 24},
	})
}

func floats(b *onnx.Builder, x ...float32) string { return b.Const(tensor.FromFloat32(x, len(x))) }

// boxes are cars with headings in [0, 2π), as many detectors answer; the model lets them drive by their length and
// turn by 0.1, and swerve by so much where the heading says.
func boxes(t *testing.T, swerve float32) *audit.Subject {
	t.Helper()
	return aliased(t, space.TypeBoxes, "SEg(3) x S(5)", func(r *rand.Rand) []float64 {
		return []float64{
			10 * r.NormFloat64(), 10 * r.NormFloat64(), r.NormFloat64(), 3 + r.Float64(), 1.5 + r.Float64(),
			1 + r.Float64(), 2 * math.Pi * r.Float64(),
		}
	}, func(b *onnx.Builder, x string) string {
		p := b.Ops("Split", 4, []string{x, b.Ints(2, 1, 3, 1)}, onnx.AttrInt("axis", -1))
		yaw, size := p[3], b.Op("Slice", []string{p[2], b.Ints(0), b.Ints(1), b.Ints(2)})
		ahead := b.Op("Concat", []string{b.Op("Cos", []string{yaw}), b.Op("Sin", []string{yaw})},
			onnx.AttrInt("axis", -1))
		at := b.Op("Add", []string{p[0], b.Op("Mul", []string{ahead, size})})
		turned := b.Op("Add", []string{yaw, floats(b, 0.1)})
		turned = b.Op("Add", []string{turned, b.Op("Mul", []string{b.Op("Sin", []string{yaw}), floats(b, swerve)})})
		turns := b.Op("Floor", []string{b.Op("Div", []string{turned, floats(b, 2*math.Pi)})})
		turned = b.Op("Sub", []string{turned, b.Op("Mul", []string{turns, floats(b, 2*math.Pi)})})
		return b.Op("Concat", []string{at, p[1], p[2], turned}, onnx.AttrInt("axis", -1))
	})
}

// solids are boxes in any orientation, which a quaternion of either sign says; the model shrinks them, lets them drive
// along their length, and lifts them by so much of their height towards one side of space. Mirrors exchange the signs
// of quaternions twice.
func solids(t *testing.T, lift float32) *audit.Subject {
	t.Helper()
	return aliased(t, space.TypeBoxesQuaternion, "E(3)", func(r *rand.Rand) []float64 {
		row, n := make([]float64, 10), 0.0
		for k := range row {
			row[k] = r.NormFloat64()
		}
		for k := 3; k < 6; k++ {
			row[k] = 1 + r.Float64()
		}
		for _, v := range row[6:] {
			n = math.Hypot(n, v)
		}
		for k := 6; k < 10; k++ {
			row[k] /= n
		}
		return row
	}, func(b *onnx.Builder, x string) string {
		p := b.Ops("Split", 6, []string{x, b.Ints(3, 3, 1, 1, 1, 1)}, onnx.AttrInt("axis", -1))
		at, size, q := p[0], p[1], p[2:6]
		// 2·(a·b ± c·d), of which the columns of the rotation are made
		twice := func(a, c, d, e string, sign float32) string {
			y := b.Op("Add", []string{
				b.Op("Mul", []string{a, c}), b.Op("Mul", []string{b.Op("Mul", []string{d, e}), floats(b, sign)}),
			})
			return b.Op("Mul", []string{y, floats(b, 2)})
		}
		// w² + a² - c² - d², which turns along for quaternions of any length, as 1 - 2 (c² + d²) does not
		main := func(w, a, c, d string) string {
			square := func(x string) string { return b.Op("Mul", []string{x, x}) }
			return b.Op("Sub", []string{
				b.Op("Add", []string{square(w), square(a)}), b.Op("Add", []string{square(c), square(d)}),
			})
		}
		join := func(x ...string) string { return b.Op("Concat", x, onnx.AttrInt("axis", -1)) }
		w, i, j, k := q[0], q[1], q[2], q[3]
		length := join(main(w, i, j, k), twice(i, j, w, k, 1), twice(i, k, w, j, -1))
		at = b.Op("Add", []string{at, b.Op("Mul", []string{length, floats(b, 0.5)})})
		at = b.Op("Add", []string{at, b.Op("Mul", []string{size, floats(b, 0, 0, lift)})})
		return join(at, b.Op("Mul", []string{size, floats(b, 0.9)}), b.Op("Neg", []string{join(q...)}))
	})
}

// written are upright boxes with headings up to several turns, which the model turns by 0.1. It makes them longer with
// the angle as it is written, by so much for each radian: of one box it says several things.
func written(t *testing.T, by float32) *audit.Subject {
	t.Helper()
	return aliased(t, space.TypeBoxes, "SEg(3) x S(5)", func(r *rand.Rand) []float64 {
		return []float64{
			10 * r.NormFloat64(), 10 * r.NormFloat64(), r.NormFloat64(), 3 + r.Float64(), 1.5 + r.Float64(),
			1 + r.Float64(), 2 * math.Pi * (3*r.Float64() - 1),
		}
	}, func(b *onnx.Builder, x string) string {
		p := b.Ops("Split", 3, []string{x, b.Ints(3, 3, 1)}, onnx.AttrInt("axis", -1))
		longer := b.Op("Add", []string{floats(b, 1), b.Op("Mul", []string{p[2], floats(b, by)})})
		size, yaw := b.Op("Mul", []string{p[1], longer}), b.Op("Add", []string{p[2], floats(b, 0.1)})
		return b.Op("Concat", []string{p[0], size, yaw}, onnx.AttrInt("axis", -1))
	})
}

// Boxes that were moved there and back have other headings, a full turn apart, and are not resampled: what a model
// makes of that is its own, and no interpolation excuses it.
func TestWritingIsNoResampling(t *testing.T) {
	for by, want := range map[float32]audit.Verdict{0: audit.Passed, 0.02: audit.Failed} {
		r := audittest.Audit(t, audittest.Fixture{Subject: written(t, by)}, endtoend.Check)
		if r.Verdict != want {
			t.Errorf("%g: %s, want %s: %v", by, r.Verdict, want, r.Gist())
		}
		for _, s := range r.Sets() {
			if s.Cause == audit.CauseResampling {
				t.Errorf("%g: boxes are resampled: %v", by, r.Gist())
			}
		}
	}
}

// quaternions are poses; the model turns each by a fixed rotation of its own frame, and answers with that of both signs
// whose real part is positive. A tilt adds to one component.
func quaternions(t *testing.T, tilt float32) *audit.Subject {
	t.Helper()
	return poses(t, tilt, func([]float64) {})
}

// poses are quaternions like these whose numbers somebody changes before they are brought to length 1.
func poses(t *testing.T, tilt float32, change func(q []float64)) *audit.Subject {
	t.Helper()
	return aliased(t, space.TypeQuaternions, "SO(3)", func(r *rand.Rand) []float64 {
		q, n := make([]float64, 4), 0.0
		for k := range q {
			q[k] = r.NormFloat64()
		}
		change(q)
		for _, v := range q {
			n = math.Hypot(n, v)
		}
		for k := range q {
			q[k] /= n
		}
		return q
	}, func(b *onnx.Builder, x string) string {
		// q·(0.8, 0.6, 0, 0), as a matrix from the right
		m := b.Const(tensor.FromFloat32([]float32{
			0.8, 0.6, 0, 0,
			-0.6, 0.8, 0, 0,
			0, 0, 0.8, -0.6,
			0, 0, 0.6, 0.8,
		}, 4, 4))
		y := b.Op("MatMul", []string{x, m})
		y = b.Op("Add", []string{y, b.Op("Mul", []string{y, floats(b, 0, tilt, 0, 0)})})
		w := b.Op("Slice", []string{y, b.Ints(0), b.Ints(1), b.Ints(2)})
		negative := b.Op("Less", []string{w, floats(b, 0)})
		return b.Op("Where", []string{negative, b.Op("Neg", []string{y}), y})
	})
}

// Numbers that are not the only ones for what they mean are compared as what they mean: by the laws of the action, at
// exact and other elements, in derivatives.
func TestHeadingsAndQuaternions(t *testing.T) {
	for name, x := range map[string]struct{ clean, broken *audit.Subject }{
		"boxes":       {boxes(t, 0), boxes(t, 0.3)},
		"tilted":      {solids(t, 0), solids(t, 0.3)},
		"quaternions": {quaternions(t, 0), quaternions(t, 0.3)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []*audit.Check{preflight.Check, endtoend.Check, lie.Check, gradient.Check} {
				clean := audittest.Audit(t, audittest.Fixture{Subject: x.clean}, c)
				if f := clean.Findings(); len(f) > 0 {
					t.Errorf("%s: finding of a clean model: %s", c.Name, f[0].Message)
				}
				for _, r := range clean.Results {
					if r.Status != audit.Tested {
						t.Errorf("%s: %s: %s", r.Check.Name, r.Status, r.Reason)
					}
				}
				if c == preflight.Check {
					continue
				}
				if f := audittest.Audit(t, audittest.Fixture{Subject: x.broken}, c).Findings(); len(f) == 0 {
					t.Errorf("%s: no finding of a broken model", c.Name)
				}
			}
		})
	}
}

// Where the real part of an answer is zero the model changes the sign of the others: to both sides of such a pose it
// answers with quaternions that are nearly opposite, and differences are taken between those that are near.
func TestSignsChangeBetweenDifferences(t *testing.T) {
	edge := func(q []float64) { q[1] = q[0] * 0.8 / 0.6 }
	for _, closed := range []bool{false, true} { // with no graph there are differences alone
		for tilt, broken := range map[float32]bool{0: false, 0.3: true} {
			s := poses(t, tilt, edge)
			if closed {
				s.Interior, s.Reference = nil, nil
			}
			for _, r := range audittest.Audit(t, audittest.Fixture{Subject: s}, lie.Check).Results {
				if r.Check == lie.Check && (r.Status != audit.Tested || len(r.Findings) > 0 != broken) {
					t.Errorf("%s: no graph %v, tilt %g: %s %s, findings %+v", r.Check.Name, closed, tilt, r.Status,
						r.Reason, r.Findings)
				}
			}
		}
	}
}

// points are five points that the model multiplies by the mean of their squares, and draws along one axis if told so.
func points(t *testing.T, group string, pull float32) *audit.Subject {
	t.Helper()
	return aliased(t, space.TypePositions, group, func(r *rand.Rand) []float64 {
		return []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
	}, func(b *onnx.Builder, x string) string {
		m := b.Op("ReduceMean", []string{b.Op("Mul", []string{x, x})}, onnx.AttrInts("axes", 1, 2))
		m = b.Op("Mul", []string{m, x})
		return b.Op("Add", []string{m, b.Op("Mul", []string{m, floats(b, pull, 0, 0)})})
	})
}

// A product has the derivatives of its continuous factors, so that a demand for them is met by having looked.
func TestDerivativesUnderProducts(t *testing.T) {
	for _, name := range []string{"SO(3)", "SO(3) x S(5)", "S(5) x O(3)"} {
		r := audittest.Audit(t, audittest.Fixture{Subject: points(t, name, 0)}, lie.Check)
		for _, x := range r.Results {
			if x.Status != audit.Tested {
				t.Errorf("%s: %s: %s: %s", name, x.Check.Name, x.Status, x.Reason)
			}
		}
		if f := r.Findings(); len(f) > 0 {
			t.Errorf("%s: finding of a clean model: %s", name, f[0].Message)
		}
		r = audittest.Audit(t, audittest.Fixture{Subject: points(t, name, 0.2)}, lie.Check)
		where := map[string]bool{}
		for _, f := range r.Findings() {
			where[f.Location] = true
		}
		if len(where) != 2 || where["rotation x"] { // a pull along x survives turns about x
			t.Errorf("%s: found along %v", name, where)
		}
	}
}

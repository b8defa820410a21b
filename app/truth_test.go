package app_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"nero/app"
	auditing "nero/audit"
	"nero/data/tensor"
	"nero/model/engine/tiny"
	"nero/run/job"
)

// npyFile writes float32 numbers as an npy file of version 1.0.
func npyFile(t *testing.T, name string, shape []int, x []float32) {
	t.Helper()
	axes := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ","), "[]")
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", axes)
	for (len(head)+11)%64 != 0 {
		head += " "
	}
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write([]byte{byte(len(head) + 1), byte((len(head) + 1) >> 8)})
	b.WriteString(head + "\n")
	for _, v := range x {
		u := math.Float32bits(v)
		b.Write([]byte{byte(u), byte(u >> 8), byte(u >> 16), byte(u >> 24)})
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// side is that of the pictures of these models.
const side = 12

// walks are pictures of noise and of random walks along their rows.
func walks(n int) []float32 {
	r := rand.New(rand.NewPCG(1, 1))
	out := make([]float32, 0, n*side*side)
	for range n * side {
		sum := 0.0
		for range side {
			sum += r.NormFloat64()
			out = append(out, float32(r.NormFloat64()+0.2*sum))
		}
	}
	return out
}

// random is a matrix of normal numbers times a factor.
func random(seed uint64, rows, cols int, factor float64) tensor.Tensor {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(factor * r.NormFloat64())
	}
	return tensor.FromFloat32(x, rows, cols)
}

// network writes a model of pictures with so many outputs.
func network(t *testing.T, name string, size, outputs int, constants map[string]tensor.Tensor, nodes ...tiny.Node) {
	t.Helper()
	m := tiny.Model{
		Nodes:  nodes,
		Inputs: []tiny.Port{{Name: "x", DType: tensor.Float32, Shape: []int{tiny.Free, 1, size, size}}},
		Outputs: []tiny.Port{
			{Name: "y", DType: tensor.Float32, Shape: []int{tiny.Free, outputs}},
		},
	}
	for name, c := range constants {
		m.Constants = append(m.Constants, tensor.Named{Name: name, Tensor: c})
	}
	if err := os.WriteFile(name, m.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func op(kind, out string, in ...string) tiny.Node {
	return tiny.Node{Op: kind, Inputs: in, Outputs: []string{out}}
}

func with(n tiny.Node, attrs ...tiny.Attr) tiny.Node {
	n.Attrs = attrs
	return n
}

// invariantNumber is an invariant number, times k, and flat the picture as a row.
func invariantNumber() []tiny.Node {
	return []tiny.Node{
		op("Mul", "sq", "x", "x"),
		with(op("ReduceMean", "e4", "sq"), tiny.Attr{Name: "axes", Value: []int{2, 3}},
			tiny.Attr{Name: "keepdims", Value: 0}),
		op("Mul", "a", "e4", "k"),
		with(op("Flatten", "fl", "x"), tiny.Attr{Name: "axis", Value: 1}),
		op("MatMul", "b", "fl", "w"),
	}
}

// claim is what is asked of a model in these tests.
type claim struct {
	space  string
	checks []string
	change func(s *job.Study)
}

// judged audits a model under quarter turns that it is said to be invariant to.
func judged(t *testing.T, dir, model, data string, ask claim) *auditing.Report {
	t.Helper()
	s := &job.Study{
		Models: []job.Model{{Name: "m", ONNX: filepath.Join(dir, model)}},
		Data:   job.Data{Images: filepath.Join(dir, data), Layout: "NCHW"},
		Input:  job.Input{Layout: "NCHW"},
		Output: job.Output{Space: ask.space, Action: "invariant"},
		Group:  job.Group{Name: "C4"},
	}
	s.Audit.Checks = ask.checks
	if ask.change != nil {
		ask.change(s)
	}
	r, err := new(app.App).Audit(t.Context(), s, app.AuditOptions{Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome() == app.NotRun {
		t.Fatalf("%s: not audited: %q", model, r.Unaudited())
	}
	return r.Reports[0]
}

// forward are the checks that judge answers as they are.
var forward = []string{"lattice", "decision"}

// failsIn wants a FAIL that names the part of the output that is broken.
func failsIn(t *testing.T, r *auditing.Report, part string) {
	t.Helper()
	if r.Verdict != auditing.Failed {
		t.Errorf("%s, want FAIL: %q", r.Verdict, r.Reasons)
	}
	for _, s := range r.Sets() {
		if s.Field() != part {
			t.Errorf("the part that errs most is %q, want %q", s.Field(), part)
		}
	}
}

// Numbers of different units stand in one output: an energy that holds, and a hundred thousand times smaller one that
// does not.
func TestOutputsInTheirOwnUnits(t *testing.T) {
	dir := t.TempDir()
	npyFile(t, filepath.Join(dir, "x.npy"), []int{96, 1, side, side}, walks(96))
	k := map[string]tensor.Tensor{"k": tensor.FromFloat32([]float32{1e6}, 1), "w": random(3, side*side, 1, 1.0/side)}
	join := with(op("Concat", "y", "a", "b"), tiny.Attr{Name: "axis", Value: 1})
	network(t, filepath.Join(dir, "units.onnx"), side, 2, k, append(invariantNumber(), join)...)
	r := judged(t, dir, "units.onnx", "x.npy", claim{space: "tensor", checks: forward})
	failsIn(t, r, "channel 1")
	if e := r.Sets()[0].Worst.Value; !(e > 1) {
		t.Errorf("error %g of its own scale, want more than 1", e)
	}
	r = judged(t, dir, "units.onnx", "x.npy", claim{checks: forward}) // as scores that nobody declared
	if r.Verdict != auditing.Failed {
		t.Errorf("as scores: %s: %q", r.Verdict, r.Reasons)
	}
	// The clean twin: the second number is invariant, too.
	twin := append(invariantNumber()[:3], op("Sqrt", "b", "e4"), join)
	network(t, filepath.Join(dir, "twin.onnx"), side, 2, k, twin...)
	if r = judged(t, dir, "twin.onnx", "x.npy", claim{space: "tensor", checks: forward}); r.Verdict != auditing.Passed {
		t.Errorf("the clean twin: %s: %q", r.Verdict, r.Reasons)
	}
}

// One output of ten is a million times smaller than the others, and wholly broken.
func TestSmallOutput(t *testing.T) {
	dir := t.TempDir()
	npyFile(t, filepath.Join(dir, "x.npy"), []int{96, 1, side, side}, walks(96))
	left, right := make([]float32, 10), make([]float32, 10)
	for i := range left {
		left[i] = float32(1e6 * (1 + 0.37*float64(i*i%7)))
	}
	left[3], right[3] = 0, 1
	c := map[string]tensor.Tensor{
		"k": tensor.FromFloat32(left, 10), "w": random(3, side*side, 1, 1.0/side),
		"only": tensor.FromFloat32(right, 10),
	}
	nodes := append(invariantNumber(), op("Mul", "b10", "b", "only"), op("Add", "y", "a", "b10"))
	network(t, filepath.Join(dir, "hugechan.onnx"), side, 10, c, nodes...)
	r := judged(t, dir, "hugechan.onnx", "x.npy", claim{space: "tensor", checks: forward})
	failsIn(t, r, "channel 3")
	failsIn(t, judged(t, dir, "hugechan.onnx", "x.npy", claim{checks: forward}), "class 3")
	for _, f := range r.Findings() {
		if strings.Contains(f.Message, "do not vary") {
			t.Errorf("channel 3 varies in its own unit: %s", f.Message)
		}
	}
}

// What all scores share is no scale: the softmax does not see it.
func TestCommonPartOfScores(t *testing.T) {
	dir := t.TempDir()
	npyFile(t, filepath.Join(dir, "x.npy"), []int{96, 1, side, side}, walks(96))
	c := map[string]tensor.Tensor{"k": tensor.FromFloat32([]float32{1e6}, 1), "w": random(5, side*side, 10, 2.0/side)}
	network(t, filepath.Join(dir, "common.onnx"), side, 10, c, append(invariantNumber(), op("Add", "y", "a", "b"))...)
	for _, space := range []string{"", "scores"} {
		r := judged(t, dir, "common.onnx", "x.npy", claim{space: space, checks: forward})
		failsIn(t, r, "")
		if !strings.Contains(strings.Join(r.Reasons, "\n"), "the class changes with the element for") {
			t.Errorf("space %q: nothing is said of the classes: %q", space, r.Reasons)
		}
		for _, x := range r.Results {
			if x.Check.Name == "decision" && x.Verdict == auditing.Passed {
				t.Errorf("space %q: the classes pass", space)
			}
		}
	}
	// The other way round: what all scores share breaks, and what tells them apart does not. Of classes this is no
	// break, of other numbers it is.
	c = map[string]tensor.Tensor{
		"k": tensor.FromFloat32([]float32{1, 2, 4, 3, 5, 7, 6, 8, 10, 9}, 10), "w": random(3, side*side, 1, 1.0/side),
	}
	network(t, filepath.Join(dir, "shared.onnx"), side, 10, c, append(invariantNumber(), op("Add", "y", "a", "b"))...)
	failsIn(t, judged(t, dir, "shared.onnx", "x.npy", claim{checks: forward}), "what all scores have in common")
	r := judged(t, dir, "shared.onnx", "x.npy", claim{space: "scores", checks: forward})
	if r.Verdict != auditing.Passed {
		t.Errorf("declared scores whose common part breaks: %s: %q", r.Verdict, r.Reasons)
	}
}

// A part that does not vary is no evidence, and is named; the others are judged.
func TestConstantChannel(t *testing.T) {
	dir := t.TempDir()
	npyFile(t, filepath.Join(dir, "x.npy"), []int{96, 1, side, side}, walks(96))
	c := map[string]tensor.Tensor{
		"k": tensor.FromFloat32([]float32{1, 0, 2}, 3), "w": random(3, side*side, 1, 1),
		"five": tensor.FromFloat32([]float32{0, 5, 0}, 3),
	}
	network(t, filepath.Join(dir, "still.onnx"), side, 3, c,
		append(invariantNumber()[:3], op("Add", "y", "a", "five"))...)
	r := judged(t, dir, "still.onnx", "x.npy", claim{space: "tensor", checks: forward})
	said := strings.Join(r.Caveats(), "\n")
	if r.Verdict != auditing.Passed || !strings.Contains(said, "1 of 3 channels of the output do not vary: 1") {
		t.Errorf("%s: %q: %s", r.Verdict, r.Reasons, said)
	}
}

// The scale of one log-normal output is measured on all of the data, so that the verdict does not depend on which
// inputs were drawn.
func TestScaleOfAllData(t *testing.T) {
	dir := t.TempDir()
	const n = 4000
	r := rand.New(rand.NewPCG(9, 9))
	x := make([]float32, 16*n)
	for i := range x {
		switch x[i] = float32(r.NormFloat64()); i % 16 {
		case 0:
			x[i] = 1
		case 3, 12, 15:
			x[i] = -1
		}
	}
	var sum, square float64
	for i := range n {
		a := 0.0
		for _, k := range []int{5, 6, 9, 10} {
			a += 0.5 * float64(x[16*i+k])
		}
		y := math.Exp(a) + 0.001
		sum, square = sum+y/n, square+y*y/n
	}
	truth := 0.002 / math.Sqrt(square-sum*sum)
	npyFile(t, filepath.Join(dir, "x.npy"), []int{n, 1, 4, 4}, x)
	k, c := make([]float32, 16), make([]float32, 16)
	k[5], k[6], k[9], k[10], c[0] = 0.5, 0.5, 0.5, 0.5, 0.001
	network(t, filepath.Join(dir, "popF.onnx"), 4, 1,
		map[string]tensor.Tensor{"k": tensor.FromFloat32(k, 16, 1), "c": tensor.FromFloat32(c, 16, 1)},
		with(op("Flatten", "fl", "x"), tiny.Attr{Name: "axis", Value: 1}), op("MatMul", "a", "fl", "k"),
		op("Exp", "b", "a"),
		op("MatMul", "d", "fl", "c"), op("Add", "y", "b", "d"))
	for _, q := range []struct {
		share float64
		want  auditing.Verdict
	}{{0.5, auditing.Passed}, {2, auditing.Failed}} {
		for seed := range uint64(3) {
			r := judged(t, dir, "popF.onnx", "x.npy", claim{checks: []string{"lattice"}, change: func(s *job.Study) {
				s.Data.Limit, s.Data.Seed, s.Audit.Threshold = 100, seed, truth/q.share
			}})
			w := r.Sets()[0].Worst
			if r.Verdict != q.want || !(w.Lo <= truth && truth <= w.Hi) || math.Abs(w.Value/truth-1) > 1e-3 {
				t.Errorf("seed %d, %g limits: %s, error %g in [%g, %g], true %g", seed, q.share, r.Verdict, w.Value,
					w.Lo, w.Hi,
					truth)
			}
		}
	}
}

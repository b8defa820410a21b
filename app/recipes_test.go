//go:build !race

package app_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"nero/app"
	core "nero/audit"
	"nero/data/tensor"
	"nero/model/engine/tiny"
)

// recipe is a folder with a model and pictures as numbers.
type recipe struct {
	t   *testing.T
	dir string
}

func newRecipe(t *testing.T) *recipe {
	t.Helper()
	return &recipe{t, t.TempDir()}
}

// numbers writes an npy file of n pictures of side × side, made by draw.
func (r *recipe) numbers(n, side int, draw func(rng *rand.Rand, pixels []float32)) {
	r.t.Helper()
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1, %d, %d), }", n, side, side)
	for (len(head)+11)%64 != 0 {
		head += " "
	}
	head += "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	rng := rand.New(rand.NewPCG(7, 1))
	for range n {
		pixels := make([]float32, side*side)
		draw(rng, pixels)
		for _, v := range pixels {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	r.write("x.npy", b)
}

func (r *recipe) write(name string, b []byte) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), b, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// audit audits a model under a study whose other keys are given.
func (r *recipe) audit(m tiny.Model, keys string) *core.Report {
	r.t.Helper()
	r.write("m.onnx", m.Bytes())
	r.write("study.yaml", []byte("version: 1\nmodels: m.onnx\ndata: {images: x.npy}\n"+keys))
	s, err := new(app.App).OpenStudy(filepath.Join(r.dir, "study.yaml"))
	if err != nil {
		r.t.Fatal(err)
	}
	all, err := new(app.App).Audit(r.t.Context(), s, app.AuditOptions{
		Workers: runtime.GOMAXPROCS(0), FailOn: "fail",
	})
	if err != nil {
		r.t.Fatal(err)
	}
	report := all.Reports[0]
	if report.Error != "" {
		r.t.Fatal(report.Error)
	}
	return report
}

// rough is a picture with content everywhere.
func rough(rng *rand.Rand, pixels []float32) {
	for i := range pixels {
		pixels[i] = float32(rng.NormFloat64())
	}
}

// inside is a picture whose content keeps clear of the border by a margin.
func inside(margin int) func(*rand.Rand, []float32) {
	return func(rng *rand.Rand, pixels []float32) {
		rough(rng, pixels)
		side := int(math.Sqrt(float64(len(pixels))))
		for i := range pixels {
			y, x := i/side, i%side
			if min(y, x, side-1-y, side-1-x) < margin {
				pixels[i] = 0
			}
		}
	}
}

func picture(side int) tiny.Port {
	return tiny.Port{Name: "x", DType: tensor.Float32, Shape: []int{tiny.Free, 1, side, side}}
}

func scores(n int) tiny.Port {
	return tiny.Port{Name: "y", DType: tensor.Float32, Shape: []int{tiny.Free, n}}
}

func constant(name string, t tensor.Tensor) tensor.Named { return tensor.Named{Name: name, Tensor: t} }

func node(op string, out string, in ...string) tiny.Node {
	return tiny.Node{Op: op, Inputs: in, Outputs: []string{out}}
}

// energy is the invariant mean of the squares, and NaN for batches above eight if broken.
func energy(side int, broken bool) tiny.Model {
	m := tiny.Model{
		Inputs: []tiny.Port{picture(side)}, Outputs: []tiny.Port{scores(1)},
		Nodes: []tiny.Node{
			node("Mul", "square", "x", "x"),
			{
				Op: "ReduceMean", Inputs: []string{"square"}, Outputs: []string{"energy"},
				Attrs: []tiny.Attr{{Name: "axes", Value: []int{2, 3}}, {Name: "keepdims", Value: 0}},
			},
		},
	}
	if !broken {
		m.Nodes = append(m.Nodes, node("Identity", "y", "energy"))
		return m
	}
	m.Nodes = append(m.Nodes, node("Shape", "shape", "x"), node("Gather", "n", "shape", "zero"),
		node("Greater", "many", "n", "eight"), node("Where", "poison", "many", "nan", "nothing"),
		node("Add", "y", "energy", "poison"))
	m.Constants = []tensor.Named{
		constant("zero", tensor.FromInt64([]int64{0}, 1)), constant("eight", tensor.FromInt64([]int64{8}, 1)),
		constant("nan", tensor.FromFloat32([]float32{float32(math.NaN())}, 1)),
		constant("nothing", tensor.FromFloat32([]float32{0}, 1)),
	}
	return m
}

// around is exactly invariant to shifts around: circular padding, a convolution, a ReLU and the mean.
func around(side int) tiny.Model {
	m := tiny.Model{Inputs: []tiny.Port{picture(side)}, Outputs: []tiny.Port{scores(6)}}
	at := map[string]int64{"last": -1, "far": 99, "first": 0, "second": 1, "rows": 2, "columns": 3}
	for _, name := range []string{"last", "far", "first", "second", "rows", "columns"} {
		m.Constants = append(m.Constants, constant(name, tensor.FromInt64([]int64{at[name]}, 1)))
	}
	rng := rand.New(rand.NewPCG(3, 3))
	w := make([]float32, 54)
	for i := range w {
		w[i] = float32(rng.NormFloat64())
	}
	m.Constants = append(m.Constants, constant("w", tensor.FromFloat32(w, 6, 1, 3, 3)))
	for _, axis := range []struct {
		in, name, out string
		n             int
	}{{"x", "rows", "p", 2}, {"p", "columns", "q", 3}} {
		m.Nodes = append(m.Nodes, node("Slice", axis.out+"0", axis.in, "last", "far", axis.name),
			node("Slice", axis.out+"1", axis.in, "first", "second", axis.name),
			tiny.Node{
				Op: "Concat", Inputs: []string{axis.out + "0", axis.in, axis.out + "1"}, Outputs: []string{axis.out},
				Attrs: []tiny.Attr{{Name: "axis", Value: axis.n}},
			})
	}
	m.Nodes = append(m.Nodes, node("Conv", "c", "q", "w"), node("Relu", "r", "c"),
		node("GlobalAveragePool", "g", "r"),
		tiny.Node{
			Op: "Flatten", Inputs: []string{"g"}, Outputs: []string{"y"},
			Attrs: []tiny.Attr{{Name: "axis", Value: 1}},
		})
	return m
}

// dense is a layer that tells every pixel from every other.
func dense(side int) tiny.Model {
	rng := rand.New(rand.NewPCG(4, 4))
	w := make([]float32, side*side*3)
	for i := range w {
		w[i] = float32(rng.NormFloat64())
	}
	return tiny.Model{
		Inputs: []tiny.Port{picture(side)}, Outputs: []tiny.Port{scores(3)},
		Nodes: []tiny.Node{
			{
				Op: "Flatten", Inputs: []string{"x"}, Outputs: []string{"f"},
				Attrs: []tiny.Attr{{Name: "axis", Value: 1}},
			},
			node("MatMul", "y", "f", "w"),
		},
		Constants: []tensor.Named{constant("w", tensor.FromFloat32(w, side*side, 3))},
	}
}

// right is what the second question, whether it is tested right, is answered with.
func right(r *core.Report) string { return strings.Join(r.Questions()[1].Answers, "\n") }

func wants(t *testing.T, what, text, pattern string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(text) {
		t.Errorf("%s: want %q in\n%s", what, pattern, text)
	}
}

const turns = "group: {name: C4}\noutput: {action: invariant}\n"

// Outputs that are not finite in larger batches FAIL with that cause, whatever --fail-on lets through, and whether or
// not the audit itself uses such batches.
func TestNotFiniteBatch(t *testing.T) {
	const side = 8
	for _, n := range []int{6, 48} { // fewer inputs than the batches that break, and more
		r := newRecipe(t)
		r.numbers(n, side, rough)
		got := r.audit(energy(side, true), turns)
		if got.Verdict != core.Failed || core.ExitCode(got) != core.ExitFail {
			t.Errorf("%d inputs: %s, exit %d: %q", n, got.Verdict, core.ExitCode(got), got.Reasons)
		}
		if len(got.Diagnoses) == 0 || got.Diagnoses[0].ID != "non-finite-batch" {
			t.Errorf("%d inputs: causes %+v", n, got.Diagnoses)
		} else if at := got.Diagnoses[0].Location; at != "batches of 16 and 32" {
			t.Errorf("%d inputs: place %q", n, at)
		}
		if got = r.audit(energy(side, false), turns); got.Verdict == core.Failed || len(got.Diagnoses) > 0 {
			t.Errorf("%d inputs, clean: %s, %+v", n, got.Verdict, got.Diagnoses)
		}
	}
}

// What the border cuts off is no fault of the model: nothing in it is blamed where content leaves the frame, and the
// same model passes where nothing does.
func TestCutOff(t *testing.T) {
	const side = 12
	shifts := "group: {name: 'T(2,Z)', orbit: {values: [[0, 0], [3, 0], [0, 3]]}}\noutput: {action: invariant}\n"
	circular := strings.Replace(shifts, "orbit:", "border: circular, orbit:", 1)
	r := newRecipe(t)
	r.numbers(96, side, rough)
	got := r.audit(around(side), shifts)
	if got.Verdict != core.NeedsAttention {
		t.Errorf("%s: %q", got.Verdict, got.Reasons)
	}
	wants(t, "tested right", right(got), `^no: exact elements: the elements move [0-9.]+% of the energy`)
	if len(got.Diagnoses) == 0 || got.Diagnoses[0].ID != "cut-off" {
		t.Errorf("causes %+v", got.Diagnoses)
	}
	for _, d := range got.Diagnoses {
		if d.ID == "custom-layer" || d.ID == "padding" || strings.Contains(d.Location, "Pool") {
			t.Errorf("the model is blamed: %+v", d)
		}
	}
	wants(t, "layer", strings.Join(got.Questions()[2].Answers, "\n"), "^none can be named")
	for _, f := range got.Graded() {
		if f.Severity == core.High {
			t.Errorf("blamed: %s: %s", f.ID, f.Message)
		}
	}
	if got = r.audit(around(side), circular); got.Verdict != core.Passed {
		t.Errorf("circular border: %s: %q", got.Verdict, got.Reasons)
	}
	if got = r.audit(dense(side), circular); got.Verdict != core.Failed {
		t.Errorf("a dense layer, circular border: %s: %q", got.Verdict, got.Reasons)
	}
	r.numbers(96, side, inside(3))
	if got = r.audit(around(side), shifts); got.Verdict != core.Passed {
		t.Errorf("with a margin: %s: %q", got.Verdict, got.Reasons)
	}
	if got = r.audit(dense(side), shifts); got.Verdict != core.Failed {
		t.Errorf("a dense layer, with a margin: %s: %q", got.Verdict, got.Reasons)
	}
}

// A required check that did not run is no pass, also where its question does not arise.
func TestRequired(t *testing.T) {
	r := newRecipe(t)
	r.numbers(96, 8, rough)
	if got := r.audit(energy(8, false), turns); got.Verdict != core.Passed {
		t.Fatalf("%s: %q", got.Verdict, got.Reasons)
	}
	got := r.audit(energy(8, false), turns+"audit: {require: [lie]}\n")
	if got.Verdict != core.NeedsAttention {
		t.Errorf("%s: %q", got.Verdict, got.Reasons)
	}
	wants(t, "tested right", right(got), `not all of it: Very small motions \(lie\) is required and did not run: not applicable: C4`)
	if got = r.audit(energy(8, false), turns+"audit: {require: [precision, stress]}\n"); got.Verdict != core.Passed {
		t.Errorf("%s: %q", got.Verdict, got.Reasons)
	}
}

// Copies among the inputs count once.
func TestCopies(t *testing.T) {
	r := newRecipe(t)
	i := -1
	r.numbers(96, 8, func(_ *rand.Rand, pixels []float32) {
		i++
		rough(rand.New(rand.NewPCG(uint64(i%3), 0)), pixels)
	})
	got := r.audit(energy(8, false), turns)
	if got.Inputs != 3 || got.Given != 96 {
		t.Errorf("%d inputs of %d", got.Inputs, got.Given)
	}
	for _, s := range got.Sets() {
		if s.Inputs != 3 || s.Exceed.N != 3 || s.Worst.N != 3 {
			t.Errorf("%s: %d inputs, intervals of %d and %d", s.Name, s.Inputs, s.Worst.N, s.Exceed.N)
		}
	}
	wants(t, "tested right", right(got), "96 inputs are 3 different ones")
	if got.Verdict == core.Passed {
		t.Error("three inputs show that five in a hundred hold")
	}
	wants(t, "certificate", strings.Join(got.Certificate(), "\n"), "like the 3 that were tested")
}

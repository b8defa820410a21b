package app_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"nero/app"
	auditing "nero/audit"
	"nero/data/tensor"
	"nero/internal/slow"
	"nero/model/engine/tiny"
	"nero/run/job"
)

// rings are the six rings of pixels around the middle of a picture, as columns: what is summed over them is invariant
// to quarter turns.
func rings() tensor.Tensor {
	x := make([]float32, side*side*side/2)
	for i := range side * side {
		a, b := i/side, i%side
		ring := min(a, b, side-1-a, side-1-b)
		x[i*side/2+ring] = 1 / float32(math.Sqrt(float64(side*side)))
	}
	return tensor.FromFloat32(x, side*side, side/2)
}

// quadrants are the four quadrants of a picture as columns, in the order in which a quarter turn takes one to the next.
func quadrants() tensor.Tensor {
	x := make([]float32, side*side*4)
	for i := range side * side {
		top, left := i/side < side/2, i%side < side/2
		k := 0 // above to the left, then against the clock
		switch {
		case !top && left:
			k = 1
		case !top:
			k = 2
		case !left:
			k = 3
		}
		x[i*4+k] = 1.0 / side
	}
	return tensor.FromFloat32(x, side*side, 4)
}

// pixel is the pixel of a row and a column, as a column of weights times a factor.
func pixel(row, column int, factor float32) tensor.Tensor {
	x := make([]float32, side*side)
	x[row*side+column] = factor
	return tensor.FromFloat32(x, side*side, 1)
}

func scalar(v float32) tensor.Tensor { return tensor.FromFloat32([]float32{v}, 1) }

// invariants are four numbers that quarter turns keep: squares summed over rings, mixed by a small dense network.
func invariants() []tiny.Node {
	return []tiny.Node{
		with(op("Flatten", "flat", "x"), tiny.Attr{Name: "axis", Value: 1}), op("Mul", "square", "flat", "flat"),
		op("MatMul", "sums", "square", "rings"), op("MatMul", "mixed", "sums", "mix"), op("Tanh", "bent", "mixed"),
		op("MatMul", "clean", "bent", "head"),
	}
}

// sabotage is one way to break four invariant numbers, and what an audit is to say of it.
type sabotage struct {
	name string
	// nodes from "flat", "square", "sums" and "clean" to "y", with their constants
	nodes     []tiny.Node
	constants map[string]tensor.Tensor
	// changes the pictures, [96, 1, side, side]
	data func(x []float32)
	// changes the study
	study func(s *job.Study)
	// what the verdict may be, the cause that comes first and what the reasons or findings say; empty for any
	verdicts []auditing.Verdict
	cause    string
	says     string
}

// add adds a column of numbers that are not invariant to the first of the four.
func add(nodes ...tiny.Node) []tiny.Node {
	return append(nodes, op("Mul", "apart", "term", "first"), op("Add", "y", "clean", "apart"))
}

var (
	fails   = []auditing.Verdict{auditing.Failed}
	warns   = []auditing.Verdict{auditing.NeedsAttention}
	notPass = []auditing.Verdict{auditing.Failed, auditing.NeedsAttention}
)

func sabotages() []sabotage {
	first := tensor.FromFloat32([]float32{1, 0, 0, 0}, 4)
	marked := func(x []float32) { // the corners tell which side is up
		for i := 0; i < len(x); i += side * side {
			x[i], x[i+side-1], x[i+side*side-side], x[i+side*side-1] = 1, -1, -1, -1
		}
	}
	// beyond is the part of an invariant energy above a bound, times what is not invariant.
	beyond := func(bound, factor float32) ([]tiny.Node, map[string]tensor.Tensor) {
		return add(with(op("ReduceSum", "energy", "square", "one"), tiny.Attr{Name: "keepdims", Value: 1}),
				op("Sub", "over", "energy", "bound"), op("Relu", "gate", "over"), op("Sign", "open", "gate"),
				op("MatMul", "corner", "flat", "pick"), op("Mul", "term", "open", "corner")),
			map[string]tensor.Tensor{
				"bound": scalar(bound), "pick": pixel(0, 2, factor), "first": first,
				"one": tensor.FromInt64([]int64{1}, 1),
			}
	}
	rare, rareC := beyond(0, 1)
	far, farC := beyond(0, 1)
	return []sabotage{
		{
			name: "clean", nodes: []tiny.Node{op("Identity", "y", "clean")},
			verdicts: []auditing.Verdict{auditing.Passed},
		},
		{
			name: "a term from one corner pixel", nodes: add(op("MatMul", "term", "flat", "pick")),
			constants: map[string]tensor.Tensor{
				"pick": pixel(0, 0, 0.02), "first": tensor.FromFloat32([]float32{1, 0.7, -0.4, 0.2}, 4),
			},
			verdicts: fails, cause: "positions",
		},
		{
			name: "broken for two of 96 inputs", nodes: rare, constants: rareC,
			data:     func(x []float32) { rareC["bound"] = scalar(quantile(x, 94)) },
			verdicts: warns,
		},
		{
			name: "broken far from the data alone", nodes: far, constants: farC,
			data:     func(x []float32) { farC["bound"] = scalar(25 * quantile(x, 96)) },
			verdicts: warns, cause: "extreme-inputs",
		},
		{
			name: "a neighbour in the batch leaks", nodes: add(op("Slice", "before", "sums", "zero", "one", "zero"),
				op("MatMul", "term", "before", "pick")),
			constants: map[string]tensor.Tensor{
				"zero": tensor.FromInt64([]int64{0}, 1), "one": tensor.FromInt64([]int64{1}, 1),
				"pick": random(8, side/2, 1, 0.05), "first": first,
			},
			verdicts: notPass, cause: "batch-leak",
		},
		{
			name:  "the identity is recognised",
			nodes: add(op("MatMul", "corner", "flat", "pick"), op("Relu", "term", "corner")),
			data:  marked, constants: map[string]tensor.Tensor{"pick": pixel(0, 0, 0.02), "first": first},
			verdicts: fails,
		},
		{
			name: "scores that permute under the group",
			nodes: []tiny.Node{
				op("MatMul", "parts", "square", "quarters"), op("Identity", "y", "parts"),
			},
			constants: map[string]tensor.Tensor{"quarters": quadrants()},
			verdicts:  fails, cause: "convention",
		},
		{
			name: "minus infinity in one channel",
			nodes: []tiny.Node{
				op("Sub", "none", "clean", "clean"), op("Log", "deep", "none"), op("Greater", "only", "first", "half"),
				op("Where", "y", "only", "deep", "clean"),
			},
			constants: map[string]tensor.Tensor{"first": first, "half": scalar(0.5)},
			verdicts:  fails, cause: "non-finite",
		},
		{
			name:      "an answer that never changes",
			nodes:     []tiny.Node{op("Mul", "none", "clean", "zero"), op("Add", "y", "none", "first")},
			constants: map[string]tensor.Tensor{"zero": scalar(0), "first": first},
			verdicts:  warns,
		},
		{
			name: "a softmax that is saturated",
			nodes: []tiny.Node{
				op("Mul", "none", "clean", "small"), op("Add", "sharp", "none", "large"),
				with(op("Softmax", "y", "sharp"), tiny.Attr{Name: "axis", Value: 1}),
			},
			constants: map[string]tensor.Tensor{
				"small": scalar(1e-3), "large": tensor.FromFloat32([]float32{200, 0, 0, 0}, 4),
			},
			study:    func(s *job.Study) { s.Output.Space, s.Output.Decode = "scores", "probabilities" },
			verdicts: warns,
		},
		{
			name:  "inputs that the group does not move",
			nodes: []tiny.Node{op("MatMul", "y", "flat", "dense")},
			data: func(x []float32) {
				for i := 0; i < len(x); i += side * side {
					for a := range side / 2 {
						for b := range side / 2 {
							v := x[i+min(a, b)*side+max(a, b)]
							u, w := side-1-a, side-1-b
							for _, at := range [][2]int{
								{a, b},
								{b, u},
								{u, w},
								{w, a},
								{b, a},
								{a, w},
								{w, u},
								{u, b},
							} {
								x[i+at[0]*side+at[1]] = v
							}
						}
					}
				}
			},
			constants: map[string]tensor.Tensor{"dense": random(12, side*side, 4, 0.1)},
			verdicts:  warns, says: "none of 96 inputs changes",
		},
		{
			name:  "an offset that swallows the numbers",
			nodes: []tiny.Node{op("MatMul", "dots", "flat", "dense"), op("Add", "y", "dots", "offset")},
			constants: map[string]tensor.Tensor{
				"dense": random(13, side*side, 4, 0.05), "offset": scalar(1e7),
			},
			verdicts: notPass,
		},
		{
			name: "means of rings under all turns", nodes: []tiny.Node{op("MatMul", "y", "flat", "rings")},
			study:    func(s *job.Study) { s.Group.Name = "SO(2)" },
			verdicts: warns,
		},
	}
}

// quantile is the energy that k of the pictures have at most.
func quantile(x []float32, k int) float32 {
	var all []float64
	for p := range slices.Chunk(x, side*side) {
		sum := 0.0
		for _, v := range p {
			sum += float64(v) * float64(v)
		}
		all = append(all, sum)
	}
	slices.Sort(all)
	return float32(all[k-1]) * (1 + 1e-6)
}

// Models whose truth is known, with all checks, as a user audits them: what is broken does not pass, with the right
// cause where there is one.
func TestSabotages(t *testing.T) {
	slow.Test(t)
	for _, c := range sabotages() {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			x := make([]float32, 96*side*side)
			r := rand.New(rand.NewPCG(21, 1))
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			if c.data != nil {
				c.data(x)
			}
			npyFile(t, filepath.Join(dir, "x.npy"), []int{96, 1, side, side}, x)
			constants := map[string]tensor.Tensor{
				"rings": rings(), "mix": random(31, side/2, 8, 1), "head": random(32, 8, 4, 1),
			}
			maps.Copy(constants, c.constants)
			outputs := 4
			if c.name == "means of rings under all turns" {
				outputs = side / 2
			}
			network(t, filepath.Join(dir, "m.onnx"), side, outputs, constants, append(invariants(), c.nodes...)...)
			s := &job.Study{
				Models: []job.Model{{Name: "m", ONNX: filepath.Join(dir, "m.onnx")}},
				Data:   job.Data{Images: filepath.Join(dir, "x.npy"), Layout: "NCHW"},
				Input:  job.Input{Layout: "NCHW"}, Group: job.Group{Name: "C4"},
				Output: job.Output{Space: "tensor", Action: "invariant"},
			}
			if c.study != nil {
				c.study(s)
			}
			all, err := new(app.App).Audit(t.Context(), s, app.AuditOptions{Workers: runtime.GOMAXPROCS(0)})
			if err != nil {
				t.Fatal(err)
			}
			got := all.Reports[0]
			if got.Error != "" {
				t.Fatal(got.Error)
			}
			causes := []string{}
			for _, d := range got.Diagnoses {
				causes = append(causes, d.ID)
			}
			if !slices.Contains(c.verdicts, got.Verdict) {
				t.Errorf("%s, want one of %v: %q, causes %v", got.Verdict, c.verdicts, got.Reasons, causes)
			}
			if c.cause != "" && (len(causes) == 0 || causes[0] != c.cause) {
				t.Errorf("%s: causes %v, want %s first: %q", got.Verdict, causes, c.cause, got.Reasons)
			}
			said := got.Reasons
			for _, f := range got.Findings() {
				said = append(said, f.Message)
			}
			if all := strings.Join(append(said, got.Caveats()...), "\n"); !strings.Contains(all, c.says) {
				t.Errorf("%s says nothing of %q:\n%s", got.Verdict, c.says, all)
			}
		})
	}
}

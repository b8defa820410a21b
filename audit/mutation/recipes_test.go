package mutation

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"nero/audit"
	"nero/audit/check"
	"nero/audit/diagnosis"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/oracle"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// recipe is a model whose cause a trial named wrongly, and a twin in which nothing is broken.
type recipe struct {
	name  string
	claim claim
	in    space.Spec
	out   decode.OutputSpec
	draw  func(r *rand.Rand, i int) space.Value
	build func(n *net, broken bool) (*onnx.Model, error)
	cause string
	// a float32 evaluator beside the engine
	twin bool
	// the audit of the twin ends for a reason that is none of the model
	noTwin bool
}

const recipeSide = 8

// energies are sums of squares over the places, under weights that turns keep: two numbers of each picture.
func (n *net) energies(x string) string {
	sq := n.op("squares", "Mul", []string{x, x})
	w := make([]float32, 2*recipeSide*recipeSide)
	for i := range recipeSide * recipeSide {
		u, v := float32(i%recipeSide)-3.5, float32(i/recipeSide)-3.5
		w[2*i], w[2*i+1] = 1.0/16, (u*u+v*v)/256
	}
	flat := n.op("flat", "Flatten", []string{sq})
	return n.op("energy", "MatMul", []string{flat, n.floats(w, recipeSide*recipeSide, 2)})
}

// corner is a number of one pixel, [N, 2].
func (n *net) corner(x string) string {
	w := make([]float32, 2*recipeSide*recipeSide)
	w[6], w[7] = 0.5, -0.5
	return n.op("corner", "MatMul",
		[]string{n.op("line", "Flatten", []string{x}), n.floats(w, recipeSide*recipeSide, 2)})
}

func (n *net) seen() string { return n.b.Input("x", tensor.Float32, "N", 1, recipeSide, recipeSide) }

func recipes() []recipe {
	picture := space.SpecOf("x", space.NewImage(1, recipeSide, recipeSide))
	noise := func(r *rand.Rand, _ int) space.Value {
		v := space.NewImage(1, recipeSide, recipeSide)
		for i := range v.Pix {
			v.Pix[i] = r.NormFloat64()
		}
		return v
	}
	numbers := decode.OutputSpec{Space: "tensor"}
	scores := decode.OutputSpec{Space: "scores", Decode: "logits"}
	half := claim{group: "C2", orbit: orbit.Spec{All: true}}
	return []recipe{
		{
			// Pictures are brighter above than below, and two scores say so.
			name: "taught to tell poses apart", claim: half, in: picture, out: scores, cause: "poses",
			draw: func(r *rand.Rand, i int) space.Value {
				v := noise(r, i).(*space.Image) //nolint:errcheck // it is
				for k := range v.Pix {
					v.Pix[k] = 0.3*v.Pix[k] + 0.5*(3.5-float64(k/recipeSide))
				}
				return v
			},
			build: func(n *net, broken bool) (*onnx.Model, error) {
				x := n.seen()
				if !broken {
					return n.model(n.energies(x), 2)
				}
				y := n.op("conv", "Conv", []string{x, n.floats(n.normal(36, 0.4), 4, 1, 3, 3)},
					onnx.AttrInts("strides", 2, 2), onnx.AttrInts("pads", 1, 1, 1, 1))
				y = n.op("relu", "Relu", []string{y})
				w := make([]float32, 64*2)
				for i := range 64 {
					s := float32(1)
					if i%16 >= 8 {
						s = -1
					}
					w[2*i], w[2*i+1] = s, -s
				}
				return n.model(n.op("head", "MatMul",
					[]string{n.op("flat", "Flatten", []string{y}), n.floats(w, 64, 2)}), 2)
			},
		},
		{
			name: "broken in batches of one alone", claim: quarters, in: picture, out: numbers, draw: noise,
			cause: "batch-leak",
			build: func(n *net, broken bool) (*onnx.Model, error) {
				x := n.seen()
				y := n.energies(x)
				if broken {
					size := n.op("size", "Gather", []string{n.op("shape", "Shape", []string{x}), n.b.Ints(0)})
					one := n.op("one", "Equal", []string{size, n.b.Ints(1)})
					y = n.op("sum", "Add", []string{y, n.op("mul", "Mul", []string{
						n.corner(x), n.op("as", "Cast", []string{one},
							onnx.AttrInt("to", int64(onnxpb.TensorProto_FLOAT))),
					})})
				}
				return n.model(y, 2)
			},
		},
		{
			name: "scales of a quantisation of the batch", claim: quarters, in: picture, out: numbers, draw: noise,
			cause: "batch-scale", noTwin: true,
			build: func(n *net, _ bool) (*onnx.Model, error) {
				x := n.seen()
				y := n.energies(x)
				g := n.b.Graph()
				name := "quantise"
				g.Node = append(g.Node, &onnxpb.NodeProto{
					Name: &name, OpType: new("DynamicQuantizeLinear"), Input: []string{y},
					Output: []string{"q", "q_scale", "q_zero"},
				})
				return n.model(n.op("back", "DequantizeLinear", []string{"q", "q_scale", "q_zero"}), 2)
			},
		},
		{
			name: "float16 inside", claim: quarters, in: picture, out: numbers, draw: noise, cause: "reduced-precision",
			twin: true,
			build: func(n *net, broken bool) (*onnx.Model, error) {
				x := n.seen()
				if !broken {
					return n.model(n.energies(x), 2)
				}
				to := func(name, v string, t onnxpb.TensorProto_DataType) string {
					return n.op(name, "Cast", []string{v}, onnx.AttrInt("to", int64(t)))
				}
				h := to("half", n.energies(x), onnxpb.TensorProto_FLOAT16)
				return n.model(to("full", n.op("twice", "Mul", []string{h, h}), onnxpb.TensorProto_FLOAT), 2)
			},
		},
		{
			name: "one input of another size", claim: quarters, in: picture, out: numbers, cause: "outlier",
			draw: func(r *rand.Rand, i int) space.Value {
				v := noise(r, i).(*space.Image) //nolint:errcheck // it is
				if i == 7 {
					for k := range v.Pix {
						v.Pix[k] = 1e4
					}
				}
				return v
			},
			build: func(n *net, broken bool) (*onnx.Model, error) {
				x := n.seen()
				y := n.energies(x)
				if broken {
					y = n.op("sum", "Add", []string{y, n.corner(x)})
				}
				return n.model(y, 2)
			},
			noTwin: true,
		},
		{
			// A ripple with the period of the grid of 72 angles.
			name: "between the elements of the plan", claim: turns, cause: "narrow-defect",
			in: rowsSpec("x", 1, 2, space.TypeVectors), out: numbers,
			draw: func(r *rand.Rand, _ int) space.Value {
				v := space.NewRows(1, 2)
				v.Val[0], v.Val[1] = 1+r.Float64(), r.NormFloat64()
				return v
			},
			build: func(n *net, broken bool) (*onnx.Model, error) {
				x := n.b.Input("x", tensor.Float32, "N", 1, 2)
				y := n.op("square", "ReduceSumSquare", []string{x}, onnx.AttrInts("axes", 1),
					onnx.AttrInt("keepdims", 0))
				y = n.op("radius", "ReduceSum", []string{y, n.b.Ints(1)}, onnx.AttrInt("keepdims", 1))
				if broken {
					cut := func(name string, k int64) string {
						return n.op(name, "Slice", []string{x, n.b.Ints(k), n.b.Ints(k + 1), n.b.Ints(2)})
					}
					angle := n.op("angle", "Atan", []string{n.op("slope", "Div", []string{cut("v", 1), cut("u", 0)})})
					wave := n.op("wave", "Cos", []string{n.op("times", "Mul", []string{angle, n.number(72)})})
					y = n.op("sum", "Add", []string{y, n.op("one", "Squeeze", []string{
						n.op("small", "Mul", []string{wave, n.number(0.5)}), n.b.Ints(2),
					})})
				}
				return n.model(y, 1)
			},
		},
		{
			name: "points that count from the origin", claim: claim{group: "E(3) x S(6)", orbit: orbit.Spec{Haar: 12}},
			cause: "centering", in: cloudSpec("x"), out: numbers,
			draw: func(r *rand.Rand, _ int) space.Value {
				v := space.NewRows(corners, 3)
				for i := range v.Val {
					v.Val[i] = r.NormFloat64()
				}
				return v
			},
			build: func(n *net, broken bool) (*onnx.Model, error) {
				x := n.b.Input("x", tensor.Float32, "N", corners, 3)
				if !broken {
					x = n.centred(x)
				}
				sq := n.op("square", "Mul", []string{x, x})
				y := n.op("radii", "ReduceSum", []string{sq, n.b.Ints(2)}, onnx.AttrInt("keepdims", 1))
				y = n.op("bend", "Tanh",
					[]string{n.op("dense", "MatMul", []string{y, n.floats(n.normal(5, 0.3), 1, 5)})})
				return n.model(n.op("mean", "ReduceMean", []string{y}, onnx.AttrInts("axes", 1),
					onnx.AttrInt("keepdims", 0)), 5)
			},
		},
	}
}

// ready is the recipe as an audit takes it.
func (c recipe) ready(broken bool) (ready, error) {
	r := ready{name: c.name}
	var err error
	if r.model, err = c.build(newNet(31), broken); err != nil {
		return r, err
	}
	o := action.Options{}
	if c.in.Type == "" {
		r.codec, err = decode.New(r.model.Signature(), decode.InputSpec{Sample: c.in.Shape, Layout: "NCHW"}, c.out)
	} else {
		r.codec, err = decode.NewRecord(r.model.Signature(),
			decode.RecordSpec{Sample: c.in, Outputs: []decode.OutputField{
				{Name: "y", Type: space.TypeUnchanged, Per: space.PerSample},
			}})
	}
	if err != nil {
		return r, err
	}
	g, err := catalog.Parse(c.claim.group)
	if err != nil {
		return r, err
	}
	in, err := action.Rules().For(g, c.in, o)
	if err != nil {
		return r, err
	}
	var out action.Action = action.Trivial{G: g}
	if c.in.Type != "" {
		o.Invariant = true
		if out, err = action.Rules().For(g, r.codec.Out(), o); err != nil {
			return r, err
		}
	}
	if r.plan, err = orbit.NewPlan(g, c.claim.orbit, in, out, 5); err != nil {
		return r, err
	}
	r.sample = func(i int) (dataset.Sample, error) {
		return dataset.Sample{ID: strconv.Itoa(i), Value: c.draw(rand.New(rand.NewPCG(9, uint64(i))), i)}, nil
	}
	return r, nil
}

// What a trial named wrongly is named rightly, and twins in which nothing is broken are passed in silence.
func TestRecipes(t *testing.T) {
	e, err := choose.Open(context.Background(), choose.Request{Kind: choose.Auto}, choosetest.Host())
	if err != nil {
		t.Fatal(err)
	}
	p, err := audit.NewPolicy("", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range recipes() {
		t.Run(c.name, func(t *testing.T) {
			for _, broken := range []bool{true, false} {
				if !broken && c.noTwin {
					continue
				}
				r, err := c.ready(broken)
				if err != nil {
					t.Fatal(err)
				}
				var twin *Body
				if c.twin {
					twin = &Body{Name: "float32", Engine: single{oracle.Engine(oracle.Options{Round: oracle.Float32})}}
				}
				o, err := r.open(Body{Name: e.Info().Name, Engine: e.Engine}, twin)
				if err != nil {
					t.Fatal(err)
				}
				report, err := audit.Run(t.Context(), o.subject, p, check.All(),
					audit.Options{Diagnose: diagnosis.Explain})
				o.close()
				if err != nil {
					t.Fatal(err)
				}
				d := report.Diagnoses
				switch {
				case broken && (len(d) == 0 || d[0].ID != c.cause || report.Verdict == audit.Passed):
					for _, x := range d {
						t.Logf("%s %.2f at %s", x.ID, x.Confidence, x.Location)
					}
					for _, x := range report.Clues() {
						t.Logf("clue %s %v %.2f: %s", x.Name, x.Holds, x.Strength, x.Text)
					}
					t.Errorf("%s, want the cause %s first", report.Verdict, c.cause)
				case !broken && (report.Verdict != audit.Passed || len(d) > 0):
					t.Errorf("the twin: %s, %+v", report.Verdict, d)
				}
			}
		})
	}
}

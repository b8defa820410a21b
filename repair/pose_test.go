package repair

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/rewrite"
	"nero/model/oracle"
	"nero/symmetry/action"
)

// blots is a picture of a few bright places on black, none of them at the border.
func blots(r *rand.Rand, c, h, w int) *space.Image {
	x := space.NewImage(c, h, w)
	for range 4 {
		cy, cx := float64(h)/2+2*r.NormFloat64(), float64(w)/2+2*r.NormFloat64()
		for i := range x.Pix {
			dy, dx := float64(i/w%h)-cy, float64(i%w)-cx
			x.Pix[i] += 200 * math.Exp(-(dy*dy+dx*dx)/3)
		}
	}
	for i := range x.Pix {
		if x.Pix[i] = math.Round(x.Pix[i]); x.Pix[i] < 3 {
			x.Pix[i] = 0
		}
	}
	return x
}

// dense answers squashed products of pixels with fixed numbers.
func dense(t *testing.T, opset, softmax int, axes ...any) *onnx.Model {
	t.Helper()
	b := onnx.NewBuilder(opset)
	x := b.Input("x", tensor.Float32, append([]any{"n"}, axes...)...)
	n := 1
	for _, a := range axes {
		k, ok := a.(int)
		if !ok {
			t.Fatal("a free axis")
		}
		n *= k
	}
	r := rand.New(rand.NewPCG(41, 0))
	v := make([]float32, 4*n)
	for i := range v {
		v[i] = float32(r.NormFloat64() / 10)
	}
	flat := b.Op("Reshape", []string{x, b.Ints(-1, int64(n))})
	y := b.Op("Tanh", []string{b.Op("MatMul", []string{flat, b.Const(tensor.FromFloat32(v, n, 4))})})
	if softmax > 0 {
		y = b.Op("Softmax", []string{y}, onnx.AttrInt("axis", 1))
	}
	b.Output(y, tensor.Float32, "n", 4)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func picturesOf(t *testing.T, m *onnx.Model, claim, layout string, c, h, w int) Source {
	t.Helper()
	g := named(t, claim)
	shape := space.Spec{Name: "x", Kind: space.KindImage, Shape: []int{c, h, w}}
	codec, err := decode.New(m.Signature(), decode.InputSpec{
		Sample: shape.Shape, Layout: layout, Scale: 255, Mean: []float64{.13}, Std: []float64{.31},
	}, decode.OutputSpec{Decode: "logits"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := action.NewImage(g, shape, action.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(43, 0))
	var fit []space.Value
	for range 5 {
		fit = append(fit, blots(r, c, h, w))
	}
	return Source{
		Model: m, Codec: codec, Group: g, In: a, Out: action.Trivial{G: g}, Sample: fit[0], Fit: fit,
		Answer: &space.Scores{Val: make([]float64, 4)},
	}
}

// A picture is asked about in a pose of its own: quarter turns and whole shifts change nothing but the last bits, and
// one picture gets the same bits alone and among others.
func TestPoseOfPictures(t *testing.T) {
	const h, w = 28, 28
	for _, c := range []struct {
		claim, method, layout string
		axes                  []any
		at                    []float64
	}{
		{"C4", "pose", "NCHW", []any{1, h, w}, []float64{90}},
		{"SO(2)", "pose", "NHWC", []any{h, w, 2}, []float64{180}},
		{"SE(2)", "pose", "NCHW", []any{2, h, w}, []float64{270, 2, -3}},
		{"T(2)", "pose", "NCHW", []any{1, h, w}, []float64{-3, 1}},
		{"C4", "pose:shift=true", "NCHW", []any{1, h, w}, []float64{270}},
	} {
		t.Run(c.claim+" "+c.method, func(t *testing.T) {
			m := dense(t, 13, 0, c.axes...)
			channels := 1
			if len(c.axes) == 3 && (c.axes[0] == 2 || c.axes[2] == 2) {
				channels = 2
			}
			s := picturesOf(t, m, c.claim, c.layout, channels, h, w)
			made := repaired(t, s, c.method)
			if made.Opset() != 16 {
				t.Errorf("operators of version %d", made.Opset())
			}
			r := rand.New(rand.NewPCG(47, 0))
			for range 5 {
				x := blots(r, channels, h, w)
				y, err := s.In.Apply(c.at, x)
				if err != nil {
					t.Fatal(err)
				}
				say := func(m *onnx.Model, all ...space.Value) []float64 {
					in, err := decode.Double(s.Codec).Encode(all, nil)
					if err != nil {
						t.Fatal(err)
					}
					return floats(t, askIn(t, oracle.Float64, m, in...)[0].Tensor)
				}
				both := say(made, x, y)
				if d := distance(both[:4], both[4:]); !(d <= 1e-7) {
					t.Errorf("the answer changes by %g", d)
				}
				if plain := say(m, x, y); !(distance(plain[:4], plain[4:]) > 0.01) {
					t.Error("the model does not mind")
				}
				if d := distance(both[4:], say(made, y)); d != 0 {
					t.Errorf("alone and among others: %g apart", d)
				}
			}
		})
	}
}

// Whatever turn a picture has, its longer axis comes to lie along the direction that the model knows, and its middle
// where it knows it: by the angle ½·atan2(2b, a-d) of the picture that the model reads.
func TestPoseIsTheKnownOne(t *testing.T) {
	const n = 41
	b := onnx.NewBuilder(16)
	b.Output(b.Op("Identity", []string{b.Input("x", tensor.Float32, "n", 1, n, n)}), tensor.Float32, "n", 1, n, n)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	w := &wrapper{Shell: rewrite.New(m), opset: 16}
	port, _ := m.Signature().Input("x")
	p := &picture{port: port, c: 1, h: n, w: n, scale: []float64{2}, offset: []float64{-1}}
	p.known = picturePose{x: 1, y: -2, u: math.Cos(0.4), v: math.Sin(0.4), size: 4}
	v := p.write(w, undone{shift: true, rotate: true, scale: true}, true)
	w.Answer(m.Signature().Outputs[0].Name, v)
	made, err := w.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range []float64{0, 0.3, 1.2, 2, 3, 4.4, 6} {
		x := make([]float64, n*n)
		for i := range x {
			dx, dy := float64(i%n)-n/2-2, float64(i/n)-n/2+1
			u, v := dx*math.Cos(turn)+dy*math.Sin(turn), dy*math.Cos(turn)-dx*math.Sin(turn)
			if u > 0 { // longer on one side
				u /= 1.4
			}
			x[i] = 2*math.Exp(-u*u/30-v*v/8) - 1 // what lies outside is -1 to the model
		}
		in, err := decode.Rounded(tensor.Float64, x, 1, 1, n, n)
		if err != nil {
			t.Fatal(err)
		}
		out := floats(t, askIn(t, oracle.Float64, made, tensor.Named{Name: "x", Tensor: in})[0].Tensor)
		var m00, m10, m01, a, bb, d, third float64
		for i, y := range out {
			y = (y + 1) / 2
			m00, m10, m01 = m00+y, m10+y*float64(i%n-n/2), m01+y*float64(i/n-n/2)
		}
		cx, cy := m10/m00, m01/m00
		for i, y := range out {
			y = (y + 1) / 2 / m00
			dx, dy := float64(i%n-n/2)-cx, float64(i/n-n/2)-cy
			a, bb, d = a+y*dx*dx, bb+y*dx*dy, d+y*dy*dy
			u := dx*math.Cos(0.4) + dy*math.Sin(0.4)
			third += y * u * u * u
		}
		angle := math.Atan2(2*bb, a-d) / 2
		if math.Abs(cx-1) > 0.05 || math.Abs(cy+2) > 0.05 || math.Abs(angle-0.4) > 0.01 || third < 0 ||
			math.Abs(math.Sqrt(a+d)-4) > 0.1 {
			t.Errorf("turned by %g: middle (%.3f, %.3f), angle %.3f, size %.3f, third moment %.3g", turn, cx, cy, angle,
				math.Sqrt(a+d), third)
		}
	}
}

// Figures of which some point up and some down have a common axis all the same, and its end is that of most.
func TestCommonPose(t *testing.T) {
	var all []picturePose
	for i, angle := range []float64{1.6, 1.7, 1.8, 1.7 + math.Pi, 1.65 + math.Pi, 1.75 + math.Pi, 1.7 + math.Pi} {
		all = append(all, picturePose{x: float64(i), u: math.Cos(angle), v: math.Sin(angle), size: 2})
	}
	o := common(all)
	if d := math.Atan2(o.v, o.u) - (1.7 - math.Pi); !(math.Abs(d) <= 1e-9) || o.x != 3 || o.size != 2 {
		t.Errorf("%+v: the direction is %g off", o, d)
	}
	if o := common([]picturePose{{u: 1}, {v: 1}}); !(math.Abs(math.Hypot(o.u, o.v)-1) <= 1e-12) {
		t.Errorf("axes across each other: %+v", o)
	}
}

// Pictures without anything in them, and such without a direction, get an answer that is a number.
func TestPoseOfNothing(t *testing.T) {
	s := picturesOf(t, dense(t, 13, 0, 1, 9, 9), "SE(2)", "NCHW", 1, 9, 9)
	made := repaired(t, s, "pose:scale=true")
	black, dot, white := space.NewImage(1, 9, 9), space.NewImage(1, 9, 9), space.NewImage(1, 9, 9)
	dot.Pix[40] = 255
	for i := range white.Pix {
		white.Pix[i] = 255
	}
	for i, x := range []*space.Image{black, dot, white} {
		in, err := s.Codec.Encode([]space.Value{x}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range floats(t, ask(t, made, in...)[0].Tensor) {
			if math.IsNaN(y) || math.IsInf(y, 0) {
				t.Errorf("picture %d: %g", i, y)
			}
		}
	}
}

// One pixel has no axis, but a place beside the middle that is turned about: where it stands is its direction, whether
// it is brighter or darker than what lies outside.
func TestPoseOfOnePixel(t *testing.T) {
	s := picturesOf(t, dense(t, 13, 0, 1, 8, 8), "C4", "NCHW", 1, 8, 8)
	made := repaired(t, s, "pose")
	for _, value := range []float64{255, -200} {
		onePixel(t, s, made, value)
	}
}

func onePixel(t *testing.T, s Source, made *onnx.Model, value float64) {
	t.Helper()
	x := space.NewImage(1, 8, 8)
	x.Pix[1*8+6] = value
	all := []space.Value{x}
	for _, angle := range []float64{90, 180, 270} {
		y, err := s.In.Apply([]float64{angle}, x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, y)
	}
	in, err := s.Codec.Encode(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	y := floats(t, ask(t, made, in...)[0].Tensor)
	for k := 1; k < len(all); k++ {
		if d := distance(y[:4], y[4*k:4*k+4]); !(d <= 1e-5) {
			t.Errorf("%g turned by %d°: %g apart", value, 90*k, d)
		}
	}
}

func TestPoseRefuses(t *testing.T) {
	for _, c := range []struct {
		m                   *onnx.Model
		claim, method, want string
	}{
		{dense(t, 13, 0, 1, 9, 9), "D4", "pose", "D4 has mirrors"},
		{dense(t, 13, 0, 1, 9, 9), "Roll(9,9)", "pose", "around their borders"},
		{dense(t, 13, 0, 1, 9, 9), "C4", "pose:rotate=false", "nothing is to be undone"},
		{dense(t, 20, 0, 1, 9, 9), "C4", "pose", "other names for its modes in operators of version 20"},
		{dense(t, 11, 1, 1, 9, 9), "C4", "pose", "Softmax"},
		{dense(t, 13, 0, 1, 9, 9), "C4", "frame", "no rows of numbers"},
	} {
		a, err := Parse(c.method)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Build(picturesOf(t, c.m, c.claim, "NCHW", 1, 9, 9), a)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.claim, c.method, err, c.want)
		}
	}
}

// Of a group that is a circle, equal turns are asked at: four of them are those of C4.
func TestEqualTurns(t *testing.T) {
	m := dense(t, 13, 0, 1, 9, 9)
	whole, four := picturesOf(t, m, "SO(2)", "NCHW", 1, 9, 9), picturesOf(t, m, "C4", "NCHW", 1, 9, 9)
	whole.Endless, four.Elements = errors.New("no end"), elementsOf(t, four.Group)
	in, err := four.Codec.Encode([]space.Value{four.Sample}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"average", "select"} {
		a := floats(t, ask(t, repaired(t, whole, method+":n=4"), in...)[0].Tensor)
		b := floats(t, ask(t, repaired(t, four, method), in...)[0].Tensor)
		if d := distance(a, b); d != 0 {
			t.Errorf("%s: four turns of the circle are %g away from C4", method, d)
		}
	}
	for method, want := range map[string]string{
		"average": "no end", "average:n=12": "raise the budget to 12",
	} {
		a, err := Parse(method)
		if err != nil {
			t.Fatal(err)
		}
		whole.Most = 8
		if _, err := Build(whole, a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", method, err, want)
		}
	}
	a, err := Parse("average:n=4")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(four, a); err == nil || !strings.Contains(err.Error(), "C4 is no circle") {
		t.Errorf("turns of what has an end: %v", err)
	}
	for _, text := range []string{"average:n=1", "average:n=x", "select:n=-4", "average:n="} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "want all or N") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a method adds is called after it, so that a reader of the file can take it as one part.
func TestNodesBearTheMethod(t *testing.T) {
	m := lopsided(t, 13)
	r := rand.New(rand.NewPCG(53, 0))
	cloud := sourceOf(t, m, "SO(3)", lopsidedOutputs(m), 0, cloudOf(r, 9))
	turns := picturesOf(t, dense(t, 13, 0, 1, 9, 9), "C4", "NCHW", 1, 9, 9)
	turns.Elements = elementsOf(t, turns.Group)
	for word, made := range map[string]*onnx.Model{
		"frame/": repaired(t, cloud, "frame"), "pose/": repaired(t, turns, "pose"), "orbit/": repaired(t, turns,
			"average"),
	} {
		n := 0
		for _, node := range made.Proto().GetGraph().GetNode() {
			if name := node.GetName(); strings.HasPrefix(name, word) {
				n++
			} else if !strings.HasPrefix(name, "o0/") {
				t.Errorf("a node called %s beside those of %s", name, word)
			}
		}
		if n == 0 {
			t.Errorf("no node called %s", word)
		}
	}
}

// The name mds stands for pose of points: the same file but for what it says of itself. The coordinates are those of
// classical multidimensional scaling, up to signs: eigenvectors of the products of points, by gonum, not of the
// moments.
func TestScalingIsPose(t *testing.T) {
	b := onnx.NewBuilder(13)
	b.Output(b.Op("Identity", []string{b.Input("x", tensor.Float32, "n", "p", 3)}), tensor.Float32, "n", "p", 3)
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	const n = 12
	points := cloudOf(rand.New(rand.NewPCG(53, 0)), n)
	outputs := []decode.OutputField{
		{Name: "y", Port: m.Signature().Outputs[0].Name, Type: space.TypeUnchanged, Per: space.PerNode},
	}
	s := sourceOf(t, m, "SE(3)", outputs, 0, points)
	made := repaired(t, s, "mds")
	if got := Done(made); got != "mds over SE(3), one pose" {
		t.Errorf("done: %s", got)
	}
	read, err := decode.Rounded(tensor.Float64, points, 1, n, 3)
	if err != nil {
		t.Fatal(err)
	}
	in := tensor.Named{Name: "x", Tensor: read}
	got := floats(t, askIn(t, oracle.Float64, made, in)[0].Tensor)
	if d := distance(got, floats(t, askIn(t, oracle.Float64, repaired(t, s, "pose"), in)[0].Tensor)); d != 0 {
		t.Errorf("%g away from pose", d)
	}
	var mean [3]float64
	for i, x := range points {
		mean[i%3] += x / n
	}
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			for k := range 3 {
				gram.SetSym(i, j, gram.At(i, j)+(points[3*i+k]-mean[k])*(points[3*j+k]-mean[k]))
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(gram, true) {
		t.Fatal("no eigenvectors")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	values := e.Values(nil)
	for k := range 3 {
		sign := 0.0
		for i := range n {
			want := math.Sqrt(values[n-1-k]) * v.At(i, n-1-k)
			if sign == 0 {
				sign = math.Copysign(1, want*got[3*i+k])
			}
			if !(math.Abs(got[3*i+k]-sign*want) <= 1e-6) {
				t.Errorf("coordinate %d of point %d: %g, want %g", k, i, got[3*i+k], sign*want)
			}
		}
	}
	picture := picturesOf(t, dense(t, 13, 0, 1, 9, 9), "C4", "NCHW", 1, 9, 9)
	a, err := Parse("mds")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(picture, a); err == nil || !strings.Contains(err.Error(), "ask for pose") {
		t.Errorf("of a picture: %v", err)
	}
}

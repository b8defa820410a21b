package decode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// fieldKind is a vector at every pixel.
var fieldKind = kind{of: space.KindField, one: readField}

// fields reads one output as vector fields of the size of the window.
type fields struct {
	name string
	// "nchw", "nhwc" or "" for by the shape
	layout string
	// v comes before u
	vFirst bool
	// factors
	u, v float64
	// height and width, -1 for any
	win [2]int
	// as declared
	shape  []int
	ranked bool
	// largest batch, 0 for any
	max   int
	notes []string
}

// readField fits the specification to the model's output.
func readField(_ *kind, x onnx.Port, out OutputSpec, p port, win [2]int) (outputs, error) {
	s := out.Field
	f := &fields{
		name: x.Name, layout: strings.ToLower(s.Layout), u: s.Scale, win: win, shape: x.Sizes(),
		ranked: x.Ranked,
	}
	switch f.layout {
	case "", "nchw", "nhwc":
	default:
		return nil, fmt.Errorf("output.field.layout: %q is not known; say NCHW or NHWC", s.Layout)
	}
	switch strings.ToLower(s.Order) {
	case "", "uv":
	case "vu":
		f.vFirst = true
	default:
		return nil, fmt.Errorf("output.field.order: %q is not known; say uv or vu", s.Order)
	}
	if math.IsNaN(s.Scale) || math.IsInf(s.Scale, 0) {
		return nil, fmt.Errorf("output.field.scale: %g; want a finite number", s.Scale)
	}
	if d := strings.ToLower(out.Decode); d != "" && d != raw {
		return nil, fmt.Errorf("output.decode: %q does not make a field; leave it out", out.Decode)
	}
	if f.u == 0 {
		f.u = 1
	}
	if f.v = f.u; s.Up {
		f.v = -f.u
	}
	if !x.Ranked {
		return f, nil
	}
	if len(f.shape) == 3 {
		if p.batch > 1 {
			return nil, fmt.Errorf(
				"output %s has no axis that counts samples, the input is fixed to %d; want [N, 2, height, width]", x,
				p.batch)
		}
		f.max = 1
	}
	_, planar, err := f.read(f.shape, fmt.Sprintf("output %s", x))
	if err != nil {
		return nil, err
	}
	if c := f.shape[len(f.shape)-3:]; f.layout == "" && !planar {
		f.notes = append(f.notes,
			fmt.Sprintf("output %s: the layout is NHWC by its shape; set output.field.layout to change it", x))
	} else if f.layout == "" && c[0] <= 0 {
		f.notes = append(f.notes,
			fmt.Sprintf("output %s: the file does not say which axis holds u and v; the array is read as it comes, "+
				"NCHW first", x))
	}
	return f, nil
}

// read finds the size of one sample and whether u and v are planes of their own. The lengths of free axes are below 0.
func (f *fields) read(shape []int, what string) (hw [2]int, planar bool, err error) {
	if len(shape) != 3 && len(shape) != 4 {
		return hw, false, fmt.Errorf(
			"%s has %d axes; a field has [N, 2, height, width] or [N, height, width, 2]; choose another output with "+
				"output.name", what, len(shape))
	}
	s := shape[len(shape)-3:]
	two := func(n int) bool { return n < 0 || n == 2 }
	switch {
	case f.layout != "nhwc" && two(s[0]):
		hw, planar = [2]int{s[1], s[2]}, true
	case f.layout != "nchw" && two(s[2]):
		hw = [2]int{s[0], s[1]}
	default:
		return hw, false, fmt.Errorf(
			"%s has no axis of length 2 for u and v%s; choose another output with output.name, or cut the model", what,
			map[string]string{
				"": "", "nchw": " before height and width, see output.field.layout",
				"nhwc": " at the end, see output.field.layout",
			}[f.layout])
	}
	for i, n := range hw {
		if n == 0 {
			return hw, planar, fmt.Errorf("%s has no numbers", what)
		}
		if n > 0 && f.win[i] > 0 && n != f.win[i] {
			return hw, planar, fmt.Errorf(
				"%s is a field of %s x %s (height x width), the model sees %s x %s; a field has a vector at every "+
					"pixel: "+
					"add a Resize to the model's end (and multiply its vectors if they count coarser pixels)",
				what, any1(hw[0]), any1(hw[1]), any1(f.win[0]), any1(f.win[1]))
		}
	}
	return hw, planar, nil
}

func (f *fields) spec() space.Spec {
	s := space.Spec{Name: f.name, Kind: space.KindField, Shape: []int{2, f.win[0], f.win[1]}, Unit: "px"}
	if f.ranked {
		if hw, _, err := f.read(f.shape, ""); err == nil {
			for i, n := range hw {
				s.Shape[1+i] = max(s.Shape[1+i], n)
			}
		}
	}
	return s
}

func (f *fields) decode(out []tensor.Named, n, rows int) ([]space.Value, error) {
	at := slices.IndexFunc(out, func(t tensor.Named) bool { return t.Name == f.name })
	if at < 0 {
		return nil, fmt.Errorf("the model returned no output %q", f.name)
	}
	t := out[at]
	if n < 1 || n > rows {
		return nil, fmt.Errorf("%d predictions out of a batch of %d", n, rows)
	}
	what := fmt.Sprintf("output %q of shape %v", f.name, t.Shape)
	if f.ranked && !agrees(f.shape, t.Shape) {
		return nil, fmt.Errorf("%s is not what the model declares, %s", what, sizes(f.shape))
	}
	hw, planar, err := f.read(t.Shape, what)
	if err != nil {
		return nil, err
	}
	if len(t.Shape) == 4 && t.Shape[0] != rows || len(t.Shape) == 3 && rows != 1 {
		return nil, fmt.Errorf("%s for a batch of %d; its first axis should count the samples", what, rows)
	}
	val, err := t.Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", f.name, err)
	}
	area := hw[0] * hw[1]
	first, second := f.u, f.v
	if f.vFirst {
		first, second = f.v, f.u
	}
	values := make([]space.Value, n)
	for i := range values {
		v := val[2*i*area : 2*(i+1)*area : 2*(i+1)*area]
		if !planar || f.vFirst {
			v = slices.Clone(v)
		}
		src := val[2*i*area : 2*(i+1)*area]
		a, b := v[:area], v[area:] // of the first and the second component
		if f.vFirst {
			a, b = b, a
		}
		switch {
		case !planar:
			for k := range area {
				a[k], b[k] = src[2*k]*first, src[2*k+1]*second
			}
		case f.vFirst || first != 1 || second != 1:
			for k := range area { // in place where the order stays
				a[k], b[k] = src[k]*first, src[area+k]*second
			}
		}
		values[i] = &space.Field{H: hw[0], W: hw[1], Val: v}
	}
	return values, nil
}

// agrees tells whether an array has the declared shape, whose free axes are below 0.
func agrees(declared, have []int) bool {
	return slices.EqualFunc(declared, have, func(d, h int) bool { return d < 0 || d == h })
}

func (f *fields) raw(predictions []space.Value) (tensor.Named, error) {
	if len(predictions) == 0 {
		return tensor.Named{}, errors.New("no predictions")
	}
	planar, whole := f.layout != "nhwc", true
	if f.ranked {
		_, p, err := f.read(f.shape, "")
		planar, whole = p && err == nil, len(f.shape) == 4
	}
	if !whole && len(predictions) != 1 {
		return tensor.Named{}, fmt.Errorf("output %q has no batch axis, there are %d predictions", f.name,
			len(predictions))
	}
	var all []float64
	var h, w int
	for i, p := range predictions {
		x, ok := p.(*space.Field)
		if !ok || len(x.Val) != 2*x.H*x.W {
			return tensor.Named{}, fmt.Errorf("output %q, prediction %d is %s, want a field", f.name, i, kindOf(p))
		}
		if i == 0 {
			h, w = x.H, x.W
		}
		if x.H != h || x.W != w {
			return tensor.Named{}, fmt.Errorf("output %q, prediction %d is a field of %d x %d, the first of %d x %d",
				f.name, i, x.H, x.W, h, w)
		}
		a, b, first, second := x.U(), x.V(), f.u, f.v
		if f.vFirst {
			a, b, first, second = b, a, second, first
		}
		at := len(all)
		all = append(all, x.Val...)
		step, next := 1, h*w
		if !planar {
			step, next = 2, 1
		}
		for k := range a {
			all[at+k*step], all[at+k*step+next] = a[k]*first, b[k]*second
		}
	}
	shape := []int{2, h, w}
	if !planar {
		shape = []int{h, w, 2}
	}
	if whole {
		shape = append([]int{len(predictions)}, shape...)
	}
	return float64s(f.name, all, shape...)
}

func (f *fields) plain() outputs { return f }

func (f *fields) limits() (int, []string) { return f.max, f.notes }

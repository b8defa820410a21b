package mutation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/define"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// family is a kind of model that is exactly equivariant by construction, for any seed and size.
type family struct {
	name, doc string
	// what such models are for, as the report sums it up
	task string
	// name of the group, or the file of one that a user defines
	group func(size int) string
	orbit orbit.Spec
	ports func(size int) ports
	graph func(s *sketch, size int)
	// relative error in float64 that its constants in float32 leave
	slack float64
	// in which the breaks are planted; clean ones are audited in both and in more
	heldOut, tuned variant
	twins          []variant
}

// variant is a member of a family: its weights and its size, the side of a picture or the number of rows.
type variant struct {
	seed uint64
	size int
}

// ports are what a model reads and returns, declared as a study declares them, and how inputs are made.
type ports struct {
	in    space.Spec
	codec func(onnx.Signature) (decode.Codec, error)
	// how inputs and answers move
	move action.Options
	draw func(r *rand.Rand) space.Value
}

func fixed(name string) func(int) string { return func(int) string { return name } }

func numbered(format string) func(int) string {
	return func(n int) string {
		return strings.ReplaceAll(format, "#", strconv.Itoa(n))
	}
}

// parse reads the name or the file of a group.
func parse(text string) (group.Group, error) {
	if strings.Contains(text, "\n") {
		return define.Load(context.Background(), strings.NewReader(text), nil)
	}
	return catalog.Parse(text)
}

// ready is the model of a variant with the given edits and all that an audit needs but an engine.
func (f family) ready(v variant, e edits) (ready, error) {
	r := ready{name: f.name}
	fail := func(err error) (ready, error) { return r, fmt.Errorf("%s, size %d: %w", f.name, v.size, err) }
	var err error
	if r.model, err = f.draw(v, e); err != nil {
		return fail(err)
	}
	p := f.ports(v.size)
	if r.codec, err = p.codec(r.model.Signature()); err != nil {
		return fail(err)
	}
	g, err := parse(f.group(v.size))
	if err != nil {
		return fail(err)
	}
	in, err := action.Rules().For(g, p.in, p.move)
	if err != nil {
		return fail(fmt.Errorf("input: %w", err))
	}
	o := p.move
	o.Invariant, o.Window = true, nil
	out, err := action.Rules().For(g, r.codec.Out(), o)
	if err != nil {
		return fail(fmt.Errorf("output: %w", err))
	}
	if r.plan, err = orbit.NewPlan(g, f.orbit, in, out, 5); err != nil {
		return fail(err)
	}
	r.sample = func(i int) (dataset.Sample, error) {
		return dataset.Sample{
			ID: fmt.Sprintf("s%03d", i), Label: -1,
			Value: p.draw(rand.New(rand.NewPCG(v.seed, uint64(i)+1000))),
		}, nil
	}
	return r, nil
}

// pictures are models that read one picture of c channels.
func pictures(c, side int, out decode.OutputSpec, move action.Options, draw func(*rand.Rand) *space.Image) ports {
	shape := []int{c, side, side}
	return ports{
		in: space.SpecOf("x", space.NewImage(c, side, side)), move: move,
		draw: func(r *rand.Rand) space.Value { return draw(r) },
		codec: func(sig onnx.Signature) (decode.Codec, error) {
			return decode.New(sig, decode.InputSpec{Sample: shape, Layout: "NCHW"}, out)
		},
	}
}

// records are models that read rows, signals or records of them.
func records(in space.Spec, draw func(*rand.Rand) space.Value, out ...decode.OutputField) ports {
	return ports{
		in: in, draw: draw,
		codec: func(sig onnx.Signature) (decode.Codec, error) {
			return decode.NewRecord(sig, decode.RecordSpec{Sample: in, Outputs: out})
		},
	}
}

// perSample and perNode are answers of one type.
func perSample(typ string) decode.OutputField {
	return decode.OutputField{Name: "y", Type: typ, Per: space.PerSample}
}

func perNode(typ string) decode.OutputField {
	return decode.OutputField{Name: "y", Type: typ, Per: space.PerNode}
}

// spots draws a picture of a few smooth spots well inside the border.
func spots(c, side int) func(*rand.Rand) *space.Image {
	return func(r *rand.Rand) *space.Image {
		m := space.NewImage(c, side, side)
		n := side * side
		for range 4 * c {
			ch := r.IntN(c)
			cy, cx := float64((0.3+float64(0.4*r.Float64()))*float64(side-1)),
				float64((0.3+float64(0.4*r.Float64()))*float64(side-1))
			w, h := 0.8+float64(0.6*r.Float64()), 1+2*r.Float64()
			for k := range n {
				y, x := float64(k/side)-cy, float64(k%side)-cx
				if min(k/side, k%side, side-1-k/side, side-1-k%side) >= 2 { // a picture pushed by a pixel loses nothing
					m.Pix[ch*n+k] += float64(h * elementary.Exp(-(float64(x*x)+float64(y*y))/(2*w*w)))
				}
			}
		}
		return m
	}
}

// noise draws a picture of noise.
func noise(c, side int, mean, sd float64) func(*rand.Rand) *space.Image {
	return func(r *rand.Rand) *space.Image {
		m := space.NewImage(c, side, side)
		for i := range m.Pix {
			m.Pix[i] = mean + float64(sd*(2*r.Float64()-1))
		}
		return m
	}
}

// rows draws n rows of w numbers about a place.
func rows(n, w int, sd, place float64) func(*rand.Rand) space.Value {
	return func(r *rand.Rand) space.Value { return someRows(r, n, w, sd, place) }
}

func someRows(r *rand.Rand, n, w int, sd, place float64) *space.Rows {
	v := space.NewRows(n, w)
	for i := range v.Val {
		v.Val[i] = float64(sd*elementary.Normal(r)) + float64(place*[]float64{0.3, -0.2, 0.25, 0.1}[i%w%4])
	}
	return v
}

// families are all kinds of models.
func families() []family {
	all := planar()
	all = append(all, spatialFamilies()...)
	all = append(all, ordered()...)
	return append(all, volumetric()...)
}

// variants are all members of a family that are audited.
func (f family) variants() []variant { return append([]variant{f.heldOut, f.tuned}, f.twins...) }

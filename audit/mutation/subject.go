package mutation

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"nero/audit"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/oracle"
	"nero/model/unroll"
	"nero/run/eval"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// Base is a kind of model with its inputs.
type Base struct {
	Name  string
	Doc   string
	build func(plant) (*onnx.Model, error)
	// inputs are pictures, else sets of points
	image bool
	out   space.Kind
	// of the models that are neither; nil for those
	world *world
}

// Bases are the models that breaks are planted in.
func Bases() []Base {
	flat := []Base{
		{
			Name: "scores", Doc: "picture to class scores, kernels with all symmetries of the square", build: scores,
			image: true, out: space.KindScores,
		},
		{
			Name: "picture", Doc: "picture to picture, kernels with all symmetries of the square", build: picture,
			image: true, out: space.KindImage,
		},
		{
			Name: "rolled", Doc: "picture to picture, any kernels, borders joined", build: rolled, image: true,
			out: space.KindImage,
		},
		{
			Name: "lifted", Doc: "picture to class scores, group convolution over C4 with regular features",
			build: lifted,
			image: true, out: space.KindScores,
		},
		{Name: "set", Doc: "set of points to numbers by inner products", build: set, out: space.KindTensor},
		{Name: "field", Doc: "set of points to a vector", build: field, out: space.KindTensor},
	}
	return append(flat, spatialBases()...)
}

// claim is the group that a model is audited for.
type claim struct {
	group string
	orbit orbit.Spec
	// points change places instead of being turned
	permuted bool
	// pictures go around the border
	cyclic bool
}

// inputs is the number of samples of an audit: the fewest that let an error of a twentieth of the inputs be excluded,
// and some more.
const inputs = 96

// workers is how many goroutines run a model.
const workers = 2

// Body is what runs the models.
type Body struct {
	Name   string
	Engine engine.Engine
}

// opened is a model ready for an audit.
type opened struct {
	subject *audit.Subject
	close   func()
}

// open makes the subject of an audit as the program does it.
func open(b Base, p plant, c claim, body Body, twin *Body) (*opened, error) {
	m, err := b.build(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	sig := m.Signature()
	rolled, err := b.rolled(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	if rolled != nil {
		sig = rolled.Signature()
	}
	codec, in, err := b.codec(p, sig)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	plan, err := b.plan(c, in, codec.Out())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	return ready{name: b.Name, model: m, rolled: rolled, codec: codec, plan: plan, sample: b.sample(p)}.open(body, twin)
}

// ready is a model with all that an audit needs but an engine.
type ready struct {
	name  string
	model *onnx.Model
	// the model over whole signals; nil for one that is not recurrent
	rolled *unroll.Model
	codec  decode.Codec
	plan   *orbit.Plan
	sample func(i int) (dataset.Sample, error)
}

// open makes the subject of an audit.
func (r ready) open(body Body, twin *Body) (*opened, error) {
	bytes, err := r.model.Bytes()
	if err != nil {
		return nil, err
	}
	limit := decode.BatchLimit(r.codec)
	run := func(e engine.Engine) *eval.Model {
		if r.rolled != nil {
			e = r.rolled.Engine(e)
		}
		return &eval.Model{
			Name: r.name, Codec: r.codec, Batch: cmp.Or(limit, 16), Fixed: limit > 0,
			Pool: eval.NewPool(e, bytes, engine.Options{Threads: 1}),
		}
	}
	model := run(body.Engine)
	o := &opened{subject: &audit.Subject{
		Name: r.name, Predictor: eval.Predictor{Model: model, Workers: workers}, Plan: r.plan, N: inputs,
		Sample: r.sample, Seed: 5,
	}}
	s := o.subject
	if r.rolled != nil {
		s.InSpec, s.OutSpec = r.codec.In(), r.codec.Out()
		s.NoReference, s.NoTwin = "the file is one step of a recurrent model", "one engine is enough here"
		o.close = func() { _ = model.Pool.Close() } // nothing is lost
		return o, nil
	}
	if s.Interior, err = interior.New(r.model, r.codec, opener(body.Engine),
		interior.Options{Body: body.Name, Workers: workers}); err != nil {
		return nil, err
	}
	if _, err := oracle.Load(r.model); err != nil {
		s.NoReference = err.Error()
	} else if s.Reference, err = interior.New(r.model, r.codec, opener(oracle.Engine(oracle.Options{})),
		interior.Options{Body: "float64", Double: true, Workers: workers}); err != nil {
		return nil, err
	}
	var other *eval.Model
	if twin != nil {
		other = run(twin.Engine)
		s.Twin, s.TwinName = eval.Predictor{Model: other, Workers: workers}, twin.Name
	} else {
		s.NoTwin = "one engine is enough here"
	}
	o.close = func() {
		_ = model.Pool.Close() // nothing is lost
		_ = s.Interior.Close()
		if s.Reference != nil {
			_ = s.Reference.Close()
		}
		if other != nil {
			_ = other.Pool.Close()
		}
	}
	return o, nil
}

func opener(e engine.Engine) interior.Open {
	return func(ctx context.Context, b []byte) (engine.Session, error) {
		return e.Open(ctx, b, engine.Options{Threads: 1})
	}
}

// rolled is the model over whole signals, nil for one that is not recurrent.
func (b Base) rolled(m *onnx.Model) (*unroll.Model, error) {
	if b.world == nil || b.world.steps == nil {
		return nil, nil //nolint:nilnil // most models are not recurrent
	}
	return unroll.New(m.Signature(), *b.world.steps)
}

func (b Base) codec(p plant, sig onnx.Signature) (decode.Codec, space.Spec, error) {
	if b.world != nil {
		in := b.world.seen()
		c, err := decode.NewRecord(sig, decode.RecordSpec{Sample: in, Outputs: b.world.out})
		return c, in, err
	}
	out := decode.OutputSpec{Space: b.out}
	if b.out == space.KindScores {
		out.Decode = "logits"
	}
	if !b.image {
		c, err := decode.NewTensors(sig, out)
		return c, space.Spec{Name: "x", Kind: out.Space, Shape: []int{2 * points}}, err
	}
	shape := []int{1, b.side(p), b.side(p)}
	c, err := decode.New(sig, decode.InputSpec{Sample: shape, Layout: "NCHW"}, out)
	return c, space.SpecOf("x", space.NewImage(1, shape[1], shape[2])), err
}

func (b Base) side(p plant) int {
	switch b.Name {
	case "scores":
		return p.side()
	case "rolled":
		return rolledSide
	}
	return side
}

func (b Base) plan(c claim, in, out space.Spec) (*orbit.Plan, error) {
	if b.world != nil {
		return b.world.plan(c, out)
	}
	g, err := catalog.Parse(c.group)
	if err != nil {
		return nil, err
	}
	opt := action.Options{}
	if c.cyclic {
		opt.Border = action.Circular
	}
	var a, z action.Action
	switch {
	case b.image:
		if a, err = action.NewImage(g, in, opt); err != nil {
			return nil, err
		}
		z = action.Trivial{G: g}
		if b.out == space.KindImage {
			if z, err = action.NewImage(g, out, opt); err != nil {
				return nil, err
			}
		}
	case c.permuted:
		f, ok := g.(group.Finite)
		if !ok {
			return nil, fmt.Errorf("%s permutes no points", g.Name())
		}
		rep, err := action.Given(g, "places", 2*points, places(f))
		if err != nil {
			return nil, err
		}
		if a, err = action.NewTensor(g, in, opt, rep); err != nil {
			return nil, err
		}
		z = action.Trivial{G: g}
	default:
		rep, err := action.Given(g, "vector", 2, vector(g))
		if err != nil {
			return nil, err
		}
		if a, err = action.NewTensor(g, in, opt, rep); err != nil {
			return nil, err
		}
		z = action.Trivial{G: g}
		if b.Name == "field" {
			if z, err = action.NewTensor(g, space.Spec{Name: "y", Kind: b.out, Shape: []int{2}}, opt,
				rep); err != nil {
				return nil, err
			}
		}
	}
	return orbit.NewPlan(g, c.orbit, a, z, 5)
}

// vector is the matrix of a turn or a mirror of the plane, y up.
func vector(g group.Group) func(group.Element) []float64 {
	return func(e group.Element) []float64 {
		m, ok := g.(group.Planar)
		if !ok {
			return nil
		}
		a, _ := m.Affine(e)
		return []float64{a[0][0], -a[0][1], -a[1][0], a[1][1]} // package group has y down
	}
}

// places moves point i to the place that the group's element number says.
func places(f group.Finite) func(group.Element) []float64 {
	all := f.Elements()
	return func(e group.Element) []float64 {
		k := 0
		for i, h := range all {
			if f.Dist(e, h) == 0 {
				k = i
			}
		}
		m := make([]float64, 4*points*points)
		for i := range points {
			to := (i + k) % points
			for c := range 2 {
				m[(2*to+c)*2*points+2*i+c] = 1
			}
		}
		return m
	}
}

// sample makes the inputs: pictures of a few smooth spots well inside the border, noise where borders are joined, or
// sets of points of which the first stands near the x axis.
func (b Base) sample(p plant) func(int) (dataset.Sample, error) {
	return func(i int) (dataset.Sample, error) {
		r := rand.New(rand.NewPCG(17, uint64(i)))
		s := dataset.Sample{ID: fmt.Sprintf("s%03d", i), Label: -1}
		if b.world != nil {
			s.Value = b.world.draw(r)
			return s, nil
		}
		if !b.image {
			v := make([]float64, 2*points)
			for k := range v {
				v[k] = 0.7 * elementary.Normal(r)
			}
			sin, cos := elementary.Sincos(0.01 * elementary.Normal(r))
			d := 0.5 + r.Float64()
			v[0], v[1] = d*cos, d*sin
			s.Value = &space.Tensor{Shape: []int{2 * points}, Val: v}
			return s, nil
		}
		n := b.side(p)
		m := space.NewImage(1, n, n)
		if b.Name == "rolled" {
			for k := range m.Pix {
				m.Pix[k] = elementary.Normal(r)
			}
			s.Value = m
			return s, nil
		}
		for range 4 {
			cy, cx := float64((0.3+float64(0.4*r.Float64()))*float64(n-1)),
				float64((0.3+float64(0.4*r.Float64()))*float64(n-1))
			w, h := 0.8+float64(0.6*r.Float64()), 1+2*r.Float64()
			for k := range m.Pix {
				y, x := float64(k/n)-cy, float64(k%n)-cx
				m.Pix[k] += float64(h * elementary.Exp(-(float64(x*x)+float64(y*y))/(2*w*w)))
			}
		}
		for k := range m.Pix {
			if y, x := k/n, k%n; min(y, x, n-1-y, n-1-x) < 2 {
				m.Pix[k] = 0 // so that a picture moved by a pixel loses nothing
			}
		}
		s.Value = m
		return s, nil
	}
}

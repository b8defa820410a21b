package repair

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/rewrite"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// pose answers what the model says of the input in one pose that the input itself decides: a cloud by its principal
// axes, a picture by its moments.
var pose = Method{
	Name: "pose",
	Doc: "the answer in one pose that the input decides: points by principal axes, pictures by centroid and " +
		"direction of what differs from what lies outside",
	Options: []Option{
		{
			Name: "shift", Values: []string{auto, "true", "false"},
			Doc: "pictures: whether the centroid is brought to where the model knows it; auto where the group shifts",
		},
		{
			Name: "rotate", Values: []string{auto, "true", "false"},
			Doc: "pictures: whether the direction is brought to that which the model knows; auto where the group turns",
		},
		{
			Name: "scale", Values: []string{auto, "true", "false"},
			Doc: "pictures: whether the size is brought to that which the model knows; auto where the group scales",
		},
		maskOption(), doubleOption(),
	},
	predicted: once,
	near:      nearFlip, crossings: crossingAxes,
	forces: "forces from one pose are equivariant, but not the gradient of the energy, even if they were before: " +
		"the pose moves with the points",
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		var w *wrapper
		var err error
		if len(s.Sample.Dims()) == 3 {
			w, err = posePicture(s, options)
		} else {
			w, err = poseCloud(s, options)
		}
		if err != nil {
			return nil, "", err
		}
		return w.Shell, s.Group.Name() + ", one pose", nil
	},
}

// mds is pose for points by the name of the papers that choose coordinates by multidimensional scaling (Zhang and
// others 2021, TinvNN): coordinates that keep all distances. In space these are the principal axes up to signs, for
// (x - μ)(x - μ)ᵀ and (x - μ)ᵀ(x - μ) have the same eigenvalues but for zeros, and the third moments choose the signs.
var mds = Method{
	Name: "mds",
	Doc: "points: another name for pose, of coordinates that keep all distances and forget how a cloud is turned and " +
		"where it stands",
	Options: []Option{maskOption(), doubleOption()}, predicted: once, forces: pose.forces, near: nearFlip,
	crossings: crossingAxes,
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		if len(s.Sample.Dims()) == 3 {
			return nil, "", errors.New("distances are those of points; for pictures ask for pose")
		}
		all := map[string]string{"shift": auto, "rotate": auto, "scale": auto}
		maps.Copy(all, options)
		w, err := poseCloud(s, all)
		if err != nil {
			return nil, "", err
		}
		return w.Shell, s.Group.Name() + ", one pose", nil
	},
}

func poseCloud(s Source, options map[string]string) (*wrapper, error) {
	for _, o := range []string{"shift", "rotate", "scale"} {
		if options[o] != auto {
			return nil, fmt.Errorf("%s is of pictures; of clouds the group says what is undone", o)
		}
	}
	feeds, err := moving(s)
	if err != nil {
		return nil, err
	}
	c, err := claimed(s.Group)
	if err != nil {
		return nil, err
	}
	one := [][9]float64{{1, 0, 0, 0, 1, 0, 0, 0, 1}}
	f := framing{s: s, claim: c, options: options, turns: 1, ends: one, moments: true, feeds: feeds}
	return f.write("pose")
}

// aim chooses the signs of axes by the third moments of centred points, and the last by the hand rule, unless mirrors
// are claimed.
func (f *framing) aim(points string, axes *[3]string, n int) {
	x := f.x
	skew := func(axis string) string {
		by := x.back([3]string{axis, axis, axis})[0] // [samples, 1, 3]
		dot := x.reduce("ReduceSum", x.mul(points, by), 2, 1)
		third := x.sum(x.mul(x.mul(dot, dot), dot))
		return x.where(x.less(third, x.zero), x.num(-1), x.one)
	}
	axes[0] = x.mul(axes[0], skew(axes[0]))
	if n == 2 {
		axes[1] = x.cross(axes[2], axes[0])
		if f.claim.mirrors {
			f.sign = skew(axes[1])
			axes[1] = x.mul(axes[1], f.sign)
		}
		return
	}
	axes[1] = x.mul(axes[1], skew(axes[1]))
	axes[2] = x.cross(axes[0], axes[1])
	if f.claim.mirrors {
		f.sign = skew(axes[2])
		axes[2] = x.mul(axes[2], f.sign)
	}
}

// picturePose is where a picture stands: centroid from the middle in pixels (x to the right, y down), the direction of
// its longer axis, pointing where its third moment does, and its radius of gyration.
type picturePose struct{ x, y, u, v, size float64 }

// leastMass and leastSquare keep what is divided by from being 0.
const (
	leastMass   = 1e-12
	leastSquare = 1e-12
	// leastLong is up to what difference of second moments, in pixels squared, a picture has no axis, and up to what
	// distance from the middle, in pixels, it stands there.
	leastLong = 1e-4
)

// poseOf is the pose of weights of h rows and w columns. The graph computes the same.
func poseOf(weights []float64, h, w int) picturePose {
	var mass, mx, my float64
	each := func(f func(x, y, weight float64)) {
		for i, p := range weights {
			f(float64(i%w)-float64(w-1)/2, float64(i/w)-float64(h-1)/2, p)
		}
	}
	each(func(x, y, p float64) { mass, mx, my = mass+p, mx+float64(p*x), my+float64(p*y) })
	mass = max(mass, leastMass)
	o := picturePose{x: mx / mass, y: my / mass}
	var a, b, d float64
	each(func(x, y, p float64) {
		x, y = x-o.x, y-o.y
		a, b, d = a+float64(float64(p*x)*x), b+float64(float64(p*x)*y), d+float64(float64(p*y)*y)
	})
	a, b, d = a/mass, b/mass, d/mass
	o.size = math.Sqrt(max(a+d, leastSquare))
	c := (a - d) / max(math.Sqrt(float64((a-d)*(a-d))+float64(4*float64(b*b))), leastSquare)
	o.u, o.v = math.Sqrt(max((1+c)/2, 0)), math.Sqrt(max((1-c)/2, 0))
	if b < 0 {
		o.v = -o.v
	}
	third := 0.0
	each(func(x, y, p float64) {
		t := float64((x-o.x)*o.u) + float64((y-o.y)*o.v)
		third += float64(p * float64(float64(t*t)*t))
	})
	if third < 0 {
		o.u, o.v = -o.u, -o.v
	}
	return o
}

// common is what poses have in common. Their axes have a mean, that of twice the angle, where their directions may have
// none: of figures that point up and such that point down. Which end of the axis it is, more of them say.
func common(poses []picturePose) picturePose {
	var o picturePose
	var p, q, along, n float64
	for _, x := range poses {
		n++
		o.x, o.y, o.size = o.x+x.x, o.y+x.y, o.size+x.size
		p, q = p+(float64(x.u*x.u)-float64(x.v*x.v)), q+float64(2*float64(x.u*x.v))
	}
	o.x, o.y, o.size = o.x/n, o.y/n, o.size/n
	c := 1.0 // axes of all kinds have no mean
	if r := math.Sqrt(float64(p*p) + float64(q*q)); r > 1e-9*n {
		c = p / r
	}
	o.u, o.v = math.Sqrt(max((1+c)/2, 0)), math.Sqrt(max((1-c)/2, 0))
	if q < 0 {
		o.v = -o.v
	}
	for _, x := range poses {
		if float64(x.u*o.u)+float64(x.v*o.v) < 0 {
			along--
		} else {
			along++
		}
	}
	if along < 0 {
		o.u, o.v = -o.u, -o.v
	}
	return o
}

// undone says what of a pose is undone.
type undone struct{ shift, rotate, scale bool }

// claimedPlane finds out what a group does to pictures.
func claimedPlane(g group.Group, options map[string]string) (undone, error) {
	var c undone
	p, ok := g.(group.Planar)
	if !ok {
		return c, fmt.Errorf("%s is no group of motions of the plane, and moments of a picture know nothing else",
			g.Name())
	}
	for _, e := range draws(g, 32) {
		a, t := p.Affine(e)
		det := float64(a[0][0]*a[1][1]) - float64(a[0][1]*a[1][0])
		square := float64(a[0][0]*a[0][0]) + float64(a[1][0]*a[1][0])
		switch {
		case det < 0:
			return c, fmt.Errorf("%s has mirrors, which a direction does not tell apart: name its rotations alone",
				g.Name())
		case !(math.Abs(a[0][0]-a[1][1]) <= 1e-9*(1+square)) || !(math.Abs(a[0][1]+a[1][0]) <= 1e-9*(1+square)):
			return c, fmt.Errorf("%s shears or stretches, which centroid, direction and size do not undo", g.Name())
		}
		c.rotate = c.rotate || math.Abs(a[0][1]) > 1e-9 || a[0][0] < 0
		c.scale = c.scale || math.Abs(det-1) > 1e-9
		c.shift = c.shift || t != [2]float64{}
	}
	if _, ok := g.(group.Torus); ok {
		return c, fmt.Errorf("%s moves pictures around their borders, where a centroid means nothing", g.Name())
	}
	for name, at := range map[string]*bool{"shift": &c.shift, "rotate": &c.rotate, "scale": &c.scale} {
		if options[name] != auto {
			*at = options[name] == "true"
		}
	}
	if c == (undone{}) {
		return c, errors.New("nothing is to be undone: one of shift, rotate and scale")
	}
	return c, nil
}

// gridOpset is the version of the operators that has GridSample. Version 20 has other names for its modes, which some
// converters read as the nearest pixel, so no file is raised to it.
const gridOpset, gridOpsetEnd = 16, 20

func posePicture(s Source, options map[string]string) (*wrapper, error) {
	c, err := claimedPlane(s.Group, options)
	if err != nil {
		return nil, err
	}
	if options["mask"] != auto {
		return nil, errors.New("mask is of clouds")
	}
	if _, ok := s.Out.(action.Trivial); !ok {
		return nil, errors.New("the answer moves with the picture, and would have to be sampled back: of pictures, " +
			"answers have to stay as they are, such as scores")
	}
	outs, err := answered(s)
	if err != nil {
		return nil, err
	}
	if !decode.BatchAxis(s.Codec) {
		return nil, oneByOne(s)
	}
	model := s.Model
	switch opset := model.Opset(); {
	case opset >= gridOpsetEnd:
		return nil, fmt.Errorf("it samples pictures by GridSample, which has other names for its modes in operators "+
			"of version %d: export the model with opset_version=%d to %d", opset, gridOpset, gridOpsetEnd-1)
	case opset < gridOpset:
		if model, err = model.Raise(gridOpset); err != nil {
			return nil, fmt.Errorf("it samples pictures by GridSample, an operator since version %d: %w", gridOpset,
				err)
		}
	}
	p, err := pictureOf(s)
	if err != nil {
		return nil, err
	}
	w := &wrapper{Shell: rewrite.New(model), opset: model.Opset()}
	w.Under("pose")
	w.Fix(p.port.Name, p.shape)
	v := p.write(w, c, options["double"] == "true")
	var names []string
	for _, o := range outs {
		names = append(names, o.port.Name)
	}
	ys, err := w.bodies(s, names, []map[string]string{{p.port.Name: v}})
	if err != nil {
		return nil, err
	}
	for _, o := range outs {
		w.Answer(o.port.Name, ys[0][o.port.Name])
	}
	return w, nil
}

// picture is an input that reads a picture.
type picture struct {
	port    onnx.Port
	shape   []int // that it reads of one
	c, h, w int
	last    bool // channels
	// number v of channel k is read as scale[k]·v + offset[k]
	scale, offset []float64
	// what the fit samples have in common: the pose that the model knows
	known picturePose
}

// pictureOf finds out how a model reads pictures, and in what pose it knows them.
func pictureOf(s Source) (*picture, error) {
	places, ports, err := layout(s.Codec, s.Sample)
	if err != nil {
		return nil, err
	}
	d := s.Sample.Dims()
	if len(ports) != 1 || len(d) != 3 || len(ports[0].Shape) != 4 {
		return nil, errors.New("the model does not read one picture by one input of four axes")
	}
	p := &picture{c: d[0], h: d[1], w: d[2], scale: make([]float64, d[0]), offset: make([]float64, d[0])}
	p.port, _ = s.Model.Signature().Input(ports[0].Name)
	p.shape = ports[0].Shape[1:]
	area := p.h * p.w
	for k, at := range places {
		p.scale[k/area], p.offset[k/area] = at.scale, at.offset
	}
	if p.last, err = lastOf(places, p.c, area); err != nil {
		return nil, err
	}
	fit := s.Fit
	if len(fit) == 0 {
		fit = []space.Value{s.Sample}
	}
	var poses []picturePose
	for _, v := range fit {
		if !slices.Equal(v.Dims(), d) {
			return nil, fmt.Errorf("samples are pictures of several sizes, %s and %s", s.Sample.Form(), v.Form())
		}
		weights := make([]float64, area)
		for i, x := range v.Numbers() {
			weights[i%area] += math.Abs(x)
		}
		poses = append(poses, poseOf(weights, p.h, p.w))
	}
	p.known = common(poses)
	return p, nil
}

// write is the picture in the pose that the model knows.
func (p *picture) write(w *wrapper, c undone, double bool) string {
	raw := p.port.DType
	own := raw // of the picture and the grid
	if raw != tensor.Float32 && raw != tensor.Float64 {
		own = tensor.Float32
	}
	v := w.cast(p.port.Name, raw, own)
	if p.last {
		v = w.Op("Transpose", []string{v}, onnx.AttrInts("perm", 0, 3, 1, 2))
	}
	// What lies outside is 0 in the study's numbers.
	outside := w.numbers(p.offset, own, 1, p.c, 1, 1)
	v = w.Op("Sub", []string{v, outside})
	wide := tensor.Float64
	if !double && own != tensor.Float64 {
		wide = tensor.Float32
	}
	x := &island{wrapper: w, d: wide}
	num := func(a float64) string { return w.numbers([]float64{a}, wide, 1, 1, 1, 1) }
	x.zero, x.one, x.two = num(0), num(1), num(2)
	over := func(v string, axes ...int64) string {
		for _, a := range axes {
			v = w.reduce("ReduceSum", v, a, 1)
		}
		return v
	}
	weight := w.cast(v, own, wide)
	up, dust := make([]float64, p.c), make([]float64, p.c)
	for k, s := range p.scale {
		// What lies outside is the offset but for the last bits of float32, which are no weight.
		up[k], dust[k] = 1/s, 4e-7*math.Abs(p.offset[k]/s)
	}
	weight = x.mul(weight, w.numbers(up, wide, 1, p.c, 1, 1))
	weight = x.sub(w.Op("Abs", []string{weight}), w.numbers(dust, wide, 1, p.c, 1, 1))
	weight = over(w.Op("Max", []string{weight, x.zero}), 1) // [samples, 1, rows, columns]
	line := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(i) - float64(n-1)/2
		}
		return out
	}
	right, down := w.numbers(line(p.w), wide, 1, 1, 1, p.w), w.numbers(line(p.h), wide, 1, 1, p.h, 1)
	total := func(v string) string { return over(v, 3, 2) }
	mass := w.Op("Max", []string{total(weight), num(leastMass)})
	mean := func(v string) string { return x.div(total(x.mul(weight, v)), mass) }
	mx, my := mean(right), mean(down)
	dx, dy := x.sub(right, mx), x.sub(down, my)
	cos, sin := x.one, x.zero
	var a, d string
	if c.rotate || c.scale {
		a, d = mean(x.mul(dx, dx)), mean(x.mul(dy, dy))
	}
	if c.rotate {
		b := mean(x.mul(dx, dy))
		apart := x.sub(a, d)
		twice := x.add(b, b)
		length := x.sqrt(x.add(x.mul(apart, apart), x.mul(twice, twice)))
		ratio := x.div(apart, w.Op("Max", []string{length, num(leastSquare)}))
		half := func(v string) string {
			return x.sqrt(w.Op("Max", []string{x.div(v, x.two), x.zero}))
		}
		ux, uy := half(x.add(x.one, ratio)), half(x.sub(x.one, ratio))
		uy = x.where(x.less(b, x.zero), w.Op("Neg", []string{uy}), uy)
		along := x.add(x.mul(dx, ux), x.mul(dy, uy))
		third := total(x.mul(weight, x.mul(x.mul(along, along), along)))
		sign := x.where(x.less(third, x.zero), num(-1), x.one)
		ux, uy = x.mul(ux, sign), x.mul(uy, sign)
		if !c.shift {
			// What has no axis of its own, such as one pixel, still stands somewhere around the place that is turned
			// about.
			far := x.sqrt(x.add(x.mul(mx, mx), x.mul(my, my)))
			round, middle := x.less(length, num(leastLong)), x.less(far, num(leastLong))
			from := w.Op("Max", []string{far, num(leastLong)})
			beside := func(own, mean string) string {
				return x.where(round, x.where(middle, own, x.div(mean, from)), own)
			}
			ux, uy = beside(ux, mx), beside(uy, my)
		}
		// The turn that takes the known direction to that of the picture.
		ku, kv := num(p.known.u), num(p.known.v)
		cos, sin = x.add(x.mul(ux, ku), x.mul(uy, kv)), x.sub(x.mul(ku, uy), x.mul(kv, ux))
	}
	if c.scale {
		size := x.sqrt(w.Op("Max", []string{x.add(a, d), num(leastSquare)}))
		size = x.div(size, num(max(p.known.size, leastSquare)))
		cos, sin = x.mul(cos, size), x.mul(sin, size)
	}
	// Pixel p of the result is read at R·(p - known) + centroid, or at R·p where nothing is shifted.
	px, py := right, down
	if c.shift {
		px, py = x.sub(px, num(p.known.x)), x.sub(py, num(p.known.y))
	}
	gx, gy := x.sub(x.mul(cos, px), x.mul(sin, py)), x.add(x.mul(sin, px), x.mul(cos, py))
	if c.shift {
		gx, gy = x.add(gx, mx), x.add(gy, my)
	}
	// Offsets from the middle, in halves of the picture.
	gx, gy = x.mul(gx, num(2/float64(p.w))), x.mul(gy, num(2/float64(p.h)))
	grid := w.Op("Concat", []string{gx, gy}, onnx.AttrInt("axis", 1))
	grid = w.Op("Transpose", []string{w.cast(grid, wide, own)}, onnx.AttrInts("perm", 0, 2, 3, 1))
	y := w.Op("GridSample", []string{v, grid}, onnx.AttrString("mode", "bilinear"),
		onnx.AttrString("padding_mode", "zeros"), onnx.AttrInt("align_corners", 0))
	y = w.Op("Add", []string{y, outside})
	if p.last {
		y = w.Op("Transpose", []string{y}, onnx.AttrInts("perm", 0, 2, 3, 1))
	}
	return w.cast(y, own, raw)
}

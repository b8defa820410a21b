package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/lanes"
)

// encoder lays images, or some of the frames of each sample, out as one input.
type encoder struct {
	port
	spec InputSpec
	// the first frame that this input takes
	from int
	// of the channels: "rgb", "bgr", "grey" or "" for as they are
	order string
	// one for all channels, one per channel of a frame, or one per channel of all frames
	norm []norm
	pool sync.Pool
}

// norm is the affine map of one channel.
type norm struct {
	scale, mean, std float64
	// The same map as v*a + b, and |b|, for the fast path, which is taken only where it provably rounds to the same
	// number.
	a, b, absB float64
	// v itself
	plain bool
	fast  bool
}

func newNorm(scale, mean, std float64) norm {
	n := norm{scale: scale, mean: mean, std: std, a: 1 / (scale * std), b: -mean / std}
	if mean == 0 {
		n.b = math.Copysign(0, -1) // the only number whose sum with -0 is -0
	}
	n.absB = math.Abs(n.b)
	n.plain = scale == 1 && mean == 0 && !math.Signbit(mean) && std == 1 // -0 - -0 is 0
	tame := func(x float64) bool { return math.Abs(x) < 1e30 && math.Abs(x) > 1e-30 }
	n.fast = tame(scale) && tame(std) && (mean == 0 && !math.Signbit(mean) || tame(mean))
	return n
}

// slack bounds the distance between v*a + b and the formula, relative to |v*a| + |b|. With u = 2^-53 the formula itself
// is within 3u of the true value and v*a + b within 4u; one more u covers the sum that it is multiplied with.
const slack = 8.0 / (1 << 53)

// exact is the formula.
func (n *norm) exact(v float64) float64 { return (v/n.scale - n.mean) / n.std }

// float32s writes normalised pixels to dst[0], dst[stride], ... The divisions of the formula take most of the time, so
// that they are replaced by a multiplication where both ends of the interval around its result round to the same
// float32.
func (n *norm) float32s(dst []float32, stride int, src []float64) {
	switch {
	case n.plain && stride == 1:
		lanes.Narrow(dst, src)
	case n.plain:
		for i, v := range src {
			dst[i*stride] = float32(v)
		}
	case !n.fast:
		for i, v := range src {
			dst[i*stride] = float32(n.exact(v))
		}
	case stride == 1:
		m := lanes.Map{A: n.a, B: n.b, AbsB: n.absB, Slack: slack}
		for part := range slices.Chunk(src, 1024) {
			if !m.Rounded(dst, part) {
				n.each(dst, 1, part)
			}
			dst = dst[len(part):]
		}
	default:
		n.each(dst, stride, src)
	}
}

// each writes normalised pixels one by one.
func (n *norm) each(dst []float32, stride int, src []float64) {
	for i, v := range src {
		t := float64(v * n.a)
		e := float64((math.Abs(t) + n.absB) * slack)
		r := t + n.b
		lo := float32(r - e)
		if math.Float32bits(lo) != math.Float32bits(float32(r+e)) { // NaN and infinities come here too
			lo = float32(n.exact(v))
		}
		dst[i*stride] = lo
	}
}

// others writes normalised pixels of another element type.
func (n *norm) others(dst []byte, d tensor.DType, stride int, src []float64) error {
	le := binary.LittleEndian
	for i, v := range src {
		x, k := n.exact(v), i*stride
		switch d {
		case tensor.Float64:
			le.PutUint64(dst[8*k:], math.Float64bits(x))
		case tensor.Float16:
			le.PutUint16(dst[2*k:], small(x, 10, 15))
		case tensor.BFloat16:
			le.PutUint16(dst[2*k:], small(x, 7, 127))
		case tensor.Uint8:
			if math.IsNaN(x) {
				return fmt.Errorf("pixel %d is NaN, which the model's uint8 cannot hold", i)
			}
			dst[k] = uint8(math.RoundToEven(min(max(x, 0), 255)))
		case tensor.Undefined, tensor.Float32, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Int64,
			tensor.Bool,
			tensor.Uint32, tensor.Uint64, tensor.String:
			return fmt.Errorf("images are not encoded as %s", d)
		}
	}
	return nil
}

// small rounds to the nearest number with p stored bits of mantissa and the exponent bias given (ties to even) and
// returns its bits: binary16 with 10 and 15, bfloat16 with 7 and 127.
func small(v float64, p, bias int) uint16 {
	var sign uint16
	if math.Signbit(v) {
		sign = 1 << 15
	}
	inf := uint16(2*bias+1) << p
	a := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return sign | inf | 1<<(p-1)
	case a == 0:
		return sign
	case math.IsInf(a, 0):
		return sign | inf
	}
	_, e := math.Frexp(a)
	e = max(e-1, 1-bias) // a = m * 2^e with 1 <= m < 2, or a subnormal number
	if e > bias {
		return sign | inf
	}
	m := uint32(math.RoundToEven(math.Ldexp(a, p-e)))
	// A subnormal number has no hidden bit; a mantissa that was rounded up to 2 carries into the exponent by itself, up
	// to infinity.
	return sign | uint16(uint32(e+bias-1)<<p+m)
}

// dims is the shape of a batch of n samples whose frames have c channels.
func (e *encoder) dims(dst []int, n, c, h, w int) []int {
	a := e.axes
	if a.flat {
		return append(dst[:0], n, e.frames*c*h*w)
	}
	dst = append(dst[:0], make([]int, a.rank())...)
	for _, x := range [][2]int{{a.n, n}, {a.t, e.frames}, {a.c, a.apart(e.frames, c)}, {a.h, h}, {a.w, w}} {
		if x[0] >= 0 {
			dst[x[0]] = x[1]
		}
	}
	return dst
}

// fits tells whether a former tensor has the shape of a batch, without allocating.
func (e *encoder) fits(t tensor.Named, n, c, h, w int) bool {
	a := e.axes
	if t.Name != e.name || t.DType != e.dtype || len(t.Shape) != a.rank() ||
		len(t.Raw) != n*e.frames*c*h*w*e.dtype.Size() || len(t.Raw) == 0 {
		return false
	}
	if uintptr(unsafe.Pointer(&t.Raw[0]))%8 != 0 {
		return false
	}
	if a.flat {
		return t.Shape[0] == n && t.Shape[1] == e.frames*c*h*w
	}
	ok := func(axis, want int) bool { return axis < 0 || t.Shape[axis] == want }
	return ok(a.n, n) && ok(a.t, e.frames) && ok(a.c, a.apart(e.frames, c)) && ok(a.h, h) && ok(a.w, w)
}

// check compares one image with the model and with the first of its batch.
func (e *encoder) check(m *space.Image, h, w int) error {
	if m.C <= 0 || m.H <= 0 || m.W <= 0 || len(m.Pix) != m.C*m.H*m.W {
		return fmt.Errorf("an image of %d x %d with %s and %d values", m.H, m.W, countChannels(m.C), len(m.Pix))
	}
	if m.H != h || m.W != w {
		if e.spec.Frames > 0 {
			return fmt.Errorf("a frame of %d x %d (height x width) beside one of %d x %d; frames of one run have one "+
				"size", m.H, m.W, h, w)
		}
		return fmt.Errorf("an image of %d x %d (height x width) in a batch of %d x %d; images of one run have one size",
			m.H, m.W, h, w)
	}
	c := e.made(m.C)
	if c == 0 {
		return fmt.Errorf("input.channels: %s from an image with %d channels; it can be made of 1 or 3", e.order, m.C)
	}
	if e.c > 0 && c != e.c || e.h > 0 && h != e.h || e.w > 0 && w != e.w {
		return fmt.Errorf("an image of %d x %d (height x width) with %s; input %q wants %s x %s with %s channels%s",
			m.H, m.W, countChannels(m.C), e.name, any1(e.h), any1(e.w), any1(e.c), e.remedy(m.C))
	}
	if len(e.norm) > 1 && len(e.norm) != c && len(e.norm) != max(e.spec.Frames, 1)*c {
		return fmt.Errorf("input.mean and input.std have %d values, an image has %s", len(e.norm), countChannels(c))
	}
	return nil
}

func (e *encoder) remedy(have int) string {
	switch {
	case e.order != "":
	case e.c == 3 && have == 1:
		return "; set input.channels: rgb to repeat the one there is"
	case e.c == 1 && have == 3:
		return "; set input.channels: grey to average them"
	}
	return ""
}

func any1(n int) string {
	if n <= 0 {
		return "any"
	}
	return strconv.Itoa(n)
}

// made is the number of channels that come out of c; 0 if the order asked for cannot be made.
func (e *encoder) made(c int) int {
	if e.order == "" {
		return c
	}
	if c != 1 && c != 3 {
		return 0
	}
	if e.order == "grey" {
		return 1
	}
	return 3
}

// Encode lays out the values, see [Codec].
func (e *encoder) encode(batch []space.Value, buf []tensor.Named) ([]tensor.Named, error) {
	if len(batch) == 0 {
		return nil, errors.New("an empty batch")
	}
	rows := len(batch)
	if e.batch > 0 {
		if len(batch) > e.batch {
			return nil, fmt.Errorf("%d samples for input %q, whose batch axis is fixed at %d", len(batch), e.name,
				e.batch)
		}
		rows = e.batch
	}
	var c, h, w int
	for i, v := range batch {
		for t := range e.frames {
			m, err := e.picture(v, t)
			if err != nil {
				return nil, fmt.Errorf("sample %d of the batch %w", i, err)
			}
			if i == 0 && t == 0 {
				c, h, w = e.made(m.C), m.H, m.W
			}
			if err := e.check(m, h, w); err != nil {
				return nil, fmt.Errorf("sample %d of the batch: %w", i, err)
			}
			if e.made(m.C) != c {
				return nil, fmt.Errorf("sample %d of the batch has %s, the first %d; set input.channels", i,
					countChannels(m.C), c)
			}
		}
	}
	if len(buf) != 1 || !e.fits(buf[0], rows, c, h, w) {
		buf = []tensor.Named{{Name: e.name, Tensor: tensor.New(e.dtype, e.dims(nil, rows, c, h, w)...)}}
	}
	one := e.frames * c * h * w * e.dtype.Size()
	for i, v := range batch {
		for t := range e.frames {
			m, err := e.picture(v, t)
			if err == nil { // refused above
				err = e.image(buf[0].Raw[i*one:(i+1)*one], m, t, c)
			}
			if err != nil {
				return nil, fmt.Errorf("sample %d of the batch: %w", i, err)
			}
		}
	}
	// A fixed batch axis is filled up with the last sample; Decode leaves the rest out.
	for i := len(batch); i < rows; i++ {
		copy(buf[0].Raw[i*one:(i+1)*one], buf[0].Raw[(len(batch)-1)*one:])
	}
	return buf, nil
}

// picture is the image of a sample that stands at place t of this input. The error goes on after "sample 3 of the
// batch".
func (e *encoder) picture(v space.Value, t int) (*space.Image, error) {
	if e.spec.Frames == 0 {
		m, ok := v.(*space.Image)
		if !ok || m == nil {
			return nil, fmt.Errorf("is %s, want an image", kindOf(v))
		}
		return m, nil
	}
	f, ok := v.(*space.Frames)
	if !ok || f == nil {
		return nil, fmt.Errorf("is %s, want %d frames", kindOf(v), e.spec.Frames)
	}
	if len(f.Images) != e.spec.Frames {
		return nil, fmt.Errorf("has %d frames, want %d", len(f.Images), e.spec.Frames)
	}
	m := f.Images[e.from+t]
	if m == nil {
		return nil, fmt.Errorf("has no picture in frame %d", e.from+t)
	}
	return m, nil
}

// place is where the first pixel of channel k of frame t stands in a sample, and how far it is to the next; c counts
// the channels of a frame.
func (e *encoder) place(t, k, c, area int) (at, stride int) {
	switch {
	case e.axes.name == "NTHWC" || e.axes.name == "THWC":
		return t*area*c + k, c
	case e.axes.name == "NCTHW":
		return (k*e.frames + t) * area, 1
	case e.nhwc:
		return t*c + k, e.frames * c
	}
	return (t*c + k) * area, 1
}

// scaling is the map of channel k of frame t.
func (e *encoder) scaling(t, k, c int) *norm { return &e.norm[((e.from+t)*c+k)%len(e.norm)] }

// image writes one image, frame t of this input, into the bytes of its sample.
func (e *encoder) image(dst []byte, m *space.Image, t, c int) error {
	area := m.H * m.W
	var grey *[]float64
	if e.order == "grey" && m.C == 3 {
		grey, _ = e.pool.Get().(*[]float64)
		if grey == nil || len(*grey) < area {
			s := make([]float64, area)
			grey = &s
		}
		r, g, b := m.Plane(0), m.Plane(1), m.Plane(2)
		for i := range area {
			(*grey)[i] = float64(0.299*r[i]) + float64(0.587*g[i]) + float64(0.114*b[i])
		}
		defer e.pool.Put(grey)
	}
	for k := range c {
		src := k
		switch {
		case m.C == 1:
			src = 0
		case e.order == "bgr":
			src = 2 - k
		}
		var plane []float64
		if grey != nil {
			plane = (*grey)[:area]
		} else {
			plane = m.Plane(src)
		}
		at, stride := e.place(t, k, c, area)
		n := e.scaling(t, k, c)
		if e.dtype == tensor.Float32 {
			n.float32s(unsafe.Slice((*float32)(unsafe.Pointer(&dst[0])), len(dst)/4)[at:], stride, plane)
			continue
		}
		if err := n.others(dst[at*e.dtype.Size():], e.dtype, stride, plane); err != nil {
			return err
		}
	}
	return nil
}

// kindOf names a value for messages.
func kindOf(v space.Value) string {
	if v == nil {
		return "nothing"
	}
	return "of kind " + string(v.Kind())
}

// newEncoder checks the specification against itself and prepares the maps.
func newEncoder(p port, in InputSpec) (*encoder, error) {
	e := &encoder{port: p, spec: in, order: strings.ToLower(in.Channels)}
	if e.order == "gray" {
		e.order = "grey"
	}
	c := p.c
	if c <= 0 {
		if c = channels(in); c == 0 {
			c, _, _ = sample(in)
		}
	}
	n := 1
	for _, l := range []struct {
		name string
		v    []float64
	}{{"mean", in.Mean}, {"std", in.Std}} {
		if len(l.v) <= 1 {
			continue
		}
		if all := max(in.Frames, 1) * c; c > 0 && len(l.v) != c && len(l.v) != all {
			return nil, fmt.Errorf("input.%s has %d values, the model reads %s; give one, or one per channel", l.name,
				len(l.v), countChannels(all))
		}
		if n > 1 && len(l.v) != n {
			return nil, fmt.Errorf("input.mean has %d values and input.std %d; give one, or one per channel",
				len(in.Mean), len(in.Std))
		}
		n = len(l.v)
	}
	pick := func(v []float64, i int, def float64) float64 {
		switch {
		case len(v) == 0:
			return def
		case len(v) == 1:
			return v[0]
		}
		return v[i]
	}
	scale := in.Scale
	if scale == 0 {
		scale = 1
	}
	for i := range n {
		e.norm = append(e.norm, newNorm(scale, pick(in.Mean, i, 0), pick(in.Std, i, 1)))
	}
	return e, nil
}

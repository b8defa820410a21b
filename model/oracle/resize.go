package oracle

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// resizeOps sample at other places.
func resizeOps() map[string][]entry {
	upsample := func(a *attrs, scales []float64) kernel {
		r := resampling{mode: a.choice("mode", "nearest", "linear"), place: "asymmetric", nearest: "simple"}
		return one(func(c *call) (*value, error) {
			s := scales
			if s == nil {
				v, err := c.floats(1)
				if err != nil {
					return nil, err
				}
				s = v.f
			}
			return c.resize(r, s, nil, nil, nil)
		})
	}
	sampler := func(since int) entry {
		return entry{since: since, least: 2, most: 2, outs: 1, build: gridSample}
	}
	return map[string][]entry{
		"Upsample": {
			{since: 7, least: 1, most: 1, outs: 1, build: func(a *attrs) kernel {
				s := a.floats("scales")
				if s == nil {
					a.fail("attribute scales is missing")
				}
				return upsample(a, s)
			}},
			{since: 9, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel { return upsample(a, nil) }},
		},
		"Resize": {
			{since: 10, least: 2, most: 2, outs: 1, build: func(a *attrs) kernel { return upsample(a, nil) }},
			{since: 11, least: 1, most: 4, outs: 1, build: resizeNode},
		},
		"GridSample": {sampler(16)},
	}
}

// resampling is how Resize finds its values.
type resampling struct {
	mode, place, nearest, policy string
	// the cubic's coefficient, the value outside of a crop
	cubic, outside     float64
	exclude, antialias bool
	// nil for all
	axes []int
}

func resizeNode(a *attrs) kernel {
	places := []string{"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"}
	switch {
	case a.opset < 13:
		places = append(places, "tf_half_pixel_for_nn")
	case a.opset >= 19:
		places = append(places, "half_pixel_symmetric")
	}
	r := resampling{
		mode:    a.choice("mode", "nearest", "linear", "cubic"),
		place:   a.choice("coordinate_transformation_mode", places...),
		nearest: a.choice("nearest_mode", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
		cubic:   a.float("cubic_coeff_a", -0.75), outside: a.float("extrapolation_value", 0),
		exclude: a.flag("exclude_outside", false),
	}
	if a.opset >= 18 {
		r.antialias, r.axes = a.flag("antialias", false), a.ints("axes")
		r.policy = a.choice("keep_aspect_ratio_policy", "stretch", "not_larger", "not_smaller")
	}
	return one(func(c *call) (*value, error) {
		var roi, scales []float64
		var sizes []int
		if v := c.at(1); v != nil && r.place == "tf_crop_and_resize" {
			if !v.float() {
				return nil, fmt.Errorf("input 1 is %s, want a floating-point type", v)
			}
			roi = v.f
		}
		if v := c.at(2); v != nil && v.len() > 0 {
			if !v.float() {
				return nil, fmt.Errorf("input 2 is %s, want a floating-point type", v)
			}
			scales = v.f
		}
		if v := c.at(3); v != nil && v.len() > 0 {
			var err error
			if sizes, err = c.ints(3); err != nil {
				return nil, err
			}
		}
		if (scales == nil) == (sizes == nil) {
			return nil, errors.New("want either scales or sizes, not both or none")
		}
		return c.resize(r, scales, sizes, roi, r.axes)
	})
}

// taps are the elements of one axis, and their weights, that make an element of the resized axis.
type taps struct {
	at     []int
	weight []float64
	// of the crop
	outside bool
}

func (c *call) resize(r resampling, scales []float64, sizes []int, roi []float64, list []int) (*value, error) {
	x, err := c.any(0)
	if err != nil {
		return nil, err
	}
	if !x.float() && r.mode != "nearest" {
		return nil, fmt.Errorf("input 0 is %s, want a floating-point type", x)
	}
	if list == nil {
		for k := range x.rank() {
			list = append(list, k)
		}
	}
	as, err := axes(list, x.rank())
	if err != nil {
		return nil, err
	}
	n := len(as)
	if sizes != nil && len(sizes) != n || sizes == nil && len(scales) != n || roi != nil && len(roi) != 2*n ||
		roi == nil && r.place == "tf_crop_and_resize" {
		return nil, fmt.Errorf("%d scales, %d sizes and %d numbers of a region for %d axes", len(scales), len(sizes),
			len(roi), n)
	}
	if sizes != nil {
		if sizes, scales, err = r.scale(x.shape, as, sizes); err != nil {
			return nil, err
		}
	} else {
		sizes = make([]int, n)
		for k, s := range scales {
			// In float32, as engines do it: 3 times a scale just below 1/3 is 1.
			m := math.Floor(float64(float32(s) * float32(x.shape[as[k]])))
			if !(m >= 0 && m < size) || !(s > 0) {
				return nil, fmt.Errorf("scales %v of %s", scales, x)
			}
			sizes[k] = int(m)
		}
	}
	shape := slices.Clone(x.shape)
	for k, a := range as {
		if shape[a] = sizes[k]; sizes[k] > 0 && x.shape[a] == 0 {
			return nil, fmt.Errorf("%s has nothing to make the sizes %v of", x, sizes)
		}
	}
	if _, err := c.take(shape); err != nil { // before anything of the length of an axis is made
		return nil, err
	}
	y, gone := x, make([][]bool, x.rank())
	for k, a := range as {
		in, out := x.shape[a], sizes[k]
		if in == out && scales[k] == 1 && r.place != "tf_crop_and_resize" || product(shape) == 0 {
			continue
		}
		var from, to float64 = 0, 1
		if roi != nil {
			from, to = roi[k], roi[n+k]
		}
		if r.antialias && r.mode != "nearest" && scales[k] < 1 {
			if _, err := c.take([]int{out, int(min(4/scales[k]+4, size))}); err != nil {
				return nil, err
			}
		}
		ts := make([]taps, out)
		gone[a] = make([]bool, out)
		for j := range ts {
			ts[j] = r.taps(j, in, out, scales[k], from, to)
			gone[a][j] = ts[j].outside
		}
		if y, err = c.resample(y, a, ts); err != nil {
			return nil, err
		}
	}
	if y == x || y.len() == 0 {
		y = y.view(shape)
		if product(shape) != y.len() {
			return c.make(x.typ, shape)
		}
		return y, nil
	}
	for k := range y.len() {
		for at, a := k, x.rank()-1; a >= 0; a-- {
			if j := at % shape[a]; gone[a] != nil && gone[a][j] {
				if y.float() {
					y.f[k] = r.outside
				} else {
					y.i[k] = toInteger(y.typ, r.outside)
				}
			}
			at /= shape[a]
		}
	}
	return y, nil
}

// scale finds scales for sizes, and other sizes where the aspect ratio is to be kept.
func (r resampling) scale(shape, as, sizes []int) ([]int, []float64, error) {
	scales := make([]float64, len(as))
	for k, a := range as {
		if sizes[k] < 0 || shape[a] == 0 && sizes[k] > 0 {
			return nil, nil, fmt.Errorf("sizes %v for a shape %v", sizes, shape)
		}
		scales[k] = float64(sizes[k]) / math.Max(float64(shape[a]), 1)
	}
	if r.policy != "not_larger" && r.policy != "not_smaller" || len(as) == 0 {
		return sizes, scales, nil
	}
	s := slices.Min(scales)
	if r.policy == "not_smaller" {
		s = slices.Max(scales)
	}
	sizes = slices.Clone(sizes)
	for k, a := range as {
		scales[k] = s
		sizes[k] = int(math.Floor(float64(s*float64(shape[a])) + 0.5))
	}
	return sizes, scales, nil
}

// origin is the place in the input, in elements, of element k of the output.
func origin[T float32 | float64](place string, k, in, out int, scale, from, to T) T {
	x := T(k)
	switch place {
	case "asymmetric":
		return x / scale
	case "align_corners":
		if out == 1 {
			return 0
		}
		return x * T(in-1) / T(out-1)
	case "tf_crop_and_resize":
		if out == 1 {
			return 0.5 * (from + to) * T(in-1)
		}
		return T(from*T(in-1)) + x*(to-from)*T(in-1)/T(out-1) //nolint:unconvert // rounds
	case "pytorch_half_pixel":
		if out == 1 {
			return 0
		}
	case "tf_half_pixel_for_nn":
		return (x + 0.5) / scale
	case "half_pixel_symmetric":
		return T(T(in)/2*(1-T(out)/(scale*T(in)))) + (x+0.5)/scale - 0.5 //nolint:unconvert // rounds
	}
	return (x+0.5)/scale - 0.5
}

func (r resampling) taps(k, in, out int, scale, from, to float64) taps {
	x := origin(r.place, k, in, out, scale, from, to)
	if r.mode == "nearest" {
		// In float32, as engines do it: a scale of 1.6, which no float32 is, shall take element 5 for 8 / 1.6.
		x = float64(origin(r.place, k, in, out, float32(scale), float32(from), float32(to)))
	}
	if !(math.Abs(x) < size) {
		return taps{at: []int{0}, weight: []float64{math.NaN()}}
	}
	t := taps{outside: r.place == "tf_crop_and_resize" && !(x >= 0 && x <= float64(in-1))}
	if r.mode == "nearest" {
		var n float64
		switch r.nearest {
		case "round_prefer_floor":
			n = math.Ceil(x - 0.5)
		case "round_prefer_ceil":
			n = math.Floor(x + 0.5)
		case "ceil":
			n = math.Ceil(x)
		case "floor":
			n = math.Floor(x)
		default: // before operator set 11
			if n = math.Floor(x); scale < 1 {
				n = math.Ceil(x)
			}
		}
		t.at, t.weight = []int{min(max(int(n), 0), in-1)}, []float64{1}
		return t
	}
	low := math.Floor(x)
	ratio := x - low
	first, narrow := 0, 1.0
	if r.antialias {
		narrow = math.Min(scale, 1)
	}
	if r.mode == "linear" {
		first = int(math.Floor(-1/narrow)) + 1
		for i := first; i < 2-first; i++ {
			t.weight = append(t.weight, math.Max(1-math.Abs((float64(i)-ratio)*narrow), 0))
		}
	} else {
		first = int(math.Floor(-2/narrow)) + 1
		for i := first; i < 2-first; i++ {
			t.weight = append(t.weight, cubic((float64(i)-ratio)*narrow, r.cubic))
		}
	}
	sum := 0.0
	for i := range t.weight {
		at := int(low) + first + i
		if r.exclude && (at < 0 || at >= in) {
			t.weight[i] = 0
		}
		t.at = append(t.at, min(max(at, 0), in-1))
		sum += t.weight[i]
	}
	if r.exclude || r.antialias {
		for i := range t.weight {
			t.weight[i] /= sum
		}
	}
	return t
}

// cubic is the convolution kernel with the free coefficient a (Keys, 1981).
func cubic(x, a float64) float64 {
	x = math.Abs(x)
	switch {
	case x <= 1:
		return float64((float64((a+2)*x)-(a+3))*x*x) + 1
	case x < 2:
		return float64((float64((float64(a*x)-float64(5*a))*x)+float64(8*a))*x) - float64(4*a)
	}
	return 0
}

// resample makes every element along an axis a weighted sum of others.
func (c *call) resample(x *value, a int, ts []taps) (*value, error) {
	y, err := c.make(x.typ, with(x.shape, a, len(ts)))
	if err != nil {
		return nil, err
	}
	outer, n, inner := around(x.shape, a)
	for o := range outer {
		for j, t := range ts {
			to := (o*len(ts) + j) * inner
			if !x.float() {
				copyRange(y, to, x, (o*n+t.at[0])*inner, inner)
				continue
			}
			dst := y.f[to:][:inner]
			for k, at := range t.at {
				w := t.weight[k]
				if w == 0 {
					continue
				}
				for i, v := range x.f[(o*n+at)*inner:][:inner] {
					dst[i] += float64(w * v)
				}
			}
		}
	}
	return y, nil
}

// gridSample reads an input at places that a second input names, as numbers from -1 to 1 along each axis, last axis
// first.
func gridSample(a *attrs) kernel {
	modes := []string{"bilinear", "nearest", "bicubic"}
	if a.opset >= 20 {
		modes = []string{"linear", "nearest", "cubic"}
	}
	mode, padding, corners := a.choice("mode", modes...), a.choice("padding_mode", "zeros", "border", "reflection"),
		a.flag("align_corners", false)
	reach := map[string]int{"bilinear": 2, "linear": 2, "nearest": 1, "bicubic": 4, "cubic": 4}[mode]
	return one(func(c *call) (*value, error) {
		x, err := c.floats(0)
		if err != nil {
			return nil, err
		}
		grid, err := c.floats(1)
		if err != nil {
			return nil, err
		}
		r := x.rank() - 2
		if r < 1 || r > maxSpatial || grid.rank() != r+2 || grid.shape[r+1] != r || grid.shape[0] != x.shape[0] {
			return nil, fmt.Errorf("input %s with the grid %s", x, grid)
		}
		channels, places := x.shape[1], product(grid.shape[1:r+1])
		y, err := c.make(x.typ, slices.Concat(x.shape[:2], grid.shape[1:r+1]))
		if err != nil || y.len() == 0 {
			return y, err
		}
		inLen, own := product(x.shape[2:]), strides(x.shape[2:])
		if inLen == 0 {
			return nil, fmt.Errorf("input 0 is %s: nothing to sample", x)
		}
		var at [maxSpatial][4]int
		var weight [maxSpatial][4]float64
		count := 1
		for range r {
			count *= reach
		}
		for b := range x.shape[0] {
			for p := range places {
				for k := range r { // axis k of space, which the grid lists from the last on
					g := grid.f[(b*places+p)*r+r-1-k]
					at[k], weight[k] = line(g, x.shape[2+k], reach, padding, corners)
				}
				for ch := range channels {
					src := x.f[(b*channels+ch)*inLen:][:inLen]
					var s float64
					for q := range count {
						w, o := 1.0, 0
						for rest, k := q, r-1; k >= 0; k-- {
							j := rest % reach
							rest /= reach
							w *= weight[k][j]
							if at[k][j] < 0 {
								w = 0
							} else {
								o += at[k][j] * own[k]
							}
						}
						if w != 0 {
							s += float64(w * src[o])
						}
					}
					y.f[(b*channels+ch)*places+p] = s
				}
			}
		}
		return y, nil
	})
}

// line are the neighbors along an axis of length n of the place g, and their weights; -1 for a zero outside.
func line(g float64, n, reach int, padding string, corners bool) (at [4]int, weight [4]float64) {
	lo, hi := -0.5, float64(n)-0.5
	x := (float64((g+1)*float64(n)) - 1) / 2
	if corners {
		lo, hi = 0, float64(n-1)
		x = (g + 1) / 2 * float64(n-1)
	}
	if reach == 1 {
		x = math.RoundToEven(x)
	}
	if reach < 4 && (x < lo || x > hi) { // the cubic brings in each neighbor instead
		x = inside(x, n, lo, hi, padding)
	}
	if x-x != 0 { // no place at all
		for k := range reach {
			at[k], weight[k] = -1, 0
		}
		return at, weight
	}
	low := math.Floor(x)
	ratio, first := x-low, 0
	switch reach {
	case 1:
		low, weight[0] = math.RoundToEven(x), 1
	case 2:
		weight[0], weight[1] = 1-ratio, ratio
	default:
		first = -1
		for k := range 4 {
			weight[k] = cubic(float64(k-1)-ratio, -0.75)
		}
	}
	for k := range reach {
		p := low + float64(first+k)
		if p < 0 || p > float64(n-1) {
			p = inside(p, n, lo, hi, padding)
		}
		at[k] = -1
		if p >= 0 && p <= float64(n-1) {
			at[k] = int(p)
		}
	}
	return at, weight
}

// inside brings a place into an axis, unless it is padded with zeros.
func inside(x float64, n int, lo, hi float64, padding string) float64 {
	switch padding {
	case "border":
		return clamp(x, 0, float64(n-1))
	case "reflection":
		if hi <= lo {
			return 0
		}
		x = math.Mod(math.Abs(x-lo), 2*(hi-lo))
		if x > hi-lo {
			x = 2*(hi-lo) - x
		}
		return x + lo
	}
	return x
}

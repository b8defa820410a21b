package oracle

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
)

// detectOps are operators of detectors, and the inverse of pooling.
func detectOps() map[string][]entry {
	return map[string][]entry{
		"NonMaxSuppression": {{since: 10, least: 2, most: 5, outs: 1, build: func(a *attrs) kernel {
			center := a.flag("center_point_box", false)
			return one(func(c *call) (*value, error) { return c.suppress(center) })
		}}},
		"RoiAlign": {{since: 10, least: 3, most: 3, outs: 1, build: roiAlign}},
		"MaxUnpool": {{since: 9, least: 2, most: 3, outs: 1, build: func(a *attrs) kernel {
			w := readWindow(a)
			return one(func(c *call) (*value, error) { return c.unpool(w) })
		}}},
		"Unique": {{since: 11, least: 1, most: 1, outs: 4, build: func(a *attrs) kernel {
			at, flat, sorted := a.int("axis", 0), !a.has("axis"), a.flag("sorted", true)
			return func(c *call) ([]*value, error) { return c.unique(at, flat, sorted) }
		}}},
	}
}

// box is y0, x0, y1, x1.
type box [4]float64

func (b box) area() float64 { return float64((b[2] - b[0]) * (b[3] - b[1])) }

// overlap is intersection over union.
func (b box) overlap(o box) float64 {
	h, w := math.Min(b[2], o[2])-math.Max(b[0], o[0]), math.Min(b[3], o[3])-math.Max(b[1], o[1])
	if !(h > 0 && w > 0) {
		return 0
	}
	return h * w / (b.area() + o.area() - float64(h*w))
}

// suppress keeps the best boxes of each class that do not overlap with better ones: boxes [batch, n, 4], scores
// [batch, classes, n].
func (c *call) suppress(center bool) (*value, error) {
	boxes, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	scores, err := c.floats(1)
	if err != nil {
		return nil, err
	}
	if boxes.rank() != 3 || scores.rank() != 3 || boxes.shape[2] != 4 || boxes.shape[0] != scores.shape[0] ||
		boxes.shape[1] != scores.shape[2] {
		return nil, fmt.Errorf("boxes %s with scores %s", boxes, scores)
	}
	most := 0
	if c.at(2) != nil {
		if most, err = c.int(2); err != nil {
			return nil, err
		}
	}
	threshold, err := c.float(3, 0)
	if err != nil {
		return nil, err
	}
	least, err := c.float(4, math.Inf(-1))
	if err != nil {
		return nil, err
	}
	batch, classes, n := boxes.shape[0], scores.shape[1], boxes.shape[1]
	if _, err := c.take([]int{batch, classes, min(max(most, 0), n), 3}); err != nil {
		return nil, err
	}
	at := func(b, k int) box {
		v := boxes.f[(b*n+k)*4:][:4]
		if center { // x, y, width, height
			return box{v[1] - v[3]/2, v[0] - v[2]/2, v[1] + v[3]/2, v[0] + v[2]/2}
		}
		return box{math.Min(v[0], v[2]), math.Min(v[1], v[3]), math.Max(v[0], v[2]), math.Max(v[1], v[3])}
	}
	var out []int64
	for b := range batch {
		for cl := range classes {
			s := scores.f[(b*classes+cl)*n:][:n]
			var order []int
			for k, v := range s {
				if c.at(4) == nil || v > least {
					order = append(order, k)
				}
			}
			slices.SortStableFunc(order, func(j, k int) int { return cmp.Compare(s[k], s[j]) })
			var kept []box
			for _, k := range order {
				if err := c.ctx.Err(); err != nil {
					return nil, err
				}
				if len(kept) >= most {
					break
				}
				x := at(b, k)
				if slices.ContainsFunc(kept, func(o box) bool { return x.overlap(o) > threshold }) {
					continue
				}
				kept = append(kept, x)
				out = append(out, int64(b), int64(cl), int64(k))
			}
		}
	}
	return &value{typ: tensor.Int64, shape: []int{len(out) / 3, 3}, i: out}, nil
}

// roiAlign pools regions by bilinear samples.
func roiAlign(a *attrs) kernel {
	mode := a.choice("mode", "avg", "max")
	height, width, ratio, scale := a.int("output_height", 1), a.int("output_width", 1), a.int("sampling_ratio", 0),
		a.float("spatial_scale", 1)
	shift := 0.0
	if a.opset >= 16 && a.choice("coordinate_transformation_mode", "half_pixel", "output_half_pixel") == "half_pixel" {
		shift = 0.5
	}
	if height < 1 || width < 1 || ratio < 0 || ratio > 1<<10 {
		a.fail("output_height %d, output_width %d and sampling_ratio %d", height, width, ratio)
	}
	return one(func(c *call) (*value, error) {
		x, err := c.floats(0)
		if err != nil {
			return nil, err
		}
		rois, err := c.floats(1)
		if err != nil {
			return nil, err
		}
		of, err := c.ints(2)
		if err != nil {
			return nil, err
		}
		if x.rank() != 4 || rois.rank() != 2 || rois.shape[1] != 4 || len(of) != rois.shape[0] ||
			product(x.shape[2:]) == 0 {
			return nil, fmt.Errorf("input %s with the regions %s of %d images", x, rois, len(of))
		}
		y, err := c.make(x.typ, []int{len(of), x.shape[1], height, width})
		if err != nil {
			return nil, err
		}
		in := x.shape[2:]
		for r, image := range of {
			if image < 0 || image >= x.shape[0] {
				return nil, fmt.Errorf("region %d lies in image %d of %d", r, image, x.shape[0])
			}
			var start, bin [2]float64 // down, across
			var count [2]int
			for k, n := range []int{height, width} {
				start[k] = float64(rois.f[r*4+1-k]*scale) - shift
				length := float64(rois.f[r*4+3-k]*scale) - shift - start[k]
				if shift == 0 {
					length = math.Max(length, 1)
				}
				bin[k] = length / float64(n)
				count[k] = ratio
				if ratio == 0 {
					m := math.Ceil(bin[k])
					if !(m < 1<<10) {
						return nil, fmt.Errorf("region %d is %g long for %d bins", r, length, n)
					}
					count[k] = max(int(m), 0)
				}
			}
			for ch := range x.shape[1] {
				if err := c.ctx.Err(); err != nil {
					return nil, err
				}
				src := x.f[(image*x.shape[1]+ch)*in[0]*in[1]:][:in[0]*in[1]]
				for p := range height * width {
					sum, top := 0.0, math.Inf(-1)
					for s := range count[0] * count[1] {
						py := start[0] + float64((float64(p/width)+(float64(s/count[1])+0.5)/float64(count[0]))*bin[0])
						px := start[1] + float64((float64(p%width)+(float64(s%count[1])+0.5)/float64(count[1]))*bin[1])
						parts := bilinear(src, in, py, px)
						for _, v := range parts {
							sum += v
						}
						top = greatest(top, max(max(parts[0], parts[1]), max(parts[2], parts[3])))
					}
					to := (r*x.shape[1]+ch)*height*width + p
					switch {
					case count[0]*count[1] == 0:
					case mode == "max":
						y.f[to] = top
					default:
						y.f[to] = sum / float64(count[0]*count[1])
					}
				}
			}
		}
		return y, nil
	})
}

// bilinear are the four weighted neighbors of a place; zeros if it lies more than one pixel outside.
func bilinear(src []float64, in []int, y, x float64) [4]float64 {
	if !(y >= -1 && x >= -1 && y <= float64(in[0]) && x <= float64(in[1])) {
		return [4]float64{}
	}
	y, x = math.Max(y, 0), math.Max(x, 0)
	y0, x0 := min(int(y), in[0]-1), min(int(x), in[1]-1)
	y1, x1 := min(y0+1, in[0]-1), min(x0+1, in[1]-1)
	fy, fx := y-float64(y0), x-float64(x0)
	if y0 == in[0]-1 {
		fy = 0
	}
	if x0 == in[1]-1 {
		fx = 0
	}
	return [4]float64{
		(1 - fy) * (1 - fx) * src[y0*in[1]+x0], (1 - fy) * fx * src[y0*in[1]+x1], fy * (1 - fx) * src[y1*in[1]+x0],
		fy * fx * src[y1*in[1]+x1],
	}
}

// unpool puts elements where a MaxPool took them from.
func (c *call) unpool(w window) (*value, error) {
	x, err := c.floats(0)
	if err != nil {
		return nil, err
	}
	idx, err := c.indices()
	if err != nil {
		return nil, err
	}
	r := x.rank() - 2
	if r < 1 || r > maxSpatial || !slices.Equal(idx.shape, x.shape) || len(w.kernel) != r || w.auto != "NOTSET" {
		return nil, fmt.Errorf("input %s with the indices %s and the kernel %v", x, idx, w.kernel)
	}
	if w.stride == nil {
		w.stride = slices.Repeat([]int{1}, r)
	}
	if w.pads == nil {
		w.pads = make([]int, 2*r)
	}
	if len(w.stride) != r || len(w.pads) != 2*r {
		return nil, fmt.Errorf("strides %v and pads %v for %d spatial axes", w.stride, w.pads, r)
	}
	own := slices.Clone(x.shape) // the shape that the indices count in
	for k := range r {
		own[2+k] = (x.shape[2+k]-1)*w.stride[k] - w.pads[k] - w.pads[r+k] + w.kernel[k]
	}
	shape := own
	if c.at(2) != nil {
		if shape, err = c.ints(2); err != nil {
			return nil, err
		}
		if len(shape) != len(own) || !slices.Equal(shape[:2], own[:2]) {
			return nil, fmt.Errorf("output shape %v for %s", shape, x)
		}
	}
	y, err := c.make(x.typ, shape)
	if err != nil {
		return nil, err
	}
	if _, err := c.take(own); err != nil {
		return nil, err
	}
	to, from := strides(shape), strides(own)
	total := int64(product(own))
	for k, i := range idx.i {
		if i < 0 || i >= total {
			return nil, fmt.Errorf("index %d of %v", i, own)
		}
		at, rest := 0, int(i)
		for a := range own {
			j := rest / from[a]
			rest %= from[a]
			if j >= shape[a] {
				return nil, fmt.Errorf("index %d of %v does not fit into %v", i, own, shape)
			}
			at += j * to[a]
		}
		y.f[at] = x.f[k]
	}
	return y, nil
}

// unique returns the different slices along an axis, where each comes first, which one each slice is, and how often it
// is.
func (c *call) unique(at int, flat, sorted bool) ([]*value, error) {
	x := c.in[0]
	if flat {
		x, at = x.view([]int{x.len()}), 0
	}
	a, err := axis(at, x.rank())
	if err != nil {
		return nil, err
	}
	outer, n, inner := around(x.shape, a)
	compare := func(j, k int) int {
		for o := range outer {
			for i := range inner {
				p, q := (o*n+j)*inner+i, (o*n+k)*inner+i
				switch {
				case x.before(p, q):
					return -1
				case x.before(q, p):
					return 1
				case x.float() && math.IsNaN(x.f[p]) != math.IsNaN(x.f[q]): // NaN comes last
					if math.IsNaN(x.f[q]) {
						return -1
					}
					return 1
				}
			}
		}
		return 0
	}
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, compare)
	var first []int // of each group, in the order of values
	group := make([]int, n)
	for j, k := range order {
		if j == 0 || compare(order[j-1], k) != 0 {
			first = append(first, k)
		}
		group[k] = len(first) - 1
	}
	rank := make([]int, len(first))
	byPlace := make([]int, len(first))
	for k := range rank {
		rank[k], byPlace[k] = k, k
	}
	if !sorted {
		slices.SortFunc(byPlace, func(j, k int) int { return cmp.Compare(first[j], first[k]) })
		for k, g := range byPlace {
			rank[g] = k
		}
	}
	y, err := c.make(x.typ, with(x.shape, a, len(first)))
	if err != nil {
		return nil, err
	}
	places, counts, inverse := make([]int, len(first)), make([]int, len(first)), make([]int, n)
	for k, g := range byPlace {
		places[k] = first[g]
		for o := range outer {
			copyRange(y, (o*len(first)+k)*inner, x, (o*n+first[g])*inner, inner)
		}
	}
	for k, g := range group {
		inverse[k] = rank[g]
		counts[rank[g]]++
	}
	return []*value{y, vector(places), vector(inverse), vector(counts)}, nil
}

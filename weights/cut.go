package weights

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/tensor"
)

// cut divides an output into parts with a scale of their own: the numbers at each place of an axis, or each number by
// itself. What is small beside others of its output is measured by its own size there.
type cut struct {
	output int
	// Number i is of part i/inner%parts; axis is -1 where each number is a part.
	axis, inner, parts int
	// scale of each part: how far its answers to different probes are apart, or their size where they are the same
	scale []float64
	// grain is what rounding the answers themselves may do to each, on that scale
	grain []float64
}

// mostSingle is how many numbers an output may have whose numbers are looked at one by one.
const mostSingle = 1 << 12

// cutsOf are the cuts of an output of a shape: those along axes of several places, and single numbers where two axes
// have such.
func cutsOf(output int, shape []int) []*cut {
	var out []*cut
	n := tensor.Count(shape)
	inner := n
	for axis, k := range shape {
		if inner /= max(k, 1); k > 1 {
			out = append(out, &cut{output: output, axis: axis, inner: inner, parts: k})
		}
	}
	if len(out) > 1 && n <= mostSingle {
		out = append(out, &cut{output: output, axis: -1, inner: 1, parts: n})
	}
	return out
}

// measure finds the scales of the parts.
func (c *cut) measure(d tensor.DType, rows [][]float64, mean []float64) {
	c.scale, c.grain = make([]float64, c.parts), make([]float64, c.parts)
	size, large := make([]float64, c.parts), make([]float64, c.parts)
	for _, row := range rows {
		for from, p := 0, 0; from < len(row); from, p = from+c.inner, (p+1)%c.parts {
			for i, v := range row[from : from+c.inner] {
				off := v - mean[from+i]
				c.scale[p] += float64(off * off)
				size[p] += float64(v * v)
				large[p] = max(large[p], math.Abs(v))
			}
		}
	}
	n := float64(len(rows))
	digit := math.Ldexp(1, -digits(d))
	for p := range c.scale {
		if c.scale[p] = math.Sqrt(c.scale[p] / n); c.scale[p] == 0 {
			c.scale[p] = math.Sqrt(size[p] / n)
		}
		if least := digit * max(large[p], leastNormal(d)); c.scale[p] > 0 {
			c.grain[p] = least / c.scale[p] * math.Sqrt(float64(len(mean)/c.parts))
		}
	}
}

// place is where a part is in its output, as Python writes it.
func (c *cut) place(shape []int, part int) string {
	at := make([]string, len(shape))
	for i := range at {
		at[i] = ":"
	}
	if c.axis >= 0 {
		at[c.axis] = strconv.Itoa(part)
	} else {
		for i, n := range slices.Backward(shape) {
			at[i] = strconv.Itoa(part % n)
			part /= n
		}
	}
	return "[" + strings.Join(at, ", ") + "]"
}

// parts are how far the parts of answers to the same probes are from these, each on its own scale, by cut. Shapes are
// the same, and all numbers finite.
func (a *answers) parts(of [][]tensor.Named) ([][]float64, error) {
	out := make([][]float64, len(a.cuts))
	for k, c := range a.cuts {
		out[k] = make([]float64, c.parts)
	}
	for i := range of {
		var p, q []float64
		last := -1
		for k, c := range a.cuts {
			if c.output != last {
				var err error
				if p, err = a.of[i][c.output].Float64s(p[:0]); err != nil {
					return nil, err
				}
				if q, err = of[i][c.output].Float64s(q[:0]); err != nil {
					return nil, err
				}
				last = c.output
			}
			sum := make([]float64, c.parts)
			for from, part := 0, 0; from < len(p); from, part = from+c.inner, (part+1)%c.parts {
				for j := from; j < from+c.inner; j++ {
					d := q[j] - p[j]
					sum[part] += float64(d * d)
				}
			}
			for part, s := range sum {
				if s != 0 {
					out[k][part] = max(out[k][part], math.Sqrt(s)/c.scale[part]) // NaN stays
				}
			}
		}
	}
	return out, nil
}

// apart compares answers to the same probes as a whole, and part by part. A part counts by itself where it is further
// off than what moves hold to, and than sixteen times what rounding does to it: its answer by itself, and the numbers
// that rough rounds otherwise. A large number of an answer hides none of the others.
func (c *checker) apart(ctx context.Context, of [][]tensor.Named, rounded []string) (Apart, error) {
	out := c.first.from(of)
	if out.Bad != "" || out.Equal {
		return out, nil
	}
	parts, err := c.first.parts(of)
	if err != nil {
		return out, err
	}
	whole := !(float64(out.Error) <= mostError) // that says enough
	var by [][]float64
	for k, cut := range c.first.cuts {
		for p, off := range parts[k] {
			if off <= max(mostError, mostRough*cut.grain[p]) {
				continue
			}
			if by == nil {
				if by, err = c.roughParts(ctx, rounded); err != nil {
					return out, err
				}
			}
			if off <= mostRough*by[k][p] {
				continue
			}
			if out.beyond = true; whole {
				return out, nil
			}
			if !(off <= float64(out.Error)) {
				like := c.first.of[0][cut.output]
				out.Error, out.part, out.At = Number(off), true, strconv.Quote(like.Name)+cut.place(like.Shape, p)
			}
		}
	}
	return out, nil
}

// roughParts are how far parts of answers go where some stored numbers are rounded otherwise; endless ones where those
// answers are not finite.
func (c *checker) roughParts(ctx context.Context, tensors []string) ([][]float64, error) {
	if c.roughly == nil {
		c.roughly = map[string][][]float64{}
	}
	key := fmt.Sprintf("%q", tensors)
	if by, ok := c.roughly[key]; ok {
		return by, nil
	}
	of, err := c.roughAnswers(ctx, tensors)
	if err != nil {
		return nil, err
	}
	var by [][]float64
	if got := c.first.from(of); got.Bad == "" {
		if by, err = c.first.parts(of); err != nil {
			return nil, err
		}
	} else { // nothing is known of what rounding does
		for _, cut := range c.first.cuts {
			by = append(by, make([]float64, cut.parts))
		}
	}
	c.roughly[key] = by
	return by, nil
}

package orbit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"nero/symmetry/group"
)

// every keeps about one in n of the elements of g, n at least 2, spread evenly, and the identity if it is among them;
// drawn says that they are a sequence whose beginnings are spread themselves, as those of draws are.
//
// Of a grid it keeps every so many-th value on each axis: the axis with the most values is thinned first, and by a
// divisor of their number where there is one, so that angles stay equally spaced all around. Shifts are thinned by odd
// numbers: a model whose strides divide the spacing looks invariant, and strides are powers of two. What is no grid is
// cut along the list into pieces of equal length, of each of which one element is drawn: it may have a period.
func every(g group.Group, es []group.Element, n int, drawn bool) []group.Element {
	e := g.Identity()
	at := slices.IndexFunc(es, func(x group.Element) bool { return g.Dist(e, x) <= group.Tolerance })
	most := max(1, len(es)/n)
	var out []group.Element
	if drawn {
		out = slices.Clone(es[:most])
	} else if out = everyOfGrid(g, es, max(at, 0), most); out != nil {
		return out
	} else {
		r := rand.New(rand.NewPCG(uint64(len(es)), uint64(n)))
		for i := range most {
			lo, hi := i*len(es)/most, (i+1)*len(es)/most
			k := lo + r.IntN(hi-lo)
			if lo <= at && at < hi {
				k = at
			}
			out = append(out, es[k])
		}
	}
	if drawn && at >= most {
		out = append(out, es[at])
	}
	return out
}

// everyOfGrid thins a grid to most elements, keeping the one at an index; nil if the elements are none.
func everyOfGrid(g group.Group, es []group.Element, at, most int) []group.Element {
	chart := g.Chart()
	axes := len(chart)
	values, whole := make([][]float64, axes), 1
	for a := range values {
		for _, x := range es {
			values[a] = append(values[a], x[a])
		}
		slices.Sort(values[a])
		values[a] = slices.Compact(values[a])
		if whole *= len(values[a]); whole > len(es) {
			return nil
		}
	}
	if whole != len(es) {
		return nil
	}
	stride := make([]int, axes)
	for a := range stride {
		stride[a] = 1
	}
	kept := func(a int) int { return (len(values[a]) + stride[a] - 1) / stride[a] }
	for {
		total, widest := 1, 0
		for a := range stride {
			total *= kept(a)
			if kept(a) > kept(widest) {
				widest = a
			}
		}
		if total <= most || kept(widest) == 1 {
			break
		}
		switch chart[widest].Form() { //nolint:exhaustive // others have no strides
		case group.FormPixels, group.FormSamples:
			stride[widest] += 2
		default:
			stride[widest] = wider(stride[widest], len(values[widest]))
		}
	}
	index := func(a int, x group.Element) int {
		i, _ := slices.BinarySearch(values[a], x[a])
		return i
	}
	var out []group.Element
	for _, x := range es {
		off := false
		for a := range stride {
			off = off || index(a, x)%stride[a] != index(a, es[at])%stride[a]
		}
		if !off {
			out = append(out, x)
		}
	}
	return out
}

// wider is the next stride over n values: the next divisor of n that is at most twice as wide, else one more.
func wider(stride, n int) int {
	for s := stride + 1; s <= 2*stride; s++ {
		if n%s == 0 {
			return s
		}
	}
	return stride + 1
}

// everyText says what a mean is over.
func everyText(kept, of int, measure string) string {
	return fmt.Sprintf("%d of %d elements: %s", kept, of, measure)
}

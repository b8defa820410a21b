package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// einsum is a parsed equation. Labels are letters; ellipsisLabel+k is axis k of the ellipsis, counted from its end.
type einsum struct {
	// of the inputs, without spaces
	terms    []string
	out      string
	explicit bool
}

const ellipsisLabel = 1 << 8

func parseEinsum(a *attrs) einsum {
	text := strings.ReplaceAll(a.str("equation", ""), " ", "")
	var e einsum
	left, right, arrow := strings.Cut(text, "->")
	e.terms, e.out, e.explicit = strings.Split(left, ","), right, arrow
	if text == "" || len(e.terms) != len(a.n.GetInput()) {
		a.fail("equation %.80q for %d inputs", text, len(a.n.GetInput()))
	}
	for _, t := range append(slices.Clone(e.terms), e.out) {
		t = strings.Replace(t, "...", "", 1)
		for _, ch := range t {
			if (ch < 'a' || ch > 'z') && (ch < 'A' || ch > 'Z') {
				a.fail("equation %.80q", text)
				return e
			}
		}
	}
	return e
}

// labels of a term for a number of axes, which is negative for the output with an ellipsis of -rank-1 axes.
func labels(term string, dots int) []int {
	var out []int
	for len(term) > 0 {
		if strings.HasPrefix(term, "...") {
			for k := dots - 1; k >= 0; k-- {
				out = append(out, ellipsisLabel+k)
			}
			term = term[3:]
			continue
		}
		out = append(out, int(term[0]))
		term = term[1:]
	}
	return out
}

// maxWork bounds the number of products of one Einsum, which is not bounded by the size of a tensor.
const maxWork = 1 << 36

func (c *call) einsum(e einsum) (*value, error) {
	length, most := map[int]int{}, 0
	ins := make([][]int, len(e.terms))
	count := map[int]int{}
	for k, t := range e.terms {
		x, err := c.operand(k)
		if err != nil {
			return nil, err
		}
		letters := len(strings.Replace(t, "...", "", 1))
		dots := x.rank() - letters
		if dots < 0 || dots > 0 && !strings.Contains(t, "...") {
			return nil, fmt.Errorf("term %q of the equation for %s", t, x)
		}
		most = max(most, dots)
		ins[k] = labels(t, dots)
		for j, l := range ins[k] {
			count[l]++
			switch n := x.shape[j]; {
			case length[l] == 0 && !slices.Contains(slices.Concat(ins[:k]...), l) && !slices.Contains(ins[k][:j], l),
				length[l] == 1:
				length[l] = n
			case n != length[l] && n != 1:
				return nil, fmt.Errorf("one label of the equation stands for the lengths %d and %d", length[l], n)
			}
		}
	}
	out := labels(e.out, most)
	if !e.explicit {
		for k := most - 1; k >= 0; k-- {
			out = append(out, ellipsisLabel+k)
		}
		for l := range ellipsisLabel {
			if count[l] == 1 {
				out = append(out, l)
			}
		}
	}
	shape := make([]int, len(out))
	order := slices.Clone(out)
	for k, l := range out {
		if count[l] == 0 || slices.Contains(out[:k], l) {
			return nil, fmt.Errorf("the output %q of the equation does not fit its inputs", e.out)
		}
		shape[k] = length[l]
	}
	for l := range count {
		if !slices.Contains(order, l) {
			order = append(order, l)
		}
	}
	slices.Sort(order[len(out):]) // sums in an order that does not depend on the map
	y, err := c.make(c.in[0].typ, shape)
	if err != nil {
		return nil, err
	}
	full, work := make([]int, len(order)), 1
	for k, l := range order {
		full[k] = length[l]
		if full[k] > 0 && work > maxWork/full[k] {
			return nil, fmt.Errorf("the equation takes more than %d products", maxWork)
		}
		work *= full[k]
	}
	steps := make([][]int, len(ins)+1)
	xs := make([][]float64, len(ins))
	for k, ls := range ins {
		x, err := c.operand(k)
		if err != nil {
			return nil, err
		}
		own := strides(x.shape)
		steps[k], xs[k] = make([]int, len(order)), x.f
		for j, l := range ls {
			if x.shape[j] != 1 {
				steps[k][slices.Index(order, l)] += own[j]
			}
		}
	}
	steps[len(ins)] = make([]int, len(order))
	copy(steps[len(ins)], strides(shape))
	to := len(ins)
	rows(full, steps, func(at []int, n int, step []int) {
		for j := range n {
			p := xs[0][at[0]+j*step[0]]
			for k := 1; k < to; k++ {
				p *= xs[k][at[k]+j*step[k]]
			}
			o := at[to] + j*step[to]
			y.f[o] = c.partial(y.f[o] + p)
		}
	})
	return y, nil
}

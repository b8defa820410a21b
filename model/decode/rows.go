package decode

import (
	"fmt"
	"slices"

	"nero/data/space"
)

// rowsKind is points, vectors, features of nodes: rows of numbers.
var rowsKind = kind{
	of: space.KindRows, owned: true,
	fed: &fed{
		forms: []form{
			{axes: "rw"},
			{axes: "wr", swap: true},
			{axes: "f"},
			{axes: "rxx"},
			{axes: "xx", ones: "r"},
			{axes: "", ones: "rw"},
		},
		axes: 2, nodes: 1,
		have: func(e extent, _ bool) string {
			return fmt.Sprintf("%s rows of %s numbers", any1(e.shape[0]), any1(e.shape[1]))
		},
		remedy: func(f *feed, e extent) string {
			for _, n := range f.x.Sizes() {
				if n > 1 && e.shape[0] > 0 && n > e.shape[0] && f.Pad == 0 {
					return fmt.Sprintf("choose another field with name, or the right kind; set pad: %d if the model "+
						"takes rows of zeros, or data.cloud.points: %d", n, n)
				}
			}
			return ""
		},
	},
	one: readPlaced,
	laid: &laid{
		axes:   2,
		settle: layRows,
		padded: func(a *answer) bool { return a.per == space.PerNode },
		extent: rowsOf,
		value: func(a *answer, v []float64, e []int, keep int) space.Value {
			if keep >= 0 {
				return &space.Rows{N: keep, W: e[1], Val: v[: keep*e[1] : keep*e[1]], Type: a.Type}
			}
			return &space.Rows{N: e[0], W: e[1], Val: v, Type: a.Type}
		},
		unfold: unfoldRows,
	},
}

// layRows decides what rows belong to and whether they stand along the last axis.
func layRows(a *answer, c *record, s []int) {
	if !a.x.Ranked {
		if a.per == "" {
			a.per = space.PerSample
			a.notes = append(a.notes,
				fmt.Sprintf("output %q: the file does not say its shape; its rows are taken for those of the sample, "+
					"set per in output.fields to change it", a.x.Name))
		}
		return
	}
	node := func(n int) bool { return n < 0 || n == a.nodes }
	swapped := false
	for _, f := range c.feeds {
		swapped = swapped || f.k == a.k && f.form.swap
	}
	flip := swapped && len(s) == 2 && s[0] > 0 && s[0] != a.nodes && node(s[1])
	if a.per == "" {
		switch {
		case len(s) < 2 || a.nodes == 1 || a.squared(s) && len(s) == 2:
			a.per = space.PerSample
		case node(s[0]) || flip:
			a.per = space.PerNode
		default:
			a.per = space.PerSample
		}
		if len(s) >= 2 && s[0] != a.nodes {
			a.notes = append(a.notes,
				fmt.Sprintf("output %s: its rows are taken for those of the %ss; set per in output.fields to change it",
					a.x, a.per))
		}
	}
	if flip && a.per == space.PerNode {
		a.swap = true
		a.notes = append(a.notes, fmt.Sprintf("output %s: its rows stand along the last axis, as in the input", a.x))
	}
}

// rowsOf is the number of rows and of the numbers of each.
func rowsOf(a *answer, s []int, what string) ([]int, error) {
	switch {
	case a.swap && len(s) == 2:
		return []int{s[1], s[0]}, nil
	case a.squared(s) && len(s) == 2 && a.per == space.PerSample:
		return []int{1, times(s)}, nil
	case len(s) == 0:
		return []int{1, 1}, nil
	case len(s) == 1 && a.per == space.PerSample:
		return []int{1, s[0]}, nil
	case len(s) == 1:
		return []int{s[0], 1}, nil
	case len(s) == 2, len(s) == 3 && a.squared(s):
		return []int{s[0], times(s[1:])}, nil
	}
	return nil, fmt.Errorf(
		"%s has %d axes per sample; rows have two, [rows, numbers], or one; set kind in output.fields, or type: "+
			"tensors where rows are squares", what, len(s))
}

// times is the product of lengths, -1 if one of them is free.
func times(s []int) int {
	n := 1
	for _, x := range s {
		if x < 0 {
			return -1
		}
		n *= x
	}
	return n
}

func unfoldRows(a *answer, x []float64, e []int, declared int) ([]float64, []int, bool) {
	d := square(e[1])
	switch {
	case a.swap && declared == 2:
		return transposed(x, e[0], e[1]), []int{e[1], e[0]}, true
	case declared == 0 && len(x) == 1:
		return x, []int{}, true
	case declared == 1 && a.per == space.PerSample && e[0] == 1, declared == 1 && e[1] == 1,
		declared < 0 && e[0] == 1 && a.per == space.PerSample:
		return x, []int{len(x)}, true
	case declared == 2 && e[0] == 1 && d > 1 && a.squared([]int{d, d}) && a.per == space.PerSample && a.sidesOf(d):
		return x, []int{d, d}, true
	case declared == 3 && d > 1:
		return x, []int{e[0], d, d}, true
	case declared == 2 || declared < 0:
		return x, e, true
	}
	return nil, nil, false
}

// squared tells whether the last two axes are the sides of a square of numbers that belong together.
func (a *answer) squared(s []int) bool {
	n := len(s)
	return slices.Contains([]string{space.TypeTensors, space.TypePoses}, a.Type) && n >= 2 && s[n-1] == s[n-2] &&
		s[n-1] > 1
}

// sidesOf tells whether the output's own axes are the sides of a square of this length.
func (a *answer) sidesOf(d int) bool {
	s := a.x.Sizes()
	return len(s) >= 2 && s[len(s)-1] == d && s[len(s)-2] == d
}

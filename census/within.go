package census

import (
	"cmp"
	"math"
	"slices"

	"nero/audit/document"
	"nero/symmetry/group"
)

// within is the largest window around the identity in which all elements that were tested keep a rule: on the one axis
// that a group has, else by the group's own distance.
func (t *taker) within(keeps func(k int) bool) Range {
	nothing := document.Number(math.NaN())
	out := Range{All: true, Low: nothing, High: nothing, Names: []string{}}
	for k := range t.elements {
		out.All = out.All && keeps(k)
	}
	chart := t.s.Group.Chart()
	kept := make([]bool, len(t.elements))
	if len(chart) == 1 && !chart[0].Switch() {
		a := chart[0]
		rest := t.s.Group.Identity()[0]
		offset := func(k int) float64 {
			x := t.elements[k][0] - rest
			if a.Periodic {
				if p := a.Max - a.Min; x > p/2 {
					x -= p
				} else if x <= -p/2 {
					x += p
				}
			}
			return x
		}
		order := make([]int, len(t.elements))
		for k := range order {
			order[k] = k
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(offset(i)), math.Abs(offset(j))) })
		low, high, end := rest, rest, [2]bool{}
		for _, k := range order {
			side := 0
			if offset(k) > 0 {
				side = 1
			}
			if end[side] = end[side] || !keeps(k); end[side] {
				continue
			}
			kept[k] = true
			low, high = min(low, rest+offset(k)), max(high, rest+offset(k))
		}
		out.Axis, out.Unit = a.Name, a.Unit
		if a.Periodic {
			out.Period = document.Number(a.Max - a.Min)
		}
		out.Low, out.High = document.Number(low), document.Number(high)
	} else {
		far := math.Inf(1) // no element at this distance or farther is in it
		identity := t.s.Group.Identity()
		for k, g := range t.elements {
			if !keeps(k) {
				far = min(far, t.s.Group.Dist(g, identity))
			}
		}
		for k, g := range t.elements {
			kept[k] = t.s.Group.Dist(g, identity) < far-group.Tolerance || math.IsInf(far, 1)
		}
	}
	for k, g := range t.elements {
		if kept[k] {
			out.Names = append(out.Names, group.Title(t.s.Group, g))
		}
	}
	return out
}

package view

import (
	"math"
	"slices"
	"strconv"

	"nero/symmetry/group"
)

// finder finds elements of a plan by their coordinates, in time that does not grow with the plan.
type finder struct {
	g        group.Group
	elements []group.Element
	cells    map[string][]int
	// of every axis in cells, 0 without one
	period []int64
}

const (
	// cell is the width of a cell in units of the chart: far more than rounding, far less than the distance of
	// elements. Round coordinates lie in the middle of one.
	cell = 1e-6
	// slack is how far rounding moves a coordinate, with some to spare.
	slack = 1e-8
)

func newFinder(g group.Group, elements []group.Element) *finder {
	f := &finder{g: g, elements: elements, cells: make(map[string][]int, len(elements))}
	for _, a := range g.Chart() {
		p := int64(0)
		if a.Periodic {
			p = int64(math.Round((a.Max - a.Min) / cell))
		}
		f.period = append(f.period, p)
	}
	for k, e := range elements {
		for _, name := range f.names(e, 0) {
			f.cells[name] = append(f.cells[name], k)
		}
	}
	return f
}

// names are the cells in which an element can lie whose coordinates are off by some slack.
func (f *finder) names(e group.Element, slack float64) []string {
	all := []string{""}
	for i, v := range e {
		cells := []int64{}
		for _, d := range []float64{-slack, slack} {
			x := math.Floor((v+d)/cell + 0.5)
			if !(math.Abs(x) < 1<<52) {
				return nil
			}
			n := int64(x)
			if p := f.period[i]; p > 0 {
				n = ((n % p) + p) % p
			}
			if !slices.Contains(cells, n) {
				cells = append(cells, n)
			}
		}
		next := make([]string, 0, len(all)*len(cells))
		for _, name := range all {
			for _, n := range cells {
				next = append(next, name+" "+strconv.FormatInt(n, 36))
			}
		}
		all = next
	}
	return all
}

// find is the index of an element, -1 if the plan does not have it.
func (f *finder) find(e group.Element) int {
	for _, name := range f.names(e, slack) {
		for _, k := range f.cells[name] {
			if f.g.Dist(e, f.elements[k]) <= 10*group.Tolerance {
				return k
			}
		}
	}
	return -1
}

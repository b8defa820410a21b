package shelf

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/present/view"
	"nero/run/fold"
	"nero/run/job"
	"nero/serve/api"
	"nero/symmetry/group"
)

// orbitOf is the group of a job and the plan of its orbit.
func orbitOf(g group.Group, j *job.Job, identity int) api.Group {
	o := api.Group{
		Name: g.Name(), Title: title(g, j), Chart: append([]group.Axis{}, g.Chart()...), Steps: []fold.Number{},
		Layout: layoutOf(g, j.Elements), Elements: j.Elements, Labels: make([]string, len(j.Elements)), Exact: j.Exact,
		Identity: identity, Measure: j.Measure, Weights: append([]float64{}, j.Weights...),
		Finite: whole(g, j.Elements), Moves: moves(g, j.Elements),
	}
	for _, s := range group.Steps(g) {
		o.Steps = append(o.Steps, fold.Number(s))
	}
	o.Kinds = []string{}
	for i, e := range j.Elements {
		o.Labels[i] = label(g, e)
		if k := view.KindOf(g.Chart(), e); k != "" {
			o.Kinds = append(o.Kinds, k)
		}
	}
	if len(o.Kinds) < len(j.Elements) {
		o.Kinds = []string{}
	}
	if indexed(g) {
		o.Indexed, o.Finite, o.Moves = true, true, []api.Move{}
		o.Chart, o.Steps = []group.Axis{{
			Name: "element", Kind: group.KindIndex, Min: 0,
			Max: float64(max(1, len(j.Elements)-1)),
		}},
			[]fold.Number{1}
		o.Elements = make([]group.Element, len(j.Elements))
		for i := range o.Elements {
			o.Elements[i] = group.Element{float64(i)}
		}
		o.Layout = string(view.Ranked)
	}
	return o
}

// mostAxes is the most coordinates of an element that clients are sent.
const mostAxes = 16

// indexed reports whether clients name elements by their place in the plan: those with many coordinates, and
// permutations, whose coordinates are no places to draw.
func indexed(g group.Group) bool {
	chart := g.Chart()
	return len(chart) > mostAxes || len(chart) > 1 &&
		slices.ContainsFunc(chart, func(a group.Axis) bool { return a.Name == "p0" })
}

// element is an element as clients name it in the chart of the group.
func (r *Run) element(g group.Element) group.Element {
	if len(g) != 1 || !indexed(r.group) || !(g[0] >= 0 && g[0] < float64(r.e)) || g[0] != math.Trunc(g[0]) {
		return g // what is no element is refused by who moves
	}
	return r.job.Elements[int(g[0])]
}

// named is an element of the plan as clients name it.
func (r *Run) named(g group.Element, k int) group.Element {
	if !indexed(r.group) || k < 0 {
		return g
	}
	return group.Element{float64(k)}
}

// label is an element for people: in words where the elements of a group have names, as those of the square with time
// reversal.
func label(g group.Group, e group.Element) string {
	if _, ok := group.Number(g, e); ok && is[group.Temporal](g) {
		return strings.ReplaceAll(group.Title(g, e), " deg", "°")
	}
	return view.Label(g, e)
}

func is[T any](g group.Group) bool {
	_, ok := g.(T)
	return ok
}

// mostTiles is the most elements that are laid out as tiles.
const mostTiles = 64

// layoutOf is how the orbit is laid out: as in the reports, and a small finite group that has no layout of its own
// there as tiles.
func layoutOf(g group.Group, elements []group.Element) string {
	l := view.LayoutOf(g.Chart(), elements)
	if l == view.Strip && len(elements) > 1 && len(elements) <= mostTiles && whole(g, elements) {
		return "tiles"
	}
	return string(l)
}

// whole reports whether the elements, no two of which are equal, are all of a finite group.
func whole(g group.Group, elements []group.Element) bool {
	if f, ok := g.(group.Ordered); ok {
		return f.Order() == len(elements)
	}
	f, ok := g.(group.Finite)
	return ok && len(f.Elements()) == len(elements)
}

// permuted are the names of the coordinates of permutations.
var permuted = regexp.MustCompile(`^p\d+$`)

// title is the orbit for people: "rotations, 72 angles".
func title(g group.Group, j *job.Job) string {
	var what []string
	chart := g.Chart()
	if indexed(g) {
		// One word for all rows.
		chart = slices.DeleteFunc(slices.Clone(chart),
			func(a group.Axis) bool { return a.Name != "p0" && permuted.MatchString(a.Name) })
	}
	for _, a := range chart {
		word := ""
		switch {
		case a.Name == "p0":
			word = "permutations"
		case a.Name == "rx" || a.Name == "ry" || a.Name == "rz", a.Unit == "deg" && a.Periodic:
			word = "rotations"
		case a.Name == "tx" || a.Name == "ty" || a.Name == "tz", a.Name == "dt":
			word = "shifts"
		case a.Name == "inversion":
			word = "inversions"
		case a.Name == "reversal":
			word = "reversals"
		case a.Unit == "px":
			word = "shifts"
		case a.Unit == "factor" && a.Name == "scale":
			word = "scalings"
		case mirror(a):
			word = "mirrors"
		case a.Name == "reverse" && is[group.Temporal](g):
			word = "time reversal"
		default:
			word = a.Name
		}
		if !slices.Contains(what, word) {
			what = append(what, word)
		}
	}
	count := view.Count(len(j.Elements)) + " elements"
	switch {
	case len(j.Elements) == 1:
		count = "1 element"
	case len(what) == 1 && what[0] == "rotations" && len(g.Chart()) == 1:
		count = view.Count(len(j.Elements)) + " angles"
	}
	switch n := len(what); n {
	case 0:
		return "no motion, " + count
	case 1:
		return what[0] + ", " + count
	default:
		return strings.Join(what[:n-1], ", ") + " and " + what[n-1] + ", " + count
	}
}

// mirror reports whether an axis is a switch between a picture and its mirror image.
func mirror(a group.Axis) bool {
	return a.Name == "mirror" && a.Unit == "" && !a.Periodic && a.Min == 0 && a.Max == 1
}

// mostMoved is the most elements of a plan for which moves are listed: beyond, the lists are larger than the rest of
// the document.
const mostMoved = 50_000

// moves are the elements that buttons stand for, with where each takes every element of the plan.
func moves(g group.Group, elements []group.Element) []api.Move {
	out := []api.Move{}
	if len(elements) > mostMoved {
		return out
	}
	at := newFinder(g, elements)
	chart, steps := g.Chart(), group.Steps(g)
	put := func(e group.Element, name, short string) {
		e, err := group.Validate(g, e)
		if err != nil || g.Dist(e, g.Identity()) <= group.Tolerance {
			return
		}
		if slices.ContainsFunc(out, func(m api.Move) bool { return g.Dist(m.Element, e) <= group.Tolerance }) {
			return
		}
		m := api.Move{Name: name, Short: short, Element: e, To: make([]int, len(elements))}
		for k, h := range elements {
			m.To[k] = at.find(g.Mul(e, h))
		}
		out = append(out, m)
	}
	add := func(axis int, v float64, name, short string) {
		e := slices.Clone(g.Identity())
		e[axis] = v
		put(e, name, short)
	}
	_, temporal := g.(group.Temporal)
	turn := slices.IndexFunc(chart, func(a group.Axis) bool { return a.Unit == "deg" && a.Periodic })
	for i, a := range chart {
		one := g.Identity()[i]
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
		switch {
		case a.Name == "rx" || a.Name == "ry" || a.Name == "rz":
			add(i, 15, "turn about "+a.Name[1:]+" +15°", a.Name[1:]+" +15°")
			add(i, 90, "turn about "+a.Name[1:]+" +90°", a.Name[1:]+" +90°")
		case a.Name == "inversion":
			add(i, 1, "invert through the origin", "invert")
		case a.Name == "reversal":
			add(i, 1, "reverse time", "reverse")
		case a.Unit == "deg" && a.Periodic:
			for _, d := range turns(steps[i]) {
				add(i, d, "turn left "+number(d)+"°", "+"+number(d)+"°")
				add(i, -d, "turn right "+number(d)+"°", "−"+number(d)+"°")
			}
		case mirror(a):
			add(i, 1, "mirror left and right", "mirror")
			if temporal && turn >= 0 { // the buttons of particle image velocimetry
				e := slices.Clone(g.Identity())
				e[i], e[turn] = 1, 180
				put(e, "flip top and bottom", "flip")
			}
		case a.Name == "reverse" && temporal:
			add(i, 1, "reverse time", "time")
		case a.Unit == "px":
			ways := [2][2]string{{"right", "→"}, {"left", "←"}}
			if strings.HasPrefix(a.Name, "dy") {
				ways = [2][2]string{{"down", "↓"}, {"up", "↑"}}
			}
			d := max(1, steps[i])
			add(i, one+d, "shift "+ways[0][0]+" "+number(d)+" px", ways[0][1])
			add(i, one-d, "shift "+ways[1][0]+" "+number(d)+" px", ways[1][1])
		case a.Unit == "factor":
			f := factor(elements, i)
			add(i, f, a.Name+" ×"+number(f), "×"+number(f))
			add(i, 1/f, a.Name+" ÷"+number(f), "÷"+number(f))
		default:
			d := gap(elements, i, steps[i])
			unit := a.Unit
			if unit == "deg" {
				unit = "°"
			}
			add(i, one+d, fmt.Sprintf("%s +%s%s", a.Name, number(d), unit), a.Name+" +")
			add(i, one-d, fmt.Sprintf("%s −%s%s", a.Name, number(d), unit), a.Name+" −")
		}
	}
	return out
}

// turns are the angles of buttons on a circle whose angles come in steps, 0 for any angle.
func turns(step float64) []float64 {
	fits := func(d float64) bool { return step == 0 || math.Abs(d-math.Round(d/step)*step) <= 1e-9 }
	var out []float64
	if small := max(step, 15); fits(small) {
		out = append(out, small)
	} else if step < 15 { // such as C25: as many steps as come next to 15 degrees
		out = append(out, math.Max(1, math.Round(15/step))*step)
	}
	if fits(90) && !slices.Contains(out, 90) {
		out = append(out, 90)
	}
	return out
}

// factor is the smallest ratio between coordinates of the plan, an eighth of an octave if there is none.
func factor(elements []group.Element, axis int) float64 {
	v := distinct(elements, axis)
	f := math.Inf(1)
	for i := 1; i < len(v); i++ {
		if r := v[i] / v[i-1]; r > 1+1e-6 {
			f = min(f, r)
		}
	}
	if math.IsInf(f, 1) || math.IsNaN(f) {
		return math.Exp2(1. / 8)
	}
	return f
}

// gap is the smallest distance between coordinates of the plan, a tenth if there is none.
func gap(elements []group.Element, axis int, step float64) float64 {
	if step > 0 {
		return step
	}
	v := distinct(elements, axis)
	d := math.Inf(1)
	for i := 1; i < len(v); i++ {
		if w := v[i] - v[i-1]; w > 1e-6 {
			d = min(d, w)
		}
	}
	if math.IsInf(d, 1) || math.IsNaN(d) {
		return 0.1
	}
	return d
}

func distinct(elements []group.Element, axis int) []float64 {
	v := make([]float64, 0, len(elements))
	for _, e := range elements {
		v = append(v, e[axis])
	}
	slices.Sort(v)
	return slices.Compact(v)
}

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

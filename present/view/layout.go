package view

import (
	"slices"

	"nero/symmetry/group"
)

// Orbit is what is laid out: the elements of a plan in the chart of their group.
type Orbit struct {
	// nil where only the chart is known
	Group    group.Group
	Chart    []group.Axis
	Elements []group.Element
}

// Layout is a way to lay the elements of an orbit out. A new one is a value in a file of its own and a line in
// [Layouts]; how it is drawn say package report and the page, by its name.
type Layout struct {
	// one word, as it stands in documents
	Name string
	// how to read it, for people; "" for one that no report has
	Doc string
	// Takes reports whether an orbit can be laid out so. The first of the layouts that takes an orbit has it.
	Takes func(o Orbit) bool
	// At says where an element lies, in X, Y and Turn of a point whose X is the place in the plan, and on which branch:
	// 1 beyond a switch such as a mirror. Nil leaves the points as they are.
	At func(o Orbit, e group.Element, p *Point) (branch int)
	// Panels adds the plots for one slice or sample to a figure; several says that there are others. Nil adds the one
	// that is given, or one for each model if values are colours.
	Panels func(o Orbit, f *Figure, p Panel, several bool)
	// Scales gives the figure the scales of its horizontal and vertical axes; nil for none.
	Scales func(o Orbit, f *Figure)
	// Flat is what it becomes where values differ by orders of magnitude and [Options.Unroll] is set; nil for itself.
	Flat *Layout

	// values are colours, so that every model has a plot of its own
	Colored bool
	// the points of a branch are joined in the order of X
	Joined bool
	// X is an angle on a circle of 360 degrees, which may be closed
	Round bool
	// exact elements may stand apart from the curve
	Comb bool
	// elements stand side by side, each with a mark of its own as long as there is room, in this order
	Order string
	// elements are summed up by bins, so that nothing is drawn around a single one
	Binned bool
	// a model's elements are cut into several plots, which say the same in words
	Cut bool
	// elements lie in no order in which a picture could name them
	Nameless bool
	// only pages draw it; a report takes the next that fits
	OnPages bool
}

// Layouts are those that there are, in the order in which they are tried.
func Layouts() []*Layout {
	return []*Layout{Ranked, Polar, HeatMap, Line, Discs, Angle, Axes, Scatter, Tiles, Strip}
}

// LayoutOf is how reports lay an orbit out.
func LayoutOf(o Orbit) *Layout {
	return choose(o, Layouts(), false)
}

// PageLayoutOf is how pages lay an orbit out.
func PageLayoutOf(o Orbit) *Layout {
	return choose(o, Layouts(), true)
}

func choose(o Orbit, layouts []*Layout, pages bool) *Layout {
	for _, l := range layouts {
		if (pages || !l.OnPages) && l.Takes(o) {
			return l
		}
	}
	return Strip
}

// String is the name.
func (l *Layout) String() string { return l.Name }

// MarshalText writes the name.
func (l *Layout) MarshalText() ([]byte, error) { return []byte(l.Name), nil }

// places puts the elements where the layout wants them: one list of points per branch, unmirrored first.
func (l *Layout) places(o Orbit) (branches [][]Point, closed []bool) {
	branches = make([][]Point, 1, 2)
	for k, e := range o.Elements {
		p := Point{Element: k, Label: Label(o.Group, e), Tick: tick(o.Group, e), X: float64(k)}
		b := 0
		if l.At != nil {
			b = l.At(o, e, &p)
		}
		for b >= len(branches) {
			branches = append(branches, nil)
		}
		branches[b] = append(branches[b], p)
	}
	closed = make([]bool, len(branches))
	for b, pts := range branches {
		if l.Joined {
			slices.SortStableFunc(pts, byX)
		}
		// A circle that is cut open and laid on a line ends where it begins; the point at the cut is not repeated.
		closed[b] = l.Round && surrounds(pts, 360)
	}
	return branches, closed
}

// one is the branch beyond a switch: 1 if it is on.
func one(on bool) int {
	if on {
		return 1
	}
	return 0
}

// perModel adds a plot for each series, as values that are colours need.
func perModel(f *Figure, p Panel, several bool, cols, rows []Cell) {
	for i, series := range p.Series {
		q := Panel{
			Title: series.Name, N: p.N, Series: []Series{series}, Cols: cols, Rows: rows,
		}
		for _, st := range p.Stats {
			if st.Model == series.Model {
				q.Stats = append(q.Stats, st)
			}
		}
		if series.Mirrored {
			q.Title += ", mirrored"
		}
		if several {
			q.Title = p.Title + ": " + q.Title
		}
		if i == 0 {
			q.Picture, q.Note = p.Picture, p.Note
		}
		f.Panels = append(f.Panels, q)
	}
}

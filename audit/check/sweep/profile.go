package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/symmetry/group"
)

// listed is how many of the worst elements are named.
const listed = 5

// ShowProfile shows how the error runs along the orbit: as a curve over the coordinate where there is one, for each
// side of a mirror, and the worst elements as a table if there are more and one is above the threshold. The last set is
// that of the exact elements beside a continuous one; nil sets are left out.
func (r *Result) ShowProfile(p *audit.Pass, sets ...*audit.Set) {
	sets = slices.DeleteFunc(slices.Clone(sets), func(s *audit.Set) bool { return s == nil })
	var all []audit.Point
	floors := audit.Floors{}
	for _, s := range sets {
		all = append(all, s.Profile...)
		floors = s.Floors
	}
	if !slices.ContainsFunc(all, func(x audit.Point) bool { return x.Max > 0 || x.NonFinite > 0 }) {
		return // equal bit for bit: nothing to look at
	}
	worst := slices.Clone(all)
	slices.SortStableFunc(worst, func(a, b audit.Point) int {
		return cmp.Or(cmp.Compare(b.NonFinite, a.NonFinite), cmp.Compare(b.Mean, a.Mean))
	})
	worst = worst[:min(listed, len(worst))]
	if at, ok := line(p.Subject.Plan.Group.Chart()); ok && len(all) > 1 {
		r.curves(p, sets, worst, at, floors)
	}
	broken := func(x audit.Point) bool { return x.Max > p.Policy.Threshold || x.NonFinite > 0 }
	if len(all) <= listed || !slices.ContainsFunc(worst, broken) {
		return
	}
	unit := sets[0].Unit
	t := &audit.Table{Columns: []audit.Column{
		{Name: "element"},
		{Name: "kind", Doc: "exact elements act without resampling"},
		{Name: "mean", Unit: unit, Doc: "error, mean over inputs"},
		{Name: "95 %", Unit: unit, Doc: "95 % quantile over inputs"},
		{Name: "largest", Unit: unit, Doc: "over inputs"},
		{Name: "resampling", Unit: unit, Doc: "mean of the resampling floor"},
		{Name: "not finite", Doc: "outputs that are not finite"},
	}}
	for _, x := range worst {
		kind := "resampled"
		if x.Exact {
			kind = "exact"
		}
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(x.Label), audit.Word(kind), audit.Num(x.Mean), audit.Num(x.P95), audit.Num(x.Max),
			audit.Num(x.Resampling), audit.Num(float64(x.NonFinite)),
		})
	}
	p.Show(audit.Exhibit{
		Name: "worst-elements", Title: fmt.Sprintf("The %d worst of %d elements", len(worst), len(all)),
		Note: "By the mean error over inputs, relative to the scale of the outputs.", Table: t,
	})
}

// line is the index of the only coordinate of a chart that is no switch.
func line(chart []group.Axis) (at int, ok bool) {
	at = -1
	for i, a := range chart {
		if a.Switch() {
			continue
		}
		if at >= 0 {
			return 0, false
		}
		at = i
	}
	return at, at >= 0
}

// curves shows one profile for each setting of the switches.
func (r *Result) curves(p *audit.Pass, sets []*audit.Set, worst []audit.Point, at int, floors audit.Floors) {
	chart := p.Subject.Plan.Group.Chart()
	setting := func(g group.Element) string {
		var words strings.Builder
		for i, a := range chart {
			if a.Switch() && i < len(g) {
				fmt.Fprintf(&words, ", %s %g", a.Name, g[i])
			}
		}
		return words.String()
	}
	var settings []string
	points := map[string]map[bool][]audit.Point{}
	for _, s := range sets {
		for _, x := range s.Profile {
			w := setting(x.Element)
			if points[w] == nil {
				points[w] = map[bool][]audit.Point{}
				settings = append(settings, w)
			}
			points[w][x.Exact] = append(points[w][x.Exact], x)
		}
	}
	slices.Sort(settings)
	for i, w := range settings {
		y := audit.Scale{Name: "error", Unit: sets[0].Unit, Log: true}
		if sets[0].Shares() {
			y.Log = false
		}
		c := &audit.Curve{
			X: audit.Scale{Name: chart[at].Name, Unit: chart[at].Unit, Log: chart[at].Form() == group.FormFactor},
			Y: y, Limit: p.Policy.Threshold,
		}
		c.Series = series(points[w], worst, at, floors)
		name := "profile"
		if i > 0 {
			name = fmt.Sprintf("profile-%d", i+1)
		}
		e := audit.Exhibit{
			Name: name, Title: "Error along the orbit" + w, Curve: c,
			Note: "Over all inputs; the line across is the threshold.",
		}
		if len(points[w][true]) > 0 && len(points[w][false]) > 0 {
			e.Note += " Marks are the exact elements, where nothing is resampled: an error that is high only between " +
				"them is that of the grid."
		}
		p.Show(e)
	}
}

// series are the lines of a profile.
func series(points map[bool][]audit.Point, worst []audit.Point, at int, floors audit.Floors) []audit.Series {
	label := func(list []audit.Point) []string {
		out := make([]string, len(list))
		for i, x := range list {
			if slices.ContainsFunc(worst, func(w audit.Point) bool { return w.Label == x.Label }) {
				out[i] = x.Label
			}
		}
		return out
	}
	make1 := func(name string, list []audit.Point, y func(audit.Point) float64) audit.Series {
		s := audit.Series{Name: name}
		for _, x := range list {
			s.X, s.Y = append(s.X, x.Element[at]), append(s.Y, y(x))
		}
		return s
	}
	var out []audit.Series
	mean := func(x audit.Point) float64 { return x.Mean }
	p95 := func(x audit.Point) float64 { return x.P95 }
	most := func(x audit.Point) float64 { return x.Max }
	order := func(list []audit.Point) []audit.Point {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b audit.Point) int { return cmp.Compare(a.Element[at], b.Element[at]) })
		return list
	}
	if list := order(points[false]); len(list) > 0 {
		out = append(out, make1("mean", list, mean), make1("95 %", list, p95))
		top := make1("largest", list, most)
		top.Labels = label(list)
		out = append(out, top)
		floor := make1("resampling floor", list, func(x audit.Point) float64 { return x.Resampling })
		if slices.ContainsFunc(floor.Y, func(v float64) bool { return v > 0 }) {
			out = append(out, floor)
		}
	}
	if list := order(points[true]); len(list) > 0 {
		comb := make1("exact, largest", list, most)
		comb.Marks, comb.Labels = true, label(list)
		out = append(out, comb)
	}
	if n := len(out); n > 0 && floors.Rounding > 0 && !math.IsInf(floors.Rounding, 1) {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, s := range out {
			for _, x := range s.X {
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		out = append(out, audit.Series{
			Name: "rounding floor", X: []float64{lo, hi},
			Y: []float64{floors.Rounding, floors.Rounding},
		})
	}
	return out
}

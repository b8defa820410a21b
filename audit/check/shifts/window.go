package shifts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/metric"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// clearance is how far boxes must stay from the edges of both windows, in pixels, to be compared in the sweep of
// shifts: nearer ones change because content comes in or leaves. An eighth of the window where that is less.
const clearance = 16

// mostWindowed bounds the samples of the sweep of a window.
const mostWindowed = 8

// sweepOf is what the sweep of a window measured for one axis: for every shift 1, 2, ... the changes of all pairs of
// windows that are so far apart.
type sweepOf struct {
	// distance of the answers
	apart [][]float64
	// distance of the centres of matched boxes after the shift is undone, px
	centre [][]float64
	// how far matched boxes moved along the axis, px
	travel [][]float64
	// by and hits are, for every shift, the sum and the number of the errors of boxes by their distance from the
	// nearest edge of both windows, in pixels.
	by      [][]float64
	hits    [][]int
	matched int
	// boxes left out, too near to an edge of a window
	left int
}

// translation is the element that shifts by whole pixels and does nothing else; nil if the group has none.
func translation(G group.Group, dx, dy int) group.Element {
	planar, ok := G.(group.Planar)
	if !ok {
		return nil
	}
	c := G.Chart()
	x, y := group.First(c, group.KindRight), group.First(c, group.KindDown)
	if x < 0 || y < 0 {
		return nil
	}
	g := slices.Clone(G.Identity())
	g[x], g[y] = float64(dx), float64(dy)
	if a, t := planar.Affine(g); a != [2][2]float64{{1, 0}, {0, 1}} || t != [2]float64{float64(dx), float64(dy)} {
		return nil
	}
	return g
}

// ofWindow sweeps the crop window of the study over the picture, one axis at a time, and compares all pairs of
// answers: real content moves by whole pixels, and what leaves or enters is not held against the model where the answer
// is a set of boxes.
func ofWindow(ctx context.Context, t *stress.Test, o action.Options) (any, error) {
	p := t.Pass
	G, in, out := p.Subject.Plan.Group, p.Subject.Plan.In, p.Subject.Plan.Out
	if translation(G, 1, 0) == nil {
		return nil, fmt.Errorf("%w: the window moves, but the group has no shifts by whole pixels",
			audit.ErrNotApplicable)
	}
	pick := p.Pick(min(mostWindowed, max(int(p.Param("samples")), mostWindowed)))
	most := int(p.Param("window"))
	var curves [2]*sweepOf
	reach := math.MaxInt
	var raw []space.Value
	var ids []string
	for _, i := range pick {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		h, w, ok := stress.PictureSize(s.Value)
		if !ok {
			return nil, fmt.Errorf("%w: the input is no picture", audit.ErrNotApplicable)
		}
		reach = min(reach, (h-o.Window[0])/2, (w-o.Window[1])/2)
		raw, ids = append(raw, s.Value), append(ids, s.ID)
	}
	reach = min(reach, (most+1)/2)
	if reach < 2 {
		return nil, fmt.Errorf("%w: the window of %d×%d pixels has no room to move inside the pictures",
			audit.ErrUntested, o.Window[0], o.Window[1])
	}
	for a := range curves {
		n := 2 * reach
		curves[a] = &sweepOf{
			apart: make([][]float64, n), centre: make([][]float64, n), travel: make([][]float64, n),
			by: make([][]float64, n), hits: make([][]int, n),
		}
	}
	base, err := t.Base(ctx)
	if err != nil {
		return nil, err
	}
	boxes := stress.Boxes(base[0])
	for i, v := range raw {
		for a := range curves {
			var elements []group.Element
			for s := -reach; s <= reach; s++ {
				elements = append(elements, translation(G, s*a, s*(1-a)))
			}
			back := make([]space.Value, 0, len(elements))
			stream := func(yield func(audit.Request, error) bool) {
				for k, g := range elements {
					x, err := in.Apply(g, v)
					if err != nil {
						err = fmt.Errorf("sample %s at %s: %w", ids[i], audit.Label(G, g), err)
					}
					if !yield(audit.Request{Element: k, Input: x}, err) {
						return
					}
				}
			}
			if err := p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
				z, err := out.Apply(G.Inv(elements[q.Element]), y)
				if err != nil {
					return fmt.Errorf("sample %s at %s: output: %w", ids[i], audit.Label(G, elements[q.Element]), err)
				}
				back = append(back, z)
				return nil
			}); err != nil {
				return nil, err
			}
			pairs(t, curves[a], back, a, o.Window)
		}
	}
	return concludeWindow(t, curves, strides(ctx, p, t.Still[0]), len(raw), boxes)
}

// pairs compares the answers at all pairs of places of the window.
func pairs(t *stress.Test, c *sweepOf, back []space.Value, axis int, window []int) {
	margin := min(clearance, min(window[0], window[1])/8)
	for i, x := range back {
		for j := i + 1; j < len(back); j++ {
			s := j - i - 1
			u, v, ok := space.Both[*space.Boxes](x, back[j])
			if !ok {
				c.apart[s] = append(c.apart[s], t.Apart(x, back[j]))
				continue
			}
			c.edges(s, u, v)
			d := metric.Between(inset(u, margin), inset(v, margin))
			c.left += d.Left
			if d.Matched+d.Extra+d.Missed == 0 || math.IsNaN(d.Distance) {
				continue
			}
			c.apart[s] = append(c.apart[s], d.Distance)
			c.matched += d.Matched
			for _, m := range d.Pairs {
				ax, ay := u.Items[m[0]].Center()
				bx, by := v.Items[m[1]].Center()
				c.centre[s] = append(c.centre[s], elementary.Hypot(ax-bx, ay-by))
				moved := []float64{bx - ax, by - ay}[coordinate(axis)]
				c.travel[s] = append(c.travel[s], float64(j-i)+moved)
			}
		}
	}
}

// edges takes in how far pairs of boxes differ, by their distance from the edges of the windows.
func (c *sweepOf) edges(s int, u, v *space.Boxes) {
	d := metric.Between(u, v)
	if c.by[s] == nil {
		n := int(min(u.H, u.W)) / 2
		c.by[s], c.hits[s] = make([]float64, n), make([]int, n)
	}
	for _, m := range d.Pairs {
		a, b := u.Items[m[0]], v.Items[m[1]]
		e := 1 - metric.IoU(a, b)*min(a.Score, b.Score)/max(a.Score, b.Score)
		at := int(min(depth(a, u.Seen), depth(a, v.Seen), depth(b, u.Seen), depth(b, v.Seen)))
		if math.IsNaN(e) || at < 0 || at >= len(c.by[s]) {
			continue
		}
		c.by[s][at], c.hits[s][at] = c.by[s][at]+e, c.hits[s][at]+1
	}
}

// depth is how far the nearest side of a box lies inside a window, in pixels.
func depth(b space.Box, seen *space.Box) float64 {
	if seen == nil {
		return math.Inf(1)
	}
	return min(b.X1-min(seen.X1, seen.X2), max(seen.X1, seen.X2)-b.X2, b.Y1-min(seen.Y1, seen.Y2),
		max(seen.Y1, seen.Y2)-b.Y2)
}

// coordinate is the coordinate, x first, of the axis of a sweep, down first.
func coordinate(axis int) int { return 1 - axis }

// inset is a set of boxes whose window saw less by a margin on each side.
func inset(b *space.Boxes, margin int) *space.Boxes {
	o := &space.Boxes{H: b.H, W: b.W, Items: b.Items}
	seen := space.Box{X2: b.W, Y2: b.H}
	if b.Seen != nil {
		seen = *b.Seen
	}
	m := float64(margin)
	o.Seen = &space.Box{
		X1: min(seen.X1, seen.X2) + m, Y1: min(seen.Y1, seen.Y2) + m, X2: max(seen.X1, seen.X2) - m,
		Y2: max(seen.Y1, seen.Y2) - m,
	}
	return o
}

// medians are those of each list; NaN for an empty one.
func medians(lists [][]float64) []float64 {
	out := make([]float64, len(lists))
	for i, l := range lists {
		out[i] = math.NaN()
		if len(l) == 0 {
			continue
		}
		s := slices.Clone(l)
		slices.Sort(s)
		out[i] = s[len(s)/2]
		if n := len(s); n%2 == 0 {
			out[i] = (s[n/2-1] + s[n/2]) / 2
		}
	}
	return out
}

// dip is how many times smaller the change at the multiples of a period must be than at other shifts.
const dip = 2.5

// Dips is the period of a noisy curve over the shifts 1, 2, ..., NaN where nothing is known: 1 if no value is above the
// floor; else the least k whose multiples, two at least, are all small, compared with the median of the other shifts (a
// factor of 2.5), and as small as those of any other period up to a factor of 1.5; 0 if there is none. Unlike [Period]
// it takes what does not vanish at the multiples, such as content that enters a window, for granted. On and off are the
// medians at multiples and at other shifts.
func Dips(e []float64, floor float64) (k int, on, off float64) {
	type candidate struct {
		k            int
		top, on, off float64
	}
	var all []candidate
	n, over := 0, false
	for _, x := range e {
		if !math.IsNaN(x) {
			n++
			over = over || !(x <= floor)
		}
	}
	if n == 0 {
		return 0, math.NaN(), math.NaN()
	}
	whole := medians([][]float64{slices.DeleteFunc(slices.Clone(e), math.IsNaN)})[0]
	if !over {
		return 1, whole, whole
	}
	for k := 2; 2*k <= len(e); k++ {
		var at, others []float64
		for i, x := range e {
			switch {
			case math.IsNaN(x):
			case (i+1)%k == 0:
				at = append(at, x)
			default:
				others = append(others, x)
			}
		}
		if len(at) < 2 || len(others) == 0 {
			continue
		}
		m := medians([][]float64{at, others})
		c := candidate{k, slices.Max(at), m[0], m[1]}
		if c.off > max(floor, dip*c.on) && c.top < c.off {
			all = append(all, c)
		}
	}
	best := math.Inf(1)
	for _, c := range all {
		best = min(best, c.on)
	}
	for _, c := range all {
		if c.on <= max(1.5*best, floor) {
			return c.k, c.on, c.off
		}
	}
	return 0, whole, whole
}

// concludeWindow reports the period of both axes.
func concludeWindow(t *stress.Test, c [2]*sweepOf, graph [][2]int, samples int, boxes bool) (any, error) {
	p, r := t.Pass, &Result{}
	limit := max(t.Floor, p.Policy.Threshold/ratio)
	names := [2]string{"down", "right"}
	var apart, centre, spread []audit.Series
	var on, off, near, far [2]float64
	largest := 0.0
	known := false
	for a := range c {
		d, m := medians(c[a].apart), medians(c[a].centre)
		apart, centre = append(apart, marks(names[a], d)), append(centre, marks(names[a], m))
		r.Period[a], on[a], off[a] = Dips(d, limit)
		if boxes && r.Period[a] == 0 {
			// Centres show strides that scores and sizes hide.
			if r.Period[a], _, _ = Dips(m, 0); r.Period[a] > 1 {
				on[a], off[a] = split(d, r.Period[a])
			}
		}
		near[a], far[a] = split(m, r.Period[a])
		for _, x := range d {
			if x > largest {
				largest = x
			}
			known = known || !math.IsNaN(x)
		}
		if k := r.Period[a]; k > 1 && boxes {
			spread = append(spread, marks(names[a], multiples(c[a].travel, k)))
		}
	}
	if !known {
		return nil, fmt.Errorf("%w: no box lies far enough from the edges of the window at two of its places",
			audit.ErrUntested)
	}
	note := fmt.Sprintf(
		"Medians over %d inputs and all pairs of places of the window that are so far apart, whatever the group's "+
			"elements are.", samples)
	if boxes {
		note += fmt.Sprintf(
			" Boxes within %d px of an edge of either window are left out (%d of them, beside %d matched pairs).",
			clearance, c[0].left+c[1].left, c[0].matched+c[1].matched)
	}
	y := audit.Scale{Name: "change of the answer"}
	if boxes {
		y.Unit = audit.BoxShare
	}
	p.Show(audit.Exhibit{
		Name: "shift-sweep", Title: "Change of the answer over shifts of the window", Note: note,
		Curve: &audit.Curve{X: audit.Scale{Name: "shift", Unit: "px"}, Y: y, Limit: math.NaN(), Series: apart},
	})
	if boxes {
		p.Show(audit.Exhibit{
			Name: "shift-centres", Title: "Error of the centres of boxes over shifts of the window",
			Note: "Median distance of the centre of a box from where the shift should take it.",
			Curve: &audit.Curve{
				X: audit.Scale{Name: "shift", Unit: "px"},
				Y: audit.Scale{Name: "centre error", Unit: "px"}, Limit: math.NaN(), Series: centre,
			},
		})
	}
	down, right := r.Period[0], r.Period[1]
	r.Result = stress.Result{Answer: stress.Measured, Error: largest, Limit: math.NaN()}
	q := &r.Result
	ev := []audit.Evidence{
		audit.Number("period down", float64(down), "px"),
		audit.Number("period right", float64(right), "px"),
	}
	if down > 1 || right > 1 {
		ev = append(ev, audit.Number("change at multiples of the period, median", worse(on, r.Period), y.Unit),
			audit.Number("change at other shifts, median", worse(off, r.Period), y.Unit))
		if boxes {
			ev = append(ev, audit.Number("centre error at multiples of the period, median", worse(near, r.Period),
				"px"), audit.Number("centre error at other shifts, median", worse(far, r.Period), "px"))
			for _, s := range spread {
				if len(s.X) > 0 {
					ev = append(ev, audit.Number(fmt.Sprintf("shift of boxes for a window shifted by %g px %s, median",
						s.X[0], s.Name), s.Y[0], "px"))
				}
			}
		}
	}
	clue := audit.Clue{Name: audit.ClueStridePattern, Strength: 0.8}
	predicted, match := "", false
	if len(graph) > 0 {
		var words []string
		for _, k := range graph {
			words = append(words, periods(k[0], k[1]))
			match = match || k == r.Period
		}
		predicted = strings.Join(words, " and ")
		for i, k := range graph {
			ev = append(ev, audit.Number(fmt.Sprintf("stride of map %d of the graph", i+1), float64(max(k[0], k[1])),
				"px"))
		}
	}
	switch {
	case down > 1 || right > 1:
		clue.Holds = true
		q.Text = fmt.Sprintf(
			"shifts by multiples of %s px keep the answer best: its change is %s there and %s at other shifts",
			periods(down, right), audit.Figures(worse(on, r.Period)), audit.Figures(worse(off, r.Period)))
		if boxes {
			q.Text += fmt.Sprintf(", centres are off by %s and %s px", audit.Figures(worse(near, r.Period)),
				audit.Figures(worse(far, r.Period)))
		}
		if match {
			clue.Strength = 1
		}
		if predicted != "" {
			q.Text += "; the strides of the graph are " + predicted + " px"
		}
		clue.Location = "shifts, period " + periods(down, right)
	case down == 1 && right == 1:
		q.Text = fmt.Sprintf("no shift of the window up to %d px changes the answer", len(c[0].apart))
	case len(graph) > 0 && 2*max(graph[0][0], graph[0][1]) > len(c[0].apart):
		return nil, fmt.Errorf(
			"%w: shifts of the window up to %d px hold no two multiples of the graph's stride of %s px",
			audit.ErrUntested, len(c[0].apart), periods(graph[0][0], graph[0][1]))
	default:
		q.Text = fmt.Sprintf(
			"every shift of the window changes the answer, by up to %.2g in the median; there is no period", largest)
		if predicted != "" {
			q.Text += "; the strides of the graph are " + predicted + " px"
		}
	}
	clue.Text, clue.Evidence = q.Text, ev
	p.Measure(ev...)
	p.Clue(clue)
	if boxes {
		stays(p, c)
	}
	q.Show(p)
	for a := range c {
		r.Edges[a] = Edges{Sum: c[a].by, N: c[a].hits}
	}
	return r, nil
}

// fewest is how many matched pairs have to tell whether boxes follow their content.
const fewest = 20

// follows is how many pixels boxes move in the window for each pixel that the content moves, by least squares over all
// matched pairs: 1 if they go with it, 0 if they keep their place. Along with it the number of pairs.
func follows(c [2]*sweepOf) (slope float64, pairs int) {
	var xy, xx float64
	for _, a := range c {
		for i, moved := range a.travel {
			s := float64(i + 1)
			for _, m := range moved {
				xy, xx, pairs = xy+float64(s*m), xx+float64(s*s), pairs+1
			}
		}
	}
	return xy / xx, pairs
}

// stays says whether boxes keep their place in the window while what they stand for moves on, as they do where training
// showed objects at one place alone. Strides let boxes lag behind by less than a step, and follow over longer shifts.
func stays(p *audit.Pass, c [2]*sweepOf) {
	slope, n := follows(c)
	if n < fewest || math.IsNaN(slope) {
		return
	}
	ev := audit.Number("movement of boxes for each pixel that the content moves", slope, "px")
	p.Measure(ev)
	clue := audit.Clue{
		Name: audit.ClueStays, Holds: slope < 0.5, Strength: min(1, max(0.3, math.Abs(1-2*slope))),
		Location: "output",
		Text: fmt.Sprintf("boxes move by %.2g px for each pixel that the content of the window moves, over %d pairs "+
			"of windows", slope, n),
		Evidence: []audit.Evidence{ev},
	}
	p.Clue(clue)
}

// marks is a curve over the shifts 1, 2, ..., without those that are not known.
func marks(name string, e []float64) audit.Series {
	s := audit.Series{Name: name, Marks: true}
	for i, x := range e {
		if !math.IsNaN(x) {
			s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, x)
		}
	}
	return s
}

// split is the median of a curve at the multiples of k and elsewhere; NaN for a period that is none.
func split(e []float64, k int) (on, off float64) {
	if k < 2 {
		return math.NaN(), math.NaN()
	}
	var at, others []float64
	for i, x := range e {
		switch {
		case math.IsNaN(x):
		case (i+1)%k == 0:
			at = append(at, x)
		default:
			others = append(others, x)
		}
	}
	m := medians([][]float64{at, others})
	return m[0], m[1]
}

// multiples are the medians at the multiples of k, NaN elsewhere.
func multiples(lists [][]float64, k int) []float64 {
	out := medians(lists)
	for i := range out {
		if (i+1)%k != 0 {
			out[i] = math.NaN()
		}
	}
	return out
}

// worse is the larger number of the axes that have a period.
func worse(x [2]float64, period [2]int) float64 {
	most := math.NaN()
	for a, k := range period {
		if k > 1 && !(x[a] <= most) {
			most = x[a]
		}
	}
	return most
}

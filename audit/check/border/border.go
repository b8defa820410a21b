// Package border is the check of where on a map the error lies.
package border

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/check/shifts"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the border check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "border",
	Title: "Where on the picture the error lies",
	Doc: `Border asks whether the error lies along the border of a map.

It looks where on a map the error |z - f| lies. An error of a band along the border, or along the seam that a roll tears, is told from one that is everywhere;
for an output without places, the content of the input is kept away from the border instead. For boxes in a moving crop window the check shifts has measured it:
there the error is placed by its distance from the edges of the window.`,
	Family:   stress.Family,
	Params:   []audit.Param{stress.Samples, stress.Elements},
	Requires: stress.Requires(),
	Uses:     []*audit.Check{shifts.Check},
	Optional: true,
	Run:      run,
	Work:     stress.Work(func(p *audit.Pass) int { return 1 + int(p.Param("elements")) }),
}

// pixelError is the error of each pixel of a map: the Euclidean norm over the channels, for masks whether the label
// differs.
func pixelError(z, f space.Value) []float64 {
	a, c, h, w, ok := stress.Grid(z)
	b, _, _, _, same := stress.Grid(f)
	if !ok || !same || len(a) != len(b) {
		return nil
	}
	_, linear := z.(space.Linear)
	out := make([]float64, h*w)
	for k := range c {
		for i := range out {
			d := a[k*h*w+i] - b[k*h*w+i]
			if !linear && d != 0 {
				d = 1
			}
			out[i] += float64(d * d)
		}
	}
	for i := range out {
		out[i] = math.Sqrt(out[i])
	}
	return out
}

// Distances are those of each pixel of an h×w map from the nearest border, in whole pixels, 0 for the outermost ones.
// The border is that of the map and, brought back by g, that of the moved map: p counts as near if p or g·p is. Where g
// moves the plane around a torus the latter is the seam; where g·p lies outside the map the pixel is lost and its
// distance is -1.
func Distances(G group.Group, g group.Element, h, w int) []int {
	out := make([]int, h*w)
	edge := func(r, c int) int { return min(r, c, h-1-r, w-1-c) }
	planar, ok := G.(group.Planar)
	_, torus := G.(group.Torus)
	var a [2][2]float64
	var t [2]float64
	if ok {
		a, t = planar.Affine(g)
	}
	cx, cy := float64(w-1)/2, float64(h-1)/2
	for r := range h {
		for c := range w {
			d := edge(r, c)
			if ok {
				x, y := float64(c)-cx, float64(r)-cy
				q, p := int(math.Round(float64(a[0][0]*x)+float64(a[0][1]*y)+t[0]+cx)),
					int(math.Round(float64(a[1][0]*x)+float64(a[1][1]*y)+t[1]+cy))
				if torus {
					q, p = ((q%w)+w)%w, ((p%h)+h)%h
				}
				if q < 0 || q >= w || p < 0 || p >= h {
					d = -1
				} else {
					d = min(d, edge(p, q))
				}
			}
			out[r*w+c] = d
		}
	}
	return out
}

// band says how much of an error lies near the border: the narrowest band that holds so much of it that the mean error
// outside is at most a tenth of that inside.
type band struct {
	// 0 if there is none
	width           int
	inside, outside float64
}

// bandRatio is how many times larger the error in the band must be.
const bandRatio = 10

// bandOf finds the band in the mean error by distance, given its sum and its number of pixels. The band is no wider
// than a third of the distances, so that there is an inside to speak of. It is widened as long as that takes away what
// is left outside, down to the floor.
func bandOf(sum []float64, n []int, floor float64) band {
	var allSum float64
	var all int
	last := 0
	for d := range sum {
		allSum, all = allSum+sum[d], all+n[d]
		if n[d] > 0 {
			last = d
		}
	}
	var s float64
	var k int
	b := band{outside: allSum / float64(max(all, 1)), inside: math.NaN()}
	for w := 1; w <= (2*(last+1))/3; w++ {
		s, k = s+sum[w-1], k+n[w-1]
		if k == 0 || all == k {
			continue
		}
		inside, outside := s/float64(k), (allSum-s)/float64(all-k)
		if inside > 0 && outside <= inside/bandRatio {
			// A wider band with a clean inside is a better description than a narrow one with a tenth of the error
			// left.
			b = band{width: w, inside: inside, outside: outside}
			for v := w + 1; v <= (2*(last+1))/3; v++ {
				s, k = s+sum[v-1], k+n[v-1]
				if k == all || n[v-1] == 0 || b.outside <= floor {
					break
				}
				if o := (allSum - s) / float64(all-k); o <= b.outside/bandRatio {
					b = band{width: v, inside: s / float64(k), outside: o}
				}
			}
			return b
		}
	}
	return b
}

// Result is what the check came to.
type Result struct {
	stress.Result
	// Band is the width of the band of a map that holds the error, in pixels; 0 if there is none.
	Band int
}

// run looks where on the output the error lies.
func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	if len(t.Exact) == 0 {
		return nil, fmt.Errorf("%w: no element but the identity acts without resampling", audit.ErrNotApplicable)
	}
	base, err := t.Base(ctx)
	if err != nil {
		return nil, err
	}
	if stress.Boxes(base[0]) {
		if o, ok := action.OptionsOf(p.Subject.Plan.In); ok && len(o.Window) == 2 {
			return ofWindow(t)
		}
	}
	_, _, h, w, ok := stress.Grid(base[0])
	if !ok || h < 4 || w < 4 {
		return ofMargins(ctx, t)
	}
	G, in, out := p.Subject.Plan.Group, p.Subject.Plan.In, p.Subject.Plan.Out
	if _, still := out.(action.Trivial); still {
		return nil, fmt.Errorf("%w: the output is a map that is declared not to move", audit.ErrNotApplicable)
	}
	sum, hits := make([]float64, h*w), make([]int, h*w)
	by, n := make([]float64, min(h, w)), make([]int, min(h, w))
	var largest float64
	for _, j := range t.Exact {
		e := p.Elements[j]
		dist := Distances(outGroup(out, G), e.G, h, w)
		var values []space.Value
		for i, x := range t.Raw {
			gx, err := in.Apply(e.G, x)
			if err != nil {
				return nil, fmt.Errorf("sample %s at %s: %w", t.IDs[i], e.Label, err)
			}
			values = append(values, gx)
		}
		y, err := t.Predict(ctx, values)
		if err != nil {
			return nil, err
		}
		for i := range y {
			z, err := out.Apply(G.Inv(e.G), y[i])
			if err != nil {
				return nil, fmt.Errorf("sample %s at %s: output: %w", t.IDs[i], e.Label, err)
			}
			for k, d := range pixelError(z, base[i]) {
				if dist[k] < 0 || math.IsNaN(d) || math.IsInf(d, 0) {
					continue
				}
				d /= t.Scale
				largest = max(largest, d)
				sum[k], hits[k] = sum[k]+d, hits[k]+1
				by[dist[k]], n[dist[k]] = by[dist[k]]+d, n[dist[k]]+1
			}
		}
	}
	for k := range sum {
		if hits[k] == 0 {
			sum[k] = math.NaN()
		} else {
			sum[k] /= float64(hits[k])
		}
	}
	p.Show(audit.Exhibit{
		Name: "error-map", Title: "Where on the output the error lies",
		Note: "Mean |z - f| of each pixel over inputs and exact elements, relative to the scale of the outputs, in " +
			"the frame of the unmoved input.",
		Map: &audit.Map{H: h, W: w, Val: sum},
	})
	curve := audit.Series{Name: "mean error"}
	for d := range by {
		if n[d] > 0 {
			curve.X, curve.Y = append(curve.X, float64(d)), append(curve.Y, by[d]/float64(n[d]))
		}
	}
	p.Show(audit.Exhibit{
		Name: "error-by-distance", Title: "Error over the distance from the border",
		Curve: &audit.Curve{
			X: audit.Scale{Name: "distance from the border or the seam", Unit: "px"},
			Y: audit.Scale{Name: "error", Log: true}, Limit: math.NaN(), Series: []audit.Series{curve},
		},
	})
	return conclude(t, bandOf(by, n, t.Floor), largest), nil
}

// outGroup is the group that moves an output.
func outGroup(out action.Action, otherwise group.Group) group.Group {
	if g := out.Group(); g != nil {
		return g
	}
	return otherwise
}

// conclude says whether the error is a band. An error at the floor lies nowhere.
func conclude(t *stress.Test, b band, largest float64) *Result {
	p := t.Pass
	r := &Result{Result: stress.Result{Answer: stress.Measured, Error: largest, Limit: math.NaN()}}
	q := &r.Result
	clue := audit.Clue{Name: audit.ClueEdgeBand, Strength: 0.9}
	ev := []audit.Evidence{
		audit.Number("width of the band", float64(b.width), "px"),
		audit.Number("mean error inside the band", b.inside, ""), audit.Number("mean error elsewhere", b.outside, ""),
	}
	switch {
	case !(largest > t.Floor):
		q.Answer, q.Text = stress.Holds, "there is no error to place"
		clue.Text, clue.Evidence = "no error at the border: it is at the floor everywhere", ev[2:]
	case b.width > 0:
		r.Band = b.width
		q.Answer = stress.Broken
		q.Text = fmt.Sprintf("the error lies in a band of %d pixels along the border, %.2g there and %.2g elsewhere",
			b.width, b.inside, b.outside)
		clue.Holds, clue.Text, clue.Evidence = true, q.Text, ev
		clue.Location = fmt.Sprintf("border, %d pixels", b.width)
		if !(b.outside > t.Floor) {
			clue.Strength = 1
		}
		p.Measure(ev...)
	default:
		q.Text = fmt.Sprintf("the error is %.2g on the mean and not that of a band along the border", b.outside)
		clue.Text, clue.Evidence = q.Text, ev[2:]
	}
	p.Clue(clue)
	q.Show(p)
	return r
}

// ofMargins asks the same of an output without places: is there an error when content is kept away from the border? It
// needs whole shifts among the elements, and moves the content itself so that none is lost.
func ofMargins(ctx context.Context, t *stress.Test) (any, error) {
	p := t.Pass
	h, w, ok := stress.PictureSize(t.Still[0])
	if !ok || t.Raw[0].Form() != t.Still[0].Form() {
		return nil, fmt.Errorf("%w: neither input nor output is a map of the sample's size", audit.ErrNotApplicable)
	}
	if !shifted(p) {
		return nil, fmt.Errorf("%w: the output has no places, and no element is a whole shift", audit.ErrNotApplicable)
	}
	if !invariant(p) {
		return nil, fmt.Errorf("%w: the output has no places and is not declared invariant", audit.ErrNotApplicable)
	}
	// A multiple of what networks usually stride, so that striding does not show.
	step := 1
	for 16*step <= min(h, w) && step < 8 {
		step *= 2
	}
	// The content is kept away from the border by that much more, so that the shift takes it no nearer than the margin.
	margins := []int{0}
	for m := 1; 2*(m+step) < min(h, w)-step; m *= 2 {
		margins = append(margins, m)
	}
	if len(margins) < 3 {
		return nil, fmt.Errorf("%w: the picture is too small to keep content away from its border", audit.ErrUntested)
	}
	series := audit.Series{Name: "error"}
	width, first, last := 0, 0.0, 0.0
	for _, m := range margins {
		var most float64
		for _, v := range t.Still {
			img := stress.Framed(v, m+step)
			y, err := t.Predict(ctx, []space.Value{img, stress.Rolled(img, step, 0), stress.Rolled(img, 0, step)})
			if err != nil {
				return nil, err
			}
			for _, z := range y[1:] {
				if e := t.Apart(z, y[0]); !(e <= most) {
					most = e
				}
			}
		}
		series.X, series.Y = append(series.X, float64(m)), append(series.Y, most)
		if m == 0 {
			first = most
		}
		if last = most; width == 0 && m > 0 && most <= first/bandRatio {
			width = m
		}
	}
	p.Show(audit.Exhibit{
		Name:  "error-by-margin",
		Title: fmt.Sprintf("Error of a shift by %d pixels over the distance of the content from the border", step),
		Note:  "How near the content comes to the border; what would come nearer is blanked.",
		Curve: &audit.Curve{
			X: audit.Scale{Name: "margin", Unit: "px"}, Y: audit.Scale{Name: "error", Log: true},
			Limit: math.NaN(), Series: []audit.Series{series},
		},
	})
	b := band{inside: first, outside: last}
	if last <= first/bandRatio {
		b.width = width
	}
	return conclude(t, b, first), nil
}

// invariant reports whether the output is claimed not to move.
func invariant(p *audit.Pass) bool {
	_, ok := p.Subject.Plan.Out.(action.Trivial)
	return ok
}

// shifted reports whether some exact element is a whole shift and nothing else.
func shifted(p *audit.Pass) bool {
	planar, ok := p.Subject.Plan.Group.(group.Planar)
	if !ok {
		return false
	}
	for _, e := range p.Elements {
		if a, t := planar.Affine(e.G); e.Exact && a == [2][2]float64{{1, 0}, {0, 1}} && t != [2]float64{} {
			return true
		}
	}
	return false
}

// ofWindow answers for boxes from the sweep, at the shifts that keep the answer best: there the
// grid of the model plays no part.
func ofWindow(t *stress.Test) (any, error) {
	moved, ok := audit.ResultIf[*shifts.Result](t.Pass, shifts.Check)
	if !ok {
		return nil, fmt.Errorf("%w: the check shifts, which moves the window, gave no answer", audit.ErrUntested)
	}
	var by []float64
	var n []int
	for a, edges := range moved.Edges {
		k := moved.Period[a]
		if k == 0 {
			continue // every shift changes boxes, wherever they are
		}
		for s := k - 1; s < len(edges.Sum); s += k {
			for d := range edges.Sum[s] {
				if d >= len(by) {
					by, n = append(by, 0), append(n, 0)
				}
				by[d], n[d] = by[d]+edges.Sum[s][d], n[d]+edges.N[s][d]
			}
		}
	}
	curve := audit.Series{Name: "mean error"}
	var largest float64
	last := -1
	for d := range by {
		if n[d] == 0 {
			continue
		}
		last = d
		e := by[d] / float64(n[d])
		largest = max(largest, e)
		curve.X, curve.Y = append(curve.X, float64(d)), append(curve.Y, e)
	}
	if len(curve.X) < 3 {
		return nil, fmt.Errorf("%w: too few boxes at too few distances from the edges of the window", audit.ErrUntested)
	}
	t.Pass.Show(audit.Exhibit{
		Name: "error-by-distance", Title: "Change of matched boxes over their distance from the edges of the window",
		Note: "1 - IoU·(smaller score)/(larger score), mean over pairs of places of the window apart by multiples of " +
			"the period.",
		Curve: &audit.Curve{
			X: audit.Scale{Name: "distance from an edge", Unit: "px"}, Y: audit.Scale{Name: "change"},
			Limit: math.NaN(), Series: []audit.Series{curve},
		},
	})
	return conclude(t, bandOf(by[:last+1], n[:last+1], t.Floor), largest), nil
}

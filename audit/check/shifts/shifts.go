// Package shifts is the check of whole shifts of the content of pictures.
package shifts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/audit"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/symmetry/action"
)

// Check is the shifts check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "shifts",
	Title: "Shifts by single pixels",
	Doc: `Shifts asks whether the error over whole shifts has a period, as strides make it.

It shifts by 1 to 8 pixels along each axis, whatever the group: a probe, not part of the claim. The content is kept away from the border. An error that
vanishes at every k-th shift and at no other shows strides. Where the study moves a crop window, the window takes all places within its reach along each axis,
whatever the elements of the study; the medians of the change over all pairs of places so far apart show the period, though real content comes in at the edges.
Boxes near an edge of a window are left out, and the period is held against the strides of the graph. Whether boxes go with their content
or keep their place in the window is told by the slope of how far they move over how far the content does: 1 or 0.`,
	Family: stress.Family,
	Params: []audit.Param{
		stress.Samples,
		{Name: "shift", Doc: "Largest shift of the shift sweep.", Unit: "px", Default: 8, Min: 2, Max: 64},
		{
			Name: "window", Doc: "Largest shift of the sweep of a crop window, as far as the pictures have room for " +
				"it.",
			Unit: "px", Default: 64, Min: 4, Max: 256,
		},
	},
	Requires: stress.Requires(),
	Optional: true,
	Run:      run,
	Work:     stress.Work(func(p *audit.Pass) int { return 2 + 2*int(p.Param("shift")) }),
}

// ratio is how many times larger the error at other shifts must be than at the multiples of a period.
const ratio = 10

// Result is what the check came to.
type Result struct {
	stress.Result
	// Period is that of the error over shifts down and across, in pixels: 1 for none, 0 where it is not known.
	Period [2]int
	// Edges are the errors of boxes in a moving window, down and across, for every shift 1, 2, ...; of nothing else.
	Edges [2]Edges
}

// Edges are errors of boxes by their distance from the nearest edge of two windows, in pixels: their sum and number for
// every shift.
type Edges struct {
	Sum [][]float64
	N   [][]int
}

// run sweeps whole shifts of the content of pictures and looks for a period of the error.
func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	if o, ok := action.OptionsOf(p.Subject.Plan.In); ok && len(o.Window) == 2 {
		return ofWindow(ctx, t, o)
	}
	ph, pw, ok := stress.PictureSize(t.Still[0])
	if !ok {
		return nil, fmt.Errorf("%w: the input is no picture", audit.ErrNotApplicable)
	}
	// Content stays that far from the border at every shift, and is at least as wide.
	margin := min(int(p.Param("shift")), min(ph, pw)/4)
	if margin < 2 {
		return nil, fmt.Errorf("%w: a picture of %d×%d pixels leaves no room for shifts", audit.ErrUntested, ph, pw)
	}
	base, err := t.Base(ctx)
	if err != nil {
		return nil, err
	}
	_, _, h, w, isMap := stress.Grid(base[0])
	var stride [2]int // pixels of the input per pixel of the output
	if isMap {
		if h == 0 || w == 0 || ph%h != 0 || pw%w != 0 {
			return nil, fmt.Errorf("%w: an output of %d×%d pixels is no whole fraction of an input of %d×%d",
				audit.ErrUntested, h, w, ph, pw)
		}
		stride = [2]int{ph / h, pw / w}
	}
	boxes := stress.Boxes(base[0])
	var curves [2][]float64 // largest error per shift 1, 2, ...; NaN where the output would move by part of a pixel
	content := false
	for i := range t.Still {
		img := stress.Framed(t.Still[i], margin)
		content = content || t.Size(img) > 0
		values := []space.Value{img}
		for s := 1; s <= margin; s++ {
			values = append(values, stress.Rolled(img, s, 0), stress.Rolled(img, 0, s))
		}
		y, err := t.Predict(ctx, values)
		if err != nil {
			return nil, err
		}
		for s := 1; s <= margin; s++ {
			for a := range 2 {
				e := math.NaN()
				switch v := y[2*s-1+a]; {
				case boxes:
					e = t.Apart(v, shiftedBoxes(y[0], float64(s*(1-a)), float64(s*a)))
				case !isMap:
					e = t.Apart(v, y[0])
				case s%stride[a] == 0:
					by := [2]int{}
					by[a] = s / stride[a]
					e = t.Apart(v, mapRolled(y[0], by[0], by[1]))
				}
				if len(curves[a]) < s {
					curves[a] = append(curves[a], e)
				} else if !(e <= curves[a][s-1]) {
					curves[a][s-1] = e
				}
			}
		}
	}
	if !content {
		return nil, fmt.Errorf("%w: the pictures are blank away from their border", audit.ErrUntested)
	}
	for _, k := range strides(ctx, p, t.Still[0]) {
		if max(k[0], k[1]) > margin && boxes {
			return nil, fmt.Errorf("%w: the graph has a stride of %s px, which shifts up to %d px cannot show; let a "+
				"crop window move over larger pictures, or say --set shifts.shift=%d", audit.ErrUntested,
				periods(k[0], k[1]), margin, 2*max(k[0], k[1]))
		}
	}
	return conclude(t, curves)
}

// mapRolled is a map moved down and to the right, around the border.
func mapRolled(v space.Value, down, right int) space.Value {
	if v, ok := v.(*space.Mask); ok {
		o := &space.Mask{H: v.H, W: v.W, Label: make([]int32, len(v.Label))}
		for r := range v.H {
			for c := range v.W {
				o.Label[((r+down)%v.H+v.H)%v.H*v.W+((c+right)%v.W+v.W)%v.W] = v.Label[r*v.W+c]
			}
		}
		return o
	}
	if c, h, w := space.Grid(v); h > 0 { // vectors stay as they are where places shift
		y := stress.RolledImage(&space.Image{C: c, H: h, W: w, Pix: v.Numbers()}, down, right)
		if o, err := v.With(y.Pix); err == nil {
			return o
		}
	}
	return v
}

// shiftedBoxes are boxes moved down and to the right, in pixels.
func shiftedBoxes(v space.Value, down, right float64) space.Value {
	b, ok := v.(*space.Boxes)
	if !ok {
		return v
	}
	o := &space.Boxes{H: b.H, W: b.W, Items: slices.Clone(b.Items)}
	for i := range o.Items {
		x := &o.Items[i]
		x.X1, x.X2, x.Y1, x.Y2 = x.X1+right, x.X2+right, x.Y1+down, x.Y2+down
	}
	return o
}

// Period of an error over the shifts 1, 2, ..., up to which an error counts as none: 1 if there is no error, k if it
// vanishes at every multiple of k and nowhere else, or is ten times smaller there than elsewhere; 0 if it has none.
// Vanishes says that it vanishes. Shifts without an error, NaN, are left out. A period needs one multiple and one other
// shift at least.
func Period(e []float64, floor float64) (k int, vanishes bool) {
	least, most := math.Inf(1), 0.0
	n := 0
	for _, x := range e {
		if math.IsNaN(x) {
			continue
		}
		n++
		least, most = min(least, x), max(most, x)
	}
	switch {
	case n == 0:
		return 0, false
	case most <= floor:
		return 1, true
	}
	// One at which the error vanishes goes before one at which it is small.
	for _, exactly := range []bool{true, false} {
		for k := 2; k <= len(e); k++ {
			on, off := 0.0, math.Inf(1)
			hits, others := 0, 0
			for i, x := range e {
				switch {
				case math.IsNaN(x):
				case (i+1)%k == 0:
					on, hits = max(on, x), hits+1
				default:
					off, others = min(off, x), others+1
				}
			}
			if hits > 0 && others > 0 && off > max(floor, ratio*on) && (on <= floor || !exactly) {
				return k, on <= floor
			}
		}
	}
	return 0, false
}

// conclude reports the period of the error over shifts down and to the right.
func conclude(t *stress.Test, e [2][]float64) (any, error) {
	p, r := t.Pass, &Result{}
	limit := max(t.Floor, p.Policy.Threshold/ratio)
	var series []audit.Series
	var vanishes [2]bool
	most := 0.0
	for a, name := range []string{"down", "right"} {
		s := audit.Series{Name: name, Marks: true}
		for i, x := range e[a] {
			if !math.IsNaN(x) {
				s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, x)
				most = max(most, x)
			}
		}
		series = append(series, s)
		r.Period[a], vanishes[a] = Period(e[a], limit)
	}
	p.Show(audit.Exhibit{
		Name: "shift-sweep", Title: "Error over whole shifts of the content",
		Note: "A probe, not part of the claim. An error that falls at every k-th shift shows strides that multiply " +
			"to k.",
		Curve: &audit.Curve{
			X: audit.Scale{Name: "shift", Unit: "px"}, Y: audit.Scale{Name: "error", Log: true},
			Limit: math.NaN(), Series: series,
		},
	})
	down, right := r.Period[0], r.Period[1]
	r.Result = stress.Result{Answer: stress.Measured, Error: most, Limit: math.NaN()}
	q := &r.Result
	ev := []audit.Evidence{
		audit.Number("period down", float64(down), "px"),
		audit.Number("period right", float64(right), "px"), audit.Number("largest error of a shift", most, ""),
	}
	clue := audit.Clue{Name: audit.ClueStridePattern, Strength: 0.8, Evidence: ev}
	known := len(series[0].X)+len(series[1].X) > 0
	switch {
	case !known:
		return nil, fmt.Errorf("%w: no shift up to the largest moves the output by whole pixels", audit.ErrUntested)
	case down > 1 || right > 1:
		clue.Holds = true
		if (down <= 1 || vanishes[0]) && (right <= 1 || vanishes[1]) {
			clue.Strength = 1
		}
		q.Text = fmt.Sprintf("the error over shifts has the period %s px", periods(down, right))
		clue.Location = "shifts, period " + periods(down, right)
	case down == 1 && right == 1:
		q.Text = fmt.Sprintf("no whole shift up to %d px changes the answer", max(len(e[0]), len(e[1])))
	default:
		q.Text = fmt.Sprintf("every shift changes the answer, by up to %.2g; there is no period", most)
	}
	clue.Text = q.Text
	p.Measure(ev...)
	p.Clue(clue)
	q.Show(p)
	return r, nil
}

// periods writes the periods of both axes.
func periods(down, right int) string {
	if down == right {
		return strconv.Itoa(down)
	}
	one := func(k int) string {
		if k == 0 {
			return "none"
		}
		return strconv.Itoa(k)
	}
	return one(down) + " down, " + one(right) + " right"
}

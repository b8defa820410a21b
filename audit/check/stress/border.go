package stress

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// grid is a value as planes of pixels.
func grid(v space.Value) (x []float64, c, h, w int, ok bool) {
	switch v := v.(type) {
	case *space.Image:
		return v.Pix, v.C, v.H, v.W, true
	case *space.Mask:
		x = make([]float64, len(v.Label))
		for i, l := range v.Label {
			x[i] = float64(l)
		}
		return x, 1, v.H, v.W, true
	case *space.Field:
		return v.Val, 2, v.H, v.W, true
	case *space.Tensor:
		if n := len(v.Shape); n == 3 {
			return v.Val, v.Shape[0], v.Shape[1], v.Shape[2], true
		}
	}
	return nil, 0, 0, 0, false
}

// pixelError is the error of each pixel of a map: the Euclidean norm over the channels, for masks whether the label
// differs.
func pixelError(z, f space.Value) []float64 {
	a, c, h, w, ok := grid(z)
	b, _, _, _, same := grid(f)
	if !ok || !same || len(a) != len(b) {
		return nil
	}
	_, mask := z.(*space.Mask)
	out := make([]float64, h*w)
	for k := range c {
		for i := range out {
			d := a[k*h*w+i] - b[k*h*w+i]
			if mask && d != 0 {
				d = 1
			}
			out[i] += d * d
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
				q, p := int(math.Round(a[0][0]*x+a[0][1]*y+t[0]+cx)), int(math.Round(a[1][0]*x+a[1][1]*y+t[1]+cy))
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

// askBorder looks where on the output the error lies.
func (t *tester) askBorder(ctx context.Context) error {
	if len(t.exact) == 0 {
		t.skip(Border, "no element but the identity acts without resampling")
		return nil
	}
	if _, boxes := t.base[0].(*space.Boxes); boxes {
		if o, ok := action.OptionsOf(t.p.Subject.Plan.In); ok && len(o.Window) == 2 {
			return nil // the sweep of the window answers
		}
	}
	_, _, h, w, ok := grid(t.base[0])
	if !ok || h < 4 || w < 4 {
		return t.askMargins(ctx)
	}
	p := t.p
	G, in, out := p.Subject.Plan.Group, p.Subject.Plan.In, p.Subject.Plan.Out
	if _, still := out.(action.Trivial); still {
		t.skip(Border, "the output is a map that is declared not to move")
		return nil
	}
	sum, hits := make([]float64, h*w), make([]int, h*w)
	by, n := make([]float64, min(h, w)), make([]int, min(h, w))
	var largest float64
	for _, j := range t.exact {
		e := p.Elements[j]
		dist := Distances(outGroup(out, G), e.G, h, w)
		var values []space.Value
		for i, x := range t.raw {
			gx, err := in.Apply(e.G, x)
			if err != nil {
				return fmt.Errorf("sample %s at %s: %w", t.ids[i], e.Label, err)
			}
			values = append(values, gx)
		}
		y, err := t.predict(ctx, values)
		if err != nil {
			return err
		}
		for i := range y {
			z, err := out.Apply(G.Inv(e.G), y[i])
			if err != nil {
				return fmt.Errorf("sample %s at %s: output: %w", t.ids[i], e.Label, err)
			}
			for k, d := range pixelError(z, t.base[i]) {
				if dist[k] < 0 || math.IsNaN(d) || math.IsInf(d, 0) {
					continue
				}
				d /= t.scale
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
	t.concludeBorder(bandOf(by, n, t.floor), largest)
	return nil
}

// outGroup is the group that moves an output.
func outGroup(out action.Action, otherwise group.Group) group.Group {
	if g := out.Group(); g != nil {
		return g
	}
	return otherwise
}

// concludeBorder says whether the error is a band. An error at the floor lies nowhere.
func (t *tester) concludeBorder(b band, largest float64) {
	p := t.p
	q := Question{Name: Border, Answer: Measured, Error: largest, Limit: math.NaN()}
	clue := audit.Clue{Name: audit.ClueEdgeBand, Strength: 0.9}
	ev := []audit.Evidence{
		audit.Number("width of the band", float64(b.width), "px"),
		audit.Number("mean error inside the band", b.inside, ""), audit.Number("mean error elsewhere", b.outside, ""),
	}
	switch {
	case !(largest > t.floor):
		q.Answer, q.Text = Holds, "there is no error to place"
		clue.Text, clue.Evidence = "no error at the border: it is at the floor everywhere", ev[2:]
	case b.width > 0:
		t.r.Band = b.width
		q.Answer = Broken
		q.Text = fmt.Sprintf("the error lies in a band of %d pixels along the border, %.2g there and %.2g elsewhere",
			b.width, b.inside, b.outside)
		clue.Holds, clue.Text, clue.Evidence = true, q.Text, ev
		clue.Location = fmt.Sprintf("border, %d pixels", b.width)
		if !(b.outside > t.floor) {
			clue.Strength = 1
		}
		p.Measure(ev...)
	default:
		q.Text = fmt.Sprintf("the error is %.2g on the mean and not that of a band along the border", b.outside)
		clue.Text, clue.Evidence = q.Text, ev[2:]
	}
	p.Clue(clue)
	t.answer(q)
}

// askMargins asks the same of an output without places: is there an error when content is kept away from the border? It
// needs whole shifts among the elements, and moves the content itself so that none is lost.
func (t *tester) askMargins(ctx context.Context) error {
	h, w, ok := pictureSize(t.still[0])
	if !ok || audit.Form(t.raw[0]) != audit.Form(t.still[0]) {
		t.skip(Border, "neither input nor output is a map of the sample's size")
		return nil
	}
	if !shifts(t.p) {
		t.skip(Border, "the output has no places, and no element is a whole shift")
		return nil
	}
	if !t.invariant() {
		t.skip(Border, "the output has no places and is not declared invariant")
		return nil
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
		t.skip(Border, "the picture is too small to keep content away from its border")
		return nil
	}
	series := audit.Series{Name: "error"}
	width, first, last := 0, 0.0, 0.0
	for _, m := range margins {
		var most float64
		for _, v := range t.still {
			img := framed(v, m+step)
			y, err := t.predict(ctx, []space.Value{img, rolledAll(img, step, 0), rolledAll(img, 0, step)})
			if err != nil {
				return err
			}
			for _, z := range y[1:] {
				if e := t.apart(z, y[0]); !(e <= most) {
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
	t.p.Show(audit.Exhibit{
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
	t.concludeBorder(b, first)
	return nil
}

// invariant reports whether the output is claimed not to move.
func (t *tester) invariant() bool {
	_, ok := t.p.Subject.Plan.Out.(action.Trivial)
	return ok
}

// shifts reports whether some exact element is a whole shift and nothing else.
func shifts(p *audit.Pass) bool {
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

// pictures changes the picture that an input is, or every frame of it; nil for other values.
func pictures(v space.Value, f func(x *space.Image) *space.Image) space.Value {
	switch v := v.(type) {
	case *space.Image:
		return f(v)
	case *space.Frames:
		o := &space.Frames{}
		for _, m := range v.Images {
			o.Images = append(o.Images, f(m))
		}
		return o
	}
	return nil
}

// pictureSize is that of a picture, or of the first of several frames.
func pictureSize(v space.Value) (h, w int, ok bool) {
	switch v := v.(type) {
	case *space.Image:
		return v.H, v.W, true
	case *space.Frames:
		if len(v.Images) > 0 {
			return v.Images[0].H, v.Images[0].W, true
		}
	}
	return 0, 0, false
}

// framed is a picture, or each frame, with everything within m pixels of the border blanked.
func framed(v space.Value, m int) space.Value {
	return pictures(v, func(x *space.Image) *space.Image {
		y := space.NewImage(x.C, x.H, x.W)
		for k := range x.C {
			from, to := x.Plane(k), y.Plane(k)
			for r := m; r < x.H-m; r++ {
				copy(to[r*x.W+m:(r+1)*x.W-m], from[r*x.W+m:(r+1)*x.W-m])
			}
		}
		return y
	})
}

// rolledAll is a picture, or each frame, moved down and to the right, around the border.
func rolledAll(v space.Value, down, right int) space.Value {
	return pictures(v, func(x *space.Image) *space.Image { return rolled(x, down, right) })
}

// rolled is a picture moved down and to the right, around the border.
func rolled(x *space.Image, down, right int) *space.Image {
	y := space.NewImage(x.C, x.H, x.W)
	for k := range x.C {
		from, to := x.Plane(k), y.Plane(k)
		for r := range x.H {
			rr := ((r+down)%x.H + x.H) % x.H
			for c := range x.W {
				to[rr*x.W+((c+right)%x.W+x.W)%x.W] = from[r*x.W+c]
			}
		}
	}
	return y
}

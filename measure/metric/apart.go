package metric

import (
	"math"

	"nero/data/space"
	"nero/internal/elementary"
)

// Edge is how near to the edge of a window, in pixels, a box counts as cut by it: what is beyond is not known, and
// detectors end such boxes a little inside or outside.
const Edge = 2

// Apart is how far two sets of boxes in one frame are apart.
type Apart struct {
	// Distance is 0 for equal sets and 1 where nothing matches: 1 - Σ min(s,t)·IoU / (Σ max(s,t) + Σ u) over matched
	// pairs with scores s and t and over unmatched boxes with score u, a weighted Jaccard distance. It is 0 for two
	// empty sets, and NaN where a number is not finite.
	Distance float64
	// Matched pairs, boxes of the first set that the second lacks, and of the second that the first lacks.
	Matched, Extra, Missed int
	// Pairs are the matched pairs, as indices into both sets.
	Pairs [][2]int
	// Left are the boxes that were left out because the other set's window cut them or did not see them.
	Left int
	// Center is the mean distance of the centres of matched pairs in pixels, Size half of the mean |ln| of the ratio of
	// their areas, Score the mean difference of their scores, first less second; NaN without pairs.
	Center, Size, Score float64
	// Lost is the sum of the scores of the boxes of the second set that the first lacks.
	Lost float64
}

// Between compares two sets of boxes. Boxes of one class are matched so that the sum of IoU is largest. Where a set
// says what its window saw ([space.Boxes].Seen), only what both windows saw counts: a box that is not wholly inside
// both, or within 2 px of their edges, is left out with its partner.
func Between(a, b *space.Boxes) Apart {
	nan := math.NaN()
	none := Apart{Distance: nan, Center: nan, Size: nan, Score: nan}
	if _, ok := finite(a); !ok {
		return none
	}
	if _, ok := finite(b); !ok {
		return none
	}
	windowed := a.Seen != nil || b.Seen != nil
	inside := func(x space.Box) bool {
		return !windowed || !x.Cut && Within(x, window(a)) && Within(x, window(b))
	}
	gain := make([][]float64, len(a.Items))
	for i, x := range a.Items {
		gain[i] = make([]float64, len(b.Items))
		for j, y := range b.Items {
			if agree(x, y) {
				gain[i][j] = alike(x, y)
			}
		}
	}
	d := Apart{Center: nan, Size: nan, Score: nan}
	var same, all, center, size, score float64
	taken := make([]bool, len(b.Items))
	for i, j := range assign(gain) {
		x := a.Items[i]
		if j < 0 {
			if !inside(x) {
				d.Left++
				continue
			}
			d.Extra++
			all += x.Score
			continue
		}
		y := b.Items[j]
		taken[j] = true
		if !inside(x) || !inside(y) {
			d.Left += 2
			continue
		}
		d.Matched++
		d.Pairs = append(d.Pairs, [2]int{i, j})
		same += float64(min(x.Score, y.Score) * gain[i][j])
		all += max(x.Score, y.Score)
		ax, ay := x.Center()
		bx, by := y.Center()
		center += elementary.Hypot(ax-bx, ay-by)
		size += math.Abs(elementary.Log(x.Area()/y.Area())) / 2
		score += x.Score - y.Score
	}
	for j, y := range b.Items {
		switch {
		case taken[j]:
		case !inside(y):
			d.Left++
		default:
			d.Missed++
			d.Lost += y.Score
			all += y.Score
		}
	}
	if all > 0 {
		d.Distance = max(0, 1-same/all)
	}
	if n := float64(d.Matched); n > 0 {
		d.Center, d.Size, d.Score = center/n, size/n, score/n
	}
	return d
}

// alike is the IoU of two boxes, of inverted ones that of the rectangles between their corners; 1 for boxes that are
// equal, also where they have no area: a model that repeats a senseless box still repeats it.
func alike(x, y space.Box) float64 {
	if x.X1 == y.X1 && x.Y1 == y.Y1 && x.X2 == y.X2 && x.Y2 == y.Y2 && x.Angle == y.Angle {
		return 1
	}
	for _, b := range []*space.Box{&x, &y} {
		b.X1, b.X2 = min(b.X1, b.X2), max(b.X1, b.X2)
		b.Y1, b.Y2 = min(b.Y1, b.Y2), max(b.Y1, b.Y2)
	}
	return IoU(x, y)
}

// window is what a set of boxes knows of.
func window(b *space.Boxes) space.Box {
	if b.Seen != nil {
		return *b.Seen
	}
	return space.Box{X2: b.W, Y2: b.H}
}

// Within reports whether a box lies inside a window and clear of its edge, by [Edge]. Either may be turned.
func Within(x, w space.Box) bool {
	if x.Angle == 0 && w.Angle == 0 {
		x1, x2 := min(x.X1, x.X2), max(x.X1, x.X2)
		y1, y2 := min(x.Y1, x.Y2), max(x.Y1, x.Y2)
		return x1 >= w.X1+Edge && y1 >= w.Y1+Edge && x2 <= w.X2-Edge && y2 <= w.Y2-Edge
	}
	cx, cy := w.Center()
	sin, cos := elementary.Sincos(w.Angle * (math.Pi / 180))
	for _, p := range corners(x) {
		// Along the sides of the window, whose directions are (cos, -sin) and (sin, cos) with y down.
		dx, dy := p.x-cx, p.y-cy
		u, v := float64(cos*dx)-float64(sin*dy), float64(sin*dx)+float64(cos*dy)
		if !(math.Abs(u) <= (w.X2-w.X1)/2-Edge && math.Abs(v) <= (w.Y2-w.Y1)/2-Edge) {
			return false
		}
	}
	return true
}

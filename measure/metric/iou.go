package metric

import (
	"math"

	"nero/data/space"
	"nero/internal/elementary"
)

// IoU is the area that two boxes share over the area that either covers, from 0 to 1: continuous coordinates, no "+1".
// A box that is empty or turned inside out has no area and shares none; the IoU of two such boxes is 0/0, NaN, as is
// that of a box with a NaN.
//
// Boxes with an Angle are compared as the turned rectangles that they are, by clipping one polygon with the other
// (Sutherland and Hodgman, Communications of the ACM 17, 1974).
func IoU(a, b space.Box) float64 {
	sa, sb := a.Area(), b.Area()
	if math.IsNaN(a.Angle + b.Angle) {
		return math.NaN() // a NaN elsewhere stays one by itself
	}
	both := shared(a, b)
	return both / (sa + sb - both)
}

// shared is the area that two boxes share.
func shared(a, b space.Box) float64 {
	if a.Angle == 0 && b.Angle == 0 {
		w, h := min(a.X2, b.X2)-max(a.X1, b.X1), min(a.Y2, b.Y2)-max(a.Y1, b.Y1)
		if w <= 0 || h <= 0 || a.Area() == 0 || b.Area() == 0 {
			return 0
		}
		return w * h
	}
	sa, sb := a.Area(), b.Area()
	if sa == 0 || sb == 0 {
		return 0
	}
	p, q := corners(a), corners(b)
	// Rectangles whose circles do not meet share nothing.
	ax, ay := a.Center()
	bx, by := b.Center()
	if elementary.Hypot(ax-bx, ay-by) >= (elementary.Hypot(a.X2-a.X1, a.Y2-a.Y1)+
		elementary.Hypot(b.X2-b.X1, b.Y2-b.Y1))/2 {
		return 0
	}
	poly := p[:]
	for i := range q {
		if poly = clip(poly, q[i], q[(i+1)%4]); len(poly) == 0 {
			return 0
		}
	}
	// A common area is at most that of the smaller; rounding may say more by a few parts in 2^53.
	return min(surface(poly), sa, sb)
}

type point struct{ x, y float64 }

// corners are those of a box that is turned by its angle, counter-clockwise as displayed, about its centre. With y down
// they come in the order that is clockwise as displayed, which makes the signed area of [surface] positive.
func corners(b space.Box) [4]point {
	cx, cy := b.Center()
	w, h := (b.X2-b.X1)/2, (b.Y2-b.Y1)/2
	s, c := elementary.Sincos(b.Angle * (math.Pi / 180))
	at := func(x, y float64) point {
		return point{cx + float64(c*x) + float64(s*y), cy - float64(s*x) + float64(c*y)}
	}
	return [4]point{at(-w, -h), at(w, -h), at(w, h), at(-w, h)}
}

// clip keeps the part of a convex polygon that lies on the inner side of the line from p to q.
func clip(poly []point, p, q point) []point {
	side := func(r point) float64 { return float64((q.x-p.x)*(r.y-p.y)) - float64((q.y-p.y)*(r.x-p.x)) }
	out := make([]point, 0, len(poly)+1)
	for i, r := range poly {
		next := poly[(i+1)%len(poly)]
		d, e := side(r), side(next)
		if d >= 0 {
			out = append(out, r)
		}
		if d > 0 && e < 0 || d < 0 && e > 0 {
			t := d / (d - e)
			out = append(out, point{r.x + float64(t*(next.x-r.x)), r.y + float64(t*(next.y-r.y))})
		}
	}
	return out
}

// surface is the area of a polygon by the shoelace formula, relative to its first corner, so that a shift of all costs
// no digits.
func surface(poly []point) float64 {
	sum := 0.0
	for i := 1; i+1 < len(poly); i++ {
		a, b := poly[i], poly[i+1]
		sum += float64((a.x-poly[0].x)*(b.y-poly[0].y)) - float64((a.y-poly[0].y)*(b.x-poly[0].x))
	}
	return math.Abs(sum) / 2
}

// SolidIoU is the volume that two upright boxes in space share over the volume that either covers, from 0 to 1. A box
// is x, y, z of its centre, length along its yaw, width, height, and the yaw in radians from x to y. It is NaN for 0/0
// and for a NaN.
func SolidIoU(a, b [7]float64) float64 {
	ground := func(s [7]float64) space.Box {
		l, w := max(s[3], 0), max(s[4], 0)
		// y points up here
		return space.Box{X1: s[0] - l/2, X2: s[0] + l/2, Y1: s[1] - w/2, Y2: s[1] + w/2, Angle: -s[6] * (180 / math.Pi)}
	}
	for k := range a {
		if math.IsNaN(a[k]+b[k]) || math.IsInf(a[k], 0) || math.IsInf(b[k], 0) {
			return math.NaN()
		}
	}
	p, q := ground(a), ground(b)
	ha, hb := max(a[5], 0), max(b[5], 0)
	tall := min(a[2]+ha/2, b[2]+hb/2) - max(a[2]-ha/2, b[2]-hb/2)
	both := float64(shared(p, q) * max(tall, 0))
	return both / (float64(p.Area()*ha) + float64(q.Area()*hb) - both)
}

// solids is the mean of [SolidIoU], and of [BlockIoU] where boxes have their whole orientation; NaN for rows that are
// no boxes.
func (d diff) solids() float64 {
	sum := 0.0
	for i := range d.n {
		a, b := d.row(i)
		if d.w == 7 {
			sum += SolidIoU([7]float64(a), [7]float64(b))
			continue
		}
		sum += BlockIoU(a, b)
	}
	return sum / float64(d.n)
}

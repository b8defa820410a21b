package builtin

import (
	"math"

	"nero/internal/elementary"
)

// plane holds a score for every whole displacement up to a reach along either axis, row by row. NaN is none.
type plane struct {
	reach  int
	scores []float64
}

func newPlane(reach int) *plane {
	n := 2*reach + 1
	p := &plane{reach, make([]float64, n*n)}
	return p
}

func (p *plane) at(dx, dy int) float64 {
	if max(dx, -dx) > p.reach || max(dy, -dy) > p.reach {
		return math.NaN()
	}
	return p.scores[(dy+p.reach)*(2*p.reach+1)+dx+p.reach]
}

func (p *plane) set(dx, dy int, v float64) { p.scores[(dy+p.reach)*(2*p.reach+1)+dx+p.reach] = v }

// vector is a displacement in px; one that is not sure stands where nothing could be told.
type vector struct {
	u, v float64
	sure bool
}

// fit finds the top between three neighbouring scores, of which the middle one is the highest: its distance from the
// middle. It is odd in its outer arguments, to the last bit.
type fit func(before, middle, after float64) float64

// perfect is a score of pictures that are equal: their displacement is whole, and nothing is fitted.
const perfect = 1 - 1e-9

// best is the displacement of the highest score, to a fraction of a pixel. Of several that are equally high the nearest
// to none is taken; if there are still several, it is their mean, and not sure: no direction is preferred, so the
// answer moves with the pictures.
func (p *plane) best(f fit) vector {
	top, near, n := math.Inf(-1), 0, 0
	var x, y, sx, sy int
	for dy := -p.reach; dy <= p.reach; dy++ {
		for dx := -p.reach; dx <= p.reach; dx++ {
			v, d := p.at(dx, dy), dx*dx+dy*dy
			switch {
			case !(v >= top):
			case v > top || d < near:
				top, near, n = v, d, 1
				x, y, sx, sy = dx, dy, dx, dy
			case d == near:
				n, sx, sy = n+1, sx+dx, sy+dy
			}
		}
	}
	if n != 1 {
		if n == 0 {
			return vector{}
		}
		return vector{u: float64(sx) / float64(n), v: float64(sy) / float64(n)}
	}
	along := func(before, after float64) float64 {
		if math.IsNaN(before) || math.IsNaN(after) {
			return 0
		}
		d := f(before, top, after)
		if !(math.Abs(d) <= 0.5) { // the middle is not the highest of three by a rounding
			return math.Copysign(0.5, d)
		}
		return d
	}
	if top >= perfect {
		f = func(_, _, _ float64) float64 { return 0 }
	}
	inside := max(x, -x) < p.reach && max(y, -y) < p.reach // else the top may lie beyond
	return vector{
		u:    float64(x) + along(p.at(x-1, y), p.at(x+1, y)),
		v:    float64(y) + along(p.at(x, y-1), p.at(x, y+1)),
		sure: inside,
	}
}

// parabola fits a parabola through three scores.
func parabola(before, middle, after float64) float64 {
	down := (before + after) - 2*middle
	if !(down < 0) {
		return 0
	}
	return (before - after) / (2 * down)
}

// gaussian fits a Gaussian, which is a parabola through the logarithms (Willert and Gharib 1991, Raffel et al. 2018,
// table 5.1); where one is not above 0, a parabola.
func gaussian(before, middle, after float64) float64 {
	if !(before > 0 && middle > 0 && after > 0) {
		return parabola(before, middle, after)
	}
	return parabola(elementary.Log(before), elementary.Log(middle), elementary.Log(after))
}

package feature

import (
	"errors"
	"fmt"

	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Flow is an infinitesimal motion of the plane: the velocity L·p + B of the point p, in pixels of the input from its
// centre, x to the right and y down.
type Flow struct {
	Name string
	// of the time: "rad", "px", "log-factor", or "" if it has none
	Unit string
	L    [2][2]float64
	B    [2]float64
}

// Flows are the infinitesimal motions of a group: those of its Lie algebra, or those of the smallest connected group
// that holds its elements. Quarter turns lie in the rotations and whole shifts in the shifts, so a finite group has
// derivatives as well. There are none for groups that do not act on the plane, and for those without a connected group
// around them.
func Flows(g group.Group) []Flow {
	p, ok := g.(group.Planar)
	if !ok {
		return nil
	}
	if l, ok := g.(group.Lie); ok {
		return lieFlows(l, p)
	}
	turn := Flow{Name: "rotation", Unit: "rad", L: [2][2]float64{{0, 1}, {-1, 0}}}
	shifts := []Flow{
		{Name: "shift x", Unit: "px", B: [2]float64{1, 0}},
		{Name: "shift y", Unit: "px", B: [2]float64{0, 1}},
	}
	var out []Flow
	turns, px := false, false
	for _, a := range g.Chart() {
		turns = turns || a.Circle()
		px = px || a.Form() == group.FormPixels
	}
	if f, ok := g.(group.Finite); ok && turns && len(f.Elements()) < 3 {
		turns = false // nothing but the identity and one other element, which may be a mirror
	}
	if turns {
		out = append(out, turn)
	}
	if px {
		out = append(out, shifts...)
	}
	return out
}

// lieFlows differentiates the maps of one-parameter subgroups: central differences, whose error is that of the third
// power of the step.
func lieFlows(l group.Lie, p group.Planar) []Flow {
	const h = 1e-4
	var out []Flow
	for i, x := range l.Generators() {
		t := make([]float64, len(l.Generators()))
		t[i] = h
		a, b := p.Affine(l.Exp(t))
		t[i] = -h
		c, d := p.Affine(l.Exp(t))
		f := Flow{Name: x.Name, Unit: x.Unit}
		for j := range 2 {
			for k := range 2 {
				f.L[j][k] = (a[j][k] - c[j][k]) / (2 * h)
			}
			f.B[j] = (b[j] - d[j]) / (2 * h)
		}
		out = append(out, f)
	}
	return out
}

// Smooth tells whether there is a [Rep.Derivative].
func (r *Rep) Smooth() bool { return r.given == nil }

// Derivative is dρ(X)x, the change of ρ(exp tX)x with t at t = 0, per unit of t. On a grid it is -∇F·(L·p + B) with the
// central differences (F(i+1) - F(i-1))/2 along each axis, which are those of the bilinear kernel, and the border rule
// of the frame. Channels stay, also where the elements of a finite group permute them: a permutation has no derivative.
// It is linear in x, and zero where nothing has a place. The error says that an action of the user has no derivative
// here.
func (r *Rep) Derivative(x Flow, v []float64) ([]float64, error) {
	if n := count(r.shape); len(v) != n {
		return nil, fmt.Errorf("%d numbers for a value of shape %v", len(v), r.shape)
	}
	if r.given != nil {
		return nil, errors.New("an action that the user gave has no derivative here; differentiate it along the group")
	}
	out := make([]float64, len(v))
	for i := range r.parts {
		p := &r.parts[i]
		if !p.moves() {
			continue
		}
		y := p.gather(v)
		sum := make([]float64, len(y))
		for k, grid := range p.Grids {
			d, err := p.planes(y, k, func(to, from []float64) error {
				stencil(to, from, grid, x, r.frame.border)
				return nil
			})
			if err != nil {
				return nil, err
			}
			for j, a := range d {
				sum[j] += a
			}
		}
		p.scatter(out, sum)
	}
	return out, nil
}

// stencil is the derivative of one plane.
func stencil(to, from []float64, g Grid, x Flow, border action.Border) {
	at := func(row, col int) float64 {
		if row = beyond(row, g.H, border); row < 0 {
			return 0
		}
		if col = beyond(col, g.W, border); col < 0 {
			return 0
		}
		return from[row*g.W+col]
	}
	cx, cy := float64(g.W-1)/2, float64(g.H-1)/2
	for row := range g.H {
		for col := range g.W {
			px, py := (float64(col)-cx)*g.Stride[0], (float64(row)-cy)*g.Stride[1]
			vx := (float64(x.L[0][0]*px) + float64(x.L[0][1]*py) + x.B[0]) / g.Stride[0]
			vy := (float64(x.L[1][0]*px) + float64(x.L[1][1]*py) + x.B[1]) / g.Stride[1]
			dx := (at(row, col+1) - at(row, col-1)) / 2
			dy := (at(row+1, col) - at(row-1, col)) / 2
			to[row*g.W+col] = -(float64(vx*dx) + float64(vy*dy))
		}
	}
}

// beyond is the place that a border rule reads for the place i of n, which is at most one beyond the ends; -1 for zero.
func beyond(i, n int, border action.Border) int {
	if 0 <= i && i < n {
		return i
	}
	switch border {
	case action.Edge:
		return min(max(i, 0), n-1)
	case action.Reflect:
		if n == 1 {
			return 0
		}
		if i < 0 {
			return -i
		}
		return 2*(n-1) - i
	case action.Circular:
		return (i + n) % n
	case action.Zero:
	}
	return -1
}

package action_test

import (
	"math"
	"math/rand/v2"

	"nero/symmetry/group"
)

// plane is a small group of the plane for tests: angle in degrees (counter-clockwise as displayed), mirror (horizontal,
// acting first), dx, dy, scale. It composes through its maps, independently of package group.
type plane struct{}

func (plane) Name() string { return "plane" }

func (plane) Chart() []group.Axis {
	return []group.Axis{
		{Name: "angle", Unit: "deg", Max: 360, Periodic: true},
		{Name: "mirror", Max: 1},
		{Name: "dx", Unit: "px", Min: math.Inf(-1), Max: math.Inf(1)},
		{Name: "dy", Unit: "px", Min: math.Inf(-1), Max: math.Inf(1)},
		{Name: "scale", Unit: "factor", Min: 0, Max: math.Inf(1)},
	}
}

func (plane) Identity() group.Element { return group.Element{0, 0, 0, 0, 1} }

func cosSin(deg float64) (c, s float64) {
	switch deg = math.Mod(math.Mod(deg, 360)+360, 360); deg {
	case 0:
		return 1, 0
	case 90:
		return 0, 1
	case 180:
		return -1, 0
	case 270:
		return 0, -1
	}
	s, c = math.Sincos(deg * math.Pi / 180)
	return c, s
}

func (plane) Affine(g group.Element) (a [2][2]float64, t [2]float64) {
	c, s := cosSin(g[0])
	m := 1 - 2*g[1]
	k := g[4]
	return [2][2]float64{{k * m * c, k * s}, {-k * m * s, k * c}}, [2]float64{g[2], g[3]}
}

func (p plane) Mul(g, h group.Element) group.Element {
	a, t := p.Affine(g)
	sign := 1 - 2*g[1]
	o := group.Element{g[0] + sign*h[0], math.Mod(g[1]+h[1], 2), 0, 0, g[4] * h[4]}
	// R(α) M^a R(β) M^b: M R(β) = R(-β) M.
	o[0] = math.Mod(math.Mod(o[0], 360)+360, 360)
	o[2] = a[0][0]*h[2] + a[0][1]*h[3] + t[0]
	o[3] = a[1][0]*h[2] + a[1][1]*h[3] + t[1]
	return o
}

func (p plane) Inv(g group.Element) group.Element {
	ang := -g[0]
	if g[1] == 1 {
		ang = g[0]
	}
	o := group.Element{math.Mod(math.Mod(ang, 360)+360, 360), g[1], 0, 0, 1 / g[4]}
	a, _ := p.Affine(o)
	o[2] = -(a[0][0]*g[2] + a[0][1]*g[3])
	o[3] = -(a[1][0]*g[2] + a[1][1]*g[3])
	return o
}

func (p plane) Dist(g, h group.Element) float64 {
	a, t := p.Affine(g)
	b, u := p.Affine(h)
	d := math.Hypot(t[0]-u[0], t[1]-u[1])
	for i := range a {
		for j := range a[i] {
			d += math.Abs(a[i][j] - b[i][j])
		}
	}
	return d
}

// d4 is the finite subgroup of quarter turns and mirrors.
type d4 struct{ plane }

func (d4) Name() string { return "D4" }

func (d4) Elements() []group.Element {
	var o []group.Element
	for m := range 2 {
		for a := range 4 {
			o = append(o, group.Element{90 * float64(a), float64(m), 0, 0, 1})
		}
	}
	return o
}

func rot(deg float64) group.Element            { return group.Element{deg, 0, 0, 0, 1} }
func shift(dx, dy float64) group.Element       { return group.Element{0, 0, dx, dy, 1} }
func element(a, m, x, y float64) group.Element { return group.Element{a, m, x, y, 1} }

func noise(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	o := make([]float64, n)
	for i := range o {
		o[i] = r.NormFloat64()
	}
	return o
}

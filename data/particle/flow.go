package particle

import (
	"math"

	"nero/data/space"
	"nero/internal/elementary"
)

// Flow is a displacement field that is known at every point of the plane.
type Flow interface {
	// At is the displacement (u, v), in px a pair, at the point (x, y), in px from the middle of the picture.
	At(x, y float64) (u, v float64)
}

// Uniform is the same displacement everywhere.
type Uniform struct{ U, V float64 }

// At is (U, V).
func (f Uniform) At(_, _ float64) (u, v float64) { return f.U, f.V }

// Vortex is a Lamb–Oseen vortex: at the distance r from its middle the fluid turns with the speed
//
//	Γ/(2πr) (1 - exp(-r²/c²)).
type Vortex struct {
	// the middle, px
	X, Y float64
	// Γ, px² a pair; positive turns clockwise as seen, from x towards y
	Circulation float64
	// c, px; above 0. The speed is greatest at 1.1209 c
	Core float64
}

// At is the displacement of the vortex.
func (f Vortex) At(x, y float64) (u, v float64) {
	dx, dy := x-f.X, y-f.Y
	cc := f.Core * f.Core
	q := (float64(dx*dx) + float64(dy*dy)) / cc
	s := 1.0 // (1 - exp(-q))/q, which tends to 1
	if q > 1e-12 {
		s = -elementary.Expm1(-q) / q
	}
	s *= f.Circulation / (2 * math.Pi * cc)
	return -s * dy, s * dx
}

// Sum is the sum of flows.
type Sum []Flow

// At is the sum of the displacements.
func (f Sum) At(x, y float64) (u, v float64) {
	for _, g := range f {
		a, b := g.At(x, y)
		u += a
		v += b
	}
	return u, v
}

// Scaled is a flow times a number.
type Scaled struct {
	Flow   Flow
	Factor float64
}

// At is Factor times the displacement of Flow.
func (f Scaled) At(x, y float64) (u, v float64) {
	u, v = f.Flow.At(x, y)
	return f.Factor * u, f.Factor * v
}

// Wave is one term of a stream function, Amplitude cos(KX x + KY y + Phase).
type Wave struct {
	// wave numbers, radians a px
	KX, KY float64
	// px² a pair
	Amplitude float64
	// radians
	Phase float64
}

// Waves is the flow of a sum of plane waves, free of divergence since every wave moves fluid along its crests:
// u = ∂ψ/∂y, v = -∂ψ/∂x.
type Waves []Wave

// At is the displacement of all waves.
func (f Waves) At(x, y float64) (u, v float64) {
	for _, w := range f {
		s := w.Amplitude * elementary.Sin(float64(w.KX*x)+float64(w.KY*y)+w.Phase)
		u -= float64(w.KY * s)
		v += float64(w.KX * s)
	}
	return u, v
}

// Eddy is an eddy of surface quasi-geostrophic flow. Its buoyancy is a Poisson kernel, w/(2π(r²+w²)^{3/2}) times 2πK,
// from which the inverse of the half Laplacian makes the stream function
//
//	ψ = K/√(r²+w²)
//
// (Held, Pierrehumbert, Garner, Swanson: Surface quasi-geostrophic dynamics, J. Fluid Mech. 282 (1995), equation 1).
// Its speed falls off as r⁻², faster than that of a vortex of the plane.
type Eddy struct {
	// the middle, px
	X, Y float64
	// K, px³ a pair; positive turns clockwise as seen
	Strength float64
	// w, px; above 0
	Width float64
}

// At is the displacement of the eddy.
func (f Eddy) At(x, y float64) (u, v float64) {
	dx, dy := x-f.X, y-f.Y
	q := float64(dx*dx) + float64(dy*dy) + float64(f.Width*f.Width)
	s := f.Strength / (q * math.Sqrt(q))
	return -s * dy, s * dx
}

// Step is the flow over a step that falls away from it: along a channel to the right, whose floor drops at Edge. The
// fluid that comes in between Top and Ledge with a parabolic profile widens over the Length behind the edge to the
// whole channel between Top and Floor, and below it, behind the step, a bubble turns with fluid that flows back along
// the floor. All of it is one stream function, so that there is no divergence, and the fluid is at rest on the walls
// and in them.
type Step struct {
	// x of the step
	Edge float64
	// y of the ceiling, of the floor before and behind the edge; ascending
	Top, Ledge, Floor float64
	// px behind the edge to where the stream reaches the floor; above 0
	Length float64
	// mean displacement before the edge, px a pair
	Speed float64
	// stream function in the middle of the bubble, as a share of the flux; 0 for none
	Bubble float64
}

// At is the displacement of the flow.
func (f Step) At(x, y float64) (u, v float64) {
	wall := f.Floor
	if x <= f.Edge {
		wall = f.Ledge
	}
	if y <= f.Top || y >= wall {
		return 0, 0
	}
	flux := f.Speed * (f.Ledge - f.Top)
	// The stream: ψ = flux (3η² - 2η³), η = (y - Top)/h, with h its height here and slope dh/dx.
	drop, rise := smooth((x - f.Edge) / f.Length)
	h := f.Ledge - f.Top + float64(drop*(f.Floor-f.Ledge))
	slope := rise * (f.Floor - f.Ledge) / f.Length
	if eta := (y - f.Top) / h; eta < 1 {
		s := flux * float64(6*float64(eta*(1-eta))) / h
		u = s
		v = float64(float64(s*eta) * slope)
	}
	// The bubble, from half the height of the step above the ledge to the floor: ψ = flux Bubble P(a) P(b), P(t) = 64
	// t³(1-t)³.
	ceiling := f.Ledge - float64(0.5*(f.Floor-f.Ledge))
	a, b := (x-f.Edge)/f.Length, (y-ceiling)/(f.Floor-ceiling)
	if a > 0 && a < 1 && b > 0 && b < 1 {
		pa, da := bump(a)
		pb, db := bump(b)
		s := flux * f.Bubble
		u += float64(float64(s*pa)*db) / (f.Floor - ceiling)
		v -= float64(float64(s*da)*pb) / f.Length
	}
	return u, v
}

// smooth is 6t⁵ - 15t⁴ + 10t³ and its derivative, 0 before 0 and 1 after 1.
func smooth(t float64) (val, slope float64) {
	switch {
	case t <= 0:
		return 0, 0
	case t >= 1:
		return 1, 0
	}
	w := float64(t * (1 - t))
	return float64(t*t*t) * (10 - float64(t*(15-float64(6*t)))), float64(30*w) * w
}

// bump is 64t³(1-t)³ and its derivative: 1 at the middle of 0..1, with slope and curvature 0 at both ends.
func bump(t float64) (val, slope float64) {
	w := float64(t * (1 - t))
	return float64(64*w*w) * w, float64(192*w*w) * (1 - float64(2*t))
}

// Wake is the flow past a cylinder with a street of vortices behind it, as it stands at one time. The fluid is at rest
// on the cylinder and in it.
type Wake struct {
	// the middle of the cylinder, px
	X, Y float64
	// px, above 0
	Radius float64
	// displacement far away, px a pair, to the right
	Speed float64
	// L, thickness of the boundary layer, px, above 0
	Layer float64
	// the vortices of the wake
	Street []Whirl
}

// Whirl is a vortex with the stream function -Γ/4π ln(r²+c²): at the distance r it turns with the speed Γr/(2π(r²+c²))
// (the vortex of Kaufmann, also Scully's). It has a stream function of elementary functions, as Lamb and Oseen's has
// not.
type Whirl struct {
	// the middle, px
	X, Y float64
	// Γ, px² a pair; positive turns clockwise as seen
	Circulation float64
	// c, px; above 0
	Core float64
}

// At is the displacement of the flow, from the stream function
//
//	ψ = Speed Y (1-R²/r²) (1-exp(-(r-R)/L)) + (1-exp(-(r-R)²/R²)) (ψ - ψ₀ of the whirls),
//
// (r, Y) counted from the middle of the cylinder, where the whirls have ψ₀. Without the two exponentials this is ideal
// flow past a cylinder and a street of vortices; with them both terms have zeros of second order at the wall, where the
// fluid is at rest therefore.
func (f Wake) At(x, y float64) (u, v float64) {
	dx, dy := x-f.X, y-f.Y
	rr := float64(dx*dx) + float64(dy*dy)
	r, a := math.Sqrt(rr), f.Radius
	if r <= a {
		return 0, 0
	}
	// The stream, ψ = Speed dy g(r).
	p, e := 1-a*a/rr, elementary.Exp((a-r)/f.Layer)
	g := float64(p * (1 - e))
	dg := float64(2*a*a/(rr*r)*(1-e)) + float64(p*e)/f.Layer
	u = float64(f.Speed * (g + float64(float64(dy*dy)/r*dg)))
	v = -float64(f.Speed * (float64(dx*dy) / r * dg))
	// The whirls, each of them and all of them damped.
	t := (r - a) / a
	q := elementary.Exp(-float64(t * t))
	d, dd := 1-q, float64(2*t*q)/a
	var psi, su, sv float64
	for _, w := range f.Street {
		ex, ey := x-w.X, y-w.Y
		fx, fy := f.X-w.X, f.Y-w.Y
		cc := float64(w.Core * w.Core)
		n := float64(ex*ex) + float64(ey*ey) + cc
		s := w.Circulation / (2 * math.Pi)
		psi -= float64(s * elementary.Log(n/(float64(fx*fx)+float64(fy*fy)+cc)) / 2)
		su -= float64(s * ey / n)
		sv += float64(s * ex / n)
	}
	u += float64(d*su) + float64(psi*dd*(dy/r))
	v += float64(d*sv) - float64(psi*dd*(dx/r))
	return u, v
}

// Truth is the displacement at the centres of the pixels of a picture of h rows and w columns.
func Truth(f Flow, h, w int) *space.Field {
	out := space.NewField(h, w)
	u, v := out.U(), out.V()
	for r := range h {
		y := float64(r) - float64(h-1)/2
		for c := range w {
			i := r*w + c
			u[i], v[i] = f.At(float64(c)-float64(w-1)/2, y)
		}
	}
	return out
}

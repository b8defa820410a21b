package particle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/internal/elementary"
)

// Kind is a kind of flow.
type Kind string

// The kinds of flow.
const (
	KindUniform   Kind = "uniform"   // the same displacement everywhere
	KindStep      Kind = "step"      // over a backward-facing step
	KindCylinder  Kind = "cylinder"  // past a cylinder, with a street of vortices
	KindSQG       Kind = "sqg"       // surface quasi-geostrophic: eddies of the ocean's surface
	KindIsotropic Kind = "isotropic" // isotropic turbulence
	KindVortices  Kind = "vortices"  // Lamb–Oseen vortices
)

// Kinds are all kinds of flow, in the order in which a set goes through them.
func Kinds() []Kind {
	return []Kind{KindUniform, KindStep, KindCylinder, KindSQG, KindIsotropic, KindVortices}
}

// ParseKind is the kind of this name.
func ParseKind(s string) (Kind, error) {
	if k := Kind(s); slices.Contains(Kinds(), k) {
		return k, nil
	}
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return "", fmt.Errorf("flow %q: there is none of this name: write one of %s", s, strings.Join(names, ", "))
}

// Scene says what flows are drawn.
type Scene struct {
	// Size is the length in px to which the parts of a flow are scaled, such as the shorter side of the picture.
	Size float64
	// Peak is the greatest displacement of any flow, px a pair. The greatest of one flow, over the square of side Size
	// about the middle and but for a few per cent, is drawn evenly from half of it to all of it.
	Peak float64
	// Heading is where the mean flow goes, in degrees counter-clockwise as seen from the right, and Spread the standard
	// deviation of this angle from flow to flow. A step and a cylinder, whose walls say where right is, have no spread:
	// they always go to the right.
	Heading, Spread float64
	// Mean is the mean flow's part in the displacement of the kinds that know none of their own (turbulence, eddies,
	// vortices), from 0, fluid that only turns, to 1, only the mean.
	Mean float64
}

// check says what is wrong with s.
func (s Scene) check() error {
	switch {
	case !(s.Size >= 8 && s.Size <= maxSide):
		return fmt.Errorf("size of the flow: %v px: expected 8 to %d", s.Size, maxSide)
	case !(s.Peak >= 0 && s.Peak <= s.Size):
		return fmt.Errorf("greatest displacement: %v px: expected 0 to the size of the flow, %v", s.Peak, s.Size)
	case !(math.Abs(s.Heading) <= 360) || !(s.Spread >= 0 && s.Spread <= 360):
		return fmt.Errorf("heading of the mean flow: %v ± %v degrees: expected -360 to 360, with a spread of 0 to 360",
			s.Heading, s.Spread)
	case !(s.Mean >= 0 && s.Mean <= 1):
		return fmt.Errorf("share of the mean flow: %v: expected 0 to 1", s.Mean)
	}
	return nil
}

// Draw makes a flow of this kind; all that is random in it comes from r.
//
// Turbulence is a sum of plane waves with random phases. Isotropic: 64 waves of directions spread evenly, wave lengths
// from 2/3 to 1/10 of Size, energy spectrum k⁴(k²+k₀²)^{-17/6}, which is von Kármán's and falls as k^{-5/3}, k₀ for the
// wave length Size/2. SQG: 48 waves, 1 to 1/12 of Size, k^{-5/3} all along, which is the spectrum of kinetic energy in
// the direct cascade of surface buoyancy, and a dozen eddies (see [Eddy]). A flow has one speed of its parts and one
// mean flow, both drawn, and no part changes with time.
func Draw(kind Kind, s Scene, r *rand.Rand) (Flow, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	peak := s.Peak * (0.5 + r.Float64()/2)
	angle := (s.Heading + float64(s.Spread*elementary.Normal(r))) * (math.Pi / 180)
	mean := Uniform{U: elementary.Cos(angle), V: -elementary.Sin(angle)}
	var f Flow
	switch kind {
	case KindUniform:
		return Scaled{Flow: mean, Factor: peak}, nil
	case KindStep:
		return s.fit(s.step(r), peak), nil
	case KindCylinder:
		return s.fit(s.wake(r), peak), nil
	case KindSQG:
		f = s.buoyant(r)
	case KindIsotropic:
		f = s.turbulent(r)
	case KindVortices:
		f = s.vortices(r)
	default:
		_, err := ParseKind(string(kind))
		return nil, err
	}
	// The mean's part varies by a fifth of itself from flow to flow.
	share := min(1, s.Mean*(0.8+float64(0.4*r.Float64())))
	f = Sum{Scaled{Flow: mean, Factor: share}, s.fit(f, 1-share)}
	return s.fit(f, peak), nil
}

// fit scales f so that its greatest displacement at 32×32 points of the picture is peak; between them it may be some
// per cent larger.
func (s Scene) fit(f Flow, peak float64) Flow {
	const n = 32
	var top float64
	for i := range n {
		for j := range n {
			u, v := f.At((float64(i)+0.5-n/2)*s.Size/n, (float64(j)+0.5-n/2)*s.Size/n)
			top = max(top, float64(u*u)+float64(v*v))
		}
	}
	if !(top > 0) {
		return Scaled{Flow: f, Factor: 0}
	}
	return Scaled{Flow: f, Factor: peak / math.Sqrt(top)}
}

// between is a number between a and b, evenly drawn.
func between(r *rand.Rand, a, b float64) float64 { return a + float64((b-a)*r.Float64()) }

func (s Scene) step(r *rand.Rand) Flow {
	f := Step{Speed: 1}
	f.Edge = s.Size * between(r, -0.4, -0.15)
	f.Top = s.Size * between(r, -0.55, -0.45)
	f.Floor = s.Size * between(r, 0.42, 0.5)
	f.Ledge = s.Size * between(r, -0.05, 0.15)
	f.Length = (f.Floor - f.Ledge) * between(r, 2, 4)
	f.Bubble = between(r, 0.1, 0.2)
	return f
}

func (s Scene) wake(r *rand.Rand) Flow {
	f := Wake{Speed: 1}
	f.Radius = s.Size * between(r, 0.05, 0.09)
	f.X = s.Size * between(r, -0.4, -0.2)
	f.Y = s.Size * between(r, -0.15, 0.15)
	f.Layer = f.Radius * between(r, 0.25, 0.5)
	// A street that is stable by von Kármán: rows 0.281 of the distance between two vortices of a row apart. That
	// distance is some five diameters; circulation and cores are those of measured streets in order of magnitude.
	pitch := f.Radius * between(r, 8, 10)
	gamma := between(r, 3, 5) * f.Radius
	start := f.X + float64(2*f.Radius) + float64(pitch*r.Float64())/2
	for i := 0; ; i++ {
		x := start + float64(pitch*float64(i))/2
		if x > s.Size {
			break
		}
		sign := 1 - 2*float64(i%2) // above: clockwise as seen
		f.Street = append(f.Street, Whirl{
			X: x, Y: f.Y - float64(sign*0.1405*pitch), Circulation: sign * gamma,
			Core: f.Radius * (0.8 + float64(0.06*float64(i))),
		})
	}
	return f
}

// waves draws n waves of wave lengths from long to short px, evenly spaced in their logarithm, directions evenly
// spaced, with the energy spectrum energy(k).
func waves(r *rand.Rand, n int, long, short float64, energy func(k float64) float64) Waves {
	turn := float64(2 * math.Pi * r.Float64())
	var f Waves
	for i := range n {
		k := 2 * math.Pi / (long * elementary.Pow(short/long, (float64(i)+r.Float64())/float64(n)))
		// The golden angle spreads the directions of neighboring scales as far as can be.
		angle := turn + float64(math.Pi*(3-math.Sqrt(5))*float64(i))
		f = append(f, Wave{
			KX: k * elementary.Cos(angle), KY: k * elementary.Sin(angle),
			// A wave stands for a band of width proportional to k: (amplitude k)² / 2 is its energy.
			Amplitude: math.Sqrt(2*energy(k)*k) / k, Phase: 2 * math.Pi * r.Float64(),
		})
	}
	return f
}

func (s Scene) turbulent(r *rand.Rand) Flow {
	k0 := 2 * math.Pi / (s.Size / 2)
	return waves(r, 64, s.Size*2/3, s.Size/10, func(k float64) float64 {
		x := k / k0
		return elementary.Pow(x, 4) * elementary.Pow(1+float64(x*x), -17./6)
	})
}

func (s Scene) buoyant(r *rand.Rand) Flow {
	f := Sum{s.fit(waves(r, 48, s.Size, s.Size/12, func(k float64) float64 { return elementary.Pow(k, -5./3) }), 0.7)}
	for i := range 12 {
		w := s.Size * 0.025 * elementary.Pow(5, r.Float64())
		sign := 1 - 2*float64(i%2)
		// The greatest speed of an eddy is 0.385 Strength/w²: 0.2 to 0.6 of that of the waves.
		f = append(f, Eddy{
			X: s.Size * between(r, -0.5, 0.5), Y: s.Size * between(r, -0.5, 0.5), Width: w,
			Strength: sign * between(r, 0.5, 1.5) * w * w,
		})
	}
	return f
}

func (s Scene) vortices(r *rand.Rand) Flow {
	var f Sum
	for range 2 + r.IntN(5) {
		sign := 1 - 2*float64(r.IntN(2))
		c := s.Size * between(r, 0.04, 0.15)
		f = append(f, Vortex{
			X: s.Size * between(r, -0.45, 0.45), Y: s.Size * between(r, -0.45, 0.45), Core: c,
			Circulation: sign * between(r, 0.5, 1) * c,
		})
	}
	return f
}

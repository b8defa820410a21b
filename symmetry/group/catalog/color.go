package catalog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// hue is the group of turns of the colors about the grey axis.
type hue struct{ orthoLieOnly }

// orthoLieOnly is SO(2) without its maps of the plane.
type orthoLieOnly struct{ o orthoLie }

// Chart is the angle.
func (x orthoLieOnly) Chart() []group.Axis { return x.o.Chart() }

// Identity is 0 degrees.
func (x orthoLieOnly) Identity() group.Element { return x.o.Identity() }

// Mul adds angles.
func (x orthoLieOnly) Mul(g, h group.Element) group.Element { return x.o.Mul(g, h) }

// Inv turns back.
func (x orthoLieOnly) Inv(g group.Element) group.Element { return x.o.Inv(g) }

// Dist is the angle between two elements in degrees, [0, 180].
func (x orthoLieOnly) Dist(g, h group.Element) float64 { return x.o.Dist(g, h) }

// Invariance is true on both sides.
func (x orthoLieOnly) Invariance() (left, right bool) { return true, true }

// Sample draws from the Haar measure.
func (x orthoLieOnly) Sample(r *rand.Rand) group.Element { return x.o.Sample(r) }

// Generators is the rotation.
func (x orthoLieOnly) Generators() []group.Generator { return x.o.Generators() }

// Exp is the turn by t[0] radians.
func (x orthoLieOnly) Exp(t []float64) group.Element { return x.o.Exp(t) }

// Hue is the group of turns of the colors of three channels about the axis of the greys: 120 degrees move red to green,
// green to blue, blue to red.
func Hue() group.Group { return hue{} }

// Name is Hue.
func (hue) Name() string { return "Hue" }

// Channels is 3.
func (hue) Channels() int { return 3 }

// Color turns about the axis (1, 1, 1), exactly at multiples of 120 degrees.
func (x hue) Color(g group.Element, pixel []float64) {
	a := x.o.canon(g[0])
	r, gr, b := pixel[0], pixel[1], pixel[2]
	switch a {
	case 0:
		return
	case 120:
		pixel[0], pixel[1], pixel[2] = b, r, gr
		return
	case 240:
		pixel[0], pixel[1], pixel[2] = gr, b, r
		return
	}
	s, c := group.SinCos(a)
	s /= 1.7320508075688772935274463415058723669428
	same, left, right := c+(1-c)/3, (1-c)/3+s, (1-c)/3-s
	pixel[0] = float64(same*r) + float64(right*gr) + float64(left*b)
	pixel[1] = float64(left*r) + float64(same*gr) + float64(right*b)
	pixel[2] = float64(right*r) + float64(left*gr) + float64(same*b)
}

// channels is the group of permutations of channels: those of rows, with other names and another action.
type channels struct{ s symmetricFinite }

// Channels is the group of permutations of the n channels of pictures, n in 2..8: channel i goes to place c<i>.
func Channels(n int) (group.Group, error) {
	if n < 2 || n > 8 {
		return nil, fmt.Errorf("Channels(%d): the number of channels must be in 2..8", n)
	}
	g, err := Symmetric(n)
	if err != nil {
		return nil, err
	}
	s, ok := g.(symmetricFinite)
	if !ok {
		return nil, fmt.Errorf("Channels(%d): too many channels", n)
	}
	for i := range s.chart {
		s.chart[i].Name, s.chart[i].Kind = fmt.Sprintf("c%d", i), group.KindChannel
	}
	return channels{s}, nil
}

// Name is Channels(n).
func (x channels) Name() string { return fmt.Sprintf("Channels(%d)", x.s.n) }

// Chart is the place of each channel.
func (x channels) Chart() []group.Axis { return x.s.Chart() }

// Identity leaves every channel at its place.
func (x channels) Identity() group.Element { return x.s.Identity() }

// Steps is 1 on every axis.
func (x channels) Steps() []float64 { return x.s.Steps() }

// Mul sends channel i to place g[h[i]].
func (x channels) Mul(g, h group.Element) group.Element { return x.s.Mul(g, h) }

// Inv sends channel g[i] to place i.
func (x channels) Inv(g group.Element) group.Element { return x.s.Inv(g) }

// Dist is the number of channels that go to different places.
func (x channels) Dist(g, h group.Element) float64 { return x.s.Dist(g, h) }

// Invariance is true on both sides.
func (channels) Invariance() (left, right bool) { return true, true }

// Order is n!.
func (x channels) Order() int { return x.s.Order() }

// Elements are all permutations.
func (x channels) Elements() []group.Element { return x.s.Elements() }

// Sample draws a permutation, each with the same probability.
func (x channels) Sample(r *rand.Rand) group.Element { return x.s.Sample(r) }

// Channels is n.
func (x channels) Channels() int { return x.s.n }

// Color moves the value of channel i to channel g[i].
func (x channels) Color(g group.Element, pixel []float64) {
	var old [8]float64
	copy(old[:], pixel[:x.s.n])
	for i := range x.s.n {
		if to := x.s.look(g, float64(i)); to >= 0 {
			pixel[to] = old[i]
		}
	}
}

// Check refuses what is no permutation.
func (x channels) Check(e group.Element) error {
	if err := x.s.Check(e); err != nil {
		return fmt.Errorf("%s: %w", x.Name(), err)
	}
	return nil
}

// Words is an element as people read it.
func (x channels) Words(e group.Element) string                 { return x.s.Words(e) }
func (x channels) Cube(window [][2]float64) (group.Cube, error) { return x.s.Cube(window) }

// Lattice is what can act without resampling.
func (x channels) Lattice([][2]float64) ([]group.Element, error) {
	return group.Enumerate(x)
}

// Preset is what is visited when nobody chooses.
func (x channels) Preset(window [][2]float64) ([]group.Element, string, error) {
	es, text, err := x.s.Preset(window)
	return es, strings.ReplaceAll(text, "rows", "channels"), err
}

// Gridded refuses grids.
func (channels) Gridded() error { return group.ErrGridless }

// Within is the window in words.
func (x channels) Within([][2]float64) string {
	return fmt.Sprintf("permutations of %d channels", x.s.n)
}

// tone is a one-parameter family of maps of each channel by itself.
type tone struct{ name, axis string }

// Brightness is the group of the maps x -> x + b of all channels. Values outside [0, 1], which pictures cannot hold,
// make it partial.
func Brightness() group.Group { return tone{"Brightness", "brightness"} }

// Contrast is the group of the maps x -> 1/2 + c·(x - 1/2) of all channels. Values outside [0, 1], which pictures
// cannot hold, make it partial.
func Contrast() group.Group { return tone{"Contrast", "contrast"} }

// Gamma is the group of the maps x -> x^γ of all channels, which stay in [0, 1]; values below 0 keep their sign.
func Gamma() group.Group { return tone{"Gamma", "gamma"} }

// Name is Brightness, Contrast or Gamma.
func (x tone) Name() string { return x.name }

func (x tone) adds() bool { return x.axis == "brightness" }

// Chart is b, or the factor c or γ.
func (x tone) Chart() []group.Axis {
	if x.adds() {
		return []group.Axis{{Name: x.axis, Kind: group.KindNumber, Min: math.Inf(-1), Max: math.Inf(1)}}
	}
	return []group.Axis{{Name: x.axis, Unit: "factor", Kind: group.KindFactor, Min: 0, Max: math.Inf(1)}}
}

// Window is ±0.25, or factors from 0.5 to 2.
func (x tone) Window() [][2]float64 {
	if x.adds() {
		return [][2]float64{{-0.25, 0.25}}
	}
	return [][2]float64{{0.5, 2}}
}

// Identity is 0, or the factor 1.
func (x tone) Identity() group.Element {
	if x.adds() {
		return group.Element{0}
	}
	return group.Element{1}
}

// Mul adds, or multiplies.
func (x tone) Mul(g, h group.Element) group.Element {
	if x.adds() {
		return group.Element{g[0] + h[0] + 0}
	}
	return group.Element{g[0] * h[0]}
}

// Inv is the opposite, or the reciprocal.
func (x tone) Inv(g group.Element) group.Element {
	if x.adds() {
		return group.Element{-g[0] + 0}
	}
	return group.Element{1 / g[0]}
}

// Dist is the difference, or that of the logarithms.
func (x tone) Dist(g, h group.Element) float64 {
	if x.adds() {
		return math.Abs(g[0] - h[0])
	}
	return math.Abs(elementary.Log(g[0] / h[0]))
}

// Invariance is true on both sides.
func (tone) Invariance() (left, right bool) { return true, true }

// Sample draws uniformly from the window, factors log-uniformly.
func (x tone) Sample(r *rand.Rand) group.Element { return group.Draw(x, x.Window(), r) }

// Generators is the one of the family.
func (x tone) Generators() []group.Generator {
	if x.adds() {
		return []group.Generator{{Name: x.axis}}
	}
	return []group.Generator{{Name: x.axis, Unit: "log-factor"}}
}

// Exp is t[0], or its exponential.
func (x tone) Exp(t []float64) group.Element {
	if x.adds() {
		return group.Element{t[0] + 0}
	}
	return group.Element{elementary.Exp(t[0])}
}

// Channels is 0: any number.
func (tone) Channels() int { return 0 }

// Color maps every channel.
func (x tone) Color(g group.Element, pixel []float64) {
	a := g[0]
	switch {
	case x.adds():
		for i := range pixel {
			pixel[i] += a
		}
	case a == 1: // no rounding for the identity
	case x.axis == "contrast":
		for i, v := range pixel {
			pixel[i] = 0.5 + float64(a*(v-0.5))
		}
	default:
		for i, v := range pixel {
			pixel[i] = math.Copysign(elementary.Pow(math.Abs(v), a), v)
		}
	}
}

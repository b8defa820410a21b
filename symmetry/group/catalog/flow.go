package catalog

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// flow is a group of velocities: the element ν moves the frame at time t by exp(t·ν).
type flow struct {
	name  string
	inner group.Group
	// inner is SE(3)
	space bool
	axes  []flowAxis
}

// flowAxis is one generator.
type flowAxis struct {
	name, unit string
	kind       *group.Kind
	// coefficient of SE(3), or coordinate of the inner group
	at int
	// of the preset
	values []float64
	// of the window; a factor for factors
	reach float64
}

// Flow is the group of motions at constant velocity along generators that commute: the frame of a sequence at time t,
// counted from 0, is moved by exp(t·ν). The chart has one velocity per generator, per frame: degrees, pixels, lengths,
// factors. Elements compose by adding velocities, and factors by multiplying them.
//
// Generators of the plane are those of [ByGenerators]. After the name "3" they are those of space: rotate x, rotate y,
// rotate z, shift x, shift y, shift z. The error names generators that do not commute: products of their flows are no
// flows of the same kind.
func Flow(names ...string) (group.Group, error) {
	if len(names) > 0 && strings.TrimSpace(names[0]) == "3" {
		return flowSpace(names[1:])
	}
	g, err := ByGenerators(names...)
	if err != nil {
		if len(names) == 0 {
			err = errors.New("Flow() needs generators: expected some such as Flow(rotate), Flow(shift x,shift y) or " +
				"Flow(3,rotate z)")
		}
		return nil, fmt.Errorf("flow: %w", err)
	}
	a, ok := g.(affine)
	if !ok || !a.abelian {
		return nil, fmt.Errorf(
			"%s: the generators of a flow must commute: name generators that do, such as shift x and shift y, or "+
				"rotate and scale",
			strings.Replace(g.Name(), "Affine", "Flow", 1))
	}
	f := flow{name: strings.Replace(a.name, "Affine", "Flow", 1), inner: g}
	for i, k := range a.kinds {
		x := flowAxis{name: k.name, kind: group.KindVelocity, at: i}
		switch k.unit {
		case "deg":
			x.unit, x.reach, x.values = "deg/frame", 20, []float64{-20, -10, -5, -2, 0, 2, 5, 10, 20}
		case "px":
			x.unit, x.reach, x.values = "px/frame", 2, []float64{-2, -1, -0.5, 0, 0.5, 1, 2}
		case "factor":
			x.kind = k.kind
			x.unit, x.reach, x.values = "factor", 1.1, []float64{1 / 1.1, 1 / 1.05, 1, 1.05, 1.1}
		default:
			x.unit, x.reach, x.values = "", 0.1, []float64{-0.1, -0.05, 0, 0.05, 0.1}
		}
		f.axes = append(f.axes, x)
	}
	return f, nil
}

func flowSpace(names []string) (group.Group, error) {
	f := flow{inner: SE3(), space: true}
	known := []string{"rotate x", "rotate y", "rotate z", "shift x", "shift y", "shift z"}
	var canon []string
	for _, n := range names {
		at := slices.IndexFunc(known, func(k string) bool { return squash(k) == squash(n) })
		if at < 0 {
			msg := fmt.Sprintf("flow: unknown generator %q of space", n)
			if near := nearest(n, known); near != "" {
				msg += fmt.Sprintf("; did you mean %q", near)
			}
			return nil, errors.New(msg + "; the generators are " + strings.Join(known, ", "))
		}
		if slices.Contains(canon, known[at]) {
			return nil, fmt.Errorf("flow: generator %q is listed twice", known[at])
		}
		canon = append(canon, known[at])
		x := flowAxis{
			name: known[at], kind: group.KindVelocity, at: at, unit: "length/frame", reach: 0.1,
			values: []float64{-0.1, -0.05, 0, 0.05, 0.1},
		}
		if at < 3 {
			x.unit, x.reach, x.values = "deg/frame", 20, []float64{-20, -10, -5, -2, 0, 2, 5, 10, 20}
		}
		f.axes = append(f.axes, x)
	}
	if len(canon) == 0 {
		return nil, errors.New("flow: Flow(3) needs generators: expected some of " + strings.Join(known, ", "))
	}
	f.name = "Flow(3," + strings.Join(canon, ",") + ")"
	for i, x := range f.axes {
		for _, y := range f.axes[:i] {
			// A rotation commutes with the shift along its own axis, and shifts with each other.
			if (x.at < 3 || y.at < 3) && (x.at%3 != y.at%3) {
				return nil, fmt.Errorf("%s: %s and %s do not commute: the generators of a flow must", f.name, y.name,
					x.name)
			}
		}
	}
	return f, nil
}

// Name is Flow(...) with the names of the generators.
func (f flow) Name() string { return f.name }

// Inner is the group of the maps: affine ones of the plane, or SE(3).
func (f flow) Inner() group.Group { return f.inner }

// Chart is one velocity per generator.
func (f flow) Chart() []group.Axis {
	c := make([]group.Axis, len(f.axes))
	for i, x := range f.axes {
		c[i] = group.Axis{Name: x.name, Unit: x.unit, Kind: x.kind, Min: math.Inf(-1), Max: math.Inf(1)}
		if x.unit == "factor" {
			c[i].Min = 0
		}
	}
	return c
}

// Window is ±20 degrees, ±2 px, ±0.1 lengths or slopes, and factors from 1/1.1 to 1.1, per frame.
func (f flow) Window() [][2]float64 {
	w := make([][2]float64, len(f.axes))
	for i, x := range f.axes {
		w[i] = [2]float64{-x.reach, x.reach}
		if x.unit == "factor" {
			w[i][0] = 1 / x.reach
		}
	}
	return w
}

// Identity is rest.
func (f flow) Identity() group.Element {
	e := make(group.Element, len(f.axes))
	for i, x := range f.axes {
		if x.unit == "factor" {
			e[i] = 1
		}
	}
	return e
}

// Mul adds velocities and multiplies factors.
func (f flow) Mul(g, h group.Element) group.Element {
	e := make(group.Element, len(f.axes))
	for i, x := range f.axes {
		e[i] = g[i] + h[i] + 0
		if x.unit == "factor" {
			e[i] = g[i] * h[i]
		}
	}
	return e
}

// Inv is the opposite velocity.
func (f flow) Inv(g group.Element) group.Element {
	e := make(group.Element, len(f.axes))
	for i, x := range f.axes {
		e[i] = -g[i] + 0
		if x.unit == "factor" {
			e[i] = 1 / g[i]
		}
	}
	return e
}

// Dist is the root of the summed squares of the differences, of factors in their logarithms.
func (f flow) Dist(g, h group.Element) float64 {
	var d float64
	for i, x := range f.axes {
		v := g[i] - h[i]
		if x.unit == "factor" {
			v = elementary.Log(g[i] / h[i])
		}
		d = elementary.Hypot(d, v)
	}
	return d
}

// Invariance is true on both sides.
func (flow) Invariance() (left, right bool) { return true, true }

// At is exp(t·ν).
func (f flow) At(g group.Element, t float64) group.Element {
	if f.space {
		e := f.inner.Identity()
		for i, x := range f.axes { // about one axis at most, and along it
			e[x.at] = float64(t*g[i]) + 0
		}
		return group.Canonical(f.inner, e)
	}
	e := make(group.Element, len(f.axes))
	for i, x := range f.axes {
		e[i] = float64(t*g[i]) + 0
		if x.unit == "factor" {
			e[i] = elementary.Pow(g[i], t)
		}
	}
	return group.Canonical(f.inner, e)
}

// Sample draws uniformly from the window, factors log-uniformly.
func (f flow) Sample(r *rand.Rand) group.Element { return group.Draw(f, f.Window(), r) }

// Preset is rest and a few velocities in both directions along each generator, in all combinations.
func (f flow) Preset(window [][2]float64) ([]group.Element, string, error) {
	s, err := group.Spans(f, window)
	if err != nil {
		return nil, "", err
	}
	values := make([][]float64, len(f.axes))
	total := 1
	for i, x := range f.axes {
		for _, v := range x.values {
			if s[i].Holds(v) {
				values[i] = append(values[i], v)
			}
		}
		total *= len(values[i])
	}
	if total < 2 || total > group.MaxPreset || window != nil && total < 5 {
		return group.BoxPreset(f, window)
	}
	es := group.Combine(f, values)
	return es, fmt.Sprintf("%d velocities, rest among them: %s", len(es), group.BoxText(f, window)), nil
}

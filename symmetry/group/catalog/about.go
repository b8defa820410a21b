package catalog

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"nero/symmetry/group"
)

// about is the group of rotations about a direction, with mirrors in the planes that hold it or without.
type about struct {
	// not embedded: its maps are those of the plane
	o    orthoLie
	name string
	// right-handed and orthonormal
	n, u, v vec3
}

// aboutAxis is the group of the rotations of space that keep a direction such as that of gravity, with mirrors or
// without: the element (angle, mirror) mirrors first if mirror is 1, then turns by angle degrees, counter-clockwise
// seen from the tip of the direction. The mirror turns u into -u, where u is the axis after that of the direction in
// the order x, y, z, x; for other directions the axis of coordinates that is farthest from it, made perpendicular. The
// error is for a direction that is 0 or not finite.
func aboutAxis(d vec3, mirror bool) (group.Group, error) {
	big := 0.0
	for _, x := range d {
		big = math.Max(big, math.Abs(x))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			big = math.NaN()
			break
		}
	}
	name := "SOg(3"
	if mirror {
		name = "Og(3"
	}
	if !(big > 0) || math.IsInf(big, 0) {
		return nil, fmt.Errorf("%s,%g,%g,%g): expected a direction, three finite numbers that are not all 0", name,
			d[0], d[1], d[2])
	}
	g := about{o: orthoLie{ortho{mirror: mirror}}}
	for i := range d {
		g.n[i] = d[i]/big + 0
	}
	axis := -1
	for i := range 3 {
		if g.n[i] == 1 && g.n[(i+1)%3] == 0 && g.n[(i+2)%3] == 0 {
			axis = i
		}
	}
	if axis >= 0 {
		g.u[(axis+1)%3], g.v[(axis+2)%3] = 1, 1
		if axis != 2 {
			name += "," + string("xyz"[axis])
		}
		g.name = name + ")"
		return g, nil
	}
	parts := []string{name}
	for _, x := range d { // as given, so that the name leads to the same bits
		parts = append(parts, strconv.FormatFloat(x+0, 'g', -1, 64))
	}
	g.name = strings.Join(parts, ",") + ")"
	l := length(g.n)
	far := 0
	for i := range g.n {
		g.n[i] /= l
		if math.Abs(g.n[i]) < math.Abs(g.n[far]) {
			far = i
		}
	}
	dot := g.n[far]
	for i := range g.u {
		g.u[i] = -dot * g.n[i]
	}
	g.u[far]++
	l = length(g.u)
	for i := range g.u {
		g.u[i] = g.u[i]/l + 0
	}
	g.v = cross(g.n, g.u)
	return g, nil
}

// parseAbout reads the direction of Og(3,...).
func parseAbout(text, args string, mirror bool) (group.Group, error) {
	fields := strings.Split(args, ",")
	fail := errors.New(strconv.Quote(strings.TrimSpace(text)) +
		": expected a direction after the 3, such as Og(3,x), Og(3,z) or Og(3,1,1,0)")
	if strings.TrimSpace(fields[0]) != "3" {
		return nil, fail
	}
	switch len(fields) {
	case 1:
		return aboutAxis(vec3{0, 0, 1}, mirror)
	case 2:
		if i := strings.Index("xyz", fields[1]); i >= 0 && len(fields[1]) == 1 {
			var d vec3
			d[i] = 1
			return aboutAxis(d, mirror)
		}
	case 4:
		var d vec3
		for i, f := range fields[1:] {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return nil, fail
			}
			d[i] = x
		}
		return aboutAxis(d, mirror)
	}
	return nil, fail
}

// Name is Og(3) or SOg(3), with the direction if it is not z.
func (a about) Name() string { return a.name }

// Direction is the unit vector that every element keeps.
func (a about) Direction() [3]float64 { return a.n }

// Dim is 3.
func (about) Dim() int { return 3 }

// Motion is the rotation matrix, after the mirror if the element has one: exact for quarter turns about the axes of
// coordinates.
func (a about) Motion(g group.Element) (m, t []float64) {
	s, c := group.SinCos(a.o.canon(g[0]))
	mirrored := a.o.mirror && math.Round(g[1]) != 0
	// p = (p·n)n + (p·u)u + (p·v)v, and u and v turn towards each other.
	u := vec3{}
	v := vec3{}
	for i := range 3 {
		u[i] = float64(c*a.u[i]) + float64(s*a.v[i])
		v[i] = float64(-s*a.u[i]) + float64(c*a.v[i])
		if mirrored {
			u[i] = -u[i]
		}
	}
	identity := s == 0 && c == 1 && !mirrored
	m = make([]float64, 9)
	for i := range 3 {
		for j := range 3 {
			m[3*i+j] = float64(a.n[i]*a.n[j]) + float64(u[i]*a.u[j]) + float64(v[i]*a.v[j]) + 0
			if identity {
				m[3*i+j] = 0
				if i == j {
					m[3*i+j] = 1
				}
			}
		}
	}
	return m, make([]float64, 3)
}

// Chart is the angle, then the mirror if there is one.
func (a about) Chart() []group.Axis { return a.o.Chart() }

// Identity is all zeros.
func (a about) Identity() group.Element { return a.o.Identity() }

// Steps is 1 for the mirror.
func (a about) Steps() []float64 { return a.o.Steps() }

// Mul composes as O(2) does.
func (a about) Mul(g, h group.Element) group.Element { return a.o.Mul(g, h) }

// Inv turns back; a mirrored element is its own inverse.
func (a about) Inv(g group.Element) group.Element { return a.o.Inv(g) }

// Dist is the angle between two elements in degrees, [0, 180]; 180 between any two of which one mirrors and one does
// not.
func (a about) Dist(g, h group.Element) float64 { return a.o.Dist(g, h) }

// Invariance is true on both sides.
func (a about) Invariance() (left, right bool) { return true, true }

// Sample draws from the Haar measure.
func (a about) Sample(r *rand.Rand) group.Element { return a.o.Sample(r) }

// Generators is the rotation about the direction.
func (a about) Generators() []group.Generator { return a.o.Generators() }

// Exp is the rotation by t[0] radians; it reaches no mirrors.
func (a about) Exp(t []float64) group.Element { return a.o.Exp(t) }

// Unreached is the mirrors.
func (a about) Unreached() string {
	if a.o.mirror {
		return "exp reaches the rotations of " + a.name + ", not the mirrors"
	}
	return ""
}

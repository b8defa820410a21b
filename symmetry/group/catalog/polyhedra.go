package catalog

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"nero/symmetry/group"
)

// polyhedral is a finite subgroup of SO(3) or O(3), as a list in their charts. Results are elements of the list, bit
// for bit.
type polyhedral struct {
	space3
	list []group.Element
}

// Tetra is the group of the 12 rotations of a tetrahedron with corners (1,1,1), (1,-1,-1), (-1,1,-1), (-1,-1,1), in the
// chart of [SO3].
func Tetra() group.Group { return polyhedron("Tetra", hurwitz(), nil) }

// Octa is the group of the 24 rotations of a cube or octahedron along the axes of coordinates, in the chart of [SO3].
func Octa() group.Group { return polyhedron("Octa", append(hurwitz(), diagonals()...), nil) }

// Icosa is the group of the 60 rotations of an icosahedron with corners (0, ±1, ±φ) and their cyclic permutations, φ
// the golden ratio, in the chart of [SO3]. It contains [Tetra].
func Icosa() group.Group { return polyhedron("Icosa", append(hurwitz(), icosians()...), nil) }

// Th is the group of the 12 rotations of [Tetra] and their products with the inversion, in the chart of [O3].
func Th() group.Group { return polyhedron("Th", hurwitz(), hurwitz()) }

// Td is the group of all 24 symmetries of a tetrahedron, 12 of them mirrors and rotary reflections, in the chart of
// [O3].
func Td() group.Group { return polyhedron("Td", hurwitz(), diagonals()) }

// Oh is the group of all 48 symmetries of a cube along the axes of coordinates, in the chart of [O3].
func Oh() group.Group {
	all := append(hurwitz(), diagonals()...)
	return polyhedron("Oh", all, all)
}

// Ih is the group of all 120 symmetries of an icosahedron, in the chart of [O3].
func Ih() group.Group {
	all := append(hurwitz(), icosians()...)
	return polyhedron("Ih", all, all)
}

// hurwitz is the 24 unit quaternions of the tetrahedron.
func hurwitz() []quat {
	var out []quat
	for i := range 4 {
		var q quat
		q[i] = 1
		out = append(out, q)
	}
	for k := range 16 {
		q := quat{0.5, 0.5, 0.5, 0.5}
		for i := range q {
			if k>>i&1 != 0 {
				q[i] = -0.5
			}
		}
		out = append(out, q)
	}
	return out
}

// diagonals is the unit quaternions of the rotations of the cube that are not the tetrahedron's.
func diagonals() []quat {
	var out []quat
	for i := range 4 {
		for j := range i {
			for _, s := range []float64{1, -1} {
				var q quat
				q[j], q[i] = math.Sqrt2/2, s*math.Sqrt2/2
				out = append(out, q)
			}
		}
	}
	return out
}

// icosians is the unit quaternions ½(±φ, ±1, ±1/φ, 0) in all even permutations: Conway and Smith 2003, On quaternions
// and octonions.
func icosians() []quat {
	phi := (1 + math.Sqrt(5)) / 2
	base := [4]float64{phi / 2, 0.5, 0.5 / phi, 0}
	var out []quat
	for a := range 4 {
		for b := range 4 {
			for c := range 4 {
				d := 6 - a - b - c
				if a == b || a == c || b == c {
					continue
				}
				p := [4]int{a, b, c, d}
				odd := false
				for i := range p {
					for j := range i {
						odd = odd != (p[j] > p[i])
					}
				}
				if odd {
					continue
				}
				for k := range 8 {
					var q quat
					for i, x := range base {
						if k>>i&1 != 0 {
							x = -x
						}
						q[p[i]] = x + 0
					}
					out = append(out, q)
				}
			}
		}
	}
	return out
}

func polyhedron(name string, proper, improper []quat) group.Group {
	p := polyhedral{space3: space3{name: name, turn: true, inv: improper != nil}}
	for i, list := range [][]quat{proper, improper} {
		var es []group.Element
		for _, q := range list {
			e := p.join(pose{v: toVec(q), inverted: i == 1})
			if !slices.ContainsFunc(es, func(x group.Element) bool { return near3(x, e) }) {
				es = append(es, e)
			}
		}
		slices.SortStableFunc(es, func(a, b group.Element) int {
			// By the whole hundredth of a degree: angles that are equal up to rounding are equal.
			if c := cmp.Compare(math.Round(100*length(vec3(a[:3]))), math.Round(100*length(vec3(b[:3])))); c != 0 {
				return c
			}
			for i := range a {
				if c := cmp.Compare(b[i], a[i]); c != 0 {
					return c
				}
			}
			return 0
		})
		p.list = append(p.list, es...)
	}
	return p
}

func octahedralGroup() []group.Element {
	if p, ok := Octa().(polyhedral); ok {
		return p.Elements()
	}
	return nil
}

func near3(a, b group.Element) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-7) {
			return false
		}
	}
	return true
}

// find is the element of the list next to g.
func (p polyhedral) find(g group.Element) group.Element {
	for _, e := range p.list {
		if near3(e, g) {
			return slices.Clone(e)
		}
	}
	best := slices.MinFunc(p.list, func(a, b group.Element) int { return cmp.Compare(p.Dist(a, g), p.Dist(b, g)) })
	return slices.Clone(best)
}

// Mul is the element of the list that is the product.
func (p polyhedral) Mul(g, h group.Element) group.Element { return p.find(p.space3.Mul(g, h)) }

// Inv is the element of the list that is the inverse.
func (p polyhedral) Inv(g group.Element) group.Element { return p.find(p.space3.Inv(g)) }

// Order is the number of elements.
func (p polyhedral) Order() int { return len(p.list) }

// Elements are the rotations by increasing angle, the identity first, then the improper elements.
func (p polyhedral) Elements() []group.Element {
	out := make([]group.Element, len(p.list))
	for i, e := range p.list {
		out[i] = slices.Clone(e)
	}
	return out
}

// Sample draws an element, each with the same probability.
func (p polyhedral) Sample(r *rand.Rand) group.Element {
	return slices.Clone(p.list[r.IntN(len(p.list))])
}

// Window is the whole chart.
func (p polyhedral) Window() [][2]float64 { return p.space3.Window() }

// Cube maps uniform numbers to elements, evenly.
func (p polyhedral) Cube(window [][2]float64) (group.Cube, error) {
	return group.ListCube(p, p.list, window)
}

// Lattice is what can act without resampling.
func (p polyhedral) Lattice(window [][2]float64) ([]group.Element, error) {
	s, err := group.Spans(p, window)
	if err != nil {
		return nil, err
	}
	var out []group.Element
	for _, e := range group.KeepIn(p.Elements(), s) {
		if _, _, ok := toQuat(vec3(e[:3])).octahedral(); ok {
			out = append(out, e)
		}
	}
	return out, nil
}

// Preset is what is visited when nobody chooses.
func (p polyhedral) Preset(window [][2]float64) ([]group.Element, string, error) {
	return group.ListPreset(p, p.Elements(), window)
}

// Gridded refuses grids.
func (p polyhedral) Gridded() error { return group.ErrGridless }

// Within is the window in words.
func (p polyhedral) Within(window [][2]float64) string {
	if window == nil {
		return ""
	}
	return group.BoxText(p, window)
}

// Listed says that coordinates between those of the list are no elements.
func (polyhedral) Listed() bool { return true }

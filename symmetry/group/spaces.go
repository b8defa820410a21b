package group

import "math"

// Spatial is a group that acts on R^d by affine maps p -> A·p + t. In three dimensions coordinates are x, y, z of a
// right-handed system, and a positive angle turns counter-clockwise seen from the tip of its axis. The factors of a
// [Factored] product are asked one by one.
//
// [Planar] groups act on the plane of a picture, whose y points down; [AsSpatial] takes them for groups of R^2.
type Spatial interface {
	Group
	Dim() int // d
	// Motion is A as d·d numbers in rows and t as d numbers. Entries are exact (0, ±1) wherever the map is a lattice
	// symmetry.
	Motion(g Element) (a, t []float64)
}

// Permuting is a group that permutes the rows of sets and the nodes of graphs.
type Permuting interface {
	Group
	// Rows is the number n of rows that an element permutes.
	Rows() int
	// Permutation says where each of m rows goes: row i to place Permutation(g, m)[i]. m is at most Rows.
	//
	// For m = Rows this is a homomorphism. Samples with fewer rows are moved by what is left of the permutation when
	// the rows beyond m are taken out of its cycles (the projection of virtual permutations: Kerov, Olshanski, Vershik
	// 2004): the identity stays the identity, inverses stay inverses and uniform permutations stay uniform, but
	// products do not stay products.
	Permutation(g Element, m int) []int
}

// Shifting is a group that moves the time axis: what happened at t happens at t + Shift(g), in samples of the signal or
// frames of the sequence. A group that also reverses time is [Temporal] too; reversal acts first.
type Shifting interface {
	Group
	Shift(g Element) float64
	// Turn is the period of the shift in samples, 0 if there is none: signals then move around.
	Turn() int
}

// Flowing is a group of one-parameter motions: an element is a velocity, and the frame of a sequence at time t, counted
// from the first, is moved by an element of another group (Keller 2025, Flow equivariant recurrent neural networks).
type Flowing interface {
	Group
	Inner() Group
	// At is the element of Inner that moves the frame at time t: exp(t·ν·X). At time 0 it is the identity.
	At(g Element, t float64) Element
}

// Coloring is a group, or a family that is one where nothing is clipped, that changes the channels of pictures and
// leaves places alone.
type Coloring interface {
	Group
	// Color writes the new values of one pixel, a number in [0, 1] per channel, over the old ones, without clipping.
	Color(g Element, pixel []float64)
	// Channels is the number of channels that the group needs, 0 for any.
	Channels() int
}

// Factored is a direct product whose factors can be asked one by one, such as permutations of atoms and motions of
// space.
type Factored interface {
	Group
	// Factors are the groups, at least two of them.
	Factors() []Group
	// Split is the element of each factor.
	Split(g Element) []Element
}

// Represented is a group that brings its own matrices on inputs and outputs, as groups that users define do.
type Represented interface {
	Group
	// Matrix is how g acts on vectors of the named representation: d·d numbers in rows. It is false for names that the
	// group does not know.
	Matrix(name string, g Element) (m []float64, ok bool)
	// Representations are the names that the group knows, and the lengths d of their vectors.
	Representations() map[string]int
}

// AsSpatial is how a group moves points: itself if it is [Spatial]; a [Planar] group by the same maps of R², whose x
// points to the right and whose y points down as in pictures, in pixels. It is false for other groups.
func AsSpatial(g Group) (Spatial, bool) {
	if s, ok := g.(Spatial); ok {
		return s, true
	}
	if p, ok := g.(Planar); ok {
		return flatSpace{p}, true
	}
	return nil, false
}

type flatSpace struct{ Planar }

// Dim is 2.
func (flatSpace) Dim() int { return 2 }

// Motion is the map of the plane.
func (f flatSpace) Motion(g Element) (a, t []float64) {
	m, u := f.Affine(g)
	return []float64{m[0][0], m[0][1], m[1][0], m[1][1]}, u[:]
}

// Torus is a [Planar] group that acts on a grid of given size whose opposite sides are joined. Its Affine maps compose
// up to whole periods only, so an action on pictures must have exactly this size and wrap around the border.
type Torus interface {
	Planar
	Period() (h, w int) // in pixels
}

// Temporal is a group some of whose elements run time backwards. They compose as signs do: a product reverses if one
// factor does and the other does not.
type Temporal interface {
	Group
	Reverses(g Element) bool
}

// Reverses is what a [Temporal] says, and false for other groups.
func Reverses(g Group, e Element) bool {
	t, ok := g.(Temporal)
	return ok && t.Reverses(e)
}

// Induced is what is left of a permutation for its first m rows when the others are taken out of the cycles: a row
// whose place is taken out goes where the row of that place goes, and so on. Row i of the permutation goes to place
// e[i]; -1 stands for what is no place. It is what [Permuting] asks for where a sample has fewer rows.
func Induced(e Element, m int) []int {
	look := func(i int) int {
		if i < len(e) {
			if v := math.Round(e[i]); v >= 0 && v < float64(len(e)) {
				return int(v)
			}
		}
		return -1
	}
	out := make([]int, m)
	for i := range out {
		to := look(i)
		for k := 0; to >= m && k < len(e); k++ {
			to = look(to)
		}
		out[i] = to
	}
	return out
}

package lint

import (
	"math/bits"
	"slices"
	"strings"
)

// Element is a symmetry of the square grid of pixels: a quarter turn, a mirror, or what they make together.
type Element uint8

// The elements of D4, in the order in which sets of them are listed. Angles are counter-clockwise as displayed, as in
// package symmetry/group. On a picture that is not square only Identity, HalfTurn, MirrorX and MirrorY exist.
const (
	Identity      Element = iota
	Turn90                // a quarter turn
	HalfTurn              // by 180 degrees
	Turn270               //
	MirrorX               // left to right
	MirrorY               // top to bottom
	Transpose             // along the main diagonal
	Antitranspose         // along the other diagonal
)

const elements = 8

var elementNames = [elements]string{
	"identity", "turn 90", "turn 180", "turn 270", "mirror-x", "mirror-y", "transpose",
	"antitranspose",
}

// String is the name of the element, such as "turn 90" or "mirror-x".
func (e Element) String() string {
	if int(e) >= len(elementNames) {
		return "?"
	}
	return elementNames[e]
}

// swaps tells whether the element takes rows to columns.
func (e Element) swaps() bool {
	return e == Turn90 || e == Turn270 || e == Transpose || e == Antitranspose
}

// matrices are those of the elements, x to the right, y down.
var matrices = [elements][2][2]float64{
	Identity:      {{1, 0}, {0, 1}},
	Turn90:        {{0, 1}, {-1, 0}},
	HalfTurn:      {{-1, 0}, {0, -1}},
	Turn270:       {{0, -1}, {1, 0}},
	MirrorX:       {{-1, 0}, {0, 1}},
	MirrorY:       {{1, 0}, {0, -1}},
	Transpose:     {{0, 1}, {1, 0}},
	Antitranspose: {{0, -1}, {-1, 0}},
}

// ByMatrix is the element with a matrix as package symmetry/group writes it: x to the right, y down.
func ByMatrix(a [2][2]float64) (Element, bool) {
	k := slices.Index(matrices[:], a)
	return Element(max(k, 0)), k >= 0
}

// place is where the element takes the place (y, x) of a map of h rows and w columns. h and w must be equal if it
// swaps.
func (e Element) place(y, x, h, w int) (int, int) {
	switch e {
	case Turn90:
		return w - 1 - x, y
	case HalfTurn:
		return h - 1 - y, w - 1 - x
	case Turn270:
		return x, h - 1 - y
	case MirrorX:
		return y, w - 1 - x
	case MirrorY:
		return h - 1 - y, x
	case Transpose:
		return x, y
	case Antitranspose:
		return w - 1 - x, h - 1 - y
	case Identity:
	}
	return y, x
}

// Subgroup is a set of elements of D4, as one bit each.
type Subgroup uint8

// Some subgroups.
const (
	Trivial Subgroup = 1 << Identity
	Whole   Subgroup = 1<<elements - 1
	// Rectangle is those that exist on a picture that is not square.
	Rectangle Subgroup = 1<<Identity | 1<<HalfTurn | 1<<MirrorX | 1<<MirrorY
)

// Has tells whether the element is in the set.
func (s Subgroup) Has(e Element) bool { return s&(1<<e) != 0 }

// Order is the number of elements.
func (s Subgroup) Order() int { return bits.OnesCount8(uint8(s)) }

// Elements lists the set.
func (s Subgroup) Elements() []Element {
	var out []Element
	for e := range Element(elements) {
		if s.Has(e) {
			out = append(out, e)
		}
	}
	return out
}

// Names are the names of the elements.
func (s Subgroup) Names() []string {
	out := []string{}
	for _, e := range s.Elements() {
		out = append(out, e.String())
	}
	return out
}

// Name is that of the group as package symmetry/group reads it: "D4", "C4", "D2", "C2", "D1" or "C1". D2 and D1 occur
// in two and four positions; String tells them apart. A set that is no group has the name of the largest group in it.
func (s Subgroup) Name() string {
	name, _, _ := strings.Cut(s.String(), " ")
	return name
}

// String is the group in words that tell its position: "D4", "C4", "D2", "D2 (diagonals)", "C2", "D1 (left-right)",
// "D1 (top-bottom)", "D1 (main diagonal)", "D1 (other diagonal)" or "C1" for the identity alone.
func (s Subgroup) String() string {
	for _, g := range groups {
		if s&g.set == g.set {
			return g.name
		}
	}
	return "C1"
}

// groups are the subgroups of D4, the largest first.
var groups = []struct {
	set  Subgroup
	name string
}{
	{Whole, "D4"},
	{1<<Identity | 1<<Turn90 | 1<<HalfTurn | 1<<Turn270, "C4"},
	{Rectangle, "D2"},
	{1<<Identity | 1<<HalfTurn | 1<<Transpose | 1<<Antitranspose, "D2 (diagonals)"},
	{1<<Identity | 1<<HalfTurn, "C2"},
	{1<<Identity | 1<<MirrorX, "D1 (left-right)"},
	{1<<Identity | 1<<MirrorY, "D1 (top-bottom)"},
	{1<<Identity | 1<<Transpose, "D1 (main diagonal)"},
	{1<<Identity | 1<<Antitranspose, "D1 (other diagonal)"},
}

// MarshalText is String.
func (s Subgroup) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText is String.
func (e Element) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Package catalog holds the built-in groups: of the plane, of space, of time, of rows, of channels and of matrices.
// [Parse] reads their names and products of them, [List] says what there is. What they do is asked through package
// group, which knows none of them.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"nero/symmetry/group"
)

// Entry documents a group or a family of groups.
type Entry struct {
	// how to write it, with letters for numbers: "C<n>"
	Name string `json:"name"`
	// a name that [Parse] reads
	Example string `json:"example"`
	// what it is and how its elements compose
	Doc string `json:"doc"`
	// of the example; its bounds may be infinite, which JSON cannot say
	Chart []group.Axis `json:"-"`
	// the chart for people
	Axes string `json:"axes"`
	// which elements move a picture without resampling
	Exact string `json:"exact"`
	// what is visited if nobody says
	Orbit string `json:"orbit"`

	// A name is read in one of three ways; keys, heads and letters are squashed.
	// names of a group without parameters, without parentheses and commas
	keys []string
	make func() group.Group
	// what stands before a parenthesis, and who reads what is in it
	heads []string
	read  func(text, head, args string) (group.Group, error)
	// a letter with a number, and what the number is
	letter, expected string
	count            func(n int) (group.Group, error)
}

// List lists the groups that [Parse] reads, for help texts. Of more groups, which come last, it tells what they say of
// themselves in a method Doc.
func List(more ...group.Group) []Entry {
	list := slices.Clone(entries)
	for _, g := range more {
		e := Entry{Name: g.Name(), Example: g.Name(), Exact: "as its actions say"}
		if d, ok := g.(interface{ Doc() string }); ok {
			e.Doc = d.Doc()
		}
		list = append(list, e)
	}
	for i := range list {
		g, err := Parse(list[i].Example, more...)
		if err != nil { // a test reads every example
			continue
		}
		list[i].Chart = g.Chart()
		list[i].Axes = chartText(list[i].Chart)
		if _, list[i].Orbit, err = group.Preset(g, nil); err != nil {
			list[i].Orbit = ""
		}
	}
	return list
}

// One tells of one group what [List] tells of its kind: of a name that [Parse] reads, or that stands in the list.
func One(name string, more ...group.Group) (Entry, error) {
	for _, e := range List(more...) {
		if squash(e.Name) == squash(name) {
			return e, nil
		}
	}
	g, err := Parse(name, more...)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{
		Doc: "a product of groups, each of which 'nero groups' lists", Exact: "those whose factors all are exact",
	}
	if of := entryOf(name); of != nil {
		e = *of
	}
	e.Name, e.Example, e.Chart, e.Axes = g.Name(), g.Name(), g.Chart(), chartText(g.Chart())
	e.Orbit = ""
	if _, text, err := group.Preset(g, nil); err == nil {
		e.Orbit = text
	}
	return e, nil
}

// entryOf is the entry that reads the name of a group that is no product, nil for none.
func entryOf(text string) *Entry {
	key := squash(text)
	bare := strings.NewReplacer("(", "", ")", "", ",", "").Replace(key)
	head, _, _ := strings.Cut(key, "(")
	for i := range entries {
		e := &entries[i]
		if slices.Contains(e.keys, bare) || slices.Contains(e.heads, head) {
			return e
		}
	}
	for i := range entries {
		e := &entries[i]
		if rest, ok := strings.CutPrefix(bare, e.letter); ok && e.letter != "" && digits(rest) {
			return e
		}
	}
	return nil
}

// entries are all groups by name. A new group is one entry here, beside the file that makes it.
var entries = []Entry{
	{
		Name: "SO(2)", Example: "SO(2)",
		keys: []string{"so2", "rotation", "rotations", "rotate"}, make: SO2,
		Doc:   "Rotations about the centre of the picture, counter-clockwise as displayed.",
		Exact: "0 and 180 degrees; on square pictures also 90 and 270",
	},
	{
		Name: "O(2)", Example: "O(2)",
		keys: []string{"o2"}, make: O2,
		Doc:   "Rotations and mirrors. A mirrored element exchanges left and right first, then turns.",
		Exact: "half turns and axis mirrors; on square pictures quarter turns and diagonal mirrors",
	},
	{
		Name: "C<n>", Example: "C4",
		letter: "c", count: Cyclic, expected: "number of rotations, such as C4",
		Doc:   "The n rotations by multiples of 360/n degrees.",
		Exact: "its multiples of 180 degrees; on square pictures of 90",
	},
	{
		Name: "D<n>", Example: "D4",
		letter: "d", count: Dihedral, expected: "number of rotations, such as D4",
		Doc:   "The rotations of C<n> and their mirror images, 2n elements, in the chart of O(2).",
		Exact: "as O(2)",
	},
	{
		Name: "T(2)", Example: "T(2)",
		keys: []string{"t2", "r2", "shift", "shifts", "translation", "translations"}, make: T2,
		Doc:   "Shifts by any number of pixels, dx to the right and dy down.",
		Exact: "shifts by whole pixels",
	},
	{
		Name: "T(2,Z)", Example: "T(2,Z)",
		keys: []string{"t2z", "z2"}, make: T2Z,
		Doc: "Shifts by whole pixels; what enters at the border is the border rule's, or real content with a " +
			"crop window.",
		Exact: "all",
	},
	{
		Name: "Roll(<h>,<w>)", Example: "Roll(28,28)",
		heads: []string{"roll", "rolls", "torus"}, read: readRoll,
		Doc: "Cyclic shifts of a grid of h rows and w columns by whole pixels: what leaves on one side enters " +
			"on the other.",
		Exact: "all",
	},
	{
		Name: "Scale", Example: "Scale",
		keys: []string{"scale", "scaling", "r+"}, make: Scale,
		Doc:   "Magnifications about the centre. Enlarging and shrinking are not inverse on pixels.",
		Exact: "the identity",
	},
	{
		Name: "SE(2)", Example: "SE(2)",
		keys: []string{"se2"}, make: SE2,
		Doc:   "Rotations and shifts: the element turns about the centre, then shifts.",
		Exact: "whole shifts after half turns; on square pictures after quarter turns",
	},
	{
		Name: "E(2)", Example: "E(2)",
		keys: []string{"e2"}, make: E2,
		Doc:   "Rotations, mirrors and shifts: the element mirrors, turns, then shifts.",
		Exact: "as SE(2), and mirrors",
	},
	{
		Name: "p4", Example: "p4",
		keys: []string{"p4"}, make: P4,
		Doc:   "Quarter turns and shifts by whole pixels, in the chart of SE(2).",
		Exact: "all, on square pictures",
	},
	{
		Name: "p4m", Example: "p4m",
		keys: []string{"p4m"}, make: P4M,
		Doc:   "Quarter turns, mirrors and shifts by whole pixels, in the chart of E(2).",
		Exact: "all, on square pictures",
	},
	{
		Name: "Affine(<generators>)", Example: "Affine(rotate,scale)",
		heads: []string{"affine"}, read: listed(ByGenerators),
		Doc:   affineDoc(),
		Exact: "as the maps they give: quarter turns, whole shifts",
	},
	{
		Name: "SO(3)", Example: "SO(3)",
		keys: []string{"so3"}, make: SO3,
		Doc: "Rotations of space about the origin, as rotation vectors: the axis times the angle, right-handed, " +
			"of at most 180 degrees; at 180 the " +
			"first component that is not 0 is positive. Slices are the rotations about the axes in the planes " +
			"xy, xz and yz.",
		Exact: "the 24 rotations of the cube, which permute coordinates and change signs; points are never " +
			"resampled, volumes are by all others",
	},
	{
		Name: "O(3)", Example: "O(3)",
		keys: []string{"o3"}, make: O3,
		Doc: "Rotations of space and their products with the inversion, which turns every vector v into -v; " +
			"mirrors are half turns with the inversion.",
		Exact: "the 48 symmetries of the cube",
	},
	{
		Name: "T(3)", Example: "T(3)",
		keys: []string{"t3", "r3"}, make: T3,
		Doc:   "Shifts of space, in the unit of length of the data; of volumes in voxels.",
		Exact: "all, up to the rounding of a sum; of volumes those by whole voxels",
	},
	{
		Name: "T(3,Z)", Example: "T(3,Z)",
		keys: []string{"t3z", "z3"}, make: T3Z,
		Doc: "Shifts of volumes by whole voxels along columns, rows and slices; what enters at the border is the " +
			"border rule's.",
		Exact: "all",
	},
	{
		Name: "SE(3)", Example: "SE(3)",
		keys: []string{"se3"}, make: SE3,
		Doc:   "Rotations and shifts of space: the element turns about the origin, then shifts.",
		Exact: "as SO(3), then shifts",
	},
	{
		Name: "E(3)", Example: "E(3)",
		keys: []string{"e3"}, make: E3,
		Doc:   "Rotations, inversions and shifts of space: the element turns, inverts, then shifts.",
		Exact: "as O(3), then shifts",
	},
	{
		Name: "Tetra", Example: "Tetra",
		keys: []string{"tetra", "tetrahedral"}, make: Tetra,
		Doc: "The 12 rotations of a tetrahedron, in the chart of SO(3). Th has them with the inversion, Td the " +
			"24 symmetries of the tetrahedron, in the chart of O(3).",
		Exact: "all",
	},
	{
		Name: "Octa", Example: "Octa",
		keys: []string{"octa", "octahedral"}, make: Octa,
		Doc:   "The 24 rotations of a cube along the axes of coordinates, in the chart of SO(3).",
		Exact: "all",
	},
	{
		Name: "Icosa", Example: "Icosa",
		keys: []string{"icosa", "icosahedral"}, make: Icosa,
		Doc:   "The 60 rotations of an icosahedron, in the chart of SO(3).",
		Exact: "the 12 that are rotations of a tetrahedron",
	},
	{
		Name: "Th", Example: "Th",
		keys: []string{"th"}, make: Th,
		Doc:   "The 12 rotations of a tetrahedron, with and without the inversion, in the chart of O(3).",
		Exact: "all",
	},
	{
		Name: "Td", Example: "Td",
		keys: []string{"td"}, make: Td,
		Doc:   "The 24 symmetries of a tetrahedron, mirrors included, in the chart of O(3).",
		Exact: "all",
	},
	{
		Name: "Oh", Example: "Oh",
		keys: []string{"oh"}, make: Oh,
		Doc:   "The 48 symmetries of a cube, mirrors included, in the chart of O(3).",
		Exact: "all",
	},
	{
		Name: "Ih", Example: "Ih",
		keys: []string{"ih"}, make: Ih,
		Doc:   "The 120 symmetries of an icosahedron, mirrors included, in the chart of O(3).",
		Exact: "the 24 of Th",
	},
	{
		Name: "Og(3,<direction>)", Example: "Og(3)",
		heads: []string{"og", "og3"}, read: readAbout(true),
		Doc: "The rotations and mirrors of space that keep a direction, such as that of gravity: z in Og(3), " +
			"else Og(3,x), Og(3,y) or three numbers as in " +
			"Og(3,0,0,-1). The element mirrors in a plane that holds the direction, then turns about it.",
		Exact: "quarter turns about an axis of coordinates",
	},
	{
		Name: "SOg(3,<direction>)", Example: "SOg(3)",
		heads: []string{"sog", "sog3"}, read: readAbout(false),
		Doc:   "The rotations of space about a direction: Og(3,<direction>) without mirrors.",
		Exact: "quarter turns about an axis of coordinates",
	},
	{
		Name: "Eg(3,<direction>)", Example: "Eg(3)",
		heads: []string{"eg", "eg3"}, read: readUpright(true),
		Doc: "The rotations, mirrors and shifts of space that keep a direction, z in Eg(3), else as in " +
			"Og(3,<direction>): the joint motions of Og(3) and T(3), which do not commute. The element mirrors, " +
			"turns, then shifts.",
		Exact: "as Og(3), then shifts",
	},
	{
		Name: "SEg(3,<direction>)", Example: "SEg(3)",
		heads: []string{"seg", "seg3"}, read: readUpright(false),
		Doc:   "The rotations about a direction and the shifts of space: Eg(3,<direction>) without mirrors.",
		Exact: "as SOg(3), then shifts",
	},
	{
		Name: "Scale(3)", Example: "Scale(3)",
		keys: []string{"scale3"}, make: Scale3,
		Doc:   "Magnifications of space about the origin.",
		Exact: "the identity",
	},
	{
		Name: "GL+(<n>)", Example: "GL+(3)",
		heads: []string{"gl+"}, read: numbered("dimension, such as GL+(2)", GLPlus),
		Doc: "Matrices of positive determinant in 2 or 3 dimensions: the element stretches by all its factors at " +
			"once, then turns, k·exp(p). Every matrix has " +
			"such coordinates, while exp alone does not reach those with two different negative eigenvalues.",
		Exact: "the rotations of the cube; in 2 dimensions quarter turns",
	},
	{
		Name: "SL(<n>)", Example: "SL(2)",
		heads: []string{"sl"}, read: numbered("dimension, such as SL(2)", SL),
		Doc: "Matrices of determinant 1 in 2 or 3 dimensions, as GL+(<n>) without scale. Exp alone does not " +
			"reach all of them.",
		Exact: "as GL+(<n>)",
	},
	{
		Name: "Affine(3)", Example: "Affine(3)",
		keys: []string{"affine3"}, make: Affine3,
		Doc: "Affine maps of space of positive determinant: the element stretches, turns, then shifts. Exp " +
			"alone does not reach all of them.",
		Exact: "as SO(3), then shifts",
	},
	{
		Name: "Lorentz", Example: "Lorentz",
		keys: []string{"lorentz", "so+13", "so13"}, make: Lorentz,
		Doc: "Rotations and boosts of events (t, x, y, z) that keep t² - x² - y² - z², the direction of time and " +
			"the orientation: SO+(1,3). The element " +
			"boosts by the rapidities bx, by, bz, then turns.",
		Exact: "as SO(3)",
	},
	{
		Name: "Sp(<2n>)", Example: "Sp(4)",
		heads: []string{"sp"}, read: numbered("dimension, such as Sp(2)", Symplectic),
		Doc: "Symplectic matrices of 2 or 4 dimensions, which keep the form of places and momenta (q, p). The " +
			"element stretches by exp(p), then turns by a " +
			"unitary matrix. Exp alone does not reach all of them.",
		Exact: "the identity",
	},
	{
		Name: "SU(2)", Example: "SU(2)",
		keys: []string{"su2"}, make: SU2,
		Doc: "Unit quaternions, which turn space twice over: a full turn of 360 degrees is -1. They act on R⁴ by " +
			"products from the left, the representation " +
			"spinor; the representation vector is the rotation of space.",
		Exact: "half turns",
	},
	{
		Name: "S(<n>)", Example: "S(5)",
		letter: "s", count: Symmetric, expected: "number of rows, such as S(5)",
		Doc: "Permutations of the n rows of a set or nodes of a graph: row i goes to place p<i>, counted from 0. " +
			"Samples with fewer rows are moved by " +
			"what is left of the cycles when the other rows are taken out of them.",
		Exact: "all",
	},
	{
		Name: "T(1,Z)", Example: "T(1,Z)",
		keys: []string{"t1z"}, make: T1Z,
		Doc: "Shifts of time by whole samples or frames, later for positive dt; what enters at the ends is the " +
			"border rule's.",
		Exact: "all",
	},
	{
		Name: "T(1)", Example: "T(1)",
		keys: []string{"t1"}, make: T1,
		Doc:   "Shifts of time by any number of samples, fractions included.",
		Exact: "shifts by whole samples",
	},
	{
		Name: "Roll(<n>)", Example: "Roll(16)",
		Doc:   "Cyclic shifts of a signal of n samples: what leaves at the end enters at the beginning.",
		Exact: "all",
	},
	{
		Name: "E(1,Z)", Example: "E(1,Z)",
		keys: []string{"e1z"}, make: E1Z,
		Doc:   "Shifts of time by whole samples and its reversal: the element reverses, then shifts.",
		Exact: "all",
	},
	{
		Name: "Flow(<generators>)", Example: "Flow(shift x,shift y)",
		heads: []string{"flow"}, read: listed(Flow),
		Doc: "Motions of a sequence at constant velocity ν: the frame at time t, counted from 0, is moved by " +
			"exp(t·ν·X). Generators of the plane are those of " +
			"Affine that commute, such as shift x and shift y, or rotate and scale; after a 3, as in " +
			"Flow(3,rotate z), those of space: rotate x, rotate y, " +
			"rotate z, shift x, shift y, shift z. Rest is the identity, and velocities add.",
		Exact: "velocities whose maps are exact at all times: whole pixels per frame, 90 degrees per frame",
	},
	{
		Name: "Hue", Example: "Hue",
		keys: []string{"hue"}, make: Hue,
		Doc: "Turns of the colors of three channels about the axis of the greys; 120 degrees move red to " +
			"green, green to blue, blue to red.",
		Exact: "multiples of 120 degrees",
	},
	{
		Name: "Channels(<n>)", Example: "Channels(3)",
		heads: []string{"channels"}, read: numbered("number of channels, such as Channels(3)", Channels),
		Doc:   "Permutations of the n channels of pictures: channel i goes to place c<i>.",
		Exact: "all",
	},
	{
		Name: "Brightness", Example: "Brightness",
		keys: []string{"brightness"}, make: Brightness,
		Doc:   "The maps x + b of all channels. Values that leave [0, 1] are clipped by pictures and counted.",
		Exact: "all that are not clipped, up to the rounding of a sum",
	},
	{
		Name: "Contrast", Example: "Contrast",
		keys: []string{"contrast"}, make: Contrast,
		Doc: "The maps 1/2 + c·(x - 1/2) of all channels. Values that leave [0, 1] are clipped by pictures and " +
			"counted.",
		Exact: "the identity",
	},
	{
		Name: "Gamma", Example: "Gamma",
		keys: []string{"gamma"}, make: Gamma,
		Doc:   "The maps x^γ of all channels.",
		Exact: "the identity",
	},
	{
		Name: "Time", Example: "Time",
		keys: []string{"time", "reversal", "timereversal"}, make: Time,
		Doc: "Time reversal: the opposite order of frames, and the opposite sign of velocities. In products such " +
			"as D4 x Time, also called " +
			"piv-d4t, whose 16 elements have the numbers of the square's table, 8 to 15 reversing time.",
		Exact: "all; for velocities given at the middle of the time",
	},
	{
		Name: "Trivial", Example: "Trivial",
		keys: []string{"trivial", "identity", "none", "1"}, make: group.Trivial,
		Doc:   "The identity alone.",
		Exact: "all",
	},
}

func affineDoc() string {
	var s []string
	for _, k := range genKinds() {
		s = append(s, k.name+" ("+k.doc+")")
	}
	return "The maps exp(Σ t_i X_i) for generators X_i among " + strings.Join(s, ", ") +
		". They must span a Lie algebra; the error says what is missing. With rotate, scale, stretch and hyperbolic " +
		"together exp does " +
		"not reach every matrix, and a product that has no logarithm has no coordinates."
}

func chartText(chart []group.Axis) string {
	if len(chart) == 0 {
		return "none"
	}
	s := make([]string, len(chart))
	for i, a := range chart {
		s[i] = a.Name
		if a.Unit != "" {
			s[i] += " in " + a.Unit
		}
		switch {
		case a.Periodic:
			s[i] += fmt.Sprintf(", period %g", a.Max-a.Min)
		case a.Switch():
			s[i] += ", 0 or 1"
		case a.Form() == group.FormFactor:
			s[i] += ", above 0"
		}
	}
	return strings.Join(s, "; ")
}

package view

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/symmetry/group"
)

// Spatial is where the chart of a group of motions of space keeps its coordinates. An index is -1 where the chart has
// no such axis.
type Spatial struct {
	// of rx, with ry and rz behind it: the rotation vector in degrees
	R         int
	Inversion int
	// of tx, with ty and tz behind it
	T int
}

// SpatialOf finds the rotation vector, the inversion and the shift of a chart that has nothing else, such as those of
// SO(3), O(3), SE(3) and E(3).
func SpatialOf(chart []group.Axis) (Spatial, bool) {
	s := Spatial{R: -1, Inversion: -1, T: -1}
	for i := 0; i < len(chart); {
		k := chart[i].Kind
		three := i+3 <= len(chart) && chart[i+1].Kind == k && chart[i+2].Kind == k
		switch {
		case k == group.KindVector && three && s.R < 0:
			s.R, i = i, i+3
		case k == group.KindLength && three && s.T < 0:
			s.T, i = i, i+3
		case k == group.KindInversion && s.Inversion < 0:
			s.Inversion, i = i, i+1
		default:
			return s, false
		}
	}
	return s, s.R >= 0
}

// Turn is the angle of the rotation of an element in degrees, 0 to 180.
func (s Spatial) Turn(e group.Element) float64 {
	return math.Sqrt(e[s.R]*e[s.R] + e[s.R+1]*e[s.R+1] + e[s.R+2]*e[s.R+2])
}

// improper reports whether an element inverts space.
func (s Spatial) improper(e group.Element) bool { return s.Inversion >= 0 && e[s.Inversion] != 0 }

func (s Spatial) shifted(e group.Element) bool {
	return s.T >= 0 && (e[s.T] != 0 || e[s.T+1] != 0 || e[s.T+2] != 0)
}

// plane names the coordinates of a rotation vector that are to the right, upward and 0.
type plane struct {
	name      string
	x, y, out int
}

// direction is that of an axis in the plane, 0 to 360 degrees.
func (p plane) direction(r group.Element) float64 {
	a := math.Atan2(r[p.y], r[p.x]) * 180 / math.Pi
	if a < 0 {
		a += 360
	}
	return a
}

// planes are the planes in which the axes of the discs lie: the axis at psi is (cos psi, sin psi, 0), (cos psi, 0, sin
// psi) and (0, cos psi, sin psi).
var planes = [...]plane{{"xy", 0, 1, 2}, {"xz", 0, 2, 1}, {"yz", 1, 2, 0}}

// flat is how far, in degrees, the rotation vector of an element of a disc may be from its plane.
const flat = 1e-6

// sliced reports whether all elements are rotations about axes in the three planes, with or without inversion, in one
// of which axes have three directions or more.
func (s Spatial) sliced(elements []group.Element) bool {
	var turns []float64
	var ways [len(planes)]map[int64]bool
	for _, e := range elements {
		if s.shifted(e) || math.Abs(e[s.R]) > flat && math.Abs(e[s.R+1]) > flat && math.Abs(e[s.R+2]) > flat {
			return false
		}
		turns = append(turns, math.Round(s.Turn(e)/flat))
		for i, p := range planes {
			if r := e[s.R : s.R+3]; math.Abs(r[p.out]) <= flat && s.Turn(e) > flat {
				if ways[i] == nil {
					ways[i] = map[int64]bool{}
				}
				ways[i][int64(math.Round(p.direction(r)/flat))] = true
			}
		}
	}
	slices.Sort(turns)
	return len(slices.Compact(turns)) >= 3 &&
		slices.ContainsFunc(ways[:], func(w map[int64]bool) bool { return len(w) >= 3 })
}

// Sector is the part of a disc that stands for one element: between two directions of the axis and two angles, all in
// degrees. From is at most To, which may be beyond 360; a sector all the way round has To = From + 360.
type Sector struct {
	// index into the points of the series
	Point        int
	From, To     float64
	Inner, Outer float64
}

// sectors cut a disc into one part for each point, X being the direction of the axis and Y the angle: rings around the
// identity whose borders are half-way between neighbors, so that no part is empty. Half turns about opposite axes are
// one element, which has two parts.
func sectors(pts []Point) []Sector {
	type cell struct {
		at    float64
		point int
	}
	rings := map[int64][]cell{}
	var turns []float64
	for i, p := range pts {
		k := int64(math.Round(p.Y / flat))
		if rings[k] == nil {
			turns = append(turns, p.Y)
		}
		rings[k] = append(rings[k], cell{math.Mod(p.X+360, 360), i})
		if math.Abs(p.Y-180) <= flat {
			rings[k] = append(rings[k], cell{math.Mod(p.X+180, 360), i})
		}
	}
	slices.Sort(turns)
	var out []Sector
	for n, t := range turns {
		inner, outer := 0.0, t
		if n > 0 {
			inner = (turns[n-1] + t) / 2
		}
		if n+1 < len(turns) {
			outer = (t + turns[n+1]) / 2
		}
		ring := rings[int64(math.Round(t/flat))]
		slices.SortStableFunc(ring, func(a, b cell) int { return compare(a.at, b.at) })
		if t <= flat || len(ring) == 1 {
			out = append(out, Sector{Point: ring[0].point, To: 360, Inner: inner, Outer: outer})
			continue
		}
		for i, c := range ring {
			before, after := ring[(i+len(ring)-1)%len(ring)].at, ring[(i+1)%len(ring)].at
			if i == 0 {
				before -= 360
			}
			if i == len(ring)-1 {
				after += 360
			}
			out = append(out, Sector{
				Point: c.point, From: (before + c.at) / 2, To: (c.at + after) / 2, Inner: inner,
				Outer: outer,
			})
		}
	}
	return out
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// words says a motion of space: "90° about x, inverted, shifted by (1, 0, -2)"; "identity" for that.
func (s Spatial) words(e group.Element, number func(float64) string) string {
	var parts []string
	if t := s.Turn(e); t > flat {
		axis := ""
		for i := range 3 {
			if v := e[s.R+i] / t; math.Abs(math.Abs(v)-1) < 1e-9 {
				if axis = "xyz"[i : i+1]; v < 0 {
					axis = "-" + axis
				}
			}
		}
		if axis == "" {
			axis = triple(e[s.R]/t, e[s.R+1]/t, e[s.R+2]/t,
				func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) })
		}
		parts = append(parts, strconv.FormatFloat(t, 'g', 4, 64)+"° about "+axis)
	}
	if s.improper(e) {
		parts = append(parts, "inverted")
	}
	if s.shifted(e) {
		parts = append(parts, "shifted by "+triple(e[s.T], e[s.T+1], e[s.T+2], number))
	}
	if len(parts) == 0 {
		return "identity"
	}
	return strings.Join(parts, ", ")
}

// triple is three numbers; what is nothing but rounding is 0.
func triple(x, y, z float64, number func(float64) string) string {
	var t [3]string
	for i, v := range []float64{x, y, z} {
		if math.Abs(v) < 5e-4 {
			v = 0
		}
		t[i] = number(v)
	}
	return "(" + strings.Join(t[:], ", ") + ")"
}

// Cycles are the cycles of a permutation that moves row i to place e[i], those of one row left out; false if it is
// none.
func Cycles(e group.Element) (cycles [][]int, ok bool) {
	seen := make([]bool, len(e))
	for i := range e {
		var c []int
		for k := i; !seen[k]; k = int(e[k]) {
			if !(e[k] >= 0 && e[k] < float64(len(e))) || e[k] != math.Trunc(e[k]) {
				return nil, false
			}
			seen[k] = true
			c = append(c, k)
		}
		if len(c) > 0 && int(e[c[len(c)-1]]) != c[0] {
			return nil, false
		}
		if len(c) > 1 {
			cycles = append(cycles, c)
		}
	}
	return cycles, true
}

// Kind is what sort of permutation an element is: identity, transposition, cycle or permutation.
func kind(cycles [][]int) string {
	switch {
	case len(cycles) == 0:
		return "identity"
	case len(cycles) == 1 && len(cycles[0]) == 2:
		return "transposition"
	case len(cycles) == 1:
		return "cycle"
	}
	return "permutation"
}

// KindOf says what sort of element one is where a group has several: transposition, cycle or permutation of rows, and
// motion where the rows stay; proper or improper motions of space. It is empty where there is but one.
func KindOf(chart []group.Axis, e group.Element) string {
	if s, ok := SpatialOf(chart); ok && s.Inversion >= 0 {
		if s.improper(e) {
			return "improper"
		}
		return "proper"
	}
	from, n := group.Places(chart)
	cycles, ok := Cycles(e[from : from+n])
	if n == 0 || !ok {
		return ""
	}
	moves := false
	for i, a := range chart {
		moves = moves || (i < from || i >= from+n) && e[i] != a.Rest()
	}
	switch k := kind(cycles); {
	case !moves:
		return k
	case len(cycles) == 0:
		return "motion"
	default:
		return "motion and " + k
	}
}

// single reports whether every element moves along at most one axis, each of several axes being moved along by some:
// one-parameter subgroups.
func single(chart []group.Axis, elements []group.Element) bool {
	used := make([]bool, len(chart))
	for _, e := range elements {
		on := -1
		for i, a := range chart {
			if e[i] == a.Rest() {
				continue
			}
			if on >= 0 {
				return false
			}
			on = i
		}
		if on >= 0 {
			used[on] = true
		}
	}
	n := 0
	for i, u := range used {
		if u && chart[i].Switch() {
			return false
		}
		if u {
			n++
		}
	}
	return n >= 2
}

// level is the axis of a chart of one axis with or without a switch, and that switch, -1 if there is none.
func level(chart []group.Axis) (axis, branch int, ok bool) {
	switch {
	case len(chart) == 1:
		return 0, -1, true
	case len(chart) == 2 && chart[1].Switch() && !chart[0].Switch():
		return 0, 1, true
	case len(chart) == 2 && chart[0].Switch() && !chart[1].Switch():
		return 1, 0, true
	}
	return 0, -1, false
}

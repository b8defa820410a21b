package view

import (
	"math"
	"strconv"
	"strings"

	"nero/present/words"
	"nero/symmetry/group"
)

// SpaceAxes is where the chart of a group of motions of space keeps its coordinates. An index is -1 where the chart has
// no such axis.
type SpaceAxes struct {
	// of rx, with ry and rz behind it: the rotation vector in degrees
	R         int
	Inversion int
	// of tx, with ty and tz behind it
	T int
}

// SpaceAxesOf finds the rotation vector, the inversion and the shift of a chart that has nothing else, such as those of
// SO(3), O(3), SE(3) and E(3).
func SpaceAxesOf(chart []group.Axis) (SpaceAxes, bool) {
	s := SpaceAxes{R: -1, Inversion: -1, T: -1}
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
func (s SpaceAxes) Turn(e group.Element) float64 {
	return math.Sqrt(float64(e[s.R]*e[s.R]) + float64(e[s.R+1]*e[s.R+1]) + float64(e[s.R+2]*e[s.R+2]))
}

// improper reports whether an element inverts space.
func (s SpaceAxes) improper(e group.Element) bool { return s.Inversion >= 0 && e[s.Inversion] != 0 }

func (s SpaceAxes) shifted(e group.Element) bool {
	return s.T >= 0 && (e[s.T] != 0 || e[s.T+1] != 0 || e[s.T+2] != 0)
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

// words says a motion of space: "90° about x, inverted, shifted by (1, 0, −2)"; "identity" for that.
func (s SpaceAxes) words(e group.Element, number func(float64) string) string {
	var parts []string
	if t := s.Turn(e); t > flat {
		axis := ""
		for i := range 3 {
			if v := e[s.R+i] / t; math.Abs(math.Abs(v)-1) < 1e-9 {
				if axis = "xyz"[i : i+1]; v < 0 {
					axis = "−" + axis
				}
			}
		}
		if axis == "" {
			axis = triple(e[s.R]/t, e[s.R+1]/t, e[s.R+2]/t,
				func(v float64) string { return words.Minus(strconv.FormatFloat(v, 'g', 3, 64)) })
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
	if s, ok := SpaceAxesOf(chart); ok && s.Inversion >= 0 {
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

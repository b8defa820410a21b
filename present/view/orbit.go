package view

import (
	"slices"
	"strings"

	"nero/present/words"
	"nero/symmetry/group"
)

// OrbitTitle is the orbit of a plan for people: "rotations, 72 angles".
func OrbitTitle(g group.Group, n int) string {
	var what []string
	for _, a := range g.Chart() {
		word := a.Name
		if a.Kind != nil && a.Kind.Many != "" {
			word = a.Kind.Many
		}
		if !slices.Contains(what, word) {
			what = append(what, word)
		}
	}
	count := words.Count(n) + " elements"
	switch {
	case n == 1:
		count = "1 element"
	case len(what) == 1 && what[0] == group.KindTurn.Many && len(g.Chart()) == 1:
		count = words.Count(n) + " angles"
	}
	switch n := len(what); n {
	case 0:
		return "no motion, " + count
	case 1:
		return what[0] + ", " + count
	default:
		return strings.Join(what[:n-1], ", ") + " and " + what[n-1] + ", " + count
	}
}

// Whole reports whether the elements, no two of which are equal, are all of a finite group.
func Whole(g group.Group, elements []group.Element) bool {
	if f, ok := g.(group.Ordered); ok {
		return f.Order() == len(elements)
	}
	f, ok := g.(group.Finite)
	return ok && len(f.Elements()) == len(elements)
}

package group

import "strings"

// Partial is a [Lie] group whose exponential map does not reach every element.
type Partial interface {
	Group
	// Unreached says which elements exp does not reach, "" if it reaches all.
	Unreached() string
}

// Unreached is what a [Partial] says, of every factor of a product; "" for other groups. Plans and samples reach those
// elements all the same, except in groups by generators, whose chart is the exponential map.
func Unreached(g Group) string {
	switch g := g.(type) {
	case Factored:
		var s []string
		for _, f := range g.Factors() {
			if t := Unreached(f); t != "" {
				s = append(s, t)
			}
		}
		return strings.Join(s, "; ")
	case Partial:
		return g.Unreached()
	}
	return ""
}

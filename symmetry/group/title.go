package group

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"nero/internal/elementary"
)

// motionTitle names a motion of space: "75° about (0.707, 0.707, 0)", "inverted", "shifted by (0.1, 0, −2)". It is
// false for groups whose chart does not begin with a rotation vector, and for shifts alone.
func motionTitle(g Group, e Element) (string, bool) {
	chart := g.Chart()
	if len(chart) != len(e) || len(chart) < 3 || chart[0].Kind != KindVector {
		return "", false
	}
	var words []string
	if angle := elementary.Hypot(elementary.Hypot(e[0], e[1]), e[2]); angle > Tolerance {
		words = append(words, fmt.Sprintf("%s° about (%s, %s, %s)", short(angle), short(e[0]/angle),
			short(e[1]/angle), short(e[2]/angle)))
	}
	var shift []string
	moved := false
	for i, a := range chart[3:] {
		v := e[3+i]
		switch a.Kind {
		case KindInversion:
			if v != 0 {
				words = append(words, "inverted")
			}
		case KindLength:
			shift = append(shift, short(v))
			moved = moved || v != 0
		default:
			return "", false
		}
	}
	if moved {
		words = append(words, "shifted by ("+strings.Join(shift, ", ")+")")
	}
	if len(words) == 0 {
		return "identity", true
	}
	return strings.Join(words, ", "), true
}

// short is a number with three significant digits, without the sign of a zero and the noise around one.
func short(v float64) string {
	if math.Abs(v) < 5e-7 {
		v = 0
	}
	return minus(strconv.FormatFloat(v, 'g', 3, 64))
}

// productTitle joins the titles of the factors and leaves out those that do nothing.
func productTitle(p Factored, e Element) string {
	var words []string
	parts := p.Split(e)
	for i, g := range p.Factors() {
		if g.Dist(parts[i], g.Identity()) == 0 {
			continue
		}
		words = append(words, Title(g, parts[i]))
	}
	if len(words) == 0 {
		return "identity"
	}
	return strings.Join(words, "; ")
}

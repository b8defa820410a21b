package group

import (
	"math"
	"strings"
)

// The eight elements of D4 have the numbers that studies of particle images give them. A picture of n rows and columns
// becomes out[r][c] = in[index], r counted downwards:
//
//	0 identity       [r][c]          4 rotate 180°  [n-1-r][n-1-c]
//	1 mirror in /    [n-1-c][n-1-r]  5 mirror in \     [c][r]
//	2 rotate 90°  [c][n-1-r]      6 rotate 270°  [n-1-c][r]
//	3 horizontal     [r][n-1-c]      7 vertical        [n-1-r][c]
//
// Rotations are counter-clockwise as displayed. Numbers 8 to 15 are the same with time reversed, for D4 x Time.
const (
	squareOrder = 8
	squareSteps = 45 // degrees of turn per number
)

// squareAt says where the coordinates of D4 and of Time begin in an element of g; time is -1 if g is D4 alone.
func squareAt(g Group) (d4, time int, ok bool) {
	switch g.Name() {
	case "D4":
		return 0, -1, true
	case "D4 x Time":
		return 0, 2, true
	case "Time x D4":
		return 1, 0, true
	}
	return 0, 0, false
}

// Number is the number of an element of D4, 0 to 7, or of D4 x Time, 0 to 15, in the order that [AtNumber] documents.
// It is false for other groups and for coordinates that are no element.
func Number(g Group, e Element) (int, bool) {
	d4, time, ok := squareAt(g)
	if !ok {
		return 0, false
	}
	e, err := Validate(g, e)
	if err != nil {
		return 0, false
	}
	n := int(math.Round(e[d4] / squareSteps))
	if e[d4+1] != 0 { // the horizontal mirror, then a turn
		n = (n + 3) % squareOrder
	}
	if time >= 0 && e[time] != 0 {
		n += squareOrder
	}
	return n, true
}

// AtNumber is the element of D4 or of D4 x Time with a number; false for other groups and numbers out of range.
//
//	0 identity         2 rotate 90°    4 rotate 180°   6 rotate 270°
//	1 mirror in /      3 horizontal mirror  5 mirror in \      7 vertical mirror
//
// Rotations are counter-clockwise as displayed; a horizontal mirror exchanges left and right. 8 to 15 are 0 to 7 with
// time reversed. The even numbers are the rotations, and numbers compose by [AfterNumber].
func AtNumber(g Group, n int) (Element, bool) {
	d4, time, ok := squareAt(g)
	if !ok || n < 0 || n >= squareOrder && time < 0 || n >= 2*squareOrder {
		return nil, false
	}
	e := g.Identity()
	if n >= squareOrder {
		e[time] = 1
	}
	n %= squareOrder
	if n%2 != 0 {
		n = (n + squareOrder - 3) % squareOrder
		e[d4+1] = 1
	}
	e[d4] = float64(squareSteps * n)
	return e, true
}

// AfterNumber is the number of next∘current, current acting first: current + next for a rotation next, next - current
// for a mirror, modulo 8; time reversals cancel in pairs. Both numbers are 0 to 15, see [AtNumber].
func AfterNumber(next, current int) int {
	time := (next/squareOrder + current/squareOrder) % 2
	n, c := next%squareOrder, current%squareOrder
	if n%2 == 0 {
		n += c
	} else {
		n += squareOrder - c
	}
	return n%squareOrder + squareOrder*time
}

// Title names an element in words where its group has words: "mirror in /", "rotate 90°", "rotate 90° and time
// reversed" in D4 and D4 x Time, "time reversed" in Time, "75° about (0.707, 0.707, 0), inverted" for motions of
// space. Elsewhere it is [Format].
func Title(g Group, e Element) string {
	const reversed = "time reversed"
	if n, ok := Number(g, e); ok {
		name := [squareOrder]string{
			"identity", "mirror in /", "rotate 90°", "horizontal mirror", "rotate 180°", `mirror in \`,
			"rotate 270°", "vertical mirror",
		}[n%squareOrder]
		switch {
		case n < squareOrder:
			return name
		case n == squareOrder:
			return reversed
		}
		return strings.Join([]string{name, reversed}, " and ")
	}
	if chart := g.Chart(); len(e) == 1 && len(chart) == 1 && chart[0].Kind == KindTimeReversal {
		if Reverses(g, e) {
			return reversed
		}
		return "identity"
	}
	if words, ok := motionTitle(g, e); ok {
		return words
	}
	if p, ok := g.(Factored); ok && wordy(p) && len(e) == len(g.Chart()) {
		return productTitle(p, e)
	}
	return Format(g, e)
}

// wordy tells products that words say better than coordinates: those of motions of space and of permutations.
func wordy(p Factored) bool {
	for _, g := range p.Factors() {
		if _, ok := motionTitle(g, g.Identity()); ok {
			return true
		}
		if _, ok := g.(Permuting); ok {
			return true
		}
	}
	return false
}

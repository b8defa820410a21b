package twosample

import "math/rand/v2"

// Told is whether answers tell objects apart.
type Told struct {
	// Same is the mean distance of two answers about one object, Other that of two answers about different ones.
	Same, Other float64
	// P is the p-value of the hypothesis that answers do not depend on the object.
	P float64
	// Objects is how many there were.
	Objects int
}

// TellApart asks whether answers depend on the object that is asked about: what is noise alone keeps its distribution
// however the object is moved, and has nothing to lose. The answers about each object are in two parts, such as those
// to
// one view and those to others; the distance is the mean one of an answer about object i of the first part and one
// about
// object j of the second.
//
// If answers do not depend on the object, the second part of one is as likely that of another, whatever answers about
// one object have in common otherwise, such as seeds and views: P is that of the mean distance within objects among
// those of [Draws] orders of the second parts, and is valid for any number of objects. Objects of which fewer than four
// are asked about have fewer orders than would show anything at 0.05. It is NaN where a distance is, and where there
// are
// fewer than two objects.
func TellApart(objects int, distance func(i, j int) float64, r *rand.Rand) Told {
	d := make([]float64, objects*objects)
	same, other := 0.0, 0.0
	for i := range objects {
		for j := range objects {
			x := distance(i, j)
			if d[i*objects+j] = x; i == j {
				same += x
			} else {
				other += x
			}
		}
	}
	n := float64(objects)
	t := Told{Same: same / n, Other: other / (n * (n - 1)), Objects: objects}
	if objects < 2 {
		t.P = t.Other // 0/0
		return t
	}
	closeness := func(order func(i int) int) float64 {
		sum := 0.0
		for i := range objects {
			sum += d[i*objects+order(i)]
		}
		return -round(sum / n)
	}
	drawn := make([]float64, Draws)
	for b := range drawn {
		order := r.Perm(objects)
		drawn[b] = closeness(func(i int) int { return order[i] })
	}
	t.P = PValue(closeness(func(i int) int { return i }), drawn)
	return t
}

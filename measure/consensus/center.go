package consensus

import (
	"math"
	"slices"

	"nero/data/space"
)

// columns are the coordinates of the members of an object, with what a median or mean of them needs.
type columns struct {
	// x1, y1, x2, y2
	x [4][]float64
	// of rising coordinates
	order  [4][]int
	w      []float64
	turned bool
}

func (b *boxes) columns(members []member) *columns {
	c := &columns{w: make([]float64, len(members))}
	for k := range c.x {
		c.x[k] = make([]float64, len(members))
	}
	for i, m := range members {
		c.w[i] = b.kept[m.of].Weight
		c.turned = c.turned || m.box.Angle != 0
		c.x[0][i], c.x[1][i], c.x[2][i], c.x[3][i] = m.box.X1, m.box.Y1, m.box.X2, m.box.Y2
	}
	if !slices.ContainsFunc(c.w, func(x float64) bool { return x > 0 }) {
		for i := range c.w { // elements that weigh nothing, among themselves
			c.w[i] = 1
		}
	}
	if b.median && !c.turned {
		for k, x := range c.x {
			c.order[k] = ranked(x)
		}
	}
	return c
}

// center is the box that stands for the members of an object, leaving out one of them (-1 for none): the median or mean
// of each coordinate, the class that most say, ties by summed confidence and then the lower class. Turned boxes have
// their centre, width, height and direction brought together instead.
func (b *boxes) center(members []member, c *columns, skip int) space.Box {
	if skip >= 0 && (c.turned || c.w[skip] == sum(c.w)) {
		rest := slices.Delete(slices.Clone(members), skip, skip+1)
		return b.center(rest, b.columns(rest), -1)
	}
	if !c.turned {
		out := space.Box{Label: vote(members, c.w, skip)}
		for k, to := range [...]*float64{&out.X1, &out.Y1, &out.X2, &out.Y2} {
			if b.median {
				*to = medianOf(c.x[k], c.w, c.order[k], skip)
			} else {
				*to = average(c.x[k], c.w, skip)
			}
		}
		return out
	}
	return b.turned(members, c.w)
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// turned is the center of turned boxes.
func (b *boxes) turned(members []member, w []float64) space.Box {
	first := members[0].box.Angle
	// One rectangle has four names: every quarter turn exchanges its sides. All are named as the first of them is.
	named := make([]space.Box, len(members))
	for i, m := range members {
		quarter := math.Round((m.box.Angle - first) / 90)
		named[i] = m.box
		named[i].Angle -= float64(90 * quarter)
		if math.Mod(quarter, 2) != 0 {
			x, y := m.box.Center()
			h, v := (m.box.Y2-m.box.Y1)/2, (m.box.X2-m.box.X1)/2
			named[i].X1, named[i].X2, named[i].Y1, named[i].Y2 = x-h, x+h, y-v, y+v
		}
	}
	over := func(f func(x space.Box) float64) float64 {
		x := make([]float64, len(named))
		for i, n := range named {
			x[i] = f(n)
		}
		if b.median {
			return median(x, w)
		}
		return average(x, w, -1)
	}
	x, y := over(func(x space.Box) float64 { return (x.X1 + x.X2) / 2 }),
		over(func(x space.Box) float64 { return (x.Y1 + x.Y2) / 2 })
	h, v := over(func(x space.Box) float64 { return (x.X2 - x.X1) / 2 }),
		over(func(x space.Box) float64 { return (x.Y2 - x.Y1) / 2 })
	out := space.Box{X1: x - h, X2: x + h, Y1: y - v, Y2: y + v, Label: vote(members, w, -1)}
	out.Angle = over(func(x space.Box) float64 { return x.Angle })
	return out
}

// vote is the class that has most weight, leaving out one member.
func vote(members []member, w []float64, skip int) int {
	type count struct {
		label          int
		weight, scores float64
	}
	var all []count
	total := 0.0
	for i := range members {
		if i == skip {
			continue
		}
		m := &members[i]
		k := 0
		for k < len(all) && all[k].label != m.box.Label {
			k++
		}
		if k == len(all) {
			all = append(all, count{label: m.box.Label})
		}
		all[k].weight += w[i]
		all[k].scores += float64(w[i] * m.box.Score)
		total += w[i]
	}
	slices.SortFunc(all, func(a, b count) int { return a.label - b.label })
	// Equal votes summed in another order may differ in the last bits, which must not decide.
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*total }
	best := all[0]
	for _, c := range all[1:] {
		if !near(c.weight, best.weight) && c.weight > best.weight ||
			near(c.weight, best.weight) && !near(c.scores, best.scores) && c.scores > best.scores {
			best = c
		}
	}
	return best.label
}

// average is the weighted mean, leaving out one number; it keeps equal numbers equal to the last bit.
func average(x, w []float64, skip int) float64 {
	mean, total := 0.0, 0.0
	for i, v := range x {
		if i == skip {
			continue
		}
		if total += w[i]; w[i] > 0 {
			mean += float64((v - mean) * (w[i] / total))
		}
	}
	return mean
}

// median is the weighted median: half of the weight lies below and half above. Where it falls between two numbers it is
// midway.
func median(x, w []float64) float64 { return medianOf(x, w, ranked(x), -1) }

// ranked are the indexes of numbers in rising order.
func ranked(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case x[i] < x[j]:
			return -1
		case x[i] > x[j]:
			return 1
		}
		return i - j
	})
	return order
}

// medianOf is the median of numbers whose order is known, leaving out one of them.
func medianOf(x, w []float64, order []int, skip int) float64 {
	total := 0.0
	for i := range x {
		if i != skip {
			total += w[i]
		}
	}
	below, at := 0.0, -1 // the number whose weight fills the first half exactly
	last := 0.0
	for _, i := range order {
		if i == skip || w[i] == 0 {
			continue
		}
		if at >= 0 {
			return x[at] + (x[i]-x[at])/2
		}
		below += w[i]
		switch d := below - total/2; {
		case math.Abs(d) <= 1e-12*total:
			at = i
		case d > 0:
			return x[i]
		}
		last = x[i]
	}
	return last
}

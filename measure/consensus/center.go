package consensus

import (
	"cmp"
	"math"
	"slices"

	"nero/data/space"
)

// center is the box that stands for several: the median or mean of each coordinate, the class that most say, ties by summed
// confidence and then the lower class. Turned boxes have their centre, width, height and direction brought together instead.
func (b *boxes) center(members []member) space.Box {
	w := make([]float64, len(members))
	turned := false
	for i, m := range members {
		w[i] = b.kept[m.of].Weight
		turned = turned || m.box.Angle != 0
	}
	if !slices.ContainsFunc(w, func(x float64) bool { return x > 0 }) {
		for i := range w { // elements that weigh nothing, among themselves
			w[i] = 1
		}
	}
	of := func(f func(x space.Box) float64) float64 {
		x := make([]float64, len(members))
		for i, m := range members {
			x[i] = f(m.box)
		}
		if b.median {
			return median(x, w)
		}
		return average(x, w)
	}
	out := space.Box{Label: vote(members, w)}
	if !turned {
		out.X1, out.Y1 = of(func(x space.Box) float64 { return x.X1 }), of(func(x space.Box) float64 { return x.Y1 })
		out.X2, out.Y2 = of(func(x space.Box) float64 { return x.X2 }), of(func(x space.Box) float64 { return x.Y2 })
		return out
	}
	first := members[0].box.Angle
	// One rectangle has four names: every quarter turn exchanges its sides. All are named as the first of them is.
	named := make([]space.Box, len(members))
	for i, m := range members {
		quarter := math.Round((m.box.Angle - first) / 90)
		named[i] = m.box
		named[i].Angle -= 90 * quarter
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
		return average(x, w)
	}
	x, y := over(func(x space.Box) float64 { return (x.X1 + x.X2) / 2 }), over(func(x space.Box) float64 { return (x.Y1 + x.Y2) / 2 })
	h, v := over(func(x space.Box) float64 { return (x.X2 - x.X1) / 2 }), over(func(x space.Box) float64 { return (x.Y2 - x.Y1) / 2 })
	out.X1, out.X2, out.Y1, out.Y2 = x-h, x+h, y-v, y+v
	out.Angle = over(func(x space.Box) float64 { return x.Angle })
	return out
}

// vote is the class that has most weight.
func vote(members []member, w []float64) int {
	type count struct {
		label          int
		weight, scores float64
	}
	var all []count
	total := 0.0
	for i, m := range members {
		k := slices.IndexFunc(all, func(c count) bool { return c.label == m.box.Label })
		if k < 0 {
			k = len(all)
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

// average is the weighted mean, which keeps equal numbers equal to the last bit.
func average(x, w []float64) float64 {
	mean, total := 0.0, 0.0
	for i, v := range x {
		if total += w[i]; w[i] > 0 {
			mean += float64((v - mean) * (w[i] / total))
		}
	}
	return mean
}

// median is the weighted median: half of the weight lies below and half above. Where it falls between two numbers it is midway.
func median(x, w []float64) float64 {
	order := make([]int, 0, len(x))
	total := 0.0
	for i := range x {
		if w[i] > 0 {
			order = append(order, i)
			total += w[i]
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	below := 0.0
	for k, i := range order {
		below += w[i]
		switch d := below - total/2; {
		case math.Abs(d) <= 1e-12*total && k+1 < len(order):
			return x[i] + (x[order[k+1]]-x[i])/2
		case d > 0:
			return x[i]
		}
	}
	return x[order[len(order)-1]]
}

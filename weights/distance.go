package weights

import (
	"maps"
	"math"

	"nero/model/onnx/units"
)

// distance is ‖A − B‖² and ‖A‖² of a stored tensor.
type distance struct{ d, size float64 }

// distances are those of numbers from the first model's, by the order of its stored tensors.
func (x *aligner) distances(n Numbers) []distance {
	out := make([]distance, 0, len(x.a.Units.Stored()))
	var p, q []float64
	for _, name := range x.a.Units.Stored() {
		var of distance
		var err error
		if p, err = x.a.numbers[name].Float64s(p[:0]); err == nil { // it was read before
			q, err = n[name].Float64s(q[:0])
		}
		for i := range p {
			if err == nil {
				v := p[i] - q[i]
				of.d += float64(v * v)
			}
		}
		of.size = product(p, p)
		out = append(out, of)
	}
	return out
}

// layers says how far stored tensors are apart.
func (x *aligner) layers(before, after []distance) {
	var was, is distance
	for k, name := range x.a.Units.Stored() {
		l := Layer{
			Tensor: name, Shape: x.a.numbers[name].Shape, Before: ratio(before[k].d, before[k].size),
			After: ratio(after[k].d, after[k].size),
		}
		was.d, was.size = was.d+before[k].d, was.size+before[k].size
		is.d, is.size = is.d+after[k].d, is.size+after[k].size
		if l.Before != 0 || l.After != 0 {
			x.out.Layers = append(x.out.Layers, l)
		}
	}
	x.out.Before, x.out.After = ratio(was.d, was.size), ratio(is.d, is.size)
}

// ratio is the root of a quotient of squares; 0 for none of nothing.
func ratio(d, size float64) Number {
	if d == 0 {
		return 0
	}
	if size == 0 {
		return Number(math.NaN())
	}
	return Number(math.Sqrt(d / size))
}

// near tells whether numbers are those of the first model to rounding, over all of them and in each tensor.
func (x *aligner) near(n Numbers) bool {
	var all distance
	near := true
	for _, of := range x.distances(n) {
		all.d, all.size = all.d+of.d, all.size+of.size
		near = near && float64(ratio(of.d, of.size)) <= mostLayer
	}
	return near && float64(ratio(all.d, all.size)) <= mostApart
}

// FarUnit is a place on an axis of a stored tensor whose numbers are apart.
type FarUnit struct {
	Tensor string `json:"tensor"`
	Axis   int    `json:"axis"`
	Unit   int    `json:"unit"`
	// ‖A − B‖/‖A‖ of its numbers
	Apart Number `json:"apart"`
}

// farUnit is the place on an axis of a stored tensor that is furthest from the first model, where that is further than
// the same weights are: a row, a column, a channel; nil for none. A norm of all numbers shows none that are small
// beside others.
func (x *aligner) farUnit(n Numbers) *FarUnit {
	var worst *FarUnit
	for _, name := range x.a.Units.Stored() {
		t := x.a.numbers[name]
		p, err := t.Float64s(nil)
		if err != nil {
			continue // it was read before
		}
		q, err := n[name].Float64s(nil)
		if err != nil {
			continue
		}
		inner := len(p)
		for axis, k := range t.Shape {
			if inner /= max(k, 1); k < 2 {
				continue
			}
			of := make([]distance, k)
			for from := 0; from < len(p); from += inner {
				u := &of[from/inner%k]
				for i := from; i < from+inner; i++ {
					v := p[i] - q[i]
					u.d += float64(v * v)
					u.size += float64(p[i] * p[i])
				}
			}
			large := 0.0
			for _, u := range of {
				large = max(large, u.size)
			}
			least := x.noise(name)
			for k, u := range of {
				far := ratio(u.d, max(u.size, float64(float64(large*least)*least)))
				if !(float64(far) <= mostUnit) && (worst == nil || !(far <= worst.Apart)) {
					worst = &FarUnit{Tensor: name, Axis: axis, Unit: k, Apart: far}
				}
			}
		}
	}
	return worst
}

// noise is what part of its largest unit the numbers of a tensor may be off by however small they are. Changes of
// places and factors round each number by itself; a matrix mixes those of all units, and rounds beside the largest.
func (x *aligner) noise(name string) float64 {
	digit := math.Ldexp(1, -digits(x.a.numbers[name].DType))
	for _, m := range x.a.Units.Moves {
		if !ofMatrices(m) {
			continue
		}
		for _, p := range m.On {
			if p.Tensor == name && p.Exp != 0 {
				return 16 * digit
			}
		}
	}
	return digit * digit
}

// state is the second model on its way to the first: its numbers, where its units are, and how far ‖A − B‖² is.
type state struct {
	numbers Numbers
	places  map[*units.Class][]int32
	far     float64
}

// keep notes where the second model is, if it was never closer.
func (x *aligner) keep() {
	far := total(x.distances(x.moved))
	if x.closest.numbers == nil || far < x.closest.far {
		x.closest = state{x.moved, maps.Clone(x.places), far}
	}
}

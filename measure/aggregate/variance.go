package aggregate

import "math"

// TwoWay holds the sums of squares of a table z[i][g][r] of inputs i, elements g and repeats r (docs/METRICS.md B3): z
// = μ + a_i + b_g + c_ig + ε_igr, with a the input, b the element (bad for every input), c the interaction (this input
// is sensitive to this element) and ε the noise between repeats. An equivariant model has b = c = 0.
type TwoWay struct {
	Inputs, Elements, Repeats               int
	SSInput, SSElement, SSInteract, SSNoise float64
}

// SplitVariance computes the sums of squares of a table of nx inputs, ng elements and nr repeats, each at least 1. A
// NaN anywhere makes them NaN. The sums for values of several components are those of the components added up:
// [TwoWay.Add].
func SplitVariance(nx, ng, nr int, z func(i, g, r int) float64) TwoWay {
	if nx < 1 || ng < 1 || nr < 1 {
		panic("aggregate: an empty table")
	}
	t := TwoWay{Inputs: nx, Elements: ng, Repeats: nr}
	row, col, cell, mean := make([]float64, nx), make([]float64, ng), make([]float64, nx*ng), 0.0
	for i := range nx {
		for g := range ng {
			for r := range nr {
				cell[i*ng+g] += z(i, g, r) / float64(nr)
			}
			row[i] += cell[i*ng+g] / float64(ng)
			col[g] += cell[i*ng+g] / float64(nx)
		}
		mean += row[i] / float64(nx)
	}
	for i := range nx {
		t.SSInput += float64(float64(ng*nr) * square(row[i]-mean))
		for g := range ng {
			c := cell[i*ng+g]
			t.SSInteract += float64(float64(nr) * square(c-row[i]-col[g]+mean))
			for r := range nr {
				t.SSNoise += square(z(i, g, r) - c)
			}
		}
	}
	for g := range ng {
		t.SSElement += float64(float64(nx*nr) * square(col[g]-mean))
	}
	return t
}

func square(x float64) float64 { return float64(x * x) }

// Add adds the squares of another component of the same table. It panics if the tables differ in size.
func (t *TwoWay) Add(o TwoWay) {
	if t.Inputs != o.Inputs || t.Elements != o.Elements || t.Repeats != o.Repeats {
		panic("aggregate: components of tables that differ in size")
	}
	t.SSInput += o.SSInput
	t.SSElement += o.SSElement
	t.SSInteract += o.SSInteract
	t.SSNoise += o.SSNoise
}

// Part is what one source contributes to the variance.
type Part struct {
	// method-of-moments estimate, for inputs and elements drawn at random; NaN if it cannot be estimated
	Variance float64
	// the estimate was below zero, and is given as 0
	Negative bool
	// of the total sum of squares, in [0,1]: what to read for a fixed grid of elements; NaN if all is constant
	Share float64
}

// Split is the contributions of the four sources.
type Split struct{ Input, Element, Interaction, Noise Part }

// Split estimates the contributions: noise MS_ε, interaction (MS_c - MS_ε)/n_r, element (MS_b - MS_c)/(n_x n_r), input
// (MS_a - MS_c)/(n_g n_r), with MS the squares by degrees of freedom. Without repeats the noise is NaN, and contained
// in the interaction. A share of 0/0 is NaN: a constant output is undefined, not perfect.
func (t TwoWay) Split() Split {
	nx, ng, nr := float64(t.Inputs), float64(t.Elements), float64(t.Repeats)
	noise := t.SSNoise / (nx * ng * (nr - 1)) // 0/0 without repeats: NaN
	subtract := noise
	if t.Repeats == 1 {
		noise, subtract = math.NaN(), 0
	}
	interact := t.SSInteract / ((nx - 1) * (ng - 1))
	total := t.SSInput + t.SSElement + t.SSInteract + t.SSNoise
	part := func(v, ss float64) Part {
		if math.IsInf(v, 0) {
			v = math.NaN()
		}
		return Part{Variance: max(v, 0), Negative: v < 0, Share: ss / total}
	}
	return Split{
		Input:       part((t.SSInput/(nx-1)-interact)/(ng*nr), t.SSInput),
		Element:     part((t.SSElement/(ng-1)-interact)/(nx*nr), t.SSElement),
		Interaction: part((interact-subtract)/nr, t.SSInteract),
		Noise:       part(noise, t.SSNoise),
	}
}

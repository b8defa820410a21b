package embedding

import (
	"cmp"
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Plane is a plane of features that turns as a generator says: where a sample lies in it is one complex number c, and
// the generator says that c(t) = exp(t·Rate) c(0), which is a circle where it neither grows nor shrinks.
type Plane struct {
	// Rate is the eigenvalue: its imaginary part says how fast the plane turns, its real part how fast it grows.
	Rate complex128
	// Spread is the root of the mean square of |c| over all samples and elements, in the unit of the features. What is
	// drawn is divided by it.
	Spread float64
	// At is where each sample lies at each element of the path: by element, then by sample, divided by Spread.
	At [][]complex128
}

// Planes are the planes of the generator that turn, the fastest first, with where samples lie in them. A sample φ lies
// at uφ, with the left eigenvector u of a rate (uA = λu), of length 1 and with its largest component real and positive:
// such planes, and no others, move by themselves, whatever the rest of the features does.
func (g *Generator) Planes(p *Path) ([]Plane, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	d, _ := g.A.Dims()
	if p.Width() != d {
		return nil, fmt.Errorf("features of %d numbers, and the generator moves %d", p.Width(), d)
	}
	var transposed mat.Dense
	transposed.CloneFrom(g.A.T()) // whose right eigenvectors are those
	values, v, err := eigen(&transposed)
	if err != nil {
		return nil, err
	}
	var out []Plane
	for j, rate := range values {
		if imag(rate) <= 0 { // the other half of a pair, or no plane
			continue
		}
		u := column(v, j)
		x := Plane{Rate: rate, At: make([][]complex128, len(p.At))}
		sum, n := 0.0, 0
		for k, at := range p.At {
			samples, _ := at.Dims()
			x.At[k] = make([]complex128, samples)
			for i := range samples {
				var re, im float64
				for q, w := range u {
					f := at.At(i, q)
					re += float64(real(w) * f)
					im += float64(imag(w) * f)
				}
				x.At[k][i] = complex(re, im)
				sum += float64(re*re) + float64(im*im)
				n++
			}
		}
		x.Spread = math.Sqrt(sum / float64(n))
		if !(x.Spread > 0) {
			continue
		}
		for _, at := range x.At {
			for i, c := range at {
				at[i] = complex(real(c)/x.Spread, imag(c)/x.Spread)
			}
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b Plane) int { return cmp.Compare(imag(b.Rate), imag(a.Rate)) })
	return out, nil
}

// column is an eigenvector of length 1 whose largest component is real and positive, so that it is the same wherever
// it is computed.
func column(v complexes, j int) []complex128 {
	d, _ := v.re.Dims()
	out := make([]complex128, d)
	largest, length := 0, 0.0
	for i := range out {
		re, im := v.re.At(i, j), v.im.At(i, j)
		out[i] = complex(re, im)
		length += float64(re*re) + float64(im*im)
		if absSquared(out[i]) > absSquared(out[largest])*(1+1e-9) {
			largest = i
		}
	}
	c, s := math.Sqrt(absSquared(out[largest])), math.Sqrt(length)
	turn := cmplx.Conj(out[largest])
	for i, x := range out {
		re := float64(real(x)*real(turn)) - float64(imag(x)*imag(turn))
		im := float64(real(x)*imag(turn)) + float64(imag(x)*real(turn))
		out[i] = complex(re/(c*s), im/(c*s))
	}
	return out
}

// absSquared is the square of the absolute value.
func absSquared(x complex128) float64 { return float64(real(x)*real(x)) + float64(imag(x)*imag(x)) }

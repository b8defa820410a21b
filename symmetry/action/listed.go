package action

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/symmetry/group"
)

// Alike is the relative difference up to which matrices that others computed count as equal: they may have been rounded
// to float32.
const Alike = 1e-6

// mostListed is how many elements a list of matrices has at most.
const mostListed = 1 << 12

// Listed is a representation that is known at some elements.
type Listed struct {
	Representation

	numbers []float64
}

// NewListed makes a representation of a list of elements and of matrices, dim×dim numbers in rows for each. The error
// names what is wrong: an element that is not one of g or stands there twice, a number that is not finite, an identity
// that moves something, or a product of two elements in the list that is in it with another matrix. Of up to 64
// elements all products are tried, of more 4096 that are drawn with a fixed seed.
//
// Numbers within 1e-9 of -1, 0 and 1 become that, so that turns of 90° move numbers without rounding them, whatever the
// cosine of 90° was in the program that wrote the matrices.
//
// It has no matrix for elements beside those of the list, and says so.
func NewListed(g group.Group, name string, dim int, elements []group.Element, numbers []float64) (Listed, error) {
	size := dim * dim
	if dim < 1 || dim > 1<<12 {
		return Listed{}, fmt.Errorf("matrices of %d x %d numbers, want 1 to 4096 rows", dim, dim)
	}
	if len(elements) < 1 || len(elements) > mostListed || len(numbers) != len(elements)*size {
		return Listed{}, fmt.Errorf("%d elements, want 1 to %d, with %d numbers each, and there are %d", len(elements),
			mostListed, size, len(numbers))
	}
	for i, e := range elements {
		if err := checkElement(g, e); err != nil {
			return Listed{}, fmt.Errorf("element %d: %w", i, err)
		}
		if k := listedAt(g, elements[:i], e); k >= 0 {
			return Listed{}, fmt.Errorf("elements %d and %d are both %s", k, i, group.Format(g, e))
		}
		for _, v := range numbers[i*size : (i+1)*size] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Listed{}, fmt.Errorf("the matrix of %s is not finite", group.Format(g, e))
			}
		}
	}
	at := func(e group.Element) []float64 {
		if k := listedAt(g, elements, e); k >= 0 {
			return numbers[k*size : (k+1)*size]
		}
		return nil
	}
	numbers = cleaned(numbers)
	one := at(g.Identity())
	if one == nil {
		return Listed{}, fmt.Errorf("there is no matrix for the identity of %s, %s", g.Name(),
			group.Format(g, g.Identity()))
	}
	if d := differ(one, unit(dim)); !(d <= Alike) {
		return Listed{}, fmt.Errorf("the matrix of the identity is not the unit matrix, relative difference %.3g", d)
	}
	if err := composes(g, dim, elements, at); err != nil {
		return Listed{}, err
	}
	rep := Representation{name: name, dim: dim, matrix: func(e group.Element) ([]float64, error) {
		if m := at(e); m != nil {
			return m, nil
		}
		return nil, fmt.Errorf("there is no matrix for %s among those of %d elements; add it, or visit those alone, "+
			"with group.orbit", group.Format(g, e), len(elements))
	}}
	return Listed{Representation: rep, numbers: numbers}, nil
}

// Stretch is by how much ρᵀρ is off from the unit matrix at most: 0 of matrices that turn and mirror alone.
func (l Listed) Stretch() float64 {
	most, one := 0.0, unit(l.dim)
	for i := 0; i < len(l.numbers); i += l.dim * l.dim {
		m := l.numbers[i : i+l.dim*l.dim]
		t := make([]float64, len(m))
		for r := range l.dim {
			for c := range l.dim {
				t[c*l.dim+r] = m[r*l.dim+c]
			}
		}
		for k, v := range multiply(t, m, l.dim) {
			most = max(most, math.Abs(v-one[k]))
		}
	}
	return most
}

// composes holds matrices of products against products of matrices.
func composes(g group.Group, dim int, elements []group.Element, at func(group.Element) []float64) error {
	try := func(a, b group.Element) error {
		want := at(g.Mul(a, b))
		if want == nil {
			return nil
		}
		if d := differ(want, multiply(at(a), at(b), dim)); !(d <= Alike) {
			return fmt.Errorf("ρ(gh) is not ρ(g)ρ(h) for g = %s, h = %s, relative difference %.3g; common causes are "+
				"transposed matrices and elements in another order", group.Format(g, a), group.Format(g, b), d)
		}
		return nil
	}
	if len(elements) <= 64 {
		for _, a := range elements {
			for _, b := range elements {
				if err := try(a, b); err != nil {
					return err
				}
			}
		}
		return nil
	}
	r := rand.New(rand.NewPCG(0x6e65726f, 2))
	for range 1 << 12 {
		if err := try(elements[r.IntN(len(elements))], elements[r.IntN(len(elements))]); err != nil {
			return err
		}
	}
	return nil
}

// listedAt is the number of the listed element that equals e up to roundoff, -1 if there is none.
func listedAt(g group.Group, elements []group.Element, e group.Element) int {
	const roundoff = 1e-6 // coordinates may have been rounded to float32
	best, at := math.Inf(1), -1
	for i, h := range elements {
		if d := g.Dist(e, h); d < best {
			best, at = d, i
		}
	}
	if !(best <= roundoff) {
		return -1
	}
	return at
}

// cleaned is a copy whose numbers are whole where they nearly are -1, 0 and 1.
func cleaned(numbers []float64) []float64 {
	const roundoff = 1e-9
	o := slices.Clone(numbers)
	for i, v := range o {
		if w := math.Round(v); math.Abs(w) <= 1 && math.Abs(v-w) <= roundoff {
			o[i] = w + 0 // no negative zero
		}
	}
	return o
}

func unit(n int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		m[i*n+i] = 1
	}
	return m
}

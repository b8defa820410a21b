package action

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// Representation is a linear action on channels: a matrix for each element, with ρ(gh) = ρ(g)ρ(h). Build one with
// [Regular], [Quotient], [Identical], [Typed] or [Given]; a Given one is checked before it can be used.
type Representation struct {
	name string
	dim  int
	// permutation is set where every matrix is a permutation: channel j moves to to[j].
	permutation func(g group.Element) (to []int, err error)
	matrix      func(g group.Element) ([]float64, error)
}

// Name is "trivial", "regular" or the name that was given.
func (r Representation) Name() string { return r.name }

// Dim is the number of channels that one copy of the representation acts on.
func (r Representation) Dim() int { return r.dim }

// Matrix is ρ(g), Dim×Dim numbers in rows. The error says that g is not an element for which there is a matrix.
func (r Representation) Matrix(g group.Element) ([]float64, error) {
	if r.permutation == nil {
		m, err := r.matrix(g)
		if err == nil && len(m) != r.dim*r.dim {
			err = fmt.Errorf("representation %s: %d numbers for element %v, want %d×%d", r.name, len(m), g, r.dim,
				r.dim)
		}
		return m, err
	}
	to, err := r.permutation(g)
	if err != nil {
		return nil, err
	}
	m := make([]float64, r.dim*r.dim)
	for j, i := range to {
		m[i*r.dim+j] = 1
	}
	return m, nil
}

// Identical is the trivial representation on one channel.
func Identical() Representation {
	return Representation{name: "trivial", dim: 1, permutation: func(group.Element) ([]int, error) {
		return []int{0},
			nil
	}}
}

// Regular is the regular representation of a finite group: one channel per element in the order of Elements, channel h
// moving to channel gh.
func Regular(f group.Finite) Representation {
	elements := f.Elements()
	return Representation{
		name: "regular", dim: len(elements),
		permutation: func(g group.Element) ([]int, error) {
			if _, err := find(f, elements, g); err != nil {
				return nil, err
			}
			to := make([]int, len(elements))
			for j, h := range elements {
				var err error
				if to[j], err = find(f, elements, f.Mul(g, h)); err != nil {
					return nil, err
				}
			}
			return to, nil
		},
	}
}

// Quotient is the quotient representation of a finite group by a subgroup H, given by all of its elements or by some
// that generate it: one channel per coset xH, in the order of the elements that begin them, channel xH moving to
// channel gxH. By the trivial subgroup it is [Regular], by the whole group [Identical]. The error names an element that
// is not of f.
func Quotient(f group.Finite, name string, subgroup ...group.Element) (Representation, error) {
	elements := f.Elements()
	generators := make([]int, len(subgroup))
	for i, h := range subgroup {
		var err error
		if generators[i], err = find(f, elements, h); err != nil {
			return Representation{}, fmt.Errorf("representation %s: %w", name, err)
		}
	}
	// Cosets are what the generators join from the right.
	coset, count := make([]int, len(elements)), 0
	for i := range coset {
		coset[i] = -1
	}
	for i := range elements {
		if coset[i] >= 0 {
			continue
		}
		coset[i] = count
		for todo := []int{i}; len(todo) > 0; {
			x := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, h := range generators {
				y, err := find(f, elements, f.Mul(elements[x], elements[h]))
				if err != nil {
					return Representation{}, fmt.Errorf("representation %s: %w", name, err)
				}
				if coset[y] < 0 {
					coset[y] = count
					todo = append(todo, y)
				}
			}
		}
		count++
	}
	return Representation{
		name: name, dim: count,
		permutation: func(g group.Element) ([]int, error) {
			to := make([]int, count)
			for j, h := range elements {
				i, err := find(f, elements, f.Mul(g, h))
				if err != nil {
					return nil, err
				}
				to[coset[j]] = coset[i]
			}
			return to, nil
		},
	}, nil
}

// find is the number of the listed element that equals g up to roundoff.
func find(f group.Finite, elements []group.Element, g group.Element) (int, error) {
	if err := checkElement(f, g); err != nil {
		return 0, err
	}
	const roundoff = 1e-9 // distances are in degrees, pixels and counts, and distinct elements are much further apart
	best, at := math.Inf(1), -1
	for i, h := range elements {
		if d := f.Dist(g, h); d < best {
			best, at = d, i
		}
	}
	if !(best <= roundoff) {
		return 0, fmt.Errorf("%v is not an element of %s: the nearest one is at distance %.3g", g, f.Name(), best)
	}
	return at, nil
}

// Given makes a representation from a function that returns ρ(g) as dim×dim numbers in rows. It is called for many
// elements and must be safe for concurrent use. The error names the law that fails: ρ(e) = 1 or ρ(gh) = ρ(g)ρ(h), each
// up to 1e-9 relative to the matrices' size, or that g can be neither enumerated nor sampled. Finite groups with up to
// 64 elements are checked for all pairs, others on 512 pairs drawn with a fixed seed.
func Given(g group.Group, name string, dim int, matrix func(g group.Element) []float64) (Representation, error) {
	if dim < 1 || dim > 1<<12 {
		return Representation{}, fmt.Errorf("representation %s: dimension %d, want 1 to 4096", name, dim)
	}
	r := Representation{name: name, dim: dim, matrix: func(g group.Element) ([]float64, error) {
		m := matrix(g)
		if len(m) != dim*dim {
			return nil, fmt.Errorf("representation %s: %d numbers for element %v, want %d×%d", name, len(m), g, dim,
				dim)
		}
		for _, v := range m {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("representation %s: the matrix of element %v is not finite", name, g)
			}
		}
		return m, nil
	}}
	if err := r.check(g); err != nil {
		return Representation{}, err
	}
	return r, nil
}

// check tries the laws of a representation on g.
func (r Representation) check(g group.Group) error {
	e, err := r.matrix(g.Identity())
	if err != nil {
		return err
	}
	one := make([]float64, r.dim*r.dim)
	for i := range r.dim {
		one[i*r.dim+i] = 1
	}
	if d := differ(e, one); !(d <= 1e-9) {
		return fmt.Errorf("representation %s: the matrix of the identity is not the unit matrix, relative difference "+
			"%.3g", r.name, d)
	}
	pairs, err := samplePairs(g)
	if err != nil {
		return fmt.Errorf("representation %s: %w", r.name, err)
	}
	for _, p := range pairs {
		var m [3][]float64
		for i, x := range []group.Element{p[0], p[1], g.Mul(p[0], p[1])} {
			if m[i], err = r.matrix(x); err != nil {
				return err
			}
		}
		if d := differ(m[2], multiply(m[0], m[1], r.dim)); !(d <= 1e-9) {
			return fmt.Errorf("representation %s: ρ(gh) is not ρ(g)ρ(h) for g = %v, h = %v, relative difference %.3g; "+
				"common causes are transposed matrices and the reversed order of composition", r.name, p[0], p[1], d)
		}
	}
	return nil
}

// samplePairs lists the pairs of elements on which a homomorphism is tried.
func samplePairs(g group.Group) ([][2]group.Element, error) {
	r := rand.New(rand.NewPCG(0x6e65726f, 1))
	var draw func() group.Element
	switch s := g.(type) {
	case group.Finite:
		all := s.Elements()
		if len(all) <= 64 {
			var o [][2]group.Element
			for _, a := range all {
				for _, b := range all {
					o = append(o, [2]group.Element{a, b})
				}
			}
			return o, nil
		}
		draw = func() group.Element { return all[r.IntN(len(all))] }
	case group.Sampler:
		draw = func() group.Element { return s.Sample(r) }
	case group.Lie:
		n := len(s.Generators())
		draw = func() group.Element {
			t := make([]float64, n)
			for i := range t {
				t[i] = elementary.Normal(r)
			}
			return s.Exp(t)
		}
	default:
		return nil, fmt.Errorf(
			"%s can be neither enumerated nor sampled, so nothing shows that the matrices compose: %w", g.Name(),
			errors.ErrUnsupported)
	}
	o := make([][2]group.Element, 512)
	for i := range o {
		o[i] = [2]group.Element{draw(), draw()}
		if i%4 == 0 {
			o[i][1] = g.Inv(o[i][0])
		}
	}
	return o, nil
}

func multiply(a, b []float64, n int) []float64 {
	o := make([]float64, n*n)
	for i := range n {
		for k := range n {
			axpy(o[i*n:(i+1)*n], a[i*n+k], b[k*n:(k+1)*n])
		}
	}
	return o
}

// differ is max |a-b| / max(1, |a|, |b|).
func differ(a, b []float64) float64 {
	size, diff := 1.0, 0.0
	for i := range a {
		size = max(size, math.Abs(a[i]), math.Abs(b[i]))
		diff = max(diff, math.Abs(a[i]-b[i]))
	}
	return diff / size
}

// channels is ρ(g) on all channels: copies of one representation, one after the other.
type channels struct {
	// where the matrix is a permutation: channel k comes from from[k]
	from []int
	// else the dim×dim matrix of one copy
	mat []float64
	dim int
	// of all channels
	count int
}

// on prepares ρ(g) for count channels, a multiple of the dimension.
func (r Representation) on(g group.Element, count int) (channels, error) {
	if count%r.dim != 0 {
		return channels{}, fmt.Errorf("%d channels are not a multiple of the %d of the representation %s", count, r.dim,
			r.name)
	}
	o := channels{dim: r.dim, count: count}
	if r.permutation == nil {
		m, err := r.Matrix(g)
		if err != nil {
			return channels{}, err
		}
		if o.from = permutationOf(m, r.dim, count); o.from == nil {
			o.mat = m
		}
		return o, nil
	}
	to, err := r.permutation(g)
	if err != nil {
		return channels{}, err
	}
	o.from = make([]int, count)
	for k := range count {
		o.from[k/r.dim*r.dim+to[k%r.dim]] = k
	}
	return o, nil
}

// permutationOf reads a matrix of zeros and ones as a permutation of count channels: nil if it is none.
func permutationOf(m []float64, dim, count int) []int {
	from := make([]int, count)
	used := make([]bool, dim)
	for i := range dim {
		at := -1
		for j, v := range m[i*dim : (i+1)*dim] {
			if v == 0 {
				continue
			}
			if v != 1 || at >= 0 || used[j] {
				return nil
			}
			at, used[j] = j, true
		}
		if at < 0 {
			return nil
		}
		for k := i; k < count; k += dim {
			from[k] = k - i + at
		}
	}
	return from
}

// exact reports whether the matrix moves numbers without rounding: each row and column has one entry, which is 1 or -1.
func (c channels) exact() bool {
	if c.from != nil {
		return true
	}
	sq := make([]float64, len(c.mat))
	for i, v := range c.mat {
		sq[i] = math.Abs(v)
	}
	return permutationOf(sq, c.dim, c.dim) != nil
}

// mix writes ρ(g) applied to channels of size numbers each.
func (c channels) mix(dst, src []float64, size int) {
	for k := range c.count {
		d := dst[k*size : (k+1)*size]
		if c.from != nil {
			copy(d, src[c.from[k]*size:])
			continue
		}
		clear(d)
		first := k / c.dim * c.dim
		for j, v := range c.mat[k%c.dim*c.dim:][:c.dim] {
			if v != 0 { // also keeps signed permutations exact
				axpy(d, v, src[(first+j)*size:])
			}
		}
	}
}

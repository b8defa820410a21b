package embedding

import "gonum.org/v1/gonum/mat"

// needed is to what share of the error of linear maps affine ones have to come before a constant is believed in.
const needed = 0.9

// Either is the linear map of pairs, as [Learn] finds it, or the affine one where that errs clearly less on the pairs
// to choose by. Representations are linear; features with a constant in them, as a bias leaves it, are such and a
// shift.
func Either(fit, choose Pairs) (*Map, error) {
	linear, affine, err := both(fit, choose)
	if err != nil {
		return nil, err
	}
	if total(affine.errors(choose)) < needed*total(linear.errors(choose)) {
		return affine, nil
	}
	return linear, nil
}

// both are the linear and the affine map.
func both(fit, choose Pairs) (linear, affine *Map, err error) {
	if linear, err = Learn(fit, choose, false, nil); err != nil {
		return nil, nil, err
	}
	affine, err = Learn(fit, choose, true, nil)
	return linear, affine, err
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// still is the least that 1 - M has to do to a direction, root mean square over elements, for it to be moved.
const still = 0.1

// Centre is the constant in features of which less the constant are moved linearly: the point m that affine maps
// M x + c leave where it is, (1 - M) m = c by least squares over all elements. Along what no element moves it is the
// mean of the features. Nil where linear maps err as little.
func Centre(fit, choose *Orbits) ([]float64, error) {
	at := mean(fit.Still())
	d := fit.Width()
	s := mat.NewSymDense(d, nil)
	right := make([]float64, d)
	errLinear, errAffine := 0.0, 0.0
	elements := 0
	for k := range fit.At {
		if k == fit.Identity {
			continue
		}
		linear, affine, err := both(fit.Pairs(k), choose.Pairs(k))
		if err != nil {
			return nil, err
		}
		errLinear += total(linear.errors(choose.Pairs(k)))
		errAffine += total(affine.errors(choose.Pairs(k)))
		elements++
		m := one(d) // 1 - M
		m.Sub(m, affine.M)
		var mm mat.SymDense
		mm.SymOuterK(1, m.T())
		s.AddSym(s, &mm)
		rest := make([]float64, d) // c - (1 - M) mean
		for i := range rest {
			rest[i] = affine.Shift[i] - dot(m.RawRowView(i), at)
		}
		for j := range right {
			for i := range rest {
				right[j] += float64(m.At(i, j) * rest[i])
			}
		}
	}
	if elements == 0 || !(errAffine < needed*errLinear) {
		return nil, nil
	}
	values, vectors, err := symmetric(s)
	if err != nil {
		return nil, err
	}
	for k, v := range values {
		if !(v > still*still*float64(elements)) {
			continue
		}
		u := mat.Col(nil, k, vectors)
		f := dot(u, right) / v
		for j := range at {
			at[j] += float64(f * u[j])
		}
	}
	return at, nil
}

// From are the same orbits seen from a point; the orbits themselves for nil.
func (o *Orbits) From(c []float64) *Orbits {
	if c == nil {
		return o
	}
	out := &Orbits{Object: o.Object, Identity: o.Identity}
	for _, at := range o.At {
		out.At = append(out.At, less(at, c))
	}
	return out
}

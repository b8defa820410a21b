// Package embedding asks how the features of a model move when its input does, where nobody has declared it: the linear
// map M with φ(gx) ≈ M φ(x) that fits best, how much of the features it explains for objects that it was not fitted to,
// whether the maps of several elements compose as the elements do, and whether what a map predicts is nearer to the
// right view of an object than to its other views.
//
// The map is that of Lenc and Vedaldi (Understanding image representations by measuring their equivariance and
// equivalence, CVPR 2015) without its constant term, for representations are linear; ranks are as in SIE (Garrido,
// Najman and LeCun, Self-supervised learning of split invariant equivariant representations, ICML 2023).
package embedding

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Pairs are features before and after an element has acted.
type Pairs struct {
	// φ(x) and φ(gx) of each input, finite; all of one length each
	Before, After [][]float64
	// Object says which inputs show one object: they are never on both sides of a split. Nil if every input is an
	// object.
	Object []int
}

// Options of a fit.
type Options struct {
	// parts that the objects are cut into, each held out once; 0 for 5, or as many as there are objects
	Folds int
	// penalties to choose among, in units of the mean square of a component of Before; nil for 1e-8, 1e-7, ..., 1e3
	Lambdas []float64
	// of the split
	Seed uint64
}

// Map is a fitted map and how well it does on objects that it was not fitted to.
type Map struct {
	// rows are components of After: M φ(x), fitted to all pairs
	M *mat.Dense
	// Lambda is its penalty, in units of the mean square of a component of Before.
	Lambda float64
	// R2 is, for each component of After, 1 - Σ(y-ŷ)²/Σ(y-ȳ)² over held-out objects; below 0 if the mean would predict
	// better, NaN for a component that does not vary.
	R2 []float64
	// Overall is the same with both sums over all components that vary; NaN if none does.
	Overall float64
	// Constant is how many components of After do not vary over the inputs: a map fits them perfectly and they say
	// nothing.
	Constant int
	// Objects is how many objects there are, Folds how many parts they were cut into.
	Objects, Folds int
}

// Fit finds the map of pairs by ridge regression. The penalty of each fold is chosen by folds within the rest, so that
// nothing of what R2 is computed from was seen before. The error says what does not fit; fewer than four objects are
// refused, for there would be nothing left to choose the penalty by.
func Fit(p Pairs, o Options) (*Map, error) {
	din, dout, err := p.check()
	if err != nil {
		return nil, err
	}
	objects := p.objects()
	if o.Folds == 0 {
		o.Folds = 5
	}
	if o.Folds < 2 {
		return nil, fmt.Errorf("embedding: %d folds, want 2 or more", o.Folds)
	}
	if len(objects) < 4 {
		return nil, fmt.Errorf("embedding: %d objects, want 4 or more to hold some of them out", len(objects))
	}
	folds := min(o.Folds, len(objects))
	lambdas := o.Lambdas
	if lambdas == nil {
		for e := -8; e <= 3; e++ {
			lambdas = append(lambdas, math.Pow(10, float64(e)))
		}
	}
	for _, l := range lambdas {
		if !(l > 0) || math.IsInf(l, 1) {
			return nil, fmt.Errorf("embedding: the penalty %g, want a positive number", l)
		}
	}
	r := rand.New(rand.NewPCG(o.Seed, 0x656d626564))
	parts := split(objects, folds, r)
	m := &Map{Objects: len(objects), Folds: folds, R2: make([]float64, dout)}
	sse := make([]float64, dout)
	for k := range parts {
		train, test := without(parts, k), slices.Concat(parts[k]...)
		lambda, err := p.choose(train, lambdas, min(folds, len(train)), r)
		if err != nil {
			return nil, err
		}
		fit, err := p.solve(slices.Concat(train...), din, dout)
		if err != nil {
			return nil, err
		}
		p.errors(fit.at(lambda), test, sse)
	}
	mean, varies := p.after(dout)
	top, bottom := 0.0, 0.0
	for c := range m.R2 {
		sst := 0.0
		for _, y := range p.After {
			sst += (y[c] - mean[c]) * (y[c] - mean[c])
		}
		if !varies[c] {
			m.R2[c], m.Constant = math.NaN(), m.Constant+1
			continue
		}
		m.R2[c] = 1 - sse[c]/sst
		top, bottom = top+sse[c], bottom+sst
	}
	m.Overall = 1 - top/bottom // NaN if nothing varies
	if m.Lambda, err = p.choose(objects, lambdas, folds, r); err != nil {
		return nil, err
	}
	fit, err := p.solve(slices.Concat(objects...), din, dout)
	if err != nil {
		return nil, err
	}
	m.M = fit.at(m.Lambda)
	return m, nil
}

// check holds the sizes against each other.
func (p *Pairs) check() (din, dout int, err error) {
	n := len(p.Before)
	if n == 0 || len(p.After) != n || p.Object != nil && len(p.Object) != n {
		return 0, 0, fmt.Errorf("embedding: %d features before, %d after and %d objects: want as many of each", n,
			len(p.After), len(p.Object))
	}
	din, dout = len(p.Before[0]), len(p.After[0])
	if din == 0 || dout == 0 {
		return 0, 0, errors.New("embedding: features without components")
	}
	for i := range n {
		if len(p.Before[i]) != din || len(p.After[i]) != dout {
			return 0, 0, fmt.Errorf("embedding: input %d has %d features before and %d after, want %d and %d", i,
				len(p.Before[i]), len(p.After[i]), din, dout)
		}
		for _, x := range slices.Concat(p.Before[i], p.After[i]) {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return 0, 0, fmt.Errorf("embedding: a feature of input %d is %g, want finite numbers", i, x)
			}
		}
	}
	return din, dout, nil
}

// objects are the inputs of each object, in the order in which objects first come.
func (p *Pairs) objects() [][]int {
	var all [][]int
	at := map[int]int{}
	for i := range p.Before {
		id := i
		if p.Object != nil {
			id = p.Object[i]
		}
		k, ok := at[id]
		if !ok {
			k, at[id] = len(all), len(all)
			all = append(all, nil)
		}
		all[k] = append(all[k], i)
	}
	return all
}

// split cuts objects into parts of nearly equal size.
func split(objects [][]int, folds int, r *rand.Rand) [][][]int {
	parts := make([][][]int, folds)
	for k, i := range r.Perm(len(objects)) {
		parts[k%folds] = append(parts[k%folds], objects[i])
	}
	return parts
}

// without are the objects of all parts but one.
func without(parts [][][]int, k int) [][]int {
	var rest [][]int
	for i, p := range parts {
		if i != k {
			rest = append(rest, p...)
		}
	}
	return rest
}

// choose is the penalty with the smallest error on held-out objects; of equals the larger, which fits less.
func (p *Pairs) choose(objects [][]int, lambdas []float64, folds int, r *rand.Rand) (float64, error) {
	if len(lambdas) == 1 {
		return lambdas[0], nil
	}
	din, dout := len(p.Before[0]), len(p.After[0])
	total := make([]float64, len(lambdas))
	parts := split(objects, max(2, folds), r)
	for k := range parts {
		fit, err := p.solve(slices.Concat(without(parts, k)...), din, dout)
		if err != nil {
			return 0, err
		}
		for i, l := range lambdas {
			sse := make([]float64, dout)
			p.errors(fit.at(l), slices.Concat(parts[k]...), sse)
			for _, x := range sse {
				total[i] += x
			}
		}
	}
	best := 0
	for i, t := range total {
		if t < total[best] || t == total[best] && lambdas[i] > lambdas[best] {
			best = i
		}
	}
	return lambdas[best], nil
}

// solved is what of some inputs decides the map of every penalty: XᵀX = V diag(e) Vᵀ and VᵀXᵀY.
type solved struct {
	values []float64
	v, vxy *mat.Dense
	// of a penalty: the mean square of a component, times the inputs
	scale float64
}

func (p *Pairs) solve(inputs []int, din, dout int) (*solved, error) {
	x, y := mat.NewDense(len(inputs), din, nil), mat.NewDense(len(inputs), dout, nil)
	for k, i := range inputs {
		x.SetRow(k, p.Before[i])
		y.SetRow(k, p.After[i])
	}
	var xx mat.SymDense
	xx.SymOuterK(1, x.T())
	var f mat.EigenSym
	if !f.Factorize(&xx, true) {
		return nil, errors.New("embedding: the eigenvectors of the features were not found")
	}
	s := &solved{values: f.Values(nil), v: &mat.Dense{}, vxy: &mat.Dense{}, scale: mat.Trace(&xx) / float64(din)}
	f.VectorsTo(s.v)
	var xy mat.Dense
	xy.Mul(x.T(), y)
	s.vxy.Mul(s.v.T(), &xy)
	return s, nil
}

// at is the map of a penalty: rows are components of After.
func (s *solved) at(lambda float64) *mat.Dense {
	r, c := s.vxy.Dims()
	w := mat.NewDense(r, c, nil)
	for i := range r {
		d := max(s.values[i], 0) + lambda*s.scale
		for j := range c {
			if d > 0 { // without features at all there is no map but 0
				w.Set(i, j, s.vxy.At(i, j)/d)
			}
		}
	}
	var b mat.Dense
	b.Mul(s.v, w)
	return mat.DenseCopyOf(b.T())
}

// errors adds the squared errors of a map to sse, component by component.
func (p *Pairs) errors(m *mat.Dense, inputs []int, sse []float64) {
	for _, i := range inputs {
		for c, y := range Apply(m, p.Before[i]) {
			d := y - p.After[i][c]
			sse[c] += d * d
		}
	}
}

// after is the mean of each component and whether it varies by more than rounding.
func (p *Pairs) after(dout int) (mean []float64, varies []bool) {
	mean, varies = make([]float64, dout), make([]bool, dout)
	for c := range mean {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i, y := range p.After {
			mean[c] += (y[c] - mean[c]) / float64(i+1)
			lo, hi = min(lo, y[c]), max(hi, y[c])
		}
		varies[c] = hi-lo > 1e-12*max(math.Abs(lo), math.Abs(hi))
	}
	return mean, varies
}

// Apply is M x.
func Apply(m *mat.Dense, x []float64) []float64 {
	rows, _ := m.Dims()
	var y mat.VecDense
	y.MulVec(m, mat.NewVecDense(len(x), x))
	out := make([]float64, rows)
	for i := range out {
		out[i] = y.AtVec(i)
	}
	return out
}

// Homomorphism is how far maps are from composing as their elements do: ‖M_gh - M_g M_h‖ / ‖M_gh‖, Frobenius norms. It
// is NaN if M_gh is 0, and panics if the matrices are not square and of one size.
func Homomorphism(gh, g, h *mat.Dense) float64 {
	var d mat.Dense
	d.Mul(g, h)
	d.Sub(gh, &d)
	n := mat.Norm(gh, 2)
	if !(n > 0) {
		return math.NaN()
	}
	return mat.Norm(&d, 2) / n
}

// Retrieval says how far the prediction of a map is nearest to the right view among all views of its object.
type Retrieval struct {
	// predictions
	N int
	// mean of 1/rank, rank 1 for the nearest
	MRR float64
	// share of predictions whose rank is at most 1 and 5
	H1, H5 float64
	// mean number of views to choose among
	Candidates float64
	// MRR of a guess: the mean of (1 + 1/2 + ... + 1/n)/n
	Chance float64
}

// Rank is the place of candidate truth by its Euclidean distance from the prediction, 1 for the nearest. Candidates as
// far as it come before it, so that features that say nothing do not rank first. It is 0 if a distance is NaN, and
// panics if truth is no candidate.
func Rank(predicted []float64, candidates [][]float64, truth int) int {
	_ = candidates[truth]
	distance := func(c []float64) float64 {
		if len(c) != len(predicted) {
			return math.NaN()
		}
		d := 0.0
		for k, x := range c {
			d = math.Hypot(d, x-predicted[k])
		}
		return d
	}
	own, rank := distance(candidates[truth]), 1
	for i, c := range candidates {
		d := distance(c)
		if math.IsNaN(d) || math.IsNaN(own) {
			return 0
		}
		if i != truth && d <= own {
			rank++
		}
	}
	return rank
}

// Retrieve summarises ranks, each among so many candidates. Ranks of 0 have no value and make all numbers NaN. Without
// ranks they are NaN too.
func Retrieve(ranks, candidates []int) Retrieval {
	r := Retrieval{N: len(ranks)}
	for i, k := range ranks {
		n := float64(candidates[i])
		if k < 1 {
			return Retrieval{
				N: len(ranks), MRR: math.NaN(), H1: math.NaN(), H5: math.NaN(), Candidates: math.NaN(),
				Chance: math.NaN(),
			}
		}
		r.MRR += 1 / float64(k)
		if k <= 1 {
			r.H1++
		}
		if k <= 5 {
			r.H5++
		}
		r.Candidates += n
		h := 0.0
		for j := 1; j <= candidates[i]; j++ {
			h += 1 / float64(j)
		}
		r.Chance += h / n
	}
	n := float64(len(ranks))
	r.MRR, r.H1, r.H5, r.Candidates, r.Chance = r.MRR/n, r.H1/n, r.H5/n, r.Candidates/n, r.Chance/n
	return r
}

package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/internal/elementary"

	"gonum.org/v1/gonum/mat"
)

// linear is how the error of a generator A answers to small changes of it, in a basis of eigenvectors V of A. There the
// derivative of exp(tA) along V B V⁻¹ is V (B∘Φ) V⁻¹ with Φ_ij = (e^{tλ_i} - e^{tλ_j})/(λ_i - λ_j) (Daleckii and Krein
// 1965), so that it costs products of small matrices and no exponentials.
type linear struct {
	f      *flow
	values []complex128
	v      complexes
	// V⁻¹
	inverse complexes
	// V⁻¹ G V⁻ᴴ and VᴴV
	w, p complexes
	// of each t
	phi []complexes
	// of the equations, to precondition them
	diagonal *mat.Dense
}

// complexes is a matrix of complex numbers. The compiler fuses products of complex numbers on some processors; this
// has them one by one.
type complexes struct{ re, im *mat.Dense }

func newComplexes(r, c int) complexes {
	return complexes{mat.NewDense(r, c, nil), mat.NewDense(r, c, nil)}
}

// mul is the product of two matrices.
func (a complexes) mul(b complexes) complexes {
	var out complexes
	var x mat.Dense
	out.re, out.im = &mat.Dense{}, &mat.Dense{}
	out.re.Mul(a.re, b.re)
	x.Mul(a.im, b.im)
	out.re.Sub(out.re, &x)
	out.im.Mul(a.re, b.im)
	x.Mul(a.im, b.re)
	out.im.Add(out.im, &x)
	return out
}

// adjoint is the conjugate transpose.
func (a complexes) adjoint() complexes {
	out := complexes{mat.DenseCopyOf(a.re.T()), mat.DenseCopyOf(a.im.T())}
	out.im.Scale(-1, out.im)
	return out
}

// times is the product entry by entry, with the conjugate of b where that is asked for.
func (a complexes) times(b complexes, conjugate bool) complexes {
	r, c := a.re.Dims()
	out := newComplexes(r, c)
	for i := range r {
		for j := range c {
			x, y, u, v := a.re.At(i, j), a.im.At(i, j), b.re.At(i, j), b.im.At(i, j)
			if conjugate {
				v = -v
			}
			out.re.Set(i, j, float64(x*u)-float64(y*v))
			out.im.Set(i, j, float64(x*v)+float64(y*u))
		}
	}
	return out
}

// add adds f b.
func (a complexes) add(f float64, b complexes) {
	var x mat.Dense
	x.Scale(f, b.re)
	a.re.Add(a.re, &x)
	x.Scale(f, b.im)
	a.im.Add(a.im, &x)
}

// inner is Re Σ conj(a) b.
func (a complexes) inner(b complexes) float64 {
	return dot(a.re.RawMatrix().Data, b.re.RawMatrix().Data) + dot(a.im.RawMatrix().Data, b.im.RawMatrix().Data)
}

// plain is a real matrix.
func plain(m *mat.Dense) complexes {
	r, c := m.Dims()
	return complexes{m, mat.NewDense(r, c, nil)}
}

// inverted is the inverse, and how ill it is conditioned, as of a real matrix of twice the size.
func (a complexes) inverted() (complexes, float64) {
	n, _ := a.re.Dims()
	m := mat.NewDense(2*n, 2*n, nil)
	for i := range n {
		for j := range n {
			m.Set(i, j, a.re.At(i, j))
			m.Set(n+i, n+j, a.re.At(i, j))
			m.Set(i, n+j, -a.im.At(i, j))
			m.Set(n+i, j, a.im.At(i, j))
		}
	}
	var lu mat.LU
	lu.Factorize(m)
	condition := lu.Cond()
	out := &mat.Dense{}
	if err := lu.SolveTo(out, false, one(2*n)); err != nil {
		var c mat.Condition
		if !errors.As(err, &c) || math.IsInf(float64(c), 1) {
			return complexes{}, math.Inf(1) // no basis: the caller takes another
		}
	}
	return complexes{
		mat.DenseCopyOf(out.Slice(0, n, 0, n)), mat.DenseCopyOf(out.Slice(n, 2*n, 0, n)),
	}, condition
}

// one is the matrix 1.
func one(n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.Set(i, i, 1)
	}
	return out
}

// eigen are the eigenvalues and eigenvectors of a matrix.
func eigen(a *mat.Dense) ([]complex128, complexes, error) {
	var f mat.Eigen
	if !f.Factorize(a, mat.EigenRight) {
		return nil, complexes{}, fmt.Errorf("%w: its eigenvectors were not found", ErrGenerator)
	}
	var c mat.CDense
	f.VectorsTo(&c)
	n, _ := a.Dims()
	v := newComplexes(n, n)
	for i := range n {
		for j := range n {
			v.re.Set(i, j, real(c.At(i, j)))
			v.im.Set(i, j, imag(c.At(i, j)))
		}
	}
	return f.Values(nil), v, nil
}

// mostCondition is how far eigenvectors may be from a basis.
const mostCondition = 1e8

// linear is how the error answers to changes of a generator. Where its eigenvectors are no basis, or nearly none, as
// of features that are polynomials of t, those of a matrix beside it are taken (Davies, SIAM Journal on Matrix Analysis
// 29, 2007): steps are then a little off, and what they lead to is not, for the error itself is that of A.
func (f *flow) linear(a *mat.Dense) (*linear, error) {
	l := &linear{f: f}
	beside := a
	for size := 1e-9; ; size *= 100 {
		var err error
		if l.values, l.v, err = eigen(beside); err != nil {
			return nil, err
		}
		var condition float64
		l.inverse, condition = l.v.inverted()
		if condition <= mostCondition {
			break
		}
		if size > 1e-2 {
			return nil, fmt.Errorf("%w: it has no basis of eigenvectors", ErrGenerator)
		}
		r := rand.New(rand.NewPCG(uint64(f.d), streamGenerator))
		beside = mat.NewDense(f.d, f.d, nil)
		scale := size * max(mat.Norm(a, 2), 1e-300)
		for i := range f.d {
			for j := range f.d {
				beside.Set(i, j, a.At(i, j)+float64(scale*r.NormFloat64()))
			}
		}
	}
	l.w = l.inverse.mul(plain(f.g)).mul(l.inverse.adjoint())
	l.p = l.v.adjoint().mul(l.v)
	l.diagonal = mat.NewDense(f.d, f.d, nil)
	for _, t := range f.t {
		phi := newComplexes(f.d, f.d)
		for i := range f.d {
			for j := range f.d {
				x, y := divided(l.values[i], l.values[j], t)
				phi.re.Set(i, j, x)
				phi.im.Set(i, j, y)
				l.diagonal.Set(i, j, l.diagonal.At(i, j)+
					float64((float64(x*x)+float64(y*y))*float64(l.p.re.At(i, i)*l.w.re.At(j, j))))
			}
		}
		l.phi = append(l.phi, phi)
	}
	return l, nil
}

// exponential is e^{tz}.
func exponential(z complex128, t float64) (x, y float64) {
	s, c := elementary.Sincos(float64(t * imag(z)))
	e := elementary.Exp(float64(t * real(z)))
	return float64(e * c), float64(e * s)
}

// divided is the divided difference (e^{ta} - e^{tb})/(a - b), t e^{ta} where they are one.
func divided(a, b complex128, t float64) (x, y float64) {
	dx, dy := real(a)-real(b), imag(a)-imag(b)
	square := float64(dx*dx) + float64(dy*dy)
	if float64(t*t)*square < 1e-10 {
		x, y = exponential(complex((real(a)+real(b))/2, (imag(a)+imag(b))/2), t)
		return float64(t * x), float64(t * y)
	}
	ax, ay := exponential(a, t)
	bx, by := exponential(b, t)
	ux, uy := ax-bx, ay-by
	return (float64(ux*dx) + float64(uy*dy)) / square, (float64(uy*dx) - float64(ux*dy)) / square
}

// gradient is half the slope of the error by B, from what [flow.value] has for each t.
func (l *linear) gradient(slopes []*mat.Dense) complexes {
	out := newComplexes(l.f.d, l.f.d)
	left, right := l.v.adjoint(), l.inverse.adjoint()
	for k, s := range slopes {
		out.add(1, left.mul(plain(s)).mul(right).times(l.phi[k], true))
	}
	return out
}

// apply is half the curvature of the error, times B.
func (l *linear) apply(b complexes) complexes {
	out := newComplexes(l.f.d, l.f.d)
	for _, phi := range l.phi {
		out.add(1, l.p.mul(b.times(phi, false)).mul(l.w).times(phi, true))
	}
	return out
}

// solve is the B of which apply makes b, up to a tolerance, by so many steps of conjugate gradients at most.
func (l *linear) solve(b complexes, tolerance float64, most int) complexes {
	d := l.f.d
	precondition := func(r complexes) complexes {
		out := newComplexes(d, d)
		for i := range d {
			for j := range d {
				if x := l.diagonal.At(i, j); x > 0 {
					out.re.Set(i, j, r.re.At(i, j)/x)
					out.im.Set(i, j, r.im.At(i, j)/x)
				}
			}
		}
		return out
	}
	x, r := newComplexes(d, d), newComplexes(d, d)
	r.add(1, b)
	z := precondition(r)
	p := newComplexes(d, d)
	p.add(1, z)
	rz := r.inner(z)
	first := rz
	for range most {
		if !(rz > tolerance*tolerance*first) {
			break
		}
		q := l.apply(p)
		pq := p.inner(q)
		if !(pq > 0) {
			break
		}
		x.add(rz/pq, p)
		r.add(-rz/pq, q)
		z = precondition(r)
		next := r.inner(z)
		for _, m := range []struct{ to, from *mat.Dense }{{p.re, z.re}, {p.im, z.im}} {
			m.to.Scale(next/rz, m.to)
			m.to.Add(m.to, m.from)
		}
		rz = next
	}
	return x
}

// back is V B V⁻¹, which is real.
func (l *linear) back(b complexes) *mat.Dense { return l.v.mul(b).mul(l.inverse).re }

// frequencies are the imaginary parts of the eigenvalues that are not negative, ascending.
func frequencies(a *mat.Dense) ([]float64, error) {
	values, _, err := eigen(a)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, v := range values {
		if imag(v) >= 0 {
			out = append(out, imag(v))
		}
	}
	slices.Sort(out)
	return out, nil
}

// spectrum says of the fitted generator how fast its planes turn. The intervals resample the influence of each object
// on an eigenvalue λ_i: -(N⁻¹ g)_ii, with g the slope of the error of that object and N half the curvature of all.
func (g *Generator) spectrum(f *flow, p *Path, elements []int, opt Options) error {
	l, err := f.linear(g.A)
	if err != nil {
		return err
	}
	groups := objects(p.Object)
	slopes := l.slopes(g.A, p, elements, groups)
	for i, v := range l.values {
		g.Growth = max(g.Growth, math.Abs(real(v)))
		if imag(v) < 0 {
			continue
		}
		if imag(v) == 0 { // a real one stays real
			g.Frequencies = append(g.Frequencies, opt.estimate(len(groups), streamGenerator,
				func([]int) float64 { return 0 }))
			continue
		}
		unit := newComplexes(f.d, f.d)
		unit.re.Set(i, i, 1)
		z := l.solve(unit, 1e-4, mostGradients)
		influence := make([]float64, len(groups))
		for k, s := range slopes { // Im Σ conj(z) s
			influence[k] = dot(z.re.RawMatrix().Data, s.im.RawMatrix().Data) -
				dot(z.im.RawMatrix().Data, s.re.RawMatrix().Data)
		}
		g.Frequencies = append(g.Frequencies, opt.estimate(len(groups), streamGenerator, func(count []int) float64 {
			x := imag(v)
			for k, c := range count {
				x -= float64(float64(c) * influence[k])
			}
			return x
		}))
	}
	slices.SortStableFunc(g.Frequencies, func(a, b Estimate) int { return cmp.Compare(a.Value, b.Value) })
	return nil
}

// slopes are half the slope of the error of each object by B.
func (l *linear) slopes(a *mat.Dense, p *Path, elements []int, groups [][]int) []complexes {
	d := l.f.d
	out := make([]complexes, len(groups))
	for g := range out {
		out[g] = newComplexes(d, d)
	}
	e := l.f.exps(a)
	transposed := complexes{mat.DenseCopyOf(l.inverse.re.T()), mat.DenseCopyOf(l.inverse.im.T())}
	w := plain(p.Still()).mul(transposed)
	conjugate := newComplexes(d, d)
	conjugate.add(1, l.v)
	conjugate.im.Scale(-1, conjugate.im)
	for k, at := range elements {
		var r mat.Dense
		r.Mul(p.Still(), e[k].T())
		r.Sub(&r, p.At[at])
		u := plain(&r).mul(conjugate)
		for g, rows := range groups {
			sum := newComplexes(d, d)
			for _, n := range rows {
				for i := range d {
					x, y := u.re.At(n, i), u.im.At(n, i)
					for j := range d {
						c, s := w.re.At(n, j), -w.im.At(n, j)
						sum.re.Set(i, j, sum.re.At(i, j)+float64(x*c)-float64(y*s))
						sum.im.Set(i, j, sum.im.At(i, j)+float64(x*s)+float64(y*c))
					}
				}
			}
			out[g].add(1, sum.times(l.phi[k], true))
		}
	}
	return out
}

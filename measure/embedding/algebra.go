package embedding

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nero/internal/distribution"
	"nero/measure/aggregate"

	"gonum.org/v1/gonum/mat"
)

// Span are the features of samples along a group of several parameters.
type Span struct {
	// T are the coefficients of the generators of which each element is the exponential.
	T [][]float64
	// Orbits have their features at the same places.
	*Orbits
	// Step is how far one goes at first along each generator: two coefficients are compared in units of it. Elements at
	// ± a step along one generator alone are where the fit begins, and have to be there.
	Step []float64
	// Asked are the elements some of which may be kept to be asked about.
	Asked []int
	// Bracket are the structure constants: [X_i, X_j] = Σ Bracket[i][j][k] X_k.
	Bracket [][][]float64
}

// Algebra is one matrix for each generator of a group: φ(exp(Σ t_i X_i) x) ≈ exp(Σ t_i A_i) φ(x).
type Algebra struct {
	A []*mat.Dense
	// Frequencies are, of each generator, the sizes of the imaginary parts of its eigenvalues, one of each pair,
	// ascending; their intervals leave out eighths of the objects.
	Frequencies [][]Estimate
	// Growth is the largest size of a real part, of each generator.
	Growth []float64
	// Brackets are ‖[A_i, A_j] - Σ c_ijk A_k‖ / (‖A_i‖ ‖A_j‖), 0 where the matrices close as the generators do.
	Brackets []Closing
	// R2 is of objects to confirm at elements that were not fitted, Seen of the same objects at those that were, Ridge
	// that of a map for each element.
	R2, Seen, Ridge Estimate
	// Fitted and Unseen are how many elements were fitted, and how many kept.
	Fitted, Unseen int
}

// Closing is how far the bracket of two generators is off.
type Closing struct {
	I, J   int
	Defect float64
}

// leftOut is into how many parts objects are divided of which each is left out once.
const leftOut = 8

// Represent fits the matrices to all elements at once, from central differences along each generator over growing
// ranges. Every third element that may be kept is asked about.
func Represent(fit, choose, confirm *Span, opt Options) (*Algebra, error) {
	for _, s := range []*Span{fit, choose, confirm} {
		if err := s.Check(); err != nil {
			return nil, err
		}
		if len(s.T) != len(s.At) {
			return nil, fmt.Errorf("%d sets of parameters for %d elements", len(s.T), len(s.At))
		}
	}
	seen, unseen := fit.divide()
	f, err := newSpanned(fit, seen)
	if err != nil {
		return nil, err
	}
	start, err := f.start(fit.Step)
	if err != nil {
		return nil, err
	}
	a, err := f.continued(start, fit.Step)
	if err != nil {
		return nil, err
	}
	g := &Algebra{A: a, Fitted: len(seen), Unseen: len(unseen)}
	if err := g.spectra(fit, seen, opt); err != nil {
		return nil, err
	}
	if err := g.close(f, fit.Bracket); err != nil {
		return nil, err
	}
	g.R2, g.Seen = g.explains(confirm, unseen, opt), g.explains(confirm, seen, opt)
	of := func(s *Span) *Path { return &Path{Orbits: s.Orbits} }
	if g.Ridge, err = ridges(of(fit), of(choose), of(confirm), opt); err != nil {
		return nil, err
	}
	return g, nil
}

// size is how far an element is from the identity, in steps.
func (s *Span) size(k int) float64 { return size(s.T[k], s.Step) }

func size(t, step []float64) float64 {
	x := 0.0
	for i, v := range t {
		x += float64((v / step[i]) * (v / step[i]))
	}
	return math.Sqrt(x)
}

// divide are the elements that are fitted and those that are kept, without the identity, both ascending in size.
func (s *Span) divide() (seen, unseen []int) {
	var order []int
	for k := range s.T {
		if k != s.Identity {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.size(a), s.size(b)) })
	asked := 0
	for _, k := range order {
		if slices.Contains(s.Asked, k) {
			asked++
			if asked%3 == 0 {
				unseen = append(unseen, k)
				continue
			}
		}
		seen = append(seen, k)
	}
	return seen, unseen
}

// spanned is the least-squares problem of several generators, as [flow] is of one.
type spanned struct {
	*flow // with t of 1 for each element
	// coefficients of each element
	by      [][]float64
	inverse *mat.Dense // of G
	weight  []float64  // Σ t_i² of each generator
}

func newSpanned(s *Span, elements []int) (*spanned, error) {
	ones := make([]float64, len(s.T))
	for k := range ones {
		ones[k] = 1
	}
	f, err := newFlow(&Path{T: ones, Orbits: s.Orbits}, elements)
	if err != nil {
		return nil, err
	}
	out := &spanned{flow: f, inverse: &mat.Dense{}}
	if err := out.inverse.Inverse(f.g); err != nil {
		return nil, fmt.Errorf("%w: features lie in fewer directions than they have numbers", ErrGenerator)
	}
	for _, k := range elements {
		out.by = append(out.by, s.T[k])
	}
	out.weigh()
	return out, nil
}

func (f *spanned) weigh() {
	f.weight = make([]float64, len(f.by[0]))
	for _, t := range f.by {
		for i, x := range t {
			f.weight[i] += float64(x * x)
		}
	}
}

// start are central differences along each generator alone.
func (f *spanned) start(step []float64) ([]*mat.Dense, error) {
	var out []*mat.Dense
	for i, h := range step {
		find := func(at float64) *mat.Dense {
			for k, t := range f.by {
				alone := math.Abs(t[i]-at) <= 1e-6*h
				for j, x := range t {
					alone = alone && (j == i || math.Abs(x) <= 1e-6*step[j])
				}
				if alone {
					return f.m[k]
				}
			}
			return nil
		}
		plus, minus := find(h), find(-h)
		if plus == nil || minus == nil {
			return nil, fmt.Errorf("%w: no elements at ±%g along generator %d alone", ErrGenerator, h, i)
		}
		a := &mat.Dense{}
		a.Sub(plus, minus)
		a.Scale(1/(2*h), a)
		out = append(out, a)
	}
	return out, nil
}

// sum is Σ t_i A_i.
func sum(t []float64, a []*mat.Dense) *mat.Dense {
	d, _ := a[0].Dims()
	out := mat.NewDense(d, d, nil)
	for i, x := range t {
		if x == 0 {
			continue
		}
		var s mat.Dense
		s.Scale(x, a[i])
		out.Add(out, &s)
	}
	return out
}

// exps are exp(Σ t_i A_i) at each element.
func (f *spanned) exps(a []*mat.Dense) []*mat.Dense {
	var out []*mat.Dense
	for _, t := range f.by {
		e := &mat.Dense{}
		e.Exp(sum(t, a))
		out = append(out, e)
	}
	return out
}

// continued fits over growing ranges.
func (f *spanned) continued(a []*mat.Dense, step []float64) ([]*mat.Dense, error) {
	const grow = 1.5
	last := size(f.by[len(f.by)-1], step)
	done := 0
	for most := size(f.by[0], step); ; most *= grow {
		most = min(most, last)
		part := &spanned{flow: &flow{d: f.d, g: f.g}, inverse: f.inverse}
		for k, t := range f.by {
			if size(t, step) <= most*(1+1e-9) {
				part.by, part.t, part.m = append(part.by, t), append(part.t, 1), append(part.m, f.m[k])
			}
		}
		part.weigh()
		if len(part.by) > done && !slices.Contains(part.weight, 0) {
			done = len(part.by)
			fall := roughly
			if most >= last {
				fall = exactly
			}
			var err error
			if a, err = part.descend(a, fall, mostSteps); err != nil {
				return nil, err
			}
		}
		if most >= last {
			return a, nil
		}
	}
}

// tangent is how exp(B) answers to small changes of B, in a basis of eigenvectors of B.
type tangent struct {
	v, inverse, phi complexes
	// conjugate transposes
	va, ia complexes
}

func (f *spanned) tangents(a []*mat.Dense) ([]*tangent, error) {
	var out []*tangent
	for k, t := range f.by {
		l, err := (&flow{d: f.d, t: []float64{1}, g: f.g, m: f.m[k : k+1]}).linear(sum(t, a))
		if err != nil {
			return nil, err
		}
		out = append(out, &tangent{l.v, l.inverse, l.phi[0], l.v.adjoint(), l.inverse.adjoint()})
	}
	return out, nil
}

// along is what exp changes by where B changes by E.
func (t *tangent) along(e *mat.Dense) *mat.Dense {
	return t.v.mul(t.inverse.mul(plain(e)).mul(t.v).times(t.phi, false)).mul(t.inverse).re
}

// back is the transpose of along.
func (t *tangent) back(s *mat.Dense) *mat.Dense {
	return t.ia.mul(t.va.mul(plain(s)).mul(t.ia).times(t.phi, true)).mul(t.va).re
}

// matrices are one for each generator.
type matrices []*mat.Dense

func (f *spanned) zeros() matrices {
	out := make(matrices, len(f.weight))
	for i := range out {
		out[i] = mat.NewDense(f.d, f.d, nil)
	}
	return out
}

// add adds c o.
func (m matrices) add(c float64, o matrices) {
	for i := range m {
		var s mat.Dense
		s.Scale(c, o[i])
		m[i].Add(m[i], &s)
	}
}

func (m matrices) inner(o matrices) float64 {
	s := 0.0
	for i := range m {
		s += dot(m[i].RawMatrix().Data, o[i].RawMatrix().Data)
	}
	return s
}

// gather is Σ over elements of t_i L*(s), of each generator.
func (f *spanned) gather(all []*tangent, s []*mat.Dense) matrices {
	out := f.zeros()
	for k, t := range all {
		b := t.back(s[k])
		for i, x := range f.by[k] {
			if x != 0 {
				var y mat.Dense
				y.Scale(x, b)
				out[i].Add(out[i], &y)
			}
		}
	}
	return out
}

// solve is the B whose half curvature is b, up to a tolerance, by conjugate gradients. They are preconditioned by what
// the curvature is at A = 0.
func (f *spanned) solve(all []*tangent, b matrices, tolerance float64) matrices {
	precondition := func(r matrices) matrices {
		out := f.zeros()
		for i := range r {
			out[i].Mul(r[i], f.inverse)
			out[i].Scale(1/f.weight[i], out[i])
		}
		return out
	}
	x, r := f.zeros(), f.zeros()
	r.add(1, b)
	z := precondition(r)
	p := f.zeros()
	p.add(1, z)
	rz := r.inner(z)
	first := rz
	for range mostGradients {
		if !(rz > tolerance*tolerance*first) {
			break
		}
		changes := make([]*mat.Dense, len(all))
		for k, t := range all {
			changes[k] = &mat.Dense{}
			changes[k].Mul(t.along(sum(f.by[k], p)), f.g)
		}
		q := f.gather(all, changes)
		pq := p.inner(q)
		if !(pq > 0) {
			break
		}
		x.add(rz/pq, p)
		r.add(-rz/pq, q)
		z = precondition(r)
		next := r.inner(z)
		for i := range p {
			p[i].Scale(next/rz, p[i])
			p[i].Add(p[i], z[i])
		}
		rz = next
	}
	return x
}

// descend takes so many steps of Gauss and Newton at most, as [flow.descend] does, and none where what is left is what
// rounding makes.
func (f *spanned) descend(a []*mat.Dense, fall float64, most int) ([]*mat.Dense, error) {
	whole := 0.0
	for _, m := range f.m {
		var x mat.Dense
		x.Mul(m, f.g)
		whole += dot(x.RawMatrix().Data, m.RawMatrix().Data)
	}
	least, slopes := f.value(f.exps(a))
	for range most {
		if least <= 1e-24*whole {
			break
		}
		all, err := f.tangents(a)
		if err != nil {
			return nil, err
		}
		d := f.solve(all, f.gather(all, slopes), 1e-3)
		step, fell := 1.0, false
		for range 12 {
			next := f.zeros()
			next.add(1, a)
			next.add(-step, d)
			if v, s := f.value(f.exps(next)); v < least {
				fell = least-v > fall*least
				a, least, slopes = next, v, s
				break
			}
			step /= 2
		}
		if !fell {
			break
		}
	}
	return a, nil
}

// turning are the sizes of the imaginary parts of all eigenvalues, ascending, and the largest size of a real part.
func turning(a *mat.Dense) (sizes []float64, growth float64, err error) {
	values, _, err := eigen(a)
	if err != nil {
		return nil, 0, err
	}
	for _, v := range values {
		sizes = append(sizes, math.Abs(imag(v)))
		growth = max(growth, math.Abs(real(v)))
	}
	slices.Sort(sizes)
	return sizes, growth, nil
}

// spectra says how fast planes turn along each generator. Intervals are those of the jackknife that leaves out one of
// eight parts of the objects at a time (Efron and Stein 1981) and takes one step from the whole, with Student's t.
func (g *Algebra) spectra(fit *Span, seen []int, opt Options) error {
	var whole [][]float64
	for _, a := range g.A {
		sizes, growth, err := turning(a)
		if err != nil {
			return err
		}
		whole, g.Growth = append(whole, sizes), append(g.Growth, growth)
	}
	groups := objects(fit.Object)
	parts := min(leftOut, len(groups))
	square := make([][]float64, len(whole))
	values := make([][][]float64, len(whole))
	for part := range parts {
		var rows, object []int
		for k, all := range groups {
			if k%parts != part {
				rows = append(rows, all...)
				for range all {
					object = append(object, k)
				}
			}
		}
		o := &Orbits{Object: object, Identity: fit.Identity}
		for _, at := range fit.At {
			o.At = append(o.At, choose(at, rows))
		}
		f, err := newSpanned(&Span{T: fit.T, Orbits: o, Step: fit.Step}, seen)
		if err != nil {
			return err
		}
		a, err := f.descend(g.A, exactly, 1)
		if err != nil {
			return err
		}
		for i := range a {
			sizes, _, err := turning(a[i])
			if err != nil {
				return err
			}
			values[i] = append(values[i], sizes)
		}
	}
	for i := range whole {
		square[i] = make([]float64, len(whole[i]))
		for j := range whole[i] {
			m := 0.0
			for _, v := range values[i] {
				m += v[j] / float64(parts)
			}
			for _, v := range values[i] {
				square[i][j] += float64((v[j]-m)*(v[j]-m)) * float64(parts-1) / float64(parts)
			}
		}
	}
	confidence := opt.confidence()
	t := distribution.StudentQuantile(float64(parts-1), (1+confidence)/2)
	for i, sizes := range whole {
		var out []Estimate
		top := sizes[len(sizes)-1]
		for j := len(sizes) - 1; j >= 0; j-- { // pairs from above; one that is left turns nothing
			v, s := sizes[j], math.Sqrt(square[i][j])
			if v > 1e-9*top && j > 0 {
				j--
			}
			out = append(out, Estimate{v, aggregate.Interval{
				Low: max(v-float64(t*s), 0), High: v + float64(t*s), Confidence: confidence, N: len(groups),
			}})
		}
		slices.Reverse(out)
		g.Frequencies = append(g.Frequencies, out)
	}
	return nil
}

// close holds the brackets of the matrices against those of the generators, in coordinates in which features at the
// identity have mean square 1 along every direction: what basis the features came in takes no part.
func (g *Algebra) close(f *spanned, c [][][]float64) error {
	var l mat.Cholesky
	if !l.Factorize(symmetrical(f.g)) {
		return fmt.Errorf("%w: features lie in fewer directions than they have numbers", ErrGenerator)
	}
	var low, inverse mat.TriDense
	l.LTo(&low)
	if err := inverse.InverseTri(&low); err != nil {
		return fmt.Errorf("%w: %w", ErrGenerator, err)
	}
	var white []*mat.Dense
	for _, a := range g.A {
		w := &mat.Dense{}
		w.Mul(&inverse, a)
		w.Mul(w, &low)
		white = append(white, w)
	}
	for j := range white {
		for i := range j {
			var ab, ba mat.Dense
			ab.Mul(white[i], white[j])
			ba.Mul(white[j], white[i])
			ab.Sub(&ab, &ba)
			ab.Sub(&ab, sum(c[i][j], white))
			d := mat.Norm(&ab, 2)
			if d > 0 {
				d /= mat.Norm(white[i], 2) * mat.Norm(white[j], 2)
			}
			g.Brackets = append(g.Brackets, Closing{i, j, d})
		}
	}
	return nil
}

// symmetrical is a matrix that is symmetric up to rounding.
func symmetrical(m *mat.Dense) *mat.SymDense {
	n, _ := m.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			out.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return out
}

// explains is how much of the features at some elements the matrices explain.
func (g *Algebra) explains(s *Span, elements []int, opt Options) Estimate {
	if len(elements) == 0 {
		return opt.undefined()
	}
	var predicted, truth []*mat.Dense
	var object []int
	for _, k := range elements {
		var e mat.Dense
		y := &mat.Dense{}
		e.Exp(sum(s.T[k], g.A))
		y.Mul(s.Still(), e.T())
		predicted, truth = append(predicted, y), append(truth, s.At[k])
		object = append(object, s.Object...)
	}
	return Explain(Stack(predicted...), Stack(truth...), object, opt).Overall
}

package pencil

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// system is the equations of all parts.
type system struct {
	objects int
	parts   []*part
	// y are the answers in the directions that are looked at, one row for each object.
	y [][]float64
}

// sizes are the sizes of the numbers of the input that some part moves, 0 for those that rest.
func (s *system) sizes(n int) []float64 {
	out := make([]float64, n)
	for _, p := range s.parts {
		if p.moved != nil {
			p.moved.sizes(out)
		}
	}
	return out
}

// solve counts the symmetries.
func (s *system) solve(d *derivatives, r *Result, o Options) *Result {
	r.Derivative, r.Step = d.name, d.step
	size := 0
	for _, p := range s.parts {
		r.Quotients, r.Still = append(r.Quotients, p.quotient()...), append(r.Still, p.still...)
		size += p.reduced()
	}
	r.Unknowns, r.High = size, size
	moving := 0
	for _, p := range s.parts {
		if p.moved != nil {
			moving += p.reduced()
		}
	}
	if moving == 0 {
		r.Why = "the data span no direction that the function looks at"
		return r
	}
	keep := d.probes
	if enough := (4*size + s.objects - 1) / s.objects; size > 300 && keep > enough {
		keep = enough
	}
	r.Rows = keep * s.objects
	e := newEquations(s, d, keep, size)
	var vectors *mat.Dense
	known := size
	if size <= dense {
		_, vectors = lowest(e.gram(), o.Soft*o.Soft, o.Seed)
	} else if vectors, known, r.Why = e.lowest(r, o); r.Why != "" {
		return r
	}
	_, k := vectors.Dims()
	// The roots of eigenvalues below 1e-16 are noise of 1e-8; the lengths of the rows are not.
	levels := make([]level, k)
	zv, av := e.times(vectors)
	root := 1 / math.Sqrt(float64(s.objects))
	for j := range levels {
		levels[j] = level{
			norm(mat.Col(nil, j, zv)) * root, max(norm(mat.Col(nil, j, av))*root, d.floor), mat.Col(nil, j, vectors),
		}
	}
	slices.SortStableFunc(levels, func(a, b level) int {
		switch {
		case a.sigma < b.sigma:
			return -1
		case a.sigma > b.sigma:
			return 1
		}
		return 0
	})
	candidates := 0
	r.Floor = levels[0].floor
	for j, l := range levels {
		if l.sigma < o.Soft {
			candidates++
			r.Floor = max(r.Floor, l.floor)
		}
		if j < known {
			r.Sigma = append(r.Sigma, l.sigma)
		}
	}
	for _, l := range levels[:candidates] {
		f := Family{Sigma: l.sigma, Floor: l.floor, State: Approximate, Moves: s.motion(l.vector)}
		if l.sigma <= slack*r.Floor {
			f.State = Holds
		}
		r.Families = append(r.Families, f)
	}
	s.rank(e, levels, candidates, size, r, o)
	if r.Dimension > 0 {
		r.Algebra = s.algebra(levels[:r.Dimension], r.Floor)
	}
	return r
}

// level is a direction of the unknowns after the quotients, with its σ and what rounding has of that.
type level struct {
	sigma, floor float64
	vector       []float64
}

// cut is the rank that a list of ascending σ has: where the ratio of neighbours, each at least the floor, is largest.
// Beyond the last of all unknowns stands a direction like any other, σ = 1.
func cut(sigma []float64, size int, floor, limit float64) (rank int, ratio float64) {
	for k := range sigma {
		if sigma[k] >= limit {
			break
		}
		next := 1.0
		if k+1 < len(sigma) {
			next = sigma[k+1]
		} else if k+1 < size {
			break
		}
		if r := max(next, floor) / max(sigma[k], floor); r > ratio {
			rank, ratio = k+1, r
		}
	}
	return rank, ratio
}

// rank decides, with the bootstrap: objects are drawn anew, and the same rule counts again among the lowest directions
// and those that follow.
func (s *system) rank(e *equations, levels []level, candidates, size int, r *Result, o Options) {
	found, ratio := cut(r.Sigma, size, r.Floor, o.Soft)
	r.Ratio = ratio
	if free := size - found; 2*r.Rows < 3*free {
		r.Low, r.High, r.Families = 0, size, []Family{} // directions that too few equations leave are no families
		r.Why = e.few(size, free)
		return
	}
	// Only the directions about the cut can change places.
	const about = 24
	first := max(0, candidates-100)
	last := min(len(levels), candidates+about)
	k := last - first
	v := mat.NewDense(size, k, nil)
	for j := range k {
		v.SetCol(j, levels[first+j].vector)
	}
	times := lots(s.objects, o)
	squares := e.squares(v, times)
	sizes := s.metrics(times, s.expanded(levels[first:last]))
	counts := map[int]int{}
	for b := range o.Bootstraps {
		sigma := relative(unpacked(squares.RawRowView(b), k), unpacked(sizes.RawRowView(b), k))
		n, _ := cut(sigma, size-first, max(r.Floor, 1e-7), o.Soft)
		counts[first+n]++
	}
	r.Bootstraps = o.Bootstraps
	r.Agree = float64(counts[found]) / float64(o.Bootstraps)
	exact := 0
	for _, l := range levels[:candidates] {
		if l.sigma <= slack*r.Floor {
			exact++
		}
	}
	switch {
	case r.Agree < agreement:
		r.State, r.Low, r.High = Between, found, found
		for n, times := range counts {
			if times*40 >= o.Bootstraps { // 2.5 %
				r.Low, r.High = min(r.Low, n), max(r.High, n)
			}
		}
		r.Why = fmt.Sprintf("%.0f %% of the bootstraps count as many as all objects together", 100*r.Agree)
	case found > 0 && ratio < ratioLeast:
		r.State, r.Low, r.High = Between, exact, candidates
		r.Why = fmt.Sprintf("the first σ that is out is %.2g times the last that is in, less than %d", ratio,
			ratioLeast)
	default:
		r.State, r.Low, r.High, r.Dimension = Settled, found, found, found
	}
	if r.Low == r.High {
		r.Dimension = r.Low
		if r.State == Between {
			r.Dimension = 0
		}
	}
}

// expanded are the matrices of each part that levels stand for.
func (s *system) expanded(levels []level) [][]*mat.Dense {
	out := make([][]*mat.Dense, len(s.parts))
	from := 0
	for i, p := range s.parts {
		n := p.reduced()
		for _, l := range levels {
			out[i] = append(out[i], p.expand(l.vector[from:from+n]))
		}
		from += n
	}
	return out
}

// lots is how often each object is in each bootstrap, over the number of objects: a row for each bootstrap.
func lots(objects int, o Options) *mat.Dense {
	out := mat.NewDense(o.Bootstraps, objects, nil)
	random := random(o.Seed, ofDraws)
	for b := range o.Bootstraps {
		row := out.RawRowView(b)
		for range objects {
			row[random.IntN(objects)]++
		}
		scale(row, 1/float64(objects))
	}
	return out
}

// packed is the upper half of a symmetric matrix, row after row.
func packed(to []float64, m *mat.SymDense) {
	raw := m.RawSymmetric()
	for i := range raw.N {
		to = to[copy(to, raw.Data[i*raw.Stride+i:i*raw.Stride+raw.N]):]
	}
}

func unpacked(from []float64, n int) *mat.SymDense {
	m := newSym(n)
	raw := m.RawSymmetric()
	for i := range n {
		from = from[copy(raw.Data[i*raw.Stride+i:i*raw.Stride+n], from):]
	}
	return m
}

// objectsAtATime is how many objects have their symmetric matrices side by side.
const objectsAtATime = 256

// drawn is the sum of a symmetric matrix of each object, as often as it was drawn: packed, a row for each bootstrap.
func drawn(times *mat.Dense, n int, each func(object int, to []float64)) *mat.Dense {
	bootstraps, objects := times.Dims()
	out := mat.NewDense(bootstraps, n*(n+1)/2, nil)
	some := mat.NewDense(min(objects, objectsAtATime), n*(n+1)/2, nil)
	for from := 0; from < objects; from += objectsAtATime {
		rows := min(objectsAtATime, objects-from)
		for i := range rows {
			row := some.RawRowView(i)
			clear(row)
			each(from+i, row)
		}
		part := times.Slice(0, bootstraps, from, from+rows).(*mat.Dense) //nolint:errcheck // a slice of a Dense is one
		all := some.RawMatrix()
		all.Rows = rows
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, part.RawMatrix(), all, 1, out.RawMatrix())
	}
	return out
}

// squares is M of drawn objects on some directions.
func (e *equations) squares(v, times *mat.Dense) *mat.Dense {
	zv, _ := e.times(v)
	_, k := v.Dims()
	return drawn(times, k, func(object int, to []float64) {
		for w := object * e.keep; w < (object+1)*e.keep; w++ {
			row, at := zv.RawRowView(w), 0
			for i, x := range row {
				axpy(to[at:at+k-i], x, row[i:])
				at += k - i
			}
		}
	})
}

// metrics is N of drawn objects on the directions that matrices stand for.
func (s *system) metrics(times *mat.Dense, own [][]*mat.Dense) *mat.Dense {
	bootstraps, _ := times.Dims()
	k := len(own[0])
	out := mat.NewDense(bootstraps, k*(k+1)/2, nil)
	for j, p := range s.parts {
		means := drawn(times, p.c, func(object int, to []float64) { packed(to, p.each[object]) })
		// What matrices a and b are together is the sum of the numbers of aᵀb, each times that of the mean.
		n, at := p.c*(p.c+1)/2, 0
		for a := range k {
			pairs := mat.NewDense(n, k-a, nil)
			both := make([]float64, n)
			for b := a; b < k; b++ {
				var m mat.Dense
				m.Mul(own[j][a].T(), own[j][b])
				whole := symmetrised(&m)
				for i := range p.c { // off the diagonal each number stands for two
					for c := i + 1; c < p.c; c++ {
						whole.SetSym(i, c, 2*whole.At(i, c))
					}
				}
				packed(both, whole)
				pairs.SetCol(b-a, both)
			}
			to := out.Slice(0, bootstraps, at, at+k-a).(*mat.Dense) //nolint:errcheck // a slice of a Dense is one
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, means.RawMatrix(), pairs.RawMatrix(), 1, to.RawMatrix())
			at += k - a
		}
	}
	return out
}

// relative is the roots of the eigenvalues of (m, n), the smallest first; 1 for all where n has no inverse.
func relative(m, n *mat.SymDense) []float64 {
	k := m.SymmetricDim()
	sigma := make([]float64, k)
	for j := range sigma {
		sigma[j] = 1
	}
	var c mat.Cholesky
	if !c.Factorize(n) {
		return sigma
	}
	var l mat.TriDense
	c.LTo(&l)
	var half, whole mat.Dense
	if half.Solve(&l, m) != nil || whole.Solve(&l, half.T()) != nil {
		return sigma
	}
	var e mat.EigenSym
	if !e.Factorize(symmetrised(&whole), false) {
		return sigma
	}
	for j, v := range e.Values(nil) {
		sigma[j] = math.Sqrt(max(v, 0))
	}
	return sigma
}

// motion is what unknowns after the quotients stand for, in the coordinates of inputs and answers. Its largest number
// is
// 1 or -1.
func (s *system) motion(y []float64) Motion {
	balanced := s.balanced(y)
	var m Motion
	for i, p := range s.parts {
		if p.moved != nil {
			m.A = append(m.A, p.raw(balanced[i]))
		} else {
			m.B = p.raw(balanced[i])
		}
	}
	m.unit()
	return m
}

// balanced is the matrix of each part in balanced coordinates.
func (s *system) balanced(y []float64) []*mat.Dense {
	var out []*mat.Dense
	for _, p := range s.parts {
		n := p.reduced()
		out = append(out, p.expand(y[:n]))
		y = y[n:]
	}
	return out
}

// unit scales a motion so that the largest number of the inputs' matrices, or else of all, is 1.
func (m *Motion) unit() {
	all := slices.Concat(m.A...)
	top := largest(all)
	if math.Abs(top) < 1e-9*math.Abs(largest(m.B)) {
		top = largest(m.B)
	}
	if top == 0 {
		return
	}
	for _, row := range append(all, m.B...) {
		scale(row, 1/top)
	}
}

func largest(rows [][]float64) float64 {
	var top float64
	for _, row := range rows {
		for _, v := range row {
			if math.Abs(v) > math.Abs(top)*(1+1e-6) {
				top = v
			}
		}
	}
	return top
}

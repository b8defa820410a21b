package pencil

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// Limits of systems of many unknowns.
const (
	// Directions that are looked for first, and at most.
	fewFound, mostFound = 32, 512
	// Directions beyond the limit that have to be found before all below it are thought to be.
	beyond = 16
	// Rounds of an iteration at most.
	mostRounds = 12
)

// lowest is the directions in which the equations of many unknowns are violated least, as columns: all up to the limit
// of candidates and some more, of which the first are known. The reason is why nothing is known, "" where something is.
func (e *equations) lowest(r *Result, o Options) (vectors *mat.Dense, known int, reason string) {
	n := e.size
	if free := n; 2*r.Rows < 3*free && n-r.Rows > mostFound {
		r.Low, r.High = 0, n
		return nil, 0, e.few(n, free)
	}
	const number = 8
	if e.factors() {
		need := number*n*(mostTaken+mostSteps+2*fewFound) + e.memory()
		if need > o.Memory {
			return nil, 0, tooLarge(n, need, o.Memory)
		}
		e.lists = newFactored(e)
		if vectors, known, ok := newKrylov(e.lists, o.Soft*o.Soft, o.Seed).find(); ok {
			return vectors, known, ""
		}
	}
	// The matrix, its factor, the directions, and the rows that are made at once.
	if need := number * (2*n*n + 4*n*mostFound + (2*atATime+e.d.probes)*n); need > o.Memory {
		return nil, 0, tooLarge(n, need, o.Memory)
	}
	if vectors, reason = newLarge(e.gram(), o.Soft*o.Soft, o.Seed).find(); reason != "" {
		return nil, 0, reason
	}
	_, known = vectors.Dims()
	return vectors, known, ""
}

func tooLarge(unknowns, need, most int) string {
	return fmt.Sprintf("%d unknowns take %d MiB, more than the %d that there may be: ask about fewer numbers",
		unknowns, (need+1<<20-1)>>20, most>>20)
}

// large is a symmetric matrix without negative eigenvalues that fills much of the memory, and room for one factor. That
// no direction is missing is certified: the matrix less the limit is positive where what was found is taken out.
type large struct {
	m     *mat.SymDense
	limit float64
	seed  uint64
	// all is m with both halves, in the same memory
	all    *mat.Dense
	room   []float64
	factor blas64.Triangular
}

func newLarge(m *mat.SymDense, limit float64, seed uint64) *large {
	raw := m.RawSymmetric()
	l := &large{
		m: m, limit: limit, seed: seed, all: mat.NewDense(raw.N, raw.N, raw.Data), room: make([]float64, raw.N*raw.N),
	}
	for i := range raw.N {
		for j := range i {
			l.all.Set(i, j, l.all.At(j, i))
		}
	}
	return l
}

// shift factorizes the matrix with a number added to the diagonal; it reports whether that is positive definite.
func (l *large) shift(by float64) bool {
	raw := l.m.RawSymmetric()
	copy(l.room, raw.Data)
	raw.Data = l.room
	for i := range raw.N {
		raw.Data[i*raw.Stride+i] += by
	}
	var ok bool
	l.factor, ok = lapack64.Potrf(raw)
	return ok
}

// mean is that of the eigenvalues.
func (l *large) mean() float64 {
	return mat.Trace(l.m) / float64(l.m.SymmetricDim())
}

// find returns the lowest directions, or why not.
func (l *large) find() (*mat.Dense, string) {
	if l.shift(-l.limit) { // there are none below the limit, and the nearest above it are next to nothing
		_, vectors := l.iterate(fewFound, nil)
		return vectors, ""
	}
	n := l.m.SymmetricDim()
	for lift := l.mean() * 1e-11; !l.shift(lift); {
		lift *= 10
	}
	var values []float64
	var vectors *mat.Dense
	for k := fewFound; k <= min(mostFound, n/2); k *= 2 {
		values, vectors = l.iterate(k, vectors)
		if values[k-beyond] > l.limit {
			return vectors, l.certify(values, vectors)
		}
	}
	return nil, fmt.Sprintf("more than %d directions of %d leave the answer nearly as it is, too many to list: ask "+
		"about fewer numbers", len(values)-beyond, n)
}

// certify says why it is not sure that what lies below the limit was found, "" if it is. It spends the matrix.
func (l *large) certify(values []float64, vectors *mat.Dense) string {
	n, _ := vectors.Dims()
	found := 0
	for found < len(values) && values[found] <= l.limit {
		found++
	}
	if found > 0 {
		// What was found goes up to the mean of all.
		l.m.SymRankK(l.m, l.mean(), vectors.Slice(0, n, 0, found))
	}
	if !l.shift(-l.limit) {
		return fmt.Sprintf("%d directions were found, and there are others that were not: ask about fewer numbers",
			found)
	}
	return ""
}

// iterate is the k smallest eigenvalues and their vectors, by inverse iteration of a block with the factor, from a
// start, nil for a random one. It ends where those below the limit and the first of the others stay as they are.
func (l *large) iterate(k int, start *mat.Dense) ([]float64, *mat.Dense) {
	n := l.m.SymmetricDim()
	r := random(l.seed, ofStart)
	v := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			v.Set(i, j, r.NormFloat64())
		}
	}
	if start != nil {
		v.Copy(start)
	}
	tall(v)
	var values []float64
	for range mostRounds {
		// The matrix is nearly singular by intention: that is what makes the iteration fast.
		w := mat.DenseCopyOf(v)
		lapack64.Potrs(l.factor, w.RawMatrix())
		tall(w)
		var mw, small mat.Dense
		mw.Mul(l.all, w)
		small.Mul(w.T(), &mw)
		before := values
		var turn *mat.Dense
		values, turn = symmetric(symmetrised(&small))
		v.Mul(w, turn)
		if l.stay(before, values) {
			break
		}
	}
	return values, v
}

// stay reports whether eigenvalues below the limit, and the few next to them, are known well enough.
func (l *large) stay(before, values []float64) bool {
	if before == nil {
		return false
	}
	const next, share, rounding = 4, 0.01, 1e-13
	past := 0
	for i, v := range values {
		if v > l.limit {
			if past++; past > next {
				break
			}
		}
		if !(math.Abs(v-before[i]) <= float64(share*v)+float64(rounding*l.mean())) {
			return false
		}
	}
	return true
}

// tall makes columns orthonormal, one after the other; twice is enough.
func tall(m *mat.Dense) {
	n, k := m.Dims()
	rows := make([][]float64, k)
	for j := range rows {
		c := mat.Col(nil, j, m)
		scale(c, 1/norm(c))
		for range 2 {
			for _, b := range rows[:j] {
				axpy(c, -dot(b, c), b)
			}
			scale(c, 1/norm(c))
		}
		rows[j] = c
	}
	for j, c := range rows {
		for i := range n {
			m.Set(i, j, c[i])
		}
	}
}

package pencil

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }

func eye(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// symmetric is eigenvalues, the smallest first, and eigenvectors as columns.
func symmetric(s *mat.SymDense) ([]float64, *mat.Dense) {
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		// The algorithm converges for every finite matrix; what is not finite was refused before.
		panic("pencil: no eigenvalues of a finite symmetric matrix")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v
}

// orthonormal is an orthonormal basis of the columns of m, which are independent.
func orthonormal(m *mat.Dense) *mat.Dense {
	rows, cols := m.Dims()
	var qr mat.QR
	qr.Factorize(m)
	var q mat.Dense
	qr.QTo(&q)
	out := mat.NewDense(rows, cols, nil)
	out.Copy(q.Slice(0, rows, 0, cols))
	return out
}

// spanned is an orthonormal basis of the rows of a, as far as they are longer than a share of the longest direction.
func spanned(rows [][]float64, least float64) [][]float64 {
	var basis [][]float64
	var size float64
	rest := make([][]float64, len(rows))
	for i, r := range rows {
		rest[i] = append([]float64(nil), r...)
		size = max(size, norm(r))
	}
	for range rows {
		best, length := -1, least*size
		for i, r := range rest {
			if l := norm(r); l > length {
				best, length = i, l
			}
		}
		if best < 0 {
			break
		}
		b := rest[best]
		for range 2 { // twice is enough
			for _, o := range basis {
				axpy(b, -dot(o, b), o)
			}
			scale(b, 1/norm(b))
		}
		basis = append(basis, b)
		rest[best] = make([]float64, len(b))
		for _, r := range rest {
			axpy(r, -dot(b, r), b)
		}
	}
	return basis
}

// axpy adds f·x to y.
func axpy(y []float64, f float64, x []float64) {
	n := min(len(x), len(y))
	blas64.Axpy(f, blas64.Vector{N: n, Inc: 1, Data: x}, blas64.Vector{N: n, Inc: 1, Data: y})
}

func scale(y []float64, f float64) {
	for i := range y {
		y[i] *= f
	}
}

// lowest is the smallest eigenvalues of a matrix without negative ones, and their vectors as columns: all for small
// matrices, else as many as are at or below the limit and some more, at least 32.
func lowest(m *mat.SymDense, limit float64, seed uint64) ([]float64, *mat.Dense) {
	n := m.SymmetricDim()
	if n <= 120 {
		return symmetric(m)
	}
	const more = 16
	for k := 32; ; k *= 2 {
		if 2*k >= n {
			return symmetric(m)
		}
		values, vectors := inverse(m, k, seed)
		if values[k-more] > limit {
			return values, vectors
		}
	}
}

// inverse is the k smallest eigenvalues by inverse iteration of a block. The small ones, which matter, converge in two
// or
// three rounds, for each round divides the parts of others by the ratio of the eigenvalues.
func inverse(m *mat.SymDense, k int, seed uint64) ([]float64, *mat.Dense) {
	n := m.SymmetricDim()
	shifted := mat.NewSymDense(n, nil)
	shifted.CopySym(m)
	lift := mat.Trace(m) / float64(n) * 1e-11
	var c mat.Cholesky
	for {
		for i := range n {
			shifted.SetSym(i, i, m.At(i, i)+lift)
		}
		if c.Factorize(shifted) {
			break
		}
		lift *= 10
	}
	r := random(seed, ofStart)
	v := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			v.Set(i, j, r.NormFloat64())
		}
	}
	v = orthonormal(v)
	const rounds = 10
	var values []float64
	for range rounds {
		var w mat.Dense
		// The matrix is nearly singular by intention: that is what makes the iteration fast.
		if err := c.SolveTo(&w, v); err != nil {
			if _, near := errors.AsType[mat.Condition](err); !near {
				panic(err)
			}
		}
		for j := range k { // columns of very different length
			col := mat.Col(nil, j, &w)
			scale(col, 1/norm(col))
			w.SetCol(j, col)
		}
		q := orthonormal(&w)
		var mq, small mat.Dense
		mq.Mul(m, q)
		small.Mul(q.T(), &mq)
		var turn *mat.Dense
		values, turn = symmetric(symmetrised(&small))
		v = new(mat.Dense)
		v.Mul(q, turn)
	}
	return values, v
}

func symmetrised(m mat.Matrix) *mat.SymDense {
	n, _ := m.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return s
}

func newSym(n int) *mat.SymDense { return mat.NewSymDense(n, nil) }

// add adds f·x·xᵀ.
func add(s *mat.SymDense, f float64, x []float64) { s.SymRankOne(s, f, mat.NewVecDense(len(x), x)) }

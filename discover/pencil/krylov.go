package pencil

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Limits of the search that asks a matrix for nothing but what it makes of directions.
const (
	// Steps of one walk, and directions below the limit that are looked for, which take a walk each where they are
	// alike.
	mostSteps, mostTaken = 640, 32
	// Steps of all walks, which take a third of the time that the matrix itself does.
	mostInAll = 1600
	// The chance that a direction below the limit was missed.
	missed = 1e-12
	// How far a matrix times a direction may be from a multiple of that: as a share of the mean eigenvalue for those
	// that are zero, and of the eigenvalue for others below the limit and beyond it.
	exact, within, roughly = 1e-9, 1e-3, 0.1
	// How many beyond the limit are wanted as well as that.
	wanted = 4
)

// krylov looks for the lowest directions of a symmetric matrix without negative eigenvalues. It walks: what the matrix
// makes of a random direction, of that again, and so on, spans a space in which the ends of the spectrum stand out
// early (Lanczos). What is found below the limit is taken out, and the walk begins anew, until one finds nothing.
//
// That nothing was missed is known up to a chance. Let A be the matrix less the limit, on what was not taken out, and
// b the random start. As long as A is positive on the walk, conjugate gradients for A·y = b leave a rest r = p(A)·b
// with p(0) = 1, and all roots of p are positive, so p ≥ 1 at every eigenvalue that A has at or below zero: of such a
// direction u, the rest holds at least what the start did, |u·b| ≤ ‖r‖. One number of a random unit vector of n is that
// small with a chance below ‖r‖·√(2n/π). Both are known from the numbers of the walk.
type krylov struct {
	n     int
	limit float64
	// mean is that of the eigenvalues
	mean float64
	// times is the matrix times a direction
	times  func(v, out []float64)
	random *rand.Rand

	// basis has the directions that were taken out as its first rows, and then those of the walk.
	basis *mat.Dense
	taken int
	// steps are those of all walks
	steps int
	// the matrix in the directions of the walk
	diagonal, beside []float64
}

func newKrylov(f *factored, limit float64, seed uint64) *krylov {
	rows := make([]float64, f.objects*f.keep)
	return &krylov{
		n: f.size, limit: limit, mean: f.mean(), random: random(seed, ofStart),
		basis: mat.NewDense(mostTaken+mostSteps+1, f.size, nil),
		times: func(v, out []float64) { f.gram(v, out, rows) },
	}
}

// find returns the directions as columns, and how many of them are known: all up to the limit and the first beyond.
// The others are what the last walk has for the next. It reports whether the search came to an end.
func (k *krylov) find() (vectors *mat.Dense, known int, ok bool) {
	for {
		values, turn, beyond, ok := k.walk(k.start())
		if !ok {
			return nil, 0, false
		}
		below := 0
		for below < len(values) && values[below] <= k.limit {
			below++
		}
		n := len(values)
		if below == 0 {
			some := min(n, max(fewFound, beyond))
			vectors = mat.NewDense(k.n, k.taken+some, nil)
			for j := range k.taken {
				vectors.SetCol(j, k.basis.RawRowView(j))
			}
			var next mat.Dense
			next.Mul(k.walked(n).T(), turn.Slice(0, n, 0, some))
			for j := range some {
				vectors.SetCol(k.taken+j, mat.Col(nil, j, &next))
			}
			return vectors, k.taken + beyond, true
		}
		if k.taken+below > mostTaken {
			return nil, 0, false
		}
		var found mat.Dense
		found.Mul(turn.Slice(0, n, 0, below).T(), k.walked(n))
		for j := range below {
			v := k.basis.RawRowView(k.taken)
			copy(v, found.RawRowView(j))
			k.clear(v, k.taken)
			scale(v, 1/norm(v))
			k.taken++
		}
	}
}

// walked are the directions of the walk, one in each row.
func (k *krylov) walked(n int) mat.Matrix { return k.basis.Slice(k.taken, k.taken+n, 0, k.n) }

// clear takes the first directions of the basis out of another; twice is enough.
func (k *krylov) clear(v []float64, first int) {
	if first == 0 {
		return
	}
	all := k.basis.RawMatrix()
	all.Rows = first
	to := blas64.Vector{N: k.n, Inc: 1, Data: v}
	along := blas64.Vector{N: first, Inc: 1, Data: make([]float64, first)}
	for range 2 {
		blas64.Gemv(blas.NoTrans, 1, all, to, 0, along)
		blas64.Gemv(blas.Trans, -1, all, along, 1, to)
	}
}

// start is a random direction.
func (k *krylov) start() []float64 {
	v := make([]float64, k.n)
	for i := range v {
		v[i] = k.random.NormFloat64()
	}
	return v
}

// walk goes on until it knows the directions at or below the limit that it meets, or that there are none and what the
// first beyond are. It returns the eigenvalues of the matrix on the walk, the smallest first, with their vectors in
// the directions of the walk, and how many of those beyond the limit are known where none is below.
func (k *krylov) walk(start []float64) (values []float64, turn *mat.Dense, beyond int, ok bool) {
	v := k.basis.RawRowView(k.taken)
	copy(v, start)
	k.clear(v, k.taken)
	scale(v, 1/norm(v))
	k.diagonal, k.beside = nil, nil
	enough := math.Log(missed) - math.Log(2*float64(k.n)/math.Pi)/2
	most := min(mostSteps, mostInAll-k.steps, k.n-k.taken)
	positive, rest, pivot, top := true, 0.0, 0.0, 0.0
	for steps, look := 1, 24; steps <= most; steps++ {
		k.steps++
		at := k.taken + steps - 1
		v, next := k.basis.RawRowView(at), k.basis.RawRowView(at+1)
		k.times(v, next)
		a := dot(v, next)
		k.clear(next, at+1)
		b := norm(next)
		top = max(top, a)
		if positive {
			pivot = a - k.limit - k.over(pivot)
			positive = pivot > 0
			rest += math.Log(b / pivot)
		}
		k.diagonal, k.beside = append(k.diagonal, a), append(k.beside, b)
		last := !(b > 1e-13*top) || steps == most
		if last || steps >= look && (!positive || rest < enough) {
			look = steps + steps/5
			values, turn = k.spectrum()
			below, beyond, done := k.enough(values, turn, last)
			if none := positive && rest < enough; done && none == (below == 0) {
				return values, turn, beyond, true
			}
		}
		if last {
			break
		}
		scale(next, 1/b)
	}
	return nil, nil, 0, false
}

// over is what the step before takes off the next pivot.
func (k *krylov) over(pivot float64) float64 {
	if len(k.beside) == 0 {
		return 0
	}
	b := k.beside[len(k.beside)-1]
	return float64(b*b) / pivot
}

// spectrum is that of the matrix on the walk.
func (k *krylov) spectrum() ([]float64, *mat.Dense) {
	n := len(k.diagonal)
	t := newSym(n)
	for i, a := range k.diagonal {
		t.SetSym(i, i, a)
		if i+1 < n {
			t.SetSym(i, i+1, k.beside[i])
		}
	}
	return symmetric(t)
}

// enough counts directions at or below the limit, and beyond it those that are known well; it reports whether that is
// enough, which on the last step is less.
func (k *krylov) enough(values []float64, turn *mat.Dense, last bool) (below, beyond int, done bool) {
	n := len(values)
	off := func(j int) float64 { return k.beside[n-1] * math.Abs(turn.At(n-1, j)) }
	for below < n && values[below] <= k.limit {
		if !(off(below) <= max(exact*k.mean, within*values[below])) {
			return below, 0, false
		}
		below++
	}
	if below > 0 {
		return below, 0, true
	}
	for beyond < n && off(beyond) <= roughly*values[beyond] {
		beyond++
	}
	return 0, beyond, beyond >= min(wanted, n) || last && beyond > 0
}

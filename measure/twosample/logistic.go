package twosample

import (
	"math"
	"slices"

	"nero/internal/elementary"
	"nero/internal/lanes"
)

// penalty is the weight of the squared coefficients beside the sum of the losses, for numbers of deviation 1.
const penalty = 1

// fit is the minimum of Σ log(1 + exp(-±x·β)) + penalty/2·|β|² over the rows of all objects that are not in part k, the
// last coefficient, the offset, not penalised. Newton's steps, halved where they do not descend; the function is convex
// and has one minimum, which is found sooner from a start that is near.
func (x *design) fit(fold []int, k int, start []float64) []float64 {
	p := x.p
	beta, gradient, hessian := slices.Clone(start), make([]float64, p), make([]float64, p*p)
	scores, others := make([]float64, 2*x.n), make([]float64, 2*x.n)
	loss := x.loss(fold, k, beta, scores)
	for range 50 {
		x.slopes(fold, k, beta, scores, gradient, hessian)
		step, ok := solve(hessian, gradient)
		if !ok {
			break
		}
		decrement := dot(step, gradient)
		if !(decrement > 1e-9) { // of a sum of losses: no score changes visibly any more
			break
		}
		next := make([]float64, p)
		size, found := 1.0, false
		for range 30 {
			for j := range next {
				next[j] = beta[j] - float64(size*step[j])
			}
			if l := x.loss(fold, k, next, others); l < loss {
				loss, found = l, true
				break
			}
			size /= 2
		}
		if !found {
			break // rounding alone is left
		}
		copy(beta, next)
		scores, others = others, scores
	}
	return beta
}

// loss is what fit makes small; scores are written for the rows that are in it.
func (x *design) loss(fold []int, k int, beta, scores []float64) float64 {
	sum := 0.0
	for i, f := range fold {
		if f == k {
			continue
		}
		scores[i], scores[x.n+i] = x.score(i, beta), x.score(x.n+i, beta)
		sum += softplus(scores[i]) + softplus(-scores[x.n+i])
	}
	for _, b := range beta[:x.p-1] {
		sum += float64(penalty / 2.0 * b * b)
	}
	return sum
}

// softplus is log(1 + exp(z)).
func softplus(z float64) float64 {
	if z > 0 {
		return z + elementary.Log1p(elementary.Exp(-z))
	}
	return elementary.Log1p(elementary.Exp(z))
}

// gathered is how many rows are added to the second derivatives at once: they stay at hand while all columns pass.
const gathered = 64

// slopes are the first derivatives of loss, and the lower half of the second, of rows with the scores at beta. What
// stands in the upper half means nothing.
func (x *design) slopes(fold []int, k int, beta, scores, gradient, hessian []float64) {
	p := x.p
	clear(gradient)
	clear(hessian)
	rows := make([]float64, 0, gathered*p)
	first, second, column := make([]float64, 0, gathered), make([]float64, 0, gathered), make([]float64, gathered)
	flush := func() {
		lanes.Weigh(gradient, rows, p, first)
		for j := range p {
			for r, w := range second {
				column[r] = w * rows[r*p+j]
			}
			end := min((j+4)/4*4, p) // some of the upper half, so that four columns go together
			lanes.Weigh(hessian[j*p:j*p+end], rows, p, column[:len(second)])
		}
		rows, first, second = rows[:0], first[:0], second[:0]
	}
	for half := range 2 {
		for i, f := range fold {
			if f == k {
				continue
			}
			q := 1 / (1 + elementary.Exp(-scores[half*x.n+i]))
			rows = append(rows, x.row(half*x.n+i)...)
			first, second = append(first, q-float64(half)), append(second, q*(1-q))
			if len(first) == gathered {
				flush()
			}
		}
	}
	flush()
	for j := range p - 1 {
		gradient[j] += float64(penalty * beta[j])
		hessian[j*p+j] += penalty
	}
}

// solve is the solution of a·x = b for a positive definite matrix, of which the lower half is read and overwritten
// (Cholesky). It is false where the matrix is not that.
func solve(a, b []float64) ([]float64, bool) {
	n := len(b)
	for j := range n {
		for i := j; i < n; i++ {
			s := a[i*n+j] - dot(a[i*n:i*n+j], a[j*n:j*n+j])
			switch {
			case i > j:
				a[i*n+j] = s / a[j*n+j]
			case !(s > 0):
				return nil, false
			default:
				a[j*n+j] = math.Sqrt(s)
			}
		}
	}
	x := make([]float64, n)
	for i := range n {
		x[i] = (b[i] - dot(a[i*n:i*n+i], x[:i])) / a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		s := x[i]
		for j := i + 1; j < n; j++ {
			s -= float64(a[j*n+i] * x[j])
		}
		x[i] = s / a[i*n+i]
	}
	return x, true
}

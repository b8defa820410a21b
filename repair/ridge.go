package repair

import (
	"errors"
	"math"
	"slices"
)

// ridge gathers sums of samples, of which a linear map from some numbers to others is learned that is as near as can be
// while its weights stay small. The sums are rounded product by product and the system is solved here and not by a
// library, whose products are fused with sums on some processors: what is learned stands in a file, which has the same
// bits on all of them.
type ridge struct {
	n int
	// the first sample: sums are of what others differ from it by, so that no digits are lost to a mean
	x0, y0 []float64
	x, y   []float64
	// products of x with x, in rows that end at the diagonal, and with y
	xx [][]float64
	xy [][]float64
	// what the sample that is added differs by
	dx, dy []float64
}

func newRidge(in, out int) *ridge {
	r := &ridge{
		x: make([]float64, in), y: make([]float64, out), xx: make([][]float64, in), xy: make([][]float64, in),
		dx: make([]float64, in), dy: make([]float64, out),
	}
	for i := range in {
		r.xx[i], r.xy[i] = make([]float64, i+1), make([]float64, out)
	}
	return r
}

// add takes one sample in.
func (r *ridge) add(x, y []float64) {
	if r.n++; r.x0 == nil {
		r.x0, r.y0 = append([]float64{}, x...), append([]float64{}, y...)
	}
	for k := range r.dy {
		r.dy[k] = y[k] - r.y0[k]
		r.y[k] += r.dy[k]
	}
	for i := range r.dx {
		r.dx[i] = x[i] - r.x0[i]
	}
	for i, d := range r.dx {
		r.x[i] += d
		if d == 0 {
			continue
		}
		row := r.xx[i]
		for j := range row {
			row[j] += float64(d * r.dx[j])
		}
		to := r.xy[i]
		for k := range to {
			to[k] += float64(d * r.dy[k])
		}
	}
}

// line is y = bias + weights·x, with the weights of each x in a row.
type line struct {
	weights [][]float64
	bias    []float64
}

// at is what the line says.
func (l *line) at(x []float64) []float64 {
	y := append([]float64{}, l.bias...)
	for i, w := range l.weights {
		for k := range y {
			y[k] += float64(x[i] * w[k])
		}
	}
	return y
}

// leastVaried is up to what share of its size a number stays the same in all samples: nothing is learned from it.
const leastVaried = 1e-9

// solve is the map with the least of |y - bias - weights·x|²/n + penalty·Σ (σ·weight)², where σ is how much a number
// varies: penalties have no unit.
func (r *ridge) solve(penalty float64) (*line, error) {
	in, out, n := len(r.x), len(r.y), float64(r.n)
	mean, width := make([]float64, in), make([]float64, in)
	for i := range in {
		mean[i] = r.x[i] / n
		if v := r.xx[i][i]/n - float64(mean[i]*mean[i]); v > 0 {
			width[i] = math.Sqrt(v)
		}
		if !(width[i] > leastVaried*math.Abs(mean[i]+r.x0[i])) {
			width[i] = 0
		}
	}
	a, b := make([][]float64, in), make([][]float64, in)
	for i := range in {
		a[i], b[i] = make([]float64, i+1), make([]float64, out)
		if width[i] == 0 {
			a[i][i] = 1
			continue
		}
		for j := range i + 1 {
			if width[j] > 0 {
				a[i][j] = (r.xx[i][j]/n - float64(mean[i]*mean[j])) / float64(width[i]*width[j])
			}
		}
		a[i][i] += penalty
		for k := range out {
			b[i][k] = (r.xy[i][k]/n - float64(mean[i]*(r.y[k]/n))) / width[i]
		}
	}
	if err := cholesky(a, b); err != nil {
		return nil, err
	}
	l := &line{weights: b, bias: make([]float64, out)}
	for k := range out {
		l.bias[k] = r.y0[k] + r.y[k]/n
	}
	for i := range in {
		for k := range out {
			if width[i] == 0 {
				b[i][k] = 0
				continue
			}
			b[i][k] /= width[i]
			l.bias[k] -= float64(b[i][k] * (mean[i] + r.x0[i]))
		}
	}
	return l, nil
}

var errSingular = errors.New("what it reads depends on itself so far that no layer can be learned")

// cholesky solves a·x = b for a symmetric matrix of which the rows end at the diagonal; x takes the place of b.
func cholesky(a, b [][]float64) error {
	for i, row := range a {
		for j := range i + 1 {
			sum := row[j]
			for k, v := range a[j][:j] {
				sum -= float64(row[k] * v)
			}
			switch {
			case j < i:
				row[j] = sum / a[j][j]
			case !(sum > 0) || math.IsInf(sum, 0):
				return errSingular
			default:
				row[i] = math.Sqrt(sum)
			}
		}
	}
	for i := range b {
		for k := range b[i] {
			sum := b[i][k]
			for j := range i {
				sum -= float64(a[i][j] * b[j][k])
			}
			b[i][k] = sum / a[i][i]
		}
	}
	for i, row := range slices.Backward(b) {
		for k := range row {
			sum := row[k]
			for j := i + 1; j < len(b); j++ {
				sum -= float64(a[j][i] * b[j][k])
			}
			row[k] = sum / a[i][i]
		}
	}
	return nil
}

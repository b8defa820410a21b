package census

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// short are rows by a few numbers each, the parts along the directions in which rows vary most: what is far away in
// these is far away, and of most rows nothing else has to be looked at. They decide nothing but what is skipped, with
// room for rounding, so that neighbors do not depend on them.
type short struct {
	// k numbers for each row, and the directions, k rows of d
	k    int
	rows []float64
	axes []float64
	// the length of the longest row
	longest float64
}

const (
	// shortest is so many directions.
	shortest = 24
	// learned is from how many rows directions are found.
	learned = 2000
	// Below so many numbers in a row, or so many distances, directions cost more than they save.
	fewNumbers, fewDistances = 3 * shortest, 2_000_000
)

// newShort finds directions for rows of d numbers; nil where so many distances are not worth it.
func newShort(rows []float64, d, distances int) *short {
	if d < fewNumbers || distances < fewDistances {
		return nil
	}
	n := len(rows) / d
	some := min(n, learned)
	centred := mat.NewDense(some, d, nil)
	mean := make([]float64, d)
	for i := range some {
		for j, v := range rows[i*n/some*d:][:d] {
			mean[j] += v / float64(some)
		}
	}
	for i := range some {
		row := centred.RawRowView(i)
		for j, v := range rows[i*n/some*d:][:d] {
			row[j] = v - mean[j]
		}
	}
	covariance := mat.NewSymDense(d, nil)
	covariance.SymOuterK(1, centred.T())
	var e mat.EigenSym
	if !e.Factorize(covariance, true) {
		return nil
	}
	var v mat.Dense
	e.VectorsTo(&v)
	s := &short{k: shortest, rows: make([]float64, n*shortest)}
	for c := range shortest {
		s.axes = append(s.axes, mat.Col(nil, d-1-c, &v)...) // the last varies most
	}
	if !s.orthonormal(d) {
		return nil
	}
	for i := range n {
		row := rows[i*d : (i+1)*d]
		s.longest = max(s.longest, s.project(s.rows[i*s.k:(i+1)*s.k], row))
	}
	return s
}

// orthonormal reports whether the directions are, well within the room that is left for rounding.
func (s *short) orthonormal(d int) bool {
	for a := range s.k {
		for b := range a + 1 {
			want, got := 0.0, 0.0
			if a == b {
				want = 1
			}
			for j, v := range s.axes[a*d : (a+1)*d] {
				got += float64(v * s.axes[b*d+j])
			}
			if !(math.Abs(got-want) < 1e-12) {
				return false
			}
		}
	}
	return true
}

// project writes the parts of a row and returns its length.
func (s *short) project(to, row []float64) float64 {
	square := 0.0
	for _, v := range row {
		square += float64(v * v)
	}
	for c := range to {
		sum := 0.0
		for j, v := range s.axes[c*len(row) : (c+1)*len(row)] {
			sum += float64(v * row[j])
		}
		to[c] = sum
	}
	return math.Sqrt(square)
}

// question is a row whose neighbors are looked for.
type question struct {
	at []float64
	// what rounding can be, and the squared distance beyond which nothing is near enough
	room, most float64
}

func (s *short) query(x []float64) question {
	if s == nil {
		return question{}
	}
	q := question{at: make([]float64, s.k), most: math.Inf(1)}
	const room = 1e-11 // of the lengths; sums of a thousand products are off by a hundredth of that
	q.room = room * (s.project(q.at, x) + s.longest)
	return q
}

// narrow says that rows with that squared distance or a larger one are not near enough.
func (s *short) narrow(q *question, most float64) {
	if s == nil {
		return
	}
	reach := float64(math.Sqrt(most)*(1+1e-9)) + q.room
	q.most = reach * reach
}

// beyond reports whether row i is known not to be near enough.
func (s *short) beyond(q *question, i int) bool {
	if s == nil {
		return false
	}
	return squared(q.at, s.rows[i*s.k:(i+1)*s.k], q.most) > q.most
}

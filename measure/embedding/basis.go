package embedding

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Presets of [Leading].
const (
	// MostAxes is how many axes a basis has at most.
	MostAxes = 64
	// Held is the share of the variance that they hold where so many suffice.
	Held = 0.999
	// mostRows is how many rows axes are found from.
	mostRows = 512
)

// Basis is directions of the features along which they vary most, of length 1 and at right angles.
type Basis struct {
	// Axes has a column for each.
	Axes *mat.Dense
	// Share is the share of the variance that they hold.
	Share float64
	// held is the share that each of them holds.
	held []float64
}

// Leading is the basis of the fewest directions that hold [Held] of the variance over objects and elements, at most
// [MostAxes], and at most half as many as there are objects, so that what is fitted along them is not fitted to single
// objects. Features that do not vary are an [ErrConstant].
func Leading(o *Orbits, seed uint64) (*Basis, error) {
	all := Stack(o.At...)
	rows, d := all.Dims()
	centre := mean(all)
	most := min(MostAxes, distinct(o.Object)/2, d)
	some := all
	if d > mostRows && rows > mostRows {
		some = choose(all, o.sampled(rand.New(rand.NewPCG(seed, streamRows))))
		rows, _ = some.Dims()
	}
	x := less(some, centre)
	var values []float64
	var vectors *mat.Dense
	var err error
	var s mat.SymDense
	if d <= rows {
		s.SymOuterK(1, x.T())
		values, vectors, err = symmetric(&s)
	} else { // XXᵀ u = λ u makes XᵀX (Xᵀu) = λ (Xᵀu)
		s.SymOuterK(1, x)
		var u *mat.Dense
		if values, u, err = symmetric(&s); err == nil {
			vectors = &mat.Dense{}
			vectors.Mul(x.T(), u)
		}
	}
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, v := range values {
		total += max(v, 0)
	}
	// Sums of squares of features that are all one number are what rounding leaves.
	if !(total > float64(rows)*1e-24*max(squares(centre), math.SmallestNonzeroFloat64)) {
		return nil, ErrConstant
	}
	b := &Basis{}
	held := 0.0
	var columns [][]float64
	for k := len(values) - 1; k >= 0 && len(columns) < most && held < Held*total; k-- {
		if !(values[k] > 1e-14*total) {
			break
		}
		held += values[k]
		b.held = append(b.held, values[k]/total)
		c := mat.Col(nil, k, vectors)
		n := math.Sqrt(squares(c))
		for j := range c {
			c[j] /= n
		}
		columns = append(columns, facing(c))
	}
	// A group that acts on features takes directions of one eigenvalue to each other: all of them are taken, or none.
	for k := len(values) - len(columns); k > 0 && len(columns) > 1 && values[k-1] > values[k]*(1-1e-6); k++ {
		columns, b.held, held = columns[:len(columns)-1], b.held[:len(b.held)-1], held-values[k]
	}
	b.Axes = mat.NewDense(d, len(columns), nil)
	for k, c := range columns {
		b.Axes.SetCol(k, c)
	}
	b.Share = held / total
	return b, nil
}

// fewOrbits is of how few samples all elements are taken to find axes by.
const fewOrbits = 64

// sampled are rows to find axes from, of all elements below each other: whole orbits, where there is room for enough of
// them, for directions of these are those of the group; else any.
func (o *Orbits) sampled(r *rand.Rand) []int {
	n, elements := len(o.Object), len(o.At)
	if mostRows/elements < fewOrbits {
		return drawn(n*elements, mostRows, r)
	}
	var out []int
	for _, i := range drawn(n, mostRows/elements, r) {
		for k := range elements {
			out = append(out, k*n+i)
		}
	}
	slices.Sort(out)
	return out
}

// facing turns a direction so that its largest number is positive: eigenvectors have no sign of their own.
func facing(c []float64) []float64 {
	best := 0
	for j, x := range c {
		if math.Abs(x) > math.Abs(c[best])*(1+1e-9) {
			best = j
		}
	}
	if c[best] < 0 {
		for j := range c {
			c[j] = -c[j]
		}
	}
	return c
}

// Of are the coordinates of features along the axes.
func (b *Basis) Of(x *mat.Dense) *mat.Dense {
	out := &mat.Dense{}
	out.Mul(x, b.Axes)
	return out
}

// First are the n axes along which features vary most, or all of fewer.
func (b *Basis) First(n int) *Basis {
	d, k := b.Axes.Dims()
	n = min(n, k)
	out := &Basis{Axes: mat.DenseCopyOf(b.Axes.Slice(0, d, 0, n)), held: b.held[:n]}
	for _, h := range out.held {
		out.Share += h
	}
	return out
}

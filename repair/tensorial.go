package repair

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/irreps"
)

// tensorial is how the numbers of a row move under a matrix of space that is only known when the model runs: block by
// block as tensors do, each of whose indices is multiplied with the matrix.
type tensorial struct {
	width  int
	blocks []tuple
	// of points, which a shift moves too
	positions bool
}

// tuple is some tensors of one kind behind one another.
type tuple struct {
	// of the first number in the row, how many tensors, and of how many numbers
	at, count, dim int
	rank           int
	// numbers behind the index that stay where they are: the columns of a pose
	trail int
	// columns[i·dim+m] is number i of the tensor of 3^rank numbers that number m stands for; nil where they are the
	// same
	columns []float64
	// a mirror changes the sign beyond what it does to the indices
	odd bool
}

// maxDegree is the highest degree of irreps whose tensors, of 3^l numbers, are written into a file.
const maxDegree = 6

// tensorials says how rows of a type move. It is nil for rows that stay as they are.
func tensorials(typ string, width int) (*tensorial, error) {
	t := &tensorial{width: width, positions: typ == space.TypePositions}
	all := func(dim int, b tuple) (*tensorial, error) {
		b.dim, b.count, b.trail = dim, width/dim, max(b.trail, 1)
		t.blocks = []tuple{b}
		return t, nil
	}
	switch typ {
	case space.TypeUnchanged:
		return nil, nil //nolint:nilnil // nothing moves
	case space.TypePositions, space.TypeVectors, action.TypeVelocities:
		return all(3, tuple{rank: 1})
	case space.TypePseudovectors:
		return all(3, tuple{rank: 1, odd: true})
	case space.TypePseudoscalars:
		return all(1, tuple{odd: true})
	case space.TypeTensors:
		return all(9, tuple{rank: 2})
	case space.TypePoses:
		return all(9, tuple{rank: 1, trail: 3})
	}
	if !irreps.Looks(typ) {
		return nil, fmt.Errorf("numbers of the type %s cannot be turned by a matrix that is only known when the model "+
			"runs", typ)
	}
	ir, err := irreps.Parse(typ)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, term := range ir {
		if term.L > maxDegree {
			return nil, fmt.Errorf("irreps of degree %d: at most %d can be turned by a matrix that is only known when "+
				"the model runs", term.L, maxDegree)
		}
		b := tuple{
			at: at, count: term.Mul, dim: 2*term.L + 1, rank: term.L, trail: 1, odd: term.Odd != (term.L%2 == 1),
		}
		if term.L > 1 {
			b.columns = harmonic(term.L)
		}
		t.blocks = append(t.blocks, b)
		at += term.Dim()
	}
	return t, nil
}

// harmonic are the symmetric tensors without trace that the numbers of degree l stand for, as columns of unit length:
// the derivatives of order l of the harmonic polynomials, by polarisation from their values at sums of the axes.
func harmonic(l int) []float64 {
	n, dim := pow3(l), 2*l+1
	out := make([]float64, n*dim)
	all := make([]float64, (l+1)*(l+1))
	for i := range n {
		for set := range 1 << l {
			var p [3]float64
			rest := i
			for k := range l {
				if set>>k&1 != 0 {
					p[rest%3]++
				}
				rest /= 3
			}
			irreps.Harmonics(all, l, irreps.PolarY, p[0], p[1], p[2])
			for m := range dim {
				if (l-bits.OnesCount(uint(set)))%2 == 0 {
					out[i*dim+m] += all[l*l+m]
				} else {
					out[i*dim+m] -= all[l*l+m]
				}
			}
		}
	}
	for m := range dim {
		sum := 0.0
		for i := range n {
			sum += float64(out[i*dim+m] * out[i*dim+m])
		}
		for i := range n {
			out[i*dim+m] /= math.Sqrt(sum)
		}
	}
	return out
}

func pow3(n int) int {
	out := 1
	for range n {
		out *= 3
	}
	return out
}

// matrix is how a known matrix of space, three rows of three numbers, moves a row: width·width numbers in rows.
func (t *tensorial) matrix(m [9]float64) []float64 {
	out := make([]float64, t.width*t.width)
	det := irreps.Det(&m)
	for _, b := range t.blocks {
		full := []float64{1}
		size := 1
		for range b.rank {
			full, size = kron(full, size, m[:], 3), 3*size
		}
		if b.trail > 1 {
			one := make([]float64, b.trail*b.trail)
			for i := range b.trail {
				one[i*b.trail+i] = 1
			}
			full, size = kron(full, size, one, b.trail), size*b.trail
		}
		if b.columns != nil {
			full = between(full, size, b.columns, b.dim)
		}
		for c := range b.count {
			for i := range b.dim {
				for j := range b.dim {
					x := full[i*b.dim+j]
					if b.odd && det < 0 {
						x = -x
					}
					out[(b.at+c*b.dim+i)*t.width+b.at+c*b.dim+j] = x + 0
				}
			}
		}
	}
	return out
}

// kron is a ⊗ b of square matrices.
func kron(a []float64, n int, b []float64, k int) []float64 {
	s := n * k
	out := make([]float64, s*s)
	for i := range s {
		for j := range s {
			out[i*s+j] = a[i/k*n+j/k] * b[i%k*k+j%k]
		}
	}
	return out
}

// between is Cᵀ a C for n×n numbers a and n×d columns C. What rounding leaves of a zero is a zero.
func between(a []float64, n int, c []float64, d int) []float64 {
	out := make([]float64, d*d)
	for i := range d {
		for j := range d {
			sum := 0.0
			for k := range n {
				for l := range n {
					if x := a[k*n+l]; x != 0 {
						sum += float64(float64(c[k*d+i]*x) * c[l*d+j])
					}
				}
			}
			for _, whole := range []float64{-1, 0, 1} {
				if sum-whole < 1e-12 && whole-sum < 1e-12 {
					sum = whole
				}
			}
			out[i*d+j] = sum
		}
	}
	return out
}

// fixed moves rows [samples, rows, width] by a matrix that is known: exactly where it has one entry in each row, which
// is 1 or -1.
func (w *wrapper) fixed(v string, t *tensorial, m [9]float64, d tensor.DType) string {
	a, n := t.matrix(m), t.width
	from, sign := make([]int64, n), make([]float64, n)
	still, turned := true, false
	for i := range n {
		for j := range n {
			switch x := a[i*n+j]; {
			case x == 0:
			case sign[i] == 0 && (x == 1 || x == -1):
				from[i], sign[i] = int64(j), x
				still = still && i == j && x == 1
				turned = turned || x != 1
			default:
				flipped := make([]float64, n*n)
				for r := range n {
					for c := range n {
						flipped[c*n+r] = a[r*n+c]
					}
				}
				return w.Op("MatMul", []string{v, w.numbers(flipped, d, n, n)})
			}
		}
	}
	if still {
		return v
	}
	if !slices.IsSorted(from) {
		v = w.Op("Gather", []string{v, w.Ints(from...)}, onnx.AttrInt("axis", 2))
	}
	if turned {
		v = w.Op("Mul", []string{v, w.numbers(sign, d, 1, 1, n)})
	}
	return v
}

// turn moves rows [samples, rows, width] by a matrix of each sample: by[j], [samples, 1, 3], is row j of what rows of
// three numbers are multiplied with from the right. sign, [samples, 1, 1], is the sign of its determinant; "" where it
// is positive.
func (w *wrapper) turn(v string, t *tensorial, by [3]string, sign string, d tensor.DType) string {
	var tall [3]string // the same for the last but one axis
	for j := range tall {
		tall[j] = w.Op("Reshape", []string{by[j], w.Ints(0, 1, 3, 1)})
	}
	parts := make([]string, len(t.blocks))
	for i, b := range t.blocks {
		y := v
		if len(t.blocks) > 1 {
			y = w.cut(y, 2, b.at, b.at+b.count*b.dim)
		}
		if b.rank > 0 {
			y = w.contract(y, b, by, tall, d)
		}
		if b.odd && sign != "" {
			y = w.Op("Mul", []string{y, sign})
		}
		parts[i] = y
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return w.Op("Concat", parts, onnx.AttrInt("axis", 2))
}

// contract multiplies every index of the tensors of a block with the matrix.
func (w *wrapper) contract(y string, b tuple, by, tall [3]string, d tensor.DType) string {
	full := pow3(b.rank) * b.trail
	if b.rank == 1 && b.trail == 1 { // as points, of which there are most
		if b.count > 1 {
			y = w.Op("Reshape", []string{y, w.Ints(0, -1, 3)})
		}
		y = w.sums(y, 2, by)
		if b.count > 1 {
			y = w.Op("Reshape", []string{y, w.Ints(0, -1, int64(3*b.count))})
		}
		return y
	}
	if b.columns != nil {
		y = w.Op("Reshape", []string{y, w.Ints(0, -1, int64(b.dim))})
		across := make([]float64, len(b.columns))
		for i := range full {
			for m := range b.dim {
				across[m*full+i] = b.columns[i*b.dim+m]
			}
		}
		y = w.Op("MatMul", []string{y, w.numbers(across, d, b.dim, full)})
	}
	for range b.rank {
		y = w.Op("Reshape", []string{y, w.Ints(0, -1, 3, int64(full/3))})
		y = w.sums(y, 2, tall)
		if b.rank > 1 { // the next index comes first
			y = w.Op("Transpose", []string{y}, onnx.AttrInts("perm", 0, 1, 3, 2))
		}
	}
	if b.columns != nil {
		y = w.Op("Reshape", []string{y, w.Ints(0, -1, int64(full))})
		y = w.Op("MatMul", []string{y, w.numbers(b.columns, d, full, b.dim)})
	}
	return w.Op("Reshape", []string{y, w.Ints(0, -1, int64(b.count*b.dim))})
}

// sums is Σ_j y_j · by[j] over the three slices of an axis.
func (w *wrapper) sums(y string, axis int64, by [3]string) string {
	var out string
	for j := range by {
		p := w.Op("Mul", []string{w.cut(y, axis, j, j+1), by[j]})
		if out == "" {
			out = p
		} else {
			out = w.Op("Add", []string{out, p})
		}
	}
	return out
}

// cut is part of an axis.
func (w *wrapper) cut(v string, axis int64, from, to int) string {
	return w.Op("Slice", []string{v, w.Ints(int64(from)), w.Ints(int64(to)), w.Ints(axis)})
}

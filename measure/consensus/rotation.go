package consensus

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ErrAmbiguous says that rotations cancel each other, so that no mean is nearer to them than others.
var ErrAmbiguous = errors.New("consensus: the rotations cancel each other and have no mean")

// ChordalMean is the rotation R for which the weighted sum of ‖R - Rᵢ‖² (Frobenius) is least: the orthogonal factor of
// the weighted mean of the matrices, by singular values, with determinant 1 (Hartley, Trumpf, Dai and Li, International
// Journal of Computer Vision 103, 2013, section 5.3). Matrices are row-major 3 x 3. Nil weights weigh all alike.
//
// The error says that an argument is no rotation or weight, and wraps [ErrAmbiguous] if there is no single answer, such
// as for the half turns about three axes.
func ChordalMean(rotations [][9]float64, weights []float64) ([9]float64, error) {
	var sum [9]float64
	total, err := weigh(len(rotations), weights)
	if err != nil {
		return sum, err
	}
	for k, r := range rotations {
		if err := isRotation(r); err != nil {
			return sum, fmt.Errorf("consensus: rotation %d: %w", k, err)
		}
		for i, x := range r {
			sum[i] += float64(weightOf(weights, k) / total * x)
		}
	}
	return project(sum)
}

// project is the rotation nearest to a matrix.
func project(m [9]float64) ([9]float64, error) {
	var f mat.SVD
	if !f.Factorize(mat.NewDense(3, 3, m[:]), mat.SVDFull) {
		return m, errors.New("consensus: the singular values of the mean rotation were not found")
	}
	var u, v mat.Dense
	f.UTo(&u)
	f.VTo(&v)
	s := f.Values(nil)
	sign := 1.0
	if mat.Det(&u)*mat.Det(&v) < 0 {
		sign = -1
	}
	if !(s[1]+sign*s[2] > 1e-9) {
		return m, ErrAmbiguous
	}
	var out [9]float64
	for i := range 3 {
		for j := range 3 {
			x := 0.0
			for k, d := range [3]float64{1, 1, sign} {
				x += float64(u.At(i, k) * d * v.At(j, k))
			}
			out[3*i+j] = x
		}
	}
	return out, nil
}

// QuaternionMean is the chordal mean of rotations given by unit quaternions, in any order of the four numbers: the
// eigenvector of the largest eigenvalue of the weighted sum of qqᵀ (Markley, Cheng, Crassidis and Oshman, Journal of
// Guidance, Control, and Dynamics 30, 2007), so that q and -q are one rotation. Of the two that are the mean it is the
// one nearer to the first argument. Errors are as of [ChordalMean].
func QuaternionMean(quaternions [][4]float64, weights []float64) ([4]float64, error) {
	var out [4]float64
	total, err := weigh(len(quaternions), weights)
	if err != nil {
		return out, err
	}
	sum := mat.NewSymDense(4, nil)
	for k, q := range quaternions {
		n := 0.0
		for _, x := range q {
			n += x * x
		}
		if !(math.Abs(n-1) <= 1e-6) {
			return out, fmt.Errorf("consensus: quaternion %d has the squared length %g: want 1", k, n)
		}
		for i := range 4 {
			for j := i; j < 4; j++ {
				sum.SetSym(i, j, sum.At(i, j)+float64(weightOf(weights, k)/total/n*q[i]*q[j]))
			}
		}
	}
	var f mat.EigenSym
	if !f.Factorize(sum, true) {
		return out, errors.New("consensus: the eigenvectors of the mean quaternion were not found")
	}
	if v := f.Values(nil); !(v[3]-v[2] > 1e-9) {
		return out, ErrAmbiguous
	}
	var vectors mat.Dense
	f.VectorsTo(&vectors)
	along := 0.0
	for i := range out {
		out[i] = vectors.At(i, 3)
		along += float64(out[i] * quaternions[0][i])
	}
	if along < 0 {
		for i := range out {
			out[i] = -out[i]
		}
	}
	return out, nil
}

// weigh checks weights and adds them up.
func weigh(n int, weights []float64) (float64, error) {
	if n == 0 || weights != nil && len(weights) != n {
		return 0, fmt.Errorf(
			"consensus: %d rotations and %d weights: want at least one rotation, and as many weights or none", n,
			len(weights))
	}
	total := 0.0
	for k := range n {
		w := weightOf(weights, k)
		if !(w >= 0) || math.IsInf(w, 1) {
			return 0, fmt.Errorf("consensus: weight %d is %g: want a finite number, 0 or above", k, w)
		}
		total += w
	}
	if total == 0 {
		return 0, errors.New("consensus: no rotation weighs anything")
	}
	return total, nil
}

func weightOf(weights []float64, k int) float64 {
	if weights == nil {
		return 1
	}
	return weights[k]
}

// isRotation says why a matrix is none.
func isRotation(r [9]float64) error {
	for i := range 3 {
		for j := range 3 {
			d := 0.0
			for k := range 3 {
				d += r[3*i+k] * r[3*j+k]
			}
			want := 0.0
			if i == j {
				want = 1
			}
			if !(math.Abs(d-want) <= 1e-6) {
				return fmt.Errorf("rows %d and %d have the product %g: want %g", i, j, d, want)
			}
		}
	}
	det := r[0]*(r[4]*r[8]-r[5]*r[7]) - r[1]*(r[3]*r[8]-r[5]*r[6]) + r[2]*(r[3]*r[7]-r[4]*r[6])
	if !(det > 0) {
		return errors.New("a reflection: the determinant is -1")
	}
	return nil
}

package metric

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"nero/internal/elementary"
)

// rotations is the mean angle between rotations; NaN if a row is none, and for rows of other lengths than 4 and 9.
func (d diff) rotations() float64 {
	sum := 0.0
	for i := range d.n {
		a, b := d.row(i)
		switch left, left2 := mirrored(a), mirrored(b); {
		case left != left2: // no rotation takes one to the other
			sum += 180
			continue
		case left:
			a, b = inverted(a), inverted(b)
		}
		p, ok := quaternionOf(a)
		q, ok2 := quaternionOf(b)
		if !ok || !ok2 {
			return math.NaN()
		}
		sum += RotationAngle(p, q)
	}
	return sum / float64(d.n)
}

// mirrored reports whether a row is a matrix that exchanges left and right, as a pose does after a mirror.
func mirrored(m []float64) bool {
	return len(m) == 9 && float64(m[0]*(float64(m[4]*m[8])-float64(m[5]*m[7])))-
		float64(m[1]*(float64(m[3]*m[8])-float64(m[5]*m[6])))+
		float64(m[2]*(float64(m[3]*m[7])-float64(m[4]*m[6]))) < 0
}

func inverted(m []float64) []float64 {
	out := make([]float64, len(m))
	for i, v := range m {
		out[i] = -v
	}
	return out
}

// RotationAngle is the angle of the rotation from p to q in degrees, 0 to 180, of unit quaternions w, x, y, z: twice
// the angle between the lines that p and q span, so that q and -q are one rotation. It keeps its digits for small
// angles.
func RotationAngle(p, q [4]float64) float64 {
	minus, plus := 0.0, 0.0
	for k := range p {
		minus, plus = elementary.Hypot(minus, p[k]-q[k]), elementary.Hypot(plus, p[k]+q[k])
	}
	return 4 * elementary.Atan2(min(minus, plus), max(minus, plus)) * (180 / math.Pi)
}

// quaternionOf is the rotation of a row as a unit quaternion: of 4 numbers, or of the 9 of a matrix, whose nearest
// rotation counts (by singular values, with determinant 1). ok is false for 0, and for a matrix that has no single
// nearest rotation.
func quaternionOf(row []float64) (q [4]float64, ok bool) {
	switch len(row) {
	case 4:
		n := length(row)
		if !(n > 0) {
			return q, false
		}
		for k, x := range row {
			q[k] = x / n
		}
		return q, true
	case 9:
		r, ok := nearest(row)
		if !ok {
			return q, false
		}
		return fromMatrix(r), true
	}
	return q, false
}

// nearest is the rotation nearest to a matrix.
func nearest(m []float64) (r [9]float64, ok bool) {
	var f mat.SVD
	if !f.Factorize(mat.NewDense(3, 3, append([]float64(nil), m...)), mat.SVDFull) {
		return r, false
	}
	var u, v mat.Dense
	f.UTo(&u)
	f.VTo(&v)
	s := f.Values(nil)
	sign := 1.0
	if mat.Det(&u)*mat.Det(&v) < 0 {
		sign = -1
	}
	if !(s[1]+float64(sign*s[2]) > 1e-9*s[0]) {
		return r, false
	}
	for i := range 3 {
		for j := range 3 {
			for k, d := range [3]float64{1, 1, sign} {
				r[3*i+j] += float64(u.At(i, k) * d * v.At(j, k))
			}
		}
	}
	return r, true
}

// fromMatrix is the quaternion of a rotation matrix, from its largest component (Shepperd, Journal of Guidance and
// Control 1, 1978).
func fromMatrix(r [9]float64) [4]float64 {
	trace := r[0] + r[4] + r[8]
	best, most := 0, trace
	for k := range 3 {
		if d := r[4*k]; d > most {
			best, most = k+1, d
		}
	}
	var q [4]float64
	if best == 0 {
		q = [4]float64{1 + trace, r[7] - r[5], r[2] - r[6], r[3] - r[1]}
	} else {
		i := best - 1
		j, k := (i+1)%3, (i+2)%3
		q[0] = r[3*k+j] - r[3*j+k]
		q[1+i] = 1 + r[4*i] - r[4*j] - r[4*k]
		q[1+j] = r[3*j+i] + r[3*i+j]
		q[1+k] = r[3*k+i] + r[3*i+k]
	}
	n := length(q[:])
	for k := range q {
		q[k] /= n
	}
	return q
}

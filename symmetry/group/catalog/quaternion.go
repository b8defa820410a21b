package catalog

import (
	"math"

	"nero/internal/elementary"
	"nero/symmetry/group"
)

// quat is a unit quaternion w + xi + yj + zk. It and its negative are one rotation.
type quat [4]float64

// vec3 is a rotation vector in degrees or a place.
type vec3 = [3]float64

// mul is the product pq: q acts first. The conversions keep processors with fused multiply-adds to the same bits as all
// others.
func (p quat) mul(q quat) quat {
	return quat{
		float64(p[0]*q[0]) - float64(p[1]*q[1]) - float64(p[2]*q[2]) - float64(p[3]*q[3]),
		float64(p[0]*q[1]) + float64(p[1]*q[0]) + float64(p[2]*q[3]) - float64(p[3]*q[2]),
		float64(p[0]*q[2]) - float64(p[1]*q[3]) + float64(p[2]*q[0]) + float64(p[3]*q[1]),
		float64(p[0]*q[3]) + float64(p[1]*q[2]) - float64(p[2]*q[1]) + float64(p[3]*q[0]),
	}
}

func (p quat) conj() quat { return quat{p[0], -p[1], -p[2], -p[3]} }

func length(v vec3) float64 {
	switch { // exact along the axes of coordinates
	case v[1] == 0 && v[2] == 0:
		return math.Abs(v[0])
	case v[0] == 0 && v[2] == 0:
		return math.Abs(v[1])
	case v[0] == 0 && v[1] == 0:
		return math.Abs(v[2])
	}
	return math.Sqrt(float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2]))
}

// toQuat is the unit quaternion of a rotation vector in degrees, whatever its length; its w is not negative up to 180
// degrees.
func toQuat(v vec3) quat {
	t := length(v)
	if t == 0 {
		return quat{1, 0, 0, 0}
	}
	s, c := group.SinCos(t / 2)
	return quat{c, v[0] * (s / t), v[1] * (s / t), v[2] * (s / t)}
}

// toVec is the canonical rotation vector of a unit quaternion.
func toVec(q quat) vec3 {
	if n, _, ok := q.octahedral(); ok {
		return octahedralVec(n)
	}
	if q[0] < 0 {
		q = quat{-q[0], -q[1], -q[2], -q[3]}
	}
	s := math.Sqrt(float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3]))
	if s == 0 {
		return vec3{}
	}
	t := group.Degrees(2*elementary.Atan2(s, q[0])) / s
	return turned(vec3{q[1] * t, q[2] * t, q[3] * t})
}

// Rotations this near to 180 degrees, as a share of the angle, count as half turns, whose axis has a sign by convention
// only.
const halfTurn = 1e-12

// rounding is how far from 180 degrees the length of a half turn may come out, as a share: a few roundings of its
// components.
const rounding = 1e-15

// turned is the canonical form of a rotation vector: an angle of at most 180 degrees, and at 180 a first nonzero
// component above 0. What counts as a half turn is made one: a sum of angles about one axis may lie beyond 180 degrees
// by less than makes another rotation, and would leave the chart.
func turned(v vec3) vec3 {
	if t := length(v); t > 180*(1+halfTurn) {
		r := math.Remainder(t, 360) / t
		for i := range v {
			v[i] *= r
		}
	}
	if t := length(v); t >= 180*(1-halfTurn) {
		sign := 0.0
		for i := range v {
			// before small components are told, so that the form of the form is itself
			if math.Abs(t-180) > 180*rounding {
				v[i] = v[i] / t * 180
			}
			if math.Abs(v[i]) < 180*halfTurn/2 {
				v[i] = 0
			}
			if sign == 0 && v[i] != 0 {
				sign = math.Copysign(1, v[i])
			}
		}
		for i := range v {
			v[i] = math.Min(math.Max(v[i]*sign, -180), 180)
		}
	}
	for i := range v {
		v[i] += 0
	}
	return v
}

// octahedral recognizes the rotations of the cube, up to rounding: q is n·√f with whole n.
func (p quat) octahedral() (n [4]int, f float64, ok bool) {
	const slack = 1e-13
	kind, count := 0, 0
	for i, c := range p {
		a := math.Abs(c)
		k := 0
		switch {
		case a <= slack:
			continue
		case math.Abs(a-1) <= slack:
			k = 1
		case math.Abs(a-math.Sqrt2/2) <= slack:
			k = 2
		case math.Abs(a-0.5) <= slack:
			k = 4
		}
		if k == 0 || kind != 0 && k != kind {
			return n, 0, false
		}
		kind, count = k, count+1
		n[i] = 1
		if c < 0 {
			n[i] = -1
		}
	}
	if kind == 0 || count != kind {
		return n, 0, false
	}
	return n, 1 / float64(kind), true
}

// octahedralVec is the canonical rotation vector, with the same bits however the rotation was found.
func octahedralVec(n [4]int) vec3 {
	axis, sign := 0, 1
	for i := range 3 {
		if n[1+i] != 0 {
			axis++
			if axis == 1 && n[0] == 0 {
				sign = n[1+i]
			}
		}
	}
	if n[0] < 0 {
		sign = -1
	}
	var size float64
	switch {
	case axis == 0:
		return vec3{}
	case axis == 3:
		size = 120 / 1.7320508075688772935274463415058723669428
	case axis == 2:
		size = 180 / math.Sqrt2
	case n[0] == 0:
		size = 180
	default:
		size = 90
	}
	return vec3{size * float64(sign*n[1]), size * float64(sign*n[2]), size * float64(sign*n[3])}
}

// mat3 is a matrix in rows.
type mat3 = [3][3]float64

// rotation is the matrix of a rotation vector in degrees: exact for the rotations of the cube and, like
// [group.SinCos], about the axes of coordinates.
func rotation(v vec3) mat3 {
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		if v[j] == 0 && v[k] == 0 {
			s, c := group.SinCos(v[i])
			var m mat3
			m[i][i] = 1
			m[j][j], m[j][k], m[k][j], m[k][k] = c, -s+0, s, c
			return m
		}
	}
	q := toQuat(v)
	if n, f, ok := q.octahedral(); ok {
		var m mat3
		for i := range 3 {
			j, k := (i+1)%3, (i+2)%3
			a, b, c, w := n[1+i], n[1+j], n[1+k], n[0]
			m[i][i] = f * float64(w*w+a*a-b*b-c*c)
			m[i][j] = 2 * f * float64(a*b-w*c)
			m[i][k] = 2 * f * float64(a*c+w*b)
		}
		return m
	}
	w, x, y, z := q[0], q[1], q[2], q[3]
	return mat3{
		{1 - 2*(float64(y*y)+float64(z*z)), 2 * (float64(x*y) - float64(w*z)), 2 * (float64(x*z) + float64(w*y))},
		{2 * (float64(x*y) + float64(w*z)), 1 - 2*(float64(x*x)+float64(z*z)), 2 * (float64(y*z) - float64(w*x))},
		{2 * (float64(x*z) - float64(w*y)), 2 * (float64(y*z) + float64(w*x)), 1 - 2*(float64(x*x)+float64(y*y))},
	}
}

func turnVec(m mat3, v vec3) vec3 {
	var u vec3
	for i := range 3 {
		u[i] = float64(m[i][0]*v[0]) + float64(m[i][1]*v[1]) + float64(m[i][2]*v[2]) + 0
	}
	return u
}

// compose is the rotation vector of a after b.
func compose(a, b vec3) vec3 {
	switch {
	case a == vec3{}:
		return turned(b)
	case b == vec3{}:
		return turned(a)
	}
	for i := range 3 { // about one axis angles add, exactly
		j, k := (i+1)%3, (i+2)%3
		if a[j] == 0 && a[k] == 0 && b[j] == 0 && b[k] == 0 {
			var v vec3
			v[i] = a[i] + b[i]
			return turned(v)
		}
	}
	return toVec(toQuat(a).mul(toQuat(b)))
}

// angleBetween is the angle in degrees of the rotation that leads from a to b, in [0, 180].
func angleBetween(a, b vec3) float64 {
	if a == b {
		return 0
	}
	d := toQuat(a).conj().mul(toQuat(b))
	return 2 * elementary.Atan2(math.Sqrt(float64(d[1]*d[1])+float64(d[2]*d[2])+float64(d[3]*d[3])), math.Abs(d[0])) *
		(180 / math.Pi)
}

// shoemake maps the unit cube onto the unit quaternions so that volumes are kept: Shoemake 1992, Uniform random
// rotations, in Graphics Gems III.
func shoemake(u []float64) quat {
	r, s := math.Sqrt(1-u[0]), math.Sqrt(u[0])
	s1, c1 := elementary.Sincos(2 * math.Pi * u[1])
	s2, c2 := elementary.Sincos(2 * math.Pi * u[2])
	return quat{s * c2, r * s1, r * c1, s * s2}
}

// spun is the canonical form of the vector of a unit quaternion whose sign counts: an angle of at most 360 degrees; -1
// is (360, 0, 0).
func spun(v vec3) vec3 {
	if t := length(v); t > 360*(1+halfTurn) {
		r := math.Remainder(t, 720) / t
		for i := range v {
			v[i] *= r
		}
	}
	if length(v) >= 360*(1-halfTurn) {
		return vec3{360, 0, 0}
	}
	for i := range v {
		v[i] += 0
	}
	return v
}

// toSpin is the vector of a unit quaternion whose sign counts.
func toSpin(q quat) vec3 {
	s := math.Sqrt(float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3]))
	if s == 0 && q[0] > 0 {
		return vec3{}
	}
	if s < 1e-13 && q[0] < 0 {
		return vec3{360, 0, 0}
	}
	t := group.Degrees(2*elementary.Atan2(s, q[0])) / s
	return spun(vec3{q[1] * t, q[2] * t, q[3] * t})
}

// fromMatrix is the unit quaternion of a rotation matrix: Shepperd 1978, Quaternion from rotation matrix.
func fromMatrix(m mat3) quat {
	d := [4]float64{m[0][0] + m[1][1] + m[2][2], m[0][0], m[1][1], m[2][2]}
	best := 0
	for i := range d {
		if d[i] > d[best] {
			best = i
		}
	}
	var q quat
	if best == 0 {
		q = quat{1 + d[0], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]}
	} else {
		i := best - 1
		j, k := (i+1)%3, (i+2)%3
		q[0] = m[k][j] - m[j][k]
		q[1+i] = 1 + m[i][i] - m[j][j] - m[k][k]
		q[1+j] = m[j][i] + m[i][j]
		q[1+k] = m[k][i] + m[i][k]
	}
	n := math.Sqrt(float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3]))
	for i := range q {
		q[i] /= n
	}
	return q
}

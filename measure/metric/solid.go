package metric

import (
	"math"

	"nero/internal/elementary"
)

// solid is a box of space in any orientation: its centre, the halves of its sides, and the unit vectors along them.
type solid struct {
	at, half [3]float64
	along    [3][3]float64
}

// solidOf reads a row: seven numbers with a yaw, or the centre and the sides followed by a rotation as a quaternion
// (10), the first two columns of a matrix (12) or a matrix in rows (15). It is not ok for rows that are no box.
func solidOf(row []float64) (b solid, ok bool) {
	if len(row) < 7 {
		return b, false
	}
	for _, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return b, false
		}
	}
	var r [9]float64
	switch len(row) {
	case 7:
		s, c := elementary.Sincos(row[6])
		r = [9]float64{c, -s, 0, s, c, 0, 0, 0, 1}
	case 10:
		q, ok := quaternionOf(row[6:])
		if !ok {
			return b, false
		}
		r = rotationMatrix(q)
	case 12:
		u, v := [3]float64(row[6:9]), [3]float64(row[9:12])
		w := crossed(u, v)
		for i := range 3 {
			r[3*i], r[3*i+1], r[3*i+2] = u[i], v[i], w[i]
		}
		if r, ok = nearest(r[:]); !ok {
			return b, false
		}
	case 15:
		if r, ok = nearest(row[6:]); !ok {
			return b, false
		}
	default:
		return b, false
	}
	for i := range 3 {
		b.at[i], b.half[i] = row[i], max(row[3+i], 0)/2
		b.along[i] = [3]float64{r[i], r[3+i], r[6+i]}
	}
	return b, true
}

// rotationMatrix is the rotation matrix of a unit quaternion.
func rotationMatrix(q [4]float64) (r [9]float64) {
	w, v := q[0], [3]float64(q[1:])
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		r[4*i] = 1 - 2*(float64(v[j]*v[j])+float64(v[k]*v[k]))
		r[3*i+j] = 2 * (float64(v[i]*v[j]) - float64(w*v[k]))
		r[3*i+k] = 2 * (float64(v[i]*v[k]) + float64(w*v[j]))
	}
	return r
}

func crossed(a, b [3]float64) [3]float64 {
	return [3]float64{
		float64(a[1]*b[2]) - float64(a[2]*b[1]), float64(a[2]*b[0]) - float64(a[0]*b[2]),
		float64(a[0]*b[1]) - float64(a[1]*b[0]),
	}
}

func dotted(a, b [3]float64) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}

func (b *solid) volume() float64 { return float64(8 * b.half[0] * b.half[1] * b.half[2]) }

// reach is the radius of the sphere about the box.
func (b *solid) reach() float64 { return length(b.half[:]) }

// face is side k of 6 as a polygon about the origin from, and the normal that points out.
func (b *solid) face(k int, from [3]float64) (poly [][3]float64, out [3]float64) {
	i, sign := k/2, float64(1-2*(k%2))
	u, v := (i+1)%3, (i+2)%3
	for c := range 3 {
		out[c] = sign * b.along[i][c]
	}
	for _, s := range [4][2]float64{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}} {
		var p [3]float64
		for c := range 3 {
			p[c] = b.at[c] - from[c] + float64(b.half[i]*out[c]) + float64(s[0]*b.half[u]*b.along[u][c]) +
				float64(s[1]*b.half[v]*b.along[v][c])
		}
		poly = append(poly, p)
	}
	return poly, out
}

// BlockIoU is the volume that two boxes in space share over the volume that either covers, from 0 to 1, in any
// orientation: rows as IoU3D reads them. It is NaN for 0/0 and for rows that are no boxes.
//
// The surface of what they share is the part of each one's sides that lies in the other, found by clipping polygons
// (Sutherland and Hodgman, Communications of the ACM 17, 1974), and the volume is a third of the flux of the position
// through it.
func BlockIoU(p, q []float64) float64 {
	a, ok := solidOf(p)
	b, ok2 := solidOf(q)
	if !ok || !ok2 {
		return math.NaN()
	}
	va, vb := a.volume(), b.volume()
	both := 0.0
	gap := [3]float64{a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]}
	if va > 0 && vb > 0 && length(gap[:]) < a.reach()+b.reach() {
		both = max(0, min((a.flux(&b, true)+b.flux(&a, false))/3, va, vb))
	}
	return both / (va + vb - both)
}

// flux is that of the position, from the centre of the box that has the faces, through its faces within another box.
// Faces that lie in one plane and look the same way are counted once, for the box that is first.
func (b *solid) flux(other *solid, first bool) float64 {
	from, near := other.at, 1e-12*(b.reach()+other.reach())
	if first {
		from = b.at
	}
	sum := 0.0
	for k := range 6 {
		poly, out := b.face(k, from)
		for j := range 6 {
			wall, normal := other.face(j, from)
			most := 0.0
			side := make([]float64, len(poly))
			for i, r := range poly {
				side[i] = -dotted([3]float64{r[0] - wall[0][0], r[1] - wall[0][1], r[2] - wall[0][2]}, normal)
				most = max(most, math.Abs(side[i]))
			}
			if most <= near && dotted(out, normal) > 0 {
				if !first {
					poly = nil
				}
				continue
			}
			poly = within(poly, side)
		}
		for i := 1; i+1 < len(poly); i++ {
			u, v := poly[i], poly[i+1]
			for c := range 3 {
				u[c], v[c] = u[c]-poly[0][c], v[c]-poly[0][c]
			}
			sum += float64(math.Abs(dotted(crossed(u, v), out)) / 2 * dotted(poly[0], out))
		}
	}
	return sum
}

// within keeps the part of a polygon on the side of a plane where numbers are not negative.
func within(poly [][3]float64, side []float64) [][3]float64 {
	var out [][3]float64
	for i, r := range poly {
		n := (i + 1) % len(poly)
		if side[i] >= 0 {
			out = append(out, r)
		}
		if side[i] > 0 && side[n] < 0 || side[i] < 0 && side[n] > 0 {
			t := side[i] / (side[i] - side[n])
			p := r
			for c := range p {
				p[c] += float64(t * (poly[n][c] - r[c]))
			}
			out = append(out, p)
		}
	}
	return out
}

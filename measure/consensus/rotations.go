package consensus

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"nero/data/space"
	"nero/internal/elementary"
)

// rotations averages rows of rotations: of matrices their numbers, of unit quaternions qqᵀ, in which q and -q are one,
// of boxes in space the cosine and sine of their yaw besides place and size. The mean is then brought back to a
// rotation.
type rotations struct {
	mean
	// numbers of a row: 9, 7 or 4
	w int
}

func newRotations(w int) *rotations {
	r := &rotations{mean: *newMean(), w: w}
	switch w {
	case 9:
		r.from = matrices
	case 7:
		r.into, r.from = directions, upright
	default:
		r.into, r.from = squares, quaternions
	}
	return r
}

func (r *rotations) fits(v space.Value) error {
	if rows, ok := v.(space.Counted); ok && rows.Columns() != r.w {
		return fmt.Errorf("rows of %d numbers, want %d: matrices have 9, boxes in space 7, quaternions 4",
			rows.Columns(), r.w)
	}
	return r.mean.fits(v)
}

// squares are qqᵀ of the quaternions of each row, brought to length 1; one without length has no direction and adds
// nothing.
func squares(x []float64) []float64 {
	out := make([]float64, 4*len(x))
	for i := 0; i < len(x); i += 4 {
		n := 0.0
		for _, v := range x[i : i+4] {
			n = elementary.Hypot(n, v)
		}
		if !(n > 0) {
			continue
		}
		for j := range 4 {
			for k := range 4 {
				out[4*(i+j)+k] = float64(x[i+j] / n * (x[i+k] / n))
			}
		}
	}
	return out
}

// directions are boxes x, y, z, length, width, height, yaw (radians) with cosine and sine in place of the last.
func directions(x []float64) []float64 {
	out := make([]float64, 0, len(x)/7*8)
	for i := 0; i < len(x); i += 7 {
		s, c := elementary.Sincos(x[i+6])
		out = append(append(out, x[i:i+6]...), c, s)
	}
	return out
}

// upright are boxes again; nil if directions cancel each other. The spread is that of all numbers, of the yaw as if on
// a circle of radius 1.
func upright(mean []float64, spread float64) ([]float64, float64) {
	var out []float64
	for i := 0; i < len(mean); i += 8 {
		c, s := mean[i+6], mean[i+7]
		if !(elementary.Hypot(c, s) > 1e-9) {
			return nil, 0
		}
		out = append(append(out, mean[i:i+6]...), elementary.Atan2(s, c))
	}
	return out, spread
}

// quaternions are the eigenvectors of the largest eigenvalues, w or the first number that is not 0 positive; nil if
// rotations cancel each other. With angles a from the mean, the eigenvalue is the mean of cos²(a/2).
func quaternions(mean []float64, _ float64) (x []float64, spread float64) {
	for i := 0; i < len(mean); i += 16 {
		s := mat.NewSymDense(4, append([]float64(nil), mean[i:i+16]...))
		var f mat.EigenSym
		if !f.Factorize(s, true) {
			return nil, 0
		}
		v := f.Values(nil)
		if !(v[3]-v[2] > 1e-9) {
			return nil, 0
		}
		var vectors mat.Dense
		f.VectorsTo(&vectors)
		sign := 0.0
		for k := range 4 {
			if q := vectors.At(k, 3); sign == 0 && math.Abs(q) > 1e-12 {
				sign = math.Copysign(1, q)
			}
		}
		for k := range 4 {
			x = append(x, sign*vectors.At(k, 3))
		}
		spread += angle(v[3])
	}
	return x, spread / float64(len(mean)/16)
}

// matrices are the rotations nearest to the means; nil if rotations cancel each other. With angles a from the rotation
// R, tr(RᵀM) is the mean of 1 + 2 cos a.
func matrices(mean []float64, _ float64) (x []float64, spread float64) {
	for i := 0; i < len(mean); i += 9 {
		r, ok := project([9]float64(mean[i : i+9]))
		if !ok {
			return nil, 0
		}
		trace := 0.0
		for k, v := range r {
			trace += float64(v * mean[i+k])
		}
		x = append(x, r[:]...)
		spread += angle((trace + 1) / 4) // cos²(a/2) = (1 + cos a)/2
	}
	return x, spread / float64(len(mean)/9)
}

// project is the rotation nearest to a matrix, the orthogonal factor of determinant 1 (Hartley, Trumpf, Dai and Li,
// International Journal of Computer Vision 103, 2013, section 5.3); ok is false where rotations cancel each other, such
// as the half turns about three axes.
func project(m [9]float64) (out [9]float64, ok bool) {
	var f mat.SVD
	if !f.Factorize(mat.NewDense(3, 3, m[:]), mat.SVDFull) {
		return m, false
	}
	var u, v mat.Dense
	f.UTo(&u)
	f.VTo(&v)
	s := f.Values(nil)
	sign := 1.0
	if mat.Det(&u)*mat.Det(&v) < 0 {
		sign = -1
	}
	if !(s[1]+float64(sign*s[2]) > 1e-9) {
		return m, false
	}
	for i := range 3 {
		for j := range 3 {
			x := 0.0
			for k, d := range [3]float64{1, 1, sign} {
				x += float64(u.At(i, k) * d * v.At(j, k))
			}
			out[3*i+j] = x
		}
	}
	return out, true
}

// angle is that angle in degrees whose half has this squared cosine.
func angle(squared float64) float64 {
	squared = max(0, min(1, squared))
	return 2 * elementary.Atan2(math.Sqrt(1-squared), math.Sqrt(squared)) * (180 / math.Pi)
}

// record brings the fields of records together one by one.
type record struct {
	names []string
	rules []rule
}

func newRecord(of space.Spec, o Options) (*record, error) {
	if len(of.Fields) == 0 {
		return nil, errors.New("answers of several fields, and nobody says which: give their spec")
	}
	r := &record{}
	for _, f := range of.Fields {
		one, err := ruleOf(f, o)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		r.names, r.rules = append(r.names, f.Name), append(r.rules, one)
	}
	return r, nil
}

func (r *record) fits(v space.Value) error {
	if names, _ := space.Fields(v); names == nil {
		return fmt.Errorf("an answer of type %T", v)
	}
	for i, name := range r.names {
		f := space.FieldOf(v, name)
		if f == nil {
			return fmt.Errorf("an answer without the field %s", name)
		}
		if err := r.rules[i].fits(f); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}
	return nil
}

func (r *record) add(x Answer, s []state) {
	for i, name := range r.names {
		one := x
		one.Value = space.FieldOf(x.Value, name)
		r.rules[i].add(one, s)
	}
}

func (r *record) result(s []state, weights []float64, without int, v space.Value, to *Result) {
	out := &space.Record{}
	for i, name := range r.names {
		field := Result{Label: -1}
		r.rules[i].result(s, weights, without, space.FieldOf(v, name), &field)
		if field.Value == nil {
			to.Fields = nil
			return
		}
		out.Names, out.Values = append(out.Names, name), append(out.Values, field.Value)
		to.Fields = append(to.Fields, Agreement{Name: name, Label: field.Label, Spread: field.Spread})
		if to.Label < 0 {
			to.Label = field.Label
		}
	}
	to.Value = out
}

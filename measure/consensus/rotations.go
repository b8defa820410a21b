package consensus

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"nero/data/space"
	"nero/internal/elementary"
)

// way says what a row holds: plain numbers, which are averaged as they are, then those of a rotation: 9 of a matrix, 6
// of its first two columns, 4 of a quaternion, of which qqᵀ is averaged, in which q and -q are one, or the yaw, of
// which the cosine and the sine are.
type way struct{ plain, rotation int }

// turn is how the numbers of one rotation are averaged.
type turn struct {
	// how many numbers are averaged
	wide int
	into func(to, x []float64) []float64
	// from is the rotation of a mean and the angle that the answers are from it, in degrees; nil if they cancel each
	// other.
	from func(mean []float64) (x []float64, angle float64)
}

var turns = map[int]turn{
	9: {9, func(to, x []float64) []float64 { return append(to, x...) }, matrix},
	6: {9, completed, pair},
	4: {16, square, quaternion},
	1: {2, direction, heading},
}

// rotations averages rows that hold a rotation. The mean is then brought back to a rotation.
type rotations struct {
	mean
	way way
}

func newRotations(w way) *rotations {
	r := &rotations{mean: *newMean(), way: w}
	t := turns[w.rotation]
	r.into = func(x []float64) []float64 {
		out := make([]float64, 0, len(x)/w.width()*(w.plain+t.wide))
		for ; len(x) >= w.width(); x = x[w.width():] {
			out = t.into(append(out, x[:w.plain]...), x[w.plain:w.width()])
		}
		return out
	}
	r.from = func(mean []float64, spread float64) ([]float64, float64) {
		var out []float64
		angles, n := 0.0, len(mean)/(w.plain+t.wide)
		for ; len(mean) >= w.plain+t.wide; mean = mean[w.plain+t.wide:] {
			x, angle := t.from(mean[w.plain : w.plain+t.wide])
			if x == nil {
				return nil, 0
			}
			out = append(append(out, mean[:w.plain]...), x...)
			angles += angle
		}
		if w.plain > 0 { // of all numbers together
			return out, spread
		}
		return out, angles / float64(n)
	}
	return r
}

func (w way) width() int { return w.plain + w.rotation }

func (r *rotations) fits(v space.Value) error {
	if rows, ok := v.(space.Counted); ok && rows.Columns() != r.way.width() {
		return fmt.Errorf("rows of %d numbers, want %d: matrices have 9, boxes in space 7 and with an orientation 10, "+
			"12 or 15, quaternions 4", rows.Columns(), r.way.width())
	}
	return r.mean.fits(v)
}

// square is qqᵀ of a quaternion brought to length 1; one without length has no direction and adds nothing.
func square(to, x []float64) []float64 {
	n := 0.0
	for _, v := range x {
		n = elementary.Hypot(n, v)
	}
	for j := range 4 {
		for k := range 4 {
			v := 0.0
			if n > 0 {
				v = float64(x[j] / n * (x[k] / n))
			}
			to = append(to, v)
		}
	}
	return to
}

// direction is the cosine and the sine of a yaw in radians.
func direction(to, x []float64) []float64 {
	s, c := elementary.Sincos(x[0])
	return append(to, c, s)
}

// heading is the yaw again; nil if directions cancel each other.
func heading(mean []float64) (x []float64, angle float64) {
	if !(elementary.Hypot(mean[0], mean[1]) > 1e-9) {
		return nil, 0
	}
	return []float64{elementary.Atan2(mean[1], mean[0])}, 0
}

// completed is the matrix of its first two columns; the third is perpendicular to both.
func completed(to, x []float64) []float64 {
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		to = append(to, x[i], x[3+i], float64(x[j]*x[3+k])-float64(x[k]*x[3+j]))
	}
	return to
}

// pair is the first two columns of the rotation nearest to the mean.
func pair(mean []float64) (x []float64, angle float64) {
	r, angle := matrix(mean)
	if r == nil {
		return nil, 0
	}
	return []float64{r[0], r[3], r[6], r[1], r[4], r[7]}, angle
}

// quaternion is the eigenvector of the largest eigenvalue, w or the first number that is not 0 positive; nil if
// rotations cancel each other. With angles a from the mean, the eigenvalue is the mean of cos²(a/2).
func quaternion(mean []float64) (x []float64, off float64) {
	s := mat.NewSymDense(4, append([]float64(nil), mean...))
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
	return x, angle(v[3])
}

// matrix is the rotation nearest to the mean; nil if rotations cancel each other. With angles a from the rotation R,
// tr(RᵀM) is the mean of 1 + 2 cos a.
func matrix(mean []float64) (x []float64, off float64) {
	r, ok := project([9]float64(mean))
	if !ok {
		return nil, 0
	}
	trace := 0.0
	for k, v := range r {
		trace += float64(v * mean[k])
	}
	return r[:], angle((trace + 1) / 4) // cos²(a/2) = (1 + cos a)/2
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

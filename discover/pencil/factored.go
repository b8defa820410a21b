package pencil

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// factored are equations each of which is, for every part, a list of slopes times a list of places. All equations of an
// object have the same places, so what they make of a direction takes a product of two small matrices, and none of them
// is ever written out.
type factored struct {
	objects, keep, size int
	parts               []factors
}

// factors are the lists of one part.
type factors struct {
	// from is where its unknowns begin: a matrix of rows and columns.
	from, rows, columns int
	// slopes are those of each equation, and apart how far those of the second half are from them, nil for not at all.
	slopes, apart *mat.Dense
	// places are those of each object, a row for each, and turned has a column for each.
	places, turned *mat.Dense
	// seen is what each object makes of a direction, and back what goes the other way, a column for each object.
	seen, back *mat.Dense
}

// factors reports whether the equations are such products.
func (e *equations) factors() bool {
	for _, p := range e.s.parts {
		if o, single := p.moved.(outer); p.moved != nil && !p.empty && (!single || !o.single()) {
			return false
		}
	}
	return e.d.rows[0] == nil
}

// newFactored is of equations that are such products.
func newFactored(e *equations) *factored {
	f := &factored{objects: e.s.objects, keep: e.keep, size: e.size}
	from := 0
	for _, p := range e.s.parts {
		if p.empty {
			continue
		}
		o, _ := p.moved.(outer) // that of the answers is none
		_, k := p.left.Dims()
		_, c := p.right.Dims()
		rows := f.objects * f.keep
		t := factors{
			from: from, rows: k, columns: c, slopes: mat.NewDense(rows, k, nil),
			places: mat.NewDense(f.objects, c, nil),
			turned: mat.NewDense(c, f.objects, nil), seen: mat.NewDense(f.objects, k, nil),
			back: mat.NewDense(k, f.objects, nil),
		}
		if p.moved != nil {
			t.apart = mat.NewDense(rows, k, nil)
		}
		for i := range f.objects {
			e.factor(p, o, i, &t)
		}
		t.turned.Copy(t.places.T())
		f.parts = append(f.parts, t)
		from += k * c
	}
	return f
}

// factor writes the lists of one object; o is nil for the part of the answers.
func (e *equations) factor(p *part, o outer, i int, t *factors) {
	weight := math.Sqrt(float64(e.d.probes) / float64(e.keep)) // of a row that stands for several
	if o == nil {
		t.places.SetRow(i, left(p.right, append(e.s.y[i][:p.k:p.k], 1)))
	} else {
		t.places.SetRow(i, p.across(o, e.d.x[i]))
	}
	for w := range e.keep {
		probe, row := e.probe(i, w), t.slopes.RawRowView(i*e.keep+w)
		if o == nil {
			unit := make([]float64, p.k)
			unit[probe] = -weight
			copy(row, left(p.left, unit))
			continue
		}
		copy(row, p.along(o, e.d.gradients[0][i][probe]))
		apart := t.apart.RawRowView(i*e.keep + w)
		copy(apart, row)
		axpy(apart, -1, p.along(o, e.d.gradients[1][i][probe]))
		scale(row, weight)
		scale(apart, weight)
	}
}

// matrix is the unknowns of a part in a list of all.
func (t *factors) matrix(v []float64) *mat.Dense {
	return mat.NewDense(t.rows, t.columns, v[t.from:t.from+t.rows*t.columns])
}

// times is what the equations make of a direction, and how far the second half is from that.
func (f *factored) times(v, first, apart []float64) {
	clear(first)
	clear(apart)
	for i := range f.parts {
		t := &f.parts[i]
		t.seen.Mul(t.places, t.matrix(v).T())
		for row := range first {
			seen := t.seen.RawRowView(row / f.keep)
			first[row] += inner(t.slopes.RawRowView(row), seen)
			if apart != nil && t.apart != nil {
				apart[row] += inner(t.apart.RawRowView(row), seen)
			}
		}
	}
}

// gram is the mean of row·rowᵀ, over objects, times a direction; rows is room for as many numbers as there are
// equations.
func (f *factored) gram(v, out, rows []float64) {
	f.times(v, rows, nil)
	for i := range f.parts {
		t := &f.parts[i]
		sum := make([]float64, t.rows)
		for o := range f.objects {
			clear(sum)
			for w := o * f.keep; w < (o+1)*f.keep; w++ {
				axpy(sum, rows[w]/float64(f.objects), t.slopes.RawRowView(w))
			}
			t.back.SetCol(o, sum)
		}
		t.matrix(out).Mul(t.back, t.turned.T())
	}
}

// mean is that of the eigenvalues of the mean of row·rowᵀ.
func (f *factored) mean() float64 {
	var sum float64
	for i := range f.parts {
		t := &f.parts[i]
		for row := range f.objects * f.keep {
			g, z := t.slopes.RawRowView(row), t.places.RawRowView(row/f.keep)
			sum += float64(dot(g, g) * dot(z, z))
		}
	}
	return sum / float64(f.objects) / float64(f.size)
}

// memory is about how many bytes the lists of equations take.
func (e *equations) memory() int {
	const number = 8
	numbers := 0
	for _, p := range e.s.parts {
		if !p.empty {
			numbers += p.k*2*e.s.objects*(e.keep+1) + p.c*2*e.s.objects
		}
	}
	return number * numbers
}

// inner is the inner product of lists of one length.
func inner(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Inc: 1, Data: a}, blas64.Vector{N: len(b), Inc: 1, Data: b})
}

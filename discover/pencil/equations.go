package pencil

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// equations are the rows of some probes after the quotients, by the first half of the derivatives, and how far the
// second is from them. Those in few unknowns are kept; those in many are made anew where they are needed, for they
// would fill the memory.
type equations struct {
	s    *system
	d    *derivatives
	keep int
	size int
	// nil for many unknowns
	first, apart *mat.Dense
	// lists are what equations in many unknowns are made of, nil where they are no products
	lists *factored
}

func newEquations(s *system, d *derivatives, keep, size int) *equations {
	e := &equations{s: s, d: d, keep: keep, size: size}
	if size <= dense {
		e.first, e.apart = e.rows(0, s.objects)
	}
	return e
}

// rows are those of some objects.
func (e *equations) rows(from, to int) (first, apart *mat.Dense) {
	rows := (to - from) * e.keep
	first, apart = mat.NewDense(rows, e.size, nil), mat.NewDense(rows, e.size, nil)
	for i := from; i < to; i++ {
		for w := range e.keep {
			at := (i-from)*e.keep + w
			m, a := first.RawRowView(at), apart.RawRowView(at)
			e.row(i, e.probe(i, w), m, a)
			// A row that stands for several.
			f := math.Sqrt(float64(e.d.probes) / float64(e.keep))
			scale(m, f)
			scale(a, f)
		}
	}
	return first, apart
}

// probe is which one row w of an object looks at: where not all are kept, objects look at different ones.
func (e *equations) probe(i, w int) int {
	if e.keep < e.d.probes {
		return (i + w) % e.d.probes
	}
	return w
}

// row writes one row, and how far that of the second half is from it.
func (e *equations) row(i, probe int, m, a []float64) {
	from := 0
	for k, p := range e.s.parts {
		to := from + p.reduced()
		switch outer, ok := p.moved.(outer); {
		case p.moved == nil:
			full := make([]float64, p.size())
			copy(full[probe*p.c:], e.s.y[i])
			full[(probe+1)*p.c-1] = 1
			scale(full, -1)
			p.reduce(full, m[from:to])
		case ok && e.first == nil && e.size > dense && outer.single() && !p.empty:
			z := p.across(outer, e.d.x[i])
			g, h := p.along(outer, e.d.gradients[0][i][probe]), p.along(outer, e.d.gradients[1][i][probe])
			for r, v := range g {
				axpy(m[from+r*len(z):from+(r+1)*len(z)], v, z)
				axpy(a[from+r*len(z):from+(r+1)*len(z)], v-h[r], z)
			}
		default:
			one, other := make([]float64, p.size()), make([]float64, p.size())
			e.d.row(0, i, k, probe, p.moved, one)
			e.d.row(1, i, k, probe, p.moved, other)
			for j := range one {
				other[j] = one[j] - other[j]
			}
			p.reduce(one, m[from:to])
			p.reduce(other, a[from:to])
		}
		from = to
	}
}

// outer is what a part moves whose rows are products of two lists of numbers: a slope and a place.
type outer interface {
	// single reports whether there is one point, without which they are sums of such products.
	single() bool
	slope(gradient []float64) []float64
	place(x []float64) []float64
}

// along is a slope after the quotients, and across a place.
func (p *part) along(o outer, gradient []float64) []float64 { return left(p.left, o.slope(gradient)) }
func (p *part) across(o outer, x []float64) []float64       { return left(p.right, o.place(x)) }

// left is mᵀ·v.
func left(m *mat.Dense, v []float64) []float64 {
	_, n := m.Dims()
	out := mat.NewVecDense(n, nil)
	out.MulVec(m.T(), mat.NewVecDense(len(v), v))
	return out.RawVector().Data
}

// few says that there are too few equations to leave so many unknowns free.
func (e *equations) few(size, free int) string {
	rows := e.keep * e.s.objects
	return fmt.Sprintf("%d equations are too few for %d unknowns: ask at %d inputs or more", rows, size,
		(3*free*e.s.objects+2*rows-1)/(2*rows))
}

// atATime is how many rows are made at once.
const atATime = 512

// chunks calls f for the rows of some objects after the other.
func (e *equations) chunks(f func(row int, first, apart *mat.Dense)) {
	n := max(atATime/e.keep, 1)
	for from := 0; from < e.s.objects; from += n {
		first, apart := e.rows(from, min(from+n, e.s.objects))
		f(from*e.keep, first, apart)
	}
}

// times are the rows times the columns of a matrix.
func (e *equations) times(v *mat.Dense) (first, apart *mat.Dense) {
	first, apart = new(mat.Dense), new(mat.Dense)
	if e.first != nil {
		first.Mul(e.first, v)
		apart.Mul(e.apart, v)
		return first, apart
	}
	_, k := v.Dims()
	rows := e.keep * e.s.objects
	first, apart = mat.NewDense(rows, k, nil), mat.NewDense(rows, k, nil)
	if e.lists != nil {
		one, other := make([]float64, rows), make([]float64, rows)
		for j := range k {
			e.lists.times(mat.Col(nil, j, v), one, other)
			first.SetCol(j, one)
			apart.SetCol(j, other)
		}
		return first, apart
	}
	e.chunks(func(at int, m, a *mat.Dense) {
		n, _ := m.Dims()
		first.Slice(at, at+n, 0, k).(*mat.Dense).Mul(m, v) //nolint:errcheck // a slice of a Dense is one
		apart.Slice(at, at+n, 0, k).(*mat.Dense).Mul(a, v) //nolint:errcheck // a slice of a Dense is one
	})
	return first, apart
}

// gram is the mean over objects of row·rowᵀ.
func (e *equations) gram() *mat.SymDense {
	m := newSym(e.size)
	share := 1 / float64(e.s.objects)
	if e.first != nil {
		m.SymOuterK(share, e.first.T())
		return m
	}
	if p := e.s.parts[0]; len(e.s.parts) == 1 {
		if o, ok := p.moved.(outer); ok && o.single() {
			e.products(p, o, m)
			return m
		}
	}
	e.chunks(func(_ int, first, _ *mat.Dense) { m.SymRankK(m, share, first.T()) })
	return m
}

// products writes the gram of rows that are products g ⊗ z: the mean of (g gᵀ) ⊗ (z zᵀ), of which all probes of an
// object share the second factor, so that one product of two smaller matrices has every number there is.
func (e *equations) products(p *part, o outer, m *mat.SymDense) {
	_, k := p.left.Dims()
	_, c := p.right.Dims()
	slopes, places := mat.NewDense(e.s.objects, k*(k+1)/2, nil), mat.NewDense(e.s.objects, c*(c+1)/2, nil)
	f := float64(e.d.probes) / float64(e.keep*e.s.objects)
	pairs := func(to []float64, f float64, v []float64) {
		at := 0
		for i, x := range v {
			axpy(to[at:at+len(v)-i], f*x, v[i:])
			at += len(v) - i
		}
	}
	for i := range e.s.objects {
		for w := range e.keep {
			pairs(slopes.RawRowView(i), f, p.along(o, e.d.gradients[0][i][e.probe(i, w)]))
		}
		pairs(places.RawRowView(i), 1, p.across(o, e.d.x[i]))
	}
	var all mat.Dense
	all.Mul(slopes.T(), places)
	index := func(n, i, j int) int { // of the pair i, j in a list of pairs of n
		if i > j {
			i, j = j, i
		}
		return i*n - i*(i-1)/2 + j - i
	}
	raw := m.RawSymmetric()
	for r := range k {
		for s := range c {
			to := raw.Data[(r*c+s)*raw.Stride:]
			for q := r; q < k; q++ {
				of := all.RawRowView(index(k, r, q))
				from := 0
				if q == r {
					from = s
				}
				for t := from; t < c; t++ {
					to[q*c+t] = of[index(c, s, t)]
				}
			}
		}
	}
}

package pencil

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// part is one unknown matrix of k rows and c columns, and what is known of its size.
type part struct {
	name string
	k, c int
	// metric is the mean over objects of what makes N = metric ⊗ 1; gradient that of E[JᵀJ], and apart the same of the
	// difference of two halves; both nil where the function looks at all of it.
	metric, gradient, apart *mat.SymDense
	// each is the metric of every object, of which metric is the mean.
	each []*mat.SymDense

	// left has orthonormal columns, k x k'; right has columns that the metric makes orthonormal, c x c'. The span of
	// right
	// is that of the orthonormal columns of kept.
	left, right, kept *mat.Dense
	// empty says that nothing is left of the part
	empty bool

	// moved is what the matrix moves: a block of the input; nil for that of the answers.
	moved moved
	// raw is a matrix in the coordinates of the input or the answers.
	raw func(a *mat.Dense) [][]float64
	// square is the same as a square matrix that acts on balanced coordinates, with the constant last where there are
	// shifts; plain is the way back, without what the quotients took.
	square func(a *mat.Dense) *mat.Dense
	plain  func(h *mat.Dense) *mat.Dense
	// space is of how many coordinates the points are that move, z = (x - middle)/unit; 0 for answers.
	space        int
	affine       bool
	middle, unit []float64
	// still are the coordinates that never change
	still []Still
}

// homogeneous says how a matrix of k rows, with the shift in a last column if there is one, is a square one.
func (p *part) homogeneous() {
	p.square = func(a *mat.Dense) *mat.Dense {
		h := mat.NewDense(p.c, p.c, nil)
		h.Slice(0, p.k, 0, p.c).(*mat.Dense).Copy(a) //nolint:errcheck // a slice of a Dense is one
		return h
	}
	p.plain = func(h *mat.Dense) *mat.Dense {
		if p.empty {
			return mat.NewDense(p.k, p.c, nil)
		}
		var a, b, c, d mat.Dense
		a.Mul(p.left.T(), h.Slice(0, p.k, 0, p.c))
		b.Mul(p.left, &a)
		c.Mul(&b, p.kept)
		d.Mul(&c, p.kept.T())
		return &d
	}
}

// object begins the metric of the next object, weigh adds to it, and mean ends the last.
func (p *part) object() { p.each = append(p.each, newSym(p.c)) }

func (p *part) weigh(f float64, z []float64) { add(p.each[len(p.each)-1], f, z) }

func (p *part) mean() {
	p.metric = newSym(p.c)
	raw := p.metric.RawSymmetric().Data
	for _, m := range p.each {
		axpy(raw, 1/float64(len(p.each)), m.RawSymmetric().Data)
	}
	if p.gradient != nil {
		p.gradient.ScaleSym(1/float64(len(p.each)), p.gradient)
		p.apart.ScaleSym(1/float64(len(p.each)), p.apart)
	}
}

func (p *part) size() int { return p.k * p.c }

func (p *part) reduced() int {
	if p.empty {
		return 0
	}
	_, k := p.left.Dims()
	_, c := p.right.Dims()
	return k * c
}

// quotient takes out what data do not span and what the function ignores.
func (p *part) quotient() []Quotient {
	var out []Quotient
	p.left = eye(p.k)
	if p.gradient != nil {
		least := unspanned
		if size := mat.Trace(p.gradient); size > 0 {
			least = max(least, 10*mat.Trace(p.apart)/size)
		}
		values, vectors := symmetric(p.gradient)
		in, gone := cutAt(values, least)
		if len(gone) > 0 {
			out = append(out, Quotient{
				Kind: "ignored", Block: p.name, Directions: columns(vectors, gone), Unknowns: len(gone) * p.c,
				Raw: p.changes(columns(vectors, gone)),
			})
		}
		if len(in) == 0 { // all of it
			p.empty = true
			return out
		}
		p.left = take(vectors, in)
		// What a direction does is said of those that the function looks at.
		f := float64(p.k) / float64(len(in))
		p.metric.ScaleSym(f, p.metric)
		for _, m := range p.each {
			m.ScaleSym(f, m)
		}
	}
	values, vectors := symmetric(p.metric)
	in, gone := cutAt(values, unspanned)
	_, rows := p.left.Dims()
	if len(gone) > 0 {
		// In the order of the report, the data come first: of what they do not span nobody can say whether it is
		// ignored.
		out = append([]Quotient{{
			Kind: "unspanned", Block: p.name, Directions: columns(vectors, gone), Unknowns: len(gone) * p.k,
			Raw: p.relations(columns(vectors, gone)),
		}}, out...)
		for i := range out[1:] {
			out[1+i].Unknowns = (p.k - rows) * len(in)
		}
	}
	if len(in) == 0 {
		p.empty = true
		return out
	}
	p.kept = take(vectors, in)
	p.right = take(vectors, in)
	for j, i := range in {
		for r := range p.c {
			p.right.Set(r, j, p.right.At(r, j)/math.Sqrt(values[i]))
		}
	}
	return out
}

// relations are the equations a·x = b, as a list of a and b, that say what the data do not span.
func (p *part) relations(directions [][]float64) [][]float64 {
	if p.space == 0 || p.space != p.k {
		return nil
	}
	var out [][]float64
	for _, u := range sparse(directions, p.k) {
		row := make([]float64, p.k+1)
		for c := range p.k {
			row[c] = u[c] / p.unit[c]
			row[p.k] += float64(row[c] * p.middle[c])
		}
		if p.affine {
			row[p.k] -= u[p.k]
		}
		top := largest([][]float64{row[:p.k]})
		if top == 0 {
			continue
		}
		scale(row, 1/top)
		if math.Abs(row[p.k]) < 1e-9*norm(p.unit) {
			row[p.k] = 0 // what is left of the middle
		}
		out = append(out, row)
	}
	return out
}

// changes are those of the input that the function does not see.
func (p *part) changes(directions [][]float64) [][]float64 {
	if p.space == 0 || p.space != p.k {
		return nil
	}
	out := sparse(directions, p.k)
	for _, u := range out {
		for c := range u {
			u[c] *= p.unit[c]
		}
		scale(u, 1/largest([][]float64{u}))
	}
	return out
}

// sparse is another basis of the same span, with a 1 among the first k numbers of each where the others have 0, and
// without what is rounding.
func sparse(rows [][]float64, k int) [][]float64 {
	var out [][]float64
	rest := make([][]float64, len(rows))
	for i, r := range rows {
		rest[i] = append([]float64(nil), r...)
	}
	for len(rest) > 0 {
		row, col, top := -1, 0, 1e-6
		for i, r := range rest {
			for j, v := range r[:k] {
				if math.Abs(v) > top*(1+1e-6) {
					row, col, top = i, j, math.Abs(v)
				}
			}
		}
		if row < 0 {
			break
		}
		pivot := rest[row]
		rest = append(rest[:row], rest[row+1:]...)
		scale(pivot, 1/pivot[col])
		for _, r := range append(rest, out...) {
			axpy(r, -r[col], pivot)
		}
		out = append(out, pivot)
	}
	for _, r := range out {
		for j, v := range r {
			if math.Abs(v) < 1e-6 {
				r[j] = 0
			}
		}
	}
	return out
}

// cutAt splits ascending eigenvalues by a share of the largest.
func cutAt(values []float64, share float64) (in, gone []int) {
	top := values[len(values)-1]
	for i, v := range values {
		if v > share*top {
			in = append(in, i)
		} else {
			gone = append(gone, i)
		}
	}
	return in, gone
}

func take(m *mat.Dense, cols []int) *mat.Dense {
	rows, _ := m.Dims()
	out := mat.NewDense(rows, len(cols), nil)
	for j, c := range cols {
		for r := range rows {
			out.Set(r, j, m.At(r, c))
		}
	}
	return out
}

func columns(m *mat.Dense, cols []int) [][]float64 {
	var out [][]float64
	for _, c := range cols {
		out = append(out, signed(mat.Col(nil, c, m)))
	}
	return out
}

// signed has a positive largest number, so that equal directions are equal lists.
func signed(v []float64) []float64 {
	var top float64
	for _, x := range v {
		if math.Abs(x) > math.Abs(top) {
			top = x
		}
	}
	if top < 0 {
		scale(v, -1)
	}
	return v
}

// reduce is leftᵀ·row·right, written to out.
func (p *part) reduce(row, out []float64) {
	if p.empty {
		return
	}
	var a, b mat.Dense
	a.Mul(p.left.T(), mat.NewDense(p.k, p.c, row))
	b.Mul(&a, p.right)
	copy(out, b.RawMatrix().Data)
}

// expand is left·y·rightᵀ: the matrix that unknowns after the quotients stand for, in balanced coordinates.
func (p *part) expand(y []float64) *mat.Dense {
	if p.empty {
		return mat.NewDense(p.k, p.c, nil)
	}
	_, k := p.left.Dims()
	_, c := p.right.Dims()
	var a, b mat.Dense
	a.Mul(p.left, mat.NewDense(k, c, append([]float64(nil), y...)))
	b.Mul(&a, p.right.T())
	return &b
}

// direction is a change of an input: the places that move, and by how much.
type direction struct {
	at []int
	by []float64
}

// moved is numbers of the input that a part moves: each unknown of it is a vector field.
type moved interface {
	// sizes writes for each number that moves what a change of it is measured by.
	sizes(out []float64)
	// row has the change of the answer along each field, for one gradient. Fields of one half differ from those of the
	// other
	// where they are no more exact than that.
	row(x, gradient, out []float64, half int)
	// measure adds to the metric and the gradients of a part what a derivative says, one row for each probe in two
	// halves.
	measure(p *part, x []float64, gradients [2][][]float64)
	// fields are the changes that the unknowns make.
	fields(x []float64, half int) []direction
	// drawn are changes that have nothing to do with the function, and judge takes the slopes along them for what
	// measure
	// takes from a gradient, for there may be too many numbers to ask for that.
	drawn(x []float64, r *rand.Rand) []direction
	judge(p *part, slopes [2][][]float64)
}

// linear is a block of the input in balanced coordinates z = (x - middle)/size: those of a size near one.
type linear struct {
	block        Block
	affine       bool
	middle, size []float64
}

func newLinear(b Block, x [][]float64, affine bool) *part {
	k := len(b.Points[0])
	l := &linear{block: b, affine: affine, middle: make([]float64, k), size: make([]float64, k)}
	n := float64(len(x) * len(b.Points))
	if affine {
		for _, row := range x {
			for _, p := range b.Points {
				for c, j := range p {
					l.middle[c] += row[j] / n
				}
			}
		}
	}
	var all float64
	for _, row := range x {
		for _, p := range b.Points {
			for c, j := range p {
				d := row[j] - l.middle[c]
				l.size[c] += d * d / n
			}
		}
	}
	for _, s := range l.size {
		all = max(all, s)
	}
	if !(all > 0) {
		all = 1
	}
	for c, s := range l.size {
		if s > 1e-12*all {
			l.size[c] = math.Sqrt(s)
		} else {
			l.size[c] = math.Sqrt(all) // a coordinate that does not vary
		}
	}
	still := make([]Still, 0, k)
	for c := range k {
		first, same := x[0][b.Points[0][c]], true
		for _, row := range x {
			for _, p := range b.Points {
				same = same && math.Abs(row[p[c]]-first) <= 1e-12*math.Abs(first)
			}
		}
		if same {
			still = append(still, Still{Block: b.Name, Coordinate: c, Value: first})
		}
	}
	p := &part{
		name: b.Name, k: k, c: k, moved: l, still: still, raw: l.raw, space: k, affine: affine,
		middle: l.middle, unit: l.size,
	}
	if affine {
		p.c++
	}
	p.homogeneous()
	p.gradient, p.apart = newSym(k), newSym(k)
	return p
}

// point is z of a point, with the constant 1 last if shifts are asked.
func (l *linear) point(x []float64, p []int) []float64 {
	z := make([]float64, len(p), len(p)+1)
	for c, j := range p {
		z[c] = (x[j] - l.middle[c]) / l.size[c]
	}
	if l.affine {
		z = append(z, 1)
	}
	return z
}

// raw is a matrix in the coordinates of the input: S·A·S⁻¹, and the shift S·a - S·A·S⁻¹·middle.
func (l *linear) raw(a *mat.Dense) [][]float64 {
	k := len(l.size)
	out := make([][]float64, k)
	for r := range out {
		var shift float64
		if l.affine {
			shift = l.size[r] * a.At(r, k)
		}
		for c := range k {
			v := l.size[r] * a.At(r, c) / l.size[c]
			out[r] = append(out[r], v)
			shift -= float64(v * l.middle[c])
		}
		if l.affine {
			out[r] = append(out[r], shift)
		}
	}
	return out
}

// newAnswers is the part of the answers: B and the shift b.
func newAnswers(o *outputs) *part {
	q := o.size()
	p := &part{name: "answers", k: q, c: q + 1, raw: o.raw}
	p.homogeneous()
	for _, y := range o.y {
		p.object()
		p.weigh(1, append(y[:q:q], 1))
	}
	p.mean()
	return p
}

// raw is B in the coordinates of the answers, with the shift last.
func (o *outputs) raw(b *mat.Dense) [][]float64 {
	q := o.size()
	var left, full mat.Dense
	left.Mul(o.back, b.Slice(0, q, 0, q))
	full.Mul(&left, o.w)
	m := len(o.mean)
	out := make([][]float64, m)
	for r := range out {
		var shift float64
		for a := range q {
			shift += float64(o.back.At(r, a) * b.At(a, q))
		}
		for c := range m {
			v := full.At(r, c)
			out[r] = append(out[r], v)
			shift -= float64(v * o.mean[c])
		}
		out[r] = append(out[r], shift)
	}
	return out
}

func (l *linear) sizes(out []float64) {
	for _, p := range l.block.Points {
		for r, j := range p {
			out[j] = l.size[r]
		}
	}
}

func (l *linear) row(x, gradient, out []float64, _ int) {
	clear(out)
	for _, p := range l.block.Points {
		z := l.point(x, p)
		for r, j := range p {
			axpy(out[r*len(z):(r+1)*len(z)], gradient[j]*l.size[r], z)
		}
	}
}

func (l *linear) single() bool { return len(l.block.Points) == 1 }

func (l *linear) slope(gradient []float64) []float64 {
	out := make([]float64, len(l.size))
	for r, j := range l.block.Points[0] {
		out[r] = gradient[j] * l.size[r]
	}
	return out
}

func (l *linear) place(x []float64) []float64 { return l.point(x, l.block.Points[0]) }

func (l *linear) measure(p *part, x []float64, gradients [2][][]float64) {
	g, d := make([]float64, p.k), make([]float64, p.k)
	for _, at := range l.block.Points {
		var size float64
		for w := range gradients[0] {
			for r, j := range at {
				g[r] = float64(gradients[0][w][j] * l.size[r])
				d[r] = g[r] - float64(gradients[1][w][j]*l.size[r])
			}
			size += dot(g, g)
			add(p.gradient, 1, g)
			add(p.apart, 1, d)
		}
		p.weigh(size/float64(p.k), l.point(x, at))
	}
}

func (l *linear) fields(x []float64, _ int) []direction {
	return l.along(x, func(int) float64 { return 1 }, l.affine)
}

// along is the fields, each point with a factor.
func (l *linear) along(x []float64, factor func(p int) float64, constant bool) []direction {
	k := len(l.size)
	var out []direction
	for r := range k {
		c := k
		if constant {
			c++
		}
		fields := make([]direction, c)
		for i, p := range l.block.Points {
			z := append(l.point(x, p)[:k:k], 1)
			for s := range fields {
				fields[s].at = append(fields[s].at, p[r])
				fields[s].by = append(fields[s].by, l.size[r]*z[s]*factor(i))
			}
		}
		out = append(out, fields...)
	}
	return out
}

// draws is how many random changes stand for all.
const draws = 4

func (l *linear) drawn(x []float64, r *rand.Rand) []direction {
	var out []direction
	for range draws {
		f := make([]float64, len(l.block.Points))
		for i := range f {
			f[i] = r.NormFloat64()
		}
		out = append(out, l.along(x, func(p int) float64 { return f[p] }, true)...)
	}
	return out
}

// judge: the mean of (J·εu)(J·εv) over random ε of each point is the sum over points of (J_p u)(J_p v).
func (l *linear) judge(p *part, slopes [2][][]float64) {
	k, c := p.k, p.k+1
	probes := len(slopes[0][0])
	z, g, d := make([]float64, c), make([]float64, k), make([]float64, k)
	for draw := range draws {
		at := func(half, r, s, w int) float64 { return slopes[half][(draw*k+r)*c+s][w] }
		for w := range probes {
			for r := range k {
				for s := range c {
					z[s] = at(0, r, s, w)
				}
				p.weigh(1/float64(k*draws), z[:p.c])
				g[r], d[r] = z[k], z[k]-at(1, r, k, w)
			}
			add(p.gradient, 1./draws, g)
			add(p.apart, 1./draws, d)
		}
	}
}

package layers

import (
	"math"
	"slices"

	"nero/symmetry/feature"
	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// fitted is how numbers along an axis move that are irreps in a basis of their own, such as harmonics in another order
// or with other signs: a matrix for each element that was visited.
type fitted struct {
	terms    irreps.Irreps
	parity   bool
	elements []group.Element
	matrices [][]float64
	// off is what they leave on samples held out, over what varies there.
	off float64
}

// String is the irreps.
func (f *fitted) String() string { return spell(f.terms, f.parity) + " in another basis" }

// orthogonal tells that the matrices keep lengths.
func (f *fitted) orthogonal() bool {
	for _, d := range f.matrices {
		n := int(math.Round(math.Sqrt(float64(len(d)))))
		for i := range n {
			for j := range n {
				v := dot(d[i*n:(i+1)*n], d[j*n:(j+1)*n])
				if i == j {
					v--
				}
				if !(math.Abs(v) <= traceOff) {
					return false
				}
			}
		}
	}
	return true
}

// mostFitted bounds the numbers along an axis that matrices are fitted to.
const mostFitted = 64

// fourth is which of the samples are held out.
const fourth = 4

// Limits of a fit, which explains more than matrices that are given, so that more is asked of it: what may be off on
// samples held out, as a share of what varies there; of traces and of multiplicities, which are whole numbers.
const (
	fitOff   = 1e-5
	traceOff = 1e-3
	wholeOff = 1e-2
)

// refitted finds irreps in a basis of their own: a matrix D(g) for each element by least squares over three quarters of
// the samples, held against the others; multiplicities by projection of the traces of D, of its powers and of products
// D(g)D(h), onto the characters of the rotations, and onto those of elements that mirror for the parities. Two
// representations of a compact group with the same character differ by a basis alone. It is nil where the samples do
// not fill the space, or anything is off.
func (p *points) refitted(shape []int, sets [][]int, e evidence) *motion {
	if p.dim != 3 || e.constant || !p.turns(e) {
		return nil
	}
	for _, s := range sets {
		for a, d := range slices.Backward(shape) {
			if slices.Contains(s, a) || d < 2 || d > mostFitted {
				continue
			}
			v := p.axisOf(shape, s, a, e, irreps.PolarY)
			if v == nil {
				return nil
			}
			if f := p.fit(v, e); f != nil {
				return &motion{shape: shape, rows: s, parts: []component{{axis: a, fold: 1, fitted: f}}}
			}
		}
	}
	return nil
}

// word is a product of elements: what it does to space, and the product of their fitted matrices.
type word struct {
	r        [9]float64
	improper bool
	d        []float64
}

// times is a product.
func (w word) times(o word, n int) word {
	out := word{improper: w.improper != o.improper, d: make([]float64, n*n)}
	square(out.r[:], w.r[:], o.r[:], 3)
	square(out.d, w.d, o.d, n)
	return out
}

// square writes a product of n×n matrices.
func square(to, a, b []float64, n int) {
	clear(to)
	for i := range n {
		for k := range n {
			for j := range n {
				to[i*n+j] += float64(a[i*n+k] * b[k*n+j])
			}
		}
	}
}

// fit is what [points.refitted] finds along one axis.
func (p *points) fit(v *axis, e evidence) *fitted {
	n := v.length
	var objects []int
	for _, q := range e.pairs {
		if !slices.Contains(objects, q.Object) {
			objects = append(objects, q.Object)
		}
	}
	if len(objects) < fourth {
		return nil
	}
	f := &fitted{parity: v.mirrors}
	var words []word
	for at, q := range e.pairs {
		same := func(g group.Element) bool { return p.group.Dist(g, q.G) <= group.Tolerance }
		if slices.ContainsFunc(f.elements, same) {
			continue
		}
		var mine []int
		for k := at; k < len(e.pairs); k++ {
			if same(e.pairs[k].G) {
				mine = append(mine, k)
			}
		}
		d, off := v.matrix(mine, func(k int) bool { return (slices.Index(objects, e.pairs[k].Object)+1)%fourth != 0 })
		if d == nil {
			return nil
		}
		r, improper, ok := p.turn(q.G)
		if !ok {
			return nil
		}
		f.off = max(f.off, off)
		f.elements, f.matrices = append(f.elements, slices.Clone(q.G)), append(f.matrices, d)
		words = append(words, word{r: r, improper: improper, d: d})
	}
	if f.terms = decomposed(longer(words, n), n); f.terms == nil {
		return nil
	}
	return f
}

// matrix is fitted to the lines of some pairs, those that use chooses, with what it leaves of the others; nil where
// these do not fill the space, or where the others are not explained.
func (v *axis) matrix(pairs []int, use func(k int) bool) (d []float64, left float64) {
	n := v.length
	gram, cross := make([]float64, n*n), make([]float64, n*n) // Σ x xᵀ, Σ x yᵀ
	each := func(chosen bool, do func(x, y []float64)) {
		x, y := make([]float64, n), make([]float64, n)
		for _, k := range pairs {
			if use(k) != chosen {
				continue
			}
			for _, line := range v.lines {
				for i := range n {
					x[i], y[i] = v.x[k][line+i*v.inner], v.y[k][line+i*v.inner]
				}
				do(x, y)
			}
		}
	}
	each(true, func(x, y []float64) {
		for i, a := range x {
			for j := range n {
				gram[i*n+j] += float64(a * x[j])
				cross[i*n+j] += float64(a * y[j])
			}
		}
	})
	if !solve(gram, cross, n, n) {
		return nil, 0
	}
	d = make([]float64, n*n)
	for i := range n {
		for j := range n {
			d[j*n+i] = cross[i*n+j]
		}
	}
	mean, count := make([]float64, n), 0.0
	each(false, func(x, _ []float64) {
		count++
		for i, a := range x {
			mean[i] += a
		}
	})
	var off, spread, all float64
	each(false, func(x, y []float64) {
		for i := range n {
			u := y[i] - dot(d[i*n:(i+1)*n], x)
			c := x[i] - mean[i]/count
			off, spread, all = off+float64(u*u), spread+float64(c*c), all+float64(x[i]*x[i])
		}
	})
	s := float64(fitOff*math.Sqrt(spread)) + float64(1e-7*math.Sqrt(all))
	if !(off <= s*s) || count == 0 {
		return nil, 0
	}
	return d, math.Sqrt(off / spread)
}

// solve writes the solution X of A X = B over B, by Cholesky; A is symmetric, n×n, and overwritten, B is n×m. It is
// false where A is not positive beyond rounding.
func solve(a, b []float64, n, m int) bool {
	const least = 1e-10
	diagonal := make([]float64, n)
	for j := range n {
		diagonal[j] = a[j*n+j]
	}
	for j := range n {
		for k := range j + 1 {
			v := a[j*n+k]
			for i := range k {
				v -= float64(a[j*n+i] * a[k*n+i])
			}
			switch {
			case j != k:
				a[j*n+k] = v / a[k*n+k]
			case !(v > least*diagonal[j]):
				return false
			default:
				a[j*n+j] = math.Sqrt(v)
			}
		}
	}
	for c := range m {
		for j := range n {
			v := b[j*m+c]
			for k := range j {
				v -= float64(a[j*n+k] * b[k*m+c])
			}
			b[j*m+c] = v / a[j*n+j]
		}
		for j := n - 1; j >= 0; j-- {
			v := b[j*m+c]
			for k := j + 1; k < n; k++ {
				v -= float64(a[k*n+j] * b[k*m+c])
			}
			b[j*m+c] = v / a[j*n+j]
		}
	}
	return true
}

// longer are words, their powers, and products of one with powers of another: enough for as many angles as there are
// degrees, also where one element alone mirrors.
func longer(words []word, n int) []word {
	out := slices.Clone(words)
	for i, w := range words {
		power := w
		for range 2 * irreps.MaxL {
			for j, o := range words {
				if i != j {
					out = append(out, power.times(o, n))
				}
			}
			power = power.times(w, n)
			out = append(out, power)
		}
	}
	return out
}

// characters are the traces of the irreps of degree 0 to top of a rotation: 1 + 2 Σ cos mθ.
func characters(r *[9]float64, top int) []float64 {
	cos := (r[0] + r[4] + r[8] - 1) / 2
	out := make([]float64, top+1)
	sum, low, c := 1.0, 1.0, cos
	out[0] = 1
	for l := 1; l <= top; l++ {
		sum += 2 * c
		out[l] = sum
		low, c = c, float64(2*cos*c)-low
	}
	return out
}

// decomposed are the irreps whose characters are the traces of words; nil if no whole numbers of them are, or several.
func decomposed(words []word, n int) irreps.Irreps {
	top := min(irreps.MaxL, (n-1)/2)
	project := func(improper bool) (counts []int, ok, seen bool) {
		k := top + 1
		a, b := make([]float64, k*k), make([]float64, k)
		var rows [][]float64
		var traces []float64
		for _, w := range words {
			if w.improper != improper {
				continue
			}
			var trace float64
			for i := range n {
				trace += w.d[i*n+i]
			}
			c := characters(&w.r, top)
			rows, traces = append(rows, c), append(traces, trace)
			for i, u := range c {
				for j, v := range c {
					a[i*k+j] += float64(u * v)
				}
				b[i] += float64(u * trace)
			}
		}
		if len(rows) == 0 {
			return nil, true, false
		}
		if len(rows) < 2*k || !solve(a, b, k, 1) {
			return nil, false, true
		}
		for _, v := range b {
			if !(math.Abs(v-math.Round(v)) <= wholeOff) {
				return nil, false, true
			}
			counts = append(counts, int(math.Round(v)))
		}
		for i, c := range rows {
			var v float64
			for l, m := range counts {
				v += float64(float64(m) * c[l])
			}
			if !(math.Abs(v-traces[i]) <= traceOff) {
				return nil, false, true
			}
		}
		return counts, true, true
	}
	all, ok, seen := project(false)
	if !ok || !seen {
		return nil
	}
	signed, ok, mirrors := project(true)
	if !ok {
		return nil
	}
	var ir irreps.Irreps
	size, turns := 0, false
	for l, m := range all {
		even, odd := m, 0
		if mirrors {
			even, odd = (m+signed[l])/2, (m-signed[l])/2
		} else if l%2 == 1 {
			even, odd = 0, m
		}
		if m < 0 || even < 0 || odd < 0 || even+odd != m {
			return nil
		}
		if even > 0 {
			ir = append(ir, irreps.Term{Mul: even, L: l})
		}
		if odd > 0 {
			ir = append(ir, irreps.Term{Mul: odd, L: l, Odd: true})
		}
		size += m * (2*l + 1)
		turns = turns || l > 0 && m > 0 || odd > 0
	}
	if size != n || !turns {
		return nil
	}
	return ir
}

// by moves the numbers along an axis by fitted matrices.
func (p *points) by(f *fitted, shape []int, axis int, g group.Element, x []float64) ([]float64, error) {
	if p.group.Dist(g, p.group.Identity()) <= group.Tolerance {
		return x, nil
	}
	k := slices.IndexFunc(f.elements, func(h group.Element) bool { return p.group.Dist(g, h) <= group.Tolerance })
	if k < 0 {
		return nil, feature.ErrElement
	}
	outer, n, inner := around(shape, axis)
	out := make([]float64, len(x))
	for o := range outer {
		for i := range n {
			for j, w := range f.matrices[k][i*n : (i+1)*n] {
				for c := range inner {
					out[(o*n+i)*inner+c] += float64(w * x[(o*n+j)*inner+c])
				}
			}
		}
	}
	return out, nil
}

// fitting is what fitted matrices leave, at most, of the values of a cut: nothing can be said below that.
func (p *points) fitting(c *cut) float64 {
	var off float64
	for _, v := range c.live {
		for _, m := range []*motion{p.motions[v], p.flat[v]} {
			if m == nil {
				continue
			}
			for _, part := range m.parts {
				if part.fitted != nil {
					off = max(off, part.fitted.off)
				}
			}
		}
	}
	return off
}

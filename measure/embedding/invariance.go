package embedding

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"nero/internal/elementary"

	"gonum.org/v1/gonum/mat"
)

// LeastRank is the effective rank below which features hold so little that how far they go says nothing. One direction
// that holds all has 1, and two have 2 only where they hold as much to the last digit: a plane that turns would seem to
// have collapsed.
const LeastRank = 1.5

// rounding is how far apart two objects are at least, in the size of features, for it to be more than what float32 may
// leave of one and the same: 16 units in the last place.
const rounding = 1e-6

// mostPairs is how many pairs of objects say how far apart objects are.
const mostPairs = 100_000

// Invariance is how far features stay where they are.
type Invariance struct {
	// Rank is the effective rank of the features at the identity: e to the entropy of the shares of variance of their
	// principal directions (Roy and Vetterli, EUSIPCO 2007, of the covariance). 1: one direction holds all; the width
	// of the features at most.
	Rank Estimate
	// Dead is how many units are the same for every sample at every element.
	Dead int
	// Why says why the features have collapsed, "" where they have not: an effective rank below [LeastRank], or objects
	// that only rounding tells apart.
	Why string
	// Apart is the mean distance of the features of two objects at the identity, in the unit of the features; Pairs is
	// how many pairs of samples it is a mean of, all or a seeded choice.
	Apart float64
	Pairs int
	// By is what each element does, the identity among them.
	By []Transformation
}

// Transformation is what an element does to features.
type Transformation struct {
	// Ratio is E‖φ(gx) - φ(x)‖ / E‖φ(x') - φ(x)‖, x' another object: 0 where features stay, about 1 where nothing is
	// left of the object. It has no unit.
	Ratio Estimate
	// Worst is the sample whose features go furthest, WorstRatio how far.
	Worst      int
	WorstRatio float64
	// Cosine is the mean cosine between φ(gx) and φ(x), both less the mean of all features; Undefined is how many
	// samples have none because one of them is that mean.
	Cosine    Estimate
	Undefined int
	// Diagonal is the mean correlation of a unit with itself before and after over samples, OffDiagonal the mean square
	// of that of two units (Zbontar et al., Barlow Twins, ICML 2021), less what so few objects make of it by chance,
	// so that it is about 0, and may be below, where units have nothing to do with each other. They are undefined if
	// fewer than one unit, or two, vary.
	Diagonal, OffDiagonal Estimate
}

// Invariance compares the features at each element with those at the identity.
func (o *Orbits) Invariance(opt Options) (*Invariance, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	out := &Invariance{Dead: len(o.dead())}
	if out.Dead == o.Width() {
		return nil, ErrConstant
	}
	var err error
	groups := objects(o.Object)
	if out.Rank, err = o.effectiveRank(groups, opt); err != nil {
		return nil, err
	}
	h, b, pairs := o.between(groups, opt.Seed)
	out.Apart, out.Pairs = b, pairs
	n, _ := o.Still().Dims()
	size := math.Sqrt(squares(o.Still().RawMatrix().Data) / float64(n))
	switch {
	case !(b > rounding*size):
		out.Why = fmt.Sprintf("two objects are %.1g of the size of the features apart, which is what rounding to "+
			"float32 leaves (if they hold more digits, take their mean off)", b/size)
	case !(out.Rank.Value >= LeastRank*(1-1e-9)):
		out.Why = fmt.Sprintf("the effective rank is below %g", LeastRank)
	}
	centre := mean(o.At...)
	still := less(o.Still(), centre)
	for k := range o.At {
		out.By = append(out.By, o.transformation(k, groups, h, b, still, centre, opt))
	}
	return out, nil
}

// dead are the units that never vary.
func (o *Orbits) dead() []int {
	var out []int
	for j := range o.Width() {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, at := range o.At {
			n, _ := at.Dims()
			for i := range n {
				x := at.At(i, j)
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		if !(hi-lo > 1e-12*max(math.Abs(lo), math.Abs(hi))) {
			out = append(out, j)
		}
	}
	return out
}

// effectiveRank is that of the features at the identity. Its interval resamples the influence of each object: the
// entropy H of shares p moves by -Σ ln(p_i)(z_i² - λ_i)/Σλ where an object with the coordinates z comes in.
func (o *Orbits) effectiveRank(groups [][]int, opt Options) (Estimate, error) {
	x := less(o.Still(), mean(o.Still()))
	n, d := x.Dims()
	var s mat.SymDense
	if d <= n {
		s.SymOuterK(1/float64(n), x.T())
	} else {
		s.SymOuterK(1/float64(n), x)
	}
	values, vectors, err := symmetric(&s)
	if err != nil {
		return Estimate{}, err
	}
	total, top := 0.0, values[len(values)-1]
	for _, v := range values {
		if v > 1e-12*top {
			total += v
		}
	}
	if !(total > 0) {
		return Estimate{}, ErrConstant
	}
	var coordinates mat.Dense // of samples along the principal directions
	if d <= n {
		coordinates.Mul(x, vectors)
	}
	entropy, influence := 0.0, make([]float64, n)
	for k, v := range values {
		if !(v > 1e-12*top) {
			continue
		}
		log := elementary.Log(v / total)
		entropy -= float64(v / total * log)
		for i := range n {
			z := 0.0
			if d <= n {
				z = coordinates.At(i, k)
			} else {
				z = vectors.At(i, k) * math.Sqrt(v*float64(n))
			}
			influence[i] -= float64(log*(float64(z*z)-v)) / total
		}
	}
	by := make([]float64, len(groups))
	for k, rows := range groups {
		for _, i := range rows {
			by[k] += influence[i] / float64(n)
		}
	}
	return opt.estimate(len(groups), streamRank, func(count []int) float64 {
		h, objects := entropy, 0
		for _, c := range count {
			objects += c
		}
		for k, c := range count { // what objects weigh has the sum of their number, also where one is left out
			h += float64(float64(c) * by[k] * float64(len(count)) / float64(objects))
		}
		return min(max(elementary.Exp(h), 1), float64(d))
	}), nil
}

// between is, for each object, its mean distance from the features of other objects, and the mean over all pairs. No
// sample is paired with one of its own object, least of all with itself.
func (o *Orbits) between(groups [][]int, seed uint64) (by []float64, all float64, pairs int) {
	of := make([]int, len(o.Object))
	for k, rows := range groups {
		for _, i := range rows {
			of[i] = k
		}
	}
	sum, weight := make([]float64, len(groups)), make([]float64, len(groups))
	total := 0.0
	ofTwo(of, seed, func(i, j int) {
		d := far(o.Still().RawRowView(i), o.Still().RawRowView(j))
		total += d
		pairs++
		for _, k := range []int{of[i], of[j]} {
			sum[k] += d
			weight[k]++
		}
	})
	for k := range sum {
		if weight[k] > 0 {
			sum[k] /= weight[k]
		}
	}
	return sum, total / float64(pairs), pairs
}

// ofTwo calls add for each pair of rows of two objects, where there are many for a seeded choice of [mostPairs]. There
// have to be two objects.
func ofTwo(object []int, seed uint64, add func(i, j int)) {
	n := len(object)
	if n*(n-1)/2 <= mostPairs {
		for i := range n {
			for j := range i {
				if object[i] != object[j] {
					add(i, j)
				}
			}
		}
		return
	}
	r := rand.New(rand.NewPCG(seed, streamPairs))
	for m := range mostPairs { // each row in turn, so that every object has partners
		i, j := m%n, r.IntN(n)
		for object[j] == object[i] {
			j = r.IntN(n)
		}
		add(i, j)
	}
}

// transformation compares the features at an element with those at the identity.
func (o *Orbits) transformation(k int, groups [][]int, h []float64, b float64, still *mat.Dense, centre []float64,
	opt Options,
) Transformation {
	var t Transformation
	at := o.At[k]
	moved := less(at, centre)
	n, _ := at.Dims()
	step, cos := make([]float64, n), make([]float64, n)
	for i := range n {
		step[i] = far(at.RawRowView(i), o.Still().RawRowView(i))
		x, y := still.RawRowView(i), moved.RawRowView(i)
		if cos[i] = dot(x, y) / math.Sqrt(float64(squares(x)*squares(y))); math.IsNaN(cos[i]) {
			t.Undefined++
		}
	}
	for i, x := range step {
		if x > step[t.Worst] {
			t.Worst = i
		}
	}
	t.WorstRatio = step[t.Worst] / b
	top, c, m := make([]float64, len(groups)), make([]float64, len(groups)), make([]float64, len(groups))
	for g, rows := range groups {
		for _, i := range rows {
			top[g] += step[i] / float64(len(rows))
			if !math.IsNaN(cos[i]) {
				c[g] += cos[i]
				m[g]++
			}
		}
	}
	// The mean distance of a resample of objects, by its linear part in each object (Hoeffding 1948): b + 2 Σ (h -
	// b)/n. It is not negative, for the triangle inequality has b ≤ 2h.
	t.Ratio = opt.estimate(len(groups), streamRatio, func(count []int) float64 {
		a, hs, w := 0.0, 0.0, 0.0
		for g, times := range count {
			a += float64(float64(times) * top[g])
			hs += float64(float64(times) * (h[g] - b))
			w += float64(times)
		}
		return (a / w) / (b + 2*hs/w)
	})
	t.Cosine = opt.quotient(c, m, streamCosine)
	t.Diagonal, t.OffDiagonal = correlations(still, moved, groups, opt)
	return t
}

// Nearer compares how far an element takes features with how far those of two objects are apart, each as it is and
// moved, as [Given.Compare] does. Of features that never vary nothing is defined.
func (o *Orbits) Nearer(element int, opt Options) (Nearness, error) {
	n := len(o.Object)
	thing, pairs := make([]int, 2*n), make([]Pair, n)
	for k, rows := range objects(o.Object) {
		for _, i := range rows {
			thing[i], thing[n+i], pairs[i] = k, k, Pair{A: i, B: n + i, Steps: 1}
		}
	}
	g, err := NewGiven(Stack(o.Still(), o.At[element]), thing, opt)
	if errors.Is(err, ErrConstant) {
		return (&Given{opt: opt}).Compare(nil), nil
	}
	if err != nil {
		return Nearness{}, err
	}
	return g.Compare(pairs), nil
}

// correlations are the mean correlation of units with themselves before and after, and the mean square of that between
// units. Units that do not vary on either side are left out. Intervals resample the influence of each object: of a
// correlation r of standardised u and v that is uv - r(u² + v²)/2 (Devlin, Gnanadesikan and Kettenring 1975).
func correlations(before, after *mat.Dense, groups [][]int, opt Options) (diagonal, off Estimate) {
	x, y := standard(before), standard(after)
	n, d := x.Dims()
	own, units := make([]float64, d), 0
	trace, squared := 0.0, 0.0
	for j := range d {
		vx, vy := 0.0, 0.0
		for i := range n {
			a, b := x.At(i, j), y.At(i, j)
			own[j] += float64(a * b)
			vx, vy = vx+float64(a*a), vy+float64(b*b)
		}
		if !(vx > 0) || !(vy > 0) {
			own[j] = 0
			for i := range n {
				x.Set(i, j, 0)
				y.Set(i, j, 0)
			}
			continue
		}
		trace, units = trace+own[j], units+1
		squared += float64(own[j] * own[j])
	}
	if units == 0 {
		return opt.undefined(), opt.undefined()
	}
	c := cross(x, y)
	one, two := make([]float64, len(groups)), make([]float64, len(groups))
	size, clumps := make([]float64, len(groups)), 0.0
	for g, rows := range groups {
		for _, i := range rows {
			p, q := x.RawRowView(i), y.RawRowView(i)
			two[g] += c.by[i]
			for j := range d {
				a, b := float64(p[j]*p[j]), float64(q[j]*q[j])
				s := float64(p[j]*q[j]) - float64(own[j]/2*(a+b))
				one[g] += s
				two[g] -= float64(own[j]*s) + float64(c.rows[j]/2*a) + float64(c.columns[j]/2*b)
			}
		}
		size[g] = float64(len(rows))
		clumps += float64(size[g] * size[g])
	}
	pairs := float64(units) * float64(units-1)
	for g := range groups {
		one[g] /= float64(units)
		two[g] *= 2 / pairs
	}
	diagonal = opt.moved(trace/float64(units), one, size, streamUnits)
	if units < 2 {
		return diagonal, opt.undefined()
	}
	// Of n independent draws, r² is on average (1 - ρ²)/(n - 2) above ρ² (Ezekiel 1930); draws of one object are one.
	mean, draws := max(c.total-squared, 0)/pairs, float64(n*n)/clumps
	return diagonal, opt.moved(mean-(1-mean)/(draws-2), two, size, streamUnits)
}

// crossed is what the squares of all correlations C = XᵀY of standardised units add up to.
type crossed struct {
	// of all, and of each row and column
	total         float64
	rows, columns []float64
	// Σ C_jk x_ij y_ik of each sample i
	by []float64
}

// cross goes through as many products as there are units or samples, whichever are fewer: ‖XᵀY‖² = tr(XXᵀ YYᵀ).
func cross(x, y *mat.Dense) crossed {
	n, d := x.Dims()
	out := crossed{rows: make([]float64, d), columns: make([]float64, d), by: make([]float64, n)}
	if d <= n {
		var c, xc mat.Dense
		c.Mul(x.T(), y)
		xc.Mul(x, &c)
		for j := range d {
			for k, v := range c.RawRowView(j) {
				out.rows[j] += float64(v * v)
				out.columns[k] += float64(v * v)
			}
			out.total += out.rows[j]
		}
		for i := range n {
			out.by[i] = dot(xc.RawRowView(i), y.RawRowView(i))
		}
		return out
	}
	var kx, ky mat.SymDense
	kx.SymOuterK(1, x)
	ky.SymOuterK(1, y)
	var a, b mat.Dense
	a.Mul(&ky, x)
	b.Mul(&kx, y)
	for i := range n {
		for j := range n {
			out.by[i] += float64(kx.At(i, j) * ky.At(i, j))
		}
		out.total += out.by[i]
		for j := range d {
			out.rows[j] += float64(x.At(i, j) * a.At(i, j))
			out.columns[j] += float64(y.At(i, j) * b.At(i, j))
		}
	}
	return out
}

// standard is a table whose columns have mean 0 and length 1, or 0 where one does not vary.
func standard(t *mat.Dense) *mat.Dense {
	out := less(t, mean(t))
	n, d := out.Dims()
	for j := range d {
		s, size := 0.0, 0.0
		for i := range n {
			s += float64(out.At(i, j) * out.At(i, j))
			size += float64(t.At(i, j) * t.At(i, j))
		}
		f := 0.0
		if s > 1e-24*size {
			f = 1 / math.Sqrt(s)
		}
		for i := range n {
			out.Set(i, j, out.At(i, j)*f)
		}
	}
	return out
}

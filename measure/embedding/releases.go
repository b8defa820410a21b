package embedding

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"nero/internal/elementary"
	"nero/measure/aggregate"

	"gonum.org/v1/gonum/mat"
)

// Release is the features of one set of samples by two releases of an encoder.
type Release struct {
	Old, New *mat.Dense
	// AsIs are the new features in the place of the old ones, without a map: New, or the same in the unit and along the
	// axes of Old. Nil where they cannot be, as those of another width.
	AsIs *mat.Dense
	// Times is by what New is multiplied to be in the unit of Old, 0 for 1: where one is so much larger that no unit
	// holds the squares of both. It may be infinite.
	Times  float64
	Object []int
}

// pairs are the features of the new release before those of the old one: an adapter takes new ones to where the index
// of the old release has them.
func (r Release) pairs() Pairs { return Pairs{r.New, r.Old, r.Object} }

// times is [Release.Times] as far as squares of it are numbers.
func (r Release) times() float64 {
	const most = 0x1p300
	if r.Times == 0 {
		return 1
	}
	return min(max(r.Times, 1/most), most)
}

// back is the other way round.
func (r Release) back() Pairs { return Pairs{r.Old, r.New, r.Object} }

// Reading is what two releases are to each other.
type Reading string

// The readings.
const (
	// Unmoved says that the features of one are those of the other, as they are.
	Unmoved Reading = "same space, as it is"
	// SameSpace says that a turn takes the features of one to those of the other.
	SameSpace Reading = "same space, turned"
	// Scaled says that a turn and one factor do.
	Scaled Reading = "same space, turned and scaled"
	// Adapter says that only an affine map does: queries go through an adapter that is learned from samples.
	Adapter Reading = "re-train the index adapter"
	// Reembed says that no affine map does: the index has to be made anew.
	Reembed Reading = "re-embed"
)

// Alike is the R² from which on one release explains the other.
const Alike = 0.95

// presetAnchors is how many anchors there are where nobody says.
const presetAnchors = 300

// relativeNeighbors is how many neighbors are compared.
const relativeNeighbors = 10

// Compared is what two releases are to each other. R² are of objects to confirm, maps of those to fit.
type Compared struct {
	// Plain is how much of the old features the new ones explain as they are; nil where [Release.AsIs] is.
	Plain *Estimate
	// Isometry, Similarity and Affine are how much of the old features a turn of the new ones (with mirrors and a
	// shift), a turn with one factor, and an affine map explain; Back is the affine map from old to new.
	Isometry, Similarity, Affine, Back Estimate
	// Factor is that of the similarity, of New as it is.
	Factor float64
	// Spread is the logarithm of the ratio of the extreme singular values of the affine map on the directions that hold
	// 99.99 % of the variance of new features: 0 for a turn.
	Spread float64
	// Curve is the R² of maps that are held near a turn by a penalty.
	Curve []HeldNear
	// CKA is the debiased linear one of the samples to confirm, of N samples and features of Width numbers.
	CKA      Estimate
	N        int
	WidthOld int
	WidthNew int
	// Relative says how alike the places are that samples have among anchors.
	Relative Relative
	// Reading says what it amounts to.
	Reading Reading
	// Adapters are the maps from new to old by the names isometry, similarity and affine.
	Adapters []NamedMap
}

// NamedMap is a map with its name.
type NamedMap struct {
	Name string
	Map  *Map
}

// HeldNear is a map that is held near a turn.
type HeldNear struct {
	// Penalty weighs ‖WᵀW - 1‖²/d against the share of the variance that is not explained.
	Penalty float64
	// R2 is of the samples to confirm.
	R2 Estimate
	// Departure is ‖WᵀW - 1‖/√d of the map, which is fitted.
	Departure float64
}

// Relative compares the cosines of samples to anchors (Moschella et al., ICLR 2023).
type Relative struct {
	// Anchors is how many there are.
	Anchors int
	// Cosine is the mean cosine of the cosines of a sample to all anchors, in both releases.
	Cosine Estimate
	// Jaccard is the mean share of the nearest 10 samples that both have.
	Jaccard Estimate
	// MRR is that of finding a sample by its cosines in the other release.
	MRR Retrieval
}

// Compare asks what two releases of an encoder are to each other.
func Compare(fit, choose, confirm Release, anchors int, opt Options) (*Compared, error) {
	for _, r := range []Release{fit, choose, confirm} {
		if err := r.pairs().check(); err != nil {
			return nil, err
		}
	}
	if anchors == 0 {
		anchors = presetAnchors
	}
	out := &Compared{}
	out.N, out.WidthNew = confirm.New.Dims()
	_, out.WidthOld = confirm.Old.Dims()
	turn, factor, err := procrustes(fit)
	if err != nil {
		return nil, err
	}
	out.Factor = factor
	affine, err := Learn(fit.pairs(), choose.pairs(), true, nil)
	if err != nil {
		return nil, err
	}
	back, err := Learn(fit.back(), choose.back(), true, nil)
	if err != nil {
		return nil, err
	}
	scaled := turned(fit, turn, factor)
	times := fit.times()
	out.Adapters = []NamedMap{{"isometry", turned(fit, turn, times)}, {"similarity", scaled}, {"affine", affine}}
	for k, to := range []*Estimate{&out.Isometry, &out.Similarity, &out.Affine} {
		*to = Explain(out.Adapters[k].Map.Of(confirm.New), confirm.Old, confirm.Object, opt).Overall
	}
	if confirm.AsIs != nil {
		x := Explain(confirm.AsIs, confirm.Old, confirm.Object, opt).Overall
		out.Plain = &x
	}
	out.Back = Explain(back.Of(confirm.Old), confirm.New, confirm.Object, opt).Overall
	out.Spread = spread(fit, affine)
	if out.Curve = []HeldNear{}; times == 1 { // else no map is near a turn
		if out.Curve, err = curve(fit, confirm, turn, opt); err != nil {
			return nil, err
		}
	}
	out.CKA = CKA(confirm, opt)
	out.Relative = relative(fit, confirm, anchors, opt)
	out.read()
	return out, nil
}

// read says what the numbers amount to.
func (c *Compared) read() {
	switch {
	case c.Plain != nil && c.Plain.Value >= Alike:
		c.Reading = Unmoved
	case c.Isometry.Value >= Alike:
		c.Reading = SameSpace
	case c.Similarity.Value >= Alike:
		c.Reading = Scaled
	case c.Affine.Value >= Alike:
		c.Reading = Adapter
	default:
		c.Reading = Reembed
	}
}

// procrustes is the matrix Q with QᵀQ = 1, or QQᵀ = 1 where the new features are wider, for which x -> Qx takes new
// features to old ones best, after their means were taken away, and the factor that is best with it (Schönemann 1966).
func procrustes(r Release) (q *mat.Dense, factor float64, err error) {
	x, y := less(r.New, mean(r.New)), less(r.Old, mean(r.Old))
	var cross mat.Dense
	cross.Mul(y.T(), x)
	var f mat.SVD
	if !f.Factorize(&cross, mat.SVDThin) {
		return nil, 0, errors.New("the turn between two releases was not found")
	}
	var u, v mat.Dense
	f.UTo(&u)
	f.VTo(&v)
	q = &mat.Dense{}
	q.Mul(&u, v.T())
	var image mat.Dense
	image.Mul(x, q.T())
	top, bottom := 0.0, 0.0
	n, _ := image.Dims()
	for i := range n {
		top += dot(image.RawRowView(i), y.RawRowView(i))
		bottom += squares(image.RawRowView(i))
	}
	if !(bottom > 0) {
		return nil, 0, ErrConstant
	}
	return q, top / bottom, nil
}

// turned is the map x -> f Q (x - mean) + mean of the old features.
func turned(r Release, q *mat.Dense, f float64) *Map {
	m := &Map{M: &mat.Dense{}}
	m.M.Scale(f, q)
	from, to := mean(r.New), mean(r.Old)
	m.Shift = make([]float64, len(to))
	for j := range to {
		m.Shift[j] = to[j] - dot(m.M.RawRowView(j), from)
	}
	return m
}

// spread is the logarithm of the ratio of the extreme singular values of a map on the directions that hold nearly all
// of the variance of the new features.
func spread(r Release, m *Map) float64 {
	x := less(r.New, mean(r.New))
	var xx mat.SymDense
	xx.SymOuterK(1, x.T())
	values, vectors, err := symmetric(&xx)
	if err != nil {
		return math.NaN()
	}
	total, held := mat.Trace(&xx), 0.0
	var keep []int
	for k := len(values) - 1; k >= 0 && held < 0.9999*total; k-- {
		keep, held = append(keep, k), held+values[k]
	}
	var on mat.Dense
	on.Mul(m.M, columns(vectors, keep))
	var f mat.SVD
	if !f.Factorize(&on, mat.SVDNone) {
		return math.NaN()
	}
	s := f.Values(nil)
	if !(s[len(s)-1] > 0) {
		return math.Inf(1)
	}
	return elementary.Log(s[0] / s[len(s)-1])
}

// CKA is the linear centred kernel alignment of both releases, with the estimate of HSIC that is right on average for
// any number of samples (Song et al., JMLR 2012); the one that is not says 0.9 of unrelated features where there are
// more of them than samples. Its interval is that of leaving out one object at a time, and Student's t. It is undefined
// for fewer than four samples.
func CKA(r Release, opt Options) Estimate {
	n, _ := r.New.Dims()
	if n < 4 {
		return opt.undefined()
	}
	groups := objects(r.Object)
	x, y := kernel(r.New), kernel(r.Old)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	whole := aligned(x, y, all)
	var values []float64
	for g := range groups {
		var rest []int
		for i, id := range r.Object {
			if id != r.Object[groups[g][0]] {
				rest = append(rest, i)
			}
		}
		if len(rest) < 4 {
			return Estimate{whole, opt.undefined().Interval}
		}
		values = append(values, float64(float64(len(groups))*whole)-float64(float64(len(groups)-1)*aligned(x, y, rest)))
	}
	return Estimate{whole, pseudo(values, opt)}
}

// kernel are the inner products of the rows of a table less their mean.
func kernel(t *mat.Dense) *mat.SymDense {
	k := &mat.SymDense{}
	k.SymOuterK(1, less(t, mean(t)))
	return k
}

// aligned is the debiased CKA of some samples.
func aligned(x, y *mat.SymDense, some []int) float64 {
	return hsic(x, y, some) / math.Sqrt(hsic(x, x, some)*hsic(y, y, some))
}

// hsic is the unbiased estimate of the Hilbert-Schmidt independence criterion.
func hsic(x, y *mat.SymDense, some []int) float64 {
	n := float64(len(some))
	trace, sx, sy, cross := 0.0, 0.0, 0.0, 0.0
	for _, i := range some {
		rx, ry := 0.0, 0.0
		for _, j := range some {
			if i == j {
				continue
			}
			a, b := x.At(i, j), y.At(i, j)
			trace += float64(a * b)
			rx += a
			ry += b
		}
		sx, sy = sx+rx, sy+ry
		cross += float64(rx * ry)
	}
	return (trace + float64(sx*sy)/((n-1)*(n-2)) - float64(2*cross)/(n-2)) / (n * (n - 3))
}

// relative compares places among anchors.
func relative(fit, confirm Release, anchors int, opt Options) Relative {
	at := spreadOut(fit.Old, anchors, opt.Seed)
	a := cosines(confirm.Old, choose(fit.Old, at), mean(fit.Old))
	b := cosines(confirm.New, choose(fit.New, at), mean(fit.New))
	n, _ := a.Dims()
	out := Relative{Anchors: len(at)}
	groups := objects(confirm.Object)
	k := min(relativeNeighbors, n-1)
	cos, jac := make([]float64, len(groups)), make([]float64, len(groups))
	weight := make([]float64, len(groups))
	var places []Place
	views := make([][]float64, n)
	unit := func(t *mat.Dense) *mat.Dense {
		u := mat.DenseCopyOf(t)
		for i := range n {
			row := u.RawRowView(i)
			s := math.Sqrt(squares(row))
			for j := range row {
				row[j] /= s
			}
		}
		return u
	}
	a, b = unit(a), unit(b)
	for i := range n {
		views[i] = b.RawRowView(i)
	}
	never := func(int) bool { return false }
	near := func(t *mat.Dense, i int) map[int]bool {
		found := map[int]bool{}
		for _, j := range nearest(n, k, func(j int) float64 {
			if j == i {
				return math.Inf(1)
			}
			return apart(t.RawRowView(i), t.RawRowView(j))
		}, never) {
			found[j] = true
		}
		return found
	}
	for g, rows := range groups {
		for _, i := range rows {
			cos[g] += dot(a.RawRowView(i), b.RawRowView(i))
			weight[g]++
			p, q := near(a, i), near(b, i)
			both := 0
			for j := range p {
				if q[j] {
					both++
				}
			}
			jac[g] += float64(both) / float64(2*k-both)
		}
	}
	for i := range n {
		places = append(places, Rank(a.RawRowView(i), views, i))
	}
	out.Cosine = opt.quotient(cos, weight, streamRelease)
	out.Jaccard = opt.quotient(jac, weight, streamRelease)
	out.MRR = Retrieve(places, confirm.Object, opt)
	return out
}

// cosines are those of samples to anchors, both less a centre.
func cosines(x, anchors *mat.Dense, centre []float64) *mat.Dense {
	a, b := less(x, centre), less(anchors, centre)
	n, _ := a.Dims()
	m, _ := b.Dims()
	out := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			s := math.Sqrt(float64(squares(a.RawRowView(i)) * squares(b.RawRowView(j))))
			if s > 0 {
				out.Set(i, j, dot(a.RawRowView(i), b.RawRowView(j))/s)
			}
		}
	}
	return out
}

// spreadOut are the rows of a table that are anchors: the first one drawn, each further one with a probability that
// grows with the square of its distance from those that there are (k-means++: Arthur and Vassilvitskii 2007).
func spreadOut(t *mat.Dense, k int, seed uint64) []int {
	n, _ := t.Dims()
	r := rand.New(rand.NewPCG(seed, streamAnchors))
	out := []int{r.IntN(n)}
	far := make([]float64, n)
	for i := range far {
		far[i] = math.Inf(1)
	}
	for len(out) < min(k, n) {
		total := 0.0
		for i := range far {
			far[i] = min(far[i], apart(t.RawRowView(i), t.RawRowView(out[len(out)-1])))
			total += far[i]
		}
		if !(total > 0) { // all others are at the same places
			break
		}
		u, at := r.Float64()*total, -1
		for i, d := range far {
			if d > 0 {
				at = i
				if u -= d; u < 0 {
					break
				}
			}
		}
		out = append(out, at)
	}
	return out
}

// curve fits maps from new to old features that are held near a turn with growing penalties (λ-orthogonality,
// Ricci et al. 2025), each from the one before.
func curve(fit, confirm Release, turn *mat.Dense, opt Options) ([]HeldNear, error) {
	out := []HeldNear{}
	_, d := fit.New.Dims()
	_, e := fit.Old.Dims()
	if d != e || d > MostAxes {
		return out, nil // a turn of all of it is none, or it takes too long
	}
	x, y := less(fit.New, mean(fit.New)), less(fit.Old, mean(fit.Old))
	var g, c mat.Dense
	g.Mul(x.T(), x)
	c.Mul(y.T(), x)
	size := mat.Norm(y, 2)
	if !(size > 0) {
		return nil, ErrConstant
	}
	g.Scale(1/(size*size), &g)
	c.Scale(1/(size*size), &c)
	w := mat.DenseCopyOf(turn)
	for e := 2; e >= -4; e-- {
		penalty := elementary.Pow(10, float64(e))
		w = towards(w, &g, &c, penalty)
		m := turned(fit, w, 1)
		r2 := Explain(m.Of(confirm.New), confirm.Old, confirm.Object, opt).Overall
		_, departure := orthogonality(w)
		out = append(out, HeldNear{penalty, r2, math.Sqrt(departure)})
	}
	return out, nil
}

// orthogonality is WWᵀW - W and ‖WᵀW - 1‖²/d.
func orthogonality(w *mat.Dense) (*mat.Dense, float64) {
	d, _ := w.Dims()
	var p, q mat.Dense
	p.Mul(w.T(), w)
	for i := range d {
		p.Set(i, i, p.At(i, i)-1)
	}
	q.Mul(w, &p)
	n := mat.Norm(&p, 2)
	return &q, n * n / float64(d)
}

// towards lowers tr(W G Wᵀ) - 2 tr(Wᵀ C) + penalty ‖WᵀW - 1‖²/d by steps down the gradient, each as long as those
// before say that the curvature is (Barzilai and Borwein 1988), and never uphill for long.
func towards(start, g, c *mat.Dense, penalty float64) *mat.Dense {
	d, _ := start.Dims()
	value := func(w *mat.Dense) (float64, *mat.Dense) {
		var wg, grad mat.Dense
		wg.Mul(w, g)
		cubic, o := orthogonality(w)
		grad.Sub(&wg, c)
		grad.Scale(2, &grad)
		cubic.Scale(4*penalty/float64(d), cubic)
		grad.Add(&grad, cubic)
		return dot(wg.RawMatrix().Data, w.RawMatrix().Data) -
			float64(2*dot(c.RawMatrix().Data, w.RawMatrix().Data)) + float64(penalty*o), &grad
	}
	w := mat.DenseCopyOf(start)
	f, grad := value(w)
	best, least := w, f
	step := 1 / (float64(2*mat.Norm(g, 2)) + 16*penalty/float64(d))
	for range 300 {
		size := mat.Norm(grad, 2)
		if !(size > 1e-9) {
			break
		}
		next := &mat.Dense{}
		var h float64
		var slope *mat.Dense
		for tries := 0; ; tries++ {
			next.Scale(-step, grad)
			next.Add(w, next)
			h, slope = value(next)
			if h <= f+float64(1e-3*math.Abs(f))+1e-12 || tries == 30 {
				break
			}
			step /= 4
		}
		var dw, dg mat.Dense
		dw.Sub(next, w)
		dg.Sub(slope, grad)
		if s := dot(dw.RawMatrix().Data, dg.RawMatrix().Data); s > 0 {
			step = squares(dw.RawMatrix().Data) / s
		}
		w, f, grad = next, h, slope
		if f < least {
			best, least = w, f
		}
	}
	return best
}

// What is said of recall.
const (
	Compatible = "compatible"
	Worse      = "worse"
	Undecided  = "undecided"
)

// Allowed is how much less a compatible release may find, as a share of the objects: what an interval over objects can
// tell from nothing.
const Allowed = 0.05

// Recall says whether queries by the new release find in the gallery of the old one what queries by the old one find.
type Recall struct {
	// Name is the adapter that new features went through, "none" for none.
	Name string
	// K is among how many of the nearest something right has to be.
	K int
	// New and Old are the shares of objects whose queries found something right.
	New, Old Estimate
	// Difference is New - Old over objects, with Newcombe's interval for pairs; 0 to 0 where the queries are the same
	// number for number.
	Difference Estimate
	// Candidates is how many samples of the gallery there are for each query, Chance the share of queries that find
	// something right by a guess.
	Candidates int
	Chance     float64
	// State is worse where the interval lies below 0, compatible where it lies above -[Allowed] and old queries are
	// shown to find more than a guess, else undecided: what finds nothing loses nothing.
	State string
}

// Recalled compares queries by both releases against one gallery: those of the old release at the identity. A query is
// the features of a sample, right is what has the same label, the sample itself left out; or, without labels, the same
// object where queries are other views than those of the gallery.
type Recalled struct {
	// Gallery are features of the old release.
	Gallery *mat.Dense
	// Key says of each row of the gallery what it shows: a label, or an object.
	Key []int
	// Old and New are the queries, New adapted if that is asked.
	Old, New *mat.Dense
	// Asked says of each query what is right; Self is the row of the gallery that it must not find, -1 for none.
	Asked, Self []int
	// Object says which queries belong to one object.
	Object []int
}

// Recall is recall at k, one outcome for each object: most of its queries found something right.
func (r Recalled) Recall(name string, k int, opt Options) (Recall, error) {
	_, d := r.Gallery.Dims()
	if _, w := r.New.Dims(); w != d {
		return Recall{}, fmt.Errorf("the new release answers features of %d numbers and the gallery has %d: only an "+
			"adapter can ask it", w, d)
	}
	out := Recall{Name: name, K: k}
	n, _ := r.Gallery.Dims()
	out.Candidates = n
	found := func(q *mat.Dense, i int) bool {
		row := q.RawRowView(i)
		for _, j := range nearest(n, k, func(j int) float64 {
			if j == r.Self[i] {
				return math.Inf(1)
			}
			return apart(row, r.Gallery.RawRowView(j))
		}, func(j int) bool { return r.Key[j] == r.Asked[i] }) {
			if j != r.Self[i] && r.Key[j] == r.Asked[i] {
				return true
			}
		}
		return false
	}
	for i, key := range r.Asked {
		out.Chance += r.guess(i, key, k) / float64(len(r.Asked))
	}
	var p aggregate.Pairs
	for _, rows := range objects(r.Object) {
		a, b := 0, 0
		for _, i := range rows {
			if found(r.New, i) {
				a++
			}
			if found(r.Old, i) {
				b++
			}
		}
		p.Add(2*a > len(rows), 2*b > len(rows))
	}
	share := func(found int) Estimate {
		return Estimate{float64(found) / float64(p.N()), aggregate.ClopperPearson(found, p.N(), opt.confidence())}
	}
	out.New, out.Old = share(p.Both+p.First), share(p.Both+p.Second)
	out.Difference.Value, out.Difference.Interval = p.Difference(opt.confidence())
	if mat.Equal(r.New, r.Old) { // one and the same query finds the same, in any gallery
		out.Difference.Interval.Low, out.Difference.Interval.High = 0, 0
	}
	sure := out.Old.Interval.Low
	switch iv := out.Difference.Interval; {
	case iv.High < 0:
		out.State = Worse
	case iv.Low > -Allowed && sure > out.Chance:
		out.State = Compatible
	default:
		out.State = Undecided
	}
	return out, nil
}

// guess is the probability that k rows of the gallery, drawn without putting any back, hold one that is right.
func (r Recalled) guess(query, key, k int) float64 {
	rows, right := 0, 0
	for j, x := range r.Key {
		if j != r.Self[query] {
			rows++
			if x == key {
				right++
			}
		}
	}
	none := 1.0
	for i := range min(k, rows) {
		none *= float64(max(rows-right-i, 0)) / float64(rows-i)
	}
	return 1 - none
}

// pseudo is Student's interval of pseudo-values (the jackknife of Tukey 1958).
func pseudo(values []float64, opt Options) aggregate.Interval {
	var m aggregate.Moments
	for i, v := range values {
		m.Add(v, i)
	}
	return aggregate.MeanInterval(m, opt.confidence())
}

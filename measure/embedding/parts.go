package embedding

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Limits of [Parts].
const (
	// StillBelow is the share of the variance along a direction that lies within orbits, below which the direction is
	// invariant.
	StillBelow = 0.05
	// MovingAbove is the share above which the direction holds no object; and the share of what is the same for all
	// objects above which it is pose alone.
	MovingAbove = 0.95
	// neighbors is by how many neighbors an object is found.
	neighbors = 5
	// mostNeighbors is how many rows are asked for their neighbors.
	mostNeighbors = 2048
)

// Parts says along which directions of the features an object and its pose lie apart.
type Parts struct {
	// Mu is, for each direction of the solutions of S_w v = μ S_t v, ascending in what was fitted, the share of the
	// variance that lies within orbits: 0 the element does not move it, 1 it says nothing of which object it is on
	// average over the orbit. S_w is the covariance within orbits, S_t all of it.
	Mu []float64
	// Nu is the same of S_b v = ν S_t v, S_b the covariance of the means over objects at each element, descending: 1
	// where the features are the same for every object, so that they are pose alone.
	Nu []float64
	// Invariant, Moving and Pose are how many directions have μ below 0.05, μ above 0.95, ν above 0.95.
	Invariant, MovingOnly, Pose Estimate
	// Directions is how many there are.
	Directions int
	// Kept are what is read off parts: of the directions that are invariant, of those that are pose alone, of all.
	Kept []Kept
}

// Kept is what is known of object and pose from a part of the features.
type Kept struct {
	// Name is invariant, pose, or all.
	Name       string
	Directions int
	// Identity is the share of the nearest other views, as many of each as an object has, at most 5, that show the same
	// object, with an interval over the objects that are looked for; Chance is that of a guess.
	Identity Estimate
	Chance   float64
	// Element is R² of the element that is read off the part: what leaks, where the part is to be invariant.
	Element Pose
}

// FindParts finds directions on some orbits and says what they are on others. Every number is of the orbits to confirm;
// which directions there are, and their order, is of those to fit. choose decides penalties.
func FindParts(fit, choose, confirm *Orbits, t Target, opt Options) (*Parts, error) {
	for _, o := range []*Orbits{fit, choose, confirm} {
		if err := o.Check(); err != nil {
			return nil, err
		}
	}
	if len(fit.At) < 2 {
		return nil, errors.New("directions of object and pose want the features at two elements at least")
	}
	within, total, between := fit.covariances()
	muAxes, err := generalised(within, total)
	if err != nil {
		return nil, err
	}
	nuAxes, err := generalised(between, total)
	if err != nil {
		return nil, err
	}
	out := &Parts{}
	_, out.Directions = muAxes.Dims()
	groups := objects(confirm.Object)
	mu, nu := confirm.along(muAxes, groups), confirm.along(nuAxes, groups)
	out.Mu, out.Nu = mu.moving(nil), nu.common(nil)
	slices.Reverse(out.Nu)
	count := func(of func(drawn []int) []float64, in func(x float64) bool) Estimate {
		return opt.estimate(len(groups), streamParts, func(drawn []int) float64 {
			n := 0.0
			for _, x := range of(drawn) {
				if in(x) {
					n++
				}
			}
			return n
		})
	}
	out.Invariant = count(mu.moving, func(x float64) bool { return x < StillBelow })
	out.MovingOnly = count(mu.moving, func(x float64) bool { return x > MovingAbove })
	out.Pose = count(nu.common, func(x float64) bool { return x > MovingAbove })
	// What is read is read off the directions that look so on the orbits to fit.
	fitted := objects(fit.Object)
	fitMu, fitNu := fit.along(muAxes, fitted).moving(nil), fit.along(nuAxes, fitted).common(nil)
	var still, pose []int
	for j := range fitMu {
		if fitMu[j] < StillBelow {
			still = append(still, j)
		}
		if fitNu[j] > MovingAbove {
			pose = append(pose, j)
		}
	}
	parts := []struct {
		name string
		axes *mat.Dense
	}{{"invariant", columns(muAxes, still)}, {"pose", columns(nuAxes, pose)}, {"all", muAxes}}
	for _, p := range parts {
		if p.axes == nil {
			continue
		}
		k := Kept{Name: p.name}
		_, k.Directions = p.axes.Dims()
		a, b, c := fit.onto(p.axes), choose.onto(p.axes), confirm.onto(p.axes)
		k.Identity, k.Chance = c.identity(opt)
		if k.Element, err = ReadPose(a, b, c, t, opt); err != nil {
			return nil, err
		}
		out.Kept = append(out.Kept, k)
	}
	return out, nil
}

// covariances are those within orbits, of all, and of the means over objects at each element.
func (o *Orbits) covariances() (within, total, between *mat.SymDense) {
	n, d := o.Still().Dims()
	within, total, between = mat.NewSymDense(d, nil), mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	centre := mean(o.At...)
	orbit := mat.NewDense(n, d, nil)
	for _, at := range o.At {
		for i := range n {
			to := orbit.RawRowView(i)
			for j, x := range at.RawRowView(i) {
				to[j] += x / float64(len(o.At))
			}
		}
	}
	means := mat.NewDense(len(o.At), d, nil)
	rows := float64(n * len(o.At))
	for k, at := range o.At {
		var w mat.Dense
		w.Sub(at, orbit)
		add(within, &w, 1/rows)
		add(total, less(at, centre), 1/rows)
		means.SetRow(k, mean(at))
	}
	add(between, less(means, centre), 1/float64(len(o.At)))
	return within, total, between
}

// add adds f XᵀX.
func add(to *mat.SymDense, x *mat.Dense, f float64) {
	var s mat.SymDense
	s.SymOuterK(f, x.T())
	to.AddSym(to, &s)
}

// generalised are the solutions v of S v = λ T v with vᵀTv = 1, a column for each, ascending in λ. Directions that do
// not vary are left out.
func generalised(s, t *mat.SymDense) (*mat.Dense, error) {
	values, vectors, err := symmetric(t)
	if err != nil {
		return nil, err
	}
	d := len(values)
	var keep []int
	for k, v := range values {
		if v > 1e-10*values[d-1] {
			keep = append(keep, k)
		}
	}
	if len(keep) == 0 {
		return nil, ErrConstant
	}
	white := mat.NewDense(d, len(keep), nil)
	for c, k := range keep {
		f := 1 / math.Sqrt(values[k])
		for j := range d {
			white.Set(j, c, vectors.At(j, k)*f)
		}
	}
	var half, inner mat.Dense
	half.Mul(s, white)
	inner.Mul(white.T(), &half)
	m := mat.NewSymDense(len(keep), nil)
	for i := range keep {
		for j := range i + 1 {
			m.SetSym(i, j, (inner.At(i, j)+inner.At(j, i))/2)
		}
	}
	_, v, err := symmetric(m)
	if err != nil {
		return nil, err
	}
	out := &mat.Dense{}
	out.Mul(white, v)
	return out, nil
}

// columns are some columns of a table; nil for none.
func columns(t *mat.Dense, which []int) *mat.Dense {
	if len(which) == 0 {
		return nil
	}
	n, _ := t.Dims()
	out := mat.NewDense(n, len(which), nil)
	for c, k := range which {
		out.SetCol(c, mat.Col(nil, k, t))
	}
	return out
}

// onto are the orbits along directions.
func (o *Orbits) onto(axes *mat.Dense) *Orbits {
	return o.On(&Basis{Axes: axes})
}

// along holds the coordinates of orbits along directions, and what of them no draw of objects changes.
type along struct {
	*Orbits
	groups [][]int
	// of each sample and direction, over the elements: the mean, the variance about it, and the mean square
	mean, within, square *mat.Dense
	weight               []float64
}

func (o *Orbits) along(axes *mat.Dense, groups [][]int) *along {
	a := &along{Orbits: o.onto(axes), groups: groups}
	n, d := a.Still().Dims()
	a.mean, a.within, a.square = mat.NewDense(n, d, nil), mat.NewDense(n, d, nil), mat.NewDense(n, d, nil)
	a.weight = make([]float64, n)
	elements := float64(len(a.At))
	for i := range n {
		m, w, q := a.mean.RawRowView(i), a.within.RawRowView(i), a.square.RawRowView(i)
		for _, at := range a.At {
			for j, x := range at.RawRowView(i) {
				m[j] += x / elements
				q[j] += float64(x*x) / elements
			}
		}
		for _, at := range a.At {
			for j, x := range at.RawRowView(i) {
				w[j] += float64((x-m[j])*(x-m[j])) / elements
			}
		}
	}
	return a
}

// weighed sets how often each sample counts; nil for once.
func (a *along) weighed(count []int) (total float64) {
	for g, rows := range a.groups {
		for _, i := range rows {
			a.weight[i] = 1
			if count != nil {
				a.weight[i] = float64(count[g])
			}
			total += a.weight[i]
		}
	}
	return total
}

// sums are Σ weight x over samples, per direction.
func (a *along) sums(x *mat.Dense) []float64 {
	n, d := x.Dims()
	out := make([]float64, d)
	for i := range n {
		if a.weight[i] == 0 {
			continue
		}
		for j, v := range x.RawRowView(i) {
			out[j] += float64(a.weight[i] * v)
		}
	}
	return out
}

// spread is, per direction, the mean and the variance over samples and elements.
func (a *along) spread(total float64) (centre, all []float64) {
	centre, all = a.sums(a.mean), a.sums(a.square)
	for j := range centre {
		centre[j] /= total
		all[j] = all[j]/total - float64(centre[j]*centre[j])
	}
	return centre, all
}

// moving is the share of the variance along each direction that lies within orbits, of objects that were drawn so
// often.
func (a *along) moving(count []int) []float64 {
	total := a.weighed(count)
	_, all := a.spread(total)
	out := a.sums(a.within)
	for j := range out {
		out[j] = out[j] / total / all[j]
	}
	return out
}

// common is the share that is the same for every object.
func (a *along) common(count []int) []float64 {
	total := a.weighed(count)
	centre, all := a.spread(total)
	out := make([]float64, len(all))
	for _, at := range a.At {
		for j, s := range a.sums(at) {
			x := s/total - centre[j]
			out[j] += float64(x*x) / float64(len(a.At)) / all[j]
		}
	}
	return out
}

// identity is the share of the nearest views of other elements, up to [neighbors] of them, that show the same object,
// and that of a guess. Views of other samples of the same object count as right; ties as wrong.
func (o *Orbits) identity(opt Options) (share Estimate, chance float64) {
	n, _ := o.Still().Dims()
	all, m := Stack(o.At...), n*len(o.At)
	same, of := map[int]int{}, map[int]int{}
	groups := objects(o.Object)
	for g, rows := range groups {
		of[o.Object[rows[0]]] = g
	}
	for _, id := range o.Object {
		same[id] += len(o.At)
	}
	right, looked := make([]float64, len(groups)), make([]float64, len(groups))
	asked := drawn(m, mostNeighbors, rand.New(rand.NewPCG(opt.Seed, streamParts)))
	for _, q := range asked {
		id := o.Object[q%n]
		looked[of[id]]++
		k := min(neighbors, same[id]-1)
		if k == 0 { // there is nothing that could be found
			continue
		}
		near := nearest(m, k, func(i int) float64 {
			if i == q {
				return math.Inf(1)
			}
			return apart(all.RawRowView(q), all.RawRowView(i))
		}, func(i int) bool { return o.Object[i%n] == id })
		found := 0
		for _, i := range near {
			if o.Object[i%n] == id {
				found++
			}
		}
		right[of[id]] += float64(found) / float64(k)
		chance += float64(same[id]-1) / float64(m-1)
	}
	return opt.share(right, looked, streamIdentity), chance / float64(len(asked))
}

// nearest are the k of m things that are least far, those that are right behind others that are as far.
func nearest(m, k int, far func(i int) float64, right func(i int) bool) []int {
	type thing struct {
		far   float64
		right bool
		at    int
	}
	before := func(a, b thing) bool {
		if a.far != b.far {
			return a.far < b.far
		}
		return !a.right && b.right
	}
	var list []thing
	for i := range m {
		x := thing{far(i), right(i), i}
		if len(list) == k && !before(x, list[k-1]) {
			continue
		}
		at := len(list)
		for at > 0 && before(x, list[at-1]) {
			at--
		}
		list = slices.Insert(list, at, x)
		list = list[:min(len(list), k)]
	}
	out := make([]int, len(list))
	for i, x := range list {
		out[i] = x.at
	}
	return out
}

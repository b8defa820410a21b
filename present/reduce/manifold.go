package reduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/internal/elementary"
	"nero/present/words"
)

// MaxFitted is the most distinct rows that Isomap, t-SNE and UMAP fit. Of more, the seed chooses so many, and the
// others are placed among their nearest fitted neighbors.
const MaxFitted = 20_000

const (
	maxDims     = 50    // neighbors are looked for in so many dimensions at most
	placeAmong  = 5     // fitted neighbors that place a row that was not fitted
	roughSide   = 1_200 // columns up to which that goes through the covariance
	leastLayout = 4     // distinct rows that t-SNE and UMAP need
)

// The purposes for which the seed is used; a number is never given twice.
const (
	forSubset = iota + 1
	forLandmarks
	forJitter
	forSteps
)

// settings are the options with their presets filled in, and bounds that tests lower.
type settings struct {
	Options

	// distinct rows that are fitted
	most int
	// points up to which Isomap takes each one for a landmark
	sources int
	// of t-SNE
	rounds int
}

func (o *settings) rand(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(o.Seed, purpose)) }

// sample is what a method that works on neighbors sees: distinct rows as points, and a tree over them.
type sample struct {
	t *table
	// the row of each point, rising
	rows []int
	// the point of each row of the table that is fitted, or a copy of a fitted one; -1 for the others
	point []int32
	base  *principal
	pts   *points
	tree  *tree
	notes []string
}

// newSample drops copies and, of more than MaxFitted rows, all but a subset; and turns rows of more than 50 columns
// into their first 50 principal components.
func newSample(ctx context.Context, c *crew, t *table, o *settings) (*sample, error) {
	s := &sample{t: t, point: make([]int32, t.rows)}
	var err error
	if s.rows, err = t.distinct(ctx, c, s.point); err != nil {
		return nil, err
	}
	switch copies := len(t.fit) - len(s.rows); {
	case copies == 1:
		s.note("1 of the %s is a copy of another one and stands where it does.", words.Plural(len(t.fit), "row",
			"rows"))
	case copies > 1:
		s.note("%d of the %s are copies of another one and stand where it does.", copies, words.Plural(len(t.fit),
			"row", "rows"))
	}
	if all := len(s.rows); all > o.most {
		s.thin(o)
		s.note("Fitted on %d of %d distinct rows, chosen by the seed; the others stand among their nearest fitted "+
			"neighbors.", o.most, all)
	}
	if t.cols > maxDims {
		c.stage(0.05, 0.15)
		if s.base, err = fitDirections(ctx, c, t.x, s.rows, maxDims); err != nil {
			return nil, err
		}
		held := 0.0
		for _, v := range s.base.values {
			held += v
		}
		if share := held / s.base.total; share < 0.999 {
			s.note("Neighbors were looked for among the first %d principal components, which hold %s of the variance.",
				len(s.base.vectors), percent(share))
		}
	}
	d := t.cols
	if s.base != nil {
		d = len(s.base.vectors)
	}
	s.pts = &points{n: len(s.rows), d: d, v: make([]float64, len(s.rows)*d)}
	scratch := zeros(c.workers, t.cols)
	if err := c.each(ctx, blocks(len(s.rows), rowTask), func(w, b int) {
		lo, hi := span(b, len(s.rows), rowTask)
		for i := lo; i < hi; i++ {
			s.feature(s.pts.at(i), s.rows[i], scratch[w])
		}
	}); err != nil {
		return nil, err
	}
	s.tree = newTree(s.pts)
	return s, nil
}

// feature writes what neighbors are looked for by.
func (s *sample) feature(dst []float64, row int, scratch []float64) {
	if s.base == nil {
		s.t.x.Row(dst, row)
		return
	}
	s.t.x.Row(scratch, row)
	s.base.project(dst, scratch)
}

// fitDirections is fitPrincipal for many directions, which need not be the very best ones: of many columns, they come
// from two rounds of a randomised iteration (N. Halko, P. G. Martinsson and J. A. Tropp, Finding structure with
// randomness, SIAM Review 53, 2011, algorithm 4.4), the variances being those along the directions found.
func fitDirections(ctx context.Context, c *crew, x Matrix, rows []int, k int) (*principal, error) {
	_, d := x.Dims()
	n := len(rows)
	p := &principal{}
	var variances []float64
	var err error
	if p.mean, variances, err = moments(ctx, c, x, rows); err != nil {
		return nil, err
	}
	for _, v := range variances {
		p.total += v
	}
	k = min(k, n, d)
	var pairs eigenpairs
	switch {
	case n <= exactSide && n < d:
		pairs, err = gramEigen(ctx, c, x, rows, p.mean, k)
	case d <= exactSide:
		pairs, err = covarianceEigen(ctx, c, x, rows, p.mean, k)
	case d <= roughSide:
		var cov []float64
		if cov, err = covariance(ctx, c, x, rows, p.mean); err == nil {
			pairs, err = roughEigen(matrixOperator(ctx, c, cov, d), d, k, rand.New(rand.NewPCG(probeSeed, 5)))
		}
	default:
		pairs, err = roughEigen(rowsOperator(ctx, c, x, rows, p.mean, k+10), d, k, rand.New(rand.NewPCG(probeSeed, 5)))
	}
	if err != nil {
		return nil, err
	}
	for i, v := range pairs.values {
		if v/float64(n) > rankTol*p.total {
			p.vectors, p.values = append(p.vectors, pairs.vectors[i]), append(p.values, v/float64(n))
		}
	}
	return p, nil
}

// roughEigen is the randomised iteration for k eigenpairs of an operator on n numbers: two rounds, then the best within
// their span.
func roughEigen(apply operator, n, k int, r *rand.Rand) (eigenpairs, error) {
	block := randomBlock(n, min(n, k+10), r)
	var image [][]float64
	for range 3 {
		block = orthonormal(nil, block)
		image = zeros(len(block), n)
		if err := apply(image, block); err != nil {
			return eigenpairs{}, err
		}
		block, image = image, block
	}
	// The last round is undone: block holds the images of the orthonormal vectors in image.
	out, _, err := ritz(image, block, min(k, len(block)), 1)
	return out, err
}

// distinct returns the first fitted row of each set of equal ones, and writes for each fitted row the number of its
// set; -1 for the others. Minus zero equals zero.
func (t *table) distinct(ctx context.Context, c *crew, set []int32) ([]int, error) {
	hashes := make([]uint64, len(t.fit))
	scratch := zeros(c.workers, t.cols)
	if err := c.each(ctx, blocks(len(t.fit), rowTask), func(w, b int) {
		row := scratch[w]
		lo, hi := span(b, len(t.fit), rowTask)
		for i := lo; i < hi; i++ {
			t.x.Row(row, t.fit[i])
			h := uint64(len(row))
			for _, v := range row {
				h = (h ^ math.Float64bits(v+0)) * 0x9e3779b97f4a7c15
				h ^= h >> 29
			}
			hashes[i] = h
		}
	}); err != nil {
		return nil, err
	}
	return t.group(hashes, set), nil
}

// group is distinct with the hash of each fitted row; rows whose hashes are equal are compared.
func (t *table) group(hashes []uint64, set []int32) (rows []int) {
	for i := range set {
		set[i] = -1
	}
	seen := make(map[uint64]int32, len(t.fit))
	a, b := make([]float64, t.cols), make([]float64, t.cols)
	for i, row := range t.fit {
		for h := hashes[i]; ; h++ { // a chance collision looks on at the next number
			other, ok := seen[h]
			if !ok {
				seen[h] = int32(len(rows))
				set[row] = int32(len(rows))
				rows = append(rows, row)
				break
			}
			t.x.Row(a, row)
			t.x.Row(b, rows[other])
			if slices.Equal(a, b) {
				set[row] = other
				break
			}
		}
	}
	return rows
}

// thin keeps as many points as may be fitted.
func (s *sample) thin(o *settings) {
	r := o.rand(forSubset)
	order := r.Perm(len(s.rows))[:o.most]
	slices.Sort(order)
	renumber := make([]int32, len(s.rows))
	for i := range renumber {
		renumber[i] = -1
	}
	rows := make([]int, len(order))
	for k, i := range order {
		renumber[i], rows[k] = int32(k), s.rows[i]
	}
	for i, p := range s.point {
		if p >= 0 {
			s.point[i] = renumber[p]
		}
	}
	s.rows = rows
}

// embed writes the coordinates of all rows: layout for those that are fitted, place for the others, which is given the
// nearest fitted points and a buffer of the worker's own.
func (s *sample) embed(ctx context.Context, c *crew, layout []float64, among int,
	place func(near []neighbor, worker int) [2]float64,
) (*Embedding, error) {
	e := s.t.blank()
	e.Fitted, e.Placed = 0, 0
	e.Notes = s.notes
	var others []int
	for _, i := range s.t.whole {
		if p := s.point[i]; p >= 0 {
			e.XY[2*i], e.XY[2*i+1] = float32(layout[2*p]), float32(layout[2*p+1])
			e.Fitted++
		} else {
			others = append(others, i)
		}
	}
	e.Placed = len(others)
	among = min(among, s.pts.n)
	scratch := zeros(c.workers, s.t.cols+s.pts.d)
	buffers := make([][]neighbor, c.workers)
	for i := range buffers {
		buffers[i] = make([]neighbor, 0, among)
	}
	const task = 32
	err := c.eachTold(ctx, blocks(len(others), task), func(w, b int) {
		row, q := scratch[w][:s.t.cols], scratch[w][s.t.cols:]
		lo, hi := span(b, len(others), task)
		for _, i := range others[lo:hi] {
			s.feature(q, i, row)
			xy := place(s.tree.nearest(q, among, -1, buffers[w]), w)
			e.XY[2*i], e.XY[2*i+1] = float32(xy[0]), float32(xy[1])
		}
	})
	return e, err
}

// between is the mean of the places of the neighbors, weighted by one over the squared distance (D. Shepard, ACM 1968):
// a row that equals a fitted one stands where that does.
func between(layout []float64) func([]neighbor, int) [2]float64 {
	return func(near []neighbor, _ int) (xy [2]float64) {
		least := near[0].d2
		if least == 0 {
			p := near[0].point
			return [2]float64{layout[2*p], layout[2*p+1]}
		}
		sum := 0.0
		for _, n := range near {
			w := least / n.d2
			sum += w
			xy[0] += float64(w * layout[2*n.point])
			xy[1] += float64(w * layout[2*n.point+1])
		}
		return [2]float64{xy[0] / sum, xy[1] / sum}
	}
}

// start is the plane of the first two principal components of the points, scaled so that its size, as measured, is 1,
// with a jitter of that deviation, without which a line would stay one.
func (s *sample) start(ctx context.Context, c *crew, o *settings, jitter float64,
	size func(y []float64) float64,
) ([]float64, error) {
	p, err := fitPrincipal(ctx, c, s.t.x, s.rows, 2)
	if err != nil {
		return nil, err
	}
	k := len(p.vectors)
	scores, err := p.scores(ctx, c, s.t.x, s.rows)
	if err != nil {
		return nil, err
	}
	y := make([]float64, 2*len(s.rows))
	for i := range s.rows {
		copy(y[2*i:2*i+2], scores[i*k:(i+1)*k])
	}
	if u := size(y); u > 0 {
		scale(y, 1/u)
	}
	r := o.rand(forJitter)
	for i := range y {
		y[i] += float64(jitter * elementary.Normal(r))
	}
	return y, nil
}

// orient moves the middle of a layout to the origin and makes the coordinate of largest magnitude along each axis
// positive. It returns what it took away, and by what it multiplied then.
func orient(y []float64) (shift, turn [2]float64) {
	n := len(y) / 2
	v := make([]float64, n)
	for a := range 2 {
		for i := range v {
			v[i] = y[2*i+a]
			shift[a] += v[i] / float64(n)
		}
		for i := range v {
			v[i] -= shift[a]
		}
		turn[a] = 1
		if fixSign(v) {
			turn[a] = -1
		}
		for i := range v {
			y[2*i+a] = v[i]
		}
	}
	return shift, turn
}

// few shows fewer distinct rows than least by their principal components.
func few(ctx context.Context, c *crew, t *table, title string, least int) (*Embedding, error) {
	e, err := reducePCA(ctx, c, t, nil)
	if err == nil {
		e.note("Fewer than %d distinct rows leave %s nothing to arrange: these are their principal components.", least,
			title)
	}
	return e, err
}

func (s *sample) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

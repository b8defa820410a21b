package reduce

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// points are rows of d numbers, one after the other.
type points struct {
	n, d int
	v    []float64
}

func (p *points) at(i int) []float64 { return p.v[i*p.d : (i+1)*p.d : (i+1)*p.d] }

// neighbor is a point with its squared distance.
type neighbor struct {
	d2    float64
	point int32
}

// before orders by distance and, where that ties, by the number of the point.
func (a neighbor) before(b neighbor) bool { return a.d2 < b.d2 || a.d2 == b.d2 && a.point < b.point }

// coarse rounds a squared distance to 36 bits, so that distances that are equal but for rounding tie, and the tie is
// broken by the number of the point and not by rounding.
func coarse(d2 float64) float64 {
	return math.Float64frombits((math.Float64bits(d2) + 1<<15) &^ (1<<16 - 1))
}

// distance2 is the coarse squared distance, or some number above limit when it is above limit.
func distance2(a, b []float64, limit float64) float64 {
	s := 0.0
	b = b[:len(a)]
	i := 0
	for ; i+8 <= len(a); i += 8 {
		u, v := a[i:i+8:i+8], b[i:i+8:i+8]
		d0, d1, d2, d3 := u[0]-v[0], u[1]-v[1], u[2]-v[2], u[3]-v[3]
		d4, d5, d6, d7 := u[4]-v[4], u[5]-v[5], u[6]-v[6], u[7]-v[7]
		s += ((float64(d0*d0) + float64(d1*d1)) + (float64(d2*d2) + float64(d3*d3))) +
			((float64(d4*d4) + float64(d5*d5)) + (float64(d6*d6) + float64(d7*d7)))
		if s > limit*(1+1e-9) {
			return s
		}
	}
	for ; i < len(a); i++ {
		d := a[i] - b[i]
		s += float64(d * d)
	}
	return coarse(s)
}

// tree is a vantage-point tree for exact nearest neighbors (P. N. Yianilos, Data structures and algorithms for nearest
// neighbor search in general metric spaces, SODA 1993). Points are stored in the order of the leaves.
type tree struct {
	points
	// number of the point at each place
	ids   []int32
	nodes []node
}

// node covers the places from lo to hi. Unless it is a leaf, place lo is the vantage point; the near half ends at mid.
// The bounds are those of the distances from the vantage point.
type node struct {
	lo, mid, hi int32
	// nodes; 0 for a leaf
	near, far        int32
	nearMin, nearMax float64
	farMin, farMax   float64
	// of the graph, if all its points are in one; see join
	part int32
}

const leafPoints = 12

func newTree(p *points) *tree {
	t := &tree{points: points{n: p.n, d: p.d}, ids: make([]int32, p.n)}
	for i := range t.ids {
		t.ids[i] = int32(i)
	}
	if p.n > 0 {
		r := rand.New(rand.NewPCG(probeSeed, 3)) // decides speed only
		t.grow(p, 0, p.n, r, make([]neighbor, p.n))
	}
	t.v = make([]float64, p.n*p.d)
	for k, i := range t.ids {
		copy(t.at(k), p.at(int(i)))
	}
	return t
}

// grow makes the node over the places lo to hi and returns its number. scratch has one entry per point.
func (t *tree) grow(p *points, lo, hi int, r *rand.Rand, scratch []neighbor) int32 {
	me := len(t.nodes)
	t.nodes = append(t.nodes, node{lo: int32(lo), hi: int32(hi)})
	if hi-lo <= leafPoints {
		return int32(me)
	}
	// Of a few candidates, the one farthest from one point at random: corners make better vantage points than the
	// middle.
	from := p.at(int(t.ids[lo+r.IntN(hi-lo)]))
	best, at := -1.0, lo
	for range 8 {
		k := lo + r.IntN(hi-lo)
		if d := distance2(from, p.at(int(t.ids[k])), math.Inf(1)); d > best {
			best, at = d, k
		}
	}
	t.ids[lo], t.ids[at] = t.ids[at], t.ids[lo]
	v := p.at(int(t.ids[lo]))
	rest := scratch[lo+1 : hi]
	for k := range rest {
		id := t.ids[lo+1+k]
		rest[k] = neighbor{distance2(v, p.at(int(id)), math.Inf(1)), id}
	}
	slices.SortFunc(rest, func(a, b neighbor) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	for k, q := range rest {
		t.ids[lo+1+k] = q.point
	}
	half := len(rest) / 2
	mid := lo + 1 + half
	n := node{
		lo: int32(lo), mid: int32(mid), hi: int32(hi),
		nearMin: math.Sqrt(rest[0].d2), nearMax: math.Sqrt(rest[half-1].d2),
		farMin: math.Sqrt(rest[half].d2), farMax: math.Sqrt(rest[len(rest)-1].d2),
	}
	n.near = t.grow(p, lo+1, mid, r, scratch)
	n.far = t.grow(p, mid, hi, r, scratch)
	t.nodes[me] = n
	return int32(me)
}

// query is one search: the k nearest so far in a heap whose top is the farthest.
type query struct {
	tree *tree
	q    []float64
	k    int
	// a point that does not count, or -1
	skip int32
	// points of this part do not count; -1 for none. Needs tree.tag
	part int32
	of   []int32
	heap []neighbor
}

func (s *query) limit() float64 {
	if len(s.heap) < s.k {
		return math.Inf(1)
	}
	return s.heap[0].d2
}

func (s *query) offer(n neighbor) {
	h := s.heap
	if len(h) < s.k {
		h = append(h, n)
		for i := len(h) - 1; i > 0; {
			up := (i - 1) / 2
			if !h[up].before(h[i]) {
				break
			}
			h[up], h[i] = h[i], h[up]
			i = up
		}
		s.heap = h
		return
	}
	if !n.before(h[0]) {
		return
	}
	h[0] = n
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c].before(h[c+1]) {
			c++
		}
		if !h[i].before(h[c]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

func (s *query) consider(place int32) float64 {
	d2 := distance2(s.q, s.tree.at(int(place)), math.Inf(1))
	s.take(place, d2)
	return d2
}

func (s *query) take(place int32, d2 float64) {
	id := s.tree.ids[place]
	if id != s.skip && d2 <= s.limit() && (s.part < 0 || s.of[id] != s.part) {
		s.offer(neighbor{d2, id})
	}
}

func (s *query) visit(at int32) {
	n := &s.tree.nodes[at]
	if s.part >= 0 && n.part == s.part {
		return
	}
	if n.near == 0 {
		for k := n.lo; k < n.hi; k++ {
			s.take(k, distance2(s.q, s.tree.at(int(k)), s.limit()))
		}
		return
	}
	d := math.Sqrt(s.consider(n.lo))
	near, far := max(d-n.nearMax, n.nearMin-d, 0), max(n.farMin-d, d-n.farMax, 0)
	first, second, a, b := n.near, n.far, near, far
	if far < near {
		first, second, a, b = n.far, n.near, far, near
	}
	// The bounds hold up to rounding, so a margin of a millionth is left.
	if slack := 1 - 1e-6; !(square(a*slack) > s.limit()) {
		s.visit(first)
		if !(square(b*slack) > s.limit()) {
			s.visit(second)
		}
	}
}

// nearest finds the k points nearest to q, nearest first, ties by number, without the point skip. The result is valid
// until the next call with the same buffer.
func (t *tree) nearest(q []float64, k int, skip int32, buffer []neighbor) []neighbor {
	s := query{tree: t, q: q, k: k, skip: skip, part: -1, heap: buffer[:0]}
	if len(t.nodes) > 0 && k > 0 {
		s.visit(0)
	}
	slices.SortFunc(s.heap, func(a, b neighbor) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return s.heap
}

// links are the k nearest neighbors of each of n points, k one after the other, nearest first.
type links struct {
	n, k int
	to   []neighbor
}

func (l *links) of(i int) []neighbor { return l.to[i*l.k : (i+1)*l.k] }

// link finds the neighbors of all points among themselves; a point is not its own neighbor. k is at most n-1.
func link(ctx context.Context, c *crew, t *tree, k int) (*links, error) {
	l := &links{n: t.n, k: k, to: make([]neighbor, t.n*k)}
	buffers := make([][]neighbor, c.workers)
	for i := range buffers {
		buffers[i] = make([]neighbor, 0, k)
	}
	const task = 32
	err := c.eachTold(ctx, blocks(t.n, task), func(w, b int) {
		lo, hi := span(b, t.n, task)
		for place := lo; place < hi; place++ { // points of one leaf one after the other, which is kind to the cache
			id := t.ids[place]
			copy(l.of(int(id)), t.nearest(t.at(place), k, id, buffers[w]))
		}
	})
	return l, err
}

package reduce

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	allSources = 3_000 // up to so many points, each one is a landmark: 72 MB of distances
	landmarks  = 500   // of more points, so many
)

// edge is one direction of a link of the neighbor graph.
type edge struct {
	to     int32
	length float64
}

// graph holds, for point i, the edges from start[i] to start[i+1].
type graph struct {
	start []int32
	edges []edge
}

func (g *graph) of(i int32) []edge { return g.edges[g.start[i]:g.start[i+1]] }

// newGraph joins each point with its neighbors, both ways, each pair once, and with the extra pairs.
func newGraph(l *links, extra []bridge) *graph {
	type pair struct {
		from int32
		edge
	}
	pairs := make([]pair, 0, 2*len(l.to)+2*len(extra))
	for i := range l.n {
		for _, n := range l.of(i) {
			d := math.Sqrt(n.d2)
			pairs = append(pairs, pair{int32(i), edge{n.point, d}}, pair{n.point, edge{int32(i), d}})
		}
	}
	for _, b := range extra {
		d := math.Sqrt(b.d2)
		pairs = append(pairs, pair{b.from, edge{b.to, d}}, pair{b.to, edge{b.from, d}})
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.from != b.from {
			return int(a.from - b.from)
		}
		return int(a.to - b.to)
	})
	g := &graph{start: make([]int32, l.n+1), edges: make([]edge, 0, len(pairs))}
	for k, p := range pairs {
		if k > 0 && pairs[k-1].from == p.from && pairs[k-1].to == p.to {
			continue
		}
		g.edges = append(g.edges, p.edge)
		g.start[p.from+1]++
	}
	for i := range l.n {
		g.start[i+1] += g.start[i]
	}
	return g
}

// parts numbers the connected parts of the graph of l together with extra, in the order of their first points.
func parts(l *links, extra []bridge) (of []int32, n int) {
	up := make([]int32, l.n)
	for i := range up {
		up[i] = int32(i)
	}
	find := func(i int32) int32 {
		for up[i] != i {
			up[i] = up[up[i]]
			i = up[i]
		}
		return i
	}
	union := func(a, b int32) {
		a, b = find(a), find(b)
		up[max(a, b)] = min(a, b)
	}
	for i := range l.n {
		for _, q := range l.of(i) {
			union(int32(i), q.point)
		}
	}
	for _, b := range extra {
		union(b.from, b.to)
	}
	of = make([]int32, l.n)
	for i := range of {
		if root := find(int32(i)); root == int32(i) {
			of[i] = int32(n)
			n++
		} else {
			of[i] = of[root]
		}
	}
	return of, n
}

// bridge is a pair of points of two parts.
type bridge struct {
	from, to int32
	d2       float64
}

// join finds bridges that make the graph one: round by round, each part but the largest gets a bridge from its point
// that is nearest to any point outside, which is Borůvka's way to the shortest tree over the parts.
func join(ctx context.Context, c *crew, t *tree, l *links) (bridges []bridge, count int, err error) {
	of, n := parts(l, nil)
	count = n
	at := make([]int32, t.n) // place of each point
	for place, id := range t.ids {
		at[id] = int32(place)
	}
	for n > 1 {
		members := make([][]int32, n)
		for i, p := range of {
			members[p] = append(members[p], int32(i))
		}
		largest := 0
		for p, m := range members {
			if len(m) > len(members[largest]) {
				largest = p
			}
		}
		t.tag(0, of)
		found := make([]bridge, n)
		if err := c.each(ctx, n, func(_, p int) {
			best := bridge{from: -1, d2: math.Inf(1)}
			if p != largest {
				buffer := make([]neighbor, 0, 1)
				for _, i := range members[p] {
					if ctx.Err() != nil {
						return
					}
					// What is no nearer than the best so far is of no use: it starts full, with a neighbor that is no
					// point.
					s := query{
						tree: t, q: t.at(int(at[i])), k: 1, skip: -1, part: int32(p), of: of,
						heap: append(buffer[:0], neighbor{best.d2, -1}),
					}
					s.visit(0)
					if s.heap[0].point >= 0 {
						best = bridge{i, s.heap[0].point, s.heap[0].d2}
					}
				}
			}
			found[p] = best
		}); err != nil {
			return nil, 0, err
		}
		for p, b := range found {
			twin := func(o bridge) bool { return o.from == b.to && o.to == b.from }
			if p != largest && !slices.ContainsFunc(found[:p], twin) {
				bridges = append(bridges, b)
			}
		}
		of, n = parts(l, bridges)
	}
	return bridges, count, nil
}

// tag writes into each node the part that all its points are in, or -1.
func (t *tree) tag(at int32, of []int32) int32 {
	n := &t.nodes[at]
	part := of[t.ids[n.lo]]
	if n.near == 0 {
		for k := n.lo; k < n.hi; k++ {
			if of[t.ids[k]] != part {
				part = -1
			}
		}
	} else {
		near, far := t.tag(n.near, of), t.tag(n.far, of)
		if near != part || far != part {
			part = -1
		}
	}
	n.part = part
	return part
}

// paths writes the lengths of the shortest paths from one point (E. W. Dijkstra, 1959). heap is scratch memory.
func (g *graph) paths(dst []float64, from int32, heap []edge) []edge {
	for i := range dst {
		dst[i] = math.Inf(1)
	}
	dst[from] = 0
	heap = append(heap[:0], edge{from, 0})
	for len(heap) > 0 {
		top := heap[0]
		last := len(heap) - 1
		moved := heap[last]
		heap = heap[:last]
		for i := 0; last > 0; { // sift moved down from the top
			child := 2*i + 1
			if child+1 < last && heap[child+1].length < heap[child].length {
				child++
			}
			if child >= last || moved.length <= heap[child].length {
				heap[i] = moved
				break
			}
			heap[i] = heap[child]
			i = child
		}
		if top.length > dst[top.to] {
			continue
		}
		for _, e := range g.of(top.to) {
			d := top.length + e.length
			if !(d < dst[e.to]) {
				continue
			}
			dst[e.to] = d
			heap = append(heap, edge{})
			i := len(heap) - 1
			for i > 0 {
				up := (i - 1) / 2
				if heap[up].length <= d {
					break
				}
				heap[i] = heap[up]
				i = up
			}
			heap[i] = edge{e.to, d}
		}
	}
	return heap
}

// scaling is classical multidimensional scaling of landmarks, which places any point by its distances from them.
type scaling struct {
	// mean squared distance of each landmark from the landmarks
	mean []float64
	// what a squared distance, less its mean, counts for along each axis
	by [2][]float64
}

// reduceIsomap follows J. B. Tenenbaum, V. de Silva and J. C. Langford, A global geometric framework for nonlinear
// dimensionality reduction, Science 290, 2000, and, for more than 3,000 points and for rows that are not fitted, V. de
// Silva and J. B. Tenenbaum, Sparse multidimensional scaling using landmark points, 2004.
func reduceIsomap(ctx context.Context, c *crew, t *table, o *settings) (*Embedding, error) {
	s, err := newSample(ctx, c, t, o)
	if err != nil {
		return nil, err
	}
	if s.pts.n < 2 {
		return few(ctx, c, t, "Isomap", 2)
	}
	c.stage(0.15, 0.35)
	l, err := link(ctx, c, s.tree, min(o.Neighbors, s.pts.n-1))
	if err != nil {
		return nil, err
	}
	bridges, components, err := join(ctx, c, s.tree, l)
	if err != nil {
		return nil, err
	}
	if components > 1 {
		s.note("The graph of neighbors fell into %d parts; they were joined by their nearest pairs, so distances "+
			"between parts are partly straight lines.", components)
	}
	g := newGraph(l, bridges)
	marks := make([]int, s.pts.n)
	for i := range marks {
		marks[i] = i
	}
	if s.pts.n > o.sources {
		marks = o.rand(forLandmarks).Perm(s.pts.n)[:min(landmarks, o.sources)]
		slices.Sort(marks)
		s.note("Distances were taken from %d landmarks, chosen by the seed.", len(marks))
	}
	n := s.pts.n
	far := make([]float64, n*len(marks)) // lengths of the shortest paths to all landmarks, point by point
	heaps, lengths := make([][]edge, c.workers), zeros(c.workers, n)
	c.stage(0.35, 0.85)
	if err := c.eachTold(ctx, len(marks), func(w, k int) {
		heaps[w] = g.paths(lengths[w], int32(marks[k]), heaps[w])
		for i, d := range lengths[w] {
			far[i*len(marks)+k] = d
		}
	}); err != nil {
		return nil, err
	}
	c.stage(0.85, 0.9)
	m, err := scale2(ctx, c, far, marks)
	if err != nil {
		return nil, err
	}
	layout := make([]float64, 2*n)
	scratch := zeros(c.workers, len(marks))
	if err := c.each(ctx, blocks(n, rowTask), func(w, b int) {
		lo, hi := span(b, n, rowTask)
		for i := lo; i < hi; i++ {
			for k, d := range far[i*len(marks) : (i+1)*len(marks)] {
				scratch[w][k] = d * d
			}
			xy := m.place(scratch[w])
			layout[2*i], layout[2*i+1] = xy[0], xy[1]
		}
	}); err != nil {
		return nil, err
	}
	shift, turn := orient(layout)
	c.stage(0.9, 1)
	e, err := s.embed(ctx, c, layout, o.Neighbors, func(near []neighbor, w int) [2]float64 {
		if near[0].d2 == 0 {
			p := near[0].point
			return [2]float64{layout[2*p], layout[2*p+1]}
		}
		d2 := scratch[w]
		for j, q := range near {
			length := math.Sqrt(q.d2)
			for k, d := range far[int(q.point)*len(marks):][:len(marks)] {
				if s := square(length + d); j == 0 || s < d2[k] {
					d2[k] = s
				}
			}
		}
		xy := m.place(d2)
		return [2]float64{(xy[0] - shift[0]) * turn[0], (xy[1] - shift[1]) * turn[1]}
	})
	if err != nil {
		return nil, err
	}
	e.Components = components
	e.Axes = [2]string{
		"first Isomap axis (distance along the graph of neighbors)",
		"second Isomap axis (distance along the graph of neighbors)",
	}
	return e, nil
}

// scale2 finds the two axes from the decomposition of -½ J Δ J, Δ the squared distances among the
// landmarks and J the centring.
func scale2(ctx context.Context, c *crew, far []float64, marks []int) (*scaling, error) {
	k := len(marks)
	among := make([]float64, k*k)
	m := &scaling{mean: make([]float64, k)}
	total := 0.0
	for a := range k {
		for b := range k {
			among[a*k+b] = (square(far[marks[b]*k+a]) + square(far[marks[a]*k+b])) / 2
		}
	}
	for a := range k {
		for b := range k {
			m.mean[a] += among[a*k+b] / float64(k)
		}
		total += m.mean[a] / float64(k)
	}
	for a := range k {
		for b := range k {
			among[a*k+b] = -(among[a*k+b] - m.mean[a] - m.mean[b] + total) / 2
		}
	}
	var pairs eigenpairs
	var err error
	if k <= exactSide {
		pairs, err = fullEigen(among, k, 2)
	} else {
		pairs, err = topEigen(ctx, matrixOperator(ctx, c, among, k), k, 2, rand.New(rand.NewPCG(probeSeed, 4)))
		if errors.Is(err, errUnsettled) { // directions that nearly tie: any of them is as good for a picture
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	for a := range m.by {
		m.by[a] = make([]float64, k)
		if a < len(pairs.values) && pairs.values[a] > 1e-9*pairs.values[0] {
			axpy(m.by[a], -0.5/math.Sqrt(pairs.values[a]), pairs.vectors[a])
		}
	}
	return m, nil
}

// place is the point with these squared distances from the landmarks; it overwrites them.
func (m *scaling) place(d2 []float64) (xy [2]float64) {
	axpy(d2, -1, m.mean)
	return [2]float64{dot(d2, m.by[0]), dot(d2, m.by[1])}
}

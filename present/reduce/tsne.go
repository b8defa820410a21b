package reduce

import (
	"context"
	"math"

	"nero/internal/elementary"
)

const (
	tsneRounds       = 1_000 // the first quarter of them with exaggeration and the lower momentum
	exaggeration     = 12.0
	openingAngle     = 0.5 // of Barnes-Hut: side over distance below which a cell counts as one point
	leafCell         = 8   // points of a cell that is not divided
	deepest          = 40  // divisions after which points count as being in one place
	forceTask        = 128
	perplexitySteps  = 200
	perplexityLinked = 3 // neighbors per unit of perplexity
)

// affinity is a symmetric sparse matrix by rows: row i has the columns col[start[i]:start[i+1]], rising, and no
// diagonal.
type affinity struct {
	start []int32
	col   []int32
	val   []float64
}

// conditional writes p(j|i) ∝ exp(−β d²) over the neighbors of one point, with β such that the perplexity 2^H of the
// distribution is as asked for, H its entropy in bits.
func conditional(dst []float64, near []neighbor, perplexity float64) {
	want := elementary.Log(perplexity)
	least, unit := near[0].d2, 0.0
	for _, n := range near {
		unit += n.d2 - least
	}
	if unit == 0 { // all as near: β does not matter
		for i := range near {
			dst[i] = 1 / float64(len(near))
		}
		return
	}
	unit /= float64(len(near))
	lo, hi, beta := 0.0, math.Inf(1), 1.0
	for range perplexitySteps {
		sum, dots := 0.0, 0.0
		for i, n := range near {
			u := (n.d2 - least) / unit
			dst[i] = elementary.Exp(-beta * u)
			sum += dst[i]
			dots += float64(dst[i] * u)
		}
		entropy := elementary.Log(sum) + beta*dots/sum
		for i := range near {
			dst[i] /= sum
		}
		if math.Abs(entropy-want) <= 1e-8 {
			return
		}
		if entropy > want {
			lo = beta
			if math.IsInf(hi, 1) {
				beta *= 2
				continue
			}
		} else {
			hi = beta
		}
		beta = (lo + hi) / 2
	}
}

// affinities are the joint probabilities p = (p(j|i) + p(i|j))/2n of t-SNE, which sum to 1.
func affinities(ctx context.Context, c *crew, l *links, perplexity float64) (*affinity, error) {
	p := make([]float64, len(l.to))
	if err := c.each(ctx, blocks(l.n, forceTask), func(_, b int) {
		lo, hi := span(b, l.n, forceTask)
		for i := lo; i < hi; i++ {
			conditional(p[i*l.k:(i+1)*l.k], l.of(i), perplexity)
		}
	}); err != nil {
		return nil, err
	}
	a := symmetric(l, p, func(ij, ji float64) float64 { return ij + ji })
	scale(a.val, 1/(2*float64(l.n)))
	return a, nil
}

// symmetric joins the weight of each link with that of the link back, 0 where there is none.
func symmetric(l *links, weight []float64, join func(ij, ji float64) float64) *affinity {
	n, k := l.n, l.k
	// Links back, by counting: those into j come in the order of their origins.
	back := make([]int32, n+1)
	for _, q := range l.to {
		back[q.point+1]++
	}
	for i := range n {
		back[i+1] += back[i]
	}
	from, value := make([]int32, len(l.to)), make([]float64, len(l.to))
	next := append([]int32(nil), back[:n]...)
	for i := range n {
		for s, q := range l.of(i) {
			from[next[q.point]], value[next[q.point]] = int32(i), weight[i*k+s]
			next[q.point]++
		}
	}
	// Links out, by rising columns, come from going over the links back.
	out := make([]int32, len(l.to))
	outValue := make([]float64, len(l.to))
	for i := range n {
		next[i] = int32(i * k)
	}
	for j := range n {
		for s := back[j]; s < back[j+1]; s++ {
			i := from[s]
			out[next[i]], outValue[next[i]] = int32(j), value[s]
			next[i]++
		}
	}
	a := &affinity{start: make([]int32, n+1), col: make([]int32, 0, 2*len(out)), val: make([]float64, 0, 2*len(out))}
	for i := range n {
		s, e := back[i], back[i+1]
		o, oe := int32(i*k), int32((i+1)*k)
		for s < e || o < oe {
			switch {
			case s == e || o < oe && out[o] < from[s]:
				a.col, a.val = append(a.col, out[o]), append(a.val, join(outValue[o], 0))
				o++
			case o == oe || from[s] < out[o]:
				a.col, a.val = append(a.col, from[s]), append(a.val, join(0, value[s]))
				s++
			default:
				a.col, a.val = append(a.col, from[s]), append(a.val, join(outValue[o], value[s]))
				s, o = s+1, o+1
			}
		}
		a.start[i+1] = int32(len(a.col))
	}
	return a
}

// cell is a square of the quadtree with its points, which are order[lo:hi]. Cells stand in the order of a walk that
// goes down first; skip is the cell after all those inside.
type cell struct {
	// centre of its points
	x, y float64
	// square of its side
	size2  float64
	lo, hi int32
	skip   int32
	leaf   bool
}

// quadtree is the tree of J. Barnes and P. Hut, A hierarchical O(N log N) force-calculation algorithm, Nature 324,
// 1986.
type quadtree struct {
	cells []cell
	order []int32
	tmp   []int32
	y     []float64
}

func (t *quadtree) build(y []float64) {
	n := len(y) / 2
	t.y = y
	t.cells = t.cells[:0]
	if len(t.order) != n {
		t.order, t.tmp = make([]int32, n), make([]int32, n)
		for i := range t.order {
			t.order[i] = int32(i)
		}
	}
	x0, x1, y0, y1 := y[0], y[0], y[1], y[1]
	for i := 0; i < len(y); i += 2 {
		x0, x1 = min(x0, y[i]), max(x1, y[i])
		y0, y1 = min(y0, y[i+1]), max(y1, y[i+1])
	}
	side := max(x1-x0, y1-y0) * (1 + 1e-9)
	t.split(0, int32(n), x0, y0, side, 0)
}

func (t *quadtree) split(lo, hi int32, x, y, side float64, depth int) {
	me := len(t.cells)
	t.cells = append(t.cells, cell{lo: lo, hi: hi, size2: side * side})
	sx, sy := 0.0, 0.0
	if hi-lo <= leafCell || depth == deepest {
		for _, i := range t.order[lo:hi] {
			sx += t.y[2*i]
			sy += t.y[2*i+1]
		}
		t.cells[me].leaf = true
	} else {
		half := side / 2
		mx, my := x+half, y+half
		var count [5]int32
		for k := lo; k < hi; k++ {
			i := t.order[k]
			sx += t.y[2*i]
			sy += t.y[2*i+1]
			count[1+t.quadrant(i, mx, my)]++
		}
		for q := range 4 {
			count[q+1] += count[q]
		}
		at := count
		for _, i := range t.order[lo:hi] {
			q := t.quadrant(i, mx, my)
			t.tmp[lo+at[q]] = i
			at[q]++
		}
		copy(t.order[lo:hi], t.tmp[lo:hi])
		for q := range 4 {
			if count[q] < count[q+1] {
				t.split(lo+count[q], lo+count[q+1], x+float64(half*float64(q&1)), y+float64(half*float64(q>>1)), half,
					depth+1)
			}
		}
	}
	c := &t.cells[me]
	c.x, c.y = sx/float64(hi-lo), sy/float64(hi-lo)
	c.skip = int32(len(t.cells))
}

func (t *quadtree) quadrant(i int32, mx, my float64) (q int) {
	if t.y[2*i] >= mx {
		q = 1
	}
	if t.y[2*i+1] >= my {
		q += 2
	}
	return q
}

// repulsion sums over the other points, far cells as one, q = 1/(1+d²): Σ q and Σ q² (y_i − y_j). theta is the opening
// angle; 0 makes the sums exact.
func (t *quadtree) repulsion(i int32, theta float64) (fx, fy, z float64) {
	x, y := t.y[2*i], t.y[2*i+1]
	theta2 := theta * theta
	for k := int32(0); k < int32(len(t.cells)); {
		c := &t.cells[k]
		dx, dy := x-c.x, y-c.y
		d2 := float64(dx*dx) + float64(dy*dy)
		switch {
		case c.size2 < theta2*d2:
			q := 1 / (1 + d2)
			m := float64(float64(c.hi-c.lo) * q)
			z += m
			fx += float64(m * q * dx)
			fy += float64(m * q * dy)
			k = c.skip
		case c.leaf:
			for _, j := range t.order[c.lo:c.hi] {
				if j == i {
					continue
				}
				dx, dy := x-t.y[2*j], y-t.y[2*j+1]
				q := 1 / (1 + float64(dx*dx) + float64(dy*dy))
				z += q
				fx += float64(q * q * dx)
				fy += float64(q * q * dy)
			}
			k++
		default:
			k++
		}
	}
	return fx, fy, z
}

// gradient writes the gradient of the divergence KL(P‖Q) times what P is exaggerated by on its side, 4 Σ (e·p − q/Z) q
// (y_i − y_j) (L. van der Maaten, Accelerating t-SNE using tree-based algorithms, JMLR 15, 2014). zs has one entry per
// task.
func (a *affinity) gradient(ctx context.Context, c *crew, t *quadtree, dst, repel, zs, y []float64, e,
	theta float64,
) error {
	n := len(y) / 2
	t.build(y)
	if err := c.each(ctx, blocks(n, forceTask), func(_, b int) {
		lo, hi := span(b, n, forceTask)
		sum := 0.0
		for _, i := range t.order[lo:hi] {
			fx, fy, z := t.repulsion(i, theta)
			repel[2*i], repel[2*i+1] = fx, fy
			sum += z
			ax, ay := 0.0, 0.0
			xi, yi := y[2*i], y[2*i+1]
			for s := a.start[i]; s < a.start[i+1]; s++ {
				j := a.col[s]
				dx, dy := xi-y[2*j], yi-y[2*j+1]
				w := a.val[s] / (1 + float64(dx*dx) + float64(dy*dy))
				ax += float64(w * dx)
				ay += float64(w * dy)
			}
			dst[2*i], dst[2*i+1] = ax, ay
		}
		zs[b] = sum
	}); err != nil {
		return err
	}
	z := 0.0
	for _, v := range zs {
		z += v
	}
	for i := range dst {
		dst[i] = 4 * (float64(e*dst[i]) - repel[i]/z)
	}
	return nil
}

// reduceTSNE follows L. van der Maaten and G. Hinton, Visualizing data using t-SNE, JMLR 9, 2008, with the start from
// principal components of D. Kobak and P. Berens, The art of using t-SNE for single-cell transcriptomics, Nature
// Communications 10, 2019, and the learning rate of A. C. Belkina et al., ibid., at least 50.
func reduceTSNE(ctx context.Context, c *crew, t *table, o *settings) (*Embedding, error) {
	s, err := newSample(ctx, c, t, o)
	if err != nil {
		return nil, err
	}
	n := s.pts.n
	if n < leastLayout {
		return few(ctx, c, t, "t-SNE", leastLayout)
	}
	perplexity := o.Perplexity
	if most := float64(n-1) / perplexityLinked; perplexity > most {
		perplexity = most
		s.note("The perplexity is %.3g: a third of the other rows is the most.", perplexity)
	}
	c.stage(0.15, 0.3)
	l, err := link(ctx, c, s.tree, min(n-1, int(math.Ceil(perplexityLinked*perplexity))))
	if err != nil {
		return nil, err
	}
	p, err := affinities(ctx, c, l, perplexity)
	if err != nil {
		return nil, err
	}
	const deviation = 1e-4
	y, err := s.start(ctx, c, o, 1e-2, func(y []float64) float64 {
		sum := 0.0
		for i := 0; i < len(y); i += 2 {
			sum += float64(y[i] * y[i])
		}
		return math.Sqrt(sum / float64(n))
	})
	if err != nil {
		return nil, err
	}
	scale(y, deviation)
	c.stage(0.3, 0.95)
	rate := max(float64(n)/exaggeration/4, 50)
	grad, repel, speed, gain := make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n)
	zs := make([]float64, blocks(n, forceTask))
	for i := range gain {
		gain[i] = 1
	}
	var tree quadtree
	for round := range o.rounds {
		e, momentum := 1.0, 0.8
		if round < o.rounds/4 {
			e, momentum = exaggeration, 0.5
		}
		if err := p.gradient(ctx, c, &tree, grad, repel, zs, y, e, openingAngle); err != nil {
			return nil, err
		}
		for i, g := range grad {
			if g*speed[i] < 0 {
				gain[i] += 0.2
			} else {
				gain[i] = max(0.8*gain[i], 0.01)
			}
			speed[i] = float64(momentum*speed[i]) - float64(rate*gain[i]*g)
			y[i] += speed[i]
		}
		c.tell(float64(round+1) / float64(o.rounds))
	}
	orient(y)
	c.stage(0.95, 1)
	out, err := s.embed(ctx, c, y, placeAmong, between(y))
	if err != nil {
		return nil, err
	}
	out.Axes = [2]string{"first t-SNE axis (nearness only, no unit)", "second t-SNE axis (nearness only, no unit)"}
	return out, nil
}

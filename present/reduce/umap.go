package reduce

import (
	"context"
	"math"

	"nero/internal/elementary"
)

const (
	umapSpread     = 1.0
	umapNegatives  = 5 // points pushed away for each pull
	umapRate       = 1.0
	umapFrame      = 10.0 // the largest coordinate at the start
	umapLongRounds = 500  // for up to umapLarge points
	umapRounds     = 200
	umapLarge      = 10_000
	umapClip       = 4.0
	umapJitter     = 1e-4
)

// curve finds a and b such that 1/(1+a·x^2b) is nearest, in squares at 300 places from 0 to 3·spread, to the curve that
// is 1 up to minDist and exp(−(x−minDist)/spread) beyond: what similarity in the plane is to look like (L. McInnes, J.
// Healy and J. Melville, UMAP: Uniform manifold approximation and projection for dimension reduction, arXiv:1802.03426,
// definition 11 and what follows). It is the method of D. W. Marquardt, SIAM Journal 11, 1963.
func curve(minDist, spread float64) (a, b float64) {
	const places = 300
	squares := func(a, b float64) (sum, haa, hab, hbb, ga, gb float64) {
		for i := range places {
			x := 3 * spread * float64(i) / (places - 1)
			y := 1.0
			if x >= minDist {
				y = elementary.Exp(-(x - minDist) / spread)
			}
			p, lx := elementary.Pow(x, 2*b), 0.0
			if x > 0 {
				lx = elementary.Log(x)
			}
			f := 1 / (1 + float64(a*p))
			r := f - y
			da, db := float64(-f*f*p), float64(float64(-f*f*a*p)*2*lx)
			sum += float64(r * r)
			haa, hab, hbb = haa+float64(da*da), hab+float64(da*db), hbb+float64(db*db)
			ga, gb = ga+float64(da*r), gb+float64(db*r)
		}
		return sum, haa, hab, hbb, ga, gb
	}
	a, b = 1, 1
	damp := 1e-3
	sum, haa, hab, hbb, ga, gb := squares(a, b)
	for range 500 {
		p, q := haa*(1+damp), hbb*(1+damp)
		det := float64(p*q) - float64(hab*hab)
		na, nb := a-(float64(q*ga)-float64(hab*gb))/det, b-(float64(p*gb)-float64(hab*ga))/det
		next, naa, nab, nbb, nga, ngb := squares(na, nb)
		if !(next < sum) || !(na > 0) || !(nb > 0) {
			if damp *= 4; damp > 1e12 {
				break
			}
			continue
		}
		a, b, sum, haa, hab, hbb, ga, gb = na, nb, next, naa, nab, nbb, nga, ngb
		damp /= 3
	}
	return a, b
}

// memberships are the weights of the links of a point: exp(−max(0, d−ρ)/σ), ρ the distance to its nearest neighbor that
// is not in the same place, σ such that they sum to log₂ k, and at least a thousandth of the mean distance.
func memberships(dst []float64, near []neighbor, mean float64) {
	want := elementary.Log2(float64(len(near)))
	rho, own := 0.0, 0.0
	for _, n := range near {
		if rho == 0 {
			rho = math.Sqrt(n.d2)
		}
		own += math.Sqrt(n.d2) / float64(len(near))
	}
	sum := func(sigma float64) (s float64) {
		for _, n := range near {
			s += weigh(math.Sqrt(n.d2)-rho, sigma)
		}
		return s
	}
	lo, hi, sigma := 0.0, math.Inf(1), 1.0
	if own > 0 {
		sigma = own
	}
	for range 100 {
		s := sum(sigma)
		if math.Abs(s-want) < 1e-6 {
			break
		}
		if s > want {
			hi = sigma
		} else {
			lo = sigma
			if math.IsInf(hi, 1) {
				if sigma > 1e6*own { // all as near as the nearest: no σ takes the sum there
					break
				}
				sigma *= 2
				continue
			}
		}
		sigma = (lo + hi) / 2
	}
	least := 1e-3 * mean
	if rho > 0 {
		least = 1e-3 * own
	}
	sigma = max(sigma, least)
	for i, n := range near {
		dst[i] = weigh(math.Sqrt(n.d2)-rho, sigma)
	}
}

func weigh(beyond, sigma float64) float64 {
	if beyond <= 0 || sigma == 0 {
		return 1
	}
	return elementary.Exp(-beyond / sigma)
}

// fuzzy is the graph of UMAP: memberships joined by the probabilistic sum u + v − uv.
func fuzzy(ctx context.Context, c *crew, l *links) (*affinity, error) {
	mean := 0.0
	for _, n := range l.to {
		mean += math.Sqrt(n.d2) / float64(len(l.to))
	}
	w := make([]float64, len(l.to))
	if err := c.each(ctx, blocks(l.n, forceTask), func(_, b int) {
		lo, hi := span(b, l.n, forceTask)
		for i := lo; i < hi; i++ {
			memberships(w[i*l.k:(i+1)*l.k], l.of(i), mean)
		}
	}); err != nil {
		return nil, err
	}
	return symmetric(l, w, func(u, v float64) float64 { return u + v - float64(u*v) }), nil
}

// reduceUMAP follows McInnes, Healy and Melville (see curve), with the sampling schedule of their program: each link is
// pulled in proportion to its weight, and each pull pushes five points at random away. Steps go one after the other in
// one goroutine, since steps that race make every run another picture. It starts from the principal components, which
// serve as well as the spectrum of the graph (D. Kobak and G. C. Linderman, Nature Biotechnology 39, 2021) and need no
// special case for a graph in parts.
func reduceUMAP(ctx context.Context, c *crew, t *table, o *settings) (*Embedding, error) {
	s, err := newSample(ctx, c, t, o)
	if err != nil {
		return nil, err
	}
	n := s.pts.n
	if n < leastLayout {
		return few(ctx, c, t, "UMAP", leastLayout)
	}
	c.stage(0.15, 0.25)
	l, err := link(ctx, c, s.tree, min(o.Neighbors, n-1))
	if err != nil {
		return nil, err
	}
	_, components := parts(l, nil)
	if components > 1 {
		s.note("The graph of neighbors fell into %d parts; how they lie relative to each other means little.",
			components)
	}
	g, err := fuzzy(ctx, c, l)
	if err != nil {
		return nil, err
	}
	y, err := s.start(ctx, c, o, umapJitter/umapFrame, func(y []float64) float64 {
		largest := 0.0
		for _, v := range y {
			largest = max(largest, math.Abs(v))
		}
		return largest
	})
	if err != nil {
		return nil, err
	}
	scale(y, umapFrame)
	c.stage(0.25, 0.95)
	rounds := umapLongRounds
	if n > umapLarge {
		rounds = umapRounds
	}
	a, b := curve(o.MinDist, umapSpread)
	if err := g.settle(ctx, c, o, y, a, b, rounds); err != nil {
		return nil, err
	}
	orient(y)
	c.stage(0.95, 1)
	e, err := s.embed(ctx, c, y, o.Neighbors, between(y))
	if err != nil {
		return nil, err
	}
	e.Components = components
	e.Axes = [2]string{"first UMAP axis (nearness only, no unit)", "second UMAP axis (nearness only, no unit)"}
	return e, nil
}

// settle takes the steps, with ca and cb the constants of the curve.
func (a *affinity) settle(ctx context.Context, c *crew, o *settings, y []float64, ca, cb float64, rounds int) error {
	n := len(y) / 2
	largest := 0.0
	for _, w := range a.val {
		largest = max(largest, w)
	}
	type pull struct {
		i, j int32
		// round of the next pull, and rounds between two
		next, gap float64
		nextPush  float64
	}
	pulls := make([]pull, 0, len(a.val))
	for i := range n {
		for s := a.start[i]; s < a.start[i+1]; s++ {
			if gap := largest / a.val[s]; gap <= float64(rounds) {
				pulls = append(pulls,
					pull{i: int32(i), j: a.col[s], gap: gap, next: gap, nextPush: gap / umapNegatives})
			}
		}
	}
	clip := func(v float64) float64 { return min(max(v, -umapClip), umapClip) }
	r := o.rand(forSteps)
	for round := range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := float64(round)
		rate := umapRate * (1 - now/float64(rounds))
		for k := range pulls {
			p := &pulls[k]
			if p.next > now {
				continue
			}
			p.next += p.gap
			pi, pj := y[2*p.i:2*p.i+2:2*p.i+2], y[2*p.j:2*p.j+2:2*p.j+2]
			dx, dy := pi[0]-pj[0], pi[1]-pj[1]
			if d2 := float64(dx*dx) + float64(dy*dy); d2 > 0 {
				q := elementary.Exp(cb * elementary.Log(d2)) // d^2b
				f := -2 * ca * cb * q / (d2 * (1 + float64(ca*q)))
				mx, my := float64(rate*clip(f*dx)), float64(rate*clip(f*dy))
				pi[0] += mx
				pi[1] += my
				pj[0] -= mx
				pj[1] -= my
			}
			pushes := int((now - p.nextPush) / (p.gap / umapNegatives))
			p.nextPush += float64(pushes) * p.gap / umapNegatives
			for range pushes {
				j := int(r.Uint64() >> 32 * uint64(n) >> 32)
				if j == int(p.i) {
					continue
				}
				dx, dy := pi[0]-y[2*j], pi[1]-y[2*j+1]
				if d2 := float64(dx*dx) + float64(dy*dy); d2 > 0 {
					q := elementary.Exp(cb * elementary.Log(d2))
					f := 2 * cb / ((0.001 + d2) * (1 + float64(ca*q)))
					pi[0] += float64(rate * clip(f*dx))
					pi[1] += float64(rate * clip(f*dy))
				}
			}
		}
		c.tell(float64(round+1) / float64(rounds))
	}
	return nil
}

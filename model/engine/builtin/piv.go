package builtin

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// piv is windowed cross-correlation.
var piv = &Method{
	Name: "piv",
	Doc: "Windowed cross-correlation, the method of particle image velocimetry itself: windows of both frames are " +
		"compared at all whole displacements up to search by the normalized cross-correlation of what both show, the " +
		"peak is found to a fraction of a pixel by a Gaussian through three points along either axis, vectors are " +
		"interpolated bilinearly to the pixels. Passes go from large to small windows, shifted half-way in " +
		"either frame by what the pass before has found (central differences: Wereley and Meinhart 2001, multi-pass: " +
		"Scarano and Riethmuller 1999). After each pass vectors that fail the normalized median test (Westerweel and " +
		"Scarano 2005) are replaced by the median of their neighbours. Grey levels are rounded to some 4,000 " +
		"steps of " +
		"their range, so that sums are exact. It sees no detail below its windows.",
	Number: 2,
	Params: []Param{
		{
			Name: "window", Doc: "side of the windows of the last pass, px", Default: 16, Least: 4, Most: 256,
			Whole: true, Even: true,
		},
		{Name: "overlap", Doc: "share of a window that the next one covers too", Default: 0.5, Least: 0, Most: 0.9},
		{
			Name: "passes", Doc: "each with windows half as wide as the one before", Default: 3, Least: 1, Most: 6,
			Whole: true,
		},
		{
			Name: "search", Doc: "largest displacement of the first pass along either axis, px; later passes look 3 " +
				"px around what is known", Default: 12, Least: 1, Most: 128, Whole: true,
		},
		{Name: "median", Doc: "limit of the normalized median test; 0 for none", Default: 2, Least: 0, Most: 100},
	},
	New: func(v []float64) (Solve, error) {
		c := correlation{
			window: int(v[0]), overlap: v[1], passes: int(v[2]), search: int(v[3]), median: v[4],
		}
		if c.step(c.window) < 1 {
			return nil, fmt.Errorf("windows of %d px with an overlap of %g would follow each other by less than "+
				"a pixel", c.window, c.overlap)
		}
		return c.solve, nil
	},
}

type correlation struct {
	window         int
	overlap        float64
	passes, search int
	median         float64
}

// later is how far a pass looks around what the one before has found.
const later = 3

// step is the distance of windows: even, so that the windows of a picture of even sides lie alike from both sides.
func (c correlation) step(window int) int {
	s := int(math.Round(float64(window) * (1 - c.overlap)))
	return max(s-s%2, min(s, 2))
}

// grid is a row of windows along one axis: where the first begins, how far each is from the next, and how many there
// are.
type grid struct{ first, step, n, window int }

// over lays windows over an axis of some length, as many as fit, in the middle.
func (c correlation) over(length, window int) grid {
	g := grid{step: c.step(window), window: window}
	g.n = (length-window)/g.step + 1
	g.first = (length - window - (g.n-1)*g.step) / 2
	return g
}

// centre is that of a window, in pixels of which the first has its centre at 0.
func (g grid) centre(i int) float64 { return float64(g.first+i*g.step) + float64(g.window-1)/2 }

// near finds the two windows between whose centres a place lies, and how far it is from the first to the second. Beyond
// the outermost their vector holds.
func (g grid) near(x float64) (i, j int, t float64) {
	t = (x - g.centre(0)) / float64(g.step)
	switch {
	case !(t > 0):
		return 0, 0, 0
	case t >= float64(g.n-1):
		return g.n - 1, g.n - 1, 0
	}
	i = int(t)
	return i, i + 1, t - float64(i)
}

// vectors are those of all windows, row by row.
type vectors struct {
	x, y grid
	all  []vector
}

// at interpolates.
func (f *vectors) at(x, y float64) (u, v float64) {
	i0, i1, s := f.x.near(x)
	j0, j1, t := f.y.near(y)
	a, b := f.all[j0*f.x.n+i0], f.all[j0*f.x.n+i1]
	c, d := f.all[j1*f.x.n+i0], f.all[j1*f.x.n+i1]
	mix := func(a, b, c, d float64) float64 {
		// The outer corners and the inner ones: rows and columns are treated alike.
		return (float64((1-s)*(1-t)*a) + float64(s*t*d)) + (float64(s*(1-t)*b) + float64((1-s)*t*c))
	}
	return mix(a.u, b.u, c.u, d.u), mix(a.v, b.v, c.v, d.v)
}

func (c correlation) solve(ctx context.Context, a, b *Picture) (*Field, error) {
	least := min(a.H, a.W)
	if least < c.window {
		return nil, fmt.Errorf("piv: pictures of %d x %d px are smaller than a window of %d; set window", a.W, a.H,
			c.window)
	}
	first, second, ok := rasters(a, b)
	if !ok {
		return &Field{make([]float64, a.H*a.W), make([]float64, a.H*a.W)}, nil // nothing to see
	}
	a, b = first.picture(), second.picture()
	ta, tb := sums(a), sums(b)
	var found *vectors
	for pass := c.passes - 1; pass >= 0; pass-- {
		window := c.window << pass
		if window > least { // the next may fit
			continue
		}
		now := &vectors{x: c.over(a.W, window), y: c.over(a.H, window)}
		now.all = make([]vector, now.x.n*now.y.n)
		reach := later
		if found == nil {
			reach = min(c.search, window-1)
		}
		var whole *products
		if found == nil {
			whole = newProducts(a, b, now, reach)
		}
		p := newPlane(reach)
		for j := range now.y.n {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for i := range now.x.n {
				half := [2]int{}
				var u, v float64
				if found != nil {
					u, v = found.at(now.x.centre(i), now.y.centre(j))
					half = [2]int{int(math.Round(u / 2)), int(math.Round(v / 2))} // ties away from zero
				}
				correlate(p, a, b, ta, tb, now.x.first+i*now.x.step, now.y.first+j*now.y.step, window, half,
					whole.of(j*now.x.n+i))
				d := p.best(gaussian)
				d.u, d.v = d.u+float64(2*half[0]), d.v+float64(2*half[1])
				if !d.sure && found != nil {
					d.u, d.v = u, v
				}
				now.all[j*now.x.n+i] = d
			}
		}
		c.mend(now)
		found = now
	}
	f := &Field{make([]float64, a.H*a.W), make([]float64, a.H*a.W)}
	for y := range a.H {
		for x := range a.W {
			f.U[y*a.W+x], f.V[y*a.W+x] = found.at(float64(x), float64(y))
		}
	}
	return f, nil
}

// table holds sums of grey levels and of their squares over rectangles from the first pixel, with a row and a column of
// zeros before.
type table struct {
	w           int
	one, square []float64
}

func sums(p *Picture) *table {
	t := &table{p.W + 1, make([]float64, (p.H+1)*(p.W+1)), make([]float64, (p.H+1)*(p.W+1))}
	for y := range p.H {
		var one, square float64
		for x := range p.W {
			g := p.Pix[y*p.W+x]
			one += g
			square += float64(g * g)
			k := (y+1)*t.w + x + 1
			t.one[k], t.square[k] = t.one[k-t.w]+one, t.square[k-t.w]+square
		}
	}
	return t
}

// of is the sum over a rectangle, the ends of which do not belong to it.
func of(t []float64, w, x0, x1, y0, y1 int) float64 {
	return (t[y1*w+x1] + t[y0*w+x0]) - (t[y1*w+x0] + t[y0*w+x1])
}

// leastShared is the share of a window that both frames have to show for a displacement to count.
const leastShared = 0.25

// correlate fills in how alike the windows at (x, y) are, that of the first frame shifted back and that of the second
// one forth by half, for displacements around twice that. What both windows show is compared, and nothing else: so a
// displacement is no less likely because windows share less there. Sums of products that are known are in known, as
// scores are in a plane; nil for none.
func correlate(p *plane, a, b *Picture, ta, tb *table, x, y, window int, half [2]int, known []float64) {
	cut := func(from, half, d, length int) (lo, hi int) { // in the first frame
		lo = max(from-half, from+half-d, 0, -d)
		hi = min(from-half+window, from+half-d+window, length, length-d)
		return lo, hi
	}
	for dy := -p.reach; dy <= p.reach; dy++ {
		oy := 2*half[1] + dy
		y0, y1 := cut(y, half[1], oy, a.H)
		for dx := -p.reach; dx <= p.reach; dx++ {
			ox := 2*half[0] + dx
			x0, x1 := cut(x, half[0], ox, a.W)
			if x1 <= x0 || y1 <= y0 || float64((x1-x0)*(y1-y0)) < leastShared*float64(window*window) {
				p.set(dx, dy, math.NaN())
				continue
			}
			var product float64
			if known != nil {
				product = known[(dy+p.reach)*(2*p.reach+1)+dx+p.reach]
			} else {
				product = multiplied(a, b, x0, x1, y0, y1, ox, oy)
			}
			n := float64((x1 - x0) * (y1 - y0))
			sa, sb := of(ta.one, ta.w, x0, x1, y0, y1), of(tb.one, tb.w, x0+ox, x1+ox, y0+oy, y1+oy)
			qa, qb := of(ta.square, ta.w, x0, x1, y0, y1), of(tb.square, tb.w, x0+ox, x1+ox, y0+oy, y1+oy)
			va, vb := float64(n*qa)-float64(sa*sa), float64(n*qb)-float64(sb*sb)
			v := math.NaN() // nothing to see
			if va > 0 && vb > 0 {
				v = (float64(n*product) - float64(sa*sb)) / (math.Sqrt(va) * math.Sqrt(vb))
			}
			p.set(dx, dy, v)
		}
	}
}

// multiplied is the sum of products over a rectangle of the first frame, the ends of which do not belong to it.
func multiplied(a, b *Picture, x0, x1, y0, y1, dx, dy int) float64 {
	sum := 0.0
	for r := y0; r < y1; r++ {
		sum += dot(a.Pix[r*a.W+x0:r*a.W+x1], b.Pix[(r+dy)*b.W+x0+dx:(r+dy)*b.W+x1+dx])
	}
	return sum
}

// products are sums of products of windows that overlap and are not shifted, as those of the first pass are, for all
// displacements up to a reach: a pixel that several windows cover is multiplied once.
type products struct {
	size int
	sums []float64
}

// mostProducts bounds the numbers that are kept, here 64 MB.
const mostProducts = 1 << 23

// newProducts returns nil where windows do not share whole steps, or where it would take too much room.
func newProducts(a, b *Picture, f *vectors, reach int) *products {
	step, window := f.x.step, f.x.window
	size := (2*reach + 1) * (2*reach + 1)
	if window%step != 0 || window == step || reach >= step || size > mostProducts/(f.x.n*f.y.n) {
		return nil
	}
	n := 2*window/step - 1 // segments of a window
	p := &products{size, make([]float64, size*f.x.n*f.y.n)}
	var cells []float64
	for at := range size {
		dx, dy := at%(2*reach+1)-reach, at/(2*reach+1)-reach
		xs, ys := f.x.segments(dx), f.y.segments(dy)
		across := len(xs) - 1
		cells = cells[:0]
		for j := range len(ys) - 1 {
			for i := range across {
				cells = append(cells, multiplied(a, b, xs[i], xs[i+1], ys[j], ys[j+1], dx, dy))
			}
		}
		for w := range f.x.n * f.y.n {
			first := 2 * (w/f.x.n*across + w%f.x.n)
			last := first + (n-1)*(across+1)
			// From both ends at once, for a turn takes the one to the other; n is odd.
			sum := cells[(first+last)/2]
			for c := range n * n / 2 {
				d := c/n*across + c%n
				sum += cells[first+d] + cells[last-d]
			}
			p.sums[w*size+at] = sum
		}
	}
	return p
}

// segments are the ends of what windows share at a displacement: a window shows there what lies in it in both frames,
// which ends before it does on one side. From one step to the next there is a part that all windows over it show, and
// one about the step that is not shown by the window that ends, or begins, there.
func (g grid) segments(d int) []int {
	before, after := max(0, -d), max(0, d)
	var ends []int
	for i := range g.n + g.window/g.step - 1 {
		ends = append(ends, g.first+i*g.step+before, g.first+(i+1)*g.step-after)
	}
	return ends
}

// of are the sums of one window; nil without any.
func (p *products) of(window int) []float64 {
	if p == nil {
		return nil
	}
	return p.sums[window*p.size : (window+1)*p.size]
}

// dot is the sum of products, in four parts for speed.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i] * b[i])
		s1 += float64(a[i+1] * b[i+1])
		s2 += float64(a[i+2] * b[i+2])
		s3 += float64(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s3) + (s1 + s2)
}

// mend replaces vectors that nothing is known of, or that fail the normalized median test, by the median of their
// neighbours, all at once: which is first makes no difference.
func (c correlation) mend(f *vectors) {
	old := slices.Clone(f.all)
	var us, vs []float64
	for j := range f.y.n {
		for i := range f.x.n {
			us, vs = us[:0], vs[:0]
			for y := max(j-1, 0); y <= min(j+1, f.y.n-1); y++ {
				for x := max(i-1, 0); x <= min(i+1, f.x.n-1); x++ {
					if d := old[y*f.x.n+x]; (x != i || y != j) && d.sure {
						us, vs = append(us, d.u), append(vs, d.v)
					}
				}
			}
			tested(&f.all[j*f.x.n+i], us, vs, c.median)
		}
	}
}

// tested replaces a vector that nothing is known of, or that fails the normalized median test, by the median of its
// neighbours, which are put into order. Without three of them a vector that is known stays.
func tested(d *vector, us, vs []float64, limit float64) {
	const noise = 0.1 // px: what neighbours always differ by
	if len(us) < 3 && (d.sure || len(us) == 0) {
		return // nobody to ask
	}
	mu, ru := spread(us)
	mv, rv := spread(vs)
	eu, ev := (d.u-mu)/(ru+noise), (d.v-mv)/(rv+noise)
	if !d.sure || limit > 0 && !(math.Sqrt(float64(eu*eu)+float64(ev*ev)) <= limit) {
		d.u, d.v = mu, mv
	}
}

// spread is the median, and the median distance from it.
func spread(xs []float64) (median, distance float64) {
	median = middle(xs)
	for i, x := range xs {
		xs[i] = math.Abs(x - median)
	}
	return median, middle(xs)
}

// middle is the median; it sorts.
func middle(xs []float64) float64 {
	slices.Sort(xs)
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

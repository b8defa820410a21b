package builtin

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/internal/elementary"
)

// blocks is dense block matching.
var blocks = &Method{
	Name: "blocks",
	Doc: "Dense block matching: a block about every pixel of both frames is compared by the zero-mean " +
		"normalized sum of " +
		"squared differences (ZNSD) of what both show, and the least is found to a fraction of a pixel by a fit " +
		"through " +
		"three points along either axis. It goes from coarse pictures to fine ones, with whole pixels first; " +
		"then both " +
		"frames are warped half-way towards each other by what is known (windowed sinc; iterative image " +
		"deformation: Huang, Fiedler and Wang 1993, Scarano 2002) and what is left is looked for once more. " +
		"After each " +
		"pass vectors that fail the normalized median test (Westerweel and Scarano 2005) against those half a block " +
		"away are replaced by their median. Sums are of whole numbers: the 16 symmetries of the square and of " +
		"time move " +
		"its answers to the last bit. It sees no detail below its blocks.",
	Number: 1,
	Params: []Param{
		{Name: "block", Doc: "side of the blocks, px", Default: 16, Least: 4, Most: 64, Whole: true, Even: true},
		{
			Name: "search", Doc: "largest displacement along either axis, px", Default: 12, Least: 1, Most: 128,
			Whole: true,
		},
		{
			Name: "passes", Doc: "passes of the full size with warped frames, after the one from whole " +
				"pixels", Default: 3,
			Least: 0, Most: 8, Whole: true,
		},
		{Name: "median", Doc: "limit of the normalized median test; 0 for none", Default: 2, Least: 0, Most: 100},
	},
	New: func(v []float64) (Solve, error) {
		m := matching{reach: int(v[0]) / 2, search: int(v[1]), passes: int(v[2]), median: v[3], kernel: newKernel()}
		return m.solve, nil
	},
}

// matching is block matching. Blocks are weighted: 1 up to a pixel before their ends and a half there, so that their
// middle is a pixel and their side is even.
type matching struct {
	// half a block, px
	reach          int
	search, passes int
	median         float64
	kernel         kernel
}

// The arithmetic of whole numbers: sums of them do not depend on the order, so turned pictures have the same ones.
const (
	// Grey levels are 0 to levels, more than a camera of 12 bits has.
	levels = 1 << 12
	// Displacements are multiples of 1/units px, and halves of them of 1/fine.
	units = 1024
	fine  = 2 * units
	// Weights of an interpolation are multiples of 1/one.
	one = 1 << 14
)

// raster is a picture of whole grey levels.
type raster struct {
	h, w int
	pix  []int32
}

// shifts are displacements of all pixels, in 1/units px.
type shifts struct{ u, v []int32 }

func (m matching) solve(ctx context.Context, a, b *Picture) (*Field, error) {
	least := min(a.H, a.W)
	if least < 2*m.reach {
		return nil, fmt.Errorf("blocks: pictures of %d x %d px are smaller than a block of %d; set block", a.W, a.H,
			2*m.reach)
	}
	out := &Field{make([]float64, a.H*a.W), make([]float64, a.H*a.W)}
	first, second, ok := rasters(a, b)
	if !ok {
		return out, nil // nothing to see
	}
	as, bs, search := []*raster{first}, []*raster{second}, m.search
	for search > later && least/2 >= 2*m.reach {
		last := len(as) - 1
		as, bs = append(as, as[last].smaller()), append(bs, bs[last].smaller())
		search, least = (search+1)/2, least/2
		if search <= 2*later {
			break
		}
	}
	var now *shifts
	var found []vector
	for level, a := range slices.Backward(as) {
		b := bs[level]
		reach := later
		if now == nil {
			now, reach = &shifts{make([]int32, a.h*a.w), make([]int32, a.h*a.w)}, min(search, max(a.h, a.w)-1)
		} else {
			now = now.larger(as[level+1], a)
		}
		var err error
		if found, err = m.pass(ctx, a, b, now, reach); err != nil {
			return nil, err
		}
		now = m.known(found)
	}
	for range m.passes {
		now = m.smooth(now, first.h, first.w)
		var err error
		if found, err = m.pass(ctx, first, second, now, again); err != nil {
			return nil, err
		}
		now = m.known(found)
	}
	for i, d := range found {
		out.U[i], out.V[i] = d.u, d.v
	}
	return out, nil
}

// again is how far a pass looks that is about fractions of a pixel.
const again = 2

// rasters are both pictures with whole grey levels, the least of both 0; false if they show nothing.
func rasters(a, b *Picture) (first, second *raster, ok bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range []*Picture{a, b} {
		for _, v := range p.Pix {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if !(hi > lo) {
		return nil, nil, false
	}
	// A power of two, so that whole grey levels stay whole, and small changes of them change nothing.
	_, e := math.Frexp(hi - lo)
	scale := math.Ldexp(levels, -e)
	both := make([]*raster, 2)
	for k, p := range []*Picture{a, b} {
		both[k] = &raster{p.H, p.W, make([]int32, len(p.Pix))}
		for i, v := range p.Pix {
			both[k].pix[i] = int32(math.Round((v - lo) * scale))
		}
	}
	return both[0], both[1], true
}

// picture is the same in other numbers.
func (r *raster) picture() *Picture {
	p := &Picture{r.h, r.w, make([]float64, len(r.pix))}
	for i, v := range r.pix {
		p.Pix[i] = float64(v)
	}
	return p
}

// smaller is the picture at half the side. Of an even side two pixels make one, of an odd one every other pixel counts
// twice and its neighbours once: both are the same seen from either end.
func (r *raster) smaller() *raster {
	s := &raster{h: (r.h + 1) / 2, w: (r.w + 1) / 2}
	s.pix = make([]int32, s.h*s.w)
	for y := range s.h {
		ys := ofHalf(y, r.h)
		for x := range s.w {
			sum := int32(0)
			for _, i := range ys {
				for _, j := range ofHalf(x, r.w) {
					sum += r.pix[i*r.w+j]
				}
			}
			s.pix[y*s.w+x] = (sum + 8) >> 4
		}
	}
	return s
}

// ofHalf are the four pixels, some of them the same, that one of half the side is the mean of.
func ofHalf(i, n int) [4]int {
	if n%2 == 0 {
		return [4]int{2 * i, 2 * i, 2*i + 1, 2*i + 1}
	}
	return [4]int{max(2*i-1, 0), 2 * i, 2 * i, min(2*i+1, n-1)}
}

// larger takes displacements from a picture to the one of which it is half the side, where they are twice as long.
func (s *shifts) larger(from, to *raster) *shifts {
	out := &shifts{make([]int32, to.h*to.w), make([]int32, to.h*to.w)}
	for y := range to.h {
		y0, y1, ty := between(y, to.h)
		for x := range to.w {
			x0, x1, tx := between(x, to.w)
			mix := func(k []int32) int32 { // the weights are quarters; the sum is 16 times half of the displacement
				a, b := k[y0*from.w+x0], k[y0*from.w+x1]
				c, d := k[y1*from.w+x0], k[y1*from.w+x1]
				return int32(rounded(int64(4-ty)*int64((4-tx)*a+tx*b)+int64(ty)*int64((4-tx)*c+tx*d), 8))
			}
			out.u[y*to.w+x], out.v[y*to.w+x] = mix(s.u), mix(s.v)
		}
	}
	return out
}

// between are the two pixels of a picture of half the side between which one lies, and its distance from the first in
// quarters.
func between(i, n int) (lo, hi int, quarters int32) {
	if n%2 == 1 {
		return i / 2, (i + 1) / 2, int32(2 * (i % 2))
	}
	if i%2 == 0 {
		return max(i/2-1, 0), i / 2, 3
	}
	return i / 2, min(i/2+1, n/2-1), 1
}

// rounded is a quotient to the nearest whole number, ties away from zero.
func rounded(a, b int64) int64 {
	if a < 0 {
		return -rounded(-a, b)
	}
	return (2*a + b) / (2 * b)
}

// known are the vectors as displacements to start from.
func (m matching) known(vs []vector) *shifts {
	s := &shifts{make([]int32, len(vs)), make([]int32, len(vs))}
	for i, d := range vs {
		s.u[i], s.v[i] = int32(math.Round(d.u*units)), int32(math.Round(d.v*units))
	}
	return s
}

// smooth averages displacements over half a block: what a warped pass cannot see it must not feed on.
func (m matching) smooth(s *shifts, h, w int) *shifts {
	r := max(m.reach/2, 1)
	mean := func(in []int32) []int32 {
		rows, out := make([]int64, h*w), make([]int32, h*w)
		for y := range h {
			for x := range w {
				var sum int64
				for j := max(x-r, 0); j <= min(x+r, w-1); j++ {
					sum += int64(in[y*w+j])
				}
				rows[y*w+x] = sum
			}
		}
		for y := range h {
			y0, y1 := max(y-r, 0), min(y+r, h-1)
			for x := range w {
				var sum int64
				for i := y0; i <= y1; i++ {
					sum += rows[i*w+x]
				}
				out[y*w+x] = int32(rounded(sum, int64((y1-y0+1)*(min(x+r, w-1)-max(x-r, 0)+1))))
			}
		}
		return out
	}
	return &shifts{mean(s.u), mean(s.v)}
}

// sheet is a frame as a pass sees it, warped, with a margin of what nothing is known of: seen is 0 and pix is 0 there.
type sheet struct {
	w, margin int
	pix, seen []int32
}

// warp takes a frame to mid-time: a pixel shows what lies half its displacement before it, for sign -1, or behind it.
// Halves that are whole pixels are taken and others interpolated.
func warp(r *raster, by *shifts, sign, margin int, ker kernel) *sheet {
	s := &sheet{w: r.w + 2*margin, margin: margin}
	s.pix, s.seen = make([]int32, (r.h+2*margin)*s.w), make([]int32, (r.h+2*margin)*s.w)
	for y := range r.h {
		for x := range r.w {
			i := y*r.w + x
			px, py := x*fine+sign*int(by.u[i]), y*fine+sign*int(by.v[i])
			if px < 0 || py < 0 || px > (r.w-1)*fine || py > (r.h-1)*fine {
				continue
			}
			k := (y+margin)*s.w + x + margin
			s.seen[k] = 1
			if px%fine == 0 && py%fine == 0 {
				s.pix[k] = r.pix[py/fine*r.w+px/fine]
				continue
			}
			s.pix[k] = r.at(px, py, ker)
		}
	}
	return s
}

// at interpolates at a place in 1/fine px. Beyond the border its pixels repeat.
func (r *raster) at(x, y int, k kernel) int32 {
	wx, wy := k.of(x), k.of(y)
	x, y = x/fine-wide+1, y/fine-wide+1
	var sum int64
	for j, v := range wy {
		row := min(max(y+j, 0), r.h-1) * r.w
		var across int64
		if x >= 0 && x+2*wide <= r.w {
			for i, p := range r.pix[row+x : row+x+2*wide] {
				across += wx[i] * int64(p)
			}
		} else {
			for i, u := range wx {
				across += u * int64(r.pix[row+min(max(x+i, 0), r.w-1)])
			}
		}
		sum += v * across
	}
	return int32((sum + one*one/2) >> 28)
}

// wide is how many pixels on either side of a place count.
const wide = 4

// kernel holds the weights of the pixels about each place between two, from one to the other: those of Lanczos, a sinc
// below a wider one. Particles of two or three pixels leave more in short kernels than a fit may err by.
type kernel [][2 * wide]int64

func newKernel() kernel {
	k := make(kernel, fine)
	for t := range k {
		var w [2 * wide]float64
		sum := 0.0
		for i := range w {
			w[i] = lanczos(math.Abs(float64((i-wide+1)*fine-t)) / fine)
		}
		for i := range wide { // from the ends, the same from either
			sum += w[i] + w[2*wide-1-i]
		}
		for i := range w {
			k[t][i] = int64(math.Round(one * (w[i] / sum)))
		}
	}
	return k
}

func (k kernel) of(x int) *[2 * wide]int64 { return &k[x%fine] }

// lanczos is the weight of a pixel at a distance in px.
func lanczos(d float64) float64 {
	switch {
	case d == 0:
		return 1
	case d >= wide:
		return 0
	}
	x := math.Pi * d
	return elementary.Sin(x) * elementary.Sin(x/wide) * wide / float64(x*x)
}

// pass looks for what is left of the displacements, up to reach, and returns all of them.
func (m matching) pass(ctx context.Context, a, b *raster, now *shifts, reach int) ([]vector, error) {
	margin := m.reach + reach + 2
	s := &search{half: m.reach, reach: reach, w: a.w}
	s.a, s.b = warp(a, now, -1, margin, m.kernel), warp(b, now, 1, margin, m.kernel)
	n := 2*reach + 1
	rows := min(a.h, max(8, 1<<22/(a.w*n*n))) // what a pass keeps at once is bounded
	s.scores = make([]float64, rows*a.w*n*n)
	out := make([]vector, a.h*a.w)
	for y0 := 0; y0 < a.h; y0 += rows {
		y1 := min(y0+rows, a.h)
		for dy := -reach; dy <= reach; dy++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for dx := -reach; dx <= reach; dx++ {
				s.compare(y0, y1, dx, dy)
			}
		}
		for i := range (y1 - y0) * a.w {
			p := plane{reach, s.scores[i*n*n : (i+1)*n*n]}
			k := y0*a.w + i
			d := p.best(gaussian)
			u, v := float64(float64(now.u[k])/units), float64(float64(now.v[k])/units)
			if d.sure {
				u, v = u+d.u, v+d.v
			}
			out[k] = vector{u, v, d.sure}
		}
	}
	m.mend(out, a.h, a.w)
	return out, nil
}

// search compares blocks of two sheets.
type search struct {
	half, reach int
	a, b        *sheet
	w           int
	// scores of a strip of pixels, a plane for each
	scores []float64
}

// tally are the sums over what both blocks show: the number of pixels, grey levels of either, their squares, their
// products.
type tally [6]int64

func (t *tally) add(o *tally) {
	for k := range t {
		t[k] += o[k]
	}
}

func (t *tally) less(o *tally) {
	for k := range t {
		t[k] -= o[k]
	}
}

// alike is the correlation of what both show, 1 - ZNSD/2; NaN for nothing.
func (t *tally) alike(most int64) float64 {
	n := t[0]
	if float64(n) < leastShared*float64(most) {
		return math.NaN()
	}
	va, vb := n*t[3]-t[1]*t[1], n*t[4]-t[2]*t[2]
	if va <= 0 || vb <= 0 {
		return math.NaN() // nothing to see
	}
	return float64(n*t[5]-t[1]*t[2]) / math.Sqrt(float64(va)*float64(vb))
}

// compare fills in the scores of one displacement for rows y0 up to y1. The blocks' middle is half-way: where that is
// between two pixels, blocks of whole pixels lie about it; else there is half a pixel at either end.
func (s *search) compare(y0, y1, dx, dy int) {
	half, m, w := s.half, s.a.margin, s.a.w
	n := 2*s.reach + 1
	at := (dy+s.reach)*n + dx + s.reach
	most := int64(16 * half * half)
	// Of blocks that begin half before a row (or column), the first one, and whether that after it counts too.
	qy, evenY := y0-floorHalf(dy), dy%2 == 0
	qx, evenX := -floorHalf(dx), dx%2 == 0
	if !evenY {
		qy = y0 - floorHalf(dy-1)
	}
	if !evenX {
		qx = -floorHalf(dx - 1)
	}
	from, width := qx-half+m, s.w+2*half // of the columns in the sheets
	cols, both := make([]tally, width), make([]tally, width)
	line := func(row int, put func(c, t *tally)) {
		pa, ma := s.a.pix[(row+m)*w+from:], s.a.seen[(row+m)*w+from:]
		k := (row+dy+m)*w + from + dx
		pb, mb := s.b.pix[k:], s.b.seen[k:]
		for x := range cols {
			p, q := int64(pa[x]), int64(pb[x])
			sp, sq := int64(ma[x]), int64(mb[x])
			t := tally{sp * sq, p * sq, q * sp, p * p * sq, q * q * sp, p * q}
			put(&cols[x], &t)
		}
	}
	for r := qy - half; r < qy+half; r++ {
		line(r, (*tally).add)
	}
	for y := y0; y < y1; y++ {
		copy(both, cols)
		q := qy + y - y0
		if evenY || y+1 < y1 {
			line(q-half, (*tally).less)
			line(q+half, (*tally).add)
		}
		for x := range both {
			if evenY {
				both[x].add(&cols[x])
			} else {
				t := both[x]
				both[x].add(&t)
			}
		}
		var sum tally
		for x := range 2 * half {
			sum.add(&both[x])
		}
		for x := range s.w {
			t := sum
			sum.less(&both[x])
			sum.add(&both[x+2*half])
			if evenX {
				t.add(&sum)
			} else {
				u := t
				t.add(&u)
			}
			s.scores[((y-y0)*s.w+x)*n*n+at] = t.alike(most)
		}
	}
}

func floorHalf(d int) int { return d >> 1 }

// mend replaces vectors that nothing is known of, or that fail the normalized median test, by the median of those half
// a block away, all at once.
func (m matching) mend(vs []vector, h, w int) {
	old := append([]vector(nil), vs...)
	us, ws := make([]float64, 0, 8), make([]float64, 0, 8)
	for y := range h {
		for x := range w {
			us, ws = us[:0], ws[:0]
			for j := -1; j <= 1; j++ {
				for i := -1; i <= 1; i++ {
					px, py := x+i*m.reach, y+j*m.reach
					if i == 0 && j == 0 || px < 0 || py < 0 || px >= w || py >= h {
						continue
					}
					if d := old[py*w+px]; d.sure {
						us, ws = append(us, d.u), append(ws, d.v)
					}
				}
			}
			tested(&vs[y*w+x], us, ws, m.median)
		}
	}
}

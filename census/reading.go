package census

import (
	"fmt"
	"math"
	"slices"

	"nero/data/space"
)

// reading makes of values a list of numbers of one length, which can be compared.
type reading struct {
	// Doc says what these are.
	Doc string
	// of is the numbers that a classifier reads
	of func(v space.Value) []float64
	// near is the numbers by which neighbors are found; nil for the same
	near func(v space.Value) []float64
	// plain says that the numbers for neighbors have one unit, so that distances are taken of them as they are
	plain bool
}

// neighborly is the numbers by which neighbors are found.
func (r *reading) neighborly(v space.Value) []float64 {
	if r.near == nil {
		return r.of(v)
	}
	return r.near(v)
}

// readers are the ways to read, in the order in which they are tried: the first that knows a value is taken.
func readers() []func(v space.Value, info *space.Info) *reading {
	return []func(space.Value, *space.Info) *reading{readPictures, readGrids, readRows, readNumbers}
}

// read is how values like this one are read: of records, all fields that hold numbers, one after another.
func read(v space.Value, kinds space.List) (*reading, error) {
	type part struct {
		name string
		*reading
	}
	var parts []part
	for name, leaf := range space.Leaves(v) {
		if _, ok := leaf.(space.Linear); !ok || len(leaf.Numbers()) == 0 {
			continue
		}
		for _, r := range readers() {
			if p := r(leaf, kinds.Info(leaf.Kind())); p != nil {
				parts = append(parts, part{name, p})
				break
			}
		}
	}
	switch len(parts) {
	case 0:
		return nil, fmt.Errorf("samples are %s, which no classifier can read", v.Form())
	case 1:
		if name := parts[0].name; name == "" {
			return parts[0].reading, nil
		}
	}
	out := &reading{}
	for i, p := range parts {
		if i > 0 {
			out.Doc += "; "
		}
		out.Doc += p.name + ": " + p.Doc
	}
	out.of = func(v space.Value) []float64 {
		var all []float64
		for name, leaf := range space.Leaves(v) {
			if k := slices.IndexFunc(parts, func(p part) bool { return p.name == name }); k >= 0 {
				all = append(all, parts[k].of(leaf)...)
			}
		}
		return all
	}
	return out, nil
}

// mostRead bounds how many numbers a classifier reads of a picture or a grid, and mostNear by how many neighbors are
// found; more cells than so many a side it does not have.
const (
	mostRead, sideRead = 150, 7
	mostNear, sideNear = 600, 14
)

// readPictures reads the means over cells of pictures.
func readPictures(v space.Value, _ *space.Info) *reading {
	p, ok := v.(space.Pictured)
	if !ok {
		return nil
	}
	all := p.Pictures()
	m := all[0]
	few := cells(len(all)*m.C, mostRead, sideRead, m.H, m.W)
	many := cells(len(all)*m.C, mostNear, sideNear, m.H, m.W)
	by := func(cells []int) func(space.Value) []float64 {
		usual := newPool([]int{m.H, m.W}, cells)
		return func(v space.Value) []float64 {
			var out []float64
			if p, ok := v.(space.Pictured); ok {
				for _, m := range p.Pictures() {
					of := usual
					if m.H != of.size[0] || m.W != of.size[1] {
						of = newPool([]int{m.H, m.W}, cells)
					}
					out = append(out, of.means(m.Pix, m.C)...)
				}
			}
			return out
		}
	}
	return &reading{
		Doc:  fmt.Sprintf("pixels, as means over %d x %d cells of each channel", few[0], few[1]),
		of:   by(few),
		near: by(many), plain: true,
	}
}

// readGrids reads the means over cells of signals, volumes and other maps; of signals also the mean squares.
func readGrids(v space.Value, info *space.Info) *reading {
	if info == nil || !info.Gridded && !info.Planar {
		return nil
	}
	d := v.Dims()
	if len(d) < 2 {
		return nil
	}
	side := map[int]int{1: 32, 2: sideRead}[len(d)-1]
	if side == 0 {
		side = 4
	}
	n := cells(d[0], mostRead, side, d[1:]...)
	squares := len(d) == 2
	doc := fmt.Sprintf("numbers, as means over %v cells of each channel", n)
	if squares {
		doc += ", and mean squares"
	}
	return &reading{Doc: doc, plain: true, of: func(v space.Value) []float64 {
		d, x := v.Dims(), v.Numbers()
		out := pooled(x, d[0], d[1:], n)
		if squares {
			y := make([]float64, len(x))
			for i := range y {
				y[i] = x[i] * x[i]
			}
			out = append(out, pooled(y, d[0], d[1:], n)...)
		}
		return out
	}}
}

// cells is how many cells there are along each axis, no more than side and than there are places, so that all together,
// so many times, are no more than most unless one cell is left.
func cells(times, most, side int, size ...int) []int {
	for ; ; side-- {
		longest := slices.Max(size)
		out, all := make([]int, len(size)), times
		for i, n := range size {
			out[i] = max(1, min(n, (side*n+longest-1)/max(longest, 1)))
			all *= out[i]
		}
		if all <= most || side <= 1 {
			return out
		}
	}
}

// pooled is the means over cells of each of several grids.
func pooled(x []float64, times int, size, cells []int) []float64 {
	return newPool(size, cells).means(x, times)
}

// pool is a grid with cells.
type pool struct {
	size []int
	// the cell of each place, and how many places each has
	cell  []int
	count []float64
}

func newPool(size, cells []int) *pool {
	places, all := 1, 1
	for i := range size {
		places, all = places*size[i], all*cells[i]
	}
	p := &pool{size: size, cell: make([]int, places), count: make([]float64, all)}
	at := make([]int, len(size)) // the place
	for k := range p.cell {
		cell := 0
		for i := range size {
			cell = cell*cells[i] + at[i]*cells[i]/size[i]
		}
		p.cell[k] = cell
		p.count[cell]++
		for i := len(size) - 1; i >= 0; i-- {
			if at[i]++; at[i] < size[i] {
				break
			}
			at[i] = 0
		}
	}
	return p
}

// means are those over the cells of each of several grids.
func (p *pool) means(x []float64, times int) []float64 {
	sum := make([]float64, times*len(p.count))
	for k := range times {
		to, from := sum[k*len(p.count):(k+1)*len(p.count)], x[k*len(p.cell):]
		for i, c := range p.cell {
			to[c] += from[i]
		}
		for c := range to {
			to[c] /= p.count[c]
		}
	}
	return sum
}

// readRows reads what does not depend on how many rows there are: means, moments of second and third order, how far
// rows lie from their mean, sorted, and the spread of each number; and the means over quarters of the rows, which see
// in
// which order they stand.
func readRows(v space.Value, _ *space.Info) *reading {
	c, ok := v.(space.Counted)
	if !ok || c.Columns() == 0 || c.Columns() > 16 || len(v.Dims()) == 2 && v.Dims()[0] == 1 {
		return nil
	}
	return &reading{
		Doc: "rows, as their means, moments, sorted distances from the middle, and means over quarters of their order",
		of: func(v space.Value) []float64 {
			if c, ok := v.(space.Counted); ok {
				return summary(c)
			}
			return nil
		},
	}
}

// summary is what readRows reads.
func summary(c space.Counted) []float64 {
	n, w := c.Count(), c.Columns()
	mean := make([]float64, w)
	quarters := make([]float64, 4*w)
	for i := range n {
		for j, x := range c.Row(i) {
			mean[j] += x / float64(n)
		}
	}
	for q := range 4 {
		from, to := q*n/4, (q+1)*n/4
		for i := from; i < to; i++ {
			for j, x := range c.Row(i) {
				quarters[q*w+j] += x / float64(to-from)
			}
		}
		if from == to {
			copy(quarters[q*w:(q+1)*w], mean)
		}
	}
	out := slices.Concat(mean, quarters)
	second := make([]float64, w*(w+1)/2)
	var third []float64
	if w <= 3 {
		third = make([]float64, w*(w+1)*(w+2)/6)
	}
	far := make([]float64, n)
	columns := make([][]float64, w)
	for i := range n {
		row := c.Row(i)
		d := make([]float64, w)
		for j, x := range row {
			d[j] = x - mean[j]
			far[i] += float64(d[j] * d[j])
			columns[j] = append(columns[j], x)
		}
		far[i] = math.Sqrt(far[i])
		at, at3 := 0, 0
		for a := range w {
			for b := a; b < w; b++ {
				second[at] += d[a] * d[b] / float64(n)
				at++
				for e := b; e < w && third != nil; e++ {
					third[at3] += d[a] * d[b] * d[e] / float64(n)
					at3++
				}
			}
		}
	}
	out = append(out, second...)
	for _, x := range third { // of the size of lengths, so that one far row does not outweigh all else
		out = append(out, math.Cbrt(x))
	}
	for _, x := range append([][]float64{far}, columns...) {
		slices.Sort(x)
		for q := range 5 {
			if n == 0 {
				out = append(out, 0)
				continue
			}
			out = append(out, x[q*(n-1)/4])
		}
	}
	return out
}

// readNumbers reads all numbers as they are, or the means of so many neighbors that there are not too many.
func readNumbers(v space.Value, _ *space.Info) *reading {
	n := cells(1, mostRead, mostRead, len(v.Numbers()))
	doc := "numbers as they are"
	if n[0] < len(v.Numbers()) {
		doc = fmt.Sprintf("numbers, as means over %d parts of the list", n[0])
	}
	return &reading{Doc: doc, of: func(v space.Value) []float64 {
		x := v.Numbers()
		return pooled(x, 1, []int{len(x)}, n)
	}}
}

package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
)

// maxPIVText bounds a table of vectors.
const maxPIVText = 256 << 20

// grid is a field on a rectangular grid that may be coarser than the pixels.
type grid struct {
	// of columns and rows, rising, px from the top-left edge of the picture
	x, y []float64
	// row-major, v down
	u, v []float64
	// vectors that carry a mark
	flagged int
	// the file had y and v upwards
	up bool
}

// parseOpenPIV reads a table of vectors as OpenPIV writes it: lines of x, y, u, v and marks, separated by blanks, tabs,
// commas or semicolons; lines that begin with # and a first line of titles are passed over. The vectors must fill a
// rectangular grid.
//
// OpenPIV since 0.23 counts y from the bottom and v upwards and writes the top row first, so that y falls down the
// file; where y rises it is counted from the top and v down. upward ("up" or "down") overrules that. Where y falls, the
// rows of the file are the rows of the picture from the top, at the values of y in rising order: that undoes
// transform_coordinates of OpenPIV, which reverses the values of y and negates v.
func parseOpenPIV(b []byte, upward string) (*grid, error) {
	type vector struct{ x, y, u, v float64 }
	var all []vector
	g := &grid{}
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(make([]byte, 0, 4096), 1<<16)
	for line := 1; sc.Scan(); line++ {
		text := strings.TrimSpace(strings.TrimPrefix(sc.Text(), "\ufeff"))
		if text == "" || text[0] == '#' {
			continue
		}
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
		var n [4]float64
		var err error
		for k := range min(len(words), len(n)) {
			if n[k], err = strconv.ParseFloat(words[k], 64); err != nil && !errors.Is(err, strconv.ErrRange) {
				break
			}
			err = nil
		}
		switch {
		case err != nil && len(all) == 0 && line == 1:
			continue // titles
		case err != nil:
			return nil, fmt.Errorf("line %d is %s, want the numbers x y u v", line, clip(text))
		case len(words) < len(n):
			return nil, fmt.Errorf("line %d has %d columns, want x y u v", line, len(words))
		}
		for k, c := range n {
			if math.IsNaN(c) || math.IsInf(c, 0) {
				return nil, fmt.Errorf(
					"line %d has %s = %v, want a finite number: OpenPIV's replace_outliers fills such vectors in, or "+
						"leave the pair out: %w", line, "xyuv"[k:k+1], c, ErrNotFinite)
			}
		}
		for _, w := range words[4:] {
			if f, err := strconv.ParseFloat(w, 64); err == nil && f != 0 {
				g.flagged++
				break
			}
		}
		if len(all) >= maxValues/2 {
			return nil, fmt.Errorf("more than %d vectors", maxValues/2)
		}
		all = append(all, vector{n[0], n[1], n[2], n[3]})
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("not a table of vectors: %w", err)
	}
	if len(all) == 0 {
		return nil, errors.New("has no vectors, want lines of x y u v")
	}
	axis := func(of func(vector) float64) []float64 {
		list := make([]float64, len(all))
		for i, p := range all {
			list[i] = of(p)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	g.x, g.y = axis(func(p vector) float64 { return p.x }), axis(func(p vector) float64 { return p.y })
	nx, ny := len(g.x), len(g.y)
	if float64(nx)*float64(ny) != float64(len(all)) {
		return nil, fmt.Errorf(
			"has %d vectors at %d different x and %d different y, want all %d places of a rectangular grid", len(all),
			nx, ny, nx*ny)
	}
	first, last := all[0].y, all[len(all)-1].y
	if upward == "" && first == last {
		return nil, errors.New(
			"begins and ends with vectors of one y, which does not say whether v points up or down: say so")
	}
	g.up = upward == "up" || upward == "" && first > last
	g.u, g.v = make([]float64, len(all)), make([]float64, len(all))
	set := make([]bool, len(all))
	for _, p := range all {
		c, _ := slices.BinarySearch(g.x, p.x)
		r, _ := slices.BinarySearch(g.y, p.y)
		v := p.v
		if g.up {
			r, v = ny-1-r, -v
		}
		i := r*nx + c
		if set[i] {
			return nil, fmt.Errorf("has two vectors at x = %g, y = %g", p.x, p.y)
		}
		g.u[i], g.v[i], set[i] = p.u, v, true
	}
	return g, nil
}

// full tells whether the grid has a vector for each pixel.
func (g *grid) full(h, w int) bool { return len(g.y) == h && len(g.x) == w }

// field brings the grid to h x w pixels: as it is if there is a vector for each, else interpolated bilinearly at the
// centres of the pixels, with the outermost vectors repeated towards the edges.
func (g *grid) field(h, w int) *space.Field {
	f := space.NewField(h, w)
	if g.full(h, w) {
		copy(f.U(), g.u)
		copy(f.V(), g.v)
		return f
	}
	cols, rows := between(g.x, w), between(g.y, h)
	nx := len(g.x)
	for _, p := range [...]struct{ from, to []float64 }{{g.u, f.U()}, {g.v, f.V()}} {
		for r, s := range rows {
			for c, t := range cols {
				top := float64((1-t.t)*p.from[s.lo*nx+t.lo]) + float64(t.t*p.from[s.lo*nx+t.hi])
				low := float64((1-t.t)*p.from[s.hi*nx+t.lo]) + float64(t.t*p.from[s.hi*nx+t.hi])
				p.to[r*w+c] = float64((1-s.t)*top) + float64(s.t*low)
			}
		}
	}
	return f
}

// gap is a place between two knots.
type gap struct {
	lo, hi int
	// 0 at lo, 1 at hi
	t float64
}

// between are the places of the centres of n pixels among knots, clamped to them.
func between(knots []float64, n int) []gap {
	out := make([]gap, n)
	for i := range out {
		p := float64(i) + 0.5
		hi, _ := slices.BinarySearch(knots, p)
		switch hi {
		case 0:
		case len(knots):
			out[i] = gap{lo: hi - 1, hi: hi - 1}
		default:
			out[i] = gap{lo: hi - 1, hi: hi, t: (p - knots[hi-1]) / (knots[hi] - knots[hi-1])}
		}
	}
	return out
}

// check refuses a grid that does not lie in a picture of h x w pixels.
func (g *grid) check(h, w int) error {
	if g.full(h, w) {
		return nil
	}
	x0, x1, y0, y1 := g.x[0], g.x[len(g.x)-1], g.y[0], g.y[len(g.y)-1]
	if x0 < 0 || y0 < 0 || x1 > float64(w) || y1 > float64(h) {
		return fmt.Errorf("has vectors at x from %g to %g and y from %g to %g, but the frames have %d x %d px: it "+
			"belongs to another pair, or its lengths are not in pixels", x0, x1, y0, y1, w, h)
	}
	return nil
}

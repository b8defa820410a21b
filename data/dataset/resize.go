package dataset

import (
	"math"

	"nero/data/space"
)

// resample makes each new row and column of the old ones that its stencil names.
func resample(m *space.Image, rows, cols []stencil) *space.Image {
	h, w := len(rows), len(cols)
	out := space.NewImage(m.C, h, w)
	top, bottom := m.H, 0
	for _, s := range rows {
		top, bottom = min(top, s.first), max(bottom, s.first+len(s.weights))
	}
	wide := make([]float64, max(bottom-top, 0)*w)
	for k := range m.C {
		src, dst := m.Plane(k), out.Plane(k)
		for r := top; r < bottom; r++ {
			line := src[r*m.W : (r+1)*m.W]
			for c, s := range cols {
				sum := 0.0
				for i, f := range s.weights {
					sum += float64(f * line[s.first+i]) // the conversion keeps compilers from fusing the two
				}
				wide[(r-top)*w+c] = sum
			}
		}
		for r, s := range rows {
			line := dst[r*w : (r+1)*w]
			for i, f := range s.weights {
				from := wide[(s.first+i-top)*w:]
				for c := range line {
					line[c] += float64(f * from[c])
				}
			}
		}
	}
	return out
}

// stencil is the part of an axis that one new pixel is made of.
type stencil struct {
	first   int
	weights []float64
}

// stencils are those of the new pixels lo to hi of m of an axis that had n, where no kernel is named. With s = m/n, new
// pixel i covers [i/s, (i+1)/s) of the old axis. Where the axis shrinks, its value is the mean over that interval of
// the old pixels, taken as constant over their width (area average). Where it grows, the value is interpolated linearly
// between the centres of the old pixels at (i+1/2)/s - 1/2, and beyond the first and last centre it is that pixel's
// (bilinear, half-pixel centres). Values stay floating-point numbers: nothing is rounded to grey levels.
func stencils(n, m, lo, hi int) []stencil {
	out := make([]stencil, hi-lo)
	for k := range out {
		i := lo + k
		if n == 1 {
			out[k] = stencil{weights: []float64{1}}
			continue
		}
		if m < n {
			from, to := float64(i)*float64(n)/float64(m), float64(i+1)*float64(n)/float64(m)
			first, last := int(from), min(int(math.Ceil(to)), n)
			s := stencil{first: first}
			for p := first; p < last; p++ {
				cover := math.Min(to, float64(p+1)) - math.Max(from, float64(p))
				s.weights = append(s.weights, cover*float64(m)/float64(n))
			}
			out[k] = s
			continue
		}
		at := (float64(i)+0.5)*float64(n)/float64(m) - 0.5
		at = math.Min(math.Max(at, 0), float64(n-1))
		p := min(int(at), n-2)
		t := at - float64(p)
		out[k] = stencil{first: p, weights: []float64{1 - t, t}}
	}
	return out
}

// framing says where a photo stands in the picture that is made of it: scaled to h x w pixels, with its top-left corner
// at row top and column left of a picture of H x W; what of it lies outside is cut off, what it leaves free has the
// value fill.
type framing struct {
	h, w, top, left, H, W int
	fill                  float64
	// rows and columns around the picture proper, and how it goes on in them beyond the photo
	margin [2]int
	beyond string
	// nil for [area] and its bilinear twin
	kernel *kernel
	plain  bool
}

// frame is the framing of a photo of h x w pixels under zoom, or under fit where that is set.
func frame(h, w int, zoom float64, fit [2]int) framing {
	if fit == [2]int{} {
		f := framing{h: scaled(h, zoom), w: scaled(w, zoom)}
		f.H, f.W = f.h, f.w
		return f
	}
	return boxed(h, w, fit, false)
}

// boxed scales a photo to fit into a box and puts it into the middle. A half pixel goes up, or to the even number, as
// letterboxes of Python have it.
func boxed(h, w int, box [2]int, even bool) framing {
	s := math.Min(float64(box[0])/float64(h), float64(box[1])/float64(w))
	length := scaled
	if even {
		length = func(n int, s float64) int { return max(1, int(math.RoundToEven(float64(n)*s))) }
	}
	f := framing{h: min(length(h, s), box[0]), w: min(length(w, s), box[1]), H: box[0], W: box[1]}
	f.top, f.left = (f.H-f.h)/2, (f.W-f.w)/2
	return f
}

// scaled is n pixels times s, rounded to whole ones, at least one.
func scaled(n int, s float64) int {
	if s == 0 || s == 1 {
		return n
	}
	return max(1, int(math.Min(math.Floor(float64(float64(n)*s)+0.5), maxValues)))
}

// image makes the picture of a photo whose values go from 0 to most. Of the scaled photo only what the picture shows is
// made: of a strip one pixel high, scaled by its shorter side, the rest would fill the memory.
func (f framing) image(m *space.Image, most float64) *space.Image {
	top, bottom := max(-f.top, 0), min(f.h, f.H-f.top)
	left, right := max(-f.left, 0), min(f.w, f.W-f.left)
	switch {
	case m.H != f.h || m.W != f.w:
		m = f.scale(m, most, [2]int{top, bottom}, [2]int{left, right})
	case bottom-top < m.H || right-left < m.W:
		m = cutOut(m, top, left, bottom-top, right-left)
	}
	if m.H == f.H && m.W == f.W {
		return m
	}
	out := space.NewImage(m.C, f.H, f.W)
	if f.fill != 0 {
		for i := range out.Pix {
			out.Pix[i] = f.fill
		}
	}
	at := max(f.left, 0)
	for k := range m.C {
		src, dst := m.Plane(k), out.Plane(k)
		for r := range m.H {
			copy(dst[(r+max(f.top, 0))*f.W+at:], src[r*m.W:(r+1)*m.W])
		}
	}
	f.goOn(out)
	return out
}

// scale is the part of the scaled photo from rows[0] to rows[1] and cols[0] to cols[1].
func (f framing) scale(m *space.Image, most float64, rows, cols [2]int) *space.Image {
	if f.kernel == nil {
		return resample(m, stencils(m.H, f.h, rows[0], rows[1]), stencils(m.W, f.w, cols[0], cols[1]))
	}
	m = resample(m, f.kernel.stencils(m.H, f.h, rows[0], rows[1], f.plain),
		f.kernel.stencils(m.W, f.w, cols[0], cols[1], f.plain))
	for i, v := range m.Pix { // kernels with negative parts overshoot
		m.Pix[i] = math.Min(math.Max(v, 0), most)
	}
	return m
}

// goOn fills what lies in the margin beyond photo and picture by the rule: what is filled inside the picture is part of
// it.
func (f framing) goOn(m *space.Image) {
	if f.margin == [2]int{} {
		return
	}
	rows := along(f.H, min(f.top, f.margin[0]), max(f.top+f.h, f.H-f.margin[0]), f.beyond)
	cols := along(f.W, min(f.left, f.margin[1]), max(f.left+f.w, f.W-f.margin[1]), f.beyond)
	for k := range m.C {
		plane := m.Plane(k)
		for r, y := range rows {
			for c, x := range cols {
				switch {
				case y < 0 || x < 0:
					plane[r*m.W+c] = 0
				case y != r || x != c:
					plane[r*m.W+c] = plane[y*m.W+x]
				}
			}
		}
	}
}

// along says of each of n places of an axis which one it shows, where from to to are given and a rule says how they go
// on; -1 for none. What is given shows itself.
func along(n, from, to int, rule string) []int {
	from, to = max(from, 0), min(to, n)
	out := make([]int, n)
	for i := range out {
		switch out[i] = i; {
		case i >= from && i < to:
		case rule == "edge":
			out[i] = min(max(i, from), to-1)
		case rule == "circular":
			k := (i - from) % (to - from)
			if k < 0 {
				k += to - from
			}
			out[i] = from + k
		case rule == "reflect":
			out[i] = from + mirror(i-from, to-from)
		default:
			out[i] = -1
		}
	}
	return out
}

// box takes a box of a photo of h x w pixels along: each axis by the factor that its rounded length gives.
func (f framing) box(b space.Box, h, w int) space.Box {
	// Multiplied first, so that the photo's edges come out exactly.
	taken := func(v float64, from, to, start int) float64 {
		return v*float64(to)/float64(from) + float64(start)
	}
	b.X1, b.X2 = taken(b.X1, w, f.w, f.left), taken(b.X2, w, f.w, f.left)
	b.Y1, b.Y2 = taken(b.Y1, h, f.h, f.top), taken(b.Y2, h, f.h, f.top)
	return b
}

package pencil

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"
)

// Plane is the form of pictures: channel after channel, row after row.
type Plane struct{ Channels, Height, Width int }

func (p Plane) size() int { return p.Channels * p.Height * p.Width }

// Prepare makes pictures that have a derivative on the grid: towards the border they fade into their mean, so that they
// go on smoothly around it, and what is finer than a share of the Nyquist frequency is taken out; 1 leaves it in.
func (p Plane) Prepare(x []float64, band float64) []float64 {
	out := make([]float64, 0, len(x))
	n := p.Height * p.Width
	for c := range p.Channels {
		channel := x[c*n : (c+1)*n]
		var mean float64
		for _, v := range channel {
			mean += v / float64(n)
		}
		faded := make([]complex128, n)
		for i, v := range channel {
			w := fade(i/p.Width, p.Height) * fade(i%p.Width, p.Width)
			faded[i] = complex(mean+float64(w*(v-mean)), 0)
		}
		if band < 1 {
			p.transform(faded, false)
			for i := range faded {
				share := pass(math.Hypot(frequency(i/p.Width, p.Height), frequency(i%p.Width, p.Width)), band)
				faded[i] = complex(real(faded[i])*share, imag(faded[i])*share)
			}
			p.transform(faded, true)
		}
		for _, v := range faded {
			out = append(out, real(v))
		}
	}
	return out
}

// fade rises from the border over an eighth of the side as (1 - cos)/2.
func fade(i, n int) float64 {
	edge := float64(n) / 8
	d := min(float64(i)+0.5, float64(n)-float64(i)-0.5)
	if d >= edge {
		return 1
	}
	return (1 - math.Cos(math.Pi*d/edge)) / 2
}

// pass is 1 below 0.8 of the band and 0 above it; f and the band are shares of the Nyquist frequency.
func pass(f, band float64) float64 {
	const flat = 0.8
	switch {
	case f <= flat*band:
		return 1
	case f >= band:
		return 0
	}
	return (1 + math.Cos(math.Pi*(f/band-flat)/(1-flat))) / 2
}

// frequency of place i of n as a share of the Nyquist frequency, with its sign.
func frequency(i, n int) float64 {
	if 2*i > n {
		i -= n
	}
	return 2 * float64(i) / float64(n)
}

// transform is the discrete Fourier transform of one channel in place, or its inverse.
func (p Plane) transform(x []complex128, back bool) {
	along := func(n, count, stride, next int) {
		f := fourier.NewCmplxFFT(n)
		line := make([]complex128, n)
		for c := range count {
			for i := range line {
				line[i] = x[c*next+i*stride]
			}
			if back {
				f.Sequence(line, line)
			} else {
				f.Coefficients(line, line)
			}
			for i, v := range line {
				x[c*next+i*stride] = v
			}
		}
	}
	along(p.Width, p.Height, 1, p.Width)
	along(p.Height, p.Width, p.Width, 1)
	if back {
		for i := range x {
			x[i] /= complex(float64(len(x)), 0)
		}
	}
}

// spectrum is the transform of real numbers.
func (p Plane) spectrum(x []float64) []complex128 {
	out := make([]complex128, len(x))
	for i, v := range x {
		out[i] = complex(v, 0)
	}
	p.transform(out, false)
	return out
}

// FindPictures asks which affine maps of the plane a function of pictures has. The six unknowns are those of the motion
// p -> Ap + a of the pixels, in a frame with its origin at the middle of the picture, to the right and down. The change
// of a picture along each is the derivative of the trigonometric polynomial through its pixels: [Plane.Prepare] makes
// pictures of which that is a derivative.
//
// What a direction does that has nothing to do with the function is asked with the same change in random phases, for a
// network answers less to what is fine than to what is not.
func FindPictures(ctx context.Context, f Function, x [][]float64, p Plane, o Options) (*Result, error) {
	o = o.filled(f.In)
	if p.size() != f.In || p.Height < 4 || p.Width < 4 {
		return nil, fmt.Errorf("%w: pictures of %d channels and %d x %d pixels as inputs of %d numbers", ErrOpen,
			p.Channels, p.Height, p.Width, f.In)
	}
	o.Affine, o.Blocks = true, []Block{Vector(f.In)}
	if err := check(f, x, o); err != nil {
		return nil, err
	}
	out, err := outputsOf(ctx, f, x, o)
	if err != nil {
		return nil, err
	}
	m := &fields{plane: p, unit: float64(max(p.Height, p.Width)) / 2}
	pixels := &part{
		name: "pixels", k: 1, c: 6, moved: m, raw: m.raw, space: 2, affine: true,
		unit: []float64{m.unit, m.unit}, middle: []float64{0, 0},
	}
	pixels.square = func(a *mat.Dense) *mat.Dense {
		h := mat.NewDense(3, 3, nil)
		for i, v := range a.RawRowView(0) {
			h.Set(i/3, i%3, v)
		}
		return h
	}
	pixels.plain = func(h *mat.Dense) *mat.Dense {
		if pixels.empty {
			return mat.NewDense(1, 6, nil)
		}
		row := mat.NewDense(1, 6, append(mat.Row(nil, 0, h), mat.Row(nil, 1, h)...))
		var kept, out mat.Dense
		kept.Mul(row, pixels.kept)
		out.Mul(&kept, pixels.kept.T())
		return &out
	}
	var square float64
	for _, row := range x {
		square += dot(row, row) / float64(len(x)*len(row))
	}
	m.size = math.Sqrt(square)
	return find(ctx, f, x, out, []*part{pixels}, o)
}

// fits is the share of the Nyquist frequency below which products of two pictures fit on the grid.
const fits = 0.5

// fields are the changes of pictures.
type fields struct {
	plane Plane
	// unit is half of the longer side in pixels: with it, shifts are of the size of turns.
	unit float64
	// size is the root mean square of a pixel.
	size float64
}

func (m *fields) sizes(out []float64) {
	for i := range out {
		out[i] = m.size
	}
}

// along are the six changes: -∂_r x·z_s, for r = right, down and z = (right, down, 1). Those of the second half are
// without
// what is finer than half of the Nyquist frequency: products of that with a picture do not fit on the grid.
func (m *fields) along(x []float64, half int) [6][]float64 {
	p := m.plane
	n := p.Height * p.Width
	var out [6][]float64
	for c := range p.Channels {
		f := p.spectrum(x[c*n : (c+1)*n])
		for r, side := range []int{p.Width, p.Height} {
			slope := make([]complex128, n)
			for i, v := range f {
				at := i % p.Width
				if r == 1 {
					at = i / p.Width
				}
				// The wave of the Nyquist frequency has no slope at the pixels.
				if 2*at == side {
					continue
				}
				turn := math.Pi * frequency(at, side)
				slope[i] = complex(-imag(v)*turn, real(v)*turn)
				if half == 1 {
					share := pass(math.Hypot(frequency(i/p.Width, p.Height), frequency(i%p.Width, p.Width)), fits)
					slope[i] = complex(real(slope[i])*share, imag(slope[i])*share)
				}
			}
			p.transform(slope, true)
			for s := range 3 {
				field := make([]float64, n)
				for i, v := range slope {
					z := 1.0
					switch s {
					case 0:
						z = (float64(i%p.Width) - float64(p.Width-1)/2) / m.unit
					case 1:
						z = (float64(i/p.Width) - float64(p.Height-1)/2) / m.unit
					}
					field[i] = -real(v) * m.unit * z
				}
				out[3*r+s] = append(out[3*r+s], field...)
			}
		}
	}
	return out
}

func (m *fields) row(x, gradient, out []float64, half int) {
	for j, v := range m.along(x, half) {
		out[j] = dot(v, gradient)
	}
}

// measure: over random phases of each frequency, the mean of (g·u)(g·v) is the sum over frequencies of |g|² Re(u v*).
func (m *fields) measure(p *part, x []float64, gradients [2][][]float64) {
	v := m.along(x, 0)
	n := m.plane.Height * m.plane.Width
	each := p.each[len(p.each)-1]
	for c := range m.plane.Channels {
		power := make([]float64, n)
		for _, g := range gradients[0] {
			for i, a := range m.plane.spectrum(g[c*n : (c+1)*n]) {
				power[i] += float64(real(a)*real(a)) + float64(imag(a)*imag(a))
			}
		}
		var waves [6][]complex128
		for j := range v {
			waves[j] = m.plane.spectrum(v[j][c*n : (c+1)*n])
		}
		for j := range waves {
			for k := j; k < 6; k++ {
				var sum float64
				for i, w := range power {
					u, v := waves[j][i], waves[k][i]
					sum += float64(w * (float64(real(u)*real(v)) + float64(imag(u)*imag(v))))
				}
				each.SetSym(j, k, each.At(j, k)+sum/float64(n*n))
			}
		}
	}
}

func (m *fields) fields(x []float64, half int) []direction {
	v := m.along(x, half)
	return m.directions(v[:])
}

func (m *fields) directions(v [][]float64) []direction {
	at := make([]int, m.plane.size())
	for i := range at {
		at[i] = i
	}
	var out []direction
	for _, field := range v {
		out = append(out, direction{at, field})
	}
	return out
}

func (m *fields) drawn(x []float64, r *rand.Rand) []direction {
	v := m.along(x, 0)
	n := m.plane.Height * m.plane.Width
	var all [][]float64
	for range draws {
		var some [6][]float64
		for c := range m.plane.Channels {
			// The phases of noise are random and those of a real picture.
			noise := make([]float64, n)
			for i := range noise {
				noise[i] = r.NormFloat64()
			}
			phase := m.plane.spectrum(noise)
			for j := range v {
				f := m.plane.spectrum(v[j][c*n : (c+1)*n])
				for i, w := range phase {
					if a := cmplx.Abs(w); a > 0 {
						x, y := real(w)/a, imag(w)/a
						re, im := real(f[i]), imag(f[i])
						f[i] = complex(float64(re*x)-float64(im*y), float64(re*y)+float64(im*x))
					}
				}
				m.plane.transform(f, true)
				for _, a := range f {
					some[j] = append(some[j], real(a))
				}
			}
		}
		all = append(all, some[:]...)
	}
	return m.directions(all)
}

func (*fields) judge(p *part, slopes [2][][]float64) {
	z := make([]float64, p.c)
	for draw := range draws {
		for w := range slopes[0][0] {
			for j := range z {
				at := draw*p.c + j
				z[j] = slopes[0][at][w]
			}
			p.weigh(1./draws, z)
		}
	}
}

// raw is a matrix of two rows, with the shift in pixels.
func (m *fields) raw(a *mat.Dense) [][]float64 {
	v := a.RawRowView(0)
	return [][]float64{{v[0], v[1], m.unit * v[2]}, {v[3], v[4], m.unit * v[5]}}
}

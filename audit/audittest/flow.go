package audittest

import (
	"math"
	"math/rand/v2"

	"nero/audit"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/elementary"
)

// Pairs are n pairs of pictures of one channel, the second drawn on its own: smooth bumps of random places in 0..255.
func Pairs(n, h, w int, seed uint64) func(i int) (dataset.Sample, error) {
	return samples(n, seed, func(r *rand.Rand) space.Value {
		f := &space.Frames{}
		for range 2 {
			m := space.NewImage(1, h, w)
			for range 4 {
				cy, cx := float64((0.2+float64(0.6*r.Float64()))*float64(h-1)),
					float64((0.2+float64(0.6*r.Float64()))*float64(w-1))
				s, a := float64(min(h, w))*(0.06+float64(0.06*r.Float64())), 50+float64(150*r.Float64())
				for i := range m.Pix {
					y, x := float64(i/w)-cy, float64(i%w)-cx
					m.Pix[i] += float64(a * elementary.Exp(-(float64(x*x)+float64(y*y))/(2*s*s)))
				}
			}
			f.Images = append(f.Images, m)
		}
		return f
	})
}

// FlowBreak is what is wrong with a model of flows.
type FlowBreak int

// The breaks. The first is none.
const (
	FlowClean    FlowBreak = iota
	FlowUp                 // v is positive upwards
	FlowSwapped            // v before u
	FlowUnturned           // two maps that do not turn with the pictures, odd in time
	FlowEven               // time reversal leaves the sign
	FlowLopsided           // the first frame counts less than the second
	FlowZeroed             // reads zeros beyond the border
)

// Flow is a model of a field from two frames a and b: (b - a)·∇(a + b), with central differences around the joined
// borders. It is a vector, odd under time reversal, and moves with turns, mirrors and whole shifts around the border
// bit for bit. A break makes it one that does not.
func Flow(broken FlowBreak) audit.Predictor {
	return Pointwise(func(v space.Value) space.Value {
		f, ok := v.(*space.Frames)
		if !ok || len(f.Images) != 2 {
			panic("audittest: want two frames")
		}
		a, b := f.Images[0], f.Images[1]
		h, w := a.H, a.W
		first := 1.0
		if broken == FlowLopsided {
			first = 0.9
		}
		sum := func(r, c int) float64 {
			if broken == FlowZeroed && (r < 0 || r >= h || c < 0 || c >= w) {
				return 0
			}
			i := (r+h)%h*w + (c+w)%w
			return (a.Pix[i] + b.Pix[i]) / 255
		}
		out := space.NewField(h, w)
		U, V := out.U(), out.V()
		for r := range h {
			for c := range w {
				i := r*w + c
				d := (b.Pix[i] - float64(first*a.Pix[i])) / 255
				if broken == FlowEven {
					d = math.Abs(d)
				}
				x, y := (sum(r, c+1)-sum(r, c-1))/2, (sum(r+1, c)-sum(r-1, c))/2
				u, v := d*x, d*y
				switch broken {
				case FlowUp:
					v = -v
				case FlowSwapped:
					u, v = v, u
				case FlowUnturned:
					u, v = d*(float64(x*x)+float64(y*y)), d
				case FlowClean, FlowEven, FlowLopsided, FlowZeroed:
				}
				U[i], V[i] = u, v
			}
		}
		return out
	})
}

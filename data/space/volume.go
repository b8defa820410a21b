package space

import (
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
)

// KindVolume is the name of this kind.
const KindVolume Kind = "volume"

var volumeKind = Info{
	Kind: KindVolume, Doc: "intensities on a grid of voxels in space, one or more channels", Linear: true,
	Gridded: true,
	Zero:    func(d []int) Value { return NewVolume(d[0], d[1], d[2], d[3]) },
}

// Volume is a grid of voxels of W columns, H rows, D slices and C channels: a scan, a density, a simulated field.
//
// Voxel (slice z, row y, column x) of channel k is Val[((k*D+z)*H+y)*W+x], so that the last axis is x. Centres of
// voxels lie at whole numbers, and one voxel is one unit of length along every axis: whoever reads a file of voxels
// that are longer one way says so, because turns between such axes stretch what they show.
type Volume struct {
	C, D, H, W int
	Val        []float64
}

// NewVolume makes a volume of zeros.
func NewVolume(c, d, h, w int) *Volume {
	return &Volume{C: c, D: d, H: h, W: w, Val: make([]float64, c*d*h*w)}
}

func (v *Volume) sides() []int { return []int{v.D, v.H, v.W} }

// Kind is [KindVolume].
func (*Volume) Kind() Kind { return KindVolume }

// Parts is one float64 array of shape (C, D, H, W), a copy.
func (v *Volume) Parts() []tensor.Named {
	return []tensor.Named{part("voxels", v.Val, v.C, v.D, v.H, v.W)}
}

// Dims is (C, D, H, W).
func (v *Volume) Dims() []int { return []int{v.C, v.D, v.H, v.W} }

// Form is such as "volume 1x16x16x16".
func (v *Volume) Form() string { return fmt.Sprintf("volume %dx%dx%dx%d", v.C, v.D, v.H, v.W) }

// Clone is a copy.
func (v *Volume) Clone() Value {
	return &Volume{C: v.C, D: v.D, H: v.H, W: v.W, Val: slices.Clone(v.Val)}
}

// Like is zeros of the same size.
func (v *Volume) Like() Value { return NewVolume(v.C, v.D, v.H, v.W) }

// Numbers are Val.
func (v *Volume) Numbers() []float64 { return v.Val }

// Output is Val.
func (v *Volume) Output() []float64 { return v.Val }

// With is a volume of the same size with other intensities.
func (v *Volume) With(x []float64) (Value, error) {
	return &Volume{C: v.C, D: v.D, H: v.H, W: v.W, Val: x}, fits(v, len(v.Val), x)
}

// Bytes is 8 for each number.
func (v *Volume) Bytes() int { return 8 * len(v.Val) }

// Channels are the C channels, and to which of them number i belongs.
func (v *Volume) Channels() (n int, of func(i int) int) {
	per := max(v.D*v.H*v.W, 1)
	return v.C, func(i int) int { return i / per }
}

// Drawing is the three slices through the middle voxel (D/2, H/2, W/2), beside each other: that of the axes y and x,
// that of z and x, that of z and y. The second axis of each goes right and the first down. What lies between and below
// them is the smallest number of each channel of the slices.
func (v *Volume) Drawing() *Image {
	if len(v.Val) == 0 {
		return NewImage(v.C, 0, 0)
	}
	const gap = 1
	m := NewImage(v.C, max(v.H, v.D), v.W+v.W+v.H+2*gap)
	z0, y0, x0 := v.D/2, v.H/2, v.W/2
	for k := range v.C {
		at := func(z, y, x int) float64 { return v.Val[((k*v.D+z)*v.H+y)*v.W+x] }
		plane, lowest := m.Plane(k), math.Inf(1)
		left := 0
		draw := func(rows, cols int, of func(r, c int) float64) {
			for r := range rows {
				for c := range cols {
					x := of(r, c)
					plane[r*m.W+left+c] = x
					lowest = min(lowest, x)
				}
			}
			left += cols + gap
		}
		draw(v.H, v.W, func(r, c int) float64 { return at(z0, r, c) })
		draw(v.D, v.W, func(r, c int) float64 { return at(r, y0, c) })
		draw(v.D, v.H, func(r, c int) float64 { return at(r, c, x0) })
		for r := range m.H {
			for c := range m.W {
				first, second := c < v.W, c > v.W && c < 2*v.W+gap
				third := c > 2*v.W+gap
				if first && r < v.H || (second || third) && r < v.D {
					continue
				}
				plane[r*m.W+c] = lowest
			}
		}
	}
	return m
}

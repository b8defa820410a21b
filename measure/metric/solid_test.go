package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"nero/measure/metric"
)

// In every way to write them, upright boxes share as much as [metric.SolidIoU] says.
func TestBlocksThatStandUpright(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 3))
	box := func() []float64 {
		return []float64{
			r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 1 + 2*r.Float64(), 1 + r.Float64(), 1 + r.Float64(),
			20 * r.NormFloat64(),
		}
	}
	for range 200 {
		a, b := box(), box()
		want := metric.SolidIoU([7]float64(a), [7]float64(b))
		for name, write := range map[string]func(b []float64) []float64{
			"yaw": func(b []float64) []float64 { return b },
			"quaternion": func(b []float64) []float64 {
				s, c := math.Sincos(b[6] / 2)
				return append(append([]float64(nil), b[:6]...), -2*c, 0, 0, -2*s)
			},
			"columns": func(b []float64) []float64 {
				s, c := math.Sincos(b[6])
				return append(append([]float64(nil), b[:6]...), c, s, 0, -s, c, 0)
			},
			"matrix": func(b []float64) []float64 {
				s, c := math.Sincos(b[6])
				return append(append([]float64(nil), b[:6]...), c, -s, 0, s, c, 0, 0, 0, 1)
			},
		} {
			if got := metric.BlockIoU(write(a), write(b)); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%s: %v and %v share %v, expected %v", name, a, b, got, want)
			}
			if got := metric.BlockIoU(write(a), write(a)); !(math.Abs(got-1) <= 1e-12) {
				t.Errorf("%s: %v shares %v with itself", name, a, got)
			}
		}
	}
}

// Closed forms: unit cubes of which one is turned by 45° about an axis share a regular octagon of area 2(√2-1), and
// half of a cube lies in another that is shifted by half a side.
func TestTiltedBlocks(t *testing.T) {
	s := math.Sqrt2 / 2
	cube := []float64{5, -3, 2, 1, 1, 1, 1, 0, 0, 0}
	octagon := 2 * (math.Sqrt2 - 1)
	for axis := range 3 {
		q := []float64{5, -3, 2, 1, 1, 1, math.Cos(math.Pi / 8), 0, 0, 0}
		q[7+axis] = math.Sin(math.Pi / 8)
		if got, want := metric.BlockIoU(cube, q), octagon/(2-octagon); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("turned about axis %d: %v, expected %v", axis, got, want)
		}
	}
	tilted := []float64{0, 0, 0, 2, 2, 2, s, 0, s, -s, 0, s}
	// the second column is made perpendicular with the first by the nearest rotation
	if got := metric.BlockIoU(tilted, tilted); !(math.Abs(got-1) <= 1e-12) {
		t.Errorf("a box shares %v with itself", got)
	}
	half := append([]float64(nil), cube...)
	half[1] += 0.5
	if got := metric.BlockIoU(cube, half); !(math.Abs(got-1./3) <= 1e-12) {
		t.Errorf("half a side further: %v, expected 1/3", got)
	}
	far := append([]float64(nil), cube...)
	far[2] += 1 // they touch
	if got := metric.BlockIoU(cube, far); !(math.Abs(got) <= 1e-12) {
		t.Errorf("boxes that touch share %v", got)
	}
	for _, bad := range [][]float64{
		{1, 2, 3}, make([]float64, 10), {0, 0, 0, 1, 1, 1, math.NaN()}, make([]float64, 9),
	} {
		if got := metric.BlockIoU(bad, bad); !math.IsNaN(got) {
			t.Errorf("%v is no box: %v", bad, got)
		}
	}
}

package smooth

import (
	"math"
	"testing"
)

// The weights keep a constant, and at the centre of an odd number of pixels they are those of the pixel there.
func TestHalfPixels(t *testing.T) {
	const tolerance = 1e-12
	for _, n := range []int{1, 2, 5, 28} {
		w := halfPixels(n)
		for i := range n {
			var s float64
			for j, v := range w[i*n : (i+1)*n] {
				s += v
				want := 0.0
				if j == i {
					want = 1
				}
				if n%2 == 1 && i == n/2 && !(math.Abs(v-want) <= tolerance) {
					t.Errorf("%d pixels: weight %d at the centre is %g, want %g", n, j, v, want)
				}
			}
			if !(math.Abs(s-1) <= tolerance) {
				t.Errorf("%d pixels: the weights at place %d add up to %g", n, i, s)
			}
		}
	}
}

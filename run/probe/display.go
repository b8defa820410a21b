package probe

import (
	"math"

	"nero/data/space"
)

// Bytes is a picture for a screen: H × W × C bytes, row by row and in a pixel channel by channel, in the order of the
// channels in the file. lo becomes 0 and hi 255, rounded to the nearest, and what lies beyond becomes the nearer of the
// two. A number that is NaN becomes 0; so does everything if not lo < hi.
func Bytes(m *space.Image, lo, hi float64) []byte {
	out := make([]byte, len(m.Pix))
	if !(lo < hi) {
		return out
	}
	for c := range m.C {
		for i, v := range m.Plane(c) {
			f := math.Round(255 * (v - lo) / (hi - lo))
			if f > 0 { // not so for NaN
				out[i*m.C+c] = byte(min(f, 255))
			}
		}
	}
	return out
}

// Picture is the moved input as [Bytes] between the ends of Range, and its height, width and number of channels. It is
// false for inputs that are no pictures.
func (in *Input) Picture() (pix []byte, h, w, c int, ok bool) {
	m, ok := in.Value.(*space.Image)
	if !ok {
		return nil, 0, 0, 0, false
	}
	return Bytes(m, in.Range[0], in.Range[1]), m.H, m.W, m.C, true
}

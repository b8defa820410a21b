package decode

import "nero/model/onnx"

// Picture is the height and width of the pictures that a model reads by its first input, where the file fixes both and
// leaves no doubt about the layout: an axis as long as pictures have channels. layout is that of [InputSpec], "" for
// any.
func Picture(m onnx.Signature, layout string) (h, w int, fixed bool) {
	if len(m.Inputs) == 0 || !m.Inputs[0].Ranked {
		return 0, 0, false
	}
	size := m.Inputs[0].Sizes()
	var fits []axes
	for _, a := range layouts {
		if !a.flat && a.t < 0 && a.rank() == len(size) && allowed(layout, a) && a.likely(size, 1) == 1 {
			fits = append(fits, a)
		}
	}
	if len(fits) == 0 {
		return 0, 0, false
	}
	h, w = size[fits[0].h], size[fits[0].w]
	return h, w, h > 0 && w > 0
}

// Short is the length of the shorter side of a photo before the middle of h x w pixels is cut out of it, as networks of
// photos are usually tested: 256 for 224.
func Short(h, w int) int { return (min(h, w)*256 + 112) / 224 }

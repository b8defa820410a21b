package action

// Floats is what an element that acts without resampling does to the numbers of a picture, or of frames, one plane
// after the other, where they are float32: what stands in a batch for a model. It is nil for elements that do more than
// move numbers by their places.
func Floats(m Mover) func(to, from []float32) {
	switch m := m.(type) {
	case *imageMover:
		if m.warp.index != nil {
			return func(to, from []float32) { gather(m.warp, to, from, m.c, nil, 0) }
		}
	case *framesMover:
		if m.warp.index != nil {
			order := make([]int, 0, m.count*m.c) // the plane that each is made of
			for t := range m.count {
				if m.backwards {
					t = m.count - 1 - t
				}
				for k := range m.c {
					order = append(order, t*m.c+k)
				}
			}
			return func(to, from []float32) { gather(m.warp, to, from, len(order), order, 0) }
		}
	}
	return nil
}

package decode

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/space"
)

// framesKind is pictures of one size in the order of time.
var framesKind = kind{
	of:  space.KindFrames,
	fed: &fed{pictures: true, sequence: true},
	one: readPlaced,
	laid: &laid{
		axes: 4,
		extent: func(_ *answer, s []int, what string) ([]int, error) {
			switch len(s) {
			case 3:
				return []int{s[0], 1, s[1], s[2]}, nil
			case 4:
				return s, nil
			}
			return nil, fmt.Errorf(
				"%s has %d axes per sample; frames have [time, channels, height, width]; set kind in output.fields",
				what, len(s))
		},
		value: func(_ *answer, v []float64, e []int, _ int) space.Value {
			f := &space.Frames{Images: make([]*space.Image, e[0])}
			one := e[1] * e[2] * e[3]
			for t := range f.Images {
				f.Images[t] = &space.Image{C: e[1], H: e[2], W: e[3], Pix: v[t*one : (t+1)*one : (t+1)*one]}
			}
			return f
		},
		unfold: func(_ *answer, x []float64, e []int, declared int) ([]float64, []int, bool) {
			if declared == 3 && e[1] == 1 {
				return x, []int{e[0], e[2], e[3]}, true
			}
			return x, e, declared != 3
		},
		check: func(v space.Value) error {
			p, ok := v.(space.Pictured)
			if !ok {
				return nil
			}
			for _, m := range p.Pictures() {
				if !slices.Equal(m.Dims(), p.Pictures()[0].Dims()) {
					return errors.New("frames of several sizes")
				}
			}
			return nil
		},
	},
}

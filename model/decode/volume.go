package decode

import (
	"fmt"

	"nero/data/space"
)

// volumeKind is grids of voxels: NCDHW, NDHWC, or NDHW for one channel.
var volumeKind = kind{
	of: space.KindVolume,
	fed: &fed{
		forms: []form{{axes: "cDHW"}, {axes: "DHWc", turn: true}, {axes: "DHW", ones: "c"}},
		axes:  4,
		have: func(e extent, _ bool) string {
			return fmt.Sprintf("volumes of %s channels and %s x %s x %s voxels (depth x height x width)",
				any1(e.shape[0]),
				any1(e.shape[1]), any1(e.shape[2]), any1(e.shape[3]))
		},
		remedy: func(*feed, extent) string {
			return "a model of volumes reads [N, channels, depth, height, width], [N, depth, height, width, " +
				"channels] or " +
				"[N, depth, height, width]; crop, pad or resample the files to the size that it reads, or export it " +
				"with " +
				"free axes"
		},
		floats: true,
	},
	one: readPlaced,
	laid: &laid{
		axes: 4,
		settle: func(a *answer, c *record, s []int) {
			if !a.x.Ranked || len(s) != 4 {
				return
			}
			for _, f := range c.feeds {
				a.turn = a.turn || f.k == a.k && f.form.turn
			}
			if a.turn {
				a.notes = append(a.notes, fmt.Sprintf("output %s: the channels come last, as in the input", a.x))
			}
		},
		extent: func(a *answer, s []int, what string) ([]int, error) {
			switch {
			case len(s) == 3:
				return []int{1, s[0], s[1], s[2]}, nil
			case len(s) == 4 && a.turn:
				return []int{s[3], s[0], s[1], s[2]}, nil
			case len(s) == 4:
				return s, nil
			}
			return nil, fmt.Errorf(
				"%s has %d axes per sample; a volume has [channels, depth, height, width], or three "+
					"of them for one channel; set output.space: tensor or scores", what, len(s))
		},
		value: func(a *answer, v []float64, e []int, _ int) space.Value {
			if a.turn && e[0] > 1 {
				v = transposed(v, e[1]*e[2]*e[3], e[0])
			}
			return &space.Volume{C: e[0], D: e[1], H: e[2], W: e[3], Val: v}
		},
		unfold: func(a *answer, x []float64, e []int, declared int) ([]float64, []int, bool) {
			switch {
			case declared == 3 && e[0] == 1:
				return x, e[1:], true
			case declared == 4 && a.turn:
				return transposed(x, e[0], e[1]*e[2]*e[3]), []int{e[1], e[2], e[3], e[0]}, true
			}
			return x, e, declared != 3
		},
	},
}

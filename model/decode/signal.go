package decode

import (
	"fmt"

	"nero/data/space"
)

// signalKind is channels of numbers in the order of time.
var signalKind = kind{
	of: space.KindSignal,
	fed: &fed{
		forms: []form{{axes: "ct"}, {axes: "tc", swap: true}, {axes: "f"}},
		axes:  2,
		have: func(e extent, _ bool) string {
			return fmt.Sprintf("signals of %s channels and %s numbers each", any1(e.shape[0]), any1(e.shape[1]))
		},
		remedy: func(*feed, extent) string {
			return "set data.sound.length and data.sound.mono, or input.recurrent for a model that reads frame by frame"
		},
	},
	one: readPlaced,
	laid: &laid{
		axes: 2,
		settle: func(a *answer, c *record, s []int) {
			if !a.x.Ranked || len(s) != 2 {
				return
			}
			for _, f := range c.feeds {
				a.swap = a.swap || f.k == a.k && f.form.swap
			}
			if a.swap {
				a.notes = append(a.notes, fmt.Sprintf("output %s: time comes before the channels, as in the input",
					a.x))
			}
		},
		extent: func(a *answer, s []int, what string) ([]int, error) {
			switch {
			case len(s) == 1:
				return []int{1, s[0]}, nil
			case len(s) == 2 && a.swap:
				return []int{s[1], s[0]}, nil
			case len(s) == 2:
				return s, nil
			}
			return nil, fmt.Errorf(
				"%s has %d axes per sample; a signal has [channels, time], or time alone; set kind in output.fields",
				what, len(s))
		},
		value: func(a *answer, v []float64, e []int, _ int) space.Value {
			return &space.Signal{C: e[0], T: e[1], Rate: a.Rate, Val: v, Type: a.Type}
		},
		unfold: func(a *answer, x []float64, e []int, declared int) ([]float64, []int, bool) {
			switch {
			case declared == 1 && e[0] == 1:
				return x, e[1:], true
			case declared == 2 && a.swap:
				return transposed(x, e[0], e[1]), []int{e[1], e[0]}, true
			}
			return x, e, declared != 1
		},
	},
}

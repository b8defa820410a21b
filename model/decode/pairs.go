package decode

import (
	"fmt"

	"nero/data/space"
)

// pairsKind is numbers for every pair of nodes.
var pairsKind = kind{
	of: space.KindPairs,
	fed: &fed{
		forms: []form{{axes: "iiw"}, {axes: "wii", swap: true}, {axes: "ii", ones: "w"}, {axes: "f"}},
		axes:  3, nodes: 2,
		have: func(e extent, _ bool) string {
			n := any1(e.shape[0])
			return fmt.Sprintf("%s x %s pairs of %s numbers", n, n, any1(e.shape[2]))
		},
	},
	one: readPlaced,
	laid: &laid{
		axes:   3,
		padded: func(*answer) bool { return true },
		extent: func(_ *answer, s []int, what string) ([]int, error) {
			if len(s) < 2 || len(s) > 3 || s[0] != s[1] && s[0] > 0 && s[1] > 0 {
				return nil, fmt.Errorf(
					"%s holds no pairs: want [nodes, nodes] or [nodes, nodes, numbers] per sample; set kind in "+
						"output.fields", what)
			}
			n := max(s[0], s[1])
			if len(s) == 2 {
				return []int{n, n, 1}, nil
			}
			return []int{n, n, s[2]}, nil
		},
		value: func(_ *answer, v []float64, e []int, keep int) space.Value {
			if keep < 0 || keep >= e[0] {
				return &space.Pairs{N: e[0], W: e[2], Val: v}
			}
			q := space.NewPairs(keep, e[2])
			for i := range keep {
				copy(q.Val[i*keep*e[2]:(i+1)*keep*e[2]], v[i*e[0]*e[2]:])
			}
			return q
		},
		unfold: func(_ *answer, x []float64, e []int, declared int) ([]float64, []int, bool) {
			if declared == 2 && e[2] == 1 {
				return x, e[:2], true
			}
			return x, e, declared != 2
		},
	},
}

package decode

import (
	"fmt"

	"nero/data/space"
)

// linksKind is the edges of a graph. No model answers them.
var linksKind = kind{
	of: space.KindLinks,
	fed: &fed{
		forms: []form{{axes: "2e"}, {axes: "e2", swap: true}},
		axes:  2, first: 2, whole: true,
		check: func(v space.Value) error {
			l, ok := v.(*space.Links)
			if !ok {
				return nil
			}
			if n := len(l.From); len(l.To) != n {
				return fmt.Errorf("%d edges begin and %d end", n, len(l.To))
			}
			for _, side := range [2][]int32{l.From, l.To} {
				for i, at := range side {
					if at < 0 || int(at) >= l.Nodes {
						return fmt.Errorf("edge %d names the node %d of %d; want 0 to %d", i, at, l.Nodes, l.Nodes-1)
					}
				}
			}
			return nil
		},
		have: func(_ extent, batched bool) string {
			if batched {
				return "links with an axis of samples"
			}
			return "links"
		},
	},
}

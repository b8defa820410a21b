package decode

import (
	"encoding/binary"
	"fmt"

	"nero/data/space"
	"nero/data/tensor"
)

// linksKind is the edges of a graph. No model answers them.
var linksKind = kind{
	of: space.KindLinks,
	fed: &fed{
		forms: []form{{axes: "2e"}, {axes: "e2", swap: true}},
		axes:  2, first: 2, whole: true,
		check: func(v space.Value) error {
			l := edges(v)
			if l == nil {
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
		put: putLinks,
		have: func(_ extent, batched bool) string {
			if batched {
				return "links with an axis of samples"
			}
			return "links"
		},
	},
}

// edges is v as links, nil if it is another kind.
func edges(v space.Value) *space.Links {
	l, _ := v.(*space.Links)
	return l
}

// putLinks writes the numbers of nodes as nearly all models read them.
func putLinks(dst []byte, d tensor.DType, v space.Value, swap bool) bool {
	l := edges(v)
	if l == nil || d != tensor.Int64 || len(dst) != 16*len(l.From) {
		return false
	}
	n := len(l.From)
	next, side := 1, n // of an edge to the next, of where it begins to where it ends
	if swap {
		next, side = 2, 1
	}
	for k := range n {
		binary.LittleEndian.PutUint64(dst[8*next*k:], uint64(l.From[k]))
		binary.LittleEndian.PutUint64(dst[8*(next*k+side):], uint64(l.To[k]))
	}
	return true
}

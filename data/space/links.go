package space

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// KindLinks is the name of this kind.
const KindLinks Kind = "links"

var linksKind = Info{
	Kind: KindLinks, Doc: "edges between the nodes of a graph, by number",
	Zero: func(d []int) Value {
		return &Links{From: make([]int32, d[1]), To: make([]int32, d[1])}
	},
}

// Links is a list of directed edges between the nodes of a graph: edge k goes from From[k] to To[k], both 0 to Nodes-1.
// The order of the edges carries arrays of kind [Rows] with [PerEdge].
type Links struct {
	Nodes    int
	From, To []int32
}

// Kind is [KindLinks].
func (*Links) Kind() Kind { return KindLinks }

// Parts is one int32 array of shape (2, edges), a copy: where edges begin, then where they end.
func (l *Links) Parts() []tensor.Named {
	t := tensor.New(tensor.Int32, 2, len(l.From))
	for i, v := range l.From {
		putUint32(t.Raw[4*i:], uint32(v))
	}
	for i, v := range l.To {
		putUint32(t.Raw[4*(len(l.From)+i):], uint32(v))
	}
	return []tensor.Named{{Name: "links", Tensor: t}}
}

// Dims is (2, edges).
func (l *Links) Dims() []int { return []int{2, len(l.From)} }

// Form is such as "links 12 of 7 nodes".
func (l *Links) Form() string { return fmt.Sprintf("links %d of %d nodes", len(l.From), l.Nodes) }

func (l *Links) alike(v Value) bool {
	o, ok := v.(*Links)
	return ok && l.Nodes == o.Nodes && len(l.From) == len(o.From)
}

// Style is the form without numbers.
func (l *Links) Style() string { return "links" }

// Clone is a copy.
func (l *Links) Clone() Value {
	return &Links{Nodes: l.Nodes, From: slices.Clone(l.From), To: slices.Clone(l.To)}
}

// Like is as many edges, all from node 0 to node 0.
func (l *Links) Like() Value {
	return &Links{Nodes: l.Nodes, From: make([]int32, len(l.From)), To: make([]int32, len(l.To))}
}

// Numbers are where edges begin, then where they end, for hashing: their differences mean nothing, see [Links.Apart].
func (l *Links) Numbers() []float64 { return whole(whole(nil, l.From), l.To) }

// With is a copy whatever the numbers are: edges stay where the other fields of a record change.
func (l *Links) With([]float64) (Value, error) { return l.Clone(), nil }

// Bytes is 8 for each edge.
func (l *Links) Bytes() int { return 8 * len(l.From) }

// Apart is the share of edges that differ: numbers of nodes have no distance. It is not ok for another number of edges
// or nodes, or another kind.
func (l *Links) Apart(v Value) (share float64, ok bool) {
	o, ok := v.(*Links)
	if !ok || l.Nodes != o.Nodes || len(l.From) != len(o.From) {
		return 0, false
	}
	n := 0
	for i := range l.From {
		if l.From[i] != o.From[i] || l.To[i] != o.To[i] {
			n++
		}
	}
	return float64(n) / float64(max(len(l.From), 1)), true
}

// Members is Nodes.
func (l *Links) Members() int { return l.Nodes }

package space

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// KindPairs is the name of this kind.
const KindPairs Kind = "pairs"

var pairsKind = Info{
	Kind: KindPairs, Doc: "numbers for every pair of nodes", Linear: true,
	Zero: func(d []int) Value { return NewPairs(d[0], d[2]) },
}

// Pairs is W numbers for every ordered pair of N nodes: an adjacency or distance matrix. The number w of the pair (i,
// j) is Val[(i*N+j)*W+w].
type Pairs struct {
	N, W int
	Val  []float64
}

// NewPairs makes the pairs of n nodes with w zeros each.
func NewPairs(n, w int) *Pairs { return &Pairs{N: n, W: w, Val: make([]float64, n*n*w)} }

// Kind is [KindPairs].
func (*Pairs) Kind() Kind { return KindPairs }

// Parts is one float64 array of shape (N, N, W), a copy.
func (p *Pairs) Parts() []tensor.Named { return []tensor.Named{part("pairs", p.Val, p.N, p.N, p.W)} }

// Row is the W numbers of pair i, that of the nodes (i/N, i%N), which share the memory of p.
func (p *Pairs) Row(i int) []float64 { return p.Val[i*p.W : (i+1)*p.W] }

// Dims is (N, N, W).
func (p *Pairs) Dims() []int { return []int{p.N, p.N, p.W} }

// Form is such as "pairs 7x7x1".
func (p *Pairs) Form() string { return fmt.Sprintf("pairs %dx%dx%d", p.N, p.N, p.W) }

func (p *Pairs) alike(v Value) bool {
	o, ok := v.(*Pairs)
	return ok && p.N == o.N && p.W == o.W
}

// Style is the form without the number of nodes.
func (p *Pairs) Style() string { return fmt.Sprintf("pairs *x*x%d", p.W) }

// Clone is a copy.
func (p *Pairs) Clone() Value { return &Pairs{N: p.N, W: p.W, Val: slices.Clone(p.Val)} }

// Like is zeros for as many pairs.
func (p *Pairs) Like() Value { return NewPairs(p.N, p.W) }

// Numbers are Val.
func (p *Pairs) Numbers() []float64 { return p.Val }

// Output is Val.
func (p *Pairs) Output() []float64 { return p.Val }

// With is other numbers for as many pairs.
func (p *Pairs) With(x []float64) (Value, error) {
	return &Pairs{N: p.N, W: p.W, Val: x}, fits(p, len(p.Val), x)
}

// Bytes is 8 for each number.
func (p *Pairs) Bytes() int { return 8 * len(p.Val) }

// Count is the number of pairs, N².
func (p *Pairs) Count() int { return p.N * p.N }

// Columns is W.
func (p *Pairs) Columns() int { return p.W }

// Column is the column of number i of Val.
func (p *Pairs) Column(i int) int { return i % max(p.W, 1) }

// Lines is the number of pairs. Numbers stand line by line.
func (p *Pairs) Lines() int { return p.N * p.N }

// Members is N.
func (p *Pairs) Members() int { return p.N }

package space

import "nero/data/tensor"

// Rows is N rows of W numbers, row-major: the points of a cloud, velocities, forces or features of the atoms of a
// molecule, or with N = 1 one vector of the whole sample, such as gravity or a dipole. What the numbers of a row are,
// and so how a group moves them, is said by [Spec.Type]; whether rows belong to nodes, edges or the sample by
// [Spec.Per].
type Rows struct {
	N, W int
	Val  []float64
}

// NewRows makes n rows of w zeros.
func NewRows(n, w int) *Rows { return &Rows{N: n, W: w, Val: make([]float64, n*w)} }

// Kind is [KindRows].
func (*Rows) Kind() Kind { return KindRows }

// Parts is one float64 array of shape (N, W), a copy.
func (r *Rows) Parts() []tensor.Named { return []tensor.Named{part("rows", r.Val, r.N, r.W)} }

// Row is row i, W numbers that share the memory of r.
func (r *Rows) Row(i int) []float64 { return r.Val[i*r.W : (i+1)*r.W] }

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

// Signal is C channels of T numbers in the order of time: sound, an ECG, speech probabilities per frame. Channel c at
// time t is Val[c*T+t].
type Signal struct {
	C, T int
	// numbers per second of a channel; 0 if not known
	Rate float64
	Val  []float64
	// Lo and Hi are the times Lo to Hi-1 of which the numbers are known; both 0 where all are. A signal that was
	// shifted within its length has others, which a border rule filled in: they are no part of the data, are not among
	// Parts, and nothing is compared with them, see [Common].
	Lo, Hi int
}

// Known is the times of which numbers are known, from lo to hi-1.
func (s *Signal) Known() (lo, hi int) {
	if s.Lo == 0 && s.Hi == 0 {
		return 0, s.T
	}
	return s.Lo, s.Hi
}

// Common is what two values can be compared by: themselves, but for signals of which some times are not known, also as
// fields of records. Those are cut to the times that are known of both.
func Common(a, b Value) (Value, Value) {
	switch x := a.(type) {
	case *Signal:
		y, ok := b.(*Signal)
		if !ok || x == nil || y == nil || x.T != y.T || x.C != y.C {
			return a, b
		}
		lo, hi := x.Known()
		lo2, hi2 := y.Known()
		if lo, hi = max(lo, lo2), min(hi, hi2); lo == 0 && hi == x.T {
			return a, b
		}
		return x.cut(lo, hi), y.cut(lo, hi)
	case *Record:
		y, ok := b.(*Record)
		if !ok || x == nil || y == nil || len(x.Values) != len(y.Values) {
			return a, b
		}
		p, q := &Record{Names: x.Names, Values: make([]Value, len(x.Values))},
			&Record{Names: y.Names, Values: make([]Value, len(y.Values))}
		for i := range x.Values {
			p.Values[i], q.Values[i] = Common(x.Values[i], y.Values[i])
		}
		return p, q
	}
	return a, b
}

// cut is the times lo to hi-1 of a signal.
func (s *Signal) cut(lo, hi int) *Signal {
	n := max(0, hi-lo)
	c := NewSignal(s.C, n, s.Rate)
	for k := range s.C {
		copy(c.Val[k*n:(k+1)*n], s.Val[k*s.T+lo:])
	}
	return c
}

// NewSignal makes c channels of t zeros.
func NewSignal(c, t int, rate float64) *Signal {
	return &Signal{C: c, T: t, Rate: rate, Val: make([]float64, c*t)}
}

// Kind is [KindSignal].
func (*Signal) Kind() Kind { return KindSignal }

// Parts is one float64 array of shape (C, T), a copy.
func (s *Signal) Parts() []tensor.Named { return []tensor.Named{part("signal", s.Val, s.C, s.T)} }

// Record is several values that belong to one sample or one answer and move together: positions, charges, edges and
// gravity; energy and forces. Names are distinct, and Values[i] is called Names[i].
type Record struct {
	Names  []string
	Values []Value
}

// Kind is [KindRecord].
func (*Record) Kind() Kind { return KindRecord }

// Parts are the parts of the fields; part P of field F is called "F/P".
func (r *Record) Parts() []tensor.Named {
	var all []tensor.Named
	for i, v := range r.Values {
		for _, p := range v.Parts() {
			p.Name = r.Names[i] + "/" + p.Name
			all = append(all, p)
		}
	}
	return all
}

// Field is the value called name, nil if there is none.
func (r *Record) Field(name string) Value {
	for i, n := range r.Names {
		if n == name {
			return r.Values[i]
		}
	}
	return nil
}

package space

import (
	"fmt"
	"slices"

	"nero/data/tensor"
)

// KindSignal is the name of this kind.
const KindSignal Kind = "signal"

var signalKind = Info{
	Kind: KindSignal, Doc: "channels of numbers in the order of time", Linear: true, Sequence: true,
	Gridded: true,
	Zero:    func(d []int) Value { return NewSignal(d[0], d[1], 0) },
}

// Signal is C channels of T numbers in the order of time: sound, an ECG, speech probabilities per frame. Channel c at
// time t is Val[c*T+t].
type Signal struct {
	C, T int
	// numbers per second of a channel; 0 if not known
	Rate float64
	Val  []float64
	// Type is what the numbers of a moment are, see [Spec.Type]; "" where nobody said, as in [Rows].
	Type string
	// Lo and Hi are the times Lo to Hi-1 of which the numbers are known; both 0 where all are. A signal that was
	// shifted within its length has others, which a border rule filled in: they are no part of the data, are not among
	// Parts, and nothing is compared with them, see [Common].
	Lo, Hi int
}

// Partial reports whether only some times are known.
func (s *Signal) Partial() bool { return s.Lo != 0 || s.Hi != 0 }

// Known is the times of which numbers are known, from lo to hi-1.
func (s *Signal) Known() (lo, hi int) {
	if s.Lo == 0 && s.Hi == 0 {
		return 0, s.T
	}
	return s.Lo, s.Hi
}

// cut is the times lo to hi-1 of a signal.
func (s *Signal) cut(lo, hi int) *Signal {
	n := max(0, hi-lo)
	c := NewSignal(s.C, n, s.Rate)
	c.Type = s.Type
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

// common cuts two signals of one size to the times that are known of both.
func (s *Signal) common(v Value) (Value, Value) {
	o, ok := v.(*Signal)
	if !ok || s == nil || o == nil || s.T != o.T || s.C != o.C {
		return s, v
	}
	lo, hi := s.Known()
	lo2, hi2 := o.Known()
	if lo, hi = max(lo, lo2), min(hi, hi2); lo == 0 && hi == s.T {
		return s, v
	}
	return s.cut(lo, hi), o.cut(lo, hi)
}

// Row is the C numbers of moment i, a copy.
func (s *Signal) Row(i int) []float64 {
	row := make([]float64, s.C)
	for c := range row {
		row[c] = s.Val[c*s.T+i]
	}
	return row
}

// Dims is (C, T).
func (s *Signal) Dims() []int { return []int{s.C, s.T} }

// Form is such as "signal 1x16000".
func (s *Signal) Form() string { return fmt.Sprintf("signal %dx%d", s.C, s.T) }

// Style is the form without the length.
func (s *Signal) Style() string { return fmt.Sprintf("signal %dx*", s.C) }

// Clone is a copy.
func (s *Signal) Clone() Value {
	return &Signal{C: s.C, T: s.T, Rate: s.Rate, Val: slices.Clone(s.Val), Type: s.Type, Lo: s.Lo, Hi: s.Hi}
}

// Like is zeros of the same length and rate, all known.
func (s *Signal) Like() Value {
	o := NewSignal(s.C, s.T, s.Rate)
	o.Type = s.Type
	return o
}

// Numbers are Val.
func (s *Signal) Numbers() []float64 { return s.Val }

// Output is Val.
func (s *Signal) Output() []float64 { return s.Val }

// With is a signal of the same length and rate with other numbers, all known.
func (s *Signal) With(x []float64) (Value, error) {
	return &Signal{C: s.C, T: s.T, Rate: s.Rate, Val: x, Type: s.Type}, fits(s, len(s.Val), x)
}

// Bytes is 8 for each number.
func (s *Signal) Bytes() int { return 8 * len(s.Val) }

// Count is the number of moments, T.
func (s *Signal) Count() int { return s.T }

// Columns is C.
func (s *Signal) Columns() int { return s.C }

// Column is the channel of number i of Val.
func (s *Signal) Column(i int) int { return i / max(s.T, 1) }

// Lines is C: a channel is a line. Numbers stand line by line.
func (s *Signal) Lines() int { return s.C }

func (s *Signal) sides() []int { return []int{s.T} }

// Length is T.
func (s *Signal) Length() int { return s.T }

// Part is the moments from one to before another, with zeros up to the given length.
func (s *Signal) Part(from, to, fill int) Value {
	o := NewSignal(s.C, max(fill, to-from), s.Rate)
	o.Type = s.Type
	for c := range s.C {
		copy(o.Val[c*o.T:(c+1)*o.T], s.Val[c*s.T+from:c*s.T+to])
	}
	return o
}

func (s *Signal) typeName() string { return s.Type }

func (s *Signal) put(i int, row []float64) {
	for c, a := range row {
		s.Val[c*s.T+i] = a
	}
}

func (s *Signal) room(w int) typed {
	o := NewSignal(w, s.T, s.Rate)
	o.Lo, o.Hi = s.Lo, s.Hi
	return o
}

func (s *Signal) bare() Value {
	o := *s
	o.Type = ""
	return &o
}

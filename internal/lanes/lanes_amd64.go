package lanes

import "golang.org/x/sys/cpu"

// wide reports whether the processor takes four numbers at once.
func wide() bool { return cpu.X86.HasAVX }

// narrow takes n numbers, a positive multiple of width, as do all of these.
//
//go:noescape
func narrow(dst *float32, src *float64, n int)

//go:noescape
func widen(dst *float64, src *float32, n int)

//go:noescape
func weigh(dst, x, w *float64, n, stride, rows int)

//go:noescape
func rounded(dst *float32, src *float64, n int, m *Map) bool

//go:noescape
func bilinear(dst, s *float64, n, c int, l *Line)

//go:noescape
func lengths(dst, x, y *float64, n int) bool

//go:noescape
func arcs(dst, y, x *float64, n int) bool

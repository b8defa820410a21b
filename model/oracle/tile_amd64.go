package oracle

import "golang.org/x/sys/cpu"

// tiled reports whether the processor computes tiles.
func tiled() bool { return cpu.X86.HasAVX }

// tile4x8 adds a product to four rows of eight columns: c[i·ldc+j] += Σ a[i·lda+l]·b[8·l+j] in the order of l, for
// k > 0 of them.
//
//go:noescape
func tile4x8(k int, a *float64, lda int, b, c *float64, ldc int)

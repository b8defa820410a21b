//go:build !amd64

package oracle

// tiled reports whether the processor computes tiles.
func tiled() bool { return false }

func tile4x8(int, *float64, int, *float64, *float64, int) {
	panic("oracle: no tiles on this processor")
}

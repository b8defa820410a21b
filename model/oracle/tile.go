package oracle

// Rows and columns of a tile.
const (
	tileRows    = 4
	tileColumns = 8
)

// multiplyTiles is mulAdd for as many of the rows and columns as tiles cover, and returns how many those are; the
// caller computes the others. A tile holds its sums in registers and makes each of them in the same order, with the
// same roundings, so that what it adds is what plain code adds, a few times faster.
func multiplyTiles(m, n, k int, a, b, out []float64) (rows, columns int) {
	rows, columns = m-m%tileRows, n-n%tileColumns
	if !tiled() || rows == 0 || columns == 0 || k == 0 {
		return 0, 0
	}
	// Columns of b one after the other: strides of a power of two miss the cache.
	panel := make([]float64, k*tileColumns)
	for j := 0; j < columns; j += tileColumns {
		for l := range k {
			copy(panel[l*tileColumns:][:tileColumns], b[l*n+j:])
		}
		for i := 0; i < rows; i += tileRows {
			// the last number of each that is read or written
			_, _ = a[(i+tileRows)*k-1], out[(i+tileRows-1)*n+j+tileColumns-1]
			tile4x8(k, &a[i*k], k, &panel[0], &out[i*n+j], n)
		}
	}
	return rows, columns
}

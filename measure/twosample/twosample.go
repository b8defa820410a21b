// Package twosample asks whether two sets of numbers come from one distribution: a classifier that is to tell them
// apart, the energy distance, a kernel distance, and p-values by randomisation that are valid for any number of
// objects.
//
// Rows come in pairs: row i of both sets is of object i, as it is and moved. What is inferred is inferred over objects.
package twosample

import "math"

// Table is N rows of D numbers, one row for each object.
type Table struct {
	N, D int
	V    []float32
}

// NewTable makes n rows of d zeros.
func NewTable(n, d int) *Table { return &Table{n, d, make([]float32, n*d)} }

// Row is row i, which shares the memory of the table.
func (t *Table) Row(i int) []float32 { return t.V[i*t.D : (i+1)*t.D] }

// Set rounds numbers into row i.
func (t *Table) Set(i int, x []float64) {
	row := t.Row(i)
	for j := range row {
		row[j] = float32(x[j])
	}
}

// distance is the Euclidean distance of two rows.
func distance(a, b []float32) float64 {
	sum := 0.0
	for j, x := range a {
		d := float64(x) - float64(b[j])
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

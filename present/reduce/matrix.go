package reduce

import (
	"errors"
	"fmt"
	"math"
)

// Matrix is what is reduced: one row per sample, one column per element of the orbit. Row is called from several
// goroutines at once and gives the same numbers each time.
type Matrix interface {
	// Dims is the number of rows and of columns.
	Dims() (rows, columns int)
	// Row writes row i into dst, whose length is the number of columns.
	Row(dst []float64, i int)
}

// Dense is a Matrix over an array in row-major order, which it shares.
type Dense[T float32 | float64] struct {
	rows, columns int
	data          []T
}

// NewDense views data, in row-major order, as a matrix. It refuses an array that does not have rows times columns
// numbers.
func NewDense[T float32 | float64](rows, columns int, data []T) (*Dense[T], error) {
	if rows < 0 || columns < 0 || columns > 0 && rows > math.MaxInt/columns || rows*columns != len(data) {
		return nil, fmt.Errorf(
			"reduce: %d rows of %d columns do not go with an array of %d numbers: expected rows times columns", rows,
			columns, len(data))
	}
	return &Dense[T]{rows: rows, columns: columns, data: data}, nil
}

// Dims is the number of rows and of columns.
func (m *Dense[T]) Dims() (rows, columns int) { return m.rows, m.columns }

// Row writes row i into dst.
func (m *Dense[T]) Row(dst []float64, i int) {
	row := m.data[i*m.columns : (i+1)*m.columns]
	dst = dst[:len(row)]
	for j, v := range row {
		dst[j] = float64(v)
	}
}

// joined stands matrices side by side.
type joined struct {
	parts []Matrix
	// column after the last one of each part
	ends []int
	rows int
}

// Join stands matrices side by side without copying, so that several models are reduced jointly: row i of the result is
// row i of each, one after the other. It refuses parts with different numbers of rows, and no parts.
func Join(parts ...Matrix) (Matrix, error) {
	if len(parts) == 0 {
		return nil, errors.New("reduce: nothing to join: expected at least one matrix")
	}
	j := &joined{parts: parts}
	end := 0
	for i, p := range parts {
		n, d := p.Dims()
		if i == 0 {
			j.rows = n
		}
		if n != j.rows {
			return nil, fmt.Errorf(
				"reduce: matrix %d has %d rows and the first one %d: join only matrices over the same samples", i+1, n,
				j.rows)
		}
		end += d
		j.ends = append(j.ends, end)
	}
	return j, nil
}

func (j *joined) Dims() (rows, columns int) { return j.rows, j.ends[len(j.ends)-1] }

func (j *joined) Row(dst []float64, i int) {
	at := 0
	for k, p := range j.parts {
		p.Row(dst[at:j.ends[k]], i)
		at = j.ends[k]
	}
}

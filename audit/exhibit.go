package audit

import "nero/audit/document"

// Exhibit is something to look at that belongs to a check: a table, a curve or a map. Every report shows it in its own
// form: text as columns, HTML as a plot with its numbers, JSON as data. Exactly one of Table, Curve and Map is set.
type Exhibit struct {
	// lower-case letters, digits and dashes, unique within the check, such as "layers"
	Name  string
	Title string
	// a sentence on how to read it; may be empty
	Note  string
	Table *Table
	Curve *Curve
	Map   *Map
}

// Table is a table with one kind of content per column.
type Table = document.Table

// Column heads a column.
type Column = document.Column

// Cell is a word or a number.
type Cell = document.Cell

// Word is a cell that holds text.
func Word(s string) Cell { return Cell{Text: s} }

// Num is a cell that holds a number.
func Num(x float64) Cell { return Cell{Value: x, Number: true} }

// Scale is an axis of a curve.
type Scale = document.Scale

// Curve is one or more series over one axis.
type Curve struct {
	X, Y Scale
	// a line across, such as the threshold; NaN for none
	Limit  float64
	Series []Series
}

// Series is one line of a curve, or its marks. X and Y are equally long; Lo and Hi are too, or empty.
type Series struct {
	Name   string
	X, Y   []float64
	Lo, Hi []float64
	// of the points, for people; as long as X, or empty
	Labels []string
	// points only
	Marks bool
}

// Map is a picture of numbers, such as the error over the pixels of an image.
type Map struct {
	H, W int
	// row by row, H·W numbers; NaN where nothing is known
	Val  []float64
	Unit string
	// zero is in the middle of the scale
	Diverging bool
}

// Show adds something to look at.
func (p *Pass) Show(e Exhibit) { p.out.Exhibits = append(p.out.Exhibits, e) }

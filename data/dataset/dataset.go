// Package dataset reads samples in a stable order, with labels where there are any. There is one reader per format.
package dataset

import "nero/data/space"

// Sample is one datum with its name.
type Sample struct {
	// unique in the data set and stable: a file's relative path, or the index in the file
	ID string
	// class, 0-based; -1 if there is none
	Label int
	// free words, such as the folder
	Tags []string
	// the input, in the unit of the file
	Value space.Value
	// Target is what a model should answer, in the frame of Value (a picture of the same size): boxes, a field; nil if
	// there is none, and for classes, which are in Label. Of boxes around a key object the first is that of the key
	// object.
	Target space.Value
}

// Dataset is an ordered list of samples. Methods are safe for concurrent use.
type Dataset interface {
	Len() int
	// Labels are the classes in sample order, -1 for none; nil when no sample has one. They cost no decoding.
	Labels() []int
	// IDs are the sample names in sample order.
	IDs() []string
	// Sample decodes sample i, 0 <= i < Len(). It never returns a value with non-finite numbers without ErrNotFinite.
	Sample(i int) (Sample, error)
	// Files are the paths that the data set reads, for digests.
	Files() []string
	// Info is what is known of all samples. It costs no decoding and shares no memory with the data set.
	Info() Info
}

// ErrNotFinite marks a sample that holds NaN or infinities.
var ErrNotFinite = space.ErrNotFinite

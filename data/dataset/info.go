package dataset

import (
	"slices"

	"nero/data/space"
)

// Info is what a data set knows of its samples without decoding one.
type Info struct {
	// Space is kind, shape (-1 where samples differ), natural types, and the fields of a record.
	Space space.Spec
	// Target says the same of the targets, or their kind alone; the kind is "" if there are none.
	Target space.Spec
	// Max is the largest value that the files can hold: 255 for 8-bit and 65535 for 16-bit data; 0 where the format
	// sets no bound that means full intensity, as for floating-point and wider integer arrays.
	Max float64
	// Classes are the words that the labels stand for: class k is Classes[k]. Nil if labels are plain numbers.
	Classes []string
	// Turned is the number of photos that are turned as their EXIF says.
	Turned int
	// Room is how many rows and columns photos have beyond the crop of [Resize] at most, and Roomy how many photos have
	// some; zeros where whole photos are shown.
	Room  [2]int
	Roomy int
	// Margin is how many rows and columns around the crop every sample has, and Short how many photos have fewer, so
	// that the rest is made up.
	Margin [2]int
	Short  int
	// Notes are sentences for a person: what was guessed or left out when the data was opened.
	Notes []string
}

// imageSpec describes pictures of one size.
func imageSpec(c, h, w int) space.Spec {
	return space.SpecOf("image", &space.Image{C: c, H: h, W: w})
}

// targetSpec describes targets of which the kind alone is known.
func targetSpec(k space.Kind) space.Spec { return space.Spec{Name: "target", Kind: k} }

// depthMax is the largest sample of a picture with so many bits.
func depthMax(bits int) float64 { return float64(uint64(1)<<bits - 1) }

// copied is a spec that shares no memory.
func copied(s space.Spec) space.Spec {
	s.Shape = slices.Clone(s.Shape)
	s.Fields = slices.Clone(s.Fields)
	for i := range s.Fields {
		s.Fields[i] = copied(s.Fields[i])
	}
	return s
}

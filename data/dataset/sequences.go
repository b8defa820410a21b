package dataset

import (
	"fmt"
	"slices"

	"nero/data/space"
)

// sequences is a data set of image pairs or stacks, with fields or without.
type sequences struct {
	// for messages
	root string
	ids  []string
	// nil for none
	tags   func(i int) []string
	labels []int
	names  []string
	files  []string
	notes  []string
	// frames of each
	t int
	// of a frame
	c, h, w int
	max     float64
	frames  func(i int) (*space.Frames, error)
	// nil if there are no fields
	truth func(i int) (*space.Field, error)
}

// Len is the number of pairs or stacks.
func (d *sequences) Len() int { return len(d.ids) }

// Labels are the classes of the table; shared, not to be changed.
func (d *sequences) Labels() []int { return d.labels }

// IDs are the names of the pairs.
func (d *sequences) IDs() []string { return slices.Clone(d.ids) }

// Files are the frames, then the fields.
func (d *sequences) Files() []string { return slices.Clone(d.files) }

// Info has the fields as targets, if there are any.
func (d *sequences) Info() Info {
	i := Info{
		Space: space.Spec{Name: "frames", Kind: space.KindFrames, Shape: []int{d.t, d.c, d.h, d.w}}, Max: d.max,
		Classes: slices.Clone(d.names), Notes: slices.Clone(d.notes),
	}
	if d.truth != nil {
		i.Target = targetSpec(space.KindField)
	}
	return i
}

// Sample decodes the frames and the field of pair i.
func (d *sequences) Sample(i int) (Sample, error) {
	if i < 0 || i >= len(d.ids) {
		return Sample{}, fmt.Errorf("%s: pair %d does not exist, want 0 to %d", d.root, i, len(d.ids)-1)
	}
	s := Sample{ID: d.ids[i], Label: -1}
	if d.labels != nil {
		s.Label = d.labels[i]
	}
	if d.tags != nil {
		s.Tags = d.tags(i)
	}
	f, err := d.frames(i)
	if err != nil {
		return Sample{}, err
	}
	s.Value = f
	if d.truth != nil {
		t, err := d.truth(i)
		if err != nil {
			return Sample{}, err
		}
		s.Target = t
	}
	return s, nil
}

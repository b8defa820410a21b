package dataset

import (
	"fmt"
	"slices"

	"nero/data/space"
)

// Sequenced is implemented by data sets whose samples are sequences of pictures, [space.Frames]. [Shaped] and [Ranged]
// then speak of one frame.
type Sequenced interface {
	// Frames is the number of frames of every sample; 0 if the samples are no sequences.
	Frames() int
}

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

// Shape is that of one frame.
func (d *sequences) Shape() (c, h, w int) { return d.c, d.h, d.w }

// Frames is the number of frames of each sample.
func (d *sequences) Frames() int { return d.t }

// Max is the range of the pictures' samples.
func (d *sequences) Max() float64 { return d.max }

// ClassNames are the words of the table of labels.
func (d *sequences) ClassNames() []string { return slices.Clone(d.names) }

// Notes say what was guessed.
func (d *sequences) Notes() []string { return slices.Clone(d.notes) }

// Targets is [space.KindField] if there are fields.
func (d *sequences) Targets() space.Kind {
	if d.truth != nil {
		return space.KindField
	}
	return ""
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

// Frames is the number of frames of the samples of the whole data set; 0 if they are no sequences.
func (v *View) Frames() int {
	if s, ok := v.ds.(Sequenced); ok {
		return s.Frames()
	}
	return 0
}

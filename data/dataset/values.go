package dataset

import (
	"fmt"
	"slices"

	"nero/data/space"
)

// values is a data set of clouds, molecules, graphs or signals. Whoever opens it knows how a sample is made.
type values struct {
	// for messages
	root string
	// what a sample is called
	noun   string
	ids    []string
	labels []int
	names  []string
	files  []string
	notes  []string
	space  space.Spec
	target space.Spec
	// load makes sample i: its value, its target (nil if there is none) and its tags. Its errors name the file.
	load func(i int) (v, target space.Value, tags []string, err error)
}

// Len is the number of samples.
func (d *values) Len() int { return len(d.ids) }

// Labels are the classes; shared, not to be changed.
func (d *values) Labels() []int { return d.labels }

// IDs are the names of the samples.
func (d *values) IDs() []string { return slices.Clone(d.ids) }

// Files are all files that samples, labels and targets come from.
func (d *values) Files() []string { return slices.Clone(d.files) }

// Info has no largest value: the numbers have no full intensity.
func (d *values) Info() Info {
	return Info{
		Space: copied(d.space), Target: copied(d.target), Classes: slices.Clone(d.names), Notes: slices.Clone(d.notes),
	}
}

// Sample makes sample i.
func (d *values) Sample(i int) (Sample, error) {
	if i < 0 || i >= len(d.ids) {
		return Sample{}, fmt.Errorf("%s: %s %d does not exist, want 0 to %d", d.root, d.noun, i, len(d.ids)-1)
	}
	s := Sample{ID: d.ids[i], Label: -1}
	if d.labels != nil {
		s.Label = d.labels[i]
	}
	v, t, tags, err := d.load(i)
	if err != nil {
		return Sample{}, err
	}
	s.Value, s.Target, s.Tags = v, t, tags
	return s, nil
}

// label takes the labels from the file that spec names, if it names one.
func (d *values) label(o opener, spec Spec) error {
	if spec.Labels == "" {
		return nil
	}
	labels, names, notes, err := o.labels(spec, d.ids)
	if err != nil {
		return err
	}
	d.labels, d.names, d.notes = labels, names, append(d.notes, notes...)
	if !slices.Contains(d.files, spec.Labels) {
		d.files = append(d.files, spec.Labels)
	}
	return nil
}

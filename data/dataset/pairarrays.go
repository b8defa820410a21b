package dataset

import (
	"fmt"
	"slices"

	"nero/data/space"
)

// frameKeys and fieldKeys are the arrays of an npz file that are tried when none is named.
func frameKeys() []string { return []string{"frames", "x", "images"} }

func fieldKeys() []string { return []string{"flow", "flows", "field", "fields", "uv"} }

// openPairArrays opens frames in an npy or npz file: (N, T, H, W) grey, or (N, T, C, H, W). Fields lie in the same
// archive or in Targets: (N, 2, H, W) or (N, H, W, 2).
func (o opener) openPairArrays(spec Spec) (Dataset, error) {
	a, archived, err := o.named(spec.Images, spec.Key, frameKeys(), fieldKeys(), "key")
	if err != nil {
		return nil, err
	}
	c, layout := 1, "NCHW"

	switch len(a.shape) {
	case 4:
		if spec.Layout == "NHWC" {
			layout = "NHWC"
		} else if spec.Layout == "" && isColor(a.shape[3]) && !isColor(a.shape[1]) && a.shape[1] != 2 {
			return nil, inFile(a.name,
				fmt.Errorf("shape %v may have the frames or the colors last, want (N, frames, height, width): set "+
					"layout, NCHW for frames after N and NHWC for frames last, or move the axis", a.shape))
		}
	case 5:
		if c = a.shape[2]; c != 1 && c != 3 || a.fortran {
			return nil, inFile(a.name,
				fmt.Errorf("shape %v is no set of sequences, want (N, frames, channels, height, width) with 1 or 3 "+
					"channels, in C order: move the axes and store it anew", a.shape))
		}
		a.shape = []int{a.shape[0], a.shape[1] * c, a.shape[3], a.shape[4]}
	default:
		return nil, inFile(a.name,
			fmt.Errorf("shape %v is no set of sequences, want (N, frames, height, width) or (N, frames, channels, "+
				"height, width): reshape the array", a.shape))
	}
	x, err := newArrays(a, layout)
	if err != nil {
		return nil, err
	}
	t := x.c / c
	if t < 2 {
		return nil, inFile(a.name,
			fmt.Errorf("shape %v has %d frame a sample, want two or more: stack the frames along axis 1", a.shape, t))
	}
	d := &sequences{
		root: spec.Images, ids: x.IDs(), t: t, c: c, h: x.h, w: x.w, max: x.Info().Max,
		files: []string{spec.Images}, notes: x.notes,
	}
	d.frames = func(i int) (*space.Frames, error) {
		m, err := x.image(i)
		if err != nil {
			return nil, err
		}
		out := &space.Frames{}
		for k := range t {
			n := c * m.H * m.W
			out.Images = append(out.Images, &space.Image{C: c, H: m.H, W: m.W, Pix: m.Pix[k*n : (k+1)*n : (k+1)*n]})
		}
		return out, nil
	}
	if spec.Labels != "" {
		labels, names, notes, err := o.labels(spec, d.ids)
		if err != nil {
			return nil, err
		}
		d.labels, d.names, d.notes, d.files = labels, names, append(d.notes, notes...), append(d.files, spec.Labels)
	}
	source := spec.Targets
	switch {
	case source == none:
		return d, nil
	case source == "" && archived:
		has, err := o.hasField(spec)
		if err != nil {
			return nil, err
		}
		if has {
			source = spec.Images
		}
	}
	if source != "" {
		if err := o.fieldArray(d, spec, source); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// hasField tells whether the archive of the frames has fields too.
func (o opener) hasField(spec Spec) (has bool, err error) {
	err = o.inArchive(spec.Images, func(z *archive) error {
		if spec.TargetKey != "" {
			_, err := z.has(spec.TargetKey, "the key of the fields")
			has = true
			return err
		}
		has = slices.ContainsFunc(fieldKeys(), func(k string) bool { return z.entries[k] != nil })
		return nil
	})
	return has, err
}

// named opens an array of an npy file, or of an npz file by its key: the one that is named, the first of keys that
// there is, or the only one that is not called like one of others.
func (o opener) named(name, key string, keys, others []string, setting string) (a *array, archived bool, err error) {
	kind, err := labelFormat(o.fsys, name)
	if err != nil {
		return nil, false, err
	}
	switch kind {
	case "npz":
	case "idx", "npy":
		if key != "" {
			return nil, false, fmt.Errorf("%s: %s is for npz archives, this is none", name, setting)
		}
		a, err = o.open(name)
		return a, false, err
	default:
		return nil, false, fmt.Errorf("%s: is no array, want npy or npz", name)
	}
	err = o.inArchive(name, func(z *archive) error {
		chosen := key
		if chosen != "" {
			if _, err := z.has(chosen, setting); err != nil {
				return err
			}
		}
		for _, k := range keys {
			if chosen == "" && z.entries[k] != nil {
				chosen = k
			}
		}
		if chosen == "" {
			var rest []string
			for k := range z.entries {
				if !slices.Contains(others, k) {
					rest = append(rest, k)
				}
			}
			if len(rest) != 1 {
				return fmt.Errorf("%s: which array is it? It has %s: set %s", z.name, z.keys(), setting)
			}
			chosen = rest[0]
		}
		a, err = o.entry(z, chosen)
		return err
	})
	return a, true, err
}

// fieldArray takes the fields of d from an array.
func (o opener) fieldArray(d *sequences, spec Spec, name string) error {
	a, _, err := o.named(name, spec.TargetKey, fieldKeys(), frameKeys(), "the key of the fields")
	if err != nil {
		return err
	}
	if len(a.shape) != 4 {
		return inFile(a.name,
			fmt.Errorf("shape %v is no set of fields, want (N, 2, height, width) or (N, height, width, 2)", a.shape))
	}
	n := d.Len()
	layout := ""
	switch {
	case slices.Equal(a.shape, []int{n, 2, d.h, d.w}):
		layout = "NCHW"
	case slices.Equal(a.shape, []int{n, d.h, d.w, 2}):
		layout = "NHWC"
	default:
		return inFile(a.name, fmt.Errorf("shape %v does not belong to the %d pairs of %d x %d px in %s, want %v or %v",
			a.shape, n, d.w, d.h, d.root, []int{n, 2, d.h, d.w}, []int{n, d.h, d.w, 2}))
	}
	x, err := newArrays(a, layout)
	if err != nil {
		return err
	}
	if !slices.Contains(d.files, name) {
		d.files = append(d.files, name)
	}
	d.truth = func(i int) (*space.Field, error) {
		m, err := x.image(i)
		if err != nil {
			return nil, err
		}
		return &space.Field{H: m.H, W: m.W, Val: m.Pix}, nil
	}
	return nil
}

package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/data/space"
	"nero/data/tensor"
)

// arrays is a data set whose images lie in one array.
type arrays struct {
	images  *array
	n       int
	c, h, w int
	// distance in elements between samples, channels, rows and columns
	sn, sc, sh, sw int
	labels         []int
	names          []string
	files          []string
	notes          []string
}

// newArrays finds the axes of the image array. Layout is NHW, NCHW, NHWC or "", which guesses where there is no doubt.
func newArrays(a *array, layout string) (*arrays, error) {
	layout, note, err := chooseLayout(a.shape, layout)
	if err != nil {
		return nil, inFile(a.name, err)
	}
	d := &arrays{images: a, c: 1}
	if note != "" {
		d.notes = append(d.notes, a.name+": "+note)
	}
	stride := make([]int, len(a.shape))
	step := 1
	for k := range stride {
		axis := len(stride) - 1 - k
		if a.fortran {
			axis = k
		}
		stride[axis] = step
		step *= a.shape[axis]
	}
	d.sc = 0
	for k, axis := range layout {
		switch axis {
		case 'N':
			d.n, d.sn = a.shape[k], stride[k]
		case 'C':
			d.c, d.sc = a.shape[k], stride[k]
		case 'H':
			d.h, d.sh = a.shape[k], stride[k]
		case 'W':
			d.w, d.sw = a.shape[k], stride[k]
		}
	}
	if a.count == 0 {
		return nil, inFile(a.name,
			fmt.Errorf("no images: the array has shape %v (%s), want at least one sample, channel, row and column",
				a.shape, layout))
	}
	if err := checkSize(d.c, d.h, d.w); err != nil {
		return nil, inFile(a.name, err)
	}
	if d.n > maxSamples {
		return nil, inFile(a.name, fmt.Errorf("%d samples, want at most %d: split the file", d.n, maxSamples))
	}
	return d, nil
}

// checkSize bounds the memory of one sample.
func checkSize(c, h, w int) error {
	if _, err := tensor.CheckedCount([]int{c, h, w}, maxValues); err != nil {
		return fmt.Errorf("images of %d x %d pixels with %d channels are larger than the %d values that one sample "+
			"may have: crop or scale them down", w, h, c, maxValues)
	}
	return nil
}

// chooseLayout names the axes of an array of images.
func chooseLayout(shape []int, layout string) (axes, note string, err error) {
	switch layout {
	case "NHW", "NCHW", "NHWC":
		if len(shape) != len(layout) {
			return "", "", fmt.Errorf("layout %s wants %d axes, the array has shape %v", layout, len(layout), shape)
		}
		return layout, "", nil
	case "":
	default:
		return "", "", fmt.Errorf("layout %q is not known, want NHW, NCHW or NHWC", layout)
	}
	switch len(shape) {
	case 3:
		return "NHW", "", nil
	case 4:
		first, last := isColor(shape[1]), isColor(shape[3])
		switch {
		case first && !last:
			return "NCHW", fmt.Sprintf(
					"shape %v read as NCHW because axis 1 has the length of a color axis; set layout to overrule",
					shape),
				nil
		case last && !first:
			return "NHWC", fmt.Sprintf(
				"shape %v read as NHWC because the last axis has the length of a color axis; set layout to overrule",
				shape), nil
		}
		return "", "", fmt.Errorf("shape %v may be NCHW or NHWC: set layout", shape)
	}
	return "", "", fmt.Errorf(
		"shape %v is no set of images, want (N, height, width) or four axes with channels: reshape the array", shape)
}

// isColor tells the usual numbers of channels: grey, RGB, RGB with alpha.
func isColor(n int) bool { return n == 1 || n == 3 || n == 4 }

// Len is the number of samples.
func (d *arrays) Len() int { return d.n }

// Labels are the classes; shared, not to be changed.
func (d *arrays) Labels() []int { return d.labels }

// IDs are the indexes in the file.
func (d *arrays) IDs() []string {
	ids := make([]string, d.n)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	return ids
}

// Files are the image file and the label file.
func (d *arrays) Files() []string { return slices.Clone(d.files) }

// Info has the range of the array's elements.
func (d *arrays) Info() Info {
	i := Info{Space: imageSpec(d.c, d.h, d.w), Classes: slices.Clone(d.names), Notes: slices.Clone(d.notes)}
	switch d.images.dtype { //nolint:exhaustive // the other types have no full intensity
	case tensor.Uint8:
		i.Max = 255
	case tensor.Uint16:
		i.Max = 65535
	}
	return i
}

// Sample converts the elements of one image.
func (d *arrays) Sample(i int) (Sample, error) {
	if i < 0 || i >= d.n {
		return Sample{}, fmt.Errorf("%s: sample %d does not exist, want 0 to %d", d.images.name, i, d.n-1)
	}
	s := Sample{ID: strconv.Itoa(i), Label: -1}
	if d.labels != nil {
		s.Label = d.labels[i]
	}
	img, err := d.image(i)
	if err != nil {
		return Sample{}, err
	}
	s.Value = img
	return s, nil
}

// image converts the elements of image i.
func (d *arrays) image(i int) (*space.Image, error) {
	base, count := i*d.sn, d.images.count-i*d.sn
	if !d.images.fortran {
		count = d.sn
	}
	b, err := d.images.piece(base, count)
	if err != nil {
		return nil, fmt.Errorf("%s: sample %d: %w", d.images.name, i, err)
	}
	img := space.NewImage(d.c, d.h, d.w)
	typ, size := d.images.dtype, d.images.dtype.Size()
	if d.sw == 1 && d.sh == d.w && (d.c == 1 || d.sc == d.h*d.w) {
		widen(img.Pix, b, 1, typ)
	} else {
		for c := range d.c {
			for r := range d.h {
				row := (c*d.h + r) * d.w
				widen(img.Pix[row:row+d.w], b[(c*d.sc+r*d.sh)*size:], d.sw, typ)
			}
		}
	}
	if isFloat(typ) {
		if err := checkFinite(img); err != nil {
			return nil, fmt.Errorf("%s: sample %d: %w", d.images.name, i, err)
		}
	}
	return img, nil
}

// checkFinite names the first pixel that is NaN or infinite.
func checkFinite(img *space.Image) error {
	for k, v := range img.Pix {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			p := k % (img.H * img.W)
			return fmt.Errorf("channel %d, row %d, column %d is %v: %w; repair or leave out this sample",
				k/(img.H*img.W), p/img.W, p%img.W, v, ErrNotFinite)
		}
	}
	return nil
}

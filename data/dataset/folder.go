package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// folderFormat is what a folder is taken for if nothing else is known.
var folderFormat = &Format{
	Name: "folder", Doc: "Image files, labelled by folders, names or a table; or one image.",
	Sniff:   Sniff{Head: func(head []byte) bool { return imageFormat(head) != "" }},
	Options: []Option{WithPattern, WithLabels, WithShape, WithOrient},
	Refuse:  noArray,
	Open:    reads(opener.openFolder),
}

// folder is a data set of image files.
type folder struct {
	listing
	// sizes may differ: something brings them to one later
	loose bool
	// what the files say of how they lie does not count
	stored bool
	turns  []orientation
	// as they are shown
	pics   []picture
	common picture
}

// newFolder is the images below a root; files with the endings in skip are read by something else.
func newFolder(fsys fs.FS, spec Spec, skip ...string) *folder {
	return &folder{
		listing: listing{fsys: fsys, root: spec.Images, endings: imageEndings(), noun: "images", skip: skip},
		loose:   spec.loose(), stored: spec.Orientation == Stored,
	}
}

// openFolder opens the images below a folder, or a single image.
func (o opener) openFolder(spec Spec) (Dataset, error) {
	d := newFolder(o.fsys, spec)
	if err := d.find(); err != nil {
		return nil, inFile(spec.Images, err)
	}
	if err := d.measure(); err != nil {
		return nil, inFile(spec.Images, err)
	}
	if err := d.label(o, spec); err != nil {
		return nil, err
	}
	if !spec.reshapes() {
		return d, nil
	}
	p := d.photos(o)
	p.files, p.names = d.extra, d.names
	if err := p.open(spec); err != nil {
		return nil, err
	}
	return p, nil
}

// photos are the images as photos whose boxes are not known.
func (d *folder) photos(o opener) *photos {
	p := &photos{o: o, root: d.root, common: d.common, notes: slices.Clone(d.notes)}
	for i, name := range d.paths {
		one := photo{
			id: d.id(name), file: d.name(name), pic: d.pics[i], turn: d.turns[i], label: -1, tags: d.tags(name),
		}
		if d.labels != nil {
			one.label = d.labels[i]
		}
		p.items = append(p.items, one)
	}
	return p
}

// imageEndings are the endings of files that are taken for images.
func imageEndings() []string {
	return []string{".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}
}

// IsImage tells whether the name of a file ends as those of images do.
func IsImage(name string) bool { return endsIn(name, imageEndings()) }

// measure reads all headers and settles the common size, channels and depth: those that most files have, of equals the
// first. A file unlike the others is refused before anything of it is decoded.
//
// Headers cost some 20 µs a file, two seconds for 100,000; a run reads every byte anyway for its digest.
func (d *folder) measure() error {
	if err := d.peek(); err != nil {
		return err
	}
	if d.loose {
		return d.measureLoose()
	}
	if err := d.agree(d.pics); err != nil {
		return err
	}
	return checkSize(d.common.c, d.common.h, d.common.w)
}

// agree settles what most pictures have and refuses the first that has something else: before all sizes channels and
// depth, which no resize brings together.
func (d *folder) agree(pics []picture) error {
	d.common = majority(pics)
	kind := func(p picture) bool { return (picture{p.c, d.common.h, d.common.w, p.depth, p.either}).fits(d.common) }
	if err := d.strangers(pics, kind, picture.kind)("remove it"); err != nil {
		return err
	}
	advised := d.strangers(pics, func(p picture) bool { return p.fits(d.common) }, picture.String)
	err := advised("resize all as they are read with data.resize (--resize short=256,crop=224 for a model that reads " +
		"224 x 224), or remove or crop it")
	if err == nil {
		d.greys(pics)
		return nil
	}
	sizes := map[[2]int]bool{}
	for _, p := range pics {
		sizes[[2]int{p.h, p.w}] = true
	}
	return &SizesError{Pictures: len(pics), Sizes: len(sizes), message: err, remedy: advised}
}

// strangers is the error, with a remedy, that names the first picture which does not fit; nil if all do.
func (d *folder) strangers(pics []picture, fits func(picture) bool, say func(picture) string,
) func(remedy string) error {
	n, first := 0, 0
	for i, p := range pics {
		if !fits(p) {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	others := "most images"
	if 2*n >= len(pics) {
		others = "others"
	}
	return func(remedy string) error {
		if n == 0 {
			return nil
		}
		return d.inImage(first, fmt.Errorf(
			"has %s, but %s in the folder have %s (%d of %d differ): all must agree; %s", say(pics[first]), others,
			say(d.common), n, len(pics), remedy+convert(pics[first], d.common)))
	}
}

// convert is how an image becomes like the others, behind another remedy.
func convert(p, want picture) string {
	switch {
	case p.depth != want.depth:
		return fmt.Sprintf(", or bring it to %d bits: magick FILE -depth %d FILE", want.depth, want.depth)
	case p.c > want.c:
		return ", or make it grey: magick FILE -colorspace Gray FILE"
	}
	return ""
}

// greys notes grey images among colours.
func (d *folder) greys(pics []picture) {
	n, first := 0, 0
	for i, p := range pics {
		if p.c < d.common.c && !p.either {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	if n > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s: %d of %d images are grey and are read as three equal channels, "+
			"like the colors of the others, first %q", d.root, n, len(pics), d.id(d.paths[first])))
	}
}

// peek reads all headers.
func (d *folder) peek() error {
	pics := make([]picture, len(d.paths))
	errs := make([]error, len(d.paths))
	turns, wrong := make([]orientation, len(d.paths)), make([]error, len(d.paths))
	var g errgroup.Group
	const batch = 64
	g.SetLimit(2 * runtime.GOMAXPROCS(0)) // more than there are cores: most of the time goes into waiting for files
	for lo := 0; lo < len(d.paths); lo += batch {
		g.Go(func() error {
			for i := lo; i < min(lo+batch, len(d.paths)); i++ {
				pics[i], turns[i], wrong[i], errs[i] = peekHead(d.fsys, d.name(d.paths[i]))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, err := range errs {
		if err != nil {
			return d.inImage(i, err)
		}
	}
	d.pics = pics
	d.orient(turns, wrong)
	return nil
}

// peekHead reads the head of a photo, unless the file system knows it.
func peekHead(fsys fs.FS, name string) (p picture, o orientation, wrong, err error) {
	held, ok := fsys.(*Held)
	if ok {
		if p, o, known := held.head(name); known {
			return p, o, nil, nil
		}
	}
	if p, err = peekPicture(fsys, name); err != nil {
		return p, o, nil, err
	}
	if o, wrong, err = peekPhoto(fsys, name); ok && wrong == nil && err == nil {
		held.note(name, p, o)
	}
	return p, o, wrong, err
}

// measureLoose settles channels and depth, and bounds each size by itself.
func (d *folder) measureLoose() error {
	pics := slices.Clone(d.pics)
	for i, p := range pics {
		if err := checkSize(p.c, p.h, p.w); err != nil {
			return d.inImage(i, err)
		}
		pics[i].h, pics[i].w = 0, 0
	}
	return d.agree(pics)
}

// inImage names image i, unless the error of the file system does so already.
func (d *folder) inImage(i int, err error) error {
	if d.paths[i] == "" {
		return err
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return err
	}
	return fmt.Errorf("image %q: %w", d.paths[i], err)
}

// majority is what most pictures have: first their channels and depth, then the size that most of those have. Were
// sizes counted along, the first of many photos of as many sizes would decide whether all are grey. Palettes of greys
// vote when nothing else does.
func majority(pics []picture) picture {
	kinds := make([]picture, len(pics))
	for i, p := range pics {
		kinds[i] = p
		kinds[i].h, kinds[i].w = 0, 0
	}
	kind := mostFrequent(kinds)
	var alike []picture
	for i, p := range pics {
		if kinds[i] == kind {
			alike = append(alike, p)
		}
	}
	best := mostFrequent(alike)
	best.either = false
	return best
}

// mostFrequent is the most frequent picture, of equals the one that comes first.
func mostFrequent(pics []picture) picture {
	count := map[picture]int{}
	for _, p := range pics {
		count[p]++
	}
	best := pics[0]
	better := func(p picture) bool {
		if p.either != best.either {
			return best.either
		}
		return count[p] > count[best]
	}
	for _, p := range pics {
		if better(p) {
			best = p
		}
	}
	return best
}

// Len is the number of images.
func (d *folder) Len() int { return len(d.paths) }

// Labels are the classes; shared, not to be changed.
func (d *folder) Labels() []int { return d.labels }

// Info has the names of the folders as classes, or the words of pattern or table.
func (d *folder) Info() Info {
	c := d.common
	i := Info{
		Space: imageSpec(c.c, c.h, c.w), Max: depthMax(c.depth),
		Classes: slices.Clone(d.names), Notes: slices.Clone(d.notes),
	}
	for _, o := range d.turns {
		if !o.upright() {
			i.Turned++
		}
	}
	return i
}

// Sample decodes image i.
func (d *folder) Sample(i int) (Sample, error) {
	if i < 0 || i >= len(d.paths) {
		return Sample{}, fmt.Errorf("%s: image %d does not exist, want 0 to %d", d.root, i, len(d.paths)-1)
	}
	p := d.paths[i]
	img, err := loadPicture(d.fsys, d.name(p), d.common, d.turns[i])
	if err != nil {
		return Sample{}, inFile(d.name(p), err)
	}
	s := Sample{ID: d.id(p), Label: -1, Value: img}
	if d.labels != nil {
		s.Label = d.labels[i]
	}
	s.Tags = d.tags(p)
	return s, nil
}

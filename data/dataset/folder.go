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
	Options: []Option{WithPattern, WithLabels, WithShape},
	Refuse:  noArray,
	Open:    reads(opener.openFolder),
}

// folder is a data set of image files.
type folder struct {
	listing
	// sizes may differ: something brings them to one later
	loose  bool
	pics   []picture
	common picture
}

// newFolder is the images below a root; files with the endings in skip are read by something else.
func newFolder(fsys fs.FS, root string, loose bool, skip ...string) *folder {
	return &folder{
		listing: listing{fsys: fsys, root: root, endings: imageEndings(), noun: "images", skip: skip}, loose: loose,
	}
}

// openFolder opens the images below a folder, or a single image.
func (o opener) openFolder(spec Spec) (Dataset, error) {
	d := newFolder(o.fsys, spec.Images, spec.loose())
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
		one := photo{id: d.id(name), file: d.name(name), pic: d.pics[i], label: -1, tags: d.tags(name)}
		if d.labels != nil {
			one.label = d.labels[i]
		}
		p.items = append(p.items, one)
	}
	return p
}

// imageEndings are the endings of files that are taken for images.
func imageEndings() []string {
	return []string{".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}
}

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
	if err := d.agree(d.pics, picture.String, "resize all as they are read with "+
		"data.resize (--resize short=256,crop=224), or remove, crop or convert it"); err != nil {
		return err
	}
	return checkSize(d.common.c, d.common.h, d.common.w)
}

// agree settles what most pictures have and refuses the first that has something else.
func (d *folder) agree(pics []picture, say func(picture) string, remedy string) error {
	d.common = majority(pics)
	strangers, first := 0, 0
	for i, p := range pics {
		if !p.fits(d.common) {
			if strangers == 0 {
				first = i
			}
			strangers++
		}
	}
	if strangers == 0 {
		return nil
	}
	err := d.inImage(first, fmt.Errorf(
		"has %s, but most images in the folder have %s (%d of %d differ): all must agree; %s", say(pics[first]),
		say(d.common), strangers, len(pics), remedy))
	sizes := map[[2]int]bool{}
	for _, p := range pics {
		if p.c != d.common.c || p.depth != d.common.depth {
			return err
		}
		sizes[[2]int{p.h, p.w}] = true
	}
	if len(sizes) > 1 {
		return &SizesError{Pictures: len(pics), Sizes: len(sizes), message: err}
	}
	return err
}

// peek reads all headers.
func (d *folder) peek() error {
	pics := make([]picture, len(d.paths))
	errs := make([]error, len(d.paths))
	var g errgroup.Group
	const batch = 64
	g.SetLimit(2 * runtime.GOMAXPROCS(0)) // more than there are cores: most of the time goes into waiting for files
	for lo := 0; lo < len(d.paths); lo += batch {
		g.Go(func() error {
			for i := lo; i < min(lo+batch, len(d.paths)); i++ {
				pics[i], errs[i] = peekPicture(d.fsys, d.name(d.paths[i]))
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
	return nil
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
	return d.agree(pics, picture.kind, "remove or convert it")
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

// majority is the most frequent picture, of equals the one that comes first. Palettes of greys vote when nothing else
// does.
func majority(pics []picture) picture {
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
	best.either = false
	return best
}

// Len is the number of images.
func (d *folder) Len() int { return len(d.paths) }

// Labels are the classes; shared, not to be changed.
func (d *folder) Labels() []int { return d.labels }

// Info has the names of the folders as classes, or the words of pattern or table.
func (d *folder) Info() Info {
	c := d.common
	return Info{
		Space: imageSpec(c.c, c.h, c.w), Max: depthMax(c.depth),
		Classes: slices.Clone(d.names), Notes: slices.Clone(d.notes),
	}
}

// Sample decodes image i.
func (d *folder) Sample(i int) (Sample, error) {
	if i < 0 || i >= len(d.paths) {
		return Sample{}, fmt.Errorf("%s: image %d does not exist, want 0 to %d", d.root, i, len(d.paths)-1)
	}
	p := d.paths[i]
	img, err := loadPicture(d.fsys, d.name(p), d.common)
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

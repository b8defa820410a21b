package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

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

// folder is a data set of image files. An ID is the path below the folder, with slashes; the tags are the folders on
// it.
type folder struct {
	fsys fs.FS
	// as the user wrote it, for messages and Files
	root  string
	paths []string
	// endings of files to take; nil for images
	want []string
	// what these files are called; "" for images
	noun string
	// endings of files that something else reads
	skip []string
	// sizes may differ: something brings them to one later
	loose  bool
	pics   []picture
	common picture
	labels []int
	names  []string
	notes  []string
	// other files read: the table of labels
	extra []string
}

// openFolder opens the images below a folder, or a single image.
func (o opener) openFolder(spec Spec) (Dataset, error) {
	d := &folder{fsys: o.fsys, root: spec.Images, loose: spec.loose()}
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

// endings are those of the files that are taken.
func (d *folder) endings() []string {
	if d.want != nil {
		return d.want
	}
	return imageEndings()
}

// files is what the files are called.
func (d *folder) files() string {
	if d.noun != "" {
		return d.noun
	}
	return "images"
}

// find lists the images, sorted by the bytes of their path.
func (d *folder) find() error {
	st, err := fs.Stat(d.fsys, d.root)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		d.paths = []string{""}
		return nil
	}
	others := map[string]int{}
	if err := d.walk("", []fs.FileInfo{st}, others); err != nil {
		return err
	}
	left := endings(others)
	if len(d.paths) == 0 {
		if left != "" {
			left = "; it has " + left
		}
		return fmt.Errorf("no %s: no file in the folder or below ends in %s%s", d.files(),
			strings.Join(d.endings(), ", "), left)
	}
	if left != "" {
		d.notes = append(d.notes, d.root+": left out "+left)
	}
	if len(d.paths) > maxSamples {
		return fmt.Errorf("%d %s, want at most %d", len(d.paths), d.files(), maxSamples)
	}
	slices.Sort(d.paths)
	return nil
}

// endings lists what was left out.
func endings(n map[string]int) string {
	var list []string
	for e, k := range n {
		name := e
		if e == "" {
			name = "without ending"
		}
		list = append(list, fmt.Sprintf("%d files %s", k, name))
	}
	slices.Sort(list)
	if len(list) > 5 {
		list = append(list[:5], "and more")
	}
	return strings.Join(list, ", ")
}

// walk visits the folder dir below the root. Hidden entries are left out, links are followed; above holds the folders
// that lead here, so that a link upwards ends.
func (d *folder) walk(dir string, above []fs.FileInfo, others map[string]int) error {
	entries, err := fs.ReadDir(d.fsys, d.name(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == "__MACOSX" {
			continue
		}
		p := path.Join(dir, name)
		kind := e.Type()
		var st fs.FileInfo
		if kind&fs.ModeSymlink != 0 || e.IsDir() {
			if st, err = fs.Stat(d.fsys, d.name(p)); err != nil {
				return err
			}
			kind = st.Mode().Type()
		}
		switch {
		case kind.IsDir():
			if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, st) }) {
				continue
			}
			if err := d.walk(p, append(slices.Clip(above), st), others); err != nil {
				return err
			}
		case !kind.IsRegular():
		case slices.Contains(d.endings(), strings.ToLower(path.Ext(name))):
			d.paths = append(d.paths, p)
		case slices.Contains(d.skip, strings.ToLower(path.Ext(name))):
		default:
			others[strings.ToLower(path.Ext(name))]++
		}
	}
	return nil
}

// name is a path in the file system.
func (d *folder) name(p string) string {
	if p == "" {
		return d.root
	}
	if _, ok := d.fsys.(disk); ok {
		return filepath.Join(d.root, filepath.FromSlash(p))
	}
	return path.Join(d.root, p)
}

// id is the name of a sample.
func (d *folder) id(p string) string {
	if p == "" {
		return path.Base(filepath.ToSlash(d.root))
	}
	return p
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
	pics := d.pics
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
	if strangers > 0 {
		return d.inImage(first,
			fmt.Errorf("has %s, but most images in the folder have %s (%d of %d differ): all must agree; remove, "+
				"crop or convert it",
				pics[first], d.common, strangers, len(pics)))
	}
	return checkSize(d.common.c, d.common.h, d.common.w)
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
	if strangers > 0 {
		return d.inImage(first,
			fmt.Errorf("has %s, but most images in the folder have %s (%d of %d differ): all must agree; remove or "+
				"convert it",
				pics[first].kind(), d.common.kind(), strangers, len(pics)))
	}
	return nil
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

// label takes the labels from the table, the pattern or the folders.
func (d *folder) label(o opener, spec Spec) error {
	if spec.Labels != "" {
		if spec.Pattern != "" {
			return fmt.Errorf("%s: labels come from %s or from the pattern, not from both: give one", spec.Images,
				spec.Labels)
		}
		labels, names, notes, err := o.labels(spec, d.IDs())
		if err != nil {
			return err
		}
		d.labels, d.names, d.notes, d.extra = labels, names, append(d.notes, notes...), []string{spec.Labels}
		return nil
	}
	words := make([]string, len(d.paths))
	if spec.Pattern != "" {
		if err := d.match(spec.Pattern, words); err != nil {
			return inFile(spec.Images, err)
		}
	} else if !d.folderWords(words) {
		return nil
	}
	var err error
	if d.labels, d.names, err = classes(words); err != nil {
		return inFile(spec.Images, err)
	}
	return nil
}

// match reads words from the group label of a pattern.
func (d *folder) match(pattern string, words []string) error {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	group := re.SubexpIndex("label")
	if group < 0 {
		return fmt.Errorf("pattern %q has no group named label: write (?P<label>...) around the part that is the class",
			pattern)
	}
	missed, first := 0, ""
	for i, id := range d.IDs() {
		if m := re.FindStringSubmatch(id); m != nil && m[group] != "" {
			words[i] = m[group]
			continue
		}
		if missed == 0 {
			first = id
		}
		missed++
	}
	if missed == len(words) {
		return fmt.Errorf("pattern %q matches none of the %d %s, which are named like %q", pattern, len(words),
			d.files(), first)
	}
	if missed > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s: the pattern does not match %d %s, which have no label, first %q",
			d.root, missed, d.files(), first))
	}
	return nil
}

// folderWords takes the first folder on the way to each image as its label. It tells whether these folders are classes:
// one folder that is not a number is not.
func (d *folder) folderWords(words []string) bool {
	all := map[string]bool{}
	bare := 0
	for i, p := range d.paths {
		if top, _, ok := strings.Cut(p, "/"); ok {
			words[i] = top
			all[top] = true
		} else {
			bare++
		}
	}
	if len(all) == 0 {
		return false
	}
	if len(all) == 1 {
		for w := range all {
			if _, ok := classNumber(w); !ok {
				d.notes = append(d.notes, fmt.Sprintf("%s: all %s lie in the folder %q, which is not taken for a class",
					d.root, d.files(), w))
				return false
			}
		}
	}
	if bare > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s: %d %s lie in no folder and have no label", d.root, bare, d.files()))
	}
	return true
}

// Len is the number of images.
func (d *folder) Len() int { return len(d.paths) }

// Labels are the classes; shared, not to be changed.
func (d *folder) Labels() []int { return d.labels }

// IDs are the paths below the folder.
func (d *folder) IDs() []string {
	ids := make([]string, len(d.paths))
	for i, p := range d.paths {
		ids[i] = d.id(p)
	}
	return ids
}

// Files are the images and the table of labels.
func (d *folder) Files() []string {
	files := make([]string, 0, len(d.paths)+len(d.extra))
	for _, p := range d.paths {
		files = append(files, d.name(p))
	}
	return append(files, d.extra...)
}

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

// tags are the folders on the way to an image.
func (*folder) tags(p string) []string {
	if dir := path.Dir(p); dir != "." && p != "" {
		return strings.Split(dir, "/")
	}
	return nil
}

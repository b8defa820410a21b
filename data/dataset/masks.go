package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"nero/data/space"
)

// masksFormat is photos whose pixels are labelled.
var masksFormat = &Format{
	Name: "masks", Doc: "Photos with a class for every pixel, in PNG masks called like the photos.",
	Sniff: Sniff{Folder: func(fsys fs.FS, name, targets string) bool {
		o := newOpener(fsys)
		if targets != "" && targets != none {
			return o.isFolder(targets) && holdsMasks(fsys, targets)
		}
		return o.isFolder(joined(fsys, name, "SegmentationClass")) ||
			o.isFolder(joined(fsys, name, "images")) && o.isFolder(joined(fsys, name, "masks"))
	}},
	Options: []Option{WithTargets, WithNoTargets, WithSplit, WithClasses, WithShape, WithOrient, WithMasks},
	Refuse:  noArray,
	Open:    reads(opener.openMasks),
}

// Masks says how masks are called and what their pixels stand for.
type Masks struct {
	// Photo and File are how photos and their masks are called, without endings, with {name} for what both share, such
	// as {name}_leftImg8bit and {name}_gtFine_labelIds; "" for {name}, and for masks also {name} with a usual word.
	Photo, File string
	// Values are the numbers in the files, one per class in the order of the models' numbers; none for the numbers of
	// the classes themselves.
	Values []int
	// Colors are red, green and blue of each class in the order of the models' numbers, for masks in colours.
	Colors [][]int
	// Void are the numbers that count for nothing; none for 255.
	Void []int
	// VoidColors are the colours that count for nothing.
	VoidColors [][]int
	// Rest is "void" if what is neither a class nor void counts for nothing, and "" if it is refused.
	Rest string
	// Overlap says what counts where objects of two classes overlap, of masks that are drawn: nothing ("void", "" as
	// well), or the last one of the file ("last").
	Overlap string
}

// given tells whether anything is said.
func (m Masks) given() bool {
	return m.Photo != "" || m.File != "" || len(m.Values) > 0 || len(m.Colors) > 0 || len(m.Void) > 0 ||
		len(m.VoidColors) > 0 || m.Rest != "" || m.Overlap != ""
}

// endings of masks: formats that lose nothing.
func maskEndings() []string { return []string{".png"} }

// stands for what the names of a photo and of its mask share.
const shared = "{name}"

// usualMasks are how masks are called if nobody says, in the order in which they are looked for.
func usualMasks() []string {
	return []string{
		shared, shared + "_mask", shared + "-mask", shared + "_label", shared + "_labels", shared + "_gt",
		shared + "_seg",
	}
}

// vocClasses are those of the masks of Pascal VOC.
func vocClasses() []string {
	return strings.Fields("background aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse " +
		"motorbike person pottedplant sheep sofa train tvmonitor")
}

// holdsMasks tells whether a folder, or one of the first folders in it, has PNG files and neither XML nor fields.
func holdsMasks(fsys fs.FS, root string) bool {
	seen, masks := 0, false
	err := fs.WalkDir(fsys, root, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || seen == 256:
			return fs.SkipAll
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		seen++
		if !slices.Contains(imageEndings(), ending(d.Name())) {
			masks = false
			return fs.SkipAll
		}
		masks = masks || slices.Contains(maskEndings(), ending(d.Name()))
		return nil
	})
	return err == nil && masks
}

// template is how files are called around what their names share.
type template struct{ before, after string }

// parseTemplate reads a name with one {name}.
func parseTemplate(key, text string) (template, error) {
	before, after, ok := strings.Cut(text, shared)
	switch {
	case !ok || strings.Contains(after, shared):
		return template{}, fmt.Errorf("masks.%s is %s, want a name without ending in which %s stands once, such as "+
			"%s_mask", key, clip(text), shared, shared)
	case strings.Contains(after, "/") || strings.Contains(before, ".."):
		return template{}, fmt.Errorf("masks.%s is %s: folders may stand before %s alone; name the folder of the "+
			"masks "+
			"with data.targets", key, clip(text), shared)
	}
	return template{before, after}, nil
}

// of is what the template leaves of a path without ending; the folders that lead there stay.
func (t template) of(p string) (string, bool) {
	dir, base := path.Split(p)
	if len(base) <= len(t.before)+len(t.after) || !strings.HasPrefix(base, t.before) ||
		!strings.HasSuffix(base, t.after) {
		return "", false
	}
	return dir + base[len(t.before):len(base)-len(t.after)], true
}

// name is the path that has this in common with another.
func (t template) name(common string) string {
	dir, base := path.Split(common)
	return dir + t.before + base + t.after
}

// openMasks opens photos with a mask for each: in the folder Targets, in SegmentationClass of a folder as Pascal VOC
// has it, in masks beside images, or among the photos.
func (o opener) openMasks(spec Spec) (Dataset, error) {
	f := newFolder(o.fsys, spec)
	root, voc := spec.Targets, false
	if root == "" || root == none {
		root = f.root
		inner, masks := f.name("images"), f.name("masks")
		if dir := f.name("SegmentationClass"); o.isFolder(dir) {
			root, voc = dir, true
		} else if o.isFolder(inner) && o.isFolder(masks) {
			root, f.root = masks, inner
		}
	} else if !o.isFolder(root) {
		return nil, fmt.Errorf("%s: is no folder, want one with a PNG mask for each photo", root)
	}
	if inner := f.name("JPEGImages"); o.isFolder(inner) {
		f.root = inner
	}
	if err := f.find(); err != nil {
		return nil, inFile(f.root, err)
	}
	spec.Masks.Photo = orShared(spec.Masks.Photo)
	photo, err := parseTemplate("photo", spec.Masks.Photo)
	if err != nil {
		return nil, err
	}
	var extra []string
	if spec.Split != "" {
		name := joined(o.fsys, spec.Images, "ImageSets/Segmentation/"+spec.Split+".txt")
		if err := f.split(name, spec.Split); err != nil {
			return nil, err
		}
		extra = append(extra, name)
	}
	var found map[string]string
	var notes []string
	if spec.Targets != none {
		if found, notes, err = o.pairMasks(f, root, photo, spec, voc); err != nil {
			return nil, err
		}
	}
	if err := f.measure(); err != nil {
		return nil, inFile(f.root, err)
	}
	d := f.photos(o)
	d.root, d.names = spec.Images, slices.Clone(spec.Classes)
	d.notes = append(d.notes, notes...)
	if found != nil {
		m := &maskReader{fsys: o.fsys, spec: spec.Masks, classes: len(spec.Classes)}
		d.masks = m
		if voc && len(d.names) == 0 {
			d.names = vocClasses()
			m.classes = len(d.names)
			d.note("classes are those of Pascal VOC: %s; set data.classes to others", list(d.names))
		}
		if err := m.check(); err != nil {
			return nil, inFile(spec.Images, err)
		}
		if err := d.takeMasks(m, found); err != nil {
			return nil, err
		}
	}
	d.files = append(d.files, extra...)
	if err := d.open(spec); err != nil {
		return nil, err
	}
	return d, nil
}

func orShared(text string) string {
	if text == "" {
		return shared
	}
	return text
}

// pairMasks finds the mask of every photo, by the photo's path. Masks that lie among the photos are taken out of them.
func (o opener) pairMasks(f *folder, root string, photo template, spec Spec, voc bool) (map[string]string, []string,
	error,
) {
	l := listing{fsys: o.fsys, root: root, endings: maskEndings(), noun: "masks", skip: imageEndings()}
	if err := l.find(); err != nil {
		return nil, nil, inFile(root, fmt.Errorf("%w; masks are PNG files, for JPEG changes labels", err))
	}
	masks := make(map[string]string, len(l.paths)) // by path without ending
	for _, p := range l.paths {
		masks[stem(p)] = p
	}
	among := root == f.root
	words := usualMasks()
	if spec.Masks.File != "" {
		words = []string{spec.Masks.File}
	}
	var file template
	var err error
	word := ""
	for _, w := range words {
		if among && w == spec.Masks.Photo { // a photo is not its own mask
			continue
		}
		if file, err = parseTemplate("file", w); err != nil {
			return nil, nil, err
		}
		if word == "" {
			word = w // the first is what messages speak of
		}
		if slices.ContainsFunc(f.paths, func(p string) bool {
			name, ok := photo.of(stem(p))
			return ok && masks[file.name(name)] != ""
		}) {
			word = w
			break
		}
	}
	if file, err = parseTemplate("file", word); err != nil {
		return nil, nil, err
	}
	var notes []string
	if word != shared && spec.Masks.File == "" {
		notes = append(notes, fmt.Sprintf("%s: masks are called %s.png; set data.masks.file to another "+
			"name", root, word))
	}
	if among {
		f.paths = slices.DeleteFunc(f.paths, func(p string) bool { _, ok := file.of(stem(p)); return ok })
	}
	return o.matchMasks(f, l, masks, photo, file, spec, voc, notes)
}

// matchMasks says which mask belongs to which photo, and refuses what is alone.
func (o opener) matchMasks(f *folder, l listing, masks map[string]string, photo, file template, spec Spec, voc bool,
	notes []string,
) (map[string]string, []string, error) {
	found := map[string]string{}
	used := map[string]string{}
	var missing, paths []string
	for _, p := range f.paths {
		name, ok := photo.of(stem(p))
		if !ok {
			return nil, nil, fmt.Errorf("%s: the photo %q is not called %s: correct data.masks.photo, or move it away",
				f.root, p, spec.Masks.Photo)
		}
		m, ok := masks[file.name(name)]
		if !ok {
			missing = append(missing, p)
			continue
		}
		if other, twice := used[m]; twice {
			return nil, nil, fmt.Errorf("%s: the photos %q and %q differ in their endings alone, so that the mask "+
				"%q would "+
				"belong to both: rename one", f.root, other, p, m)
		}
		used[m] = p
		found[p] = l.name(m)
		paths = append(paths, p)
	}
	switch {
	case len(missing) > 0 && voc && spec.Split == "" && len(paths) > 0:
		// Of Pascal VOC few photos have masks.
		notes = append(notes, fmt.Sprintf("%s: %d of %d photos have a mask and are samples; data.split names a "+
			"list of them",
			f.root, len(paths), len(f.paths)))
		f.paths = paths
	case len(missing) > 0:
		name, _ := photo.of(stem(missing[0]))
		return nil, nil, fmt.Errorf("%s: %d of %d photos have no mask, first missing %s of the photo %q: add it, "+
			"move the "+
			"photo away, say how masks are called with data.masks.file (such as %s_mask), or say targets: none",
			f.root, len(missing), len(f.paths), l.name(file.name(name)+".png"), missing[0], shared)
	case len(paths) == 0:
		return nil, nil, fmt.Errorf("%s: all files are masks and none is a photo: name the folder of the masks with "+
			"data.targets", f.root)
	}
	if left := len(l.paths) - len(used); left > 0 && spec.Split == "" && l.root != f.root && !voc {
		for _, p := range l.paths {
			if used[p] == "" {
				return nil, nil, fmt.Errorf("%s: %d of %d masks have no photo, first %q: add its photo to %s, move "+
					"the "+
					"mask away, or say how both are called with data.masks.photo and data.masks.file", l.root, left,
					len(l.paths), p, f.root)
			}
		}
	}
	return found, notes, nil
}

// takeMasks gives every photo its mask, whose header has to fit, and looks at the first ones.
func (d *photos) takeMasks(m *maskReader, found map[string]string) error {
	turned := 0
	for i := range d.items {
		p := &d.items[i]
		p.mask = found[p.id]
		if p.mask == "" { // a single photo
			return fmt.Errorf("%s: name a folder of photos", p.file)
		}
		h, w, err := m.peek(p.mask)
		if err != nil {
			return inFile(p.mask, err)
		}
		if p.turn != 0 {
			turned++
		}
		if lies := p.turn.shown(p.pic); h == lies.h && w == lies.w && h != p.pic.h {
			return fmt.Errorf("%s: has the size of its photo %s as it lies in the file, %d x %d pixels, and EXIF "+
				"turns "+
				"that to %d x %d: say data.orientation: stored, or turn the "+
				"mask", p.mask, p.file, w, h, p.pic.w, p.pic.h)
		}
		if h != p.pic.h || w != p.pic.w {
			return fmt.Errorf("%s: has %d x %d pixels, but its photo %s has %d x %d: it belongs to another photo "+
				"or to "+
				"another size of it; make both from one, without smoothing labels (nearest neighbor)", p.mask, w, h,
				p.file, p.pic.w, p.pic.h)
		}
		d.files = append(d.files, p.mask)
	}
	if turned > 0 {
		d.note("%d photos are turned as their EXIF says, and masks are taken to be of the photos as they are "+
			"shown; say "+
			"data.orientation: stored if they are of the files", turned)
	}
	return d.guessBinary(m)
}

// guessBinary takes 255 for the second class where the first masks hold 0 and 255 alone: as void there would be
// nothing to find.
func (d *photos) guessBinary(m *maskReader) error {
	if m.spec.given() && (len(m.spec.Values) > 0 || len(m.spec.Colors) > 0 || len(m.spec.Void) > 0) || m.classes > 2 {
		return nil
	}
	seen := map[int32]bool{}
	raw := &maskReader{fsys: m.fsys, spec: Masks{Values: allBytes()}}
	if err := raw.check(); err != nil {
		return err
	}
	for i := range d.items[:min(len(d.items), 8)] {
		p := &d.items[i]
		x, grey, err := raw.read(p.mask, p.pic.h, p.pic.w)
		if err != nil || !grey {
			return nil //nolint:nilerr // what is wrong with a mask is said when it is read
		}
		for _, l := range x.Label {
			seen[l] = true
		}
	}
	if len(seen) == 2 && seen[0] && seen[255] {
		m.spec.Values, m.values = []int{0, 255}, nil
		d.note("the masks hold 0 and 255 alone: 255 is taken for class 1 and not for void; set data.masks.values or " +
			"data.masks.void to change it")
		return m.check()
	}
	return nil
}

// allBytes are all numbers that a mask can hold.
func allBytes() []int {
	all := make([]int, 256)
	for i := range all {
		all[i] = i
	}
	return all
}

// truth is the mask of a photo as its PNG file has it.
func (m *maskReader) truth(p *photo) (*space.Mask, error) {
	x, _, err := m.read(p.mask, p.pic.h, p.pic.w)
	return x, inFileIf(p.mask, err)
}

// mask is the truth of a photo, framed as it is, or of a piece.
func (d *photos) mask(p *photo, at *piece, h, w int) (*space.Mask, error) {
	x, err := d.masks.truth(p)
	if err != nil {
		return nil, err
	}
	x = d.frame(p).mask(x)
	if at == nil {
		return x, nil
	}
	out := &space.Mask{H: h, W: w, Label: make([]int32, h*w)}
	for i := range out.Label {
		r, c := at.top+i/w, at.left+i%w
		out.Label[i] = x.Label[mirror(r, x.H)*x.W+mirror(c, x.W)]
	}
	return out, nil
}

// mask takes a mask of a photo along: always the nearest label, void around it.
func (f framing) mask(m *space.Mask) *space.Mask {
	out := &space.Mask{H: f.H, W: f.W, Label: make([]int32, f.H*f.W)}
	for i := range out.Label {
		r, c := i/f.W-f.top, i%f.W-f.left
		if r < 0 || c < 0 || r >= f.h || c >= f.w {
			out.Label[i] = space.Void
			continue
		}
		out.Label[i] = m.Label[nearestOf(r, f.h, m.H)*m.W+nearestOf(c, f.w, m.W)]
	}
	return out
}

// nearestOf is the old pixel in which the centre of new pixel i of n lies, of an axis that had m.
func nearestOf(i, n, m int) int { return min(int(int64(2*i+1)*int64(m)/int64(2*n)), m-1) }

// check refuses what masks cannot be read with, whatever is in the files.
func (m *maskReader) check() error {
	s := m.spec
	color := func(key string, i int, c []int) error {
		if len(c) != 3 || slices.ContainsFunc(c, func(v int) bool { return v < 0 || v > 255 }) {
			return fmt.Errorf("masks.%s[%d] is %v, want red, green and blue from 0 to 255, such as [128, 0, "+
				"0]", key, i, c)
		}
		return nil
	}
	m.values, m.colors = map[int]int32{}, map[[3]uint8]int32{}
	if s.Rest != "" && s.Rest != "void" {
		return fmt.Errorf("masks.rest is %q, want void, or leave it out", s.Rest)
	}
	if s.Overlap != "" {
		return errors.New("masks.overlap is for masks that are drawn from objects, in format coco_masks: leave it out")
	}
	if len(s.Values) > 0 && len(s.Colors) > 0 {
		return errors.New("masks.values is for masks of numbers and masks.colors for masks in colors: keep one")
	}
	key, n := "values", len(s.Values)
	if n == 0 { // one of them at most is given
		key, n = "colors", len(s.Colors)
	}
	if n > 0 && m.classes > 0 && n != m.classes {
		return fmt.Errorf("masks.%s has %d entries for %d classes, want one for each class of data.classes", key, n,
			m.classes)
	}
	void := s.Void
	if len(void) == 0 {
		void = []int{255}
	}
	for _, v := range void {
		if len(s.Void) > 0 && slices.Contains(s.Values, v) {
			return fmt.Errorf("masks.void and masks.values both have %d: a number is a class or counts for nothing", v)
		}
		m.values[v] = space.Void
	}
	for k, v := range s.Values {
		if v < 0 || v > 255 {
			return fmt.Errorf("masks.values[%d] is %d, want 0 to 255", k, v)
		}
		if slices.Contains(s.Values[:k], v) {
			return fmt.Errorf("masks.values has %d twice, want one class for each number", v)
		}
		m.values[v] = int32(k)
	}
	for k, c := range s.VoidColors {
		if err := color("void_colors", k, c); err != nil {
			return err
		}
		m.colors[rgb(c)] = space.Void
	}
	for k, c := range s.Colors {
		if err := color("colors", k, c); err != nil {
			return err
		}
		if _, ok := m.colors[rgb(c)]; ok {
			return fmt.Errorf("masks.colors[%d] is %v, which stands there or in void_colors already", k, c)
		}
		m.colors[rgb(c)] = int32(k)
	}
	return nil
}

func rgb(c []int) [3]uint8 { return [3]uint8{uint8(c[0]), uint8(c[1]), uint8(c[2])} }

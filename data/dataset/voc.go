package dataset

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// vocFormat is photos with boxes as the PASCAL challenges have them.
var vocFormat = &Format{
	Name: "voc", Doc: "Photos with boxes in the XML of Pascal VOC.",
	Sniff: Sniff{Folder: func(fsys fs.FS, name, targets string) bool {
		o := newOpener(fsys)
		return !strings.EqualFold(path.Ext(targets), ".json") && o.isFolder(joined(fsys, name, "JPEGImages")) &&
			o.isFolder(joined(fsys, name, "Annotations"))
	}},
	Options: []Option{WithTargets, WithNoTargets, WithSplit, WithClasses, WithShape, WithOrient},
	Refuse:  noArray,
	Open:    reads(opener.openVOC),
}

// Limits on annotation files in XML, compared with what is there before anything is kept.
const (
	maxXML     = 16 << 20 // bytes of one file
	maxXMLDeep = 64       // nested elements
	maxObjects = 1 << 16  // objects of one photo
)

// vocPhoto is what a Pascal VOC file says of its photo.
type vocPhoto struct {
	filename string
	// 0 if it does not say
	w, h    int
	objects []vocObject
}

// vocObject is one object, with coordinates as they are written: whole pixels counted from 1, both ends inclusive.
type vocObject struct {
	name string
	// xmin, ymin, xmax, ymax
	edge      [4]float64
	difficult bool
}

// vocEdges are the names of a box's coordinates.
func vocEdges() []string { return []string{"xmin", "ymin", "xmax", "ymax"} }

// parseVOC reads an annotation in the XML of Pascal VOC: annotation/filename, size/width, size/height, and of every
// object name, difficult and bndbox. Everything else is passed over: path is where the photo lay on the annotator's
// machine, and the parts of persons are not objects. Document types and entities are refused.
func parseVOC(b []byte) (vocPhoto, error) {
	var v vocPhoto
	if len(b) > maxXML {
		return v, fmt.Errorf("has %d bytes, more than the %d that an annotation may have", len(b), maxXML)
	}
	dec := xml.NewDecoder(bytes.NewReader(b))
	var at []string
	var text strings.Builder
	var seen []string // of the object that is being read
	fail := func(format string, a ...any) error {
		line, _ := dec.InputPos()
		return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, a...))
	}
	root := false
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return v, fmt.Errorf("not the XML of an annotation: %w", err)
		}
		switch t := tok.(type) {
		case xml.Directive:
			return v, fail("a document type or entity: annotations need none, remove it")
		case xml.StartElement:
			if len(at) == 0 {
				if root || t.Name.Local != "annotation" {
					return v, fail("the element <%s>, want one <annotation> as Pascal VOC has it", t.Name.Local)
				}
				root = true
			}
			if len(at) == maxXMLDeep {
				return v, fail("elements are nested deeper than %d", maxXMLDeep)
			}
			at = append(at, t.Name.Local)
			text.Reset()
			if slices.Equal(at, []string{"annotation", "object"}) {
				if len(v.objects) == maxObjects {
					return v, fail("more than %d objects", maxObjects)
				}
				v.objects, seen = append(v.objects, vocObject{}), nil
			}
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if err := v.element(at, strings.TrimSpace(text.String()), &seen); err != nil {
				return v, fail("%w", err)
			}
			text.Reset()
			at = at[:len(at)-1]
		}
	}
	if !root {
		return v, errors.New("holds no <annotation>: not an annotation of Pascal VOC")
	}
	return v, nil
}

// element takes in one element that has ended; seen are those of the object so far.
func (v *vocPhoto) element(at []string, text string, seen *[]string) error {
	if len(at) < 2 {
		return nil
	}
	where := strings.Join(at[1:], "/")
	number := func(what string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1<<30 {
			return 0, fmt.Errorf("%s is %s, want a number of pixels", what, clip(text))
		}
		return n, nil
	}
	var err error
	switch where {
	case "filename":
		v.filename = text
		return nil
	case "size/width":
		v.w, err = number("the width")
		return err
	case "size/height":
		v.h, err = number("the height")
		return err
	}
	if at[1] != "object" {
		return nil
	}
	o := &v.objects[len(v.objects)-1]
	name := func() string { return fmt.Sprintf("object %d (%s)", len(v.objects), clip(o.name)) }
	once := func(what string) error {
		if slices.Contains(*seen, what) {
			return fmt.Errorf("%s has two elements %s, want one", name(), what)
		}
		*seen = append(*seen, what)
		return nil
	}
	switch where {
	case "object/name":
		if text == "" {
			return fmt.Errorf("object %d has no name: write its class", len(v.objects))
		}
		o.name = text
		return once("name")
	case "object/difficult":
		o.difficult = text == "1" || strings.EqualFold(text, "true")
		return once("difficult")
	case "object":
		for _, e := range append([]string{"name"}, vocEdges()...) {
			if !slices.Contains(*seen, e) {
				return fmt.Errorf("%s has no %s: complete or remove it", name(), e)
			}
		}
		return nil
	}
	for k, e := range vocEdges() {
		if where != "object/bndbox/"+e {
			continue
		}
		// A value that is no finite number is kept: the check of all formats names it.
		if o.edge[k], err = strconv.ParseFloat(text, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s has %s %s, want a number of pixels", name(), e, clip(text))
		}
		return once(e)
	}
	return nil
}

// openVOC opens photos with annotations of Pascal VOC: a folder with JPEGImages, Annotations and ImageSets/Main, or any
// folder of photos with an XML file of the same name beside each, or in the folder Targets.
func (o opener) openVOC(spec Spec) (Dataset, error) {
	f := newFolder(o.fsys, spec, ".xml")
	notes := f.name("Annotations")
	if !o.isFolder(notes) {
		notes = ""
	}
	if spec.Targets != "" && spec.Targets != none {
		if notes = spec.Targets; !o.isFolder(notes) {
			return nil, fmt.Errorf("%s: is no folder, want one with an XML file for each photo", notes)
		}
	}
	if inner := f.name("JPEGImages"); o.isFolder(inner) {
		f.root = inner
	}
	if err := f.find(); err != nil {
		return nil, inFile(f.root, err)
	}
	var extra []string
	if spec.Split != "" {
		name := joined(o.fsys, spec.Images, "ImageSets/Main/"+spec.Split+".txt")
		if err := f.split(name, spec.Split); err != nil {
			return nil, err
		}
		extra = append(extra, name)
	}
	if err := f.measure(); err != nil {
		return nil, inFile(f.root, err)
	}
	d := f.photos(o)
	d.root, d.known = spec.Images, spec.Targets != none
	for i := range d.items {
		d.items[i].id = stem(d.items[i].id)
		if i > 0 && d.items[i].id == d.items[i-1].id {
			return nil, fmt.Errorf(
				"%s: two photos are called %q with different endings, so that one XML would belong to both: rename one",
				f.root, d.items[i].id)
		}
	}
	if d.known {
		files, err := d.readVOC(notes, spec)
		if err != nil {
			return nil, err
		}
		extra = append(extra, files...)
	}
	d.files = extra
	if err := d.open(spec); err != nil {
		return nil, err
	}
	return d, nil
}

// readVOC reads the annotation of every photo, beside it or in a folder, and returns their paths.
func (d *photos) readVOC(notes string, spec Spec) (files []string, err error) {
	read := make([]vocPhoto, len(d.items))
	missing, first := 0, ""
	for i := range d.items {
		name := stem(d.items[i].file) + ".xml"
		if notes != "" {
			name = joined(d.o.fsys, notes, d.items[i].id+".xml")
		}
		b, err := readLimited(d.o.fsys, name, maxXML)
		if errors.Is(err, fs.ErrNotExist) {
			if missing == 0 {
				first = fmt.Sprintf("%s of the photo %q", name, d.items[i].id)
			}
			missing++
			continue
		}
		if err == nil {
			read[i], err = parseVOC(b)
		}
		if err != nil {
			return nil, inFile(name, err)
		}
		files = append(files, name)
	}
	if missing > 0 {
		return nil, fmt.Errorf(
			"%s: %d of %d photos have no annotation, first missing %s: name their folder with targets, annotate them "+
				"(with no object where there is none), move them away, list the others in a split, or say targets: "+
				"none",
			d.root, missing, len(d.items), first)
	}
	return files, d.voc(read, files, spec)
}

// voc takes over what the files say, which belong to the photos one by one.
func (d *photos) voc(read []vocPhoto, files []string, spec Spec) error {
	a, err := newAnnotator(spec.Classes, func() []string {
		var names []string
		for _, v := range read {
			for _, o := range v.objects {
				names = append(names, o.name)
			}
		}
		slices.Sort(names)
		return slices.Compact(names)
	})
	if err != nil {
		return err
	}
	d.names = a.names
	renamed, first := 0, ""
	for i, v := range read {
		p := &d.items[i]
		turn, ok := p.stored(v.h, v.w)
		if !ok {
			return fmt.Errorf("%s: was written for a photo of %d x %d px, but %s has %d x %d: its boxes belong to "+
				"another photo or to another size of it; take that one, or correct size and boxes",
				files[i], v.w, v.h, p.file, p.pic.w, p.pic.h)
		}
		if n := path.Base(strings.ReplaceAll(v.filename, `\`, "/")); v.filename != "" && n != path.Base(p.id) &&
			!strings.EqualFold(stem(n), path.Base(p.id)) {
			if renamed == 0 {
				first = fmt.Sprintf("%s says %s", files[i], clip(n))
			}
			renamed++
		}
		for k, x := range v.objects {
			o, ok, err := a.object(annotated{
				key: strconv.Itoa(k + 1), class: x.name, excused: x.difficult,
				x1: vocEdge(x.edge[0], x.edge[2]), y1: vocEdge(x.edge[1], x.edge[3]), x2: x.edge[2], y2: x.edge[3],
				shown: fmt.Sprintf("xmin %g, ymin %g, xmax %g, ymax %g", x.edge[0], x.edge[1], x.edge[2], x.edge[3]),
			}, files[i], p, turn)
			if err != nil {
				return err
			}
			if ok {
				p.objects = append(p.objects, o)
			}
		}
	}
	if renamed > 0 {
		d.note("%d annotations name another photo than that which they lie beside, first %s: the names of the files "+
			"count", renamed, first)
	}
	if len(spec.Classes) == 0 {
		d.note("classes are numbered in alphabetical order: %s; set data.classes to the models' order", list(d.names))
	}
	a.notes(d, "difficult")
	return nil
}

// vocEdge is the continuous coordinate where the pixel that is written as from begins. Where both corners are one pixel
// column or row the box is empty: that is what a click without a drag leaves, though by the letter of the format it is
// one pixel wide.
func vocEdge(from, to float64) float64 {
	if from >= to {
		return from // so that corners the wrong way round by one do not come out as empty either
	}
	return from - 1
}

// split keeps the photos that the list file names.
func (l *listing) split(file, name string) error {
	if name != path.Base(name) || strings.ContainsAny(name, `/\`) || name == ".." || name == "." {
		return fmt.Errorf("%s: split is %s, want the name of a list in ImageSets/Main without .txt, such as test",
			l.root, clip(name))
	}
	b, err := readLimited(l.fsys, file, maxTable)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no list of the split %q; there are %s", file, name, lists(l.fsys, file))
	}
	if err != nil {
		return inFile(file, err)
	}
	at := map[string]int{}
	for i, p := range l.paths {
		at[stem(p)] = i
	}
	chosen := map[int]int{}
	var paths []string
	for k, line := range strings.Split(strings.TrimPrefix(string(b), "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if strings.ContainsAny(line, " \t") {
			return fmt.Errorf("%s: line %d is %s, want one photo's name alone: this looks like the list of one "+
				"class; name a list of photos", file, k+1, clip(line))
		}
		i, ok := at[line]
		if !ok {
			i, ok = at[stem(line)]
		}
		if !ok {
			return fmt.Errorf("%s: line %d names the photo %s, which is not in %s: add the photo or take the line out",
				file, k+1, clip(line), l.root)
		}
		if first, ok := chosen[i]; ok {
			return fmt.Errorf("%s: line %d names the photo %s, which line %d did already: take one out", file, k+1,
				clip(line), first)
		}
		chosen[i] = k + 1
		paths = append(paths, l.paths[i])
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s: names no photo", file)
	}
	slices.Sort(paths)
	l.paths = paths
	return nil
}

// lists names the splits that there are.
func lists(fsys fs.FS, file string) string {
	dir := filepath.Dir(file)
	if !local(fsys) {
		dir = path.Dir(file)
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return "none"
	}
	var names []string
	for _, e := range entries {
		if n := e.Name(); path.Ext(n) == ".txt" {
			names = append(names, stem(n))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return list(names)
}

// stem is a name without its ending.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(filepath.ToSlash(name))) }

// joined is the path of something below a folder.
func joined(fsys fs.FS, dir, name string) string {
	if local(fsys) {
		return filepath.Join(dir, filepath.FromSlash(name))
	}
	return path.Join(dir, name)
}

// isFolder tells whether name is a folder.
func (o opener) isFolder(name string) bool {
	st, err := fs.Stat(o.fsys, name)
	return err == nil && st.IsDir()
}

// readLimited reads a file of at most limit bytes.
func readLimited(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, errors.New("is a folder, want a file")
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("has more than the %d bytes that such a file may have", limit)
	}
	return b, nil
}

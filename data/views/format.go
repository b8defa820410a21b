package views

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
)

// Format is inputs of the same objects as samples: one of each object, which has its other views with it. The file of a
// [dataset.Spec] is the list. Views are pictures, arrays (.npy) or texts.
func Format(o Options) *dataset.Format {
	return &dataset.Format{
		Name: FormatName, Doc: "A list of objects with several views each: pictures, arrays or texts.",
		Options: []dataset.Option{dataset.WithShape, dataset.WithOrient, dataset.WithClasses},
		Open:    func(fsys fs.FS, spec dataset.Spec) (dataset.Dataset, error) { return open(fsys, spec, o) },
	}
}

// Options say how a list is read.
type Options struct {
	// Bytes says that files are handed on as they are.
	Bytes bool
	// Apart makes an object of each file, with one view, and calls it by the path of the file.
	Apart bool
	// First are names of views that come before the others, in their order. Names that the list does not have are
	// passed over.
	First []string
}

// FormatName is what the format is called.
const FormatName = "views"

// content is a way in which views are given.
type content struct {
	// "a text", "pictures"
	one, many string
	// takes tells whether a view is given in this way.
	takes func(Input) bool
	// open reads what is to be known of all views.
	open func(d *seen, fsys fs.FS, spec dataset.Spec) (reader, error)
}

// contents are all ways; the first that takes a view has it.
func contents() []*content {
	return []*content{
		{"a text", "texts", func(in Input) bool { return in.File == "" }, openTexts},
		{
			"an array", "arrays",
			func(in Input) bool { return strings.EqualFold(path.Ext(in.File), ".npy") }, openArrays,
		},
		{"a picture", "pictures", func(Input) bool { return true }, openPictures},
	}
}

// contentOf is the way in which a view is given.
func contentOf(in Input) *content {
	for _, c := range contents() {
		if c.takes(in) {
			return c
		}
	}
	return nil // the last one takes all
}

// Texts tells whether some views are texts, and Arrays whether some are arrays.
func (s *Set) Texts() bool { return s.some(func(in Input) bool { return in.File == "" }) }

// Arrays tells whether some views are arrays.
func (s *Set) Arrays() bool {
	return s.some(func(in Input) bool { return contentOf(in).many == "arrays" })
}

func (s *Set) some(is func(Input) bool) bool {
	for _, o := range s.Objects {
		for _, in := range o.Views {
			if is(in) {
				return true
			}
		}
	}
	return false
}

// reader reads views.
type reader interface {
	// view is one of a sample.
	view(object, view int) (space.Value, error)
	files() []string
	info() dataset.Info
}

// seen is a data set of objects.
type seen struct {
	of reader
	// the list
	file string
	set  *Set
	// objects that have all views
	objects []*Object
	labels  []int
	// of the list
	classes, notes []string
}

// mostLacking is the share of objects without all views above which a list is no orbit.
const mostLacking = 0.05

// open reads a list and what it names. Objects that lack a view are left out, for an orbit has no gaps: where they are
// more than a few, what is said of the others is not said of the list, and it is refused.
func open(fsys fs.FS, spec dataset.Spec, o Options) (dataset.Dataset, error) {
	set, err := load(fsys, spec.Images)
	if err != nil {
		return nil, err
	}
	if o.Apart {
		set = set.apart()
	}
	slices.SortStableFunc(set.Views, func(a, b string) int { return cmp.Compare(rank(o.First, a), rank(o.First, b)) })
	d := &seen{file: spec.Images, set: set}
	for _, x := range set.Objects {
		if len(x.Views) == len(set.Views) {
			d.objects = append(d.objects, x)
		}
	}
	if len(d.objects) == 0 {
		return nil, fmt.Errorf("%s: no object has all of the views %s, and views are compared within objects; name "+
			"views alike for all objects", spec.Images, strings.Join(set.Views, ", "))
	}
	if share := float64(len(set.Objects)-len(d.objects)) / float64(len(set.Objects)); share > mostLacking {
		lost, first := set.lacking()
		return nil, fmt.Errorf("%s: %d of %d objects lack a view, most of them %s, the first is %s; runs and audits "+
			"lay "+
			"all views of an object beside each other and leave at most %g%% of the objects out: give every object "+
			"each "+
			"view, or take that view, or those objects, out of the list; nero repeat and nero embed take objects with "+
			"the "+
			"views that they have", spec.Images, len(set.Objects)-len(d.objects), len(set.Objects), strconv.Quote(lost),
			strconv.Quote(first.Name), 100*mostLacking)
	}
	if o.Bytes {
		d.of, err = openTexts(d, fsys, spec)
	} else {
		var way *content
		if way, err = d.alike(); err == nil {
			d.of, err = way.open(d, fsys, spec)
		}
	}
	if err != nil {
		return nil, err
	}
	return d, d.numbered(spec)
}

// lacking is the view that most objects lack, and the first object that lacks one.
func (s *Set) lacking() (view string, first *Object) {
	most := 0
	for _, name := range s.Views {
		n := 0
		for _, o := range s.Objects {
			if _, ok := o.Views[name]; !ok {
				n++
			}
		}
		if n > most {
			most, view = n, name
		}
	}
	i := slices.IndexFunc(s.Objects, func(o *Object) bool { return len(o.Views) < len(s.Views) })
	if i < 0 {
		return view, nil
	}
	return view, s.Objects[i]
}

// apart is a set in which each file is an object of its own.
func (s *Set) apart() *Set {
	const view = "file"
	out, there := &Set{Views: []string{view}}, map[string]bool{}
	for _, o := range s.Objects {
		for _, name := range s.Views {
			if in, ok := o.Views[name]; ok && in.File != "" && !there[in.File] {
				there[in.File] = true
				out.Objects = append(out.Objects, &Object{
					Name: in.File, Views: map[string]Input{view: in}, called: o.call(name),
				})
			}
		}
	}
	return out
}

// rank is where a name stands in a list; those that do not stand there come last.
func rank(list []string, name string) int {
	if i := slices.Index(list, name); i >= 0 {
		return i
	}
	return len(list)
}

// alike is the one way in which all views are given.
func (d *seen) alike() (*content, error) {
	var way *content
	for _, o := range d.set.Objects {
		for _, name := range d.set.Views {
			in, ok := o.Views[name]
			if !ok {
				continue
			}
			switch c := contentOf(in); {
			case way == nil:
				way = c
			case way.one != c.one:
				return nil, fmt.Errorf("%s:%d: %s is %s, and those before are %s; a list holds one kind of views, so "+
					"make a list of each", d.file, in.Line, o.call(name), c.one, way.many)
			}
		}
	}
	return way, nil
}

// gone says that the file of a view is not there.
func (d *seen) gone(o *Object, view, what, why string) error {
	in := o.Views[view]
	return fmt.Errorf("%s:%d: %s: there is no %s %s; the paths of views count from the folder of the list%s", d.file,
		in.Line, o.call(view), what, strconv.Quote(in.File), why)
}

// place is the path of the file of a view.
func (d *seen) place(in Input) string {
	return filepath.Join(filepath.Dir(d.file), filepath.FromSlash(in.File))
}

// pictures are files that are read as those of a folder are.
type pictures struct {
	of dataset.Dataset
	// which sample of the folder a view is
	at [][]int
}

func openPictures(d *seen, fsys fs.FS, spec dataset.Spec) (reader, error) {
	dir := filepath.Dir(spec.Images)
	files := spec
	files.Format, files.Images, files.Labels, files.Classes = "folder", dir, "", nil
	p := &pictures{}
	var err error
	if p.of, err = dataset.Builtin().OpenFS(d.listed(fsys, dir), files); err != nil {
		return nil, err
	}
	known := map[string]int{}
	for i, id := range p.of.IDs() {
		known[id] = i
	}
	for _, o := range d.objects {
		row := make([]int, len(d.set.Views))
		for v, name := range d.set.Views {
			var ok bool
			if row[v], ok = known[o.Views[name].File]; !ok {
				return nil, d.gone(o, name, "picture", ", and pictures are files such as PNG or JPEG")
			}
		}
		p.at = append(p.at, row)
	}
	return p, nil
}

func (p *pictures) view(object, view int) (space.Value, error) {
	s, err := p.of.Sample(p.at[object][view])
	if err != nil {
		return nil, err
	}
	m := space.View(s.Value)
	if m == nil {
		return nil, fmt.Errorf("%s is %s, want a picture", s.ID, s.Value.Form())
	}
	return m, nil
}

func (p *pictures) files() []string    { return p.of.Files() }
func (p *pictures) info() dataset.Info { return p.of.Info() }

// arrays are files of numpy, one for each view, all of one shape.
type arrays struct {
	d     *seen
	fsys  fs.FS
	shape []int
}

func openArrays(d *seen, fsys fs.FS, _ dataset.Spec) (reader, error) {
	a := &arrays{d: d, fsys: fsys}
	first := ""
	for _, o := range d.objects {
		for _, name := range d.set.Views {
			in := o.Views[name]
			shape, err := dataset.ArrayShape(fsys, d.place(in))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, d.gone(o, name, "array", "")
			case err != nil:
				return nil, fmt.Errorf("%s:%d: %s: %w", d.file, in.Line, o.call(name), err)
			case first == "":
				a.shape, first = shape, strings.TrimPrefix(o.call(name), "the view ")
			case !slices.Equal(shape, a.shape):
				return nil, fmt.Errorf("%s:%d: %s is an array of shape %v, and %s has %v; views have one shape, that "+
					"of one sample as the model reads it, without the axis of the batch", d.file, in.Line, o.call(name),
					shape, first, a.shape)
			}
		}
	}
	return a, nil
}

func (a *arrays) view(object, view int) (space.Value, error) {
	return dataset.ReadArray(a.fsys, a.d.place(a.d.objects[object].Views[a.d.set.Views[view]]))
}

func (a *arrays) files() []string { return a.d.named() }

func (a *arrays) info() dataset.Info {
	return dataset.Info{Space: space.SpecOf("array", &space.Tensor{Shape: slices.Clone(a.shape)})}
}

// texts are in the list, or are what files hold.
type texts struct {
	d    *seen
	fsys fs.FS
}

// mostOfFile is the longest file of a view that is handed on as it is.
const mostOfFile = 64 << 20

func openTexts(d *seen, fsys fs.FS, _ dataset.Spec) (reader, error) {
	for _, o := range d.objects {
		for _, name := range d.set.Views {
			if in := o.Views[name]; in.File != "" {
				if i, err := fs.Stat(fsys, d.place(in)); err != nil || i.IsDir() {
					return nil, d.gone(o, name, "file", "")
				}
			}
		}
	}
	return &texts{d, fsys}, nil
}

func (t *texts) view(object, view int) (space.Value, error) {
	in := t.d.objects[object].Views[t.d.set.Views[view]]
	if in.File == "" {
		return &space.Text{Content: in.Text}, nil
	}
	b, err := read(t.fsys, t.d.place(in), mostOfFile)
	return &space.Text{Content: string(b)}, err
}

func (t *texts) files() []string { return t.d.named() }

func (*texts) info() dataset.Info {
	return dataset.Info{Space: space.SpecOf("text", &space.Text{})}
}

// named are the files that a list names, in order and each once.
func (d *seen) named() []string {
	var all []string
	there := map[string]bool{}
	for _, o := range d.objects {
		for _, name := range d.set.Views {
			if in := o.Views[name]; in.File != "" && !there[in.File] {
				there[in.File] = true
				all = append(all, d.place(in))
			}
		}
	}
	return all
}

// load reads a list.
func load(fsys fs.FS, name string) (*Set, error) {
	b, err := read(fsys, name, MaxBytes)
	if err != nil {
		return nil, err
	}
	return Read(name, b)
}

// read reads a file of at most so many bytes.
func read(fsys fs.FS, name string, most int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("%s: more than %d bytes; want a file of at most that", name, most)
	}
	return b, err
}

// numbered numbers the labels, in the order of the classes of the spec, else as they are where they are numbers, else
// by
// the alphabet, as labels of folders are.
func (d *seen) numbered(spec dataset.Spec) error {
	if n := len(d.set.Objects) - len(d.objects); n > 0 {
		_, first := d.set.lacking()
		d.notes = append(d.notes, fmt.Sprintf("%d of %d objects lack a view and are left out, the first is %s", n,
			len(d.set.Objects), strconv.Quote(first.Name)))
	}
	var names []string
	numbers := true
	for _, o := range d.objects {
		if !o.Labelled {
			continue
		}
		names = append(names, o.Label)
		k, err := strconv.Atoi(o.Label)
		numbers = numbers && err == nil && k >= 0 && k < mostClasses
	}
	if len(names) == 0 {
		return nil
	}
	number := func(label string) int { k, _ := strconv.Atoi(label); return k } // all are
	if len(spec.Classes) > 0 || !numbers {
		d.classes = spec.Classes
		if len(spec.Classes) == 0 {
			slices.Sort(names)
			d.classes = slices.Compact(names)
		}
		number = func(label string) int { return slices.Index(d.classes, label) }
	}
	for _, o := range d.objects {
		k := -1
		if o.Labelled {
			if k = number(o.Label); k < 0 {
				return fmt.Errorf("%s: the label %s of %s is none of the classes %s; write it as data.classes has it",
					d.file, strconv.Quote(o.Label), strconv.Quote(o.Name), strings.Join(d.classes, ", "))
			}
		}
		d.labels = append(d.labels, k)
	}
	return nil
}

// mostClasses bounds labels that are numbers.
const mostClasses = 1 << 20

// Len is the number of objects with all views.
func (d *seen) Len() int { return len(d.objects) }

// Labels are those of the list.
func (d *seen) Labels() []int { return slices.Clone(d.labels) }

// IDs are the names of the objects.
func (d *seen) IDs() []string {
	var ids []string
	for _, o := range d.objects {
		ids = append(ids, o.Name)
	}
	return ids
}

// Sample is the first view of an object, with all of them.
func (d *seen) Sample(i int) (dataset.Sample, error) {
	out := dataset.Sample{ID: d.objects[i].Name, Label: -1}
	if d.labels != nil {
		out.Label = d.labels[i]
	}
	if e := d.objects[i].Environment; e != "" {
		out.Tags = []string{e}
	}
	all := make([]space.Value, len(d.set.Views))
	for v := range all {
		var err error
		if all[v], err = d.of.view(i, v); err != nil {
			return out, fmt.Errorf("%s: %w", cmp.Or(d.objects[i].called, "view "+d.set.Views[v]), err)
		}
	}
	out.Value = space.Among(all)
	return out, nil
}

// Files are the list and what it names.
func (d *seen) Files() []string { return append([]string{d.file}, d.of.files()...) }

// Info is that of the views, with what the list says.
func (d *seen) Info() dataset.Info {
	i := d.of.info()
	i.Notes, i.Classes = slices.Clone(d.notes), slices.Clone(d.classes)
	return i
}

// Views are the names of the views of a data set, in their order; nil for one that has none.
func Views(d dataset.Dataset) []string {
	if s, ok := d.(*seen); ok {
		return slices.Clone(s.set.Views)
	}
	return nil
}

// listed is a file system in which only those files of a folder are there that a list names.
func (d *seen) listed(fsys fs.FS, dir string) fs.FS {
	o := &listed{FS: fsys, keep: map[string]bool{}}
	for _, t := range d.objects {
		for _, in := range t.Views {
			for p := in.File; p != "." && p != "/"; p = path.Dir(p) {
				o.keep[filepath.Join(dir, filepath.FromSlash(p))] = true
			}
		}
	}
	return o
}

type listed struct {
	fs.FS
	keep map[string]bool
}

// ReadDir leaves out what is not listed.
func (o *listed) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(o.FS, name)
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool {
		return !o.keep[filepath.Join(filepath.FromSlash(name), e.Name())]
	}), err
}

// Stat is that of the whole.
func (o *listed) Stat(name string) (fs.FileInfo, error) { return fs.Stat(o.FS, name) }

// Missing is the first file of a list that is not there, with its line; nil where all are.
func (s *Set) Missing(list string) error {
	dir := filepath.Dir(list)
	var first *Input
	for _, o := range s.Objects {
		for _, in := range o.Views {
			if in.File == "" || first != nil && in.Line >= first.Line {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(in.File))); err != nil || info.IsDir() {
				first = &in
			}
		}
	}
	if first == nil {
		return nil
	}
	return errors.New(cmp.Or(list, "the list") + ":" + strconv.Itoa(first.Line) + ": there is no file " +
		strconv.Quote(first.File) + "; the paths of views count from the folder of the list")
}

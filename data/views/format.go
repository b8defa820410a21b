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

// Format is pictures of the same objects as samples: one of each object, which has its other views with it. The file of
// a [dataset.Spec] is the list.
var Format = &dataset.Format{
	Name: "views", Doc: "A list of objects with several pictures each.",
	Options: []dataset.Option{dataset.WithShape, dataset.WithOrient, dataset.WithClasses},
	Open:    open,
}

// seen is a data set of objects.
type seen struct {
	of dataset.Dataset
	// the list
	file string
	set  *Set
	// of each object that has all views, and of each view, which sample of the files it is
	objects []*Object
	at      [][]int
	labels  []int
	info    dataset.Info
}

// open reads a list and the pictures that it names. Objects that lack a view are left out: an orbit has no gaps.
func open(fsys fs.FS, spec dataset.Spec) (dataset.Dataset, error) {
	set, err := load(fsys, spec.Images)
	if err != nil {
		return nil, err
	}
	d := &seen{file: spec.Images, set: set}
	for _, o := range set.Objects {
		if len(o.Views) == len(set.Views) {
			d.objects = append(d.objects, o)
		}
		for name, in := range o.Views {
			if in.File == "" {
				return nil, fmt.Errorf("%s:%d: the view %s of %s is a text, and pictures are read here; texts are "+
					"asked about with nero repeat", spec.Images, in.Line, strconv.Quote(name), strconv.Quote(o.Name))
			}
		}
	}
	if len(d.objects) == 0 {
		return nil, fmt.Errorf("%s: no object has all of the views %s, and views are compared within objects; name "+
			"views alike for all objects", spec.Images, strings.Join(set.Views, ", "))
	}
	dir := filepath.Dir(spec.Images)
	files := spec
	files.Format, files.Images, files.Labels, files.Classes = "folder", dir, "", nil
	if d.of, err = dataset.Builtin().OpenFS(d.listed(fsys, dir), files); err != nil {
		return nil, err
	}
	known := map[string]int{}
	for i, id := range d.of.IDs() {
		known[id] = i
	}
	for _, o := range d.objects {
		row := make([]int, len(set.Views))
		for v, name := range set.Views {
			in := o.Views[name]
			var ok bool
			if row[v], ok = known[in.File]; !ok {
				return nil, fmt.Errorf("%s:%d: the view %s of %s: there is no picture %s; the paths of views count "+
					"from the folder of the list, and pictures are files such as PNG or JPEG", spec.Images, in.Line,
					strconv.Quote(name), strconv.Quote(o.Name), strconv.Quote(in.File))
			}
		}
		d.at = append(d.at, row)
	}
	return d, d.classes(spec)
}

// load reads a list.
func load(fsys fs.FS, name string) (*Set, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > MaxBytes:
		return nil, fmt.Errorf("%s: more than %d bytes; want a list of at most that", name, MaxBytes)
	}
	return Read(name, b)
}

// classes numbers the labels, in the order of the classes of the spec, else as they are where they are numbers, else by
// the alphabet, as labels of folders are.
func (d *seen) classes(spec dataset.Spec) error {
	d.info = d.of.Info()
	d.info.Classes, d.info.Notes = nil, nil // of folders and files that nobody asked about
	if n := len(d.set.Objects) - len(d.objects); n > 0 {
		d.info.Notes = append(d.info.Notes, fmt.Sprintf("%d of %d objects lack a view and are left out", n,
			len(d.set.Objects)))
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
		d.info.Classes = spec.Classes
		if len(spec.Classes) == 0 {
			slices.Sort(names)
			d.info.Classes = slices.Compact(names)
		}
		number = func(label string) int { return slices.Index(d.info.Classes, label) }
	}
	for _, o := range d.objects {
		k := -1
		if o.Labelled {
			if k = number(o.Label); k < 0 {
				return fmt.Errorf("%s: the label %s of %s is none of the classes %s; write it as data.classes has it",
					d.file, strconv.Quote(o.Label), strconv.Quote(o.Name), strings.Join(d.info.Classes, ", "))
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
	var all []*space.Image
	for v, k := range d.at[i] {
		s, err := d.of.Sample(k)
		if err != nil {
			return out, fmt.Errorf("view %s: %w", d.set.Views[v], err)
		}
		m := space.View(s.Value)
		if m == nil {
			return out, fmt.Errorf("view %s: %s is %s, want a picture", d.set.Views[v], s.ID, s.Value.Form())
		}
		all = append(all, m)
	}
	first := *all[0]
	first.Views = all
	out.Value = &first
	return out, nil
}

// Files are the list and the pictures that it names.
func (d *seen) Files() []string { return append([]string{d.file}, d.of.Files()...) }

// Info is that of the pictures.
func (d *seen) Info() dataset.Info {
	i := d.of.Info()
	i.Notes, i.Classes = slices.Clone(d.info.Notes), slices.Clone(d.info.Classes)
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
	o := &only{FS: fsys, keep: map[string]bool{}}
	for _, t := range d.objects {
		for _, in := range t.Views {
			for p := in.File; p != "." && p != "/"; p = path.Dir(p) {
				o.keep[filepath.Join(dir, filepath.FromSlash(p))] = true
			}
		}
	}
	return o
}

type only struct {
	fs.FS
	keep map[string]bool
}

// ReadDir leaves out what is not listed.
func (o *only) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(o.FS, name)
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool {
		return !o.keep[filepath.Join(filepath.FromSlash(name), e.Name())]
	}), err
}

// Stat is that of the whole.
func (o *only) Stat(name string) (fs.FileInfo, error) { return fs.Stat(o.FS, name) }

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

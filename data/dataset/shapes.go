package dataset

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nero/data/mesh"
	"nero/data/space"
)

// maxShape bounds a file of a shape, which is read as a whole.
const maxShape = 1 << 30

// meshPoints is how many points are drawn from a mesh if nobody says.
const meshPoints = 1024

// shapeEndings are the endings of files of shapes.
func shapeEndings() []string {
	return []string{".off", ".obj", ".ply", ".txt", ".pts", ".xyz", ".csv", ".asc", ".npy"}
}

// shapes is a folder of meshes and files of points.
type shapes struct {
	o    opener
	list *listing
	spec Spec
	// points of each cloud; 0 for all
	want int
	ids  []string
}

// openShapes opens a folder of meshes and files of points, or one of them.
func (o opener) openShapes(spec Spec) (Dataset, error) {
	if spec.Key != "" || spec.LabelKey != "" && spec.Labels == "" || spec.TargetKey != "" {
		return nil, fmt.Errorf("%s: keys are for npz archives, this is none", spec.Images)
	}
	for _, f := range spec.Fields {
		if f != "points" && f != "normals" {
			return nil, fmt.Errorf(
				"%s: the samples need a field %q, and files of shapes have points and normals: correct the name, or "+
					"store the clouds as arrays in an npz file", spec.Images, f)
		}
	}
	d, list, err := o.files(spec, shapeEndings(), "shapes")
	if err != nil {
		return nil, err
	}
	d.noun = "cloud"
	s := &shapes{o: o, list: list, spec: spec, want: spec.Cloud.Points, ids: d.ids}
	// The first file says what a file is: points as they are, or a mesh to draw them from.
	first, faces, err := s.raw(0)
	if err != nil {
		return nil, err
	}
	if s.want == 0 && faces {
		s.want = meshPoints
	}
	n := -1
	switch {
	case s.want > 0:
		n = s.want
	case len(d.ids) == 1:
		n = first.points.N
	}
	var fields []space.Spec
	for _, f := range s.fields() {
		typ := space.TypePositions
		if f == "normals" {
			typ = space.TypeVectors
		}
		fields = append(fields, space.Spec{
			Name: f, Kind: space.KindRows, Shape: []int{n, 3}, Type: typ,
			Per: space.PerNode,
		})
	}
	d.space = together(fields, false)
	d.load = s.load
	return d, look(d)
}

// files lists the files of clouds or recordings, with their labels.
func (o opener) files(spec Spec, endings []string, noun string) (*values, *listing, error) {
	list := &listing{fsys: o.fsys, root: spec.Images, endings: endings, noun: noun}
	if err := list.find(); err != nil {
		return nil, nil, inFile(spec.Images, err)
	}
	if spec.Split != "" {
		all := len(list.paths)
		list.paths = slices.DeleteFunc(list.paths,
			func(p string) bool { return !slices.Contains(strings.Split(path.Dir(p), "/"), spec.Split) })
		if len(list.paths) == 0 {
			return nil, nil, fmt.Errorf("%s: none of the %d %s lies in a folder called %q: correct split", spec.Images,
				all, noun, spec.Split)
		}
	}
	if err := list.label(o, spec); err != nil {
		return nil, nil, err
	}
	d := &values{
		root: spec.Images, labels: list.labels, names: list.names, notes: list.notes, files: list.Files(),
		ids: list.IDs(),
	}
	return d, list, nil
}

// fields are those of a sample.
func (s *shapes) fields() []string {
	switch {
	case len(s.spec.Fields) > 0:
		return s.spec.Fields
	case s.spec.Cloud.Normals:
		return []string{"points", "normals"}
	}
	return []string{"points"}
}

// raw reads file i. The points of a mesh with faces are drawn if it is known how many.
func (s *shapes) raw(i int) (out shape, faces bool, err error) {
	name := s.list.name(s.list.paths[i])
	if out, faces, err = s.read(name, s.ids[i]); err != nil {
		return out, faces, inFile(name, err)
	}
	return out, faces, nil
}

func (s *shapes) read(name, id string) (out shape, faces bool, err error) {
	ending := strings.ToLower(path.Ext(filepath.ToSlash(name)))
	switch ending {
	case ".off", ".obj", ".ply":
	case ".npy":
		a, err := s.o.open(name)
		if err != nil {
			return out, false, err
		}
		if len(a.shape) != 2 || a.fortran && a.shape[0] > 1 && a.shape[1] > 1 {
			return out, false, fmt.Errorf("shape %v, want (points, 3) in C order", a.shape)
		}
		v, err := finiteNumbers(a, 0, a.count, max(a.shape[1], 1), "row")
		if err != nil {
			return out, false, err
		}
		return s.columns("", &space.Rows{N: a.shape[0], W: a.shape[1], Val: v})
	}
	text, err := readText(s.o.fsys, name, maxShape)
	if err != nil {
		return out, false, err
	}
	var m *mesh.Mesh
	switch ending {
	case ".off":
		m, err = mesh.ReadOFF(text)
	case ".obj":
		m, err = mesh.ReadOBJ(text)
	case ".ply":
		m, err = mesh.ReadPLY([]byte(text))
	default:
		t, err := mesh.ReadTable(text)
		if err != nil {
			return out, false, err
		}
		return s.columns(strings.Join(t.Names, " "), &space.Rows{N: t.Rows(), W: t.Width, Val: t.Val})
	}
	if err != nil {
		return out, false, err
	}
	if len(m.Faces) > 0 {
		n := s.want
		if n == 0 {
			n = meshPoints
		}
		p, q, err := m.Sample(n, rand.New(rand.NewPCG(s.spec.Cloud.Seed, digestOf(id))))
		if err != nil {
			return out, true, err
		}
		return shape{&space.Rows{N: n, W: 3, Val: p}, &space.Rows{N: n, W: 3, Val: q}}, true, nil
	}
	n := len(m.Points) / 3
	if n == 0 {
		return out, false, errors.New("has neither points nor faces")
	}
	if n < s.want && s.spec.Cloud.Short != "repeat" {
		return out, false, fmt.Errorf(
			"has no faces to draw points from, and only %d points of its own, want %d: take a file with faces, lower "+
				"cloud.points, or set cloud.short: repeat", n, s.want)
	}
	out.points = &space.Rows{N: n, W: 3, Val: m.Points}
	if m.Normals != nil {
		out.normals = &space.Rows{N: n, W: 3, Val: m.Normals}
	}
	return out, false, nil
}

// columns takes points and normals from a table.
func (s *shapes) columns(names string, r *space.Rows) (out shape, faces bool, err error) {
	if s.spec.Cloud.Columns != "" {
		names = s.spec.Cloud.Columns
	}
	at, normal, err := columnsOf(names, r.W)
	if err != nil {
		return out, false, fmt.Errorf("rows of %w", err)
	}
	out.points = pick(r, at)
	if normal[0] >= 0 {
		out.normals = pick(r, normal)
	}
	return out, false, nil
}

// digestOf is a number that names a sample, so that its random points do not depend on the others.
func digestOf(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}

// load makes cloud i.
func (s *shapes) load(i int) (v, target space.Value, tags []string, err error) {
	one, _, err := s.raw(i)
	if err != nil {
		return nil, nil, nil, err
	}
	p := s.list.paths[i]
	name := s.list.name(p)
	fields := s.fields()
	if slices.Contains(fields, "normals") && one.normals == nil {
		return nil, nil, nil,
			fmt.Errorf("%s: no normals: take meshes with faces, or files of x y z nx ny nz; or leave out cloud.normals",
				name)
	}
	if !slices.Contains(fields, "normals") {
		one.normals = nil
	}
	c := s.spec.Cloud
	c.Points = s.want
	double, err := one.finish(c)
	if err != nil {
		return nil, nil, nil, inFile(name, err)
	}
	tags = s.list.tags(p)
	if double > 0 {
		tags = append(slices.Clone(tags), doubled)
	}
	r := &space.Record{}
	for _, f := range fields {
		v := space.Value(one.points)
		if f == "normals" {
			v = one.normals
		}
		r.Names, r.Values = append(r.Names, f), append(r.Values, v)
	}
	if len(fields) == 1 {
		return r.Values[0], nil, tags, nil
	}
	return r, nil, tags, nil
}

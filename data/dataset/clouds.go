package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/internal/elementary"
)

// cloudsFormat is points in space.
var cloudsFormat = &Format{
	Name: "clouds", Doc: "Clouds of points: meshes, files of points, or arrays.",
	Sniff: Sniff{File: func(fsys fs.FS, name string) bool {
		return slices.Contains([]string{".off", ".obj", ".ply"}, ending(name)) ||
			ending(name) == ".xyz" && !ofAtoms(fsys, name)
	}},
	Options:  tableOptions(WithPattern, WithSplit, WithCloud),
	Refuse:   inSameFile("clouds"),
	Numbered: true,
	Open:     reads(opener.openClouds),
}

// cloudsTable is clouds in arrays.
var cloudsTable = tableFormat{
	name: "clouds", main: []string{"points", "positions", "pos", "xyz", "x", "data"},
	wants: func(s Spec) []string {
		if s.Cloud.Normals {
			return []string{"normals"}
		}
		return nil
	},
}

// checkPlain refuses words that clouds and signals do not know, and fields that come twice.
func (s Spec) checkPlain() error {
	c, m := s.Cloud, s.Sound
	for _, w := range []struct {
		key, have string
		want      []string
	}{
		{"cloud.center", c.Center, []string{"mean", "box", "none"}},
		{"cloud.scale", c.Scale, []string{"sphere", "box", "none"}},
		{"cloud.short", c.Short, []string{"refuse", "repeat"}},
		{"cloud.up", c.Up, []string{"x", "y", "z"}},
		{"sound.mono", m.Mono, []string{"mean", "left", "right", "keep"}},
	} {
		if w.have != "" && !slices.Contains(w.want, w.have) {
			return fmt.Errorf("%s is %q, want %s", w.key, w.have, strings.Join(w.want, ", "))
		}
	}
	if c.Points < 0 || c.Points > maxValues/3 {
		return fmt.Errorf("cloud.points is %d, want 1 to %d", c.Points, maxValues/3)
	}
	if m.Rate < 0 || m.Length < 0 || m.Start < 0 {
		return errors.New("sound.rate, sound.length and sound.start are negative, want 0 or above")
	}
	for i, f := range s.Fields {
		if f == "" || slices.Contains(s.Fields[:i], f) {
			return fmt.Errorf("the field %q is named twice or empty: name each field once", f)
		}
	}
	if c.Columns != "" {
		_, _, err := columnsOf(c.Columns, 0)
		return err
	}
	return nil
}

// columnsOf says which columns of a table of points hold x, y, z, and which the normals (-1 for none). Without names
// six columns are x y z nx ny nz, and of others the first three are x y z. width 0 checks the names alone.
func columnsOf(names string, width int) (at, normal [3]int, err error) {
	normal = [3]int{-1, -1, -1}
	if names == "" {
		if width < 3 {
			return at, normal, fmt.Errorf("%d numbers, want x, y and z at least", width)
		}
		if width == 6 {
			normal = [3]int{3, 4, 5}
		}
		return [3]int{0, 1, 2}, normal, nil
	}
	words := strings.FieldsFunc(strings.ToLower(names), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	for i, w := range words {
		if w != "_" && w != "-" && slices.Contains(words[:i], w) {
			return at, normal, fmt.Errorf(
				"cloud.columns is %q: %s comes twice; columns that do not matter are called _", names, w)
		}
	}
	for k, w := range []string{"x", "y", "z"} {
		if at[k] = slices.Index(words, w); at[k] < 0 {
			return at, normal, fmt.Errorf("cloud.columns is %q, want x, y and z among them, such as %q", names,
				"x y z nx ny nz")
		}
		normal[k] = slices.Index(words, "n"+w)
	}
	if (normal[0] < 0) != (normal[1] < 0) || (normal[1] < 0) != (normal[2] < 0) {
		return at, normal, fmt.Errorf("cloud.columns is %q: want all of nx, ny and nz, or none", names)
	}
	if width > 0 && width < len(words) {
		return at, normal, fmt.Errorf("%d numbers, but cloud.columns names %d: %q", width, len(words), names)
	}
	return at, normal, nil
}

// openClouds opens clouds of points: arrays, a folder of meshes and files of points, or one such file.
func (o opener) openClouds(spec Spec) (Dataset, error) {
	array, err := o.isArray(spec.Images)
	if err != nil {
		return nil, err
	}
	if !array {
		return o.openShapes(spec)
	}
	if spec.Pattern != "" || spec.Split != "" {
		return nil, fmt.Errorf("%s: pattern and split are for folders, this is a file of arrays", spec.Images)
	}
	d, t, err := o.openTable(spec, cloudsTable)
	if err != nil {
		return nil, err
	}
	if err := d.label(o, spec); err != nil {
		return nil, err
	}
	return d, t.clouds(d, spec)
}

// isArray tells an IDX, npy or npz file from a folder and from other files.
func (o opener) isArray(name string) (bool, error) {
	if o.isFolder(name) {
		return false, nil
	}
	kind, err := labelFormat(o.fsys, name)
	return kind != "", err
}

// clouds makes samples of a table into clouds as spec.Cloud says.
func (t *table) clouds(d *values, spec Spec) error {
	c := spec.Cloud
	main := t.arrays[t.main]
	width := main.shape[len(main.shape)-1]
	if len(main.shape) < 2 {
		return inFile(t.name, fmt.Errorf("array %q has shape %v, want (N, points, 3)", t.main, main.shape))
	}
	at, normal, err := columnsOf(c.Columns, width)
	if err != nil {
		return inFile(t.name, fmt.Errorf("array %q: shape %v: rows of %w", t.main, main.shape, err))
	}
	normals := c.Normals || slices.Contains(spec.Fields, "normals")
	apart := t.arrays["normals"] != nil
	if normals && !apart && normal[0] < 0 {
		return inFile(t.name,
			errors.New("no normals: neither an array normals nor columns of them; leave out cloud.normals"))
	}
	// What the table reads, and what it is made into.
	inner, read := d.load, d.space
	fields := slices.Clone(read.Leaves())
	points := -1
	out := fields[:0:0]
	for _, f := range fields {
		if f.Name == t.main {
			f.Type, f.Per = space.TypePositions, space.PerNode
			if f.Shape[1] = 3; c.Points > 0 {
				f.Shape = []int{c.Points, 3}
			}
			points = len(out)
		}
		if f.Name == "normals" && c.Points > 0 {
			f.Shape = []int{c.Points, f.Shape[1]}
		}
		out = append(out, f)
		if f.Name == t.main && normals && !apart {
			f.Name, f.Type = "normals", space.TypeVectors
			out = append(out, f)
		}
	}
	if points < 0 {
		return inFile(t.name, fmt.Errorf("the field %s is not among those of the samples: name it too", t.main))
	}
	d.space = together(out, false)
	d.load = func(i int) (space.Value, space.Value, []string, error) {
		v, target, tags, err := inner(i)
		if err != nil {
			return nil, nil, nil, err
		}
		rec, ok := v.(*space.Record)
		if !ok {
			rec = &space.Record{Names: []string{t.main}, Values: []space.Value{v}}
		}
		raw, ok := rec.Field(t.main).(*space.Rows)
		if !ok {
			return nil, nil, nil, inFile(t.name, fmt.Errorf("array %q holds no points", t.main))
		}
		one := shape{points: pick(raw, at)}
		if normals {
			if one.normals, ok = rec.Field("normals").(*space.Rows); !ok {
				one.normals = pick(raw, normal)
			}
			if one.normals.N != raw.N || one.normals.W != 3 {
				return nil, nil, nil,
					inFile(t.name, fmt.Errorf("array %q: sample %q has %d normals of %d numbers for %d points",
						"normals", d.ids[i], one.normals.N, one.normals.W, raw.N))
			}
		}
		double, err := one.finish(c)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%s: cloud %q: %w", t.name, d.ids[i], err)
		}
		if double > 0 {
			tags = append(tags, doubled)
		}
		result := &space.Record{}
		for _, f := range out {
			var v space.Value
			switch f.Name {
			case t.main:
				v = one.points
			case "normals":
				v = one.normals
			default:
				v = rec.Field(f.Name)
			}
			result.Names, result.Values = append(result.Names, f.Name), append(result.Values, v)
		}
		if len(out) == 1 {
			return result.Values[0], target, tags, nil
		}
		return result, target, tags, nil
	}
	// A sample of the clouds, so that what cannot be right is said at once, and coincident points are noted.
	return look(d)
}

// pick takes three columns.
func pick(r *space.Rows, at [3]int) *space.Rows {
	if r.W == 3 && at == [3]int{0, 1, 2} {
		return r
	}
	out := space.NewRows(r.N, 3)
	for i := range r.N {
		row := r.Row(i)
		for k, c := range at {
			out.Val[3*i+k] = row[c]
		}
	}
	return out
}

// doubled is the tag of clouds in which points coincide.
const doubled = "coincident"

// probed is how many clouds are looked at when they are opened.
const probed = 16

// look reads the first clouds and notes coincident points. What is wrong with a single one is said when it is read as a
// sample; with all of them, here.
func look(d *values) error {
	n, first, read := 0, "", 0
	var failed error
	for i := range min(probed, len(d.ids)) {
		_, _, tags, err := d.load(i)
		if err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		read++
		if slices.Contains(tags, doubled) {
			if n == 0 {
				first = d.ids[i]
			}
			n++
		}
	}
	if read == 0 {
		return failed
	}
	if n > 0 {
		d.notes = append(d.notes,
			fmt.Sprintf("%s: in %d of the first %d clouds points coincide, first %q; such clouds have the tag %s",
				d.root, n, read, first, doubled))
	}
	return nil
}

// shape is the points of a cloud on their way from the file to the sample.
type shape struct{ points, normals *space.Rows }

// finish takes as many points as are wanted, turns what is up to z, centres and scales. It counts points that coincide
// with an earlier one.
func (s *shape) finish(c Cloud) (coincident int, err error) {
	n := s.points.N
	if n == 0 {
		return 0, errors.New("no points")
	}
	want := n
	if c.Points > 0 {
		want = c.Points
	}
	if n < want && c.Short != "repeat" {
		return 0, fmt.Errorf(
			"has %d points, want %d: lower cloud.points, take a file with more, or set cloud.short: repeat", n, want)
	}
	s.points, s.normals = resized(s.points, want), resized(s.normals, want)
	coincident = doubles(s.points.Val[:3*min(n, want)])
	turn(s.points, c.Up)
	turn(s.normals, c.Up)
	p := s.points.Val
	var mean, low, high [3]float64
	for a := range 3 {
		low[a], high[a] = math.Inf(1), math.Inf(-1)
		for i := a; i < len(p); i += 3 {
			mean[a] += (p[i] - mean[a]) / float64(i/3+1)
			low[a], high[a] = min(low[a], p[i]), max(high[a], p[i])
		}
	}
	origin := mean
	switch c.Center {
	case "box":
		for a := range origin {
			origin[a] = low[a] + (high[a]-low[a])/2
		}
	case "none":
		origin = [3]float64{}
	}
	for i := range p {
		p[i] -= origin[i%3]
	}
	far := 0.0
	switch c.Scale {
	case "none":
		return coincident, nil
	case "box":
		for _, x := range p {
			far = max(far, math.Abs(x))
		}
	default:
		for i := 0; i < len(p); i += 3 {
			far = max(far, elementary.Hypot(elementary.Hypot(p[i], p[i+1]), p[i+2]))
		}
	}
	if !(low[0] < high[0] || low[1] < high[1] || low[2] < high[2]) || !(far > 0) || math.IsInf(far, 1) {
		return coincident, fmt.Errorf(
			"all %d points lie at one place, (%g, %g, %g), so that the cloud has no size to scale by: repair or "+
				"leave out this cloud, or set cloud.scale: none", want, p[0]+origin[0], p[1]+origin[1], p[2]+origin[2])
	}
	for i := range p {
		p[i] /= far
	}
	return coincident, nil
}

// resized is the first n rows, repeated from the first on if there are fewer; a copy.
func resized(r *space.Rows, n int) *space.Rows {
	if r == nil {
		return nil
	}
	out := space.NewRows(n, r.W)
	for i := 0; i < len(out.Val); i += len(r.Val) {
		copy(out.Val[i:], r.Val)
	}
	return out
}

// turn moves the axis that points up to z, by a rotation.
func turn(r *space.Rows, up string) {
	if r == nil {
		return
	}
	for i := 0; i < len(r.Val); i += 3 {
		x, y, z := r.Val[i], r.Val[i+1], r.Val[i+2]
		switch up {
		case "x":
			x, y, z = y, z, x
		case "y":
			y, z = -z, y
		}
		r.Val[i], r.Val[i+1], r.Val[i+2] = x, y, z
	}
}

// doubles counts the points that have the coordinates of an earlier one.
func doubles(p []float64) int {
	seen := make(map[[3]float64]struct{}, len(p)/3)
	n := 0
	for i := 0; i+2 < len(p); i += 3 {
		k := [3]float64{p[i], p[i+1], p[i+2]}
		if _, ok := seen[k]; ok {
			n++
		}
		seen[k] = struct{}{}
	}
	return n
}

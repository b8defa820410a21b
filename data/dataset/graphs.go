package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
)

// graphsFormat is sets and graphs.
var graphsFormat = &Format{
	Name: "graphs", Doc: "Sets and graphs: arrays, or a JSON object on every line.",
	Sniff:   Sniff{File: ends(".jsonl", ".ndjson")},
	Options: tableOptions(),
	Refuse:  inSameFile("graphs"),
	Open:    reads(opener.openGraphs),
}

// graphsTable is graphs in arrays.
var graphsTable = tableFormat{
	name: "graphs", main: []string{"nodes", "x", "features", "matrix", "adjacency", "pairs"}, all: true,
}

// openGraphs opens sets and graphs: arrays, or a file of JSON lines.
func (o opener) openGraphs(spec Spec) (Dataset, error) {
	array, err := o.isArray(spec.Images)
	if err != nil {
		return nil, err
	}
	if !array {
		return o.openLines(spec)
	}
	d, _, err := o.openTable(spec, graphsTable)
	if err != nil {
		return nil, err
	}
	return d, d.label(o, spec)
}

// jsonField is one key of one line.
type jsonField struct {
	val  []float64
	n, w int
	// a list of numbers, not of lists
	flat bool
}

// jsonLine is one graph.
type jsonLine struct {
	line   int
	fields map[string]jsonField
	nodes  int
	edges  int
}

// jsonLines is a file of them.
type jsonLines struct {
	name    string
	all     []jsonLine
	values  []string
	targets []string
	per     map[string]string
}

// openLines opens a file with a JSON object on every line: nodes, edges, and other fields as numbers, lists or lists of
// lists.
func (o opener) openLines(spec Spec) (Dataset, error) {
	if o.isFolder(spec.Images) {
		return nil, fmt.Errorf("%s: is a folder, want a file: npz, or a JSON object on every line such as %s",
			spec.Images, jsonExample)
	}
	if spec.Key != "" {
		return nil, fmt.Errorf("%s: key is for npz archives, this is none", spec.Images)
	}
	text, err := readText(o.fsys, spec.Images, maxMolecules)
	if err != nil {
		return nil, inFile(spec.Images, err)
	}
	d := &values{root: spec.Images, noun: "graph", files: []string{spec.Images}}
	g := &jsonLines{name: spec.Images, per: map[string]string{}}
	words, err := g.read(text, d, spec)
	if err != nil {
		return nil, inFile(spec.Images, err)
	}
	if spec.Labels == "" {
		if d.labels, d.names, err = classes(words); err != nil {
			return nil, inFile(spec.Images, err)
		}
	}
	d.ids = distinct(d.ids)
	if err := g.describe(d, spec); err != nil {
		return nil, inFile(spec.Images, err)
	}
	d.load = g.load
	return d, d.label(o, spec)
}

const jsonExample = `{"nodes": [[0.5, 1], [2, 3]], "edges": [[0, 1], [1, 0]], "y": 0.25}`

// read parses all lines.
func (g *jsonLines) read(text string, d *values, spec Spec) (words []string, err error) {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(line))
		var raw map[string]json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			if strings.Contains(line, "NaN") || strings.Contains(line, "Infinity") {
				return nil, fmt.Errorf("line %d: JSON has no NaN and no Infinity: %w; repair or leave out this graph",
					n, ErrNotFinite)
			}
			return nil, fmt.Errorf("line %d: not JSON (%w), want an object such as %s", n, err, jsonExample)
		}
		if dec.More() {
			return nil, fmt.Errorf("line %d: text after the object, want one object on each line", n)
		}
		one := jsonLine{line: n, fields: map[string]jsonField{}, nodes: -1}
		id, word := strconv.Itoa(len(g.all)), ""
		for _, key := range sortedKeys(raw) {
			v := raw[key]
			switch {
			case (key == "name" || key == "id") && !slices.Contains(spec.Fields, key):
				id = jsonWord(v)
				continue
			case (key == "label" || key == spec.LabelKey) && !slices.Contains(spec.Fields, key):
				word = jsonWord(v)
				continue
			}
			f, err := jsonNumbers(v)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q: %w", n, key, err)
			}
			if isLinks(key) {
				if f, err = jsonEdges(key, f); err != nil {
					return nil, fmt.Errorf("line %d: %q: %w", n, key, err)
				}
				one.edges = f.n
				key = "edges"
			}
			if key == "nodes" {
				one.nodes = f.n
				if f.flat {
					f.n, f.w, f.flat = len(f.val), 1, false
					one.nodes = f.n
				}
			}
			one.fields[key] = f
		}
		if one.nodes < 0 {
			return nil, fmt.Errorf("line %d: no %q, want an object such as %s", n, "nodes", jsonExample)
		}
		if e, ok := one.fields["edges"]; ok {
			if _, err := jsonLinks(one.nodes, e); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		g.all = append(g.all, one)
		d.ids = append(d.ids, id)
		words = append(words, word)
	}
	if len(g.all) == 0 {
		return nil, fmt.Errorf("is empty, want a JSON object on every line such as %s", jsonExample)
	}
	return words, nil
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// jsonWord is a string or a number as text.
func jsonWord(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return strings.TrimSpace(string(v))
}

// jsonNumbers reads a number, a list of numbers, or a list of lists of equal length.
func jsonNumbers(v json.RawMessage) (jsonField, error) {
	v = bytes.TrimSpace(v)
	want := errors.New("want a number, a list of numbers, or a list of lists of numbers of one length")
	if len(v) == 0 || v[0] != '[' {
		var x *float64
		if err := json.Unmarshal(v, &x); err != nil || x == nil {
			return jsonField{}, want
		}
		return jsonField{val: []float64{*x}, n: 1, w: 1}, nil
	}
	var flat []*float64
	if json.Unmarshal(v, &flat) == nil && len(flat) > 0 {
		f := jsonField{n: 1, w: len(flat), flat: true}
		for _, x := range flat {
			if x == nil {
				return jsonField{}, want
			}
			f.val = append(f.val, *x)
		}
		return f, nil
	}
	var rows [][]*float64
	if err := json.Unmarshal(v, &rows); err != nil {
		return jsonField{}, want
	}
	f := jsonField{n: len(rows)}
	for i, row := range rows {
		if i == 0 {
			f.w = len(row)
		}
		if len(row) != f.w || len(row) == 0 {
			return jsonField{}, fmt.Errorf("row %d has %d numbers, the first %d: want one length, 1 or more", i,
				len(row), f.w)
		}
		for _, x := range row {
			if x == nil {
				return jsonField{}, want
			}
			f.val = append(f.val, *x)
		}
	}
	return f, nil
}

// jsonEdges makes pairs of edges: [[from, to], ...], or for edge_index [[from...], [to...]].
func jsonEdges(key string, f jsonField) (jsonField, error) {
	switch {
	case f.n == 0:
		f.w = 2
	case !f.flat && key == "edge_index" && f.n == 2:
		out := jsonField{n: f.w, w: 2}
		for k := range f.w {
			out.val = append(out.val, f.val[k], f.val[f.w+k])
		}
		return out, nil
	case f.flat || f.w != 2:
		return f, errors.New("want pairs of nodes, [[from, to], ...]")
	}
	return f, nil
}

func jsonLinks(nodes int, f jsonField) (*space.Links, error) {
	from, to := make([]float64, f.n), make([]float64, f.n)
	for k := range f.n {
		from[k], to[k] = f.val[2*k], f.val[2*k+1]
	}
	return newLinks(nodes, from, to)
}

// describe settles fields and targets and what their rows belong to.
func (g *jsonLines) describe(d *values, spec Spec) error {
	first := g.all[0]
	names := make([]string, 0, len(first.fields))
	for name := range first.fields {
		names = append(names, name)
	}
	t := &table{main: "nodes"}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := t.place(a), t.place(b); x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	target := func(name string) bool {
		if spec.TargetKey != "" {
			return name == spec.TargetKey
		}
		return slices.Contains(targetNames(), name) && spec.Targets == "" && !slices.Contains(spec.Fields, name)
	}
	for _, name := range slices.Concat(spec.Fields, []string{spec.TargetKey}) {
		if _, ok := first.fields[name]; !ok && name != "" {
			return fmt.Errorf("line %d: no %q; the line has %s: correct the name", first.line, name,
				strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		switch {
		case target(name):
			g.targets = append(g.targets, name)
		case len(spec.Fields) == 0 && !slices.Contains(targetNames(), name):
			g.values = append(g.values, name)
		}
	}
	if len(spec.Fields) > 0 {
		g.values = spec.Fields
	}
	slices.SortStableFunc(g.targets,
		func(a, b string) int { return slices.Index(targetNames(), a) - slices.Index(targetNames(), b) })
	var fields, targets []space.Spec
	for _, name := range g.values {
		s, err := g.field(name, spec)
		if err != nil {
			return err
		}
		fields = append(fields, s)
	}
	for _, name := range g.targets {
		s, err := g.field(name, spec)
		if err != nil {
			return err
		}
		targets = append(targets, s)
	}
	d.space, d.target = together(fields, false), together(targets, false)
	return nil
}

// field holds all lines against each other and says what a field is.
func (g *jsonLines) field(name string, spec Spec) (space.Spec, error) {
	first := g.all[0].fields[name]
	s := space.Spec{Name: name, Kind: space.KindRows, Type: naturalType(name)}
	if name == "edges" {
		s.Kind = space.KindLinks
	}
	node, edge, sample, rows := true, true, true, first.n
	odd, have := g.all[0], first.n // the first line with another number of rows than nodes
	for _, l := range g.all {
		f, ok := l.fields[name]
		if !ok {
			return s, fmt.Errorf(
				"line %d: no %q, which line %d has: all must have the same; complete it or leave it out", l.line, name,
				g.all[0].line)
		}
		n, w := f.n, f.w
		if f.flat {
			n = f.w
		}
		if node && n != l.nodes {
			odd, have = l, n
		}
		node, edge = node && n == l.nodes, edge && n == l.edges
		sample = sample && f.n == first.n && w == first.w && f.flat == first.flat
		if !f.flat && !first.flat && w != first.w && n > 0 && first.n > 0 && !slices.Contains(spec.Wide, name) {
			return s, fmt.Errorf("line %d: %q has rows of %d numbers, line %d of %d: all must agree", l.line, name, w,
				g.all[0].line, first.w)
		}
		if f.n != rows {
			rows = -1
		}
	}
	w := 0
	for _, l := range g.all {
		if have := l.fields[name].w; w > 0 && have > 0 && have != w && slices.Contains(spec.Wide, name) {
			w = -1
		} else if w >= 0 {
			w = max(w, have)
		}
	}
	flat := first.flat || first.n == 1 && first.w == 1
	switch {
	case s.Kind == space.KindLinks:
		s.Shape = []int{2, rows}
		return s, nil
	case name == "nodes", slices.Contains(spec.Own, name):
		s.Per, s.Shape = space.PerNode, []int{rows, w}
	case flat && sample:
		s.Per, s.Shape = space.PerSample, []int{1, first.w}
	case edge && (!node || ofEdges(name)):
		s.Per, s.Shape = space.PerEdge, []int{rows, w}
	case node:
		s.Per, s.Shape = space.PerNode, []int{rows, w}
	case sample:
		s.Per, s.Shape = space.PerSample, []int{first.n, first.w}
	default:
		return s, fmt.Errorf(
			"line %d: %q has rows neither for each node nor for each edge nor equally many in every line: here it "+
				"has %d rows, and there are %d nodes and %d edges; correct it or leave it out, or say set: NAME of it "+
				"where its rows are a set of their own", odd.line, name, have, odd.nodes, odd.edges)
	}
	if first.flat && s.Per != space.PerSample {
		s.Shape = []int{-1, 1}
	}
	g.per[name] = s.Per
	return s, nil
}

// load makes graph i.
func (g *jsonLines) load(i int) (v, target space.Value, tags []string, err error) {
	l := g.all[i]
	value := func(names []string) (space.Value, error) {
		r := &space.Record{}
		for _, name := range names {
			f := l.fields[name]
			var v space.Value
			if name == "edges" {
				links, err := jsonLinks(l.nodes, f)
				if err != nil {
					return nil, fmt.Errorf("%s: line %d: %w", g.name, l.line, err)
				}
				v = links
			} else {
				n, w := f.n, f.w
				if f.flat && g.per[name] != space.PerSample {
					n, w = f.w, 1
				}
				v = &space.Rows{N: n, W: w, Val: slices.Clone(f.val)}
			}
			r.Names, r.Values = append(r.Names, name), append(r.Values, v)
		}
		if len(names) == 1 {
			return r.Values[0], nil
		}
		return r, nil
	}
	if v, err = value(g.values); err == nil && len(g.targets) > 0 {
		target, err = value(g.targets)
	}
	return v, target, nil, err
}

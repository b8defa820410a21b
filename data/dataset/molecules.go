package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nero/data/chem"
	"nero/data/space"
)

// moleculesFormat is atoms in space.
var moleculesFormat = &Format{
	Name: "molecules", Doc: "Molecules: XYZ, extended XYZ and SD files, or arrays.",
	Sniff: Sniff{File: func(fsys fs.FS, name string) bool {
		return slices.Contains([]string{".sdf", ".sd", ".mol", ".extxyz"}, ending(name)) ||
			ending(name) == ".xyz" && ofAtoms(fsys, name)
	}},
	Options: tableOptions(WithElements),
	Refuse:  inSameFile("molecules"),
	Open:    reads(opener.openMolecules),
}

// moleculesTable is molecules in arrays.
var moleculesTable = tableFormat{
	name: "molecules", main: []string{"positions", "R", "pos", "coordinates", "coords", "points"}, named: true,
	called: func(key string) string {
		switch key {
		case "species", "z", "Z", "numbers", "atomic_numbers", "nuclear_charges", "charges_nuclear":
			return "species"
		}
		return key
	},
	wants:  func(Spec) []string { return []string{"species", "charges", "cell", "edges", "edge_index"} },
	record: true,
	units:  map[string]string{"positions": "Å", "cell": "Å"},
}

// ofAtoms tells a file of molecules, a number of atoms and a remark, from lines of coordinates: both end in .xyz.
func ofAtoms(fsys fs.FS, name string) bool {
	f, err := fsys.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read from
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return false
	}
	lines := strings.SplitN(string(b), "\n", 3)
	if _, err := strconv.Atoi(strings.TrimSpace(lines[0])); err != nil || len(lines) < 2 {
		return false
	}
	numbers := strings.Fields(lines[1])
	return len(numbers) < 3 ||
		slices.ContainsFunc(numbers, func(w string) bool { _, err := strconv.ParseFloat(w, 64); return err != nil })
}

// maxMolecules bounds the text of molecules, which is kept in memory as numbers.
const maxMolecules = 1 << 30

// moleculeEndings are the endings of files of molecules.
func moleculeEndings() []string { return []string{".xyz", ".extxyz", ".sdf", ".sd", ".mol"} }

// openMolecules opens files of molecules, a folder of them, or arrays.
func (o opener) openMolecules(spec Spec) (Dataset, error) {
	array, err := o.isArray(spec.Images)
	if err != nil {
		return nil, err
	}
	if array {
		d, t, err := o.openTable(spec, moleculesTable)
		if err != nil {
			return nil, err
		}
		if err := d.label(o, spec); err != nil {
			return nil, err
		}
		return d, t.molecules(d, spec)
	}
	if spec.Key != "" || spec.LabelKey != "" && spec.Labels == "" {
		return nil, fmt.Errorf("%s: key is for npz archives, this is none", spec.Images)
	}
	list := &listing{fsys: o.fsys, root: spec.Images, endings: moleculeEndings(), noun: "files of molecules"}
	if err := list.find(); err != nil {
		return nil, inFile(spec.Images, err)
	}
	d := &values{root: spec.Images, noun: "molecule", notes: list.notes}
	m := &molecules{spec: spec}
	var ids []string
	left := int64(maxMolecules)
	for _, p := range list.paths {
		name := list.name(p)
		text, err := readText(o.fsys, name, left)
		if err != nil {
			return nil, inFile(name, err)
		}
		left -= int64(len(text))
		all, err := readMolecules(name, text)
		if err != nil {
			return nil, inFile(name, err)
		}
		d.files = append(d.files, name)
		for k, one := range all {
			id := one.Name
			if id == "" {
				id = list.id(p)
			} else if list.id(p) != path.Base(filepath.ToSlash(spec.Images)) {
				id = list.id(p) + ":" + id
			}
			if one.Name == "" && len(all) > 1 {
				id += "#" + strconv.Itoa(k+1)
			}
			ids = append(ids, id)
			m.all = append(m.all, one)
			m.from = append(m.from, name)
		}
	}
	d.ids = distinct(ids)
	if err := m.describe(d); err != nil {
		return nil, err
	}
	d.load = m.load
	if err := d.label(o, spec); err != nil {
		return nil, err
	}
	return d, nil
}

// readText reads a text file of at most limit bytes.
func readText(fsys fs.FS, name string, limit int64) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	if st.IsDir() {
		return "", errors.New("is a folder, want a file")
	}
	if st.Size() > limit {
		return "", fmt.Errorf(
			"has %d bytes, more than the %d that fit in memory: split it, or store it as arrays in an npz file",
			st.Size(), limit)
	}
	b, err := io.ReadAll(io.LimitReader(f, st.Size()+1))
	if err != nil {
		return "", err
	}
	if int64(len(b)) > limit {
		return "", fmt.Errorf("has more than the %d bytes that fit in memory: split it", limit)
	}
	return strings.TrimPrefix(string(b), "\ufeff"), nil
}

// readMolecules reads a file by its ending, or by what it looks like.
func readMolecules(name, text string) ([]*chem.Molecule, error) {
	switch strings.ToLower(path.Ext(filepath.ToSlash(name))) {
	case ".sdf", ".sd", ".mol":
		return chem.ReadSDF(text)
	case ".xyz", ".extxyz":
		return chem.ReadXYZ(text)
	}
	if strings.Contains(text, "V2000") || strings.Contains(text, "V3000") {
		return chem.ReadSDF(text)
	}
	return chem.ReadXYZ(text)
}

// molecules is what was read from files.
type molecules struct {
	spec Spec
	all  []*chem.Molecule
	// the file of each
	from    []string
	fields  []string
	targets []string
}

// moleculeTargets are the names of what a model of molecules predicts, in their order.
func moleculeTargets() []string { return []string{"energy", "forces", "stress", "virial", "dipole"} }

// at names molecule i for a message.
func (m *molecules) at(i int, err error) error {
	name := ""
	if n := m.all[i].Name; n != "" {
		name = fmt.Sprintf(" (%s)", n)
	}
	return fmt.Errorf("%s: line %d: molecule %d%s: %w", m.from[i], m.all[i].Line, i, name, err)
}

// describe settles fields and targets and holds every molecule against them.
func (m *molecules) describe(d *values) error {
	known := map[int]bool{}
	for _, s := range m.spec.Elements {
		z := chem.Number(s)
		if z == 0 {
			return fmt.Errorf("%s: data.elements has %q, which is no element: want symbols such as C or Cl", d.root, s)
		}
		known[z] = true
	}
	first := m.all[0]
	atoms := len(first.Numbers)
	for i, one := range m.all {
		for k, z := range one.Numbers {
			if len(known) > 0 && !known[z] {
				return fmt.Errorf("%s: line %d: atom %d of molecule %d is %s, which the models do not know; "+
					"data.elements has %s: leave the molecule out, or add it if the models were trained on it",
					m.from[i], one.Lines[k], k+1, i, chem.Symbol(z), strings.Join(m.spec.Elements, ", "))
			}
		}
		if len(one.Numbers) != atoms {
			atoms = -1
		}
	}
	natural := m.natural(first)
	var err error
	if m.fields, err = m.choose(natural); err != nil {
		return fmt.Errorf("%s: %w", d.root, err)
	}
	for _, f := range moleculeTargets() {
		if _, ok := m.value(first, f); ok && m.spec.Targets == "" && m.spec.TargetKey == "" &&
			!slices.Contains(m.fields, f) {
			m.targets = append(m.targets, f)
		}
	}
	if k := m.spec.TargetKey; k != "" {
		if _, ok := m.value(first, k); !ok {
			return m.at(0, fmt.Errorf("has no %s: correct target_key", k))
		}
		m.targets = []string{k}
	}
	for i, one := range m.all {
		for _, f := range slices.Concat(m.fields, m.targets) {
			v, ok := m.value(one, f)
			if !ok {
				return m.at(i, fmt.Errorf(
					"has no %s, which the first molecule has: all must have the same; complete it or leave it out", f))
			}
			w, _ := m.value(first, f)
			a, b := v.Dims(), w.Dims()
			if v.Kind() == space.KindRows && a[1] != b[1] {
				return m.at(i, fmt.Errorf("%s has %d numbers a row, in the first molecule %d: all must agree", f, a[1],
					b[1]))
			}
		}
	}
	d.space = together(m.specs(m.fields, atoms), len(m.spec.Fields) == 0)
	d.target = together(m.specs(m.targets, atoms), true)
	return nil
}

// natural are the fields that a molecule has of itself.
func (*molecules) natural(one *chem.Molecule) []string {
	fields := []string{"positions", "species"}
	if one.Column("charges") != nil {
		fields = append(fields, "charges")
	}
	if one.Cell != nil {
		fields = append(fields, "cell")
	}
	if one.Bonds != nil {
		fields = append(fields, "edges", "orders")
	}
	return fields
}

// choose takes the fields that are asked for.
func (m *molecules) choose(natural []string) ([]string, error) {
	if len(m.spec.Fields) == 0 {
		return natural, nil
	}
	for _, f := range m.spec.Fields {
		if _, ok := m.value(m.all[0], f); !ok {
			have := slices.Clone(natural)
			for _, c := range m.all[0].Columns {
				have = append(have, c.Name)
			}
			for _, v := range m.all[0].Values {
				have = append(have, v.Name)
			}
			return nil, fmt.Errorf("the samples need a field %q, and the first molecule has %s: correct the name", f,
				strings.Join(have, ", "))
		}
	}
	return m.spec.Fields, nil
}

// specs describes fields.
func (m *molecules) specs(names []string, atoms int) []space.Spec {
	var out []space.Spec
	for _, f := range names {
		v, _ := m.value(m.all[0], f)
		s := space.Spec{
			Name: f, Kind: v.Kind(), Shape: v.Dims(), Type: naturalType(f), Per: space.PerNode,
			Unit: moleculesTable.units[f],
		}
		switch {
		case s.Kind == space.KindLinks:
			s.Shape, s.Per = []int{2, -1}, ""
		case f == "orders":
			s.Shape[0], s.Per, s.Type = -1, space.PerEdge, space.TypeUnchanged
		case f == "cell":
			s.Per = space.PerSample
		case m.all[0].Value(f) != nil && m.all[0].Column(f) == nil:
			s.Per = space.PerSample
		default:
			s.Shape[0] = atoms
		}
		out = append(out, s)
	}
	return out
}

// value is a field of a molecule.
func (*molecules) value(one *chem.Molecule, name string) (space.Value, bool) {
	n := len(one.Numbers)
	switch name {
	case "positions":
		return &space.Rows{N: n, W: 3, Val: slices.Clone(one.Positions)}, true
	case "species":
		r := space.NewRows(n, 1)
		for i, z := range one.Numbers {
			r.Val[i] = float64(z)
		}
		return r, true
	case "cell":
		if one.Cell == nil {
			return nil, false
		}
		return &space.Rows{N: 3, W: 3, Val: slices.Clone(one.Cell)}, true
	case "edges":
		if one.Bonds == nil {
			return nil, false
		}
		l := &space.Links{Nodes: n}
		for _, b := range one.Bonds {
			l.From, l.To = append(l.From, int32(b.From), int32(b.To)), append(l.To, int32(b.To), int32(b.From))
		}
		return l, true
	case "orders":
		if one.Bonds == nil {
			return nil, false
		}
		r := space.NewRows(2*len(one.Bonds), 1)
		for k, b := range one.Bonds {
			r.Val[2*k], r.Val[2*k+1] = float64(b.Order), float64(b.Order)
		}
		return r, true
	}
	if c := one.Column(name); c != nil {
		return &space.Rows{N: n, W: c.Width, Val: slices.Clone(c.Val)}, true
	}
	if v := one.Value(name); v != nil {
		return &space.Rows{N: 1, W: len(v), Val: slices.Clone(v)}, true
	}
	return nil, false
}

// load makes molecule i into a sample.
func (m *molecules) load(i int) (v, target space.Value, tags []string, err error) {
	one := m.all[i]
	make1 := func(names []string, record bool) space.Value {
		r := &space.Record{}
		for _, f := range names {
			v, _ := m.value(one, f)
			r.Names, r.Values = append(r.Names, f), append(r.Values, v)
		}
		if len(names) == 1 && !record {
			return r.Values[0]
		}
		return r
	}
	if v = make1(m.fields, len(m.spec.Fields) == 0); len(m.targets) > 0 {
		target = make1(m.targets, true)
	}
	for _, w := range one.Words {
		tags = append(tags, w.Name+"="+w.Text)
	}
	return v, target, tags, nil
}

// molecules holds the atoms of a table against those that the models know.
func (t *table) molecules(d *values, spec Spec) error {
	z := t.arrays["species"]
	if z == nil {
		return inFile(t.name, errors.New("no atomic numbers: add an array species"))
	}
	r, err := t.role("species")
	if err != nil {
		return err
	}
	if r.w != 1 || r.per != space.PerNode {
		return inFile(t.name, fmt.Errorf("array %q has shape %v, want one atomic number for each atom",
			t.keys["species"], z.shape))
	}
	if p := d.space; p.IsRecord() {
		for _, f := range p.Fields {
			if f.Name == "positions" && f.Shape[1] != 3 {
				return inFile(t.name, fmt.Errorf("array %q has rows of %d numbers, want x, y, z", t.keys["positions"],
					f.Shape[1]))
			}
		}
	}
	known := map[int]bool{}
	for _, s := range spec.Elements {
		n := chem.Number(s)
		if n == 0 {
			return inFile(t.name, fmt.Errorf("data.elements has %q, which is no element: want symbols such as C or Cl",
				s))
		}
		known[n] = true
	}
	inner := d.load
	d.load = func(i int) (space.Value, space.Value, []string, error) {
		s, err := t.value("species", r, i)
		if err != nil {
			return nil, nil, nil, inFile(t.name, err)
		}
		if rows, ok := s.(*space.Rows); ok {
			for k, x := range rows.Val {
				n := int(x)
				if float64(n) != x || chem.Symbol(n) == "" && n != 0 {
					return nil, nil, nil,
						inFile(t.name, fmt.Errorf(
							"sample %q: atom %d has the atomic number %g, want 1 to %d, or 0 for a row that is "+
								"filled up", d.ids[i], k, x, chem.Elements))
				}
				if len(known) > 0 && n != 0 && !known[n] {
					return nil, nil, nil,
						inFile(t.name, fmt.Errorf(
							"sample %q: atom %d is %s, which the models do not know; data.elements has %s: leave the "+
								"molecule out, or add it if the models were trained on it",
							d.ids[i], k, chem.Symbol(n), strings.Join(spec.Elements, ", ")))
				}
			}
		}
		return inner(i)
	}
	return nil
}

// Package define makes groups that users describe in a file: by a table of products, by matrices, by the generators of
// a Lie algebra, or by a program that answers questions. What it returns keeps the laws of a group: anything else is
// refused with the law, the elements and the place.
package define

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/matrix"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits of groups that users define.
const (
	maxFile       = 16 << 20 // bytes
	maxDim        = 256      // rows of a matrix
	maxGenerators = 64
	maxNesting    = 16
)

// definition is the file of a group.
type definition struct {
	Name      string             `yaml:"name"`
	Table     *tableDefinition   `yaml:"table"`
	Rotations [][][]float64      `yaml:"rotations"`
	Matrices  [][][]float64      `yaml:"matrices"`
	Lie       *lieDefinition     `yaml:"lie"`
	Program   *programDefinition `yaml:"program"`
	Views     []string           `yaml:"views"`
	Space     string             `yaml:"space"`
	Rows      string             `yaml:"rows"`
}

type tableDefinition struct {
	Elements        []string                          `yaml:"elements"`
	Products        [][]string                        `yaml:"products"`
	Representations map[string]map[string][][]float64 `yaml:"representations"`
	Permutations    map[string]map[string][]int       `yaml:"permutations"`
}

type lieDefinition struct {
	Generators []lieGenerator           `yaml:"generators"`
	Others     map[string][][][]float64 `yaml:"representations"`
}

type lieGenerator struct {
	Name   string      `yaml:"name"`
	Unit   string      `yaml:"unit"`
	Range  []float64   `yaml:"range"`
	Matrix [][]float64 `yaml:"matrix"`
}

type programDefinition struct {
	Command []string `yaml:"command"`
	// seconds
	Timeout float64 `yaml:"timeout"`
}

// Load reads a group that a user defines in YAML, and refuses it until the axioms hold: the error names the law, the
// elements and the place.
//
// The file has a name, and one of these keys:
//
//	table:      finite, by products: elements lists the names; products has one row per element g, with the names of g∘h for every h; representations
//	            gives, by name, the matrix of every element; permutations, by name, where each of the rows goes, from 0
//	rotations:  a list of rotation matrices, all of a finite group or some that generate it: orthogonal, of determinant 1
//	matrices:   the same for any invertible matrices
//	lie:        generators, a list of name, unit (rad or none), range [lowest, highest] and matrix, which must be linearly independent and closed under
//	            the commutator; representations gives, by name, one matrix per generator with the same commutators
//	program:    a command, a list of words, whose answers say all, see [Command]; timeout in seconds, 30 if none is given
//	views:      a list of names: no group, see [group.Lawless], whose elements say which view of an object is meant
//
// space names the representation that moves points, rows the one that permutes rows; both are optional. The matrices of
// rotations, matrices and lie are the representation "matrix", which is also that of space unless space says otherwise.
// The group is [group.Represented], by need [group.Spatial] and [group.Permuting], and [group.Finite] or [group.Lie].
// Its name must not be one that [catalog.Parse] reads. start is nil where programs must not run.
func Load(ctx context.Context, r io.Reader, start Starter) (group.Group, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("the file of the group: %w", err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("the file of the group is larger than %d MiB", maxFile>>20)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff")) // some editors mark a file as UTF-8
	if err := sober(b); err != nil {
		return nil, err
	}
	var d definition
	if err := decodeYAML(b, &d); err != nil {
		return nil, err
	}
	d.Name = strings.TrimSpace(d.Name)
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 _-]{0,63}$`).MatchString(d.Name) {
		return nil, fmt.Errorf(
			"name: %q is no name for a group: expected a letter, then letters, digits, spaces, - or _, 64 at most",
			d.Name)
	}
	if g, err := catalog.Parse(d.Name); err == nil {
		return nil, fmt.Errorf("name: %s is the name of a group that nero has, %s: choose another", d.Name, g.Name())
	}
	g, err := d.build(ctx, start)
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", d.Name, err)
	}
	return g, nil
}

// sober refuses text that the reader of YAML would go too deep with.
func sober(b []byte) error {
	depth, line := 0, 1
	for _, c := range b {
		switch c {
		case '\n':
			line++
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxNesting {
			return fmt.Errorf("line %d of the file of the group: more than %d lists inside each other", line,
				maxNesting)
		}
	}
	for n, l := range strings.Split(string(b), "\n") {
		t := strings.TrimLeft(l, " ")
		if strings.Count(t, "- ") > 0 && strings.HasPrefix(t, strings.Repeat("- ", maxNesting)) ||
			len(l)-len(t) > 256 || strings.HasPrefix(t, "? ") {
			return fmt.Errorf("line %d of the file of the group: lists inside each other that are too deep", n+1)
		}
	}
	return nil
}

// named finds anchors and aliases, by which a small file unfolds into large values. The same characters in a quoted
// name are none, which only the parser knows.
type named struct {
	// of the first one, 0 for none
	line int
}

// Visit looks at one node.
func (n *named) Visit(node ast.Node) ast.Visitor {
	switch node.(type) {
	case *ast.AnchorNode, *ast.AliasNode:
		if n.line == 0 {
			n.line = node.GetToken().Position.Line
		}
		return nil
	}
	return n
}

func decodeYAML(b []byte, d *definition) (err error) {
	defer func() { // the reader of YAML is not ours
		if r := recover(); r != nil {
			err = fmt.Errorf("the file of the group is no YAML that can be read: %v", r)
		}
	}()
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return fmt.Errorf("the file of the group: %s", strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		var n named
		ast.Walk(&n, doc.Body)
		if n.line > 0 {
			return fmt.Errorf("line %d of the file of the group: anchors and aliases are not allowed", n.line)
		}
	}
	if err := yaml.UnmarshalWithOptions(b, d, yaml.Strict()); err != nil {
		return fmt.Errorf("the file of the group: %s", strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	return nil
}

func (d definition) build(ctx context.Context, start Starter) (group.Group, error) {
	var set []string
	for _, k := range []struct {
		name string
		on   bool
	}{
		{"table", d.Table != nil},
		{"rotations", d.Rotations != nil},
		{"matrices", d.Matrices != nil},
		{"lie", d.Lie != nil},
		{"program", d.Program != nil},
		{"views", d.Views != nil},
	} {
		if k.on {
			set = append(set, k.name)
		}
	}
	if len(set) != 1 {
		return nil, fmt.Errorf("it has %d definitions (%s): expected one of table, rotations, matrices, lie, program, "+
			"views", len(set), strings.Join(set, ", "))
	}
	switch set[0] {
	case "table":
		t, err := d.Table.build(d.Name)
		if err != nil {
			return nil, fmt.Errorf("table: %w", err)
		}
		return t.acting(d.Space, d.Rows)
	case "views":
		if d.Space != "" || d.Rows != "" {
			return nil, errors.New("views: they have no matrices and no permutations; leave space and rows out")
		}
		l, err := newListed(d.Name, d.Views)
		if err != nil {
			return nil, fmt.Errorf("views: %w", err)
		}
		return l, nil
	case "lie":
		return d.Lie.build(d.Name, d.Space, d.Rows)
	case "program":
		if start == nil {
			return nil, errors.New("program: no programs are run here: give a table instead")
		}
		wait := d.Program.Timeout
		const most = 600
		if wait == 0 {
			wait = 30
		}
		if !(wait > 0 && wait <= most) {
			return nil, fmt.Errorf("program: timeout is %g: expected seconds above 0, %d at most", wait, most)
		}
		t, err := fromProgram(ctx, d.Name, d.Program.Command, time.Duration(wait*float64(time.Second)), start)
		if err != nil {
			return nil, err
		}
		return t.acting(d.Space, d.Rows)
	}
	key, list := "matrices", d.Matrices
	if set[0] == "rotations" {
		key, list = "rotations", d.Rotations
	}
	t, err := fromMatrices(d.Name, key, list)
	if err != nil {
		return nil, err
	}
	if d.Space == "" {
		d.Space = "matrix"
	}
	return t.acting(d.Space, d.Rows)
}

func squareOf(rows [][]float64) (matrix.Square, error) {
	n := len(rows)
	if n == 0 || n > maxDim {
		return matrix.Square{}, fmt.Errorf("%d rows: expected 1 to %d", n, maxDim)
	}
	m := matrix.New(n)
	for i, r := range rows {
		if len(r) != n {
			return m, fmt.Errorf("row %d has %d numbers, expected %d", i+1, len(r), n)
		}
		for j, v := range r {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return m, fmt.Errorf("row %d, column %d is %g: expected a finite number", i+1, j+1, v)
			}
			m.V[i*n+j] = v
		}
	}
	return m, nil
}

func (d *tableDefinition) build(name string) (*table, error) {
	number := map[string]int{}
	for i, l := range d.Elements {
		number[l] = i
	}
	mul := make([][]int, len(d.Products))
	for i, row := range d.Products {
		for _, l := range row {
			at, ok := number[l]
			if !ok {
				at = -1
			}
			mul[i] = append(mul[i], at)
		}
	}
	t, err := newTable(name, slices.Clone(d.Elements), mul)
	if err != nil {
		return nil, err
	}
	for _, rep := range slices.Sorted(maps.Keys(d.Representations)) {
		list := d.Representations[rep]
		if err := t.complete("representations", rep, slices.Sorted(maps.Keys(list))); err != nil {
			return nil, err
		}
		ms := make([]matrix.Square, len(t.labels))
		for i, l := range t.labels {
			m, err := squareOf(list[l])
			if err != nil {
				return nil, fmt.Errorf("representations: %s: %s: %w", rep, l, err)
			}
			if i > 0 && m.N != ms[0].N {
				return nil, fmt.Errorf("representations: %s: %s has %d rows, %s %d", rep, l, m.N, t.labels[0], ms[0].N)
			}
			ms[i] = m
		}
		if err := t.represent(rep, ms[0].N, ms); err != nil {
			return nil, err
		}
	}
	for _, rep := range slices.Sorted(maps.Keys(d.Permutations)) {
		list := d.Permutations[rep]
		if _, ok := t.reps[rep]; ok {
			return nil, fmt.Errorf("permutations: %s is a name of representations, too", rep)
		}
		if err := t.complete("permutations", rep, slices.Sorted(maps.Keys(list))); err != nil {
			return nil, err
		}
		ms := make([]matrix.Square, len(t.labels))
		n := len(list[t.labels[0]])
		if n == 0 || n > maxDim {
			return nil, fmt.Errorf("permutations: %s has %d rows: expected 1 to %d", rep, n, maxDim)
		}
		for i, l := range t.labels {
			ms[i] = matrix.New(n)
			if len(list[l]) != n {
				return nil, fmt.Errorf("permutations: %s: %s has %d places, %s %d", rep, l, len(list[l]), t.labels[0],
					n)
			}
			used := make([]bool, n)
			for from, to := range list[l] {
				if to < 0 || to >= n || used[to] {
					return nil, fmt.Errorf(
						"permutations: %s: %s is %v, which is no permutation: expected every place from 0 to %d once",
						rep, l, list[l], n-1)
				}
				used[to] = true
				ms[i].V[to*n+from] = 1
			}
		}
		if err := t.represent(rep, n, ms); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// complete refuses lists that do not have every element.
func (t *table) complete(key, rep string, have []string) error {
	for _, l := range have {
		if !slices.Contains(t.labels, l) {
			return fmt.Errorf("%s: %s: %s is no element", key, rep, l)
		}
	}
	for _, l := range t.labels {
		if !slices.Contains(have, l) {
			return fmt.Errorf("%s: %s: element %s is missing", key, rep, l)
		}
	}
	return nil
}

// fromMatrices is the finite group that matrices generate.
func fromMatrices(name, key string, list [][][]float64) (*table, error) {
	if len(list) == 0 || len(list) > MaxTable {
		return nil, fmt.Errorf("%s: %d matrices: expected 1 to %d", key, len(list), MaxTable)
	}
	var gens []matrix.Square
	var labels []string
	for i, rows := range list {
		m, err := squareOf(rows)
		if err != nil {
			return nil, fmt.Errorf("%s: matrix %d: %w", key, i+1, err)
		}
		if i > 0 && m.N != gens[0].N {
			return nil, fmt.Errorf("%s: matrix %d has %d rows, the first %d", key, i+1, m.N, gens[0].N)
		}
		if m.N > 16 {
			return nil, fmt.Errorf(
				"%s: matrix %d has %d rows: expected 16 at most; give larger ones as representations of a table", key,
				i+1, m.N)
		}
		det := m.Det()
		if key == "rotations" {
			if err := rotation(m, det); err != nil {
				return nil, fmt.Errorf("%s: matrix %d is no rotation: %w", key, i+1, err)
			}
		}
		if !(math.Abs(det) > 1e-9) {
			return nil, fmt.Errorf("%s: matrix %d has the determinant %g: expected an invertible matrix", key, i+1, det)
		}
		gens = append(gens, tidy(m))
		labels = append(labels, fmt.Sprintf("m%d", i+1))
	}
	t, err := generated(name, "matrix", gens[0].N, gens, labels)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return t, nil
}

// rotation says why a matrix is none, naming the row.
func rotation(m matrix.Square, det float64) error {
	n := m.N
	for i := range n {
		for j := range i + 1 {
			var s float64
			for k := range n {
				s += float64(m.V[i*n+k] * m.V[j*n+k])
			}
			switch {
			case i == j && !(math.Abs(s-1) <= 1e-5):
				return fmt.Errorf("row %d has the length %.6g, expected 1: the matrix is scaled or its numbers have "+
					"too few digits", i+1, math.Sqrt(s))
			case i != j && !(math.Abs(s) <= 1e-5):
				return fmt.Errorf("rows %d and %d have the product %.3g, expected 0: they are not at right angles", j+1,
					i+1, s)
			}
		}
	}
	if !(det > 0) {
		return fmt.Errorf("its determinant is %.6g, so its rows are left-handed, a mirror image: change the sign of "+
			"row %d, or list it under matrices", det, n)
	}
	return nil
}

package discover

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// family is a named set of motions of the input that a model is asked about.
type family struct {
	// name is short, such as "C4"; doc says in words what moves.
	name, doc string
	group     group.Group
	// elements are what is visited beside the identity.
	elements []group.Element
	// whole says that the mean over the identity and the elements is that over all of the group, not over a sample of
	// it.
	whole bool
	// subset says that the group has further elements that are not meant.
	subset bool
	steps  []step
	// in is how the input is declared for the group, and options how pictures and signals move.
	in      space.Spec
	options action.Options
	// of are the families that have to hold before this one, which is made of them, is asked.
	of []string
	// implies are families that hold if this one does.
	implies []string
	// definition is the group in the words of a file, "" for those with a name.
	definition string
	// types are what fields of the input are declared as beyond the study.
	types map[string]string
}

// step is a small motion along a generator: forth and back by the size, or the motion of an element that has no smaller
// one.
type step struct {
	// Name is that of the generator, and unit what the level is per.
	name, unit string
	size       float64
	forth      group.Element
	// back is nil where there is no half way.
	back group.Element
	// element is the index among the elements of the family, -1 for none of them
	element int
}

// source is what makes families for one kind of input.
type source struct {
	name string
	// families are those for a leaf of the input; none where it is not of the kind.
	families func(c *catalogue, leaf space.Spec) ([]family, error)
}

// sources are all kinds of input that the scan knows families of.
func sources() []source { return []source{pictures, volumes, solids, flats, sets, vectors, signals} }

// catalogue makes the families for a subject.
type catalogue struct {
	s *Subject
	// rows is how many nodes the largest sample has.
	rows int
	r    *rand.Rand
}

// families are those of all leaves of the input, each once.
func (c *catalogue) families() ([]family, error) {
	var all []family
	for _, leaf := range c.s.In.Leaves() {
		for _, from := range sources() {
			made, err := from.families(c, leaf)
			if err != nil {
				return nil, fmt.Errorf("families of %s: %w", from.name, err)
			}
			for _, f := range made {
				if !slices.ContainsFunc(all, func(o family) bool { return o.name == f.name }) {
					all = append(all, f)
				}
			}
		}
	}
	return all, nil
}

// named is the family of a group of the catalogue with all elements, of finite groups, or those given.
func (c *catalogue) named(name, doc string, elements ...group.Element) (family, error) {
	g, err := catalog.Parse(name, c.s.Groups...)
	if err != nil {
		return family{}, err
	}
	return c.of(g, doc, elements...)
}

func (c *catalogue) of(g group.Group, doc string, elements ...group.Element) (family, error) {
	f := family{name: g.Name(), doc: doc, group: g, in: c.s.In, options: c.s.Moving, elements: elements}
	if fin, ok := g.(group.Finite); ok && elements == nil {
		f.elements, f.whole = fin.Elements()[1:], true
	}
	for i, e := range f.elements {
		v, err := group.Validate(g, e)
		if err != nil {
			return f, fmt.Errorf("%s: %w", g.Name(), err)
		}
		f.elements[i] = v
	}
	return f, nil
}

// single gives a family of elements without generators the step that the first of them is.
func (f family) single(unit string) family {
	f.steps = []step{{name: f.doc, unit: unit, size: 1, forth: f.elements[0], element: 0}}
	return f
}

// along gives a family the steps of its generators, of the given size in their units; 0 leaves out what has a unit that
// is not named.
func (f family) along(size map[string]float64) family {
	l, ok := f.group.(group.Lie)
	if !ok {
		return f
	}
	gens := l.Generators()
	for i, x := range gens {
		h := size[x.Unit]
		if h == 0 {
			continue
		}
		at := func(t float64) group.Element {
			all := make([]float64, len(gens))
			all[i] = t
			return l.Exp(all)
		}
		f.steps = append(f.steps, step{
			name: x.Name, unit: x.Unit, size: h, forth: at(h), back: at(-h), element: -1,
		})
	}
	return f
}

// retyped declares a field of the input anew.
func (f family) retyped(field, typ string) family {
	f.in.Fields = slices.Clone(f.in.Fields)
	for i := range f.in.Fields {
		if f.in.Fields[i].Name == field {
			f.in.Fields[i].Type = typ
		} else {
			f.in.Fields[i].Type = space.TypeUnchanged
		}
	}
	if !f.in.IsRecord() {
		f.in.Type = typ
	}
	f.types = map[string]string{field: typ}
	return f
}

// lay is the claim of the family in a study.
func (f family) lay(s *job.Study) {
	g := job.Group{
		Name: f.groupName(), Definition: f.definition, Resample: s.Group.Resample, Border: s.Group.Border,
		Mask: s.Group.Mask, Oriented: s.Group.Oriented, Window: s.Group.Window,
	}
	if b := string(f.options.Border); b == string(action.Circular) {
		g.Border = b
	}
	if f.subset {
		g.Orbit.Values = [][]float64{f.group.Identity()}
		for _, e := range f.elements {
			g.Orbit.Values = append(g.Orbit.Values, e)
		}
	}
	s.Group = g
	if len(f.types) == 0 {
		return
	}
	s.Input.Fields = slices.Clone(s.Input.Fields)
	for i, p := range s.Input.Fields {
		t, ok := f.types[p.Name]
		if !ok && p.Port != "" {
			t, ok = f.types[p.Port] // the model may call it otherwise than the data do
		}
		for _, sole := range f.types {
			if !f.in.IsRecord() && len(s.Input.Fields) == 1 { // whatever it is called
				t, ok = sole, true
			}
		}
		s.Input.Fields[i].Type = space.TypeUnchanged
		if ok {
			s.Input.Fields[i].Type = t
		}
	}
	for name, t := range f.types {
		if len(s.Input.Fields) == 0 { // the field was not declared, for there is one alone
			s.Input.Fields = []job.Port{{Name: name, Type: t}}
		}
	}
}

// rowsOf finds S with a number, alone or as a factor.
var rowsOf = regexp.MustCompile(`(^|[x×*]\s*)S\(\d+\)(\s*[x×*]|\s*$)`)

// groupName is the name of the group in a study. S permutes as many rows as the largest sample has, and the largest of
// those to confirm may have others than the largest that was looked at.
func (f family) groupName() string { return rowsOf.ReplaceAllString(f.group.Name(), "${1}S${2}") }

// matrixFamily is a family of matrices that no group of the catalogue has: a definition as users write it.
func (c *catalogue) matrixFamily(name, doc, field string, of func() (group.Group, string, error)) (family, error) {
	g, text, err := of()
	if err != nil {
		return family{}, err
	}
	f, err := c.of(g, doc)
	if err != nil {
		return f, err
	}
	f.name, f.definition = name, text
	return f.retyped(field, space.TypeVectors), nil
}

// finiteText defines the group that one matrix generates.
func finiteText(name string, m [][]float64) string {
	return fmt.Sprintf("name: %s\nmatrices:\n  - %s\n", name, matrixText(m))
}

// lieText defines the group exp(t·m), in rad or without unit.
func lieText(name, generator, unit string, reach float64, m [][]float64) string {
	if unit != "" {
		unit = ", unit: " + unit
	}
	r := strconv.FormatFloat(reach, 'g', -1, 64)
	return fmt.Sprintf("name: %s\nlie:\n  generators:\n    - {name: %s%s, range: [-%s, %s], matrix: %s}\n", name,
		generator,
		unit, r, r, matrixText(m))
}

func matrixText(m [][]float64) string {
	var rows []string
	for _, r := range m {
		var cells []string
		for _, x := range r {
			cells = append(cells, strconv.FormatFloat(x, 'g', -1, 64))
		}
		rows = append(rows, "["+strings.Join(cells, ", ")+"]")
	}
	return "[" + strings.Join(rows, ", ") + "]"
}

// unit is the identity matrix.
func unit(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		m[i][i] = 1
	}
	return m
}

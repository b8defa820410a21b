package slice

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Columns are what a rule looks at: lists with one entry per sample. A list that is nil is one that the run does not
// have. Only the lists that a rule names are asked for, once for each time that it names them.
type Columns struct {
	// samples
	N int
	// names; the letters A to F stand for them in this order
	Models []string
	// names of the classes
	Classes []string
	// class of each sample, negative without one
	Label []int32
	// names of the samples
	ID []string
	// Tags of the samples; a sample without any has none of them.
	Tags [][]string
	// Predicted is the class that a model predicts at the identity, negative for none.
	Predicted func(model int) ([]int32, error)
	// Stats is a statistic of a model's curves, NaN for none: Mean, Min, Max, Spread or Identity.
	Stats func(f Field, model int) ([]float32, error)
}

// Select is the samples for which the rule holds. What a sample does not have meets no comparison. The error is a
// [*RuleError], or one of the columns.
func (r *Rule) Select(c *Columns) (Bits, error) {
	holds, err := c.compile(&r.root)
	if err != nil {
		return Bits{}, err
	}
	b := NewBits(c.N)
	for i := range c.N {
		if holds(i) {
			b.Add(i)
		}
	}
	return b, nil
}

type test func(i int) bool

func (c *Columns) compile(n *node) (test, error) {
	switch n.op {
	case "and", "or":
		all := make([]test, len(n.list))
		for k := range n.list {
			var err error
			if all[k], err = c.compile(&n.list[k]); err != nil {
				return nil, err
			}
		}
		return join(all, n.op == "and"), nil
	case "not":
		t, err := c.compile(&n.list[0])
		if err != nil {
			return nil, err
		}
		return func(i int) bool { return !t(i) }, nil
	case "in":
		return c.in(n)
	}
	all := make([]test, len(n.ops))
	for k, o := range n.ops {
		var err error
		if all[k], err = c.compare(n.sides[k], o.op, n.sides[k+1], o.at); err != nil {
			return nil, err
		}
	}
	return join(all, true), nil
}

// join holds where all hold, or any.
func join(all []test, every bool) test {
	if len(all) == 1 {
		return all[0]
	}
	return func(i int) bool {
		for _, t := range all {
			if t(i) != every {
				return !every
			}
		}
		return every
	}
}

func (c *Columns) in(n *node) (test, error) {
	left := n.sides[0]
	equal := make([]test, 0, len(n.sides)-1)
	for _, item := range n.sides[1:] {
		t, err := c.compare(left, "=", item, n.at)
		if err != nil {
			return nil, err
		}
		equal = append(equal, t)
	}
	anyOf := join(equal, false)
	if !n.not {
		return anyOf, nil
	}
	if f := alone(left); f != nil && (f.field == ID || f.field == Tag) {
		return func(i int) bool { return !anyOf(i) }, nil
	}
	side, err := c.numeric(left)
	if err != nil {
		return nil, err
	}
	return func(i int) bool { return !math.IsNaN(side.at(i)) && !anyOf(i) }, nil
}

// alone is the field of a side that is nothing else.
func alone(s sum) *term {
	if len(s) == 1 && s[0].kind == 'f' && !s[0].minus {
		return &s[0]
	}
	return nil
}

// side is one side of a comparison: a number per sample, NaN for what is missing.
type side struct {
	class bool
	// a statistic is in it, which is a float32
	rough bool
	at    func(i int) float64
}

func (c *Columns) compare(left sum, op string, right sum, at int) (test, error) {
	if f := alone(left); f != nil && (f.field == ID || f.field == Tag) {
		return c.texts(f, op, right, at)
	}
	l, err := c.numeric(left)
	if err != nil {
		return nil, err
	}
	if op == "~" {
		return nil, mistake(CodeType, at, "~ looks for a part of an id or a tag, and of nothing else")
	}
	if r := right[0]; len(right) == 1 && r.kind == 't' && !r.minus {
		return c.named(l, op, r, at)
	}
	r, err := c.numeric(right)
	if err != nil {
		return nil, err
	}
	x, y := l.at, r.at
	if l.rough || r.rough {
		x = func(i int) float64 { return float64(float32(l.at(i))) }
		y = func(i int) float64 { return float64(float32(r.at(i))) }
	}
	switch op {
	case "<":
		return func(i int) bool { return x(i) < y(i) }, nil
	case "<=":
		return func(i int) bool { return x(i) <= y(i) }, nil
	case ">":
		return func(i int) bool { return x(i) > y(i) }, nil
	case ">=":
		return func(i int) bool { return x(i) >= y(i) }, nil
	case "=":
		return func(i int) bool { return x(i) == y(i) }, nil
	}
	return func(i int) bool { a, b := x(i), y(i); return a < b || a > b }, nil // not NaN
}

// named compares classes with the name of one.
func (c *Columns) named(l side, op string, r term, at int) (test, error) {
	if !l.class {
		return nil, mistake(CodeType, r.at, "a text can be compared with id, tag, label and predicted only")
	}
	if op != "=" && op != "!=" {
		return nil, mistake(CodeType, at, "names of classes have no order: %s takes their numbers", op)
	}
	k := slices.Index(c.Classes, r.text)
	if k < 0 {
		return nil, mistake(CodeClass, r.at, "there is no class “%s”, only %s", r.text, quoted(c.Classes))
	}
	want := float64(k)
	if op == "=" {
		return func(i int) bool { return l.at(i) == want }, nil
	}
	return func(i int) bool { v := l.at(i); return v >= 0 && v != want }, nil
}

func quoted(names []string) string {
	const most = 12
	out := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		out = append(out, "“"+n+"”")
	}
	return cmp.Or(strings.Join(out, ", "), "numbers")
}

func (c *Columns) texts(f *term, op string, right sum, at int) (test, error) {
	t := right[0]
	if len(right) != 1 || t.kind != 't' || t.minus {
		return nil, mistake(CodeType, t.at, `%s can be compared with a text only: %s = "..."`, f.field, f.field)
	}
	if op != "=" && op != "!=" && op != "~" {
		return nil, mistake(CodeType, at, "%s has no order: =, != and ~ are possible", f.field)
	}
	want := t.text
	if f.field == ID {
		if c.ID == nil {
			return nil, c.missing(f, "ids")
		}
		switch op {
		case "~":
			return func(i int) bool { return strings.Contains(c.ID[i], want) }, nil
		case "=":
			return func(i int) bool { return c.ID[i] == want }, nil
		}
		return func(i int) bool { return c.ID[i] != want }, nil
	}
	if c.Tags == nil {
		return nil, c.missing(f, "tags")
	}
	switch op {
	case "~":
		return func(i int) bool {
			return slices.ContainsFunc(c.Tags[i], func(s string) bool { return strings.Contains(s, want) })
		}, nil
	case "=":
		return func(i int) bool { return slices.Contains(c.Tags[i], want) }, nil
	}
	return func(i int) bool { return !slices.Contains(c.Tags[i], want) }, nil
}

func (c *Columns) missing(f *term, what string) error {
	return mistake(CodeMissing, f.place, "this run has no %s", what)
}

func (c *Columns) numeric(s sum) (side, error) {
	if f := alone(s); f != nil {
		return c.field(f)
	}
	parts := make([]side, len(s))
	o := side{}
	for k := range s {
		t := &s[k]
		switch t.kind {
		case 't':
			return side{}, mistake(CodeType, t.at, "a text stands where a number is needed")
		case 'n':
			v := t.number
			parts[k] = side{at: func(int) float64 { return v }}
		default:
			var err error
			if parts[k], err = c.field(t); err != nil {
				return side{}, err
			}
		}
		if parts[k].class {
			return side{}, mistake(CodeType, t.at, "classes are names: they cannot be added or subtracted")
		}
		if t.minus {
			plus := parts[k].at
			parts[k].at = func(i int) float64 { return -plus(i) }
		}
		o.rough = o.rough || parts[k].rough
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	o.at = func(i int) float64 {
		x := 0.0
		for k := range parts {
			x += parts[k].at(i)
		}
		return x
	}
	return o, nil
}

func (c *Columns) field(f *term) (side, error) {
	switch f.field { //nolint:exhaustive // the others are statistics, below
	case Index:
		return side{at: func(i int) float64 { return float64(i) }}, nil
	case Label:
		if c.Label == nil {
			return side{}, c.missing(f, "labels")
		}
		return side{class: true, at: classes(c.Label)}, nil
	case Predicted:
		m, err := c.model(f)
		if err != nil {
			return side{}, err
		}
		var column []int32
		if c.Predicted != nil {
			if column, err = c.Predicted(m); err != nil {
				return side{}, err
			}
		}
		if column == nil {
			return side{}, c.missing(f, "predicted classes")
		}
		return side{class: true, at: classes(column)}, nil
	case ID, Tag:
		return side{}, mistake(CodeType, f.at, "%s is a text, and a number is needed", f.field)
	}
	m, err := c.model(f)
	if err != nil {
		return side{}, err
	}
	var column []float32
	if c.Stats != nil {
		if column, err = c.Stats(f.field, m); err != nil {
			return side{}, err
		}
	}
	if column == nil {
		return side{}, c.missing(f, string(f.field)+" of this model")
	}
	return side{rough: true, at: func(i int) float64 { return float64(column[i]) }}, nil
}

// classes are numbers of classes, NaN for none.
func classes(column []int32) func(i int) float64 {
	return func(i int) float64 {
		if v := column[i]; v >= 0 {
			return float64(v)
		}
		return math.NaN()
	}
}

// model is the index of the model that a field means.
func (c *Columns) model(f *term) (int, error) {
	if f.named == 0 && len(c.Models) == 1 {
		return 0, nil
	}
	var k int
	switch f.named {
	case 0:
		return 0, mistake(CodeModel, f.place, "%s of which model? Write %s A, or its name in quotes; there are %s",
			f.field, f.field, c.list())
	case 'l':
		k = int(f.model[0] - 'A')
	default:
		k = slices.Index(c.Models, f.model)
	}
	if k < 0 || k >= len(c.Models) {
		return 0, mistake(CodeModel, f.place, "there is no model %s, only %s", f.model, c.list())
	}
	return k, nil
}

func (c *Columns) list() string {
	out := make([]string, len(c.Models))
	for k, m := range c.Models {
		if out[k] = "“" + m + "”"; k < 6 {
			out[k] = string(rune('A'+k)) + " " + out[k]
		}
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

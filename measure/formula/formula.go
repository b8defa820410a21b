// Package formula makes metrics that users define by an expression over named arrays: the prediction, what it is
// compared with, the coordinates of the element.
package formula

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"nero/data/space"
	"nero/measure/metric"
)

// Formula is a metric as a study defines it.
type Formula struct {
	Name, Expression string
	// of values; "" for pure numbers
	Unit string
	// higher or lower
	Better string
	// smallest and largest value; none for any number
	Range []float64
	// Against is target, self or consensus: what reference stands for; "" for target, and for self where an expression
	// names neither reference nor label.
	Against string
	Doc     string
}

// variable is an array that expressions may name.
type variable struct {
	name, doc string
	of        func(c metric.Case) (Array, bool)
}

// variables are what there is to name.
func variables() []variable {
	return []variable{
		{"prediction", "the answer at the element", func(c metric.Case) (Array, bool) { return arrayOf(c.At) }},
		{"reference", "what it is compared with, moved by the element", func(c metric.Case) (Array, bool) {
			return arrayOf(c.Truth)
		}},
		{"back", "the answer moved back to the frame of the identity", func(c metric.Case) (Array, bool) {
			return arrayOf(c.Got)
		}},
		{"identity", "the answer at the identity", func(c metric.Case) (Array, bool) { return arrayOf(c.Want) }},
		{"logits", "the model's own numbers for the classes, before any softmax; known of classifiers alone", logits},
		{"label", "class of the " +
			"sample", func(c metric.Case) (Array, bool) { return One(float64(c.Label)), c.Label >= 0 }},
		{"element", "coordinates of the element", func(c metric.Case) (Array, bool) {
			return Array{Shape: []int{len(c.Element)}, Val: c.Element}, len(c.Element) > 0
		}},
	}
}

// logits are the scores of an answer as the model gave them.
func logits(c metric.Case) (Array, bool) {
	s, ok := c.At.(interface{ Output() []float64 })
	if !ok {
		return Array{}, false
	}
	v := s.Output()
	return Array{Shape: []int{len(v)}, Val: v}, len(v) > 0
}

// Names lists the arrays that may be named.
func Names() []string { return names() }

// Doc says what the array of a name is; "" for a name of nothing.
func Doc(name string) string {
	for _, v := range variables() {
		if v.name == name {
			return v.doc
		}
	}
	return ""
}

// Of is the array of a name, false where the case has none.
func Of(name string, c metric.Case) (Array, bool) {
	for _, v := range variables() {
		if v.name == name {
			return v.of(c)
		}
	}
	return Array{}, false
}

// arrayOf is a value as an array: its numbers in the shape that it has.
func arrayOf(v space.Value) (Array, bool) {
	if v == nil {
		return Array{}, false
	}
	a := Array{Shape: v.Dims(), Val: v.Numbers()}
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	if n != len(a.Val) {
		a.Shape = []int{len(a.Val)}
	}
	return a, len(a.Val) > 0
}

// names lists the variables.
func names() []string {
	var all []string
	for _, v := range variables() {
		all = append(all, v.name)
	}
	return all
}

// errNothing says that a case has not what the expression names.
var errNothing = errors.New("is not known here")

// Program is an expression, read.
type Program struct{ root *node }

// Compile reads an expression. The error is an [Error].
func Compile(text string) (*Program, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	return &Program{n}, n.known()
}

// known refuses names that stand for nothing.
func (n *node) known() error {
	if n.name != "" && !slices.Contains(names(), n.name) {
		return &Error{n.at + 1, fmt.Sprintf("there is nothing called %s%s; there are %s", n.name, near(n.name, names()),
			strings.Join(names(), ", "))}
	}
	for _, a := range n.args {
		if err := a.known(); err != nil {
			return err
		}
	}
	return nil
}

// names tells whether an expression names something.
func (n *node) names(name string) bool {
	return n.name == name || slices.ContainsFunc(n.args, func(a *node) bool { return a.names(name) })
}

// Value computes the expression of a case. The error is an [Error]; it wraps nothing else.
func (p *Program) Value(c metric.Case) (float64, error) {
	held := map[string]Array{}
	a, err := p.root.value(c, held)
	if err != nil {
		return math.NaN(), err
	}
	if len(a.Val) != 1 {
		return math.NaN(), &Error{1, fmt.Sprintf("the expression is an array of shape %v, want one number: put "+
			"mean(), "+
			"sum() or max() around it", a.Shape)}
	}
	return a.Val[0], nil
}

func (n *node) value(c metric.Case, held map[string]Array) (Array, error) {
	switch {
	case n.name != "":
		if a, ok := held[n.name]; ok {
			return a, nil
		}
		i := slices.IndexFunc(variables(), func(v variable) bool { return v.name == n.name })
		a, ok := variables()[i].of(c)
		if !ok {
			return a, &Error{n.at + 1, fmt.Sprintf("%s %v: %s", n.name, errNothing, variables()[i].doc)}
		}
		held[n.name] = a
		return a, nil
	case n.of == nil:
		return One(n.number), nil
	}
	args := make([]Array, len(n.args))
	for i, a := range n.args {
		var err error
		if args[i], err = a.value(c, held); err != nil {
			return Array{}, err
		}
	}
	out, err := n.of.apply(args)
	if err != nil {
		return out, &Error{n.at + 1, err.Error()}
	}
	return out, nil
}

// usable is how a metric may be called.
var usable = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// FieldError is what is wrong with one key of a formula.
type FieldError struct {
	Key     string
	Message string
}

// Error names the key.
func (e *FieldError) Error() string { return e.Key + ": " + e.Message }

// Metric makes the metric of a formula. The error is a [FieldError].
func (f Formula) Metric(known metric.List) (*metric.Metric, error) {
	if !usable.MatchString(f.Name) {
		return nil, &FieldError{"name", fmt.Sprintf("%q; expected small letters, digits and _, a letter first", f.Name)}
	}
	if _, err := known.Find(f.Name); err == nil {
		return nil, &FieldError{"name", f.Name + " is a metric of nero already; choose another name"}
	}
	p, err := Compile(f.Expression)
	if err != nil {
		return nil, &FieldError{"expression", err.Error()}
	}
	in := [2]float64{math.Inf(-1), math.Inf(1)}
	if len(f.Range) == 2 {
		if in = [2]float64(f.Range); !(in[0] < in[1]) {
			return nil, &FieldError{"range", fmt.Sprintf("%v; expected [smallest, largest]", f.Range)}
		}
	}
	ref := metric.Reference(f.Against)
	if ref == "" && (p.root.names("reference") || p.root.names("label")) {
		ref = metric.Target
	} else if ref == "" {
		ref = metric.Self // nothing of the data is asked for
	}
	doc := f.Doc
	if doc == "" {
		doc = f.Expression
	}
	return &metric.Metric{
		Name: f.Name, Doc: doc, Unit: f.Unit, Range: in, Better: metric.Direction(f.Better), Ref: ref, Movable: true,
		Any: true,
		Try: p.Value,
		Measure: func(c metric.Case) float64 {
			v, err := p.Value(c)
			if err != nil || !(v >= in[0] && v <= in[1]) {
				return math.NaN() // counted, and told with sample and element
			}
			return v
		},
	}, nil
}

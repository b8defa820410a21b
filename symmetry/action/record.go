package action

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/symmetry/group"
)

// Record is the action of a group on several values that move together; see [NewRecord].
type Record struct {
	group  group.Group
	specs  []space.Spec
	fields []Action
	// fields that permute must have one length
	nodes bool
	// of the chart
	axes int
}

// NewRecord is the action on a record, field by field: positions and charges, edges and their vectors, gravity, or the
// energy and the forces that a model returns. Every field of s.Fields has an action of its own by its kind and type,
// that of [Rules]; a field of type unchanged stays as it is, whatever its kind, and one of which nobody says how it
// moves is refused, because leaving it where it is would be a claim that nobody made. The group must move one field at
// least, unless all are unchanged.
//
// Values have the fields of s in their order. Fields per node, edges and pairs must speak of the same number of nodes,
// and fields per edge of as many edges as there are.
func NewRecord(g group.Group, s space.Spec, o Options) (*Record, error) {
	return newRecord(g, s, o, false)
}

// newRecord makes the action on inputs and outputs, or on targets.
func newRecord(g group.Group, s space.Spec, o Options, target bool) (*Record, error) {
	if len(s.Fields) == 0 {
		return nil, fmt.Errorf("port %q: a record without fields", s.Name)
	}
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	a := &Record{group: g, specs: slices.Clone(s.Fields), nodes: len(m.rows) > 0, axes: m.axes}
	var idle error // why a field does not move
	moved := false
	for i, f := range a.specs {
		if slices.ContainsFunc(a.specs[:i], func(x space.Spec) bool { return x.Name == f.Name }) {
			return nil, fmt.Errorf("port %q: two fields are called %q", s.Name, f.Name)
		}
		act, err := fieldAction(g, m, f, o, target, true)
		moved = moved || err == nil && f.Type != space.TypeUnchanged && (f.Kind != space.KindLinks || a.nodes)
		if errors.Is(err, errors.ErrUnsupported) {
			why := err
			if act, err = fieldAction(g, m, f, o, target, false); err == nil && idle == nil {
				idle = fmt.Errorf("field %q: %w", f.Name, why)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		a.fields = append(a.fields, act)
	}
	if !moved && idle != nil {
		return nil, idle
	}
	return a, nil
}

// fieldAction is the action on one field of a record. alone asks that the group moves it.
func fieldAction(g group.Group, m *moves, f space.Spec, o Options, target, alone bool) (Action, error) {
	switch {
	case f.Kind == space.KindRows:
		return some(newRows(m, f, o, alone))
	case f.Kind == space.KindLinks:
		return some(newLinks(m, f))
	case f.Kind == space.KindPairs:
		return some(newPairs(m, f, o, alone))
	case f.Kind == space.KindSignal:
		return some(newSignal(m, f, o, alone))
	case f.Kind == space.KindRecord:
		return nil, errors.New("a record within a record: give its fields names of their own")
	case f.Type == space.TypeUnchanged:
		return Trivial{G: g}, nil
	case target:
		return NewTarget(g, f, o)
	}
	return Rules().For(g, f, o)
}

// Group is the group that acts.
func (a *Record) Group() group.Group { return a.group }

// Fields are the actions on the fields, in the order of the spec.
func (a *Record) Fields() []Action { return slices.Clone(a.fields) }

// Field is the action on the field of that name, nil if there is none.
func (a *Record) Field(name string) Action {
	for i, s := range a.specs {
		if s.Name == name {
			return a.fields[i]
		}
	}
	return nil
}

// Exact tells the elements that are exact on every field.
func (a *Record) Exact(g group.Element) bool {
	for _, f := range a.fields {
		if !Exact(f, g) {
			return false
		}
	}
	return true
}

// Apply returns the moved record.
func (a *Record) Apply(g group.Element, v space.Value) (space.Value, error) {
	x, err := a.as(v)
	if err != nil {
		return nil, err
	}
	if err := finiteElement(a.group, a.axes, g); err != nil {
		return nil, err
	}
	to := &space.Record{Names: slices.Clone(x.Names), Values: make([]space.Value, len(x.Values))}
	for i, f := range a.fields {
		if to.Values[i], err = f.Apply(g, x.Values[i]); err != nil {
			return nil, fmt.Errorf("field %q: %w", x.Names[i], err)
		}
		if _, same := f.(Trivial); same { // the caller owns what it gets
			to.Values[i] = x.Values[i].Clone()
		}
	}
	return to, nil
}

// Prepare prepares every field.
func (a *Record) Prepare(g group.Element, v space.Value) (Mover, error) {
	x, err := a.as(v)
	if err != nil {
		return nil, err
	}
	if err := finiteElement(a.group, a.axes, g); err != nil {
		return nil, err
	}
	m := &recordMover{of: a, moves: make([]Mover, len(a.fields))}
	for i, f := range a.fields {
		if p, ok := f.(Preparer); ok {
			if m.moves[i], err = p.Prepare(g, x.Values[i]); err != nil {
				return nil, fmt.Errorf("field %q: %w", x.Names[i], err)
			}
			continue
		}
		m.moves[i] = slowMover{f, g}
	}
	return m, nil
}

// as checks that v has the fields of the spec, and that they speak of the same nodes and edges.
func (a *Record) as(v space.Value) (*space.Record, error) {
	x, ok := v.(*space.Record)
	if !ok || x == nil {
		return nil, fmt.Errorf("want a record, got %s", describe(v))
	}
	if len(x.Names) != len(x.Values) || len(x.Names) != len(a.specs) {
		return nil, fmt.Errorf("the record has %d fields, want %d: %v", len(x.Values), len(a.specs), a.names())
	}
	nodes, edges := map[int]*common{}, common{what: "edges"}
	of := func(set int) *common {
		if nodes[set] == nil {
			nodes[set] = &common{what: "nodes", set: true}
		}
		return nodes[set]
	}
	for i, s := range a.specs {
		if x.Names[i] != s.Name {
			return nil, fmt.Errorf("field %d of the record is %q, want %q: the fields are %v", i, x.Names[i], s.Name,
				a.names())
		}
		var err error
		switch f := x.Values[i].(type) {
		case *space.Rows:
			if f == nil {
				break
			}
			switch {
			case s.Per == space.PerEdge:
				err = edges.see(s.Name, f.N)
			case a.fields[i] != nil && permutes(a.fields[i]):
				err = of(s.Set).see(s.Name, f.N)
			}
			if err == nil && s.Type == space.TypeIncidence {
				err = of(s.Of).see(s.Name, f.W)
			}
		case *space.Links:
			if f != nil {
				err = errors.Join(of(s.Set).see(s.Name, f.Nodes), edges.see(s.Name, len(f.From)))
			}
		case *space.Pairs:
			if f != nil && a.nodes {
				err = of(s.Set).see(s.Name, f.N)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return x, nil
}

func permutes(a Action) bool {
	r, ok := a.(*Rows)
	return ok && r.nodes
}

func (a *Record) names() []string {
	o := make([]string, len(a.specs))
	for i, s := range a.specs {
		o[i] = s.Name
	}
	return o
}

// common is a length that several fields have in common.
type common struct {
	what, from string
	n          int
	// of nodes, of which there may be several sets
	set bool
}

func (l *common) see(name string, n int) error {
	if l.from == "" {
		l.from, l.n = name, n
		return nil
	}
	if n != l.n {
		own := ""
		if l.set {
			own = ", and rows of a set of their own, which another factor permutes, set: NAME"
		}
		return fmt.Errorf("field %q has %d %s and field %q has %d: the fields of one record speak of the same ones; "+
			"rows of edges say per: edge, rows of the sample per: sample%s",
			name, n, l.what, l.from, l.n, own)
	}
	return nil
}

type recordMover struct {
	of    *Record
	moves []Mover
}

// ragged is true if all fields move values of any size.
func (m *recordMover) ragged() bool {
	for _, f := range m.moves {
		if !Ragged(f) {
			return false
		}
	}
	return true
}

// Move writes the moved record.
func (m *recordMover) Move(to, from space.Value) error {
	s, err := m.of.as(from)
	if err != nil {
		return err
	}
	d, err := m.of.as(to)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	for i, f := range m.moves {
		if err := f.Move(d.Values[i], s.Values[i]); err != nil {
			return fmt.Errorf("field %q: %w", s.Names[i], err)
		}
	}
	return nil
}

// slowMover is an element of an action that cannot prepare.
type slowMover struct {
	of Action
	g  group.Element
}

// Move applies the action and copies its result.
func (m slowMover) Move(to, from space.Value) error {
	v, err := m.of.Apply(m.g, from)
	if err != nil {
		return err
	}
	return copyValue(to, v)
}

// copyValue writes v into a value of the same shape.
func copyValue(to, v space.Value) error {
	if to == nil || to.Kind() != v.Kind() || !slices.Equal(to.Dims(), v.Dims()) {
		return fmt.Errorf("the result is %s, it needs the shape %v of %s", describe(to), v.Dims(), v.Kind())
	}
	switch v := v.(type) {
	case *space.Scores:
		d, ok := to.(*space.Scores)
		if !ok {
			return fmt.Errorf("want scores, got %s", describe(to))
		}
		if shared(d.Val, v.Val) {
			return errAlias
		}
		copy(d.Val, v.Val)
		d.Raw, d.Probabilities = slices.Clone(v.Raw), v.Probabilities
	case *space.Tensor:
		if d, ok := to.(*space.Tensor); ok {
			copy(d.Val, v.Val)
		}
	case *space.Image:
		if d, ok := to.(*space.Image); ok {
			copy(d.Pix, v.Pix)
		}
	case *space.Mask:
		if d, ok := to.(*space.Mask); ok {
			copy(d.Label, v.Label)
		}
	case *space.Field:
		if d, ok := to.(*space.Field); ok {
			copy(d.Val, v.Val)
		}
	case *space.Frames:
		if d, ok := to.(*space.Frames); ok {
			for i, m := range v.Images {
				copy(d.Images[i].Pix, m.Pix)
			}
		}
	case *space.Signal:
		if d, ok := to.(*space.Signal); ok {
			copy(d.Val, v.Val)
			d.Rate = v.Rate
		}
	case *space.Boxes:
		if d, ok := to.(*space.Boxes); ok {
			*d = *v
			d.Items = slices.Clone(v.Items)
		}
	default:
		return fmt.Errorf("no copy of %s", describe(v))
	}
	return nil
}

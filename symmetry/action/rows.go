package action

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"

	"nero/data/space"
	"nero/symmetry/group"
)

// Rows is the action of a group on rows of numbers; see [NewRows].
type Rows struct {
	moves  *moves
	typing *typing
	port   string
	// rows, -1 if any
	count int
	nodes bool
	// what rows belong to, "" for nodes
	per string
	set int
	// across, of incidences, is the set of which a row has a number for each member; -1 for other rows.
	across int
}

// NewRows is the action on rows: what the numbers of a row are is said by s.Type, and whether permutations move rows by
// s.Per.
//
// Maps of space p -> A·p + t, of groups that are [group.Spatial] or [group.Planar] (points of the plane as pictures
// have them, y down), move
//
//	positions              A p + t        velocities (see [TypeVelocities])  ±A v
//	vectors                A v            pseudovectors  det(A) A v, pseudoscalars det(A) s
//	tensors                A S Aᵀ         poses          A P, quaternions q(A) q
//	boxes                  of space: center A c + t, yaw (radians, in [-π, π)) with the image of its direction; for groups that keep the axis z upright
//	boxes-quaternion, -matrix, -6d  of space, with their whole orientation R: A R, of mirrors A R diag(1, -1, 1)
//	irreps, as 4x0e+2x1o   by the real Wigner matrices in the basis of e3nn, see package irreps: degree 1 is x, y, z
//	unchanged              stay as they are, under every group
//
// A row may hold several of them, one after the other, so a cell of three lattice vectors is a row of nine numbers;
// irreps and boxes fill it. Quaternions (w, x, y, z) compose up to their sign, which is that of the turn with w not
// negative. Types that turn by rotations and reflections alone are refused under groups that stretch, quaternions also
// under reflections. A group that brings its own matrices, [group.Represented], moves types that have the name of one
// of its representations.
//
// Permutations, [group.Permuting], move whole rows that belong to nodes (the default), row i to the place that they
// say. Rows of edges keep their order, because the edges are renumbered instead, see [NewLinks]; so do rows of the
// sample. Where several factors permute, each moves the rows of one set, s.Set, in their order, and sets beyond them
// keep theirs. Numbers of an incidence are moved as the rows of the set s.Of are. Shifts of time and colors do nothing
// to rows. Products, [group.Factored], do all that their factors do.
//
// s.Shape is (N, W), -1 or an empty shape admitting any length. A port without a type is refused, and so is one that
// the group does not move unless it is unchanged; fields of a record need not all move.
func NewRows(g group.Group, s space.Spec, o Options) (*Rows, error) {
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	return newRows(m, s, o, true)
}

func newRows(m *moves, s space.Spec, _ Options, alone bool) (*Rows, error) {
	d, err := dims(s, 2)
	if err != nil {
		return nil, err
	}
	switch s.Per {
	case "", space.PerNode, space.PerEdge, space.PerSample:
	default:
		return nil, fmt.Errorf("port %q: rows per %q: say %s, %s or %s", s.Name, s.Per, space.PerNode, space.PerEdge,
			space.PerSample)
	}
	if m.flow >= 0 && s.Type != space.TypeUnchanged {
		return nil, fmt.Errorf(
			"port %q: %s moves what changes in time, and rows have none: say signal for numbers in the order of "+
				"time, or type: unchanged: %w", s.Name, m.group.Name(), errors.ErrUnsupported)
	}
	across, typed := -1, s
	if s.Type == space.TypeIncidence {
		across, typed.Type = s.Of, space.TypeUnchanged
		if err := incident(s); err != nil {
			return nil, err
		}
	}
	y, err := newTyping(m, typed, d[1], alone)
	if err != nil {
		return nil, err
	}
	return &Rows{moves: m, typing: y, port: s.Name, count: d[0], nodes: m.permutes(s.Set) &&
		(s.Per == "" || s.Per == space.PerNode), per: s.Per, set: s.Set, across: across}, nil
}

// incident refuses incidences of a set with itself.
func incident(s space.Spec) error {
	if (s.Per == "" || s.Per == space.PerNode) && s.Of == s.Set {
		return fmt.Errorf("port %q: an incidence has a row for each member of one set and a number for each of "+
			"another: say with set and of which ones; numbers for pairs of one set are of kind pairs", s.Name)
	}
	return nil
}

// Type is what the numbers of a row are, see [NewRows].
func (a *Rows) Type() string {
	if a.across >= 0 {
		return space.TypeIncidence
	}
	return a.typing.name
}

// Per is what rows belong to, as in [space.Spec].
func (a *Rows) Per() string { return cmp.Or(a.per, space.PerNode) }

// Group is the group that acts.
func (a *Rows) Group() group.Group { return a.moves.group }

// Exact tells the elements that move numbers and change signs alone: permutations, and rotations whose matrices have
// the entries 0 and ±1. Of quaternions, which compose up to their sign, it is the identity alone.
func (a *Rows) Exact(g group.Element) bool {
	m, parts, err := a.moves.at(g)
	if err != nil {
		return false
	}
	w := a.typing.width
	if w < 0 {
		w = a.typing.unit
	}
	r, err := a.typing.at(m, parts, w)
	// Products of quaternions may have the other sign.
	return err == nil && r.exact() && (r == nil || !signed(a.typing.name))
}

// Matrix is how g moves the W numbers of a row, apart from its place among the rows: W·W numbers in rows, and W numbers
// that are added. It is an error of the kind errors.ErrUnsupported for boxes, whose yaw wraps around, and for
// incidences, whose numbers move as the rows of another set do.
func (a *Rows) Matrix(g group.Element) (matrix, shift []float64, err error) {
	if a.moves.permutes(a.across) {
		return nil, nil, fmt.Errorf("incidences move as the rows of two sets do: %w", errors.ErrUnsupported)
	}
	w := a.typing.width
	if w < 0 {
		w = a.typing.unit
	}
	m, parts, err := a.moves.at(g)
	if err != nil {
		return nil, nil, err
	}
	r, err := a.typing.at(m, parts, w)
	if err != nil {
		return nil, nil, err
	}
	matrix, shift = make([]float64, w*w), make([]float64, w)
	if r == nil {
		for i := range w {
			matrix[i*w+i] = 1
		}
		return matrix, shift, nil
	}
	if r.box != nil {
		return nil, nil, fmt.Errorf("boxes of space move by no matrix: %w", errors.ErrUnsupported)
	}
	at := 0
	for _, s := range r.parts {
		for range s.count {
			for i := range s.n {
				copy(matrix[(at+i)*w+at:], s.a[i*s.n:(i+1)*s.n])
			}
			copy(shift[at:], s.t)
			at += s.n
		}
	}
	return matrix, shift, nil
}

// Apply returns the moved rows.
func (a *Rows) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	x, err := asRows(v)
	if err != nil {
		return nil, err
	}
	to := space.NewRows(x.N, x.W)
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the size of v alone. The mover also takes values of other numbers of
// rows; only for those it has to ask for the permutation again.
func (a *Rows) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Rows) mover(g group.Element, v space.Value) (*rowsMover, error) {
	x, err := asRows(v)
	if err != nil {
		return nil, err
	}
	if err := a.admits(x.N); err != nil {
		return nil, err
	}
	if a.typing.width >= 0 && x.W != a.typing.width {
		return nil, fmt.Errorf("port %q: rows of %d numbers, the action was made for %d", a.port, x.W, a.typing.width)
	}
	m, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	o := &rowsMover{width: x.W, typ: a.Type(), of: a}
	if o.row, err = a.typing.at(m, parts, x.W); err != nil {
		return nil, err
	}
	if a.nodes {
		o.places = &places{moves: a.moves, parts: parts, set: a.set}
		if err := o.places.of(x.N); err != nil {
			return nil, fmt.Errorf("port %q: %w", a.port, err)
		}
	}
	if a.moves.permutes(a.across) {
		o.columns = &places{moves: a.moves, parts: parts, set: a.across}
		if err := o.columns.of(x.W); err != nil {
			return nil, fmt.Errorf("port %q: %w", a.port, err)
		}
	}
	return o, nil
}

// admits refuses numbers of rows that the action was not made for.
func (a *Rows) admits(n int) error {
	if a.count >= 0 && n != a.count {
		return fmt.Errorf("port %q: %d rows, the action was made for %d", a.port, n, a.count)
	}
	return nil
}

func asRows(v space.Value) (*space.Rows, error) {
	x, ok := v.(*space.Rows)
	if !ok || x == nil {
		return nil, fmt.Errorf("want rows, got %s", describe(v))
	}
	if x.N < 0 || x.W < 0 || len(x.Val) != x.N*x.W {
		return nil, fmt.Errorf("the rows have %d numbers, not %d×%d", len(x.Val), x.N, x.W)
	}
	return x, nil
}

// places is a prepared permutation, of as many rows as it was prepared for and, as they are asked for, of others.
type places struct {
	moves *moves
	parts []group.Element
	set   int
	to    []int
	// by the number of rows; a map that is there is never changed
	others atomic.Pointer[map[int][]int]
	// of those, what was asked for last: elements of one sample, or answers to it
	last atomic.Pointer[[]int]
}

// othersKept bounds the rows of all permutations of [places] but the first, 8 KiB.
const othersKept = 1024

func (p *places) of(n int) (err error) {
	p.to, err = p.moves.permutation(p.parts, p.set, n)
	return err
}

// at is the permutation of n rows, nil where there is none.
func (p *places) at(n int) ([]int, error) {
	if p == nil {
		return nil, nil
	}
	if n == len(p.to) {
		return p.to, nil
	}
	if to := p.last.Load(); to != nil && len(*to) == n {
		return *to, nil
	}
	known := p.others.Load()
	if known != nil {
		if to, ok := (*known)[n]; ok {
			p.last.Store(&to)
			return to, nil
		}
	}
	to, err := p.moves.permutation(p.parts, p.set, n)
	if err != nil || to == nil {
		return to, err
	}
	more, rows := map[int][]int{n: to}, n
	if known != nil {
		for k, o := range *known {
			more[k], rows = o, rows+k
		}
	}
	if rows <= othersKept {
		p.others.CompareAndSwap(known, &more) // who comes second asks again
	}
	return to, nil
}

func (p *places) bytes() int {
	if p == nil {
		return 0
	}
	n := 64 + 8*len(p.to)
	if known := p.others.Load(); known != nil {
		for k := range *known {
			n += 8 * k
		}
	}
	return n
}

type rowsMover struct {
	width  int
	typ    string
	row    *rowMap
	places *places
	// of the numbers within a row; nil if they keep their order
	columns *places
	of      *Rows
}

func (*rowsMover) ragged() bool { return true }

// Move writes the moved rows.
func (m *rowsMover) Move(to, from space.Value) error {
	d, err := asRows(to)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	s, err := asRows(from)
	if err != nil {
		return err
	}
	if err := m.of.admits(s.N); err != nil {
		return err
	}
	if s.W != m.width {
		return fmt.Errorf("prepared for rows of %d numbers, the argument has %d", m.width, s.W)
	}
	if d.N != s.N || d.W != s.W {
		return fmt.Errorf("the result has %d×%d numbers, it needs %d×%d", d.N, d.W, s.N, s.W)
	}
	if shared(d.Val, s.Val) {
		return errAlias
	}
	p, err := m.places.at(s.N)
	if err != nil {
		return err
	}
	d.Type = m.typ
	if m.columns != nil {
		q, err := m.columns.at(s.W)
		if err != nil {
			return err
		}
		across(d, s, p, q)
		return nil
	}
	m.row.all(d.Val, s.Val, s.N, s.W, p)
	return nil
}

// across writes row i to place rows[i], nil for none that moves, and number j of each to place columns[j].
func across(to, from *space.Rows, rows, columns []int) {
	for i := range from.N {
		k := i
		if rows != nil {
			k = rows[i]
		}
		d, s := to.Row(k), from.Row(i)
		for j, v := range s {
			d[columns[j]] = v
		}
	}
}

// Links is the action of a group on the edges of graphs; see [NewLinks].
type Links struct {
	moves *moves
	set   int
}

// NewLinks is the action on edges: permutations of the nodes, [group.Permuting], renumber both ends, and the edges keep
// their order, so that rows per edge stay with their edges. Other factors of the group leave edges alone.
func NewLinks(g group.Group, s space.Spec) (*Links, error) {
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	return newLinks(m, s)
}

func newLinks(m *moves, s space.Spec) (*Links, error) {
	if err := m.strange("edges"); err != nil && s.Type != space.TypeUnchanged {
		return nil, fmt.Errorf("port %q: %w", s.Name, err)
	}
	if s.Type == space.TypeUnchanged && m.permutes(s.Set) {
		return nil, fmt.Errorf(
			"port %q: edges stay unchanged only where their nodes do, and %s permutes nodes: leave the type out",
			s.Name, m.group.Name())
	}
	return &Links{m, s.Set}, nil
}

// Group is the group that acts.
func (a *Links) Group() group.Group { return a.moves.group }

// Exact is true for every element.
func (a *Links) Exact(g group.Element) bool {
	_, _, err := a.moves.at(g)
	return err == nil
}

// Apply returns the renumbered edges.
func (a *Links) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	x, err := asLinks(v)
	if err != nil {
		return nil, err
	}
	to := &space.Links{Nodes: x.Nodes, From: make([]int32, len(x.From)), To: make([]int32, len(x.To))}
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare asks for the permutation.
func (a *Links) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Links) mover(g group.Element, v space.Value) (*linksMover, error) {
	x, err := asLinks(v)
	if err != nil {
		return nil, err
	}
	_, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	o := &linksMover{&places{moves: a.moves, parts: parts, set: a.set}}
	return o, o.places.of(x.Nodes)
}

func asLinks(v space.Value) (*space.Links, error) {
	x, ok := v.(*space.Links)
	if !ok || x == nil {
		return nil, fmt.Errorf("want edges, got %s", describe(v))
	}
	if len(x.From) != len(x.To) {
		return nil, fmt.Errorf("%d edges begin somewhere and %d end somewhere", len(x.From), len(x.To))
	}
	return x, nil
}

type linksMover struct{ places *places }

func (*linksMover) ragged() bool { return true }

// Move writes the renumbered edges.
func (m *linksMover) Move(to, from space.Value) error {
	d, err := asLinks(to)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	s, err := asLinks(from)
	if err != nil {
		return err
	}
	if len(d.From) != len(s.From) || d.Nodes != s.Nodes {
		return fmt.Errorf("the result has %d edges of %d nodes, it needs %d of %d", len(d.From), d.Nodes, len(s.From),
			s.Nodes)
	}
	if shared(d.From, s.From) || shared(d.To, s.To) || shared(d.From, s.To) || shared(d.To, s.From) {
		return errAlias
	}
	p, err := m.places.at(s.Nodes)
	if err != nil {
		return err
	}
	for k := range s.From {
		for _, end := range [2]struct{ to, from []int32 }{{d.From, s.From}, {d.To, s.To}} {
			i := end.from[k]
			if i < 0 || int(i) >= s.Nodes {
				return fmt.Errorf("edge %d goes from node %d to node %d, there are %d nodes, numbered from 0", k,
					s.From[k], s.To[k], s.Nodes)
			}
			if p != nil {
				i = int32(p[i])
			}
			end.to[k] = i
		}
	}
	return nil
}

// Pairs is the action of a group on numbers for pairs of nodes; see [NewPairs].
type Pairs struct {
	moves  *moves
	typing *typing
	port   string
	// nodes, -1 if any
	count int
	set   int
}

// NewPairs is the action on numbers for all ordered pairs of nodes: permutations move rows and columns together, the
// pair (i, j) to the places of i and j, and the numbers of each pair move by their type as those of a row, see
// [NewRows]. s.Shape is (N, N, W), -1 or an empty shape admitting any length.
func NewPairs(g group.Group, s space.Spec, o Options) (*Pairs, error) {
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	return newPairs(m, s, o, true)
}

func newPairs(m *moves, s space.Spec, _ Options, alone bool) (*Pairs, error) {
	d, err := dims(s, 3)
	if err != nil {
		return nil, err
	}
	if d[0] != d[1] {
		return nil, fmt.Errorf("port %q: pairs of %d and %d nodes: the first two lengths are the same", s.Name, d[0],
			d[1])
	}
	if m.flow >= 0 && s.Type != space.TypeUnchanged {
		return nil, fmt.Errorf("port %q: %s moves what changes in time, and pairs have none: %w", s.Name,
			m.group.Name(), errors.ErrUnsupported)
	}
	y, err := newTyping(m, s, d[2], alone)
	if err != nil {
		return nil, err
	}
	return &Pairs{moves: m, typing: y, port: s.Name, count: d[0], set: s.Set}, nil
}

// Group is the group that acts.
func (a *Pairs) Group() group.Group { return a.moves.group }

// Exact tells the elements that move numbers and change signs alone, as of rows.
func (a *Pairs) Exact(g group.Element) bool {
	return (&Rows{moves: a.moves, typing: a.typing, across: -1}).Exact(g)
}

// Apply returns the moved pairs.
func (a *Pairs) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	x, err := asPairs(v)
	if err != nil {
		return nil, err
	}
	to := space.NewPairs(x.N, x.W)
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the size of v alone.
func (a *Pairs) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (a *Pairs) mover(g group.Element, v space.Value) (*pairsMover, error) {
	x, err := asPairs(v)
	if err != nil {
		return nil, err
	}
	if err := a.admits(x.N); err != nil {
		return nil, err
	}
	if a.typing.width >= 0 && x.W != a.typing.width {
		return nil, fmt.Errorf("port %q: %d numbers for every pair, the action was made for %d", a.port, x.W,
			a.typing.width)
	}
	m, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	o := &pairsMover{width: x.W, of: a}
	if o.row, err = a.typing.at(m, parts, x.W); err != nil {
		return nil, err
	}
	if a.moves.permutes(a.set) {
		o.places = &places{moves: a.moves, parts: parts, set: a.set}
		if err := o.places.of(x.N); err != nil {
			return nil, fmt.Errorf("port %q: %w", a.port, err)
		}
	}
	return o, nil
}

// admits refuses numbers of nodes that the action was not made for.
func (a *Pairs) admits(n int) error {
	if a.count >= 0 && n != a.count {
		return fmt.Errorf("port %q: pairs of %d nodes, the action was made for %d", a.port, n, a.count)
	}
	return nil
}

func asPairs(v space.Value) (*space.Pairs, error) {
	x, ok := v.(*space.Pairs)
	if !ok || x == nil {
		return nil, fmt.Errorf("want pairs, got %s", describe(v))
	}
	if x.N < 0 || x.W < 0 || len(x.Val) != x.N*x.N*x.W {
		return nil, fmt.Errorf("the pairs have %d numbers, not %d×%d×%d", len(x.Val), x.N, x.N, x.W)
	}
	return x, nil
}

type pairsMover struct {
	width  int
	row    *rowMap
	places *places
	of     *Pairs
}

func (*pairsMover) ragged() bool { return true }

// Move writes the moved pairs.
func (m *pairsMover) Move(to, from space.Value) error {
	d, err := asPairs(to)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	s, err := asPairs(from)
	if err != nil {
		return err
	}
	if err := m.of.admits(s.N); err != nil {
		return err
	}
	if s.W != m.width {
		return fmt.Errorf("prepared for %d numbers of every pair, the argument has %d", m.width, s.W)
	}
	if d.N != s.N || d.W != s.W {
		return fmt.Errorf("the result has %d×%d×%d numbers, it needs %d×%d×%d", d.N, d.N, d.W, s.N, s.N, s.W)
	}
	if shared(d.Val, s.Val) {
		return errAlias
	}
	p, err := m.places.at(s.N)
	if err != nil {
		return err
	}
	line := s.N * s.W
	for i := range s.N {
		k := i
		if p != nil {
			k = p[i]
		}
		m.row.all(d.Val[k*line:(k+1)*line], s.Val[i*line:(i+1)*line], s.N, s.W, p)
	}
	return nil
}

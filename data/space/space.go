// Package space holds the typed values that groups act on and models read and return: images, sequences of them, masks,
// volumes, scores, boxes, vector fields, feature maps, points and graphs, signals.
//
// A value knows what kind of thing it is, never what a group does to it: that is the business of package action, which
// chooses an action by (group, space). A new space is a file here, a line in [Kinds] and a rule there; nothing between
// them changes.
package space

import (
	"errors"
	"iter"
	"math"

	"nero/data/tensor"
)

// ErrNotFinite marks data that hold NaN or infinities. Readers wrap it.
var ErrNotFinite = errors.New("not finite")

// Kind names a space; [Kinds] lists them.
type Kind string

// What the numbers of a row are, the values of [Spec.Type] for rows and pairs. Besides them there are irreps as e3nn
// writes them, such as "4x0e+2x1o".
const (
	// TypeUnchanged stays as it is: energies, charges, class scores; a claim that the user makes by name.
	TypeUnchanged     = "unchanged"
	TypePositions     = "positions"     // points of space: g·p = A p + t
	TypeVectors       = "vectors"       // directions: velocities, forces, edge vectors, lattice vectors; A v
	TypePseudovectors = "pseudovectors" // axial vectors: angular momenta, magnetic moments; det(A) A v
	TypePseudoscalars = "pseudoscalars" // det(A) s
	TypeTensors       = "tensors"       // stress, inertia: d x d numbers in rows; A S Aᵀ
	TypePoses         = "poses"         // d x d rotation matrices in rows; A P
	TypeQuaternions   = "quaternions"   // w, x, y, z of rotations; q(A) q
	TypeBoxes         = "boxes"         // x, y, z, length, width, height, yaw about z: boxes in 3D
	// TypeBoxesQuaternion and the two after it are boxes in 3D that may be tilted: x, y, z, length, width, height, then
	// the rotation R that takes the axes x, y, z to the directions of the length, the width and the height.
	TypeBoxesQuaternion = "boxes-quaternion" // w, x, y, z of R
	TypeBoxesMatrix     = "boxes-matrix"     // R in rows
	TypeBoxes6D         = "boxes-6d"         // the first column of R and then its second
	// TypeIncidence is a number for every row of another set, [Spec].Of: bags of subgraphs, hyperedges, assignments.
	// Where the rows of that set are permuted, so are the numbers.
	TypeIncidence = "incidence"
)

// The values of [Spec.Per]: what a row belongs to, and so whether permutations of the nodes move it.
const (
	PerNode   = "node"
	PerEdge   = "edge" // of the field of kind [KindLinks]
	PerSample = "sample"
)

// Spec describes the values of one port.
type Spec struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// of one sample, without the batch axis; -1 admits any length
	Shape []int  `json:"shape,omitempty"`
	Unit  string `json:"unit,omitempty"`
	// Type refines the kind: for scores "logits" or "probabilities"; for tensors the representation that the channels
	// carry, "trivial" or "regular"; for rows and pairs what the numbers are, see [TypePositions] ("" means not
	// declared).
	Type string `json:"type,omitempty"`
	// Per says what a row belongs to: [PerNode] (the default), [PerEdge] or [PerSample].
	Per string `json:"per,omitempty"`
	// Set is the set of nodes that rows per node, edges and pairs speak of, counted from 0. The factors of a group that
	// permute rows belong to the sets in their order.
	Set int `json:"set,omitempty"`
	// Of is the other set of an incidence.
	Of int `json:"of,omitempty"`
	// Features says that the numbers of a vector are one point: what counts is how far two of them are apart, and no
	// number has a unit of its own.
	Features bool `json:"features,omitempty"`
	// Fields are the specs of the fields of a record, in their order.
	Fields []Spec `json:"fields,omitempty"`
}

// IsRecord tells a record, which has fields, from a single value.
func (s Spec) IsRecord() bool { return s.Kind == KindRecord }

// Leaves are the fields of a record, s itself if it is none.
func (s Spec) Leaves() []Spec {
	if s.IsRecord() {
		return s.Fields
	}
	return []Spec{s}
}

// OfNodes tells whether a value has a row, or a row and a column, for every node of its sample.
func (s Spec) OfNodes() bool {
	return s.Kind == KindPairs || s.Kind == KindRows && (s.Per == "" || s.Per == PerNode)
}

// Pictures is how many pictures a value has, 0 for one that is no sequence, and channels, height and width of each. It
// is not ok for values that are no pictures.
func (s Spec) Pictures() (t, c, h, w int, ok bool) {
	d := s.Shape
	switch {
	case s.Kind == KindImage && len(d) == 3:
		return 0, d[0], d[1], d[2], true
	case s.Kind == KindFrames && len(d) == 4:
		return d[0], d[1], d[2], d[3], true
	}
	return 0, 0, 0, 0, false
}

// Value is one typed datum: an image, the scores of one prediction. It answers for itself what needs no group. Powers
// that only some kinds have are methods beyond these, found by small interfaces where they are needed, such as [Linear]
// and [Counted].
type Value interface {
	Kind() Kind
	// Parts are the arrays that the value consists of: what is stored, sent and hashed. They are copies.
	Parts() []tensor.Named
	// Dims is the shape without a batch axis. It may share memory with the value.
	Dims() []int
	// Form is the shape in words, such as "image 1x28x28". Two values can be compared if their forms are equal.
	Form() string
	// Clone is a copy that shares no memory.
	Clone() Value
	// Like is room for a value of the same form: zeros, or an empty set of boxes.
	Like() Value
	// Numbers are all numbers as a flat list. They may share memory with the value.
	Numbers() []float64
	// With is a value of the same form with other numbers, which it keeps: With(Numbers()) is the value itself, but for
	// what is no part of it, such as [Scores].Raw. The error wraps errors.ErrUnsupported for masks and boxes, whose
	// numbers cannot be exchanged.
	With(x []float64) (Value, error)
	// Bytes is about the memory that the numbers take.
	Bytes() int
}

// Linear values can be added and multiplied by numbers; see [Info].Linear.
type Linear interface {
	Value
	// Output is what the model itself returned, on which errors are measured: Numbers, but for scores that were derived
	// from others.
	Output() []float64
}

// Counted values hold rows of numbers, and how many differs from one sample to the next: rows, pairs of nodes, the
// moments of a signal.
type Counted interface {
	Value
	Count() int
	// Row is one of them, 0 to Count()-1, of Columns() numbers; it may share memory.
	Row(i int) []float64
	Columns() int
	// Column is the column of number i of Numbers.
	Column(i int) int
}

// Sequence values run along time: signals, frames; see [Info].Sequence.
type Sequence interface {
	Value
	Length() int
	// Part is what lies from one moment to before another, with zeros up to the given length. It may share memory.
	Part(from, to, fill int) Value
}

// Pictured values are pictures that can be shown: an image, frames.
type Pictured interface {
	Value
	// Pictures share memory with the value.
	Pictures() []*Image
	// Repaint is as many pictures, each changed by f.
	Repaint(f func(*Image) *Image) Value
}

// Drawn values are no pictures, and one can be made that shows them.
type Drawn interface {
	Value
	// Drawing is a picture for people, which shares no memory with the value.
	Drawing() *Image
}

// Ragged values have lengths that differ from one sample to the next.
type Ragged interface {
	Value
	// Style is the form without them.
	Style() string
}

// Style is the form of a value without the lengths that differ from one sample to the next in sets, graphs and signals:
// how many rows, edges, nodes or moments there are. What a model answers to two inputs must have one style; it has one
// form only if the inputs have.
func Style(v Value) string {
	if s, ok := v.(Ragged); ok {
		return s.Style()
	}
	return v.Form()
}

// Alike reports whether two values have one form.
func Alike(a, b Value) bool {
	if s, ok := a.(interface{ alike(v Value) bool }); ok { // without making words
		return s.alike(b)
	}
	return a.Form() == b.Form()
}

// Common is what two values can be compared by: themselves, but for signals of which some times are not known, also as
// fields of records. Those are cut to the times that are known of both.
func Common(a, b Value) (Value, Value) {
	if c, ok := a.(interface{ common(v Value) (Value, Value) }); ok {
		return c.common(b)
	}
	return a, b
}

// Leaves are the values that v consists of, by name: the fields of a record and theirs, v itself under the name "" if
// it is none.
func Leaves(v Value) iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		r, ok := v.(*Record)
		if !ok {
			yield("", v)
			return
		}
		for i, f := range r.Values {
			for _, x := range Leaves(f) {
				if !yield(r.Names[i], x) {
					return
				}
			}
		}
	}
}

// Fields are the names and values of the fields of a record, in their order; names is nil for other values.
func Fields(v Value) (names []string, values []Value) {
	if r, ok := v.(*Record); ok && r != nil {
		return append(make([]string, 0, len(r.Names)), r.Names...), r.Values
	}
	return nil, nil
}

// FieldOf is the field of a record that is called name; nil if v is no record, or has no such field.
func FieldOf(v Value, name string) Value {
	if r, ok := v.(*Record); ok && r != nil {
		return r.Field(name)
	}
	return nil
}

// Both are two values of one type, for what only that type knows, such as the overlap of boxes; not ok where one of
// them is of another type, or nil.
func Both[T Value](a, b Value) (x, y T, ok bool) {
	x, is := a.(T)
	y, too := b.(T)
	var none T
	return x, y, is && too && any(x) != any(none) && any(y) != any(none)
}

// Finite reports whether all numbers of a value are finite.
func Finite(v Value) bool {
	for _, a := range v.Numbers() {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return false
		}
	}
	return true
}

// Grid is how many channels, rows and columns of pixels a map has that is no sequence of several; zeros for values
// without places.
func Grid(v Value) (c, h, w int) {
	if g, ok := v.(interface{ Grid() (c, h, w int) }); ok {
		return g.Grid()
	}
	return 0, 0, 0
}

// Picture is a picture, or the first of several; nil for values that are none.
func Picture(v Value) *Image {
	if p, ok := v.(Pictured); ok && len(p.Pictures()) > 0 {
		return p.Pictures()[0]
	}
	return nil
}

// Views are the pictures by which a value is shown to people: those that it is, or the drawing that is made of it; nil
// for other values.
func Views(v Value) []*Image {
	switch x := v.(type) {
	case Pictured:
		return x.Pictures()
	case Drawn:
		return []*Image{x.Drawing()}
	}
	return nil
}

// View is the first of [Views], nil if there is none.
func View(v Value) *Image {
	if all := Views(v); len(all) > 0 {
		return all[0]
	}
	return nil
}

// RowsOf is v as rows, nil if it is another kind.
func RowsOf(v Value) *Rows {
	r, _ := v.(*Rows)
	return r
}

// Members is how many nodes of a graph a value speaks of, 0 if it has none.
func Members(v Value) int {
	if m, ok := v.(interface{ Members() int }); ok {
		return m.Members()
	}
	return 0
}

// Members is how many nodes of the first set a value of this spec speaks of, see [Spec.MembersOf].
func (s Spec) Members(v Value) int { return s.MembersOf(0, v) }

// MembersOf is how many nodes of a set a value of this spec speaks of, of a record the most of a field: what the
// permutations of the set move.
func (s Spec) MembersOf(set int, v Value) int {
	names, fields := Fields(v)
	if names == nil {
		if s.Set != set || v.Kind() == KindRows && s.Per != "" && s.Per != PerNode {
			return 0
		}
		return Members(v)
	}
	most := 0
	for i, f := range fields {
		own, _ := s.Field(names[i])
		most = max(most, own.MembersOf(set, f))
	}
	return most
}

// Sets is how many sets of nodes the fields speak of, at least 1.
func (s Spec) Sets() int {
	n := 1
	for _, f := range s.Leaves() {
		if n = max(n, f.Set+1); f.Type == TypeIncidence {
			n = max(n, f.Of+1)
		}
	}
	return n
}

// Field is the spec of the field of that name; not ok if there is none.
func (s Spec) Field(name string) (field Spec, ok bool) {
	for _, f := range s.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Spec{}, false
}

// All are the specs of the fields of a record, or s alone.
func (s Spec) All() []Spec {
	if s.Kind == KindRecord {
		return s.Fields
	}
	return []Spec{s}
}

// Lined reports whether the numbers are rows, of nodes or of pairs of them, to which [Spec].Type applies.
func (s Spec) Lined() bool { return s.Kind == KindRows || s.Kind == KindPairs }

// Positions are the points of a value, by the declared types; nil if it has none.
func (s Spec) Positions(v Value) *Rows {
	names, _ := Fields(v)
	if names == nil {
		if s.Type == TypePositions {
			return RowsOf(v)
		}
		return nil
	}
	for _, f := range s.Fields {
		if p := RowsOf(FieldOf(v, f.Name)); p != nil && f.Type == TypePositions {
			return p
		}
	}
	return nil
}

// Each is a value with every leaf changed by f; see [Leaves].
func Each(v Value, f func(Value) Value) Value {
	if r, ok := v.(*Record); ok {
		return r.each(func(v Value) Value { return Each(v, f) })
	}
	return f(v)
}

// SpecOf describes values of the form of v.
func SpecOf(name string, v Value) Spec { return Spec{Name: name, Kind: v.Kind(), Shape: v.Dims()} }

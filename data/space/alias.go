package space

import (
	"math"
	"slices"

	"nero/internal/elementary"
)

// alias is a type of numbers that are not the only ones for what they mean: a heading and one a full turn further, a
// quaternion and its negative. Differences and means of such numbers are taken between those that stand for what is
// nearest.
type alias struct {
	typ string
	// how many numbers of a row belong together
	unit int
	// nearest writes x, of unit numbers, as near to y as the same thing can be written; it reports whether x changed.
	nearest func(x, y []float64) bool
	// carry turns a change of x into one of what nearest writes; nil where these are the same.
	carry func(x, y, change []float64)
	// flat appends numbers that are the same however x is written. They lie as far apart as what they stand for does,
	// as long as that is near.
	flat func(to, x []float64) []float64
}

// aliases lists every type whose numbers are not the only ones.
func aliases() []alias {
	return []alias{
		{typ: TypeQuaternions, unit: 4, nearest: nearestSign, carry: carrySign, flat: flatQuaternion},
		{typ: TypeBoxes, unit: 7, nearest: nearestTurn, flat: flatBox},
		after(6, alias{
			typ: TypeBoxesQuaternion, unit: 4, nearest: nearestSign, carry: carrySign, flat: flatQuaternion,
		}),
	}
}

// after is an alias of numbers after n others, which are the only ones.
func after(n int, a alias) alias {
	nearest, carry, flat := a.nearest, a.carry, a.flat
	a.unit += n
	a.nearest = func(x, y []float64) bool { return nearest(x[n:], y[n:]) }
	a.carry = func(x, y, change []float64) { carry(x[n:], y[n:], change[n:]) }
	a.flat = func(to, x []float64) []float64 { return flat(append(to, x[:n]...), x[n:]) }
	return a
}

func aliasOf(typ string) (alias, bool) {
	for _, a := range aliases() {
		if a.typ == typ {
			return a, true
		}
	}
	return alias{}, false
}

// opposite reports whether -x is nearer to y.
func opposite(x, y []float64) bool {
	var dot float64
	for k := range x {
		dot += float64(x[k] * y[k])
	}
	return dot < 0
}

func negate(x []float64) {
	for k := range x {
		x[k] = -x[k]
	}
}

// nearestSign takes q or -q.
func nearestSign(x, y []float64) bool {
	if !opposite(x, y) {
		return false
	}
	negate(x)
	return true
}

// carrySign is the change of -q where nearestSign takes that.
func carrySign(x, y, change []float64) {
	if opposite(x, y) {
		negate(change)
	}
}

// flatQuaternion are the numbers of qqᵀ/√2 of the quaternion brought to length 1: ‖ppᵀ - qqᵀ‖ is √2·sin of half of the
// angle between the rotations, and ‖p - q‖ is twice the sine of a quarter of it.
func flatQuaternion(to, x []float64) []float64 {
	n := math.Sqrt2
	size := elementary.Hypot(elementary.Hypot(x[0], x[1]), elementary.Hypot(x[2], x[3]))
	if size == 0 {
		size = 1
	}
	for _, a := range x {
		for _, b := range x {
			to = append(to, a/size*(b/size)/n)
		}
	}
	return to
}

// nearestTurn adds as many full turns to the heading of a box as bring it nearest.
func nearestTurn(x, y []float64) bool {
	turns := math.Round((x[6] - y[6]) / (2 * math.Pi))
	if turns == 0 || math.IsNaN(turns) || math.IsInf(turns, 0) {
		return false
	}
	x[6] -= float64(2 * math.Pi * turns)
	return true
}

// flatBox has the cosine and the sine of the heading in place of it.
func flatBox(to, x []float64) []float64 {
	s, c := elementary.Sincos(x[6])
	return append(append(to, x[:6]...), c, s)
}

// typed are values of rows that say what their numbers are.
type typed interface {
	Counted
	typeName() string
	// put exchanges the numbers of a row.
	put(i int, row []float64)
	// room is as many rows of w zeros, without a type.
	room(w int) typed
	// bare shares the numbers and has no type.
	bare() Value
}

// aliased is a value whose numbers are not the only ones for what they mean; not ok for all others.
func aliased(v Value) (t typed, a alias, ok bool) {
	t, ok = v.(typed)
	if !ok || t.Count() == 0 {
		return nil, alias{}, false
	}
	a, ok = aliasOf(t.typeName())
	return t, a, ok && t.Columns() > 0 && t.Columns()%a.unit == 0
}

// Aliased reports whether numbers of a value, or of a field of a record, are not the only ones for what they mean.
func Aliased(v Value) bool {
	for _, f := range Leaves(v) {
		if _, _, ok := aliased(f); ok {
			return true
		}
	}
	return false
}

// Nearest is a, with numbers as near to those of b as the same thing can be written: q and -q are one rotation, a
// heading and one a full turn further are one direction. It is a itself where nothing changes, and where a and b are of
// different forms. The type may be said by either of them.
func Nearest(a, b Value) Value {
	if names, fields := Fields(a); names != nil {
		var out *Record
		for i, f := range fields {
			of := FieldOf(b, names[i])
			if of == nil {
				continue
			}
			if n := Nearest(f, of); n != f {
				if out == nil {
					out = &Record{Names: names, Values: append([]Value(nil), fields...)}
				}
				out.Values[i] = n
			}
		}
		if out == nil {
			return a
		}
		return out
	}
	x, ok := a.(typed)
	y, too := b.(typed)
	if !ok || !too || x.Count() == 0 {
		return a
	}
	_, how, ok := aliased(a)
	if !ok {
		if _, how, ok = aliased(b); !ok {
			return a
		}
	}
	if !Alike(a, b) {
		return a
	}
	var out typed
	row := make([]float64, x.Columns())
	for i := range x.Count() {
		copy(row, x.Row(i))
		of := y.Row(i)
		changed := false
		for k := 0; k < len(row); k += how.unit {
			changed = how.nearest(row[k:k+how.unit], of[k:k+how.unit]) || changed
		}
		if !changed {
			continue
		}
		if out == nil {
			out, _ = a.Clone().(typed)
		}
		out.put(i, row)
	}
	if out == nil {
		return a
	}
	return out
}

// Carry is a change of a as a change of Nearest(a, b): the negative of a quaternion changes by the negative. It is the
// change itself for all other types, and is its own transpose. Fields of records are taken one by one.
func Carry(a, b, change Value) Value {
	if names, fields := Fields(a); names != nil {
		own, changes := Fields(change)
		out := &Record{Names: own, Values: append([]Value(nil), changes...)}
		for i, name := range own {
			if k := slices.Index(names, name); k >= 0 && FieldOf(b, name) != nil {
				out.Values[i] = Carry(fields[k], FieldOf(b, name), changes[i])
			}
		}
		return out
	}
	x, how, ok := aliased(a)
	y, too := b.(typed)
	if !ok || !too || how.carry == nil || a.Form() != b.Form() || a.Form() != change.Form() {
		return change
	}
	out, ok := change.Clone().(typed)
	if !ok {
		return change
	}
	for i := range x.Count() {
		row, from, to := append([]float64(nil), out.Row(i)...), x.Row(i), y.Row(i)
		for k := 0; k < len(row); k += how.unit {
			how.carry(from[k:k+how.unit], to[k:k+how.unit], row[k:k+how.unit])
		}
		out.put(i, row)
	}
	return out
}

// Flat is a value whose numbers are the same however v is written, for means and distances from them: a box has the
// cosine and the sine of its heading, as if on a circle of radius 1, and a quaternion the numbers of qqᵀ/√2. Distances
// are those of v as long as they are small. It is v itself where its numbers are the only ones; fields of records are
// taken one by one.
func Flat(v Value) Value {
	if names, fields := Fields(v); names != nil {
		if !Aliased(v) {
			return v
		}
		out := &Record{Names: names}
		for _, f := range fields {
			out.Values = append(out.Values, Flat(f))
		}
		return out
	}
	x, how, ok := aliased(v)
	if !ok {
		return v
	}
	var out typed
	var flat []float64
	for i := range x.Count() {
		row := x.Row(i)
		flat = flat[:0]
		for k := 0; k < len(row); k += how.unit {
			flat = how.flat(flat, row[k:k+how.unit])
		}
		if out == nil {
			out = x.room(len(flat))
		}
		out.put(i, flat)
	}
	return out
}

// Bare is the same numbers without their type: a change of a heading of more than a turn is no other change. Records
// are taken field by field.
func Bare(v Value) Value {
	return Each(v, func(f Value) Value {
		if t, ok := f.(typed); ok && t.typeName() != "" {
			return t.bare()
		}
		return f
	})
}

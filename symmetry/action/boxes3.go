package action

import (
	"errors"
	"math"

	"nero/data/space"
	"nero/internal/elementary"
)

// solid is a way to write a box of space whose sides lie along the columns of a rotation R, after its center and its
// length, width and height.
type solid struct {
	typ  string
	unit int
	what string
	// turned are the maps of the numbers of R: those of A R, and of A R F where A is a mirror. F = diag(1, -1, 1) turns
	// the side about that of the width: a box is its own mirror image, so only where its length and its height point is
	// left of a mirror, and A R F is a rotation. A has the determinant det and keeps lengths.
	turned func(a []float64, det float64) []segment
}

// solids lists the types of boxes of space that may be tilted.
func solids() []solid {
	return []solid{
		{typ: space.TypeBoxesQuaternion, unit: 10, what: "a quaternion w, x, y, z", turned: turnedQuaternion},
		{typ: space.TypeBoxesMatrix, unit: 15, what: "a rotation matrix in rows", turned: turnedMatrix},
		{
			typ: space.TypeBoxes6D, unit: 12, what: "the first two columns of a rotation matrix, those of the length " +
				"and of the width", turned: turnedColumns,
		},
	}
}

// solidOf is the way of that name, nil for other types.
func solidOf(typ string) *solid {
	for _, s := range solids() {
		if s.typ == typ {
			return &s
		}
	}
	return nil
}

// solidTypes are the names of all ways.
func solidTypes() []string {
	var names []string
	for _, s := range solids() {
		names = append(names, s.typ)
	}
	return names
}

// placed tells the types whose numbers also move by shifts.
func placed(typ string) bool {
	return typ == space.TypePositions || typ == space.TypeBoxes || solidOf(typ) != nil
}

// boxed tells boxes of space, of which a row holds one.
func boxed(typ string) bool { return typ == space.TypeBoxes || solidOf(typ) != nil }

// signed tells the types that compose up to a sign of their numbers.
func signed(typ string) bool {
	return typ == space.TypeQuaternions || typ == space.TypeBoxesQuaternion
}

// move is the map of a box under a map of space that keeps angles.
func (s *solid) move(m motion) (*rowMap, error) {
	scale, a, det, err := magnified(m.a)
	if err != nil {
		return nil, err
	}
	o := &rowMap{parts: []segment{
		newSegment(3, 1, m.a, m.t),
		newSegment(3, 1, []float64{scale, 0, 0, 0, scale, 0, 0, 0, scale}, nil),
	}}
	o.parts = append(o.parts, s.turned(a, det)...)
	return o, nil
}

var errStretches = errors.New(
	"boxes of space stay boxes under turns, mirrors, shifts and magnifications alone, and this stretches or shears")

// magnified takes a matrix of three dimensions apart into a factor and an orthogonal matrix of determinant det.
func magnified(a []float64) (scale float64, unit []float64, det float64, err error) {
	if orthogonal(a, 3) {
		return 1, a, math.Copysign(1, detOf(a)), nil
	}
	scale = elementary.Hypot(elementary.Hypot(a[0], a[3]), a[6])
	if !(scale > 0) || math.IsInf(scale, 0) {
		return 0, nil, 0, errStretches
	}
	unit = make([]float64, 9)
	for i, v := range a {
		unit[i] = v / scale
	}
	if !orthogonal(unit, 3) {
		return 0, nil, 0, errStretches
	}
	return scale, unit, math.Copysign(1, detOf(unit)), nil
}

func detOf(a []float64) float64 { return det(a, 3) }

// turnedMatrix is R -> A R F on nine numbers in rows.
func turnedMatrix(a []float64, det float64) []segment {
	return []segment{newSegment(9, 1, kronecker(a, []float64{1, 0, 0, 0, det, 0, 0, 0, 1}, 3), nil)}
}

// turnedColumns is R -> A R F on two columns.
func turnedColumns(a []float64, det float64) []segment {
	return []segment{newSegment(3, 1, a, nil), newSegment(3, 1, scaled(a, det), nil)}
}

// turnedQuaternion is q -> q(A) q, of a mirror q(-A) q j: -F is the half turn about the side of the width, and its
// quaternion is j.
func turnedQuaternion(a []float64, det float64) []segment {
	if det > 0 {
		return []segment{newSegment(4, 1, leftQuaternion((*[9]float64)(a)), nil)}
	}
	// (w, x, y, z) j = (-y, -z, w, x)
	j := []float64{0, 0, -1, 0, 0, 0, 0, -1, 1, 0, 0, 0, 0, 1, 0, 0}
	return []segment{newSegment(4, 1, multiply(leftQuaternion((*[9]float64)(scaled(a, -1))), j, 4), nil)}
}

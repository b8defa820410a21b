package action

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/internal/elementary"
	"nero/symmetry/group"
	"nero/symmetry/irreps"
)

// TypeVelocities is a type of rows, pairs and signals beside those of package space: vectors that also change their
// sign when time runs backwards.
const TypeVelocities = "velocities"

// types are the types that a port can have, for messages.
func types() []string {
	all := []string{
		space.TypePositions, space.TypeVectors, TypeVelocities, space.TypePseudovectors, space.TypePseudoscalars,
		space.TypeTensors, space.TypePoses, space.TypeQuaternions, space.TypeBoxes,
	}
	return append(append(all, solidTypes()...), "irreps such as 4x0e+2x1o")
}

// typing is how the numbers of one row move: what a port's type means under a group. It knows nothing of permutations.
type typing struct {
	moves *moves
	port  string
	// the type
	name string
	// numbers of a row, -1 if any multiple of unit
	width int
	// numbers that move together
	unit   int
	irreps irreps.Irreps
	wigner *irreps.Wigner
	// brings the matrices
	by group.Represented
	// and is this factor
	factor int
}

// newTyping refuses types that the group does not move, and widths that do not fit. alone says that the port is not one
// of several that move together, so that something must act on it.
func newTyping(m *moves, s space.Spec, width int, alone bool) (*typing, error) {
	y := &typing{moves: m, port: s.Name, name: strings.TrimSpace(s.Type), width: width, unit: 1, factor: -1}
	switch y.name {
	case "":
		return nil, fmt.Errorf(
			"port %q has no action: say what its numbers are with type: %s; or type: unchanged if they stay as they "+
				"are", s.Name, strings.Join(types(), ", "))
	case space.TypeUnchanged:
		return y, nil
	}
	if r, i, n, ok := m.represented(y.name); ok {
		y.by, y.factor, y.unit = r, i, n
		if n <= 64 { // the laws of larger ones would take long
			if _, err := Given(r, y.name, n,
				func(e group.Element) []float64 { a, _ := r.Matrix(y.name, e); return a }); err != nil {
				return nil, fmt.Errorf("port %q: %s: %w", s.Name, m.factors[i].Name(), err)
			}
		}
		if len(m.spatial) > 0 && !slices.Equal(m.spatial, []int{i}) {
			return nil, fmt.Errorf("port %q: type %s is a representation of %s, and %s moves space as well: %w", s.Name,
				y.name, m.factors[i].Name(), m.group.Name(), errors.ErrUnsupported)
		}
		return y, y.fits()
	}
	if err := y.kind(); err != nil {
		return nil, err
	}
	if m.clash != nil {
		return nil, m.clash
	}
	if err := m.strange("numbers of type " + y.name); err != nil {
		return nil, fmt.Errorf("port %q: %w", s.Name, err)
	}
	acts := len(m.spatial) > 0 || len(m.rows) > 0 || m.flow >= 0 || y.name == TypeVelocities && len(m.back) > 0
	if alone && !acts && m.axes > 0 {
		return nil, fmt.Errorf("port %q: %s does not move %s; say type: unchanged if they should stay as they are: %w",
			s.Name, m.group.Name(), y.name, errors.ErrUnsupported)
	}
	return y, y.fits()
}

// Typed is how numbers of a type move, as a representation of g on width numbers: one of the types of [NewRows] that
// are linear, so neither positions nor boxes, irreps such as "4x0e+2x1o", or the name of a representation that g
// brings. Feature vectors of that type move by [NewTensor] with it. The error wraps errors.ErrUnsupported if g does not
// move the type, or not by matrices.
func Typed(g group.Group, name string, width int) (Representation, error) {
	if width < 1 {
		return Representation{}, fmt.Errorf("type %s on %d numbers: want 1 or more", name, width)
	}
	if placed(name) {
		return Representation{}, fmt.Errorf("%s do not move by matrices alone: %w", name, errors.ErrUnsupported)
	}
	m, err := takeApart(g)
	if err != nil {
		return Representation{}, err
	}
	a, err := newRows(m, space.Spec{
		Name: name, Kind: space.KindRows, Type: name, Shape: []int{-1, width},
		Per: space.PerSample,
	}, Options{}, false)
	if err != nil {
		return Representation{}, err
	}
	return Representation{name: name, dim: width, matrix: func(e group.Element) ([]float64, error) {
		x, _, err := a.Matrix(e)
		return x, err
	}}, nil
}

// kind reads the type: how many numbers belong together, and what the group has to keep for them to have a meaning.
func (y *typing) kind() error {
	m, d := y.moves, y.moves.dim
	rigid, three := false, false
	switch y.name {
	case space.TypePositions, space.TypeVectors, TypeVelocities:
		y.unit = max(d, 1)
	case space.TypePseudoscalars:
	case space.TypeTensors:
		y.unit = max(d*d, 1)
	case space.TypePoses:
		y.unit, rigid = max(d*d, 1), true
	case space.TypePseudovectors:
		y.unit, rigid, three = 3, true, true
	case space.TypeQuaternions:
		y.unit, rigid, three = 4, true, true
	case space.TypeBoxes:
		y.unit, three = 7, true
	default:
		if s := solidOf(y.name); s != nil {
			y.unit, three = s.unit, true
			break
		}
		if !irreps.Looks(y.name) {
			own := ""
			for _, i := range m.given {
				if r, ok := m.factors[i].(group.Represented); ok {
					for name := range r.Representations() {
						own = ", " + name
					}
				}
			}
			return fmt.Errorf("port %q: type %q is not known: use one of %s%s, unchanged", y.port, y.name,
				strings.Join(types(), ", "), own)
		}
		ir, err := irreps.Parse(y.name)
		if err != nil {
			return fmt.Errorf("port %q: %w", y.port, err)
		}
		if y.wigner, err = irreps.NewWigner(ir.Top(), irreps.PolarY); err != nil {
			return fmt.Errorf("port %q: %w", y.port, err)
		}
		y.irreps, y.unit, rigid, three = ir, ir.Dim(), true, true
	}
	if d == 0 {
		return nil
	}
	if m.wrap && placed(y.name) {
		return fmt.Errorf("port %q: %s moves pictures around, and nobody says where %s would wrap around; for shifts "+
			"that do not wrap take T(2): %w", y.port, m.group.Name(), y.name, errors.ErrUnsupported)
	}
	if three && d != 3 {
		return fmt.Errorf("port %q: %s are of three dimensions, %s moves %d: %w", y.port, y.name, m.group.Name(), d,
			errors.ErrUnsupported)
	}
	if rigid && !m.unit {
		return fmt.Errorf("port %q: %s turn by rotations and reflections alone, and %s has maps that stretch: %w",
			y.port, y.name, m.group.Name(), errors.ErrUnsupported)
	}
	if y.name == space.TypeQuaternions && !m.even {
		return fmt.Errorf("port %q: %s has reflections, and none of them turns a quaternion into a quaternion; poses "+
			"as matrices can be reflected: %w", y.port, m.group.Name(), errors.ErrUnsupported)
	}
	if boxed(y.name) {
		return y.keepsBoxes()
	}
	return nil
}

// keepsBoxes refuses groups that make no boxes of boxes, as far as samples tell, and says which ones do.
func (y *typing) keepsBoxes() error {
	m := y.moves
	for _, i := range m.spatial {
		for _, e := range someElements(m.factors[i], 24) {
			a, _ := motionOf(m.factors[i], e)
			err := errStretches
			if _, _, _, no := magnified(a); no == nil {
				if solidOf(y.name) != nil {
					continue
				}
				if _, err = newBoxMove(motion{a: a, t: make([]float64, 3)}); err == nil {
					continue
				}
			}
			return fmt.Errorf("port %q: %s: %w: %w", y.port, m.group.Name(), err, errors.ErrUnsupported)
		}
	}
	return nil
}

// fits compares the type with the width of a row.
func (y *typing) fits() error { return y.fit(y.width) }

func (y *typing) fit(width int) error {
	if width < 0 || width%y.unit == 0 && (y.irreps == nil && !boxed(y.name) || width == y.unit) {
		return nil
	}
	if y.irreps != nil {
		return fmt.Errorf("port %q: %s are %d numbers, the rows have %d", y.port, y.irreps, y.unit, width)
	}
	if y.name == space.TypeBoxes {
		return fmt.Errorf("port %q: boxes are 7 numbers, x, y, z, length, width, height and yaw in radians, the rows "+
			"have %d", y.port, width)
	}
	if b := solidOf(y.name); b != nil {
		return fmt.Errorf("port %q: %s are %d numbers, x, y, z, length, width, height and %s, the rows have %d", y.port,
			y.name, y.unit, b.what, width)
	}
	return fmt.Errorf("port %q: rows of %d numbers do not hold whole %s of %d numbers under %s", y.port, width, y.name,
		y.unit, y.moves.group.Name())
}

// rowMap moves the numbers of a row: linear maps of consecutive numbers, or a box. Nothing stays where both are empty.
type rowMap struct {
	parts []segment
	box   *boxMove
}

// segment is p -> A·p + t on count vectors of n numbers, one after the other.
type segment struct {
	n, count int
	// t is nil for linear maps
	a, t []float64
	// where every row of a has one entry, which is 1 or -1: its column
	from []int32
	sign []float64
}

// at is the map of rows of width numbers. A map of nil leaves them as they are.
func (y *typing) at(m motion, parts []group.Element, width int) (*rowMap, error) {
	if err := y.fit(width); err != nil {
		return nil, err
	}
	one := func(n int, a, t []float64) *rowMap {
		return &rowMap{parts: []segment{newSegment(n, width/n, a, t)}}
	}
	if y.name == space.TypeUnchanged {
		return nil, nil
	}
	if y.by != nil {
		a, ok := y.by.Matrix(y.name, parts[y.factor])
		if !ok || len(a) != y.unit*y.unit {
			return nil, fmt.Errorf("port %q: %s has no %d×%d matrix of %s for element %v", y.port, y.by.Name(), y.unit,
				y.unit, y.name, parts[y.factor])
		}
		return one(y.unit, a, nil), nil
	}
	if y.name == TypeVelocities && y.moves.reversed(parts) {
		if m.a == nil {
			return one(1, []float64{-1}, nil), nil
		}
		m.a = scaled(m.a, -1)
		return one(y.unit, m.a, nil), nil
	}
	if m.a == nil {
		return nil, nil
	}
	if m.identity && (!placed(y.name) ||
		!slices.ContainsFunc(m.t, func(v float64) bool { return v != 0 })) {
		return nil, nil
	}
	return y.moving(m, one)
}

func (y *typing) moving(m motion, one func(n int, a, t []float64) *rowMap) (*rowMap, error) {
	d := y.moves.dim
	if b := solidOf(y.name); b != nil {
		o, err := b.move(m)
		if err != nil {
			return nil, fmt.Errorf("port %q: %w", y.port, err)
		}
		return o, nil
	}
	if !m.unit {
		switch y.name {
		case space.TypePositions, space.TypeVectors, TypeVelocities, space.TypeTensors, space.TypePseudoscalars,
			space.TypeBoxes:
		default:
			return nil, fmt.Errorf("port %q: %s turn by rotations and reflections alone, and this element stretches",
				y.port, y.name)
		}
	}
	switch y.name {
	case space.TypePositions:
		return one(d, m.a, m.t), nil
	case space.TypeVectors, TypeVelocities:
		return one(d, m.a, nil), nil
	case space.TypePseudovectors:
		return one(d, scaled(m.a, m.det), nil), nil
	case space.TypePseudoscalars:
		return one(1, []float64{m.det}, nil), nil
	case space.TypeTensors:
		return one(d*d, kronecker(m.a, m.a, d), nil), nil
	case space.TypePoses:
		e := make([]float64, d*d)
		for i := range d {
			e[i*d+i] = 1
		}
		return one(d*d, kronecker(m.a, e, d), nil), nil
	case space.TypeQuaternions:
		if m.det < 0 {
			return nil, fmt.Errorf("port %q: a reflection does not turn a quaternion into a quaternion", y.port)
		}
		return one(4, leftQuaternion((*[9]float64)(m.a)), nil), nil
	case space.TypeBoxes:
		b, err := newBoxMove(m)
		if err != nil {
			return nil, fmt.Errorf("port %q: %w", y.port, err)
		}
		return &rowMap{box: b}, nil
	}
	return y.typed(m)
}

// typed is the block matrix of irreps.
func (y *typing) typed(m motion) (*rowMap, error) {
	r, improper, ok := irreps.Split((*[9]float64)(m.a), orthogonalTolerance)
	if !ok {
		return nil, fmt.Errorf("port %q: irreps turn by rotations and reflections alone, and this element stretches",
			y.port)
	}
	w := y.wigner
	d := make([]float64, w.Len())
	w.Fill(d, &r)
	o := &rowMap{}
	for _, t := range y.irreps {
		a := w.Block(d, t.L)
		if improper && t.Odd {
			a = scaled(a, -1)
		}
		o.parts = append(o.parts, newSegment(2*t.L+1, t.Mul, a, nil))
	}
	return o, nil
}

// scaled is k·a, without negative zeros.
func scaled(a []float64, k float64) []float64 {
	o := make([]float64, len(a))
	for i, v := range a {
		o[i] = float64(k*v) + 0
	}
	return o
}

// kronecker is a ⊗ b of d×d matrices: it moves d×d numbers in rows as a S bᵀ.
func kronecker(a, b []float64, d int) []float64 {
	n := d * d
	o := make([]float64, n*n)
	for i := range d {
		for j := range d {
			for k := range d {
				for l := range d {
					o[(i*d+j)*n+k*d+l] = float64(a[i*d+k]*b[j*d+l]) + 0
				}
			}
		}
	}
	return o
}

// leftQuaternion is multiplication from the left by the quaternion of a rotation, whose real part is not negative. The
// largest component is found first (Shepperd 1978), so nothing is lost near half turns.
func leftQuaternion(r *[9]float64) []float64 {
	t := [4]float64{r[0] + r[4] + r[8], r[0], r[4], r[8]}
	best := 0
	for i, v := range t {
		if v > t[best] {
			best = i
		}
	}
	var q [4]float64
	switch best {
	case 0:
		q = [4]float64{1 + t[0], r[7] - r[5], r[2] - r[6], r[3] - r[1]}
	case 1:
		q = [4]float64{r[7] - r[5], 1 + r[0] - r[4] - r[8], r[1] + r[3], r[2] + r[6]}
	case 2:
		q = [4]float64{r[2] - r[6], r[1] + r[3], 1 - r[0] + r[4] - r[8], r[5] + r[7]}
	default:
		q = [4]float64{r[3] - r[1], r[2] + r[6], r[5] + r[7], 1 - r[0] - r[4] + r[8]}
	}
	n := math.Sqrt(float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3]))
	if q[0] < 0 {
		n = -n
	}
	w, x, y, z := q[0]/n+0, q[1]/n+0, q[2]/n+0, q[3]/n+0
	return []float64{
		w, 0 - x, 0 - y, 0 - z,
		x, w, 0 - z, y,
		y, z, w, 0 - x,
		z, 0 - y, x, w,
	}
}

func newSegment(n, count int, a, t []float64) segment {
	s := segment{n: n, count: count, a: a}
	if slices.ContainsFunc(t, func(v float64) bool { return v != 0 }) {
		s.t = t
	}
	from, sign := make([]int32, n), make([]float64, n)
	for i := range n {
		entries := 0
		for j, v := range a[i*n : (i+1)*n] {
			if v == 0 {
				continue
			}
			if entries++; entries > 1 || v != 1 && v != -1 {
				return s
			}
			from[i], sign[i] = int32(j), v
		}
		if entries == 0 {
			return s
		}
	}
	s.from, s.sign = from, sign
	return s
}

// exact reports whether numbers are moved without rounding.
func (r *rowMap) exact() bool {
	if r == nil {
		return true
	}
	if r.box != nil {
		return r.box.identity
	}
	return !slices.ContainsFunc(r.parts, func(s segment) bool { return s.from == nil || s.t != nil })
}

// all writes n moved rows of w numbers, row i to place to[i]; to of nil leaves their order.
func (r *rowMap) all(dst, src []float64, n, w int, to []int) {
	if r == nil {
		if to == nil {
			copy(dst, src)
			return
		}
		for i, k := range to {
			copy(dst[k*w:(k+1)*w], src[i*w:(i+1)*w])
		}
		return
	}
	if r.box != nil {
		for i := range n {
			k := i
			if to != nil {
				k = to[i]
			}
			r.box.move((*[7]float64)(dst[k*w:]), (*[7]float64)(src[i*w:]))
		}
		return
	}
	if len(r.parts) == 1 && to == nil {
		s := &r.parts[0]
		s.run(dst[:n*w], src[:n*w])
		return
	}
	for i := range n {
		k := i
		if to != nil {
			k = to[i]
		}
		d, x := dst[k*w:(k+1)*w], src[i*w:(i+1)*w]
		for p := range r.parts {
			s := &r.parts[p]
			m := s.n * s.count
			s.run(d[:m], x[:m])
			d, x = d[m:], x[m:]
		}
	}
}

// run moves as many vectors of n numbers as there are.
func (s *segment) run(dst, src []float64) {
	n := s.n
	switch {
	case s.from != nil && s.t == nil && n == 3:
		i, j, k := s.from[0], s.from[1], s.from[2]
		a, b, c := s.sign[0], s.sign[1], s.sign[2]
		for len(src) >= 3 && len(dst) >= 3 {
			x := (*[3]float64)(src)
			dst[0], dst[1], dst[2] = float64(a*x[i])+0, float64(b*x[j])+0, float64(c*x[k])+0
			dst, src = dst[3:], src[3:]
		}
	case s.from != nil && s.t == nil:
		for len(src) >= n {
			for i, j := range s.from {
				dst[i] = float64(s.sign[i]*src[j]) + 0
			}
			dst, src = dst[n:], src[n:]
		}
	case n == 3:
		three(dst, src, (*[9]float64)(s.a), s.t)
	default:
		for len(src) >= n {
			x := src[:n]
			for i := range n {
				var v float64
				for j, k := range s.a[i*n : (i+1)*n] {
					v += float64(k * x[j])
				}
				dst[i] = v
			}
			for i, v := range s.t {
				dst[i] += v
			}
			dst, src = dst[n:], src[n:]
		}
	}
}

// three moves points of three coordinates: the inner loop of clouds. Lengths are compared in the loop's condition,
// which spares the checks within.
func three(dst, src []float64, a *[9]float64, t []float64) {
	a0, a1, a2, a3, a4, a5, a6, a7, a8 := a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]
	if t == nil {
		for i := 0; i+2 < len(dst) && i+2 < len(src); i += 3 {
			x, y, z := src[i], src[i+1], src[i+2]
			dst[i] = float64(a0*x) + float64(a1*y) + float64(a2*z)
			dst[i+1] = float64(a3*x) + float64(a4*y) + float64(a5*z)
			dst[i+2] = float64(a6*x) + float64(a7*y) + float64(a8*z)
		}
		return
	}
	t0, t1, t2 := t[0], t[1], t[2]
	for i := 0; i+2 < len(dst) && i+2 < len(src); i += 3 {
		x, y, z := src[i], src[i+1], src[i+2]
		dst[i] = float64(a0*x) + float64(a1*y) + float64(a2*z) + t0
		dst[i+1] = float64(a3*x) + float64(a4*y) + float64(a5*z) + t1
		dst[i+2] = float64(a6*x) + float64(a7*y) + float64(a8*z) + t2
	}
}

// bytes is roughly what the map holds.
func (r *rowMap) bytes() int {
	if r == nil {
		return 0
	}
	n := 120
	for _, s := range r.parts {
		n += 96 + 8*(len(s.a)+len(s.t)+len(s.sign)) + 4*len(s.from)
	}
	return n
}

// boxMove moves upright boxes of space: their axis z stays upright.
type boxMove struct {
	m     motion
	scale float64
	// of the direction x, in radians
	turn float64
	// -1 where the plane is mirrored
	sign     float64
	identity bool
}

// newBoxMove reads a similarity that keeps the axis z, or turns it over.
func newBoxMove(m motion) (*boxMove, error) {
	a := m.a
	b := &boxMove{m: m, scale: elementary.Hypot(a[0], a[3]), sign: 1, turn: elementary.Atan2(a[3], a[0])}
	small := orthogonalTolerance * b.scale
	if !(b.scale > 0 && math.Abs(a[2]) <= small && math.Abs(a[5]) <= small && math.Abs(a[6]) <= small &&
		math.Abs(a[7]) <= small &&
		math.Abs(math.Abs(a[8])-b.scale) <= small && math.Abs(float64(a[0]*a[1])+float64(a[3]*a[4])) <= small*b.scale &&
		math.Abs(elementary.Hypot(a[1], a[4])-b.scale) <= small) {
		return nil, errors.New(
			"boxes of space that have a yaw alone stand upright, and this group tilts them: take Eg(3) or SEg(3), " +
				"the turns, mirrors and shifts that keep the axis z (Og(3), SOg(3) without shifts), or give boxes " +
				"their whole orientation with one of the types " + strings.Join(solidTypes(), ", "))
	}
	if float64(a[0]*a[4])-float64(a[1]*a[3]) < 0 {
		b.sign = -1
	}
	b.identity = b.scale == 1 && b.turn == 0 && b.sign == 1 && a[8] == 1 &&
		!slices.ContainsFunc(m.t, func(v float64) bool { return v != 0 })
	return b, nil
}

// move writes one box. A mirror (x, y) -> R(turn)·(x, -y) carries the direction yaw to turn - yaw.
func (b *boxMove) move(d, s *[7]float64) {
	if b.identity {
		*d = *s
		return
	}
	three(d[:3], s[:3], (*[9]float64)(b.m.a), b.m.t)
	for i := 3; i < 6; i++ {
		d[i] = b.scale * s[i]
	}
	yaw := math.Remainder(b.turn+float64(b.sign*s[6]), 2*math.Pi)
	if yaw >= math.Pi {
		yaw = -math.Pi
	}
	d[6] = yaw
}

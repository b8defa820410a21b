// Package feature says how a group moves the values inside a model: feature maps, tokens, flattened maps, vectors.
//
// A model declares what its input and its output are, hardly ever what lies between. A [Rep] is such a declaration for
// one value. It is composed of parts: which of the value's numbers sit where on which grid, how far apart the places of
// that grid are in pixels of the input, and how the channels mix. A flattened map, a map with its channels last and a
// list of tokens are then the same part with another order of the numbers, and what moves data about ([Frame.Pushed])
// needs no rule of its own.
//
// Where structure does not say how a value moves, [Frame.Infer] finds out from pairs of what the model made of an input
// and of the moved input. It prefers the simplest explanation, checks it on samples that it was not found on, and says
// unknown rather than fit a broken layer.
package feature

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Kind names the form of a representation.
type Kind string

// The kinds, simplest first.
const (
	Trivial     Kind = "trivial"     // nothing moves
	Places      Kind = "spatial"     // places move on their grid, channels stay
	Permutation Kind = "permutation" // a flat vector whose numbers are the places of a grid
	Regular     Kind = "regular"     // channels are permuted, with signs perhaps, and places move if there are any
	Mixed       Kind = "mixed"       // parts of different kinds
	Linear      Kind = "linear"      // a matrix for each element
	Declared    Kind = "declared"    // an action that the user gave
)

// Origin says where a representation comes from.
type Origin string

// The origins.
const (
	ByUser      Origin = "declared"   // said by the user
	ByStructure Origin = "structural" // follows from what the value was made of
	ByData      Origin = "inferred"   // found in the values and verified on others
	ByDefault   Origin = "assumed"    // nothing says so, and nothing else explains the values better
)

// ErrElement marks an element for which a representation is not known.
var ErrElement = errors.New("representation not known for the element")

// Grid is a regular grid of places, centred where the input is centred.
type Grid struct {
	H, W int
	// pixels of the input from one place to the next, along x and along y
	Stride [2]float64
}

// At is a grid of h rows and w columns whose places are stride pixels of the input apart.
func At(h, w int, stride float64) Grid { return Grid{h, w, [2]float64{stride, stride}} }

func (g Grid) size() int { return g.H * g.W }

// Part is a field: numbers in the canonical order channel, then the places of every grid, row by row.
type Part struct {
	// Index is, for each number in the canonical order, its place in the value; nil if the part is the whole value in
	// its own order.
	Index    []int32
	Channels int
	// none for a vector; more than one for values over pairs of places, such as attention
	Grids []Grid
	// of the channels; nil if they stay
	Mix *Mix
}

func (p *Part) places() int {
	n := 1
	for _, g := range p.Grids {
		n *= g.size()
	}
	return n
}

func (p *Part) size() int { return p.Channels * p.places() }

// Mix is a representation on channels by signed permutations or by matrices, one per element that it is known for. The
// identity needs none.
type Mix struct {
	Elements []group.Element
	// From and Sign are signed permutations: the channel c of the result is Sign[e][c] times the channel From[e][c].
	From [][]int32
	Sign [][]int8
	// Matrix, if not nil, takes their place: Channels×Channels numbers in rows per element.
	Matrix [][]float64
}

// permutes tells whether the mix is by signed permutations.
func (m *Mix) permutes() bool { return m.Matrix == nil }

// Frame is what the representations inside one model share: the group, and how maps are read between their places.
type Frame struct {
	group group.Group
	// nil if the group does not act on the plane
	planar group.Planar
	kernel action.Kernel
	border action.Border

	mu     sync.Mutex
	moves  map[moveKey]*mover
	places map[Grid]*action.Tensor
}

type moveKey struct {
	grid    Grid
	element string
}

// mover moves one plane.
type mover struct {
	move  action.Mover
	exact bool
}

// NewFrame is the frame of a group. Kernel is how maps are read between their places, "" for [action.Spline], the most
// exact one; border is what lies outside them, "" for [action.Zero]. The error says that one of them does not exist.
func NewFrame(g group.Group, kernel action.Kernel, border action.Border) (*Frame, error) {
	if kernel == "" {
		kernel = action.Spline
	}
	if border == "" {
		border = action.Zero
	}
	if !slices.Contains(action.Kernels(), kernel) {
		return nil, fmt.Errorf("there is no kernel %q; want one of %v", kernel, action.Kernels())
	}
	if !slices.Contains(action.Borders(), border) {
		return nil, fmt.Errorf("there is no border rule %q; want one of %v", border, action.Borders())
	}
	f := &Frame{
		group: g, kernel: kernel, border: border, moves: map[moveKey]*mover{},
		places: map[Grid]*action.Tensor{},
	}
	f.planar, _ = g.(group.Planar)
	return f, nil
}

// Group is the group that acts.
func (f *Frame) Group() group.Group { return f.group }

// Kernel is how maps are read between their places.
func (f *Frame) Kernel() action.Kernel { return f.kernel }

// scaled is a planar group as it acts on a grid whose places are farther apart than pixels: p -> S⁻¹(A·S·p + t).
type scaled struct {
	group.Planar
	stride [2]float64
}

// Affine is the map in the unit of the grid.
func (s scaled) Affine(g group.Element) (a [2][2]float64, t [2]float64) {
	a, t = s.Planar.Affine(g)
	for i := range 2 {
		for j := range 2 {
			a[i][j] *= s.stride[j] / s.stride[i]
		}
		t[i] /= s.stride[i]
	}
	return a, t
}

// mover prepares an element for the planes of a grid.
func (f *Frame) mover(grid Grid, g group.Element) (*mover, error) {
	if f.planar == nil {
		return nil, fmt.Errorf("%s does not act on the plane, so it cannot move a map: %w", f.group.Name(),
			errors.ErrUnsupported)
	}
	key := moveKey{grid, fmt.Sprint([]float64(g))}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.moves[key]; m != nil {
		return m, nil
	}
	a := f.places[grid]
	shape := []int{1, grid.H, grid.W}
	if a == nil {
		var err error
		a, err = action.NewTensor(scaled{f.planar, grid.Stride}, space.Spec{Kind: space.KindTensor, Shape: shape},
			action.Options{Kernel: f.kernel, Border: f.border}, action.Identical())
		if err != nil {
			return nil, err
		}
		f.places[grid] = a
	}
	p, err := a.Prepare(g, &space.Tensor{Shape: shape, Val: make([]float64, grid.size())})
	if err != nil {
		return nil, err
	}
	m := &mover{p, a.Exact(g)}
	f.moves[key] = m
	return m, nil
}

// Rep says how a group moves one value. It is immutable and safe for concurrent use.
type Rep struct {
	Origin Origin
	// what it follows from, in a few words
	Why string

	frame *Frame
	shape []int
	parts []Part
	// of an action that was given, for people; "" for [Declared]
	name string
	// by the user; nil otherwise
	given func(g group.Element, x []float64) ([]float64, error)
	exact func(g group.Element) bool
}

// Fixed is the trivial representation on values of the shape.
func (f *Frame) Fixed(shape []int) *Rep {
	return &Rep{Origin: ByStructure, frame: f, shape: slices.Clone(shape), parts: []Part{{Channels: count(shape)}}}
}

// Map is the representation on a map of shape (channels, rows, columns) whose channels stay. Its places are stride
// pixels of the input apart.
func (f *Frame) Map(shape []int, stride [2]float64) (*Rep, error) {
	if len(shape) != 3 {
		return nil, fmt.Errorf("a map has the shape (channels, rows, columns), not %v", shape)
	}
	return f.Layout(shape, Part{Channels: shape[0], Grids: []Grid{{shape[1], shape[2], stride}}})
}

// Layout is the representation on values of the shape that consists of the parts. Together they must hold every number
// of the value exactly once.
func (f *Frame) Layout(shape []int, parts ...Part) (*Rep, error) {
	n := count(shape)
	seen := make([]bool, n)
	total := 0
	for i := range parts {
		p := &parts[i]
		size := p.size()
		total += size
		for _, g := range p.Grids {
			if g.H < 1 || g.W < 1 || !(g.Stride[0] > 0) || !(g.Stride[1] > 0) {
				return nil, fmt.Errorf("part %d: a grid of %d×%d places %v pixels apart", i, g.H, g.W, g.Stride)
			}
		}
		switch {
		case p.Index == nil && len(parts) == 1 && size == n:
			return &Rep{Origin: ByStructure, frame: f, shape: slices.Clone(shape), parts: parts}, checkMix(p)
		case p.Index == nil || len(p.Index) != size:
			return nil, fmt.Errorf("part %d holds %d numbers, its index lists %d, the value of shape %v has %d", i,
				size, len(p.Index), shape, n)
		}
		for _, v := range p.Index {
			if v < 0 || int(v) >= n || seen[v] {
				return nil, fmt.Errorf(
					"part %d lists the number %d, which is in another place already or not in the value of shape %v", i,
					v, shape)
			}
			seen[v] = true
		}
		if err := checkMix(p); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	if total != n {
		return nil, fmt.Errorf("the parts hold %d numbers, the value of shape %v has %d", total, shape, n)
	}
	return &Rep{Origin: ByStructure, frame: f, shape: slices.Clone(shape), parts: parts}, nil
}

func checkMix(p *Part) error {
	m := p.Mix
	if m == nil {
		return nil
	}
	for i := range m.Elements {
		if m.Matrix != nil {
			if i >= len(m.Matrix) || len(m.Matrix[i]) != p.Channels*p.Channels {
				return fmt.Errorf("the matrix of element %d is not %d×%d", i, p.Channels, p.Channels)
			}
			continue
		}
		if i >= len(m.From) || len(m.From[i]) != p.Channels || m.Sign != nil &&
			(i >= len(m.Sign) || len(m.Sign[i]) != p.Channels) {
			return fmt.Errorf("the permutation of element %d does not list %d channels", i, p.Channels)
		}
		seen := make([]bool, p.Channels)
		for _, c := range m.From[i] {
			if c < 0 || int(c) >= p.Channels || seen[c] {
				return fmt.Errorf("the list of element %d is no permutation of %d channels", i, p.Channels)
			}
			seen[c] = true
		}
	}
	return nil
}

// Given is the representation by an action that the user declared. Wrap makes a value that the action takes of the
// numbers, unwrap reads them back.
func (f *Frame) Given(shape []int, a action.Action, wrap func(x []float64) space.Value,
	unwrap func(v space.Value) ([]float64, error),
) *Rep {
	return &Rep{
		Origin: ByUser, frame: f, shape: slices.Clone(shape),
		given: func(g group.Element, x []float64) ([]float64, error) {
			v, err := a.Apply(g, wrap(slices.Clone(x)))
			if err != nil {
				return nil, err
			}
			return unwrap(v)
		},
		exact: func(g group.Element) bool { return action.Exact(a, g) },
	}
}

// Shape is the shape of the values that it moves.
func (r *Rep) Shape() []int { return slices.Clone(r.shape) }

// Called is the same representation under a name of its own, where it is an action that was given.
func (r *Rep) Called(name string) *Rep {
	out := *r
	out.name = name
	return &out
}

// As is the same representation with another origin.
func (r *Rep) As(o Origin, why string) *Rep {
	out := *r
	out.Origin, out.Why = o, why
	return &out
}

// Equal tells whether both move values of one shape in the same way, as far as that shows in their parts.
func (r *Rep) Equal(o *Rep) bool {
	return r.frame == o.frame && r.given == nil && o.given == nil && slices.Equal(r.shape, o.shape) &&
		reflect.DeepEqual(r.parts, o.parts)
}

// Field is the only part of a representation on a whole value in its own order; ok is false if there are several, or if
// the numbers lie in another order.
func (r *Rep) Field() (p Part, ok bool) {
	if r.given != nil || len(r.parts) != 1 || r.parts[0].Index != nil {
		return Part{}, false
	}
	return r.parts[0], true
}

// Signs tells whether channels change sign or are mixed by matrices, so that only some pointwise functions keep the
// representation.
func (r *Rep) Signs() bool {
	for _, p := range r.parts {
		if p.Mix == nil {
			continue
		}
		if !p.Mix.permutes() {
			return true
		}
		for _, s := range p.Mix.Sign {
			if slices.Contains(s, -1) {
				return true
			}
		}
	}
	return r.given != nil
}

// Moves tells whether any part has places to move or channels to mix.
func (r *Rep) Moves() bool {
	return r.given != nil || slices.ContainsFunc(r.parts, func(p Part) bool { return p.moves() || p.Mix != nil })
}

// Parts are what it is composed of, to read only; none for an action that the user gave.
func (r *Rep) Parts() []Part { return r.parts }

// Grids are the different grids on which the value lives, in the order of the parts.
func (r *Rep) Grids() []Grid {
	var out []Grid
	for _, p := range r.parts {
		for _, g := range p.Grids {
			if !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	return out
}

// Kind is the form of the representation.
func (r *Rep) Kind() Kind {
	if r.given != nil {
		return Declared
	}
	var kind Kind
	for i, p := range r.parts {
		k := Trivial
		switch {
		case p.Mix != nil && !p.Mix.permutes():
			k = Linear
		case p.Mix != nil:
			k = Regular
		case p.moves() && len(r.shape) <= 1:
			k = Permutation
		case p.moves():
			k = Places
		}
		if i > 0 && k != kind {
			return Mixed
		}
		kind = k
	}
	return kind
}

// moves tells whether the part has places to move.
func (p *Part) moves() bool {
	return slices.ContainsFunc(p.Grids, func(g Grid) bool { return g.size() > 1 })
}

// String describes it, such as "spatial 8×14×14, every 2 px".
func (r *Rep) String() string {
	if r.given != nil {
		return cmp.Or(r.name, string(Declared))
	}
	text := string(r.Kind())
	for i, p := range r.parts {
		if i > 0 {
			text += " +"
		}
		if i == 3 {
			return text + fmt.Sprintf(" %d more parts", len(r.parts)-i)
		}
		size := []string{strconv.Itoa(p.Channels)}
		every := ""
		for _, g := range p.Grids {
			size = append(size, strconv.Itoa(g.H), strconv.Itoa(g.W))
			switch {
			case g.Stride == [2]float64{1, 1}:
			case g.Stride[0] == g.Stride[1]:
				every = fmt.Sprintf(", every %g px", g.Stride[0])
			default:
				every = fmt.Sprintf(", every %g×%g px", g.Stride[0], g.Stride[1])
			}
		}
		text += " " + strings.Join(size, "×") + every
		if n := p.fields(); n > 0 {
			text += fmt.Sprintf(", %d %s", n, map[bool]string{true: "field", false: "fields"}[n == 1])
		}
	}
	return text
}

// fields is the number of orbits of channels, 0 without a mix by permutations.
func (p *Part) fields() int {
	if p.Mix == nil || !p.Mix.permutes() {
		return 0
	}
	n := 0
	seen := make([]bool, p.Channels)
	var visit func(c int32)
	visit = func(c int32) {
		if seen[c] {
			return
		}
		seen[c] = true
		for _, from := range p.Mix.From {
			visit(from[c])
		}
	}
	for c := range p.Channels {
		if !seen[c] {
			n++
			visit(int32(c))
		}
	}
	return n
}

// Exact tells whether g moves the value without resampling.
func (r *Rep) Exact(g group.Element) bool {
	if r.given != nil {
		return r.exact(g)
	}
	for _, p := range r.parts {
		if p.Mix != nil && (!p.Mix.permutes() || r.frame.mix(p.Mix, g) < -1) {
			return false
		}
		for _, grid := range p.Grids {
			if grid.size() == 1 {
				continue
			}
			if m, err := r.frame.mover(grid, g); err != nil || !m.exact {
				return false
			}
		}
	}
	return true
}

// mix is the number of an element in a mix, -1 for the identity, -2 if it is not known.
func (f *Frame) mix(m *Mix, g group.Element) int {
	for i, h := range m.Elements {
		if f.group.Dist(g, h) <= group.Tolerance {
			return i
		}
	}
	if f.group.Dist(g, f.group.Identity()) <= group.Tolerance {
		return -1
	}
	return -2
}

// Apply returns ρ(g)x. The error wraps [ErrElement] if the representation is not known for g.
func (r *Rep) Apply(g group.Element, x []float64) ([]float64, error) {
	if n := count(r.shape); len(x) != n {
		return nil, fmt.Errorf("%d numbers for a value of shape %v", len(x), r.shape)
	}
	if r.given != nil {
		return r.given(g, x)
	}
	out := make([]float64, len(x))
	for i := range r.parts {
		p := &r.parts[i]
		y := p.gather(x)
		for k, grid := range p.Grids {
			if grid.size() == 1 {
				continue
			}
			m, err := r.frame.mover(grid, g)
			if err != nil {
				return nil, err
			}
			if y, err = p.planes(y, k, m.plane(grid)); err != nil {
				return nil, err
			}
		}
		if p.Mix != nil {
			e := r.frame.mix(p.Mix, g)
			if e == -2 {
				return nil, fmt.Errorf("%w: %s moves channels in a way that is known for %d elements, not for %s",
					ErrElement, r.frame.group.Name(), len(p.Mix.Elements), group.Format(r.frame.group, g))
			}
			if e >= 0 {
				y = p.Mix.apply(e, y, p.places())
			}
		}
		p.scatter(out, y)
	}
	return out, nil
}

// plane moves one plane of a grid.
func (m *mover) plane(g Grid) func(to, from []float64) error {
	shape := []int{1, g.H, g.W}
	return func(to, from []float64) error {
		return m.move.Move(&space.Tensor{Shape: shape, Val: to}, &space.Tensor{Shape: shape, Val: from})
	}
}

// gather is the part of a value in canonical order; it may share memory with x.
func (p *Part) gather(x []float64) []float64 {
	if p.Index == nil {
		return x
	}
	y := make([]float64, len(p.Index))
	for i, v := range p.Index {
		y[i] = x[v]
	}
	return y
}

func (p *Part) scatter(out, y []float64) {
	if p.Index == nil {
		copy(out, y)
		return
	}
	for i, v := range p.Index {
		out[v] = y[i]
	}
}

// planes applies f to every plane of the grid k.
func (p *Part) planes(y []float64, k int, f func(to, from []float64) error) ([]float64, error) {
	out := make([]float64, len(y))
	size := p.Grids[k].size()
	inner := 1
	for _, g := range p.Grids[k+1:] {
		inner *= g.size()
	}
	if inner == 1 {
		for at := 0; at < len(y); at += size {
			if err := f(out[at:at+size], y[at:at+size]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	from, to := make([]float64, size), make([]float64, size)
	for at := 0; at < len(y); at += size * inner {
		for j := range inner {
			for i := range size {
				from[i] = y[at+i*inner+j]
			}
			if err := f(to, from); err != nil {
				return nil, err
			}
			for i := range size {
				out[at+i*inner+j] = to[i]
			}
		}
	}
	return out, nil
}

// apply mixes the channels of y, each of n places.
func (m *Mix) apply(e int, y []float64, n int) []float64 {
	out := make([]float64, len(y))
	if m.Matrix != nil {
		c := len(y) / n
		for i := range c {
			row := out[i*n : (i+1)*n]
			for j := range c {
				if w := m.Matrix[e][i*c+j]; w != 0 {
					for k, v := range y[j*n : (j+1)*n] {
						row[k] += float64(w * v)
					}
				}
			}
		}
		return out
	}
	for c, from := range m.From[e] {
		row, src := out[c*n:(c+1)*n], y[int(from)*n:(int(from)+1)*n]
		if m.Sign != nil && m.Sign[e][c] < 0 {
			for k, v := range src {
				row[k] = -v
			}
			continue
		}
		copy(row, src)
	}
	return out
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// relative is a over b, 0 if both are 0.
func relative(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 0
	}
	return math.Sqrt(a / b)
}

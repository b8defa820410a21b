package action

import (
	"errors"
	"fmt"
	"math"

	"nero/data/space"
	"nero/symmetry/group"
)

// Volume is the action of a group of space on grids of voxels; see [NewVolume].
type Volume struct {
	moves *moves
	opt   Options
	// C, D, H, W; -1 if any
	shape   []int
	scratch buffers
}

// volumeError is the error for a group that does not act on volumes. It wraps [errors.ErrUnsupported].
type volumeError struct{ text string }

func (e volumeError) Error() string { return e.text }

// Unwrap makes errors.Is find errors.ErrUnsupported, which the text need not repeat.
func (volumeError) Unwrap() error { return errors.ErrUnsupported }

// NewVolume is the action (g·v)(p) = v(g⁻¹p) of a group of motions of space on volumes. Points are (x, y, z) = (column,
// row, slice), measured in voxels from the centre, which is (n-1)/2 on an axis of n voxels; shifts are voxels too.
//
// Elements that permute the axes and change their signs, such as the 24 rotations of the cube (Octa) and its 48
// symmetries (Oh), and shifts by whole voxels are permutations of voxels and exact bit for bit, wherever axes that
// change places are equally long. All others read the volume between its voxels with the kernel of o, axis by axis:
// [Bilinear] is trilinear here. Outside the volume the border rule holds.
//
// s.Shape is (C, D, H, W), -1 or an empty shape admitting any length; elements that permute axes count as exact only if
// the shape says that these are equally long. The error wraps errors.ErrUnsupported if g does not act on space.
func NewVolume(g group.Group, s space.Spec, o Options) (*Volume, error) {
	shape, err := dims(s, 4)
	if err != nil {
		return nil, err
	}
	if len(o.Window) > 0 {
		return nil, fmt.Errorf("window %v: crop windows move over pictures and signals, not over volumes; leave "+
			"group.window out", o.Window)
	}
	if o, err = o.check(); err != nil {
		return nil, err
	}
	if o.Kernel.rule().whole != nil {
		return nil, fmt.Errorf("kernel %s is for pictures; volumes take nearest, bilinear (trilinear here), bicubic, "+
			"spline, quintic or lanczos", o.Kernel)
	}
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	switch {
	case m.axes == 0: // the identity alone
	case m.dim != 3:
		return nil, volumeError{g.Name() + " does not act on space by affine maps; volumes move by Octa (the 24 " +
			"rotations of the cube), Oh (its 48 symmetries), SO(3), O(3), SOg(3), T(3,Z) and other groups of space"}
	case m.clash != nil:
		return nil, m.clash
	case len(m.rows) > 0 || m.shift >= 0 || m.flow >= 0 || len(m.color) > 0 || len(m.back) > 0:
		return nil, volumeError{g.Name() + " does more than moving space, and a volume has no rows, times or colors"}
	}
	if err := m.strange("voxels"); err != nil {
		return nil, err
	}
	return &Volume{moves: m, opt: o, shape: shape}, nil
}

// Group is the group that acts.
func (a *Volume) Group() group.Group { return a.moves.group }

// Exact tells the elements that act by index.
func (a *Volume) Exact(g group.Element) bool {
	m, _, err := a.moves.at(g)
	if err != nil {
		return false
	}
	_, ok := voxelwise(m, [3]int{a.shape[3], a.shape[2], a.shape[1]})
	return ok
}

// axisOf is how one axis of the result reads: which axis of the source, in which direction, shifted by how many voxels.
type axisOf struct {
	from     int
	sign     int
	distance int
}

// voxelwise tells maps that send the grid of n voxels on the axes x, y and z to itself, -1 standing for an unknown
// length.
func voxelwise(m motion, n [3]int) (axes [3]axisOf, ok bool) {
	if m.a == nil {
		for i := range axes {
			axes[i] = axisOf{from: i, sign: 1}
		}
		return axes, true
	}
	for i := range 3 {
		at := -1
		for j := range 3 {
			switch x := m.a[3*i+j]; {
			case x == 0:
			case at < 0 && (x == 1 || x == -1):
				at = j
			default:
				return axes, false
			}
		}
		t := m.t[i]
		if at < 0 || t != math.Trunc(t) || math.Abs(t) > maxReach || at != i && (n[i] < 0 || n[i] != n[at]) {
			return axes, false
		}
		axes[i] = axisOf{from: at, sign: int(m.a[3*i+at]), distance: int(t)}
	}
	return axes, true
}

// Apply returns the moved volume, of the same size.
func (a *Volume) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	to := space.NewVolume(m.c, m.n[2], m.n[1], m.n[0])
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the size of v alone: a few numbers for each length of an axis.
func (a *Volume) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func asVolume(v space.Value) (*space.Volume, error) {
	x, ok := v.(*space.Volume)
	if !ok || x == nil {
		return nil, fmt.Errorf("want a volume, got %s", describe(v))
	}
	if x.C < 0 || x.D < 0 || x.H < 0 || x.W < 0 || len(x.Val) != x.C*x.D*x.H*x.W {
		return nil, fmt.Errorf("the volume has %d numbers, not %d×%d×%d×%d", len(x.Val), x.C, x.D, x.H, x.W)
	}
	return x, nil
}

// mover plans an element for volumes of the size of v.
func (a *Volume) mover(g group.Element, v space.Value) (*volumeMover, error) {
	x, err := asVolume(v)
	if err != nil {
		return nil, err
	}
	for i, n := range x.Dims() {
		if a.shape[i] >= 0 && a.shape[i] != n {
			return nil, fmt.Errorf("the volume has %d×%d×%d×%d voxels (channels×depth×height×width), the action was "+
				"made for %s×%s×%s×%s", x.C, x.D, x.H, x.W, length(a.shape[0]), length(a.shape[1]), length(a.shape[2]),
				length(a.shape[3]))
		}
	}
	if x.D < 1 || x.H < 1 || x.W < 1 || x.D > math.MaxInt32/x.H/x.W {
		return nil, fmt.Errorf("the volume has %d×%d×%d voxels, want 1 or more on every axis and at most 2³¹", x.D, x.H,
			x.W)
	}
	m, _, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	o := &volumeMover{kernel: a.opt.Kernel, border: a.opt.Border, c: x.C, n: [3]int{x.W, x.H, x.D}, scratch: &a.scratch}
	if axes, ok := voxelwise(m, o.n); ok {
		o.byIndex(axes)
		return o, nil
	}
	if err := o.between(m); err != nil {
		return nil, fmt.Errorf("element %v of %s: %w", g, a.moves.group.Name(), err)
	}
	return o, nil
}

// volumeMover moves volumes of n voxels along x, y and z. It is immutable but for a pool of buffers.
type volumeMover struct {
	kernel Kernel
	border Border
	c      int
	n      [3]int
	// Elements that move voxels by index: what each place along an axis of the result adds to the number of the voxel
	// that it reads; -1 outside.
	index [3][]int
	// and by how far it shifts
	distance [3]int
	// All others: voxel (x, y, z) of the result is read at start[k] + step[k][0]·x + step[k][1]·y + step[k][2]·z on
	// axis k.
	start [3]float64
	step  [3][3]float64

	scratch *buffers
}

// byIndex plans an element that moves voxels by index, in whole numbers throughout.
func (m *volumeMover) byIndex(axes [3]axisOf) {
	stride := [3]int{1, m.n[0], m.n[0] * m.n[1]}
	for i, a := range axes {
		m.index[i], m.distance[i] = make([]int, m.n[i]), a.distance
		limit := m.n[a.from]
		for k := range m.index[i] {
			// x'_i = sign·x_j + t from the centres, and axes that change places are equally long.
			at := k - a.distance
			if a.sign < 0 {
				at = limit - 1 - at
			}
			if at = m.border.index(at, limit); at >= 0 {
				at *= stride[a.from]
			}
			m.index[i][k] = at
		}
	}
}

// between plans an element that reads between the voxels.
func (m *volumeMover) between(g motion) error {
	inverse, err := inverse3(g.a)
	if err != nil {
		return err
	}
	var centre [3]float64
	for k, n := range m.n {
		centre[k] = float64(n-1) / 2
	}
	for k := range 3 {
		m.start[k] = centre[k]
		reach := math.Abs(centre[k])
		for i := range 3 {
			b := inverse[3*k+i]
			m.step[k][i] = b
			m.start[k] -= float64(b * (centre[i] + g.t[i]))
			reach += math.Abs(b * (2*centre[i] + math.Abs(g.t[i])))
		}
		if !(reach <= maxReach) {
			return errors.New("it moves points too far apart to be followed")
		}
	}
	return nil
}

// inverse3 is the inverse of a 3×3 matrix by its adjugate: the transpose where it keeps lengths.
func inverse3(a []float64) ([]float64, error) {
	if orthogonal(a, 3) {
		return []float64{a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]}, nil
	}
	d := det(a, 3)
	minor := func(r, c int) float64 {
		r1, r2, c1, c2 := (r+1)%3, (r+2)%3, (c+1)%3, (c+2)%3
		return float64(a[3*r1+c1]*a[3*r2+c2]) - float64(a[3*r1+c2]*a[3*r2+c1])
	}
	out := make([]float64, 9)
	for r := range 3 {
		for c := range 3 {
			if out[3*c+r] = minor(r, c) / d; math.IsNaN(out[3*c+r]) || math.IsInf(out[3*c+r], 0) {
				return nil, errors.New("the map has no inverse")
			}
		}
	}
	return out, nil
}

// at is where voxel (x, y, z) of the result reads, on the axes x, y and z.
func (m *volumeMover) at(x, y, z int) (s [3]float64) {
	for k := range 3 {
		p := &m.step[k]
		s[k] = m.start[k] + float64(p[2]*float64(z)) + float64(p[1]*float64(y)) + float64(p[0]*float64(x))
	}
	return s
}

// Move writes the moved volume.
func (m *volumeMover) Move(to, from space.Value) error {
	d, err := asVolume(to)
	if err != nil {
		return err
	}
	s, err := asVolume(from)
	if err != nil {
		return err
	}
	for _, x := range []*space.Volume{s, d} {
		if x.C != m.c || x.D != m.n[2] || x.H != m.n[1] || x.W != m.n[0] {
			return fmt.Errorf("prepared for %d×%d×%d×%d numbers, there are %d×%d×%d×%d", m.c, m.n[2], m.n[1], m.n[0],
				x.C,
				x.D, x.H, x.W)
		}
	}
	if shared(d.Val, s.Val) {
		return errAlias
	}
	if m.index[0] != nil {
		m.gather(d.Val, s.Val)
		return nil
	}
	src := s.Val
	if m.kernel == Spline {
		b := m.scratch.take(len(src))
		defer m.scratch.put(b)
		copy(*b, src)
		for k := range m.c {
			m.prefilter((*b)[k*m.size() : (k+1)*m.size()])
		}
		src = *b
	}
	m.interpolate(d.Val, src)
	return nil
}

func (m *volumeMover) size() int { return m.n[0] * m.n[1] * m.n[2] }

// gather moves voxels by index.
func (m *volumeMover) gather(dst, src []float64) {
	i := 0
	for k := range m.c {
		s := src[k*m.size() : (k+1)*m.size()]
		for _, z := range m.index[2] {
			for _, y := range m.index[1] {
				for _, x := range m.index[0] {
					if dst[i] = 0; z >= 0 && y >= 0 && x >= 0 {
						dst[i] = s[z+y+x]
					}
					i++
				}
			}
		}
	}
}

// prefilter turns voxels into the coefficients of the interpolating cubic B-spline, axis by axis.
func (m *volumeMover) prefilter(x []float64) {
	plane := m.n[0] * m.n[1]
	for z := range m.n[2] {
		prefilter(m.border, x[z*plane:(z+1)*plane], m.n[1], m.n[0])
	}
	prefilterRows(m.border, x, m.n[2], plane)
}

// interpolate reads between the voxels: the product of the kernel's weights on the three axes.
func (m *volumeMover) interpolate(dst, src []float64) {
	var idx [3][maxTaps]int32
	var wt [3][maxTaps]float64
	t, plane, size := m.kernel.taps(), m.n[0]*m.n[1], m.size()
	i := 0
	for z := range m.n[2] {
		for y := range m.n[1] {
			for x := range m.n[0] {
				s := m.at(x, y, z)
				for k := range 3 {
					axisTaps(m.kernel, m.border, s[k], m.n[k], &idx[k], &wt[k])
				}
				for c := range m.c {
					from, sum := src[c*size:(c+1)*size], 0.0
					for a := range t {
						if wt[2][a] == 0 {
							continue
						}
						var sheet float64
						for b := range t {
							if wt[1][b] == 0 {
								continue
							}
							var line float64
							row := int(idx[2][a])*plane + int(idx[1][b])*m.n[0]
							for e := range t {
								line += float64(wt[0][e] * from[row+int(idx[0][e])])
							}
							sheet += float64(wt[1][b] * line)
						}
						sum += float64(wt[2][a] * sheet)
					}
					dst[c*size+i] = sum
				}
				i++
			}
		}
	}
}

// Padded counts the voxels of one channel that the border rule has a part in. Of splines, which reach everywhere, the
// four nearest samples of each axis count.
func (a *Volume) Padded(g group.Element, v space.Value) (int, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return 0, err
	}
	return m.bare(), nil
}

// bare counts the voxels of the result that the border rule has a part in.
func (m *volumeMover) bare() int {
	if m.index[0] != nil {
		inside := 1
		for i, d := range m.distance {
			inside *= max(0, m.n[i]-max(d, -d))
		}
		return m.size() - inside
	}
	n := 0
	for z := range m.n[2] {
		for y := range m.n[1] {
			for x := range m.n[0] {
				s := m.at(x, y, z)
				for k := range 3 {
					if (ruled{from: s[k], limit: m.n[k]}).inside(m.kernel, 1) == 0 {
						n++
						break
					}
				}
			}
		}
	}
	return n
}

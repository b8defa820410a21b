package action

import (
	"errors"
	"fmt"
	"math"

	"nero/data/space"
	"nero/symmetry/group"
)

// timeline says where every number of a moved series is read: number i at start + step·i of a series of limit numbers.
type timeline struct {
	kernel Kernel
	border Border
	// numbers that are written
	n int
	// numbers that are read
	limit int
	start float64 //
	// 1, or -1 backwards
	step int
	// by index
	whole  bool
	weight [maxTaps]float64
}

// newTimeline is for a shift by so many numbers, after a reversal if back is set. The window, if it is not 0, is in the
// middle of the series and as long as what is written.
func newTimeline(o Options, limit, window int, shift float64, back bool) (*timeline, error) {
	t := &timeline{kernel: o.Kernel, border: o.Border, n: limit, limit: limit, step: 1}
	if limit < 1 || limit > math.MaxInt32 {
		return nil, fmt.Errorf("a series of %d numbers: want 1 to %d", limit, math.MaxInt32)
	}
	if !(math.Abs(shift) <= maxReach) {
		return nil, fmt.Errorf("the shift by %g is too far", shift)
	}
	first := 0
	if window > 0 {
		if window > limit {
			return nil, fmt.Errorf("the window of %d numbers is longer than the series of %d", window, limit)
		}
		t.n, first = window, corner(limit, window)
	}
	t.start = float64(first) - shift
	if back {
		t.start, t.step = float64(first+t.n-1)+shift, -1
	}
	t.start += 0
	t.whole = t.start == math.Trunc(t.start)
	if t.kernel == Nearest { // halves go to the later one, forwards and backwards
		t.start, t.whole = math.Floor(t.start+0.5), true
	}
	t.weight = t.kernel.rule().weigh(t.start - math.Floor(t.start))
	return t, nil
}

// inside is the numbers [lo, hi) of the result that are read of the series alone, and the sample that number 0 begins
// to read at.
func (t *timeline) inside() (lo, hi, base int) {
	taps := 1
	base = int(t.start)
	if !t.whole {
		taps = t.kernel.taps()
		base = int(math.Floor(t.start)) - (taps-1)/2
	}
	// base + step·i in [0, limit-taps].
	if t.step > 0 {
		lo, hi = -base, t.limit-taps+1-base
	} else {
		lo, hi = base-(t.limit-taps), base+1
	}
	lo = min(max(lo, 0), t.n)
	return lo, min(max(hi, lo), t.n), base
}

// taps writes the samples and weights of number i.
func (t *timeline) taps(i int, idx *[maxTaps]int32, w *[maxTaps]float64) int {
	if t.whole {
		k := t.border.index(int(t.start)+t.step*i, t.limit)
		if k < 0 {
			return 0
		}
		idx[0], w[0] = int32(k), 1
		return 1
	}
	axisTaps(t.kernel, t.border, t.start+float64(t.step*i), t.limit, idx, w)
	return t.kernel.taps()
}

// series writes one moved series. src is prefiltered for the kernel Spline.
func (t *timeline) series(dst, src []float64) {
	lo, hi, base := t.inside()
	var idx [maxTaps]int32
	var w [maxTaps]float64
	for _, r := range [2][2]int{{0, lo}, {hi, t.n}} {
		for i := r[0]; i < r[1]; i++ {
			var v float64
			for j := range t.taps(i, &idx, &w) {
				v += float64(w[j] * src[idx[j]])
			}
			dst[i] = v
		}
	}
	switch {
	case lo >= hi:
	case t.whole && t.step > 0:
		copy(dst[lo:hi], src[base+lo:])
	case t.whole:
		for i := lo; i < hi; i++ {
			dst[i] = src[base-i]
		}
	default:
		w := t.weight[:t.kernel.taps()]
		for i := lo; i < hi; i++ {
			x := src[base+t.step*i:]
			var v float64
			for j, k := range w {
				v += float64(k * x[j])
			}
			dst[i] = v
		}
	}
}

// known is the times of the result of which the numbers are known, as [space.Signal] says it: those that are read of
// the signal alone, and of what is known of it. Both are 0 if that is all.
func (t *timeline) known(s *space.Signal) (from, to int) {
	if t.border == Circular { // the signal goes on as it began
		return 0, 0
	}
	lo, hi, base := t.inside()
	a, b := s.Known()
	taps := 1
	if !t.whole {
		taps = t.kernel.taps()
	}
	// base + step·i in [a, b-taps].
	if t.step > 0 {
		lo, hi = max(lo, a-base), min(hi, b-taps-base+1)
	} else {
		lo, hi = max(lo, base-(b-taps)), min(hi, base-a+1)
	}
	switch {
	case lo == 0 && hi == t.n:
		return 0, 0
	case lo >= hi:
		return 1, 1 // none: zeros would stand for all
	}
	return lo, hi
}

// filled counts the numbers that the border rule has a part in.
func (t *timeline) filled() int {
	lo, hi, _ := t.inside()
	return t.n - (hi - lo)
}

// Signal is the action of a group on numbers in the order of time; see [NewSignal].
type Signal struct {
	moves *moves
	// nil if the numbers at one time do not mix
	typing *typing
	opt    Options
	// 0 if there is none
	window int
	port   string
	// -1 if any
	c, t int
}

// NewSignal is the action on signals. Shifts of time, [group.Shifting], are by index and exact where they are whole
// numbers of the signal; else the signal is read between its numbers with the kernel of o, which may be any but [Up3],
// [Area] and [Fourier]. A group with a period moves signals of just this length around. The others bring in what the
// border rule says, or, with o.Window of one length, move a window over a longer recording: then what enters is real.
// The reversal of time, [group.Temporal], is about the middle of the signal or window and comes first.
//
// o.Stride says how many samples of the shift one number of this signal stands for: 512 for probabilities per frame of
// 512 samples.
//
// s.Type "" says that the numbers themselves stay as they are and only their times move. With the types of [NewRows]
// the C channels are the numbers of a row, at every time: positions of three channels turn in space, and velocities
// also change their sign when time is reversed, whatever the channels. Under flows, [group.Flowing], the numbers at
// time t are moved by the element for t, counted in samples from the first. A signal of type unchanged stays as it is
// altogether.
//
// s.Shape is (C, T), -1 or an empty shape admitting any length.
func NewSignal(g group.Group, s space.Spec, o Options) (*Signal, error) {
	m, err := takeApart(g)
	if err != nil {
		return nil, err
	}
	return newSignal(m, s, o, true)
}

func newSignal(m *moves, s space.Spec, o Options, alone bool) (*Signal, error) {
	d, err := dims(s, 2)
	if err != nil {
		return nil, err
	}
	a := &Signal{moves: m, port: s.Name, c: d[0], t: d[1]}
	if err := m.strange("signals"); err != nil && s.Type != space.TypeUnchanged {
		return nil, fmt.Errorf("port %q: %w", s.Name, err)
	}
	if s.Type != "" {
		row := s
		row.Shape = nil
		if a.typing, err = newTyping(m.inner(), row, d[0], false); err != nil {
			return nil, err
		}
	}
	if a.opt, a.window, err = m.timeOptions(o, d[1], s.Name); err != nil {
		return nil, err
	}
	if alone && s.Type != space.TypeUnchanged && m.shift < 0 && len(m.back) == 0 &&
		(a.typing == nil || len(m.spatial) == 0 && m.flow < 0) && len(m.group.Chart()) > 0 {
		why := ""
		if a.typing == nil && (len(m.spatial) > 0 || m.flow >= 0) {
			why = " as long as nobody says what its channels are; say type: positions, vectors or others"
		}
		return nil, fmt.Errorf("port %q: %s does not move a signal%s: %w", s.Name, m.group.Name(), why,
			errors.ErrUnsupported)
	}
	return a, nil
}

// inner is the group that moves values at one time: the inner group of a flow, else the group itself.
func (m *moves) inner() *moves {
	if m.flow < 0 {
		return m
	}
	f, ok := m.factors[m.flow].(group.Flowing)
	if !ok {
		return m
	}
	in, err := takeApart(f.Inner())
	if err != nil {
		return m
	}
	return in
}

// timeOptions fills in and checks the options of what has a time axis of n numbers, -1 if any.
func (m *moves) timeOptions(o Options, n int, port string) (Options, int, error) {
	if m.flow >= 0 && (m.shift >= 0 || len(m.back) > 0) {
		return o, 0, fmt.Errorf(
			"port %q: %s: flows do not commute with shifts and reversals of time, so their product does not act: %w",
			port, m.group.Name(), errors.ErrUnsupported)
	}
	for _, i := range m.back {
		if m.shift >= 0 && i != m.shift && m.turn() == 0 {
			return o, 0, fmt.Errorf(
				"port %q: %s: reversal does not commute with shifts of time; their joint motions are E(1,Z): %w", port,
				m.group.Name(), errors.ErrUnsupported)
		}
		if m.shift >= 0 && i != m.shift {
			return o, 0, fmt.Errorf("port %q: %s: reversal does not commute with shifts of time: %w", port,
				m.group.Name(), errors.ErrUnsupported)
		}
	}
	if !(o.Stride >= 0) || math.IsInf(o.Stride, 0) {
		return o, 0, fmt.Errorf("port %q: stride %g: want samples per number of the signal, above 0", port, o.Stride)
	}
	if o.Stride == 0 {
		o.Stride = 1
	}
	window := 0
	if len(o.Window) > 0 {
		if len(o.Window) != 1 || o.Window[0] < 1 {
			return o, 0, fmt.Errorf("port %q: window %v: the window of a signal is one number, its length in samples",
				port, o.Window)
		}
		if window = o.Window[0]; n >= 0 && window > n {
			return o, 0, fmt.Errorf(
				"port %q: window %d: the signal has only %d samples; take a smaller group.window or longer signals",
				port, window, n)
		}
		o.Window = nil
	}
	if p := m.turn(); p > 0 {
		if o.Border == "" {
			o.Border = Circular
		}
		if o.Border != Circular || window > 0 {
			return o, 0, fmt.Errorf("port %q: %s moves signals around: it needs the border rule %s and no window", port,
				m.factors[m.shift].Name(), Circular)
		}
		if n >= 0 && float64(n)*o.Stride != float64(p) {
			return o, 0, fmt.Errorf(
				"port %q: %s moves %d samples around, the signal has %g; the group for it is Roll(%g)", port,
				m.factors[m.shift].Name(), p, float64(n)*o.Stride, float64(n)*o.Stride)
		}
	}
	o, err := o.check()
	if err != nil {
		return o, 0, err
	}
	if o.Kernel.rule().whole != nil {
		return o, 0, fmt.Errorf(
			"port %q: the kernel %s is for pictures; for signals take bilinear, bicubic, quintic, lanczos or spline",
			port, o.Kernel)
	}
	return o, window, nil
}

// turn is the period of the shift of time in samples, 0 if there is none.
func (m *moves) turn() int {
	if m.shift < 0 {
		return 0
	}
	if s, ok := m.factors[m.shift].(group.Shifting); ok {
		return s.Turn()
	}
	return 0
}

// timeline is where an element reads a series of n numbers.
func (m *moves) timeline(parts []group.Element, o Options, n, window int) (*timeline, error) {
	var by float64
	if m.shift >= 0 {
		s, ok := m.factors[m.shift].(group.Shifting)
		if !ok {
			return nil, errors.New("no factor shifts time")
		}
		if by = s.Shift(parts[m.shift]); math.IsNaN(by) {
			return nil, fmt.Errorf("element %v of %s: the shift is not a number", parts[m.shift], s.Name())
		}
		if p := s.Turn(); p > 0 && float64(n)*o.Stride != float64(p) {
			return nil, fmt.Errorf("%s moves %d samples around, the signal has %g", s.Name(), p, float64(n)*o.Stride)
		}
	}
	return newTimeline(o, n, window, by/o.Stride, m.reversed(parts))
}

// Group is the group that acts.
func (a *Signal) Group() group.Group { return a.moves.group }

// Exact tells the elements that move numbers by index and change signs alone.
func (a *Signal) Exact(g group.Element) bool {
	m, parts, err := a.moves.at(g)
	if err != nil {
		return false
	}
	if a.still() {
		return true
	}
	n := a.t
	if n < 0 {
		n = max(a.window, 1)
		if p := a.moves.turn(); p > 0 {
			n = int(float64(p) / a.opt.Stride)
		}
	}
	l, err := a.moves.timeline(parts, a.opt, n, a.window)
	if err != nil || !l.whole || !whole(a.moves, parts, a.opt) {
		return false
	}
	if a.typing == nil {
		return true
	}
	w := a.c
	if w < 0 {
		w = a.typing.unit
	}
	if a.moves.flow >= 0 { // the rest follows: velocities that are exact for one time are so for all whole times
		rows, err := a.flow(parts, 2, w)
		return err == nil && rows[1].exact() && a.opt.Stride == 1
	}
	r, err := a.typing.at(m, parts, w)
	return err == nil && r.exact() && (r == nil || !signed(a.typing.name))
}

// whole reports whether the shift is by whole numbers, before a kernel or the arithmetic rounds it.
func whole(m *moves, parts []group.Element, o Options) bool {
	if m.shift < 0 {
		return true
	}
	s, ok := m.factors[m.shift].(group.Shifting)
	if !ok {
		return true
	}
	k := s.Shift(parts[m.shift]) / o.Stride
	return k == math.Trunc(k)
}

func (a *Signal) still() bool { return a.typing != nil && a.typing.name == space.TypeUnchanged }

// flow is the map of the numbers at each of n times.
func (a *Signal) flow(parts []group.Element, n, w int) ([]*rowMap, error) {
	if n > maxFlow {
		return nil, fmt.Errorf("port %q: a flow over %d times: at most %d", a.port, n, maxFlow)
	}
	f, ok := a.moves.factors[a.moves.flow].(group.Flowing)
	if !ok {
		return nil, errors.New("no factor flows")
	}
	out := make([]*rowMap, n)
	for i := range out {
		m, inner, err := a.typing.moves.at(f.At(parts[a.moves.flow], float64(i)*a.opt.Stride))
		if err != nil {
			return nil, fmt.Errorf("time %d: %w", i, err)
		}
		if out[i], err = a.typing.at(m, inner, w); err != nil {
			return nil, fmt.Errorf("time %d: %w", i, err)
		}
	}
	return out, nil
}

// maxFlow is the most times that a flow is prepared for.
const maxFlow = 1 << 20

// Apply returns the moved signal, of the signal's or the window's length.
func (a *Signal) Apply(g group.Element, v space.Value) (space.Value, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	x, err := asSignal(v)
	if err != nil {
		return nil, err
	}
	to := space.NewSignal(x.C, m.line.n, x.Rate)
	if err := m.Move(to, v); err != nil {
		return nil, err
	}
	return to, nil
}

// Prepare computes what depends on the element and the size of v alone.
func (a *Signal) Prepare(g group.Element, v space.Value) (Mover, error) {
	m, err := a.mover(g, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Padded counts the numbers of one channel that the border rule has a part in. It is 0 for groups that move signals
// around.
func (a *Signal) Padded(g group.Element, v space.Value) (int, error) {
	m, err := a.mover(g, v)
	if err != nil || a.moves.turn() > 0 {
		return 0, err
	}
	return m.line.filled(), nil
}

func (a *Signal) mover(g group.Element, v space.Value) (*signalMover, error) {
	x, err := asSignal(v)
	if err != nil {
		return nil, err
	}
	if a.c >= 0 && x.C != a.c || a.t >= 0 && x.T != a.t {
		return nil, fmt.Errorf("port %q: the signal has %d×%d numbers (channels×times), the action was made for %s×%s",
			a.port, x.C, x.T, length(a.c), length(a.t))
	}
	m, parts, err := a.moves.at(g)
	if err != nil {
		return nil, err
	}
	o := &signalMover{c: x.C, t: x.T, typ: x.Type, scratch: &a.moves.scratch}
	if a.typing != nil {
		o.typ = a.typing.name
	}
	if a.still() {
		o.line, err = newTimeline(Options{Kernel: Nearest, Border: Zero}, x.T, 0, 0, false)
		return o, err
	}
	if o.line, err = a.moves.timeline(parts, a.opt, x.T, a.window); err != nil {
		return nil, fmt.Errorf("port %q: %w", a.port, err)
	}
	switch {
	case a.typing == nil:
	case a.moves.flow >= 0:
		o.flow, err = a.flow(parts, x.T, x.C)
	default:
		o.row, err = a.typing.at(m, parts, x.C)
	}
	return o, err
}

func asSignal(v space.Value) (*space.Signal, error) {
	x, ok := v.(*space.Signal)
	if !ok || x == nil {
		return nil, fmt.Errorf("want a signal, got %s", describe(v))
	}
	if x.C < 0 || x.T < 0 || len(x.Val) != x.C*x.T {
		return nil, fmt.Errorf("the signal has %d numbers, not %d×%d", len(x.Val), x.C, x.T)
	}
	return x, nil
}

type signalMover struct {
	line *timeline
	c, t int
	typ  string
	// of the numbers at every time
	row *rowMap
	// of the numbers at each time
	flow    []*rowMap
	scratch *buffers
}

// Move writes the moved signal. Where channels mix, or under the kernel Spline, it borrows memory for copies of the
// signal.
func (m *signalMover) Move(to, from space.Value) error {
	d, err := asSignal(to)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	s, err := asSignal(from)
	if err != nil {
		return err
	}
	if s.C != m.c || s.T != m.t {
		return fmt.Errorf("prepared for %d×%d numbers (channels×times), the argument has %d×%d", m.c, m.t, s.C, s.T)
	}
	if d.C != m.c || d.T != m.line.n {
		return fmt.Errorf("the result has %d×%d numbers (channels×times), it needs %d×%d", d.C, d.T, m.c, m.line.n)
	}
	if shared(d.Val, s.Val) {
		return errAlias
	}
	d.Rate, d.Type = s.Rate, m.typ
	d.Lo, d.Hi = m.line.known(s)
	src := s.Val
	if m.row != nil || m.flow != nil {
		b := m.scratch.take(len(src))
		defer m.scratch.put(b)
		m.mix(*b, src)
		src = *b
	}
	if m.line.kernel == Spline && !m.line.whole {
		b := m.scratch.take(len(src))
		defer m.scratch.put(b)
		copy(*b, src)
		for k := range m.c {
			prefilterRows(m.line.border, (*b)[k*m.t:(k+1)*m.t], m.t, 1)
		}
		src = *b
	}
	for k := range m.c {
		m.line.series(d.Val[k*m.line.n:(k+1)*m.line.n], src[k*m.t:(k+1)*m.t])
	}
	return nil
}

// mix moves the numbers at every time.
func (m *signalMover) mix(dst, src []float64) {
	a, b := m.scratch.take(m.c), m.scratch.take(m.c)
	defer m.scratch.put(a)
	defer m.scratch.put(b)
	for t := range m.t {
		for k := range m.c {
			(*a)[k] = src[k*m.t+t]
		}
		r := m.row
		if m.flow != nil {
			r = m.flow[t]
		}
		r.all(*b, *a, 1, m.c, nil)
		for k := range m.c {
			dst[k*m.t+t] = (*b)[k]
		}
	}
}

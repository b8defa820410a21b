package census

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"nero/data/space"
	"nero/data/split"
	"nero/measure/twosample"
	"nero/present/words"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Streams of random numbers.
const (
	streamControl = iota + 1
	streamCopies
	streamDraws
	streamAsked
	streamPooled
)

// taker holds what the samples were read as: tables with a row for each sample.
type taker struct {
	s *Subject
	// without the identity
	elements []group.Element
	read     *reading
	// the samples that numbers are of, which side a sample is on, both all where there are no sides
	reported   []int
	learn, ask []bool
	// the samples as they are, at each element, and there and back, nil where nothing is resampled
	still       *twosample.Table
	moved, back []*twosample.Table
	// moved by two random elements
	control [2]*twosample.Table
	// by which neighbors are found: all samples, and those that are asked, at each element
	near      *twosample.Table
	asked     []int
	nearMoved []*twosample.Table
	// the numbers that are to be answered, NaN where there is none; nil where there are classes or nothing
	target []float64
	// the randomisation, nil where there is none
	copies *twosample.Copies
	// Why there is none
	noCopies string
	// of each copy, and of each sample; nil where there are no poses
	copyAxes, axes []axis
	resampled      bool
	// height and width of pictures, 0 for other samples
	height, width int
	// how many of the samples that were looked at have something filled in by the border rule at some element
	looked, padded atomic.Int64
}

// axis is the direction in which a sample is longest: a unit vector up to its sign, nil where it has none.
type axis []float64

// parallel calls f for 0 to n-1 on some goroutines. Of several errors it is the first in order that is returned,
// whatever
// the number of goroutines.
func parallel(ctx context.Context, workers, n int, f func(i int) error) error {
	var wait sync.WaitGroup
	var next atomic.Int64
	var mu sync.Mutex
	var first error
	at := n
	failed := func(i int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if i < at {
			at, first = i, err
		}
	}
	stop := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return at < n || ctx.Err() != nil
	}
	for range min(max(workers, 1), max(n, 1)) {
		wait.Go(func() {
			for !stop() {
				i := int(next.Add(1)) - 1 // all before it were taken, and are finished, too
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					failed(i, err)
				}
			}
		})
	}
	wait.Wait()
	if first != nil {
		return first
	}
	return ctx.Err()
}

func (t *taker) step(n int) {
	if t.s.Step != nil {
		t.s.Step(n)
	}
}

// newTaker reads all samples once, moves each by all elements, and keeps what is read of them.
func newTaker(ctx context.Context, s *Subject) (*taker, error) {
	t := &taker{s: s}
	identity := s.Group.Identity()
	for _, g := range s.Elements {
		if s.Group.Dist(g, identity) > group.Tolerance {
			t.elements = append(t.elements, g)
		}
	}
	if len(t.elements) == 0 {
		return nil, errors.New("no element but the identity is to be tested: name others")
	}
	n := len(s.IDs)
	first, err := s.Sample(0)
	if err != nil {
		return nil, err
	}
	still, err := s.Action.Apply(identity, first.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", first.ID, err)
	}
	if err := t.named(still); err != nil {
		return nil, err
	}
	t.divide()
	if t.read, err = read(t.part(still), s.Kinds); err != nil {
		return nil, err
	}
	d, near := len(t.read.of(t.part(still))), len(t.read.neighborly(t.part(still)))
	t.still, t.near = twosample.NewTable(n, d), twosample.NewTable(n, near)
	t.control = [2]*twosample.Table{twosample.NewTable(n, d), twosample.NewTable(n, d)}
	t.target = make([]float64, n)
	t.asked = t.shuffled("asked", mostAsked)
	place := make([]int, n) // among those that are asked, -1 for none
	for i := range place {
		place[i] = -1
	}
	for k, i := range t.asked {
		place[i] = k
	}
	t.moved, t.back = make([]*twosample.Table, len(t.elements)), make([]*twosample.Table, len(t.elements))
	t.nearMoved = make([]*twosample.Table, len(t.elements))
	for k, g := range t.elements {
		t.moved[k], t.nearMoved[k] = twosample.NewTable(n, d), twosample.NewTable(len(t.asked), near)
		if !action.Exact(s.Action, g) {
			t.back[k] = twosample.NewTable(n, d)
		}
	}
	t.prepareCopies(d)
	inCopies := make([]int, n)
	for i := range inCopies {
		inCopies[i] = -1
	}
	if t.copies != nil {
		for k, i := range t.shuffled("copies", t.copies.Objects) {
			inCopies[i] = k
		}
	}
	move, err := newMover(s.Action, append(slices.Clone(t.elements), identity), first.Value)
	if err != nil {
		return nil, err
	}
	if hasAxis(t.part(still), s.Kinds) {
		t.axes = make([]axis, n)
	}
	for _, leaf := range space.Leaves(still) {
		if p, ok := leaf.(space.Pictured); ok {
			t.height, t.width = p.Pictures()[0].H, p.Pictures()[0].W
			break
		}
	}
	if s.Began != nil {
		s.Began(n*len(t.elements) + n*(2*len(t.elements)+1) + t.steps())
	}
	err = parallel(ctx, s.Workers, n, func(i int) error {
		defer t.step(len(t.elements))
		x, err := s.Sample(i)
		if err != nil {
			return err
		}
		if err := t.one(i, place[i], inCopies[i], x.Value, move); err != nil {
			return fmt.Errorf("%s: %w", x.ID, err)
		}
		t.target[i] = number(x.Target)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// divide says which samples are learned from and which are asked about.
func (t *taker) divide() {
	n := len(t.s.IDs)
	t.learn, t.ask = make([]bool, n), make([]bool, n)
	for i := range n {
		t.learn[i] = t.s.Sides == nil || t.s.Sides[i] == split.Fit
		if t.ask[i] = t.s.Sides == nil || t.s.Sides[i] == split.Confirm; t.ask[i] {
			t.reported = append(t.reported, i)
		}
	}
}

// shuffled are some of the samples that are reported on, which their names decide.
func (t *taker) shuffled(purpose string, most int) []int {
	var out []int
	for _, i := range twosample.Shuffle(twosample.Hash(t.s.Seed, purpose), t.s.IDs) {
		if t.ask[i] && len(out) < most {
			out = append(out, i)
		}
	}
	return out
}

// part is the field of a sample that is looked at, or all of it.
func (t *taker) part(v space.Value) space.Value {
	if t.s.Value == "" {
		return v
	}
	for name, leaf := range space.Leaves(v) {
		if name == t.s.Value {
			return leaf
		}
	}
	return v
}

// named reports whether samples have the field that is asked for.
func (t *taker) named(v space.Value) error {
	var names []string
	for name := range space.Leaves(v) {
		names = append(names, name)
	}
	switch {
	case t.s.Value == "" || slices.Contains(names, t.s.Value):
		return nil
	case len(names) == 1 && names[0] == "":
		return fmt.Errorf("%w: %q is no field of the samples, which are one value each: name none", ErrValue, t.s.Value)
	}
	return fmt.Errorf("%w: %q is no field of the samples, which have %s", ErrValue, t.s.Value, words.List(names))
}

// ErrValue says that samples have no field of a name.
var ErrValue = errors.New("no such value")

// number is the one number that a sample is to be answered with, NaN where it is none.
func number(target space.Value) float64 {
	if target == nil {
		return math.NaN()
	}
	var all []float64
	for _, leaf := range space.Leaves(target) {
		if _, ok := leaf.(space.Linear); ok && len(leaf.Numbers()) == 1 {
			all = append(all, leaf.Numbers()[0])
		}
	}
	if len(all) != 1 { // none, or several of which nobody says which
		return math.NaN()
	}
	return all[0]
}

// put reads a value into a row.
func (t *taker) put(to *twosample.Table, row int, x []float64) error {
	if len(x) != to.D {
		return fmt.Errorf("it reads as %d numbers, and the first sample as %d: samples must have one form", len(x),
			to.D)
	}
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > math.MaxFloat32 {
			return fmt.Errorf("it holds a number that is not finite, or too large for float32, once moved: %w",
				space.ErrNotFinite)
		}
	}
	to.Set(row, x)
	return nil
}

// one reads one sample.
func (t *taker) one(i, asked, copied int, x space.Value, move *mover) error {
	still, err := move.by(len(t.elements), x)
	if err != nil {
		return err
	}
	if err := t.put(t.still, i, t.read.of(t.part(still))); err != nil {
		return err
	}
	if err := t.put(t.near, i, t.read.neighborly(t.part(still))); err != nil {
		return err
	}
	if t.axes != nil && t.ask[i] {
		t.axes[i] = axisOf(t.part(still), t.s.Kinds)
	}
	if asked >= 0 && asked < mostLooked {
		if err := t.look(x); err != nil {
			return err
		}
	}
	for k := range t.elements {
		y, err := move.by(k, x)
		if err != nil {
			return err
		}
		if err := t.put(t.moved[k], i, t.read.of(t.part(y))); err != nil {
			return err
		}
		if asked >= 0 {
			if err := t.put(t.nearMoved[k], asked, t.read.neighborly(t.part(y))); err != nil {
				return err
			}
		}
		if t.back[k] == nil {
			continue
		}
		back, err := move.there(k, x, y)
		if err != nil {
			return err
		}
		if err := t.put(t.back[k], i, t.read.of(t.part(back))); err != nil {
			return err
		}
	}
	r := t.rand(streamControl, i)
	for _, to := range t.control {
		y, err := t.s.Action.Apply(draw(t.s.Group, r), x)
		if err != nil {
			return err
		}
		if err := t.put(to, i, t.read.of(t.part(y))); err != nil {
			return err
		}
	}
	if copied >= 0 {
		return t.copy(i, copied, x, move)
	}
	return nil
}

// mostLooked is at how many samples it is looked whether the border rule fills something in.
const mostLooked = 50

// look counts a sample, and whether the border rule has a part in it that can be seen: what comes in beside a black
// edge
// is black, too.
func (t *taker) look(x space.Value) error {
	t.looked.Add(1)
	if black(x) {
		return nil
	}
	for _, g := range t.elements {
		leaves, err := action.Leaves(t.s.Action, g, x)
		if err != nil {
			return err
		}
		if leaves {
			t.padded.Add(1)
			return nil
		}
	}
	return nil
}

// black reports whether a value is pictures whose outermost pixels are all 0.
func black(x space.Value) bool {
	p, ok := x.(space.Pictured)
	if !ok {
		return false
	}
	for _, m := range p.Pictures() {
		for i, v := range m.Pix {
			y, x := i/m.W%m.H, i%m.W
			if v != 0 && (y == 0 || x == 0 || y == m.H-1 || x == m.W-1) {
				return false
			}
		}
	}
	return true
}

// notes say what the numbers do not.
func (t *taker) notes() []string {
	if n := t.padded.Load(); n > 0 {
		return []string{fmt.Sprintf("of %d samples %d show something that the border rule fills in where the group "+
			"has moved their edge away, and may be told from others by that: for turns keep to the inscribed "+
			"disc (mask: "+
			"disc), or choose another border", t.looked.Load(), n)}
	}
	return nil
}

// rand is the generator of one sample.
func (t *taker) rand(stream uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(twosample.Hash(t.s.Seed, t.s.IDs[i]), stream))
}

// draw is a random element: of the Haar measure where the group is compact, else of the window of the group.
func draw(g group.Group, r *rand.Rand) group.Element {
	if s, ok := g.(group.Sampler); ok {
		return s.Sample(r)
	}
	if f, ok := g.(group.Finite); ok {
		all := f.Elements()
		return all[r.IntN(len(all))]
	}
	return group.Draw(g, group.Window(g), r)
}

// mover moves samples by elements that were prepared, and by others.
type mover struct {
	act action.Action
	// the whole picture, where act shows a window of it, and whether it does
	whole    action.Action
	windowed bool
	elements []group.Element
	// of each element and of its inverse; nil where nothing is prepared
	forth, back []action.Mover
	from        []int
	like        space.Value
}

// newMover prepares elements for samples like the given one.
func newMover(act action.Action, elements []group.Element, like space.Value) (*mover, error) {
	m := &mover{act: act, whole: act, elements: elements, from: slices.Clone(like.Dims())}
	if w, ok := action.Uncut(act); ok {
		m.whole, m.windowed = w, true
	}
	p, ok := act.(action.Preparer)
	if !ok {
		return m, nil
	}
	for _, g := range elements {
		for _, x := range []struct {
			of group.Element
			to *[]action.Mover
		}{{g, &m.forth}, {act.Group().Inv(g), &m.back}} {
			prepared, err := p.Prepare(x.of, like)
			if err != nil {
				return nil, fmt.Errorf("element %s: %w", group.Format(act.Group(), g), err)
			}
			*x.to = append(*x.to, prepared)
		}
	}
	var err error
	m.like, err = act.Apply(act.Group().Identity(), like)
	return m, err
}

// by moves a sample by element k.
func (m *mover) by(k int, x space.Value) (space.Value, error) {
	if m.forth == nil || !slices.Equal(x.Dims(), m.from) {
		return m.act.Apply(m.elements[k], x)
	}
	to := m.like.Like()
	return to, m.forth[k].Move(to, x)
}

// there moves a sample by element k and back. y is the sample at the element, as by gave it.
func (m *mover) there(k int, x, y space.Value) (space.Value, error) {
	if m.back == nil || m.windowed || !slices.Equal(x.Dims(), m.from) || !slices.Equal(y.Dims(), m.from) {
		return m.twice(m.elements[k], m.act.Group().Inv(m.elements[k]), x)
	}
	to := m.like.Like()
	return to, m.back[k].Move(to, y)
}

// twice moves a sample by one element and then by another.
func (m *mover) twice(first, second group.Element, x space.Value) (space.Value, error) {
	y, err := m.whole.Apply(first, x)
	if err != nil {
		return nil, err
	}
	return m.act.Apply(second, y)
}

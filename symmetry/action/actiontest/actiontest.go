// Package actiontest tells whether an action is one. It holds the laws that every action obeys and the conventions that
// every action on pictures follows, as functions that return what is wrong: call them from a test, or before a user's
// own action is trusted.
package actiontest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Case is what [Laws] tries an action on.
type Case struct {
	Action action.Action
	// Value is moved. It has no symmetry, so that a wrong action cannot hide; [Laws] refuses one whose numbers are all
	// equal.
	Value space.Value
	// Elements are tried one by one and, where Composes allows it, in all pairs. The identity and inverses are added.
	Elements []group.Element
	// Composes says that moving by h and then by g loses nothing that the product keeps, which a shift under a border
	// rule other than circular does. nil stands for always. It is asked about the elements of a pair, never about their
	// product.
	Composes func(g, h group.Element) bool
	// Floor is the largest admitted Distance of g(hx) and (gh)x where one of the elements resamples; 0 leaves those
	// out.
	Floor float64
	// Distance is between two moved values; nil is the largest difference of any two numbers relative to the largest
	// number.
	Distance func(a, b space.Value) float64
	// Reframes says that the result has another shape than the value, as under a crop window, so that nothing composes.
	Reframes bool
}

// Laws tries the laws of an action: the identity leaves every number (where it is exact), exact elements compose and
// invert bit for bit, other elements compose within the floor, results are finite and repeatable, the argument stays as
// it is, a prepared element does what Apply does, also for several callers at once, and nonsense is refused with an
// error. All violations are reported, at most three of a kind.
func Laws(c Case) error {
	l := &laws{Case: c, seen: map[string]int{}}
	if l.Distance == nil {
		l.Distance = Distance
	}
	if !varies(c.Value) {
		return errors.New("the value's numbers are all equal: nothing that moves would show")
	}
	gr := c.Action.Group()
	els := []group.Element{gr.Identity()}
	for _, g := range c.Elements {
		for _, x := range []group.Element{g, gr.Inv(g)} {
			if !slices.ContainsFunc(els, func(y group.Element) bool { return gr.Dist(x, y) == 0 }) {
				els = append(els, x)
			}
		}
	}
	results := make([]space.Value, len(els))
	for i, g := range els {
		results[i] = l.single(g)
	}
	l.identity(gr.Identity(), results[0])
	if !c.Reframes {
		for _, g := range els {
			for j, h := range els {
				if results[j] != nil && (c.Composes == nil || c.Composes(g, h)) {
					l.pair(g, h, results[j])
				}
			}
		}
	}
	l.nonsense(gr.Identity())
	return errors.Join(l.errs...)
}

type laws struct {
	Case
	seen map[string]int
	errs []error
}

func (l *laws) fail(kind, format string, args ...any) {
	if l.seen[kind]++; l.seen[kind] <= 3 {
		l.errs = append(l.errs, fmt.Errorf("%s: "+format, append([]any{kind}, args...)...))
	}
}

// apply moves v and checks everything that holds for one call. It returns nil after a failure.
func (l *laws) apply(g group.Element, v space.Value) space.Value {
	before := bits(v)
	o, err := l.Action.Apply(g, v)
	if err != nil {
		l.fail("apply", "element %v: %v", g, err)
		return nil
	}
	if !slices.Equal(before, bits(v)) {
		l.fail("argument", "element %v changes its argument", g)
		return nil
	}
	if !finite(o) {
		l.fail("finite", "element %v makes numbers that are not finite", g)
		return nil
	}
	return o
}

// single tries one element on its own.
func (l *laws) single(g group.Element) space.Value {
	o := l.apply(g, l.Value)
	if o == nil {
		return nil
	}
	if again := l.apply(g, l.Value); again != nil && !same(o, again) {
		l.fail("repeat", "element %v gives other numbers when applied again", g)
	}
	if l.Reframes != (shape(o) != shape(l.Value)) {
		l.fail("shape", "element %v turns %s into %s", g, shape(l.Value), shape(o))
	}
	p, ok := l.Action.(action.Preparer)
	if !ok {
		return o
	}
	m, err := p.Prepare(g, l.Value)
	if err != nil {
		l.fail("prepare", "element %v: %v", g, err)
		return o
	}
	var wait sync.WaitGroup
	to := make([]space.Value, 3)
	errs := make([]error, len(to))
	for i := range to {
		to[i] = spoiled(o)
		wait.Go(func() { errs[i] = m.Move(to[i], l.Value) })
	}
	wait.Wait()
	for i := range to {
		if errs[i] != nil {
			l.fail("move", "element %v: %v", g, errs[i])
		} else if !same(to[i], o) {
			l.fail("move", "element %v: a prepared element does something else than Apply", g)
		}
	}
	if bad := smaller(o); bad != nil && m.Move(bad, l.Value) == nil {
		l.fail("move", "element %v: a result of the wrong shape is accepted", g)
	}
	return o
}

func (l *laws) identity(e group.Element, ex space.Value) {
	switch {
	case ex == nil || l.Reframes:
	case action.Exact(l.Action, e):
		if !same(ex, l.Value) {
			l.fail("identity", "the identity changes the value")
		}
	case l.Floor > 0:
		if d := l.Distance(ex, l.Value); !(d <= l.Floor) {
			l.fail("identity", "the identity changes the value by %.3g, floor %.3g", d, l.Floor)
		}
	}
}

// pair compares g(hx) with (gh)x.
func (l *laws) pair(g, h group.Element, hx space.Value) {
	gr := l.Action.Group()
	gh := gr.Mul(g, h)
	exact := action.Exact(l.Action, g) && action.Exact(l.Action, h)
	if exact && !action.Exact(l.Action, gh) {
		l.fail("exact", "%v and %v are exact, their product %v is not", g, h, gh)
		return
	}
	if !exact && l.Floor == 0 {
		return
	}
	a, b := l.apply(g, hx), l.apply(gh, l.Value)
	if a == nil || b == nil {
		return
	}
	if exact {
		if !same(a, b) {
			l.fail("composition", "g(hx) is not (gh)x bit for bit for g = %v, h = %v", g, h)
		}
		return
	}
	if d := l.Distance(a, b); !(d <= l.Floor) {
		l.fail("composition", "g(hx) and (gh)x differ by %.3g for g = %v, h = %v, floor %.3g", d, g, h, l.Floor)
	}
}

// nonsense asks for what cannot be done.
func (l *laws) nonsense(e group.Element) {
	if _, trivial := l.Action.(action.Trivial); trivial {
		return // it takes anything
	}
	try := func(what string, g group.Element, v space.Value) {
		defer func() {
			if r := recover(); r != nil {
				l.fail("nonsense", "%s: panic: %v", what, r)
			}
		}()
		if _, err := l.Action.Apply(g, v); err == nil {
			l.fail("nonsense", "%s is accepted", what)
		}
	}
	try("no value", e, nil)
	try("a value of another kind", e, stranger{})
	try("an element with too many coordinates", append(slices.Clone(e), 0), l.Value)
	if bad := slices.Clone(e); len(bad) > 0 {
		bad[0] = math.NaN()
		try("an element with a NaN", bad, l.Value)
	}
}

// Orientation tries how an action on square, odd or even, one-channel pictures turns them. quarter is the element that
// turns counter-clockwise by 90 degrees as displayed, mirror the one that swaps left and right; without mirrors it is
// nil. All products are made with the group's Mul, so a reversed composition is found as well.
//
// The pictures are those of the table of D4: out[r][c] = in[index].
//
//	0 identity             [r][c]          4 half turn            [n-1-r][n-1-c]
//	1 quarter, then mirror [n-1-c][n-1-r]  5 quarter, then 7      [c][r]
//	2 quarter turn         [c][n-1-r]      6 three quarter turns  [n-1-c][r]
//	3 mirror left/right    [r][n-1-c]      7 mirror up/down       [n-1-r][c]
func Orientation(a action.Action, quarter, mirror group.Element) error {
	gr := a.Group()
	half := gr.Mul(quarter, quarter)
	try := map[int]group.Element{0: gr.Identity(), 2: quarter, 4: half, 6: gr.Mul(half, quarter)}
	if mirror != nil {
		vertical := gr.Mul(mirror, half)
		try[1], try[3], try[5], try[7] = gr.Mul(mirror, quarter), mirror, gr.Mul(vertical, quarter), vertical
	}
	var errs []error
	for _, n := range []int{4, 5} {
		x := space.NewImage(1, n, n)
		for i := range x.Pix {
			x.Pix[i] = float64(1 + i*i)
		}
		for i := range 8 {
			g, ok := try[i]
			if !ok {
				continue
			}
			v, err := a.Apply(g, x)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			o, ok := v.(*space.Image)
			if !ok || o.H != n || o.W != n {
				errs = append(errs, fmt.Errorf("element %d of D4: the result is %s", i, shape(v)))
				continue
			}
			if why := compare(x, o, i); why != "" {
				errs = append(errs, fmt.Errorf("element %d of D4 on %d×%d pixels: %s", i, n, n, why))
			}
		}
	}
	return errors.Join(errs...)
}

// D4 is the source of row r, column c of an n×n picture under element i of the table of [Orientation].
func D4(i, n, r, c int) (row, col int) {
	m := n - 1
	switch i {
	case 0:
		return r, c
	case 1:
		return m - c, m - r
	case 2:
		return c, m - r
	case 3:
		return r, m - c
	case 4:
		return m - r, m - c
	case 5:
		return c, r
	case 6:
		return m - c, r
	case 7:
		return m - r, c
	}
	panic("actiontest: D4 has the elements 0 to 7")
}

// compare says which pixel of o is the first one that is not the pixel of x that element i brings there.
func compare(x, o *space.Image, i int) string {
	n := x.W
	for r := range n {
		for c := range n {
			a, b := D4(i, n, r, c)
			got := o.Pix[r*n+c]
			if math.Abs(got-x.Pix[a*n+b]) <= 1e-9 {
				continue
			}
			shows := fmt.Sprintf("%v, which is no pixel of the picture", got)
			if at := slices.Index(x.Pix, got); at >= 0 {
				shows = fmt.Sprintf("the pixel [%d][%d]", at/n, at%n)
			}
			return fmt.Sprintf("[%d][%d] shows %s, want [%d][%d]", r, c, shows, a, b)
		}
	}
	return ""
}

// Directions tries that the element right moves a picture by one pixel to the right and down by one pixel down; either
// may be nil.
func Directions(a action.Action, right, down group.Element) error {
	var errs []error
	try := func(g group.Element, dr, dc int, where string) {
		if g == nil {
			return
		}
		x := space.NewImage(1, 5, 7)
		x.Pix[2*7+3] = 1
		v, err := a.Apply(g, x)
		if err != nil {
			errs = append(errs, err)
			return
		}
		o, ok := v.(*space.Image)
		if !ok || len(o.Pix) != len(x.Pix) || !(math.Abs(o.Pix[(2+dr)*7+3+dc]-1) <= 1e-9) {
			errs = append(errs, fmt.Errorf("element %v does not move a spot by one pixel %s", g, where))
		}
	}
	try(right, 0, 1, "to the right")
	try(down, 1, 0, "down")
	return errors.Join(errs...)
}

// stranger is a value of a kind that no action knows.
type stranger struct{ space.Value }

func (stranger) Kind() space.Kind { return "stranger" }

// Distance is max|a-b| / max|b| over all numbers; NaN if the shapes differ.
func Distance(a, b space.Value) float64 {
	if shape(a) != shape(b) {
		return math.NaN()
	}
	var diff, size float64
	p, q := a.Parts(), b.Parts()
	for i := range p {
		x, errX := p[i].Float64s(nil)
		y, errY := q[i].Float64s(nil)
		if errX != nil || errY != nil {
			return math.NaN()
		}
		for j := range x {
			diff = max(diff, math.Abs(x[j]-y[j])) // max keeps a NaN
			size = max(size, math.Abs(y[j]))
		}
	}
	if diff == 0 {
		return 0
	}
	return diff / size
}

// shape names kind and parts.
func shape(v space.Value) string {
	var b bytes.Buffer
	b.WriteString(string(v.Kind()))
	for _, p := range v.Parts() {
		fmt.Fprintf(&b, " %s%v", p.Name, p.Shape)
	}
	return b.String()
}

func bits(v space.Value) []byte {
	var b []byte
	for _, p := range v.Parts() {
		b = append(b, p.Raw...)
	}
	return b
}

// same compares shapes and numbers. -0 counts as 0 and nothing equals NaN.
func same(a, b space.Value) bool { return Distance(a, b) == 0 }

func finite(v space.Value) bool {
	for _, p := range v.Parts() {
		x, err := p.Float64s(nil)
		if err != nil {
			return false
		}
		for _, y := range x {
			if math.IsNaN(y) || math.IsInf(y, 0) {
				return false
			}
		}
	}
	return true
}

func varies(v space.Value) bool {
	if v == nil {
		return false
	}
	for _, p := range v.Parts() {
		x, err := p.Float64s(nil)
		if err != nil {
			return false
		}
		for _, y := range x {
			if y != x[0] && finite(v) {
				return true
			}
		}
	}
	return false
}

// spoiled is a value of v's shape full of numbers that a mover has to overwrite.
func spoiled(v space.Value) space.Value {
	fill := func(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }
	switch x := v.(type) {
	case *space.Image:
		return &space.Image{C: x.C, H: x.H, W: x.W, Pix: fill(len(x.Pix))}
	case *space.Mask:
		return &space.Mask{H: x.H, W: x.W, Label: slices.Repeat([]int32{-77}, len(x.Label))}
	case *space.Scores:
		return &space.Scores{Val: fill(len(x.Val))}
	case *space.Tensor:
		return &space.Tensor{Shape: slices.Clone(x.Shape), Val: fill(len(x.Val))}
	case *space.Field:
		return &space.Field{H: x.H, W: x.W, Val: fill(len(x.Val))}
	case *space.Frames:
		o := &space.Frames{}
		for _, m := range x.Images {
			o.Images = append(o.Images, &space.Image{C: m.C, H: m.H, W: m.W, Pix: fill(len(m.Pix))})
		}
		return o
	case *space.Volume:
		return &space.Volume{C: x.C, D: x.D, H: x.H, W: x.W, Val: fill(len(x.Val))}
	case *space.Rows:
		return &space.Rows{N: x.N, W: x.W, Val: fill(len(x.Val))}
	case *space.Links:
		return &space.Links{
			Nodes: x.Nodes, From: slices.Repeat([]int32{-77}, len(x.From)),
			To: slices.Repeat([]int32{-77}, len(x.To)),
		}
	case *space.Pairs:
		return &space.Pairs{N: x.N, W: x.W, Val: fill(len(x.Val))}
	case *space.Signal:
		return &space.Signal{C: x.C, T: x.T, Rate: x.Rate, Val: fill(len(x.Val))}
	case *space.Record:
		o := &space.Record{Names: slices.Clone(x.Names)}
		for _, f := range x.Values {
			o.Values = append(o.Values, spoiled(f))
		}
		return o
	}
	panic(fmt.Sprintf("actiontest: no empty value of %T: add the kind here", v))
}

// smaller is a value of v's kind with fewer numbers, nil if there is none.
func smaller(v space.Value) space.Value {
	switch x := v.(type) {
	case *space.Image:
		return space.NewImage(x.C, x.H, x.W-1)
	case *space.Volume:
		return space.NewVolume(x.C, x.D, x.H, x.W-1)
	case *space.Mask:
		return &space.Mask{H: x.H, W: x.W - 1, Label: make([]int32, x.H*(x.W-1))}
	case *space.Scores:
		return &space.Scores{Val: make([]float64, len(x.Val)-1)}
	case *space.Tensor:
		return &space.Tensor{Shape: []int{len(x.Val) - 1}, Val: make([]float64, len(x.Val)-1)}
	case *space.Field:
		return space.NewField(x.H, x.W-1)
	case *space.Frames:
		return &space.Frames{Images: x.Images[1:]}
	case *space.Rows:
		return space.NewRows(x.N-1, x.W)
	case *space.Links:
		return &space.Links{Nodes: x.Nodes, From: x.From[1:], To: x.To[1:]}
	case *space.Pairs:
		return space.NewPairs(x.N-1, x.W)
	case *space.Signal:
		return space.NewSignal(x.C, x.T-1, x.Rate)
	case *space.Record:
		o := &space.Record{Names: x.Names, Values: slices.Clone(x.Values)}
		o.Values[0] = smaller(x.Values[0])
		return o
	}
	return nil
}

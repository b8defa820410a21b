package convention

import (
	"context"
	"fmt"
	"math"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// motion moves a value by element j of the audit, or back by it on the output side.
type motion func(j int, v space.Value) (space.Value, error)

// variant is another convention.
type variant struct {
	// what would have to be so
	name string
	// what to do about it
	declare string
	also    []string
	// of the input motion; variants with equal keys share the runs of the model
	key string
	// nil: as declared
	in motion
	// of the output; nil: as declared
	back   motion
	centre bool
	// inputs are blanked near the border
	frame bool
	// from the first inputs, so that only the others can test it
	learned bool
	// need not move the output
	still bool
	// of another unit, so that it moves things by less or more than declared
	unit bool
	why  string

	error    float64
	interval audit.Interval
	inputs   int
	passes   bool
}

// title is the name with those of variants that are the same on these elements.
func (v *variant) title() string {
	t := v.name
	for i, a := range v.also {
		if i == 3 {
			return t + fmt.Sprintf(" (and %d more names for it)", len(v.also)-i)
		}
		t += " (or: " + a + ")"
	}
	return t
}

// moving is the motion of an action at the elements that at gives.
func moving(a action.Action, at func(j int) group.Element) motion {
	movers := map[int]*audit.Mover{}
	return func(j int, v space.Value) (space.Value, error) {
		m := movers[j]
		if m == nil {
			m = audit.NewMover(a, at(j))
			movers[j] = m
		}
		return m.Move(v)
	}
}

// unmoved leaves every value as it is.
func unmoved(_ int, v space.Value) (space.Value, error) { return v, nil }

// relabelled is a group of the plane whose elements move it by other maps.
type relabelled struct {
	group.Planar
	at func(g group.Element) ([2][2]float64, [2]float64)
}

// Affine is the other map.
func (r relabelled) Affine(g group.Element) (a [2][2]float64, t [2]float64) { return r.at(g) }

// blank is a picture with what lies outside the disc that every centre keeps inside blanked; other values come back as
// they are.
func blank(v space.Value) space.Value {
	p, ok := v.(space.Pictured)
	if !ok {
		return v
	}
	return p.Repaint(blanked)
}

func blanked(x *space.Image) *space.Image {
	const margin = 3 // a centre a pixel aside moves things by less
	r := float64(min(x.H, x.W)-1)/2 - margin
	y := &space.Image{C: x.C, H: x.H, W: x.W, Pix: append([]float64{}, x.Pix...)}
	for i := range y.Pix {
		dy, dx := float64(i%(x.H*x.W)/x.W)-float64(x.H-1)/2, float64(i%x.W)-float64(x.W-1)/2
		if elementary.Hypot(dy, dx) > r {
			y.Pix[i] = 0
		}
	}
	return y
}

// withNumbers is v with other numbers; nil for values without.
func withNumbers(v space.Value, x []float64) space.Value {
	w, err := v.With(x)
	if err != nil {
		return nil
	}
	return w
}

// probe is a value of the form of v without any symmetry; v itself if it has no numbers to change.
func (s *search) probe(v space.Value, purpose string) space.Value {
	x := v.Numbers()
	r := s.p.Rand(purpose, "")
	y := make([]float64, len(x))
	for i := range y {
		y[i] = r.Float64()
	}
	if w := withNumbers(v, y); w != nil {
		return w
	}
	return v
}

// traces are the numbers of a value after each element; nil if the motion does not fit.
func (s *search) traces(m motion, v space.Value) [][]float64 {
	var out [][]float64
	for _, j := range s.use {
		w, err := m(j, v)
		if err != nil {
			return nil
		}
		x := w.Numbers()
		out = append(out, x)
	}
	return out
}

func apart(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	var ss float64
	for i, x := range a {
		ss += float64((x - b[i]) * (x - b[i]))
	}
	return math.Sqrt(ss)
}

func equal(a, b [][]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !(apart(a[i], b[i]) <= 1e-9*(1+norm(b[i]))) {
			return false
		}
	}
	return true
}

func norm(x []float64) float64 {
	var ss float64
	for _, v := range x {
		ss += float64(v * v)
	}
	return math.Sqrt(ss)
}

// travel is how far a motion moves a value by each element; nil where the form of the value changes.
func (s *search) travel(m motion, v space.Value) []float64 {
	x := v.Numbers()
	var far []float64
	for _, t := range s.traces(m, v) {
		if len(t) != len(x) {
			return nil
		}
		far = append(far, apart(t, x))
	}
	return far
}

// stir is the share of the declared motion that a variant must keep at every element, so that it does not pass by
// moving nothing.
const stir = 0.1

// stirs reports whether a motion moves a value about as far as the declared one does.
func stirs(far, declared []float64) bool {
	if len(declared) == 0 {
		return true // the form changes, so there is nothing to compare
	}
	if len(far) != len(declared) {
		return false
	}
	for i := range far {
		if !(far[i] >= stir*declared[i]) {
			return false
		}
	}
	return true
}

// expected is how far a variant should move a value: as far as the declared motion, or by half of its size where the
// unit is in doubt.
func expected(v *variant, declared []float64, of space.Value) []float64 {
	if !v.unit {
		return declared
	}
	x := of.Numbers()
	out := make([]float64, len(declared))
	for i := range out {
		out[i] = norm(x) / 2
	}
	return out
}

// distinct drops variants that do not fit the values or are the declared convention on these elements, merges those
// that are the same, and marks those under which the test would become empty.
func (s *search) distinct(list []*variant) []*variant {
	p := s.p
	in, out, G := p.Subject.Plan.In, p.Subject.Plan.Out, p.Subject.Plan.Group
	declaredIn := moving(in, func(j int) group.Element { return p.Elements[j].G })
	declaredOut := moving(out, func(j int) group.Element { return G.Inv(p.Elements[j].G) })
	px, py := s.probe(s.x0, "probe in"), s.probe(s.y0, "probe out")
	type trace struct{ in, out [][]float64 }
	base := trace{s.traces(declaredIn, px), s.traces(declaredOut, py)}
	farIn, farOut := s.travel(declaredIn, s.x0), s.travel(declaredOut, s.y0)
	var kept []*variant
	var traced []trace
next:
	for _, v := range list {
		t := base
		if v.in != nil {
			if t.in = s.traces(v.in, px); t.in == nil {
				continue
			}
		}
		if v.back != nil {
			if t.out = s.traces(v.back, py); t.out == nil {
				continue
			}
		}
		if equal(t.in, base.in) && equal(t.out, base.out) {
			s.skipped++
			continue
		}
		for k, o := range traced {
			if kept[k].frame == v.frame && equal(t.in, o.in) && equal(t.out, o.out) {
				kept[k].also = append(kept[k].also, v.name)
				continue next
			}
		}
		if v.in != nil {
			if !stirs(s.travel(v.in, s.x0), expected(v, farIn, s.x0)) {
				v.why = "it hardly moves the input, so everything would pass"
			}
		}
		if v.back != nil && !v.still && !stirs(s.travel(v.back, s.y0), expected(v, farOut, s.y0)) {
			v.why = "it hardly moves the output"
		}
		kept, traced = append(kept, v), append(traced, t)
	}
	return kept
}

// measured are errors of variants.
type measured struct {
	// per variant, per sample: the largest
	abs    [][]float64
	frames [2]scale.Spread
}

// relative are the errors of variant k over a scale.
func (m *measured) relative(k int, scale float64) []float64 {
	out := make([]float64, len(m.abs[k]))
	for i, e := range m.abs[k] {
		if out[i] = math.Inf(1); scale > 0 {
			out[i] = e / scale
		}
	}
	return out
}

// scale is that of the answers to blanked inputs, or to others.
func (m *measured) scale(blanked bool) float64 {
	if blanked {
		return m.frames[1].Scale()
	}
	return m.frames[0].Scale()
}

// measure takes the error of variants on samples. Variants with the same motion of the input share its runs.
func (s *search) measure(ctx context.Context, list []*variant, pick []int) (*measured, error) {
	p := s.p
	G, in, out := p.Subject.Plan.Group, p.Subject.Plan.In, p.Subject.Plan.Out
	identity := audit.NewMover(in, G.Identity())
	declaredIn := moving(in, func(j int) group.Element { return p.Elements[j].G })
	declaredOut := moving(out, func(j int) group.Element { return G.Inv(p.Elements[j].G) })
	type source struct {
		in    motion
		frame bool
		// variants
		of []int
	}
	var sources []*source
	byKey := map[string]*source{}
	frames := [2]bool{}
	for k, v := range list {
		q := byKey[v.key]
		if q == nil {
			q = &source{in: v.in, frame: v.frame}
			if q.in == nil {
				q.in = declaredIn
			}
			byKey[v.key] = q
			sources = append(sources, q)
		}
		q.of = append(q.of, k)
		frames[frameOf(v.frame)] = true
	}
	stream := func(yield func(audit.Request, error) bool) {
		for _, i := range pick {
			one, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			for f, wanted := range frames {
				if !wanted {
					continue
				}
				v := one.Value
				if f == 1 {
					v = blank(v)
				}
				x, err := identity.Move(v)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s: %w", one.ID, err))
					return
				}
				if !yield(audit.Request{Sample: i, Element: -1, Role: f, Input: x}, nil) {
					return
				}
				for k, q := range sources {
					if frameOf(q.frame) != f {
						continue
					}
					for _, j := range s.use {
						gx, err := q.in(j, v)
						if err != nil {
							yield(audit.Request{}, fmt.Errorf("sample %s at %s: %w", one.ID, p.Elements[j].Label, err))
							return
						}
						if !yield(audit.Request{Sample: i, Element: j, Role: k, Input: gx}, nil) {
							return
						}
					}
				}
			}
		}
	}
	m := &measured{abs: make([][]float64, len(list))}
	valid := map[*variant]map[int][]bool{}
	var base space.Value
	err := p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
		if q.Element < 0 {
			base = y
			for k, v := range list {
				if frameOf(v.frame) == q.Role {
					m.abs[k] = append(m.abs[k], 0)
				}
			}
			if !space.Finite(y) {
				return nil
			}
			return m.frames[q.Role].Add(y)
		}
		for _, k := range sources[q.Role].of {
			v := list[k]
			back := v.back
			if back == nil {
				back = declaredOut
			}
			e := math.Inf(1)
			if z, err := back(q.Element, y); err == nil {
				e = difference(z, base, s.valid(valid, v, back, q.Element, base))
			}
			if math.IsNaN(e) {
				e = math.Inf(1)
			}
			if at := len(m.abs[k]) - 1; e > m.abs[k][at] {
				m.abs[k][at] = e
			}
		}
		return nil
	})
	return m, err
}

func frameOf(blanked bool) int {
	if blanked {
		return 1
	}
	return 0
}

// valid marks the numbers of a map that a motion about another centre brings from inside of it; nil for all of them.
func (s *search) valid(cache map[*variant]map[int][]bool, v *variant, back motion, j int, like space.Value) []bool {
	if !v.centre || v.back == nil {
		return nil
	}
	if cache[v] == nil {
		cache[v] = map[int][]bool{}
	}
	if ok, done := cache[v][j]; done {
		return ok
	}
	x := like.Numbers()
	ones := make([]float64, len(x))
	for i := range ones {
		ones[i] = 1
	}
	var keep []bool
	if w := withNumbers(like, ones); w != nil {
		if z, err := back(j, w); err == nil {
			y := z.Numbers()
			keep = make([]bool, len(y))
			for i := range y {
				keep[i] = math.Abs(y[i]-1) <= 1e-9
			}
		}
	}
	cache[v][j] = keep
	return keep
}

// difference is ‖a - b‖ over the numbers that count, +Inf for values of different form or if fewer than half of them
// count.
func difference(a, b space.Value, keep []bool) float64 {
	if keep == nil {
		d, err := scale.Compare(a, b)
		if err != nil {
			return math.Inf(1)
		}
		return d.Norm
	}
	x, y := a.Numbers(), b.Numbers()
	if len(x) != len(y) || len(keep) != len(x) {
		return math.Inf(1)
	}
	var ss float64
	n := 0
	for i := range x {
		if keep[i] {
			ss += float64((x[i] - y[i]) * (x[i] - y[i]))
			n++
		}
	}
	if 2*n < len(x) {
		return math.Inf(1)
	}
	return math.Sqrt(ss)
}

package layers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// reads are the values that a node needs.
func reads(n *onnxpb.NodeProto) []string {
	return append(slices.DeleteFunc(slices.Clone(n.GetInput()), func(v string) bool { return v == "" }),
		onnx.Captured(n)...)
}

// shares takes an error at the output apart, streaming: only what the layer before made of the output is kept.
type shares struct {
	name, unit string
	// Σc of every row, one per sample and element
	total [][]float64
	// T of the place before
	before [][]float64
	// rows per sample
	per  int
	dots []([]float64)
	// of every row, for the shares of some of them
	each    []([]float64)
	squares []float64
	// Σ‖Σc‖² per sample
	size []float64
	at   map[int]int
}

// newShares begins with T₀ and knows where it ends.
func newShares(name, unit string, first, last [][]float64, per int) *shares {
	s := &shares{
		name: name, unit: unit, before: first, per: per, size: make([]float64, len(first)/per),
		at: map[int]int{},
	}
	for i := range first {
		d := minus(first[i], last[i])
		s.total = append(s.total, d)
		s.size[i/per] += dot(d, d)
	}
	return s
}

// step takes in T after the layer of a row.
func (s *shares) step(row int, t [][]float64) {
	dots, each := make([]float64, len(s.size)), make([]float64, len(t))
	var square float64
	for i := range t {
		c := minus(s.before[i], t[i])
		each[i] = dot(c, s.total[i])
		dots[i/s.per] += each[i]
		square += dot(c, c)
	}
	s.each = append(s.each, each)
	s.before, s.at[row] = t, len(s.dots)
	s.dots, s.squares = append(s.dots, dots), append(s.squares, square)
}

func (s *shares) all() float64 {
	var t float64
	for _, v := range s.size {
		t += v
	}
	return t
}

// share of a row; NaN if it has none.
func (s *shares) share(row int, confidence float64) audit.Interval {
	k, ok := s.at[row]
	if !ok {
		return audit.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	}
	return audit.RatioInterval(s.dots[k], s.size, confidence)
}

// among is the share of a row over some of the elements; NaN if it has none, or these make no error.
func (s *shares) among(row int, elements []int) float64 {
	k, ok := s.at[row]
	if !ok {
		return math.NaN()
	}
	var part, all float64
	for i := range s.size {
		for _, j := range elements {
			at := i*s.per + j
			part, all = part+s.each[k][at], all+dot(s.total[at], s.total[at])
		}
	}
	return part / all
}

func (s *shares) decomposition(scale float64) Decomposition {
	d := Decomposition{Name: s.name, Unit: s.unit, Error: math.Sqrt(s.all()/float64(len(s.total))) / scale}
	for k := range s.dots {
		for _, v := range s.dots[k] {
			d.Sum += v / s.all()
		}
		d.Cancellation += s.squares[k] / s.all()
	}
	return d
}

// begin fixes both ends of what is to be taken apart.
func (l *look) begin(ctx context.Context) error {
	m := len(l.elements)
	if m > 0 {
		last := make([][]float64, len(l.outGX))
		for i := range l.outX {
			for j, e := range l.elements {
				y, err := l.out.Apply(e.G, l.outX[i][0].Val)
				if err != nil {
					return fmt.Errorf("%w: the action on the output: %w", audit.ErrUntested, err)
				}
				last[i*m+j] = y
			}
		}
		l.finite = newShares("elements", "", only(l.outGX), last, m)
	}
	if err := l.beginFlows(ctx); err != nil {
		return err
	}
	return l.walkable()
}

// beginFlows pushes the derivative of the input through the whole model.
func (l *look) beginFlows(ctx context.Context) error {
	flows := feature.Flows(l.group)
	if len(flows) == 0 {
		l.noFlows = l.group.Name() + " is not part of a group of the plane that moves continuously"
		if g, ok := group.Continuous(l.group); ok {
			l.noFlows = fmt.Sprintf("inside the model they are taken of pictures; those of the output along the %d "+
				"generators of %s are what the check lie takes", len(g.Generators()), l.group.Name())
		}
		return nil
	}
	x, ok := l.samples[0].(*space.Image)
	if !ok {
		l.noFlows = "derivatives are taken of pictures"
		return nil
	}
	if size, most := float64(float64(l.m.ONNX().Size())/(1<<20)), l.p.Param("weights"); size > most {
		l.noFlows = fmt.Sprintf(
			"the model has %.0f MB and derivatives hold it several times; to take them all the same: --set "+
				"layers.weights=%.0f", size, size+1)
		return nil
	}
	for _, f := range flows {
		m, err := l.frame.Map([]int{x.C, x.H, x.W}, [2]float64{1, 1})
		if err != nil {
			return err
		}
		var changes []space.Value
		var ends [][]float64
		for i := range l.flowed {
			_, v, ok := space.Both[*space.Image](x, l.samples[i])
			if !ok || v.C != x.C || v.H != x.H || v.W != x.W {
				l.noFlows = "the inputs have different forms"
				return nil
			}
			d, err := m.Derivative(f, v.Pix)
			if err != nil {
				return err
			}
			changes = append(changes, &space.Image{C: v.C, H: v.H, W: v.W, Pix: d})
			end, err := l.out.Derivative(f, l.outX[i][0].Val)
			if err != nil {
				return l.without("the output: " + err.Error())
			}
			ends = append(ends, end)
		}
		tangents, err := l.m.Tangents(changes)
		if err != nil {
			return l.without(err.Error())
		}
		part, err := l.m.Part(ctx, l.m.Inputs(), []string{l.output})
		if err != nil {
			return err
		}
		in, err := l.m.Arrays(ctx, l.samples[:l.flowed])
		if err != nil {
			return errors.Join(err, part.Close())
		}
		out, err := part.Push(ctx, in, tangents)
		if err = errors.Join(err, l.closed(part)); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return l.without(err.Error())
		}
		l.p.Progress(l.flowed)
		l.flows = append(l.flows, f)
		l.along = append(l.along, newShares(f.Name, f.Unit, only(out), ends, 1))
	}
	return nil
}

// without gives derivatives up.
func (l *look) without(why string) error {
	l.noFlows, l.flows, l.along = why, nil, nil
	return nil
}

// walkable says that there is something to measure.
func (l *look) walkable() error {
	if l.finite == nil && len(l.along) == 0 {
		return fmt.Errorf("%w: the plan visits no element, and there is no derivative: %s", audit.ErrUntested,
			l.noFlows)
	}
	return nil
}

// walk goes through the layers, one at a time.
func (l *look) walk(ctx context.Context) error {
	if err := l.inside(ctx, l.first); err != nil {
		return err
	}
	cur := l.first
	l.start, l.first = l.first.x[:1], nil // the values of the layers take a lot of memory
	var seen map[string]bool
	if len(cur.live) == len(l.m.Inputs()) { // inputs that lead nowhere are not kept: the model finds out one by one
		seen = map[string]bool{}
		for _, v := range cur.live {
			seen[v] = true
		}
	}
	places := l.places()
	l.spare = max(1, len(places)/spares)
	for k, y := range l.layers[1:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if cur.blind(y.Live) == "" {
			if err := l.learn(ctx, seen, k+1); err != nil {
				return err
			}
		}
		next, err := l.layer(ctx, cur, y, places[y.Index])
		if err != nil {
			return fmt.Errorf("layer %s (%s): %w", y.Name, y.Op, err)
		}
		if next != nil {
			cur = next
		}
		l.clear()
	}
	return nil
}

// learn lets the model find out where samples lie in the values after the layer at k and those that come next, many at
// a time: one by one, each would cost runs of everything before it. Values that nobody comes to ask for are left out.
func (l *look) learn(ctx context.Context, seen map[string]bool, k int) error {
	const most, numbers = 24, 2 << 20
	if seen == nil {
		return nil
	}
	var names []string
	total := 0
	for _, y := range l.layers[k:] {
		for _, v := range y.Live {
			if seen[v] {
				continue
			}
			seen[v] = true
			names, total = append(names, v), total+size(l.shapes[v])
		}
		if len(names) == 0 || len(names) >= most || total > numbers {
			break
		}
	}
	if len(names) == 0 {
		return nil
	}
	_, err := l.m.Values(ctx, l.start, names)
	if err == nil && l.large {
		err = l.m.Close() // almost the whole model is open by now
		l.clear()
	}
	return err
}

// spares is how many places there are for each one more that may be measured because a layer breaks there.
const spares = 8

// places chooses the layers after which contributions are measured: all, or those with the fewest live values, evenly
// spread. The last is among them.
func (l *look) places() map[int]bool {
	most := int(l.p.Param("cuts"))
	list := l.layers[1:]
	out := map[int]bool{}
	if len(list) > most {
		fewest := len(list[0].Live)
		for _, y := range list {
			fewest = min(fewest, len(y.Live))
		}
		narrow := slices.DeleteFunc(slices.Clone(list), func(y interior.Layer) bool { return len(y.Live) > fewest })
		if len(narrow) >= most {
			list = narrow
		}
	}
	k := min(most, len(list))
	for i := range k {
		out[list[(i+1)*len(list)/k-1].Index] = true
	}
	out[l.layers[len(l.layers)-1].Index] = true
	return out
}

// layer measures one layer. It returns the state after it, nil if that cannot be told.
func (l *look) layer(ctx context.Context, cur *cut, y interior.Layer, place bool) (next *cut, err error) {
	row := Row{
		Index: y.Index, Name: y.Name, Op: y.Op, Prefix: math.NaN(), Injected: math.NaN(), Floor: math.NaN(),
		Proper: math.NaN(), Improper: math.NaN(), Status: "tested",
		Share: audit.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()},
	}
	row.bridge = !y.Wrapper && l.bridge(cur, l.maker(y.Produced[0]))
	if why := cur.blind(y.Live); why != "" {
		row.Status = untestable + why
		l.rows = append(l.rows, row)
		return nil, nil //nolint:nilnil // no state, and nothing wrong
	}
	part, err := l.m.Part(ctx, cur.live, y.Live)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	next = &cut{layer: y, live: y.Live}
	if next.x, err = part.Run(ctx, cur.x); err != nil {
		return nil, err
	}
	moved, err := part.Run(ctx, cur.rx)
	if err != nil {
		return nil, err
	}
	why, constant, err := l.represent(ctx, cur, next, moved)
	if err != nil {
		return nil, err
	}
	if why == "" {
		why = l.unknown(next)
	}
	if why != "" {
		row.Status = untestable + why
		l.rows = append(l.rows, row)
		return nil, nil //nolint:nilnil // no state, and nothing wrong
	}
	var mine []int // values that the layer, or those before it that could not be told, made
	for k, v := range next.live {
		if next.reps[k] != nil && !slices.Contains(cur.live, v) {
			mine = append(mine, k)
		}
	}
	if next.gx, err = part.Run(ctx, cur.gx); err != nil {
		return nil, err
	}
	cur.gx = nil // values of layers are large; what is not needed any more goes first
	l.clear()
	if err := l.measure(ctx, part, cur, next, moved, mine, &row); err != nil {
		return nil, err
	}
	cur.rx = nil
	l.clear()
	if err := l.move(next, moved); err != nil {
		return nil, err
	}
	for k := len(l.rows) - 1; k >= 0 && strings.HasPrefix(l.rows[k].Status, untestable); k-- {
		row.Together = append([]string{l.rows[k].Name}, row.Together...)
	}
	if len(row.Together) > 0 {
		row.Status = "tested together with " + strings.Join(row.Together, ", ")
	}
	if constant {
		row.Status = "exempt: what it makes does not depend on these inputs"
	}
	for _, k := range mine {
		r := next.reps[k]
		row.Rep, row.Origin, row.Why = r.String(), r.Origin, r.Why
		row.Type = l.typeOf(next.live[k], next.x[0][k].Shape)
	}
	if len(mine) == 0 {
		row.Rep, row.Status = "-", "exempt: it makes nothing that is needed later"
	}
	at := len(l.rows)
	l.rows = append(l.rows, row)
	l.p.Progress((len(next.x) + 2*len(next.gx)) / max(1, len(l.layers)-1))
	if !place && row.Above && l.spare > 0 { // what breaks has a share of its own, also where there are too many places
		place = true
		l.spare--
	}
	if place {
		if err := l.contribute(ctx, next, at); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// untestable begins the status of a layer that could not be measured.
const untestable = "untestable: "

// unknown says which element cannot be applied to what is live, and why; "" if all can.
func (l *look) unknown(c *cut) string {
	for _, e := range l.elements {
		for k, r := range c.reps {
			if r == nil {
				continue
			}
			if _, err := r.Apply(e.G, c.x[0][k].Val); err != nil {
				return fmt.Sprintf("%s: %v", c.live[k], err)
			}
		}
	}
	return ""
}

// move computes ρ(g)z of what is live. Of values that hold no floating-point numbers it is what the layer made of moved
// inputs.
func (l *look) move(c *cut, moved [][]interior.Array) error {
	m := len(l.elements)
	c.rx = make([][]interior.Array, len(c.x)*m)
	for i := range c.x {
		for j, e := range l.elements {
			row := slices.Clone(c.x[i])
			for k, r := range c.reps {
				if r == nil {
					row[k] = moved[i*m+j][k]
					continue
				}
				v, err := r.Apply(e.G, c.x[i][k].Val)
				if err != nil {
					return err
				}
				row[k] = interior.Array{Shape: c.x[i][k].Shape, Val: v}
			}
			c.rx[i*m+j] = row
		}
	}
	return nil
}

// clear gives memory back where there is much of it: what a layer leaves is several times what the next one needs.
func (l *look) clear() {
	if l.large {
		runtime.GC()
	}
}

// measure fills in prefix, injected error and floor of a layer, over the values that it made.
func (l *look) measure(ctx context.Context, part *interior.Part, cur, next *cut, moved [][]interior.Array, mine []int,
	row *Row,
) error {
	m := len(l.elements)
	s := centred(next.x, mine)
	if m > 0 {
		prefix, injected := make([]float64, len(next.x)), make([]float64, len(next.x))
		alone := make([]float64, m)
		for i := range next.x {
			for j, e := range l.elements {
				a, err := l.back(next, next.gx[i*m+j], i, mine, e.G)
				if err != nil {
					return err
				}
				b, err := l.back(next, moved[i*m+j], i, mine, e.G)
				if err != nil {
					return err
				}
				prefix[i] += a / float64(m)
				injected[i] += b / float64(m)
				alone[j] += b / float64(len(next.x)) / s
			}
		}
		row.Factors = l.byFactor(alone)
		row.Proper, row.Improper = l.byHand(alone)
		row.Prefix, row.Injected = mean(prefix)/s, mean(injected)/s
		shaken, err := part.Run(ctx, l.shaken(cur))
		if err != nil {
			return err
		}
		var rounding float64
		for i := range shaken {
			rounding += apart(shaken[i], next.x[i], mine) / float64(len(shaken))
		}
		row.Floor = rounding / s
		if p := l.points; p != nil {
			row.Floor = elementary.Hypot(row.Floor, max(p.fitting(cur), p.fitting(next)))
		}
		row.Above = row.Injected > l.p.Policy.RoundingFactor*row.Floor && row.Injected > leastError
		floors, err := l.resampled(ctx, part, cur, next, mine)
		if err != nil {
			return err
		}
		if floors != nil {
			row.resamples = true
			row.Floor = elementary.Hypot(row.Floor, mean(floors)/s)
			row.chance = audit.RatioChance(injected, floors)
		}
	}
	return nil
}

// leastError is an error below which nothing is said: that of weights that are stored as float32, half of a step beside
// 1. A filter and its turned copies are equal to this accuracy at best where they were computed, and no reference in
// float64 mends it.
const leastError = 1.0 / (1 << 24)

// back is ‖ρ(g)⁻¹y - z(x)‖ over values of a cut.
func (l *look) back(c *cut, y []interior.Array, i int, mine []int, g group.Element) (float64, error) {
	var t float64
	for _, k := range mine {
		v := y[k].Val
		if len(v) != len(c.x[i][k].Val) {
			return math.Inf(1), nil
		}
		z, err := c.reps[k].Apply(l.group.Inv(g), v)
		// the inverse is not among the elements: the norm of a permutation is the same there
		if errors.Is(err, feature.ErrElement) {
			if z, err = c.reps[k].Apply(g, c.x[i][k].Val); err != nil {
				return 0, err
			}
			d := distance(z, v)
			t += float64(d * d)
			continue
		}
		if err != nil {
			return 0, err
		}
		d := distance(z, c.x[i][k].Val)
		t += float64(d * d)
	}
	return math.Sqrt(t), nil
}

// resampled is the floor of elements that resample before or after the layer, per sample: what moving there and back,
// before it and after it, does to what it makes. It is nil if none does.
func (l *look) resampled(ctx context.Context, part *interior.Part, cur, next *cut, mine []int) ([]float64, error) {
	var list []group.Element
	if l.points != nil {
		return nil, nil // rows of numbers are not resampled
	}
	for _, e := range l.elements {
		exact := e.Exact || !cur.layer.Input
		for _, c := range []*cut{cur, next} {
			for _, r := range c.reps {
				exact = exact && (r == nil || r.Exact(e.G))
			}
		}
		if !exact {
			list = append(list, e.G)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	home := func(c *cut, i int, g group.Element) ([]interior.Array, error) {
		row := slices.Clone(c.x[i])
		for k, r := range c.reps {
			if r == nil {
				continue
			}
			v, err := r.Apply(g, row[k].Val)
			if err == nil {
				v, err = r.Apply(l.group.Inv(g), v)
			}
			if err != nil {
				return nil, err
			}
			row[k] = interior.Array{Shape: row[k].Shape, Val: v}
		}
		return row, nil
	}
	floors := make([]float64, len(next.x))
	for _, g := range list {
		var in [][]interior.Array
		for i := range cur.x {
			row, err := home(cur, i, g)
			if err != nil {
				return nil, err
			}
			in = append(in, row)
		}
		out, err := part.Run(ctx, in)
		if err != nil {
			return nil, err
		}
		for i := range out {
			row, err := home(next, i, g)
			if err != nil {
				return nil, err
			}
			floors[i] += elementary.Hypot(apart(out[i], next.x[i], mine),
				apart(row, next.x[i], mine)) / float64(len(l.elements))
		}
	}
	return floors, nil
}

// shaken are the values of a cut with every number one step of the body's arithmetic up or down.
func (l *look) shaken(c *cut) [][]interior.Array {
	r := l.p.Rand("layers", c.layer.Name)
	out := make([][]interior.Array, len(c.x))
	for i := range c.x {
		for k, a := range c.x[i] {
			if c.reps[k] == nil {
				out[i] = append(out[i], a)
				continue
			}
			b := interior.Array{Shape: a.Shape, Val: make([]float64, len(a.Val))}
			for n, v := range a.Val {
				up := r.Uint64()&1 == 0
				if l.m.Double() {
					b.Val[n] = math.Nextafter(v, math.Inf(map[bool]int{true: 1, false: -1}[up]))
					continue
				}
				to := float32(math.Inf(1))
				if !up {
					to = -to
				}
				b.Val[n] = float64(math.Nextafter32(float32(v), to))
			}
			out[i] = append(out[i], b)
		}
	}
	return out
}

// contribute runs the rest of the model on ρ(g)z and on the derivative of ρ at z.
func (l *look) contribute(ctx context.Context, c *cut, row int) error {
	last := len(c.live) == 1 && c.live[0] == l.output
	if s := l.finite; s != nil {
		t := s.before
		var err error
		switch {
		case last:
			t, err = l.applied()
		case l.anyAbove(row):
			var out [][]interior.Array
			out, err = l.through(ctx, c.live, []string{l.output}, c.rx)
			t = only(out)
			l.clear()
			l.p.Progress(len(c.rx) / 2)
		}
		if err != nil {
			return err
		}
		s.step(row, t)
	}
	if len(l.along) == 0 || slices.ContainsFunc(c.reps, func(r *feature.Rep) bool { return r != nil && !r.Smooth() }) {
		return nil // without a derivative the next layer is taken together with this one
	}
	var rest *interior.Part // not the one of above: a large model would be open twice
	if !last {
		var err error
		if rest, err = l.m.Part(ctx, c.live, []string{l.output}); err != nil {
			return err
		}
		l.clear()
	}
	err := l.differentiate(ctx, c, rest, row)
	if rest != nil {
		err = errors.Join(err, l.closed(rest))
	}
	return err
}

// differentiate pushes the derivative of ρ at z through the rest of the model; nil if there is no rest.
func (l *look) differentiate(ctx context.Context, c *cut, rest *interior.Part, row int) error {
	for f, s := range l.along {
		if rest == nil {
			var t [][]float64
			for i := range l.flowed {
				d, err := l.out.Derivative(l.flows[f], l.outX[i][0].Val)
				if err != nil {
					return err
				}
				t = append(t, d)
			}
			s.step(row, t)
			continue
		}
		tangents := make([][]interior.Array, l.flowed)
		for i := range tangents {
			tangents[i] = make([]interior.Array, len(c.live))
			for k, r := range c.reps {
				if r == nil {
					continue
				}
				d, err := r.Derivative(l.flows[f], c.x[i][k].Val)
				if err != nil {
					return err
				}
				tangents[i][k] = interior.Array{Shape: c.x[i][k].Shape, Val: d}
			}
		}
		out, err := rest.Push(ctx, c.x[:l.flowed], tangents)
		if err != nil {
			return err
		}
		s.step(row, only(out))
		l.p.Progress(l.flowed)
	}
	return nil
}

// anyAbove tells whether a layer since the place before injects an error. One that does not contributes nothing, so
// that the rest of the model need not be run.
func (l *look) anyAbove(row int) bool {
	for k := row; k >= 0; k-- {
		if _, ok := l.finite.at[k]; ok && k < row {
			return false
		}
		if l.rows[k].Above || l.rows[k].resamples || math.IsNaN(l.rows[k].Injected) {
			return true
		}
	}
	return false
}

// applied is ρ(g)f(x) of every sample and element.
func (l *look) applied() ([][]float64, error) {
	var out [][]float64
	for i := range l.outX {
		for _, e := range l.elements {
			y, err := l.out.Apply(e.G, l.outX[i][0].Val)
			if err != nil {
				return nil, err
			}
			out = append(out, y)
		}
	}
	return out, nil
}

// only takes the first array of each row.
func only(rows [][]interior.Array) [][]float64 {
	out := make([][]float64, len(rows))
	for i := range rows {
		out[i] = rows[i][0].Val
	}
	return out
}

// centred is the centred scale of some values over samples.
func centred(x [][]interior.Array, which []int) float64 {
	var t float64
	for _, k := range which {
		mean := make([]float64, len(x[0][k].Val))
		for i := range x {
			for n, v := range x[i][k].Val {
				mean[n] += v / float64(len(x))
			}
		}
		for i := range x {
			for n, v := range x[i][k].Val {
				t += float64((v - mean[n]) * (v - mean[n]))
			}
		}
	}
	return math.Sqrt(t / float64(len(x)))
}

// apart is ‖a - b‖ over some values.
func apart(a, b []interior.Array, which []int) float64 {
	var t float64
	for _, k := range which {
		d := distance(a[k].Val, b[k].Val)
		t += float64(d * d)
	}
	return math.Sqrt(t)
}

func distance(a, b []float64) float64 {
	var t float64
	for i, v := range a {
		t += float64((v - b[i]) * (v - b[i]))
	}
	return math.Sqrt(t)
}

func minus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		out[i] = v - b[i]
	}
	return out
}

func dot(a, b []float64) float64 {
	var t float64
	for i, v := range a {
		t += float64(v * b[i])
	}
	return t
}

func mean(x []float64) float64 {
	var t float64
	for _, v := range x {
		t += v / float64(len(x))
	}
	return t
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// Package layers is the check that looks inside: which layer breaks the symmetry, by how much, and how much of the
// error at the output comes from it.
package layers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/interior"
	"nero/model/onnx/facts"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// Check is the layer-wise check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "layers",
	Title: "Where in the network the symmetry is lost",
	Doc: `Layers says which layer breaks the symmetry, by how much, and what it contributes to the error of the output. With ρ_i the representation
on the values z_i after layer i and s_i their centred scale, it measures for every layer the prefix error ‖ρ_i(g)⁻¹ z_i(gx) - z_i(x)‖/s_i,
which has accumulated, and the injected error ‖ρ_i(g)⁻¹ f_i(ρ_{i-1}(g) z_{i-1}) - f_i(z_{i-1})‖/s_i, which this layer alone makes of an exactly
moved input. An injected error counts as one if it is above what one-ulp changes of the layer's input do to it, times a factor.

Contributions add up to the error at the output: with T_i what the rest of the model makes of ρ_i(g) z_i, the contribution of layer i is
c_i = T_{i-1} - T_i, and their sum is f(gx) - ρ(g)f(x) whatever lies between, skip connections included. The signed share is
<c_i, Σc>/‖Σc‖²; the cancellation index Σ‖c_i‖²/‖Σc‖² is large where errors of layers undo each other. For rotations, shifts and the like
the same is done with derivatives along the group, L f = Σ c_i, where ρ_i has the derivative of a map read between its places: central
differences on the grid, and zero for what has no place.

Of a product of groups each element moves one factor while the others rest, so that the rows say which factor a layer breaks.

Of a file that nero repair wrote, what was put around the model is one layer. The layers of the model between are measured in the poses that it is
asked in: those of the moved input beside the same poses of the input, in whatever order; nothing in there is judged.

Representations follow from the graph where it decides them (pointwise operators, convolutions, pooling, what moves data about), else from
the values themselves, verified on samples held out; a value that nothing explains makes its layer untestable, and the next layer is measured
together with it. Detectors are followed up to the last maps of which boxes are
made. In networks of points of space, values are typed by irreps: by trying the Wigner matrices of every degree and parity place by place, by the
directions of the sphere that a layer turns out to use, or, in another basis, by matrices that are fitted to three of four samples and held against
the others; what two types explain is unknown. Values whose first axis counts the rows of a set, or the nodes of a graph, are taken to belong to them. Of an output with several fields the one with the largest error is followed.`,
	Params: []audit.Param{
		{
			Name: "samples", Doc: "inputs that are followed through the layers", Unit: "inputs", Default: 8, Min: 2,
			Max: 4096, Least: 2,
		},
		{
			Name: "elements", Doc: "elements that each of them is moved by, exact ones if there are any",
			Unit:    "elements",
			Default: 4, Min: 1, Max: 256, Least: 2,
		},
		{
			Name: "cuts", Doc: "places at which contributions are measured; layers between two of them share one",
			Unit: "places", Default: 96, Min: 1, Max: 10000, Least: 24,
		},
		{
			Name: "share", Doc: "least signed share of a layer that is named as the first that breaks", Default: 0.05,
			Min: 0, Max: 1,
		},
		{
			Name: "memory", Doc: "values held at once; fewer samples and elements are followed if they do not fit",
			Unit: "MB", Default: 256, Min: 1, Max: 1 << 20,
		},
		{
			Name: "weights",
			Doc:  "size of the model up to which derivatives are taken too, which hold it several times",
			Unit: "MB", Default: 64, Min: 0, Max: 1 << 20,
		},
	},
	Uses:     []*audit.Check{sweep.Check},
	Optional: true,
	Run:      run,
	Work:     work,
}

// work counts runs of the whole model: the chain of layers moved, unmoved and from moved values, and half of it per
// place and element.
func work(p *audit.Pass) int {
	if p.Subject.Interior == nil {
		return 0
	}
	n, m := min(int(p.Param("samples")), p.Subject.N), min(int(p.Param("elements")), len(p.Elements))
	cuts := min(int(p.Param("cuts")), len(p.Subject.Interior.Layers()))
	return n*(2+3*m) + cuts*n*m/2 + cuts*min(n, mostFlowed)*len(feature.Flows(p.Subject.Plan.Group))
}

// mostFlowed bounds the samples along which derivatives are taken: they are means over many numbers already.
const mostFlowed = 4

// doubleMACs bounds the multiply-adds for which the slow evaluator in float64 takes the engine's place.
const doubleMACs = 4e9

// Row is what is known of one layer.
type Row struct {
	Index    int
	Name, Op string
	// representation of what the layer makes
	Rep string
	// Type is its irreps, with their parity where that could be seen; "" where they could not be told.
	Type string
	// of it
	Origin feature.Origin
	Why    string
	// Prefix and Injected are means over inputs and elements, Floor is what rounding, or resampling where an element
	// resamples here, makes of the injected error; NaN where not measured.
	Prefix, Injected, Floor float64
	// Above tells that the injected error is beyond its floor.
	Above bool
	// Share is the signed share of the error at the output over the elements, Lo and Hi its limits; NaN where there is
	// no error to share, or where the layer has no place of its own.
	Share audit.Interval
	// Factors are the injected errors under each factor of a product alone, in the order of [Result.Factors].
	Factors []float64
	// Proper and Improper are the injected errors under the elements that only turn space and under those that mirror
	// it; NaN where there are none.
	Proper, Improper float64
	// Flows are the signed shares of the derivatives along the group, in the order of [Result.Flows].
	Flows []float64
	// bridge tells that the layer makes products of components, which are told by what is summed up of them.
	bridge bool
	// resamples tells that some element resamples before or after the layer, so that its floor is not rounding alone.
	resamples bool
	// chance is the p-value against an injected error of at most the resampling floor.
	chance float64
	// Together are the layers before it that could not be told apart from it.
	Together []string
	// "tested", "untestable: why", "exempt: why"
	Status string
}

// Decomposition is an error at the output taken apart.
type Decomposition struct {
	// "elements", or that of an infinitesimal motion
	Name string
	// of the motion; "" for elements
	Unit string
	// Error is the size of what is taken apart, over the scale of the output, per unit of the motion.
	Error float64
	// Sum is that of the shares; it is 1 up to rounding.
	Sum          float64
	Cancellation float64
}

// Result is what the check found.
type Result struct {
	Body string
	Rows []Row
	// nil if no element was visited
	Elements *Decomposition
	// along the group; empty if there is no derivative
	Flows []Decomposition
	// NoFlows says why there is no derivative.
	NoFlows string
	// First is the index in Rows of the first layer that breaks; -1 if none does.
	First int
	// Exact tells that the elements do not resample the input.
	Exact bool
	// Factors are the names of those of a product; nil for other groups.
	Factors []string
	// Typed tells that irreps can be told: the elements turn space in all ways.
	Typed bool
	// End is the layer up to which a model was followed whose answer does not move as arrays do, and Limit the first
	// after it where the axes stop being those of a picture; "" where all of it was followed.
	End, Limit string
	// Field is the one of an output with several that was followed, that with the largest error; "" for other outputs.
	Field string
}

// cut is the state between two layers, for every sample and element.
type cut struct {
	layer interior.Layer
	live  []string
	// nil for values that hold no floating-point numbers
	reps []*feature.Rep
	x    [][]interior.Array
	// of sample i at element j: i·m+j
	gx [][]interior.Array
	// ρ(g)z
	rx [][]interior.Array
	// values made of this state of which it is not known how they move, and why: as long as one of them is needed, no
	// layer can be told, and to run the graph up to there again would find the same
	untold map[string]string
}

// miss keeps why it is not known how a value moves.
func (c *cut) miss(value, why string) string {
	if c.untold == nil {
		c.untold = map[string]string{}
	}
	c.untold[value] = why
	return why
}

// blind says why nothing is known of one of the values; "" if that has not been found of any of them.
func (c *cut) blind(live []string) string {
	for _, v := range live {
		if why := c.untold[v]; why != "" {
			return why
		}
	}
	return ""
}

// look is one run of the check.
type look struct {
	p        *audit.Pass
	m        *interior.Model
	frame    *feature.Frame
	group    group.Group
	elements []audit.Element
	exact    bool
	samples  []space.Value
	// the factors of a product move together
	joint bool
	// where the way ends before the output; zero for the output
	end end
	// of the output, that is followed; "" for an output that is no record
	field string
	// of the graph
	output string
	// of it
	moves action.Action
	// of it
	spec space.Spec
	// that reads it
	codec   decode.Codec
	ids     []string
	indexes []int
	// of the output, declared
	out *feature.Rep
	// another one that explains the values of the output; nil if none does
	other *feature.Rep
	// invariant tells that the output is declared to stay.
	invariant bool
	// of the picture that the model reads; 0 for other inputs
	h, w int
	// node that makes a value
	made   map[string]int
	varies map[string]bool
	// values that depend on the input and hold floating-point numbers
	floats map[string]bool
	layers []interior.Layer
	// places that may be measured beside those that were chosen
	spare int
	// of a model inside a wrapper; nil for others
	posed *poses
	// of the samples, if they have several
	forms int
	// nil if the inputs are no rows
	points *points
	flows  []feature.Flow
	// samples along which derivatives are taken
	flowed int
	first  *cut
	// the arrays of one sample that the model reads
	start [][]interior.Array
	// of one sample, with its batch axis, as far as they are known
	shapes map[string][]int
	// the values of one layer take much memory
	large bool

	outX, outGX [][]interior.Array
	scale       float64
	outFloor    float64
	finite      *shares
	along       []*shares
	noFlows     string
	rows        []Row
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	if p.Subject.Interior == nil {
		return nil, fmt.Errorf("%w: the model is not at hand as a graph, so it cannot be opened", audit.ErrUntested)
	}
	if p.Subject.N < 2 {
		return nil, fmt.Errorf("%w: one input has no spread to measure errors against; give at least two",
			audit.ErrUntested)
	}
	if sw, ok := audit.ResultIf[*sweep.Result](p, sweep.Check); ok && sw.CutOff(p) {
		return nil, fmt.Errorf("%w: what leaves the frame explains the error at the output, and inside the model it "+
			"cannot be told from that of a layer", audit.ErrUntested)
	}
	list := []end{{}}
	if p.Subject.Interior.Codec().Out().Kind == space.KindBoxes {
		var err error
		if list, err = ends(p); err != nil {
			return nil, err
		}
	}
	var best *look
	var found *Result
	var untested error
	for _, e := range list { // of several maps the one that breaks most
		l := &look{p: p, group: p.Subject.Plan.Group, end: e}
		err := l.prepare(ctx)
		if err == nil {
			err = l.walk(ctx)
		}
		switch {
		case errors.Is(err, audit.ErrUntested):
			untested = err
			continue
		case err != nil:
			return nil, err
		}
		r := l.result()
		if found == nil || l.broken(r) && (!best.broken(found) || r.Elements.Error > found.Elements.Error) {
			best, found = l, r
		}
	}
	if found == nil {
		return nil, untested
	}
	best.report(found)
	return found, nil
}

// prepare chooses samples, elements and layers, and says how input and output move.
func (l *look) prepare(ctx context.Context) error {
	p := l.p
	n := min(int(p.Param("samples")), p.Subject.N)
	l.joint = l.wide()
	l.pickElements()
	l.m = l.body(n)
	if err := l.alike(n); err != nil {
		return err
	}
	if err := l.target(); err != nil {
		return err
	}
	if l.points = l.findPoints(); l.points != nil {
		l.pickAny()
	}
	if err := l.choose(); err != nil {
		return err
	}
	if err := l.fit(); err != nil {
		return err
	}
	var err error
	if l.first, err = l.input(ctx); err != nil {
		return err
	}
	return l.ends(ctx, l.first)
}

// pickElements chooses elements that do not resample, or a few of the others if there are none.
func (l *look) pickElements() {
	exact, other := l.sorted(int(l.p.Param("elements")))
	l.elements, l.exact = exact, true
	if len(exact) == 0 {
		l.elements, l.exact = other[:min(len(other), 2)], false
	}
}

// pickAny chooses elements of points: nothing resamples these, and what only the exact elements keep, such as sums of
// absolute components, the others show. Half of them are exact if there are both.
func (l *look) pickAny() {
	most := int(l.p.Param("elements"))
	exact, other := l.sorted(4 * most)
	few := min(len(exact), max(most-len(other), most/2))
	l.elements, l.exact = append(exact[:few:few], other[:min(len(other), most-few)]...), true
	l.hands(append(slices.Clone(exact), other...))
}

// sorted are elements of the plan, those that do not resample apart from the others; of a product those in which one
// factor moves.
func (l *look) sorted(most int) (exact, other []audit.Element) {
	var list []audit.Element
	if f, ok := l.group.(group.Factored); ok && !l.joint {
		list = l.alone(f, l.p.PickElements(8*most), most)
	} else {
		for _, j := range l.p.PickElements(most) {
			list = append(list, l.p.Elements[j])
		}
	}
	for _, e := range list {
		if e.Exact {
			exact = append(exact, e)
		} else {
			other = append(other, e)
		}
	}
	return exact, other
}

// alike picks up to n samples of one form: values inside the model are compared number for number, and those of sets
// and graphs of different sizes have different forms. It is the form that the most samples have, the first of equals,
// if those spread over the data have several.
func (l *look) alike(n int) error {
	p := l.p
	forms := map[string][]int{}
	best := ""
	read := func(list []int) error {
		clear(forms)
		best = ""
		var order []string
		for _, i := range list {
			s, err := p.Sample(i)
			if err != nil {
				return err
			}
			f := s.Value.Form()
			if forms[f] == nil {
				order = append(order, f)
			}
			forms[f] = append(forms[f], i)
		}
		for _, f := range order {
			if best == "" || len(forms[f]) > len(forms[best]) {
				best = f
			}
		}
		return nil
	}
	if err := read(p.Pick(n)); err != nil {
		return err
	}
	if len(forms) > 1 {
		if err := read(p.Pick(min(p.Subject.N, max(n, mostForms)))); err != nil {
			return err
		}
		l.forms = len(forms)
	}
	pick := forms[best]
	if len(pick) < 2 {
		return fmt.Errorf("%w: no two of %d inputs have the same form, such as as many rows, so that values inside "+
			"the model cannot be compared", audit.ErrUntested, len(forms))
	}
	for k := range min(n, len(pick)) {
		i := pick[k*len(pick)/min(n, len(pick))]
		s, err := p.Sample(i)
		if err != nil {
			return err
		}
		l.samples, l.ids, l.indexes = append(l.samples, s.Value), append(l.ids, s.ID), append(l.indexes, i)
	}
	return nil
}

// mostForms bounds the samples that are read to find some of one form.
const mostForms = 1000

// body is the evaluator in float64 if there is one and the model is small enough for it.
func (l *look) body(n int) *interior.Model {
	s := l.p.Subject
	if s.Reference == nil {
		return s.Interior
	}
	shape := []int(nil)
	if v, err := l.p.Sample(0); err == nil {
		shape = v.Value.Dims()
	}
	in, err := facts.SampleShapes(s.Interior.ONNX().Signature(), 1, shape)
	if err != nil {
		return s.Interior
	}
	f, err := facts.Infer(s.Interior.ONNX(), in, nil)
	if err != nil || len(f.Gaps) > 0 ||
		float64(f.MACs)*float64(n*(2+3*len(l.elements))+n*len(l.elements)*min(len(f.Nodes),
			int(l.p.Param("cuts")))/2) > doubleMACs {
		return s.Interior
	}
	return s.Reference
}

// choose lists the layers that lead to the output, or those of them that the user asks for. The last is always the one
// that makes the output.
func (l *look) choose() error {
	g := l.m.ONNX().Proto().GetGraph()
	l.made, l.varies, l.floats = map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, c := range l.m.ONNX().Cuts() {
		for _, v := range c.Floats {
			l.floats[v] = true
		}
	}
	for i, n := range g.GetNode() {
		for _, o := range n.GetOutput() {
			if o != "" {
				l.made[o] = i
			}
		}
	}
	// The node that reads a value last on its way to the output, counted from 1; 0 for values that do not lead there.
	last := map[string]int{l.output: len(g.GetNode()) + 1}
	for i := len(g.GetNode()) - 1; i >= 0; i-- {
		n := g.GetNode()[i]
		if !slices.ContainsFunc(n.GetOutput(), func(o string) bool { return o != "" && last[o] > 0 }) {
			continue
		}
		for _, v := range reads(n) {
			last[v] = max(last[v], i+1)
		}
	}
	all := l.m.Layers()
	for _, y := range all {
		for _, v := range y.Produced {
			l.varies[v] = true
		}
	}
	wanted := map[int]bool{}
	for _, name := range l.p.Subject.Layers {
		y, err := l.m.Layer(name)
		if err != nil {
			return err
		}
		wanted[y.Index] = true
	}
	for _, y := range all {
		leads := slices.ContainsFunc(y.Produced, func(v string) bool { return last[v] > 0 })
		makes := slices.Contains(y.Produced, l.output)
		if !y.Input && (!leads || len(wanted) > 0 && !wanted[y.Index] && !makes) {
			continue
		}
		at := 0
		if !y.Input {
			at = l.made[y.Produced[0]] + 1
		}
		y.Live = slices.DeleteFunc(slices.Clone(y.Live), func(v string) bool { return last[v] <= at })
		l.layers = append(l.layers, y)
		if makes {
			break
		}
	}
	if len(l.layers) < 2 {
		return fmt.Errorf("%w: the output does not depend on the input by way of any layer", audit.ErrUntested)
	}
	return nil
}

// fit takes fewer samples and elements if the values of one layer would not fit into memory: three copies, twice over,
// in float64.
func (l *look) fit() error {
	in, err := facts.SampleShapes(l.m.ONNX().Signature(), 1, l.samples[0].Dims())
	if err != nil {
		return nil //nolint:nilerr // the sizes are not known, and the samples are few
	}
	f, err := facts.Infer(l.m.ONNX(), in, nil)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	l.shapes = f.Shapes
	most := 0
	for _, y := range l.layers {
		n := 0
		for _, v := range y.Live {
			n += size(f.Shapes[v])
		}
		most = max(most, n)
	}
	fits := func() bool {
		return float64(most)*8*2*float64(len(l.samples)*(1+2*len(l.elements))) <= l.p.Param("memory")*(1<<20)
	}
	for !fits() && (len(l.samples) > 2 || len(l.elements) > 1) {
		if len(l.samples) > 4 || len(l.elements) <= 1 {
			l.samples = l.samples[:len(l.samples)-1]
		} else {
			l.elements = l.elements[:len(l.elements)-1]
		}
	}
	l.large = float64(most)*8*2*float64(len(l.samples)*(1+2*len(l.elements))) > 64<<20
	return nil
}

// input moves the samples and says how the arrays that the model reads move.
func (l *look) input(ctx context.Context) (*cut, error) {
	plan := l.p.Subject.Plan
	unmoved, there := audit.NewMover(plan.In, l.group.Identity()),
		audit.Movers(plan.In, l.elements, func(g group.Element) group.Element { return g })
	var moved []space.Value
	for i, v := range l.samples {
		x, err := unmoved.Move(v)
		if err != nil {
			return nil, err
		}
		for _, mv := range there {
			gx, err := mv.Move(v)
			if err != nil {
				return nil, err
			}
			moved = append(moved, gx)
		}
		l.samples[i] = x
	}
	c := &cut{layer: l.layers[0], live: l.layers[0].Live}
	var err error
	names := l.m.Inputs()
	pick := func(values []space.Value) ([][]interior.Array, error) {
		in, err := l.m.Arrays(ctx, values)
		if err != nil {
			return nil, err
		}
		out := make([][]interior.Array, len(in))
		for i := range in {
			for _, v := range c.live {
				out[i] = append(out[i], in[i][slices.Index(names, v)])
			}
		}
		return out, nil
	}
	if c.x, err = pick(l.samples); err != nil {
		return nil, err
	}
	if c.gx, err = pick(moved); err != nil {
		return nil, err
	}
	c.rx = c.gx
	var kernel action.Kernel
	var border action.Border
	if x, ok := l.samples[0].(*space.Image); ok {
		l.h, l.w = x.H, x.W
		if kernel, border = l.resampling(x); kernel == action.Up3 {
			kernel = "" // that path blurs every map, so that no layer would hold
		}
	}
	if m := space.Picture(l.samples[0]); m != nil && m != l.samples[0] { // one of several
		l.h, l.w = m.H, m.W
		if o, ok := action.OptionsOf(plan.In); ok && o.Kernel != action.Up3 {
			kernel, border = o.Kernel, o.Border
		}
	}
	if t := l.samples[0]; t.Kind() == space.KindTensor && len(t.Dims()) == 3 {
		_, l.h, l.w = space.Grid(t)
	}
	if l.frame, err = feature.NewFrame(l.group, kernel, border); err != nil {
		return nil, err
	}
	for k := range c.live {
		if !slices.Contains(c.layer.Floats, c.live[k]) { // numbers of atoms and edges are handed on as they come
			c.reps = append(c.reps, nil)
			continue
		}
		shape := c.x[0][k].Shape
		if rep := l.pointInput(c, k); rep != nil {
			c.reps = append(c.reps, rep)
			continue
		}
		if rep := l.part(c, k); rep != nil {
			c.reps = append(c.reps, rep.As(feature.ByUser, "the action on the input"))
			continue
		}
		if rep := l.frames(shape, plan.In); rep != nil && l.exact && l.agrees(rep, c.x, c.gx, k) {
			c.reps = append(c.reps, rep.As(feature.ByUser, "the action on the input"))
			continue
		}
		candidates := l.frame.Candidates(shape, l.guess(shape))
		rep, _, err := l.frame.Infer(l.pairs(c, k, c.rx), candidates, feature.Limits{Loose: 1e-3})
		if err != nil {
			return nil, err
		}
		if rep == nil { // no exact element: by its form
			rep = candidates[min(1, len(candidates)-1)]
		}
		c.reps = append(c.reps, rep.As(feature.ByUser, "the action on the input"))
	}
	return c, nil
}

// resampling finds out by which kernel and border rule an action moves pictures, by comparing what it does to a picture
// with each of them; the most exact kernel if its elements do not tell, the first border rule that fits.
func (l *look) resampling(x *space.Image) (action.Kernel, action.Border) {
	type rule struct {
		k action.Kernel
		b action.Border
	}
	r := l.p.Rand("layers", "resampling")
	probe := space.NewImage(1, x.H, x.W)
	for i := range probe.Pix {
		probe.Pix[i] = elementary.Normal(r)
	}
	left := []rule{}
	for _, b := range action.Borders() {
		for _, k := range append([]action.Kernel{action.Spline}, action.Kernels()...) {
			left = append(left, rule{k, b})
		}
	}
	for _, j := range l.p.PickElements(2) {
		g := l.p.Elements[j].G
		y, err := l.p.Subject.Plan.In.Apply(g, probe)
		want, ok := y.(*space.Image)
		if err != nil || !ok || want.H != x.H || want.W != x.W {
			continue
		}
		if fits := slices.DeleteFunc(slices.Clone(left),
			func(r rule) bool { return !agree(l.group, r.k, r.b, g, probe, want) }); len(fits) > 0 {
			left = fits
		}
	}
	return left[0].k, left[0].b
}

// agree tells whether a kernel and a border rule do to a picture what was done to it.
func agree(gr group.Group, k action.Kernel, b action.Border, g group.Element, from, to *space.Image) bool {
	f, err := feature.NewFrame(gr, k, b)
	if err != nil {
		return false
	}
	m, err := f.Map([]int{1, from.H, from.W}, [2]float64{1, 1})
	if err != nil {
		return false
	}
	got, err := m.Apply(g, from.Pix)
	return err == nil && distance(got, to.Pix) <= 1e-9
}

// ends runs the whole model once on everything and says how its output moves.
func (l *look) ends(ctx context.Context, first *cut) error {
	var shaken [][]interior.Array
	part, err := l.m.Part(ctx, first.live, []string{l.output})
	if err != nil {
		return err
	}
	for _, run := range []struct {
		in [][]interior.Array
		to *[][]interior.Array
	}{{first.x, &l.outX}, {first.gx, &l.outGX}, {l.shaken(first), &shaken}} {
		if *run.to, err = part.Run(ctx, run.in); err != nil {
			return errors.Join(err, part.Close())
		}
	}
	if err := l.closed(part); err != nil {
		return err
	}
	l.p.Progress(len(first.x)*2 + len(first.gx))
	shape := l.outX[0][0].Shape
	for _, y := range append(slices.Clone(l.outX), l.outGX...) {
		if !slices.Equal(y[0].Shape, shape) {
			return fmt.Errorf("%w: the shape of the output depends on the input", audit.ErrUntested)
		}
		if !finite(y[0].Val) {
			return fmt.Errorf("%w: an output is not finite", audit.ErrUntested)
		}
	}
	if l.out, err = l.declared(ctx, first, shape); err != nil {
		return err
	}
	l.invariant = !l.out.Moves()
	l.scale = centred(l.outX, []int{0})
	var floor float64
	for i := range shaken {
		floor += distance(shaken[i][0].Val, l.outX[i][0].Val)
	}
	l.outFloor = floor / float64(len(shaken)) / l.scale
	if !(l.scale > 0) {
		return fmt.Errorf("%w: the outputs of these inputs do not vary", audit.ErrUntested)
	}
	l.flows = nil
	l.flowed = min(len(l.samples), mostFlowed)
	return l.begin(ctx)
}

// maps are the kinds of outputs that an action may return for one another: pictures and feature maps.
var maps = []space.Kind{space.KindImage, space.KindTensor}

// declared is the representation of the output: the action of the plan, taken apart into fields where it consists of
// them.
func (l *look) declared(ctx context.Context, first *cut, shape []int) (*feature.Rep, error) {
	if l.end.value != "" {
		return l.ending(ctx, first, shape)
	}
	out := l.moves
	if _, ok := out.(action.Trivial); ok {
		return l.frame.Fixed(shape).As(feature.ByUser, "invariant"), nil
	}
	spec := l.spec
	var given *feature.Rep
	wrapped := func(wrap func(x []float64) space.Value, unwrap func(v space.Value) ([]float64, bool)) {
		given = l.frame.Given(shape, out, wrap, func(v space.Value) ([]float64, error) {
			x, ok := unwrap(v)
			if !ok || len(x) != size(shape) {
				return nil, errors.New("the action on the output changes its form")
			}
			return x, nil
		})
	}
	plain := func(like func(x []float64) space.Value, kinds ...space.Kind) {
		wrapped(like, func(v space.Value) ([]float64, bool) { return v.Numbers(), slices.Contains(kinds, v.Kind()) })
	}
	switch kind := spec.Kind.Info(); {
	case spec.Kind == space.KindScores:
		if l.field != "" {
			given = l.fieldOf(ctx, shape)
		}
		if given == nil {
			plain(func(x []float64) space.Value { return &space.Scores{Val: x} }, spec.Kind)
		}
	case spec.Kind == space.KindImage && len(shape) == 3:
		plain(func(x []float64) space.Value {
			return &space.Image{C: shape[0], H: shape[1], W: shape[2], Pix: x}
		}, maps...)
	case slices.Contains(maps, spec.Kind):
		plain(func(x []float64) space.Value { return &space.Tensor{Shape: shape, Val: x} }, maps...)
	// labels come from the largest of the numbers at each pixel, which move as they do
	case spec.Kind == space.KindMask:
		for _, c := range l.frame.Candidates(shape, l.guess(shape)) {
			if c.Moves() {
				return c.As(feature.ByUser, "the mask's"), nil
			}
		}
	case kind != nil && kind.Linear && spec.Kind != space.KindFrames: // no model returns frames
		if l.field != "" {
			given = l.fieldOf(ctx, shape)
		}
		if given == nil {
			given = l.coded(shape, out)
		}
	}
	if given == nil {
		return nil, fmt.Errorf("%w: outputs of kind %s are not followed back into the model", audit.ErrUntested,
			spec.Kind)
	}
	// The same action as fields, if it is one: then it has a derivative.
	r := l.p.Rand("layers", "output")
	var pairs []feature.Pair
	for i := range 4 {
		x := make([]float64, size(shape))
		for k := range x {
			x[k] = elementary.Normal(r)
		}
		for _, e := range l.elements {
			y, err := given.Apply(e.G, x)
			if err != nil {
				return nil, fmt.Errorf("%w: the action on the output: %w", audit.ErrUntested, err)
			}
			pairs = append(pairs, feature.Pair{G: e.G, Object: i, X: x, Y: y})
		}
	}
	rep, fit, err := l.frame.Infer(pairs, l.frame.Candidates(shape, l.guess(shape)),
		feature.Limits{Tolerance: 1e-9, Loose: 1e-9})
	if err != nil {
		return nil, err
	}
	if rep != nil && fit.Explained == 1 {
		return rep.As(feature.ByUser, "the action on the output"), nil
	}
	return given, nil
}

// closed closes a part, and what the model keeps open for later where that is large.
func (l *look) closed(part *interior.Part) error {
	err := part.Close()
	if l.large {
		err = errors.Join(err, l.m.Close())
		l.clear()
	}
	return err
}

// through runs the graph between two lists of values.
func (l *look) through(ctx context.Context, from, to []string, in [][]interior.Array) (out [][]interior.Array,
	err error,
) {
	part, err := l.m.Part(ctx, from, to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	return part.Run(ctx, in)
}

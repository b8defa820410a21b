package weights

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/internal/lanes"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/units"
	"nero/present/words"
)

// Verdict says what two checkpoints are to each other.
type Verdict string

// Verdicts, the closest first.
const (
	SameFile     Verdict = "same file"
	SameUpTo     Verdict = "same up to symmetries"
	SameFunction Verdict = "same function, other weights"
	// NotTold is where answers agree at all probes, and numbers that differ are reached by none of them.
	NotTold   Verdict = "not told apart"
	Different Verdict = "different"
)

// Aligned is the comparison of two checkpoints: the units of the second are put where those of the first are, scaled as
// they are, and then the numbers are compared.
type Aligned struct {
	// Digests says that the files are the same, Numbers that the weights are, Canonical that their canonical forms are.
	Digests   bool `json:"digests_equal"`
	Numbers   bool `json:"numbers_equal"`
	Canonical bool `json:"canonical_equal"`
	// Function is how far the answers of the two are apart, and Moved how far those of the second are from its own
	// after its units were moved: what moving costs by rounding.
	Function Apart `json:"function"`
	Moved    Apart `json:"moved"`
	// Before and After are ‖A − B‖/‖A‖ over all numbers, as stored and aligned.
	Before Number  `json:"before"`
	After  Number  `json:"after"`
	Layers []Layer `json:"layers"`
	// Unit is the one that keeps weights from being the same, where all tensors as a whole are; nil for none.
	Unit *FarUnit `json:"far_unit,omitempty"`
	// Rough is how far rounding the stored numbers otherwise moves the answers of the first, where that is why answers
	// are apart and weights are not.
	Rough Number `json:"rough,omitempty"`
	// Unreached are numbers that differ and that no probe reaches; nil for none, or where nobody asked.
	Unreached *Unreached `json:"unreached,omitempty"`
	// Unused are stored tensors that no node reads and that differ.
	Unused []string `json:"unused,omitempty"`
	// Axes say how the units were paired.
	Axes []AlignedAxis `json:"axes"`
	// Rounds is how many times the pairs were looked at by weights, after activations had paired them.
	Rounds int `json:"rounds"`
	// Path is what happens on the straight line between the two.
	Path []Point `json:"path"`
	// Loss says what the loss on the path is; "" where the probes have no labels.
	Loss string `json:"loss,omitempty"`
	// Statistics says that batch norms with stored statistics are among what is averaged.
	Statistics bool `json:"batch_norm_statistics"`
}

// Layer is a stored tensor.
type Layer struct {
	Tensor string `json:"tensor"`
	Shape  []int  `json:"shape"`
	// ‖A − B‖/‖A‖ as stored and aligned
	Before Number `json:"before"`
	After  Number `json:"after"`
}

// AlignedAxis says how the units of a class were paired.
type AlignedAxis struct {
	Axis   int    `json:"axis"`
	Name   string `json:"name"`
	Units  int    `json:"units"`
	Blocks int    `json:"blocks"`
	// Moved have another place in the second model.
	Moved int `json:"moved"`
	// Correlation is the mean of those of the pairs, at the probes.
	Correlation Number `json:"correlation"`
	// Unmatched are units whose partner has a correlation below one half.
	Unmatched int `json:"unmatched"`
	// Ties are units of the first model that another one answers as they do, so that either may be the partner.
	Ties int `json:"ties"`
	// Refined are units that have another partner after the weights were looked at.
	Refined int `json:"refined"`
}

// Point is a model on the line between two: t parts of the second and 1 − t of the first.
type Point struct {
	T Number `json:"t"`
	// Stored is the line to the second model as it is stored, and Aligned the one to it with its units moved.
	Stored  OnPath `json:"stored"`
	Aligned OnPath `json:"aligned"`
}

// OnPath is what a model in between answers.
type OnPath struct {
	// ToFirst and ToSecond are how far its answers are from those of the ends.
	ToFirst  Number `json:"to_first"`
	ToSecond Number `json:"to_second"`
	// Loss is the mean cross-entropy at probes with labels, NaN without.
	Loss Number `json:"loss"`
}

// incomparable says that two models have no weights that can be compared.
func incomparable(a, b, format string, args ...any) error {
	return fmt.Errorf("%s and %s: %s: the two are of different architectures, whose weights cannot be compared; "+
		"name two files that were exported in the same way", a, b, fmt.Sprintf(format, args...))
}

// onto are the numbers of b under the names of a.
func onto(a, b *Network) (Numbers, error) {
	x, y := a.Model.Proto().GetGraph(), b.Model.Proto().GetGraph()
	other := func(format string, args ...any) error { return incomparable(a.Name, b.Name, format, args...) }
	if n, m := len(x.GetNode()), len(y.GetNode()); n != m {
		return nil, other("%s and %s", words.Plural(n, "node", "nodes"), words.Plural(m, "node", "nodes"))
	}
	name := map[string]string{} // in b, of what is in a
	back := map[string]string{}
	bind := func(p, q string) bool {
		if (p == "") != (q == "") {
			return false
		}
		to, known := name[p]
		from, taken := back[q]
		if known || taken {
			return to == q && from == p
		}
		name[p], back[q] = q, p
		return true
	}
	s, t := a.Model.Signature(), b.Model.Signature()
	if len(s.Inputs) != len(t.Inputs) || len(s.Outputs) != len(t.Outputs) {
		return nil, other("%d and %d inputs, %d and %d outputs", len(s.Inputs), len(t.Inputs), len(s.Outputs),
			len(t.Outputs))
	}
	for i := range s.Inputs {
		if !bind(s.Inputs[i].Name, t.Inputs[i].Name) || s.Inputs[i].DType != t.Inputs[i].DType ||
			s.Inputs[i].ShapeString() != t.Inputs[i].ShapeString() && !slices.Equal(s.Inputs[i].Sizes(),
				t.Inputs[i].Sizes()) {
			return nil, other("they read %s and %s", s.Inputs[i], t.Inputs[i])
		}
	}
	for i, n := range x.GetNode() {
		m := y.GetNode()[i]
		where := fmt.Sprintf("node %d is %s in the one and %s in the other", i, onnx.Describe(n), onnx.Describe(m))
		if n.GetOpType() != m.GetOpType() || n.GetDomain() != m.GetDomain() ||
			len(n.GetInput()) != len(m.GetInput()) || len(n.GetOutput()) != len(m.GetOutput()) {
			return nil, other("%s", where)
		}
		for k := range n.GetInput() {
			if !bind(n.GetInput()[k], m.GetInput()[k]) {
				return nil, other("%s, and reads another value as input %d", where, k)
			}
		}
		if !sameAttributes(n, m) {
			return nil, other("%s, with other attributes", where)
		}
		for k := range n.GetOutput() {
			if !bind(n.GetOutput()[k], m.GetOutput()[k]) {
				return nil, other("%s", where)
			}
		}
	}
	for i := range s.Outputs {
		if !bind(s.Outputs[i].Name, t.Outputs[i].Name) {
			return nil, other("they answer %s and %s", s.Outputs[i], t.Outputs[i])
		}
	}
	return renumbered(a, b, name, other)
}

// renumbered are the stored tensors of b by the names of a. What is no floating-point number has to be the same.
func renumbered(a, b *Network, name map[string]string, other func(string, ...any) error) (Numbers, error) {
	out := Numbers{}
	for _, p := range a.Units.Stored() {
		t, ok := b.numbers[name[p]]
		if u := a.numbers[p]; !ok || t.DType != u.DType || !slices.Equal(t.Shape, u.Shape) {
			return nil, other("the stored tensor %q is %s%v in the one, and %q is %s%v in the other", p, u.DType,
				u.Shape, name[p], t.DType, t.Shape)
		}
		out[p] = t
	}
	for _, v := range a.Model.Proto().GetGraph().GetInitializer() {
		if _, ok := out[v.GetName()]; ok || name[v.GetName()] == "" {
			continue
		}
		t, ok := a.Facts.Stored(v.GetName())
		u, too := b.Facts.Stored(name[v.GetName()])
		if ok != too || ok && (t.DType != u.DType || !slices.Equal(t.Raw, u.Raw)) {
			return nil, other("the constant %q is another one", v.GetName())
		}
	}
	return out, nil
}

// sameAttributes compares the attributes of two nodes. Stored tensors of floating-point numbers may differ.
func sameAttributes(n, m *onnxpb.NodeProto) bool {
	if len(n.GetAttribute()) != len(m.GetAttribute()) {
		return false
	}
	for _, x := range n.GetAttribute() {
		y := onnx.Attr(m, x.GetName())
		if y == nil {
			return false
		}
		if t, u := x.GetT(), y.GetT(); t != nil && u != nil && n.GetOpType() == "Constant" &&
			isFloat(tensor.DType(t.GetDataType())) {
			continue // compared with the numbers
		}
		if x.GetG() != nil || len(x.GetGraphs()) > 0 {
			x, y = proto.CloneOf(x), proto.CloneOf(y)
		}
		if !proto.Equal(x, y) {
			return false
		}
	}
	return true
}

// CompareOptions say how two checkpoints are compared.
type CompareOptions struct {
	Seed uint64
	// Workers is how many goroutines compute, at least 1. No number depends on it.
	Workers int
	// Labels are the classes of the probes, -1 for none; nil without any.
	Labels []int
	// Digests are those of the files.
	Digests [2]string
	// Step is told what is done next; nil for nobody.
	Step func(what string)
}

// mostPairing is how many multiply-adds pairing by weights may take.
const mostPairing = 1 << 34

// What counts as the same numbers.
const (
	// mostApart is the largest ‖A − B‖/‖A‖ of aligned weights that are the same, over all of them.
	mostApart = 1e-5
	// mostLayer and mostUnit are the largest of one tensor, and of one unit in it: a large one hides neither.
	mostLayer, mostUnit = 10 * mostApart, 100 * mostApart
	// paired is the least correlation of units that are partners.
	paired = 0.5
)

// aligner pairs the units of two models.
type aligner struct {
	a        *Network
	b, moved Numbers
	body     *Body
	o        CompareOptions
	places   map[*units.Class][]int32
	// those that activations found
	found map[*units.Class][]int32
	// few are the numbers that differ as stored, where they are few.
	few changes
	// closest is where the second model was next to the first.
	closest state
	out     *Aligned
	axes    map[*units.Class]*AlignedAxis
	spent   int
	// asks the first model
	asks *checker
}

// Compare says what two checkpoints are to each other.
func Compare(ctx context.Context, a, b *Network, body *Body, o CompareOptions) (*Report, error) {
	if o.Step == nil {
		o.Step = func(string) {}
	}
	r := &Report{Format: FormatNumber, Seed: o.Seed, Probes: len(body.Probes), Gaps: a.Units.Gaps, Axes: axesOf(a)}
	r.Models = []File{a.File(o.Digests[0]), b.File(o.Digests[1])}
	other, err := onto(a, b)
	if err != nil {
		return nil, err
	}
	x := &aligner{
		a: a, b: other, moved: other, body: body, o: o, places: map[*units.Class][]int32{},
		axes: map[*units.Class]*AlignedAxis{},
		out: &Aligned{
			Digests: o.Digests[0] != "" && o.Digests[0] == o.Digests[1], Numbers: other.equal(a.numbers),
			Layers: []Layer{}, Axes: []AlignedAxis{}, Path: []Point{}, Unused: unusedApart(a.Model, b.Model),
		},
	}
	r.Aligned = x.out
	for _, n := range a.Model.Proto().GetGraph().GetNode() {
		x.out.Statistics = x.out.Statistics || n.GetOpType() == "BatchNormalization"
	}
	x.o.Step("answers")
	first, err := x.of(ctx, x.a.Model)
	if err != nil {
		return nil, err
	}
	second, err := x.own(ctx, b)
	if err != nil {
		return nil, err
	}
	what := unseen(a.Model, b.Model) // before the second file is let go
	if err := x.compare(ctx, r, first, second); err != nil {
		return nil, err
	}
	if what != "" && r.Verdict != Different {
		return nil, incomparable(r.Models[0].Name, r.Models[1].Name, "the answers are the same at the probes, but %s, "+
			"and may be felt elsewhere", what)
	}
	return r, nil
}

// unseen is what differs of two models of one graph beside stored tensors that its nodes read: a function of the file,
// or a number that a branch reads from outside; "" for nothing.
func unseen(a, b *onnx.Model) string {
	x, y := a.Proto(), b.Proto()
	plain := func(f *onnxpb.FunctionProto) *onnxpb.FunctionProto {
		f = proto.CloneOf(f)
		f.DocString = nil
		f.ProtoReflect().SetUnknown(nil) // notes of later versions of the format
		for _, n := range f.GetNode() {
			n.DocString = nil
			n.ProtoReflect().SetUnknown(nil)
		}
		return f
	}
	same := func(f, g *onnxpb.FunctionProto) bool { return proto.Equal(plain(f), plain(g)) }
	if !slices.EqualFunc(x.GetFunctions(), y.GetFunctions(), same) {
		return "the functions of their files are others"
	}
	stored := func(p *onnxpb.ModelProto) map[string]*onnxpb.TensorProto {
		out := map[string]*onnxpb.TensorProto{}
		for _, t := range p.GetGraph().GetInitializer() {
			out[t.GetName()] = t
		}
		return out
	}
	of, to := stored(x), stored(y)
	for _, n := range x.GetGraph().GetNode() {
		for _, in := range onnx.Captured(n) {
			if t, u := of[in], to[in]; (t != nil || u != nil) && !proto.Equal(t, u) {
				return fmt.Sprintf("%q, which a branch of %s reads, is another one", in, onnx.Describe(n))
			}
		}
	}
	return ""
}

// own are what a second model answers by itself, whatever it calls its inputs: what its nodes read inside of branches
// and functions, and the version of its operators, are no stored tensors, and may be others.
func (x *aligner) own(ctx context.Context, b *Network) (*answers, error) {
	body := *x.body
	body.Probes = slices.Clone(body.Probes)
	in, to := x.a.Model.Signature().Inputs, b.Model.Signature().Inputs
	for i, p := range body.Probes {
		p = slices.Clone(p)
		for k, t := range p {
			if at := slices.IndexFunc(in, func(q onnx.Port) bool { return q.Name == t.Name }); at >= 0 {
				p[k].Name = to[at].Name
			}
		}
		body.Probes[i] = p
	}
	of, err := body.run(ctx, b.Model)
	if err != nil {
		return nil, err
	}
	return answersOf(of)
}

func (x *aligner) compare(ctx context.Context, r *Report, first, second *answers) error {
	var err error
	for i, n := range []*answers{first, second} {
		if n.bad != "" {
			r.Bad, r.Verdict = fmt.Sprintf("%s: %s", r.Models[i].Name, n.bad), Different
			return nil
		}
	}
	x.asks = &checker{Network: x.a, body: x.body, seed: x.o.Seed, first: first}
	if x.out.Function, err = x.asks.apart(ctx, second.of, x.a.Units.Stored()); err != nil {
		return err
	}
	if x.out.Numbers {
		if f := x.out.Function; f.Bad != "" || !(float64(f.Error) <= mostError) {
			return incomparable(r.Models[0].Name, r.Models[1].Name,
				"the stored weights are the same, and the answers are not (%s of their scale apart): the versions of "+
					"their operators, functions, or what branches read differ",
				f.text())
		}
		x.out.Canonical, x.out.Moved = true, Apart{Equal: true}
		if r.Verdict = SameUpTo; x.out.Digests {
			r.Verdict = SameFile
		}
		return nil
	}
	stored := x.distances(x.b)
	x.o.Step("canonical forms")
	if x.out.Canonical, err = x.canonical(ctx); err != nil {
		return err
	}
	both := ends{first, second}
	x.o.Step("the line between")
	straight, err := x.line(ctx, both, x.b, second.of)
	if err != nil {
		return err
	}
	x.o.Step("pairs of units")
	if err := x.pair(ctx); err != nil {
		return err
	}
	x.layers(stored, x.distances(x.moved))
	x.o.Step("answers after moving")
	after, err := x.answers(ctx, x.moved)
	if err != nil {
		return err
	}
	x.out.Moved = second.from(after.of)
	x.o.Step("the line between, with units paired")
	paired, err := x.line(ctx, both, x.moved, after.of)
	if err != nil {
		return err
	}
	x.path(straight, paired)
	r.Verdict, err = x.verdict(ctx, first, after)
	return err
}

func (x *aligner) answers(ctx context.Context, n Numbers) (*answers, error) {
	m, err := n.Into(x.a.Model)
	if err != nil {
		return nil, err
	}
	return x.of(ctx, m)
}

// of are the answers of a model.
func (x *aligner) of(ctx context.Context, m *onnx.Model) (*answers, error) {
	of, err := x.body.run(ctx, m)
	if err != nil {
		return nil, err
	}
	return answersOf(of)
}

// canonical tells whether both have one canonical form.
func (x *aligner) canonical(ctx context.Context) (bool, error) {
	var digests [2]string
	for k, n := range []*Network{x.a, x.a.holding(x.b)} { // one after the other: both would be in memory
		c, err := canonised(ctx, n, x.body)
		if err != nil {
			return false, err
		}
		digests[k] = c.now.digest()
	}
	return digests[0] == digests[1], nil
}

// holding is a network with other numbers.
func (n *Network) holding(numbers Numbers) *Network {
	out := *n
	out.numbers = numbers
	return &out
}

// verdict weighs what was found: the answers of the first, and those of the second after its units were moved.
func (x *aligner) verdict(ctx context.Context, first, after *answers) (Verdict, error) {
	same := x.out.Canonical
	if !same && x.near(x.moved) {
		x.out.Unit = x.farUnit(x.moved)
		same = x.out.Unit == nil
	}
	function := x.out.Function.Bad == "" && float64(x.out.Function.Error) <= mostError
	switch {
	case same && function:
		return SameUpTo, nil
	case same:
		rough, err := x.rough(ctx, after)
		if err == nil && rough {
			return SameUpTo, nil
		}
		return Different, err
	case function:
		var err error
		if x.out.Unreached, err = x.unreached(ctx, first); err != nil {
			return "", err
		}
		if x.out.Unreached != nil {
			return NotTold, nil
		}
		return SameFunction, nil
	}
	return Different, nil
}

// rough tells whether answers are no further apart than rounding the stored numbers otherwise takes them, and those of
// the second with its units moved are those of the first: then moving is all that parts them, and it rounds.
func (x *aligner) rough(ctx context.Context, after *answers) (bool, error) {
	left, err := x.asks.apart(ctx, after.of, x.a.Units.Stored())
	if err != nil || x.out.Function.Bad != "" || left.Bad != "" || x.out.Function.beyond || left.beyond {
		return false, err
	}
	x.o.Step("how rough the answers are")
	by, err := x.asks.rough(ctx, x.a.Units.Stored())
	if err != nil || !(float64(x.out.Function.Error) <= mostRough*by) ||
		!(float64(left.Error) <= max(mostError, mostRough*by)) {
		return false, err
	}
	x.out.Rough = Number(by)
	return true, nil
}

// pair finds the partner of each unit.
func (x *aligner) pair(ctx context.Context) error {
	n := x.a.Units
	for _, cl := range n.Classes {
		if cl.Fixed == "" {
			x.axes[cl] = &AlignedAxis{Axis: cl.Index, Name: cl.Label(), Units: cl.Units, Blocks: cl.Blocks}
			x.places[cl] = identity(cl)
		}
	}
	var err error
	if x.few, err = x.differing(x.b, fewest); err != nil {
		return err
	}
	x.keep() // as it is stored
	if err := x.byActivations(ctx); err != nil {
		return err
	}
	x.found = maps.Clone(x.places)
	x.keep()
	if err := x.fit(); err != nil {
		return err
	}
	x.keep()
	if err := x.byWeights(ctx); err != nil {
		return err
	}
	x.moved, x.places = x.closest.numbers, x.closest.places
	if !maps.EqualFunc(x.places, x.found, slices.Equal[[]int32]) {
		if err := x.correlate(ctx); err != nil {
			return err
		}
	}
	for _, cl := range n.Classes {
		a := x.axes[cl]
		if a == nil {
			continue
		}
		for u, at := range x.places[cl] {
			if int(at) != u%cl.Units {
				a.Moved++
			}
			if at != x.found[cl][u] {
				a.Refined++
			}
		}
		x.out.Axes = append(x.out.Axes, *a)
	}
	return nil
}

// move puts the units of a class of the second model into another order, after those that it has.
func (x *aligner) move(cl *units.Class, to []int32) error {
	e := newElement(x.a.Units)
	e.places[cl] = to
	moved, err := e.Apply(x.moved)
	if err != nil {
		return err
	}
	x.moved = moved.over(x.moved)
	x.places[cl] = after(cl, x.places[cl], to)
	return nil
}

// seen are the activations of a class in both models, by value.
type seen struct {
	values []string
	a, b   [][][]float64
}

// activity is what the units of both models answer inside, the second with some numbers.
func (x *aligner) activity(ctx context.Context, second Numbers) (map[*units.Class]*seen, error) {
	var asked []request
	known := map[*units.Class]*seen{}
	for _, cl := range x.a.Units.Classes {
		if list := x.carriers(cl); cl.Fixed == "" && len(list) > 0 {
			known[cl] = &seen{values: list}
			for _, v := range list {
				asked = append(asked, request{cl, v})
			}
		}
	}
	for k, n := range []Numbers{x.a.numbers, second} {
		m, err := n.Into(x.a.Model)
		if err != nil {
			return nil, err
		}
		rows, err := x.body.activations(ctx, m, x.a.Units, asked, samples)
		if err != nil {
			return nil, err
		}
		for i, r := range asked {
			if s := known[r.class]; k == 0 {
				s.a = append(s.a, rows[i])
			} else {
				s.b = append(s.b, rows[i])
			}
		}
	}
	return known, nil
}

// byActivations pairs units by how their values go along with each other at the probes: first blocks, then what is in
// them.
func (x *aligner) byActivations(ctx context.Context) error {
	known, err := x.activity(ctx, x.b)
	if err != nil {
		return err
	}
	done := map[*units.Class]bool{}
	e := newElement(x.a.Units)
	for _, cl := range x.a.Units.Classes {
		x.pairClass(cl, known, done, e)
	}
	moved, err := e.Apply(x.moved)
	if err != nil {
		return err
	}
	x.moved = moved.over(x.moved)
	maps.Copy(x.places, e.places)
	x.release()
	return nil
}

// release lets go of the second model as it is stored.
func (x *aligner) release() {
	x.moved, x.b = x.moved.apart(x.b), nil
}

// pairClass pairs the units of one class, after those that its blocks are.
func (x *aligner) pairClass(cl *units.Class, known map[*units.Class]*seen, done map[*units.Class]bool, e *Element) {
	s := known[cl]
	if done[cl] || s == nil {
		return
	}
	done[cl] = true
	for _, outer := range cl.Within {
		x.pairClass(outer, known, done, e)
	}
	x.o.Step("pairs at " + cl.Label())
	a := x.axes[cl]
	a.Ties = ties(s.a[0])
	anySign := x.anySign(cl)
	take := func(to []int, gain func(i, j int) float64) {
		for i, j := range to {
			e.places[cl] = append(e.places[cl], int32(j))
			a.goesAlong(gain(i, j))
		}
	}
	if inner := x.tells(cl, known); inner != nil {
		gain := x.blocks(cl, inner, known[inner])
		take(assign(cl.Units, gain), gain)
		return
	}
	for b := range cl.Blocks {
		from := e.block(cl, b)
		c := x.together(s, b*cl.Units, from*cl.Units, cl.Units, anySign)
		gain := func(i, j int) float64 { return c[i][j] }
		take(assign(cl.Units, gain), gain)
	}
}

// goesAlong counts a pair of units.
func (a *AlignedAxis) goesAlong(correlation float64) {
	a.Correlation += Number(correlation / float64(a.Units*a.Blocks))
	if !(correlation >= paired) {
		a.Unmatched++
	}
}

// anySign tells whether units of a class may have another sign.
func (x *aligner) anySign(cl *units.Class) bool {
	return slices.ContainsFunc(x.a.Units.Moves, func(m *units.Move) bool {
		return m.Class == cl && m.Kind != units.Positive
	})
}

// tells is the class by whose units those of another are told apart, which are its blocks; nil for none.
func (x *aligner) tells(cl *units.Class, known map[*units.Class]*seen) *units.Class {
	for _, inner := range x.inside(cl) {
		if known[inner] != nil && x.has(known[cl].values[0], inner) {
			return inner
		}
	}
	return nil
}

// correlate says how well the pairs that were kept go along, which are others than activations found.
func (x *aligner) correlate(ctx context.Context) error {
	x.o.Step("how pairs go along")
	known, err := x.activity(ctx, x.moved)
	if err != nil {
		return err
	}
	for _, cl := range x.a.Units.Classes {
		s := known[cl]
		if s == nil {
			continue
		}
		a := x.axes[cl]
		a.Correlation, a.Unmatched = 0, 0
		if inner := x.tells(cl, known); inner != nil {
			for i := range cl.Units {
				n, sum := inner.Units, 0.0
				values := known[inner].standard(i*n, i*n, n)
				for k := range n {
					sum += along(values, k, k, true) / float64(n)
				}
				a.goesAlong(sum)
			}
			continue
		}
		values := s.standard(0, 0, cl.Units*cl.Blocks)
		for u := range cl.Units * cl.Blocks {
			a.goesAlong(along(values, u, u, x.anySign(cl)))
		}
	}
	return nil
}

// block is which block comes to the place of another.
func (e *Element) block(cl *units.Class, b int) int {
	at := make([]int, len(cl.Within))
	for k := len(cl.Within) - 1; k >= 0; k-- {
		n := cl.Within[k].Units
		at[k] = b % n
		b /= n
	}
	out := 0
	for k, w := range cl.Within {
		if to := e.places[w]; len(to) == w.Units {
			at[k] = int(to[at[k]])
		}
		out = out*w.Units + at[k]
	}
	return out
}

// carriers are the values by which units of a class are told apart: the first and the last that have it, without what
// is in each of them if there are such.
func (x *aligner) carriers(cl *units.Class) []string {
	inner := x.inside(cl)
	values := x.a.seen(cl)
	if len(values) == 0 {
		return nil
	}
	var own []string
	for _, v := range values {
		if !slices.ContainsFunc(inner, func(c *units.Class) bool { return x.has(v, c) }) {
			own = append(own, v)
		}
	}
	if len(own) == 0 {
		return values[len(values)-1:]
	}
	return []string{own[0], own[len(own)-1]}
}

// inside are the classes whose units are in each of those of another.
func (x *aligner) inside(cl *units.Class) []*units.Class {
	var out []*units.Class
	for _, c := range x.a.Units.Classes {
		if c.Fixed == "" && len(c.Within) == 1 && c.Within[0] == cl {
			out = append(out, c)
		}
	}
	return out
}

func (x *aligner) has(value string, cl *units.Class) bool {
	return slices.ContainsFunc(cl.Values, func(p units.Place) bool { return p.Value == value })
}

// samples is at how many numbers of a unit correlations are taken at most.
const samples = 1 << 11

// blocks is how well what is in two blocks can be paired.
func (x *aligner) blocks(cl, inner *units.Class, s *seen) func(i, j int) float64 {
	n := inner.Units
	gain := make([][]float64, cl.Units)
	for i := range gain {
		gain[i] = make([]float64, cl.Units)
		for j := range gain[i] {
			c := x.together(s, i*n, j*n, n, true)
			for k, l := range assign(n, func(k, l int) float64 { return c[k][l] }) {
				gain[i][j] += c[k][l] / float64(n)
			}
		}
	}
	return func(i, j int) float64 { return gain[i][j] }
}

// together is how much n units of the first model, from one on, go along with n of the second, from another on: the
// mean of their correlations in all values in which neither is constant; 0 where one is constant everywhere. Where
// units may have any sign the absolute value counts.
func (x *aligner) together(s *seen, from, to, n int, anySign bool) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
	}
	values := s.standard(from, to, n)
	parallel(x.o.Workers, n, func(i int) {
		for j := range n {
			out[i][j] = along(values, i, j, anySign)
		}
	})
	return out
}

// standardised are rows of both models in one value.
type standardised struct{ p, q [][]float64 }

// standard are n units of the first model, from one on, and n of the second, from another on, in all values.
func (s *seen) standard(from, to, n int) []standardised {
	out := make([]standardised, len(s.values))
	for k := range out {
		out[k] = standardised{standard(s.a[k][from : from+n]), standard(s.b[k][to : to+n])}
	}
	return out
}

// along is how much two units go along.
func along(values []standardised, i, j int, anySign bool) float64 {
	sum, count := 0.0, 0
	for _, v := range values {
		if v.p[i] == nil || v.q[j] == nil {
			continue
		}
		c := product(v.p[i], v.q[j])
		if anySign {
			c = math.Abs(c)
		}
		sum, count = sum+c, count+1
	}
	if count == 0 {
		return 0
	}
	return sum / float64(count)
}

// standard are rows less their mean, of norm 1; nil for those that are constant.
func standard(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, r := range rows {
		mean := 0.0
		for _, v := range r {
			mean += v / float64(len(r))
		}
		out[i] = make([]float64, len(r))
		for j, v := range r {
			out[i][j] = v - mean
		}
		size := math.Sqrt(product(out[i], out[i]))
		if !(size > floor*floor*math.Sqrt(product(r, r))) || math.IsInf(size, 0) {
			out[i] = nil
		}
		for j := range out[i] {
			out[i][j] /= size
		}
	}
	return out
}

// parallel calls f for each number below n, on several goroutines.
func parallel(workers, n int, f func(i int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range max(min(workers, n), 1) {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// ties are how many rows another one goes along with so closely that nothing tells them apart.
func ties(rows [][]float64) int {
	x := standard(rows)
	n := 0
	for i := range x {
		if x[i] == nil {
			continue
		}
		for j := range x {
			if i != j && x[j] != nil && product(x[i], x[j]) > 1-floor {
				n++
				break
			}
		}
	}
	return n
}

// fit scales the units of the second model as those of the first are, and gives them their signs.
func (x *aligner) fit() error {
	if err := x.fitStatistics(); err != nil {
		return err
	}
	x.keep()
	g := x.a.Units
	for _, m := range g.Moves {
		p, ok := reference(g, m)
		if !ok {
			continue
		}
		a, err := rowsOf(g, m.Class, p.Tensor, x.a.numbers[p.Tensor])
		if err != nil {
			return err
		}
		b, err := rowsOf(g, m.Class, p.Tensor, x.moved[p.Tensor])
		if err != nil {
			return err
		}
		by := make([]float64, len(a))
		for u := range by {
			by[u] = 1
			if m.Kind != units.Sign && m.Kind != units.Rotation {
				r := math.Sqrt(product(a[u], a[u]) / product(b[u], b[u]))
				if p.Exp < 0 {
					r = 1 / r
				}
				if r > 0 && !math.IsInf(r, 0) {
					by[u] = r
				}
			}
			if m.Kind != units.Positive && product(a[u], b[u]) < 0 {
				by[u] = -by[u]
			}
		}
		e := newElement(g)
		e.scale(m, by)
		moved, err := e.Apply(x.moved)
		if err != nil {
			return err
		}
		x.moved = moved.over(x.moved)
	}
	if err := x.fitMatrices(); err != nil {
		return err
	}
	return x.fitNorms()
}

// mostBent is the largest condition of a matrix that units of the second model are multiplied by.
const mostBent = 1e4

// fitMatrices multiplies the units of each block of the second model by the matrix that takes them next to those of the
// first, where any matrix may stand, and by the orthogonal one where lengths have to stay. What one matrix makes worse
// the next one may mend: all of them are tried, and if that comes no closer, one after the other.
func (x *aligner) fitMatrices() error {
	if !slices.ContainsFunc(x.a.Units.Moves, ofMatrices) {
		return nil
	}
	stored := x.moved
	was := total(x.distances(stored))
	for _, m := range x.a.Units.Moves {
		if err := x.fitMatrix(m); err != nil {
			return err
		}
	}
	if total(x.distances(x.moved)) < was {
		return nil
	}
	x.moved = stored
	for _, m := range x.a.Units.Moves {
		before := x.moved
		if err := x.fitMatrix(m); err != nil {
			return err
		}
		if is := total(x.distances(x.moved)); is < was {
			was = is
		} else {
			x.moved = before
		}
	}
	return nil
}

// ofMatrices tells whether a move multiplies units by matrices.
func ofMatrices(m *units.Move) bool { return m.Kind == units.Matrix || m.Kind == units.Rotation }

// fitMatrix does so for one move, if it is one by matrices.
func (x *aligner) fitMatrix(m *units.Move) error {
	if !ofMatrices(m) {
		return nil
	}
	n := m.Class.Units
	t := turning{class: m.Class, on: m.On, dimension: n}
	for b := range m.Class.Blocks {
		by, err := x.matrix(m, b)
		if err != nil {
			return err
		}
		inverse := mat.DenseCopyOf(by)
		if m.Kind == units.Matrix {
			if c := mat.Cond(by, 2); !(c <= mostBent) || inverse.Inverse(by.T()) != nil {
				by, inverse = unit(n), unit(n)
			}
		}
		t.by, t.transposed = append(t.by, by.RawMatrix().Data), append(t.transposed, inverse.RawMatrix().Data)
	}
	e := newElement(x.a.Units)
	e.turns = append(e.turns, t)
	moved, err := e.Apply(x.moved)
	if err != nil {
		return err
	}
	x.moved = moved.over(x.moved)
	return nil
}

// unit is the matrix that changes nothing.
func unit(n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.Set(i, i, 1)
	}
	return out
}

// total is the sum of squares of all distances.
func total(all []distance) float64 {
	sum := 0.0
	for _, d := range all {
		sum += d.d
	}
	return sum
}

// matrix is the one that takes the units of a block of the second model closest to those of the first. Any matrix M is
// found by least squares from the tensors B that it multiplies, ‖M B − A‖², and from those that its transposed inverse
// does, ‖Mᵀ A − B‖²: M P + Q M = R with P = Σ B Bᵀ, Q = Σ A Aᵀ, R = Σ A Bᵀ. Orthogonal ones are their own transposed
// inverse, and the closest is the orthogonal part of R (Schönemann, Psychometrika 31, 1966).
func (x *aligner) matrix(m *units.Move, block int) (*mat.Dense, error) {
	n := m.Class.Units
	p, q := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	r := mat.NewDense(n, n, nil)
	for _, on := range m.On {
		if on.Exp == 0 {
			continue
		}
		a, err := rowsOf(x.a.Units, m.Class, on.Tensor, x.a.numbers[on.Tensor])
		if err != nil {
			return nil, err
		}
		b, err := rowsOf(x.a.Units, m.Class, on.Tensor, x.moved[on.Tensor])
		if err != nil {
			return nil, err
		}
		a, b = a[block*n:(block+1)*n], b[block*n:(block+1)*n]
		own, rows := p, b
		if on.Exp < 0 {
			own, rows = q, a
		}
		for i := range n {
			for j := range n {
				r.Set(i, j, r.At(i, j)+product(a[i], b[j]))
				if j >= i {
					own.SetSym(i, j, own.At(i, j)+product(rows[i], rows[j]))
				}
			}
		}
	}
	var out mat.Dense
	if m.Kind == units.Rotation {
		var svd mat.SVD
		if !svd.Factorize(r, mat.SVDFull) {
			return unit(n), nil
		}
		var u, v mat.Dense
		svd.UTo(&u)
		svd.VTo(&v)
		out.Mul(&u, v.T())
		return &out, nil
	}
	var ofP, ofQ mat.EigenSym
	if !ofP.Factorize(p, true) || !ofQ.Factorize(q, true) {
		return unit(n), nil
	}
	var u, v, inner mat.Dense
	ofP.VectorsTo(&u)
	ofQ.VectorsTo(&v)
	inner.Product(v.T(), r, &u)
	left, right := ofQ.Values(nil), ofP.Values(nil)
	nothing := floor * floor * (left[n-1] + right[n-1])
	for i := range n {
		for j := range n {
			if s := left[i] + right[j]; s > nothing {
				inner.Set(i, j, inner.At(i, j)/s)
			} else {
				inner.Set(i, j, 0) // no tensor says anything of it
			}
		}
	}
	out.Product(&v, &inner, u.T())
	return &out, nil
}

// fitNorms scales weights before normalisers whose statistics come from the data.
func (x *aligner) fitNorms() error {
	for _, m := range x.a.Units.Norms {
		if m.Stored || x.a.made(m.On...) != "" {
			continue
		}
		by, err := x.ratios(m, m.On, func(v float64) float64 { return v * v })
		if err != nil {
			return err
		}
		if err := x.scaleNorm(m, m.On, by, math.Sqrt); err != nil {
			return err
		}
	}
	return nil
}

// fitStatistics gives the second model the stored variances of the first, and scales weights, biases and means as that
// takes, with what is added to a variance counted in: that is exact, however far the variances are apart. Where it was
// not counted in as a twin was made, the answers differ by as much as the weights do then.
func (x *aligner) fitStatistics() error {
	plain := func(v float64) float64 { return v }
	for _, m := range x.a.Units.Norms {
		scaled := append(slices.Clone(m.On), m.Mean)
		if !m.Stored || x.a.made(append(scaled, m.Variance)...) != "" {
			continue
		}
		own, err := x.sizes(m, []string{m.Variance}, x.moved, plain)
		if err != nil {
			return err
		}
		want, err := x.sizes(m, []string{m.Variance}, x.a.numbers, plain)
		if err != nil {
			return err
		}
		by, of := make([]float64, len(own)), make([]float64, len(own)) // the deviation and the variance alone
		for u, v := range own {
			by[u], of[u] = 1, 1
			r := (want[u] + m.Epsilon) / (v + m.Epsilon)
			if v > 0 && want[u] > 0 && r > 0 && !math.IsInf(r, 0) && math.Abs(r-1) > floor {
				by[u], of[u] = r, want[u]/v
			}
		}
		if err := x.scaleNorm(m, scaled, by, math.Sqrt); err != nil {
			return err
		}
		if err := x.scaleNorm(m, []string{m.Variance}, of, plain); err != nil {
			return err
		}
	}
	return nil
}

// sizes are the sums of a function of the numbers of each unit before a normaliser.
func (x *aligner) sizes(m *units.Norm, names []string, of Numbers, f func(v float64) float64) ([]float64, error) {
	c := &checker{Network: x.a}
	n := 1
	for _, u := range m.Unit {
		n *= u.Units
	}
	out := make([]float64, n)
	for _, name := range names {
		val, err := of[name].Float64s(nil)
		if err != nil {
			return nil, err
		}
		each := c.unitAt(name, m.Unit)
		for i, v := range val {
			if u := each(i); u >= 0 {
				out[u] += f(v)
			}
		}
	}
	return out, nil
}

// ratios are what the sums of the first model are over those of the second, 1 where either is none, or where only
// rounding tells them apart.
func (x *aligner) ratios(m *units.Norm, names []string, f func(v float64) float64) ([]float64, error) {
	a, err := x.sizes(m, names, x.a.numbers, f)
	if err != nil {
		return nil, err
	}
	b, err := x.sizes(m, names, x.moved, f)
	if err != nil {
		return nil, err
	}
	for u := range a {
		if r := a[u] / b[u]; a[u] > 0 && b[u] > 0 && math.Abs(r-1) > floor {
			a[u] = r
		} else {
			a[u] = 1
		}
	}
	return a, nil
}

// scaleNorm multiplies stored tensors of the second model by a function of a ratio for each unit.
func (x *aligner) scaleNorm(m *units.Norm, names []string, ratios []float64, f func(ratio float64) float64) error {
	c := &checker{Network: x.a}
	out := Numbers{}
	for _, name := range names {
		t := x.moved[name]
		val, err := t.Float64s(nil)
		if err != nil {
			return err
		}
		each := c.unitAt(name, m.Unit)
		for i := range val {
			if u := each(i); u >= 0 && ratios[u] != 1 {
				val[i] *= f(ratios[u])
			}
		}
		if out[name], err = rounded(t.DType, val, t.Shape); err != nil {
			return err
		}
	}
	x.moved = out.over(x.moved)
	return nil
}

// byWeights looks at one class after the other and pairs its units so that the weights agree most, with all others as
// they are, as long as that gets better and there is time. It starts from pairs that activations found: by itself it
// ends in the next best order.
func (x *aligner) byWeights(ctx context.Context) error {
	const most = 10
	for range most {
		if x.met() {
			return nil
		}
		changed := false
		for _, cl := range x.a.Units.Classes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if x.axes[cl] == nil || len(x.inside(cl)) > 0 || x.spent > mostPairing {
				continue
			}
			x.o.Step("pairs by weights at " + cl.Label())
			better, err := x.agree(cl)
			if err != nil {
				return err
			}
			changed = changed || better
		}
		x.out.Rounds++
		if err := x.fit(); err != nil {
			return err
		}
		x.keep()
		if !changed || x.spent > mostPairing {
			return nil
		}
	}
	return nil
}

// met tells whether the numbers are the same already.
func (x *aligner) met() bool { return x.near(x.moved) && x.farUnit(x.moved) == nil }

// meet adds the inner products of rows to a table: gain[i][j] += ⟨a[i], b[j]⟩. It goes through the numbers of all rows
// in pieces that stay in the processor's cache while every row of the first is multiplied by them; each product is
// added up in the order of the numbers, however many goroutines share the rows.
func (x *aligner) meet(gain, a, b [][]float64) {
	const piece = 64 // numbers of each row
	const apart = 8  // so that columns do not fall on the same places of a cache
	n, stride := len(b), len(b)+apart
	if n == 0 {
		return
	}
	shares := max(min(x.o.Workers, len(a)), 1)
	parallel(x.o.Workers, shares, func(share int) {
		from, to := share*len(a)/shares, (share+1)*len(a)/shares
		turned := make([]float64, piece*stride)
		for k := 0; k < len(b[0]); k += piece {
			end := min(k+piece, len(b[0]))
			for j, row := range b {
				for l, v := range row[k:end] {
					turned[l*stride+j] = v
				}
			}
			for i := from; i < to; i++ {
				lanes.Weigh(gain[i], turned[:(end-k-1)*stride+n], stride, a[i][k:end])
			}
		}
	})
}

// agree pairs the units of one class by weights, and tells whether that is better than before.
func (x *aligner) agree(cl *units.Class) (bool, error) {
	n := cl.Units
	gain := make([][]float64, n*cl.Blocks)
	for i := range gain {
		gain[i] = make([]float64, n)
	}
	seen := map[string]bool{}
	for _, p := range cl.Stored {
		if seen[p.Value] {
			continue
		}
		seen[p.Value] = true
		a, err := rowsOf(x.a.Units, cl, p.Value, x.a.numbers[p.Value])
		if err != nil {
			return false, err
		}
		b, err := rowsOf(x.a.Units, cl, p.Value, x.moved[p.Value])
		if err != nil {
			return false, err
		}
		for block := range cl.Blocks {
			at := block * n
			x.meet(gain[at:at+n], a[at:at+n], b[at:at+n])
		}
		if len(a) > 0 {
			x.spent += len(a) * n * len(a[0])
		}
	}
	to := make([]int32, 0, len(gain))
	var was, is, size float64
	changed := 0
	for b := range cl.Blocks {
		at := b * n
		best := identity(&units.Class{Units: n, Blocks: 1})
		if of := gain[at : at+n]; !settled(of) {
			for i, j := range assign(n, func(i, j int) float64 { return of[i][j] }) {
				best[i] = int32(j)
			}
		}
		for i, j := range best {
			to = append(to, j)
			was, is = was+gain[at+i][i], is+gain[at+i][j]
			size += math.Abs(gain[at+i][i])
			if i != int(j) {
				changed++
			}
		}
	}
	if !(is > was+float64(1e-9*size)) || changed == 0 {
		return false, nil
	}
	return true, x.move(cl, to)
}

// settled tells whether no order is better than that in which units are: where none gains more with another than the
// mean of what both have, halves of those bound what any order gains. So it is of a twin whose units are in their
// places, which need not be searched for the best order.
func settled(gain [][]float64) bool {
	for i, row := range gain {
		for j, v := range row {
			if !(v <= (row[i]+gain[j][j])/2) {
				return false
			}
		}
	}
	return true
}

package weights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/units"
	"nero/model/onnx/vjp"
)

// Limits of what counts as the same.
const (
	// mostError is the largest ‖difference‖/s of a move that holds: rounding in float32 stays below.
	mostError = 1e-4
	// floor is what rounding alone leaves.
	floor = 1e-6
	// radial is the largest cosine between weights and gradient where a scale does not matter.
	radial = 1e-3
)

// rounded makes a tensor.
func rounded(d tensor.DType, val []float64, shape []int) (tensor.Tensor, error) {
	return decode.Rounded(d, val, shape...)
}

// Network is a model with what is known of its units and what runs it.
type Network struct {
	// Name is that of the file, for messages.
	Name    string
	Model   *onnx.Model
	Facts   *facts.Facts
	Units   *units.Graph
	numbers Numbers
}

// Open looks at a model, with the shapes of one sample. The name is for messages.
func Open(name string, m *onnx.Model, shapes map[string][]int) (*Network, error) {
	if n := quantised(m); n != "" {
		return nil, fmt.Errorf("%s: %s: its weights are stored as whole numbers (quantised), which are neither scaled "+
			"nor compared with others: name the model as it was before it was quantised", name, n)
	}
	f, err := facts.Infer(m, shapes, nil)
	if err != nil {
		return nil, err
	}
	if err := f.Fits(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	g, err := units.Of(f)
	if err != nil {
		return nil, err
	}
	if len(g.Stored()) == 0 {
		return nil, fmt.Errorf("%s: no stored weights to look at: no operator reads a stored tensor of floating-point "+
			"numbers; name a model with its weights in the file", name)
	}
	n, err := numbersOf(m, g)
	if err != nil {
		return nil, err
	}
	for _, t := range g.Stored() {
		val, err := n[t].Float64s(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, t, err)
		}
		for i, v := range val {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%s: the stored tensor %q is not finite at number %d: nothing can be said of "+
					"such weights; export the model from an earlier checkpoint", name, t, i)
			}
		}
	}
	return &Network{name, m, f, g, n}, nil
}

// quantised is the first node that reads weights as whole numbers; "" for none.
func quantised(m *onnx.Model) string {
	for _, n := range m.Proto().GetGraph().GetNode() {
		switch n.GetOpType() {
		case "DequantizeLinear", "QuantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger",
			"DynamicQuantizeLinear", "MatMulNBits", "QGemm", "QLinearAdd":
			return onnx.Describe(n)
		}
	}
	return ""
}

// equal tells whether the tensors are the same in the others, bit for bit.
func (n Numbers) equal(other Numbers) bool {
	for name, t := range n {
		if o, ok := other[name]; !ok || t.DType != o.DType || !slices.Equal(t.Shape, o.Shape) ||
			!slices.Equal(t.Raw, o.Raw) {
			return false
		}
	}
	return true
}

// digest is the SHA-256 of names, types, shapes and numbers.
func (n Numbers) digest() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(n)) {
		_, _ = fmt.Fprintf(h, "%q %d %v\n", name, n[name].DType, n[name].Shape) // a hash takes all
		h.Write(n[name].Raw)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checker asks a model about its symmetries.
type checker struct {
	*Network
	body  *Body
	seed  uint64
	first *answers
	step  func(what string)
	// what rounding tensors otherwise does to parts of answers, by the tensors
	roughly map[string][][]float64
}

// Check asks a model whether it has the symmetries that its graph promises: each is applied with a random element, and
// the answers are compared.
func Check(ctx context.Context, n *Network, b *Body, seed uint64, step func(what string)) (*Report, error) {
	c := &checker{Network: n, body: b, seed: seed, step: step}
	if c.step == nil {
		c.step = func(string) {}
	}
	of, err := b.run(ctx, n.Model)
	if err != nil {
		return nil, err
	}
	if c.first, err = answersOf(of); err != nil {
		return nil, err
	}
	r := &Report{Format: FormatNumber, Seed: seed, Probes: len(b.Probes), Gaps: n.Units.Gaps}
	r.Axes = axesOf(n)
	if c.first.bad != "" {
		r.Bad = c.first.bad
		return r, nil
	}
	for _, cl := range n.Units.Classes {
		if cl.Fixed != "" {
			continue
		}
		s, err := c.permute(ctx, cl)
		if err != nil {
			return nil, err
		}
		r.Symmetries = append(r.Symmetries, s)
		for _, m := range n.Units.Moves {
			if m.Class != cl {
				continue
			}
			if s, err = c.move(ctx, m); err != nil {
				return nil, err
			}
			r.Symmetries = append(r.Symmetries, s)
		}
	}
	for _, m := range n.Units.Moves { // units that stay may be scaled all the same
		if m.Class.Fixed == "" {
			continue
		}
		s, err := c.move(ctx, m)
		if err != nil {
			return nil, err
		}
		r.Symmetries = append(r.Symmetries, s)
	}
	for _, m := range n.Units.Norms {
		s, err := c.norm(ctx, m)
		if err != nil {
			return nil, err
		}
		r.Symmetries = append(r.Symmetries, s)
	}
	return r, nil
}

// stream is a stream of random numbers of its own for each question.
func (c *checker) stream(purpose uint64, index int) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed^purpose, uint64(index)))
}

// try applies an element and fills in what came of it.
func (c *checker) try(ctx context.Context, e *Element, s *Symmetry) error {
	c.step(s.Kind + " at " + s.Where)
	moved, err := e.Apply(c.numbers)
	if err != nil {
		return err
	}
	s.Tensors = append(s.Tensors, e.touched()...)
	if moved.equal(c.numbers) {
		s.State, s.Why = Untested, "the element that was drawn changes no stored number"
		return nil
	}
	if name := beyond(c.numbers, moved, e); name != "" {
		s.State, s.Why = Untested, outOfRange(name)
		return nil
	}
	of, err := c.run(ctx, moved)
	if err != nil {
		return err
	}
	got, err := c.apart(ctx, of, s.Tensors)
	if err != nil {
		return err
	}
	s.Apart = got
	switch {
	case got.Bad != "" && len(e.scales) > 0:
		s.State = Untested
		s.Why = "with the factors that were drawn, " + got.Bad + ": numbers inside leave the range of their type"
	case got.Bad != "":
		s.State, s.Why = Refuted, got.Bad
	case c.blind():
		s.State, s.Why = Untested, "all answers are the same whatever is asked, so that nothing could show"
	case float64(got.Error) <= mostError:
		s.State = Holds
	default:
		s.State = Refuted
		if s.Why = fmt.Sprintf("the answers move by %.2g of their scale, and rounding leaves at most %g",
			float64(got.Error), mostError); got.part {
			s.Why = fmt.Sprintf("%s moves by %.2g of its own scale, and further than rounding takes it", got.At,
				float64(got.Error))
			return nil
		}
		rough, err := c.rough(ctx, s.Tensors)
		if err != nil {
			return err
		}
		if float64(got.Error) <= mostRough*rough {
			s.State = Untested
			s.Why = fmt.Sprintf("the answers move by %.2g of their scale, and rounding the stored numbers otherwise "+
				"moves them by %.2g: they are too rough to show it", float64(got.Error), rough)
		}
	}
	return nil
}

// beyond is the first stored tensor that factors or matrices take out of the range in which its type keeps its digits;
// "" for none.
func beyond(was, moved Numbers, e *Element) string {
	if len(e.scales)+len(e.turns) == 0 {
		return "" // places alone make no number
	}
	return leaves(was, moved)
}

// leaves is the first of some tensors in which a number is no longer finite, or was made so small that it lost digits.
func leaves(was, moved Numbers) string {
	for _, name := range slices.Sorted(maps.Keys(moved)) {
		p, err := was[name].Float64s(nil)
		if err != nil {
			continue // it was read before
		}
		q, err := moved[name].Float64s(nil)
		if err != nil {
			continue
		}
		least := leastNormal(moved[name].DType)
		for i, v := range q {
			if size := math.Abs(v); math.IsNaN(v) || math.IsInf(v, 0) || size < least && size != math.Abs(p[i]) {
				return name
			}
		}
	}
	return ""
}

// outOfRange says that a tensor left its range.
func outOfRange(name string) string {
	return fmt.Sprintf("what was drawn takes numbers of %q out of the range in which their type keeps its digits", name)
}

// leastNormal is the smallest number that keeps all digits.
func leastNormal(d tensor.DType) float64 {
	switch d { //nolint:exhaustive // the others are no floating-point numbers
	case tensor.Float64:
		return math.Ldexp(1, -1022)
	case tensor.Float16:
		return math.Ldexp(1, -14)
	default:
		return math.Ldexp(1, -126)
	}
}

// mostRough is by how much a move that rounds the numbers it makes may be further off than numbers that were rounded
// once more.
const mostRough = 16

// digits is how many bits the fraction of a stored number has.
func digits(d tensor.DType) int {
	switch d { //nolint:exhaustive // the others are no floating-point numbers
	case tensor.Float64:
		return 52
	case tensor.Float16:
		return 10
	case tensor.BFloat16:
		return 7
	default:
		return 23
	}
}

// rough is how far the answers go where each of some stored numbers is rounded otherwise: moved by one unit of its last
// digit, up or down.
func (c *checker) rough(ctx context.Context, tensors []string) (float64, error) {
	of, err := c.roughAnswers(ctx, tensors)
	if err != nil {
		return math.NaN(), err
	}
	got := c.first.from(of)
	if got.Bad != "" {
		return math.NaN(), nil
	}
	return float64(got.Error), nil
}

// roughAnswers are those with each of some stored numbers rounded otherwise.
func (c *checker) roughAnswers(ctx context.Context, tensors []string) ([][]tensor.Named, error) {
	moved := Numbers{}
	r := c.stream(forRounding, 0)
	for _, name := range tensors {
		t := c.numbers[name]
		val, err := t.Float64s(nil)
		if err != nil {
			return nil, err
		}
		digit := math.Ldexp(1, -digits(t.DType))
		for i := range val {
			val[i] *= 1 + float64(digit*float64(1-2*r.IntN(2)))
		}
		if moved[name], err = rounded(t.DType, val, t.Shape); err != nil {
			return nil, err
		}
	}
	return c.run(ctx, moved)
}

// blind tells whether no output depends on the probes.
func (c *checker) blind() bool { return !slices.Contains(c.first.still, false) }

// run answers the probes with other numbers.
func (c *checker) run(ctx context.Context, moved Numbers) ([][]tensor.Named, error) {
	m, err := moved.Into(c.Model)
	if err != nil {
		return nil, err
	}
	return c.body.run(ctx, m)
}

// ask runs the model with other numbers, and compares whole answers.
func (c *checker) ask(ctx context.Context, moved Numbers) (Apart, error) {
	of, err := c.run(ctx, moved)
	if err != nil {
		return Apart{}, err
	}
	return c.first.from(of), nil
}

func (c *checker) permute(ctx context.Context, cl *units.Class) (*Symmetry, error) {
	e := newElement(c.Units)
	e.places[cl] = shuffled(cl, c.stream(forPlaces, cl.Index))
	s := &Symmetry{
		Kind: permutation, Where: cl.Label(), Axis: cl.Index, Units: cl.Units, Blocks: cl.Blocks,
		Element: "a random order",
	}
	return s, c.try(ctx, e, s)
}

// elements say what is drawn of each kind of move.
func elementOf(k units.Kind) string {
	return [...]string{
		units.Positive: "factors 2^-3 to 2^3", units.Sign: "random signs", units.Rotation: "a random rotation",
		units.Matrix: "a random matrix of condition at most 4",
	}[k]
}

func (c *checker) move(ctx context.Context, m *units.Move) (*Symmetry, error) {
	e := newElement(c.Units)
	e.draw(m, c.stream(forMoves+uint64(m.Kind)<<8, slices.Index(c.Units.Moves, m)))
	s := &Symmetry{
		Kind: m.Kind.String(), Where: m.At, Axis: m.Class.Index, Units: m.Class.Units, Blocks: m.Class.Blocks,
		Element: elementOf(m.Kind),
	}
	return s, c.try(ctx, e, s)
}

// scalesAsked are the factors that normalised weights are multiplied by: powers of two, which round nothing.
var scalesAsked = []float64{1.0 / 16, 1.0 / 4, 4, 16, 64}

// norm asks whether the size of weights before a normaliser matters.
func (c *checker) norm(ctx context.Context, m *units.Norm) (*Symmetry, error) {
	s := &Symmetry{
		Kind: scaleInvariance, Where: m.Weights, Before: m.Normaliser, Op: m.Op, Axis: -1, Units: 1, Blocks: 1,
		Tensors: slices.Clone(m.On), Element: "factors 1/16, 1/4, 4, 16, 64 on half of the units",
	}
	if m.Stored {
		s.Kind, s.Tensors = jointScale, append(s.Tensors, m.Mean, m.Variance)
	}
	c.step(s.Kind + " at " + s.Where)
	if name := c.made(s.Tensors...); name != "" {
		s.State, s.Why = Untested, fmt.Sprintf("%q is not stored by itself: a node makes it", name)
		return s, nil
	}
	for _, u := range m.Unit {
		s.Units *= u.Units
	}
	if e := m.Epsilon; !math.IsNaN(e) {
		s.Epsilon = Number(e)
	}
	chosen := c.half(m, s.Units)
	var at []Apart
	for _, by := range scalesAsked {
		moved, err := c.scaled(m, chosen, by, m.Stored)
		if err != nil {
			return nil, err
		}
		if name := leaves(c.numbers, moved); name != "" {
			s.State, s.Why, s.Steps = Untested, outOfRange(name), nil
			return s, nil
		}
		got, err := c.ask(ctx, moved)
		if err != nil {
			return nil, err
		}
		at = append(at, got)
		s.Steps = append(s.Steps, Step{by, got})
	}
	s.judge(at, c.blind())
	if m.Stored { // what a scale of the weights alone would do
		moved, err := c.scaled(m, chosen, 4, false)
		if err != nil {
			return nil, err
		}
		got, err := c.ask(ctx, moved)
		if err != nil {
			return nil, err
		}
		s.Alone = &got
		return s, nil
	}
	s.Radial, s.NoRadial = c.radial(ctx, m)
	return s, nil
}

// made is the first of some tensors that is not stored, but comes out of a node: exporters store equal tensors once and
// copy them. Empty for none.
func (n *Network) made(names ...string) string {
	for _, name := range names {
		if _, ok := n.numbers[name]; !ok {
			return name
		}
	}
	return ""
}

// half draws the units that are scaled: half of them, at least one.
func (c *checker) half(m *units.Norm, n int) []bool {
	r := c.stream(forUnits, slices.Index(c.Units.Norms, m))
	out := make([]bool, n)
	some := false
	for i := range out {
		out[i] = r.IntN(2) == 0
		some = some || out[i]
	}
	if !some {
		out[r.IntN(n)] = true
	}
	return out
}

// scaled multiplies the weights of the chosen units before a normaliser, with its statistics or without.
func (c *checker) scaled(m *units.Norm, chosen []bool, by float64, statistics bool) (Numbers, error) {
	out := Numbers{}
	put := func(name string, by float64) error {
		t := c.numbers[name]
		val, err := t.Float64s(nil)
		if err != nil {
			return err
		}
		each := c.unitAt(name, m.Unit)
		for i := range val {
			if u := each(i); u >= 0 && chosen[u] {
				val[i] *= by
			}
		}
		out[name], err = rounded(t.DType, val, t.Shape)
		return err
	}
	for _, name := range m.On {
		if err := put(name, by); err != nil {
			return nil, err
		}
	}
	if !statistics {
		return out, nil
	}
	if err := put(m.Mean, by); err != nil {
		return nil, err
	}
	return out, put(m.Variance, by*by)
}

// unitAt finds the unit that an element of a stored tensor belongs to; one that has none, as a bias that is the same
// for all, belongs to all of one, else to none.
func (c *checker) unitAt(name string, of []*units.Class) func(i int) int {
	shape := c.numbers[name].Shape
	spots := c.Units.Spots(name)
	strides := make([]int, len(shape))
	for i, n := len(shape)-1, 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return func(i int) int {
		u := 0
		for _, cl := range of {
			k := -1
			for a, list := range spots {
				for _, s := range list {
					if s.Class == cl && k < 0 {
						k = int(s.Index[i/strides[a]%shape[a]])
					}
				}
			}
			if k < 0 {
				return -1
			}
			u = u*cl.Units + k
		}
		return u
	}
}

// judge says what the errors at several scales mean. What is added to the variance leaves an error that goes as
// (1/c² − 1): it stays where the scale grows, and grows sixteenfold with each step down.
func (s *Symmetry) judge(at []Apart, blind bool) {
	worst, equal := 0.0, true
	for _, a := range at {
		if a.Bad != "" {
			s.State, s.Why, s.Apart = Refuted, a.Bad, a
			return
		}
		equal, worst = equal && a.Equal, max(worst, float64(a.Error)) // NaN stays
	}
	s.Apart = Apart{Error: Number(worst), Equal: equal}
	e := func(i int) float64 { return max(float64(at[i].Error), floor) }
	// that growing further changes little, and that falling costs
	const much, step, most = 2, 4, 0.05
	steady := max(e(2), e(3), e(4)) <= much*min(e(2), e(3), e(4))
	grows := e(1) <= floor || e(0) >= step*e(1) || e(0) > most && e(0) >= e(1)
	below := e(1) <= floor || e(1) >= step*e(2)
	switch {
	case blind:
		s.State, s.Why = Untested, "all answers are the same whatever is asked, so that nothing could show"
	case equal, worst <= floor:
		s.State, s.UpTo = Holds, upToRounding
	case steady && grows && below && e(4) <= most:
		s.State, s.UpTo = Holds, upToEpsilon
	default:
		s.State = Refuted
		s.Why = fmt.Sprintf("the answers move by up to %.2g of their scale, and not as what is added to the "+
			"variance would do it",
			worst)
	}
}

// radial is the cosine between the weights and the gradient of a seeded loss by them: 0 where their size does not
// matter. The text says why there is none.
func (c *checker) radial(ctx context.Context, m *units.Norm) (*Number, string) {
	var names []string
	for _, name := range m.On {
		if c.initializer(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, "the weights are no initializers"
	}
	var shape []int
	if len(c.body.Probes[0]) != 1 {
		return nil, "the model reads several inputs"
	}
	shape = c.body.Probes[0][0].Shape
	shapes, err := vjp.Shapes(ctx, c.Model, shape, nil)
	if err != nil {
		return nil, err.Error()
	}
	r, err := vjp.Build(c.Model, shapes, vjp.Request{Output: c.Model.Signature().Outputs[0].Name, Wrt: names})
	if err != nil {
		return nil, err.Error()
	}
	raw, err := r.Model.Bytes()
	if err != nil {
		return nil, err.Error()
	}
	s, err := c.body.Open(ctx, raw)
	if err != nil {
		return nil, err.Error()
	}
	defer s.Close() //nolint:errcheck // nothing is lost
	draw := c.stream(forLosses, slices.Index(c.Units.Norms, m))
	sum := make([][]float64, len(names))
	for i, p := range c.body.Probes {
		like := c.first.of[i][0]
		val := make([]float64, like.Len())
		for k := range val {
			val[k] = elementary.Normal(draw)
		}
		cot, err := rounded(like.DType, val, like.Shape)
		if err != nil {
			return nil, err.Error()
		}
		got, err := s.Run(ctx, append(slices.Clone(p), tensor.Named{Name: r.Cotangent, Tensor: cot}))
		if err != nil {
			return nil, err.Error()
		}
		for k := range names {
			g, err := got[len(got)-len(names)+k].Float64s(nil)
			if err != nil {
				return nil, err.Error()
			}
			if sum[k] == nil {
				sum[k] = make([]float64, len(g))
			}
			for j, v := range g {
				sum[k][j] += v
			}
		}
	}
	var dot, grad, size float64
	for k, name := range names {
		w, err := c.numbers[name].Float64s(nil)
		if err != nil {
			return nil, err.Error()
		}
		dot, grad, size = dot+product(sum[k], w), grad+product(sum[k], sum[k]), size+product(w, w)
	}
	if !(grad > 0 && size > 0) {
		return nil, "the gradient is 0"
	}
	return new(Number(math.Abs(dot) / math.Sqrt(grad*size))), ""
}

// initializer tells whether a stored tensor has a name of its own in the file.
func (c *checker) initializer(name string) bool {
	for _, t := range c.Model.Proto().GetGraph().GetInitializer() {
		if t.GetName() == name {
			return true
		}
	}
	return false
}

// Package lint predicts, from an ONNX graph alone, which symmetries of the pixel grid can hold exactly: quarter turns
// and mirrors (the group D4 of the square, or of the rectangle), and cyclic and free shifts by whole pixels.
//
// Two predictions are made. Structure is the largest group that some choice of weights keeps: strides, sizes, padding,
// crops, resizing, position tables decide it. Weights is the largest group that the stored weights keep as well, up to
// a consistent permutation of channels.
//
// # How structure is judged
//
// The picture is replaced by random numbers modulo the prime 2^61-1, weights by random stand-ins that are as symmetric
// as their shape permits and alike for all channels, nonlinearities by random functions; sums, products and linear
// resampling are exact. A picture and its moved copies are sent through the graph in this form, one channel in place of
// all. An identity between the results that holds for random numbers holds for all, up to a chance of about 2^-50, so
// that the judgement is exact for these stand-ins: it finds what a table of laws would miss, such as a pad that a later
// window makes up for, windows that differ only in what they do not read, or branches on turned copies that together
// have what each of them lacks. The laws (such as: a mirror keeps a strided window if size + 2*begin - extent =
// stride*(places-1)) then say why.
//
// What it does not know are inequalities: that a mean is no larger than the maximum can make a maximum of means of
// maxima more symmetric than predicted.
//
// Structure says what cannot be exact. That something can be exact does not say that it is: for that the weights are
// read.
package lint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/rewrite"
)

// Options of [Predict]. The zero value is fine.
type Options struct {
	// Input is the picture that moves; "" for the only input. Other inputs stand still.
	Input string
	// Output is the value that is judged: an output of the model, or an inner value; "" for the first output.
	Output string
	// Layout of the picture: "NCHW", "NHWC" or "NHW"; "" guesses one of the first two from the shape.
	Layout string
	// Tolerance is up to which difference weights count as equal, relative to the largest one of their tensor;
	// 0 for 1e-5.
	Tolerance float64
}

// DefaultTolerance is the tolerance for weights if [Options] names none: float32 weights that were made equal by
// averaging differ by about 1e-7.
const DefaultTolerance = 1e-5

// Prediction is what can be exact for one picture input and one output.
type Prediction struct {
	// Analyzed is false if the input is no picture; Why then says so and the rest is empty.
	Analyzed bool   `json:"analyzed"`
	Why      string `json:"why,omitempty"`

	Input  string `json:"input"`
	Output string `json:"output"`
	Layout string `json:"layout,omitempty"`
	// rows and columns of the picture
	Size [2]int `json:"size"`
	// Map tells whether the output has places that move with those of the picture; else it is judged as an invariant.
	Map bool `json:"map"`

	// Structure is the largest group that the structure permits. It is 0, the empty set, if StructureKnown is false: a
	// node could not be followed, and Unknown says which.
	Structure      Subgroup `json:"structure"`
	StructureKnown bool     `json:"structure_known"`
	// Construction is the group that holds whatever the weights are, such as by averaging over turned copies; 0 if that
	// is not known.
	Construction Subgroup `json:"construction"`
	// Weights is the largest group that the stored weights keep, with channels permuted inside and in their places at
	// the output. Representations that are no permutations, such as vectors, are not seen. It is what is known so far
	// if WeightsKnown is false; elements in Undecided may hold as well.
	Weights      Subgroup  `json:"weights"`
	WeightsKnown bool      `json:"weights_known"`
	Undecided    []Element `json:"undecided,omitempty"`
	// Permuted are the elements under which the output keeps its numbers up to a permutation of channels that is not
	// the identity: a regular representation, or features that were not pooled over the group.
	Permuted []Permutation `json:"permuted,omitempty"`

	Shifts Shifts `json:"shifts"`
	Losses []Loss `json:"losses"`
	// Untied are the nodes whose weights break elements that the structure breaks as well: with the structure mended
	// they would break all the same. Convolutions alone are read, and of those in a row the first.
	Untied  []Loss    `json:"-"`
	Unknown []Unknown `json:"unknown,omitempty"`
	Risks   []Risk    `json:"risks,omitempty"`
	Nodes   []Node    `json:"nodes"`
}

// Shifts are the least shifts in pixels, down and across, all of whose multiples are exact.
type Shifts struct {
	// Cyclic shifts: 1 for every whole shift, k for multiples of k, 0 for none but the full turn.
	Cyclic [2]int `json:"cyclic"`
	// Free shifts of what is in the picture, away from the border, over an even background: 1, k or 0 as above.
	Free [2]int `json:"free"`
	// CyclicKnown and FreeKnown are false if a node could not be followed.
	CyclicKnown bool `json:"cyclic_known"`
	FreeKnown   bool `json:"free_known"`
}

// Levels of a prediction.
const (
	LevelStructure = "structure"
	LevelWeights   = "weights"
	LevelShift     = "shift" // free shifts
	LevelRoll      = "roll"  // cyclic shifts
)

// Loss is a node at which symmetry ends for good: nothing after it restores what it breaks.
type Loss struct {
	Node string `json:"node"`
	Op   string `json:"op"`
	// LevelStructure, LevelWeights, LevelShift or LevelRoll
	Level  string `json:"level"`
	Reason string `json:"reason"`
	Remedy string `json:"remedy,omitempty"`
	// Elements are the names of those of D4 that it breaks, or the shifts, such as "1 down".
	Elements []string `json:"elements"`
}

// Unknown is a node that could not be followed.
type Unknown struct {
	Node   string `json:"node"`
	Op     string `json:"op"`
	Level  string `json:"level"`
	Reason string `json:"reason"`
}

// Kinds of risks.
const (
	RiskTraining  = "training-norm" // a normalization by the statistics of the batch
	RiskDropout   = "dropout"       // values dropped at random
	RiskRandom    = "random"        // random numbers in the graph
	RiskTies      = "ties"          // a choice between values that may tie
	RiskPrecision = "precision"     // reduced precision
	RiskPositions = "positions"     // a table with a value of its own for every place
	RiskFlatten   = "flatten"       // a dense layer on a map: every place has weights of its own
	RiskResize    = "resize"        // a nearest-neighbor resize whose rounding decides
)

// Risk is what the prediction cannot promise: a place where the graph is exact on paper, or only with suitable weights.
type Risk struct {
	Kind   string `json:"kind"`
	Node   string `json:"node"`
	Op     string `json:"op"`
	Reason string `json:"reason"`
	Remedy string `json:"remedy,omitempty"`
}

// Node is what the structure permits for the first output of a node.
type Node struct {
	Name      string   `json:"name"`
	Op        string   `json:"op"`
	Structure Subgroup `json:"structure"`
	// Judged is false if the node was not followed, or if its places lie in an order that is not; Structure is then 0.
	Judged bool `json:"judged"`
}

// Permutation is how an element permutes channels: channel i of the output takes the numbers of channel To[i].
type Permutation struct {
	Element Element `json:"element"`
	To      []int   `json:"to"`
}

// motion is what is done to the picture.
type motion struct {
	e      Element
	dy, dx int
}

// String names it.
func (m motion) String() string {
	switch {
	case m.dy != 0 && m.dx != 0:
		return fmt.Sprintf("%d down and %d across", m.dy, m.dx)
	case m.dy != 0:
		return fmt.Sprintf("%d down", m.dy)
	case m.dx != 0:
		return fmt.Sprintf("%d across", m.dx)
	}
	return m.e.String()
}

// picture is the input that moves.
type picture struct {
	name  string
	shape []int
	// axes of rows and columns
	at     [2]int
	layout string
}

// h and w are the size.
func (p picture) h() int { return p.shape[p.at[0]] }
func (p picture) w() int { return p.shape[p.at[1]] }

// findPicture chooses the input and its layout. why says why there is none.
func findPicture(f *facts.Facts, o Options) (p picture, why string, err error) {
	ins := f.Model().Signature().Inputs
	i := 0
	switch {
	case o.Input != "":
		if i = slices.IndexFunc(ins, func(x onnx.Port) bool { return x.Name == o.Input }); i < 0 {
			return p, "", fmt.Errorf("%s: no input %q; it has %s", f.Model().Name(), o.Input,
				strings.Join(onnx.Names(ins), ", "))
		}
	case len(ins) == 0:
		return p, "the model has no input", nil
	case len(ins) > 1:
		return p, fmt.Sprintf("the model has %d inputs; name the one that moves", len(ins)), nil
	}
	p.name, p.shape, p.layout = ins[i].Name, f.Shapes[ins[i].Name], o.Layout
	if p.layout == "" {
		switch s := p.shape; {
		case len(s) == 4 && few(s[3]) && !few(s[1]):
			p.layout = "NHWC"
		default:
			p.layout = "NCHW"
		}
	}
	rank := map[string]int{"NCHW": 4, "NHWC": 4, "NHW": 3}[p.layout]
	if rank == 0 {
		return p, "", fmt.Errorf("%s: layout %q; want NCHW, NHWC or NHW", f.Model().Name(), p.layout)
	}
	if len(p.shape) != rank {
		if o.Layout != "" && p.shape != nil {
			return p, "", fmt.Errorf("%s: the input %s has %d axes, which is not %s", f.Model().Name(), ins[i],
				len(p.shape), p.layout)
		}
		return p, fmt.Sprintf("the input %s has no two pixel axes", ins[i]), nil
	}
	p.at = [2]int{strings.Index(p.layout, "H"), strings.Index(p.layout, "W")}
	if p.h() < 2 && p.w() < 2 {
		return p, fmt.Sprintf("the input %s has a single place", ins[i]), nil
	}
	return p, "", nil
}

func few(n int) bool { return n == 1 || n == 3 || n == 4 }

// errNoOutput says that the output asked for does not exist.
var errNoOutput = errors.New("no such value")

// Predict predicts the largest exact subgroups of a model whose shapes are known. It runs nothing; it takes time that
// grows with the number of pixels and nodes but not with that of channels (about a second for a ResNet at 224 x 224).
// An error says that an option does not fit the model, or that ctx ended.
func Predict(ctx context.Context, f *facts.Facts, o Options) (*Prediction, error) {
	p, why, err := findPicture(f, o)
	if err != nil {
		return nil, err
	}
	res := &Prediction{Why: why, Losses: []Loss{}, Nodes: []Node{}, Input: p.name, Output: o.Output}
	outs := f.Model().Signature().Outputs
	if res.Output == "" && len(outs) > 0 {
		res.Output = outs[0].Name
	}
	if o.Output != "" && f.Shapes[o.Output] == nil && !slices.ContainsFunc(f.Model().Proto().GetGraph().GetNode(),
		func(n *nodeProto) bool { return slices.Contains(n.GetOutput(), o.Output) }) {
		return nil, fmt.Errorf("%s: output %q: %w; outputs are %s", f.Model().Name(), o.Output, errNoOutput,
			strings.Join(onnx.Names(outs), ", "))
	}
	if why != "" {
		return res, nil
	}
	res.Analyzed, res.Layout, res.Size = true, p.layout, [2]int{p.h(), p.w()}
	l := &linter{f: f, p: p, o: o, res: res}
	if err := l.points(ctx); err != nil {
		return nil, err
	}
	if err := l.shifts(ctx); err != nil {
		return nil, err
	}
	if err := l.weights(ctx); err != nil {
		return nil, err
	}
	l.risks()
	res.gather(rewrite.Wrapped(f.Model()))
	return res, nil
}

// gather names what was put around a model as one: nobody mends its nodes by themselves.
func (p *Prediction) gather(w *rewrite.Wrapper) {
	if w == nil {
		return
	}
	p.doubt(w)
	losses := func(all []Loss) []Loss {
		out := []Loss{}
		at := map[string]int{} // by level, of the wrapper
		for _, x := range all {
			if !w.Has(x.Node) {
				out = append(out, x)
				continue
			}
			i, known := at[x.Level]
			if !known {
				at[x.Level] = len(out)
				x.Node, x.Op = w.Name, "repair"
				x.Remedy = "" // it is of a node that nobody wrote
				out = append(out, x)
				continue
			}
			for _, e := range x.Elements {
				if !slices.Contains(out[i].Elements, e) {
					out[i].Elements = append(slices.Clone(out[i].Elements), e)
				}
			}
		}
		return out
	}
	p.Losses, p.Untied = losses(p.Losses), losses(p.Untied)
	seen := map[string]bool{}
	p.Unknown = slices.DeleteFunc(p.Unknown, func(u Unknown) bool {
		again := w.Has(u.Node) && seen[u.Level]
		seen[u.Level] = seen[u.Level] || w.Has(u.Node)
		return again
	})
	for i := range p.Unknown {
		if w.Has(p.Unknown[i].Node) {
			p.Unknown[i].Node, p.Unknown[i].Op = w.Name, "repair"
		}
	}
	p.Risks = slices.DeleteFunc(p.Risks, func(r Risk) bool { return w.Has(r.Node) && r.Kind != RiskTies })
	for i := range p.Risks {
		if w.Has(p.Risks[i].Node) {
			p.Risks[i].Node, p.Risks[i].Op = w.Name, "repair"
		}
	}
	p.Nodes = slices.DeleteFunc(p.Nodes, func(n Node) bool { return w.Has(n.Name) })
}

// doubt takes back what weights of a wrapper are said to lose. Nobody trained them, and they need not permute channels:
// moments of a map turn into each other in pairs, of which the lengths stay.
func (p *Prediction) doubt(w *rewrite.Wrapper) {
	at := ""
	p.Losses = slices.DeleteFunc(p.Losses, func(x Loss) bool {
		if x.Level != LevelWeights || !w.Has(x.Node) {
			return false
		}
		for _, e := range Whole.Elements() {
			if slices.Contains(x.Elements, e.String()) && !slices.Contains(p.Undecided, e) {
				p.Undecided = append(p.Undecided, e)
			}
		}
		at = x.Node
		return true
	})
	if at == "" {
		return
	}
	slices.Sort(p.Undecided)
	p.WeightsKnown = false
	p.Unknown = append(p.Unknown, Unknown{
		Node: at, Op: "repair", Level: LevelWeights,
		Reason: "what a repair put there may turn values into each other that are no channels which change places",
	})
}

// linter makes one prediction.
type linter struct {
	f   *facts.Facts
	p   picture
	o   Options
	res *Prediction
	// of the elements of D4
	run *run
}

// points judges the elements of D4.
func (l *linter) points(ctx context.Context) error {
	all := Whole
	if l.p.h() != l.p.w() {
		all = Rectangle
	}
	var ms []motion
	for _, e := range all.Elements() {
		ms = append(ms, motion{e: e})
	}
	r, err := trace(ctx, l.f, l.p, l.res.Output, ms, standIns{})
	if err != nil {
		return err
	}
	group := func(r *run) Subgroup { return r.group(l.res.Output) }
	if s := r.status[l.res.Output]; s.judged && group(r) != all && oblong(l.f) {
		tied, err := trace(ctx, l.f, l.p, l.res.Output, ms, standIns{tied: true})
		if err != nil {
			return err
		}
		if t := group(tied); t&group(r) == group(r) {
			r = tied
		}
	}
	l.run = r
	s, found := r.status[l.res.Output]
	if !found || !s.judged {
		l.unfollowed(r, LevelStructure)
	} else {
		l.res.StructureKnown, l.res.Structure, l.res.Map = true, group(r), s.placed
	}
	for i, n := range l.f.Nodes {
		out := l.f.Model().Proto().GetGraph().GetNode()[i].GetOutput()
		if len(out) == 0 || !l.f.Depends(out[0]) {
			continue
		}
		s := r.status[out[0]]
		x := Node{Name: n.Name, Op: n.Op, Judged: s.judged}
		if s.judged {
			x.Structure = r.group(out[0])
		}
		l.res.Nodes = append(l.res.Nodes, x)
	}
	if all != Whole {
		l.res.Losses = append(l.res.Losses, Loss{
			Node: l.p.name, Op: "input", Level: LevelStructure, Elements: (Whole &^ all).Names(),
			Reason: fmt.Sprintf(
				"pictures of %d x %d are not square: quarter turns and diagonal mirrors change their size", l.p.h(),
				l.p.w()),
			Remedy: "use a square size",
		})
	}
	if l.res.StructureKnown {
		l.blame(r, r, LevelStructure)
	}
	return nil
}

// unfollowed lists the nodes at which a run lost track.
func (l *linter) unfollowed(r *run, level string) {
	for _, u := range r.gaps {
		u.Level = level
		l.res.Unknown = append(l.res.Unknown, u)
	}
	if len(r.gaps) == 0 {
		l.res.Unknown = append(l.res.Unknown,
			Unknown{
				Node: l.res.Output, Op: "output", Level: level,
				Reason: "its places lie in an order that is not followed",
			})
	}
}

// oblong tells whether some kernel is longer along one axis.
func oblong(f *facts.Facts) bool {
	return slices.ContainsFunc(f.Nodes, func(n facts.Node) bool {
		w, ok := n.Window()
		return ok && len(w.Kernel) == 2 && w.Kernel[0] != w.Kernel[1]
	})
}

// run is one trace of a picture and its moved copies.
type run struct {
	// the first one is the identity
	motions []motion
	status  map[string]status
	gaps    []Unknown
	// nodes that read a map with weights for every place
	dense map[int]bool
	// nodes that combine a map with a table of places
	tabled map[int]bool
}

// status is what became of a value.
type status struct {
	judged bool
	// it has places of the picture
	placed bool
	atoms  [][]atom
	// per motion
	kept []bool
	// per motion: not kept or, where that is not judged, made of what is not
	lost []bool
}

// group is the set of elements that a value keeps.
func (r *run) group(name string) Subgroup {
	var g Subgroup
	for k, ok := range r.status[name].kept {
		if ok {
			g |= 1 << r.motions[k].e
		}
	}
	return g
}

// start makes the picture and its copies.
func start(p picture, ms []motion) *value {
	v := &value{shape: slices.Clone(p.shape), held: slices.Clone(p.shape)}
	for a, n := range p.shape {
		as := plain(n)
		if a == p.at[0] {
			as[0].role = roleY
		}
		if a == p.at[1] {
			as[0].role = roleX
		}
		v.atoms = append(v.atoms, as)
	}
	if tooMuch(p.shape) != nil {
		return opaque("a picture of %v is too large to follow", p.shape)
	}
	r := rand.New(rand.NewPCG(seedOf("picture"), 1))
	base := make([]uint64, tensor.Count(p.shape))
	for i := range base {
		base[i] = r.Uint64() % prime
	}
	h, w := p.h(), p.w()
	st := v.strides()
	for _, m := range ms {
		x := make([]uint64, len(base))
		walk(p.shape, func(i int, at []int) {
			y, c := m.e.place(at[p.at[0]], at[p.at[1]], h, w)
			y, c = (y+m.dy)%h, (c+m.dx)%w
			j := i + (y-at[p.at[0]])*st[p.at[0]] + (c-at[p.at[1]])*st[p.at[1]]
			x[j] = base[i]
		})
		v.x = append(v.x, x)
	}
	return v
}

// mostWork bounds the numbers that one trace computes and compares: some seconds. A residual network at 224 x 224 takes
// some million; what comes after is not followed, and said to be not.
const mostWork = 1 << 26

// tooLong is why.
const tooLong = "the graph has too many nodes to follow pictures of this size"

// trace sends the copies through the graph. motions[0] must be the identity.
func trace(ctx context.Context, f *facts.Facts, p picture, output string, ms []motion, with standIns) (*run, error) {
	r := &run{motions: ms, status: map[string]status{}, dense: map[int]bool{}, tabled: map[int]bool{}}
	t := &tracer{f: f, values: map[string]*value{}, standIns: with, r: r}
	judged := map[string]*value{}
	work := 0
	nodes := f.Model().Proto().GetGraph().GetNode()
	last := map[string]int{}
	for i, n := range nodes {
		for _, name := range n.GetInput() {
			last[name] = i
		}
	}
	for _, in := range f.Model().Signature().Inputs {
		var v *value
		if in.Name == p.name {
			v = start(p, ms)
		} else if v = still(f.Shapes[in.Name], in.Name); v == nil {
			v = opaque("the input %s is too large", in.Name)
		}
		t.values[in.Name], judged[in.Name] = v, v
		r.judge(in.Name, v, p, nil)
	}
	for i, n := range nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.i, t.node, t.rec = i, n, &f.Nodes[i]
		var outs []*value
		switch {
		case work > mostWork:
			outs = make([]*value, len(n.GetOutput()))
			for k := range outs {
				outs[k] = opaque(tooLong)
			}
		case subgraphs(n):
			outs = make([]*value, len(n.GetOutput()))
			for k := range outs {
				outs[k] = opaque("a node with a body of its own")
			}
		default:
			outs = t.step()
		}
		for k, name := range n.GetOutput() {
			if name == "" {
				continue
			}
			v := outs[k]
			for _, x := range v.x {
				work += len(x)
			}
			if work > mostWork && v.opaque == "" {
				v = opaque(tooLong)
			}
			t.values[name] = v
			if !f.Depends(name) {
				continue
			}
			if name == output && v.opaque == "" {
				v = v.settled()
			}
			judged[name] = v
			if from := t.source(); k == 0 && name != output && judged[from] == t.values[from] && r.status[from].judged {
				r.status[name] = r.status[from]
			} else {
				r.judge(name, v, p, n.GetInput())
			}
			if v.opaque != "" && k == 0 && v.opaque != readsUnknown {
				r.gaps = append(r.gaps, Unknown{Node: f.Nodes[i].Name, Op: f.Nodes[i].Op, Reason: v.opaque})
			}
		}
		for _, name := range n.GetInput() {
			if last[name] == i {
				delete(t.values, name)
				delete(judged, name)
			}
		}
	}
	return r, nil
}

// source is the value whose numbers the node replaces one by one, so that its output moves as that does; empty for
// other nodes.
func (t *tracer) source() string {
	if slices.Contains(unary, t.node.GetOpType()) || slices.Contains(placewise, t.node.GetOpType()) {
		return t.node.GetInput()[0]
	}
	return ""
}

// readsUnknown is why nodes after one that was not followed are not followed either.
const readsUnknown = "reads what was not followed"

// subgraphs tells whether a node has a body.
func subgraphs(n *nodeProto) bool {
	for _, a := range n.GetAttribute() {
		if a.GetG() != nil || len(a.GetGraphs()) > 0 {
			return true
		}
	}
	return false
}

// still is an input that does not move.
func still(shape []int, name string) *value {
	if tooMuch(shape) != nil {
		return nil
	}
	v := &value{shape: slices.Clone(shape), held: slices.Clone(shape)}
	x := make([]uint64, tensor.Count(shape))
	for i := range x {
		x[i] = mix(seedOf(name), uint64(i))
	}
	for _, n := range shape {
		v.atoms = append(v.atoms, plain(n))
	}
	v.x = [][]uint64{x}
	return v
}

// judge compares the copies of a value.
func (r *run) judge(name string, v *value, p picture, inputs []string) {
	s := status{lost: make([]bool, len(r.motions))}
	if v.opaque == "" {
		s.judged, s.atoms = true, v.atoms
		s.placed, _ = v.spatial()
		for k, m := range r.motions {
			kept, judged := m.keeps(v, k, p)
			s.kept = append(s.kept, kept)
			s.judged = s.judged && judged
		}
	}
	for k := range s.lost {
		if s.judged {
			s.lost[k] = !s.kept[k]
			continue
		}
		for _, in := range inputs {
			if b, ok := r.status[in]; ok {
				s.lost[k] = s.lost[k] || b.lost[k]
			}
		}
	}
	if !s.judged {
		s.kept = nil
	}
	r.status[name] = s
}

// keeps tells whether copy k of a value is its first copy, moved; judged is false if its places are not known.
func (m motion) keeps(v *value, k int, p picture) (kept, judged bool) {
	placed, lost := v.spatial()
	if len(v.x) == 1 {
		return true, true
	}
	if !placed || lost {
		return slices.Equal(v.at(0), v.at(k)), !lost
	}
	if m.e.swaps() { // rows and columns must be held alike
		var axes []int
		for a, as := range v.atoms {
			if slices.ContainsFunc(as, func(f atom) bool { return f.role != roleOther && f.n > 1 }) {
				axes = append(axes, a)
			}
		}
		if v = v.spread(axes...); v.opaque != "" {
			return false, false
		}
	}
	var dims [8][2]int
	for c := range dims {
		dims[c][0], dims[c][1] = v.lengths(c)
		h, w := max(dims[c][0], 1), max(dims[c][1], 1)
		switch {
		case dims[c] == [2]int{}:
		case m.e.swaps() && h != w, h > 1 && m.dy*h%p.h() != 0, w > 1 && m.dx*w%p.w() != 0:
			return false, true
		}
	}
	x, y := v.at(0), v.at(k)
	st := v.strides()
	kept = true
	walk(v.held, func(i int, at []int) {
		if !kept {
			return
		}
		var ys, xs [8]int
		for a, j := range at {
			if v.held[a] > 1 {
				ay, ax := places(v.atoms[a], j)
				for c := range ys {
					ys[c], xs[c] = ys[c]+ay[c], xs[c]+ax[c]
				}
			}
		}
		for c := range dims {
			if dims[c] == [2]int{} {
				continue
			}
			h, w := max(dims[c][0], 1), max(dims[c][1], 1)
			ys[c], xs[c] = m.e.place(ys[c], xs[c], h, w)
			if h > 1 {
				ys[c] = (ys[c] + m.dy*h/p.h()) % h
			}
			if w > 1 {
				xs[c] = (xs[c] + m.dx*w/p.w()) % w
			}
		}
		to := 0
		for a, j := range at {
			if v.held[a] <= 1 {
				continue
			}
			n, q := 1, 0
			for _, f := range slices.Backward(v.atoms[a]) {
				d := j / n % f.n
				switch f.role {
				case roleY:
					d = ys[f.copy&7] / f.step % f.n
				case roleX:
					d = xs[f.copy&7] / f.step % f.n
				}
				q += d * n
				n *= f.n
			}
			to += q * st[a]
		}
		kept = x[i] == y[to]
	})
	return kept, true
}

// shifts judges shifts.
func (l *linter) shifts(ctx context.Context) error {
	s := &l.res.Shifts
	sym := l.f.Symmetry(l.p.layout)
	if sym.Analyzed && len(sym.Unfollowed) == 0 {
		s.Free, s.FreeKnown = sym.Shift, true
	}
	size := [2]int{l.p.h(), l.p.w()}
	// No kernel is asked to be symmetric: shifts do not turn it.
	test := func(k [2]int) (ok [2]bool, judged bool, r *run, err error) {
		ms := []motion{{}, {dy: k[0] % size[0]}, {dx: k[1] % size[1]}}
		r, err = trace(ctx, l.f, l.p, l.res.Output, ms, standIns{free: true})
		if err != nil {
			return ok, false, nil, err
		}
		st := r.status[l.res.Output]
		if !st.judged {
			return ok, false, r, nil
		}
		return [2]bool{st.kept[1], st.kept[2]}, true, r, nil
	}
	// The shifts that are kept are the multiples of a divisor of the size: go down from the full turn.
	period := size
	var left [2][]int
	for a := range left {
		left[a] = primes(size[a])
	}
	for len(left[0]) > 0 || len(left[1]) > 0 {
		k := period
		for a := range k {
			if len(left[a]) > 0 {
				k[a] = period[a] / left[a][0]
			}
		}
		ok, judged, r, err := test(k)
		if err != nil {
			return err
		}
		if !judged {
			l.unfollowed(r, LevelRoll)
			return nil
		}
		for a := range k {
			switch {
			case len(left[a]) == 0:
			case ok[a]:
				period[a] = k[a]
				if q := left[a][0]; period[a]%q != 0 {
					left[a] = left[a][1:]
				}
			default:
				left[a] = left[a][1:]
			}
		}
	}
	s.CyclicKnown = true
	for a := range period {
		s.Cyclic[a] = period[a]
		if period[a] == size[a] && size[a] > 1 {
			s.Cyclic[a] = 0
		}
	}
	// Which nodes lose shifts: free ones by the strides, cyclic ones where a shift that the strides keep is lost.
	for _, n := range sym.Notes {
		if slices.Contains(n.Breaks, facts.BreaksShift) && s.Free != [2]int{1, 1} {
			for _, name := range n.Nodes {
				l.res.Losses = append(l.res.Losses,
					Loss{
						Node: name, Op: n.Op, Level: LevelShift, Elements: []string{"1 down", "1 across"},
						Reason: n.Why, Remedy: n.Remedy,
					})
			}
		}
	}
	k := [2]int{1, 1}
	for a := range k {
		if f := s.Free[a]; s.FreeKnown && f > 1 && f < size[a] && size[a]%f == 0 && s.Cyclic[a] == 0 {
			k[a] = f
		}
	}
	ok, judged, r, err := test(k)
	if err != nil || !judged || ok[0] && ok[1] {
		return err
	}
	kept := []motion{{}} // shifts that the output has, where they are neither all nor the full turn
	for a, p := range s.Cyclic {
		if p > 1 && p < size[a] {
			kept = append(kept, [2]motion{{dy: p}, {dx: p}}[a])
		}
	}
	others, err := trace(ctx, l.f, l.p, l.res.Output, kept, standIns{free: true})
	if err != nil {
		return err
	}
	l.blame(r, others, LevelRoll)
	return nil
}

// primes are the prime factors of n, each once.
func primes(n int) []int {
	var out []int
	for q := 2; q*q <= n; q++ {
		if n%q == 0 {
			out = append(out, q)
			for n%q == 0 {
				n /= q
			}
		}
	}
	if n > 1 {
		out = append(out, n)
	}
	return out
}

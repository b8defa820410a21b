// Package units says which parts of a network may change places, be scaled or have their signs changed without a change
// of what the network computes, and which stored numbers go along.
//
// The axes of all values and stored tensors are followed through the graph. Axes that a sum, a product or a layer of
// weights ties together are one: where the channels of one branch of a residual network change places, those of all
// branches do. An axis that is reshaped is a product of parts, such as heads and what is in a head, and axes that are
// put one after another stay apart. What is left are classes of units; those that the inputs, the outputs, the places
// of a picture or an operator that nobody looked into fix are not among them.
//
// Nothing is run, and nothing is known of groups.
package units

import (
	"fmt"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/onnxpb"
)

// Class is a kind of units: places of axes that change places together.
type Class struct {
	// Index is its number among all classes, in the order of the graph.
	Index int
	// Units is how many there are, in each block.
	Units int
	// Within are the classes whose units are the blocks: what is in a head changes places in each head on its own.
	// Blocks is how many blocks there are.
	Within []*Class
	Blocks int
	// Fixed says why its units stay where they are, "" where they may change places.
	Fixed string
	// Values are those that depend on the input and have the class on an axis, in the order of the graph.
	Values []Place
	// Stored are the tensors that have it.
	Stored []Place
	atom   *Atom
}

// Place is an axis of a value.
type Place struct {
	Value string
	Axis  int
}

// Gap is a node that was not looked into, so that what it reads and makes stays as it is.
type Gap struct {
	Node string `json:"node"`
	Op   string `json:"op"`
	Why  string `json:"why"`
}

// Graph is what is known of the units of a model.
type Graph struct {
	// Classes are all that are found in stored tensors, first those that may change places.
	Classes []*Class
	// Gaps are the nodes that nobody looked into.
	Gaps []Gap
	// Moves are what may be done to the units of a class beside changing places, in the order of the graph.
	Moves []*Move
	// Norms are layers of weights that a normaliser follows.
	Norms []*Norm

	facts  *facts.Facts
	values map[string][]Axis
	// stored floating-point tensors, in the order in which nodes read them
	stored []string
	class  map[*Atom]*Class
}

// mostAtoms bounds the parts of axes that are told apart: files may ask for any number.
const mostAtoms = 1 << 20

// Of looks at a model whose shapes are known, for one choice of input shapes.
func Of(f *facts.Facts) (*Graph, error) {
	w := &walker{
		atoms: atoms{most: mostAtoms}, f: f, values: map[string][]Axis{}, stored: map[string]bool{},
		opset: f.Model().Opset(), types: f.Model().Types(),
	}
	w.walk()
	if w.count > mostAtoms {
		return nil, fmt.Errorf("%s: its axes fall into more than %d parts", f.Model().Name(), mostAtoms)
	}
	g := &Graph{facts: f, values: w.values, Gaps: w.gaps, class: map[*Atom]*Class{}}
	g.order(w)
	g.classes(w)
	ties := newTies(g)
	ties.walk()
	g.Moves = ties.moves()
	g.norms()
	return g, nil
}

// walker follows axes through the nodes, in order.
type walker struct {
	atoms
	f      *facts.Facts
	values map[string][]Axis
	stored map[string]bool
	// what normalisers and the like look at together: sets of atoms without those that they mix
	apart [][]Axis
	gaps  []Gap
	types map[string]tensor.DType
	opset int
}

// Reasons for which units stay.
const (
	OfInput  = "the input of the model"
	OfOutput = "the answer of the model"
	places   = "places, not units"
)

func (w *walker) walk() {
	m := w.f.Model()
	g := m.Proto().GetGraph()
	for _, t := range g.GetInitializer() {
		if t.GetName() != "" {
			w.stored[t.GetName()] = true
		}
	}
	for _, p := range m.Signature().Inputs {
		for _, a := range w.of(p.Name) {
			w.pin(a, OfInput)
		}
	}
	for i, n := range g.GetNode() {
		if n.GetOpType() == "Constant" && len(n.GetOutput()) == 1 && onnx.Attr(n, "value").GetT() != nil {
			w.stored[n.GetOutput()[0]] = true
		}
		c := &step{walker: w, NodeProto: n, index: i}
		outs, why := c.follow()
		if why != "" {
			w.gaps = append(w.gaps, Gap{w.f.Nodes[i].Name, w.f.Nodes[i].Op, why})
		}
		for k, o := range n.GetOutput() {
			shape, known := w.f.Shapes[o]
			if o == "" || !known {
				continue
			}
			var axes []Axis
			if k < len(outs) {
				axes = outs[k]
			}
			w.values[o] = w.fitting(axes, shape, why)
		}
	}
	for _, o := range g.GetOutput() {
		for _, a := range w.of(o.GetName()) {
			w.pin(a, OfOutput)
		}
	}
}

// fitting are axes of a value, with new ones that stay where nothing is known.
func (w *walker) fitting(axes []Axis, shape []int, why string) []Axis {
	if why == "" {
		why = places
	}
	out := make([]Axis, len(shape))
	for i, n := range shape {
		if axes != nil && len(axes) == len(shape) && axes[i].Len() == n {
			out[i] = axes[i]
			continue
		}
		if len(axes) == len(shape) {
			w.pin(axes[i], why)
		}
		out[i] = w.axis(n, why)
	}
	return out
}

// of are the axes of a value; nil where its shape is not known.
func (w *walker) of(name string) []Axis {
	if a, ok := w.values[name]; ok {
		return a
	}
	shape, ok := w.f.Shapes[name]
	if name == "" || !ok {
		return nil
	}
	why := ""
	if w.stored[name] && !floats(w.types[name]) {
		why = places // indices and masks are not moved
	}
	axes := make([]Axis, len(shape))
	for i, n := range shape {
		axes[i] = w.axis(n, why)
	}
	w.values[name] = axes
	return axes
}

// floats tells whether a stored tensor holds numbers that may be moved.
func floats(d tensor.DType) bool {
	return d == tensor.Float32 || d == tensor.Float64 || d == tensor.Float16 || d == tensor.BFloat16
}

// order finds the stored tensors that nodes read.
func (g *Graph) order(w *walker) {
	seen := map[string]bool{}
	for _, n := range g.nodes() {
		for _, in := range n.GetInput() {
			if w.stored[in] && !seen[in] && floats(w.types[in]) {
				seen[in] = true
				g.stored = append(g.stored, in)
			}
		}
	}
}

func (g *Graph) nodes() []*onnxpb.NodeProto { return g.facts.Model().Proto().GetGraph().GetNode() }

// Stored are the tensors of floating-point numbers that nodes read and that have axes, in the order of the graph.
func (g *Graph) Stored() []string { return slices.Clone(g.stored) }

// classes names what the walk left whole.
func (g *Graph) classes(w *walker) {
	isStored := map[string]bool{}
	for _, s := range g.stored {
		isStored[s] = true
		for k, a := range g.values[s] {
			for _, l := range a.leaves() {
				c := g.class[l]
				if c == nil {
					c = &Class{Units: l.n, Blocks: 1, Fixed: l.pinned, atom: l}
					g.class[l] = c
					g.Classes = append(g.Classes, c)
				}
				if p := (Place{s, k}); !slices.Contains(c.Stored, p) {
					c.Stored = append(c.Stored, p)
				}
			}
		}
	}
	slices.SortStableFunc(g.Classes, func(a, b *Class) int {
		switch {
		case (a.Fixed == "") == (b.Fixed == ""):
			return 0
		case a.Fixed == "":
			return -1
		}
		return 1
	})
	for i, c := range g.Classes {
		c.Index = i
	}
	for _, n := range g.nodes() {
		for _, o := range n.GetOutput() {
			if !g.facts.Depends(o) {
				continue
			}
			for k, a := range g.values[o] {
				for _, l := range a.leaves() {
					if c := g.class[l]; c != nil {
						c.Values = append(c.Values, Place{o, k})
					}
				}
			}
		}
	}
	g.within(w)
}

// within finds the classes that always come with others, so that each unit of those has units of its own.
func (g *Graph) within(w *walker) {
	sets := slices.Clone(w.apart)
	for name, axes := range g.values {
		// what does not come from the input is stored, or made of what is
		_ = name
		sets = append(sets, axes)
	}
	// atoms that are in all sets that an atom is in
	with := map[*Atom]map[*Atom]bool{}
	twice := map[*Atom]bool{}
	for _, axes := range sets {
		count := map[*Atom]int{}
		for _, a := range axes {
			for _, l := range a.leaves() {
				count[l]++
			}
		}
		// of axes one after another each part is a set of its own
		for _, part := range alternatives(axes) {
			here := map[*Atom]bool{}
			for _, l := range part {
				here[l] = true
			}
			for l := range here {
				if g.class[l] == nil {
					continue
				}
				if count[l] > 1 {
					twice[l] = true
				}
				old, seen := with[l]
				if !seen {
					with[l] = map[*Atom]bool{}
					for o := range here {
						if o != l {
							with[l][o] = true
						}
					}
					continue
				}
				for o := range old {
					if !here[o] {
						delete(old, o)
					}
				}
			}
		}
	}
	inner := map[*Class]bool{}
	for _, c := range g.Classes {
		if c.Fixed != "" { // one that is twice in a value is in one block there: that comes once
			continue
		}
		for _, o := range g.Classes {
			if o == c || o.Units < 1 || !with[c.atom][o.atom] || twice[o.atom] || inner[o] {
				continue
			}
			if with[o.atom][c.atom] && o.Index > c.Index {
				continue // each in the other: one of them is the outer one
			}
			c.Within = append(c.Within, o)
			c.Blocks *= o.Units
		}
		if len(c.Within) > 0 {
			inner[c] = true
		}
	}
}

// alternatives are the sets of atoms that meet in one element of a value: of axes one after another one at a time. What
// is not in a list is in each.
func alternatives(axes []Axis) [][]*Atom {
	out := [][]*Atom{nil}
	add := func(more [][]*Atom) {
		var all [][]*Atom
		for _, a := range out {
			for _, b := range more {
				all = append(all, slices.Concat(a, b))
			}
		}
		out = all
	}
	for _, a := range axes {
		for _, p := range a.parts() {
			if p.sum == nil {
				for i := range out {
					out[i] = append(slices.Clip(out[i]), p)
				}
				continue
			}
			if len(out)*len(p.sum) > mostAlternatives {
				add([][]*Atom{nil})
				continue
			}
			var more [][]*Atom
			for _, s := range p.sum {
				more = append(more, alternatives([]Axis{s})...)
			}
			add(more)
		}
	}
	return out
}

// mostAlternatives bounds the ways in which parts of axes meet.
const mostAlternatives = 1 << 12

// Label is what a class is called for people: the first value that has it.
func (c *Class) Label() string {
	if len(c.Values) > 0 {
		return c.Values[0].Value
	}
	if len(c.Stored) > 0 {
		return c.Stored[0].Value
	}
	return "nothing"
}

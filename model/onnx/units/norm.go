package units

import (
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Norm is a layer of weights that nothing but constants and other shapes part from a normaliser: what it makes is
// divided by its own size there, so that the size of the weights does not matter, but for what is added to the
// variance.
type Norm struct {
	// Weights are the layer and Normaliser what follows it, by their nodes.
	Weights, Normaliser string
	// Op is the operator of the normaliser, in words of its own where it is made of several nodes.
	Op string
	// On are the stored tensors that are scaled together: weights, biases and what is added in between.
	On []string
	// Unit are the classes whose units have a statistic of their own; none where the layer has one.
	Unit []*Class
	// Epsilon is what is added to the variance; NaN where it is not known.
	Epsilon float64
	// Stored says that the statistics are stored, as in inference: then Mean and Variance have to go along.
	Stored         bool
	Mean, Variance string
}

// normaliser is a place where values are divided by their size.
type normaliser struct {
	node    *onnxpb.NodeProto
	op      string
	value   string
	over    []*Atom
	epsilon float64
	// how often the value is read here, and a value in between with how often that is: by nothing else, or what else
	// reads it would see the change
	reads   int
	inner   string
	innerly int
	// stored statistics
	mean, variance string
}

// norms finds layers of weights before normalisers.
func (g *Graph) norms() {
	made := map[string]*onnxpb.NodeProto{}
	read := map[string]int{}
	stored := map[string]bool{}
	for _, s := range g.stored {
		stored[s] = true
	}
	for _, n := range g.nodes() {
		for _, o := range n.GetOutput() {
			made[o] = n
		}
		for _, in := range slices.Concat(n.GetInput(), onnx.Captured(n)) {
			read[in]++
		}
	}
	for _, p := range g.facts.Model().Signature().Outputs {
		read[p.Name] += 2 // it is looked at
	}
	for _, n := range g.nodes() {
		z := g.normaliserAt(n, made)
		if z == nil {
			continue
		}
		if m := g.before(z, made, read, stored); m != nil {
			g.Norms = append(g.Norms, m)
		}
	}
}

// normaliserAt is the normaliser that a node is, or ends; nil for none.
func (g *Graph) normaliserAt(n *onnxpb.NodeProto, made map[string]*onnxpb.NodeProto) *normaliser {
	if !enough(n) || !slices.ContainsFunc(n.GetInput(), g.facts.Depends) {
		return nil
	}
	in := n.GetInput()
	x := g.values[in[0]]
	z := &normaliser{
		node: n, op: n.GetOpType(), value: in[0], reads: 1, epsilon: float64(onnx.Float(n, "epsilon", 1e-5)),
	}
	over := func(axes []Axis) {
		for _, a := range axes {
			z.over = append(z.over, a.leaves()...)
		}
	}
	switch n.GetOpType() {
	case "InstanceNormalization":
		if len(x) < 2 {
			return nil
		}
		over(x[2:])
	case "GroupNormalization":
		k := int(onnx.Int(n, "num_groups", 1))
		if len(x) < 2 {
			return nil
		}
		over(x[2:])
		for _, p := range x[1].parts() { // the outer parts are the groups
			if k > 1 && k%p.n == 0 {
				k /= p.n
				continue
			}
			over([]Axis{{p}})
		}
	case "LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization":
		k := int(onnx.Int(n, "axis", -1))
		if k < 0 {
			k += len(x)
		}
		if k < 0 || k > len(x) {
			return nil
		}
		over(x[k:])
	case "LpNormalization":
		k := int(onnx.Int(n, "axis", -1))
		if k < 0 {
			k += len(x)
		}
		if k < 0 || k >= len(x) {
			return nil
		}
		over(x[k : k+1])
		z.epsilon = 0
	case "BatchNormalization":
		if len(x) < 2 || len(in) < 5 {
			return nil
		}
		over(x[:1])
		over(x[2:])
		if onnx.Int(n, "training_mode", 0) == 0 {
			z.mean, z.variance = in[3], in[4]
		}
	case "Div":
		return g.quotient(n, made)
	default:
		return nil
	}
	return z
}

// quotient is a value over its own length or deviation, made of several nodes.
func (g *Graph) quotient(n *onnxpb.NodeProto, made map[string]*onnxpb.NodeProto) *normaliser {
	x, d := n.GetInput()[0], made[n.GetInput()[1]]
	z := &normaliser{node: n, op: "division by its own length", value: x, reads: 2}
	var reduced *onnxpb.NodeProto
	for d != nil && reduced == nil {
		if !enough(d) {
			return nil
		}
		var next string
		switch d.GetOpType() {
		case "Sqrt", "Clip", "Identity", "Expand", "Abs", "Reshape", "Unsqueeze":
			next = d.GetInput()[0]
		case "Add", "Max":
			for k, in := range d.GetInput() {
				if t, ok := g.facts.Stored(in); ok && len(d.GetInput()) == 2 {
					next = d.GetInput()[1-k]
					if v, err := t.Float64s(nil); err == nil && len(v) == 1 {
						z.epsilon = v[0]
					}
				}
			}
		case "Pow": // to the power one half
			next = d.GetInput()[0]
		case "ReduceMean", "ReduceSum", "ReduceL2", "ReduceSumSquare":
			reduced = d
			continue
		}
		if next == "" {
			return nil
		}
		d = made[next]
	}
	if reduced == nil {
		return nil
	}
	from := reduced.GetInput()[0]
	if op := reduced.GetOpType(); op == "ReduceMean" || op == "ReduceSum" {
		s := made[from]
		switch {
		case s == nil, !enough(s):
			return nil
		case s.GetOpType() == "Mul" && s.GetInput()[0] == s.GetInput()[1]:
			from, z.reads = s.GetInput()[0], 3
		case s.GetOpType() == "Pow":
			from = s.GetInput()[0]
		default:
			return nil
		}
	}
	if from != x {
		return nil
	}
	kept := map[*Atom]bool{}
	for _, a := range g.values[reduced.GetOutput()[0]] {
		for _, l := range a.leaves() {
			kept[l] = true
		}
	}
	for _, a := range g.values[x] {
		for _, l := range a.leaves() {
			if !kept[l] {
				z.over = append(z.over, l)
			}
		}
	}
	// what is centred before is what matters
	if s := made[x]; s != nil && s.GetOpType() == "Sub" && enough(s) {
		m := made[s.GetInput()[1]]
		if m != nil && enough(m) && m.GetOpType() == "ReduceMean" && m.GetInput()[0] == s.GetInput()[0] {
			z.inner, z.innerly = x, z.reads
			z.op, z.value, z.reads = "centring and division by its deviation", s.GetInput()[0], 2
		}
	}
	return z
}

// before walks back from a normaliser to a layer of weights; nil if something else is in between.
func (g *Graph) before(z *normaliser, made map[string]*onnxpb.NodeProto, read map[string]int,
	stored map[string]bool,
) *Norm {
	m := &Norm{
		Normaliser: onnx.NodeLabel(z.node), Op: z.op, Epsilon: z.epsilon, Stored: z.mean != "", Mean: z.mean,
		Variance: z.variance,
	}
	take := func(name string) bool {
		if name == "" {
			return true
		}
		if !stored[name] || read[name] != 1 { // who else reads it would see the change
			return false
		}
		m.On = append(m.On, name)
		return true
	}
	if z.inner != "" && read[z.inner] != z.innerly {
		return nil
	}
	readers := z.reads
	value := z.value
	for n := made[value]; n != nil; n = made[value] {
		if read[value] != readers || !enough(n) {
			return nil
		}
		readers = 1
		in := n.GetInput()
		switch n.GetOpType() {
		case "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity":
			value = in[0]
		case "Add", "Sub":
			k := slices.IndexFunc(in, func(s string) bool { return !g.facts.Depends(s) })
			if k < 0 || k > 1 || !take(in[k]) {
				return nil
			}
			value = in[1-k]
		case "Conv", "ConvTranspose", "Gemm", "MatMul":
			w := in[1]
			if !g.facts.Depends(in[0]) && n.GetOpType() == "MatMul" {
				w = in[0]
			}
			if !take(w) || len(in) > 2 && !take(in[2]) {
				return nil
			}
			m.Weights = onnx.NodeLabel(n)
			return g.unit(m, z, n, w)
		default:
			return nil
		}
	}
	return nil
}

// unit finds which numbers share a statistic: those of one unit of the classes that are not looked at together.
func (g *Graph) unit(m *Norm, z *normaliser, n *onnxpb.NodeProto, w string) *Norm {
	here := map[*Atom]bool{}
	for _, a := range g.values[n.GetOutput()[0]] {
		for _, l := range a.leaves() {
			here[l] = true
		}
	}
	for _, a := range g.values[w] {
		for _, l := range a.leaves() {
			c := g.class[l]
			if c != nil && here[l] && !slices.Contains(z.over, l) && !slices.Contains(m.Unit, c) {
				m.Unit = append(m.Unit, c)
			}
		}
	}
	for _, v := range []string{z.mean, z.variance} {
		if z.mean != "" && g.class != nil && (v == "" || g.facts.Depends(v)) {
			return nil
		}
	}
	return m
}

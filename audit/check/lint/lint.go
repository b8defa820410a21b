// Package lint is the check that reads the graph: which symmetries can be exact at all, and does the measurement agree?
package lint

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	graph "nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the static check of the graph. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "lint",
	Title: "What the graph alone permits",
	Doc: `Lint reads the graph without running it and predicts the largest group of quarter turns, mirrors and whole shifts that its structure
can keep exactly whatever the weights are, and the largest that the stored weights keep. It names the node at which each element is lost, with the law
and its numbers: strided grids off the centre, one-sided padding, position tables, dense layers on a map. The prediction is held against what
the sweep measured on the same elements, and a contradiction is reported.`,
	Params: []audit.Param{
		{Name: "tolerance", Doc: "Up to which difference weights count as equal, relative to the largest of their " +
			"tensor.", Default: graph.DefaultTolerance, Min: 0, Max: 1},
	},
	Optional: true,
	Uses:     []*audit.Check{sweep.Check},
	Run:      run,
}

// Result is the prediction and how it fared.
type Result struct {
	Prediction *graph.Prediction
	// Agree counts elements at which prediction and measurement agree, Contradict the others; elements about which
	// nothing is predicted are in neither.
	Agree, Contradict int
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	in := p.Subject.Interior
	if in == nil {
		return nil, fmt.Errorf("%w: the model is not at hand as a graph", audit.ErrUntested)
	}
	for _, n := range batchwise(in.ONNX()) {
		p.Clue(audit.Clue{
			Name: audit.ClueTrainingNorm, Holds: true, Strength: 0.9, Location: n,
			Text: n + " sums or averages over the batch: a normalisation by the statistics of the batch, written out",
		})
	}
	s, err := p.Sample(0)
	if err != nil {
		return nil, err
	}
	x, err := audit.NewMover(p.Subject.Plan.In, p.Subject.Plan.Group.Identity()).Move(s.Value)
	if err != nil {
		return nil, err
	}
	if _, ok := x.(*space.Image); !ok {
		return nil, fmt.Errorf("%w: the input is no picture", audit.ErrNotApplicable)
	}
	arrays, err := in.Arrays(ctx, []space.Value{x})
	if err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for i, port := range in.ONNX().Signature().Inputs {
		if i < len(arrays[0]) {
			n := 1
			if len(port.Shape) > 0 && !port.Shape[0].Free() {
				n = port.Shape[0].Size
			}
			shapes[port.Name] = append([]int{n}, arrays[0][i].Shape...)
		}
	}
	f, err := facts.Infer(in.ONNX(), shapes, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: the shapes inside the graph are not known: %w", audit.ErrUntested, err)
	}
	pr, err := graph.Predict(ctx, f, graph.Options{Output: in.Output(), Tolerance: p.Param("tolerance")})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", audit.ErrUntested, err)
	}
	if !pr.Analyzed {
		return nil, fmt.Errorf("%w: %s", audit.ErrNotApplicable, pr.Why)
	}
	r := &Result{Prediction: pr}
	c := &reader{p: p, pr: pr, out: p.Subject.Plan.Out}
	c.describe()
	c.clues()
	if sw, ok := audit.ResultIf[*sweep.Result](p, sweep.Check); ok {
		r.Agree, r.Contradict = c.compare(sw)
		c.beyond()
	}
	return r, nil
}

// reader holds a prediction against an audit.
type reader struct {
	p   *audit.Pass
	pr  *graph.Prediction
	out action.Action
}

// element is the element of D4 that g is on the picture, or a whole shift; ok is false for anything else.
func element(g group.Group, e group.Element, m *motion) bool {
	planar, ok := g.(group.Planar)
	if !ok {
		return false
	}
	a, t := planar.Affine(e)
	m.turn, ok = graph.ByMatrix(a)
	m.shift = t
	return ok && t[0] == math.Trunc(t[0]) && t[1] == math.Trunc(t[1])
}

// motion is an element of D4 and a shift after it, in pixels to the right and down.
type motion struct {
	turn  graph.Element
	shift [2]float64
}

// asked are the motions of the audit's exact elements, by index of the element.
func (c *reader) asked() map[int]motion {
	out := map[int]motion{}
	for j, e := range c.p.Elements {
		var m motion
		if e.Exact && element(c.p.Subject.Plan.Group, e.G, &m) {
			out[j] = m
		}
	}
	return out
}

// describe shows the prediction.
func (c *reader) describe() {
	p, pr := c.p, c.pr
	word := func(s graph.Subgroup, known bool) string {
		if !known {
			return "not known"
		}
		return s.String()
	}
	t := &audit.Table{Columns: []audit.Column{{Name: "question"}, {Name: "prediction"}}}
	row := func(q, a string) { t.Rows = append(t.Rows, []audit.Cell{audit.Word(q), audit.Word(a)}) }
	row("largest group that the structure allows", word(pr.Structure, pr.StructureKnown))
	row("largest group that the weights keep", word(pr.Weights, pr.WeightsKnown))
	row("cyclic shifts, down and across", periods(pr.Shifts.Cyclic, pr.Shifts.CyclicKnown))
	row("shifts away from the border, down and across", periods(pr.Shifts.Free, pr.Shifts.FreeKnown))
	p.Show(audit.Exhibit{Name: "prediction", Title: "What the graph allows, read without running it", Table: t})
	if len(pr.Losses) > 0 {
		l := &audit.Table{Columns: []audit.Column{
			{Name: "node"},
			{Name: "operator"},
			{Name: "level"},
			{Name: "loses"},
			{Name: "because"},
			{Name: "remedy"},
		}}
		for _, x := range pr.Losses {
			l.Rows = append(l.Rows, []audit.Cell{
				audit.Word(x.Node), audit.Word(x.Op), audit.Word(x.Level), audit.Word(strings.Join(x.Elements, ", ")),
				audit.Word(x.Reason), audit.Word(x.Remedy),
			})
		}
		p.Show(audit.Exhibit{Name: "losses", Title: "Where symmetry ends", Table: l})
	}
	if pr.StructureKnown {
		p.Measure(audit.Number("elements of the square that the structure allows", float64(pr.Structure.Order()),
			"of 8"))
	}
	if pr.WeightsKnown {
		p.Measure(audit.Number("elements of the square that the weights keep", float64(pr.Weights.Order()), "of 8"))
	}
}

// periods says which shifts are exact.
func periods(k [2]int, known bool) string {
	if !known {
		return "not known"
	}
	one := func(n int) string {
		switch n {
		case 0:
			return "none"
		case 1:
			return "every whole shift"
		}
		return fmt.Sprintf("multiples of %d", n)
	}
	return one(k[0]) + ", " + one(k[1])
}

// kinds of losses, as a diagnosis tells them apart.
const (
	byStride    = "stride"
	byPadding   = "padding"
	byCrop      = "crop"
	byPositions = "positions"
	byKernel    = "kernel"
	byOther     = "other"
)

// kind says what kind of loss it is.
func (c *reader) kind(l graph.Loss) string {
	for _, r := range c.pr.Risks {
		if r.Node == l.Node && (r.Kind == graph.RiskPositions || r.Kind == graph.RiskFlatten) {
			return byPositions
		}
	}
	window := slices.Contains([]string{"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"}, l.Op)
	switch {
	case l.Level == graph.LevelRoll && strings.HasPrefix(l.Reason, "the stride"):
		return byStride
	case l.Level == graph.LevelStructure &&
		(l.Op == "Pad" || l.Op == "Concat" && strings.HasPrefix(l.Reason, "puts places") ||
			l.Op == "Slice" && strings.Contains(l.Reason, "in steps of 1")):
		return byCrop
	case l.Op == "Pad",
		l.Level == graph.LevelRoll && l.Op == "Concat" && !strings.Contains(l.Reason, "table"),
		l.Level == graph.LevelRoll && strings.HasPrefix(l.Reason, "cuts a window"),
		l.Level == graph.LevelRoll && window && strings.Contains(l.Reason, "padding"):
		return byPadding
	case l.Op == "Gemm", l.Op == "MatMul", l.Level != graph.LevelWeights && strings.Contains(l.Reason, "table"):
		return byPositions // stored numbers that are those of places are among the risks
	case l.Level == graph.LevelWeights:
		return byKernel
	case l.Level == graph.LevelRoll && window && strings.Contains(l.Reason, "go around the border"):
		return byPadding
	case strings.Contains(l.Reason, "turns an axis"):
		return byOther
	case window, l.Op == "Resize", l.Op == "Upsample", l.Op == "Slice" && !strings.Contains(l.Reason, "in steps of 1"):
		return byStride
	}
	return byOther
}

// clues hands in what the graph says about the elements that the audit asks for.
func (c *reader) clues() {
	p, pr := c.p, c.pr
	asked := c.asked()
	var wants graph.Subgroup
	rolls := false
	for _, m := range asked {
		wants |= 1 << m.turn
		rolls = rolls || m.shift != [2]float64{}
	}
	sw, swept := audit.ResultIf[*sweep.Result](p, sweep.Check)
	boxes := swept && sw.Boxes
	first := map[string]*graph.Loss{}
	for i, l := range pr.Losses {
		shift := l.Level == graph.LevelRoll || l.Level == graph.LevelShift
		if shift != rolls && (shift || wants == graph.Trivial) {
			continue
		}
		if !shift && !touches(l, wants) {
			continue
		}
		if shift && l.Level != graph.LevelRoll {
			continue // shifts move the border in: the cyclic ones are what the elements do
		}
		k := c.kind(l)
		if k == byPositions && boxes && coordinates(p.Subject.Interior.ONNX(), l.Node) {
			continue // offsets become places in the picture
		}
		if first[k] == nil {
			first[k] = &pr.Losses[i]
		}
	}
	give := func(name audit.ClueName, kind string, strength float64, none string, known bool) {
		l := first[kind]
		switch {
		case l != nil:
			p.Clue(audit.Clue{
				Name: name, Holds: true, Strength: strength, Location: l.Node,
				Text: fmt.Sprintf("%s (%s) %s", l.Node, l.Op, l.Reason),
			})
		case known:
			p.Clue(audit.Clue{Name: name, Strength: strength, Text: none})
		}
	}
	known := pr.StructureKnown && (!rolls || pr.Shifts.CyclicKnown)
	if len(asked) > 0 {
		give(audit.ClueStrideParity, byStride, 1, "every strided grid follows the elements", known)
		give(audit.ClueCrop, byCrop, 1, "no crop and no pad treats the sides of a map differently", known)
		give(audit.CluePaddingLayer, byPadding, 1, "no padding breaks the elements", known)
		give(audit.CluePositions, byPositions, 1, "no table and no dense layer on a map", known)
		keeps := pr.WeightsKnown && pr.StructureKnown && pr.Weights&wants == wants
		give(audit.ClueKernelAsymmetry, byKernel, 0.9, "the stored weights keep every element that was asked for",
			keeps)
		untied := slices.IndexFunc(pr.Untied, func(l graph.Loss) bool { return touches(l, wants) })
		if untied >= 0 && !rolls && (first[byStride] != nil || first[byCrop] != nil) {
			l := pr.Untied[untied]
			p.Clue(audit.Clue{
				Name: audit.ClueUntied, Holds: true, Strength: 0.9, Location: l.Node,
				Text: fmt.Sprintf("%s (%s) %s, whatever becomes of the grid", l.Node, l.Op, l.Reason),
			})
		}
		if known {
			allows := pr.Structure&wants == wants && (!rolls || (pr.Shifts.Cyclic[0] == 1 && pr.Shifts.Cyclic[1] == 1))
			p.Clue(audit.Clue{
				Name: audit.ClueLintAllows, Holds: allows, Strength: 0.8,
				Text: "the structure allows " + pr.Structure.String(),
			})
		}
	}
	for _, r := range pr.Risks {
		name := map[string]audit.ClueName{
			graph.RiskTraining: audit.ClueTrainingNorm, graph.RiskDropout: audit.ClueRandomNode,
			graph.RiskRandom: audit.ClueRandomNode,
		}[r.Kind]
		if name != "" {
			text := fmt.Sprintf("%s (%s): %s", r.Node, r.Op, r.Reason)
			p.Clue(audit.Clue{Name: name, Holds: true, Strength: 1, Location: r.Node, Text: text})
			p.Report(audit.Finding{
				Category: audit.Explanation, Location: r.Node, Worst: audit.Nowhere, Message: text,
				Evidence: []audit.Evidence{audit.Number("nodes in training form", 1, "").Against(0)},
				Remedies: []string{"export the model in evaluation mode; an engine may skip such a node, another may " +
					"not"},
			})
		}
	}
}

// touches reports whether a loss takes away an element that was asked for.
func touches(l graph.Loss, wants graph.Subgroup) bool {
	for _, e := range wants.Elements() {
		if e != graph.Identity && slices.Contains(l.Elements, e.String()) {
			return true
		}
	}
	return false
}

// compare holds the prediction against what was measured, on turns and mirrors without shifts and on whole shifts by
// themselves. A prediction is about invariance, or about a map that moves as the picture does; for other outputs
// nothing is predicted.
func (c *reader) compare(sw *sweep.Result) (agree, contradict int) {
	p, pr := c.p, c.pr
	if _, trivial := c.out.(action.Trivial); trivial == pr.Map {
		return 0, 0
	}
	set := sw.Set(p, true)
	if set == nil || !(sw.Scale > 0) {
		return 0, 0
	}
	holds := map[int]bool{}
	k := 0
	for j, e := range p.Elements {
		if e.Exact {
			holds[j] = set.Profile[k].Max <= exactly
			k++
		}
	}
	var wrong []string
	var at audit.Where
	asked := c.asked()
	for j := range p.Elements {
		m, ok := asked[j]
		if !ok {
			continue
		}
		can, knows, must, sure := c.predicted(m)
		if !knows {
			continue
		}
		switch {
		case sure && must && !holds[j]:
			wrong = append(wrong, p.Elements[j].Label+" should hold by the weights and does not")
		case !can && holds[j]:
			wrong = append(wrong, p.Elements[j].Label+" holds and should not by the structure")
		case sure && !must && holds[j]:
			wrong = append(wrong, p.Elements[j].Label+" holds and should not by the weights")
		default:
			agree++
			continue
		}
		contradict++
		if at.Label == "" {
			at = audit.Where{Index: -1, Element: p.Elements[j].G, Label: p.Elements[j].Label}
		}
	}
	p.Measure(audit.Number("elements where graph and measurement agree", float64(agree),
		fmt.Sprintf("of %d", agree+contradict)))
	if contradict > 0 {
		p.Report(audit.Finding{
			Category: audit.Explanation, Set: sweep.Exact, Location: "graph", Worst: at,
			Message: fmt.Sprintf("graph and measurement contradict each other at %d elements: %s", contradict,
				strings.Join(wrong[:min(3, len(wrong))], "; ")),
			Evidence: []audit.Evidence{audit.Number("contradictions", float64(contradict), "").Against(0)},
			Remedies: []string{
				"if the graph allows what does not hold: look at the declared actions, they may be of another " +
					"convention",
				"if it holds against the graph: layers may be dead, or the inputs do not reach the place",
			},
		})
	}
	return agree, contradict
}

// beyond says that the group holds shifts which the graph cannot keep and the plan does not visit.
func (c *reader) beyond() {
	p, k := c.p, c.pr.Shifts.Cyclic
	if _, torus := p.Subject.Plan.Group.(group.Torus); !torus || !c.pr.Shifts.CyclicKnown || k == [2]int{1, 1} ||
		(!c.pr.Map && !c.trivial()) {
		return
	}
	for _, m := range c.asked() {
		t := [2]int{int(m.shift[1]), int(m.shift[0])}
		for i := range t {
			if t[i] != 0 && (k[i] == 0 || t[i]%k[i] != 0) {
				return // visited, and judged
			}
		}
	}
	p.Report(audit.Finding{
		Category: audit.Prediction, Set: sweep.Exact, Location: "graph", Worst: audit.Nowhere,
		Message: fmt.Sprintf(
			"the graph cannot keep every shift of %s (down, across: %s), and the plan visits none that it cannot",
			p.Subject.Plan.Group.Name(), periods(k, true)),
		Evidence: []audit.Evidence{
			audit.Number("smallest shift down that can be exact", float64(k[0]), "px"),
			audit.Number("smallest shift across that can be exact", float64(k[1]), "px"),
		},
		Remedies: []string{
			"visit all shifts: leave the orbit out, or give a grid that holds 1 px",
			"or claim the shifts by multiples only",
		},
	})
}

// trivial reports whether the output is claimed to be invariant.
func (c *reader) trivial() bool {
	_, ok := c.out.(action.Trivial)
	return ok
}

// exactly is up to which relative error an element counts as exact.
const exactly = 1e-4

// predicted says of a motion whether the structure can keep it and whether that is known, and whether the weights do
// and whether that is known.
func (c *reader) predicted(m motion) (can, knows, must, sure bool) {
	pr := c.pr
	if m.shift == [2]float64{} {
		sure = pr.WeightsKnown && pr.StructureKnown && !slices.Contains(pr.Undecided, m.turn)
		return pr.Structure.Has(m.turn), pr.StructureKnown, pr.Weights.Has(m.turn), sure
	}
	if _, torus := c.p.Subject.Plan.Group.(group.Torus); !torus || m.turn != graph.Identity || !pr.Shifts.CyclicKnown {
		return false, false, false, false
	}
	t := [2]int{int(m.shift[1]), int(m.shift[0])} // down, across
	can = true
	for i, k := range pr.Shifts.Cyclic {
		if t[i] != 0 && (k == 0 || t[i]%k != 0) {
			can = false
		}
	}
	return can, true, can, true
}

// batchwise lists the nodes that reduce the first axis, which counts samples, of a value that is read from the input.
// Where the axes are not stored in the graph, nothing is said.
func batchwise(m *onnx.Model) []string {
	stored := map[string]*onnxpb.TensorProto{}
	for _, t := range m.Proto().GetGraph().GetInitializer() {
		stored[t.GetName()] = t
	}
	// values with a batch axis, as far as that is plain: the inputs and what is computed from them
	fed := map[string]bool{}
	for _, i := range m.Signature().Inputs {
		fed[i.Name] = true
	}
	var out []string
	for _, n := range m.Proto().GetGraph().GetNode() {
		read := slices.ContainsFunc(n.GetInput(), func(name string) bool { return fed[name] })
		if !read {
			continue
		}
		if op := n.GetOpType(); strings.HasPrefix(op, "Reduce") && len(n.GetInput()) > 0 && fed[n.GetInput()[0]] {
			axes := onnx.Ints(n, "axes", nil)
			if len(n.GetInput()) > 1 && stored[n.GetInput()[1]] != nil {
				axes, _ = onnx.Integers(stored[n.GetInput()[1]]) // axes that cannot be read are not known
			}
			if slices.Contains(axes, 0) {
				name := n.GetName()
				if name == "" {
					name = n.GetOutput()[0]
				}
				out = append(out, name)
				continue // what it makes has no batch axis of its own
			}
		}
		switch n.GetOpType() {
		case "Shape", "Size", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Gather", "Split", "Expand", "Tile":
			continue // the first axis may count something else afterwards
		case "Concat":
			if onnx.Int(n, "axis", 1) == 0 {
				continue
			}
		case "Flatten":
			if onnx.Int(n, "axis", 1) != 1 {
				continue
			}
		}
		for _, o := range n.GetOutput() {
			fed[o] = true
		}
	}
	return out
}

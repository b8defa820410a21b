// Package precision is the check that tells rounding from a violation: it repeats part of the sweep in float64.
package precision

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/group"
)

// Check is the precision check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "precision",
	Title: "Rounding: the same in double precision",
	Doc: `Precision evaluates the model in float64, with an evaluator of its own and not with an engine, on a few inputs and elements, and holds the
error there against that in the model's own arithmetic, the worst pair of the sweep among them. Rounding shrinks about 2²⁹-fold, a violation stays: from a factor of 4096 on the error is
rounding, up to 4 it is a violation, between them part of each. It also measures how far the two outputs are apart at the identity, which
is what rounding does to the model. An error of the size of float16 or bfloat16, or a cast to such a type, is named. Where an operator is not
known to the evaluator, the floors of repeats and one-ulp changes stand in, and the report says so.`,
	Params: []audit.Param{
		{
			Name: "samples", Doc: "Inputs evaluated in float64, spread over the data.", Default: 8, Min: 2, Max: 10000,
			Least: 3,
		},
		{
			Name: "elements", Doc: "Elements of each set evaluated in float64, spread over it.", Default: 4, Min: 1,
			Max: 1000, Least: 2,
		},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Views:    true,
	Run:      run,
	Work:     func(p *audit.Pass) int { return 2 * evaluated(p) },
	Price:    func(p *audit.Pass) int { return (1 + audit.PriceDouble) * evaluated(p) },
}

// evaluated is how many inputs, moved or not, are evaluated in float64.
func evaluated(p *audit.Pass) int {
	if p.Subject.Reference == nil {
		return 0
	}
	return min(int(p.Param("samples")), p.Subject.N) * (1 + len(p.PickElements(int(p.Param("elements")))))
}

// Result is what float64 showed.
type Result struct {
	// of the exact and of the other elements
	Slopes map[bool]*audit.Slope
}

// coarse are unit roundoffs of types coarser than float32, the finest first.
var coarse = []struct {
	name string
	u    float64
}{{"TF32 or float16", 1.0 / (1 << 11)}, {"bfloat16", 1.0 / (1 << 8)}}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	casts := narrow(p)
	p.Clue(scaleClue(casts))
	if p.Subject.Reference == nil {
		_, err := p.Refer(ctx, nil)
		p.Clue(castClue(casts))
		instead := "one-ulp changes and repeats stand in"
		if s, e := p.Sample(0); e == nil && said(s.Value) { // words do not change by a little
			instead = "the precision of the outputs and repeats stand in"
		}
		return nil, fmt.Errorf("%w; %s: rounding floor %.2g, repeat floor %.2g", err, instead, c.Floors.Rounding,
			c.Floors.Repeat)
	}
	if sw.Mask && !sw.Boxes {
		return nil, fmt.Errorf("%w: masks have labels and no numbers that could round", audit.ErrNotApplicable)
	}
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary, so there is no error to compare", audit.ErrNotApplicable)
	}
	m := &measurement{p: p, scale: sw.Scale}
	m.pick, m.use = choose(p, sw)
	if err := m.run(ctx); err != nil {
		return nil, err
	}
	r := &Result{Slopes: map[bool]*audit.Slope{}}
	for _, exact := range []bool{true, false} {
		if s := m.slope(exact); s != nil {
			r.Slopes[exact] = s
			name := sweep.SetName(exact)
			p.Measure(
				audit.Measured("error on "+name+", as the model computes", s.Single, ""),
				audit.Measured("error on "+name+", in float64", s.Double, ""),
				audit.Number("shrinks by", s.Factor(), ""))
		}
	}
	p.Measure(audit.Number("outputs in both precisions differ by at most", m.apart, ""))
	r.clues(p, c, m, casts)
	return r, nil
}

// clues hands in what the slopes show, of the exact elements where there are some: there nothing else stands in
// between.
func (r *Result) clues(p *audit.Pass, c *controls.Result, m *measurement, casts []cast) {
	s := r.Slopes[true]
	set := sweep.Exact
	if s == nil {
		s, set = r.Slopes[false], sweep.Continuous
	}
	if s == nil {
		return
	}
	ev := []audit.Evidence{
		audit.Measured("error as the model computes", s.Single, ""),
		audit.Measured("error in float64", s.Double, ""),
	}
	p.Clue(audit.Clue{
		Name: audit.ClueSlopeRounding, Holds: s.Rounding(), Strength: 1, Text: s.String(), Set: set,
		Evidence: ev,
	})
	p.Clue(audit.Clue{
		Name: audit.ClueSlopeViolation, Holds: s.Violation(), Strength: 1, Text: s.String(), Set: set,
		Evidence: ev,
	})
	clue := castClue(casts)
	// What rounding does to the model, against what one ulp of the input does: a coarser type inside shows as a floor
	// of its own size.
	for _, t := range coarse {
		if m.apart >= t.u/8 && m.apart > 100*math.Max(c.Floors.Rounding, 0) {
			clue.Holds, clue.Strength = true, 0.9
			clue.Text = strings.TrimPrefix(
				clue.Text+fmt.Sprintf("; the outputs differ from those in float64 by %.2g, the size of %s", m.apart,
					t.name), "; ")
			break
		}
	}
	clue.Evidence = append(clue.Evidence, audit.Number("outputs in both precisions differ by", m.apart, ""))
	p.Clue(clue)
}

// choose picks samples and elements: those spread over all, and the worst of each set that the sweep has seen in place
// of the last ones, so that the error which is judged is the one that is explained.
func choose(p *audit.Pass, sw *sweep.Result) (pick, use []int) {
	pick, use = p.Pick(int(p.Param("samples"))), p.PickElements(int(p.Param("elements")))
	var worst []int // samples that stay
	for _, exact := range []bool{true, false} {
		s := sw.Set(p, exact)
		if s == nil || s.At.Index < 0 {
			continue
		}
		pick = with(pick, s.At.Index, func(i int) bool { return !slices.Contains(worst, i) })
		worst = append(worst, s.At.Index)
		for j, e := range p.Elements {
			if e.Exact == exact && e.Label == s.At.Label {
				use = with(use, j, func(k int) bool { return p.Elements[k].Exact == exact })
			}
		}
	}
	return pick, use
}

// with is list with v in the place of the last that may go, unless v is there already.
func with(list []int, v int, may func(int) bool) []int {
	if slices.Contains(list, v) {
		return list
	}
	for i := len(list) - 1; i >= 0; i-- {
		if may(list[i]) {
			list[i] = v
			return list
		}
	}
	return append(list, v)
}

// measurement runs the chosen pairs in both precisions.
type measurement struct {
	p         *audit.Pass
	scale     float64
	pick, use []int

	// per sample the largest error of the set
	single, double map[bool][]float64
	apart          float64
}

func (m *measurement) run(ctx context.Context) error {
	p := m.p
	G, in, out := p.Subject.Plan.Group, p.Subject.Plan.In, p.Subject.Plan.Out
	identity := audit.NewMover(in, G.Identity())
	there := audit.Movers(in, p.Elements, func(g group.Element) group.Element { return g })
	back := audit.Movers(out, p.Elements, G.Inv)
	m.single, m.double = map[bool][]float64{}, map[bool][]float64{}
	for _, i := range m.pick {
		s, err := p.Sample(i)
		if err != nil {
			return err
		}
		x, err := identity.Move(s.Value)
		if err != nil {
			return fmt.Errorf("sample %s: %w", s.ID, err)
		}
		values := []space.Value{x}
		for _, j := range m.use {
			gx, err := there[j].Move(s.Value)
			if err != nil {
				return fmt.Errorf("sample %s at %s: %w", s.ID, p.Elements[j].Label, err)
			}
			values = append(values, gx)
		}
		single, err := p.PredictBatch(ctx, 0, values)
		if err != nil {
			return err
		}
		double, err := p.Refer(ctx, values)
		if err != nil {
			return err
		}
		d, err := p.Compare(single[0], double[0])
		if err != nil {
			return fmt.Errorf("sample %s: the outputs in both precisions: %w", s.ID, err)
		}
		if a := d.Norm / m.scale; a > m.apart {
			m.apart = a
		}
		if err := m.errors(m.single, back, single, s.ID); err != nil {
			return err
		}
		if err := m.errors(m.double, back, double, s.ID); err != nil {
			return err
		}
	}
	return nil
}

// errors appends the largest error of each set for one sample; NaN if an output is not finite.
func (m *measurement) errors(into map[bool][]float64, back []*audit.Mover, y []space.Value, id string) error {
	most := map[bool]float64{}
	for k, j := range m.use {
		e := m.p.Elements[j]
		z, err := back[j].Move(y[k+1])
		if err != nil {
			return fmt.Errorf("sample %s at %s: output: %w", id, e.Label, err)
		}
		d, err := m.p.Compare(z, y[0])
		if err != nil {
			return fmt.Errorf("sample %s at %s: output: %w", id, e.Label, err)
		}
		if old, ok := most[e.Exact]; !ok || !(d.Norm/m.scale <= old) {
			most[e.Exact] = d.Norm / m.scale
		}
	}
	for exact, e := range most {
		into[exact] = append(into[exact], e)
	}
	return nil
}

func (m *measurement) slope(exact bool) *audit.Slope {
	if len(m.single[exact]) == 0 {
		return nil
	}
	conf := m.p.Policy.Confidence
	s := &audit.Slope{
		Single: audit.MeanInterval(m.single[exact], conf).NotNegative(),
		Double: audit.MeanInterval(m.double[exact], conf).NotNegative(),
		Apart:  m.apart, Inputs: len(m.single[exact]),
	}
	for _, j := range m.use {
		if m.p.Elements[j].Exact == exact {
			s.Elements++
		}
	}
	return s
}

// cast is a node that leaves float32 for a coarser type.
type cast struct{ node, op, to string }

// narrow lists the nodes of the graph that round to a coarser type.
func narrow(p *audit.Pass) []cast {
	if p.Subject.Interior == nil {
		return nil
	}
	var out []cast
	for _, n := range p.Subject.Interior.ONNX().Proto().GetGraph().GetNode() {
		switch n.GetOpType() {
		case "Cast":
			to := onnxpb.TensorProto_DataType(onnx.Int(n, "to", 0))
			switch to { //nolint:exhaustive // the others are no coarser floats
			case onnxpb.TensorProto_FLOAT16:
				out = append(out, cast{name(n), "Cast", "float16"})
			case onnxpb.TensorProto_BFLOAT16:
				out = append(out, cast{name(n), "Cast", "bfloat16"})
			}
		case "QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger":
			out = append(out, cast{name(n), n.GetOpType(), "integers of 8 bits"})
		}
	}
	return out
}

// name is that of the node, or of its first output.
func name(n *onnxpb.NodeProto) string {
	if n.GetName() != "" {
		return n.GetName()
	}
	if len(n.GetOutput()) > 0 {
		return n.GetOutput()[0]
	}
	return n.GetOpType()
}

// scaleClue says whether a scale is taken from all numbers that a node sees at once, those of other samples among them.
func scaleClue(casts []cast) audit.Clue {
	c := audit.Clue{Name: audit.ClueBatchScale, Strength: 1, Text: "no quantisation takes its scale from what it reads"}
	for _, k := range casts {
		if k.op == "DynamicQuantizeLinear" {
			c.Holds, c.Location = true, k.node
			c.Text = fmt.Sprintf(
				"%s of node %s takes its scale from the whole of what it reads, of all samples of a batch",
				k.op, k.node)
			break
		}
	}
	return c
}

func castClue(casts []cast) audit.Clue {
	c := audit.Clue{Name: audit.ClueReducedPrecision, Strength: 1, Text: "no cast to a coarser type than float32"}
	if len(casts) > 0 {
		c.Holds, c.Location = true, casts[0].node
		c.Text = fmt.Sprintf("%s of node %s rounds to %s", casts[0].op, casts[0].node, casts[0].to)
		if len(casts) > 1 {
			c.Text += fmt.Sprintf(", as do %d other nodes", len(casts)-1)
		}
	}
	return c
}

// said tells whether an input is a text.
func said(v space.Value) bool {
	_, ok := space.Content(v)
	return ok
}

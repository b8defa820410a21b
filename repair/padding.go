package repair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/space"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/onnx/lint"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
	"nero/present/words"
	"nero/symmetry/group"
)

// padding lets windows that reach beyond the border of a map read what comes in on the other side, so that a picture
// that is rolled around keeps its answer. The model costs what it did, but for the copies of a few rows and columns.
var padding = Method{
	Name: "padding",
	Doc:  "windows that reach over the border read what comes in on the other side: for rolls",
	Options: []Option{{
		Name: "mode", Values: []string{"circular", "reflect"},
		Doc: "what they read: the other side, or the map mirrored at its border, which makes less of an edge but " +
			"keeps " +
			"no roll",
	}},
	predicted: once,
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		if err := rolls(s); err != nil {
			return nil, "", err
		}
		if v := s.Model.Opset(); v < oldest {
			return nil, "", tooOld(s, v)
		}
		before, f, err := s.lint(s.Model)
		if err != nil {
			return nil, "", err
		}
		if !slices.ContainsFunc(before.Losses, losesByPadding) {
			return nil, "", blameless(before)
		}
		p := padder{Shell: rewrite.Keep(s.Model), facts: f, mirrored: options["mode"] == "reflect"}
		nodes := s.Model.Proto().GetGraph().GetNode()
		p.Under("padding")
		p.Around(func(i int, n *onnxpb.NodeProto) {
			if p.err == nil && len(nodes[i].GetInput()) > 0 && f.Depends(nodes[i].GetInput()[0]) {
				p.err = p.node(i, n)
			}
		})
		switch {
		case p.err != nil:
			return nil, "", p.err
		case p.done == 0:
			return nil, "", fmt.Errorf("no window pads a map by itself: %w", blameless(before))
		}
		made, err := p.Model()
		if err != nil {
			return nil, "", err
		}
		after, g, err := s.lint(made)
		if err != nil {
			return nil, "", err
		}
		for _, out := range s.Model.Signature().Outputs {
			if !slices.Equal(f.Shapes[out.Name], g.Shapes[out.Name]) {
				return nil, "", fmt.Errorf("the answer %s would have the shape %v instead of %v", out.Name,
					g.Shapes[out.Name], f.Shapes[out.Name])
			}
		}
		gained := after.Shifts.CyclicKnown && gains(before.Shifts.Cyclic, after.Shifts.Cyclic)
		if !p.mirrored && !gained {
			return nil, "", fmt.Errorf("padding is not all that breaks rolls: %w", blameless(after))
		}
		return p.Shell, fmt.Sprintf("%s, %s, %s", s.Group.Name(), words.Plural(p.done, "window", "windows"),
			options["mode"]), nil
	},
}

// rolls sees to it that a group moves pictures around their border by whole pixels.
func rolls(s Source) error {
	none := fmt.Errorf("%s does not roll pictures around their border: padding matters to rolls, so claim "+
		"Roll(H,W) of the picture's size", s.Group.Name())
	_, h, w := space.Grid(s.Sample)
	torus, ok := s.Group.(group.Torus)
	if !ok || h == 0 {
		return none
	}
	if gh, gw := torus.Period(); gh != h || gw != w {
		return fmt.Errorf("%s rolls pictures of %d x %d, and these are %d x %d", s.Group.Name(), gh, gw, h, w)
	}
	return nil
}

// lint is what the graph of a model permits.
func (s Source) lint(m *onnx.Model) (*lint.Prediction, *facts.Facts, error) {
	f, err := s.facts(m)
	if err != nil {
		return nil, nil, err
	}
	p, err := lint.Predict(context.Background(), f, lint.Options{Output: decode.Outputs(s.Codec)[0]})
	if err != nil {
		return nil, nil, err
	}
	if !p.Analyzed {
		return nil, nil, errors.New(p.Why)
	}
	return p, f, nil
}

// padded are operators whose windows pad what they read.
var padded = []string{"Conv", "MaxPool", "AveragePool", "LpPool"}

func losesByPadding(l lint.Loss) bool {
	return l.Level == lint.LevelRoll && (l.Op == "Pad" || slices.Contains(padded, l.Op))
}

// blameless says what breaks rolls, where it is not padding.
func blameless(p *lint.Prediction) error {
	for _, l := range p.Losses {
		if l.Level == lint.LevelRoll {
			return fmt.Errorf("%s (%s) %s", l.Node, l.Op, l.Reason)
		}
	}
	for _, u := range p.Unknown {
		if u.Level == lint.LevelRoll {
			return fmt.Errorf("%s (%s) could not be followed: %s", u.Node, u.Op, u.Reason)
		}
	}
	return errors.New("no node of the graph loses rolls by its padding")
}

// gains tells whether more shifts are kept than before; 0 is none, and the less the more.
func gains(before, after [2]int) bool {
	for a, k := range after {
		if k != 0 && (before[a] == 0 || k < before[a]) {
			return true
		}
	}
	return false
}

// padder puts what windows read beyond the border into the map that they read.
type padder struct {
	*rewrite.Shell

	facts    *facts.Facts
	mirrored bool
	done     int
	err      error
}

// node rewrites a node that pads.
func (p *padder) node(i int, n *onnxpb.NodeProto) error {
	name := p.facts.Nodes[i].Name
	shape := p.facts.Shapes[n.GetInput()[0]]
	sides := make([][2]int, len(shape))
	switch op := n.GetOpType(); {
	case op == "Pad":
		if onnx.String(n, "mode", "constant") != "constant" {
			return nil
		}
		all, err := p.facts.Padding(i)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		sides = all
		if len(sides) != 4 || sides[0] != [2]int{} || slices.ContainsFunc(sides,
			func(x [2]int) bool { return x[0] < 0 || x[1] < 0 }) {
			return nil
		}
	case slices.Contains(padded, op):
		w, ok := p.facts.Nodes[i].Window()
		if !ok || len(w.In) != 2 || len(shape) != 4 {
			return nil
		}
		for a := range w.In {
			sides[a+2] = [2]int{w.Begin[a], w.End[a]}
		}
	default:
		return nil
	}
	if !slices.ContainsFunc(sides, func(x [2]int) bool { return x != [2]int{} }) {
		return nil
	}
	most := 0 // by how much the map may reach over its border
	if p.mirrored {
		most = 1
	}
	for a, x := range sides {
		if max(x[0], x[1]) > shape[a]-most {
			return fmt.Errorf("%s (%s) pads %d places of %d: there is not as much on the other side", name,
				n.GetOpType(), max(x[0], x[1]), shape[a])
		}
	}
	y := n.GetInput()[0]
	if p.mirrored {
		var pads []int64
		for end := range 2 {
			for _, x := range sides {
				pads = append(pads, int64(x[end]))
			}
		}
		y = p.Op("Pad", []string{y, p.Ints(pads...)}, onnx.AttrString("mode", "reflect"))
	} else {
		for a, x := range sides {
			y = p.around(y, int64(a), x)
		}
	}
	p.done++
	if n.GetOpType() == "Pad" {
		n.OpType, n.Input, n.Attribute = new("Identity"), []string{y}, nil
		return nil
	}
	n.Input[0] = y
	n.Attribute = slices.DeleteFunc(n.Attribute, func(a *onnxpb.AttributeProto) bool {
		return a.GetName() == "pads" || a.GetName() == "auto_pad"
	})
	return nil
}

// around puts rows of the end of an axis before it, and rows of its beginning after it.
func (p *padder) around(v string, axis int64, by [2]int) string {
	var parts []string
	if by[0] > 0 {
		parts = append(parts, p.Op("Slice", []string{
			v, p.Ints(-int64(by[0])), p.Ints(math.MaxInt64), p.Ints(axis),
		}))
	}
	parts = append(parts, v)
	if by[1] > 0 {
		parts = append(parts, p.Op("Slice", []string{v, p.Ints(0), p.Ints(int64(by[1])), p.Ints(axis)}))
	}
	if len(parts) == 1 {
		return v
	}
	return p.Op("Concat", parts, onnx.AttrInt("axis", axis))
}

package newcomer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"nero/app"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/metric"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// beads is a kind of value: numbers on a string, which may be held by either end.
type beads struct{ val []float64 }

const kindBeads space.Kind = "beads"

func (*beads) Kind() space.Kind     { return kindBeads }
func (b *beads) Dims() []int        { return []int{len(b.val)} }
func (b *beads) Form() string       { return fmt.Sprintf("beads %d", len(b.val)) }
func (b *beads) Clone() space.Value { return &beads{slices.Clone(b.val)} }
func (b *beads) Like() space.Value  { return &beads{make([]float64, len(b.val))} }
func (b *beads) Numbers() []float64 { return b.val }
func (b *beads) Output() []float64  { return b.val }
func (b *beads) Bytes() int         { return 8 * len(b.val) }
func (b *beads) Parts() []tensor.Named {
	return []tensor.Named{{Name: "beads", Tensor: tensor.FromFloat32(narrow(b.val), len(b.val))}}
}

func (b *beads) With(x []float64) (space.Value, error) {
	if len(x) != len(b.val) {
		return nil, fmt.Errorf("%d numbers for %s", len(x), b.Form())
	}
	return &beads{x}, nil
}

// narrow is numbers in float32.
func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// turned is how a group of two elements moves it: by the other end.
var turned = action.Rule{
	Name: "turned", Doc: "beads in the opposite order", Space: kindBeads,
	New: func(g group.Group, _ space.Spec, _ action.Options) (action.Action, error) {
		if g.Name() != "C2" {
			return nil, fmt.Errorf("%s is not C2: %w", g.Name(), errors.ErrUnsupported)
		}
		return turning{g}, nil
	},
}

type turning struct{ of group.Group }

func (a turning) Group() group.Group     { return a.of }
func (turning) Exact(group.Element) bool { return true }
func (a turning) Apply(g group.Element, v space.Value) (space.Value, error) {
	v = v.Clone()
	if a.of.Dist(g, a.of.Identity()) != 0 {
		slices.Reverse(v.Numbers())
	}
	return v, nil
}

// strung lays beads out for models, and reads them from outputs.
type strung struct{ spec space.Spec }

func (c strung) In() space.Spec  { return c.spec }
func (c strung) Out() space.Spec { return c.spec }
func (c strung) Encode(batch []space.Value, _ []tensor.Named) ([]tensor.Named, error) {
	var all []float32
	for _, v := range batch {
		all = append(all, narrow(v.Numbers())...)
	}
	return []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(all, len(batch), len(all)/len(batch))}}, nil
}

func (c strung) Decode(out []tensor.Named, n int) ([]space.Value, error) {
	x, err := out[0].Float64s(nil)
	if err != nil {
		return nil, err
	}
	var all []space.Value
	for v := range slices.Chunk(x, len(x)/n) {
		all = append(all, &beads{v})
	}
	return all, nil
}

func TestKind(t *testing.T) {
	spec := space.Spec{Name: "beads", Kind: kindBeads, Shape: []int{3}}
	format := lines(spec, 0, func(x []float64) space.Value { return &beads{x} })
	relative := *metric.Relative
	relative.Name, relative.Spaces = "relative_beads", []space.Kind{kindBeads}
	a := &app.App{Parts: app.Parts{
		Formats: dataset.Formats{format}, Rules: append(action.Rules(), turned),
		Metrics: metric.List{&relative},
		Codec: func(_ onnx.Signature, in space.Spec, _ job.Output) (decode.Codec, error) {
			return strung{in}, nil
		},
	}}
	// What the model adds to the first bead alone breaks the symmetry by (1, 0, -1), of norm √2.
	of := model{in: []int{3}, out: 3, answer: func(x []float32) []float32 { return []float32{x[0] + 1, x[1], x[2]} }}
	s := &job.Study{
		Version: 1, Data: job.Data{Images: written(t, "0 0 0", "3 0 0", "0 0 3")}, Group: job.Group{Name: "C2"},
		Models: []job.Model{serve(t, of)}, Output: job.Output{Space: "beads", Action: "same"},
		Metrics: []string{"relative_beads"},
	}
	sum := run(t, a, s).Summary
	scale := 2.0 // the root mean square distance of (1, 0, 0), (4, 0, 0), (1, 0, 3) from (2, 0, 1): √((2 + 5 + 5) / 3)
	if mean := sum.Curves[0].Mean; len(mean) != 2 || mean[0] != 0 || !near(float64(mean[1]), math.Sqrt2/scale) ||
		!near(float64(sum.Scales[0]), scale) {
		t.Errorf("the curve is %v with the scale %v, want 0 and √2 / %g", mean, sum.Scales, scale)
	}
}

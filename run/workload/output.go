package workload

import (
	"cmp"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/measure/metric"
	"nero/model/decode"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// boxesSpec is how boxes are read, as the codec wants it.
func boxesSpec(b job.Boxes) decode.BoxesSpec {
	spec := decode.BoxesSpec{
		Columns: b.Columns, Classes: b.Classes, Form: b.Form, Swap: b.Swap, Unit: b.Unit, Scale: b.Scale,
		SizeScale: b.SizeScale, Log: b.Log, Activation: b.Activation, Clamp: b.Clamp, Background: b.Background,
		Limit: b.Limit, Suppress: b.Suppress, Overlap: b.Overlap, Sigma: b.Sigma, Most: b.Most, Clip: b.Clip,
	}
	for _, p := range b.Parts {
		spec.Parts = append(spec.Parts, decode.BoxesPart{
			Boxes: p.Boxes, Scores: p.Scores, Object: p.Object,
			Labels: p.Labels,
		})
	}
	for _, a := range b.Anchors {
		to := decode.Anchors{Stride: a.Stride, Corner: a.Corner, PerCell: a.PerCell}
		for _, s := range a.Sizes {
			if len(s) == 2 {
				to.Sizes = append(to.Sizes, [2]float64(s))
			}
		}
		spec.Anchors = append(spec.Anchors, to)
	}
	return spec
}

// fieldSpec is how fields are read, as the codec wants it.
func fieldSpec(f job.Field) decode.FieldSpec {
	return decode.FieldSpec{Layout: f.Layout, Order: f.Order, Scale: f.Scale, Up: f.Up}
}

// target is the action on the targets of the data, nil if there are none that the output could be compared with.
func (w *Workload) target(in *input) (action.Action, error) {
	if in.sample.Shape == nil {
		return w.fieldTarget()
	}
	kind := w.Data.Info().Target.Kind
	if kind == "" {
		return nil, nil //nolint:nilnil // no target is no fault
	}
	if out := w.Eval.Models[0].Codec.Out().Kind; kind != out {
		w.note("the data has targets of kind %s and the models return %s: the targets are left alone", kind, out)
		return nil, nil //nolint:nilnil // as above
	}
	size := in.sample.Shape[len(in.sample.Shape)-2:]
	shape := slices.Clone(w.Eval.Models[0].Codec.Out().Shape)
	if n := len(shape); n >= 2 { // the answer may be of a window
		shape[n-2], shape[n-1] = size[0], size[1]
	}
	a, err := action.NewTarget(w.group, space.Spec{Name: "target", Kind: kind, Shape: shape}, w.options())
	if err != nil {
		return nil, w.Study.Errorf("group", "the targets of the data: %v", err)
	}
	return a, nil
}

// Moving are the choices of the study about how the input moves.
func (w *Workload) Moving() action.Options { return w.options() }

// options are the choices of the study about how the input moves.
func (w *Workload) options() action.Options {
	s := w.Study
	var bounds []float64
	info := w.Data.Info()
	if _, _, _, _, ok := info.Space.Pictures(); ok {
		bounds = []float64{0, cmp.Or(info.Max, 1)} // 1 of floating-point files
	}
	return action.Options{
		Range:  bounds,
		Kernel: action.Kernel(s.Group.Resample), Border: action.Border(s.Group.Border), Window: s.Group.Window,
		AtFirst: s.Output.Field.AtFirst, Oriented: s.Group.Oriented, Region: action.Region(s.Group.Mask),
	}
}

// boxAction is how the group moves predicted boxes, which live in the window that the model sees.
func (w *Workload) boxAction(o Options) (action.Action, error) {
	a, err := o.Rules.For(w.group, space.Spec{Name: "output", Kind: space.KindBoxes, Shape: []int{-1}}, w.options())
	if err != nil {
		return nil, w.Study.Errorf("output.action", "%v", err)
	}
	if len(w.Study.Group.Window) == 2 {
		w.note("a crop window shows other content at its border for every element: what is tested is stability to " +
			"reframing; " +
			"boxes that the window's edge cuts are left out of the consensus and of comparisons with the model's own " +
			"answer")
	}
	return a, nil
}

// within makes sure that no element of the plan moves the crop window out of the picture, or says how many do.
func (w *Workload) within(in *input) error {
	s := w.Study
	if len(s.Group.Window) != 2 {
		return nil
	}
	size := in.sample.Shape[len(in.sample.Shape)-2:]
	if size[0] <= 0 || size[1] <= 0 {
		return nil // found sample by sample
	}
	n := 0
	var first group.Element
	x := blank(in.sample)
	for _, g := range w.Eval.Plan.Elements {
		leaves, err := action.Leaves(in.act, g, x)
		if err != nil {
			return s.Errorf("group.window", "%v", err)
		}
		if leaves {
			if n == 0 {
				first = g
			}
			n++
		}
	}
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf(
		"the window of %d x %d leaves the pictures of %d x %d (height x width) at %d of %d elements, the first %s",
		s.Group.Window[0], s.Group.Window[1], size[0], size[1], n, len(w.Eval.Plan.Elements),
		group.Format(w.group, first))
	if w.borderGiven {
		w.note("%s: what lies outside is filled by the border rule %s", text, s.Group.Border)
		return nil
	}
	return s.Errorf("group.window",
		"%s; narrow group.orbit.range, take larger pictures (data.cut.size), or say with group.border what lies "+
			"outside", text)
}

// boxClasses says how many classes of boxes are counted: those that the data names, else one. Objects of a class that a
// model cannot answer with are refused where they are the reference: every one of them would be a miss.
func (w *Workload) boxClasses() error {
	names := len(w.Classes)
	w.Eval.Classes = max(names, 1)
	if names == 0 {
		return nil
	}
	w.note("classes: %s", numbered(w.Classes))
	against := slices.ContainsFunc(w.Eval.Metrics, func(m *metric.Metric) bool { return m.Ref == metric.Target })
	for _, m := range w.Eval.Models {
		c, ok := m.Codec.(interface{ Classes() int })
		if !ok {
			continue
		}
		n := c.Classes()
		switch {
		case n == 0 || n == names:
		case n < names && against:
			return w.Study.Errorf("data.classes",
				"the data has %d classes (%s) and %s answers with %d: give data.classes the names of the model's "+
					"classes in the order of its numbers, "+
					"leave out what it does not know, or choose metrics without targets, such as iou@consensus", names,
				numbered(w.Classes), m.Name, n)
		default:
			w.note("%s answers with %d classes, the data names %d; number 0 is the first of both", m.Name, n, names)
		}
	}
	return nil
}

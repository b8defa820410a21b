package shelf

import (
	"math"
	"slices"

	"nero/data/space"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/serve/api"
)

// Boxed reports whether the run has recorded boxes.
func (r *Run) Boxed() bool {
	return !slices.ContainsFunc(r.parts,
		func(p part) bool { return p.at.run.Job().Study.Output.Space != string(space.KindBoxes) })
}

// Detections are the boxes that were predicted for sample i, best first: by model and element, in the frame of the
// element. A model whose row is not there, or failed, has none at all: nil.
func (r *Run) Detections(i int) ([][][]job.Detection, error) {
	if err := r.checkSample(i); err != nil {
		return nil, err
	}
	out := make([][][]job.Detection, len(r.models))
	for at, p := range r.parts {
		k := p.row(i)
		for row, err := range p.at.run.Rows(store.Filter{
			Metrics: []string{}, Lo: k, Hi: k + 1, NoTop: true,
			Boxes: true,
		}) {
			if err != nil {
				return nil, p.clean(err)
			}
			m := slices.IndexFunc(r.models, func(m modelRef) bool { return m.part == at && m.index == row.Model })
			if m >= 0 && len(row.Boxes) == r.e {
				out[m] = row.Boxes
			}
		}
	}
	return out, nil
}

// Recorded are the boxes of all models that were recorded for sample i at an element of the plan.
func (r *Run) Recorded(i, element int) (*api.Boxes, error) {
	all, err := r.Detections(i)
	if err != nil {
		return nil, err
	}
	o := &api.Boxes{Index: i, Element: element, G: r.job.Elements[element], Models: []api.ModelBoxes{}}
	if w := r.job.Study.Group.Window; len(w) == 2 {
		o.Height, o.Width = float64(w[0]), float64(w[1])
	}
	for m, of := range all {
		if of == nil {
			continue
		}
		b := api.ModelBoxes{Model: m, Boxes: []api.Box{}}
		for _, d := range of[element] {
			b.Boxes = append(b.Boxes, api.Box{
				X1: fold.Number(d.X1), Y1: fold.Number(d.Y1), X2: fold.Number(d.X2), Y2: fold.Number(d.Y2),
				Angle: fold.Number(d.Angle), Score: fold.Number(d.Score), Label: int(d.Label),
			})
		}
		o.Models = append(o.Models, b)
	}
	return o, nil
}

// BoxesOf are boxes as they are sent.
func BoxesOf(v space.Value) []api.Box {
	b, ok := v.(*space.Boxes)
	if !ok {
		return nil
	}
	out := make([]api.Box, len(b.Items))
	for i, x := range b.Items {
		out[i] = api.Box{
			X1: fold.Number(x.X1), Y1: fold.Number(x.Y1), X2: fold.Number(x.X2), Y2: fold.Number(x.Y2),
			Angle: fold.Number(x.Angle), Score: fold.Number(x.Score), Label: x.Label,
		}
	}
	return out
}

// rested is what the consensus of a row rests on, NaN where there is none.
func rested(v float32) fold.Number {
	if math.IsInf(float64(v), 0) {
		return fold.Number(math.NaN())
	}
	return fold.Number(v)
}

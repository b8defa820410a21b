package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/aggregate"
	"nero/measure/consensus"
	"nero/measure/metric"
	"nero/run/job"
	"nero/symmetry/group"
)

// References are what a prediction at one element may be compared with, in the frame of that element; nil for what
// there is not.
type References struct {
	// the target of the sample, moved
	Target space.Value
	// the prediction at the identity, moved
	Self space.Value
	// the consensus, moved
	Consensus space.Value
	// class of the consensus, -1 if it has none
	Label int
}

// references says which of them the metrics of an evaluation read.
type references struct {
	self, consensus bool
}

func needs(ms []*metric.Metric) (r references) {
	for _, m := range ms {
		r.self = r.self || m.Ref == metric.Self && m.Movable
		r.consensus = r.consensus || m.Ref == metric.Consensus
	}
	return r
}

// truthBytes bounds the moved targets of one sample that are kept for the next model.
const truthBytes = 64 << 20

// consensusBytes bounds the predictions of one sample that wait for their consensus.
const consensusBytes = 1 << 30

// Truth is the target of a sample in the frame of the moved input, nil if it has none.
func (e *Evaluation) Truth(g group.Element, s dataset.Sample) (space.Value, error) {
	if s.Target == nil || e.Target == nil {
		return nil, nil //nolint:nilnil // a sample without target is no fault
	}
	v, err := e.Target.Apply(g, s.Target)
	return v, e.aiming(s, g, err)
}

// aiming says where a target could not be moved.
func (e *Evaluation) aiming(s dataset.Sample, g group.Element, err error) error {
	if err == nil {
		return nil
	}
	return &SampleError{s.ID, fmt.Errorf("target: element %s: %w", group.Format(e.Plan.Group, g), err)}
}

// truth is [Evaluation.Truth] at element k, kept for the next model.
func (w *worker) truth(p *pending, k int) (space.Value, error) {
	if p.sample.Target == nil || w.e.Target == nil {
		return nil, nil //nolint:nilnil // as above
	}
	if p.truths == nil && 8*size(p.sample.Target)*len(w.e.order) <= truthBytes {
		p.truths = make([]space.Value, len(w.e.order))
	}
	if p.truths != nil && p.truths[k] != nil {
		return p.truths[k], nil
	}
	v, err := w.e.truths.apply(k, p.sample.Target, nil)
	err = w.e.aiming(p.sample, w.e.Plan.Elements[k], err)
	if p.truths != nil {
		p.truths[k] = v
	}
	return v, err
}

// Forth carries a value of the frame of the identity to that of g: g·y, cut to the window if they are boxes. It is y
// itself if the output is claimed to be invariant.
func (e *Evaluation) Forth(model int, g group.Element, y space.Value) (space.Value, error) {
	return e.forth(model, g, y, func() (space.Value, error) { return e.Plan.Out.Apply(g, y) })
}

// forthAt is [Evaluation.Forth] to element k, in room where that fits.
func (e *Evaluation) forthAt(model, k int, y, room space.Value) (space.Value, error) {
	return e.forth(model, e.Plan.Elements[k], y, func() (space.Value, error) { return e.forths.apply(k, y, room) })
}

func (e *Evaluation) forth(model int, g group.Element, y space.Value, move func() (space.Value, error)) (space.Value,
	error,
) {
	z := y
	if !e.plain && !broken(y) {
		var err error
		if z, err = move(); err != nil {
			return nil, fmt.Errorf("model %s: output: moving by element %s: %w", e.Models[model].Name,
				group.Format(e.Plan.Group, g), err)
		}
	}
	if b, ok := z.(interface{ Clip() *space.Boxes }); ok {
		return b.Clip(), nil
	}
	return z, nil
}

// broken reports whether a set of boxes holds a number that is not finite. Such a set cannot be moved; it stays as it
// is, and every metric of it is NaN.
func broken(v space.Value) bool {
	return v != nil && v.Kind() == space.KindBoxes && !space.Finite(v)
}

// topped is a prediction that may name a class.
type topped interface{ Top() int }

// classified reports whether a prediction names a class.
func classified(v space.Value) bool {
	for _, f := range space.Leaves(v) {
		if _, ok := f.(topped); ok {
			return true
		}
	}
	return false
}

// Top is the class that a prediction names: the most probable one, that of the best box, of a record that of its first
// field that names one; -1 if there is none.
func Top(v space.Value) int32 {
	for _, f := range space.Leaves(v) {
		if t, ok := f.(topped); ok {
			return int32(t.Top())
		}
	}
	return -1
}

// boxes puts the predicted boxes of element k into the row, with what they were matched with.
func (w *worker) boxes(p *pending, t *track, k int, b *space.Boxes) error {
	n := len(w.e.order)
	if t.row.Boxes == nil {
		t.row.Boxes = make([][]job.Detection, n)
	}
	truth, err := w.truth(p, k)
	if err != nil {
		return err
	}
	var ev metric.Evidence
	if truth != nil {
		ev = metric.EvidenceOf(metric.Case{At: b, Truth: truth}, w.e.Classes)
		if t.row.Truths == nil {
			t.row.Truths = make([][]int32, n)
		}
		// a box that is not finite: the row has its NaN, and no object counts
		if t.row.Truths[k] = ev.Truths; ev.Truths == nil {
			t.row.Truths[k] = make([]int32, max(w.e.Classes, 1))
		}
	}
	t.row.Boxes[k] = Detections(b, ev.Hits)
	return nil
}

// pixels puts the counts of the pixels of element k into the row.
func (w *worker) pixels(p *pending, t *track, k int, at space.Value) error {
	if t.row.Pixels == nil {
		t.row.Pixels = make([][]job.Pixels, len(w.e.order))
	}
	truth, err := w.truth(p, k)
	if err != nil {
		return err
	}
	counts := metric.PixelsOf(metric.Case{At: at, Truth: truth})
	if counts == nil { // masks of other sizes: the row has its NaN
		counts = []metric.Pixels{{Class: -1}}
	}
	for _, c := range counts {
		t.row.Pixels[k] = append(t.row.Pixels[k], job.Pixels(c))
	}
	return nil
}

// Detections are boxes as they are stored, with the matches of hits, which may be nil.
func Detections(b *space.Boxes, hits []metric.Hit) []job.Detection {
	ds := make([]job.Detection, len(b.Items))
	for i, x := range b.Items {
		ds[i] = job.Detection{
			X1: float32(x.X1), Y1: float32(x.Y1), X2: float32(x.X2), Y2: float32(x.Y2), Angle: float32(x.Angle),
			Score: float32(x.Score), Label: int32(x.Label),
		}
		if hits != nil {
			ds[i].Match = hits[i].Match
		}
	}
	return ds
}

// gather keeps a prediction for the consensus of its sample.
func (w *worker) gather(p *pending, t *track, k int, at, back space.Value) error {
	e := w.e
	if !e.refs.consensus {
		return nil
	}
	if t.mean == nil {
		if bytes := 8 * size(at) * len(e.order); bytes > consensusBytes {
			return fmt.Errorf("a consensus over %d elements would keep %d MB of predictions, at most %d are kept; "+
				"choose fewer elements, or leave metrics with @consensus out",
				len(e.order), bytes>>20, consensusBytes>>20)
		}
		key, err := w.truth(p, e.first)
		if err != nil {
			return err
		}
		if t.mean, err = e.average(at.Kind(), key); err != nil {
			return err
		}
	}
	return t.mean.Add(e.answer(k, back))
}

// average is an empty consensus. Of boxes the object of interest is that of the target at the identity, where there is
// one: the target says which object is meant, and nothing about where the consensus sees it.
func (e *Evaluation) average(kind space.Kind, target space.Value) (*consensus.Accumulator, error) {
	o := e.Averaging
	o.Of = e.Models[0].Codec.Out()
	if b, ok := target.(*space.Boxes); ok && len(b.Items) > 0 {
		o.Key = &b.Items[0]
	}
	return consensus.New(kind, len(e.Plan.Elements), o)
}

// answer is a prediction as a consensus takes it. Of boxes it says what the model saw.
func (e *Evaluation) answer(k int, back space.Value) consensus.Answer {
	x := consensus.Answer{Index: k, Weight: e.weight(k), Value: back}
	if b, ok := back.(*space.Boxes); ok {
		x.Window = b.Seen
	}
	return x
}

// weight is that of an element in means over the orbit.
func (e *Evaluation) weight(k int) float64 {
	if e.Plan.Weights != nil {
		return e.Plan.Weights[k]
	}
	return 1
}

// settle measures a sample against its consensus once all its predictions are there.
func (w *worker) settle(ctx context.Context, p *pending, m int) error {
	e, t := w.e, &p.tracks[m]
	if t.mean == nil {
		return nil
	}
	whole := t.mean.Result()
	t.row.Support = float32(whole.Share)
	for k, g := range e.Plan.Elements {
		got, err := e.backAt(m, k, t.at[k], w.got)
		if err != nil {
			return err
		}
		if got != t.at[k] {
			w.got = got // nobody keeps it
		}
		res := whole
		if e.LeaveOut {
			res = t.mean.Without(k, got)
		}
		r := References{Label: res.Label}
		if res.Value != nil {
			if r.Consensus, err = e.forthAt(m, k, res.Value, w.common); err != nil {
				return err
			}
			if r.Consensus != res.Value {
				w.common = r.Consensus
			}
		}
		c := metric.Case{Got: got, At: t.at[k], Want: t.want, Label: res.Label, Element: g}
		err = e.each(ctx, m, c, r, w.scales, func(m *metric.Metric) bool { return m.Ref == metric.Consensus },
			func(i int, v float64) { t.row.Curves[i][k] = float32(v) })
		if err != nil {
			return w.asked(p, k, err)
		}
	}
	t.row.Agreement = float32(e.agreement(t.row.Curves))
	t.mean, t.at = nil, nil
	return nil
}

// agreement is the correlation over the orbit of the first metric that is measured against both the target and the
// consensus; NaN if none is.
func (e *Evaluation) agreement(curves [][]float32) float64 {
	for i, m := range e.Metrics {
		if m.Ref != metric.Target {
			continue
		}
		name := m.Name + "@" + string(metric.Consensus)
		if k := slices.IndexFunc(e.Metrics, func(o *metric.Metric) bool { return o.Name == name }); k >= 0 {
			return aggregate.Correlate(curves[i], curves[k]).Pearson
		}
	}
	return math.NaN()
}

// Consensus is the consensus of a model about a sample: it visits the whole orbit. The predictions count as in a run.
func (e *Evaluation) Consensus(ctx context.Context, model int, s dataset.Sample) (consensus.Result, error) {
	m := e.Models[model]
	var acc *consensus.Accumulator
	target, err := e.Truth(e.Plan.Group.Identity(), s)
	if err != nil {
		return consensus.Result{}, err
	}
	elements := make([]int, 0, e.most)
	values := make([]space.Value, 0, e.most)
	flush := func() error {
		ys, err := m.Predict(ctx, values, 1)
		if err != nil {
			return err
		}
		for i, y := range ys {
			k := elements[i]
			z, err := e.backAt(model, k, y, nil)
			if err != nil {
				return err
			}
			if acc == nil {
				if acc, err = e.average(z.Kind(), target); err != nil {
					return err
				}
			}
			if err := acc.Add(e.answer(k, z)); err != nil {
				return err
			}
		}
		elements, values = elements[:0], values[:0]
		return nil
	}
	for k, g := range e.Plan.Elements {
		x, err := e.Plan.In.Apply(g, s.Value)
		if err != nil {
			return consensus.Result{}, &SampleError{s.ID, err}
		}
		elements, values = append(elements, k), append(values, x)
		if len(values) == cap(values) || k == len(e.Plan.Elements)-1 {
			if err := flush(); err != nil {
				return consensus.Result{}, err
			}
		}
	}
	if acc == nil {
		return consensus.Result{}, errors.New("the orbit has no elements")
	}
	return acc.Result(), nil
}

package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/run/eval"
	"nero/run/job"
	"nero/symmetry/action"

	"golang.org/x/sync/errgroup"
)

// Sequence is a model that reads several views of each sample, and what moved each of them to the next.
type Sequence struct {
	Name, SHA256 string
	// Output is the name of what is read.
	Output string
	// Views and Actions are the inputs.
	Views, Actions onnx.Port
	// width is how many numbers say what was done
	width int
	in    decode.InputSpec
	pool  *eval.Pool
}

// movable refuses given views: nothing moves them.
func movable(s *job.Study) error {
	if s.Data.Views == "" {
		return nil
	}
	return s.Errorf("data.views", "given views have no group, and there is nothing to move; ask about them with nero "+
		"repeat or nero embed, or name data.images here")
}

// Sequences opens the data of a study and its models, which read sequences as the study says under embedding.sequence.
// The caller closes the models.
func Sequences(ctx context.Context, s *job.Study, o Options) (*Workload, []*Sequence, error) {
	if err := movable(s); err != nil {
		return nil, nil, err
	}
	if _, err := feed(s, o); err != nil {
		return nil, nil, err
	}
	w, in, err := openInput(s, o)
	if err != nil {
		return nil, nil, err
	}
	if t, _, _, _, ok := in.seen.Pictures(); !ok || t > 0 {
		return nil, nil, s.Errorf("embedding.sequence", "views are pictures, and the samples are of space %s: name "+
			"data "+
			"of pictures", in.seen.Kind)
	}
	if err := w.plan(in.act, action.Trivial{G: w.group}); err != nil {
		return nil, nil, err
	}
	if err := w.choose(); err != nil {
		return nil, nil, err
	}
	if w.places, err = w.place(o); err != nil {
		return nil, nil, err
	}
	w.Eval.KeepGoing = o.KeepGoing
	var models []*Sequence
	var files []file
	for i, m := range s.Models {
		at, place := where(i, m)
		if !m.IsFile() {
			return nil, nil, s.Errorf(at, "%s: sequences of views are asked of ONNX files", place)
		}
		f, err := w.readFile(ctx, m, o)
		if err != nil {
			return nil, nil, s.Errorf(at, "%v", err)
		}
		x, err := w.sequence(f.signature(), in.seen)
		if err != nil {
			return nil, nil, s.Errorf(at, "%s: %v", place, err)
		}
		x.Name, x.SHA256 = m.Name, f.sum
		files, models = append(files, f), append(models, x)
	}
	if err := w.start(ctx, files, &o); err != nil {
		return nil, nil, err
	}
	limits, err := Limits(o.Engine)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range s.Models {
		b := files[i].bytes
		model := files[i].model
		if model.Signature().IR > limits.MaxIR {
			if older, _, err := model.Restamp(limits); err == nil {
				b = older
				if model, err = onnx.Load(older); err != nil {
					return nil, nil, err
				}
			}
		}
		if err := model.Check(limits); err != nil {
			return nil, nil, s.Errorf(fmt.Sprintf("models[%d].onnx", i), "%v", err)
		}
		e := engine.Limit(engine.On(o.Engine, w.places.each[i]), o.limit(m))
		models[i].pool = eval.NewPool(e, b, engine.Options{Threads: 1})
	}
	return w, models, nil
}

// sequence fits a model to views and actions.
func (w *Workload) sequence(sig onnx.Signature, seen space.Spec) (*Sequence, error) {
	said := w.Study.Embedding.Sequence
	x := &Sequence{width: len(w.group.Chart())}
	names := strings.Join(onnx.Names(sig.Inputs), ", ")
	for _, p := range []struct {
		key, name string
		to        *onnx.Port
	}{{"views", said.Views, &x.Views}, {"actions", said.Actions, &x.Actions}} {
		port, ok := sig.Input(p.name)
		if !ok {
			return nil, fmt.Errorf("embedding.sequence.%s: there is no input %q; there are %s", p.key, p.name, names)
		}
		*p.to = port
	}
	if len(sig.Inputs) != 2 || x.Views.Name == x.Actions.Name {
		return nil, fmt.Errorf("its inputs are %s, and a model of sequences reads two, views and actions; others need "+
			"values in the file (initializers)", names)
	}
	if a := x.Actions; a.Ranked && len(a.Shape) != 3 ||
		a.Ranked && a.Shape[2].Size >= 0 && a.Shape[2].Size != x.width || a.DType != tensor.Float32 {
		return nil, fmt.Errorf("the input %s is to be float32 [sample, view, %d], the coordinates of elements of %s "+
			"that move each view to the next", a, x.width, w.group.Name())
	}
	name := cmp.Or(w.Study.Output.Name, sig.Outputs[0].Name)
	out, ok := sig.Output(name)
	if !ok {
		return nil, fmt.Errorf("output.name: there is no output %q; there are %s", name,
			strings.Join(onnx.Names(sig.Outputs), ", "))
	}
	x.Output = out.Name
	x.in = w.encodeSpec(seen)
	if x.in.Layout = "NTCHW"; w.Study.Input.Layout == "NHWC" {
		x.in.Layout = "NTHWC"
	}
	for _, k := range said.Long() {
		spec := x.in
		spec.Frames = k
		if _, err := decode.NewSeveral(x.Views, spec); err != nil {
			return nil, fmt.Errorf("sequences of %d: %w", k, err)
		}
		if a := x.Actions; a.Ranked && a.Shape[1].Size >= 0 && a.Shape[1].Size != k {
			return nil, fmt.Errorf("sequences of %d: the input %s takes others; export it with a free axis, or name "+
				"embedding.sequence.lengths", k, a)
		}
	}
	return x, nil
}

// Close ends the sessions.
func (s *Sequence) Close() error { return s.pool.Close() }

// Predict asks about sequences of one length: the views of each sample, and after each the coordinates of the element
// that moves it to the next, after the last those of the identity. It returns a row for each sample.
func (s *Sequence) Predict(ctx context.Context, views []*space.Frames, actions [][]float64, workers int) ([][]float64,
	error,
) {
	if len(views) == 0 {
		return nil, errors.New("no sequence")
	}
	spec := s.in
	spec.Frames = len(views[0].Images)
	c, err := decode.NewSeveral(s.Views, spec)
	if err != nil {
		return nil, err
	}
	batch := cmp.Or(c.BatchLimit(), mostBatch)
	out := make([][]float64, len(views))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(workers, 1))
	for from := 0; from < len(views); from += batch {
		to := min(from+batch, len(views))
		g.Go(func() error {
			rows, err := s.run(ctx, c, views[from:to], actions[from:to])
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			copy(out[from:to], rows)
			return nil
		})
	}
	return out, g.Wait()
}

// run asks about one batch.
func (s *Sequence) run(ctx context.Context, c *decode.Several, views []*space.Frames, actions [][]float64) ([][]float64,
	error,
) {
	var batch []space.Value
	for _, v := range views {
		batch = append(batch, v)
	}
	x, err := c.Encode(batch)
	if err != nil {
		return nil, err
	}
	rows, k := x.Shape[0], len(views[0].Images)
	flat := make([]float32, rows*k*s.width) // zeros where a fixed batch is filled up
	for i, a := range actions {
		for j, v := range a {
			flat[i*k*s.width+j] = float32(v)
		}
	}
	in := []tensor.Named{x, {Name: s.Actions.Name, Tensor: tensor.FromFloat32(flat, rows, k, s.width)}}
	session, err := s.pool.Get(ctx)
	if err != nil {
		return nil, err
	}
	defer s.pool.Put(session)
	if session.Inputs()[0] != x.Name {
		slices.Reverse(in)
	}
	got, err := session.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(got, func(t tensor.Named) bool { return t.Name == s.Output })
	if at < 0 {
		return nil, fmt.Errorf("there is no output %s", s.Output)
	}
	y := got[at]
	numbers, err := y.Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", s.Output, err)
	}
	if len(y.Shape) == 0 || y.Shape[0] != rows || len(numbers) == 0 {
		return nil, fmt.Errorf("output %s has the shape %v for %d sequences; want a row for each, [sample, feature]",
			s.Output, y.Shape, rows)
	}
	d := len(numbers) / rows
	out := make([][]float64, len(views))
	for i := range out {
		out[i] = numbers[i*d : (i+1)*d]
	}
	return out, nil
}

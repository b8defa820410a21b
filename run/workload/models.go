package workload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/onnx/facts"
	"nero/model/unroll"
	"nero/run/eval"
	"nero/run/job"
)

// activationBudget bounds the values that one micro-batch holds inside a model, in bytes.
const activationBudget = 96 << 20

// mostBatch is the largest micro-batch. Engines are hardly faster beyond 8 to 16 samples, memory grows, and the values
// of larger batches leave the processor's cache between the other work of a run (docs/BENCHMARKS.md).
const mostBatch = 16

// mostFixed is the longest batch that a model may ask for: each call fills all of it.
const mostFixed = 1 << 16

// Limits says what the chosen engine can run.
func Limits(e engine.Engine) (onnx.Limits, error) {
	info := e.Info()
	if info.Name == "wasm" {
		return onnx.Wasm(), nil
	}
	return onnx.Native(info.Version)
}

// file is a model that is read and not yet opened, or one behind an endpoint.
type file struct {
	model *onnx.Model
	bytes []byte
	// the model over whole signals, if it reads frame by frame
	rolled *unroll.Model
	// SHA-256 of bytes in hexadecimal
	sum string
	// nil for a file
	away elsewhere
}

// readFile reads the file of a model, or asks what is none.
func (w *Workload) readFile(ctx context.Context, m job.Model, o Options) (file, error) {
	if !m.IsFile() {
		r, err := w.reach(ctx, m, o)
		return file{away: r}, err
	}
	model, err := onnx.Read(m.ONNX)
	if err != nil {
		return file{}, err
	}
	b, err := model.Bytes()
	if err != nil {
		return file{}, err
	}
	sum := sha256.Sum256(b) // of what is run, not of what the file may hold later
	return file{model: model, bytes: b, sum: hex.EncodeToString(sum[:])}, nil
}

// where is the field of the study that says where a model is, and what it says.
func where(i int, m job.Model) (field, place string) {
	return m.Where(i, "models"), m.Text()
}

// readModels reads every model and finds out how it is fed and how its output is read: all that can be said without an
// engine. in is what a model is fed: a moved sample.
func (w *Workload) readModels(ctx context.Context, in space.Spec, o Options) ([]file, error) {
	w.Job = &job.Job{}
	var err error
	if w.places, err = w.place(o); err != nil { // before anybody is asked
		return nil, err
	}
	var files []file
	for i, m := range w.Study.Models {
		at, place := where(i, m)
		f, err := w.readFile(ctx, m, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, w.Study.Errorf(at, "%v", err)
		}
		if f.rolled, err = w.unroll(f); err != nil {
			return nil, w.Study.Errorf("input.recurrent", "%s: %v", place, err)
		}
		if f.rolled != nil {
			for _, n := range f.rolled.Notes() {
				w.note("%s: %s", m.Name, n)
			}
		}
		codec, err := w.codec(f.signature(), in, o)
		if err != nil {
			return nil, w.Study.Errorf(at, "%s: %v%s", place, err, w.drawn())
		}
		if n := decode.BatchLimit(codec); n > mostFixed {
			return nil, w.Study.Errorf(at, "%s: the batch axis is fixed at %d, and at most %d samples are filled into "+
				"one call; export it with a smaller or a free batch axis", place, n, mostFixed)
		}
		for _, n := range decode.Notes(codec) {
			w.note("%s: %s", m.Name, n)
		}
		files = append(files, f)
		w.Eval.Models = append(w.Eval.Models, &eval.Model{Name: m.Name, Codec: codec})
	}
	return files, nil
}

// openModels holds every model against what the engine takes, opens it and fixes its micro-batch.
func (w *Workload) openModels(ctx context.Context, files []file, in space.Spec, o Options) error {
	var limits onnx.Limits
	if !w.allAway() {
		var err error
		if limits, err = Limits(o.Engine); err != nil {
			return err
		}
	}
	for i, m := range w.Study.Models {
		if r := files[i].away; r != nil {
			if err := w.openAway(ctx, i, r, in); err != nil {
				return err
			}
			continue
		}
		at := fmt.Sprintf("models[%d].onnx", i)
		model, b := files[i].model, files[i].bytes
		if model.Signature().IR > limits.MaxIR {
			older, note, err := model.Restamp(limits)
			if err == nil {
				if model, err = onnx.Load(older); err != nil {
					return w.Study.Errorf(at, "%s: %v", m.ONNX, err)
				}
				b = older
				w.note("%s: %s", m.Name, note)
			}
		}
		if err := model.Check(limits); err != nil {
			if l, ok := errors.AsType[*onnx.LimitError](err); ok {
				l.Model = m.ONNX // a lowered one has no file of its own
			}
			return w.Study.Errorf(at, "%v", err)
		}
		opened := w.Eval.Models[i]
		limited := o
		on := engine.On(o.Engine, w.places.each[i])
		limited.Engine = engine.Limit(on, o.limit(m))
		if err := w.openModel(ctx, opened, model, files[i].rolled, b, in, limited); err != nil {
			return w.Study.Errorf(at, "%s: %v", m.ONNX, err)
		}
		// A session is opened now, so that what only the engine can see is said before anything is written.
		s, err := opened.Pool.Get(ctx)
		if err != nil {
			return w.Study.Errorf(at, "%s: %v", m.ONNX, err)
		}
		w.told(i, m, s)
		if m.Witness != "" {
			err = testify(ctx, s, m.Witness, opened.Batch, opened.Fixed)
		}
		opened.Pool.Put(s)
		if err != nil {
			return w.Study.Errorf(fmt.Sprintf("models[%d].witness", i), "%s: %v", m.ONNX, err)
		}
		w.opened[m.Name] = &loaded{
			onnx: model, rolled: files[i].rolled, bytes: b, codec: opened.Codec, seen: in,
			batch: opened.Batch, fixed: opened.Fixed, limit: o.limit(m), engine: on, pool: opened.Pool,
		}
		w.Job.Models = append(w.Job.Models, job.ModelRef{
			Name: m.Name, Ref: job.Ref{Path: slashed(m.ONNX), SHA256: files[i].sum},
			Batch: opened.Batch, Provider: w.places.of(i),
		})
	}
	return nil
}

// openModel makes the pool of a model and fixes its micro-batch: the model's own where its batch axis is fixed, else as
// many inputs as activationBudget admits.
func (w *Workload) openModel(ctx context.Context, m *eval.Model, model *onnx.Model, rolled *unroll.Model, b []byte,
	in space.Spec, o Options,
) error {
	m.Pool = eval.NewPool(over(rolled, o.Engine), b, engine.Options{Threads: 1})
	fixed := decode.BatchLimit(m.Codec)
	x, err := m.Codec.Encode(slices.Repeat([]space.Value{w.specimen(in)}, max(fixed, 1)), nil)
	if err != nil {
		return err
	}
	if rolled != nil { // a step holds little, but all frames of all signals of a batch are in memory
		if x, err = rolled.First(max(fixed, 1)); err != nil {
			return err
		}
	}
	f, err := infer(ctx, model, x, o.Engine)
	if err != nil {
		return err
	}
	w.Parameters[m.Name] = f.Parameters
	w.Cost[m.Name] = f.MACs / int64(max(fixed, 1))
	if fixed > 0 {
		m.Batch, m.Fixed = fixed, true
		if fixed == 1 {
			w.note("%s: the batch axis is fixed at 1, so inputs go one by one; export it with a free batch axis to "+
				"be faster", m.Name)
		} else {
			w.note("%s: the batch axis is fixed at %d; the last batch is filled up", m.Name, fixed)
		}
		return nil
	}
	m.Batch = facts.MicroBatch(activationBudget, f.BytesPerSample(), mostBatch)
	// A power of two divides the chunks in which inputs are moved.
	m.Batch = 1 << (bits.Len(uint(m.Batch)) - 1)
	return nil
}

// over is an engine for a model that may read frame by frame.
func over(rolled *unroll.Model, e engine.Engine) engine.Engine {
	if rolled == nil {
		return e
	}
	return rolled.Engine(e)
}

// unroll fits what the study says of recurrence to a model; nil if it says nothing.
func (w *Workload) unroll(f file) (*unroll.Model, error) {
	r := w.Study.Input.Recurrent
	if r.Frame == 0 {
		return nil, nil //nolint:nilnil // most models are not recurrent
	}
	spec := unroll.Spec{Input: r.Input, Output: r.Output, Frame: r.Frame, Context: r.Context}
	for _, s := range r.States {
		spec.States = append(spec.States, unroll.State{In: s.In, Out: s.Out, Shape: s.Shape, Start: s.Start})
	}
	for _, c := range r.Feed {
		spec.Feed = append(spec.Feed, unroll.Feed{In: c.In, Value: c.Value})
	}
	if f.away != nil {
		return nil, errors.New(
			"a model that is no file is not run frame by frame; let it read whole signals, or give its ONNX file")
	}
	return unroll.New(f.model.Signature(), spec)
}

// infer finds what the graph says of size and cost: from the graph alone where that is possible, else with the help of
// one run. Where neither tells, memory is 0 and inputs go one by one. The error refuses a model that takes more memory
// than there may be, before anything runs it.
func infer(ctx context.Context, model *onnx.Model, in []tensor.Named, e engine.Engine) (*facts.Facts, error) {
	shapes := map[string][]int{}
	for _, x := range in {
		shapes[x.Name] = x.Shape
	}
	f, err := facts.Infer(model, shapes, nil)
	if err != nil {
		return &facts.Facts{}, nil //nolint:nilerr // the engine says what is wrong with the shapes
	}
	if err := f.Fits(); err != nil {
		return nil, err
	}
	if len(f.Gaps) == 0 {
		return f, nil
	}
	unknown := *f
	unknown.Bytes = 0
	measured, err := facts.Measure(ctx, model, in,
		func(ctx context.Context, b []byte, in []tensor.Named) ([]tensor.Named, error) {
			s, err := e.Open(ctx, b, engine.Options{Threads: 1, Plain: true})
			if err != nil {
				return nil, err
			}
			out, err := s.Run(ctx, in)
			return out, errors.Join(err, s.Close())
		})
	if err != nil {
		return &unknown, ctx.Err()
	}
	if f, err = facts.Infer(model, shapes, measured); err != nil || len(f.Gaps) > 0 {
		return &unknown, nil //nolint:nilerr // what cannot be computed beforehand is not known
	}
	return f, f.Fits()
}

// codec is how a model is fed and its output read.
func (w *Workload) codec(sig onnx.Signature, in space.Spec, o Options) (decode.Codec, error) {
	audit := o.Audit
	if o.Codec != nil {
		if c, err := o.Codec(sig, in, w.Study.Output); c != nil || err != nil {
			return c, err
		}
	}
	if _, _, _, _, ok := in.Pictures(); ok {
		return decode.New(sig, w.encodeSpec(in), w.decodeSpec(in, audit))
	}
	for i, p := range w.Study.Output.Fields {
		named := slices.ContainsFunc(sig.Outputs, func(o onnx.Port) bool { return o.Name == p.Name })
		if p.Port == "" && !named && len(sig.Outputs) > 1 && w.Study.Output.Name == "" {
			var have []string
			for _, o := range sig.Outputs {
				have = append(have, o.Name)
			}
			return nil, fmt.Errorf("output.fields[%d]: which output is %q? The model has %s; set port", i, p.Name,
				strings.Join(have, ", "))
		}
	}
	spec, err := w.recordSpec(sig, in, audit)
	if err != nil {
		return nil, err
	}
	return decode.NewRecord(sig, spec)
}

// specimen is an input of the size that models are fed: a picture of zeros, or else the first sample that can be used.
func (w *Workload) specimen(in space.Spec) space.Value {
	if _, _, _, _, ok := in.Pictures(); ok {
		return blank(in)
	}
	if s, err := w.Eval.First(); err == nil {
		if x, err := w.Eval.Plan.In.Apply(w.group.Identity(), s.Value); err == nil {
			return x
		}
	}
	return space.NewImage(1, 1, 1) // refused where it is laid out
}

// blank is an input of zeros.
func blank(in space.Spec) space.Value { return in.Kind.Info().Zero(in.Shape) }

// encodeSpec is the input of the study as the codec wants it.
func (w *Workload) encodeSpec(in space.Spec) decode.InputSpec {
	s := w.Study.Input
	spec := decode.InputSpec{
		Sample: in.Shape, Layout: s.Layout, Channels: s.Channels, Scale: s.Scale, Mean: s.Mean, Std: s.Std,
		Ports: s.Ports,
	}
	if t, _, _, _, _ := in.Pictures(); t > 0 {
		spec.Frames, spec.Sample = t, in.Shape[1:]
	}
	return spec
}

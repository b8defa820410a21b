package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/data/split"
	"nero/encoder"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/group"

	"gonum.org/v1/gonum/mat"
)

// embedSequences asks what order and route of views do to the vector that a model answers for all of them.
func (a *App) embedSequences(ctx context.Context, s *job.Study, o EmbedOptions) (*EmbedResult, error) {
	const why = "is asked of models that read one input, and these read sequences (embedding.sequence): leave it out"
	if err := a.featuresOnly(s, o, why); err != nil {
		return nil, err
	}
	if o.Value != "" || s.Embedding.Value != "" {
		return nil, fmt.Errorf("%s: the output of models that read sequences is asked: leave it out, and name "+
			"output.name where there are several", a.option("value"))
	}
	form, err := o.check(a, s)
	if err != nil {
		return nil, err
	}
	if err := only(s, o.Only); err != nil {
		return nil, err
	}
	w, models, err := workload.Sequences(ctx, s, a.options(o.Engine))
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, m := range models {
			_ = m.Close() // nothing is lost
		}
	}()
	a.note(w.Notes...)
	f, err := newFeatures(a, w, o)
	if err != nil {
		return nil, err
	}
	r := f.report()
	for _, m := range models {
		found, err := f.sequence(ctx, m)
		if err != nil {
			return nil, err
		}
		r.Models = append(r.Models, found)
	}
	return concluded(r, form, o.Out)
}

// sequence looks at one model.
func (f *features) sequence(ctx context.Context, m *workload.Sequence) (*encoder.Model, error) {
	lengths := f.w.Study.Embedding.Sequence.Long()
	step := begin(f.app.tell, TaskEmbed, m.Name, "sequences")
	defer step.end()
	each, n := 0, 0
	for _, k := range lengths {
		each += min(k, 3) // one route; its views in another order; another route
	}
	single := slices.Contains(lengths, 1)
	if single {
		each += len(f.plan.Elements)
	}
	for _, all := range f.values {
		n += len(all)
	}
	step.size(each * n)
	s := &encoder.Sequenced{
		Model: m.Name, Digest: m.SHA256, Value: m.Output, Views: m.Views.Name, Actions: m.Actions.Name,
		Group: f.w.Group(), Elements: f.plan.Elements, Lengths: lengths,
		Sides: map[split.Side]*encoder.SequencedSide{}, Seed: f.w.Study.Seed,
		Confidence: f.w.Study.Audit.Confidence, More: f.more,
	}
	for _, side := range split.Sides() {
		x := f.sides[side]
		y := &encoder.SequencedSide{Names: x.Names, Objects: x.Objects}
		s.Sides[side] = y
		q := &asking{f: f, m: m, side: side, step: step}
		routes := make([][]encoder.Routes, len(x.Names))
		for i, name := range x.Names {
			routes[i] = encoder.DrawRoutes(s.Seed, name, len(s.Elements), lengths)
		}
		for k := range lengths {
			var l encoder.SequencedLength
			for i := range routes {
				base := routes[i][k].Base
				l.Last = append(l.Last, base[len(base)-1])
			}
			for _, z := range []struct {
				of func(encoder.Routes) encoder.Route
				to **mat.Dense
			}{
				{func(r encoder.Routes) encoder.Route { return r.Base }, &l.Base},
				{func(r encoder.Routes) encoder.Route { return r.Shuffled }, &l.Shuffled},
				{func(r encoder.Routes) encoder.Route { return r.Other }, &l.Other},
			} {
				var err error
				if *z.to, err = q.along(ctx, func(i int) encoder.Route { return z.of(routes[i][k]) }); err != nil {
					return nil, err
				}
			}
			y.By = append(y.By, l)
		}
		for k := range s.Elements {
			if !single {
				break
			}
			at, err := q.along(ctx, func(int) encoder.Route { return encoder.Route{k} })
			if err != nil {
				return nil, err
			}
			y.Single = append(y.Single, at)
		}
	}
	out, err := s.Take()
	if err != nil {
		return nil, err
	}
	out.Engine = bodyOf(f.w.EngineOf(m.Name))
	return out, nil
}

// asking asks a model about the samples of a side.
type asking struct {
	f    *features
	m    *workload.Sequence
	side split.Side
	step *work
}

// along is what is answered along routes, one for each sample; nil where there are none.
func (q *asking) along(ctx context.Context, route func(i int) encoder.Route) (*mat.Dense, error) {
	if route(0) == nil {
		return nil, nil //nolint:nilnil // none is a good answer
	}
	f := q.f
	var rows [][]float64
	for from := 0; from < len(f.values[q.side]); from += batchOfViews {
		to := min(from+batchOfViews, len(f.values[q.side]))
		var views []*space.Frames
		var actions [][]float64
		for i := from; i < to; i++ {
			r := route(i)
			x := &space.Frames{}
			var done []float64
			for k, h := range r.Actions(f.plan.Group, f.plan.Elements) {
				v, err := f.plan.In.Apply(f.plan.Elements[r[k]], f.values[q.side][i])
				if err != nil {
					return nil, fmt.Errorf("sample %s at %s: %w", f.sides[q.side].Names[i],
						group.Title(f.plan.Group, f.plan.Elements[r[k]]), err)
				}
				x.Images = append(x.Images, space.Views(v)...) // one: others were refused
				done = append(done, h...)
			}
			views, actions = append(views, x), append(actions, done)
		}
		got, err := q.m.Predict(ctx, views, actions, f.o.Workers)
		if err != nil {
			return nil, err
		}
		rows = append(rows, got...)
		q.step.step(to - from)
	}
	return featureTable(q.m.Name, q.m.Output, "name another output with output: {name: …}", rows)
}

// report is what is said before anything is found.
func (f *features) report() *encoder.Report {
	r := &encoder.Report{
		Format: encoder.FormatNumber, Seed: f.w.Study.Seed,
		Confidence: encoder.Number(cmp.Or(f.w.Study.Audit.Confidence, job.PresetConfidence)), Group: f.w.Group().Name(),
		Measure: f.plan.Measure, Samples: encoder.Samples{
			Fit: len(f.sides[split.Fit].Names), Choose: len(f.sides[split.Choose].Names),
			Confirm: len(f.sides[split.Confirm].Names), Objects: f.confirmed(),
		},
	}
	for _, g := range f.plan.Elements {
		r.Elements = append(r.Elements, group.Title(f.w.Group(), g))
	}
	return r
}

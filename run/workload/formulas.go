package workload

import (
	"context"
	"fmt"
	"slices"

	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/process"
	"nero/measure/asked"
	"nero/measure/metric"
	"nero/model/engine/remote"
	"nero/run/job"
)

// measures connects to the programs and the endpoints that compute metrics.
func (w *Workload) measures(ctx context.Context, known metric.List, o Options) error {
	for i, f := range w.Study.Measures {
		m := f.Model()
		at := m.Where(i, "measures")
		if len(f.Program) > 0 == (f.Endpoint != "") {
			return w.Study.Errorf(fmt.Sprintf("measures[%d]", i), "a metric has a program or an endpoint; say one of "+
				"them, such as program: [python3, metric.py]")
		}
		var r *remote.Model
		var err error
		switch {
		case f.Endpoint != "":
			r, err = connect(ctx, m, o)
		case o.Judge == nil:
			err = fmt.Errorf("it is a program, %s, and no program is run here", process.Line(f.Program))
		default:
			if err = o.Judge(f); err == nil {
				r, err = startAllowed(ctx, m, o)
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return w.Study.Errorf(at, "the metric %s: %v", f.Name, err)
		}
		w.elsewhere = append(w.elsewhere, r)
		k := slices.IndexFunc(known, func(m *metric.Metric) bool { return m.Name == f.Name })
		if err := asked.Put(known[k], r); err != nil {
			return w.Study.Errorf(at, "the metric %s: %v", f.Name, err)
		}
		// What it says of itself and its file: the answers stand in the rows.
		sum, err := r.Identity()
		if err != nil {
			return w.Study.Errorf(at, "the metric %s: %v", f.Name, err)
		}
		w.Job.Asked = append(w.Job.Asked, job.Ref{Path: r.Place(), SHA256: sum})
		for _, n := range r.Notes() {
			w.note("%s: %s", f.Name, n)
		}
	}
	return nil
}

// try measures a first answer at the identity by the metrics that the study defines, so that an expression that does
// not fit what it names is refused before anything is written.
func (w *Workload) try(ctx context.Context, s dataset.Sample, y space.Value) error {
	for _, m := range w.Eval.Metrics {
		i := slices.IndexFunc(w.Study.Formulas, func(f job.Formula) bool { return f.Name == m.Name })
		if m.Ask != nil {
			i = slices.IndexFunc(w.Study.Measures, func(f job.Measure) bool { return f.Name == m.Name })
		}
		if m.Try == nil && m.Ask == nil || i < 0 {
			continue
		}
		e := w.group.Identity()
		c := metric.Case{At: y, Got: y, Want: y, Truth: y, Label: s.Label, Element: e}
		if m.Ref == metric.Target {
			var err error
			if c.Truth, err = w.Eval.Truth(e, s); err != nil {
				return err
			}
		}
		if m.Ask != nil {
			if _, err := m.Ask(ctx, c); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				at := w.Study.Measures[i].Model().Where(i, "measures")
				return w.Study.Errorf(at, "%v (of sample %s at the identity)", err, s.ID)
			}
			continue
		}
		if _, err := m.Try(c); err != nil {
			return w.Study.Errorf(fmt.Sprintf("formulas[%d].expression", i), "%v (of sample %s at the "+
				"identity)", err, s.ID)
		}
	}
	return nil
}

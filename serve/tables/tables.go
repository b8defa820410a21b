// Package tables makes the tables of a run that people keep: the same from the page, from the command line and from a
// report.
package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/audit/document"
	"nero/measure/metric"
	"nero/present/table"
	"nero/run/fold"
	"nero/run/slice"
	"nero/serve/api"
	"nero/serve/shelf"
)

// Names are the names of the tables of a run.
func Names() []string {
	return []string{"aggregate", "samples", "orbit", "compare", "confusion", "models", "search", "remarks", "findings"}
}

// Request says which table of a run is wanted. Fields that a table does not need are ignored.
type Request struct {
	// one of Names
	Table string
	// of aggregate, samples and compare
	Metric int
	// the samples of aggregate, samples and compare
	Set api.Set
	// of orbit
	Sample int
	// models of compare: B less A; the others less A of models
	A, B int
	// of confusion: truth or self
	Against string
	// of search: mean or change, "" for mean
	Of string
}

// Of makes a table of a run. The same run gives the same table, whoever asks. The error wraps [shelf.ErrUnknown] for
// what the run does not have, and [shelf.ErrBad] for a question that makes no sense.
func Of(ctx context.Context, sh *shelf.Shelf, run *shelf.Run, q Request) (*table.Table, error) {
	shown := run.Document()
	doc := &shown
	if q.Metric < 0 || q.Metric >= len(doc.Metrics) {
		return nil, refuse(shelf.ErrBad, "metric: %d, want a number from 0 to %d", q.Metric, len(doc.Metrics)-1)
	}
	switch q.Table {
	case "aggregate":
		return aggregateTable(ctx, run, doc, q)
	case "samples":
		return samplesTable(run, doc, q)
	case "orbit":
		return orbitTable(run, doc, q)
	case "compare":
		return compareTable(ctx, run, doc, q)
	case "confusion":
		return turnsTable(ctx, run, doc, q)
	case "models":
		return modelsTable(ctx, run, doc, q)
	case "search":
		return searchTable(ctx, run, doc, q)
	case "remarks":
		return remarksTable(run, doc)
	case "findings":
		return findingsTable(sh, doc)
	}
	return nil, refuse(shelf.ErrUnknown, "table %.40q: a run has %s", q.Table, strings.Join(Names(), ", "))
}

// place is the columns that say which element a row is about.
func place(doc *api.Run) []table.Column {
	cs := []table.Column{{Name: "element", Text: true}}
	for _, a := range doc.Orbit.Chart {
		name := a.Name
		if unit := a.Suffix(); unit != "" {
			name += "_" + unit
		}
		cs = append(cs, table.Column{Name: name})
	}
	return append(cs, table.Column{Name: "exact", Text: true})
}

// at is the cells of place for element k; with k = -1 they are empty but for a word.
func at(doc *api.Run, k int, word string) []any {
	if k < 0 {
		return append([]any{word}, make([]any, len(doc.Orbit.Chart)+1)...)
	}
	cells := []any{doc.Orbit.Labels[k]}
	for _, v := range doc.Orbit.Elements[k] {
		cells = append(cells, v+0)
	}
	return append(cells, doc.Orbit.Exact[k])
}

func columns(names ...string) []table.Column {
	cs := make([]table.Column, len(names))
	for i, n := range names {
		cs[i].Name = n
	}
	return cs
}

func texts(names ...string) []table.Column {
	cs := columns(names...)
	for i := range cs {
		cs[i].Text = true
	}
	return cs
}

// orbitMean is the word for rows about the mean over the orbit.
const orbitMean = "mean over the orbit"

func aggregateTable(ctx context.Context, run *shelf.Run, doc *api.Run, q Request) (*table.Table, error) {
	a, err := run.Aggregate(ctx, api.AggregateRequest{Set: q.Set, Metric: q.Metric})
	if err != nil {
		return nil, &SetError{err}
	}
	t := &table.Table{
		Title: fmt.Sprintf("%s of %s, %d samples, %g %% intervals", doc.MetricDoc[q.Metric].Title, doc.Name, a.N,
			100*a.Confidence),
		Columns: slices.Concat(texts("model", "metric"), place(doc),
			columns("n", "bad", "mean", "sd", "lo", "hi", "p10", "p90", "min", "max")),
	}
	t.Rows = func(yield func([]any) bool) {
		for i := range a.Curves {
			c := &a.Curves[i]
			who := []any{doc.Models[c.Model], doc.Metrics[q.Metric]}
			for k := range doc.Orbit.Elements {
				row := slices.Concat(who, at(doc, k, ""), []any{c.N[k], c.Bad[k]},
					numbers(k, c.Mean, c.SD, c.Lo, c.Hi, c.P10, c.P90, c.Min, c.Max))
				if !yield(row) {
					return
				}
			}
			o := c.Orbit
			if !yield(slices.Concat(who, at(doc, -1, orbitMean), []any{o.N, nil}, cells(o.Mean, o.SD, o.Lo, o.Hi),
				make([]any, 4))) {
				return
			}
		}
	}
	return t, nil
}

func cells(vs ...fold.Number) []any {
	all := make([]any, len(vs))
	for i, v := range vs {
		all[i] = float64(v)
	}
	return all
}

func numbers(k int, lists ...[]fold.Number) []any {
	all := make([]any, len(lists))
	for i, l := range lists {
		all[i] = float64(l[k])
	}
	return all
}

func samplesTable(run *shelf.Run, doc *api.Run, q Request) (*table.Table, error) {
	all, err := run.Samples()
	if err != nil {
		return nil, err
	}
	set, err := run.Select(q.Set)
	if err != nil {
		return nil, &SetError{err}
	}
	var stats []*shelf.Stats
	var alike []*shelf.Likeness
	var curves [][]float32
	for m := range doc.Models {
		s, err := run.Stats(m, q.Metric)
		if err != nil {
			return nil, err
		}
		stats = append(stats, s)
		l, err := run.Likeness(m, q.Metric, set)
		if err != nil {
			return nil, err
		}
		alike = append(alike, l)
		c, err := run.Curves(m, q.Metric)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	elements, better := len(doc.Orbit.Elements), metric.Direction(doc.MetricDoc[q.Metric].Better)
	t := &table.Table{
		Title: fmt.Sprintf("%s of %d samples of %s along the orbit", doc.MetricDoc[q.Metric].Title, set.Count(),
			doc.Name),
		Columns: slices.Concat(columns("index"), texts("sample"), columns("label"), texts("model", "metric"),
			columns("mean", "sd", "min", "max", "identity", "correlation", "similarity"), texts("worst_element"),
			columns("worst_ties"), texts("error")),
	}
	t.Rows = func(yield func([]any) bool) {
		for i := range set.All() {
			var label any
			if all.Labels[i] >= 0 {
				label = all.Labels[i]
			}
			for m, s := range stats {
				// The first element, and how many are as bad: all of them where the curve is level.
				worst, ties := "", any(nil)
				if k := int(s.Worst[i]); k >= 0 {
					place := fold.PlaceOf(curves[m][i*elements:(i+1)*elements], better)
					worst, ties = doc.Orbit.Labels[k], place.Ties
					if place.Level {
						ties = elements
					}
				}
				row := []any{
					i, all.IDs[i], label, doc.Models[m], doc.Metrics[q.Metric], s.Mean[i], s.SD[i], s.Min[i],
					s.Max[i], s.Identity[i], alike[m].Correlation[i], alike[m].Similarity[i], worst, ties,
					all.Errors[strconv.Itoa(i)],
				}
				if !yield(row) {
					return
				}
			}
		}
	}
	return t, nil
}

func orbitTable(run *shelf.Run, doc *api.Run, q Request) (*table.Table, error) {
	if q.Sample < 0 || q.Sample >= doc.Samples {
		return nil, refuse(shelf.ErrUnknown, "sample %d: the run has %d samples, numbered from 0", q.Sample,
			doc.Samples)
	}
	one, err := run.Sample(q.Sample)
	if err != nil {
		return nil, err
	}
	t := &table.Table{
		Title:   fmt.Sprintf("Sample %s of %s along the orbit", one.ID, doc.Name),
		Columns: slices.Concat(texts("sample"), columns("label"), texts("model"), place(doc), columns(doc.Metrics...)),
	}
	if one.Top != nil {
		t.Columns = append(t.Columns, table.Column{Name: "predicted"})
	}
	var label any
	if one.Label >= 0 {
		label = one.Label
	}
	t.Rows = func(yield func([]any) bool) {
		for m, name := range doc.Models {
			for k := range doc.Orbit.Elements {
				row := append([]any{one.ID, label, name}, at(doc, k, "")...)
				for _, c := range one.Curves[m] {
					row = append(row, float32(c[k]))
				}
				if one.Top != nil {
					var top any
					if one.Top[m][k] >= 0 {
						top = one.Top[m][k]
					}
					row = append(row, top)
				}
				if !yield(row) {
					return
				}
			}
		}
	}
	return t, nil
}

func compareTable(ctx context.Context, run *shelf.Run, doc *api.Run, q Request) (*table.Table, error) {
	if n := len(doc.Models); n < 2 {
		return nil, refuse(shelf.ErrUnknown, "run %s has one model, and two are compared", doc.ID)
	}
	ask := api.AggregateRequest{Set: q.Set, Metric: q.Metric, Models: []int{q.A, q.B}, Pair: []int{q.A, q.B}}
	for _, m := range ask.Models {
		if m < 0 || m >= len(doc.Models) {
			return nil, refuse(shelf.ErrBad, "models: %d, want numbers from 0 to %d", m, len(doc.Models)-1)
		}
	}
	if q.A == q.B {
		return nil, refuse(shelf.ErrBad, "pair: model %d twice, want two different ones", q.A)
	}
	a, err := run.Aggregate(ctx, ask)
	if err != nil {
		return nil, &SetError{err}
	}
	p := a.Pair
	t := &table.Table{
		Title: fmt.Sprintf("%s of %s less %s, %s, %d samples in pairs, %g %% intervals: %s",
			doc.MetricDoc[q.Metric].Title, doc.Models[q.B], doc.Models[q.A],
			doc.Name, a.N, 100*a.Confidence, p.Verdict),
		Columns: slices.Concat(texts("a", "b", "metric"), place(doc), columns("n", "mean", "lo", "hi", "p10", "p90")),
	}
	t.Rows = func(yield func([]any) bool) {
		who := []any{doc.Models[q.A], doc.Models[q.B], doc.Metrics[q.Metric]}
		for k := range doc.Orbit.Elements {
			if !yield(slices.Concat(who, at(doc, k, ""), []any{p.N[k]}, numbers(k, p.Mean, p.Lo, p.Hi, p.P10, p.P90))) {
				return
			}
		}
		yield(slices.Concat(who, at(doc, -1, orbitMean), []any{p.Orbit.N}, cells(p.Orbit.Mean, p.Orbit.Lo, p.Orbit.Hi),
			make([]any, 2)))
	}
	return t, nil
}

func findingsTable(sh *shelf.Shelf, doc *api.Run) (*table.Table, error) {
	var rows [][]any
	for _, id := range doc.Audits {
		f, err := sh.Findings(id)
		if err != nil {
			return nil, err
		}
		d, err := document.Read(f.Audit.Name, f.Document)
		if err != nil {
			return nil, err
		}
		for i := range d.Models {
			m := &d.Models[i]
			for k := range m.Checks {
				for _, x := range m.Checks[k].Findings {
					worst := document.Where{}
					if x.Worst != nil {
						worst = *x.Worst
					}
					rows = append(rows, []any{
						f.Audit.Name, m.Model, m.Checks[k].Check, x.Category, string(x.Severity), x.Set, x.Message,
						x.Location, worst.Sample, worst.Element, strings.Join(x.Remedies, "; "),
					})
				}
			}
		}
	}
	return &table.Table{
		Title: fmt.Sprintf("Findings of %d audits of %s", len(doc.Audits), doc.Name),
		Columns: texts("audit", "model", "check", "category", "severity", "set", "message", "location", "worst_sample",
			"worst_element", "remedies"),
		Rows: slices.Values(rows),
	}, nil
}

// refusal is a reason in words, of a kind.
type refusal struct {
	kind error
	text string
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.kind }

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

// SetError is an error about the samples that are asked for.
type SetError struct{ Err error }

// Error says what is wrong with the samples that are asked for.
func (e *SetError) Error() string {
	text := e.Err.Error()
	var rule *slice.RuleError
	if !errors.As(e.Err, &rule) && (errors.Is(e.Err, shelf.ErrUnknown) || errors.Is(e.Err, shelf.ErrBad)) {
		return "set: " + strings.TrimPrefix(text, "set: ")
	}
	return text
}

// Unwrap is the error itself.
func (e *SetError) Unwrap() error { return e.Err }

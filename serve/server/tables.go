package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"nero/present/table"
	"nero/run/fold"
	"nero/serve/api"
	"nero/serve/shelf"
)

// Tables are the names of the tables of a run.
func Tables() []string { return []string{"aggregate", "samples", "orbit", "compare", "findings"} }

// TableRequest says which table of a run is wanted. Fields that a table does not need are ignored.
type TableRequest struct {
	// one of Tables
	Table string
	// of aggregate, samples and compare
	Metric int
	// the samples of aggregate, samples and compare
	Set api.Set
	// of orbit
	Sample int
	// models of compare: B less A
	A, B int
}

// Table makes a table of a run. The same run gives the same table, whoever asks.
func Table(ctx context.Context, sh *shelf.Shelf, run *shelf.Run, q TableRequest) (*table.Table, error) {
	shown := run.Document()
	doc := &shown
	if q.Metric < 0 || q.Metric >= len(doc.Metrics) {
		return nil, bad("metric", "%d, want a number from 0 to %d", q.Metric, len(doc.Metrics)-1)
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
	case "findings":
		return findingsTable(sh, doc)
	}
	return nil, missing("table %.40q: a run has %s", q.Table, strings.Join(Tables(), ", "))
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

func aggregateTable(ctx context.Context, run *shelf.Run, doc *api.Run, q TableRequest) (*table.Table, error) {
	a, err := run.Aggregate(ctx, api.AggregateRequest{Set: q.Set, Metric: q.Metric})
	if err != nil {
		return nil, asked("set", err)
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

func samplesTable(run *shelf.Run, doc *api.Run, q TableRequest) (*table.Table, error) {
	all, err := run.Samples()
	if err != nil {
		return nil, err
	}
	set, err := run.Select(q.Set)
	if err != nil {
		return nil, asked("set", err)
	}
	var stats []*shelf.Stats
	for m := range doc.Models {
		s, err := run.Stats(m, q.Metric)
		if err != nil {
			return nil, err
		}
		stats = append(stats, s)
	}
	t := &table.Table{
		Title: fmt.Sprintf("%s of %d samples of %s along the orbit", doc.MetricDoc[q.Metric].Title, set.Count(),
			doc.Name),
		Columns: slices.Concat(columns("index"), texts("sample"), columns("label"), texts("model", "metric"),
			columns("mean", "sd", "min", "max", "identity"), texts("worst_element", "error")),
	}
	t.Rows = func(yield func([]any) bool) {
		for i := range set.All() {
			var label any
			if all.Labels[i] >= 0 {
				label = all.Labels[i]
			}
			for m, s := range stats {
				worst := ""
				if k := int(s.Worst[i]); k >= 0 {
					worst = doc.Orbit.Labels[k]
				}
				row := []any{
					i, all.IDs[i], label, doc.Models[m], doc.Metrics[q.Metric], s.Mean[i], s.SD[i], s.Min[i],
					s.Max[i], s.Identity[i], worst, all.Errors[strconv.Itoa(i)],
				}
				if !yield(row) {
					return
				}
			}
		}
	}
	return t, nil
}

func orbitTable(run *shelf.Run, doc *api.Run, q TableRequest) (*table.Table, error) {
	if q.Sample < 0 || q.Sample >= doc.Samples {
		return nil, missing("sample %d: the run has %d samples, numbered from 0", q.Sample, doc.Samples)
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

func compareTable(ctx context.Context, run *shelf.Run, doc *api.Run, q TableRequest) (*table.Table, error) {
	if n := len(doc.Models); n < 2 {
		return nil, missing("run %s has one model, and two are compared", doc.ID)
	}
	ask := api.AggregateRequest{Set: q.Set, Metric: q.Metric, Models: []int{q.A, q.B}, Pair: []int{q.A, q.B}}
	if err := checkAggregate(&ask, run); err != nil {
		return nil, err
	}
	a, err := run.Aggregate(ctx, ask)
	if err != nil {
		return nil, asked("set", err)
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

// auditDocument is what a table needs of audit.json.
type auditDocument struct {
	Models []struct {
		Model  string `json:"model"`
		Checks []struct {
			Check    string `json:"check"`
			Findings []struct {
				Category string `json:"category"`
				Severity string `json:"severity"`
				Set      string `json:"set"`
				Message  string `json:"message"`
				Location string `json:"location"`
				Worst    struct {
					Sample  string `json:"sample"`
					Element string `json:"element"`
				} `json:"worst"`
				Remedies []string `json:"remedies"`
			} `json:"findings"`
		} `json:"checks"`
	} `json:"models"`
}

func findingsTable(sh *shelf.Shelf, doc *api.Run) (*table.Table, error) {
	var rows [][]any
	for _, id := range doc.Audits {
		f, err := sh.Findings(id)
		if err != nil {
			return nil, err
		}
		var d auditDocument
		if err := json.Unmarshal(f.Document, &d); err != nil {
			return nil, fmt.Errorf("audit %s: %w", f.Audit.Name, err)
		}
		for _, m := range d.Models {
			for _, c := range m.Checks {
				for _, x := range c.Findings {
					rows = append(rows, []any{
						f.Audit.Name, m.Model, c.Check, x.Category, x.Severity, x.Set, x.Message,
						x.Location, x.Worst.Sample, x.Worst.Element, strings.Join(x.Remedies, "; "),
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

// getExport writes a table to keep.
func (s *Server) getExport(w http.ResponseWriter, r *request) error {
	run, doc, err := s.document(r)
	if err != nil {
		return err
	}
	name, ext, _ := strings.Cut(r.PathValue("file"), ".")
	if !slices.Contains(Tables(), name) {
		return missing("table %.40q: a run has %s", name, strings.Join(Tables(), ", "))
	}
	format, err := table.ParseFormat(ext)
	if err != nil {
		return missing("%v", err)
	}
	q := TableRequest{Table: name}
	if q.Metric, err = metricOf(r.query, doc.Metrics); err != nil {
		return err
	}
	if q.Set, err = r.query.set(); err != nil {
		return err
	}
	if q.Sample, err = r.query.index("i", max(doc.Samples, 1), 0); err != nil {
		return err
	}
	models := len(doc.Models)
	if q.A, err = r.query.index("a", models, 0); err != nil {
		return err
	}
	if q.B, err = r.query.index("b", models, min(1, models-1)); err != nil {
		return err
	}
	t, err := Table(r.Context(), s.o.Shelf, run, q)
	if err != nil {
		return err
	}
	var b bytes.Buffer // whole or not at all
	if err := table.Write(&b, format, t); err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", attachment(doc.Name+"-"+name+"."+ext))
	return send(w, r.Request, http.StatusOK, format.Type(), "", b.Bytes())
}

package tables

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/present/table"
	"nero/run/fold"
	"nero/serve/api"
	"nero/serve/shelf"
)

// class is a class for a table: its number and its name.
func class(doc *api.Run, c int) []any {
	if c >= 0 && c < len(doc.Classes) && doc.Classes[c] != "" {
		return []any{c, doc.Classes[c]}
	}
	return []any{c, strconv.Itoa(c)}
}

func turnsTable(ctx context.Context, run *shelf.Run, doc *api.Run, q Request) (*table.Table, error) {
	all, err := run.Samples()
	if err != nil {
		return nil, err
	}
	var rows [][]any
	n, level, against := 0, 0.0, ""
	for m, name := range doc.Models {
		t, err := run.Turns(ctx, api.TurnsRequest{Set: q.Set, Model: m, Against: q.Against})
		if err != nil {
			return nil, &SetError{err}
		}
		n, level, against = t.N, t.Confidence, t.Against
		of := map[int]int{}
		for _, f := range t.From {
			of[f.Class] = f.N
		}
		for _, e := range t.Entries {
			sample, element := "", ""
			if e.Sample >= 0 {
				sample, element = all.IDs[e.Sample], doc.Orbit.Labels[e.Element]
			}
			rows = append(rows, slices.Concat([]any{name, against}, class(doc, e.From), class(doc, e.To),
				cells(e.Share, e.Lo, e.Hi), []any{of[e.From], e.Samples, sample, element}))
		}
	}
	by := map[string]string{"truth": "their label", "self": "the answer at rest"}[against]
	return &table.Table{
		Title: fmt.Sprintf("What moved samples of %s are taken for, by %s, %d samples, %g %% intervals", doc.Name, by,
			n, 100*level),
		Columns: slices.Concat(texts("model", "against"), columns("from"), texts("from_name"), columns("to"),
			texts("to_name"), columns("share", "lo", "hi", "n", "samples"), texts("sample", "element")),
		Rows: slices.Values(rows),
	}, nil
}

func modelsTable(ctx context.Context, run *shelf.Run, doc *api.Run, q Request) (*table.Table, error) {
	t, err := run.ModelTable(ctx, api.ModelsRequest{Set: q.Set, Base: q.A})
	if err != nil {
		return nil, &SetError{err}
	}
	return &table.Table{
		Title: fmt.Sprintf("Models of %s, %d samples, %g %% intervals; differences are to %s", doc.Name, t.N,
			100*t.Confidence, doc.Models[t.Base]),
		Columns: slices.Concat(texts("model", "metric"), columns("n", "rest", "rest_lo", "rest_hi", "orbit", "orbit_lo",
			"orbit_hi", "worst", "worst_lo", "worst_hi", "difference", "difference_lo", "difference_hi"),
			texts("verdict")),
		Rows: func(yield func([]any) bool) {
			three := func(e *fold.Estimate) []any {
				if e == nil {
					return make([]any, 3)
				}
				return cells(e.Mean, e.Lo, e.Hi)
			}
			for i := range t.Rows {
				r := &t.Rows[i]
				if !yield(slices.Concat([]any{doc.Models[r.Model], doc.Metrics[r.Metric], r.Orbit.N}, three(r.Rest),
					three(&r.Orbit), three(&r.Worst), three(r.Difference), []any{r.Verdict})) {
					return
				}
			}
		},
	}, nil
}

func searchTable(ctx context.Context, run *shelf.Run, doc *api.Run, q Request) (*table.Table, error) {
	var rows [][]any
	for m, name := range doc.Models {
		t, err := run.Search(ctx, api.SearchRequest{Set: q.Set, Metric: q.Metric, Model: m, Of: q.Of})
		if err != nil {
			return nil, &SetError{err}
		}
		for _, s := range t.Slices {
			rows = append(rows, slices.Concat(
				[]any{name, doc.Metrics[q.Metric], strings.Join(s.Conditions, " and "), s.Set.Rule, s.N},
				cells(s.Mean, s.Rest, s.Gap, s.Lo, s.Hi, s.P), []any{t.Tried}))
		}
	}
	by := "over the orbit"
	if q.Of == "change" {
		by = "by what moving changes"
	}
	return &table.Table{
		Title: fmt.Sprintf("Worst slices of %s in %s, %s", doc.Name, doc.MetricDoc[q.Metric].Title, by),
		Columns: slices.Concat(texts("model", "metric", "slice", "rule"),
			columns("n", "mean", "rest", "gap", "lo", "hi", "p", "tried")),
		Rows: slices.Values(rows),
	}, nil
}

func remarksTable(run *shelf.Run, doc *api.Run) (*table.Table, error) {
	said, _, err := run.Remarks()
	if err != nil {
		return nil, err
	}
	return &table.Table{
		Title:   "Notes and tags of " + doc.Name,
		Columns: texts("sample", "tags", "note"),
		Rows: func(yield func([]any) bool) {
			for _, s := range said.Samples {
				if !yield([]any{s.ID, strings.Join(s.Tags, "; "), s.Note}) {
					return
				}
			}
		},
	}, nil
}

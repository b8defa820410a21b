package server

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"

	"nero/present/table"
	"nero/serve/tables"
)

// getExport writes a table to keep.
func (s *Server) getExport(w http.ResponseWriter, r *request) error {
	run, doc, err := s.document(r)
	if err != nil {
		return err
	}
	name, ext, _ := strings.Cut(r.PathValue("file"), ".")
	if !slices.Contains(tables.Names(), name) {
		return missing("table %.40q: a run has %s", name, strings.Join(tables.Names(), ", "))
	}
	format, err := table.ParseFormat(ext)
	if err != nil {
		return missing("%v", err)
	}
	q := tables.Request{Table: name}
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
	if q.Against, err = r.query.choice("against", "truth", "self"); err != nil {
		return err
	}
	if q.Of, err = r.query.choice("of", "mean", "change"); err != nil {
		return err
	}
	t, err := tables.Of(r.Context(), s.o.Shelf, run, q)
	if set, ok := errors.AsType[*tables.SetError](err); ok {
		return asked("set", set.Err)
	}
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

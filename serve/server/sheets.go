package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"

	"nero/identify"
	"nero/serve/api"
)

func (s *Server) getSheet(w http.ResponseWriter, r *request) error {
	id := r.PathValue("id")
	if !oneID().MatchString(id) {
		return missing("%.100q is no name of a sheet", id)
	}
	a, err := s.o.Shelf.Sheet(id)
	if err != nil {
		return err
	}
	return sendJSON(w, r.Request, http.StatusOK, "", a)
}

// Bounds of what a request says about a problem.
const (
	maxAnswer = 200  // bytes of an answer
	maxNamed  = 1000 // bytes of the name of a file
)

// postIdentify applies the rules of package identify. It reads and writes no file: names are put into texts.
func (s *Server) postIdentify(w http.ResponseWriter, r *request) error {
	var in api.IdentifyRequest
	if err := body(r.Request, &in); err != nil {
		return err
	}
	if len(in.Model) > maxNamed || len(in.Data) > maxNamed {
		return bad("the body", "the name of a file has at most %d bytes", maxNamed)
	}
	out := &api.Identified{Questions: []identify.Question{}, Wrong: map[string]string{}, Files: []identify.Study{}}
	known := identify.Answers{}
	for _, q := range identify.Questions() {
		text, said := in.Answers[q.ID]
		if len(text) > maxAnswer {
			return bad("the body", "answers.%s has %d bytes; want at most %d", q.ID, len(text), maxAnswer)
		}
		delete(in.Answers, q.ID)
		if !said || text == "" {
			continue
		}
		taken, err := q.Take(text)
		if err != nil {
			out.Wrong[q.ID] = err.Error()
			continue
		}
		known[q.ID] = taken
	}
	for id := range in.Answers {
		return bad("the body", "answers.%.80q: there is no such question", id)
	}
	for _, q := range identify.Questions() {
		if q.Arises(known) {
			out.Questions = append(out.Questions, q)
		} else {
			delete(out.Wrong, q.ID)
		}
	}
	if known["data"] == "" {
		return sendJSON(w, r.Request, http.StatusOK, "", out)
	}
	var err error
	if out.Result, err = identify.Conclude(known, identify.Options{
		Model: in.Model, Data: in.Data, Seed: in.Seed,
	}); err != nil {
		return fmt.Errorf("identify: %w", err)
	}
	var page bytes.Buffer
	if err := out.Result.WriteMarkdown(&page); err != nil {
		return errors.Join(errors.New("symmetry.md"), err)
	}
	out.Files = append(out.Files, out.Result.Studies...)
	out.Files = append(out.Files, identify.Study{File: "answers.yaml", Text: string(out.Result.Answers.Write())},
		identify.Study{File: "symmetry.md", Text: page.String()})
	return sendJSON(w, r.Request, http.StatusOK, "", out)
}

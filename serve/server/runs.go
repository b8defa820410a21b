package server

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nero/data/space"
	"nero/run/eval"
	"nero/run/probe"
	"nero/run/slice"
	"nero/run/store"
	"nero/serve/api"
	"nero/serve/guard"
	"nero/serve/shelf"
)

// ids are the names of runs and audits as they may stand in an address.
var (
	runID  = late(`^[A-Za-z0-9_.-]{1,200}(\+[A-Za-z0-9_.-]{1,200})?$`)
	oneID  = late(`^[A-Za-z0-9_.-]{1,200}$`)
	taskID = late(`^[a-z]{1,20}-[0-9a-f]{16}$`)
)

// late is a pattern that is compiled when it is asked for: every start of the program would wait a millisecond for
// these, and few of them serve.
func late(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// busy is the problem of a server that has too much to do.
func busy(detail string) *guard.Problem {
	return &guard.Problem{
		Status: http.StatusServiceUnavailable, Code: "busy", Title: "The server is busy", Detail: detail,
		Remedy: "Ask again in a moment.", RetryAfter: time.Second,
	}
}

// problem is an error as a client gets it. What it does not know stays as it is: the guard keeps its text back.
func problem(err error) error {
	var p *guard.Problem
	var sample *eval.SampleError
	var refused *RefusedError
	switch {
	case errors.As(err, &p):
		return err
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, shelf.ErrUnknown), errors.Is(err, probe.ErrNotFound):
		return missing("%v", err)
	case errors.Is(err, shelf.ErrNotTogether):
		return &guard.Problem{
			Status: http.StatusConflict, Code: "not-together", Title: "These runs cannot be laid over each other",
			Detail: err.Error(),
			Remedy: "Choose two runs over the same group, elements and samples.",
		}
	case errors.Is(err, shelf.ErrBad):
		return bad("the request", "%v", err)
	case errors.Is(err, shelf.ErrChanged):
		return &guard.Problem{
			Status: http.StatusPreconditionFailed, Code: "changed", Title: "Somebody else was faster",
			Detail: err.Error(),
			Remedy: "Read it again, make the change there, and send it with the new ETag.",
		}
	case errors.Is(err, shelf.ErrReadOnly):
		return &guard.Problem{
			Status: http.StatusForbidden, Code: "read-only", Title: "Nothing can be kept here", Detail: err.Error(),
			Remedy: "Make the run folder writable for this program, or keep it with one of the runs.",
		}
	case errors.Is(err, slice.ErrDamaged):
		return &guard.Problem{
			Status: http.StatusConflict, Code: "damaged", Title: "A file beside the run is damaged",
			Detail: err.Error(),
			Remedy: "Mend the file in the run folder, or move it away to begin anew.",
		}
	case errors.Is(err, probe.ErrBusy):
		return busy(err.Error())
	case errors.Is(err, store.ErrBusy):
		return &guard.Problem{
			Status: http.StatusConflict, Code: "in-use", Title: "Another process writes this run", Detail: err.Error(),
			Remedy: "Wait until it is done, or end it; what it writes shows here as it comes.",
		}
	case errors.Is(err, probe.ErrElement):
		return &guard.Problem{
			Status: http.StatusBadRequest, Code: "element", Title: "That is no element of the group",
			Detail: err.Error(),
			Remedy: "orbit.chart of the run says what its coordinates may be.",
		}
	case errors.Is(err, probe.ErrUnavailable):
		return &guard.Problem{
			Status: http.StatusConflict, Code: "unavailable", Title: "This cannot be asked now", Detail: err.Error(),
			Remedy: "live of the run says what can be.",
		}
	case errors.As(err, &refused):
		return noJob(refused.Reason, "Continue the run with the command that began it, which says more.")
	case errors.Is(err, store.ErrCorrupt):
		return &guard.Problem{
			Status: http.StatusConflict, Code: "damaged", Title: "The run is damaged", Detail: err.Error(),
			Remedy: "Copy the folder again from where it came, or run the study again.",
		}
	case eval.Failed(err):
		return &guard.Problem{
			Status: http.StatusUnprocessableEntity, Code: "model", Title: "The model gave no answer",
			Detail: err.Error(),
			Remedy: "Other elements, samples and models are not concerned.",
		}
	case errors.As(err, &sample):
		return &guard.Problem{
			Status: http.StatusUnprocessableEntity, Code: "sample", Title: "This sample cannot be shown",
			Detail: err.Error(),
			Remedy: "The other samples are not concerned.",
		}
	}
	return err
}

// problemOf is an error as a problem that may be shown.
func problemOf(err error) *guard.Problem {
	if p, ok := errors.AsType[*guard.Problem](problem(err)); ok {
		return p
	}
	return &guard.Problem{
		Status: http.StatusInternalServerError, Code: "internal", Title: "The server made a mistake",
		Detail: "The reason is in the server's log.",
	}
}

// asked is an error about samples that a request chooses: one that is not there makes the request wrong, and not its
// address.
func asked(what string, err error) error {
	var rule *slice.RuleError
	switch {
	case errors.As(err, &rule):
		return &guard.Problem{
			Status: http.StatusBadRequest, Code: "rule", Title: "The rule cannot be understood", Detail: err.Error(),
			Remedy: "docs/SLICES.md says what a rule may say.",
		}
	case errors.Is(err, shelf.ErrUnknown), errors.Is(err, shelf.ErrBad):
		return bad(what, "%s", strings.TrimPrefix(err.Error(), what+": "))
	}
	return err
}

// run is the run that an address names.
func (s *Server) run(r *request) (*shelf.Run, error) {
	id := r.PathValue("id")
	if !runID().MatchString(id) {
		return nil, missing("%.100q is no name of a run", id)
	}
	return s.o.Shelf.Run(id)
}

// document is a run and its document, with what the server knows of it.
func (s *Server) document(r *request) (*shelf.Run, *api.Run, error) {
	run, err := s.run(r)
	if err != nil {
		return nil, nil, err
	}
	doc := run.Document()
	s.state(&doc.RunCard)
	return run, &doc, nil
}

// state adds to a run whether this server is computing it.
func (s *Server) state(c *api.RunCard) {
	if t, _, _, ok := s.tasks.find(idOf(kindRun, c.ID)); ok && (t.State == waiting || t.State == running) {
		c.State.Running, c.State.By, c.State.Seconds = true, "", t.Seconds
	}
}

// sampleOf is the run and the sample that an address names.
func (s *Server) sampleOf(r *request) (*shelf.Run, int, error) {
	run, err := s.run(r)
	if err != nil {
		return nil, 0, err
	}
	i, ok := count(r.PathValue("i"))
	if n := run.Len(); !ok || i >= n {
		return nil, 0, missing("sample %.40q: the run has %d samples, numbered from 0", r.PathValue("i"), n)
	}
	return run, i, nil
}

func (s *Server) getRuns(w http.ResponseWriter, r *request) error {
	all := *s.o.Shelf.Runs()
	all.Runs = slices.Clone(all.Runs)
	for i := range all.Runs {
		s.state(&all.Runs[i])
	}
	return sendJSON(w, r.Request, http.StatusOK, "", all)
}

func (s *Server) getRun(w http.ResponseWriter, r *request) error {
	_, doc, err := s.document(r)
	if err != nil {
		return err
	}
	return sendJSON(w, r.Request, http.StatusOK, "", doc)
}

func (s *Server) getSamples(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	all, err := run.Samples()
	if err != nil {
		return err
	}
	return sendJSON(w, r.Request, http.StatusOK, "", all)
}

func (s *Server) getSample(w http.ResponseWriter, r *request) error {
	run, i, err := s.sampleOf(r)
	if err != nil {
		return err
	}
	one, err := run.Sample(i)
	if err != nil {
		return err
	}
	return sendJSON(w, r.Request, http.StatusOK, "", one)
}

func (s *Server) postAggregate(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	var ask api.AggregateRequest
	if err := body(r.Request, &ask); err != nil {
		return err
	}
	if err := checkAggregate(&ask, run); err != nil {
		return err
	}
	a, err := run.Aggregate(r.Context(), ask)
	if err != nil {
		return asked("the body", err)
	}
	return sendJSON(w, r.Request, http.StatusOK, "", a)
}

// checkAggregate holds a request against the run.
func checkAggregate(ask *api.AggregateRequest, run *shelf.Run) error {
	metrics, models := len(run.Metrics()), len(run.Models())
	if err := checkSet("set", &ask.Set); err != nil {
		return err
	}
	if ask.Metric < 0 || ask.Metric >= metrics {
		return bad("metric", "%d, want a number from 0 to %d", ask.Metric, metrics-1)
	}
	for _, list := range [][]int{ask.Models, ask.Pair} {
		if len(list) > models {
			return bad("models", "%d of them, and the run has %d", len(list), models)
		}
		for _, m := range list {
			if m < 0 || m >= models {
				return bad("models", "%d, want numbers from 0 to %d", m, models-1)
			}
		}
	}
	if ask.Pair != nil && (len(ask.Pair) != 2 || ask.Pair[0] == ask.Pair[1]) {
		return bad("pair", "%d models, want two different ones", len(ask.Pair))
	}
	return nil
}

func (s *Server) postSelect(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	var set api.Set
	if err := body(r.Request, &set); err != nil {
		return err
	}
	if err := checkSet("the body", &set); err != nil {
		return err
	}
	bits, err := run.Select(set)
	if err != nil {
		return asked("the body", err)
	}
	return sendJSON(w, r.Request, http.StatusOK, "", api.Selected{N: bits.Count(), Bits: bits.String()})
}

// ask answers a question about a set of samples.
func ask[Q, A any](of func(*shelf.Run, context.Context, Q) (A, error)) func(*Server, http.ResponseWriter,
	*request) error {
	return func(s *Server, w http.ResponseWriter, r *request) error {
		run, err := s.run(r)
		if err != nil {
			return err
		}
		var q Q
		if err := body(r.Request, &q); err != nil {
			return err
		}
		if in, ok := any(&q).(interface{ Samples() *api.Set }); ok {
			if err := checkSet("set", in.Samples()); err != nil {
				return err
			}
		}
		a, err := of(run, r.Context(), q)
		if err != nil {
			return asked("the body", err)
		}
		return sendJSON(w, r.Request, http.StatusOK, "", a)
	}
}

func (s *Server) getSlices(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	all, tag, err := run.Slices()
	if err != nil {
		return err
	}
	return sendJSON(w, r.Request, http.StatusOK, tag, all)
}

func (s *Server) putSlices(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	var all api.Slices
	if err := body(r.Request, &all); err != nil {
		return err
	}
	for i := range all.Slices {
		if err := checkSet("slices["+strconv.Itoa(i)+"].set", &all.Slices[i].Set); err != nil {
			return err
		}
	}
	match, err := matched(r, "slices")
	if err != nil {
		return err
	}
	kept, tag, err := run.PutSlices(all, match)
	if err != nil {
		return asked("the body", err)
	}
	return sendJSON(w, r.Request, http.StatusOK, tag, kept)
}

func (s *Server) getRemarks(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	all, tag, err := run.Remarks()
	if err != nil {
		return err
	}
	return sendJSON(w, r.Request, http.StatusOK, tag, all)
}

func (s *Server) putRemarks(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	var all api.Remarks
	if err := body(r.Request, &all); err != nil {
		return err
	}
	match, err := matched(r, "remarks")
	if err != nil {
		return err
	}
	kept, tag, err := run.PutRemarks(all, match)
	if err != nil {
		return asked("the body", err)
	}
	return sendJSON(w, r.Request, http.StatusOK, tag, kept)
}

// matched is the header that says what a change replaces.
func matched(r *request, what string) (string, error) {
	if match := r.Header.Get("If-Match"); match != "" {
		return match, nil
	}
	return "", &guard.Problem{
		Status: http.StatusPreconditionRequired, Code: "no-tag", Title: "The change does not say what it changes",
		Detail: "If-Match is missing.", Remedy: "Read the " + what + " first and send their ETag in If-Match.",
	}
}

func (s *Server) getAudit(w http.ResponseWriter, r *request) error {
	id := r.PathValue("id")
	if !oneID().MatchString(id) {
		return missing("%.100q is no name of an audit", id)
	}
	f, err := s.o.Shelf.Findings(id)
	if err != nil {
		return err
	}
	return sendJSON(w, r.Request, http.StatusOK, "", f)
}

func (s *Server) deleteTask(w http.ResponseWriter, r *request) error {
	id := r.PathValue("task")
	if !taskID().MatchString(id) {
		return missing("%.100q is no name of a task", id)
	}
	t, ok := s.tasks.stop(id)
	if !ok {
		return missing("there is no task %s", id)
	}
	return sendJSON(w, r.Request, http.StatusOK, "", t)
}

// noJob is why a run cannot go on.
func noJob(detail, remedy string) error {
	return &guard.Problem{
		Status: http.StatusConflict, Code: "no-job", Title: "This run cannot go on here",
		Detail: detail, Remedy: remedy,
	}
}

// postJob goes on with a run.
func (s *Server) postJob(w http.ResponseWriter, r *request) error {
	run, doc, err := s.document(r)
	if err != nil {
		return err
	}
	switch {
	case s.o.Launcher == nil:
		return noJob("The server was started without the right to run models on its own.",
			"Start it without --no-live, or continue the run with the command that began it.")
	case doc.State.Complete:
		return noJob("It is complete.", "Nothing is missing.")
	case strings.Contains(doc.ID, "+"):
		return noJob("It is two runs side by side.", "Go on with each of them by its own name.")
	}
	id := idOf(kindRun, doc.ID)
	s.tasks.settle(r.Context(), id, patience) // or the answer would be the task that is ending
	t, err := s.tasks.start(api.Task{ID: id, Kind: kindRun, Run: doc.ID, Title: "Go on with " + doc.Name},
		func(ctx context.Context, tell func(float64)) (*container, error) {
			total := max(doc.State.Total, 1)
			return nil, s.o.Launcher.Launch(ctx, run, func(kept int) { tell(float64(kept) / float64(total)) })
		})
	if err != nil {
		return err
	}
	// Why it cannot go on shows at once or never, as a rule, and is told to who asked.
	s.tasks.await(r.Context(), id, patience)
	if now, _, err, ok := s.tasks.find(id); ok && err != nil {
		return err
	} else if ok {
		t = now
	}
	return sendJSON(w, r.Request, http.StatusAccepted, "", t)
}

// patience is how long the answer to a request for a run to go on waits for the run to begin, and before for one that
// is being stopped to end.
const patience = 2 * time.Second

// deleteJob stops a run that this server goes on with.
func (s *Server) deleteJob(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	t, ok := s.tasks.stop(idOf(kindRun, run.ID()))
	if !ok {
		return missing("this server is not computing run %s", run.ID())
	}
	return sendJSON(w, r.Request, http.StatusAccepted, "", t)
}

// getReport writes the interface with the run inside.
func (s *Server) getReport(w http.ResponseWriter, r *request) error {
	run, err := s.run(r)
	if err != nil {
		return err
	}
	if s.o.Report == nil {
		return &guard.Problem{
			Status: http.StatusNotImplemented, Code: "no-report", Title: "This server writes no report",
			Detail: "The program was built without it.", Remedy: "nero report writes pictures and a page of a run.",
		}
	}
	select {
	case s.writing <- struct{}{}:
	case <-r.Context().Done():
		return r.Context().Err()
	}
	var page bytes.Buffer // whole or not at all: a page that ends in the middle would look like one
	err = func() error {
		defer func() { <-s.writing }() // before it is sent, which may take a slow reader long
		return s.o.Report(r.Context(), &page, run, r.URL.Query())
	}()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", attachment(run.ID()+".html"))
	return send(w, r.Request, http.StatusOK, typeHTML, "", page.Bytes())
}

// attachment is a Content-Disposition for a file to keep.
func attachment(name string) string {
	safe := strings.Map(func(c rune) rune {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '.', c == '-', c == '_':
			return c
		}
		return '-'
	}, name)
	return `attachment; filename="` + safe + `"`
}

// getThumb is the input as a small picture, at the identity or at an element.
func (s *Server) getThumb(w http.ResponseWriter, r *request) error {
	run, i, err := s.sampleOf(r)
	if err != nil {
		return err
	}
	plan, _, _ := run.Plan()
	g := []float64(plan.Identity())
	if r.query.has("g") {
		if g, err = r.query.element(); err != nil {
			return err
		}
	}
	in, err := run.Input(r.Context(), i, g)
	if err != nil {
		return err
	}
	m, sketched := space.Portrait(in.Value)
	if m == nil {
		return missing("sample %d is no picture", i)
	}
	shown := in.Range
	if sketched {
		shown = [2]float64{0, 1}
	}
	var b bytes.Buffer
	if err := thumbnail(&b, m, shown); err != nil {
		return err
	}
	return send(w, r.Request, http.StatusOK, typePNG, "", b.Bytes())
}

// thumbSide is the largest side of a small picture.
const thumbSide = 64

// thumbnail writes a picture as PNG, made smaller by averaging where it is larger than that.
func thumbnail(w io.Writer, m *space.Image, shown [2]float64) error {
	step := max(1, (max(m.H, m.W)+thumbSide-1)/thumbSide)
	h, wd := max(1, m.H/step), max(1, m.W/step)
	lo, hi := shown[0], shown[1]
	shade := func(c, y, x int) uint8 {
		sum, n := 0.0, 0
		for v := y * step; v < min(m.H, (y+1)*step); v++ {
			for u := x * step; u < min(m.W, (x+1)*step); u++ {
				sum += m.Pix[(c*m.H+v)*m.W+u]
				n++
			}
		}
		return eightBits(sum/float64(max(n, 1)), lo, hi)
	}
	if m.C < 3 {
		o := image.NewGray(image.Rect(0, 0, wd, h))
		for y := range h {
			for x := range wd {
				o.SetGray(x, y, color.Gray{Y: shade(0, y, x)})
			}
		}
		return png.Encode(w, o)
	}
	o := image.NewNRGBA(image.Rect(0, 0, wd, h))
	for y := range h {
		for x := range wd {
			o.SetNRGBA(x, y, color.NRGBA{R: shade(0, y, x), G: shade(1, y, x), B: shade(2, y, x), A: 255})
		}
	}
	return png.Encode(w, o)
}

// eightBits is the byte that stands for a value within a range, 0 for one that is not a number.
func eightBits(v, lo, hi float64) uint8 {
	f := (v - lo) / (hi - lo)
	switch {
	case !(f > 0):
		return 0
	case f >= 1:
		return 255
	}
	return uint8(float64(f*255) + 0.5)
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"nero/present/reduce"
	"nero/serve/api"
	"nero/serve/guard"
	"nero/serve/shelf"
)

// layout is a question for the samples in two dimensions.
type layout struct {
	method reduce.Method
	metric int
	models []int
	// rows that shape the fit; nil for all
	fit  []int
	seed uint64
}

// metricOf is a metric by its index or its name.
func metricOf(q query, names []string) (int, error) {
	text, ok := q["metric"]
	if !ok {
		return 0, nil
	}
	if k := slices.Index(names, text); k >= 0 {
		return k, nil
	}
	if k, ok := count(text); ok && k < len(names) {
		return k, nil
	}
	return 0, bad("metric", "%.80q, want one of %s, or its number from 0 to %d", text, strings.Join(names, ", "),
		len(names)-1)
}

// getEmbedding is the samples in two dimensions, or the task that finds out.
func (s *Server) getEmbedding(w http.ResponseWriter, r *request) error {
	run, doc, err := s.document(r)
	if err != nil {
		return err
	}
	var words []string
	for _, m := range doc.Methods {
		words = append(words, m.Name)
	}
	if len(words) == 0 {
		return missing("run %s has no layouts", doc.ID)
	}
	name, err := r.query.choice("method", words...)
	if err != nil {
		return err
	}
	method := doc.Methods[slices.Index(words, name)]
	l := layout{method: reduce.Method(name)}
	if l.metric, err = metricOf(r.query, doc.Metrics); err != nil {
		return err
	}
	models, err := r.query.models(len(doc.Models))
	if err != nil {
		return err
	}
	l.models = sortedModels(models, len(doc.Models))
	if text, ok := r.query["seed"]; ok {
		if l.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return bad("seed", "%.40q, want a whole number from 0 on", text)
		}
	}
	set, err := r.query.set()
	if err != nil {
		return err
	}
	chosen := ""
	if r.query.has("slice") || r.query.has("set") {
		bits, err := run.Select(set)
		if err != nil {
			return asked("slice", err)
		}
		chosen = bits.String()
		l.fit = slices.Collect(bits.All())
		if len(l.fit) == 0 {
			return bad("slice", "it has no samples, and a layout is fitted to some")
		}
	}
	// The values under a key never change: a run that fills in has another generation. The name of the task is a tag
	// that browsers keep when this server is long gone, and another one shows another run under the same id, or has the
	// same run fill in.
	key := fmt.Sprintf("%s\x00%s\x00%d\x00%d\x00%s\x00%d\x00%v\x00%s\x00%d", doc.ID, doc.Digest, doc.State.Done,
		run.Generation(), l.method, l.metric, l.models, chosen, l.seed)
	id := idOf(kindEmbedding, key)
	if _, c, err, ok := s.tasks.find(id); ok && c != nil {
		return sendArrays(w, r.Request, `"`+id+`"`, c)
	} else if err != nil {
		return err
	}
	if !s.slow(method) {
		c, err := compute(r.Context(), run, doc, l, s.o.Workers, nil)
		if err != nil {
			return err
		}
		title := method.Title + " of " + doc.Metrics[l.metric]
		s.tasks.keep(api.Task{ID: id, Kind: kindEmbedding, Run: doc.ID, Title: title}, c)
		return sendArrays(w, r.Request, `"`+id+`"`, c)
	}
	t, err := s.tasks.start(api.Task{
		ID: id, Kind: kindEmbedding, Run: doc.ID,
		Title: method.Title + " of " + doc.Metrics[l.metric],
	},
		func(ctx context.Context, tell func(float64)) (*container, error) {
			return compute(ctx, run, doc, l, s.o.Workers, tell)
		})
	if err != nil {
		return err
	}
	w.Header().Set("Retry-After", "1")
	return sendJSON(w, r.Request, http.StatusAccepted, "", t)
}

// compute lays the samples out.
func compute(ctx context.Context, run *shelf.Run, doc *api.Run, l layout, workers int, tell func(float64)) (*container,
	error,
) {
	var parts []reduce.Matrix
	var streams []*shelf.Stream
	for _, m := range l.models {
		if l.method == reduce.PCA { // it goes through the rows in order, a few times
			s, err := run.Stream(m, l.metric)
			if err != nil {
				return nil, err
			}
			if s != nil {
				parts, streams = append(parts, s), append(streams, s)
				continue
			}
		}
		v, err := run.Curves(m, l.metric)
		if err != nil {
			return nil, err
		}
		p, err := reduce.NewDense(doc.Samples, doc.Elements, v)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	x, err := reduce.Join(parts...)
	if err != nil {
		return nil, err
	}
	e, err := reduce.Reduce(ctx, l.method, x,
		reduce.Options{Seed: l.seed, Fit: l.fit, Workers: workers, Progress: tell})
	for _, s := range streams {
		if err := s.Err(); err != nil {
			return nil, err
		}
	}
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return nil, err
		}
		return nil, &guard.Problem{
			Status: http.StatusUnprocessableEntity, Code: "layout", Title: "These samples cannot be laid out like this",
			Detail: err.Error(),
			Remedy: "Choose another method, metric or slice.",
		}
	}
	axes, err := json.Marshal(e.Axes)
	if err != nil {
		return nil, err
	}
	notes, err := json.Marshal(there(e.Notes))
	if err != nil {
		return nil, err
	}
	return &container{
		meta: map[string]string{
			"axes": string(axes), "notes": string(notes), "fitted": strconv.Itoa(e.Fitted),
			"placed": strconv.Itoa(e.Placed), "missing": strconv.Itoa(e.Missing),
			"method": string(l.method), "metric": doc.Metrics[l.metric],
		},
		tensors: []tensor{f32("xy", e.XY, doc.Samples, 2)},
	}, nil
}

// keep remembers a result that was computed on the way.
func (t *tasks) keep(a api.Task, c *container) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[a.ID] != nil {
		return
	}
	a.State, a.Fraction = done, 1
	k := &task{Task: a, result: c, cancel: func() {}, begun: make(chan struct{})}
	k.say()
	k.bytes = c.size()
	t.bytes += k.bytes
	t.known[a.ID] = k
	t.order = append(t.order, k)
	t.trim()
}

// size is the number of bytes of the values.
func (c *container) size() int {
	n := 0
	for i := range c.tensors {
		n += values(c.tensors[i].shape) * c.tensors[i].dtype().size()
	}
	return n
}

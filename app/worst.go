package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"image"
	"math"
	"slices"
	"strconv"

	"nero/data/space"
	"nero/present/report"
	present "nero/present/table"
	"nero/run/probe"
	"nero/run/store"
	"nero/serve/api"
	"nero/serve/shelf"
	"nero/serve/tables"
	"nero/symmetry/group"
)

// mostWorst is how many of the worst inputs a report shows, all models together.
const mostWorst = 12

// worst fills in what a report shows of the worst inputs by a metric, and of what moved samples are taken for. It reads
// the inputs and runs no model.
func (a *App) worst(ctx context.Context, dir string, metric int, in *report.Input) error {
	sh, err := shelf.Open(ctx, []string{dir}, shelf.Options{
		Version: a.Version, Now: a.Now, Metrics: a.Parts.metrics(), Groups: a.Parts.Groups,
		Probe: func(ctx context.Context, r *store.Run) (shelf.Prober, error) {
			return probe.OpenInputs(ctx, r, a.options(Engine{}), probe.Options{})
		},
	})
	if err != nil {
		return oneLine(err)
	}
	defer sh.Close() //nolint:errcheck // nothing was written
	run, err := a.onlyRun(sh)
	if err != nil {
		return err
	}
	doc := run.Document()
	chosen, err := worstOf(run, &doc, metric)
	if err != nil {
		return err
	}
	for _, c := range chosen {
		one, err := run.Sample(c.sample)
		if err != nil {
			return err
		}
		k := report.Case{
			Sample: one.ID, Class: classOf(&doc, one.Label), Element: doc.Orbit.Labels[c.element],
			For: doc.Models[c.model],
		}
		k.Rest, k.Moved = a.shots(ctx, run, &doc, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rest := doc.Orbit.Identity
		for m, name := range doc.Models {
			s := report.Said{Model: name, RestValue: math.NaN(), MovedValue: math.NaN()}
			if m < len(one.Curves) && metric < len(one.Curves[m]) {
				curve := one.Curves[m][metric]
				s.MovedValue = float64(curve[c.element])
				if rest >= 0 {
					s.RestValue = float64(curve[rest])
				}
			}
			if m < len(one.Top) {
				s.Moved = classOf(&doc, one.Top[m][c.element])
				if rest >= 0 {
					s.Rest = classOf(&doc, one.Top[m][rest])
				}
			}
			k.Said = append(k.Said, s)
		}
		in.Worst = append(in.Worst, k)
	}
	return a.taken(ctx, sh, run, &doc, in)
}

// placed is a sample at the element at which a model is worst on it.
type placed struct{ sample, element, model int }

// worstOf are the samples with the worst single value of each model by turns, no sample twice.
func worstOf(run *shelf.Run, doc *api.Run, metric int) ([]placed, error) {
	lower := doc.MetricDoc[metric].Better == "lower"
	lists := make([][]placed, len(doc.Models))
	for m := range doc.Models {
		st, err := run.Stats(m, metric)
		if err != nil {
			return nil, err
		}
		value := func(p placed) float32 {
			if lower {
				return -st.Max[p.sample]
			}
			return st.Min[p.sample]
		}
		for i, k := range st.Worst {
			if k >= 0 {
				lists[m] = append(lists[m], placed{i, int(k), m})
			}
		}
		slices.SortStableFunc(lists[m], func(x, y placed) int { return cmp.Compare(value(x), value(y)) })
	}
	var out []placed
	seen := map[int]bool{}
	for at := 0; len(out) < mostWorst; at++ {
		more := false
		for _, l := range lists {
			if at >= len(l) {
				continue
			}
			more = true
			if !seen[l[at].sample] && len(out) < mostWorst {
				seen[l[at].sample] = true
				out = append(out, l[at])
			}
		}
		if !more {
			break
		}
	}
	return out, nil
}

// shots are an input as it is and moved; nil where it cannot be read or has no picture.
func (a *App) shots(ctx context.Context, run *shelf.Run, doc *api.Run, c placed) (rest, moved image.Image) {
	shot := func(g group.Element) image.Image {
		in, err := run.Input(ctx, c.sample, g)
		if err != nil {
			return nil
		}
		m, sketched := space.Portrait(in.Value)
		if m == nil {
			return nil
		}
		if sketched {
			return shaded(m, 0, 1)
		}
		return shaded(m, in.Range[0], in.Range[1])
	}
	return shot(run.Identity()), shot(doc.Orbit.Elements[c.element])
}

// classOf is a class in words, "" for none.
func classOf(doc *api.Run, c int) string {
	switch {
	case c < 0:
		return ""
	case c < len(doc.Classes) && doc.Classes[c] != "":
		return doc.Classes[c]
	}
	return strconv.Itoa(c)
}

// taken fills in what moved samples are taken for: by their label, or where there are none by the answer at rest. Runs
// without classes have nothing to fill in.
func (a *App) taken(ctx context.Context, sh *shelf.Shelf, run *shelf.Run, doc *api.Run, in *report.Input) error {
	if doc.Output != "scores" {
		return nil
	}
	against := "truth"
	if !doc.Labelled {
		against = "self"
	}
	all, err := run.Samples()
	if err != nil {
		return err
	}
	for m, name := range doc.Models {
		t, err := run.Turns(ctx, api.TurnsRequest{Model: m, Against: against})
		if errors.Is(err, shelf.ErrUnknown) || errors.Is(err, shelf.ErrBad) {
			return nil // there are no answers, or no identity
		}
		if err != nil {
			return err
		}
		k := report.Taken{Model: name, Self: against == "self", Confidence: t.Confidence}
		for _, f := range t.From {
			k.Classes, k.N = append(k.Classes, classOf(doc, f.Class)), append(k.N, f.N)
		}
		for _, e := range t.Entries {
			x := report.TakenEntry{
				From: classOf(doc, e.From), To: classOf(doc, e.To), Share: float64(e.Share), Lo: float64(e.Lo),
				Hi: float64(e.Hi), Samples: e.Samples,
			}
			if e.Sample >= 0 && e.Element >= 0 {
				x.Sample, x.Element = all.IDs[e.Sample], doc.Orbit.Labels[e.Element]
			}
			k.Entries = append(k.Entries, x)
		}
		in.Taken = append(in.Taken, k)
	}
	t, err := tables.Of(ctx, sh, run, tables.Request{Table: "confusion", Against: against})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := present.Write(&b, present.CSV, t); err != nil {
		return err
	}
	in.Confusion = b.Bytes()
	return nil
}

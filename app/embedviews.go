package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/views"
	"nero/encoder"
	"nero/internal/disk"
	"nero/measure/embedding"
	"nero/model/engine/remote"
	"nero/present/words"
	"nero/run/job"
	"nero/run/workload"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"
)

// embedViews asks how far views of objects are apart that somebody has listed.
func (a *App) embedViews(ctx context.Context, s *job.Study, o EmbedOptions) (*EmbedResult, error) {
	if err := a.elementsOnly(s, o); err != nil {
		return nil, err
	}
	o.Value = cmp.Or(o.Value, s.Embedding.Value)
	form, err := o.check(a, s)
	if err != nil {
		return nil, err
	}
	if err := only(s, o.Only); err != nil {
		return nil, err
	}
	set, texts, err := readViews(s)
	if err != nil {
		return nil, err
	}
	texts = texts || s.Input.Space == inputBytes
	if texts && o.Value != "" {
		return nil, fmt.Errorf("%s %s: an endpoint that reads texts has no graph: leave it out, and the answers are "+
			"the features", a.option("value"), o.Value)
	}
	l := &listing{app: a, study: s, o: o, set: set, dir: filepath.Dir(s.Data.Views)}
	if err := l.choose(); err != nil {
		return nil, err
	}
	ask := l.pictures
	if texts {
		ask = l.texts
	}
	r := &encoder.Report{
		Format: encoder.FormatNumber, Seed: s.Seed, Group: job.Given,
		Confidence: encoder.Number(cmp.Or(s.Audit.Confidence, job.PresetConfidence)),
		Measure:    "each two of an object are given to show one thing", Elements: set.Views,
	}
	if s.Embedding.Chain {
		r.Measure = "those next to each other are given to show one thing"
	}
	if r.Models, err = ask(ctx); err != nil {
		return nil, err
	}
	r.Samples.Confirm, r.Samples.Objects = len(l.asked.names), l.asked.things() // also where nothing is told of them
	return concluded(r, form, o.Out)
}

// elementsOnly refuses what is asked of elements of a group.
func (a *App) elementsOnly(s *job.Study, o EmbedOptions) error {
	const why = "is asked of samples that a group moves, and given views have none: leave it out, or name " +
		"data.images and a group"
	if s.Embedding.Sequence.Views != "" {
		return s.Errorf("embedding.sequence", why)
	}
	if o.Elements > 0 {
		return fmt.Errorf("%s: %s", a.option("elements"), why)
	}
	return a.featuresOnly(s, o, why)
}

// featuresOnly refuses what is asked of features alone.
func (a *App) featuresOnly(s *job.Study, o EmbedOptions, why string) error {
	e := s.Embedding
	for _, x := range []struct {
		given     bool
		flag, key string
	}{
		{len(o.What) > 0, a.option("what"), ""},
		{len(e.What) > 0, "", "embedding.what"},
		{o.Against != "", a.option("against"), ""},
		{o.AgainstValue != "", a.option("against-value"), ""},
		{e.Against != "", "", "embedding.against"},
		{e.Anchors > 0, "", "embedding.anchors"},
	} {
		switch {
		case x.given && x.key != "":
			return s.Errorf(x.key, "%s", why)
		case x.given:
			return fmt.Errorf("%s: %s", x.flag, why)
		}
	}
	return nil
}

// listing is given views whose features are read.
type listing struct {
	app   *App
	study *job.Study
	o     EmbedOptions
	set   *views.Set
	dir   string
	// what models are asked about
	asked *askedViews
	// what asks more of the things, "" where all are asked
	more string
}

// askedViews are the different inputs of a listing.
type askedViews struct {
	// objects have the input of each view, -1 for none
	objects [][]int
	// names say what each input is
	names []string
}

// things are how many the objects show.
func (a *askedViews) things() int {
	seen := map[int]bool{}
	for _, t := range encoder.Things(a.objects, len(a.names)) {
		seen[t] = true
	}
	delete(seen, -1) // of an object without an input
	return len(seen)
}

// inputs are those whose keys differ.
func (l *listing) inputs(key func(views.Input) (string, error)) (*askedViews, error) {
	a, at := &askedViews{}, map[string]int{}
	for _, t := range l.set.Objects {
		var of []int
		for _, name := range l.set.Views {
			in, ok := t.Views[name]
			if !ok {
				of = append(of, -1)
				continue
			}
			k, err := key(in)
			if err != nil {
				return nil, err
			}
			i, ok := at[k]
			if !ok {
				i = len(at)
				at[k] = i
				a.names = append(a.names, t.Name+" "+name)
			}
			of = append(of, i)
		}
		a.objects = append(a.objects, of)
	}
	return a, nil
}

// choose keeps so many things as may be asked, whole: objects that share an input are one.
func (l *listing) choose() error {
	a, err := l.inputs(func(in views.Input) (string, error) { return in.File + "\x00" + in.Text, nil })
	if err != nil {
		return err
	}
	thing, count := encoder.Things(a.objects, len(a.names)), a.things()
	most := cmp.Or(l.o.Samples, embedSamples)
	if count <= most {
		return nil
	}
	chosen, err := dataset.Select(nil, count, most, false, l.study.Seed)
	if err != nil {
		return err
	}
	keep := map[int]bool{}
	for _, t := range chosen {
		keep[t] = true
	}
	all := l.set.Objects
	l.set.Objects = nil
	for k, x := range all {
		if keep[thing[k]] {
			l.set.Objects = append(l.set.Objects, x)
		}
	}
	l.more = "name a larger " + l.app.option("samples")
	l.app.notef("%s of %s things are asked; %s takes others", words.Count(most), words.Count(count),
		l.app.option("samples"))
	return nil
}

// take looks at the features of a model, a row for each input.
func (l *listing) take(a *askedViews, model, digest, value string, at *mat.Dense) (*encoder.Model, error) {
	s := &encoder.Listed{
		Model: model, Digest: digest, Value: value, Views: l.set.Views, Objects: a.objects, Inputs: a.names, At: at,
		More: l.more, Chain: l.study.Embedding.Chain, Seed: l.study.Seed, Confidence: l.study.Audit.Confidence,
	}
	m, err := s.Take()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.study.Data.Views, err)
	}
	return m, nil
}

// pictures asks models that read pictures about files.
func (l *listing) pictures(ctx context.Context) ([]*encoder.Model, error) {
	w, at, err := l.app.openPictures(ctx, l.study, l.app.alone(l.o.Engine), l.set, l.dir)
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	var values []space.Value
	seen := map[string]bool{}
	a, err := l.inputs(func(in views.Input) (string, error) {
		x, err := w.Eval.Of(at[in.File])
		if err != nil {
			return "", err
		}
		d := digest(x.Value)
		if !seen[d] {
			seen[d] = true
			values = append(values, x.Value)
		}
		return d, nil
	})
	if err != nil {
		return nil, err
	}
	l.asked = a
	f := &features{app: l.app, w: w, o: l.o}
	var out []*encoder.Model
	for _, m := range w.Eval.Models {
		found, err := l.picturesOf(ctx, f, m.Name, a, values)
		if err != nil {
			return nil, err
		}
		out = append(out, found)
	}
	return out, nil
}

// batchOfViews is how many inputs are asked before it is told how far the work is.
const batchOfViews = 64

func (l *listing) picturesOf(ctx context.Context, f *features, model string, a *askedViews, values []space.Value) (
	*encoder.Model, error,
) {
	step := begin(l.app.tell, TaskEmbed, model, "predictions")
	defer step.end()
	step.size(len(values))
	r, err := f.open(model, f.o.Value, f.app.option("value"))
	if err != nil {
		return nil, err
	}
	defer r.close()
	var all []*mat.Dense
	width := 0
	for i := 0; i < len(values); i += batchOfViews {
		some := values[i:min(i+batchOfViews, len(values))]
		got, err := r.of(ctx, some)
		if err != nil {
			return nil, err
		}
		switch _, d := got.Dims(); {
		case width != 0 && d != width:
			return nil, widths(model, r.value, r.remedy, width, d)
		case d > mostFeatures/len(values):
			other := ""
			if r.inside != nil {
				other = ", or for another value with " + l.app.option("value")
			}
			return nil, fmt.Errorf("%s: %s has %s numbers a sample, of %s that is more than %s at once: ask for fewer "+
				"with %s%s", model, r.value, words.Count(d), words.Plural(len(values), "input", "inputs"),
				words.Count(mostFeatures), l.app.option("samples"), other)
		default:
			width = d
		}
		all = append(all, got)
		step.step(len(some))
	}
	out, err := l.take(a, model, f.sum(model), r.value, embedding.Stack(all...))
	if err != nil {
		return nil, err
	}
	out.Engine = r.engine
	return out, nil
}

// texts asks endpoints that read texts, or files as they are, and answer vectors.
func (l *listing) texts(ctx context.Context) ([]*encoder.Model, error) {
	var inputs [][]byte
	seen := map[string]bool{}
	a, err := l.inputs(func(in views.Input) (string, error) {
		b := []byte(in.Text)
		if in.File != "" {
			var err error
			if b, err = disk.Bounded(filepath.Join(l.dir, filepath.FromSlash(in.File)), mostOfView); err != nil {
				return "", err
			}
		}
		h := sha256.Sum256(b)
		d := hex.EncodeToString(h[:])
		if !seen[d] {
			seen[d] = true
			inputs = append(inputs, b)
		}
		return d, nil
	})
	if err != nil {
		return nil, err
	}
	l.asked = a
	var out []*encoder.Model
	for i, m := range l.study.Models {
		t, err := workload.ConnectText(ctx, m, l.study.Output.Name, l.app.options(l.o.Engine))
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, l.study.Errorf(fmt.Sprintf("models[%d]", i), "%v", err)
		}
		found, err := l.textsOf(ctx, m.Name, t, a, inputs)
		_ = t.Close() // nothing is lost
		if err != nil {
			return nil, err
		}
		out = append(out, found)
	}
	return out, nil
}

func (l *listing) textsOf(ctx context.Context, model string, t *remote.Text, a *askedViews, inputs [][]byte) (
	*encoder.Model, error,
) {
	if t.Wordy() {
		return nil, fmt.Errorf("%s answers texts, and features are numbers; name an output that is a vector with "+
			"output: {name: …}, or ask with nero repeat whether texts are the same", model)
	}
	step := begin(l.app.tell, TaskEmbed, model, "predictions")
	defer step.end()
	step.size(len(inputs))
	rows := make([][]float64, len(inputs))
	var mu sync.Mutex // of step
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(max(t.Concurrency(), 1)) // waiting for a server takes no processor
	for i, in := range inputs {
		g.Go(func() error {
			said, err := t.Ask(within, in, nil)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", model, a.names[i], err)
			}
			rows[i] = said.Numbers
			mu.Lock()
			defer mu.Unlock()
			step.step(1)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	at, err := featureTable(model, "the answer", ofAnswers, rows)
	if err != nil {
		return nil, err
	}
	return l.take(a, model, "", "the answer", at)
}

// Package handout writes a run as one HTML file: the interface with the numbers inside. It opens from disk, asks the
// network for nothing and runs no model. What does not fit into the budget is left out in a fixed order, and the page
// says so.
//
// The answers of the API lie in the file under the names of their calls, deflated and in base64, each in a script
// element of a type that browsers do not run; a directory before them says what is there. serve/web/src/core/report.ts
// reads them.
package handout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"nero/present/reduce"
	"nero/present/words"
	"nero/run/fold"
	"nero/serve/api"
	"nero/serve/shelf"

	"golang.org/x/sync/errgroup"
)

// Presets of [Options].
const (
	PresetBudget = 10_000_000
	PresetKeep   = 120
)

// Of more than mostSamples a report holds so many: the names of a million would be more than the file may have.
const (
	mostSamples = 100_000
	sampled     = 20_000
)

// Fitting is the run as a report can hold it: with some of its samples where they are too many, which its document
// says.
func Fitting(r *shelf.Run) *shelf.Run {
	if r.Len() <= mostSamples {
		return r
	}
	return r.Sampled(sampled)
}

// Format is the version of the form in which the data lie in the page.
const Format = 1

// Source is what a report is made of.
type Source struct {
	Run *shelf.Run
	// Findings reads an audit of the run by its id; nil leaves audits out.
	Findings func(id string) (*api.Findings, error)
	// Sheets are what other commands found of the run or beside it.
	Sheets []*api.OpenSheet
	// Files are those of the interface: report.js, or app.js where there is none, app.css and LICENSES.txt.
	Files fs.FS
}

// Options say what is in a report. The zero value takes the presets.
type Options struct {
	// Metric is the name of the metric that is shown first, and kept before the others; default the first one of the
	// run.
	Metric string
	// Slice is the name of a class or of a kept slice that is shown first; samples are kept from it. Default all.
	Slice string
	// Methods are further layouts of the samples, beside the principal components; they may take long.
	Methods []string
	// Budget is the most bytes of the file; default [PresetBudget].
	Budget int64
	// Keep is the most samples that are kept with their exact orbit, inputs and answers; default [PresetKeep], negative
	// for none.
	Keep int
	// Stored leaves inputs and scores out, for which data and models are asked.
	Stored bool
	// Seed decides which samples are kept beside the worst ones.
	Seed uint64
	// Version is that of the program.
	Version string
	// Workers is how many goroutines work; 0 stands for one. It changes no byte.
	Workers int
	// Progress is told how far the work is, from 0 to 1, and what is being done; nil is silence. It is called from one
	// goroutine at a time.
	Progress func(fraction float64, what string)
}

// Summary says what was written.
type Summary struct {
	// of the file
	Bytes int64
	// of the run
	Samples int
	// with their exact orbit
	Kept int
	// of these with their moved inputs
	Inputs int
	// of these with the scores of the models
	Answers int
	// of these with maps of where the models' fields are wrong
	Maps int
	// small pictures
	Thumbs int
	// metrics with the values of every sample
	Curves []string
	// sentences: what is not in the file, and how coarse it is
	LeftOut []string
}

// SmallBudgetError says that not even what every report holds fits.
type SmallBudgetError struct {
	Budget, Need int64
}

// Error names the smallest budget.
func (e *SmallBudgetError) Error() string {
	return fmt.Sprintf("a report of this run takes at least %s, and the budget is %s; expected a larger budget, or a "+
		"metric with fewer slices", megabytes(e.Need), megabytes(e.Budget))
}

// ErrUnknown marks a metric, slice or method that the run does not have.
var ErrUnknown = errors.New("unknown")

// Write writes a report. The same run, interface and options give the same bytes. Nothing is written if the report
// cannot be made.
func Write(ctx context.Context, w io.Writer, src Source, o Options) (Summary, error) {
	b, err := newBuilder(ctx, src, o)
	if err != nil {
		return Summary{}, err
	}
	if err := b.build(); err != nil {
		return Summary{}, err
	}
	page, err := b.finish()
	if err != nil {
		return Summary{}, err
	}
	if _, err := w.Write(page); err != nil {
		return Summary{}, err
	}
	b.sum.Bytes = int64(len(page))
	b.progress(1, "written")
	return b.sum, nil
}

// builder collects the blocks of a report.
type builder struct {
	ctx context.Context //nolint:containedctx // of one call of Write
	src Source
	o   Options
	run *shelf.Run
	// as the server would give it
	doc     api.Run
	samples *api.Samples
	slices  api.Slices
	metric  int
	// that is shown first; nil for all
	chosen *api.Slice
	// the worst sample of chosen under the first model; -1 without one
	worst  int
	audits []api.Audit
	sheets []api.Sheet
	places []api.Place
	// what does not depend on the blocks
	base *page
	// bytes of the page without blocks
	skip int64
	// bytes of the blocks
	used   int64
	blocks []*block
	have   map[string]bool
	// of all samples, by metric
	overall []sum
	methods []api.Method
	// drawings are the metrics whose curves are there, by the steps of the ladder.
	drawings [len(ladder)][]int
	// with exact figures per sample
	exact []int
	// metrics with the curves of every class
	classes []int
	// metrics with the differences of the kept slices, besides the one that is shown first
	paired []int
	// classes of the shown metric that are there
	some int
	// how many times smaller inputs are shown; 1 for not at all
	shrunk int
	// samples with maps of errors
	mapped []int
	// audits that sheets name and that are none of the run
	beside []api.Audit
	// sheets that did not fit
	apart []string
	// inputs are there at some elements only
	sparse bool
	sum    Summary
}

func newBuilder(ctx context.Context, src Source, o Options) (*builder, error) {
	if src.Run == nil || src.Files == nil {
		return nil, errors.New("handout: Source needs a run and the files of the interface")
	}
	o.Budget, o.Keep, o.Workers = cmp.Or(o.Budget, PresetBudget), cmp.Or(o.Keep, PresetKeep), max(o.Workers, 1)
	b := &builder{ctx: ctx, src: src, o: o, run: src.Run, have: map[string]bool{}, shrunk: 1, worst: -1}
	b.progress(0, "reading")
	if b.run.Len() > 0 && !o.Stored {
		// What can be asked is known once the data are open. Why they cannot be opened is in the document.
		if _, err := b.run.Input(ctx, 0, b.run.Identity()); err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	b.doc = b.run.Document()
	b.doc.State.Running, b.doc.State.By = false, "" // nobody computes a file
	if o.Stored {
		b.doc.Live = api.Live{Reason: "The report was made of what is stored alone"}
	}
	var err error
	if b.samples, err = b.run.Samples(); err != nil {
		return nil, err
	}
	if o.Metric != "" {
		if b.metric = slices.Index(b.doc.Metrics, o.Metric); b.metric < 0 {
			return nil, fmt.Errorf("%w metric %q; the run has %s", ErrUnknown, o.Metric,
				strings.Join(b.doc.Metrics, ", "))
		}
	}
	b.slices = api.Slices{Format: 1, Slices: []api.Slice{}}
	kept, _, err := b.run.Slices()
	if err != nil {
		return nil, err
	}
	b.slices.Slices = append(b.slices.Slices, kept.Slices...)
	if o.Slice != "" {
		all := slices.Concat(b.doc.Slices, b.slices.Slices)
		k := slices.IndexFunc(all, func(s api.Slice) bool { return s.Name == o.Slice })
		if k < 0 {
			var names []string
			for _, s := range all {
				names = append(names, s.Name)
			}
			return nil, fmt.Errorf("%w slice %q; the run has %s", ErrUnknown, o.Slice,
				cmp.Or(strings.Join(names, ", "), "none"))
		}
		b.chosen = &all[k]
	}
	known := b.doc.Methods
	for _, name := range slices.Concat([]string{string(reduce.PCA)}, o.Methods) {
		k := slices.IndexFunc(known, func(m api.Method) bool { return m.Name == name })
		if k < 0 {
			var names []string
			for _, m := range known {
				names = append(names, m.Name)
			}
			return nil, fmt.Errorf("%w layout %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
		}
		if !slices.ContainsFunc(b.methods, func(m api.Method) bool { return m.Name == name }) {
			m := known[k]
			m.Slow = false
			b.methods = append(b.methods, m)
		}
	}
	return b, nil
}

func (b *builder) progress(f float64, what string) {
	if b.o.Progress != nil {
		b.o.Progress(f, what)
	}
}

// put adds a block in any case.
func (b *builder) put(blocks ...*block) error {
	for _, k := range blocks {
		n, err := k.size()
		if err != nil {
			return err
		}
		if b.have[k.entry.Name] {
			return fmt.Errorf("handout: %s is there twice", k.entry.Name)
		}
		b.have[k.entry.Name] = true
		b.used += n
		b.blocks = append(b.blocks, k)
	}
	return nil
}

// fit adds blocks if all of them fit, with so many bytes left free behind them.
func (b *builder) fit(free int64, blocks ...*block) (bool, error) {
	n, err := sizes(blocks)
	if err != nil {
		return false, err
	}
	if b.skip+b.used+n+free > b.o.Budget || len(b.blocks)+len(blocks) >= mostBlocks {
		return false, nil
	}
	return true, b.put(blocks...)
}

// pull takes the last block out again.
func (b *builder) pull() *block {
	k := b.blocks[len(b.blocks)-1]
	b.blocks = b.blocks[:len(b.blocks)-1]
	delete(b.have, k.entry.Name)
	if n, err := k.size(); err == nil {
		b.used -= n
	}
	return k
}

// build collects what is kept, in the order of the budget.
func (b *builder) build() error {
	if err := b.always(); err != nil {
		return err
	}
	if need := b.skip + b.used; need > b.o.Budget {
		return &SmallBudgetError{b.o.Budget, need}
	}
	if err := b.found(); err != nil {
		return err
	}
	// Samples get their part before the metrics that are not shown first.
	free := int64(0)
	if b.o.Keep > 0 && b.run.Len() > 0 {
		free = b.o.Budget / 8
	}
	if err := b.shown(free); err != nil {
		return err
	}
	if err := b.further(free); err != nil {
		return err
	}
	left, err := b.others(free)
	if err != nil {
		return err
	}
	if err := b.kept(); err != nil {
		return err
	}
	for _, group := range left { // what the samples did not need
		ok, err := b.fit(0, group.blocks...)
		if err != nil {
			return err
		}
		if ok {
			*group.list = append(*group.list, group.metric)
		}
	}
	return b.thumbs()
}

// always adds what every report holds: documents, curves of all samples and of the kept slices, the ranking, findings,
// the layout.
func (b *builder) always() error {
	if err := b.findings(); err != nil {
		return err
	}
	for name, doc := range map[string]any{"samples": b.samples, "slices": b.slices} {
		k, err := packJSON(name, doc)
		if err != nil {
			return err
		}
		if err := b.put(k); err != nil {
			return err
		}
	}
	// The order of a map is no order.
	slices.SortFunc(b.blocks, func(x, y *block) int { return strings.Compare(x.entry.Name, y.entry.Name) })

	for k := range b.doc.MetricDoc {
		b.progress(0.02+0.1*float64(k)/float64(len(b.doc.MetricDoc)), "sums")
		sets := append([]keyed{{"all", api.Set{}}}, b.keptSets()...)
		// The differences of many slices take more room than all else. Those of other metrics are added as far as they
		// fit.
		doc, err := b.sums(k, sets, func(s keyed) bool { return k == b.metric || s.key == "all" })
		if err != nil {
			return err
		}
		b.overall = append(b.overall, doc.Sets[0])
		c, err := packSums("aggregate."+strconv.Itoa(k), doc)
		if err != nil {
			return err
		}
		if err := b.put(c); err != nil {
			return err
		}
	}
	figures, err := b.figures(b.metric)
	if err != nil {
		return err
	}
	if err := b.put(figures...); err != nil {
		return err
	}
	b.exact = append(b.exact, b.metric)
	b.progress(0.15, "layouts")
	if err := b.layouts(); err != nil {
		return err
	}

	// The documents of the run say what is there, and are written last. Until then they are held as large as they can
	// become.
	if b.base, err = b.frame(); err != nil {
		return err
	}
	run := b.document(true)
	doc, err := packJSON("run", run)
	if err != nil {
		return err
	}
	n, err := doc.size()
	if err != nil {
		return err
	}
	empty, err := b.render(nil, nil)
	if err != nil {
		return err
	}
	const words = 6000 // of the notes, in the document, the directory and the page
	b.skip = int64(len(empty)) + 2*n + words
	return nil
}

// findings adds the audits of the run.
func (b *builder) findings() error {
	if b.src.Findings == nil {
		return nil
	}
	for _, id := range b.doc.Audits {
		f, k, err := b.audit(id)
		if err != nil {
			return err
		}
		if err := b.put(k); err != nil {
			return err
		}
		b.audits = append(b.audits, f.Audit)
		b.places = append(b.places, f.Places...)
	}
	return nil
}

// audit is the findings of an audit, with its places in the run, and their block.
func (b *builder) audit(id string) (api.Findings, *block, error) {
	f, err := b.src.Findings(id)
	if err != nil {
		return api.Findings{}, nil, err
	}
	kept := *f
	kept.Places = []api.Place{} // those in other runs cannot be shown here
	for _, p := range f.Places {
		if p.Run == b.doc.ID {
			kept.Places = append(kept.Places, p)
		}
	}
	k, err := packJSON("audits/"+id, kept)
	return kept, k, err
}

// found adds what other commands found, with the audits that it names, each as long as half of the budget is left to
// the run.
func (b *builder) found() error {
	kept := func(id string) bool { return b.have["audits/"+id] }
	for _, full := range b.src.Sheets {
		o := *full
		for _, folder := range slices.Sorted(maps.Keys(o.Audits)) {
			id := o.Audits[folder]
			if kept(id) || b.src.Findings == nil {
				continue
			}
			f, k, err := b.audit(id)
			if err != nil {
				return err
			}
			ok, err := b.fit(b.o.Budget/2, k)
			if err != nil {
				return err
			}
			if ok {
				b.beside = append(b.beside, f.Audit)
			}
		}
		o.Sheet.Audits = slices.DeleteFunc(append([]string{}, o.Sheet.Audits...), func(id string) bool {
			return !kept(id)
		})
		o.Audits = maps.Clone(o.Audits)
		maps.DeleteFunc(o.Audits, func(_, id string) bool { return !kept(id) })
		k, err := packJSON("sheets/"+o.Sheet.ID, o)
		if err != nil {
			return err
		}
		listed, err := packJSON("runs", o.Sheet) // what it takes in the list
		if err != nil {
			return err
		}
		n, err := listed.size()
		if err != nil {
			return err
		}
		ok, err := b.fit(b.o.Budget/2+n, k)
		if err != nil {
			return err
		}
		if !ok {
			b.apart = append(b.apart, o.Sheet.Name+" ("+o.Sheet.Kind+")")
			continue
		}
		b.skip += n
		b.sheets = append(b.sheets, o.Sheet)
	}
	return nil
}

// keyed is a set of samples under the name by which the page finds its curves.
type keyed struct {
	key string
	set api.Set
}

// sums are the curves of sets of samples by one metric.
type sums struct {
	Confidence float64 `json:"confidence"`
	Sets       []sum   `json:"sets"`
}

// sum is the curves of a set, one per model, and the paired differences of two models, the first being the lower one.
type sum struct {
	Key    string       `json:"key"`
	N      int          `json:"n"`
	Curves []fold.Curve `json:"curves"`
	Pairs  []api.Pair   `json:"pairs"`
	Says   []string     `json:"says,omitempty"`
}

// keptSets are the slices that are kept with the run.
func (b *builder) keptSets() []keyed {
	var out []keyed
	for _, s := range b.slices.Slices {
		out = append(out, keyed{"slice:" + s.Name, s.Set})
	}
	return out
}

// mostPaired is of how many models differences are kept.
const mostPaired = 4

func (b *builder) sums(metric int, sets []keyed, pairs func(keyed) bool) (*sums, error) {
	out := &sums{Sets: make([]sum, len(sets))}
	confidence := make([]float64, len(sets))
	g, ctx := errgroup.WithContext(b.ctx)
	g.SetLimit(b.o.Workers)
	for at, s := range sets {
		g.Go(func() error {
			q := api.AggregateRequest{Set: s.set, Metric: metric}
			a, err := b.run.Aggregate(ctx, q)
			if err != nil {
				return fmt.Errorf("curves of %s: %w", s.key, err)
			}
			o := sum{Key: s.key, N: a.N, Curves: a.Curves, Pairs: []api.Pair{}, Says: a.Says}
			confidence[at] = a.Confidence
			n := min(len(b.doc.ModelList), mostPaired)
			for x := 0; x < n && pairs(s); x++ {
				for y := x + 1; y < n; y++ {
					q.Models, q.Pair = []int{x}, []int{x, y}
					p, err := b.run.Aggregate(ctx, q)
					if err != nil {
						return fmt.Errorf("differences of %s: %w", s.key, err)
					}
					if p.Pair != nil {
						o.Pairs = append(o.Pairs, *p.Pair)
					}
				}
			}
			out.Sets[at] = o
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if len(confidence) > 0 {
		out.Confidence = confidence[0]
	}
	return out, nil
}

// bundle is blocks that are of use together, for one metric.
type bundle struct {
	metric int
	// that takes the metric if they fit
	list   *[]int
	blocks []*block
	bytes  int64
	// of the ladder
	level int
}

// sizes is the most bytes that blocks take in the file.
func sizes(blocks []*block) (int64, error) {
	var n int64
	for _, k := range blocks {
		m, err := k.size()
		if err != nil {
			return 0, err
		}
		n += m
	}
	return n, nil
}

// shown adds what there is of the metric that is shown first.
func (b *builder) shown(free int64) error {
	b.progress(0.25, "curves")
	if b.drawn() {
		blocks, err := b.curves(b.metric, ladder[0])
		if err != nil {
			return err
		}
		ok, err := b.fit(0, blocks...)
		if err != nil {
			return err
		}
		if ok {
			b.drawings[0] = append(b.drawings[0], b.metric)
		}
		for m := range b.doc.ModelList {
			v, err := b.run.Top(m)
			if err != nil {
				return err
			}
			if v == nil {
				continue
			}
			k, err := packClasses("top."+strconv.Itoa(m), v, b.doc.Elements, len(b.doc.Classes))
			if err != nil {
				return err
			}
			if _, err := b.fit(free, k); err != nil {
				return err
			}
		}
	}
	sets := b.classSets()
	for len(sets) > 0 {
		doc, err := b.sums(b.metric, sets, func(keyed) bool { return true })
		if err != nil {
			return err
		}
		k, err := packSums("aggregate."+strconv.Itoa(b.metric)+".classes", doc)
		if err != nil {
			return err
		}
		ok, err := b.fit(free, k)
		if err != nil {
			return err
		}
		if ok {
			break
		}
		sets = sets[:len(sets)/2]
	}
	b.some = len(sets)
	return nil
}

// mostDrawn is of how many values the page draws single curves; it leaves more to a server.
const mostDrawn = 16 << 20

func (b *builder) drawn() bool {
	return b.doc.Elements > 0 && b.doc.Samples > 0 && b.doc.Samples <= mostDrawn/b.doc.Elements
}

// classSets are the classes of the run, the one that is shown first before the others, then the largest.
func (b *builder) classSets() []keyed {
	all := slices.Clone(b.doc.Slices)
	slices.SortStableFunc(all, func(x, y api.Slice) int {
		if b.chosen != nil && (x.Label == b.chosen.Label) != (y.Label == b.chosen.Label) {
			if x.Label == b.chosen.Label {
				return -1
			}
			return 1
		}
		return y.N - x.N
	})
	var out []keyed
	for _, s := range all {
		if s.Label >= 0 && len(out) < mostClasses {
			out = append(out, keyed{"label:" + strconv.Itoa(s.Label), s.Set})
		}
	}
	return out
}

// ladder is into how many steps the range of a metric is cut, finer ones first. Lines of a plot are a few hundred
// pixels high.
var ladder = [...]int{254, 127, 63}

// mostClasses is of how many classes curves are kept.
const mostClasses = 200

// others adds what there is of the other metrics, and returns what did not fit.
func (b *builder) others(free int64) (left []bundle, err error) {
	var metrics []int
	for k := range b.doc.MetricDoc {
		if k != b.metric {
			metrics = append(metrics, k)
		}
	}
	try := func(g bundle) error {
		ok, err := b.fit(free, g.blocks...)
		if err != nil {
			return err
		}
		if ok {
			*g.list = append(*g.list, g.metric)
		} else {
			left = append(left, g)
		}
		return nil
	}
	sets := b.classSets()
	for at, k := range metrics {
		b.progress(0.3+0.1*float64(at)/float64(len(metrics)), "sums by class")
		if len(sets) == 0 || b.some < len(sets) {
			break
		}
		doc, err := b.sums(k, sets, func(keyed) bool { return false })
		if err != nil {
			return nil, err
		}
		c, err := packSums("aggregate."+strconv.Itoa(k)+".classes", doc)
		if err != nil {
			return nil, err
		}
		if err := try(bundle{metric: k, list: &b.classes, blocks: []*block{c}}); err != nil {
			return nil, err
		}
	}
	if b.drawn() {
		// Fewer steps of those that take the most room rather than none of some.
		all, total := make([]bundle, len(metrics)), int64(0)
		put := func(at, level int) error {
			blocks, err := b.curves(metrics[at], ladder[level])
			if err != nil {
				return err
			}
			total -= all[at].bytes
			all[at] = bundle{metrics[at], &b.drawings[level], blocks, 0, level}
			if all[at].bytes, err = sizes(blocks); err != nil {
				return err
			}
			total += all[at].bytes
			return nil
		}
		for at := range metrics {
			b.progress(0.4+0.1*float64(at)/float64(len(metrics)), "curves of other metrics")
			if err := put(at, 0); err != nil {
				return nil, err
			}
		}
		for done := 0; b.skip+b.used+total+free > b.o.Budget; done++ {
			largest := -1
			for at := range all {
				if all[at].level < len(ladder)-1 && (largest < 0 || all[at].bytes > all[largest].bytes) {
					largest = at
				}
			}
			if largest < 0 {
				break
			}
			b.progress(0.5+0.05*float64(done)/float64(len(metrics)), "coarser curves of other metrics")
			if err := put(largest, all[largest].level+1); err != nil {
				return nil, err
			}
		}
		for _, g := range all {
			if err := try(g); err != nil {
				return nil, err
			}
		}
	}
	if sets := b.keptSets(); len(sets) > 0 && len(b.doc.ModelList) > 1 {
		for at, k := range metrics {
			b.progress(0.55+0.05*float64(at)/float64(len(metrics)), "differences of kept slices")
			doc, err := b.sums(k, sets, func(keyed) bool { return true })
			if err != nil {
				return nil, err
			}
			for i := range doc.Sets {
				doc.Sets[i].Curves = []fold.Curve{} // those are there
			}
			c, err := packSums("aggregate."+strconv.Itoa(k)+".pairs", doc)
			if err != nil {
				return nil, err
			}
			if err := try(bundle{metric: k, list: &b.paired, blocks: []*block{c}}); err != nil {
				return nil, err
			}
		}
	}
	for _, k := range metrics {
		figures, err := b.figures(k)
		if err != nil {
			return nil, err
		}
		if err := try(bundle{metric: k, list: &b.exact, blocks: figures}); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// curves are the values of every sample by a metric, a block for each model.
func (b *builder) curves(metric, steps int) ([]*block, error) {
	g, err := b.grid(metric, steps)
	if err != nil {
		return nil, err
	}
	out := make([]*block, len(b.doc.ModelList))
	e, ctx := errgroup.WithContext(b.ctx)
	e.SetLimit(b.o.Workers)
	for m := range out {
		e.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			v, err := b.run.Curves(m, metric)
			if err != nil {
				return err
			}
			out[m], err = packCurves(fmt.Sprintf("curves.%d.%d", m, metric), v, b.doc.Elements, g)
			return err
		})
	}
	return out, e.Wait()
}

// grid is the range that all models share: of the drawings if it is logarithmic, else of the metric if it is bounded,
// else of the values.
func (b *builder) grid(metric, steps int) (grid, error) {
	s := b.doc.Scales[metric]
	if s.Log && float64(s.Lo) > 0 && s.Hi > s.Lo {
		return grid{float64(s.Lo), float64(s.Hi), true, steps}, nil
	}
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	lo, hi := float64(b.doc.MetricDoc[metric].Range[0]), float64(b.doc.MetricDoc[metric].Range[1])
	if finite(lo) && finite(hi) && lo < hi {
		return grid{lo, hi, false, steps}, nil
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	for m := range b.doc.ModelList {
		st, err := b.run.Stats(m, metric)
		if err != nil {
			return grid{}, err
		}
		if st.Lo <= st.Hi {
			lo, hi = min(lo, st.Lo), max(hi, st.Hi)
		}
	}
	if !(lo <= hi) {
		lo, hi = 0, 1
	}
	return grid{lo, hi, false, steps}, nil
}

// figures are the exact figures per sample by a metric, a block for each model.
func (b *builder) figures(metric int) ([]*block, error) {
	out := make([]*block, len(b.doc.ModelList))
	for m := range out {
		st, err := b.run.Stats(m, metric)
		if err != nil {
			return nil, err
		}
		var words []uint32
		for _, list := range [][]float32{st.Mean, st.SD, st.Min, st.Max, st.Identity} {
			words = append(words, bits(list)...)
		}
		for _, w := range st.Worst {
			words = append(words, uint32(w)) //nolint:gosec // the two's complement is meant
		}
		name := fmt.Sprintf("samples.%d.%d", m, metric)
		if out[m], err = pack(entry{Name: name, Form: "planes", Shape: []int{6, len(st.Mean)}},
			planes(words)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// layouts adds the samples in two dimensions by the metric that is shown first: of each model, and of every two of the
// first ones.
func (b *builder) layouts() error {
	if b.run.Len() == 0 || b.doc.Elements == 0 {
		b.methods = nil
		return nil
	}
	var parts []reduce.Matrix
	var chosen [][]int
	for m := range b.doc.ModelList {
		v, err := b.run.Curves(m, b.metric)
		if err != nil {
			return err
		}
		p, err := reduce.NewDense(b.doc.Samples, b.doc.Elements, v)
		if err != nil {
			return err
		}
		parts, chosen = append(parts, p), append(chosen, []int{m})
	}
	for x := range min(len(parts), mostPaired) {
		for y := x + 1; y < min(len(parts), mostPaired); y++ {
			chosen = append(chosen, []int{x, y})
		}
	}
	methods := b.methods
	b.methods = nil
	for _, method := range methods {
		there := false
		for _, models := range chosen {
			of := make([]reduce.Matrix, len(models))
			name := []string{"embedding", method.Name, strconv.Itoa(b.metric)}
			for i, m := range models {
				of[i] = parts[m]
				name = append(name, strconv.Itoa(m))
			}
			x, err := reduce.Join(of...)
			if err != nil {
				return err
			}
			e, err := reduce.Reduce(b.ctx, reduce.Method(method.Name), x, reduce.Options{Workers: b.o.Workers})
			if err != nil {
				if b.ctx.Err() != nil {
					return b.ctx.Err()
				}
				continue // too few samples, or too many elements for this method: the page says that there is none
			}
			k, err := packXY(entry{Name: strings.Join(name, "."), Axes: e.Axes[:], Notes: e.Notes, Fitted: e.Fitted},
				e.XY)
			if err != nil {
				return err
			}
			if err := b.put(k); err != nil {
				return err
			}
			there = true
		}
		if there {
			b.methods = append(b.methods, method)
		}
	}
	return nil
}

// home is the address at which the page begins.
func (b *builder) home() string {
	q := url.Values{"v": {"1"}, "m": {b.doc.Metrics[b.metric]}}
	if b.chosen != nil {
		q.Set("s", b.chosen.Name)
	}
	for _, k := range b.blocks { // a sample of which everything is there: the worst of the slice, else the first
		i, ok := strings.CutPrefix(k.entry.Name, "sample.")
		if ok && (q.Get("i") == "" || i == strconv.Itoa(b.worst)) {
			q.Set("i", i)
		}
	}
	return "#/run/" + url.PathEscape(b.doc.ID) + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// document is the run as the page gets it. With all it is as large as it can become.
func (b *builder) document(all bool) api.Run {
	d := b.doc
	d.Live = api.Live{
		Inputs: all || b.sum.Inputs > 0, Pictures: all || b.sum.Thumbs > 0,
		Reason: "A report holds what was recorded: no model can be asked.",
	}
	if !d.Live.Inputs && b.doc.Live.Reason != "" {
		d.Live.Reason = "When the report was written: " + b.doc.Live.Reason
	}
	d.ModelList = slices.Clone(d.ModelList)
	for m := range d.ModelList {
		d.ModelList[m].Live = false
	}
	d.State.Running, d.State.Seconds = false, fold.Number(math.NaN())
	d.Methods = append([]api.Method{}, b.methods...)
	d.Audits = []string{}
	for _, a := range b.audits {
		d.Audits = append(d.Audits, a.ID)
	}
	if !all {
		d.Arrays = slices.DeleteFunc(slices.Clone(d.Arrays), func(a api.Array) bool { return !b.have[a.Name] })
		d.Notes = slices.Concat(d.Notes, b.sum.LeftOut)
	}
	return d
}

// finish writes the page within the budget.
func (b *builder) finish() ([]byte, error) {
	b.progress(0.97, "writing")
	for {
		b.tell()
		run := b.document(false)
		card := run.RunCard
		list := api.Runs{
			Version: b.o.Version, Runs: []api.RunCard{card}, Audits: slices.Concat([]api.Audit{}, b.audits, b.beside),
			Sheets: append([]api.Sheet{}, b.sheets...), Planned: []api.Planned{}, Problems: []api.Broken{},
		}
		one, err := packJSON("run", run)
		if err != nil {
			return nil, err
		}
		two, err := packJSON("runs", list)
		if err != nil {
			return nil, err
		}
		page, err := b.render(append([]*block{two, one}, b.blocks...), b.sum.LeftOut)
		if err != nil {
			return nil, err
		}
		if int64(len(page)) <= b.o.Budget {
			return page, nil
		}
		if !b.drop() {
			return nil, &SmallBudgetError{b.o.Budget, int64(len(page))}
		}
	}
}

// drop takes out what was added last, if it is something that a report can do without.
func (b *builder) drop() bool {
	if len(b.blocks) == 0 {
		return false
	}
	last := b.blocks[len(b.blocks)-1].entry
	switch {
	case strings.HasPrefix(last.Name, "thumbs."):
		b.sum.Thumbs -= last.Shape[0]
	case strings.HasPrefix(last.Name, "sample."):
		b.forget(last)
	default:
		return false
	}
	b.pull()
	return true
}

// tell says in words what is in the file and what is not.
func (b *builder) tell() {
	var out []string
	n := b.doc.Samples
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	b.sum.Samples, b.sum.Curves = n, nil
	names := func(list []int) string {
		var all []string
		for _, k := range slices.Sorted(slices.Values(list)) {
			all = append(all, b.doc.MetricDoc[k].Title)
		}
		return strings.Join(all, ", ")
	}
	there := slices.Concat(b.drawings[:]...)
	for _, k := range slices.Sorted(slices.Values(there)) {
		b.sum.Curves = append(b.sum.Curves, b.doc.Metrics[k])
	}
	var none, rough []int
	for k := range b.doc.MetricDoc {
		if !slices.Contains(there, k) {
			none = append(none, k)
		} else if !slices.Contains(b.exact, k) {
			rough = append(rough, k)
		}
	}
	if n > 0 {
		if len(none) > 0 {
			say("The file does not hold the values of every sample for %s; curves of slices are there.", names(none))
		}
		var steps []string
		for level, list := range b.drawings {
			if len(list) > 0 {
				steps = append(steps, fmt.Sprintf("in %d values over the range for %s", ladder[level]+1, names(list)))
			}
		}
		if len(steps) > 0 {
			say("Values of every sample are kept for drawing, %s.", strings.Join(steps, ", "))
		}
		if len(rough) > 0 {
			say("Figures per sample are read from these for %s, and are as coarse.", names(rough))
		}
		if c := len(b.classSets()); c > 0 && b.some < c {
			say("Exact curves are there for %s of %s classes of %s.", words.Count(b.some), words.Count(c),
				b.doc.MetricDoc[b.metric].Title)
		}
		if len(b.slices.Slices) > 0 && len(b.doc.ModelList) > 1 {
			var without []int
			for k := range b.doc.MetricDoc {
				if k != b.metric && !slices.Contains(b.paired, k) {
					without = append(without, k)
				}
			}
			if len(without) > 0 {
				say("Exact differences of the kept slices are not there for %s.", names(without))
			}
		}
		if more := len(b.doc.Slices) - mostClasses; more > 0 {
			say("Classes beyond the %d largest have no exact curves.", mostClasses)
		}
		of := "all"
		if b.sum.Kept < n {
			of = words.Count(b.sum.Kept) + " of"
		}
		what := "The exact orbit is"
		switch {
		case b.sum.Inputs > 0 && b.sum.Answers > 0:
			what = "The exact orbit, the moved inputs and the scores of the classes are"
		case b.sum.Inputs > 0:
			what = "The exact orbit and the moved inputs are"
		}
		if b.sum.Kept < n || b.sum.Inputs < b.sum.Kept {
			say("%s there for %s %s samples%s.", what, of, words.Count(n), b.how())
		}
		if b.sum.Inputs == 0 && b.sum.Kept > 0 {
			say("Inputs are not there. %s",
				sentence(cmp.Or(b.doc.Live.Reason, "They could not be read when the report was written")))
		} else if b.sum.Answers == 0 && b.sum.Kept > 0 && b.doc.Output == "scores" {
			say("Scores of the classes are not there. %s",
				sentence(cmp.Or(b.doc.Live.Reason, "No model could be asked when the report was written")))
		}
		if b.doc.Output == "field" && b.sum.Kept > 0 && b.sum.Maps < n {
			if b.sum.Maps == 0 {
				say("Maps of errors are not there. %s",
					sentence(cmp.Or(b.doc.Live.Reason, "No model could be asked when the report was written")))
			} else {
				say("Maps of errors are there for %s of %s samples.", words.Count(b.sum.Maps), words.Count(n))
			}
		}
		if b.sum.Inputs > 0 && b.shrunk > 1 {
			say("Inputs are shown at 1/%d of their size.", b.shrunk)
		}
		if b.sum.Inputs > 0 && b.sparse {
			say("Inputs are there at %s of %s elements.", words.Count(len(b.at())), words.Count(b.doc.Elements))
		}
		if b.sum.Answers > 0 && b.doc.Live.Engine != "" && b.doc.Live.Engine != b.doc.Engine {
			say("Scores of the classes come from %s, the values from %s.", b.doc.Live.Engine, b.doc.Engine)
		}
	}
	if b.src.Findings == nil && len(b.doc.Audits) > 0 {
		say("Audits of the run were left out.")
	}
	if len(b.apart) > 0 {
		say("What other commands found did not fit: %s. nero serve shows it, and a report with a larger budget holds "+
			"it.", strings.Join(b.apart, ", "))
	}
	b.sum.LeftOut = out
}

// brief says in a sentence what a reader will miss; it is empty if that is nothing.
func (b *builder) brief() string {
	var parts []string
	n := b.doc.Samples
	if b.sum.Kept < n {
		parts = append(parts, fmt.Sprintf("%s of %s whole", words.Count(b.sum.Kept), words.Plural(n, "sample",
			"samples")))
	} else if b.sum.Inputs < n && n > 0 {
		parts = append(parts, fmt.Sprintf("the inputs of %s of %s", words.Count(b.sum.Inputs), words.Plural(n, "sample",
			"samples")))
	}
	if all := len(b.doc.MetricDoc); len(b.sum.Curves) < all {
		parts = append(parts, fmt.Sprintf("the values of every sample for %d of %s", len(b.sum.Curves),
			words.Plural(all, "metric", "metrics")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "This file holds " + strings.Join(parts, " and ") + ". What was left out is listed at the foot of the page."
}

// how says which samples are kept.
func (b *builder) how() string {
	if b.sum.Kept == 0 || b.sum.Kept >= b.doc.Samples {
		return ""
	}
	text := ": those with the worst mean over the orbit"
	if len(b.places) > 0 {
		text += " or named by an audit"
	}
	return text + fmt.Sprintf(", and others drawn by class and rank (seed %d)", b.o.Seed)
}

func sentence(s string) string {
	if s = strings.TrimSpace(s); s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// megabytes is a size for people, not less than it is.
func megabytes(n int64) string {
	if n < 1_000_000 {
		return strconv.FormatInt((n+999)/1000, 10) + " kB"
	}
	return strconv.FormatFloat(math.Ceil(float64(n)/1e4)/100, 'f', 2, 64) + " MB"
}

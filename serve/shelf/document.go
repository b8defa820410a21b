package shelf

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/measure/metric"
	"nero/present/reduce"
	"nero/present/view"
	"nero/present/words"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/slice"
	"nero/serve/api"
)

var noNumber = fold.Number(math.NaN())

// card is the run in a list. It reads no rows of a single run.
func (r *Run) card() api.RunCard {
	c := api.RunCard{
		ID: r.id, Name: r.name, Folder: r.folders(),
		Digest: r.digest(), Group: r.group.Name(), Task: task(&r.job.Study), Models: r.Models(),
		Metrics: []string{},
		Samples: r.n, Elements: r.e, About: words.Line(r.job.Study.About),
		State: api.State{Complete: r.complete(), Done: r.done(), Total: r.n, Seconds: noNumber, Rate: noNumber},
	}
	for _, m := range r.metrics {
		c.Metrics = append(c.Metrics, m.Name)
	}
	for i, p := range r.parts {
		begun, changed := p.since()
		if i == 0 || begun < c.Begun {
			c.Begun = begun
		}
		c.Changed = max(c.Changed, changed)
	}
	return c
}

// folders are where the run lies, or both of two.
func (r *Run) folders() string {
	all := make([]string, len(r.parts))
	for i, p := range r.parts {
		all[i] = p.folder
	}
	return strings.Join(all, " + ")
}

// digest tells runs apart that have other numbers.
func (r *Run) digest() string {
	if len(r.parts) == 1 {
		return r.parts[0].at.run.Hash()
	}
	h := sha256.New()
	for _, p := range r.parts {
		h.Write([]byte(p.at.run.Hash()))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func task(s *job.Study) string {
	if s.Task != "" {
		return s.Task
	}
	switch s.Output.Space {
	case "mask":
		return "segmentation"
	case "boxes":
		return "detection"
	case "field":
		return "flow"
	case "image", "tensor", "embedding", "rows", "signal", "record", "frames":
		return s.Output.Space
	}
	return "classification"
}

// Document is everything but the numbers of the samples. Where something can be said only with rows and they cannot be
// read, a note says so. It is shared: callers must not change what it refers to.
func (r *Run) Document() api.Run {
	shared, _ := r.describe()
	d := *shared
	for _, p := range r.parts {
		p.underway(&d.State, r.shelf.o.Now())
	}
	return d
}

// ETag is a strong entity tag of [Run.Document], with its quotes. It changes whenever there are more rows, which is why
// it is good for the arrays of the run as well.
func (r *Run) ETag() string {
	_, tag := r.describe()
	return tag
}

// NumbersTag changes whenever the numbers of the run can have changed, and is the same for the same rows read by the
// same version of the program: what is computed of rows may be mended from one version to the next. It has no quotes.
func (r *Run) NumbersTag() string {
	if !r.complete() {
		return strings.Trim(r.ETag(), `"`)
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q", r.shelf.o.Version, r.id)
	for _, p := range r.parts {
		_, _ = fmt.Fprintf(h, " %s", p.at.run.Hash())
		for _, f := range p.at.run.Manifest().Files {
			_, _ = fmt.Fprintf(h, " %q %s", f.Path, f.SHA256)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

func (r *Run) describe() (*api.Run, string) {
	shows := r.shelf.versions(r)
	r.mu.Lock()
	old, tag, before := r.document, r.etag, r.shows
	r.mu.Unlock()
	if old != nil && before == shows {
		return old, tag
	}
	d := r.build(old)
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(d); err != nil {
		r.shelf.log().Error("a document cannot be written", "run", r.name, "error", err) // nothing in it can fail
	}
	_, _ = fmt.Fprintf(h, "%q %d", r.shelf.o.Version, r.generation)
	for _, p := range r.parts {
		for _, done := range p.at.done {
			h.Write(strconv.AppendBool(nil, done))
		}
	}
	tag = `"` + hex.EncodeToString(h.Sum(nil)[:16]) + `"`
	r.mu.Lock()
	defer r.mu.Unlock()
	r.document, r.etag, r.shows = d, tag, shows
	return d, tag
}

// build makes the document, from an older one but for what can change while the rows stay.
func (r *Run) build(old *api.Run) *api.Run {
	var d api.Run
	if old != nil {
		d = *old
	} else {
		r.fixed(&d)
	}
	audits := r.shelf.auditsOf(r)
	d.Audits = []string{}
	for _, a := range audits {
		d.Audits = append(d.Audits, a.id)
	}
	status := r.liveStatus()
	d.Live = status.Live
	d.ModelList = slices.Clone(d.ModelList)
	for m := range d.ModelList {
		d.ModelList[m].Live = status.models[m]
		for _, a := range audits {
			if n := a.parameters[d.ModelList[m].SHA256]; n > 0 {
				d.ModelList[m].Parameters = n
			}
		}
	}
	return &d
}

func (r *Run) fixed(d *api.Run) {
	s := &r.job.Study
	*d = api.Run{
		RunCard: r.card(), Orbit: orbitOf(r.group, r.job, r.identity), ModelList: []api.Model{},
		MetricDoc: []api.Metric{}, Classes: []string{},
		Output: cmp.Or(s.Output.Space, "scores"), Methods: methods(r.n, r.e), Arrays: []api.Array{},
		Slices: []api.Slice{}, Notes: []string{},
		Kernel: s.Group.Resample + ", border " + s.Group.Border, Engine: r.job.Engine.String(),
		Command: scrub(command(r.job)),
		Audit:   scrub(audits(r.job)),
		Scales:  []api.Range{}, Details: r.details(), Window: append([]int{}, s.Group.Window...), Boxed: r.Boxed(),
		Weak:  cmp.Or(s.Consensus.Weak, presetWeak),
		Input: s.Input.Space, Inputs: ports(s.Input.Fields), Outputs: ports(s.Output.Fields),
	}
	sums := make([]*fold.Summary, len(r.parts))
	for i, p := range r.parts {
		sums[i] = p.fold(p.at)
		if err := p.at.about.summaryErr; err != nil && p.at.complete() {
			d.Notes = append(d.Notes, p.clean(err).Error())
		}
	}
	for _, m := range r.models {
		p := r.parts[m.part]
		scale := fold.Number(math.NaN())
		if sum := sums[m.part]; sum != nil && m.index < len(sum.Scales) {
			scale = sum.Scales[m.index]
		}
		d.ModelList = append(d.ModelList, api.Model{
			Name: m.name, SHA256: p.at.run.Job().Models[m.index].SHA256,
			Run: p.id, Scale: scale,
		})
	}
	overall, err := r.overall(sums)
	if err != nil {
		d.Notes = append(d.Notes, "Part of the run cannot be read: "+err.Error())
	}
	for k, m := range r.metrics {
		doc := fold.MetricOf(m, r.job.Study.Output)
		wide := view.Wide(overall, k) && !bounded(m)
		d.MetricDoc = append(d.MetricDoc, api.Metric{
			Metric: doc, Binary: m.Binary, Title: m.Heading(), Wide: wide,
		})
		d.Scales = append(d.Scales, scaleOf(m, overall, k, wide))
	}
	if err := r.population(d, sums); err != nil {
		d.Notes = append(d.Notes, "The samples cannot be read: "+err.Error())
	}
	r.arrays(d)
}

func ports(of []job.Port) []api.Port {
	out := []api.Port{}
	for _, p := range of {
		out = append(out, api.Port{Name: p.Name, Kind: p.Kind, Type: p.Type, Per: p.Per, Unit: p.Unit})
	}
	return out
}

// presetWeak is the share of elements below which a consensus is weak, where a study says nothing.
const presetWeak = 0.5

// methods are the ways to lay out n samples with e values each.
func methods(n, e int) []api.Method {
	out := []api.Method{}
	for _, m := range reduce.Methods() {
		out = append(out, api.Method{Name: string(m.Method), Title: m.Title, Doc: m.Doc, Slow: slow(m.Method, n, e)})
	}
	return out
}

// slow guesses whether laying samples out takes more than a second on two cores.
func slow(m reduce.Method, n, e int) bool {
	switch m { //nolint:exhaustive // the others compare samples with each other
	case reduce.PCA:
		return n*e > 20_000_000
	case reduce.ICA:
		return n*e > 5_000_000
	default:
		return n > 500 || n*e > 200_000
	}
}

func bounded(m *metric.Metric) bool { return !math.IsInf(m.Range[0], 0) && !math.IsInf(m.Range[1], 0) }

// overall is a summary with the curves of all samples: those that are stored, and where there are none and the range of
// the metric says nothing, computed ones.
func (r *Run) overall(sums []*fold.Summary) (_ *fold.Summary, failed error) {
	o := &fold.Summary{Models: r.Models(), Slices: []fold.Slice{{Name: "all", Label: -1}}}
	for _, m := range r.metrics {
		o.Metrics = append(o.Metrics, fold.MetricOf(m, r.job.Study.Output))
	}
	for i, m := range r.models {
		p := r.parts[m.part]
		for k := range r.metrics {
			var c *fold.Curve
			if sum := sums[m.part]; sum != nil {
				c = sum.Curve(m.index, p.metrics[k], 0)
			}
			if c == nil && !bounded(r.metrics[k]) {
				rows, samples, err := r.members(slice.All(r.n))
				if err == nil {
					c, err = r.curve(context.Background(), i, k, rows, samples, confidence)
				}
				failed = cmp.Or(failed, err)
			}
			if c == nil {
				c = &fold.Curve{}
			}
			o.Curves = append(o.Curves, *c)
		}
	}
	return o, failed
}

// scaleOf is the range of the drawings of a metric: what is possible, or as far as the values go.
func scaleOf(m *metric.Metric, overall *fold.Summary, k int, wide bool) api.Range {
	if bounded(m) {
		return api.Range{Lo: fold.Number(m.Range[0]), Hi: fold.Number(m.Range[1])}
	}
	lo, hi, least := math.Inf(1), math.Inf(-1), math.Inf(1)
	for i := range overall.Models {
		c := overall.Curve(i, k, 0)
		for g := range c.Mean {
			if v := float64(c.Min[g]); v < lo {
				lo = v
			}
			if v := float64(c.Max[g]); v > hi {
				hi = v
			}
			if v := float64(c.Mean[g]); v > 0 && v < least {
				least = v
			}
		}
	}
	switch {
	case !(lo <= hi):
		lo, hi = 0, 1
	case wide:
		// samples lie on both sides of their mean
		return api.Range{Lo: fold.Number(least / 10), Hi: fold.Number(hi), Log: true}
	case lo >= 0:
		lo = 0
	}
	if !(hi > lo) {
		hi = lo + 1
	}
	return api.Range{Lo: fold.Number(lo), Hi: fold.Number(hi)}
}

// population is what the document says of the samples: classes, labels, failures.
func (r *Run) population(d *api.Run, sums []*fold.Summary) error {
	counts := map[int]int{}
	names := map[int]string{}
	for l, name := range folderClasses(r.job) {
		names[l] = name
	}
	for l, name := range r.job.Study.Data.Classes {
		names[l] = name
	}
	single := len(r.parts) == 1 && sums[0] != nil
	if sums[0] != nil {
		for _, s := range sums[0].Slices {
			if s.Label >= 0 {
				names[s.Label] = s.Name
			}
		}
	}
	if single {
		for _, s := range sums[0].Slices {
			if s.Label >= 0 {
				counts[s.Label] = s.N
			}
		}
		d.Failed = sums[0].Failed
	} else {
		s, err := r.info()
		if err != nil {
			return err
		}
		for i := range s.ready.And(s.failed.Not()).All() {
			if l := s.Labels[i]; l >= 0 {
				counts[l]++
			}
		}
		d.Failed = s.failed.Count()
	}
	for c := range min(r.job.Classes, mostClasses) {
		d.Classes = append(d.Classes, cmp.Or(names[c], strconv.Itoa(c)))
	}
	for _, l := range slices.Sorted(maps.Keys(counts)) {
		d.Slices = append(d.Slices, api.Slice{
			Name: cmp.Or(names[l], strconv.Itoa(l)), Label: l, N: counts[l],
			Set: api.Set{Label: &l},
		})
	}
	d.Labelled = len(counts) > 0
	if d.Failed > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s of %s samples could not be evaluated: they are in no mean.",
			words.Count(d.Failed), words.Count(r.n)))
	}
	if !d.State.Complete {
		d.Notes = append(d.Notes, fmt.Sprintf("The run is not complete: %s of %s samples are there.",
			words.Count(d.State.Done), words.Count(d.State.Total)))
	}
	for _, p := range r.parts {
		if n := p.at.run.Job().Count; p.picked {
			d.Notes = append(d.Notes, r.sampledNote(n))
		} else if p.rows != nil && n != r.n {
			d.Notes = append(d.Notes,
				fmt.Sprintf("%s of the %s samples of %s are in both runs; the others are not shown.", words.Count(r.n),
					words.Count(n), p.name))
		}
	}
	var err error
	if d.Labelled && d.State.Complete {
		d.Warnings, err = r.misordered(names)
	}
	if text := r.job.Thinned(); text != "" {
		d.Warnings = append(d.Warnings, text)
	}
	return err
}

// misordered says of each model under which the labels seem to be numbered in another order than its classes. Names are
// those of the labels, where they have any.
func (r *Run) misordered(names map[int]string) ([]string, error) {
	if r.identity < 0 || r.job.Classes == 0 || r.n*r.e > mostAnswers || metric.OnlyOfFeatures(r.job.Metrics) {
		return nil, nil
	}
	s, err := r.info()
	if err != nil {
		return nil, err
	}
	var asked, labels []int
	for _, block := range metric.OrderBlocks(len(s.labels)) {
		for i := block[0]; i < block[1]; i++ {
			asked, labels = append(asked, i), append(labels, int(s.labels[i]))
		}
	}
	classes := make([]string, 0, len(names))
	for l := 0; l < len(names) && names[l] != ""; l++ {
		classes = append(classes, names[l])
	}
	var out []string
	for m, model := range r.models {
		still, err := r.atRest(m)
		if err != nil {
			return nil, err
		}
		if still == nil {
			continue
		}
		answers := make([]int, len(asked))
		for k, i := range asked {
			answers[k] = int(still[i])
		}
		if w := metric.OrderWarning(labels, answers, classes); w != "" {
			out = append(out, model.name+": "+w)
		}
	}
	return out, nil
}

// mostAnswers bounds what is read to ask that: the answers of a run are stored for all elements together, and a page
// must not wait for those of a million samples. The terminal and the reports say it of every run.
const mostAnswers = 4 << 20

// mostClasses bounds the names of classes that are listed.
const mostClasses = 100_000

func (r *Run) arrays(d *api.Run) {
	add := func(kind string, bytes int64, shape []int, at ...int) {
		name := kind + "." + strconv.Itoa(at[0])
		if len(at) > 1 {
			name += "." + strconv.Itoa(at[1])
		}
		d.Arrays = append(d.Arrays, api.Array{Name: name, Shape: shape, Bytes: bytes})
	}
	n, all := int64(r.n), int64(r.n)*int64(r.e)
	for m := range r.models {
		for k := range r.metrics {
			add("curves", 4*all, []int{r.n, r.e}, m, k)
		}
		if r.job.Classes > 0 {
			add("top", 4*all, []int{r.n, r.e}, m)
		}
		for k := range r.metrics {
			add("samples", 6*4*n, []int{r.n}, m, k)
		}
	}
}

// details are facts about the run that have no place of their own.
func (r *Run) details() []api.Circumstance {
	var out []api.Circumstance
	add := func(name, value string) {
		if value != "" {
			out = append(out, api.Circumstance{Name: name, Value: value})
		}
	}
	for _, p := range r.parts {
		j := p.at.run.Job()
		of := ""
		if len(r.parts) > 1 {
			of = " of " + p.name
		}
		add("job"+of, p.at.run.Hash())
		for _, f := range j.Files {
			add("data"+of, fmt.Sprintf("%s, SHA-256 %.12s", base(f.Path), f.SHA256))
		}
		for _, m := range j.Models {
			add("model file of "+m.Name, fmt.Sprintf("%s, SHA-256 %.12s, %d inputs at once", base(m.Path), m.SHA256,
				m.Batch))
		}
		add("engine"+of, j.Engine.String())
		add("samples"+of, words.Count(j.Count))
		add("shards"+of, words.Count(len(j.Shards())))
		add("seed"+of, strconv.FormatUint(j.Seed, 10))
		if w := j.Study.Group.Window; len(w) == 2 {
			add("window"+of, fmt.Sprintf("%d x %d pixels (height x width)", w[0], w[1]))
		}
		if m := p.at.run.Manifest(); m != nil {
			for _, k := range slices.Sorted(maps.Keys(m.Versions)) {
				add(k+of, m.Versions[k])
			}
		}
	}
	add("mean over the orbit", r.job.Measure)
	add("output moves", r.job.Study.Output.Action)
	return out
}

// base is the name of a file, whichever system its path is of.
func base(path string) string {
	if i := lastSeparator(path); i >= 0 {
		path = path[i+1:]
	}
	return path
}

func lastSeparator(path string) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' || path[i] == '\\' {
			return i
		}
	}
	return -1
}

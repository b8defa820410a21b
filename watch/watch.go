// Package watch says of models that are audited or run again and again whether they become worse: it reads the audits
// and runs below a folder, joins those that ask the same to series, and judges each series by package trend, so that
// whoever looks at every release is told no more often of a change that is none than whoever looks once.
package watch

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/internal/elementary"
	"nero/measure/aggregate"
	"nero/present/words"
	"nero/run/trend"

	"golang.org/x/sync/errgroup"
)

// FormatNumber is that of [Report] in JSON. It grows whenever a field changes its meaning.
const FormatNumber = 1

// Number is a number that may be undefined, null in JSON.
type Number = document.Number

// Report is what was found, watch.json.
type Report struct {
	Format int `json:"format" jsonschema:"enum=1"`
	// the answer, in a sentence
	Sentence string `json:"sentence"`
	// of all series: alarm if one is, then empty, then not finite, then open
	State trend.State `json:"state" jsonschema:"enum=ok,enum=alarm,enum=improved,enum=open,enum=incomparable,enum=empty,enum=not finite"`
	By    string      `json:"by"`
	// what a release is compared with: first, best, or a name
	Reference string `json:"reference"`
	// probability of any false alarm, of all lines of one study and one kind of evidence together
	Alarm Number `json:"alarm"`
	// relative change for the worse that is none yet
	Allow Number `json:"allow"`
	// share of new objects that may fail
	Rate Number `json:"rate"`
	// what a new object may have and not fail; null for the threshold of each audit
	Limit  Number `json:"limit"`
	Audits int    `json:"audits"`
	Runs   int    `json:"runs"`
	// files that hold what another one holds, at the same place in the order
	Copies int `json:"copies"`
	// what is doubtful about the order, and of which runs it is not known whether their outputs vary
	Notes   []string  `json:"notes,omitempty"`
	Skipped []Skipped `json:"skipped"`
	Series  []*Series `json:"series"`
}

// Skipped is a file that was left out.
type Skipped struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// The kinds of evidence.
const (
	// SameInputs: each release is asked the same, and compared in pairs.
	SameInputs = "same inputs"
	// NewInputs: each release is asked about objects that were not asked before, which add up.
	NewInputs = "new inputs"
)

// Series is one number of each object, release after release.
type Series struct {
	// digest of all that two releases share if they are of one series
	Key      string `json:"key"`
	Evidence string `json:"evidence" jsonschema:"enum=same inputs,enum=new inputs"`
	Metric   string `json:"metric"`
	Set      string `json:"set"`
	Unit     string `json:"unit,omitempty"`
	Better   string `json:"better" jsonschema:"enum=lower,enum=higher"`
	// where the models of one file are told apart
	Model string `json:"model,omitempty"`
	Group string `json:"group"`
	// in what it asks another question than the longest series of this number
	Apart []string `json:"apart,omitempty"`
	// release that the others are compared with
	Reference string `json:"reference,omitempty"`
	// probability of a false alarm of this line
	Level  Number  `json:"level"`
	Points []Point `json:"points"`
	// natural logarithms of the evidence after each release, for new inputs
	LogE   []Number `json:"log_e_values,omitempty"`
	Alarms []string `json:"alarms"`
	// of the last release
	State trend.State `json:"state" jsonschema:"enum=ok,enum=alarm,enum=improved,enum=open,enum=incomparable,enum=empty,enum=not finite"`
	// why, where it is open, incomparable, empty or not finite
	Why        string `json:"why,omitempty"`
	FirstAlarm *First `json:"first_alarm,omitempty"`
	// between the first alarm and the release before
	Changed []string `json:"changed,omitempty"`
	// per release, of the means over objects
	Slope *Estimate `json:"slope,omitempty"`
	// of checkpoints of a training, what becomes of the symmetry
	Course *Course `json:"course,omitempty"`
	// of new inputs, what is needed to go on without the files of these releases
	Memory *Memory `json:"memory,omitempty" jsonschema:"-"`
}

// Point is a release in a series.
type Point struct {
	Release string `json:"release"`
	File    string `json:"file"`
	// of the model's file
	Digest  string `json:"sha256,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	// objects with a number; of new inputs, those that were not asked before
	N int `json:"n"`
	// objects without a number
	Missing int `json:"missing,omitempty"`
	// objects that were asked before, and are no new evidence
	Repeated int `json:"repeated,omitempty"`
	// new objects that failed
	Failed int `json:"failed,omitempty"`
	// mean over objects; of new inputs the share that failed up to here
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	// the release that it is compared with, and the change against it with an interval at the level of the comparison
	Against string      `json:"against,omitempty"`
	Change  *Estimate   `json:"change,omitempty"`
	Level   *Number     `json:"level,omitempty"`
	State   trend.State `json:"state" jsonschema:"enum=ok,enum=alarm,enum=improved,enum=open,enum=incomparable,enum=empty,enum=not finite"`
	Why     string      `json:"why,omitempty"`
	// means over the objects that have a number at both, and how many these are
	before, after float64
	both          int
}

// Empty is the state of a release of which the audit says that no error can show: its outputs do not vary, or its
// features have collapsed. It passes nothing and is no alarm; its errors are in no comparison, course or memory.
const Empty trend.State = "empty"

// NotFinite is the state of a release some of whose errors are not finite, where that is no alarm since they never
// were:
// such an error is compared with nothing, and is never a small one.
const NotFinite trend.State = "not finite"

// Estimate is a number with its interval.
type Estimate struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
}

// First is the first alarm.
type First struct {
	Release string `json:"release"`
	// its place among the releases of the series, from 1
	Place int `json:"place"`
	Of    int `json:"of"`
	// objects that had been asked
	N       int    `json:"n"`
	Message string `json:"message"`
	// that lays the two releases side by side
	Command string `json:"command,omitempty"`
	// place of the release among all, from 1; 0 where it was told by an earlier report
	at int
}

// Options of a watch.
type Options struct {
	// Folder is what was read, for commands that the report names.
	Folder string
	By     *By
	// Workers is how many series are judged at once, at least 1. No number depends on it.
	Workers int
	// Metrics are those that are watched; none for all.
	Metrics []string
	// Reference is first, best, or the name of a release: its label, its model or its file.
	Reference string
	// Alarm is the probability of a false alarm, Allow the relative change for the worse that is none, Rate the share
	// of new objects that may fail, Limit what an object may have, NaN for the threshold of each audit.
	Alarm, Allow, Rate, Limit float64
	// Before is an earlier report that new inputs go on from; nil for none.
	Before *Report
	// Fresh says that objects of other data are new, even if they have the names of earlier ones.
	Fresh bool
	// Training says that the releases are checkpoints of a training, whatever their order is called.
	Training bool
}

// shown is the confidence of intervals that stand beside the numbers of a release; what alarms depend on has a level of
// its own.
const shown = 0.95

// The references that are no names.
const (
	first = "first"
	best  = "best"
)

// Good reports whether no series is in alarm, and none ends with a release whose error says nothing or is not finite.
func (r *Report) Good() bool {
	return r.State != trend.Alarm && r.State != Empty && r.State != NotFinite
}

// Alarmed reports whether a series is in alarm.
func (r *Report) Alarmed() bool { return r.State == trend.Alarm }

// Judge judges releases.
func Judge(all []*Release, o Options) (*Report, error) {
	r := &Report{
		Format: FormatNumber, By: o.By.Name, Reference: o.Reference, Alarm: Number(o.Alarm), Allow: Number(o.Allow),
		Rate: Number(o.Rate), Limit: Number(o.Limit), Skipped: []Skipped{}, Series: []*Series{},
	}
	if err := o.goesOn(); err != nil {
		return nil, err
	}
	in, copies, skipped := ordered(all, o.By)
	r.Copies, r.Skipped = copies, append(r.Skipped, skipped...)
	if err := o.known(in); err != nil {
		return nil, err
	}
	for i, of := range in {
		of.place = i + 1
	}
	r.Notes = append(o.By.notes(in), unknown(in)...)
	rows := o.rows(in)
	chains := o.series(rows)
	r.Series = make([]*Series, len(chains))
	var g errgroup.Group
	g.SetLimit(max(1, o.Workers))
	for i, c := range chains {
		g.Go(func() error {
			r.Series[i] = o.judge(c)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r.State, r.Sentence = r.sums()
	if c := r.course(); c != nil {
		r.Sentence = c.Sentence + " " + r.Sentence
	}
	return r, nil
}

// known refuses metrics and references that no release has.
func (o *Options) known(in []*Release) error {
	var metrics, names []string
	seen := map[string]bool{}
	add := func(to *[]string, kind, name string) {
		if !seen[kind+name] {
			seen[kind+name] = true
			*to = append(*to, name)
		}
	}
	for _, r := range in {
		for i := range r.Lines {
			add(&metrics, "metric ", r.Lines[i].Metric)
		}
		for _, n := range r.names() {
			add(&names, "release ", n)
		}
	}
	if len(in) == 0 {
		return nil
	}
	for _, m := range o.Metrics {
		if !slices.Contains(metrics, m) {
			return fmt.Errorf("no release has the metric %q: there are %s", m, strings.Join(metrics, ", "))
		}
	}
	if o.Reference != first && o.Reference != best && !slices.Contains(names, o.Reference) {
		const most = 12
		return fmt.Errorf("no release is called %q: want first, best, or one of %s", o.Reference,
			strings.Join(names[:min(most, len(names))], ", "))
	}
	why := ""
	for _, r := range in {
		if !slices.Contains(r.names(), o.Reference) {
			continue
		}
		if r.Empty == "" {
			return nil
		}
		why = r.nothing()
	}
	if why != "" {
		return fmt.Errorf("release %q is no reference: %s; want first, best, or another release", o.Reference, why)
	}
	return nil
}

// nothing says why the errors of an empty release say nothing.
func (r *Release) nothing() string { return "its " + r.Empty + ", so that its error says nothing" }

// names are by what a release may be asked for.
func (r *Release) names() []string {
	all := []string{r.label, r.Model, r.File}
	if r.ModelFile != "" && r.ModelFile != "." {
		all = append(all, r.ModelFile)
	}
	return all
}

// row is one line of one release.
type row struct {
	of   *Release
	line *Line
	// all that is asked; with the objects in exact, without them and the seed that chose them in any
	facts      []Fact
	exact, any string
	// number of the study alone, without what is measured of it
	study string
}

// rows are the lines that are watched. Models are told apart by their names where one file holds several under one
// question, else they are releases of one model, whatever they are called.
func (o *Options) rows(in []*Release) []row {
	type place struct{ question, file string }
	count, several := map[place]int{}, map[string]bool{}
	for _, r := range in {
		p := place{keyOf(r.Terms), r.File}
		if count[p]++; count[p] > 1 {
			several[p.question] = true
		}
	}
	var all []row
	for _, r := range in {
		named := several[keyOf(r.Terms)]
		for i := range r.Lines {
			l := &r.Lines[i]
			if len(o.Metrics) > 0 && !slices.Contains(o.Metrics, l.Metric) {
				continue
			}
			x := row{of: r, line: l, facts: r.question(l, named)}
			x.any = keyOf(x.facts, "seed")
			x.facts = append(x.facts, Fact{"data", r.DataDigest}, Fact{"inputs", fmt.Sprintf("%d, %s", len(l.Objects),
				l.Inputs)})
			x.exact = keyOf(x.facts)
			x.study = keyOf(x.facts, "set", "metric", "elements", "unit")
			all = append(all, x)
		}
	}
	return all
}

// chain is the lines of one series.
type chain struct {
	key, evidence string
	rows          []row
	// what it goes on from; nil for nothing
	former *Series
	// lines that share the level
	lines int
	apart []string
}

// series joins lines that ask the same of the same objects, and those that ask the same of other objects each time.
func (o *Options) series(rows []row) []*chain {
	var out []*chain
	byExact, byAny := map[string]*chain{}, map[string][]*chain{}
	for _, x := range rows {
		c := byExact[x.exact]
		if c == nil {
			c = &chain{key: x.exact, evidence: SameInputs}
			byExact[x.exact] = c
			byAny[x.any] = append(byAny[x.any], c)
			out = append(out, c)
		}
		c.rows = append(c.rows, x)
	}
	streams := map[string]*chain{}
	for _, x := range rows {
		// Errors alone fail or do not; the mean of one object is no further evidence.
		key := digestOf(NewInputs, x.any)
		if x.line.Metric != largest || len(byAny[x.any]) < 2 && o.former(key) == nil {
			continue
		}
		c := streams[x.any]
		if c == nil {
			c = &chain{key: key, evidence: NewInputs, former: o.former(key)}
			streams[x.any] = c
			out = append(out, c)
		}
		c.rows = append(c.rows, x)
	}
	// A release alone says nothing that the stream which it is part of does not say.
	out = slices.DeleteFunc(out, func(c *chain) bool {
		x := c.rows[0]
		return c.evidence == SameInputs && len(c.rows) == 1 && (streams[x.any] != nil ||
			x.line.Metric == average && len(byAny[x.any]) > 1)
	})
	o.share(out)
	return out
}

// share says of each series with how many others it shares the level, and what it asks that the longest one does not.
func (o *Options) share(all []*chain) {
	study := func(c *chain) string {
		if c.evidence == NewInputs {
			return NewInputs + keyOf(c.rows[0].facts, "set", "metric", "elements", "unit", "data", "inputs", "seed")
		}
		return c.rows[0].study
	}
	lines := map[string]int{}
	longest := map[string]*chain{}
	number := func(c *chain) string {
		return c.evidence + "\x00" + c.rows[0].line.Set + "\x00" + c.rows[0].line.Metric
	}
	for _, c := range all {
		lines[study(c)]++
		if l := longest[number(c)]; l == nil || len(c.rows) > len(l.rows) {
			longest[number(c)] = c
		}
	}
	for _, c := range all {
		c.lines = lines[study(c)]
		if l := longest[number(c)]; l != c {
			c.apart = differ(l.rows[0].facts, c.rows[0].facts)
		}
	}
}

// judge judges a series.
func (o *Options) judge(c *chain) *Series {
	x := c.rows[0]
	s := &Series{
		Key: c.key, Evidence: c.evidence, Metric: x.line.Metric, Set: x.line.Set, Unit: x.line.Unit, Better: "lower",
		Group: x.of.Terms[0].Value, Apart: c.apart, Level: Number(o.Alarm / float64(c.lines)),
		Alarms: []string{},
	}
	if x.line.Higher {
		s.Better = "higher"
	}
	for _, f := range x.facts {
		if f.Name == "model" {
			s.Model = f.Value
		}
	}
	times := map[string]int{}
	if c.former != nil {
		c.goOn(s, times)
	}
	for _, x := range c.rows {
		p := Point{
			Release: x.of.label, File: x.of.File, Digest: x.of.Digest, Verdict: x.of.Verdict, State: trend.Open,
			Value: Number(math.NaN()), Low: Number(math.NaN()), High: Number(math.NaN()),
		}
		if x.of.Empty != "" {
			p.State, p.Why = Empty, x.of.nothing()
		}
		if times[p.Release]++; times[p.Release] > 1 {
			p.Release = fmt.Sprintf("%s #%d", p.Release, times[p.Release])
		}
		s.Points = append(s.Points, p)
	}
	if c.evidence == NewInputs {
		o.stream(s, c)
	} else {
		o.pairs(s, c)
		s.holes(c)
	}
	for i, p := range s.Points {
		if p.State != trend.Alarm {
			continue
		}
		s.Alarms = append(s.Alarms, p.Release)
		if s.FirstAlarm == nil && i >= len(s.Points)-len(c.rows) {
			s.first(c, i, o.Folder)
		}
	}
	if s.FirstAlarm != nil { // of an earlier report there were fewer releases
		f := *s.FirstAlarm
		f.Of = len(s.Points)
		s.FirstAlarm = &f
	}
	last := s.Points[len(s.Points)-1]
	s.State, s.Why = last.State, last.Why
	if s.State == Empty && s.Evidence == NewInputs && len(s.Alarms) > 0 {
		s.State = trend.Alarm // what was shown was shown
	}
	return s
}

// telling are the places of the releases whose errors say something.
func (c *chain) telling() []int {
	var at []int
	for i, x := range c.rows {
		if x.of.Empty == "" {
			at = append(at, i)
		}
	}
	return at
}

// pairs compares each release with the reference.
func (o *Options) pairs(s *Series, c *chain) {
	by := aggregate.NewIntervals(draws(s.Key))
	for i, x := range c.rows {
		p := &s.Points[i]
		var m aggregate.Moments
		for k, v := range x.line.Values {
			if math.IsInf(v, 0) {
				v = math.NaN()
			}
			m.Add(v, k)
		}
		p.N, p.Missing = m.N, m.NaN
		if m.N == 0 || x.of.Empty != "" {
			continue
		}
		v := by.Mean(m, shown)
		p.Value, p.Low, p.High = Number(m.Mean), Number(v.Low), Number(v.High)
		if !x.line.Higher && m.Min >= 0 {
			p.Low = max(p.Low, 0) // no error is negative
		}
	}
	told := c.telling()
	if o.training() {
		s.Course = s.course(c, told)
	}
	if len(told) == 0 {
		return
	}
	at := 0 // among those
	if o.Reference != first && o.Reference != best {
		at = slices.IndexFunc(told, func(i int) bool { return slices.Contains(c.rows[i].of.names(), o.Reference) })
	}
	if at < 0 {
		for _, i := range told {
			s.Points[i].State, s.Points[i].Why = trend.Incomparable,
				"the reference "+o.Reference+" is none of this series"
		}
		return
	}
	s.Reference = s.Points[told[at]].Release
	for _, i := range told[:at] {
		s.Points[i].Why = "before the reference"
	}
	s.Points[told[at]].Why = "the reference"
	if len(told) == 1 {
		s.Points[told[at]].Why = "there is no other release to compare it with"
	}
	from := at // levels are counted from there: one that is best later does not begin them anew
	for k := at + 1; k < len(told); k++ {
		level := trend.Level(float64(s.Level), k-from)
		if o.Reference == best { // which one is the best was seen, so any of them might have been
			at = s.best(told[:k], at, c.rows[told[k]].line.Higher)
			level /= float64(k)
			s.Reference = s.Points[told[at]].Release
		}
		s.compare(c, told[at], told[k], o.Allow, level, by)
	}
	if len(told) >= 3 {
		values := make([][]float64, len(told))
		for k, i := range told {
			values[k] = c.rows[i].line.Values
		}
		if slope, i := trend.Slope(values, shown, draws(s.Key)()); !math.IsNaN(slope) {
			s.Slope = &Estimate{Number(slope), Number(i.Low), Number(i.High)}
		}
	}
}

// holes are the releases with errors that are not finite; what a run has no number for may have none.
func (s *Series) holes(c *chain) {
	for _, i := range c.telling() {
		p, l := &s.Points[i], c.rows[i].line
		if p.Missing == 0 || p.State == trend.Alarm || math.IsNaN(l.Limit) {
			continue
		}
		none := slices.IndexFunc(l.Values, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		p.State, p.Why = NotFinite, fmt.Sprintf("%s without a finite error, first %s, and there is none to compare it "+
			"with", words.Plural(p.Missing, "object is", "objects are"), l.Objects[none])
	}
}

// training tells whether releases are checkpoints.
func (o *Options) training() bool { return o.Training || o.By.Name == epochs }

// best is the best of some releases, the one at a place among them if none is better.
func (s *Series) best(among []int, at int, higher bool) int {
	for k, i := range among {
		p, now := &s.Points[i], &s.Points[among[at]]
		a, b := float64(p.Value), float64(now.Value)
		if p.Missing > now.Missing || math.IsNaN(a) {
			continue
		}
		if math.IsNaN(b) || !higher && a < b || higher && a > b {
			at = k
		}
	}
	return at
}

// draws are generators that depend on the series alone.
func draws(key string) func() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(key))
	return func() *rand.Rand { return rand.New(rand.NewPCG(h.Sum64(), 6)) }
}

// leastLevel is the smallest level of a comparison: 1 less it is a confidence that is still told from 1.
const leastLevel = 1e-15

// compare compares a release with another one.
func (s *Series) compare(c *chain, with, i int, allow, level float64, by *aggregate.Intervals) {
	p, l, other := &s.Points[i], c.rows[i].line, c.rows[with].line
	d := trend.Against(other.Values, l.Values, trend.Question{
		Higher: l.Higher, Allow: allow, Level: max(level, leastLevel),
	}, by)
	n := Number(level)
	p.Level, p.State, p.Against = &n, d.State, s.Points[with].Release
	p.before, p.after, p.both = d.Before, d.After, d.Change.N
	if level < leastLevel && len(d.Lost) == 0 {
		p.State, p.Why = trend.Open, fmt.Sprintf("the level of its comparison, %s, is smaller than can be computed",
			words.Figures(level))
		return
	}
	p.Change = &Estimate{Number(d.After - d.Before), Number(d.Change.Low), Number(d.Change.High)}
	switch {
	case len(d.Lost) > 0:
		p.Why = fmt.Sprintf("%s without a finite number that had one, first %s", words.Plural(len(d.Lost), "object is",
			"objects are"), l.Objects[d.Lost[0]])
	case (d.State == trend.Alarm || d.State == trend.Open) && l.excused(p, other):
		p.State, p.Why = trend.OK, "no error is more than rounding"
	case d.Few:
		p.Why = fmt.Sprintf("%s with a number at both, and fewer than %d show nothing of others",
			words.Plural(p.both, "object", "objects"), trend.LeastObjects)
	case d.State == trend.Open:
		p.Why = "neither a change beyond what is allowed nor its absence is shown"
	}
}

// first tells of the first alarm.
func (s *Series) first(c *chain, i int, folder string) {
	p := s.Points[i]
	f := &First{Release: p.Release, Place: i + 1, Of: len(s.Points), N: p.N}
	number := s.Metric + " error on the " + s.Set
	at := i - (len(s.Points) - len(c.rows))
	f.at = c.rows[at].of.place
	if math.IsNaN(c.rows[at].line.Limit) { // a metric of a run
		number = "mean of " + s.Metric
	}
	switch {
	case s.Evidence == NewInputs:
		f.N = 0
		for _, q := range s.Points[:i+1] {
			f.N += q.N
		}
		f.Message = fmt.Sprintf("more than the allowed share of new inputs fails on the %s, %s so far, with evidence "+
			"of %s to 1", s.Set, words.Percent(float64(p.Value)), evidence(float64(s.LogE[i])))
	case p.Why != "":
		f.Message = fmt.Sprintf("%s: %s", number, p.Why)
	default:
		over := ""
		if p.both < p.N { // the others have none at the other release
			over = fmt.Sprintf(" over the %s with one at both", words.Plural(p.both, "object", "objects"))
		}
		f.Message = fmt.Sprintf("the %s is %s%s, and was %s at release %s", number, words.Figures(p.after), over,
			words.Figures(p.before), p.Against)
	}
	s.FirstAlarm = f
	if at == 0 {
		return
	}
	a, b := c.rows[at-1].of, c.rows[at].of
	f.Command = compares(path.Join(folder, a.File), path.Join(folder, b.File))
	for _, x := range []struct{ name, was, is string }{
		{"model", a.Digest, b.Digest},
		{"name of the model", a.Model, b.Model},
		{"engine", a.Engine, b.Engine},
		{"data", a.DataDigest, b.DataDigest},
		{"program", a.Program, b.Program},
		{"verdict", a.Verdict, b.Verdict},
	} {
		if x.was != x.is {
			s.Changed = append(s.Changed, fmt.Sprintf("%s: %s -> %s", x.name, clip(cmp.Or(x.was, "not known")),
				clip(cmp.Or(x.is, "not known"))))
		}
	}
	if len(s.Changed) == 0 {
		s.Changed = []string{"nothing that the files tell"}
	}
}

// compares is the command that lays two files side by side.
func compares(a, b string) string { return words.Line("nero compare " + quoted(a) + " " + quoted(b)) }

// quoted is a path as a shell reads it.
func quoted(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// evidence writes e^x.
func evidence(x float64) string {
	if x < 20 {
		return words.Figures(elementary.Exp(x))
	}
	return fmt.Sprintf("10^%.0f", x/math.Ln10)
}

// stream adds up the evidence of new objects.
func (o *Options) stream(s *Series, c *chain) {
	m := s.Memory
	if m == nil {
		m = &Memory{Stream: trend.NewStream(o.Rate), Interval: aggregate.NewMeanSequence(shown)}
		s.Memory = m
	}
	seen := map[string]bool{}
	for _, name := range m.Seen {
		seen[name] = true
	}
	goal := -elementary.Log(float64(s.Level))
	alarmed := slices.ContainsFunc(s.Points, func(p Point) bool { return p.State == trend.Alarm })
	for i, x := range c.rows {
		p, limit := &s.Points[len(s.Points)-len(c.rows)+i], o.Limit
		if math.IsNaN(limit) {
			limit = x.line.Limit
		}
		if p.State == Empty {
			m.Releases = append(m.Releases, x.of.Content)
			s.LogE = append(s.LogE, s.evidence())
			continue
		}
		var t aggregate.Tally
		for k, id := range x.line.Objects {
			name := digestOf(id)
			if o.Fresh {
				name = digestOf(x.of.DataDigest, id)
			}
			if seen[name] {
				p.Repeated++
				continue
			}
			seen[name] = true
			m.Seen = append(m.Seen, name)
			fails := 0.0
			if t.N++; aggregate.Exceeds(x.line.Values[k], limit) {
				t.Over++
				fails = 1
			}
			if math.IsNaN(x.line.Values[k]) {
				t.Missing++
			}
			m.Interval.Add(fails)
		}
		m.Releases = append(m.Releases, x.of.Content)
		p.N, p.Failed, p.Missing = t.N, t.Over, t.Missing
		e := m.Stream.Release(t)
		s.LogE = append(s.LogE, Number(e))
		if total := m.Stream.Tally(); total.N > 0 {
			iv := m.Interval.Interval()
			p.Value, p.Low, p.High = Number(float64(total.Over)/float64(total.N)), Number(iv.Low), Number(iv.High)
		}
		alarmed = alarmed || e >= goal
		switch {
		case alarmed:
			p.State = trend.Alarm
		case p.High <= Number(o.Rate):
			p.State = trend.OK
		default:
			p.Why = "neither that the rate is above what is allowed nor that it is not is shown"
		}
		if p.N == 0 && p.Repeated > 0 && !alarmed {
			p.Why = "all its samples have names that earlier releases have, and the same inputs are no new evidence"
		}
	}
}

// evidence is that so far, as a logarithm; 0 before the first release.
func (s *Series) evidence() Number {
	if len(s.LogE) == 0 {
		return 0
	}
	return s.LogE[len(s.LogE)-1]
}

// alarmed is the series with the first alarm of all, of some; nil for none.
func (r *Report) alarmed(some func(s *Series) bool) *Series {
	var out *Series
	for _, s := range r.Series {
		if s.FirstAlarm != nil && some(s) && (out == nil || s.FirstAlarm.at < out.FirstAlarm.at) {
			out = s
		}
	}
	return out
}

// course is that of the longest series of largest errors; nil for none.
func (r *Report) course() *Course {
	var out *Course
	for _, s := range r.Series {
		if s.Metric == largest && s.Course != nil && (out == nil || s.Course.Of > out.Of) {
			out = s.Course
		}
	}
	return out
}

// empty says which releases say nothing and why, those that a series ends with first; nothing where there are none.
func (r *Report) empty() string {
	type kind struct {
		first *Point
		why   string
		more  int
	}
	var kinds []*kind
	seen := map[string]bool{}
	for _, ends := range []bool{true, false} {
		for _, s := range r.Series {
			for i := range s.Points {
				p := &s.Points[i]
				id := s.Model + "\x00" + p.File
				if p.State != Empty || ends != (i == len(s.Points)-1) || seen[id] {
					continue
				}
				seen[id] = true
				if at := slices.IndexFunc(kinds, func(k *kind) bool { return k.why == p.Why }); at >= 0 {
					kinds[at].more++
					continue
				}
				kinds = append(kinds, &kind{first: p, why: p.Why})
			}
		}
	}
	var all []string
	for _, k := range kinds {
		more := ""
		if k.more > 0 {
			more = fmt.Sprintf(", like %d more", k.more)
		}
		all = append(all, fmt.Sprintf("Release %s%s: %s.", k.first.Release, more, k.why))
	}
	return strings.Join(all, " ")
}

// sums are the state of all series, and the answer.
func (r *Report) sums() (trend.State, string) {
	state, answer := r.judged()
	switch empty := r.empty(); {
	case empty == "":
	case state == Empty:
		answer = empty + " " + answer
	default:
		answer += " " + empty
	}
	return state, answer
}

// judged are both by what is shown.
func (r *Report) judged() (trend.State, string) {
	count := map[trend.State]int{}
	for _, s := range r.Series {
		count[s.State]++
	}
	worst := r.alarmed(func(s *Series) bool { return s.State == trend.Alarm })
	n, none := words.Plural(len(r.Series), "line", "lines"), "No alarm"
	if s := r.alarmed(func(*Series) bool { return true }); s != nil {
		none = fmt.Sprintf("No alarm any more (there was one at release %s)", s.FirstAlarm.Release)
	}
	switch {
	case worst != nil:
		f := worst.FirstAlarm
		return trend.Alarm, fmt.Sprintf("ALARM in %d of %s, the first at release %s (%d of %d): %s.",
			count[trend.Alarm], n, f.Release, f.Place, f.Of, f.Message)
	case len(r.Series) == 0:
		return trend.Open, "There is nothing to watch."
	case count[Empty] > 0:
		return Empty, fmt.Sprintf("%s, but %d of %s end with a release that says nothing.", none, count[Empty], n)
	case count[NotFinite] > 0:
		return NotFinite, fmt.Sprintf("%s, but %d of %s end with a release in which errors are not finite, and such "+
			"an error passes nothing.", none, count[NotFinite], n)
	case count[trend.OK]+count[trend.Improved] == len(r.Series) && count[trend.Improved] > 0:
		return trend.Improved, fmt.Sprintf("%s: %d of %s improved, and the others are no worse than "+
			"allowed.", none, count[trend.Improved], n)
	case count[trend.OK] == len(r.Series):
		return trend.OK, fmt.Sprintf("%s: %s, and no last release is worse than allowed.", none, n)
	case count[trend.Incomparable] == len(r.Series):
		return trend.Incomparable, "Nothing could be compared with the reference."
	}
	return trend.Open, fmt.Sprintf("%s, and not all is shown: of %s %d are no worse than allowed, %d are open and %d "+
		"cannot be compared.", none, n, count[trend.OK]+count[trend.Improved], count[trend.Open],
		count[trend.Incomparable])
}

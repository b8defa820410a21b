package repeat

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/measure/aggregate"
	"nero/measure/agreement"
	"nero/measure/twosample"
	"nero/present/words"
)

// resamples are those of an interval.
const resamples = 999

// mostFailed is the share of questions without an answer above which nothing is a PASS.
const mostFailed = 0.05

// Options say how answers are judged.
type Options struct {
	Times      int
	Seed       uint64
	Confidence float64
	// Threshold is the largest effect of a view that is none.
	Threshold float64
	// Reference is the place of the view that others are compared with.
	Reference int
	// Contract is what is promised; nil for nothing.
	Contract *aggregate.Contract
	// Before is an earlier report whose stream goes on; nil for none.
	Before *Report
	// Rules are what was done with texts.
	Rules []string
	// Seeds are the parameters that models draw by, one for each round, the same for all views and objects; nil for
	// none.
	Seeds []int
	// Bust names the parameter that is another one in every request; empty for none.
	Bust string
}

// answered are the answers to one view of one object, without what is none.
type answered struct {
	classes []int
	numbers [][]float64
	raws    []string
	// in which round each came
	rounds []int
}

// of are the answers of some rounds, in their order.
func (a answered) of(rounds []int) answered {
	var out answered
	for _, k := range rounds {
		i := slices.Index(a.rounds, k)
		out.classes = append(out.classes, a.classes[i])
		out.numbers = append(out.numbers, a.numbers[i])
		out.rounds = append(out.rounds, k)
	}
	return out
}

// book is the answers of one model, by classes.
type book struct {
	*Subject
	o Options
	// at [object][view]
	of [][]answered
	// of each object: the texts of its classes
	texts [][]string
	// right answers as classes
	truth    []int
	numbers  bool
	scale    float64
	answered int
	// of each view, how many questions there were, and how many have an answer
	asked, told []int
}

func newBook(s *Subject, all Times, o Options) *book {
	b := &book{
		Subject: s, o: o, numbers: true, asked: make([]int, len(s.Views)), told: make([]int, len(s.Views)),
	}
	for i, t := range s.Things {
		class := map[string]int{}
		var texts []string
		row := make([]answered, len(s.Views))
		for v := range s.Views {
			b.asked[v] += len(all[i][v])
			for round, a := range all[i][v] {
				if a.Outcome != Answered {
					continue
				}
				k, ok := class[a.Text]
				if !ok {
					k = len(texts)
					class[a.Text] = k
					texts = append(texts, a.Text)
				}
				row[v].classes = append(row[v].classes, k)
				row[v].numbers = append(row[v].numbers, a.Numbers)
				row[v].raws = append(row[v].raws, a.Raw)
				row[v].rounds = append(row[v].rounds, round)
				b.numbers = b.numbers && a.Numbers != nil
				b.answered++
				b.told[v]++
			}
		}
		truth := agreement.Unlabelled
		if t.Labelled {
			truth = agreement.Never
			if k, ok := class[t.Label]; ok {
				truth = k
			}
		}
		b.of, b.texts, b.truth = append(b.of, row), append(b.texts, texts), append(b.truth, truth)
	}
	b.numbers = b.numbers && b.answered > 0
	if b.numbers {
		var objects [][][]float64
		for _, row := range b.of {
			var rows [][]float64
			for _, a := range row {
				rows = append(rows, a.numbers...)
			}
			objects = append(objects, rows)
		}
		b.scale = agreement.Scale(objects)
	}
	return b
}

// apart is the distance of two answers to one object: 0 or 1 for labels, over the centred scale for numbers.
func (b *book) apart(x answered, i int, y answered, j int) float64 {
	return b.distance(x.classes[i] == y.classes[j], x.numbers[i], y.numbers[j])
}

// distance is that of two answers that are equal or not.
func (b *book) distance(equal bool, x, y []float64) float64 {
	switch {
	case b.numbers:
		return b.over(agreement.Distance(x, y))
	case equal:
		return 0
	}
	return 1
}

// over is a distance over the centred scale; without one no distance is 0 by division.
func (b *book) over(d float64) float64 {
	if d == 0 {
		return 0
	}
	return d / b.scale
}

// draws is the generator of one purpose.
func (b *book) draws(purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose)) // a hash takes everything
	return rand.New(rand.NewPCG(b.o.Seed, h.Sum64()))
}

// Judge says what the answers of one model say.
func Judge(s *Subject, all Times, o Options) *Model {
	b := newBook(s, all, o)
	m := &Model{Name: s.Model, Place: s.Place, Digest: s.Digest, Engine: s.Engine, Answers: "labels"}
	m.Questions, m.Outcomes = b.outcomes(all)
	if b.numbers {
		m.Answers = "numbers"
		scale := Number(b.scale)
		m.Scale = &scale
	}
	m.Repeats = b.repeats()
	if len(s.Views) > 1 {
		m.OverViews, m.Given = b.views()
		m.Apart = b.far()
	}
	if o.Contract != nil {
		m.Contract = b.contract()
	}
	m.Cached = b.cached()
	m.Depends = b.depends()
	m.Objects = b.objects(all)
	b.verdict(m)
	m.Sentence = b.sentence(m)
	return m
}

func (b *book) outcomes(all Times) (questions int, out []Count) {
	at := map[*Outcome]int{}
	for _, o := range Outcomes() {
		at[o] = len(out)
		out = append(out, Count{Name: o.Name})
	}
	for i, row := range all {
		for v, answers := range row {
			for _, a := range answers {
				questions++
				o := &out[at[a.Outcome]]
				if o.N++; o.N == 1 && a.Outcome != Answered {
					o.Object, o.View, o.Why = b.Things[i].Name, b.Views[v], a.Why
				}
			}
		}
	}
	for k := range out {
		out[k].Share = Number(float64(out[k].N) / float64(questions))
	}
	return questions, slices.DeleteFunc(out, func(o Count) bool { return o.N == 0 })
}

// repeats sums up the answers to the reference; nil where each was asked once.
func (b *book) repeats() *Repeats {
	if b.o.Times < 2 {
		return nil
	}
	ref := b.o.Reference
	var objects []agreement.Object
	var rows [][][]float64
	var spreads []float64
	for i, row := range b.of {
		if !b.Things[i].Has[ref] {
			continue
		}
		objects = append(objects, agreement.Object{Answers: row[ref].classes, Truth: b.truth[i]})
		rows = append(rows, row[ref].numbers)
		if len(row[ref].classes) > 1 && b.numbers {
			spreads = append(spreads, b.over(agreement.Deviation(row[ref].numbers)))
		}
	}
	s := agreement.Summarise(objects, b.o.Confidence)
	r := &Repeats{
		Objects: s.Objects, Few: s.Few, Tied: s.Tied, Agreement: of(s.Agreement), Entropy: of(s.Entropy),
		Full: of(s.Full),
	}
	if b.numbers {
		e := b.mean(spreads, "spread", b.o.Confidence)
		r.Spread = &e
		for _, x := range agreement.InCommon(rows) {
			r.Digits = append(r.Digits, Number(x))
		}
	}
	if c := s.Judged; c != nil {
		r.Correct = &Correct{
			ConsistentRight: c.SteadyRight, ConsistentWrong: c.SteadyWrong, VaryingRight: c.VaryingRight,
			VaryingWrong: c.VaryingWrong, Errors: of(c.Errors), One: of(c.One), Mode: of(c.Modal), Best: of(c.Best),
		}
		for _, s := range c.Shares {
			r.Correct.Shares = append(r.Correct.Shares, of(s))
		}
	}
	return r
}

// mean is that of one number for each object. A number that is none leaves no mean.
func (b *book) mean(values []float64, purpose string, confidence float64) Estimate {
	var m aggregate.Moments
	for i, v := range values {
		m.Add(v, i)
	}
	e := Estimate{Number(math.NaN()), Number(math.Inf(-1)), Number(math.Inf(1)), m.N}
	if m.NaN > 0 || m.N == 0 {
		return e
	}
	iv := aggregate.StudentBootstrap(values, resamples, confidence, b.draws(purpose))
	return Estimate{Number(m.Mean), Number(iv.Low), Number(iv.High), m.N}
}

// shared is the confidence of the interval of each of several views, so that all hold together.
func (b *book) shared() float64 {
	return 1 - (1-b.o.Confidence)/float64(max(len(b.Views)-1, 1))
}

func (b *book) views() (*Estimate, []*View) {
	var equal []float64 // of each object
	for i := range b.of {
		if x := b.alike(i); !math.IsNaN(x) {
			equal = append(equal, x)
		}
	}
	over := of(agreement.Mean(equal, b.o.Confidence))
	var all []*View
	var p []float64
	for v := range b.Views {
		x := b.view(v)
		all = append(all, x)
		if x.P != nil {
			p = append(p, float64(*x.P))
		}
	}
	adjusted := aggregate.Holm(p)
	for _, x := range all {
		if x.P != nil {
			n := Number(adjusted[0])
			x.PHolm, adjusted = &n, adjusted[1:]
		}
	}
	slices.SortStableFunc(all, func(x, y *View) int {
		of := func(v *View) float64 {
			switch {
			case v.Difference == nil:
				return math.Inf(-1)
			case math.IsNaN(float64(v.Difference.Value)):
				return math.Inf(1)
			}
			return float64(v.Difference.Value)
		}
		return cmp.Compare(of(y), of(x))
	})
	return &over, all
}

// far is how far two answers to different views of an object are apart, pairs of views weighing alike; nil for labels,
// and where no object has answers to two views.
func (b *book) far() *Estimate {
	if !b.numbers {
		return nil
	}
	var all []float64 // of each object
	for _, row := range b.of {
		if d, ok := b.acrossViews(row, b.apart); ok {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil
	}
	e := b.mean(all, "apart", b.o.Confidence)
	return &e
}

// alike is the share of pairs of answers to different views of an object that are equal, pairs of views weighing alike;
// NaN where there are no two views.
func (b *book) alike(i int) float64 {
	equal, ok := b.acrossViews(b.of[i], func(x answered, i int, y answered, j int) float64 {
		if x.classes[i] == y.classes[j] {
			return 1
		}
		return 0
	})
	if !ok {
		return math.NaN()
	}
	return equal
}

// acrossViews is the mean of a number of two answers to different views of an object, pairs of views weighing alike:
// over the pairs that the excess compares, so that no two of them have one seed. It is not ok where there is no such
// pair.
func (b *book) acrossViews(row []answered, of func(x answered, i int, y answered, j int) float64) (float64, bool) {
	sum, views := 0.0, 0
	for v, x := range row {
		for _, y := range row[:v] {
			x, y, seeds := b.rounds(x, y)
			between, n := 0.0, 0
			for i := range x.classes {
				for j := range y.classes {
					if seeds != nil && seeds[i] == seeds[j] {
						continue
					}
					between += of(x, i, y, j)
					n++
				}
			}
			if n > 0 {
				sum, views = sum+between/float64(n), views+1
			}
		}
	}
	return sum / float64(views), views > 0
}

// asksTheSame tells whether a view has the input of the reference for every object that has both.
func (b *book) asksTheSame(v int) bool {
	both, ref := 0, b.o.Reference
	for _, t := range b.Things {
		if !t.Has[v] || !t.Has[ref] {
			continue
		}
		both++
		if t.Inputs == nil || t.Inputs[v] != t.Inputs[ref] {
			return false
		}
	}
	return both > 0
}

// view compares a view with the reference.
func (b *book) view(v int) *View {
	ref := b.o.Reference
	x := &View{Name: b.Views[v], Reference: v == ref}
	var agree, right, differ []float64
	var within []*twosample.Within
	for i, row := range b.of {
		n := len(row[v].classes)
		if n == 0 {
			continue
		}
		x.Objects++
		if n > 1 {
			agree = append(agree, agreement.Of(row[v].classes))
		}
		if b.Things[i].Labelled {
			right = append(right, 1-agreement.Differ([]int{b.truth[i]}, row[v].classes))
		}
		r := len(row[ref].classes)
		if v == ref || r == 0 {
			continue
		}
		if b.o.Times < 2 {
			differ = append(differ, b.apart(row[ref], 0, row[v], 0))
		} else if w := b.within(row[ref], row[v]); w != nil {
			within = append(within, w)
			differ = append(differ, w.Apart()) // of the same pairs, so that both numbers say the same
		}
	}
	if len(agree) > 0 {
		e := of(agreement.Mean(agree, b.o.Confidence))
		x.Agreement = &e
	}
	if len(right) > 0 {
		e := of(agreement.Mean(right, b.o.Confidence))
		x.Accuracy = &e
	}
	if v == ref {
		return x
	}
	e := b.difference(differ, b.Views[v])
	x.Difference = &e
	effect := e
	if b.o.Times > 1 {
		most := 1.0 // labels differ or not
		if b.numbers {
			most = math.Inf(1)
		}
		s := twosample.Moved(within, most, resamples, b.shared(), b.draws("excess of "+b.Views[v]))
		effect = Estimate{Number(s.Excess), Number(s.Low), Number(s.High), s.Objects}
		p := Number(s.P)
		x.Excess, x.P = &effect, &p
	}
	x.vacuous, x.blunt = b.asksTheSame(v), b.blunt()
	switch threshold := b.o.Threshold; {
	case x.vacuous, x.blunt:
		x.State = Open
	case float64(effect.High) < threshold:
		x.State = Same
	case float64(effect.Low) > threshold:
		x.State = Differs
	default:
		x.State = Open
	}
	return x
}

// blunt tells whether no answers could differ by more than the threshold allows.
func (b *book) blunt() bool { return !b.numbers && b.o.Threshold >= 1 }

// several tells whether there is more than one seed.
func several(seeds []int) bool {
	return slices.ContainsFunc(seeds, func(s int) bool { return s != seeds[0] })
}

// rounds are the answers to two views of one object that may be compared. Rounds with a seed ask both with it, so that
// their answers are no two draws: then a round tells where both were answered, and seeds has that of each answer to
// either. Where all rounds have one seed, what they differ by is not of the seed, and seeds is nil.
func (b *book) rounds(one, other answered) (x, y answered, seeds []int) {
	if !several(b.o.Seeds) {
		return one, other, nil
	}
	var both []int
	for _, k := range one.rounds {
		if slices.Contains(other.rounds, k) {
			both = append(both, k)
			seeds = append(seeds, b.o.Seeds[k])
		}
	}
	return one.of(both), other.of(both), seeds
}

// within are the answers to the reference and to another view of one object, for the excess; nil where there are too
// few, of rounds with seeds two of them.
func (b *book) within(still, moved answered) *twosample.Within {
	still, moved, seeds := b.rounds(still, moved)
	if several(b.o.Seeds) && !several(seeds) {
		return nil
	}
	r, n := len(still.classes), len(moved.classes)
	if r < 2 || n < 2 {
		return nil
	}
	at := func(k int) (answered, int) {
		if k < r {
			return still, k
		}
		return moved, k - r
	}
	w := twosample.NewWithin(r, n, func(j, k int) float64 {
		one, a := at(j)
		two, c := at(k)
		return b.apart(one, a, two, c)
	})
	if b.numbers {
		w.Numbers(append(slices.Clone(still.numbers), moved.numbers...))
	}
	if seeds != nil {
		w.Paired(seeds)
	}
	return w
}

// difference is the mean of how much answers to two views differ.
func (b *book) difference(values []float64, view string) Estimate {
	if !b.numbers {
		return of(agreement.Mean(values, b.shared()))
	}
	if len(values) < twosample.LeastObjects {
		e := b.mean(values, "", b.shared())
		e.Low, e.High = Number(math.Inf(-1)), Number(math.Inf(1))
		return e
	}
	return b.mean(values, "difference of "+view, b.shared())
}

// mode is the most frequent answer to the reference about an object, agreement.Never without one.
func (b *book) mode(i int) int {
	k, _ := agreement.Mode(b.of[i][b.o.Reference].classes)
	return k
}

// worst is the largest error of an object over views and repeats; not ok without an answer to the reference, and
// without
// another one, for an answer alone has no error.
func (b *book) worst(i int) (float64, bool) {
	ref, told := b.of[i][b.o.Reference], 0
	for _, a := range b.of[i] {
		told += len(a.classes)
	}
	if len(ref.classes) == 0 || told < 2 {
		return math.NaN(), false
	}
	mode := b.mode(i)
	var center []float64
	if b.numbers {
		center = agreement.Center(ref.numbers)
	}
	most := 0.0
	for _, a := range b.of[i] {
		for k, c := range a.classes {
			d := 0.0
			switch {
			case b.numbers && center == nil:
				d = math.NaN()
			case b.numbers:
				d = b.over(agreement.Distance(a.numbers[k], center))
			case c != mode:
				d = 1
			}
			most = max(most, d) // NaN stays
		}
	}
	return most, true
}

// unit is what a contract counts: an object, or an environment with several.
type unit struct {
	kind, name string
	// of objects with an answer to the reference
	errors []float64
}

// mean is the mean error.
func (u *unit) mean() float64 {
	sum := 0.0
	for _, x := range u.errors {
		sum += x
	}
	return sum / float64(len(u.errors))
}

// What a contract may count.
const (
	objects      = "object"
	environments = "environment"
)

// UnitOf is what a contract about things counts: environments where they are named.
func UnitOf(things []*Thing) string {
	if things[0].Environment != "" {
		return environments
	}
	return objects
}

// units are the objects, or the environments in the order in which they come first.
func (b *book) units() []*unit {
	var all []*unit
	kind, byName := UnitOf(b.Things), map[string]*unit{}
	for i, t := range b.Things {
		name := t.Name
		if kind == environments {
			name = t.Environment
		}
		u := byName[name]
		if u == nil {
			u = &unit{kind: kind, name: name}
			byName[name] = u
			all = append(all, u)
		}
		if x, ok := b.worst(i); ok {
			u.errors = append(u.errors, x)
		}
	}
	return all
}

// digest names an object without showing it.
func digest(name string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return hex.EncodeToString(h.Sum(nil))
}

func (b *book) contract() *Contract {
	c := *b.o.Contract
	out := &Contract{
		Error: Number(c.Tau), Rate: Number(c.P), Confidence: Number(c.Confidence), Seen: []string{},
	}
	seen := map[string]bool{}
	stream := c.Sequence()
	decided := 0
	if before := b.before(); before != nil {
		out.Seen = append(out.Seen, before.Seen...)
		out.Course = append(out.Course, before.Course...)
		for _, d := range before.Seen {
			seen[d] = true
		}
		stream.Resume(aggregate.Tally{N: before.Stream.N, Over: before.Stream.Over}, outcome(before.Stream.State))
		decided = before.Stream.DecidedAt
	}
	var fixed []float64
	known := 0
	units := b.units()
	out.Unit = units[0].kind
	for _, u := range units {
		if len(u.errors) == 0 {
			out.LeftOut++
			continue
		}
		x := u.mean()
		fixed = append(fixed, x)
		d := digest(u.kind + " " + u.name)
		if seen[d] {
			known++
			continue
		}
		seen[d] = true
		out.Seen = append(out.Seen, d)
		if stream.Add(x) != aggregate.Open && decided == 0 {
			decided = stream.Tally().N
		}
		if t := stream.Tally(); told(t.N) {
			kept, broken := evidence(c, t)
			out.Course = append(out.Course, Stage{N: t.N, Over: t.Over, LogKept: kept, LogBroken: broken})
		}
	}
	j := c.Evaluate(fixed)
	low, high := Number(j.Lower), Number(j.Upper)
	out.Fixed = Judged{State: state(j.Outcome), N: j.N, Over: j.Over, Low: &low, High: &high}
	if j.Outcome == aggregate.Open {
		out.Fixed.Need = j.Need
	}
	t := stream.Tally()
	kept, broken := evidence(c, t)
	out.Stream = Judged{
		State: state(stream.Outcome()), N: t.N, Over: t.Over, LogKept: &kept, LogBroken: &broken, DecidedAt: decided,
		Known: known,
	}
	return out
}

// evidence is the logarithms of the evidence that a contract is kept, and that it is broken.
func evidence(c aggregate.Contract, t aggregate.Tally) (kept, broken Number) {
	return Number(aggregate.LogEvidence(1-c.P, aggregate.Tally{N: t.N, Over: t.N - t.Over})),
		Number(aggregate.LogEvidence(c.P, t))
}

// told says whether the course of a stream has a stage after n objects: after each of the first ones, then after every
// second, fourth and so on, so that long streams do not grow long reports, wherever they were interrupted.
func told(n int) bool {
	const each = 9 // bits of the numbers of which all are told
	return n&(1<<max(0, bits.Len(uint(n))-each)-1) == 0
}

// before is the contract of this model in the earlier report.
func (b *book) before() *Contract {
	if b.o.Before == nil {
		return nil
	}
	if m := b.o.Before.Of(b.Model); m != nil {
		return m.Contract
	}
	return nil
}

// contractStates are the words for the outcomes of a contract.
func contractStates() map[aggregate.Outcome]string {
	return map[aggregate.Outcome]string{aggregate.Open: Open, aggregate.Met: Kept, aggregate.Broken: Broken}
}

// state is what is shown in either way: broken if one of them shows that, else kept if one shows that.
func (c *Contract) state() string {
	for _, s := range []string{Broken, Kept} {
		if c.Fixed.State == s || c.Stream.State == s {
			return s
		}
	}
	return Open
}

func state(o aggregate.Outcome) string { return contractStates()[o] }

func outcome(state string) aggregate.Outcome {
	for o, s := range contractStates() {
		if s == state {
			return o
		}
	}
	return aggregate.Open
}

// cached says that repeats look as if somebody had kept the answers; empty if not.
func (b *book) cached() string {
	if b.o.Times < 2 || !b.Drawing {
		return ""
	}
	asked := 0
	for _, row := range b.of {
		for _, a := range row {
			if len(a.raws) < 2 {
				continue
			}
			asked++
			if slices.ContainsFunc(a.raws, func(s string) bool { return s != a.raws[0] }) {
				return ""
			}
		}
	}
	if asked == 0 {
		return ""
	}
	text := fmt.Sprintf("repeats look cached: all answers to each of %s are the same to the last byte",
		words.Plural(asked, "question", "questions"))
	if b.o.Bust != "" {
		return text + fmt.Sprintf(", although the parameter %s was another one in every request: the model does not "+
			"draw, or whoever keeps its answers does not look at that parameter", b.o.Bust)
	}
	return text + "; a model that does not draw answers so, too: repeat.bust names a parameter that is then another " +
		"one in every request, which tells the two apart"
}

func (b *book) objects(all Times) []*Object {
	var out []*Object
	ref := b.o.Reference
	for i, t := range b.Things {
		row := b.of[i]
		mode := b.mode(i)
		worst, _ := b.worst(i)
		x := &Object{
			Name: t.Name, Agreement: Number(agreement.Of(row[ref].classes)), OverViews: Number(b.alike(i)),
			Label: words.Clip(t.Label, mostShown), Error: Number(worst),
		}
		if mode != agreement.Never {
			x.Mode = words.Clip(b.texts[i][mode], mostShown)
		}
		if t.Labelled && mode != agreement.Never {
			right := mode == b.truth[i]
			x.Right = &right
		}
		for v := range row {
			var others []int
			for _, c := range row[v].classes {
				if c != mode {
					others = append(others, c)
				}
			}
			o := Other{View: b.Views[v], Asked: len(all[i][v]), Differ: len(others)}
			o.Without = o.Asked - len(row[v].classes)
			if len(others) > 0 {
				k, _ := agreement.Mode(others)
				o.Answer = words.Clip(b.texts[i][k], mostShown)
			}
			if o.Differ+o.Without > 0 {
				x.Views = append(x.Views, o)
			}
		}
		out = append(out, x)
	}
	key := func(x *Object) float64 { // how much of what can agree does
		k := 0.0
		for _, n := range []Number{x.Agreement, x.OverViews} {
			if v := float64(n); !math.IsNaN(v) {
				k -= 1 - v
			}
		}
		return k
	}
	slices.SortStableFunc(out, func(x, y *Object) int { return cmp.Compare(key(x), key(y)) })
	return out
}

// one is the answer that all objects have at all views and repeats; not ok where there are several answers, or one
// object.
func (b *book) one() (text string, ok bool) {
	told := 0
	for _, texts := range b.texts {
		if len(texts) > 1 || len(texts) == 1 && told > 0 && texts[0] != text {
			return "", false
		}
		if len(texts) == 1 {
			text = texts[0]
			told++
		}
	}
	return text, told > 1
}

// verdict says what is shown of what is claimed.
func (b *book) verdict(m *Model) {
	claims, broken, open := 0, 0, 0
	for _, v := range m.Given {
		if v.Reference {
			continue
		}
		claims++
		switch v.State {
		case Differs:
			broken++
			m.Reasons = append(m.Reasons, "the view "+v.Name+" is answered otherwise")
		case Open:
			open++
			if v.blunt {
				m.Reasons = append(m.Reasons, fmt.Sprintf("answers are labels, which differ by 1 at most, so that an "+
					"excess of %s shows nothing of the view %s", words.Figures(b.o.Threshold), v.Name))
				break
			}
			if v.vacuous {
				m.Reasons = append(m.Reasons, "the view "+v.Name+" asks the same as "+b.Views[b.o.Reference]+
					" of every object, so that nothing is shown of it")
				break
			}
			m.Reasons = append(m.Reasons, "whether the view "+v.Name+" is answered alike is open")
		}
	}
	if c := m.Contract; c != nil {
		claims++
		switch c.state() {
		case Broken:
			broken++
			m.Reasons = append(m.Reasons, "the contract is broken")
		case Open:
			open++
			m.Reasons = append(m.Reasons, "the contract is open")
		}
	}
	if why := b.hollow(m.Depends); why != "" && claims > 0 {
		open++
		empties(m.Given)
		m.Reasons = append(m.Reasons, why)
	}
	m.Verdict = document.Passed
	switch {
	case claims == 0:
		m.Verdict = Described
	case broken > 0:
		m.Verdict = document.Failed
	case open > 0:
		m.Verdict = document.NeedsAttention
	}
	if short, long := b.lengths(); short < long {
		m.Reasons = append(m.Reasons, fmt.Sprintf("answers have from %d to %d numbers, and between two of different "+
			"lengths there is no distance", short, long))
	}
	failed := m.Questions - b.answered
	if share := float64(failed) / float64(m.Questions); !(share <= mostFailed) {
		m.Verdict = document.NeedsAttention
		m.Reasons = append(m.Reasons, fmt.Sprintf("%s of the questions have no answer, more than %s",
			words.Percent(share), words.Percent(mostFailed)))
	}
	if reasons := b.silent(); len(reasons) > 0 {
		m.Reasons = append(m.Reasons, reasons...)
		if m.Verdict != document.Failed {
			m.Verdict = document.NeedsAttention
		}
	}
	if slices.ContainsFunc(m.Outcomes, func(o Count) bool { return o.Name == NotFinite.Name }) {
		m.Reasons = append(m.Reasons, "there are answers that are not finite")
		if m.Verdict != document.Failed {
			m.Verdict = document.NeedsAttention
		}
	}
}

// lengths are those of the shortest and the longest answer of numbers; 0 for others.
func (b *book) lengths() (short, long int) {
	if !b.numbers {
		return 0, 0
	}
	short = math.MaxInt
	for _, row := range b.of {
		for _, a := range row {
			for _, x := range a.numbers {
				short, long = min(short, len(x)), max(long, len(x))
			}
		}
	}
	return short, long
}

// silent names the views that too many questions about have no answer; none where that is so of all of them, as of the
// whole.
func (b *book) silent() []string {
	var all []string
	for v, n := range b.asked {
		if share := float64(n-b.told[v]) / float64(n); n > 0 && !(share <= mostFailed) {
			all = append(all, fmt.Sprintf("%s of the questions about the view %s have no answer, more than %s",
				words.Percent(share), b.Views[v], words.Percent(mostFailed)))
		}
	}
	if len(all) == len(b.Views) {
		return nil
	}
	const most = 5 // reasons that are shown
	if n := len(all) - most; n > 0 {
		all = append(all[:most], fmt.Sprintf("so it is of %s more", words.Plural(n, "view", "views")))
	}
	return all
}

// size says an estimate over the centred scale in the unit of the answer, and as a share of that scale.
func (b *book) size(e *Estimate) string {
	unit := e.times(b.scale)
	text := unit.text(words.Figures)
	if !(b.scale > 0) {
		return text + " in its unit"
	}
	return fmt.Sprintf("%s in its unit, %s of the centred scale %s", text, words.Percent(float64(e.Value)),
		words.Figures(b.scale))
}

// sentence is the answer: of labels how often two are equal, of numbers how far they are apart.
func (b *book) sentence(m *Model) string {
	var parts []string
	if r := m.Repeats; r != nil && r.Objects > 0 {
		same := "two answers to the same are equal in " + r.Agreement.text(words.Percent)
		if r.Spread != nil && r.Spread.N > 0 {
			same = "answers to the same deviate by " + b.size(r.Spread)
		}
		parts = append(parts, fmt.Sprintf("asked %d times, %s", b.o.Times, same))
		if c := r.Correct; c != nil && c.ConsistentWrong+c.VaryingWrong > 0 {
			parts = append(parts, words.Percent(float64(c.Errors.Value))+" of errors are consistent errors")
		}
	}
	switch o := m.OverViews; {
	case m.Apart != nil:
		parts = append(parts, "two answers to different views of one object are "+b.size(m.Apart)+" apart")
	case o != nil && o.N > 0:
		parts = append(parts, "two answers to different views of one object are equal in "+o.text(words.Percent))
	}
	if c := m.Contract; c != nil {
		parts = append(parts, "the contract is "+c.state())
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing could be compared")
	}
	return string(m.Verdict) + ": " + strings.Join(parts, "; ")
}

// NewReport brings models together.
func NewReport(models []*Model, views []string, o Options) *Report {
	r := &Report{
		Format: FormatNumber, Times: o.Times, Seed: o.Seed, Confidence: Number(o.Confidence),
		Threshold: Number(o.Threshold), Views: views, Reference: views[o.Reference], Normalise: o.Rules,
		Seeds: append([]int{}, o.Seeds...), Bust: o.Bust, Models: models,
	}
	rank := []document.Verdict{Described, document.Passed, document.NeedsAttention, document.Failed}
	worst := 0
	for _, m := range models {
		worst = max(worst, slices.Index(rank, m.Verdict))
	}
	r.Verdict = rank[worst]
	r.Sentence = models[0].Sentence
	if len(models) > 1 {
		var parts []string
		for _, m := range models {
			parts = append(parts, m.Name+" "+string(m.Verdict))
		}
		r.Sentence = string(r.Verdict) + ": " + strings.Join(parts, ", ")
	}
	return r
}

// Good reports whether all that is claimed is shown, of all models.
func (r *Report) Good() bool { return r.Verdict == document.Passed || r.Verdict == Described }

package discover

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/audit/document"
	"nero/data/space"
	"nero/internal/distribution"
	"nero/measure/aggregate"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Word is what a scan says of a family.
type Word string

// The words. The relative level is that of the answer's change over its change under noise of the same size.
const (
	// Holds is below ten times the floor.
	Holds Word = "holds"
	// Approximate is below 0.1.
	Approximate Word = "approximate"
	// None is above 0.5.
	None Word = "none"
	// Undecided is between, or what samples are too few to tell.
	Undecided Word = "undecided"
	// Unasked says that the motion leaves the samples as they are, or the model does not answer to any change of the
	// size.
	Unasked Word = "cannot tell"
	// NotFinite says that an answer is not finite.
	NotFinite Word = "not finite"
)

// ranks are all words, the best first.
func ranks() []Word { return []Word{Holds, Approximate, Undecided, None, Unasked, NotFinite} }

// The limits of the words.
const (
	overFloor   = 10
	approximate = 0.1
	none        = 0.5
)

// Estimate is a number with its interval over samples.
type Estimate struct {
	Value document.Number `json:"value"`
	Low   document.Number `json:"low"`
	High  document.Number `json:"high"`
}

// Level is how fast the answer changes along one generator.
type Level struct {
	// Generator is its name, and Unit what the level is per, such as rad, px, or a quarter turn.
	Generator string `json:"generator"`
	Unit      string `json:"unit"`
	// Level is in centred scales of the answer per unit, and Relative the same over the change of the answer under
	// noise
	// of the same size. Floor is what rounding and resampling alone come to, in the unit of Relative.
	Level    Estimate        `json:"level"`
	Relative Estimate        `json:"relative"`
	Floor    document.Number `json:"floor"`
}

// Row is one family, one output and how it should move.
type Row struct {
	Family string `json:"family"`
	Doc    string `json:"doc"`
	// Output is the name of the output, "" where there is one, and Action how it should move.
	Output string `json:"output,omitempty"`
	Action string `json:"action"`
	// Exact says that no element resamples.
	Exact bool `json:"exact"`
	// Elements are how many are visited beside the identity, and Objects how many samples they move.
	Elements int `json:"elements"`
	Objects  int `json:"objects"`
	// Degree is 1 where the orbit does not move the answer, and 0 where it moves it as much as other inputs do.
	Degree Estimate `json:"degree"`
	Levels []Level  `json:"levels,omitempty"`
	// Relative is the largest of the levels and of the whole orbit; Floor is that of it.
	Relative Estimate        `json:"relative"`
	Floor    document.Number `json:"floor"`
	// P are probabilities, adjusted by Holm's method over all rows, of what was seen if the word were wrong.
	P map[Word]document.Number `json:"p,omitempty"`
	// Word is what all that comes to, and Why a reason beyond the limits.
	Word Word   `json:"word"`
	Why  string `json:"why,omitempty"`
	// Worst is the sample and the element that move the answer most.
	Worst *Worst `json:"worst,omitempty"`

	leaf      int
	family    *family
	questions []question
	stays     bool
	// exactly says that no answer moves by more than rounding, where noise cannot be a measure: rows of whole numbers
	// and the ends of edges have none.
	exactly bool
	// fine says that ten times the floor is not more than what is approximate.
	fine bool
}

// Worst is where an answer moves most.
type Worst struct {
	Sample  string          `json:"sample"`
	Element string          `json:"element"`
	Change  document.Number `json:"change"` // in centred scales
}

// question is how far an answer moves under a motion, beside noise of the same size: one pair of squares per sample.
type question struct {
	moved, noise []float64
	// mean of the squares that rounding and resampling alone come to
	floor float64
	// the ends of the interval of the ratio
	lowest, highest float64
}

// add takes in one sample.
func (q *question) add(moved, noise float64) {
	q.moved, q.noise = append(q.moved, moved), append(q.noise, noise)
}

// relative is the ratio of the root mean squares, and its interval.
func (q *question) relative(s *Subject, purpose uint64) Estimate {
	return estimate(s, purpose, q.moved, q.noise, func(a, b, _ float64) float64 { return root(a / b) })
}

// limit is how large the square of a change may be, for each sample.
func (q *question) limit(relative float64) func(i int) float64 {
	return func(i int) float64 { return relative * relative * q.noise[i] }
}

// floors are the limits of what holds: ten times what rounding and resampling alone come to.
func (q *question) floors(int) float64 { return overFloor * overFloor * q.floor }

// below is the probability of changes as small as those seen if they were, in the mean, at the limit or above it. A
// sample counts by (square - limit)/(square + limit), which is between -1 and 1: noise in one direction may happen to
// change an answer little, and one sample must not outweigh all others.
func (q *question) below(limit func(i int) float64) float64 { return q.test(limit, 1) }

// above is the same for changes as large.
func (q *question) above(limit func(i int) float64) float64 { return q.test(limit, -1) }

func (q *question) test(limit func(i int) float64, sign float64) float64 {
	n := 0.0
	var sum, squares float64
	for i, a := range q.moved {
		b := limit(i)
		d := sign * (a - b) / (a + b)
		if a == 0 && b == 0 { // at a limit of 0 nothing is less than nothing
			d = -1
		}
		n++
		sum += d
		squares += float64(d * d)
	}
	if n < 2 {
		return 1
	}
	mean := sum / n
	if !(mean < 0) {
		return 1
	}
	variance := max(squares-float64(n*mean*mean), 0) / (n - 1)
	// where all agree nothing is known of the spread, but that a coin would not fall so every time
	least := math.Ldexp(1, -int(min(n, 1000)))
	if variance == 0 {
		return least
	}
	return max(distribution.StudentSurvival(n-1, -mean/math.Sqrt(variance/n)), least)
}

// resamples are how often samples are drawn anew for an interval.
const resamples = 200

// estimate is a statistic of sums over samples: of two numbers for each sample, and of how many there are; with its
// interval. Of many samples neighbours are taken together, which are as independent of others as one is.
func estimate(s *Subject, purpose uint64, a, b []float64, statistic func(a, b, n float64) float64) Estimate {
	nan := document.Number(math.NaN())
	if len(a) == 0 {
		return Estimate{Value: nan, Low: nan, High: nan}
	}
	const most = 256
	blocks := min(len(a), most)
	sums := make([][3]float64, blocks)
	for i := range a {
		k := i * blocks / len(a)
		sums[k][0] += a[i]
		sums[k][1] += b[i]
		sums[k][2]++
	}
	v, i := aggregate.Resample(blocks, func(count []int) float64 {
		var all [3]float64
		for k, c := range count {
			for j, x := range sums[k] {
				all[j] += float64(float64(c) * x)
			}
		}
		return statistic(all[0], all[1], all[2])
	}, resamples, s.Confidence, rand.New(rand.NewPCG(s.Seed, purpose)))
	return Estimate{Value: document.Number(v), Low: document.Number(i.Low), High: document.Number(i.High)}
}

func root(x float64) float64 { return math.Sqrt(max(x, 0)) }

// claims are how the answer may move under a family: for each output, with each action that was declared.
func (c *scanner) claims(f *family) []*Row {
	var rows []*Row
	for j, leaf := range c.out {
		name := leaf.Name
		if len(c.out) == 1 {
			name = ""
		}
		add := func(stays bool, action string) {
			rows = append(rows, &Row{
				Family: f.name, Doc: f.doc, Output: name, Action: action, Elements: len(f.elements), leaf: j, family: f,
				stays: stays,
			})
		}
		options := c.s.Moved
		options.Invariant, options.Border = true, f.options.Border
		a, err := c.s.Rules.For(f.group, leaf, options)
		_, trivial := a.(action.Trivial)
		// numbers of nodes that no motion of space changes go along with their nodes
		_, rows := f.group.(group.Permuting)
		nodes := rows && leaf.OfNodes()
		declared := leaf.Type != "" || c.s.Declared
		if err == nil && !trivial && !c.s.Stays && (leaf.Type != space.TypeUnchanged || nodes) {
			add(false, "moves along")
		} else if err != nil && leaf.Type != "" {
			c.scan.Left = append(c.scan.Left, Left{Family: f.name, Output: leaf.Name, Why: err.Error()})
			continue
		}
		if err != nil || trivial || c.s.Stays || leaf.Type == space.TypeUnchanged && !nodes || !declared {
			add(true, "stays")
		}
	}
	return rows
}

// back are answers at an element in the frame of the identity.
func (c *scanner) back(r *Row, g group.Element, y []space.Value) ([]space.Value, error) {
	if r.stays {
		return y, nil
	}
	options := c.s.Moved
	options.Invariant, options.Border = true, r.family.options.Border
	a, err := c.s.Rules.For(r.family.group, c.out[r.leaf], options)
	if err != nil {
		return nil, err
	}
	return c.moved(a, r.family.group.Inv(g), y)
}

// track follows one row through the elements.
type track struct {
	*Row
	// of every sample: the sums over elements of squared changes, and of those under noise
	moved, noise []float64
	// orbit are the answers in the frame of the identity, mean and squared distances from it; or the answers themselves
	// where numbers mean nothing
	mean   [][]float64
	square []float64
	seen   int
	all    [][]space.Value
	worst  float64
	// largest is how far any answer moves, with noise beside it or without
	largest float64
	bad     string
	beyond  bool
}

// ask asks the model about one family.
func (c *scanner) ask(ctx context.Context, f *family) ([]*Row, error) {
	act, err := c.s.Rules.For(f.group, f.in, f.options)
	if err != nil {
		return nil, err
	}
	rows := c.claims(f)
	if len(rows) == 0 {
		return nil, nil
	}
	n := len(c.samples)
	tracks := make([]*track, len(rows))
	for k, r := range rows {
		t := &track{Row: r, moved: make([]float64, n), noise: make([]float64, n), square: make([]float64, n)}
		t.take(leavesOf(c.answers, r.leaf))
		tracks[k] = t
		r.Exact = true
	}
	still := make([]bool, n)
	for i := range still {
		still[i] = true
	}
	twin := -1
	for e, g := range f.elements {
		exact := action.Exact(act, g)
		if !exact && twin < 0 {
			twin = e
		}
		for _, r := range rows {
			r.Exact = r.Exact && exact
		}
		p, err := c.probe(ctx, act, f, g, fmt.Sprintf("%s %d", f.name, e))
		if err != nil {
			return nil, err
		}
		for i, x := range p.noisy {
			still[i] = still[i] && x == nil
		}
		for _, t := range tracks {
			if err := t.element(c, p, g, e); err != nil {
				return nil, err
			}
		}
	}
	floors := c.rounding
	if twin >= 0 {
		if floors, err = c.twin(ctx, act, f.elements[twin], nil); err != nil {
			return nil, err
		}
	}
	for _, t := range tracks {
		q := question{floor: max(floors[t.leaf], c.rounding[t.leaf])}
		for i := range n {
			if !still[i] {
				q.add(t.moved[i]/float64(len(f.elements)), t.noise[i]/float64(len(f.elements)))
			}
		}
		t.Objects = len(q.moved)
		t.questions = append(t.questions, q)
	}
	for _, s := range f.steps {
		if err := c.step(ctx, act, f, s, tracks); err != nil {
			return nil, err
		}
	}
	for _, t := range tracks {
		t.degree(c)
		t.finish(c)
	}
	return rows, nil
}

// probed is what the model says to moved samples, and to noise of the same size.
type probed struct {
	moved, answers      []space.Value
	noisy, to, opposite []space.Value
	// beyond says that an answer to noise is not finite.
	beyond bool
}

// probe asks at an element. Samples that it leaves as they are have no noise.
func (c *scanner) probe(ctx context.Context, act action.Action, f *family, g group.Element, purpose string) (probed,
	error,
) {
	var p probed
	var err error
	if p.moved, err = c.moved(act, g, values(c.samples)); err != nil {
		return p, err
	}
	if p.answers, err = c.s.Predict(ctx, p.moved); err != nil {
		return p, err
	}
	p.noisy, p.opposite = c.unstructured(*f, p.moved, purpose)
	if p.to, err = c.some(ctx, p.noisy); err != nil {
		return p, err
	}
	for i, y := range p.to { // noise may leave the domain of a model, and says nothing then
		if y != nil && !space.Finite(y) {
			p.noisy[i], p.to[i], p.opposite[i] = nil, nil, nil
			p.beyond = true
		}
	}
	return p, nil
}

// some asks at those values that are there.
func (c *scanner) some(ctx context.Context, v []space.Value) ([]space.Value, error) {
	var there []space.Value
	for _, x := range v {
		if x != nil {
			there = append(there, x)
		}
	}
	out := make([]space.Value, len(v))
	if len(there) == 0 {
		return out, nil
	}
	y, err := c.s.Predict(ctx, there)
	if err != nil {
		return nil, err
	}
	k := 0
	for i, x := range v {
		if x != nil {
			out[i] = y[k]
			k++
		}
	}
	return out, nil
}

// leafOf is one output of an answer that may not be there.
func leafOf(v space.Value, j int) space.Value {
	if v == nil {
		return nil
	}
	return leavesOf([]space.Value{v}, j)[0]
}

// element takes in the answers at one element.
func (t *track) element(c *scanner, p probed, g group.Element, e int) error {
	y := leavesOf(p.answers, t.leaf)
	z, err := c.back(t.Row, g, y)
	if err != nil {
		return err
	}
	rest := leavesOf(c.answers, t.leaf)
	t.beyond = t.beyond || p.beyond
	var q question
	for i := range z {
		d := square(z[i], rest[i])
		if !(d <= math.MaxFloat64) {
			t.lost(c, i, g, y[i])
		}
		t.largest = max(t.largest, d)
		if p.noisy[i] == nil {
			continue
		}
		b := square(leafOf(p.to[i], t.leaf), rest[i])
		t.moved[i] += d
		t.noise[i] += b
		q.add(d, b)
		if d > t.worst {
			t.worst = d
			t.Worst = &Worst{
				Sample: c.samples[i].ID, Element: group.Title(t.family.group, g),
				Change: document.Number(root(d / c.spreads[t.leaf].square)),
			}
		}
	}
	t.take(z)
	for _, s := range t.family.steps {
		if s.element == e {
			q.floor = c.rounding[t.leaf]
			t.level(c, s, q)
		}
	}
	return nil
}

// lost notes an answer that is not finite, or has another form.
func (t *track) lost(c *scanner, i int, g group.Element, y space.Value) {
	if t.bad != "" {
		return
	}
	what := "an answer of another form"
	if !space.Finite(y) {
		what = "not finite"
	}
	t.bad = fmt.Sprintf("%s at sample %s, %s", what, c.samples[i].ID, group.Title(t.family.group, g))
}

// take adds answers of one element to those of the orbit.
func (t *track) take(z []space.Value) {
	t.seen++
	if nominal(z[0]) {
		t.all = append(t.all, z)
		return
	}
	if t.mean == nil {
		t.mean = make([][]float64, len(z))
	}
	for i, v := range z {
		x := v.Numbers()
		if t.mean[i] == nil {
			t.mean[i] = make([]float64, len(x))
		}
		if len(x) != len(t.mean[i]) {
			t.square[i] = math.NaN()
			continue
		}
		sum := 0.0
		for k, a := range x {
			d := a - t.mean[i][k]
			t.mean[i][k] += d / float64(t.seen)
			sum += float64(d * (a - t.mean[i][k]))
		}
		t.square[i] += sum / count(v)
	}
}

func count(v space.Value) float64 {
	if c, ok := v.(space.Counted); ok {
		return float64(max(c.Count(), 1))
	}
	return 1
}

// variance is that of the orbit of a sample.
func (t *track) variance(i int) float64 {
	n := float64(t.seen)
	sum := t.square[i]
	if t.all != nil {
		sum = 0
		for k := range t.all {
			for l := range k {
				sum += square(t.all[k][i], t.all[l][i]) / n
			}
		}
	}
	if t.family.whole && len(t.family.steps) > 0 && t.family.steps[0].back != nil {
		return sum / n // a mean over a circle, not over a sample of it
	}
	return sum / (n - 1)
}

// degree is 1 - V/s².
func (t *track) degree(c *scanner) {
	v := make([]float64, len(c.samples))
	for i := range v {
		v[i] = t.variance(i)
	}
	t.Degree = estimate(c.s, 1, v, c.spreads[t.leaf].squares, func(a, b, _ float64) float64 { return 1 - a/b })
}

// level notes what a step comes to.
func (t *track) level(c *scanner, s step, q question) {
	spread := c.spreads[t.leaf].square
	l := Level{Generator: s.name, Unit: s.unit}
	l.Level = estimate(c.s, 2, q.moved, q.noise,
		func(a, _, n float64) float64 { return root(a/n/spread) / s.size })
	l.Relative = q.relative(c.s, 3)
	q.lowest, q.highest = float64(l.Relative.Low), float64(l.Relative.High)
	l.Floor = q.floorOf()
	t.Levels = append(t.Levels, l)
	t.questions = append(t.questions, q)
}

// floorOf is the floor in the unit of the relative level.
func (q *question) floorOf() document.Number {
	b := 0.0
	for _, x := range q.noise {
		b += x / float64(len(q.noise))
	}
	return document.Number(root(q.floor / b))
}

// step asks forth and back along a generator.
func (c *scanner) step(ctx context.Context, act action.Action, f *family, s step, tracks []*track) error {
	if s.element >= 0 {
		return nil // asked among the elements
	}
	forth, err := c.probe(ctx, act, f, s.forth, f.name+" "+s.name)
	if err != nil {
		return err
	}
	moved, err := c.moved(act, s.back, values(c.samples))
	if err != nil {
		return err
	}
	y, err := c.s.Predict(ctx, moved)
	if err != nil {
		return err
	}
	opposite, err := c.some(ctx, forth.opposite)
	if err != nil {
		return err
	}
	floors := c.rounding
	if !action.Exact(act, s.forth) {
		if floors, err = c.twin(ctx, act, s.forth, s.back); err != nil {
			return err
		}
	}
	for _, t := range tracks {
		// half of the difference, whose squares are a quarter
		q := question{floor: max(floors[t.leaf], 2*c.rounding[t.leaf]) / 4}
		a, err := c.back(t.Row, s.forth, leavesOf(forth.answers, t.leaf))
		if err != nil {
			return err
		}
		b, err := c.back(t.Row, s.back, leavesOf(y, t.leaf))
		if err != nil {
			return err
		}
		for i := range a {
			d := square(a[i], b[i]) / 4
			if !(d <= math.MaxFloat64) {
				t.lost(c, i, s.forth, leafOf(forth.answers[i], t.leaf))
			}
			if forth.to[i] != nil && opposite[i] != nil && space.Finite(opposite[i]) {
				q.add(d, square(leafOf(forth.to[i], t.leaf), leafOf(opposite[i], t.leaf))/4)
			}
		}
		t.level(c, s, q)
	}
	return nil
}

// twin is how far answers move where the input is moved and moved back, which only resampling, clipping and rounding
// change: a mean of squares, by output.
func (c *scanner) twin(ctx context.Context, act action.Action, g, inverse group.Element) ([]float64, error) {
	if inverse == nil {
		inverse = act.Group().Inv(g)
	}
	there, err := c.moved(act, g, values(c.samples))
	if err != nil {
		return nil, err
	}
	for i, v := range there {
		if v.Form() != c.samples[i].Value.Form() {
			return c.rounding, nil // a window was cut out, and nothing is left to move back
		}
	}
	if there, err = c.moved(act, inverse, there); err != nil {
		return nil, err
	}
	y, err := c.s.Predict(ctx, there)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(c.out))
	for j := range c.out {
		a, b := leavesOf(y, j), leavesOf(c.answers, j)
		for i := range a {
			out[j] += square(a[i], b[i]) / float64(len(a))
		}
	}
	return out, nil
}

// finish sums up what the questions of a row come to.
func (t *track) finish(c *scanner) {
	t.Relative = t.questions[0].relative(c.s, 4)
	t.questions[0].lowest, t.questions[0].highest = float64(t.Relative.Low), float64(t.Relative.High)
	t.Floor = t.questions[0].floorOf()
	t.fine = true
	for _, l := range t.Levels {
		if !(l.Relative.Value <= t.Relative.Value) {
			t.Relative, t.Floor = l.Relative, l.Floor
		}
	}
	noise := 0.0
	for _, q := range t.questions {
		t.fine = t.fine && overFloor*float64(q.floorOf()) <= approximate
		for _, b := range q.noise {
			noise += b
		}
	}
	switch {
	case t.bad != "":
		t.Word, t.Why = NotFinite, t.bad
	case !(noise > 0) && t.permuted(c):
		t.Word, t.exactly = Holds, true
		t.Why = "by rounding alone: such rows have no noise to compare with"
	case t.Objects == 0 && t.beyond:
		t.Word, t.Why = Unasked, "the answers to noise of this size are not finite"
	case t.Objects == 0:
		t.Word, t.Why = Unasked, "the motion leaves all samples as they are"
	case !(noise > 0):
		t.Word, t.Why = Unasked, "the model does not answer to any change of this size"
	}
}

// permuted reports whether rows change places, which leaves no answer but that of rounding, of a model whose answers
// differ.
func (t *track) permuted(c *scanner) bool {
	_, rows := t.family.group.(group.Permuting)
	return rows && c.spreads[t.leaf].square > 0 && t.largest <= overFloor*overFloor*c.rounding[t.leaf]
}

// chance is the probability, not adjusted, of what was seen if a word were wrong. What holds, or does so about, does at
// every question; where nothing holds one is enough.
func (r *Row) chance(w Word) float64 {
	p, most := 0.0, 1.0
	for _, q := range r.questions {
		switch w { //nolint:exhaustive // the other words are what is left
		case Holds:
			if !r.fine {
				return 1
			}
			p = max(p, q.below(q.floors))
		case Approximate:
			p = max(p, q.below(q.limit(approximate)))
		case None:
			most = min(most, q.above(q.limit(none)))
		}
	}
	if w == None {
		return min(most*float64(len(r.questions)), 1)
	}
	return p
}

// within reports whether the interval of the ratio over all samples agrees with a word.
func (r *Row) within(w Word) bool {
	all := func(holds func(q question) bool) bool {
		return !slices.ContainsFunc(r.questions, func(q question) bool { return !holds(q) })
	}
	switch w { //nolint:exhaustive // the other words are what is left
	case Holds:
		return all(func(q question) bool { return q.highest <= overFloor*float64(q.floorOf()) })
	case Approximate:
		return all(func(q question) bool { return q.highest < approximate })
	}
	for _, q := range r.questions { // what resampling does is no answer to the motion
		if q.lowest > max(none, float64(q.floorOf())) {
			return true
		}
	}
	return false
}

// decide gives rows their words, adjusted for how many are asked.
func decide(rows []*Row, alpha float64) {
	var asked []*Row
	for _, r := range rows {
		if r.Word == Unasked || r.Word == NotFinite || r.exactly {
			continue
		}
		r.Word, r.Why, r.P = Undecided, "", map[Word]document.Number{}
		asked = append(asked, r)
	}
	for _, w := range []Word{None, Approximate, Holds} { // the last that is true is what is said
		p := make([]float64, len(asked))
		for i, r := range asked {
			p[i] = r.chance(w)
		}
		for i, adjusted := range aggregate.Holm(p) {
			asked[i].P[w] = document.Number(adjusted)
			if adjusted <= alpha && asked[i].within(w) {
				asked[i].Word = w
			}
		}
	}
	for _, r := range asked {
		switch {
		case r.Word != Undecided:
		case !r.fine:
			r.Why = "resampling alone moves the answer too much to tell"
		case r.Relative.Value >= approximate && r.Relative.Value <= none:
			r.Why = fmt.Sprintf("between %g and %g", approximate, none)
		default:
			r.Why = "its interval reaches over a limit, or samples are too few"
		}
	}
}

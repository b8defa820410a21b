package repair

import (
	"fmt"
	"math"
	"slices"

	"nero/audit/document"
	"nero/data/space"
	"nero/measure/aggregate"
)

// FormatNumber is the number of the form of repair.json. It grows whenever a field changes its meaning or goes away.
const FormatNumber = 2

// Report is what became of all models, with their bills.
type Report struct {
	Format int    `json:"format" jsonschema:"enum=2"`
	Group  string `json:"group"`
	// Elements are how many a repaired model may be run at.
	Elements int `json:"elements"`
	// Seed is that of the division into sets, and of the directions of small changes.
	Seed uint64 `json:"seed"`
	// Fit, Choose and Samples are how many samples methods learned from, were chosen by, and are reported on.
	Fit     int `json:"fit"`
	Choose  int `json:"choose"`
	Samples int `json:"confirm"`
	// Allow is the share of the samples that may be lost.
	Allow  float64 `json:"allow_accuracy"`
	Models []Of    `json:"models"`
}

// Of is one model and what was tried on it.
type Of struct {
	Model string `json:"model"`
	File  string `json:"file"`
	// Before is the model as it was.
	Before Bill   `json:"before"`
	Tried  []Bill `json:"tried"`
	// Residuals are what averages over equal turns leave over, where the group is a circle or a part of one and an
	// average is asked for; Turns are those of the grid that they are of.
	Residuals []Residual `json:"residuals,omitempty"`
	Turns     int        `json:"turns,omitempty"`
	// Sentence is what to do.
	Sentence string `json:"sentence"`
	// Recommended is the method that it names, empty for none.
	Recommended string `json:"recommended,omitempty"`
}

// State says what became of a method.
type State string

// The states.
const (
	// AsItIs is the model before.
	AsItIs State = "as it is"
	// Written is a file.
	Written State = "written"
	// Refused fits the model not, for the reason that is given.
	Refused State = "refused"
)

// Bill is what a model costs and what it is worth. All numbers are of samples that confirm, but for those of Chosen.
type Bill struct {
	State  State  `json:"state" jsonschema:"enum=as it is,enum=written,enum=refused"`
	Method string `json:"method,omitempty"`
	// File is where the repaired model lies, Digest its SHA-256.
	File   string `json:"file,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Refused is why the method does not fit the model, without its name; nothing else is set then.
	Refused string `json:"refused,omitempty"`
	// Done is what the file says of itself: what was done to it, over what.
	Done string `json:"done,omitempty"`
	// Refitted says that a layer of the file was learned anew from samples to learn from, as Done tells: it is another
	// model in part.
	Refitted bool `json:"refitted,omitempty"`
	// Verdict is that of the whole audit, at the batch of the study, Single that of what judges at one sample a call;
	// empty where the model reads a fixed number.
	Verdict string   `json:"verdict,omitempty"`
	Single  string   `json:"verdict_at_batch_1,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Audit is the folder of the audit, where it is kept.
	Audit string `json:"audit,omitempty"`
	// Compared is what 'nero compare' says of the audits before and after.
	Compared string `json:"compared,omitempty"`
	// Sets are the errors that the audit found, set by set.
	Sets []SetError `json:"errors,omitempty"`
	// Error and Worst are the equivariance error at the elements of the repair, root mean square and largest, in units
	// of how much the model's answers differ between samples. They are not finite where all answers are the same.
	Error document.Number `json:"error"`
	Worst document.Number `json:"worst"`
	// Apart is how far its answers to the samples as they are lie from those of the model before, in the same unit.
	Apart document.Number `json:"apart"`
	// NotFinite is where it answers NaN or an infinite number first: a sample and an element.
	NotFinite string `json:"not_finite,omitempty"`
	Cost      Cost   `json:"cost"`
	// Nodes and Bytes of the file; Added are the nodes that the model before had not.
	Nodes int   `json:"nodes"`
	Added int   `json:"nodes_added"`
	Bytes int64 `json:"bytes"`
	Opset int   `json:"opset"`
	// Form is how a file runs the model: once, or at all elements, along the batch or in copies.
	Form string `json:"form,omitempty" jsonschema:"enum=once,enum=batch,enum=copies"`
	// Right and Moved are the shares of samples that are classified rightly as they are, and over all elements; nil
	// without labels.
	Right *Share `json:"right,omitempty"`
	Moved *Share `json:"moved,omitempty"`
	// Lost is by how much Right fell, with Newcombe's interval for pairs, and LostMoved by how much Moved.
	Lost      *Share `json:"lost,omitempty"`
	LostMoved *Share `json:"lost_moved,omitempty"`
	// Pairs are the samples by which Right changed.
	Pairs *Discordant `json:"pairs,omitempty"`
	// Losers are the classes that are right less often, the heaviest loss first, Mixed the wrong answers that became
	// more frequent.
	Losers []Loser `json:"losers,omitempty"`
	Mixed  []Mixed `json:"mixed,omitempty"`
	// Agree is the share of samples that get the class that the model before gives them; nil without classes.
	Agree *Share `json:"agree,omitempty"`
	// Jump is the largest change of an answer, in units of Error, when a sample changes by a thousandth of its length
	// in
	// a random direction.
	Jump document.Number `json:"largest_jump"`
	// Near says how many inputs are close to a place where the repaired model jumps; nil for methods without such.
	Near *Near `json:"near,omitempty"`
	// Crossing is the largest jump across the places where the method jumps; nil for methods that know none.
	Crossing *document.Number `json:"crossing,omitempty"`
	// Gradient is what the audit says of derivatives: "passes", "fails" or why it was not tested.
	Gradient string `json:"gradient,omitempty"`
	// Forces is what it says of energies and forces, and Aside what the method does to these.
	Forces string `json:"forces,omitempty"`
	Aside  string `json:"aside,omitempty"`
	// Outputs are the errors of each of several; Error, Worst, Apart and Jump are then the largest of them.
	Outputs []OfOutput `json:"outputs,omitempty"`
	// Pareto says that no other file is as cheap, as right and as exact, and better in one of these.
	Pareto bool `json:"pareto"`
	// Chosen are the numbers by which the method was chosen, of samples that nothing is reported of.
	Chosen *Chosen `json:"on_choose,omitempty"`
}

// OfOutput is the error of one of several outputs, over how much that differs between samples.
type OfOutput struct {
	Name string `json:"name"`
	// Spread is that unit, in Unit; that of the model before.
	Spread document.Number `json:"spread"`
	Unit   string          `json:"unit,omitempty"`
	Error  document.Number `json:"error"`
	Worst  document.Number `json:"worst"`
	Apart  document.Number `json:"apart"`
	// Floor is by how much the answers to samples at rest change when each number read does by one float32 step.
	Floor document.Number `json:"floor"`
}

// Cost is the time of one answer beside that of the model before.
type Cost struct {
	// Predicted is what the method says: for methods that run the model at all elements, their number.
	Predicted document.Number `json:"predicted"`
	// Measured is the median of interleaved rounds; null where there is no clock.
	Measured document.Number `json:"measured"`
	Rounds   int             `json:"rounds,omitempty"`
	// Clock is what was measured, of both models: processor time, that of an engine in a process of its own included,
	// or time by the clock where models run on a device.
	Clock string `json:"clock,omitempty" jsonschema:"enum=processor,enum=wall"`
	// Unmeasured is why there is no measured cost though there are clocks.
	Unmeasured string `json:"unmeasured,omitempty"`
}

// known is what it costs, measured if it was, else predicted; NaN if nobody knows.
func (c Cost) known() float64 {
	for _, n := range []document.Number{c.Measured, c.Predicted} {
		if n > 0 {
			return float64(n)
		}
	}
	return math.NaN()
}

// SetError is the error on one set of elements, as the audit measured it: the mean over inputs of the root mean square,
// with its interval, the largest, and what would be there without any violation.
type SetError struct {
	Set     string `json:"set"`
	Verdict string `json:"verdict"`
	// Inputs are how many of the samples that confirm the audit read.
	Inputs  int             `json:"inputs"`
	Mean    document.Number `json:"mean"`
	Low     document.Number `json:"low"`
	High    document.Number `json:"high"`
	Largest document.Number `json:"largest"`
	Floor   document.Number `json:"floor"`
}

// Share is a share with its interval of 95 %, which has no finite ends for one sample.
type Share struct {
	Value document.Number `json:"value"`
	Low   document.Number `json:"low"`
	High  document.Number `json:"high"`
}

// Discordant are samples that are right in one of two models alone.
type Discordant struct {
	Lost int `json:"lost"`
	Won  int `json:"won"`
	// P is the p-value of the exact sign test, two-sided.
	P document.Number `json:"p_value"`
}

// Loser is a class of which fewer samples are right.
type Loser struct {
	Class  int `json:"class"`
	Of     int `json:"of"`
	Before int `json:"right_before"`
	After  int `json:"right_after"`
}

// Mixed is a wrong answer.
type Mixed struct {
	Class    int `json:"class"`
	Answered int `json:"answered"`
	Before   int `json:"times_before"`
	After    int `json:"times_after"`
}

// Near says how many of the inputs are close to a place where the answer jumps.
type Near struct {
	// Share of the inputs, and how it is told.
	Share Share  `json:"share"`
	Rule  string `json:"rule"`
	// Ties are the inputs that stand on such a place.
	Ties int `json:"ties"`
}

// Chosen are numbers of samples to choose by.
type Chosen struct {
	Samples int             `json:"samples"`
	Error   document.Number `json:"error"`
	Apart   document.Number `json:"apart"`
	Lost    *Share          `json:"lost,omitempty"`
}

// Answers is what a model says to all samples at all elements, moved back.
type Answers struct {
	// Back[g][i] are the numbers of the answer to sample i at element g, the identity first, moved back.
	Back [][][]float64
	// Class[g][i] is the class that is answered there, -1 for none.
	Class [][]int
	// width is of the rows that answers are, as of points, of which samples may have different numbers; 0 for others
	width int
	// fields are the outputs of a model that has several, by name, each with answers of its own; Back then has the
	// numbers of all of them in a row, of which there is no one difference
	fields []string
	of     []*Answers
	// Bad is the first answer with a number that is not finite, by sample and element; nil if there is none.
	Bad *[2]int
}

// classed is an answer that names a class.
type classed interface{ Class() int }

// Add adds the answers to all samples at one more element, moved back.
func (a *Answers) Add(back []space.Value) error {
	rows, classes := make([][]float64, len(back)), make([]int, len(back))
	for i, y := range back {
		if names, values := space.Fields(y); names != nil {
			classes[i] = -1
			for _, v := range values {
				l, ok := v.(space.Linear)
				if !ok {
					return undiffered(y)
				}
				rows[i] = append(rows[i], l.Output()...)
			}
		} else {
			l, ok := y.(space.Linear)
			if !ok {
				return undiffered(y)
			}
			rows[i], classes[i] = l.Output(), -1
		}
		if c, ok := y.(space.Counted); ok {
			a.width = c.Columns()
		}
		infinite := slices.ContainsFunc(rows[i], func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		if infinite && a.Bad == nil {
			a.Bad = &[2]int{i, len(a.Back)}
		}
		if c, ok := y.(classed); ok && !infinite {
			classes[i] = c.Class()
		}
	}
	a.Back, a.Class = append(a.Back, rows), append(a.Class, classes)
	return a.split(back)
}

func undiffered(y space.Value) error {
	if names, _ := space.Fields(y); names == nil {
		return fmt.Errorf("it answers with %s, of which there is no difference that errors could be measured in: "+
			"where the file answers scores, of which these are the largest, say output: {space: tensor} in the study, "+
			"and the scores are repaired; where it ends in ArgMax, cut that off first", y.Form())
	}
	return fmt.Errorf("it answers with %s, of which there is no one difference that errors could be measured "+
		"in: name one of its outputs alone under output in the study, and repair that", y.Form())
}

// split adds the answers of each output to those of that output.
func (a *Answers) split(back []space.Value) error {
	names, _ := space.Fields(back[0])
	if names != nil && a.fields == nil {
		a.fields, a.of = names, make([]*Answers, len(names))
		for k := range a.of {
			a.of[k] = &Answers{}
		}
	}
	for k, of := range a.of {
		var column []space.Value
		for _, y := range back {
			_, values := space.Fields(y)
			column = append(column, values[k])
		}
		if err := of.Add(column); err != nil {
			return err
		}
	}
	return nil
}

// outputs are the answers of each output, of a model with one those that they are.
func (a *Answers) outputs() []*Answers {
	if a.of == nil {
		return []*Answers{a}
	}
	return a.of
}

// Spread is the unit of errors: how far the answers to the samples as they are lie from their mean, root mean square;
// NaN if there is none, as of one sample, or of a model that always says the same.
func (a *Answers) Spread() float64 {
	if s := spread(a.Back[0], a.width); s > 0 {
		return s
	}
	return math.NaN()
}

// spread is how far answers lie from their mean, root mean square.
// Answers that are different numbers of rows of so many numbers lie around the mean row; NaN if they are nothing of the
// kind.
func spread(rows [][]float64, width int) float64 {
	wide, all := len(rows[0]), len(rows)
	for _, r := range rows {
		if len(r) != len(rows[0]) {
			wide, all = width, 0
		}
	}
	if all == 0 {
		for _, r := range rows {
			if width == 0 || len(r)%width != 0 {
				return math.NaN()
			}
			all += len(r) / width
		}
	}
	mean := make([]float64, wide)
	for _, r := range rows {
		for j, x := range r {
			mean[j%wide] += x / float64(all)
		}
	}
	sum := 0.0
	for _, r := range rows {
		for k := 0; k < len(r); k += wide {
			sum += apart(r[k:k+wide], mean)
		}
	}
	return math.Sqrt(sum / float64(len(rows)))
}

// apart is the squared distance of two answers; NaN if they have not as many numbers.
func apart(x, y []float64) float64 {
	if len(x) != len(y) {
		return math.NaN()
	}
	sum := 0.0
	for j := range x {
		d := x[j] - y[j]
		sum += float64(d * d)
	}
	return sum
}

// Jump is the largest distance of answers in pairs, in units of the spread of others; NaN if one is not finite. Of
// several outputs it is that of the one that jumps most.
func Jump(from, to, others *Answers) float64 {
	worst := 0.0
	ends := to.outputs()
	for k, o := range others.outputs() {
		unit := o.Spread()
		for i, y := range from.outputs()[k].Back[0] {
			worst = max(worst, math.Sqrt(apart(y, ends[k].Back[0][i]))/unit) // NaN stays
		}
	}
	return worst
}

// Floors fills in what rounding alone makes of the answers of each of several outputs: from and to are answers to
// samples that differ by it.
func (b *Bill) Floors(from, to, before *Answers, units map[string]string) {
	for k := range b.Outputs {
		o, n := &b.Outputs[k], float64(len(from.Back[0]))
		sum := 0.0
		for i, y := range from.of[k].Back[0] {
			sum += apart(y, to.of[k].Back[0][i]) / n
		}
		o.Floor, o.Unit = document.Number(math.Sqrt(sum)/before.of[k].Spread()), units[o.Name]
	}
}

// confidence of the intervals of a bill.
const confidence = 0.95

// Bill is what can be said of answers beside those before the repair. labels are the classes of the samples, -1 where
// nobody knows.
func (a *Answers) Bill(before *Answers, labels []int) Bill {
	out := a.errors(before)
	for k, of := range a.of {
		one := of.errors(before.of[k])
		out.Error, out.Worst = max(out.Error, one.Error), max(out.Worst, one.Worst) // NaN stays
		out.Apart = max(out.Apart, one.Apart)
		out.Outputs = append(out.Outputs, OfOutput{
			Name: a.fields[k], Spread: document.Number(before.of[k].Spread()), Error: one.Error, Worst: one.Worst,
			Apart: one.Apart, Floor: document.Number(math.NaN()),
		})
	}
	out.Jump = document.Number(math.NaN())
	out.Cost = Cost{Predicted: document.Number(math.NaN()), Measured: document.Number(math.NaN())}
	a.accuracy(before, labels, &out)
	a.agreement(before, &out)
	return out
}

// errors are those of one output, and zero of several together.
func (a *Answers) errors(before *Answers) Bill {
	if a.of != nil {
		return Bill{}
	}
	unit := before.Spread()
	var sum, worst, off float64
	n := 0
	for k := range a.Back {
		for i, y := range a.Back[k] {
			if k == 0 {
				off += apart(y, before.Back[0][i]) / float64(len(a.Back[0]))
				continue
			}
			d := apart(y, a.Back[0][i])
			sum, worst = sum+d, math.Max(worst, d)
			n++
		}
	}
	in := func(squared float64) document.Number { return document.Number(math.Sqrt(squared) / unit) }
	return Bill{Error: in(sum / float64(max(n, 1))), Worst: in(worst), Apart: in(off)}
}

// accuracy fills in what labels tell, if all samples have one.
func (a *Answers) accuracy(before *Answers, labels []int, out *Bill) {
	if len(labels) != len(a.Back[0]) || len(labels) == 0 || slices.Contains(labels, -1) ||
		!slices.ContainsFunc(before.Class[0], func(c int) bool { return c >= 0 }) {
		return
	}
	var pairs aggregate.Pairs
	var moved, fell []float64
	right := 0
	over := func(of *Answers, i int) float64 {
		hits := 0.0
		for k := range of.Class {
			if of.Class[k][i] == labels[i] {
				hits++
			}
		}
		return hits / float64(len(of.Class))
	}
	for i, label := range labels {
		hit := a.Class[0][i] == label
		if hit {
			right++
		}
		pairs.Add(before.Class[0][i] == label, hit)
		moved = append(moved, over(a, i))
		fell = append(fell, over(before, i)-over(a, i))
	}
	out.Right = proportion(right, len(labels))
	out.Moved, out.LostMoved = share(moved, 0), share(fell, -1)
	lost, iv := pairs.Difference(confidence)
	out.Lost = &Share{document.Number(lost), document.Number(iv.Low), document.Number(iv.High)}
	out.Pairs = &Discordant{pairs.First, pairs.Second, document.Number(pairs.SignTest())}
	out.Losers = losers(before.Class[0], a.Class[0], labels)
	out.Mixed = mixed(before.Class[0], a.Class[0], labels)
}

// agreement fills in how often the class is that of the model before.
func (a *Answers) agreement(before *Answers, out *Bill) {
	same, n := 0, 0
	for i, c := range a.Class[0] {
		if before.Class[0][i] < 0 {
			continue
		}
		n++
		if c == before.Class[0][i] {
			same++
		}
	}
	if n > 0 {
		out.Agree = proportion(same, n)
	}
}

// losers are the classes of which fewer samples are right than before.
func losers(before, after, labels []int) []Loser {
	count := map[int]*Loser{}
	for i, label := range labels {
		l := count[label]
		if l == nil {
			l = &Loser{Class: label}
			count[label] = l
		}
		l.Of++
		if before[i] == label {
			l.Before++
		}
		if after[i] == label {
			l.After++
		}
	}
	var out []Loser
	for _, l := range count {
		if l.After < l.Before {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(x, y Loser) int {
		if d := (y.Before - y.After) - (x.Before - x.After); d != 0 {
			return d
		}
		return x.Class - y.Class
	})
	return out
}

// mixed are the wrong answers that became more frequent, the three that did most.
func mixed(before, after, labels []int) []Mixed {
	count := map[[2]int]*Mixed{}
	at := func(label, answered int) *Mixed {
		key := [2]int{label, answered}
		if count[key] == nil {
			count[key] = &Mixed{Class: label, Answered: answered}
		}
		return count[key]
	}
	for i, label := range labels {
		if c := before[i]; c != label && c >= 0 {
			at(label, c).Before++
		}
		if c := after[i]; c != label && c >= 0 {
			at(label, c).After++
		}
	}
	var out []Mixed
	for _, m := range count {
		if m.After > m.Before {
			out = append(out, *m)
		}
	}
	slices.SortFunc(out, func(x, y Mixed) int {
		if d := (y.After - y.Before) - (x.After - x.Before); d != 0 {
			return d
		}
		if x.Class != y.Class {
			return x.Class - y.Class
		}
		return x.Answered - y.Answered
	})
	const most = 3
	return out[:min(len(out), most)]
}

// proportion is k of n with Clopper and Pearson's interval.
func proportion(k, n int) *Share {
	iv := aggregate.ClopperPearson(k, n, confidence)
	return &Share{document.Number(float64(k) / float64(n)), document.Number(iv.Low), document.Number(iv.High)}
}

// share is a mean over samples with Student's interval, as far as it lies within what such a mean can be, from least
// to 1: of a single sample nothing else is known.
func share(x []float64, least float64) *Share {
	var all aggregate.Moments
	for i, v := range x {
		all.Add(v, i)
	}
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	iv := aggregate.MeanInterval(all, confidence)
	switch {
	case least == 0:
		iv = aggregate.ShareInterval(all, confidence)
	case all.M2 == 0: // that no sample changed says of others as much as no success in as many trials
		reach := aggregate.ClopperPearson(0, len(x), confidence).High
		iv.Low, iv.High = mean-reach, mean+reach
	}
	return &Share{
		document.Number(mean), document.Number(math.Max(iv.Low, least)), document.Number(math.Min(iv.High, 1)),
	}
}

// Choice is what samples to choose by say of a bill.
func (a *Answers) Choice(before *Answers, labels []int) *Chosen {
	b := a.Bill(before, labels)
	return &Chosen{Samples: len(a.Back[0]), Error: b.Error, Apart: b.Apart, Lost: b.Lost}
}

// Recommend says which of the repaired models to take: the cheapest that passes and loses no more than allowed. Of
// models that cost about the same it is the one that loses least, or that changes the answers least. Losses are
// compared on the samples to choose by; the one that is chosen has to keep within what is allowed on those that
// confirm. Where nobody knows what is lost, none is recommended, and the sentence names the one to look at.
func (m *Of) Recommend(allow float64) {
	m.pareto()
	var nearest, open *Bill
	var within []*Bill
	for i := range m.Tried {
		b := &m.Tried[i]
		if b.open() && (open == nil || b.Error < open.Error) {
			open = b
		}
		if !b.passes() {
			continue
		}
		if nearest == nil || b.less(nearest) {
			nearest = b
		}
		if lost := b.lost(); lost == nil || float64(lost.Value) <= allow {
			within = append(within, b)
		}
	}
	best := cheapest(within)
	switch {
	case best != nil && best.atMost(allow):
		m.Recommended = best.Method
		m.Sentence = fmt.Sprintf("Take %s: it passes, at %.1f times the cost%s.", best.File, best.Cost.known(),
			best.worth(m.Before))
	case best != nil && best.Lost != nil:
		m.Sentence = fmt.Sprintf("None is recommended: %s was chosen, but of the samples that confirm it loses "+
			"%.3g %%, more than %.3g %%; retrain with moved samples, which may lose less. It passes, at %.1f times "+
			"the cost%s.", best.File, 100*best.Lost.Value, 100*allow, best.Cost.known(), best.worth(m.Before))
	case best != nil:
		m.Sentence = fmt.Sprintf("The cheapest that passes is %s, at %.1f times the cost%s: ask it for samples "+
			"whose answers are known before you take it.", best.File, best.Cost.known(), best.worth(m.Before))
	case nearest != nil:
		m.Sentence = fmt.Sprintf("None passes without losing more than %.3g %% of the samples to choose by: retrain "+
			"with moved samples, which may lose less. The nearest is %s, which loses %.3g %% of them, at %.1f times "+
			"the cost%s.", 100*allow, nearest.File, 100*nearest.lost().Value, nearest.Cost.known(),
			nearest.worth(m.Before))
	case len(m.Tried) > 0 && !slices.ContainsFunc(m.Tried, func(b Bill) bool { return b.Refused == "" }):
		m.Sentence = "No method fits this model, so nothing was written; beside each stands why."
	case open != nil:
		m.Sentence = fmt.Sprintf("None passes, but %s is not refuted either, with an error of %s: nero audit of it "+
			"says what is in doubt.", open.File, number(open.Error))
	default:
		m.Sentence = "No repaired model passes: retrain with moved samples, or take an architecture that has the " +
			"symmetry."
	}
}

// cheapest is the bill that loses least of those that cost hardly more than the cheapest; nil if there is none.
func cheapest(bills []*Bill) *Bill {
	const same = 1.15
	least := math.Inf(1)
	for _, b := range bills {
		if cost := b.Cost.known(); cost < least {
			least = cost
		}
	}
	var best *Bill
	for _, b := range bills {
		if !(b.Cost.known() > least*same) && (best == nil || b.less(best)) {
			best = b
		}
	}
	return best
}

// verdicts are those of the audits of a file; none of a method that was refused.
func (b *Bill) verdicts() []string {
	switch {
	case b.Refused != "":
		return nil
	case b.Single == "":
		return []string{b.Verdict}
	}
	return []string{b.Verdict, b.Single}
}

// passes tells whether both audits do.
func (b *Bill) passes() bool {
	all := b.verdicts()
	return len(all) > 0 && !slices.ContainsFunc(all, func(v string) bool { return v != string(document.Passed) })
}

// open tells whether a file does not pass, and no audit of it fails.
func (b *Bill) open() bool {
	all := b.verdicts()
	return len(all) > 0 && !b.passes() && !slices.ContainsFunc(all, func(v string) bool {
		return v != string(document.Passed) && v != string(document.NeedsAttention)
	})
}

// atMost tells whether no more is lost on the samples that confirm than allowed. Without labels that is known where as
// many classes stay, for an answer that stays is as right as it was, and where all may be lost.
func (b *Bill) atMost(allow float64) bool {
	switch {
	case allow >= 1:
		return true
	case b.Lost != nil:
		return float64(b.Lost.Value) <= allow
	case b.Agree != nil:
		return 1-float64(b.Agree.Value) <= allow
	}
	return false
}

// lost is by how much the share of right answers fell on samples to choose by, if there were any.
func (b *Bill) lost() *Share {
	if b.Chosen != nil {
		return b.Chosen.Lost
	}
	return b.Lost
}

// less tells whether less is lost than by another, on the samples to choose by.
func (b *Bill) less(than *Bill) bool {
	x, y := b.lost(), than.lost()
	if x != nil && y != nil && x.Value != y.Value {
		return x.Value < y.Value
	}
	if b.Chosen != nil && than.Chosen != nil {
		return b.Chosen.Apart < than.Chosen.Apart
	}
	return b.Apart < than.Apart
}

// pareto marks the files that no other beats: none is as cheap, as exact and as right and better in one of these. That
// an error is rounding makes it no worse than another that is.
func (m *Of) pareto() {
	const rounding = 1e-5
	worse := func(b *Bill) [3]float64 {
		right := float64(b.Apart)
		if b.Lost != nil {
			right = float64(b.Lost.Value)
		}
		return [3]float64{b.Cost.known(), math.Max(float64(b.Worst), rounding), right}
	}
	all := []*Bill{&m.Before}
	for i := range m.Tried {
		if m.Tried[i].Refused == "" {
			all = append(all, &m.Tried[i])
		}
	}
	for _, b := range all {
		x := worse(b)
		b.Pareto = !slices.ContainsFunc(x[:], math.IsNaN) && !slices.ContainsFunc(all, func(o *Bill) bool {
			y, better := worse(o), false
			for k := range y {
				if !(y[k] <= x[k]) {
					return false
				}
				better = better || y[k] < x[k]
			}
			return better
		})
	}
}

// worth is what a repair does to the answers, in words.
func (b *Bill) worth(before Bill) string {
	if b.Right == nil || before.Right == nil || b.Moved == nil || before.Moved == nil {
		out := fmt.Sprintf("; %s (its answers are %s away from those before", b.uncounted(), number(b.Apart))
		if b.Agree != nil {
			out += fmt.Sprintf(", %.1f %% of the classes are the same", 100*b.Agree.Value)
		}
		return out + ")"
	}
	out := fmt.Sprintf("; of samples as they are %.1f %% are right (%.1f %% before), over the orbit %.1f %% (%.1f %%)",
		100*b.Right.Value, 100*before.Right.Value, 100*b.Moved.Value, 100*before.Moved.Value)
	if b.Lost != nil {
		out += fmt.Sprintf("; at rest that is %s %% (%s to %s)", gained(b.Lost.Value), gained(b.Lost.High),
			gained(b.Lost.Low))
	}
	return out
}

// uncounted is why nobody knows whether the answers are as right.
func (b *Bill) uncounted() string {
	if b.Agree == nil {
		return "whether it is as right nobody knows, for right answers are counted of classes alone"
	}
	return "without a label for each sample nobody knows whether it is as right"
}

// gained is a loss in per cent with the other sign.
func gained(lost document.Number) string {
	text := fmt.Sprintf("%+.1f", -100*lost)
	if text == "-0.0" || text == "+0.0" {
		return "0.0"
	}
	return text
}

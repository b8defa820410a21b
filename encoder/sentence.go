package encoder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/measure/embedding"
	"nero/present/sheet"
	"nero/present/words"
)

// StaysBelow is how far features go, in distances between two objects, up to which they stay. From LostAbove on they
// are as far as another object, and the object is lost where no linear map explains half of where they are. A few that
// lie far out make all distances but their own small, so that features which stay are nearer than two objects, too,
// with a probability from NearerFrom on.
const (
	StaysBelow = 0.05
	LostAbove  = 0.95
	Explained  = 0.5
	NearerFrom = 0.95
)

// furthest is the transformation that takes features furthest, of those that move samples; nil for none.
func (m *Model) furthest() *Transformation {
	var out *Transformation
	for i := range m.Transformations {
		if t := &m.Transformations[i]; !t.idle && (out == nil || t.Ratio.Value > out.Ratio.Value) {
			out = t
		}
	}
	return out
}

// question is what is asked of features in place of what the elements of a group do.
type question interface {
	state() State
	sentence(State) string
	parts() []sheet.Part
}

// asked is the question that is asked of a model in place of that; nil for none.
func (m *Model) asked() question {
	switch {
	case m.Given != nil:
		return m.Given
	case m.Sequences != nil:
		return m.Sequences
	}
	return nil
}

// conclude says in one word and in a sentence what was found of a model.
func (m *Model) conclude() {
	if m.State == "" {
		m.decide()
	}
	m.Sentence = m.Model + ": " + m.say() + m.draws()
	if a := m.Against; a != nil {
		if a.Sentence = a.sentence(); m.asked() == nil {
			m.Sentence += " " + a.Sentence
		}
	}
}

// decide says what elements do together: they lose the object if one of them does, else move if one does, else it is
// undecided if it is so of one.
func (m *Model) decide() {
	if q := m.asked(); q != nil {
		m.State = q.state()
		return
	}
	switch {
	case len(m.Transformations) == 0:
		m.State, m.Why = Undecided, "the identity is the only element"
		return
	case m.furthest() == nil:
		m.State, m.Why = Undecided, "no element moves any of the samples, so that features which stay say nothing; "+
			"give samples that are not symmetric themselves, or another group"
		return
	}
	order := []State{Stay, Undecided, Move, Lost}
	at := 0
	for i := range m.Transformations {
		if t := &m.Transformations[i]; !t.idle {
			at = max(at, slices.Index(order, m.stateOf(t)))
		}
	}
	m.State = order[at]
	if m.State != Stay && m.drowned() {
		m.State = Undecided
	}
}

// drowned tells whether asking again takes features half as far as the element does that takes them furthest.
func (m *Model) drowned() bool {
	return m.Again != nil && !(2*float64(*m.Again) < float64(m.furthest().Ratio.Value))
}

// draws is the sentence about a model that does not repeat itself.
func (m *Model) draws() string {
	if m.Again == nil {
		return ""
	}
	out := fmt.Sprintf(" Asked again about the same input, it answers %s of the way to another object from what it "+
		"said first: it draws its features, or keeps something from one input to the next",
		share(float64(*m.Again)))
	if m.State == Undecided && m.furthest() != nil && m.drowned() {
		out += ", and what elements do cannot be told from that"
	}
	return out + "."
}

// decisive is the transformation that the sentence is about: the first that loses the object, else that which takes
// features furthest; nil for none.
func (m *Model) decisive() *Transformation {
	if m.State == Lost {
		for i := range m.Transformations {
			if t := &m.Transformations[i]; !t.idle && m.stateOf(t) == Lost {
				return t
			}
		}
	}
	return m.furthest()
}

// say is the sentence about the state.
func (m *Model) say() string {
	switch m.State {
	case NotFinite:
		return fmt.Sprintf("not finite: %s.", m.Why)
	case Collapsed:
		return m.collapsed()
	case Stay, Move, Lost, Undecided:
	}
	if q := m.asked(); q != nil {
		return q.sentence(m.State)
	}
	far := m.decisive()
	if far == nil {
		return fmt.Sprintf("nothing can be told: %s.", m.Why)
	}
	way := share(float64(far.Ratio.Value)) + " of the way"
	if t := m.apart(); t != nil {
		return m.disagrees(t)
	}
	switch m.State { //nolint:exhaustive // the others are said above
	case Stay:
		return m.stays()
	case Move:
		out := fmt.Sprintf("the features move: %s takes them %s to another object (%s)", far.Element, way,
			far.Ratio.percent())
		if x := m.mapOf(far.Element); x != nil {
			out += "; " + m.within() + x.explains()
		}
		return out + "."
	case Lost:
		return fmt.Sprintf("the features lose the object: %s takes them as far as another object, %s (%s), and %s%s.",
			far.Element, way, far.Ratio.percent(), m.within(), m.mapOf(far.Element).explains())
	}
	remedy := "; " + m.remedy()
	if m.drowned() {
		remedy = ""
	}
	return fmt.Sprintf("how far the features move is not decided: %s takes them %s to another object (%s)%s.",
		far.Element, way, far.Ratio.percent(), remedy)
}

// remedy is what asks more samples where there are too few.
func (m *Model) remedy() string { return cmp.Or(m.more, moreSamples) }

// moreSamples is what helps where nobody knows more of where samples come from.
const moreSamples = "give more samples"

// collapsed is the sentence about features that hold too little.
func (m *Model) collapsed() string {
	far := m.furthest()
	if far == nil || !(float64(far.Ratio.Low) >= StaysBelow) {
		return fmt.Sprintf("collapsed: %s, so that how far they go says nothing.", m.Why)
	}
	return fmt.Sprintf("collapsed: %s, and what is left does not stay: %s takes it %s of the way to another object "+
		"(%s).", m.Why, far.Element, share(float64(far.Ratio.Value)), far.Ratio.percent())
}

// explains says how well a linear map tells where features are after an element. An R² that is not above zero is no
// share: the map is then no better than the mean.
func (m *MapOf) explains() string {
	if !(m.R2.Value > 0) {
		return fmt.Sprintf("no linear map was found that says better than their mean where they are then (R² %s, %s)",
			m.R2.text(), m.R2.interval())
	}
	return fmt.Sprintf("a linear map explains %s of where they are then (%s)", words.Percent(float64(m.R2.Value)),
		m.R2.percent())
}

// stays is the sentence about features that stay.
func (m *Model) stays() string {
	most, worst := 0.0, &m.Transformations[0]
	for i := range m.Transformations {
		if t := &m.Transformations[i]; !t.idle {
			most = max(most, float64(t.Ratio.High))
			if worst.idle || t.WorstRatio > worst.WorstRatio {
				worst = t
			}
		}
	}
	out := fmt.Sprintf("the features stay: on average no element takes them further than %s of the distance to "+
		"another object", figure(most))
	if worst.WorstRatio > 0 {
		out += fmt.Sprintf("; the furthest is sample %s at %s, %s", worst.Worst, worst.Element,
			figure(float64(worst.WorstRatio)))
	}
	return out + "."
}

// staysOnAverage says that no element takes the features anywhere on average.
func (m *Model) staysOnAverage() bool {
	far := m.furthest()
	return far != nil && far.onAverage()
}

// apart is the element that is why features which stay on average do not: of those that decide, the one whose samples
// are nearer than two objects least often; nil where how far features go decides.
func (m *Model) apart() *Transformation {
	if m.State != Move && m.State != Undecided || m.furthest() == nil {
		return nil
	}
	drowned := m.drowned()
	var out *Transformation
	for i := range m.Transformations {
		t := &m.Transformations[i]
		if t.idle {
			continue
		}
		s := m.stateOf(t)
		decides := s == m.State || drowned && s != Stay
		switch {
		case decides && !t.onAverage():
			return nil
		case decides && (out == nil || t.AUC.Value < out.AUC.Value):
			out = t
		}
	}
	return out
}

// disagrees is the sentence about features that stay on average, and are nearer than two objects too seldom for that.
func (m *Model) disagrees(t *Transformation) string {
	head, tail := "the features move: ", ""
	if m.State == Undecided {
		head = "how far the features move is not decided: "
		if !m.drowned() && !(float64(t.AUC.High) < 0.5) { // more would not change the latter
			tail = "; " + m.remedy()
		}
	}
	return fmt.Sprintf("%son average they stay, within %s of the distance to another object, but at %s a sample is "+
		"nearer to where it was than two objects are to each other in only %s (%s)%s.", head,
		figure(float64(t.Ratio.High)), t.Element, share(float64(t.AUC.Value)), t.AUC.percent(), tail)
}

// onAverage tells whether the element leaves features where they are on average.
func (t *Transformation) onAverage() bool { return float64(t.Ratio.High) < StaysBelow }

// beside takes down how far the element takes features beside how far two objects are apart.
func (t *Transformation) beside(n embedding.Nearness) {
	auc := estimate(n.AUC)
	t.AUC, t.seen = &auc, n.Seen.Low
}

// beside is what features do that stay on average, by how often a view of a thing is nearer than two things. Where
// every one is, few things leave a wide interval for what was never seen, and that is no sign of any.
func beside(seen float64, auc Estimate) State {
	switch {
	case seen > NearerFrom:
		return Stay
	case float64(auc.High) < NearerFrom && float64(auc.Low) > 0.5:
		return Move
	}
	return Undecided
}

// within says in which directions maps look, where these do not hold nearly all of the variance.
func (m *Model) within() string {
	const nearly = 0.99
	if m.Held == nil || float64(*m.Held) >= nearly {
		return ""
	}
	return fmt.Sprintf("in the %s that hold %s of the variance, ", words.Plural(m.Axes, "direction", "directions"),
		words.Percent(float64(*m.Held)))
}

// stateOf is what one element does.
func (m *Model) stateOf(t *Transformation) State {
	low, high := float64(t.Ratio.Low), float64(t.Ratio.High)
	x := m.mapOf(t.Element)
	switch {
	case high < StaysBelow:
		return beside(t.seen, *t.AUC)
	case low > LostAbove && x != nil && float64(x.R2.High) < Explained:
		return Lost
	case low >= StaysBelow && (high <= LostAbove || x != nil && float64(x.R2.Low) >= Explained):
		return Move
	}
	return Undecided
}

// mapOf is the map of an element; nil for none.
func (m *Model) mapOf(element string) *MapOf {
	if m.Maps == nil {
		return nil
	}
	for i := range m.Maps.By {
		if m.Maps.By[i].Element == element {
			return &m.Maps.By[i]
		}
	}
	return nil
}

// space says what the features of the other release are to those of the model.
func (a *Against) space() string {
	return map[string]string{
		string(embedding.Unmoved):   "the same space, as it is",
		string(embedding.SameSpace): "the same space, turned",
		string(embedding.Scaled):    "the same space, turned and scaled",
		string(embedding.Adapter):   "another space, which an affine adapter takes to the old one",
		string(embedding.Reembed):   "another space: less than 95% of the old one is explained by an affine adapter",
	}[a.Reading]
}

// sentence says what two releases are to each other and to an index.
func (a *Against) sentence() string {
	if a.Why != "" {
		return fmt.Sprintf("%s cannot read the old index: %s.", a.Model, a.Why)
	}
	out := fmt.Sprintf("%s is %s (R² %s by a turn, %s by an affine map)", a.Model, a.space(), a.R2Isometry.text(),
		a.R2Affine.text())
	if a.Reading == string(embedding.Unmoved) {
		out = fmt.Sprintf("%s is %s (R² %s)", a.Model, a.space(), a.R2Plain.text())
	}
	switch through := a.through(); {
	case len(a.Backward) == 0:
		return out + "; whether it can read the old index was not asked."
	case through == "none":
		return out + "; it can read the old index as it is."
	case through != "":
		return out + "; it can read the old index through an adapter (" + through + ")."
	case a.Index == embedding.Worse:
		return out + "; it finds less in the old index, also through an adapter: re-embed."
	}
	out += "; whether it can read the old index is not decided: "
	if a.blind() {
		return out + "old features find no more in it than a guess does."
	}
	return out + cmp.Or(a.more, moreSamples) + "."
}

// blind tells whether old features themselves find nothing, so that nothing can be lost, however many there are.
func (a *Against) blind() bool {
	for _, r := range a.Backward {
		if r.Old.Value > r.Chance {
			return false
		}
	}
	return true
}

// Conclude says in one sentence what was found of all models.
func (r *Report) Conclude() {
	var all []string
	for _, m := range r.Models {
		all = append(all, m.Sentence)
	}
	r.Sentence = strings.Join(all, " ")
}

// text is a number for people.
func (e Estimate) text() string { return figure(float64(e.Value)) }

// interval is the interval for people.
func (e Estimate) interval() string {
	low, high := float64(e.Low), float64(e.High)
	if math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) && math.IsInf(high, 0) {
		return "any"
	}
	return figure(low) + " to " + figure(high)
}

// percent is the interval as shares of a hundred.
func (e Estimate) percent() string {
	low, high := float64(e.Low), float64(e.High)
	if math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return "any"
	}
	return share(low) + " to " + share(high)
}

// large is from where on a number has no digits but those that count.
const large = 1e6

// share is a share of a hundred.
func share(x float64) string {
	if math.Abs(100*x) >= large {
		return words.Figures(100*x) + "%"
	}
	return words.Percent(x)
}

// figure is a number for a table.
func figure(x float64) string {
	switch {
	case math.IsNaN(x):
		return "undefined"
	case math.IsInf(x, 0):
		return "any"
	case x != 0 && math.Abs(x) < 1e-3 || math.Abs(x) >= large:
		return words.Figures(x)
	}
	return words.Minus(fmt.Sprintf("%.3f", x))
}

// largest are the transformations that take features furthest, as many as a table shows, the furthest first.
func (m *Model) largest() []Transformation {
	all := slices.Clone(m.Transformations)
	slices.SortStableFunc(all, func(a, b Transformation) int { return cmp.Compare(b.Ratio.Value, a.Ratio.Value) })
	return all[:min(mostRows, len(all))]
}

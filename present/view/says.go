package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/measure/metric"
	"nero/present/words"
	"nero/run/fold"
)

// Sayer puts into words what a run says of a model, for people who read no table. Terminal, page and reports all have
// their sentences from it.
type Sayer struct {
	Metrics []*metric.Metric
	// of the metrics; "" for pure numbers
	Units []string
	// of the intervals
	Confidence float64
	// Identity is the index of the identity, -1 if it is not visited.
	Identity int
	// Label is an element for people.
	Label func(element int) string
}

// SayerOf is the sayer of a summary.
func SayerOf(s *fold.Summary, label func(element int) string) *Sayer {
	o := &Sayer{Confidence: s.Confidence, Identity: s.Identity(), Label: label}
	for i, doc := range s.Metrics {
		m, err := s.Known(i)
		if err != nil {
			m = &metric.Metric{Name: doc.Name} // says nothing
		}
		o.Metrics, o.Units = append(o.Metrics, m), append(o.Units, doc.Unit)
	}
	return o
}

// longest is how long the name of an element may be that a sentence names.
const longest = 40

// mostPorts is of how many fields of a record sentences speak.
const mostPorts = 2

// Metrics that sentences are made of, for one field of the output.
type spoken struct {
	// how right the model is, and how far it agrees with itself; -1 where there is none
	right, own int
}

// spoken chooses for each field the metric against the target and that against the model's own answer, those that are
// shares of the inputs before others.
func (s *Sayer) spoken() []spoken {
	var out []spoken
	var ports []string
	for i, m := range s.Metrics {
		if m.Says == "" || m.Ref == metric.Consensus {
			continue
		}
		k := 0
		for k < len(ports) && ports[k] != m.Port {
			k++
		}
		if k == len(ports) {
			if k == mostPorts {
				continue
			}
			ports, out = append(ports, m.Port), append(out, spoken{-1, -1})
		}
		at := &out[k].right
		if m.Ref == metric.Self {
			at = &out[k].own
		}
		if *at < 0 || m.Binary && !s.Metrics[*at].Binary {
			*at = i
		}
	}
	return out
}

// Needs are the metrics whose curves [Sayer.Says] asks for.
func (s *Sayer) Needs() []int {
	var out []int
	for _, p := range s.spoken() {
		for _, i := range []int{p.right, p.own} {
			if i >= 0 {
				out = append(out, i)
			}
		}
	}
	return out
}

// Says is a sentence or a few of one model: what is right as the inputs are and moved, with the interval and the number
// of inputs, where it is worst, and on how many it holds however they are moved. Curves give the means at the elements
// and the estimates over the orbit by metric; nil for one that is not there. Chosen tells that the inputs are not all
// that there are. It is "" where no metric says anything.
func (s *Sayer) Says(model string, chosen bool, curve func(metric int) *fold.Curve) string {
	var out []string
	subject := model
	say := func(text string) {
		if text != "" {
			out = append(out, subject+" "+text+".")
			subject = "It"
		}
	}
	for _, p := range s.spoken() {
		right, own := s.figures(p.right, curve), s.figures(p.own, curve)
		if right == nil {
			say(s.moved(own, chosen))
			continue
		}
		say(s.rest(right, chosen))
		switch {
		case own == nil && s.Identity < 0:
			continue // that is said already
		case own == nil:
			own = right
		case !own.m.Binary:
			e, when := s.over(own)
			say(fmt.Sprintf(own.m.Says, own.value(e.Mean)) + when)
		}
		if own.m.Binary && own.c.Worst.N > 0 {
			of := own.value(own.c.Worst.Mean) + " of " + pronoun(own.c.Orbit.N)
			say(fmt.Sprintf(own.m.Says, of) + " however " + they(own.c.Orbit.N) + " moved")
		}
	}
	return strings.Join(out, " ")
}

// figures are the numbers of a metric that a sentence needs.
type figures struct {
	m    *metric.Metric
	unit string
	c    *fold.Curve
}

// figures of metric i, nil if there is no number to speak of.
func (s *Sayer) figures(i int, curve func(int) *fold.Curve) *figures {
	if i < 0 {
		return nil
	}
	c := curve(i)
	if c == nil || c.Orbit.N == 0 || math.IsNaN(float64(c.Orbit.Mean)) {
		return nil
	}
	return &figures{s.Metrics[i], s.Units[i], c}
}

// mean is that at element k; of shares the one of so many inputs, whatever adding them up one by one made of it.
func (f *figures) mean(k int) fold.Number {
	v := f.c.Mean[k]
	if k < len(f.c.N) && f.m.Binary && f.c.N[k] > 0 {
		n := float64(f.c.N[k])
		return fold.Number(math.Round(float64(v)*n) / n)
	}
	return v
}

// rest is a sentence on a metric that says something of inputs as they are.
func (s *Sayer) rest(f *figures, chosen bool) string {
	if s.Identity < 0 || math.IsNaN(float64(f.c.Mean[s.Identity])) {
		return s.moved(f, chosen)
	}
	n := f.c.Orbit.N
	at := f.of(f.mean(s.Identity), n, chosen)
	interval := s.interval(f)
	e, when := s.over(f)
	if moved := f.value(e.Mean); moved != f.value(f.mean(s.Identity)) || strings.Contains(interval, "worst") {
		return fmt.Sprintf("%s as %s and %s%s%s%s", at, they(n), f.preposition(), moved, when, interval)
	}
	return at + ", as " + they(n) + " and moved alike" + interval
}

// moved is a sentence on a metric that is perfect of inputs as they are.
func (s *Sayer) moved(f *figures, chosen bool) string {
	if f == nil {
		return ""
	}
	n := f.c.Orbit.N
	e, when := s.over(f)
	out := f.of(e.Mean, n, chosen) + when + s.interval(f)
	if f.m.Binary && f.c.Worst.N > 0 {
		out += fmt.Sprintf(", and %s%s however %s moved", f.preposition(), f.value(f.c.Worst.Mean), they(n))
	}
	return out
}

// over is the estimate that tells of moved inputs, and when it holds, in words: that of the orbit but for the identity.
// An older summary has only the mean over the whole orbit, which says so; a plan without the identity moves them all.
func (s *Sayer) over(f *figures) (fold.Estimate, string) {
	if f.c.Moved.N > 0 {
		return f.c.Moved, " when " + they(f.c.Moved.N) + " moved"
	}
	if s.Identity < 0 {
		return f.c.Orbit, " when " + they(f.c.Orbit.N) + " moved"
	}
	return f.c.Orbit, " in the mean over the orbit"
}

// interval is that of the mean over the moved inputs, and where on the orbit the mean over the inputs is worst.
func (s *Sayer) interval(f *figures) string {
	var parts []string
	e, _ := s.over(f)
	lo, hi := float64(e.Lo), float64(e.Hi)
	if !math.IsNaN(lo) && !math.IsNaN(hi) && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) && lo < hi {
		parts = append(parts, fmt.Sprintf("%s%% interval %s to %s", strconv.FormatFloat(100*s.Confidence, 'g', 4, 64),
			f.number(e.Lo), f.number(e.Hi)))
	}
	if k := f.c.WorstElement; k >= 0 && f.value(f.mean(k)) != f.value(e.Mean) {
		if at := Where(fold.PlaceOf(f.c.Mean, f.m.Better), s.Label); utf8.RuneCountInString(at) <= longest {
			parts = append(parts, fmt.Sprintf("worst at %s: %s", at, f.value(f.mean(k))))
		} else {
			parts = append(parts, "at worst "+f.value(f.mean(k)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// of is what the metric says of n inputs: of a share of them the inputs stand behind it.
func (f *figures) of(v fold.Number, n int, chosen bool) string {
	inputs := words.Plural(n, "input", "inputs")
	if chosen {
		inputs = "the " + words.Plural(n, "chosen input", "chosen inputs")
	}
	if f.m.Binary {
		return fmt.Sprintf(f.m.Says, f.value(v)+" of "+inputs)
	}
	return fmt.Sprintf(f.m.Says, f.value(v)) + " on " + inputs
}

// number is a value without its unit; numbers from 0 to 1 are shares.
func (f *figures) number(v fold.Number) string {
	if f.m.Range == ([2]float64{0, 1}) {
		return words.Percent(float64(v))
	}
	return words.Number(v)
}

// value is a value with its unit.
func (f *figures) value(v fold.Number) string {
	out := f.number(v)
	switch f.unit {
	case "", "output":
		return out
	case "°":
		return out + f.unit
	}
	return out + " " + f.unit
}

// preposition is that before the value, with a space, "" for none: "on " of "is right on %s".
func (f *figures) preposition() string {
	before, _, _ := strings.Cut(f.m.Says, "%s")
	word := before[strings.LastIndex(strings.TrimRight(before, " "), " ")+1:]
	switch word {
	case "on ", "by ", "at ", "of ":
		return word
	}
	return ""
}

func they(n int) string {
	if n == 1 {
		return "it is"
	}
	return "they are"
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

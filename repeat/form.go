package repeat

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/present/sheet"
	"nero/present/words"
)

// Base is what a report is called in a folder, without the ending of its form.
const Base = "repeat"

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*sheet.Form[*Report] { return sheet.Forms((*Report).sheet) }

// Schema is the schema of what [Report] is in JSON.
func Schema() ([]byte, error) { return sheet.Schema("repeat", FormatNumber, &Report{}) }

// sheet is what people read.
func (r *Report) sheet() *sheet.Sheet {
	return &sheet.Sheet{Title: "Asked again", Answer: []string{r.Sentence}, Parts: r.parts()}
}

// MarkOf tells a repeat.json from other JSON by its first keys.
const MarkOf = `"times":`

// ReadReport reads a report in JSON; its name is that of the file, for messages.
func ReadReport(name string, b []byte) (*Report, error) {
	const want = "want a repeat.json that nero repeat wrote"
	var r Report
	err := json.Unmarshal(b, &r)
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(bad.Value, " ") // "number 1e5"
		err = fmt.Errorf("%s is a JSON %s", words.Line(cmp.Or(bad.Field, "the whole file")), kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; %s", name, err, want)
	}
	switch {
	case r.Format != FormatNumber:
		return nil, fmt.Errorf("%s: the format is %d and not %d; %s", name, r.Format, FormatNumber, want)
	case len(r.Models) == 0 || r.Times < 1 || r.Sentence == "":
		return nil, fmt.Errorf("%s: no models; %s", name, want)
	}
	for _, m := range r.Models {
		if m == nil {
			return nil, fmt.Errorf("%s: a model that is null; %s", name, want)
		}
		if slices.Contains(m.Objects, nil) || slices.Contains(m.Given, nil) || len(m.Outcomes) == 0 {
			return nil, fmt.Errorf("%s: what %s answered is not whole; %s", name, words.Line(m.Name), want)
		}
		if err := m.Contract.whole(); err != nil {
			return nil, fmt.Errorf("%s: the contract of %s %w; %s", name, words.Line(m.Name), err, want)
		}
	}
	return &r, nil
}

// whole says what of a contract in a file cannot be.
func (c *Contract) whole() error {
	if c == nil {
		return nil
	}
	if c.Unit != objects && c.Unit != environments {
		return fmt.Errorf("counts %q", c.Unit)
	}
	s := c.Stream
	if s.N < 0 || s.Over < 0 || s.Over > s.N || len(c.Seen) != s.N {
		return fmt.Errorf("has %d objects of which %d failed, and the names of %d", s.N, s.Over, len(c.Seen))
	}
	last := Stage{}
	for _, x := range c.Course {
		if x.N <= last.N || x.N > s.N || x.Over < last.Over || x.Over > s.Over {
			return fmt.Errorf("goes from %d failed of %d to %d of %d, and ends with %d of %d", last.Over, last.N,
				x.Over, x.N, s.Over, s.N)
		}
		last = x
	}
	return nil
}

// ErrOther is that an earlier report asked something else.
var ErrOther = errors.New("the earlier report asked something else")

// Follows tells whether streams can go on from a report: they have to be of the same contract about the same models, of
// outcomes that were found in the same way, and count the same. There is a subject at least, and all have its things.
func (r *Report) Follows(o Options, asked []*Subject) error {
	unit, found := UnitOf(asked[0].Things), 0
	for _, m := range r.Models {
		c := m.Contract
		if c == nil || o.Contract == nil {
			return fmt.Errorf("%w: a contract is needed there and here; say audit.contract", ErrOther)
		}
		if c.Unit != unit {
			return fmt.Errorf("%w: it counts %ss, and this one %ss: name environments in both or in none", ErrOther,
				c.Unit, unit)
		}
		if c.Error != Number(o.Contract.Tau) || c.Rate != Number(o.Contract.P) ||
			c.Confidence != Number(o.Contract.Confidence) {
			return fmt.Errorf("%w: an error of %g in %g with confidence %g, and this one %g, %g and %g: say the same",
				ErrOther, c.Error, c.Rate, c.Confidence, o.Contract.Tau, o.Contract.P, o.Contract.Confidence)
		}
	}
	if err := r.alike(o, asked[0].Views); err != nil {
		return err
	}
	for _, s := range asked {
		m := r.Of(s.Model)
		if m == nil {
			continue
		}
		if found++; m.Digest != s.Digest {
			return fmt.Errorf("%w: its model %s is %s, and that of this one %s: ask the same model, or begin anew",
				ErrOther, words.Line(m.Name), which(m.Digest), which(s.Digest))
		}
	}
	if found == 0 {
		var there, here []string
		for _, m := range r.Models {
			there = append(there, m.Name)
		}
		for _, s := range asked {
			here = append(here, s.Model)
		}
		return fmt.Errorf("%w: it is of %s, and this one of %s: name the model as it was", ErrOther, some(there),
			some(here))
	}
	return nil
}

// alike says what makes outcomes of the report others than those that are found now.
func (r *Report) alike(o Options, views []string) error {
	if r.Seeds == nil {
		return fmt.Errorf("%w, for all that is known: an older program wrote it, which did not say with which seeds "+
			`and bust; begin anew without it, or, where you know them, write "seeds": [%s] and "bust": %q into it`,
			ErrOther, seedsOf(o.Seeds, ", "), o.Bust)
	}
	sorted := func(names []string) []string { return slices.Sorted(slices.Values(names)) }
	drawn := func(seeds []int) string {
		if len(seeds) == 0 {
			return "without seeds"
		}
		return "with the seeds " + seedsOf(seeds, ", ")
	}
	busted := func(name string) string {
		if name == "" {
			return "with no parameter against caches"
		}
		return "with another value of " + words.Line(name) + " in every request"
	}
	rules := func(texts []string) string {
		if len(texts) == 0 {
			return "answers as they are"
		}
		return "answers after " + some(texts)
	}
	for _, x := range []struct {
		same        bool
		there, here string
	}{
		{slices.Equal(r.Normalise, o.Rules), rules(r.Normalise), rules(o.Rules)},
		{r.Times == o.Times, fmt.Sprintf("each input %d times", r.Times), fmt.Sprintf("%d times", o.Times)},
		{
			slices.Equal(sorted(r.Views), sorted(views)), "about the views " + some(sorted(r.Views)),
			"about " + some(sorted(views)),
		},
		{
			r.Reference == views[o.Reference], "with the reference " + words.Line(r.Reference),
			"with " + words.Line(views[o.Reference]),
		},
		{
			slices.Equal(slices.Sorted(slices.Values(r.Seeds)), slices.Sorted(slices.Values(o.Seeds))),
			drawn(r.Seeds), drawn(o.Seeds),
		},
		{r.Bust == o.Bust, busted(r.Bust), busted(o.Bust)},
	} {
		if !x.same {
			return fmt.Errorf("%w: %s, and this one %s: say the same", ErrOther, x.there, x.here)
		}
	}
	return nil
}

// Of is what was found of a model; nil for one that was not asked.
func (r *Report) Of(model string) *Model {
	i := slices.IndexFunc(r.Models, func(m *Model) bool { return m.Name == model })
	if i < 0 {
		return nil
	}
	return r.Models[i]
}

// seedsOf lists seeds.
func seedsOf(seeds []int, between string) string {
	var texts []string
	for _, n := range seeds {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, between)
}

// which names a file by its digest.
func which(digest string) string {
	const enough = 12
	if digest == "" {
		return "no file"
	}
	return "a file with SHA-256 " + words.Line(digest[:min(enough, len(digest))])
}

// some lists names for a message, not too many.
func some(names []string) string {
	const most = 8
	rest := ""
	if n := len(names) - most; n > 0 {
		names, rest = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return words.Line(strings.Join(names, ", ")) + rest
}

// text is an estimate with its interval, as shares or as sizes.
func (e *Estimate) text(say func(float64) string) string {
	if e == nil {
		return ""
	}
	if math.IsInf(float64(e.Low), 0) || math.IsNaN(float64(e.Low)) {
		return say(float64(e.Value)) + " (any)"
	}
	return fmt.Sprintf("%s (%s to %s)", say(float64(e.Value)), say(float64(e.Low)), say(float64(e.High)))
}

// doc is what an outcome means.
func (c *Count) doc() string {
	for _, o := range Outcomes() {
		if o.Name == c.Name {
			return o.Doc
		}
	}
	return ""
}

func (m *Model) size() func(float64) string {
	if m.Answers == "numbers" {
		return words.Figures
	}
	return words.Percent
}

// bar draws a share of the widest as blocks.
func bar(x, widest float64) string {
	const cells = 20
	if !(x > 0) || !(widest > 0) || math.IsInf(x, 0) {
		return ""
	}
	eighths := int(math.Round(float64(x/widest) * cells * 8))
	rest := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	return strings.Repeat("█", eighths/8) + rest[eighths%8]
}

func (m *Model) parts(r *Report) []sheet.Part {
	head := sheet.Part{Title: m.Name}
	if m.Place != "" && m.Place != m.Name {
		head.Title += ", " + m.Place
	}
	head.Title += ": " + string(m.Verdict)
	if len(m.Reasons) > 0 {
		head.Text = append(head.Text, words.Capital(strings.Join(m.Reasons, "; "))+".")
	}
	if m.Cached != "" {
		head.Text = append(head.Text, words.Capital(m.Cached)+".")
	}
	if len(m.Outcomes) > 1 || m.Outcomes[0].Name != Answered.Name {
		head.Table = [][]string{{"outcome", "questions", "share", "what it is", "the first"}}
		for _, o := range m.Outcomes {
			first := ""
			if o.Why != "" {
				first = fmt.Sprintf("%s, %s: %s", o.Object, o.View, o.Why)
			}
			head.Table = append(head.Table, []string{
				words.Name(o.Name), strconv.Itoa(o.N), words.Percent(float64(o.Share)), o.doc(), first,
			})
		}
		head.Notes = append(head.Notes, "What is no answer is in no number below.")
	}
	all := []sheet.Part{head}
	if d := m.Depends; d != nil && (d.Shown || m.Verdict == Described) { // else it is among the reasons
		all[0].Text = append(all[0].Text, d.text(m.Answers == "numbers"))
	}
	if m.Repeats != nil {
		all = append(all, m.Repeats.part(r, m))
	}
	if m.Given != nil {
		all = append(all, m.strip(r))
	}
	if m.Contract != nil {
		all = append(all, m.Contract.part())
	}
	return append(all, m.worst())
}

func (r *Repeats) part(of *Report, m *Model) sheet.Part {
	p := sheet.Part{Title: "The same again, " + strconv.Itoa(of.Times) + " times"}
	p.Table = [][]string{{"of repeats", "interval"}}
	add := func(name, value string) { p.Table = append(p.Table, []string{name, value}) }
	if r.Spread != nil {
		if m.Scale != nil && float64(*m.Scale) > 0 {
			unit := r.Spread.times(float64(*m.Scale))
			add("deviation in the unit of the answer", unit.text(words.Figures))
		}
		add("deviation over the centred scale", r.Spread.text(words.Figures))
	}
	add("agreement of two answers", r.Agreement.text(words.Percent))
	add("entropy, bits", r.Entropy.text(words.Figures))
	add("objects all of whose answers are equal", r.Full.text(words.Percent))
	if c := r.Correct; c != nil {
		add("accuracy of one answer", c.One.text(words.Percent))
		add("accuracy of the most frequent", c.Mode.text(words.Percent))
		add("at least one of them right", c.Best.text(words.Percent))
		wrong := "No most frequent answer is wrong."
		if c.Errors.N > 0 {
			wrong = c.Errors.text(words.Percent) + " of errors are consistent errors: asking again does not find them."
		}
		p.Text = append(p.Text, fmt.Sprintf("%s Consistent and right %d, consistent and wrong %d, varying and right "+
			"%d, varying and wrong %d objects.", wrong, c.ConsistentRight, c.ConsistentWrong, c.VaryingRight,
			c.VaryingWrong))
	}
	if r.Digits != nil {
		var shares []string
		for k, x := range r.Digits {
			shares = append(shares, fmt.Sprintf("%d: %s", k+1, words.Percent(float64(x))))
		}
		p.Notes = append(p.Notes, "Numbers with so many significant digits in common: "+strings.Join(shares, ", ")+".")
	}
	if len(m.Given) > 0 {
		p.Notes = append(p.Notes, "Of the view "+of.Reference+", with which the others are compared.")
	}
	if r.Tied > 0 {
		p.Notes = append(p.Notes, words.Plural(r.Tied, "object", "objects")+
			" without a single most frequent answer; the first of them is taken.")
	}
	if r.Few > 0 {
		p.Notes = append(p.Notes, words.Plural(r.Few, "object", "objects")+" with fewer than two answers.")
	}
	return p
}

// text says how far answers tell objects apart.
func (d *Depends) text(numbers bool) string {
	shown := "is shown"
	if !d.Shown {
		shown = "is not shown"
	}
	return fmt.Sprintf("That answers depend on the object %s: %s.", shown, d.lay(numbers))
}

// lay lays answers about one object beside those about different ones.
func (d *Depends) lay(numbers bool) string {
	of := words.Plural(d.Objects, "object", "objects")
	if numbers {
		return fmt.Sprintf("two about one are %s scales apart, two about different ones %s (%s, p = %s)",
			words.Figures(float64(d.Same)), words.Figures(float64(d.Other)), of, words.Figures(float64(d.P)))
	}
	return fmt.Sprintf("two about one differ in %s, two about different ones in %s (%s, p = %s)",
		words.Percent(float64(d.Same)), words.Percent(float64(d.Other)), of, words.Figures(float64(d.P)))
}

// strip is the ranked strip of views: there is no order among them but how much they differ.
func (m *Model) strip(r *Report) sheet.Part {
	p := sheet.Part{Title: "Views, by how much they are answered otherwise than " + r.Reference}
	switch o := m.OverViews; {
	case m.Apart != nil:
		p.Text = append(p.Text, "Two answers to different views of one object are "+m.Apart.text(words.Figures)+
			" apart, over the centred scale.")
	case o != nil:
		p.Text = append(p.Text, "Two answers to different views of one object are equal in "+o.text(words.Percent)+".")
	}
	say := m.size()
	widest := 1.0
	if m.Answers == "numbers" {
		widest = 0
		for _, v := range m.Given {
			if v.Difference == nil {
				continue
			}
			if x := float64(v.Difference.Value); x > widest && !math.IsInf(x, 0) {
				widest = x
			}
		}
	}
	head := []string{"view", "objects", "", "differ", "more than by chance", "p (Holm)"}
	accuracy := false
	for _, v := range m.Given {
		accuracy = accuracy || v.Accuracy != nil
	}
	if accuracy {
		head = append(head, "right")
	}
	p.Table = [][]string{append(head, "state")}
	for _, v := range m.Given {
		row := []string{v.Name, strconv.Itoa(v.Objects), "", v.Difference.text(say), v.Excess.text(words.Figures), ""}
		if v.Difference != nil {
			row[2] = bar(float64(v.Difference.Value), widest)
		}
		if v.PHolm != nil {
			row[5] = words.Figures(float64(*v.PHolm))
		}
		if accuracy {
			row = append(row, v.Accuracy.text(words.Percent))
		}
		state := v.State
		if v.Reference {
			state = "reference"
		}
		p.Table = append(p.Table, append(row, state))
	}
	effect := "what differs more than by chance"
	if r.Times < 2 {
		effect = "what differs (each view was asked once, and nothing is known of chance)"
	}
	p.Notes = append(p.Notes, fmt.Sprintf("A view is the same if the interval of %s lies below %s, and differs if it "+
		"lies above; a large p shows nothing. The intervals of all views hold together.", effect,
		words.Figures(float64(r.Threshold))))
	return p
}

func (c *Contract) part() sheet.Part {
	many := c.Unit + "s"
	p := sheet.Part{Title: fmt.Sprintf("Contract: an error above %s in at most %s of %s, with confidence %s",
		words.Figures(float64(c.Error)), words.Percent(float64(c.Rate)), many, words.Percent(float64(c.Confidence)))}
	p.Table = [][]string{{"", "state", many, "above", "what is shown"}}
	limits := fmt.Sprintf("the share lies above %s and below %s", words.Percent(float64(*c.Fixed.Low)),
		words.Percent(float64(*c.Fixed.High)))
	if c.Fixed.Need > 0 {
		limits += fmt.Sprintf("; about %s decide", words.Plural(c.Fixed.Need, c.Unit, many))
	}
	p.Table = append(p.Table, []string{
		"these " + many, c.Fixed.State, strconv.Itoa(c.Fixed.N), strconv.Itoa(c.Fixed.Over), limits,
	})
	evidence := fmt.Sprintf("evidence that it is kept 1e%s, that it is broken 1e%s, due at %s",
		tens(float64(*c.Stream.LogKept)), tens(float64(*c.Stream.LogBroken)),
		words.Figures(1/(1-float64(c.Confidence))))
	if c.Stream.DecidedAt > 0 {
		evidence += "; decided after " + words.Plural(c.Stream.DecidedAt, c.Unit, many)
	}
	p.Table = append(p.Table, []string{
		"all so far", c.Stream.State, strconv.Itoa(c.Stream.N), strconv.Itoa(c.Stream.Over), evidence,
	})
	note := "The error of an object is its largest over views and repeats, from the most frequent answer to the " +
		"reference"
	if c.Unit == environments {
		note += "; that of an environment is the mean of its objects"
	}
	p.Notes = append(p.Notes, note+".")
	if c.Stream.Known > 0 {
		p.Notes = append(p.Notes, words.Plural(c.Stream.Known, c.Unit+" was",
			many+" were")+" known before: no new evidence.")
	}
	if c.LeftOut > 0 {
		p.Notes = append(p.Notes, words.Plural(c.LeftOut, c.Unit+" has",
			many+" have")+" no answer to the reference, or "+
			"none that could be compared with it.")
	}
	return p
}

// tens is an exponent of ten for a natural logarithm.
func tens(log float64) string { return words.Minus(strconv.FormatFloat(log/math.Ln10, 'f', 1, 64)) }

// mostObjects is how many objects people are shown.
const mostObjects = 10

// shown is an answer for people, of at most so many letters: between quotation marks where spaces at its ends, which
// nobody sees, are part of it.
func shown(answer string, most int) string {
	if strings.TrimSpace(answer) != answer {
		return strconv.Quote(words.Clip(answer, most))
	}
	return words.Clip(answer, most)
}

// worst are the objects that agree least.
func (m *Model) worst() sheet.Part {
	p := sheet.Part{Title: "Objects that agree least"}
	left, spaces := 0, false
	for _, o := range m.Objects {
		if len(o.Views) == 0 {
			continue
		}
		if len(p.Table) > mostObjects {
			left++
			continue
		}
		if p.Table == nil {
			p.Table = [][]string{{"object", "of repeats", "over views", "mostly", "otherwise"}}
		}
		spaces = spaces || o.Mode != strings.TrimSpace(o.Mode)
		var others []string
		for _, v := range o.Views {
			spaces = spaces || v.Differ > 0 && v.Answer != strings.TrimSpace(v.Answer)
			if v.Differ > 0 {
				others = append(others, fmt.Sprintf("%s %d of %d: %s", v.View, v.Differ, v.Asked, shown(v.Answer,
					24)))
			}
			if v.Without > 0 {
				others = append(others, fmt.Sprintf("%s %d of %d without an answer", v.View, v.Without, v.Asked))
			}
		}
		p.Table = append(p.Table, []string{
			words.Clip(o.Name, 24), words.Percent(float64(o.Agreement)), words.Percent(float64(o.OverViews)),
			shown(o.Mode, 32), strings.Join(others, "; "),
		})
	}
	if p.Table == nil {
		p.Text = append(p.Text, "None: every answer about an object is the same.")
	}
	if spaces {
		p.Notes = append(p.Notes, "Answers between quotation marks begin or end with spaces, which make them "+
			"differ from the same words without; --normalise trim leaves these out.")
	}
	if left > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("And %d more, which the JSON has.", left))
	}
	return p
}

func (r *Report) parts() []sheet.Part {
	var all []sheet.Part
	for _, m := range r.Models {
		all = append(all, m.parts(r)...)
	}
	return all
}

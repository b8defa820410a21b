package encoder

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/present/words"

	"github.com/invopop/jsonschema"
)

// Form is a way to write a report.
type Form struct {
	Name string
	// Ending is that of the names of files.
	Ending string
	write  func(w io.Writer, r *Report) error
}

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*Form {
	return []*Form{
		{"text", ".txt", writeText},
		{"json", ".json", writeJSON},
		{"markdown", ".md", writeMarkdown},
		{"html", ".html", writeHTML},
	}
}

// FindForm finds a form by its name.
func FindForm(name string) (*Form, error) {
	var names []string
	for _, f := range Forms() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	near := ""
	if s, ok := words.Suggest(name, names); ok {
		near = "; did you mean " + s + "?"
	}
	return nil, fmt.Errorf("%q is no form of the report; want one of %s%s", name, strings.Join(names, ", "), near)
}

// FormOf finds a form by the ending of a file's name.
func FormOf(file string) (*Form, error) {
	var endings []string
	for _, f := range Forms() {
		if strings.HasSuffix(strings.ToLower(file), f.Ending) {
			return f, nil
		}
		endings = append(endings, f.Ending)
	}
	return nil, fmt.Errorf("%s: the ending says the form: want one of %s", file, strings.Join(endings, ", "))
}

// Write writes a report.
func (f *Form) Write(w io.Writer, r *Report) error { return f.write(w, r) }

func writeJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Schema is the schema of what [Report] is in JSON (draft 2020-12).
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	s := r.Reflect(&Report{})
	s.Title = "nero embed, format " + strconv.Itoa(FormatNumber)
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// part is a part of a report that people read.
type part struct {
	title string
	text  []string
	// the first row is the head; nil for none
	table [][]string
	notes []string
}

// parts are what all forms for people show.
func (r *Report) parts() []part {
	var all []part
	for _, m := range r.Models {
		head := part{title: m.Model, text: []string{m.Sentence, m.features()}}
		for _, n := range m.Notes {
			head.notes = append(head.notes, "Not asked: "+n+".")
		}
		all = append(all, head)
		if len(m.Transformations) > 0 {
			all = append(all, m.moves())
		}
		if m.Maps != nil {
			all = append(all, m.maps())
		}
		if m.Split != nil {
			all = append(all, m.Split.part())
		}
		if m.Generators != nil {
			all = append(all, m.Generators.part())
		}
		if m.Algebra != nil {
			all = append(all, m.Algebra.part())
		}
		if x := m.Extrapolation; x != nil {
			all = append(all, part{title: "Does what reads the element go on beyond the window?", text: []string{
				fmt.Sprintf("A linear map fitted up to %s %s reads it there with R² %s (%s), and beyond with %s (%s). "+
					"Features that are affine in it keep R².", figure(float64(x.Half)), x.Unit, x.R2Inside.text(),
					x.R2Inside.interval(), x.R2Outside.text(), x.R2Outside.interval()),
			}})
		}
		if m.Given != nil {
			all = append(all, m.Given.parts()...)
		}
		if m.Sequences != nil {
			all = append(all, m.Sequences.part())
		}
		if m.Against != nil {
			all = append(all, m.Against.parts()...)
		}
	}
	return append(all, r.how())
}

// features says what was read.
func (m *Model) features() string {
	out := fmt.Sprintf("Read: %s, %s a sample.", m.Value, words.Plural(m.Width, "number", "numbers"))
	if m.Rank != nil {
		out += fmt.Sprintf(" Effective rank %s (%s), %s.", figure(float64(m.Rank.Value)), m.Rank.interval(),
			words.Plural(m.Dead, "unit never changes", "units never change"))
	}
	if m.Held != nil {
		out += fmt.Sprintf(" Maps and parts look at %s, which hold %s of the variance on the side fit.",
			words.Plural(m.Axes, "direction", "directions"), words.Percent(float64(*m.Held)))
	}
	return out
}

// mostRows is how many elements a table for people shows; the JSON has all.
const mostRows = 12

func (m *Model) moves() part {
	p := part{
		title: "How far do features go?",
		table: [][]string{{"element", "ratio", "interval", "there and back", "cosine", "own", "others", "worst"}},
		notes: []string{
			"Ratio: how far an element takes features, over how far two objects are apart. 0: they stay; 1: nothing " +
				"is left of the object. There and back: what resampling alone does.",
			"Cosine: of features before and after, less the mean of all. Own: mean correlation of a unit with " +
				"itself; others: mean square of that with another unit. Worst: the sample that goes furthest.",
		},
	}
	for _, t := range m.largest(mostRows) {
		floor := "nothing resampled"
		if t.Floor != nil {
			floor = t.Floor.text()
		}
		p.table = append(p.table, []string{
			t.Element, t.Ratio.text(), t.Ratio.interval(), floor, t.Cosine.text(), figure(float64(t.Diagonal)),
			figure(float64(t.OffDiagonal)), fmt.Sprintf("%s: %s", t.Worst, figure(float64(t.WorstRatio))),
		})
	}
	if n := len(m.Transformations) - mostRows; n > 0 {
		p.notes = append(p.notes, words.Plural(n, "element", "elements")+
			" that take features less far are left out here; the JSON has all.")
	}
	return p
}

func (m *Model) maps() part {
	p := part{
		title: "Does a linear map say where features go?",
		table: [][]string{{"element", "R²", "interval"}},
	}
	by := map[string]MapOf{}
	for _, x := range m.Maps.By {
		by[x.Element] = x
	}
	for _, t := range m.largest(mostRows) {
		x := by[t.Element]
		p.table = append(p.table, []string{x.Element, x.R2.text(), x.R2.interval()})
	}
	p.notes = append(p.notes, "R²: the share of the variance of features after the element that a map explains, on "+
		"objects that it was not fitted to.")
	if h := m.Maps.Homomorphism; h != nil {
		p.text = append(p.text, fmt.Sprintf("The maps compose as their elements do up to %s, over %s (0: exactly).",
			figure(float64(*h)), words.Plural(m.Maps.Products, "product", "products")))
	}
	if r := m.Retrieval; r != nil {
		p.text = append(p.text, "The right view of an object among its views: "+r.text()+".")
	}
	if x := m.Pose; x != nil {
		p.text = append(p.text, x.sentence("The features"))
	}
	return p
}

// text is a retrieval in words.
func (r Retrieval) text() string {
	return fmt.Sprintf("MRR %s (%s), chance %s, %s candidates; first %s, among 5 %s, among 10 %s", r.MRR.text(),
		r.MRR.interval(), figure(float64(r.Chance)), strconv.FormatFloat(float64(r.Candidates), 'g', 4, 64),
		words.Percent(float64(r.H1)),
		words.Percent(float64(r.H5)), words.Percent(float64(r.H10)))
}

// sentence says how well the element is read off.
func (p Pose) sentence(of string) string {
	out := fmt.Sprintf("%s say the element (%s) with R² %s (%s)", of, p.Of, p.R2.text(), p.R2.interval())
	if pre := float64(p.PRE); !math.IsNaN(pre) {
		out += fmt.Sprintf("; sin² of half the angle that is missed: %s, chance %s", figure(pre),
			figure(float64(p.Chance)))
	}
	return out + "."
}

func (s *Split) part() part {
	p := part{
		title: "Which directions hold the object, which its pose?",
		text: []string{fmt.Sprintf("Of %s, %s stay (%s), %s hold no object (%s), %s are the same for every object "+
			"(%s).",
			words.Plural(len(s.Mu), "direction", "directions"), figure0(s.Invariant), s.Invariant.whole(),
			figure0(s.Moving), s.Moving.whole(), figure0(s.Pose), s.Pose.whole())},
		table: [][]string{{"part", "directions", "same object", "chance", "element R²", "interval"}},
		notes: []string{
			"Stay: less than 5% of the variance lies within orbits. Hold no object: more than 95% does. Same object: " +
				"the share of the nearest other views that show it. What an invariant part knows of the element, and " +
				"what a part that is the same for every object knows of the object, has leaked.",
		},
	}
	for _, l := range s.Leakage {
		p.table = append(p.table, []string{
			l.Part, strconv.Itoa(l.Directions), figure(float64(l.Identity)), figure(float64(l.Chance)),
			l.Element.R2.text(), l.Element.R2.interval(),
		})
	}
	return p
}

// figure0 is a count.
func figure0(e Estimate) string { return strconv.Itoa(int(e.Value)) }

// whole is an interval of counts.
func (e Estimate) whole() string {
	if e.interval() == "any" {
		return "any"
	}
	return strconv.Itoa(int(e.Low)) + " to " + strconv.Itoa(int(e.High))
}

func (g *Generators) part() part {
	var turns []string
	for _, f := range g.Frequencies {
		turns = append(turns, fmt.Sprintf("%s (%s)", f.text(), f.interval()))
	}
	p := part{
		title: "Does one generator move features along the whole group?",
		text: []string{
			fmt.Sprintf("One matrix for %s explains R² %s (%s) of features at %s that it was not fitted to, and %s at "+
				"the %d others; a map for each element %s.", g.Of, g.R2Unseen.text(), g.R2Unseen.interval(),
				words.Plural(g.Unseen, "element", "elements"), g.R2Seen.text(), g.Fitted, g.R2Ridge.text()),
			fmt.Sprintf("Frequencies (side fit): %s. Largest growth %s, in 1/%s.", strings.Join(turns, ", "),
				figure(float64(g.Growth)), g.Unit),
		},
		notes: []string{fmt.Sprintf("It moves the %s along which features vary most, which hold %s of the variance.",
			words.Plural(g.Axes, "direction", "directions"), words.Percent(float64(g.Held)))},
	}
	if g.Period != nil {
		p.text = append(p.text, fmt.Sprintf("After a whole period it is off the identity by %s (0: exactly back).",
			figure(float64(*g.Period))))
	}
	return p
}

func (a *Against) parts() []part {
	maps := part{
		title: "Against " + a.Model + ": " + a.Reading,
		table: [][]string{
			{"old features out of new ones by", "R²", "interval"},
			{"a turn and a shift", a.R2Isometry.text(), a.R2Isometry.interval()},
			{"that and a factor", a.R2Similarity.text(), a.R2Similarity.interval()},
			{"an affine map", a.R2Affine.text(), a.R2Affine.interval()},
			{"new out of old by an affine map", a.R2Back.text(), a.R2Back.interval()},
		},
		text: []string{
			fmt.Sprintf("%s of %s, %s numbers a sample. Debiased linear CKA %s (%s), of %s.", a.Value, a.Model,
				words.Count(a.Width), a.CKA.text(), a.CKA.interval(), words.Plural(a.N, "sample", "samples")),
			fmt.Sprintf("Places among %s: cosine %s (%s), shared neighbors %s (%s), %s.",
				words.Plural(a.Relative.Anchors, "anchor", "anchors"), a.Relative.Cosine.text(),
				a.Relative.Cosine.interval(), a.Relative.Jaccard.text(), a.Relative.Jaccard.interval(),
				a.Relative.MRR.text()),
		},
		notes: []string{fmt.Sprintf("The singular values of the affine map lie within a factor of e^%s.",
			figure(float64(a.Spread)))},
	}
	index := part{
		title: "Can it read the old index?",
		table: [][]string{{"adapter", "recall at", "new", "old", "chance", "difference", "interval", ""}},
	}
	for _, r := range a.Backward {
		index.table = append(index.table, []string{
			r.Adapter, strconv.Itoa(r.K), figure(float64(r.New)), figure(float64(r.Old)),
			figure(float64(r.Chance)), r.Difference.text(), r.Difference.interval(), r.State,
		})
		index.notes = []string{fmt.Sprintf("Recall: the share of objects of which something with %s is among so many "+
			"of the nearest of %s old features. Compatible: the interval begins above −0.05, and old features find "+
			"more than a guess does; worse: it ends below 0.", r.Right,
			words.Count(r.Candidates))}
	}
	if len(a.Backward) == 0 {
		return []part{maps}
	}
	return []part{maps, index}
}

func (r *Report) how() part {
	if r.Samples.Fit == 0 { // nothing was learned
		return part{title: "How it was asked", text: []string{fmt.Sprintf("%s; %s. %s of %s; nothing was "+
			"fitted. Intervals of %s over things, seed %d.", words.Plural(len(r.Elements), "view", "views"), r.Measure,
			words.Plural(r.Samples.Confirm, "input", "inputs"),
			words.Plural(r.Samples.Objects, "thing", "things"), words.Percent(float64(r.Confidence)), r.Seed)}}
	}
	return part{title: "How it was asked", text: []string{fmt.Sprintf("%s under %s: %s. Numbers are of %s on the side "+
		"confirm (%s); maps and directions were fitted to %s, penalties chosen on %s. Intervals of %s over objects, "+
		"seed %d.", words.Plural(len(r.Elements), "element", "elements"), r.Group, r.Measure,
		words.Plural(r.Samples.Confirm, "sample", "samples"), words.Plural(r.Samples.Objects, "object", "objects"),
		words.Count(r.Samples.Fit), words.Count(r.Samples.Choose), words.Percent(float64(r.Confidence)), r.Seed)}}
}

// columns is the width that text keeps to.
const columns = 100

func writeText(to io.Writer, r *Report) error {
	out := &strings.Builder{}
	for _, m := range r.Models {
		out.WriteString(words.Wrap(words.Line(m.Sentence), columns, 0))
	}
	for _, p := range r.parts() {
		fmt.Fprintf(out, "\n%s\n", words.Line(p.title))
		for _, s := range p.text {
			if !strings.HasPrefix(s, p.title+": ") { // it stands above already
				out.WriteString(words.Wrap("  "+words.Line(s), columns, 2))
			}
		}
		grid(out, p.table)
		for _, s := range p.notes {
			out.WriteString(words.Wrap("  "+words.Line(s), columns, 2))
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// grid writes a table; the last column may be as long as it likes.
func grid(out *strings.Builder, rows [][]string) {
	var wide []int
	for _, row := range rows {
		for j, cell := range row {
			if j == len(wide) {
				wide = append(wide, 0)
			}
			wide[j] = max(wide[j], utf8.RuneCountInString(words.Line(cell)))
		}
	}
	for _, row := range rows {
		line := &strings.Builder{}
		for j, cell := range row {
			cell = words.Line(cell)
			line.WriteString(cell + strings.Repeat(" ", wide[j]-utf8.RuneCountInString(cell)+2))
		}
		out.WriteString("  " + strings.TrimRight(line.String(), " ") + "\n")
	}
}

func writeMarkdown(to io.Writer, r *Report) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "# Features under %s\n\n**%s**\n", words.Markdown(r.Group), words.Markdown(r.Sentence))
	for _, p := range r.parts() {
		fmt.Fprintf(out, "\n## %s\n", words.Markdown(p.title))
		for _, s := range p.text {
			fmt.Fprintf(out, "\n%s\n", words.Markdown(s))
		}
		for i, row := range p.table {
			if i == 0 {
				out.WriteString("\n")
			}
			out.WriteString("|")
			for _, cell := range row {
				out.WriteString(" " + words.Markdown(cell) + " |")
			}
			out.WriteString("\n")
			if i == 0 {
				out.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
			}
		}
		for _, s := range p.notes {
			fmt.Fprintf(out, "\n%s\n", words.Markdown(s))
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// style is that of the page: readable in light and dark, on a phone and on paper.
const style = `:root{color-scheme:light dark;--ink:#1c1c1c;--quiet:#666;--line:#ccc;--ground:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#eee;--quiet:#aaa;--line:#444;--ground:#161616}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);max-width:60rem;
margin:2rem auto;padding:0 1rem}
.answer{font-size:1.15rem;font-weight:600}
table{border-collapse:collapse;display:block;overflow-x:auto;margin:.75rem 0}
th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
.note{color:var(--quiet);font-size:.9rem}
`

// writeHTML writes one page that opens from disk and asks nothing of anybody.
func writeHTML(to io.Writer, r *Report) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Features</title>\n"+
		"<style>%s</style></head>\n<body>\n<h1>Features under %s</h1>\n<p class=\"answer\">%s</p>\n", style,
		words.HTML(r.Group), words.HTML(r.Sentence))
	for _, p := range r.parts() {
		fmt.Fprintf(out, "<h2>%s</h2>\n", words.HTML(p.title))
		for _, s := range p.text {
			fmt.Fprintf(out, "<p>%s</p>\n", words.HTML(s))
		}
		for k, row := range p.table {
			cell := "td"
			if k == 0 {
				cell = "th"
				out.WriteString("<table>\n")
			}
			out.WriteString("<tr>")
			for _, text := range row {
				fmt.Fprintf(out, "<%s>%s</%s>", cell, words.HTML(text), cell)
			}
			out.WriteString("</tr>\n")
		}
		if len(p.table) > 0 {
			out.WriteString("</table>\n")
		}
		for _, s := range p.notes {
			fmt.Fprintf(out, "<p class=\"note\">%s</p>\n", words.HTML(s))
		}
	}
	out.WriteString("</body></html>\n")
	_, err := io.WriteString(to, out.String())
	return err
}

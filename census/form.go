package census

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"nero/present/words"
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

// FormOf is the form of a name, or of the ending of a file's name.
func FormOf(name string) (*Form, error) {
	var names, endings []string
	for _, f := range Forms() {
		if name == f.Name || strings.EqualFold(filepath.Ext(name), f.Ending) {
			return f, nil
		}
		names, endings = append(names, f.Name), append(endings, f.Ending)
	}
	if filepath.Ext(name) == "" {
		return nil, fmt.Errorf("%q is no form of a report: want one of %s", name, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s: want a file that ends in one of %s", name, strings.Join(endings, ", "))
}

// Write writes a report.
func (f *Form) Write(w io.Writer, r *Report) error { return f.write(w, r) }

func writeJSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// part is a part of a report that people read.
type part struct {
	title string
	// sentences before the table
	text []string
	// the first row is the head; nil for none
	table [][]string
	// sentences below it, on how to read it
	notes []string
}

// parts are what all forms for people show.
func (r *Report) parts() []part {
	all := []part{r.adviceParts(), r.dataPart(), r.exactPart()}
	if r.Pose != nil {
		all = append(all, part{title: "How the samples lie", text: []string{r.Pose.Sentence}, notes: r.Pose.notes()})
	}
	return append(all, r.labelParts()...)
}

// notes say what the sentence leaves out.
func (p *Pose) notes() []string {
	out := &strings.Builder{}
	out.WriteString(words.Plural(p.Samples, "sample has", "samples have") + " an axis")
	for _, q := range p.Quantiles {
		fmt.Fprintf(out, ", %.0f %% within %.1f°", 100*q.Share, float64(q.Degrees))
	}
	if p.Round > 0 {
		out.WriteString("; " + words.Plural(p.Round, "sample is", "samples are") + " as broad as long")
	}
	return []string{out.String() + "."}
}

func (r *Report) adviceParts() part {
	p := part{title: "What to do", table: [][]string{{"rule", "do", "because"}}}
	for _, a := range r.Advice {
		p.table = append(p.table, []string{a.Rule, a.Text, a.Because})
	}
	if len(r.Advice) == 0 {
		p.table, p.text = nil, []string{"Nothing: no rule fits."}
	}
	return p
}

func (r *Report) dataPart() part {
	p := part{
		title: "Do moved samples look like the others?",
		text: []string{fmt.Sprintf("%s under %s; %s, the identity left out. A classifier reads %s.",
			words.Plural(r.Samples, "sample", "samples"), r.Group, r.Measure, r.reading()), r.valid()},
		table: [][]string{{"element", "AUC", "interval", "there and back", "interval", ""}},
		notes: []string{
			"AUC: how often a classifier ranks the moved one of two samples that it has not seen higher; 0.5 is a " +
				"coin, 1 always. Intervals of 95 % over samples.",
			fmt.Sprintf("There and back: what moving a sample there and back alone shows, where moving resamples. An "+
				"element is alike if the interval ends below %.2g or below the end of that, and nothing is said "+
				"where that ends above %.2g.", MostAUC, MostTwin),
		},
	}
	for _, e := range r.Elements {
		row := []string{e.Name, number2(float64(e.AUC.Value)), e.AUC.text(), "nothing resampled", "", e.State}
		if e.Twin != nil {
			row[3], row[4] = number2(float64(e.Twin.Value)), e.Twin.text()
		}
		p.table = append(p.table, row)
	}
	if c := r.Control; c != nil {
		p.table = append(p.table, []string{"control", number2(float64(c.Value)), c.text(), "", "", r.controlled()})
		p.notes = append(p.notes, "Control: samples moved by two random elements, which look alike whatever the data.")
	}
	return p
}

// reading says what the classifier reads, and from which samples it learned.
func (r *Report) reading() string {
	out := r.Reading
	if r.Value != "" {
		out = r.Value + " alone: " + out
	}
	if r.Learned > 0 {
		out += fmt.Sprintf("; it learned from %s on the side fit, and all numbers are of those on the side confirm",
			words.Plural(r.Learned, "sample", "samples"))
	}
	return out
}

// controlled says whether the control is what it should be, within what counts.
func (r *Report) controlled() string {
	c := r.Control
	if math.IsNaN(float64(c.Value)) {
		return Constant
	}
	if !(float64(c.Low) > MostAUC) && !(float64(c.High) < 1-MostAUC) {
		return "as it should be"
	}
	return "far from a half: too few samples to trust the others"
}

// valid says how far the data look the same.
func (r *Report) valid() string {
	v := r.Valid
	switch {
	case v.All:
		return "Samples look the same at every element."
	case len(v.Names) == 0 && r.State == Constant:
		return "Nothing can be told of any element."
	case len(v.Names) == 0 && r.State == Undecided:
		return "At the elements next to the identity already it is not decided."
	case len(v.Names) == 0:
		return "That they look the same next to the identity is not shown."
	case v.Axis != "":
		return fmt.Sprintf("They look the same from %s to %s.", at(float64(v.Low), v.Unit), at(float64(v.High), v.Unit))
	}
	return "They look the same at " + words.List(some(v.Names)) + "."
}

func (r *Report) exactPart() part {
	p := part{title: "Is the whole group a symmetry of the data?"}
	x := r.Exact
	if x.Reason != "" {
		p.text = []string{words.Capital(x.Reason) + "."}
		return p
	}
	p.text = []string{fmt.Sprintf("%s with %d copies each, moved by random elements, are compared with 999 sets of "+
		"such copies; the smallest p-value is %s.", words.Plural(x.Objects, "sample", "samples"), x.Copies,
		pvalue(float64(x.P)))}
	p.table = [][]string{{"statistic", "p-value", "corrected for several"}}
	for _, t := range x.Tests {
		p.table = append(p.table, []string{t.Name, pvalue(float64(t.P)), pvalue(float64(t.Holm))})
	}
	p.notes = []string{"If the data have the symmetry, a p-value is below 0.05 in one of twenty data sets, " +
		"whatever their size."}
	if x.Resampled {
		p.notes[0] = "If the data have the symmetry, a p-value is below 0.05 in about one of twenty data sets: " +
			"moving resamples, so every copy, also that of a sample as it is, was resampled twice."
	}
	return p
}

func (r *Report) labelParts() []part {
	title := "Do labels survive it?"
	l := r.Labels
	if l == nil {
		return []part{{title: title, text: []string{words.Capital(r.NoLabels) + "."}}}
	}
	p := part{title: title, text: []string{fmt.Sprintf("%s moved, and the %d nearest of all others as they are say "+
		"the label. %s.", words.Plural(l.Asked, "sample was", "samples were"), l.Neighbors, words.Capital(safely(r)))}}
	if l.Rest.Error != nil {
		p.table = [][]string{{"element", "error", "grows by", "interval", ""}}
		for _, f := range append([]Fate{l.Rest}, l.Elements...) {
			p.table = append(p.table, []string{
				f.Name, number2(float64(f.Error.Mean)), number2(float64(f.Error.Growth.Value)), f.Error.Growth.text(),
				f.State,
			})
		}
		p.notes = []string{fmt.Sprintf("Error: of the mean of the neighbors' numbers, in deviations of the number "+
			"(%s). Unsafe: it grows by more than %g; safe: by no more.", words.Figures(float64(l.Deviation)), Allowed)}
		return []part{p}
	}
	p.table = [][]string{{"element", "", "labels that change", "not clear"}}
	for _, f := range l.Elements {
		var changes []string
		for i := range f.Classes {
			if c := &f.Classes[i]; c.State == Unsafe {
				changes = append(changes, c.text())
			}
		}
		p.table = append(p.table, []string{f.Name, f.State, strings.Join(changes, "; "), strings.Join(some(f.Unclear),
			" ")})
	}
	p.notes = []string{
		fmt.Sprintf("Unsafe: the share of a class with other neighbors than its own is more than %g above that at "+
			"rest, beyond chance, and one class has most of them. Safe: it is no more than %g above. Not "+
			"clear: between, or "+
			"no one class has most of them, as when moved samples look like none.", Allowed, Allowed),
		"Labels are found by neighbors and not by a model: one that was trained with moved samples is no witness of " +
			"what they look like.",
	}
	all := []part{p}
	worst := l.worst()
	for _, f := range []*Fate{&l.Rest, worst} {
		if f == nil || f.Matrix == nil || len(l.Classes) > 20 {
			continue
		}
		m := part{title: "Labels and what the neighbors say: " + f.Name}
		m.table = [][]string{append([]string{"label"}, l.Classes...)}
		for i, row := range f.Matrix {
			line := []string{l.Classes[i]}
			for _, n := range row {
				line = append(line, strconv.Itoa(n))
			}
			m.table = append(m.table, line)
		}
		all = append(all, m)
	}
	return all
}

// worst is the element at which most labels change.
func (l *Labels) worst() *Fate {
	var out *Fate
	most := -1.0
	for i := range l.Elements {
		kept, n := 0, 0
		for _, c := range l.Elements[i].Classes {
			kept, n = kept+c.Kept, n+c.N
		}
		if share := 1 - float64(kept)/float64(n); share > most {
			most, out = share, &l.Elements[i]
		}
	}
	return out
}

// text is an interval.
func (a *Area) text() string {
	if math.IsNaN(float64(a.Value)) {
		return ""
	}
	return number2(float64(a.Low)) + " to " + number2(float64(a.High))
}

// number2 is a number for a table.
func number2(x float64) string {
	if math.IsNaN(x) {
		return "undefined"
	}
	if math.IsInf(x, 0) {
		return "any"
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

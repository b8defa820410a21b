package census

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"nero/present/sheet"
	"nero/present/words"
)

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*sheet.Form[*Report] { return sheet.Forms((*Report).sheet) }

// sheet is what people read of a report.
func (r *Report) sheet() *sheet.Sheet {
	s := &sheet.Sheet{
		Title: r.Data + " under " + r.Group, Answer: []string{r.Sentence}, Parts: r.parts(), Style: figureStyle,
	}
	if r.Do != "" {
		s.Answer = append(s.Answer, r.Do)
	}
	if len(r.Notes) > 0 {
		s.Parts = append(s.Parts, sheet.Part{Title: "Notes", Notes: r.Notes})
	}
	return s
}

// parts are what all forms for people show.
func (r *Report) parts() []sheet.Part {
	all := []sheet.Part{r.adviceParts(), r.dataPart(), r.exactPart()}
	if r.Pose != nil {
		all = append(all, sheet.Part{
			Title: "How the samples lie", Text: []string{r.Pose.Sentence}, Notes: r.Pose.notes(),
		})
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

func (r *Report) adviceParts() sheet.Part {
	p := sheet.Part{Title: "What to do", Table: [][]string{{"rule", "do", "because"}}}
	for _, a := range r.Advice {
		p.Table = append(p.Table, []string{a.Rule, a.Text, a.Because})
	}
	if len(r.Advice) == 0 {
		p.Table, p.Text = nil, []string{"Nothing: no rule fits."}
	}
	return p
}

func (r *Report) dataPart() sheet.Part {
	p := sheet.Part{
		Title: "Do moved samples look like the others?",
		Text: []string{fmt.Sprintf("%s under %s; %s, the identity left out. A classifier reads %s.",
			words.Plural(r.Samples, "sample", "samples"), r.Group, r.Measure, r.reading()), r.valid()},
		Table: [][]string{{"element", "AUC", "interval", "there and back", "interval", ""}},
		Notes: []string{
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
		p.Table = append(p.Table, row)
	}
	if c := r.Control; c != nil {
		p.Table = append(p.Table, []string{"control", number2(float64(c.Value)), c.text(), "", "", r.controlled()})
		p.Notes = append(p.Notes, "Control: samples moved by two random elements, which look alike whatever the data.")
	}
	p.Figure = r.figure()
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

func (r *Report) exactPart() sheet.Part {
	p := sheet.Part{Title: "Is the whole group a symmetry of the data?"}
	x := r.Exact
	if x.Reason != "" {
		p.Text = []string{words.Capital(x.Reason) + "."}
		return p
	}
	p.Text = []string{fmt.Sprintf("%s with %d copies each, moved by random elements, are compared with 999 sets of "+
		"such copies; the smallest p-value is %s.", words.Plural(x.Objects, "sample", "samples"), x.Copies,
		pvalue(float64(x.P)))}
	p.Table = [][]string{{"statistic", "p-value", "corrected for several"}}
	for _, t := range x.Tests {
		p.Table = append(p.Table, []string{t.Name, pvalue(float64(t.P)), pvalue(float64(t.Holm))})
	}
	p.Notes = []string{"If the data have the symmetry, a p-value is below 0.05 in one of twenty data sets, " +
		"whatever their size."}
	if x.Resampled {
		p.Notes[0] = "If the data have the symmetry, a p-value is below 0.05 in about one of twenty data sets: " +
			"moving resamples, so every copy, also that of a sample as it is, was resampled twice."
	}
	return p
}

func (r *Report) labelParts() []sheet.Part {
	title := "Do labels survive it?"
	l := r.Labels
	if l == nil {
		return []sheet.Part{{Title: title, Text: []string{words.Capital(r.NoLabels) + "."}}}
	}
	p := sheet.Part{Title: title, Text: []string{fmt.Sprintf(
		"%s moved, and the %d nearest of all others as they are say the label. %s.",
		words.Plural(l.Asked, "sample was", "samples were"), l.Neighbors, words.Capital(safely(r)),
	)}}
	if l.Rest.Error != nil {
		p.Table = [][]string{{"element", "error", "grows by", "interval", ""}}
		for _, f := range append([]Fate{l.Rest}, l.Elements...) {
			p.Table = append(p.Table, []string{
				f.Name, number2(float64(f.Error.Mean)), number2(float64(f.Error.Growth.Value)), f.Error.Growth.text(),
				f.State,
			})
		}
		p.Notes = []string{fmt.Sprintf("Error: of the mean of the neighbors' numbers, in deviations of the number "+
			"(%s). Unsafe: it grows by more than %g; safe: by no more.", words.Figures(float64(l.Deviation)), Allowed)}
		return []sheet.Part{p}
	}
	p.Table = [][]string{{"element", "", "labels that change", "not clear"}}
	for _, f := range l.Elements {
		var changes []string
		for i := range f.Classes {
			if c := &f.Classes[i]; c.State == Unsafe {
				changes = append(changes, c.text())
			}
		}
		p.Table = append(p.Table, []string{f.Name, f.State, strings.Join(changes, "; "), strings.Join(some(f.Unclear),
			" ")})
	}
	p.Notes = []string{
		fmt.Sprintf("Unsafe: the share of a class with other neighbors than its own is more than %g above that at "+
			"rest, beyond chance, and one class has most of them. Safe: it is no more than %g above. Not "+
			"clear: between, or "+
			"no one class has most of them, as when moved samples look like none.", Allowed, Allowed),
		"Labels are found by neighbors and not by a model: one that was trained with moved samples is no witness of " +
			"what they look like.",
	}
	all := []sheet.Part{p}
	worst := l.worst()
	for _, f := range []*Fate{&l.Rest, worst} {
		if f == nil || f.Matrix == nil || len(l.Classes) > 20 {
			continue
		}
		m := sheet.Part{Title: "Labels and what the neighbors say: " + f.Name}
		m.Table = [][]string{append([]string{"label"}, l.Classes...)}
		for i, row := range f.Matrix {
			line := []string{l.Classes[i]}
			for _, n := range row {
				line = append(line, strconv.Itoa(n))
			}
			m.Table = append(m.Table, line)
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

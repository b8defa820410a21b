package audit

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
)

// mostMarkdown bounds what Markdown writes: the text of a pull request's comment may have 65,536 characters.
const mostMarkdown = 60_000

// Markdown writes reports for a comment on a change or the summary of a build: a line per model, the three questions
// with the most likely cause, the findings, and folded away below them what was measured. Nothing from outside has a
// meaning in it. What does not fit into a comment is left out from the end, and a last line says so; the other forms
// have it all.
func Markdown(w io.Writer, reports ...*Report) error {
	var d mdown
	d.p("## Equivariance audit: %s", overall(reports))
	d.overview(reports)
	var rest []string
	for _, r := range reports {
		d.lead(r)
		rest = append(rest, folds(r)...)
	}
	out := clipLines(d.b.String(), mostMarkdown)
	left := 0
	for _, f := range rest {
		if len(out)+len(f) > mostMarkdown {
			left++
			continue
		}
		out += f
	}
	if left > 0 {
		out += plural(left, "section is", "sections are") +
			" left out to fit into a comment; the text, JSON and HTML reports have everything.\n"
	}
	_, err := io.WriteString(w, strings.TrimRight(out, "\n")+"\n")
	return err
}

// overall is the verdict over all reports, [couldNotRun] if one could not.
func overall(reports []*Report) string {
	if len(reports) == 0 {
		return couldNotRun
	}
	v := Passed
	for _, r := range reports {
		if r.Error != "" {
			return couldNotRun
		}
		v = worse(v, r.Verdict)
	}
	return string(v)
}

// clipLines cuts a text at the end of a line.
func clipLines(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:strings.LastIndexByte(s[:most], '\n')+1] + "\n"
}

type mdown struct{ b strings.Builder }

func (d *mdown) p(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n\n", args...) }

func (d *mdown) item(depth int, format string, args ...any) {
	fmt.Fprintf(&d.b, strings.Repeat("  ", depth)+"- "+format+"\n", args...)
}

func (d *mdown) end() { d.b.WriteByte('\n') }

// row writes the cells of a table, which must be escaped already.
func (d *mdown) row(cells ...string) { fmt.Fprintf(&d.b, "| %s |\n", strings.Join(cells, " | ")) }

// md is a text from outside on one line of Markdown: no character of it has a meaning there. A name after @ notifies
// nobody, a number after # links nowhere, and no address becomes a link.
func md(s string) string {
	var b strings.Builder
	s = oneLine(s)
	for i, c := range s {
		switch {
		case strings.ContainsRune("\\`*_[]|~$", c):
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '&':
			b.WriteString("&amp;")
		case c == '@' || c == '#':
			b.WriteRune(c)
			b.WriteString("&#8203;") // a space without width
		case c == ':' && strings.HasPrefix(s[i:], "://"):
			b.WriteString("&#58;") // an address is no link without its colon
		case c == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			b.WriteString("&#46;")
		default:
			b.WriteRune(c)
		}
	}
	out := b.String()
	if listMark.MatchString(out) {
		return "&#8203;" + out
	}
	return out
}

// listMark is the beginning of an item of a list, or of a heading that is underlined.
var listMark = regexp.MustCompile(`^([-+=]|\d+[.)])`)

// code is a text from outside in a code span, fenced by more backticks than it holds.
func code(s string) string {
	s = oneLine(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// shell is a command in a block of its own.
func shell(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "sh\n" + printable(s) + "\n" + fence
}

func (d *mdown) overview(reports []*Report) {
	d.row("model", "verdict", "elements", "largest error per input", "floor", "why")
	d.row("---", "---", "---", "---", "---", "---")
	for _, r := range reports {
		if r.Error != "" {
			d.row(md(r.Model), couldNotRun, "", "", "", md(r.Error))
			continue
		}
		first := true
		for _, s := range r.Sets() {
			name, verdict := "", ""
			if first {
				name, verdict = md(r.Model), "**"+string(r.Verdict)+"**"+md(r.holds())
			}
			first = false
			d.row(name, verdict, md(s.Name)+": "+string(s.Verdict), num(s.Worst.Value)+" "+md(limits(s.Worst)),
				num(r.Policy.floor(s)), md(string(s.Cause)))
		}
		if first {
			d.row(md(r.Model), "**"+string(r.Verdict)+"**", "none judged", "", "", "")
		}
	}
	d.end()
}

// floor is what would be there without any violation: resampling where elements resample, rounding elsewhere.
func (p *Policy) floor(s *Set) float64 {
	if s.Exact || s.unmoved() {
		return p.rounding(s.Floors)
	}
	return s.Resampling.Mean
}

// lead is what must be read of a model.
func (d *mdown) lead(r *Report) {
	d.p("### %s", md(r.Model))
	if r.Error != "" {
		d.p("Could not run: %s", md(r.Error))
		return
	}
	for _, q := range r.Questions() {
		d.item(0, "**%s**", md(q.Text))
		for _, a := range q.Answers {
			d.item(1, "%s", md(a))
		}
	}
	for i, x := range r.Diagnoses {
		if i == 0 {
			d.item(0, "**Most likely cause:** %s", md(cause(x)))
			if x.Fix != "" {
				d.item(1, "what to do: %s", md(x.Fix))
			}
			if x.Verify != "" {
				d.item(1, "how to see that it helped: %s", md(x.Verify))
			}
			continue
		}
		d.item(1, "or: %s", md(cause(x)))
	}
	d.end()
	all := r.Graded()
	if len(all) == 0 {
		return
	}
	d.row("severity", "finding", "where", "value", "limit", "try")
	d.row("---", "---", "---", "--:", "--:", "---")
	for _, f := range all {
		value, limit := "", ""
		if len(f.Evidence) > 0 {
			value = Cell{Value: f.Evidence[0].Value, Number: true}.In(f.Evidence[0].Unit)
			if l := f.Evidence[0].Limit; !math.IsNaN(l) {
				limit = Cell{Value: l, Number: true}.In(f.Evidence[0].Unit)
			}
		}
		try := ""
		if len(f.Remedies) > 0 {
			try = md(f.Remedies[0])
		}
		d.row(string(f.Severity), md(f.Message), md(f.Location), value, limit, try)
	}
	d.end()
}

// folds are the sections of a model that are folded away, the most useful first.
func folds(r *Report) []string {
	if r.Error != "" {
		return nil
	}
	var out []string
	fold := func(title string, body func(d *mdown)) {
		var d mdown
		body(&d)
		if d.b.Len() > 0 {
			out = append(out, fmt.Sprintf("<details><summary>%s: %s</summary>\n\n%s\n</details>\n\n", md(r.Model),
				md(title), strings.TrimRight(d.b.String(), "\n")+"\n"))
		}
	}
	fold("worst cases and how to repeat them", func(d *mdown) {
		for _, w := range r.WorstCases() {
			t := md(w.What + ": " + w.Where.String())
			if !math.IsNaN(w.Value) {
				t += ", " + num(w.Value)
			}
			d.p("%s", t)
			if c := r.Replay(w.Where); c != "" {
				d.p("%s", shell(c))
			}
		}
	})
	fold("what was tested", func(d *mdown) { d.tested(r) })
	fold("what was not tested, and caveats", func(d *mdown) {
		for _, c := range r.Results {
			if c.Status != Tested {
				d.item(0, "%s: %s: %s", md(string(c.Status)), md(c.Check.Name), md(c.Reason))
			}
		}
		for _, o := range r.Outside {
			d.item(0, "not part of this audit: %s", md(o))
		}
		for _, c := range r.Caveats() {
			d.item(0, "%s", md(c))
		}
	})
	fold("certificate", func(d *mdown) {
		for _, c := range r.Certificate() {
			d.p("%s", md(c))
		}
	})
	fold("evidence for and against each cause", func(d *mdown) {
		for _, x := range r.Diagnoses {
			d.item(0, "%s", md(cause(x)))
			for _, c := range x.For {
				d.item(1, "for: %s", md(clue(c)))
			}
			for _, c := range x.Against {
				d.item(1, "against: %s", md(clue(c)))
			}
			if len(x.Missing) > 0 {
				d.item(1, "not looked for, would decide: %s", md(missing(x)))
			}
		}
	})
	for _, c := range r.Results {
		if len(c.Measures) == 0 && len(c.Exhibits) == 0 {
			continue
		}
		fold(c.Check.Name, func(d *mdown) {
			for _, e := range c.Measures {
				d.item(0, "%s", md(evidence(e)))
			}
			d.end()
			for _, e := range c.Exhibits {
				d.exhibit(e)
			}
		})
	}
	return out
}

func (d *mdown) tested(r *Report) {
	for _, why := range r.Reasons {
		d.item(0, "%s", md(why))
	}
	d.item(0, "%s: %s, %s%s, %s, seed %d; output %s", md(r.Group), md(r.Measure),
		plural(r.Planned, "element", "elements"),
		inBrackets("", r.Added), plural(r.Inputs, "input", "inputs"), r.Seed, md(r.Output))
	d.item(0, "limit %s (%s), %s of the inputs may exceed it; confidence %s", num(r.Policy.Threshold),
		md(r.Policy.Origin),
		percent(r.Policy.FailureRate), percent(r.Policy.Confidence))
	for _, a := range r.About {
		d.item(0, "%s: %s", md(a.Name), code(a.Value))
	}
	for _, s := range r.Sets() {
		d.item(0, "%s: %s × %s; %s", md(s.Name), plural(s.Inputs, "input", "inputs"),
			plural(len(s.Profile), "element", "elements"), md(s.Reason))
	}
	d.item(0, "this audit scores itself %s", md(r.Score().String()))
	d.end()
	d.row("check", "status", "asks")
	d.row("---", "---", "---")
	for _, c := range r.Results {
		status := string(c.Status)
		if c.Verdict != "" {
			status += ", " + string(c.Verdict)
		}
		d.row(md(c.Check.Name), status, md(c.Check.Summary()))
	}
	d.end()
}

func (d *mdown) exhibit(e Exhibit) {
	d.p("**%s**", md(e.Title))
	if e.Note != "" {
		d.p("%s", md(e.Note))
	}
	if t := e.Table; t != nil {
		var head, rule []string
		for j, c := range t.Columns {
			head = append(head, md(c.heading()))
			if len(t.Rows) > 0 && t.Rows[0][j].Number {
				rule = append(rule, "--:")
			} else {
				rule = append(rule, "---")
			}
		}
		d.row(head...)
		d.row(rule...)
		for _, r := range t.Rows[:min(len(t.Rows), mostRows)] {
			var cells []string
			for j, c := range r {
				cells = append(cells, md(c.In(t.Columns[j].Unit)))
			}
			d.row(cells...)
		}
		d.end()
		if more := len(t.Rows) - mostRows; more > 0 {
			d.p("and %s", plural(more, "more row", "more rows"))
		}
		return
	}
	var t text
	t.plot(e)
	d.p("%s", strings.TrimSuffix(strings.Replace(shell(strings.TrimRight(t.b.String(), "\n")), "sh", "text", 1), "\n"))
}

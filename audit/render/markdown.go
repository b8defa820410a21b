package render

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"nero/audit/document"
)

// Markdown is for a comment on a change or the summary of a build: a line per model, the three questions with the most
// likely cause, the findings, and folded away below them what was measured. Nothing from outside has a meaning in it.
// What does not fit into a comment is left out from the end, and a last line says so; the other forms have it all.
var Markdown = Format{
	Name: "markdown", File: "audit.md", Doc: "for a comment on a change or the summary of a build",
	Render: writeMarkdown,
}

// mostMarkdown bounds what Markdown writes: the text of a pull request's comment may have 65,536 characters.
const mostMarkdown = 60_000

func writeMarkdown(w io.Writer, a *document.Audit) error {
	var d mdown
	d.p("## Equivariance audit: %s", overall(a.Models))
	d.overview(a.Models)
	var rest []string
	for i := range a.Models {
		d.lead(&a.Models[i])
		rest = append(rest, folds(&a.Models[i])...)
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
		out += count(left, "section is", "sections are") +
			" left out to fit into a comment; the text, JSON and HTML reports have everything.\n"
	}
	_, err := io.WriteString(w, strings.TrimRight(out, "\n")+"\n")
	return err
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

func (d *mdown) overview(models []document.Model) {
	d.row("model", "verdict", "elements", "largest error per input", "floor", "why")
	d.row("---", "---", "---", "---", "---", "---")
	for i := range models {
		m := &models[i]
		if m.Error != "" {
			d.row(md(m.Model), string(document.CouldNotRun), "", "", "", md(m.Error))
			continue
		}
		first := true
		for _, s := range m.Sets() {
			name, verdict := "", ""
			if first {
				name, verdict = md(m.Model), "**"+string(m.Verdict)+"**"+md(holds(m))
			}
			first = false
			d.row(name, verdict, md(s.Name)+": "+string(s.Verdict), s.Worst.Value.String()+" "+
				md(s.Worst.Limits()), s.Expected().String(), md(s.Cause))
		}
		if first {
			d.row(md(m.Model), "**"+string(m.Verdict)+"**", "none judged", "", "", "")
		}
	}
	d.end()
}

// lead is what must be read of a model.
func (d *mdown) lead(m *document.Model) {
	d.p("### %s", md(m.Model))
	if m.Error != "" {
		d.p("Could not run: %s", md(m.Error))
		return
	}
	for _, q := range m.Questions {
		d.item(0, "**%s**", md(q.Question))
		for _, a := range q.Answers {
			d.item(1, "%s", md(a))
		}
	}
	for i, x := range m.Diagnoses {
		if i == 0 {
			d.item(0, "**Most likely cause:** %s", md(x.String()))
			if x.Fix != "" {
				d.item(1, "what to do: %s", md(x.Fix))
			}
			if x.Verify != "" {
				d.item(1, "how to see that it helped: %s", md(x.Verify))
			}
			continue
		}
		d.item(1, "or: %s", md(x.String()))
	}
	d.end()
	all := m.Findings()
	if len(all) == 0 {
		return
	}
	d.row("severity", "finding", "where", "value", "limit", "try")
	d.row("---", "---", "---", "--:", "--:", "---")
	for _, f := range all {
		value, limit := "", ""
		if len(f.Evidence) > 0 {
			e := f.Evidence[0]
			value = document.Cell{Value: float64(e.Value), Number: true}.In(e.Unit)
			if e.Limit != nil {
				limit = document.Cell{Value: float64(*e.Limit), Number: true}.In(e.Unit)
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
func folds(m *document.Model) []string {
	if m.Error != "" {
		return nil
	}
	var out []string
	fold := func(title string, body func(d *mdown)) {
		var d mdown
		body(&d)
		if d.b.Len() > 0 {
			out = append(out, fmt.Sprintf("<details><summary>%s: %s</summary>\n\n%s\n</details>\n\n", md(m.Model),
				md(title), strings.TrimRight(d.b.String(), "\n")+"\n"))
		}
	}
	fold("worst cases and how to repeat them", func(d *mdown) {
		for _, w := range m.WorstCases {
			d.p("%s", md(worst(w)))
			if w.Replay != "" {
				d.p("%s", shell(w.Replay))
			}
		}
	})
	fold("what was tested", func(d *mdown) { d.tested(m) })
	fold("what was not tested, and caveats", func(d *mdown) {
		for i := range m.Checks {
			if c := &m.Checks[i]; c.Status != document.Tested {
				d.item(0, "%s: %s: %s", md(string(c.Status)), md(c.Check), md(c.Reason))
			}
		}
		for _, o := range m.Outside {
			d.item(0, "not part of this audit: %s", md(o))
		}
		for _, c := range m.Caveats {
			d.item(0, "%s", md(c))
		}
	})
	fold("certificate", func(d *mdown) {
		for _, c := range m.Certificate {
			d.p("%s", md(c))
		}
	})
	fold("evidence for and against each cause", func(d *mdown) {
		for _, x := range m.Diagnoses {
			d.item(0, "%s", md(x.String()))
			for _, c := range x.For {
				d.item(1, "for: %s", md(c.String()))
			}
			for _, c := range x.Against {
				d.item(1, "against: %s", md(c.String()))
			}
			if len(x.Missing) > 0 {
				d.item(1, "not looked for, would decide: %s", md(strings.Join(x.Missing, ", ")))
			}
		}
	})
	for i := range m.Checks {
		c := &m.Checks[i]
		if len(c.Measures) == 0 && len(c.Exhibits) == 0 {
			continue
		}
		fold(c.Check, func(d *mdown) {
			for _, e := range c.Measures {
				d.item(0, "%s", md(e.Text))
			}
			d.end()
			for k := range c.Exhibits {
				d.exhibit(&c.Exhibits[k])
			}
		})
	}
	return out
}

func (d *mdown) tested(m *document.Model) {
	for _, why := range m.Reasons {
		d.item(0, "%s", md(why))
	}
	d.item(0, "%s: %s, %s%s, %s, seed %d; output %s", md(m.Claim.Group),
		md(m.Claim.Measure), count(m.Claim.Elements, "element", "elements"), inBrackets("", m.Claim.Added),
		count(m.Claim.Inputs, "input", "inputs"), m.Claim.Seed, md(m.Claim.Output))
	d.item(0, "limit %s (%s), %s of the inputs may exceed it; confidence %s", m.Policy.Threshold,
		md(m.Policy.Origin), percent(m.Policy.FailureRate), percent(m.Policy.Confidence))
	for _, a := range m.About {
		d.item(0, "%s: %s", md(a.Name), code(a.Value))
	}
	for _, s := range m.Sets() {
		d.item(0, "%s: %s × %s; %s", md(s.Name), count(s.Inputs, "input", "inputs"),
			count(len(s.Profile), "element", "elements"), md(s.Reason))
	}
	d.item(0, "this audit scores itself %s", md(m.Score.String()))
	d.end()
	d.row("check", "status", "asks")
	d.row("---", "---", "---")
	for i := range m.Checks {
		c := &m.Checks[i]
		status := string(c.Status)
		if c.Verdict != "" {
			status += ", " + string(c.Verdict)
		}
		d.row(md(c.Check), status, md(c.Summary))
	}
	d.end()
}

func (d *mdown) exhibit(e *document.Exhibit) {
	d.p("**%s**", md(e.Title))
	if e.Note != "" {
		d.p("%s", md(e.Note))
	}
	if t := e.Table; t != nil {
		var head, rule []string
		for j, c := range t.Columns {
			head = append(head, md(c.Heading()))
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
			d.p("and %s", count(more, "more row", "more rows"))
		}
		return
	}
	var t text
	t.plot(e)
	d.p("%s", strings.TrimSuffix(strings.Replace(shell(strings.TrimRight(t.b.String(), "\n")), "sh", "text", 1), "\n"))
}

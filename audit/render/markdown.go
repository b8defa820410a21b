package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nero/audit/document"
	"nero/present/words"
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
	d.p("## Equivariance audit: %s", document.Overall(a.Models))
	d.overview(a.Models)
	d.forms(a.Forms)
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

func (d *mdown) overview(models []document.Model) {
	d.row("model", "verdict", "elements", "largest error per input", "floor", "why")
	d.row("---", "---", "---", "---", "---", "---")
	for i := range models {
		m := &models[i]
		if m.Error != "" {
			d.row(words.Markdown(m.Model), string(document.CouldNotRun), "", "", "", words.Markdown(m.Error))
			continue
		}
		first := true
		for _, s := range m.Sets() {
			name, verdict := "", ""
			if first {
				name, verdict = words.Markdown(m.Model), "**"+string(m.Verdict)+"**"+words.Markdown(holds(m))
			}
			first = false
			d.row(name, verdict, words.Markdown(s.Name)+": "+string(s.Verdict), s.Worst.Value.String()+" "+
				words.Markdown(s.Worst.Limits()), s.Expected().String(), words.Markdown(s.Cause))
		}
		if first {
			d.row(words.Markdown(m.Model), "**"+string(m.Verdict)+"**", "none judged", "", "", "")
		}
	}
	d.end()
}

// lead is what must be read of a model.
func (d *mdown) lead(m *document.Model) {
	d.p("### %s", words.Markdown(m.Model))
	if m.Error != "" {
		d.p("Could not run: %s", words.Markdown(m.Error))
		return
	}
	if len(m.Gist) > 0 {
		d.p("%s", words.Markdown(strings.Join(m.Gist, " ")))
	}
	for _, q := range m.Questions {
		d.item(0, "**%s**", words.Markdown(q.Question))
		for _, a := range q.Answers {
			d.item(1, "%s", words.Markdown(a))
		}
	}
	for i, x := range m.Diagnoses {
		if i == 0 {
			d.item(0, "**Most likely cause:** %s", words.Markdown(x.String()))
			if x.Fix != "" {
				d.item(1, "what to do: %s", words.Markdown(x.Fix))
			}
			if x.Verify != "" {
				d.item(1, "how to see that it helped: %s", words.Markdown(x.Verify))
			}
			continue
		}
		d.item(1, "or: %s", words.Markdown(x.String()))
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
			try = words.Markdown(f.Remedies[0])
		}
		d.row(string(f.Severity), words.Markdown(f.Message), words.Markdown(f.Location), value, limit, try)
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
			out = append(out, fmt.Sprintf("<details><summary>%s: %s</summary>\n\n%s\n</details>\n\n",
				words.Markdown(m.Model),
				words.Markdown(title), strings.TrimRight(d.b.String(), "\n")+"\n"))
		}
	}
	fold("mean and largest errors", func(d *mdown) { d.errors(m) })
	fold("worst cases and how to repeat them", func(d *mdown) {
		for _, w := range m.WorstCases {
			d.p("%s", words.Markdown(worst(w)))
			if w.Replay != "" {
				d.p("%s", words.Block("sh", w.Replay))
			}
		}
	})
	fold("what was tested", func(d *mdown) { d.tested(m) })
	fold("what was not tested, and caveats", func(d *mdown) {
		for i := range m.Checks {
			if c := &m.Checks[i]; c.Status != document.Tested {
				d.item(0, "%s: %s: %s", words.Markdown(string(c.Status)), words.Markdown(c.Check),
					words.Markdown(c.Reason))
			}
		}
		for _, o := range m.Outside {
			d.item(0, "not part of this audit: %s", words.Markdown(o))
		}
		for _, c := range m.Caveats {
			d.item(0, "%s", words.Markdown(c))
		}
	})
	fold("certificate", func(d *mdown) {
		for _, c := range m.Certificate {
			d.p("%s", words.Markdown(c))
		}
	})
	fold("evidence for and against each cause", func(d *mdown) {
		for _, x := range m.Diagnoses {
			d.item(0, "%s", words.Markdown(x.String()))
			for _, c := range x.For {
				d.item(1, "for: %s", words.Markdown(c.String()))
			}
			for _, c := range x.Against {
				d.item(1, "against: %s", words.Markdown(c.String()))
			}
			if len(x.Settle) > 0 {
				d.item(1, "a test that would settle it: %s", words.Markdown(strings.Join(x.Settle, "; ")))
			}
		}
	})
	for i := range m.Checks {
		c := &m.Checks[i]
		if len(c.Measures) == 0 && len(c.Exhibits) == 0 {
			continue
		}
		fold(titled(c), func(d *mdown) {
			for _, e := range c.Measures {
				d.item(0, "%s", words.Markdown(e.Text))
			}
			d.end()
			for k := range c.Exhibits {
				d.exhibit(&c.Exhibits[k])
			}
		})
	}
	return out
}

// errors are the errors of each set over all pairs of input and element, relative and absolute, and their level.
func (d *mdown) errors(m *document.Model) {
	measured := slices.DeleteFunc(m.Sets(), func(s *document.Set) bool { return s.Pairs == 0 })
	if len(measured) == 0 {
		return
	}
	d.row("set", "level", "error", "mean", "sd", "p50", "p95", "p99", "largest", "pairs")
	d.row("---", "---", "---", "--:", "--:", "--:", "--:", "--:", "--:", "--:")
	for _, s := range measured {
		r, a, pairs := &s.Relative, &s.Absolute, strconv.Itoa(s.Pairs)
		d.row(words.Markdown(s.Name), words.Markdown(s.Level), "relative", r.Mean.String(), r.Std.String(),
			r.P50.String(), r.P95.String(), r.P99.String(), r.Max.String(), pairs)
		if len(s.Fields) > 0 {
			continue // parts with units of their own, which the table of parts has
		}
		d.row("", "", "absolute", a.Mean.String(), a.Std.String(), a.P50.String(), a.P95.String(), a.P99.String(),
			a.Max.String(), pairs)
	}
	d.end()
}

func (d *mdown) tested(m *document.Model) {
	for _, why := range m.Reasons {
		d.item(0, "%s", words.Markdown(why))
	}
	d.item(0, "%s: %s, %s%s, %s, seed %d; output %s", words.Markdown(m.Claim.Group),
		words.Markdown(m.Claim.Measure), count(m.Claim.Elements, "element", "elements"), inBrackets("", m.Claim.Added),
		count(m.Claim.Inputs, "input", "inputs"), m.Claim.Seed, words.Markdown(m.Claim.Output))
	d.item(0, "limit %s (%s), %s of the inputs may exceed it; confidence %s", m.Policy.Threshold,
		words.Markdown(m.Policy.Origin), percent(m.Policy.FailureRate), percent(m.Policy.Confidence))
	for _, a := range m.Specification() {
		d.item(0, "%s: %s", words.Markdown(a.Name), words.Markdown(a.Value))
	}
	for _, a := range m.About {
		d.item(0, "%s: %s", words.Markdown(a.Name), words.Code(a.Value))
	}
	for _, s := range m.Sets() {
		d.item(0, "%s: %s × %s; %s", words.Markdown(s.Name), count(s.Inputs, "input", "inputs"),
			count(len(s.Profile), "element", "elements"), words.Markdown(s.Reason))
	}
	d.end()
	d.row("check", "status", "asks")
	d.row("---", "---", "---")
	for i := range m.Checks {
		c := &m.Checks[i]
		status := string(c.Status)
		if c.Judges() {
			status += ", " + string(c.Verdict)
		}
		d.row(words.Markdown(titled(c)), status, words.Markdown(c.Summary))
	}
	d.end()
}

func (d *mdown) exhibit(e *document.Exhibit) {
	d.p("**%s**", words.Markdown(e.Title))
	if e.Note != "" {
		d.p("%s", words.Markdown(e.Note))
	}
	if t := e.Table; t != nil {
		var head, rule []string
		for j, c := range t.Columns {
			head = append(head, words.Markdown(c.Heading()))
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
				cells = append(cells, words.Markdown(c.In(t.Columns[j].Unit)))
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
	d.p("%s", strings.TrimSuffix(words.Block("text", strings.TrimRight(t.b.String(), "\n")), "\n"))
}

package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"nero/audit/document"
	"nero/present/table"
	"nero/present/words"
)

// FormatNumber is that of the JSON. It grows whenever a field changes its meaning or goes away.
const FormatNumber = 1

// Report is what was found of the models of a study.
type Report struct {
	// Format is that of the JSON, [FormatNumber].
	Format int      `json:"format"`
	Seed   uint64   `json:"seed"`
	Models []*Model `json:"models"`
}

// Model is what was found of one.
type Model struct {
	Model string `json:"model"`
	// Digest is the SHA-256 of its file, "" where it is none.
	Digest string `json:"digest,omitempty"`
	// Fit, Choose and Confirm are how many samples there are on each side.
	Fit     int `json:"fit"`
	Choose  int `json:"choose"`
	Confirm int `json:"confirm"`
	// Predictions are how many were made.
	Predictions int `json:"predictions"`
	// Why says why nothing was asked, "" where something was.
	Why      string        `json:"why,omitempty"`
	Parts    []Found       `json:"parts"`
	Proposed []*Hypothesis `json:"hypotheses"`
}

// Found is what one part found, or why its question is open.
type Found struct {
	Part   string  `json:"part"`
	Answer string  `json:"answer,omitempty"`
	Open   string  `json:"open,omitempty"`
	Result Section `json:"result,omitempty"`
}

// Ask asks the parts about a model. A model that answers nothing which could be compared is a result, and so is a part
// that has nothing to ask.
func Ask(ctx context.Context, s *Subject, parts []Part) (*Model, error) {
	m := &Model{Model: s.Model, Fit: len(s.Fit), Choose: len(s.Choose), Confirm: len(s.Confirm)}
	for _, p := range parts {
		if s.Begin != nil {
			s.Begin(p.Name)
		}
		got, err := p.Run(ctx, s)
		switch {
		case err == nil:
			m.Parts = append(m.Parts, Found{Part: p.Name, Answer: got.Page().Answer, Result: got})
			for _, h := range got.Hypotheses() {
				m.Proposed = append(m.Proposed, &h)
			}
		case errors.Is(err, ErrOpen):
			m.Parts = append(m.Parts, Found{Part: p.Name, Open: reason(err, ErrOpen)})
		case errors.Is(err, ErrAnswer):
			m.Why = reason(err, ErrAnswer)
			m.Predictions = s.Made()
			return m, nil // as it will answer to the other parts
		default:
			return nil, fmt.Errorf("%s: %s: %w", s.Model, p.Name, err)
		}
	}
	m.Proposed = join(m.Proposed, s)
	m.Predictions = s.Made()
	return m, nil
}

// reason is the text of an error without that of its mark.
func reason(err, mark error) string { return strings.TrimPrefix(err.Error(), mark.Error()+": ") }

// Good reports whether every model has a symmetry that holds, and that no audit has refuted.
func (r *Report) Good() bool {
	for _, m := range r.Models {
		if !slices.ContainsFunc(m.Proposed, func(h *Hypothesis) bool {
			return h.Word == Holds && (h.Audit == "" || h.Audit == string(document.Passed))
		}) {
			return false
		}
	}
	return true
}

// Form is a way to write a report.
type Form struct {
	Name  string
	Write func(r *Report, w io.Writer) error
}

// Forms are all of them, those for people first.
func Forms() []Form {
	return []Form{
		{"text", (*Report).text},
		{"markdown", (*Report).markdown},
		{"html", (*Report).html},
		{"json", (*Report).json},
	}
}

// FindForm is the form of a name.
func FindForm(name string) (Form, error) {
	var known []string
	for _, f := range Forms() {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	near := ""
	if s, ok := words.Suggest(name, known); ok {
		near = fmt.Sprintf("; did you mean %s?", s)
	}
	return Form{}, fmt.Errorf("%q is no form of the report; want one of %s%s", name, strings.Join(known, ", "), near)
}

func (r *Report) json(w io.Writer) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// headline is the answer about a model in one line.
func (m *Model) headline() string {
	if m.Why != "" {
		return "undefined: " + m.Why
	}
	var all []string
	for _, p := range m.Parts {
		if p.Answer != "" {
			all = append(all, p.Answer)
		}
	}
	if len(all) == 0 {
		return "nothing could be asked"
	}
	return strings.Join(all, "; ")
}

// proposed are sentences about the hypotheses.
func (m *Model) proposed() []string {
	if m.Why != "" {
		return nil
	}
	if len(m.Proposed) == 0 {
		return []string{"No hypothesis: there is nothing to audit."}
	}
	lines := []string{
		"Hypotheses, which nothing has confirmed yet; an audit on the samples to confirm does, or does not:",
	}
	for _, h := range m.Proposed {
		line := fmt.Sprintf("- %s (%s)", h.Claim, h.Word)
		line += h.also()
		if h.Study != "" {
			line += ": nero audit " + h.Study
		}
		if h.Audit != "" {
			line += ": " + h.Audit
		}
		if h.Why != "" {
			line += " (" + h.Why + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// also says which other parts found a hypothesis.
func (h *Hypothesis) also() string {
	var b strings.Builder
	for _, e := range h.Also {
		fmt.Fprintf(&b, ", found by %s, too, as %s (%s)", e.Part, e.Claim, e.Word)
	}
	return b.String()
}

func (r *Report) text(to io.Writer) error {
	var b strings.Builder
	for i, m := range r.Models {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s\n", words.Line(m.Model), words.Line(m.headline()))
		for _, f := range m.Parts {
			fmt.Fprintf(&b, "\n%s\n", f.Part)
			if f.Open != "" {
				fmt.Fprintf(&b, "not asked: %s\n", words.Line(f.Open))
				continue
			}
			p := f.Result.Page()
			for _, t := range p.Tables {
				w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
				fmt.Fprintf(&b, "%s:\n", words.Line(t.Title))
				var rows strings.Builder
				rows.WriteString(strings.Join(t.Head, "\t") + "\n")
				for _, row := range t.Rows {
					cells := make([]string, len(row))
					for k, c := range row {
						cells[k] = words.Line(c)
					}
					rows.WriteString(strings.Join(cells, "\t") + "\n")
				}
				if _, err := io.WriteString(w, rows.String()); err != nil {
					return err
				}
				if err := w.Flush(); err != nil {
					return err
				}
			}
			for _, l := range p.Lines {
				b.WriteString(words.Wrap(words.Line(l), textWidth, 0))
			}
		}
		for k, l := range m.proposed() {
			if k == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintln(&b, words.Line(l))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

const textWidth = 120

func (r *Report) markdown(to io.Writer) error {
	var b strings.Builder
	for _, m := range r.Models {
		fmt.Fprintf(&b, "# %s\n\n%s\n", words.Markdown(m.Model), words.Markdown(m.headline()))
		for _, f := range m.Parts {
			fmt.Fprintf(&b, "\n## %s\n", f.Part)
			if f.Open != "" {
				fmt.Fprintf(&b, "\nNot asked: %s\n", words.Markdown(f.Open))
				continue
			}
			p := f.Result.Page()
			for _, t := range p.Tables {
				fmt.Fprintf(&b, "\n### %s\n\n", words.Markdown(t.Title))
				if err := table.Write(&b, table.Markdown, t.cells()); err != nil {
					return err
				}
			}
			for _, l := range p.Lines {
				fmt.Fprintf(&b, "\n%s\n", words.Markdown(l))
			}
		}
		for k, l := range m.proposed() {
			if k == 0 {
				fmt.Fprintf(&b, "\n%s\n\n", words.Markdown(l))
				continue
			}
			fmt.Fprintf(&b, "- %s\n", words.Markdown(strings.TrimPrefix(l, "- ")))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func (r *Report) html(to io.Writer) error {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Symmetries that were discovered</title>\n<style>" +
		"body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:80em;padding:0 1em}" +
		"table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:left;border-bottom:1px solid #ccc}" +
		"</style>\n")
	for _, m := range r.Models {
		fmt.Fprintf(&b, "<h1>%s</h1>\n<p><strong>%s</strong></p>\n", words.HTML(m.Model), words.HTML(m.headline()))
		for _, f := range m.Parts {
			fmt.Fprintf(&b, "<h2>%s</h2>\n", words.HTML(f.Part))
			if f.Open != "" {
				fmt.Fprintf(&b, "<p>Not asked: %s</p>\n", words.HTML(f.Open))
				continue
			}
			p := f.Result.Page()
			for _, t := range p.Tables {
				fmt.Fprintf(&b, "<h3>%s</h3>\n<table>\n", words.HTML(t.Title))
				for i, row := range append([][]string{t.Head}, t.Rows...) {
					tag := "td"
					if i == 0 {
						tag = "th"
					}
					b.WriteString("<tr>")
					for _, c := range row {
						fmt.Fprintf(&b, "<%s>%s</%[1]s>", tag, words.HTML(c))
					}
					b.WriteString("</tr>\n")
				}
				b.WriteString("</table>\n")
			}
			for _, l := range p.Lines {
				fmt.Fprintf(&b, "<p>%s</p>\n", words.HTML(l))
			}
		}
		for _, l := range m.proposed() {
			fmt.Fprintf(&b, "<p>%s</p>\n", words.HTML(l))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

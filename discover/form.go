package discover

import (
	"fmt"
	"strings"

	"nero/present/sheet"
)

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*sheet.Form[*Report] { return sheet.Forms((*Report).sheet) }

// sheet is what people read.
func (r *Report) sheet() *sheet.Sheet {
	s := &sheet.Sheet{Title: "Symmetries that were discovered"}
	for _, m := range r.Models {
		s.Answer = append(s.Answer, m.Model+": "+m.headline())
		of := ""
		if len(r.Models) > 1 {
			of = " of " + m.Model
		}
		for _, f := range m.Parts {
			s.Parts = append(s.Parts, f.parts(of)...)
		}
		if m.Why == "" {
			s.Parts = append(s.Parts, m.proposed(of))
		}
	}
	return s
}

// parts are what a part found, its sentences below the last of its tables.
func (f *Found) parts(of string) []sheet.Part {
	if f.Open != "" {
		return []sheet.Part{{Title: f.Part + of, Text: []string{"Not asked: " + f.Open}}}
	}
	p := f.Result.Page()
	if len(p.Tables) == 0 {
		return []sheet.Part{{Title: f.Part + of, Text: p.Lines}}
	}
	var all []sheet.Part
	for _, t := range p.Tables {
		all = append(all, sheet.Part{
			Title: f.Part + of + ": " + t.Title, Table: append([][]string{t.Head}, t.Rows...),
		})
	}
	all[len(all)-1].Notes = p.Lines
	return all
}

// proposed are the hypotheses.
func (m *Model) proposed(of string) sheet.Part {
	p := sheet.Part{Title: "Hypotheses" + of}
	if len(m.Proposed) == 0 {
		p.Text = []string{"No hypothesis: there is nothing to audit."}
		return p
	}
	p.Text = []string{"Nothing has confirmed them yet; an audit on the samples to confirm does, or does not."}
	p.Table = [][]string{{"claim", "says", "found by", "audit it with", "its verdict"}}
	for _, h := range m.Proposed {
		command, verdict := "", h.Audit
		if h.Study != "" {
			command = "nero audit " + h.Study
		}
		if h.Why != "" {
			verdict += " (" + h.Why + ")"
		}
		p.Table = append(p.Table, []string{h.Claim, string(h.Word), h.by(), command, verdict})
	}
	return p
}

// by are the parts that found a hypothesis, and as what, where that is another claim.
func (h *Hypothesis) by() string {
	var b strings.Builder
	b.WriteString(h.Part)
	for _, e := range h.Also {
		fmt.Fprintf(&b, "; %s, as %s (%s)", e.Part, e.Claim, e.Word)
	}
	return b.String()
}

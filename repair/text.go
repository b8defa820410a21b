package repair

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"nero/audit/document"
	"nero/present/words"
)

// Help is what may be asked for: a line for each method and one for each of its options.
func Help() string {
	var b strings.Builder
	for _, m := range Methods() {
		fmt.Fprintf(&b, "  %-9s %s\n", m.Name, m.Doc)
		for _, o := range m.Options {
			fmt.Fprintf(&b, "            %s=%s: %s\n", o.Name, strings.Join(o.says(), "|"), o.Doc)
		}
	}
	return b.String()
}

// Good reports whether every model passes, as it is or repaired.
func (r *Report) Good() bool {
	for _, m := range r.Models {
		good := m.Before.Verdict == string(document.Passed)
		for _, b := range m.Tried {
			good = good || b.Verdict == string(document.Passed)
		}
		if !good {
			return false
		}
	}
	return true
}

// WriteText writes what to do with each model, and the bills.
func (r *Report) WriteText(to io.Writer) error {
	for i, m := range r.Models {
		if i > 0 {
			if _, err := fmt.Fprintln(to); err != nil {
				return err
			}
		}
		if err := m.write(to, r); err != nil {
			return err
		}
	}
	return nil
}

func (m *Of) write(to io.Writer, r *Report) error {
	if _, err := fmt.Fprintf(to, "%s: %s\n", words.Line(m.Model), words.Line(m.Sentence)); err != nil {
		return err
	}
	if len(m.Tried) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0) // which keeps the first error for the end
	_, _ = fmt.Fprintf(t, "  \tverdict\terror\tworst\tcost\tright at rest\tright over orbit\tlost\n")
	for _, b := range append([]Bill{m.Before}, m.Tried...) {
		name := b.Method
		if name == "" {
			name = "as it is"
		}
		if b.Refused != "" {
			_, _ = fmt.Fprintf(t, "  %s\trefused: %s\n", name, words.Line(b.Refused))
			continue
		}
		cost := "-"
		if b.Cost > 0 {
			cost = fmt.Sprintf("%.2f", b.Cost)
		}
		_, _ = fmt.Fprintf(t, "  "+
			"%s\t%s\t%.2g\t%.2g\t%s\t%s\t%s\t%s\n", name, b.Verdict, b.Error, b.Worst, cost, b.Right.text(),
			b.Moved.text(), b.Lost.text())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "  %s samples under %s, at rest and moved together unless it says at rest\n"+
		"  error: root mean square, worst: the largest, in units of how much answers differ between samples; shares "+
		"with intervals of 95 %%\n", words.Count(r.Samples), r.Group)
	return err
}

// text is the share in per cent with its interval; "-" without labels.
func (s *Share) text() string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*s.Value, 100*max(s.Low, -1), 100*min(s.High, 1))
}

package app

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"nero/audit"
	"nero/present/view"
	"nero/present/words"
	"nero/run/fold"
	"nero/symmetry/group"
)

// WriteJSON writes v as every command prints JSON: indented, with characters of HTML as they are.
func WriteJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// terminal is the width that the table of a run keeps to: that of the narrowest terminal in common use. Names of models
// that leave no room for their numbers have a line of their own, but not those up to least.
const (
	terminal = 80
	least    = 12
)

// WriteText writes the compact table of a run: per metric and model the value at the identity, the mean over the orbit
// with its interval and the worst of the orbit, what they say, and the worst element; then what has no value, and why.
// No line of the table is longer than 80 columns, unless a name is.
func (r *RunResult) WriteText(to io.Writer) error {
	s, out := r.Summary, &strings.Builder{}
	if r.Part != nil {
		if err := r.Part.WriteText(out); err != nil {
			return err
		}
		if r.Part.Samples == 0 {
			_, err := io.WriteString(to, out.String())
			return err
		}
	}
	name := func(k int) string {
		if k < 0 {
			return "-"
		}
		return label(s, k)
	}
	if r.About != "" {
		out.WriteString(words.Wrap(words.Line(r.About), terminal, 2))
	}
	out.WriteString(words.Wrap(fmt.Sprintf("%s on %s: %d samples x %d elements (%s)", strings.Join(s.Models, ", "),
		s.Group, s.Samples-s.Failed, len(s.Elements), s.Measure), terminal, 2))
	r.gist(out, name)
	for _, w := range r.Warnings {
		out.WriteString(words.Wrap("WARNING: "+w, terminal, 2))
	}
	if r.table(out, name) {
		text := worstIs
		if slices.ContainsFunc(s.Metrics, func(m fold.Metric) bool { return m.Pooled }) {
			text += pooledIs
		}
		out.WriteString(words.Wrap(text, terminal, 2))
	}
	rest := &strings.Builder{}
	printMissing(rest, s, name)
	printWidths(rest, s)
	printConsensus(rest, s)
	if s.Failed > 0 {
		fmt.Fprintf(rest, "WARNING: %d samples could not be evaluated; their rows say why\n", s.Failed)
	}
	out.WriteString(words.Wrap(rest.String(), terminal, 2))
	_, err := io.WriteString(to, out.String())
	return err
}

// gist says of each model in a few sentences what was found.
func (r *RunResult) gist(out *strings.Builder, name func(int) string) {
	s := r.Summary
	if len(s.Slices) == 0 {
		return
	}
	sayer := view.SayerOf(s, name)
	for k, model := range s.Models {
		says := sayer.Says(model, false, func(i int) *fold.Curve { return s.Curve(k, i, 0) })
		if says != "" {
			out.WriteString(words.Wrap(says, terminal, 2))
		}
	}
}

// worstIs tells the two kinds of worst in a table apart.
const worstIs = "worst: the worst value of each input, in the mean over the inputs; worst element: where the mean " +
	"over the inputs is worst"

// pooledIs says what the first is where no input has a number of its own.
const pooledIs = "; metrics of all inputs together, such as mean IoU, have no worst value of each input: there worst " +
	"is the value at the worst element"

// table has a block for each metric: a line of titles, and for each model its numbers and its worst element. It reports
// whether there is any.
func (r *RunResult) table(out *strings.Builder, name func(int) string) bool {
	type line struct {
		cells []string
		below string
	}
	s, identity := r.Summary, r.Summary.Identity()
	var lines []line
	for i, m := range s.Metrics {
		head := line{cells: []string{
			withUnit(m), "identity", fmt.Sprintf("mean over orbit [%.0f %%]", 100*s.Confidence), "worst", "",
		}}
		for k, model := range s.Models {
			c := s.Curve(k, i, 0)
			if c == nil {
				continue
			}
			if head.cells != nil {
				lines, head = append(lines, head), line{}
			}
			at := "-"
			if identity >= 0 {
				at = words.Column(c.Mean[identity])
			}
			mean := fmt.Sprintf("%s [%s, %s]", words.Column(c.Orbit.Mean), words.Column(c.Orbit.Lo),
				words.Column(c.Orbit.Hi))
			var below []string
			if c.WorstElement >= 0 {
				worst := words.Column(c.Mean[c.WorstElement])
				p := c.Place(m)
				if !p.Level { // else it is the same everywhere
					below = append(below, fmt.Sprintf("worst element: %s at %s", worst, view.Where(p, name)))
				}
			}
			if c.Orbit.N != s.Samples-s.Failed {
				below = append(below, fmt.Sprintf("of %d samples", c.Orbit.N))
			}
			lines = append(lines, line{
				[]string{"  " + model, at, mean, words.Column(c.Worst.Mean), s.Verdict(c, r.Limit)},
				strings.Join(below, "; "),
			})
		}
	}
	var widths [5]int
	for _, l := range lines {
		for i, cell := range l.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rest := 0
	for _, w := range widths[1:] {
		rest += 2 + w
	}
	widths[0] = min(widths[0], max(least, terminal-rest))
	for _, l := range lines {
		row := &strings.Builder{}
		for i, cell := range l.cells {
			if i == 0 && utf8.RuneCountInString(cell) > widths[0] {
				out.WriteString(words.Wrap(cell, terminal, 2)) // titles and names are not cut
				cell = ""
			}
			fmt.Fprintf(row, "%-*s  ", widths[i], cell)
		}
		fmt.Fprintln(out, strings.TrimRight(row.String(), " "))
		if l.below != "" {
			out.WriteString(words.Wrap("      "+l.below, terminal, 2))
		}
	}
	return len(lines) > 0
}

// columns aligns rows of cells that tabs end.
func columns(out *strings.Builder, rows string) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(w, rows) // a builder takes everything
	_ = w.Flush()
}

// withUnit is the name of a metric with its unit, if it has one of its own.
func withUnit(m fold.Metric) string {
	if m.Unit == "" || m.Unit == "output" {
		return m.Name
	}
	return m.Name + " (" + m.Unit + ")"
}

// printMissing says which metrics have no value at some places, and why: those of one model that miss the same places
// in one line.
func printMissing(out *strings.Builder, s *fold.Summary, name func(int) string) {
	type place struct {
		model, bad, at int
		sample, why    string
	}
	var places []place
	metrics := map[place][]string{}
	for i, m := range s.Metrics {
		for k := range s.Models {
			c := s.Curve(k, i, 0)
			if c == nil || c.BadAt < 0 {
				continue
			}
			p := place{model: k, at: c.BadAt, sample: c.FirstBad, why: view.NoValue(s, i)}
			for _, n := range c.Bad {
				p.bad += n
			}
			if len(metrics[p]) == 0 {
				places = append(places, p)
			}
			metrics[p] = append(metrics[p], m.Name)
		}
	}
	for _, p := range places {
		words, has, these := strings.Join(metrics[p], ", "), "has", "the sample is"
		if len(metrics[p]) > 1 {
			has = "have"
		}
		if p.bad > 1 {
			these = "such samples are"
		}
		if p.why == "" {
			fmt.Fprintf(out, "WARNING: %s of %s is not finite %d times, first for sample %s at %s; these values are "+
				"in no mean\n", words, s.Models[p.model], p.bad, p.sample, name(p.at))
			continue
		}
		fmt.Fprintf(out, "%s of %s %s no value %d times, first for sample %s at %s: %s; %s in no mean over the orbit\n",
			words, s.Models[p.model], has, p.bad, p.sample, name(p.at), p.why, these)
	}
}

// printWidths says how wide the maps over shifts are, for the first metric that has a width.
func printWidths(out *strings.Builder, s *fold.Summary) {
	for i, m := range s.Metrics {
		first := s.Curve(0, i, 0)
		if first == nil || len(first.Widths) == 0 {
			continue
		}
		fmt.Fprintf(out, "full width at half maximum of the mean %s over the shifts:\n", m.Name)
		w := &strings.Builder{}
		for k, model := range s.Models {
			c := s.Curve(k, i, 0)
			if c == nil {
				continue
			}
			fmt.Fprintf(w, "  %s", model)
			for _, x := range c.Widths {
				if v := float64(x.Value); math.IsNaN(v) {
					fmt.Fprintf(w, "\t%s: none, the mean is nowhere above 0", x.Axis)
				} else if x.Open > 0 {
					fmt.Fprintf(w, "\t%s %.1f %s or more", x.Axis, v, x.Unit)
				} else {
					fmt.Fprintf(w, "\t%s %.1f %s", x.Axis, v, x.Unit)
				}
			}
			fmt.Fprintln(w)
		}
		columns(out, w.String())
		return
	}
}

// printConsensus says what the consensus of each model rests on.
func printConsensus(out *strings.Builder, s *fold.Summary) {
	for _, c := range s.Consensus {
		fmt.Fprintf(out, "consensus of %s: %s of the elements contribute (median over %d samples); weak for %d samples",
			s.Models[c.Model], audit.Percent(float64(c.Support)), c.N, c.Weak)
		if c.Agreed > 0 {
			fmt.Fprintf(out, "; its curves correlate with those of the targets by %s (median of %d)",
				words.Column(c.Agreement), c.Agreed)
		}
		fmt.Fprintln(out)
	}
	if len(s.Consensus) > 0 {
		fmt.Fprintln(out, "A consensus says how far a model agrees with itself, not whether it is right.")
	}
}

// label is element k for people.
func label(s *fold.Summary, k int) string {
	g, err := s.Open()
	if err != nil {
		return fmt.Sprint([]float64(s.Elements[k]))
	}
	return group.Title(g, s.Elements[k])
}

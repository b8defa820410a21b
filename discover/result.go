package discover

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/present/words"
	"nero/run/job"
)

// Scan is what a scan found.
type Scan struct {
	// Samples are those to fit and to choose that it asked at, Spared how many the budget left out.
	Samples int `json:"samples"`
	Spared  int `json:"spared,omitempty"`
	// Each is the largest number of predictions for a sample, Made how many there were in all.
	Each int `json:"each"`
	Made int `json:"made"`
	// Scales are the centred scales of the outputs, in their order.
	Scales []document.Number `json:"scales"`
	Alpha  document.Number   `json:"alpha"`
	Rows   []*Row            `json:"families"`
	// Left are families that were not asked.
	Left []Left `json:"left,omitempty"`

	out int
}

// Left is a family that was not asked, of all outputs or of one.
type Left struct {
	Family string `json:"family"`
	Output string `json:"output,omitempty"`
	Why    string `json:"why"`
}

// run asks about all families, those that are made of others once these hold.
func (c *scanner) run(ctx context.Context) (*Scan, error) {
	alpha := 1 - c.s.Confidence
	before := c.s.Made() - 2*len(c.samples)
	var rows []*Row
	for i := range c.families {
		f := &c.families[i]
		if missing := c.lacking(rows, f); missing != "" {
			c.scan.Left = append(c.scan.Left, Left{Family: f.name, Why: missing})
			continue
		}
		got, err := c.ask(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		rows = append(rows, got...)
		decide(rows, alpha)
	}
	rank := ranks()
	slices.SortStableFunc(rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(slices.Index(rank, a.Word), slices.Index(rank, b.Word)),
			cmp.Compare(soft(a), soft(b)))
	})
	out := c.scan
	out.Samples, out.Alpha, out.Rows, out.out = len(c.samples), document.Number(alpha), rows, len(c.out)
	out.Made = c.s.Made() - before
	for _, s := range c.spreads {
		out.Scales = append(out.Scales, document.Number(math.Sqrt(s.square)))
	}
	return &out, nil
}

// soft is by what rows of one word are ranked: what holds has no order but that of the catalogue.
func soft(r *Row) float64 {
	if r.Word == Holds {
		return 0
	}
	return float64(r.Relative.Value)
}

// lacking says which families that one is made of do not hold, "" for none.
func (c *scanner) lacking(rows []*Row, f *family) string {
	var why []string
	for _, part := range f.of {
		if !slices.ContainsFunc(rows, func(r *Row) bool { return r.Family == part && r.Word == Holds }) {
			why = append(why, part)
		}
	}
	if len(why) == 0 {
		return ""
	}
	return fmt.Sprintf("asked only where %s hold", strings.Join(f.of, " and "))
}

// found are the rows with a word.
func (s *Scan) found(w Word) []*Row {
	var out []*Row
	for _, r := range s.Rows {
		if r.Word == w {
			out = append(out, r)
		}
	}
	return out
}

// largest are the rows that no other row of the same word, output and action implies.
func (s *Scan) largest(w Word) []*Row {
	all := s.found(w)
	return slices.DeleteFunc(slices.Clone(all), func(r *Row) bool {
		return slices.ContainsFunc(all, func(o *Row) bool {
			return o.leaf == r.leaf && o.stays == r.stays && slices.Contains(o.family.implies, r.Family)
		})
	})
}

// finding is a family with the outputs that it was found of.
type finding struct {
	family *family
	rows   []*Row
}

// findings are the largest rows by family.
func (s *Scan) findings(w Word) []finding {
	var out []finding
	for _, r := range s.largest(w) {
		i := slices.IndexFunc(out, func(f finding) bool { return f.family == r.family })
		if i < 0 {
			out = append(out, finding{family: r.family})
			i = len(out) - 1
		}
		out[i].rows = append(out[i].rows, r)
	}
	return out
}

// Hypotheses are the families that hold, and those that do about, each without those that it implies.
func (s *Scan) Hypotheses() []Hypothesis {
	var out []Hypothesis
	for _, w := range []Word{Holds, Approximate} {
		for _, f := range s.findings(w) {
			for _, claim := range f.claims(s.out) {
				claim.Part, claim.Word = scan.Name, w
				out = append(out, claim)
			}
		}
	}
	return out
}

// claims are those of a study: one for all outputs where each does one thing, else one for each.
func (f finding) claims(outputs int) []Hypothesis {
	seen := map[int]bool{}
	for _, r := range f.rows {
		seen[r.leaf] = true
	}
	if len(seen) == outputs && len(f.rows) == outputs {
		return []Hypothesis{f.claim(f.rows, outputs)}
	}
	var out []Hypothesis
	for _, r := range f.rows {
		out = append(out, f.claim([]*Row{r}, outputs))
	}
	return out
}

func (f finding) claim(rows []*Row, outputs int) Hypothesis {
	var what, names []string
	stays := true
	for _, r := range rows {
		stays = stays && r.stays
		verb := "stays"
		if !r.stays {
			verb = "moves along"
		}
		names = append(names, r.Output)
		what = append(what, strings.TrimSpace(cmp.Or(r.Output, "the answer")+" "+verb))
	}
	return Hypothesis{
		family: f.family,
		Claim:  fmt.Sprintf("%s: under %s %s", f.family.name, f.family.doc, strings.Join(what, ", ")),
		Lay: func(s *job.Study) {
			f.family.lay(s)
			if s.Output.Fields == nil {
				s.Output.Action = map[bool]string{true: "invariant", false: "same"}[stays]
				return
			}
			if len(rows) < outputs {
				s.Output.Fields = slices.DeleteFunc(slices.Clone(s.Output.Fields),
					func(p job.Port) bool {
						return !slices.Contains(names, p.Name) && !slices.Contains(names, p.Port)
					})
			}
		},
	}
}

// Page is the scan for people.
func (s *Scan) Page() Page {
	p := Page{Answer: s.answer()}
	p.Lines = append(p.Lines, fmt.Sprintf("Numbers are of %s to fit and to choose, with %g %% intervals over samples "+
		"and "+
		"p-values adjusted for %s (Holm); those to confirm were not looked at. %s were made.",
		words.Plural(s.Samples, "sample", "samples"), 100*(1-float64(s.Alpha)),
		words.Plural(len(s.Rows), "row", "rows"), words.Capital(words.Plural(s.Made, "prediction", "predictions"))))
	if s.Spared > 0 {
		p.Lines = append(p.Lines, fmt.Sprintf("The budget left out %s.", words.Plural(s.Spared, "sample", "samples")))
	}
	t := Table{
		Title: "Families",
		Head:  []string{"family", "what moves", "answer", "says", "relative", "floor", "level", "degree"},
	}
	several := slices.ContainsFunc(s.Rows, func(r *Row) bool { return r.Output != "" })
	for _, r := range s.Rows {
		answer := r.Action
		if several {
			answer = r.Output + " " + r.Action
		}
		said := string(r.Word)
		if r.Why != "" {
			said += " (" + r.Why + ")"
		}
		t.Rows = append(t.Rows, []string{
			r.Family, r.Doc, answer, said, r.Relative.text(), words.Figures(float64(r.Floor)), r.fastest(),
			r.Degree.text(),
		})
	}
	p.Tables = append(p.Tables, t)
	p.Lines = append(p.Lines,
		"relative: how much the answer moves beside what noise of the same size does to it; below ten times the floor "+
			""+
			"it "+
			"holds, below 0.1 it is approximate, above 0.5 there is none. floor: what rounding and resampling alone "+
			"do.",
		"level: how far the answer moves per unit, in units of what it varies by over samples. degree: 1 where the "+
			"orbit "+
			"does not move the answer, 0 where it does so as much as another sample.")
	if len(s.Left) > 0 {
		var left []string
		for _, l := range s.Left {
			left = append(left, l.Family)
		}
		p.Lines = append(p.Lines, "Not asked: "+strings.Join(left, ", ")+" (why is in the JSON).")
	}
	return p
}

func (s *Scan) answer() string {
	var out []string
	for _, w := range []Word{Holds, Approximate} {
		var names []string
		for _, f := range s.findings(w) {
			names = append(names, f.family.name)
		}
		if len(names) > 0 {
			out = append(out, string(w)+": "+strings.Join(names, ", "))
		}
	}
	if len(out) == 0 {
		return "none of the families asked holds"
	}
	return strings.Join(out, "; ")
}

// text is an estimate with its interval.
func (e Estimate) text() string {
	v := float64(e.Value)
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%s [%s, %s]", words.Figures(v), words.Figures(float64(e.Low)), words.Figures(float64(e.High)))
}

// fastest is the largest level with its unit.
func (r *Row) fastest() string {
	if len(r.Levels) == 0 {
		return "–"
	}
	l := slices.MaxFunc(r.Levels, func(a, b Level) int { return cmp.Compare(a.Level.Value, b.Level.Value) })
	if l.Unit == "" {
		return words.Figures(float64(l.Level.Value)) + " per 1"
	}
	return words.Figures(float64(l.Level.Value)) + " per " + l.Unit
}

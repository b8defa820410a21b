package baseline

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/document"
	"nero/measure/aggregate"
	"nero/present/words"
)

// check is what a comparison is called in a report.
var check = audit.Check{
	Name: "baseline",
	Doc: `Baseline compares this audit with an earlier one of the same study: the same elements, inputs, seeds and limits, each input with itself. A
regression is an error that grew by more than is allowed, with the confidence of the audit over all sets together, and is more than rounding.`,
	Optional: true,
}

// Result is the comparison as one more check of a report.
func (c *Comparison) Result() *audit.Result {
	of := check
	r := &audit.Result{Check: &of, Status: audit.Tested}
	for _, s := range c.Sets {
		f := s.Largest.Factor
		r.Measures = append(r.Measures, audit.Evidence{
			Name: "largest error on the " + s.Name + ", before by now", Value: s.Largest.Before / s.Largest.After,
			Lo: f.Low, Hi: f.High, Limit: math.NaN(),
		})
	}
	for _, x := range c.Regressions {
		r.Findings = append(r.Findings, audit.Finding{
			Category: audit.Regression, Set: x.Set, Message: x.Message, Location: "model", Evidence: x.Evidence,
			Worst: x.Worst,
			Remedies: []string{
				"look at what changed since the baseline: weights, architecture, export, engine",
				"if the change is meant to be so, replace the baseline by this audit",
			},
		})
	}
	errors := audit.Exhibit{
		Name: "errors", Title: "Errors before and now, in pairs by input", Note: c.note(),
		Table: &audit.Table{Columns: []audit.Column{
			{Name: "set"},
			{Name: "error"},
			{Name: "before"},
			{Name: "now"},
			{Name: "before by now", Doc: "above 1 is an improvement"},
			{Name: "at least"},
			{Name: "at most"},
			{Name: "evidence"},
		}},
	}
	for _, s := range c.Sets {
		for _, x := range s.rows() {
			errors.Table.Rows = append(errors.Table.Rows, []audit.Cell{
				audit.Word(s.Name), audit.Word(x.name), audit.Num(x.c.Before), audit.Num(x.c.After),
				audit.Num(x.c.Before / x.c.After),
				audit.Num(x.c.Factor.Low), audit.Num(x.c.Factor.High), audit.Word(x.c.Verdict.String()),
			})
		}
	}
	r.Exhibits = append(r.Exhibits, errors)
	if len(c.Findings) > 0 {
		t := &audit.Table{Columns: []audit.Column{
			{Name: "finding"},
			{Name: "set"},
			{Name: "became"},
			{
				Name: "before by now",
				Doc:  "of the largest errors on the set, in pairs by input; above 1 is an improvement",
			},
			{Name: "at least"},
			{Name: "at most"},
			{Name: "message"},
		}}
		for _, f := range c.Findings {
			factor, least, most := audit.Word(""), audit.Word(""), audit.Word("")
			if x := f.Pair; x != nil {
				factor = audit.Num(x.Before / x.After)
				least, most = audit.Num(x.Factor.Low), audit.Num(x.Factor.High)
			}
			t.Rows = append(t.Rows, []audit.Cell{
				audit.Word(f.Check + ": " + f.Category.Title), audit.Word(f.Set),
				audit.Word(string(f.Status)), factor, least, most, audit.Word(f.last()),
			})
		}
		r.Exhibits = append(r.Exhibits, audit.Exhibit{Name: "findings", Title: "What became of the findings", Table: t})
	}
	return r
}

// note says how sure the intervals are.
func (c *Comparison) note() string {
	return fmt.Sprintf("The same %d inputs and elements. All intervals hold together with confidence %s. An increase "+
		"of up to %s is allowed.",
		c.Inputs, audit.Percent(c.Confidence), audit.Percent(c.Allow))
}

type row struct {
	name string
	c    Change
}

func (s SetChange) rows() []row { return []row{{"largest", s.Largest}, {"mean", s.Mean}} }

// last is the message as it stands now, or as it was.
func (f FindingChange) last() string {
	if f.After != "" {
		return f.After
	}
	return f.Before
}

// Summary is the comparison in a sentence.
func (c *Comparison) Summary() string {
	switch {
	case c.Regressed():
		return "worse than before by more than is allowed"
	case slices.ContainsFunc(c.Sets, func(s SetChange) bool { return s.Status == Worse }):
		return "worse than before, within what is allowed or rounding"
	case slices.ContainsFunc(c.Sets, func(s SetChange) bool { return s.Status == Fixed || s.Status == Improved }):
		return "better than before"
	}
	return "no clear difference"
}

// limits writes an interval.
func limits(i aggregate.Interval) string {
	return "[" + audit.Figures(i.Low) + ", " + audit.Figures(i.High) + "]"
}

// some writes the first of a list of samples.
func some(ids []string) string {
	const most = 3
	if len(ids) > most {
		return strings.Join(ids[:most], ", ") + fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return strings.Join(ids, ", ")
}

// lines are what is said below the table of errors.
func (c *Comparison) lines() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, s := range c.Sets {
		add("%s: %s; verdict %s before, %s now", s.Name, s.Status, s.Before, s.After)
		if s.Rounding && s.Status == Worse {
			add("%s: the errors now are no more than rounding", s.Name)
		}
		if len(s.Failing) > 0 {
			add("%s: %d inputs fail now that did not: %s", s.Name, len(s.Failing), some(s.Failing))
		}
		if len(s.Mended) > 0 {
			add("%s: %d inputs failed and do not now: %s", s.Name, len(s.Mended), some(s.Mended))
		}
		if len(s.NonFinite) > 0 {
			add("%s: %d inputs have no finite error any more: %s", s.Name, len(s.NonFinite), some(s.NonFinite))
		}
	}
	for _, n := range c.Unmatched {
		add("%s: judged in one of the audits alone", n)
	}
	for _, a := range c.Accuracy {
		add("%s: %s before, %s now", a.Before.Name, share(a.Before), share(a.After))
	}
	return out
}

func share(e audit.Evidence) string {
	t := audit.Percent(e.Value)
	if !math.IsNaN(e.Lo) {
		t += " [" + audit.Percent(e.Lo) + ", " + audit.Percent(e.Hi) + "]"
	}
	return t
}

// names says which models are compared.
func (c *Comparison) names() string {
	if c.Former != c.Model {
		return c.Former + " -> " + c.Model
	}
	return c.Model
}

// files says whether the model file or the engine changed; "" if nothing is known.
func (c *Comparison) files() string {
	var words []string
	switch {
	case c.DigestBefore == "" || c.DigestAfter == "":
	case c.DigestBefore == c.DigestAfter:
		words = append(words, "the same model file")
	default:
		words = append(words, "another model file")
	}
	if c.EngineBefore != "" && c.EngineAfter != "" && c.EngineBefore != c.EngineAfter {
		words = append(words, c.EngineAfter+" instead of "+c.EngineBefore)
	}
	return strings.Join(words, ", ")
}

// Text writes comparisons for people.
func Text(w io.Writer, cs ...*Comparison) error {
	var b strings.Builder
	for i, c := range cs {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s\n", words.Line(c.names()), c.Summary())
		fmt.Fprintf(&b, "  verdict %s before, %s now\n", c.VerdictBefore, c.VerdictAfter)
		if f := c.files(); f != "" {
			fmt.Fprintf(&b, "  %s\n", words.Line(f))
		}
		rows := [][]string{{"set", "error", "before", "now", "before by now", "interval", "evidence"}}
		for _, s := range c.Sets {
			for _, x := range s.rows() {
				rows = append(rows, []string{
					words.Line(s.Name), x.name, audit.Figures(x.c.Before), audit.Figures(x.c.After),
					audit.Figures(x.c.Before / x.c.After), limits(x.c.Factor), x.c.Verdict.String(),
				})
			}
		}
		width := make([]int, len(rows[0]))
		for _, r := range rows {
			for k, cell := range r {
				width[k] = max(width[k], len([]rune(cell)))
			}
		}
		for _, r := range rows {
			line := " "
			for k, cell := range r {
				pad := strings.Repeat(" ", width[k]-len([]rune(cell))+1)
				line += " " + cell + pad //nolint:perfsprint,modernize // few and short
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		fmt.Fprintf(&b, "  %s\n", c.note())
		for _, l := range c.lines() {
			fmt.Fprintf(&b, "  %s\n", words.Line(l))
		}
		for _, f := range c.Findings {
			fmt.Fprintf(&b, "  %-9s  %s: %s: %s\n", f.Status, f.Check, f.Category.Title, words.Line(f.last()))
		}
		for _, x := range c.Regressions {
			fmt.Fprintf(&b, "  REGRESSION: %s\n", words.Line(x.Message))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes comparisons for a comment on a change.
func Markdown(w io.Writer, cs ...*Comparison) error {
	var b strings.Builder
	for i, c := range cs {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "### %s: %s\n\nVerdict %s before, %s now.", words.Markdown(c.names()),
			words.Markdown(c.Summary()),
			words.Markdown(string(c.VerdictBefore)), words.Markdown(string(c.VerdictAfter)))
		if f := c.files(); f != "" {
			fmt.Fprintf(&b, " %s.", words.Markdown(f))
		}
		b.WriteString("\n\n| set | error | before | now | before by now | interval | evidence " +
			"|\n|---|---|--:|--:|--:|---|---|\n")
		for _, s := range c.Sets {
			for _, x := range s.rows() {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", words.Markdown(s.Name), x.name,
					audit.Figures(x.c.Before), audit.Figures(x.c.After),
					audit.Figures(x.c.Before/x.c.After), words.Markdown(limits(x.c.Factor)), x.c.Verdict)
			}
		}
		fmt.Fprintf(&b, "\n%s\n\n", words.Markdown(c.note()))
		for _, x := range c.Regressions {
			fmt.Fprintf(&b, "- **Regression**: %s\n", words.Markdown(x.Message))
		}
		for _, l := range c.lines() {
			fmt.Fprintf(&b, "- %s\n", words.Markdown(l))
		}
		if len(c.Findings) > 0 {
			b.WriteString("\n| finding | became | message |\n|---|---|---|\n")
			for _, f := range c.Findings {
				fmt.Fprintf(&b, "| %s: %s | %s | %s |\n", words.Markdown(f.Check), words.Markdown(f.Category.Title),
					f.Status,
					words.Markdown(f.last()))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// finite is a number, or nil where JSON has none.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

type jChange struct {
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
	// after less before, with its interval
	Change *float64 `json:"change"`
	Low    *float64 `json:"change_low"`
	High   *float64 `json:"change_high"`
	// before by after: above 1 is an improvement
	Factor  *float64 `json:"factor"`
	Least   *float64 `json:"factor_low"`
	Most    *float64 `json:"factor_high"`
	Verdict string   `json:"evidence"`
	Beyond  bool     `json:"beyond_allowed"`
}

func changeOf(c Change) jChange {
	return jChange{
		finite(c.Before), finite(c.After), finite(c.After - c.Before), finite(c.Difference.Low),
		finite(c.Difference.High),
		finite(c.Before / c.After), finite(c.Factor.Low), finite(c.Factor.High), c.Verdict.String(), c.Beyond,
	}
}

// JSON writes comparisons for machines, indented by two spaces. Numbers that are not finite are null.
func JSON(w io.Writer, cs ...*Comparison) error {
	type jSet struct {
		Set       string   `json:"set"`
		Status    Status   `json:"status"`
		Before    string   `json:"verdict_before"`
		After     string   `json:"verdict_after"`
		Unit      string   `json:"unit,omitempty"`
		Rounding  bool     `json:"rounding"`
		Mean      jChange  `json:"mean"`
		Largest   jChange  `json:"largest"`
		Failing   []string `json:"new_failures"`
		Mended    []string `json:"mended"`
		NonFinite []string `json:"new_non_finite"`
	}
	type jFinding struct {
		Check    string `json:"check"`
		Category string `json:"category"`
		Set      string `json:"set,omitempty"`
		Location string `json:"location"`
		Status   Status `json:"status"`
		Severity string `json:"severity"`
		Before   string `json:"before,omitempty"`
		After    string `json:"after,omitempty"`
		// of its set; left out where the finding is of no set that was judged both times
		Pair *jChange `json:"largest_error,omitempty"`
	}
	type jNumber struct {
		Name   string   `json:"name"`
		Before *float64 `json:"before"`
		After  *float64 `json:"after"`
	}
	type jModel struct {
		Model       string     `json:"model"`
		Former      string     `json:"before"`
		Summary     string     `json:"summary"`
		Regressed   bool       `json:"regressed"`
		Before      string     `json:"verdict_before"`
		After       string     `json:"verdict_after"`
		Allow       float64    `json:"allowed_regression"`
		Confidence  float64    `json:"confidence"`
		Inputs      int        `json:"inputs"`
		Sets        []jSet     `json:"sets"`
		Findings    []jFinding `json:"findings"`
		Accuracy    []jNumber  `json:"accuracy"`
		Unmatched   []string   `json:"unmatched"`
		Regressions []string   `json:"regressions"`
	}
	list := func(s []string) []string { return append([]string{}, s...) }
	doc := struct {
		Format int      `json:"format"`
		Models []jModel `json:"models"`
	}{document.Format, []jModel{}}
	for _, c := range cs {
		m := jModel{
			c.Model, c.Former, c.Summary(), c.Regressed(), string(c.VerdictBefore), string(c.VerdictAfter), c.Allow,
			c.Confidence, c.Inputs,
			[]jSet{},
			[]jFinding{},
			[]jNumber{},
			list(c.Unmatched),
			[]string{},
		}
		for _, s := range c.Sets {
			m.Sets = append(m.Sets, jSet{
				s.Name, s.Status, string(s.Before), string(s.After), s.Unit, s.Rounding, changeOf(s.Mean),
				changeOf(s.Largest),
				list(s.Failing), list(s.Mended), list(s.NonFinite),
			})
		}
		for _, f := range c.Findings {
			var pair *jChange
			if f.Pair != nil {
				x := changeOf(*f.Pair)
				pair = &x
			}
			m.Findings = append(m.Findings, jFinding{
				f.Check, f.Category.Name, f.Set, f.Location, f.Status,
				string(f.Severity), f.Before, f.After, pair,
			})
		}
		for _, a := range c.Accuracy {
			m.Accuracy = append(m.Accuracy, jNumber{a.Before.Name, finite(a.Before.Value), finite(a.After.Value)})
		}
		for _, x := range c.Regressions {
			m.Regressions = append(m.Regressions, x.Message)
		}
		doc.Models = append(doc.Models, m)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

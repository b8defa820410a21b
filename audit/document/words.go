package document

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/present/words"
)

// Sure writes a confidence, a number in [0, 1], in whole percents.
func Sure(x float64) string {
	if math.IsNaN(x) {
		return "undefined"
	}
	return strconv.FormatFloat(100*x, 'f', 0, 64) + "%"
}

// String is the number with three digits.
func (n Number) String() string { return words.Figures(float64(n)) }

// Limits are the confidence limits, "[0.4, 0.6]", or the estimate itself where the data allow none.
func (i Interval) Limits() string {
	if math.IsNaN(float64(i.Lo)) || math.IsNaN(float64(i.Hi)) {
		return i.Value.String()
	}
	return "[" + i.Lo.String() + ", " + i.Hi.String() + "]"
}

// String is the estimate with its limits, "0.5 in [0.4, 0.6]".
func (i Interval) String() string {
	if math.IsNaN(float64(i.Lo)) || math.IsNaN(float64(i.Hi)) {
		return i.Value.String()
	}
	return i.Value.String() + " in " + i.Limits()
}

// String is such as "sample 17 at 45°", and "-" for no place.
func (w *Where) String() string {
	switch {
	case w == nil, w.Index < 0 && w.Element == "":
		return "-"
	case w.Index < 0:
		return w.Element
	case w.Element == "":
		return "sample " + w.Sample
	}
	return "sample " + w.Sample + " at " + w.Element
}

// String is the score with its parts.
func (s Score) String() string {
	one := func(x Number) string { return strconv.FormatFloat(float64(x), 'f', 1, 64) }
	return fmt.Sprintf("%s of 5 (thoroughness %s, error analysis %s, diagnosis %s, advice %s, documentation %s)",
		one(s.Total), one(s.Thoroughness), one(s.ErrorAnalysis), one(s.Diagnosis), one(s.Advice), one(s.Documentation))
}

// String is the diagnosis in a few words: "zero padding, 72% sure, at /conv1".
func (d Diagnosis) String() string {
	s := fmt.Sprintf("%s, %s sure", d.Cause, Sure(float64(d.Confidence)))
	if d.Location != "" {
		s += ", at " + d.Location
	}
	return s
}

// String is the fact with the check that saw it; its numbers are in its text.
func (c Clue) String() string {
	s := c.Text
	if s == "" {
		s = c.Name
		if !c.Holds {
			s = "no " + s
		}
	}
	if c.Check != "" {
		s += " (" + c.Check + ")"
	}
	return s
}

// Heading is the name of a column with its unit; shares are written in percents, and have none.
func (c Column) Heading() string { return named(c.Name, c.Unit) }

// Heading is the name of a coordinate with its unit.
func (a Axis) Heading() string { return named(a.Name, a.Unit) }

// Heading is the name of an axis with its unit.
func (s Scale) Heading() string { return named(s.Name, s.Unit) }

func named(name, unit string) string {
	if unit == "" || unit == "share" {
		return name
	}
	return name + " (" + words.Unit(unit) + ")"
}

// In writes a cell of a column of the given unit: shares in percents, words as they are.
func (c Cell) In(unit string) string {
	switch {
	case !c.Number:
		return c.Text
	case unit == "share":
		return words.Percent(c.Value)
	}
	return words.Figures(c.Value)
}

// Expected is the error that would be there without any violation, [Set.Floor]. Files that do not say it have that of
// resampling, or of rounding where nothing is resampled.
func (s *Set) Expected() Number {
	switch {
	case s.Floor != nil:
		return *s.Floor
	case s.Exact:
		return s.Rounding
	}
	return s.Resampling.Mean
}

// Shares reports whether errors are shares, with a unit of their own and no scale.
func (s *Set) Shares() bool { return s.Unit == PixelShare || s.Unit == BoxShare }

// Fact is the value of the named circumstance, "" if nobody gave it.
func (m *Model) Fact(name string) string {
	for _, f := range m.About {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Sets are the judged sets of all checks, in order.
func (m *Model) Sets() []*Set {
	var sets []*Set
	for i := range m.Checks {
		for k := range m.Checks[i].Sets {
			sets = append(sets, &m.Checks[i].Sets[k])
		}
	}
	return sets
}

// Headline is the one line that explains the verdict of a check.
func (c *Check) Headline() string {
	for i := range c.Sets {
		if s := &c.Sets[i]; s.Verdict == c.Verdict {
			return s.Name + ": " + s.Reason
		}
	}
	for _, f := range c.Findings {
		if c.First == "" || f.ID == c.First {
			return f.Message
		}
	}
	return string(c.Verdict)
}

// Found is a finding with the name of the check that made it.
type Found struct {
	Check string
	*Finding
}

// Findings are those of all checks, the most severe first, else in the order of the checks.
func (m *Model) Findings() []Found {
	var out []Found
	for i := range m.Checks {
		c := &m.Checks[i]
		for k := range c.Findings {
			out = append(out, Found{c.Check, &c.Findings[k]})
		}
	}
	rank := []Severity{High, Medium, Low, Note}
	slices.SortStableFunc(out,
		func(a, b Found) int { return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity) })
	return out
}

package watch

import (
	"fmt"
	"math"

	"nero/measure/aggregate"
	"nero/present/words"
	"nero/run/trend"
)

// Course is what becomes of a symmetry while a model is trained.
type Course struct {
	Word Progress `json:"word" jsonschema:"enum=learned,enum=kept,enum=lost,enum=open"`
	// Spearman's rank correlation of the error with the order of the checkpoints: -1 where it only falls
	Rank Estimate `json:"rank"`
	// mean errors of the first and of the last checkpoint, and what an error may be
	First Number `json:"first"`
	Last  Number `json:"last"`
	Limit Number `json:"limit"`
	// checkpoints of which the error is shown to be within the limit, or is rounding
	Within int `json:"within"`
	Of     int `json:"of"`
	// the answer, in a sentence
	Sentence string `json:"sentence"`
}

// Progress is that in one word.
type Progress string

// The words. Learned says that the error falls, not that it is small by now; Kept that it never was large.
const (
	Learned Progress = "learned"
	Kept    Progress = "kept"
	Lost    Progress = "lost"
	// Unclear: none of them is shown.
	Unclear Progress = "open"
)

// course says what becomes of the errors of a series; nil for metrics of runs, which have no limit.
func (s *Series) course(c *chain) *Course {
	limit := c.rows[0].line.Limit
	if math.IsNaN(limit) || c.rows[0].line.Higher {
		return nil
	}
	values := make([][]float64, len(c.rows))
	out := &Course{Limit: Number(limit), Of: len(c.rows)}
	within := make([]bool, len(c.rows))
	for i, x := range c.rows {
		values[i] = x.line.Values
		p := &s.Points[i]
		if within[i] = p.Missing == 0 && p.N > 0 && (x.line.Rounding || float64(p.High) <= limit); within[i] {
			out.Within++
		}
	}
	rho, i := trend.Course(values, shown, draws(s.Key)())
	out.Rank = Estimate{Number(rho), Number(i.Low), Number(i.High)}
	last := len(c.rows) - 1
	out.First, out.Last = s.Points[0].Value, s.Points[last].Value
	gone := within[0] && float64(s.Points[last].Low) > limit
	out.Word = progress(i, out.Of > 1 && out.Within == out.Of, within[last], gone)
	out.Sentence = out.sentence(within[last])
	return out
}

// progress weighs the order of errors and whether all, or the last, are within the limit; gone says that the first is
// and the last is shown not to be. NaN shows nothing.
func progress(rank aggregate.Interval, all, last, gone bool) Progress {
	switch {
	case all:
		return Kept
	case rank.High < 0:
		return Learned
	case rank.Low > 0 && !last, gone:
		return Lost
	}
	return Unclear
}

// sentence says it for people.
func (c *Course) sentence(last bool) string {
	span := fmt.Sprintf("from %s to %s over %s", words.Figures(float64(c.First)), words.Figures(float64(c.Last)),
		words.Plural(c.Of, "checkpoint", "checkpoints"))
	rank := fmt.Sprintf(" (ρ = %s, %s)", words.Figures(float64(c.Rank.Value)), c.Rank.text())
	if math.IsNaN(float64(c.Rank.Value)) {
		rank = ""
	}
	limit := words.Figures(float64(c.Limit))
	switch c.Word {
	case Kept:
		return fmt.Sprintf("The symmetry is kept: at each of %s the error is within the limit of %s, or rounding.",
			words.Plural(c.Of, "checkpoint", "checkpoints"), limit)
	case Learned:
		end := "is still above the limit of " + limit
		if last {
			end = "is now within the limit of " + limit
		}
		return fmt.Sprintf("The symmetry is learned: the error falls %s%s, and %s.", span, rank, end)
	case Lost:
		return fmt.Sprintf("The symmetry is lost: the error grows %s%s, beyond the limit of %s.", span, rank, limit)
	case Unclear:
	}
	return fmt.Sprintf("Whether the symmetry is learned or lost is not shown: the error goes %s%s, and is within the "+
		"limit of %s at %d of them.", span, rank, limit, c.Within)
}

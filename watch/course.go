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

// course says what becomes of the errors of a series, of the checkpoints that tell something; nil for metrics of runs,
// which have no limit.
func (s *Series) course(c *chain, told []int) *Course {
	limit := c.rows[0].line.Limit
	if math.IsNaN(limit) || c.rows[0].line.Higher {
		return nil
	}
	nan := Number(math.NaN())
	out := &Course{
		Limit: Number(limit), Of: len(told), Word: Unclear, First: nan, Last: nan, Rank: Estimate{nan, nan, nan},
	}
	values := make([][]float64, len(told))
	within := make([]bool, len(told))
	for k, i := range told {
		l, p := c.rows[i].line, &s.Points[i]
		values[k] = l.Values
		small := float64(p.High) <= limit || l.Rounding && !l.above(p)
		if within[k] = p.Missing == 0 && p.N > 0 && small; within[k] {
			out.Within++
		}
	}
	if len(told) > 0 {
		rho, i := trend.Course(values, shown, draws(s.Key)())
		out.Rank = Estimate{Number(rho), Number(i.Low), Number(i.High)}
		last := len(told) - 1
		from, to := &s.Points[told[0]], &s.Points[told[last]]
		out.First, out.Last = from.Value, to.Value
		gone := within[0] && float64(to.Low) > limit
		kept := out.Of > 1 && out.Within == out.Of && len(told) == len(c.rows)
		out.Word = progress(i, kept, within[last], gone)
		out.Sentence = out.sentence(to, within[last])
	}
	if end := &s.Points[len(s.Points)-1]; end.State == Empty { // what it came to is not known
		before := ""
		if out.Of > 0 {
			before = " Before, the error went " + out.span() + out.rank() + "."
		}
		out.Word = Unclear
		out.Sentence = "Whether the symmetry is learned or lost is not shown: the last checkpoint, " + end.Release +
			", says nothing of it." + before
	}
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

// span is how the error goes.
func (c *Course) span() string {
	return fmt.Sprintf("from %s to %s over %s", words.Figures(float64(c.First)), words.Figures(float64(c.Last)),
		words.Plural(c.Of, "checkpoint", "checkpoints"))
}

// rank is its order; nothing where there is none.
func (c *Course) rank() string {
	if math.IsNaN(float64(c.Rank.Value)) {
		return ""
	}
	return fmt.Sprintf(" (ρ = %s, %s)", words.Figures(float64(c.Rank.Value)), c.Rank.text())
}

// sentence says it for people. The last checkpoint is given, and whether it is within the limit, or rounding.
func (c *Course) sentence(last *Point, within bool) string {
	span, rank := c.span(), c.rank()
	holes := ""
	if last.Missing > 0 {
		holes = fmt.Sprintf("%d of %s of the last one are not finite", last.Missing,
			words.Plural(last.N+last.Missing, "answer", "answers"))
	}
	above, not := float64(last.Low) > float64(c.Limit), "is not shown to be within the limit of "
	limit := words.Figures(float64(c.Limit))
	switch c.Word {
	case Kept:
		return fmt.Sprintf("The symmetry is kept: at each of %s the error is within the limit of %s, or rounding.",
			words.Plural(c.Of, "checkpoint", "checkpoints"), limit)
	case Learned:
		// A fall that ends above the limit is on the way to the symmetry, and no more.
		learned, end := "being learned", "and "+not+limit
		switch {
		case holes != "":
			end = "but " + holes
		case within && last.High <= c.Limit:
			learned, end = "learned", "and is now within the limit of "+limit
		case within:
			learned, end = "learned", "and is now no more than rounding"
		case above:
			end = "and is still above the limit of " + limit
		}
		return fmt.Sprintf("The symmetry is %s: the error falls %s%s, %s.", learned, span, rank, end)
	case Lost:
		end := "and " + not + limit
		switch {
		case holes != "":
			end = "and " + holes
		case above:
			end = "beyond the limit of " + limit
		}
		return fmt.Sprintf("The symmetry is lost: the error grows %s%s, %s.", span, rank, end)
	case Unclear:
	}
	if holes != "" {
		holes = "; " + holes
	}
	return fmt.Sprintf("Whether the symmetry is learned or lost is not shown: the error goes %s%s, and is within the "+
		"limit of %s at %d of them%s.", span, rank, limit, c.Within, holes)
}

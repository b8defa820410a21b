package preflight

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"nero/audit"
	"nero/data/space"
)

// mostBatchBytes bounds the inputs of the largest batch that is tried.
const mostBatchBytes = 32 << 20

// growing are the sizes of batches that must give finite outputs: powers of two. There are none where the size of a
// batch is not ours to choose.
func growing(p *audit.Pass) []int {
	if _, ok := p.Subject.Predictor.(audit.BatchPredictor); !ok {
		return nil
	}
	if f, ok := p.Subject.Predictor.(interface{ FixedBatch() bool }); ok && f.FixedBatch() {
		return nil
	}
	var sizes []int
	for n := 1; n <= int(p.Param("batch")); n *= 2 {
		sizes = append(sizes, n)
	}
	return sizes
}

// grow sends batches of growing size, filled with the inputs in turn, and holds every output to being finite. The
// batches of the other checks have one size, and NaN compares as no difference: a model that answers NaN to larger
// batches would be seen by nobody who audits with smaller ones.
func (r *Result) grow(ctx context.Context, p *audit.Pass, values, first []space.Value,
	where func(int) audit.Where,
) error {
	var use []int // inputs whose outputs can be finite, in whatever company
	for i, y := range first {
		if space.Finite(y) {
			use = append(use, i)
		}
	}
	if len(use) == 0 { // all the worse: perhaps no size is right, perhaps the usual one is not
		for i := range values {
			use = append(use, i)
		}
	}
	bytes := 0
	for _, v := range values {
		bytes = max(bytes, v.Bytes())
	}
	var good []int
	bad, total, at := 0, 0, -1
	for _, size := range growing(p) {
		if size > 1 && size*bytes > mostBatchBytes {
			break
		}
		batch := make([]space.Value, size)
		for i := range batch {
			batch[i] = values[use[i%len(use)]]
		}
		out, err := p.PredictBatch(ctx, size, batch)
		if err != nil {
			return err
		}
		n := 0
		for i, y := range out {
			if space.Finite(y) {
				continue
			}
			n++
			if at < 0 {
				at = use[i%len(use)]
			}
		}
		total += size
		if n == 0 {
			good = append(good, size)
			continue
		}
		bad += n
		r.NotFinite = append(r.NotFinite, size)
	}
	if len(good)+len(r.NotFinite) == 0 {
		return nil
	}
	clue := audit.Clue{
		Name: audit.ClueBatchFinite, Strength: 1,
		Text: fmt.Sprintf("the outputs of batches of %s are finite", list(good)),
	}
	if len(r.NotFinite) == 0 {
		p.Clue(clue)
		return nil
	}
	if len(good) == 0 {
		clue.Text = "no size of the batch gives finite outputs" // which is said of the outputs themselves
		r.NotFinite = nil
		p.Clue(clue)
		return nil
	}
	text := fmt.Sprintf("%d of %d outputs are not finite in batches of %s, and all are in batches of %s", bad,
		total-sum(good), list(r.NotFinite), list(good))
	clue.Holds, clue.Text, clue.Location = true, text, "batches of "+list(r.NotFinite)
	clue.Evidence = []audit.Evidence{audit.Number("outputs that are not finite", float64(bad), "").Against(0)}
	p.Clue(clue)
	p.Report(audit.Finding{
		Category: audit.NonFinite, Location: "batch", Worst: where(at), Message: text, Evidence: clue.Evidence,
		Remedies: []string{
			"look for an operator that reads the length of the batch axis: Shape, Gather, Reshape, a mean over axis 0",
			"until it is mended, run the model in batches of " + strconv.Itoa(good[len(good)-1]) + " only",
		},
	})
	return nil
}

func sum(x []int) int {
	s := 0
	for _, v := range x {
		s += v
	}
	return s
}

// list is "1, 2 and 4".
func list(x []int) string {
	var words []string
	for _, v := range x {
		words = append(words, strconv.Itoa(v))
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

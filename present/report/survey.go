package report

import (
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"

	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/present/view"
	"nero/present/words"
	"nero/run/job"
)

// survey is what one pass over the rows tells beyond the summary. Per sample it keeps one number per model, and two for
// a single model; everything else is of constant size.
type survey struct {
	// of the leading metric over the orbit: sample-major, one per model; NaN where there is none
	means []float32
	// of a single model: largest minus smallest value along the orbit
	spans []float32
	// model × metric: mean over the orbit, minus that of the first model, sample by sample
	diffs [][]aggregate.Moments
	// model × metric: over the exact elements but the identity
	exact [][]part
	// over the resampled elements
	smooth [][]part
}

// part is the values of some of the elements.
type part struct {
	// one number per sample: its mean over these elements
	mean aggregate.Moments
	// the worst single value
	worst float64
	// its sample
	sample string
	// its element, -1 if there is none
	at int
}

// pending is a sample whose rows have not all come.
type pending struct {
	left int
	// model × metric
	means [][]float64
}

func grid[T any](rows, cols int, fill T) [][]T {
	g := make([][]T, rows)
	for i := range g {
		g[i] = make([]T, cols)
		for k := range g[i] {
			g[i][k] = fill
		}
	}
	return g
}

// survey reads all rows once.
func (p *page) survey(ctx context.Context) error {
	models, metrics := len(p.s.Models), len(p.s.Metrics)
	v := &survey{
		diffs: grid(models, metrics, aggregate.Moments{}),
		exact: grid(models, metrics, part{at: -1}), smooth: grid(models, metrics, part{at: -1}),
	}
	p.seen = v
	open := map[int]*pending{}
	n := 0
	for r, err := range p.in.Rows() {
		if err != nil {
			return err
		}
		if n++; n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.check(r); err != nil {
			return err
		}
		for len(v.means) < (r.Index+1)*models {
			v.means = append(v.means, float32(math.NaN()))
		}
		if models == 1 {
			for len(v.spans) <= r.Index {
				v.spans = append(v.spans, float32(math.NaN()))
			}
		}
		q := open[r.Index]
		if q == nil {
			q = &pending{left: models, means: grid(models, metrics, math.NaN())}
			open[r.Index] = q
		}
		if r.Err == "" {
			for m := range metrics {
				q.means[r.Model][m] = p.mean(r.Curves[m])
			}
			v.means[r.Index*models+r.Model] = float32(q.means[r.Model][p.lead])
			if models == 1 {
				v.spans[r.Index] = span(r.Curves[p.lead])
			}
			p.parts(r)
		}
		if q.left--; q.left > 0 {
			continue
		}
		delete(open, r.Index)
		for k := 1; k < models; k++ {
			for m := range metrics {
				v.diffs[k][m].Add(q.means[k][m]-q.means[0][m], r.Index)
			}
		}
	}
	return nil
}

// check refuses a row that is not of this run.
func (p *page) check(r job.Row) error {
	switch {
	case r.Model < 0 || r.Model >= len(p.s.Models):
		return fmt.Errorf("row of sample %s: model %d of a run with %d models", r.Sample, r.Model, len(p.s.Models))
	case r.Index < 0 || r.Index >= p.j.Count:
		return fmt.Errorf("row of sample %s: position %d of a job with %d samples", r.Sample, r.Index, p.j.Count)
	case r.Err == "" && len(r.Curves) != len(p.s.Metrics):
		return fmt.Errorf("row of sample %s: %d curves for %d metrics", r.Sample, len(r.Curves), len(p.s.Metrics))
	}
	if r.Err == "" {
		for _, c := range r.Curves {
			if len(c) != len(p.s.Elements) {
				return fmt.Errorf("row of sample %s: %d values for %d elements", r.Sample, len(c), len(p.s.Elements))
			}
		}
	}
	return nil
}

// mean is that over the orbit, with the weights of the job; NaN if a value is not finite.
func (p *page) mean(curve []float32) float64 {
	m := aggregate.CurveMean(p.j.Weights)(curve)
	if math.IsInf(m, 0) {
		return math.NaN()
	}
	return m
}

func span(curve []float32) float32 {
	if len(curve) == 0 {
		return float32(math.NaN())
	}
	return slices.Max(curve) - slices.Min(curve) // NaN if one of them is
}

// parts takes exact and resampled elements apart, for metrics against the model's own answer.
func (p *page) parts(r job.Row) {
	for m := range p.s.Metrics {
		if p.s.Metrics[m].Ref != string(metric.Self) {
			continue
		}
		for _, exact := range []bool{true, false} {
			part := &p.seen.smooth[r.Model][m]
			if exact {
				part = &p.seen.exact[r.Model][m]
			}
			sum, n := 0.0, 0
			for k, x := range r.Curves[m] {
				if p.s.Exact[k] != exact || k == p.identity {
					continue
				}
				v := float64(x)
				sum, n = sum+v, n+1
				if !math.IsNaN(v) && !math.IsInf(v, 0) && (part.at < 0 || p.worse(m, v, part.worst)) {
					part.worst, part.sample, part.at = v, r.Sample, k
				}
			}
			if n == 0 {
				continue
			}
			if sum /= float64(n); math.IsInf(sum, 0) {
				sum = math.NaN()
			}
			part.mean.Add(sum, r.Index)
		}
	}
}

// choice is a sample that is drawn singly.
type choice struct {
	index int
	notes []string
}

// choose picks the samples to draw: the one with the worst mean over the orbit under any model, the one in the middle
// by the mean over models, and the one where the models differ most, or where a single model varies most. Ties go to
// the earlier sample. Samples without a mean under every model are left out.
func (p *page) choose() []choice {
	models := len(p.s.Models)
	v := p.seen
	name := p.s.Metrics[p.lead].Heading()
	type candidate struct {
		index int
		mid   float64
	}
	var all []candidate
	worst, worstModel, most, low, high := -1, 0, -1, 0, 0
	var worstValue, mostValue float64
	for i := range len(v.means) / models {
		row := v.means[i*models : (i+1)*models]
		sum, lo, hi, at := 0.0, 0, 0, 0
		for k, x := range row {
			sum += float64(x)
			if x < row[lo] {
				lo = k
			}
			if x > row[hi] {
				hi = k
			}
			if p.worse(p.lead, float64(x), float64(row[at])) {
				at = k
			}
		}
		if math.IsNaN(sum) {
			continue
		}
		all = append(all, candidate{i, sum / float64(models)})
		if worst < 0 || p.worse(p.lead, float64(row[at]), worstValue) {
			worst, worstModel, worstValue = i, at, float64(row[at])
		}
		d := float64(row[hi] - row[lo])
		if models == 1 {
			d = float64(v.spans[i])
		}
		if !math.IsNaN(d) && (most < 0 || d > mostValue) {
			most, mostValue, low, high = i, d, lo, hi
		}
	}
	if len(all) == 0 {
		return nil
	}
	var out []choice
	add := func(index int, note string) {
		for i := range out {
			if out[i].index == index {
				out[i].notes = append(out[i].notes, note)
				return
			}
		}
		out = append(out, choice{index, []string{note}})
	}
	word := "lowest"
	if p.s.Metrics[p.lead].Better == string(metric.Lower) {
		word = "highest"
	}
	note := fmt.Sprintf("Worst: %s mean %s, %s", word, name, words.Number(worstValue))
	if models > 1 {
		note += " under " + p.s.Models[worstModel]
	}
	add(worst, note)
	slices.SortStableFunc(all, func(a, b candidate) int {
		switch {
		case a.mid < b.mid:
			return -1
		case a.mid > b.mid:
			return 1
		}
		return 0
	})
	c := all[(len(all)-1)/2]
	note = fmt.Sprintf("Median: mean %s %s", name, words.Number(c.mid))
	if models > 1 {
		note += " over the models"
	}
	add(c.index, note)
	if most >= 0 {
		if models > 1 {
			row := v.means[most*models:]
			note = fmt.Sprintf("Models differ most: %s %s, %s %s", p.s.Models[high], words.Number(row[high]),
				p.s.Models[low], words.Number(row[low]))
		} else {
			note = "Varies most: by " + words.Number(mostValue) + " along the orbit"
		}
		add(most, note)
	}
	return out
}

// samples reads the rows of the chosen samples.
func (p *page) samples(ctx context.Context) ([]view.Sample, error) {
	chosen := p.choose()
	if len(chosen) == 0 {
		return nil, nil
	}
	out := make([]view.Sample, len(chosen))
	n := 0
	for r, err := range p.in.Rows() {
		if err != nil {
			return nil, err
		}
		if n++; n%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for i, c := range chosen {
			if r.Index != c.index || r.Err != "" {
				continue
			}
			if err := p.check(r); err != nil {
				return nil, err
			}
			x := &out[i]
			// A reader may hand out the same memory again.
			row := r
			row.Curves = make([][]float32, len(r.Curves))
			for m := range r.Curves {
				row.Curves[m] = slices.Clone(r.Curves[m])
			}
			row.Top = slices.Clone(r.Top)
			x.Rows = append(x.Rows, row)
			x.Title = "Sample " + r.Sample
			if r.Label >= 0 {
				x.Title += ", class " + p.className(r.Label)
			}
		}
	}
	for i, c := range chosen {
		for k, note := range c.notes {
			if k > 0 {
				out[i].Note += ". "
			}
			out[i].Note += note
		}
		if p.in.Picture == nil {
			continue
		}
		img, err := p.in.Picture(c.index)
		if err != nil {
			// The curves stand without the picture, but a reader has to know.
			p.caveats = append(p.caveats, fmt.Sprintf("The input of sample %s could not be shown: %v.",
				words.Markdown(out[i].Title), words.Markdown(err.Error())))
			continue
		}
		out[i].Picture = opaque(img)
	}
	return out, nil
}

// opaque is the picture if it has any pixels.
func opaque(img image.Image) image.Image {
	if img == nil || img.Bounds().Empty() {
		return nil
	}
	return img
}

func (p *page) className(label int) string {
	for _, s := range p.s.Slices {
		if s.Label == label {
			return s.Name
		}
	}
	return strconv.Itoa(label)
}

package repair

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/audit/document"
	"nero/data/space"
	"nero/measure/aggregate"
)

// Report is what became of all models, with their bills.
type Report struct {
	Format int    `json:"format"`
	Group  string `json:"group"`
	// Samples are how many samples errors and accuracies are measured on.
	Samples int  `json:"samples"`
	Models  []Of `json:"models"`
}

// Of is one model and what was tried on it.
type Of struct {
	Model string `json:"model"`
	File  string `json:"file"`
	// Before is the model as it was.
	Before Bill   `json:"before"`
	Tried  []Bill `json:"tried"`
	// Sentence is what to do.
	Sentence string `json:"sentence"`
	// Recommended is the method that it names, empty for none.
	Recommended string `json:"recommended,omitempty"`
}

// Bill is what a model costs and what it is worth.
type Bill struct {
	Method string `json:"method,omitempty"`
	// File is where the repaired model lies.
	File string `json:"file,omitempty"`
	// Refused is why the method does not fit the model; nothing else is set then.
	Refused string `json:"refused,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	// Error and Worst are the equivariance error at the elements of the repair, root mean square and largest, in units
	// of how much the model's answers differ between samples. They are not finite where all answers are the same.
	Error document.Number `json:"error"`
	Worst document.Number `json:"worst"`
	// Apart is how far its answers to the samples as they are lie from those of the model before, in the same unit.
	Apart document.Number `json:"apart"`
	// Cost is the time of one answer beside that of the model before, measured.
	Cost float64 `json:"cost"`
	// Nodes and Bytes of the file.
	Nodes int   `json:"nodes"`
	Bytes int64 `json:"bytes"`
	Opset int   `json:"opset"`
	// Right and Moved are the shares of samples that are classified rightly as they are, and over all elements; nil
	// without labels.
	Right *Share `json:"right,omitempty"`
	Moved *Share `json:"moved,omitempty"`
	// Lost is by how much Right fell, by pairs of answers to the same sample.
	Lost *Share `json:"lost,omitempty"`
}

// Share is a share with its interval of 95 %, which has no finite ends for one sample.
type Share struct {
	Value document.Number `json:"value"`
	Low   document.Number `json:"low"`
	High  document.Number `json:"high"`
}

// Answers is what a model says to all samples at all elements, moved back.
type Answers struct {
	// Back[g][i] are the numbers of the answer to sample i at element g, the identity first, moved back.
	Back [][][]float64
	// Class[g][i] is the class that is answered there, -1 for none.
	Class [][]int
}

// classed is an answer that names a class.
type classed interface{ Class() int }

// Add adds the answers to all samples at one more element, moved back.
func (a *Answers) Add(back []space.Value) error {
	rows, classes := make([][]float64, len(back)), make([]int, len(back))
	for i, y := range back {
		l, ok := y.(space.Linear)
		if !ok {
			return fmt.Errorf("it answers with %s, which cannot be added up", y.Form())
		}
		rows[i], classes[i] = l.Output(), -1
		if slices.ContainsFunc(rows[i], func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			return errors.New("it answers with numbers that are NaN or infinite, of which there is no mean and no " +
				"error: nero audit says of which samples")
		}
		if c, ok := y.(classed); ok {
			classes[i] = c.Class()
		}
	}
	a.Back, a.Class = append(a.Back, rows), append(a.Class, classes)
	return nil
}

// spread is how far answers lie from their mean, root mean square.
func spread(rows [][]float64) float64 {
	mean := make([]float64, len(rows[0]))
	for _, r := range rows {
		for j, x := range r {
			mean[j] += x / float64(len(rows))
		}
	}
	sum := 0.0
	for _, r := range rows {
		sum += apart(r, mean)
	}
	return math.Sqrt(sum / float64(len(rows)))
}

// apart is the squared distance of two answers; NaN if they have not as many numbers.
func apart(x, y []float64) float64 {
	if len(x) != len(y) {
		return math.NaN()
	}
	sum := 0.0
	for j := range x {
		d := x[j] - y[j]
		sum += float64(d * d)
	}
	return sum
}

// Bill is what can be said of answers beside those before the repair. labels are the classes of the samples, -1 where
// nobody knows.
func (a *Answers) Bill(before *Answers, labels []int) Bill {
	unit := spread(before.Back[0])
	if unit == 0 { // one sample, or a model that always says the same: there is nothing to measure errors by
		unit = math.NaN()
	}
	var sum, worst, moved, off float64
	n := 0
	for k := range a.Back {
		for i, y := range a.Back[k] {
			if k == 0 {
				off += apart(y, before.Back[0][i]) / float64(len(a.Back[0]))
				continue
			}
			d := apart(y, a.Back[0][i])
			sum, worst = sum+d, math.Max(worst, d)
			n++
		}
	}
	in := func(squared float64) document.Number { return document.Number(math.Sqrt(squared) / unit) }
	out := Bill{Error: in(sum / float64(max(n, 1))), Worst: in(worst), Apart: in(off)}
	known := 0
	var right, fell []float64
	var over []float64
	for i, label := range labels {
		if label < 0 || a.Class[0][i] < 0 {
			continue
		}
		known++
		hit := func(c int) float64 {
			if c == label {
				return 1
			}
			return 0
		}
		right, fell = append(right, hit(a.Class[0][i])), append(fell, hit(before.Class[0][i])-hit(a.Class[0][i]))
		moved = 0
		for k := range a.Class {
			moved += hit(a.Class[k][i]) / float64(len(a.Class))
		}
		over = append(over, moved)
	}
	if known == len(a.Back[0]) {
		out.Right, out.Moved, out.Lost = share(right, 0), share(over, 0), share(fell, -1)
	}
	return out
}

// share is a mean over samples with Student's interval, as far as it lies within what such a mean can be, from least
// to 1: of a single sample nothing else is known.
func share(x []float64, least float64) *Share {
	var all aggregate.Moments
	for i, v := range x {
		all.Add(v, i)
	}
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	iv := aggregate.MeanInterval(all, 0.95)
	return &Share{
		document.Number(mean), document.Number(math.Max(iv.Low, least)), document.Number(math.Min(iv.High, 1)),
	}
}

// Recommend says which of the repaired models to take: the cheapest that passes and loses no more than allowed. Of
// models that cost about the same it is the one that loses least, or that changes the answers least.
func (m *Of) Recommend(loss float64) {
	const same = 1.15
	var best, nearest, open *Bill
	for i := range m.Tried {
		b := &m.Tried[i]
		if b.Refused == "" && b.Verdict == string(document.NeedsAttention) && (open == nil || b.Error < open.Error) {
			open = b
		}
		if b.Refused != "" || b.Verdict != string(document.Passed) {
			continue
		}
		if nearest == nil || b.less(nearest) {
			nearest = b
		}
		if b.Lost != nil && !(float64(b.Lost.Value) <= loss) {
			continue
		}
		if best == nil || b.Cost*same < best.Cost || b.Cost < best.Cost*same && b.less(best) {
			best = b
		}
	}
	switch {
	case best != nil:
		m.Recommended = best.Method
		m.Sentence = fmt.Sprintf("Take %s: it passes, at %.1f times the "+
			"cost%s.", best.File, best.Cost, best.worth(m.Before))
	case nearest != nil:
		m.Sentence = fmt.Sprintf("None passes without losing more than %.1f %% of the samples; the nearest is %s, "+
			"at %.1f times "+
			"the cost%s. Training with moved samples may lose less.", 100*loss, nearest.File, nearest.Cost,
			nearest.worth(m.Before))
	case len(m.Tried) > 0 && !slices.ContainsFunc(m.Tried, func(b Bill) bool { return b.Refused == "" }):
		m.Sentence = "No method fits this model, so nothing was written; beside each stands why."
	case open != nil:
		m.Sentence = fmt.Sprintf("None passes, but %s is not refuted either, with an error of %.2g: nero audit of it "+
			"says what is in doubt.", open.File, open.Error)
	default:
		m.Sentence = "No repaired model passes: train with moved samples, or take an architecture that has the " +
			"symmetry."
	}
}

// less tells whether less is lost than by another.
func (b *Bill) less(than *Bill) bool {
	if b.Lost != nil && than.Lost != nil && b.Lost.Value != than.Lost.Value {
		return b.Lost.Value < than.Lost.Value
	}
	return b.Apart < than.Apart
}

// worth is what a repair does to the answers, in words.
func (b *Bill) worth(before Bill) string {
	if b.Right == nil || before.Right == nil || b.Moved == nil || before.Moved == nil {
		return fmt.Sprintf("; without labels nobody knows whether it is as right (its answers are %.2g away from "+
			"those before)",
			b.Apart)
	}
	return fmt.Sprintf("; of samples as they are %.1f %% are right (%.1f %% before), over the orbit %.1f %% (%.1f %%)",
		100*b.Right.Value, 100*before.Right.Value, 100*b.Moved.Value, 100*before.Moved.Value)
}

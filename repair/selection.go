package repair

import (
	"errors"
	"math"
	"slices"

	"nero/data/space"
	"nero/internal/elementary"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/rewrite"
)

// selection answers what the model says in the pose that it is surest of, moved back. It is exact on a finite group,
// for it asks the same poses wherever it begins; of poses that are as sure, the first counts.
var selection = Method{
	Name: "select",
	Doc:  "the answer in the pose that the model is surest of, moved back",
	Options: []Option{
		{
			Name: "score", Values: []string{"margin", "energy"},
			Doc: "how sure it is: by how much the best class leads over all others together, or how large all scores " +
				"are",
		},
		turnsOption(),
	},
	// A model that was taught one pose knows which that is; one that was taught all loses nothing by it.
	suits: func(y space.Value) int {
		if _, ok := y.(classed); ok && len(y.Numbers()) > 1 {
			return 2
		}
		return 0
	},
	near: tied,
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		if len(decode.Outputs(s.Codec)) == 1 {
			if f, err := rowByRow(s, options, "select"); f != nil || err != nil {
				return f.orbit(err)
			}
		}
		return overElements(func(w *wrapper, options map[string]string) error {
			y, err := w.surest(w.answers, options)
			if err == nil {
				w.answer(y)
			}
			return err
		})(s, options)
	},
}

// surest is the answer, of several [n, samples, classes], that the model is surest of.
func (w *wrapper) surest(answers string, options map[string]string) (string, error) {
	switch {
	case !w.scores:
		return "", errors.New("the model answers no scores of classes, by which it could be sure of a pose")
	case w.shape[len(w.shape)-1] < 2 && options["score"] == "margin":
		return "", errors.New("the model has one class: take score=energy")
	}
	z := answers
	if w.probabilities {
		z = w.Op("Log", []string{w.Op("Max", []string{z, w.number(leastProbability)})})
	}
	score := w.margin
	if options["score"] == "energy" {
		score = w.energy
	}
	// [1, samples, 1]
	best := w.Op("ArgMax", []string{score(z)}, onnx.AttrInt("axis", 0), onnx.AttrInt("keepdims", 1))
	// The index is repeated for all classes.
	k := int64(w.shape[len(w.shape)-1])
	best = w.Op("Expand", []string{best, w.Ints(1, 1, k)})
	y := w.Op("GatherElements", []string{answers, best}, onnx.AttrInt("axis", 0))
	return w.reduce("ReduceSum", y, 0, 0), nil // over the one pose that is left
}

// margin is z₁ - log Σ e^z over all other classes.
func (w *wrapper) margin(z string) string {
	k := int64(w.shape[len(w.shape)-1])
	sorted := w.Ops("TopK", 2, []string{z, w.Ints(k)}, onnx.AttrInt("axis", 2), onnx.AttrInt("largest", 1),
		onnx.AttrInt("sorted", 1))[0]
	first := w.Op("Slice", []string{sorted, w.Ints(0), w.Ints(1), w.Ints(2)})
	rest := w.Op("Slice", []string{sorted, w.Ints(1), w.Ints(k), w.Ints(2)})
	return w.Op("Sub", []string{first, w.energy(rest)})
}

// energy is log Σ e^z, [n, samples, 1]. The largest is taken out first, so that nothing overflows.
func (w *wrapper) energy(z string) string {
	top := w.reduce("ReduceMax", z, 2, 1)
	sum := w.reduce("ReduceSum", w.Op("Exp", []string{w.Op("Sub", []string{z, top})}), 2, 1)
	return w.Op("Add", []string{top, w.Op("Log", []string{sum})})
}

// tied says how many inputs have two poses that the model is nearly as sure of: there the answer changes from that of
// one to that of the other. Which margins are small is said by their median.
func tied(s Source, options map[string]string, _ []space.Value, answers *Answers) (*Near, error) {
	if others := s.Endless != nil; others || options["n"] != every && options["n"] != "" {
		return nil, nil //nolint:nilnil,nilerr // the answers are at other elements than those that are asked
	}
	sure := marginOf
	if options["score"] == "energy" {
		sure = energyOf
	}
	samples := len(answers.Back[0])
	ahead := make([]float64, samples)
	out := &Near{Rule: "the surest pose is ahead of the next by less than 1 % of the median"}
	for i := range samples {
		var scores []float64
		for k := range answers.Back {
			z := slices.Clone(answers.Back[k][i])
			for j, p := range z {
				if s.Probabilities {
					z[j] = elementary.Log(max(p, leastProbability))
				}
			}
			scores = append(scores, sure(z))
		}
		slices.Sort(scores)
		last := len(scores) - 1
		if last < 1 {
			ahead[i] = math.Inf(1)
			continue
		}
		// The file computes in float32, where less than this is nothing.
		if ahead[i] = scores[last] - scores[last-1]; ahead[i] <= 0x1p-23*math.Abs(scores[last]) {
			out.Ties++
		}
	}
	sorted := slices.Sorted(slices.Values(ahead))
	limit := sorted[samples/2] / 100
	near := 0
	for _, x := range ahead {
		if x <= limit {
			near++
		}
	}
	out.Share = *proportion(near, samples)
	return out, nil
}

// energyOf is log Σ e^z.
func energyOf(z []float64) float64 {
	top, sum := slices.Max(z), 0.0
	for _, x := range z {
		sum += elementary.Exp(x - top)
	}
	return top + elementary.Log(sum)
}

// marginOf is the largest score less the energy of all others.
func marginOf(z []float64) float64 {
	sorted := slices.Sorted(slices.Values(z))
	last := len(sorted) - 1
	return sorted[last] - energyOf(sorted[:last])
}

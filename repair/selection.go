package repair

import (
	"errors"

	"nero/model/onnx"
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
	write: overElements(func(w *wrapper, options map[string]string) error {
		y, err := w.surest(w.answers, options)
		if err == nil {
			w.answer(y)
		}
		return err
	}),
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

package repair

import (
	"errors"

	"nero/data/space"
	"nero/model/onnx"
)

// average is the mean of the answers over the group, each moved back: the twirl (1/n) Σ ρ(g)⁻¹ f(ρ(g)x).
var average = Method{
	Name: "average",
	Doc:  "the mean of the answers at all elements, each moved back",
	Options: []Option{
		{
			Name: "of", Values: []string{"answers", "probabilities"},
			Doc: "what is averaged: answers as they are, or the probabilities that scores stand for",
		},
		{
			Name: "exact", Values: []string{"false", "true"},
			Doc: "sort before adding, so that invariant answers are equal bit for bit in all poses",
		},
		turnsOption(),
	},
	suits: func(y space.Value) int {
		if _, ok := y.(space.Linear); ok {
			return 1
		}
		return 0
	},
	write: overElements(func(w *wrapper, options map[string]string) error {
		y, err := w.mean(w.answers, options)
		if err == nil {
			w.answer(y)
		}
		return err
	}),
}

// mean is the mean of answers [n, samples, numbers] over the first axis.
func (w *wrapper) mean(y string, options map[string]string) (string, error) {
	probable := options["of"] == "probabilities"
	switch {
	case probable && !w.scores:
		return "", errors.New("of=probabilities: the model answers no scores of classes")
	case probable && !w.probabilities:
		y = w.Op("Softmax", []string{y}, onnx.AttrInt("axis", 2))
	}
	if options["exact"] == "true" {
		y = w.sorted(y)
	}
	y = w.reduce("ReduceMean", y, 0, 0)
	if probable && !w.probabilities {
		y = w.Op("Log", []string{w.Op("Max", []string{y, w.number(leastProbability)})})
	}
	return y, nil
}

// leastProbability keeps the logarithm of a probability finite.
const leastProbability = 1e-30

// sorted orders the answers of each sample along the orbit, number by number: a sum in that order does not know from
// which pose it began.
func (w *wrapper) sorted(y string) string {
	return w.Ops("TopK", 2, []string{y, w.Ints(int64(w.n))}, onnx.AttrInt("axis", 0), onnx.AttrInt("largest", 0),
		onnx.AttrInt("sorted", 1))[0]
}

package repair

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/rewrite"
	"nero/symmetry/group"
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
	averages: true,
	suits: func(y space.Value) int {
		if _, ok := y.(space.Linear); ok {
			return 1
		}
		return 0
	},
	write: func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		if len(decode.Outputs(s.Codec)) != 1 && s.Endless == nil {
			return averageRows(s, options)
		}
		return overElements(func(w *wrapper, options map[string]string) error {
			y, err := w.mean(w.answers, options)
			if err == nil {
				w.answer(y)
			}
			return err
		})(s, options)
	},
}

// averageRows averages over the elements of a group that turns and mirrors space: what a model reads and answers are
// rows, as of atoms, each of which moves by itself, so that samples may have different numbers of them.
func averageRows(s Source, options map[string]string) (*rewrite.Shell, string, error) {
	if options["n"] != "" && options["n"] != every {
		return nil, "", errors.New("n is of models with one output, of pictures")
	}
	motions, ok := group.AsSpatial(s.Group)
	if !ok || motions.Dim() != 3 {
		return nil, "", fmt.Errorf("%s answers with the outputs %q, which move row by row in space, and %s does more "+
			"or less than to turn and mirror that", s.Model.Name(), decode.Outputs(s.Codec), s.Group.Name())
	}
	feeds, err := moving(s)
	if err != nil {
		return nil, "", err
	}
	f := framing{
		s: s, options: map[string]string{"mask": auto, "by": "average", "of": options["of"]}, turns: 1,
		feeds: feeds,
	}
	f.options["exact"] = options["exact"]
	for _, e := range s.Elements {
		m, t := motions.Motion(e)
		if slices.ContainsFunc(t, func(x float64) bool { return x != 0 }) {
			return nil, "", fmt.Errorf("%s shifts space, and shifts have no mean", s.Group.Name())
		}
		f.ends = append(f.ends, [9]float64(m))
	}
	w, err := f.write("orbit")
	if err != nil {
		return nil, "", err
	}
	return w.Shell, fmt.Sprintf("%s, %d elements", s.Group.Name(), len(f.ends)), nil
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

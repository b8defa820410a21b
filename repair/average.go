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
		if f, err := rowByRow(s, options, "average"); f != nil || err != nil {
			return f.orbit(err)
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

// rowByRow are the elements of a group that turns and mirrors space as poses of what a model reads and answers, where
// that is rows, as of atoms, each of which moves by itself, so that samples may have different numbers of them. It is
// nil for other models, and an error for those of several outputs, of which nothing else can be made.
func rowByRow(s Source, options map[string]string, by string) (*framing, error) {
	several := len(decode.Outputs(s.Codec)) != 1
	turns := options["n"] != "" && options["n"] != every
	switch {
	case s.Endless != nil && !turns, turns && !several:
		return nil, nil //nolint:nilnil // it is refused, or of pictures
	case turns:
		return nil, errors.New("n is of models with one output, of pictures")
	}
	motions, ok := group.AsSpatial(s.Group)
	if !ok || motions.Dim() != 3 {
		if !several {
			return nil, nil //nolint:nilnil // its numbers move some other way
		}
		return nil, fmt.Errorf("%s answers with the outputs %q, which move row by row in space, and %s does more "+
			"or less than to turn and mirror that", s.Model.Name(), decode.Outputs(s.Codec), s.Group.Name())
	}
	feeds, err := moving(s)
	if err != nil {
		if several {
			return nil, err
		}
		return nil, nil //nolint:nilnil // they may move some other way
	}
	f := &framing{s: s, turns: 1, feeds: feeds, options: map[string]string{
		"mask": auto, "by": by, "of": options["of"], "exact": options["exact"], "score": options["score"],
	}}
	for _, e := range s.Elements {
		m, t := motions.Motion(e)
		if slices.ContainsFunc(t, func(x float64) bool { return x != 0 }) {
			return nil, fmt.Errorf("%s shifts space, and shifts have no mean", s.Group.Name())
		}
		f.ends = append(f.ends, [9]float64(m))
	}
	return f, nil
}

// orbit writes a model that is asked in the poses of all elements.
func (f *framing) orbit(err error) (*rewrite.Shell, string, error) {
	if err != nil {
		return nil, "", err
	}
	w, err := f.write("orbit")
	if err != nil {
		return nil, "", err
	}
	return w.Shell, fmt.Sprintf("%s, %d elements", f.s.Group.Name(), len(f.ends)), nil
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

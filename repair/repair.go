// Package repair writes models that have a symmetry which the model they are made of lacks: ordinary ONNX files of
// standard operators, that read and answer what the model does.
package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/data/split"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/rewrite"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// MetadataKey is where a repaired file says what was done to it.
const MetadataKey = rewrite.MetadataKey

// Source is a model to repair, and what it is claimed to be symmetric under.
type Source struct {
	Model *onnx.Model
	// Codec reads samples and answers as an audit of the model does.
	Codec decode.Codec
	Group group.Group
	// In and Out move samples and answers.
	In, Out action.Action
	// Sample is one of those that the model will read, and Answer what the model says to it: their sizes count, not
	// their numbers.
	Sample, Answer space.Value
	// Fit are the samples to learn from, where a method learns. What is learned from them is never reported on them:
	// nothing of the samples that methods are chosen by and reported on (package split) is here.
	Fit []space.Value
	// Sides are how many samples there are to learn from, to choose by and to report on, and Inside hands on, for at
	// most so many of a side, drawn by a seed and in order, the numbers of values of the model's graph, by their names,
	// and the class of the sample, -1 where nobody knows it. Inside is nil where the model cannot be looked into.
	Sides  map[split.Side]int
	Inside func(side split.Side, most int, values []string, each func(id string, v [][]float64, label int) error) error
	// Probabilities says that the model answers scores that sum to 1.
	Probabilities bool
	// Elements are those that the answers are taken at, the identity first; for methods that need all of the group.
	Elements []group.Element
	// Endless is why there are no elements, nil if there are.
	Endless error
	// Most is how many times a repaired model may be run for one answer; below 1 for any.
	Most int
	// Single says that the model reads a fixed number of samples at once, or mixes them: its body is then repeated for
	// every element, and not fed with all of them at once.
	Single bool
}

// Method is a way to make a model symmetric.
type Method struct {
	// Name as users say it.
	Name string
	// Doc is one sentence.
	Doc string
	// Options are what stands behind the name, with the values that may; the first is the default.
	Options []Option
	// suits says how well the method suits models that answer like this, for those who know nothing else of them: 0 if
	// it does not, else the method with the largest number is named. nil is 0.
	suits func(answer space.Value) int
	// predicted is the cost of a repaired model beside that of the model; nil for the number of elements.
	predicted func(s Source, options map[string]string) float64
	// near says how many of the samples are close to a place where the repaired model jumps though the model does not;
	// nil for methods that bring no such places. The answers are those of the model to the samples at all elements,
	// moved back.
	near func(s Source, options map[string]string, samples []space.Value, answers *Answers) (*Near, error)
	// crossings are pairs of inputs, made of the samples, that lie on the two sides of such a place, next to each
	// other; nil for methods that cannot name one.
	crossings func(s Source, options map[string]string, samples []space.Value) ([][2]space.Value, error)
	// averages says that the method takes a mean over all elements.
	averages bool
	// refits says that weights are learned anew from samples, so that the file is another model in part.
	refits bool
	// forces says what becomes of forces, beside the energy of which they are the gradient; "" for methods that keep
	// that.
	forces string
	// write writes the repaired model, and says over what it was made. The error is why the method does not fit.
	write func(s Source, options map[string]string) (*rewrite.Shell, string, error)
}

// Option is a choice within a method.
type Option struct {
	Name   string
	Values []string
	// Other is what else may be said, in a word such as INPUT; "" for nothing.
	Other string
	Doc   string
	// takes tells which other words may be said; nil for all.
	takes func(string) bool
}

// says are the values that may be given.
func (o Option) says() []string {
	if o.Other == "" {
		return o.Values
	}
	return append(slices.Clone(o.Values), o.Other)
}

func (o Option) admits(value string) bool {
	return slices.Contains(o.Values, value) ||
		o.Other != "" && value != "" && (o.takes == nil || o.takes(value))
}

// Methods are all that the program is built with.
func Methods() []Method {
	return []Method{average, selection, frame, pose, symmetrize, padding, size, moments}
}

// askable are the methods that may be asked for: those that are tried, and names that others have for them.
func askable() []Method { return append(Methods(), mds) }

// Asked is a method with its options, as "select" or "average:of=probabilities,exact=true".
type Asked struct {
	Method  Method
	Options map[string]string
}

// Parse reads what a user asks for.
func Parse(text string) (Asked, error) {
	name, rest, _ := strings.Cut(text, ":")
	all := askable()
	i := slices.IndexFunc(all, func(m Method) bool { return m.Name == name })
	if i < 0 {
		var names []string
		for _, m := range all {
			names = append(names, m.Name)
		}
		return Asked{}, fmt.Errorf("method %q: want one of %s", name, strings.Join(names, ", "))
	}
	a := Asked{Method: all[i], Options: map[string]string{}}
	for _, o := range a.Method.Options {
		a.Options[o.Name] = o.Values[0]
	}
	if rest == "" {
		return a, nil
	}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(part, "=")
		o := slices.IndexFunc(a.Method.Options, func(o Option) bool { return o.Name == key })
		if o < 0 {
			return Asked{}, fmt.Errorf("method %s has no option %q; it has %s", name, key, options(a.Method))
		}
		if !ok || !a.Method.Options[o].admits(value) {
			return Asked{}, fmt.Errorf("method %s, option %s: %q; want %s", name, key, value,
				strings.Join(a.Method.Options[o].says(), " or "))
		}
		a.Options[key] = value
	}
	return a, nil
}

func options(m Method) string {
	var names []string
	for _, o := range m.Options {
		names = append(names, o.Name+"="+strings.Join(o.says(), "|"))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// String is the method as [Parse] reads it, without what is so anyway.
func (a Asked) String() string {
	var parts []string
	for _, o := range a.Method.Options {
		if v := a.Options[o.Name]; v != o.Values[0] {
			parts = append(parts, o.Name+"="+v)
		}
	}
	if len(parts) == 0 {
		return a.Method.Name
	}
	return a.Method.Name + ":" + strings.Join(parts, ",")
}

// Suggest names the method that suits models with such answers best; false if none does.
func Suggest(answer space.Value) (name string, ok bool) {
	most := 0
	for _, m := range Methods() {
		if m.suits == nil {
			continue
		}
		if n := m.suits(answer); n > most {
			most, name = n, m.Name
		}
	}
	return name, most > 0
}

// Done says what was done to a file, "" for one that was not repaired.
func Done(m *onnx.Model) string { return m.Signature().Metadata[MetadataKey] }

// Predicted is what the method says that a repaired model costs, beside the model.
func (a Asked) Predicted(s Source) float64 {
	if a.Method.predicted == nil {
		return asks(s, a.Options)
	}
	return a.Method.predicted(s, a.Options)
}

// Near says how many of the samples are close to a place where the repaired model jumps; nil where the method brings
// none. The answers are those of the model to the samples at all elements, moved back.
func (a Asked) Near(s Source, samples []space.Value, answers *Answers) (*Near, error) {
	if a.Method.near == nil || answers.Bad != nil {
		return nil, nil //nolint:nilnil // there is none
	}
	return a.Method.near(s, a.Options, samples, answers)
}

// Crossings are pairs of inputs on the two sides of such places, made of the samples; none where the method knows none.
func (a Asked) Crossings(s Source, samples []space.Value) ([][2]space.Value, error) {
	if a.Method.crossings == nil {
		return nil, nil
	}
	return a.Method.crossings(s, a.Options, samples)
}

// Averages tells whether the method takes a mean over all elements.
func (a Asked) Averages() bool { return a.Method.averages }

// Refits tells whether the method learns weights anew from samples.
func (a Asked) Refits() bool { return a.Method.refits }

// Forces says what the method does to forces that are the gradient of an energy; "" if it keeps them that.
func (a Asked) Forces() string { return a.Method.forces }

// Form is how a file runs the model, as in [Bill].
func (a Asked) Form(s Source) string {
	if a.Predicted(s) == 1 {
		return "once"
	}
	if s.Single || !othersBySample(s, decode.Outputs(s.Codec)) {
		return "copies"
	}
	return "batch"
}

// Build writes the repaired model. The error is why the method does not fit the model; which method that is stands
// beside it, in a bill, and not in it.
func Build(s Source, asked Asked) (*onnx.Model, error) {
	if done := Done(s.Model); done != "" {
		return nil, fmt.Errorf("%s was repaired already (%s): repair the model that it was made "+
			"of", s.Model.Name(), done)
	}
	w, over, err := asked.Method.write(s, asked.Options)
	if err != nil {
		return nil, err
	}
	h := w.Header()
	h.MetadataProps = append(h.MetadataProps, &onnxpb.StringStringEntryProto{
		Key: new(MetadataKey), Value: new(fmt.Sprintf("%s over %s", asked, over)),
	})
	m, err := w.Model()
	if err != nil {
		return nil, fmt.Errorf("the repaired model: %w", err)
	}
	return m, nil
}

// overElements is a method that asks the model at all elements of a group, and makes one answer of what it says there.
func overElements(answer func(w *wrapper, options map[string]string) error) func(Source, map[string]string) (
	*rewrite.Shell, string, error,
) {
	return func(s Source, options map[string]string) (*rewrite.Shell, string, error) {
		if n := options["n"]; n != "" && n != every {
			var err error
			if s, err = equalTurns(s, n); err != nil {
				return nil, "", err
			}
		} else if s.Endless != nil {
			return nil, "", s.Endless
		}
		w, err := wrap(s)
		if err != nil {
			return nil, "", err
		}
		if err := answer(w, options); err != nil {
			return nil, "", err
		}
		return w.Shell, fmt.Sprintf("%s, %d elements", s.Group.Name(), w.n), nil
	}
}

// asks is how often a method over elements runs the model.
func asks(s Source, options map[string]string) float64 {
	if n, err := strconv.Atoi(options["n"]); err == nil {
		return float64(n)
	}
	return float64(len(s.Elements))
}

// once is the cost of a method whose file runs the model once.
func once(Source, map[string]string) float64 { return 1 }

// every asks for all elements of a group.
const every = "all"

// mostTurnsAsked is how many equal turns may be asked for.
const mostTurnsAsked = 360

// turnsOption is of methods that ask at all elements, for groups that have no end of them.
func turnsOption() Option {
	return Option{
		Name: "n", Values: []string{every}, Other: "N",
		takes: func(s string) bool { n, err := strconv.Atoi(s); return err == nil && n >= 2 && n <= mostTurnsAsked },
		Doc: "of a group of all turns of the plane, so many equal ones: what depends faster on the angle is left " +
			"over",
	}
}

// equalTurns asks at n equal turns of a group that is a circle.
func equalTurns(s Source, text string) (Source, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return s, err
	}
	if s.Most > 0 && n > s.Most {
		return s, fmt.Errorf("n=%d runs the model %d times, so that the repaired one costs %d times as much: raise "+
			"the "+
			"budget to %d", n, n, n, n)
	}
	g, chart := s.Group, s.Group.Chart()
	if len(chart) != 1 {
		return s, fmt.Errorf("n=%d: %s is no circle that could be divided into equal turns", n, g.Name())
	}
	if _, ends := g.(group.Finite); ends || !chart[0].Circle() || chart[0].Kind != group.KindTurn {
		return s, fmt.Errorf("n=%d: %s is no circle that could be divided into equal turns", n, g.Name())
	}
	step := group.Element{360 / float64(n)}
	s.Elements = []group.Element{g.Identity()}
	for k := 1; k < n; k++ {
		turn := group.Element{float64(k) * 360 / float64(n)}
		s.Elements = append(s.Elements, g.Mul(turn, g.Identity())) // as the chart has it
	}
	if back := g.Mul(step, s.Elements[n-1]); !(g.Dist(back, g.Identity()) <= 1e-9) {
		return s, fmt.Errorf("n=%d: %d turns of %s by %g degrees do not lead back", n, n, g.Name(), step[0])
	}
	return s, nil
}

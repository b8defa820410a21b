package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// textKind is texts, and bytes, which are fed as they are and whose answers are numbers or classes.
var textKind = kind{of: new(space.Text).Kind(), fed: &fed{forms: []form{{axes: "*"}}, words: true}}

// wordy fits texts to an input of texts, and refuses other inputs for texts and texts for other inputs.
func wordy(x onnx.Port, k *kind, batched bool) error {
	words := k.fed != nil && k.fed.words
	switch {
	case !words && x.DType == tensor.String:
		return fmt.Errorf("input %s reads texts, and the samples are %s; name given views that are texts with "+
			"data.views, or files as they are with input: {space: bytes}", x, k.of)
	case !words:
		return nil
	case x.DType != tensor.String:
		return fmt.Errorf("input %s reads numbers, and the samples are texts; name a model that reads texts, "+
			"which is an endpoint or a program with one input of type BYTES, or views that are files of pictures or "+
			"arrays", x)
	}
	declared := x.Sizes()
	if batched && len(declared) > 0 {
		declared = declared[1:]
	}
	if slices.ContainsFunc(declared, func(n int) bool { return n >= 0 && n != 1 }) {
		return fmt.Errorf("input %s reads several texts at once, and a sample is one; declare it with axes of length "+
			"1 "+
			"or -1", x)
	}
	return nil
}

// words lays out texts.
func (f *feed) words(batch []space.Value, rows int, batched bool) (tensor.Named, error) {
	var all []string
	for i, sample := range batch {
		v, err := f.value(sample)
		if err != nil {
			return tensor.Named{}, fmt.Errorf("sample %d of the batch %w", i, err)
		}
		text, ok := space.Content(v)
		if !ok {
			return tensor.Named{}, fmt.Errorf("sample %d of the batch is %s, want a text", i, kindOf(v))
		}
		all = append(all, text)
	}
	for len(all) < rows { // a fixed batch axis is filled up with the last sample
		all = append(all, all[len(all)-1])
	}
	shape := slices.Repeat([]int{1}, max(len(f.x.Shape), 1))
	if batched {
		shape[0] = rows
	}
	if !batched && len(f.x.Shape) == 0 {
		shape = nil
	}
	return tensor.Named{Name: f.x.Name, Tensor: tensor.OfStrings(all, shape...)}, nil
}

// single reads inputs of texts without a batch axis where the outputs have none: an input of shape [1] may be either.
func single(sig onnx.Signature, feeds []*feed) bool {
	words := slices.ContainsFunc(feeds, func(f *feed) bool { return f.k != nil && f.k.fed.words })
	return words && !slices.ContainsFunc(sig.Outputs, func(x onnx.Port) bool {
		return !x.Ranked || len(x.Shape) > 0 && (x.Shape[0].Free() || x.Shape[0].Size <= 1)
	})
}

// Other is the class of what is none of the words that an answer may be.
const Other = "something else"

// readWords makes classes of an output of texts.
func (a *answer) readWords() error {
	switch {
	case a.Kind != scoresKind.of:
		return fmt.Errorf("output %s holds texts, which are no %s; leave output.space out and name with data.classes "+
			"what "+
			"may be answered, or ask with nero repeat whether texts are the same", a.x, a.Kind)
	case len(a.Words) == 0:
		return fmt.Errorf("output %s holds texts, and nobody says which answers there are; name them with "+
			"data.classes, "+
			"give the objects labels, or ask with nero repeat whether texts are the same", a.x)
	}
	return nil
}

// said makes scores of texts: 1 for what was said. Spaces around it do not count.
func (a *answer) said(t tensor.Named, n, rows int) ([]space.Value, error) {
	words, err := t.Strings()
	if err != nil {
		return nil, fmt.Errorf("output %q: %w", t.Name, err)
	}
	if want := map[bool]int{true: rows, false: 1}[a.batched]; len(words) != want || n < 1 || n > want {
		return nil, fmt.Errorf("output %q holds %d texts, want %d: one for each sample", t.Name, len(words), want)
	}
	values := make([]space.Value, n)
	for i := range values {
		k := slices.Index(a.Words, strings.TrimSpace(words[i]))
		if k < 0 {
			k = len(a.Words)
		}
		s := &space.Scores{Val: make([]float64, len(a.Words)+1), Probabilities: true}
		s.Val[k] = 1
		values[i] = s
	}
	return values, nil
}

// errWords says that texts have no derivative.
var errWords = errors.New("an output of texts is no linear function")

// AnswerNames are what the classes of a codec are called where it makes them of texts, with [Other] at the end; nil for
// others.
func AnswerNames(c Codec) []string {
	r, ok := c.(*record)
	if !ok || len(r.answers) != 1 || !r.answers[0].wordy() {
		return nil
	}
	return append(slices.Clone(r.answers[0].Words), Other)
}

func (a *answer) wordy() bool { return a.x.DType == tensor.String }

package decode

import (
	"fmt"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// kind is all that this package knows of one kind of value: how it is fed to a model, and how it is read from one. What
// is nil is not done with that kind.
type kind struct {
	of space.Kind
	// makes is the kind of the values that are read, where that is another one; "" for the same.
	makes space.Kind
	// owned says that a study tells whether rows belong to nodes, to edges or to the sample.
	owned bool
	// fed is how a field of a record becomes an input.
	fed *fed
	// found reads values from outputs that it finds by itself.
	found func(sig onnx.Signature, out OutputSpec, p port, win [2]int) (outputs, error)
	// one reads values from one output; win is the height and width of what the model sees, -1 where nobody knows.
	one func(k *kind, x onnx.Port, out OutputSpec, p port, win [2]int) (outputs, error)
	// decoded are values that are made of an output's numbers.
	decoded *decoded
	// laid are values that are an output's numbers as they lie.
	laid *laid
}

// kinds are those that models are fed with or answer.
func kinds() []*kind {
	return []*kind{
		&scoresKind, &imageKind, &maskKind, &tensorKind, &boxesKind, &fieldKind, &framesKind, &rowsKind, &linksKind,
		&pairsKind, &signalKind, &volumeKind, &embeddingKind, &textKind,
	}
}

// kindFor is what is known of a kind, here or in a list of others; of what is in neither, nothing is done.
func kindFor(of space.Kind, more space.List) *kind {
	for _, k := range kinds() {
		if k.of == of {
			return k
		}
	}
	if i := more.Info(of); i != nil && i.Zero != nil {
		return plainly(i)
	}
	return &kind{of: of}
}

// plainly is a kind whose numbers are fed and answered as they lie, in the shape of the value's dims.
func plainly(i *space.Info) *kind {
	return &kind{
		of:  i.Kind,
		fed: &fed{forms: []form{{axes: "*"}}, floats: true},
		one: readDecoded,
		decoded: &decoded{
			ways: []string{raw}, usual: raw,
			spec: func(_ *decoder, s []int, o *space.Spec) { o.Shape = slices.Clone(s) },
			split: func(_ *decoder, val []float64, s []int, n int, what shaped) ([]space.Value, error) {
				return each(val, s, n, what, func(v []float64) (space.Value, error) {
					return i.Zero(slices.Clone(s)).With(v)
				})
			},
			raw: func(_ *decoder, v []float64, dims []int) ([]float64, []int, error) {
				return fill(v, slices.Clone(dims), dims...)
			},
		},
	}
}

// fed is how the numbers of a field become an input.
type fed struct {
	// the natural form first; none for pictures
	forms []form
	// pictures are fed by an encoder of their own, a sequence frame by frame.
	pictures, sequence bool
	// axes of a value, 0 for any number
	axes int
	// length of the first axis where all values have the same, 0 for any
	first int
	// nodes is how many axes, from the first on, count nodes: rows of zeros may be added to them.
	nodes int
	// whole says that one list holds all of a batch.
	whole bool
	// words says that it is texts, which inputs of texts take and no others.
	words bool
	// floats says that inputs of integers do not take it.
	floats bool
	// check refuses a value whose numbers contradict each other; nil for none.
	check func(space.Value) error
	// put writes a value into the bytes of an input without taking its numbers out of it; it says no where the element
	// type asks for that. nil for values whose numbers lie there.
	put func(dst []byte, d tensor.DType, v space.Value, swap bool) bool
	// have says what the data has, for messages; nil for the shape.
	have func(e extent, batched bool) string
	// remedy says what else could help where it does not fit; "" for the usual words.
	remedy func(f *feed, e extent) string
}

// decoded is how values are made of numbers.
type decoded struct {
	// words for output.decode
	ways []string
	// what is done if nobody says; "" goes by the axes
	usual string
	// batched tells whether the first axis of an output counts samples though that of the input does not; nil for no.
	batched func(shape []int) bool
	// fits refuses shapes of one sample that are none of the kind; nil for none.
	fits func(d *decoder, s []int, what string) error
	// spec fills in type and shape; s is nil where the file does not say.
	spec func(d *decoder, s []int, o *space.Spec)
	// split makes n values of the numbers of a batch.
	split func(d *decoder, val []float64, s []int, n int, what shaped) ([]space.Value, error)
	// classes is how many classes a value has, 0 if that is not known; nil for values without.
	classes func(d *decoder) int
	// plain is the word for the model's own numbers, "" for what was asked for.
	plain string
	// raw is the inverse of split for one value of these numbers and dims; nil where there is none.
	raw func(d *decoder, v []float64, dims []int) ([]float64, []int, error)
}

// laid is how values lie in the numbers of an output.
type laid struct {
	// axes of a value
	axes int
	// settle decides what the axes mean, where the file says which there are and where it does not; nil for nothing.
	settle func(a *answer, c *record, s []int)
	// padded tells whether there is a row for every padded row of the inputs; nil for never.
	padded func(a *answer) bool
	// extent is the shape of the value that one sample of an output makes.
	extent func(a *answer, s []int, what string) ([]int, error)
	// value makes the value of one sample; keep is the number of rows that stay, below 0 for all.
	value func(a *answer, v []float64, e []int, keep int) space.Value
	// unfold gives numbers as many axes as the model has, -1 where nobody knows.
	unfold func(a *answer, x []float64, e []int, declared int) ([]float64, []int, bool)
	// check refuses a value whose parts are unlike; nil for none.
	check func(space.Value) error
}

// Answers tells whether outputs of models that read pictures are read as values of a kind; more are kinds beside those
// of package space.
func Answers(k space.Kind, more space.List) bool {
	of := kindFor(k, more)
	return of.one != nil || of.found != nil
}

// each makes values one by one of the numbers of a batch; s is the shape of one sample.
func each(val []float64, s []int, n int, what shaped, one func(v []float64) (space.Value, error)) ([]space.Value,
	error,
) {
	per := tensor.Count(s)
	values := make([]space.Value, n)
	for i := range values {
		var err error
		if values[i], err = one(val[i*per : (i+1)*per : (i+1)*per]); err != nil {
			return nil, fmt.Errorf("%s, sample %d: %w", what, i, err)
		}
	}
	return values, nil
}

package document

import (
	"fmt"
	"math"
	"strconv"

	"nero/present/words"
)

// Forms lays the forms in which one model was exported side by side. All were audited with the same inputs, elements
// and seeds.
type Forms struct {
	// the first form, with whose answers those of the others are compared
	Of string `json:"of"`
	// inputs whose answers are compared
	Inputs int `json:"inputs"`
	// of the intervals
	Confidence Number `json:"confidence"`
	// the first one first
	Forms []Form `json:"forms"`
}

// Form is one form of a model.
type Form struct {
	Model   string  `json:"model"`
	Verdict Verdict `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION,enum=COULD_NOT_RUN"`
	// of its file; left out where it is not known
	Bytes int64 `json:"bytes,omitempty"`
	// set of elements with the worst verdict, and among such with the largest error
	Set  string `json:"set,omitempty"`
	Unit string `json:"unit,omitempty"`
	// mean over inputs of the largest error on that set
	Worst Interval `json:"largest_error"`
	// of that set
	Floor *Number `json:"floor,omitempty"`
	// from the first form; left out for the first, and where there are no answers
	Apart *Apart `json:"apart,omitempty"`
	// share of inputs of the same class as the first form says; left out where there are no classes
	Agree *Interval `json:"same_class,omitempty"`
	// why there is no verdict, or no answer to compare
	Error string `json:"error,omitempty"`
}

// Apart says how far the answers of a form to unmoved inputs are from those of the first, over the scale of the first
// form's outputs.
type Apart struct {
	// over inputs
	Mean Interval `json:"mean"`
	Most Number   `json:"most"`
	At   *Where   `json:"at,omitempty"`
	// inputs without a finite difference
	NonFinite int `json:"non_finite"`
}

// FormsHead heads the columns of the table of forms.
func FormsHead() []string {
	return []string{"form", "verdict", "error", "floor", "differs by", "most", "same class", "size"}
}

// Note says how to read the table of forms.
func (f *Forms) Note() string {
	return fmt.Sprintf("All forms were audited with the same inputs, elements and seeds. Error: mean over inputs of "+
		"the largest error, of the set of elements that fares worst; floor: what rounding or resampling alone do "+
		"there. Differs by: mean distance of the answers to the %s as they are from those of %s, over the scale of "+
		"its outputs, interval of %s; most: the largest of them.", words.Plural(f.Inputs, "input", "inputs"), f.Of,
		words.Percent(float64(f.Confidence)))
}

// Cells are the row of a form, in the order of [FormsHead]; "" where something does not apply.
func (f *Form) Cells() []string {
	out := []string{f.Model, words.Name(string(f.Verdict)), "", "", "", "", "", ""}
	if f.Set != "" {
		out[2] = f.Worst.Value.String()
	}
	if f.Floor != nil {
		out[3] = f.Floor.String()
	}
	if a := f.Apart; a != nil {
		out[4], out[5] = a.Mean.Limits(), a.Most.String()
		if a.NonFinite > 0 {
			out[5] = "not finite"
		}
	}
	if f.Agree != nil && !math.IsNaN(float64(f.Agree.Value)) {
		out[6] = words.Percent(float64(f.Agree.Value))
	}
	if f.Bytes > 0 {
		out[7] = bytesOf(f.Bytes)
	}
	return out
}

// bytesOf writes the size of a file.
func bytesOf(n int64) string {
	const kib = 1 << 10
	switch {
	case n >= kib*kib:
		return strconv.FormatFloat(float64(n)/(kib*kib), 'f', 1, 64) + " MiB"
	case n >= kib:
		return strconv.FormatFloat(float64(n)/kib, 'f', 1, 64) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " B"
}

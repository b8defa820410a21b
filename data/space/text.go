package space

import "nero/data/tensor"

// KindText is the name of this kind.
const KindText Kind = "text"

var textKind = Info{
	Kind: KindText, Words: true, Doc: "a text, or bytes, that a model behind an endpoint reads: never changed by a " +
		"little",
	Zero: func([]int) Value { return &Text{} },
}

// Text is what is said or asked in words, or a file as it is.
type Text struct {
	// UTF-8, unless it is the bytes of a file
	Content string
	// Views are texts that mean the same, as somebody has listed them, by the number of the view, this one among them;
	// nil for a text alone.
	Views []*Text
}

// Kind is [KindText].
func (*Text) Kind() Kind { return KindText }

// Parts are the bytes, a copy.
func (t *Text) Parts() []tensor.Named {
	x := tensor.New(tensor.Uint8, len(t.Content))
	copy(x.Raw, t.Content)
	return []tensor.Named{{Name: "bytes", Tensor: x}}
}

// Dims are none: texts of any length go through a model together.
func (*Text) Dims() []int { return nil }

// Form is "text", whatever its length.
func (*Text) Form() string { return string(KindText) }

// Clone is a copy.
func (t *Text) Clone() Value { return &Text{Content: t.Content, Views: t.Views} }

// Like is an empty text.
func (*Text) Like() Value { return &Text{} }

// Numbers are the bytes, for hashing: their differences mean nothing, see [Text.Apart].
func (t *Text) Numbers() []float64 {
	x := make([]float64, len(t.Content))
	for i := range x {
		x[i] = float64(t.Content[i])
	}
	return x
}

// With is refused: words do not change by a little.
func (t *Text) With([]float64) (Value, error) { return nil, fixed(t) }

// Bytes is 4 for each byte of the text and its views, no less than numbers would take.
func (t *Text) Bytes() int {
	n := 4 * len(t.Content)
	for _, v := range t.Views {
		n += 4 * len(v.Content)
	}
	return n
}

// Apart is 0 for the same text and 1 for another one; not ok for another kind.
func (t *Text) Apart(v Value) (share float64, ok bool) {
	o, ok := v.(*Text)
	if !ok {
		return 0, false
	}
	if t.Content != o.Content {
		return 1, true
	}
	return 0, true
}

// Listed are the texts that mean the same.
func (t *Text) Listed() []Value { return listed(t.Views) }

func (t *Text) among(views []Value) Value {
	return &Text{Content: t.Content, Views: only[*Text](views)}
}

// Content is what a text says; not ok for other values.
func Content(v Value) (text string, ok bool) {
	t, ok := v.(*Text)
	if !ok {
		return "", false
	}
	return t.Content, true
}

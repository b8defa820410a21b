package space

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// draws makes a value of every kind but records, with at least one number.
var draws = map[Kind]func(t *rapid.T) Value{
	KindImage: func(t *rapid.T) Value { return drawImage(t, side(t), side(t), side(t)) },
	KindMask: func(t *rapid.T) Value {
		h, w := side(t), side(t)
		return &Mask{H: h, W: w, Label: rapid.SliceOfN(rapid.Int32(), h*w, h*w).Draw(t, "labels")}
	},
	KindScores: func(t *rapid.T) Value {
		n := side(t)
		return &Scores{Val: drawFloats(t, n), Probabilities: rapid.Bool().Draw(t, "probabilities")}
	},
	KindTensor: func(t *rapid.T) Value {
		shape := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 4).Draw(t, "shape")
		n := 1
		for _, k := range shape {
			n *= k
		}
		return &Tensor{Shape: shape, Val: drawFloats(t, n)}
	},
	KindBoxes: func(t *rapid.T) Value {
		b := &Boxes{H: 8, W: 9, Seen: &Box{X2: 4, Y2: 4}}
		for range side(t) {
			x := drawFloats(t, 6)
			b.Items = append(b.Items, Box{
				X1: x[0], Y1: x[1], X2: x[2], Y2: x[3], Angle: x[4], Score: x[5],
				Label: int(rapid.Int32().Draw(t, "label")),
			})
		}
		return b
	},
	KindField: func(t *rapid.T) Value {
		h, w := side(t), side(t)
		return &Field{H: h, W: w, Val: drawFloats(t, 2*h*w)}
	},
	KindFrames: func(t *rapid.T) Value {
		f, c, h, w := &Frames{}, side(t), side(t), side(t)
		for range side(t) {
			f.Images = append(f.Images, drawImage(t, c, h, w))
		}
		return f
	},
	KindVolume: func(t *rapid.T) Value {
		c, d, h, w := side(t), side(t), side(t), side(t)
		return &Volume{C: c, D: d, H: h, W: w, Val: drawFloats(t, c*d*h*w)}
	},
	KindRows: func(t *rapid.T) Value {
		n, w := side(t), side(t)
		return &Rows{N: n, W: w, Val: drawFloats(t, n*w)}
	},
	KindLinks: func(t *rapid.T) Value {
		n := side(t)
		node := rapid.SliceOfN(rapid.Int32Range(0, 4), n, n)
		return &Links{Nodes: 5, From: node.Draw(t, "from"), To: node.Draw(t, "to")}
	},
	KindPairs: func(t *rapid.T) Value {
		n, w := side(t), side(t)
		return &Pairs{N: n, W: w, Val: drawFloats(t, n*n*w)}
	},
	KindText: func(t *rapid.T) Value { return &Text{Content: rapid.StringN(1, -1, 20).Draw(t, "text")} },
	KindSignal: func(t *rapid.T) Value {
		c, n := side(t), side(t)
		return &Signal{C: c, T: n, Rate: 16, Val: drawFloats(t, c*n)}
	},
}

// draw is a value of a kind. A record holds values of other kinds.
func draw(t *rapid.T, k Kind) Value {
	if k != KindRecord {
		return draws[k](t)
	}
	r := &Record{}
	for i, k := range []Kind{KindRows, KindLinks, KindImage, KindSignal} {
		r.Names, r.Values = append(r.Names, fmt.Sprint("field", i)), append(r.Values, draws[k](t))
	}
	return r
}

func side(t *rapid.T) int { return rapid.IntRange(1, 4).Draw(t, "side") }

func drawImage(t *rapid.T, c, h, w int) *Image {
	return &Image{C: c, H: h, W: w, Pix: drawFloats(t, c*h*w)}
}

// everyKind asks a question of values of every kind in the table.
func everyKind(t *testing.T, ask func(t *rapid.T, i *Info, v Value)) {
	t.Helper()
	for _, i := range Kinds() {
		t.Run(string(i.Kind), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { ask(t, i, draw(t, i.Kind)) })
		})
	}
}

// bits are numbers as they are stored: NaN equals itself and -0 is not 0.
func bits(x []float64) []uint64 {
	b := make([]uint64, len(x))
	for i, a := range x {
		b[i] = math.Float64bits(a)
	}
	return b
}

func TestKindsAreDocumentedOnce(t *testing.T) {
	seen := map[Kind]bool{}
	for _, i := range Kinds() {
		if i.Doc == "" || strings.HasSuffix(i.Doc, ".") || seen[i.Kind] {
			t.Errorf("%s is documented as %q", i.Kind, i.Doc)
		}
		if seen[i.Kind] = true; i.Kind.Info() != i {
			t.Errorf("%s is not found", i.Kind)
		}
	}
	if Kind("none").Info() != nil {
		t.Error("an unknown kind was found")
	}
}

func TestValuesAgreeWithTheTable(t *testing.T) {
	everyKind(t, func(t *rapid.T, i *Info, v Value) {
		if v.Kind() != i.Kind {
			t.Fatalf("%T is of kind %s, want %s", v, v.Kind(), i.Kind)
		}
		if _, linear := v.(Linear); linear != i.Linear {
			t.Fatalf("%T has an output: %t, the table says %t", v, linear, i.Linear)
		}
		if i.Zero == nil {
			return
		}
		z := i.Zero(v.Dims())
		if z.Kind() != i.Kind || slices.ContainsFunc(z.Numbers(), func(x float64) bool { return x != 0 }) {
			t.Fatalf("%+v is no zero", z)
		}
		if i.Linear && z.Form() != v.Form() {
			t.Fatalf("the zero of dims %v is %s, want %s", v.Dims(), z.Form(), v.Form())
		}
	})
}

func TestCloneSharesNoMemory(t *testing.T) {
	everyKind(t, func(t *rapid.T, _ *Info, v Value) {
		before := bits(v.Numbers())
		c := v.Clone()
		if !slices.Equal(bits(c.Numbers()), before) || c.Form() != v.Form() || reflect.TypeOf(c) != reflect.TypeOf(v) {
			t.Fatalf("%+v is no copy of %+v", c, v)
		}
		spoil(reflect.ValueOf(c))
		if !slices.Equal(bits(v.Numbers()), before) {
			t.Fatalf("a change of the copy shows in %+v", v)
		}
	})
}

// spoil changes all that can be reached from a value.
func spoil(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // what values are made of
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			spoil(f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Float64:
		v.SetFloat(v.Float() + 1.5)
	case reflect.Int32, reflect.Int:
		v.SetInt(v.Int() + 1)
	}
}

func TestLikeIsRoomOfTheSameForm(t *testing.T) {
	everyKind(t, func(t *rapid.T, i *Info, v Value) {
		room := v.Like()
		if room.Kind() != v.Kind() || room.Form() != v.Form() {
			t.Fatalf("%s is no room for %s", room.Form(), v.Form())
		}
		if i.Kind != KindBoxes && !slices.Equal(room.Dims(), v.Dims()) {
			t.Fatalf("dims %v, want %v", room.Dims(), v.Dims())
		}
		if slices.ContainsFunc(room.Numbers(), func(x float64) bool { return x != 0 }) {
			t.Fatalf("%+v is not empty", room)
		}
		before := bits(v.Numbers())
		spoil(reflect.ValueOf(room))
		if !slices.Equal(bits(v.Numbers()), before) {
			t.Fatal("the room shares memory with the value")
		}
	})
}

func TestWithOwnNumbersIsTheValue(t *testing.T) {
	everyKind(t, func(t *rapid.T, i *Info, v Value) {
		w, err := v.With(slices.Clone(v.Numbers()))
		if i.Kind == KindMask || i.Kind == KindBoxes || i.Kind == KindText {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Fatalf("labels were exchanged: %v, %v", w, err)
			}
			return
		}
		if err != nil || !slices.Equal(bits(w.Numbers()), bits(v.Numbers())) || w.Form() != v.Form() {
			t.Fatalf("%+v with its own numbers is %+v, %v", v, w, err)
		}
		if _, err := v.With(append(slices.Clone(v.Numbers()), 1)); err == nil && i.Kind != KindLinks {
			t.Fatal("a number too many was taken")
		}
	})
}

func TestNumbersAreThoseOfTheParts(t *testing.T) {
	everyKind(t, func(t *rapid.T, _ *Info, v Value) {
		var all []float64
		for _, p := range v.Parts() {
			x, err := p.Float64s(nil)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, x...)
		}
		if !slices.Equal(bits(all), bits(v.Numbers())) {
			t.Fatalf("numbers %v, parts %v", v.Numbers(), all)
		}
		if v.Bytes() < 4*len(all) {
			t.Fatalf("%d numbers in %d bytes", len(all), v.Bytes())
		}
	})
}

func TestCountedValuesConsistOfTheirRows(t *testing.T) {
	everyKind(t, func(t *rapid.T, _ *Info, v Value) {
		c, ok := v.(Counted)
		if !ok {
			return
		}
		var all []float64
		for i := range c.Count() {
			all = append(all, c.Row(i)...)
		}
		x, y := bits(all), bits(v.Numbers())
		slices.Sort(x) // a signal stands channel by channel, not moment by moment
		slices.Sort(y)
		if !slices.Equal(x, y) {
			t.Fatalf("rows %v of %+v", all, v)
		}
	})
}

func TestApartCountsWhatDiffers(t *testing.T) {
	everyKind(t, func(t *rapid.T, _ *Info, v Value) {
		a, ok := v.(interface{ Apart(v Value) (float64, bool) })
		if !ok {
			return
		}
		if d, ok := a.Apart(v.Clone()); !ok || d != 0 {
			t.Fatalf("a copy is %g apart, %t", d, ok)
		}
		if d, ok := a.Apart(v.Like()); !ok || d < 0 || d > 1 {
			t.Fatalf("zeros are %g apart, %t", d, ok)
		}
		if _, ok := a.Apart(NewRows(1, 1)); ok {
			t.Fatal("another kind was compared")
		}
	})
}

func TestStyleForgetsLengths(t *testing.T) {
	for _, c := range []struct {
		v           Value
		form, style string
	}{
		{NewImage(1, 28, 27), "image 1x28x27", "image 1x28x27"},
		{&Mask{H: 2, W: 3}, "mask 2x3", "mask 2x3"},
		{NewRows(21, 3), "rows 21x3", "rows *x3"},
		{NewRows(1, 3), "rows 1x3", "rows 1x3"},
		{NewPairs(7, 1), "pairs 7x7x1", "pairs *x*x1"},
		{NewSignal(1, 9, 2), "signal 1x9", "signal 1x*"},
		{&Links{Nodes: 3, From: []int32{1}, To: []int32{2}}, "links 1 of 3 nodes", "links"},
		{NewFrames(2, 1, 4, 5), "frames 2x1x4x5", "frames *x1x4x5"},
		{&Text{Content: "how long?"}, "text", "text"},
		{&Frames{}, "frames frames[0 0 0 0]", "frames frames[0 0 0 0]"},
		{
			&Record{Names: []string{"a"}, Values: []Value{NewRows(2, 3)}}, "record {a: rows 2x3}",
			"record {a: rows *x3}",
		},
	} {
		if c.v.Form() != c.form || Style(c.v) != c.style {
			t.Errorf("%q in the style %q, want %q and %q", c.v.Form(), Style(c.v), c.form, c.style)
		}
	}
}

func TestLeavesGoThroughRecords(t *testing.T) {
	inner := &Record{Names: []string{"b", "c"}, Values: []Value{NewRows(1, 1), NewRows(2, 1)}}
	r := &Record{Names: []string{"a", "r"}, Values: []Value{NewRows(3, 1), inner}}
	var names []string
	n := 0
	for name, v := range Leaves(r) {
		names, n = append(names, name), n+v.Dims()[0]
	}
	if !slices.Equal(names, []string{"a", "r", "r"}) || n != 6 {
		t.Errorf("leaves %v with %d rows", names, n)
	}
	for name, v := range Leaves(inner.Values[0]) {
		if name != "" || v != inner.Values[0] {
			t.Errorf("the leaf of a value is %q %v", name, v)
		}
	}
}

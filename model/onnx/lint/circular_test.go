package lint_test

import (
	"fmt"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/lint"
)

// around pads a map by one place with what lies at the other side, as circular padding is exported: slices of both ends
// beside the map, along columns and then along rows.
func around(b *onnx.Builder, x string) string {
	for _, axis := range []int64{3, 2} {
		end := func(from, to int64) string {
			return b.Op("Slice", []string{x, b.Ints(from), b.Ints(to), b.Ints(axis), b.Ints(1)})
		}
		x = b.Op("Concat", []string{end(-1, 1<<40), x, end(0, 1)}, onnx.AttrInt("axis", axis))
	}
	return x
}

// What a stride loses is lost there, and not at the slices of a circular padding before it: those lack shifts that the
// whole model has, so that the convolution makes up for them. A convolution whose border is zero after it is named as
// well as before it, and slices that nothing makes up for are named themselves.
func TestCircularPaddingLosesNothing(t *testing.T) {
	for _, c := range []struct {
		strides []int64 // 1 and 2 pad around, 0 pads with zeros, -1 takes a window out
		want    []int   // layers that lose shifts
		cyclic  [2]int
	}{
		{[]int64{1, 1}, nil, [2]int{1, 1}},
		{[]int64{2}, []int{0}, [2]int{2, 2}},
		{[]int64{1, 2}, []int{1}, [2]int{2, 2}},
		{[]int64{2, 1}, []int{0}, [2]int{2, 2}},
		{[]int64{1, 2, 2}, []int{1}, [2]int{4, 4}},
		{[]int64{1, 0}, []int{1}, [2]int{}},
		{[]int64{-1, 1}, []int{0}, [2]int{}},
	} {
		b, x := picture(16, 16)
		name := func(k int) {
			n := b.Graph().GetNode()
			n[len(n)-1].Name = new(fmt.Sprint("layer", k))
		}
		for k, s := range c.strides {
			pads := onnx.AttrInts("pads", 0, 0, 0, 0)
			switch s {
			case -1:
				x = b.Op("Slice", []string{x, b.Ints(2, 2), b.Ints(1<<40, 1<<40), b.Ints(2, 3), b.Ints(1, 1)})
				name(k)
				continue
			case 0:
				s, pads = 1, onnx.AttrInts("pads", 1, 1, 1, 1)
			default:
				x = around(b, x)
			}
			x = b.Op("Conv", []string{x, b.Const(tensor.New(tensor.Float32, 1, 1, 3, 3))}, pads,
				onnx.AttrInts("strides", s, s))
			name(k)
		}
		p := predict(t, b, x, lint.Options{})
		var want, got []string
		for _, k := range c.want {
			want = append(want, fmt.Sprint("layer", k))
		}
		for _, l := range p.Losses {
			if l.Level == lint.LevelRoll {
				got = append(got, l.Node)
			}
		}
		if !p.Shifts.CyclicKnown || p.Shifts.Cyclic != c.cyclic || !slices.Equal(got, want) {
			t.Errorf("%v: shifts by %v hold, want %v; lost at %v, want %v", c.strides, p.Shifts.Cyclic, c.cyclic, got,
				want)
		}
		turns := []string{}
		for _, l := range p.Losses {
			if l.Level == lint.LevelStructure && l.Op != "Conv" && c.strides[0] >= 0 {
				turns = append(turns, l.Node)
			}
		}
		if len(turns) > 0 {
			t.Errorf("%v: turns and mirrors are lost at %v", c.strides, turns)
		}
	}
}

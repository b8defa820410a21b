package layers_test

import (
	"fmt"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/model/onnx"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// around pads a map by one place on each side with what lies at the other, as an exported circular padding does: slices
// of both ends beside the map, along rows and then along columns.
func (n *net) around(name string) *net {
	for k, axis := range []int64{2, 3} {
		ends := func(what string, from, to int64) string {
			return n.name(name+what+[]string{"_rows", "_columns"}[k], n.b.Op("Slice", []string{
				n.x, n.b.Ints(from), n.b.Ints(to), n.b.Ints(axis), n.b.Ints(1),
			}))
		}
		last, first := ends("_last", -1, 1<<40), ends("_first", 0, 1)
		n.x = n.name(name+[]string{"_rows", "_columns"}[k], n.b.Op("Concat", []string{last, n.x, first},
			onnx.AttrInt("axis", axis)))
	}
	return n
}

// valid is a convolution of what was padded.
func (n *net) valid(name string, out int, stride int64) *net {
	w := make([]float64, out*n.c*9)
	for i := range w {
		w[i] = n.r.NormFloat64() / 3
	}
	n.x = n.name(name, n.b.Op("Conv", []string{
		n.x, n.stored([]int{out, n.c, 3, 3}, func(i int) float64 { return w[i] }),
	}, onnx.AttrInts("strides", stride, stride)))
	n.c, n.h = out, n.h/int(stride)
	return n
}

// A circular padding breaks no shift around; the stride of the convolution after it does, and is named, whatever comes
// between, and whichever convolution of several it is. A padded map of one channel moves in no way, and none is made up
// for it.
func TestCircularPaddingIsNoPlace(t *testing.T) {
	g := parse(t, "T(2,Z)")
	elements := []group.Element{{1, 0}, {0, 1}, {-4, -2}, {2, 3}, {0, -3}}
	fixture := func(bend string, strides ...int64) audittest.Fixture {
		n := newNet(5)
		for k, s := range strides {
			id := string(rune('1' + k))
			n.around("pad"+id).valid("conv"+id, 4, s)
			if bend != "" {
				n.op("bend"+id, bend)
			}
		}
		m := n.head("head", 3).model(t, 3)
		plan := audittest.Plan(t, pictures(t, g, action.Options{Border: action.Circular}, 1, side, side),
			action.Trivial{G: g}, elements...)
		s := &audit.Subject{
			Name: fmt.Sprint(bend, strides), Plan: plan, N: 16, Sample: audittest.Pictures(16, side, side, 7), Seed: 1,
		}
		audittest.Graph(t, s, m, audittest.Images(t, m, 255, vector, 1, side, side))
		f := audittest.Fixture{Subject: s}
		f.Options.Params = map[string]float64{"layers.elements": 5}
		return f
	}
	for _, bend := range []string{"Relu", ""} {
		silent(t, fixture(bend, 1, 1))
		for place, strides := range map[string][]int64{"conv1": {2}, "conv2": {1, 2}} {
			found, r := look(t, fixture(bend, strides...))
			if len(found.Findings) != 1 || found.Findings[0].Location != place {
				show(t, r)
				t.Errorf("%s after %v: %+v", bend, strides, found.Findings)
			}
			for _, c := range found.Clues {
				if c.Holds && c.Location != "" && c.Location != place {
					t.Errorf("%s after %v: %s is about %s: %s", bend, strides, c.Name, c.Location, c.Text)
				}
			}
			for _, w := range r.Rows {
				if strings.HasPrefix(w.Name, "pad") && !strings.HasPrefix(w.Status, "untestable") {
					t.Errorf("%s after %v: %s moves as %q: %s", bend, strides, w.Name, w.Rep, w.Status)
				}
			}
		}
	}
}

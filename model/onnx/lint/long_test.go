package lint

import (
	"testing"

	"nero/data/tensor"
	"nero/internal/slow"
	"nero/model/onnx"
	"nero/model/onnx/facts"
)

// A value that is too large to compare is not followed, with the reason, and not compared for minutes.
func TestTooMuchIsNotFollowed(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		side     int64
		followed bool
	}{{3000, false}, {16, true}} {
		b := onnx.NewBuilder(17)
		x := b.Input("x", tensor.Float32, 1, 1, 8, 8)
		for range 2 {
			x = b.Op("Resize", []string{x, "", "", b.Ints(1, 1, c.side, c.side)}, onnx.AttrString("mode", "nearest"))
			x = b.Op("Mul", []string{x, x})
		}
		b.Output(x, tensor.Float32, 1, 1, int(c.side), int(c.side))
		m, err := b.Model()
		if err != nil {
			t.Fatal(err)
		}
		f, err := facts.Infer(m, map[string][]int{"x": {1, 1, 8, 8}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Predict(t.Context(), f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for _, u := range p.Unknown {
			said = said || u.Reason == tooLong
		}
		if p.StructureKnown != c.followed || said == c.followed {
			t.Errorf("side %d: followed is %v, said not to be %v: %+v", c.side, p.StructureKnown, said, p.Unknown)
		}
	}
}

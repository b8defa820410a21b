package facts_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/facts"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestInspectGolden(t *testing.T) {
	for _, name := range []string{"cnn", "turns", "residual", "unet", "attention", "points"} {
		t.Run(name, func(t *testing.T) {
			r, err := facts.Inspect(read(t, name), facts.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r.Model = filepath.ToSlash(strings.TrimPrefix(r.Model, models+"/"))
			var b bytes.Buffer
			if err := r.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "inspect-"+name+".txt")
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("differs from %s (-update writes it anew):\n%s", golden, b.String())
			}
			j, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var back facts.Report
			if err := json.Unmarshal(j, &back); err != nil || back.MACs != r.MACs ||
				len(back.Symmetry.Notes) != len(r.Symmetry.Notes) {
				t.Errorf("JSON does not come back: %v", err)
			}
		})
	}
}

func TestInspectFreeAxes(t *testing.T) {
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "N", 3, "H", "W")
	y := b.Op("Conv", []string{x, b.Const(tensor.New(tensor.Float32, 8, 3, 3, 3))}, onnx.AttrInts("strides", 2, 2))
	b.Output(y, tensor.Float32, "N", 8, "h", "w")
	m, err := b.Model()
	if err != nil {
		t.Fatal(err)
	}
	r, err := facts.Inspect(m, facts.Options{})
	if err != nil || r.Inputs != nil || !strings.Contains(r.WithoutShapes, "axis 2 (H) is free") ||
		r.Parameters != 216 {
		t.Errorf("%+v %v, want parameters and the reason why there is no more", r, err)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil ||
		!strings.Contains(text.String(),
			"unknown: input x float32[N 3 H W]: axis 2 (H) is free; give a shape, such as --shape 1,3,224,224\n") ||
		!strings.Contains(text.String(),
			"by structure\n  not analyzed, because it needs the size of the picture: input x float32[N 3 H W]: axis "+
				"2 (H) is free; give a shape, such as --shape 1,3,224,224\n") {
		t.Errorf("%s%v", text.String(), err)
	}
	for _, shape := range [][]int{{3, 9, 9}, {1, 3, 9, 9}, {2, 3, 9, 9}} {
		// 4 x 4 outputs of 8 channels, each of 3*3*3 products
		if r, err = facts.Inspect(m, facts.Options{Shape: shape}); err != nil || r.MACs != 16*8*27 {
			t.Errorf("%v: %d multiply-adds per sample, %v", shape, r.MACs, err)
		}
	}
	for _, shape := range [][]int{{1, 9, 9}, {9, 9}, {1, 1, 1, 1, 1}} {
		if _, err := facts.Inspect(m, facts.Options{Shape: shape}); err == nil ||
			!strings.Contains(err.Error(), "does not fit; a shape that fits is --shape 1,3,224,224") {
			t.Errorf("%v is taken: %v", shape, err)
		}
	}
}

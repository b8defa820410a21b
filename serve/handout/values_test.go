package handout

import (
	"math"
	"slices"
	"testing"

	"nero/data/space"
	"nero/run/probe"
	"nero/serve/api"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Values under each other are those that went in, field by field.
func TestStacked(t *testing.T) {
	at := func(k float64) space.Value {
		return &space.Record{
			Names: []string{"points", "bonds", "sound", "mask"},
			Values: []space.Value{
				&space.Rows{N: 2, W: 1, Val: []float64{k, 10 * k}},
				&space.Links{Nodes: 2, From: []int32{0}, To: []int32{int32(k)}},
				&space.Signal{C: 1, T: 1, Rate: 100, Val: []float64{-k}}, &space.Mask{},
			},
		}
	}
	meta := map[string]string{}
	ts, ok := stacked("input", []space.Value{at(1), at(2)}, meta)
	if !ok || len(ts) != 3 {
		t.Fatalf("%d arrays, %v", len(ts), ok)
	}
	for k, want := range []struct {
		name  string
		shape []int
	}{{"input/points", []int{2, 2, 1}}, {"input/bonds", []int{2, 2, 1}}, {"input/sound", []int{2, 1, 1}}} {
		if ts[k].name != want.name || !slices.Equal(ts[k].shape, want.shape) {
			t.Errorf("array %d is %s of %v, want %s of %v", k, ts[k].name, ts[k].shape, want.name, want.shape)
		}
	}
	if got := floatsIn(ts[0].data); !slices.Equal(got, []float32{1, 10, 2, 20}) {
		t.Errorf("points %v", got)
	}
	if meta["input.kind"] != "record" || meta["input.fields"] != "points\nbonds\nsound" ||
		meta["input/sound.rate"] != "100" || meta["input/bonds.nodes"] != "2" {
		t.Errorf("texts %v", meta)
	}
	if _, ok := stacked("input",
		[]space.Value{&space.Rows{N: 1, W: 1, Val: []float64{1}}, &space.Rows{N: 2, W: 1, Val: []float64{1, 2}}},
		meta); ok {
		t.Error("rows of two sizes are stacked")
	}
}

func floatsIn(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(uint32(b[4*i]) | uint32(b[4*i+1])<<8 | uint32(b[4*i+2])<<16 | uint32(
			b[4*i+3])<<24)
	}
	return out
}

// Of inputs that are no pictures some are kept, the identity among them; under motions of space that alone.
func TestThin(t *testing.T) {
	so3, err := catalog.Parse("SO(3)")
	if err != nil {
		t.Fatal(err)
	}
	inputs := make([]*probe.Input, 40)
	at := make([]int32, 40)
	for k := range inputs {
		inputs[k], at[k] = &probe.Input{Value: space.NewRows(2500, 2)}, int32(2*k)
	}
	b := &builder{doc: api.Run{Orbit: api.Group{Identity: 6, Chart: []group.Axis{{Name: "element"}}}}}
	in, where := b.thin(inputs, at)
	if len(in) != len(where) || len(in) < 10 || len(in) > 11 || !slices.Contains(where, 6) {
		t.Errorf("%d inputs at %v, want ten and the identity", len(in), where)
	}
	b.doc.Orbit.Chart = so3.Chart()
	if in, where = b.thin(inputs, at); len(in) != 1 || where[0] != 6 {
		t.Errorf("%d inputs at %v, want that of the identity", len(in), where)
	}
	pictures := []*probe.Input{{Value: space.NewImage(1, 2, 2)}, {Value: space.NewImage(1, 2, 2)}}
	if in, _ = b.thin(pictures, []int32{0, 1}); len(in) != 2 {
		t.Error("pictures were left out")
	}
}

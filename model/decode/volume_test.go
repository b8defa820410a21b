package decode_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
)

func volumeSpec(c, d, h, w int) space.Spec {
	return space.Spec{Name: "volume", Kind: space.KindVolume, Shape: []int{c, d, h, w}}
}

// TestVolumeLayouts: number ((c·D+z)·H+y)·W+x of a volume stands where each layout has channel c, slice z, row y and
// column x, on the way in and on the way out.
func TestVolumeLayouts(t *testing.T) {
	const c, d, h, w = 2, 3, 4, 5
	v := space.NewVolume(c, d, h, w)
	for i := range v.Val {
		v.Val[i] = float64(i)
	}
	for name, l := range map[string]struct {
		shape []int
		at    func(k, z, y, x int) int
	}{
		"NCDHW": {[]int{-1, c, d, h, w}, func(k, z, y, x int) int { return ((k*d+z)*h+y)*w + x }},
		"NDHWC": {[]int{-1, d, h, w, c}, func(k, z, y, x int) int { return ((z*h+y)*w+x)*c + k }},
		"CDHW":  {[]int{c, d, h, w}, func(k, z, y, x int) int { return ((k*d+z)*h+y)*w + x }},
		"free":  {[]int{-1, -1, -1, -1, -1}, func(k, z, y, x int) int { return ((k*d+z)*h+y)*w + x }},
	} {
		codec := record(t, model(ports(out("x", tensor.Float32, l.shape...)),
			ports(out("y", tensor.Float32, l.shape...))),
			decode.RecordSpec{
				Sample: volumeSpec(c, d, h, w), Outputs: []decode.OutputField{{Kind: space.KindVolume}},
			})
		if got := codec.In(); got.Kind != space.KindVolume || !slices.Equal(got.Shape, []int{c, d, h, w}) {
			t.Errorf("%s: in is %+v", name, got)
		}
		fed, err := codec.Encode([]space.Value{v}, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := floats(t, fed[0])
		for i := range v.Val {
			k, z, y, col := i/(d*h*w), i/(h*w)%d, i/w%h, i%w
			if x[l.at(k, z, y, col)] != float64(i) {
				t.Fatalf("%s: voxel %d %d %d of channel %d stands elsewhere", name, z, y, col, k)
			}
		}
		back, err := codec.Decode([]tensor.Named{named("y", x, fed[0].Shape...)}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := as[*space.Volume](back[0]); got.Form() != v.Form() || !slices.Equal(got.Val, v.Val) {
			t.Errorf("%s: %s comes back", name, got.Form())
		}
		raw, err := decode.Raw(codec, back)
		if err != nil || !slices.Equal(floats(t, raw), x) {
			t.Errorf("%s: raw is not the inverse: %v", name, err)
		}
	}
}

func TestVolumesOfOneChannel(t *testing.T) {
	codec := record(t, model(ports(out("x", tensor.Float32, -1, 2, 3, 4)),
		ports(out("y", tensor.Float32, -1, 2, 3, 4))),
		decode.RecordSpec{
			Sample: volumeSpec(1, 2, 3, 4), Outputs: []decode.OutputField{{Kind: space.KindVolume}},
		})
	v := space.NewVolume(1, 2, 3, 4)
	fed, err := codec.Encode([]space.Value{v, v}, nil)
	if err != nil || !slices.Equal(fed[0].Shape, []int{2, 2, 3, 4}) {
		t.Fatalf("%+v, %v", fed, err)
	}
	if got := codec.Out(); !slices.Equal(got.Shape, []int{1, 2, 3, 4}) {
		t.Errorf("out %+v", got)
	}
}

func TestVolumesThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		shape []int
		kind  tensor.DType
		want  string
	}{
		{[]int{-1, 3, 8, 8, 8}, tensor.Float32, "the data has volumes of 1 channels and 8 x 8 x 8 voxels"},
		{[]int{-1, 1, 8, 8}, tensor.Float32, "reads [N, channels, depth, height, width]"},
		{[]int{-1, 1, 8, 8, 8}, tensor.Int64, "want floating-point numbers"},
	} {
		_, err := decode.NewRecord(model(ports(out("x", c.kind, c.shape...)), ports(out("y", tensor.Float32, -1, 2))),
			decode.RecordSpec{Sample: volumeSpec(1, 8, 8, 8), Outputs: []decode.OutputField{{Kind: space.KindScores}}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.shape, err)
		}
	}
}

// TestVolumeAdjoint: <Lv, g> = <v, L'g> for every layout.
func TestVolumeAdjoint(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		shape := rapid.SampledFrom([][]int{{-1, 2, 2, 3, 2}, {-1, 2, 3, 2, 2}}).Draw(t, "shape")
		spec := volumeSpec(2, 2, 3, 2)
		codec, err := decode.NewRecord(model(ports(out("x", tensor.Float32, shape...)),
			ports(out("y", tensor.Float32, -1, 2))),
			decode.RecordSpec{Sample: spec, Outputs: []decode.OutputField{{Kind: space.KindScores}}})
		if err != nil {
			t.Fatal(err)
		}
		draw := func(label string) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(-3, 3), 24, 24).Draw(t, label)
		}
		v := &space.Volume{C: 2, D: 2, H: 3, W: 2, Val: draw("v")}
		lin, err := decode.Linear(codec, []space.Value{v})
		if err != nil {
			t.Fatal(err)
		}
		g := draw("g")
		back, err := decode.Adjoint(codec, []tensor.Named{named(lin[0].Name, g, lin[0].Shape...)}, []space.Value{v})
		if err != nil {
			t.Fatal(err)
		}
		left, right := dot(numbers(t, lin[0].Tensor), g), dot(back[0].Numbers(), v.Val)
		if !(math.Abs(left-right) < 1e-9) {
			t.Fatalf("<Lv, g> = %g, <v, L'g> = %g", left, right)
		}
	})
}

package metric_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/measure/metric"
)

func mask(labels ...int32) *space.Mask { return &space.Mask{H: 1, W: len(labels), Label: labels} }

// valueOf is a metric of a mask against its truth.
func valueOf(t *testing.T, name string, got, want space.Value) float64 {
	t.Helper()
	m, err := metric.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return m.Measure(metric.Case{At: got, Truth: want, Label: -1})
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-15 || math.IsNaN(a) && math.IsNaN(b) }

// The values are counted by hand: of the truth 0 0 0 1 1 2 and the answer 0 0 1 1 1 1 the classes share 2 of 3, 2 of 4
// and 0 of 1 pixels, and void pixels are none.
func TestPixelsOfOne(t *testing.T) {
	const v = space.Void
	nan := math.NaN()
	got, want := mask(0, 0, 1, 1, 1, 1, 7), mask(0, 0, 0, 1, 1, 2, v)
	for name, value := range map[string]float64{
		"class_iou:0":       2.0 / 3,
		"class_iou:1":       2.0 / 4,
		"class_iou:2":       0,
		"class_iou:3":       nan,
		"class_iou:7":       nan,
		"class_iou:1:thing": 2.0 / 4,
		"class_dice:0":      4.0 / 5,
		"class_dice:1":      4.0 / 6,
		"class_dice:2":      0,
		"miou":              (2.0/3 + 2.0/4 + 0) / 3,
		"mean_dice":         (4.0/5 + 4.0/6 + 0) / 3,
		"pixel_accuracy":    4.0 / 6,
		"class_accuracy":    (2.0/3 + 1 + 0) / 3,
	} {
		if x := valueOf(t, name, got, want); !near(x, value) {
			t.Errorf("%s is %v, want %v", name, x, value)
		}
	}
	for name, c := range map[string][2]space.Value{
		"another size":     {mask(0), mask(0, 0)},
		"no truth":         {mask(0), nil},
		"no class":         {mask(-1), mask(0)},
		"nothing but void": {mask(0), mask(v)},
	} {
		for _, m := range []string{"miou", "mean_dice", "pixel_accuracy", "class_accuracy", "class_iou:0"} {
			if x := valueOf(t, m, c[0], c[1]); !math.IsNaN(x) {
				t.Errorf("%s: %s is %v", name, m, x)
			}
		}
	}
	if x := valueOf(t, "miou", mask(-1, 3), mask(v, 3)); x != 1 {
		t.Errorf("a pixel without a class where nobody looks: %v", x)
	}
	if x := valueOf(t, "miou", mask(1000, 0, 1_000_000), mask(1000, 0, 1_000_000)); x != 1 {
		t.Errorf("large class numbers: %v", x)
	}
}

// Counts are summed over samples before anything is divided, and a resample draws a sample as often as it is counted.
func TestPixelsPooled(t *testing.T) {
	pairs := [][2]*space.Mask{
		{mask(0, 0, 1, 1), mask(0, 1, 1, 1)}, // class 0: 1 of 2, class 1: 2 of 3
		{mask(0, 2), mask(0, 0)},             // class 0: 1 of 2, class 2: 0 of 1
		{mask(1), mask(1)},                   // class 1: 1 of 1
	}
	var e []metric.Evidence
	for _, p := range pairs {
		e = append(e, metric.Evidence{Pixels: metric.PixelsOf(metric.Case{At: p[0], Truth: p[1]}), Label: -1})
	}
	for name, want := range map[string]float64{
		"miou":           (2.0/4 + 3.0/4 + 0) / 3,
		"class_iou:0":    2.0 / 4,
		"class_iou:1":    3.0 / 4,
		"class_iou:2":    0,
		"class_iou:5":    math.NaN(),
		"class_dice:1":   6.0 / 7,
		"mean_dice":      (4.0/6 + 6.0/7 + 0) / 3,
		"pixel_accuracy": 5.0 / 7,
		"class_accuracy": (2.0/3 + 3.0/4) / 2,
	} {
		m, err := metric.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if x := m.Pooled(e); !near(x, want) {
			t.Errorf("%s is %v, want %v", name, x, want)
		}
		of := m.Resampler(e)
		for _, count := range [][]int{{1, 1, 1}, {2, 0, 1}, {0, 3, 0}, {0, 0, 0}} {
			var drawn []metric.Evidence
			for i, n := range count {
				drawn = append(drawn, slices.Repeat(e[i:i+1], n)...)
			}
			if x, y := of(count), m.Pooled(drawn); !near(x, y) {
				t.Errorf("%s of the draw %v is %v, of the same samples %v", name, count, x, y)
			}
		}
	}
	e[1].Pixels = metric.PixelsOf(metric.Case{At: mask(-1), Truth: mask(0)})
	if x := metric.MaskIoU.Pooled(e); !math.IsNaN(x) {
		t.Errorf("with an answer without a class: %v", x)
	}
	if x := metric.MaskIoU.Resampler(e)([]int{1, 0, 1}); math.IsNaN(x) {
		t.Error("a draw without that sample has no value")
	}
}

func TestClassAccuracyOfScores(t *testing.T) {
	e := []metric.Evidence{{Value: 1, Label: 0}, {Value: 1, Label: 0}, {Value: 0, Label: 0}, {Value: 0, Label: 4}}
	m := metric.ClassAccuracy
	if x := m.Pooled(e); !near(x, 1.0/3) {
		t.Errorf("%v, want (2/3 + 0)/2", x)
	}
	if x := m.Resampler(e)([]int{1, 0, 1, 2}); !near(x, 1.0/4) {
		t.Errorf("%v of a resample, want (1/2 + 0)/2", x)
	}
	e[3].Value = math.NaN()
	if x := m.Pooled(e); !math.IsNaN(x) {
		t.Errorf("%v with a value that is none", x)
	}
	if x := m.Measure(metric.Case{Got: &space.Scores{Val: []float64{1, 3}}, Label: 1}); x != 1 {
		t.Errorf("of one sample %v", x)
	}
}

func TestEffectiveInvariance(t *testing.T) {
	p := func(v ...float64) *space.Scores { return &space.Scores{Val: v, Probabilities: true} }
	for _, c := range []struct {
		got, want space.Value
		value     float64
	}{
		{p(0.64, 0.36), p(0.81, 0.19), 0.72},
		{p(0.36, 0.64), p(0.81, 0.19), 0},
		{p(1, 0), p(1, 0), 1},
		{&space.Scores{Val: []float64{1, 0}}, p(1, 0), math.NaN()},
		{p(1, 0), p(1, 0, 0), math.NaN()},
		{p(math.NaN(), 0), p(1, 0), math.NaN()},
	} {
		if x := metric.EffectiveInvariance.Measure(metric.Case{Got: c.got, Want: c.want}); !near(x, c.value) {
			t.Errorf("%v, want %v", x, c.value)
		}
	}
}

func TestWorstOfOrbit(t *testing.T) {
	m, err := metric.Find("worst:accuracy")
	if err != nil {
		t.Fatal(err)
	}
	if !m.Round || !m.Binary || m.Worst([]float32{1, 0, 1}) != 0 || m.Worst([]float32{1, 1}) != 1 {
		t.Errorf("%+v", m)
	}
	nan := float32(math.NaN())
	if x := m.Worst([]float32{0, nan}); !math.IsNaN(x) {
		t.Errorf("with a value that is none the worst is %v", x)
	}
	if m, err = metric.Find("worst:relative"); err != nil || m.Worst([]float32{1, 3, 2}) != 3 {
		t.Errorf("%v, %+v", err, m)
	}
	if m, err = metric.Find("worst:accuracy@consensus"); err != nil || m.Ref != metric.Consensus {
		t.Errorf("%v, %+v", err, m)
	}
	if m, err = metric.Find("worst:forces.rmse"); err != nil || m.Port != "forces" {
		t.Errorf("%v, %+v", err, m)
	}
	for name, want := range map[string]string{
		"worst:miou":           "computed of all samples together",
		"worst:nothing":        "unknown metric",
		"worst:worst:accuracy": "no sample has a worst value",
		"miou@self":            "take mean_iou or pixel_agreement",
		"seg.miou":             "boxes or pixels of all samples",
		"class_iou:x":          "unknown metric",
		"class_iou:-1":         "unknown metric",
	} {
		if _, err := metric.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if k := metric.ClassOf("road_sign", []string{"sky", "road sign"}); k != 1 {
		t.Errorf("class %d", k)
	}
	if m := metric.ClassIoU.ByClass(1, "road sign"); m.Name != "class_iou:1:road_sign" ||
		!strings.HasPrefix(m.Doc, "of class 1 (road sign): ") {
		t.Errorf("%s: %s", m.Name, m.Doc)
	}
}

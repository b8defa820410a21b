package shelf

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"nero/data/space"
	"nero/measure/metric"
)

// TestSharedMasks holds the page's IoU of masks to that of the metrics: both read the same cases.
func TestSharedMasks(t *testing.T) {
	type maskCase struct {
		Got  []int32    `json:"got"`
		Want []int32    `json:"want"`
		IoU  []*float64 `json:"iou"`
		Mean *float64   `json:"mean"`
	}
	number := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	r := rand.New(rand.NewPCG(1, 1))
	var cases []maskCase
	for k := range 16 {
		c := maskCase{Got: make([]int32, 12), Want: make([]int32, 12)}
		for i := range c.Got {
			c.Got[i], c.Want[i] = int32(r.IntN(3)), int32(r.IntN(3))
			if r.IntN(6) == 0 {
				c.Want[i] = space.Void
			}
		}
		switch k {
		case 1: // a pixel without a class
			c.Got[0], c.Want[0] = -1, 1
		case 2: // the same where the truth is void
			c.Got[0], c.Want[0] = -1, space.Void
		case 3: // right
			c.Got = append([]int32{}, c.Want...)
			for i, l := range c.Got {
				c.Got[i] = max(l, 0)
			}
		case 4: // nothing counts
			for i := range c.Want {
				c.Want[i] = space.Void
			}
		}
		of := metric.Case{
			At:    &space.Mask{H: 3, W: 4, Label: c.Got},
			Truth: &space.Mask{H: 3, W: 4, Label: c.Want},
		}
		for class := range 4 {
			c.IoU = append(c.IoU, number(metric.ClassIoU.ByClass(class, "").Measure(of)))
		}
		c.Mean = number(metric.MaskIoU.Measure(of))
		cases = append(cases, c)
	}
	got, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "web", "testdata", "masks.json")
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got)+"\n" {
		t.Errorf("%s holds other cases; run go test ./serve/shelf -run TestSharedMasks -update and look at them", file)
	}
}

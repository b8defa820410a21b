package probe

import (
	"errors"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/run/eval"
)

// values are samples whose values are given; nil cannot be read.
type values []space.Value

func (v values) Len() int { return len(v) }

func (v values) Labels() []int { return nil }

func (v values) Files() []string { return nil }

func (v values) Info() dataset.Info { return dataset.Info{} }

func (v values) IDs() []string { return make([]string, len(v)) }

func (v values) Sample(i int) (dataset.Sample, error) {
	if v[i] == nil {
		return dataset.Sample{}, errors.New("torn")
	}
	return dataset.Sample{Label: -1, Value: v[i]}, nil
}

// What has a portrait is asked of the values: no list of kinds says it.
func TestPictured(t *testing.T) {
	rows := func(w int, declared string) space.Value {
		return &space.Rows{N: 2, W: w, Val: make([]float64, 2*w), Type: declared}
	}
	for name, c := range map[string]struct {
		of   values
		want bool
	}{
		"image":                    {values{space.NewImage(1, 4, 4)}, true},
		"one that cannot be read":  {values{nil, space.NewImage(1, 4, 4)}, true},
		"points":                   {values{rows(3, "positions")}, true},
		"features":                 {values{rows(5, "")}, false},
		"three numbers, no places": {values{rows(3, "features")}, false},
		"a record with points": {values{&space.Record{
			Names: []string{"species", "positions"}, Values: []space.Value{rows(1, ""), rows(3, "positions")},
		}}, true},
		"nothing that can be read": {values{nil, nil}, false},
		"no samples":               {nil, false},
	} {
		if got := pictured(&eval.Evaluation{Data: c.of}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

package metric_test

import (
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/measure/metric"
)

// Every usual metric is known and reads the outputs that it is usual for, whatever is given.
func TestUsual(t *testing.T) {
	kinds := []space.Kind{
		space.KindScores, space.KindImage, space.KindTensor, space.KindMask, space.KindBoxes, space.KindField,
		space.KindRows, space.KindPairs, space.KindSignal, space.KindFrames,
	}
	for i := range 8 {
		g := metric.Given{Labeled: i&1 > 0, Normalized: i&2 > 0, Keyed: i&4 > 0}
		for _, k := range kinds {
			names := metric.List(metric.Builtin()).Usual(space.Spec{Kind: k}, g)
			for _, name := range names {
				m, err := metric.Find(name)
				if err != nil || !m.Understands(k) || (m.Normalized && !g.Normalized) ||
					(m.Ref == metric.Target && !g.Labeled) {
					t.Errorf("%s, %+v: %s: %v", k, g, name, err)
				}
			}
			record := space.Spec{Kind: space.KindRecord, Fields: []space.Spec{{Name: "a", Kind: k}}}
			if of := metric.List(metric.Builtin()).Usual(record, g); len(of) != len(names) || of[0] != "a."+names[0] ||
				slices.Contains(of, "") {
				t.Errorf("%s as a field: %q, alone %q", k, of, names)
			}
		}
	}
}

// Of a vector that is declared to be an embedding, what it is beside other vectors is usual as well.
func TestUsualOfFeatures(t *testing.T) {
	vector := space.Spec{Kind: space.KindTensor, Shape: []int{64}}
	all := metric.List(metric.Builtin())
	if got := strings.Join(all.Usual(vector, metric.Given{}), " "); got != "relative absolute" {
		t.Errorf("of a vector: %s", got)
	}
	vector.Features = true
	got := strings.Join(all.Usual(vector, metric.Given{}), " ")
	if got != "relative absolute feature_ratio feature_cosine" {
		t.Errorf("of an embedding: %s", got)
	}
}

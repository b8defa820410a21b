package metric_test

import (
	"slices"
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

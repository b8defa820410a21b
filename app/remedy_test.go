package app

import (
	"testing"

	"nero/data/space"
)

// Axes that a file leaves free have no size, and those of large answers are not made in full.
func TestSampleOfFreeAxes(t *testing.T) {
	for _, shape := range [][]int{{-1, 0, 3}, {1 << 40}, {}} {
		v := sampleOf(space.Spec{Kind: space.KindTensor, Shape: shape})
		if v == nil || len(v.Dims()) != len(shape) || len(v.Numbers()) > 8 {
			t.Errorf("%v: %v", shape, v)
		}
	}
	for kind, shape := range map[space.Kind][]int{
		space.KindScores: {-1}, space.KindImage: {3, -1, -1}, space.KindFrames: {-1, 3, 8, 8}, space.KindRows: {-1, 3},
	} {
		if v := sampleOf(space.Spec{Kind: kind, Shape: shape}); v == nil || v.Kind() != kind {
			t.Errorf("%s: %v", kind, v)
		}
	}
	if v := sampleOf(space.Spec{Kind: space.KindRecord, Shape: []int{2, 3}}); v != nil {
		t.Errorf("a record has no zero by its shape: %v", v)
	}
}

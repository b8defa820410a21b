package handout

import (
	"encoding/binary"
	"math"
	"testing"

	"nero/run/job"
)

// TestFound holds the words of boxes against what they stand for.
func TestFound(t *testing.T) {
	all := [][][]job.Detection{
		{
			{
				{X1: -3.25, Y1: 0, X2: 127.96875, Y2: 4000, Angle: -90, Score: 0.5, Label: -1},
				{Score: 2},
				{Score: 0.2, Label: 7},
				{Score: 0.1},
			},
			{},
		},
		nil,
	}
	ts := found(all, 2)
	if got, want := string(ts[0].data), "\x04\x00\xff\xff"; ts[0].name != "counts" || got != want {
		t.Errorf("%s %q, want %q", ts[0].name, got, want)
	}
	word := func(m, e, k, i int) float64 {
		return float64(binary.LittleEndian.Uint16(ts[1].data[2*(((m*2+e)*mostFound+k)*boxNumbers+i):]))
	}
	const furthest = math.MaxUint16/16. - boxShift // beyond it coordinates stay there
	for i, want := range []float64{-3.25, 0, 128, furthest} {
		if got := word(0, 0, 0, i)/boxSteps - boxShift; math.Abs(got-want) > 1./32 {
			t.Errorf("coordinate %d is %v, want %v", i, got, want)
		}
	}
	if a, s, l := 360*word(0, 0, 0, 4)/65535, word(0, 0, 0, 5)/65535, word(0, 0, 0, 6); math.Abs(a-270) > 0.01 ||
		math.Abs(s-0.5) > 1e-4 || l != 65535 {
		t.Errorf("angle %v, score %v, class %v", a, s, l)
	}
	if word(0, 0, 1, 5) != 65535 || word(0, 0, 2, 6) != 7 || word(0, 1, 0, 0) != 0 ||
		len(ts[1].data) != 2*2*2*mostFound*boxNumbers {
		t.Errorf("other boxes, or %d bytes", len(ts[1].data))
	}
}

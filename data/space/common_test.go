package space

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCommonCutsToWhatBothKnow(t *testing.T) {
	a, b := NewSignal(2, 6, 10), NewSignal(2, 6, 10)
	for i := range a.Val {
		a.Val[i], b.Val[i] = float64(i), float64(100+i)
	}
	if x, y := Common(a, b); x != Value(a) || y != Value(b) {
		t.Error("signals that are known wholly were cut")
	}
	a.Lo, a.Hi = 2, 6
	b.Lo, b.Hi = 0, 5
	x, y := Common(&Record{Names: []string{"p"}, Values: []Value{a}}, &Record{Names: []string{"p"}, Values: []Value{b}})
	got, want := signalOf(t, x), signalOf(t, y)
	if got.T != 3 || want.T != 3 || got.Val[0] != 2 || got.Val[3] != 8 || want.Val[0] != 102 || want.Val[5] != 110 {
		t.Errorf("cut to %+v and %+v", got, want)
	}
	a.Lo, a.Hi = 5, 6
	if x, _ := Common(a, b); signalOf(t, x).T != 0 {
		t.Errorf("what nobody knows was kept: %+v", x)
	}
}

// signalOf is a signal, or the first field of a record.
func signalOf(t *testing.T, v Value) *Signal {
	t.Helper()
	if r, ok := v.(*Record); ok {
		v = r.Values[0]
	}
	s, ok := v.(*Signal)
	if !ok {
		t.Fatalf("%T is no signal", v)
	}
	return s
}

// A disturbance of a small mask is of less than a pixel: it is one pixel as often as that says.
func TestDisturbedShare(t *testing.T) {
	m := &Mask{H: 12, W: 12, Label: make([]int32, 144)}
	r := rand.New(rand.NewPCG(1, 1))
	order := make([]float64, len(m.Label))
	for i := range order {
		order[i] = r.NormFloat64()
	}
	for _, share := range []float64{1e-3, 1e-2, 0.1} {
		const n = 4000
		var mean float64
		for range n {
			c := share * r.NormFloat64()
			d, ok := m.Apart(m.Disturbed(c, order))
			if !ok {
				t.Fatal("another form")
			}
			if whole := math.Abs(c) * 144; d*144 < math.Floor(whole)-1e-9 || d*144 > math.Floor(whole)+1+1e-9 {
				t.Fatalf("%g pixels for %g", d*144, whole)
			}
			mean += d / n
			if e, _ := m.Apart(m.Disturbed(c, order)); e != d {
				t.Fatal("the same share gives another mask")
			}
		}
		// E|c| of a normal law, and the spread of a mean of n counts
		want := share * math.Sqrt(2/math.Pi)
		if math.Abs(mean-want) > 5*math.Sqrt((want/144+share*share)/n) {
			t.Errorf("share %g: mean %g, want %g", share, mean, want)
		}
	}
}

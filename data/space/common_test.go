package space

import "testing"

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

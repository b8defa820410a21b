package audit

import (
	"math"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
)

func row(x ...float64) space.Value { return &space.Tensor{Shape: []int{len(x)}, Val: x} }

// Answers are told apart by all of the input, and what was asked for longest ago goes first.
func TestRoomOfAnswers(t *testing.T) {
	size := row(1).Bytes() + 256 // of one answer with its books
	a := newAnswers(4 * size)
	if a.find(a.digest(row(1))) != nil {
		t.Error("an answer nobody gave")
	}
	for i := range 4 {
		a.keep(a.digest(row(float64(i))), row(float64(10*i)))
	}
	if a.find(a.digest(row(0))) != nil {
		t.Error("an answer before it is known that answers repeat")
	}
	a.repeat = true
	have := func(x float64) bool {
		y := a.find(a.digest(row(x)))
		if y != nil && y.Numbers()[0] != 10*x {
			t.Errorf("the answer to %g is %g", x, y.Numbers()[0])
		}
		return y != nil
	}
	if !have(0) || !have(3) {
		t.Error("answers are lost while there is room")
	}
	a.keep(a.digest(row(0)), row(7)) // the first stays
	a.keep(a.digest(row(4)), row(40))
	if !have(0) || have(1) || !have(2) || !have(3) || !have(4) {
		t.Error("the one asked for longest ago does not go first")
	}
	a.keep(a.digest(row(5)), row(make([]float64, 4*size)...))
	if have(5) || !have(4) {
		t.Error("one answer takes all the room")
	}
	block := make([]float64, 128) // the digest is made of blocks of as many
	for _, other := range []space.Value{
		row(math.Copysign(0, -1)), row(0, 0), row(block...), row(append(block, 0)...),
		&space.Tensor{Shape: []int{1, 1}, Val: []float64{0}}, &space.Image{C: 1, H: 1, W: 1, Pix: []float64{0}},
	} {
		if a.digest(other) == a.digest(row(0)) {
			t.Errorf("%s has the digest of another", other.Form())
		}
	}
	if a.digest(row(block...)) == a.digest(row(append(block, 0)...)) {
		t.Error("a number at the end changes no digest")
	}
}

// Samples beyond the room are decoded each time they are asked for.
func TestRoomOfSamples(t *testing.T) {
	read := 0
	at := once(func(i int) (dataset.Sample, error) {
		read++
		return dataset.Sample{Value: row(float64(i)), Target: row(1)}, nil
	}, 40)
	for range 3 {
		for i := range 4 {
			if x, err := at(i); err != nil || x.Value.Numbers()[0] != float64(i) {
				t.Fatalf("sample %d is %v, %v", i, x.Value, err)
			}
		}
	}
	if want := 4 + 2*2; read != want {
		t.Errorf("read %d times, want %d: two fit", read, want)
	}
}

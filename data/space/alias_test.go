package space

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A value written in another way is nearest in the numbers that it is compared with, whatever they are, and its flat
// numbers are the same.
func TestNearest(t *testing.T) {
	number := rapid.Float64Range(-3, 3)
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]string{TypeBoxes, TypeQuaternions, TypeBoxesQuaternion}).Draw(t, "type")
		n := rapid.IntRange(1, 3).Draw(t, "rows")
		w := map[string]int{
			TypeBoxes: 7, TypeQuaternions: 4 * rapid.IntRange(1, 2).Draw(t, "of a row"), TypeBoxesQuaternion: 10,
		}[typ]
		v := &Rows{N: n, W: w, Val: rapid.SliceOfN(number, n*w, n*w).Draw(t, "numbers"), Type: typ}
		other := v.Clone().(*Rows) //nolint:errcheck // of itself
		for i := range n {
			switch row := other.Row(i); typ {
			case TypeBoxes:
				row[6] += 2 * math.Pi * float64(rapid.IntRange(-4, 4).Draw(t, "turns"))
			case TypeBoxesQuaternion:
				if rapid.Bool().Draw(t, "sign") {
					negate(row[6:])
				}
			default:
				for k := 0; k < w; k += 4 {
					if rapid.Bool().Draw(t, "sign") {
						negate(row[k : k+4])
					}
				}
			}
		}
		apart := func(x, y Value) float64 {
			a, b := x.Numbers(), y.Numbers()
			d := 0.0
			for i := range a {
				d = max(d, math.Abs(a[i]-b[i]))
			}
			return d
		}
		for _, to := range []Value{v, &Signal{C: 1, T: 1, Val: []float64{0}}} {
			before := slices.Clone(other.Val)
			near := Nearest(other, to)
			if !slices.Equal(before, other.Val) {
				t.Fatal("the argument was changed")
			}
			if to == v && apart(near, v) > 1e-13 {
				t.Fatalf("%v is nearest to %v as %v", other.Val, v.Val, near.Numbers())
			}
			if to != v && near != Value(other) {
				t.Fatal("a value of another form was written anew")
			}
		}
		if d := apart(Flat(other), Flat(v)); d > 1e-13 {
			t.Fatalf("flat numbers are %g apart", d)
		}
		bare := Bare(other)
		if Nearest(bare, Bare(v)) != bare || Aliased(bare) || !Aliased(other) {
			t.Fatal("numbers without a type have one way of writing")
		}
		r, s := &Record{Names: []string{"x"}, Values: []Value{other}}, &Record{Names: []string{"x"}, Values: []Value{v}}
		if d := apart(Nearest(r, s), s); d > 1e-13 || !Aliased(r) {
			t.Fatalf("a field is %g apart", d)
		}
	})
}

// Flat numbers of what is nearly the same lie as far apart as the numbers themselves.
func TestFlatDistances(t *testing.T) {
	for _, typ := range []string{TypeBoxes, TypeQuaternions} {
		x := map[string][]float64{TypeBoxes: {1, 2, 3, 4, 5, 6, 3.1}, TypeQuaternions: {0.5, -0.5, 0.5, -0.5}}[typ]
		d := map[string][]float64{TypeBoxes: {0, 0, 0, 0, 0, 0, 1}, TypeQuaternions: {0.5, 0.5, 0.5, 0.5}}[typ]
		y := slices.Clone(x)
		const h = 1e-4
		for i := range y {
			y[i] += h * d[i]
		}
		a, b := Flat(&Rows{N: 1, W: len(x), Val: x, Type: typ}).Numbers(),
			Flat(&Rows{N: 1, W: len(y), Val: y, Type: typ}).Numbers()
		var square float64
		for i := range a {
			square += (a[i] - b[i]) * (a[i] - b[i])
		}
		if got := math.Sqrt(square); math.Abs(got/h-1) > 1e-3 {
			t.Errorf("%s: a step of %g is one of %g", typ, h, got)
		}
	}
}

// A change of a quaternion is that of its negative with the other sign; changes of headings stay.
func TestCarry(t *testing.T) {
	q := &Rows{N: 2, W: 4, Val: []float64{1, 0, 0, 0, 0, 1, 0, 0}, Type: TypeQuaternions}
	p := &Rows{N: 2, W: 4, Val: []float64{-0.9, 0.1, 0, 0, 0, 0.9, 0, 0.1}, Type: TypeQuaternions}
	d := &Rows{N: 2, W: 4, Val: []float64{1, 2, 3, 4, 5, 6, 7, 8}}
	if got := Carry(p, q, d).Numbers(); !slices.Equal(got, []float64{-1, -2, -3, -4, 5, 6, 7, 8}) {
		t.Errorf("carried to %v", got)
	}
	box := func(x ...float64) *Rows {
		return &Rows{N: 1, W: 10, Val: append([]float64{1, 2, 3, 4, 5, 6}, x...), Type: TypeBoxesQuaternion}
	}
	if got := Carry(box(-1, 0, 0, 0), box(1, 0, 0, 0), box(1, 2, 3, 4)).Numbers(); !slices.Equal(got,
		[]float64{1, 2, 3, 4, 5, 6, -1, -2, -3, -4}) {
		t.Errorf("of a box carried to %v", got)
	}
	b := &Rows{N: 1, W: 7, Val: []float64{0, 0, 0, 1, 1, 1, 6.2}, Type: TypeBoxes}
	c := &Rows{N: 1, W: 7, Val: []float64{0, 0, 0, 1, 1, 1, -0.1}, Type: TypeBoxes}
	e := &Rows{N: 1, W: 7, Val: []float64{1, 2, 3, 4, 5, 6, 7}}
	if got := Carry(b, c, e); got != Value(e) {
		t.Errorf("carried to %v", got)
	}
}

package action_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// turns are the elements of C4 and the matrices by which they turn (u, v), with the cosines of a computer.
func turns() (elements []group.Element, numbers []float64) {
	for _, deg := range []float64{180, 0, 90, 270} {
		sin, cos := math.Sincos(deg * math.Pi / 180)
		elements, numbers = append(elements, group.Element{deg}), append(numbers, cos, -sin, sin, cos)
	}
	return elements, numbers
}

func TestListed(t *testing.T) {
	c4, err := catalog.Parse("C4")
	if err != nil {
		t.Fatal(err)
	}
	e, m := turns()
	l, err := action.NewListed(c4, "matrices", 2, e, m)
	if err != nil {
		t.Fatal(err)
	}
	if s := l.Stretch(); s > 1e-12 {
		t.Errorf("turns stretch by %g", s)
	}
	a, err := action.NewTensor(c4, space.Spec{Name: "y", Kind: space.KindTensor, Shape: []int{4}}, action.Options{},
		l.Representation)
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Apply(group.Element{90}, &space.Tensor{Shape: []int{4}, Val: []float64{1, 2, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	exact := a.Exact(group.Element{90})
	x, ok := got.(*space.Tensor)
	if want := [4]float64{-2, 1, -4, 3}; !ok || [4]float64(x.Val) != want || !exact {
		t.Errorf("%v, exact %v, want %v, exactly", got, exact, want)
	}
	scaled, err := action.NewListed(c4, "matrices", 1, []group.Element{{0}}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scaled.Matrix(group.Element{90}); err == nil || !strings.Contains(err.Error(), "no matrix for 90°") {
		t.Errorf("an element that is not there: %v", err)
	}
	for want, change := range map[string]func(){
		"ρ(gh) is not ρ(g)ρ(h)":           func() { m[8], m[9], m[10], m[11] = 0, 1, 1, 0 },
		"identity is not the unit matrix": func() { m[4] = 2 },
		"matrix of 270° is not finite":    func() { m[12] = math.NaN() },
		"elements 0 and 1 are both 180°":  func() { e[1] = group.Element{180} },
		"no matrix for the identity":      func() { e, m = e[2:], m[8:] },
		"4 numbers each, and there are":   func() { m = m[1:] },
		"element 2":                       func() { e[2] = group.Element{1, 2} },
	} {
		e, m = turns()
		change()
		if _, err := action.NewListed(c4, "matrices", 2, e, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A representation need not be orthogonal: a shear of C2 is one.
func TestListedStretch(t *testing.T) {
	c2, err := catalog.Parse("C2")
	if err != nil {
		t.Fatal(err)
	}
	l, err := action.NewListed(c2, "matrices", 2, []group.Element{{0}, {180}}, []float64{1, 0, 0, 1, 1, 3, 0, -1})
	if err != nil {
		t.Fatal(err)
	}
	if s := l.Stretch(); s != 9 {
		t.Errorf("it stretches by %g, want 9", s)
	}
}

// FuzzListed never panics, and what it takes has matrices of the size that was said.
func FuzzListed(f *testing.F) {
	d4, err := catalog.Parse("D4")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(1, []byte{0, 0, 1, 90, 0, 1, 180, 0, 1, 255, 1, 1})
	f.Add(2, []byte{0, 0, 1, 0, 0, 1})
	f.Fuzz(func(t *testing.T, dim int, b []byte) {
		if dim > 8 || len(b) > 1<<12 {
			return
		}
		var elements []group.Element
		var numbers []float64
		for size := 2 + max(dim, 0)*max(dim, 0); len(b) >= size; b = b[size:] {
			elements = append(elements, group.Element{float64(b[0]), float64(b[1])})
			for _, v := range b[2:size] {
				x := float64(int8(v))
				if v == 255 {
					x = math.Float64frombits(binary.LittleEndian.Uint64(append(b[:2:2], 1, 2, 3, 4, 5, 0xff)))
				}
				numbers = append(numbers, x)
			}
		}
		l, err := action.NewListed(d4, "matrices", dim, elements, numbers)
		if err != nil {
			return
		}
		for _, e := range elements {
			if m, err := l.Matrix(e); err != nil || len(m) != dim*dim {
				t.Fatalf("%v: %d numbers, %v", e, len(m), err)
			}
		}
	})
}

package encoder

import (
	"errors"
	"fmt"
	"strings"

	"nero/data/split"
	"nero/measure/embedding"
	"nero/present/words"
	"nero/symmetry/group"

	"gonum.org/v1/gonum/mat"
)

// Side is the samples of one side and their features.
type Side struct {
	// Names are those of the samples, Objects those of what they show, Inputs the digests of what they are.
	Names, Objects, Inputs []string
	// Labels are the classes, -1 for none; nil where there are none.
	Labels []int
	// At are the features at each element, a row for each sample; Back those of samples that were moved there and back,
	// nil for elements that resample nothing, and for sides that nobody confirms on.
	At, Back []*mat.Dense
	// Again are the features at the identity of the first samples, asked once more; nil where nobody asked.
	Again *mat.Dense
	// Ladder are the features at the elements of [Subject.Ladder].
	Ladder []*mat.Dense
	// Other are the features of another release: at each element on the side to confirm, else at the identity alone.
	// Nil without one.
	Other []*mat.Dense
}

// Subject is a model whose features are looked at.
type Subject struct {
	Model, Digest, Value string
	Group                group.Group
	Elements             []group.Element
	Sides                map[split.Side]*Side
	// Idle are the elements that leave every sample on the side to confirm where it is, up to rounding: that features
	// stay there says nothing. Nil where nobody looked.
	Idle []bool
	// Ladder are elements that generators are fitted to beside these: [Subject.Rungs], or none.
	Ladder []group.Element
	// Against says what the other release is; nil without one.
	Against *Release
	// Anchors is how many there are; 0 for 300.
	Anchors int
	// NoSplit and NoGenerators leave these out.
	NoSplit, NoGenerators bool
	// More is what asks more where too few samples leave something undecided; "" for what always does.
	More       string
	Seed       uint64
	Confidence float64
	// Stage is told what is done; nil for nobody.
	Stage func(what string)
}

// Release is another release of a model.
type Release struct{ Model, Digest, Value string }

// ErrBoth says that an object is on two sides.
var ErrBoth = errors.New("the same object is on two sides")

// Apart is an error that wraps [ErrBoth] where samples of one object, or samples with the same input, are on two sides:
// what is confirmed on one was learned from the other. It counts them and names the first.
func Apart(sides map[split.Side]*Side) error {
	const most = 3
	type place struct {
		side split.Side
		name string
	}
	seen := map[string]place{}
	var pairs []string
	n := 0
	for _, side := range split.Sides() {
		s := sides[side]
		if s == nil {
			continue
		}
		for i, name := range s.Names {
			twice := false
			for _, key := range []string{"object " + s.Objects[i], "input " + s.Inputs[i]} {
				at, ok := seen[key]
				if !ok {
					seen[key] = place{side, name}
					continue
				}
				if at.side == side || twice {
					continue
				}
				twice = true
				if n++; n <= most {
					pairs = append(pairs, fmt.Sprintf("%s (%s) and %s (%s)", at.name, at.side, name, side))
				}
			}
		}
	}
	switch {
	case n == 0:
		return nil
	case n == 1:
		return fmt.Errorf("%w: samples %s show the same: leave one of them out of the data", ErrBoth, pairs[0])
	case n > most:
		pairs = append(pairs, fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Errorf("%w: %d samples show the same as one on another side: %s: leave all but one of each out of the "+
		"data", ErrBoth, n, strings.Join(pairs, ", "))
}

// identity is the place of the element that moves nothing, -1 for none.
func (s *Subject) identity() int {
	for k, g := range s.Elements {
		if s.Group.Dist(s.Group.Identity(), g) == 0 {
			return k
		}
	}
	return -1
}

// orbits are the features of a side.
func (s *Subject) orbits(side split.Side) *embedding.Orbits {
	x := s.Sides[side]
	return &embedding.Orbits{Object: numbered(x.Objects), At: x.At, Identity: s.identity()}
}

// numbered gives each name a number, in the order in which names first come.
func numbered(names []string) []int {
	at := map[string]int{}
	out := make([]int, len(names))
	for i, n := range names {
		k, ok := at[n]
		if !ok {
			k = len(at)
			at[n] = k
		}
		out[i] = k
	}
	return out
}

// target is what is read off features, and what it is called.
func (s *Subject) target() (embedding.Target, string) {
	var t embedding.Target
	if p, ok := group.AsSpatial(s.Group); ok {
		turns := true
		for _, g := range s.Elements {
			a, shift := p.Motion(g)
			turns = turns && turn(a, p.Dim()) && zero(shift)
			t.Coordinates = append(t.Coordinates, a)
		}
		switch {
		case turns && p.Dim() == 2:
			for k, a := range t.Coordinates { // the first column, cosine and sine of the angle
				t.Coordinates[k] = []float64{a[0], a[2]}
			}
			t.Half = embedding.HalfPlane
			return t, "cosine and sine of the angle"
		case turns && p.Dim() == 3:
			t.Half = embedding.HalfSpace
			return t, "matrix of the rotation"
		}
	}
	t.Coordinates = nil
	for _, g := range s.Elements {
		t.Coordinates = append(t.Coordinates, append([]float64(nil), g...))
	}
	return t, "coordinates of the element"
}

// turn tells whether a matrix is a rotation.
func turn(a []float64, d int) bool {
	m := mat.NewDense(d, d, append([]float64(nil), a...))
	var p mat.Dense
	p.Mul(m, m.T())
	for i := range d {
		p.Set(i, i, p.At(i, i)-1)
	}
	return mat.Norm(&p, 2) < 1e-9 && mat.Det(m) > 0
}

func zero(x []float64) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// path are the parameters of the elements of a group with one generator; "" and the reason why there is none.
func (s *Subject) path() (t []float64, period float64, of group.Generator, why string) {
	l, ok := s.Group.(group.Lie)
	if !ok {
		return nil, 0, of, s.Group.Name() + " has no generators"
	}
	all := l.Generators()
	if len(all) != 1 || len(s.Group.Chart()) != 1 {
		return nil, 0, of, fmt.Sprintf("%s has %s and %s of coordinates", s.Group.Name(),
			words.Plural(len(all), "generator", "generators"), words.Plural(len(s.Group.Chart()), "axis", "axes"))
	}
	for _, g := range s.Elements {
		found := false
		for _, x := range parameters(g[0], s.Group.Chart()[0]) {
			if s.Group.Dist(l.Exp([]float64{x}), g) < group.Tolerance {
				t, found = append(t, x), true
				break
			}
		}
		if !found {
			return nil, 0, of, group.Title(s.Group, g) + " is not told by one parameter"
		}
	}
	if a := s.Group.Chart()[0]; a.Periodic {
		period = parameters(a.Max-a.Min, group.Axis{})[1]
		if s.Group.Dist(l.Exp([]float64{period}), s.Group.Identity()) > 1e-6 {
			period = parameters(a.Max-a.Min, group.Axis{})[0]
		}
	}
	return t, period, all[0], ""
}

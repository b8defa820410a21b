package particle

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"nero/data/dataset"
	"nero/data/space"
)

// Spec says which pairs a set holds. [Default] is where to start from.
type Spec struct {
	// kinds of flow, taken in turn; none for all of [Kinds]
	Kinds []Kind
	// number of pairs
	N int
	// pair i depends on Seed, i and the rest of the Spec alone, but for N
	Seed uint64
	// rows, px
	Height int
	// columns, px
	Width int
	// Scene.Size 0 stands for the shorter side
	Scene  Scene
	Optics Optics
}

// Default is a Spec of n pairs: all kinds of flow, 256×256 px, displacements up to 8 px, mean flow to the right ± 15°
// and half of the displacement, 0.05 particles a pixel of diameter 2.5 ± 0.3 px, brightness 220 on 6 ± 3 grey levels, 5
// % lost.
func Default(n int, seed uint64) Spec {
	return Spec{
		N: n, Seed: seed, Height: 256, Width: 256,
		Scene:  Scene{Peak: 8, Spread: 15, Mean: 0.5},
		Optics: Optics{Density: 0.05, Diameter: 2.5, Spread: 0.3, Brightness: 220, Background: 6, Noise: 3, Loss: 0.05},
	}
}

// maxPairs bounds a set; identifiers have as many digits.
const maxPairs = 1_000_000

// Set is a data set of particle-image pairs, rendered when they are asked for. It satisfies [dataset.Dataset]: a
// sample's value is a [space.Frames] of two pictures with whole grey levels 0..255, its target the [space.Field] at
// mid-time, its label the position of its kind in the kinds of the set.
type Set struct{ spec Spec }

var _ dataset.Dataset = (*Set)(nil)

// New is the set that spec describes.
func New(spec Spec) (*Set, error) {
	spec.Kinds = slices.Clone(spec.Kinds)
	if len(spec.Kinds) == 0 {
		spec.Kinds = Kinds()
	}
	for _, k := range spec.Kinds {
		if _, err := ParseKind(string(k)); err != nil {
			return nil, fmt.Errorf("particle pairs: %w", err)
		}
	}
	if spec.N < 1 || spec.N > maxPairs {
		return nil, fmt.Errorf("particle pairs: %d pairs: expected 1 to %d", spec.N, maxPairs)
	}
	if min(spec.Height, spec.Width) < 8 || max(spec.Height, spec.Width) > maxSide {
		return nil, fmt.Errorf("particle pairs: picture of %d rows and %d columns: expected 8 to %d px", spec.Height,
			spec.Width, maxSide)
	}
	if spec.Scene.Size == 0 {
		spec.Scene.Size = float64(min(spec.Height, spec.Width))
	}
	if err := spec.Scene.check(); err != nil {
		return nil, fmt.Errorf("particle pairs: %w", err)
	}
	if err := spec.Optics.check(); err != nil {
		return nil, fmt.Errorf("particle pairs: %w", err)
	}
	return &Set{spec}, nil
}

// Spec is what the set was made from, with the kinds and the size of the scene filled in.
func (s *Set) Spec() Spec {
	spec := s.spec
	spec.Kinds = slices.Clone(spec.Kinds)
	return spec
}

// Len is the number of pairs.
func (s *Set) Len() int { return s.spec.N }

// Kind is the kind of the flow of pair i.
func (s *Set) Kind(i int) Kind { return s.spec.Kinds[i%len(s.spec.Kinds)] }

// Labels are the positions of the pairs' kinds among the classes.
func (s *Set) Labels() []int {
	out := make([]int, s.spec.N)
	for i := range out {
		out[i] = i % len(s.spec.Kinds)
	}
	return out
}

// IDs are kind and number of each pair, such as step-000007.
func (s *Set) IDs() []string {
	out := make([]string, s.spec.N)
	for i := range out {
		out[i] = s.id(i)
	}
	return out
}

func (s *Set) id(i int) string { return fmt.Sprintf("%s-%06d", s.Kind(i), i) }

// Files are none: the pairs come from the seed.
func (*Set) Files() []string { return nil }

// Info says where in time the fields belong, on which the meaning of time reversal depends. Classes are the kinds of
// the flows.
func (s *Set) Info() dataset.Info {
	i := dataset.Info{
		Space:  space.Spec{Name: "frames", Kind: space.KindFrames, Shape: []int{2, 1, s.spec.Height, s.spec.Width}},
		Target: space.Spec{Name: "target", Kind: space.KindField},
		Max:    255,
		Notes: []string{fmt.Sprintf(
			"particle pairs rendered with seed %d: fields are given at mid-time, where reversing time is exact",
			s.spec.Seed)},
	}
	for _, k := range s.spec.Kinds {
		i.Classes = append(i.Classes, string(k))
	}
	return i
}

// Flow is the flow of pair i, 0 <= i < Len(), known at every point.
func (s *Set) Flow(i int) (Flow, error) {
	f, _, err := s.draw(i)
	return f, err
}

// draw is the flow of pair i and the generator that drew it, from which the particles come next.
func (s *Set) draw(i int) (Flow, *rand.Rand, error) {
	if i < 0 || i >= s.spec.N {
		return nil, nil, fmt.Errorf("particle pairs: no pair %d: there are %d, counted from 0", i, s.spec.N)
	}
	r := rand.New(rand.NewPCG(s.spec.Seed, uint64(i)))
	f, err := Draw(s.Kind(i), s.spec.Scene, r)
	if err != nil {
		return nil, nil, fmt.Errorf("particle pairs: pair %d: %w", i, err)
	}
	return f, r, nil
}

// Sample renders pair i. Flow, particles and noise are drawn in this order, so that the flow does not change with the
// optics.
func (s *Set) Sample(i int) (dataset.Sample, error) {
	f, r, err := s.draw(i)
	if err != nil {
		return dataset.Sample{}, err
	}
	h, w, o := s.spec.Height, s.spec.Width, s.spec.Optics
	ps := Scatter(f, o, h, w, s.spec.Scene.Peak, r)
	var pair []*space.Image
	for frame := range 2 {
		pix := Render(ps, frame, h, w)
		Expose(pix, o, r)
		pair = append(pair, &space.Image{C: 1, H: h, W: w, Pix: pix})
	}
	return dataset.Sample{
		ID: s.id(i), Label: i % len(s.spec.Kinds), Tags: []string{string(s.Kind(i))},
		Value: &space.Frames{Images: pair}, Target: Truth(f, h, w),
	}, nil
}

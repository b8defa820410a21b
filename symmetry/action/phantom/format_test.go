package phantom

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func picture(tb rapid.TB, p dataset.Phantoms, i int) *space.Image {
	tb.Helper()
	set, err := open(p)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := set.Sample(i)
	if err != nil {
		tb.Fatal(err)
	}
	m := space.Picture(s.Value)
	if m == nil || m.Formula == nil {
		tb.Fatal("no drawn picture")
	}
	return m
}

// apart is the largest difference of two pictures.
func apart(a, b space.Value) float64 {
	x, y, d := a.Numbers(), b.Numbers(), 0.0
	for i := range x {
		d = max(d, math.Abs(x[i]-y[i]))
	}
	return d
}

// Drawn pictures keep the laws of the group where resampled ones cannot, between the pixels and at the border, and lie
// where a resampled one lies.
func TestDrawnPicturesMove(t *testing.T) {
	for _, name := range []string{"SE(2)", "E(2)", "T(2)", "Affine(rotate,scale)", "D4"} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		draw, ok := g.(group.Sampler)
		if !ok {
			t.Fatalf("%s cannot be sampled", name)
		}
		a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{2, 21, 21}}, action.Options{
			Kernel: action.Spline, Border: action.Reflect,
		})
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			seed := rapid.Uint64().Draw(t, "seed")
			x := picture(t, dataset.Phantoms{Channels: 2, Size: [2]int{21, 21}, Band: 0.3, Seed: seed}, 1)
			r := rand.New(rand.NewPCG(seed, 1))
			e, h := draw.Sample(r), draw.Sample(r)
			move := func(v space.Value, e group.Element) space.Value {
				v, err := a.Apply(e, v)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			if d := apart(move(x, g.Identity()), x); d != 0 {
				t.Fatalf("the identity changes intensities by %g", d)
			}
			if d := apart(move(move(x, e), g.Inv(e)), x); d > 1e-7 {
				t.Fatalf("%v there and back: %g", e, d)
			}
			if d := apart(move(move(x, h), e), move(x, g.Mul(e, h))); d > 1e-7 {
				t.Fatalf("%v after %v: %g", e, h, d)
			}
			if a.Exact(e) { // moved by index, where nothing enters
				pixels, err := x.With(append([]float64(nil), x.Pix...))
				if err != nil {
					t.Fatal(err)
				}
				if m, ok := pixels.(*space.Image); !ok || m.Formula != nil {
					t.Fatal("other intensities are no drawing")
				}
				if d := apart(move(x, e), move(pixels, e)); d > 1e-9 && name == "D4" {
					t.Fatalf("%v: drawn and moved by index: %g", e, d)
				}
			}
		})
	}
}

// In the middle of the picture, where no border has a part, a drawn picture and a resampled one are the same up to what
// the kernel makes of so smooth a picture.
func TestDrawnIsWhereResampledIs(t *testing.T) {
	g, err := catalog.Parse("SE(2)")
	if err != nil {
		t.Fatal(err)
	}
	for _, window := range [][]int{nil, {16, 18}} {
		a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 31, 32}}, action.Options{
			Kernel: action.Spline, Window: window,
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			x := picture(t, dataset.Phantoms{Size: [2]int{31, 32}, Band: 0.2, Seed: 4}, i)
			pixels, err := x.With(append([]float64(nil), x.Pix...))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []group.Element{{33, 1.25, -2.5}, {200, -0.5, 0.75}} {
				drawn, err := a.Apply(e, x)
				if err != nil {
					t.Fatal(err)
				}
				moved, err := a.Apply(e, pixels)
				if err != nil {
					t.Fatal(err)
				}
				p, q := space.Picture(drawn), space.Picture(moved)
				for r := p.H/2 - 4; r < p.H/2+4; r++ {
					for c := p.W/2 - 4; c < p.W/2+4; c++ {
						if d := math.Abs(p.Pix[r*p.W+c] - q.Pix[r*p.W+c]); d > 0.3 {
							t.Fatalf("picture %d at %v, window %v: pixel (%d, %d) is %g apart", i, e, window, r, c, d)
						}
					}
				}
			}
		}
	}
}

// Each setting counts, and the same settings give the same bits.
func TestSettings(t *testing.T) {
	base := dataset.Phantoms{Count: 3, Size: [2]int{9, 12}, Channels: 2, Band: 0.4, Seed: 7}
	for i := range 3 {
		if apart(picture(t, base, i), picture(t, base, i)) != 0 {
			t.Error("the same settings, another picture")
		}
		for _, v := range picture(t, base, i).Pix {
			if !(v > -64 && v < 320) {
				t.Errorf("an intensity of %g", v)
			}
		}
	}
	for name, change := range map[string]func(p *dataset.Phantoms){
		"seed": func(p *dataset.Phantoms) { p.Seed = 8 }, "band": func(p *dataset.Phantoms) { p.Band = 0.8 },
		"kinds": func(p *dataset.Phantoms) { p.Kinds = []string{"ellipses"} },
	} {
		p := base
		change(&p)
		if apart(picture(t, base, 0), picture(t, p, 0)) == 0 {
			t.Errorf("another %s changes nothing", name)
		}
	}
	set, err := open(dataset.Phantoms{})
	if err != nil || set.Len() != 64 || len(set.Labels()) != 0 || set.IDs()[1] != "gaussians-000001" {
		t.Errorf("without settings: %v, %v", set, err)
	}
	for _, p := range []dataset.Phantoms{
		{Kinds: []string{"spots"}}, {Band: 2}, {Size: [2]int{1 << 20, 1 << 20}}, {Count: -1}, {Size: [2]int{-1, 4}},
	} {
		if _, err := open(p); err == nil || !strings.HasPrefix(err.Error(), "phantoms: ") {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := set.Sample(64); err == nil {
		t.Error("picture 64 of 64")
	}
}

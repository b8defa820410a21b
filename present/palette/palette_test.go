package palette

import (
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A map goes through its entries, and stays at its ends beyond them.
func TestEntries(t *testing.T) {
	for name, m := range map[string]Map{"viridis": Viridis(), "purple-orange": PurpleOrange()} {
		for i, hex := range m {
			if got := m.At(float64(i) / float64(len(m)-1)); got != RGB(hex) {
				t.Errorf("%s: entry %d is %v, want %v", name, i, got, RGB(hex))
			}
		}
		for u, want := range map[float64]uint32{
			-1: m[0], math.Inf(-1): m[0], math.NaN(): m[0], 2: m[len(m)-1], math.Inf(1): m[len(m)-1],
		} {
			if got := m.At(u); got != RGB(want) {
				t.Errorf("%s at %v: %v, want %v", name, u, got, RGB(want))
			}
		}
	}
	if got := RGB(0x010203); got != (color.NRGBA{R: 1, G: 2, B: 3, A: 255}) {
		t.Error(got)
	}
}

// Between two entries every part lies between theirs.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]Map{Viridis(), PurpleOrange()}).Draw(t, "map")
		u := rapid.Float64Range(0, 1).Draw(t, "u")
		i := min(int(u*float64(len(m)-1)), len(m)-2)
		a, b, c := RGB(m[i]), RGB(m[i+1]), m.At(u)
		for _, p := range [][3]uint8{{a.R, c.R, b.R}, {a.G, c.G, b.G}, {a.B, c.B, b.B}} {
			if p[1] < min(p[0], p[2]) || p[1] > max(p[0], p[2]) {
				t.Fatalf("%v is not between %v and %v", c, a, b)
			}
		}
		if c.A != 255 {
			t.Fatalf("%v is seen through", c)
		}
	})
}

// The middle of what diverges is nearly white, and both sides get darker away from it.
func TestDiverging(t *testing.T) {
	m := PurpleOrange()
	sum := func(u float64) int { c := m.At(u); return int(c.R) + int(c.G) + int(c.B) }
	for i := range 50 {
		near, far := float64(i)/100, float64(i+1)/100
		if sum(0.5+far) >= sum(0.5+near) || sum(0.5-far) >= sum(0.5-near) {
			t.Errorf("it does not get darker at %g from the middle", far)
		}
	}
}

package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"nero/present/view"
	"nero/symmetry/group"
)

// turns is a plan of n angles at each of 5 x 5 shifts from -4 to 4 pixels.
func turns(n int) []group.Element {
	var es []group.Element
	for y := -4.0; y <= 4; y += 2 {
		for x := -4.0; x <= 4; x += 2 {
			for k := range n {
				es = append(es, group.Element{360 * float64(k) / float64(n), x, y})
			}
		}
	}
	return es
}

// The one element that is good, 90 degrees at dx 4, dy -4, is the dot above the shift at the upper right.
func TestScatterGoesRightAndDown(t *testing.T) {
	f := fixture{group: "SE(2)", values: turns(8), models: []string{"a"}, metrics: []string{"confidence"}, n: 2}
	f.curve = func(_, _ int, _ string, e []float64) float64 {
		if e[0] == 90 && e[1] == 4 && e[2] == -4 {
			return 1
		}
		return 0.2
	}
	s, _ := f.summary(t)
	v, err := view.Aggregate(s, 0, []int{0}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Layout != view.Scatter {
		t.Fatalf("layout %s", v.Layout)
	}
	at, d := probe(t, v, Options{Width: 480})
	left := d.ruler.width("-4", style{size: smallSize - 0.5}) + 22
	b := box{x: margin + left, y: margin + 20 + 1 + 16 + 8 + 17 + 8 + 6, w: 400 - left - 6}
	b.h = b.w
	ring, r := rings(v.Panels[0].Series[0].Points, b)
	pad := ring + r + 4
	if got := at(b.x+b.w-pad, b.y+pad-ring); !near(got, heat(1)) {
		t.Errorf("no bright dot at the upper right: %v, want %v", got, heat(1))
	}
	for _, wrong := range []pt{
		{b.x + pad, b.y + pad - ring},
		{b.x + b.w - pad, b.y + b.h - pad - ring},
		{b.x + b.w - pad, b.y + pad + ring},
		{b.x + b.w - pad + ring, b.y + pad},
	} {
		if got := at(wrong.x, wrong.y); !near(got, heat(0.2)) {
			t.Errorf("dot at %v is %v, want %v", wrong, got, heat(0.2))
		}
	}
}

// Dots that share a shift do not cover each other, and those that do not stand where they are.
func TestRings(t *testing.T) {
	b := box{w: 300, h: 300}
	for _, n := range []int{2, 8, 24} {
		var pts []view.Point
		for _, e := range turns(n) {
			pts = append(pts, view.Point{X: e[1], Y: e[2], Turn: e[0]})
		}
		ring, r := rings(pts, b)
		apart := 2 * ring * math.Sin(math.Pi/float64(n)) // the chord between two of them
		if !(ring > 0) || !(ring+r <= 30) || !(2*r <= 1.2*apart) {
			t.Errorf("%d angles: ring %g, dots of %g, %g apart", n, ring, r, apart)
		}
	}
	if ring, r := rings([]view.Point{{X: 1}, {X: 2}}, b); ring != 0 || r != 6 {
		t.Errorf("ring %g, dots of %g", ring, r)
	}
}

// A strip of many elements names few of them, with three digits, and has hairlines for bars.
func TestDenseStrip(t *testing.T) {
	f := fixture{
		group: "Affine(rotate,scale)", grid: []int{16, 20}, models: []string{"a"},
		metrics: []string{"confidence"}, n: 4,
	}
	s, _ := f.summary(t)
	v, err := view.Aggregate(s, 0, []int{0}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := arrange(v, Options{}, fontCache())
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.svg()
	if err != nil {
		t.Fatal(err)
	}
	if !v.Dense || v.Spread != "" || v.Interval == "" {
		t.Errorf("dense %v, spread %q, interval %q", v.Dense, v.Spread, v.Interval)
	}
	if n := bytes.Count(b, []byte(">rotate ")); n < 10 || n > 20 {
		t.Errorf("%d elements are named, want 10 to 20", n)
	}
	if !strings.Contains(string(b), ">rotate −180°, scale ×0.579<") || bytes.Contains(b, []byte("…")) {
		t.Error("names are cut off or have other than three digits")
	}
}

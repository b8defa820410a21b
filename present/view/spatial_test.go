package view

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/measure/metric"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func named3(t *testing.T, name string) group.Group {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every rotation of the slices has a part of a disc, the parts fill the disc and do not overlap, and each lies at its
// axis and angle.
func TestDiscs(t *testing.T) {
	so3 := named3(t, "SO(3)")
	es, err := group.Discs(so3, nil, 5, 15)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := run(t, "SO(3)", es, nil, "confidence", 2, 1, 0,
		func(m, _, k int) float64 { return 0.5 + es[k][0]/1000 + es[k][1]/1e4 + es[k][2]/1e5 + float64(m)/4 })
	f, err := Aggregate(s, 0, []int{0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Layout != Discs || len(f.Panels) != 6 || f.Interval != "" {
		t.Fatalf("%s with %d panels", f.Layout, len(f.Panels))
	}
	seen := map[int]bool{}
	for n, p := range f.Panels {
		if p.Title != []string{"a", "b"}[n/3]+", axes in "+planes[n%3].name {
			t.Errorf("panel %d is %q", n, p.Title)
		}
		pts := p.Series[0].Points
		if len(pts) != 829 {
			t.Errorf("%s: %d elements, want 829", p.Title, len(pts))
		}
		area, parts := 0.0, map[int]int{}
		for _, c := range p.Sectors {
			q := pts[c.Point]
			parts[c.Point]++
			seen[q.Element] = true
			area += (c.To - c.From) * (c.Outer*c.Outer - c.Inner*c.Inner)
			mid := math.Mod((c.From+c.To)/2+720, 360)
			off := math.Abs(math.Mod(mid-q.X+540, 360) - 180)
			if half := math.Abs(off-180) < 1e-6 && math.Abs(q.Y-180) < 1e-6; q.Y > 0 && off > 1e-6 && !half {
				t.Fatalf("%s: element %d at %g° has a part around %g°", p.Title, q.Element, q.X, mid)
			}
			if q.Y < c.Inner-1e-6 || q.Y > c.Outer+1e-6 {
				t.Fatalf("%s: element %d of %g° has a part from %g° to %g°", p.Title, q.Element, q.Y, c.Inner, c.Outer)
			}
			e := es[q.Element]
			want := 0.5 + e[0]/1000 + e[1]/1e4 + e[2]/1e5 + float64(n/3)/4
			if math.Abs(float64(q.Value)-want) > 1e-6 {
				t.Fatalf("%s: value %v of element %d, want %v", p.Title, q.Value, q.Element, want)
			}
		}
		if len(parts) != len(pts) {
			t.Errorf("%s: %d of %d elements have a part", p.Title, len(parts), len(pts))
		}
		if math.Abs(area/(360*180*180)-1) > 1e-9 {
			t.Errorf("%s: the parts cover %g of the disc", p.Title, area/(360*180*180))
		}
	}
	if len(seen) != 2416 {
		t.Errorf("%d of 2416 elements are drawn", len(seen))
	}
	if n := strings.Count(f.Alt, ": mean "); n != 2 {
		t.Errorf("the mean is said %d times: %s", n, f.Alt)
	}
}

func TestSpatialLayouts(t *testing.T) {
	o3 := named3(t, "O(3)")
	haar, err := group.LowDiscrepancy(o3, 40, nil)
	if err != nil {
		t.Fatal(err)
	}
	sliced, err := group.Discs(o3, []string{"xz"}, 30, 45)
	if err != nil {
		t.Fatal(err)
	}
	about := []group.Element{{0, 0, 0}, {0, 0, 30}, {0, 0, 60}, {0, 0, 90}}
	for _, c := range []struct {
		group string
		es    []group.Element
		want  *Layout
	}{{"O(3)", haar, Angle}, {"O(3)", sliced, Discs}, {"SO(3)", about, Angle}} {
		if got := LayoutOf(Orbit{Chart: named3(t, c.group).Chart(), Elements: c.es}); got != c.want {
			t.Errorf("%s: %s, want %s", c.group, got, c.want)
		}
	}
	exchange := Orbit{Chart: named3(t, "S(3)").Chart(), Elements: []group.Element{{0, 1, 2}, {1, 0, 2}}}
	if got := LayoutOf(exchange); got != Ranked {
		t.Errorf("permutations: %s", got)
	}
	shifts := []group.Axis{
		{Name: "dt", Unit: "samples", Kind: group.KindDelay, Min: math.Inf(-1), Max: math.Inf(1)},
		{Name: "reversal", Kind: group.KindReversal, Max: 1},
	}
	if got := LayoutOf(Orbit{Chart: shifts, Elements: []group.Element{{0, 0}, {1, 0}, {0, 1}}}); got != Line {
		t.Errorf("shifts in time and reversals: %s", got)
	}
	velocity := []group.Axis{
		{Name: "vx", Unit: "px/frame", Min: -8, Max: 8},
		{Name: "vy", Unit: "px/frame", Min: -8, Max: 8},
	}
	grid := Orbit{Chart: velocity, Elements: []group.Element{{0, 0}, {1, 0}, {0, 1}, {1, 1}}}
	if got := LayoutOf(grid); got != HeatMap {
		t.Errorf("velocities on a grid: %s", got)
	}
	cross := Orbit{Chart: velocity, Elements: []group.Element{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {0, -1}}}
	if got := LayoutOf(cross); got != Axes {
		t.Errorf("velocities one at a time: %s", got)
	}
}

func TestAngles(t *testing.T) {
	g := named3(t, "O(3)")
	es := []group.Element{{0, 0, 0, 0}, {10, 0, 0, 0}, {0, 0, 14, 0}, {0, 0, 180, 0}, {0, 20, 0, 1}}
	v := []float64{0, 3, 1, 7, 5}
	s, _ := run(t, g.Name(), es, nil, "absolute", 1, 1, 0, func(_, _, k int) float64 { return v[k] })
	f, err := Aggregate(s, 0, []int{0}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := f.Panels[0]
	if f.Layout != Angle || len(p.Series) != 2 || !p.Series[1].Mirrored || f.X == nil || f.X.Hi != 180 {
		t.Fatalf("%s, %d series", f.Layout, len(p.Series))
	}
	if at := p.Series[0].Points[2]; at.X != 14 || at.Label != "14° about z" {
		t.Errorf("%+v", at)
	}
	if l := p.Series[1].Points[0].Label; l != "20° about y, inverted" {
		t.Errorf("label %q", l)
	}
	if len(p.Bins) != 3 || p.Bins[0].N != 3 || p.Bins[0].Median != 1 || p.Bins[0].Worst != 3 || p.Bins[1].Lo != 165 ||
		p.Bins[2].Series != 1 {
		t.Errorf("bins %+v", p.Bins)
	}
}

func TestPermutationWords(t *testing.T) {
	for _, c := range []struct {
		e    group.Element
		want string
		kind string
	}{
		{group.Element{0, 1, 2}, "identity", "identity"},
		{group.Element{0, 2, 1}, "(1 2)", "transposition"},
		{group.Element{1, 2, 0}, "(0 1 2)", "cycle"},
		{group.Element{1, 0, 3, 2}, "(0 1)(2 3)", "permutation"},
		{group.Element{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, "(0 1 2 3 4 5 6 7 …) and 2 rows more", "cycle"},
	} {
		g := named3(t, fmt.Sprintf("S(%d)", len(c.e)))
		if got, of := Label(g, c.e), KindOf(g.Chart(), c.e); got != c.want || of != c.kind {
			t.Errorf("%v: %q, %q, want %q, %q", c.e, got, of, c.want, c.kind)
		}
	}
	both := named3(t, "T(3) x S(3)")
	for want, e := range map[string]group.Element{
		"identity": {0, 0, 0, 0, 1, 2}, "motion": {1, 0, 0, 0, 1, 2},
		"transposition": {0, 0, 0, 1, 0, 2}, "motion and cycle": {1, 0, 0, 1, 2, 0},
	} {
		if got := KindOf(both.Chart(), e); got != want {
			t.Errorf("%v is %q, want %q", e, got, want)
		}
	}
	if got := Label(both, group.Element{1, 0, 0, 1, 0, 2}); !strings.Contains(got, "(0 1)") ||
		!strings.Contains(got, "1") {
		t.Errorf("label %q", got)
	}
	for _, e := range []group.Element{{0, 0}, {1, 2}, {0.5, 1}, {-1, 0}, {math.NaN(), 0}} {
		if c, ok := Cycles(e); ok {
			t.Errorf("%v is no permutation and has the cycles %v", e, c)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "rows")
		e := make(group.Element, n)
		for i, p := range rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "permutation") {
			e[i] = float64(p)
		}
		cycles, ok := Cycles(e)
		if !ok {
			t.Fatalf("%v is a permutation", e)
		}
		back := make(group.Element, n)
		for i := range back {
			back[i] = float64(i)
		}
		for _, c := range cycles {
			for i, k := range c {
				back[k] = float64(c[(i+1)%len(c)])
			}
		}
		if !slices.Equal(back, e) {
			t.Fatalf("the cycles %v of %v are those of %v", cycles, e, back)
		}
	})
}

// Ranks are those of the first model, for all models alike.
func TestRanks(t *testing.T) {
	f := Figure{Better: string(metric.Lower)}
	p := Panel{Series: []Series{
		{Points: []Point{{Element: 0, Value: 1}, {Element: 1, Value: 5}, {Element: 2, Value: 3}}},
		{Points: []Point{{Element: 0, Value: 9}, {Element: 1, Value: 8}, {Element: 2, Value: 7}}},
	}}
	rank(&p, f.worse)
	for i, s := range p.Series {
		var got []int
		for k, q := range s.Points {
			got = append(got, q.Element)
			if q.X != float64(k) {
				t.Errorf("series %d: element %d at %g, want %d", i, q.Element, q.X, k)
			}
		}
		if !slices.Equal(got, []int{1, 2, 0}) {
			t.Errorf("series %d: %v, want the worst first", i, got)
		}
	}
}

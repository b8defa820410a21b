package group_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/symmetry/group"
)

func permuting(tb testing.TB, n int) group.Permuting {
	tb.Helper()
	p, ok := parse(tb, fmt.Sprintf("S(%d)", n)).(group.Permuting)
	if !ok {
		tb.Fatalf("S(%d) permutes nothing", n)
	}
	return p
}

func TestPermutations(t *testing.T) {
	s := permuting(t, 5)
	a, b := group.Element{1, 2, 0, 3, 4}, group.Element{0, 1, 2, 4, 3}
	if got := s.Mul(a, b); !slices.Equal(got, group.Element{1, 2, 0, 4, 3}) {
		t.Errorf("%v", got)
	}
	// Row 0 goes to place 1, then 1 to 0.
	if got := s.Mul(group.Element{1, 0, 2, 3, 4}, group.Element{1, 2, 0, 3, 4}); !slices.Equal(got,
		group.Element{0, 2, 1, 3, 4}) {
		t.Errorf("the right factor acts first: %v", got)
	}
	if got := s.Permutation(group.Element{1, 2, 3, 4, 0}, 3); !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("(0 1 2 3 4) without 3 and 4 is (0 1 2), not %v", got)
	}
	if got := s.Permutation(group.Element{3, 1, 4, 2, 0}, 3); !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("(0 3 2 4) without 3 and 4 is (0 2), not %v", got)
	}
	if s.Permutation(a, 6) != nil {
		t.Error("more rows than the group moves")
	}
	for _, c := range []struct {
		e    group.Element
		want string
	}{
		{group.Element{0, 1, 2, 3, 4}, "identity"},
		{group.Element{1, 0, 2, 3, 4}, "(0 1)"},
		{group.Element{1, 0, 4, 2, 3}, "(0 1)(2 4 3)"},
	} {
		if got := group.Format(s, c.e); got != c.want {
			t.Errorf("%v is written %q, expected %q", c.e, got, c.want)
		}
	}
	long := permuting(t, 1000)
	e := long.Identity()
	for i := range e {
		e[i] = float64((i + 1) % 1000)
	}
	if got := group.Format(long, e); got != "(0 1 2 3 4 5 6 7 …) and 992 rows more" {
		t.Errorf("a long cycle is written %q", got)
	}
	swaps := long.Identity()
	for i := 0; i < 1000; i += 2 {
		swaps[i], swaps[i+1] = swaps[i+1], swaps[i]
	}
	if got := group.Format(long, swaps); got != "(0 1)(2 3)(4 5)(6 7) and 992 rows more" {
		t.Errorf("many swaps are written %q", got)
	}
	if got := group.Format(parse(t, "S(3) x SO(3)"),
		group.Element{1, 0, 2, 0, 0, 90}); got != "(0 1), (rx 0°, ry 0°, rz 90°)" {
		t.Errorf("a product is written %q", got)
	}
	for _, c := range []struct {
		e    group.Element
		want string
	}{
		{group.Element{0, 0, 2, 3, 4}, "rows 0 and 1 of S(5) both go to place 0"},
		{group.Element{0, 1, 2, 3, 5}, "expected a number in [0, 4]"},
		{group.Element{0, 1, 2, 3.5, 4}, "S(5)"},
		{group.Element{0, 1, 2}, "5 axes"},
	} {
		if _, err := group.Validate(s, c.e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, expected %q", c.e, err, c.want)
		}
	}
	if _, err := group.Validate(parse(t, "S(2) x S(3)"), group.Element{0, 1, 1, 1, 0}); err == nil ||
		!strings.Contains(err.Error(), "both go to place 1") {
		t.Errorf("a factor that is no permutation: %v", err)
	}
}

// Uniform permutations stay uniform when rows are taken out: each of the 6 permutations of 3 rows comes from as many of
// the 120 of 5.
func TestFewerRowsKeepTheUniformMeasure(t *testing.T) {
	s := permuting(t, 5)
	count := map[string]int{}
	for _, e := range elementsOf(t, "S(5)") {
		count[fmt.Sprint(s.Permutation(e, 3))]++
	}
	if len(count) != 6 {
		t.Errorf("%d permutations of 3 rows", len(count))
	}
	for p, n := range count {
		if n != 20 {
			t.Errorf("%s comes from %d permutations, expected 20", p, n)
		}
	}
}

func TestPlansOfPermutations(t *testing.T) {
	for _, c := range []struct {
		n, want int
		text    string
	}{
		{1, 1, "the identity alone"},
		{4, 24, "all 24 elements of S(4)"},
		{6, 720, "all 720 elements of S(6)"},
		{7, 90, "all transpositions (up to 21)"},
		{200, 170, "adjacent and distant transpositions"},
		{3000, 170, "64 random"},
	} {
		s := permuting(t, c.n)
		es, text, err := group.Preset(s, nil)
		if err != nil || len(es) < c.want || len(es) > 720 || c.n > 6 && len(es) > 200 ||
			!strings.Contains(text, c.text) {
			t.Errorf("S(%d): %d elements, %q, %v, expected %d or more, %q", c.n, len(es), text, err, c.want, c.text)
		}
		if s.Dist(es[0], s.Identity()) != 0 {
			t.Errorf("S(%d) begins with %v", c.n, es[0][:min(c.n, 9)])
		}
		for _, e := range es {
			if _, err := group.Validate(s, e); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, n := range []int{5, 12, 13, 500} {
		s := permuting(t, n)
		es, err := group.LowDiscrepancy(s, 50, nil)
		if err != nil || len(es) != 50 || s.Dist(es[0], s.Identity()) != 0 {
			t.Errorf("S(%d): %d of low discrepancy, %v", n, len(es), err)
		}
		for _, e := range es {
			if _, err := group.Validate(s, e); err != nil {
				t.Fatal(err)
			}
		}
		hs, err := group.Haar(s, 50, nil, rand.New(rand.NewPCG(3, 4)))
		if err != nil || len(hs) != 50 {
			t.Errorf("S(%d): %d draws, %v", n, len(hs), err)
		}
	}
	if _, err := group.Grid(permuting(t, 5), []int{1, 1, 1, 1, 1}, nil); err == nil ||
		!strings.Contains(err.Error(), "no grid") {
		t.Errorf("a grid of permutations: %v", err)
	}
	if _, err := group.LowDiscrepancy(permuting(t, 20), 5, make([][2]float64, 20)); err == nil ||
		!strings.Contains(err.Error(), "no range") {
		t.Errorf("a range of permutations: %v", err)
	}
	if es, err := group.Lattice(permuting(t, 12), nil); err != nil || len(es) < 130 {
		t.Errorf("exact elements of S(12): %d, %v", len(es), err)
	}
	if es, err := group.Lattice(permuting(t, 7), nil); err != nil || len(es) != 5040 {
		t.Errorf("exact elements of S(7): %d, %v", len(es), err)
	}
}

func TestProductsComeApart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := parse(t, rapid.SampledFrom([]string{
			"S(4) x E(3)", "S(12) x SO(3) x Scale(3)", "T(1,Z) x Time",
			"C4 x Scale", "S(3) x T(1,Z)",
		}).Draw(r, "group"))
		f, ok := g.(group.Factored)
		if !ok {
			r.Fatalf("%s is not factored", g.Name())
		}
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		s, ok := g.(group.Sampler)
		if !ok {
			r.Fatal("no sampler")
		}
		a, b := s.Sample(rnd), s.Sample(rnd)
		pa, pb, pab := f.Split(a), f.Split(b), f.Split(g.Mul(a, b))
		var joined group.Element
		for i, h := range f.Factors() {
			joined = append(joined, pa[i]...)
			if !slices.Equal(h.Mul(pa[i], pb[i]), pab[i]) {
				r.Fatalf("%s: factor %s of the product is %v", g.Name(), h.Name(), pab[i])
			}
		}
		if !slices.Equal(joined, a) {
			r.Fatalf("%v comes apart as %v", a, pa)
		}
		pa[0][0] = 1e9
		if a[0] == 1e9 {
			r.Fatal("the parts share the memory of the element")
		}
		f.Factors()[0] = nil
		if f.Factors()[0] == nil {
			r.Fatal("the list of factors can be overwritten")
		}
	})
}

// Shift(n) of a sequence: what happened at 2 happens at 5.
func TestShiftsOfTime(t *testing.T) {
	for _, c := range []struct {
		name       string
		g, h, want group.Element
	}{
		{"T(1,Z)", group.Element{3}, group.Element{-5}, group.Element{-2}},
		{"T(1)", group.Element{0.5}, group.Element{0.25}, group.Element{0.75}},
		{"Roll(10)", group.Element{7}, group.Element{5}, group.Element{2}},
		// 5 later, turned around: 5 earlier, then 3 later
		{"E(1,Z)", group.Element{3, 1}, group.Element{5, 0}, group.Element{-2, 1}},
		{"E(1,Z)", group.Element{3, 1}, group.Element{3, 1}, group.Element{0, 0}},
	} {
		if got := parse(t, c.name).Mul(c.g, c.h); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v∘%v = %v, expected %v", c.name, c.g, c.h, got, c.want)
		}
	}
	roll, ok := parse(t, "Roll(10)").(group.Shifting)
	if !ok || roll.Turn() != 10 || roll.Dist(group.Element{9}, group.Element{1}) != 2 {
		t.Error("Roll(10) has the period 10")
	}
	for _, c := range []struct {
		name string
		n    int
		text string
	}{
		{"T(1,Z)", 33, "dt -16..16 samples (33)"},
		{"T(1)", 9, "dt -4..4 samples"},
		{"E(1,Z)", 66, "reversal 0 and 1"},
		{"Roll(16)", 16, "all 16 elements"},
		{"Roll(16000)", 141, "141 of 16000 cyclic shifts: up to 16 samples both ways"},
	} {
		es, text, err := group.Preset(parse(t, c.name), nil)
		if err != nil || len(es) != c.n || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d elements, %q, %v, expected %d, %q", c.name, len(es), text, err, c.n, c.text)
		}
	}
}

func TestPresetOfProducts(t *testing.T) {
	for _, name := range []string{"S(5) x E(3)", "S(20) x SO(3)", "S(3) x Scale(3)", "SO(3) x Time"} {
		g := parse(t, name)
		es, text, err := group.Preset(g, nil)
		if err != nil || len(es) < 70 || len(es) > 1000 || text == "" {
			t.Errorf("%s: %d elements, %q, %v", name, len(es), text, err)
		}
		f, ok := g.(group.Factored)
		if !ok {
			t.Fatal(name)
		}
		alone := make([]int, len(f.Factors()))
		both := 0
		for _, e := range es {
			if _, err := group.Validate(g, e); err != nil {
				t.Fatal(err)
			}
			moved := 0
			at := -1
			for i, h := range f.Factors() {
				if h.Dist(f.Split(e)[i], h.Identity()) > 0 {
					moved++
					at = i
				}
			}
			switch moved {
			case 1:
				alone[at]++
			case 2:
				both++
			}
		}
		if slices.Contains(alone, 0) || both < 20 {
			t.Errorf("%s: %v elements move one factor alone, %d both", name, alone, both)
		}
		low, err := group.LowDiscrepancy(g, 40, nil)
		if err != nil || len(low) != 40 || g.Dist(low[0], g.Identity()) != 0 {
			t.Errorf("%s: low discrepancy: %v", name, err)
		}
	}
}

func BenchmarkMulS4096(b *testing.B) {
	s := permuting(b, 4096)
	r := rand.New(rand.NewPCG(1, 2))
	sampler, _ := s.(group.Sampler)
	x, y := sampler.Sample(r), sampler.Sample(r)
	for b.Loop() {
		s.Mul(x, y)
	}
}

func BenchmarkPresetS4096(b *testing.B) {
	s := permuting(b, 4096)
	for b.Loop() {
		if _, _, err := group.Preset(s, nil); err != nil {
			b.Fatal(math.NaN(), err)
		}
	}
}

package reduce

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// brute finds neighbors by looking at all points.
func brute(p *points, q []float64, k int, skip int32) []neighbor {
	var all []neighbor
	for i := range p.n {
		if int32(i) != skip {
			all = append(all, neighbor{distance2(q, p.at(i), math.Inf(1)), int32(i)})
		}
	}
	slices.SortFunc(all, func(a, b neighbor) int {
		return cmp.Or(cmp.Compare(a.d2, b.d2), cmp.Compare(a.point, b.point))
	})
	return all[:min(k, len(all))]
}

// drawPoints draws points in the plane or in space: spread, or on a grid with many ties and copies.
func drawPoints(t *rapid.T, most int) *points {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	p := &points{
		n: rapid.IntRange(1, most).Draw(t, "points"),
		d: rapid.SampledFrom([]int{1, 2, 3, 11, 24}).Draw(t, "dims"),
	}
	grid := rapid.Bool().Draw(t, "grid")
	for range p.n * p.d {
		if grid {
			p.v = append(p.v, float64(r.IntN(3)))
		} else {
			p.v = append(p.v, r.NormFloat64())
		}
	}
	return p
}

func TestNearestIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoints(t, 120)
		k := rapid.IntRange(1, 20).Draw(t, "k")
		tree := newTree(p)
		for i := range p.n {
			for _, skip := range []int32{-1, int32(i)} {
				if got, want := tree.nearest(p.at(i), k, skip, nil),
					brute(p, p.at(i), k, skip); !slices.Equal(got, want) {
					t.Fatalf("point %d: neighbors %v, looking at all of them finds %v", i, got, want)
				}
			}
		}
		l, err := link(t.Context(), &crew{workers: 3}, tree, min(k, p.n-1))
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.n {
			if want := brute(p, p.at(i), l.k, int32(i)); !slices.Equal(l.of(i), want) && l.k > 0 {
				t.Fatalf("point %d: links %v, want %v", i, l.of(i), want)
			}
		}
	})
}

// Distances that are equal but for rounding tie, and the lower number wins.
func TestTiesByNumber(t *testing.T) {
	const third = 1.0 / 3
	p := &points{n: 4, d: 2, v: []float64{0, 0, third, third, -third, third * (1 - 1e-15), third * (1 - 1e-14), -third}}
	for i, n := range newTree(p).nearest(p.at(0), 3, 0, nil) {
		if n.point != int32(i+1) {
			t.Errorf("neighbor %d is point %d, want the order of the numbers", i, n.point)
		}
	}
}

func BenchmarkNeighbors(b *testing.B) {
	x := curves(b, 10_000, 144)
	all := make([]int, 10_000)
	for i := range all {
		all[i] = i
	}
	c := &crew{workers: 2}
	base, err := fitDirections(b.Context(), c, x, all, maxDims)
	if err != nil {
		b.Fatal(err)
	}
	v, err := base.scores(b.Context(), c, x, all)
	if err != nil {
		b.Fatal(err)
	}
	p := &points{n: len(all), d: len(base.vectors), v: v}
	b.Run("grow", func(b *testing.B) {
		for b.Loop() {
			newTree(p)
		}
	})
	tree := newTree(p)
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			if _, err := link(b.Context(), c, tree, 5); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("all pairs", func(b *testing.B) {
		for b.Loop() {
			_ = c.each(b.Context(), p.n, func(_, i int) {
				s := query{tree: tree, k: 5, skip: -1, part: -1}
				for k := range p.n {
					s.take(int32(k), distance2(p.at(i), tree.at(k), s.limit()))
				}
			})
		}
	})
}

package reduce

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// floyd finds all shortest paths with three loops (R. W. Floyd, 1962).
func floyd(n int, pairs map[[2]int]float64) [][]float64 {
	d := make([][]float64, n)
	for i := range d {
		d[i] = make([]float64, n)
		for j := range d[i] {
			if i != j {
				d[i][j] = math.Inf(1)
			}
		}
	}
	for p, l := range pairs {
		d[p[0]][p[1]], d[p[1]][p[0]] = min(d[p[0]][p[1]], l), min(d[p[1]][p[0]], l)
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

func TestPathsAndBridges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoints(t, 60)
		if p.n < 2 {
			t.Skip("no pair")
		}
		tree := newTree(p)
		c := &crew{workers: 2}
		l, err := link(t.Context(), c, tree, min(p.n-1, rapid.IntRange(1, 4).Draw(t, "k")))
		if err != nil {
			t.Fatal(err)
		}
		pairs := map[[2]int]float64{}
		for i := range p.n {
			for _, q := range l.of(i) {
				pairs[[2]int{i, int(q.point)}] = math.Sqrt(q.d2)
			}
		}
		before := floyd(p.n, pairs)
		var seen []int // one point of each part
		for i := range p.n {
			if !slices.ContainsFunc(seen, func(j int) bool { return !math.IsInf(before[i][j], 1) }) {
				seen = append(seen, i)
			}
		}
		bridges, components, err := join(t.Context(), c, tree, l)
		if err != nil {
			t.Fatal(err)
		}
		if components != len(seen) || len(bridges) < components-1 {
			t.Fatalf("%d parts and %d bridges, want %d parts", components, len(bridges), len(seen))
		}
		total := 0.0
		for _, b := range bridges {
			if !math.IsInf(before[b.from][b.to], 1) {
				t.Fatalf("bridge %v joins points that were joined", b)
			}
			pairs[[2]int{int(b.from), int(b.to)}] = math.Sqrt(b.d2)
			total += b.d2
		}
		if want := spanning(p, before); len(bridges) == components-1 && !(math.Abs(total-want) <= 1e-9*want) {
			t.Fatalf("the bridges' squared lengths sum to %v, those of the shortest tree over the parts to %v", total,
				want)
		}
		after := floyd(p.n, pairs)
		g := newGraph(l, bridges)
		d := make([]float64, p.n)
		var heap []edge
		for i := range p.n {
			heap = g.paths(d, int32(i), heap)
			for j, got := range d {
				if !(math.Abs(got-after[i][j]) <= 1e-9*(1+got)) {
					t.Fatalf("path from %d to %d is %v long, want %v", i, j, got, after[i][j])
				}
			}
		}
	})
}

// spanning is the sum of squared lengths of the shortest tree over the parts (R. C. Prim, 1957), parts being what paths
// join.
func spanning(p *points, paths [][]float64) (sum float64) {
	in := make([]bool, p.n)
	add := func(i int) {
		for j := range in {
			in[j] = in[j] || !math.IsInf(paths[i][j], 1)
		}
	}
	add(0)
	for slices.Contains(in, false) {
		best, at := math.Inf(1), 0
		for i := range p.n {
			for j := range p.n {
				if in[i] && !in[j] {
					if d := distance2(p.at(i), p.at(j), math.Inf(1)); d < best {
						best, at = d, j
					}
				}
			}
		}
		sum += best
		add(at)
	}
	return sum
}

// An arc of three quarters of a circle is unrolled: the first axis is the angle, with the length of the chords for a
// unit.
func TestIsomapUnrollsArc(t *testing.T) {
	const n, turn = 200, 1.5 * math.Pi
	var rows [][]float64
	for i := range n {
		a := turn * float64(i) / (n - 1)
		rows = append(rows, []float64{math.Cos(a), math.Sin(a), 7})
	}
	// With two neighbors each point is linked with those beside it, but for the two ends, which skip one.
	e := reduce(t, Isomap, dense(t, rows), Options{Neighbors: 2})
	chord := 2 * math.Sin(turn/(n-1)/2)
	x := column(e, 0)
	if x[0] > x[1] {
		for i := range x {
			x[i] = -x[i]
		}
	}
	for i := 1; i < n; i++ {
		if got := x[i] - x[i-1]; !(math.Abs(got-chord) <= 0.02*chord) {
			t.Errorf("points %d and %d are %v apart, want the chord %v", i-1, i, got, chord)
		}
	}
	if _, sd := meanDeviation(column(e, 1)); !(sd <= 0.01) {
		t.Errorf("the second axis has deviation %v, want next to none", sd)
	}
	if e.Components != 1 || len(e.Notes) != 0 {
		t.Errorf("%d parts, notes %q", e.Components, e.Notes)
	}
	if p := reduce(t, PCA, dense(t, rows), Options{}); math.Abs(correlation(column(p, 0), x)) > 0.95 {
		t.Error("PCA unrolls this arc already: the test shows nothing")
	}
}

// Rows of the arc that were not fitted stand between those that were.
func TestIsomapPlacesBetween(t *testing.T) {
	const n, turn = 201, 1.5 * math.Pi
	var rows [][]float64
	var fit []int
	for i := range n {
		a := turn * float64(i) / (n - 1)
		rows = append(rows, []float64{math.Cos(a), math.Sin(a)})
		if i%2 == 0 {
			fit = append(fit, i)
		}
	}
	x := column(reduce(t, Isomap, dense(t, rows), Options{Neighbors: 2, Fit: fit}), 0)
	for i := 3; i < n-3; i += 2 {
		if middle, gap := (x[i-1]+x[i+1])/2, math.Abs(x[i+1]-x[i-1]); !(math.Abs(x[i]-middle) <= 0.1*gap) {
			t.Errorf("row %d is at %v, those beside it at %v and %v", i, x[i], x[i-1], x[i+1])
		}
	}
}

// roll is a Swiss roll with the length along the spiral and the height of each row.
func roll(n int, seed uint64) (rows [][]float64, along, height []float64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for range n {
		a := 1.5 * math.Pi * (1 + 2*r.Float64())
		h := 21 * r.Float64()
		rows = append(rows, []float64{a * math.Cos(a), h, a * math.Sin(a)})
		along = append(along, (a*math.Sqrt(1+a*a)+math.Asinh(a))/2) // arc length of the spiral r = a
		height = append(height, h)
	}
	return rows, along, height
}

func TestIsomapUnrollsSwissRoll(t *testing.T) {
	rows, along, height := roll(900, 1)
	check := func(e *Embedding) {
		t.Helper()
		if c := math.Abs(correlation(column(e, 0), along)); !(c >= 0.99) {
			t.Errorf("the first axis correlates with the length along the roll by %v", c)
		}
		if c := math.Abs(correlation(column(e, 1), height)); !(c >= 0.9) {
			t.Errorf("the second axis correlates with the height by %v", c)
		}
	}
	all := reduce(t, Isomap, dense(t, rows), Options{Neighbors: 8})
	check(all)
	// Landmarks, and a subset that is fitted with the others placed, have to say the same.
	for name, o := range map[string]settings{
		"landmarks": {Options: Options{Neighbors: 8, Seed: 5}, most: 900, sources: 200},
		"subset":    {Options: Options{Neighbors: 8, Seed: 5}, most: 700, sources: 700},
	} {
		e, err := reduceWithin(t.Context(), Isomap, dense(t, rows), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Notes) != 1 || e.Fitted != o.most || e.Placed != len(rows)-o.most {
			t.Errorf("%s: fitted %d, placed %d, notes %q", name, e.Fitted, e.Placed, e.Notes)
		}
		check(e)
	}
}

func TestIsomapJoinsParts(t *testing.T) {
	var rows [][]float64
	for i := range 40 {
		rows = append(rows, []float64{float64(i % 20), 100 * float64(i/20)}) // two lines of 20, far apart
	}
	e := reduce(t, Isomap, dense(t, rows), Options{})
	if e.Components != 2 || len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "2 parts") {
		t.Errorf("%d parts, notes %q", e.Components, e.Notes)
	}
	for i := range 20 {
		a, b := float64(e.XY[2*i]), float64(e.XY[2*i+40])
		if !(math.Abs(a-b) >= 80) {
			t.Errorf("row %d of both lines stand at %v and %v on the first axis, want them about 100 apart", i, a, b)
		}
	}
}

// Where the graph is complete, Isomap is classical scaling, which is PCA.
func TestIsomapOfAllNeighborsIsPCA(t *testing.T) {
	rows := waves(12, 5)
	e, p := reduce(t, Isomap, dense(t, rows), Options{Neighbors: 11}), reduce(t, PCA, dense(t, rows), Options{})
	for a := range 2 {
		sign := 1.0
		if correlation(column(e, a), column(p, a)) < 0 {
			sign = -1
		}
		for i, v := range column(e, a) {
			if want := sign * column(p, a)[i]; !(math.Abs(v-want) <= 1e-5) {
				t.Errorf("row %d is at %v on axis %d, PCA has %v", i, v, a, want)
			}
		}
	}
}

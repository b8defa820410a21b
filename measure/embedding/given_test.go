package embedding

import (
	"errors"
	"math"
	"slices"
	"testing"

	"nero/internal/elementary"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func TestChain(t *testing.T) {
	// 0-1-2 and 2-5-6 share an input; 3-4 stand alone, 7 too.
	thing, pairs := Chain(8, [][]int{{0, 1}, {1, 2}, {3, 4}, {2, 5, 6}}, 1)
	if want := []int{0, 0, 0, 1, 1, 0, 0, 2}; !slices.Equal(thing, want) {
		t.Errorf("things %v, want %v", thing, want)
	}
	want := []Pair{
		{0, 1, 1},
		{1, 2, 1},
		{2, 5, 1},
		{2, 6, 1},
		{5, 6, 1},
		{0, 2, 2},
		{1, 5, 2},
		{1, 6, 2},
		{0, 5, 3},
		{0, 6, 3},
		{3, 4, 1},
	}
	if !slices.Equal(pairs, want) {
		t.Errorf("pairs %v, want %v", pairs, want)
	}
	// A long chain ends after so many steps, and a large set is drawn from, the same each time.
	_, pairs = Chain(10, [][]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}}, 1)
	if n := len(pairs); n != 9+8+7+6 {
		t.Errorf("%d pairs of a chain of ten", n)
	}
	_, pairs = Chain(500, [][]int{upTo(500)}, 1)
	_, again := Chain(500, [][]int{upTo(500)}, 1)
	if len(pairs) != mostOfThing || !slices.Equal(pairs, again) {
		t.Errorf("%d pairs of one set", len(pairs))
	}
}

// Steps are those of the shortest way, as Floyd and Warshall find it.
func TestChainLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "inputs")
		sets := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, min(n, 4), rapid.ID[int]), 0, 8).
			Draw(t, "sets")
		const none = 99
		steps := make([][]int, n)
		for i := range steps {
			steps[i] = slices.Repeat([]int{none}, n)
			steps[i][i] = 0
		}
		for _, set := range sets {
			for _, a := range set {
				for _, b := range set {
					if a != b {
						steps[a][b] = 1
					}
				}
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					steps[i][j] = min(steps[i][j], steps[i][k]+steps[k][j])
				}
			}
		}
		thing, pairs := Chain(n, sets, 3)
		found := map[[2]int]int{}
		for _, p := range pairs {
			found[[2]int{p.A, p.B}] = p.Steps
		}
		for i := range n {
			for j := range i {
				if (thing[i] == thing[j]) != (steps[i][j] < none) {
					t.Fatalf("inputs %d and %d: things %v, %d steps", i, j, thing, steps[i][j])
				}
				if got, ok := found[[2]int{j, i}]; ok != (steps[i][j] <= MostSteps) || ok && got != steps[i][j] {
					t.Fatalf("inputs %d and %d: %d steps, want %d", j, i, got, steps[i][j])
				}
			}
		}
	})
}

// viewed are n things in two dimensions, each seen at positions that are off it by normal errors of some sizes, and the
// sets of neighbouring positions.
func viewed(n int, sizes []float64, seed uint64) (*mat.Dense, [][]int) {
	r := source(seed)
	k := len(sizes)
	at := mat.NewDense(n*k, 2, nil)
	var sets [][]int
	for i := range n {
		x := normal(1, 2, r).RawRowView(0)
		for j, s := range sizes {
			at.SetRow(i*k+j, []float64{x[0] + s*elementary.Normal(r), x[1] + s*elementary.Normal(r)})
			if j > 0 {
				sets = append(sets, []int{i*k + j - 1, i*k + j})
			}
		}
	}
	return at, sets
}

// closedForm is the AUC and the ratio of views of [viewed] at positions a and b: squares of distances are exponential
// with the means 2(s_a² + s_b²) and, of two things, 2(2 + s_i² + s_j²); P(d < d') is then m'/(m + m') (of each two
// positions i and j), and a distance has the mean √(π m)/2.
func closedForm(sizes []float64, a, b int) (auc, ratio float64) {
	m := 2 * (sizes[a]*sizes[a] + sizes[b]*sizes[b])
	n := float64(len(sizes) * len(sizes))
	far := 0.0
	for _, s := range sizes {
		for _, u := range sizes {
			other := 2 * (2 + s*s + u*u)
			auc += other / (m + other) / n
			far += math.Sqrt(math.Pi*other) / 2 / n
		}
	}
	return auc, math.Sqrt(math.Pi*m) / 2 / far
}

func TestGivenCovers(t *testing.T) {
	sizes := []float64{0.6, 0.1, 0.9}
	const sets, things = 120, 30
	auc1, ratio1 := closedForm(sizes, 0, 1)
	auc1b, ratio1b := closedForm(sizes, 1, 2)
	auc1, ratio1 = (auc1+auc1b)/2, (ratio1+ratio1b)/2
	auc2, ratio2 := closedForm(sizes, 0, 2)
	held := [4]int{}
	var sum [4]float64
	for seed := range uint64(sets) {
		at, given := viewed(things, sizes, seed)
		thing, pairs := Chain(things*3, given, seed)
		g, err := NewGiven(at, thing, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		one := g.Compare(slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return p.Steps != 1 }))
		two := g.Compare(slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return p.Steps != 2 }))
		if one.Pairs != 60 || two.Pairs != 30 || two.Things != 30 {
			t.Fatalf("%+v %+v", one, two)
		}
		for k, x := range []struct {
			e    Estimate
			want float64
		}{{one.AUC, auc1}, {one.Ratio, ratio1}, {two.AUC, auc2}, {two.Ratio, ratio2}} {
			sum[k] += x.e.Value / sets
			if i := x.e.Interval; i.Low <= x.want && x.want <= i.High {
				held[k]++
			}
		}
	}
	for k, want := range []float64{auc1, ratio1, auc2, ratio2} {
		if !isNear(sum[k], want, 0.015) || held[k] < 107 { // 95 % of 120 less three deviations
			t.Errorf("number %d: mean %g, want %g; %d of %d intervals hold it", k, sum[k], want, held[k], sets)
		}
	}
}

// The AUC is the share of pairs of pairs, ties half, each thing with the same weight.
func TestGivenByHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 14).Draw(t, "inputs")
		at := mat.NewDense(n, 1, nil)
		for i := range n { // few values, many ties
			at.Set(i, 0, float64(rapid.IntRange(0, 5).Draw(t, "x")))
		}
		var sets [][]int
		for i := range n / 2 {
			sets = append(sets, []int{i, n - 1 - i})
		}
		if rapid.Bool().Draw(t, "joined") {
			sets = append(sets, []int{0, 1})
		}
		thing, pairs := Chain(n, sets, 1)
		g, err := NewGiven(at, thing, Options{Resamples: 100})
		if errors.Is(err, ErrConstant) || errors.Is(err, ErrFew) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		by, count := map[int]float64{}, map[int]float64{}
		others, far := 0, 0.0
		for i := range n {
			for j := range i {
				if thing[i] != thing[j] {
					others++
					far += math.Abs(at.At(i, 0) - at.At(j, 0))
				}
			}
		}
		for _, p := range pairs {
			d := math.Abs(at.At(p.A, 0) - at.At(p.B, 0))
			count[thing[p.A]]++
			for i := range n {
				for j := range i {
					switch e := math.Abs(at.At(i, 0) - at.At(j, 0)); {
					case thing[i] == thing[j]:
					case d < e:
						by[thing[p.A]]++
					case d == e:
						by[thing[p.A]] += 0.5
					}
				}
			}
		}
		want := 0.0
		for k, x := range by {
			want += x / count[k] / float64(others*len(count))
		}
		got := g.Compare(pairs)
		if !isNear(got.AUC.Value, want, 1e-12) || !isNear(g.Apart, far/float64(others), 1e-12) {
			t.Fatalf("AUC %g, want %g; apart %g", got.AUC.Value, want, g.Apart)
		}
		i := got.AUC.Interval
		if !(0 <= i.Low && i.Low <= got.AUC.Value && got.AUC.Value <= i.High && i.High <= 1) ||
			!(i.Low <= got.Seen.Low && got.Seen.High <= i.High) {
			t.Fatalf("AUC %+v, of what was seen %+v", got.AUC, got.Seen)
		}
		// What each thing adds to the mean over others sums up to nothing.
		x := 0.0
		for _, v := range g.linear(g.placed(pairs, fars(g, pairs), weights(g, pairs), float64(len(count))), want) {
			x += v
		}
		if !isNear(x, 0, 1e-9) {
			t.Fatalf("things add %g", x)
		}
	})
}

func fars(g *Given, pairs []Pair) []float64 {
	var out []float64
	for _, p := range pairs {
		out = append(out, g.far(p.A, p.B))
	}
	return out
}

func weights(g *Given, pairs []Pair) []float64 {
	out := make([]float64, g.n)
	for _, p := range pairs {
		out[g.thing[p.A]]++
	}
	return out
}

// Where every pair is nearer than all others, the interval is that of so many things, and no point.
func TestGivenAtTheEnd(t *testing.T) {
	at, given := viewed(20, []float64{1e-9, 1e-9}, 4)
	thing, pairs := Chain(40, given, 4)
	g, err := NewGiven(at, thing, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := g.Compare(pairs).AUC
	// (0.025)^(1/20)
	if got.Value != 1 || !isNear(got.Interval.Low, 0.8316, 1e-4) || got.Interval.High != 1 {
		t.Errorf("%+v", got)
	}
	if seen := g.Compare(pairs).Seen; seen.Low != 1 || seen.High != 1 {
		t.Errorf("seen %+v", seen)
	}
	// Also of so many that parts of them do not sum up to 1 in floating point.
	for _, n := range []int{30, 49, 107} {
		at, given := viewed(n, []float64{1e-9, 1e-9, 1e-9}, 4)
		thing, pairs := Chain(3*n, given, 4)
		many, err := NewGiven(at, thing, Options{Resamples: 100})
		if err != nil {
			t.Fatal(err)
		}
		if got := many.Compare(pairs).AUC; got.Value != 1 || got.Interval.High != 1 {
			t.Errorf("%d things: %+v", n, got)
		}
	}
	none := g.Compare(nil)
	if !math.IsNaN(none.AUC.Value) || !math.IsInf(none.Ratio.Interval.High, 1) || none.Pairs != 0 {
		t.Errorf("of no pairs: %+v", none)
	}
	// Many inputs: others are drawn, and say the same.
	at, given = viewed(300, []float64{0.5, 0.5}, 5)
	thing, pairs = Chain(600, given, 5)
	if g, err = NewGiven(at, thing, Options{Resamples: 100}); err != nil {
		t.Fatal(err)
	}
	auc, r := closedForm([]float64{0.5, 0.5}, 0, 1)
	if got := g.Compare(pairs); g.Others != mostPairs || !isNear(got.AUC.Value, auc, 0.02) || !isNear(got.Ratio.Value,
		r, 0.03) {
		t.Errorf("%+v, want %g and %g", got, auc, r)
	}
	if _, err := NewGiven(choose(at, upTo(6)), thing[:6], Options{}); !errors.Is(err, ErrFew) {
		t.Errorf("three things: %v", err)
	}
	if _, err := NewGiven(mat.NewDense(8, 2, nil), upTo(8), Options{}); !errors.Is(err, ErrConstant) {
		t.Errorf("features that never vary: %v", err)
	}
}

// Samples beside themselves moved and two objects, as they are and moved: all pairs of pairs, where objects have one
// sample or two.
func TestNearer(t *testing.T) {
	r := source(5)
	const samples = 18
	o := &Orbits{At: []*mat.Dense{normal(samples, 2, r), nil}, Object: []int{
		7, 7, 2, 9, 4, 4, 0, 1, 3, 5, 5, 6, 8, 10, 11, 12, 13, 14,
	}}
	o.At[1] = mat.DenseCopyOf(o.At[0])
	for i := range samples {
		o.At[1].Set(i, 0, o.At[0].At(i, 0)+float64(i%3)/4)
		o.At[1].Set(i, 1, o.At[0].At(i, 1)+0.3*elementary.Normal(r))
	}
	far := func(a, i, b, j int) float64 {
		return math.Sqrt(apart(o.At[a].RawRowView(i), o.At[b].RawRowView(j)))
	}
	of := objects(o.Object)
	want, count := 0.0, 0
	for i := range samples {
		for j := range i {
			for k := range 4 {
				if o.Object[i] == o.Object[j] {
					continue
				}
				d := far(k/2, i, k%2, j)
				count++
				for _, rows := range of {
					for _, m := range rows {
						if far(0, m, 1, m) < d {
							want += 1 / float64(len(rows)*len(of))
						}
					}
				}
			}
		}
	}
	want /= float64(count)
	got, err := o.Nearer(1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := got.AUC.Interval
	if !isNear(got.AUC.Value, want, 1e-12) || got.Pairs != samples || got.Things != len(of) ||
		!(i.Low < want && want < i.High) {
		t.Errorf("%+v, want %g", got, want)
	}
	if got, err = o.Nearer(0, Options{}); err != nil || got.AUC.Value != 1 || got.WorstRatio != 0 {
		t.Errorf("at the identity: %v: %+v", err, got)
	}
	same := &Orbits{Object: upTo(8), At: []*mat.Dense{mat.NewDense(8, 2, nil), mat.NewDense(8, 2, nil)}}
	if got, err = same.Nearer(1, Options{}); err != nil || !math.IsNaN(got.AUC.Value) || !math.IsInf(got.Seen.Low, -1) {
		t.Errorf("features that never vary: %v: %+v", err, got)
	}
	same.Object = []int{0, 0, 1, 1, 2, 2, 2, 2}
	if _, err = same.Nearer(1, Options{}); !errors.Is(err, ErrFew) {
		t.Errorf("three objects: %v", err)
	}
}

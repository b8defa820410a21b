package finite

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func function(d, m int, f func(x []float64) []float64) Function {
	return Function{In: d, Out: m, At: func(_ context.Context, x [][]float64) ([][]float64, error) {
		out := make([][]float64, len(x))
		for i := range x {
			// as an engine does
			row := make([]float64, len(x[i]))
			for j, v := range x[i] {
				row[j] = float64(float32(v))
			}
			for _, v := range f(row) {
				out[i] = append(out[i], float64(float32(v)))
			}
		}
		return out, nil
	}}
}

func scalar(d int, f func(x []float64) float64) Function {
	return function(d, 1, func(x []float64) []float64 { return []float64{f(x)} })
}

func normal(seed uint64, n, d int) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 9))
	x := make([][]float64, n)
	for i := range x {
		for range d {
			x[i] = append(x[i], r.NormFloat64())
		}
	}
	return x
}

func ask(tb testing.TB, f Function, x [][]float64, o Options) *Result {
	tb.Helper()
	r, err := Find(tb.Context(), f, x, o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// ring is Σ x_i x_{i+1} + ⅓ Σ x_i³, which has the symmetries of a regular polygon.
func ring(x []float64) float64 {
	var s float64
	for i, v := range x {
		s += v*x[(i+1)%len(x)] + v*v*v/3
	}
	return s
}

// turned is Σ x_i x_{i+1}², which has the turns of a polygon and not its mirrors.
func turned(x []float64) float64 {
	var s float64
	for i, v := range x {
		next := x[(i+1)%len(x)]
		s += v * next * next
	}
	return s
}

// Functions whose groups are known.
func TestKnownGroups(t *testing.T) {
	t.Parallel()
	cube := func(v float64) float64 { return v * v * v }
	for _, c := range []struct {
		name, order, group string
		f                  Function
		o                  Options
		tested             int // at most
	}{
		{name: "D6", f: scalar(6, ring), order: "12", group: "D6", tested: 40},
		{name: "C6", f: scalar(6, turned), order: "6", group: "C6", tested: 40},
		{name: "C8", f: scalar(8, turned), order: "8", group: "C8", tested: 60},
		{name: "S3 x S3", order: "36", group: "S3 x S3", f: scalar(6, func(x []float64) float64 {
			return math.Sin(x[0]+x[1]+x[2]) + x[3]*x[4]*x[5] + 0.2*(x[0]*x[0]+x[1]*x[1]+x[2]*x[2])
		})},
		{name: "S2 wr S3", order: "48", group: "S2 wr S3", f: scalar(6, func(x []float64) float64 {
			return cube(x[0]+x[1]) + cube(x[2]+x[3]) + cube(x[4]+x[5]) +
				math.Sin(x[0]*x[1])*math.Sin(x[2]*x[3])*math.Sin(x[4]*x[5])
		})},
		{name: "none", order: "1", group: "none", f: scalar(6, func(x []float64) float64 {
			var s float64
			for i, v := range x {
				s += float64(i+1)*v*v + v*x[(i+1)%6] + v
			}
			return s
		})},
		{name: "D12", f: scalar(12, ring), order: "24", group: "D12"},
		{
			name: "signs", order: "8", group: "S2 wr S2: all signed permutations", o: Options{Signs: true},
			f: scalar(3, func(x []float64) float64 { return x[0]*x[0]*x[1]*x[1] + x[0]*x[0] + x[1]*x[1] + x[2] }),
		},
		{
			name: "all signs at once", order: "2", group: "C2", o: Options{Signs: true},
			f: scalar(3, func(x []float64) float64 { return (x[0] + 2*x[1] - 3*x[2]) * (x[0] + x[1]) }),
		},
		{
			name: "quarter turn", order: "4", group: "C4", o: Options{Signs: true},
			// the real part of a complex fourth power, and a term that no mirror keeps
			f: scalar(2, func(x []float64) float64 {
				re, im := x[0]*x[0]-x[1]*x[1], 2*x[0]*x[1]
				return re*re - im*im + 0.7*2*re*im
			}),
		},
		{
			name: "answers too", order: "3", group: "C3", o: Options{Outputs: true},
			f: function(3, 3, func(x []float64) []float64 {
				return []float64{x[0] + x[1]*x[1], x[1] + x[2]*x[2], x[2] + x[0]*x[0]}
			}),
		},
		{
			name: "exchanged with answers", order: "6", group: "S3", o: Options{Outputs: true},
			f: function(3, 3, func(x []float64) []float64 {
				s := x[0] + x[1] + x[2]
				return []float64{math.Sin(x[0]) + s*s, math.Sin(x[1]) + s*s, math.Sin(x[2]) + s*s}
			}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := ask(t, c.f, normal(1, 100, c.f.In), c.o)
			if r.Order != c.order || r.Name != c.group || r.AtLeast {
				t.Errorf("order %s, %q, at least: %v; want %s, %q; generators %v", r.Order, r.Name, r.AtLeast, c.order,
					c.group, r.Generators)
			}
			if c.tested > 0 && r.Tested > c.tested {
				t.Errorf("%d maps were held against inputs, want %d at most", r.Tested, c.tested)
			}
			for _, e := range r.Generators {
				if !(e.Error <= r.Limit) || c.o.Outputs != (e.Answers != nil) {
					t.Errorf("generator %+v", e)
				}
			}
		})
	}
}

// Rows of several numbers change places as wholes, and what the function does not look at is told apart.
func TestRows(t *testing.T) {
	t.Parallel()
	f := scalar(9, func(x []float64) float64 {
		var s float64
		for i := 0; i < 6; i += 2 {
			s += math.Sin(x[i] + 2*x[i+1])
		}
		return s * s
	})
	r := ask(t, f, normal(1, 100, 9), Options{Items: [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}})
	if r.Order != "6" || r.Name != "S3" || !slices.Equal(r.Ignored, []int{4}) || len(r.Orbits) != 1 {
		t.Errorf("order %s, %q, ignored %v", r.Order, r.Name, r.Ignored)
	}
}

// A large symmetric function is found by exchanges, and one of more items than are searched says that more may be
// there.
func TestManyItems(t *testing.T) {
	t.Parallel()
	sum := func(x []float64) float64 {
		var s float64
		for _, v := range x {
			s += math.Tanh(v)
		}
		return s
	}
	r := ask(t, scalar(20, sum), normal(1, 64, 20), Options{})
	if r.Order != factorial(20).String() || r.Name != "S20" || r.AtLeast {
		t.Errorf("order %s, %q", r.Order, r.Name)
	}
	r = ask(t, scalar(1024, sum), normal(1, 64, 1024), Options{})
	if r.Name != "S1024" || r.Order != "1024!" || r.AtLeast || r.Evaluations > 200 {
		t.Errorf("order %s, %q after %d evaluations", r.Order, r.Name, r.Evaluations)
	}
	// Two kinds of items: exchanges alone are tried, and more may be there.
	two := func(x []float64) float64 { return sum(x[:40]) * sum(x[40:]) }
	r = ask(t, scalar(80, two), normal(1, 64, 80), Options{Signs: true})
	if r.Name != "S40 x S40" || !r.AtLeast || len(r.Orbits) != 2 {
		t.Errorf("order %s, %q, %d orbits", r.Order, r.Name, len(r.Orbits))
	}
	r = ask(t, scalar(80, func(x []float64) float64 { return dot(x) }), normal(1, 64, 80), Options{Signs: true})
	if want := new(big.Int).Lsh(factorial(80), 80).String(); r.Name != "S2 wr S80" || r.Order != want || r.AtLeast {
		t.Errorf("order %s, %q", r.Order, r.Name)
	}
	_, err := Find(t.Context(), scalar(600, func(x []float64) float64 { return dot(x) + x[7] }), normal(1, 64, 600),
		Options{})
	if !errors.Is(err, ErrOpen) {
		t.Errorf("600 items that are not alike: %v", err)
	}
}

func dot(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return s
}

// A search that may ask no more says what it has, and that it is a bound.
func TestBudget(t *testing.T) {
	t.Parallel()
	r := ask(t, scalar(6, ring), normal(1, 100, 6), Options{Evaluations: 600})
	if !r.AtLeast || r.Why == "" || r.Evaluations > 600 {
		t.Errorf("order %s after %d evaluations: %v %s", r.Order, r.Evaluations, r.AtLeast, r.Why)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	x := normal(1, 10, 2)
	for name, try := range map[string]struct {
		f Function
		x [][]float64
		o Options
	}{
		"a constant":       {f: scalar(2, func([]float64) float64 { return 3 }), x: x},
		"no inputs":        {f: scalar(2, ring)},
		"one item":         {f: scalar(1, ring), x: normal(1, 10, 1)},
		"ragged items":     {f: scalar(2, ring), x: x, o: Options{Items: [][]int{{0}, {0, 1}}}},
		"a short input":    {f: scalar(2, ring), x: [][]float64{{1}}},
		"no number":        {f: scalar(2, ring), x: [][]float64{{1, math.NaN()}}},
		"NaN in an answer": {f: scalar(2, func(x []float64) float64 { return math.Log(x[0]) }), x: x},
	} {
		if _, err := Find(t.Context(), try.f, try.x, try.o); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	x := normal(1, 100, 6)
	if a, b := ask(t, scalar(6, ring), x, Options{}), ask(t, scalar(6, ring), x, Options{}); !reflect.DeepEqual(a, b) {
		t.Error("two answers to one question")
	}
}

// Functions with random coefficients have no symmetry in any of 200 draws.
func TestNothingIsFound(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var a, b [4]float64
		for i := range a {
			a[i], b[i] = r.NormFloat64(), r.NormFloat64()
		}
		f := scalar(4, func(x []float64) float64 {
			var s float64
			for i, v := range x {
				s += a[i]*v + b[i]*v*v*x[(i+1)%4]
			}
			return s
		})
		if got := ask(t, f, normal(seed, 64, 4), Options{Seed: seed, Signs: true}); got.Order != "1" {
			found++
		}
	}
	if found > 10 {
		t.Errorf("%d of 200 functions without symmetry have one", found)
	}
}

// A function that was made invariant by summing over a random group has at least that group, and all generators keep
// it.
func TestSummedOverGroups(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(2, 5).Draw(t, "items")
		var generators []perm
		for range rapid.IntRange(1, 2).Draw(t, "generators") {
			generators = append(generators, rapid.Permutation(identity(d)).Draw(t, "generator"))
		}
		chain := generated(d, generators)
		all := chain.elements(1000)
		f := scalar(d, func(x []float64) float64 {
			var s float64
			for _, p := range all {
				var v float64
				for i := range x {
					v += math.Sqrt(float64(i+2)) * x[p[i]]
				}
				s += math.Sin(3 * v) // what tells even from odd is of a high degree
			}
			return s
		})
		r, err := Find(context.Background(), f, normal(3, 64, d), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Order != chain.order().String() {
			t.Errorf("order %s, want %s of %v", r.Order, chain.order(), generators)
		}
	})
}

// The order of a chain is the number of its elements, and these are closed.
func TestSchreierSims(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "points")
		var generators []perm
		for range rapid.IntRange(0, 3).Draw(t, "generators") {
			generators = append(generators, rapid.Permutation(identity(n)).Draw(t, "generator"))
		}
		// all products, by breadth
		seen := map[string]bool{}
		key := func(p perm) string {
			b := make([]byte, len(p))
			for i, v := range p {
				b[i] = byte(v)
			}
			return string(b)
		}
		queue := []perm{identity(n)}
		seen[key(queue[0])] = true
		for len(queue) > 0 {
			p := queue[0]
			queue = queue[1:]
			for _, g := range generators {
				if q := p.then(g); !seen[key(q)] {
					seen[key(q)] = true
					queue = append(queue, q)
				}
			}
		}
		chain := generated(n, generators)
		all := chain.elements(1000)
		if chain.order().Int64() != int64(len(seen)) || len(all) != len(seen) {
			t.Fatalf("order %s, %d elements, want %d", chain.order(), len(all), len(seen))
		}
		for _, p := range all {
			if !seen[key(p)] || !chain.sift(0, p).trivial() {
				t.Fatalf("%v is no member", p)
			}
		}
	})
}

func TestCycles(t *testing.T) {
	t.Parallel()
	for want, images := range map[string][]int{
		"()": {1, 2, 3}, "(1 2)": {2, 1, 3}, "(1 2 3)": {2, 3, 1}, "(1 -1)": {-1, 2}, "(1 2 -1 -2)": {2, -1},
		"(1 -2)": {-2, -1}, "(1 2)(3 4)": {2, 1, 4, 3},
	} {
		if got := cycles(images); got != want {
			t.Errorf("%v is %s, want %s", images, got, want)
		}
	}
}

package pencil

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// diagonal looks for the lowest directions of a diagonal matrix.
func diagonal(values []float64, limit float64, seed uint64) *krylov {
	n := len(values)
	var mean float64
	for _, v := range values {
		mean += v / float64(n)
	}
	return &krylov{
		n: n, limit: limit, mean: mean, random: random(seed, ofStart),
		basis: mat.NewDense(mostTaken+mostSteps+1, n, nil),
		times: func(v, out []float64) {
			for i, x := range v {
				out[i] = values[i] * x
			}
		},
	}
}

// Of any spectrum, all at or below the limit are found, equal ones as well, or nothing is said; those that are said to
// be known are eigenvalues.
func TestKrylovMissesNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large systems")
	}
	const n, limit = 500, 0.01
	rapid.Check(t, func(t *rapid.T) {
		values := make([]float64, n)
		lowest := rapid.Float64Range(0.0101, 0.3).Draw(t, "lowest beyond")
		for i := range values {
			values[i] = lowest + float64(2*float64(i)/n)
		}
		below := 0
		for range rapid.IntRange(0, 5).Draw(t, "zeros") {
			values[below] = 0
			below++
		}
		for _, v := range rapid.SliceOfN(rapid.Float64Range(0, 0.0099), 0, 3).Draw(t, "soft") {
			values[below] = v
			below++
		}
		k := diagonal(values, limit, rapid.Uint64().Draw(t, "seed"))
		vectors, known, ok := k.find()
		if !ok {
			t.Fatal("no end")
		}
		if k.taken != below || known <= below {
			t.Fatalf("%d are found and %d known, want %d below the limit", k.taken, known, below)
		}
		for j := range known {
			v := mat.Col(nil, j, vectors)
			out := make([]float64, n)
			k.times(v, out)
			value := dot(v, out)
			near := math.Inf(1)
			for _, x := range values {
				near = min(near, math.Abs(x-value))
			}
			if (value <= limit) != (j < below) || !(near <= max(1e-8, roughly*value)) {
				t.Fatalf("direction %d has %g, which is %g from any eigenvalue", j, value, near)
			}
		}
	})
}

// A start that has next to nothing of a direction below the limit meets it all the same, unless it has less than a
// random one ever has.
func TestKrylovOfUnluckyStart(t *testing.T) {
	t.Parallel()
	const n, limit = 400, 0.01
	values := make([]float64, n)
	for i := range values {
		values[i] = 0.1 + float64(2*float64(i)/n)
	}
	values[7] = 0.003
	for _, c := range []struct {
		share float64
		meets bool
	}{{1e-3, true}, {1e-8, true}, {1e-12, true}, {0, false}} {
		k := diagonal(values, limit, 1)
		start := k.start()
		start[7] = 0
		start[7] = c.share * norm(start)
		found, _, _, ok := k.walk(start)
		if !ok || (found[0] <= limit) != c.meets {
			t.Errorf("a share of %g: %v, the lowest is %g", c.share, ok, found[0])
		}
	}
}

// More directions below the limit than walks are made for are left to the search that has the whole matrix.
func TestKrylovGivesUp(t *testing.T) {
	t.Parallel()
	values := make([]float64, 300)
	for i := range values {
		if i > mostTaken {
			values[i] = 1 + float64(i)/300
		}
	}
	if _, _, ok := diagonal(values, 0.01, 1).find(); ok {
		t.Error("more are found than there is room for")
	}
}

// What walks find of equations is what all eigenvalues of their matrix say.
func TestKrylovOfEquations(t *testing.T) {
	t.Parallel()
	const d, objects = 16, 300
	f, x := network(8, d, 4, 6), normal(9, objects, d)
	e := asked(t, f, x, Options{Affine: true})
	e.lists = newFactored(e)
	values, _ := symmetric(e.gram())
	k := newKrylov(e.lists, soft*soft, 3)
	var sum float64
	for _, v := range values {
		sum += v / float64(len(values))
	}
	near(t, "the mean eigenvalue", k.mean, sum, 1e-9*sum)
	vectors, known, ok := k.find()
	if !ok || k.taken != 6 || known < 7 {
		t.Fatalf("%d of 6 below the limit, %d known, %t", k.taken, known, ok)
	}
	first, _ := e.times(vectors)
	for j := range known {
		got, apart := norm(mat.Col(nil, j, first))/math.Sqrt(objects), math.Inf(1)
		for _, v := range values {
			if s := math.Sqrt(max(v, 0)); math.Abs(s-got) < apart {
				apart = math.Abs(s - got)
			}
		}
		if (got <= 1e-6) != (j < 6) || !(apart <= max(1e-6, 0.05*got)) {
			t.Errorf("σ %d is %g, which is %g from all of the matrix", j, got, apart)
		}
		if want := math.Sqrt(values[6]); j == 6 && !(math.Abs(got-want) <= 0.05*want) {
			t.Errorf("the first σ beyond the limit is %g, want %g", got, want)
		}
	}
}

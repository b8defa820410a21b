package weights

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// best is the largest sum over all orders.
func best(n int, gain func(i, j int) float64) float64 {
	var rest func(i int, used int) float64
	rest = func(i, used int) float64 {
		if i == n {
			return 0
		}
		most := math.Inf(-1)
		for j := range n {
			if used>>j&1 == 0 {
				most = max(most, gain(i, j)+rest(i+1, used|1<<j))
			}
		}
		return most
	}
	return rest(0, 0)
}

// No order of up to 7 units has a larger sum than the one that is found, also with ties and negative entries, and each
// column is taken once.
func TestAssignAgainstAllOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 7).Draw(t, "n")
		table := make([][]int, n)
		for i := range table {
			table[i] = rapid.SliceOfN(rapid.IntRange(-6, 6), n, n).Draw(t, "row")
		}
		gain := func(i, j int) float64 { return float64(table[i][j]) }
		to := assign(n, gain)
		sum := 0.0
		for i, j := range to {
			sum += gain(i, j)
		}
		if want := best(n, gain); n > 0 && sum != want {
			t.Fatalf("%v: %v, the best is %v", to, sum, want)
		}
		sorted := slices.Sorted(slices.Values(to))
		for i, j := range sorted {
			if i != j {
				t.Fatalf("%v is no order", to)
			}
		}
	})
}

// A planted order among 200 is found.
func TestAssignFindsAPlantedOrder(t *testing.T) {
	const n = 200
	to := assign(n, func(i, j int) float64 {
		if j == (i*37+11)%n {
			return 1
		}
		return math.Sin(float64(i*n+j)) / 2
	})
	for i, j := range to {
		if j != (i*37+11)%n {
			t.Fatalf("row %d has column %d", i, j)
		}
	}
}

// Where units are settled no order is better; products of a list with itself are, and those with one in another order
// are not.
func TestNoBetterOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 7
	for range 200 {
		a := make([][]float64, n)
		gain := make([][]float64, n)
		for i := range a {
			for range 3 {
				a[i] = append(a[i], r.NormFloat64())
			}
		}
		swapped := r.IntN(2) == 0
		for i := range gain {
			for j := range n {
				k := j
				if swapped && j < 2 {
					k = 1 - j
				}
				gain[i] = append(gain[i], product(a[i], a[k]))
			}
		}
		if got := settled(gain); got == swapped {
			t.Fatalf("swapped %v, settled %v", swapped, got)
		} else if got {
			was, is := 0.0, 0.0
			for i, j := range assign(n, func(i, j int) float64 { return gain[i][j] }) {
				was, is = was+gain[i][i], is+gain[i][j]
			}
			if is > was+1e-9 {
				t.Fatalf("%v settled, and %v is better", was, is)
			}
		}
	}
}

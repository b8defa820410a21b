package weights

import "math"

// assign pairs the rows of a square table with its columns so that the sum of the entries is largest: to[i] is the
// column of row i. It is the method of Kuhn and Munkres with potentials, row by row along shortest paths (Jonker and
// Volgenant, Computing 38, 1987), O(n³). Entries are finite; among equal sums the choice depends on the table alone.
func assign(n int, gain func(i, j int) float64) []int {
	const none = -1
	rows, columns := make([]float64, n), make([]float64, n+1)
	owner, from := make([]int, n+1), make([]int, n+1) // row of a column; column n stands for the row that is placed
	for j := range owner {
		owner[j] = none
	}
	least, seen := make([]float64, n), make([]bool, n+1)
	for i := range n {
		owner[n] = i
		for j := range n {
			least[j], seen[j] = math.Inf(1), false
		}
		seen[n] = false
		at := n
		for owner[at] != none {
			seen[at] = true
			row, next, step := owner[at], none, math.Inf(1)
			for j := range n {
				if seen[j] {
					continue
				}
				if c := -gain(row, j) - rows[row] - columns[j]; c < least[j] {
					least[j], from[j] = c, at
				}
				if least[j] < step {
					step, next = least[j], j
				}
			}
			for j := range n + 1 {
				if seen[j] {
					rows[owner[j]] += step
					columns[j] -= step
				} else if j < n {
					least[j] -= step
				}
			}
			at = next
		}
		for at != n {
			owner[at] = owner[from[at]]
			at = from[at]
		}
	}
	to := make([]int, n)
	for j := range n {
		to[owner[j]] = j
	}
	return to
}

package metric

// assign matches rows with columns, each at most once, so that the sum of the gains is largest; pairs that gain nothing
// are left apart. It gives for each row its column, -1 for none.
//
// It is the Hungarian method with shortest augmenting paths (Jonker and Volgenant, Computing 38, 1987), in the number
// of rows²·columns.
func assign(gain [][]float64) []int {
	n := len(gain)
	got := make([]int, n)
	for i := range got {
		got[i] = -1
	}
	if n == 0 || len(gain[0]) == 0 {
		return got
	}
	k := len(gain[0])
	// Each row also has a column of its own that gains nothing, so that all rows can be matched.
	width := k + n
	cost := func(i, j int) float64 {
		if j < k && gain[i][j] > 0 {
			return -gain[i][j]
		}
		return 0
	}
	const unseen = 2.0 // above every reduced cost of gains up to 1, summed along a path
	u, v := make([]float64, n+1), make([]float64, width+1)
	row := make([]int, width+1) // 1-based row of each column, 0 for none; column 0 is the start
	way := make([]int, width+1)
	least, used := make([]float64, width+1), make([]bool, width+1)
	for i := 1; i <= n; i++ {
		row[0] = i
		at := 0
		for j := range least {
			least[j], used[j] = unseen*float64(n+1), false
		}
		for row[at] != 0 {
			used[at] = true
			r, next, delta := row[at], 0, unseen*float64(n+1)
			for j := 1; j <= width; j++ {
				if used[j] || j > k && j-k != r {
					continue // the idle column of another row
				}
				if c := cost(r-1, j-1) - u[r] - v[j]; c < least[j] {
					least[j], way[j] = c, at
				}
			}
			for j := 1; j <= width; j++ {
				if !used[j] && least[j] < delta {
					delta, next = least[j], j
				}
			}
			for j := 0; j <= width; j++ {
				if used[j] {
					u[row[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			at = next
		}
		for at != 0 {
			row[at] = row[way[at]]
			at = way[at]
		}
	}
	for j := 1; j <= k; j++ {
		if i := row[j]; i > 0 && gain[i-1][j-1] > 0 {
			got[i-1] = j - 1
		}
	}
	return got
}

//go:build !slow && !race

package aggregate

// repetitions of each row of the coverage table: enough to notice a wrong interval. The table itself takes the build
// tag slow.
const repetitions = 100

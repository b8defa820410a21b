package aggregate

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew (with the build tag slow)")

const level = 0.95

// law is a population with its mean.
type law struct {
	name string
	mean float64
	draw func(r *rand.Rand) float64
}

var (
	normal      = law{"normal", 0, func(r *rand.Rand) float64 { return r.NormFloat64() }}
	uniform     = law{"uniform on [0,1]", 0.5, func(r *rand.Rand) float64 { return r.Float64() }}
	exponential = law{"exponential (skewness 2)", 1, func(r *rand.Rand) float64 { return r.ExpFloat64() }}
	chiSquare   = law{
		"squared normal (skewness 2.8)", 1,
		func(r *rand.Rand) float64 { x := r.NormFloat64(); return x * x },
	}
	lognormal = law{
		"lognormal, σ = 0.5 (skewness 1.8)", math.Exp(0.125),
		func(r *rand.Rand) float64 { return math.Exp(0.5 * r.NormFloat64()) },
	}
	heavy = law{
		"lognormal, σ = 1 (skewness 6.2)", math.Exp(0.5),
		func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) },
	}
)

func event(r *rand.Rand, p float64) float64 {
	if r.Float64() < p {
		return 1
	}
	return 0
}

func (l law) sample(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = l.draw(r)
	}
	return x
}

// clustered are n inputs with 5 values each, which move together.
func (l law) clustered(r *rand.Rand, n int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		own := l.draw(r)
		for range 5 {
			x[i] = append(x[i], own+0.1*r.NormFloat64())
		}
	}
	return x
}

func curves(clusters [][]float64) [][]float32 {
	out := make([][]float32, len(clusters))
	for i, c := range clusters {
		for _, v := range c {
			out[i] = append(out[i], float32(v))
		}
	}
	return out
}

func (i Interval) holds(x float64) bool { return i.Low <= x && x <= i.High }

// trial is a row of the coverage table: an interval, a population, and whether one draw of it is covered.
type trial struct {
	interval, law string
	n             int
	// the interval is asymptotic and does not claim its level here
	doubtful bool
	covers   func(r *rand.Rand) bool
}

// failures is a count of events.
func failures(r *rand.Rand, n int, p float64) int {
	k := 0
	for range n {
		if r.Float64() < p {
			k++
		}
	}
	return k
}

// coverage is all rows. Each interval has at least two laws that it claims to hold for.
func coverage(t *testing.T) []trial {
	t.Helper()
	rows := []trial{}
	add := func(interval, law string, n int, covers func(r *rand.Rand) bool) {
		rows = append(rows, trial{interval: interval, law: law, n: n, covers: covers})
	}
	doubt := func(interval, law string, n int, covers func(r *rand.Rand) bool) {
		rows = append(rows, trial{interval, law, n, true, covers})
	}
	mean := func(l law, n int) func(r *rand.Rand) bool {
		return func(r *rand.Rand) bool { return MeanInterval(of(l.sample(r, n)...), level).holds(l.mean) }
	}
	add("MeanInterval", normal.name, 5, mean(normal, 5))
	add("MeanInterval", uniform.name, 20, mean(uniform, 20))
	add("MeanInterval", lognormal.name, 200, mean(lognormal, 200))
	add("MeanInterval of Cluster", normal.name+", clusters of 5", 12, func(r *rand.Rand) bool {
		var m Moments
		for i, c := range curves(normal.clustered(r, 12)) {
			m.Add(CurveMean(nil)(c), i)
		}
		return MeanInterval(m, level).holds(0)
	})
	doubt("MeanInterval", exponential.name, 10, mean(exponential, 10))
	doubt("MeanInterval", heavy.name, 20, mean(heavy, 20))

	student := func(l law, n int) func(r *rand.Rand) bool {
		return func(r *rand.Rand) bool { return StudentBootstrap(l.sample(r, n), 400, level, r).holds(l.mean) }
	}
	for _, l := range []law{normal, exponential, lognormal} {
		add("StudentBootstrap", l.name, 10, student(l, 10))
	}
	add("StudentBootstrap", chiSquare.name, 30, student(chiSquare, 30))
	add("StudentBootstrap", heavy.name, 100, student(heavy, 100))
	add("StudentBootstrap of clusters", exponential.name+", clusters of 5", 20, func(r *rand.Rand) bool {
		var x []float64
		for _, c := range exponential.clustered(r, 20) {
			x = append(x, meanOf(c))
		}
		return StudentBootstrap(x, 400, level, r).holds(1)
	})
	doubt("StudentBootstrap", heavy.name, 10, student(heavy, 10))

	plain := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}
	boot := func(l law, n int, truth float64, stat func([]float64) float64) func(r *rand.Rand) bool {
		return func(r *rand.Rand) bool { return bootstrap(l.clustered(r, n), stat, 999, level, r).holds(truth) }
	}
	add("Bootstrap of the mean", normal.name+", clusters of 5", 10, boot(normal, 10, 0, plain))
	add("Bootstrap of the mean", uniform.name+", clusters of 5", 25, boot(uniform, 25, 0.5, plain))
	add("Bootstrap of the mean", exponential.name+", clusters of 5", 40, boot(exponential, 40, 1, plain))
	add("Bootstrap of the mean", exponential.name+", clusters of 5", 15, boot(exponential, 15, 1, plain))
	add("Bootstrap of the median", normal.name+", clusters of 5", 40,
		boot(normal, 40, 0, func(x []float64) float64 { return exactly(x, 0.5) }))
	doubt("Bootstrap of the mean", heavy.name+", clusters of 5", 20, boot(heavy, 20, heavy.mean, plain))

	type trials struct {
		n int
		p float64
	}
	for _, c := range []trials{{30, 0.1}, {9, 0.5}, {300, 0.004}} {
		add("ClopperPearson", fmt.Sprintf("probability %g", c.p), c.n,
			func(r *rand.Rand) bool { return ClopperPearson(failures(r, c.n, c.p), c.n, level).holds(c.p) })
	}
	add("WilksN, largest value", uniform.name, 59,
		func(r *rand.Rand) bool { return slices.Max(uniform.sample(r, WilksN(0.95, level))) >= 0.95 })
	add("WilksN, largest value", heavy.name, 22, func(r *rand.Rand) bool {
		return slices.Max(heavy.sample(r, WilksN(0.9, level))) >= math.Exp(1.2815515655446004)
	})
	c := Contract{Tau: 0.5, P: 0.05, Confidence: level}
	const above = 0.0500001 // just no longer what the contract allows
	for _, w := range []struct {
		p     float64
		wrong Outcome
	}{{c.P, Broken}, {above, Met}} {
		name := fmt.Sprintf("failures with probability %g, never %v", w.p, w.wrong)
		for _, n := range []int{93, 400} {
			add("Contract", name, n,
				func(r *rand.Rand) bool { return c.Judge(Tally{N: n, Over: failures(r, n, w.p)}).Outcome != w.wrong })
		}
		add("ContractSequence, at every time", name, 1000, func(r *rand.Rand) bool {
			s := c.Sequence()
			for range 1000 {
				if s.Add(event(r, w.p)) == w.wrong {
					return false
				}
			}
			return true
		})
	}

	for _, l := range []law{normal, exponential, heavy} {
		n := 50
		name := "after " + l.name + " plus 1, before another of that law"
		add("Compare, difference", name, n, func(r *rand.Rand) bool {
			a, b := l.sample(r, n), l.sample(r, n)
			for i := range b {
				b[i] += 1 + a[i]/2
			}
			return Compare(a, b, 400, level, r).Difference.holds(1 + l.mean/2)
		})
	}
	for _, l := range []law{exponential, heavy} {
		add("FactorInterval", "before 2·x, after x' independent of it, "+l.name, 30, func(r *rand.Rand) bool {
			a, b := l.sample(r, 30), l.sample(r, 30)
			for i := range a {
				a[i] *= 2
			}
			return FactorInterval(a, b, 400, level, r).holds(2)
		})
	}
	add("FactorInterval", "before 10 ± 1, after 5 ± 1, normal", 10, func(r *rand.Rand) bool {
		a, b := normal.sample(r, 10), normal.sample(r, 10)
		for i := range a {
			a[i], b[i] = 10+a[i], 5+b[i]
		}
		return FactorInterval(a, b, 400, level, r).holds(2)
	})
	add("FactorInterval", "before 3·x, after x·y, lognormal, paired", 20, func(r *rand.Rand) bool {
		a, b := heavy.sample(r, 20), lognormal.sample(r, 20)
		for i := range a {
			a[i], b[i] = 3*a[i]*lognormal.mean, a[i]*b[i]
		}
		return FactorInterval(a, b, 400, level, r).holds(3)
	})
	add("FactorInterval", "exponential in 0.3 of the inputs, else 0", 40, func(r *rand.Rand) bool {
		a, b := exponential.sample(r, 40), exponential.sample(r, 40)
		for i := range a {
			a[i] *= event(r, 0.3)
			b[i] *= event(r, 0.3)
		}
		return FactorInterval(a, b, 400, level, r).holds(1)
	})

	for _, shared := range []float64{0, 0.9} {
		add("Holm", fmt.Sprintf("no false rejection among 6 tests with correlation %g", shared), 6,
			func(r *rand.Rand) bool {
				p, common := make([]float64, 6), r.NormFloat64()
				for i := range p {
					z := math.Sqrt(shared)*common + math.Sqrt(1-shared)*r.NormFloat64()
					p[i] = math.Erfc(math.Abs(z) / math.Sqrt2)
				}
				return slices.Min(Holm(p)) > 1-level
			})
	}
	return rows
}

// TestCoverage draws from populations whose parameters are known and counts how often each interval holds them: what it
// promises, less three standard errors of that count (docs/METRICS.md S7). Rows that an asymptotic interval does not
// claim are in the table so that nobody need guess what it does there.
func TestCoverage(t *testing.T) {
	const golden = "testdata/coverage.golden"
	slack := 3 * math.Sqrt(level*(1-level)/repetitions)
	var table, names strings.Builder
	fmt.Fprintf(&table, "Coverage of intervals of %g over %d repetitions; standard error %.4f\n\n", level, repetitions,
		slack/3)
	fmt.Fprintf(&table, "| interval | law | n | covered | claimed |\n|---|---|---|---|---|\n")
	for _, row := range coverage(t) {
		h := fnv.New64a()
		if _, err := fmt.Fprint(h, row.interval, row.law, row.n); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(h.Sum64(), 17))
		covered := 0
		for range repetitions {
			if row.covers(r) {
				covered++
			}
		}
		got, claimed := float64(covered)/repetitions, "yes"
		if row.doubtful {
			claimed = "no"
		} else if !(got >= level-slack) {
			t.Errorf("%s, %s, n = %d covers %.4f; promised %g, less %.4f for chance", row.interval, row.law, row.n, got,
				level, slack)
		}
		key := fmt.Sprintf("| %s | %s | %d |", row.interval, row.law, row.n)
		fmt.Fprintf(&names, "%s\n", key)
		fmt.Fprintf(&table, "%s %.4f | %s |\n", key, got, claimed)
	}
	t.Log("\n" + table.String())
	if *update {
		if repetitions < 2000 {
			t.Fatal("the table takes more repetitions: go test -tags slow -run TestCoverage -update")
		}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var have strings.Builder
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(line, "|")
		if len(cells) == 7 && strings.TrimSpace(cells[3]) != "n" && !strings.HasPrefix(line, "|--") {
			fmt.Fprintf(&have, "%s|\n", strings.Join(cells[:4], "|"))
		}
	}
	if have.String() != names.String() {
		t.Errorf("%s has other rows than the test: write it with go test -tags slow -run TestCoverage -update", golden)
	}
}

package fold

import (
	"math"
	"slices"

	"nero/measure/aggregate"

	"gonum.org/v1/gonum/stat/distuv"
)

type sketchT struct{ v []float64 }

func (s *sketchT) Add(x float64) { s.v = append(s.v, x) }
func (s *sketchT) Quantile(q float64) float64 {
	if len(s.v) == 0 {
		return math.NaN()
	}
	slices.Sort(s.v)
	return s.v[int(q*float64(len(s.v)-1))]
}

func meanInterval(m *aggregate.Moments, c float64) (lo, hi float64) {
	if m.N < 2 {
		return math.NaN(), math.NaN()
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(m.N - 1)}.Quantile(0.5 + c/2)
	return m.Mean - t*m.StdErr(), m.Mean + t*m.StdErr()
}

func clopperPearson(k, n int, c float64) (lo, hi float64) {
	a := (1 - c) / 2
	lo, hi = 0, 1
	if k > 0 {
		lo = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(a)
	}
	if k < n {
		hi = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - a)
	}
	return lo, hi
}

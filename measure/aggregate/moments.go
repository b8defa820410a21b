package aggregate

import "math"

// Moments summarises numbers in constant space: how many, their mean, spread and extremes, and where the extremes are.
// The zero value is the summary of nothing.
//
// The mean and M2 follow Welford, Technometrics 4 (1962), with the merge of Chan, Golub and LeVeque, The American
// Statistician 37 (1983). A NaN is counted and otherwise left out. An infinity is a number whose mean is infinite (or
// NaN, if both infinities are there) and whose spread is NaN.
type Moments struct {
	// numbers, NaN not among them
	N int
	// values that were NaN
	NaN int
	// arithmetic mean of the numbers; 0 if there are none
	Mean float64
	// sum of squared differences from the mean
	M2 float64
	// smallest number; 0 if there are none
	Min float64
	// largest number; 0 if there are none
	Max float64
	// the lowest sample index at which Min is; 0 if there are no numbers
	ArgMin int
	// the lowest sample index at which Max is; 0 if there are no numbers
	ArgMax int
}

// Add takes in the value x of a sample.
func (m *Moments) Add(x float64, sample int) {
	if math.IsNaN(x) {
		m.NaN++
		return
	}
	m.extremes(x, sample, x, sample)
	m.N++
	if math.IsInf(x, 0) || !finite(m.Mean) {
		m.Mean += x // an infinity stays, opposite ones make NaN
		m.M2 = math.NaN()
		return
	}
	// The conversions keep processors with a fused multiply-add from rounding differently than others.
	d := x - m.Mean
	m.Mean += d / float64(m.N)
	m.M2 += float64(d * (x - m.Mean))
}

// Merge takes in what another summary summarises.
func (m *Moments) Merge(o Moments) {
	m.NaN += o.NaN
	if o.N == 0 {
		return
	}
	if m.N == 0 {
		o.NaN = m.NaN
		*m = o
		return
	}
	m.extremes(o.Min, o.ArgMin, o.Max, o.ArgMax)
	a, b := float64(m.N), float64(o.N)
	m.N += o.N
	if !finite(m.Mean) || !finite(o.Mean) {
		m.Mean += o.Mean
		m.M2 = math.NaN()
		return
	}
	d, n := o.Mean-m.Mean, a+b
	m.Mean += float64(d * (b / n))
	m.M2 += o.M2 + float64(float64(d*d)*(a*(b/n)))
}

func (m *Moments) extremes(lo float64, argLo int, hi float64, argHi int) {
	if m.N == 0 || lo < m.Min || lo == m.Min && argLo < m.ArgMin {
		m.Min, m.ArgMin = lo, argLo
	}
	if m.N == 0 || hi > m.Max || hi == m.Max && argHi < m.ArgMax {
		m.Max, m.ArgMax = hi, argHi
	}
}

// Variance is the unbiased variance M2/(N-1), NaN for fewer than two numbers.
func (m Moments) Variance() float64 {
	if m.N < 2 {
		return math.NaN()
	}
	return m.M2 / float64(m.N-1)
}

// Std is the square root of the variance, NaN for fewer than two numbers.
func (m Moments) Std() float64 { return math.Sqrt(m.Variance()) }

// StdErr is the standard error of the mean, Std/√N, NaN for fewer than two numbers.
func (m Moments) StdErr() float64 { return m.Std() / math.Sqrt(float64(m.N)) }

// RMS is the root mean square of the numbers, NaN if there are none.
func (m Moments) RMS() float64 {
	if m.N == 0 {
		return math.NaN()
	}
	return math.Sqrt(float64(m.Mean*m.Mean) + m.M2/float64(m.N))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

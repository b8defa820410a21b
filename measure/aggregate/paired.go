package aggregate

import (
	"math"

	"nero/internal/distribution"
)

// Pairs counts what became of objects that were judged twice, right or wrong.
type Pairs struct {
	// Both times right, the first time alone, the second time alone, never.
	Both, First, Second, Neither int
}

// Add counts one object.
func (p *Pairs) Add(first, second bool) {
	switch {
	case first && second:
		p.Both++
	case first:
		p.First++
	case second:
		p.Second++
	default:
		p.Neither++
	}
}

// N is how many objects there are.
func (p Pairs) N() int { return p.Both + p.First + p.Second + p.Neither }

// Difference is the share that was right the first time less that the second time, with an interval for the difference
// of the probabilities: method 10 of Newcombe (Statistics in Medicine 17, 1998, 2635), which squares and adds the
// distances to the ends of Wilson's intervals of both shares, less what their correlation φ takes away; φ is corrected
// for continuity where it is positive. It has a width where no pair differs, and stays within [-1,1]. Without pairs it
// is
// [-1,1].
func (p Pairs) Difference(confidence float64) (difference float64, iv Interval) {
	need(confidence)
	n := float64(p.N())
	if n == 0 {
		return math.NaN(), Interval{-1, 1, confidence, 0, 0}
	}
	a, b, c, d := float64(p.Both), float64(p.First), float64(p.Second), float64(p.Neither)
	one, two := (a+b)/n, (a+c)/n
	z := distribution.NormalQuantile((1 + confidence) / 2)
	low1, high1 := wilson(one, n, z)
	low2, high2 := wilson(two, n, z)
	phi := 0.0
	if rows := float64((a+b)*(c+d)) * float64((a+c)*(b+d)); rows > 0 {
		above := float64(a*d) - float64(b*c)
		if above > 0 {
			above = max(above-n/2, 0)
		}
		phi = above / math.Sqrt(rows)
	}
	reach := func(x, y float64) float64 {
		return math.Sqrt(max(float64(x*x)-float64(2*phi*x*y)+float64(y*y), 0))
	}
	difference = (b - c) / n
	return difference, Interval{
		difference - reach(one-low1, high2-two), difference + reach(high1-one, two-low2), confidence, p.N(), 0,
	}
}

// wilson is the interval of Wilson's score for a share of n trials, at so many standard deviations.
func wilson(share, n, z float64) (low, high float64) {
	square := float64(z * z)
	middle := share + square/(2*n)
	width := float64(z * math.Sqrt(float64(share*(1-share))/n+square/float64(4*n*n)))
	return (middle - width) / (1 + square/n), (middle + width) / (1 + square/n)
}

// SignTest is the two-sided exact p-value of the pairs that differ: whether one time is right more often than the
// other, under the hypothesis that each of them goes either way with probability 1/2. 1 where none differs.
func (p Pairs) SignTest() float64 {
	n, k := p.First+p.Second, min(p.First, p.Second)
	if n == 0 || 2*k == n {
		return 1
	}
	// P(X ≤ k) of X ~ Binomial(n, 1/2)
	return min(1, 2*distribution.RegIncBeta(float64(n-k), float64(k+1), 0.5))
}

// Package distribution holds what statistics need of the normal distribution, Student's t and the beta distribution:
// the same bits on every processor.
//
// Its other files are those of Gonum 0.17.0 (mathext, and below it internal/cephes and internal/gonum), with every
// product rounded and with the elementary functions of package elementary; their licence is in LICENSE. The results
// are, bit for bit, those of Gonum on amd64.
package distribution

import (
	"math"

	"nero/internal/elementary"
)

const (
	paramOutOfBounds = "distribution: parameter out of bounds"

	machEp = 1.0 / (1 << 53)
	maxLog = 1024 * math.Ln2
	minLog = -1075 * math.Ln2
)

// NormalCDF is the probability that a number of the standard normal distribution is at most x.
func NormalCDF(x float64) float64 { return 0.5 * elementary.Erfc(-x/math.Sqrt2) }

// StudentQuantile is the number that a variable of Student's t distribution with nu degrees of freedom exceeds with
// probability 1 - p.
func StudentQuantile(nu, p float64) float64 {
	switch {
	case p == 0.5:
		return 0
	case p > 0.5:
		t := InvRegIncBeta(nu/2, 0.5, 2*(1-p))
		return math.Sqrt(nu * (1 - t) / t)
	}
	t := InvRegIncBeta(nu/2, 0.5, 2*p)
	return -math.Sqrt(nu * (1 - t) / t)
}

// StudentSurvival is the probability that a variable of Student's t distribution with nu degrees of freedom exceeds x.
func StudentSurvival(nu, x float64) float64 {
	if x == 0 {
		return 0.5
	}
	t := nu / (float64(x*x) + nu)
	if x > 0 {
		return 0.5 * RegIncBeta(nu/2, 0.5, t)
	}
	return 1 - float64(0.5*RegIncBeta(nu/2, 0.5, t))
}

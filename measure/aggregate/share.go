package aggregate

import "nero/internal/distribution"

// ShareInterval is an interval for the mean of shares, numbers in [0,1] of which each is itself a mean over values of
// one input: that of [ClopperPearson] with as many trials as would vary as much as the shares do, p(1-p)/se², and at
// most one for each input (Korn and Graubard, Survey Methodology 24, 1998, without their correction of the degrees of
// freedom). Values of one input are not independent, so many of them are no more evidence than their spread tells; and
// unlike Student's interval it has a width where all shares are 0 or 1. Without shares it is [0,1].
func ShareInterval(m Moments, confidence float64) Interval {
	need(confidence)
	if m.N == 0 || !finite(m.Mean) || m.Mean < 0 || m.Mean > 1 {
		return Interval{0, 1, confidence, m.N, m.NaN}
	}
	n := float64(m.N)
	if se := m.StdErr(); m.Mean > 0 && m.Mean < 1 && se > 0 {
		n = min(n, m.Mean*(1-m.Mean)/float64(se*se))
	}
	x, tail := float64(m.Mean*n), (1-confidence)/2
	i := Interval{0, 1, confidence, m.N, m.NaN}
	if m.Mean > 0 {
		i.Low = distribution.InvRegIncBeta(x, n-x+1, tail)
	}
	if m.Mean < 1 {
		i.High = distribution.InvRegIncBeta(x+1, n-x, 1-tail)
	}
	return i
}

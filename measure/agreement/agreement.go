// Package agreement says how far answers to the same question agree: whoever is asked several times may say several
// things, and being consistent is another matter than being right.
//
// Answers are compared by what is equal to what. A class stands for all that are equal; which numbers classes have says
// nothing. What is inferred is inferred over objects, with one number for each: answers about one object depend on each
// other.
package agreement

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/internal/elementary"
	"nero/measure/aggregate"
)

// Consistent is from which agreement on an object is consistently answered: of five answers all five are the same, of
// ten nine.
const Consistent = 0.8

// Unlabelled is the class of the right answer where nobody knows it.
const Unlabelled = -1

// Never is the class of a right answer that was not given.
const Never = -2

// Object is what was answered about one object: the class of each answer, at least 0, in the order of the questions.
type Object struct {
	Answers []int
	// Truth is the class of the right answer, [Never] or [Unlabelled].
	Truth int
}

// counts are how often each class was answered.
func counts(answers []int) map[int]int {
	n := map[int]int{}
	for _, c := range answers {
		n[c]++
	}
	return n
}

// Of is the agreement of answers: the share of pairs of them that are equal, Σ n(n-1)/(r(r-1)) for r answers, n of each
// class. Its expectation is Σ p² for answers that come with probabilities p, whatever r is; Σ (n/r)² is larger, by
// (1 - Σ p²)/r (Simpson, Nature 163, 1949). It is NaN with fewer than two answers.
func Of(answers []int) float64 {
	same, r := 0, len(answers)
	for _, n := range counts(answers) {
		same += n * (n - 1)
	}
	if r < 2 {
		return math.NaN()
	}
	return float64(same) / float64(r*(r-1))
}

// Entropy is that of the shares of the answers, in bits: 0 where all are equal, log₂ r at most. Of few answers it is
// smaller than that of what they come from, by about (classes - 1)/(2 r ln 2) (Miller 1955). It is NaN without answers.
func Entropy(answers []int) float64 {
	r := float64(len(answers))
	if r == 0 {
		return math.NaN()
	}
	n := counts(answers)
	sum := 0.0
	for _, c := range answers { // each answer for itself, in their order: the sum has the same bits whatever the map
		sum += elementary.Log2(r / float64(n[c]))
	}
	return sum / r
}

// Mode is what was answered most often. Where several classes were, it is the one that was answered first, and tied is
// true: with questions in a random order none is preferred. Without answers it is [Never].
func Mode(answers []int) (class int, tied bool) {
	n := counts(answers)
	most := 0
	class = Never
	for _, c := range answers {
		switch {
		case n[c] > most:
			class, most, tied = c, n[c], false
		case n[c] == most && c != class:
			tied = true
		}
	}
	return class, tied
}

// Differ is the share of pairs of answers, one of each list, that differ; NaN where one is empty.
func Differ(a, b []int) float64 {
	differ := 0
	for _, x := range a {
		for _, y := range b {
			if x != y {
				differ++
			}
		}
	}
	return float64(differ) / float64(len(a)*len(b))
}

// Deviation is how far answers of numbers lie from their mean: the root of the sum of squared distances over r - 1. It
// is NaN with fewer than two answers, or where they have different lengths.
func Deviation(answers [][]float64) float64 {
	if len(answers) < 2 {
		return math.NaN()
	}
	m := mean(answers)
	if m == nil {
		return math.NaN()
	}
	return math.Sqrt(squares(answers, m) / float64(len(answers)-1))
}

// Scale is the centred scale of answers about several objects: the root mean square distance of an answer from the mean
// of all, objects weighing alike. It is 0 where all answers are the same, NaN where they have different lengths.
func Scale(objects [][][]float64) float64 {
	var means [][]float64
	for _, o := range objects {
		if len(o) == 0 {
			continue
		}
		m := mean(o)
		if m == nil {
			return math.NaN()
		}
		means = append(means, m)
	}
	if len(means) == 0 {
		return math.NaN()
	}
	all := mean(means)
	if all == nil {
		return math.NaN()
	}
	sum, n := 0.0, 0.0
	for _, o := range objects {
		if len(o) > 0 {
			sum += squares(o, all) / float64(len(o))
			n++
		}
	}
	return math.Sqrt(sum / n)
}

// Center is the mean of answers; nil where they have different lengths, or there are none.
func Center(answers [][]float64) []float64 {
	if len(answers) == 0 {
		return nil
	}
	return mean(answers)
}

// mean is that of rows of one length; nil where they have several.
func mean(rows [][]float64) []float64 {
	m := make([]float64, len(rows[0]))
	for _, r := range rows {
		if len(r) != len(m) {
			return nil
		}
		for j, x := range r {
			m[j] += x / float64(len(rows))
		}
	}
	for j, x := range rows[0] { // what is always the same is its own mean, whatever the sum is rounded to
		if !slices.ContainsFunc(rows, func(r []float64) bool { return r[j] != x }) {
			m[j] = x
		}
	}
	return m
}

// squares is the sum of squared distances from a place.
func squares(rows [][]float64, from []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		for j, x := range r {
			d := x - from[j]
			sum += float64(d * d)
		}
	}
	return sum
}

// Distance is the Euclidean distance of two answers; NaN where they have different lengths.
func Distance(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	return math.Sqrt(squares([][]float64{a}, b))
}

// MostDigits is how many significant digits are counted: a number in float64 has no more that are sure.
const MostDigits = 15

// Digits is how many significant digits two numbers have in common, at most [MostDigits]: the largest k for which they
// are no further apart than half a unit of the k-th digit of the larger one. Numbers that are not finite have none in
// common.
func Digits(a, b float64) int {
	large := max(math.Abs(a), math.Abs(b))
	if math.IsNaN(large) || math.IsInf(large, 0) {
		return 0
	}
	if a == b {
		return MostDigits
	}
	_, text, _ := strings.Cut(strconv.FormatFloat(large, 'e', -1, 64), "e")
	e, err := strconv.Atoi(text)
	if err != nil {
		panic("agreement: a number without an exponent")
	}
	apart := math.Abs(a - b)
	for k := MostDigits; k > 0; k-- {
		// the decimal text says which number is meant, to the last bit, on every processor
		half, err := strconv.ParseFloat("5e"+strconv.Itoa(e-k), 64)
		if err == nil && apart <= half {
			return k
		}
	}
	return 0
}

// Share is a share of objects, or the mean of shares of objects, with its interval.
type Share struct {
	Value float64
	aggregate.Interval
}

// share is one of k of n objects.
func share(k, n int, confidence float64) Share {
	s := Share{math.NaN(), aggregate.ClopperPearson(k, n, confidence)}
	if n > 0 {
		s.Value = float64(k) / float64(n)
	}
	return s
}

// ofShares is the mean of one share for each object; those that are NaN are left out, and counted in the interval.
func ofShares(values []float64, confidence float64) Share {
	var m aggregate.Moments
	for i, v := range values {
		m.Add(v, i)
	}
	s := Share{math.NaN(), aggregate.ShareInterval(m, confidence)}
	if m.N > 0 {
		s.Value = m.Mean
	}
	return s
}

// Mean is the mean share of objects that each have one, with an interval over objects.
func Mean(shares []float64, confidence float64) Share { return ofShares(shares, confidence) }

// Summary is what repeats say of all objects together.
type Summary struct {
	// Objects were answered at least twice; Few were not, and are in nothing below but the accuracy of one answer.
	Objects, Few int
	// Agreement is the mean of [Of] over objects, Entropy that of [Entropy] in bits, with Student's interval, which
	// reaches at least as far as the share of others that none of so many leaves possible.
	Agreement Share
	Entropy   Share
	// Full is the share of objects all of whose answers are equal, Tied how many have no single mode.
	Full Share
	Tied int
	// Judged is set where right answers are known.
	Judged *Correctness
}

// Correctness lays consistency beside being right, for the objects whose right answer is known.
type Correctness struct {
	// by whether an object is answered consistently, see [Consistent], and whether its mode is right
	SteadyRight, SteadyWrong, VaryingRight, VaryingWrong int
	// Shares are those of the four counts, in their order.
	Shares [4]Share
	// Errors is the share of the objects with a wrong mode that are answered consistently: errors that asking again
	// does not find.
	Errors Share
	// One is how often an answer is right, Modal the mode, Best at least one answer.
	One, Modal, Best Share
}

// Summarise sums objects up.
func Summarise(objects []Object, confidence float64) Summary {
	var s Summary
	var agreements, right []float64
	var entropies aggregate.Moments
	full, best, most := 0, 0, 0.0
	c := &Correctness{}
	for i, o := range objects {
		known := o.Truth != Unlabelled
		if known && len(o.Answers) > 0 {
			right = append(right, 1-Differ([]int{o.Truth}, o.Answers))
		}
		if len(o.Answers) < 2 {
			s.Few++
			continue
		}
		s.Objects++
		a := Of(o.Answers)
		agreements = append(agreements, a)
		entropies.Add(Entropy(o.Answers), i)
		most = max(most, elementary.Log2(float64(len(o.Answers))))
		if a == 1 {
			full++
		}
		mode, tied := Mode(o.Answers)
		if tied {
			s.Tied++
		}
		if !known {
			continue
		}
		if Differ([]int{o.Truth}, o.Answers) < 1 {
			best++
		}
		steady := a >= Consistent
		switch {
		case mode == o.Truth && steady:
			c.SteadyRight++
		case mode == o.Truth:
			c.VaryingRight++
		case steady:
			c.SteadyWrong++
		default:
			c.VaryingWrong++
		}
	}
	s.Agreement = ofShares(agreements, confidence)
	s.Entropy = Share{math.NaN(), aggregate.MeanInterval(entropies, confidence)}
	if s.Objects > 0 {
		s.Entropy.Value = entropies.Mean
		// as many others as none of so many leaves possible may have the largest entropy, or none
		unseen := aggregate.ClopperPearson(0, s.Objects, confidence).High
		s.Entropy.High = max(s.Entropy.High, entropies.Mean+float64(unseen*(most-entropies.Mean)))
		s.Entropy.Low = max(0, min(s.Entropy.Low, entropies.Mean*(1-unseen)))
	}
	s.Full = share(full, s.Objects, confidence)
	if len(right) == 0 {
		return s
	}
	wrong := c.SteadyWrong + c.VaryingWrong
	modal := c.SteadyRight + c.VaryingRight
	c.Errors = share(c.SteadyWrong, wrong, confidence)
	for i, k := range []int{c.SteadyRight, c.SteadyWrong, c.VaryingRight, c.VaryingWrong} {
		c.Shares[i] = share(k, modal+wrong, confidence)
	}
	c.One = ofShares(right, confidence)
	c.Modal, c.Best = share(modal, modal+wrong, confidence), share(best, modal+wrong, confidence)
	s.Judged = c
	return s
}

// InCommon is the share of numbers that have at least k significant digits in common, for k from 1 to [MostDigits] at
// index k - 1: over pairs of answers about one object, then over the numbers of an answer, then over objects, each
// object weighing alike. Objects with fewer than two answers are left out; nil where none is left. A number that the
// shorter of two answers lacks has none in common.
func InCommon(objects [][][]float64) []float64 {
	sums, n := make([]float64, MostDigits), 0
	for _, answers := range objects {
		at := make([]int, MostDigits+1) // pairs of numbers with so many digits in common
		pairs := 0
		for i, a := range answers {
			for _, b := range answers[:i] {
				for j := range max(len(a), len(b)) {
					common := 0
					if j < min(len(a), len(b)) {
						common = Digits(a[j], b[j])
					}
					at[common]++
					pairs++
				}
			}
		}
		if pairs == 0 {
			continue
		}
		n++
		atLeast := 0
		for k := MostDigits; k > 0; k-- {
			atLeast += at[k]
			sums[k-1] += float64(atLeast) / float64(pairs)
		}
	}
	if n == 0 {
		return nil
	}
	for k := range sums {
		sums[k] /= float64(n)
	}
	return sums
}

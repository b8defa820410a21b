package decode

import (
	"fmt"
	"math"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/elementary"
)

// scoresKind is one number per class.
var scoresKind = kind{
	of:  space.KindScores,
	one: readDecoded,
	decoded: &decoded{
		ways: []string{softmax, probabilities, logits, raw}, usual: softmax, plain: logits,
		batched: func(shape []int) bool { return len(shape) >= 2 && shape[0] <= 1 }, // 1 or free
		fits:    fitsScores,
		spec: func(d *decoder, s []int, o *space.Spec) {
			if o.Type = logits; d.normalized() {
				o.Type = probabilities
			}
			o.Shape = []int{-1}
			if s != nil {
				o.Shape[0] = times(s)
			}
		},
		split: splitScores,
		raw: func(d *decoder, v []float64, _ []int) ([]float64, []int, error) {
			return fill(v, slices.Clone(d.sampleShapeOrNil()), len(v))
		},
	},
}

// normalized tells whether scores are probabilities.
func (d *decoder) normalized() bool { return d.how == softmax || d.how == probabilities }

func fitsScores(d *decoder, s []int, what string) error {
	long, free := 0, 0
	for _, n := range s {
		switch {
		case n > 1:
			long++
		case n < 0:
			free++
		}
	}
	if long > 1 || long == 1 && free > 0 && len(s) > 1 && s[0] < 0 {
		return fmt.Errorf("%s is not one number per class; set output.space: mask, image, field or tensor", what)
	}
	if d.how == softmax && long == 0 && free == 0 {
		return fmt.Errorf("%s is one number per sample, whose softmax is always 1; set output.decode: raw", what)
	}
	return nil
}

// splitScores keeps the model's own numbers beside their softmax.
func splitScores(d *decoder, val []float64, s []int, n int, what shaped) ([]space.Value, error) {
	per := tensor.Count(s)
	scores := make([]space.Scores, n)
	var returned []float64
	if d.how == softmax {
		returned = slices.Clone(val)
	}
	i := 0
	return each(val, s, n, what, func(v []float64) (space.Value, error) {
		if err := d.scores(v); err != nil {
			return nil, err
		}
		one := &scores[i]
		if *one = (space.Scores{Val: v, Probabilities: d.normalized()}); returned != nil {
			one.Raw = returned[i*per : (i+1)*per : (i+1)*per]
		}
		i++
		return one, nil
	})
}

// scores turns v into what was asked for, in place.
func (d *decoder) scores(v []float64) error {
	switch d.how {
	case softmax:
		Softmax(v)
	case probabilities:
		sum, finite := 0.0, true
		for _, x := range v {
			finite = finite && !math.IsNaN(x) && !math.IsInf(x, 0)
			sum += x
		}
		if !finite {
			return nil // passed on as it is, and reported where predictions are judged
		}
		// 1e-3 admits the rounding of half precision.
		const tol = 1e-3
		for k, x := range v {
			if x < -tol || x > 1+tol {
				return fmt.Errorf("class %d has the probability %g; these are no probabilities, set output.decode: "+
					"softmax", k, x)
			}
		}
		if len(v) > 1 && math.Abs(sum-1) > tol {
			return fmt.Errorf("the probabilities sum to %.4g, not 1; set output.decode: softmax, or raw if classes "+
				"do not exclude each other", sum)
		}
	}
	return nil
}

// Softmax replaces v by exp(v[k]) / sum over j of exp(v[j]), computed after subtracting the maximum so that nothing
// overflows. NaN or +infinity anywhere makes every value NaN; -infinity gives 0.
func Softmax(v []float64) {
	top := math.Inf(-1)
	for _, x := range v {
		top = max(top, x) // max returns NaN if either is
	}
	sum := 0.0
	for k, x := range v {
		v[k] = elementary.Exp(x - top)
		sum += v[k]
	}
	for k := range v {
		v[k] /= sum
	}
}

package metric

import "math"

// OnlyOfFeatures says that all of these metrics, which are given by name, read answers as features: such answers are
// held against no label. It is false where there are none.
func OnlyOfFeatures(names []string) bool {
	for _, name := range names {
		if m, err := Find(name); err != nil || !m.OfFeatures {
			return false
		}
	}
	return len(names) > 0
}

// FeatureRatio is the Euclidean norm of the defect over how far two samples are apart.
var FeatureRatio = &Metric{
	Title: "way to another input",
	Name:  "feature_ratio", OfFeatures: true, Scaled: true, Ref: Self, Better: Lower, Range: [2]float64{0, math.Inf(1)},
	Spaces: numeric,
	Doc: "absolute / (√2 s), s as in relative, so that √2 s is the root mean square distance of the answers to two " +
		"samples: 0 where features stay, 1 where they go as far as another sample is",
	Says: "moves its features %s of the way to those of another input",
	Measure: func(c Case) float64 {
		return Relative.Measure(c) / math.Sqrt2
	},
}

// FeatureCosine is the cosine between the output and that of the unmoved input, both less the mean of all outputs.
var FeatureCosine = &Metric{
	Title: "cosine of the features",
	Name:  "feature_cosine", OfFeatures: true, Centred: true, Ref: Self, Better: Higher, Range: [2]float64{-1, 1},
	Spaces: numeric,
	Doc: "cosine between z(g,x) - c and f(x) - c, c the mean of f over the samples, of rows that of a row: 1 where " +
		"features point the same way, 0 where they have nothing to do with each other; no value where one of them is c",
	Measure: func(c Case) float64 {
		x, y := Numbers(written(c.Got, c.Want)), Numbers(c.Want)
		n := len(c.Centre)
		if n == 0 || len(x) == 0 || len(x) != len(y) || len(x)%n != 0 {
			return math.NaN()
		}
		var xy, xx, yy float64
		for i, v := range x {
			a, b := v-c.Centre[i%n], y[i]-c.Centre[i%n]
			xy, xx, yy = xy+float64(a*b), xx+float64(a*a), yy+float64(b*b)
		}
		// Both roots are taken for themselves, so that squares of large features do not overflow together.
		v := xy / (math.Sqrt(xx) * math.Sqrt(yy))
		if math.IsNaN(v) {
			return v
		}
		return min(max(v, -1), 1)
	},
}

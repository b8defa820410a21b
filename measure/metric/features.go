package metric

import "math"

// FeatureRatio is the Euclidean norm of the defect over how far two samples are apart.
var FeatureRatio = &Metric{
	Title: "way to another input",
	Name:  "feature_ratio", Scaled: true, Ref: Self, Better: Lower, Range: [2]float64{0, math.Inf(1)}, Spaces: numeric,
	Doc: "absolute / (√2 s), s as in relative, so that √2 s is the root mean square distance of the answers to two " +
		"samples: 0 where features stay, 1 where they go as far as another sample is",
	Says: "moves its features %s of the way to those of another input",
	Measure: func(c Case) float64 {
		return Relative.Measure(c) / math.Sqrt2
	},
}

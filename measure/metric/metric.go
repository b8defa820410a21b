// Package metric compares predictions: with a target (does it stay right?) or with the model's own answer at the identity
// (is it equivariant?), each under a name, a unit and a direction.
package metric

import (
	"nero/data/space"
)

// Direction says which way a metric is better.
type Direction string

// The directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Reference says what a prediction is compared with. The two are never mixed in one curve.
type Reference string

// The references.
const (
	Target Reference = "target" // g·t, the label moved along
	Self   Reference = "self"   // g·f(x), the model's own answer at the identity moved along
)

// Case is what one comparison sees.
type Case struct {
	Got   space.Value // the prediction at g, pulled back to the frame of the identity
	Want  space.Value // the prediction at the identity (Self metrics)
	Prev  space.Value // the pulled-back prediction at the preceding element of the plan, the last one for the first
	Label int         // the class of the sample, -1 if there is none (Target metrics)
	Scale float64     // centred scale of the output over the samples, see [Relative]; NaN when it is not known
}

// Metric is a named comparison. It is a documented constant value.
type Metric struct {
	Name, Doc string
	Unit      string     // "" for a pure number
	Range     [2]float64 // of possible values, ±Inf where unbounded
	Binary    bool       // every value is 0 or 1: means are proportions
	// Normalized says that the scores must be probabilities: on a model's raw numbers there is no value.
	Normalized bool
	Better     Direction
	Ref        Reference
	Spaces     []space.Kind // of predictions that it understands
	// Measure returns NaN where the comparison has no value, such as a NaN in the prediction. It never hides one.
	Measure func(c Case) float64
}

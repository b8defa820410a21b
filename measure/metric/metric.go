// Package metric compares predictions: with a target (does it stay right?), with the model's own answer at the identity
// (is it equivariant?), each under a name, a unit and a direction.
package metric

import "nero/data/space"

// Direction says which way a metric is better.
type Direction string

// The directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Reference says what a prediction is compared with. The three are never mixed in one curve.
type Reference string

// The references.
const (
	Target Reference = "target" // g·t, the label moved along
	Self   Reference = "self"   // g·f(x), the model's own answer at the identity moved along
)

// Truth is the target of one sample.
type Truth struct {
	Label int // class; -1 if there is none
}

// Metric is a named comparison. It is a documented constant value.
type Metric struct {
	Name, Doc string
	Unit      string     // "" for a pure number
	Range     [2]float64 // possible values, ±Inf where unbounded
	Better    Direction
	Ref       Reference
	Space     space.Kind // of the prediction
	// Measure compares a prediction, pulled back to the frame of the reference, with the target or the self reference
	// (want is nil for Target metrics, truth is unused for Self metrics). Scale is the centred scale of the output over
	// the samples (metrics.md B1), used by relative metrics. A comparison that has no value returns NaN.
	Measure func(got, want space.Value, truth Truth, scale float64) float64
}

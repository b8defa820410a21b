// Package group holds pure groups: charts, composition, inverses, distances, enumeration, sampling and exponential
// maps. It knows no data; package action says how an element moves an image or a feature map.
//
// An element is its coordinates in the group's chart, so stored columns, plot axes and JSON need no translation. Angles
// in charts are degrees, because quarter turns and the steps of C_n are then exact numbers and what a person reads is
// what is stored; shifts are pixels; scales are factors. Generators of Lie algebras use radians, pixels and
// log-factors, as the formulas do. The conversion between the two happens in this package and its catalogue.
package group

import "math/rand/v2"

// Element is a group element: one number per axis of the chart of its group.
type Element []float64

// Axis is one coordinate of a chart.
type Axis struct {
	// such as "angle", "dx", "mirror"
	Name string `json:"name"`
	// "deg", "px", "factor" or "" for a count or a switch
	Unit string `json:"unit"`
	// what the coordinate does; nil says no more than [KindNumber]
	Kind *Kind `json:"kind,omitempty"`
	// range in use; for a periodic axis the period is Max-Min and Max itself is excluded
	Min float64 `json:"min"`
	// ±Inf where nothing bounds the coordinate
	Max      float64 `json:"max"`
	Periodic bool    `json:"periodic"` //
}

// Group is a group with a chart. Implementations are immutable values, safe for concurrent use.
type Group interface {
	Name() string // as package catalog reads it, such as "SO(2)" or "C4"
	Chart() []Axis
	Identity() Element
	Mul(g, h Element) Element  // g∘h: h acts first. The result is in the chart's canonical range
	Inv(g Element) Element     //
	Dist(g, h Element) float64 // a metric that respects periods and double covers; 0 exactly for equal elements
}

// Finite is a group whose elements can be listed.
type Finite interface {
	Group
	Elements() []Element // identity first, no two equal
}

// Sampler draws elements from the Haar measure where the group is compact, else from the uniform measure of its window.
type Sampler interface {
	Group
	Sample(r *rand.Rand) Element
}

// Lie is a group with one-parameter subgroups.
type Lie interface {
	Group
	Generators() []Generator
	// Exp is the element exp(Σ t[i] X_i), one coefficient per generator, in the generators' units.
	Exp(t []float64) Element
}

// Generator is a basis vector of a Lie algebra.
type Generator struct {
	// such as "rotation"
	Name string
	// of its coefficient: "rad", "px", "log-factor", or "" if it has none
	Unit string
}

// Planar is a group that acts on the plane by affine maps.
type Planar interface {
	Group
	// Affine is the map p -> A·p + t on points (x to the right, y down, in pixels, origin at the centre of the
	// picture). A positive angle turns counter-clockwise as displayed: a quarter turn has A = [[0,1],[-1,0]] because y
	// points down. Entries are exact (0, ±1) wherever the map is a lattice symmetry.
	Affine(g Element) (a [2][2]float64, t [2]float64)
}

// Package metric compares predictions: with a target (does it stay right?), with the model's own answer at the identity
// (is it equivariant?) or with the consensus of its answers (does it agree with itself?), each under a name, a unit and
// a direction.
//
// Boxes. The value of one sample is that of its most confident box, of those that the decoder has left by the study's
// score limit, and the key object, the first of the reference; without a box it is 0, a miss, and without a key object
// in the window it is undefined, NaN. Boxes and objects are matched as in COCO's evaluation, by falling score at IoU >=
// 0.5; an object that has left the window (no area) is none, one that the edge cuts counts with the part that is seen.
// Against a model's own answers, what either window cuts or did not see counts for nothing.
//
// Masks are compared with the truth by counts of pixels of each class, which are summed over samples before anything is
// divided; pixels that are void in the truth count for nothing.
//
// Fields are compared at every pixel; displacements and errors are in pixels, derivatives per frame.
//
// Rows, pairs, signals and frames are compared number by number, or row by row as vectors or rotations; errors are in
// the unit of the output, see [Metric.Of]. Of records every field has metrics of its own, such as forces.rmse, see
// [OfField].
package metric

import (
	"cmp"
	"context"
	"strings"

	"nero/data/space"
)

// Direction says which way a metric is better.
type Direction string

// The directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Reference says what a prediction is compared with. They are never mixed in one curve.
type Reference string

// The references.
const (
	Target    Reference = "target"    // g·t, the label or the field or the boxes of the data, moved along
	Self      Reference = "self"      // g·f(x), the model's own answer at the identity moved along
	Consensus Reference = "consensus" // g·c, the mean of the model's own answers over the orbit, moved along
)

// Case is what one comparison sees.
type Case struct {
	// the prediction at g, pulled back to the frame of the identity
	Got space.Value
	// the prediction at the identity (Self metrics)
	Want space.Value
	// the pulled-back prediction at the preceding element of the plan, the last one for the first
	Prev space.Value
	// the class of the sample, -1 if there is none (Target metrics)
	Label int
	// centred scale of the output over the samples, see [Relative]; NaN when it is not known
	Scale float64
	// Scales are those of the fields of a record, by name.
	Scales map[string]float64
	// Centre is the mean of the output over the samples, unmoved, of rows that of a row; nil when it is not known.
	Centre []float64
	// Centres are those of the fields of a record, by name.
	Centres map[string][]float64
	// Nodes is how many atoms or points the sample has; 0 if that is not known. Of records with forces or positions it
	// need not be said.
	Nodes int
	// At is the prediction at g in the frame of g, as the model gave it. Got is At where the output does not move.
	At space.Value
	// Truth is the reference in the frame of g: the target of the sample, the prediction at the identity or the
	// consensus, moved by g, as the metric's Ref says; nil if the reference is a class alone, which is in Label.
	Truth space.Value
	// Element are the coordinates of g; nil where nobody says.
	Element []float64
	// Pixels are [PixelsOf] the case where somebody has counted them, else nil.
	Pixels []Pixels
}

// Heading is what people read of a metric: its title, or its name with spaces.
func (m *Metric) Heading() string { return cmp.Or(m.Title, strings.ReplaceAll(m.Name, "_", " ")) }

// Metric is a named comparison. It is a documented constant value.
type Metric struct {
	Name, Doc string
	// Title is what people read in menus, legends and tables, such as "average end-point error"; "" for the name
	// itself, with spaces. See [Metric.Heading].
	Title string
	// Says is what a mean of it says of a model, with a %s for the value, such as "is off by %s"; of a Binary metric
	// for the share of the inputs, such as "is right on %s". "" for metrics of which no sentence is made.
	Says string
	// Port is the field of a record that the metric looks at, "" for the whole prediction; the name is then
	// "Port.metric".
	Port string
	// "" for a pure number
	Unit string
	// of possible values, ±Inf where unbounded
	Range [2]float64
	// every value is 0 or 1: means are proportions
	Binary bool
	// Scaled says that Measure reads the centred scale of the output, see [Case].
	Scaled bool
	// Centred says that Measure reads the mean of the output, see [Case].Centre.
	Centred bool
	// OfFeatures says that the answer is read as features: its largest number is no class.
	OfFeatures bool
	// OfNodes says that Measure reads how many nodes a case has.
	OfNodes bool
	// OfOutput says that values are in the unit of the output, which stands for the %, such as "%²"; "" for metrics
	// with a unit of their own. See [Metric.Of].
	OfOutput string
	// Usual says that a study that names no metrics shows this one wherever it makes sense, behind those that nero
	// itself finds usual.
	Usual bool
	// Normalized says that the scores must be probabilities: on a model's raw numbers there is no value.
	Normalized bool
	Better     Direction
	Ref        Reference
	// of predictions that it understands
	Spaces []space.Kind
	// Movable says that the metric compares At with Truth, or with Label, whatever the reference is: then it may be
	// asked against the consensus or the model's own answer, under a name such as iou@consensus; see [Against].
	Movable bool
	// Pooled computes the metric of a set of samples at one element from the evidence of each, such as an average
	// precision, which is no mean of per-sample values; nil for metrics whose aggregate is their mean. See
	// [Metric.Resampler] for its value on many resamples.
	Pooled func(e []Evidence) float64
	// OfHits says that Pooled reads the Hits and Truths of the evidence; otherwise it reads Value alone.
	OfHits bool
	// OfPixels says that Pooled reads the Pixels of the evidence.
	OfPixels bool
	// ByClass makes the metric of one class, whose name may be ""; nil for metrics that are not a family. In a study
	// the family stands for one of each class.
	ByClass func(class int, name string) *Metric
	// Any says that it takes predictions of every kind.
	Any bool
	// Try measures as Measure does and says why there is no value; nil for metrics whose reasons are known.
	Try func(c Case) (float64, error)
	// Ask computes the number where that is done outside of this program and may fail, such as by a program of the
	// user's; nil for all others. Measure is then not called. Calls may run at once.
	Ask func(ctx context.Context, c Case) (float64, error)
	// Round says that the value of a sample is the worst along its orbit, see [Metric.Worst]; Measure is then that of
	// one element.
	Round bool
	// Steps says that Measure reads Prev of a case: its values depend on how far apart the elements are.
	Steps bool
	// Measure returns NaN where the comparison has no value, such as a NaN in the prediction. It never hides one.
	Measure func(c Case) float64

	// of a metric of a field: what it makes of that field
	inner *Metric
	// Measure of a movable metric, where the reference makes a difference
	against func(c Case, ref Reference) float64
	// Pooled of many resamples; nil if there is no faster way
	sorted func(e []Evidence) func(count []int) float64
}

// WholeOrbit reports whether a value at one element depends on which others are visited.
func (m *Metric) WholeOrbit() bool { return m.Round || m.Steps || m.Ref == Consensus }

// Evidence is what one sample adds to a metric of a set at one element.
type Evidence struct {
	// of the metric for this sample alone, as Measure gives it
	Value float64
	// in the order of the prediction, which is that of equal scores
	Hits []Hit
	// number of objects in the reference, by class
	Truths []int32
	// of masks: what their pixels are, see [PixelsOf]
	Pixels []Pixels
	// of the sample, -1 for none
	Label int
}

// Hit is one predicted box and what it was matched with.
type Hit struct {
	Score float32
	Label int32
	// Match has bit k set if the box was matched with an object of its class at an IoU of at least 0.50 + 0.05·k, 0 <=
	// k < 10, each object being matched once at each threshold, best score first.
	Match uint16
}

// Package fold reduces the rows of a run to its summary: the aggregate NERO curves of every model, metric and slice,
// with spread, interval, worst case and counts. Rows pass through once and memory does not grow with their number.
package fold

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/measure/metric"
	"nero/run/job"
	"nero/symmetry/group"
)

// Summary is what a run says on one page. NaN and infinities in float fields are written to JSON as null.
type Summary struct {
	Format int `json:"format"`
	// hash
	Job   string `json:"job"`
	Group string `json:"group"`
	// of a group of the user
	Definition string          `json:"group_definition,omitempty"`
	Chart      Chart           `json:"chart"`
	Elements   []group.Element `json:"elements"`
	// acts without resampling
	Exact []bool `json:"exact"`
	// what a mean over the orbit is over
	Measure    string  `json:"measure"`
	Confidence float64 `json:"confidence"`
	Samples    int     `json:"samples"`
	// samples that could not be evaluated
	Failed int      `json:"failed"`
	Models []string `json:"models"`
	// centred scale s of each model's output, of rows that of one row; NaN if it was not needed
	Scales []Number `json:"scales"`
	// FieldScales are those of the fields of outputs that are records, for each model.
	FieldScales []map[string]Number `json:"field_scales,omitempty"`
	// Sizes are the root mean squares of what the scales are of, NaN where there is no scale; older summaries have
	// none.
	Sizes   []Number `json:"sizes,omitempty"`
	Metrics []Metric `json:"metrics"`
	// "all" first, then one per class
	Slices []Slice `json:"slices"`
	// one per (model, metric, slice), in that nesting
	Curves []Curve `json:"curves"`
	// one per model if a metric is against the consensus
	Consensus []Consensus `json:"consensus,omitempty"`

	// groups that Open may find beside those of package catalog
	more []group.Group
	// metrics that Known finds, nil for those of package metric
	known metric.List
}

// Know lets [Summary.Open] find groups beside those of package catalog. The kinds of the chart's axes come from the
// group of the run.
func (s *Summary) Know(more ...group.Group) {
	s.more = more
	if g, err := s.Open(); err == nil {
		if chart := g.Chart(); len(chart) == len(s.Chart) {
			s.Chart = chart
		}
	}
}

// KnowMetrics lets [Summary.Known] find metrics beside those of [metric.Builtin].
func (s *Summary) KnowMetrics(known metric.List) { s.known = known }

// Known is all that is known of metric i, beyond what is stored; the error is for one that this program has not.
func (s *Summary) Known(i int) (*metric.Metric, error) {
	if s.known == nil {
		return metric.Find(s.Metrics[i].Name)
	}
	return s.known.Find(s.Metrics[i].Name)
}

// Metric describes a metric of the run.
type Metric struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	Unit string `json:"unit,omitempty"`
	// higher, lower
	Better string `json:"better"`
	// target, self
	Ref   string    `json:"ref"`
	Range [2]Number `json:"range"`
	// Pooled says that means are no means over samples: the metric is computed of all samples at each element, and its
	// intervals come from resamples of the samples.
	Pooled bool `json:"pooled,omitempty"`
}

// Heading is what people read of the metric. Of one that only another program knows it is the name.
func (m Metric) Heading() string {
	if known, err := metric.Find(m.Name); err == nil {
		return known.Heading()
	}
	return strings.ReplaceAll(m.Name, "_", " ")
}

// Slice is a subset of the samples.
type Slice struct {
	// "all", or the class
	Name string `json:"name"`
	// -1 for all
	Label int `json:"label"`
	N     int `json:"n"`
}

// Curve is one aggregate NERO curve. Every list has one entry per element of the orbit.
type Curve struct {
	Model  int `json:"model"`
	Metric int `json:"metric"`
	Slice  int `json:"slice"`

	// finite values
	N []int `json:"n"`
	// values that are NaN or infinite. They are in no mean: where Bad > 0 the mean is of the others
	Bad  []int    `json:"bad"`
	Mean []Number `json:"mean"` //
	// over samples
	SD []Number `json:"sd"`
	// interval of the mean over samples
	Lo []Number `json:"lo"`
	Hi []Number `json:"hi"`
	// spread over samples
	P10 []Number `json:"p10"`
	P90 []Number `json:"p90"`
	Min []Number `json:"min"`
	Max []Number `json:"max"`

	// Orbit is the mean over the orbit: each sample is reduced to its own mean first, so the interval is clustered by
	// sample.
	Orbit Estimate `json:"orbit"`
	// Moved is the same without the identity: of the inputs that were moved. N is 0 where the plan has the identity
	// alone or does not have it, and in summaries that are older than this.
	Moved Estimate `json:"moved"`
	// Worst is the worst value along the orbit of each sample, averaged: worst-of-orbit accuracy for accuracy.
	Worst Estimate `json:"worst"`
	// Change is the mean over the orbit less the value at the identity, sample by sample: its interval says whether
	// moving the inputs changes the metric at all.
	Change Estimate `json:"change"`
	// WorstElement is the element with the worst mean, -1 if there is none.
	WorstElement int `json:"worst_element"`
	// WorstSample and WorstAt are the single worst value: its sample and element.
	WorstSample string `json:"worst_sample"`
	WorstAt     int    `json:"worst_at"`
	WorstValue  Number `json:"worst_value"`
	// FirstBad is the first sample with a value that is not finite, and BadAt the element; empty and -1 if there is
	// none.
	FirstBad string `json:"first_bad,omitempty"`
	BadAt    int    `json:"bad_at"`
	// Widths are the full widths at half maximum along the axes of shifts; of metrics that are better when higher.
	Widths []Width `json:"widths,omitempty"`
}

// Estimate is a mean over samples with its interval.
type Estimate struct {
	N    int    `json:"n"`
	Mean Number `json:"mean"`
	SD   Number `json:"sd"`
	Lo   Number `json:"lo"`
	Hi   Number `json:"hi"`
}

// Curve finds the curve of (model, metric, slice), nil if there is none.
func (s *Summary) Curve(model, metric, slice int) *Curve {
	i := (model*len(s.Metrics)+metric)*len(s.Slices) + slice
	if model < 0 || metric < 0 || slice < 0 || metric >= len(s.Metrics) || slice >= len(s.Slices) ||
		i >= len(s.Curves) {
		return nil
	}
	return &s.Curves[i]
}

// Chart is the chart of the group of a run. JSON leaves out the kinds of its axes, which follow from the group.
type Chart []group.Axis

// MarshalJSON leaves out the kinds.
func (c Chart) MarshalJSON() ([]byte, error) {
	axes := slices.Clone([]group.Axis(c))
	for i := range axes {
		axes[i].Kind = nil
	}
	return json.Marshal(axes)
}

// UnmarshalJSON takes the kinds of the chart's axes from the group, where [Summary.Open] opens it.
func (s *Summary) UnmarshalJSON(b []byte) error {
	type plain Summary
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	s.Know(s.more...)
	return nil
}

// Open is the group of the run. It is an error for groups of a newer program, and for those that a program of the user
// defines.
func (s *Summary) Open() (group.Group, error) {
	return job.OpenGroup(context.Background(), s.Group, s.Definition, nil, s.more...)
}

// Identity is the index of the identity among the elements, -1 if it is not there.
func (s *Summary) Identity() int {
	g, err := s.Open()
	if err != nil {
		return -1
	}
	for k, e := range s.Elements {
		if g.Dist(e, g.Identity()) == 0 {
			return k
		}
	}
	return -1
}

// rounding is the part of a value up to which a change of it is that of arithmetic in float32, all along a model.
const rounding = 1e-5

// Verdict says in a few words what a curve is evidence of: whether a metric against labels changes along the orbit, or
// whether the relative error is above a limit. Intervals decide, in both directions; "" for metrics of which nothing is
// claimed.
func (s *Summary) Verdict(c *Curve, limit float64) string {
	m := s.Metrics[c.Metric]
	switch {
	// of a field of a record
	case m.Name == metric.Relative.Name || strings.HasSuffix(m.Name, "."+metric.Relative.Name):
		switch lo, hi := float64(c.Orbit.Lo), float64(c.Orbit.Hi); {
		case lo > limit:
			return fmt.Sprintf("above %g", limit)
		case hi < limit:
			return fmt.Sprintf("below %g", limit)
		}
		return "undecided"
	case m.Ref == string(metric.Target):
		lo, hi := float64(c.Change.Lo), float64(c.Change.Hi)
		if m.Better == string(metric.Lower) {
			lo, hi = -hi, -lo
		}
		rest := float64(c.Orbit.Mean) - float64(c.Change.Mean)
		switch {
		case max(math.Abs(lo), math.Abs(hi)) <= rounding*math.Abs(rest):
			return "no change seen" // whatever its interval, no digit that is shown differs
		case hi < 0:
			return "worse when moved"
		case lo > 0:
			return "better when moved"
		case lo <= 0 && hi >= 0:
			return "no change seen"
		}
		return "undecided"
	}
	return ""
}

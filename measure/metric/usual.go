package metric

import (
	"strings"

	"nero/data/space"
)

// Given is what a study has, beside the kind of its outputs, that decides which metrics make sense for it.
type Given struct {
	// Labeled says that the data have targets.
	Labeled bool
	// Normalized says that scores are probabilities, or logits that become some.
	Normalized bool
	// Keyed says that samples are cut around a key object.
	Keyed bool
}

func (g Given) labeled() bool { return g.Labeled }
func (g Given) keyed() bool   { return g.Keyed }
func (g Given) both() bool    { return g.Labeled && g.Keyed }
func (g Given) certain() bool { return g.Labeled && g.Normalized }
func (g Given) normal() bool  { return g.Normalized }
func (Given) any() bool       { return true }

// usual lists the metrics of a study that names none, in the order of its curves; the first choice that fits counts.
// It is a table and not a mark on each metric because the order says something, and references belong to it.
// Samples that are cut around a key object are judged by it; whole photos by all their boxes, for none of them is the
// one that is meant. Scores that are no probabilities are an embedding or a regression as likely as a classifier:
// nothing is said of their largest number.
var usual = map[space.Kind][]choice{
	space.KindRows: {{Given.labeled, "rmse rmse@self relative"}, {Given.any, "relative rmse@self"}},
	space.KindBoxes: {
		{Given.both, "conf_iou iou box_confidence miss ap50 conf_iou@consensus iou@consensus conf_iou@self"},
		{Given.keyed, "conf_iou@consensus iou@consensus box_confidence@consensus miss@consensus conf_iou@self"},
		{Given.labeled, "f1 recall precision ap50 set_iou f1@consensus"},
		{Given.any, "set_iou extra missed box_confidence@self f1@consensus"},
	},
	space.KindField: {
		{Given.labeled, "rmse aee angular_error rmse@consensus rmse@self relative"},
		{Given.any, "rmse@consensus aee@consensus rmse@self relative"},
	},
	space.KindMask: {
		{Given.labeled, "miou class_iou pixel_accuracy pixel_agreement mean_iou"},
		{Given.any, "pixel_agreement mean_iou"},
	},
	space.KindScores: {
		{Given.certain, "confidence accuracy relative absolute agreement"},
		{Given.normal, "relative absolute agreement"},
	},
}

// choice is what is usual in a case.
type choice struct {
	when    func(Given) bool
	metrics string
}

// Usual are the names of the metrics of a study that names none, for outputs of a spec: of records those of each field.
// First come those of nero, in an order of their own, for a kind without any those that read any list of numbers; then
// those that look at features, for an embedding; then those that call themselves usual, see [Metric.Usual].
func (all List) Usual(out space.Spec, g Given) []string {
	var names []string
	if out.Kind == space.KindRecord {
		for _, f := range out.Fields {
			for _, m := range all.Usual(f, g) {
				names = append(names, f.Name+dot+m)
			}
		}
		return names
	}
	for _, u := range usual[out.Kind] {
		if u.when(g) {
			names = strings.Fields(u.metrics)
			break
		}
	}
	if names == nil {
		names = []string{Relative.Name, Absolute.Name}
	}
	if out.Features {
		names = append(names, FeatureRatio.Name, FeatureCosine.Name)
	}
	for _, m := range all {
		if m.Usual && m.Understands(out.Kind) && (g.Labeled || m.Ref != Target) && (g.Normalized || !m.Normalized) {
			names = append(names, m.Name)
		}
	}
	return names
}

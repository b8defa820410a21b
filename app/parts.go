package app

import (
	"nero/audit/check"
	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/metric"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/present/report"
	"nero/present/view"
	"nero/run/job"
	"nero/run/preset"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Parts are the lists that a program is built with. What is nil is that of nero; who adds to a list begins with it, as
// in append(metric.Builtin(), mine).
type Parts struct {
	// Groups are those that a study may name beside those of package catalog.
	Groups []group.Group
	// Rules say how groups move kinds of values; nil for [action.Rules].
	Rules action.Table
	// Formats are those of data; nil for [workload.Formats].
	Formats dataset.Formats
	// Kinds are those of values beside [space.Kinds]. Models are fed with their numbers as they lie, and the numbers of
	// outputs are theirs; metrics that read any list of numbers read those that are linear.
	Kinds space.List
	// Codec feeds models with kinds of values, and reads kinds from them, that package decode does not know. It returns
	// nil for what it leaves to that package; nil for all.
	Codec func(sig onnx.Signature, in space.Spec, out job.Output) (decode.Codec, error)
	// Presets are nil for [preset.Builtin].
	Presets preset.List
	// Metrics are nil for [metric.Builtin].
	Metrics metric.List
	// Checks are nil for [check.All].
	Checks check.List
	// Layouts of figures in reports are nil for [view.Layouts].
	Layouts []*view.Layout
	// Forms say how reports draw layouts that are not among [report.Forms].
	Forms []report.Form
}

func (p Parts) rules() action.Table {
	if p.Rules == nil {
		return action.Rules()
	}
	return p.Rules
}

func (p Parts) metrics() metric.List {
	all := p.Metrics
	if all == nil {
		all = metric.Builtin()
	}
	return all.With(p.Kinds)
}

func (p Parts) presets() preset.List {
	if p.Presets == nil {
		return preset.Builtin()
	}
	return p.Presets
}

// words are what a study may say beyond what [job.Schema] lists.
func (p Parts) words() job.Words {
	var w job.Words
	for _, f := range p.Formats {
		w.Formats = append(w.Formats, f.Name)
	}
	for _, k := range p.Kinds {
		w.Kinds = append(w.Kinds, string(k.Kind))
	}
	return w
}

func (p Parts) checks() check.List {
	if p.Checks == nil {
		return check.All()
	}
	return p.Checks
}

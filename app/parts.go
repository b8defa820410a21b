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
	// Codec feeds models with kinds of values, and reads kinds from them, that package decode does not know. It returns
	// nil for what it leaves to that package; nil for all.
	Codec func(sig onnx.Signature, in space.Spec, out job.Output) (decode.Codec, error)
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
	if p.Metrics == nil {
		return metric.Builtin()
	}
	return p.Metrics
}

func (p Parts) checks() check.List {
	if p.Checks == nil {
		return check.All()
	}
	return p.Checks
}

package app

import (
	"nero/audit/check"
	"nero/data/dataset"
	"nero/run/job"
	"nero/run/preset"
	"nero/symmetry/group/catalog"
)

// Groups are the groups that a study may name, with charts, units and exact elements.
func (a *App) Groups() []catalog.Entry { return catalog.List(a.Parts.Groups...) }

// Group tells of one group by its name, as a study would name it.
func (a *App) Group(name string) (catalog.Entry, error) { return catalog.One(name, a.Parts.Groups...) }

// Metric is a metric as it is listed.
type Metric struct {
	Name string `json:"name"`
	// Ref is what it compares with: target, self or consensus
	Ref  string `json:"ref"`
	Unit string `json:"unit,omitempty"`
	// Better is higher or lower.
	Better string `json:"better"`
	Doc    string `json:"doc"`
	// Range holds the smallest and the largest value; the largest may be infinite.
	Range [2]float64 `json:"-"`
}

// Metrics are the metrics that a study may name.
func (a *App) Metrics() []Metric {
	var all []Metric
	for _, m := range a.Parts.metrics() {
		all = append(all, Metric{m.Name, string(m.Ref), m.Unit, string(m.Better), m.Doc, m.Range})
	}
	return all
}

// Presets are the ways to feed photos that a study may name.
func (a *App) Presets() preset.List { return a.Parts.presets() }

// Kernels are the names of the kernels by which photos come to one size.
func Kernels() []string { return dataset.Kernels() }

// Unasked are the questions that no check of an audit asks.
func Unasked() []string { return check.Outside() }

// StudySchema is the JSON Schema of study files.
func (a *App) StudySchema() []byte { return job.Schema(a.Parts.words()) }

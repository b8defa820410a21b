package job

import (
	"errors"
	"fmt"
	"slices"

	"nero/measure/asked"
	"nero/measure/formula"
	"nero/measure/metric"
)

// KnownMetrics adds the metrics that the study defines to those that a program knows; nil for [metric.Builtin]. What is
// wrong with one is said at its place in the file, and the metric is left out.
func (s *Study) KnownMetrics(known metric.List) (metric.List, error) {
	if known == nil {
		known = metric.Builtin()
	}
	all := slices.Clone(known)
	var errs []error
	for i, f := range s.Formulas {
		m, err := formula.Formula(f).Metric(all)
		if wrong, ok := errors.AsType[*formula.FieldError](err); ok {
			errs = append(errs, s.Errorf(fmt.Sprintf("formulas[%d].%s", i, wrong.Key), "%s", wrong.Message))
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, m)
	}
	for i, f := range s.Measures {
		m, err := asked.Metric(formula.Formula{
			Name: f.Name, Unit: f.Unit, Better: f.Better, Range: f.Range, Against: f.Against, Doc: f.Doc,
		}, all)
		if wrong, ok := errors.AsType[*formula.FieldError](err); ok {
			errs = append(errs, s.Errorf(fmt.Sprintf("measures[%d].%s", i, wrong.Key), "%s", wrong.Message))
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, m)
	}
	return all, errors.Join(errs...)
}

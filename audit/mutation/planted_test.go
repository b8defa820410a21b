package mutation

import (
	"slices"
	"testing"

	"nero/audit"
	"nero/data/space"
	"nero/internal/slow"
	"nero/model/onnx"
)

// Every break is a model that engines take, and errs in float64 by what it says, unless it is about the arithmetic, the
// batch, chance, jumps or slopes; a change without harm errs by nothing. What the auditor says of them is not asked.
func TestPlantedBreak(t *testing.T) {
	chosen := Planted()
	if !slow.Asked {
		chosen = Third(chosen, 2)
	}
	for _, m := range chosen {
		r, err := m.prepare()
		if err != nil {
			t.Error(err)
			continue
		}
		if err := r.model.Check(onnx.Wasm()); err != nil {
			t.Errorf("%s, %s: %v", m.Base, m.Name, err)
		}
		if m.least < 0 {
			continue
		}
		o, err := r.open(Body{Name: "none", Engine: none{}}, nil)
		if err != nil {
			t.Errorf("%s, %s: %v", m.Base, m.Name, err)
			continue
		}
		if o.subject.Reference == nil {
			t.Errorf("%s, %s: %s", m.Base, m.Name, o.subject.NoReference)
			continue
		}
		least := m.least
		if least == 0 {
			least = 2e-4
		}
		if slices.Contains(m.Causes, "non-finite") {
			if bad, all := notFinite(t, o.subject); bad == 0 || 5*bad > all {
				t.Errorf("%s, %s: %d of %d answers are not finite", m.Base, m.Name, bad, all)
			}
			o.close()
			continue
		}
		worst := defect(t, o.subject)
		switch {
		case m.Clean() && !(worst < 1e-11+m.slack):
			t.Errorf("%s, %s: relative error %g in float64 of a change without harm", m.Base, m.Doc, worst)
		case !m.Clean() && !(worst > least):
			t.Errorf("%s, %s: relative error only %g", m.Base, m.Name, worst)
		}
		o.close()
	}
}

// notFinite counts the answers in float64 that are not finite.
func notFinite(t *testing.T, s *audit.Subject) (bad, all int) {
	t.Helper()
	for i := range s.N {
		x, err := s.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Plan.Elements {
			gx, err := s.Plan.In.Apply(e, x.Value)
			if err != nil {
				t.Fatal(err)
			}
			y, err := s.Reference.Predict(t.Context(), []space.Value{gx})
			if err != nil {
				t.Fatal(err)
			}
			if all++; !space.Finite(y[0]) {
				bad++
			}
		}
	}
	return bad, all
}

package metric

import (
	"math"
	"testing"

	"nero/data/space"
)

// A metric whose value depends on the answer at the element before says so.
func TestSteps(t *testing.T) {
	p := &space.Scores{Val: []float64{0.5, 0.2, 0.3}, Raw: []float64{0.5, 0.2, 0.3}, Probabilities: true}
	q := &space.Scores{Val: []float64{0.25, 0.5, 0.25}, Raw: []float64{0.25, 0.5, 0.25}, Probabilities: true}
	n := 0
	for _, m := range Builtin() {
		if !m.Understands(space.KindScores) || m.Measure == nil || m.ByClass != nil {
			continue
		}
		a := m.Measure(Case{Got: p, At: p, Want: p, Prev: p, Label: 1, Scale: 1, Truth: q})
		b := m.Measure(Case{Got: p, At: p, Want: p, Prev: q, Label: 1, Scale: 1, Truth: q})
		if steps := a != b && !(math.IsNaN(a) && math.IsNaN(b)); steps != m.Steps {
			t.Errorf("%s: values %v and %v with other answers before, Steps is %v", m.Name, a, b, m.Steps)
		} else if steps {
			n++
		}
		if m.Steps && !OfField("f", m).WholeOrbit() {
			t.Errorf("%s of a field does not need the whole orbit", m.Name)
		}
	}
	if n == 0 {
		t.Error("no metric looks at the element before: nothing was tested")
	}
	if w := WorstOf(Accuracy); w == nil || !w.WholeOrbit() || Accuracy.WholeOrbit() {
		t.Error("the worst of an orbit needs it, the value at one element does not")
	}
}

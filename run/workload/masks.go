package workload

import (
	"fmt"
	"slices"
	"strings"

	"nero/data/space"
	"nero/measure/metric"
)

// mostByClass is how many classes have curves of their own if the study does not ask for them.
const mostByClass = 20

// usual are the metrics of a study that names none, without those by class if there are too many or nobody knows how
// many.
func (w *Workload) usual(known metric.List, out space.Spec, g metric.Given) []string {
	n := w.maskClassCount()
	return slices.DeleteFunc(known.Usual(out, g), func(name string) bool {
		k := slices.IndexFunc(known, func(m *metric.Metric) bool { return m.Name == name && m.ByClass != nil })
		if k < 0 || n > 0 && n <= mostByClass {
			return false
		}
		if n > 0 {
			w.note("%d classes have no curves of their own; ask for them with metrics: [%s], or %s:NAME for "+
				"one", n, name,
				name)
		}
		return true
	})
}

// maskClassCount is how many classes the pixels of the models' masks have; 0 if neither data nor models say.
func (w *Workload) maskClassCount() int {
	n := len(w.Classes)
	for _, m := range w.Eval.Models {
		if c, ok := m.Codec.(interface{ Classes() int }); ok {
			n = max(n, c.Classes())
		}
	}
	return n
}

// families puts one metric for each class in the place of those that are by class, and the numbers of classes in the
// place of their names.
func (w *Workload) families(known metric.List, out space.Spec) error {
	var names []string
	for i, name := range w.Study.Metrics {
		head, class, one := strings.Cut(name, ":")
		k := slices.IndexFunc(known, func(m *metric.Metric) bool { return m.Name == head && m.ByClass != nil })
		if k < 0 || !known[k].Understands(out.Kind) {
			names = append(names, name)
			continue
		}
		at := fmt.Sprintf("metrics[%d]", i)
		named := func(k int) string {
			if k < len(w.Classes) {
				return w.Classes[k]
			}
			return ""
		}
		n := w.maskClassCount()
		if one {
			c := metric.ClassOf(class, w.Classes)
			if c < 0 || n > 0 && c >= n {
				return w.Study.Errorf(at, "%s: there is no class %q; they are %s", name, class, w.classWords(n))
			}
			names = append(names, known[k].ByClass(c, named(c)).Name)
			continue
		}
		if n == 0 {
			return w.Study.Errorf(at, "%s is one curve for each class, and neither data nor models say how many there "+
				"are; name them with data.classes, or ask for one, such as %s:1", name, name)
		}
		for c := range n {
			names = append(names, known[k].ByClass(c, named(c)).Name)
		}
	}
	w.Study.Metrics = names
	return nil
}

// classWords lists classes for a message.
func (w *Workload) classWords(n int) string {
	if len(w.Classes) > 0 {
		return numbered(w.Classes)
	}
	return fmt.Sprintf("0 to %d", n-1)
}

// maskClasses holds the classes of the data against those of the models, and the size of the masks against that of the
// pictures, where the truth is a reference.
func (w *Workload) maskClasses() error {
	if w.Eval.Target == nil ||
		!slices.ContainsFunc(w.Eval.Metrics, func(m *metric.Metric) bool { return m.OfPixels }) {
		return nil
	}
	w.Eval.Classes = w.maskClassCount()
	if len(w.Classes) > 0 {
		w.note("classes: %s", numbered(w.Classes))
	}
	for _, m := range w.Eval.Models {
		c, ok := m.Codec.(interface{ Classes() int })
		if !ok || c.Classes() == 0 || len(w.Classes) == 0 || c.Classes() == len(w.Classes) {
			continue
		}
		if c.Classes() < len(w.Classes) {
			return w.Study.Errorf("data.classes",
				"the data has %d classes (%s) and %s answers with %d: give data.classes the names of the model's "+
					"classes in "+
					"the order of its numbers, and data.masks.values or data.masks.void where the numbers in the "+
					"files "+
					"are others", len(w.Classes), numbered(w.Classes), m.Name, c.Classes())
		}
		w.note("%s answers with %d classes, the data names %d; number 0 is the first of both", m.Name, c.Classes(),
			len(w.Classes))
	}
	return nil
}

// sized refuses models whose masks are not of the size of the truth.
func (w *Workload) sized(in *input) error {
	if w.Eval.Target == nil {
		return nil
	}
	h, wd := in.size()
	if s := in.seen.Shape; len(s) >= 2 {
		h, wd = s[len(s)-2], s[len(s)-1]
	}
	for _, m := range w.Eval.Models {
		s := m.Codec.Out().Shape
		if len(s) != 2 || h <= 0 || s[0] <= 0 || s[1] <= 0 ||
			s[0] == h && s[1] == wd {
			continue
		}
		return w.Study.Errorf("models", "%s answers masks of %d x %d pixels (width x height) and the truth has %d "+
			"x %d: "+
			"export the model with its upsampling to the size of its input, bring the pictures to the size of its "+
			"answers "+
			"with data.resize if it takes that, or say targets: none", m.Name, s[1], s[0], wd, h)
	}
	return nil
}

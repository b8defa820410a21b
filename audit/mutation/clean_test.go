package mutation

import "testing"

// The families are what they claim to be: no element of their group changes an answer by more than rounding in float64,
// whatever the seed and the size.
func TestFamiliesAreExact(t *testing.T) {
	for _, f := range families() {
		for _, v := range f.variants() {
			r, err := f.ready(v, nil)
			if err != nil {
				t.Error(err)
				continue
			}
			o, err := r.open(Body{Name: "none", Engine: none{}}, nil)
			if err != nil {
				t.Errorf("%s: %v", f.name, err)
				continue
			}
			if o.subject.Reference == nil {
				t.Errorf("%s: %s", f.name, o.subject.NoReference)
			} else if worst := defect(t, o.subject); !(worst < 1e-11+f.slack) {
				t.Errorf("%s of size %d: relative error %g in float64", f.name, v.size, worst)
			}
			o.close()
		}
	}
}

package mutation

import (
	"slices"
	"strings"
	"testing"

	"nero/internal/slow"
	"nero/model/oracle"
)

// What a person who audits models by hand looks for is planted in one of the models, and so is a break in each kind of
// layer: docs/AUDIT.md lists them. In the slow suite each is audited by itself, and named with its place.
func TestTemplate(t *testing.T) {
	all := slices.Concat(All(), Planted())
	body := Body{Name: "float32", Engine: single{oracle.Engine(oracle.Options{Round: oracle.Float32})}}
	for _, c := range []struct{ what, base, name, cause string }{
		{"a nonlinearity on components", "field", "componentwise nonlinearity", "nonlinearity"},
		{"statistics of the batch", "scores", "training-mode normalisation", "training-norm"},
		{"the wrong output action", "picture", "dropped transpose", "convention"},
		{"numbers that are too coarse", "scores", "reduced precision", "reduced-precision"},
		{"a bug in one layer", "scores", "kernel asymmetry", "kernel"},
		{"padding that the group does not know", "rolled", "zero padding", "padding"},
		{"a layer: convolution", "lifted", "kernel asymmetry", "kernel"},
		{"a layer: nonlinearity", "set", "componentwise nonlinearity", "nonlinearity"},
		{"a layer: normalisation", "picture", "training-mode normalisation", "training-norm"},
		{"a layer: pooling", "rolled", "stride parity", "striding"},
		{"a layer: linear", "set", "kernel asymmetry", "kernel"},
		{"a layer: attention", "attention", "causal mask", "order"},
	} {
		t.Run(c.what, func(t *testing.T) {
			i := slices.IndexFunc(all, func(m Mutation) bool {
				return m.Base == c.base && m.Name == c.name && m.Set != SetHeldOut
			})
			if i < 0 {
				t.Fatalf("%s is not planted into %s any more", c.name, c.base)
			}
			m := all[i]
			if m.Clean() || !slices.Contains(m.Causes, c.cause) {
				t.Fatalf("%s: causes %s, want %s among them", m.Name, strings.Join(m.Causes, ", "), c.cause)
			}
			if !slow.Asked {
				return
			}
			r, err := m.Audit(t.Context(), body, nil)
			if err != nil {
				t.Fatal(err)
			}
			if s := m.Judge(r); !s.Found || !s.Right || !s.Place {
				t.Errorf("%s, %s at %q", s.Verdict, named(s), s.Location)
			}
		})
	}
}

package layers_test

import (
	"slices"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/layers"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/slow"
	"nero/model/decode"
	"nero/symmetry/orbit"
)

// ofIrreps is the result of the check on a network of studies/planted/tensor.py under a group.
func ofIrreps(t *testing.T, name, group string) (*layers.Result, []string) {
	t.Helper()
	const planted = "../../../studies/planted/"
	s := audittest.Open(t, audittest.Files{
		Model: planted + "models/tensor_" + name + ".onnx",
		Data: dataset.Spec{
			Format: "clouds", Images: planted + "data/tensor.npz", Cloud: dataset.Cloud{Center: "none", Scale: "none"},
		},
		Outputs: []decode.OutputField{{Name: "y", Type: space.TypeUnchanged, Per: space.PerSample}}, Group: group,
		Orbit: orbit.Spec{Haar: 8}, N: 8,
	})
	found, r := look(t, audittest.Fixture{Subject: s}, sweep.Check)
	var messages []string
	for _, f := range found.Findings {
		messages = append(messages, f.Location+": "+f.Message)
	}
	return r, messages
}

// Products of irreps are typed: by coefficients and on a grid of the sphere, along two axes, flattened, in rows of
// irreps one after another. What nobody can see is not said: the parity where nothing mirrors.
func TestTypesOfIrreps(t *testing.T) {
	for _, c := range []struct {
		model, group string
		want         map[string]string
	}{
		{"clebsch", "O(3)", map[string]string{
			"centre": "1x1o", "x": "", "harmonics": "1x0e+1x1o+1x2e", "density": "6x0e+6x1o+6x2e", "weights": "6x0e",
			"tp1-1x2-1-outer": "6x1o+6x2o+6x3o", "tp1-2x2-2-outer": "6x0e+6x1e+6x2e+6x3e+6x4e",
			"tp1-2x2-2-flat": "6x0e+6x1e+6x2e+6x3e+6x4e", "tp1-2x2-2": "6x2e", "row": "6x0e+6x1o+6x2e", "cut-2": "6x2e",
			"gated-1": "6x1o", "scaled": "4x0e",
		}},
		{"gaunt", "O(3)", map[string]string{
			"gaunt-to1": "6x0e+6x1o+6x2e", "gaunt-product": "6x0e+6x1o+6x2e+6x3o+6x4e",
			"gaunt-from": "6x0e+6x1o+6x2e+6x3o+6x4e", "b-3": "6x3o",
		}},
		{"steps", "O(3)", map[string]string{
			"gaunt-polar1": "", "gaunt-to1": "6x0e+6x1o+6x2e", "gaunt-product": "6x0e+6x1o+6x2e+6x3o+6x4e",
			"gaunt-around": "",
			"gaunt-from":   "6x0e+6x1o+6x2e+6x3o+6x4e",
		}},
		{"clebsch", "SO(3)", map[string]string{"tp1-1x2-1-outer": "6x1+6x2+6x3", "row": "6x0+6x1+6x2"}},
		{"parity", "O(3)", map[string]string{"tp1-1x1-1": "6x1e"}},
	} {
		r, messages := ofIrreps(t, c.model, c.group)
		for name, want := range c.want {
			if got := row(t, r, name).Type; got != want {
				t.Errorf("%s under %s: %s is %q, want %q", c.model, c.group, name, got, want)
			}
		}
		if c.model != "parity" && (len(messages) > 0 || slices.ContainsFunc(r.Rows,
			func(w layers.Row) bool { return w.Above })) {
			show(t, r)
			t.Errorf("%s under %s, which is clean: %q", c.model, c.group, messages)
		}
	}
}

// Faults are named at their node, and what was meant there.
func TestBrokenProducts(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct{ model, at, what, typ string }{
		{"sign", "tp1-1x2-1", "the coupling of a product of irreps, 1x1o by 1x2e", "6x1o"},
		{"relu", "act-relu", "a pointwise nonlinearity", "6x1o"},
		{"grid", "gaunt-from", "the way back from a product on the sphere", "6x0e+6x1o+6x2e+6x3o+6x4e"},
		{"order", "tp1-1x1-2", "the coupling of a product of irreps, 1x1o by 1x1o", "6x2e"},
		{"parity", "sum-axial", "under mirrors alone", "6x1o"},
		{"swish", "act-sigmoid", "a pointwise nonlinearity", "6x2e"},
		{"places", "gaunt-offset", "stored numbers", "6x0e+6x1o+6x2e+6x3o+6x4e"},
	} {
		r, messages := ofIrreps(t, c.model, "O(3)")
		if len(messages) != 1 || !strings.HasPrefix(messages[0], c.at+": ") || !strings.Contains(messages[0], c.what) {
			show(t, r)
			t.Errorf("%s: %q, want %s and %q", c.model, messages, c.at, c.what)
		}
		if got := row(t, r, c.at).Type; got != c.typ {
			t.Errorf("%s: %s is %q, want %q", c.model, c.at, got, c.typ)
		}
	}
	// A parity is none where nothing mirrors.
	if r, messages := ofIrreps(t, "parity", "SO(3)"); len(messages) > 0 || r.First >= 0 {
		t.Errorf("parity under SO(3): %q", messages)
	}
}

// A network whose harmonics are in an order that nobody else has is as good as any: their type is found by matrices
// that are fitted, and said to be in another basis.
func TestForeignOrder(t *testing.T) {
	found, r := look(t, audittest.Fixture{Subject: clouds(t, "foreign", "O(3)", products(t, "foreign"))}, sweep.Check)
	if r.First >= 0 || len(found.Findings) > 0 {
		show(t, r)
		t.Errorf("findings %+v", found.Findings)
	}
	for name, want := range map[string]string{"harmonics": "1x2e", "basis": "3x1o+3x2e", "a2": "3x2e", "b2": "3x0e"} {
		w := row(t, r, name)
		if w.Type != want || strings.HasPrefix(name, "ba") && !strings.Contains(w.Rep, "in another basis") {
			t.Errorf("%s is %s, %q, want %s", name, w.Rep, w.Type, want)
		}
	}
}

// Coefficients that are brought together with one factor before the other one comes in, as exporters that look for the
// cheapest order write it, leave products along one axis: they are typed, and a wrong sign among the coefficients is
// named there and not where the other factor comes in.
func TestCoefficientsFirst(t *testing.T) {
	for _, c := range []struct{ kind, at string }{{"first", ""}, {"first-sign", "half"}} {
		found, r := look(t, audittest.Fixture{Subject: clouds(t, c.kind, "O(3)", products(t, c.kind))}, sweep.Check)
		w := row(t, r, "half")
		if w.Type != "3x1o+3x2o+3x3o" || w.Rep != "1x2e by 1x1o 5×3×15" {
			t.Errorf("%s: half is %s, %q", c.kind, w.Rep, w.Type)
		}
		if c.at == "" {
			if r.First >= 0 || len(found.Findings) > 0 || slices.ContainsFunc(r.Rows,
				func(w layers.Row) bool { return w.Above }) {
				show(t, r)
				t.Errorf("%s: findings %+v", c.kind, found.Findings)
			}
			continue
		}
		if len(found.Findings) != 1 || found.Findings[0].Location != c.at || !strings.Contains(
			found.Findings[0].Message, "the coupling of a product of irreps, 1x1o to 1x2e by 1x1o") ||
			!slices.ContainsFunc(found.Clues, func(u audit.Clue) bool {
				return u.Name == audit.ClueCoupling && u.Holds && u.Location == c.at
			}) {
			show(t, r)
			t.Errorf("%s: findings %+v", c.kind, found.Findings)
		}
	}
}

// An output that is axial where a polar one is declared breaks under mirrors at the end, and the type that would be
// right is named.
func TestDeclaredParity(t *testing.T) {
	const planted = "../../../studies/planted/"
	s := audittest.Open(t, audittest.Files{
		Model: planted + "models/pseudovector.onnx",
		Data: dataset.Spec{
			Format: "clouds", Images: planted + "data/clouds.npz", Cloud: dataset.Cloud{Center: "none", Scale: "none"},
		},
		Outputs: []decode.OutputField{{Name: "axial", Type: space.TypeVectors, Per: space.PerSample}}, Group: "O(3)",
		Orbit: orbit.Spec{Haar: 8}, N: 8,
	})
	found, r := look(t, audittest.Fixture{Subject: s}, sweep.Check)
	if len(found.Findings) != 1 || !strings.Contains(found.Findings[0].Message, "under mirrors alone") ||
		!strings.Contains(strings.Join(found.Findings[0].Remedies, "; "),
			"its values are explained by \"pseudovectors 3\"") {
		show(t, r)
		t.Errorf("findings %+v", found.Findings)
	}
}

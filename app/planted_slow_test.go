//go:build slow && !race

package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMoleculeCauses tells apart forces that are the gradient of the energy, forces that turn well and are none, and a
// network that knows nothing of space; and names the faults of twins that differ from the first in one thing each.
func TestMoleculeCauses(t *testing.T) {
	all := judge(t, "molecules/demo.yaml", few("subgroup", "forces", "neighbors", "lattice", "order"))

	good := all["conservative"]
	good.holds("E(3) × S(n)")
	good.because()
	good.silent("differ from minus the gradient", "jump")
	if e := good.numbers["forces: forces against minus the gradient of energy"]; !(e < 1e-4) {
		t.Errorf("conservative: forces are %g from the gradient", e)
	}

	direct := all["direct"]
	direct.holds("E(3) × S(n)")
	direct.because("forces that are not the gradient of the energy")
	direct.says("equivariant and not conservative")
	if e := direct.numbers["forces: forces against minus the gradient of energy"]; !(e > 0.01) {
		t.Errorf("direct: forces are %g from the gradient, want far from it", e)
	}

	mlp := all["mlp"]
	mlp.holds("only the identity", "O(3)", "T(3)", "the order of rows counts")
	if mlp.verdict != "FAIL" {
		t.Errorf("mlp: %s, want FAIL", mlp.verdict)
	}
	mlp.says("the order of rows counts: exchanging rows")
}

// TestMoleculeTwins names what is wrong with networks that are the first one but for a fault: a list of neighbors that
// ends where functions are not 0 yet, one of eight neighbors with ties, and an origin that counts. The first two are
// rare: few inputs and elements show them, and those much.
func TestMoleculeTwins(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", "studies", "molecules"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("task: molecules\nmodels:\n")
	for _, name := range []string{"cutoff", "capped", "uncentered"} {
		fmt.Fprintf(&b, "  - {name: %s, onnx: %q}\n", name, filepath.Join(dir, "models", "molecules-"+name+".onnx"))
	}
	fmt.Fprintf(&b, "data: {format: molecules, images: %q, elements: [H, C, N, O], limit: 60}\n",
		filepath.Join(dir, "data", "test.xyz"))
	b.WriteString(`input: {fields: [{name: positions, type: positions}, {name: species, type: unchanged}]}
output: {fields: [{name: energy, type: unchanged, per: sample}, {name: forces, type: vectors, per: node}]}
group: {name: E(3) x S}
seed: 7
`)
	study := filepath.Join(t.TempDir(), "twins.yaml")
	if err := os.WriteFile(study, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	all := judge(t, study, asked{
		samples: 16, elements: 16, checks: []string{"subgroup", "forces", "neighbors", "lattice"},
	})

	for _, name := range []string{"cutoff", "capped"} {
		r := all[name]
		r.because("neighbors", "the order of the elements matters") // rows decide ties
		r.silent("the place in space counts")
		most, usual := r.numbers["neighbors: largest error"], r.numbers["neighbors: 99 % quantile of the errors"]
		if !(most > 0 && most >= usual) {
			t.Errorf("%s: largest error %g, 99 %% quantile %g", name, most, usual)
		}
	}
	all["cutoff"].because("neighbors")
	all["cutoff"].says("the distance 3 is common to the jumps", "a cut-off that is not smooth")

	far := all["uncentered"]
	far.holds("O(3) × S(n)", "T(3): the place in space counts")
	far.silent("jumps by", "differ from minus the gradient")
	// all elements: shifts are among them
	far = judge(t, study, asked{
		only: []string{"uncentered"}, samples: 8, checks: []string{"subgroup", "lattice", "endtoend"},
	})["uncentered"]
	far.because("place", "origin", "cent")
}

// TestMace: a network of tensor products that keeps E(3) and permutations passes, and its twin is told the very
// multiplication by which one direction of space counts more (app/testdata/mace/make.py).
func TestMace(t *testing.T) {
	study, err := filepath.Abs(filepath.Join("testdata", "mace", "study.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := judge(t, study, asked{samples: 80, elements: 24})
	good := all["mace"]
	good.holds("E(3) × S(6)")
	good.because()
	if good.verdict != "PASS" {
		t.Errorf("mace: %s, want PASS", good.verdict)
	}
	bad := all["skewed"]
	bad.because("a direction of space is singled out")
	bad.says("(Mul), an operation with stored numbers under E(3) alone: it turns")
	if bad.verdict != "FAIL" {
		t.Errorf("skewed: %s, want FAIL", bad.verdict)
	}
}

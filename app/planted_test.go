//go:build !race

// Whole audits of models that take minutes under the race detector: they run in the slow suites.

package app_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"nero/app"
	"nero/internal/slow"
)

// verdict is what these tests read of an audit's report.
type verdict struct {
	Models []struct {
		Model     string
		Verdict   string
		Largest   string   `json:"largest_symmetry"`
		Beyond    []string `json:"fails_beyond"`
		Reasons   []string
		Caveats   []string
		Diagnoses []struct {
			ID, Cause, Location string
			Confidence          float64
		}
		Checks []struct {
			Check, Status string
			Findings      []struct {
				Category, Message, Location, Severity string
			}
			Measures []struct {
				Name  string
				Value any
			}
		}
	}
}

// asked is what a test asks of an audit; empty fields are as the study says.
type asked struct {
	samples, elements  int
	only, checks, skip []string
}

// audit audits a study of this repository, or one in a file.
func audit(t *testing.T, study string, ask asked) *app.AuditResult {
	t.Helper()
	if !filepath.IsAbs(study) {
		study = filepath.Join("..", "studies", filepath.FromSlash(study))
	}
	s, err := new(app.App).OpenStudy(study)
	if err != nil {
		t.Fatal(err)
	}
	s.Audit.Samples, s.Audit.Elements = ask.samples, ask.elements
	s.Audit.Checks, s.Audit.Skip = ask.checks, ask.skip
	r, err := new(app.App).Audit(t.Context(), s, app.AuditOptions{
		Workers: runtime.GOMAXPROCS(0), Only: ask.only,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome() == app.NotRun {
		t.Fatalf("%s: not audited: %q", study, r.Unaudited())
	}
	return r
}

// written is an audit in a format.
func written(t *testing.T, r *app.AuditResult, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// judge audits a study of this repository and returns its report by model.
func judge(t *testing.T, study string, ask asked) map[string]*audited {
	t.Helper()
	b := written(t, audit(t, study, ask), "json")
	var v verdict
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	all := map[string]*audited{}
	for _, m := range v.Models {
		r := &audited{
			t: t, model: m.Model, verdict: m.Verdict, largest: m.Largest, beyond: m.Beyond,
			numbers: map[string]float64{},
		}
		r.said = append(append(append(r.said, m.Reasons...), m.Caveats...), m.Beyond...)
		for _, c := range m.Checks {
			for _, f := range c.Findings {
				r.said = append(r.said, c.Check+": "+f.Message+" ("+f.Location+")")
			}
			for _, x := range c.Measures {
				if n, ok := x.Value.(float64); ok {
					r.numbers[c.Check+": "+x.Name] = n
				}
			}
		}
		for _, d := range m.Diagnoses {
			r.causes = append(r.causes, d.Cause+" ("+d.ID+")")
		}
		all[m.Model] = r
	}
	return all
}

// audited is one model's part of a report.
type audited struct {
	t              *testing.T
	model, verdict string
	largest        string
	beyond         []string
	// reasons, findings, caveats
	said []string
	// best first
	causes  []string
	numbers map[string]float64
}

// places are how many rows a group permutes, which is as many as the largest sample of the study has.
var places = regexp.MustCompile(`S\(\d+\)`)

// holds wants the largest group that passes, with S(n) for permutations of however many rows there are, and words of
// what fails beyond it: nothing, if there are none.
func (r *audited) holds(largest string, beyond ...string) {
	r.t.Helper()
	if got := r.largest; got != largest && places.ReplaceAllString(got, "S(n)") != largest {
		r.t.Errorf("%s: the largest symmetry that holds is %q, want %q; beyond it fails %q", r.model, r.largest,
			largest, r.beyond)
	}
	all := strings.Join(r.beyond, "; ")
	for _, want := range beyond {
		if !strings.Contains(all, want) {
			r.t.Errorf("%s: beyond %s fails %q, want %q said", r.model, r.largest, all, want)
		}
	}
	if len(beyond) == 0 && len(r.beyond) > 0 {
		r.t.Errorf("%s: %q is said to fail", r.model, all)
	}
}

// says wants every text in one of what the report says.
func (r *audited) says(texts ...string) {
	r.t.Helper()
	for _, want := range texts {
		if !strings.Contains(strings.Join(r.said, "\n"), want) {
			r.t.Errorf("%s: nothing says %q; the report says\n\t%s", r.model, want, strings.Join(r.said, "\n\t"))
		}
	}
}

// silent wants none of the texts.
func (r *audited) silent(texts ...string) {
	r.t.Helper()
	for _, no := range texts {
		for _, s := range r.said {
			if strings.Contains(s, no) {
				r.t.Errorf("%s: %q is said in %q", r.model, no, s)
			}
		}
	}
}

// because wants the first cause to have one of the texts; none of them wants no cause at all.
func (r *audited) because(texts ...string) {
	r.t.Helper()
	switch {
	case len(texts) == 0 && len(r.causes) > 0:
		r.t.Errorf("%s: cause %q, want none", r.model, r.causes[0])
	case len(texts) > 0 && len(r.causes) == 0:
		r.t.Errorf("%s: no cause is named, want one with %q", r.model, texts)
	case len(texts) > 0:
		for _, want := range texts {
			if strings.Contains(r.causes[0], want) {
				return
			}
		}
		r.t.Errorf("%s: the first cause is %q, want one with %q; all are %q", r.model, r.causes[0], texts, r.causes)
	}
}

// few are inputs and elements that suffice for faults of order one.
func few(checks ...string) asked { return asked{samples: 8, elements: 12, checks: checks} }

// TestPlantedGroups wants the largest symmetry of every network that was built to have it and no more
// (studies/planted/MODEL_CARDS.md): not less, and not what a neighbor has.
func TestPlantedGroups(t *testing.T) {
	slow.Test(t)
	all := judge(t, "planted/points.yaml", few("subgroup", "order"))
	all["so3_not_o3"].holds("SO(3) × S(64)", "handedness", "T(3)")
	all["og3_not_o3"].holds("Og(3,z) × S(64)", "a direction is singled out", "T(3)")
	all["sn_not_e3"].holds("S(64)", "O(3)", "T(3)")
	all["translation_only"].holds("T(3)", "O(3)", "S(64)")
	all["e3_sn"].holds("E(3) × S(64)")
	all["translation_only"].says("the order of rows counts: exchanging rows")
	for _, name := range []string{"so3_not_o3", "og3_not_o3", "sn_not_e3", "e3_sn"} {
		all[name].silent("exchanging rows")
	}
	if len(all) != 5 {
		t.Errorf("%d models, want 5", len(all))
	}
}

// TestPlantedScenes wants the same of networks of two sets of rows (studies/scenes/MODEL_CARDS.md): an error of one set
// is not laid at the door of the other, and a network that forgets an input is told from one that does not.
func TestPlantedScenes(t *testing.T) {
	slow.Test(t)
	all := judge(t, "scenes/boxes.yaml", few("subgroup", "order", "layers"))
	all["refine"].holds("Eg(3,z) × S(64) × S(5)")
	all["refine"].silent("first lost") // headings may differ by a full turn
	all["refine"].because()
	all["refine_north"].holds("T(3) × S(64) × S(5)")
	all["refine_handed"].holds("SEg(3,z) × S(64) × S(5)")
	all["refine_origin"].holds("Og(3,z) × S(64) × S(5)", "T(3)")
	all = judge(t, "scenes/tilted.yaml", few("subgroup", "order"))
	all["tilted"].holds("E(3) × S(64) × S(5)")
	all["tilted_gravity"].holds("Eg(3,z) × S(64) × S(5)", "a direction is singled out")
	all = judge(t, "scenes/flow.yaml", few("subgroup", "order"))
	all["flow"].holds("E(3) × S(64) × S(48)")
	all["flow_drift"].holds("O(3) × S(64) × S(48)", "T(3)")
	all["flow_first"].holds("E(3) × S(64)", "S(48)")
	all["flow_first"].says("exchanging rows 0 and 1 of set 2")
	all = judge(t, "scenes/subsets.yaml", few("subgroup", "order", "uses"))
	all["subset"].holds("S(24)")
	all["subset"].silent("No answer depends on")
	all["subset_ordered"].says("the order of rows counts: exchanging rows")
	all["subset_alone"].holds("S(24)")
	all["subset_alone"].says("No answer depends on the rows of nodes outside of chosen")
	all = judge(t, "scenes/induced.yaml", few("subgroup", "order"))
	all["induced"].holds("S(24)")
	all["induced_ordered"].says("the order of rows counts: exchanging rows")
	all = judge(t, "scenes/bags.yaml", few("subgroup", "order"))
	all["bag"].holds("S(24) × S(6)")
	all["bag_first"].holds("S(24)", "S(6)")
	all["bag_ordered"].holds("S(6)", "S(24)")
}

// TestPlantedDirection wants the full group where the direction that a network is told moves with the cloud.
func TestPlantedDirection(t *testing.T) {
	judge(t, "planted/gravity.yaml", few("subgroup"))["gravity_o3"].holds("O(3) × S(64)", "T(3)")
}

// TestPlantedTypes tells vectors, axial vectors and irreps from what they are declared as: the group that is left, and
// the type that would be right.
func TestPlantedTypes(t *testing.T) {
	judge(t, "planted/vectors.yaml", few("subgroup", "irreps"))["vector_e3"].holds("E(3) × S(64)")

	axial := judge(t, "planted/axial.yaml", few("subgroup", "irreps"))["pseudovector"]
	axial.holds("SE(3) × S(64)", "handedness")
	axial.says("axial holds as pseudovectors")
	axial.because("the output has another type than declared")

	// One sample of the parity twin is a difference of large numbers in float32; all samples make up for it.
	all := judge(t, "planted/irreps.yaml", asked{elements: 24, checks: []string{"subgroup", "irreps"}})
	all["irreps_l2"].holds("E(3) × S(64)")
	all["irreps_l2"].silent("holds as")
	all["irreps_l2"].because()
	all["irreps_l2_order"].holds("T(3) × S(64)", "O(3)")
	all["irreps_l2_order"].says("tensor holds as 1x2e, z in place of y as the polar axis")
	all["irreps_l2_order"].because("the output has another type than declared")
	all["irreps_l2_parity"].holds("SE(3) × S(64)", "handedness")
	all["irreps_l2_parity"].says("tensor holds as 1x2o")
	all["irreps_l2_parity"].because("the output has another type than declared")
}

// TestPlantedTensors wants networks of irreps inside to pass whole audits where their products are right, and the node
// of the fault of every twin.
func TestPlantedTensors(t *testing.T) {
	slow.Test(t)
	all := judge(t, "planted/tensor.yaml", asked{
		samples: 16, elements: 24, checks: []string{"layers"},
		only: []string{
			"tensor_sign", "tensor_relu", "tensor_grid", "tensor_order", "tensor_parity", "tensor_swish",
			"tensor_places",
		},
	})
	for name, at := range map[string]string{
		"tensor_sign": "tp1-1x2-1", "tensor_relu": "act-relu", "tensor_grid": "gaunt-from", "tensor_order": "tp1-1x1-2",
		"tensor_parity": "sum-axial", "tensor_swish": "act-sigmoid", "tensor_places": "gaunt-offset",
	} {
		all[name].says("the symmetry is first lost in " + at + " (")
	}
	for name, r := range judge(t, "planted/tensor.yaml", asked{only: []string{
		"tensor_clebsch", "tensor_gaunt", "tensor_steps",
	}}) {
		if r.verdict != "PASS" {
			t.Errorf("%s: %s, %q", name, r.verdict, r.said)
		}
		r.holds("E(3) × S(n)")
		r.silent("first lost")
		if n := r.numbers["layers: layers that inject an error"]; n != 0 {
			t.Errorf("%s: %g layers inject an error", name, n)
		}
	}
}

// TestPlantedShifts tells a convolution that goes around from one that meets zeros at the ends and one that leaves
// samples out.
func TestPlantedShifts(t *testing.T) {
	all := judge(t, "planted/signals.yaml", asked{
		samples: 8, checks: []string{"subgroup", "lattice", "warmup", "layers"},
	})
	all["conv_circular"].holds("shifts by multiples of 1")
	all["conv_circular"].because()
	all["conv_circular"].silent("-1")
	all["conv_zero"].holds("only the identity", "shifts by multiples of 1")
	all["conv_zero"].says("the model sees the borders of a sequence: 8 frames from its start and 8 from its end")
	all["strided"].holds("shifts by multiples of 4", "shifts by multiples of 1")
	all["strided"].because("strid", "subsampl", "aliasing")
	for name, want := range map[string]string{"conv_zero": "FAIL", "strided": "FAIL"} {
		if got := all[name].verdict; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestPlantedFlows finds out a recurrent network that is equivariant to shifts of the whole sequence and not to drifts,
// and says of one that looks at each picture by itself that both hold.
func TestPlantedFlows(t *testing.T) {
	slow.Test(t)
	all := judge(t, "planted/flow.yaml", asked{
		samples: 8, checks: []string{"subgroup", "lattice", "moving", "warmup"},
	})
	static := all["flow_static"]
	if static.verdict != "FAIL" {
		t.Errorf("flow_static: %s under drifts, want FAIL", static.verdict)
	}
	static.says("moving: ", "static")
	static.because("mov", "flow", "state")
	moving := all["flow_moving"]
	if moving.verdict == "FAIL" {
		t.Errorf("flow_moving: FAIL under drifts, want that they hold")
	}
	moving.because()
	if all["flow_memory"].verdict != "FAIL" {
		t.Errorf("flow_memory: %s under all drifts, want FAIL: it has states for drifts along columns alone",
			all["flow_memory"].verdict)
	}
}

package newcomer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/app"
	"nero/audit"
	"nero/data/space"
	"nero/data/tensor"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// beads is a kind of value: numbers on a string, which may be held by either end.
type beads struct{ val []float64 }

const kindBeads space.Kind = "beads"

func (*beads) Kind() space.Kind     { return kindBeads }
func (b *beads) Dims() []int        { return []int{len(b.val)} }
func (b *beads) Form() string       { return fmt.Sprintf("beads %d", len(b.val)) }
func (b *beads) Clone() space.Value { return &beads{slices.Clone(b.val)} }
func (b *beads) Like() space.Value  { return &beads{make([]float64, len(b.val))} }
func (b *beads) Numbers() []float64 { return b.val }
func (b *beads) Output() []float64  { return b.val }
func (b *beads) Bytes() int         { return 8 * len(b.val) }
func (b *beads) Parts() []tensor.Named {
	return []tensor.Named{{Name: "beads", Tensor: tensor.FromFloat32(narrow(b.val), len(b.val))}}
}

func (b *beads) With(x []float64) (space.Value, error) {
	if len(x) != len(b.val) {
		return nil, fmt.Errorf("%d numbers for %s", len(x), b.Form())
	}
	return &beads{x}, nil
}

// narrow is numbers in float32.
func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// turned is how a group of two elements moves it: by the other end.
var turned = action.Rule{
	Name: "turned", Doc: "beads in the opposite order", Space: kindBeads,
	New: func(g group.Group, _ space.Spec, _ action.Options) (action.Action, error) {
		if g.Name() != "C2" {
			return nil, fmt.Errorf("%s is not C2: %w", g.Name(), errors.ErrUnsupported)
		}
		return turning{g}, nil
	},
}

type turning struct{ of group.Group }

func (a turning) Group() group.Group     { return a.of }
func (turning) Exact(group.Element) bool { return true }
func (a turning) Apply(g group.Element, v space.Value) (space.Value, error) {
	v = v.Clone()
	if a.of.Dist(g, a.of.Identity()) != 0 {
		slices.Reverse(v.Numbers())
	}
	return v, nil
}

// strung is what is known of the kind, and all that models need to be fed with it and to answer it.
var strung = &space.Info{
	Kind: kindBeads, Doc: "numbers on a string", Linear: true,
	Zero: func(dims []int) space.Value { return &beads{make([]float64, dims[0])} },
}

// held is the program that knows them.
func held() *app.App {
	spec := space.Spec{Name: "beads", Kind: kindBeads, Shape: []int{3}}
	format := lines(spec, 0, func(x []float64) space.Value { return &beads{x} })
	return &app.App{Parts: app.Parts{
		Kinds: space.List{strung}, Formats: append(workload.Formats(), format), Rules: append(action.Rules(), turned),
	}}
}

// firstMore adds to the first bead alone, which breaks the symmetry by (1, 0, -1), of norm √2.
func firstMore() model {
	return model{in: []int{3}, out: 3, answer: func(x []float32) []float32 { return []float32{x[0] + 1, x[1], x[2]} }}
}

// scattered is the root mean square distance of what firstMore answers to the samples of TestKind, (1, 0, 0), (4, 0, 0)
// and (1, 0, 3), from their mean (2, 0, 1): √((2 + 5 + 5) / 3).
const scattered = 2.0

// beaded is a study of beads as a file.
func beaded(t *testing.T, a *app.App, of model, samples ...string) *job.Study {
	t.Helper()
	text := "version: 1\ndata: {images: " + written(t, samples...) + ", format: lines}\ngroup: C2\n" +
		"models: [{name: toy, endpoint: \"" + serve(t, of).Endpoint + "\"}]\ninput: {space: beads}\n" +
		"output: {space: beads, action: same}\n"
	file := filepath.Join(t.TempDir(), "study.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := a.OpenStudy(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Validate(s); err != nil {
		t.Fatal(err)
	}
	if _, err := new(app.App).OpenStudy(file); err == nil || !strings.Contains(err.Error(), `"beads" is not one of`) ||
		!strings.Contains(err.Error(), `"lines" is not one of`) {
		t.Errorf("a program without the kind reads its study: %v", err)
	}
	return s
}

func TestKind(t *testing.T) {
	a := held()
	r := run(t, a, beaded(t, a, firstMore(), "0 0 0", "3 0 0", "0 0 3"))
	sum := r.Summary
	if len(sum.Metrics) != 2 || sum.Metrics[0].Name != "relative" || sum.Metrics[1].Name != "absolute" {
		t.Errorf("the usual metrics are %+v", sum.Metrics)
	}
	for i, want := range []float64{math.Sqrt2 / scattered, math.Sqrt2} {
		if mean := sum.Curves[i].Mean; len(mean) != 2 || mean[0] != 0 || !near(float64(mean[1]), want) {
			t.Errorf("the curve is %v, want 0 and %g", mean, want)
		}
	}
	if !near(float64(sum.Scales[0]), scattered) {
		t.Errorf("the scale is %v, want %g", sum.Scales[0], scattered)
	}
	if _, err := a.Report(t.Context(), r.Dir, filepath.Join(t.TempDir(), "report"), ""); err != nil {
		t.Error(err)
	}
}

// An audit finds what is broken, and passes what is not.
func TestKindAudit(t *testing.T) {
	a := held()
	var samples []string
	for i := range 100 { // as many as make an audit sure
		samples = append(samples, fmt.Sprint(i%7, i%5, (i*i)%11))
	}
	for want, of := range map[audit.Verdict]model{
		audit.Failed: firstMore(),
		audit.Passed: {in: []int{3}, out: 3, answer: func(x []float32) []float32 {
			return []float32{2 * x[0], x[1] + x[0] + x[2], 2 * x[2]}
		}},
	} {
		s := beaded(t, a, of, samples...)
		s.Audit.Checks = []string{"lattice", "controls"}
		r, err := a.Audit(t.Context(), s, app.AuditOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Reports[0]; got.Verdict != want {
			t.Errorf("%s, want %s: %q", got.Verdict, want, got.Reasons)
		}
	}
}

// The schema, which editors read, knows the words.
func TestKindSchema(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			AnyOf []json.RawMessage `json:"anyOf"`
		} `json:"$defs"`
	}
	text := held().StudySchema()
	if err := json.Unmarshal(text, &schema); err != nil || len(schema.Defs["Data"].AnyOf) == 0 {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(`"beads"`)); n != 3 { // the space of inputs, that of outputs, the kind of a field
		t.Errorf("the schema says beads %d times", n)
	}
	if n := bytes.Count(text, []byte(`"lines"`)); n != 1 {
		t.Errorf("the schema says lines %d times", n)
	}
	if !bytes.Equal(new(app.App).StudySchema(), job.Schema()) {
		t.Error("the schema of a program without more words is another")
	}
}

package newcomer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"nero/app"
	"nero/data/space"
	"nero/present/view"
	"nero/serve/shelf"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/grouptest"
)

// exposure is a kind of axis: a picture and its negative.
var exposure = &group.Kind{
	Name: "exposure", Form: group.FormSwitch, Many: "negatives", Ways: [2]string{"take the negative"},
}

// negative is a group of two elements.
type negative struct{}

func (negative) Name() string { return "Negative" }
func (negative) Doc() string  { return "A picture and its negative." }
func (negative) Chart() []group.Axis {
	return []group.Axis{{Name: "negative", Kind: exposure, Min: 0, Max: 1}}
}
func (negative) Identity() group.Element { return group.Element{0} }
func (negative) Mul(g, h group.Element) group.Element {
	return group.Element{math.Mod(math.Round(g[0])+math.Round(h[0]), 2)}
}
func (negative) Inv(g group.Element) group.Element { return group.Element{math.Round(g[0])} }
func (negative) Dist(g, h group.Element) float64 {
	return math.Abs(math.Round(g[0]) - math.Round(h[0]))
}
func (negative) Invariance() (left, right bool)    { return true, true }
func (negative) Order() int                        { return 2 }
func (negative) Elements() []group.Element         { return []group.Element{{0}, {1}} }
func (negative) Sample(r *rand.Rand) group.Element { return group.Element{float64(r.IntN(2))} }
func (negative) Steps() []float64                  { return []float64{1} }

// develop is how it acts on pictures.
type develop struct{}

func (develop) Group() group.Group       { return negative{} }
func (develop) Exact(group.Element) bool { return true }
func (develop) Apply(g group.Element, v space.Value) (space.Value, error) {
	v = v.Clone()
	for i, x := range v.Numbers() {
		if g[0] != 0 {
			v.Numbers()[i] = 255 - x
		}
	}
	return v, nil
}

var developed = action.Rule{
	Name: "develop", Doc: "the negative of a picture", Space: space.KindImage, Commutes: true,
	New: func(g group.Group, _ space.Spec, _ action.Options) (action.Action, error) {
		if g.Name() != "Negative" {
			return nil, fmt.Errorf("%s is not Negative: %w", g.Name(), errors.ErrUnsupported)
		}
		return develop{}, nil
	},
}

// A product with a group of nero moves by both, and an audit knows of which factors it is made.
func TestGroupAsFactor(t *testing.T) {
	rules := append(action.Table{developed}, action.Rules()...)
	a := &app.App{Parts: app.Parts{Groups: []group.Group{negative{}}, Rules: rules}}
	s := study(t, firstTwo(), "C2 x negative")
	got := run(t, a, s)
	if s.Group.Name != "C2 x Negative" {
		t.Fatalf("the group is %s", s.Group.Name)
	}
	want := []float64{0, 0, 0, 0} // the identity, the negative, a half turn, the negative of one
	for k := range 3 {
		x, y := float64(gray(k, 0)), float64(gray(k, 1))
		u, v := float64(gray(k, 15)), float64(gray(k, 14))
		want[1] += math.Hypot(255-2*x, 255-2*y) / 255 / 3
		want[2] += math.Hypot(u-x, v-y) / 255 / 3
		want[3] += math.Hypot(255-u-x, 255-v-y) / 255 / 3
	}
	for i, m := range got.Summary.Curves[0].Mean {
		e := got.Summary.Elements[i]
		at := int(math.Round(e[1]))
		if e[0] != 0 {
			at += 2
		}
		if !near(float64(m), want[at]) {
			t.Errorf("at %v the mean is %v, want %g", e, m, want[at])
		}
	}
	if n := len(got.Summary.Curves[0].Mean); n != 4 {
		t.Errorf("%d elements", n)
	}

	r, err := a.Audit(t.Context(), study(t, firstTwo(), "C2 x Negative"), app.AuditOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var doc strings.Builder
	if err := r.Write(&doc, "json"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(doc.String(), `"name": "negative"`) {
		t.Errorf("the document does not name the axis:\n%s", doc.String())
	}
	list := a.Groups()
	if e := list[len(list)-1]; e.Name != "Negative" || e.Doc != (negative{}).Doc() || e.Axes != "negative, 0 or 1" ||
		e.Orbit == "" {
		t.Errorf("the list ends with %+v", e)
	}
	_, err = a.Run(t.Context(), study(t, firstTwo(), "Negatife"), app.RunOptions{Dir: t.TempDir(), Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "did you mean Negative") {
		t.Errorf("a slip of the pen: %v", err)
	}
}

func TestGroup(t *testing.T) {
	grouptest.Check(t, negative{})
	rules := append(action.Table{developed}, action.Rules()...)
	a := &app.App{Parts: app.Parts{Groups: []group.Group{negative{}}, Rules: rules}}
	r := run(t, a, study(t, firstTwo(), "Negative"))
	want := 0.0
	for k := range 3 {
		want += math.Hypot(255-2*float64(gray(k, 0)), 255-2*float64(gray(k, 1))) / 255 / 3
	}
	if got := r.Summary.Curves[0].Mean; len(got) != 2 || got[0] != 0 || !near(float64(got[1]), want) {
		t.Errorf("the curve is %v, want 0 and %g", got, want)
	}
	f, err := view.Aggregate(r.Summary, 0, []int{0}, view.Options{})
	if err != nil || len(f.Axes) != 1 || f.Axes[0].Kind != exposure {
		t.Fatalf("the picture has the axes %+v, %v", f, err)
	}
	sh, err := shelf.Open(t.Context(), []string{r.Dir}, shelf.Options{Groups: a.Parts.Groups})
	if err != nil {
		t.Fatal(err)
	}
	defer sh.Close() //nolint:errcheck // nothing was written
	for _, x := range sh.Runs().Runs {
		shown, err := sh.Run(x.ID)
		if err != nil {
			t.Fatal(err)
		}
		chart := shown.Document().Orbit.Chart
		if len(chart) != 1 || chart[0].Kind == nil || chart[0].Kind.Name != "exposure" {
			t.Errorf("the page is told of the chart %+v", chart)
		}
	}
	if n := len(sh.Runs().Runs); n != 1 {
		t.Errorf("the shelf has %d runs", n)
	}
}

package newcomer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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
	Name: "develop", Doc: "the negative of a picture", Space: space.KindImage,
	New: func(g group.Group, _ space.Spec, _ action.Options) (action.Action, error) {
		if g.Name() != "Negative" {
			return nil, fmt.Errorf("%s is not Negative: %w", g.Name(), errors.ErrUnsupported)
		}
		return develop{}, nil
	},
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

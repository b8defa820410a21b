package census

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/split"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// side is the height and width of the pictures of these tests.
const side = 14

// blob is a picture of a bell at a place from the middle, x to the right and y up, longer than broad along an angle.
func blob(x, y, broad, long, angle, ground float64) *space.Image {
	m := space.NewImage(1, side, side)
	sin, cos := math.Sincos(angle)
	for i := range m.Pix {
		px, py := float64(i%side)-(side-1)/2.0-x, (side-1)/2.0-float64(i/side)-y
		u, v := cos*px+sin*py, -sin*px+cos*py
		m.Pix[i] = ground + 100*math.Exp(-(u*u/(long*long)+v*v/(broad*broad))/2)
	}
	return m
}

// drawn is a subject whose samples are drawn by a function, each from its own generator.
func drawn(t *testing.T, name string, n int, elements []group.Element,
	draw func(i int, r *rand.Rand) (space.Value, int, space.Value),
) *Subject {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &Subject{Name: "drawn", Group: g, Elements: elements, Seed: 3, Workers: 2, Measure: "some elements"}
	if elements == nil {
		f, ok := g.(group.Finite)
		if !ok {
			t.Fatalf("%s is not finite", name)
		}
		s.Elements = f.Elements()
	}
	var all []dataset.Sample
	labelled := false
	for i := range n {
		v, label, target := draw(i, rand.New(rand.NewPCG(11, uint64(i))))
		s.IDs, s.Labels = append(s.IDs, fmt.Sprintf("sample-%d", i)), append(s.Labels, label)
		all = append(all, dataset.Sample{ID: s.IDs[i], Label: label, Value: v, Target: target})
		labelled = labelled || label >= 0
	}
	if !labelled {
		s.Labels = nil
	}
	s.Sample = func(i int) (dataset.Sample, error) { return all[i], nil }
	spec := space.SpecOf("input", all[0].Value)
	if rows, ok := all[0].Value.(space.Counted); ok && rows.Columns() == 3 {
		spec.Type = space.TypePositions
	}
	for name, leaf := range space.Leaves(all[0].Value) {
		if name != "" {
			field := space.SpecOf(name, leaf)
			field.Type = space.TypePositions
			spec.Fields = append(spec.Fields, field)
		}
	}
	if s.Action, err = action.Rules().For(g, spec, action.Options{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func take(t *testing.T, s *Subject) *Report {
	t.Helper()
	r, err := Take(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ruleNames(r *Report) (names []string) {
	for _, a := range r.Advice {
		names = append(names, a.Rule)
	}
	return names
}

// somewhere is a blob anywhere about the middle, of one of two sizes, which are the classes.
func somewhere(i int, r *rand.Rand) (space.Value, int, space.Value) {
	far, angle := 3*r.Float64(), 2*math.Pi*r.Float64()
	size := 1 + 0.8*float64(i%2)
	return blob(far*math.Cos(angle), far*math.Sin(angle), size, size, 0, 0), i % 2, nil
}

// Blobs anywhere have the symmetry of the square, and their sizes survive it.
func TestSymmetricData(t *testing.T) {
	r := take(t, drawn(t, "C4", 600, nil, somewhere))
	if r.State != Symmetric || r.Survive != Stable || !r.Good() || !r.Valid.All || !slices.Equal(ruleNames(r),
		[]string{"build-in"}) {
		t.Errorf("state %s, labels %s, advice %v, valid %+v, exact %+v, elements %+v", r.State, r.Survive, ruleNames(r),
			r.Valid,
			r.Exact, r.Elements)
	}
	if len(r.Elements) != 3 || r.Elements[0].Twin != nil || r.Exact.Copies != 4 || r.Exact.Resampled {
		t.Errorf("%+v, %+v", r.Elements, r.Exact)
	}
}

// Of 200 data sets that have the symmetry, the test of the whole group with all its statistics finds something in no
// more than one of twenty, up to three deviations of chance; of as many whose samples lie on one side, in all.
func TestLevelOfTheWholeGroup(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a rate over 200 seeds")
	}
	const seeds, objects, level = 200, 24, 0.05
	for name, anywhere := range map[string]bool{"symmetric": true, "posed": false} {
		found, energy := 0, 0
		for seed := range uint64(seeds) {
			s := drawn(t, "C4", objects, nil, func(i int, _ *rand.Rand) (space.Value, int, space.Value) {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				if anywhere {
					return somewhere(i, r)
				}
				return blob(4*r.Float64()-2, 1+2*r.Float64(), 1, 1, 0, 0), -1, nil
			})
			s.Seed = seed
			k, err := newTaker(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			var r Report
			if k.exact(&r); len(r.Exact.Tests) < 2 {
				t.Fatalf("%+v", r.Exact)
			}
			if float64(r.Exact.P) <= level {
				found++
			}
			if float64(r.Exact.Tests[0].P) <= level {
				energy++
			}
		}
		t.Logf("%s: %d of %d, by the energy distance alone %d", name, found, seeds, energy)
		most := seeds*level + 3*math.Sqrt(seeds*level*(1-level))
		if anywhere && !(float64(max(found, energy)) <= most && energy > 0) || !anywhere && found < seeds {
			t.Errorf("%s: in %d of %d data sets something is found, by the energy distance alone in %d", name, found,
				seeds, energy)
		}
	}
}

// Blobs near the top have a pose, which their sizes do not depend on.
func TestPosedData(t *testing.T) {
	r := take(t, drawn(t, "C4", 600, nil, func(i int, r *rand.Rand) (space.Value, int, space.Value) {
		size := 1 + 0.8*float64(i%2)
		return blob(6*r.Float64()-3, 4*r.Float64()-1, size, size, 0, 0), i % 2, nil
	}))
	if r.State != Posed || r.Survive != Stable || r.Good() || !slices.Equal(ruleNames(r), []string{"augment"}) ||
		!(r.Exact.P <= 0.05) {
		t.Errorf("state %s, labels %s, advice %v, p %v", r.State, r.Survive, ruleNames(r), r.Exact.P)
	}
	if len(r.Valid.Names) != 0 || r.Valid.All {
		t.Errorf("valid range %+v", r.Valid)
	}
}

// Blobs above and below the middle are the classes: half a turn makes each the other.
func TestLabelsThatChangePlaces(t *testing.T) {
	r := take(t, drawn(t, "C2", 400, nil, func(i int, r *rand.Rand) (space.Value, int, space.Value) {
		return blob(4*r.Float64()-2, (1+2*r.Float64())*float64(1-2*(i%2)), 1, 1, 0, 0), i % 2, nil
	}))
	if r.State != Symmetric || r.Survive != Unsafe || r.Good() || !slices.Equal(ruleNames(r), []string{
		"rename",
		"narrow",
	}) {
		t.Errorf("state %s, labels %s, advice %v", r.State, r.Survive, ruleNames(r))
	}
	f := r.Labels.Elements[0]
	if !slices.Equal(f.Unsafe, []string{"0", "1"}) || f.Matrix[0][1] != 200 || f.Matrix[0][0] != 0 ||
		r.Labels.Rest.Matrix[0][0] != 200 {
		t.Errorf("%+v, at rest %v", f, r.Labels.Rest.Matrix)
	}
}

// Under a border of zeros a bright ground gets dark corners when it is turned. Nothing but that differs, and there and
// back it differs as much: the twin takes the false alarm away. That samples look alike it does not show, because
// whatever else differed would be hidden.
func TestTwinTakesAwayWhatResamplingShows(t *testing.T) {
	s := drawn(t, "SO(2)", 300, []group.Element{{0}, {30}}, func(_ int, r *rand.Rand) (space.Value, int, space.Value) {
		far, angle := 2*r.Float64(), 2*math.Pi*r.Float64()
		return blob(far*math.Cos(angle), far*math.Sin(angle), 1, 1, 0, 40), -1, nil
	})
	r := take(t, s)
	if e := r.Elements[0]; !(e.AUC.Low > 0.95) || e.Twin == nil || !(e.Twin.Low > 0.95) || e.State != Undecided {
		t.Errorf("%+v, auc %+v, twin %+v", e, e.AUC, e.Twin)
	}
	if names := ruleNames(r); !slices.Contains(names, "hidden") || slices.Contains(names, "more") || r.Valid.All {
		t.Errorf("advice %v, valid %+v", names, r.Valid)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0],
		"of 50 samples 50 show something that the border rule fills in") {
		t.Errorf("notes %q", r.Notes)
	}
	// Which corners are dark depends on the turn, and the test of the whole group sees that, but not within the disc.
	first, err := s.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	spec := space.SpecOf("input", first.Value)
	if s.Action, err = action.Rules().For(s.Group, spec, action.Options{Region: "disc"}); err != nil {
		t.Fatal(err)
	}
	if r = take(t, s); !r.Exact.Resampled || !(r.Exact.P > 0.05) || len(r.Notes) > 0 {
		t.Errorf("in the disc %+v, %+v, %v", r.Exact, r.Elements[0], r.Notes)
	}
}

// Whatever counts of what cannot be told is said and no verdict.
func TestWhatCannotBeTold(t *testing.T) {
	plain := func(i int, _ *rand.Rand) (space.Value, int, space.Value) {
		return blob(0, 0, 1, 1, 0, 0), i % 2, nil
	}
	t.Run("constant pictures", func(t *testing.T) {
		r := take(t, drawn(t, "C4", 40, nil, func(int, *rand.Rand) (space.Value, int, space.Value) {
			return space.NewImage(1, side, side), -1, nil
		}))
		if r.State != Constant || r.Good() || r.Elements[0].State != Constant || !math.IsNaN(float64(r.Exact.P)) {
			t.Errorf("%s, %+v", r.State, r.Elements[0])
		}
	})
	t.Run("no labels", func(t *testing.T) {
		r := take(t, drawn(t, "C4", 200, nil, func(i int, r *rand.Rand) (space.Value, int, space.Value) {
			v, _, _ := somewhere(i, r)
			return v, -1, nil
		}))
		if r.Survive != Unknown || r.Labels != nil || !strings.Contains(r.NoLabels, "no labels") ||
			!slices.Contains(ruleNames(r), "labels") {
			t.Errorf("%s, %v, %v", r.Survive, r.NoLabels, ruleNames(r))
		}
	})
	t.Run("one class", func(t *testing.T) {
		r := take(t, drawn(t, "C4", 40, nil, func(i int, r *rand.Rand) (space.Value, int, space.Value) {
			v, _, _ := somewhere(i, r)
			return v, 0, nil
		}))
		if r.Survive != Unknown || !strings.Contains(r.NoLabels, "one class") {
			t.Errorf("%s, %v", r.Survive, r.NoLabels)
		}
	})
	t.Run("labels that looks do not know", func(t *testing.T) {
		// No label changes more often than by chance, and so none would ever be unsafe.
		r := take(t, drawn(t, "C4", 300, nil, func(i int, r *rand.Rand) (space.Value, int, space.Value) {
			v, _, _ := somewhere(i, r)
			return v, r.IntN(8), nil
		}))
		if r.Survive != Unknown || r.Labels != nil || !strings.Contains(r.NoLabels, "by chance") ||
			!strings.Contains(r.Do, "looks do not tell") {
			t.Errorf("%s, %v, %v", r.Survive, r.NoLabels, r.Do)
		}
	})
	t.Run("numbers that looks do not know", func(t *testing.T) {
		r := take(t, drawn(t, "C4", 300, nil, func(i int, r *rand.Rand) (space.Value, int, space.Value) {
			v, _, _ := somewhere(i, r)
			target := space.NewRows(1, 1)
			target.Val[0] = r.NormFloat64()
			return v, -1, target
		}))
		if r.Survive != Unknown || r.Labels != nil || !strings.Contains(r.NoLabels, "no better than the mean") {
			t.Errorf("%s, %v", r.Survive, r.NoLabels)
		}
	})
	t.Run("undecided is not otherwise", func(t *testing.T) {
		r := take(t, drawn(t, "C4", 40, nil, somewhere))
		if r.State != Undecided || strings.Contains(r.valid(), "otherwise") ||
			!strings.Contains(r.valid(), "not decided") {
			t.Errorf("%s, %q", r.State, r.valid())
		}
	})
	t.Run("axes of a wide frame", func(t *testing.T) {
		noise := func(h, w int) *Report {
			return take(t, drawn(t, "C2", 60, nil, func(_ int, r *rand.Rand) (space.Value, int, space.Value) {
				m := space.NewImage(1, h, w)
				for i := range m.Pix {
					m.Pix[i] = r.Float64()
				}
				return m, -1, nil
			}))
		}
		says := func(r *Report) bool {
			return slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "longer side") })
		}
		if !says(noise(8, 12)) || !says(noise(12, 8)) || says(noise(12, 12)) {
			t.Error("that wide frames make wide axes is said of wide frames alone")
		}
	})
	t.Run("not compact", func(t *testing.T) {
		r := take(t, drawn(t, "T(2,Z)", 100, []group.Element{{0, 0}, {1, 0}}, somewhere))
		if !strings.Contains(r.Exact.Reason, "not compact") || r.Exact.Tests != nil || r.State == Constant {
			t.Errorf("%+v, %s", r.Exact, r.State)
		}
	})
	t.Run("too few", func(t *testing.T) {
		if _, err := Take(t.Context(), drawn(t, "C4", 19, nil, plain)); !errors.Is(err, ErrFew) {
			t.Errorf("%v", err)
		}
	})
	t.Run("identity alone", func(t *testing.T) {
		if _, err := Take(t.Context(), drawn(t, "C4", 30, []group.Element{{0}}, plain)); err == nil {
			t.Error("nothing was to be tested, and nothing is said")
		}
	})
	t.Run("not finite", func(t *testing.T) {
		for _, workers := range []int{1, 4} {
			s := drawn(t, "C4", 60, nil, func(i int, _ *rand.Rand) (space.Value, int, space.Value) {
				m := blob(0, 0, 1, 1, 0, 0)
				if i == 7 || i == 31 {
					m.Pix[3] = math.NaN()
				}
				return m, -1, nil
			})
			s.Workers = workers
			if _, err := Take(t.Context(), s); !errors.Is(err, space.ErrNotFinite) || !strings.Contains(err.Error(),
				"sample-7:") {
				t.Errorf("%v", err)
			}
		}
	})
	t.Run("stopped", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s := drawn(t, "C4", 60, nil, plain)
		s.Step = func(int) { stop() }
		if _, err := Take(ctx, s); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

// Numbers to predict: where a blob is does not survive a mirror, how bright it is does.
func TestRegression(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(x, size float64) float64
		want string
	}{
		{"place", func(x, _ float64) float64 { return x }, Unsafe},
		{"size", func(_, size float64) float64 { return size }, Stable},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := take(t, drawn(t, "D1", 400, nil, func(_ int, r *rand.Rand) (space.Value, int, space.Value) {
				x, y, size := 6*r.Float64()-3, 2*r.Float64()-1, 1+r.Float64()
				target := space.NewRows(1, 1)
				target.Val[0] = c.of(x, size)
				return blob(x, y, size, size, 0, 0), -1, target
			}))
			if r.Survive != c.want || r.Labels.Elements[0].Error == nil || !(r.Labels.Deviation > 0) {
				t.Errorf("%s, %+v", r.Survive, r.Labels)
			}
		})
	}
}

// Points of a rod: upright rods have the axis z and no symmetry under rotations, those turned at random have it.
func TestClouds(t *testing.T) {
	so3, err := catalog.Parse("SO(3)")
	if err != nil {
		t.Fatal(err)
	}
	rod := func(turned bool) func(int, *rand.Rand) (space.Value, int, space.Value) {
		return func(_ int, r *rand.Rand) (space.Value, int, space.Value) {
			v := space.NewRows(30, 3)
			for i := range v.N {
				copy(v.Row(i), []float64{0.2 * r.NormFloat64(), 0.2 * r.NormFloat64(), r.NormFloat64()})
			}
			if !turned {
				return v, -1, nil
			}
			g := draw(so3, r)
			a, _ := so3.(group.Spatial).Motion(g) //nolint:errcheck,forcetypeassert // it is one
			for i := range v.N {
				p := slices.Clone(v.Row(i))
				for j := range 3 {
					v.Row(i)[j] = a[3*j]*p[0] + a[3*j+1]*p[1] + a[3*j+2]*p[2]
				}
			}
			return v, -1, nil
		}
	}
	elements := []group.Element{{0, 0, 0}, {90, 0, 0}, {0, 60, 0}}
	r := take(t, drawn(t, "SO(3)", 200, elements, rod(false)))
	if p := r.Pose; r.State != Posed || p == nil || len(p.Mean) != 3 || !(p.Mean[2] > 0.99) || !(p.Resultant > 0.9) ||
		!(p.Quantiles[1].Degrees < 20) {
		t.Errorf("upright rods: %s, pose %+v", r.State, r.Pose)
	}
	r = take(t, drawn(t, "SO(3)", 200, elements, rod(true)))
	if r.State == Posed || r.State == Approximate || !(r.Pose.Resultant < 0.3) {
		t.Errorf("rods turned at random: %s, pose %+v, %+v", r.State, r.Pose, r.Exact)
	}
}

// The long axis of a blob is where it was drawn, and round ones have none.
func TestPose(t *testing.T) {
	for _, want := range []float64{0, 30, 90, 120} {
		s := drawn(t, "C4", 40, nil, func(_ int, r *rand.Rand) (space.Value, int, space.Value) {
			return blob(r.Float64(), 0, 1, 2.5, (want+10*r.Float64()-5)*math.Pi/180, 0), -1, nil
		})
		p := take(t, s).Pose
		off := math.Abs(float64(p.Mean[0]) - want)
		rose := 0
		for _, n := range p.Rose {
			rose += n
		}
		if at := int(want / 10); rose != p.Samples || p.Rose[at]+p.Rose[(at+17)%18]+p.Rose[(at+1)%18] < 30 {
			t.Errorf("axes at %g° are in the rose as %d", want, p.Rose)
		}
		if !(min(off, 180-off) < 3) || !(p.Resultant > 0.95) || !(p.Quantiles[1].Degrees < 8) || p.Samples != 40 {
			t.Errorf("%v°: %+v", want, p)
		}
	}
	if a := axisOf(blob(0, 0, 2, 2, 0, 0), nil); a != nil {
		t.Errorf("a round blob has the axis %v", a)
	}
	if a := axisOf(space.NewImage(1, side, side), nil); a != nil {
		t.Errorf("an empty picture has the axis %v", a)
	}
}

// The window around the identity ends where the first element fails on each side.
func TestWithin(t *testing.T) {
	g, err := catalog.Parse("SO(2)")
	if err != nil {
		t.Fatal(err)
	}
	tk := &taker{s: &Subject{Group: g}, elements: []group.Element{{10}, {20}, {180}, {350}, {340}, {330}}}
	bad := map[float64]bool{20: true, 330: true}
	r := tk.within(func(k int) bool { return !bad[tk.elements[k][0]] })
	if r.All || r.Low != -20 || r.High != 10 || r.Axis != "angle" || len(r.Names) != 3 {
		t.Errorf("%+v", r)
	}
	if r = tk.within(func(int) bool { return true }); !r.All || r.Low != -30 || r.High != 180 {
		t.Errorf("%+v", r)
	}
	if g, err = catalog.Parse("D4"); err != nil {
		t.Fatal(err)
	}
	d4, ok := g.(group.Finite)
	if !ok {
		t.Fatal("D4 is not finite")
	}
	tk = &taker{s: &Subject{Group: g}, elements: d4.Elements()[1:]}
	if r = tk.within(func(k int) bool { return k != 0 }); r.All || r.Axis != "" || len(r.Names) == len(tk.elements) {
		t.Errorf("%+v", r)
	}
}

// Groups that have a Haar measure of one, and such that have not.
func TestCompact(t *testing.T) {
	for name, want := range map[string]bool{
		"C4": true, "D4": true, "SO(2)": true, "O(2)": true, "SO(3)": true, "O(3)": true, "Roll(28,28)": true,
		"S(5)":  true,
		"SU(2)": true, "T(2)": false, "T(2,Z)": false, "Scale": false, "SE(2)": false, "SL(2)": false, "Lorentz": false,
		"GL+(3)": false, "E(3)": false,
	} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := compact(g); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Reading: cells, and summaries of rows that do not depend on how many there are.
func TestReading(t *testing.T) {
	if got := pooled([]float64{1, 2, 3, 4, 5, 6}, 1, []int{2, 3}, []int{1, 3}); !slices.Equal(got, []float64{
		2.5, 3.5,
		4.5,
	}) {
		t.Errorf("%v", got)
	}
	if got := pooled([]float64{1, 3, 10, 30}, 2, []int{2}, []int{1}); !slices.Equal(got, []float64{2, 20}) {
		t.Errorf("%v", got)
	}
	if got := cells(1, 150, 7, 28, 14); !slices.Equal(got, []int{7, 4}) {
		t.Errorf("%v", got)
	}
	if got := cells(3, 30, 7, 28, 28); got[0]*got[1]*3 > 30 || got[0] < 2 {
		t.Errorf("%v", got)
	}
	few, many := space.NewRows(5, 3), space.NewRows(50, 3)
	many.Val[7] = 3
	if a, b := summary(few), summary(many); len(a) != len(b) || slices.ContainsFunc(a, math.IsNaN) {
		t.Errorf("%d and %d numbers", len(a), len(b))
	}
	if _, err := read(&space.Boxes{H: 4, W: 4}, nil); err == nil {
		t.Error("boxes were read")
	}
	for _, v := range []space.Value{
		space.NewRows(1, 7), space.NewSignal(2, 100, 0), space.NewVolume(1, 8, 8, 8),
		space.NewRows(6, 20),
	} {
		r, err := read(v, nil)
		if err != nil || len(r.of(v)) == 0 || len(r.of(v)) > 2*mostRead || r.Doc == "" {
			t.Errorf("%s: %v, %+v", v.Form(), err, r)
		}
	}
}

// The five nearest, the nearest first, and of equally near ones the first; the label of most, else of the nearest.
func TestNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		q, all := nearest{}, []int{}
		far := make([]float64, 12)
		for i := range far {
			far[i] = float64(r.IntN(6))
			q.add(i, far[i])
			all = append(all, i)
		}
		slices.SortStableFunc(all, func(a, b int) int { return int(far[a] - far[b]) })
		if !slices.Equal(q.index[:q.n], all[:Neighbors]) {
			t.Fatalf("%v, want %v of %v", q.index, all, far)
		}
	}
	labels := []int{4, 7, 7, 4, 9}
	if got := vote(labels, []int{1, 0, 3, 2, 4}); got != 7 {
		t.Errorf("%d", got)
	}
}

// Directions skip what cannot be near and nothing else: of rows that lie close together, far from the origin, with some
// that are equal.
func TestShortcutsSkipOnlyWhatIsFar(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const n, d, asked = 500, 120, 40
	for _, off := range []float64{0, 1e6} {
		rows := make([]float64, n*d)
		for i := range n {
			for j := range d {
				rows[i*d+j] = off + r.NormFloat64()/float64(1+j)
			}
			if i%10 == 9 {
				copy(rows[i*d:(i+1)*d], rows[(i-1)*d:])
			}
		}
		s := newShort(rows, d, fewDistances)
		if s == nil {
			t.Fatal("no directions")
		}
		skipped := 0
		for a := range asked {
			x := rows[a*d : (a+1)*d]
			quick, plain := nearest{x: x, short: s.query(x)}, nearest{x: x}
			for i := range n {
				plain.add(i, squared(x, rows[i*d:(i+1)*d], math.Inf(1)))
				if s.beyond(&quick.short, i) {
					skipped++
				} else if quick.add(i, squared(x, rows[i*d:(i+1)*d], quick.most())) {
					s.narrow(&quick.short, quick.most())
				}
			}
			if quick.index != plain.index || quick.far != plain.far {
				t.Fatalf("%v at %v, want %v at %v", quick.index, quick.far, plain.index, plain.far)
			}
		}
		if skipped < asked*n/2 {
			t.Errorf("%d of %d are skipped", skipped, asked*n)
		}
	}
}

// Of samples with several fields one is looked at alone where somebody names it, and a field that is not there is
// refused with those that are.
func TestOneFieldIsLookedAt(t *testing.T) {
	cloud := func(x float64, r *rand.Rand) *space.Rows {
		p := space.NewRows(6, 2)
		for i := range p.Val {
			p.Val[i] = r.NormFloat64()
			if i%2 == 0 {
				p.Val[i] += x
			}
		}
		return p
	}
	two := func(_ int, r *rand.Rand) (space.Value, int, space.Value) {
		return &space.Record{Names: []string{"even", "posed"}, Values: []space.Value{cloud(0, r), cloud(3, r)}}, -1, nil
	}
	for value, want := range map[string]string{"even": Symmetric, "posed": Posed, "": Posed} {
		s := drawn(t, "C2", 600, nil, two)
		s.Value = value
		if r := take(t, s); r.State != want || r.Value != value {
			t.Errorf("%q: %s, want %s", value, r.State, want)
		}
	}
	s := drawn(t, "C2", 30, nil, two)
	s.Value = "other"
	if _, err := Take(t.Context(), s); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "even and posed") {
		t.Errorf("%v", err)
	}
}

// Where samples are divided, the classifier learns from those to fit, and numbers are of those to confirm: what is
// planted on one side alone is learned and not seen, or neither.
func TestSidesAreKeptApart(t *testing.T) {
	cut := make([]split.Side, 240)
	for i := range cut {
		cut[i] = []split.Side{split.Fit, split.Fit, split.Choose, split.Confirm}[i%4]
	}
	posed := func(on func(side split.Side) bool) func(i int, r *rand.Rand) (space.Value, int, space.Value) {
		return func(i int, r *rand.Rand) (space.Value, int, space.Value) {
			up := float64(1 - 2*r.IntN(2))
			if on(cut[i]) {
				up = 1
			}
			return blob(0, 2.5*up, 1, 1.6, 0, 0), i % 2, nil
		}
	}
	for name, c := range map[string]struct {
		on   func(side split.Side) bool
		want bool
	}{
		"all":    {func(split.Side) bool { return true }, true},
		"none":   {func(split.Side) bool { return false }, false},
		"fit":    {func(s split.Side) bool { return s == split.Fit }, false},
		"choose": {func(s split.Side) bool { return s == split.Choose }, false},
	} {
		s := drawn(t, "C2", len(cut), nil, posed(c.on))
		s.Sides = cut
		r := take(t, s)
		if r.Samples != 60 || r.Learned != 120 || r.Elements[0].AUC.Low > 0.8 != c.want {
			t.Errorf("posed on %s: %d samples, %d learned from, AUC %+v", name, r.Samples, r.Learned, r.Elements[0].AUC)
		}
		if !strings.Contains(text(t, r), "learned from 120 samples on the side fit") {
			t.Errorf("%s: nothing of the sides in the report", name)
		}
	}
	s := drawn(t, "C2", len(cut), nil, posed(func(split.Side) bool { return true }))
	s.Sides = slices.Repeat([]split.Side{split.Fit}, len(cut))
	if _, err := Take(t.Context(), s); !errors.Is(err, ErrFew) ||
		!strings.Contains(err.Error(), "0 on the side confirm") {
		t.Errorf("%v", err)
	}
}

// text is a report for people.
func text(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Forms()[0].Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Every form says the same for any number of workers.
func TestFormsAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	golden := func(_ int, r *rand.Rand) (space.Value, int, space.Value) {
		up := r.IntN(2)
		return blob(4*r.Float64()-2, (1+2*r.Float64())*float64(1-2*up), 1, 1.6, 1, 0), up, nil
	}
	var first *Report
	for _, workers := range []int{1, 4} {
		s := drawn(t, "C4", 120, nil, golden)
		s.Workers, s.Classes, s.Name = workers, []string{"<b>up</b>", "down"}, "drawn|pictures"
		r := take(t, s)
		r.Notes = []string{"a note"}
		if first == nil {
			first = r
		}
		for _, f := range Forms() {
			var b, want bytes.Buffer
			if err := f.Write(&b, r); err != nil {
				t.Fatal(err)
			}
			if err := f.Write(&want, first); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want.Bytes()) {
				t.Errorf("%s differs between 1 and %d workers", f.Name, workers)
			}
			name := filepath.Join("testdata", "report"+f.Ending)
			if *update && workers == 1 {
				if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			stored, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stored, b.Bytes()) {
				t.Errorf("%s is not what it was; look at it and run with -update:\n%s", name, b.Bytes())
			}
			if f.Name == "html" && strings.Contains(b.String(), "<b>up") {
				t.Error("the name of a class is markup")
			}
		}
	}
}

package discover_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/discover"
	"nero/run/job"
	"nero/symmetry/group"
)

// part runs one part about a subject.
func part[S discover.Section](tb testing.TB, s *discover.Subject, name string) S {
	tb.Helper()
	parts, err := discover.Select([]string{name})
	if err != nil {
		tb.Fatal(err)
	}
	got, err := parts[0].Run(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	out, ok := got.(S)
	if !ok {
		tb.Fatalf("%T", got)
	}
	return out
}

// claimed is the group of the only hypothesis of a section, as a study has it.
func claimed(tb testing.TB, s discover.Section) (group.Group, *job.Study) {
	tb.Helper()
	all := s.Hypotheses()
	if len(all) != 1 {
		tb.Fatalf("%d hypotheses, want 1: %v", len(all), all)
	}
	study := &job.Study{}
	all[0].Lay(study)
	g, err := job.OpenGroup(context.Background(), study.Group.Name, study.Group.Definition, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return g, study
}

func TestGeneratorsOfVectors(t *testing.T) {
	// Four numbers of Minkowski's form: a group that no catalogue of the scan has, laid down in a study.
	s := about(120, 4, 3, func(x []float64) []float64 {
		return []float64{math.Tanh(0.3 * (x[0]*x[0] - x[1]*x[1] - x[2]*x[2] - x[3]*x[3]))}
	})
	g := part[*discover.Generators](t, s, "generators")
	if text := g.Page().Answer; !strings.Contains(text, "6 independent families: so(3,1)") {
		t.Error(text)
	}
	claim, study := claimed(t, g)
	lie, ok := claim.(group.Lie)
	if !ok || len(lie.Generators()) != 6 || study.Output.Action != "invariant" {
		t.Errorf("%T %v", claim, study.Output.Action)
	}
	// What moves along, with its degree.
	s = about(160, 3, 3, func(x []float64) []float64 {
		n := x[0]*x[0] + x[1]*x[1] + x[2]*x[2]
		return []float64{n * x[1], n * x[2], n * x[0]}
	})
	j := part[*discover.Generators](t, s, "joint")
	if text := j.Page().Answer; !strings.Contains(text, "4 independent families: so(3) + R") {
		t.Error(text)
	}
	if len(j.Hypotheses()) != 0 {
		t.Error("a study says how answers move that nobody declared")
	}
	// Nothing.
	s = about(400, 3, 3, func(x []float64) []float64 {
		return []float64{math.Sin(x[0]+2*x[1]*x[2]) + x[0]*x[1] + math.Exp(x[2]/2)}
	})
	g = part[*discover.Generators](t, s, "generators")
	if text := g.Page().Answer; !strings.Contains(text, "no one-parameter family") || len(g.Hypotheses()) != 0 {
		t.Error(text)
	}
	if _, err := json.Marshal(g); err != nil {
		t.Error(err)
	}
}

// cloud is a subject of point clouds.
func cloud(n, points int, f func(x []float64) []float64) *discover.Subject {
	s := about(n, 3, 1, f)
	s.In = space.Spec{Name: "points", Kind: space.KindRows, Shape: []int{-1, 3}, Type: space.TypePositions}
	r := rand.New(rand.NewPCG(5, 1))
	redraw := func(all []dataset.Sample) {
		for i := range all {
			x := &space.Rows{N: points, W: 3, Val: make([]float64, 3*points)}
			for k := range x.Val {
				x.Val[k] = r.NormFloat64()
			}
			all[i].Value = x
		}
	}
	redraw(s.Fit)
	redraw(s.Choose)
	return s
}

// pairsOf is a function of distances.
func pairsOf(x []float64) []float64 {
	var e float64
	for i := 0; i < len(x); i += 3 {
		for j := 0; j < i; j += 3 {
			var d float64
			for c := range 3 {
				d += (x[i+c] - x[j+c]) * (x[i+c] - x[j+c])
			}
			e += math.Exp(-d / 4)
		}
	}
	return []float64{e}
}

func TestFamiliesOfPoints(t *testing.T) {
	s := cloud(40, 5, pairsOf)
	g := part[*discover.Generators](t, s, "generators")
	if claim, _ := claimed(t, g); claim.Name() != "SE(3)" {
		t.Errorf("%s: %s", claim.Name(), g.Page().Answer)
	}
	p := part[*discover.Permutations](t, s, "finite")
	study := job.Study{}
	p.Hypotheses()[0].Lay(&study)
	if study.Group.Name != "S" || p.Of != "row" {
		t.Errorf("%s: %s", study.Group.Name, p.Page().Answer)
	}
}

func TestPermutationsOfNumbers(t *testing.T) {
	s := about(90, 6, 4, func(x []float64) []float64 {
		var y float64
		for i, v := range x {
			y += v*x[(i+1)%6] + v*v*v/3
		}
		return []float64{y}
	})
	p := part[*discover.Permutations](t, s, "finite")
	if p.Result.Name != "D6" {
		t.Error(p.Page().Answer)
	}
	claim, _ := claimed(t, p)
	if f, ok := claim.(group.Finite); !ok || len(f.Elements()) != 12 {
		t.Errorf("%T", claim)
	}
	// Answers that change places are told, and are no claim of a study.
	s = about(60, 3, 4, func(x []float64) []float64 {
		return []float64{x[0] + x[1]*x[1], x[1] + x[2]*x[2], x[2] + x[0]*x[0]}
	})
	p = part[*discover.Permutations](t, s, "finite")
	if p.Result.Name != "C3" || len(p.Hypotheses()) != 0 {
		t.Error(p.Page().Answer)
	}
	if rows := p.Page().Tables[0].Rows; !slices.Contains(rows[0], "1 to 2, 2 to 3, 3 to 1") &&
		!slices.Contains(rows[0], "1 to 3, 2 to 1, 3 to 2") {
		t.Error(rows)
	}
}

func TestGeneratorsOfPictures(t *testing.T) {
	const n = 20
	s := about(60, 1, 1, func([]float64) []float64 { return make([]float64, 2) })
	s.In = space.Spec{Name: "image", Kind: space.KindImage, Shape: []int{1, n, n}}
	r := rand.New(rand.NewPCG(5, 1))
	for _, all := range [][]dataset.Sample{s.Fit, s.Choose} {
		for i := range all {
			x := space.NewImage(1, n, n)
			u, v := 4*r.Float64()-2, 4*r.Float64()-2
			for j := range x.Pix {
				dx, dy := float64(j%n)-9.5-u, float64(j/n)-9.5-v
				x.Pix[j] = 200 * math.Exp(-(dx*dx+2*dy*dy)/8)
			}
			all[i].Value = x
		}
	}
	s.Answers = func(_ context.Context, v []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(v))
		for i := range v {
			y := make([]float64, 2)
			for j, p := range v[i].Numbers() {
				dx, dy := float64(j%n)-9.5, float64(j/n)-9.5
				y[0] += p * p * math.Exp(-(dx*dx+dy*dy)/18) / 1e5
				y[1] += p * p * (dx*dx + dy*dy) / 1e7
			}
			out[i] = &space.Rows{N: 1, W: 2, Val: y}
		}
		return out, nil
	}
	g := part[*discover.Generators](t, s, "generators")
	if claim, _ := claimed(t, g); claim.Name() != "SO(2)" || len(g.Asked) != 2 {
		t.Errorf("%s: %s", claim.Name(), g.Page().Answer)
	}
}

// A number that never changes, data that lie in a plane, and numbers that the model does not look at are three things,
// and each has a sentence of its own.
func TestWhatCannotBeToldIsSaidInWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data        func(x []float64)
		f           func(x []float64) []float64
		says, quiet []string
	}{
		"a constant": {
			data:  func(x []float64) { x[2] = -9.81 },
			f:     func(x []float64) []float64 { return []float64{math.Exp(-x[0]*x[0]-x[1]*x[1]) * x[2]} },
			says:  []string{"In every sample x3 is −9.81. ", "That takes out 3 unknowns"},
			quiet: []string{"does not look", "leave room"},
		},
		"a plane": {
			data: func(x []float64) { x[2] = x[0] - 2*x[1] },
			f:    func(x []float64) []float64 { return []float64{math.Sin(x[0]) + x[1]*x[1]*x[2]} },
			says: []string{"The data leave room: ", " is 0 in every sample. Nobody can tell"}, quiet: []string{"−9.81"},
		},
		"a number that counts for nothing": {
			data: func([]float64) {},
			f:    func(x []float64) []float64 { return []float64{math.Sin(x[0]) + x[0]*x[1]*x[1]} },
			says: []string{"The model does not look at x3: "}, quiet: []string{"in every sample", "leave room"},
		},
		"nothing of that": {
			data:  func([]float64) {},
			f:     func(x []float64) []float64 { return []float64{math.Sin(x[0]+x[2]) + x[0]*x[1]*x[1]} },
			quiet: []string{"in every sample", "leave room", "does not look"},
		},
	} {
		s := about(200, 3, 3, c.f)
		for _, x := range s.Fit {
			c.data(x.Value.Numbers())
		}
		text := strings.Join(part[*discover.Generators](t, s, "generators").Page().Lines, "\n")
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		for _, want := range c.quiet {
			if strings.Contains(text, want) {
				t.Errorf("%s: %q in\n%s", name, want, text)
			}
		}
	}
	// A field of its own, as gravity is.
	for _, varies := range []bool{false, true} {
		s := cloud(40, 5, func(x []float64) []float64 {
			return []float64{pairsOf(x[:len(x)/3*3])[0] + x[2]*x[len(x)-1]}
		})
		s.In = space.Spec{Name: "in", Kind: space.KindRecord, Fields: []space.Spec{
			{Name: "places", Kind: space.KindRows, Shape: []int{-1, 3}, Type: space.TypePositions},
			{Name: "gravity", Kind: space.KindRows, Shape: []int{1, 3}, Type: space.TypeVectors, Per: space.PerSample},
		}}
		for i := range s.Fit {
			g := &space.Rows{N: 1, W: 3, Val: []float64{0, 0, -9.81}}
			if varies {
				g.Val = []float64{math.Sin(float64(i)), math.Cos(float64(2 * i)), float64(i%7) - 9}
			}
			s.Fit[i].Value = &space.Record{
				Names: []string{"places", "gravity"}, Values: []space.Value{s.Fit[i].Value, g},
			}
		}
		text := strings.Join(part[*discover.Generators](t, s, "generators").Page().Lines, "\n")
		if strings.Contains(text, "Gravity is (0, 0, −9.81) in every sample. ") == varies {
			t.Errorf("gravity that differs: %t\n%s", varies, text)
		}
	}
}

// Questions that do not arise are open, and a budget that is spent says so.
func TestOpenQuestions(t *testing.T) {
	parts, err := discover.Select([]string{"generators", "joint", "finite"})
	if err != nil {
		t.Fatal(err)
	}
	few := about(3, 3, 1, pairsOf)
	constant := about(40, 3, 1, func([]float64) []float64 { return []float64{2} })
	for _, p := range parts {
		if p.Name != "finite" {
			if _, err := p.Run(t.Context(), few); !errors.Is(err, discover.ErrOpen) {
				t.Errorf("%s of 3 samples: %v", p.Name, err)
			}
			continue
		}
		if _, err := p.Run(t.Context(), constant); !errors.Is(err, discover.ErrOpen) {
			t.Errorf("%s of a constant: %v", p.Name, err)
		}
	}
	s := about(60, 3, 1, func(x []float64) []float64 { return []float64{x[0] * x[1] * x[2]} })
	s.Most = 100
	g := part[*discover.Generators](t, s, "generators")
	if !strings.Contains(g.Page().Answer, "budget") {
		t.Error(g.Page().Answer)
	}
	s.Most = 1 // what earlier questions leave
	if _, err := s.Predict(t.Context(), []space.Value{s.Fit[0].Value}); !errors.Is(err, discover.ErrBudget) {
		t.Error(err)
	}
	for _, p := range parts {
		if _, err := p.Run(t.Context(), s); !errors.Is(err, discover.ErrOpen) {
			t.Errorf("%s without a budget: %v", p.Name, err)
		}
	}
	// All of it is written.
	s.Most = 0
	m, err := discover.Ask(t.Context(), s, parts)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range discover.Forms() {
		var b bytes.Buffer
		if err := f.Write(&b, &discover.Report{Models: []*discover.Model{m}}); err != nil || b.Len() == 0 {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// What is finer than the derivatives take is all that tells quarter turns from turns by any angle in small pictures.
func TestSmallPictures(t *testing.T) {
	t.Parallel()
	s := about(40, 1, 1, func([]float64) []float64 { return []float64{0} })
	s.In = space.Spec{Name: "image", Kind: space.KindImage, Shape: []int{1, 8, 8}}
	parts, err := discover.Select([]string{"generators"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parts[0].Run(t.Context(), s); !errors.Is(err, discover.ErrOpen) ||
		!strings.Contains(err.Error(), "pictures of 8 x 8 pixels, and at least 16 x 16 are needed") {
		t.Error(err)
	}
}

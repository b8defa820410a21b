package particle

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nero/data/dataset"
	"nero/data/space"
)

func small(n int) Spec {
	spec := Default(n, 5)
	spec.Height, spec.Width = 48, 40
	return spec
}

func TestSet(t *testing.T) {
	s, err := New(small(8))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.IDs(); s.Len() != 8 || got[0] != "uniform-000000" || got[7] != "step-000007" {
		t.Errorf("%d pairs: %v", s.Len(), got)
	}
	if got := s.Labels(); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 0, 1}) {
		t.Errorf("labels %v", got)
	}
	if got := s.Info().Classes; !slices.Equal(got,
		[]string{"uniform", "step", "cylinder", "sqg", "isotropic", "vortices"}) {
		t.Errorf("kinds %v", got)
	}
	info := s.Info()
	if _, c, h, w, _ := info.Space.Pictures(); c != 1 || h != 48 || w != 40 || info.Max != 255 ||
		info.Target.Kind != space.KindField ||
		s.Files() != nil {
		t.Errorf("shape %d, %d, %d", c, h, w)
	}
	if got := info.Notes; len(got) != 1 ||
		!strings.Contains(got[0], "seed 5") || !strings.Contains(got[0], "mid-time") {
		t.Errorf("notes %q", got)
	}
	if got := s.Spec().Scene.Size; got != 40 {
		t.Errorf("size of the scene %g, want the shorter side", got)
	}
	if err := dataset.CheckLabels(s, 6); err != nil {
		t.Error(err)
	}
	for i := range s.Len() {
		sample, err := s.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		if sample.ID != s.IDs()[i] || sample.Label != s.Labels()[i] ||
			!slices.Equal(sample.Tags, []string{string(s.Kind(i))}) {
			t.Errorf("sample %d: %s, %d, %v", i, sample.ID, sample.Label, sample.Tags)
		}
		a, b, f := frames(t, s, i)
		bright := 0
		for _, m := range []*space.Image{a, b} {
			if m.C != 1 || m.H != 48 || m.W != 40 || len(m.Pix) != 48*40 {
				t.Fatalf("frame of %d×%d×%d", m.C, m.H, m.W)
			}
			for _, v := range m.Pix {
				if !(v >= 0 && v <= 255 && v == math.Trunc(v)) {
					t.Fatalf("grey level %g", v)
				}
				if v > 100 {
					bright++
				}
			}
		}
		if bright < 50 {
			t.Errorf("%s: %d bright pixels", sample.ID, bright)
		}
		flow, err := s.Flow(i)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Truth(flow, 48, 40), f); diff != "" {
			t.Errorf("%s: the target is not the flow at pixel centres:\n%s", sample.ID, diff)
		}
		// The picture of one pair depends on nothing but seed and index.
		more, err := New(small(20))
		if err != nil {
			t.Fatal(err)
		}
		again, err := more.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sample, again); diff != "" {
			t.Errorf("%s is another pair in a larger set:\n%s", sample.ID, diff)
		}
	}
	for _, i := range []int{-1, 8} {
		if _, err := s.Sample(i); err == nil || !strings.Contains(err.Error(), "there are 8") {
			t.Errorf("pair %d: %v", i, err)
		}
	}
}

// TestOpticsLeaveTheFlow: other particles, the same field.
func TestOpticsLeaveTheFlow(t *testing.T) {
	a, b := small(6), small(6)
	b.Optics = Optics{Density: 0.02, Diameter: 4, Brightness: 100, Noise: 9, Loss: 0.5}
	sa, err := New(a)
	if err != nil {
		t.Fatal(err)
	}
	sb, err := New(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		pa, _, fa := frames(t, sa, i)
		pb, _, fb := frames(t, sb, i)
		if diff := cmp.Diff(fa, fb); diff != "" {
			t.Errorf("pair %d: %s", i, diff)
		}
		if slices.Equal(pa.Pix, pb.Pix) {
			t.Errorf("pair %d: the same picture by other optics", i)
		}
	}
	other := small(6)
	other.Seed++
	so, err := New(other)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		_, _, fa := frames(t, sa, i)
		_, _, fo := frames(t, so, i)
		if slices.Equal(fa.Val, fo.Val) {
			t.Errorf("pair %d: the same flow from another seed", i)
		}
	}
}

func TestLossIsSeen(t *testing.T) {
	// Without loss, noise and motion both frames are the same picture; lost particles take their share of the
	// correlation.
	spec := Default(1, 3)
	spec.Kinds, spec.Height, spec.Width = []Kind{KindUniform}, 128, 128
	spec.Scene.Peak, spec.Optics.Noise, spec.Optics.Loss = 0, 0, 0
	correlation := func(loss float64) float64 {
		spec.Optics.Loss = loss
		s, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		a, b, _ := frames(t, s, 0)
		var ma, mb, ab, aa, bb float64
		n := float64(len(a.Pix))
		for i := range a.Pix {
			ma, mb = ma+a.Pix[i]/n, mb+b.Pix[i]/n
		}
		for i := range a.Pix {
			x, y := a.Pix[i]-ma, b.Pix[i]-mb
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		return ab / math.Sqrt(aa*bb)
	}
	if got := correlation(0); got != 1 {
		t.Errorf("without loss the frames correlate by %g", got)
	}
	if got := correlation(0.4); !(math.Abs(got-0.6) <= 0.06) {
		t.Errorf("with 0.4 lost the frames correlate by %.3f, want 0.6", got)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*Spec)
	}{
		{"no pairs", "0 pairs: expected 1 to", func(s *Spec) { s.N = 0 }},
		{"too many", "expected 1 to 1000000", func(s *Spec) { s.N = maxPairs + 1 }},
		{
			"kind", `flow "backstep": there is none of this name: write one of uniform, step,`,
			func(s *Spec) { s.Kinds = []Kind{"backstep"} },
		},
		{"height", "picture of 4 rows", func(s *Spec) { s.Height = 4 }},
		{"width", "and 10000 columns", func(s *Spec) { s.Width = 10000 }},
		{"size", "size of the flow: NaN", func(s *Spec) { s.Scene.Size = math.NaN() }},
		{"peak", "greatest displacement: -1", func(s *Spec) { s.Scene.Peak = -1 }},
		{"peak NaN", "greatest displacement: NaN", func(s *Spec) { s.Scene.Peak = math.NaN() }},
		{"heading", "heading of the mean flow: +Inf", func(s *Spec) { s.Scene.Heading = math.Inf(1) }},
		{"spread", "heading of the mean flow", func(s *Spec) { s.Scene.Spread = -2 }},
		{"mean", "share of the mean flow: 1.5", func(s *Spec) { s.Scene.Mean = 1.5 }},
		{"density", "density 2: expected 0 to 1", func(s *Spec) { s.Optics.Density = 2 }},
		{"diameter", "diameter 0 px", func(s *Spec) { s.Optics.Diameter = 0 }},
		{"diameters", "spread of the diameter 3 px", func(s *Spec) { s.Optics.Spread = 3 }},
		{"brightness", "brightness NaN", func(s *Spec) { s.Optics.Brightness = math.NaN() }},
		{"background", "background 300", func(s *Spec) { s.Optics.Background = 300 }},
		{"noise", "noise -1", func(s *Spec) { s.Optics.Noise = -1 }},
		{"loss", "loss 1.1", func(s *Spec) { s.Optics.Loss = 1.1 }},
	} {
		spec := small(3)
		c.change(&spec)
		if _, err := New(spec); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "particle pairs: ") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Draw("x", Scene{Size: 64}, newRand()); err == nil {
		t.Error("a kind that is none is drawn")
	}
}

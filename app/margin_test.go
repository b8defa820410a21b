package app_test

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/app"
	auditing "nero/audit"
	"nero/data/tensor"
	"nero/model/onnx"
	"nero/run/job"
)

// scenes are grey photos of four sizes, some of them upright, with an oblong bump near the middle of each.
func scenes(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 15))
	for i := range n {
		h, w := 24+i%4, 30+2*(i%4)
		if i%3 == 1 {
			h, w = w, h
		}
		y0, x0 := float64(h-1)/2+r.Float64()-0.5, float64(w-1)/2+r.Float64()-0.5
		high, ground := 30+100*r.Float64(), 60+60*r.Float64()
		m := image.NewGray(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				dy, dx := float64(y)-y0, float64(x)-x0
				m.SetGray(x, y, color.Gray{uint8(math.Round(ground + high*math.Exp(-(dy*dy+2*dx*dx)/4)))})
			}
		}
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(1000+i)+".png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, m); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pooled writes a model of side x side pixels: two scores of the mean and the mean square of the pixels, which no
// motion changes that keeps the content; with a slope it weighs columns, and knows where things lie.
func pooled(t *testing.T, side int, slope float32) string {
	t.Helper()
	b := onnx.NewBuilder(17)
	x := b.Input("x", tensor.Float32, "batch", 1, side, side)
	ramp := make([]float32, side)
	for i := range ramp {
		ramp[i] = 1 + slope*float32(i)
	}
	weighed := b.Op("Mul", []string{x, b.Const(tensor.FromFloat32(ramp, 1, 1, 1, side))})
	both := b.Op("Concat", []string{weighed, b.Op("Mul", []string{weighed, weighed})}, onnx.AttrInt("axis", 1))
	y := b.Op("Gemm", []string{
		b.Op("Flatten", []string{b.Op("GlobalAveragePool", []string{both})}),
		b.Const(tensor.FromFloat32([]float32{8, -3, 2, 5}, 2, 2)), b.Const(tensor.FromFloat32([]float32{0.1, 0}, 2)),
	})
	b.Output(y, tensor.Float32, "batch", 2)
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A model that keeps the symmetry passes on photos with a margin, under quarter turns and small shifts, and its twin
// that weighs columns fails under both. Corners that fill makes are no error of a model: they are in the floor without
// a margin, and gone with one.
func TestMargin(t *testing.T) {
	t.Parallel()
	const side = 16
	data := scenes(t, 80)
	exact, broken := pooled(t, side, 0), pooled(t, side, 0.05)
	audited := func(model string, margin string, g job.Group) *auditing.Report {
		t.Helper()
		s := &job.Study{
			Models: []job.Model{{Name: "m", ONNX: model}},
			Data: job.Data{
				Images: data, Labels: "none", Margin: margin,
				Resize: job.Resize{Short: 24, Crop: []int{side, side}},
			},
			Group:  g,
			Output: job.Output{Space: "scores", Action: "invariant"},
			Audit:  job.Audit{Samples: 80, Checks: []string{"lattice", "endtoend"}},
		}
		r, err := new(app.App).Audit(t.Context(), s, app.AuditOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r.Reports[0]
	}
	shifts := job.Group{Name: "T(2,Z)", Orbit: job.Orbit{Range: [][]float64{{-2, 2}, {-2, 2}}}}
	turns := job.Group{Name: "SO(2)", Orbit: job.Orbit{Grid: []int{8}}}
	for _, g := range []job.Group{{Name: "C4"}, shifts} {
		r := audited(exact, "auto", g)
		if r.Verdict != auditing.Passed {
			t.Errorf("%s: an exact model gets %s: %q", g.Name, r.Verdict, r.Gist())
		}
		if r := audited(broken, "auto", g); r.Verdict != auditing.Failed {
			t.Errorf("%s: a broken model gets %s: %q", g.Name, r.Verdict, r.Gist())
		}
	}
	if r := audited(exact, "none", shifts); r.Verdict == auditing.Passed {
		t.Error("shifts that bring in black strips pass")
	}
	between := func(margin string) *auditing.Set {
		t.Helper()
		sets := audited(exact, margin, turns).Sets()
		i := slices.IndexFunc(sets, func(s *auditing.Set) bool { return !s.Exact })
		if i < 0 {
			t.Fatal("no elements between the quarter turns")
		}
		return sets[i]
	}
	filled, read := between("none"), between("auto")
	t.Logf("turns by 45 deg: error %.3g over floor %.3g filled, %.3g over %.3g with photo", filled.Worst.Value,
		filled.Ratio.Value, read.Worst.Value, read.Ratio.Value)
	if !(read.Worst.Value < filled.Worst.Value/20) {
		t.Errorf("corners cost %g with photo and %g without", read.Worst.Value, filled.Worst.Value)
	}
	if math.IsNaN(read.Ratio.Value) || read.Cause == auditing.CauseViolation {
		t.Errorf("the resampling floor of a window: ratio %g, cause %s", read.Ratio.Value, read.Cause)
	}
}

// What is read of the photos and what is not is said; numbers of studies that say nothing stay.
func TestMarginNotes(t *testing.T) {
	t.Parallel()
	data, model := scenes(t, 6), pooled(t, 16, 0)
	for _, c := range []struct{ margin, group, want, not string }{
		{"", "SO(2)", "--margin auto (data.margin) reads the photo", "the models see the middle"},
		{"none", "SO(2)", "", "the elements read"},
		{"auto", "SO(2)", "the models see the middle 16 x 16 of 24 x 24 pixels", "border rule"},
		{"auto", "C4", "", "margin"},
		{"", "C4", "", "margin"},
		{"12", "SO(2)", "6 of 6 photos have fewer on some side, and there the border rule zero fills in", ""},
	} {
		s := &job.Study{
			Models: []job.Model{{Name: "m", ONNX: model}},
			Data: job.Data{
				Images: data, Labels: "none", Margin: c.margin, Resize: job.Resize{Short: 24, Crop: []int{16, 16}},
			},
			Group: job.Group{Name: c.group},
		}
		var lines []string
		a := &app.App{Events: func(e app.Event) { lines = append(lines, e.Text) }}
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := a.Run(t.Context(), s, app.RunOptions{Dir: dir, Workers: 1}); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		notes := strings.Join(lines, "\n")
		if !strings.Contains(notes, c.want) || c.not != "" && strings.Contains(notes, c.not) {
			t.Errorf("%+v: %s", c, notes)
		}
	}
}

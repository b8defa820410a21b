package workload

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
	"nero/run/job"
)

// ported writes a file with an input of so many channels of 8x8 and an output of the given name and axes.
func ported(t *testing.T, out string, channels int, axes ...any) string {
	t.Helper()
	b := onnx.NewBuilder(16)
	x := b.Input("x", tensor.Float32, axes[0], channels, 8, 8)
	b.Output(b.Op("Identity", []string{x}), tensor.Float32, axes...)
	g := b.Graph()
	g.Node[0].Output[0], *g.Output[0].Name = out, out
	raw, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), out+".onnx")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// photos writes n grey photos of 24x24 with a bright square of 3x3 near the middle, and a VOC file for each if
// annotated.
func photos(t *testing.T, n int, annotated bool) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"JPEGImages", "Annotations"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for k := range n {
		m := image.NewGray(image.Rect(0, 0, 24, 24))
		x, y := 10+k, 11
		for i := range 9 {
			m.SetGray(x+i%3, y+i/3, color.Gray{Y: 255})
		}
		f, err := os.Create(filepath.Join(dir, "JPEGImages", fmt.Sprintf("%d.png", k)))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
			t.Fatal(err)
		}
		if !annotated {
			continue
		}
		text := fmt.Sprintf(
			`<annotation><filename>%d.png</filename><size><width>24</width><height>24</height><depth>1</depth></size>
<object><name>spot</name><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox></object></annotation>`, k, x+1, y+1, x+3, y+3)
		if err := os.WriteFile(filepath.Join(dir, "Annotations", fmt.Sprintf("%d.xml", k)), []byte(text),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !annotated {
		return filepath.Join(dir, "JPEGImages")
	}
	return dir
}

// spots is a study of the detector that finds the bright square, over shifts of the window by up to 2.
func spots(t *testing.T, annotated bool) *job.Study {
	t.Helper()
	s := study(photos(t, 2, annotated), "T(2,Z)", ported(t, "spots", 1, "n", 1, 6))
	s.Task, s.Output.Space = "detection", "boxes"
	s.Output.Boxes.Columns = []string{"box", "score", "label"}
	s.Group.Window = []int{8, 8}
	s.Group.Orbit = job.Orbit{Grid: []int{5, 5}, Range: [][]float64{{-2, 2}, {-2, 2}}}
	if annotated {
		s.Data.Format = "voc"
		s.Data.Classes = []string{"spot"}
	}
	return s
}

// flows is a study of rendered pairs.
func flows(t *testing.T) *job.Study {
	t.Helper()
	s := study("", "D4 x Time", ported(t, "flow", 2, "n", 2, 8, 8))
	s.Task, s.Output.Space = "flow", "field"
	s.Data.Format = "particles"
	s.Data.Particles = job.Particles{Count: 3, Size: []int{8, 8}, Shift: 2, Seed: 5}
	return s
}

// What a study of boxes or fields measures unless it says otherwise: by the key object where samples are cut around
// one, by all boxes where they are not, against the consensus and itself where there is no target.
func TestUsualMetrics(t *testing.T) {
	for name, c := range map[string]struct {
		study  func() *job.Study
		change func(*job.Study)
		want   []string
		target bool
	}{
		"photos with boxes": {
			func() *job.Study { return spots(t, true) }, func(*job.Study) {},
			[]string{"f1", "recall", "precision", "ap50", "set_iou", "f1@consensus"},
			true,
		},
		"cut around boxes": {
			func() *job.Study { return spots(t, true) }, func(s *job.Study) { s.Data.Cut.Size = []int{16, 16} },
			[]string{
				"conf_iou", "iou", "box_confidence", "miss", "ap50", "conf_iou@consensus", "iou@consensus",
				"conf_iou@self",
			},
			true,
		},
		"cut, targets none": {
			func() *job.Study { return spots(t, true) },
			func(s *job.Study) { s.Data.Cut.Size, s.Data.Targets = []int{16, 16}, "none" },
			[]string{
				"conf_iou@consensus", "iou@consensus", "box_confidence@consensus", "miss@consensus",
				"conf_iou@self",
			},
			false,
		},
		"photos without boxes": {
			func() *job.Study { return spots(t, false) }, func(*job.Study) {},
			[]string{"set_iou", "extra", "missed", "box_confidence@self", "f1@consensus"},
			false,
		},
		"pairs": {
			func() *job.Study { return flows(t) }, func(*job.Study) {},
			[]string{"rmse", "aee", "angular_error", "rmse@consensus", "rmse@self", "relative"},
			true,
		},
		"pairs, targets none": {
			func() *job.Study { return flows(t) }, func(s *job.Study) { s.Data.Targets = "none" },
			[]string{"rmse@consensus", "aee@consensus", "rmse@self", "relative"},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.study()
			c.change(s)
			w, err := open(t, s, &pixelwise{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(w.Study.Metrics, c.want) {
				t.Errorf("metrics %v, want %v", w.Study.Metrics, c.want)
			}
			if (w.Eval.Target != nil) != c.target {
				t.Errorf("action on targets %v", w.Eval.Target)
			}
			smp, err := w.Eval.At(0)
			if err != nil || (smp.Target != nil) != c.target {
				t.Errorf("target of a sample %v, %v", smp.Target, err)
			}
		})
	}
}

// The detector follows its square, so every curve is perfect; the numbers pass through reading, scaling, cutting,
// decoding and matching.
func TestExactDetector(t *testing.T) {
	s := spots(t, true)
	s.Data.Cut.Size = []int{16, 16}
	w, err := open(t, s, &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	perfect := map[string]float32{
		"conf_iou": 0.5, "iou": 1, "box_confidence": 0.5, "miss": 0, "ap50": 1,
		"conf_iou@consensus": 0.5, "iou@consensus": 1, "conf_iou@self": 0.5,
	}
	rs := rows(t, w)
	if len(rs) != 2 || w.Eval.Classes != 1 || w.Job.Classes != 1 {
		t.Fatalf("%d rows, %d classes", len(rs), w.Job.Classes)
	}
	for _, r := range rs {
		for i, c := range r.Curves {
			for k, v := range c {
				if !(math.Abs(float64(v-perfect[w.Study.Metrics[i]])) < 1e-6) {
					t.Errorf("%s of %s at %v is %v", w.Study.Metrics[i], r.Sample, w.Job.Elements[k], v)
				}
			}
		}
		// The key box is in the middle of the piece, so the window shows it at columns 2 or 3; moved by dx it is dx
		// further right.
		for k, b := range r.Boxes {
			if d := float64(b[0].X1-r.Boxes[w.Eval.Plan.Identity()][0].X1) - w.Job.Elements[k][0]; d != 0 ||
				b[0].Match == 0 {
				t.Errorf("box %+v at %v", b[0], w.Job.Elements[k])
			}
		}
	}
	notes := strings.Join(w.Notes, "\n")
	for _, want := range []string{"classes: 0 = spot", "stability to reframing"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q, want %q", notes, want)
		}
	}
}

// Pairs are fed as two frames, and a model that returns the first frame as u and the second as v is wrong by what can
// be computed from them.
func TestPairs(t *testing.T) {
	w, err := open(t, flows(t), &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Study.Input.Space != "frames" || len(w.Job.Elements) != 16 || w.Eval.Target == nil {
		t.Fatalf("space %s, %d elements", w.Study.Input.Space, len(w.Job.Elements))
	}
	s, err := w.Eval.At(1)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := s.Value.(*space.Frames)
	target, ok2 := s.Target.(*space.Field)
	if !ok || !ok2 {
		t.Fatalf("%T with the target %T", s.Value, s.Target)
	}
	sum := 0.0
	for t, m := range f.Images {
		for i, v := range m.Pix {
			d := float64(float32(v/w.Study.Input.Scale)) - target.Val[64*t+i]
			sum += d * d
		}
	}
	want := math.Sqrt(sum / 128)
	if got := float64(rows(t, w)[1].Curves[0][w.Eval.Plan.Identity()]); !(math.Abs(got-want) < 1e-5*want) {
		t.Errorf("rmse %v, want %v", got, want)
	}
}

// particles are the pairs that a study asks for.
func particles(p job.Particles) (dataset.Dataset, error) {
	return OpenData(&job.Study{Data: job.Data{Format: "particles", Particles: p}}, nil)
}

// Every option of rendered pairs is handed on.
func TestParticles(t *testing.T) {
	p := job.Particles{
		Count: 4, Flows: []string{"uniform", "vortices"}, Size: []int{16, 24}, Density: 0.1, Diameter: 3,
		Noise: 2, Loss: 0.25, Shift: 3, Heading: 90, Turn: 5, Mean: 0.75, Seed: 9,
	}
	set, err := particles(p)
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 4 {
		t.Errorf("%d pairs", set.Len())
	}
	if _, c, h, w, _ := set.Info().Space.Pictures(); c != 1 || h != 16 || w != 24 {
		t.Errorf("shape %d, %d, %d", c, h, w)
	}
	ids := strings.Join(set.IDs(), " ")
	if !strings.Contains(ids, "uniform") || !strings.Contains(ids, "vortices") || strings.Contains(ids, "step") {
		t.Errorf("kinds of flow: %s", ids)
	}
	pixels := func(p job.Particles) []float64 {
		t.Helper()
		set, err := particles(p)
		if err != nil {
			t.Fatal(err)
		}
		s, err := set.Sample(1)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := s.Value.(*space.Frames)
		if !ok || len(f.Images) != 2 {
			t.Fatalf("%T", s.Value)
		}
		field, ok := s.Target.(*space.Field)
		if !ok {
			t.Fatalf("target %T", s.Target)
		}
		return slices.Concat(f.Images[0].Pix, f.Images[1].Pix, field.Val)
	}
	base := pixels(p)
	if !slices.Equal(base, pixels(p)) {
		t.Error("the same options, other pictures")
	}
	for name, change := range map[string]func(*job.Particles){
		"density": func(p *job.Particles) { p.Density = 0.2 }, "diameter": func(p *job.Particles) { p.Diameter = 2 },
		"noise": func(p *job.Particles) { p.Noise = 0 },
		"loss":  func(p *job.Particles) { p.Loss = 0 }, "shift": func(p *job.Particles) { p.Shift = 1 },
		"heading": func(p *job.Particles) { p.Heading = 0 },
		"turn":    func(p *job.Particles) { p.Turn = 60 }, "mean": func(p *job.Particles) { p.Mean = 0.1 },
		"seed": func(p *job.Particles) { p.Seed = 10 },
	} {
		other := p
		change(&other)
		if slices.Equal(base, pixels(other)) {
			t.Errorf("another %s changes nothing", name)
		}
	}
	if set, err = particles(job.Particles{}); err != nil || set.Len() != 120 {
		t.Errorf("without options: %v, %v", set, err)
	}
	if _, err = particles(job.Particles{Flows: []string{"pipe"}}); err == nil ||
		!strings.Contains(err.Error(), "pipe") {
		t.Errorf("unknown flow: %v", err)
	}
}

func TestPlacesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		study  *job.Study
		change func(*job.Study)
		want   []string
	}{
		"target metric without targets": {
			spots(t, false),
			func(s *job.Study) { s.Metrics = []string{"set_iou", "iou"} },
			[]string{
				"metrics[1]", "iou needs targets of space boxes and the data has none", "data.targets",
				"iou@consensus", "iou@self",
			},
		},
		"target metric, targets none": {
			spots(t, true),
			func(s *job.Study) { s.Data.Targets, s.Metrics = "none", []string{"ap50"} },
			[]string{"metrics[0]", "ap50 needs targets"},
		},
		"fields without targets": {
			flows(t),
			func(s *job.Study) { s.Data.Targets, s.Metrics = "none", []string{"rmse"} },
			[]string{"metrics[0]", "rmse needs targets of space field"},
		},
		"metric of boxes for fields": {
			flows(t), func(s *job.Study) { s.Metrics = []string{"iou"} },
			[]string{"metrics[0]", "compares boxes, the models return field"},
		},
		"image input for pairs": {
			flows(t), func(s *job.Study) { s.Input.Space = "image" },
			[]string{"input.space", "the samples are of space frames"},
		},
		"frames input for photos": {
			spots(t, true), func(s *job.Study) { s.Input.Space = "frames" },
			[]string{"input.space", "the samples are of space image"},
		},
		"window leaves the picture": {
			spots(t, true),
			func(s *job.Study) { s.Group.Orbit.Range = [][]float64{{-12, 12}, {-2, 2}} },
			[]string{
				"group.window", "leaves the pictures of 24 x 24", "at 10 of 25 elements", "group.orbit.range",
				"group.border",
			},
		},
		"window larger than it": {
			spots(t, true), func(s *job.Study) { s.Group.Window = []int{32, 32} },
			[]string{"window"},
		},
		"names for labels beyond": {
			spots(t, true), func(s *job.Study) { s.Data.Classes = []string{"dog"} },
			[]string{"data", "spot", "dog"},
		},
		"unknown flow": {
			flows(t), func(s *job.Study) { s.Data.Particles.Flows = []string{"pipe"} },
			[]string{"data", "pipe"},
		},
		"window over fields": {
			flows(t), func(s *job.Study) { s.Group.Window = []int{8, 8} },
			[]string{"group.window", "space field"},
		},
		"time reversal of boxes": {
			spots(t, true), func(s *job.Study) { s.Group = job.Group{Name: "D4 x Time"} },
			[]string{"group"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.change(c.study)
			_, err := open(t, c.study, &pixelwise{})
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q, want %q", err, w)
				}
			}
		})
	}
}

// With a border rule in the study the window may leave the picture, and a note says at how many elements.
func TestWindowWithBorder(t *testing.T) {
	s := spots(t, true)
	s.Group.Orbit.Range, s.Group.Border = [][]float64{{-12, 12}, {-2, 2}}, "reflect"
	w, err := open(t, s, &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(w.Notes, "\n"); !strings.Contains(notes, "at 10 of 25 elements") ||
		!strings.Contains(notes, "border rule reflect") {
		t.Errorf("notes %q", notes)
	}
	if r := rows(t, w); len(r) != 2 {
		t.Errorf("%d rows", len(r))
	}
}

// Targets of another kind than the output are left alone, with a note.
func TestTargetsOfAnotherKind(t *testing.T) {
	s := spots(t, true)
	s.Task, s.Output = "", job.Output{}
	s.Models[0].ONNX, s.Metrics = ported(t, "first", 1, "n", 3), []string{"relative"}
	w, err := open(t, s, &pixelwise{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Eval.Target != nil || !strings.Contains(strings.Join(w.Notes, "\n"),
		"targets of kind boxes and the models return scores") {
		t.Errorf("target %v, notes %q", w.Eval.Target, w.Notes)
	}
}

// Models that are fed alike share the batches that are laid out for them, and each gets what it would get alone.
func TestModelsFedAlike(t *testing.T) {
	made := func(models ...string) []job.Row {
		t.Helper()
		s := spots(t, true)
		s.Group.Orbit.Grid, s.Group.Orbit.Range = []int{3, 3}, [][]float64{{-3, 3}, {-3, 3}}
		s.Models, s.Data.Limit = nil, 1 // nine elements: one batch
		for i, m := range models {
			s.Models = append(s.Models, job.Model{Name: fmt.Sprintf("m%d", i), ONNX: m})
		}
		w, err := open(t, s, &pixelwise{})
		if err != nil {
			t.Fatal(err)
		}
		return rows(t, w)
	}
	free, fixed := ported(t, "spots", 1, "n", 1, 6), ported(t, "spots", 1, 16, 1, 6)
	alone := made(free)
	for name, models := range map[string][]string{
		"alike": {free, free}, "other batches": {free, fixed},
		"fixed": {fixed, fixed},
	} {
		both := made(models...)
		if len(both) != 2*len(alone) {
			t.Fatalf("%s: %d rows", name, len(both))
		}
		for i, r := range both {
			want := alone[i/2]
			want.Model = r.Model
			if fmt.Sprintf("%+v", r) != fmt.Sprintf("%+v", want) {
				t.Errorf("%s: row %d is %+v, want %+v", name, i, r, want)
			}
		}
	}
}

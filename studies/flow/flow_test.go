package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/data/particle"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
	"nero/run/job"
	"nero/studies/studytest"
)

// maxModel bounds a committed model, in bytes.
const maxModel = 1_500_000

// summary are the means of one model over all pairs.
type summary struct {
	// error to the truth of the pairs as they are, px
	Identity float64 `json:"identity"`
	// mean of it over the 16 elements
	Orbit float64 `json:"orbit"`
	// greatest of the 16
	Worst float64 `json:"worst"`
	// error to the model itself, mean over the elements 1 to 7
	D4 float64 `json:"d4_to_itself"`
	// the greatest of one pair
	D4Max float64 `json:"d4_to_itself_max"`
	// of element 8, time reversal alone
	Time float64 `json:"time_to_itself"`
}

// evaluation is what evaluate.py wrote.
type evaluation struct {
	Pairs    int      `json:"pairs"`
	Elements []string `json:"elements"`
	Models   map[string]struct {
		File       string               `json:"file"`
		SHA256     string               `json:"sha256"`
		Bytes      int                  `json:"bytes"`
		Work       int                  `json:"multiply_adds"`
		Parameters any                  `json:"parameters"`
		Truth      []float64            `json:"error_to_truth"`
		Itself     []float64            `json:"error_to_itself"`
		ByKind     map[string][]float64 `json:"error_by_kind"`
		Summary    summary              `json:"summary"`
	} `json:"models"`
}

func measured(t *testing.T) evaluation {
	t.Helper()
	var e evaluation
	d := json.NewDecoder(bytes.NewReader(studytest.Read(t, "evaluation.json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatal(err)
	}
	if e.Pairs != 24 || len(e.Elements) != 16 || len(e.Models) != 3 {
		t.Fatalf("evaluation.json: %d pairs, %d elements, %d models; want 24, 16, 3", e.Pairs, len(e.Elements),
			len(e.Models))
	}
	for name, m := range e.Models {
		if len(m.Truth) != 16 || len(m.Itself) != 16 || len(m.ByKind) != 6 {
			t.Fatalf("evaluation.json: %s: %d, %d and %d curves; want 16, 16, 6", name, len(m.Truth), len(m.Itself),
				len(m.ByKind))
		}
	}
	return e
}

// TestModelsAreThoseOfTheCards keeps models, measurements and cards together: a new model needs a new evaluation and
// card.
func TestModelsAreThoseOfTheCards(t *testing.T) {
	studytest.Cards(t, 3, maxModel)
	cards := string(studytest.Read(t, "MODEL_CARDS.md"))
	row := func(name string, form string, vals []float64) {
		cells := []string{"| " + name}
		for _, v := range vals {
			cells = append(cells, fmt.Sprintf(form, v))
		}
		if r := strings.Join(cells, " | ") + " |"; !strings.Contains(cards, r) {
			t.Errorf("MODEL_CARDS.md: no row %q", r)
		}
	}
	for name, m := range measured(t).Models {
		row(name, "%.2f", m.Truth)
		row(name, "%.2f", m.Itself)
		if name == "farneback" {
			continue
		}
		b := studytest.Read(t, "models/"+m.File)
		if got := studytest.Digest(b); got != m.SHA256 {
			t.Errorf("%s: SHA-256 %s, but evaluation.json measured %s", m.File, got, m.SHA256)
		}
		if len(b) != m.Bytes {
			t.Errorf("%s: %d bytes, but evaluation.json measured %d", m.File, len(b), m.Bytes)
		}
	}
}

// TestModelsServeTheirPurpose holds the measurements to what the study needs them for (Figure 10 of the NERO paper):
// the classical method is equivariant, the learned ones are less so, and augmentation helps.
func TestModelsServeTheirPurpose(t *testing.T) {
	e := measured(t)
	classical, plain, augmented := e.Models["farneback"].Summary, e.Models["plain"].Summary,
		e.Models["augmented"].Summary
	if !(classical.D4Max <= 1e-3) {
		t.Errorf("farneback: error to itself %v px under mirrors and quarter turns, want at most 0.001",
			classical.D4Max)
	}
	if !(plain.Identity <= 0.8 && augmented.Identity <= 0.8 && classical.Identity <= 0.5) {
		t.Errorf("errors of pairs as they are: %v, %v, %v px; want at most 0.8, 0.8, 0.5", plain.Identity,
			augmented.Identity, classical.Identity)
	}
	if !(plain.D4 >= 3*augmented.D4 && augmented.D4 >= 10*classical.D4 && augmented.D4 >= 0.01) {
		t.Errorf("errors to itself under mirrors and quarter turns: plain %v, augmented %v, farneback %v; want each "+
			"well above the next",
			plain.D4, augmented.D4, classical.D4)
	}
	if !(plain.Worst >= 2*plain.Identity) {
		t.Errorf("plain: error %v px at its worst element and %v as trained: it is the model that must be caught",
			plain.Worst, plain.Identity)
	}
	if !(augmented.Worst <= 1.2*augmented.Identity) {
		t.Errorf("augmented: error %v px at its worst element, %v at the identity: want about the same",
			augmented.Worst, augmented.Identity)
	}
}

// TestStudyFitsTheModels holds the study to what the networks were made for: grey levels as they are, and particles as
// in training.
func TestStudyFitsTheModels(t *testing.T) {
	b, err := Files.ReadFile("demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := job.ParseStudy("demo.yaml", b)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Models {
		if m.Builtin != "" { // it has no file
			continue
		}
		if want := "models/flow-" + m.Name + ".onnx"; m.ONNX != want {
			t.Errorf("model %s is %s, want %s", m.Name, m.ONNX, want)
		}
		if _, err := fs.Stat(Files, m.ONNX); err != nil {
			t.Error(err)
		}
	}
	if s.Input.Scale != 1 || len(s.Input.Mean)+len(s.Input.Std) != 0 || s.Output.Space != "field" ||
		s.Group.Name != "D4 x Time" {
		t.Errorf("input %+v, output %+v, group %s", s.Input, s.Output, s.Group.Name)
	}
	p, d := s.Data.Particles, particle.Default(1, 1)
	if s.Data.Format != "particles" || p.Noise != d.Optics.Noise || p.Loss != d.Optics.Loss || p.Shift != 0 &&
		p.Shift != d.Scene.Peak {
		t.Errorf("data %+v: the networks were trained with %+v and %+v", s.Data, d.Scene, d.Optics)
	}
	// Pairs of the training would flatter them.
	if train := string(studytest.Read(t, "MODEL_CARDS.md")); strings.Contains(train,
		fmt.Sprintf("seed %d), 80", p.Seed)) {
		t.Errorf("the study shows pairs of the training, seed %d", p.Seed)
	}
}

// TestModelsFindRenderedFlows runs both models on the first pairs of the evaluation: what they return must be what
// evaluate.py measured, in the units and the order that the package says.
func TestModelsFindRenderedFlows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	ctx := t.Context()
	c, err := choose.Open(ctx, choose.Request{}, choosetest.Host())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	set, err := particle.New(particle.Default(24, 7))
	if err != nil {
		t.Fatal(err)
	}
	e := measured(t)
	for _, name := range []string{"plain", "augmented"} {
		b, err := Files.ReadFile("models/flow-" + name + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Open(ctx, b, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Inputs(), []string{"pair"}) || !slices.Equal(s.Outputs(), []string{"flow"}) {
			t.Fatalf("%s: from %v to %v", name, s.Inputs(), s.Outputs())
		}
		for i := range 2 {
			sample, err := set.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			pair, ok := sample.Value.(*space.Frames)
			truth, ok2 := sample.Target.(*space.Field)
			if !ok || !ok2 {
				t.Fatalf("%T, %T", sample.Value, sample.Target)
			}
			var in []float32
			for _, m := range pair.Images {
				for _, v := range m.Pix {
					in = append(in, float32(v))
				}
			}
			out, err := s.Run(ctx, []tensor.Named{{Name: "pair", Tensor: tensor.FromFloat32(in, 1, 2, 256, 256)}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out[0].Shape, []int{1, 2, 256, 256}) {
				t.Fatalf("%s: shape %v", name, out[0].Shape)
			}
			got, err := out[0].Float64s(nil)
			if err != nil {
				t.Fatal(err)
			}
			var sum float64
			for k := range 65536 {
				sum += math.Hypot(got[k]-truth.U()[k], got[65536+k]-truth.V()[k])
			}
			kind := string(set.Kind(i))
			// Four pairs of a kind make the mean of evaluation.json.
			if mean, limit := sum/65536, 3*e.Models[name].ByKind[kind][0]; !(mean <= limit) {
				t.Errorf("%s, %s: error %.3f px, want at most %.3f", name, sample.ID, mean, limit)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

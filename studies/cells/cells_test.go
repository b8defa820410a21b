package cells

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/oracle"
	"nero/studies/studytest"
)

const (
	maxModel   = 1_500_000 // bytes of a committed model
	window     = 128
	piece      = 256
	candidates = 64
)

// levels are the shares of half a window by which training windows were shifted, in per cent.
func levels() []int { return []int{0, 20, 40, 60, 80, 100} }

// entry is what evaluate.py wrote of one model.
type entry struct {
	File       string             `json:"file"`
	SHA256     string             `json:"sha256"`
	Bytes      int                `json:"bytes"`
	Center     map[string]float64 `json:"centre"`
	Mean       map[string]float64 `json:"mean"`
	OffMiddle  float64            `json:"off_middle_median"`
	Strict     map[string]float64 `json:"strict"`
	Maximum    float64            `json:"maximum"`
	BorderMean float64            `json:"border_mean"`
	EndsMean   float64            `json:"ends_mean"`
	WidthX     float64            `json:"width_x"`
	WidthY     float64            `json:"width_y"`
	WidthCut   []bool             `json:"width_cut"`
	AreaShare  float64            `json:"area_above_half"`
	Consensus  map[string]float64 `json:"consensus"`
	Row        []float64          `json:"row"`
	Column     []float64          `json:"column"`
}

func measured(t *testing.T) map[string]entry {
	t.Helper()
	var e struct {
		Split  string           `json:"split"`
		Keys   int              `json:"keys"`
		Shifts []int            `json:"shifts"`
		Models map[string]entry `json:"models"`
		// Of widths and area: per level, and the share of resamples in which a level is wider than the one before.
		Interval map[string]map[string][]float64 `json:"interval_90"`
	}
	d := json.NewDecoder(bytes.NewReader(studytest.Read(t, "evaluation.json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatal(err)
	}
	if e.Split != "test" || e.Keys != 32 || len(e.Shifts) != 33 || len(e.Models) != len(levels()) {
		t.Fatalf("evaluation.json: split %q, %d keys, %d shifts, %d models; want test, 32, 33, 6", e.Split, e.Keys,
			len(e.Shifts), len(e.Models))
	}
	for _, k := range []string{"width_x", "width_y", "area_above_half"} {
		i := e.Interval[k]
		if len(i["from"]) != len(levels()) || len(i["to"]) != len(levels()) ||
			len(i["wider_than_level_before"]) != len(levels())-1 {
			t.Fatalf("evaluation.json: interval_90 of %s has %d, %d, %d numbers; want 6, 6, 5", k, len(i["from"]),
				len(i["to"]), len(i["wider_than_level_before"]))
		}
		for level, from := range i["from"] {
			m := e.Models[strconv.Itoa(levels()[level])]
			at := map[string]float64{"width_x": m.WidthX, "width_y": m.WidthY, "area_above_half": m.AreaShare}[k]
			if !(from <= at) || !(at <= i["to"][level]) {
				t.Errorf("evaluation.json: %s of level %d is %v, outside its own interval %v to %v", k, levels()[level],
					at, from, i["to"][level])
			}
		}
		// The last step is not as sure as the others; the cards say so.
		for level, share := range i["wider_than_level_before"][:4] {
			if !(share >= 0.95) {
				t.Errorf("evaluation.json: %s of level %d is wider than before in %v of resamples, want at least 0.95",
					k, levels()[level+1], share)
			}
		}
	}
	return e.Models
}

// TestModelsAreThoseOfTheCards keeps models, measurements and cards together: a new model needs a new evaluation and
// card.
func TestModelsAreThoseOfTheCards(t *testing.T) {
	studytest.Cards(t, 7, maxModel)
	cards := string(studytest.Read(t, "MODEL_CARDS.md"))
	all := measured(t)
	for _, level := range levels() {
		m := all[strconv.Itoa(level)]
		if want := fmt.Sprintf("cells-%d.onnx", level); m.File != want {
			t.Errorf("evaluation.json: model %d is %s, want %s", level, m.File, want)
			continue
		}
		b := studytest.Read(t, "models/"+m.File)
		if got := studytest.Digest(b); got != m.SHA256 {
			t.Errorf("%s: SHA-256 %s, but evaluation.json measured %s", m.File, got, m.SHA256)
		}
		if len(b) != m.Bytes {
			t.Errorf("%s: %d bytes, but evaluation.json measured %d", m.File, len(b), m.Bytes)
		}
		for _, row := range []string{
			fmt.Sprintf("| %d %% | `%s` | ", level, m.File),
			fmt.Sprintf("| %d %% | %.3f | %.3f | %.3f | %.1f | %.3f | %.3f | %.1f | %.1f | %.1f | %.1f | %.1f |", level,
				m.Center["confidence_iou"], m.Center["iou"],
				m.Center["confidence"], 100*m.Center["label_right"], m.Mean["confidence_iou"], m.EndsMean, m.WidthX,
				m.WidthY, 100*m.AreaShare, m.Strict["width_x"], m.Strict["width_y"]),
		} {
			if !strings.Contains(cards, row) {
				t.Errorf("MODEL_CARDS.md: no row %q", row)
			}
		}
	}
}

// TestModelsServeTheirPurpose holds the measurements to what the study needs them for: Figure 8 of the NERO paper, a
// peak that widens with the shifts of training, and Figure 12, a consensus that stands in for the truth.
func TestModelsServeTheirPurpose(t *testing.T) {
	all := measured(t)
	wide := entry{}
	for _, level := range levels() {
		m := all[strconv.Itoa(level)]
		if !(m.WidthX > wide.WidthX) || !(m.WidthY > wide.WidthY) || !(m.AreaShare > wide.AreaShare) {
			t.Errorf("%d %%: peak %v x %v px, %v of the places; want wider than %v x %v, %v of the level before", level,
				m.WidthX, m.WidthY, m.AreaShare, wide.WidthX, wide.WidthY, wide.AreaShare)
		}
		if !(m.Strict["width_x"] > wide.Strict["width_x"]) || !(m.Strict["width_y"] > wide.Strict["width_y"]) {
			t.Errorf("%d %%: with wrong labels as 0 the peak is %v x %v px, want wider than %v x %v of the level "+
				"before", level,
				m.Strict["width_x"], m.Strict["width_y"], wide.Strict["width_x"], wide.Strict["width_y"])
		}
		if !(m.Center["confidence_iou"] >= 0.6) || !(m.Center["iou"] >= 0.65) {
			t.Errorf("%d %%: value %v and IoU %v at the middle, want at least 0.6 and 0.65", level,
				m.Center["confidence_iou"], m.Center["iou"])
		}
		if !(m.Consensus["correlation_median"] >= 0.9) {
			t.Errorf("%d %%: maps under truth and consensus correlate with %v in the median, want at least 0.9", level,
				m.Consensus["correlation_median"])
		}
		if got := (m.Row[0] + m.Row[32] + m.Column[0] + m.Column[32]) / 4; !(math.Abs(got-m.EndsMean) <= 1e-4) {
			t.Errorf("%d %%: the curves end at %v on average, evaluation.json says %v", level, got, m.EndsMean)
		}
		wide = m
	}
}

func TestModelsSayWhatTheyTakeAndGive(t *testing.T) {
	for _, level := range levels() {
		m, err := onnx.Load(studytest.Read(t, fmt.Sprintf("models/cells-%d.onnx", level)))
		if err != nil {
			t.Fatal(err)
		}
		s := m.Signature()
		got := fmt.Sprint(s.Inputs, s.Outputs)
		for _, want := range []string{"image", "boxes", "scores", "128", "64"} {
			if !strings.Contains(got, want) {
				t.Errorf("cells-%d.onnx: signature %s does not say %q", level, got, want)
			}
		}
	}
}

// TestDataAreThoseOfTheReadme hashes the files one after the other in the order of their paths, as the README's command
// does.
func TestDataAreThoseOfTheReadme(t *testing.T) {
	var names []string
	for _, pattern := range []string{"JPEGImages/*.jpg", "Annotations/*.xml", "ImageSets/Main/test.txt"} {
		found, err := fs.Glob(os.DirFS("data"), pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) != 2*72+1 {
		t.Fatalf("data: %d files, want 72 photos, 72 annotations and a list", len(names))
	}
	slices.Sort(names)
	h := sha256.New()
	for _, n := range names {
		h.Write(studytest.Read(t, "data/"+n))
	}
	if got := hex.EncodeToString(h.Sum(nil)); !strings.Contains(string(studytest.Read(t, "data/README.md")), got) {
		t.Errorf("data: SHA-256 of all files is %s, and README.md does not say so", got)
	}
}

func TestSplitNamesPhotosThatAreThere(t *testing.T) {
	b, err := fs.ReadFile(Files, "data/ImageSets/Main/test.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(b))
	if len(names) != 72 {
		t.Fatalf("test.txt: %d names, want 72", len(names))
	}
	for _, n := range names {
		if _, err := fs.Stat(Files, "data/Annotations/"+n+".xml"); err != nil {
			t.Error(err)
		}
		f, err := Files.Open("data/JPEGImages/" + n + ".jpg")
		if err != nil {
			t.Error(err)
			continue
		}
		c, err := jpeg.DecodeConfig(f)
		if err != nil || c.Width != 640 || c.Height != 480 {
			t.Errorf("%s.jpg: %d x %d (%v), want 640 x 480", n, c.Width, c.Height, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// answer is what make_reference.py wrote of one window.
type answer struct {
	Shift [2]int     `json:"shift"`
	Box   [4]float64 `json:"box"`
	Score float64    `json:"score"`
	Label int        `json:"label"`
	Index int        `json:"index"`
}

// TestAnswersAreThoseOfTraining runs the exported files, and compares with what PyTorch says of the same windows:
// neither the export nor the layout of windows, candidates and classes can differ unseen.
func TestAnswersAreThoseOfTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("two networks on windows in float64, operator by operator")
	}
	var ref struct {
		Models map[string]string `json:"models"`
		Keys   []struct {
			PNG     string              `json:"png"`
			Label   int                 `json:"label"`
			Key     [4]float64          `json:"key"`
			Answers map[string][]answer `json:"answers"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(studytest.Read(t, "testdata/reference.json"), &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.Models) != 2 || len(ref.Keys) != 5 {
		t.Fatalf("reference.json: %d models, %d keys; want 2, 5", len(ref.Models), len(ref.Keys))
	}
	for file, sum := range ref.Models {
		b := studytest.Read(t, "models/"+file)
		if got := studytest.Digest(b); got != sum {
			t.Fatalf("%s: SHA-256 %s, but reference.json was made with %s", file, got, sum)
		}
		m, err := onnx.Load(b)
		if err != nil {
			t.Fatal(err)
		}
		g, err := oracle.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		level := strings.TrimSuffix(strings.TrimPrefix(file, "cells-"), ".onnx")
		for _, k := range ref.Keys {
			pic, err := png.Decode(bytes.NewReader(studytest.Read(t, "testdata/"+k.PNG)))
			if err != nil {
				t.Fatal(err)
			}
			if len(k.Answers[level]) != 9 {
				t.Fatalf("reference.json: %d answers of %s to %s, want 9", len(k.Answers[level]), file, k.PNG)
			}
			for i, want := range k.Answers[level] {
				if i%2 == 1 {
					continue // every operator is evaluated from its definition, which takes its time
				}
				out, err := g.Run(t.Context(), []tensor.Named{{Name: "image", Tensor: cut(t, pic, want.Shift)}},
					oracle.Options{})
				if err != nil {
					t.Fatal(err)
				}
				check(t, fmt.Sprintf("%s, %s at %v", file, k.PNG, want.Shift), out, want)
			}
		}
	}
}

// cut is the window of a piece whose object is moved by a shift, as the models take it.
func cut(t *testing.T, pic image.Image, shift [2]int) tensor.Tensor {
	t.Helper()
	if pic.Bounds() != image.Rect(0, 0, piece, piece) {
		t.Fatalf("piece of %v, want %d x %d", pic.Bounds(), piece, piece)
	}
	in := make([]float32, 3*window*window)
	left, top := (piece-window)/2-shift[0], (piece-window)/2-shift[1]
	for y := range window {
		for x := range window {
			r, g, b, _ := pic.At(left+x, top+y).RGBA()
			for c, v := range []uint32{r, g, b} {
				in[(c*window+y)*window+x] = float32(float64(v>>8) / 255)
			}
		}
	}
	return tensor.FromFloat32(in, 1, 3, window, window)
}

// check holds the answer to one window to what is wanted: the same candidate and class on top, with the same box and
// score up to the float32 rounding of PyTorch.
func check(t *testing.T, what string, out []tensor.Named, want answer) {
	t.Helper()
	values := map[string][]float64{}
	for _, o := range out {
		v, err := o.Float64s(nil)
		if err != nil {
			t.Fatal(err)
		}
		values[o.Name] = v
	}
	boxes, scores := values["boxes"], values["scores"]
	if len(boxes) != candidates*4 || len(scores) != candidates*3 {
		t.Fatalf("%s: %d numbers of boxes and %d scores, want %d and %d", what, len(boxes), len(scores), candidates*4,
			candidates*3)
	}
	top := 0
	for i, s := range scores {
		if s > scores[top] {
			top = i
		}
	}
	if top/3 != want.Index || top%3 != want.Label {
		t.Errorf("%s: candidate %d, class %d; want %d, %d", what, top/3, top%3, want.Index, want.Label)
		return
	}
	if !(math.Abs(scores[top]-want.Score) <= 1e-5) {
		t.Errorf("%s: score %v, want %v", what, scores[top], want.Score)
	}
	b := boxes[top/3*4:][:4]
	for i, got := range []float64{b[0] - b[2]/2, b[1] - b[3]/2, b[0] + b[2]/2, b[1] + b[3]/2} {
		if !(math.Abs(got-want.Box[i]) <= 1e-3) {
			t.Errorf("%s: edge %d at %v, want %v", what, i, got, want.Box[i])
		}
	}
}

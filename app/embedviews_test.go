package app_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/app"
	"nero/encoder"
	"nero/internal/elementary"
	"nero/measure/embedding"
	"nero/model/engine/remote/remotetest"
	"nero/run/job"
	"nero/studies/digits"
)

// An endpoint that answers four numbers, those of the thing with a normal error of size σ: squares of distances are σ²
// and 1 + σ² times χ² with four degrees of freedom, so that a pair is nearer than two things with the probability
// c²(c + 3)/(1 + c)³, c = (1 + σ²)/σ².
func TestEmbedOfTexts(t *testing.T) {
	const size, things = 0.5, 150
	const c = (1 + size*size) / (size * size)
	const want = c * c * (c + 3) / ((1 + c) * (1 + c) * (1 + c))
	r := rand.New(rand.NewPCG(4, 1))
	var list strings.Builder
	list.WriteString("object,view,value\n")
	for i := range things {
		var x [4]float64
		for j := range x {
			x[j] = elementary.Normal(r)
		}
		for _, view := range []string{"a", "b"} {
			fmt.Fprintf(&list, "%d,%s,", i, view)
			for j := range x {
				fmt.Fprintf(&list, " %.9g", x[j]+size*elementary.Normal(r))
			}
			list.WriteString("\n")
		}
	}
	f := &remotetest.Texts{Numbers: true, Answer: func(input string, _ int, _ map[string]any) (string, int) {
		return input, 0
	}}
	s := asking(t, f, 4, job.Repeat{})
	if err := os.WriteFile(s.Data.Views, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := new(app.App).Embed(t.Context(), s, app.EmbedOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := got.Report.Models[0]
	x := m.Given.Steps[0]
	if m.State != encoder.Move || x.Pairs != things || len(m.Given.Steps) != 1 || m.Width != 4 ||
		got.Report.Samples.Objects != things || got.Report.Samples.Confirm != 2*things {
		t.Fatalf("%s: %+v", m.Sentence, m.Given)
	}
	if !(float64(x.AUC.Low) <= want && want <= float64(x.AUC.High) && x.AUC.High-x.AUC.Low < 0.08) {
		t.Errorf("AUC %+v, want %g", x.AUC, want)
	}
	// So few that nothing can be told, of many: what helps is to ask more.
	_, err = new(app.App).Embed(t.Context(), s, app.EmbedOptions{Workers: 1, Samples: 3})
	if !errors.Is(err, embedding.ErrFew) || !strings.HasSuffix(err.Error(), "; name a larger --samples") {
		t.Errorf("three of %d things: %v", things, err)
	}
	// Fewer are asked, and those whole.
	if got, err = new(app.App).Embed(t.Context(), s, app.EmbedOptions{Workers: 1, Samples: 40}); err != nil {
		t.Fatal(err)
	}
	if x := got.Report.Models[0].Given; x.Things != 40 || x.Inputs != 80 {
		t.Errorf("%+v", x)
	}
}

// Answers of two lengths are answered with what an endpoint can do, and such as are not finite with what was asked.
func TestEmbedOfOddAnswers(t *testing.T) {
	odd := "1 2"
	f := &remotetest.Texts{Numbers: true, Answer: func(input string, _ int, _ map[string]any) (string, int) {
		if strings.HasSuffix(input, "is 3?") {
			return odd, 0
		}
		return fmt.Sprintf("%d %d 0.5", len(input), strings.Count(input, "1")), 0
	}}
	s := asking(t, f, 8, job.Repeat{})
	_, err := new(app.App).Embed(t.Context(), s, app.EmbedOptions{Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "numbers for one sample and ") ||
		!strings.Contains(err.Error(), "; make it answer vectors of one length") || strings.Contains(err.Error(),
		"value") {
		t.Errorf("two lengths: %v", err)
	}
	for _, odd = range []string{"null 2 3", "1 2 3"} {
		got, err := new(app.App).Embed(t.Context(), s, app.EmbedOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := got.Report
		if finite := r.Models[0].State != encoder.NotFinite; finite != (odd[0] == '1') || r.Samples.Confirm != 16 ||
			r.Samples.Objects != 8 {
			t.Errorf("%s: %+v, %s", odd, r.Samples, r.Sentence)
		}
	}
}

// Digits that are turned by a quarter and those that are not are listed as views. The network whose answers are
// averaged over turns keeps them together, the one that saw upright digits alone does not, and the one that saw turned
// ones lies between.
func TestEmbedOfPictures(t *testing.T) {
	dir := t.TempDir()
	study := filepath.Join(dir, "study")
	if err := os.CopyFS(study, digits.Files); err != nil {
		t.Fatal(err)
	}
	const side, head, n = 28, 16, 30
	b, err := digits.Files.ReadFile("data/digits1000-images-idx3-ubyte.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	raw = raw[head:]
	write := func(name string, of func(y, x int) byte) {
		m := image.NewGray(image.Rect(0, 0, side, side))
		for y := range side {
			for x := range side {
				m.Pix[y*side+x] = of(y, x)
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := &strings.Builder{}
	list.WriteString("object,view,file\n")
	for i := range n {
		at := raw[i*(len(raw)/side/side/n)*side*side:]
		write(fmt.Sprintf("%d.png", i), func(y, x int) byte { return at[y*side+x] })
		write(fmt.Sprintf("%d-turned.png", i), func(y, x int) byte { return at[x*side+side-1-y] })
		fmt.Fprintf(list, "%d,upright,%d.png\n%d,turned,%d-turned.png\n", i, i, i, i)
	}
	file := filepath.Join(dir, "views.csv")
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := new(app.App).OpenStudy(filepath.Join(study, "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.Models = append(s.Models, job.Model{Name: "c4", ONNX: filepath.Join(study, "models", "digits-c4.onnx")})
	s.Data, s.Group = job.Data{Views: file}, job.Group{Name: job.Given}
	s.Output.Decode = "" // c4 answers as the others do
	got, err := new(app.App).Embed(t.Context(), s, app.EmbedOptions{Engine: wasm(), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	auc := map[string]float64{}
	for _, m := range got.Report.Models {
		auc[m.Model] = float64(m.Given.Steps[0].AUC.Value)
		t.Log(m.Sentence)
	}
	if m := got.Report.Models[2]; m.State != encoder.Stay || !(auc["c4"] > 0.999) || m.Given.Steps[0].AUC.Low > 0.9 {
		t.Errorf("%s", m.Sentence)
	}
	if !(auc["original"] < 0.8 && auc["augmented"] > 0.95 && auc["augmented"] < 1) {
		t.Errorf("%v", auc)
	}
}

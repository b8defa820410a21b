package app

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
)

// away is a study of a few photos, with names of classes, whose data and models lie in a folder of their own.
func away(t *testing.T, a *App) (s *job.Study, dir string) {
	t.Helper()
	demo, err := a.OpenStudy(filepath.Join("..", "studies", "digits", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	demo.Models = demo.Models[:1]
	b, err := os.ReadFile(demo.Models[0].ONNX)
	if err != nil {
		t.Fatal(err)
	}
	demo.Models[0].ONNX = filepath.Join(dir, "m.onnx")
	if err := os.WriteFile(demo.Models[0].ONNX, b, 0o666); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		class := []string{"cat", "dog", "owl"}[i%3]
		m := image.NewGray(image.Rect(0, 0, 28, 28))
		for k := range m.Pix {
			m.Pix[k] = uint8((k*k + 31*k*i) % 251)
		}
		var b bytes.Buffer
		name := filepath.Join(dir, "photos", class, fmt.Sprintf("%03d.png", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), png.Encode(&b, m)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	demo.Data = job.Data{Images: filepath.Join(dir, "photos")}
	demo.Group.Name, demo.Group.Orbit = "C4", job.Orbit{}
	demo.Metrics = []string{"confidence", "relative"}
	return demo, dir
}

// Law: a merge needs the plan and the rows, and neither data nor models. It writes the same bytes without them, names
// of classes among them, as with them, which is what it does with the plan of an older version.
func TestMergeWithoutData(t *testing.T) {
	a := &App{Version: "1"}
	ctx := t.Context()
	s, data := away(t, a)
	run := func(dir string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	at := t.TempDir()
	planned, older := filepath.Join(at, "planned"), filepath.Join(at, "older")
	if _, err := a.Plan(ctx, s, RunOptions{Dir: planned, Workers: 1}); err != nil {
		t.Fatal(err)
	}
	if err := a.Shard(ctx, planned, ShardOptions{Index: "0-11", Workers: 1}); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(older, os.DirFS(planned)); err != nil {
		t.Fatal(err)
	}
	rewrite(t, older, func(p *folderPlan) { p.Names = nil })
	if err := os.Rename(data, data+".away"); err != nil {
		t.Fatal(err)
	}
	r, err := a.Merge(ctx, planned, MergeOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := run(planned)
	if len(r.Warnings) > 0 || !bytes.Contains(got, []byte(`"name": "owl"`)) {
		t.Errorf("warnings %q, and no class is called owl: %.2000s", r.Warnings, got)
	}
	if _, err := a.Merge(ctx, planned, MergeOptions{Workers: 1}); err != nil { // which is complete, and has no plan now
		t.Errorf("merged again: %v", err)
	}
	if _, err := a.Merge(ctx, older, MergeOptions{Workers: 1}); err == nil {
		t.Error("an older plan names no classes, and was merged without the data")
	}
	if err := os.Rename(data+".away", data); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Merge(ctx, older, MergeOptions{Workers: 1}); err != nil || !bytes.Equal(run(older), got) {
		t.Errorf("an older plan: %v", err)
	}
}

// folderPlan is the plan of a folder.
type folderPlan = plan

// rewrite changes the plan of a folder.
func rewrite(t *testing.T, dir string, change func(*folderPlan)) {
	t.Helper()
	j, err := store.Planned(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.Create(dir, j, store.Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	p, known := planOf(dir, r.Hash())
	if !known {
		t.Fatalf("%s has no plan", dir)
	}
	change(&p)
	if err := errors.Join(r.PutPlan(p), r.Close()); err != nil {
		t.Fatal(err)
	}
}

// Names that are too long for a plan are left out of it, and not believed in one.
func TestPlanNames(t *testing.T) {
	long := &planNames{Classes: []string{strings.Repeat("x", mostNames+1)}}
	if long.sound() || !(&planNames{}).sound() {
		t.Error("the bound of names is not kept")
	}
	got := classesIn(&fold.Summary{Slices: []fold.Slice{{Name: "all", Label: -1}, {Name: "c", Label: 2}}})
	if len(got) != 3 || got[2] != "c" {
		t.Errorf("classes %q", got)
	}
}

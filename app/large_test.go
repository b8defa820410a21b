package app_test

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nero/app"
	"nero/run/job"
	"nero/run/store/storetest"
)

// A folder of more than a thousand photos is planned with a table of them. A worker reads no photo but its own: the
// others may be gone to pieces. What the shards make is the run that one machine makes; of a photo that is another than
// planned nothing is made.
func TestLargeFolder(t *testing.T) {
	t.Parallel()
	const side, photos = 8, 1001
	dir := t.TempDir()
	place := func(i int) string { return filepath.Join(dir, "photos", fmt.Sprintf("%04d.png", i)) }
	if err := os.Mkdir(filepath.Join(dir, "photos"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range photos {
		m := image.NewGray(image.Rect(0, 0, side, side))
		for k := range m.Pix {
			m.Pix[k] = uint8(i * k)
		}
		f, err := os.Create(place(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	model := pooled(t, side, 0.05)
	study := func() *job.Study {
		return &job.Study{
			Models: []job.Model{{Name: "m", ONNX: model}}, Metrics: []string{"relative"},
			Data:  job.Data{Images: filepath.Join(dir, "photos"), Labels: "none"},
			Group: job.Group{Name: "C2"}, Output: job.Output{Space: "scores", Action: "invariant"},
		}
	}
	a := &app.App{Version: "1"}
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	if _, err := a.Run(t.Context(), study(), app.RunOptions{Dir: whole, Engine: wasm(), Workers: 2}); err != nil {
		t.Fatal(err)
	}
	p, err := a.Plan(t.Context(), study(), app.RunOptions{Dir: parts, Engine: wasm(), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(parts, "job.json")); err != nil || len(text) > 4000 {
		t.Errorf("the job has %d bytes, %v", len(text), err)
	}
	own := photos - 1 // of the last shard
	sound, err := os.ReadFile(place(own))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place(own), []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	shard := func(index string) error {
		return a.Shard(t.Context(), parts, app.ShardOptions{Engine: wasm(), Workers: 1, Index: index})
	}
	if err := shard(fmt.Sprintf("0-%d", p.Shards-2)); err != nil {
		t.Fatalf("shards beside the photo: %v", err)
	}
	last := strconv.Itoa(p.Shards - 1)
	if err := shard(last); err == nil || !strings.Contains(err.Error(), place(own)+" was changed") {
		t.Errorf("the shard with the photo: %v", err)
	}
	if err := os.WriteFile(place(own), sound, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := shard(last); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Merge(t.Context(), parts, app.MergeOptions{Engine: wasm(), Workers: 1}); err != nil {
		t.Fatal(err)
	}
	storetest.Equal(t, storetest.Snapshot(t, parts), storetest.Snapshot(t, whole))
}

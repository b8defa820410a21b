package workload

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/dataset"
	"nero/run/job"
)

// TestFormatsOfStudies holds the formats that a study may name, which the schema lists, against those that there are.
func TestFormatsOfStudies(t *testing.T) {
	var known []string
	for _, f := range Formats() {
		known = append(known, f.Name)
		if got := (job.Data{Format: f.Name}).Rendered(); got != f.Rendered {
			t.Errorf("%s: rendered %v for a study, %v for its format", f.Name, got, f.Rendered)
		}
		if f.Doc == "" || f.Open == nil {
			t.Errorf("%s: no doc, or no way to open it", f.Name)
		}
	}
	listed := job.DataFormats()
	slices.Sort(known)
	slices.Sort(listed)
	if !slices.Equal(known, listed) {
		t.Errorf("formats are %v, and studies may name %v", known, listed)
	}
}

// TestFormatFromOutside opens data by a format that no list of this program has: by its name, and by what it looks
// like.
func TestFormatFromOutside(t *testing.T) {
	toy := &dataset.Format{
		Name: "toy", Doc: "A file that is read as another one.",
		Sniff:   dataset.Sniff{Head: func(head []byte) bool { return string(head) == "toy" }},
		Options: []dataset.Option{dataset.WithLayout},
		Open:    func(fs.FS, dataset.Spec) (dataset.Dataset, error) { return particles(job.Particles{Count: 3}) },
	}
	name := filepath.Join(t.TempDir(), "x.toy")
	if err := os.WriteFile(name, []byte("toy"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"", "toy"} {
		d, err := OpenData(&job.Study{Data: job.Data{Format: format, Images: name}}, append(Formats(), toy))
		if err != nil || d.Len() != 3 {
			t.Errorf("format %q: %v", format, err)
		}
	}
	_, err := OpenData(&job.Study{Data: job.Data{Images: name, Key: "x"}}, append(Formats(), toy))
	if err == nil || !strings.Contains(err.Error(), "key is for npz archives, this is toy") {
		t.Errorf("an option that it does not take: %v", err)
	}
}

// A preset brings the photos of every format of photos to a size, whoever made the format, and no other data.
func TestFeed(t *testing.T) {
	toy := &dataset.Format{Name: "toy", Doc: "Photos.", Options: []dataset.Option{dataset.WithOrient}}
	dir := t.TempDir()
	for format, sized := range map[string]bool{
		"": true, "folder": true, "voc": true, "coco": true, "coco_masks": true, "masks": true, "toy": true,
		"npy": false, "pairs": false, "none of these": false,
	} {
		s := &job.Study{Data: job.Data{Format: format, Images: dir, Preset: "timm/resnet50.tv_in1k"}}
		_, err := feed(s, Options{Formats: append(Formats(), toy)})
		if got := len(s.Data.Resize.Crop) > 0; err != nil || got != sized || s.Input.Channels != "rgb" {
			t.Errorf("%q: %+v, %+v, %v; want a size: %v", format, s.Data.Resize, s.Input, err, sized)
		}
	}
}

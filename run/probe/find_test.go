package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"nero/run/job"
)

// A folder that was copied and renamed has the files of its run beside it, wherever the job says that they are; what is
// found counts by its checksum.
func TestLocate(t *testing.T) {
	write := func(at, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	top := t.TempDir()
	at := func(p string) string { return filepath.Join(top, filepath.FromSlash(p)) }
	a := write(at("copy/study/models/a.onnx"), "model a")
	b := write(at("copy/study/b.onnx"), "model b")
	one := write(at("copy/study/photos/6/1.png"), "picture 1")
	two := write(at("copy/study/photos/6/2.png"), "picture 2")
	write(at("copy/study/other.onnx"), "another model")
	turns := write(at("copy/study/types.npz"), "matrices")
	far := write(at("models/far.onnx"), "a model elsewhere")
	gone := filepath.Join(t.TempDir(), "nero-demo", "study")
	j := &job.Job{Study: job.Study{
		Models: []job.Model{
			{Name: "a", ONNX: "nero-demo/study/models/a.onnx"}, {Name: "behind", Endpoint: "http://localhost:1/m"},
		},
		Data:   job.Data{Images: filepath.Join(gone, "photos"), Labels: "none"},
		Output: job.Output{Type: job.Type{Matrices: filepath.Join(gone, "types.npz"), SHA256: turns}},
	}}
	j.Models = []job.ModelRef{
		{Name: "a", Ref: job.Ref{Path: "nero-demo/study/models/a.onnx", SHA256: a}},
		{Name: "b", Ref: job.Ref{Path: filepath.Join(gone, "b.onnx"), SHA256: b}},
		{Name: "other", Ref: job.Ref{Path: "nero-demo/study/other.onnx", SHA256: a}}, // not the file of the run
		{Name: "far", Ref: job.Ref{Path: `C:\lab\far.onnx`, SHA256: far}},
		{Name: "behind", Ref: job.Ref{Path: "http://localhost:1/m"}},
	}
	j.Files = []job.Ref{
		{Path: filepath.Join(gone, "photos", "6", "1.png"), SHA256: one},
		{Path: filepath.Join(gone, "photos", "6", "2.png"), SHA256: two},
	}
	got := locate(j, at("copy/run"), []string{at("models")})
	for _, c := range [][2]string{
		{got.Models[0].Path, at("copy/study/models/a.onnx")},
		{got.Models[1].Path, at("copy/study/b.onnx")},
		{got.Models[2].Path, "nero-demo/study/other.onnx"},
		{got.Models[3].Path, at("models/far.onnx")},
		{got.Models[4].Path, "http://localhost:1/m"},
		{got.Files[0].Path, at("copy/study/photos/6/1.png")},
		{got.Files[1].Path, at("copy/study/photos/6/2.png")},
		{got.Study.Data.Images, at("copy/study/photos")},
		{got.Study.Data.Labels, "none"},
		{got.Study.Output.Type.Matrices, at("copy/study/types.npz")},
		{j.Models[0].Path, "nero-demo/study/models/a.onnx"}, // the job stays
	} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
		}
	}
	study := Study(j, at("copy/run"), nil)
	if study.Models[0].ONNX != at("copy/study/models/a.onnx") || study.Models[1].ONNX != "" ||
		j.Study.Models[0].ONNX != "nero-demo/study/models/a.onnx" {
		t.Errorf("%+v of %+v", study.Models, j.Study.Models)
	}
	if without := locate(j, at("copy/run"), nil); without.Models[3].Path != j.Models[3].Path {
		t.Errorf("found without being told where: %s", without.Models[3].Path)
	}
}

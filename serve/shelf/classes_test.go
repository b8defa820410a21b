package shelf

import (
	"slices"
	"testing"

	"nero/run/job"
)

func TestFolderClasses(t *testing.T) {
	made := func(images string, edit func(*job.Data), paths ...string) *job.Job {
		j := &job.Job{}
		j.Study.Data.Images = images
		if edit != nil {
			edit(&j.Study.Data)
		}
		for _, p := range paths {
			j.Files = append(j.Files, job.Ref{Path: p})
		}
		return j
	}
	for name, c := range map[string]struct {
		of   *job.Job
		want []string
	}{
		"sorted, whatever the order of files": {made("/d/birds", nil, "/d/birds/wren/1.png", "/d/birds/Ünï <b>/2.png",
			"/d/birds/owl/deep/3.png"), []string{"owl", "wren", "Ünï <b>"}},
		"a relative folder with a slash": {made("./d/", nil, "d/b/1.png", "d/a/1.png"), []string{"a", "b"}},
		"some images lie in no folder": {
			made("d", nil, "d/b/1.png", "d/a/1.png", "d/9.png"),
			[]string{"a", "b"},
		},
		"one folder is no class":               {made("d", nil, "d/a/1.png", "d/a/2.png"), nil},
		"numbers are labels themselves":        {made("d", nil, "d/3.0/1.png", "d/07/2.png"), nil},
		"no folders":                           {made("d", nil, "d/1.png", "d/2.png"), nil},
		"files elsewhere":                      {made("d", nil, "d/a/1.png", "e/b/2.png"), nil},
		"a folder of which the name begins so": {made("d", nil, "dd/a/1.png", "dd/b/2.png"), nil},
		"labels of a table": {made("d", func(d *job.Data) { d.Labels = "labels.csv" }, "d/a/1.png",
			"d/b/2.png"), nil},
		"labels by a pattern": {made("d", func(d *job.Data) { d.Pattern = "(?P<label>x)" },
			"d/a/1.png", "d/b/2.png"), nil},
		"another format": {made("d", func(d *job.Data) { d.Format = "idx" }, "d/a/1.png",
			"d/b/2.png"), nil},
	} {
		if got := folderClasses(c.of); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

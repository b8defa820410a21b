package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Folders of results: what a killed process has left is continued, what belongs to others is refused and left alone.
func TestFillFolder(t *testing.T) {
	report := allOf("report.md", "curves.csv")
	at := func(names ...string) string {
		dir := t.TempDir()
		for _, n := range names {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o755),
				os.WriteFile(filepath.Join(dir, n), []byte(n), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	list := func(dir string) (all []string) {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(dir, name) // it is below
				all = append(all, filepath.ToSlash(rel))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	fill := func(dir string) func() error {
		return func() error {
			return errors.Join(writeFile(filepath.Join(dir, "curves.csv"), nil),
				writeFile(filepath.Join(dir, "report.md"), nil))
		}
	}
	done := []string{"curves.csv", "report.md"}
	for name, c := range map[string]struct {
		before, after []string
		refused       bool
	}{
		"empty":          {nil, done, false},
		"finished":       {done, done, false},
		"killed at once": {[]string{unfinished}, done, false},
		"killed over a picture": {
			[]string{unfinished, "pictures/.tmp-a.svg-7-0", "pictures/a.png"},
			[]string{"curves.csv", "pictures/a.png", "report.md"},
			false,
		},
		"killed over a table":    {[]string{unfinished, ".tmp-curves.csv-7-0"}, done, false},
		"of a former nero":       {[]string{".tmp-curves.csv-7-0"}, done, false},
		"a thesis":               {[]string{"report.md", "thesis.tex"}, []string{"report.md", "thesis.tex"}, true},
		"pictures":               {[]string{"pictures/cat.png"}, []string{"pictures/cat.png"}, true},
		"hidden files of others": {[]string{".git/config"}, []string{".git/config"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := at(c.before...)
			if err := fillFolder(dir, report, []string{"pictures"}, fill(dir)); (err != nil) != c.refused {
				t.Errorf("%v", err)
			}
			if got := list(dir); !slices.Equal(got, c.after) {
				t.Errorf("%v, want %v", got, c.after)
			}
		})
	}

	// A failure leaves a folder that can be filled again, or none where nothing was written.
	full := errors.New("full")
	dir := filepath.Join(t.TempDir(), "new")
	if err := fillFolder(dir, report, nil, func() error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was written, and there is a folder: %v", err)
	}
	for _, end := range []error{full, nil} {
		err := fillFolder(dir, report, nil, func() error {
			return errors.Join(writeFile(filepath.Join(dir, "curves.csv"), nil), end)
		})
		if !errors.Is(err, end) {
			t.Error(err)
		}
	}
	if got := list(dir); !slices.Equal(got, []string{"curves.csv"}) {
		t.Errorf("%v", got)
	}

	// One at a time.
	err := fillFolder(dir, anyOf("curves.csv"), nil, func() error {
		if err := fillFolder(dir, anyOf("curves.csv"), nil, fill(dir)); err == nil {
			t.Error("two write one folder")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

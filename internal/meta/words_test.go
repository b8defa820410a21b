package meta

import (
	"bytes"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// foreign are words that tie the project to a machine or a download host: it has to build anywhere.
var foreign = []string{
	"registry.npmjs", "files.pythonhosted", "proxy.golang", "deb.debian", "/work/", "/root/", "pypi.org",
}

func TestNoForeignPlaces(t *testing.T) {
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == ".git" || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		switch path.Ext(name) {
		case ".go", ".md", ".py", ".sh", ".yaml", ".yml", ".json", ".txt", ".txtar", ".mod", ".proto", "":
		default:
			return nil
		}
		if strings.HasSuffix(name, "words_test.go") || strings.Contains(name, "licenses/") {
			return nil
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(b, 0) >= 0 {
			return nil // a program that somebody built here
		}
		b = bytes.ToLower(b)
		for _, word := range foreign {
			if at := bytes.Index(b, []byte(word)); at >= 0 {
				t.Errorf("%s:%d: %q", name, 1+bytes.Count(b[:at], []byte("\n")), word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Third-party files lie beside a note on where they come from.
func TestProvenance(t *testing.T) {
	for _, dir := range []string{
		"model/engine/wasm", "model/onnx/onnxpb", "studies/digits/data",
		"studies/cells/data",
	} {
		found := false
		for _, name := range []string{"PROVENANCE.md", "README.md"} {
			b, err := fs.ReadFile(root, dir+"/"+name)
			found = found || err == nil && strings.Contains(strings.ToLower(string(b)), "licen")
		}
		if !found {
			t.Errorf("%s has no PROVENANCE.md or README.md that names a licence", dir)
		}
	}
}

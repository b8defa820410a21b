package studytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// study is a folder with two models and their cards.
func study() fstest.MapFS {
	f := fstest.MapFS{
		"models/a.onnx": {Data: []byte(strings.Repeat("a", 1234))}, "models/b.onnx": {Data: []byte("b")},
		"models/notes.txt": {},
	}
	card := strings.Builder{}
	card.WriteString("# Cards\n")
	for _, r := range []struct{ name, size string }{{"a.onnx", "1,234"}, {"b.onnx", "1"}} {
		fmt.Fprintf(&card, "| x | `%s` | %s | `%s` |\n", r.name, r.size, Digest(f["models/"+r.name].Data))
	}
	f["MODEL_CARDS.md"] = &fstest.MapFile{Data: []byte(card.String())}
	return f
}

func TestCards(t *testing.T) {
	if got := faults(study(), 2, 1235); got != nil {
		t.Errorf("a clean study: %q", got)
	}
	for _, c := range []struct {
		what  string
		spoil func(fstest.MapFS)
		want  string
	}{
		{
			"another model", func(f fstest.MapFS) { f["models/b.onnx"] = &fstest.MapFile{Data: []byte("c")} },
			"no row has the name, size and digest of a model: `b.onnx` | 1 | `",
		},
		{"a model without a card", func(f fstest.MapFS) { f["models/c.onnx"] = &fstest.MapFile{} }, "3 models, want 2"},
		{"a card without a model", func(f fstest.MapFS) { delete(f, "models/b.onnx") }, "lists 2 files, there are 1"},
		{"a large model", func(f fstest.MapFS) {
			f["models/a.onnx"] = &fstest.MapFile{Data: make([]byte, 1235)}
		}, "1235 bytes, want less than 1235"},
		{"no cards", func(f fstest.MapFS) { delete(f, "MODEL_CARDS.md") }, "MODEL_CARDS.md"},
		{"another size", func(f fstest.MapFS) {
			card := f["MODEL_CARDS.md"]
			card.Data = []byte(strings.Replace(string(card.Data), "1,234", "1234", 1))
		}, "`a.onnx` | 1,234 | `"},
	} {
		f := study()
		c.spoil(f)
		if got := strings.Join(faults(f, 2, 1235), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	text := "models: [{name: a, onnx: models/a.onnx}, {onnx: models/b.onnx}]\ndata:\n  points: data/x.npy\n"
	if got := named(text); !slices.Equal(got, []string{"models/a.onnx", "models/b.onnx", "data/x.npy"}) {
		t.Errorf("%q", got)
	}
	if got := thousands(1_002_003); got != "1,002,003" {
		t.Error(got)
	}
}

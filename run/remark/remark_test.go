package remark

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nero/run/beside"

	"github.com/google/go-cmp/cmp"
)

func TestRemarks(t *testing.T) {
	dir := t.TempDir()
	r, tag, err := Load(dir)
	if err != nil || r.Name != "" || r.Samples == nil || tag != `"none"` {
		t.Fatalf("an empty folder: %+v, %s, %v", r, tag, err)
	}
	want := Remarks{Name: "digits, May <b> é", Samples: []Sample{
		{ID: "a/1.png", Note: "blurred\nand dark", Tags: []string{"dark", "no digit"}}, {ID: "7", Tags: []string{"x"}},
	}}
	given := want
	given.Samples = append([]Sample{{ID: "nothing is said of it"}}, want.Samples...)
	next, err := Save(t.Context(), dir, given, tag)
	if err != nil {
		t.Fatal(err)
	}
	got, again, err := Load(dir)
	if d := cmp.Diff(want, got); d != "" || err != nil || again != next {
		t.Errorf("%s, tags %s and %s, %v", d, next, again, err)
	}
	if _, err := Save(t.Context(), dir, Remarks{}, tag); !errors.Is(err, beside.ErrChanged) ||
		!strings.Contains(err.Error(), "the remarks were changed") {
		t.Errorf("an old tag: %v", err)
	}
}

func TestRemarksRefused(t *testing.T) {
	many := make([]string, MaxTags+1)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	for _, c := range []struct {
		r    Remarks
		want string
	}{
		{Remarks{Name: strings.Repeat("é", MaxName+1)}, "201 characters"},
		{Remarks{Name: "\xff"}, "not UTF-8"},
		{Remarks{Samples: []Sample{{Note: "x"}}}, "names no sample"},
		{Remarks{Samples: []Sample{{ID: "a", Note: "x"}, {ID: "a", Note: "y"}}}, "two remarks"},
		{Remarks{Samples: []Sample{{ID: "a", Tags: many}}}, "21 tags"},
		{Remarks{Samples: []Sample{{ID: "a", Tags: []string{"t", " "}}}}, "tag 1"},
		{Remarks{Samples: []Sample{{ID: "a", Tags: []string{"t", "t"}}}}, "there twice"},
		{Remarks{Samples: []Sample{{ID: "a", Note: strings.Repeat("x", MaxNote+1)}}}, "2001 characters"},
	} {
		dir := t.TempDir()
		if _, err := Save(t.Context(), dir, c.r, "*"); !errors.Is(err, beside.ErrInvalid) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
		if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
			t.Errorf("%s: %v was written, %v", c.want, all, err)
		}
	}
}

// Whoever changes the file by hand takes its seal out, and is understood. What stands in its place and cannot be read
// is told as a damaged file, and left.
func TestRemarksByHand(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, FileName)
	text := `{"format": 1, "name": "May", "samples": [{"id": "a", "note": "b"}]}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := Remarks{Name: "May", Samples: []Sample{{ID: "a", Note: "b"}}}
	if got, _, err := Load(dir); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(dir); !errors.Is(err, beside.ErrDamaged) || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Save(t.Context(), dir, want, "*"); !errors.Is(err, beside.ErrDamaged) {
		t.Errorf("over a folder: %v", err)
	}
}

// A file that does not hold what was written is left as it is.
func FuzzDecode(f *testing.F) {
	dir := f.TempDir()
	if _, err := Save(f.Context(), dir, Remarks{Name: "n", Samples: []Sample{{ID: "a", Note: "b"}}}, "*"); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		string(good), "", "{", `{"format":2}`, `{"format":1,"samples":[{"id":""}]}`, `{"format":1,"samples":[],"x":1}`,
		`{"format":1,"samples":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err == nil {
			err = r.check()
		} else if !strings.HasPrefix(err.Error(), FileName) {
			t.Errorf("%v does not name the file", err)
			return
		}
		if err == nil && r.Samples == nil {
			t.Error("no list")
		}
	})
}

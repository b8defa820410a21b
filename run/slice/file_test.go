package slice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nero/internal/disk"
	"nero/internal/seal"
	"nero/run/store"

	"github.com/google/go-cmp/cmp"
)

func named(name string) Named {
	return Named{Name: name, Label: -1, N: 3, Set: json.RawMessage(`{"rule":"mean A < 0.4"}`)}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	all, tag, err := Load(dir)
	if err != nil || len(all) != 0 || all == nil || tag != `"none"` {
		t.Fatalf("an empty folder: %v, %s, %v", all, tag, err)
	}
	want := []Named{
		named(`<script>alert("6")</script>`), named("Бад é 😀\u202e\n" + `\`),
		{Name: "c", Label: 3, Set: json.RawMessage(`{"label":3}`), Note: "by hand & more"},
	}
	next, err := Save(t.Context(), dir, want, tag)
	if err != nil {
		t.Fatal(err)
	}
	got, again, err := Load(dir)
	for i := range got { // spaces in a set do not count
		var v any
		if err := json.Unmarshal(got[i].Set, &v); err != nil {
			t.Fatal(err)
		}
		if got[i].Set, err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
		want[i].Set = json.RawMessage(strings.NewReplacer("<", `\u003c`).Replace(string(want[i].Set)))
	}
	if err != nil || again != next || next == tag {
		t.Fatalf("tags %s, %s, %s: %v", tag, next, again, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := Save(t.Context(), dir, nil, tag); !errors.Is(err, ErrChanged) {
		t.Errorf("an old tag: %v", err)
	}
	if _, err := Save(t.Context(), dir, nil, ""); !errors.Is(err, ErrChanged) {
		t.Errorf("no tag: %v", err)
	}
	if _, err := Save(t.Context(), dir, nil, `W/`+next); !errors.Is(err, ErrChanged) {
		t.Errorf("a weak tag: %v", err)
	}
	if last, err := Save(t.Context(), dir, nil, `"other", `+next); err != nil || last == next {
		t.Errorf("one of two tags: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(dir, FileName))
	plain, sealed, err2 := seal.Open(b)
	if errors.Join(err, err2) != nil || !sealed || string(plain) != "{\n \"format\": 1,\n \"slices\": []\n}\n" {
		t.Errorf("%s, %v", b, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 { // the file and its lock
		t.Errorf("%v, %v", entries, err)
	}
}

func TestFileRefuses(t *testing.T) {
	many := make([]Named, MaxSlices+1)
	for i := range many {
		many[i] = named(strconv.Itoa(i))
	}
	other := named("x")
	other.Set = json.RawMessage(`[]`)
	for _, c := range []struct {
		name string
		all  []Named
		want string
	}{
		{"too many", many, "1001 slices"},
		{"no name", []Named{named("a"), named("")}, "slice 1 has no name"},
		{"a long name", []Named{named(strings.Repeat("é", MaxName+1))}, "201 characters"},
		{"the same name", []Named{named("a"), named("b"), named("a")}, `two slices are named "a"`},
		{"no text", []Named{named("a\xff")}, "not UTF-8"},
		{"no set", []Named{{Name: "a"}}, "no JSON object"},
		{"another set", []Named{other}, "no JSON object"},
	} {
		dir := t.TempDir()
		if _, err := Save(t.Context(), dir, c.all, "*"); !errors.Is(err, ErrInvalid) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, FileName)); err == nil {
			t.Errorf("%s: a file was written", c.name)
		}
	}
	if _, err := Save(t.Context(), t.TempDir(), []Named{named(strings.Repeat("é", MaxName))}, "*"); err != nil {
		t.Errorf("a name of %d characters: %v", MaxName, err)
	}
}

func TestDamagedFile(t *testing.T) {
	for _, text := range []string{
		"", "{", `{"format":1,"slices":[{"name":""}]}`, `{"slices":[]}`,
		`{"format":2,"slices":[]}`, `{"format":1,"slices":5}`,
	} {
		dir := t.TempDir()
		at := filepath.Join(dir, FileName)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Load(dir)
		if err == nil || !strings.Contains(err.Error(), FileName) || strings.Contains(err.Error(), dir) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := Save(t.Context(), dir, nil, "*"); err == nil {
			t.Errorf("%q: it was written over", text)
		}
		if b, err := os.ReadFile(at); err != nil || string(b) != text {
			t.Errorf("%q became %q: %v", text, b, err)
		}
	}
}

// Of writers who all read before they write, none loses what another one wrote.
func TestNoLostUpdate(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 8, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for k := range each {
				for {
					all, tag, err := Load(dir)
					if err != nil {
						t.Error(err)
						return
					}
					_, err = Save(context.Background(), dir, append(all, named(fmt.Sprintf("%d-%d", w, k))), tag)
					if err == nil {
						break
					}
					if !errors.Is(err, ErrChanged) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	all, _, err := Load(dir)
	if err != nil || len(all) != writers*each {
		t.Errorf("%d slices of %d: %v", len(all), writers*each, err)
	}
}

// Whoever finds the file locked waits as long as the context lasts, and is told who is in the way.
func TestLockedFile(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, ".slices.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.TryLock(f, false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Save(ctx, dir, []Named{named("a")}, "*"); !errors.Is(err, store.ErrBusy) ||
		!errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), dir) {
		t.Errorf("while another one writes: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(t.Context(), dir, []Named{named("a")}, "*"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if _, err := Save(t.Context(), dir, nil, "*"); !errors.Is(err, ErrReadOnly) || strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

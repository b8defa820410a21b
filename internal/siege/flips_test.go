package siege

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/run/slice"
)

// TestFlips damages one file of a run, an audit or a report at a time: a bit is flipped, the file is cut, or a digit
// becomes another one, so that JSON stays JSON. Whatever is then shown, by commands and over HTTP, is what was shown
// before, or it is refused; and what the message tells to do repairs the folder.
func TestFlips(t *testing.T) {
	dir, url := t.TempDir(), serve(t, toy{})
	at := func(name string) string { return filepath.Join(dir, name) }
	pictures(t, at("photos"), 9)
	study := []string{"--model", "toy=" + url, "--data", at("photos"), "--group", "C4"}
	run := append([]string{"run", "-q", "-o", at("run")}, study...)
	audit := append([]string{
		"audit", "-q", "--invariant", "--checks", "lattice", "-f", "json,text", "-o", at("audit"),
		"--fail-on", "nothing",
	}, study...)
	report := []string{"report", at("copy"), "-o", at("report")}
	must(t, run...)
	must(t, audit...)
	plant(t, at("copy"), tree(t, at("run")))
	must(t, report...)
	named := []slice.Named{{Name: "odd", Label: -1, N: 2, Set: []byte(`{"indexes":[1,3]}`)}}
	if _, err := slice.Save(t.Context(), at("run"), named, "*"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(at("run/.slices.lock")); err != nil {
		t.Fatal(err)
	}

	sound := map[string]map[string]string{}
	for _, kind := range []string{"run", "audit", "report"} {
		sound[kind] = tree(t, at(kind))
	}
	// what people and programs are shown of each folder
	shows := map[string][][]string{
		"run": {
			{"export", at("run")},
			{"export", at("run"), "--table", "samples"},
			{"export", at("run"), "--slice", "odd", "-m", "absolute"},
			{"compare", at("run"), at("copy")},
		},
		"audit": {
			{"report", at("audit"), "--format", "markdown"},
			{"report", at("audit"), "--format", "json"},
			{"compare", at("audit"), at("audit")},
			append(append([]string{
				"audit", "-q", "--invariant", "--checks", "lattice", "-f", "json", "--fail-on", "nothing",
				"--baseline", at("audit/audit.json"),
			}, study...), "-o", at("again")),
		},
	}
	show := func(t *testing.T, kind string) (all []answer) {
		t.Helper()
		for _, args := range shows[kind] {
			all = append(all, nero(t, args...))
		}
		if b, err := os.ReadFile(at("again/audit.json")); kind == "audit" && err == nil {
			all[len(all)-1].out += string(b)
		}
		if err := os.RemoveAll(at("again")); err != nil {
			t.Fatal(err)
		}
		if kind != "report" {
			all = append(all, shown(t, dir)...)
		}
		return all
	}
	before := map[string][]answer{}
	for kind := range sound {
		before[kind] = show(t, kind)
		for i, a := range before[kind] {
			if a.code != 0 {
				t.Fatalf("%s, answer %d: %d\n%s", kind, i, a.code, a.err)
			}
		}
	}
	noticed, harmless, repaired := 0, 0, 0
	plan(t, 12, func(t *testing.T, _ int, r *rand.Rand) {
		t.Helper()
		kind := []string{"run", "run", "run", "audit", "report"}[r.IntN(5)]
		files := maps.Clone(sound[kind])
		class := func(name string) string { return filepath.Ext(name) + filepath.Dir(name) }
		names := slices.Sorted(maps.Keys(files))
		if kind == "run" && r.IntN(2) == 0 { // as often one of the few files at the top as one of the many shards
			names = slices.DeleteFunc(names, func(n string) bool { return class(n) != ".json." })
		}
		name := names[r.IntN(len(names))]
		text, how := damage(r, files[name])
		files[name] = text
		if kind == "run" && name != "slices.json" && r.IntN(4) == 0 {
			delete(files, "manifest.json") // of a run that is not finished
			how += ", no manifest"
		}
		plant(t, at(kind), files)
		said := false
		for i, a := range show(t, kind) {
			was := before[kind][i]
			switch {
			case a.code == 2 && strings.HasPrefix(a.err, "nero: "), strings.Contains(a.err, "note: "):
				said = true
			}
			if a.code == 0 && !equal(a.out, was.out) && !strings.Contains(a.err, "not complete") {
				t.Errorf("%s/%s, %s: answer %d shows something else\n%s%s\n%s", kind, name, how, i, a.err, a.out,
					was.out)
			}
			if a.code == 1 {
				t.Errorf("%s/%s, %s: answer %d ends with 1: %s", kind, name, how, i, a.err)
			}
		}
		if said {
			noticed++
		} else {
			harmless++
		}
		// The remedies that the messages name.
		want := sound[kind]
		switch {
		case name == "slices.json":
			want = maps.Clone(want)
			delete(want, name)
			if err := os.Remove(at("run/slices.json")); err != nil {
				t.Fatal(err)
			}
			must(t, run...)
		case kind == "run":
			must(t, run...)
		case kind == "audit":
			must(t, audit...)
		case kind == "report":
			must(t, report...)
		}
		if d := alike(want, tree(t, at(kind))); d != nil {
			t.Errorf("%s/%s, %s: after the remedy other bytes in %q", kind, name, how, d)
		} else {
			repaired++
		}
		plant(t, at(kind), sound[kind]) // the pages of the next draw show all folders
	})
	t.Logf("noticed %d, harmless %d, shown otherwise 0, repaired %d", noticed, harmless, repaired)
}

// damage changes a text, and says how.
func damage(r *rand.Rand, text string) (string, string) {
	b := []byte(text)
	at := r.IntN(max(1, len(b)))
	switch r.IntN(4) {
	case 0:
		return text[:at], "cut at " + strconv.Itoa(at)
	case 1:
		if len(b) > 0 {
			b[at] ^= 1 << r.IntN(8)
		}
		return string(b), "bit of byte " + strconv.Itoa(at)
	default:
		for i := range b {
			k := (at + i) % len(b)
			if b[k] >= '0' && b[k] <= '9' {
				b[k] = '0' + (b[k]-'0'+1+byte(r.IntN(9)))%10
				return string(b), "digit at byte " + strconv.Itoa(k)
			}
		}
		return text[:at], "cut at " + strconv.Itoa(at)
	}
}

// equal compares what was shown: text to the letter, numbers but for the rounding of another order of addition.
func equal(a, b string) bool {
	if a == b {
		return true
	}
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(", \n\t|[]{}:", r) })
	}
	x, y := split(a), split(b)
	return slices.EqualFunc(x, y, func(p, q string) bool {
		v, err := strconv.ParseFloat(p, 64)
		w, err2 := strconv.ParseFloat(q, 64)
		return p == q || err == nil && err2 == nil && math.Abs(v-w) <= 1e-9*(1+math.Abs(w))
	})
}

//go:build slow

package mutation

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/render"
	"nero/model/engine/choose"
	"nero/model/engine/choose/choosetest"
)

var update = flag.Bool("update", false, "write docs/AUDIT-OF-THE-AUDITOR.md")

// page is the published table.
var page = filepath.Join("..", "..", "docs", "AUDIT-OF-THE-AUDITOR.md")

// bodies are the embedded engine and a shared library where there is one; without one it says so.
func bodies(t *testing.T) []Body {
	t.Helper()
	w, err := choose.Open(t.Context(), choose.Request{Kind: choose.Wasm}, choosetest.Host())
	if err != nil {
		t.Fatal(err)
	}
	out := []Body{{"wasm", w.Engine}}
	n, err := choose.Open(t.Context(), choose.Request{Kind: choose.Native}, choosetest.Host())
	switch {
	case errors.Is(err, choose.ErrNoLibrary):
		t.Log("no shared library of ONNX Runtime: the embedded engine stands alone")
	case err != nil:
		t.Fatal(err)
	default:
		out = append([]Body{{"native", n.Engine}}, out...)
	}
	return out
}

// score audits one mutation on every body.
func score(ctx context.Context, t *testing.T, m Mutation, all []Body) Result {
	t.Helper()
	r := Result{Mutation: m}
	for _, b := range all {
		rep, err := m.Audit(ctx, b, nil)
		if err != nil {
			t.Errorf("%s, %s on %s: %v", m.Name, m.Base, b.Name, err)
			r.Scores = append(r.Scores, Score{})
			continue
		}
		if os.Getenv("NERO_MUTATION_TEXT") != "" {
			var s strings.Builder
			_ = render.Text.Render(&s, audit.Document(rep))
			t.Log(s.String())
		}
		r.Scores = append(r.Scores, m.Judge(rep))
	}
	return r
}

// Every mutation on every engine. The published page holds what both engines said; where there is one only, rates are
// held against their limits and the page is left alone.
func TestAuditOfTheAuditor(t *testing.T) {
	all := bodies(t)
	var results []Result
	// to look at some: with NERO_MUTATION_TEXT=1 their reports are printed
	only := regexp.MustCompile(os.Getenv("NERO_MUTATION_ONLY"))
	for _, m := range All() {
		if !only.MatchString(m.Name + " " + m.Base) {
			continue
		}
		r := score(t.Context(), t, m, all)
		for i, s := range r.Scores {
			t.Logf("%-28s %-8s %-10s %-7s %-15s found %-5v right %-5v place %-5v %s at %s, then %v", m.Name, m.Base,
				m.Group, all[i].Name, s.Verdict, s.Found, s.Right, s.Place, named(s), m.place(s), s.Rest)
		}
		results = append(results, r)
	}
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	got := Table(results, names)
	rates := Rate(results)
	t.Logf("%+v", rates)
	if *update && only.String() == "" {
		old, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(page, []byte(Renew(got, string(old))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range results {
		for i, s := range r.Scores {
			if m := r.Mutation; !(s.Right && s.Place && (s.Found || m.Clean())) && m.Short == "" {
				t.Errorf("%s, %s under %s on %s: %s, %s at %s", m.Name, m.Base, m.Group, all[i].Name, s.Verdict,
					named(s), m.place(s))
			}
		}
	}
	if rates.Found != rates.Planted {
		t.Errorf("%d of %d breaks found", rates.Found, rates.Planted)
	}
	if only.String() == "" && 10*rates.Right < 9*rates.Planted {
		t.Errorf("right cause first for %d of %d", rates.Right, rates.Planted)
	}
	if len(all) < 2 || *update || only.String() != "" {
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rest := Rest(string(want))
	// How sure the diagnosis is may differ in the last digit between processors.
	sure := regexp.MustCompile(` \(\d+ %\)`)
	if sure.ReplaceAllString(rest, "") != sure.ReplaceAllString(got, "") {
		t.Errorf("%s is not what the audits say; run with -update and look at what changed", page)
	}
}

package app_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"nero/app"
	"nero/model/engine/remote/remotetest"
	"nero/repeat"
	"nero/run/job"
)

// listed writes views of objects: A is asked plainly, B politely.
func listed(tb testing.TB, dir string, objects int) string {
	tb.Helper()
	var b strings.Builder
	b.WriteString("object,view,value,label\n")
	for i := range objects {
		fmt.Fprintf(&b, "%d,A,what is %d?,%d\n%d,B,please: what is %d?,%d\n", i, i, i%5, i, i, i%5)
	}
	at := filepath.Join(dir, "views.csv")
	if err := os.WriteFile(at, []byte(b.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	return at
}

// number is the right answer to a question.
func number(input string) string {
	var i int
	_, after, _ := strings.Cut(input, "what is ")
	if _, err := fmt.Sscanf(after, "%d?", &i); err != nil {
		return err.Error()
	}
	return strconv.Itoa(i % 5)
}

// asking is a study of an endpoint.
func asking(tb testing.TB, f *remotetest.Texts, objects int, r job.Repeat) *job.Study {
	tb.Helper()
	s := f.Start()
	tb.Cleanup(s.Close)
	return &job.Study{
		Version: 1, Models: []job.Model{{Name: "m", Endpoint: s.URL + "/m"}},
		Data: job.Data{Views: listed(tb, tb.TempDir(), objects)}, Group: job.Group{Name: job.Given}, Repeat: r,
	}
}

func repeated(tb testing.TB, s *job.Study) *repeat.Model {
	tb.Helper()
	r, err := new(app.App).Repeat(tb.Context(), s, app.RepeatOptions{Workers: 2})
	if err != nil {
		tb.Fatal(err)
	}
	return r.Report.Models[0]
}

// An endpoint whose label flips with probability q when it is asked politely: q is in the interval.
func TestRepeatRecoversFlips(t *testing.T) {
	const q = 0.3
	f := &remotetest.Texts{Answer: func(input string, before int, _ map[string]any) (string, int) {
		if strings.HasPrefix(input, "please") && remotetest.Flip(input, before, q) {
			return "who knows", 0
		}
		return " " + number(input) + "\n", 0
	}}
	m := repeated(t, asking(t, f, 80, job.Repeat{Times: 5, Normalise: []string{"trim"}}))
	b := m.Given[0]
	if b.Name != "B" || !(float64(b.Difference.Low) <= q && q <= float64(b.Difference.High)) ||
		float64(b.Difference.High-b.Difference.Low) > 0.25 || m.Questions != 800 {
		t.Errorf("%+v %+v", b, b.Difference)
	}
	if m.Cached != "" || float64(m.Repeats.Agreement.Value) != 1 {
		t.Errorf("%q, %+v", m.Cached, m.Repeats.Agreement)
	}
}

// Somebody who keeps answers is flagged, and is found out by a parameter that is always another one.
func TestRepeatFlagsACache(t *testing.T) {
	cached := func(r job.Repeat) *repeat.Model {
		f := &remotetest.Texts{Answer: func(input string, _ int, p map[string]any) (string, int) {
			return fmt.Sprint(input, p["nonce"]), 0 // what it says depends on all of the request, and on nothing else
		}}
		return repeated(t, asking(t, f, 10, r))
	}
	if m := cached(job.Repeat{Times: 3}); !strings.HasPrefix(m.Cached, "repeats look cached") {
		t.Errorf("%q", m.Cached)
	}
	if m := cached(job.Repeat{Times: 3, Bust: "nonce"}); m.Cached != "" || float64(m.Repeats.Agreement.Value) != 0 {
		t.Errorf("%q, %+v", m.Cached, m.Repeats.Agreement)
	}
	seeds := &remotetest.Texts{Answer: func(_ string, _ int, p map[string]any) (string, int) {
		return fmt.Sprint(p["seed"]), 0
	}}
	m := repeated(t, asking(t, seeds, 4, job.Repeat{Seeds: []int{7, 7, 8}}))
	if x := float64(m.Repeats.Agreement.Value); x < 0.33 || x > 0.34 { // one pair of three
		t.Errorf("%v", x)
	}
}

// Rounds with seeds are compared across seeds: a server whose answer is the seed's draw, of 40 of 100 objects at one
// view
// always another one, differs there; one that is asked otherwise and answers the same does not.
func TestRepeatPairsSeeds(t *testing.T) {
	for masked, want := range map[bool]string{true: repeat.Differs, false: repeat.Same} {
		f := &remotetest.Texts{Answer: func(input string, _ int, p map[string]any) (string, int) {
			var i int
			_, after, _ := strings.Cut(input, "what is ")
			if _, err := fmt.Sscanf(after, "%d?", &i); err != nil {
				return err.Error(), 400
			}
			if masked && strings.HasPrefix(input, "please") && i%10 < 4 {
				return "B", 0
			}
			return fmt.Sprintf("A%d-%v", i, p["seed"]), 0
		}}
		m := repeated(t, asking(t, f, 100, job.Repeat{Seeds: []int{1, 2}}))
		b := m.Given[0]
		if b.Reference {
			b = m.Given[1]
		}
		if b.State != want || masked != (m.Verdict == "FAIL") || masked && float64(b.Excess.Low) < 0.1 {
			t.Errorf("%s, %s, %+v", m.Verdict, b.State, b.Excess)
		}
	}
}

func TestRepeatCountsRefusals(t *testing.T) {
	refusing := func(q float64) *remotetest.Texts {
		return &remotetest.Texts{Answer: func(input string, before int, _ map[string]any) (string, int) {
			if remotetest.Flip("code"+input, before, q) {
				return "not now", map[bool]int{true: 429, false: 400}[before%2 == 0]
			}
			return number(input), 0
		}}
	}
	m := repeated(t, asking(t, refusing(0.2), 40, job.Repeat{Times: 4}))
	names := map[string]int{}
	for _, o := range m.Outcomes {
		names[o.Name] = o.N
	}
	if m.Verdict != "NEEDS_ATTENTION" || names["rate_limited"] == 0 || names["refused"] == 0 ||
		names["answered"]+names["rate_limited"]+names["refused"] != 320 {
		t.Errorf("%s %v", m.Verdict, names)
	}
	if x := float64(m.Repeats.Correct.One.Value); x != 1 {
		t.Errorf("accuracy %v of what was answered", x)
	}
	_, err := new(app.App).Repeat(t.Context(), asking(t, refusing(1), 3, job.Repeat{Times: 2}),
		app.RepeatOptions{Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "m: none of 12 questions was answered; the first, ") {
		t.Errorf("%v", err)
	}
}

// A repeat that is stopped goes on where it was: it asks nothing twice, and leaves the bytes of one that was not.
func TestRepeatGoesOn(t *testing.T) {
	var asked, most atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &remotetest.Texts{Answer: func(input string, _ int, p map[string]any) (string, int) {
		if n := asked.Add(1); n == most.Load() {
			cancel()
		}
		if remotetest.Flip(input, int(p["seed"].(float64)), 0.3) { //nolint:errcheck,forcetypeassert // as JSON has it
			return "who knows", 0
		}
		return number(input), 0
	}}
	dir := t.TempDir()
	s := asking(t, f, 20, job.Repeat{Seeds: []int{1, 2, 3}})
	files := func(name string, ctx context.Context) (map[string]string, error) {
		s := *s
		a := &app.App{Events: func(app.Event) {}}
		_, err := a.Repeat(ctx, &s, app.RepeatOptions{Workers: 2, Out: filepath.Join(dir, name)})
		found := map[string]string{}
		entries, unread := os.ReadDir(filepath.Join(dir, name))
		if unread != nil && err == nil {
			t.Fatal(unread)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(dir, name, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			found[e.Name()] = string(b)
		}
		return found, err
	}
	want, err := files("whole", t.Context())
	if err != nil || len(want) != 4 {
		t.Fatalf("%v: %d files", err, len(want))
	}
	whole := asked.Swap(0)
	most.Store(50)
	stopped, err := files("stopped", ctx)
	if !errors.Is(err, context.Canceled) || stopped["answers.jsonl"] == "" || stopped["repeat.json"] != "" {
		t.Fatalf("%v: %d files", err, len(stopped))
	}
	most.Store(0)
	before := asked.Load()
	got, err := files("stopped", t.Context())
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("%v: other bytes, or other files than %d", err, len(want))
	}
	if again := asked.Load() - whole; again > 4 || before < 50 || before > 60 {
		t.Errorf("%d questions were asked, %d of them before it stopped, and there are %d", asked.Load(), before, whole)
	}
	// What was asked otherwise is told from what is asked now.
	if _, err := files("other", ctx); err == nil {
		t.Fatal("a cancelled repeat ends well")
	}
	if err := os.MkdirAll(filepath.Join(dir, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other", "answers.jsonl"), []byte(stopped["answers.jsonl"]),
		0o600); err != nil {
		t.Fatal(err)
	}
	s.Repeat.Seeds = []int{1, 2, 4}
	if _, err := files("other", t.Context()); err == nil ||
		!strings.Contains(err.Error(), "answers.jsonl: it holds answers to other questions") {
		t.Errorf("%v", err)
	}
}

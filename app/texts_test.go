package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/app"
	"nero/model/engine/remote/remotetest"
	"nero/run/fold"
	"nero/run/job"
)

// questions are a study of n questions, each as it is, with spaces around it and with another word, put to a server of
// texts.
func questions(tb testing.TB, n int, server *remotetest.Texts) *job.Study {
	tb.Helper()
	list := strings.Builder{}
	list.WriteString("object,view,value,label\n")
	for i := range n {
		fmt.Fprintf(&list, "%d,plain,tall %d,%s\n%d,spaced,  tall %d,%s\n%d,other,small %d,%s\n",
			i, i, sized(i), i, i, sized(i), i, i, sized(i))
	}
	views := filepath.Join(tb.TempDir(), "views.csv")
	if err := os.WriteFile(views, []byte(list.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	s := server.Start()
	tb.Cleanup(s.Close)
	return &job.Study{
		Version: 1, Data: job.Data{Views: views},
		Models: []job.Model{{Name: "reader", Endpoint: s.URL + "/texts"}},
	}
}

func sized(i int) string { return []string{"low", "high"}[i%2] }

// vectors answers a vector that spaces do not move and another word does.
func vectors(input string, _ int, _ map[string]any) (string, int) {
	var word string
	var i float64
	if _, err := fmt.Sscan(input, &word, &i); err != nil {
		return err.Error(), 400
	}
	return fmt.Sprintf("%v %v %v", i, i*i, float64(len(word))), 0
}

// words answers a text: the size, and of one question in other words something that is no size.
func words(input string, _ int, _ map[string]any) (string, int) {
	var word string
	var i int
	if _, err := fmt.Sscan(input, &word, &i); err != nil {
		return err.Error(), 400
	}
	if word == "small" && i == 3 {
		return "I cannot say", 0
	}
	return sized(i) + " ", 0
}

// A server of texts is run, audited, asked again and embedded: what it answers is a vector.
func TestTextsOfAnEndpoint(t *testing.T) {
	server := &remotetest.Texts{Numbers: true, Answer: vectors}
	s := questions(t, 12, server)
	s.Output.Space = "tensor"
	dir := filepath.Join(t.TempDir(), "run")
	study := *s
	r, err := new(app.App).Run(t.Context(), &study, app.RunOptions{Dir: dir, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Summary.Metrics, func(m fold.Metric) bool { return m.Name == "absolute" })
	if at < 0 {
		t.Fatalf("metrics %+v", r.Summary.Metrics)
	}
	if c := r.Summary.Curve(0, at, 0); len(c.Mean) != 3 || c.Mean[0] != 0 || c.Mean[1] != 0 || c.Mean[2] != 1 {
		t.Errorf("the distance over views is %v, want 0, 0, 1", c.Mean)
	}

	study = *s
	study.Audit.Contract = job.Contract{Error: 1e-6, Rate: 0.5}
	a, err := new(app.App).Audit(t.Context(), &study, app.AuditOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := a.Document().Models[0]
	states, why := map[string]string{}, map[string]string{}
	for _, c := range m.Checks {
		states[c.Check], why[c.Check] = string(c.Status), c.Reason
		for _, x := range c.Sets {
			if !(float64(x.Worst.Value) > 1e-3) {
				t.Errorf("the worst is %+v", x.Worst)
			}
		}
	}
	for _, c := range []string{"preflight", "sweep", "controls", "lattice", "contract"} {
		if states[c] != "tested" {
			t.Errorf("%s is %s: %s", c, states[c], why[c])
		}
	}
	for _, c := range []string{"laws", "layers", "gradient", "search"} {
		if states[c] == "tested" || why[c] == "" {
			t.Errorf("%s is %s: %q", c, states[c], why[c])
		}
	}
	if m.Verdict == "PASS" {
		t.Errorf("%s, though another word moves the answer: %v", m.Verdict, m.Gist)
	}

	study = *s
	study.Repeat.Times = 2
	again, err := new(app.App).Repeat(t.Context(), &study, app.RepeatOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Report.Sentence; !strings.Contains(got, "apart") || strings.Contains(got, "equal in") {
		t.Errorf("numbers asked again: %s", got)
	}

	study = *s
	e, err := new(app.App).Embed(t.Context(), &study, app.EmbedOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if g := e.Report.Models[0].Given; g == nil || g.Things != 12 {
		t.Errorf("embedded: %+v", e.Report.Models[0])
	}
}

// Answers that are texts are classes where their names are known, with one more for what is none of them.
func TestTextsAsClasses(t *testing.T) {
	s := questions(t, 12, &remotetest.Texts{Answer: words})
	study := *s
	dir := filepath.Join(t.TempDir(), "run")
	r, err := new(app.App).Run(t.Context(), &study, app.RunOptions{Dir: dir, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Summary.Metrics, func(m fold.Metric) bool { return m.Name == "accuracy" })
	if at < 0 {
		t.Fatalf("metrics %+v", r.Summary.Metrics)
	}
	if c := r.Summary.Curve(0, at, 0); c.Mean[0] != 1 || c.Mean[1] != 1 || !(c.Mean[2] > 0.9 && c.Mean[2] < 0.92) {
		t.Errorf("right over views: %v, want 1, 1, 11/12", c.Mean)
	}
	// The reference of a study comes first, and what is not known is refused.
	study = *s
	study.Repeat.Reference = "other"
	r, err = new(app.App).Run(t.Context(), &study, app.RunOptions{Dir: dir + "2", Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Summary.Curve(0, at, 0); c.Mean[1] != 1 || !(c.Mean[0] > 0.9 && c.Mean[0] < 0.92) {
		t.Errorf("right over views, from another: %v, want 11/12, 1, 1", c.Mean)
	}
	for _, c := range []struct {
		change func(*job.Study)
		want   string
	}{
		{func(s *job.Study) { s.Repeat.Reference = "lost" }, `repeat.reference: "lost" is no view; there are plain, spaced, other`},
		{func(s *job.Study) { s.Output.Space = "tensor" }, "holds texts, which are no tensor"},
	} {
		study = *s
		c.change(&study)
		if _, err := new(app.App).Audit(t.Context(), &study, app.AuditOptions{Workers: 1}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

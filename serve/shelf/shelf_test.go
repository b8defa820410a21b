package shelf

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nero/run/slice"
	"nero/run/store"
	"nero/serve/api"
)

// auditOf is an audit.json about models, with places.
func auditOf(models []string, sample, element, data, group string) string {
	var all []string
	for _, m := range models {
		at := fmt.Sprintf(`{"sample":%q,"index":1,"element":"x","coordinates":%s}`, sample, element)
		name, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		all = append(all, fmt.Sprintf(
			`{"model":%s,"verdict":"FAIL","claim":{"group":%q},"basis":[{"name":"input","value":"scale 1"},{"name":"data","value":"sha256 %s"}],"about":[{"name":"sha256","value":%q},{"name":"parameters","value":"123"},{"name":"file","value":"/secret/place/m.onnx"}],
			"checks":[{"check":"c","sets":[{"worst":%s}],"findings":[{"worst":%s},{}]}],"worst_cases":[{"where":{"sample":"nobody","coordinates":[0]}}],
			"gallery":[{"where":%s,"replay":"nero audit /secret/place/m.onnx --replay 1@2"}]}`, name, group, data, digest(m), at, at, at))
	}
	return fmt.Sprintf(`{"format":1,"verdict":"FAIL","exit_code":1,"models":[%s]}`, strings.Join(all, ","))
}

// On other data the same names are other samples, and in another chart the same numbers are other elements.
func TestAuditOfOtherData(t *testing.T) {
	top := t.TempDir()
	m := small()
	m.write(t, filepath.Join(top, "run"))
	same := m.job(t).DataDigest()
	for name, text := range map[string]string{
		"same": auditOf(m.models, "s2 é<i>", "[30]", same, "C12"),
		"data": auditOf(m.models, "s2 é<i>", "[30]", digest("other"), "SO(2)"),
		"no-data": strings.ReplaceAll(auditOf(m.models, "s2 é<i>", "[30]", same, "SO(2)"), `"name":"data"`,
			`"name":"date"`),
		"motion":   auditOf(m.models, "s2 é<i>", "[30]", same, "Scale"),
		"stranger": auditOf([]string{"nobody"}, "s2 é<i>", "[30]", same, "SO(2)"),
	} {
		writeFile(t, filepath.Join(top, name, "audit.json"), text)
	}
	s := opened(t, Options{}, top)
	for _, a := range s.Runs().Audits {
		f, err := s.Findings(a.ID)
		if err != nil {
			t.Fatal(err)
		}
		runs, places := 0, 0
		switch a.Name {
		case "same":
			runs, places = 1, 2
		case "motion":
			runs = 1
		}
		if len(a.Runs) != runs || len(f.Places) != places {
			t.Errorf("%s: runs %v, places %v; want %d and %d", a.Name, a.Runs, f.Places, runs, places)
		}
	}
	if doc := run(t, s, "run").Document(); len(doc.Audits) != 2 {
		t.Errorf("audits of the run %v, want the two on its data", doc.Audits)
	}
}

// A folder like that of nero demo, with damaged things beside good ones.
func TestOpen(t *testing.T) {
	top := t.TempDir()
	m := small()
	m.write(t, filepath.Join(top, "demo", "run"))
	writeFile(t, filepath.Join(top, "demo", "audit", "audit.json"),
		auditOf(m.models, "s2 é<i>", "[30]", m.job(t).DataDigest(), "SO(2)"))
	writeFile(t, filepath.Join(top, "demo", "report", "report.md"), "not for us")
	writeFile(t, filepath.Join(top, "demo", "broken", "job.json"), `{"format":1`)
	writeFile(t, filepath.Join(top, "demo", "newer", "job.json"), `{"format":99}`)
	writeFile(t, filepath.Join(top, "demo", "bad", "audit.json"), `{"format":1}`)
	m.seed = 2
	m.write(t, filepath.Join(top, "other", "run"))
	cut := filepath.Join(top, "cut")
	m.seed = 3
	m.write(t, cut)
	if err := os.Truncate(filepath.Join(cut, "summary.json"), 10); err != nil {
		t.Fatal(err)
	}
	s := opened(t, Options{Version: "1.2"}, filepath.Join(top, "demo"), filepath.Join(top, "other", "run"), cut,
		filepath.Join(top, "gone"), filepath.Join(top, "demo", "run"))
	all := s.Runs()
	var ids, names []string
	for _, r := range all.Runs {
		ids, names = append(ids, r.ID), append(names, r.Name)
		if !r.State.Complete || r.State.Done != m.samples || r.Group != "SO(2)" || len(r.Models) != 2 ||
			len(r.Metrics) != 4 || r.Task != "classification" {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(ids, []string{"run", "other-run"}) || !slices.Equal(names, []string{"run", "other/run"}) ||
		all.Version != "1.2" {
		t.Errorf("runs %q, %q of version %s", ids, names, all.Version)
	}
	var broken []string
	for _, b := range all.Problems {
		broken = append(broken, b.Name)
		if b.Detail == "" || b.Remedy == "" || strings.Contains(b.Remedy, "at least as new") != (b.Name == "newer") {
			t.Errorf("%+v", b)
		}
	}
	slices.Sort(broken)
	if want := []string{"bad/audit.json", "broken", "cut", "gone", "newer"}; !slices.Equal(broken, want) {
		t.Errorf("problems %q, want %q", broken, want)
	}
	if len(all.Audits) != 1 || all.Audits[0].Verdict != "FAIL" ||
		!slices.Equal(all.Audits[0].Runs, []string{"run", "other-run"}) {
		t.Fatalf("audits %+v", all.Audits)
	}
	f, err := s.Findings(all.Audits[0].ID)
	if err != nil || !json.Valid(f.Document) || len(f.Places) != 4 {
		t.Fatalf("%+v, %v", f, err)
	}
	p := f.Places[1]
	if p.Index != 2 || p.Sample != "s2 é<i>" || p.Model != m.models[1] || p.ModelIndex != 1 || p.Run != "run" ||
		len(p.Element) != 1 || p.Element[0] != 30 {
		t.Errorf("%+v", p)
	}
	doc := run(t, s, "run").Document()
	if !slices.Equal(doc.Audits, []string{all.Audits[0].ID}) || doc.ModelList[0].Parameters != 123 {
		t.Errorf("audits %v, %d parameters", doc.Audits, doc.ModelList[0].Parameters)
	}
	for _, id := range []string{"", "x", "run+x", "run+run+run", "../run", "RUN"} {
		if _, err := s.Run(id); !errors.Is(err, ErrUnknown) {
			t.Errorf("run %q: %v", id, err)
		}
	}
	if _, err := s.Findings("x"); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	// Nothing says where anything lies.
	for _, v := range []any{all, f, doc, run(t, s, "other-run").Document()} {
		b, err := json.Marshal(v)
		if err != nil || strings.Contains(string(b), "secret") || strings.Contains(string(b), top) ||
			strings.Contains(string(b), os.TempDir()+"/") {
			t.Errorf("%s, %v", b, err)
		}
	}
}

func TestOpenNothing(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "x.txt"), "")
	writeFile(t, filepath.Join(dir, "bad", "job.json"), "{")
	if s := opened(t, Options{}); len(s.Runs().Runs)+len(s.Runs().Problems) != 0 {
		t.Errorf("without a path: %+v", s.Runs())
	}
	for _, paths := range [][]string{
		{dir},
		{filepath.Join(dir, "none")},
		{filepath.Join(dir, "x.txt")},
		{filepath.Join(dir, "bad")},
	} {
		s, err := Open(t.Context(), paths, Options{})
		if err == nil {
			t.Errorf("%v: %+v", paths, s.Runs())
		} else if !strings.Contains(err.Error(), "nothing to show") || strings.Contains(err.Error(), dir) {
			t.Errorf("%v: %v", paths, err)
		}
	}
}

func TestDocument(t *testing.T) {
	m := small()
	r := one(t, m)
	d := r.Document()
	if d.ID != "run" || d.Samples != 57 || d.Elements != 12 || d.Failed != 4 || !d.Labelled || d.Output != "scores" ||
		d.Engine != "test 1.0" || d.Kernel != "bilinear, border zero" {
		t.Errorf("%+v", d)
	}
	if !slices.Equal(d.Classes, []string{"zero", "one", "two <b>", "3"}) {
		t.Errorf("classes %q", d.Classes)
	}
	if len(d.Slices) != 3 || d.Slices[2].Name != "two <b>" || *d.Slices[2].Set.Label != 2 || d.Slices[2].N != 16 {
		t.Errorf("slices %+v", d.Slices)
	}
	if len(d.Arrays) != 2*(4+1+4) || d.Arrays[1].Name != "curves.0.1" || d.Arrays[1].Bytes != 57*12*4 {
		t.Errorf("arrays %+v", d.Arrays)
	}
	if len(d.Scales) != 4 || d.Scales[0] != (api.Range{Lo: 0, Hi: 1}) || d.Scales[3] != (api.Range{Lo: -1, Hi: 1}) ||
		d.MetricDoc[0].Wide {
		t.Errorf("scales %+v", d.Scales)
	}
	if s := d.Scales[2]; d.MetricDoc[2].Wide != s.Log || !(float64(s.Hi) > 0.1 && float64(s.Hi) < 0.2) {
		t.Errorf("scale of the relative error %+v, wide %v", s, d.MetricDoc[2].Wide)
	}
	if want := `nero run --model plain=model.onnx --model 'it'\''s <b>B</b>=model.onnx' --data images.gz --labels labels.gz`; !strings.HasPrefix(d.Command, want) {
		t.Errorf("command %s", d.Command)
	}
	if d.Live.Inputs || d.Live.Models || d.Live.Reason == "" {
		t.Errorf("live %+v", d.Live)
	}
	if len(d.Methods) == 0 || d.Methods[0].Name != "pca" || d.Methods[0].Slow {
		t.Errorf("methods %+v", d.Methods)
	}
	if tag := r.ETag(); tag != r.ETag() || len(tag) < 10 || tag[0] != '"' {
		t.Errorf("tag %s", tag)
	}
	for _, v := range []any{d.Notes, d.Audits, d.Details} {
		if b, err := json.Marshal(v); err != nil || string(b) == "null" {
			t.Errorf("%s, %v", b, err)
		}
	}
}

// A run without summary is documented from its rows.
func TestDocumentWithoutSummary(t *testing.T) {
	m := small()
	with := one(t, m).Document()
	m.summary = false
	without := one(t, m).Document()
	if len(without.Slices) != 3 || without.Slices[2].N != with.Slices[2].N || without.Slices[0].Name != "0" ||
		without.Failed != with.Failed || !without.Labelled {
		t.Errorf("%+v", without.Slices)
	}
	for k := range with.Scales {
		if with.Scales[k].Log != without.Scales[k].Log || !close64(with.Scales[k].Lo, without.Scales[k].Lo) ||
			!close64(with.Scales[k].Hi, without.Scales[k].Hi) {
			t.Errorf("scale %d is %+v, with a summary %+v", k, without.Scales[k], with.Scales[k])
		}
	}
}

// Every number of a sample and of the arrays is that of the rows.
func TestNumbersAreTheRows(t *testing.T) {
	weighted := small()
	weighted.weights = true
	t.Run("equal", func(t *testing.T) { numbersAreTheRows(t, small()) })
	t.Run("weighted", func(t *testing.T) { numbersAreTheRows(t, weighted) })
}

func numbersAreTheRows(t *testing.T, m made) {
	t.Helper()
	r := one(t, m)
	j := m.job(t)
	names, err := r.Samples()
	if err != nil || names.Done != m.samples || len(names.Tags) != m.samples {
		t.Fatalf("%+v, %v", names, err)
	}
	for _, s := range j.Shards() {
		for _, row := range m.rows(j, s) {
			i := row.Index
			if names.IDs[i] != row.Sample || names.Labels[i] != row.Label ||
				!slices.Equal(names.Tags[i], append([]string{}, row.Tags...)) {
				t.Fatalf("sample %d: %q %d %q", i, names.IDs[i], names.Labels[i], names.Tags[i])
			}
			o, err := r.Sample(i)
			if err != nil || o.ID != row.Sample || o.Label != row.Label || !o.Done ||
				(o.Error != "") != (row.Err != "") || strings.Contains(o.Error, "/") {
				t.Fatalf("%+v, %v", o, err)
			}
			top, err := r.Top(row.Model)
			if err != nil {
				t.Fatal(err)
			}
			for k := range j.Metrics {
				values, err := r.Curves(row.Model, k)
				if err != nil {
					t.Fatal(err)
				}
				st, err := r.Stats(row.Model, k)
				if err != nil {
					t.Fatal(err)
				}
				for g, v := range row.Curves[k] {
					same := func(a float64) bool { return a == float64(v) || math.IsNaN(a) && math.IsNaN(float64(v)) }
					if !same(float64(values[i*12+g])) || !same(float64(o.Curves[row.Model][k][g])) {
						t.Fatalf("sample %d, metric %d, element %d: %v and %v, want %v", i, k, g, values[i*12+g],
							o.Curves[row.Model][k][g], v)
					}
					want := int32(-1)
					if row.Top != nil {
						want = row.Top[g]
					}
					if top[i*12+g] != want || o.Top[row.Model][g] != int(want) {
						t.Fatalf("sample %d, element %d: class %d and %d, want %d", i, g, top[i*12+g],
							o.Top[row.Model][g], want)
					}
				}
				stat(t, r, st, i, k, row.Curves[k])
			}
		}
	}
}

// stat works the statistics of one curve out in the plainest way.
func stat(t *testing.T, r *Run, st *Stats, i, k int, c []float32) {
	t.Helper()
	weight := func(g int) float64 {
		if w := r.job.Weights; w != nil {
			return w[g] // they sum to 1
		}
		return 1 / float64(len(c))
	}
	sum, lo, hi, worst, bad := 0.0, math.Inf(1), math.Inf(-1), -1, false
	for g, v32 := range c {
		v := float64(v32)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			bad = true
			continue
		}
		sum += v * weight(g)
		lo, hi = min(lo, v), max(hi, v)
		if worst < 0 || (r.metrics[k].Better == "higher" && v < float64(c[worst])) ||
			(r.metrics[k].Better == "lower" && v > float64(c[worst])) {
			worst = g
		}
	}
	mean, sd := sum, 0.0
	for g, v := range c {
		sd += weight(g) * (float64(v) - mean) * (float64(v) - mean)
	}
	sd = math.Sqrt(sd)
	if bad {
		mean, sd = math.NaN(), math.NaN()
	}
	if worst < 0 {
		lo, hi = math.NaN(), math.NaN()
	}
	near := func(a float32, b float64) bool {
		return math.IsNaN(float64(a)) && math.IsNaN(b) || math.Abs(float64(a)-b) <= 1e-6
	}
	if !near(st.Mean[i], mean) || !near(st.SD[i], sd) || !near(st.Min[i], lo) || !near(st.Max[i], hi) ||
		int(st.Worst[i]) != worst {
		t.Fatalf("sample %d, metric %d: %v %v %v %v %v, want %v %v %v %v %v", i, k, st.Mean[i], st.SD[i], st.Min[i],
			st.Max[i], st.Worst[i], mean, sd, lo, hi, worst)
	}
	if a, b := st.Identity[i], c[0]; a != b && !(a != a && b != b) { //nolint:gocritic // NaN
		t.Fatalf("sample %d, metric %d: %v at the identity, want %v", i, k, a, b)
	}
}

func TestOutOfRange(t *testing.T) {
	r := one(t, small())
	for name, f := range map[string]func() error{
		"sample":       func() error { _, err := r.Sample(57); return err },
		"no sample":    func() error { _, err := r.Sample(-1); return err },
		"model":        func() error { _, err := r.Curves(2, 0); return err },
		"metric":       func() error { _, err := r.Curves(0, 4); return err },
		"model of top": func() error { _, err := r.Top(-1); return err },
		"stats":        func() error { _, err := r.Stats(0, -1); return err },
		"input":        func() error { _, err := r.Input(t.Context(), 57, nil); return err },
		"probe":        func() error { _, err := r.Probe(t.Context(), 0, nil, []int{2}); return err },
	} {
		if err := f(); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A shard that is damaged is an error that says so without a path, and what else there is works.
func TestDamagedShard(t *testing.T) {
	m := small()
	dir := filepath.Join(t.TempDir(), "run")
	j := m.write(t, dir)
	hash, err := j.Hash()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "shards-"+hash[:12], "00002.parquet")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, opened(t, Options{}, dir), "run")
	if _, err := r.Curves(0, 0); err == nil || strings.Contains(err.Error(), dir) ||
		!strings.Contains(err.Error(), "00002.parquet") {
		t.Errorf("%v", err)
	}
	if d := r.Document(); d.Samples != 57 || len(d.Slices) != 3 {
		t.Errorf("%+v", d)
	}
	if a, err := r.Aggregate(t.Context(), api.AggregateRequest{}); err != nil || a.N != 53 {
		t.Errorf("%+v, %v", a, err)
	}
}

// An unfinished run fills in while somebody watches; so does a folder that appears later.
func TestWatch(t *testing.T) {
	m := small()
	m.only = []int{0, 3}
	top := t.TempDir()
	dir := filepath.Join(top, "run")
	m.write(t, dir)
	var clock atomic.Int64
	s := opened(t, Options{Now: func() time.Time { return time.Unix(clock.Load(), 0) }}, top)
	s.pace = 10 * time.Millisecond
	later := func() { clock.Add(2) }
	r := run(t, s, "run")
	before := r.Document()
	if before.State.Complete || before.State.Done != 20 || before.State.Total != 57 {
		t.Fatalf("%+v", before.State)
	}
	names, err := r.Samples()
	if err != nil || names.Done != 20 || names.IDs[9] == "" || names.IDs[10] != "" || names.Labels[10] != -1 ||
		names.IDs[30] == "" {
		t.Fatalf("%+v, %v", names, err)
	}
	values, err := r.Curves(1, 0)
	if err != nil || math.IsNaN(float64(values[0])) || !math.IsNaN(float64(values[10*12])) || len(values) != 57*12 {
		t.Fatalf("%v", err)
	}
	if o, err := r.Sample(10); err != nil || o.Done || !math.IsNaN(float64(o.Curves[0][0][0])) || o.Top[0][0] != -1 {
		t.Errorf("%+v, %v", o, err)
	}
	if a, err := r.Aggregate(t.Context(), api.AggregateRequest{}); err != nil || a.N != 18 { // two have failed
		t.Errorf("%+v, %v", a, err)
	}
	tag := r.ETag()
	events := s.Watch(t.Context())

	m.only = []int{0, 1, 3}
	m.write(t, dir)
	later()
	if e := <-events; e.Run == nil || e.Run.ID != "run" || e.Run.State.Done != 30 || e.Run.State.Complete {
		t.Fatalf("%+v", e)
	}
	next := run(t, s, "run")
	if next == r || next.ETag() == tag || next.Document().State.Done != 30 || next.Generation() <= r.Generation() {
		t.Errorf("%+v", next.Document().State)
	}
	if v, err := next.Curves(1, 0); err != nil || math.IsNaN(float64(v[10*12])) || v[0] != values[0] ||
		!math.IsNaN(float64(v[20*12])) {
		t.Errorf("the new rows are not there: %v", err)
	}
	if !math.IsNaN(float64(values[10*12])) {
		t.Error("an array that was handed out has changed")
	}

	m.only = nil
	m.write(t, dir)
	later()
	if e := <-events; e.Run == nil || !e.Run.State.Complete || e.Run.State.Done != 57 {
		t.Fatalf("%+v", e)
	}
	last := run(t, s, "run")
	j := m.job(t)
	for _, sh := range j.Shards() {
		for _, row := range m.rows(j, sh) {
			v, err := last.Curves(row.Model, 2)
			if err != nil {
				t.Fatal(err)
			}
			top, err := last.Top(row.Model)
			if err != nil {
				t.Fatal(err)
			}
			for g, want := range row.Curves[2] {
				if got := v[row.Index*12+g]; got != want && !math.IsNaN(float64(want)) {
					t.Fatalf("sample %d: %v, want %v", row.Index, got, want)
				}
				if row.Top != nil && top[row.Index*12+g] != row.Top[g] {
					t.Fatalf("sample %d: class %v, want %v", row.Index, top[row.Index*12+g], row.Top[g])
				}
			}
		}
	}

	m.seed = 9
	m.write(t, filepath.Join(top, "second"))
	later()
	if e := <-events; e.Run == nil || e.Run.ID != "second" || !e.Run.State.Complete {
		t.Fatalf("%+v", e)
	}
	if len(s.Runs().Runs) != 2 {
		t.Errorf("%+v", s.Runs().Runs)
	}
}

// Two runs side by side: the samples that both have, by name and label.
func TestTogether(t *testing.T) {
	top := t.TempDir()
	a := small()
	b := small()
	b.samples, b.first, b.seed, b.models, b.metrics = 40, 30, 5, []string{"plain", "third"},
		[]string{"margin", "confidence"}
	b.label = func(i int) int { // of three samples another label
		switch {
		case i >= 50 && i < 53:
			return 3
		case i%11 == 10:
			return -1
		}
		return i % 3
	}
	a.write(t, filepath.Join(top, "a"))
	b.write(t, filepath.Join(top, "b"))
	s := opened(t, Options{}, top)
	r := run(t, s, "a+b")
	d := r.Document()
	if d.Samples != 24 || !slices.Equal(d.Metrics, []string{"confidence", "margin"}) ||
		!slices.Equal(r.Models(), []string{"plain (a)", "it's <b>B</b>", "plain (b)", "third"}) {
		t.Fatalf("%d samples, %q, %q", d.Samples, d.Metrics, r.Models())
	}
	if d.ModelList[2].Run != "b" || d.ModelList[2].SHA256 != digest("plain") || len(d.Notes) == 0 || r.Parts() != 2 ||
		d.State.Done != 24 {
		t.Errorf("%+v, %q", d.ModelList, d.Notes)
	}
	names, err := r.Samples()
	if err != nil {
		t.Fatal(err)
	}
	x, y := run(t, s, "a"), run(t, s, "b")
	for i, id := range names.IDs {
		n := i + 30
		if i >= 20 {
			n += 3
		}
		if id != fmt.Sprintf("s%d é<i>", n) {
			t.Fatalf("sample %d is %q", i, id)
		}
		for _, c := range []struct{ model, metric, of, its, at int }{
			{1, 0, 1, 0, n},
			{3, 1, 1, 0, n - 30},
			{2, 0, 0, 1, n - 30},
		} {
			from := []*Run{x, x, y, y}[c.model]
			want, err := from.Curves(c.of, c.its)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Curves(c.model, c.metric)
			if err != nil {
				t.Fatal(err)
			}
			if g, w := got[i*12+4], want[c.at*12+4]; g != w && !math.IsNaN(float64(w)) {
				t.Fatalf("sample %d, model %d, metric %d: %v, want %v", i, c.model, c.metric, g, w)
			}
			top, err := r.Top(c.model)
			if err != nil {
				t.Fatal(err)
			}
			o, err := r.Sample(i)
			if err != nil || o.Top[c.model][4] != int(top[i*12+4]) ||
				float64(o.Curves[c.model][c.metric][4]) != float64(got[i*12+4]) && !math.IsNaN(float64(got[i*12+4])) {
				t.Fatalf("sample %d: %+v, %v", i, o, err)
			}
		}
	}
	if q, err := r.Aggregate(t.Context(), api.AggregateRequest{Pair: []int{0, 2}}); err != nil || q.N != 22 ||
		q.Pair.Orbit.N == 0 {
		t.Errorf("%+v, %v", q, err)
	}
	if again := run(t, s, "a+b"); again != r {
		t.Error("the same pair is made anew")
	}
}

func TestNotTogether(t *testing.T) {
	top := t.TempDir()
	for name, change := range map[string]func(*made){
		"a": func(*made) {}, "group": func(m *made) { m.group = "C12"; m.grid = nil },
		"elements": func(m *made) { m.grid = []int{8} },
		"weights":  func(m *made) { m.weights = true }, "metrics": func(m *made) { m.metrics = []string{"kl"} },
		"samples": func(m *made) { m.first = 1000 },
	} {
		m := small()
		change(&m)
		m.write(t, filepath.Join(top, name))
	}
	s := opened(t, Options{}, top)
	for id, want := range map[string]string{
		"a+group": "over SO(2), the other over C12", "a+elements": "visits 12 elements", "a+weights": "weights",
		"a+metrics": "no metric",
		"a+samples": "no sample", "a+a": "same run",
	} {
		if _, err := s.Run(id); !errors.Is(err, ErrNotTogether) || !errors.Is(err, ErrBad) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// Sets against a plain evaluation of the rows.
func TestSelect(t *testing.T) {
	m := small()
	r := one(t, m)
	names, err := r.Samples()
	if err != nil {
		t.Fatal(err)
	}
	mean, err := r.Stats(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	margin, err := r.Stats(1, 3)
	if err != nil {
		t.Fatal(err)
	}
	top, err := r.Top(1)
	if err != nil {
		t.Fatal(err)
	}
	bits := slice.NewBits(57)
	bits.Add(3)
	bits.Add(56)
	three, two := 3, 2
	for _, c := range []struct {
		name string
		set  api.Set
		want func(i int) bool
	}{
		{"all", api.Set{}, func(int) bool { return true }},
		{"label", api.Set{Label: &two}, func(i int) bool { return names.Labels[i] == 2 }},
		{
			"rule",
			api.Set{Rule: "mean A < 0.5 and label = 2"},
			func(i int) bool { return mean.Mean[i] < 0.5 && names.Labels[i] == 2 },
		},
		{
			"rule of a metric",
			api.Set{Rule: `max "it's <b>B</b>" > 0.9`, Metric: &three},
			func(i int) bool { return margin.Max[i] > 0.9 },
		},
		{
			"predicted",
			api.Set{Rule: "predicted B = label"},
			func(i int) bool { return names.Labels[i] >= 0 && int(top[i*12]) == names.Labels[i] },
		},
		{"tag", api.Set{Rule: "tag = 'blurred' or id ~ 's17 '"}, func(i int) bool { return i%4 == 0 || i == 17 }},
		{"name of a class", api.Set{Rule: `label = "two <b>"`}, func(i int) bool { return names.Labels[i] == 2 }},
		{"indexes", api.Set{Indexes: []int{3, 5}}, func(i int) bool { return i == 3 || i == 5 }},
		{"no indexes", api.Set{Indexes: []int{}}, func(int) bool { return false }},
		{"bits", api.Set{Bits: bits.String()}, bits.Has},
		{"class by name", api.Set{Slice: "one"}, func(i int) bool { return names.Labels[i] == 1 }},
		{
			"and",
			api.Set{And: []api.Set{{Label: &two}, {Rule: "index > 20"}}},
			func(i int) bool { return names.Labels[i] == 2 && i > 20 },
		},
		{
			"or",
			api.Set{Or: []api.Set{{Label: &two}, {Bits: bits.String()}}},
			func(i int) bool { return names.Labels[i] == 2 || bits.Has(i) },
		},
		{"not", api.Set{Not: &api.Set{Label: &two}}, func(i int) bool { return names.Labels[i] != 2 }},
		{"an empty and", api.Set{And: []api.Set{}}, func(int) bool { return true }},
		{"an empty or", api.Set{Or: []api.Set{}}, func(int) bool { return false }},
	} {
		got, err := r.Select(c.set)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i := range 57 {
			if got.Has(i) != c.want(i) {
				t.Errorf("%s: sample %d is in it: %v", c.name, i, got.Has(i))
			}
		}
	}
	deep := api.Set{}
	for range mostDeepSet + 1 {
		deep = api.Set{Not: &deep}
	}
	one, ten := 1, 10
	for _, set := range []api.Set{
		{Label: &two, Rule: "index = 1"},
		{Indexes: []int{57}},
		{Indexes: []int{-1}},
		{Bits: "AA=="},
		{Rule: "mean < 1"},
		{Rule: "index = 1", Metric: &ten},
		{Slice: "nobody"},
		{Or: make([]api.Set, mostSets)},
		deep,
	} {
		if _, err := r.Select(set); !errors.Is(err, ErrBad) {
			t.Errorf("%+v: %v", set, err)
		}
	}
	var e *slice.RuleError
	if _, err := r.Select(api.Set{And: []api.Set{{Label: &one}, {Rule: "index = 1 and size > 3"}}}); !errors.As(err,
		&e) || e.At != 14 || e.Code != slice.CodeField {
		t.Errorf("%v", err)
	}
	// In an aggregate a rule is of the metric that is asked for.
	a, err := r.Aggregate(t.Context(), api.AggregateRequest{Set: api.Set{Rule: "max B > 0.9"}, Metric: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i := range 57 {
		if margin.Max[i] > 0.9 {
			want++
		}
	}
	if a.N != want || want == 0 {
		t.Errorf("%d samples, want %d", a.N, want)
	}
}

func TestSlices(t *testing.T) {
	m := small()
	top := t.TempDir()
	dir := filepath.Join(top, "run")
	m.write(t, dir)
	s := opened(t, Options{}, dir)
	second := opened(t, Options{}, dir) // another server on the same run
	events := s.Watch(t.Context())
	r := run(t, s, "run")
	none, tag, err := r.Slices()
	if err != nil || none.Format != 1 || len(none.Slices) != 0 || none.Slices == nil {
		t.Fatalf("%+v, %v", none, err)
	}
	doc := api.Slices{Format: 1, Slices: []api.Slice{
		{Name: "low", Label: -1, Set: api.Set{Rule: "mean A < 0.5"}, Note: "by <hand>"},
		{Name: "low and two", Label: -1, N: 999, Set: api.Set{And: []api.Set{{Slice: "low"}, {Slice: "two <b>"}}}},
	}}
	kept, next, err := r.PutSlices(doc, tag)
	if err != nil || next == tag || kept.Slices[0].N == 0 || kept.Slices[1].N == 0 ||
		kept.Slices[1].N >= kept.Slices[0].N {
		t.Fatalf("%+v, %s, %v", kept, next, err)
	}
	if e := <-events; e.Slices != "run" {
		t.Errorf("%+v", e)
	}
	got, again, err := run(t, second, "run").Slices()
	if err != nil || again != next || len(got.Slices) != 2 || got.Slices[0].Set.Rule != "mean A < 0.5" ||
		got.Slices[0].Note != "by <hand>" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, _, err := run(t, second, "run").PutSlices(api.Slices{Format: 1}, tag); !errors.Is(err, ErrChanged) {
		t.Errorf("a change of what is not there any more: %v", err)
	}
	b, err := r.Select(api.Set{Slice: "low and two"})
	if err != nil || b.Count() != kept.Slices[1].N {
		t.Errorf("%d samples, %v", b.Count(), err)
	}
	var e *slice.RuleError
	for _, c := range []struct {
		doc  api.Slices
		want string
	}{
		{api.Slices{Format: 2}, "format 2"},
		{api.Slices{Format: 1, Slices: []api.Slice{{Name: ""}}}, "no name"},
		{api.Slices{Format: 1, Slices: []api.Slice{{Name: "a"}, {Name: "a"}}}, "two slices"},
		{api.Slices{Format: 1, Slices: []api.Slice{{Name: "a", Set: api.Set{Rule: "mean A <"}}}}, "character 9"},
		{api.Slices{Format: 1, Slices: []api.Slice{{Name: "a", Set: api.Set{Slice: "a"}}}}, "deep"},
		{api.Slices{
			Format: 1,
			Slices: []api.Slice{
				{Name: "a", Set: api.Set{And: []api.Set{{Slice: "b"}, {Slice: "b"}}}},
				{Name: "b", Set: api.Set{Or: []api.Set{{Slice: "a"}, {Slice: "a"}}}},
			},
		}, "deep"},
		{api.Slices{Format: 1, Slices: make([]api.Slice, slice.MaxSlices+1)}, "1001 slices"},
	} {
		if _, _, err := r.PutSlices(c.doc, next); !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.doc, err)
		} else if strings.Contains(c.want, "character") && !errors.As(err, &e) {
			t.Errorf("%v does not say where", err)
		}
	}
	writeFile(t, filepath.Join(dir, "slices.json"), "{")
	if _, _, err := r.Slices(); err == nil || !strings.Contains(err.Error(), "slices.json") ||
		strings.Contains(err.Error(), top) {
		t.Errorf("%v", err)
	}
	if _, _, err := r.PutSlices(doc, "*"); err == nil {
		t.Error("a damaged file is written over")
	}
}

// Slices of the first of two runs are shown over the samples of both, and kept only where they are the same.
func TestSlicesTogether(t *testing.T) {
	top := t.TempDir()
	a, b, c := small(), small(), small()
	b.first, b.seed = 20, 2
	c.seed = 3
	a.names, c.names = "same", "same"
	for name, m := range map[string]made{"a": a, "b": b, "c": c} {
		m.write(t, filepath.Join(top, name))
	}
	s := opened(t, Options{}, top)
	if _, _, err := run(t, s,
		"a").PutSlices(api.Slices{
		Format: 1,
		Slices: []api.Slice{{Name: "x", Label: -1, Set: api.Set{Indexes: []int{0, 25, 30}}}},
	}, "*"); err != nil {
		t.Fatal(err)
	}
	r := run(t, s, "a+b")
	all, _, err := r.Slices()
	if err != nil || len(all.Slices) != 1 || all.Slices[0].N != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	set, err := r.Select(api.Set{Slice: "x"})
	if err != nil || !slices.Equal(slices.Collect(set.All()), []int{5, 10}) {
		t.Errorf("%v, %v", slices.Collect(set.All()), err)
	}
	if _, _, err := r.PutSlices(api.Slices{Format: 1}, "*"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v", err)
	}
	same := run(t, s, "a+c")
	if same.Len() != 57 || same.parts[0].rows != nil {
		t.Fatal("the samples are the same")
	}
	if _, tag, err := same.Slices(); err != nil {
		t.Error(err)
	} else if _, _, err := same.PutSlices(api.Slices{Format: 1}, tag); err != nil {
		t.Error(err)
	}
}

// Many ask at the same time while the run fills in and little is kept in memory.
func TestManyAtOnce(t *testing.T) {
	m := small()
	m.only = []int{0}
	dir := filepath.Join(t.TempDir(), "run")
	m.write(t, dir)
	s := opened(t, Options{CacheBytes: 6000, Now: steps()}, dir)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for k := w; ; k++ {
				select {
				case <-stop:
					return
				default:
				}
				r, err := s.Run("run")
				if err != nil {
					t.Error(err)
					return
				}
				if a, err := r.Aggregate(t.Context(),
					api.AggregateRequest{Metric: k % 4, Set: api.Set{Rule: "mean A > 0.2"}}); err != nil ||
					len(a.Curves) != 2 {
					t.Error(err)
					return
				}
				if _, err := r.Top(k % 2); err != nil {
					t.Error(err)
				}
				if d := r.Document(); d.State.Done == 0 || r.ETag() == "" {
					t.Errorf("%+v", d.State)
				}
				_ = s.Runs()
			}
		})
	}
	for i := range m.job(t).Shards() {
		m.only = append(m.only, i)
		m.write(t, dir)
	}
	m.only = nil
	m.write(t, dir)
	for {
		if r := run(t, s, "run"); r.Document().State.Complete {
			break
		}
	}
	close(stop)
	wg.Wait()
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	largest, sum := int64(0), int64(0)
	for _, e := range s.cache.entries {
		largest, sum = max(largest, e.size), sum+e.size
	}
	if s.cache.size != sum || sum > 6000+largest {
		t.Errorf("%d bytes are kept and %d counted; the largest value has %d", sum, s.cache.size, largest)
	}
}

func TestScrub(t *testing.T) {
	for in, want := range map[string]string{
		"open /a/b/c.onnx: no such file":          "open c.onnx: no such file",
		`"file":"/home/me/models/m.onnx"`:         `"file":"m.onnx"`,
		"nero audit --data=/x/y z":                "nero audit --data=y z",
		"(/a/b.png), [/c/d.png]":                  "(b.png), [d.png]",
		`C:\Users\me\m.onnx is not there`:         "m.onnx is not there",
		`"C:\\Users\\me\\m.onnx"`:                 `"m.onnx"`,
		"studies/digits/demo.yaml":                "studies/digits/demo.yaml",
		"endtoend/violation/1":                    "endtoend/violation/1",
		"https://example.org/a/b":                 "https://example.org/a/b",
		"1 / 2, and/or, 3/017.png@2,-1":           "1 / 2, and/or, 3/017.png@2,-1",
		"/top.json":                               "/top.json", // there is no folder to speak of
		"a /b/c/d e /f/g/h":                       "a d e h",
		"kernel bilinear: per pixel, x/y":         "kernel bilinear: per pixel, x/y",
		"":                                        "",
		"model=/srv/models/a.onnx,/srv/data/b.gz": "model=a.onnx,b.gz",
	} {
		if got := scrub(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// What goes wrong with a run may be shown to a visitor without where it lies.
func TestClean(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "my runs", "a")
	small().write(t, dir)
	r := run(t, opened(t, Options{}, dir), "a")
	err := r.Clean(fmt.Errorf("%s is %w: open /secret place/of models/model.onnx: no such file", dir, store.ErrBusy))
	if got, want := err.Error(), "a is in use by another process: open model.onnx: no such file"; got != want ||
		!errors.Is(err, store.ErrBusy) {
		t.Errorf("%q, want %q", got, want)
	}
	if r.Clean(nil) != nil {
		t.Error("an error of nothing")
	}
}

// Two runs side by side grow with each of them.
func TestTogetherFillsIn(t *testing.T) {
	top := t.TempDir()
	a, b := small(), small()
	b.seed, b.only = 2, []int{0}
	a.write(t, filepath.Join(top, "a"))
	b.write(t, filepath.Join(top, "b"))
	s := opened(t, Options{Now: steps()}, top)
	r := run(t, s, "a+b")
	if d := r.Document(); d.Samples != 10 || d.State.Done != 10 || d.State.Complete {
		t.Errorf("%d samples, %+v", d.Samples, d.State)
	}
	b.only = nil
	b.write(t, filepath.Join(top, "b"))
	next := run(t, s, "a+b")
	d := next.Document()
	if d.Samples != 57 || d.State.Done != 57 || !d.State.Complete || next.ETag() == r.ETag() ||
		r.Document().Samples != 10 {
		t.Errorf("%d samples, %+v", d.Samples, d.State)
	}
	v, err := next.Curves(2, 0)
	if err != nil || len(v) != 57*12 {
		t.Errorf("%d values, %v", len(v), err)
	}
	if v, err := r.Curves(2, 0); err != nil || len(v) != 10*12 {
		t.Errorf("the older one has %d values, %v", len(v), err)
	}
}

// What Warm has read is not read again, and of several runs none is read before somebody asks for it.
func TestWarm(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	m := small()
	m.write(t, one)
	m.seed = 2
	m.write(t, two)
	read := func(paths ...string) bool {
		s := opened(t, Options{}, paths...)
		s.Warm()
		s.background.Wait()
		r := s.of(s.sources[0])
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.document != nil && s.cache.size > 0
	}
	if !read(one) {
		t.Error("a single run was not read")
	}
	if read(one, two) {
		t.Error("one of two runs was read, and nobody had asked for it")
	}
}

package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nero/audit"
	"nero/audit/document"
	"nero/present/sheet"
	"nero/run/trend"
)

var update = flag.Bool("update", false, "write golden files")

// made is an audit of one model: largest errors of each input over three exact elements, means of half of them.
type made struct {
	model, data, date string
	threshold         float64
	from              int // number of the first input
	errors            []float64
}

func (m made) document() *document.Audit {
	if m.threshold == 0 {
		m.threshold = 1e-4
	}
	set := document.Set{
		Name: "exact elements", Exact: true, Verdict: document.Failed, Cause: string(audit.CauseViolation),
		Inputs:   len(m.errors),
		PerInput: &document.PerInput{},
	}
	for _, a := range []document.Number{90, 180, 270} {
		set.Profile = append(set.Profile, document.Point{Coordinates: []document.Number{a}})
	}
	for i, x := range m.errors {
		set.PerInput.Samples = append(set.PerInput.Samples, strconv.Itoa(m.from+i))
		set.PerInput.Largest = append(set.PerInput.Largest, document.Number(x))
		set.PerInput.Mean = append(set.PerInput.Mean, document.Number(x/2))
	}
	return &document.Audit{
		Format: document.Format, Verdict: document.Failed, Exit: 1, Models: []document.Model{{
			Model: m.model, Verdict: document.Failed,
			Claim:  document.Claim{Group: "C4", Inputs: len(m.errors), Output: "scores 3"},
			Policy: document.Policy{Threshold: document.Number(m.threshold), Confidence: 0.95},
			Checks: []document.Check{{Check: "lattice", Status: document.Tested, Sets: []document.Set{set}}},
			About: []document.Fact{
				{Name: "file", Value: "models/" + m.model + ".onnx"},
				{Name: "sha256", Value: digestOf(m.model)},
				{Name: "date", Value: m.date},
				{Name: "engine", Value: "wasm"},
			},
			Basis: []document.Fact{{Name: "data", Value: "sha256 " + digestOf(m.data)}, {
				Name:  "border",
				Value: "zero",
			}},
		}},
	}
}

// put writes an audit into a folder; files of one call of the clock have that time.
func put(t *testing.T, dir, name string, minutes int, a *document.Audit) {
	t.Helper()
	var b bytes.Buffer
	if err := document.Write(&b, a); err != nil {
		t.Fatal(err)
	}
	write(t, dir, name, minutes, b.Bytes())
}

func write(t *testing.T, dir, name string, minutes int, b []byte) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, b, 0o600); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, 1, 2, 3, minutes, 0, 0, time.UTC)
	if err := os.Chtimes(at, when, when); err != nil {
		t.Fatal(err)
	}
}

// spread are n errors about a size, all different, the same for one seed.
func spread(seed uint64, n int, size float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = size * math.Exp(0.5*r.NormFloat64())
	}
	return x
}

// near are errors that differ a little from others.
func near(seed uint64, x []float64, factor float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	y := slices.Clone(x)
	for i := range y {
		y[i] *= factor * math.Exp(0.02*r.NormFloat64())
	}
	return y
}

func options(t *testing.T, by string) Options {
	t.Helper()
	b, err := ParseBy(by)
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		By: b, Reference: first, Alarm: 0.05, Allow: 0.1, Rate: 0.05, Limit: math.NaN(), Workers: 2, Folder: "audits",
	}
}

func look(t *testing.T, dir string, o Options) *Report {
	t.Helper()
	f, r := found(t, dir), (*Report)(nil)
	r, err := Judge(f.Releases, o)
	if err != nil {
		t.Fatal(err)
	}
	r.Audits, r.Runs, r.Skipped = f.Audits, f.Runs, append(r.Skipped, f.Skipped...)
	return r
}

func found(t *testing.T, dir string) *Found {
	t.Helper()
	r := &Reader{Folder: dir, Workers: 2, Began: func(int) {}, Step: func(int) {}}
	f, err := r.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// series finds a line by its metric and kind of evidence.
func (r *Report) series(t *testing.T, metric, evidence string) *Series {
	t.Helper()
	var out *Series
	for _, s := range r.Series {
		if s.Metric == metric && s.Evidence == evidence {
			if out != nil {
				t.Fatalf("two series of %s, %s: %v and %v", metric, evidence, out.Apart, s.Apart)
			}
			out = s
		}
	}
	if out == nil {
		t.Fatalf("no series of %s, %s among %d", metric, evidence, len(r.Series))
	}
	return out
}

// twelve are twelve releases of which the seventh is the first that is worse.
func twelve(t *testing.T, dir string, name func(k int) string) {
	t.Helper()
	base := spread(1, 60, 0.01)
	for k := 1; k <= 12; k++ {
		size := 1.0
		if k >= 7 {
			size = 1.5
		}
		put(t, dir, name(k), k, made{
			model: fmt.Sprintf("net-v%d", k), data: "d", date: "2026-01-02",
			errors: near(uint64(k), base, size),
		}.document())
	}
}

func TestBreakAtSeven(t *testing.T) {
	for _, by := range []string{"time", "version"} {
		dir := t.TempDir()
		twelve(t, dir, func(k int) string { return fmt.Sprintf("r%02d/audit.json", k) })
		r := look(t, dir, options(t, by))
		if r.State != trend.Alarm || r.Good() || len(r.Series) != 2 || r.Audits != 12 {
			t.Fatalf("by %s: %s, %d series, %d audits", by, r.Sentence, len(r.Series), r.Audits)
		}
		s := r.series(t, largest, SameInputs)
		if f := s.FirstAlarm; f == nil || f.Place != 7 || f.Of != 12 || f.N != 60 || len(s.Alarms) != 6 ||
			f.Command != "nero compare audits/r06/audit.json audits/r07/audit.json" {
			t.Errorf("by %s: %+v, alarms %v", by, f, s.Alarms)
		}
		if !slices.ContainsFunc(s.Changed, func(c string) bool { return strings.HasPrefix(c, "model: ") }) {
			t.Errorf("by %s: what changed: %v", by, s.Changed)
		}
		for i, p := range s.Points {
			if want := map[bool]trend.State{true: trend.Alarm, false: trend.OK}[i >= 6]; i > 0 && p.State != want {
				t.Errorf("by %s: release %s is %s (%s), want %s", by, p.Release, p.State, p.Why, want)
			}
		}
	}
}

// A break that is mended is no alarm any more, but the first alarm stays told.
func TestMended(t *testing.T) {
	dir, base := t.TempDir(), spread(1, 60, 0.01)
	for k, size := range []float64{1, 1, 2, 1, 0.3} {
		put(t, dir, fmt.Sprintf("%d.json", k), k, made{model: fmt.Sprintf("net-v%d", k), errors: near(uint64(k), base,
			size)}.document())
	}
	r := look(t, dir, options(t, "version"))
	s := r.series(t, largest, SameInputs)
	if !strings.HasPrefix(r.Sentence, "No alarm any more (there was one at release 2): 2 of 2 lines improved") {
		t.Errorf("it says %q", r.Sentence)
	}
	if s.State != trend.Improved || !r.Good() || s.FirstAlarm == nil || s.FirstAlarm.Release != "2" ||
		!slices.Equal(s.Alarms, []string{"2"}) {
		t.Errorf("%s: %+v", s.State, s.FirstAlarm)
	}
}

// The same audit many times is no evidence, as bytes that are the same or as audits of other days.
func TestCopies(t *testing.T) {
	base := spread(1, 60, 0.01)
	for _, c := range []struct {
		by, date string
		points   int
		state    trend.State
	}{{"time", "2026-01-02", 1, trend.Open}, {"version", "2026-01-02", 50, trend.OK}, {
		"time", "2026-01-%02d", 31,
		trend.OK,
	}} {
		dir := t.TempDir()
		for k := range 50 {
			m := made{model: "net", data: "d", date: c.date, errors: base}
			if strings.Contains(m.date, "%") {
				m.date = fmt.Sprintf(m.date, 1+k%31)
			}
			put(t, dir, fmt.Sprintf("audit-v%d.json", k), k, m.document())
		}
		r := look(t, dir, options(t, c.by))
		for _, s := range r.Series {
			if len(s.Points) != c.points || s.State != c.state || s.FirstAlarm != nil || s.Evidence != SameInputs {
				t.Errorf("by %s, %s: %d releases, %s %s", c.by, c.date, len(s.Points), s.State, s.Why)
			}
		}
		if r.Copies != 50-c.points || !r.Good() {
			t.Errorf("by %s: %d copies", c.by, r.Copies)
		}
	}
}

// What files are called changes nothing but their names.
func TestShuffledNames(t *testing.T) {
	text := func(names []int) string {
		dir := t.TempDir()
		twelve(t, dir, func(k int) string { return fmt.Sprintf("%d.json", names[k-1]) })
		r := look(t, dir, options(t, "time"))
		for _, s := range r.Series {
			s.FirstAlarm.Command = ""
			for i := range s.Points {
				s.Points[i].File = ""
			}
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := text([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	for seed := range uint64(3) {
		if got := text(rand.New(rand.NewPCG(seed, 1)).Perm(12)); got != want {
			t.Errorf("shuffled:\n%s\nwant\n%s", got, want)
		}
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	dir, base := t.TempDir(), spread(1, 60, 0.01)
	var b bytes.Buffer
	if err := document.Write(&b, (made{model: "net", errors: base}).document()); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	write(t, dir, "good/audit.json", 1, whole)
	write(t, dir, "cut/audit.json", 1, whole[:len(whole)/2])
	write(t, dir, "changed.json", 1, bytes.Replace(whole, []byte("0.01"), []byte("0.02"), 1))
	write(t, dir, "empty/audit.json", 1, nil)
	write(t, dir, "package.json", 1, []byte(`{"name": "x"}`))
	write(t, dir, ".hidden/audit.json", 1, []byte(`{`))
	write(t, dir, "notes.txt", 1, []byte("x"))
	write(t, dir, "run/job.json", 1, []byte("{}"))
	failed := made{model: "net", errors: base}.document()
	failed.Models[0].Error, failed.Models[0].Verdict, failed.Verdict = "no data", document.CouldNotRun,
		document.CouldNotRun
	put(t, dir, "failed.json", 1, failed)
	old := made{model: "net", errors: base}.document()
	old.Models[0].Checks[0].Sets[0].PerInput = nil
	put(t, dir, "old.json", 1, old)
	f := found(t, dir)
	var names []string
	for _, s := range f.Skipped {
		names = append(names, s.File)
		if s.Why == "" || strings.Contains(s.Why, dir) {
			t.Errorf("%s: %s", s.File, s.Why)
		}
	}
	want := []string{"changed.json", "cut/audit.json", "empty/audit.json", "failed.json", "old.json", "run"}
	if !slices.Equal(names, want) || len(f.Releases) != 1 || f.Audits != 1 {
		t.Errorf("left out %v, want %v; %d releases", names, want, len(f.Releases))
	}
}

// Another question is another series, with what differs.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	twelve(t, dir, func(k int) string { return fmt.Sprintf("%d.json", k) })
	put(t, dir, "other.json", 20, made{
		model: "net-v13", data: "d", date: "2026-01-03", threshold: 1e-3, errors: spread(1, 60, 0.01),
	}.document())
	r := look(t, dir, options(t, "time"))
	if len(r.Series) != 4 {
		t.Fatalf("%d series", len(r.Series))
	}
	for _, s := range r.Series {
		if len(s.Points) == 1 != (len(s.Apart) > 0) || len(s.Apart) > 0 && !slices.Equal(s.Apart,
			[]string{"threshold is 0.001 and not 0.0001"}) {
			t.Errorf("%d releases: %v", len(s.Points), s.Apart)
		}
	}
}

func TestReferences(t *testing.T) {
	dir, base := t.TempDir(), spread(1, 60, 0.01)
	for k, size := range []float64{4, 2, 1, 2} {
		put(t, dir, fmt.Sprintf("%d.json", k), k, made{
			model: fmt.Sprintf("net-v%d", k+1), errors: near(uint64(k), base, size),
		}.document())
	}
	o := options(t, "version")
	for ref, want := range map[string]trend.State{
		"first": trend.Improved, "best": trend.Alarm, "3": trend.Alarm, "net-v2": trend.OK, "net-v3.onnx": trend.Alarm,
		"1.json": trend.OK,
	} {
		o.Reference = ref
		if s := look(t, dir, o).series(t, largest, SameInputs); s.State != want {
			t.Errorf("against %s: %s %s, want %s", ref, s.State, s.Why, want)
		}
	}
	o.Reference = "net-v9"
	if _, err := Judge(found(t, dir).Releases, o); err == nil ||
		!strings.Contains(err.Error(), `no release is called "net-v9"`) {
		t.Errorf("a reference that is none: %v", err)
	}
	o.Reference, o.Metrics = first, []string{"median"}
	if _, err := Judge(found(t, dir).Releases, o); err == nil || !strings.Contains(err.Error(),
		"there are largest, mean") {
		t.Errorf("a metric that is none: %v", err)
	}
	o.Metrics = []string{"mean"}
	if r := look(t, dir, o); len(r.Series) != 1 || float64(r.Series[0].Level) != 0.05 {
		t.Errorf("one metric: %d series", len(r.Series))
	}
}

// All levels of a series are together no more than its own, also where each release is the best so far: with k releases
// before it one of them was chosen, and the k-th question has 6/(π²k²) of the level.
func TestLevelsOfBest(t *testing.T) {
	dir, base := t.TempDir(), spread(1, 60, 0.01)
	for k := range 9 {
		put(t, dir, fmt.Sprintf("%d.json", k), k, made{
			model: fmt.Sprintf("net-v%d", k+1), errors: near(uint64(k), base, 10-float64(k)),
		}.document())
	}
	o := options(t, "version")
	o.Reference = best
	s := look(t, dir, o).series(t, largest, SameInputs)
	sum := 0.0
	for k, p := range s.Points[1:] {
		n := float64(k + 1)
		if want := float64(s.Level) * 6 / (math.Pi * math.Pi * n * n) / n; p.Level == nil ||
			math.Abs(float64(*p.Level)/want-1) > 1e-12 {
			t.Fatalf("release %d: level %v, want %g", k+2, p.Level, want)
		}
		sum += n * float64(*p.Level) // each of the n before it might have been the best
	}
	if !(sum <= float64(s.Level)) {
		t.Errorf("levels of %g together, want at most %g", sum, s.Level)
	}
}

// New inputs each time add up; the same ones do not, whatever the release.
func TestNewInputs(t *testing.T) {
	monthly := func(dir string, names bool, rate func(k int) float64) {
		r := rand.New(rand.NewPCG(9, 9))
		for k := range 10 {
			m := made{model: fmt.Sprintf("net-v%d", k), data: fmt.Sprint("d", k), errors: make([]float64, 40)}
			if names {
				m.from = 40 * k
			}
			for i := range m.errors {
				m.errors[i] = 1e-6
				if r.Float64() < rate(k) {
					m.errors[i] = 0.1
				}
			}
			put(t, dir, fmt.Sprintf("%d.json", k), k, m.document())
		}
	}
	broken := func(k int) float64 {
		if k < 6 {
			return 0.01
		}
		return 0.4
	}
	o := options(t, "version")
	dir := t.TempDir()
	monthly(dir, true, broken)
	s := look(t, dir, o).series(t, largest, NewInputs)
	if s.State != trend.Alarm || s.FirstAlarm.Place < 7 || s.FirstAlarm.Place > 8 || len(s.LogE) != 10 {
		t.Errorf("%s: %+v", s.State, s.FirstAlarm)
	}
	dir = t.TempDir()
	monthly(dir, true, func(int) float64 { return 0 })
	if s := look(t, dir, o).series(t, largest, NewInputs); s.State != trend.OK || s.Points[9].N != 40 {
		t.Errorf("clean: %s %s, %+v", s.State, s.Why, s.Points[9])
	}
	// Names that come again may be the same objects.
	dir = t.TempDir()
	monthly(dir, false, broken)
	s = look(t, dir, o).series(t, largest, NewInputs)
	if s.State != trend.Open || s.Points[9].N != 0 || s.Points[9].Repeated != 40 || !strings.Contains(s.Why,
		"no new evidence") {
		t.Errorf("the same names: %s %s, %+v", s.State, s.Why, s.Points[9])
	}
	o.Fresh = true
	if s := look(t, dir, o).series(t, largest, NewInputs); s.State != trend.Alarm {
		t.Errorf("the same names of new objects: %s %s", s.State, s.Why)
	}
}

// A watch that is stopped anywhere goes on without the files that it has read, and ends as one that never stopped.
func TestGoesOn(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	var all []made
	for k := range 9 {
		m := made{model: fmt.Sprintf("net-v%d", k), data: fmt.Sprint("d", k), from: 30 * k, errors: make([]float64, 30)}
		for i := range m.errors {
			m.errors[i] = 1e-6
			if r.Float64() < 0.02+0.3*float64(k/6) {
				m.errors[i] = 0.1
			}
		}
		all = append(all, m)
	}
	report := func(o Options, from, to int) *Report {
		dir := t.TempDir()
		for k := from; k < to; k++ {
			put(t, dir, fmt.Sprintf("%d.json", k), k, all[k].document())
		}
		var b bytes.Buffer
		if err := sheet.JSON(&b, look(t, dir, o)); err != nil {
			t.Fatal(err)
		}
		read, err := ReadReport("watch.json", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	o := options(t, "version")
	text := func(r *Report) string {
		s := r.series(t, largest, NewInputs)
		s.Changed, s.FirstAlarm.Command = nil, "" // of the release before, whose file may be gone
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := text(report(o, 0, 9))
	for _, cut := range [][2]int{{6, 6}, {8, 8}, {5, 3}, {4, 0}} { // stopped after, and files that are still there from
		on := o
		on.Before = report(o, 0, cut[0])
		if got := text(report(on, cut[1], 9)); got != want {
			t.Errorf("stopped after %d:\n%s\nwant\n%s", cut[0], got, want)
		}
	}
	o.Before = report(o, 0, 4)
	for range 2 { // what was read is not used up
		if got := text(report(o, 0, 9)); got != want {
			t.Errorf("gone on from once more:\n%s\nwant\n%s", got, want)
		}
	}
	o.Rate = 0.1
	if _, err := Judge(nil, o); err == nil || !strings.Contains(err.Error(), "judged with a rate of 0.05") {
		t.Errorf("another rate: %v", err)
	}
}

func FuzzReadReport(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "watch.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format":1,"series":[null]}`))
	f.Add([]byte(`{"format":2}`))
	f.Add([]byte(`{"format":1,"series":[{"evidence":"new inputs","points":[{}],"e_values":[1]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ReadReport("f", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f: ") {
				t.Errorf("%v", err)
			}
			return
		}
		o := Options{
			By: Orders()[0], Reference: first, Alarm: 0.05, Rate: float64(r.Rate), Limit: float64(r.Limit),
			Before: r,
		}
		if _, err := Judge(nil, o); err != nil && !strings.Contains(err.Error(), "say the same") {
			t.Errorf("%v", err)
		}
	})
}

// Models that one file holds are told apart by name; releases of one model may be called anything.
func TestSeveralModels(t *testing.T) {
	dir, base := t.TempDir(), spread(1, 60, 0.01)
	for k := range 3 {
		a := made{model: "a", date: fmt.Sprintf("2026-01-%02d", k+1), errors: near(uint64(k), base, 1)}.document()
		b := made{model: "b", date: a.Models[0].Fact("date"), errors: near(uint64(k), base, 1+float64(k))}.document()
		a.Models = append(a.Models, b.Models...)
		put(t, dir, fmt.Sprintf("%d.json", k), k, a)
	}
	r := look(t, dir, options(t, "time"))
	for _, s := range r.Series {
		want := map[string]trend.State{"a": trend.OK, "b": trend.Alarm}[s.Model]
		if s.State != want || len(s.Points) != 3 || float64(s.Level) != 0.025 {
			t.Errorf("%s %s: %s, %d releases at %g", s.Model, s.Metric, s.State, len(s.Points), float64(s.Level))
		}
	}
	if len(r.Series) != 4 {
		t.Errorf("%d series", len(r.Series))
	}
}

// An error that is not finite any more is an alarm; rounding is none.
func TestNotFiniteAndRounding(t *testing.T) {
	base := spread(1, 60, 0.01)
	hole := slices.Clone(base)
	hole[5] = math.NaN()
	dir := t.TempDir()
	put(t, dir, "1.json", 1, made{model: "net-v1", errors: base}.document())
	put(t, dir, "2.json", 2, made{model: "net-v2", errors: hole}.document())
	s := look(t, dir, options(t, "version")).series(t, largest, SameInputs)
	if s.State != trend.Alarm || !strings.Contains(s.FirstAlarm.Message,
		"1 object is without a finite number that had one, first 5") {
		t.Errorf("%s: %+v", s.State, s.FirstAlarm)
	}
	dir = t.TempDir()
	for k := 1; k <= 2; k++ {
		a := made{model: fmt.Sprintf("net-v%d", k), errors: near(1, spread(1, 60, 1e-7), float64(k))}.document()
		a.Models[0].Checks[0].Sets[0].Cause = "rounding"
		a.Models[0].Checks[0].Sets[0].Rounding = 1e-6
		a.Models[0].Checks[0].Sets[0].Relative.Max = 4e-7
		put(t, dir, fmt.Sprintf("%d.json", k), k, a)
	}
	if s := look(t, dir, options(t, "version")).series(t, largest, SameInputs); s.State != trend.OK {
		t.Errorf("twice a rounding: %s %s", s.State, s.Why)
	}
}

// An error that never was finite is compared with nothing, and passes nothing; what a clean twin has passes, and a
// release that has a number at last is compared as any other.
func TestNeverFinite(t *testing.T) {
	base := spread(1, 60, 0.01)
	holes := func(at ...int) []float64 {
		x := near(3, base, 1)
		for _, i := range at {
			x[i] = math.Inf(1)
			if i%2 == 0 {
				x[i] = math.NaN()
			}
		}
		return x
	}
	whole := make([]int, 60)
	for i := range whole {
		whole[i] = i
	}
	for name, c := range map[string]struct {
		releases [][]float64
		state    trend.State
		says     string
	}{
		"a clean twin": {[][]float64{base, holes()}, trend.OK, "No alarm: 2 lines, and no last release is worse"},
		"never finite": {
			[][]float64{holes(5, 8), holes(5, 8)},
			NotFinite,
			"No alarm, but 2 of 2 lines end with a release in which errors are not finite, and such an error passes " +
				"nothing.",
		},
		"none is finite": {
			[][]float64{holes(whole...), holes(whole...)},
			NotFinite,
			"No alarm, but 2 of 2 lines",
		},
		"the reference alone": {[][]float64{holes(5)}, NotFinite, "No alarm, but 2 of 2 lines"},
		"it became finite":    {[][]float64{holes(5, 8), holes()}, trend.OK, "No alarm: 2 lines"},
		"finite no more":      {[][]float64{holes(5), holes(5, 8)}, trend.Alarm, "ALARM in 2 of 2 lines"},
		"much better otherwise": {
			[][]float64{holes(5), append(near(4, base, 0.1)[:5], holes(5)[5:]...)},
			NotFinite,
			"",
		},
	} {
		dir := t.TempDir()
		for k, x := range c.releases {
			put(t, dir, fmt.Sprintf("%d.json", k), k, made{model: fmt.Sprintf("net-v%d", k), errors: x}.document())
		}
		r := look(t, dir, options(t, "version"))
		s := r.series(t, largest, SameInputs)
		if s.State != c.state || r.State != c.state || r.Good() != (c.state == trend.OK) ||
			!strings.HasPrefix(r.Sentence, c.says) {
			t.Errorf("%s: %s, %s %q: %s", name, r.State, s.State, s.Why, r.Sentence)
		}
		if c.state == NotFinite && (!strings.Contains(s.Why, "without a finite error, first ") || s.FirstAlarm != nil) {
			t.Errorf("%s: %q", name, s.Why)
		}
		for _, f := range Forms() {
			var b bytes.Buffer
			if err := f.Write(&b, r); err != nil {
				t.Fatal(err)
			}
			if text := b.String(); c.state == NotFinite && !strings.Contains(text, "not finite") {
				t.Errorf("%s as %s: %s", name, f.Name, text)
			}
		}
	}
}

// Evidence of a report that calls its logarithms e_values, as older ones do, goes on.
func TestGoesOnFromOlderReports(t *testing.T) {
	dir := t.TempDir()
	for k := range 3 {
		put(t, dir, fmt.Sprintf("%d.json", k), k, healthy(k, true).document())
	}
	var b bytes.Buffer
	if err := sheet.JSON(&b, look(t, dir, options(t, "version"))); err != nil {
		t.Fatal(err)
	}
	old := bytes.ReplaceAll(b.Bytes(), []byte(`"log_e_values"`), []byte(`"e_values"`))
	if bytes.Equal(old, b.Bytes()) {
		t.Fatal("there are no logarithms of evidence")
	}
	var kept [2]*Series
	for i, text := range [][]byte{b.Bytes(), old} {
		r, err := ReadReport("watch.json", text)
		if err != nil {
			t.Fatal(err)
		}
		kept[i] = r.series(t, largest, NewInputs)
	}
	if !reflect.DeepEqual(kept[0].LogE, kept[1].LogE) || len(kept[1].LogE) != 3 {
		t.Errorf("%v and %v", kept[0].LogE, kept[1].LogE)
	}
}

func TestOrders(t *testing.T) {
	for _, c := range []struct{ by, model, file, want string }{
		{"version", "digits-v7.onnx", "x/audit.json", "7"},
		{"version", "net.onnx", "audits/1.10.2/audit.json", "1.10.2"},
		{"version", "resnet50.onnx", "release-3.json", "3"},
		{"version", "resnet50.onnx", "audit.json", ""},
		{"version", "mnist-12-int8.onnx", "v2/audit.json", "2"},
		{"version", "net.onnx", "99999999999999999999/audit.json", ""},
		{"epoch", "net.onnx", "epoch-12.json", "12"},
		{"epoch", "step_1200.onnx", "a.json", "1200"},
		{"epoch", "net.onnx", "ckpt=8/audit.json", "8"},
		{"epoch", "net.onnx", "audit.json", ""},
	} {
		by, err := ParseBy(c.by)
		if err != nil {
			t.Fatal(err)
		}
		_, label, err := by.place(&Release{ModelFile: c.model, File: c.file, Model: strings.TrimSuffix(c.model,
			".onnx")})
		if label != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %q, %v", c, label, err)
		}
	}
	a, b := &Release{File: "v1.10.json"}, &Release{File: "v1.9.json"}
	by, err := ParseBy("version")
	if err != nil {
		t.Fatal(err)
	}
	if in, _, _ := ordered([]*Release{a, b}, by); in[0] != b {
		t.Error("1.9 comes after 1.10")
	}
	if _, err := ParseBy("verson"); err == nil || !strings.Contains(err.Error(), "did you mean version?") {
		t.Error(err)
	}
}

// TestForms holds what people and programs read against files.
func TestForms(t *testing.T) {
	dir := t.TempDir()
	twelve(t, dir, func(k int) string { return fmt.Sprintf("r%02d/audit.json", k) })
	r := rand.New(rand.NewPCG(1, 1))
	for k := range 3 {
		m := made{
			model: fmt.Sprint("other|<b>-v", k), data: fmt.Sprint("d", k), from: 30 * k, threshold: 1e-3,
			errors: make([]float64, 30),
		}
		for i := range m.errors {
			m.errors[i] = 0.002 * r.Float64()
		}
		put(t, dir, fmt.Sprintf("new/%d.json", k), 30+k, m.document())
	}
	write(t, dir, "cut/audit.json", 1, []byte(`{"format": 1, "verdict`))
	o := options(t, "version")
	report := look(t, dir, o)
	for _, f := range Forms() {
		var b bytes.Buffer
		if err := f.Write(&b, report); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join("testdata", Base+f.Ending)
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s differs; -update writes it:\n%s", name, b.Bytes())
		}
		if s := b.String(); strings.Contains(s, dir) || f.Name == "html" && strings.Contains(s, "<b>") {
			t.Errorf("%s holds what it must not", f.Name)
		}
	}
	one := options(t, "version")
	one.Workers = 1
	var x, y bytes.Buffer
	if err := sheet.JSON(&x, report); err != nil {
		t.Fatal(err)
	}
	if err := sheet.JSON(&y, look(t, dir, one)); err != nil || x.String() != y.String() {
		t.Error("the number of workers moves a byte")
	}
}

// A training is told by its course, in one word, and each has a twin for which another word is right.
func TestCourse(t *testing.T) {
	base := spread(1, 64, 1)
	const limit = 0.01
	falling := []float64{1, 0.8, 0.5, 0.4, 0.2, 0.1, 0.05, 0.03}
	growing := slices.Clone(falling)
	slices.Reverse(growing)
	for name, c := range map[string]struct {
		sizes []float64
		want  Progress
		says  string
	}{
		"learned":          {falling, Learned, "is still above the limit of 0.01"},
		"learned for good": {append(slices.Clone(falling), 0.002), Learned, "is now within the limit of 0.01"},
		"lost":             {growing, Lost, "beyond the limit of 0.01"},
		"kept":             {[]float64{0.001, 0.002, 0.001, 0.002, 0.001}, Kept, "at each of 5 checkpoints"},
		"kept, growing":    {[]float64{1e-4, 2e-4, 4e-4, 6e-4, 1e-3, 2e-3}, Kept, "within the limit"},
		"up and down":      {[]float64{0.5, 0.6, 0.5, 0.6, 0.5, 0.6}, Unclear, "is not shown"},
		"few":              {falling[:3], Unclear, "is not shown"},
		"lost at the end":  {[]float64{0.001, 0.001, 0.5}, Lost, "from 0.0011"},
		"one":              {[]float64{0.001}, Unclear, "is not shown"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for k, size := range c.sizes {
				put(t, dir, fmt.Sprintf("%d.json", k), 50-k, made{
					model: fmt.Sprintf("epoch-%d", 10*k), data: "d", threshold: limit,
					errors: near(uint64(k), base, size),
				}.document())
			}
			r := look(t, dir, options(t, "epoch"))
			s := r.series(t, largest, SameInputs)
			if s.Course == nil || s.Course.Word != c.want || !strings.Contains(s.Course.Sentence, c.says) ||
				!strings.HasPrefix(r.Sentence, s.Course.Sentence) {
				t.Errorf("%+v; the answer: %s", s.Course, r.Sentence)
			}
			if begun := strings.HasPrefix(r.Sentence, "The symmetry is being learned: "); begun != (name == "learned") {
				t.Errorf("what is still above the limit is not learned yet: %s", r.Sentence)
			}
			byTime := options(t, "time")
			if s := look(t, dir, byTime).series(t, largest, SameInputs); s.Course != nil {
				t.Errorf("releases have a course: %+v", s.Course)
			}
			byTime.Training = true
			if s := look(t, dir, byTime).series(t, largest, SameInputs); s.Course == nil {
				t.Error("a training has none")
			}
		})
	}
	// An error that is none any more, and one that is not finite, are not within any limit.
	dir := t.TempDir()
	for k := range 5 {
		x := near(uint64(k), base, 0.001)
		if k == 4 {
			x[3] = math.NaN()
		}
		put(t, dir, fmt.Sprintf("%d.json", k), k, made{
			model: fmt.Sprintf("epoch-%d", k), data: "d", threshold: limit, errors: x,
		}.document())
	}
	if s := look(t, dir, options(t, "epoch")).series(t, largest, SameInputs); s.Course.Word != Unclear ||
		s.Course.Within != 4 || !strings.HasSuffix(s.Course.Sentence,
		"; 1 of 64 answers of the last one are not finite.") {
		t.Errorf("a checkpoint with NaN: %+v", s.Course)
	}
}

// Any file of audits is read or refused, and what is read can be judged.
func FuzzAudit(f *testing.F) {
	seed := func(a *document.Audit) []byte {
		var b bytes.Buffer
		if err := document.Write(&b, a); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	whole := made{model: "net-v7", data: "d", date: "2026-01-02", errors: spread(1, 6, 0.01)}.document()
	f.Add("a/audit.json", seed(whole))
	odd := made{model: "net", data: "d", date: "20260102", errors: []float64{0, math.NaN(), 1e300}}.document()
	odd.Models = append(odd.Models, odd.Models[0])
	f.Add("epoch-99999999999999999999/audit.json", seed(odd))
	f.Add("audit.json", []byte(`{"format":1,"verdict":"PASS","models":[{"checks":[{"sets":[{}]}]}]}`))
	f.Add("x.json", []byte("{}"))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		dir := t.TempDir()
		at := filepath.Join(dir, "audit.json")
		if err := os.WriteFile(at, b, 0o600); err != nil {
			t.Skip(err)
		}
		r := &Reader{Folder: dir, Workers: 1}
		got := r.one(&file{name: name, at: at, size: int64(len(b)), written: time.Unix(1, 0)})
		for _, x := range got.releases {
			for i := range x.Lines {
				if l := &x.Lines[i]; len(l.Objects) != len(l.Values) {
					t.Fatalf("%d objects with %d values", len(l.Objects), len(l.Values))
				}
			}
		}
		for _, by := range Orders() {
			o := Options{
				By: by, Reference: first, Alarm: 0.05, Rate: 0.05, Limit: math.NaN(), Allow: 0.1, Training: true,
			}
			again := slices.Clone(got.releases)
			for i := range got.releases {
				x := *got.releases[i]
				x.Content += "+"
				again = append(again, &x)
			}
			report, err := Judge(again, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, form := range Forms() {
				if err := form.Write(io.Discard, report); err != nil {
					t.Fatalf("%s: %v", form.Name, err)
				}
			}
		}
	})
}

// What is called the first alarm is the first of all lines, whatever their order in the report.
func TestFirstOfAllLines(t *testing.T) {
	dir, base := t.TempDir(), spread(1, 60, 0.01)
	for k := range 6 {
		a := made{model: fmt.Sprintf("net-v%d", k), errors: near(uint64(k), base, 1)}.document()
		per := a.Models[0].Checks[0].Sets[0].PerInput
		for i := range per.Mean { // the mean becomes worse two releases before the largest does
			if k >= 2 {
				per.Mean[i] *= 1.8
			}
			if k >= 4 {
				per.Largest[i] *= 3
			}
		}
		put(t, dir, fmt.Sprintf("%d.json", k), k, a)
	}
	r := look(t, dir, options(t, "version"))
	if !strings.Contains(r.Sentence, "the first at release 2 (3 of 6)") {
		t.Error(r.Sentence)
	}
	var b bytes.Buffer
	if err := writeBadge(&b, r); err != nil || !strings.Contains(b.String(), "alarm since 2") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// A folder that is a link is read, and so are audits that are; links to folders are told.
func TestLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	at := filepath.Join(elsewhere, "releases")
	twelve(t, at, func(k int) string { return fmt.Sprintf("r%02d/audit.json", k) })
	link := func(to, name string) string {
		name = filepath.Join(dir, name)
		if err := os.Symlink(to, name); err != nil {
			t.Skipf("no links here: %v", err)
		}
		return name
	}
	root := link(at, "root")
	if f := found(t, root); f.Audits != 12 || len(f.Skipped) != 0 || f.Releases[0].File != "r01/audit.json" {
		t.Errorf("%d audits below a link, %v", f.Audits, f.Skipped)
	}
	mixed := filepath.Join(dir, "mixed")
	if err := os.Mkdir(mixed, 0o755); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(at, "r01", "audit.json"), "mixed/one.json")
	link(at, "mixed/all")
	link(filepath.Join(at, "gone.json"), "mixed/gone.json")
	f := found(t, mixed)
	if f.Audits != 1 || len(f.Skipped) != 1 || f.Skipped[0].File != "all" ||
		!strings.Contains(f.Skipped[0].Why, "a link to a folder") {
		t.Errorf("%d audits, %v", f.Audits, f.Skipped)
	}
}

// Files that were written at one time on one day have no order, and one version orders nothing; both are told.
func TestUnknownOrder(t *testing.T) {
	at := func(int) int { return 1 }
	after := func(k int) int { return k }
	for _, c := range []struct {
		by, model string
		at        func(k int) int
		want      string
	}{
		{"time", "net-v%d", at, "2 pairs of neighbors"},
		{"time", "net-v%d", after, ""},
		{"version", "net-v%d", at, ""},
		{"version", "mobilenet-v2-%d", after, "All releases have the version 2"},
		{
			"version", "epoch-%d", at,
			"No name of 3 releases says version: they stand by the number in a name, such as 0 in \"epoch-0\".",
		},
		{"version", "net-1.%d", at, ""},
		{"epoch", "epoch-%d", at, ""},
		{"epoch", "net-%d", at, "No name of 3 releases says epoch"},
	} {
		dir, base := t.TempDir(), spread(1, 20, 0.01)
		for k := range 3 {
			put(t, dir, fmt.Sprintf("%d.json", k), c.at(k), made{
				model: fmt.Sprintf(c.model, k), date: "2026-01-02", errors: near(uint64(k), base, 1),
			}.document())
		}
		got := strings.Join(look(t, dir, options(t, c.by)).Notes, " ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("by %s: %q, want %q", c.by, got, c.want)
		}
	}
}

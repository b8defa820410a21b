package handout

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"
	"nero/present/words"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/probe"
	"nero/run/store"
	"nero/serve/api"
	"nero/serve/shelf"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// made is a run that a test makes without any model.
type made struct {
	samples, elements, classes int
	models, metrics            []string
	unlabelled                 bool
	// that are written; 0 for all, and then the run is complete
	shards int
	name   func(i int) string
	// side of the pictures; 0 for no data
	images int
	dead   bool
}

const hostile = "</script><script>alert(1)</script><!--\u2028\u2029\x00\u202e\xed\xa0\x80&amp;\"'"

func small() made {
	return made{
		samples: 37, elements: 12, classes: 3, models: []string{"plain", "</script><b>B"},
		metrics: []string{"confidence", "accuracy", "relative"}, images: 6,
	}
}

func digest(s string) string { return fmt.Sprintf("%064x", []byte(s))[:64] }

func (m made) open(tb testing.TB) (*shelf.Shelf, *shelf.Run) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "run")
	g, err := catalog.Parse("SO(2)")
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := orbit.NewPlan(g, orbit.Spec{Grid: []int{m.elements}}, action.Trivial{G: g}, action.Trivial{G: g}, 1)
	if err != nil {
		tb.Fatal(err)
	}
	j := &job.Job{
		Format: job.FormatSmall, Numbers: 1, Count: m.samples, Classes: m.classes, Measure: plan.Measure,
		Elements: plan.Elements, Exact: make([]bool, len(plan.Elements)),
		Files:  []job.Ref{{Path: "/secret/place/images.gz", SHA256: digest("images")}},
		Engine: job.Engine{Name: "test", Version: "1.0"}, Shard: 10, Seed: 7, Metrics: m.metrics,
		Study: job.Study{
			Version: 1,
			Data:    job.Data{Images: "/secret/place/images.gz", Labels: "/secret/place/labels.gz"},
			Group:   job.Group{Name: g.Name(), Orbit: job.Orbit{Grid: []int{m.elements}}},
		},
	}
	job.Defaults(&j.Study)
	for _, name := range m.models {
		j.Study.Models = append(j.Study.Models, job.Model{Name: name, ONNX: "/secret/place/model.onnx"})
		j.Models = append(j.Models,
			job.ModelRef{Name: name, Ref: job.Ref{Path: "/secret/place/model.onnx", SHA256: digest(name)}, Batch: 8})
	}
	r, err := store.Create(dir, j, store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range j.Shards() {
		if m.shards == 0 || s.Index < m.shards {
			if err := r.Commit(tb.Context(), s, m.rows(j, s), nil); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if m.shards == 0 {
		sum, err := fold.Fold(fold.Input{
			Job: j, Hash: r.Hash(), Group: g, Classes: []string{"zero", "one", hostile}[:min(3, m.classes)],
			Confidence: 0.9,
			Rows: func(model, k int) iter.Seq2[job.Row, error] {
				return r.Rows(store.Filter{Models: []int{model}, Metrics: j.Metrics[k : k+1]})
			},
		})
		if err != nil {
			tb.Fatal(err)
		}
		b, err := json.Marshal(sum)
		if err != nil {
			tb.Fatal(err)
		}
		if err := r.Put("summary.json", b); err != nil {
			tb.Fatal(err)
		}
		if err := r.Finish(tb.Context(), map[string]string{"nero": "test"}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		tb.Fatal(err)
	}
	o := shelf.Options{Version: "test"}
	if m.images > 0 || m.dead {
		o.Probe = func(context.Context, *store.Run) (shelf.Prober, error) {
			if m.dead {
				return nil, fmt.Errorf("%w: images.gz is not there any more", probe.ErrUnavailable)
			}
			return &prober{m, plan.Elements}, nil
		}
	}
	s, err := shelf.Open(tb.Context(), []string{dir}, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	run, err := s.Run("run")
	if err != nil {
		tb.Fatal(err)
	}
	return s, run
}

func (m made) rows(j *job.Job, s job.Shard) []job.Row {
	var out []job.Row
	for at := range j.Models {
		for i := s.Lo; i < s.Hi; i++ {
			r := rand.New(rand.NewPCG(uint64(at), uint64(i)))
			row := job.Row{
				Model: at, Index: i, Sample: fmt.Sprintf("s%d", i), Label: i % max(m.classes, 1),
				Top: make([]int32, len(j.Elements)),
			}
			if m.name != nil {
				row.Sample = m.name(i)
			}
			if m.unlabelled {
				row.Label = -1
			}
			for _, metric := range j.Metrics {
				c := make([]float32, len(j.Elements))
				for g := range c {
					switch metric {
					case "accuracy":
						c[g] = float32(r.IntN(2))
					case "relative":
						c[g] = float32(math.Exp(6*r.Float64() - 12))
					default:
						c[g] = float32(r.Float64())
					}
				}
				if i%13 == 5 {
					c[len(c)/2] = float32(math.NaN())
				}
				row.Curves = append(row.Curves, c)
			}
			for g := range row.Top {
				row.Top[g] = int32(r.IntN(max(m.classes, 1)))
			}
			out = append(out, row)
		}
	}
	return out
}

// prober moves pictures of random pixels, and answers with random scores.
type prober struct {
	m        made
	elements []group.Element
}

func (p *prober) Status() probe.Status {
	s := probe.Status{Inputs: probe.Level{On: true}, Engine: "test 1.0"}
	for range p.m.models {
		s.Models = append(s.Models, probe.Level{On: true})
	}
	return s
}

func (p *prober) pixels(i int, g group.Element) *space.Image {
	r := rand.New(rand.NewPCG(uint64(i), uint64(g[0])))
	o := space.NewImage(1, p.m.images, p.m.images)
	for k := range o.Pix {
		o.Pix[k] = float64(r.IntN(256))
	}
	return o
}

func (p *prober) Input(_ context.Context, i int, g group.Element) (*probe.Input, error) {
	if i == 3 {
		return nil, errors.New("sample 3 is broken")
	}
	return &probe.Input{Index: i, G: g, Value: p.pixels(i, g), Range: [2]float64{0, 255}}, nil
}

func (p *prober) scores(i, model int, g group.Element) []float64 {
	r := rand.New(rand.NewPCG(uint64(i)<<8|uint64(model), uint64(g[0])))
	out, total := make([]float64, p.m.classes), 0.0
	for c := range out {
		out[c] = r.Float64()
		total += out[c]
	}
	for c := range out {
		out[c] /= total
	}
	return out
}

func (p *prober) At(ctx context.Context, i int, g group.Element, models []int) (*probe.Point, error) {
	in, err := p.Input(ctx, i, g)
	if err != nil {
		return nil, err
	}
	o := &probe.Point{Input: *in}
	for _, m := range models {
		o.Results = append(o.Results,
			probe.Result{
				Model: m, Output: &space.Scores{Val: p.scores(i, m, g), Probabilities: true},
				Values: make([]float64, len(p.m.metrics)),
			})
	}
	return o, nil
}

var files = fstest.MapFS{
	"app.js":  {Data: []byte(`const a="</script><script>";const b="<!-- x";export{a,b};`)},
	"app.css": {Data: []byte(`a::after{content:"</style>"}`)},
}

// opened is a report taken apart again.
type opened struct {
	page []byte
	dir  directory
	raw  map[string][]byte
	at   map[string]entry
}

var blockTag = regexp.MustCompile(`(?s)<script type="application/x-nero" id="nero-(\w+)">(.*?)</script>`)

func read(tb testing.TB, page []byte) *opened {
	tb.Helper()
	o := &opened{page: page, raw: map[string][]byte{}, at: map[string]entry{}}
	text := map[string]string{}
	for _, m := range blockTag.FindAllSubmatch(page, -1) {
		text[string(m[1])] = string(m[2])
	}
	if err := json.Unmarshal([]byte(text["directory"]), &o.dir); err != nil {
		tb.Fatal(err)
	}
	if len(text) != len(o.dir.Blocks)+1 {
		tb.Fatalf("%d blocks in the page, %d in the directory", len(text)-1, len(o.dir.Blocks))
	}
	for i, e := range o.dir.Blocks {
		z, err := base64.StdEncoding.DecodeString(text[strconv.Itoa(i)])
		if err != nil {
			tb.Fatal(err)
		}
		raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(z)))
		if err != nil || len(raw) != e.Bytes {
			tb.Fatalf("%s: %d bytes, %v; the directory says %d", e.Name, len(raw), err, e.Bytes)
		}
		o.raw[e.Name], o.at[e.Name] = raw, e
	}
	return o
}

func (o *opened) json(tb testing.TB, name string, doc any) {
	tb.Helper()
	raw, ok := o.raw[name]
	if !ok {
		tb.Fatalf("the file holds no %s", name)
	}
	if err := json.Unmarshal(raw, doc); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
}

// values are those of a block of curves.
func (o *opened) values(name string) []float64 {
	e := o.at[name]
	raw := slices.Clone(o.raw[name])
	n := e.Shape[1]
	if e.Delta {
		for i := range raw {
			if i%n > 0 {
				raw[i] += raw[i-1]
			}
		}
	}
	out := make([]float64, len(raw))
	for i, c := range raw {
		out[i] = grid{e.Lo, e.Hi, e.Log, e.Steps}.value(c)
	}
	return out
}

func wordsOf(raw []byte) []uint32 {
	n := len(raw) / 4
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(raw[i]) | uint32(raw[n+i])<<8 | uint32(raw[2*n+i])<<16 | uint32(raw[3*n+i])<<24
	}
	return out
}

// arrays reads a container.
func arrays(tb testing.TB, raw []byte) (map[string]string, map[string][]byte, map[string][]int) {
	tb.Helper()
	n := binary.LittleEndian.Uint64(raw)
	var head map[string]json.RawMessage
	if err := json.Unmarshal(raw[8:8+n], &head); err != nil {
		tb.Fatal(err)
	}
	var meta map[string]string
	data, shapes := map[string][]byte{}, map[string][]int{}
	for name, t := range head {
		if name == "__metadata__" {
			if err := json.Unmarshal(t, &meta); err != nil {
				tb.Fatal(err)
			}
			continue
		}
		var e struct {
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(t, &e); err != nil {
			tb.Fatal(err)
		}
		data[name], shapes[name] = raw[8+int(n)+e.Offsets[0]:8+int(n)+e.Offsets[1]], e.Shape
	}
	return meta, data, shapes
}

func write(tb testing.TB, s *shelf.Shelf, run *shelf.Run, o Options) (*opened, Summary) {
	tb.Helper()
	var page bytes.Buffer
	src := Source{Run: run, Files: files}
	if s != nil {
		src.Findings = s.Findings
	}
	sum, err := Write(tb.Context(), &page, src, o)
	if err != nil {
		tb.Fatal(err)
	}
	budget := o.Budget
	if budget == 0 {
		budget = PresetBudget
	}
	if int64(page.Len()) != sum.Bytes || sum.Bytes > budget {
		tb.Fatalf("%d bytes, the summary says %d, the budget %d", page.Len(), sum.Bytes, budget)
	}
	return read(tb, page.Bytes()), sum
}

// What other commands found is in the file, without links to what is not, as long as half of the budget is left.
func TestSheets(t *testing.T) {
	m := small()
	_, run := m.open(t)
	noise := make([]byte, 200_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	large, err := json.Marshal(noise)
	if err != nil {
		t.Fatal(err)
	}
	sheet := func(id string, doc json.RawMessage) *api.OpenSheet {
		return &api.OpenSheet{
			Sheet:    api.Sheet{ID: id, Kind: "repair", Name: id, Runs: []string{"run"}, Audits: []string{"gone"}},
			Document: doc, Audits: map[string]string{"audits/before": "gone"},
		}
	}
	given := []*api.OpenSheet{sheet("fixed", json.RawMessage(`{"model":"plain"}`)), sheet("large", large)}
	for budget, want := range map[int64][]string{PresetBudget: {"fixed", "large"}, 400_000: {"fixed"}} {
		var page bytes.Buffer
		sum, err := Write(t.Context(), &page, Source{Run: run, Files: files, Sheets: given}, Options{Budget: budget})
		if err != nil || sum.Bytes > budget {
			t.Fatalf("%d bytes of %d: %v", sum.Bytes, budget, err)
		}
		o := read(t, page.Bytes())
		var list api.Runs
		o.json(t, "runs", &list)
		var got []string
		for _, a := range list.Sheets {
			got = append(got, a.ID)
			var open api.OpenSheet
			o.json(t, "sheets/"+a.ID, &open)
			if len(a.Audits) != 0 || len(open.Audits) != 0 || len(open.Document) == 0 {
				t.Errorf("%s leads to audits that are not in the file: %v, %v", a.ID, a.Audits, open.Audits)
			}
		}
		left := slices.ContainsFunc(sum.LeftOut, func(s string) bool { return strings.Contains(s, "large (repair)") })
		if !slices.Equal(got, want) || left == (len(want) == 2) {
			t.Errorf("%d bytes: sheets %q, want %q; left out: %q", budget, got, want, sum.LeftOut)
		}
	}
	if given[0].Audits["audits/before"] == "" || len(given[0].Sheet.Audits) != 1 {
		t.Error("what was given was changed")
	}
}

// Everything that is in the file is what the shelf gives.
func TestRoundTrip(t *testing.T) {
	m := small()
	s, run := m.open(t)
	o, sum := write(t, s, run, Options{Version: "test", Workers: 2})
	if sum.Kept != 37 || sum.Inputs != 36 || sum.Answers != 36 || sum.Thumbs != 36 ||
		!slices.Equal(sum.Curves, m.metrics) {
		t.Errorf("summary %+v", sum)
	}
	var doc api.Run
	o.json(t, "run", &doc)
	var samples api.Samples
	o.json(t, "samples", &samples)
	if want, err := run.Samples(); err != nil || !slices.Equal(samples.IDs, want.IDs) ||
		!slices.Equal(samples.Labels, want.Labels) {
		t.Errorf("samples %v, %v", samples, err)
	}
	if doc.Live.Models || !doc.Live.Inputs || doc.Live.Reason == "" || doc.ModelList[0].Live || len(doc.Methods) != 1 {
		t.Errorf("live %+v, methods %v", doc.Live, doc.Methods)
	}
	for _, a := range doc.Arrays {
		if _, ok := o.raw[a.Name]; !ok {
			t.Errorf("the document lists %s, which is not there", a.Name)
		}
	}
	if len(doc.Arrays) != 2*(3+3+1) {
		t.Errorf("%d arrays", len(doc.Arrays))
	}
	for k := range m.metrics {
		for at := range m.models {
			want, err := run.Curves(at, k)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("curves.%d.%d", at, k)
			e := o.at[name]
			if e.Log != doc.Scales[k].Log {
				t.Errorf("%s: logarithmic %t", name, e.Log)
			}
			for i, v := range o.values(name) {
				w := float64(want[i])
				if math.IsNaN(w) != math.IsNaN(v) {
					t.Fatalf("%s[%d] = %v, want %v", name, i, v, w)
				}
				if math.IsNaN(w) {
					continue
				}
				off, step := math.Abs(v-w), (e.Hi-e.Lo)/float64(e.Steps)
				if e.Log {
					w = max(w, e.Lo)
					off, step = math.Abs(math.Log(v/w)), math.Log(e.Hi/e.Lo)/float64(e.Steps)
				}
				if !(off <= step/2*(1+1e-6)) {
					t.Fatalf("%s[%d] = %v, want %v within half of %v", name, i, v, want[i], step)
				}
			}
			st, err := run.Stats(at, k)
			if err != nil {
				t.Fatal(err)
			}
			got := wordsOf(o.raw[fmt.Sprintf("samples.%d.%d", at, k)])
			for i := range st.Mean {
				for list, v := range [][]float32{st.Mean, st.SD, st.Min, st.Max, st.Identity} {
					if got[list*m.samples+i] != math.Float32bits(v[i]) {
						t.Fatalf("samples.%d.%d list %d of %d is not exact", at, k, list, i)
					}
				}
				if int32(got[5*m.samples+i]) != st.Worst[i] {
					t.Fatalf("samples.%d.%d: worst of %d", at, k, i)
				}
			}
		}
	}
	top, err := run.Top(1)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range o.raw["top.1"] {
		if int32(c) != top[i] {
			t.Fatalf("top.1[%d] = %d, want %d", i, c, top[i])
		}
	}
}

// Kept samples are exact, with inputs and scores.
func TestSampleRoundTrip(t *testing.T) {
	m := small()
	_, run := m.open(t)
	o, _ := write(t, nil, run, Options{})
	p := &prober{m, run.Document().Orbit.Elements}
	for i := range m.samples {
		meta, data, shapes := arrays(t, o.raw["sample."+strconv.Itoa(i)])
		want, err := run.Sample(i)
		if err != nil {
			t.Fatal(err)
		}
		if meta["replay"] != want.Replay || meta["done"] != "true" {
			t.Errorf("metadata %v", meta)
		}
		got := wordsOf(data["curves"])
		for x := range m.models {
			for k := range m.metrics {
				for g := range m.elements {
					v := float64(math.Float32frombits(got[(x*len(m.metrics)+k)*m.elements+g]))
					if w := float64(want.Curves[x][k][g]); v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
						t.Fatalf("sample %d: value %d.%d at %d is %v, want %v", i, x, k, g, v, w)
					}
				}
			}
			for g, c := range want.Top[x] {
				if int(data["top"][x*m.elements+g]) != c {
					t.Fatalf("sample %d: class at %d", i, g)
				}
			}
		}
		if i == 3 {
			if data["input"] != nil || data["scores"] != nil {
				t.Error("a sample that cannot be read has inputs")
			}
			continue
		}
		if !slices.Equal(shapes["input"], []int{12, 6, 6, 1}) || meta["lo"] != "0" || meta["hi"] != "255" {
			t.Fatalf("inputs %v, %v", shapes["input"], meta)
		}
		for g, h := range p.elements {
			if at := binary.LittleEndian.Uint32(data["at"][4*g:]); int(at) != g {
				t.Fatalf("input %d is at %d", g, at)
			}
			px := p.pixels(i, h)
			for k, v := range px.Pix {
				if float64(data["input"][36*g+k]) != v {
					t.Fatalf("sample %d at %d: pixel %d", i, g, k)
				}
			}
			for x := range m.models {
				for c, v := range p.scores(i, x, h) {
					at := (x*m.elements+g)*3 + c
					if got := float64(binary.LittleEndian.Uint16(data["scores"][2*at:])) / 65535; !(math.Abs(
						got-v) <= 1e-5) || binary.LittleEndian.Uint32(data["classes"][4*at:]) != uint32(c) {
						t.Fatalf("sample %d at %d: score %d is %v, want %v", i, g, c, got, v)
					}
				}
			}
		}
	}
	_, data, shapes := arrays(t, o.raw["thumbs.0"])
	if !slices.Equal(shapes["pictures"], []int{36, 6, 6, 1}) {
		t.Fatalf("pictures %v", shapes["pictures"])
	}
	for k := range 36 {
		i := int(binary.LittleEndian.Uint32(data["of"][4*k:]))
		if float64(data["pictures"][36*k]) != p.pixels(i, run.Identity()).Pix[0] {
			t.Errorf("picture %d is not of sample %d", k, i)
		}
	}
}

// The curves of sets are those of the server, to the digits of the values they are made of.
func TestSums(t *testing.T) {
	s, run := small().open(t)
	o, _ := write(t, s, run, Options{Metric: "accuracy"})
	if o.dir.Metric != 1 || !strings.Contains(o.dir.Home, "m=accuracy") {
		t.Errorf("the page begins at %s", o.dir.Home)
	}
	near := func(a, b fold.Number) bool {
		x, y := float64(a), float64(b)
		return x == y || math.IsNaN(x) && (math.IsNaN(y) || math.IsInf(y, 0)) || math.Abs(x-y) <= 1e-7*math.Abs(y)
	}
	for k := range 3 {
		for _, name := range []string{"", ".classes"} {
			var doc sums
			o.json(t, "aggregate."+strconv.Itoa(k)+name, &doc)
			if doc.Confidence != 0.9 || name == "" && (len(doc.Sets) != 1 || doc.Sets[0].Key != "all") || name != "" &&
				len(doc.Sets) != 3 {
				t.Fatalf("%d sets at %v", len(doc.Sets), doc.Confidence)
			}
			for _, set := range doc.Sets {
				q := api.AggregateRequest{Metric: k, Pair: []int{0, 1}}
				if l, ok := strings.CutPrefix(set.Key, "label:"); ok {
					n, err := strconv.Atoi(l)
					if err != nil {
						t.Fatal(err)
					}
					q.Set.Label = &n
				}
				want, err := run.Aggregate(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if set.N != want.N || len(set.Curves) != 2 {
					t.Errorf("%s: %d samples, want %d", set.Key, set.N, want.N)
				}
				for m, c := range set.Curves {
					w := want.Curves[m]
					for g := range c.Mean {
						if !near(c.Mean[g], w.Mean[g]) || !near(c.Lo[g], w.Lo[g]) || !near(c.P90[g], w.P90[g]) ||
							c.N[g] != w.N[g] || c.Bad[g] != w.Bad[g] {
							t.Fatalf("%s: curve of %d differs at %d", set.Key, m, g)
						}
					}
					if !near(c.Orbit.Hi, w.Orbit.Hi) || c.WorstElement != w.WorstElement ||
						c.WorstSample != w.WorstSample {
						t.Errorf("%s: %+v, want %+v", set.Key, c.Orbit, w.Orbit)
					}
				}
				if name == "" || k == 1 {
					if len(set.Pairs) != 1 || !near(set.Pairs[0].Orbit.Mean, want.Pair.Orbit.Mean) ||
						set.Pairs[0].Verdict != want.Pair.Verdict {
						t.Errorf("%s: pairs %v", set.Key, set.Pairs)
					}
				} else if len(set.Pairs) != 0 {
					t.Errorf("%s: differences of a metric that is not shown first", set.Key)
				}
			}
		}
	}
}

// Differences of many slices by the metrics that are not shown are there as far as they fit, which is told, and do not
// make the file too large.
func TestManySlices(t *testing.T) {
	s, run := small().open(t)
	kept, tag, err := run.Slices()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		kept.Slices = append(kept.Slices,
			api.Slice{
				Name: "slice " + strconv.Itoa(i), Label: -1,
				Set: api.Set{Rule: "index >= " + strconv.Itoa(i%20)},
			})
	}
	if _, _, err := run.PutSlices(*kept, tag); err != nil {
		t.Fatal(err)
	}
	o, whole := write(t, s, run, Options{})
	var doc sums
	for k := range 3 {
		o.json(t, "aggregate."+strconv.Itoa(k), &doc)
		if len(doc.Sets) != 31 {
			t.Fatalf("metric %d: %d sets", k, len(doc.Sets))
		}
		for _, set := range doc.Sets {
			if got, want := len(set.Pairs) == 1, k == 0 || set.Key == "all"; got != want || len(set.Curves) != 2 {
				t.Errorf("metric %d, %s: %d curves and %d differences", k, set.Key, len(set.Curves), len(set.Pairs))
			}
		}
	}
	var apart sums
	o.json(t, "aggregate.2.pairs", &apart)
	q := api.AggregateRequest{Metric: 2, Set: kept.Slices[7].Set, Pair: []int{0, 1}}
	want, err := run.Aggregate(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(apart.Sets) != 30 || apart.Sets[7].Key != "slice:slice 7" || len(apart.Sets[7].Pairs) != 1 ||
		len(apart.Sets[7].Curves) != 0 ||
		apart.Sets[7].Pairs[0].Verdict != want.Pair.Verdict ||
		math.Abs(float64(apart.Sets[7].Pairs[0].Orbit.Mean-want.Pair.Orbit.Mean)) > 1e-6 {
		t.Errorf("%+v, want %+v", apart.Sets[7], want.Pair)
	}
	if strings.Contains(strings.Join(whole.LeftOut, " "), "differences") {
		t.Errorf("%v", whole.LeftOut)
	}
	var small *SmallBudgetError
	if _, err := Write(t.Context(), io.Discard, Source{Run: run, Files: files}, Options{Budget: 1000}); !errors.As(err,
		&small) {
		t.Fatal(err)
	}
	o, tight := write(t, nil, run, Options{Budget: small.Need + 1500})
	if _, ok := o.raw["aggregate.2.pairs"]; ok || !strings.Contains(strings.Join(tight.LeftOut, " "),
		"Exact differences of the kept slices are not there for") {
		t.Errorf("with %d bytes: %v", small.Need, tight.LeftOut)
	}
}

// The budget bounds the file, and what is left out is told.
func TestBudget(t *testing.T) {
	m := small()
	m.samples, m.elements, m.images = 160, 24, 12
	s, run := m.open(t)
	_, whole := write(t, s, run, Options{Keep: 160})
	last := Summary{Kept: -1}
	for _, budget := range []int64{60_000, 100_000, 150_000, 400_000, whole.Bytes + 20_000} {
		o, sum := write(t, s, run, Options{Keep: 160, Budget: budget})
		if sum.Kept < last.Kept && len(sum.Curves) <= len(last.Curves) {
			t.Errorf("with %d bytes %d samples and %d metrics, with fewer bytes %d and %d", budget, sum.Kept,
				len(sum.Curves), last.Kept, len(last.Curves))
		}
		last = sum
		text := strings.Join(sum.LeftOut, " ")
		if n := 3 - len(sum.Curves); (n > 0) != strings.Contains(text, "does not hold the values of every sample") {
			t.Errorf("%d bytes, %d metrics without curves: %s", budget, n, text)
		}
		if (sum.Kept < 160) != strings.Contains(text, fmt.Sprintf("there for %d of 160 samples", sum.Kept)) {
			t.Errorf("%d bytes, %d samples: %s", budget, sum.Kept, text)
		}
		var doc api.Run
		o.json(t, "run", &doc)
		for _, n := range sum.LeftOut {
			if !slices.Contains(doc.Notes, n) || !slices.Contains(o.dir.Notes, n) ||
				!bytes.Contains(o.page, []byte("<li>"+n)) {
				t.Errorf("%q is not told everywhere", n)
			}
		}
		// What every report holds, and the metric that is shown before the others.
		for _, name := range []string{"aggregate.0", "aggregate.2", "samples.0.0", "embedding.pca.0.0.1", "slices"} {
			if _, ok := o.raw[name]; !ok {
				t.Errorf("%d bytes: no %s", budget, name)
			}
		}
		// What the views below the table show of all samples, where there is room.
		_, models := o.raw["models"]
		_, turns := o.raw["turns.0.truth"]
		if (!models || !turns) && len(sum.Curves) == 3 {
			t.Errorf("%d bytes: a table of models: %v, what moved samples are taken for: %v", budget, models, turns)
		}
		if len(sum.Curves) > 0 && sum.Curves[0] != "confidence" {
			t.Errorf("curves of %v without those of the metric shown first", sum.Curves)
		}
	}
	var small *SmallBudgetError
	if _, err := Write(t.Context(), io.Discard, Source{Run: run, Files: files},
		Options{Budget: 20_000}); !errors.As(err, &small) || small.Need <= 20_000 {
		t.Errorf("%v", err)
	}
	if _, err := Write(t.Context(), io.Discard, Source{Run: run, Files: files},
		Options{Budget: small.Need}); err != nil {
		t.Errorf("with what was said to be needed: %v", err)
	}
}

// Coarser curves of all metrics come before none of some.
func TestLadder(t *testing.T) {
	m := small()
	m.samples, m.elements, m.images, m.metrics = 300, 36, 0, []string{"confidence", "accuracy", "relative", "margin"}
	_, run := m.open(t)
	whole, _ := write(t, nil, run, Options{Keep: -1})
	o, sum := write(t, nil, run, Options{Keep: -1, Budget: int64(len(whole.page)) * 85 / 100})
	if len(sum.Curves) != 4 || o.at["curves.0.0"].Steps != 254 ||
		o.at["curves.0.2"].Steps+o.at["curves.0.3"].Steps >= 508 || o.at["curves.0.1"].Steps != 254 {
		t.Errorf("%v: %d, %d, %d and %d steps", sum.Curves, o.at["curves.0.0"].Steps, o.at["curves.0.1"].Steps,
			o.at["curves.0.2"].Steps, o.at["curves.0.3"].Steps)
	}
	if text := strings.Join(sum.LeftOut, " "); !strings.Contains(text, "in 255 values") ||
		!strings.Contains(text, "in 128 values") {
		t.Errorf("%s", text)
	}
}

// The same run gives the same bytes, whatever the number of workers.
func TestDeterminism(t *testing.T) {
	s, run := small().open(t)
	first, _ := write(t, s, run, Options{Workers: 1, Budget: 120_000})
	for _, n := range []int{1, 4} {
		if again, _ := write(t, s, run, Options{Workers: n, Budget: 120_000}); !bytes.Equal(first.page, again.page) {
			t.Errorf("other bytes with %d workers", n)
		}
	}
	if other, sum := write(t, s, run, Options{Keep: 20, Seed: 9}); sum.Kept != 20 ||
		bytes.Equal(other.page, first.page) {
		t.Error("the seed changes nothing")
	}
}

// Names are text, wherever they come from.
func TestHostileNames(t *testing.T) {
	m := small()
	m.name = func(i int) string { return fmt.Sprintf("%d %s", i, hostile) }
	s, run := m.open(t)
	o, _ := write(t, s, run, Options{Version: hostile})
	if bytes.Contains(o.page, []byte("<!--")) {
		t.Error("a comment, in which scripts end elsewhere")
	}
	// Elements as a parser finds them: script, style and title end at the first end tag, whatever is in them.
	kinds := map[string]int{}
	var code string
	tag := regexp.MustCompile(`^<([a-z0-9]+)((?: [a-z-]+(?:="[^"]*")?)*)>`)
	for rest := string(o.page); ; {
		at := strings.IndexByte(rest, '<')
		if at < 0 {
			break
		}
		rest = rest[at:]
		m := tag.FindStringSubmatch(rest)
		if m == nil {
			if !regexp.MustCompile(`^</[a-z0-9]+>|^<!doctype html>`).MatchString(rest) {
				t.Fatalf("no tag: %.60q", rest)
			}
			rest = rest[1:]
			continue
		}
		kinds[m[1]]++
		for _, bad := range []string{" on", " style=", " src="} {
			if strings.Contains(m[2], bad) {
				t.Errorf("%s", m[0])
			}
		}
		rest = rest[len(m[0]):]
		if slices.Contains([]string{"script", "style", "title"}, m[1]) {
			end := strings.Index(strings.ToLower(rest), "</"+m[1])
			if end < 0 {
				t.Fatalf("<%s> has no end", m[1])
			}
			if strings.Contains(m[2], `type="module"`) {
				code = rest[:end]
			}
			rest = rest[end:]
		}
	}
	if kinds["b"] != 0 || kinds["script"] != len(o.dir.Blocks)+3 || kinds["style"] != 1 {
		t.Errorf("elements %v", kinds)
	}
	if strings.Contains(string(o.page), "alert(1)</script>") {
		t.Error("a name ends a script")
	}
	if want := `const a="\x3C/script>\x3Cscript>";const b="\x3C!-- x";export{a,b};`; code != want {
		t.Errorf("the code is %s", code)
	}
	if policy := regexp.MustCompile(`content="(default-src[^"]*)"`).FindSubmatch(o.page); policy == nil ||
		!strings.Contains(string(policy[1]), source(code)) || strings.Contains(string(policy[1]), "unsafe") {
		t.Errorf("policy %s", policy)
	}
	if head, _, _ := strings.Cut(string(o.page), "<script"); strings.ContainsAny(string(o.page), "\x00\u2028\u2029") ||
		strings.Contains(head, "\u202e") {
		t.Error("characters that hide")
	}
	var samples api.Samples
	o.json(t, "samples", &samples)
	if !strings.HasPrefix(samples.IDs[2], "2 </script><script>alert(1)") {
		t.Errorf("the name became %q", samples.IDs[2])
	}
	if bytes.Contains(o.page, []byte("/secret/place")) {
		t.Error("the page says where files lie")
	}
	for name, raw := range o.raw {
		if bytes.Contains(raw, []byte("/secret/place")) {
			t.Errorf("%s says where files lie", name)
		}
	}
}

// Runs of any kind can be written.
func TestKinds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*made)
		want   string
		not    string
	}{
		"one sample":  {func(m *made) { m.samples = 1 }, "1 sample,", ""},
		"two samples": {func(m *made) { m.samples = 2 }, "2 samples", ""},
		"no labels":   {func(m *made) { m.unlabelled = true }, "", "label:"},
		"one model":   {func(m *made) { m.models = m.models[:1] }, "", ""},
		"no models": {
			func(m *made) { m.images = 0 },
			"Inputs are not there. The report was made of what is stored alone", "",
		},
		"data gone":    {func(m *made) { m.images, m.dead = 0, true }, "images.gz is not there any more", ""},
		"unfinished":   {func(m *made) { m.shards = 2 }, "not finished: 20 of 37 samples", ""},
		"nothing done": {func(m *made) { m.shards = -1 }, "not finished: 0 of 37 samples", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := small()
			c.change(&m)
			s, run := m.open(t)
			o, sum := write(t, s, run, Options{Stored: name == "no models"})
			text := string(o.page)
			if c.want != "" && !strings.Contains(strings.ToLower(text), strings.ToLower(c.want)) {
				t.Errorf("the page does not say %q: %v", c.want, sum.LeftOut)
			}
			var doc sums
			o.json(t, "aggregate.0", &doc)
			if _, ok := o.raw["aggregate.0.classes"]; ok == (m.unlabelled || m.shards < 0) {
				t.Errorf("classes: %t", ok)
			}
			if name == "unfinished" {
				var run api.Run
				o.json(t, "run", &run)
				if run.State.Complete || run.State.Done != 20 || run.State.Running || sum.Kept > 20 {
					t.Errorf("%+v, %d samples kept", run.State, sum.Kept)
				}
			}
			if !strings.Contains(text, "<noscript>") || !strings.Contains(text, "<caption>All samples</caption>") {
				t.Error("no summary for those who run no script")
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	_, run := small().open(t)
	for _, o := range []Options{{Metric: "nothing"}, {Slice: "nothing"}, {Methods: []string{"nothing"}}} {
		if _, err := Write(t.Context(), io.Discard, Source{Run: run, Files: files}, o); !errors.Is(err, ErrUnknown) ||
			!strings.Contains(err.Error(), "nothing") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := Write(t.Context(), io.Discard, Source{Run: run, Files: fstest.MapFS{}}, Options{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("without an interface: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Write(ctx, io.Discard, Source{Run: run, Files: files}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A slice that is shown first is where the page begins and what samples are kept from.
func TestSlice(t *testing.T) {
	_, run := small().open(t)
	o, sum := write(t, nil, run, Options{Slice: "one", Keep: 100})
	if sum.Kept != 12 || !strings.Contains(o.dir.Home, "s=one") {
		t.Errorf("%d samples, from %s", sum.Kept, o.dir.Home)
	}
	for name := range o.raw {
		if i, ok := strings.CutPrefix(name, "sample."); ok {
			if n, err := strconv.Atoi(i); err != nil || n%3 != 1 {
				t.Errorf("sample %s is not of class one", i)
			}
		}
	}
}

// A page about a slice begins at its worst sample, though those that an audit names are kept before it.
func TestHome(t *testing.T) {
	_, run := small().open(t)
	st, err := run.Stats(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	worst := 1
	for i := 1; i < len(st.Mean); i += 3 {
		if st.Mean[i] < st.Mean[worst] {
			worst = i
		}
	}
	b, err := newBuilder(t.Context(), Source{Run: run, Files: files}, Options{Slice: "one", Keep: 12})
	if err != nil {
		t.Fatal(err)
	}
	b.places = []api.Place{{Index: 2}}
	list, err := b.candidates()
	if err != nil || len(list) == 0 || list[0] != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, i := range list {
		b.blocks = append(b.blocks, &block{entry: entry{Name: fmt.Sprintf("sample.%d", i)}})
	}
	if got := b.home(); !strings.Contains(got, fmt.Sprintf("?i=%d&", worst)) {
		t.Errorf("the page begins at %s, the worst sample is %d", got, worst)
	}
	b.blocks = b.blocks[:1] // there was no room for it
	if got := b.home(); !strings.Contains(got, "?i=2&") {
		t.Errorf("the page begins at %s, of which it does not hold the sample", got)
	}
}

// Of a few samples the worst are there, and all classes.
func TestCandidates(t *testing.T) {
	_, run := small().open(t)
	b, err := newBuilder(t.Context(), Source{Run: run, Files: files}, Options{Keep: 12})
	if err != nil {
		t.Fatal(err)
	}
	list, err := b.candidates()
	if err != nil || len(list) != 12 {
		t.Fatalf("%v, %v", list, err)
	}
	st, err := run.Stats(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	worst, classes := 0, map[int]int{}
	for i, v := range st.Mean {
		if !math.IsNaN(float64(v)) && !(v >= st.Mean[worst]) {
			worst = i
		}
	}
	seen := map[int]bool{}
	for _, i := range list {
		if seen[i] {
			t.Errorf("sample %d twice", i)
		}
		seen[i] = true
		classes[i%3]++
	}
	if list[0] != worst || len(classes) != 3 {
		t.Errorf("%v: the worst is %d, classes %v", list, worst, classes)
	}
}

// Every beginning of the strata is spread over classes and ranks.
func TestStrata(t *testing.T) {
	n := 300
	ranked, labels := make([]int, n), make([]int, n)
	for i := range n {
		ranked[i], labels[i] = n-1-i, i%3
	}
	order := strata(ranked, labels, 5)
	if len(order) != n {
		t.Fatalf("%d samples", len(order))
	}
	for _, k := range []int{3, 12, 48, 96} {
		classes, thirds := map[int]int{}, map[int]int{}
		for _, i := range order[:k] {
			classes[labels[i]]++
			thirds[i/100]++
		}
		for c := range 3 {
			if classes[c] != k/3 || k >= 12 && (thirds[c] < k/3-3 || thirds[c] > k/3+3) {
				t.Errorf("first %d: classes %v, ranks %v", k, classes, thirds)
			}
		}
	}
	if slices.Equal(order, strata(ranked, labels, 6)) {
		t.Error("the seed changes nothing")
	}
}

func TestSingle(t *testing.T) {
	in := `{"a \"1.23456789012345\"":[0.1,-0.30000000000000004,12,1e300,null,1.0000000000000002e-9,1e-320,0.0]}`
	want := `{"a \"1.23456789012345\"":[0.1,-0.3,12,1e300,null,1e-9,1e-320,0]}`
	if got := string(single([]byte(in))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Large pictures are made smaller so that samples fit.
func TestLargeInputs(t *testing.T) {
	m := small()
	m.images, m.samples = 80, 8
	_, run := m.open(t)
	o, sum := write(t, nil, run, Options{Budget: 600_000})
	_, _, shapes := arrays(t, o.raw["sample.1"])
	if sum.Kept != 8 || shapes["input"][1] >= 80 || !strings.Contains(strings.Join(sum.LeftOut, " "),
		"Inputs are shown at 1/") {
		t.Errorf("%v, %v", shapes["input"], sum.LeftOut)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{
		hostile, "plain", "a<!--b", "</SCRIPT>", "\xff<", "</scrip\xff\xff<script>",
		"İ</SCRIPT>Ⱥ<!--",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if out := words.HTML(s); strings.ContainsAny(out, "<>\"\x00\u2028") {
			t.Errorf("%q became %q", s, out)
		}
		if out := strings.ToLower(inlineCode(s)); strings.Contains(out, "</script") || strings.Contains(out, "<!--") ||
			strings.Contains(out, "<script") {
			t.Errorf("%q became %q", s, out)
		}
		if out := strings.ToLower(inlineStyle(s)); strings.Contains(out, "</style") {
			t.Errorf("%q became %q", s, out)
		}
	})
}

package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nero/present/table"
	"nero/run/store"
	"nero/serve/api"
	"nero/serve/guard"
	"nero/serve/shelf"
	"nero/serve/tables"
	"nero/symmetry/group"
)

// quiet is a log that nobody reads.
var quiet = slog.New(slog.DiscardHandler)

// TestArrays holds arrays against the orbits of single samples, which are read in another way.
func TestArrays(t *testing.T) {
	f := newFixture(t, nil)
	for _, id := range []string{"alpha", "beta", "alpha+beta"} {
		doc := parsed[api.Run](t, f.get(t, "runs/"+id))
		for m := range doc.ModelList {
			for k := range doc.MetricDoc {
				name := fmt.Sprintf("curves.%d.%d", m, k)
				exact := f.arrays(t, "runs/"+id+"/arrays/"+name)[name]
				bytes := f.arrays(t, "runs/"+id+"/arrays/"+name+"?dtype=u8")[name]
				part := f.arrays(t, "runs/"+id+"/arrays/"+name+"?dtype=u8&rows=3-7")[name]
				lo, hi := number64(t, bytes.meta["lo"]), number64(t, bytes.meta["hi"])
				if !slices.Equal(exact.shape, []int{doc.Samples, doc.Elements}) ||
					!slices.Equal(bytes.u8[3*doc.Elements:7*doc.Elements], part.u8) {
					t.Fatalf("%s %s: shape %v, or rows are not those of the whole", id, name, exact.shape)
				}
				stats := f.arrays(t, fmt.Sprintf("runs/%s/arrays/samples.%d.%d", id, m, k))
				for i := range doc.Samples {
					one := parsed[api.Sample](t, f.get(t, fmt.Sprintf("runs/%s/samples/%d", id, i)))
					least, most := math.Inf(1), math.Inf(-1)
					for g, want := range one.Curves[m][k] {
						want := float64(want)
						if got := float64(exact.f32[i*doc.Elements+g]); got != want &&
							!(math.IsNaN(got) && math.IsNaN(want)) {
							t.Fatalf("%s %s: sample %d at %d is %v, want %v", id, name, i, g, got, want)
						}
						b := bytes.u8[i*doc.Elements+g]
						if math.IsNaN(want) {
							if b != 255 {
								t.Fatalf("%s %s: sample %d at %d is %d, want 255 for NaN", id, name, i, g, b)
							}
							continue
						}
						least, most = min(least, want), max(most, want)
						if v := lo + (hi-lo)*float64(b)/254; b == 255 || !(math.Abs(v-want) <= (hi-lo)/508*1.000001) {
							t.Fatalf("%s %s: sample %d at %d is %d, that is %v, want %v", id, name, i, g, b, v, want)
						}
					}
					if mn := float64(stats["min"].f32[i]); least <= most &&
						(mn != least || float64(stats["max"].f32[i]) != most) {
						t.Fatalf("%s %s: sample %d has least value %v, want %v", id, name, i, mn, least)
					}
				}
			}
			name := fmt.Sprintf("top.%d", m)
			words, small := f.arrays(t, "runs/"+id+"/arrays/"+name)[name],
				f.arrays(t, "runs/"+id+"/arrays/"+name+"?dtype=u8")[name]
			for i, c := range words.i32 {
				if want := uint8(c); c >= 0 && small.u8[i] != want || c < 0 && small.u8[i] != 255 {
					t.Fatalf("%s %s: %d as a byte is %d", id, name, c, small.u8[i])
				}
			}
		}
	}
	// Both models have the same scale: a byte means the same in both.
	a, b := f.arrays(t, "runs/alpha/arrays/curves.0.0?dtype=u8"), f.arrays(t, "runs/alpha/arrays/curves.1.0?dtype=u8")
	if x, y := a["curves.0.0"].meta, b["curves.1.0"].meta; x["lo"] != y["lo"] || x["hi"] != y["hi"] {
		t.Errorf("ranges %v and %v of two models", x, y)
	}
}

func number64(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestQuantise(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	got := make([]uint8, 8)
	quantise(got, []float32{0, 1, 0.5, nan, inf, -inf, -3, 9}, 0, 1)
	if want := []uint8{0, 254, 127, 255, 255, 255, 0, 254}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	quantise(got[:1], []float32{7}, 7, 7)
	if got[0] != 0 {
		t.Errorf("a single value is %d, want 0", got[0])
	}
}

// TestTooLarge asks for more than an answer may have, of a run that has it, and of one that has not: neither takes
// memory.
func TestTooLarge(t *testing.T) {
	for _, c := range []struct{ n, e, lo, hi int }{
		{1_000_000_000, 1, 0, 1_000_000_000},
		{100_000, 10_000, 0, 100_000},
		{math.MaxInt / 2, math.MaxInt / 2, 0, math.MaxInt / 2},
		{2_000_000_000, 72, 0, 10},
	} {
		var p *guard.Problem
		if err := affordable(c.n, c.e, c.lo, c.hi); !errors.As(err, &p) ||
			p.Status != http.StatusRequestEntityTooLarge || p.Code != "too-large" {
			t.Errorf("%d x %d, rows %d to %d: %v", c.n, c.e, c.lo, c.hi, err)
		}
	}
	for _, c := range []struct{ n, e, lo, hi int }{
		{10_000, 4225, 0, 10_000},
		{0, 72, 0, 0},
		{100_000_000, 1, 0, 100_000_000},
		{1_000_000, 500, 5, 100},
	} {
		if err := affordable(c.n, c.e, c.lo, c.hi); err != nil {
			t.Errorf("%d x %d, rows %d to %d: %v", c.n, c.e, c.lo, c.hi, err)
		}
	}
}

// TestTagsOfVersions: an array that a browser kept of an older version of the program is not good any more.
func TestTagsOfVersions(t *testing.T) {
	f := newFixture(t, nil)
	const path = "/api/v1/runs/alpha/arrays/samples.0.0"
	tag := f.ask(t, http.MethodGet, path, "").Header.Get("ETag")
	sh, err := shelf.Open(t.Context(), []string{filepath.Join(f.dir, "alpha")},
		shelf.Options{Version: "newer", Now: f.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), Options{Shelf: sh, Files: interfaceStub, Now: f.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(s.Close(), sh.Close()); err != nil {
			t.Error(err)
		}
	}()
	g := &fixture{Server: s, dir: f.dir, shelf: sh, clock: f.clock}
	if r := g.ask(t, http.MethodGet, path, "", "If-None-Match", tag); tag == "" || r.StatusCode != http.StatusOK ||
		r.Header.Get("ETag") == tag {
		t.Errorf("%d with tag %s, before %s", r.StatusCode, r.Header.Get("ETag"), tag)
	}
}

// TestTags asks again for what is there, compressed and not.
func TestTags(t *testing.T) {
	f := newFixture(t, nil)
	waitLive(t, f) // whether models can be asked is part of a run's document
	for _, path := range []string{
		"/", "/app.js", "/api/v1/runs", "/api/v1/runs/alpha", "/api/v1/runs/alpha/samples",
		"/api/v1/runs/alpha/arrays/curves.0.0", "/api/v1/openapi.json", "/api/v1/runs/alpha/samples/0/input?g=3",
		"/api/v1/runs/alpha/samples/0/thumb.png",
	} {
		first := f.ask(t, http.MethodGet, path, "")
		whole := first.body
		tag := first.Header.Get("ETag")
		if first.StatusCode != http.StatusOK || !strings.HasPrefix(tag, `"`) ||
			first.Header.Get("Cache-Control") == "" || first.Header.Get("Content-Length") != strconv.Itoa(len(whole)) {
			t.Fatalf("%s: %d, tag %s, %v", path, first.StatusCode, tag, first.Header)
		}
		for _, list := range []string{tag, `"x", ` + tag, "W/" + tag, "*", zipped(tag)} {
			again := f.ask(t, http.MethodGet, path, "", "If-None-Match", list)
			if b := again.body; again.StatusCode != http.StatusNotModified || len(b) > 0 {
				t.Errorf("%s with If-None-Match %s: %d and %d bytes, want 304 and none", path, list, again.StatusCode,
					len(b))
			}
		}
		if other := f.ask(t, http.MethodGet, path, "", "If-None-Match", `"x"`); other.StatusCode != http.StatusOK {
			t.Errorf("%s with another tag: %d", path, other.StatusCode)
		}
		head := f.ask(t, http.MethodHead, path, "")
		if b := head.body; head.StatusCode != http.StatusOK || len(b) > 0 || head.Header.Get("ETag") != tag {
			t.Errorf("HEAD %s: %d, %d bytes, tag %s", path, head.StatusCode, len(b), head.Header.Get("ETag"))
		}
		// From another machine, what is worth it comes compressed, under a tag of its own.
		far := f.ask(t, http.MethodGet, path, "", "Accept-Encoding", "br, gzip;q=0.8")
		b := far.body
		if far.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, whole) ||
				far.Header.Get("ETag") != zipped(tag) {
				t.Errorf("%s: compressed it is something else (%v)", path, err)
			}
		} else if len(whole) >= worthwhile && !strings.HasPrefix(first.Header.Get("Content-Type"), typeArrays) {
			t.Errorf("%s: %d bytes to another machine are not compressed", path, len(whole))
		}
	}
}

// TestShrinks compresses bytes and leaves floats.
func TestShrinks(t *testing.T) {
	floats, bytes := make([]float32, 1000), make([]uint8, 4000)
	for name, c := range map[string]struct {
		container
		want bool
	}{
		"floats": {container{tensors: []tensor{f32("a", floats, 1000)}}, false},
		"bytes":  {container{tensors: []tensor{u8("a", bytes, 4000)}}, true},
		"both":   {container{tensors: []tensor{u8("a", bytes, 4000), f32("b", floats[:10], 10)}}, true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		c.tensors = append(c.tensors, c.tensors[0])
		c.tensors[len(c.tensors)-1].name = "more"
		c.tensors = append(c.tensors, c.tensors[0])
		c.tensors[len(c.tensors)-1].name = "again"
		if err := sendArrays(w, r, `"x"`, &c.container); err != nil {
			t.Fatal(err)
		}
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != c.want {
			t.Errorf("%s: compressed %v", name, got)
		}
	}
}

func TestCompresses(t *testing.T) {
	for _, c := range []struct {
		from, accept, via string
		n                 int
		want              bool
	}{
		{"127.0.0.1:5", "gzip", "", 1 << 20, false},
		{"[::1]:5", "gzip", "", 1 << 20, false},
		{"127.0.0.1:5", "gzip", "10.0.0.1", 1 << 20, true},
		{"10.0.0.7:5", "gzip", "", 1 << 20, true},
		{"10.0.0.7:5", "gzip", "", 100, false},
		{"10.0.0.7:5", "gzip;q=0", "", 1 << 20, false},
		{"10.0.0.7:5", "br", "", 1 << 20, false},
		{"10.0.0.7:5", "", "", 1 << 20, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.from
		r.Header.Set("Accept-Encoding", c.accept)
		if c.via != "" {
			r.Header.Set("X-Forwarded-For", c.via)
		}
		if got := compresses(r, c.n); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestPages(t *testing.T) {
	f := newFixture(t, nil)
	for path, want := range map[string]struct {
		status int
		kind   string
	}{
		"/":             {200, "text/html; charset=utf-8"},
		"/index.html":   {200, "text/html; charset=utf-8"},
		"/app.js":       {200, "text/javascript; charset=utf-8"},
		"/app.css":      {200, "text/css; charset=utf-8"},
		"/LICENSES.txt": {200, "text/plain; charset=utf-8"},
		"/secret.go":    {404, ""},
		"/nothing.js":   {404, ""},
		"/run/alpha":    {404, ""},
		"/api/v1/":      {404, ""},
		"/api/v2/runs":  {404, ""},
	} {
		r := f.ask(t, http.MethodGet, path, "")
		if r.StatusCode != want.status || want.kind != "" && r.Header.Get("Content-Type") != want.kind {
			t.Errorf("%s: %d %s, want %d %s", path, r.StatusCode, r.Header.Get("Content-Type"), want.status, want.kind)
		}
	}
	for _, c := range []struct{ method, path, allow string }{
		{"POST", "/", "GET, HEAD"},
		{"POST", "/api/v1/runs", "GET, HEAD"},
		{"PATCH", "/api/v1/runs/alpha/slices", "GET, HEAD, PUT"},
		{"GET", "/api/v1/runs/alpha/job", "POST, DELETE"},
	} {
		r := f.ask(t, c.method, c.path, "")
		if p := parsed[guard.Problem](t, r.body); r.StatusCode != http.StatusMethodNotAllowed || p.Code != "method" ||
			r.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d %s, Allow %s", c.method, c.path, r.StatusCode, p.Code, r.Header.Get("Allow"))
		}
	}
}

// TestBasePath wants the page and the calls to work below a path, through the guard that stands before them.
func TestBasePath(t *testing.T) {
	f := newFixture(t, nil)
	g, err := guard.Listen(t.Context(), guard.Options{PortSet: true, BasePath: "/hub/proxy/", Now: f.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	h := g.Handler(f.Server)
	for _, path := range []string{"/hub/proxy/", "/hub/proxy/app.js", "/hub/proxy/api/v1/runs", "/api/v1/runs"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Host = g.Addr().String()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestProbe wants a live answer at an element of the plan to be the stored one, bit for bit, and says that a sample in
// between is none.
func TestProbe(t *testing.T) {
	f := newFixture(t, nil)
	waitLive(t, f)
	for _, id := range []string{"alpha", "gamma", "alpha+beta"} {
		doc := parsed[api.Run](t, f.get(t, "runs/"+id))
		for i := range min(doc.Samples, 4) {
			one := parsed[api.Sample](t, f.get(t, fmt.Sprintf("runs/%s/samples/%d", id, i)))
			for k, g := range doc.Orbit.Elements {
				a := f.arrays(t, fmt.Sprintf("runs/%s/samples/%d/probe?g=%s&seq=%d", id, i, elementText(g), 100*i+k))
				for m := range doc.ModelList {
					v := a[fmt.Sprintf("values.%d", m)]
					if v.meta["element"] != strconv.Itoa(k) || v.meta["seq"] != strconv.Itoa(100*i+k) ||
						v.meta["sample"] != strconv.Itoa(i) ||
						v.meta["exact"] != strconv.FormatBool(doc.Orbit.Exact[k]) {
						t.Fatalf("%s: metadata %v at element %d of sample %d", id, v.meta, k, i)
					}
					for q := range doc.MetricDoc {
						if want := float32(one.Curves[m][q][k]); v.f32[q] != want &&
							!(v.f32[q] != v.f32[q] && want != want) {
							t.Errorf("%s: %s of model %d, sample %d, element %d: %v live, %v stored", id,
								doc.Metrics[q], m, i, k, v.f32[q], want)
						}
					}
					if one.Top != nil && int(a[fmt.Sprintf("top.%d", m)].i32[0]) != one.Top[m][k] {
						t.Errorf("%s: class of model %d, sample %d, element %d: %v live, %d stored", id, m, i, k,
							a[fmt.Sprintf("top.%d", m)].i32, one.Top[m][k])
					}
				}
			}
		}
	}
	between := f.arrays(t, "runs/alpha/samples/0/probe?g=371.25")
	if m := between["values.0"].meta; m["element"] != "-1" || m["g"] != "11.25" ||
		len(between["probabilities.0"].f32) != 3 || len(between["logits.1"].f32) != 3 {
		t.Errorf("between elements: %v", m)
	}
	if p := between["probabilities.0"].f32; !(math.Abs(float64(p[0]+p[1]+p[2])-1) < 1e-6) {
		t.Errorf("probabilities %v", p)
	}
	picture := f.arrays(t, "runs/gamma/samples/0/probe?g=90")
	out, moved := picture["output.0"], picture["reference.0"]
	if !slices.Equal(out.shape, []int{8, 8, 1}) || !slices.Equal(moved.shape, out.shape) ||
		slices.Equal(out.u8, moved.u8) {
		t.Errorf("output %v and reference %v of a model that is not equivariant", out.shape, moved.shape)
	}
	if same := f.arrays(t, "runs/gamma/samples/0/probe?g=0"); !slices.Equal(same["output.0"].u8,
		same["reference.0"].u8) {
		t.Error("output and reference differ at the identity")
	}
	if none := f.arrays(t, "runs/alpha/samples/0/probe?g=0&models=1"); none["values.0"].f32 != nil ||
		none["values.1"].f32 == nil {
		t.Error("models=1 does not ask model 1 alone")
	}
}

// TestInput compares the moved input with itself in two forms and over a whole turn.
func TestInput(t *testing.T) {
	f := newFixture(t, nil)
	waitLive(t, f)
	exact := f.arrays(t, "runs/alpha/samples/5/input?g=90&dtype=f32")["input"]
	small := f.arrays(t, "runs/alpha/samples/5/input?g=90")["input"]
	turned := f.arrays(t, "runs/alpha/samples/5/input?g=-270")["input"]
	lo, hi := number64(t, small.meta["lo"]), number64(t, small.meta["hi"])
	if !slices.Equal(exact.shape, []int{8, 8, 1}) || !slices.Equal(small.u8, turned.u8) ||
		small.meta["exact"] != "true" || lo != 0 || hi != 255 {
		t.Fatalf("shape %v, metadata %v", exact.shape, small.meta)
	}
	for i, b := range small.u8 {
		if v := lo + (hi-lo)*float64(b)/255; !(math.Abs(v-float64(exact.f32[i])) <= 0.501*(hi-lo)/255) {
			t.Fatalf("pixel %d is %v, want %v", i, v, exact.f32[i])
		}
	}
	m, err := png.Decode(bytes.NewReader(f.get(t, "runs/alpha/samples/5/thumb.png")))
	if err != nil || m.Bounds().Dx() != 8 || m.Bounds().Dy() != 8 {
		t.Fatalf("%v, %v", m, err)
	}
	home := f.arrays(t, "runs/alpha/samples/5/input?g=0")["input"].u8
	for i, b := range home {
		if r, _, _, _ := m.At(i%8, i/8).RGBA(); uint8(r>>8) != b {
			t.Fatalf("pixel %d of the small picture is %d, want %d", i, r>>8, b)
		}
	}
	moved, err := png.Decode(bytes.NewReader(f.get(t, "runs/alpha/samples/5/thumb.png?g=90")))
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range f.arrays(t, "runs/alpha/samples/5/input?g=90")["input"].u8 {
		if r, _, _, _ := moved.At(i%8, i/8).RGBA(); uint8(r>>8) != b {
			t.Fatalf("pixel %d of the moved small picture is %d, want %d", i, r>>8, b)
		}
	}
}

// TestBusy fills the pool of models and leaves: the next is sent away with a time, and the one that leaves stops its
// model.
func TestBusy(t *testing.T) {
	f := newFixture(t, nil)
	waitLive(t, f)
	block := make(chan struct{})
	f.engine.block.Store(&block)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/runs/alpha/samples/0/probe?g=1",
			nil))
	})
	for end := time.Now().Add(10 * time.Second); f.engine.held.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the model was never asked")
		}
	}
	r := f.ask(t, http.MethodGet, "/api/v1/runs/alpha/samples/0/probe?g=2", "")
	if p := parsed[guard.Problem](t, r.body); r.StatusCode != http.StatusServiceUnavailable || p.Code != "busy" ||
		r.Header.Get("Retry-After") != "1" {
		t.Errorf("%d %s, Retry-After %q", r.StatusCode, p.Code, r.Header.Get("Retry-After"))
	}
	f.get(t, "runs/alpha/samples/0/input?g=2") // needs no model, and does not wait for one
	cancel()
	wg.Wait()
	if f.engine.ended.Load() == 0 {
		t.Error("the model went on after its client had gone")
	}
	close(block)
	f.engine.block.Store(nil)
	f.get(t, "runs/alpha/samples/0/probe?g=1")
}

// embedded asks for a layout until it is there.
func embedded(t *testing.T, f *fixture, path string) (tensorOf, []api.Task) {
	t.Helper()
	var tasks []api.Task
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		r := f.ask(t, http.MethodGet, "/api/v1/"+path, "")
		b := r.body
		switch r.StatusCode {
		case http.StatusOK:
			c, err := readContainer(b)
			if err != nil {
				t.Fatal(err)
			}
			return tensorOf{c.tensors[0], c.meta}, tasks
		case http.StatusAccepted:
			if tasks = append(tasks, parsed[api.Task](t, b)); r.Header.Get("Retry-After") == "" {
				t.Error("202 without Retry-After")
			}
		default:
			t.Fatalf("%s: %d %s", path, r.StatusCode, b)
		}
		if time.Now().After(end) {
			t.Fatalf("%s: never there", path)
		}
	}
}

func TestEmbedding(t *testing.T) {
	f := newFixture(t, nil)
	a, tasks := embedded(t, f, "runs/alpha/embedding?method=tsne&metric=0&seed=3")
	if len(tasks) == 0 || tasks[0].Kind != "embedding" || tasks[0].Run != "alpha" ||
		!slices.Equal(a.shape, []int{12, 2}) || a.name != "xy" || a.meta["fitted"] != "12" {
		t.Fatalf("tasks %+v, %s %v, %v", tasks, a.name, a.shape, a.meta)
	}
	var axes, notes []string
	if err := errors.Join(json.Unmarshal([]byte(a.meta["axes"]), &axes),
		json.Unmarshal([]byte(a.meta["notes"]), &notes)); err != nil || len(axes) != 2 {
		t.Fatalf("axes %s, notes %s: %v", a.meta["axes"], a.meta["notes"], err)
	}
	if b, again := embedded(t, f,
		"runs/alpha/embedding?method=tsne&seed=3&metric=confidence&models=1,0"); len(again) > 0 ||
		!slices.Equal(a.f32, b.f32) {
		t.Error("the same question, put in another way, is computed again")
	}
	if b, _ := embedded(t, f, "runs/alpha/embedding?method=tsne&seed=4"); slices.Equal(a.f32, b.f32) {
		t.Error("another seed gives the same layout")
	}
	// PCA of one model, of the other, of both, and fitted to the first class.
	one, now := embedded(t, f, "runs/alpha/embedding?method=pca&models=0")
	if len(now) > 0 {
		t.Error("a fast method was put off")
	}
	two, _ := embedded(t, f, "runs/alpha/embedding?method=pca&models=1")
	both, _ := embedded(t, f, "runs/alpha/embedding?method=pca")
	fit, _ := embedded(t, f, "runs/alpha/embedding?method=pca&models=0&slice=a")
	for i, x := range [][]float32{two.f32, both.f32, fit.f32} {
		if slices.Equal(one.f32, x) {
			t.Errorf("layout %d is that of the first model", i)
		}
	}
	if fit.meta["fitted"] != "4" || fit.meta["placed"] != "8" {
		t.Errorf("fitted to a class of four: %v", fit.meta)
	}
	// Samples that are not there yet are nowhere.
	part, _ := embedded(t, f, "runs/beta/embedding?method=pca")
	for i := range 12 {
		x := float64(part.f32[2*i])
		if missing := i >= 8; math.IsNaN(x) != missing {
			t.Errorf("sample %d of an unfinished run is at %v", i, x)
		}
	}
}

// TestCancel cancels a layout that waits behind another, and one that is computed.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		c := &clock{}
		h := newHub()
		l := h.listen()
		ts := newTasks(ctx, &wg, h, c.now, quiet)
		release := make(chan struct{})
		begin := func(name string) api.Task {
			a, err := ts.start(api.Task{ID: name, Kind: kindEmbedding},
				func(ctx context.Context, tell func(float64)) (*container, error) {
					tell(0.5)
					select {
					case <-release:
						return &container{tensors: []tensor{f32("xy", make([]float32, 4), 2, 2)}}, nil
					case <-ctx.Done():
						return nil, fmt.Errorf("laying out: %w", ctx.Err())
					}
				})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		state := func(name string) string {
			a, _, _, ok := ts.find(name)
			if !ok {
				return "gone"
			}
			return a.State
		}
		begin("a")
		begin("b")
		begin("c")
		synctest.Wait()
		if state("a") != running || state("b") != waiting || len(ts.all()) != 3 {
			t.Fatalf("a is %s, b is %s, %d tasks", state("a"), state("b"), len(ts.all()))
		}
		if a := begin("a"); a.State != running {
			t.Errorf("the same task began again: %+v", a)
		}
		ts.stop("b")
		ts.stop("a")
		synctest.Wait()
		if state("a") != cancelled || state("b") != cancelled || state("c") != running {
			t.Fatalf("a is %s, b is %s, c is %s", state("a"), state("b"), state("c"))
		}
		close(release)
		synctest.Wait()
		if _, x, _, _ := ts.find("c"); state("c") != done || x == nil {
			t.Fatalf("c is %s", state("c"))
		}
		if begin("b"); state("b") == cancelled {
			t.Error("a cancelled task does not begin again")
		}
		synctest.Wait()
		if _, ok := ts.stop("nobody"); ok {
			t.Error("a task that is not there was stopped")
		}
		// The listener never took anything, and holds one state of each task: the latest.
		got := map[string]string{}
		events := l.take()
		for _, e := range events {
			got[e.Task.ID] = e.Task.State
		}
		if len(events) != 3 || len(got) != 3 || got["a"] != cancelled || got["b"] != done || got["c"] != done {
			t.Errorf("events %v", got)
		}
		cancel()
		wg.Wait()
		if _, err := ts.start(api.Task{ID: "late", Kind: kindEmbedding}, nil); err == nil {
			t.Error("a task began after the end")
		}
	})
}

// TestQueueBound wants the queue of layouts and what is kept of them to end.
func TestQueueBound(t *testing.T) {
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	ts := newTasks(ctx, &wg, newHub(), (&clock{}).now, quiet)
	hold := func(ctx context.Context, _ func(float64)) (*container, error) { <-ctx.Done(); return nil, ctx.Err() }
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		_, err = ts.start(api.Task{ID: strconv.Itoa(n), Kind: kindEmbedding}, hold)
	}
	var p *guard.Problem
	if !errors.As(err, &p) || p.Status != 503 || p.RetryAfter == 0 || n > maxWaiting+3 {
		t.Errorf("after %d tasks: %v", n, err)
	}
	cancel()
	wg.Wait()
	ts = newTasks(t.Context(), &wg, newHub(), (&clock{}).now, quiet)
	for i := range 3 * maxKept {
		ts.keep(api.Task{ID: strconv.Itoa(i)}, &container{})
	}
	if len(ts.known) > maxKept+1 || len(ts.order) != len(ts.known) {
		t.Errorf("%d tasks are kept", len(ts.known))
	}
	big := &container{tensors: []tensor{{name: "x", shape: []int{keptBytes}, fill: func([]uint8, int) {}}}}
	ts.keep(api.Task{ID: "big 1"}, big)
	ts.keep(api.Task{ID: "big 2"}, big)
	if _, _, _, ok := ts.find("big 1"); ok || ts.bytes > keptBytes {
		t.Errorf("%d bytes are kept", ts.bytes)
	}
}

// TestEvents opens two streams on a real connection. Both see the tasks, and both end with the server.
func TestEvents(t *testing.T) {
	f := newFixture(t, nil)
	srv := httptest.NewServer(f.Server)
	defer srv.Close()
	defer srv.CloseClientConnections() // a stream that does not end must not keep the test
	type stream struct {
		body   io.ReadCloser
		events chan api.Event
	}
	open := func() stream {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := srv.Client().Do(r) //nolint:bodyclose // it is closed below, with the stream
		if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%v %v", res, err)
		}
		s := stream{res.Body, make(chan api.Event, 100)}
		go func() {
			defer close(s.events)
			in := bufio.NewScanner(res.Body)
			for in.Scan() {
				if text, ok := strings.CutPrefix(in.Text(), "data: "); ok {
					var e api.Event
					if json.Unmarshal([]byte(text), &e) == nil {
						s.events <- e
					}
				}
			}
		}()
		return s
	}
	streams := []stream{open(), open()}
	_, _ = embedded(t, f, "runs/alpha/embedding?method=isomap")
	for i, s := range streams {
		for e := range s.events {
			if e.Task != nil && e.Task.State == done {
				if e.Task.Fraction != 1 || e.Task.Kind != kindEmbedding {
					t.Errorf("stream %d: %+v", i, e.Task)
				}
				break
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for i, s := range streams {
		end := time.After(10 * time.Second)
		for open := true; open; {
			select {
			case _, open = <-s.events:
			case <-end:
				t.Fatalf("stream %d goes on after the server has ended", i)
			}
		}
		_ = s.body.Close() // the stream has ended
	}
	if r := f.ask(t, http.MethodGet, "/api/v1/events", ""); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a stream after the end: %d", r.StatusCode)
	}
}

// TestHeartbeat wants a sign of life on a stream on which nothing happens.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub()
		var wg sync.WaitGroup
		s := &Server{hub: h, tasks: newTasks(t.Context(), &wg, h, time.Now, quiet)}
		ctx, cancel := context.WithCancel(t.Context())
		w := httptest.NewRecorder()
		wg.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/events", nil)
			if err := s.events(w, &request{r, nil}); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(3*heartbeat + time.Second)
		h.publish(api.Event{Slices: "alpha"})
		synctest.Wait()
		cancel()
		wg.Wait()
		if got, want := w.Body.String(), "retry: 2000\n\n"+strings.Repeat(": still here\n\n", 3)+
			"data: {\"slices\":\"alpha\"}\n\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if len(h.listeners) != 0 {
			t.Error("a listener that has gone is kept")
		}
	})
}

// worker is a Launcher that commits nothing and says how far it is.
type worker struct {
	steps chan int
	err   error
	began atomic.Int64
}

func (w *worker) Launch(ctx context.Context, _ *shelf.Run, kept func(int)) error {
	if w.began.Add(1); w.err != nil {
		return w.err
	}
	kept(8)
	for {
		select {
		case n, ok := <-w.steps:
			if !ok {
				return nil
			}
			kept(n)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestJob(t *testing.T) {
	launcher := &worker{steps: make(chan int)}
	f := newFixture(t, func(o *Options) { o.Launcher = launcher })
	post := func() (int, string) {
		r := f.ask(t, http.MethodPost, "/api/v1/runs/beta/job", "")
		return r.StatusCode, string(r.body)
	}
	if code, text := post(); code != http.StatusAccepted {
		t.Fatalf("%d %s", code, text)
	}
	if code, text := post(); code != http.StatusAccepted || launcher.began.Load() > 1 {
		t.Fatalf("a second time: %d %s", code, text)
	}
	launcher.steps <- 9
	launcher.steps <- 10
	doc := parsed[api.Run](t, f.get(t, "runs/beta"))
	if !doc.State.Running || doc.State.Done != 8 || doc.State.Total != 12 {
		t.Errorf("state %+v", doc.State)
	}
	if all := parsed[api.Runs](t, f.get(t, "runs")); !all.Runs[1].State.Running || all.Runs[0].State.Running {
		t.Errorf("states %+v", all.Runs)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if a, _, _, _ := f.tasks.find(idOf(kindRun, "beta")); a.Fraction == 10.0/12 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%+v", a)
		}
	}
	if r := f.ask(t, http.MethodDelete, "/api/v1/runs/beta/job", ""); r.StatusCode != http.StatusAccepted {
		t.Errorf("stop: %d", r.StatusCode)
	}
	state := func(want string) api.Task {
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			if a, _, _, _ := f.tasks.find(idOf(kindRun, "beta")); a.State == want {
				return a
			} else if time.Now().After(end) {
				t.Fatalf("%+v, want %s", a, want)
			}
		}
	}
	state(cancelled)
	// What keeps a run from going on is told to who asks, and on the stream.
	for _, c := range []struct {
		err        error
		code, want string
	}{
		{fmt.Errorf("run beta: %w", store.ErrBusy), "in-use", "in use by another process"},
		{&RefusedError{"the engine is another"}, "no-job", "the engine is another"},
	} {
		launcher.err = c.err
		code, text := post()
		if p := parsed[guard.Problem](t, []byte(text)); code != http.StatusConflict || p.Code != c.code ||
			!strings.Contains(p.Detail, c.want) {
			t.Errorf("%d %s, want code %s and %s", code, text, c.code, c.want)
		}
		if a := state(failed); !strings.Contains(a.Error, c.want) {
			t.Errorf("%+v, want the reason %s", a, c.want)
		}
	}
	// The next time it is tried anew, and ends.
	launcher.err, launcher.steps = nil, make(chan int)
	if code, text := post(); code != http.StatusAccepted {
		t.Fatalf("%d %s", code, text)
	}
	close(launcher.steps)
	if a := state(done); a.Fraction != 1 || a.Error != "" {
		t.Errorf("%+v", a)
	}
	none := newFixture(t, nil)
	if r := none.ask(t, http.MethodPost, "/api/v1/runs/beta/job", ""); r.StatusCode != http.StatusConflict ||
		!strings.Contains(string(r.body), "no-job") {
		t.Errorf("without a launcher: %d", r.StatusCode)
	}
}

// slow is a Launcher that takes its time to end.
type slow struct {
	began atomic.Int64
	end   chan struct{}
}

func (l *slow) Launch(ctx context.Context, _ *shelf.Run, kept func(int)) error {
	l.began.Add(1)
	kept(8)
	<-ctx.Done()
	<-l.end
	return ctx.Err()
}

// TestJobThatEnds: who asks for a run to go on while it is being stopped gets the run that begins after that, and not
// the one that ends.
func TestJobThatEnds(t *testing.T) {
	l := &slow{end: make(chan struct{})}
	f := newFixture(t, func(o *Options) { o.Launcher = l })
	const path = "/api/v1/runs/beta/job"
	if r := f.ask(t, http.MethodPost, path, ""); r.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	if r := f.ask(t, http.MethodDelete, path, ""); r.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	if r := f.ask(t, http.MethodPost, path, ""); r.StatusCode != http.StatusServiceUnavailable ||
		r.Header.Get("Retry-After") == "" || parsed[guard.Problem](t, r.body).Code != "busy" || l.began.Load() != 1 {
		t.Errorf("while it ends: %d %s", r.StatusCode, r.body)
	}
	answered := make(chan reply, 1)
	go func() { answered <- f.ask(t, http.MethodPost, path, "") }()
	l.end <- struct{}{}
	r := <-answered
	if a := parsed[api.Task](t, r.body); r.StatusCode != http.StatusAccepted || a.State != running ||
		l.began.Load() != 2 {
		t.Errorf("after it ended: %d %+v, begun %d times", r.StatusCode, a, l.began.Load())
	}
	close(l.end)
}

// TestExports holds a table that is downloaded against one that is made here, and against other calls.
func TestExports(t *testing.T) {
	f := newFixture(t, nil)
	run, err := f.shelf.Run("alpha")
	if err != nil {
		t.Fatal(err)
	}
	label := 1
	for path, q := range map[string]tables.Request{
		"aggregate.%s?metric=accuracy": {Table: "aggregate", Metric: 1},
		"samples.%s?slice=b":           {Table: "samples", Set: api.Set{Label: &label}},
		"orbit.%s?i=7":                 {Table: "orbit", Sample: 7},
		"compare.%s?a=1&b=0":           {Table: "compare", A: 1, B: 0},
		"findings.%s":                  {Table: "findings"},
	} {
		tab, err := tables.Of(t.Context(), f.shelf, run, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range table.Formats() {
			var want bytes.Buffer
			if err := table.Write(&want, format, tab); err != nil {
				t.Fatal(err)
			}
			r := f.ask(t, http.MethodGet, "/api/v1/runs/alpha/export/"+fmt.Sprintf(path, format), "")
			got := r.body
			if !bytes.Equal(got, want.Bytes()) || r.Header.Get("Content-Type") != format.Type() ||
				!strings.HasPrefix(r.Header.Get("Content-Disposition"), `attachment; filename="alpha-`+q.Table+".") {
				t.Errorf("%s as %s: %d %v\n%.300s\nwant\n%.300s", path, format, r.StatusCode, r.Header, got,
					want.Bytes())
			}
		}
	}
	// The numbers of a table are those of the calls.
	a := parsed[api.Aggregate](t,
		f.ask(t, http.MethodPost, "/api/v1/runs/alpha/aggregate", `{"set":{},"metric":0}`).body)
	lines := strings.Split(strings.TrimSpace(string(f.get(t, "runs/alpha/export/aggregate.jsonl"))), "\n")
	if len(lines) != 2*(16+1) {
		t.Fatalf("%d lines for two models at sixteen elements and on the whole", len(lines))
	}
	for i, line := range lines {
		row := parsed[map[string]any](t, []byte(line))
		c, want := a.Curves[i/17], a.Curves[i/17].Orbit.Mean
		if k := i % 17; k < 16 {
			want = c.Mean[k]
			if g, ok := row["angle_deg"].(float64); !ok || g != 22.5*float64(k) {
				t.Errorf("line %d: %v", i, row)
			}
		}
		if got, ok := row["mean"].(float64); !ok || got != float64(want) {
			t.Errorf("line %d: mean %v, want %v", i, row["mean"], want)
		}
	}
	// compare is the second model less the first.
	for i, line := range strings.Split(strings.TrimSpace(string(f.get(t, "runs/alpha/export/compare.jsonl?a=1&b=0"))),
		"\n")[:16] {
		row := parsed[map[string]any](t, []byte(line))
		want := float64(a.Curves[0].Mean[i] - a.Curves[1].Mean[i])
		if got, ok := row["mean"].(float64); !ok || !(math.Abs(got-want) <= 1e-6) || row["a"] != "corners" ||
			row["b"] != "halves" {
			t.Errorf("line %d: %v, want mean %v of halves less corners", i, row, want)
		}
	}
	// Alone in its set a sample is like the mean curve, unless it is level; ties say how many elements are as bad.
	alone := parsed[map[string]any](t, []byte(strings.SplitN(string(f.get(t,
		"runs/alpha/export/samples.jsonl?set=%7B%22indexes%22%3A%5B4%5D%7D")), "\n", 2)[0]))
	if alone["index"] != 4.0 || alone["correlation"] != 1.0 || alone["similarity"] != 1.0 ||
		alone["worst_ties"] == nil {
		t.Errorf("sample 4 by itself: %v", alone)
	}
	if text := string(f.get(t, "runs/alpha/export/findings.csv")); !strings.Contains(text,
		"the model changes its answer | by 1.3") || !strings.Contains(text, "train; average") {
		t.Errorf("findings: %s", text)
	}
}

// TestSlices keeps slices, finds them in tables, and refuses who was slower.
func TestSlices(t *testing.T) {
	f := newFixture(t, nil)
	r := f.ask(t, http.MethodGet, "/api/v1/runs/alpha/slices", "")
	if s := parsed[api.Slices](t, r.body); s.Format != 1 || len(s.Slices) != 0 {
		t.Fatalf("%+v", s)
	}
	old := r.Header.Get("ETag")
	put := func(tag, body string) reply {
		return f.ask(t, http.MethodPut, "/api/v1/runs/alpha/slices", body, "If-Match", tag)
	}
	mine := `{"format":1,"slices":[{"name":"mine","label":-1,"n":0,"set":{"indexes":[0,3,4]}}]}`
	r = put(old, mine)
	kept := parsed[api.Slices](t, r.body)
	if r.StatusCode != http.StatusOK || kept.Slices[0].N != 3 || r.Header.Get("ETag") == old {
		t.Fatalf("%d %+v", r.StatusCode, kept)
	}
	if r := put(old, mine); r.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("who was slower: %d", r.StatusCode)
	}
	if n := strings.Count(string(f.get(t, "runs/alpha/export/samples.jsonl?slice=mine")), "\n"); n != 6 {
		t.Errorf("%d rows of three samples and two models", n)
	}
	if s := parsed[api.Selected](t,
		f.ask(t, http.MethodPost, "/api/v1/runs/alpha/select", `{"not":{"slice":"mine"}}`).body); s.N != 9 {
		t.Errorf("%+v", s)
	}
	r = f.ask(t, http.MethodPost, "/api/v1/runs/alpha/select", `{"rule":"mean >"}`)
	if p := parsed[guard.Problem](t, r.body); r.StatusCode != http.StatusBadRequest || p.Code != "rule" ||
		!strings.Contains(p.Detail, "character") {
		t.Errorf("a bad rule: %d %+v", r.StatusCode, p)
	}
}

// Whoever holds the lock of the slices for longer than one waits is no mistake of this server's: the file is in use.
func TestLockedSlicesAreBusy(t *testing.T) {
	err := fmt.Errorf("slices.json is %w: %w", store.ErrBusy, context.DeadlineExceeded)
	if p := problemOf(asked("the body", err)); p.Status != http.StatusConflict || p.Code != "in-use" ||
		!strings.Contains(p.Detail, "another process") {
		t.Errorf("%+v", p)
	}
}

// TestReport wants a page, or a reason why there is none.
func TestReport(t *testing.T) {
	f := newFixture(t, nil)
	r := f.ask(t, http.MethodGet, "/api/v1/runs/alpha/report?metric=accuracy&seed=1", "")
	if b := string(r.body); r.StatusCode != http.StatusOK || !strings.Contains(b, "alpha accuracy") ||
		r.Header.Get("Content-Disposition") != `attachment; filename="alpha.html"` {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, b)
	}
	none := newFixture(t, func(o *Options) { o.Report = nil })
	if r := none.ask(t, http.MethodGet, "/api/v1/runs/alpha/report", ""); r.StatusCode != http.StatusNotImplemented {
		t.Errorf("%d", r.StatusCode)
	}
}

// Reports are written one after the other, and who gives up while another one is written leaves.
func TestReportsWait(t *testing.T) {
	var at, together, done atomic.Int32
	inside, goOn := make(chan struct{}, 4), make(chan struct{})
	f := newFixture(t, func(o *Options) {
		o.Report = func(ctx context.Context, _ io.Writer, _ *shelf.Run, _ url.Values) error {
			if at.Add(1) > 1 {
				together.Add(1)
			}
			inside <- struct{}{}
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			at.Add(-1)
			done.Add(1)
			return nil
		}
	})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if r := f.ask(t, http.MethodGet, "/api/v1/runs/alpha/report", ""); r.StatusCode != http.StatusOK {
				t.Errorf("%d", r.StatusCode)
			}
		})
	}
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v1/runs/alpha/report", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("who gave up: %d", w.Code)
	}
	close(goOn)
	wg.Wait()
	if together.Load() != 0 || done.Load() != 3 {
		t.Errorf("%d written beside others, %d written, want 0 and 3", together.Load(), done.Load())
	}
}

func TestNewRefuses(t *testing.T) {
	f := newFixture(t, nil)
	for i, o := range []Options{{}, {Shelf: f.shelf}, {Shelf: f.shelf, Files: interfaceStub}} {
		if s, err := New(t.Context(), o); err == nil {
			t.Errorf("options %d make %v", i, s)
		}
	}
}

func TestElementText(t *testing.T) {
	if got := elementText(group.Element{math.Copysign(0, -1), 1.5, -3}); got != "0,1.5,-3" {
		t.Error(got)
	}
}

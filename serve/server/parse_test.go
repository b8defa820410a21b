package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/serve/api"
	"nero/serve/guard"
)

// refusedAs wants a problem with that code.
func refusedAs(t *testing.T, what string, err error, code string) {
	t.Helper()
	var p *guard.Problem
	if !errors.As(err, &p) || p.Code != code || p.Status < 400 || p.Status > 499 {
		t.Errorf("%s: %v, want a problem of the client with code %s", what, err, code)
	}
}

// A body says everything once: of two values nobody knows which was meant.
func TestDecodeRepeated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"metric":1,"metric":2}`:                                   `"metric" stands there twice, at byte 20`,
		`{"metric":1,"Metric":1}`:                                   `"Metric" stands there twice`,
		`{"set":{"and":[{},{"rule":"min < 1","rule":"max < 1"}]}}`:  `"rule" stands there twice`,
		`{"set":{"and":[{"rule":"rule"},{"rule":"x"}]},"metric":1}`: "",
		`{"models":[1,1],"pair":[0,1],"set":{"label":null}}`:        "",
		`null`: "",
	} {
		var q api.AggregateRequest
		switch err := decode("the body", []byte(text), &q); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "":
			refusedAs(t, text, err, "bad-request")
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		}
	}
}

func TestParseQuery(t *testing.T) {
	q, err := parseQuery("g=1,-2.5e1&models=2,0&seq=7&set=", []string{"g", "models", "seq", "set"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := q.element()
	if err != nil || !slices.Equal(g, []float64{1, -25}) {
		t.Errorf("%v %v", g, err)
	}
	m, err := q.models(3)
	if err != nil || !slices.Equal(m, []int{2, 0}) {
		t.Errorf("%v %v", m, err)
	}
	for _, raw := range []string{"h=1", "g=1&g=1", "g=%ff", "g=%zz", "g=1;models=2"} {
		_, err := parseQuery(raw, []string{"g", "models"})
		refusedAs(t, raw, err, "bad-request")
	}
	for _, s := range []string{
		"nan", "NaN", "inf", "-Inf", "+infinity", "0x10", "1_000", "1e999", "", "1,", ",1", "1 ",
		"--1", "1,,2", "e", "½",
	} {
		if s == "" {
			continue // the trivial group's element
		}
		_, err := query{"g": s}.element()
		refusedAs(t, "g="+s, err, "bad-request")
	}
	_, err = query{"g": strings.Repeat("1,", maxAxes) + "1"}.element()
	refusedAs(t, "many coordinates", err, "bad-request")
	for _, s := range []string{"", "-1", "+1", "01", "3", "0,0", "0,", "1.0", "9999999999", "１"} {
		_, err := query{"models": s}.models(3)
		refusedAs(t, "models="+s, err, "bad-request")
	}
	for _, s := range []string{"", "1", "1-", "-1", "2-1", "0-11", "a-b", "0-1-2", "00-1", "-1-2"} {
		_, _, err := query{"rows": s}.rows(10)
		refusedAs(t, "rows="+s, err, "bad-request")
	}
	if lo, hi, err := (query{"rows": "0-10"}).rows(10); lo != 0 || hi != 10 || err != nil {
		t.Error(lo, hi, err)
	}
}

// TestNumber reads back every finite number that is written, and nothing that is not finite.
func TestNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64().Draw(t, "v")
		got, err := number(strconv.FormatFloat(v, 'g', -1, 64))
		if finite(v) != (err == nil) || err == nil && got != v {
			t.Fatalf("%v is read as %v (%v)", v, got, err)
		}
	})
}

// TestSetKeys reads sets from a query.
func TestSetKeys(t *testing.T) {
	s, err := query{"slice": "mine"}.set()
	if err != nil || s.Slice != "mine" {
		t.Error(s, err)
	}
	s, err = query{"set": `{"not":{"label":3}}`}.set()
	if err != nil || s.Not == nil || *s.Not.Label != 3 {
		t.Error(s, err)
	}
	for _, q := range []query{
		{"slice": "", "x": ""},
		{"slice": "a", "set": "{}"},
		{"set": ""},
		{"set": "[]"},
		{"set": `{"a":1}`},
		{"set": `{} {}`},
		{"slice": strings.Repeat("x", maxName+1)},
	} {
		_, err := q.set()
		refusedAs(t, "set", err, "bad-request")
	}
}

func TestCheckSet(t *testing.T) {
	deep := api.Set{}
	for range maxDepth + 1 {
		deep = api.Set{Not: &deep}
	}
	for name, s := range map[string]api.Set{
		"two":        {Rule: "x", Slice: "y"},
		"descending": {Indexes: []int{3, 2}},
		"equal":      {Indexes: []int{3, 3}},
		"negative":   {Indexes: []int{-1}},
		"deep":       deep,
		"many":       {Or: make([]api.Set, maxSets)},
		"rule":       {Rule: strings.Repeat("x", maxRule+1)},
		"inside":     {And: []api.Set{{}, {Or: []api.Set{{Rule: "x", Bits: "y"}}}}},
	} {
		refusedAs(t, name, checkSet("set", &s), "bad-request")
	}
	for name, s := range map[string]api.Set{
		"all": {}, "none": {Indexes: []int{}}, "some": {Indexes: []int{0, 7}},
		"and": {And: []api.Set{{}, {Bits: "x"}}},
	} {
		if err := checkSet("set", &s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBodyBytes wants room for a set of ten million samples, and little for what needs little.
func TestBodyBytes(t *testing.T) {
	for path, want := range map[string]int64{
		"POST /api/v1/runs/a/select":    16 << 20,
		"POST /api/v1/runs/a/aggregate": 16 << 20, "PUT /api/v1/runs/a/slices": 32 << 20,
		"POST /api/v1/runs/a/job": 64 << 10,
	} {
		method, target, _ := strings.Cut(path, " ")
		if got := BodyBytes(httptest.NewRequest(method, target, nil)); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

// anyContainer draws containers with any names, shapes and bits.
func anyContainer(t *rapid.T) *container {
	c := &container{}
	for i, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé"\\.0-9]{0,12}`), 0, 5,
		rapid.ID[string]).Draw(t, "names") {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "shape")
		n := values(shape)
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			c.tensors = append(c.tensors,
				f32(name, rapid.SliceOfN(rapid.Map(rapid.Uint32(), math.Float32frombits), n, n).Draw(t, "f32"),
					shape...))
		case 1:
			c.tensors = append(c.tensors, i32(name, rapid.SliceOfN(rapid.Int32(), n, n).Draw(t, "i32"), shape...))
		case 2:
			c.tensors = append(c.tensors, u8(name, rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "u8"), shape...))
		default:
			c.tensors = append(c.tensors, tensor{name: name, shape: shape, fill: func(dst []uint8, lo int) {
				for k := range dst {
					dst[k] = uint8(lo + k + i)
				}
			}})
		}
	}
	if rapid.Bool().Draw(t, "texts") {
		c.meta = rapid.MapOfN(rapid.String(), rapid.String(), 1, 3).Draw(t, "meta")
		for k, v := range c.meta {
			if !strings.Contains(k, "\uFFFD") &&
				(strings.ToValidUTF8(k, "?") != k || strings.ToValidUTF8(v, "?") != v) {
				delete(c.meta, k)
			}
		}
	}
	return c
}

// TestContainer reads back what was written, and wants every tensor of four bytes a value to begin at a multiple of
// four.
func TestContainer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyContainer(t)
		var b bytes.Buffer
		n, err := c.WriteTo(&b)
		if err != nil || n != int64(b.Len()) {
			t.Fatalf("%d bytes, %d written: %v", n, b.Len(), err)
		}
		head := int(b.Bytes()[0]) | int(b.Bytes()[1])<<8
		if head%8 != 0 {
			t.Fatalf("the data begin at %d", 8+head)
		}
		got, err := readContainer(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if len(got.tensors) != len(c.tensors) || len(got.meta) != len(c.meta) {
			t.Fatalf("%d tensors and %d texts, want %d and %d", len(got.tensors), len(got.meta), len(c.tensors),
				len(c.meta))
		}
		for k, v := range c.meta {
			if got.meta[k] != v {
				t.Fatalf("text %q is %q, want %q", k, got.meta[k], v)
			}
		}
		at := 0
		for _, w := range c.sorted().tensors {
			i := slices.IndexFunc(got.tensors, func(o tensor) bool { return o.name == w.name })
			g := got.tensors[i]
			if at%w.dtype().size() != 0 {
				t.Fatalf("tensor %q begins at %d", w.name, at)
			}
			at += values(w.shape) * w.dtype().size()
			if w.fill != nil {
				w.u8 = make([]uint8, values(w.shape))
				w.fill(w.u8, 0)
			}
			same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
			if g.dtype() != w.dtype() || !slices.Equal(g.shape, w.shape) || !slices.EqualFunc(g.f32, w.f32, same) ||
				!slices.Equal(g.i32, w.i32) || !slices.Equal(g.u8, w.u8) {
				t.Fatalf("tensor %q is another one", w.name)
			}
		}
	})
}

// TestContainerParts wants large arrays to be written in parts that fit together.
func TestContainerParts(t *testing.T) {
	n := 3*chunk + 5
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	c := &container{tensors: []tensor{f32("f", v, n), {name: "u", shape: []int{n}, fill: func(dst []uint8, lo int) {
		for k := range dst {
			dst[k] = uint8((lo + k) % 251)
		}
	}}}}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	got, err := readContainer(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if got.tensors[0].f32[i] != float32(i) || got.tensors[1].u8[i] != uint8(i%251) {
			t.Fatalf("value %d", i)
		}
	}
	for name, bad := range map[string]container{
		"twice":    {tensors: []tensor{u8("x", nil, 0), u8("x", nil, 0)}},
		"reserved": {tensors: []tensor{u8(metadataKey, nil, 0)}},
		"shape":    {tensors: []tensor{f32("x", []float32{1, 2}, 3)}},
	} {
		if _, err := bad.WriteTo(&b); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

// FuzzContainer reads anything without allocating more than it was given, and writes the same again.
func FuzzContainer(f *testing.F) {
	for _, c := range []*container{
		{}, {
			meta:    map[string]string{"lo": "0"},
			tensors: []tensor{u8("a", []uint8{1, 2, 3}, 3), f32("b", []float32{1}, 1, 1), i32("c", nil, 0)},
		},
	} {
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x30\x00\x00\x00\x00\x00\x00\x00" +
		`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readContainer(b)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if _, err := c.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		again, err := readContainer(out.Bytes())
		if err != nil || len(again.tensors) != len(c.tensors) {
			t.Fatalf("%d tensors, then %v", len(c.tensors), err)
		}
	})
}

// FuzzQuery parses any query of any call without a crash, and never with a number that is not finite.
func FuzzQuery(f *testing.F) {
	for _, c := range calls() {
		if _, q, ok := strings.Cut(c.path, "?"); ok {
			f.Add(q)
		}
	}
	var keys []string
	for _, rt := range routesTable() {
		keys = append(keys, rt.keys()...)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := parseQuery(raw, keys)
		if err != nil {
			refusedAs(t, raw, err, "bad-request")
			return
		}
		if g, err := q.element(); err == nil {
			for _, v := range g {
				if !finite(v) {
					t.Fatalf("%q has coordinate %v", raw, v)
				}
			}
			if text := elementText(g); len(g) > 0 {
				if again, err := (query{"g": text}).element(); err != nil || !slices.Equal(again, g) {
					t.Fatalf("%v is written %s and read %v (%v)", g, text, again, err)
				}
			}
		}
		if m, err := q.models(5); err == nil {
			for i, v := range m {
				if v < 0 || v >= 5 || slices.Contains(m[:i], v) {
					t.Fatalf("%q has models %v", raw, m)
				}
			}
		}
		if lo, hi, err := q.rows(100); err == nil && (lo < 0 || lo > hi || hi > 100) {
			t.Fatalf("%q has rows %d to %d", raw, lo, hi)
		}
		if k, err := metricOf(q, []string{"a", "b"}); err == nil && (k < 0 || k > 1) {
			t.Fatalf("%q has metric %d", raw, k)
		}
		if s, err := q.set(); err == nil {
			if err := checkSet("set", &s); err != nil {
				t.Fatalf("%q has a set that is refused later: %v", raw, err)
			}
		}
	})
}

// FuzzBodies sends any body to every call that takes one: the answer is a document or a problem of the client, never of
// the server.
func FuzzBodies(f *testing.F) {
	var paths []call
	for _, c := range calls() {
		if c.body != "" {
			f.Add(c.body)
			if !slices.ContainsFunc(paths, func(o call) bool { return o.path == c.path }) {
				paths = append(paths, c)
			}
		}
	}
	f.Add(`{"set":{"rule":"mean > 0.5 and label = 1"},"metric":0}`)
	f.Add(`{"slice":"a"}`)
	f.Add(`{"format":1,"slices":[{"name":"x","label":-1,"n":0,"set":{"slice":"x"}}]}`)
	fx := newFixture(f, nil)
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range paths {
			r := httptest.NewRequestWithContext(t.Context(), c.method, "/api/v1/"+c.path, strings.NewReader(text))
			r.Header.Set("Content-Type", typeJSON)
			r.Header.Set("If-Match", `"nobody"`)
			w := httptest.NewRecorder()
			fx.ServeHTTP(w, r)
			if w.Code >= 500 || w.Code != 200 && w.Code < 400 {
				t.Fatalf("%s %s with %q: %d %s", c.method, c.path, text, w.Code, w.Body)
			}
			if !json.Valid(w.Body.Bytes()) {
				t.Fatalf("%s %s with %q: %s", c.method, c.path, text, w.Body)
			}
		}
	})
}

// FuzzAddresses sends any address below the API: never a crash, never a problem of the server.
func FuzzAddresses(f *testing.F) {
	for _, c := range calls() {
		if c.route != "events" {
			f.Add(c.path)
		}
	}
	fx := newFixture(f, nil)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse("/api/v1/" + text)
		if err != nil || strings.Contains(u.Path, "events") || u.Host != "" {
			return
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL = u
		w := httptest.NewRecorder()
		fx.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
			t.Fatalf("%q: %d %s", text, w.Code, w.Body)
		}
	})
}

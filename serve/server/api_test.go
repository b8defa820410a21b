package server

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"nero/run/store"
	"nero/serve/api"
	"nero/serve/guard"
	"nero/serve/shelf"
)

// call is one request with what it has to be answered with.
type call struct {
	// name of the operation
	route string
	// GET if empty
	method string
	path   string
	body   string
	header []string
	// 200 if 0
	status int
	// of the problem, if it is one
	code string
	// odd says that the request is not one of the document: only the answer is held against it.
	odd bool
}

// calls are requests for every route, in this order: those that are answered, then those that are refused.
func calls() []call {
	return []call{
		{route: "runs", path: "runs"},
		{route: "runs", path: "runs?x=1", status: 400, code: "bad-request", odd: true},
		{route: "runs", path: "runs?%zz", status: 400, code: "bad-request", odd: true},
		{route: "run", path: "runs/alpha"},
		{route: "run", path: "runs/beta"},
		{route: "run", path: "runs/gamma"},
		{route: "run", path: "runs/alpha+beta"},
		{route: "run", path: "runs/alpha%2Bbeta", odd: true},
		{route: "run", path: "runs/nobody", status: 404, code: "not-found"},
		{route: "run", path: "runs/alpha+gamma", status: 409, code: "not-together"},
		{route: "run", path: "runs/alpha%20", status: 404, code: "not-found", odd: true},
		{route: "samples", path: "runs/alpha/samples"},
		{route: "samples", path: "runs/beta/samples"},
		{route: "samples", path: "runs/nobody/samples", status: 404, code: "not-found"},
		{route: "sample", path: "runs/alpha/samples/0"},
		{route: "sample", path: "runs/alpha+beta/samples/7"},
		{route: "sample", path: "runs/beta/samples/11"},
		{route: "sample", path: "runs/alpha/samples/12", status: 404, code: "not-found"},
		{route: "sample", path: "runs/alpha/samples/-1", status: 404, code: "not-found", odd: true},
		{route: "sample", path: "runs/alpha/samples/01", status: 404, code: "not-found", odd: true},
		{route: "input", path: "runs/alpha/samples/3/input?g=12.5"},
		{route: "input", path: "runs/alpha/samples/3/input?g=-360&dtype=f32"},
		{route: "input", path: "runs/alpha/samples/3/input", status: 400, code: "bad-request", odd: true},
		{route: "input", path: "runs/alpha/samples/3/input?g=NaN", status: 400, code: "bad-request", odd: true},
		{route: "input", path: "runs/alpha/samples/3/input?g=1e999", status: 400, code: "bad-request"},
		{route: "input", path: "runs/alpha/samples/3/input?g=1,2", status: 400, code: "element"},
		{route: "input", path: "runs/alpha/samples/3/input?g=1&g=1", status: 400, code: "bad-request"},
		{route: "input", path: "runs/gamma/samples/3/input?g=45", status: 400, code: "element"},
		{route: "input", path: "runs/alpha/samples/3/input?g=1&dtype=f64", status: 400, code: "bad-request", odd: true},
		{route: "context", path: "runs/delta/samples/2/context"},
		{route: "context", path: "runs/alpha/samples/3/context"},
		{route: "context", path: "runs/delta/samples/9/context", status: 404, code: "not-found"},
		{route: "boxes", path: "runs/delta/samples/2/boxes?g=4,-2"},
		{route: "boxes", path: "runs/delta/samples/2/boxes?g=1,0", status: 404, code: "not-found"},
		{route: "boxes", path: "runs/delta/samples/2/boxes?g=1", status: 400, code: "bad-request"},
		{route: "boxes", path: "runs/delta/samples/2/boxes", status: 400, code: "bad-request", odd: true},
		{route: "boxes", path: "runs/alpha/samples/2/boxes?g=0", status: 404, code: "not-found"},
		{route: "probe", path: "runs/delta/samples/2/probe?g=4,-2&models=1"},
		{route: "probe", path: "runs/epsilon/samples/2/probe?g=90,1,1&ref=self"},
		{
			route: "probe", path: "runs/epsilon/samples/2/probe?g=90,1,1&ref=me", status: 400, code: "bad-request",
			odd: true,
		},
		{route: "errors", path: "runs/epsilon/samples/2/errors?g=90,1,1"},
		{route: "errors", path: "runs/epsilon/samples/2/errors?g=90,1,1&models=0&ref=self"},
		{
			route: "errors", path: "runs/epsilon/samples/2/errors?g=90,1,1&ref=me", status: 400, code: "bad-request",
			odd: true,
		},
		{route: "errors", path: "runs/alpha/samples/3/errors?g=90"},
		{route: "input", path: "runs/epsilon/samples/2/input?g=90,1,1"},
		{route: "thumb", path: "runs/alpha/samples/3/thumb.png"},
		{route: "thumb", path: "runs/alpha/samples/3/thumb.png?g=90"},
		{route: "thumb", path: "runs/alpha/samples/3/thumb.png?g=x", status: 400, code: "bad-request", odd: true},
		{route: "thumb", path: "runs/alpha/samples/99/thumb.png", status: 404, code: "not-found"},
		{route: "probe", path: "runs/alpha/samples/3/probe?g=12.5&models=1,0&seq=17"},
		{route: "probe", path: "runs/gamma/samples/3/probe?g=90"},
		{route: "probe", path: "runs/alpha+beta/samples/3/probe?g=0&models=2"},
		{route: "probe", path: "runs/alpha/samples/3/probe?g=0&models=2", status: 400, code: "bad-request"},
		{route: "probe", path: "runs/alpha/samples/3/probe?g=0&models=0,0", status: 400, code: "bad-request"},
		{route: "probe", path: "runs/alpha/samples/3/probe?g=0&seq=x", status: 400, code: "bad-request", odd: true},
		{route: "probe", path: "runs/alpha/samples/3/probe?g=Inf", status: 400, code: "bad-request", odd: true},
		{route: "array", path: "runs/alpha/arrays/curves.1.0"},
		{route: "array", path: "runs/alpha/arrays/curves.0.1?dtype=u8&rows=2-5"},
		{route: "array", path: "runs/alpha/arrays/curves.0.1?rows=3-3"},
		{route: "array", path: "runs/alpha/arrays/top.0?dtype=u8"},
		{route: "array", path: "runs/alpha/arrays/top.1"},
		{route: "array", path: "runs/beta/arrays/samples.0.0"},
		{route: "array", path: "runs/alpha/arrays/samples.0.0?dtype=u8", status: 400, code: "bad-request"},
		{route: "array", path: "runs/alpha/arrays/curves.2.0", status: 404, code: "not-found"},
		{route: "array", path: "runs/alpha/arrays/curves.0.99", status: 404, code: "not-found"},
		{route: "array", path: "runs/alpha/arrays/weights.0", status: 404, code: "not-found", odd: true},
		{route: "array", path: "runs/gamma/arrays/top.0", status: 404, code: "not-found"},
		{route: "array", path: "runs/alpha/arrays/top.0?rows=0-13", status: 400, code: "bad-request"},
		{route: "array", path: "runs/alpha/arrays/top.0?rows=5-2", status: 400, code: "bad-request"},
		{
			route: "array", path: "runs/alpha/arrays/top.0?rows=0-1000000000", status: 400, code: "bad-request",
			odd: true,
		},
		{route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: `{"set":{},"metric":0}`},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate",
			body: `{"set":{"not":{"or":[{"label":0},{"indexes":[1,5]}]}},"metric":1,"models":[1,0],"pair":[0,1]}`,
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate",
			body: `{"set":{"and":[{"label":0},{"label":1}]},"metric":0}`,
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: `{"set":{},"metric":0,"models":[]}`,
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: `{"set":{},"metric":9}`,
			status: 400,
			code:   "bad-request",
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: `{"set":{},"metric":-1}`,
			status: 400,
			code:   "bad-request",
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate",
			body:   `{"set":{},"metric":0,"pair":[0,0]}`,
			status: 400, code: "bad-request",
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: `{"set":{},"metric":0,"pair":[1]}`,
			status: 400, code: "bad-request",
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate",
			body:   `{"set":{},"metric":0,"models":[0,7]}`,
			status: 400, code: "bad-request",
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: `{"set":{},"metric":0,"metrics":1}`,
			status: 400, code: "bad-request", odd: true,
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: `{"set":{},"metric":0}{}`,
			status: 400,
			code:   "bad-request", odd: true,
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: " ", status: 400,
			code: "bad-request",
			odd:  true,
		},
		{
			route: "aggregate", method: "POST", path: "runs/alpha/aggregate", body: `{}`,
			header: []string{"Content-Type", "text/plain"}, status: 415, code: "content-type", odd: true,
		},
		{route: "select", method: "POST", path: "runs/alpha/select", body: `{"label":1}`},
		{route: "select", method: "POST", path: "runs/alpha/select", body: `{"bits":"/w8="}`},
		{
			route: "select", method: "POST", path: "runs/alpha/select", body: `{"bits":"//8="}`, status: 400,
			code: "bad-request",
		},
		{
			route: "select", method: "POST", path: "runs/alpha/select", body: `{"bits":"AAAA"}`, status: 400,
			code: "bad-request",
		},
		{
			route: "select", method: "POST", path: "runs/alpha/select", body: `{"indexes":[3,3]}`, status: 400,
			code: "bad-request",
		},
		{
			route: "select", method: "POST", path: "runs/alpha/select", body: `{"indexes":[12]}`, status: 400,
			code: "bad-request",
		},
		{
			route: "select", method: "POST", path: "runs/alpha/select", body: `{"label":1,"rule":"x"}`, status: 400,
			code: "bad-request",
		},
		{route: "select", method: "POST", path: "runs/alpha/select", body: strings.Repeat(`{"not":`, 40) + `{}` +
			strings.Repeat(`}`, 40), status: 400, code: "bad-request"},
		{route: "embedding", path: "runs/alpha/embedding"},
		{route: "embedding", path: "runs/alpha/embedding?method=pca&metric=1&models=1&seed=3&slice=a", odd: false},
		{
			route: "embedding",
			path:  `runs/alpha/embedding?method=ica&set=%7B%22indexes%22%3A%5B0%2C1%2C2%2C3%2C4%2C5%2C6%5D%7D`,
		},
		{route: "embedding", path: "runs/alpha/embedding?method=umap&seed=5", status: 202},
		{route: "embedding", path: "runs/alpha/embedding?method=tarot", status: 400, code: "bad-request"},
		{route: "embedding", path: "runs/alpha/embedding?metric=99", status: 400, code: "bad-request"},
		{route: "embedding", path: "runs/alpha/embedding?seed=-1", status: 400, code: "bad-request", odd: true},
		{
			route: "embedding", path: `runs/alpha/embedding?set=%7B%22indexes%22%3A%5B%5D%7D`, status: 400,
			code: "bad-request",
		},
		{route: "embedding", path: `runs/alpha/embedding?set=%7B%22nobody%22%3A1%7D`, status: 400, code: "bad-request"},
		{route: "embedding", path: `runs/alpha/embedding?set=%7B%7D&slice=a`, status: 400, code: "bad-request"},
		{route: "slices", path: "runs/alpha/slices"},
		{route: "slices", path: "runs/nobody/slices", status: 404, code: "not-found"},
		{
			route: "putSlices", method: "PUT", path: "runs/alpha/slices", body: `{"format":1,"slices":[]}`, status: 428,
			code: "no-tag", odd: true,
		},
		{
			route: "putSlices", method: "PUT", path: "runs/alpha/slices", body: `{"format":1,"slices":[],"more":1}`,
			header: []string{"If-Match", `"x"`}, status: 400, code: "bad-request", odd: true,
		},
		{
			route: "putSlices", method: "PUT", path: "runs/alpha/slices", body: `{"format":1,"slices":[]}`,
			header: []string{"If-Match", `"nobody"`}, status: 412, code: "changed",
		},
		{
			route: "putSlices", method: "PUT", path: "runs/alpha/slices",
			body:   `{"format":1,"slices":[{"name":"mine","label":-1,"n":2,"set":{"indexes":[0,3]}}]}`,
			header: []string{"If-Match", "(now)"},
		},
		{route: "turns", method: "POST", path: "runs/alpha/turns", body: `{"set":{},"model":0,"against":"self"}`},
		{
			route: "turns", method: "POST", path: "runs/alpha/turns",
			body: `{"set":{},"model":0,"against":"x"}`, status: 400, code: "bad-request",
		},
		{
			route: "turns", method: "POST", path: "runs/alpha/turns",
			body: `{"set":{"rule":"mean <"},"model":0}`, status: 400, code: "rule",
		},
		{route: "models", method: "POST", path: "runs/alpha/models", body: `{"set":{},"base":0}`},
		{
			route: "models", method: "POST", path: "runs/alpha/models", body: `{"set":{},"base":99}`, status: 400,
			code: "bad-request",
		},
		{
			route: "search", method: "POST", path: "runs/alpha/search",
			body: `{"set":{},"metric":0,"model":0,"of":"change"}`,
		},
		{
			route: "search", method: "POST", path: "runs/alpha/search",
			body: `{"set":{},"metric":0,"model":0,"of":"x"}`, status: 400, code: "bad-request",
		},
		{route: "remarks", path: "runs/alpha/remarks"},
		{route: "remarks", path: "runs/nobody/remarks", status: 404, code: "not-found"},
		{
			route: "putRemarks", method: "PUT", path: "runs/alpha/remarks", body: `{"format":1,"name":"","samples":[]}`,
			status: 428, code: "no-tag", odd: true,
		},
		{
			route: "putRemarks", method: "PUT", path: "runs/alpha/remarks", body: `{"format":1,"name":"","samples":[]}`,
			header: []string{"If-Match", `"nobody"`}, status: 412, code: "changed",
		},
		{
			route: "putRemarks", method: "PUT", path: "runs/alpha/remarks",
			body:   `{"format":1,"name":"","samples":[{"id":"nobody","note":"x"}]}`,
			header: []string{"If-Match", "*"}, status: 400, code: "bad-request",
		},
		{
			route: "putRemarks", method: "PUT", path: "runs/alpha+beta/remarks",
			body:   `{"format":1,"name":"x","samples":[]}`,
			header: []string{"If-Match", "*"}, status: 403, code: "read-only",
		},
		{
			route: "putRemarks", method: "PUT", path: "runs/alpha/remarks",
			body:   `{"format":1,"name":"first","samples":[]}`,
			header: []string{"If-Match", "(now)"},
		},
		{route: "goOn", method: "POST", path: "runs/beta/job", status: 202},
		{route: "goOn", method: "POST", path: "runs/alpha/job", status: 409, code: "no-job"},
		{route: "goOn", method: "POST", path: "runs/alpha+beta/job", status: 409, code: "no-job"},
		{route: "stopRun", method: "DELETE", path: "runs/beta/job", status: 202},
		{route: "stopRun", method: "DELETE", path: "runs/alpha/job", status: 404, code: "not-found"},
		{route: "cancel", method: "DELETE", path: "tasks/" + idOf(kindRun, "beta")},
		{route: "cancel", method: "DELETE", path: "tasks/run-0000000000000000", status: 404, code: "not-found"},
		{route: "cancel", method: "DELETE", path: "tasks/x", status: 404, code: "not-found", odd: true},
		{route: "audit", path: "audits/audit"},
		{route: "audit", path: "audits/nobody", status: 404, code: "not-found"},
		{route: "audit", path: "audits/%24", status: 404, code: "not-found", odd: true},
		{route: "sheet", path: "sheets/audit-data"},
		{route: "sheet", path: "sheets/nobody", status: 404, code: "not-found"},
		{route: "sheet", path: "sheets/%24", status: 404, code: "not-found", odd: true},
		{route: "identify", method: "POST", path: "identify", body: `{"answers":{}}`},
		{
			route: "identify", method: "POST", path: "identify",
			body: `{"answers":{"data":"picture","answer":"class?","turn":"any","range":"-1"},"model":"m.onnx","seed":7}`,
		},
		{
			route: "identify", method: "POST", path: "identify", body: `{"answers":{"cow":"yes"}}`, status: 400,
			code: "bad-request",
		},
		{
			route: "identify", method: "POST", path: "identify", body: `{"answers":{"data":"` +
				strings.Repeat("x", 300) + `"}}`, status: 400, code: "bad-request",
		},
		{route: "events", path: "events"},
		{route: "events", path: "events?x=1", status: 400, code: "bad-request", odd: true},
		{route: "export", path: "runs/alpha/export/aggregate.csv"},
		{route: "export", path: "runs/alpha/export/samples.jsonl?metric=1&slice=b"},
		{route: "export", path: "runs/alpha/export/orbit.md?i=4"},
		{route: "export", path: "runs/alpha/export/compare.tex?a=1&b=0"},
		{route: "export", path: "runs/alpha/export/findings.csv"},
		{route: "export", path: "runs/gamma/export/compare.csv", status: 404, code: "not-found"},
		{route: "export", path: "runs/alpha/export/compare.csv?a=1&b=1", status: 400, code: "bad-request"},
		{route: "export", path: "runs/alpha/export/orbit.csv?i=12", status: 400, code: "bad-request"},
		{route: "export", path: "runs/alpha/export/orbit.xlsx", status: 404, code: "not-found", odd: true},
		{route: "export", path: "runs/alpha/export/passwords.csv", status: 404, code: "not-found", odd: true},
		{route: "export", path: "runs/alpha/export/samples.csv?slice=nobody", status: 400, code: "bad-request"},
		{route: "report", path: "runs/alpha/report?metric=accuracy"},
		{route: "report", path: "runs/nobody/report", status: 404, code: "not-found"},
		{route: "openapi", path: "openapi.json"},
		{route: "openapi", path: "openapi.json?x=1", status: 400, code: "bad-request", odd: true},
	}
}

// idle is a Launcher that computes nothing until it is told to stop.
type idle struct{}

func (idle) Launch(ctx context.Context, _ *shelf.Run, kept func(int)) error {
	kept(8)
	<-ctx.Done()
	return ctx.Err()
}

// TestAnswers asks every call, and holds every answer, and every request that is not meant to be wrong, against the
// committed document. A route of the table that has no call that succeeds, or none that is refused, fails.
func TestAnswers(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.Launcher = idle{} })
	waitLive(t, f, "delta", "epsilon")
	router := newRouter(t)
	succeeded, refused, kinds := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range calls() {
		if c.method == "" {
			c.method = http.MethodGet
		}
		if c.status == 0 {
			c.status = http.StatusOK
		}
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			if i := slices.Index(c.header, "(now)"); i >= 0 {
				c.header[i] = f.ask(t, http.MethodGet, "/api/v1/"+c.path, "").Header.Get("ETag")
			}
			r := f.recorded(t, c)
			b := r.body
			if r.StatusCode != c.status {
				t.Fatalf("status %d, want %d: %.500s", r.StatusCode, c.status, b)
			}
			if c.status >= 400 {
				p := parsed[guard.Problem](t, b)
				if p.Code != c.code || p.Status != c.status || p.Title == "" || p.Detail == "" || p.Remedy == "" {
					t.Errorf("problem %+v, want code %s with a title, a detail and a remedy", p, c.code)
				}
				if strings.Contains(string(b), f.dir) {
					t.Errorf("the answer says where the files lie: %s", b)
				}
				refused[c.route] = true
			} else {
				succeeded[c.route] = true
				kinds[c.route+" "+strconv.Itoa(c.status)+" "+bare(r.Header.Get("Content-Type"))] = true
			}
			router.check(t, c, r)
		})
	}
	for _, rt := range routesTable() {
		if !succeeded[rt.name] || !refused[rt.name] {
			t.Errorf("%s: no call that succeeds (%v) or none that is refused (%v) is tested", rt.name,
				succeeded[rt.name], refused[rt.name])
		}
		for _, a := range rt.answers {
			if rt.name != "export" && !kinds[rt.name+" "+strconv.Itoa(a.status)+" "+a.kind] {
				t.Errorf("%s: the answer %d %s is not tested", rt.name, a.status, a.kind)
			}
		}
	}
}

// TestAPIPage wants every call, every code of a problem and every key of a query in the documentation.
func TestAPIPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/API.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, rt := range routesTable() {
		want := "`" + rt.method + " " + strings.Replace(rt.path, "export/{file}", "export/{table}.{csv", 1)
		if !strings.Contains(page, want) {
			t.Errorf("docs/API.md has no %s", want)
		}
		for _, k := range rt.keys() {
			if !strings.Contains(page, k+"=") && !strings.Contains(page, "`"+k+"`") {
				t.Errorf("docs/API.md does not say what %s of %s is", k, rt.path)
			}
		}
	}
	for _, c := range calls() {
		if c.code != "" && !strings.Contains(page, "`"+c.code+"`") {
			t.Errorf("docs/API.md does not say what the code %s means", c.code)
		}
	}
}

// waitLive waits until the models of the runs that models made are open, and of more. No more than four stay open.
func waitLive(tb testing.TB, f *fixture, more ...string) {
	tb.Helper()
	for _, id := range append([]string{"alpha", "beta", "gamma"}, more...) {
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			doc := parsed[api.Run](tb, f.get(tb, "runs/"+id))
			if doc.Live.Models {
				break
			}
			if time.Now().After(end) {
				tb.Fatalf("run %s: %+v", id, doc.Live)
			}
		}
	}
}

// recorded asks for a call. A stream is left after its first bytes.
func (f *fixture) recorded(t *testing.T, c call) reply {
	t.Helper()
	ctx := t.Context()
	if c.route == "events" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
	}
	r := c.request(ctx)
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return replyOf(t, w)
}

func (c *call) request(ctx context.Context) *http.Request {
	r := httptest.NewRequestWithContext(ctx, c.method, "/api/v1/"+c.path, bytes.NewReader([]byte(c.body)))
	if c.body == "" {
		r = httptest.NewRequestWithContext(ctx, c.method, "/api/v1/"+c.path, http.NoBody)
	} else {
		r.Header.Set("Content-Type", typeJSON)
	}
	for i := 0; i+1 < len(c.header); i += 2 {
		r.Header.Set(c.header[i], c.header[i+1])
	}
	return r
}

// openRouter finds operations of the committed document.
type openRouter struct{ router routers.Router }

func newRouter(t *testing.T) *openRouter {
	t.Helper()
	doc := loadDocument(t)
	doc.Servers = openapi3.Servers{{URL: "/api/v1"}}
	// Bodies that are no JSON are not looked into.
	for _, kind := range []string{
		typeArrays, typePNG, typeEvents, "text/html", "text/markdown", "text/csv",
		"application/jsonl", "application/x-latex",
	} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.FileBodyDecoder)
	}
	r, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &openRouter{r}
}

// check holds a request and its answer against the document.
func (o *openRouter) check(t *testing.T, c call, r reply) {
	t.Helper()
	req := c.request(t.Context())
	route, params, err := o.router.FindRoute(req)
	if err != nil {
		t.Fatalf("the document has no such call: %v", err)
	}
	if route.Operation.OperationID != c.route {
		t.Fatalf("it is %s in the document, want %s", route.Operation.OperationID, c.route)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
		},
	}
	if !c.odd {
		if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
			t.Errorf("the request does not fit the document: %v", err)
		}
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: r.StatusCode, Header: r.Header,
		Options: in.Options,
	}
	out.SetBodyBytes(r.body)
	if err := openapi3filter.ValidateResponse(t.Context(), out); err != nil {
		t.Errorf("the answer does not fit the document: %v\n%.2000s", err, r.body)
	}
}

// TestProblemsOfErrors wants every error of the packages below to be told in words that are stable.
func TestProblemsOfErrors(t *testing.T) {
	if p := problemOf(store.ErrBusy); p.Status != http.StatusConflict || p.Code != "in-use" {
		t.Errorf("%+v", p)
	}
	if p := problemOf(context.DeadlineExceeded); p.Status != http.StatusInternalServerError ||
		strings.Contains(p.Detail, "deadline") {
		t.Errorf("%+v", p)
	}
}

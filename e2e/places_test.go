package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestProxy looks at a run through proxies that show the server below a path: one takes the path off, one leaves it on,
// and one passes on the name by which it was asked.
func TestProxy(t *testing.T) {
	t.Parallel()
	const prefix = "/user/me ñ/proxy/1/"
	for name, strip := range map[string]bool{"strips": true, "leaves": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := own(t, "behind")
			args := []string{"--allowed-host", "localhost", run}
			if !strip {
				args = append([]string{"--base-path", prefix}, args...)
			}
			to, err := url.Parse(serve(t, args...))
			if err != nil {
				t.Fatal(err)
			}
			proxy := proxyTo(to)
			proxy.Rewrite = func(r *httputil.ProxyRequest) {
				r.Out.URL.Scheme, r.Out.URL.Host = "http", to.Host
				r.Out.Host = "localhost" // as it was asked
				if strip {
					r.Out.URL.Path = "/" + strings.TrimPrefix(r.In.URL.Path, prefix)
					r.Out.URL.RawPath = ""
				}
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, prefix) {
					if r.URL.Path != "/favicon.ico" {
						t.Errorf("the page asks for %s, outside of %s", r.URL.Path, prefix)
					}
					http.NotFound(w, r)
					return
				}
				proxy.ServeHTTP(w, r)
			}))
			t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
			p := open(t, s.URL+(&url.URL{Path: prefix}).EscapedPath()+"?tour=0#/run/behind?v=1&i=6&g=90", desktop)
			p.ready()
			p.live()
			p.focus(needle)
			p.keys(kb.PageUp)
			p.live()
			// What changes something works, and its echo comes through the stream.
			p.choose(`#aggregate select[aria-label="Slice"]`, "6")
			p.write(`#slices input[aria-label="Name of the slice"]`, "through a proxy\r")
			p.until(`__nero.state.choice.kept.value?.slices.length === 1 && __nero.state.tasks.connected.value`)
			q := p.again(p.address())
			q.ready()
			q.is(`__nero.state.choice.count.value`, 7)
			p.press("header nav", "Runs")
			p.visible(".run-card")
			p.keep("proxy-" + name)
		})
	}
}

// in evaluates an expression in the frame of an origin.
func in[T any](p *page, origin, expression string) T {
	p.t.Helper()
	p.mu.Lock()
	var id runtime.ExecutionContextID
	for _, f := range p.frames {
		if f.Origin == origin {
			id = f.ID // the newest
		}
	}
	p.mu.Unlock()
	if id == 0 {
		p.t.Fatalf("there is no frame of %s", origin)
	}
	var v T
	yes := true
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		r, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{
			Expression: expression, ContextID: id,
			ReturnByValue: &yes, AwaitPromise: &yes,
		})
		if err != nil {
			return err
		}
		if r.ExceptionDetails != nil {
			return fmt.Errorf("%s: %s", expression, r.ExceptionDetails.Text)
		}
		return json.Unmarshal(r.Result.Value, &v)
	}))
	return v
}

// TestFrame shows the page inside another page, as a notebook does, if that was permitted, and not otherwise.
func TestFrame(t *testing.T) {
	t.Parallel()
	var target string
	book := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w,
			`<!doctype html><html lang="en"><title>notebook</title><link rel="icon" href="data:,"><h1>Notebook</h1><iframe id="nero" title="nero" src="%s" width="1400" height="780"></iframe>`, target)
	}))
	t.Cleanup(func() { book.CloseClientConnections(); book.Close() })
	_, dir := program(t)

	permitted := serve(t, "--allow-frame", book.URL, dir)
	u, err := url.Parse(permitted)
	if err != nil {
		t.Fatal(err)
	}
	target = at(permitted, "/run/run?v=1&i=6&g=90")
	s := desktop
	s.hosts = []string{u.Host}
	p := open(t, book.URL, s)
	origin := "http://" + u.Host
	for range 400 {
		p.mu.Lock()
		n := len(p.frames)
		p.mu.Unlock()
		if n > 1 && in[bool](p, origin, `document.querySelector('#individual .status .tag.live') !== null`) {
			break
		}
		p.pause(50)
	}
	place := in[[]float64](p, origin,
		`(e => { const q = new DOMPoint(0, -80).matrixTransform(e.getScreenCTM()), r = document.querySelector('#individual .plot svg').getBoundingClientRect(); scrollTo(0, 0); return [q.x, q.y] })(document.querySelector('#individual .plot svg'))`)
	frame := p.box("#nero")
	if place[1] > frame.Height-5 {
		t.Fatalf("the plot lies at %v, out of sight in %+v", place, frame)
	}
	p.clickAt(frame.X+place[0]+2, frame.Y+place[1]+2)
	if g := in[[]float64](p, origin, `[...__nero.state.place.g.value]`); len(g) != 1 || g[0] < 85 || g[0] > 95 {
		t.Errorf("a click in the frame led to %v, want about 90", g)
	}
	p.keys(kb.PageUp)
	if g := in[[]float64](p, origin, `[...__nero.state.place.g.value]`); g[0] < 100 || g[0] > 110 {
		t.Errorf("a key in the frame led to %v, want about 105", g)
	}
	p.keep("frame")

	// Without the flag the browser refuses.
	target = shared(t)
	u, err = url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	s.hosts = []string{u.Host, strings.TrimPrefix(book.URL, "http://")}
	q := open(t, "about:blank", s)
	q.permit(`frame-ancestors|refused|Refused|blocked`)
	q.do(chromedp.Navigate(book.URL))
	q.pause(500)
	if n := q.asked(`/api/v1/`); n != 0 {
		t.Errorf("a page that may not show it in a frame brought it to ask %d times", n)
	}
}

// TestWithoutWebGL works in a browser in which no 3D drawing is possible, and for people who want no motion.
func TestWithoutWebGL(t *testing.T) {
	t.Parallel()
	bin := chromium(t)
	address := at(shared(t), "/run/run?v=1&i=6&g=90")
	ctx, stop, err := launch(bin, "disable-3d-apis")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	p := openIn(ctx, t, address, screen{width: 1440, height: 900, scheme: "light", reduced: true},
		chromedp.WithNewBrowserContext())
	if eval[bool](p, `document.createElement('canvas').getContext('webgl2') !== null`) {
		t.Error("WebGL is on")
	}
	p.ready()
	p.live()
	p.focus(needle)
	p.keys(kb.ArrowRight)
	p.is(`__nero.state.place.g.value`, []float64{91})
	p.live()
	// Playing goes on by one element, and nothing moves by itself.
	p.keys(kb.Home, " ")
	p.is(`__nero.state.place.g.value`, []float64{5})
	p.steady(`__nero.state.place.g.value`, []float64{5})
	if n := eval[int](p,
		`document.getAnimations().filter(a => a.playState === 'running' && a.effect.getComputedTiming().duration > 10).length`); n != 0 {
		t.Errorf("%d animations run although less motion is wanted", n)
	}
	p.keep("no-webgl")
}

// TestPrint looks at the page as it is printed.
func TestPrint(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	b, err := chromedp.Run(p.ctx, chromedp.PrintToPDF())
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < 20_000 || string(b[:5]) != "%PDF-" {
		t.Errorf("a PDF of %d bytes", len(b))
	}
}

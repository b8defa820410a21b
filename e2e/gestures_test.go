package e2e

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// is waits until a JavaScript expression has a value.
func (p *page) is(expression string, want any) {
	p.t.Helper()
	p.until(fmt.Sprintf(`JSON.stringify(%s) === %s`, expression, quote(string(encode(want)))))
}

// steady checks that a JavaScript expression keeps its value for a while in which something could have happened.
func (p *page) steady(expression string, want any) {
	p.t.Helper()
	for range 4 {
		p.pause(60)
		if got := eval[string](p, `JSON.stringify(`+expression+`)`); got != string(encode(want)) {
			p.t.Fatalf("%s is %s, want %s", expression, got, encode(want))
		}
	}
}

// pause lets the page go on for some milliseconds: for what must not happen, and for what has no end that could be
// waited for.
func (p *page) pause(ms int) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`new Promise(f => setTimeout(() => f(true), %d))`, ms))
}

// drawn waits until the page has drawn what it knows.
func (p *page) drawn() {
	p.t.Helper()
	eval[bool](p, `new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => f(true))))`)
}

// named is a selector of the first visible element below scope whose text or label is the given one.
func (p *page) named(scope, text string) string {
	p.t.Helper()
	find := fmt.Sprintf(
		`[...document.querySelectorAll(%s)].flatMap(s => [...s.querySelectorAll('button, a, summary, label, input, select, th, [role=button]')])
		.find(e => e.checkVisibility() && e.getClientRects().length > 0 && [e.textContent.trim(), e.getAttribute('aria-label')].includes(%s))`, quote(scope), quote(text))
	p.until(`!!(` + find + `)`)
	id := eval[string](p, `(e => e.dataset.e2e ??= 'e' + Math.random().toString(36).slice(2))(`+find+`)`)
	return `[data-e2e="` + id + `"]`
}

// press clicks the element below scope that has a text or a label. A page that draws itself anew while the mouse is on
// its way has another such element, and that one is meant.
func (p *page) press(scope, text string) {
	p.t.Helper()
	for range 10 {
		if p.clicked(p.named(scope, text)) {
			return
		}
	}
	p.t.Fatalf("%q in %s is drawn anew again and again before the mouse reaches it", text, scope)
}

// enter does by keyboard what press does by mouse.
func (p *page) enter(scope, text string) {
	p.t.Helper()
	p.focus(p.named(scope, text))
	p.keys(kb.Enter)
}

// write replaces what stands in a field by typing.
func (p *page) write(selector, text string) {
	p.t.Helper()
	p.focus(selector)
	eval[bool](p, fmt.Sprintf(`(document.querySelector(%s).select(), true)`, quote(selector)))
	if text == "" {
		p.keys(kb.Delete)
		return
	}
	p.keys(text)
}

// turn changes a menu by keyboard until it shows the option with a value.
func (p *page) turn(selector, value string) {
	p.t.Helper()
	p.focus(selector)
	p.keys(kb.Home)
	for range 40 {
		if eval[string](p, fmt.Sprintf(`document.querySelector(%s).value`, quote(selector))) == value {
			return
		}
		p.keys(kb.ArrowDown)
	}
	p.t.Fatalf("%s has no option %q that the keyboard reaches", selector, value)
}

// over moves the mouse to a place of an element, as fractions of its box.
func (p *page) overAt(selector string, fx, fy float64) {
	p.t.Helper()
	p.visible(selector)
	b := p.box(selector)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, b.X+fx*b.Width, b.Y+fy*b.Height)
}

func (p *page) mouse(kind input.DispatchMouseEventType, x, y float64, opts ...chromedp.MouseOption) {
	p.t.Helper()
	p.do(chromedp.MouseEvent(kind, x, y, opts...))
}

// clickAt clicks at a place of the window.
func (p *page) clickAt(x, y float64, opts ...chromedp.MouseOption) {
	p.t.Helper()
	p.do(chromedp.MouseClickXY(x, y, opts...))
}

// wheel turns the mouse wheel above an element.
func (p *page) wheel(selector string, fx, fy, delta float64) {
	p.t.Helper()
	b := p.box(selector)
	// the protocol wants both
	p.mouse(input.DispatchMouseEventTypeMouseWheel, b.X+fx*b.Width, b.Y+fy*b.Height,
		func(m *input.DispatchMouseEventParams) { m.DeltaX, m.DeltaY = 1e-3, delta })
}

// path drags the mouse through places of the window.
func (p *page) path(points ...[2]float64) {
	p.t.Helper()
	down := func(m *input.DispatchMouseEventParams) {
		m.Button, m.Buttons, m.ClickCount = input.MouseButtonLeft, 1, 1
	}
	p.mouse(input.DispatchMouseEventTypeMouseMoved, points[0][0], points[0][1])
	p.mouse(input.DispatchMouseEventTypeMousePressed, points[0][0], points[0][1], down)
	for _, q := range points[1:] {
		p.mouse(input.DispatchMouseEventTypeMouseMoved, q[0], q[1], pressed)
	}
	last := points[len(points)-1]
	p.mouse(input.DispatchMouseEventTypeMouseReleased, last[0], last[1], chromedp.ButtonType(input.MouseButtonLeft),
		chromedp.ClickCount(1))
}

// onPolar is the place in the window of an angle on a polar plot, at four fifths of its radius.
func (p *page) onPolar(selector string, degrees float64) [2]float64 {
	p.t.Helper()
	p.visible(selector)
	p.box(selector)
	q := eval[[]float64](p,
		fmt.Sprintf(`(e => { const t = %v * Math.PI / 180, q = new DOMPoint(80 * Math.cos(t), -80 * Math.sin(t)).matrixTransform(e.getScreenCTM()); return [q.x, q.y] })(document.querySelector(%s))`, degrees, quote(selector)))
	return [2]float64{q[0], q[1]}
}

// settled waits until the address says what the page shows, and returns it.
func (p *page) settled() string {
	p.t.Helper()
	last := ""
	for range 40 {
		now := eval[string](p, `location.hash`)
		if now == last {
			return now
		}
		last = now
		p.pause(350) // longer than the page waits before it writes the address
	}
	p.t.Fatal("the address does not come to rest")
	return ""
}

// g is the element that the needle is at.
func (p *page) g() []float64 {
	p.t.Helper()
	return eval[[]float64](p, `[...__nero.state.place.g.value]`)
}

// reload loads the page anew.
func (p *page) reload() {
	p.t.Helper()
	p.do(chromedp.Reload())
}

// downloads is a folder into which the page's files go.
func (p *page) downloads() string {
	p.t.Helper()
	dir := p.t.TempDir()
	if _, err := chromedp.CallBrowser(p.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior:         cdpbrowser.SetDownloadBehaviorBehaviorAllow,
		BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID, DownloadPath: dir,
	}); err != nil {
		p.t.Fatal(err)
	}
	return dir
}

// saved waits for the one file in a folder that ends in ext, as long as the page lives, reads it and takes it away.
func (p *page) saved(dir, ext string) (name string, content []byte) {
	p.t.Helper()
	for ; p.ctx.Err() == nil; time.Sleep(30 * time.Millisecond) {
		all, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, f := range all {
			if !strings.HasSuffix(f, ext) {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil || len(b) == 0 {
				continue // being written
			}
			if err := os.Remove(f); err != nil {
				p.t.Fatal(err)
			}
			return filepath.Base(f), b
		}
	}
	p.t.Fatalf("no file *%s was saved", ext)
	return "", nil
}

// isSVG fails unless the file is XML whose root is an svg that draws something and loads nothing.
func isSVG(t *testing.T, name string, b []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(b))
	root, shapes := "", 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s is no XML: %v", name, err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if root == "" {
			root = e.Name.Local
		}
		switch e.Name.Local {
		case "path", "circle", "rect", "image", "line", "polygon":
			shapes++
		case "script", "foreignObject":
			t.Errorf("%s holds <%s>", name, e.Name.Local)
		}
		for _, a := range e.Attr {
			if a.Name.Local == "href" && !strings.HasPrefix(a.Value, "data:") && !strings.HasPrefix(a.Value, "#") {
				t.Errorf("%s loads %s", name, a.Value)
			}
		}
	}
	if root != "svg" || shapes < 5 {
		t.Errorf("%s: the root is %q with %d shapes", name, root, shapes)
	}
}

// isPNG fails unless the file is a picture of more than one colour.
func isPNG(t *testing.T, name string, b []byte) {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s is no PNG: %v", name, err)
	}
	seen := map[[4]uint32]bool{}
	for y := m.Bounds().Min.Y; y < m.Bounds().Max.Y; y += 3 {
		for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x += 3 {
			r, g, b, a := m.At(x, y).RGBA()
			seen[[4]uint32{r, g, b, a}] = true
		}
	}
	if m.Bounds().Dx() < 200 || len(seen) < 5 {
		t.Errorf("%s: %v with %d colours", name, m.Bounds(), len(seen))
	}
}

// csvRows are the rows of a CSV file with its heading, without the notes before it.
func csvRows(t *testing.T, name string, b []byte) [][]string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(b))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%s is no CSV: %v", name, err)
	}
	return rows
}

// at is an address with another fragment.
func at(address, fragment string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // it was parsed before
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String() + "?tour=0#" + fragment
}

// number64 reads a number of a table.
func number64(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// proxyTo passes requests on to a server, under the server's own name. It shares no connection with others, which close
// theirs, and holds bodies before it sends them: else it may give up an answer that comes before it has seen the body's
// end.
func proxyTo(to *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = to.Host },
		Transport: held{&http.Transport{}},
		ErrorLog:  log.New(io.Discard, "", 0), // visitors that leave
	}
}

// held sends requests once their bodies are there.
type held struct{ *http.Transport }

func (h held) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
	}
	return h.Transport.RoundTrip(r)
}

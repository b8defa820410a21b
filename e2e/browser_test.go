package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// nero is the program under test and the folder of a run that it made, shared by all tests of the package.
var nero struct {
	once sync.Once
	err  error
	bin  string
	dir  string // holds study, run and audit
}

// program builds nero and lets it evaluate and audit a few digits.
func program(t *testing.T) (bin, dir string) {
	t.Helper()
	nero.once.Do(func() { nero.bin, nero.dir, nero.err = build() })
	if nero.err != nil {
		t.Fatal(nero.err)
	}
	return nero.bin, nero.dir
}

func build() (bin, dir string, err error) {
	dir, err = os.MkdirTemp("", "nero-e2e-")
	if err != nil {
		return "", "", err
	}
	bin = filepath.Join(dir, "nero")
	study := filepath.Join("..", "studies", "digits", "demo.yaml")
	for _, args := range [][]string{
		append([]string{"go", "build", "-o", bin}, append(strings.Fields(os.Getenv("NERO_E2E_BUILD")), "../cmd/nero")...),
		{bin, "run", study, "--limit", "100", "-o", filepath.Join(dir, "run")},
		{bin, "audit", study, "--limit", "20", "--checks", "preflight,sweep,controls,lattice,endtoend,layers,decision", "--format", "json", "-o", filepath.Join(dir, "audit"), "--fail-on", "nothing"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return bin, dir, nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if nero.dir != "" {
		os.RemoveAll(nero.dir) //nolint:errcheck // remains in the folder for temporary files
	}
	os.Exit(code)
}

var printed = regexp.MustCompile(`https?://\S+`)

// serve starts nero serve and returns the address that it prints.
func serve(t *testing.T, bin string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), bin, append([]string{"serve", "--no-open", "--port", "0"}, args...)...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		s := bufio.NewScanner(out)
		for s.Scan() {
			if u := printed.FindString(s.Text()); u != "" {
				select {
				case found <- u:
				default:
				}
			}
		}
		close(found)
	}()
	t.Cleanup(func() {
		if err := c.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("nero serve: %v\n%s", err, errs.String())
		}
	})
	select {
	case u := <-found:
		if u == "" {
			t.Fatalf("nero serve printed no address\n%s", errs.String())
		}
		return u
	case <-time.After(30 * time.Second):
		t.Fatalf("nero serve printed no address in 30 s\n%s", errs.String())
	}
	return ""
}

// chromium finds the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if bin, err := exec.LookPath(name); err == nil {
			return bin
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no Chromium, and the environment variable CI says that there is one")
	}
	t.Skip("no Chromium on this machine: the interface was not tested in a browser")
	return ""
}

var browser struct {
	once sync.Once
	ctx  context.Context
	err  error
}

// page is a tab whose errors fail the test.
type page struct {
	t    *testing.T
	ctx  context.Context
	host string // requests to any other fail the test

	mu        sync.Mutex
	requests  []string         // URLs
	permitted []*regexp.Regexp // complaints that belong to the test
}

// size of a window and how it looks.
type screen struct {
	width, height int64
	scheme        string // light, dark
	touch         bool
	reduced       bool // motion
	forced        bool // colours
}

var desktop = screen{width: 1440, height: 900, scheme: "light"}

// open opens an address in a tab of its own and fails the test on every exception, console error, policy report and foreign request.
func open(t *testing.T, address string, s screen) *page {
	t.Helper()
	bin := chromium(t)
	browser.once.Do(func() {
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(bin), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
			chromedp.Flag("disable-sync", true), chromedp.Flag("no-first-run", true))
		ctx, _ := chromedp.NewExecAllocator(context.Background(), opts...) //nolint:govet // ends with the process
		browser.ctx, _ = chromedp.NewContext(ctx)                          //nolint:govet // as above
		browser.err = chromedp.Do(browser.ctx)
	})
	if browser.err != nil {
		t.Fatalf("Chromium does not start: %v", browser.err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(stop)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, ctx: ctx, host: u.Host}
	if err := chromedp.Listen(ctx, p.watch); err != nil {
		t.Fatal(err)
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}}
	if s.reduced {
		features = append(features, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
	}
	if s.forced {
		features = append(features, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	}
	p.do(
		call(cdplog.Enable, cdp.Empty{}),
		call(network.Enable, network.EnableParams{}),
		call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.touch}),
		call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: s.touch}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}),
		call(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: onEveryPage}),
		chromedp.Navigate(address),
	)
	return p
}

// onEveryPage runs before the page's own code: a policy report becomes a console error, which fails the test.
const onEveryPage = `addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI));`

// call is a command of the browser's protocol as a step.
func call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// watch fails the test on what a page must not do.
func (p *page) watch(ev any) {
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		p.t.Errorf("page exception: %s", text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			var words []string
			for _, a := range e.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			p.complain("console.error: " + strings.Join(words, " "))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError {
			p.complain(fmt.Sprintf("browser: %s %s", e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "data" && u.Scheme != "blob" && u.Scheme != "file" && u.Host != p.host {
			p.t.Errorf("the page asks another host: %s", e.Request.URL)
		}
		if err == nil && u.Scheme == "file" && p.host != "" {
			p.t.Errorf("a page from the server opens a file: %s", e.Request.URL)
		}
		p.mu.Lock()
		p.requests = append(p.requests, e.Request.Method+" "+e.Request.URL)
		p.mu.Unlock()
	}
}

// complain fails the test unless the message was announced by [page.permit].
func (p *page) complain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.permitted {
		if r.MatchString(text) {
			return
		}
	}
	p.t.Error(text)
}

// permit announces a complaint of the browser that belongs to the test, such as the 404 of an unknown run.
func (p *page) permit(pattern string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.permitted = append(p.permitted, regexp.MustCompile(pattern))
}

// asked counts the requests so far whose method and URL match.
func (p *page) asked(pattern string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	re, n := regexp.MustCompile(pattern), 0
	for _, r := range p.requests {
		if re.MatchString(r) {
			n++
		}
	}
	return n
}

// do runs steps one after the other.
func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// eval is the value of a JavaScript expression; promises are awaited.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for a JavaScript condition and fails the test with what is there instead if it does not come true in 15 s.
func (p *page) until(condition string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingInterval(30*time.Millisecond), chromedp.WithPollingTimeout(15*time.Second))); err != nil {
		text := eval[string](p, `location.href + "\n" + document.body.innerText.slice(0, 1500)`)
		p.t.Fatalf("did not come true: %s (%v)\n%s", condition, err, text)
	}
}

// visible waits until an element is there and can be seen.
func (p *page) visible(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(e => e && e.getClientRects().length > 0)(document.querySelector(%s))`, quote(selector)))
}

// text is the text of an element, "" if it is not there.
func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`(document.querySelector(%s)?.textContent ?? "").replace(/\s+/g, " ").trim()`, quote(selector)))
}

// attr is an attribute of an element, "" if it is not there.
func (p *page) attr(selector, name string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%s)?.getAttribute(%s) ?? ""`, quote(selector), quote(name)))
}

// hash is the fragment of the address as a query.
func (p *page) hash() url.Values {
	p.t.Helper()
	_, q, _ := strings.Cut(eval[string](p, `location.hash`), "?")
	v, err := url.ParseQuery(q)
	if err != nil {
		p.t.Fatalf("the address does not parse: %v", err)
	}
	return v
}

// focus puts the keyboard on an element.
func (p *page) focus(selector string) {
	p.t.Helper()
	p.visible(selector)
	if !eval[bool](p, fmt.Sprintf(`(e => { e.focus(); return document.activeElement === e })(document.querySelector(%s))`, quote(selector))) {
		p.t.Fatalf("%s takes no focus", selector)
	}
}

// keys presses keys where the focus is.
func (p *page) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.do(chromedp.KeyEvent(k))
	}
}

// shift presses a key with Shift held.
func (p *page) shift(key string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(kb.ModifierShift)))
}

// ctrl presses a key with Ctrl held.
func (p *page) ctrl(key string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(kb.ModifierCtrl)))
}

// click clicks the middle of an element by mouse.
func (p *page) click(selector string) {
	p.t.Helper()
	p.visible(selector)
	b := p.box(selector)
	p.do(chromedp.MouseClickXY(b.X+b.Width/2, b.Y+b.Height/2))
}

// choose sets a select element to the option with a value.
func (p *page) choose(selector, value string) {
	p.t.Helper()
	p.visible(selector)
	if !eval[bool](p, fmt.Sprintf(`(e => { e.value = %s; e.dispatchEvent(new Event('change', {bubbles: true})); return e.value === %s })(document.querySelector(%s))`, quote(value), quote(value), quote(selector))) {
		p.t.Fatalf("%s has no option %q", selector, value)
	}
}

type box struct{ X, Y, Width, Height float64 }

// box is where an element lies in the window, after scrolling to it.
func (p *page) box(selector string) box {
	p.t.Helper()
	return eval[box](p, fmt.Sprintf(`(e => { e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return {X: r.x, Y: r.y, Width: r.width, Height: r.height} })(document.querySelector(%s))`, quote(selector)))
}

// drag presses the mouse at the first of some points, which are fractions of an element's box, goes through the others and lets go.
func (p *page) drag(selector string, points ...[2]float64) {
	p.t.Helper()
	p.visible(selector)
	b := p.box(selector)
	for i, q := range points {
		x, y := b.X+q[0]*b.Width, b.Y+q[1]*b.Height
		if i == 0 {
			p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y), chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y, chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1)))
			continue
		}
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, pressed))
	}
	last := points[len(points)-1]
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, b.X+last[0]*b.Width, b.Y+last[1]*b.Height, chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1)))
}

// pressed says that the left button is down while the mouse moves.
func pressed(m *input.DispatchMouseEventParams) {
	m.Button, m.Buttons = input.MouseButtonLeft, 1
}

// quote writes a text as JavaScript does.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts can be written
	}
	return string(b)
}

// keep stores a picture of the whole page for eyes, where NERO_SCREENSHOTS says.
func (p *page) keep(name string) {
	p.t.Helper()
	dir := os.Getenv("NERO_SCREENSHOTS")
	if dir == "" {
		return
	}
	b, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// axe fails the test with what axe-core finds wrong for people who cannot see, hear or point. Without its file, which npm installs, it says so.
func (p *page) axe(where string) {
	p.t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "serve", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv("CI") != "" {
			p.t.Fatalf("axe-core is not there (npm ci in serve/web): %v", err)
		}
		p.t.Logf("%s was not tested with axe-core, which npm ci in serve/web installs", where)
		return
	}
	p.do(chromedp.Evaluate[chromedp.Void](string(src)))
	type finding struct {
		ID    string   `json:"id"`
		Help  string   `json:"help"`
		Nodes []string `json:"nodes"`
	}
	for _, f := range eval[[]finding](p, `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200) + ' ' + (n.any[0]?.message ?? ''))})))`) {
		p.t.Errorf("%s: axe-core: %s (%s)\n  %s", where, f.Help, f.ID, strings.Join(f.Nodes, "\n  "))
	}
}

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

	"nero/internal/outside"
)

// nero is the program under test and the folder of a run that it made, shared by all tests of the package.
var nero struct {
	once sync.Once
	err  error
	bin  string
	// holds study, run and audit
	dir string
}

// program builds nero and lets it evaluate and audit a few digits.
func program(t *testing.T) (bin, dir string) {
	t.Helper()
	chromium(t) // or nothing is built
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
		append([]string{"go", "build", "-o", bin},
			append(strings.Fields(os.Getenv("NERO_E2E_BUILD")), "../cmd/nero")...),
		{bin, "run", study, "--limit", "100", "-o", filepath.Join(dir, "run")},
		{
			bin, "audit", study, "--limit", "20", "--checks",
			"preflight,sweep,controls,lattice,endtoend,layers,decision",
			"--format", "json", "-o", filepath.Join(dir, "audit"), "--fail-on", "nothing",
		},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", dir, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return bin, dir, nil
}

func TestMain(m *testing.M) {
	// Much of a test is waiting for the page.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err) // every test binary has it
	}
	code := m.Run()
	if common.server != nil {
		if err := common.stop(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if stage.end != nil {
		if err := stage.end(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if inSpaceStage.end != nil {
		if err := inSpaceStage.end(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if browser.cancel != nil {
		browser.cancel()
	}
	if nero.dir != "" {
		os.RemoveAll(nero.dir) //nolint:errcheck // remains in the folder for temporary files
	}
	os.Exit(code)
}

var printed = regexp.MustCompile(`https?://\S+`)

// server is a nero serve that runs.
type server struct {
	url  string
	cmd  *exec.Cmd
	errs *strings.Builder
}

// start starts nero serve and waits for the address that it prints.
func start(bin string, args ...string) (*server, error) {
	c := exec.Command(bin, append([]string{"serve", "--no-open"}, args...)...)
	s := &server{cmd: c, errs: &strings.Builder{}}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.Stderr = s.errs
	if err := c.Start(); err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for r := bufio.NewScanner(out); r.Scan(); {
			if u := printed.FindString(r.Text()); u != "" {
				select {
				case found <- u:
				default:
				}
			}
		}
	}()
	select {
	case s.url = <-found:
	case <-time.After(60 * time.Second):
	}
	if s.url == "" {
		_ = s.cmd.Process.Kill() // it may have ended by itself
		_ = s.cmd.Wait()
		return nil, fmt.Errorf("nero serve %s printed no address\n%s", strings.Join(args, " "), s.errs)
	}
	return s, nil
}

// stop interrupts the server, as Ctrl-C does, and waits for its end.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	late := time.AfterFunc(15*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("nero serve: %w\n%s", err, s.errs)
	}
	return nil
}

// serve starts a nero serve of the test's own, on any free port, and returns its address.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	chromium(t)
	bin, _ := program(t)
	s, err := start(bin, append([]string{"--port", "0"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s.url
}

var common struct {
	once sync.Once
	err  error
	*server
}

// shared is the address of the server that all tests share which change nothing: the run of the digits and its audit.
func shared(t *testing.T) string {
	t.Helper()
	chromium(t)
	bin, dir := program(t)
	common.once.Do(func() { common.server, common.err = start(bin, "--port", "0", dir) })
	if common.err != nil {
		t.Fatal(common.err)
	}
	return common.url
}

// own is a copy of the run for a test that changes its slices, named as the test says.
func own(t *testing.T, name string) string {
	t.Helper()
	_, dir := program(t)
	to := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, "run"))); err != nil {
		t.Fatal(err)
	}
	return to
}

// chromium is the browser that NERO_BROWSER names; the test is skipped where it names none.
func chromium(t *testing.T) string {
	t.Helper()
	bin, err := exec.LookPath(outside.Named(t, outside.Browser))
	if err != nil {
		t.Fatalf("%s names no program: %v", outside.Browser, err)
	}
	return bin
}

var browser struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

// launch starts a Chromium. Flags are without their dashes.
func launch(bin string, flags ...string) (context.Context, context.CancelFunc, error) {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(bin), chromedp.NoSandbox,
		chromedp.DisableGPU)
	for _, f := range append(flags, "disable-quic", "disable-background-networking", "disable-component-update",
		"disable-sync", "no-first-run", "mute-audio") {
		opts = append(opts, chromedp.Flag(f, true))
	}
	ctx, end := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(ctx)
	stop := func() { cancel(); end() }
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, nil, fmt.Errorf("Chromium does not start: %w", err)
	}
	return ctx, stop, nil
}

// page is a tab whose errors fail the test.
type page struct {
	t      *testing.T
	ctx    context.Context
	screen screen
	// requests to any other fail the test
	hosts []string

	mu sync.Mutex
	// the test is done with it
	over bool
	// methods and URLs
	requests []string
	// complaints that belong to the test
	permitted []*regexp.Regexp
	frames    []runtime.ExecutionContextDescription
}

// screen is the size of a window and how it looks.
type screen struct {
	width, height int64
	// light, dark
	scheme string
	touch  bool
	// motion
	reduced bool
	// colours
	forced bool
	// the page is not told that a program drives it
	person bool
	// that runs before the page's own
	script string
	hosts  []string
}

var desktop = screen{width: 1440, height: 900, scheme: "light"}

// open opens an address in a browser window of its own, with a storage of its own, and fails the test on every
// exception, console error, policy report and request to another host.
func open(t *testing.T, address string, s screen) *page {
	t.Helper()
	bin := chromium(t)
	browser.once.Do(func() {
		ctx, cancel, err := launch(bin)
		browser.ctx, browser.cancel, browser.err = ctx, cancel, err //nolint:fatcontext // the context is the browser
	})
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	return openIn(browser.ctx, t, address, s, chromedp.WithNewBrowserContext())
}

// again opens an address in a second tab of the same window: what the page stored is there.
func (p *page) again(address string) *page {
	p.t.Helper()
	return openIn(p.ctx, p.t, address, p.screen)
}

func openIn(parent context.Context, t *testing.T, address string, s screen, opts ...chromedp.ContextOption) *page {
	t.Helper()
	place, _, _ := strings.Cut(address, "#") // the fragment may be anything
	u, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, screen: s, hosts: append([]string{u.Host}, s.hosts...)}
	tab, cancel := chromedp.NewContext(parent, opts...)
	ctx, stop := context.WithTimeout(tab, 180*time.Second) // a page on a busy machine
	p.ctx = ctx
	t.Cleanup(func() {
		if t.Failed() {
			p.keep("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		p.mu.Lock()
		p.over = true
		p.mu.Unlock()
		stop()
		cancel()
	})
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
	script := onEveryPage + s.script
	if s.person {
		script += `Object.defineProperty(Navigator.prototype, 'webdriver', {get: () => false});`
	}
	p.do(
		call(cdplog.Enable, cdp.Empty{}),
		call(network.Enable, network.EnableParams{}),
		call(emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{
				Width: s.width, Height: s.height, DeviceScaleFactor: 1,
				Mobile: s.touch,
			}),
		call(emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: s.touch}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}),
		// tabs share the keyboard
		call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		call(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script}),
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
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
	case *runtime.EventExecutionContextCreated:
		p.frames = append(p.frames, *e.Context)
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError {
			p.complain(fmt.Sprintf("browser: %s %s", e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.Method+" "+e.Request.URL)
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "data" && u.Scheme != "blob" && !slices.Contains(p.hosts, u.Host) {
			p.complain("the page asks another host: " + e.Request.URL)
		}
		if err == nil && u.Scheme == "file" && p.hosts[0] != "" {
			p.complain("a page from the server opens a file: " + e.Request.URL)
		}
	}
}

// complain fails the test unless the message was announced by [page.permit]. The lock is held.
func (p *page) complain(text string) {
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

// until waits for a JavaScript condition and fails the test with what is there instead if it does not come true in 40
// s. A condition that throws is one that is not true yet: what it looks into may not be drawn.
func (p *page) until(condition string) {
	p.t.Helper()
	condition = "(() => { try { return (" + condition + ") } catch (e) { window.caught = String(e); return false } })()"
	var err error
	for range 3 {
		_, err = chromedp.Run(p.ctx,
			chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingInterval(30*time.Millisecond),
				chromedp.WithPollingTimeout(40*time.Second)))
		if err == nil || !strings.Contains(err.Error(), "Cannot find context") {
			break // else another page came in between
		}
	}
	if err != nil {
		text := eval[string](p, `[location.href, window.caught ?? "", document.body.innerText.slice(0, 1500)].join("\n")`)
		p.t.Fatalf("did not come true: %s (%v)\n%s", condition, err, text)
	}
}

// visible waits until an element is there and can be seen.
func (p *page) visible(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(e => e && e.checkVisibility() && e.getClientRects().length > 0)(document.querySelector(%s))`,
		quote(selector)))
}

// text is the text of an element, "" if it is not there.
func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`(document.querySelector(%s)?.textContent ?? "").replace(/\s+/g, " ").trim()`,
		quote(selector)))
}

// attr is an attribute of an element, "" if it is not there.
func (p *page) attr(selector, name string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%s)?.getAttribute(%s) ?? ""`, quote(selector),
		quote(name)))
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
	if !eval[bool](p, fmt.Sprintf(
		`(e => { e.focus(); return document.activeElement === e })(document.querySelector(%s))`, quote(selector))) {
		p.t.Fatalf("%s takes no focus", selector)
	}
}

// keys presses keys where the focus is, one after the other.
func (p *page) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		for _, r := range k {
			p.key(r, 0)
		}
	}
}

// key presses one key. A key that the page has use for types nothing, as in life.
func (p *page) key(r rune, modifiers kb.Modifier) {
	p.t.Helper()
	for _, e := range kb.Encode(r) {
		e.Modifiers |= int64(modifiers)
		if e.Type == input.DispatchKeyEventTypeChar {
			continue
		}
		if e.Type != input.DispatchKeyEventTypeKeyUp {
			e.Type = input.DispatchKeyEventTypeRawKeyDown
			if k, ok := kb.Keys[r]; ok && k.Print && modifiers&^kb.ModifierShift == 0 {
				e.Type, e.Text, e.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, k.Text, k.Unmodified
			} else if !ok {
				e.Type, e.Text, e.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, string(r), string(r)
			}
		}
		p.do(call(input.DispatchKeyEvent, *e))
	}
}

// shift presses a key with Shift held.
func (p *page) shift(key string) {
	p.t.Helper()
	for _, r := range key {
		p.key(r, kb.ModifierShift)
	}
}

// ctrl presses a key with Ctrl held.
func (p *page) ctrl(key string) {
	p.t.Helper()
	for _, r := range key {
		p.key(r, kb.ModifierCtrl)
	}
}

// click clicks the middle of an element by mouse, once it rests there with nothing over it.
func (p *page) click(selector string) {
	p.t.Helper()
	p.visible(selector)
	if !p.clicked(selector) {
		p.t.Fatalf("%s left the page before the mouse reached it", selector)
	}
}

// clicked is click for an element that the page may take away at any moment: it says whether the mouse reached it.
func (p *page) clicked(selector string) bool {
	p.t.Helper()
	const at = `(e => {
		if (e === null) return null
		e.scrollIntoView({block: 'center'})
		const r = e.getBoundingClientRect(), o = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)
		return {X: r.x, Y: r.y, Width: r.width, Height: r.height,
			Free: o !== null && (e.contains(o) || o.contains(e) || e.labels?.[0]?.contains(o) === true),
			Over: o?.outerHTML.slice(0, 200) + ' in a window of ' + innerWidth + ' x ' + innerHeight + ', for ' + e.outerHTML.slice(0, 200)}
	})(document.querySelector(%s))`
	type place struct {
		box
		Free bool
		Over string
	}
	var last place
	for range 60 {
		now := eval[*place](p, fmt.Sprintf(at, quote(selector)))
		if now == nil {
			return false
		}
		if now.box == last.box && now.Free {
			p.do(chromedp.MouseClickXY(now.X+now.Width/2, now.Y+now.Height/2))
			return true
		}
		last = *now
		p.drawn()
	}
	p.t.Fatalf("%s does not come to rest where a mouse reaches it: it lies at %+v, and there is %s", selector, last.box,
		last.Over)
	return false
}

// choose sets a select element to the option with a value.
func (p *page) choose(selector, value string) {
	p.t.Helper()
	p.visible(selector)
	if !eval[bool](p, fmt.Sprintf(
		`(e => { e.value = %s; e.dispatchEvent(new Event('change', {bubbles: true})); return e.value === %s })(document.querySelector(%s))`, quote(value), quote(value), quote(selector))) {
		p.t.Fatalf("%s has no option %q", selector, value)
	}
}

type box struct{ X, Y, Width, Height float64 }

// box is where an element lies in the window, after scrolling to it.
func (p *page) box(selector string) box {
	p.t.Helper()
	return eval[box](p, fmt.Sprintf(
		`(e => { e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return {X: r.x, Y: r.y, Width: r.width, Height: r.height} })(document.querySelector(%s))`, quote(selector)))
}

// drag presses the mouse at the first of some points, which are fractions of an element's box, goes through the others
// and lets go.
func (p *page) drag(selector string, points ...[2]float64) {
	p.t.Helper()
	p.visible(selector)
	b := p.box(selector)
	for i, q := range points {
		x, y := b.X+q[0]*b.Width, b.Y+q[1]*b.Height
		if i == 0 {
			p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y),
				chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y,
					chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1)))
			continue
		}
		p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, pressed))
	}
	last := points[len(points)-1]
	p.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, b.X+last[0]*b.Width, b.Y+last[1]*b.Height,
		chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1)))
}

// pressed says that the left button is down while the mouse moves.
func pressed(m *input.DispatchMouseEventParams) {
	m.Button, m.Buttons = input.MouseButtonLeft, 1
}

// quote writes a text as JavaScript does.
func quote(s string) string { return string(encode(s)) }

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as JSON.stringify does
	if err := e.Encode(v); err != nil {
		panic(err) // what tests expect can be written
	}
	return bytes.TrimSpace(b.Bytes())
}

// keep stores a picture of the whole page for eyes, where NERO_SCREENSHOTS says.
func (p *page) keep(name string) {
	p.t.Helper()
	dir := os.Getenv("NERO_SCREENSHOTS")
	if dir == "" {
		return
	}
	b, err := p.picture()
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644)
	}
	if err != nil {
		p.t.Errorf("no screenshot: %v", err)
	}
}

// picture is the whole page as PNG, in a window that is as high as it needs.
func (p *page) picture() ([]byte, error) {
	high := func(h int64) error {
		return chromedp.Do(p.ctx,
			call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
				Width:  p.screen.width,
				Height: h, DeviceScaleFactor: 1, Mobile: p.screen.touch,
			}))
	}
	h, err := chromedp.Run(p.ctx, chromedp.Evaluate[int64](`document.documentElement.scrollHeight`))
	if err != nil {
		return nil, err
	}
	if err := high(max(h, p.screen.height)); err != nil {
		return nil, err
	}
	const frames = `new Promise(f => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => f(0))), 50))`
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[int](frames, chromedp.EvalAwaitPromise)); err != nil {
		return nil, err
	}
	r, err := chromedp.Call(p.ctx, cdppage.CaptureScreenshot,
		cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormatPng})
	if err != nil {
		return nil, err
	}
	return r.Data, high(p.screen.height)
}

// axe fails the test with what axe-core finds wrong for people who cannot see, hear or point: on the whole page, or in
// one part of it. What is faint because its successor is on the way is waited for: it is faint by intent. Without its
// file, which npm installs, it says so.
func (p *page) axe(where string, only ...string) {
	p.t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "serve", "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv(outside.WebModules) != "" {
			p.t.Fatalf("axe-core is not there (npm ci in serve/web): %v", err)
		}
		p.t.Logf("%s was not tested with axe-core, which npm ci in serve/web installs", where)
		return
	}
	part := "document"
	if len(only) > 0 {
		part = quote(only[0])
	}
	p.until(`document.querySelector('.stale') === null`)
	p.do(chromedp.Evaluate[chromedp.Void](string(src)))
	type finding struct {
		ID    string   `json:"id"`
		Help  string   `json:"help"`
		Nodes []string `json:"nodes"`
	}
	for _, f := range eval[[]finding](p,
		`axe.run(`+part+`, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'], iframes: false}).then(r => r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200) + ' ' + (n.any[0]?.message ?? ''))})))`) {
		p.t.Errorf("%s: axe-core: %s (%s)\n  %s", where, f.Help, f.ID, strings.Join(f.Nodes, "\n  "))
	}
}

package e2e

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// fromDisk is the address of a file.
func fromDisk(file string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}

// quiet fails the test if a report asked for anything but itself.
func (p *page) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	files := 0
	for _, r := range p.requests {
		switch {
		case strings.HasPrefix(r, "GET file:"):
			files++
		case strings.HasPrefix(r, "GET data:"), strings.HasPrefix(r, "GET blob:"):
		default:
			p.t.Errorf("the report asks: %s", r)
		}
	}
	if files != 1 {
		p.t.Errorf("the report reads %d files, want itself", files)
	}
}

// TestReport works with a report from disk as with a server, without one request.
func TestReport(t *testing.T) {
	t.Parallel()
	chromium(t)
	_, dir := program(t)
	file := filepath.Join(t.TempDir(), "a report & 数.html")
	command(t, dir, "report", "-q", ".", "--keep", "20", "-o", file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 10<<20 {
		t.Errorf("the report has %d bytes", info.Size())
	}
	for name, s := range map[string]screen{
		"light": desktop,
		"phone": {width: 360, height: 740, scheme: "dark", touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, fromDisk(file), s)
			p.ready()
			p.narrow()
			p.keep("report-" + name)
			p.axe("report, " + name)
			p.quiet()
		})
	}
	p := open(t, fromDisk(file), desktop)
	p.ready()

	// What is not in the file is said.
	if text := p.text("body"); !strings.Contains(text, "20") ||
		!eval[bool](p, `/(left out|kept whole|not in (the|this) file|without)/.test(document.body.textContent)`) {
		t.Error("the report does not say what it leaves out")
	}
	// A sample that was kept: needle by keys and mouse, with input and recorded answers.
	p.press("#individual", "worst")
	p.focus(needle)
	p.keys(kb.Home)
	p.until(`document.querySelector('#input canvas') !== null`)
	p.keys(kb.ArrowRight)
	p.is(`__nero.state.place.g.value`, []float64{5})
	p.until(`document.querySelector('#individual .status .tag').textContent === 'recorded'`)
	q := p.onPolar(orbit, 120)
	p.clickAt(q[0], q[1])
	p.is(`__nero.state.place.g.value`, []float64{120})
	p.until(`document.querySelector('#input .facts').textContent.includes('120°')`)
	p.keep("report-kept")
	// One that was not.
	hidden := eval[int](p, `[...__nero.state.choice.order.value].at(__nero.state.choice.order.value.length >> 1)`)
	for _, i := range append([]int{hidden}, eval[[]int](p, `[...__nero.state.choice.order.value].slice(20, 80)`)...) {
		eval[bool](p, fmt.Sprintf(`(__nero.state.place.setSample(%d), true)`, i))
		p.until(`!__nero.state.data.one.state.value.busy`)
		if eval[bool](p, `__nero.state.data.one.state.value.error !== '' || document.querySelector('#input canvas') === null`) {
			hidden = i
			break
		}
	}
	p.until(`document.querySelector('#individual .plot') !== null`)
	p.keep("report-not-kept")
	p.axe("a sample that was not kept")
	t.Logf("sample %d: %s", hidden, p.text("#input"))

	// Slices by class and by rule, with sums made here.
	p.turn(`#aggregate select[aria-label="Slice"]`, "6")
	p.until(`__nero.state.choice.count.value === 7 && document.querySelector('#aggregate .legend .count').textContent === 'n = 7'`)
	p.until(`/original is right on [\d.]+% of the 7 chosen inputs/.test(document.querySelector('.in-words').textContent)`)
	p.write("#rule", "mean A < 0.5\r")
	p.until(`__nero.state.choice.count.value <= 7 && __nero.state.choice.count.value > 0`)
	p.press("#slices", "All samples")
	p.is(`__nero.state.choice.count.value`, 100)
	p.focus(plane)
	p.keys(kb.ArrowRight, kb.Enter, "l", kb.ArrowRight, kb.Enter)
	p.shift(kb.ArrowLeft)
	p.shift(kb.ArrowUp)
	p.keys(kb.Enter, kb.Escape)
	p.focus("#table [role=grid]")
	p.keys(kb.End, kb.Enter)
	p.is(`__nero.state.choice.at.value`, 99)
	p.click(how + "button:nth-child(3)")
	p.until(`__nero.state.place.compare.value === 'diff' && document.querySelector('#aggregate .axisnote').textContent.includes('B − A')`)
	p.keep("report-difference")

	// The address holds what is shown, from disk as well.
	p.settled()
	want := eval[any](p, shown)
	again := open(t, p.address(), desktop)
	again.ready()
	again.is(shown, want)
	again.quiet()

	// Findings, and from a worst case back into the views.
	p.press("header nav", "Findings")
	p.visible(".findings .summary .verdict")
	p.keep("report-findings")
	p.axe("findings in a report")
	if link := eval[string](p,
		`[...document.querySelectorAll('.findings a.open')].at(-1)?.textContent ?? ''`); link == "" {
		t.Error("no worst case opens in the report")
	} else {
		p.press(".findings", link)
		p.ready()
	}
	// Taken away.
	saved := p.downloads()
	p.press("header", "Export")
	p.press("header .sheet", "Aggregate as SVG")
	name, b := p.saved(saved, ".svg")
	isSVG(t, name, b)
	p.press("header", "Export")
	p.press("header .sheet", "Samples as CSV")
	name, b = p.saved(saved, ".csv")
	if rows := csvRows(t, name, b); len(rows) != 101 {
		t.Errorf("%s has %d rows", name, len(rows))
	}
	p.press("header", "Help and keys")
	p.visible("dialog.help[open]")
	p.keys(kb.Escape)
	p.quiet()

	// Without scripts there is a table.
	bare := open(t, "about:blank", desktop)
	bare.do(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(fromDisk(file)))
	// such a page has no timers to wait with
	for k := 0; eval[int](bare, `document.querySelector('noscript table')?.getClientRects().length ?? 0`) == 0; k++ {
		if k == 100 {
			t.Fatal("without scripts the report shows no table")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if text := bare.text("noscript"); !strings.Contains(text, "original") || !strings.Contains(text, "augmented") {
		t.Errorf("without scripts the report says %q", text)
	}

	// On paper there is all of it.
	pdf, err := chromedp.Run(p.ctx, chromedp.PrintToPDF())
	if err != nil || len(pdf) < 20_000 {
		t.Errorf("a PDF of %d bytes, %v", len(pdf), err)
	}
}

// TestReportLink takes the report from the head of the page.
func TestReportLink(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	dir := p.downloads()
	p.press("header nav", "Report")
	name, b := p.saved(dir, ".html")
	if !strings.HasPrefix(strings.ToLower(string(b[:15])), "<!doctype html>") || len(b) < 300_000 {
		t.Fatalf("%s: %d bytes, beginning with %.60q", name, len(b), b)
	}
	file := filepath.Join(t.TempDir(), "taken.html")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	q := open(t, fromDisk(file), desktop)
	q.ready()
	q.quiet()
}

// TestReportInFrame shows a report as a notebook does: its text is an attribute of a frame that may run scripts and
// nothing else, so that it has no address, no storage and no history of its own. What is seen in the frame is told by a
// line that is added to the report, because a page may not look into such a frame.
func TestReportInFrame(t *testing.T) {
	t.Parallel()
	chromium(t)
	_, dir := program(t)
	file := filepath.Join(t.TempDir(), "report.html")
	command(t, dir, "report", "-q", ".", "--keep", "20", "-o", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const spy = `<script>
addEventListener('error', (e) => parent.postMessage({failed: e.message}, '*'));
setInterval(() => {
  const box = (q) => {
    const r = document.querySelector(q)?.getBoundingClientRect();
    return r ? [r.x + r.width / 2, r.y + r.height / 2] : null;
  };
  parent.postMessage({
    curves: document.querySelectorAll('#aggregate path.line').length,
    findings: box('header nav a[href^="#/findings"]'),
    page: document.querySelector('nav [aria-current=page]')?.textContent ?? '',
    link: [...document.querySelectorAll('button')].some((b) => /^(Link|Copy link)/.test(b.textContent)),
  }, '*');
}, 100);
</script>`
	if !strings.Contains(string(text), "<head>") {
		t.Fatalf("the report begins with %.200q", text)
	}
	notebook := `<!doctype html><meta charset="utf-8"><title>notebook</title>
<script>
addEventListener('message', (e) => { if (e.data.failed) window.failed = e.data.failed; else window.seen = e.data; });
</script>
<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:880px;border:0" srcdoc="` +
		html.EscapeString(strings.Replace(string(text), "<head>", "<head>"+spy, 1)) + `"></iframe>`
	around := filepath.Join(t.TempDir(), "notebook.html")
	if err := os.WriteFile(around, []byte(notebook), 0o644); err != nil {
		t.Fatal(err)
	}
	p := open(t, fromDisk(around), desktop)
	p.until(`window.failed !== undefined || window.seen?.curves > 0`)
	if said := eval[string](p, `window.failed ?? ''`); said != "" {
		t.Errorf("the report in a frame: %s", said)
	}
	if eval[bool](p, `window.seen.link`) {
		t.Error("the report offers a link to a page that has no address")
	}
	// A link within the report is followed within it, and Back takes it back.
	p.is(`window.seen.page`, "Run")
	at := eval[[]float64](p, `(f => [f.x + window.seen.findings[0], f.y + window.seen.findings[1]])(
		document.querySelector('iframe').getBoundingClientRect())`)
	p.clickAt(at[0], at[1])
	p.until(`window.seen.page === 'Findings'`)
	p.key([]rune(kb.ArrowLeft)[0], kb.ModifierAlt)
	p.until(`window.seen.page === 'Run' && window.seen.curves > 0`)
	p.keep("report-in-frame")
}

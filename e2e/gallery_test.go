package e2e

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"nero/internal/outside"
)

// TestGallery opens notebooks that were executed and saved as pages, without a kernel and without a network: verdict
// and curve of an audit are there, and the whole report unfolds.
func TestGallery(t *testing.T) {
	t.Parallel()
	chromium(t)
	file := filepath.Join(outside.Folder(t, outside.Gallery, "escnn_c8_d4.html"), "escnn_c8_d4.html")
	for _, scheme := range []string{"light", "dark"} {
		s := desktop
		s.scheme = scheme
		p := open(t, fromDisk(file), s)
		const seen = `(e => { const r = e?.getBoundingClientRect(); return !!r && r.width > 20 && r.height > 8 &&
			getComputedStyle(e).visibility === 'visible' })`
		p.until(`document.querySelectorAll('.nero-card').length === 2`)
		p.is(`[...document.querySelectorAll('.nero-card .chip')].map(e => e.textContent).join()`, "NEEDS ATTENTION,FAIL")
		p.is(`[...document.querySelectorAll('.nero-card .chip, .nero-card svg')].every(`+seen+`) + ''`, "true")
		p.is(`[...document.querySelectorAll('.nero-card')].every(c => c.querySelector('svg path, svg polyline, svg circle')) + ''`,
			"true")
		// Answers stand below their questions, whatever the page around them does to lists.
		p.is(`[...document.querySelectorAll('.nero-card .answers dd')].every(
			e => e.getBoundingClientRect().top >= e.previousElementSibling.getBoundingClientRect().bottom - 1) + ''`, "true")
		p.is(`[...document.querySelectorAll('details > iframe')].some(e => e.checkVisibility({contentVisibilityAuto: true})) + ''`, "false")
		eval[any](p, `[...document.querySelectorAll('summary')].find(e => e.textContent === 'The whole report').scrollIntoView()`)
		p.until(`document.readyState === 'complete' && (at => {
			const still = window.wasAt === at;
			window.wasAt = at;
			return still;
		})([...document.querySelectorAll('summary')].find(e => e.textContent === 'The whole report').getBoundingClientRect().y)`)
		at := eval[[]float64](p, `(r => [r.x + 20, r.y + r.height / 2])(
			[...document.querySelectorAll('summary')].find(e => e.textContent === 'The whole report').getBoundingClientRect())`)
		p.clickAt(at[0], at[1])
		p.until(`(e => e?.checkVisibility() && e.getBoundingClientRect().height > 400)(
			document.querySelector('details[open] > iframe'))`)
		p.keep("gallery-" + scheme)
	}
}

// TestGalleryRun turns the pages of a run that a notebook kept, by clicks in its frame.
func TestGalleryRun(t *testing.T) {
	t.Parallel()
	chromium(t)
	dir := outside.Folder(t, outside.Gallery, "detector_boxes.html")
	text, err := os.ReadFile(filepath.Join(dir, "detector_boxes.html"))
	if err != nil {
		t.Fatal(err)
	}
	// The frame may not be looked into from around it, so a spy goes in with the page.
	spy := html.EscapeString(`<head><script>let was = '', still = 0; setInterval(() => {
  const r = document.querySelector('header nav a[href^="#/findings"]')?.getBoundingClientRect();
  still = JSON.stringify(r) === was ? still + 1 : 0;
  was = JSON.stringify(r);
  parent.postMessage({
    still,
    maps: document.querySelectorAll('#aggregate canvas, #aggregate svg').length,
    findings: r ? [r.x + r.width / 2, r.y + r.height / 2] : null,
    page: document.querySelector('nav [aria-current=page]')?.textContent ?? '',
  }, '*');
}, 100)</script>`)
	// The attributes of a frame stand in any order.
	titled := strings.Index(string(text), `title="The run of middle, anywhere"`)
	if titled < 0 {
		t.Fatal("the notebook shows no run")
	}
	at := strings.LastIndex(string(text[:titled]), "<iframe")
	page := string(text[:at]) + `<script>
addEventListener('message', (e) => { if (e.data.maps !== undefined) window.seen = e.data });
</script>` + strings.Replace(string(text[at:]), html.EscapeString("<head>"), spy, 1)
	file := filepath.Join(t.TempDir(), "spied.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	p := open(t, fromDisk(file), desktop)
	eval[any](p, `document.querySelector('iframe[title^="The run of"]').scrollIntoView()`)
	p.until(`document.readyState === 'complete' && window.seen?.maps > 0 && window.seen.findings !== null && window.seen.still > 5`)
	p.is(`window.seen.page`, "Run")
	on := eval[[]float64](p, `(f => [f.x + window.seen.findings[0], f.y + window.seen.findings[1]])(
		document.querySelector('iframe[title^="The run of"]').getBoundingClientRect())`)
	p.clickAt(on[0], on[1])
	p.until(`window.seen.page === 'Findings'`)
	p.key([]rune(kb.ArrowLeft)[0], kb.ModifierAlt)
	p.until(`window.seen.page === 'Run' && window.seen.maps > 0`)
	p.keep("gallery-run")
}

// cells are what is read of a saved notebook.
type cells struct {
	Cells []struct {
		Outputs []struct {
			Data map[string]json.RawMessage `json:"data"`
		} `json:"outputs"`
	} `json:"cells"`
}

var (
	removed = regexp.MustCompile(`(?s)<(style|script|iframe)\b.*?</(style|script|iframe)>`)
	styled  = regexp.MustCompile(`\s(style|class|srcdoc)="[^"]*"`)
	tags    = regexp.MustCompile(`(?s)<[^>]*>`)
)

// TestGallerySanitized reads what is left of an audit where a notebook is not trusted, as JupyterLab shows it: no
// styles, no scripts, no frames. Verdict, numbers and curve are.
func TestGallerySanitized(t *testing.T) {
	t.Parallel()
	dir := outside.Folder(t, outside.Gallery, "escnn_c8_d4.ipynb")
	text, err := os.ReadFile(filepath.Join(dir, "escnn_c8_d4.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var n cells
	if err := json.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	var cards []string
	for _, c := range n.Cells {
		for _, o := range c.Outputs {
			var page string
			if json.Unmarshal(o.Data["text/html"], &page) != nil {
				var lines []string
				if json.Unmarshal(o.Data["text/html"], &lines) != nil {
					continue
				}
				page = strings.Join(lines, "")
			}
			if strings.Contains(page, "nero-card") {
				cards = append(cards, styled.ReplaceAllString(removed.ReplaceAllString(page, ""), ""))
			}
		}
	}
	if len(cards) != 2 {
		t.Fatalf("%d audits are shown; expected 2", len(cards))
	}
	for i, want := range [][]string{
		{"C8", "NEEDS ATTENTION", "At 90°, 180° and 270°", "times what interpolation alone does"},
		{"on28", "FAIL", "striding or pooling", "no more than", "--replay"},
	} {
		said := html.UnescapeString(tags.ReplaceAllString(cards[i], ""))
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("card %d does not say %q without styles:\n%s", i, w, said)
			}
		}
		if !strings.Contains(cards[i], "<svg") {
			t.Errorf("card %d has no curve without styles", i)
		}
	}
	page := filepath.Join(t.TempDir(), "plain.html")
	all := "<!doctype html><meta charset=utf-8><title>plain</title>" + strings.Join(cards, "")
	if err := os.WriteFile(page, []byte(all), 0o644); err != nil {
		t.Fatal(err)
	}
	p := open(t, fromDisk(page), desktop)
	p.is(`[...document.querySelectorAll('h3')].every(e => e.getBoundingClientRect().width > 20) + ''`, "true")
	p.keep("gallery-plain")
}

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// TestFindings reads an audit: verdict, models, plots by mouse and keyboard, and from a worst case into the five views.
func TestFindings(t *testing.T) {
	t.Parallel()
	p := looked(t, "", desktop)
	p.press("header nav", "Findings")
	p.visible(".findings .summary .verdict")
	p.is(`__nero.state.place.page.value`, "findings")
	p.narrow()
	// First what was found, then the curve, then the worst input as it is and moved with both answers.
	p.until(`[...document.querySelectorAll('.summary .pair img')].length === 2 && ` +
		`[...document.querySelectorAll('.summary .pair img')].every(i => i.naturalWidth === 28)`)
	if text := p.text(".summary"); !strings.Contains(text, "Answer unmoved: class") ||
		!strings.Contains(text, "What to do:") {
		t.Errorf("the first card says %q", text)
	}
	if text := p.text("#checks-title + details"); !strings.Contains(text, "Sanity checks measured") {
		t.Errorf("the first check is called %q", text)
	}
	p.keep("findings")
	p.axe("findings")

	// Both models.
	buttons := `.findings .models button`
	p.until(`document.querySelectorAll('` + buttons + `').length === 2`)
	p.is(`[...document.querySelectorAll('`+buttons+`')].map(b => b.getAttribute('aria-pressed'))`,
		[]string{"true", "false"})
	who := p.text(".findings .summary .who")
	p.focus(buttons + ":nth-child(2)")
	p.keys(kb.Enter)
	p.until(`document.querySelector('.findings .summary .who').textContent !== ` + quote(who))
	p.axe("findings of the other model")
	p.click(buttons + ":nth-child(1)")
	p.until(`document.querySelector('.findings .summary .who').textContent === ` + quote(who))

	// Everything opens and stays readable.
	eval[bool](p, `(document.querySelectorAll('.findings details').forEach(d => (d.open = true)), true)`)
	p.drawn()
	p.narrow()
	p.keep("findings-open")
	p.axe("findings, all open")

	// Into the plots by keyboard and by mouse.
	plot := `.findings .plot svg[role=application]`
	p.focus(plot)
	at := func() string { return p.text(".findings .plot:has(svg[role=application]) output.at") }
	p.keys(kb.ArrowRight)
	p.until(`document.querySelector('.findings .plot:has(svg[role=application]) output.at').textContent.length > 5`)
	first := at()
	p.keys(kb.ArrowRight)
	p.drawn()
	if at() == first {
		t.Errorf("an arrow key stays at %q", first)
	}
	p.keys(kb.Home)
	p.drawn()
	if at() != first {
		t.Errorf("Home goes to %q, the first was %q", at(), first)
	}
	p.keys(kb.End, kb.Escape)
	p.until(`document.querySelector('.findings .plot:has(svg[role=application]) output.at').textContent === ''`)
	mark := eval[[]float64](p,
		fmt.Sprintf(`(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(%s).querySelector('.mark, path.curve').getBoundingClientRect())`, quote(plot)))
	p.mouse(input.DispatchMouseEventTypeMouseMoved, mark[0], mark[1])
	p.until(`document.querySelector('.findings .plot:has(svg[role=application]) output.at') !== null`)
	if eval[int](p, `document.querySelectorAll('.findings .map .cells').length`) > 0 {
		p.focus(".findings .map .cells")
		p.keys(kb.ArrowRight)
		p.until(`document.querySelector('.findings .map output.at').textContent.startsWith('row 0, column')`)
	}

	// Taken away.
	dir := p.downloads()
	title := p.text(".findings .plot h3")
	p.press(".findings .plot", title+": save as SVG")
	name, b := p.saved(dir, ".svg")
	isSVG(t, name, b)
	p.press(".findings .plot", title+": save as PNG")
	name, b = p.saved(dir, ".png")
	isPNG(t, name, b)
	p.press(".findings .plot", title+": save the numbers as CSV")
	name, b = p.saved(dir, ".csv")
	if rows := csvRows(t, name, b); len(rows) < 3 {
		t.Errorf("%s has %d rows", name, len(rows))
	}
	p.press(".findings", "Save the worst cases as csv")
	name, b = p.saved(dir, ".csv")
	cases := eval[int](p, `document.querySelectorAll('.findings .cases li').length`)
	if rows := csvRows(t, name, b); len(rows) != cases+1 || !slices.Contains(rows[0], "sample") {
		t.Errorf("%s has %d rows for %d cases: %q", name, len(rows), cases, rows[0])
	}

	// From a worst case into the five views, at that sample and element; some findings are of a sample alone.
	link := eval[string](p, `[...document.querySelectorAll('.findings a.open')].map(a => a.textContent)`+
		`.findLast(t => t.includes(' at ')) ?? ''`)
	if link == "" {
		t.Fatal("no worst case opens")
	}
	rest, ok := strings.CutPrefix(link, "Open sample ")
	sample, element, two := strings.Cut(rest, " at ")
	if !ok || !two {
		t.Fatalf("the link says %q", link)
	}
	p.enter(".findings", link)
	p.ready()
	p.is(`__nero.state.data.ids.value[__nero.state.place.sample.value]`, sample)
	if degrees := strings.TrimRight(element, " deg°"); fmt.Sprint(p.g()) != "["+degrees+"]" {
		t.Errorf("the link says %q, the needle is at %v", element, p.g())
	}
	p.is(`__nero.state.data.run.value.model_list[__nero.state.place.a.value].name`, who)
	// Back is back in the findings.
	p.settled()
	eval[bool](p, `(history.back(), true)`)
	p.visible(".findings .summary")

	small := open(t, p.address(), screen{width: 360, height: 740, scheme: "dark", touch: true})
	small.visible(".findings .summary .verdict")
	small.narrow()
	small.keep("findings-phone")
	small.axe("findings, on a phone in the dark")
}

// TestLimit draws what an audit would permit beside the curves of the relative error, on a plot that can show it, and
// says it.
func TestLimit(t *testing.T) {
	t.Parallel()
	chromium(t)
	dir := t.TempDir()
	study, err := filepath.Abs(filepath.Join("..", "studies", "digits", "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	command(t, dir, "run", "-q", study, "--limit", "4", "--orbit", "8", "--metrics", "relative,confidence", "-o", "run")
	command(t, dir, "audit", "-q", study, "--limit", "4", "--orbit", "8", "--threshold", "0.25", "--checks",
		"preflight,sweep,controls,lattice", "--format", "json", "-o", "audit", "--fail-on", "nothing")
	p := open(t, at(serve(t, dir), "/run/run?v=1&m=relative&g=45"), desktop)
	p.ready()
	for _, card := range []string{"#aggregate", "#individual"} {
		p.until(`document.querySelector('` + card + ` .plot .floor') !== null`)
		p.until(`/^limit of the audit: 0.250/.test(document.querySelector('` + card + ` .axisnote.limit')?.textContent)`)
		// Where the scale has it.
		p.until(`(c => Math.abs(+c.getAttribute('r') / 100 - (s => { const {lo, hi, log} = s.place.range.value; return log ? NaN : (0.25 - lo) / (hi - lo); })(__nero.state)) < 0.01 ||
			__nero.state.place.range.value.log)(document.querySelector('` + card + ` .plot .floor'))`)
	}
	p.keep("limit")
	p.axe("the limit of an audit", "#aggregate")
	p.fits()
	p.turn("header .what select", "1") // another quantity has another limit, or none
	p.until(`document.querySelectorAll('.axisnote.limit, #aggregate .plot .floor').length === 0`)
}

// address is the address of the page.
func (p *page) address() string {
	p.t.Helper()
	return eval[string](p, `location.href`)
}

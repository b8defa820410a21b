package e2e

import (
	"fmt"
	"net/url"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// navigate goes to an address in a tab that is open.
func navigate(address string) chromedp.Action[chromedp.Void] {
	return call(cdppage.Navigate, cdppage.NavigateParams{URL: address})
}

// shown is all that an address restores.
const shown = `(s => [s.place.page.value, s.data.runID.value, s.place.sample.value, [...s.place.g.value], s.place.a.value, s.place.b.value, s.place.metric.value, s.place.compare.value, s.choice.parts.value.slice, s.choice.parts.value.rule,
	s.choice.parts.value.picked, s.choice.parts.value.lasso?.poly ?? null, s.choice.embedding.value.method, s.choice.embedding.value.of, s.choice.colorBy.value, s.place.cmap.value, s.place.pinned.value, s.choice.count.value, s.place.liveOn.value])(__nero.state)`

// TestLink changes everything that a link holds, copies it, and finds the same view in a new window.
func TestLink(t *testing.T) {
	t.Parallel()
	s := desktop
	// What is copied comes to the test, since the clipboard belongs to the machine.
	s.script = `Object.defineProperty(navigator, 'clipboard', {value: {writeText: t => (window.copied = t, Promise.resolve())}});`
	p := looked(t, "", s)
	p.live()
	p.press("header", "Swap A and B")
	p.turn("header .what select", "1")
	p.turn(`header .tail select[title="Colour map"]`, "cividis")
	p.click(how + "button:nth-child(3)")
	p.turn(`#samples select[aria-label="Layout"]`, "ica")
	p.turn(`#samples select[aria-label="Of the curves of which models"]`, "a")
	p.turn(`#samples select[aria-label="Colour"]`, "diff")
	p.until(`!__nero.state.choice.layout.state.value.busy`)
	p.turn(`#aggregate select[aria-label="Slice"]`, "2")
	p.write("#rule", "mean A > 0.1\r")
	p.focus(plane)
	p.keys("l")
	for range 12 {
		p.shift(kb.ArrowLeft)
		p.shift(kb.ArrowUp)
	}
	p.keys(kb.Enter)
	for range 14 {
		p.shift(kb.ArrowRight)
		p.shift(kb.ArrowDown)
	}
	p.keys(kb.Enter)
	p.until(`__nero.state.choice.parts.value.lasso?.mask != null && __nero.state.choice.count.value > 0`)
	p.focus(needle)
	p.keys("]", "p", "]", kb.PageUp, kb.ArrowRight)
	p.until(`__nero.state.place.g.value[0] === 16 && __nero.state.place.pinned.value >= 0`)
	want := eval[any](p, shown)
	p.settled()
	p.press("header", "Link")
	p.until(`typeof window.copied === 'string'`)
	link := eval[string](p, `window.copied`)
	if here := eval[string](p, `location.href`); link != here {
		t.Errorf("copied %s, the address is %s", link, here)
	}
	q := open(t, link, desktop)
	q.ready()
	q.until(`!__nero.state.choice.layout.state.value.busy && __nero.state.choice.parts.value.lasso?.mask != null`)
	q.is(shown, want)
	if a, b := p.settled(), q.settled(); a != b {
		t.Errorf("the address became\n%s, it was\n%s", b, a)
	}
	if len(link) > 2000 {
		t.Errorf("the link has %d characters", len(link))
	}
}

// TestBadLink opens addresses that somebody mistyped: the page comes up, says what it left out, and keeps what it does
// not know.
func TestBadLink(t *testing.T) {
	t.Parallel()
	bad := "&i=999999&g=1,2&a=nobody&b=%3Cb%3E&dr=magic&by=shoesize&map=jet&m=luck&cmp=upside&live=2&poly=1,2,3&" +
		"i=4&%E0%A4%A&future=kept&v=9"
	p := looked(t, bad, desktop)
	p.until(`document.querySelectorAll('.banners .banner').length >= 3`)
	p.is(`[__nero.state.place.sample.value, __nero.state.place.g.value[0], __nero.state.place.compare.value]`, []any{0, 0, "over"})
	p.keep("bad-link")
	p.axe("notices", ".banners")
	p.settled()
	if h := p.hash(); h.Get("future") != "kept" {
		t.Errorf("an unknown key was lost: %v", h)
	}
	for range 8 {
		if eval[int](p, `document.querySelectorAll('.banners .banner .close').length`) == 0 {
			break
		}
		p.click(".banners .banner .close")
		p.drawn()
	}
	p.is(`document.querySelectorAll('.banners .banner').length`, 0)
	if eval[int](p, `document.querySelectorAll('header b').length`) != 0 {
		t.Error("HTML of the address came into the page")
	}

	// Hashes that are no addresses at all.
	p.permit(`404`)
	for _, hash := range []string{
		"#/nowhere", "#/run", "#/run/%", "#/run/a/b/c", "#////?&&&==&=&",
		"#/run/run?" + url.QueryEscape("i=3"),
	} {
		eval[bool](p, fmt.Sprintf(`(location.hash = %s, true)`, quote(hash)))
		p.until(`document.querySelector('main').textContent.length > 20`)
		p.drawn()
	}

	// A run that is not there.
	eval[bool](p, `(location.hash = '#/run/gone%3Cimg%3E?v=1', true)`)
	p.until(`document.querySelector('main .trouble')?.textContent.includes('gone<img>')`)
	p.keep("unknown-run")
	p.axe("an unknown run")
	p.press("main", "All runs")
	p.until(`document.querySelectorAll('.run-card').length === 1`)
	p.press("main .run-card", "run")
	p.ready()
}

// TestBackAndUndo goes back and forward through samples and slices, and takes changes back with Ctrl+Z.
func TestBackAndUndo(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	p.settled()
	p.focus(needle)
	order := eval[[]int](p, `[...__nero.state.choice.order.value]`)
	place := eval[int](p, `__nero.state.choice.at.value`)
	p.keys("]")
	p.settled()
	p.keys("]")
	p.settled()
	p.choose(`#aggregate select[aria-label="Slice"]`, "6")
	p.settled()
	sample := func(i int) string { return fmt.Sprintf(`__nero.state.place.sample.value === %d`, i) }
	p.until(sample(order[place+2]) + ` && __nero.state.choice.count.value === 7`)
	for _, step := range []struct {
		js   string
		want string
	}{
		{"history.back()", sample(order[place+2]) + ` && __nero.state.choice.count.value === 100`},
		{"history.back()", sample(order[place+1])},
		{"history.back()", sample(6)},
		{"history.forward()", sample(order[place+1])},
		{"history.forward()", sample(order[place+2]) + ` && __nero.state.choice.count.value === 100`},
		{"history.forward()", `__nero.state.choice.count.value === 7`},
	} {
		eval[bool](p, `(`+step.js+`, true)`)
		p.until(step.want)
		p.settled()
	}
	// Undo takes single gestures back, moves of the needle too.
	p.focus(needle)
	p.keys(kb.PageUp)
	p.until(`__nero.state.place.g.value[0] === 105`)
	p.settled()
	p.turn("header .what select", "1")
	p.settled()
	p.focus(needle)
	p.ctrl("z")
	p.is(`__nero.state.place.metric.value`, 0)
	p.is(`__nero.state.place.g.value[0]`, 105)
	p.settled()
	p.ctrl("z")
	p.is(`__nero.state.place.g.value[0]`, 90)
	p.ctrl("z")
	p.until(`__nero.state.choice.count.value === 100`)
	// In a field, Ctrl+Z is the field's.
	p.write("#rule", "mean")
	p.ctrl("z")
	p.steady(`__nero.state.choice.count.value`, 100)
}

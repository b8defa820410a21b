package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestHelp opens the help by mouse and by key; the keyboard stays in it, Escape closes it, and the focus goes back.
func TestHelp(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	p.press("header", "Help and keys")
	p.visible("dialog.help[open]")
	p.keep("help")
	p.axe("help", "dialog.help")
	p.press("dialog.help", "Close")
	p.until(`document.querySelector('dialog[open]') === null && document.activeElement.getAttribute('aria-label') === 'Help and keys'`)

	p.focus(needle)
	p.keys("?")
	p.visible("dialog.help[open]")
	for range 12 {
		p.keys("\t")
		if !eval[bool](p, `document.activeElement === document.body || document.activeElement.closest('dialog') !== null`) {
			t.Fatal("the keyboard left the help while it is open")
		}
	}
	// Keys of the page behind it do nothing.
	p.keys("]")
	p.steady(`__nero.state.place.sample.value`, 6)
	p.keys(kb.Escape)
	p.until(`document.querySelector('dialog[open]') === null && document.activeElement === document.querySelector('` +
		needle + `')`)

	// Single letters can be switched off, and stay off; other keys work on.
	p.press("header", "Help and keys")
	p.click("dialog.help .help-switch input")
	p.keys(kb.Escape)
	p.until(`document.querySelector('dialog[open]') === null`)
	p.focus(needle)
	p.keys("]", "p", "?")
	p.steady(`[__nero.state.place.sample.value, __nero.state.place.pinned.value, document.querySelector('dialog[open]')]`,
		[]any{6, -1, nil})
	p.keys(kb.ArrowRight)
	p.is(`__nero.state.place.g.value[0]`, 91)
	p.reload()
	p.ready()
	p.is(`__nero.state.place.shortcuts.value`, false)
	p.enter("header", "Help and keys")
	p.focus("dialog.help .help-switch input")
	p.keys(" ", kb.Escape)
	p.focus(needle)
	p.keys("]")
	p.until(`__nero.state.place.sample.value !== 6`)

	// Letters in a field are letters.
	p.focus("#rule")
	p.keys("]e?p/")
	p.is(`document.querySelector('#rule').value`, "]e?p/")
	p.steady(`[__nero.state.place.pinned.value, document.querySelector('dialog[open]')]`, []any{-1, nil})
}

// TestTour shows the first visitor round once, by mouse and by keyboard, and no more.
func TestTour(t *testing.T) {
	t.Parallel()
	s := desktop
	s.person = true
	address := strings.Replace(at(shared(t), "/run/run?v=1"), "?tour=0", "", 1)
	p := open(t, address, s)
	p.visible(".tour")
	p.until(`document.activeElement.closest('.tour') !== null`)
	first := p.text(".tour h2")
	p.keep("tour")
	p.axe("the tour", ".tour")
	p.press(".tour", "Next")
	p.until(`document.querySelector('.tour h2').textContent !== ` + quote(first))
	p.until(`document.querySelectorAll('.tour-here').length === 1`)
	p.keys(kb.ArrowRight)
	p.until(`document.querySelector('.tour .note').textContent.startsWith('3 of')`)
	p.keys(kb.ArrowLeft)
	p.until(`document.querySelector('.tour .note').textContent.startsWith('2 of')`)
	p.keys(kb.Enter, kb.Enter)
	p.until(`document.querySelector('.tour .note').textContent.startsWith('4 of')`)
	p.keys(kb.Escape)
	p.until(`document.querySelector('.tour') === null && document.querySelector('.tour-here') === null`)
	p.reload()
	p.ready()
	p.pause(1500) // it would come after 1.2 s
	p.is(`document.querySelector('.tour')`, nil)
	// On demand, to its end.
	p.press("header", "Help and keys")
	p.press("dialog.help", "Show me around")
	p.visible(".tour")
	for range 8 {
		if p.text(".tour [data-next]") == "Done" {
			break
		}
		n := p.text(".tour .note")
		p.click(".tour [data-next]")
		p.until(`document.querySelector('.tour .note').textContent !== ` + quote(n))
	}
	p.click(".tour [data-next]")
	p.until(`document.querySelector('.tour') === null`)

	// On a small screen it lies within the window.
	small := screen{width: 360, height: 640, scheme: "dark", touch: true, person: true}
	q := open(t, address, small)
	q.visible(".tour")
	q.keep("tour-phone")
	// A picture of the whole page makes the window larger for a moment, and the tour follows it back in the next frame.
	q.until(`(r => r.x >= 0 && r.y >= 0 && r.right <= 361 && r.bottom <= 641)` +
		`(document.querySelector('.tour').getBoundingClientRect())`)
	q.press(".tour", "Skip")
	q.until(`document.querySelector('.tour') === null`)
}

// TestTheme changes between light and dark; the choice stays.
func TestTheme(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	background := func() string { return eval[string](p, `getComputedStyle(document.body).backgroundColor`) }
	light := background()
	menu := `header select[aria-label="Theme"]`
	p.turn(menu, "dark")
	p.is(`document.documentElement.dataset.theme`, "dark")
	dark := background()
	if light == dark {
		t.Errorf("light and dark have the same background %s", light)
	}
	p.keep("dark-by-choice")
	p.axe("dark by choice")
	p.reload()
	p.ready()
	if b := background(); b != dark {
		t.Errorf("after a reload the background is %s, it was %s", b, dark)
	}
	p.choose(menu, "light")
	p.until(`getComputedStyle(document.body).backgroundColor === ` + quote(light))
	p.choose(menu, "auto")
	p.until(`document.documentElement.dataset.theme === undefined`)
	p.turn(`header .tail select[title="Colour map"]`, "cividis")
	p.is(`__nero.state.place.cmap.value`, "cividis")
}

// TestExport takes every plot and table away, by mouse and by keyboard, and reads what came.
func TestExport(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	dir := p.downloads()
	take := func(label, ext string) (string, []byte) {
		t.Helper()
		p.press("header", "Export")
		p.press("header .sheet", label)
		return p.saved(dir, ext)
	}
	for _, plot := range []string{"Aggregate", "Samples", "Individual"} {
		name, b := take(plot+" as SVG", ".svg")
		isSVG(t, name, b)
		name, b = take(plot+" as PNG", ".png")
		isPNG(t, name, b)
	}
	name, b := take("Aggregate curves as CSV", ".csv")
	if rows := csvRows(t, name, b); len(rows) < 73 {
		t.Errorf("%s has %d rows", name, len(rows))
	}
	name, b = take("This sample’s orbit as CSV", ".csv")
	if rows := csvRows(t, name, b); len(rows) != 73 && len(rows) != 145 {
		t.Errorf("%s has %d rows", name, len(rows))
	}
	name, b = take("Samples as JSON Lines", ".jsonl")
	if lines := strings.Count(strings.TrimSpace(string(b)), "\n") + 1; lines < 100 {
		t.Errorf("%s has %d lines", name, lines)
	}
	name, b = take("Samples as Markdown", ".md")
	if !strings.Contains(string(b), "| --") && !strings.Contains(string(b), "|--") &&
		!strings.Contains(string(b), "|:--") {
		t.Errorf("%s holds no table: %.300s", name, b)
	}
	name, b = take("Samples as LaTeX", ".tex")
	if !strings.Contains(string(b), `\begin{tabular}`) {
		t.Errorf("%s holds no tabular: %.300s", name, b)
	}

	// By keyboard: e opens, Escape closes and gives the focus back.
	p.focus(needle)
	p.keys("e")
	p.visible("header .sheet")
	p.keep("export")
	p.axe("the export menu", "header")
	p.keys(kb.Escape)
	if eval[bool](p, `document.querySelector('header .sheet') !== null`) {
		p.focus("#export")
		p.keys(kb.Escape)
	}
	p.until(`document.querySelector('header .sheet') === null`)
	p.focus("#export")
	p.keys(kb.Enter, "\t", kb.Enter)
	name, b = p.saved(dir, ".svg")
	isSVG(t, name, b)

	// What a card offers by itself.
	for _, card := range []string{"aggregate", "individual"} {
		p.focus("#" + card + " .taker summary")
		p.keys(kb.Enter)
		p.press("#"+card+" .taker", "SVG picture that stays sharp")
		name, b = p.saved(dir, ".svg")
		isSVG(t, name, b)
		if card == "individual" {
			p.keep("taker")
			p.axe("what a card offers", "#individual .taker")
		}
		p.keys(kb.Escape)
		p.until(fmt.Sprintf(`!document.querySelector('#%s .taker').open`, card))
	}

	// The same numbers as on the page, and where they are from.
	name, b = take("Samples as CSV", ".csv")
	rows := csvRows(t, name, b)
	k := slices.Index(rows[0], "mean_a")
	first := eval[[]float64](p, `(i => [i, __nero.state.data.stats[0].value.mean[i]])(__nero.state.choice.order.value[0])`)
	if len(rows) != 101 || k < 0 || rows[1][0] != fmt.Sprint(first[0]) ||
		fmt.Sprintf("%.4g", first[1]) != fmt.Sprintf("%.4g", number64(t, rows[1][k])) {
		t.Errorf("%s: %d rows, the first is %q, the page has %v", name, len(rows), rows[1], first)
	}
	name, b = take("Samples as Markdown", ".md")
	if !strings.Contains(string(b), "Run run, digest ") {
		t.Errorf("%s does not say what it is of: %s", name, b)
	}
}

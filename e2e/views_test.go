package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// views are the cards of the page of a run.
var views = []string{"#aggregate", "#samples", "#individual", "#input", "#detail", "#table", "#slices"}

// looked opens the page of the digits' run and waits until all of it is drawn.
func looked(t *testing.T, query string, s screen) *page {
	t.Helper()
	p := open(t, at(shared(t), "/run/run?v=1"+query), s)
	p.ready()
	return p
}

// ready waits until the five views are drawn.
func (p *page) ready() {
	p.t.Helper()
	for _, v := range views {
		p.visible(v)
	}
	p.until(`document.querySelector('#aggregate .plot svg') !== null`)
	p.until(`document.querySelector('#individual [role=slider], #individual [role=application]') !== null`)
	p.until(`document.querySelector('#table [role=row][id]') !== null`)
	p.until(`document.querySelector('#samples .plane-pick') !== null`)
}

// live waits until the models answer where the needle is.
func (p *page) live() {
	p.t.Helper()
	p.until(`document.querySelector('#individual .status .tag.live') !== null`)
}

// TestViews looks at every view in light and dark, from 360 px to 4K, and asks axe-core about it.
func TestViews(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]screen{
		"light":  desktop,
		"dark":   {width: 1440, height: 900, scheme: "dark"},
		"half":   {width: 1000, height: 800, scheme: "light"},
		"tablet": {width: 768, height: 1024, scheme: "dark", touch: true},
		"phone":  {width: 360, height: 740, scheme: "light", touch: true},
		"night":  {width: 360, height: 740, scheme: "dark", touch: true},
		"4k":     {width: 3840, height: 2160, scheme: "light"},
		"forced": {width: 1440, height: 900, scheme: "dark", forced: true, reduced: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := looked(t, "&i=6&g=90", s)
			p.live()
			p.keep("run-" + name)
			p.until(`/augmented is right/.test(document.querySelector('.in-words')?.textContent)`)
			if said := p.text(".in-words"); !strings.HasPrefix(said, "Two classifiers") ||
				!strings.Contains(said, "augmented is right on 96.0% of 100 inputs as they are") {
				t.Errorf("the page begins with %q", said)
			}
			if name != "forced" { // axe-core does not know the colours that the system forces
				p.axe("run, " + name)
			}
			p.fits()
			for _, v := range views {
				b := p.box(v)
				if b.X < -1 || b.X+b.Width > float64(s.width)+1 || b.Width < 200 {
					t.Errorf("%s lies at %+v in a window of %d px", v, b, s.width)
				}
			}
		})
	}
}

// narrow fails the test if the page is wider than the window.
func (p *page) narrow() {
	p.t.Helper()
	if over := eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); over > 1 {
		wide := eval[[]string](p,
			`[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.rows-scroll, .scroll, .slices-list')).slice(0, 5).map(e => e.outerHTML.slice(0, 120))`)
		p.t.Errorf("the page is %v px wider than the window: %q", over, wide)
	}
}

// fits fails the test if something reaches beyond its card, or if text in a list of slices is cut.
func (p *page) fits() {
	p.t.Helper()
	p.narrow()
	for _, s := range eval[[]string](p, `[...document.querySelectorAll('.card')].flatMap(c => {
		const edge = c.getBoundingClientRect().right + 1;
		const held = e => { for (let q = e.parentElement; q !== c; q = q.parentElement) if (getComputedStyle(q).overflowX !== 'visible') return true; return false };
		return [...c.querySelectorAll('*')].filter(e => !(e.closest('svg') && e.tagName !== 'svg') && !e.closest('.hidden, .offscreen') && e.getBoundingClientRect().width > 0 && e.getBoundingClientRect().right > edge && !held(e))
			.slice(0, 2).map(e => c.id + ': ' + e.outerHTML.slice(0, 120))
	}).concat([...document.querySelectorAll('.slices-list, .slices-list td')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => 'cut: ' + e.outerHTML.slice(0, 120)))`) {
		p.t.Errorf("at %d px %s", p.screen.width, s)
	}
}

// TestTab walks through the page of a run with the Tab key: everything that can be worked is reached, in the order of
// the page, with a mark that can be seen, and the keyboard is never caught.
func TestTab(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	p.live()
	// What is looked at comes when it is seen first: what is not there yet cannot be reached.
	eval[bool](p, `(document.querySelector('#explore').scrollIntoView(), true)`)
	p.until(`document.querySelectorAll('.case-pictures').length > 0 && !document.querySelector('.case-none')`)
	eval[bool](p, `(scrollTo(0, 0), true)`)
	type stop struct {
		Key, Text   string
		Seen        bool
		Width, Top  float64
		SliderOrApp bool
	}
	const here = `(e => {
		const r = e.getBoundingClientRect(), c = getComputedStyle(e), knob = e.querySelector?.('.knob'), k = knob && getComputedStyle(knob);
		return {Key: (window.visited.add(e), e === document.body ? '' : e.tagName + '#' + e.id + '.' + (e.getAttribute('class') ?? '')), Text: (e.getAttribute('aria-label') ?? e.textContent).slice(0, 40),
			Seen: (c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) > 0) || c.boxShadow !== 'none' || !!k && (k.outlineStyle !== 'none' || parseFloat(k.strokeWidth) > 1.5),
			Width: r.width, Top: r.top}
	})(document.activeElement)`
	eval[bool](p, `(window.visited = new Set(), document.activeElement?.blur(), true)`)
	n := 0
	for ; n < 400; n++ {
		p.keys("\t")
		s := eval[stop](p, here)
		if s.Key == "" {
			break // round the page
		}
		if !s.Seen {
			t.Errorf("%s %q has the focus and does not show it", s.Key, s.Text)
		}
	}
	if n >= 400 {
		t.Fatal("the keyboard is caught somewhere")
	}
	missed := eval[[]string](p,
		`[...document.querySelectorAll('a[href], button:not(:disabled), select, input:not(:disabled), summary, [tabindex="0"]')]
		.filter(e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0 && e.tabIndex >= 0 && !window.visited.has(e) && !e.closest('details:not([open]) > :not(summary)')).map(e => e.outerHTML.slice(0, 160))`)
	for _, m := range missed {
		t.Errorf("the Tab key does not reach %s", m)
	}
	t.Logf("%d stops", n)
	if n < 20 || n > 90 {
		t.Errorf("%d stops, want one for each row of controls", n)
	}
	// To the needle: three cards on; back by the same way. Within a row the arrow keys go on.
	eval[bool](p, `(document.activeElement?.blur(), true)`)
	p.keys("n", "n", "n")
	p.is(`document.activeElement.closest('.card')?.id + ' ' + document.activeElement.getAttribute('role')`, "individual slider")
	p.shift("N")
	p.is(`document.activeElement.closest('.card')?.id`, "samples")
	p.focus("#individual .moves button")
	p.keys(kb.ArrowRight)
	p.is(`document.activeElement === document.querySelectorAll('#individual .moves button')[1] && document.activeElement.tabIndex`, 0)
	p.keys(kb.Home, kb.ArrowLeft)
	p.is(`document.activeElement.textContent`, "pin")
	// Small targets are hard to hit: 24 px, but for links within text.
	for _, s := range eval[[]string](p,
		`[...window.visited].filter(e => e.matches('button, select, input, summary') && !e.matches('.link, .skip')).map(e => [e, (e.matches('input[type=checkbox], input[type=radio]') && e.closest('label') || e).getBoundingClientRect()]).filter(([e, r]) => r.width < 23.5 || r.height < 23.5).map(([e, r]) => r.width.toFixed(0) + ' x ' + r.height.toFixed(0) + ' ' + e.outerHTML.slice(0, 120))`) {
		t.Errorf("a target is smaller than 24 px: %s", s)
	}
}

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// views are the cards of the page of a run.
var views = []string{"#aggregate", "#samples", "#individual", "#input", "#detail", "#table", "#slices"}

// looked opens the page of the run and waits until all of it is drawn.
func looked(t *testing.T, query string, s screen) *page {
	t.Helper()
	chromium(t)
	bin, dir := program(t)
	p := open(t, serve(t, bin, dir)+"?tour=0#/run/run?v=1"+query, s)
	p.ready()
	return p
}

// ready waits until the five views are drawn.
func (p *page) ready() {
	p.t.Helper()
	for _, v := range views {
		p.visible(v)
	}
	p.until(`document.querySelectorAll('#aggregate path.line, #aggregate .line').length > 0 && document.querySelector('#individual [role=slider]') !== null`)
	p.until(`document.querySelector('#table [role=row][id]') !== null`)
}

// TestViews looks at every view in light and dark, from 360 px to 4K, and asks axe-core about it.
func TestViews(t *testing.T) {
	for name, s := range map[string]screen{
		"light":  desktop,
		"dark":   {width: 1440, height: 900, scheme: "dark"},
		"half":   {width: 1000, height: 800, scheme: "light"},
		"phone":  {width: 360, height: 740, scheme: "light", touch: true},
		"night":  {width: 360, height: 740, scheme: "dark", touch: true},
		"4k":     {width: 3840, height: 2160, scheme: "light"},
		"forced": {width: 1440, height: 900, scheme: "dark", forced: true, reduced: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := looked(t, "&i=6&g=90", s)
			p.keep("run-" + name)
			if name != "forced" { // axe-core does not know the colours that the system forces
				p.axe("run, " + name)
			}
			if over := eval[float64](p, `document.documentElement.scrollWidth - innerWidth`); over > 1 {
				t.Errorf("the page is %v px wider than the window", over)
			}
		})
	}
}

// TestDrag drags the needle while models answer slowly enough that positions pile up: at most one question is under way, and the
// last answer is for the last position.
func TestDrag(t *testing.T) {
	p := looked(t, "&i=6&g=0", desktop)
	p.until(`__nero.counts().lastAnswer !== null`)
	points := [][2]float64{}
	for k := range 60 {
		points = append(points, [2]float64{0.5 + 0.3*float64(k%7)/7, 0.2 + 0.3*float64(k%11)/11})
	}
	p.drag("#individual svg.polar, #individual .plot svg", points...)
	p.until(`!__nero.counts().pending`)
	type counts struct {
		Moves       int       `json:"moves"`
		Sent        int       `json:"sent"`
		InFlightMax int       `json:"inFlightMax"`
		LastAnswer  []float64 `json:"lastAnswer"`
		Here        []float64 `json:"here"`
	}
	c := eval[counts](p, `(c => ({moves: c.moves, sent: c.sent, inFlightMax: c.inFlightMax, lastAnswer: [...(c.lastAnswer?.g ?? c.lastAnswer ?? [])], here: [...__nero.state.g.value]}))(__nero.counts())`)
	t.Logf("%+v", c)
	if c.InFlightMax > 1 {
		t.Errorf("%d questions were under way at once, want at most 1", c.InFlightMax)
	}
	if fmt.Sprint(c.LastAnswer) != fmt.Sprint(c.Here) {
		t.Errorf("the last answer is for %v, the needle stands at %v", c.LastAnswer, c.Here)
	}
	if c.Moves < len(points)/2 || c.Sent > c.Moves {
		t.Errorf("%d moves and %d questions for %d positions of the mouse", c.Moves, c.Sent, len(points))
	}
}

// TestNeedleKeys moves the needle by every key that the help names, and finds each position in the address and in words.
func TestNeedleKeys(t *testing.T) {
	p := looked(t, "&i=6&g=0", desktop)
	needle := "#individual [role=slider]"
	p.focus(needle)
	for _, step := range []struct {
		name string
		do   func()
		want float64
	}{
		{"right", func() { p.keys(kb.ArrowRight) }, 1},
		{"up", func() { p.keys(kb.ArrowUp) }, 2},
		{"left", func() { p.keys(kb.ArrowLeft) }, 1},
		{"Shift and right", func() { p.shift(kb.ArrowRight) }, 11},
		{"page up", func() { p.keys(kb.PageUp) }, 26},
		{"page down", func() { p.keys(kb.PageDown) }, 11},
		{"down", func() { p.keys(kb.ArrowDown) }, 10},
		{"end", func() { p.keys(kb.End) }, 180},
		{"home", func() { p.keys(kb.Home) }, 0},
		{"left of 0", func() { p.keys(kb.ArrowLeft) }, 359},
	} {
		step.do()
		want := strconv.FormatFloat(step.want, 'f', -1, 64)
		p.until(fmt.Sprintf(`__nero.state.g.value[0] === %s`, want))
		if text := p.attr(needle, "aria-valuetext"); !strings.Contains(text, want) {
			t.Errorf("%s: the needle says %q, want %s degrees in it", step.name, text, want)
		}
	}
	p.until(`location.hash.includes('g=359')`)
	time.Sleep(400 * time.Millisecond) // the address settles
	if g := p.hash().Get("g"); g != "359" {
		t.Errorf("the address says g=%q, want 359", g)
	}
}

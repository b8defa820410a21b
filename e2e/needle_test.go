package e2e

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/chromedp/chromedp/kb"
)

const (
	needle = "#individual [role=slider]"
	orbit  = "#individual .plot svg"
)

// near waits until the needle is within a degree of an angle.
func (p *page) near(degrees float64) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(d => Math.min(d, 360 - d) <= 1)(Math.abs(__nero.state.place.g.value[0] - %v) %% 360)`, degrees))
}

// counts are what the page knows of its questions to the models.
type counts struct {
	Moves       int `json:"moves"`
	Sent        int `json:"sent"`
	InFlight    int `json:"inFlight"`
	InFlightMax int `json:"inFlightMax"`
	LastAnswer  int `json:"lastAnswer"`
	Dropped     int `json:"dropped"`
	Refused     int `json:"refused"`
}

// stopwatch measures, in the page, how long after a move of the mouse the needle stands there, how long after a
// position was wanted its answer is shown, and how many frames were drawn.
const stopwatch = `(() => {
	const w = window.watch = {redraws: [], answers: [], frames: 0, gaps: []}, asked = new Map(), l = __nero.state.place.live, want = l.want.bind(l);
	let moved = 0, last = 0;
	addEventListener('pointermove', () => { moved ||= performance.now(); }, true);
	new MutationObserver(() => { if (moved) { w.redraws.push(performance.now() - moved); moved = 0; } }).observe(document.querySelector('#individual .needle line'), {attributes: true});
	l.want = (i, g) => { const now = performance.now(), seq = want(i, g); asked.set(seq, now); return seq; };
	l.answer.subscribe(a => { if (a && asked.has(a.want.seq)) w.answers.push(performance.now() - asked.get(a.want.seq)); });
	const frame = t => { if (last) w.gaps.push(t - last); last = t; w.frames++; requestAnimationFrame(frame); };
	requestAnimationFrame(frame);
	return true;
})()`

// times logs what the stopwatch saw.
func (p *page) times(what string) {
	p.t.Helper()
	p.t.Log(what + ": " +
		eval[string](p, `(w => { const q = (v, f) => v.length ? v.sort((a, b) => a - b)[Math.min(v.length - 1, Math.floor(f * v.length))].toFixed(1) : '-';
		return w.redraws.length + ' redraws, median ' + q(w.redraws, .5) + ' ms, p95 ' + q(w.redraws, .95) + ' ms; ' + w.answers.length + ' answers, median ' + q(w.answers, .5) + ' ms, p95 ' + q(w.answers, .95) + ' ms; ' + w.frames + ' frames, median ' + q(w.gaps, .5) + ' ms apart' })(window.watch)`))
}

// round are places on the individual plot, n of them, from one angle to another.
func (p *page) round(n int, from, to float64) [][2]float64 {
	p.t.Helper()
	points := make([][2]float64, n)
	for k := range n {
		points[k] = p.onPolar(orbit, from+(to-from)*float64(k)/float64(n-1))
	}
	return points
}

// TestDrag drags the needle faster than models answer: at most one question is under way, and the last answer is for
// the last position.
func TestDrag(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=0", desktop)
	p.live()
	eval[bool](p, stopwatch)
	before := eval[counts](p, `__nero.state.place.live.counts`)
	const n = 90
	p.path(p.round(n, 10, 250)...)
	p.until(`!__nero.state.place.live.pending.value`)
	p.near(250)
	c := eval[counts](p, `__nero.state.place.live.counts`)
	t.Logf("%+v", c)
	p.times("dragging over digits")
	p.onePending(c)
	if moves := c.Moves - before.Moves; moves < n/2 || moves > n+2 || c.Sent > c.Moves {
		t.Errorf("%d moves and %d questions for %d positions of the mouse", moves, c.Sent, n)
	}
	// What is shown is live, and of the place where the needle is, in all views.
	p.live()
	g := strconv.FormatFloat(p.g()[0], 'f', -1, 64)
	for _, s := range []string{"#individual .status", "#input .facts"} {
		if text := p.text(s); !strings.Contains(text, g+"°") {
			t.Errorf("%s says %q, and the needle is at %s°", s, text, g)
		}
	}
}

// onePending checks the protocol of a drag that is over: one question at a time, and the answer to the last one is what
// counts.
func (p *page) onePending(c counts) {
	p.t.Helper()
	if c.InFlightMax != 1 || c.InFlight != 0 {
		p.t.Errorf("at most %d questions were under way at once and %d are now, want 1 and 0", c.InFlightMax,
			c.InFlight)
	}
	if c.LastAnswer != c.Moves {
		p.t.Errorf("the last answer is to move %d, and there were %d", c.LastAnswer, c.Moves)
	}
	if !eval[bool](p, `(s => s.place.live.answers(s.place.sample.value, s.place.g.value) !== null)(__nero.state)`) {
		p.t.Error("the last answer is not for where the needle is")
	}
}

// slowly is the shared server behind a proxy in which models take their time.
func slowly(t *testing.T, wait time.Duration) (address string, most func() int) {
	t.Helper()
	to, err := url.Parse(shared(t))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	now, top := 0, 0
	proxy := proxyTo(to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/probe") {
			mu.Lock()
			now++
			top = max(top, now)
			mu.Unlock()
			select {
			case <-time.After(wait):
			case <-r.Context().Done():
			}
			defer func() { mu.Lock(); now--; mu.Unlock() }()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL, func() int { mu.Lock(); defer mu.Unlock(); return top }
}

// TestSlowModel drags the needle over a model that takes 150 ms: the needle follows at once, and positions that were
// passed meanwhile are never asked for.
func TestSlowModel(t *testing.T) {
	t.Parallel()
	address, most := slowly(t, 150*time.Millisecond)
	p := open(t, at(address, "/run/run?v=1&i=6&g=0"), desktop)
	p.ready()
	p.live()
	eval[bool](p, stopwatch)
	before := eval[counts](p, `__nero.state.place.live.counts`)
	points := p.round(60, 5, 185)
	b := func(m *input.DispatchMouseEventParams) {
		m.Button, m.Buttons, m.ClickCount = input.MouseButtonLeft, 1, 1
	}
	p.mouse(input.DispatchMouseEventTypeMousePressed, points[0][0], points[0][1], b)
	for k, q := range points {
		p.mouse(input.DispatchMouseEventTypeMouseMoved, q[0], q[1], pressed)
		if k%10 == 5 {
			// Drawn within two frames, whatever the model does.
			want := 5 + 180*float64(k)/59
			got := eval[float64](p,
				`new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => { const l = document.querySelector('#individual .needle line'); f((Math.atan2(-l.getAttribute('y2'), l.getAttribute('x2')) * 180 / Math.PI + 360) % 360) })))`)
			if !(math.Abs(got-want) < 1.5) {
				t.Errorf("after move %d the needle is drawn at %.1f°, want %.1f°", k, got, want)
			}
			if eval[bool](p, `document.querySelector('#individual .status .tag').textContent === 'live' && __nero.state.place.live.answers(6, __nero.state.place.g.value) === null`) {
				t.Error("a value is called live before the answer is there")
			}
		}
	}
	last := points[len(points)-1]
	p.mouse(input.DispatchMouseEventTypeMouseReleased, last[0], last[1], b)
	p.until(`!__nero.state.place.live.pending.value`)
	p.near(185)
	c := eval[counts](p, `__nero.state.place.live.counts`)
	t.Logf("%+v", c)
	p.times("dragging over a model of 150 ms")
	p.onePending(c)
	if moves, sent := c.Moves-before.Moves, c.Sent-before.Sent; moves < 40 || sent*2 > moves {
		t.Errorf("%d questions for %d moves, want far fewer", sent, moves)
	}
	if n := most(); n != 1 {
		t.Errorf("%d questions reached the server at once, want 1", n)
	}
	p.live()

	// An answer for a sample that was left is dropped: what is live is of the sample on show.
	p.focus(needle)
	p.keys(kb.ArrowRight)
	p.keys("]")
	sample := eval[int](p, `__nero.state.place.sample.value`)
	if sample == 6 {
		t.Fatal("] did not go on")
	}
	p.until(`!__nero.state.place.live.pending.value`)
	p.live()
	if got := eval[int](p, `__nero.state.place.live.answer.value.want.sample`); got != sample {
		t.Errorf("the answer on show is of sample %d, not %d", got, sample)
	}
}

// TestNeedleKeys moves the needle by every key that the help names, and finds each position in the address and in
// words.
func TestNeedleKeys(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=0", desktop)
	p.live()
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
		{"end", func() { p.keys(kb.End) }, 190}, // the opposite of where it is
		{"home", func() { p.keys(kb.Home) }, 0},
		{"left of 0", func() { p.keys(kb.ArrowLeft) }, 359},
	} {
		step.do()
		want := strconv.FormatFloat(step.want, 'f', -1, 64)
		p.until(`__nero.state.place.g.value[0] === ` + want)
		p.until(fmt.Sprintf(
			`document.querySelector(%s).getAttribute('aria-valuetext').match(/^(\d+)(\.0)?°/)?.[1] === '%s'`,
			quote(needle), want))
		if now := p.attr(needle, "aria-valuenow"); now != want {
			t.Errorf("%s: the slider's value is %s, want %s", step.name, now, want)
		}
	}
	p.settled()
	if g := p.hash().Get("g"); g != "359" {
		t.Errorf("the address says g=%q, want 359", g)
	}
	// Space plays, and stops.
	p.keys(" ")
	p.until(`__nero.state.place.g.value[0] !== 359 && document.querySelector('.play').getAttribute('aria-pressed') === 'true'`)
	p.keys(" ")
	p.until(`document.querySelector('.play').getAttribute('aria-pressed') === 'false'`)
	p.steady(`__nero.state.place.g.value`, p.g())
	// The input and the detail follow.
	p.keys(kb.Home, kb.PageUp)
	p.until(`document.querySelector('#input canvas').getAttribute('aria-label').includes('rotated 15°')`)
	p.live()
	p.until(`document.querySelector('#detail .classes:not(.behind)').getAttribute('aria-label').includes('at 15°')`)
}

// TestNeedlePointer moves the needle in every way that a mouse can.
func TestNeedlePointer(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=0", desktop)
	p.live()
	click := func(selector string, degrees float64) {
		t.Helper()
		q := p.onPolar(selector, degrees)
		p.clickAt(q[0], q[1])
		p.near(degrees)
	}
	click(orbit, 90)
	click("#aggregate .plot svg", 200)
	p.path(p.round(12, 200, 300)...)
	p.near(300)

	// The wheel turns where the focus is, and elsewhere scrolls.
	before := p.g()[0]
	p.wheel(orbit, 0.5, 0.3, 100)
	p.until(fmt.Sprintf(`__nero.state.place.g.value[0] < %v`, before))
	eval[bool](p, `(document.activeElement.blur(), true)`)
	here := p.g()
	p.wheel(orbit, 0.5, 0.3, 100)
	p.steady(`__nero.state.place.g.value`, here)

	// Hovering tells a value and chooses nothing.
	p.mouse(input.DispatchMouseEventTypeMouseMoved, 5, 5)
	q := p.onPolar(orbit, 45)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, q[0], q[1])
	p.until(`/^45°/.test(document.querySelector('#individual .tip')?.textContent ?? '')`)
	p.steady(`__nero.state.place.g.value`, here)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, 5, 5)
	p.until(`document.querySelector('#individual .tip') === null`)

	// The picture itself.
	p.press("#individual .moves", "0°")
	p.is(`__nero.state.place.g.value`, []float64{0})
	p.drag("#input .fed", [2]float64{0.9, 0.5}, [2]float64{0.78, 0.22}, [2]float64{0.5, 0.1})
	p.near(90)

	// Buttons, by mouse and by keyboard.
	p.press("#individual .moves", "+15°")
	p.near(105)
	p.enter("#individual .moves", "−90°")
	p.near(15)

	// A typed value: good, between stored ones, and bad.
	p.write("#individual .typed", "45.5\r")
	p.is(`__nero.state.place.g.value`, []float64{45.5})
	p.live()
	p.write("#individual .typed", "north\r")
	p.until(`document.querySelector('#individual .typed').getAttribute('aria-invalid') === 'true'`)
	p.steady(`__nero.state.place.g.value`, []float64{45.5})
	p.keys(kb.Escape)
	p.until(`document.querySelector('#individual .typed').getAttribute('aria-invalid') === 'false' && document.querySelector('#individual .typed').value === '45.5°'`)

	// Without live there is nothing between stored elements.
	p.click("#individual .switch input")
	p.until(`document.querySelector('#individual .status .tag').textContent !== 'live'`)
	p.write("#individual .typed", "47\r")
	p.is(`__nero.state.place.g.value`, []float64{45})
	p.until(`document.querySelector('#individual .status .tag').textContent === 'recorded'`)
	if n := p.asked(`probe\?.*g=47`); n > 0 {
		t.Errorf("the models were asked %d times with live switched off", n)
	}
	p.focus("#individual .switch input")
	p.keys(" ")
	p.live()

	// Play, by mouse.
	p.click("#individual .play")
	p.until(`__nero.state.place.g.value[0] !== 45`)
	p.click("#individual .play")
	p.until(`document.querySelector('.play').getAttribute('aria-pressed') === 'false'`)

	// To where a curve is worst.
	worst := p.text("#aggregate .numbers tbody tr:first-child button")
	p.click("#aggregate .numbers tbody tr:first-child button")
	p.is(`__nero.state.place.here.value`, worst)
	worst = p.text("#individual .numbers tbody tr:nth-child(2) button")
	p.focus("#individual .numbers tbody tr:nth-child(2) button")
	p.keys(kb.Enter)
	p.is(`__nero.state.place.here.value`, worst)
}

// TestWorstBest goes to the samples that do worst and best, and pins one to look at it beside others.
func TestWorstBest(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	extreme := func(f string) int {
		return eval[int](p, fmt.Sprintf(
			`(m => [...m.keys()].sort((a, b) => m[a] - m[b] || a - b).at(%s))([...__nero.state.data.stats[0].value.mean])`,
			f))
	}
	p.press("#individual", "worst")
	p.is(`__nero.state.place.sample.value`, extreme("0"))
	p.enter("#individual", "best")
	p.is(`__nero.state.mean = __nero.state.data.stats[0].value.mean[__nero.state.place.sample.value]`,
		eval[float64](p, fmt.Sprintf(`__nero.state.data.stats[0].value.mean[%d]`, extreme("-1"))))
	best := eval[int](p, `__nero.state.place.sample.value`)
	p.press("#individual", "pin")
	p.is(`__nero.state.place.pinned.value`, best)
	p.press("#individual", "worst")
	p.until(fmt.Sprintf(`document.querySelector('#individual .legend').textContent.includes('#%d ')`, best))
	p.until(`document.querySelectorAll('#individual .line.pinned').length >= 2 && document.querySelector('#samples .plane-pin') !== null`)
	p.keep("pinned")
	p.focus(needle)
	p.keys("p")
	p.is(`__nero.state.place.pinned.value`, extreme("0"))
	p.keys("p")
	p.is(`__nero.state.place.pinned.value`, -1)
	// Touch: a finger drags the needle as a mouse does.
	q := p.round(6, 90, 150)
	touch := func(kind input.DispatchTouchEventType, pts ...[2]float64) {
		t.Helper()
		var at []*input.TouchPoint
		for _, x := range pts {
			at = append(at, &input.TouchPoint{X: x[0], Y: x[1]})
		}
		p.do(call(input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: at}))
	}
	touch(input.DispatchTouchEventTypeTouchStart, q[0])
	for _, x := range q[1:] {
		touch(input.DispatchTouchEventTypeTouchMove, x)
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
	p.near(150)
}

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"nero/internal/slow"
)

// list are the names in the list of slices, without the classes.
func (p *page) list() []string {
	p.t.Helper()
	return eval[[]string](p,
		`[...document.querySelectorAll('#slices .slice-name')].map(e => e.textContent).filter(t => t !== 'all' && !t.startsWith('class '))`)
}

// TestSlices makes, names, combines, renames and removes slices, by mouse and by keyboard, and finds them again after a
// reload.
func TestSlices(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	address := serve(t, own(t, "slices"))
	p := open(t, at(address, "/run/slices?v=1"), desktop)
	p.ready()

	// By class, from the menu and from the list.
	menu := `#aggregate select[aria-label="Slice"]`
	p.turn(menu, "6")
	p.until(`__nero.state.choice.count.value === 7 && document.querySelector('#aggregate .sub').textContent.includes('7 of 100')`)
	p.until(`document.querySelector('#aggregate .legend .count').textContent === 'n = 7'`)
	// The sample that is looked at is none of them: that is said, with the way to one that is.
	p.until(`/not in the slice/.test(document.querySelector('#individual .outside')?.textContent)`)
	p.press("#individual .outside", "Go to the first of 7")
	p.until(`document.querySelector('#individual .outside') === null && __nero.state.choice.at.value === 0`)
	p.until(`document.querySelector('#individual .head .sub').textContent.includes('class 6')`)
	p.press("#slices .slices-table", "class 3")
	p.until(`__nero.state.choice.parts.value.slice === '3' && document.querySelector('#slices tr.on .slice-name').textContent === 'class 3'`)
	p.enter("#slices .slices-table", "all")
	p.is(`__nero.state.choice.count.value`, 100)
	// The mean of every slice comes with its interval.
	p.until(`document.querySelectorAll('#slices .slices-table .interval').length >= 20`)

	// A rule with a class, under a name that would be dangerous as HTML.
	const evil = `<img src=x onerror=alert(1)> & "数字" 🙂 ñ`
	p.turn(menu, "2")
	p.write("#rule", "mean A < 0.5\r")
	p.until(`__nero.state.choice.count.value < 16 && __nero.state.choice.count.value > 0`)
	n := eval[int](p, `__nero.state.choice.count.value`)
	name := `#slices input[aria-label="Name of the slice"]`
	p.write(name, "\r")
	p.until(`document.querySelector('#slices .new-slice [role=alert]')?.textContent === 'A slice needs a name.'`)
	p.write(name, "6\r")
	p.until(`document.querySelector('#slices .new-slice [role=alert]')?.textContent.includes('already')`)
	p.write(name, evil)
	p.press("#slices .new-slice", "Keep")
	p.is(`(c => [c.slice, c.rule, c.lasso, c.picked])(__nero.state.choice.parts.value)`, []any{evil, "", nil, nil})
	p.is(`__nero.state.choice.count.value`, n)
	if got := p.list(); !slices.Equal(got, []string{evil}) {
		t.Errorf("the list holds %q, want %q", got, evil)
	}
	if eval[int](p, `document.querySelectorAll('#slices img, #aggregate img, option img').length`) != 0 {
		t.Error("the name of a slice became a picture")
	}
	p.until(fmt.Sprintf(`[...document.querySelector(%s).options].some(o => o.textContent.startsWith(%s))`, quote(menu),
		quote(evil)))
	p.settled()
	if s := p.hash().Get("s"); s != evil {
		t.Errorf("the address says s=%q", s)
	}
	link := eval[string](p, `location.href`)
	p.keep("slices")
	p.axe("kept slices", "#slices")

	// Union, intersection, and all the others.
	p.turn(`#slices select[aria-label="Slice to combine with"]`, "3")
	p.press("#slices", "or")
	p.is(`__nero.state.choice.count.value`, n+8)
	p.enter("#slices", "Invert")
	p.is(`__nero.state.choice.count.value`, 92-n)
	p.turn(`#slices select[aria-label="Slice to combine with"]`, "2")
	p.enter("#slices", "and")
	p.is(`__nero.state.choice.count.value`, 16-n)
	p.write(name, "rest of 2\r")
	p.until(`__nero.state.choice.parts.value.slice === 'rest of 2'`)
	p.press("#slices", "All samples")
	p.is(`__nero.state.choice.count.value`, 100)

	// Another tab hears of it at once, and a later visitor finds it.
	q := p.again(link)
	// It shows a slice that the first tab removes below: a request on its way then names what is gone.
	q.permit(`400 .*/aggregate`)
	q.ready()
	q.is(`__nero.state.choice.count.value`, n)
	if got := q.list(); !slices.Equal(got, []string{evil, "rest of 2"}) {
		t.Errorf("a second tab lists %q", got)
	}
	p.enter("#slices .slices-table", "Rename rest of 2")
	p.until(`document.activeElement.getAttribute('aria-label') === 'New name'`)
	p.write(`#slices input[aria-label="New name"]`, "good 2\r")
	p.until(`[...document.querySelectorAll('#slices .slice-name')].some(e => e.textContent === 'good 2')`)
	q.until(`[...document.querySelectorAll('#slices .slice-name')].some(e => e.textContent === 'good 2')`)
	p.press("#slices .slices-table", "Remove "+evil)
	p.until(`document.activeElement.textContent === 'yes'`)
	p.keys("\x1b")
	p.until(`document.activeElement.getAttribute('aria-label')?.startsWith('Rename ')`)
	p.press("#slices .slices-table", "Remove "+evil)
	p.press("#slices .slices-table", "yes")
	p.until(`![...document.querySelectorAll('#slices .slice-name')].some(e => e.textContent.includes('img'))`)
	p.reload()
	p.ready()
	p.until(`document.querySelectorAll('#slices .slice-name').length >= 12`)
	if got := p.list(); !slices.Equal(got, []string{"good 2"}) {
		t.Errorf("after a reload the list holds %q", got)
	}
}

// TestConflict changes the slices in two tabs of which one does not hear of the other: nothing that anybody made is
// lost.
func TestConflict(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	address := serve(t, own(t, "conflict"))
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := proxyTo(to)
	deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush() // the visitor may be gone
			<-r.Context().Done()
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { deaf.CloseClientConnections(); deaf.Close() })
	p := open(t, at(deaf.URL, "/run/conflict?v=1&s=1"), desktop)
	p.ready()
	q := open(t, at(address, "/run/conflict?v=1&s=2"), desktop)
	q.ready()
	name := `#slices input[aria-label="Name of the slice"]`
	keep := func(p *page, as string) {
		t.Helper()
		p.write(name, as+"\r")
	}
	kept := func(p *page, want ...string) {
		t.Helper()
		p.until(`JSON.stringify((__nero.state.choice.kept.value?.slices ?? []).map(s => s.name).sort()) === ` +
			quote(string(encode(want))))
	}
	keep(q, "theirs")
	kept(q, "theirs")
	p.permit(`412`)
	keep(p, "mine")
	p.visible("#slices .conflict")
	p.keep("conflict")
	p.axe("a conflict", "#slices")
	p.enter("#slices .conflict", "Keep both")
	kept(p, "mine", "theirs")
	kept(q, "mine", "theirs")
	// The same name: theirs keeps it.
	q.choose(`#aggregate select[aria-label="Slice"]`, "4")
	keep(q, "twice")
	kept(q, "mine", "theirs", "twice")
	p.choose(`#aggregate select[aria-label="Slice"]`, "5")
	keep(p, "twice")
	p.visible("#slices .conflict")
	p.press("#slices .conflict", "Keep both")
	kept(q, "mine", "theirs", "twice", "twice 2")
	// Their change alone.
	q.choose(`#aggregate select[aria-label="Slice"]`, "7")
	keep(q, "third")
	kept(q, "mine", "theirs", "third", "twice", "twice 2")
	p.choose(`#aggregate select[aria-label="Slice"]`, "8")
	keep(p, "fourth")
	p.visible("#slices .conflict")
	p.press("#slices .conflict", "Take theirs, drop my change")
	kept(p, "mine", "theirs", "third", "twice", "twice 2")
}

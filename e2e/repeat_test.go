package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nero/model/engine/remote/remotetest"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// assistant answers sums. It is always wrong about some, never sure about others, and less so when asked politely.
func assistant(input string, before int, _ map[string]any) (string, int) {
	var a, b int
	_, sum, _ := strings.Cut(input, "=")
	if _, err := fmt.Sscanf(sum, "%d+%d", &a, &b); err != nil {
		return err.Error(), 400
	}
	polite := strings.HasPrefix(input, "please")
	switch x := a + b; {
	case x%13 == 0:
		return strconv.Itoa(x + 1), 0
	case x%5 == 0 && remotetest.Flip(input, before, 0.5), polite && remotetest.Flip(input, before, 0.4):
		return strconv.Itoa(x - 1), 0
	case strings.HasPrefix(input, "terse") && x == 17 && before == 1:
		return "not now", 429
	default:
		return strconv.Itoa(x), 0
	}
}

// TestRepeatPage reads what an assistant was asked again: objects by mouse and by keys, squares, views, the contract.
func TestRepeatPage(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	s := (&remotetest.Texts{Answer: assistant}).Start()
	defer s.Close()
	var b strings.Builder
	b.WriteString("object,view,value,label\n")
	for i := range 80 {
		for _, view := range []string{"plain", "please", "terse"} {
			fmt.Fprintf(&b, "%d,%s,%s what is =%d+2?,%d\n", i, view, view, i, i+2)
		}
	}
	study := fmt.Sprintf("models: {name: assistant, endpoint: %s/sums}\ndata: {views: views.csv}\n"+
		"repeat: {times: 4, normalise: trim}\naudit: {contract: {error: 0.5, rate: 0.05}}\n", s.URL)
	for name, text := range map[string]string{"views.csv": b.String(), "study.yaml": study} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found(t, dir, "repeat", "-q", "study.yaml", "-o", "asked")
	p := open(t, at(serve(t, dir), "/runs"), desktop)
	p.press("main", "Asked again")
	p.visible("#strip svg")
	if text := p.text(".summary .answer"); !strings.HasPrefix(text, "FAIL: asked 4 times") {
		t.Errorf("the page begins with %q", text)
	}
	if text := p.text("#outcomes tbody"); !strings.Contains(text, "rate limited") {
		t.Errorf("outcomes: %q", text)
	}
	p.narrow()
	p.keep("repeat")
	p.axe("repeat")

	// By mouse: an object, which the table shows, too.
	box := p.box("#strip svg")
	x, y := box.X+box.Width/2, box.Y+box.Height/2
	p.mouse(input.DispatchMouseEventTypeMouseMoved, x, y)
	p.until(`document.querySelector('#strip output').textContent.includes(': mostly ')`)
	p.clickAt(x, y)
	p.until(`location.hash.includes('object=')`)
	p.until(`document.querySelector('#objects tr.now') !== null || document.querySelector('.asked-now') !== null`)
	p.press("#strip", "agreement over views")
	p.until(`document.querySelector('#strip svg').getAttribute('aria-label').includes('agreement over views')`)
	p.press("#strip", "agreement of repeats")

	// By keys: the worst object, views in their order, the contract to its end.
	p.focus("#strip svg")
	p.keys(kb.Home)
	p.until(`document.querySelector('#objects tr.now') !== null`)
	p.keys(kb.End)
	p.until(`document.querySelector('#strip output').textContent.includes('100.0 %')`)
	p.focus("#views svg")
	p.keys(kb.Home)
	p.until(`document.querySelector('#views output').textContent.startsWith('please: differs')`)
	p.keys(kb.End)
	p.until(`document.querySelector('#views output').textContent.startsWith('plain: the reference')`)
	p.focus("#contract svg")
	p.keys(kb.End)
	p.until(`document.querySelector('#contract output').textContent.startsWith('kept: ')`)
	if text := p.text("#squares table"); !strings.Contains(text, "consistent") || !strings.Contains(text, " to ") {
		t.Errorf("squares: %q", text)
	}

	// Taken away.
	to := p.downloads()
	p.press("#objects", "Save the objects as CSV")
	name, csv := p.saved(to, ".csv")
	if rows := csvRows(t, name, csv); len(rows) != 81 {
		t.Errorf("%s has %d rows", name, len(rows))
	}
	p.elsewhere("repeat", "#strip svg")
}

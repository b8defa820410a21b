package e2e

import (
	"bytes"
	encoding "encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"nero/internal/slow"
)

// TestExplore works the views below the table: the worst inputs, what they are taken for, all models, the worst slices,
// every curve, and notes that stay with the run.
func TestExplore(t *testing.T) {
	t.Parallel()
	dir := own(t, "explored")
	p := open(t, at(serve(t, dir), "/run/explored?v=1"), desktop)
	p.ready()
	p.until(`document.querySelector('#explore [role=tab]') !== null`)
	if n := eval[int](p, `document.querySelectorAll('.gallery li').length`); n != 0 {
		t.Errorf("%d pictures were loaded before they were looked at", n)
	}
	eval[bool](p, `(document.querySelector('#explore').scrollIntoView(), true)`)
	p.until(`document.querySelectorAll('.gallery canvas').length === 20 && [...document.querySelectorAll('.case-said b')].some(b => b.textContent.includes('→'))`)
	p.keep("gallery")
	p.axe("the gallery", "#explore")
	// The first is the sample with the lowest confidence anywhere, and opens there.
	worst := eval[[]int](p, `(s => { const v = s.data.stats[0].value; let k = 0; v.min.forEach((x, i) => { if (x < v.min[k]) k = i; }); return [k, v.worst[k]]; })(__nero.state)`)
	p.click(".gallery li:first-child button")
	p.is(`[__nero.state.place.sample.value, __nero.state.place.element.value]`, worst)
	p.is(`document.querySelectorAll('.gallery button.here').length`, 1)

	p.focus("#tab-gallery")
	p.keys(kb.ArrowRight)
	p.until(`document.activeElement?.id === 'tab-turns' && document.querySelectorAll('.turns-list li').length > 3 && document.querySelectorAll('.turns-matrix tbody tr').length === 10`)
	if first := p.text(".turns-list li"); !strings.Contains(first, "taken for") || !strings.Contains(first, " %") {
		t.Errorf("the first class that turns into another: %q", first)
	}
	p.keep("turns")
	p.axe("what digits are taken for", "#explore")
	p.focus(".turns-list li:first-child button")
	p.keys(kb.Enter)
	p.until(`(s => { const k = s.place.element.value, one = s.data.one.value; return one && one.index === s.place.sample.value && k >= 0 && one.top[s.place.a.value][k] !== one.label; })(__nero.state)`)
	p.turn(`#explore select:nth-of-type(1)`, "1")
	p.until(`document.querySelectorAll('.turns-matrix tbody tr').length === 10`)

	// The view is in the address: Back and Forward go between views, and a link opens the one that was looked at.
	p.click("#tab-models")
	p.until(`/[?&]look=models(&|$)/.test(location.hash)`)
	eval[bool](p, `(history.back(), true)`)
	p.until(`document.querySelector('#tab-turns').getAttribute('aria-selected') === 'true' && document.querySelector('.turns-list') !== null`)
	eval[bool](p, `(history.forward(), true)`)
	p.until(`document.querySelector('#tab-models').getAttribute('aria-selected') === 'true'`)
	p.until(`document.querySelectorAll('#explore .models-table tbody tr').length === __nero.state.data.run.value.models.length * __nero.state.data.run.value.metrics.length`)
	p.until(`document.querySelector('.pareto svg') !== null && /better|worse/.test(document.querySelector('#explore .models-table').textContent)`)
	p.keep("models")
	p.axe("all models", "#explore")

	p.click("#tab-worst")
	p.until(`document.querySelectorAll('#explore .models-table tbody tr').length > 0 && /tried/.test(document.querySelector('#explore .note:last-child').textContent)`)
	p.keep("worst-slices")
	p.axe("the worst slices", "#explore")
	n := eval[int](p, `Number(document.querySelector('#explore .models-table tbody td').textContent)`)
	p.click("#explore .models-table tbody tr:first-child .link")
	p.is(`__nero.state.choice.count.value`, n)

	p.click("#tab-curves")
	p.is(`document.querySelectorAll('#explore .ice .one').length`, n)
	p.is(`document.querySelectorAll('#explore .histograms figure').length`, 4)
	p.keep("every-curve")
	p.axe("every curve", "#explore")

	p.click("#tab-notes")
	p.until(`document.querySelector('#explore textarea') !== null`)
	p.focus("#explore textarea")
	p.keys("a <b>seven</b>?")
	p.focus("#explore .notes input")
	p.keys("odd, to ask", kb.Enter)
	p.until(`document.querySelector('#explore .notes tbody')?.textContent.includes('a <b>seven</b>?')`)
	p.keep("notes")
	p.axe("notes", "#explore")
	if b, err := os.ReadFile(filepath.Join(dir, "remarks.json")); err != nil || !strings.Contains(string(b), "to ask") {
		t.Errorf("%s, %v", b, err)
	}
	p.until(`__nero.state.data.samples.value?.tags?.some(t => t.includes('odd'))`)
	eval[bool](p, `(__nero.state.choice.choose({ slice: '', rule: 'tag = "to ask"', lasso: null, picked: null }), true)`)
	p.is(`__nero.state.choice.count.value`, 1)

	link := open(t, at(serve(t, dir), "/run/explored?v=1&look=curves"), desktop)
	link.ready()
	link.until(`document.querySelector('#tab-curves')?.getAttribute('aria-selected') === 'true'`)

	// Dark and narrow.
	small := open(t, at(serve(t, dir), "/run/explored?v=1"), screen{width: 360, height: 740, scheme: "dark"})
	small.ready()
	eval[bool](small, `(document.querySelector('#explore').scrollIntoView(), true)`)
	small.until(`document.querySelectorAll('.gallery canvas').length === 20`)
	small.keep("gallery-narrow-dark")
	small.narrow()
	small.click("#tab-turns")
	small.until(`document.querySelectorAll('.turns-list li').length > 3`)
	small.keep("turns-narrow-dark")
	small.narrow()
	small.axe("what digits are taken for, narrow and dark", "#explore")
	small.click("#tab-models")
	small.until(`document.querySelector('.pareto svg') !== null`)
	small.keep("models-narrow-dark")
	small.narrow()
}

// precise is a number as the page's script writes it with four digits.
func precise(t *testing.T, s string) string {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// TestThumbnails looks at the pictures in the table: those of rows on the screen alone, in places that are there before
// them.
func TestThumbnails(t *testing.T) {
	t.Parallel()
	p := looked(t, "", desktop)
	p.until(`document.querySelectorAll('#table .thumb img').length > 4`)
	eval[bool](p, `(document.querySelector('#table').scrollIntoView(), true)`)
	p.until(`[...document.querySelectorAll('#table .thumb img')].some(i => i.complete && i.naturalWidth === 28)`)
	const heights = `[...new Set([...document.querySelectorAll('#table tbody tr[id]')].map(r => r.getBoundingClientRect().height))]`
	p.is(heights, []int{28})
	if n := eval[int](p, `document.querySelectorAll('#table .thumb img').length`); n > 40 {
		t.Errorf("%d pictures are in the page", n)
	}
	eval[bool](p, `(document.querySelector('#table .rows-scroll').scrollTop = 4000, true)`)
	p.until(`[...document.querySelectorAll('#table .thumb img')].some(i => i.complete && i.naturalWidth === 28 && Number(i.closest('tr').id.slice(4)) >= 0 && i.getBoundingClientRect().top > 0)`)
	p.is(heights, []int{28})
	p.axe("pictures in the table", "#table")
}

// TestSearchAlike searches for the worst slices in the terminal and on the page: the same, with the same numbers, those
// of brightness and place among them.
func TestSearchAlike(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	dir := own(t, "explored")
	bin, _ := program(t)
	csv, err := exec.CommandContext(t.Context(), bin, "export", dir, "--table", "search").Output()
	if err != nil {
		t.Fatal(err)
	}
	table, err := encoding.NewReader(bytes.NewReader(csv)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, at(serve(t, dir), "/run/explored?v=1&look=worst"), desktop)
	p.ready()
	page := eval[[][]string](p, `fetch('api/v1/runs/explored/search', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({set: {}, model: 0, metric: 0})})
		.then(r => r.json()).then(d => d.slices.map(f => [f.conditions.join(' and '), String(f.n), String(+f.gap.toPrecision(4)), String(+f.p.toPrecision(4))]))`)
	var terminal [][]string
	looks := false
	for _, row := range table[1:] {
		if row[0] == table[1][0] {
			terminal = append(terminal, []string{row[2], row[4], precise(t, row[7]), precise(t, row[10])})
			looks = looks || strings.Contains(row[2], "brightness") || strings.Contains(row[2], "size") ||
				strings.Contains(row[2], "place") || strings.Contains(row[2], "contrast")
		}
	}
	if !looks {
		t.Errorf("no slice of the terminal is of what pictures show:\n%s", csv)
	}
	if !reflect.DeepEqual(page, terminal) {
		t.Errorf("the page found\n%q\nthe terminal\n%q", page, terminal)
	}
}

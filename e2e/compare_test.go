package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const how = `.segments[aria-label="How the models are compared"] `

// TestCompare looks at two models in every way: over each other, side by side, as a difference; swapped; and one alone.
func TestCompare(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	lines := func(card string) string {
		return fmt.Sprintf(`document.querySelectorAll('#%s .plot .line').length`, card)
	}
	p.is(lines("aggregate"), 2)
	// Not by color alone: the second is dashed and has another mark.
	if eval[string](p, `getComputedStyle(document.querySelector('#aggregate .line.m1')).strokeDasharray`) == eval[string](p, `getComputedStyle(document.querySelector('#aggregate .line.m0')).strokeDasharray`) {
		t.Error("the two curves differ in color alone")
	}
	p.click(how + "button:nth-child(2)")
	p.until(`__nero.state.place.compare.value === 'side' && document.querySelectorAll('#aggregate .side figure').length === 2`)
	p.keep("side")
	p.axe("side by side", "#aggregate")
	p.focus(how + "button:nth-child(3)")
	p.keys(kb.Enter)
	p.until(`__nero.state.place.compare.value === 'diff' && document.querySelector('#aggregate .axisnote').textContent.includes('B − A')`)
	p.is(lines("aggregate"), 1)
	p.keep("difference")
	p.axe("a difference", "#aggregate")
	p.settled()
	if c := p.hash().Get("cmp"); c != "diff" {
		t.Errorf("the address says cmp=%q", c)
	}
	p.focus(how + "button:nth-child(1)")
	p.keys(" ")
	p.is(`__nero.state.place.compare.value`, "over")

	// The paired difference in words, and what becomes of it when A and B change places.
	p.until(`/B − A \+0\.\d+ .*B is better/.test(document.querySelector('#aggregate .paired')?.textContent ?? '')`)
	p.press("header", "Swap A and B")
	p.until(`/B − A −0\.\d+ .*B is worse/.test(document.querySelector('#aggregate .paired')?.textContent ?? '')`)
	p.until(`document.querySelector('#detail .says li:first-child').textContent.includes('augmented')`)
	p.enter("header", "Swap A and B")
	p.is(`[__nero.state.place.a.value, __nero.state.place.b.value]`, []int{0, 1})

	// The menus, by keyboard.
	p.turn("header .field.m1 select", "-1")
	p.until(`__nero.state.place.b.value === -1 && document.querySelectorAll('#aggregate .plot .line').length === 1 && document.querySelector('.segments[aria-label^="How"]') === null`)
	p.until(`document.querySelectorAll('#table thead th').length < 10`)
	p.keep("one-model")
	p.axe("one model")
	p.turn("header .field.m0 select", "1")
	p.until(`document.querySelector('#aggregate .legend li').textContent.includes('augmented')`)
	p.turn("header .field.m1 select", "0")
	p.is(`[__nero.state.place.a.value, __nero.state.place.b.value]`, []int{1, 0})

	// Another metric, bands, and a plot for each class.
	p.turn("header .what select", "1")
	p.until(`document.querySelector('#aggregate .axisnote').textContent.includes('accuracy')`)
	p.turn("header .what select", "0")
	band := `#aggregate select[aria-label="What the band shows"]`
	p.turn(band, "interval")
	p.until(`document.querySelectorAll('#aggregate .band.sure').length === 2`)
	p.turn(band, "none")
	p.until(`document.querySelectorAll('#aggregate .band').length === 0`)
	p.press("#aggregate", "by class")
	p.until(`document.querySelectorAll('#aggregate .multiple').length === 10`)
	p.keep("by-class")
	p.axe("a plot for each class", "#aggregate")
	p.click("#aggregate .multiple:nth-child(4) button")
	p.is(`__nero.state.choice.parts.value.slice`, "3")
	p.enter("#aggregate", "by class")
}

// TestTwoRuns puts two runs side by side: from the page of runs, and from the menu of models.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	first, second := own(t, "may"), own(t, "june")
	address := serve(t, first, second)
	p := open(t, at(address, "/runs"), desktop)
	p.until(`document.querySelectorAll('.run-card').length === 2`)
	p.keep("runs")
	p.axe("the page of runs")
	// What is looked for, the order, and the curve of each; a name that is given stays, and is that of the run.
	p.until(`document.querySelectorAll('.run-sketch path').length === 4`)
	p.focus(".runs-tools input")
	p.keys("confidence may")
	p.until(`document.querySelectorAll('.run-card').length === 1 && /1 of 2/.test(document.querySelector('.runs-tools').textContent)`)
	p.enter(".run-card", "✎")
	p.until(`document.activeElement?.closest('.run-name') !== null`)
	p.keys("May, <b>first</b>", kb.Enter)
	p.until(`document.querySelector('.run-card h3 a')?.textContent === 'May, <b>first</b>'`)
	p.is(`document.activeElement?.className`, "rename")
	p.focus(".runs-tools input")
	p.keys(kb.Escape)
	p.until(`document.querySelectorAll('.run-card').length === 2`)
	p.turn(".runs-tools select", "name")
	p.until(`document.querySelector('.run-card h3 a').textContent === 'june'`)
	p.keep("runs-renamed")
	p.narrow()
	boxes := `.run-card:has(a[href="#/run/%s"]) input[type=checkbox]`
	p.click(fmt.Sprintf(boxes, "may"))
	p.focus(fmt.Sprintf(boxes, "june"))
	p.keys(" ")
	p.press(".runs-pair", "Compare them")
	p.ready()
	p.until(`__nero.state.data.run.value.model_list.length === 4`)
	id := eval[string](p, `__nero.state.data.runID.value`)
	if !strings.Contains(id, "+") {
		t.Errorf("the run is %q, want two", id)
	}
	p.is(`__nero.state.choice.count.value`, 100)
	p.is(`(s => [s.place.a.value, s.place.b.value].map(k => s.data.run.value.model_list[k].run))(__nero.state)`,
		[]string{"may", "june"})
	p.until(`document.querySelector('header .field.m0 select').textContent.includes('(may)') && document.querySelector('header .field.m0 select').textContent.includes('(june)')`)
	// The same model of both: no difference.
	pick := func(k int, name, run string) {
		t.Helper()
		v := eval[string](p,
			fmt.Sprintf(`[...document.querySelector('header .field.m%d select').options].find(o => o.textContent === '%s (%s)').value`, k, name, run))
		p.choose(fmt.Sprintf("header .field.m%d select", k), v)
	}
	pick(0, "original", "may")
	pick(1, "original", "june")
	p.until(`/B − A ([+−]?0(\.0+)?) /.test(document.querySelector('#aggregate .paired')?.textContent ?? '')`)
	p.live()
	p.keep("two-runs")

	// From the menu of models.
	p.do(navigate(at(address, "/run/may?v=1")))
	p.ready()
	p.focus("header .field.m1 select")
	p.until(`document.querySelector('header .field.m1 optgroup') !== null`)
	p.choose("header .field.m1 select", "june\naugmented")
	p.until(`__nero.state.data.runID.value === 'may+june' && __nero.state.data.run.value?.model_list.length === 4`)
	p.until(`(s => s.data.run.value.model_list[s.place.b.value].name === 'augmented (june)' && s.data.run.value.model_list[s.place.b.value].run === 'june' && s.data.run.value.model_list[s.place.a.value].name === 'original (may)')(__nero.state)`)
	p.ready()
	p.settled()
	// And back again.
	eval[bool](p, `(history.back(), true)`)
	p.until(`__nero.state.data.runID.value === 'may' && __nero.state.data.run.value?.id === 'may'`)
	p.ready()
}

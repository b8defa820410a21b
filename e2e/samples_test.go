package e2e

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

const plane = "#samples .plane"

// map of the plane: where a point of the layout lies in the window.
type plot struct{ SX, OX, SY, OY float64 }

// points are the places of all samples in the window, by two samples that are looked at one after the other.
func (p *page) points() [][2]float64 {
	p.t.Helper()
	p.visible(plane)
	xy := eval[[]float64](p, `[...__nero.state.choice.layout.value.xy]`)
	// The two that lie furthest apart along x and along y give the scales.
	far := func(axis int) (lo, hi int) {
		for i := range len(xy) / 2 {
			if xy[2*i+axis] < xy[2*lo+axis] {
				lo = i
			}
			if xy[2*i+axis] > xy[2*hi+axis] {
				hi = i
			}
		}
		return lo, hi
	}
	was := eval[int](p, `__nero.state.place.sample.value`)
	place := func(i int) [2]float64 {
		eval[bool](p, fmt.Sprintf(`(__nero.state.place.setSample(%d), true)`, i))
		p.drawn()
		q := eval[[]float64](p,
			`(e => { const m = e.transform.baseVal.consolidate().matrix, r = document.querySelector('#samples .plane').getBoundingClientRect(); return [m.e + r.left, m.f + r.top] })(document.querySelector('#samples .plane-pick'))`)
		return [2]float64{q[0], q[1]}
	}
	p.box(plane)
	l, r := far(0)
	b, u := far(1)
	pl, pr, pb, pu := place(l), place(r), place(b), place(u)
	place(was)
	var m plot
	m.SX = (pr[0] - pl[0]) / (xy[2*r] - xy[2*l])
	m.OX = pl[0] - m.SX*xy[2*l]
	m.SY = (pu[1] - pb[1]) / (xy[2*u+1] - xy[2*b+1])
	m.OY = pb[1] - m.SY*xy[2*b+1]
	out := make([][2]float64, len(xy)/2)
	for i := range out {
		out[i] = [2]float64{m.SX*xy[2*i] + m.OX, m.SY*xy[2*i+1] + m.OY}
	}
	return out
}

// loneliest is the point that is furthest from all others.
func loneliest(points [][2]float64) int {
	best, most := 0, 0.0
	for i, q := range points {
		least := math.Inf(1)
		for j, r := range points {
			if j != i {
				least = min(least, math.Hypot(q[0]-r[0], q[1]-r[1]))
			}
		}
		if least > most {
			best, most = i, least
		}
	}
	return best
}

// pick is where the mark of the sample lies in the plane.
func (p *page) pick() [2]float64 {
	p.t.Helper()
	p.drawn()
	q := eval[[]float64](p,
		`(m => m ? [m.e, m.f] : [-1, -1])(document.querySelector('#samples .plane-pick')?.transform.baseVal.consolidate().matrix)`)
	return [2]float64{q[0], q[1]}
}

// TestScatterPointer chooses, previews, lassoes, pans and zooms by mouse.
func TestScatterPointer(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	points := p.points()
	one := loneliest(points)
	q := points[one]

	// Hovering previews, and commits nothing.
	hash := p.settled()
	p.mouse(input.DispatchMouseEventTypeMouseMoved, q[0], q[1])
	p.is(`__nero.state.place.hover.value`, one)
	p.until(`document.querySelector('#samples .plane-tip') !== null`)
	p.steady(`__nero.state.place.sample.value`, 6)
	if now := p.settled(); now != hash {
		t.Errorf("hovering changed the address from %s to %s", hash, now)
	}
	p.keep("hover")
	p.mouse(input.DispatchMouseEventTypeMouseMoved, 5, 5)
	p.is(`__nero.state.place.hover.value`, -1)

	p.clickAt(q[0], q[1])
	p.is(`__nero.state.place.sample.value`, one)

	// A lasso round the left half of the box of the points.
	xs := make([]float64, len(points))
	for i, r := range points {
		xs[i] = r[0]
	}
	slices.Sort(xs)
	mid := (xs[len(xs)/2-1] + xs[len(xs)/2]) / 2
	b := p.box(plane)
	want := 0
	for _, r := range points {
		if r[0] < mid {
			want++
		}
	}
	lasso := [][2]float64{
		{b.X + 2, b.Y + 2},
		{mid, b.Y + 2},
		{mid, b.Y + b.Height/2},
		{mid, b.Y + b.Height - 2},
		{b.X + 2, b.Y + b.Height - 2},
		{b.X + 2, b.Y + b.Height/2},
	}
	p.path(lasso...)
	// points on the line, after rounding to a link
	p.until(fmt.Sprintf(`Math.abs(__nero.state.choice.count.value - %d) <= 2`, want))
	n := eval[int](p, `__nero.state.choice.count.value`)
	p.until(fmt.Sprintf(`document.querySelector('#aggregate .sub').textContent.includes('%d of 100')`, n))
	p.until(`document.querySelector('#aggregate .chip')?.textContent.includes('lasso') && document.querySelector('#samples .plane-lasso') !== null`)
	p.keep("lasso")
	p.settled()
	if p.hash().Get("poly") == "" {
		t.Error("the address holds no lasso")
	}
	// Another sample, and back: the lasso is shown and counts.
	p.click(`#table tbody tr[id]:nth-of-type(2)`)
	p.until(fmt.Sprintf(`__nero.state.place.sample.value !== %d`, one))
	p.settled()
	eval[bool](p, `(history.back(), true)`)
	p.until(fmt.Sprintf(`__nero.state.place.sample.value === %d`, one))
	p.until(fmt.Sprintf(`__nero.state.choice.parts.value.lasso !== null && __nero.state.choice.count.value === %d`, n))
	p.press("#samples", "Clear")
	p.is(`__nero.state.choice.count.value`, 100)

	// Pan by the button, and with Shift; the wheel zooms about the pointer; a double click takes it all back.
	start := p.pick()
	p.press("#samples", "Pan")
	p.path([2]float64{b.X + 100, b.Y + 100}, [2]float64{b.X + 120, b.Y + 110}, [2]float64{b.X + 140, b.Y + 125})
	if d := p.pick(); math.Abs(d[0]-start[0]-40) > 1 || math.Abs(d[1]-start[1]-25) > 1 {
		t.Errorf("panning by 40, 25 moved the mark from %v to %v", start, d)
	}
	p.press("#samples", "Lasso")
	p.mouse(input.DispatchMouseEventTypeMouseMoved, b.X+140, b.Y+125)
	shifted := func(m *input.DispatchMouseEventParams) {
		m.Button, m.Buttons, m.Modifiers, m.ClickCount = input.MouseButtonLeft, 1, 8, 1
	}
	p.mouse(input.DispatchMouseEventTypeMousePressed, b.X+140, b.Y+125, shifted)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, b.X+120, b.Y+110, shifted)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, b.X+100, b.Y+100, shifted)
	p.mouse(input.DispatchMouseEventTypeMouseReleased, b.X+100, b.Y+100, shifted)
	if d := p.pick(); math.Hypot(d[0]-start[0], d[1]-start[1]) > 1 {
		t.Errorf("panning back led to %v, not to %v", d, start)
	}
	at := p.pick()
	p.wheel(plane, (at[0]+30)/b.Width, at[1]/b.Height, -200)
	if d := p.pick(); !(at[0]+30-d[0] > 35) {
		t.Errorf("the wheel did not zoom in: the mark went from %v to %v", at, d)
	}
	p.wheel(plane, 0.5, 0.5, 100)
	near := p.pick()
	p.press("#samples .plane-zoom", "all")
	if d := p.pick(); math.Hypot(d[0]-start[0], d[1]-start[1]) > 1 ||
		math.Hypot(near[0]-start[0], near[1]-start[1]) < 10 {
		t.Errorf("showing all points moved the mark from %v to %v, want %v", near, d, start)
	}
	for _, k := range []int{1, 2} { // in, and out again
		p.click(fmt.Sprintf("#samples .plane-zoom button:nth-of-type(%d)", k))
		if d := math.Hypot(p.pick()[0]-start[0], p.pick()[1]-start[1]); (d > 5) != (k == 1) {
			t.Errorf("after %d of the buttons for zoom the mark is %v px from where it was", k, d)
		}
	}
	p.press("#samples", "Pan")
	p.clickAt(b.X+5, b.Y+5)
	// Without a lasso a click beside the points changes nothing.
	p.steady(`[__nero.state.place.sample.value, __nero.state.choice.count.value]`, []int{one, 100})
}

// TestScatterKeys does by keyboard what TestScatterPointer does by mouse.
func TestScatterKeys(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	p.focus(plane)
	p.keys(kb.ArrowRight)
	p.until(`__nero.state.place.hover.value >= 0 && document.querySelector('#samples .plane-tip') !== null`)
	p.is(`__nero.state.place.sample.value`, 6) // a preview
	first := eval[int](p, `__nero.state.place.hover.value`)
	p.until(`/^Sample .*class/.test(__nero.state.tasks.spoken.value)`)
	p.keys(kb.ArrowDown)
	p.until(fmt.Sprintf(`__nero.state.place.hover.value !== %d`, first))
	second := eval[int](p, `__nero.state.place.hover.value`)
	p.keys(kb.Enter)
	p.is(`__nero.state.place.sample.value`, second)

	// Zoom and pan.
	start := p.pick()
	b := p.box(plane)
	p.keys("+")
	if d := p.pick(); math.Abs(math.Hypot(d[0]-b.Width/2, d[1]-b.Height/2)-1.4*math.Hypot(start[0]-b.Width/2,
		start[1]-b.Height/2)) > 2 {
		t.Errorf("+ moved the mark from %v to %v in a plane of %v x %v", start, d, b.Width, b.Height)
	}
	p.keys("-")
	p.keys("-")
	p.shift(kb.ArrowRight)
	if d := p.pick(); math.Hypot(d[0]-start[0], d[1]-start[1]) < 5 {
		t.Errorf("Shift and an arrow did not move the picture: %v", d)
	}
	p.keys("0")
	if d := p.pick(); math.Hypot(d[0]-start[0], d[1]-start[1]) > 1 {
		t.Errorf("0 led to %v, not to %v", d, start)
	}

	// A box by keys.
	p.keys("l")
	p.until(`document.querySelector('#samples .plane-cross') !== null`)
	for range 3 {
		p.shift(kb.ArrowLeft)
		p.shift(kb.ArrowUp)
	}
	p.keys(kb.Enter)
	for range 5 {
		p.shift(kb.ArrowRight)
		p.shift(kb.ArrowDown)
	}
	p.keys(kb.ArrowRight, kb.Enter)
	p.until(`__nero.state.choice.parts.value.lasso !== null && __nero.state.choice.count.value > 0 && __nero.state.choice.count.value < 100`)
	if n := eval[int](p, `__nero.state.choice.parts.value.lasso.poly.length`); n != 8 {
		t.Errorf("the box has %d coordinates, want 8", n)
	}
	p.keys(kb.Escape)
	p.is(`__nero.state.choice.count.value`, 100)
	p.keys("L", kb.Escape)
	p.until(`document.querySelector('#samples .plane-cross') === null`)
	p.keys("m")
	p.is(`document.querySelector('#samples .plane').dataset.mode`, "pan")
	p.keys("m")

	// The nearest ones.
	p.write(`#samples .nearest input`, "12")
	p.keys(kb.Enter)
	p.is(`__nero.state.choice.count.value`, 12)
	if !eval[bool](p, `__nero.state.choice.mask.value[__nero.state.place.sample.value] === 1`) {
		t.Error("the nearest ones do not hold the sample itself")
	}
	p.focus(plane) // in a field, Escape is the field's
	p.keys(kb.Escape)
	p.until(`__nero.state.choice.count.value === 100`)
}

// TestLayouts goes through the menus above the scatter.
func TestLayouts(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	layout := `#samples select[aria-label="Layout"]`
	for _, m := range []string{"ica", "isomap", "tsne", "umap"} {
		before := eval[float64](p, `__nero.state.choice.layout.value.xy[0]`)
		p.turn(layout, m)
		p.until(fmt.Sprintf(
			`__nero.state.choice.embedding.value.method === '%s' && !__nero.state.choice.layout.state.value.busy && __nero.state.choice.layout.value.xy.length === 200 && __nero.state.choice.layout.value.xy[0] !== %v`, m, before))
		p.until(`document.querySelector('#samples .plane-axes').textContent.length > 10`)
	}
	p.choose(layout, "pca")
	p.until(`!__nero.state.choice.layout.state.value.busy`)
	p.turn(`#samples select[aria-label="Of the curves of which models"]`, "b")
	p.until(`__nero.state.choice.embedding.value.of === 'b' && !__nero.state.choice.layout.state.value.busy`)
	color := `#samples select[aria-label="Colour"]`
	for _, by := range eval[[]string](p, fmt.Sprintf(`[...document.querySelector(%s).options].map(o => o.value)`,
		quote(color))) {
		p.choose(color, by)
		p.until(fmt.Sprintf(
			`document.querySelector(%s).value === '%s' && document.querySelector('#samples .colour-key .key-title')?.textContent.length > 3`, quote(color), by))
	}
	// Classes have shapes and names, and their key chooses one.
	p.turn(color, "label")
	p.until(`document.querySelectorAll('#samples .class-key .swatch').length === 10 && document.querySelectorAll('#samples .plane-text').length === 10`)
	p.keep("classes")
	p.axe("scatter by class", "#samples")
	p.click("#samples .class-key button.swatch:nth-of-type(3)")
	p.until(`__nero.state.choice.parts.value.slice === '2'`)
	p.focus("#samples .class-key button.swatch")
	p.keys(kb.Enter)
	p.is(`__nero.state.choice.parts.value.slice`, "")
	// Fitted to a slice.
	p.turn(`#aggregate select[aria-label="Slice"]`, "6")
	p.choose(`#samples select[aria-label="Fitted to"]`, "slice")
	p.until(`!__nero.state.choice.layout.state.value.busy && __nero.state.choice.layout.value.fitted < 100`)
}

// TestRank walks along the order of the samples.
func TestRank(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	order := func() []int { return eval[[]int](p, `[...__nero.state.choice.order.value]`) }
	place := func() int { return eval[int](p, `__nero.state.choice.at.value`) }
	sample := func(i int) { t.Helper(); p.is(`__nero.state.place.sample.value`, i) }
	o := order()
	k := place()
	p.press("#samples .rank", "►")
	sample(o[k+1])
	p.enter("#samples .rank", "Previous sample in order")
	sample(o[k])
	p.focus(needle)
	p.keys("]")
	sample(o[k+1])
	p.keys("[", "[")
	sample(o[k-1])
	slider := "#samples .rank input[type=range]"
	p.focus(slider)
	p.keys(kb.Home)
	sample(o[0])
	p.until(`document.querySelector('#samples .rank output').textContent === '1 of 100'`)
	p.keys(kb.ArrowRight)
	sample(o[1])
	p.keys(kb.End)
	sample(o[99])
	// Wherever it leads, the row of the sample is in sight.
	for _, k := range []int{30, 50, 70, 20, 99, 0} {
		eval[bool](p, fmt.Sprintf(`(__nero.state.place.setSample(%d), true)`, o[k]))
		p.until(`(r => r !== undefined && r.top >= document.querySelector('#table .rows-scroll').getBoundingClientRect().top && r.bottom <= document.querySelector('#table .rows-scroll').getBoundingClientRect().bottom + 1)(document.querySelector('#table tr.here')?.getBoundingClientRect())`)
	}
	p.overAt(slider, 0.5, 0.5)
	p.click(slider)
	p.until(`Math.abs(__nero.state.choice.at.value - 50) < 5`)
	p.drag(slider, [2]float64{0.5, 0.5}, [2]float64{0.4, 0.5}, [2]float64{0.2, 0.5})
	p.until(`Math.abs(__nero.state.choice.at.value - 20) < 6`)

	// By another figure, the other way round.
	p.turn("#samples .rank select", "diff")
	p.until(`__nero.state.choice.rank.value.by === 'diff'`)
	diff := eval[[]float64](p, `[...__nero.state.choice.order.value].map(i => __nero.state.choice.column('diff')[i])`)
	up := slices.IsSorted(diff)
	if !up && !slices.IsSortedFunc(diff, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Error("the samples are not in order of their difference")
	}
	p.click("#samples .rank .field + button")
	p.until(fmt.Sprintf(`__nero.state.choice.rank.value.descending === %v`, up))
	// The table goes along.
	p.until(`document.querySelector('#table th[aria-sort=ascending], #table th[aria-sort=descending]').textContent.startsWith('B − A')`)
}

// TestFirstClick: the first click into the table takes the row under the pointer, though the sample that is looked at
// lies far below.
func TestFirstClick(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	p.until(`__nero.state.choice.order.value.length === 100`)
	p = looked(t, fmt.Sprintf("&i=%d&g=90", eval[int](p, `__nero.state.choice.order.value[90]`)), desktop)
	third := eval[int](p, `__nero.state.choice.order.value[2]`)
	p.click(`#table tbody tr[id]:nth-of-type(3)`)
	p.is(`__nero.state.place.sample.value`, third)
	p.is(`Number(document.querySelector('#table .rows-scroll').scrollTop < 60)`, 1)
}

// TestTable sorts, filters, walks and chooses rows, by mouse and by keyboard.
func TestTable(t *testing.T) {
	t.Parallel()
	p := looked(t, "&i=6&g=90", desktop)
	column := func(n int) []string {
		return eval[[]string](p,
			fmt.Sprintf(`[...document.querySelectorAll('#table tbody tr[id] td:nth-child(%d)')].map(e => e.textContent)`, n+1))
	}
	heading := func(n int) string { // the first of all is a picture
		return fmt.Sprintf(`#table thead th:nth-child(%d) button`, n+1)
	}
	sorted := func(n int, up bool) {
		t.Helper()
		p.drawn()
		rows := column(n)
		v := make([]float64, len(rows))
		for i, s := range rows {
			x, err := strconv.ParseFloat(strings.TrimRight(strings.NewReplacer("−", "-", "+", "", "✗", "").Replace(s),
				" "), 64)
			if err != nil {
				t.Fatal(err)
			}
			v[i] = x
		}
		if !up {
			slices.Reverse(v)
		}
		if len(v) < 5 || !slices.IsSorted(v) {
			t.Errorf("column %d is not sorted: %q", n, rows)
		}
	}
	// Pictures and answers have columns once the data are opened and the answers are here.
	p.until(`document.querySelector('#table thead th:nth-child(7)')?.textContent === 'mean B'`)
	p.click(heading(6))
	p.until(`document.querySelector('#table thead th:nth-child(7)').getAttribute('aria-sort') === 'ascending'`)
	sorted(6, true)
	p.focus(heading(6))
	p.keys(kb.Enter)
	p.until(`document.querySelector('#table thead th:nth-child(7)').getAttribute('aria-sort') === 'descending'`)
	sorted(6, false)
	p.click(heading(1))
	p.until(`document.querySelector('#table thead th:nth-child(2)').getAttribute('aria-sort') === 'ascending'`)
	sorted(1, true)

	// Rows by mouse.
	p.click(`#table tbody tr[id]:nth-of-type(3)`)
	third := eval[int](p, `__nero.state.choice.order.value[2]`)
	p.is(`__nero.state.place.sample.value`, third)
	// Rows by keyboard.
	p.focus("#table [role=grid]")
	p.keys(kb.ArrowDown, kb.ArrowDown)
	p.is(`__nero.state.place.sample.value`, third)
	p.keys(kb.Enter)
	p.is(`__nero.state.place.sample.value`, eval[int](p, `__nero.state.choice.order.value[4]`))
	p.keys(kb.End)
	p.until(`document.querySelector('#table tr.active')?.getAttribute('aria-rowindex') === '101'`)
	if eval[string](p, `document.querySelector('#table [role=grid]').getAttribute('aria-activedescendant')`) != eval[string](p, `document.querySelector('#table tr.active').id`) {
		t.Error("the active row is not told to screen readers")
	}
	p.keys(kb.PageUp)
	p.until(`document.querySelector('#table tr.active').getAttribute('aria-rowindex') < 101`)
	p.keys(kb.Home)
	// Several rows, to a slice.
	p.keys(" ")
	p.shift(kb.ArrowDown)
	p.shift(kb.ArrowDown)
	p.until(`document.querySelector('#table .chosen')?.textContent.includes('3 rows chosen')`)
	three := eval[[]int](p, `[...__nero.state.choice.order.value].slice(0, 3).sort((a, b) => a - b)`)
	p.enter("#table .chosen", "Look at only these")
	p.is(`__nero.state.choice.parts.value.picked`, three)
	p.is(`__nero.state.choice.count.value`, 3)
	p.until(`document.querySelector('#aggregate .chip').textContent.includes('3 picked')`)
	p.press("#aggregate .chip", "Remove 3 picked")
	p.is(`__nero.state.choice.count.value`, 100)
	rows := eval[[]int](p, `[...__nero.state.choice.order.value].slice(0, 6)`)
	with := func(k int, modifiers int64) {
		t.Helper()
		b := p.box(fmt.Sprintf("#row-%d", rows[k]))
		p.clickAt(b.X+20, b.Y+b.Height/2, func(m *input.DispatchMouseEventParams) { m.Modifiers = modifiers })
	}
	with(1, 0)
	p.is(`__nero.state.place.sample.value`, rows[1])
	with(3, 2)
	p.until(`document.querySelectorAll('#table tr.chosen').length >= 1`)
	with(5, 8)
	p.until(`document.querySelectorAll('#table tr.chosen').length >= 3`)
	p.press("#table .chosen", "Choose none")
	p.until(`document.querySelectorAll('#table tr.chosen').length === 0`)

	// A rule, good and bad.
	p.focus(needle)
	p.keys("/")
	p.until(`document.activeElement.id === 'rule'`)
	p.keys("mean A < 0.4 and label = 6\r")
	p.until(`__nero.state.choice.count.value < 8 && __nero.state.choice.count.value > 0 && document.querySelector('#table .sub').textContent.includes(' of 100')`)
	for _, c := range column(2) {
		if c != "6" {
			t.Errorf("a row of class %s meets label = 6", c)
		}
	}
	n := eval[int](p, `__nero.state.choice.count.value`)
	p.write("#rule", "mean A << 4\r")
	p.until(`document.querySelector('#rule').getAttribute('aria-invalid') === 'true' && document.querySelector('#rule-help[role=alert]').textContent.length > 20`)
	p.keep("rule")
	p.axe("a rule that is none", "#table")
	p.steady(`__nero.state.choice.count.value`, n)
	p.write("#rule", "mean A > 2")
	p.press("#table .rule", "Filter")
	p.is(`__nero.state.choice.count.value`, 0)
	p.until(`document.querySelector('#aggregate .empty') !== null && document.querySelector('#table .empty') !== null`)
	p.keep("empty")
	p.axe("an empty slice")
	p.press("#aggregate .empty", "Show all samples")
	p.is(`__nero.state.choice.count.value`, 100)

	// Taken away as it stands.
	dir := p.downloads()
	p.click("#table .taker summary")
	p.press("#table .taker", "CSV for spreadsheets and programs, with all digits")
	name, b := p.saved(dir, ".csv")
	got := csvRows(t, name, b)
	if len(got) != 101 || got[0][0] != "index" || !slices.Contains(got[0], "mean_a") ||
		!slices.Contains(got[0], "b_minus_a") {
		t.Errorf("%s has %d rows, the first is %q", name, len(got), got[0])
	}
	for i, k := range eval[[]int](p, `[...__nero.state.choice.order.value]`) {
		if got[i+1][0] != strconv.Itoa(k) {
			t.Fatalf("row %d of %s is sample %s, on the page it is %d", i, filepath.Base(name), got[i+1][0], k)
		}
	}
}

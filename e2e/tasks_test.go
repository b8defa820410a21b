package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"nero/serve/handout"
	"nero/serve/shelf"
	"nero/serve/web"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

const (
	mapView  = "#individual [role=application]"
	tileView = "#individual [role=radiogroup]"
	window   = "#input .windowed"
	picker   = "#detail .pick[tabindex]"
)

// staged opens the page of a staged run.
func staged(t *testing.T, run, query string, live bool, s screen) *page {
	t.Helper()
	p := open(t, at(stagedServer(t, live), "/run/"+run+"?v=1"+query), s)
	p.until(`document.querySelector('#aggregate .map') !== null`)
	p.until(`document.querySelector('#individual [role=application], #individual [role=radiogroup]') !== null`)
	if live {
		p.live()
	}
	return p
}

// shades are the colours of the pixels of the first map of a card, row by row.
func (p *page) shades(card string) []int { return p.pixels(card + " .map canvas") }

// pixels are those of a canvas, row by row.
func (p *page) pixels(canvas string) []int {
	p.t.Helper()
	p.drawn()
	return eval[[]int](p,
		fmt.Sprintf(`(c => [...new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)])(document.querySelector(%s))`, quote(canvas)))
}

// order ranks the pixels of a map from dark to bright: in viridis, green grows with the value.
func order(px []int) []int {
	at := make([]int, len(px))
	for k := range at {
		at[k] = k
	}
	slices.SortStableFunc(at, func(a, b int) int { return px[a]>>8&255 - px[b]>>8&255 })
	return at
}

// TestShiftsUpright holds the maps of all samples and of one against the values, which change when dx and dy change
// places: both have dx to the right and dy down, and one scale.
func TestShiftsUpright(t *testing.T) {
	t.Parallel()
	p := staged(t, "shifts", "&i=0&g=0,0", true, desktop)
	all, one := p.shades("#aggregate"), p.shades("#individual")
	if len(all) != len(shiftX)*len(shiftY) || len(one) != len(all) {
		t.Fatalf("maps of %d and %d pixels, want %d", len(all), len(one), len(shiftX)*len(shiftY))
	}
	j, err := stagedJob("T(2)", "boxes", grid(shiftX, shiftY), []string{"conf_iou"}, []string{"narrow"})
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, 0, len(all))
	for _, y := range shiftY {
		for _, x := range shiftX {
			values = append(values, stagedValue(j, nil, 0, 0, 0, group.Element{x, y}))
		}
	}
	for name, px := range map[string][]int{"all samples": all, "one sample": one} {
		at := order(px)
		for k := 1; k < len(at); k++ {
			if a, b := values[at[k-1]], values[at[k]]; a > b+0.004 { // a step of the colours
				t.Errorf("%s: the pixel at %d is brighter than that at %d, and its value is lower: %v and %v", name,
					at[k], at[k-1], b, a)
			}
		}
	}
	// The scales are the same: equal ticks below both, and an equal colour for the same value, of which the samples
	// differ by thousandths.
	if a, b := p.text("#aggregate .colorbar"), p.text("#individual .colorbar"); a != b || a == "" {
		t.Errorf("scales %q and %q", a, b)
	}
	for k := range all {
		for _, shift := range []int{0, 8, 16} {
			if d := all[k]>>shift&255 - one[k]>>shift&255; d < -6 || d > 6 {
				t.Errorf("pixel %d is %x of all samples and %x of one", k, all[k], one[k])
			}
		}
	}
}

// TestShiftsWorked moves the cross-hair by mouse, by keys and by typing; window, boxes and numbers follow.
func TestShiftsWorked(t *testing.T) {
	t.Parallel()
	p := staged(t, "shifts", "&i=1&g=0,0", true, desktop)
	const field = "#individual .map .field"
	// The middle of the cell in the third column and the fifth row.
	p.drag(field, [2]float64{.5, .5}, [2]float64{.4, .7}, [2]float64{2.5 / 7, 4.5 / 5})
	p.is(`__nero.state.place.g.value`, []float64{-4, 8})
	p.live()
	p.focus(mapView)
	p.keys(kb.ArrowRight)
	p.is(`__nero.state.place.g.value`, []float64{-3, 8}) // live: by pixels
	p.keys(kb.ArrowDown, kb.ArrowUp, kb.ArrowUp)
	p.is(`__nero.state.place.g.value`, []float64{-3, 7})
	p.shift(kb.ArrowLeft)
	p.is(`__nero.state.place.g.value`, []float64{-13, 7})
	p.keys(kb.Home)
	p.is(`__nero.state.place.g.value`, []float64{0, 0})
	p.write("#individual .typed", "8, -4\r")
	p.is(`__nero.state.place.g.value`, []float64{8, -4})
	p.live()
	if text := p.text("#input .facts"); !strings.Contains(text, "shifted by 8, −4 px") ||
		!strings.Contains(text, "window at 16, 24 of 80 × 72") {
		t.Errorf("the input says %q", text)
	}
	if got := p.attr("#input rect.window:not(.halo)", "x") + " " + p.attr("#input rect.window:not(.halo)",
		"y"); got != "16 24" {
		t.Errorf("the window lies at %s", got)
	}
	// Sparse shifts: cells are as wide as the plan is sparse there, and a click finds the element below it.
	q := staged(t, "sparse", "&i=0&g=0,0", false, desktop)
	edges := []float64{-15.5, -8.5, -3.5, -1, 0.5, 4, 10} // in the middle between neighbors
	for k, x := range sparseX {
		q.drag(field, [2]float64{((edges[k]+edges[k+1])/2 + 15.5) / 25.5, .5})
		q.is(`__nero.state.place.g.value[0]`, x)
	}
	q.focus(mapView)
	q.keys(kb.ArrowLeft)
	q.is(`__nero.state.place.g.value[0]`, 1)
	q.keys(kb.ArrowLeft)
	q.is(`__nero.state.place.g.value[0]`, 0)
}

// TestWindow drags the window over the photo: to the right, and the object goes to the left within it.
func TestWindow(t *testing.T) {
	t.Parallel()
	p := staged(t, "shifts", "&i=2&g=0,0", true, desktop)
	p.visible(window)
	b := p.box(window + " .stage")
	asked := p.asked(`/probe\?`)
	dx, dy := 8/float64(photoW), 4/float64(photoH)
	p.drag(window+" .stage", [2]float64{.5, .5}, [2]float64{.5 + dx/2, .5}, [2]float64{.5 + dx, .5 + dy})
	p.is(`__nero.state.place.g.value`, []float64{-8, -4})
	p.live()
	if p.asked(`/probe\?`) == asked {
		t.Error("nobody asked the models")
	}
	// It cannot leave the photo.
	p.drag(window+" .stage", [2]float64{.5, .5}, [2]float64{.99, .5}, [2]float64{4, .5})
	p.is(`__nero.state.place.g.value[0]`, -float64(photoW-windowSide)/2)
	p.focus(window)
	p.keys(kb.Home)
	p.is(`__nero.state.place.g.value`, []float64{0, 0})
	p.keys(kb.ArrowRight, kb.ArrowDown, kb.ArrowDown)
	p.is(`__nero.state.place.g.value`, []float64{-1, -2})
	p.shift(kb.ArrowLeft)
	p.is(`__nero.state.place.g.value`, []float64{9, -2})
	if b.Width < 100 {
		t.Errorf("the photo is %v px wide", b.Width)
	}
	if text := p.attr(window, "aria-label"); !strings.Contains(text, "what it shows moves the other way") {
		t.Errorf("the window is told as %q", text)
	}
}

// TestBoxes looks at boxes live and as they were recorded: the same numbers, the more opaque the more confident and the
// wider the more they overlap.
func TestBoxes(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{true, false} {
		p := staged(t, "shifts", "&i=1&g=4,0", live, desktop)
		p.until(`document.querySelectorAll('#detail .found').length === 6`) // three of each of two models
		for k, kind := range []string{"live", "recorded"} {
			if n := eval[int](p, fmt.Sprintf(`document.querySelectorAll('#detail .crops .tag.%s').length`,
				kind)); (n == 2) != (k == 0 == live) {
				t.Errorf("live %v: %d crops are %s", live, n, kind)
			}
		}
		want := stagedBoxes(&job0, 0, 1, group.Element{4, 0})[0]
		row := p.text("#detail .boxes-table tbody tr")
		for _, s := range []string{
			"A", fmt.Sprintf("%.3f", want.Score), fmt.Sprintf("%.1f", want.X1),
			fmt.Sprintf("%.1f", want.Y2),
		} {
			if !strings.Contains(row, s) {
				t.Errorf("live %v: the first box says %q, want %s", live, row, s)
			}
		}
		if live {
			// The reference is the key object in the frame of the element; without data it is not known.
			k := stagedKey(1, group.Element{4, 0})
			w := want.X2 - want.X1
			overlap := (w - (want.X1 - k.X1)) * 8 / (2*w*8 - (w-(want.X1-k.X1))*8)
			if !strings.Contains(row, fmt.Sprintf("%.3f", overlap)) {
				t.Errorf("the first box says %q, want an overlap of %.3f", row, overlap)
			}
			type drawn struct{ Score, IoU, Opacity, Width float64 }
			all := eval[[]drawn](p,
				`[...document.querySelectorAll('#detail .crops figure:first-child .found')].map(g => ({Score: +g.dataset.score, IoU: +g.dataset.iou, Opacity: +g.style.opacity, Width: +g.querySelector('path:not(.halo)').getAttribute('stroke-width')}))`)
			slices.SortFunc(all, func(a, b drawn) int { return int(1e6 * (a.Score - b.Score)) })
			for i := 1; i < len(all); i++ {
				if !(all[i].Opacity > all[i-1].Opacity) ||
					(all[i].IoU > all[i-1].IoU) != (all[i].Width > all[i-1].Width) {
					t.Errorf("boxes are drawn as %+v", all)
				}
			}
			if eval[int](p, `document.querySelectorAll('#detail .refbox').length`) != 2 {
				t.Error("the reference is not drawn with both models")
			}
		}
		// A row by keyboard shows its box; more of them by the menu.
		p.focus("#detail .boxes-table tbody tr:nth-child(2) button")
		p.until(`document.querySelectorAll('#detail .found.on').length === 1`)
		p.choose("#detail .boxbar select", "100")
		p.until(`document.querySelectorAll('#detail .found').length === 8`)
		// A shift at which nothing is found.
		p.write("#individual .typed", "12, 8\r")
		p.until(`/no box/.test(document.querySelector('#detail .boxes-table')?.textContent ?? '')`)
		p.axe(fmt.Sprintf("boxes, live %v", live), "#detail")
		p.keep(fmt.Sprintf("boxes-live-%v", live))
	}
}

// job0 is enough of a job for the values of the detectors.
var job0 = *must(stagedJob("T(2)", "boxes", grid(shiftX, shiftY), []string{"conf_iou"}, []string{"narrow"}))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestTiles works the sixteen tiles by mouse, by keys and by the buttons, which go by the table of the group.
func TestTiles(t *testing.T) {
	t.Parallel()
	p := staged(t, "square", "&i=0&g=0,0,0", true, desktop)
	if got, want := p.text("#individual .tilegrid"), ""; got == want {
		t.Fatal("no tiles")
	}
	names := eval[[]string](p,
		`[...document.querySelectorAll('#individual [role=radiogroup] .tilename')].map(e => e.textContent)`)
	if got, want := strings.Join(names, " "), "2′ 2 1 1′ 3′ 3 0 0′ 4′ 4 7 7′ 5′ 5 6 6′"; got != want {
		t.Errorf("tiles %s, want %s", got, want)
	}
	// The aggregate has the same tiles in the same order.
	if all := eval[[]string](p,
		`[...document.querySelector('#aggregate .tilegrid').querySelectorAll('.tilename')].map(e => e.textContent)`); !slices.Equal(all, names) {
		t.Errorf("the aggregate has tiles %q", all)
	}
	g, err := catalog.Parse("D4 x Time")
	if err != nil {
		t.Fatal(err)
	}
	here := func(n int) {
		t.Helper()
		e, _ := group.AtNumber(g, n)
		p.is(`__nero.state.place.g.value`, []float64(e))
	}
	here(0)
	// The letter lies as the element lays it: its foot, at the left bottom, goes where the table of the group says.
	for n := range 16 {
		e, _ := group.AtNumber(g, n)
		foot := [2]float64{-1, 1} // x to the right, y down
		if e[1] != 0 {
			foot[0] = -foot[0]
		}
		for range int(e[0]) / 90 { // counter-clockwise as displayed
			foot[0], foot[1] = foot[1], -foot[0]
		}
		name := strconv.Itoa(n % 8)
		if n >= 8 {
			name += "′"
		}
		got := eval[[2]float64](p,
			fmt.Sprintf(`(() => { const s = [...document.querySelectorAll('#individual [role=radio] svg')].find(e => e.querySelector('.tilename')?.textContent === %s);
			const path = s.querySelector('.glyph'), m = path.getCTM(), a = new DOMPoint(-.21, .4).matrixTransform(m), c = new DOMPoint(0, 0).matrixTransform(m); return [Math.sign(Math.round(4 * (a.x - c.x))), Math.sign(Math.round(4 * (a.y - c.y)))] })()`, quote(name)))
		if got != foot {
			t.Errorf("the foot of the letter of element %d lies at %v, want %v", n, got, foot)
		}
	}
	p.focus(tileView + " [aria-checked=true]")
	p.keys(kb.ArrowLeft)
	here(3)
	p.keys(kb.ArrowUp)
	here(2)
	p.keys(kb.ArrowLeft)
	here(10)
	p.keys(kb.ArrowLeft, kb.ArrowDown)
	here(11)
	p.keys(kb.Home)
	here(0)
	p.click(tileView + " [data-k='5']")
	here(5)
	p.live()
	at := 5
	for _, move := range []struct {
		name string
		n    int
	}{
		{"turn left 90°", 2},
		{"mirror left and right", 3},
		{"reverse time", 8},
		{"flip top and bottom", 7},
		{"turn right 90°", 6},
		{"reverse time", 8},
	} {
		p.press("#individual .moves", move.name)
		at = group.AfterNumber(move.n, at)
		here(at)
	}
	// The input and the list of elements have one name for it.
	if text, name := p.text("#input .facts"), eval[string](p, `__nero.state.place.here.value`); !strings.Contains(text,
		name) {
		t.Errorf("the input says %q, the element is %q", text, name)
	}
	p.errorMaps(t)
	// A tile of the aggregate goes there too.
	p.click("#aggregate .map:nth-child(2) [data-k='9']")
	here(9)
	// Tiles can be taken away like any plot, with the letters of both models.
	dir := p.downloads()
	p.click("#individual .taker summary")
	p.press("#individual .taker", "SVG picture that stays sharp")
	name, b := p.saved(dir, ".svg")
	isSVG(t, name, b)
	if n := strings.Count(string(b), "<path"); n < 32 {
		t.Errorf("%s has %d paths, want a letter for each of 32 tiles", name, n)
	}
	p.keep("tiles")
	p.axe("tiles", "#individual")
}

// errorMaps looks at the maps in the sixteen tiles: the model that is right is bright all over, the other one the less
// so the farther its columns are to the right, the mean stands below, and the switch shows one colour each again, by
// the same rule.
func (p *page) errorMaps(t *testing.T) {
	t.Helper()
	p.until(`document.querySelectorAll('#individual canvas.tilemap').length === 32`)
	type tile struct {
		Light []float64
		Value string
	}
	const light = `(c, d) => Array.from({length: c.width}, (_, x) => { let t = 0; for (let y = 0; y < c.height; y++) { const k = 4 * (y * c.width + x); t += d[k] + d[k + 1] + d[k + 2] } return t / c.height })`
	tiles := eval[[]tile](p,
		`[...document.querySelectorAll('#individual .tile')].map(e => { const c = e.querySelector('canvas'); return {Light: (`+light+`)(c, c.getContext('2d').getImageData(0, 0, c.width, c.height).data), Value: e.querySelector('.tilevalue').textContent} })`)
	for k, x := range tiles {
		want, even := "0", true
		for i := 1; i < len(x.Light); i++ {
			even = even && x.Light[i] == x.Light[0]
			if k >= 16 && x.Light[i] > x.Light[i-1]+1 {
				t.Errorf("tile %d is brighter at column %d than before, where the error is smaller", k, i)
			}
		}
		if k >= 16 {
			want, even = "0.469", !even
		}
		if x.Value != want || !even {
			t.Errorf("tile %d says %q, want %s; brightness %v", k, x.Value, want, x.Light)
		}
	}
	if !(tiles[0].Light[0] > tiles[16].Light[fieldSide-1]) {
		t.Error("no error is not brighter than the largest one")
	}
	p.press("#individual .tilebar", "values")
	p.until(`document.querySelectorAll('#individual canvas.tilemap').length === 0`)
	for _, card := range []string{"#aggregate", "#individual"} {
		type flat struct{ Value, Light float64 }
		all := eval[[]flat](p, `[...document.querySelectorAll('`+card+` .tile')].map(e => { const c = parseInt(e.querySelector('rect').getAttribute('fill').slice(1), 16); return {Value: +e.querySelector('.tilevalue').textContent, Light: (c >> 16) + (c >> 8 & 255) + (c & 255)} })`)
		slices.SortFunc(all, func(a, b flat) int { return int(math.Copysign(1, a.Value-b.Value)) })
		if lo, hi := all[0], all[len(all)-1]; !(lo.Value < hi.Value) || !(lo.Light > hi.Light) {
			t.Errorf("%s: rmse %v has brightness %v, %v has %v: low is good, and bright", card, lo.Value, lo.Light,
				hi.Value, hi.Light)
		}
	}
	p.press("#individual .tilebar", "error maps")
	p.until(`document.querySelectorAll('#individual canvas.tilemap').length === 32`)
	if words := p.text("#individual .tilewords"); !strings.Contains(words, "horizontal mirror") ||
		!strings.Contains(words, "time runs backwards") {
		t.Errorf("the labels of the tiles are explained as %q", words)
	}
}

// TestFlow picks pixels of the error map by mouse and by keys: exact numbers, arrows and address follow, on one scale
// for both models.
func TestFlow(t *testing.T) {
	t.Parallel()
	p := staged(t, "square", "&i=0&g=90,0,0", true, desktop)
	p.visible(picker)
	p.drag(picker+" .stage", [2]float64{3.5 / fieldSide, 5.5 / fieldSide})
	p.is(`__nero.state.place.pixel.value`, []int{5, 3})
	numbers := func(r, c int) {
		t.Helper()
		g, err := catalog.Parse("D4 x Time")
		if err != nil {
			t.Fatal(err)
		}
		table := p.text("#detail .pixel")
		for m := range 2 {
			f := stagedField(g, m, group.Element{90, 0, 0})
			u, v := f.U()[r*fieldSide+c], f.V()[r*fieldSide+c]
			for _, x := range []float64{u, v, float64(m) * float64(c) / 16} {
				if s := strings.TrimLeft(fmt.Sprintf("%.3f", math.Abs(x)), "-"); x != 0 && !strings.Contains(table, s) {
					t.Errorf("at %d, %d the table says %q, want %s of model %d", r, c, table, s, m)
				}
			}
		}
	}
	numbers(5, 3)
	p.focus(picker)
	p.keys(kb.ArrowRight, kb.ArrowRight, kb.ArrowDown)
	p.is(`__nero.state.place.pixel.value`, []int{6, 5})
	numbers(6, 5)
	p.shift(kb.ArrowUp)
	p.is(`__nero.state.place.pixel.value`, []int{0, 5})
	p.until(`/[?&]px=0,5(&|$)/.test(location.hash)`)
	if n := eval[int](p,
		`document.querySelectorAll('#detail .flowrow:first-child .quiver .arrow.m0').length`); n != 64 {
		t.Errorf("%d arrows, want 8 by 8", n)
	}
	// The block of arrows is around the pixel, within the picture, and its arrows point as the vectors do: row 0,
	// column 5 goes right and up.
	d := eval[[]float64](p,
		`(d => { const [x0, y0, x1, y1] = d.match(/-?[\d.]+/g).slice(0, 4).map(Number); return [x0, y0, x1 - x0, y1 - y0] })(document.querySelector('#detail .flowrow:first-child .arrow.m0[data-at="0,5"]').getAttribute('d'))`)
	if d[0] != 5.5 || d[1] != 0.5 || !(d[2] > 0) || !(d[3] < 0) {
		t.Errorf("the arrow at row 0, column 5 begins and goes like %v", d)
	}
	// One scale: the plain model is right and dark all over, the other one is not.
	px := eval[[2]int](p,
		`[...document.querySelectorAll('#detail .flowrow')].map(r => { const c = r.querySelector('canvas'), d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer); return new Set(d).size })`)
	if px[0] != 1 || px[1] < 8 {
		t.Errorf("%d and %d colours in the error maps", px[0], px[1])
	}
	for _, show := range []string{"vectors", "reference", "error"} {
		p.choose("#detail .flow select", show)
		p.until(fmt.Sprintf(
			`document.querySelector('#detail .flow select').value === %q && document.querySelectorAll('#detail .flowrow canvas').length === 2`, show))
		p.keep("flow-" + show)
	}
	// Another reference is asked for.
	p.choose("header select[aria-label=Reference]", "self")
	p.until(`/reference: self/.test(document.querySelector('#detail').textContent) && /[?&]ref=self/.test(location.hash)`)
	if p.asked(`ref=self`) == 0 {
		t.Error("the reference was not asked for")
	}
	p.axe("flow", "#detail")
	p.reload()
	p.until(`document.querySelector('#detail .pixel') !== null`)
	p.is(`__nero.state.place.pixel.value`, []int{0, 5})
	p.is(`__nero.state.place.reference.value`, "self")
}

// TestFrames shows the pictures of a pair one after the other, by themselves and by hand; who wants no motion goes on
// by one.
func TestFrames(t *testing.T) {
	t.Parallel()
	p := staged(t, "square", "&i=0&g=0,0,0", true, desktop)
	p.press("#input .player", "Picture after")
	p.is(`__nero.state.place.frame.value`, 1)
	p.until(`/[?&]fr=1/.test(location.hash)`)
	after := p.pixels("#input .frames-view canvas")
	p.enter("#input .player", "Picture before")
	p.is(`__nero.state.place.frame.value`, 0)
	if slices.Equal(after, p.pixels("#input .frames-view canvas")) { // while they play, either may be seen
		t.Error("both pictures look alike")
	}
	p.press("#input .player", "Play the pictures")
	p.until(`__nero.state.place.frame.value === 1`)
	p.until(`__nero.state.place.frame.value === 0`)
	p.press("#input .player", "Stop the pictures")
	p.pause(700)
	still := eval[int](p, `__nero.state.place.frame.value`)
	p.steady(`__nero.state.place.frame.value`, still)
	q := staged(t, "square", "&i=0&g=0,0,0", true, screen{width: 1440, height: 900, scheme: "light", reduced: true})
	q.press("#input .player", "Play the pictures")
	q.is(`__nero.state.place.frame.value`, 1)
	q.pause(900)
	q.steady(`__nero.state.place.frame.value`, 1)
}

// TestReference compares with the label, or with what a model's own answers agree on; what that is worth is said.
func TestReference(t *testing.T) {
	t.Parallel()
	p := staged(t, "shifts", "&i=0&g=0,0", true, desktop)
	if strings.Contains(p.text("#main"), "self-agreement") {
		t.Error("a consensus is spoken of where there is none")
	}
	p.choose("header select[aria-label=Reference]", "consensus")
	p.is(`__nero.state.data.run.value.metric_list[__nero.state.place.metric.value].name`, "conf_iou@consensus")
	p.until(`/self-agreement, not correctness/.test(document.querySelector('#aggregate').textContent)`)
	p.until(`/40 % of the elements — weak.*60 % of the elements/.test(document.querySelector('#individual .caution')?.textContent ?? '')`)
	if n := strings.Count(p.text("#individual .caution"), "weak"); n != 1 {
		t.Errorf("%d models are called weak, want the first one: %q", n, p.text("#individual .caution"))
	}
	if text := p.text("#detail"); !strings.Contains(text, "reference (consensus)") {
		t.Errorf("the detail does not say what it compares with: %q", text)
	}
	p.until(`/[?&]ref=consensus/.test(location.hash)`)
	p.keep("consensus")
}

// TestFamily puts all models beside each other on one scale: the widths at half maximum grow.
func TestFamily(t *testing.T) {
	t.Parallel()
	p := staged(t, "shifts", "&i=0&g=0,0", true, desktop)
	p.enter("#aggregate", "all models")
	p.until(`document.querySelectorAll('#aggregate .family .member').length === 3`)
	p.until(`/[?&]all=1/.test(location.hash)`)
	widths := eval[[]float64](p, `[...document.querySelectorAll('#aggregate [data-fwhm]')].map(e => +e.dataset.fwhm)`)
	// 2.355 deviations of 4 px, between elements 4 px apart
	if len(widths) != 3 || !slices.IsSorted(widths) || !(widths[0] > 8 && widths[0] < 11) {
		t.Errorf("widths %v", widths)
	}
	if !strings.Contains(p.text("#aggregate .familytable"), "≥") {
		t.Error("the widest map does not say that it goes on")
	}
	p.press("#aggregate .family", "wide")
	p.is(`__nero.state.place.a.value`, 2)
	p.choose("#aggregate select[aria-label=Slice]", "1")
	p.until(`/n = 3/.test(document.querySelector('#aggregate').textContent)`)
	p.keep("family")
	p.axe("all models", "#aggregate")
}

// TestStagedLooks looks at both tasks in light and dark, on a phone and on a wide screen, with and without models.
func TestStagedLooks(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]screen{
		"light": desktop,
		"night": {width: 360, height: 740, scheme: "dark", touch: true},
		"wide":  {width: 2560, height: 1300, scheme: "dark"},
		"half":  {width: 768, height: 1024, scheme: "light"},
	} {
		for _, run := range []string{"shifts", "square"} {
			t.Run(name+" "+run, func(t *testing.T) {
				t.Parallel()
				p := staged(t, run, "&i=1", true, s)
				p.keep("staged-" + run + "-" + name)
				p.fits()
				// Maps and tiles take the width of their cards.
				if share := eval[float64](p, `(c => { const all = [...c.querySelectorAll('.plot canvas, .tilegrid')].map(e => e.getBoundingClientRect());
					return (Math.max(...all.map(r => r.right)) - Math.min(...all.map(r => r.left))) / c.getBoundingClientRect().width; })(document.querySelector('#aggregate .body'))`); share < 0.7 {
					t.Errorf("the plots take %.0f%% of the width of their card", 100*share)
				}
				p.axe(run + ", " + name)
			})
		}
	}
}

// luminance is how bright a colour is to eyes, nearly.
const luminance = `((r, g, b) => 0.2126 * r + 0.7152 * g + 0.0722 * b)`

// TestOneColour holds colours against values: bright is good in maps, tiles, their scales and the scatter alike,
// whichever way the metric runs.
func TestOneColour(t *testing.T) {
	t.Parallel()
	// How bright the two ends of a scale of colours are.
	const ends = `(e => { const all = (e.matches('svg') ? [...e.querySelectorAll('stop')].map(x => getComputedStyle(x).stopColor) : getComputedStyle(e).backgroundImage.match(/rgb\([^)]*\)/g)).map(c => ` + luminance + `(...c.match(/\d+/g).map(Number))); return [all[0], all.at(-1)]; })`
	for run, higher := range map[string]bool{"shifts": true, "square": false} {
		t.Run(run, func(t *testing.T) {
			t.Parallel()
			p := staged(t, run, "&i=0", true, desktop)
			p.is(`__nero.state.place.metricDoc.value.better === 'higher'`, higher)
			p.until(`document.querySelector('#samples .key-ramp') !== null && document.querySelector('#aggregate .ramp') !== null`)
			for _, scale := range []string{"#aggregate .ramp", "#samples .key-ramp"} {
				e := eval[[]float64](p, ends+`(document.querySelector(`+quote(scale)+`))`)
				if (e[1] > e[0]) != higher {
					t.Errorf("%s goes from %.0f to %.0f, and higher is better: %v", scale, e[0], e[1], higher)
				}
			}
			p.bright(t, run == "square")
		})
	}
	t.Run("digits", func(t *testing.T) {
		t.Parallel()
		looked(t, "", desktop).bright(t, true)
	})
}

// bright holds the dots of the worst and the best sample against each other; apart says that their values are not
// nearly the same.
func (p *page) bright(t *testing.T, apart bool) {
	t.Helper()
	const dot = `(() => { const [x, y] = document.querySelector('#samples .plane-pick').getAttribute('transform').match(/-?[\d.]+/g).map(Number), c = document.querySelector('#samples .plane canvas'), r = c.getBoundingClientRect();
		return ` + luminance + `(...c.getContext('2d').getImageData(Math.floor(x * c.width / r.width), Math.floor(y * c.height / r.height), 1, 1).data.slice(0, 3)); })()`
	of := map[string]float64{}
	for _, which := range []string{"worst", "best"} {
		p.press("#individual .which", which)
		p.settled()
		p.drawn()
		of[which] = eval[float64](p, dot)
	}
	if of["best"] < of["worst"] || apart && of["best"] == of["worst"] {
		t.Errorf("the best sample has a dot of brightness %.1f, the worst one of %.1f", of["best"], of["worst"])
	}
}

// TestStoredTasks works without models: boxes as they were recorded, and the word that fields are not.
func TestStoredTasks(t *testing.T) {
	t.Parallel()
	p := staged(t, "square", "&i=0", false, desktop)
	p.until(`/Fields are not stored/.test(document.querySelector('#detail').textContent)`)
	p.focus(tileView + " [aria-checked=true]")
	p.keys(kb.ArrowLeft)
	p.is(`__nero.state.place.g.value`, []float64{0, 1, 0})
	q := staged(t, "shifts", "&i=0&g=0,0", false, desktop)
	q.until(`document.querySelectorAll('#detail .found').length === 6`)
	q.focus(mapView)
	q.keys(kb.ArrowRight)
	q.is(`__nero.state.place.g.value`, []float64{4, 0}) // the next element of the plan
	q.until(`__nero.state.data.recordedBoxes.state.value.value?.element === 18`)
}

// TestStagedReport opens both tasks from a file: pictures, recorded boxes and what the data say are in it, fields are
// not and it says so.
func TestStagedReport(t *testing.T) {
	t.Parallel()
	stagedServer(t, true)
	sh, err := shelf.Open(t.Context(), []string{filepath.Join(stage.dir, "shifts"), filepath.Join(stage.dir, "square")},
		shelf.Options{Version: "staged", Now: time.Now, Probe: stagedProbe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sh.Close() })
	file := func(id string) string {
		run, err := sh.Run(id)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), id+".html")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := handout.Write(t.Context(), f, handout.Source{Run: run, Files: web.Files()},
			handout.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return fromDisk(name)
	}
	p := open(t, file("shifts"), desktop)
	p.until(`document.querySelectorAll('#detail .found').length === 6`)
	p.focus(mapView)
	p.keys(kb.ArrowRight)
	p.is(`__nero.state.place.g.value`, []float64{4, 0})
	want := stagedBoxes(&job0, 0, eval[int](p, `__nero.state.place.sample.value`), group.Element{4, 0})[0]
	p.until(fmt.Sprintf(`document.querySelector('#detail .boxes-table tbody td').textContent === %q`,
		fmt.Sprintf("%.3f", want.Score)))
	// The key object of the data is in the file too, so overlaps are known; what was fed is drawn, but for the photo
	// around it.
	p.until(`document.querySelectorAll('#detail .refbox').length === 2 && document.querySelectorAll('#detail .crop canvas').length === 2`)
	p.until(`/^0\.[0-9]{3}$/.test(document.querySelector('#detail .boxes-table tbody td:nth-of-type(2)').textContent)`)
	p.press("#aggregate", "all models")
	p.until(`document.querySelectorAll('#aggregate .family .member').length === 3`)
	p.keep("report-shifts")
	p.quiet()
	q := open(t, file("square"), desktop)
	q.until(`/Fields are not stored, and a file runs no models/.test(document.querySelector('#detail')?.textContent ?? '')`)
	q.focus(tileView + " [aria-checked=true]")
	q.keys(kb.ArrowDown)
	q.is(`__nero.state.place.g.value`, []float64{180, 1, 0})
	q.until(`document.querySelector('#input .frameno')?.textContent === '1 / 2'`)
	q.enter("#input .player", "Picture after")
	q.is(`__nero.state.place.frame.value`, 1)
	q.keep("report-square")
	q.quiet()
}

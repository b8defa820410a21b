package e2e

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"nero/internal/slow"
)

// spatial opens one of the runs in space and waits until it is drawn.
func spatial(t *testing.T, live bool, run, query string, s screen) *page {
	t.Helper()
	p := open(t, at(spaceServer(t, live), "/run/"+run+"?v=1"+query), s)
	p.drawnIn()
	return p
}

// drawnIn waits until the plots of a run are drawn.
func (p *page) drawnIn() {
	p.t.Helper()
	for _, v := range views {
		p.visible(v)
	}
	p.until(`document.querySelector('#aggregate .plot svg') !== null`)
	p.until(`document.querySelector('#individual [role=slider], #individual [role=application]') !== null`)
}

// close wants the needle at an element, but for rounding.
func (p *page) at(want ...float64) {
	p.t.Helper()
	p.until(fmt.Sprintf(
		`(g => g.length === %d && [%s].every((v, k) => Math.abs(v - g[k]) < 0.02))(__nero.state.place.g.value)`, len(want),
		strings.Trim(strings.ReplaceAll(fmt.Sprint(want), " ", ", "), "[]")))
}

// disc is the drawing of a plane on a card.
func disc(card, plane string) string { return fmt.Sprintf(`%s svg[data-plane=%q]`, card, plane) }

// fallback is a page without WebGL.
const fallback = `{const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return /webgl/.test(kind) ? null : get.call(this, kind, ...more); };}`

// TestDiscs goes to rotations by mouse and by keys, on a server that answers live and on one that shows what is stored.
func TestDiscs(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	p := spatial(t, true, "clouds", "&i=2", desktop)
	p.live()
	if n := eval[int](p, `document.querySelectorAll('#individual svg[data-plane]').length`); n != 6 {
		t.Errorf("%d discs of two models, want 6", n)
	}
	xy := disc("#individual", "xy")
	p.drag(xy, [2]float64{0.75, 0.5})
	p.at(90, 0, 0)
	p.drag(xy, [2]float64{0.75, 0.5}, [2]float64{0.6, 0.3}, [2]float64{0.5, 0.25})
	p.at(0, 90, 0)
	p.drag(disc("#individual", "yz"), [2]float64{0.5, 0.9})
	p.at(0, 0, -144)
	// By keys: the axis and the angle, a degree at a time, far with Shift.
	p.focus(disc("#individual", "xz"))
	p.keys(kb.Home)
	p.at(0, 0, 0)
	for range 3 {
		p.shift(kb.ArrowUp)
	}
	p.at(0, 0, -30) // in the direction of the last axis
	p.shift(kb.ArrowLeft)
	p.at(30*math.Sin(math.Pi/18), 0, -30*math.Cos(math.Pi/18))
	p.keys(kb.ArrowDown)
	p.at(29*math.Sin(math.Pi/18), 0, -29*math.Cos(math.Pi/18))
	if text := p.attr(disc("#individual", "xz"), "aria-valuetext"); !strings.Contains(text,
		"29.0° about (0.17, 0.00, −0.98)") || !strings.Contains(text, "plain") {
		t.Errorf("the slider says %q", text)
	}
	// Buttons act after what is there; a typed rotation is one.
	p.keys(kb.Home)
	p.at(0, 0, 0)
	p.press("#individual", "z +90°")
	p.at(0, 0, 90)
	p.press("#individual", "z +90°")
	p.at(0, 0, 180)
	p.write(`#individual .typed`, "60 about -y")
	p.keys(kb.Enter)
	p.at(0, -60, 0)
	// One plane, large; the other views are of one menu.
	p.press("#individual", "xz")
	p.until(`document.querySelectorAll('#individual svg[data-plane]').length === 2 && document.querySelectorAll('#aggregate svg[data-plane="xy"]').length === 0`)
	p.press("#aggregate", "all planes")
	// The tooltip names the element under the pointer and gives its value.
	p.overAt(disc("#aggregate", "xy"), 0.5, 0.5)
	p.until(`/identity/.test(document.querySelector('#aggregate .tip')?.textContent ?? '')`)

	q := spatial(t, false, "clouds", "&i=2", desktop)
	q.drag(disc("#individual", "xy"), [2]float64{0.74, 0.52})
	q.at(90, 0, 0)
	q.focus(disc("#individual", "xy"))
	q.keys(kb.ArrowLeft, kb.ArrowUp)
	q.at(120*math.Cos(math.Pi/12), 120*math.Sin(math.Pi/12), 0)
	if text := q.text("#individual .status"); !strings.Contains(text, "recorded") {
		t.Errorf("the status is %q", text)
	}
	// The worst elements are a table of links.
	q.click("#individual details.worst summary")
	q.click("#individual details.worst tbody tr:first-child .link")
	q.until(`Math.abs(Math.hypot(...__nero.state.place.g.value) - 150) < 1`)
}

// TestDiscsAreDrawn compares the colours of the discs with the values: an element where it belongs, and one colour for
// the model that is flat.
func TestDiscsAreDrawn(t *testing.T) {
	t.Parallel()
	p := spatial(t, false, "clouds", "&i=0", desktop)
	type colour [3]int
	pick := func(k int, plane string, x, y float64) colour {
		return eval[colour](p,
			fmt.Sprintf(`(c => [...c.getContext('2d').getImageData(Math.floor(%v * c.width), Math.floor(%v * c.height), 1, 1).data].slice(0, 3))(document.querySelectorAll('#individual svg[data-plane=%q]')[%d].parentElement.querySelector('canvas'))`, x, y, plane, k))
	}
	p.until(`document.querySelector('#individual canvas') !== null`)
	p.drawn()
	middle, right, up := pick(0, "xy", 0.5, 0.5), pick(0, "xy", 0.92, 0.5), pick(0, "xy", 0.5, 0.08)
	if middle == right || right == up || middle == up {
		t.Errorf("identity %v, turned about x %v and about y %v: the colours are alike", middle, right, up)
	}
	if middle[0] < right[0] {
		t.Errorf("the identity %v is not brighter than 165° about x %v", middle, right)
	}
	for _, plane := range []string{"xy", "xz", "yz"} {
		if a, b := pick(1, plane, 0.5, 0.5), pick(1, plane, 0.2, 0.4); a != b {
			t.Errorf("the flat model has %v and %v in %s", a, b, plane)
		}
	}
}

// colours is how many colours the view in space shows: few if nothing is drawn.
const colours = `(() => { const v = document.querySelector('#input .view3d canvas'), c = document.createElement('canvas'); c.width = c.height = 160; const g = c.getContext('2d', {willReadFrequently: true}); g.drawImage(v, 0, 0, 160, 160); const d = new Uint32Array(g.getImageData(0, 0, 160, 160).data.buffer); return new Set(d).size; })()`

// shape is a picture of the view in space as text, to see that it changes.
const shape = `(() => { const v = document.querySelector('#input .view3d canvas'), c = document.createElement('canvas'); c.width = c.height = 80; c.getContext('2d').drawImage(v, 0, 0, 80, 80); return c.toDataURL(); })()`

// TestSpace turns a cloud and what is seen of it, with WebGL and without.
func TestSpace(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"webgl": "", "canvas": fallback} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := desktop
			s.script = script
			p := spatial(t, true, "clouds", "&i=2", s)
			p.live()
			p.until(`document.querySelector('#input .view3d canvas') !== null`)
			if name == "webgl" && eval[string](p, `document.querySelector('#input .view3d').dataset.gl`) != "true" {
				t.Skip("this browser has no WebGL: the viewer was not tested with it")
			}
			p.until(colours + ` > 20`)
			if name == "canvas" {
				if p.asked(`viewer3d`) != 0 || !strings.Contains(p.text("#input"), "drawn without WebGL") {
					t.Errorf("without WebGL the viewer was asked for %d times: %s", p.asked(`viewer3d`),
						p.text("#input"))
				}
			} else if p.asked(`viewer3d\.js`) != 1 {
				t.Errorf("the viewer was asked for %d times", p.asked(`viewer3d\.js`))
			}
			before := eval[string](p, shape)
			const v = "#input .view3d"
			// A drag looks from elsewhere and changes nothing that is fed.
			p.drag(v, [2]float64{0.4, 0.5}, [2]float64{0.6, 0.5}, [2]float64{0.7, 0.6})
			p.until(shape + ` !== ` + quote(before))
			p.at(0, 0, 0)
			p.focus(v)
			p.keys("0")
			p.until(shape + ` === ` + quote(before))
			p.keys("+", kb.ArrowLeft)
			p.until(shape + ` !== ` + quote(before))
			p.keys("0")
			// In the mode turn it moves the element, and the models are asked.
			p.keys("t")
			p.until(`document.querySelector('#input .view3d.turn') !== null`)
			p.keys(kb.ArrowRight)
			p.until(`Math.abs(Math.hypot(...__nero.state.place.g.value) - 5) < 0.1`)
			asked := p.asked(`/probe\?`)
			p.drag(v, [2]float64{0.5, 0.5}, [2]float64{0.6, 0.5}, [2]float64{0.8, 0.5})
			p.until(`Math.hypot(...__nero.state.place.g.value) > 20`)
			p.until(`document.querySelector('#individual .status .tag.live') !== null`)
			if p.asked(`/probe\?`) <= asked {
				t.Error("no model was asked while the cloud was turned")
			}
			p.until(shape + ` !== ` + quote(before))
			// The disc and the view are linked the other way as well.
			now := eval[string](p, shape)
			p.drag(disc("#individual", "xy"), [2]float64{0.9, 0.5})
			p.at(144, 0, 0)
			p.until(shape + ` !== ` + quote(now))
			// The twin in words and numbers.
			if text := p.attr(v, "aria-label"); !strings.Contains(text, "400 points") ||
				!strings.Contains(text, "144") || !strings.Contains(text, "z from") {
				t.Errorf("the view says %q", text)
			}
			p.click("#input details summary")
			p.until(`document.querySelectorAll('#input details tbody tr').length === 50`)
			p.keep("space-" + name)
		})
	}
}

// TestLostContext goes on without WebGL when it is taken away.
func TestLostContext(t *testing.T) {
	t.Parallel()
	s := desktop
	s.script = `{const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function (kind, ...more) { const c = get.call(this, kind, ...more); if (kind === 'webgl2' && this.isConnected) window.taken = c; return c; };}`
	p := spatial(t, true, "clouds", "&i=2", s)
	p.until(`document.querySelector('#input .view3d canvas') !== null`)
	if p.attr("#input .view3d", "data-gl") != "true" {
		t.Skip("this browser has no WebGL")
	}
	p.until(`window.taken !== undefined && ` + colours + ` > 20`)
	eval[bool](p, `(window.taken.getExtension('WEBGL_lose_context').loseContext(), true)`)
	p.until(`document.querySelector('#input .view3d').dataset.gl === 'false' && ` + colours + ` > 20`)
}

// TestMolecules shows energies and forces beside what they are compared with.
func TestMolecules(t *testing.T) {
	t.Parallel()
	p := spatial(t, true, "molecules", "&i=1&g=0,0,0", desktop)
	p.live()
	p.until(`document.querySelector('#detail .outputs tbody tr') !== null`)
	type row []string
	cells := func(table string) []row {
		return eval[[]row](p,
			fmt.Sprintf(`[...document.querySelectorAll(%s)].map(r => [...r.children].map(c => c.textContent.trim()))`,
				quote(table+" tbody tr")))
	}
	e := cells("#detail .outputs")
	if len(e) != 1 || e[0][0] != "energy in eV" || e[0][2] != e[0][3] || e[0][1] == e[0][3] {
		t.Errorf("energies %q: model B is right and A is not", e)
	}
	f := cells("#detail .perrow")
	if len(f) != 5 || f[0][0] != "O 0" || f[3][0] != "C 3" {
		t.Fatalf("forces %q", f)
	}
	for _, r := range f {
		if r[2] != "0" || r[4] != r[5] || r[1] == "0" {
			t.Errorf("forces of %s: %q", r[0], r)
		}
	}
	// The worst inputs are seen as they are and moved.
	eval[bool](p, `(document.getElementById('explore').scrollIntoView(), true)`)
	p.until(`[...document.querySelectorAll('.gallery li')].some(li => {
		const [a, b] = li.querySelectorAll('.case-pictures img');
		return b?.naturalWidth > 0 && a.src !== b.src && /\?g=/.test(b.src);
	})`)
	p.until(colours + ` > 20`)
	with := eval[string](p, shape)
	p.click("#input .inspace .switch input")
	p.until(shape + ` !== ` + quote(with))
	p.choose(`#input select`, "error")
	p.until(`/error of A/.test(document.querySelector('#input .axisnote').textContent)`)
	// Turned, the reference turns along.
	p.press("#individual", "z +90°")
	p.until(`Math.abs(__nero.state.place.g.value[2] - 90) < 0.01 && document.querySelector('#detail .behind') === null`)
	p.until(`(r => r && r !== ` + quote(f[0][5]) +
		`)([...document.querySelectorAll('#detail .perrow tbody tr')][0]?.lastElementChild.textContent.trim())`)
}

// TestAngle goes through elements by the angle of their rotation.
func TestAngle(t *testing.T) {
	t.Parallel()
	p := spatial(t, false, "haar", "&i=2", desktop)
	const slider = "#individual [role=slider]"
	p.focus(slider)
	p.keys(kb.Home)
	p.at(0, 0, 0, 0)
	last := 0.0
	for range 4 {
		p.keys(kb.ArrowRight)
		now := eval[float64](p, `Math.hypot(...__nero.state.place.g.value.slice(0, 3))`)
		if !(now >= last-1e-6) {
			t.Errorf("from %v° to %v°", last, now)
		}
		last = now
	}
	p.keys(kb.End)
	if now := eval[float64](p, `Math.hypot(...__nero.state.place.g.value.slice(0, 3))`); now < 170 {
		t.Errorf("the last element turns by %v°", now)
	}
	if text := p.attr(slider, "aria-valuetext"); !strings.Contains(text, "about") {
		t.Errorf("the slider says %q", text)
	}
	p.drag("#individual .plot svg", [2]float64{0.5, 0.5})
	p.until(`(w => w > 45 && w < 135)(Math.hypot(...__nero.state.place.g.value.slice(0, 3)))`)
	// A median and a worst line for each model, and apart for inverted elements.
	if n := eval[int](p, `document.querySelectorAll('#individual .line.worst').length`); n != 4 {
		t.Errorf("%d lines of the worst elements, want 4", n)
	}
}

// TestRanks has the worst permutation first.
func TestRanks(t *testing.T) {
	t.Parallel()
	p := spatial(t, true, "sets", "&i=1", desktop)
	p.live()
	const slider = "#individual [role=slider]"
	p.focus(slider)
	p.keys(kb.End)
	p.is(`__nero.state.place.here.value`, "identity")
	for range 12 {
		p.keys(kb.ArrowLeft)
	}
	first := eval[string](p, `__nero.state.place.here.value`)
	if !strings.Contains(first, "and 1 rows more") {
		t.Errorf("the worst element is %q", first)
	}
	p.click("#individual details.worst summary")
	table := eval[[][]string](p,
		`[...document.querySelectorAll('#individual details.worst tbody tr')].map(r => [...r.children].map(c => c.textContent.trim()))`)
	if len(table) != 10 || table[0][0] != first || table[0][1] != "cycle" ||
		!slices.ContainsFunc(table, func(r []string) bool { return r[0] == "(0 1)" && r[1] == "transposition" }) {
		t.Errorf("the table is %q", table)
	}
	// Elements of nine coordinates are one number in the address.
	p.until(`/[?&]g=\d+(&|$)/.test(location.hash)`)
	p.click(`#individual details.worst [title="Go to (0 1)"]`)
	p.is(`__nero.state.place.here.value`, "(0 1)")
	p.until(`/^y/.test(document.querySelector('#detail .outputs tbody tr')?.textContent ?? '')`)
	if n := eval[int](p, `document.querySelectorAll('#input .graph line').length`); n != 8 {
		t.Errorf("%d edges are drawn, want 8", n)
	}
}

// TestOverTime shows sound, the answers over it, and where one of them warms up.
func TestOverTime(t *testing.T) {
	t.Parallel()
	p := spatial(t, true, "speech", "&i=0&g=800", desktop)
	p.live()
	p.until(`document.querySelector('#input .wave path') !== null && document.querySelector('#detail .wave .trace.m1') !== null`)
	if text := p.text("#detail figcaption"); !strings.Contains(text,
		"speech, 25 frames; A leaves the reference by 0.300 from frame 0 to 3") {
		t.Errorf("the answers are %q", text)
	}
	if text := p.text("#input .axisnote"); !strings.Contains(text, "50 ms") {
		t.Errorf("the shift is said as %q", text)
	}
	p.focus(needle)
	p.keys(kb.ArrowRight)
	p.at(801)
}

// TestGenerators has a line for each generator, and a map of velocities.
func TestGenerators(t *testing.T) {
	t.Parallel()
	p := spatial(t, true, "lines", "&i=0", desktop)
	if n := eval[int](p, `document.querySelectorAll('#individual .lanes figure').length`); n != 2 {
		t.Errorf("%d lines, want one for the turn and one for the scale", n)
	}
	p.drag(`#individual .lanes figure:nth-child(2) svg`, [2]float64{0.9, 0.5})
	p.until(`__nero.state.place.g.value[0] === 0 && __nero.state.place.g.value[1] > 1.3`)
	q := spatial(t, true, "flow", "&i=0", desktop)
	q.focus("#individual [role=application]")
	q.keys(kb.ArrowRight)
	q.until(`__nero.state.place.g.value[0] > 0 && __nero.state.place.g.value[1] === 0`)
	q.until(`document.querySelector('#input .player') !== null && document.querySelectorAll('#detail canvas').length > 0`)
}

// TestInSpaceEverywhere looks at the runs in light and dark, narrow and wide, and asks axe-core about them.
func TestInSpaceEverywhere(t *testing.T) {
	t.Parallel()
	for run, s := range map[string]screen{
		"clouds":    {width: 360, height: 740, scheme: "light", touch: true},
		"haar":      {width: 2560, height: 1440, scheme: "dark"},
		"molecules": {width: 360, height: 740, scheme: "dark", touch: true},
		"sets":      {width: 2560, height: 1440, scheme: "light"},
		"speech":    {width: 360, height: 740, scheme: "dark", touch: true},
		"lines":     {width: 1440, height: 900, scheme: "dark"},
		"flow":      {width: 2560, height: 1440, scheme: "light"},
	} {
		t.Run(run, func(t *testing.T) {
			t.Parallel()
			p := spatial(t, true, run, "&i=2", s)
			p.live()
			p.until(`document.querySelector('#input .view3d canvas, #input .graph, #input .wave, #input canvas') !== null`)
			p.visible(`#input .view3d canvas, #input .graph, #input .wave, #input canvas`)
			p.fits()
			p.axe("run in space, " + run)
			p.keep("in-space-" + run)
		})
	}
	p := spatial(t, true, "clouds", "&i=2", screen{width: 2560, height: 1440, scheme: "dark"})
	p.live()
	p.axe("clouds, wide and dark")
	p.keep("in-space-clouds-wide")
}

// TestInSpaceReport turns a cloud in a report from disk, where there are neither models nor WebGL.
func TestInSpaceReport(t *testing.T) {
	t.Parallel()
	r, err := http.Get(spaceServer(t, true) + "/api/v1/runs/clouds/report")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", r.StatusCode, err)
	}
	file := filepath.Join(t.TempDir(), "clouds.html")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, fromDisk(file), desktop)
	p.drawnIn()
	p.until(`document.querySelector('#input .view3d canvas') !== null && ` + colours + ` > 20`)
	before := eval[string](p, shape)
	p.drag(disc("#individual", "xy"), [2]float64{0.75, 0.5})
	p.at(90, 0, 0)
	p.until(shape + ` !== ` + quote(before))
	p.click("#input details summary")
	p.until(`document.querySelector('#input details tbody tr') !== null`)
	// A quarter turn about x takes y to z: the reader's own arithmetic.
	turned := eval[[]float64](p,
		`[...document.querySelector('#input details tbody tr').children].slice(1).map(c => Number(c.textContent.replace('−', '-')))`)
	want := cloud(eval[int](p, `__nero.state.place.sample.value`)).Row(0)
	for k, v := range []float64{want[0], -want[2], want[1]} {
		if math.Abs(turned[k]-v) > 1e-3 {
			t.Errorf("point 0 lies at %v, want %v turned about x", turned, want)
			break
		}
	}
	p.axe("report in space")
	p.quiet()
	p.keep("in-space-report")
}

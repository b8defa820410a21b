package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"nero/internal/slow"
)

// TestDamaged shows the runs that can be shown, and names those that cannot.
func TestDamaged(t *testing.T) {
	t.Parallel()
	good := own(t, "good")
	dir := filepath.Dir(good)
	// A manifest that was cut, and a shard with other bytes.
	cut := filepath.Join(dir, "cut <b>run & <i>")
	if err := os.CopyFS(cut, os.DirFS(good)); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(cut, "manifest.json")
	b, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifest, b[:len(b)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	p := open(t, at(serve(t, dir), "/runs"), desktop)
	p.until(`document.querySelectorAll('.run-card').length === 1 && document.querySelectorAll('.broken li').length === 1`)
	if text := p.text(".broken"); !strings.Contains(text, "cut <b>run & <i>") ||
		!strings.Contains(text, "manifest.json") {
		t.Errorf("what is said of the damaged run: %q", text)
	}
	p.keep("runs-damaged")
	p.axe("the page of runs with a damaged one")
	p.narrow()
	p.enter(".run-card", "good")
	p.ready()
}

// TestPlannedAudit shows a planned audit before it is made: what is missing, what people can type, and, without being
// loaded anew, the audit as soon as it is made.
func TestPlannedAudit(t *testing.T) {
	t.Parallel()
	bin, _ := program(t)
	work := t.TempDir()
	pictures(t, filepath.Join(work, "photos"), 12, 16, 3)
	model(t, filepath.Join(work, "m.onnx"), "scores", 16, 1)
	nero := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), bin, args...)
		c.Dir = work
		if out, err := c.CombinedOutput(); err != nil {
			if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 1 { // a verdict
				t.Fatalf("nero %s: %v\n%s", strings.Join(args, " "), err, out)
			}
		}
	}
	nero("plan", "-q", "--audit", "m.onnx", "--data", "photos", "--group", "C4", "--invariant",
		"-o", "swept")
	p := open(t, serve(t, filepath.Join(work, "swept")), desktop)
	p.until(`document.querySelector('.planned .run-type')?.textContent.includes('nero merge swept')`)
	if text := p.text(".planned"); !strings.Contains(text, "0 of 1 shard") ||
		!strings.Contains(text, "nero shard swept --index 0") {
		t.Errorf("%q", text)
	}
	p.keep("runs-planned-audit")
	p.axe("a planned audit")
	p.narrow()
	nero("shard", "-q", "swept", "--index", "0")
	p.until(`document.querySelector('.planned')?.textContent.includes('Its sweep is complete')`)
	nero("merge", "-q", "swept")
	p.until(`location.hash.startsWith('#/findings/swept') && document.querySelector('main h2') !== null`)
}

// TestUnfinished shows a run that was killed, goes on with it from the page, stops it, and lets the command line finish
// it: the page fills in without being loaded anew. The model answers what the test lets through, so that each of these
// happens amid the run on any machine.
func TestUnfinished(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	const n, elements = 150, 360
	bin, _ := program(t)
	work := t.TempDir()
	model, address := pace(t, 16)
	pictures(t, filepath.Join(work, "photos"), n, 16, 3)
	dir := filepath.Join(work, "half")
	var errs bytes.Buffer
	start := func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), bin, "run", "-q", address, "--data", "photos", "--group", "SO(2)",
			"--orbit", strconv.Itoa(elements), "--resample", "lanczos", "--metrics", "confidence", "-w", "1",
			"-o", "half")
		c.Dir, c.Stderr = work, &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	model.let(40 * elements)
	c := start()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		shards, err := filepath.Glob(filepath.Join(dir, "shards-*", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		if len(shards) >= 8 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the run did not begin\n%s", errs.String())
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	p := open(t, at(serve(t, work), "/run/half?v=1"), desktop)
	p.visible("#aggregate")
	p.until(`/^Unfinished: \d+ of 150 samples/.test(document.querySelector('.banner')?.textContent.trim() ?? '')`)
	p.ready()
	done := func() int { return eval[int](p, `__nero.state.data.run.value.state.done`) }
	first := done()
	if first < 8 || first > 40 {
		t.Errorf("%d samples of a run that was killed", first)
	}
	p.keep("unfinished")
	p.axe("an unfinished run")
	eval[bool](p, `(window.seen = [], __nero.state.data.opened.state.subscribe(v => v.value && window.seen.at(-1) !== v.value.state.done && window.seen.push(v.value.state.done)), true)`)
	model.let(60 * elements)
	p.press(".banner", "Go on")
	p.until(fmt.Sprintf(`(__nero.state.tasks.progress.value?.done ?? 0) > %d`, first))
	p.enter(".banner", "Stop")
	model.let(20 * elements) // what is under way is finished first
	p.until(`__nero.state.tasks.progress.value?.running === false`)
	stopped := eval[int](p, `__nero.state.tasks.progress.value.done`)
	// Another program goes on with it: the page says which, and offers neither to start nor to stop it.
	eval[bool](p, `(window.told = [], new MutationObserver(() => { const b = document.querySelector('.banner.info'); b && window.told.push([b.querySelector('span').textContent, b.querySelectorAll('button').length]); }).observe(document.querySelector('.banners'), { subtree: true, childList: true, characterData: true }), true)`)
	model.let(20 * elements)
	c = start()
	p.until(`window.told.some(([t]) => /^Computing \(nero run\): [\d,]+ of 150 samples/.test(t))`)
	model.let(2 * n * elements)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	p.until(`__nero.state.data.run.value.state.complete && document.querySelector('.banner progress') === null`)
	p.until(`__nero.state.data.samples.value.done === 150 && [...(__nero.state.data.stats[0].value?.mean ?? [NaN])].every(v => v === v)`)
	p.until(`document.querySelector('#aggregate .legend .count')?.textContent === 'n = 150'`)
	if eval[int](p, `window.told.filter(([t, n]) => /nero run/.test(t) && n > 0).length`) != 0 {
		t.Errorf("while another program computed: %s", eval[string](p, `JSON.stringify(window.told)`))
	}
	if _, err := os.Stat(filepath.Join(dir, ".lock")); err == nil {
		t.Error("the run left a lock")
	}
	t.Logf("killed at %d, stopped at %d, shown in between: %s", first, stopped,
		eval[string](p, `window.seen.join(' ')`))
	if n := eval[int](p, `window.seen.length`); n < 2 {
		t.Errorf("the page showed %d states of the run", n)
	}
	p.is(`__nero.state.place.sample.value`, 0) // what was looked at is still looked at
}

// TestSlowLayout computes a layout that takes a while: progress is shown, and it can be cancelled.
func TestSlowLayout(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	model(t, filepath.Join(work, "a.onnx"), "scores", 8, 1)
	pictures(t, filepath.Join(work, "photos"), 1500, 8, 3)
	command(t, work, "run", "-q", "a.onnx", "--data", "photos", "--group", "C4", "--metrics", "confidence", "-o",
		"many")
	p := open(t, at(serve(t, filepath.Join(work, "many")), "/run/many?v=1"), desktop)
	p.ready()
	p.choose(`#samples select[aria-label="Layout"]`, "tsne")
	p.visible("#samples .waiting progress")
	p.keep("layout-progress")
	p.press("#samples .waiting", "Cancel")
	p.until(`document.querySelector('#samples .waiting .trouble')?.textContent.includes('cancelled')`)
	p.press("#samples .waiting", "Show PCA instead")
	p.until(`__nero.state.choice.embedding.value.method === 'pca' && document.querySelector('#samples .waiting') === null`)
	// The table holds thousands of rows and only draws those in sight.
	p.is(`document.querySelector('#table [role=grid]').getAttribute('aria-rowcount')`, "1501")
	if rows := eval[int](p, `document.querySelectorAll('#table tbody tr[id]').length`); rows > 60 {
		t.Errorf("%d rows are drawn", rows)
	}
	p.focus("#table [role=grid]")
	p.keys(kb.End)
	p.until(`document.querySelector('#table tr.active')?.getAttribute('aria-rowindex') === '1501'`)
	// File names with anything in them are text.
	if eval[int](p, `document.querySelectorAll('#table td b').length`) != 0 ||
		!strings.Contains(p.text("#table tbody"), "ñ数 & <b>") {
		t.Errorf("the names in the table: %.200q", p.text("#table tbody"))
	}
}

// TestModelGone shows what was recorded after the model's file was removed, and says why nothing is live.
func TestModelGone(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	a, b := model(t, filepath.Join(work, "a.onnx"), "scores", 8, 1),
		model(t, filepath.Join(work, "b.onnx"), "scores", 8, 5)
	pictures(t, filepath.Join(work, "photos"), 9, 8, 3)
	command(t, work, "run", "-q", "--model", "a="+a, "--model", "b="+b, "--data", "photos", "--group", "SO(2)",
		"--orbit", "24", "-o", "gone")
	for _, f := range []string{a, b} {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, at(serve(t, filepath.Join(work, "gone")), "/run/gone?v=1&g=15"), desktop)
	p.ready()
	p.until(`document.querySelector('#individual .switch input').disabled && !/being opened/.test(__nero.state.data.ability.value.reason ?? '')`)
	why := p.attr("#individual .switch", "title")
	if !strings.Contains(why, "a.onnx") {
		t.Errorf("live is off: %q, want the file that is missing", why)
	}
	if text := p.text("#detail"); !strings.Contains(text, "a.onnx") {
		t.Errorf("the detail says %q, want the reason", text)
	}
	p.until(`document.querySelector('#individual .status .tag').textContent === 'recorded'`)
	p.focus(needle)
	p.keys(kb.ArrowRight)
	p.is(`__nero.state.place.g.value`, []float64{30}) // the next stored one
	if v := p.text("#individual .numbers td:last-child"); v == "–" || v == "" {
		t.Errorf("the recorded value is %q", v)
	}
	p.visible("#input canvas") // the data are there
	p.until(`document.querySelector('#input canvas').getAttribute('aria-label').includes('30°')`)
	p.keep("model-gone")
	p.axe("without its models")
	if n := p.asked(`/probe`); n != 0 {
		t.Errorf("the models were asked %d times", n)
	}
	p.is(`__nero.state.place.live.error.value`, "")
}

// TestSmall shows a run of one sample, one of one element, and one without labels.
func TestSmall(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	model(t, filepath.Join(work, "a.onnx"), "scores", 8, 1)
	pictures(t, filepath.Join(work, "photos"), 9, 8, 3)
	command(t, work, "run", "-q", "a.onnx", "--data", "photos", "--group", "SO(2)", "--orbit", "24", "-n", "1", "-o",
		"one")
	command(t, work, "run", "-q", "a.onnx", "--data", "photos", "--group", "SO(2)", "--orbit", "1", "-o", "still")
	command(t, work, "run", "-q", "a.onnx", "--data", "photos", "--labels", "none", "--group", "C4", "-o", "nameless")
	address := serve(t, work)
	for _, name := range []string{"one", "still", "nameless"} {
		p := open(t, at(address, "/run/"+name+"?v=1"), desktop)
		p.ready()
		p.live()
		p.narrow()
		p.keep("small-" + name)
		p.axe("the run " + name)
		p.focus(needle)
		p.keys(kb.ArrowRight, "]", "[", kb.End, kb.Home, "p", "p", " ", " ")
		p.focus(plane)
		p.keys(kb.ArrowRight, kb.Enter, "+", "0")
		p.focus("#table [role=grid]")
		p.keys(kb.ArrowDown, kb.Enter)
		p.write("#rule", "mean < 2\r")
		p.until(`__nero.state.choice.count.value === __nero.state.data.n.value`)
		p.live()
	}
}

// masks holds the pictures of a mask against each other at every element: where output and reference differ, the third
// says so, and its caption says how much.
func (p *page) masks() {
	p.t.Helper()
	for k := range eval[int](p, `__nero.state.data.group.value.elements.length`) {
		eval[bool](p, fmt.Sprintf(`(__nero.state.place.moveToIndex(%d), true)`, k))
		p.live()
		p.until(`(() => {
			const [a, b, d] = [...document.querySelectorAll('#detail canvas')].map(c => new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer));
			const none = document.querySelector('#detail canvas') ? [...d].reduce((t, v, i) => a[i] === b[i] ? v : t, 0) : 0;
			const differ = [...a].filter((v, i) => v !== b[i]).length, drawn = [...d].filter((v) => v !== none).length;
			const said = parseFloat(document.querySelector('#detail figure:nth-of-type(3) figcaption').textContent.replace(/^\D*/, ''));
			return a.length === 144 && differ === drawn && Math.abs(said - 100 * differ / a.length) < 0.01;
		})()`)
	}
}

// TestOtherOrbits shows orbits that are no circle, and models that answer with pictures: maps, marks on spokes, lines,
// fields.
func TestOtherOrbits(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	work := t.TempDir()
	for kind, seed := range map[string]uint64{"scores": 1, "image": 1, "crooked": 1, "mask": 3} {
		model(t, filepath.Join(work, kind+".onnx"), kind, 12, seed)
	}
	model(t, filepath.Join(work, "other.onnx"), "scores", 12, 9)
	pictures(t, filepath.Join(work, "photos"), 12, 12, 3)
	two := []string{"--model", "one=scores.onnx", "--model", "two=other.onnx"}
	for name, args := range map[string][]string{
		"shifts":  append(two, "--group", "T(2,Z)", "--range=-3:3,-2:2", "--orbit", "7x5"),
		"mirrors": append(two, "--group", "D4"),
		"scales":  append(two, "--group", "Scale"),
		"pictures": {
			"--model", "plain=image.onnx", "--model", "crooked=crooked.onnx", "--group", "C4", "--output",
			"image", "--equivariant",
		},
		"masks": {"mask.onnx", "--group", "D4", "--output", "mask", "--equivariant"},
		"o2":    append(two, "--group", "O(2)", "--orbit", "24x2"),
	} {
		command(t, work, append([]string{"run", "-q", "--data", "photos", "-o", filepath.Join("runs", name)},
			args...)...)
	}
	address := serve(t, filepath.Join(work, "runs"))
	for _, c := range []struct {
		name string
		// each of them moves
		keys []string
		maps bool
	}{
		{"shifts", []string{kb.ArrowRight, kb.ArrowDown, kb.ArrowLeft, kb.ArrowUp, kb.PageUp, kb.Home}, true},
		{"mirrors", []string{kb.ArrowRight, kb.ArrowLeft}, false},
		{"scales", []string{kb.ArrowRight, kb.ArrowLeft, kb.PageUp, kb.Home}, false},
		{"pictures", []string{kb.ArrowRight, kb.ArrowUp, kb.Home}, false},
		{"masks", []string{kb.ArrowRight}, false},
		{"o2", []string{kb.ArrowRight, kb.End}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := open(t, at(address, "/run/"+c.name+"?v=1"), desktop)
			p.ready()
			p.live()
			p.narrow()
			p.keep("orbit-" + c.name)
			p.axe("the run " + c.name)
			handle := "#individual [role=slider], #individual [role=application]"
			p.focus(handle)
			for _, k := range c.keys {
				was := p.g()
				p.keys(k)
				p.until(`JSON.stringify(__nero.state.place.g.value) !== ` + quote(string(encode(was))))
			}
			p.live()
			// By mouse: somewhere else in the plot; every move of the group; play.
			before := p.g()
			b := p.box("#individual .plot svg")
			for _, f := range [][2]float64{{0.25, 0.3}, {0.7, 0.75}} {
				p.clickAt(b.X+f[0]*b.Width, b.Y+f[1]*b.Height)
			}
			p.until(`JSON.stringify(__nero.state.place.g.value) !== ` + quote(string(encode(before))))
			p.live()
			for k := range eval[int](p, `document.querySelectorAll('#individual .moves > button:not(.play)').length`) {
				p.click(fmt.Sprintf(`#individual .moves > button:nth-of-type(%d)`, k+1))
			}
			p.live()
			if c.name == "masks" {
				p.masks()
			}
			p.keep("orbit-" + c.name + "-moved")
			p.drag("#input .fed", [2]float64{0.7, 0.5}, [2]float64{0.6, 0.35}, [2]float64{0.5, 0.3})
			p.live()
			// Both ways to compare, where there are two.
			if eval[int](p, `__nero.state.place.models.value.length`) == 2 {
				p.click(how + "button:nth-child(2)")
				p.is(`__nero.state.place.compare.value`, "side")
				p.click(how + "button:nth-child(3)")
				p.until(`__nero.state.place.compare.value === 'diff' && document.querySelector('#aggregate').textContent.includes('B − A')`)
				p.drawn()
				p.keep("orbit-" + c.name + "-difference")
				p.axe("the difference of the run "+c.name, "#aggregate")
			}
			if c.maps != eval[bool](p,
				`document.querySelector('#individual .plot canvas, #individual .maps') !== null`) {
				t.Errorf("drawn as a map: want %v", c.maps)
			}
			// The link restores it, on a phone in the dark.
			want := p.g()
			p.settled()
			if c.name == "o2" || c.name == "scales" {
				return // drawn as others
			}
			q := open(t, p.address(), screen{width: 360, height: 740, scheme: "dark", touch: true})
			q.ready()
			q.is(`__nero.state.place.g.value`, want)
			q.live()
			q.narrow()
			q.keep("orbit-" + c.name + "-phone")
			q.axe("the run " + c.name + " on a phone")
		})
	}
}

// TestServerGone goes on showing what was loaded when the server ends, says so, and recovers when it is back.
func TestServerGone(t *testing.T) {
	t.Parallel()
	chromium(t)
	bin, _ := program(t)
	run := own(t, "gone")
	s, err := start(bin, "--port", "0", run)
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, at(s.url, "/run/gone?v=1&i=6&g=90"), desktop)
	p.ready()
	p.live()
	p.permit(`ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_NETWORK|Failed to load resource`)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	p.until(`[...document.querySelectorAll('.banner')].some(e => e.textContent.includes('The server does not answer'))`)
	p.focus(needle)
	p.keys(kb.PageUp)
	p.until(`document.querySelector('#individual .status .tag').textContent !== 'live' && __nero.state.place.g.value[0] === 105`)
	p.until(`document.querySelector('#individual .numbers tbody td:last-child').textContent !== '…'`)
	p.keep("server-gone")
	p.axe("without its server")
	port := s.url[strings.LastIndex(s.url, ":")+1:]
	port, _, _ = strings.Cut(port, "/")
	back, err := start(bin, "--port", port, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := back.stop(); err != nil {
			t.Error(err)
		}
	})
	// The page also asks by itself, so the banner may go before the mouse reaches its button.
	p.clicked(".banner.error button")
	p.until(`![...document.querySelectorAll('.banner')].some(e => e.textContent.includes('does not answer'))`)
	p.keys(kb.ArrowRight)
	p.focus(needle)
	p.keys(kb.ArrowRight)
	p.live()
}

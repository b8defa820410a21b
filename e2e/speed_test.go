//go:build slow

package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
	plans "nero/symmetry/orbit"
)

// Times of the interface, for docs/BENCHMARKS.md:
//
//	go test -tags slow -run Speed -v ./e2e
//
// Times are logged and never compared with anything: machines differ. What is asserted is what does not depend on them:
// how often the server is asked, and that what was asked for is shown.
//
// NERO_SPEED_RUN names the folder of a run to look at; if it is not there, a run is made in it, else in a folder for
// temporary files. NERO_SPEED_SAMPLES and NERO_SPEED_MODELS are the size of the run that is made, 100,000 and 2 without
// them. NERO_SPEED_LIVE names a folder of digits for live drags in place of the hundred that all tests share.

// speedRun is a large run of made-up numbers, which look like those of a classifier under rotations: curves that fall
// away from the upright position, more for hard samples and for some classes, with noise.
func speedRun(t *testing.T) (dir string) {
	t.Helper()
	dir = os.Getenv("NERO_SPEED_RUN")
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "made")
	}
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	makeRun(t, dir, number(t, "NERO_SPEED_SAMPLES", 100_000), number(t, "NERO_SPEED_MODELS", 2), "confidence",
		"accuracy")
	return dir
}

// makeRun writes a run of made-up numbers of some samples, models and metrics along 72 angles, with its summary, as
// nero run leaves one.
func makeRun(t *testing.T, dir string, samples, models int, metrics ...string) {
	t.Helper()
	const classes, elements = 10, 72
	g, err := catalog.Parse("SO(2)")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := plans.NewPlan(g, plans.Spec{Grid: []int{elements}}, action.Trivial{G: g}, action.Trivial{G: g}, 1)
	if err != nil {
		t.Fatal(err)
	}
	hash := func(s string) string { return fmt.Sprintf("%064x", s)[:64] }
	j := &job.Job{
		Format: job.FormatSmall, Numbers: 1, Count: samples, Classes: classes, Measure: plan.Measure,
		Elements: plan.Elements, Exact: make([]bool, elements),
		Files: []job.Ref{{Path: "images.gz", SHA256: hash("images")}}, Engine: job.Engine{Name: "none", Version: "1"},
		Shard: job.ShardSize(samples, elements, models), Seed: 1, Metrics: metrics,
		Study: job.Study{
			Version: 1, Data: job.Data{Images: "images.gz", Labels: "labels.gz"},
			Group: job.Group{Name: g.Name(), Orbit: job.Orbit{Grid: []int{elements}}},
		},
	}
	job.Defaults(&j.Study)
	for m := range models {
		name := "model " + string(rune('a'+m))
		j.Study.Models = append(j.Study.Models, job.Model{Name: name, ONNX: "model.onnx"})
		j.Models = append(j.Models, job.ModelRef{
			Name: name, Ref: job.Ref{Path: "model.onnx", SHA256: hash(name)},
			Batch: 16,
		})
	}
	if err := j.Validate(); err != nil {
		t.Fatal(err)
	}
	w, err := store.Create(dir, j, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range j.Shards() {
		var rows []job.Row
		for m := range models {
			for i := s.Lo; i < s.Hi; i++ {
				rows = append(rows, madeRow(m, i, classes, elements, len(metrics)))
			}
		}
		if err := w.Commit(t.Context(), s, rows, nil); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := fold.Fold(fold.Input{
		Job: j, Hash: w.Hash(), Group: g, Confidence: j.Study.Audit.Confidence,
		Rows: func(model, metric int) iter.Seq2[job.Row, error] {
			return w.Rows(store.Filter{Models: []int{model}, Metrics: metrics[metric : metric+1]})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Put("summary.json", b); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// madeRow is the answers of a model to a sample. Of its metrics the first two are told apart; the others are as many
// numbers as they are in earnest.
func madeRow(model, i, classes, elements, metrics int) job.Row {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	label := r.IntN(classes)
	hard, lobes := r.Float64(), 1+float64(label%3) // some classes look alike upside down
	r = rand.New(rand.NewPCG(uint64(i), uint64(8+model)))
	row := job.Row{
		Model: model, Index: i, Sample: fmt.Sprintf("images/%02d/%08d.png", label, i), Label: label,
		Top: make([]int32, elements),
	}
	for range metrics {
		row.Curves = append(row.Curves, make([]float32, elements))
	}
	for k := range elements {
		a := 2 * math.Pi * float64(k) / float64(elements)
		x := 3 - 4*hard - (4-float64(2*model))*(1-math.Cos(lobes*a))*(0.3+0.5*float64(label)/float64(classes)) +
			0.4*r.NormFloat64()
		c := 1 / (1 + math.Exp(-x))
		row.Curves[0][k], row.Top[k] = float32(c), int32((label+3)%classes)
		if c > 0.5 {
			row.Curves[1][k], row.Top[k] = 1, int32(label)
		}
		for m := 2; m < metrics; m++ {
			row.Curves[m][k] = float32(c * (0.5 + 0.5*r.Float64()))
		}
	}
	return row
}

func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	s := os.Getenv(variable)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s: %q; expected a number from 1 on", variable, s)
	}
	return n
}

// running is nero serve as a process of its own.
type running struct {
	address string
	pid     int
	began   time.Time
	// until the address was printed
	up time.Duration
}

// watched starts nero serve and keeps its number, so that its memory can be read. It runs at the root of the source, to
// which the paths in the studies are relative.
func watched(t *testing.T, bin string, args ...string) *running {
	t.Helper()
	c := exec.Command(bin, append([]string{"serve", "--no-open", "--port", "0"}, args...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{began: time.Now()}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the pages, which would miss it
		if err := (&server{cmd: c, errs: &strings.Builder{}}).stop(); err != nil {
			t.Error(err)
		}
	})
	r.pid = c.Process.Pid
	s := bufio.NewScanner(out)
	for s.Scan() {
		if u := printed.FindString(s.Text()); u != "" {
			r.address, r.up = u, time.Since(r.began)
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return r
		}
	}
	t.Fatal("nero serve printed no address")
	return nil
}

// memory is the largest resident memory of the process so far, and that of now, in MB; 0 where the system does not say.
func (r *running) memory() (peak, now float64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.pid))
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(b) {
		f := strings.Fields(string(line))
		if len(f) < 2 {
			continue
		}
		kb, _ := strconv.ParseFloat(f[1], 64)
		switch f[0] {
		case "VmHWM:":
			peak = kb / 1000
		case "VmRSS:":
			now = kb / 1000
		}
	}
	return peak, now
}

// busy is how long the process has used processors.
func (r *running) busy() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond // Linux counts hundredths of a second
}

// speedProbe runs in the page before its own code. arm waits for an event and keeps when what it leads to has changed:
// the time from the event to the first and the last change of every watched part, and to the frame behind the last
// first change.
const speedProbe = `
window.__speed = {
  long: [], paints: {}, parts: {
    scatter: ['#samples canvas', 'data-ms'], aggregate: ['#aggregate path.line', 'd'], table: ['#table tbody', ''],
    rank: ['#samples .rank output', ''], individual: ['#individual path.line', 'd'], needle: ['#individual .needle', ''],
  },
  seen: {}, t0: -1, handled: -1,
  arm(kind) {
    this.seen = {}; this.t0 = -1; this.handled = -1; this.kind = kind;
    addEventListener(kind, e => {
      this.t0 = e.timeStamp;
      const c = new MessageChannel();
      c.port1.onmessage = () => { this.handled = performance.now() };
      c.port2.postMessage(0);
    }, {capture: true, once: true});
  },
  changed(name) {
    if (this.t0 < 0) return;
    const now = performance.now(), s = this.seen[name];
    if (s) { s.last = now - this.t0; return; }
    const first = this.seen[name] = {first: now - this.t0, last: now - this.t0, frame: NaN};
    requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => { first.frame = performance.now() - this.t0 }; c.port2.postMessage(0); });
  },
  drag: null,
};
new PerformanceObserver(l => { for (const e of l.getEntries()) __speed.long.push([e.startTime, e.duration]) }).observe({type: 'longtask', buffered: true});
new PerformanceObserver(l => { for (const e of l.getEntries()) __speed.paints[e.name] = e.startTime }).observe({type: 'paint', buffered: true});
addEventListener('DOMContentLoaded', () => new MutationObserver(list => {
  const now = performance.now();
  for (const [name, [selector, attribute]] of Object.entries(__speed.parts)) {
    if (name in __speed.paints && __speed.t0 < 0) continue;
    for (const m of list) {
      const e = m.target.nodeType === 1 ? m.target : m.target.parentElement;
      if (attribute ? (m.type === 'attributes' && m.attributeName === attribute && e.matches(selector)) || (m.type === 'childList' && [...m.addedNodes].some(x => x.nodeType === 1 && x.querySelector?.(selector.split(' ').pop()))) && e.closest(selector.split(' ')[0]) : e?.closest(selector)) {
        if (!(name in __speed.paints)) __speed.paints[name] = now;
        __speed.changed(name);
        break;
      }
    }
  }
  if (__speed.drag && __speed.drag.from >= 0 && list.some(m => (m.target.nodeType === 1 ? m.target : m.target.parentElement)?.closest('#individual .needle'))) {
    __speed.drag.script.push(now - __speed.drag.from);
    __speed.drag.from = -1;
  }
}).observe(document, {subtree: true, childList: true, attributes: true, characterData: true}));
`

// seen is when a part of the page changed after an event, in milliseconds.
type seen struct {
	// the page was changed
	First float64 `json:"first"`
	// the frame with that was made
	Frame float64 `json:"frame"`
	// the last change until everything was quiet
	Last float64 `json:"last"`
}

type reaction struct {
	// the handlers of the event, and what they put off to the end of their task
	Handled float64         `json:"handled"`
	Seen    map[string]seen `json:"seen"`
	// longest task
	Long float64 `json:"long"`
	// processor time of the page's main thread until everything was redrawn
	Main float64 `json:"-"`
}

// thread is the processor time of the page's main thread so far, in milliseconds. It does not grow while other programs
// have the processor.
func (p *page) thread() float64 {
	p.t.Helper()
	var ms float64
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		all, err := cdp.Call(ctx, t, performance.GetMetrics, cdp.Empty{})
		for _, m := range all.Metrics {
			if m.Name == "TaskDuration" {
				ms = 1000 * m.Value
			}
		}
		return err
	}))
	return ms
}

// react has the page wait for an event, makes it, and says when the parts changed. It waits until nothing has changed
// for a while.
func (p *page) react(event string, parts []string, do func()) reaction {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(__speed.long = [], __speed.arm(%s), true)`, quote(event)))
	before := p.thread()
	do()
	list, err := json.Marshal(parts)
	if err != nil {
		p.t.Fatal(err)
	}
	p.until(fmt.Sprintf(`__speed.t0 >= 0 && %s.every(n => __speed.seen[n]?.frame > 0)`, list))
	used := p.thread() - before
	p.until(`performance.now() - __speed.t0 - Math.max(...Object.values(__speed.seen).map(s => s.last)) > 600`)
	r := eval[reaction](p,
		`({handled: __speed.handled - __speed.t0, seen: __speed.seen, long: Math.max(0, ...__speed.long.map(x => x[1]))})`)
	r.Main = used
	return r
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b float64) int { return cmp.Compare(a, b) })
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)/2]
}

// tell logs the medians of some rounds, and the least, which is nearer to that of a machine that does nothing else.
func tell(t *testing.T, what string, rounds []reaction, parts ...string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s", what)
	of := func(f func(reaction) float64) string {
		var v []float64
		for _, r := range rounds {
			v = append(v, f(r))
		}
		return fmt.Sprintf("%.0f (%.0f)", median(v), slices.Min(v))
	}
	for _, n := range parts {
		fmt.Fprintf(&b, " %s %s ms, in the frame at %s, final %s;", n,
			of(func(r reaction) float64 { return r.Seen[n].First }),
			of(func(r reaction) float64 { return r.Seen[n].Frame }),
			of(func(r reaction) float64 { return r.Seen[n].Last }))
	}
	fmt.Fprintf(&b, " handlers %s, longest task %s, main thread %s", of(func(r reaction) float64 { return r.Handled }),
		of(func(r reaction) float64 { return r.Long }),
		of(func(r reaction) float64 { return r.Main }))
	t.Log(b.String())
}

func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}

// fast opens a page of a server with the probe in it.
func fast(t *testing.T, address string) *page {
	t.Helper()
	look := desktop
	look.script = speedProbe
	p := open(t, "about:blank", look)
	p.hosts = append(p.hosts, strings.Split(address, "/")[2])
	p.do(call(performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}),
		chromedp.Navigate(address))
	p.ready()
	p.until(`__speed.paints.scatter > 0 && __speed.paints.table > 0`)
	return p
}

// rested opens a page and waits for what it does once it is drawn: the tree of the points, the estimates of the slices.
func rested(t *testing.T, address string) *page {
	t.Helper()
	p := fast(t, address)
	time.Sleep(4 * time.Second)
	return p
}

// TestSpeed takes the time of what a person does with a large run.
func TestSpeed(t *testing.T) {
	chromium(t)
	bin, _ := program(t)
	dir := speedRun(t)
	t.Logf("load %s, %d cores", load(), runtime.NumCPU())
	id := filepath.Base(dir)
	rounds := number(t, "NERO_SPEED_ROUNDS", 5)

	t.Run("server", func(t *testing.T) {
		s := watched(t, bin, "--no-live", dir)
		t.Logf("address printed after %d ms", s.up.Milliseconds())
		for _, path := range []string{
			"runs", "runs/" + id, "runs/" + id + "/samples",
			"runs/" + id + "/arrays/curves.0.0?dtype=u8", "runs/" + id + "/arrays/samples.0.0",
			"runs/" + id + "/arrays/top.0?dtype=u8", "runs/" + id + "/embedding?method=pca&metric=0",
			"runs/" + id + "/samples/17",
		} {
			var times []float64
			size := int64(0)
			for range 3 {
				began := time.Now()
				r, err := http.Get(s.address + "api/v1/" + path)
				if err != nil {
					t.Fatal(err)
				}
				size, err = io.Copy(io.Discard, r.Body)
				r.Body.Close() //nolint:errcheck // read to its end
				if err != nil || r.StatusCode != http.StatusOK {
					t.Fatalf("%s: %s, %v", path, r.Status, err)
				}
				times = append(times, float64(time.Since(began).Microseconds())/1000)
			}
			t.Logf("%-50s %9d bytes, first %.0f ms, then %.1f ms", path, size, times[0], min(times[1], times[2]))
		}
		peak, now := s.memory()
		t.Logf("memory of the server: peak %.0f MB, now %.0f MB", peak, now)
	})

	t.Run("open", func(t *testing.T) {
		var first, line, points, rows, all, page, serves []float64
		for k := range rounds {
			t.Run(strconv.Itoa(k), func(t *testing.T) {
				s := watched(t, bin, dir)
				p := fast(t, at(s.address, "/run/"+id+"?v=1"))
				m := eval[map[string]float64](p, `__speed.paints`)
				first, line, points, rows = append(first, m["first-contentful-paint"]), append(line, m["aggregate"]),
					append(points, m["scatter"]), append(rows, m["table"])
				p.until(`document.querySelector('#samples canvas')?.dataset.ms > 0 && !__nero.state.data.samples.state.value.busy`)
				all = append(all, eval[float64](p, `performance.now()`))
				page, serves = append(page, p.thread()), append(serves, float64(s.busy().Milliseconds()))
			})
		}
		t.Logf("opening: first paint %.0f ms, aggregate curves %.0f, points %.0f, rows %.0f, everything %.0f (a new "+
			"server each time; least %.0f, %.0f, %.0f, %.0f, %.0f); main thread %.0f, processors of the server %.0f",
			median(first), median(line), median(points), median(rows), median(all), slices.Min(first), slices.Min(line),
			slices.Min(points), slices.Min(rows), slices.Min(all), median(page), median(serves))
	})

	s := watched(t, bin, dir)
	home := at(s.address, "/run/"+id+"?v=1")
	fast(t, home)

	t.Run("again", func(t *testing.T) {
		var first, line, points, rows, long, page []float64
		for k := range rounds {
			t.Run(strconv.Itoa(k), func(t *testing.T) {
				p := fast(t, home)
				m := eval[map[string]float64](p, `__speed.paints`)
				first, line, points, rows = append(first, m["first-contentful-paint"]), append(line, m["aggregate"]),
					append(points, m["scatter"]), append(rows, m["table"])
				long = append(long, eval[float64](p, `Math.max(0, ...__speed.long.map(x => x[1]))`))
				page = append(page, p.thread())
			})
		}
		t.Logf("opening with a warm server: first paint %.0f ms, aggregate curves %.0f, points %.0f, rows %.0f "+
			"(least %.0f, %.0f, %.0f, %.0f); longest task %.0f, main thread %.0f",
			median(first), median(line), median(points), median(rows), slices.Min(first), slices.Min(line),
			slices.Min(points), slices.Min(rows), median(long), median(page))
	})

	t.Run("slice", func(t *testing.T) {
		p := rested(t, home)
		var r []reaction
		for k := range rounds {
			name := eval[string](p, fmt.Sprintf(`__nero.state.data.run.value.slices.filter(x => x.label >= 0)[%d].name`, k))
			r = append(r, p.react("change", []string{"aggregate", "scatter"},
				func() { p.choose("#aggregate select[aria-label=Slice]", name) }))
		}
		tell(t, "a class as the slice", r, "aggregate", "scatter", "table")
		r = nil
		for range rounds {
			p.choose("#aggregate select[aria-label=Slice]",
				eval[string](p, `__nero.state.data.run.value.slices.filter(x => x.label >= 0)[0].name`))
			time.Sleep(700 * time.Millisecond)
			r = append(r, p.react("change", []string{"aggregate", "scatter"},
				func() { p.choose("#aggregate select[aria-label=Slice]", "") }))
		}
		tell(t, "back to all samples", r, "aggregate", "scatter", "table")
	})

	t.Run("lasso", func(t *testing.T) {
		p := rested(t, home)
		var r []reaction
		var caught []float64
		for k := range rounds {
			var round [][2]float64
			for j := range 40 {
				a := 2 * math.Pi * float64(j) / 39
				round = append(round, [2]float64{0.5 + (0.3+0.02*float64(k))*math.Cos(a), 0.5 + 0.35*math.Sin(a)})
			}
			r = append(r, p.react("pointerup", []string{"aggregate", "scatter"},
				func() { p.drag("#samples .plane", round...) }))
			caught = append(caught, eval[float64](p, `__nero.state.choice.count.value`))
		}
		tell(t, fmt.Sprintf("lasso around %.0f of %d", median(caught), eval[int](p, `__nero.state.data.n.value`)), r,
			"aggregate", "scatter", "table")
	})

	t.Run("rule", func(t *testing.T) {
		p := rested(t, home)
		var r []reaction
		for k := range rounds {
			p.focus("#rule")
			eval[bool](p, fmt.Sprintf(
				`(f => { f.value = %s; f.dispatchEvent(new Event('input', {bubbles: true})); return true })(document.querySelector('#rule'))`, quote(fmt.Sprintf("mean A < 0.%d and label != %d", 5+k%4, k))))
			r = append(r, p.react("submit", []string{"aggregate", "scatter"}, func() { p.keys("\r") }))
		}
		tell(t, "rule", r, "aggregate", "scatter", "table")
	})

	t.Run("sort", func(t *testing.T) {
		p := rested(t, home)
		var r []reaction
		for k := range rounds {
			r = append(r, p.react("click", []string{"table"},
				func() { p.click(fmt.Sprintf("#table th:nth-child(%d) button", 3+k%5)) }))
		}
		tell(t, "table by another column", r, "table")
		r = nil
		for range 2 {
			r = append(r, p.react("click", []string{"table"}, func() { p.click("#table th:nth-child(1) button") }))
		}
		tell(t, "table by name", r, "table")
	})

	t.Run("scroll", func(t *testing.T) {
		p := rested(t, home)
		var r []reaction
		for k := range rounds {
			r = append(r, p.react("scroll", []string{"table"}, func() {
				eval[bool](p, fmt.Sprintf(
					`(e => { e.scrollTop = %d * e.scrollHeight / 9; return true })(document.querySelector('#table .rows-scroll'))`, 1+k))
			}))
		}
		tell(t, "table scrolled", r, "table")
	})

	t.Run("rank", func(t *testing.T) {
		p := rested(t, home)
		var r []reaction
		for k := range rounds {
			r = append(r, p.react("input", []string{"rank", "individual"}, func() {
				eval[bool](p, fmt.Sprintf(
					`(e => { e.value = %d; e.dispatchEvent(new Event('input', {bubbles: true})); return true })(document.querySelector('#samples .rank input[type=range]'))`, 2+(k+1)*eval[int](p, `__nero.state.data.n.value`)/10))
			}))
		}
		tell(t, "slider through the ranking", r, "rank", "individual", "scatter")
	})

	t.Run("hover", func(t *testing.T) {
		p := rested(t, home)
		var v []float64
		b := p.box("#samples .plane")
		for k := range 40 {
			eval[bool](p, `(__speed.long = [], __speed.arm('pointermove'), true)`)
			p.do(chromedp.MouseEvent("mouseMoved", b.X+b.Width*(0.3+0.01*float64(k)), b.Y+b.Height*0.5))
			p.until(`__speed.handled >= 0`)
			v = append(v, eval[float64](p, `__speed.handled - __speed.t0`))
		}
		t.Logf("hover over points: handlers %.1f ms", median(v))
	})

	t.Run("drag", func(t *testing.T) {
		p := rested(t, home)
		speedDrag(t, p, "stored")
		t.Logf("heap of the page %.0f MB", eval[float64](p, `performance.memory?.usedJSHeapSize ?? 0`)/1e6)
	})

	peak, now := s.memory()
	t.Logf("memory of the server: peak %.0f MB, now %.0f MB; load %s", peak, now, load())
}

// turned are 241 moves of the needle, once round.
func turned() (points [][2]float64) {
	for k := range 241 {
		a := 2 * math.Pi * float64(k) / 240
		points = append(points, [2]float64{0.5 + 0.3*math.Cos(a), 0.5 - 0.3*math.Sin(a)})
	}
	return points
}

// dragged is what a drag took, in milliseconds.
type dragged struct {
	// Script is from each move to the changed page, Frame to the frame behind it, Live to the frame that shows the
	// answer of the models to it, of the moves that were answered; Long are tasks of more than 50 ms.
	Script, Frame, Live, Long []float64
	// Frames are the times between two frames during the drag.
	Frames []float64
	// Moves is how many there were, Most how many questions were under way at once.
	Moves, Most int
}

// speedDrag turns the needle in 240 moves.
func speedDrag(t *testing.T, p *page, what string) dragged {
	t.Helper()
	return dragAlong(t, p, what, "#individual svg.polar, #individual .plot svg", turned())
}

// dragAlong drags along some points of an element and logs what that took.
func dragAlong(t *testing.T, p *page, what, selector string, points [][2]float64) dragged {
	t.Helper()
	eval[bool](p, `(() => {
		const d = __speed.drag = {from: -1, script: [], frame: [], live: [], frames: [], moves: 0, over: false};
		__speed.long = [];
		const c = new MessageChannel(), due = [];
		c.port1.onmessage = () => { const now = performance.now(); for (const t of due.splice(0)) d.frame.push(now - t) };
		d.on = e => { d.moves++; d.from = e.timeStamp; if (!due.length) requestAnimationFrame(() => c.port2.postMessage(0)); due.push(e.timeStamp); d.asked.has(__nero.moves + 1) || d.asked.set(__nero.moves + 1, e.timeStamp) };
		d.asked = new Map();
		// What is asked for at once is asked for before the move.
		d.raw = e => { d.asked.set(__nero.moves + 1, e.timeStamp) };
		addEventListener('pointerrawupdate', d.raw, {capture: true});
		addEventListener('pointermove', d.on, {capture: true});
		addEventListener('pointerup', () => { d.over = true }, {capture: true, once: true});
		let before = -1;
		const frame = now => { if (before >= 0 && d.moves > 1) d.frames.push(now - before); before = now; if (!d.over) requestAnimationFrame(frame) };
		requestAnimationFrame(frame);
		d.off = __nero.state.place.live.answer.subscribe(a => {
			const t = a && d.asked.get(a.want.seq);
			if (t === undefined || !a) return;
			requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => d.live.push(performance.now() - t); c.port2.postMessage(0) });
		});
		return true;
	})()`)
	before, used := p.asked(`/probe\?`), p.thread()
	input := p.asked(`/input\?`)
	began := time.Now()
	p.drag(selector, points...)
	spent := time.Since(began)
	used = p.thread() - used
	p.until(`!__nero.pending && __nero.inFlight === 0`)
	time.Sleep(300 * time.Millisecond)
	r := eval[dragged](p,
		`(d => { removeEventListener('pointermove', d.on, {capture: true}); removeEventListener('pointerrawupdate', d.raw, {capture: true}); d.off(); __speed.drag = null; return {Script: d.script, Frame: d.frame, Live: d.live, Frames: d.frames, Long: __speed.long.map(x => x[1]), Moves: d.moves, Most: __nero.inFlightMax} })(__speed.drag)`)
	probes, inputs := p.asked(`/probe\?`)-before, p.asked(`/input\?`)-input
	t.Logf("%s: %d moves in %d ms: page changed after %.1f ms (p95 %.1f), in the frame at %.1f (p95 %.1f); %d probes "+
		"and %d inputs, live result in the frame at %.1f ms (p95 %.1f); %d long tasks; main thread %.1f ms a move; "+
		"a frame each %.1f ms (p95 %.1f); load %s",
		what, r.Moves, spent.Milliseconds(), median(r.Script), high(r.Script), median(r.Frame), high(r.Frame), probes,
		inputs, median(r.Live), high(r.Live), len(r.Long), used/float64(max(1, r.Moves)), median(r.Frames),
		high(r.Frames), load())
	if r.Moves < len(points)/2 {
		t.Errorf("the page saw %d of %d moves", r.Moves, len(points))
	}
	if r.Most > 1 {
		t.Errorf("%d questions were under way at once, want at most 1", r.Most)
	}
	if probes > r.Moves+1 || inputs > r.Moves+1 {
		t.Errorf("%d probes and %d inputs for %d moves", probes, inputs, r.Moves)
	}
	return r
}

// high is the 95th percentile.
func high(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)*95/100]
}

// TestSpeedLive takes the time of a drag with models that answer.
func TestSpeedLive(t *testing.T) {
	chromium(t)
	bin, dir := program(t)
	if d := os.Getenv("NERO_SPEED_LIVE"); d != "" {
		dir = d
	}
	s := watched(t, bin, dir)
	p := fast(t, at(s.address, "/run/run?v=1&i=6&g=0"))
	p.until(`__nero.state.place.canProbe.value && __nero.lastAnswer > 0`)
	for range 3 {
		speedDrag(t, p, "live")
	}
}

package e2e

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// found runs a command that says 1 for an answer that is not good.
func found(t *testing.T, dir string, args ...string) {
	t.Helper()
	bin, _ := program(t)
	c := exec.CommandContext(t.Context(), bin, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("nero %q: %v\n%s", args, err, out)
	}
}

// studyFile is the file of a built-in study.
func studyFile(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "studies", name, "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// middle is where an element lies in the window.
func (p *page) middle(selector string) (x, y float64) {
	p.t.Helper()
	b := p.box(selector)
	return b.X + b.Width/2, b.Y + b.Height/2
}

// elsewhere looks at the same page on a phone in the dark.
func (p *page) elsewhere(name, shown string) {
	p.t.Helper()
	small := open(p.t, p.address(), screen{width: 360, height: 740, scheme: "dark", touch: true})
	small.visible(shown)
	small.drawn()
	small.narrow()
	small.keep(name + "-phone")
	small.axe(name + ", on a phone in the dark")
}

// TestRepairPage reads the bill of a repair: methods by mouse and by keys, curves of the audits beside it, and a link
// from the run that was repaired.
func TestRepairPage(t *testing.T) {
	chromium(t) // not in parallel: what it computes would take the processors from pages that others look at
	dir := t.TempDir()
	study := studyFile(t, "digits")
	found(t, dir, "repair", study, "--group", "C4", "--limit", "160", "--only", "original", "--method", "select",
		"--method", "average", "--method", "frame", "-o", "fixed")
	_, made := program(t)
	if err := os.CopyFS(filepath.Join(dir, "run"), os.DirFS(filepath.Join(made, "run"))); err != nil {
		t.Fatal(err)
	}
	url := serve(t, dir)
	p := open(t, at(url, "/run/run"), desktop)
	p.ready()
	p.press("header nav", "Repair")
	p.visible("#costs svg")
	if text := p.text(".summary .answer"); !strings.Contains(text, "select") {
		t.Errorf("the page begins with %q", text)
	}
	p.until(`document.querySelectorAll('#bill tbody tr').length === 4`)
	p.until(`document.querySelector('#orbits svg') !== null`)
	p.narrow()
	p.keep("repair")
	p.axe("repair")

	// By mouse: the point of a method, and its row.
	x, y := p.middle(`.dot-of[data-method="average"] .body`)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, x, y)
	p.until(`document.querySelector('#costs output').textContent.startsWith('average: ')`)
	p.clickAt(x, y)
	p.until(`document.querySelector('#bill tr.now th').textContent === 'average'`)
	p.until(`document.querySelector('#orbits h3').textContent.includes('average')`)
	p.until(`location.hash.includes('method=average')`)
	p.press("#bill", "frame")
	p.until(`document.querySelector('#details').textContent.includes('Refused')`)
	p.press("#costs", "right over the orbit")
	p.until(`document.querySelector('#costs svg').getAttribute('aria-label').includes('right over the orbit')`)

	// By keys.
	p.focus("#costs svg")
	p.keys(kb.Home)
	p.until(`document.querySelector('#bill tr.now th').textContent === 'as it is'`)
	p.keys(kb.ArrowRight, kb.End)
	p.until(`document.querySelector('#bill tr.now th').textContent !== 'as it is'`)
	p.focus("#orbits svg")
	p.keys(kb.ArrowRight)
	p.until(`document.querySelector('#orbits output').textContent.length > 5`)

	// Taken away, and on to the audit of a row.
	to := p.downloads()
	p.press("#bill", "Save the bill as CSV")
	name, b := p.saved(to, ".csv")
	if rows := csvRows(t, name, b); len(rows) != 5 {
		t.Errorf("%s has %d rows", name, len(rows))
	}
	p.elsewhere("repair", "#costs svg")
	p.click(`#bill tbody tr:first-child td a`)
	p.visible(".findings .summary .verdict")
	p.until(`location.hash.startsWith('#/findings/')`)

	// In a report, too, with what follows from answers that lie beside it.
	if err := os.WriteFile(filepath.Join(dir, "answers.yaml"), []byte("data: \"picture\"\nturn: \"any\"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "report", "-q", ".", "--no-live", "-o", "all.html")
	q := open(t, fromDisk(filepath.Join(dir, "all.html")), desktop)
	q.ready()
	q.press("header nav", "Repair")
	q.visible("#costs svg")
	q.until(`document.querySelectorAll('#bill tbody tr').length === 4`)
	q.until(`document.querySelector('#orbits svg') !== null`)
	q.axe("repair in a report")
	q.press("header nav", "Identify")
	q.until(`document.querySelector('#follows tbody th')?.textContent === 'SO(2)'`)
	q.keep("identify-report")
	q.axe("identify in a report")
	q.press("header nav", "Run")
	q.ready()
	q.quiet()
}

// TestDataPage reads a report on data: curves, labels and the rose by mouse and by keys.
func TestDataPage(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	found(t, dir, "data", studyFile(t, "digits"), "--limit", "200", "--group", "C4", "-o", "digits.json")
	p := open(t, at(serve(t, filepath.Join(dir, "digits.json")), ""), desktop) // one report alone is shown at once
	p.visible("#auc svg")
	p.until(`location.hash.startsWith('#/data/')`)
	if text := p.text(".summary .answer"); !strings.Contains(text, "C4") {
		t.Errorf("the page begins with %q", text)
	}
	p.narrow()
	p.keep("data")
	p.axe("data")

	p.focus("#auc svg")
	p.keys(kb.ArrowRight)
	p.until(`document.querySelector('#auc output').textContent.startsWith('moved: ')`)
	x, y := p.middle(`#matrix tbody tr:nth-child(2) td:nth-child(3)`)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, x, y)
	p.until(`/^1: \d+ of \d+ keep their label$/.test(document.querySelector('#matrix output').textContent)`)
	p.focus("#matrix .scroll")
	p.keys(kb.ArrowRight)
	p.until(`/^1: \d+ of \d+ have neighbors of 2$/.test(document.querySelector('#matrix output').textContent)`)
	p.focus(`#matrix input[type=range]`)
	p.keys(kb.Home)
	p.until(`document.querySelector('#matrix select').value === '90°'`)
	p.keys(kb.ArrowRight)
	p.until(`document.querySelector('#matrix select').value === '180°'`)
	p.until(`location.hash.includes('at=180')`)
	p.focus("#pose svg")
	p.keys(kb.ArrowRight)
	p.until(`/ samples at 0° to 10°$/.test(document.querySelector('#pose output').textContent)`)
	x, y = p.middle("#pose .petal:nth-of-type(9)")
	p.mouse(input.DispatchMouseEventTypeMouseMoved, x, y+12)
	p.until(`document.querySelector('#pose .petal.now') !== null`)
	p.elsewhere("data", "#auc svg")
}

// TestDiscoveryPage reads a discovery: families and spectrum, and a family that moves the cloud of a run beside it.
func TestDiscoveryPage(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	study := studyFile(t, "clouds")
	found(t, dir, "discover", study, "--only", "invariant", "--what", "scan,generators", "--samples", "16", "--limit",
		"48", "-o", "found")
	command(t, dir, "run", "-q", study, "--limit", "2", "--orbit", "even:4", "--metrics", "accuracy", "-o", "run")
	p := open(t, at(serve(t, dir), "/runs"), desktop)
	p.press("main", "Symmetries that were found")
	p.visible("#families svg")
	if text := p.text(".summary .answer"); !strings.Contains(text, "so(3)") {
		t.Errorf("the page begins with %q", text)
	}
	p.until(`document.querySelector('.arrows')?.getAttribute('aria-label').includes('cloud of the run')`)
	p.narrow()
	p.keep("discovery")
	p.axe("discovery")

	p.focus("#families svg")
	p.keys(kb.Home)
	p.until(`document.querySelector('#families output').textContent.includes('relative')`)
	x, y := p.middle(".arrows")
	still := eval[string](p, `document.querySelector('.arrows .arrow-of').getAttribute('d')`)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, x, y)
	p.until(`document.querySelector('.arrows .arrow-of').getAttribute('d') !== ` + quote(still))
	p.mouse(input.DispatchMouseEventTypeMouseMoved, 5, 5)
	p.until(`document.querySelector('.arrows .arrow-of').getAttribute('d') === ` + quote(still))
	p.focus(`.moves input[type=range]`)
	p.keys(kb.ArrowRight)
	p.until(`document.querySelector('.arrows .arrow-of').getAttribute('d') !== ` + quote(still))
	p.enter("#generators-samples", "2")
	p.until(`location.hash.includes('generators-samples=2')`)
	p.until(`document.querySelector('#generators-samples .segments [aria-pressed=true]').textContent === '2'`)
	p.elsewhere("discovery", "#families svg")

	// Who wants less motion gets none by itself.
	calm := open(t, p.address(), screen{width: 1000, height: 800, scheme: "light", reduced: true})
	calm.until(`document.querySelector('.arrows')?.getAttribute('aria-label').includes('cloud of the run')`)
	calm.focus(".arrows")
	calm.steady(`document.querySelector('.arrows .arrow-of').getAttribute('d')`,
		eval[string](calm, `document.querySelector('.arrows .arrow-of').getAttribute('d')`))
}

// TestPictureArrows draws the family of a model of pictures on a digit: every arrow lies along the ellipses on which
// the model does not see that it moved, all the same way around, and the picture moves with them.
func TestPictureArrows(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	model(t, filepath.Join(dir, "tilted.onnx"), "tilted", 28, 0)
	digits := filepath.Join(filepath.Dir(studyFile(t, "digits")), "data", "digits1000-images-idx3-ubyte.gz")
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(`version: 1
models: tilted.onnx
data: {format: idx, images: '`+digits+`', labels: none, limit: 64}
input: {space: image, scale: 255}
output: {space: scores, action: invariant}
group: {name: C4}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	found(t, dir, "discover", "study.yaml", "--what", "generators", "-o", "found")
	command(t, dir, "run", "-q", "study.yaml", "--limit", "2", "-o", "run")
	p := open(t, at(serve(t, dir), "/runs"), desktop)
	p.press("main", "Symmetries that were found")
	p.until(`document.querySelector('.arrows')?.getAttribute('aria-label').includes('a picture of the run beside it')`)
	p.until(`document.querySelector('.arrows image')?.getAttribute('href').startsWith('data:image/png')`)
	type arrow struct{ X, Y, DX, DY float64 }
	arrows := eval[[]arrow](p, `[...document.querySelector('.arrows').querySelectorAll('.arrow-of')].map((a) => {
		const [x, y, ex, ey] = a.getAttribute('d').match(/-?[\d.]+(?:e-?\d+)?/g).map(Number);
		return {X: x, Y: y, DX: ex - x, DY: ey - y};
	})`)
	if len(arrows) < 60 {
		t.Errorf("%d arrows", len(arrows))
	}
	const half = 14. / 100 // pixels of the drawing's unit
	way := 0.
	for _, a := range arrows {
		x, y := tilt.flow(a.X*half, a.Y*half)
		along, across := a.DX*x+a.DY*y, a.DX*y-a.DY*x
		if way == 0 {
			way = along
		}
		if size := math.Hypot(a.DX, a.DY) * math.Hypot(x, y); !(math.Abs(across) <= 0.03*size) || along*way < 0 {
			t.Errorf("the arrow at %.1f, %.1f pixels goes %.1f, %.1f; its ellipse %.2f, %.2f", a.X*half, a.Y*half, a.DX,
				a.DY, x, y)
		}
	}
	p.until(`(() => {
		const tip = document.querySelector('.arrows .tip-of'), line = document.querySelector('.arrows .arrow-of');
		return tip !== null && getComputedStyle(tip).fill === getComputedStyle(line).stroke;
	})()`)
	p.narrow()
	p.keep("discovery-picture")
	p.axe("the discovery of a model of pictures")
	turned := func() string {
		return eval[string](p, `document.querySelector('.arrows image').getAttribute('transform')`)
	}
	still := turned()
	p.focus(`.moves input[type=range]`)
	p.keys(kb.ArrowRight)
	p.until(`document.querySelector('.arrows image').getAttribute('transform') !== ` + quote(still))
}

// TestWatchAndWeightsPages reads releases that became worse, and what two checkpoints are to each other.
func TestWatchAndWeightsPages(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join("..", "watch", "testdata", "watch.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "watch.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	models := filepath.Join(filepath.Dir(studyFile(t, "digits")), "models")
	found(t, dir, "weights", filepath.Join(models, "digits-original.onnx"),
		filepath.Join(models, "digits-augmented.onnx"), "--probes", "4", "-o", "weights.json")
	p := open(t, at(serve(t, dir), "/runs"), desktop)
	p.press("main", "Releases")
	p.visible("#series svg")
	if text := p.text(".summary .answer"); !strings.HasPrefix(text, "ALARM") {
		t.Errorf("the page begins with %q", text)
	}
	p.narrow()
	p.keep("watch")
	p.axe("watch")
	p.focus("#series svg")
	p.keys(kb.End)
	p.until(`document.querySelector('#series output').textContent.includes('12, alarm')`)
	p.click(`#all-series tbody tr:nth-child(3) button`)
	p.until(`location.hash.includes('series=')`)
	p.until(`document.querySelector('#series h2').textContent.includes('new inputs')`)
	p.until(`document.querySelectorAll('#series figure').length === 2 && document.querySelector('.found b') === null`)
	p.elsewhere("watch", "#series svg")
	p.press("header nav", "Weights")
	p.visible("#two svg")
	if text := p.text(".summary .answer"); !strings.HasPrefix(text, "Different") {
		t.Errorf("the page begins with %q", text)
	}
	p.narrow()
	p.keep("weights")
	p.axe("weights")
	p.focus("#two svg")
	p.keys(kb.End)
	p.until(`document.querySelector('#two output').textContent.startsWith('stored, from the first: ')`)
	p.elsewhere("weights", "#two svg")
}

// TestIdentifyPage answers the questions by mouse and by keys, and keeps a study that the program reads.
func TestIdentifyPage(t *testing.T) {
	t.Parallel()
	chromium(t)
	p := open(t, at(shared(t), "/runs"), desktop)
	p.press("main", "Answer some questions")
	p.visible("#ask-data")
	p.click(`#ask-data input[value=picture]`)
	p.visible("#ask-turn")
	p.click(`#ask-answer input[value=class]`)
	p.focus(`#ask-turn input[value=any]`)
	p.keys(" ") // a choice by keys
	p.visible("#ask-range")
	p.write("#ask-range input[type=text]", "400")
	p.keys(kb.Tab)
	p.until(`document.querySelector('#ask-range [role=alert]')?.textContent.includes('180')`)
	p.write("#ask-range input[type=text]", "30")
	p.keys(kb.Tab)
	p.until(`document.querySelector('#ask-range [role=alert]') === null`)
	p.until(`document.querySelector('#follows tbody th')?.textContent === 'SO(2)'`)
	p.until(`document.querySelector('#files pre').textContent.includes('[[-30, 30]]')`)
	p.click(`#ask-turn .guess input`)
	p.until(`document.querySelector('#follows tbody td').textContent.includes('likely')`)
	p.until(`decodeURIComponent(location.hash).includes('turn=any?')`)
	p.narrow()
	p.keep("identify")
	p.axe("identify")
	to := p.downloads()
	p.press("#files", "Save study.yaml")
	_, b := p.saved(to, ".yaml")
	if !strings.Contains(string(b), "hypothesis: true") {
		t.Errorf("the study says %s", b)
	}
	p.press("#files", "symmetry.md")
	p.until(`document.querySelector('#files pre').textContent.includes('SO(2)')`)
	p.elsewhere("identify", "#follows")

	// Who has nothing to show is asked at once.
	nothing := serve(t)
	if !strings.HasSuffix(nothing, "#/identify") {
		t.Errorf("without a folder the address is %s", nothing)
	}
	n := open(t, at(nothing, "/identify"), desktop)
	n.visible("#ask-data")
	n.press("header", "Runs")
	n.visible(".runs-empty")
	n.press("main", "Answer some questions")
	n.visible("#ask-data")

	// A folder of answers opens with them.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "answers.yaml"), []byte("answer: class\ndata: signal\nstart: any\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	q := open(t, at(serve(t, dir), ""), desktop)
	q.visible("#ask-start")
	q.until(`document.querySelector('#ask-start input[value=any]').checked`)
}

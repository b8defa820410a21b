package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"nero/internal/slow"
)

// TestMoreModels shows a third model beside A and B: in the curves, the tables, the table of samples and the views
// below it, by mouse and by keyboard, and in the address.
func TestMoreModels(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	p := open(t, at(serve(t, threeModels(t)), "/run/three?v=1"), desktop)
	p.ready()
	p.is(`document.querySelectorAll('#aggregate .legend .line.m3').length`, 0)
	p.click("#more-models")
	p.until(`document.querySelector('.others input') !== null`)
	p.axe("the menu of models", "header")
	p.click(".others input")
	p.until(`document.querySelectorAll('#aggregate .draw .line.m3, #individual .draw .line.m3').length >= 2`)
	p.keys(kb.Escape)
	p.until(`document.activeElement?.id === 'more-models' && /[?&]more=2(&|$)/.test(location.hash)`)
	p.is(`[...document.querySelectorAll('#aggregate .numbers tbody th, #individual .numbers tbody th')].map(e => e.textContent)`,
		[]string{"original", "augmented", "again", "original", "augmented", "again"})
	// The third is the first under another name: its numbers are the same, exactly.
	p.until(`(a => a.fresh && a.doc.curves.length === 3 && JSON.stringify(a.doc.curves[2].mean) === JSON.stringify(a.doc.curves[0].mean))(__nero.state.choice.aggregate.value)`)
	p.until(`[...document.querySelectorAll('#table thead th')].some(e => e.textContent.includes('mean C'))`)
	p.is(`(c => c && JSON.stringify([...c]))(__nero.state.choice.column('mean2')) === JSON.stringify([...__nero.state.choice.column('mean0')])`, true)
	// The legend by keyboard: one curve stands out, and back.
	p.focus("#aggregate .legend li:nth-child(3) button")
	p.keys(kb.Enter)
	p.until(`document.querySelector('#aggregate .body').dataset.lit === '3' && getComputedStyle(document.querySelector('#aggregate .draw .line.m0')).opacity < 0.5 && getComputedStyle(document.querySelector('#aggregate .draw .line.m3')).opacity > 0.9`)
	p.axe("three models", "#aggregate")
	p.keys(kb.Enter)
	p.until(`document.querySelector('#aggregate .body').dataset.lit === undefined`)
	// Similarity to the aggregate is a column that the samples can be ranked by.
	p.turn(`#samples .rank select`, "corr2")
	p.until(`[...document.querySelectorAll('#table thead th')].some(e => e.textContent.includes('correlation with the mean curve C'))`)
	if s := p.text("#samples .rank button"); !strings.Contains(s, "alike") {
		t.Errorf("the order is called %q", s)
	}
	eval[bool](p, `(document.querySelector('#explore').scrollIntoView(), true)`)
	p.until(`document.querySelectorAll('.gallery li').length > 0 && document.querySelector('.gallery li').querySelectorAll('.case-said').length === 3`)
	p.click("#tab-curves")
	p.turn(`#explore .explore-tools select`, "2")
	p.until(`document.querySelector('#explore .ice .mean.m3') !== null && document.querySelectorAll('#explore .histograms figure').length === 6`)
	p.axe("every curve of the third", "#explore")
	p.narrow()
	// Two again.
	p.click("#more-models")
	p.press(".others", "None")
	p.until(`document.querySelectorAll('#aggregate .draw .line.m3').length === 0 && !/[?&]more=/.test(location.hash)`)
}

// threeModels runs a few digits through three models, the third of which is the first under another name.
func threeModels(t *testing.T) string {
	t.Helper()
	chromium(t)
	from, err := filepath.Abs(filepath.Join("..", "studies", "digits"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(from, "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	from = filepath.ToSlash(from)
	study := strings.NewReplacer("data/", from+"/data/", "models/", from+"/models/").Replace(string(b))
	const second = "digits-augmented.onnx}\n"
	study = strings.Replace(study, second, second+"  - {name: again, onnx: "+from+"/models/digits-original.onnx}\n", 1)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "three.yaml"), []byte(study), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "run", "three.yaml", "--limit", "30", "-o", "three")
	return filepath.Join(dir, "three")
}

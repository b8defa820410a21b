package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestFeaturesPage reads how the features of two digit models move, in the planes that turn, and beside another
// release.
func TestFeaturesPage(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	found(t, dir, "embed", studyFile(t, "digits"), "--samples", "100", "--elements", "12", "--value", "/MaxPool",
		"--against", filepath.Join(filepath.Dir(studyFile(t, "digits")), "models", "digits-augmented.onnx"),
		"-o", "embedding.json")
	p := open(t, at(serve(t, dir), "/runs"), desktop)
	p.press("main", "Features")
	p.visible("#moves svg")
	if text := p.text(".summary .answer"); !strings.HasPrefix(text, "original: ") {
		t.Errorf("the page begins with %q", text)
	}
	p.narrow()
	p.keep("features")
	p.axe("features")
	p.focus("#moves svg")
	p.keys(kb.End)
	p.until(`document.querySelector('#moves output').textContent.startsWith('ratio: ')`)
	p.focus("#generator .plane svg")
	p.keys(kb.Home)
	p.keys(kb.ArrowRight)
	p.until(`/, .+°: [^ ]+, [^ ]+$/.test(document.querySelector('#generator .plane output').textContent)`)
	first := p.text("#generator .plane output")
	p.click(`#generator [aria-label="Plane"] button:nth-child(2)`)
	p.until(`location.hash.includes('plane=2')`)
	p.overAt("#generator .plane svg", 0.5, 0.5)
	if first == "" {
		t.Error("nothing is said of a point")
	}
	p.click(`.models button:nth-child(2)`)
	p.until(`document.querySelector('.summary .answer').textContent.startsWith('augmented: ')`)
	p.visible("#release table")
	p.elsewhere("features", "#moves svg")
}

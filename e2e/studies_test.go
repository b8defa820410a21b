package e2e

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestStudies works with the built-in studies of detection and flow, their real models answering: what is live is what
// was recorded, the window can be dragged over the photo, and the fields of both models are there.
func TestStudies(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real models")
	}
	t.Parallel()
	chromium(t)
	dir := t.TempDir()
	for _, name := range []string{"cells", "flow"} {
		file, err := filepath.Abs(filepath.Join("..", "studies", name, "demo.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		command(t, dir, "run", "-q", file, "--limit", "1", "-o", name)
	}
	address := serve(t, filepath.Join(dir, "cells"), filepath.Join(dir, "flow"))

	p := open(t, at(address, "/run/cells?v=1&g=0,0"), desktop)
	p.until(`document.querySelector('#individual [role=application]') !== null`)
	p.live()
	const warned = `/differ by more than rounding/.test(document.querySelector('#individual').textContent)`
	p.drag(window+" .stage", [2]float64{.5, .5}, [2]float64{.5 + 8./256, .5 - 16./256})
	p.is(`__nero.state.place.g.value`, []float64{-8, 16})
	p.live()
	p.until(`document.querySelectorAll('#detail .found').length > 0 && document.querySelectorAll('#detail .refbox').length >= 2`)
	p.steady(warned, false) // it is an element of the plan: live and recorded values are the same
	p.focus(mapView)
	p.keys(kb.ArrowRight, kb.ArrowRight, kb.ArrowRight)
	p.is(`__nero.state.place.g.value`, []float64{-5, 16})
	p.live()
	p.keep("cells")

	q := open(t, at(address, "/run/flow?v=1&g=0,0,0"), desktop)
	q.until(`document.querySelector('#individual [role=radiogroup]') !== null`)
	q.live()
	q.click(tileView + " [data-k='9']")
	q.live()
	q.until(`document.querySelectorAll('#detail .flowrow canvas').length === 2`)
	q.steady(warned, false)
	q.focus(picker)
	q.keys(kb.ArrowLeft)
	q.is(`__nero.state.place.pixel.value`, []int{128, 127})
	q.choose("header select[aria-label=Reference]", "consensus")
	// The consensus is found beside the answers; the page asks again until it is there.
	q.until(`document.querySelectorAll('#detail .flowrow figcaption small').length >= 2 && !/waiting for its reference/.test(document.querySelector('#detail').textContent) && /reference: consensus/.test(document.querySelector('#detail').textContent)`)
	q.steady(warned, false)
	q.keep("flow")
}

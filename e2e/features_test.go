package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/encoder"
	"nero/internal/slow"
	"nero/present/sheet"

	"github.com/chromedp/chromedp/kb"
)

// TestFeaturesPage reads how the features of two digit models move, in the planes that turn, and beside another
// release.
func TestFeaturesPage(t *testing.T) {
	slow.Test(t)
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

// TestOtherFeatures reads planes that turn, a matrix for each generator, listed views and sequences of views.
func TestOtherFeatures(t *testing.T) {
	chromium(t)
	at95 := func(x, wide float64) encoder.Estimate {
		return encoder.Estimate{Value: encoder.Number(x), Low: encoder.Number(x - wide), High: encoder.Number(x + wide)}
	}
	near := func(steps int, auc float64, views ...string) encoder.Near {
		return encoder.Near{
			Steps: steps, Views: views, Pairs: 30, Things: 15, Ratio: at95(0.4, 0.1), AUC: at95(auc, 0.05),
			Worst: []string{"3/left", "3/right"}, WorstRatio: 1.1,
		}
	}
	step := func(x float64) *encoder.Step { return &encoder.Step{Ratio: at95(x, 0.05), Worst: "7", WorstRatio: 0.9} }
	mrr := encoder.Retrieval{
		N: 20, MRR: at95(0.9, 0.05), H1: at95(0.8, 0.1), H5: at95(1, 0), H10: at95(1, 0), Candidates: 4, Chance: 0.52,
	}
	r := &encoder.Report{
		Format: encoder.FormatNumber, Seed: 7, Confidence: 0.95, Group: "SE(2)", Measure: "of all elements",
		Elements: []string{"0°", "90°"}, Models: []*encoder.Model{{
			Model: "moving", Digest: "a", Value: "pooled", Width: 9, State: encoder.Move, Sentence: "moving: it moves.",
			Generators: &encoder.Generators{
				Of: "rotation", Unit: "rad", Axes: 2, Held: 1, Frequencies: []encoder.Estimate{at95(1, 0.01)},
				Start: []encoder.Number{1}, R2Unseen: at95(0.9, 0.02), R2Seen: at95(0.9, 0.02),
				R2Ridge: at95(0.9, 0.02), T: []encoder.Number{0, 1.5}, Planes: []encoder.Plane{
					{Frequency: 2, Spread: 1, Samples: []encoder.InPlane{{
						Sample: "7", X: []encoder.Number{1, -0.9}, Y: []encoder.Number{0, 0.1},
					}}},
					{Frequency: 1, Spread: 2, Samples: []encoder.InPlane{{
						Sample: "7", X: []encoder.Number{1, 0.1}, Y: []encoder.Number{0, 1},
					}}},
				},
			},
			Algebra: &encoder.Algebra{
				Axes: 9, Held: 1, R2Unseen: at95(0.9, 0.02), R2Seen: at95(0.95, 0.01), R2Ridge: at95(0.97, 0.01),
				Fitted: 20, Unseen: 4, Generators: []encoder.Turning{
					{Of: "rotation", Unit: "rad", Frequencies: []encoder.Estimate{at95(0, 0), at95(1, 0.01)}},
					{Of: "shift x", Unit: "px", Frequencies: []encoder.Estimate{at95(0, 0)}, Growth: 0.01},
				},
				Brackets: []encoder.Bracket{{First: "rotation", Second: "shift x", Defect: 0.02}},
			},
		}, {
			Model: "listed", Digest: "b", Value: "pooled", Width: 9, State: encoder.Stay,
			Sentence: "listed: views stay.",
			Given: &encoder.Given{
				Inputs: 60, Things: 15, Same: 2, Others: 1000, Steps: []encoder.Near{near(1, 0.98), near(2, 0.91)},
				Views: []encoder.Near{near(1, 0.98, "left", "right")},
			},
		}, {
			Model: "sequence", Digest: "c", Value: "vector", Width: 9, State: encoder.Move,
			Sentence: "sequence: it moves.", Sequences: &encoder.Sequences{
				Views: "views", Actions: "actions", Lengths: []encoder.Length{
					{Views: 2, Rank: at95(3, 0.1), Apart: 1, Order: step(0.5), Longest: step(0.6), Retrieval: &mrr},
					{Views: 4, Rank: at95(3, 0.1), Apart: 1, Order: step(0.4), Route: step(0.3), Retrieval: &mrr},
				},
			},
		}},
	}
	r.Conclude()
	form, err := sheet.Find(encoder.Forms(), "json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := form.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "embedding.json"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, at(serve(t, dir), "/runs"), desktop)
	p.press("main", "Features")
	for k, shown := range []string{"#algebra table", "#given svg", "#sequences svg"} {
		if k > 0 {
			p.click(fmt.Sprintf(".models button:nth-child(%d)", k+1))
		}
		p.visible(shown)
		p.narrow()
		name := "features-" + r.Models[k].Model
		p.keep(name)
		p.axe(name)
		if k == 0 { // the plane that holds most, by keys, and the other one by mouse
			p.focus("#generator .plane svg")
			p.keys(kb.Home, kb.ArrowRight)
			p.until(`document.querySelector('#generator .plane output').textContent === '7, 90°: 0.100, 1.000'`)
			p.click(`#generator [aria-label="Plane"] button:nth-child(1)`)
			p.until(`location.hash.includes('plane=1')`)
			p.overAt("#generator .plane svg", 0.5, 0.5)
		}
		p.elsewhere(name, shown)
	}
}

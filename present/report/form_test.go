package report_test

import (
	"bytes"
	"testing"

	"nero/present/report"
	"nero/present/view"
)

// A layout from elsewhere is drawn by the form that is handed in.
func TestForeignForm(t *testing.T) {
	mine := &view.Layout{Name: "mine", Doc: "mine", Takes: func(view.Orbit) bool { return true }}
	f := &view.Figure{
		Name: "f", Title: "t", Alt: "a", Layout: mine, Legend: []view.Key{{Name: "m"}},
		Scale: view.Scale{Label: "value", Hi: 1}, Panels: []view.Panel{{Series: []view.Series{{Name: "m"}}}},
	}
	form := report.Form{
		Layout: mine, Least: 100, Most: 1, Wide: true,
		Draw: func(c *report.Canvas, p *view.Panel, x, y, w float64, _ bool) float64 {
			c.Line(p.Series[0].Model, [2]float64{x, y}, [2]float64{x + w, y + 20})
			c.Mark(p.Series[0].Model, x, y)
			c.Text(x, y+40, "drawn by "+c.Figure().Layout.Name)
			return y + 50
		},
	}
	p, err := report.Draw(f, report.Options{Forms: []report.Form{form}})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(p.SVG, []byte("drawn by mine")) {
		t.Errorf("the form was not asked:\n%s", p.SVG)
	}
}

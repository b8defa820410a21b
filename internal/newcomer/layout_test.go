package newcomer

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"nero/app"
	"nero/present/report"
	"nero/present/view"
)

func TestLayout(t *testing.T) {
	// Two elements stand one below the other.
	ladder := &view.Layout{
		Name: "ladder", Doc: "In a *ladder* two elements stand one below the other.",
		Takes: func(o view.Orbit) bool { return len(o.Elements) == 2 },
	}
	var drawn, points atomic.Int64
	form := report.Form{
		Layout: ladder, Least: 100, Most: 2,
		Draw: func(c *report.Canvas, p *view.Panel, x, y, w float64, _ bool) float64 {
			drawn.Add(1)
			if c.Figure().Layout != ladder {
				t.Errorf("drawn for the layout %s", c.Figure().Layout)
			}
			for _, s := range p.Series {
				for k, q := range s.Points {
					points.Add(1)
					c.Mark(s.Model, x+w*float64(q.Value), y+20*float64(k+1))
				}
			}
			return y + 60
		},
	}
	a := &app.App{Parts: app.Parts{
		Layouts: append([]*view.Layout{ladder}, view.Layouts()...),
		Forms:   []report.Form{form},
	}}
	r := run(t, a, study(t, firstTwo(), "C2"))
	out := filepath.Join(t.TempDir(), "report")
	files, err := a.Report(t.Context(), r.Dir, out, "")
	if err != nil {
		t.Fatal(err)
	}
	if drawn.Load() == 0 || points.Load() != 2*drawn.Load() {
		t.Errorf("drawn %d times, with %d points", drawn.Load(), points.Load())
	}
	b, err := os.ReadFile(filepath.Join(out, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if !strings.Contains(text, ladder.Doc) || len(files) == 0 {
		t.Errorf("%d files; the report does not say how to read it:\n%s", len(files), text)
	}
}

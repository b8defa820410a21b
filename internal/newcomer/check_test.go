package newcomer

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"nero/app"
	"nero/audit"
	"nero/audit/check"
	"nero/data/space"
)

// shade is a category of findings, which policy and reports take as it is.
var shade = &audit.Category{
	Name: "shade", Title: "dark answers", Doc: "An answer is below zero.", Severity: audit.High, Verdict: audit.Failed,
}

// dark is a check.
var dark = &audit.Check{
	Name: "dark", Doc: "Dark asks whether every number of an answer is at least 0. Each input is predicted as it is.",
	Run: func(ctx context.Context, p *audit.Pass) (any, error) {
		least := math.Inf(1)
		for i := range p.Subject.N {
			s, err := p.Sample(i)
			if err != nil {
				return nil, err
			}
			y, err := p.Subject.Predictor.Predict(ctx, []space.Value{s.Value})
			if err != nil {
				return nil, err
			}
			for _, x := range y[0].Numbers() {
				least = min(least, x)
			}
		}
		low := audit.Number("least number", least, "").Against(0)
		p.Measure(low)
		if !(least >= 0) {
			p.Report(audit.Finding{
				Category: shade, Message: "an answer is below 0", Location: "output", Evidence: []audit.Evidence{low},
				Worst: audit.Nowhere, Remedies: []string{"end the model in a Relu"},
			})
		}
		return nil, nil //nolint:nilnil // nobody reads what it saw
	},
}

func TestCheck(t *testing.T) {
	a := &app.App{Parts: app.Parts{Checks: append(check.All(), dark)}}
	for _, sign := range []float32{1, -1} {
		m := model{in: []int{1, side, side}, out: 1, answer: func(x []float32) []float32 {
			y := float32(0)
			for _, v := range x {
				y += v / 8 // multiples of 2⁻¹¹: the order of adding does not matter
			}
			return []float32{sign * y}
		}}
		s := study(t, m, "C2")
		s.Input.Scale = 256
		s.Audit.Checks = []string{"lattice", "dark"}
		r, err := a.Audit(t.Context(), s, app.AuditOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		var doc bytes.Buffer
		if err := r.Write(&doc, "json"); err != nil {
			t.Fatal(err)
		}
		got := r.Reports[0]
		bad := got.Verdict == audit.Failed
		if bad != (sign < 0) || strings.Contains(doc.String(), `"shade"`) != bad ||
			strings.Contains(doc.String(), `"title": "dark answers"`) != bad {
			t.Errorf("sign %g: verdict %s; the document:\n%s", sign, got.Verdict, doc.String())
		}
	}
	if list, err := a.Checks("dark"); err != nil || list[0].Doc != dark.Doc || list[0].Role != "judges" {
		t.Errorf("the list says %+v, %v", list, err)
	}
	if _, _, err := check.Select([]string{"dark"}, nil); err == nil {
		t.Error("a program without the check knows it")
	}
}

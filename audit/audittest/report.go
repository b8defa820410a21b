package audittest

import (
	"fmt"
	"math"

	"nero/audit"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Report is a made-up report in which every part of a report occurs, for tests of the forms in which reports are
// written. Its numbers are round and equal on every processor.
func Report() *audit.Report {
	nan := math.NaN()
	p := audit.Policy{
		Preset: "production", Threshold: 1e-4, Origin: "preset production", Confidence: 0.95, FailureRate: 0.05,
		FailOn: audit.FailOnAttention, RoundingFactor: 10, NoiseFactor: 3,
	}
	at := func(sample string, index int, deg float64) audit.Where {
		return audit.Where{
			Sample: sample, Index: index, Element: group.Element{deg},
			Label: audit.Label(catalog.SO2(), group.Element{deg}),
		}
	}
	exact := &audit.Set{
		Name: "exact elements", Exact: true, Inputs: 100, Pairs: 300, NonFiniteAt: audit.Nowhere, Scale: 2,
		Rel: audit.Stats{N: 300, Mean: 2e-7, Std: 1e-7, P50: 2e-7, P95: 4e-7, P99: 5e-7, Max: 6e-7},
		Abs: audit.Stats{N: 300, Mean: 4e-7, Std: 2e-7, P50: 4e-7, P95: 8e-7, P99: 1e-6, Max: 1.25e-6}, Component: 1e-6,
		Mean:   audit.Interval{Value: 2e-7, Lo: 1.5e-7, Hi: 2.5e-7, N: 100},
		Worst:  audit.Interval{Value: 4e-7, Lo: 3e-7, Hi: 5e-7, N: 100},
		Exceed: audit.Interval{Value: 0, Lo: 0, Hi: 0.036, N: 100}, At: at("d-0042", 42, 180),
		Resampling: audit.Stats{Mean: nan, Std: nan, P50: nan, P95: nan, P99: nan, Max: nan},
		Ratio:      audit.Interval{Value: nan, Lo: nan, Hi: nan},
		Floors:     audit.Floors{Rounding: 5e-7}, Detectable: 1e-5, Cause: audit.CauseRoundoff, Level: audit.LevelExact,
		Verdict: audit.Passed, Reason: "largest error 4.0e-07 (at most 5.0e-07) < 0.0001",
		Slope: &audit.Slope{
			Single: audit.Interval{Value: 4e-7, Lo: 3e-7, Hi: 5e-7, N: 20},
			Double: audit.Interval{Value: 1e-15, Lo: 8e-16, Hi: 1.25e-15, N: 20},
			Apart:  2e-7, Inputs: 20, Elements: 3,
		},
		Steps: []audit.Step{{Name: "rounding", Text: "error is 0.8 times the rounding floor 5.0e-07", Named: true}},
	}
	between := &audit.Set{
		Name: "continuous elements", Inputs: 100, Pairs: 2000, NonFinite: 1, NonFiniteAt: at("d-0007", 7, 15), Scale: 2,
		Rel: audit.Stats{N: 2000, Mean: 0.25, Std: 0.125, P50: 0.2, P95: 0.5, P99: 0.7, Max: 0.9},
		Abs: audit.Stats{N: 2000, Mean: 0.5, Std: 0.25, P50: 0.4, P95: 1, P99: 1.4, Max: 1.8}, Component: 1.5,
		Mean:   audit.Interval{Value: 0.25, Lo: 0.2, Hi: 0.3, N: 100},
		Worst:  audit.Interval{Value: 0.5, Lo: 0.45, Hi: 0.55, N: 100},
		Exceed: audit.Interval{Value: 1, Lo: 0.964, Hi: 1, N: 100}, Exceeding: 100, At: at("d-0017", 17, 45),
		Resampling: audit.Stats{N: 2000, Mean: 0.02, Std: 0.01, P50: 0.02, P95: 0.04, P99: 0.05, Max: 0.06},
		Ratio:      audit.Interval{Value: 12.5, Lo: 10, Hi: 15, N: 100}, Floors: audit.Floors{Rounding: 5e-7},
		Detectable: nan,
		Cause:      audit.CauseViolation, Level: audit.LevelBroken, Verdict: audit.Failed,
		Reason: "largest error 0.5 (at least 0.45) > 0.0001",
		Steps: []audit.Step{
			{Name: "rounding", Text: "error is 1.0e+06 times the rounding floor 5.0e-07"},
			{
				Name: "real violation", Text: "nothing else explains the error", Named: true,
				Evidence: []audit.Evidence{audit.Number("largest error", 0.9, "")},
			},
		},
	}
	for deg := 15.0; deg < 360; deg += 15 {
		pt := audit.Point{Element: group.Element{deg}, Label: audit.Label(catalog.SO2(), group.Element{deg}), N: 100}
		if math.Mod(deg, 90) == 0 {
			pt.Exact, pt.Added, pt.Resampling = true, deg == 270, nan
			pt.Mean, pt.P95, pt.Max = 2e-7, 4e-7, 6e-7
			exact.Profile = append(exact.Profile, pt)
			continue
		}
		off := math.Mod(deg, 90) / 90 // tent between the quarter turns
		pt.Mean = math.Round(1000*(0.05+float64(0.8*math.Min(off, 1-off)))) / 1000
		pt.P95, pt.Max, pt.Resampling = 1.5*pt.Mean, 2*pt.Mean, 0.02
		between.Profile = append(between.Profile, pt)
	}
	edge := audit.Clue{
		Name: audit.ClueEdgeBand, Holds: true, Strength: 0.9, Check: "padding",
		Text:     "74% of the squared error lies within 3 pixels of the border",
		Evidence: []audit.Evidence{audit.Number("share at the border", 0.74, "share")},
	}
	first := audit.Clue{
		Name: audit.ClueFirstLayer, Holds: true, Strength: 0.8, Check: "layers", Location: "/conv1/Conv",
		Text: "the symmetry is first lost in /conv1/Conv (Conv), a convolution; it causes 62.0% of the error " +
			"at the output",
	}
	stride := audit.Clue{
		Name: audit.ClueStridePattern, Holds: false, Strength: 0.7, Check: "shifts",
		Text: "the error over shifts has no period above 1",
	}
	check := func(name, doc string) *audit.Check { return &audit.Check{Name: name, Doc: doc} }
	results := []*audit.Result{
		{
			Check:  check("controls", "Controls ask whether the test can fail. A planted break must be noticed."),
			Status: audit.Tested, Verdict: audit.Passed,
			Measures: []audit.Evidence{
				audit.Number("error at the identity", 0, "").Against(1e-6),
				audit.Number("something undefined", nan, "px"),
			},
		},
		{
			Check:  check("endtoend", "End to end asks whether the output moves as claimed. All elements count."),
			Status: audit.Tested, Verdict: audit.Failed,
			Sets: []*audit.Set{exact, between},
			Findings: []audit.Finding{{
				Category: audit.Violation, Set: between.Name, Location: "output", Worst: between.At,
				Message: "continuous elements: the model changes its answer by 0.5 of its scale, worst 0.9 for " +
					between.At.String(),
				Evidence: []audit.Evidence{audit.Measured("largest error on the orbit, mean over inputs", between.Worst,
					"").Against(p.Threshold)},
				Remedies: []string{"use a finer group or band-limited filters", "or claim the exact subgroup only"},
			}},
			Exhibits: []audit.Exhibit{{
				Name: "steps", Title: "Error over the size of the step",
				Note: "A plateau in the middle is the derivative; the left end is rounding.",
				Curve: &audit.Curve{
					X: audit.Scale{Name: "step", Unit: "deg", Log: true},
					Y: audit.Scale{Name: "error over step", Unit: "1/deg", Log: true}, Limit: 1e-3,
					Series: []audit.Series{
						{
							Name: "one-sided", X: []float64{1e-4, 1e-3, 1e-2, 0.1, 1},
							Y: []float64{0.3, 0.04, 0.02, 0.03, 0.2},
						},
						{
							Name: "central", X: []float64{1e-4, 1e-3, 1e-2, 0.1, 1},
							Y:  []float64{0.2, 0.03, 0.015, 0.015, 0.05},
							Lo: []float64{0.1, 0.02, 0.01, 0.012, 0.04}, Hi: []float64{0.4, 0.05, 0.02, 0.02, 0.07},
						},
						{
							Name: "chosen", X: []float64{0.1}, Y: []float64{0.015}, Labels: []string{"plateau"},
							Marks: true,
						},
					},
				},
			}},
		},
		{
			Check: check("layers", "Layers asks where the error enters."), Status: audit.Tested, Verdict: audit.Passed,
			Clues: []audit.Clue{first},
			Findings: []audit.Finding{{
				Category: audit.Layer, Location: "/conv1/Conv", Message: "the symmetry is first lost in /conv1/Conv",
				Worst:    audit.Nowhere,
				Evidence: []audit.Evidence{audit.Number("share of the error", 0.62, "share")},
			}},
			Exhibits: []audit.Exhibit{{
				Name: "layers", Title: "Where the error enters",
				Table: &audit.Table{
					Columns: []audit.Column{
						{Name: "layer"},
						{Name: "operator"},
						{Name: "prefix", Doc: "error after this layer"},
						{Name: "injected", Doc: "error of this layer alone"},
						{Name: "share", Unit: "share", Doc: "signed part of the error at the output"},
						{Name: "status"},
					},
					Rows: [][]audit.Cell{
						{
							audit.Word("/conv1/Conv"), audit.Word("Conv"), audit.Num(0.3), audit.Num(0.3),
							audit.Num(0.62),
							audit.Word("tested"),
						},
						{
							audit.Word("/relu1/Relu"), audit.Word("Relu"), audit.Num(0.31), audit.Num(0.01),
							audit.Num(-0.02), audit.Word("tested"),
						},
						{
							audit.Word("/conv2/Conv"), audit.Word("Conv"), audit.Num(0.45), audit.Num(0.2),
							audit.Num(0.4),
							audit.Word("tested"),
						},
						{
							audit.Word("/head/Gemm"), audit.Word("Gemm"), audit.Num(0.5), audit.Num(nan), audit.Num(0),
							audit.Word("untestable (no action)"),
						},
					},
				},
			}},
		},
		{
			Check: check("padding", "Padding asks whether the error lies at the border."), Status: audit.Tested,
			Verdict: audit.Passed, Clues: []audit.Clue{edge},
			Exhibits: []audit.Exhibit{
				{Name: "error-map", Title: "Error over the output", Map: ring(12, 16, false)},
				{Name: "signed-map", Title: "Mean difference over the output", Map: ring(12, 16, true)},
			},
		},
		{
			Check: check("shifts", "Shifts asks whether the error has a period."), Status: audit.Tested,
			Verdict: audit.Passed, Clues: []audit.Clue{stride},
		},
		{
			Check: check("gradient", "Gradient asks whether gradients move as they should."), Status: audit.NotTested,
			Reason: "operator Mod of node /mod has no derivative",
		},
		{
			Check: check("decision", "Decision asks whether answers change."), Status: audit.NotApplicable,
			Reason: "the output has no classes",
		},
	}
	return &audit.Report{
		Model: "digits-original", Verdict: audit.Failed, Policy: p, Group: "SO(2)",
		Measure: "uniform grid of 24 angles", Planned: 24, Added: 1, Inputs: 100,
		Output: "scores 10", Scale: 2, Seed: 7, Results: results,
		Reasons: []string{
			"FAIL: continuous elements: " + between.Reason,
			"NEEDS_ATTENTION: gradient: not tested: operator Mod of node /mod has no derivative",
		},
		Outside: []string{"conservative forces"},
		About: []audit.About{
			{Name: audit.AboutFile, Value: "models/original 1.onnx"},
			{Name: audit.AboutDigest, Value: "0123456789abcdef"},
			{Name: audit.AboutEngine, Value: "wasm 1.18.0, float32"},
			{Name: audit.AboutData, Value: "digits.npz, 1797 samples"},
			{Name: audit.AboutDate, Value: "2025-01-02"},
		},
		Diagnoses: []audit.Diagnosis{
			{
				ID: "zero-padding", Cause: "zero padding at the border", Confidence: 0.72, Location: "/conv1/Conv",
				For:     []audit.Clue{edge, first},
				Against: []audit.Clue{stride}, Missing: []audit.ClueName{audit.CluePaddingLayer},
				Fix:    "pad circularly or by reflection, or mask the corners",
				Verify: "audit again: the share of error at the border falls to that of its area",
			},
			{
				ID: "striding", Cause: "striding or pooling", Confidence: 0.15, Against: []audit.Clue{stride},
				Fix: "blur before subsampling", Verify: "shift the input by one pixel",
			},
		},
		Command: "nero audit studies/digits/demo.yaml",
		Gallery: []audit.Case{{
			Title: "continuous elements, largest error", Where: between.At, Note: "Answer 3 unmoved, 8 when turned.",
			Pictures: []audit.Picture{
				{Caption: "input", W: 8, H: 8, Pix: ramp(8, 8, 1)},
				{Caption: "turned by 45°", W: 8, H: 8, Pix: ramp(8, 8, 1)},
				{Caption: "difference", W: 8, H: 8, Pix: ramp(8, 8, 3)},
			},
		}},
	}
}

// ring is an error that lies at the border.
func ring(h, w int, signed bool) *audit.Map {
	m := &audit.Map{H: h, W: w, Unit: "output", Diverging: signed}
	for y := range h {
		for x := range w {
			d := float64(min(x, y, h-1-y, w-1-x))
			v := 0.5 / (1 + float64(d*d))
			switch {
			case x == 0 && y == 0:
				v = math.NaN()
			case signed && x < w/2:
				v = -v / 2
			}
			m.Val = append(m.Val, v)
		}
	}
	return m
}

func ramp(w, h, channels int) []byte {
	var b []byte
	for y := range h {
		for x := range w {
			for c := range channels {
				b = append(b, byte((x*16+y*12+c*64)%256))
			}
		}
	}
	return b
}

// Hostile is a report whose every text tries to break out of the form that it is written in.
func Hostile() *audit.Report {
	const bad = "</title></style><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>\"'`]]>--> " +
		"| @team #1 [x](javascript:alert(1)) \x1b[31m\x00\u202e"
	n := 0
	evil := func(s string) string {
		n++
		return fmt.Sprintf("%s %d %s", s, n, bad)
	}
	r := Report()
	r.Model, r.Group, r.Measure, r.Output, r.Command = evil(r.Model), evil(r.Group), evil(r.Measure), evil(r.Output),
		evil(r.Command)
	for i := range r.Reasons {
		r.Reasons[i] = evil(r.Reasons[i])
	}
	for i := range r.Outside {
		r.Outside[i] = evil(r.Outside[i])
	}
	for i := range r.About {
		r.About[i].Value = evil(r.About[i].Value)
	}
	r.About = append(r.About, audit.About{Name: evil("name"), Value: evil("value")})
	for i := range r.Diagnoses {
		d := &r.Diagnoses[i]
		d.Cause, d.Location, d.Fix, d.Verify = evil(d.Cause), evil(d.Location), evil(d.Fix), evil(d.Verify)
	}
	for _, c := range r.Results {
		c.Reason = evil(c.Reason)
		for i := range c.Measures {
			c.Measures[i].Name, c.Measures[i].Unit = evil(c.Measures[i].Name), evil(c.Measures[i].Unit)
		}
		for i := range c.Findings {
			f := &c.Findings[i]
			f.Message, f.Location = evil(f.Message), evil(f.Location)
			f.Worst.Sample, f.Worst.Label = evil(f.Worst.Sample), evil(f.Worst.Label)
			for j := range f.Remedies {
				f.Remedies[j] = evil(f.Remedies[j])
			}
		}
		for i := range c.Clues {
			c.Clues[i].Text, c.Clues[i].Location = evil(c.Clues[i].Text), evil(c.Clues[i].Location)
		}
		for _, s := range c.Sets {
			s.Name, s.Reason, s.At.Sample, s.At.Label = evil(s.Name), evil(s.Reason), evil(s.At.Sample),
				evil(s.At.Label)
			for i := range s.Profile {
				s.Profile[i].Label = evil(s.Profile[i].Label)
			}
		}
		for i := range c.Exhibits {
			e := &c.Exhibits[i]
			e.Title, e.Note = evil(e.Title), evil(e.Note)
			if t := e.Table; t != nil {
				for j := range t.Columns {
					t.Columns[j].Name, t.Columns[j].Unit, t.Columns[j].Doc = evil(t.Columns[j].Name),
						evil(t.Columns[j].Unit), evil(t.Columns[j].Doc)
				}
				for _, row := range t.Rows {
					for j := range row {
						if !row[j].Number {
							row[j].Text = evil(row[j].Text)
						}
					}
				}
			}
			if v := e.Curve; v != nil {
				v.X.Name, v.Y.Unit = evil(v.X.Name), evil(v.Y.Unit)
				for j := range v.Series {
					v.Series[j].Name = evil(v.Series[j].Name)
					for k := range v.Series[j].Labels {
						v.Series[j].Labels[k] = evil(v.Series[j].Labels[k])
					}
				}
			}
			if e.Map != nil {
				e.Map.Unit = evil(e.Map.Unit)
			}
		}
	}
	for i := range r.Gallery {
		g := &r.Gallery[i]
		g.Title, g.Note = evil(g.Title), evil(g.Note)
		for j := range g.Pictures {
			g.Pictures[j].Caption = evil(g.Pictures[j].Caption)
		}
	}
	return r
}

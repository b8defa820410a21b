package view

import (
	"math"
	"strings"
	"testing"

	"nero/measure/metric"
	"nero/run/fold"
)

// TestSays: the sentences of each kind of task, written out.
func TestSays(t *testing.T) {
	find := func(names ...string) (out []*metric.Metric) {
		for _, n := range names {
			m, err := metric.Find(n)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, m)
		}
		return out
	}
	curve := func(rest, moved, lo, hi, worst, each float64, n int) *fold.Curve {
		num := func(v float64) fold.Number { return fold.Number(v) }
		return &fold.Curve{
			Mean: []fold.Number{num(rest), num(worst)}, WorstElement: 1,
			Moved: fold.Estimate{N: n, Mean: num(moved), Lo: num(lo), Hi: num(hi)},
			// with the identity in it, which says nothing of moved inputs
			Orbit: fold.Estimate{N: n, Mean: num((moved + rest) / 2), Lo: num(lo), Hi: num(hi)},
			Worst: fold.Estimate{N: n, Mean: num(each)},
		}
	}
	old := curve(1, .5, .4, .6, 0, 0, 9)
	old.Moved = fold.Estimate{}
	for _, c := range []struct {
		name, metrics, units string
		curves               []*fold.Curve
		chosen               bool
		want                 string
	}{
		{
			"classes", "confidence accuracy agreement", ",,",
			[]*fold.Curve{
				nil, curve(.988, .418, .403, .432, .124, .068, 1000), curve(1, .42, .4, .44, .13, .08, 1000),
			},
			false,
			"m is right on 98.8% of 1,000 inputs as they are and on 41.8% when they are moved (95% interval 40.3% to " +
				"43.2%; worst at 275°: 12.4%). It keeps its class on 8.0% of them however they are moved.",
		},
		{
			"a chosen one", "accuracy", "",
			[]*fold.Curve{curve(1, .5, 0, 1, 0, 0, 1)},
			true,
			"m is right on 100.0% of the 1 chosen input as it is and on 50.0% when it is moved (95% interval 0.0% to " +
				"100.0%; worst at 275°: 0.0%). It is right on 0.0% of it however it is moved.",
		},
		{
			"no labels", "relative agreement", ",",
			[]*fold.Curve{
				curve(0, .3, .2, .4, .9, 1, 9), curve(1, .42, .4, .44, .42, .08, 9),
			},
			false,
			"m keeps its class on 42.0% of 9 inputs when they are moved (95% interval 40.0% to 44.0%), and on 8.0% " +
				"however they are moved.",
		},
		{
			"boxes", "conf_iou iou miss", ",,",
			[]*fold.Curve{nil, curve(.85, .11, .09, .13, 0, 0, 24), nil},
			false,
			"m overlaps its object by 85.0% (IoU) on 24 inputs as they are and by 11.0% when they are moved (95% " +
				"interval 9.0% to 13.0%; worst at 275°: 0.0%).",
		},
		{
			"all objects", "f1 recall", ",",
			[]*fold.Curve{nil, curve(.6, .3, .2, .4, .1, 0, 24)},
			false,
			"m finds 60.0% of the objects on 24 inputs as they are and 30.0% when they are moved (95% interval 20.0% " +
				"to 40.0%; worst at 275°: 10.0%).",
		},
		{
			"flow", "rmse rmse@self", "px,px",
			[]*fold.Curve{
				curve(.12, 1.75, 1.2, 2.3, 3, 3, 12), curve(0, 1.7, 1, 2, 3, 3, 12),
			},
			false,
			"m is off by 0.120 px on 12 inputs as they are and by 1.750 px when they are moved (95% interval 1.200 " +
				"to 2.300; worst at 275°: 3.000 px). It differs from its own unmoved answer by 1.700 px when they " +
				"are moved.",
		},
		{
			"fields of a record, of which one does not move", "energy.rmse forces.rmse other.rmse", "eV,eV/Å,",
			[]*fold.Curve{curve(.2, .2, .1, .3, .2, 1, 5), curve(.2, .4, math.NaN(), math.NaN(), .4, 1, 5), nil},
			false,
			"m is off by 0.200 eV in energy on 5 inputs, as they are and moved alike (95% interval 0.100 to 0.300). " +
				"It is off by 0.200 eV/Å in forces on 5 inputs as they are and by 0.400 eV/Å when they are moved.",
		},
		{
			"a summary from before there were means of moved inputs", "accuracy", "",
			[]*fold.Curve{old},
			false,
			"m is right on 100.0% of 9 inputs as they are and on 75.0% in the mean over the orbit (95% interval " +
				"40.0% to 60.0%; worst at 275°: 0.0%). It is right on 0.0% of them however they are moved.",
		},
		{"nothing that has words", "confidence kl", ",", []*fold.Curve{nil, nil}, false, ""},
		{"nothing measured", "accuracy", "", []*fold.Curve{{}}, false, ""},
	} {
		s := &Sayer{
			Metrics: find(strings.Fields(c.metrics)...), Units: strings.Split(c.units, ","), Confidence: .95,
			Label: func(int) string { return "275°" },
		}
		if got := s.Says("m", c.chosen, func(i int) *fold.Curve { return c.curves[i] }); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		for _, i := range s.Needs() {
			if i >= len(c.curves) {
				t.Errorf("%s: needs metric %d", c.name, i)
			}
		}
	}
	s := &Sayer{
		Metrics: find("accuracy"), Units: []string{""}, Confidence: .95, Identity: -1,
		Label: func(int) string { return strings.Repeat("long ", 9) },
	}
	without := curve(.9, .5, .4, .6, .1, .2, 7)
	without.Orbit, without.Moved = without.Moved, fold.Estimate{}
	got := s.Says("m", false, func(int) *fold.Curve { return without })
	if want := "m is right on 50.0% of 7 inputs when they are moved (95% interval 40.0% to 60.0%; at worst 10.0%), " +
		"and on 20.0% however they are moved."; got != want {
		t.Errorf("an orbit without the identity:\n got %s\nwant %s", got, want)
	}
}

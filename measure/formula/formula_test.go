package formula

import (
	"errors"
	"math"
	"strings"
	"testing"

	"nero/data/space"
	"nero/measure/metric"
	"nero/symmetry/group"
)

// about is the case that expressions of the tests are about.
func about() metric.Case {
	at := &space.Image{C: 1, H: 2, W: 2, Pix: []float64{1, -2, 3, 4}}
	want := &space.Image{C: 1, H: 2, W: 2, Pix: []float64{1, 0, 3, 8}}
	return metric.Case{At: at, Got: at, Want: want, Truth: want, Label: 2, Element: group.Element{30, -1}}
}

// The values are computed by hand.
func TestValues(t *testing.T) {
	for text, want := range map[string]float64{
		"1 + 2 * 3":                            7,
		"(1 + 2) * 3":                          9,
		"2 ^ 3 ^ 2":                            512,
		"-2 ^ 2":                               -4,
		"2 ** -1":                              0.5,
		"7 - 2 - 1":                            4,
		"1e1 + .5":                             10.5,
		"1 < 2 && 3 >= 3 || 0":                 1,
		"!(1 == 1)":                            0,
		"sum(prediction)":                      6,
		"mean(abs(prediction - reference))":    1.5,
		"norm(prediction - reference)":         math.Sqrt(20),
		"max(prediction)":                      4,
		"sum(max(prediction, 0))":              8,
		"min(max(prediction), label)":          2,
		"argmax(prediction)":                   3,
		"argmin(prediction)":                   1,
		"median(prediction)":                   2,
		"std(reference - prediction)":          math.Sqrt(20.0/4 - 1.5*1.5),
		"sum(where(prediction < 0, 10, 1))":    13,
		"prediction[0][1][0]":                  3,
		"dot(prediction, reference)":           1 + 9 + 32,
		"element[0] - element[1]":              31,
		"size(element)":                        2,
		"round(2.5) + floor(-0.5) + ceil(0.2)": 2,
		"sign(-3) + sqrt(4) + exp(0) + log(1)": 2,
		"cos(0) + sin(0)":                      1,
		"mean(back) - mean(identity)":          -1.5,
		"1 / 0":                                math.NaN(),
		"sum(prediction / (reference))":        math.NaN(),
		"log(0 - 1) < 1":                       math.NaN(),
		"!log(0 - 1)":                          math.NaN(),
		"0 ^ -1":                               math.NaN(),
		"0 ^ -0.5":                             math.NaN(),
		"0 ^ 0.25":                             0,
		"(-1) ^ 100":                           1,
		"(-1) ^ 101":                           -1,
		"(-1) ^ -101":                          -1,
		"(-1) ^ 100.5":                         math.NaN(),
	} {
		p, err := Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v, err := p.Value(about())
		if err != nil || !(math.Abs(v-want) <= 1e-12 || math.IsNaN(v) && math.IsNaN(want)) {
			t.Errorf("%s = %v, want %v (%v)", text, v, want, err)
		}
	}
}

// What is wrong is told with its place and what there is.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                "character 1: the expression ends where",
		"1 +":             "character 4: the expression ends where",
		"1 2":             `character 3: "2" is not expected here`,
		"(1 + 2":          "character 7: no ) for the ( at character 1",
		"mean(prediction": "no ) for the ( behind mean at character 1",
		"mean(, 1)":       `character 6: "," is not expected here`,
		"prediction[0":    "no ] for the [ at character 11",
		"mean(predicton)": "character 6: there is nothing called predicton (did you mean " +
			"prediction?); there are prediction, reference",
		"maen(prediction)": "character 1: there is no function maen (did you mean mean?); " +
			"there are abs",
		"negative(1)":                  "there is no function negative",
		"where(1, 2)":                  "where has 2 arguments, want 3",
		"1..2":                         `"1..2" is not a number`,
		"0x10_1":                       "is not a number",
		"a; b":                         "character 2",
		strings.Repeat("(", 100) + "1": "nested deeper than 64",
		strings.Repeat("-", 100) + "1": "nested deeper than 64",
		strings.Repeat("1 + ", 2000):   "has 8000 characters, at most 4096",
		"prediction": "character 1: the expression is an array of shape [1 2 2], want " +
			"one number: put mean()",
		"sum(prediction + element)":              "character 16: shapes [1 2 2] and [2] do not go together",
		"prediction[1]":                          "character 11: the index 1 is not one of 0 to 0",
		"label[0]":                               "a single number has no parts",
		"1 + " + strings.Repeat("(1)*", 40) + "": "ends where",
	} {
		p, err := Compile(text)
		if err == nil {
			_, err = p.Value(about())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
	p, err := Compile("mean(reference)")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := p.Value(metric.Case{}); err == nil || !math.IsNaN(v) || !strings.Contains(err.Error(), "reference "+
		"is not known here") {
		t.Errorf("%v, %v", v, err)
	}
}

func TestMetric(t *testing.T) {
	known := metric.List(metric.Builtin())
	f := Formula{Name: "off", Expression: "max(abs(prediction - " +
		"reference))", Better: "lower", Range: []float64{0, 3}, Unit: "K"}
	m, err := f.Metric(known)
	if err != nil {
		t.Fatal(err)
	}
	if m.Ref != metric.Target || m.Better != metric.Lower || m.Unit != "K" || !m.Understands(space.KindMask) {
		t.Errorf("%+v", m)
	}
	if v := m.Measure(about()); !math.IsNaN(v) {
		t.Errorf("4 is outside of the range and %v", v)
	}
	f.Range = nil
	if m, err = f.Metric(known); err != nil || m.Measure(about()) != 4 {
		t.Errorf("%v, %v", m.Measure(about()), err)
	}
	free := Formula{Name: "a", Expression: "mean(back)", Better: "higher"}
	if m, err = free.Metric(known); err != nil || m.Ref != metric.Self {
		t.Errorf("%+v, %v", m, err)
	}
	for key, f := range map[string]Formula{
		"name: accuracy is a metric":  {Name: "accuracy", Expression: "1", Better: "lower"},
		`name: "A b"`:                 {Name: "A b", Expression: "1", Better: "lower"},
		"range: [2 1]":                {Name: "a", Expression: "1", Better: "lower", Range: []float64{2, 1}},
		"expression: character 5: th": {Name: "a", Expression: "1 + x", Better: "lower"},
	} {
		_, err := f.Metric(known)
		if _, ok := errors.AsType[*FieldError](err); !ok || !strings.HasPrefix(err.Error(), key) {
			t.Errorf("%v, want %q", err, key)
		}
	}
}

func FuzzExpression(f *testing.F) {
	f.Add("mean(abs(prediction - reference)[0]) ^ 2 >= where(label, 1, -2e-3)")
	f.Add("((((1))))")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Compile(text)
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || e.Column < 1 || e.Column > len(text)+1 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		a, err := p.Value(about())
		b, again := p.Value(about())
		if math.Float64bits(a) != math.Float64bits(b) || (err == nil) != (again == nil) {
			t.Errorf("%q is %v and %v", text, a, b)
		}
	})
}

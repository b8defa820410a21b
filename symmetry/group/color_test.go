package group_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func TestColors(t *testing.T) {
	for _, c := range []struct {
		name    string
		e       group.Element
		p, want []float64
	}{
		{"Hue", group.Element{120}, []float64{1, 0.5, 0}, []float64{0, 1, 0.5}},
		{"Hue", group.Element{240}, []float64{1, 0.5, 0}, []float64{0.5, 0, 1}},
		{"Hue", group.Element{77}, []float64{0.3, 0.3, 0.3}, []float64{0.3, 0.3, 0.3}},
		// Half a turn about the axis of the greys: 2·mean - x.
		{"Hue", group.Element{180}, []float64{0.9, 0.3, 0}, []float64{-0.1, 0.5, 0.8}},
		{"Channels(3)", group.Element{2, 0, 1}, []float64{1, 2, 3}, []float64{2, 3, 1}},
		{"Brightness", group.Element{0.25}, []float64{0.5, 0}, []float64{0.75, 0.25}},
		{"Contrast", group.Element{2}, []float64{0.5, 0.75}, []float64{0.5, 1}},
		{"Gamma", group.Element{2}, []float64{0.5, -0.5}, []float64{0.25, -0.25}},
	} {
		g, ok := parse(t, c.name).(group.Coloring)
		if !ok {
			t.Fatalf("%s changes no colors", c.name)
		}
		got := slices.Clone(c.p)
		g.Color(c.e, got)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-15 {
				t.Errorf("%s %v turns %v into %v, expected %v", c.name, c.e, c.p, got, c.want)
				break
			}
		}
	}
	// 119.999… degrees are near 120: the turn goes the same way.
	g, _ := catalog.Hue().(group.Coloring)
	a, b := []float64{1, 0.5, 0}, []float64{1, 0.5, 0}
	g.Color(group.Element{120}, a)
	g.Color(group.Element{119.9999999}, b)
	if math.Abs(a[0]-b[0])+math.Abs(a[1]-b[1]) > 1e-7 {
		t.Errorf("%v and %v", a, b)
	}
	if is[group.Permuting](parse(t, "Channels(3)")) || is[group.Planar](catalog.Hue()) {
		t.Error("groups of colors leave rows and places alone")
	}
	for name, want := range map[string]string{
		"Channels(9)": "2..8", "Channels": "such as Channels(3)",
		"Channels(1)": "2..8",
	} {
		if _, err := catalog.Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", name, err, want)
		}
	}
	if got := group.Format(parse(t, "Channels(3)"), group.Element{2, 1, 0}); got != "(0 2)" {
		t.Errorf("an exchange is written %q", got)
	}
	for _, c := range []struct {
		name string
		n    int
	}{{"Hue", 72}, {"Channels(3)", 6}, {"Brightness", 9}, {"Contrast", 13}, {"Gamma", 13}} {
		if es, _, err := group.Preset(parse(t, c.name), nil); err != nil || len(es) != c.n {
			t.Errorf("%s: %d elements, %v", c.name, len(es), err)
		}
	}
}

func TestFlows(t *testing.T) {
	for _, c := range []struct {
		name string
		e    group.Element
		t    float64
		want group.Element
	}{
		{"Flow(shift x,shift y)", group.Element{1, -0.5}, 4, group.Element{4, -2}},
		{"Flow(rotate)", group.Element{90}, 2, group.Element{-180}},
		{"Flow(rotate)", group.Element{90}, 5, group.Element{90}},
		{"Flow(scale)", group.Element{2}, 3, group.Element{8}},
		{"Flow(3,rotate z)", group.Element{30}, 3, group.Element{0, 0, 90, 0, 0, 0}},
		{"Flow(3,shift z,rotate z)", group.Element{0.5, 10}, 4, group.Element{0, 0, 40, 0, 0, 2}},
	} {
		f, ok := parse(t, c.name).(group.Flowing)
		if !ok {
			t.Fatalf("%s does not flow", c.name)
		}
		if got := f.At(c.e, c.t); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v moves the frame at %g by %v, expected %v", c.name, c.e, c.t, got, c.want)
		}
	}
	for name, want := range map[string]string{
		"Flow": "such as Flow(rotate)", "Flow(rotate,shift x)": "add shift y",
		"Flow(rotate,shift x,shift y)": "must commute",
		"Flow(3,rotate z,shift x)":     "do not commute", "Flow(3,rotate)": "unknown generator",
		"Flow(3)": "needs generators", "Flow(3,shift x,shift x)": "twice",
		"Flow(shift)": "shift x, shift y",
	} {
		if _, err := catalog.Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", name, err, want)
		}
	}
	for _, c := range []struct {
		name   string
		window [][2]float64
		n      int
	}{
		{"Flow(shift x,shift y)", nil, 49},
		{"Flow(rotate)", nil, 9},
		{"Flow(rotate,scale)", nil, 45},
		{"Flow(shift x)", [][2]float64{{0, 2}}, 9}, // too few of the preset's: a grid
		{"Flow(3,rotate z)", [][2]float64{{-10, 10}}, 7},
	} {
		g := parse(t, c.name)
		es, text, err := group.Preset(g, c.window)
		if err != nil || len(es) != c.n || text == "" ||
			!slices.ContainsFunc(es, func(e group.Element) bool { return g.Dist(e, g.Identity()) == 0 }) {
			t.Errorf("%s: %d elements, %q, %v, expected %d with rest", c.name, len(es), text, err, c.n)
		}
	}
	if got := group.Format(parse(t, "Flow(rotate)"), group.Element{5}); got != "5°/frame" {
		t.Errorf("a velocity is written %q", got)
	}
}

package job

import (
	"strings"
	"testing"
)

func TestGivenViews(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"models: m.onnx\ndata: {views: v.csv}", ""},
		{"models: m.onnx\ndata: {views: v.csv, limit: 5, seed: 2, classes: [a, b]}\ngroup: given", ""},
		{"models: m.onnx\ndata: {views: v.csv}\ninput: {space: bytes}\nrepeat: {seeds: [1, 2], normalise: trim}", ""},
		{
			"models: m.onnx\ndata: {views: v.csv, images: photos}",
			"s.yaml:2:15: data.views: given views stand in place of images",
		},
		{
			"models: m.onnx\ndata: {views: v.csv, labels: l.csv}",
			"data.views: with given views only limit, seed, classes, preset, resize and orientation are read",
		},
		{
			"models: m.onnx\ndata: {views: v.csv}\ngroup: C4",
			`group.name: "C4", and data.views are given orbits without a group; write group: given`,
		},
		{"models: m.onnx\ndata: photos\ngroup: given", "group.name: given is for views of objects that are listed"},
		{
			"models: m.onnx\ndata: {views: v.csv}\nrepeat: {times: 3, seeds: [1, 2]}",
			"repeat.seeds: 2 of them, and repeat.times is 3; give one for each time, or leave times out",
		},
		{"models: m.onnx\ndata: {views: v.csv}\nrepeat: {times: 0}", "repeat.times: 0 is out of range"},
	} {
		s, err := ParseStudy("s.yaml", []byte(c.text))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v; want %s", c.text, err, c.want)
		case c.want == "":
			if s.Resolve("sub"); s.Data.Views != "sub/v.csv" && s.Data.Views != `sub\v.csv` {
				t.Errorf("%s: %s is not below the folder of the study", c.text, s.Data.Views)
			}
		}
	}
}

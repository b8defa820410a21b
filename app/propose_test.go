package app

import (
	"slices"
	"strings"
	"testing"

	"nero/data/dataset"
)

// Colors are listed with void apart, and the person is told that their order is theirs to say.
func TestLinesOfColors(t *testing.T) {
	t.Parallel()
	l := linesOf(&dataset.Survey{
		Format: "masks", Photos: 3, Looked: 3, Colors: [][]int{{0, 0, 0}, {128, 0, 0}, {224, 224, 192}},
	}, 2)
	want := []string{
		`format: "masks"`,
		"masks: {colors: [[0, 0, 0], [128, 0, 0]], void_colors: [[224, 224, 192]], rest: void}",
	}
	if !slices.Equal(l.data, want) || !strings.Contains(l.remark, "the order of the model's numbers") {
		t.Errorf("%q, %q", l.data, l.remark)
	}
	// The classes of a file are not those of the model.
	l = linesOf(&dataset.Survey{Targets: "i.json", Classes: []string{"background", "dog", "cat"}}, 2)
	if !strings.Contains(l.remark, "the file names 3 classes with the background and the model has 2") {
		t.Errorf("%q", l.remark)
	}
	// 0 and 255 alone are background and object.
	if l = linesOf(&dataset.Survey{Numbers: []int{0, 255}, Looked: 1}, 2); len(l.data) > 0 {
		t.Errorf("%q", l.data)
	}
}

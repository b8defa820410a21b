package report

import (
	"context"
	"encoding/csv"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWorstInputs writes a page with worst inputs and what they are taken for, whose names are as bad as they can be.
func TestWorstInputs(t *testing.T) {
	in := small().input(t)
	name := "a|b <i>"
	in.Worst = []Case{
		{
			Sample: name, Class: "six", Element: "90°", For: "one", Rest: image.NewGray(image.Rect(0, 0, 3, 2)),
			Moved: image.NewGray(image.Rect(0, 0, 2, 3)), Said: []Said{
				{Model: "one", Rest: "six", Moved: "nine", RestValue: 0.9, MovedValue: 0.01},
				{Model: "=two", Rest: "six", Moved: "six", RestValue: 0.8, MovedValue: math.NaN()},
			},
		},
		{Sample: "without a picture", Element: "0°", For: "one"},
	}
	in.Taken = []Taken{
		{
			Model: "one", Confidence: 0.95, Classes: []string{"six"}, N: []int{4}, Entries: []TakenEntry{
				{From: "six", To: "six", Share: 0.69},
				{From: "six", To: "nine", Share: 0.31, Lo: 0.2, Hi: 0.4, Samples: 3, Sample: name, Element: "90°"},
			},
		},
		{Model: "two", Self: true, Confidence: 0.95, Classes: []string{"six"}, N: []int{4}, Entries: []TakenEntry{
			{From: "six", To: "six", Share: 1},
		}},
	}
	in.Confusion = []byte("model\n")
	dir := t.TempDir()
	files, err := Write(context.Background(), dir, in)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, want := range []string{
		`![Input a\|b &lt;i&gt;, class six, moved to 90°](pictures/worst-01-moved.png)`, "six → nine, 0.900 → 0.010",
		"**six** taken for **nine** at **31 %** of the orbit [20 %, 40 %], with 3 of 4 samples",
		"### two, by answer at rest", "No sample is taken for another class", "[worst.csv](worst.csv)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if t.Failed() {
		_, part, _ := strings.Cut(page, "## Worst")
		t.Log(part[:min(len(part), 2500)])
	}
	f, err := os.Open(filepath.Join(dir, "pictures", "worst-01-rest.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read from
	m, err := png.Decode(f)
	if err != nil || m.Bounds().Dx() != 96 || m.Bounds().Dy() != 64 {
		t.Errorf("a picture of 3 by 2 is %v, %v", m.Bounds(), err)
	}
	if slices.Contains(files, "pictures/worst-02-rest.png") || !slices.Contains(files, "worst.csv") ||
		!slices.Contains(files, "confusion.csv") {
		t.Errorf("files: %v", files)
	}
	c, err := os.ReadFile(filepath.Join(dir, "worst.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(c))).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][7] != "nine" || rows[2][9] != "" || rows[2][5] != "'=two" {
		t.Errorf("%v, %v", rows, err)
	}

	// A run without classes and without inputs has neither section.
	bare := small().input(t)
	if files, err = Write(context.Background(), t.TempDir(), bare); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(files, "worst.csv") || slices.Contains(files, "confusion.csv") {
		t.Errorf("files of nothing: %v", files)
	}
}

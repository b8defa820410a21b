package render

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Wide tables wrap their words, then put the last columns below; numbers are whole and nothing is left out.
func TestGrid(t *testing.T) {
	rows := [][]string{
		{
			"layer", "operator", "representation", "origin", "prefix", "injected", "floor", "share along rotation",
			"says",
		},
		{
			"/block/conv1/Conv", "GlobalAveragePool", "spatial 8 of 28x28", "structural", "1.23", "0.000172", "2.8e-16",
			"\u22120.00137", "it breaks where the others do not",
		},
		{"/Relu", "Relu", "trivial 10", "declared", "undefined", "0", "1e-17", "", "tested"},
	}
	numbers := []int{4, 5, 6, 7}
	for _, width := range []int{200, 120, 100, 80, 60} {
		tx := &text{narrow: width}
		tx.grid(4, rows, numbers...)
		got := tx.b.String()
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d: %d columns: %s", width, n, line)
			}
		}
		if strings.Contains(got, "…") {
			t.Errorf("%d: something is cut:\n%s", width, got)
		}
		fields := strings.FieldsFunc(got, func(r rune) bool { return strings.ContainsRune(" \n;", r) })
		for i, r := range rows[1:] {
			for _, j := range numbers {
				if r[j] != "" && !slices.Contains(fields, r[j]) {
					t.Errorf("%d: row %d: %s is not whole:\n%s", width, i, r[j], got)
				}
			}
		}
		squeezed := strings.Join(strings.Fields(got), "")
		for _, word := range []string{"breaks", "others", "structural", "tested"} {
			if !strings.Contains(squeezed, word) {
				t.Errorf("%d: no %q:\n%s", width, word, got)
			}
		}
	}
	// What fits is as it was.
	tx := &text{narrow: 80}
	tx.grid(2, [][]string{{"a", "b"}, {"word", "1"}, {"w", "12"}}, 1)
	if want := "  a      b\n  word   1\n  w     12\n"; tx.b.String() != want {
		t.Errorf("%q, want %q", tx.b.String(), want)
	}
}

package sheet

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// made is a sheet whose texts come from somebody who means no good.
func made(string) *Sheet {
	const hostile = "<b>|`x`\x1b[31m"
	return &Sheet{
		Title:  hostile,
		Answer: []string{"It " + hostile + " holds.", "Both hold."},
		Parts: []Part{{
			Title: "Part " + hostile, Text: []string{"Both hold.", "A sentence, " + hostile + "."},
			Table: [][]string{{"name", "n"}, {hostile, "2"}}, Notes: []string{"A note, " + hostile + "."},
			Figure: "<svg></svg>\n",
		}, {Title: "Empty"}},
		Style: "svg{width:100%}\n",
	}
}

// What comes from outside has no meaning of its own in any form, and what people have to read is in each.
func TestForms(t *testing.T) {
	forms := Forms(made)
	bad := map[string][]string{
		"text": {"\x1b"}, "markdown": {"\x1b", "<b>", "`x`"}, "html": {"\x1b", "<b>"},
	}
	for _, f := range forms {
		var b bytes.Buffer
		if err := f.Write(&b, "report"); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if f.Name == "json" {
			if got != "\"report\"\n" {
				t.Errorf("json: %q", got)
			}
			continue
		}
		for _, want := range []string{"Both hold.", "Part ", "A sentence, ", "name", "A note, ", "Empty"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", f.Name, want, got)
			}
		}
		for _, x := range bad[f.Name] {
			if strings.Contains(got, x) {
				t.Errorf("%s holds %q:\n%s", f.Name, x, got)
			}
		}
		if n := strings.Count(got, "Both hold."); f.Name == "text" && n != 1 {
			t.Errorf("text says the answer %d times", n)
		}
		if f.Name == "html" != strings.Contains(got, "<svg></svg>") {
			t.Errorf("%s and its figure:\n%s", f.Name, got)
		}
	}
}

func TestFind(t *testing.T) {
	forms := Forms(made)
	if f, err := Find(forms, "markdown"); err != nil || f.Ending != ".md" {
		t.Errorf("%v %v", f, err)
	}
	if _, err := Find(forms, "markdwn"); err == nil || !strings.Contains(err.Error(), "did you mean markdown?") {
		t.Errorf("%v", err)
	}
	if f, err := Of(forms, "a/REPORT.HTML"); err != nil || f.Name != "html" {
		t.Errorf("%v %v", f, err)
	}
	if _, err := Of(forms, "report.pdf"); err == nil || !strings.Contains(err.Error(), ".txt, .json, .md, .html") {
		t.Errorf("%v", err)
	}
}

// A disk that is full is told.
func TestFull(t *testing.T) {
	for _, f := range Forms(made) {
		if err := f.Write(full{}, "report"); err == nil {
			t.Errorf("%s: no error", f.Name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A table that is too wide for a terminal has its rows below each other where it is of sentences, and stays a table
// where it is of many columns.
func TestWide(t *testing.T) {
	long := strings.Repeat("many words ", 10)
	for columns, want := range map[int]string{
		1: "\n    many words\n",
		3: "\n  one: two — many words",
		4: "\n  one: two — many words",
		5: "\n  one  two  " + long,
	} {
		row := []string{"one", "two", long, "", "five"}[:columns]
		if columns == 1 {
			row = []string{long}
		}
		var b bytes.Buffer
		s := &Sheet{Parts: []Part{{Title: "Part", Table: [][]string{make([]string, columns), row}}}}
		if err := s.WriteText(&b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%d columns, %v:\n%s", columns, err, b.String())
		}
	}
}

package render

import (
	"strings"

	"nero/audit/document"
	"nero/present/words"
)

// formColumns are the widths of the columns of [document.FormsHead] on a terminal.
var formColumns = []struct {
	width int
	right bool
}{{16, false}, {15, false}, {7, true}, {7, true}, {18, true}, {7, true}, {10, true}, {9, true}}

// forms lays the forms of one model side by side.
func (t *text) forms(f *document.Forms) {
	if f == nil {
		return
	}
	row := func(cells []string) {
		var out []string
		for i, c := range cells {
			out = append(out, pad(words.Clip(c, formColumns[i].width), formColumns[i].width, formColumns[i].right))
		}
		t.b.WriteString(strings.TrimRight(strings.Join(out, " "), " ") + "\n")
	}
	row(document.FormsHead())
	for i := range f.Forms {
		row(f.Forms[i].Cells())
	}
	for _, x := range f.Forms {
		if x.Error != "" {
			t.line(0, x.Model+": "+x.Error)
		}
	}
	t.line(0, f.Note())
	t.b.WriteString("\n")
}

// forms is the same as a table of Markdown.
func (d *mdown) forms(f *document.Forms) {
	if f == nil {
		return
	}
	d.row(document.FormsHead()...)
	d.row("---", "---", "--:", "--:", "--:", "--:", "--:", "--:")
	for i := range f.Forms {
		cells := f.Forms[i].Cells()
		for k, c := range cells {
			cells[k] = words.Markdown(c)
		}
		d.row(cells...)
	}
	d.end()
	for _, x := range f.Forms {
		if x.Error != "" {
			d.item(0, "%s: %s", words.Markdown(x.Model), words.Markdown(x.Error))
		}
	}
	d.p("%s", words.Markdown(f.Note()))
}

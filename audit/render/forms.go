package render

import (
	"nero/audit/document"
	"nero/present/words"
)

// forms lays the forms of one model side by side.
func (t *text) forms(f *document.Forms) {
	if f == nil {
		return
	}
	rows := [][]string{document.FormsHead()}
	for i := range f.Forms {
		rows = append(rows, f.Forms[i].Cells())
	}
	t.grid(0, rows, 2, 3, 4, 5, 6, 7)
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

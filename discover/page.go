package discover

import "nero/present/table"

// Page is what people read of a section.
type Page struct {
	// Answer is that to the question of the part, in one line.
	Answer string
	// Lines are sentences below it.
	Lines  []string
	Tables []Table
}

// Table is a table of a page. Cells are texts that are ready to read, and may come from files.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// cells is the table for writers of tables.
func (t Table) cells() *table.Table {
	out := &table.Table{}
	for _, name := range t.Head {
		out.Columns = append(out.Columns, table.Column{Name: name, Text: true})
	}
	out.Rows = func(yield func([]any) bool) {
		for _, row := range t.Rows {
			cells := make([]any, len(row))
			for i, c := range row {
				cells[i] = c
			}
			if !yield(cells) {
				return
			}
		}
	}
	return out
}

package discover

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

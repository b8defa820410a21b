package mesh

import (
	"errors"
	"strconv"
	"strings"
)

// Table is rows of numbers as a text has them.
type Table struct {
	// of the columns, in small letters, if the first line has them
	Names []string
	// numbers of a row
	Width int
	Val   []float64
}

// Rows is how many rows there are.
func (t *Table) Rows() int { return len(t.Val) / t.Width }

// ReadTable reads lines of numbers with commas, semicolons, spaces or tabs between them, such as x,y,z,nx,ny,nz. Lines
// that begin with # or // are comments. The first line may hold the names of the columns or, alone, the number of rows.
func ReadTable(text string) (*Table, error) {
	if err := isText(text, "lines of numbers"); err != nil {
		return nil, err
	}
	l := &lines{rest: text}
	t := &Table{}
	claimed, first := -1, true
	for {
		line, ok := l.full()
		if !ok {
			break
		}
		if strings.HasPrefix(line, "//") {
			continue
		}
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
		if len(words) == 0 {
			return nil, bad(l.n, "%s, want numbers", quote(line))
		}
		if first {
			first = false
			if n, err := strconv.Atoi(words[0]); err == nil && len(words) == 1 {
				claimed = n
				continue
			}
			if !anyNumber(words) {
				for _, w := range words {
					t.Names = append(t.Names, strings.ToLower(strings.Trim(w, `"'`)))
				}
				t.Width = len(words)
				continue
			}
		}
		if t.Width == 0 {
			t.Width = len(words)
		}
		if len(words) != t.Width {
			return nil, bad(l.n, "%d numbers, the lines before it have %d: all rows must have the same columns",
				len(words), t.Width)
		}
		for k, w := range words {
			v, err := number(w, l.n, "column "+strconv.Itoa(k+1))
			if err != nil {
				return nil, err
			}
			t.Val = append(t.Val, v)
		}
	}
	if len(t.Val) == 0 {
		return nil, errors.New("no points: want a line of numbers for each, such as x y z")
	}
	if claimed >= 0 && claimed != t.Rows() {
		return nil, bad(1, "the file says that it has %d points, and there are %d: it is cut short or the number is "+
			"wrong", claimed, t.Rows())
	}
	return t, nil
}

// anyNumber tells a line of numbers from names.
func anyNumber(words []string) bool {
	for _, w := range words {
		if _, err := strconv.ParseFloat(w, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return true
		}
	}
	return false
}

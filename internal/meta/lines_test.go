package meta

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is how wide a line of Go may be, a tab counted as four.
const columns = 120

// TestLines holds every line of Go to 120 columns, tests too. Text between backquotes, tags of struct fields, tables
// and expected output in comments cannot be broken and are left out.
func TestLines(t *testing.T) {
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || skipped(name, d) {
			if err == nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".pb.go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		whole := verbatim(src)
		for i, line := range strings.Split(string(src), "\n") {
			if n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); n > columns && !whole[i+1] {
				t.Errorf("%s:%d: %d columns, want at most %d: break the line", name, i+1, n, columns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// verbatim is the set of lines, counted from 1, that hold text between backquotes or a directive of the compiler.
func verbatim(src []byte) map[int]bool {
	var s scanner.Scanner
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(src))
	s.Init(file, src, nil, scanner.ScanComments)
	lines := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return lines
		case tok == token.STRING && lit[0] == '`', tok == token.COMMENT && preformatted(lit):
			first := file.Line(pos)
			for i := range strings.Count(lit, "\n") + 1 {
				lines[first+i] = true
			}
		}
	}
}

// skipped says of a folder or file that the tests of the tree do not look into it.
func skipped(name string, d fs.DirEntry) bool {
	return d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" ||
		d.Name() == "node_modules")
}

// preformatted says of a comment that it is a directive, a line of a table, or expected output of an example.
func preformatted(comment string) bool {
	for _, start := range []string{"//go:", "//\t", "// Output:", "//   ", "// {"} {
		if strings.HasPrefix(comment, start) {
			return true
		}
	}
	return false
}

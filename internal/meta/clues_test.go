package meta

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A clue that no check hands in is one that no cause can be told by: every name in audit/clue.go is used by the code of
// a check.
func TestCluesAreHandedIn(t *testing.T) {
	root := filepath.Join("..", "..", "audit")
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "clue.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{} // and whether a check uses it
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 && strings.HasPrefix(v.Names[0].Name, "Clue") {
			names[v.Names[0].Name] = false
		}
		return true
	})
	if len(names) < 40 {
		t.Fatalf("%d clues in audit/clue.go", len(names))
	}
	err = filepath.WalkDir(filepath.Join(root, "check"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, b, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if _, clue := names[s.Sel.Name]; clue {
					names[s.Sel.Name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, used := range names {
		if !used {
			t.Errorf("%s is handed in by no check: no cause that needs it can be told", name)
		}
	}
}

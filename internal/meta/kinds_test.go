package meta

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// kindsLimit is how often code outside data/space and symmetry/action may ask a value which kind it is. What a kind can
// do belongs into its methods, what is known of it into its line of [space.Kinds]: then a new kind is one file. The
// number may only fall. It was 960 when the count began, in 853 lines as a search for the words counts them, with the
// actions.
const kindsLimit = 199

// askings counts where a file asks for the kinds of values: every type *space.X of a case clause, every assertion of a
// value to a type *space.X, and every name space.KindX.
func askings(f *ast.File) int {
	named := func(e ast.Expr) (string, bool) {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		x, ok := s.X.(*ast.Ident)
		return s.Sel.Name, ok && x.Name == "space"
	}
	typed := func(e ast.Expr) bool {
		p, ok := e.(*ast.StarExpr)
		if !ok {
			return false
		}
		_, ok = named(p.X)
		return ok
	}
	n := 0
	ast.Inspect(f, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.CaseClause:
			for _, e := range x.List {
				if typed(e) {
					n++
				}
			}
		case *ast.TypeAssertExpr:
			if x.Type != nil && typed(x.Type) {
				n++
			}
		case *ast.SelectorExpr:
			if name, ok := named(x); ok && len(name) > len("Kind") && strings.HasPrefix(name, "Kind") {
				n++
			}
		}
		return true
	})
	return n
}

func TestKindsOfValuesAreAskedForLessAndLess(t *testing.T) {
	root := os.DirFS("../..")
	byFile, total := map[string]int{}, 0
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if p == "data/space" || p == "symmetry/action" || d.Name() == "testdata" || d.Name() == "node_modules" ||
				strings.HasPrefix(d.Name(), ".") && p != "." {
				return fs.SkipDir
			}
			return nil
		case path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		b, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, b, parser.ParseComments)
		if err != nil {
			return err
		}
		if n := askings(f); n > 0 && !ast.IsGenerated(f) {
			byFile[p], total = n, total+n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	files := make([]string, 0, len(byFile))
	for p := range byFile {
		files = append(files, p)
	}
	slices.SortFunc(files, func(a, b string) int { return byFile[b] - byFile[a] })
	if testing.Verbose() || total > kindsLimit {
		for _, p := range files {
			t.Logf("%4d %s", byFile[p], p)
		}
	}
	switch {
	case total > kindsLimit:
		t.Errorf("values are asked for their kind in %d places, %d are allowed: give the kind a method, or look for a "+
			"small interface that it has", total, kindsLimit)
	case total < kindsLimit:
		t.Errorf("values are asked for their kind in %d places only: lower kindsLimit from %d to that", total,
			kindsLimit)
	}
}

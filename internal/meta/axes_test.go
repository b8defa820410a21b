package meta

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestAxes finds guesses: what an axis of a chart does is told by its kind ([group.Kind]), never by its name or unit,
// in Go and in the page. Below symmetry/group the groups themselves are written.
//
// A guess is a comparison of an axis's name or unit with a text, or a switch, a prefix or a regular expression over
// them. That a unit is empty may be asked where it is written, not to tell what the axis is. Axes are found without
// types: as what a chart is indexed or ranged with, and as what is declared as one.
func TestAxes(t *testing.T) {
	root := os.DirFS("../..")
	for _, g := range append(goGuesses(t, root), pageGuesses(t, root)...) {
		t.Errorf("%s: tell axes by their kind", g)
	}
}

// goGuesses are the guesses in Go, as "file:line: text".
func goGuesses(t *testing.T, root fs.FS) []string {
	t.Helper()
	var out []string
	walk(t, root, ".", func(p string, text []byte) {
		if path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || strings.HasPrefix(p, "symmetry/group/") {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			w := &axisWalk{axes: map[string]bool{}}
			ast.Inspect(f, w.declare)
			ast.Inspect(f, w.look)
			for _, pos := range w.guesses {
				at := fset.Position(pos)
				line := strings.Split(string(text), "\n")[at.Line-1]
				out = append(out, fmt.Sprintf("%s:%d: %s", p, at.Line, strings.TrimSpace(line)))
			}
		}
	})
	return out
}

// axisWalk looks through one function.
type axisWalk struct {
	// names of variables that hold an axis, and of those that hold a name or a unit of one
	axes    map[string]bool
	guesses []token.Pos
	seen    map[token.Pos]bool
}

// declare notes the variables of a function that hold an axis.
func (w *axisWalk) declare(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Field:
		if s, ok := n.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Axis" {
			for _, name := range n.Names {
				w.axes[name.Name] = true
			}
		}
	case *ast.RangeStmt:
		if v, ok := n.Value.(*ast.Ident); ok && chart(n.X) {
			w.axes[v.Name] = true
		}
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			if v, ok := l.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && w.axis(n.Rhs[i]) {
				w.axes[v.Name] = true
			}
		}
	}
	return true
}

// chart reports whether an expression is a list of axes, by its name.
func chart(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return regexp.MustCompile(`(?i)^(chart|axes)$`).MatchString(x.Name)
	case *ast.SelectorExpr:
		return chart(x.Sel)
	case *ast.CallExpr:
		return chart(x.Fun)
	case *ast.SliceExpr:
		return chart(x.X)
	}
	return false
}

// axis reports whether an expression is an axis.
func (w *axisWalk) axis(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return w.axes[x.Name]
	case *ast.IndexExpr:
		return chart(x.X)
	}
	return false
}

// told reports whether an expression is the name or the unit of an axis.
func (w *axisWalk) told(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	return ok && (s.Sel.Name == "Name" || s.Sel.Name == "Unit") && w.axis(s.X)
}

// look notes the guesses of a function.
func (w *axisWalk) look(n ast.Node) bool {
	text := func(x ast.Expr) (string, bool) {
		l, ok := x.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return "", false
		}
		return strings.Trim(l.Value, "\"`"), true
	}
	note := func(pos token.Pos) {
		if w.seen == nil {
			w.seen = map[token.Pos]bool{}
		}
		if !w.seen[pos] {
			w.seen[pos] = true
			w.guesses = append(w.guesses, pos)
		}
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.LAND {
			// Without a unit and with bounds: a switch that is guessed.
			for _, side := range []ast.Expr{n.X, n.Y} {
				b, ok := side.(*ast.BinaryExpr)
				if !ok || b.Op != token.EQL || !w.told(b.X) {
					continue
				}
				if s, ok := text(b.Y); ok && s == "" {
					note(b.Pos())
				}
			}
		}
		if n.Op != token.EQL && n.Op != token.NEQ {
			return true
		}
		for _, side := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
			if s, ok := text(side[1]); ok && s != "" && w.told(side[0]) {
				note(n.Pos())
			}
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && w.told(n.Tag) {
			note(n.Pos())
		}
	case *ast.CallExpr:
		for _, a := range n.Args {
			s, ok := n.Fun.(*ast.SelectorExpr)
			if ok && w.told(a) && regexp.MustCompile(`^(Has|Contains|Match|Cut|EqualFold)`).MatchString(s.Sel.Name) {
				note(n.Pos())
			}
		}
	}
	return true
}

// pageGuess is a guess in TypeScript: a name or a unit beside a text that axes have, or before a regular expression.
var pageGuess = regexp.MustCompile(
	`\.(name|unit)\b\)? *[!=]==? *'(deg|px|factor|samples|length|place|number|angle|mirror|` +
		`inversion|reversal|reverse|rotate|scale|shift|element|phase|d[xyt]|[rt][xyz]|[rt]x [rt]y [rt]z|p0|part|turn)'` +
		`|\.unit *[!=]==? *''|/[^/\n]*(mirror|flip|revers|angle|deg|px)[^/\n]*/[a-z]*\.(test|exec)\([\w.\[\]]*\.(name|unit)\)`)

// kindNames takes out what asks for the name of a kind.
var kindNames = strings.NewReplacer("kind.name", "kind", "kind?.name", "kind")

// pageGuesses are the guesses in the page, as "file:line: text". Names of models and fields that look like those of
// axes are told apart by what holds them.
func pageGuesses(t *testing.T, root fs.FS) []string {
	t.Helper()
	var out []string
	walk(t, root, "serve/web/src", func(p string, text []byte) {
		if !strings.HasSuffix(p, ".ts") && !strings.HasSuffix(p, ".tsx") || strings.HasSuffix(p, ".test.ts") {
			return
		}
		for i, line := range strings.Split(string(text), "\n") {
			for range pageGuess.FindAllString(kindNames.Replace(line), -1) {
				out = append(out, fmt.Sprintf("%s:%d: %s", p, i+1, strings.TrimSpace(line)))
			}
		}
	})
	return out
}

// walk calls f with every file below a folder, libraries of the page and what is built left out.
func walk(t *testing.T, root fs.FS, dir string, f func(p string, text []byte)) {
	t.Helper()
	err := fs.WalkDir(root, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); p != "." && (strings.HasPrefix(n, ".") || n == "node_modules" || n == "testdata" ||
				n == "dist") {
				return fs.SkipDir
			}
			return nil
		}
		if e := path.Ext(p); e != ".go" && e != ".ts" && e != ".tsx" {
			return nil
		}
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		f(p, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

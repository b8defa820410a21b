package meta

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of rooms into docs/ARCHITECTURE.md")

// The marks between which the table of rooms stands.
const (
	tableBegin = "<!-- rooms: made from the packages' own comments by go test ./internal/meta -update -->\n"
	tableEnd   = "<!-- end of rooms -->\n"
)

// TestArchitecture holds the table of rooms in docs/ARCHITECTURE.md against the tree: every package is in it, with the
// first sentence of its own comment.
func TestArchitecture(t *testing.T) {
	const name = "docs/ARCHITECTURE.md"
	b, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	before, rest, ok := strings.Cut(text, tableBegin)
	old, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no table between %q and %q", name, tableBegin, tableEnd)
	}
	table := roomTable(t)
	if *update {
		if err := os.WriteFile(path.Join("..", "..", name), []byte(before+tableBegin+table+tableEnd+after),
			0o644); err != nil { //nolint:gosec // a page of the documentation
			t.Fatal(err)
		}
		return
	}
	if old != table {
		t.Errorf("the table of rooms in %s is not what the packages say of themselves: go test ./internal/meta -update",
			name)
	}
}

// roomTable is a line for each package, by rooms from the lowest up.
func roomTable(t *testing.T) string {
	t.Helper()
	says := map[string]string{}
	goFiles(t, func(name string, file *ast.File) {
		pkg := path.Dir(name)
		if file.Name.Name == "main" && pkg != "cmd/nero" {
			return
		}
		if _, seen := says[pkg]; !seen || file.Doc != nil {
			says[pkg] = synopsis(file)
		}
	})
	var b strings.Builder
	b.WriteString("| room | package | its first sentence |\n| --- | --- | --- |\n")
	for _, room := range rooms {
		var all []string
		for pkg := range says {
			if pkg == room || strings.HasPrefix(pkg, room+"/") {
				all = append(all, pkg)
			}
		}
		slices.Sort(all)
		for i, pkg := range all {
			first := ""
			if i == 0 {
				first = room
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", first, pkg, says[pkg])
		}
	}
	return b.String()
}

// synopsis is the first sentence of a package's comment without the words that every one begins with.
func synopsis(file *ast.File) string {
	if file.Doc == nil {
		return ""
	}
	s := new(doc.Package).Synopsis(file.Doc.Text())
	s = strings.TrimPrefix(s, "Package "+file.Name.Name+" ")
	return strings.ReplaceAll(strings.TrimSuffix(s, "."), "|", `\|`)
}

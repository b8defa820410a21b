package meta

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// rooms are the folders at the top of the tree, lowest first. A package imports packages of its own room and of lower
// ones, so data goes one way; within a room Go itself forbids circles.
var rooms = []string{
	"internal", // what every room may ask, and what tests need
	"studies",  // the built-in studies: files
	"data",
	"symmetry",
	"model",
	"measure",
	"run",
	"present",
	"audit",
	"repair",
	"identify",
	"census",
	"discover",
	"watch",
	"repeat",
	"weights",
	"encoder",
	"serve",
	"app",
	"cli",
	"cmd",
	"e2e",
}

// kit says of a package that only tests need it: other kits and tests import it, the program does not.
func kit(pkg string) bool {
	switch pkg {
	case "model/engine/selftest", // guards the first use of an engine on a machine
		"internal/disk",         // writes files whole
		"internal/distribution", // statistics, to the same bits on every machine
		"internal/elementary",   // exponentials, sines and the like, to the same bits on every machine
		"internal/lanes",        // loops over pictures, four numbers at once
		"internal/process",      // starts programs, and ends them with all that they have started
		"internal/quoted",       // tells whether JSON quotes texts as they were
		"internal/seal",         // lets files say whether they are whole
		"internal/spell":
		return false
	case "audit/mutation": // the audit of the auditor
		return true
	}
	return strings.HasSuffix(pkg, "test") || strings.HasPrefix(pkg, "internal/")
}

// root is the top of the tree, seen from this package. Files are read through it and not through the go command, so
// that the test cache notices every change.
var root = os.DirFS("../..")

// source is a parsed Go file that is not a test.
type source struct {
	name string
	file *ast.File
}

// sources are all Go files that are not tests.
var sources = sync.OnceValues(func() ([]source, error) {
	var all []source
	set := token.NewFileSet()
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if skipped(name, d) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, b, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{name, file})
		return err
	})
	return all, err
})

// goFiles calls f with every Go file that is not a test.
func goFiles(t *testing.T, f func(name string, file *ast.File)) {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		f(s.name, s.file)
	}
}

// imported are the packages of the house that a file imports, by their folders.
func imported(t *testing.T, file *ast.File) []string {
	t.Helper()
	var all []string
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if pkg, ours := strings.CutPrefix(name, "nero/"); ours {
			all = append(all, pkg)
		}
	}
	return all
}

func TestLayers(t *testing.T) {
	floor := func(pkg string) int {
		room, _, _ := strings.Cut(pkg, "/")
		return slices.Index(rooms, room)
	}
	goFiles(t, func(name string, file *ast.File) {
		pkg := path.Dir(name)
		if file.Name.Name == "main" && pkg != "cmd/nero" {
			return // programs that make generated files
		}
		mine := floor(pkg)
		if mine < 0 {
			t.Errorf("%s: %s is in no room: add the folder to the list in this test, or move the package", name, pkg)
			return
		}
		for _, other := range imported(t, file) {
			if theirs := floor(other); theirs < 0 || theirs > mine {
				t.Errorf("%s imports %s, of a higher room: data goes one way, move the cut", name, other)
			}
			if kit(other) && !kit(pkg) {
				t.Errorf("%s imports %s, a test kit: the program does without", name, other)
			}
		}
	})
}

func TestNames(t *testing.T) {
	docs := map[string]bool{}
	goFiles(t, func(name string, file *ast.File) {
		pkg := path.Dir(name)
		docs[pkg] = docs[pkg] || file.Doc != nil
		if slices.Contains([]string{"util", "utils", "common", "helpers", "helper", "manager", "misc"},
			file.Name.Name) {
			t.Errorf("%s: a package named %s says nothing about what is in it", name, file.Name.Name)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "init" && f.Recv == nil &&
				!strings.HasSuffix(name, ".pb.go") {
				t.Errorf("%s: an init function registers behind the reader's back", name)
			}
		}
	})
	for pkg, ok := range docs {
		if !ok {
			t.Errorf("package %s has no doc comment", pkg)
		}
	}
}

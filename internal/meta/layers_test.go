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
	"testing"
)

// layers says how high each package stands. A package imports packages of lower layers only, never a peer. Test kits
// stand one above what they test.
var layers = map[string]int{
	"data/tensor":       0,
	"symmetry/group":    0,
	"measure/aggregate": 0,
	"studies/digits":    0,
	"studies/flow":      0,
	"studies/cells":     0,
	"studies/clouds":    0,
	"studies/molecules": 0,
	"studies/graphs":    0,
	"studies/planted":   0,
	"serve/web":         0,

	"symmetry/group/grouptest": 1,
	"present/reduce":           1,
	"data/space":               1,
	"model/engine":             1,
	"model/engine/library":     1,
	"model/engine/tiny":        1,
	"run/job":                  1,

	"symmetry/irreps":         1,
	"data/mesh":               2,
	"data/chem":               2,
	"data/sound":              2,
	"symmetry/action":         2,
	"data/dataset":            3,
	"measure/metric":          2,
	"measure/embedding":       0,
	"model/onnx/onnxpb":       2,
	"model/engine/wasm":       2,
	"model/engine/native":     2,
	"model/engine/enginetest": 2,
	"run/exec":                2,
	"run/store":               2,

	"data/particle":                  4,
	"measure/consensus":              3,
	"symmetry/action/phantom":        3,
	"symmetry/action/actiontest":     4,
	"symmetry/orbit":                 3,
	"model/onnx":                     3,
	"symmetry/feature":               3,
	"model/engine/selftest":          3,
	"run/store/storetest":            3,
	"model/onnx/facts":               4,
	"model/onnx/vjp":                 5,
	"model/onnx/jvp":                 5,
	"model/decode":                   4,
	"model/unroll":                   5,
	"model/oracle":                   4,
	"model/engine/choose":            4,
	"model/engine/choose/choosetest": 5,

	"model/engine/remote/oippb":      1,
	"model/engine/remote":            4,
	"model/engine/remote/remotetest": 5,

	"model/onnx/lint": 5,
	"run/eval":        5,
	"run/fold":        5,
	"model/interior":  6,
	"audit":           7,
	"present/view":    7,
	"run/benchmark":   7,
	"run/workload":    7,
	"run/slice":       6,
	"present/report":  8,
	"present/table":   8,
	"run/probe":       8,

	"audit/audittest":        8,
	"audit/diagnosis":        8,
	"audit/baseline":         8,
	"audit/page":             9,
	"audit/check/preflight":  8,
	"audit/check/sweep":      8,
	"audit/kit/tangent":      8,
	"audit/check/controls":   9,
	"audit/check/decision":   9,
	"audit/check/contract":   9,
	"audit/check/lint":       10,
	"audit/check/layers":     10,
	"audit/check/order":      10,
	"audit/check/precision":  10,
	"audit/kit/trial":        9,
	"audit/check/subgroup":   10,
	"audit/check/forces":     10,
	"audit/check/warmup":     10,
	"audit/check/moving":     10,
	"audit/check/irreps":     10,
	"audit/check/neighbors":  10,
	"audit/check/search":     10,
	"audit/check/variance":   10,
	"audit/check/gradient":   10,
	"audit/check/lie":        10,
	"audit/check/endtoend":   11,
	"audit/check/lattice":    11,
	"audit/kit/stress":       10,
	"audit/check/laws":       11,
	"audit/check/ends":       11,
	"audit/check/company":    11,
	"audit/check/engines":    11,
	"audit/check/shifts":     11,
	"audit/check/border":     12,
	"audit/check/extremes":   11,
	"audit/check/sizes":      11,
	"audit/check/convention": 12,
	"audit/check":            13,

	"serve/api":     8,
	"serve/guard":   1,
	"serve/shelf":   10,
	"serve/handout": 11,
	"serve/server":  12,

	"audit/mutation":   14,
	"cli":              14,
	"cmd/nero":         15,
	"e2e":              15,
	"internal/outside": 0,
	"internal/slow":    0,
	"internal/meta":    15,
}

// root is the top of the tree, seen from this package. Files are read through it and not through the go command, so
// that the test cache notices every change.
var root = os.DirFS("../..")

// goFiles calls f with every Go file that is not a test.
func goFiles(t *testing.T, f func(name string, file *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" ||
			d.Name() == "node_modules") {
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
		if err != nil {
			return err
		}
		f(name, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLayers(t *testing.T) {
	seen := map[string]bool{}
	goFiles(t, func(name string, file *ast.File) {
		pkg := path.Dir(name)
		if file.Name.Name == "main" && pkg != "cmd/nero" {
			return // programs that make generated files
		}
		seen[pkg] = true
		mine, ok := layers[pkg]
		if !ok {
			t.Errorf("%s: package %s has no layer: add it to the list in this test", name, pkg)
			return
		}
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			other, ours := strings.CutPrefix(imp, "nero/")
			if !ours {
				continue
			}
			if theirs, ok := layers[other]; !ok || theirs >= mine {
				t.Errorf("%s (layer %d) imports %s (layer %d): data goes one way, move the cut", name, mine, other,
					theirs)
			}
		}
	})
	for pkg := range layers {
		if !seen[pkg] {
			t.Errorf("package %s is listed and not there", pkg)
		}
	}
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

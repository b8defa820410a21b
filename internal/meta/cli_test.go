package meta

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCommandLineIsASkin holds package cli to flags, words and exit codes: of the house it sees the application, the
// study that its flags fill in, documents, and words, and nothing below.
func TestCommandLineIsASkin(t *testing.T) {
	may := []string{"nero/app", "nero/run/job", "nero/audit/document", "nero/present/words"}
	goFiles(t, func(name string, file *ast.File) {
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			switch path.Dir(name) {
			case "cli":
				if strings.HasPrefix(imp, "nero/") && !slices.Contains(may, imp) {
					t.Errorf("%s imports %s: what the program does is in package app", name, imp)
				}
			case "app":
				if slices.Contains([]string{"flag", "os/signal", "net/http"}, imp) ||
					strings.HasPrefix(imp, "github.com/spf13/") || strings.Contains(imp, "golang.org/x/term") {
					t.Errorf("%s imports %s: flags, terminals and HTTP are for those that use package app", name, imp)
				}
			}
		}
	})
}

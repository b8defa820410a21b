package meta

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The name under which the Python package is published is said in python/pyproject.toml; the program looks for a folder
// of that name beside itself.
func TestPythonName(t *testing.T) {
	about, err := os.ReadFile("../../python/pyproject.toml")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^name = "([a-z-]+)"$`).FindSubmatch(about)
	if name == nil {
		t.Fatal("python/pyproject.toml has no name")
	}
	code, err := os.ReadFile("../../model/engine/choose/choose.go")
	if err != nil {
		t.Fatal(err)
	}
	want := `/` + strings.ReplaceAll(string(name[1]), "-", "_") + `-*.dist-info"`
	if !strings.Contains(string(code), want) {
		t.Errorf("package choose does not look for %s, the folder that installers make for %s", want, name[1])
	}
}

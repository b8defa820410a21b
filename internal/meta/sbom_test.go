package meta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bom is what a program is made of, as CycloneDX 1.5 writes it.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	URL     string `json:"purl,omitempty"`
	// of the file as it is published
	Hashes []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// TestSBOM holds docs/sbom.json against the modules that the program is built of, the libraries in the page and the
// embedded engine; go test ./internal/meta -run SBOM -update writes it.
func TestSBOM(t *testing.T) {
	b := bom{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata: metadata{component{Type: "application", Name: "nero", URL: "pkg:golang/nero"}},
	}
	b.Components = slices.Concat(goModules(t), pageLibraries(t), embeddedEngine(t))
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(b); err != nil {
		t.Fatal(err)
	}
	const name = "docs/sbom.json"
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", name), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := fs.ReadFile(root, name)
	if err != nil || !bytes.Equal(have, out.Bytes()) {
		t.Errorf("%s is not what the program is made of (%v); it is written by -run SBOM -update", name, err)
	}
}

// goModules are the modules that the program imports, on each system that the gate builds for.
func goModules(t *testing.T) []component {
	t.Helper()
	versions := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		c := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
			"{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/nero")
		c.Dir = filepath.Join("..", "..")
		c.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
		text, err := c.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", system, err)
		}
		for line := range strings.Lines(string(text)) {
			if path, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				versions[path] = version
			}
		}
	}
	if len(versions) < 10 {
		t.Fatalf("%d modules, want those that the program imports", len(versions))
	}
	var list []component
	for path, version := range versions {
		list = append(list, component{
			Type: "library", Name: path, Version: version, URL: fmt.Sprintf("pkg:golang/%s@%s", path, version),
		})
	}
	slices.SortFunc(list, func(a, b component) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// work is a heading of the licences beside the page: name, version, licence.
var work = regexp.MustCompile(`(?m)^={20,}\n((?:@[a-z0-9-]+/)?[a-z0-9-]+) (\d[0-9.]*) \(`)

// pageLibraries are what the page holds of others, as the licences beside it say.
func pageLibraries(t *testing.T) []component {
	t.Helper()
	text, err := fs.ReadFile(root, "serve/web/dist/LICENSES.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []component
	for _, m := range work.FindAllSubmatch(text, -1) {
		name, version := string(m[1]), string(m[2])
		list = append(list, component{
			Type: "library", Name: name, Version: version,
			URL: fmt.Sprintf("pkg:npm/%s@%s", strings.Replace(name, "@", "%40", 1), version),
		})
	}
	if len(list) < 5 {
		t.Fatalf("%d libraries of the page, want those of its licences", len(list))
	}
	return list
}

// embeddedEngine is the engine that lies in the program, as its provenance says.
func embeddedEngine(t *testing.T) []component {
	t.Helper()
	text, err := fs.ReadFile(root, "model/engine/wasm/PROVENANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if m == nil {
			t.Fatalf("the provenance of the embedded engine says nothing like %s", pattern)
		}
		return string(m[1])
	}
	version := find("`onnxruntime-web`, version ([0-9.]+)")
	return []component{{
		Type: "library", Name: "onnxruntime-web", Version: version, URL: "pkg:npm/onnxruntime-web@" + version,
		Hashes: []hash{{"SHA-256", find("sha256 of the file \\| `([0-9a-f]{64})`")}},
	}}
}

// Command bundle makes the files that a browser loads from the TypeScript sources of the interface, with esbuild's Go
// API:
//
//	go run ./bundle                     in serve/web: what go generate does; writes dist
//	go run ./bundle -out DIR            writes another folder, to try a change without touching dist
//	go run ./bundle -out DIR -overlay F and F, with which go run -overlay F ./cmd/nero embeds that folder in place of dist
//	go run ./bundle -tests -out DIR     every src/**/*.test.ts as DIR/NAME.test.mjs, for node --test DIR/*.test.mjs
//	go run ./bundle -bench -out DIR     every src/**/*.bench.ts as DIR/NAME.bench.mjs, to be run by node
//
// The page is app.js with base.js, which it shares with more.js: views that most runs do without, and viewer3d.js, the
// viewer of things in space, which are loaded when they are needed. report.js is the page and more.js in one script,
// for files that are opened from disk.
//
// The libraries are those of package-lock.json, which npm ci puts into node_modules; Node itself takes no part. Two
// builds of the same sources have the same bytes. LICENSES.txt gets the licence of every package of which a line was
// bundled, and of every source that has a licence file of its own beside it (x.ts and x.LICENSE.txt).
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// budget is the most bytes, gzipped, of the page (script and style together) and of the 3D viewer.
const budget = 150_000

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("bundle", flag.ContinueOnError)
	root := flags.String("C", ".", "the `folder` serve/web")
	out := flags.String("out", "", "the `folder` to write (default dist in serve/web)")
	overlay := flags.String("overlay", "",
		"also write this `file`, which makes go build -overlay embed -out in place of dist")
	tests := flags.Bool("tests", false, "bundle the unit tests for node")
	bench := flags.Bool("bench", false, "bundle the benchmarks for node")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case *out == "" && (*tests || *bench):
		return errors.New("tests and benchmarks need -out DIR")
	}
	dir, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	if *out == "" {
		*out = filepath.Join(dir, "dist")
	}
	var files map[string][]byte
	if *tests || *bench {
		files, err = forNode(dir, *tests, *bench)
	} else {
		files, err = forBrowser(dir)
	}
	if err != nil {
		return err
	}
	if err := report(w, files, !*tests && !*bench); err != nil {
		return err
	}
	if err := write(*out, files); err != nil || *overlay == "" {
		return err
	}
	return writeOverlay(*overlay, filepath.Join(dir, "dist"), *out, files)
}

// writeOverlay writes a file for the go command's -overlay, which puts the files of out in the place of those of dist.
func writeOverlay(name, dist, out string, files map[string][]byte) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	replace := map[string]string{}
	entries, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	for _, e := range entries {
		replace[filepath.Join(dist, e.Name())] = "" // to the go command, there is no such file
	}
	for f := range files {
		replace[filepath.Join(dist, f)] = filepath.Join(out, f)
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}

// installed checks that node_modules holds the versions that package.json asks for. dir is serve/web.
func installed(dir string) error {
	const remedy = "run 'npm ci' in serve/web (Node 18 or newer; needed only to change the interface)"
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return err
	}
	var want struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &want); err != nil {
		return fmt.Errorf("package.json: %w", err)
	}
	for _, name := range sorted(want.Dependencies) {
		version := want.Dependencies[name]
		b, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json"))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the library %s is not installed: %s", name, remedy)
		} else if err != nil {
			return err
		}
		var got struct{ Version string }
		if err := json.Unmarshal(b, &got); err != nil || got.Version != version {
			return fmt.Errorf("node_modules has %s %s, package.json asks for %s: %s", name, got.Version, version,
				remedy)
		}
	}
	return nil
}

// options are what all builds have in common.
func options(dir string) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir: dir, Outdir: "out", // nothing is written there
		Bundle: true, Format: api.FormatESModule, Charset: api.CharsetUTF8,
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		Metafile: true, LogLevel: api.LogLevelWarning,
	}
}

// build runs esbuild, which says on stderr what is wrong with the sources.
func build(o api.BuildOptions) (map[string][]byte, *metafile, error) {
	r := api.Build(o)
	if len(r.Errors) > 0 {
		return nil, nil, fmt.Errorf("esbuild found %d errors, printed above", len(r.Errors))
	}
	files := map[string][]byte{}
	for _, f := range r.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	var m metafile
	if err := json.Unmarshal([]byte(r.Metafile), &m); err != nil {
		return nil, nil, fmt.Errorf("esbuild's metafile: %w", err)
	}
	return files, &m, nil
}

// forBrowser is the content of dist by name.
func forBrowser(dir string) (map[string][]byte, error) {
	if err := installed(dir); err != nil {
		return nil, err
	}
	o := options(dir)
	o.Target = api.ES2022
	o.MinifySyntax, o.MinifyWhitespace, o.MinifyIdentifiers = true, true, true
	o.LegalComments = api.LegalCommentsEndOfFile
	o.EntryPointsAdvanced = []api.EntryPoint{{InputPath: "./src/main.tsx", OutputPath: "app"}}
	if exists(filepath.Join(dir, "src", "more.ts")) {
		// What most pages do without is a file of its own, and what it shares with the page is a third: all names stay.
		o.EntryPointsAdvanced = append(o.EntryPointsAdvanced,
			api.EntryPoint{InputPath: "./src/more.ts", OutputPath: "more"})
		o.Splitting, o.ChunkNames = true, "base"
	}
	// The viewer is a file of its own with a name that stays, loaded when it is needed, from wherever the page came
	// from.
	o.Plugins = []api.Plugin{{Name: "viewer3d", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `(^|/)viewer3d(\.[jt]s)?$`},
			func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				if a.Kind == api.ResolveJSDynamicImport {
					return api.OnResolveResult{Path: "./viewer3d.js", External: true}, nil
				}
				return api.OnResolveResult{}, nil
			})
	}}}
	files, meta, err := build(o)
	if err != nil {
		return nil, err
	}
	viewed := &metafile{}
	if viewer := filepath.Join(dir, "src", "viewer3d.ts"); exists(viewer) {
		v := o
		v.EntryPointsAdvanced = []api.EntryPoint{{InputPath: "./src/viewer3d.ts", OutputPath: "viewer3d"}}
		v.Splitting, v.ChunkNames = false, ""
		var more map[string][]byte
		if more, viewed, err = build(v); err != nil {
			return nil, err
		}
		maps.Copy(files, more)
	}
	if o.Splitting {
		// A page from disk imports nothing: reports hold all of it in one script.
		one := o
		one.EntryPointsAdvanced = []api.EntryPoint{{InputPath: "./src/main.tsx", OutputPath: "report"}}
		one.Splitting, one.ChunkNames = false, ""
		single, _, err := build(one)
		if err != nil {
			return nil, err
		}
		files["report.js"] = single["report.js"]
	}
	if files["index.html"], err = os.ReadFile(filepath.Join(dir, "index.html")); err != nil {
		return nil, err
	}
	files["LICENSES.txt"], err = licences(dir, meta, viewed)
	return files, err
}

// forNode bundles tests and benchmarks, each with what it imports, under flat names: core/url.test.ts becomes
// core-url.test.mjs.
func forNode(dir string, tests, bench bool) (map[string][]byte, error) {
	if err := installed(dir); err != nil {
		return nil, err
	}
	o := options(dir)
	o.Platform, o.Target = api.PlatformNode, api.ES2022
	o.OutExtension = map[string]string{".js": ".mjs"}
	src := filepath.Join(dir, "src")
	err := filepath.WalkDir(src, func(name string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(src, name)
		rel, ext := trimScript(filepath.ToSlash(rel))
		if err == nil && ext != "" &&
			(tests && strings.HasSuffix(rel, ".test") || bench && strings.HasSuffix(rel, ".bench")) {
			o.EntryPointsAdvanced = append(o.EntryPointsAdvanced,
				api.EntryPoint{InputPath: "./src/" + rel + ext, OutputPath: strings.ReplaceAll(rel, "/", "-")})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	files, _, err := build(o)
	return files, err
}

// trimScript cuts the extension of a script off; it is empty if name is no script.
func trimScript(name string) (base, ext string) {
	if ext = path.Ext(name); ext != ".ts" && ext != ".tsx" {
		return name, ""
	}
	return strings.TrimSuffix(name, ext), ext
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// metafile is the part of esbuild's account that says which inputs have bytes in the outputs.
type metafile struct {
	Inputs  map[string]struct{}
	Outputs map[string]struct {
		Inputs map[string]struct {
			BytesInOutput int
		}
	}
}

// licences is the text of LICENSES.txt.
func licences(dir string, builds ...*metafile) ([]byte, error) {
	packages, own := map[string]bool{}, map[string]bool{}
	for _, meta := range builds {
		for name := range meta.Inputs {
			base, _ := trimScript(name)
			if file := base + ".LICENSE.txt"; exists(filepath.Join(dir, filepath.FromSlash(file))) {
				own[file] = true
			}
		}
		for _, out := range meta.Outputs {
			for name, in := range out.Inputs {
				if i := strings.LastIndex(name, "node_modules/"); i >= 0 && in.BytesInOutput > 0 {
					end := i + len("node_modules/")
					parts := strings.SplitN(name[end:], "/", 3)
					n := 1
					if strings.HasPrefix(parts[0], "@") {
						n = 2
					}
					packages[name[:end]+strings.Join(parts[:min(n, len(parts))], "/")] = true
				}
			}
		}
	}
	var b bytes.Buffer
	b.WriteString("The interface of nero contains parts of the following works, under their licences.\n")
	section := func(title string, text []byte) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 72), title,
			strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	for _, at := range sorted(packages) {
		folder := filepath.Join(dir, filepath.FromSlash(at))
		raw, err := os.ReadFile(filepath.Join(folder, "package.json"))
		if err != nil {
			return nil, err
		}
		var p struct{ Name, Version, License string }
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("%s/package.json: %w", at, err)
		}
		text, err := licenceOf(folder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		section(fmt.Sprintf("%s %s (%s)", p.Name, p.Version, cmp.Or(p.License, "see below")), text)
	}
	for _, file := range sorted(own) {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		section(strings.TrimSuffix(strings.TrimPrefix(file, "src/"), ".LICENSE.txt"), text)
	}
	return b.Bytes(), nil
}

// licenceOf is the text of the licence files of a package; a package without one is refused.
func licenceOf(folder string) ([]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"},
			func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, bytes.TrimSpace(b))
	}
	if len(texts) == 0 {
		return nil, errors.New("no licence file in this package, and nothing without a licence may be bundled")
	}
	return bytes.Join(texts, []byte("\n\n")), nil
}

// report prints the sizes and, if asked to, refuses what is above the budget.
func report(w io.Writer, files map[string][]byte, limit bool) error {
	page, viewer, more := 0, 0, 0
	for _, name := range sorted(files) {
		var z bytes.Buffer
		g, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := g.Write(files[name]); err != nil {
			return err
		}
		if err := g.Close(); err != nil {
			return err
		}
		switch name {
		case "app.js", "base.js", "app.css":
			page += z.Len()
		case "more.js":
			more += z.Len()
		case "viewer3d.js", "viewer3d.css":
			viewer += z.Len()
		}
		if _, err := fmt.Fprintf(w, "%-24s %8d B  gzip %7d B\n", name, len(files[name]), z.Len()); err != nil {
			return err
		}
	}
	for what, n := range map[string]int{"app.js, base.js and app.css": page, "more.js": more, "viewer3d.js": viewer} {
		if limit && n > budget {
			return fmt.Errorf("%s are %d bytes gzipped, above the budget of %d: a page has to open quickly over a "+
				"slow line; "+
				"look for a lighter library, or load the part that is rarely needed when it is needed", what, n, budget)
		}
	}
	return nil
}

// write makes folder hold these files and nothing that an earlier build left.
func write(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var stale []string
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".html", ".js", ".css", ".txt", ".mjs"}, path.Ext(e.Name())) {
			return fmt.Errorf("%s holds %s, which no build made: choose an empty folder or an earlier output", folder,
				e.Name())
		}
		if _, ok := files[e.Name()]; !ok {
			stale = append(stale, filepath.Join(folder, e.Name()))
		}
	}
	for _, name := range stale {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sorted is the keys of m in order.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

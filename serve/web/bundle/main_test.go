package main

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/internal/outside"
)

// folder is a serve/web with one library, and a program that uses it.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json": `{"dependencies":{"alpha":"1.0.0"}}`,
		"index.html":   `<!doctype html><script type="module" src="./app.js"></script>`,
		"src/main.tsx": "import {f} from 'alpha'; import './a.css'; import {t} from './table'; " +
			"document.title = f(t); import('./viewer3d');",
		"src/a.css":                         "a { color: red }",
		"src/table.ts":                      "export const t: number = 3;",
		"src/table.LICENSE.txt":             "The table may be used by anybody.",
		"src/viewer3d.ts":                   "export const viewer = 3;",
		"src/sub/x.test.ts":                 "import {t} from '../table'; if (t !== 3) throw new Error('t');",
		"node_modules/alpha/package.json":   `{"name":"alpha","version":"1.0.0","license":"MIT","main":"index.js"}`,
		"node_modules/alpha/index.js":       "import {g} from '@beta/g'; export const f = n => g('' + n);",
		"node_modules/alpha/LICENSE":        "Licence of alpha.\r\nSecond line.",
		"node_modules/@beta/g/package.json": `{"name":"@beta/g","version":"2.0.0","license":"ISC","main":"index.js","sideEffects":false}`,
		"node_modules/@beta/g/index.js":     "export {unused} from 'gamma'; export const g = s => s.trim();",
		"node_modules/@beta/g/LICENCE.md":   "Licence of beta.",
		"node_modules/gamma/package.json":   `{"name":"gamma","version":"3.0.0","main":"index.js","sideEffects":false}`,
		"node_modules/gamma/index.js":       "export const unused = 'gamma was here';",
	} {
		put(t, dir, name, text)
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

func built(t *testing.T, out string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

func TestBrowser(t *testing.T) {
	dir, out := folder(t), filepath.Join(t.TempDir(), "out")
	put(t, out, "old.js", "an earlier build wrote this")
	if err := run([]string{"-C", dir, "-out", out}, io.Discard); err != nil {
		t.Fatal(err)
	}
	files := built(t, out)
	if len(files) != 5 || files["index.html"] == "" || files["app.css"] == "" || files["old.js"] != "" {
		t.Errorf("the files are not index.html, app.js, app.css, viewer3d.js and LICENSES.txt: %v", files)
	}
	if !strings.Contains(files["app.js"], `import("./viewer3d.js")`) {
		t.Errorf("the viewer is not loaded by its own name: %s", files["app.js"])
	}
	if !strings.Contains(files["viewer3d.js"], "viewer") || strings.Contains(files["app.js"], "gamma was here") {
		t.Errorf("code is where it does not belong: %v", files)
	}
	text := files["LICENSES.txt"]
	for _, want := range []string{
		"@beta/g 2.0.0 (ISC)\n\nLicence of beta.",
		"alpha 1.0.0 (MIT)\n\nLicence of alpha.\nSecond line.", "table\n\nThe table may",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("LICENSES.txt lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "gamma") {
		t.Error("LICENSES.txt names a package of which nothing was bundled")
	}
}

func TestTests(t *testing.T) {
	dir, out := folder(t), t.TempDir()
	if err := run([]string{"-C", dir, "-tests", "-out", out}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if files := built(t, out); len(files) != 1 || files["sub-x.test.mjs"] == "" {
		t.Errorf("the test was not bundled as sub-x.test.mjs: %v", files)
	}
}

func TestOverlay(t *testing.T) {
	dir, out := folder(t), t.TempDir()
	put(t, dir, "dist/index.html", "the committed page")
	put(t, dir, "dist/old.js", "what the new build does not have")
	name := filepath.Join(t.TempDir(), "overlay.json")
	if err := run([]string{"-C", dir, "-out", out, "-overlay", name}, io.Discard); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Replace map[string]string }
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{filepath.Join(dir, "dist", "old.js"): ""}
	for f := range built(t, out) {
		want[filepath.Join(dir, "dist", f)] = filepath.Join(out, f)
	}
	if !maps.Equal(got.Replace, want) {
		t.Errorf("the overlay is %v, want %v", got.Replace, want)
	}
}

func TestSameBytes(t *testing.T) {
	for name, dir := range map[string]string{"small": folder(t), "the interface": ".."} {
		t.Run(name, func(t *testing.T) {
			if dir == ".." {
				outside.Named(t, outside.WebModules)
			}
			var builds [2]map[string]string
			for i := range builds {
				out := t.TempDir()
				if err := run([]string{"-C", dir, "-out", out}, io.Discard); err != nil {
					t.Fatal(err)
				}
				builds[i] = built(t, out)
			}
			for f, text := range builds[0] {
				if builds[1][f] != text {
					t.Errorf("%s differs between two builds of the same sources", f)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir, out string)
		want   string
	}{
		"nothing installed": {func(dir, _ string) { remove(t, dir, "node_modules") }, "npm ci"},
		"other version": {
			func(dir, _ string) { put(t, dir, "package.json", `{"dependencies":{"alpha":"1.0.1"}}`) },
			"package.json asks for 1.0.1",
		},
		"no licence":       {func(dir, _ string) { remove(t, dir, "node_modules/alpha/LICENSE") }, "no licence file"},
		"wrong source":     {func(dir, _ string) { put(t, dir, "src/table.ts", "export const = 3") }, "esbuild found"},
		"folder of others": {func(_, out string) { put(t, out, "thesis.docx", "x") }, "thesis.docx"},
		"too big": {func(dir, _ string) {
			var b strings.Builder
			x := uint64(1)
			for range 300_000 { // incompressible: a linear congruential generator
				x = x*6364136223846793005 + 1442695040888963407
				b.WriteByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"[x>>58])
			}
			put(t, dir, "src/table.ts", "export const t = '"+b.String()+"';")
		}, "budget"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, out := folder(t), t.TempDir()
			c.change(dir, out)
			before := built(t, out)
			err := run([]string{"-C", dir, "-out", out}, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("the error is %v, and does not say %q", err, c.want)
			}
			if after := built(t, out); len(after) != len(before) {
				t.Errorf("something was written: %v", after)
			}
		})
	}
}

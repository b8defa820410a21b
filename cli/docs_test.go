package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nero/app"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"
)

// guide is the part of the documentation that shows build servers how to audit.
var guide = filepath.Join("..", "docs", "CI.md")

// blocks are the fenced blocks of a language in a page.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("no block of %s", language)
	}
	return out
}

// scalars are the strings of a document, wherever they stand.
func scalars(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, x := range v {
			out = append(out, scalars(x)...)
		}
	case map[string]any:
		for _, x := range v {
			out = append(out, scalars(x)...)
		}
	}
	return out
}

// TestGuide holds the guide for build servers against the program: its YAML can be read, its commands can be typed, and
// every flag and file that it names exists.
func TestGuide(t *testing.T) {
	b, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	a := &App{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	root := a.root()
	var lines []string
	var texts []string
	for _, y := range blocks(t, page, "yaml") {
		var doc map[string]any
		if err := yaml.UnmarshalWithOptions([]byte(y), &doc, yaml.Strict()); err != nil {
			t.Errorf("%v\n%s", err, y)
			continue
		}
		for _, s := range scalars(doc) {
			texts = append(texts, s)
			lines = append(lines, strings.Split(s, "\n")...)
		}
	}
	if !slices.ContainsFunc(texts, func(s string) bool { return s == "audit/audit.sarif" }) ||
		!slices.ContainsFunc(texts, func(s string) bool { return s == "audit/audit.junit.xml" }) {
		t.Error("neither SARIF nor JUnit is handed on")
	}
	for _, s := range blocks(t, page, "sh") {
		lines = append(lines, strings.Split(s, "\n")...)
	}
	typed := 0
	for _, line := range lines {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "nero" && words[0] != "./nero" {
			continue
		}
		typed++
		if i := slices.Index(words, ">"); i >= 0 {
			words = words[:i]
		}
		c, rest, err := a.root().Find(words[1:]) // flags remember what was given, so each line has a program of its own
		if err != nil || c.Name() == root.Name() {
			t.Errorf("%s: %v", line, err)
			continue
		}
		c.InheritedFlags() // takes those of the program in
		if err := c.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if err := c.ValidateArgs(c.Flags().Args()); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if c.Name() != "audit" {
			continue
		}
		formats, err := c.Flags().GetStringSlice("format")
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.Flags().GetString("out")
		if err != nil {
			t.Fatal(err)
		}
		if err := app.CheckAuditOutput(formats, out); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for name := range strings.SplitSeq(strings.Join(texts, " "), " ") {
			file, ok := strings.CutPrefix(strings.Trim(name, "';\""), "audit/audit.")
			if ok && strings.Contains(line, "-o audit") &&
				!slices.ContainsFunc(app.AuditFormats(),
					func(f string) bool { return app.AuditFile(f) == "audit."+strings.TrimRight(file, "')") }) {
				t.Errorf("%s: no audit writes it", name)
			}
		}
	}
	if typed < 5 {
		t.Errorf("%d commands were found", typed)
	}
	known := map[string]bool{}
	for _, c := range append(root.Commands(), root) {
		c.InitDefaultHelpFlag()
		for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		}
	}
	for _, f := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(page, -1) {
		if !known[f] {
			t.Errorf("the guide names %s, which no command has", f)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| `([^`]+)` \\|").FindAllStringSubmatch(page, -1) {
		if app.AuditFile(m[1]) != m[2] {
			t.Errorf("the guide says that %s is in %s", m[1], m[2])
		}
	}
	for _, f := range app.AuditFormats() {
		if f != "text" && !strings.Contains(page, "| `"+f+"` |") {
			t.Errorf("the guide does not name the format %s", f)
		}
	}
}

// TestGuideCodes holds the exit codes of the guide against those of the program.
func TestGuideCodes(t *testing.T) {
	b, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[int]string{
		exitOK: "PASS", exitFindings: "FAIL, or NEEDS_ATTENTION",
		exitError: "the audit could not run",
	} {
		if !strings.Contains(string(b), "\n| "+string(rune('0'+code))+" | "+want) {
			t.Errorf("code %d is not explained as %q", code, want)
		}
	}
	a := &App{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	if code := a.Run(context.Background(), []string{"compare", "nowhere.json", "nowhere.json"}); code != exitError {
		t.Errorf("exit code %d", code)
	}
}

// TestClusterPages holds the commands of the pages on clusters against the program, in blocks and in sentences.
func TestClusterPages(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "docs", "clusters", "*.md"))
	if err != nil || len(pages) < 5 {
		t.Fatalf("%v, %v", pages, err)
	}
	typed := 0
	for _, page := range append(pages, filepath.Join("..", "docs", "CLUSTERS.md")) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, s := range blocks(t, string(b), "sh") {
			lines = append(lines, strings.Split(s, "\n")...)
		}
		for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(b), -1) {
			lines = append(lines, m[1])
		}
		for _, line := range lines {
			line, _, _ = strings.Cut(line, "#")
			line, _, _ = strings.Cut(line, "|")
			words := strings.Fields(line)
			if len(words) < 3 || words[0] != "nero" || strings.Contains(line, "--block B") {
				continue
			}
			typed++
			c, rest, err := (&App{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}).root().Find(words[1:])
			if err != nil || !c.Runnable() {
				t.Errorf("%s: %s: %v", page, line, err)
				continue
			}
			c.InheritedFlags() // takes those of the program in
			if err := c.ParseFlags(rest); err != nil {
				t.Errorf("%s: %s: %v", page, line, err)
			} else if err := c.ValidateArgs(c.Flags().Args()); err != nil {
				t.Errorf("%s: %s: %v", page, line, err)
			}
		}
	}
	if typed < 20 {
		t.Errorf("%d commands were found", typed)
	}
}

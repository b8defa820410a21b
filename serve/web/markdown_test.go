package web_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"nero/present/words"
)

// The page escapes Markdown as package words does: this test writes what that package says, and export.test.ts reads
// it.
func TestMarkdown(t *testing.T) {
	pieces := []string{
		"plain", "box_confidence", "*x*", "`c`", "``", "~s~", "[a](b)", "|", `\`, "{{x}}", "$y$", "2^3", "<b>", "&amp;",
		"</b>",
		"@team", "#1", "a@b.example", "https://example.org/x", "WWW.example.org", "www.", "ww.w", "- ", "- item", "+1",
		"===",
		"12. item", "3) item", "-0.5", "- - -", "--", "7.", "# heading", "1234567890. no item", " ", "  ", "\n", "\r\n",
		"\t",
		"\v", "\u0085", "\u00a0", "\u2028", "\u3000", "\x1b[31m", "\x00", "\x7f", "\u202e", "\u2066", "\u061c",
		"\u200b", "\ufeff",
		"π größer 😀", "a·b → c ≥ 1 — “quoted” 90°, 5 µm, 12 px²", ":", "://", "!", "",
	}
	cases := [][2]string{}
	add := func(s string) { cases = append(cases, [2]string{s, words.Markdown(s)}) }
	for _, p := range pieces {
		add(p)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var s strings.Builder
		for range 1 + r.IntN(5) {
			s.WriteString(pieces[r.IntN(len(pieces))])
		}
		add(s.String())
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	b.WriteString("[\n")
	for i, c := range cases {
		if i > 0 {
			b.WriteString(",")
		}
		if err := e.Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("]\n")
	const name = "testdata/markdown.json"
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(old, b.Bytes()) {
		t.Errorf("%s is not what package words says: run 'go test ./serve/web -run TestMarkdown -update' and change "+
			"mdText of src/core/export.ts", name)
	}
}

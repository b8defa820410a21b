//go:build unix

package siege

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nero/model/engine/choose"
)

// sheets are studies, and files of groups beside them, that mutations begin with. MODEL and POINTS are addresses of
// models.
var sheets = []map[string]string{
	{"study.yaml": `# Pictures that turn.
version: 1
task: classification
models:
  - {name: toy, endpoint: MODEL}
data: {format: folder, images: photos, limit: 4, seed: 3}
input: {scale: 255, channels: grey, mean: [0.5], std: [2]}
group: {name: SO(2), orbit: {grid: [8]}, resample: bicubic, border: edge, mask: disc}
output: {action: invariant, decode: softmax}
metrics: [relative, margin]
seed: 5
audit: {preset: production, samples: 4, confidence: 0.9}
`},
	{"study.yaml": `models: {name: toy, endpoint: MODEL}
data: photos
group:
  name: T(2,Z)
  orbit:
    values: [[0, 0], [1, 0], [0, 1]]
output:
  action: invariant
`},
	{"study.yaml": `version: 1
models: &m
  name: "toy"
  endpoint: POINTS
data:
  format: clouds
  images: clouds
  balance: label
group: {name: Flips, file: group.yaml, orbit: {all: true}}
output: {action: invariant}
metrics: relative
`, "group.yaml": `name: Flips
table:
  elements: [e, "half & half"]
  products: [[e, "half & half"], ["half & half", e]]
  representations:
    turn:
      e: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
      "half & half": [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]
space: turn
`},
	{"study.yaml": `models: {name: toy, endpoint: POINTS}
data: {format: clouds, images: clouds}
group: {name: Turns, file: group.yaml, orbit: {grid: [5]}}
output: {action: invariant}
`, "group.yaml": `name: Turns
lie:
  generators:
    - {name: z, unit: rad, range: [-3, 3], matrix: [[0, -1, 0], [1, 0, 0], [0, 0, 0]]}
`},
}

// words are what a value in a study is replaced by.
var words = []string{
	"nan", ".nan", ".inf", "-.inf", "1e999", "-1e308", "-1", "0", "1", "0.5", "99999999999999999999", "4294967297",
	"9223372036854775807", "1e-320", "0x10", "1_000", "null", "~", "", "[]", "{}", "[[]]", "yes", "true",
	"!!binary aGk=", "!!float 3", "&a x", "*a", "*m", "<<", "- x", "? x", "|", ">", "'", `"`, `"\x1b[31mred"`,
	"\x1b[31mred", "\x00", "\xff\xfe", "\u202etxt", "%TAG", "@x", "`x`", "2026-11-23", "group.yaml", "study.yaml",
	"/dev/zero", "photos", "..", "SO(2", "SO(3) x SO(3) x SO(3)", "C0", "C-1", "C99999999", "C1000000000", "D(4)",
	"S(99)", "T(2,Z)", "T(3,R)", "O(9)", "no such group", "{grid: [1000000000]}", "{grid: [3000, 3000, 3000]}",
	"{low_discrepancy: 1000000000}", "{haar: -1}", "{all: true, grid: [4]}", "{values: [[0], [0, 0]]}", "grpc://",
	"http://127.0.0.1:1/x", "ftp://x/y", "relative@self@self",
}

var scalars = regexp.MustCompile(`[A-Za-z0-9_."&()-]+`)

// garble makes the text of a study hostile, and says how.
func garble(r *rand.Rand, text string) (string, string) {
	lines := strings.SplitAfter(text, "\n")
	at := r.IntN(len(lines) - 1)
	join := func() string { return strings.Join(lines, "") }
	depth := []int{20, 200, 20_000, 400_000}[r.IntN(4)]
	line := strings.TrimSuffix(lines[at], "\n")
	switch r.IntN(16) {
	case 0:
		lines[at] += lines[at]
		return join(), fmt.Sprintf("line %d twice", at+1)
	case 1:
		lines[at] = ""
		return join(), fmt.Sprintf("line %d left out", at+1)
	case 2:
		lines[at] = strings.Repeat(" ", 1+r.IntN(5)) + lines[at]
		return join(), fmt.Sprintf("line %d moved in", at+1)
	case 3:
		lines[at] = "\t" + lines[at]
		return join(), fmt.Sprintf("a tab in line %d", at+1)
	case 4:
		cut := r.IntN(len(text))
		return text[:cut], fmt.Sprintf("cut at %d", cut)
	case 5:
		open := []string{"[", "{a: ", "- ", "? ", "{", "!x ", "&a [", "'", "-\n "}[r.IntN(9)]
		head, _, _ := strings.Cut(line, ":")
		lines[at] = head + ": " + strings.Repeat(open, depth) + "\n"
		return join(), fmt.Sprintf("%d times %q in line %d", depth, open, at+1)
	case 6:
		bombs := []string{"a: &a [x, x, x, x, x, x, x, x, x]\n"}
		for c := 'b'; c < 'k'; c++ {
			eight := strings.Repeat(fmt.Sprintf("*%c, ", c-1), 8)
			bombs = append(bombs, fmt.Sprintf("%c: &%[1]c [%s*%c]\n", c, eight, c-1))
		}
		return strings.Join(bombs, "") + text, "aliases of aliases"
	case 7:
		return "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"), "a mark at the start and ends of lines of Windows"
	case 8:
		b := []byte(text)
		b[r.IntN(len(b))] = byte(r.IntN(256))
		return string(b), "another byte"
	}
	spans := scalars.FindAllStringIndex(text, -1)
	span := spans[r.IntN(len(spans))]
	word := words[r.IntN(len(words))]
	if r.IntN(20) == 0 {
		word = strings.Repeat("x9", 400_000)
	}
	return text[:span[0]] + word + text[span[1]:], fmt.Sprintf("%.40q in place of %q", word, text[span[0]:span[1]])
}

// TestHostileStudies makes a study, or the file of its group, hostile: values that cannot be, keys that nobody knows,
// nesting, anchors, what is cut. The run takes it, or every mistake is told in a line that names the file.
func TestHostileStudies(t *testing.T) {
	t.Setenv("NERO_ORT_LIB", choose.None)
	url, points, dir := serve(t, toy{}), serve(t, bodies{}), t.TempDir()
	points = strings.TrimSuffix(points, "/m") + "/points"
	plant(t, filepath.Join(dir, "clouds"), map[string]string{"a/1.off": cloud, "b/2.off": cloud})
	pictures(t, filepath.Join(dir, "photos"), 6)
	sound := map[int]bool{}
	taken, refused := 0, 0
	plan(t, 8, func(t *testing.T, n int, r *rand.Rand) {
		t.Helper()
		which := n % len(sheets)
		files := map[string]string{}
		for name, text := range sheets[which] {
			files[name] = strings.NewReplacer("MODEL", url, "POINTS", points).Replace(text)
		}
		fill := func() {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
				t.Fatal(err)
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		args := []string{"run", "-q", "study.yaml", "-o", "out"}
		if !sound[which] {
			fill()
			if a := judged(t, "as it is", dir, nil, args...); a.code != 0 {
				t.Fatalf("study %d is refused as it is: %s", which, a.err)
			}
			sound[which] = true
		}
		name := "study.yaml"
		var how []string
		if files["group.yaml"] != "" && r.IntN(2) == 0 {
			name = "group.yaml"
		}
		for range 1 + r.IntN(2) {
			text, more := garble(r, files[name]+"\n")
			files[name], how = text, append(how, more)
		}
		fill()
		what := fmt.Sprintf("study %d, %s: %s", which, name, strings.Join(how, "; "))
		if a := judged(t, what, dir, []string{"study.yaml", "group.yaml"}, args...); a.code == 0 {
			taken++
		} else {
			refused++
			if testing.Verbose() {
				t.Logf("%s: %.300s", what, a.err)
			}
			unfinished(t, what, filepath.Join(dir, "out"))
		}
	})
	t.Logf("taken %d, refused %d", taken, refused)
}

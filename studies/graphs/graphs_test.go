package graphs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestCards holds the files of the models against the sizes and checksums of their cards, and the cards against the
// files.
func TestCards(t *testing.T) {
	b, err := os.ReadFile("MODEL_CARDS.md")
	if err != nil {
		t.Fatal(err)
	}
	card := string(b)
	files, err := filepath.Glob("models/*.onnx")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d models, want 4: %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		row := ""
		for line := range strings.Lines(card) {
			if strings.Contains(line, "`"+filepath.Base(f)+"`") && strings.Contains(line, hex.EncodeToString(sum[:])) {
				row = line
			}
		}
		if size := thousands(len(b)); !strings.Contains(row, "| "+size+" |") {
			t.Errorf("%s: %s bytes with checksum %x, and no such row in the card", f, size, sum)
		}
	}
	if n := strings.Count(card, ".onnx` |"); n != len(files) {
		t.Errorf("the card lists %d files, there are %d", n, len(files))
	}
}

// thousands writes a number as cards do.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// TestStudies holds what the studies name against the files that are there.
func TestStudies(t *testing.T) {
	studies, err := filepath.Glob("*.yaml")
	if err != nil || len(studies) == 0 {
		t.Fatalf("no studies: %v", err)
	}
	used := map[string]bool{}
	for _, name := range studies {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for word := range strings.FieldsFuncSeq(string(b),
			func(r rune) bool { return strings.ContainsRune(" {},[]\n", r) }) {
			if strings.HasPrefix(word, "models/") || strings.HasPrefix(word, "data/") {
				named++
				used[word] = true
				if _, err := os.Stat(word); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if named < 2 {
			t.Errorf("%s names %d files, want a model and data", name, named)
		}
	}
	if len(used) < 5 {
		t.Errorf("the studies name %d files in all", len(used))
	}
}

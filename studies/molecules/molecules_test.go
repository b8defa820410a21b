package molecules

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCards holds the files of the models against the checksums of their cards.
func TestCards(t *testing.T) {
	card, err := os.ReadFile("MODEL_CARDS.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("models/*.onnx")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		if len(b) > 1_500_000 || !strings.Contains(string(card), hex.EncodeToString(sum[:])) {
			t.Errorf("%s: %d bytes with checksum %x, which the card does not have", f, len(b), sum)
		}
	}
}

// TestDemo holds what is embedded against what demo.yaml names.
func TestDemo(t *testing.T) {
	b, err := Files.ReadFile("demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for word := range strings.FieldsFuncSeq(string(b),
		func(r rune) bool { return strings.ContainsRune(" {},[]\n", r) }) {
		if strings.HasPrefix(word, "models/") || strings.HasPrefix(word, "data/") {
			named++
			if _, err := Files.ReadFile(word); err != nil {
				t.Error(err)
			}
		}
	}
	if named < 4 {
		t.Errorf("demo.yaml names %d files", named)
	}
}

package clouds

import (
	"testing"

	"nero/studies/studytest"
)

// TestCards holds the models and their cards against each other.
func TestCards(t *testing.T) { studytest.Cards(t, 7, 1_500_000) }

// TestDemo holds what is embedded against what the studies name.
func TestDemo(t *testing.T) {
	if n := len(studytest.Names(t, Files, "demo.yaml")); n < 4 {
		t.Errorf("demo.yaml names %d files", n)
	}
	if n := len(studytest.Names(t, Files, "exact.yaml")); n != 2 {
		t.Errorf("exact.yaml names %d files", n)
	}
}

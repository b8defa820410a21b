package planted

import (
	"testing"

	"nero/studies/studytest"
)

// TestCards holds the models and their cards against each other.
func TestCards(t *testing.T) { studytest.Cards(t, 31, 1_500_000) }

// TestStudies holds what the studies name against the files that are there.
func TestStudies(t *testing.T) { studytest.Studies(t, 17) }

package view

import (
	"fmt"

	"nero/present/words"
	"nero/run/fold"
)

// Where names the place at which a curve is worst, or says that there is no single one: "90°", "150 of 289 elements
// alike", "every element"; "" for a curve without values.
func Where(p fold.Place, label func(int) string) string {
	switch {
	case p.At < 0:
		return ""
	case p.Level:
		return "every element"
	case p.Ties > 1:
		return fmt.Sprintf("%s of %s elements alike", words.Count(p.Ties), words.Count(p.Of))
	}
	return label(p.At)
}

package view

import (
	"fmt"

	"nero/present/words"
	"nero/run/fold"
)

// fewTies is up to how many elements that are as bad the first of them is named.
const fewTies = 3

// Where names the place at which a curve is worst, or says that there is no single one: "90°", "90° and 1 other alike",
// "150 of 289 elements alike", "every element"; "" for a curve without values.
func Where(p fold.Place, label func(int) string) string {
	switch {
	case p.At < 0:
		return ""
	case p.Level:
		return "every element"
	case p.Ties > fewTies:
		return fmt.Sprintf("%s of %s elements alike", words.Count(p.Ties), words.Count(p.Of))
	}
	if p.Ties > 1 {
		return fmt.Sprintf("%s and %s alike", label(p.At), words.Plural(p.Ties-1, "other", "others"))
	}
	return label(p.At)
}

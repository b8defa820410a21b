package view

import (
	"strconv"
	"testing"

	"nero/run/fold"
)

func TestWhere(t *testing.T) {
	label := func(k int) string { return strconv.Itoa(90*k) + "°" }
	for want, p := range map[string]fold.Place{
		"":                            {At: -1, Of: 4},
		"90°":                         {At: 1, Ties: 1, Of: 4},
		"150 of 1,289 elements alike": {At: 1, Ties: 150, Of: 1289},
		"90° and 2 others alike":      {At: 1, Ties: 3, Of: 4},
		"every element":               {At: 1, Ties: 4, Of: 4, Level: true},
	} {
		if got := Where(p, label); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}

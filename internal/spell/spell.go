// Package spell finds the word that was probably meant, for messages that end in "did you mean". It imports nothing of
// the house, so that every room may ask it.
package spell

import (
	"strings"
	"unicode/utf8"
)

// most is how many letters of a word are compared. The cost grows with the square, and names may come from a file.
const most = 200

// Distance is how many letters have to be inserted, deleted, replaced or exchanged with their neighbor to make b of a:
// the optimal string alignment distance (Damerau, Communications of the ACM 7, 1964). Only the first 200 letters of
// each word are compared.
func Distance(a, b string) int {
	x, y := letters(a), letters(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

func letters(s string) []rune {
	out := make([]rune, 0, min(len(s), most))
	for _, r := range s {
		if len(out) == most {
			break
		}
		out = append(out, r)
	}
	return out
}

// Nearest is the word of known that was probably meant: the first of those with the fewest edits, see [Distance], if
// they are at most a third of the word's letters (at least two) and leave a letter as it was. If there is none, it is
// the shortest one that holds the word, from three letters on. Capital letters count as small ones. It reports false if
// no word is near.
func Nearest(word string, known []string) (string, bool) {
	word = strings.ToLower(word)
	n := utf8.RuneCountInString(word)
	best, least := "", max(2, n/3)+1
	for _, k := range known {
		long := utf8.RuneCountInString(k)
		if min(long, most)-min(n, most) >= least || min(n, most)-min(long, most) >= least {
			continue // the difference in length alone is too much
		}
		if d := Distance(word, strings.ToLower(k)); d < least && d < max(n, long) {
			best, least = k, d
		}
	}
	if best != "" || n < 3 {
		return best, best != ""
	}
	for _, k := range known {
		if strings.Contains(strings.ToLower(k), word) && (best == "" || len(k) < len(best)) {
			best = k
		}
	}
	return best, best != ""
}

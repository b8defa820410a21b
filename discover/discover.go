// Package discover asks which symmetries a model has, where an audit asks whether it has the one that somebody claims.
// What it finds are hypotheses: each is written as a study, which an audit holds against samples that were not looked
// at.
package discover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/present/words"
)

// Part is one way to look for symmetries.
type Part struct {
	// Name as users say it.
	Name string
	// Doc is what it asks, in one sentence.
	Doc string
	// Run looks. An error that wraps [ErrOpen] says that the part has nothing to ask of such a model or such data, and
	// is a line of the report; any other ends the whole.
	Run func(ctx context.Context, s *Subject) (Section, error)
	// Blank is an empty section, into which what the part once wrote as JSON is read.
	Blank func() Section
}

// ErrOpen marks the reason why a part leaves its question open.
var ErrOpen = errors.New("not asked")

// Section is what a part found. It is marshalled as JSON as it is; what people read of it is its page.
type Section interface {
	// Page is the same for people, the answer to the part's question first.
	Page() Page
	// Hypotheses are the symmetries that may be there, the surest first.
	Hypotheses() []Hypothesis
}

// Parts are all that the program is built with, in the order in which they are asked.
func Parts() []Part { return []Part{scan, generators, joint, permutations} }

// Select is the parts of the given names, in the order of [Parts]; all of them for no names.
func Select(names []string) ([]Part, error) {
	all := Parts()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, p := range all {
		known = append(known, p.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			near := ""
			if s, ok := words.Suggest(n, known); ok {
				near = fmt.Sprintf("; did you mean %s?", s)
			}
			return nil, fmt.Errorf("%q is nothing that can be looked for; want some of %s%s", n,
				strings.Join(known, ", "), near)
		}
	}
	return slices.DeleteFunc(all, func(p Part) bool { return !slices.Contains(names, p.Name) }), nil
}

// Help is what may be looked for: a line for each part.
func Help() string {
	var b strings.Builder
	for _, p := range Parts() {
		fmt.Fprintf(&b, "  %-11s %s\n", p.Name, p.Doc)
	}
	return b.String()
}

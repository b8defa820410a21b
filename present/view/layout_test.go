package view

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nero/symmetry/group"
)

// The page has a drawing for every layout, and no other: its table has the names of [Layouts], in their order.
func TestPageLayouts(t *testing.T) {
	text, err := os.ReadFile("../../serve/web/src/core/layouts.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "export const layouts = {")
	table, _, _ = strings.Cut(table, "\n}")
	var page, want []string
	for _, m := range regexp.MustCompile(`(?m)^ {2}(\w+): \{(.*)\},$`).FindAllStringSubmatch(table, -1) {
		l := m[1]
		if strings.Contains(m[2], "colored: true") {
			l += ", colored"
		}
		if strings.Contains(m[2], "round: true") {
			l += ", round"
		}
		page = append(page, l)
	}
	for _, l := range Layouts() {
		name := l.Name
		if l.Colored {
			name += ", colored"
		}
		if l.Round {
			name += ", round"
		}
		want = append(want, name)
	}
	if !slices.Equal(page, want) {
		t.Errorf("the page has the layouts\n%q, want\n%q", page, want)
	}
}

// Layouts have names of their own, reports say how to read each, and one takes what no other does.
func TestLayoutValues(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range Layouts() {
		if l.Name == "" || seen[l.Name] || l.Takes == nil || l.Doc == "" != l.OnPages {
			t.Errorf("layout %q: no name, one that another has, or no words", l.Name)
		}
		seen[l.Name] = true
	}
	small := Orbit{Group: group.Trivial(), Elements: []group.Element{{}}}
	if l := LayoutOf(small); l != Strip {
		t.Errorf("one element without coordinates lies in a %s", l)
	}
	// One from elsewhere is tried where it stands in the list.
	mine := &Layout{Name: "mine", Takes: func(o Orbit) bool { return len(o.Elements) == 1 }}
	if l := choose(small, append([]*Layout{mine}, Layouts()...), false); l != mine {
		t.Errorf("its layout is %s", l)
	}
}

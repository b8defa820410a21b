package audit_test

import (
	"regexp"
	"testing"

	"nero/audit"
)

// Every category says all that a policy and a report want to know of it.
func TestCategories(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range audit.Categories() {
		if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(c.Name) || seen[c.Name] {
			t.Errorf("name %q: want lower-case letters, digits and dashes, each name once", c.Name)
		}
		seen[c.Name] = true
		if c.Title == "" || c.Doc == "" || c.Verdict == "" {
			t.Errorf("%s: want a title, documentation and a verdict", c.Name)
		}
		if audit.CategoryNamed(c.Name) != c {
			t.Errorf("%s is another category by its name", c.Name)
		}
	}
	if c := audit.CategoryNamed("of-tomorrow"); c.Name != "of-tomorrow" || c.Title != c.Name {
		t.Errorf("a category that is not known: %+v", c)
	}
}

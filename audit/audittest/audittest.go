// Package audittest is a kit for testing checks: models whose error is known in closed form, each faulty one with a
// clean twin, and a runner that holds a check against both.
package audittest

import (
	"context"
	"regexp"

	"nero/audit"
)

// TB is the part of testing.TB that the kit needs; the kit's own tests put a recorder in its place.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Want is an expected finding.
type Want struct {
	Category *audit.Category
	// regular expression; "" admits every message
	Message string
}

// Fixture is a subject with what a check must find in it.
type Fixture struct {
	Subject *audit.Subject
	// Policy is the one in force; the zero Policy stands for the production preset.
	Policy  audit.Policy
	Options audit.Options
	// in any order; each once
	Want []Want
}

// Audit runs checks on a fixture.
func Audit(t TB, f Fixture, checks ...*audit.Check) *audit.Report {
	t.Helper()
	p := f.Policy
	if p.Threshold == 0 {
		var err error
		if p, err = audit.NewPolicy("", 0, 0); err != nil {
			t.Fatalf("policy: %v", err)
		}
	}
	r, err := audit.Run(context.Background(), f.Subject, p, checks, f.Options)
	if err != nil {
		t.Fatalf("%s: %v", f.Subject.Name, err)
	}
	return r
}

// Run runs a check, with all that it requires, on a faulty fixture and on its clean twin. It fails on a finding of that
// check that was not expected as well as on an expected one that is missing, on a faulty fixture that expects nothing,
// on a clean one that expects something, and on a check that did not test.
func Run(t TB, c *audit.Check, faulty, clean Fixture) {
	t.Helper()
	if len(faulty.Want) == 0 {
		t.Errorf("%s: the faulty fixture expects no finding", faulty.Subject.Name)
	}
	if len(clean.Want) != 0 {
		t.Errorf("%s: the clean fixture expects findings", clean.Subject.Name)
	}
	for _, f := range []Fixture{faulty, clean} {
		r := Audit(t, f, c)
		var of *audit.Result
		for _, x := range r.Results {
			if x.Check == c {
				of = x
			}
		}
		if of == nil {
			t.Fatalf("%s: no result of %s", f.Subject.Name, c.Name)
			return
		}
		if of.Status != audit.Tested {
			t.Errorf("%s: %s is %s: %s", f.Subject.Name, c.Name, of.Status, of.Reason)
		}
		expect(t, f.Subject.Name, of.Findings, f.Want)
	}
}

// expect matches findings and expectations one to one.
func expect(t TB, name string, got []audit.Finding, want []Want) {
	t.Helper()
	open := append([]Want{}, want...)
next:
	for _, f := range got {
		if len(f.Evidence) == 0 {
			t.Errorf("%s: finding without a number: %s: %s", name, f.Category, f.Message)
		}
		for i, w := range open {
			if w.Category == f.Category && regexp.MustCompile(w.Message).MatchString(f.Message) {
				open = append(open[:i], open[i+1:]...)
				continue next
			}
		}
		t.Errorf("%s: unexpected finding: %s: %s", name, f.Category, f.Message)
	}
	for _, w := range open {
		t.Errorf("%s: missing finding: %s matching %q", name, w.Category, w.Message)
	}
}

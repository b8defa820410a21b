package check_test

import (
	"slices"
	"strings"
	"testing"

	"nero/audit/check"
)

func TestSelect(t *testing.T) {
	all, left, err := check.Select(nil, nil)
	if err != nil || len(all) != len(check.All()) || left != nil {
		t.Fatalf("everything: %d checks, left %q, %v", len(all), left, err)
	}
	one, left, err := check.Select([]string{"lattice"}, nil)
	if err != nil || len(one) != 1 || one[0].Name != "lattice" {
		t.Fatalf("lattice alone: %v, %v", one, err)
	}
	if slices.Contains(left, "sweep") || !slices.Contains(left, "decision") {
		t.Errorf("lattice alone leaves %q: sweep is needed, decision is not", left)
	}
	_, left, err = check.Select(nil, []string{"decision"})
	if err != nil || !slices.Equal(left, []string{"decision"}) {
		t.Errorf("without decision: left %q, %v", left, err)
	}
	for _, c := range []struct {
		only, skip []string
		want       string
	}{
		{[]string{"latice"}, nil, `did you mean "lattice"`},
		{[]string{"zzzzzzzz"}, nil, "want one of preflight"},
		{nil, []string{"sweep"}, "sweep cannot be left out"},
		{[]string{"decision"}, []string{"decision"}, "no check is left"},
	} {
		if _, _, err := check.Select(c.only, c.skip); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("only %q, skip %q: %v, want %q", c.only, c.skip, err, c.want)
		}
	}
}

func TestParams(t *testing.T) {
	p, err := check.Params([]string{"lattice.samples=16", "lie.step = 0.5"})
	if err != nil || p["lattice.samples"] != 16 || len(p) != 2 {
		t.Errorf("%v, %v", p, err)
	}
	for _, s := range []string{"lattice.samples", "lattice.samples=", "=x", "a=b"} {
		if _, err := check.Params([]string{s}); err == nil || !strings.Contains(err.Error(), "CHECK.NAME=NUMBER") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

package check_test

import (
	"slices"
	"strings"
	"testing"

	"nero/audit"
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

// The name of a family stands for its members, each of which has a name of its own.
func TestSelectFamily(t *testing.T) {
	family := 0
	for _, c := range check.All() {
		if c.Family == "stress" {
			family++
		}
	}
	members, _, err := check.Select([]string{"stress"}, nil)
	if err != nil || family < 2 || len(members) != family {
		t.Fatalf("stress: %d checks, %v", len(members), err)
	}
	if _, left, err := check.Select(nil, []string{"stress"}); err != nil || !slices.Equal(left, []string{"stress"}) {
		t.Errorf("without stress: left %q, %v", left, err)
	}
	rest, left, err := check.Select([]string{"stress"}, []string{"sizes"})
	if err != nil || len(rest) != family-1 || !slices.Contains(left, "sizes") || slices.Contains(left, "stress") {
		t.Errorf("stress without sizes: %d checks, left %q, %v", len(rest), left, err)
	}
	for name, want := range map[string]string{
		"stress.samples=8": "", "sizes.samples=8": "", "stress.shift=16": "", "shifts.window=32": "",
		"stress.samples=0": "stress.samples is 0", "stress.depth=1": "there is no parameter stress.depth",
		"audit.samples=64": "a flag, such as --audit-samples",
	} {
		params, err := check.Params([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		err = audit.CheckParams(members, nil, params)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
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

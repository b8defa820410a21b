package group_test

import (
	"testing"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func TestTitleOfMotions(t *testing.T) {
	for _, c := range []struct {
		group string
		e     group.Element
		want  string
	}{
		{"SO(3)", group.Element{0, 0, 0}, "identity"},
		{"SO(3)", group.Element{0, 0, 90}, "90° about (0, 0, 1)"},
		{"SO(3)", group.Element{75 * 0.6, -75 * 0.8, 0}, "75° about (0.6, −0.8, 0)"},
		{"O(3)", group.Element{0, 0, 0, 1}, "inverted"},
		{
			"E(3)",
			group.Element{0, 180, 0, 1, 0.25, 0, -2},
			"180° about (0, 1, 0), inverted, shifted by (0.25, 0, −2)",
		},
		{"SO(3) x S(3)", group.Element{0, 0, 0, 1, 0, 2}, "(0 1)"},
		{"SO(3) x S(3)", group.Element{0, 0, 90, 1, 0, 2}, "90° about (0, 0, 1); (0 1)"},
		{"SO(3) x S(3)", group.Element{0, 0, 0, 0, 1, 2}, "identity"},
		{"SO(2)", group.Element{30}, "30°"},
	} {
		g, err := catalog.Parse(c.group)
		if err != nil {
			t.Fatal(err)
		}
		if got := group.Title(g, c.e); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.group, c.e, got, c.want)
		}
	}
}

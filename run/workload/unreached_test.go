package workload

import (
	"strings"
	"testing"

	"nero/symmetry/group/catalog"
)

// A run says of matrix groups what exp leaves out; mirrors and inversions need no warning, because plans visit them.
func TestUnreached(t *testing.T) {
	for name, want := range map[string]string{
		"SO(3)": "", "O(2)": "", "E(3)": "", "Og(3)": "", "SO(2) x Scale": "", "D4 x Time": "",
		"GL+(2)": "does not reach all of GL+(2)", "O(2) x SL(3)": "does not reach all of SL(3)",
		"Affine(rotate,stretch,hyperbolic)": "has no coordinates",
	} {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := unreached(g); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

package split_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/split"
)

func Example() {
	sets := split.Preset().Divide(7, []string{"a.png", "b.png", "c.png", "d.png"})
	fmt.Println(sets)
	// Output: fit 2, choose 1, confirm 1
}

// The sides of objects stay when others come, go or change places, no object is on two sides, and none on no side.
func TestSideIsTheObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringN(0, 6, -1), func(s string) string { return s }).Draw(t, "names")
		seed := rapid.Uint64().Draw(t, "seed")
		kept := rapid.Permutation(names).Draw(t, "kept")
		kept = kept[:rapid.IntRange(0, len(kept)).Draw(t, "of")]
		of := func(names []string) map[string]split.Side {
			out := map[string]split.Side{}
			for side, all := range split.Preset().Divide(seed, names) {
				if !slices.IsSorted(all) {
					t.Fatalf("%s: %v is not in order", side, all)
				}
				for _, i := range all {
					if out[names[i]] != "" {
						t.Fatalf("%q is on the sides %s and %s", names[i], out[names[i]], side)
					}
					out[names[i]] = side
				}
			}
			return out
		}
		all, some := of(names), of(kept)
		if len(all) != len(names) {
			t.Fatalf("%d of %d objects have a side", len(all), len(names))
		}
		for name, side := range some {
			if all[name] != side {
				t.Fatalf("%q is on the side %s among all, on %s among some", name, all[name], side)
			}
		}
	})
}

// Shares are kept, for names as data sets have them: numbers that follow one another.
func TestShares(t *testing.T) {
	const n = 20000
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	for _, shares := range []split.Shares{split.Preset(), {Fit: 0.1, Choose: 0.6}, {}, {Fit: 1}} {
		sets := shares.Divide(3, names)
		for side, want := range map[split.Side]float64{
			split.Fit: shares.Fit, split.Choose: shares.Choose, split.Confirm: 1 - shares.Fit - shares.Choose,
		} {
			got := float64(len(sets[side])) / n
			if limit := 5 * math.Sqrt(want*(1-want)/n); !(math.Abs(got-want) <= limit) {
				t.Errorf("%v: %s has a share of %g, want %g within %g", shares, side, got, want, limit)
			}
		}
	}
}

// Another seed divides anew: about as many stay on their side as chance has it.
func TestSeeds(t *testing.T) {
	const n = 10000
	same := 0
	for i := range n {
		if split.Preset().Of(1, strconv.Itoa(i)) == split.Preset().Of(2, strconv.Itoa(i)) {
			same++
		}
	}
	want := 0.25 + 2*0.0625
	if got := float64(same) / n; !(math.Abs(got-want) <= 5*math.Sqrt(want*(1-want)/n)) {
		t.Errorf("a share of %g stays, want %g", got, want)
	}
}

func TestNeed(t *testing.T) {
	sets := split.Sets{split.Fit: {0, 1}}
	if err := sets.Need(split.Fit); err != nil {
		t.Error(err)
	}
	err := sets.Need(split.Sides()...)
	if err == nil || !strings.Contains(err.Error(), `2 in all, none is on the side "choose"`) {
		t.Errorf("an empty side: %v", err)
	}
	if _, err := split.Parse("test"); err == nil {
		t.Error("a side called test")
	}
	if s, err := split.Parse("choose"); s != split.Choose || err != nil {
		t.Errorf("choose: %q, %v", s, err)
	}
}

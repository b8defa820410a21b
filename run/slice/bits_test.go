package slice

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawBits(t *rapid.T, n int, label string) (Bits, []bool) {
	in := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, label)
	b := NewBits(n)
	for i, v := range in {
		if v {
			b.Add(i)
		}
	}
	return b, in
}

func TestBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		a, x := drawBits(t, n, "a")
		b, y := drawBits(t, n, "b")
		and, or, not := a.And(b), a.Or(b), a.Not()
		count := 0
		var members []int
		for i := range n {
			if a.Has(i) != x[i] || and.Has(i) != (x[i] && y[i]) || or.Has(i) != (x[i] || y[i]) || not.Has(i) == x[i] {
				t.Fatalf("sample %d of %d: %v, %v", i, n, x[i], y[i])
			}
			if x[i] {
				count++
				members = append(members, i)
			}
		}
		if a.Count() != count || not.Count() != n-count || a.Len() != n ||
			!slices.Equal(slices.Collect(a.All()), members) {
			t.Fatalf("%d of %d, not %d, want %d; %v", a.Count(), a.Len(), not.Count(), count, members)
		}
		if a.Has(-1) || a.Has(n) || not.Has(n) {
			t.Fatal("a sample beyond the last is there")
		}
		back, err := ParseBits(a.String(), n)
		if err != nil || !slices.Equal(slices.Collect(back.All()), members) {
			t.Fatalf("%q reads back as %v: %v", a.String(), slices.Collect(back.All()), err)
		}
	})
}

// Sample i is bit i%8 of byte i/8.
func TestBitsForm(t *testing.T) {
	b := NewBits(20)
	for _, i := range []int{0, 9, 19} {
		b.Add(i)
	}
	if want := base64.StdEncoding.EncodeToString([]byte{1, 2, 8}); b.String() != want {
		t.Errorf("%s, want %s", b, want)
	}
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"AQI=", 20, "expected 3 for 20 samples"},
		{"AQIIAA==", 20, "8 characters"},
		{"AQI!", 20, "base64"},
		{"AQIY", 20, "beyond the last sample"},
		{"AQ\n=", 10, "base64"},
		{"AQIJ", 17, "beyond the last sample"},
		{"AB==", 8, "base64"}, // bits that the padding drops
	} {
		if _, err := ParseBits(c.text, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q over %d samples: %v, want %q", c.text, c.n, err, c.want)
		}
	}
}

package define

import "testing"

// TestWords holds names of products of generators: powers of repeated factors, and a number where a word would be long.
func TestWords(t *testing.T) {
	for _, c := range []struct{ element, generator, want string }{
		{"m1", "m1", "m1^2"},
		{"m1^9", "m1", "m1^10"},
		{"m2·m1", "m1", "m2·m1^2"},
		{"m2·m1^2", "m2", "m2·m1^2·m2"},
		{"m1", "m11", "m1·m11"},
		{"m1·m2·m1·m2·m1·m2·m1·m2·m1·m2·m1·m2·m1·m2", "m1", "#57"},
		{"#57", "m1", "#57·m1"},
	} {
		if got := word(c.element, c.generator, 57); got != c.want {
			t.Errorf("%s, then %s: %s, want %s", c.element, c.generator, got, c.want)
		}
	}
}

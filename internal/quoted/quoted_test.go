package quoted

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhole(t *testing.T) {
	for in, want := range map[string]bool{
		`"plain"`: true, `["ünï", "\n\"\\"]`: true, `"\u00e4\ufffd"`: true, `"\ud83d\ude00"`: true, "\"\ufffd\"": true,
		`"\\ud800"`: true, `"\\\\ud800"`: true, `"\ud83d\ude00\ud83d\ude00 \\"`: true, `{}`: true, ``: true,
		"\"\xff\"": false, `"\ud800"`: false, `"\udc01"`: false, `"\ud800x"`: false, `"\ud800\ud800"`: false,
		`"\udc00\ud800"`: false, `"\\\ud800"`: false, `"\ud83d\ude00\ud83d"`: false, `{"\uD800": 1}`: false,
		`"\ud800\n"`: false, `"\n\ud800"`: false,
	} {
		if Whole([]byte(in)) != want {
			t.Errorf("%q: %v", in, !want)
		}
	}
}

// What a decoder replaces is found: it leaves U+FFFD, which nobody has written.
func TestWholeIsWhatADecoderKeeps(t *testing.T) {
	parts := []string{`\ud83d`, `\ude00`, `\u0041`, `\\`, `\n`, `u`, "d83d", "\xe4", "ä", `\"`, " "}
	rapid.Check(t, func(t *rapid.T) {
		text := `"` + strings.Join(rapid.SliceOf(rapid.SampledFrom(parts)).Draw(t, "parts"), "") + `"`
		var s string
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if Whole([]byte(text)) == strings.ContainsRune(s, '\ufffd') {
			t.Fatalf("%q becomes %q", text, s)
		}
	})
}

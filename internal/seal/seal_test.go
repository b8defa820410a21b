package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// Every byte of a sealed text counts: whichever is changed, the text is refused, or it is no JSON, or it has a key that
// its reader does not know.
func TestEveryByteCounts(t *testing.T) {
	type document struct {
		Name string  `json:"name"`
		N    float64 `json:"n"`
	}
	for _, indent := range []string{" ", "  "} {
		text, err := json.MarshalIndent(document{`a "name" }`, 0.9519}, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, '\n')
		sealed := Add(text, indent)
		if plain, ok, err := Open(sealed); err != nil || !ok || !bytes.Equal(plain, text) {
			t.Fatalf("%q, %v, %v", plain, ok, err)
		}
		if plain, ok, err := Open(text); err != nil || ok || !bytes.Equal(plain, text) {
			t.Fatalf("without a seal: %q, %v, %v", plain, ok, err)
		}
		var whole map[string]any
		if err := json.Unmarshal(sealed, &whole); err != nil || len(whole) != 3 {
			t.Fatalf("%v, %v", whole, err)
		}
		broken := 0
		for i := range sealed {
			for bit := range 8 {
				damaged := bytes.Clone(sealed)
				damaged[i] ^= 1 << bit
				plain, _, err := Open(damaged)
				if errors.Is(err, ErrBroken) {
					broken++
					continue
				}
				d := json.NewDecoder(bytes.NewReader(plain))
				d.DisallowUnknownFields()
				if err := d.Decode(new(document)); err == nil {
					t.Errorf("byte %d, bit %d passes: %s", i, bit, damaged)
				}
			}
		}
		if broken < 4*len(text) {
			t.Errorf("%d of %d changes were seen by the seal", broken, 8*len(sealed))
		}
	}
	if b := Add([]byte("[]"), ""); string(b) != "[]" {
		t.Errorf("%s", b)
	}
	again := strings.Replace(string(Add([]byte("{\n \"a\": 1\n}\n"), " ")), ",\n ", ", ", 1)
	if _, _, err := Open([]byte(again)); err == nil {
		t.Error("a text that was set anew passes")
	}
}

func TestStranger(t *testing.T) {
	type inner struct {
		C int `json:"c"`
	}
	type document struct {
		A int `json:"a,omitempty"`
		B int `json:"b"`
		inner
	}
	for text, want := range map[string]string{
		`{"a":1,"b":2}`: "", `{"b":2}`: "", `{"b":2,"c":3}`: "", `{"a":1,"sha25v":"0"}`: "sha25v", `{"A":1}`: "A", `[`: "",
	} {
		if got := Stranger([]byte(text), document{}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

package slice

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"nero/internal/seal"
)

// Law: whatever a file of named sets holds, it is refused as damaged or of a newer format, or it keeps the rules of the
// file and is read again as the same.
func FuzzFile(f *testing.F) {
	for _, text := range []string{
		`{"format":1,"slices":[]}`, `{"format":2,"slices":[]}`, `{"format":0}`, `{}`, `[]`, "",
		`{"format":1,"slices":[{"name":"a","label":-1,"n":3,"set":{"rule":"mean A < 0.4"},"note":"by hand"}]}`,
		`{"format":1,"slices":[{"name":"a","n":-1,"set":{}},{"name":"a","set":[]}],"more":1}`,
		`{"format":1,"slices":[{"name":"\ud800","set":{"label":1e999}}]}`,
	} {
		f.Add([]byte(text))
		f.Add(seal.Add([]byte(text), " "))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := decode(b)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !strings.Contains(err.Error(), "newer nero") {
				t.Fatalf("an error without a remedy: %v", err)
			}
			return
		}
		if err := check(all); err != nil || all == nil {
			t.Fatalf("read, and against the rules: %v", err)
		}
		again, err := json.Marshal(file{Format, all})
		if err != nil {
			t.Fatal(err)
		}
		same, err := decode(again)
		if err != nil || len(same) != len(all) {
			t.Fatalf("written and read again: %d of %d, %v", len(same), len(all), err)
		}
		for i := range all {
			if same[i].Name != all[i].Name || same[i].Label != all[i].Label || same[i].N != all[i].N {
				t.Fatalf("slice %d: %+v, was %+v", i, same[i], all[i])
			}
		}
	})
}

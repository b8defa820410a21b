package encoder_test

import (
	"bytes"
	"strings"
	"testing"

	"nero/encoder"
	"nero/present/sheet"
)

// What is read is whole: it is judged, written and read again as it was.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":2,"sentence":"The features stay.","samples":{"fit":4,"objects_confirm":4},"group":"C4","features":[` +
		`{"model":"m","state":"stay","effective_rank":{"value":3,"low":null,"high":null},"generators":{"t":[0,1],"planes":[` +
		`{"samples":[{"sample":"a","x":[1,0],"y":[0,null]}]}]},"against":{"index":"worse"}}]}`))
	f.Add([]byte(`{"format":1,"sentence":"s","features":[{"generators":{"t":[0],"planes":[{"samples":[{"x":[],"y":[0]}]}]}}]}`))
	f.Add([]byte(`{"format":1,"sentence":"s","features":[null]}`))
	f.Add([]byte(`{"format":2,"sentence":"s","features":[{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := encoder.Read("f.json", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.json: ") {
				t.Fatalf("%v names no file", err)
			}
			return
		}
		r.Good()
		var once, twice bytes.Buffer
		if err := sheet.JSON(&once, r); err != nil {
			t.Fatal(err)
		}
		again, err := encoder.Read("f.json", once.Bytes())
		if err != nil {
			t.Fatalf("what was read is not read again: %v", err)
		}
		if err := sheet.JSON(&twice, again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("%s\n%s", &once, &twice)
		}
	})
}

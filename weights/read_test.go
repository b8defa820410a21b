package weights

import (
	"bytes"
	"strings"
	"testing"

	"nero/present/sheet"
)

// What is read is whole: it is judged, written and read again as it was.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":1,"sentence":"s","models":[{"name":"m.onnx"}],"from":"samples of s.yaml","symmetries":[` +
		`{"kind":"permutation","error":null,"state":"refuted","steps":[{"scale":4,"error":1}]}],"canonical":{"file":"c.onnx"}}`))
	f.Add([]byte(`{"format":1,"sentence":"s","models":[{},{}],"aligned":{"before":1,"path":[{"t":0.5}]},"verdict":"different"}`))
	f.Add([]byte(`{"format":1,"sentence":"s","models":[{}],"aligned":{}}`))
	f.Add([]byte(`{"format":1,"sentence":"s","models":[{}],"symmetries":[null]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read("f.json", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.json: ") {
				t.Fatalf("%v names no file", err)
			}
			return
		}
		r.Good()
		r.Files()
		var once, twice bytes.Buffer
		if err := sheet.JSON(&once, r); err != nil {
			t.Fatal(err)
		}
		again, err := Read("f.json", once.Bytes())
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

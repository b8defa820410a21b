package onnx

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"nero/model/onnx/onnxpb"
)

// Law: what is decoded with its numbers left in the bytes is what protobuf decodes, also of damaged bytes, and the
// bytes stay as they are.
func TestUnmarshal(t *testing.T) {
	files, err := filepath.Glob("../../studies/*/models/*.onnx")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	shared := 0
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 6 {
			b := bytes.Clone(whole)
			switch {
			case k == 5:
				b = append(b, whole...) // two messages one after another are one
			case k > 0:
				for range 1 << k {
					b[r.IntN(min(len(b), 4000))] ^= 1 << r.IntN(8)
				}
			}
			before := bytes.Clone(b)
			var got, want onnxpb.ModelProto
			one, other := unmarshal(b, &got), proto.Unmarshal(before, &want)
			if (one == nil) != (other == nil) {
				t.Fatalf("%s, damaged %d times: %v, protobuf says %v", path, k, one, other)
			}
			if one == nil && !proto.Equal(&got, &want) {
				t.Fatalf("%s, damaged %d times: another model", path, k)
			}
			for _, x := range got.GetGraph().GetInitializer() {
				if raw := x.GetRawData(); k == 0 && len(raw) >= leastShared {
					if i := bytes.Index(b, raw); i < 0 || &b[i] != &raw[0] {
						t.Errorf("%s: the numbers of %s are copied", path, x.GetName())
					}
					shared++
				}
			}
			if !bytes.Equal(b, before) {
				t.Fatalf("%s: the bytes were changed", path)
			}
		}
	}
	if shared == 0 {
		t.Error("no tensor was large enough to be shared")
	}
}

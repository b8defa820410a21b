package onnx_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// entry is what a file says of where weights lie.
type entry struct{ key, value string }

// beside is a model of one weight of 18 numbers, which lie in another file.
func beside(tb testing.TB, entries ...entry) []byte {
	tb.Helper()
	p := &onnxpb.ModelProto{}
	b, err := os.ReadFile(filepath.Join("testdata", "external.onnx"))
	if err != nil {
		tb.Fatal(err)
	}
	if err := proto.Unmarshal(b, p); err != nil {
		tb.Fatal(err)
	}
	w := p.GetGraph().GetInitializer()[0]
	w.ExternalData = nil
	for _, e := range entries {
		w.ExternalData = append(w.ExternalData, &onnxpb.StringStringEntryProto{Key: &e.key, Value: &e.value})
	}
	if b, err = proto.Marshal(p); err != nil {
		tb.Fatal(err)
	}
	return b
}

// readBeside reads a model in a folder in which 100 bytes of weights lie.
func readBeside(tb testing.TB, model []byte) (*onnx.Model, []byte, error) {
	tb.Helper()
	dir := tb.TempDir()
	in := filepath.Join(dir, "in")
	data := make([]byte, 100)
	for i := range data {
		data[i] = byte(3 * i)
	}
	for _, err := range []error{
		os.Mkdir(in, 0o755), os.WriteFile(filepath.Join(dir, "outside.bin"), data, 0o600),
		os.WriteFile(filepath.Join(in, "w.bin"), data, 0o600), os.WriteFile(filepath.Join(in, "m.onnx"), model, 0o600),
		os.Symlink(filepath.Join(dir, "outside.bin"), filepath.Join(in, "link.bin")),
		os.Symlink("w.bin", filepath.Join(in, "near.bin")),
	} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	m, err := onnx.Read(filepath.Join(in, "m.onnx"))
	return m, data, err
}

// Weights beside a model are those of one that has them inside; sizes that are left out follow from the shape.
func TestReadExternal(t *testing.T) {
	for _, c := range []struct {
		at      int
		entries []entry
	}{
		{0, []entry{{"location", "w.bin"}}},
		{28, []entry{{"location", "w.bin"}, {"offset", "28"}, {"length", "72"}, {"checksum", "0"}}},
		{4, []entry{{"location", "near.bin"}, {"offset", "4"}}},
	} {
		m, data, err := readBeside(t, beside(t, c.entries...))
		if err != nil {
			t.Fatal(err)
		}
		w := m.Proto().GetGraph().GetInitializer()[0]
		if !bytes.Equal(w.GetRawData(), data[c.at:c.at+72]) {
			t.Errorf("%v: % x", c.entries, w.GetRawData())
		}
		b, err := m.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := onnx.Load(b); err != nil || !proto.Equal(again.Proto(), m.Proto()) || m.Size() != len(b) {
			t.Errorf("%v: the bytes are those of another model: %v", c.entries, err)
		}
	}
}

// What is outside of the folder, missing, cut off or of another length is refused with the place and a remedy.
func TestReadExternalRefused(t *testing.T) {
	for _, c := range []struct {
		want    string
		entries []entry
	}{
		{"outside of the folder", []entry{{"location", "../outside.bin"}}},
		{"outside of the folder", []entry{{"location", "/etc/passwd"}}},
		{"outside of the folder", []entry{{"location", ""}}},
		{"links out of its folder", []entry{{"location", "link.bin"}}},
		{"no such file beside the model", []entry{{"location", "gone.bin"}}},
		{"no such file beside the model", nil},
		{"not a regular file", []entry{{"location", "."}}},
		{"72 bytes from byte 29 on, and the file has 100", []entry{{"location", "w.bin"}, {"offset", "29"}}},
		{"from byte 9223372036854775807 on", []entry{{"location", "w.bin"}, {"offset", "9223372036854775807"}}},
		{"its offset is \"-1\"", []entry{{"location", "w.bin"}, {"offset", "-1"}}},
		{"takes 72 bytes, and 71 are said", []entry{{"location", "w.bin"}, {"length", "71"}}},
	} {
		_, _, err := readBeside(t, beside(t, c.entries...))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "m.onnx: ") ||
			!strings.Contains(err.Error(), `"w"`) {
			t.Errorf("%v: %v, want %q", c.entries, err, c.want)
		}
	}
}

func FuzzReadExternal(f *testing.F) {
	f.Add("w.bin", "0", "72")
	f.Add("../outside.bin", "", "x")
	f.Add("near.bin", "28", "9223372036854775807")
	f.Fuzz(func(t *testing.T, location, offset, length string) {
		model := beside(t, entry{"location", location}, entry{"offset", offset}, entry{"length", length})
		m, data, err := readBeside(t, model)
		if err != nil {
			return
		}
		if w := m.Proto().GetGraph().GetInitializer()[0]; !bytes.Contains(data, w.GetRawData()) {
			t.Errorf("% x", w.GetRawData())
		}
	})
}

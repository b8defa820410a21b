package decode_test

import (
	"testing"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/decode"
)

// BenchmarkEncodeRecord lays out 16 clouds of 1,024 points.
func BenchmarkEncodeRecord(b *testing.B) {
	k := record(b, model(ports(out("points", tensor.Float32, -1, -1, 3)), ports(out("y", tensor.Float32, -1, 10))),
		decode.RecordSpec{Sample: rowsSpec("points", space.TypePositions, 1024, 3)})
	batch := make([]space.Value, 16)
	for i := range batch {
		batch[i] = counting(1024, 3)
	}
	var buf []tensor.Named
	var err error
	b.ReportAllocs()
	for b.Loop() {
		if buf, err = k.Encode(batch, buf); err != nil {
			b.Fatal(err)
		}
	}
}

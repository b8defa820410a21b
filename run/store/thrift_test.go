package store

import (
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func TestThriftLen(t *testing.T) {
	h := format.PageHeader{
		Type: format.DataPageV2, UncompressedPageSize: 1 << 20, CompressedPageSize: 77, CRC: -5,
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
			NumValues: 300, NumRows: 4, IsCompressed: thrift.New(false),
			Statistics: format.Statistics{MinValue: []byte("abc"), MaxValue: make([]byte, 200)},
		}),
	}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := thriftLen(append(b, 1, 2, 3)); n != len(b) || err != nil {
		t.Errorf("%d bytes, %v; expected %d", n, err, len(b))
	}
	for i := range b {
		if n, err := thriftLen(b[:i]); err == nil {
			t.Errorf("%d of %d bytes pass for a structure of %d", i, len(b), n)
		}
	}
	for name, b := range map[string][]byte{
		"a list of 2^28":  {0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f, 0},
		"a text of 2^28":  {0x18, 0xff, 0xff, 0xff, 0x7f, 0},
		"a map":           {0x1b, 1, 0x33, 1, 1, 0},
		"no end":          {0x15, 2},
		"deep structures": make35(),
	} {
		if _, err := thriftLen(b); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	if n, err := thriftLen([]byte{
		0x11, 0x12, 0x19, 0x21, 1, 2, 0x03, 9, 200, 0x07, 4, 1, 2, 3, 4, 5, 6, 7, 8,
		0,
	}); n != 20 || err != nil {
		t.Errorf("truths, a list of truths, a far byte and a double: %d, %v", n, err)
	}
}

func make35() []byte {
	b := make([]byte, 70)
	for i := range 35 {
		b[i] = 0x1c
	}
	return b
}

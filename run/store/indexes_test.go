package store

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sys/cpu"
)

func TestIndexes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var e indexes
	for n := range 3000 {
		src := make([]int32, r.IntN(200))
		most, stay := 1+r.IntN(1+n%40), r.IntN(9)
		for i := range src {
			if i > 0 && r.IntN(9) < stay || i%4 > 0 && n%2 == 0 {
				src[i] = src[i-1]
			} else {
				src[i] = int32(r.IntN(most))
			}
		}
		got, err := e.EncodeInt32(nil, src)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parquet.RLEDictionary.DecodeInt32(make([]int32, 0, len(src)+16), got)
		if err != nil || !slices.Equal(back[:len(src)], src) {
			t.Fatalf("%v is read as %v: %v", src, back, err)
		}
		if !cpu.X86.HasAVX2 {
			continue
		}
		want, err := parquet.RLEDictionary.EncodeInt32(nil, src)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v becomes %x, the library writes %x: %v", src, got, want, err)
		}
	}
}

// Eight values whose halves are constant begin a run of their own, on every processor.
func TestIndexesOfHalves(t *testing.T) {
	src := []int32{0, 1, 2, 3, 0, 1, 2, 3, 1, 1, 1, 1, 2, 2, 2, 2}
	got, err := new(indexes).EncodeInt32(nil, src)
	if want := []byte{2, 3, 0xe4, 0xe4, 3, 0x55, 0xaa}; err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v, expected %x", got, err, want)
	}
}

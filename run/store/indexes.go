package store

import (
	"encoding/binary"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/rle"
)

// indexes encodes places in a dictionary as RLE_DICTIONARY, with one result on every processor. The library's own
// encoder cuts runs of packed values at other places where a processor has AVX2 than where it has not: there it ends
// one before eight values whose halves are constant, elsewhere before eight equal ones. Any reader takes both; stored
// bytes are those of AVX2.
type indexes struct{ rle.DictionaryEncoding }

// EncodeInt32 appends to dst, emptied, the width of the values in bits, and runs of equal and of packed values.
func (*indexes) EncodeInt32(dst []byte, src []int32) ([]byte, error) {
	width := 0
	for _, v := range src {
		width = max(width, bits.Len32(uint32(v)))
	}
	dst = append(dst[:0], byte(width))
	if width == 0 {
		return binary.AppendUvarint(dst, uint64(len(src))<<1), nil
	}
	words := len(src) / 8
	word := func(i int) []int32 { return src[8*i : 8*i+8] }
	for i := 0; i < words; {
		j := i
		for j < words && constant(word(j), src[8*i]) {
			j++
		}
		if i < j {
			dst = run(dst, 8*(j-i), src[8*i], width)
		} else {
			for j++; j < words; j++ {
				if w := word(j); constant(w[:4], w[0]) && constant(w[4:], w[4]) {
					break
				}
			}
			dst = binary.AppendUvarint(dst, uint64(j-i)<<1|1)
			dst = pack(dst, src[8*i:8*j], width)
		}
		i = j
	}
	for i := 8 * words; i < len(src); {
		j := i + 1
		for j < len(src) && src[j] == src[i] {
			j++
		}
		dst = run(dst, j-i, src[i], width)
		i = j
	}
	return dst, nil
}

func constant(x []int32, v int32) bool {
	for _, y := range x {
		if y != v {
			return false
		}
	}
	return true
}

// run is one value n times: the number, doubled, and the value in whole bytes.
func run(dst []byte, n int, v int32, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for k := 0; k < width; k += 8 {
		dst = append(dst, byte(uint32(v)>>k))
	}
	return dst
}

// pack writes values bit after bit, the lowest first; there are eight of them or a multiple of that.
func pack(dst []byte, src []int32, width int) []byte {
	var bits uint64
	n := 0
	for _, v := range src {
		bits |= uint64(uint32(v)) << n
		for n += width; n >= 8; n -= 8 {
			dst = append(dst, byte(bits))
			bits >>= 8
		}
	}
	return dst
}

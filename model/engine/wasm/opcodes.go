package wasm

import "strings"

// The operand types of WebAssembly's instructions, after the core specification 2.0, appendix "Index of instructions":
// letters before the colon are taken from the operand stack, letters after it are left there; i and I are 32 and 64 bit
// integers, f and F floats, v vectors.

var letters = map[byte]byte{'i': i32, 'I': i64, 'f': f32, 'F': f64, 'v': v128}

func sig(s string) signature {
	types := func(s string) []byte {
		t := make([]byte, len(s))
		for i := range t {
			t[i] = letters[s[i]]
		}
		return t
	}
	in, out, _ := strings.Cut(s, ":")
	return signature{types(in), types(out)}
}

// instruction is one with a prefix.
type instruction struct {
	signature
	// numbers that follow in the code; -1 for a number that is not used (vector: only the sign counts)
	operands int
}

// span is a run of neighboring opcodes of one type.
type span struct {
	from, to uint32
	sig      string
}

// plain holds the instructions of one byte; those that body treats by hand are absent.
var plain = func() (t [256]signature) {
	for _, s := range []span{
		{0x28, 0x28, "i:i"},
		{0x29, 0x29, "i:I"},
		{0x2a, 0x2a, "i:f"},
		{0x2b, 0x2b, "i:F"},
		{0x2c, 0x2f, "i:i"},
		{0x30, 0x35, "i:I"},
		{0x36, 0x36, "ii:"},
		{0x37, 0x37, "iI:"},
		{0x38, 0x38, "if:"},
		{0x39, 0x39, "iF:"},
		{0x3a, 0x3b, "ii:"},
		{0x3c, 0x3e, "iI:"},
		{0x3f, 0x3f, ":i"},
		{0x40, 0x40, "i:i"},
		{0x41, 0x41, ":i"},
		{0x45, 0x45, "i:i"},
		{0x46, 0x4f, "ii:i"},
		{0x50, 0x50, "I:i"},
		{0x51, 0x5a, "II:i"},
		{0x5b, 0x60, "ff:i"},
		{0x61, 0x66, "FF:i"},
		{0x67, 0x69, "i:i"},
		{0x6a, 0x78, "ii:i"},
		{0x79, 0x7b, "I:I"},
		{0x7c, 0x8a, "II:I"},
		{0x8b, 0x91, "f:f"},
		{0x92, 0x98, "ff:f"},
		{0x99, 0x9f, "F:F"},
		{0xa0, 0xa6, "FF:F"},
		{0xa7, 0xa7, "I:i"},
		{0xa8, 0xa9, "f:i"},
		{0xaa, 0xab, "F:i"},
		{0xac, 0xad, "i:I"},
		{0xae, 0xaf, "f:I"},
		{0xb0, 0xb1, "F:I"},
		{0xb2, 0xb3, "i:f"},
		{0xb4, 0xb5, "I:f"},
		{0xb6, 0xb6, "F:f"},
		{0xb7, 0xb8, "i:F"},
		{0xb9, 0xba, "I:F"},
		{0xbb, 0xbb, "f:F"},
		{0xbc, 0xbc, "f:i"},
		{0xbd, 0xbd, "F:I"},
		{0xbe, 0xbe, "i:f"},
		{0xbf, 0xbf, "I:F"},
		{0xc0, 0xc1, "i:i"},
		{0xc2, 0xc4, "I:I"},
	} {
		for op := s.from; op <= s.to; op++ {
			t[op] = sig(s.sig)
		}
	}
	return t
}()

// bulk holds the instructions with the prefix 0xfc.
var bulk = map[uint32]instruction{
	0: {sig("f:i"), 0}, 1: {sig("f:i"), 0}, 2: {sig("F:i"), 0}, 3: {sig("F:i"), 0},
	4: {sig("f:I"), 0}, 5: {sig("f:I"), 0}, 6: {sig("F:I"), 0}, 7: {sig("F:I"), 0},
	// memory.init, data.drop, memory.copy, memory.fill
	8: {sig("iii:"), 2}, 9: {sig(":"), 1}, 10: {sig("iii:"), 2}, 11: {sig("iii:"), 1},
}

// vector holds the instructions with the prefix 0xfd.
var vector = func() (t [256]instruction) {
	for i := range t {
		t[i].operands = -1
	}
	for _, s := range []span{
		{0, 10, "i:v"},
		{11, 11, "iv:"},
		{12, 12, ":v"},
		{13, 14, "vv:v"}, // loads, store, constant, shuffle, swizzle
		{15, 17, "i:v"},
		{18, 18, "I:v"},
		{19, 19, "f:v"},
		{20, 20, "F:v"}, // splat
		{21, 22, "v:i"},
		{23, 23, "vi:v"},
		{24, 25, "v:i"},
		{26, 26, "vi:v"},
		{27, 27, "v:i"},
		{28, 28, "vi:v"}, // lanes
		{29, 29, "v:I"},
		{30, 30, "vI:v"},
		{31, 31, "v:f"},
		{32, 32, "vf:v"},
		{33, 33, "v:F"},
		{34, 34, "vF:v"},
		{35, 76, "vv:v"},
		{77, 77, "v:v"},
		{78, 81, "vv:v"},
		{82, 82, "vvv:v"},
		{83, 83, "v:i"}, // comparisons, logic
		{84, 87, "iv:v"},
		{88, 91, "iv:"},
		{92, 93, "i:v"},
		{94, 98, "v:v"}, // lane loads and stores, zero-extending loads
		{99, 100, "v:i"},
		{101, 102, "vv:v"},
		{103, 106, "v:v"},
		{107, 109, "vi:v"},
		{110, 115, "vv:v"},
		{116, 117, "v:v"}, // i8x16
		{118, 121, "vv:v"},
		{122, 122, "v:v"},
		{123, 123, "vv:v"},
		{124, 127, "v:v"},
		{128, 129, "v:v"},
		{130, 130, "vv:v"},
		{131, 132, "v:i"},
		{133, 134, "vv:v"},
		{135, 138, "v:v"},
		{139, 141, "vi:v"}, // i16x8
		{142, 147, "vv:v"},
		{148, 148, "v:v"},
		{149, 153, "vv:v"},
		{155, 159, "vv:v"},
		{160, 161, "v:v"},
		{163, 164, "v:i"},
		{167, 170, "v:v"},
		{171, 173, "vi:v"},
		{174, 174, "vv:v"},
		{177, 177, "vv:v"}, // i32x4
		{181, 186, "vv:v"},
		{188, 191, "vv:v"},
		{192, 193, "v:v"},
		{195, 196, "v:i"},
		{199, 202, "v:v"},
		{203, 205, "vi:v"},
		{206, 206, "vv:v"},
		{209, 209, "vv:v"}, // i64x2
		{213, 223, "vv:v"},
		{224, 225, "v:v"},
		{227, 227, "v:v"},
		{228, 235, "vv:v"}, // f32x4
		{236, 237, "v:v"},
		{239, 239, "v:v"},
		{240, 247, "vv:v"},
		{248, 255, "v:v"}, // f64x2, conversions
	} {
		for op := s.from; op <= s.to; op++ {
			t[op] = instruction{signature: sig(s.sig)}
		}
	}
	return t
}()

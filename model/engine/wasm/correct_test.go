package wasm

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"
)

// assemble makes a module with one memory and one exported function "f" that takes an i32, has locals of all types and
// returns an i32, i64, f32 or f64.
func assemble(result byte, body []byte) []byte {
	section := func(b []byte, id byte, content ...byte) []byte {
		b = append(b, id)
		return append(binary.AppendUvarint(b, uint64(len(content))), content...)
	}
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = section(m, 1, 2, 0x60, 1, i32, 1, result, 0x60, 0, 1, f32) // types: i32 -> result; () -> f32
	m = section(m, 3, 2, 0, 1)
	m = section(m, 5, 1, 0, 1)                                 // a memory of a page
	m = section(m, 6, 1, f32, 0, 0x43, 0, 0, 0x20, 0x41, 0x0b) // a global: 10
	m = section(m, 7, 1, 1, 'f', 0, 0)
	code := append([]byte{5, 1, i32, 1, i64, 1, f32, 1, f64, 1, v128}, body...)
	code = append(code, 0x0b)
	all := binary.AppendUvarint([]byte{2}, uint64(len(code)))
	all = append(append(all, code...), 7, 0, 0x43, 0, 0, 0x60, 0x40, 0x0b) // the second function: 3.5
	return section(m, 10, all...)
}

// evaluate runs f(x).
func evaluate(t rapid.TB, c wazero.RuntimeConfig, module []byte, x uint64) uint64 {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, c)
	defer func() { _ = r.Close(ctx) }() // nothing is kept
	m, err := r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatalf("%v\n%x", err, module)
	}
	y, err := m.ExportedFunction("f").Call(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	return y[0]
}

// constant is an instruction that leaves a value of a type.
func constant(typ byte, bits uint64) []byte {
	le := binary.LittleEndian
	switch typ {
	case i32:
		return sleb([]byte{0x41}, int64(int32(bits)))
	case i64:
		return sleb([]byte{0x42}, int64(bits))
	case f32:
		return le.AppendUint32([]byte{0x43}, uint32(bits))
	case f64:
		return le.AppendUint64([]byte{0x44}, bits)
	}
	return le.AppendUint64(le.AppendUint64([]byte{0xfd, 12}, bits), ^bits)
}

func sleb(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// expression draws code that leaves one value of a type, with selects between values that come from everywhere a value
// can come from: constants, locals, a call, blocks, jumps that take a value along, other selects.
func expression(t *rapid.T, typ byte, depth int) []byte {
	local := map[byte]byte{i32: 1, i64: 2, f32: 3, f64: 4, v128: 5}[typ]
	kinds := 3
	if depth > 0 {
		kinds = 10
	}
	sub := func(typ byte) []byte { return expression(t, typ, depth-1) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return []byte{0x20, local}
	case 1, 2, 3:
		bits := rapid.OneOf(rapid.Uint64(), rapid.Just(uint64(0)), rapid.Just(uint64(0x7fa00001)),
			rapid.Just(math.Float64bits(math.Inf(-1)))).Draw(t, "bits")
		if typ == f32 && bits == 0x7fa00001 && rapid.Bool().Draw(t, "call") {
			return []byte{0x10, 1}
		}
		return constant(typ, bits)
	case 4: // a block that a value leaves by a jump or at its end
		return join([]byte{0x02, typ}, sub(typ), sub(i32), []byte{0x0d, 0, 0x1a}, sub(typ), []byte{0x0b})
	case 5:
		return join(sub(i32), []byte{0x04, typ}, sub(typ), []byte{0x05}, sub(typ), []byte{0x0b})
	case 6:
		return join(sub(typ), []byte{0x22, local}) // local.tee
	case 10: // what a jump may take along is selected when it does not jump
		return join([]byte{0x02, typ}, sub(typ), sub(i32), []byte{0x0d, 0}, sub(typ), sub(i32), []byte{0x1b, 0x0b})
	case 7: // code that is never reached
		return join([]byte{0x02, typ}, sub(typ), []byte{0x0c, 0, 0x1b, 0x0b})
	}
	selected := []byte{0x1b}
	if rapid.Bool().Draw(t, "typed") {
		selected = []byte{0x1c, 1, typ}
	}
	return join(sub(typ), sub(typ), sub(i32), selected)
}

// Corrected code gives the same bits, under the compiler, as the original under wazero's interpreter, which does not
// have the error, and has no select left.
func TestCorrectKeepsTheMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]byte{f32, f64, v128, i32}).Draw(t, "type")
		body, result := expression(t, typ, 4), typ
		if typ == v128 { // its lower half, or the upper one
			lane := rapid.SampledFrom([]byte{0, 1}).Draw(t, "lane")
			body, result = append(body, 0xfd, 29, lane), i64
		}
		original := assemble(result, body)
		c, _, err := correct(original)
		if err != nil {
			t.Fatalf("%v\n%x", err, original)
		}
		if again, n, err := correct(c); err != nil || n != 0 || !bytes.Equal(again, c) {
			t.Fatalf("%d selects left (%v)\n%x", n, err, c)
		}
		x := uint64(rapid.Uint32Range(0, 2).Draw(t, "x"))
		want := evaluate(t, wazero.NewRuntimeConfigInterpreter(), original, x)
		for name, cfg := range map[string]wazero.RuntimeConfig{
			"interpreter": wazero.NewRuntimeConfigInterpreter(),
			"compiler":    wazero.NewRuntimeConfig(),
		} {
			got := evaluate(t, cfg, c, x)
			if result == i32 || result == f32 {
				got, want = uint64(uint32(got)), uint64(uint32(want))
			}
			if got != want {
				t.Fatalf("%s: %#x, want %#x\noriginal  %x\ncorrected %x", name, got, want, original, c)
			}
		}
	})
}

func TestCorrectExamples(t *testing.T) {
	one, two := constant(f32, 0x3f800000), constant(f32, 0x40000000)
	parameter := []byte{0x20, 0}
	pick := bytes.Join([][]byte{one, two, parameter, {0x1b}}, nil)
	nested := bytes.Join([][]byte{pick, {0x23, 0}, parameter, {0x1b}}, nil) // f ? (f ? 1 : 2) : global
	for _, c := range []struct {
		name    string
		body    []byte
		x       uint64
		want    float32
		selects int
	}{
		{"the first", pick, 1, 1, 1},
		{"the second", pick, 0, 2, 1},
		{"any condition but 0", pick, 1 << 31, 1, 1},
		{"nested, first", nested, 7, 1, 2},
		{"nested, global", nested, 0, 10, 2},
		{"result of a call", bytes.Join([][]byte{{0x10, 1}, one, parameter, {0x1b}}, nil), 1, 3.5, 1},
	} {
		m, n, err := correct(assemble(f32, c.body))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if n != c.selects {
			t.Errorf("%s: %d selects, want %d", c.name, n, c.selects)
		}
		if got := math.Float32frombits(uint32(evaluate(t, wazero.NewRuntimeConfig(), m, c.x))); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

func FuzzCorrect(f *testing.F) {
	f.Add(assemble(f32, bytes.Join([][]byte{constant(f32, 1), constant(f32, 2), {0x20, 0, 0x1b}}, nil)))
	f.Add(assemble(i64, bytes.Join([][]byte{constant(v128, 1), constant(v128, 2), {0x20, 0, 0x1b, 0xfd, 29, 0}}, nil)))
	f.Add([]byte("\x00asm\x01\x00\x00\x00"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x0a\x05\x01\x03\x00\x1b\x0b"))
	f.Fuzz(func(t *testing.T, m []byte) {
		c, _, err := correct(m)
		if err != nil {
			if c != nil {
				t.Error("a module comes with an error")
			}
			return
		}
		if again, n, err := correct(c); err != nil || n != 0 || !bytes.Equal(again, c) {
			t.Errorf("correcting twice: %d selects (%v)", n, err)
		}
	})
}

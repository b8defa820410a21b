package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Value types of WebAssembly, as they are written in a module. unknown stands for what unreachable code would leave.
const (
	unknown byte = 0
	i32     byte = 0x7f
	i64     byte = 0x7e
	f32     byte = 0x7d
	f64     byte = 0x7c
	v128    byte = 0x7b
)

// correct rewrites every select between floats or vectors of a module, so that none is left, and counts them.
// The module computes bit for bit what it did before.
//
// The reason: wazero v1.12.0 compiles such a select wrongly on amd64 when registers are short. Its register allocator
// is not told that the conditional move between vector registers reads its second operand, and may hand that register
// to something else before (its issue 2534). ONNX Runtime chooses by such a select whether a Gemm adds to what the
// output buffer held before, so wrong results come without any error. A select between integers takes another
// instruction and is right, hence
//
//	a:f32  b:f32  c  select   becomes   a i32.reinterpret  b i32.reinterpret  c  select  f32.reinterpret
//
// likewise for f64 by i64, and a select between vectors becomes v128.bitselect with a mask of all ones or all zeros,
// made from the condition. Whoever calls a function does not see the difference, and no release of wazero can make it
// wrong again.
//
// To know the type of a select, the operand stack is followed through every function as a validator does. Anything that
// is not understood is an error: references, multi-value blocks with parameters, exceptions and threads do not occur in
// ONNX Runtime.
func correct(module []byte) (out []byte, selects int, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(malformed)
			if !ok {
				panic(r)
			}
			out, selects, err = nil, 0, e
		}
	}()
	if len(module) < 8 || string(module[:4]) != "\x00asm" || binary.LittleEndian.Uint32(module[4:]) != 1 {
		return nil, 0, malformed{errors.New("not a WebAssembly module of version 1")}
	}
	c := &corrector{}
	r := &reader{b: module, i: 8}
	out = append(make([]byte, 0, len(module)+len(module)/64), module[:8]...)
	for !r.end() {
		id := r.byte()
		body := &reader{b: r.bytes(r.u32())}
		switch id {
		case 1:
			c.readTypes(body)
		case 2:
			c.readImports(body)
		case 3:
			for range body.count() {
				c.funcs = append(c.funcs, body.u32())
			}
		case 6:
			c.readGlobals(body)
		case 10:
			code := c.code(body)
			out = append(out, id)
			out = binary.AppendUvarint(out, uint64(len(code)))
			out = append(out, code...)
			continue
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body.b)))
		out = append(out, body.b...)
	}
	return out, c.selects, nil
}

// malformed is what the methods below panic with; correct turns it into an error.
type malformed struct{ error }

func fail(format string, a ...any) { panic(malformed{fmt.Errorf("WebAssembly module: "+format, a...)}) }

// reader reads the primitive values of the format.
type reader struct {
	b []byte
	i int
}

func (r *reader) end() bool { return r.i >= len(r.b) }

func (r *reader) byte() byte {
	if r.i >= len(r.b) {
		fail("unexpected end")
	}
	r.i++
	return r.b[r.i-1]
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.i) {
		fail("unexpected end")
	}
	r.i += int(n)
	return r.b[r.i-int(n) : r.i]
}

func (r *reader) u32() uint32 {
	if r.i < len(r.b) && r.b[r.i] < 0x80 { // nearly all
		r.i++
		return uint32(r.b[r.i-1])
	}
	v, n := binary.Uvarint(r.b[r.i:])
	if n <= 0 || v > math.MaxUint32 {
		fail("bad number at byte %d", r.i)
	}
	r.i += n
	return uint32(v)
}

// count reads the length of a list, each entry of which takes at least a byte.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.i) {
		fail("list of %d entries in %d bytes", n, len(r.b)-r.i)
	}
	return n
}

// leb skips a number of any width and sign.
func (r *reader) leb() {
	for n := 1; r.byte() >= 0x80; n++ {
		if n == 10 {
			fail("bad number at byte %d", r.i)
		}
	}
}

// valtype reads a value type.
func (r *reader) valtype() byte {
	t := r.byte()
	if t < v128 || t > i32 {
		fail("value type %#x is not supported", t)
	}
	return t
}

func (r *reader) valtypes() []byte {
	t := make([]byte, r.count())
	for i := range t {
		t[i] = r.valtype()
	}
	return t
}

// limits skips the limits of a table or a memory.
func (r *reader) limits() {
	if flags := r.byte(); flags&1 == 1 {
		r.leb()
	}
	r.leb()
}

// signature is what a function or an instruction takes from the operand stack and leaves there.
type signature struct{ in, out []byte }

// entry is a value on the operand stack.
type entry struct {
	typ byte
	// where it is the topmost value: the end of the instruction that left it; -1 if there is no such place
	at int
}

// block is a block, loop, if or function body that has been entered and not left.
type block struct {
	// of the operand stack when it was entered
	height int
	out    []byte
	loop   bool
	// code after a jump: the stack below height is unknown
	unreachable bool
}

// edit replaces del bytes at position at by ins.
type edit struct {
	at, del int
	ins     string
}

type corrector struct {
	types []signature
	// the type of every function, imported ones first
	funcs   []uint32
	globals []byte
	selects int

	stack  []entry
	blocks []block
	locals []byte
	edits  []edit
}

func (c *corrector) readTypes(r *reader) {
	for range r.count() {
		if form := r.byte(); form != 0x60 {
			fail("type form %#x is not supported", form)
		}
		in := r.valtypes()
		c.types = append(c.types, signature{in, r.valtypes()})
	}
}

func (c *corrector) readImports(r *reader) {
	for range r.count() {
		r.bytes(r.u32())
		r.bytes(r.u32())
		switch kind := r.byte(); kind {
		case 0:
			c.funcs = append(c.funcs, r.u32())
		case 1:
			r.byte()
			r.limits()
		case 2:
			r.limits()
		case 3:
			c.globals = append(c.globals, r.valtype())
			r.byte()
		default:
			fail("import kind %d is not supported", kind)
		}
	}
}

func (c *corrector) readGlobals(r *reader) {
	for range r.count() {
		c.globals = append(c.globals, r.valtype())
		r.byte() // mutable or not
		switch op := r.byte(); op {
		case 0x23, 0x41, 0x42:
			r.leb()
		case 0x43:
			r.bytes(4)
		case 0x44:
			r.bytes(8)
		default:
			fail("instruction %#x in the initializer of a global is not supported", op)
		}
		if r.byte() != 0x0b {
			fail("initializer of a global is not supported")
		}
	}
}

func (c *corrector) signature(typ uint32) signature {
	if uint64(typ) >= uint64(len(c.types)) {
		fail("type %d of %d", typ, len(c.types))
	}
	return c.types[typ]
}

// code rewrites the code section.
func (c *corrector) code(r *reader) []byte {
	out := make([]byte, 0, len(r.b)+len(r.b)/64)
	n := r.count()
	if uint64(n) > uint64(len(c.funcs)) {
		fail("%d bodies for %d functions", n, len(c.funcs))
	}
	out = binary.AppendUvarint(out, uint64(n))
	imported := uint32(len(c.funcs)) - n
	for k := range n {
		body := &reader{b: r.bytes(r.u32())}
		s := c.signature(c.funcs[imported+k])
		if bytes.IndexByte(body.b, 0x1b) < 0 && bytes.IndexByte(body.b, 0x1c) < 0 { // no select for certain
			out = binary.AppendUvarint(out, uint64(len(body.b)))
			out = append(out, body.b...)
			continue
		}
		c.locals = append(c.locals[:0], s.in...)
		for range body.count() {
			many, typ := body.u32(), body.valtype()
			if uint64(many)+uint64(len(c.locals)) > 50000 {
				fail("function %d has more than 50000 locals", imported+k)
			}
			for range many {
				c.locals = append(c.locals, typ)
			}
		}
		c.body(body, s.out)
		size := len(body.b)
		for _, e := range c.edits {
			size += len(e.ins) - e.del
		}
		out = binary.AppendUvarint(out, uint64(size))
		from := 0
		for _, e := range c.edits {
			out = append(out, body.b[from:e.at]...)
			out = append(out, e.ins...)
			from = e.at + e.del
		}
		out = append(out, body.b[from:]...)
	}
	return out
}

func (c *corrector) push(t byte, at int) { c.stack = append(c.stack, entry{t, at}) }

func (c *corrector) pop(want byte) entry {
	b := &c.blocks[len(c.blocks)-1]
	if len(c.stack) == b.height {
		if !b.unreachable {
			fail("the operand stack is empty")
		}
		return entry{typ: unknown}
	}
	e := c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
	if want != unknown && e.typ != unknown && e.typ != want {
		fail("operand of type %#x, want %#x", e.typ, want)
	}
	return e
}

func (c *corrector) apply(s signature, at int) {
	for _, t := range slices.Backward(s.in) {
		c.pop(t)
	}
	for i, t := range s.out {
		if i == len(s.out)-1 {
			c.push(t, at)
		} else {
			c.push(t, -1)
		}
	}
}

func (c *corrector) enter(out []byte, loop bool) {
	c.blocks = append(c.blocks, block{height: len(c.stack), out: out, loop: loop})
}

// leave ends the innermost block and takes its results from the stack.
func (c *corrector) leave() block {
	b := c.blocks[len(c.blocks)-1]
	for _, t := range slices.Backward(b.out) {
		c.pop(t)
	}
	if len(c.stack) != b.height {
		fail("a block leaves too many operands")
	}
	c.blocks = c.blocks[:len(c.blocks)-1]
	return b
}

func (c *corrector) jumped() {
	b := &c.blocks[len(c.blocks)-1]
	b.unreachable = true
	c.stack = c.stack[:b.height]
}

// blockType reads the type of a block; only results are supported.
func (c *corrector) blockType(r *reader) []byte {
	if r.end() {
		fail("unexpected end")
	}
	switch t := r.b[r.i]; {
	case t == 0x40:
		r.i++
		return nil
	case t >= v128 && t <= i32:
		return r.bytes(1)
	}
	s := c.signature(r.u32())
	if len(s.in) > 0 {
		fail("blocks with parameters are not supported")
	}
	return s.out
}

func (c *corrector) local(i uint32) byte {
	if uint64(i) >= uint64(len(c.locals)) {
		fail("local %d of %d", i, len(c.locals))
	}
	return c.locals[i]
}

func (c *corrector) global(i uint32) byte {
	if uint64(i) >= uint64(len(c.globals)) {
		fail("global %d of %d", i, len(c.globals))
	}
	return c.globals[i]
}

// body follows the operand stack through one function and collects the edits in order of their positions.
func (c *corrector) body(r *reader, results []byte) {
	c.stack, c.blocks, c.edits = c.stack[:0], c.blocks[:0], c.edits[:0]
	c.enter(results, false)
	for len(c.blocks) > 0 {
		start := r.i
		switch op := r.byte(); op {
		case 0x00: // unreachable
			c.jumped()
		case 0x01: // nop
		case 0x02, 0x03: // block, loop
			c.enter(c.blockType(r), op == 0x03)
		case 0x04: // if
			c.pop(i32)
			c.enter(c.blockType(r), false)
		case 0x05: // else
			b := c.leave()
			c.enter(b.out, false)
		case 0x0b: // end
			b := c.leave()
			if len(c.blocks) > 0 {
				c.apply(signature{out: b.out}, r.i)
			}
		case 0x0c: // br
			r.u32()
			c.jumped()
		case 0x0d: // br_if: what it may take along stays on the stack, but must not be touched before the jump
			depth := r.u32()
			if uint64(depth) >= uint64(len(c.blocks)) {
				fail("jump out of %d of %d blocks", depth, len(c.blocks))
			}
			c.pop(i32)
			if b := c.blocks[len(c.blocks)-1-int(depth)]; !b.loop {
				c.apply(signature{b.out, b.out}, r.i)
			}
		case 0x0e: // br_table
			c.pop(i32)
			for range uint64(r.count()) + 1 {
				r.u32()
			}
			c.jumped()
		case 0x0f: // return
			c.jumped()
		case 0x10: // call
			f := r.u32()
			if uint64(f) >= uint64(len(c.funcs)) {
				fail("function %d of %d", f, len(c.funcs))
			}
			c.apply(c.signature(c.funcs[f]), r.i)
		case 0x11: // call_indirect
			s := c.signature(r.u32())
			r.u32()
			c.pop(i32)
			c.apply(s, r.i)
		case 0x1a: // drop
			c.pop(unknown)
		case 0x1b, 0x1c: // select
			c.selected(op, start, r)
		case 0x20: // local.get
			c.push(c.local(r.u32()), r.i)
		case 0x21: // local.set
			c.pop(c.local(r.u32()))
		case 0x22: // local.tee
			t := c.local(r.u32())
			c.pop(t)
			c.push(t, r.i)
		case 0x23: // global.get
			c.push(c.global(r.u32()), r.i)
		case 0x24: // global.set
			c.pop(c.global(r.u32()))
		case 0x3f, 0x40, 0x41: // memory.size, memory.grow, i32.const
			r.leb()
			c.apply(plain[op], r.i)
		case 0x42: // i64.const
			r.leb()
			c.push(i64, r.i)
		case 0x43: // f32.const
			r.bytes(4)
			c.push(f32, r.i)
		case 0x44: // f64.const
			r.bytes(8)
			c.push(f64, r.i)
		case 0xfc: // conversions that saturate, bulk memory
			sub := r.u32()
			s, ok := bulk[sub]
			if !ok {
				fail("instruction 0xfc %d is not supported", sub)
			}
			for range s.operands {
				r.u32()
			}
			c.apply(s.signature, r.i)
		case 0xfd: // vectors
			sub := r.u32()
			if sub >= uint32(len(vector)) || vector[sub].operands < 0 {
				fail("instruction 0xfd %d is not supported", sub)
			}
			c.immediates(sub, r)
			c.apply(vector[sub].signature, r.i)
		default:
			s := plain[op]
			if s.in == nil && s.out == nil {
				fail("instruction %#x is not supported", op)
			}
			if op >= 0x28 && op <= 0x3e { // loads and stores: alignment, offset
				r.leb()
				r.leb()
			}
			c.apply(s, r.i)
		}
	}
	if !r.end() {
		fail("code after the end of a function")
	}
}

// selected handles select (op 0x1b) and the one that names its type (0x1c).
func (c *corrector) selected(op byte, start int, r *reader) {
	if op == 0x1c {
		if types := r.valtypes(); len(types) != 1 {
			fail("select of %d types", len(types))
		}
	}
	c.pop(i32)
	b := c.pop(unknown)
	a := c.pop(b.typ)
	typ := a.typ
	if typ == unknown {
		typ = b.typ
	}
	c.push(typ, r.i)
	if a.typ == unknown || b.typ == unknown {
		return // never reached
	}
	var to, from string
	switch typ {
	case f32:
		to, from = "\xbc", "\xbe" // i32.reinterpret_f32, f32.reinterpret_i32
	case f64:
		to, from = "\xbd", "\xbf" // i64.reinterpret_f64, f64.reinterpret_i64
	case v128:
		// i32.eqz; i32.const 1; i32.sub: 0 becomes 0, anything else -1; i32x4.splat; v128.bitselect
		c.selects++
		c.insert(edit{start, r.i - start, "\x45\x41\x01\x6b\xfd\x11\xfd\x52"})
		return
	default:
		return
	}
	c.selects++
	c.insert(edit{a.at, 0, to})
	c.insert(edit{b.at, 0, to})
	c.insert(edit{start, r.i - start, "\x1b" + from})
}

// insert keeps the edits sorted. Edits at one place stay in the order in which they came: a value that leaves a select
// is turned back into a float before it is prepared for the next one.
func (c *corrector) insert(e edit) {
	if e.at < 0 {
		fail("a select of one of several results is not supported")
	}
	i := len(c.edits)
	for i > 0 && c.edits[i-1].at > e.at {
		i--
	}
	c.edits = append(c.edits, edit{})
	copy(c.edits[i+1:], c.edits[i:])
	c.edits[i] = e
}

// immediates skips what follows a vector instruction in the code.
func (c *corrector) immediates(sub uint32, r *reader) {
	switch {
	case sub <= 11 || sub == 92 || sub == 93: // loads and stores: alignment, offset
		r.leb()
		r.leb()
	case sub == 12 || sub == 13: // constant, shuffle
		r.bytes(16)
	case sub >= 21 && sub <= 34: // lane
		r.byte()
	case sub >= 84 && sub <= 91: // alignment, offset, lane
		r.leb()
		r.leb()
		r.byte()
	}
}

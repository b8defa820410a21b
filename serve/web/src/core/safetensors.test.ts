import { test } from 'node:test';
import assert from 'node:assert/strict';
import { DecodeError, decode, encode, need, needNumber, type Data, type Dtype, type Tensor } from './safetensors';
import { Random } from './random';

/** A container with this header text and that many bytes of data. */
function raw(header: string, size: number): ArrayBuffer {
  const text = new TextEncoder().encode(header);
  const out = new Uint8Array(8 + text.length + size);
  new DataView(out.buffer).setUint32(0, text.length, true);
  out.set(text, 8);
  for (let i = 0; i < size; i++) out[8 + text.length + i] = i;
  return out.buffer;
}

test('reads bytes that the format describes', () => {
  // Written by hand after the description of the format: two arrays, one of them unaligned.
  const c = decode(raw('{"__metadata__":{"lo":"0.5","note":"x"},"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[3,11]},"c":{"dtype":"I64","shape":[],"data_offsets":[11,19]}}', 19));
  assert.deepEqual(Object.keys(c.tensors), ['a', 'b', 'c']);
  assert.deepEqual(Array.from(c.tensors.a!.data as Uint8Array), [0, 1, 2]);
  // 03 04 05 06 little-endian is 0x06050403.
  assert.deepEqual(Array.from(new Uint32Array((c.tensors.b!.data as Float32Array).slice().buffer)), [0x06050403, 0x0a090807]);
  assert.deepEqual((c.tensors.c!.data as BigInt64Array)[0], 0x1211100f0e0d0c0bn);
  assert.equal(needNumber(c, 'lo'), 0.5);
  assert.throws(() => needNumber(c, 'note'), /note = "x", expected a number/);
  assert.throws(() => needNumber(c, 'hi'), /hi = nothing/);
});

test('an array that has to be there', () => {
  const c = decode(raw('{"a":{"dtype":"U8","shape":[3,1],"data_offsets":[0,3]}}', 3));
  assert.equal(need<Uint8Array>(c, 'a', ['U8'], [3, null]).data.length, 3);
  assert.throws(() => need(c, 'b', ['U8'], [3]), (e) => e instanceof DecodeError && /no array "b", only "a"/.test(e.message));
  assert.throws(() => need(c, 'a', ['F32'], [3, 1]), /dtype U8, expected F32/);
  assert.throws(() => need(c, 'a', ['U8'], [3]), /shape \[3, 1\], expected \[3\]/);
  assert.throws(() => need(c, 'a', ['U8'], [null, 2]), /expected \[any, 2\]/);
});

test('refuses, and says why', () => {
  const one = (entry: string, size: number) => raw(`{"a":${entry}}`, size);
  const cases: [ArrayBuffer, RegExp][] = [
    [new ArrayBuffer(0), /0 bytes/],
    [new ArrayBuffer(7), /7 bytes/],
    [raw('{}', 0).slice(0, 9), /cut off/],
    [raw('{', 0), /no JSON/],
    [raw('[]', 0), /no JSON object/],
    [raw('null', 0), /no JSON object/],
    [raw('{"__metadata__":3}', 0), /__metadata__/],
    [raw('{"__metadata__":{"a":3}}', 0), /no text/],
    [one('3', 0), /no description/],
    [one('{"dtype":"F16","shape":[1],"data_offsets":[0,2]}', 2), /dtype .*F16/],
    [one('{"dtype":"toString","shape":[1],"data_offsets":[0,2]}', 2), /dtype/],
    [one('{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}', 1), /shape/],
    [one('{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}', 1), /shape/],
    [one('{"dtype":"U8","shape":3,"data_offsets":[0,1]}', 1), /shape/],
    [one('{"dtype":"U8","shape":[1],"data_offsets":[0]}', 1), /data_offsets/],
    [one('{"dtype":"U8","shape":[1],"data_offsets":[1,0]}', 1), /bytes 1 to 0/],
    [one('{"dtype":"U8","shape":[2],"data_offsets":[0,2]}', 1), /bytes 0 to 2 of the data, which has 1/],
    [one('{"dtype":"F32","shape":[2],"data_offsets":[0,2]}', 2), /takes 8 bytes, and has 2/],
    [one('{"dtype":"U8","shape":[9007199254740991,9007199254740991,9007199254740991],"data_offsets":[0,1]}', 1), /takes/],
    [one('{"dtype":"U8","shape":[1],"data_offsets":[0,1]}', 3), /2 bytes after the last/],
    [raw('{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}', 3), /overlap/],
    [raw('{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', 2), /begins at byte 1/],
  ];
  for (const [buffer, want] of cases) {
    assert.throws(() => decode(buffer, 'curves'), (e) => e instanceof DecodeError && e.message.startsWith('curves: ') && want.test(e.message), String(want));
  }
  const wide = new Uint8Array(raw('{}', 0));
  wide[7] = 1; // a header of 2⁵⁶ bytes
  assert.throws(() => decode(wide.buffer), /claims more bytes/);
  const latin = new Uint8Array(raw('{"a":3}', 0));
  latin[10] = 0xff;
  assert.throws(() => decode(latin.buffer), /no JSON/);
});

test('an empty array needs no bytes', () => {
  const c = decode(raw('{"a":{"dtype":"F64","shape":[9007199254740991,0,9007199254740991],"data_offsets":[0,0]}}', 0));
  assert.equal(c.tensors.a!.data.length, 0);
});

const make: Record<Dtype, (n: number, r: Random) => Data> = {
  BOOL: (n, r) => Uint8Array.from({ length: n }, () => r.int(2)),
  U8: (n, r) => Uint8Array.from({ length: n }, () => r.next()),
  I8: (n, r) => Int8Array.from({ length: n }, () => r.next()),
  U16: (n, r) => Uint16Array.from({ length: n }, () => r.next()),
  I16: (n, r) => Int16Array.from({ length: n }, () => r.next()),
  U32: (n, r) => Uint32Array.from({ length: n }, () => r.next()),
  I32: (n, r) => Int32Array.from({ length: n }, () => r.next()),
  I64: (n, r) => BigInt64Array.from({ length: n }, () => BigInt(r.next()) * BigInt(r.next() - 2 ** 31)),
  F32: (n, r) => Float32Array.from({ length: n }, () => (r.chance(0.1) ? NaN : r.normal())),
  F64: (n, r) => Float64Array.from({ length: n }, () => (r.chance(0.1) ? Infinity : r.normal())),
};

test('what is written is read', () => {
  const r = new Random(1);
  for (let round = 0; round < 200; round++) {
    const tensors: Record<string, Tensor> = Object.create(null);
    for (let k = r.int(5); k > 0; k--) {
      const dtype = r.pick(Object.keys(make) as Dtype[]);
      const shape = Array.from({ length: r.int(4) }, () => r.int(5));
      const name = r.chance(0.1) ? '__proto__' : r.text(8);
      if (name !== '__metadata__') tensors[name] = { dtype, shape, data: make[dtype](shape.reduce((a, b) => a * b, 1), r) };
    }
    const metadata: Record<string, string> = Object.create(null);
    for (let k = r.int(3); k > 0; k--) metadata[r.chance(0.1) ? '__proto__' : r.text(5)] = r.text(9);
    const c = decode(encode(tensors, metadata));
    assert.deepEqual(c.metadata, metadata);
    assert.deepEqual(c.tensors, tensors);
  }
});

test('fuzz: damaged containers give DecodeError and nothing else', () => {
  const r = new Random(2);
  const whole = new Uint8Array(encode({
    a: { dtype: 'F32', shape: [2, 3], data: new Float32Array(6) },
    b: { dtype: 'U8', shape: [5], data: new Uint8Array(5) },
  }, { lo: '0' }));
  let bad = 0;
  for (let round = 0; round < 5000; round++) {
    let b: Uint8Array;
    if (r.chance(0.3)) b = Uint8Array.from({ length: r.int(80) }, () => (r.chance(0.5) ? 0 : r.next()));
    else {
      b = whole.slice(0, r.chance(0.3) ? r.int(whole.length) : whole.length);
      for (let k = r.int(4); k > 0; k--) b[r.int(b.length)] = r.chance(0.5) ? r.next() : r.pick([...'0123456789-[]{}",.eE'].map((c) => c.charCodeAt(0)));
    }
    try {
      const c = decode(b.buffer as ArrayBuffer);
      let total = 0;
      for (const t of Object.values(c.tensors)) total += t.data.byteLength;
      assert.ok(total <= b.length, 'more data than bytes');
    } catch (e) {
      assert.ok(e instanceof DecodeError, String(e));
      bad++;
    }
  }
  assert.ok(bad > 1000 && bad < 5000, `${bad} of 5000 were refused`);
});

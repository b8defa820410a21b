import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everything, setOf } from './choice';
import { evaluate, fromBits, toBits, within } from './masks';

test('bits are little-endian within bytes', () => {
  const mask = Uint8Array.from([1, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
  assert.deepEqual([...atob(toBits(mask))].map((c) => c.charCodeAt(0)), [1, 3]);
  for (let n = 0; n < 40; n++) {
    const m = Uint8Array.from({ length: n }, (_, i) => +(i % 3 === 1));
    assert.deepEqual(fromBits(toBits(m), n), m);
  }
});

test('sets are evaluated here as far as that is possible', () => {
  const of = { n: 4, labels: [0, 1, 0, 2], slices: [{ name: 'k', label: -1, n: 2, set: { indexes: [1, 3] } }] };
  const e = (s: Parameters<typeof evaluate>[0]) => evaluate(s, of)?.join('') ?? null;
  assert.equal(e({}), '1111');
  assert.equal(e({ label: 0 }), '1010');
  assert.equal(e({ slice: 'k' }), '0101');
  assert.equal(e({ slice: 'x' }), null);
  assert.equal(e({ not: { label: 0 } }), '0101');
  assert.equal(e({ or: [{ label: 2 }, { indexes: [0, 9] }] }), '1001');
  assert.equal(e({ and: [{ label: 0 }, { rule: 'mean A < 1' }] }), null);
  assert.equal(e({ and: [] }), '1111');
  assert.equal(e({ or: [] }), '0000');
  assert.deepEqual(setOf(everything, [], 0), {});
});

test('a polygon that crosses itself holds what is wound around an odd number of times', () => {
  const xy = Float32Array.from([9, 5, 1, 5, 5, 9, NaN, NaN]);
  assert.deepEqual([...within(xy, [0, 0, 4, 0, 4, 6, 0, 6])], [0, 1, 0, 0]);
  assert.deepEqual([...within(xy, [0, 0, 10, 10, 10, 0, 0, 10])], [1, 1, 0, 0]);
});

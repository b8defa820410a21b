import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correlations, distances, similarities } from './distance';
import type { Matrix } from './source';
import cases from '../../testdata/likeness.json';

const matrix = (n: number, e: number, data: number[]) => ({ n, e, data: Float32Array.from(data), lo: 0, hi: 1, exact: true });

test('distances from the mean curve of the slice', () => {
  // The slice is samples 0 and 1; its mean curve is 0.5, 0.5.
  const m = matrix(3, 2, [0, 0, 1, 1, 0.5, 1.5]);
  const d = distances(m, [1, 1, 0], []);
  assert.deepEqual([...d], [0.5, 0.5, Math.fround(Math.sqrt(0.5))]);
  assert.deepEqual([...distances(m, [1, 1, 0], [1, 0])], [0.5, 0.5, 0]);
});

test('missing values are in no distance', () => {
  const m = matrix(2, 2, [1, NaN, 3, 5]);
  assert.deepEqual([...distances(m, [1, 1], [])], [1, Math.fround(Math.sqrt(0.5))]);
  assert.ok(Number.isNaN(distances(matrix(1, 2, [NaN, NaN]), [1], [])[0]));
});

/** A matrix of curves. */
const curvesOf = (rows: readonly (readonly number[])[]): Matrix => ({ n: rows.length, e: rows[0].length, lo: 0, hi: 1, exact: true, data: Float32Array.from(rows.flat()) });
const ones = (n: number) => new Uint8Array(n).fill(1);
/** Draws that are the same in every run. */
function draws(seed: number): () => number {
  let s = seed;
  return () => { s = (Math.imul(s, 1664525) + 1013904223) >>> 0; return s / 2 ** 32; };
}

test('a curve is most like the mean curve where it is that curve, whatever the plan weighs', () => {
  const next = draws(7);
  for (let round = 0; round < 50; round++) {
    const e = 3 + Math.floor(next() * 20), curve = Array.from({ length: e }, () => next() * 4 - 1), other = Array.from({ length: e }, () => next() * 4 - 1);
    const weights = round % 2 ? Array.from({ length: e }, () => 0.1 + next()) : [];
    // The mask holds the first sample alone: the mean curve is its own.
    const m = curvesOf([curve, other, curve.map((v) => 2 * v + 3), curve.map((v) => -v)]), mask = [1, 0, 0, 0];
    const [r, q] = [correlations(m, mask, weights), similarities(m, mask, weights)];
    assert.ok(Math.abs(r[0] - 1) < 1e-6 && Math.abs(q[0] - 1) < 1e-6, `${r[0]} ${q[0]}`);
    assert.ok(Math.abs(r[2] - 1) < 1e-5, 'level and size do not count in a correlation');
    assert.ok(Math.abs(r[3] + 1) < 1e-5);
    assert.ok(q[2] < 1 - 1e-3, `another level and size is less alike: ${q[2]}`);
    for (const v of [...r, ...q]) assert.ok(v >= -1 && v <= 1);
    // Both are symmetric in the two curves.
    const turned = curvesOf([other, curve]), back = [correlations(turned, [1, 0], weights)[1], similarities(turned, [1, 0], weights)[1]];
    assert.ok(Math.abs(back[0] - r[1]) < 1e-5 && Math.abs(back[1] - q[1]) < 1e-5);
    assert.ok(q[1] <= Math.abs(r[1]) + 1e-6, 'what differs in level or spread too is at most as alike as the shapes go together');
  }
});

test('a level curve, or one without a value, is like nothing, and elements without any value do not count', () => {
  const wave = [0, 1, 0, -1, 0, 1], level = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3], hole = [0, 1, NaN, -1, 0, 1];
  let m = curvesOf([wave, level, hole]);
  for (const of of [correlations, similarities]) {
    const v = of(m, [1, 0, 0], []);
    assert.equal(v[0], 1);
    assert.deepEqual([Number.isNaN(v[1]), Number.isNaN(v[2])], [true, true]);
    // The mean curve itself is level.
    assert.ok(of(m, [0, 1, 0], []).every(Number.isNaN));
  }
  // Nobody has a value at the third element: it is left out for all.
  m = curvesOf([hole, [0, 2, NaN, -2, 0, 2]]);
  assert.deepEqual([...correlations(m, ones(2), [])].map((v) => Math.round(v * 1e5) / 1e5), [1, 1]);
  // Bytes of a drawing are read as the values that they stand for.
  const bytes: Matrix = { n: 2, e: 4, lo: 0, hi: 254, exact: false, data: Uint8Array.from([0, 10, 20, 255, 20, 10, 0, 255]) };
  assert.deepEqual([...correlations(bytes, [1, 0], [])], [1, -1]);
});

test('alike are the curves that the server calls so', () => {
  const near = (a: number, b: number | null) => (b === null ? Number.isNaN(a) : Math.abs(a - b) <= 1e-6);
  for (const c of cases) {
    const m = curvesOf([c.x, c.y].map((row) => row.map((v) => v ?? NaN)));
    const [r, q] = [correlations(m, [0, 1], c.weights)[0], similarities(m, [0, 1], c.weights)[0]];
    assert.ok(near(r, c.correlation) && near(q, c.similarity), `${c.what}: ${r} and ${q}`);
  }
});

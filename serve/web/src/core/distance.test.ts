import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distances } from './distance';

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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field } from '../core/source';
import { errors, longest, neighborhood, quiver, speeds, summary, vectorColor } from './flow';

const field = (h: number, w: number, f: (r: number, c: number) => [number, number]): Field => {
  const all = Array.from({ length: h * w }, (_, i) => f(Math.floor(i / w), i % w));
  return { h, w, u: Float32Array.from(all, (x) => x[0]), v: Float32Array.from(all, (x) => x[1]) };
};

test('the error is the length of the difference, at each pixel its own', () => {
  const a = field(2, 3, (r, c) => [3 * c, 4 * r]);
  const b = field(2, 3, () => [0, 0]);
  assert.deepEqual([...errors(a, b)!], [0, 3, 6, 4, 5, Math.fround(Math.hypot(6, 4))]);
  assert.equal(errors(a, field(3, 2, () => [0, 0])), null);
  assert.deepEqual(summary([1, NaN, 3, Infinity]), { mean: 2, most: 3, bad: 2 });
  assert.deepEqual([...speeds(a)], [...errors(a, b)!]);
});

test('eight by eight pixels around the one that was picked, within the picture', () => {
  assert.deepEqual(neighborhood(64, 48, 30, 20), [26, 16]);
  assert.deepEqual(neighborhood(64, 48, 0, 47), [0, 40]);
  assert.deepEqual(neighborhood(6, 6, 5, 5), [0, 0]);
});

test('arrows begin in the middle of their pixel; u goes to the right and v down', () => {
  const q = quiver(field(4, 5, (r, c) => (r === 2 && c === 3 ? [NaN, 0] : [c, -r])), 2, 3, 8, 8, 0.5);
  assert.deepEqual(q, [{ x: 4.5, y: 2.5, dx: 2, dy: -1, r: 2, c: 4 }, { x: 3.5, y: 3.5, dx: 1.5, dy: -1.5, r: 3, c: 3 }, { x: 4.5, y: 3.5, dx: 2, dy: -1.5, r: 3, c: 4 }]);
  assert.equal(longest([field(2, 2, () => [3, 4]), undefined, field(2, 2, () => [0, 1])], 0, 0, 8, 8), 5);
});

test('directions have the colours that they are known by, nothing is white, more than the most is as full', () => {
  const rgb = (u: number, v: number) => { const c = vectorColor(u, v, 2); return [c & 255, (c >> 8) & 255, (c >> 16) & 255]; };
  assert.deepEqual(rgb(0, 0), [255, 255, 255]);
  assert.deepEqual(rgb(2, 0), [255, 0, 0]);
  assert.deepEqual(rgb(-2, 0), [0, 255, 255]);
  assert.deepEqual(rgb(9, 0), [255, 0, 0]);
  const [r, g, b] = rgb(0, -2); // up
  assert.ok(g === 255 && b === 0 && r > 100, `${r} ${g} ${b}`);
  assert.equal(vectorColor(NaN, 0, 1), 0xff808080);
});

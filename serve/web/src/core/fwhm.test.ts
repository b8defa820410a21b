import assert from 'node:assert/strict';
import { test } from 'node:test';
import { widths } from './fwhm';

const near = (a: number, b: number, tol: number) => assert.ok(Math.abs(a - b) <= tol, `${a} is not ${b}`);
const grid = (step: number, most: number) => {
  const out: number[][] = [];
  for (let dy = -most; dy <= most; dy += step) for (let dx = -most; dx <= most; dx += step) out.push([dx, dy]);
  return out;
};

test('the width of a bell is 2 sqrt(2 ln 2) deviations, along each axis its own', () => {
  const e = grid(1, 64);
  const w = widths(e, e.map(([x, y]) => 0.9 * Math.exp(-((x - 5) ** 2) / (2 * 12 ** 2) - ((y + 3) ** 2) / (2 * 7 ** 2))));
  const factor = 2 * Math.sqrt(2 * Math.log(2));
  near(w.dx.value, factor * 12, 0.02);
  near(w.dy.value, factor * 7, 0.02);
  assert.deepEqual([w.dx.open, w.dy.open, e[w.at]], [0, 0, [5, -3]]);
});

test('a triangle has half its base, on uneven places too', () => {
  const e = [-10, -4, -1, 0, 1, 2, 4, 10].map((x) => [x, 0]);
  const w = widths(e, e.map(([x]) => Math.max(0, 1 - Math.abs(x) / 4)));
  near(w.dx.value, 4, 1e-12);
  assert.deepEqual(w.dy, { value: 0, open: 2 });
});

test('a value that has not fallen to half where the map ends leaves the width open', () => {
  const e = grid(4, 64);
  const w = widths(e, e.map(() => 0.7));
  assert.deepEqual([w.dx, w.dy], [{ value: 128, open: 2 }, { value: 128, open: 2 }]);
  assert.deepEqual(e[w.at], [0, 0]); // of equal maxima the one in the middle
  const half = widths(e, e.map(([x]) => (x < 0 ? 0 : 1)));
  assert.equal(half.dx.open, 1);
});

test('a missing value ends the line, and without a value above 0 there is no width', () => {
  const e = [-2, -1, 0, 1, 2].map((x) => [x, 0]);
  assert.deepEqual(widths(e, [0, NaN, 1, 0.8, 0]).dx, { value: 1.375, open: 1 });
  for (const v of [[0, 0, 0, 0, 0], [NaN, NaN, NaN, NaN, NaN], [-1, -2, -3, -2, -1]]) {
    const w = widths(e, v);
    assert.ok(w.at === -1 && Number.isNaN(w.dx.value) && Number.isNaN(w.maximum));
  }
});

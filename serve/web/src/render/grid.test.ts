import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../core/random';
import { along, back, cellAt, cells, lane, pixelsOf } from './grid';

const near = (a: number, b: number, tol = 1e-9) => assert.ok(Math.abs(a - b) <= tol, `${a} is not ${b}`);

test('even shifts have a cell each, one pixel wide', () => {
  for (const n of [21, 29, 32, 33]) {
    const at = Array.from({ length: n }, (_, k) => -64 + 4 * k);
    const l = lane([...at, ...at]);
    assert.ok(l.even);
    assert.equal(pixelsOf(l), n);
    at.forEach((v, k) => {
      near(along(l, v), k + 0.5);
      assert.equal(cellAt(l, k + 0.5), k);
    });
    near(along(l, -66), 0);
  }
});

test('sparse shifts have cells as wide as the plan is sparse there, and places are found again', () => {
  const sparse = [0, 1, 2, 3, 4, 6, 8, 10, 13, 17, 22, 29, 37, 48, 63].flatMap((v) => [v, -v]);
  const l = lane(sparse);
  assert.equal(l.at.length, 29);
  assert.ok(!l.even);
  const width = (k: number) => l.edges[k + 1] - l.edges[k];
  near(l.edges[0], 0);
  near(l.edges[29], 29);
  near(width(0) / width(14), 15 / 1); // 63 to 48 against 0 to 1
  const r = new Random(3);
  for (let i = 0; i < 200; i++) {
    const v = r.float() * 126 - 63;
    near(back(l, along(l, v)), v, 1e-6);
  }
  l.at.forEach((v, k) => assert.equal(cellAt(l, along(l, v)), k));
  // The narrowest cell has two pixels or is as fine as a map gets.
  const seen = new Set(cells(l.at.map((v) => [v, 0]), l, lane([0])).of);
  for (let k = 0; k < 29; k++) assert.ok(seen.has(k), `cell ${k} has no pixel`);
});

test('dx goes to the right and dy down, whatever the order of the plan', () => {
  const elements = [[4, -2], [0, -2], [-4, -2], [0, 2], [-4, 2], [4, 2]];
  const { w, h, of } = cells(elements, lane(elements.map((e) => e[0])), lane(elements.map((e) => e[1])));
  assert.deepEqual([w, h, ...of], [3, 2, 2, 1, 0, 4, 3, 5]);
});

test('a cell that the plan does not visit is empty', () => {
  const elements = [[0, 0], [1, 1]];
  assert.deepEqual([...cells(elements, lane([0, 1]), lane([0, 1])).of], [0, -1, -1, 1]);
});

test('one row or none', () => {
  assert.deepEqual(lane([]), { at: [], edges: [0], even: true });
  near(along(lane([5]), 5), 0.5);
  assert.equal(back(lane([5]), 0.9), 5);
});

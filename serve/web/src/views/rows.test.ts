import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as R from './rows';

test('the window covers what is visible, at every scroll position and length', () => {
  const row = 28, view = 300;
  for (const n of [0, 1, 5, 11, 1000, 100_000, 1_000_000]) {
    const height = Math.min(n * row, R.tallest), most = Math.max(0, height - view);
    for (let s = 0; s <= 40; s++) {
      const scroll = most * s / 40, w = R.rows(scroll, view, row, n);
      assert.ok(w.first >= 0 && w.last <= n && w.first <= w.last, `${n} ${scroll}`);
      assert.ok(w.last - w.first <= Math.ceil(view / row) + 17, 'few rows are drawn');
      assert.ok(Math.abs(w.above + (w.last - w.first) * row + w.below - Math.max(height, (w.last - w.first) * row)) < 1e-6, 'the height stays');
      if (n * row > view) {
        assert.ok(w.above <= scroll + 1e-6, `${n} ${scroll}: starts below the top`);
        assert.ok(w.above + (w.last - w.first) * row >= scroll + view - 1e-6, `${n} ${scroll}: ends above the bottom`);
      }
    }
    const end = R.rows(most, view, row, n);
    assert.equal(end.last, n, 'the last row can be reached');
  }
});

test('scrollTo shows the row and moves no further than needed', () => {
  assert.equal(R.scrollTo(3, 0, 300, 28, 100), 0, 'visible already');
  assert.equal(R.scrollTo(50, 0, 300, 28, 100), 51 * 28 - 300);
  assert.equal(R.scrollTo(2, 500, 300, 28, 100), 56);
  const n = 1_000_000;
  for (const i of [0, 1, 77_777, 500_000, n - 1]) {
    const s = R.scrollTo(i, 123_456, 300, 28, n), w = R.rows(s, 300, 28, n);
    assert.ok(w.first <= i && i < w.last, `${i} is not in ${w.first}..${w.last}`);
    const y = w.above + (i - w.first) * 28;
    assert.ok(y >= s - 1 && y + 28 <= s + 301, `row ${i} at ${y}, window at ${s}`);
  }
});

test('keys', () => {
  assert.equal(R.step('ArrowDown', 3, 10, 5), 4);
  assert.equal(R.step('ArrowDown', 9, 10, 5), 9);
  assert.equal(R.step('ArrowDown', -1, 10, 5), 0);
  assert.equal(R.step('ArrowUp', -1, 10, 5), 0);
  assert.equal(R.step('PageDown', 3, 10, 5), 8);
  assert.equal(R.step('PageUp', 3, 10, 5), 0);
  assert.equal(R.step('Home', 3, 10, 5), 0);
  assert.equal(R.step('End', 3, 10, 5), 9);
  assert.equal(R.step('x', 3, 10, 5), null);
  assert.equal(R.step('End', 0, 0, 5), null);
});

test('rows chosen together', () => {
  const sorted = [40, 30, 20, 10];
  let c = R.pick(R.none, sorted, 1, false, false);
  assert.deepEqual([[...c.set], c.anchor], [[], 30]);
  c = R.pick(c, sorted, 3, false, true);
  assert.deepEqual([...c.set], [30, 20, 10]);
  c = R.pick(c, sorted, 2, true, false);
  assert.deepEqual([...c.set], [30, 10]);
  c = R.pick(c, sorted, 0, false, true);
  assert.deepEqual([...c.set], [40, 30, 20], 'the anchor is the row of the last Ctrl');
  c = R.pick(c, sorted, 3, true, false);
  assert.deepEqual([...c.set].sort(), [10, 20, 30, 40]);
  assert.equal(R.pick(c, sorted, 9, true, false), c, 'no such row');
});

test('ranks say how many are tied', () => {
  const v = [1, 1, 2, 5, 5, 5, NaN, NaN], s = [0, 1, 2, 3, 4, 5, 6, 7];
  assert.deepEqual(R.rankOf(s, (i) => v[i], 0), { place: 1, ties: 1 });
  assert.deepEqual(R.rankOf(s, (i) => v[i], 2), { place: 3, ties: 0 });
  assert.deepEqual(R.rankOf(s, (i) => v[i], 5), { place: 4, ties: 2 });
  assert.deepEqual(R.rankOf(s, (i) => v[i], 7), { place: 7, ties: 1 });
  assert.deepEqual(R.rankOf(s, (i) => v[i], -1), { place: 0, ties: 0 });
});

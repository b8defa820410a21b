import assert from 'node:assert/strict';
import { test } from 'node:test';
import { order } from './order';
import { Random } from './random';

test('stable with ties by index, and what is missing comes last both ways', () => {
  const v = [3, NaN, 1, 3, 2, NaN, 1], all = [6, 5, 4, 3, 2, 1, 0];
  assert.deepEqual([...order(all, (i) => v[i], 'ascending')], [2, 6, 4, 0, 3, 1, 5]);
  assert.deepEqual([...order(all, (i) => v[i], 'descending')], [0, 3, 4, 2, 6, 1, 5]);
});

test('texts are sorted as people do', () => {
  const v = ['n10', 'n9', '', 'n1', 'n9'];
  assert.deepEqual([...order([0, 1, 2, 3, 4], (i) => v[i], 'ascending')], [3, 1, 4, 0, 2]);
  assert.deepEqual([...order([0, 1, 2, 3, 4], (i) => v[i], 'descending')], [0, 1, 4, 3, 2]);
  assert.deepEqual([...order([2, 1], () => null, 'ascending')], [1, 2]);
  assert.deepEqual([...order([], () => 0, 'ascending')], []);
});

test('names that are the same letters before a number', () => {
  const v = ['img-10', 'img-9', 'img-009', 'img-1000000000', 'img-2'];
  assert.deepEqual([...order([0, 1, 2, 3, 4], (i) => v[i], 'ascending')], [4, 1, 2, 0, 3]);
  assert.deepEqual([...order([0, 1, 2, 3, 4], (i) => v[i], 'descending')], [3, 0, 1, 2, 4]);
});

test('float32 or not, signs, infinities and -0: as comparing has it', () => {
  const r = new Random(3);
  for (let round = 0; round < 60; round++) {
    const n = 1 + Math.floor(r.float() * 80), single = round % 2 === 0;
    const v = Float64Array.from({ length: n }, () => {
      const u = r.float();
      const x = u < 0.1 ? NaN : u < 0.15 ? Infinity : u < 0.2 ? -Infinity : u < 0.3 ? -0 : u < 0.4 ? 0 : (r.float() - 0.5) * 10 ** Math.floor(r.float() * 20 - 10);
      return single ? Math.fround(x) : x;
    });
    const all = Array.from({ length: n }, (_, i) => i).filter(() => r.float() < 0.8).reverse();
    for (const direction of ['ascending', 'descending'] as const) {
      const s = direction === 'ascending' ? 1 : -1;
      // By insertion, which nothing here shares code with.
      const want: number[] = [];
      for (const i of [...all].reverse()) {
        let k = 0;
        while (k < want.length && !(Number.isNaN(v[want[k]]) ? !Number.isNaN(v[i]) : !Number.isNaN(v[i]) && (s > 0 ? v[i] < v[want[k]] : v[i] > v[want[k]]))) k++;
        want.splice(k, 0, i);
      }
      assert.deepEqual([...order(all, (i) => v[i], direction)], want, `${round} ${direction}`);
    }
  }
});

test('names of ASCII stand as the collator of the browser has them', () => {
  const r = new Random(5);
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  const letters = [...' _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0012345789abcXYZ'];
  for (let round = 0; round < 300; round++) {
    const n = 2 + Math.floor(r.float() * 20);
    const v = Array.from({ length: n }, () => Array.from({ length: Math.floor(r.float() * 6) }, () => letters[Math.floor(r.float() * letters.length)]).join(''));
    const all = Array.from({ length: n }, (_, i) => i);
    for (const direction of ['ascending', 'descending'] as const) {
      const s = direction === 'ascending' ? 1 : -1;
      const want = [...all].sort((a, b) => (v[a] === '' || v[b] === '' ? Number(v[a] === '') - Number(v[b] === '') : s * collator.compare(v[a], v[b])) || a - b);
      assert.deepEqual([...order(all, (i) => v[i], direction)], want, JSON.stringify(v));
    }
  }
});

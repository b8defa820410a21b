import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Axis } from '../core/api';
import { motions, squareNumber, stepTile, tiles } from './tileorder';

const angle: Axis = { name: 'angle', unit: 'deg', kind: { name: 'turn', form: 'angle' }, min: 0, max: 360, periodic: true };
const mirror: Axis = { name: 'mirror', unit: '', kind: { name: 'mirror', form: 'switch' }, min: 0, max: 1, periodic: false };
const reverse: Axis = { ...mirror, name: 'reverse', kind: { name: 'time reversal', form: 'switch' } };

// The elements by their number, as symmetry/group gives their coordinates: even ones turn by 45 degrees times the number, odd ones mirror left and right first.
const d4 = [[0, 0], [270, 1], [90, 0], [0, 1], [180, 0], [90, 1], [270, 0], [180, 1]];
const all = [0, 1].flatMap((t) => d4.map((e) => [...e, t]));

test('the numbers of the square', () => {
  d4.forEach(([a, m], n) => assert.equal(squareNumber(a, m === 1), n));
  assert.equal(squareNumber(45, false), -1);
});

test('sixteen tiles in the order of unfolded pictures, in whichever order the plan visits them', () => {
  const want = '2′ 2 1 1′ 3′ 3 0 0′ 4′ 4 7 7′ 5′ 5 6 6′';
  for (const elements of [all, [...all].reverse()]) {
    const g = tiles([angle, mirror, reverse], elements);
    assert.equal(g.columns, 4);
    assert.equal(g.tiles.map((t) => t?.name).join(' '), want);
    for (const t of g.tiles) {
      const [a, m, r] = elements[t!.k];
      assert.deepEqual([t!.angle, t!.mirrored, t!.reversed], [a, m === 1, r === 1]);
    }
  }
  const other = tiles([reverse, angle, mirror], all.map(([a, m, t]) => [t, a, m]));
  assert.equal(other.tiles.map((t) => t?.name).join(' '), want);
  assert.equal(tiles([angle, mirror], d4).tiles.map((t) => t?.name).join(' '), '2 1 3 0 4 7 5 6');
});

test('neighbors to the side are mirror images, as pages are that are unfolded', () => {
  // A tile and the one beyond a fold differ by the mirror in that fold: 2|1, 3|0, 4|7, 5|6 by the horizontal one, which is number 3.
  const after = (next: number, now: number) => (next % 2 ? next - now + 8 : next + now) % 8;
  for (const [a, b] of [[2, 1], [3, 0], [4, 7], [5, 6]]) assert.equal(after(3, a), b);
});

test('other groups lie in the order of the plan, as near to a square as rows of one length allow', () => {
  const six = tiles([{ ...angle }, { ...mirror, name: 'swap' }], Array.from({ length: 6 }, (_, k) => [60 * (k % 3), Math.floor(k / 3)]));
  assert.deepEqual([six.columns, six.tiles.map((t) => t?.k)], [3, [0, 1, 2, 3, 4, 5]]);
  assert.equal(tiles([mirror], [[0], [1]]).columns, 2);
  assert.equal(tiles([angle], Array.from({ length: 7 }, (_, k) => [k])).columns, 3);
  assert.equal(motions([angle, mirror]).reverse, -1);
});

test('arrow keys go to the next tile and stay at the edges', () => {
  assert.deepEqual(['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown'].map((k) => stepTile(16, 4, 6, k)), [7, 5, 2, 10]);
  assert.deepEqual(['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'x'].map((k) => stepTile(16, 4, 3, k)), [3, 2, 3, 7, 3]);
  assert.equal(stepTile(5, 3, 4, 'ArrowRight'), 4);
  assert.equal(stepTile(5, 3, 2, 'ArrowDown'), 2);
});

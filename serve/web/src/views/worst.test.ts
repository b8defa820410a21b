import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sample, Turns } from '../core/api';
import { className, confused, matrix, pareto, percent, said, spread, worstSamples } from './worst';

test('the worst samples are those of the choice with the worst value', () => {
  const v = [0.5, NaN, 0.1, 0.9, 0.1];
  assert.deepEqual(worstSamples(v, false, null, 3), [2, 4, 0]);
  assert.deepEqual(worstSamples(v, true, null, 2), [3, 0]);
  assert.deepEqual(worstSamples(v, false, [1, 1, 0, 1, 0], 5), [0, 3]);
});

test('what a model says at rest and moved', () => {
  const one = { top: [[6, 9, 6], [-1, 2, 2]] } as unknown as Sample;
  assert.equal(said(one, 0, 0, 1, []), '6 → 9');
  assert.equal(said(one, 0, 0, 2, []), '6');
  assert.equal(said(one, 1, 0, 1, ['cat', 'dog', 'cow']), '– → cow');
  assert.equal(said(one, 0, -1, 1, []), '9');
  assert.equal(said({} as Sample, 0, 0, 1, []), '');
  assert.equal(className(['cat'], 3), '3');
});

const turn = (from: number, to: number, share: number) => ({ from, to, share, lo: 0, hi: 1, samples: 1, sample: 0, element: 1 });
const turns: Turns = { model: 0, against: 'truth', n: 5, confidence: 0.95, from: [{ class: 6, n: 3 }, { class: 2, n: 2 }], entries: [turn(2, 2, 0.9), turn(6, 6, 0.6), turn(6, 9, 0.4), turn(2, 6, 0.1)], left: 0 };

test('classes that turn into others', () => {
  assert.deepEqual(confused(turns, 1).map((e) => [e.from, e.to]), [[6, 9]]);
  const m = matrix(turns);
  assert.deepEqual(m.classes, [2, 6, 9]);
  assert.equal(m.share(6, 9)?.share, 0.4);
  assert.equal(m.share(9, 6), undefined);
});

test('shares, the front of two aims, and samples that are drawn', () => {
  assert.deepEqual([0, 0.0004, 0.0312, 0.31, null].map(percent), ['0 %', '< 0.1 %', '3.1 %', '31 %', '–']);
  assert.deepEqual(pareto([[0.1, 0.9], [0.2, 0.95], [0.3, 0.9], [0.1, 0.9]], ['lower', 'higher']), [0, 1, 3]);
  assert.deepEqual(spread(5, 9), [0, 1, 2, 3, 4]);
  assert.deepEqual(spread(10, 4), [0, 2, 5, 7]);
});

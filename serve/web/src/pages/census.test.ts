import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fate, Pose, Report } from '../core/census';
import { aucCurve, cellWords, changed, labelCurve, onAxis, placeOn, roseOf, wedge, worst } from './census';

const area = (value: number) => ({ value, low: value - 0.1, high: value + 0.1 });
const fate = (name: string, matrix: number[][]): Fate => ({ name, state: 'safe', unsafe: [], unclear: [], matrix, of_classes: matrix.map((row, k) => ({ class: 'ab'[k]!, n: row[0]! + row[1]!, kept: row[k]!, changed: area(0), at_rest: 0, state: 'safe' })) });
const report = (coords: number[][], axis = 'angle'): Report => ({
  format: 1, data: 'x', group: 'SO(2)', measure: '', seed: 7, samples: 9, reading: '', sentence: 's', do: '', state: 'posed', survive: 'unsafe', control: area(0.5),
  elements: coords.map((c, k) => ({ name: `e${k}`, coords: c, resampled: k > 0, auc: area(0.7), ...(k > 0 ? { twin: area(0.55) } : {}), state: 'different' })),
  valid_range: { all: false, axis, unit: axis ? 'deg' : '', period: axis ? 360 : 0, low: 0, high: 0, elements: [] }, exact: { p_value: 0.1 }, advice: [],
  labels: { neighbors: 5, asked: 9, classes: ['a', 'b'], rest: fate('rest', [[9, 1], [0, 10]]), elements: coords.map((_, k) => fate(`e${k}`, k === 1 ? [[1, 9], [0, 10]] : [[9, 1], [0, 10]])), valid_range: { all: true, low: 0, high: 0, elements: [] } },
});

test('angles lie around the identity, and elements in the order of their axis', () => {
  const r = report([[350], [10], [90]]);
  assert.equal(placeOn(r, [350]), -10);
  assert.equal(placeOn(r, [10, 1]), null);
  const c = aucCurve(r);
  assert.deepEqual(c.series.map((s) => [s.name, s.x]), [['moved', [-10, 10, 90]], ['there and back', [10, 90]], ['control', [-10, 90]]]);
  assert.deepEqual(c.series[0]!.labels, ['e0, different', 'e1, different', 'e2, different']);
  assert.equal(c.limit, 0.6);
});

test('elements on no axis stand in the order of the plan', () => {
  const r = report([[3, 0], [1, 1]], '');
  assert.ok(!onAxis(r));
  assert.deepEqual(aucCurve(r).series[0]!.x, [0, 1]);
  assert.equal(aucCurve({ ...r, elements: [] }).series.length, 0);
});

test('what becomes of labels: shares of all samples, at rest beside them', () => {
  const r = report([[350], [10]]), c = labelCurve(r)!;
  assert.deepEqual(c.series.map((s) => s.y), [[0.05, 0.45], [0.05, 0.05]].map((y) => y.map((v) => c.series[0]!.y.find((u) => Math.abs(u! - v) < 1e-12) ?? v)));
  assert.equal(worst(r.labels!), 1);
  assert.equal(changed({ ...r.labels!.rest, of_classes: [] }), null);
  assert.equal(labelCurve({ ...r, labels: undefined as never }), null);
  assert.equal(cellWords(r.labels!.elements[1]!, ['a', 'b'], 0, 1), 'a: 9 of 10 have neighbors of b');
  assert.equal(cellWords(r.labels!.elements[1]!, ['a', 'b'], 1, 1), 'b: 10 of 10 keep their label');
});

const pose = (rose: number[], mean: number[]): Pose => ({ mean, resultant: 1, quantiles: [{ share: 0.5, degrees: 10 }, { share: 0.9, degrees: null }], samples: 4, round: 0, sentence: '', rose });

test('a rose has a petal at both ends of an axis, with areas by counts', () => {
  const r = roseOf(pose([4, 1, ...Array<number>(16).fill(0)], [5]), 100)!;
  assert.equal(r.petals.length, 18);
  assert.equal(r.petals[0]!.words, '4 of 5 samples at 0° to 10°');
  assert.equal(r.petals[0]!.path.split('M0 0').length - 1, 2);
  assert.ok(r.petals[0]!.path.includes('L100.00 0.00') || r.petals[0]!.path.includes('L100.00 -0.00'), r.petals[0]!.path);
  assert.ok(r.petals[1]!.path.includes(`L${(50 * Math.cos(Math.PI / 18)).toFixed(2)} `), 'a quarter of the count is half as far');
  assert.deepEqual(r.within, [{ share: 0.5, degrees: 10 }]);
});

test('in space the mean axis stands upright, and even axes are few near it', () => {
  const r = roseOf(pose([1, ...Array<number>(17).fill(0)], [0, 0, 1]), 100)!;
  assert.ok(!r.flat && r.mean === 90);
  assert.equal(r.petals[0]!.path.split('M0 0').length - 1, 4);
  assert.match(r.petals[0]!.words, /off the mean axis by 0° to 5°/);
  assert.equal(roseOf(pose([0, 0], [1]), 100), null);
  assert.equal(roseOf(undefined, 100), null);
});

test('a wedge goes from the middle round and back', () => {
  assert.match(wedge(0, 90, 10), /^M0 0L10\.00 -?0\.00L.*L0\.00 -10\.00Z$/);
});

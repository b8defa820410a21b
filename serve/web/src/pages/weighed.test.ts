import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Aligned, Axis, Report, Symmetry } from '../core/weights';
import { apartWords, axesOf, layerTable, lossCurve, noteOf, pathCurve } from './weighed';

const on = (to_first: number, loss: number | null) => ({ to_first, to_second: 1 - to_first, loss });
const aligned: Aligned = {
  digests_equal: false, numbers_equal: false, canonical_equal: false, function: { error: 1, equal: false }, moved: { error: 0, equal: true }, before: 2, after: 0.5,
  layers: [{ tensor: 'w', shape: [3, 4], before: 2, after: null }], axes: [], rounds: 1, batch_norm_statistics: false,
  path: [{ t: 0, stored: on(0, 3), aligned: on(0, 1) }, { t: 1, stored: on(1, 3), aligned: on(1, 2) }],
};

test('the line has both ends, as stored and paired; a loss where there are labels', () => {
  const c = pathCurve(aligned);
  assert.deepEqual(c.series.map((s) => s.y), [[0, 1], [1, 0], [0, 1], [1, 0]]);
  assert.equal(lossCurve(aligned), null);
  assert.deepEqual(lossCurve({ ...aligned, loss: 'mean' })!.series.map((s) => s.y), [[3, 3], [1, 2]]);
  assert.deepEqual([...layerTable(aligned).rows], [['w', '3×4', 2, null]]);
});

test('what is said of a symmetry beside its state', () => {
  const s: Symmetry = { kind: 'scale invariance', where: 'w', axis: -1, units: 1, blocks: 1, tensors: [], element: '', error: 1e-5, equal: false, state: 'holds', exact_up_to: 'epsilon', epsilon: 1e-5, radial: 0.5, alone: { error: 36, equal: false } };
  assert.equal(noteOf(s), 'up to epsilon 1.0e-05; gradient along the weights 0.500; the weights alone: 36.00');
  assert.equal(noteOf({ ...s, exact_up_to: 'rounding', radial: undefined as never, alone: undefined as never, why: 'w' }), 'w');
  assert.deepEqual([apartWords({ error: 0, equal: true }), apartWords({ error: null, equal: false, bad: 'x' })], ['0, bit for bit', 'undefined']);
});

test('axes that stay are counted by the reason', () => {
  const axis = (index: number, fixed?: string): Axis => ({ index, name: `a${index}`, units: 2, blocks: 1, stored: [], ...(fixed ? { fixed } : {}) });
  const { free, fixed } = axesOf({ axes: [axis(0), axis(1, 'input'), axis(2, 'input'), axis(3, 'answer')] } as unknown as Report);
  assert.deepEqual([free.map((a) => a.index), fixed], [[0], [{ why: 'input', n: 2 }, { why: 'answer', n: 1 }]]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Generators, Model, Plane, Report } from '../core/embedding';
import { along, chosen, counted, estimated, lengthCurve, moveTable, nearCurve, orbitsOf, percent, planeOf, planeTable, ratioCurve } from './featured';

const e = (value: number | null, low: number | null = null, high: number | null = null) => ({ value, low, high });
const model = (name: string, more: Partial<Model> = {}): Model => ({ model: name, sha256: 'd', value: 'v', width: 4, state: 'move', sentence: 's', constant_units: 0, ...more });
const report = (features: Model[]): Report => ({ format: 2, seed: 7, confidence: 0.95, sentence: 's', samples: { fit: 1, choose: 1, confirm: 1, objects_confirm: 1 }, group: 'SO(2)', measure: 'm', elements: ['0°', '90°', '180°'], features });
const moved = (element: string, ratio: number, floor?: number) => ({ element, resampled: floor !== undefined, ratio: e(ratio, ratio - 0.1, ratio + 0.1), ...(floor === undefined ? {} : { floor: e(floor) }), worst: 'a', worst_ratio: ratio, cosine: e(0.5), diagonal: e(0.5), off_diagonal: e(0.1) });
const plane = (frequency: number, spread: number): Plane => ({ frequency_fit: frequency, growth_fit: 0, spread, samples: [{ sample: 'a', x: [1, 0, -1], y: [0, 1, null] }] });
const generators = (planes: Plane[]): Generators => ({ of: 'rotation', unit: 'rad', axes: 2, held_fit: 1, frequencies_fit: [], most_frequency: 2, start_fit: [], growth_fit: 0, r2_unseen: e(1), r2_seen: e(1), r2_ridge: e(1), elements_fitted: 2, elements_unseen: 0, t: [0, Math.PI / 2, Math.PI], planes });

test('the chosen model is shown, else the first', () => {
  const r = report([model('a'), model('b')]);
  assert.equal(chosen(r, 'b')!.model, 'b');
  assert.equal(chosen(r, 'gone')!.model, 'a');
  assert.equal(chosen(report([]), ''), undefined);
});

test('what resampling does stands beside ratios only where something was resampled', () => {
  const c = ratioCurve(model('a', { transformations: [moved('90°', 0.2), moved('45°', 0.5, 0.1)] }))!;
  assert.deepEqual(c.series.map((s) => s.name), ['ratio', 'there and back']);
  assert.deepEqual(c.series[1]!.y, [null, 0.1]);
  assert.equal(ratioCurve(model('a', { transformations: [moved('90°', 0.2)] }))!.series.length, 1);
  assert.equal(ratioCurve(model('a')), null);
});

test('the table has the map of each element beside it', () => {
  const t = moveTable(model('a', { transformations: [moved('90°', 0.2), moved('45°', 0.5)], maps: { by: [{ element: '45°', r2: e(0.9, 0.8, 1), penalty_choose: 0 }], products: 0 } }));
  assert.equal([...t.rows][0]![14], null);
  assert.equal([...t.rows][1]![14], 0.9);
});

test('a sample goes around as the generator says, and lies apart from it where it does not', () => {
  const q = along({ frequency_fit: 2, growth_fit: 0 }, { x: 1, y: 0 }, Math.PI / 4);
  assert.ok(Math.abs(q.x) < 1e-12 && Math.abs(q.y - 1) < 1e-12);
  assert.ok(Math.abs(along({ frequency_fit: 0, growth_fit: 1 }, { x: 1, y: 0 }, 1).x - Math.E) < 1e-12);
  const g = generators([plane(1, 1)]), { orbits, reach } = orbitsOf(g.planes[0]!, g, ['0°', '90°', '180°']);
  assert.equal(orbits[0]!.at.length, 2); // one place is missing
  assert.ok(Math.abs(orbits[0]!.at[1]!.said!.y - 1) < 1e-12);
  assert.ok(reach >= 1 && orbits[0]!.path.startsWith('M1.0000'));
  assert.equal([...planeTable('t', orbits).rows].length, 2);
  const off = orbitsOf(plane(3, 1), g, ['0°', '90°', '180°']).orbits[0]!.at[1]!;
  assert.ok(Math.abs(off.said!.y + 1) < 1e-12 && off.y === 1);
});

test('the plane that holds most is shown, and another one where it is chosen', () => {
  const g = generators([plane(4, 0.1), plane(1, 3), plane(2, 1)]);
  assert.equal(planeOf(g, '')!.frequency_fit, 1);
  assert.equal(planeOf(g, '3')!.frequency_fit, 2);
  assert.equal(planeOf(generators([]), '1'), undefined);
});

test('pairs by the listed pairs between them, sequences by their views', () => {
  const near = (steps: number, auc: number) => ({ steps, pairs: 3, things: 2, ratio: e(0.1), auc: e(auc, auc - 0.1, auc + 0.1), worst: ['a', 'b'], worst_ratio: 1 });
  const c = nearCurve({ inputs: 4, things: 2, same_input: 0, others: 4, steps: [near(1, 0.9), near(3, 0.6)] })!;
  assert.deepEqual([c.series[0]!.x, c.series[0]!.y, c.series[0]!.labels], [[1, 3], [0.9, 0.6], ['listed', 'over 3 pairs']]);
  assert.equal(nearCurve({ inputs: 0, things: 0, same_input: 0, others: 0, steps: [] }), null);
  const step = (v: number) => ({ ratio: e(v), auc: e(1), worst: 'a', worst_ratio: v });
  const s = lengthCurve({ views: 'x', actions: 'a', lengths: [{ views: 2, effective_rank: e(3), apart: 1, route: step(0.2) }, { views: 4, effective_rank: e(3), apart: 1, order: step(0.5), route: step(0.1) }] });
  assert.deepEqual(s.series.map((q) => [q.name, q.x, q.y]), [['order', [2, 4], [null, 0.5]], ['route', [2, 4], [0.2, 0.1]]]);
});

test('numbers in words', () => {
  assert.equal(percent(0.9055), '90.6 %');
  assert.equal(percent(null), 'undefined');
  assert.equal(counted(e(2, 2, 3)), '2 [2, 3]');
  assert.equal(estimated(e(0.5)), '0.500');
  assert.equal(estimated(undefined), '');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Document } from '../core/audit';
import { floorOf, limitOf, limitsOf, limitWords } from './floor';

const axis = { name: 'angle', unit: 'deg', kind: { name: 'turn', form: 'angle' }, min: 0, max: 360, periodic: true };
const point = (deg: number, exact: boolean, floor: number | null) => ({ element: '', coordinates: [deg], exact, n: 1, non_finite: 0, mean: 1, p95: 1, max: 1, resampling_floor: floor, state: '' });
const doc = (error?: string, group = 'C8') => ({ format: 1, verdict: 'FAIL', models: [{ model: 'm', claim: { group }, error, checks: [{ sets: [{ rounding_floor: 1e-6, profile: [point(90, true, null)] }, { rounding_floor: 2e-6, profile: [point(45, false, 0.25), point(90, true, null), point(10, false, 0.1)] }] }] }] }) as unknown as Document;

test('the floor is that of rounding at exact elements and that of resampling at the others', () => {
  const f = floorOf(doc(), 'm', { name: 'SO(2)', chart: [axis], elements: [[0], [45], [90], [135]] });
  assert.ok(f);
  assert.deepEqual([...f], [NaN, 0.25, 1e-6, NaN], 'the identity and what was not visited have none; the first set that has an element speaks');
});

test('no floor without the model, its profile, or its elements', () => {
  assert.equal(floorOf(doc(), 'other', { name: 'SO(2)', chart: [axis], elements: [[45]] }), null);
  assert.equal(floorOf(doc('could not run'), 'm', { name: 'SO(2)', chart: [axis], elements: [[45]] }), null);
  assert.equal(floorOf(doc(), 'm', { name: 'SO(2)', chart: [axis], elements: [[46]] }), null);
  assert.equal(floorOf(doc(), 'm', { name: 'SO(2)', chart: [axis, axis], elements: [[45, 0]] }), null);
});

test('no floor from an audit of another motion, whose coordinates mean something else', () => {
  assert.equal(floorOf(doc(undefined, 'Scale'), 'm', { name: 'SO(2)', chart: [axis], elements: [[45]] }), null);
  assert.equal(floorOf(doc(undefined, 'T(2,Z)'), 'm', { name: 'O(2)', chart: [axis], elements: [[45]] }), null);
  assert.ok(floorOf(doc(undefined, 'T(2,Z)'), 'm', { name: 'T(2)', chart: [axis], elements: [[45]] }));
});

const held = (model: string, group: string, threshold: number | null) => ({ model, claim: { group }, policy: { threshold }, checks: [] });
const audit = (...models: ReturnType<typeof held>[]) => ({ format: 1, models }) as unknown as Document;

test('the limit of an audit stands beside the curves of the models and motions that it is of', () => {
  const doc = audit(held('a', 'C4', 1e-3), held('b', 'Scale', 0.5));
  assert.equal(limitOf(doc, 'a', { name: 'SO(2)' }), 1e-3, 'quarter turns are turns');
  assert.equal(limitOf(doc, 'a', { name: 'Scale' }), null);
  assert.equal(limitOf(doc, 'c', { name: 'SO(2)' }), null);
  assert.deepEqual(limitsOf([doc], ['a', 'b'], { name: 'SO(2)' }), [{ value: 1e-3, label: 'limit of the audit of a: 0.001' }]);
  assert.deepEqual(limitsOf([audit(held('a', 'C4', 0.1), held('b', 'C8', 0.1))], ['a', 'b'], { name: 'SO(2)' }), [{ value: 0.1, label: 'limit of the audit: 0.100' }], 'one line for a limit that both have');
  assert.deepEqual(limitsOf([audit(held('a', 'C4', null))], ['a'], { name: 'SO(2)' }), []);
});

test('a limit that no line can show is said', () => {
  const limits = [{ value: 1e-4, label: 'limit of the audit: 1.0e-04' }];
  const at = (hi: number) => ({ pos: (v: number) => v / hi });
  assert.match(limitWords(limits, at(1e-3)), /1\.0e-04 \(dashed\); each input's largest error/);
  assert.match(limitWords(limits, at(1)), /cannot be told from 0/);
  assert.match(limitWords(limits, at(1e-5)), /above all that is drawn/);
  assert.match(limitWords(limits, null), /1\.0e-04; each/, 'a map has no line');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Place } from '../core/api';
import { parse } from '../core/url';
import { read, type Finding, type Model, type Point } from '../core/audit';
import { brief, findings, linkTo, orbitProfile, placeOf } from './audit';

const finding = (id: string, severity: string): Finding => ({ id, category: 'violation', severity: severity as Finding['severity'], message: '', location: '', evidence: [], remedies: [] });
const point = (deg: number, exact: boolean, mean: number): Point => ({ element: `${deg} deg`, coordinates: [deg], exact, n: 3, added: false, non_finite: 0, mean, p95: mean, max: 2 * mean, resampling_floor: exact ? null : 0.1, state: '' });
const set = (name: string, exact: boolean, profile: Point[], rounding: number) => ({ name, exact, verdict: 'FAIL' as const, reason: '', level: '', cause: '', statement: '', rounding_floor: rounding, elimination: [], profile });
const model = (checks: unknown[]): Model => ({ model: 'm', policy: { threshold: 1e-4 }, checks: checks.map((c) => ({ findings: [], sets: [], ...(c as object) })) }) as unknown as Model;

test('an element is written as on the other pages', () => {
  for (const [from, to] of [
    ['90 deg', '90°'], ['(angle 270 deg, mirror 0)', '270°'], ['(angle 12.5 deg, mirror 1)', '12.5° mirrored'],
    ['(dx -3 px, dy 4 px)', 'dx -3 px, dy 4 px'], ['(angle 90 deg, dx 1 px, dy 0 px)', '90°, dx 1 px, dy 0 px'], ['(angle 0 deg, mirror 1, dx 0 px, dy 2 px)', '0° mirrored, dx 0 px, dy 2 px'], ['x0.5', 'x0.5'], ['', ''],
    ['(angle 180°, mirror 0, reverse 0)', '180°'],
    ['(angle 90°, mirror 1, reverse 1)', '90° mirrored, time reversed'],
    ['(mirror 0)', 'mirror 0'],
  ]) assert.equal(brief(from as string), to);
});

test('findings come severest first and otherwise in the order of the checks', () => {
  const m = model([{ check: 'a', findings: [finding('a/1', 'low'), finding('a/2', 'high')] }, { check: 'b', findings: [finding('b/1', 'medium'), finding('b/2', 'high'), finding('b/3', 'odd')] }]);
  assert.deepEqual(findings(m).map((x) => x.finding.id), ['a/2', 'b/2', 'b/1', 'a/1', 'b/3']);
});

test('a place is the sample under its model at exactly that element', () => {
  const places: Place[] = [
    { sample: '7', element: [90], model: 'm', model_index: 0, run: 'r', index: 4 },
    { sample: '7', element: [270], model: 'other', model_index: 1, run: 'r', index: 4 },
  ];
  assert.equal(placeOf(places, 'm', { sample: '7', index: 0, element: '90 deg', coordinates: [90] }), places[0]);
  assert.equal(placeOf(places, 'm', { sample: '7', index: 0, element: '270 deg', coordinates: [270] }), null);
  assert.equal(placeOf(places, 'm', { sample: '8', index: 0, element: '90 deg', coordinates: [90] }), null);
  assert.equal(placeOf(places, 'm', { sample: '7', index: 0, element: '' }), places[0], 'a finding about a sample alone');
  assert.equal(placeOf(places, 'm', undefined), null);
});

test('the link to a place says run, sample, element and model', () => {
  const { state, notices } = parse(linkTo({ sample: '7', element: [3, -1], model: 'näme & co', model_index: 0, run: 'r-1', index: 4 }, 'relative'));
  assert.deepEqual(notices, []);
  assert.equal(state.page, 'run');
  assert.equal(state.id, 'r-1');
  assert.equal(state.i, 4);
  assert.deepEqual(state.g, [3, -1]);
  assert.equal(state.a, 'näme & co');
  assert.equal(state.m, 'relative');
});

test('the profile sets exact elements apart, sorts by angle and keeps both floors', () => {
  const m = model([
    { check: 'lattice', sets: [set('exact', true, [point(90, true, 0.5)], 1e-6)] },
    { check: 'endtoend', sets: [set('continuous', false, [point(100, false, 0.7), point(5, false, 0.2), point(90, true, 9)], 2e-6)] },
  ]);
  const p = orbitProfile(m);
  assert.ok(p);
  const by = new Map(p.curve.series.map((s) => [s.name, s]));
  assert.deepEqual(by.get('resampled elements, mean')?.x, [5, 100]);
  assert.deepEqual(by.get('exact elements, mean')?.y, [0.5], 'the first set that has an element says its error');
  assert.equal(by.get('exact elements, mean')?.marks, true);
  assert.deepEqual(by.get('resampling floor, mean')?.y, [0.1, 0.1]);
  assert.deepEqual(by.get('rounding floor')?.y, [2e-6, 2e-6], 'the larger rounding floor');
  assert.equal(p.curve.limit, 1e-4);
  assert.equal(orbitProfile(model([])), null);
});

test('what is no audit is named, not drawn', () => {
  assert.equal(typeof read(null), 'string');
  assert.equal(typeof read({ models: 'x' }), 'string');
  assert.match(read({ format: 2, models: [] }) as string, /newer/);
  assert.equal(typeof read({ format: 1, models: [] }), 'object');
});

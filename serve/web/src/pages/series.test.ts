import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Point, Report, Series } from '../core/watch';
import { chosen, evidenceCurve, nameOf, pointTable, valueCurve } from './series';

const point = (release: string, state: string, value: number | null, more: Partial<Point> = {}): Point => ({ release, file: `${release}.json`, n: 9, value, low: value, high: value, state, ...more });
const series = (key: string, state: string, points: Point[], more: Partial<Series> = {}): Series => ({ key, evidence: 'same inputs', metric: 'largest', set: 'exact elements', better: 'lower', group: 'C4', level: 0.05, points, alarms: [], state, ...more });
const report = (all: Series[]): Report => ({ format: 1, sentence: 's', state: 'ok', by: 'time', reference: 'first', alarm: 0.05, allow: 0.1, rate: 0.05, limit: null, audits: 1, runs: 0, copies: 0, skipped: [], series: all });

test('a series in alarm is shown first, and another one where it is chosen', () => {
  const r = report([series('a', 'ok', []), series('b', 'alarm', [])]);
  assert.equal(chosen(r, '')!.key, 'b');
  assert.equal(chosen(r, 'a')!.key, 'a');
  assert.equal(chosen(report([series('a', 'ok', [])]), 'gone')!.key, 'a');
  assert.equal(chosen(report([]), ''), undefined);
});

test('releases in alarm have a sign of their own at their places', () => {
  const s = series('a', 'alarm', [point('1', 'open', 0.1, { why: 'the reference' }), point('2', 'ok', null), point('3', 'alarm', 0.5)], { unit: 'px' });
  const c = valueCurve(report([s]), s);
  assert.deepEqual(c.series.map((q) => [q.name, q.x, q.y]), [['mean', [1, 2, 3], [0.1, null, 0.5]], ['in alarm', [1, 2, 3], [null, null, 0.5]]]);
  assert.deepEqual([c.y, c.limit, c.series[0]!.labels], [{ name: 'mean of largest', unit: 'px' }, null, ['1, the reference', '2, ok', '3, alarm']]);
  assert.equal(valueCurve(report([s]), { ...s, course: { word: 'lost', rank: { value: 1, low: 1, high: 1 }, first: 0, last: 1, limit: 0.01, within: 1, of: 3, sentence: '' } }).limit, 0.01);
  assert.equal(evidenceCurve(s), null);
  assert.equal(nameOf({ ...s, model: 'm' }), 'm: largest on the exact elements under C4, same inputs');
});

test('evidence of new inputs is in powers of ten beside that of an alarm', () => {
  const s = series('n', 'ok', [point('1', 'ok', 0, { failed: 1 }), point('2', 'ok', 0)], { evidence: 'new inputs', log_e_values: [0, Math.log(100)] });
  const e = evidenceCurve(s)!;
  assert.deepEqual([e.series[0]!.y, e.limit], [[0, 2], -Math.log10(0.05)]);
  assert.equal(valueCurve(report([s]), s).limit, 0.05);
  assert.equal(evidenceCurve({ ...s, log_e_values: [0] }), null);
  const t = pointTable(s), rows = [...t.rows];
  assert.equal(t.columns.length, rows[0]!.length);
  assert.equal(rows[0]![t.columns.findIndex((c) => c.name === 'failed')], 1);
});

test('every word has a sign', () => {
});

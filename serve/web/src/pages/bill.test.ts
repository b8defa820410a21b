import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model } from '../core/audit';
import type { Bill, Of } from '../core/bill';
import { tableText } from '../core/export';
import { beforeAfter, best, billTable, costOf, dots, facts, nameOf, percent, qualities, radius, ranked, says } from './bill';
import { apart, kindsOf, sheetAddress, sheetOf } from './sheet';
import type { Sheet } from '../core/api';

const share = (value: number) => ({ value, low: value - 0.1, high: value + 0.1 });
const bill = (method: string, more: Partial<Bill>): Bill => ({
  state: method ? 'written' : 'as it is', error: 0, worst: 0, apart: 0, cost: { predicted: 1, measured: null }, nodes: 3, nodes_added: 0, bytes: 1234, opset: 13, largest_jump: null, pareto: false,
  ...(method ? { method } : {}), ...more,
});
const of: Of = {
  model: 'net', file: 'net.onnx', sentence: 'Take b.onnx.', recommended: 'b',
  before: bill('', { verdict: 'FAIL', worst: 1.2, right: share(0.9), moved: share(0.4), pareto: true }),
  tried: [
    bill('c', { refused: 'no points' }),
    bill('a', { verdict: 'PASS', cost: { predicted: 4, measured: 4.4 }, right: share(0.8), moved: share(0.8), worst: 1e-7, on_choose: { samples: 5, error: 0, apart: 0, lost: share(0.1) } }),
    bill('b', { verdict: 'PASS', cost: { predicted: 4, measured: 4.1 }, right: share(0.85), moved: share(0.85), worst: null, on_choose: { samples: 5, error: 0, apart: 0, lost: share(0.02) } }),
  ],
};

test('bills stand from the cheapest on, refused ones last', () => {
  assert.deepEqual(ranked(of).map(nameOf), ['as it is', 'b', 'a', 'c']);
  assert.equal(costOf(of.tried[1]!), 4.4);
  assert.equal(costOf(of.tried[0]!), 1);
  assert.ok(Number.isNaN(costOf(bill('x', { cost: { predicted: null, measured: null } }))));
});

test('what is shown first is what is recommended, else what passes and loses least', () => {
  assert.equal(best(of).method, 'b');
  const none = { ...of, recommended: '' };
  assert.equal(best(none).method, 'b');
  none.tried = [of.tried[0]!, of.tried[1]!];
  assert.equal(best(none).method, 'a');
  assert.equal(nameOf(best({ ...none, tried: [of.tried[0]!] })), 'as it is');
});

test('an error is a size by its logarithm, and what is not finite is the largest', () => {
  assert.equal(radius(0), radius(1e-9));
  assert.ok(radius(1e-5) > radius(1e-7) && radius(1e-5) < radius(1e-2));
  assert.equal(radius(null), radius(7));
});

test('dots have a place, and words for those who do not see them', () => {
  const d = dots(of, 'rest');
  assert.deepEqual(d.map((x) => [x.name, x.cost, x.value, x.recommended]), [['as it is', 1, 0.9, false], ['b', 4.1, 0.85, true], ['a', 4.4, 0.8, false]]);
  assert.equal(says(d[1]!, 'right at rest'), 'b: PASS, 4.10 times the cost, right at rest 85.0 % (75.0 to 95.0), largest error –, recommended');
  assert.match(says(d[0]!, ''), /no other is as cheap/);
  assert.deepEqual(qualities(of).map(([k]) => k), ['rest', 'orbit']);
  assert.deepEqual(qualities({ ...of, before: bill('', {}), tried: [bill('a', { agree: share(0.5) })] }).map(([k]) => k), ['same']);
  assert.deepEqual(qualities({ ...of, before: bill('', {}), tried: [] }), []);
  assert.equal(dots({ ...of, before: bill('', { apart: 0 }), tried: [] }, null)[0]!.value, 1);
});

test('a bill is a table to keep, with a row for what was refused', () => {
  const lines = tableText(billTable(of, 'C4'), 'csv').trim().split('\n');
  assert.equal(lines.length, 5);
  const cells = lines[0]!.split(',').length;
  assert.ok(lines.every((l) => l.split(',').length === cells), lines.join('|'));
  assert.match(lines[4]!, /^c,refused,.*no points/);
});

test('shares are per cent with their interval', () => {
  assert.equal(percent(share(0.5)), '50.0 % (40.0 to 60.0)');
  assert.equal(percent({ value: -0.02, low: null, high: 0.1 }), '−2.0 % (– to 10.0)');
  assert.equal(percent(null), '–');
});

test('facts leave out what is not known', () => {
  const k = facts(of.tried[2]!, of.before).map(([name]) => name);
  assert.ok(k.includes('form') && k.includes('on the samples to choose by') && !k.includes('by sample') && !k.includes('derivatives'));
  assert.deepEqual(facts(bill('', { reasons: ['FAIL: turned'], verdict: 'FAIL' }), of.before), [['why', 'FAIL: turned']]);
});

const audited = (means: readonly (readonly [number, number])[]): Model => ({
  checks: [{ sets: [{ rounding_floor: 1e-6, profile: means.map(([x, mean]) => ({ element: `(angle ${x} deg)`, coordinates: [x], exact: true, mean, max: 2 * mean, resampling_floor: null })) }] }], policy: { threshold: 1e-4 },
}) as unknown as Model;

test('before and after are one plot over the same axis', () => {
  const c = beforeAfter(audited([[90, 0.5], [0, 0]]), audited([[0, 0], [90, 1e-7], [180, 1e-8]]), 'select')!;
  assert.deepEqual(c.series.map((s) => s.name), ['as it is, mean', 'as it is, largest', 'select, mean', 'select, largest']);
  assert.deepEqual([c.series[0]!.x, c.series[0]!.y, c.series[3]!.x, c.series[3]!.y], [[0, 90], [0, 0.5], [0, 90, 180], [0, 2e-7, 2e-8]]);
  assert.equal(c.limit, 1e-4);
  assert.equal(c.series[2]!.labels?.[1], '90°');
  assert.equal(beforeAfter(audited([]), audited([[0, 1]]), 'x'), null);
});

test('labels keep their distance and their order, within the plot', () => {
  assert.deepEqual(apart([10, 11, 50], 14, 0, 100), [10, 24, 50]);
  assert.deepEqual(apart([95, 90], 14, 0, 100), [100, 86]);
  assert.deepEqual(apart([], 14, 0, 100), []);
});

test('a page shows the sheet of the run that is open, else the first', () => {
  const sheet = (id: string, kind: string, runs: string[]): Sheet => ({ id, kind, runs, name: id, title: '', sentence: '', models: [], audits: [] });
  const list = { sheets: [sheet('a', 'repair', []), sheet('b', 'repair', ['r']), sheet('d', 'data', [])] };
  assert.equal(sheetOf(list, 'repair', 'r')!.id, 'b');
  assert.equal(sheetOf(list, 'repair', 'x')!.id, 'a');
  assert.equal(sheetOf(list, 'discovery', 'r'), null);
  assert.deepEqual(kindsOf(list), ['repair', 'data']);
  assert.deepEqual(kindsOf(null), []);
  assert.equal(sheetAddress({ id: 'a b', kind: 'repair' }), '#/repair/a%20b');
});

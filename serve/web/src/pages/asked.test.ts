import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asked, Contract, Correct, Estimate, Model, Report, View } from '../core/repeat';
import { courseCurve, dependsWords, digitCurve, effectOf, estimate, objectTable, objectWords, percent, ranked, ranksOf, rightWord, span, squares, viewTable, viewWords } from './asked';

const e = (value: number | null, low: number | null, high: number | null): Estimate => ({ value, low, high, n: 10 });
const thing = (name: string, agreement: number | null, right?: boolean): Asked => ({ name, agreement, over_views: null, mode: `m ${name}`, error: agreement === null ? null : 1 - agreement, ...(right === undefined ? {} : { right, label: 'truth' }) });
const model = (objects: Asked[], more: Partial<Model> = {}): Model => ({ name: 'm', sentence: '', verdict: 'PASS', questions: 1, outcomes: [], answers: 'labels', objects, ...more });

test('objects are ranked with the worst first, and those without a number last', () => {
  const m = model([thing('a', 0.5), thing('b', null), thing('c', 1), thing('d', 0.2), thing('e', 0.5)]);
  assert.deepEqual(ranked(m, 'agreement').map((o) => o.name), ['d', 'a', 'e', 'c', 'b']);
  assert.deepEqual(ranked(m, 'error').map((o) => o.name), ['d', 'a', 'e', 'c', 'b']);
  assert.deepEqual(ranksOf(m), ['agreement', 'error']);
  assert.deepEqual([...objectTable(m, 'agreement', []).rows][0], ['d', 0.2, null, 0.8, 'm d', '', '']);
});

test('an object is said with its answer and whether it is right', () => {
  assert.equal(objectWords(thing('a', 0.5, false), model([])), 'a: mostly m a, wrong: truth; of repeats 50.0 %; largest error 50.0 %');
  assert.equal(objectWords({ ...thing('a', null), mode: '' }, model([])), 'a: mostly nothing');
  assert.deepEqual([thing('a', 1, true), thing('a', 1, false), thing('a', 1)].map(rightWord), ['right', 'wrong', '']);
});

test('four squares, with shares where an older report has no intervals', () => {
  const c: Correct = { consistent_right: 6, consistent_wrong: 2, varying_right: 1, varying_wrong: 1, consistent_errors: e(2 / 3, 0.1, 0.9), accuracy_of_one: e(1, 1, 1), accuracy_of_mode: e(1, 1, 1), accuracy_of_best: e(1, 1, 1) };
  const [[a, b], [, d]] = squares(c) as [[{ n: number; share: number }, { name: string; share: number; bad: boolean }], [unknown, { name: string; bad: boolean }]];
  assert.deepEqual([a.n, a.share, b.name, b.share, b.bad, d.name], [6, 0.6, 'consistent and wrong', 0.2, true, 'varying and wrong']);
  assert.equal(squares({ ...c, shares: [e(0.6, 0.2, 0.9)] })[0]![0]!.of!.low, 0.2);
  assert.equal(squares({ ...c, consistent_right: 0, consistent_wrong: 0, varying_right: 0, varying_wrong: 0 })[0]![0]!.share, 0);
});

test('views are judged by the excess, and by the difference where each was asked once', () => {
  const v: View = { name: 'polite', objects: 10, difference: e(0.3, 0.2, 0.4), excess: e(0.1, -0.02, null), p_holm: 0.04, state: 'open' }, ref: View = { name: 'plain', reference: true, objects: 10 };
  assert.equal(effectOf(v)!.value, 0.1);
  assert.equal(effectOf({ name: 'x', objects: 1, difference: e(0.3, 0.2, 0.4) })!.value, 0.3);
  assert.deepEqual(span({ threshold: 0.05 } as Report, [v, ref]), [-0.02 * 1.05, 0.3 * 1.05]);
  assert.deepEqual(span({ threshold: null } as Report, [ref]), [0, 1]);
  assert.equal(viewWords(v, model([])), 'polite: open; answers differ by 30.0 % (20.0 % to 40.0 %); more than by chance 0.100 (any); p 0.040');
  assert.equal(viewWords(ref, model([])), 'plain: the reference');
  assert.deepEqual([...viewTable(model([], { views: [v, ref] }), []).rows], [['polite', 10, 0.3, 0.2, 0.4, 0.1, -0.02, null, 0.04, null, null, null, 'open'], ['plain', 10, null, null, null, null, null, null, null, null, null, null, 'reference']]);
});

test('whether answers depend on the object is said with numbers', () => {
  const depends = { objects: 40, same: 0.5, other: 0.51, p: 0.3, shown: false };
  assert.equal(dependsWords(model([], { depends })), 'That answers depend on the object is not shown: two about one differ in 50.0 %, two about different ones in 51.0 % (p = 0.300).');
  assert.equal(dependsWords(model([], { answers: 'numbers', depends: { ...depends, same: 0.1, other: null, shown: true } })), 'That answers depend on the object is shown: two about one are 0.100 scales apart, two about different ones – (p = 0.300).');
  assert.equal(dependsWords(model([])), '');
});

test('the contract over time ends where the stream is', () => {
  const c: Contract = {
    unit: 'object', error: 0.5, rate: 0.05, confidence: 0.95, seen: [], fixed: { state: 'open', n: 3, over: 0 }, stream: { state: 'open', n: 3, over: 1, log_e_kept: 0, log_e_broken: Math.LN10 },
    course: [{ n: 1, over: 0, log_e_kept: Math.LN10, log_e_broken: 0 }, { n: 2, over: 1, log_e_kept: null, log_e_broken: 0 }],
  };
  const curve = courseCurve(c)!;
  assert.deepEqual(curve.series.map((s) => s.y), [[1, null, 0], [0, 0, 1]]);
  assert.deepEqual([curve.series[0]!.x, curve.series[0]!.labels![2], curve.x.name], [[1, 2, 3], '1 of 3 above', 'objects so far']);
  assert.ok(Math.abs(curve.limit! - Math.log10(20)) < 1e-12);
  assert.equal(courseCurve({ ...c, course: [] }), null);
});

test('words of numbers', () => {
  assert.deepEqual([percent(0.123), percent(null), percent(NaN), estimate(undefined, percent), estimate(e(0.5, null, null), percent)], ['12.3 %', '–', '–', '–', '50.0 % (any)']);
  assert.equal(digitCurve(model([])), null);
  assert.deepEqual(digitCurve(model([], { repeats: { objects: 1, agreement: e(1, 1, 1), entropy: e(0, 0, 0), full: e(1, 1, 1), digits: [1, 0.5] } }))!.series[0]!.x, [1, 2]);
});

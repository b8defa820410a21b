import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Model, Result, Row, Scan } from '../core/discovery';
import { axesOf, flow, motionWords, moved, paper, reach, sphere, square, velocity } from './motion';
import { algebraFacts, answer, askedWords, extent, familiesOf, level, partOf, rowName, rowWords, scanTable, spectrum, wordOf } from './spectrum';

const close = (a: readonly number[], b: readonly number[]) => a.forEach((x, k) => assert.ok(Math.abs(x - b[k]!) < 1e-9, `${a} is not ${b}`));

test('a turn has velocity across, and exp of a quarter is a quarter turn', () => {
  const turn = [[0, -1], [1, 0]];
  assert.deepEqual(velocity(turn, [2, 0]), [0, 2]);
  const q = flow(turn, Math.PI / 2);
  close(moved(q, [1, 0]), [0, 1]);
  close(moved(flow(turn, 2 * Math.PI), [3, -2]), [3, -2]);
});

test('exp of affine maps: shifts add up, magnifications multiply, and a turn about a point leaves it', () => {
  close(moved(flow([[0, 0, 3], [0, 0, -1]], 2), [1, 1]), [7, -1]);
  close(moved(flow([[1, 0], [0, 1]], Math.log(5)), [1, 2]), [5, 10]);
  close(moved(flow([[0, -1, 2], [1, 0, -1]], 1.3), [1, 2]), [1, 2]); // A p + a = 0 at (1, 2)
  close(flow([[0]], 4)[0]!, [1, 0]);
  assert.deepEqual(flow([[NaN]], 1), [[1, 0]]);
});

test('flows add: exp((s+t)A) = exp(sA) exp(tA)', () => {
  const a = [[0.3, -1, 0.5, 1], [1, 0.1, 0, 0], [0.2, 0.7, -0.4, -2]], p = [0.4, -1, 2];
  close(moved(flow(a, 1.7), p), moved(flow(a, 1), moved(flow(a, 0.7), p)));
});

test('motions in words', () => {
  assert.equal(motionWords([[0, 1], [-1, 1e-9]], ['x', 'y']), 'x′ = y, y′ = −x');
  assert.equal(motionWords([[0, -0.5, 2]], ['x']), 'x′ = −0.5 + 2');
  assert.equal(motionWords([[0]], ['x']), 'nothing moves');
  assert.deepEqual(axesOf(2), ['x', 'y']);
  assert.deepEqual(axesOf(4), ['x1', 'x2', 'x3', 'x4']);
});

test('how far pictures move to and fro does not depend on the scale of a family', () => {
  const m = [[0, -1], [1, 0]], big = m.map((r) => r.map((v) => 50 * v));
  close(flow(m, reach(m, 1)).flat(), flow(big, reach(big, 1)).flat());
  assert.equal(reach([[0, 0]], 1), 0);
});

test('places to draw on lie where they should', () => {
  for (const p of sphere(30)) assert.ok(Math.abs(Math.hypot(...p) - 1) < 1e-12);
  assert.deepEqual(square(2, 3), [[-3, -3], [3, -3], [-3, 3], [3, 3]]);
  assert.ok(paper([0, 0, 1])[1] < 0, 'z is up');
});

const estimate = (value: number | null) => ({ value, low: value === null ? null : value / 2, high: value === null ? null : value * 2 });
const row = (family: string, word: string, relative: number | null, more: Partial<Row> = {}): Row => ({ family, doc: 'turns', action: 'stays', exact: true, elements: 3, objects: 9, degree: estimate(1), relative: estimate(relative), floor: 1e-7, word, ...more });
const scan: Scan = { samples: 9, each: 2, made: 18, scales: [1], alpha: 0.05, families: [row('C4', 'holds', 1e-7, { levels: [{ generator: 'g', unit: 'rad', level: estimate(2), relative: estimate(1), floor: 0 }, { generator: 'h', unit: '', level: estimate(3), relative: estimate(1), floor: 0 }] }), row('C2', 'none', null, { output: 'a', why: 'few' }), row('C2', 'undecided', 0.2, { output: 'b', action: 'moves' })] };

test('rows of a scan are told apart, and said in words', () => {
  assert.deepEqual(scan.families.map((r) => rowName(r, scan.families)), ['C4', 'C2, a stays', 'C2, b moves']);
  assert.equal(level(scan.families[0]!), '3.000 per 1');
  assert.equal(level(scan.families[1]!), '–');
  assert.match(rowWords(scan.families[1]!, scan.families), /none \(few\), relative –/);
  assert.equal([...scanTable(scan, 'net').rows].length, 3);
  const [lo, hi] = extent(scan.families);
  assert.ok(lo < 1e-7 && hi > 0.4);
  assert.equal(wordOf('something').sign, '?');
});

const result = (more: Partial<Result>): Result => ({ objects: 9, rows: 72, unknowns: 4, joint: false, affine: false, derivative: 'gradients', quotients: [], collinear: 0, state: 'settled', dimension: 1, low: 1, high: 1, sigma: [1e-8, 0.7, 0.9], floor: 1e-6, ratio: 1e5, agree: 1, bootstraps: 200, families: [{ sigma: 1e-8, floor: 1e-6, state: 'holds', moves: { a: [[[0, 1], [-1, 0]]] } }], ...more });

test('a spectrum has its cut behind the last family, and none where that is not settled', () => {
  const { curve, cut } = spectrum(result({}));
  assert.equal(cut, 1.5);
  assert.deepEqual(curve.series.map((q) => [q.name, q.x]), [['holds', [1]], ['like any other', [2, 3]], ['floor', [1, 3]]]);
  assert.equal(spectrum(result({ state: 'between' })).cut, null);
  assert.equal(spectrum(result({ dimension: 3 })).cut, null);
  assert.deepEqual(spectrum(result({ sigma: [], families: [], dimension: 0 })).curve.series, []);
});

test('what was asked is said as the terminal says it', () => {
  assert.equal(askedWords({ at: 'samples', why: 'few' }), 'not asked: few');
  assert.equal(askedWords({ at: 'samples', result: result({ state: 'between', low: 1, high: 3, why: 'no gap' }) }), 'between 1 and 3 families: no gap');
  assert.equal(askedWords({ at: 'samples', result: result({ dimension: 0 }) }), 'no one-parameter family');
});

test('families are the basis of the algebra where there is one', () => {
  assert.equal(familiesOf(undefined).length, 0);
  assert.deepEqual(familiesOf(result({}))[0], { name: 'direction 1', moves: [[[0, 1], [-1, 0]]], turns: 'σ = 1.0e-08, holds' });
  const algebra = { basis: [{ a: [[[0, 2], [-2, 0]]] }], closure_defect: 0, closed: true, forms: 1, turns: [{ frequencies: [2], grows: false, period: 3.14 }], angles: [{ name: 'far', degrees: 80 }, { name: 'so(2)', degrees: 0.1 }], name: 'so(2)', known: true };
  assert.equal(familiesOf(result({ algebra }))[0]!.turns, 'turns at 2.000, is back after 3.140');
  const facts = algebraFacts(result({ algebra, quotients: [{ kind: 'unspanned', block: 'x', directions: [[1, 0]], unknowns: 2 }] }));
  assert.match(facts.find(([k]) => k === 'taken out')![1], /^1 directions \(the data do not span them/);
  assert.match(facts.find(([k]) => k === 'nearest known families')![1], /^so\(2\)/);
});

test('the answer about a model is one line', () => {
  const m: Model = { model: 'net', fit: 1, choose: 1, confirm: 1, predictions: 1, parts: [{ part: 'scan', answer: 'holds: C4', result: scan }, { part: 'finite', open: 'no numbers' }], hypotheses: [] };
  assert.equal(answer(m), 'Holds: C4.');
  assert.equal(answer({ ...m, why: 'NaN' }), 'Undefined: NaN');
  assert.equal(answer({ ...m, parts: [] }), 'Nothing could be asked.');
  assert.equal(partOf(m, 'scan'), scan);
  assert.equal(partOf(m, 'finite'), null);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { angleAt, arc, lineBand, linePath, onDisc, polarBand, polarPath, stretches, surrounds } from './path';
import { aroundZero, makeScale } from './scale';

const near = (a: number, b: number, tol = 1e-9) => assert.ok(Math.abs(a - b) <= tol, `${a} is not ${b}`);
const numbers = (d: string) => (d.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);

test('0 degrees is to the right, and angles grow counter-clockwise on the screen, whose y points down', () => {
  const [x, y] = onDisc(90, 1, 100);
  near(x, 0);
  near(y, -100);
  for (let a = 0; a < 360; a += 7.5) near(angleAt(...onDisc(a, 0.7, 100)), a, 1e-9);
  assert.equal(angleAt(1, 0), 0);
});

test('a constant is a circle, also between elements that are far apart', () => {
  const pts = [0, 90, 180, 270].map((x) => ({ x, u: 0.5 }));
  for (const [x, y] of arc(pts, true, 100)) near(Math.hypot(x, y), 50, 1e-9);
  assert.match(polarPath(pts, true, 100), /^M50,0.*Z$/);
});

test('between two elements the value goes straight with the angle', () => {
  const p = arc([{ x: 0, u: 0 }, { x: 90, u: 0.9 }], false, 100);
  for (const [x, y] of p) near(Math.hypot(x, y), angleAt(x, y) || 0, 1e-9); // 0.9 of 100 at 90 degrees: one per degree
  near(Math.hypot(...p[p.length - 1]), 90);
});

test('a missing value leaves a gap; the stretch over the end is one', () => {
  const pts = Array.from({ length: 12 }, (_, k) => ({ x: 30 * k, u: k === 4 || k === 7 ? NaN : 0.5 }));
  const s = stretches(pts, (p) => Number.isNaN(p.u), true);
  assert.deepEqual(s.map((t) => t.points.map((p) => p.x)), [[240, 270, 300, 330, 0, 30, 60, 90], [150, 180]]);
  assert.ok(s.every((t) => !t.closed));
  assert.equal((polarPath(pts, true, 100).match(/M/g) ?? []).length, 2);
  assert.ok(!polarPath(pts, true, 100).includes('NaN'));
  assert.equal(polarPath(pts.map((p) => ({ ...p, u: NaN })), true, 100), '');
});

test('an arc that does not go all the way round is not closed', () => {
  assert.ok(surrounds(Array.from({ length: 72 }, (_, k) => 5 * k)));
  assert.ok(!surrounds([0, 5, 10, 15]));
  assert.ok(!surrounds([0]));
});

test('bands have an inner and an outer edge', () => {
  const d = polarBand([0, 90, 180, 270].map((x) => ({ x, lo: 0.2, hi: 0.4 })), true, 100);
  assert.equal((d.match(/Z/g) ?? []).length, 2);
  const radii = d.split(/[MLZ]/).filter(Boolean).map((t) => Math.hypot(...(t.split(',').map(Number) as [number, number])));
  assert.ok(radii.every((r) => Math.abs(r - 20) < 0.02 || Math.abs(r - 40) < 0.02));
  assert.deepEqual(numbers(lineBand([{ x: 0, lo: 0, hi: 1 }, { x: 1, lo: 0.5, hi: 1 }], 10, 10)), [0, 0, 10, 0, 10, 5, 0, 10]);
});

test('lines go up with the value and stay in the plot', () => {
  assert.equal(linePath([{ x: 0, u: 0 }, { x: 0.5, u: 1 }, { x: 1, u: 7 }], 100, 50), 'M0,50L50,0L100,0');
  assert.equal(linePath([{ x: 0, u: 0 }, { x: 0.5, u: NaN }, { x: 1, u: 1 }], 100, 50), 'M-1,50L1,50M99,0L101,0');
});

test('scales: the ends, the way back, and a place for 0 on a logarithmic one', () => {
  const s = makeScale({ lo: -2, hi: 6, log: false }, 'x');
  near(s.pos(-2), 0);
  near(s.pos(6), 1);
  near(s.value(s.pos(1.7)), 1.7);
  assert.ok(Number.isNaN(s.pos(NaN)));
  const l = makeScale({ lo: 1e-8, hi: 1, log: true }, 'x');
  assert.equal(l.pos(0), 0);
  near(l.pos(1e-8), 0.1);
  near(l.pos(1), 1);
  near(l.value(l.pos(1e-3)), 1e-3, 1e-12);
  assert.ok(Number.isNaN(l.pos(-1)));
  assert.equal(l.pos(1e-30), 0);
  assert.ok(l.ticks.every((t) => t.at === 0 || Number.isInteger(Math.round(Math.log10(t.at) * 1e6) / 1e6)), JSON.stringify(l.ticks));
});

test('ticks of one axis say different things, however small their numbers or their steps are', () => {
  for (const [lo, hi] of [[0, 1.4e-7], [1.1e-7, 1.9e-7], [1e6, 1e6 + 1], [-3.2e-9, 3.2e-9], [12345.1, 12345.9], [0, 1], [0, 3e5], [1e-300, 2e-300]] as const) {
    const labels = makeScale({ lo, hi, log: false }, 'x', 5).ticks.map((t) => t.label);
    assert.ok(labels.length > 2 && new Set(labels).size === labels.length, labels.join(' '));
  }
  assert.deepEqual(makeScale({ lo: 0, hi: 1.4e-7, log: false }, 'x', 7).ticks.map((t) => t.label), ['0', '2e-8', '4e-8', '6e-8', '8e-8', '1e-7', '1.2e-7', '1.4e-7']);
  assert.deepEqual(makeScale({ lo: 0, hi: 3e5, log: false }, 'x', 3).ticks.map((t) => t.label), ['0', '1e5', '2e5', '3e5']);
  assert.deepEqual(makeScale({ lo: 1e6, hi: 1000001, log: false }, 'x', 3).ticks.map((t) => t.label), ['1e6', '1000000.5', '1000001']);
});

test('a scale of differences has 0 in its middle', () => {
  const s = aroundZero([-0.3, 0.1, NaN], 'B − A');
  near(s.pos(0), 0.5);
  near(s.lo, -s.hi);
  assert.ok(s.hi >= 0.3);
  near(aroundZero([], 'x').pos(0), 0.5);
});

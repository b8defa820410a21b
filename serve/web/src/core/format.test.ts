import { test } from 'node:test';
import assert from 'node:assert/strict';
import texts from '../../testdata/texts.json';
import type { Axis } from './api';
import { bytes, count, duration, general, interval, label, level, many, number, ofAll, percent, position, signed, tick, words } from './format';

test('numbers, counts and elements are said as the reports say them', () => {
  const wrong: unknown[] = [];
  for (const [v, want] of texts.numbers as [number, string][]) if (number(v) !== want) wrong.push([v, number(v), want]);
  for (const [n, want] of texts.counts as [number, string][]) if (count(n) !== want) wrong.push([n, count(n), want]);
  for (const c of texts.labels as { group: string; chart: Axis[] | null; element: number[] | null; label: string }[]) {
    const got = label(c.chart ?? [], c.element ?? []); // an empty list of Go may be null
    if (got !== c.label) wrong.push([c.group, c.element, got, c.label]);
  }
  assert.deepEqual(wrong, []);
  assert.ok(texts.labels.length > 50 && texts.numbers.length > 100);
  assert.deepEqual([NaN, Infinity, -Infinity, -0].map(number), ['none', '+Inf', '−Inf', '0']);
});

test('significant digits', () => {
  // What fmt.Sprintf("%.6g") and ("%.3g") give.
  for (const [v, digits, want] of [
    [123456.5, 6, '123456'], [123457.5, 6, '123458'], [1234567, 6, '1.23457e+06'], [0.0001, 6, '0.0001'], [0.00001, 6, '1e-05'], [1e-7, 3, '1e-07'], [999999.5, 6, '1e+06'],
    [0.5, 1, '0.5'], [2.5, 1, '2'], [3.5, 1, '4'], [-12.25, 3, '-12.2'], [100, 3, '100'], [1000, 3, '1e+03'], [1e100, 3, '1e+100'], [0, 3, '0'],
  ] as const) assert.equal(general(v, digits), want);
});

const angle: Axis = { name: 'angle', unit: 'deg', kind: { name: 'turn', form: 'angle' }, min: 0, max: 360, periodic: true };
const mirror: Axis = { name: 'mirror', unit: '', kind: { name: 'mirror', form: 'switch' }, min: 0, max: 1, periodic: false };
const dx: Axis = { name: 'dx', unit: 'px', kind: { name: 'right', form: 'pixels' }, min: null, max: null, periodic: false };
const dy: Axis = { ...dx, name: 'dy', kind: { name: 'down', form: 'pixels' } };
const factor: Axis = { name: 'scale', unit: 'factor', kind: { name: 'scale', form: 'factor' }, min: 0, max: null, periodic: false };

test('elements', () => {
  assert.equal(tick([factor], [0.561231]), '×0.561');
  assert.equal(tick([angle], [137.109]), '137°');
  assert.equal(tick([angle], [22.5]), '22.5°');
  assert.equal(tick([angle, dx, dy], [137.25, -4.13443, 1234]), '137°, dx −4.13 px, dy 1234 px');
  assert.equal(label([angle, mirror], [90, 1]), '90° mirrored');
  assert.equal(label([dx, dy], [3, -1]), 'dx 3 px, dy −1 px');
  assert.equal(label([], []), 'identity');
  assert.equal(label([angle], [1, 2]), '[1 2]');
  assert.equal(position([angle], [152]), '152.0°');
  assert.equal(position([angle], [-0.01]), '0.0°');
  assert.equal(position([angle, mirror], [90, 1]), '90.0° mirrored');
  assert.equal(position([dx, dy], [3, -1]), 'dx 3 px, dy −1 px');
  assert.equal(position([dx, dy], [2.25, -0]), 'dx 2.3 px, dy 0 px');
  assert.equal(position([factor], [1.25]), '×1.250');
});

test('amounts', () => {
  assert.deepEqual([ofAll(3, 1200), ofAll(1200, 1200), many(1, 'sample'), many(2000, 'sample'), many(0, 'class', 'classes')], ['3 of 1,200', 'all 1,200', '1 sample', '2,000 samples', '0 classes']);
  assert.deepEqual([signed(0.12), signed(-0.12), signed(0), signed(NaN), signed(Infinity), signed(-Infinity)], ['+0.120', '−0.120', '0', 'none', '+Inf', '−Inf']);
  assert.deepEqual([percent(0.12345), percent(1), percent(0), percent(NaN)], ['12.3%', '100%', '0%', 'none']);
  assert.deepEqual([0.95, 0.999, 0.975, 0.29].map(level), ['95 %', '99.9 %', '97.5 %', '29 %']);
  assert.deepEqual([interval(0.9, 0.95), interval(-Infinity, Infinity), interval(NaN, NaN)], ['0.900 to 0.950', 'not known', 'not known']);
  assert.deepEqual([0, 999, 999.6, 1000, 3_600_000, 1.5e10].map(bytes), ['0 B', '999 B', '1 kB', '1 kB', '3.6 MB', '15 GB']);
  assert.deepEqual([0, 0.0031, 0.9999, 1.54, 9.96, 59.6, 185, 3599.6, 7800, 7200, -1, Infinity].map(duration),
    ['0 ms', '3 ms', '1.0 s', '1.5 s', '10 s', '1 min', '3 min 5 s', '1 h', '2 h 10 min', '2 h', 'not known', 'not known']);
  assert.equal(words('true_class_probability'), 'true class probability');
});

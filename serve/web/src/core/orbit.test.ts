import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Axis, Group } from './api';
import * as orbit from './orbit';
import { Random } from './random';

const angle: Axis = { name: 'angle', unit: 'deg', kind: { name: 'turn', form: 'angle' }, min: 0, max: 360, periodic: true };
const mirror: Axis = { name: 'mirror', unit: '', kind: { name: 'mirror', form: 'switch' }, min: 0, max: 1, periodic: false };
const dx: Axis = { name: 'dx', unit: 'px', kind: { name: 'right', form: 'pixels' }, min: null, max: null, periodic: false };
const dy: Axis = { ...dx, name: 'dy', kind: { name: 'down', form: 'pixels' } };
const scale: Axis = { name: 'scale', unit: 'factor', kind: { name: 'scale', form: 'factor' }, min: 0, max: null, periodic: false };

const group = (chart: Axis[], elements: number[][], more: Partial<Group> = {}): Group => ({
  name: 'G', title: '', chart, steps: chart.map(() => 0), layout: 'polar', elements, labels: elements.map((e) => orbit.identity(chart).map((_, k) => e[k]).join()),
  exact: elements.map(() => false), identity: 0, measure: '', weights: [], finite: false, moves: [], indexed: false, kinds: [], ...more,
});

const circle = group([angle], Array.from({ length: 72 }, (_, k) => [5 * k]));
const o2 = group([angle, mirror], [0, 1].flatMap((m) => [0, 90, 180, 270].map((a) => [a, m])), { finite: true, steps: [0, 1] });

test('coordinates are brought into the chart, and once there stay as they are', () => {
  const r = new Random(1);
  for (let k = 0; k < 500; k++) {
    const g = [(r.float() - 0.5) * 5000, r.float() * 3 - 1];
    const c = orbit.canonical([angle, mirror], [0, 1], g);
    assert.ok(c[0] >= 0 && c[0] < 360 && (c[1] === 0 || c[1] === 1), String(c));
    assert.deepEqual(orbit.canonical([angle, mirror], [0, 1], c), c);
  }
  assert.deepEqual(orbit.canonical([angle], [0], [-90]), [270]);
  assert.deepEqual(orbit.canonical([angle], [0], [360]), [0]);
  assert.ok(Object.is(orbit.canonical([angle], [0], [-0])[0], 0));
  assert.deepEqual(orbit.canonical([dx, dy], [1, 1], [2.6, -1.4]), [3, -1]);
  assert.deepEqual(orbit.canonical([scale], [0], [-3]), [1]);
  assert.deepEqual(orbit.canonical([angle], [0], [NaN]), [0]);
});

test('the nearest element goes round the circle and never over a mirror', () => {
  assert.deepEqual(orbit.nearest(circle, [358]), { index: 0, same: false });
  assert.deepEqual(orbit.nearest(circle, [355]), { index: 71, same: true });
  assert.equal(orbit.nearest(o2, [89, 1]).index, 5);
  assert.equal(orbit.nearest(o2, [350, 0]).index, 0);
  assert.deepEqual(orbit.nearest(group([angle], []), [1]), { index: -1, same: false });
});

test('factors are compared by their ratio', () => {
  const s = group([scale], [[0.5], [1], [2]], { layout: 'line' });
  assert.equal(orbit.nearest(s, [1.45]).index, 2);
  assert.equal(orbit.nearest(s, [1.4]).index, 1);
});

test('what people type', () => {
  assert.deepEqual(orbit.parse([angle], '152.5°'), [152.5]);
  assert.deepEqual(orbit.parse([angle], ' −30 deg'), [-30]);
  assert.deepEqual(orbit.parse([angle, mirror], '90° mirrored'), [90, 1]);
  assert.deepEqual(orbit.parse([angle, mirror], '90'), [90, 0]);
  assert.deepEqual(orbit.parse([angle, mirror], '90, 1'), [90, 1]);
  assert.deepEqual(orbit.parse([dx, dy], 'dx 3 px, dy -1 px'), [3, -1]);
  assert.deepEqual(orbit.parse([scale], '×1.25'), [1.25]);
  assert.deepEqual(orbit.parse([scale], 'identity'), [1]);
  assert.equal(orbit.parse([angle], 'left'), null);
  assert.equal(orbit.parse([angle], '1 2'), null);
});

test('steps: a degree, a pixel, the next element where there is nothing between', () => {
  assert.deepEqual(orbit.stepped(circle, [359.5], 0, 1), [0.5]);
  assert.deepEqual(orbit.stepped(circle, [3], 0, -15), [348]);
  assert.deepEqual(orbit.stepped(o2, [270, 1], 0, 1), [0, 1]);
  assert.deepEqual(orbit.stepped(o2, [0, 0], 0, -1), [270, 0]);
  assert.deepEqual(orbit.stepped(o2, [90, 0], 1, 1).length, 2);
  const shifts = group([dx, dy], [[0, 0], [1, 0]], { layout: 'heatmap', steps: [1, 1] });
  assert.deepEqual(orbit.stepped(shifts, [0, 0], 1, 3), [0, 3]);
  const s = group([scale], [[0.5], [1], [2]], { layout: 'line' });
  assert.ok(Math.abs(orbit.stepped(s, orbit.stepped(s, [1], 0, 10), 0, -10)[0] - 1) < 1e-9);
});

test('the opposite of the opposite is where one was', () => {
  for (const [o, g] of [[circle, [33]], [o2, [90, 1]], [group([dx, dy], [[0, 0]], { layout: 'heatmap' }), [3, -2]], [group([scale], [[1]], { layout: 'line' }), [1.25]]] as const) {
    const back = orbit.opposite(o, orbit.opposite(o, g));
    back.forEach((v, k) => assert.ok(Math.abs(v - g[k]) < 1e-9));
  }
});

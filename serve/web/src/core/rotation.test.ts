import assert from 'node:assert/strict';
import test from 'node:test';
import type { Axis } from './api';
import { canonical, nearest, parse } from './orbit';
import { after, angle, between, fromQuat, mul, spatial, toQuat, turned, type Vec3 } from './rotation';

const axis = (name: string, unit: string, kind: string, form: string, min: number | null, max: number | null): Axis => ({ name, unit, kind: { name: kind, form }, min, max, periodic: false });
const so3 = ['rx', 'ry', 'rz'].map((n) => axis(n, 'deg', 'vector', 'angle', -180, 180));
const e3 = [...so3, axis('inversion', '', 'inversion', 'switch', 0, 1), ...['tx', 'ty', 'tz'].map((n) => axis(n, 'length', 'length', 'length', null, null))];

/** Numbers that are the same every time. */
function* draws(): Generator<number> {
  for (let x = 1; ; ) yield (x = (x * 48271) % 2147483647) / 2147483647;
}

const near = (a: readonly number[], b: readonly number[], tol = 1e-9) => a.every((v, k) => Math.abs(v - b[k]) <= tol);

test('rotations by hand', () => {
  assert.ok(near(turned(toQuat([0, 0, 90]), [1, 0, 0]), [0, 1, 0]));
  assert.ok(near(turned(toQuat([90, 0, 0]), [0, 1, 0]), [0, 0, 1]));
  assert.ok(near(fromQuat(mul(toQuat([0, 0, 90]), toQuat([0, 0, 45]))), [0, 0, 135]));
  assert.equal(between([0, 0, 170], [0, 0, -170]).toFixed(6), '20.000000');
  assert.ok(near(fromQuat(toQuat([0, -180, 0])), [0, 180, 0]), 'half a turn has one name');
});

test('rotations come back from their quaternions, and products are products', () => {
  const r = draws();
  const next = (): number => r.next().value as number;
  for (let n = 0; n < 300; n++) {
    const some = (): Vec3 => {
      const v = [next() - 0.5, next() - 0.5, next() - 0.5];
      const k = (179 * next()) / Math.hypot(v[0], v[1], v[2]);
      return [v[0] * k, v[1] * k, v[2] * k];
    };
    const [a, b] = [some(), some()];
    assert.ok(near(fromQuat(toQuat(a)), a, 1e-7));
    const x: Vec3 = [next(), next(), next()];
    assert.ok(near(turned(toQuat(fromQuat(mul(toQuat(a), toQuat(b)))), x), turned(toQuat(a), turned(toQuat(b), x)), 1e-9));
    assert.ok(between(a, b) <= angle(a) + angle(b) + 1e-9);
  }
});

test('an element acts after another: turns, inversions and shifts', () => {
  const s = spatial(e3)!;
  // A quarter turn about z with an inversion and a shift, after a shift along x.
  assert.ok(near(after(s, [0, 0, 90, 1, 0, 0, 5], [0, 0, 0, 0, 2, 0, 0]), [0, 0, 90, 1, 0, -2, 5]));
  assert.ok(near(after(s, [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 2, 0, 0]), [0, 0, 0, 0, -2, 0, 0]));
  assert.equal(spatial([axis('angle', 'deg', 'turn', 'angle', 0, 360)]), null);
  assert.equal(spatial([...so3, axis('dt', 'samples', 'delay', 'samples', null, null)]), null);
});

test('elements of a chart of rotations', () => {
  const steps = [0, 0, 0];
  assert.deepEqual(canonical(so3, steps, [200, 0, 0]).map((v) => Math.round(v)), [-160, 0, 0]);
  const o = { chart: so3, elements: [[0, 0, 0], [180, 0, 0], [0, 90, 0]] };
  assert.deepEqual(nearest(o, [-179, 0, 0]), { index: 1, same: false }, 'half turns meet from both sides');
  assert.deepEqual(nearest(o, [-180, 0, 0]), { index: 1, same: true });
  assert.deepEqual(parse(so3, '90° about x'), [90, 0, 0]);
  assert.deepEqual(parse(so3, '30 about -z'), [0, 0, -30].map((v) => v + 0));
  assert.ok(near(parse(so3, '90 about (1, 1, 0)')!, [63.639610306789, 63.639610306789, 0], 1e-9));
  assert.deepEqual(parse(so3, '1, 2, 3'), [1, 2, 3]);
  assert.equal(parse(so3, '90 about nothing'), null);
});

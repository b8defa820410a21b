import assert from 'node:assert/strict';
import test from 'node:test';
import type { Axis } from '../../core/api';
import { bins, cellAt, discsOf, lookup, ranking } from './sphere';

const so3: Axis[] = ['rx', 'ry', 'rz'].map((name) => ({ name, unit: 'deg', kind: { name: 'vector', form: 'angle' }, min: -180, max: 180, periodic: false }));

/** Rotations by multiples of 15° to 180° about axes every 5° in the planes, each once: 829 of a plane. */
function slices(planes: readonly (readonly [number, number])[]): number[][] {
  const out: number[][] = [[0, 0, 0]];
  const seen = new Set<string>(['0,0,0']);
  for (const [x, y] of planes)
    for (let psi = 0; psi < 360; psi += 5)
      for (let w = 15; w <= 180; w += 15) {
        const e = [0, 0, 0];
        e[x] = w * Math.cos((psi * Math.PI) / 180);
        e[y] = w * Math.sin((psi * Math.PI) / 180);
        if (w === 180) {
          const first = e.find((v) => Math.abs(v) > 1e-9) ?? 1;
          if (first < 0) e.forEach((v, k) => (e[k] = -v));
        }
        const name = e.map((v) => Math.round(v * 1e6) + 0).join();
        if (!seen.has(name)) {
          seen.add(name);
          out.push(e.map((v) => (Math.abs(v) < 1e-9 ? 0 : v)));
        }
      }
  return out;
}

test('discs show every element of the slices and leave no cell empty', () => {
  const elements = slices([[0, 1], [0, 2], [1, 2]]);
  assert.equal(elements.length, 2416);
  const discs = discsOf({ chart: so3, elements });
  assert.deepEqual(discs.map((d) => d.plane.name), ['xy', 'xz', 'yz']);
  const seen = new Set<number>();
  for (const d of discs) {
    const px = lookup(d, 360);
    const own = new Set<number>();
    for (let i = 0; i < px.length; i++) {
      const [x, y] = [(i % 360) - 179.5, 179.5 - Math.floor(i / 360)];
      if (Math.hypot(x, y) <= 180) assert.ok(px[i] >= 0, `pixel ${i} of ${d.plane.name} is empty`);
      else assert.equal(px[i], -1);
      if (px[i] >= 0) own.add(px[i]);
    }
    assert.equal(own.size, 829, d.plane.name);
    own.forEach((k) => seen.add(k));
  }
  assert.equal(seen.size, 2416);
});

test('a place on a disc is the rotation about the axis in that direction', () => {
  const elements = slices([[0, 2]]);
  const [d] = discsOf({ chart: so3, elements });
  assert.equal(d.plane.name, 'xz');
  assert.equal(discsOf({ chart: so3, elements }).length, 1, 'the other planes have the identity and one axis only');
  for (const [psi, w] of [[0, 0], [30, 45], [90, 15], [271, 150], [359, 165], [40, 180], [220, 180]] as const) {
    const e = elements[cellAt(d, psi, w)];
    const want = [w * Math.cos((Math.round(psi / 5) * 5 * Math.PI) / 180), 0, w * Math.sin((Math.round(psi / 5) * 5 * Math.PI) / 180)];
    const sign = w === 180 && Math.hypot(...e.map((v, k) => v + want[k])) < 1 ? -1 : 1; // half turns about opposite axes are one
    assert.ok(Math.hypot(...e.map((v, k) => sign * v - want[k])) < 1e-6, `${psi}, ${w}: ${e.join()}, want ${want.join()}`);
  }
  assert.equal(cellAt(d, 0, 181), -1);
});

test('values summed up by angle', () => {
  const b = bins([0, 5, 14.9, 15, 180], [1, 3, 2, 7, NaN], 'lower');
  assert.deepEqual(b.map((x) => [x.lo, x.n, x.median, x.worst]), [[0, 3, 2, 3], [15, 1, 7, 7]]);
  assert.equal(bins([180], [4], 'higher')[0].lo, 165);
});

test('ranks: the worst first, what is missing last, ties in their order', () => {
  assert.deepEqual(ranking([0.5, NaN, 0.1, 0.5], 'higher'), [2, 0, 3, 1]);
  assert.deepEqual(ranking([0.5, NaN, 0.1, 0.5], 'lower'), [0, 3, 2, 1]);
});

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Datum, Rows } from '../../core/datum';
import { angle, type Vec3 } from '../../core/rotation';
import { basis, dot, dragged, front, grabbed } from './camera';
import { items } from './canvas3d';
import { apart, bound, envelope, fieldsOf, joined, placed } from './fields';
import { left } from './outputs';

const rows = (n: number, w: number, data: number[]): Rows => ({ kind: 'rows', n, w, data: Float32Array.from(data) });

test('positions, atoms and vectors are told from each other', () => {
  const d: Datum = { kind: 'record', fields: [
    { name: 'velocities', value: rows(2, 3, [1, 0, 0, 0, 1, 0]) }, { name: 'positions', value: rows(2, 3, [0, 0, 0, 1, 0, 0]) }, { name: 'species', value: rows(2, 1, [8, 1]) }, { name: 'charge', value: rows(1, 1, [0.5]) },
  ] };
  const p = placed(fieldsOf(d, [{ name: 'velocities', type: 'vectors' }, { name: 'positions', type: 'positions', unit: 'Å' }], 'rows'));
  assert.equal(p?.positions.name, 'positions');
  assert.equal(p?.positions.unit, 'Å');
  assert.deepEqual([...(p?.species ?? [])], [8, 1]);
  assert.deepEqual(p?.vectors.map((v) => v.name), ['velocities']);
  assert.equal(placed(fieldsOf(rows(3, 2, [1, 2, 3, 4, 5, 6]), [], 'rows')), null, 'two numbers are no place in space');
  assert.equal(placed(fieldsOf(rows(2, 3, [0, 0, 0, 1, 1, 1]), [{ name: 'features', type: 'unchanged' }], 'rows')), null, 'features are none either');
  assert.equal(placed(fieldsOf(rows(2, 3, [0, 0, 0, 1, 1, 1]), [], 'rows'))?.positions.name, 'rows');
});

test('bonds and edges', () => {
  assert.deepEqual(bound(Float32Array.from([0, 0, 0, 0.96, 0, 0, 5, 0, 0]), (i) => (i ? 0.31 : 0.66)), [[0, 1]]);
  assert.deepEqual(joined({ kind: 'links', nodes: 3, from: Int32Array.from([0, 1, 2, 2]), to: Int32Array.from([1, 0, 2, 0]) }), [[0, 1], [0, 2]]);
});

test('the envelope of a signal loses no extreme', () => {
  const t = 10_000;
  const data = new Float32Array(2 * t);
  data[t + 1234] = 9;
  data[t + 8765] = -7;
  const e = envelope({ kind: 'signal', c: 2, t, rate: 0, data }, 1, 300);
  assert.equal(Math.max(...e.hi), 9);
  assert.equal(Math.min(...e.lo), -7);
  assert.equal(e.hi.indexOf(9), Math.floor((1234 / t) * 300));
  assert.deepEqual([...envelope({ kind: 'signal', c: 1, t: 3, rate: 0, data: Float32Array.from([1, 2, 3]) }, 0, 300).lo], [1, 2, 3]);
});

test('how far rows are from their reference, and where an answer leaves it', () => {
  assert.equal(apart(rows(1, 3, [1, 2, 2]), rows(1, 3, [0, 0, 0]), 0), 3);
  assert.ok(Number.isNaN(apart(rows(1, 3, [1, 2, 2]), undefined, 0)));
  const s = (data: number[]) => ({ kind: 'signal' as const, c: 1, t: data.length, rate: 0, data: Float32Array.from(data) });
  assert.deepEqual({ ...left(s([0, 1, 1, 0, 0]), s([0, 0, 0.5, 0.01, 0])) }, { from: 1, to: 3, most: 1 });
  assert.equal(left(s([1, 1]), s([1, 1])).to, 0);
});

test('the camera: directions are perpendicular, and a drag to the right turns what is seen to the right', () => {
  for (const c of [front, { yaw: 130, pitch: -70, zoom: 2 }]) {
    const [r, u, t] = basis(c);
    for (const [a, b] of [[r, u], [u, t], [t, r]] as const) assert.ok(Math.abs(dot(a, b)) < 1e-12);
    assert.ok(Math.abs(angle(r) - 1) < 1e-12);
    const v = grabbed(c, 50, 0);
    assert.ok(Math.abs(angle(v) - 30) < 1e-9 && Math.abs(dot(v, u) - 30) < 1e-9, 'about the upward direction of the picture');
  }
  assert.equal(dragged({ yaw: 0, pitch: 80, zoom: 1 }, 0, 100).pitch, 90);
  assert.ok(dragged({ yaw: 0, pitch: 0, zoom: 1 }, 10, 0).yaw < 0, 'the camera goes to the left');
});

test('what is near is drawn over what is far', () => {
  const camera = { yaw: 0, pitch: 0, zoom: 1 }; // looking along -x
  const scene = { points: Float32Array.from([1, 0, 0, -1, 0, 0, 0, 0, 0, NaN, 0, 0]), colors: new Uint8Array(12), arrows: [], lines: [], middle: [0, 0, 0] as Vec3, reach: 1 };
  assert.deepEqual(items(scene, camera, [100, 100]).map((x) => x.z), [-1, 0, 1], 'and what has no place is left out');
});

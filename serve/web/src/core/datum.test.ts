import assert from 'node:assert/strict';
import test from 'node:test';
import { datum, field, named } from './datum';
import { moveRows } from './report';
import { spatial } from './rotation';
import { decode, encode } from './safetensors';

const rows = (data: number[], ...shape: number[]) => ({ dtype: 'F32' as const, shape, data: Float32Array.from(data) });

test('values of every kind come out of their arrays', () => {
  const c = decode(encode(
    { 'input/points': rows([1, 2, 3, 4, 5, 6], 2, 3), 'input/bonds': { dtype: 'I32', shape: [2, 1], data: Int32Array.from([0, 1]) }, sound: rows([1, 2, 3, 4], 1, 4), d: rows([1, 2, 3, 4], 2, 2, 1) },
    { 'input.kind': 'record', 'input.fields': 'points\nbonds\ngone', 'input/points.kind': 'rows', 'input/bonds.kind': 'links', 'input/bonds.nodes': '2', 'input/gone.kind': 'rows', 'sound.kind': 'signal', 'sound.rate': '16000', 'd.kind': 'pairs' },
  ));
  const r = datum(c, 'input');
  assert.equal(r?.kind, 'record');
  assert.deepEqual(named(r!, 'x').map((f) => f.name), ['points', 'bonds'], 'a field without an array is left out');
  assert.deepEqual(field(r, 'points'), { kind: 'rows', n: 2, w: 3, data: Float32Array.from([1, 2, 3, 4, 5, 6]) });
  const l = field(r, 'bonds');
  assert.ok(l?.kind === 'links' && l.nodes === 2 && l.from[0] === 0 && l.to[0] === 1);
  const s = datum(c, 'sound');
  assert.ok(s?.kind === 'signal' && s.c === 1 && s.t === 4 && s.rate === 16000);
  const d = datum(c, 'd');
  assert.ok(d?.kind === 'pairs' && d.n === 2 && d.w === 1);
  assert.equal(datum(c, 'nothing'), null);
});

test('what is not as it says it is, is nothing', () => {
  const c = decode(encode({ a: rows([1, 2], 2), b: rows([1, 2, 3, 4, 5, 6], 2, 3, 1), c: rows([1], 1) }, { 'a.kind': 'rows', 'b.kind': 'pairs', 'c.kind': 'picture' }));
  for (const name of ['a', 'b', 'c']) assert.equal(datum(c, name), null, name);
});

test('a report moves rows of space as the models were fed them', () => {
  const kinds: Record<string, string> = { r: 'vector', i: 'inversion', t: 'length' };
  const axis = (name: string) => ({ name, unit: '', kind: { name: kinds[name[0]], form: 'number' }, min: null, max: null, periodic: false });
  const s = spatial(['rx', 'ry', 'rz', 'inversion', 'tx', 'ty', 'tz'].map(axis))!;
  const g = [0, 0, 90, 1, 10, 0, 0];
  const moved = (type: string) => {
    const v = Float32Array.from([1, 2, 3]);
    return moveRows(s, g, type, v, [1, 3]) ? Array.from(v, (x) => Math.round(x) + 0) : null;
  };
  assert.deepEqual(moved('positions'), [12, -1, -3]);
  assert.deepEqual(moved('vectors'), [2, -1, -3]);
  assert.deepEqual(moved('pseudovectors'), [-2, 1, 3]);
  assert.equal(moved('4x0e+2x1o'), null);
  assert.equal(moveRows(s, g, 'positions', Float32Array.from([1, 2]), [1, 2]), false);
});

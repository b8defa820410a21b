import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exhibit } from '../core/audit';
import { chainOf, firstBreak, glow } from './chain';

const columns = ['layer', 'operator', 'representation', 'origin', 'prefix', 'injected', 'floor', 'share', 'status'].map((name) => ({ name }));
const layers = (rows: (string | number | null)[][]): Exhibit => ({ name: 'layers', title: '', table: { columns, rows } }) as unknown as Exhibit;

test('a table of layers is a chain with the first break lit', () => {
  const c = chainOf(layers([
    ['/conv1', 'Conv', '', '', 1e-7, 1e-7, 1e-7, 0.01, 'tested'],
    ['/fc', 'Gemm', '', '', 0.3, 0.3, 1e-7, -0.5, 'breaks, above the floor'],
    ['/out', 'Softmax', '', '', 0.3, null, 1e-7, null, 'not tested'],
  ]));
  assert.deepEqual(c.map((l) => [l.name, l.op, l.breaks]), [['/conv1', 'Conv', false], ['/fc', 'Gemm', true], ['/out', 'Softmax', false]]);
  assert.equal(firstBreak(c), 1);
  assert.deepEqual([0, 1, 2].map((k) => glow(c, k)), [0.02, 1, 0]);
});

test('what is no table of layers is no chain', () => {
  assert.deepEqual(chainOf(undefined), []);
  assert.deepEqual(chainOf({ name: 'layers', title: '' } as Exhibit), []);
  assert.deepEqual(chainOf({ name: 'layers', title: '', table: { columns: [{ name: 'layer' }], rows: [['x']] } } as unknown as Exhibit), []);
  assert.equal(firstBreak([]), -1);
});

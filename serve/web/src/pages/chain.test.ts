import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exhibit } from '../core/audit';
import { chainOf, firstBreak, glow, stretches } from './chain';

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

test('a long chain folds what is far from a break, a short one nothing', () => {
  const chain = (n: number, breaks: number) => chainOf(layers(Array.from({ length: n }, (_, k) => [`/l${k}`, 'Conv', '', '', 0, 0, 0, 0, k === breaks ? 'breaks' : 'tested'])));
  assert.equal(stretches(chain(40, 20)).length, 40);
  assert.deepEqual(stretches(chain(60, 20)), [{ from: 0, to: 0 }, { from: 1, to: 18 }, { from: 19, to: 19 }, { from: 20, to: 20 }, { from: 21, to: 21 }, { from: 22, to: 58 }, { from: 59, to: 59 }]);
  const near = stretches(chain(60, 4));
  assert.deepEqual(near.slice(0, 3), [{ from: 0, to: 0 }, { from: 1, to: 1 }, { from: 2, to: 2 }], 'two links are shown themselves');
  assert.deepEqual(stretches([]), []);
});

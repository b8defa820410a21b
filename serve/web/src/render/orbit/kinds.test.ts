import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathOf, shapesOf } from './kinds';

test('no two kinds of elements look alike', () => {
  const kinds = ['identity', 'motion', 'transposition', 'cycle', 'permutation', 'motion and transposition', 'motion and cycle', 'motion and permutation', 'unheard of', 'cycle'];
  const m = shapesOf(kinds);
  assert.equal(m.size, 9);
  assert.equal(new Set(m.values()).size, 9);
  const open = (s: string) => pathOf(m.get(s)!, 2);
  assert.equal(open('motion and cycle'), open('cycle'), 'the open form of the same');
  assert.notEqual(m.get('motion and cycle'), m.get('cycle'));
});

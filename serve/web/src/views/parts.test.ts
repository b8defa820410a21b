import assert from 'node:assert/strict';
import { test } from 'node:test';
import { worstPlace, worstWords } from './parts';

test('the worst place says ties and a level curve', () => {
  const o = { labels: ['0°', '90°', '180°', '270°'] };
  const say = (v: number[], better: 'higher' | 'lower') => worstWords(o, worstPlace(v, better));
  assert.equal(say([1, 0.2, 0.4, 0.9], 'higher'), 'at 90°');
  assert.equal(say([1, 0.2, 0.4, 0.9], 'lower'), 'at 0°');
  assert.equal(say([1, 0, 0, 0], 'higher'), '3 of 4 elements alike');
  assert.equal(say([0.287, 0.287000001, 0.287, 0.287], 'lower'), 'the same at every element');
  assert.equal(say([0, 0, 0, 0], 'lower'), 'the same at every element');
  assert.equal(say([NaN, NaN], 'lower'), '');
  assert.equal(say([NaN, 3], 'lower'), 'at 90°');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepTo } from './roving';

test('arrow keys go round a row of controls', () => {
  assert.deepEqual(['ArrowRight', 'ArrowLeft', 'Home', 'End', 'ArrowUp', 'a'].map((k) => stepTo(k, 2, 3)), [0, 1, 0, 2, -1, -1]);
  assert.equal(stepTo('ArrowLeft', 0, 3), 2);
  assert.equal(stepTo('ArrowRight', 0, 1), -1, 'there is nowhere to go');
  assert.equal(stepTo('ArrowRight', -1, 3), -1, 'what has the focus is none of them');
});

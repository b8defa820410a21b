import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shiftOf } from './tasks/window';

test('the window to the right is the object to the left, in whole pixels, and the window stays within the picture', () => {
  const win = [64, 60, 128, 100] as const;
  const size = [256, 220] as const;
  assert.deepEqual(shiftOf([0, 0], [10.4, -3.6], [0, 1], size, win), [-10, 4]);
  assert.deepEqual(shiftOf([5, -7], [0, 0], [0, 1], size, win), [5, -7]);
  assert.deepEqual(shiftOf([0, 0], [1000, -1000], [0, 1], size, win), [-64, 60]);
  assert.deepEqual(shiftOf([0, 0], [-1000, 1000], [0, 1], size, win), [64, -60]);
  assert.ok(Object.is(shiftOf([0, 0], [0, 0], [0, 1], size, win)[0], 0));
});

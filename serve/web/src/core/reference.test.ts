import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Metric } from './api';
import { base, family, sibling } from './reference';

const metric = (name: string, ref: string): Metric => ({ name, doc: '', better: 'higher', ref, range: [0, 1], title: name, wide: false });
const list = [metric('iou', 'target'), metric('rmse', 'target'), metric('iou@consensus', 'consensus'), metric('iou@self', 'self'), metric('relative', 'self')];

test('a metric is found against every reference that the run has', () => {
  assert.deepEqual([...family(list, 0)], [['target', 0], ['consensus', 2], ['self', 3]]);
  assert.deepEqual([...family(list, 3)], [...family(list, 0)]);
  assert.equal(sibling(list, 2, 'target'), 0);
  assert.equal(sibling(list, 1, 'consensus'), -1);
  assert.equal(family(list, 4).size, 1);
  assert.equal(family(list, 9).size, 0);
  assert.equal(base('iou@consensus'), 'iou');
  assert.equal(base('iou@else'), 'iou@else');
});

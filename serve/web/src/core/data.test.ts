import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeSource, value } from './fake';
import { opened, until, wait } from './opened';

test('a metric that changes loads its curves, and one that is not wanted any more is dropped', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  s.place.metric.value = 1;
  s.place.metric.value = 0;
  s.place.metric.value = 1;
  await until(() => (s.data.curves[0].value?.data[0] ?? 0) > 1, 'the curves of the second metric');
  await wait(20);
  assert.ok(Math.abs(s.data.curves[0].value!.data[0] - value(0, 1, 0, 0, 12)) < 1e-6);
  assert.equal(s.place.range.value.log, true);
});

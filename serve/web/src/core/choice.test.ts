import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeRun, FakeSource } from './fake';
import { opened, until, wait } from './opened';
import { Failure } from './source';

test('the choice is what is in all of its parts', async (t) => {
  const s = await opened(t);
  s.choice.choose({ slice: 'b' });
  assert.deepEqual([...s.choice.mask.value], [0, 1, 0, 0, 1, 0, 0, 1, 0]);
  s.choice.choose({ picked: [0, 1, 4] });
  assert.deepEqual([...s.choice.mask.value], [0, 1, 0, 0, 1, 0, 0, 0, 0]);
  // The layout puts sample i at (i, 0): a lasso around 3.5 to 8.5.
  s.choice.drawLasso([3.5, -1, 8.5, -1, 8.5, 1, 3.5, 1]);
  assert.deepEqual([...s.choice.mask.value], [0, 0, 0, 0, 1, 0, 0, 0, 0]);
  assert.equal(s.choice.count.value, 1);
  s.choice.drawLasso([]);
  assert.equal(s.choice.count.value, 2);
  await s.choice.combine('not');
  assert.equal(s.choice.count.value, 7);
  s.choice.clear();
  assert.equal(s.choice.count.value, 9);
});

test('slices that are kept as rules are combined by the server, which alone can read them', async (t) => {
  const source = new FakeSource();
  source.kept = { format: 1, slices: [{ name: 'low', label: -1, n: 1, set: { rule: 'mean A < 0.4', metric: 0 } }] };
  const s = await opened(t, source);
  await until(() => s.choice.kept.state.value.value !== null, 'the slices');
  s.choice.choose({ picked: [0, 1, 4] });
  assert.equal(await s.choice.combine('and', 'low'), true);
  assert.deepEqual(source.bodies.at(-1), { and: [{ indexes: [0, 1, 4] }, { slice: 'low' }] });
  assert.deepEqual(s.choice.parts.value.picked, [0], 'what the server answered');
  // Who chooses otherwise while the server thinks keeps that choice.
  const late = s.choice.combine('or', 'low');
  s.choice.choose({ slice: 'b', picked: null });
  assert.equal(await late, false);
  assert.equal(s.choice.parts.value.slice, 'b');
  assert.equal(s.choice.parts.value.picked, null);
});

test('a lasso stays what it was when the layout changes', async (t) => {
  const s = await opened(t);
  s.choice.drawLasso([-0.5, -1, 2.5, -1, 2.5, 1, -0.5, 1]);
  const before = [...s.choice.mask.value];
  s.choice.embedding.value = { method: 'umap', of: 'a' };
  await wait(20);
  assert.deepEqual([...s.choice.mask.value], before);
  assert.deepEqual(before, [1, 1, 1, 0, 0, 0, 0, 0, 0]);
});

test('a rule is looked up by the server, with the metric it is about', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  s.choice.choose({ rule: 'mean A < 0.2' });
  await until(() => s.choice.count.value === 1, 'the answer to the rule');
  const k = source.asked.findIndex((x) => x.endsWith('/select'));
  assert.deepEqual(source.bodies[k], { rule: 'mean A < 0.2', metric: 0 });
  source.override = (p) => {
    if (p.endsWith('/select')) throw new Failure(422, 'rule', 'expected a comparison');
    return null;
  };
  s.choice.choose({ rule: 'mean A <' });
  await until(() => s.choice.ruleError.value !== '', 'the error');
  assert.match(s.choice.ruleError.value, /expected a comparison/);
});

test('the order goes by rank, ties by index, missing values last', async (t) => {
  const s = await opened(t);
  await until(() => s.data.stats[0].value !== null, 'statistics');
  s.choice.rank.value = { by: 'mean0', descending: true };
  assert.deepEqual([...s.choice.order.value], [8, 7, 6, 5, 4, 3, 2, 1, 0]);
  s.choice.rank.value = { by: 'sd0', descending: true };
  assert.deepEqual([...s.choice.order.value], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  s.data.stats[0].value!.mean[2] = NaN;
  s.choice.rank.value = { by: 'mean0', descending: false };
  assert.equal(s.choice.order.value.at(-1), 2);
  s.place.setSample(0);
  s.choice.next(1);
  assert.equal(s.place.sample.value, 1);
  s.choice.next(1);
  assert.equal(s.place.sample.value, 3);
  s.choice.next(-1);
  s.choice.next(-1);
  s.choice.next(-1);
  assert.equal(s.place.sample.value, 0);
});

test('worst first stays worst first under a metric of the other direction', async (t) => {
  const run = fakeRun();
  run.metric_list[0].better = 'higher';
  run.metric_list[1].better = 'lower';
  const source = new FakeSource(run);
  const s = await opened(t, source);
  assert.equal(s.choice.rank.value.descending, false);
  s.place.metric.value = 1;
  assert.equal(s.choice.rank.value.descending, true);
  s.choice.rank.value = { by: 'sd0', descending: true };
  s.place.metric.value = 0;
  assert.equal(s.choice.rank.value.descending, true, 'a spread has no direction');
});

test('a slice that the run has not is left out with a notice, and never asked for', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  await until(() => s.choice.kept.value !== null, 'the slices that are kept');
  const asked = source.asked.length;
  s.choice.choose({ slice: 'older than the run' });
  s.choice.dropUnknown();
  assert.equal(s.choice.parts.value.slice, '');
  assert.match(s.tasks.notices.value.map((n) => n.text).join(), /no slice “older than the run”/);
  await wait(90);
  assert.ok(!source.asked.slice(asked).some((x) => x.includes('/select')));
});

test('a rule is asked again once there are more rows', async (t) => {
  const run = fakeRun(9, { state: { complete: false, done: 3, total: 9, running: true, seconds: 5, rate: null } });
  const source = new FakeSource(run);
  const s = await opened(t, source);
  s.choice.choose({ rule: 'mean A < 0.4' });
  await until(() => s.choice.count.value === 1, 'what the rule chooses of three samples');
  source.override = (path) => (path.endsWith('/select') ? { status: 200, header: () => null, json: async <T>() => ({ n: 3, bits: btoa(String.fromCharCode(7, 0)) }) as T, bytes: async () => new ArrayBuffer(0) } : null);
  source.run = { ...run, state: { complete: true, done: 9, total: 9, running: false, seconds: null, rate: null } };
  source.emit({ run: source.run });
  await until(() => s.choice.count.value === 3, 'what it chooses of nine');
});

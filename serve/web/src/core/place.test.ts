import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeRun, FakeSource, value } from './fake';
import { opened, until, wait } from './opened';
import { shownRange } from './place';

test('a recorded value is that of the element, and there is none between elements', async (t) => {
  const s = await opened(t);
  s.place.setSample(4);
  await until(() => s.data.one.value?.index === 4, 'the orbit of sample 4');
  s.place.moveTo([60]);
  assert.equal(s.place.element.value, 2);
  assert.equal(s.place.recorded(1), value(1, 0, 4, 2, 12));
  s.place.moveTo([61]);
  assert.equal(s.place.element.value, -1);
  assert.ok(Number.isNaN(s.place.recorded(0)));
});

test('the steps of a drawing are no recorded value', async (t) => {
  const s = await opened(t);
  s.data.one.clear();
  assert.equal(s.place.recorded(0, 2), Math.fround(value(0, 0, 0, 2, 12)));
  s.data.curves[0].set({ ...s.data.curves[0].value!, exact: false });
  assert.ok(Number.isNaN(s.place.recorded(0, 2)));
});

test('a live answer counts only for exactly where the needle is', async (t) => {
  const s = await opened(t);
  s.place.moveTo([45.5]);
  assert.equal(s.place.answer(0), null);
  await until(() => s.place.answer(0) !== null, 'an answer at 45.5');
  assert.ok(Math.abs(s.place.answer(1)!.values[0] - (100 + 0.0455)) < 1e-4);
  s.place.moveTo([46]);
  assert.equal(s.place.answer(0), null);
});

test('without live the needle stays on the elements of the plan, and no model is asked', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  s.place.liveOn.value = false;
  const probes = source.asked.filter((x) => x.includes('/probe')).length;
  s.place.moveTo([44]);
  assert.deepEqual([...s.place.g.value], [30]);
  s.place.step(1);
  assert.deepEqual([...s.place.g.value], [60]);
  s.place.step(-1);
  s.place.step(-1);
  assert.deepEqual([...s.place.g.value], [0]);
  s.place.step(-1);
  assert.deepEqual([...s.place.g.value], [330]);
  await wait(20);
  assert.equal(source.asked.filter((x) => x.includes('/probe')).length, probes);
});

test('models that cannot be asked are not', async (t) => {
  const run = fakeRun();
  run.model_list[1].live = false;
  const source = new FakeSource(run);
  await opened(t, source);
  await until(() => source.asked.some((x) => x.includes('/probe')), 'a probe');
  assert.ok(source.asked.filter((x) => x.includes('/probe')).every((x) => x.includes('models=0&')));
});

test('a move acts on the element; between elements by the same difference', async (t) => {
  const s = await opened(t);
  const [left] = s.data.group.value!.moves;
  s.place.moveTo([330]);
  s.place.act(left);
  assert.deepEqual([...s.place.g.value], [60]);
  s.place.moveTo([31]);
  s.place.act(left);
  assert.deepEqual([...s.place.g.value], [121]);
  s.place.home();
  s.place.opposite();
  assert.deepEqual([...s.place.g.value], [180]);
});

test('a model that is not shown does not squeeze those that are', () => {
  const all = { lo: 0, hi: 45, log: false };
  assert.deepEqual(shownRange(all, [0.28, 1.37]), { lo: 0, hi: 1.5, log: false });
  assert.equal(shownRange(all, [0.28, 30]), all, 'more than half of it is used');
  assert.equal(shownRange({ ...all, log: true }, [1]).hi, 45, 'a logarithmic one holds both');
  assert.equal(shownRange(all, []), all);
  assert.equal(shownRange(all, [NaN]), all);
  assert.equal(shownRange({ lo: -3, hi: 45, log: false }, [1]).hi, 45);
});

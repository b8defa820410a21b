import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type * as api from './api';
import { fakeRun, FakeSource, value } from './fake';
import { Client, Failure } from './source';
import { evaluate, everything, fromBits, setOf, State, toBits, within } from './state';

const wait = (ms = 0) => new Promise<void>((f) => setTimeout(f, ms));

async function until(f: () => boolean, what: string): Promise<void> {
  for (let k = 0; k < 400; k++) {
    if (f()) return;
    await wait(2);
  }
  assert.fail(`it never came to: ${what}`);
}

async function opened(t: TestContext, source = new FakeSource()): Promise<State> {
  const s = new State(new Client(source));
  t.after(s.start());
  s.show(source.run.id);
  await until(() => s.run.value !== null && s.curves[0].value !== null && s.one.value !== null && s.samples.value !== null && s.layout.value !== null, 'a run on show');
  return s;
}

test('a run opens with what suits it: the identity, the first two models, all samples', async (t) => {
  const s = await opened(t);
  assert.deepEqual([s.sample.value, s.metric.value, s.a.value, s.b.value, s.compare.value], [0, 0, 0, 1, 'over']);
  assert.deepEqual([...s.g.value], [0]);
  assert.equal(s.element.value, 0);
  assert.equal(s.count.value, 9);
  assert.equal(s.here.value, '0°');
});

test('a recorded value is that of the element, and there is none between elements', async (t) => {
  const s = await opened(t);
  s.setSample(4);
  await until(() => s.one.value?.index === 4, 'the orbit of sample 4');
  s.moveTo([60]);
  assert.equal(s.element.value, 2);
  assert.equal(s.recorded(1), value(1, 0, 4, 2, 12));
  s.moveTo([61]);
  assert.equal(s.element.value, -1);
  assert.ok(Number.isNaN(s.recorded(0)));
});

test('the steps of a drawing are no recorded value', async (t) => {
  const s = await opened(t);
  s.one.clear();
  assert.equal(s.recorded(0, 2), Math.fround(value(0, 0, 0, 2, 12)));
  s.curves[0].set({ ...s.curves[0].value!, exact: false });
  assert.ok(Number.isNaN(s.recorded(0, 2)));
});

test('a live answer counts only for exactly where the needle is', async (t) => {
  const s = await opened(t);
  s.moveTo([45.5]);
  assert.equal(s.answer(0), null);
  await until(() => s.answer(0) !== null, 'an answer at 45.5');
  assert.ok(Math.abs(s.answer(1)!.values[0] - (100 + 0.0455)) < 1e-4);
  s.moveTo([46]);
  assert.equal(s.answer(0), null);
});

test('without live the needle stays on the elements of the plan, and no model is asked', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  s.liveOn.value = false;
  const probes = source.asked.filter((x) => x.includes('/probe')).length;
  s.moveTo([44]);
  assert.deepEqual([...s.g.value], [30]);
  s.step(1);
  assert.deepEqual([...s.g.value], [60]);
  s.step(-1);
  s.step(-1);
  assert.deepEqual([...s.g.value], [0]);
  s.step(-1);
  assert.deepEqual([...s.g.value], [330]);
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
  const [left] = s.group.value!.moves;
  s.moveTo([330]);
  s.act(left);
  assert.deepEqual([...s.g.value], [60]);
  s.moveTo([31]);
  s.act(left);
  assert.deepEqual([...s.g.value], [121]);
  s.home();
  s.opposite();
  assert.deepEqual([...s.g.value], [180]);
});

test('a metric that changes loads its curves, and one that is not wanted any more is dropped', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  s.metric.value = 1;
  s.metric.value = 0;
  s.metric.value = 1;
  await until(() => (s.curves[0].value?.data[0] ?? 0) > 1, 'the curves of the second metric');
  await wait(20);
  assert.ok(Math.abs(s.curves[0].value!.data[0] - value(0, 1, 0, 0, 12)) < 1e-6);
  assert.equal(s.range.value.log, true);
});

test('the choice is what is in all of its parts', async (t) => {
  const s = await opened(t);
  s.choose({ slice: 'b' });
  assert.deepEqual([...s.mask.value], [0, 1, 0, 0, 1, 0, 0, 1, 0]);
  s.choose({ picked: [0, 1, 4] });
  assert.deepEqual([...s.mask.value], [0, 1, 0, 0, 1, 0, 0, 0, 0]);
  // The layout puts sample i at (i, 0): a lasso around 3.5 to 8.5.
  s.drawLasso([3.5, -1, 8.5, -1, 8.5, 1, 3.5, 1]);
  assert.deepEqual([...s.mask.value], [0, 0, 0, 0, 1, 0, 0, 0, 0]);
  assert.equal(s.count.value, 1);
  s.drawLasso([]);
  assert.equal(s.count.value, 2);
  await s.combine('not');
  assert.equal(s.count.value, 7);
  s.clear();
  assert.equal(s.count.value, 9);
});

test('slices that are kept as rules are combined by the server, which alone can read them', async (t) => {
  const source = new FakeSource();
  source.kept = { format: 1, slices: [{ name: 'low', label: -1, n: 1, set: { rule: 'mean A < 0.4', metric: 0 } }] };
  const s = await opened(t, source);
  await until(() => s.kept.state.value.value !== null, 'the slices');
  s.choose({ picked: [0, 1, 4] });
  assert.equal(await s.combine('and', 'low'), true);
  assert.deepEqual(source.bodies.at(-1), { and: [{ indexes: [0, 1, 4] }, { slice: 'low' }] });
  assert.deepEqual(s.choice.value.picked, [0], 'what the server answered');
  // Who chooses otherwise while the server thinks keeps that choice.
  const late = s.combine('or', 'low');
  s.choose({ slice: 'b', picked: null });
  assert.equal(await late, false);
  assert.equal(s.choice.value.slice, 'b');
  assert.equal(s.choice.value.picked, null);
});

test('a lasso stays what it was when the layout changes', async (t) => {
  const s = await opened(t);
  s.drawLasso([-0.5, -1, 2.5, -1, 2.5, 1, -0.5, 1]);
  const before = [...s.mask.value];
  s.embedding.value = { method: 'umap', of: 'a' };
  await wait(20);
  assert.deepEqual([...s.mask.value], before);
  assert.deepEqual(before, [1, 1, 1, 0, 0, 0, 0, 0, 0]);
});

test('a rule is looked up by the server, with the metric it is about', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  s.choose({ rule: 'mean A < 0.2' });
  await until(() => s.count.value === 1, 'the answer to the rule');
  const k = source.asked.findIndex((x) => x.endsWith('/select'));
  assert.deepEqual(source.bodies[k], { rule: 'mean A < 0.2', metric: 0 });
  source.override = (p) => {
    if (p.endsWith('/select')) throw new Failure(422, 'rule', 'expected a comparison');
    return null;
  };
  s.choose({ rule: 'mean A <' });
  await until(() => s.ruleError.value !== '', 'the error');
  assert.match(s.ruleError.value, /expected a comparison/);
});

test('the order goes by rank, ties by index, missing values last', async (t) => {
  const s = await opened(t);
  await until(() => s.stats[0].value !== null, 'statistics');
  s.rank.value = { by: 'mean0', descending: true };
  assert.deepEqual([...s.order.value], [8, 7, 6, 5, 4, 3, 2, 1, 0]);
  s.rank.value = { by: 'sd0', descending: true };
  assert.deepEqual([...s.order.value], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  s.stats[0].value!.mean[2] = NaN;
  s.rank.value = { by: 'mean0', descending: false };
  assert.equal(s.order.value.at(-1), 2);
  s.setSample(0);
  s.next(1);
  assert.equal(s.sample.value, 1);
  s.next(1);
  assert.equal(s.sample.value, 3);
  s.next(-1);
  s.next(-1);
  s.next(-1);
  assert.equal(s.sample.value, 0);
});

test('worst first stays worst first under a metric of the other direction', async (t) => {
  const run = fakeRun();
  run.metric_list[0].better = 'higher';
  run.metric_list[1].better = 'lower';
  const source = new FakeSource(run);
  const s = await opened(t, source);
  assert.equal(s.rank.value.descending, false);
  s.metric.value = 1;
  assert.equal(s.rank.value.descending, true);
  s.rank.value = { by: 'sd0', descending: true };
  s.metric.value = 0;
  assert.equal(s.rank.value.descending, true, 'a spread has no direction');
});

test('a slice that the run has not is left out with a notice, and never asked for', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  await until(() => s.kept.value !== null, 'the slices that are kept');
  const asked = source.asked.length;
  s.choose({ slice: 'older than the run' });
  s.dropUnknown();
  assert.equal(s.choice.value.slice, '');
  assert.match(s.notices.value.map((n) => n.text).join(), /no slice “older than the run”/);
  await wait(90);
  assert.ok(!source.asked.slice(asked).some((x) => x.includes('/select')));
});

test('undo takes whole gestures back', async (t) => {
  const s = await opened(t);
  await wait(400);
  for (let a = 1; a < 50; a++) s.moveTo([a]);
  await wait(400);
  s.setSample(5);
  assert.ok(s.undo());
  assert.equal(s.sample.value, 0);
  assert.deepEqual([...s.g.value], [49]);
  assert.ok(s.undo());
  assert.deepEqual([...s.g.value], [0]);
  assert.ok(!s.undo());
});

test('a slice is kept again if somebody else was faster', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  await until(() => s.kept.value !== null, 'the kept slices');
  source.kept = { format: 1, slices: [{ name: 'theirs', label: -1, n: 1, set: { indexes: [0] } }] };
  source.tag = '"7"';
  s.choose({ slice: 'c' });
  await s.keep('mine', 'class c');
  assert.deepEqual(source.kept.slices.map((x) => x.name), ['theirs', 'mine']);
  assert.equal(s.choice.value.slice, 'mine');
  assert.equal(s.count.value, 3);
});

test('a slice of somebody else of the same name is not overwritten', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  await until(() => s.kept.value !== null, 'the kept slices');
  const theirs: api.Slice = { name: 'mine', label: -1, n: 1, set: { indexes: [0] } };
  source.kept = { format: 1, slices: [theirs, { ...theirs, name: 'mine 2' }] };
  source.tag = '"7"';
  s.choose({ slice: 'c' });
  await s.keep('mine', '');
  assert.deepEqual(source.kept.slices.map((x) => x.name), ['mine', 'mine 2', 'mine 3']);
  assert.deepEqual([source.kept.slices[0], s.choice.value.slice, s.count.value], [theirs, 'mine 3', 3]);
  assert.ok(s.notices.value.some((x) => x.kind === 'warn' && x.text.includes('“mine 3”')));
  // What is known here is replaced, as was meant: also if something else has changed meanwhile.
  source.kept = { ...source.kept, slices: [...source.kept.slices, { ...theirs, name: 'more' }] };
  source.tag = '"9"';
  s.choose({ slice: 'a' });
  await s.keep('mine 3', 'now of a');
  assert.deepEqual(source.kept.slices.map((x) => [x.name, x.note]), [['mine', undefined], ['mine 2', undefined], ['more', undefined], ['mine 3', 'now of a']]);
  // A slice that could not be kept is not chosen.
  source.override = (_path, ask) => {
    if (ask.method === 'PUT') throw new Failure(500, 'disk', 'The disk is full.');
    return null;
  };
  s.choose({ slice: 'b' });
  await s.keep('lost', '');
  assert.equal(s.choice.value.slice, 'b');
  assert.ok(s.notices.value.some((x) => x.kind === 'error' && x.text.includes('The disk is full')));
});

test('a run that grows is loaded again, and keeps what was chosen', async (t) => {
  const run = fakeRun(9, { state: { complete: false, done: 3, total: 9, running: true, seconds: 5 } });
  const source = new FakeSource(run);
  const s = await opened(t, source);
  s.setSample(2);
  s.choose({ slice: 'a' });
  source.run = { ...run, state: { complete: true, done: 9, total: 9, running: false, seconds: null } };
  source.emit({ run: source.run });
  assert.equal(s.progress.value?.done, 9);
  await until(() => s.run.value?.state.complete === true, 'the complete run');
  assert.deepEqual([s.sample.value, s.choice.value.slice], [2, 'a']);
});

test('a run made anew, an audit that was just written, and a run that is gone are news', async (t) => {
  const run = fakeRun(9, { digest: 'old', audits: [] });
  const source = new FakeSource(run);
  const s = await opened(t, source);
  source.run = { ...run, digest: 'new' };
  source.emit({ run: source.run });
  await until(() => s.run.value?.digest === 'new', 'the run that was made anew');
  source.run = { ...run, digest: 'new', audits: ['audit'] };
  source.emit({ list: true });
  await until(() => s.run.value?.audits.length === 1, 'the audit');
  assert.ok(source.asked.filter((x) => x === 'GET runs').length > 0, 'the list is asked for');
  source.emit({ gone: 'another' });
  assert.deepEqual(s.notices.value, []);
  source.emit({ gone: run.id });
  assert.equal(s.notices.value.length, 1);
  assert.ok(s.run.value, 'what was read of it stays');
});

test('a rule is asked again once there are more rows', async (t) => {
  const run = fakeRun(9, { state: { complete: false, done: 3, total: 9, running: true, seconds: 5 } });
  const source = new FakeSource(run);
  const s = await opened(t, source);
  s.choose({ rule: 'mean A < 0.4' });
  await until(() => s.count.value === 1, 'what the rule chooses of three samples');
  source.override = (path) => (path.endsWith('/select') ? { status: 200, header: () => null, json: async <T>() => ({ n: 3, bits: btoa(String.fromCharCode(7, 0)) }) as T, bytes: async () => new ArrayBuffer(0) } : null);
  source.run = { ...run, state: { complete: true, done: 9, total: 9, running: false, seconds: null } };
  source.emit({ run: source.run });
  await until(() => s.count.value === 3, 'what it chooses of nine');
});

test('slices that were kept while somebody went on to another run stay with theirs', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  await until(() => s.kept.value !== null, 'the slices');
  const kept = s.keep('mine', '');
  s.runID.value = 'elsewhere';
  await kept;
  assert.deepEqual(source.kept.slices.map((x) => x.name), ['mine']);
  assert.ok(!s.kept.value?.slices.some((x) => x.name === 'mine'));
});

test('a run that is not there is told, and another one opens afterwards', async (t) => {
  const source = new FakeSource();
  const s = new State(new Client(source));
  t.after(s.start());
  s.show('nothing');
  await until(() => s.opened.state.value.error !== '', 'the error');
  assert.match(s.opened.state.value.error, /no run nothing/);
  s.show('fake');
  await until(() => s.run.value?.id === 'fake', 'the run');
});

test('what was loaded stays when the server is gone', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  source.override = () => {
    throw new Failure(0, 'gone', 'The server does not answer.');
  };
  source.up(true);
  source.up(false);
  assert.equal(s.connected.value, false);
  s.reload();
  await until(() => s.opened.state.value.error !== '', 'the error');
  assert.ok(s.run.value && s.curves[0].value && s.orbitOf(0));
});

test('a run of no samples, and of one', async (t) => {
  const none = new State(new Client(new FakeSource(fakeRun(0))));
  t.after(none.start());
  none.show('fake');
  await until(() => none.run.value !== null, 'the run');
  assert.equal(none.count.value, 0);
  none.next(1);
  none.moveTo([30]);
  const one = new State(new Client(new FakeSource(fakeRun(1))));
  t.after(one.start());
  one.show('fake');
  await until(() => one.one.value !== null, 'the orbit');
  one.next(1);
  assert.equal(one.sample.value, 0);
});

test('bits are little-endian within bytes', () => {
  const mask = Uint8Array.from([1, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
  assert.deepEqual([...atob(toBits(mask))].map((c) => c.charCodeAt(0)), [1, 3]);
  for (let n = 0; n < 40; n++) {
    const m = Uint8Array.from({ length: n }, (_, i) => +(i % 3 === 1));
    assert.deepEqual(fromBits(toBits(m), n), m);
  }
});

test('sets are evaluated here as far as that is possible', () => {
  const of = { n: 4, labels: [0, 1, 0, 2], slices: [{ name: 'k', label: -1, n: 2, set: { indexes: [1, 3] } }] };
  const e = (s: Parameters<typeof evaluate>[0]) => evaluate(s, of)?.join('') ?? null;
  assert.equal(e({}), '1111');
  assert.equal(e({ label: 0 }), '1010');
  assert.equal(e({ slice: 'k' }), '0101');
  assert.equal(e({ slice: 'x' }), null);
  assert.equal(e({ not: { label: 0 } }), '0101');
  assert.equal(e({ or: [{ label: 2 }, { indexes: [0, 9] }] }), '1001');
  assert.equal(e({ and: [{ label: 0 }, { rule: 'mean A < 1' }] }), null);
  assert.equal(e({ and: [] }), '1111');
  assert.equal(e({ or: [] }), '0000');
  assert.deepEqual(setOf(everything, [], 0), {});
});

test('a polygon that crosses itself holds what is wound around an odd number of times', () => {
  const xy = Float32Array.from([9, 5, 1, 5, 5, 9, NaN, NaN]);
  assert.deepEqual([...within(xy, [0, 0, 4, 0, 4, 6, 0, 6])], [0, 1, 0, 0]);
  assert.deepEqual([...within(xy, [0, 0, 10, 10, 10, 0, 0, 10])], [1, 1, 0, 0]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeRun, FakeSource } from './fake';
import { opened, until, wait } from './opened';
import { Client, Failure } from './source';
import { State } from './state';

test('a run opens with what suits it: the identity, the first two models, all samples', async (t) => {
  const s = await opened(t);
  assert.deepEqual([s.place.sample.value, s.place.metric.value, s.place.a.value, s.place.b.value, s.place.compare.value], [0, 0, 0, 1, 'over']);
  assert.deepEqual([...s.place.g.value], [0]);
  assert.equal(s.place.element.value, 0);
  assert.equal(s.choice.count.value, 9);
  assert.equal(s.place.here.value, '0°');
});

test('undo takes whole gestures back', async (t) => {
  const s = await opened(t);
  await wait(400);
  for (let a = 1; a < 50; a++) s.place.moveTo([a]);
  await wait(400);
  s.place.setSample(5);
  assert.ok(s.undo());
  assert.equal(s.place.sample.value, 0);
  assert.deepEqual([...s.place.g.value], [49]);
  assert.ok(s.undo());
  assert.deepEqual([...s.place.g.value], [0]);
  assert.ok(!s.undo());
});

test('a run that grows is loaded again, and keeps what was chosen', async (t) => {
  const run = fakeRun(9, { state: { complete: false, done: 3, total: 9, running: true, seconds: 5, rate: null } });
  const source = new FakeSource(run);
  const s = await opened(t, source);
  s.place.setSample(2);
  s.choice.choose({ slice: 'a' });
  source.run = { ...run, state: { complete: true, done: 9, total: 9, running: false, seconds: null, rate: null } };
  source.emit({ run: source.run });
  assert.equal(s.tasks.progress.value?.done, 9);
  await until(() => s.data.run.value?.state.complete === true, 'the complete run');
  assert.deepEqual([s.place.sample.value, s.choice.parts.value.slice], [2, 'a']);
});

test('a run made anew, an audit that was just written, and a run that is gone are news', async (t) => {
  const run = fakeRun(9, { digest: 'old', audits: [] });
  const source = new FakeSource(run);
  const s = await opened(t, source);
  source.run = { ...run, digest: 'new' };
  source.emit({ run: source.run });
  await until(() => s.data.run.value?.digest === 'new', 'the run that was made anew');
  source.run = { ...run, digest: 'new', audits: ['audit'] };
  source.emit({ list: true });
  await until(() => s.data.run.value?.audits.length === 1, 'the audit');
  assert.ok(source.asked.filter((x) => x === 'GET runs').length > 0, 'the list is asked for');
  source.emit({ gone: 'another' });
  assert.deepEqual(s.tasks.notices.value, []);
  source.emit({ gone: run.id });
  assert.equal(s.tasks.notices.value.length, 1);
  assert.ok(s.data.run.value, 'what was read of it stays');
});

test('a run that is not there is told, and another one opens afterwards', async (t) => {
  const source = new FakeSource();
  const s = new State(new Client(source));
  t.after(s.start());
  s.show('nothing');
  await until(() => s.data.opened.state.value.error !== '', 'the error');
  assert.match(s.data.opened.state.value.error, /no run nothing/);
  s.show('fake');
  await until(() => s.data.run.value?.id === 'fake', 'the run');
});

test('what was loaded stays when the server is gone', async (t) => {
  const source = new FakeSource();
  const s = await opened(t, source);
  source.override = () => {
    throw new Failure(0, 'gone', 'The server does not answer.');
  };
  source.up(true);
  source.up(false);
  assert.equal(s.tasks.connected.value, false);
  s.reload();
  await until(() => s.data.opened.state.value.error !== '', 'the error');
  assert.ok(s.data.run.value && s.data.curves[0].value && s.place.orbitOf(0));
});

test('a run of no samples, and of one', async (t) => {
  const none = new State(new Client(new FakeSource(fakeRun(0))));
  t.after(none.start());
  none.show('fake');
  await until(() => none.data.run.value !== null, 'the run');
  assert.equal(none.choice.count.value, 0);
  none.choice.next(1);
  none.place.moveTo([30]);
  const one = new State(new Client(new FakeSource(fakeRun(1))));
  t.after(one.start());
  one.show('fake');
  await until(() => one.data.one.value !== null, 'the orbit');
  one.choice.next(1);
  assert.equal(one.place.sample.value, 0);
});

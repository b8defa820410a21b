import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Loop, type Want } from './live';
import { Failure } from './source';

/** A source that answers when it is told to. */
function slow() {
  const open: { w: Want; answer: (v: string) => void; fail: (e: unknown) => void; signal: AbortSignal }[] = [];
  const ask = (w: Want, signal: AbortSignal) =>
    new Promise<string>((answer, fail) => {
      open.push({ w, answer, fail, signal });
      signal.addEventListener('abort', () => fail(new DOMException('aborted', 'AbortError')));
    });
  return { open, ask };
}

/** Timers that run when they are told to. */
function timers() {
  const due: { ms: number; f: () => void }[] = [];
  return { due, set: (ms: number, f: () => void) => (due.push({ ms, f }), f), clear: (t: unknown) => void due.splice(due.findIndex((d) => d.f === t), 1) };
}

const turn = () => new Promise<void>((f) => setImmediate(f));

test('a drag of a thousand moves has one question under way, and ends at its last position', async () => {
  const s = slow();
  const l = new Loop(s.ask);
  let asked = 0;
  for (let k = 0; k < 1000; k++) {
    l.want(7, [k]);
    if (k % 10 === 9) {
      assert.equal(s.open.length - asked, 1);
      s.open[asked].answer(`at ${s.open[asked].w.g[0]}`);
      asked++;
      await turn();
    }
  }
  for (; asked < s.open.length; asked++) {
    s.open[asked].answer(`at ${s.open[asked].w.g[0]}`);
    await turn();
  }
  assert.equal(l.counts.moves, 1000);
  assert.equal(l.counts.inFlightMax, 1);
  assert.ok(l.counts.sent <= 102, `${l.counts.sent} questions`);
  assert.equal(l.answer.value?.value, 'at 999');
  assert.equal(l.answers(7, [999]), 'at 999');
  assert.equal(l.pending.value, false);
});

test('only the newest want is sent when a question ends', async () => {
  const s = slow();
  const l = new Loop(s.ask);
  for (const g of [1, 2, 3, 4]) l.want(0, [g]);
  s.open[0].answer('one');
  await turn();
  assert.deepEqual(s.open.map((o) => o.w.g[0]), [1, 4]);
});

test('an answer is of exactly one sample and element', async () => {
  const s = slow();
  const l = new Loop(s.ask);
  l.want(3, [10.5, 1]);
  s.open[0].answer('x');
  await turn();
  assert.equal(l.answers(3, [10.5, 1]), 'x');
  assert.equal(l.answers(3, [10.5, 0]), null);
  assert.equal(l.answers(3, [10.6, 1]), null);
  assert.equal(l.answers(4, [10.5, 1]), null);
});

test('what was asked before a reset is dropped, even if its source ignores the abort', async () => {
  let late: (v: string) => void = () => undefined;
  const l = new Loop<string>((w) => (w.seq === 1 ? new Promise((f) => (late = f)) : Promise.resolve('new')));
  l.want(0, [1]);
  l.reset();
  l.want(0, [2]);
  assert.equal(l.counts.inFlight, 1);
  late('old');
  await turn();
  assert.equal(l.answer.value?.value, 'new');
  assert.equal(l.counts.dropped, 1);
  assert.equal(l.counts.inFlightMax, 1);
});

test('a reset cuts the question off', async () => {
  const s = slow();
  const l = new Loop(s.ask);
  l.want(0, [1]);
  l.reset();
  assert.ok(s.open[0].signal.aborted);
  await turn();
  assert.equal(l.answer.value, null);
  assert.equal(l.error.value, '');
  assert.equal(l.pending.value, false);
});

test('a busy server is asked again after the time it names, twice as long each time, for the newest want', async () => {
  const s = slow();
  const t = timers();
  const l = new Loop(s.ask, t);
  l.want(0, [1]);
  s.open[0].fail(new Failure(503, 'busy', 'Too many questions.', '', 2));
  await turn();
  assert.equal(t.due[0].ms, 2000);
  assert.match(l.error.value, /Too many/);
  l.want(0, [2]);
  l.want(0, [3]);
  await turn();
  assert.equal(s.open.length, 1, 'nothing is sent while it waits');
  t.due.shift()!.f();
  await turn();
  assert.deepEqual(s.open[1].w.g, [3]);
  s.open[1].fail(new Failure(503, 'busy', 'Too many questions.', '', 2));
  await turn();
  assert.equal(t.due[0].ms, 4000);
  t.due.shift()!.f();
  await turn();
  s.open[2].answer('now');
  await turn();
  assert.equal(l.error.value, '');
  assert.equal(l.answers(0, [3]), 'now');
  assert.equal(l.counts.refused, 2);
});

test('another failure is told, and waits for the next move', async () => {
  const s = slow();
  const t = timers();
  const l = new Loop(s.ask, t);
  l.want(0, [1]);
  s.open[0].fail(new Failure(400, 'chart', 'The element lies outside of the chart.'));
  await turn();
  assert.equal(t.due.length, 0);
  assert.match(l.error.value, /outside/);
  assert.equal(l.pending.value, false);
  l.want(0, [2]);
  s.open[1].answer('two');
  await turn();
  assert.equal(l.error.value, '');
  assert.equal(l.answers(0, [2]), 'two');
});

test('what a drag is about to want is asked for at once, and shown with the move', async () => {
  const s = slow();
  const l = new Loop(s.ask);
  l.want(0, [1]);
  s.open[0].answer('at 1');
  await turn();
  l.soon(0, [2]);
  l.soon(0, [2]);
  assert.deepEqual(s.open.map((o) => o.w.g[0]), [1, 2], 'the same is asked for once');
  s.open[1].answer('at 2');
  await turn();
  assert.equal(l.answer.value?.value, 'at 1', 'the needle is still where it was');
  const seq = l.want(0, [2]);
  assert.equal(s.open.length, 2);
  assert.equal(l.answer.value?.value, 'at 2');
  assert.equal(l.counts.lastAnswer, seq);
  // Asked for again, as for other models, it is a question again.
  l.want(0, [2]);
  assert.equal(s.open.length, 3);
  s.open[2].answer('at 2 again');
  await turn();
  // An answer that comes after the move is shown when it comes.
  l.soon(0, [3]);
  l.want(0, [3]);
  assert.equal(s.open.length, 4);
  s.open[3].answer('at 3');
  await turn();
  assert.equal(l.answer.value?.value, 'at 3');
});

test('where a drag went another way, the early answer is not shown', async () => {
  const s = slow();
  const l = new Loop(s.ask);
  l.soon(0, [2]);
  s.open[0].answer('at 2');
  await turn();
  l.soon(0, [3]);
  s.open[1].answer('at 3');
  await turn();
  assert.equal(l.answer.value, null);
  l.want(0, [4]);
  assert.equal(l.answer.value, null);
  s.open[2].answer('at 4');
  await turn();
  assert.equal(l.answers(0, [4]), 'at 4');
  assert.equal(l.pending.value, false);
  l.soon(1, [5]);
  s.open[3].answer('of another sample');
  await turn();
  l.reset();
  l.want(1, [5]);
  assert.equal(l.answer.value, null);
  assert.equal(s.open.length, 5);
});

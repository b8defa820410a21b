import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Audit, Planned, State } from './api';
import { arrived, idle, next, ours, underway } from './underway';

const state = (part: Partial<State>): State => ({ complete: false, done: 130, total: 1000, running: false, seconds: null, rate: null, ...part });

test('a run says whether somebody computes it, who, how fast and for how long', () => {
  assert.equal(underway(state({})), 'Unfinished: 130 of 1,000 samples');
  assert.equal(underway(state({ running: true, seconds: 40 })), 'Computing: 130 of 1,000 samples, 40 s left');
  assert.equal(underway(state({ running: true, by: 'nero demo', rate: 2310.4, seconds: 240 })), 'Computing (nero demo): 130 of 1,000 samples, 2,310 evaluations/s, 4 min left');
  assert.equal(underway(state({ running: true, by: 'another program', rate: 0.731 })), 'Computing (another program): 130 of 1,000 samples, 0.73 evaluations/s');
});

test('only what this server computes is stopped here, only what nobody computes is gone on with', () => {
  assert.deepEqual([ours, idle].map((f) => f(state({}))), [false, true]);
  assert.deepEqual([ours, idle].map((f) => f(state({ running: true }))), [true, false]);
  assert.deepEqual([ours, idle].map((f) => f(state({ running: true, by: 'nero run' }))), [false, false]);
  assert.deepEqual([ours, idle].map((f) => f(state({ complete: true }))), [false, false]);
});

test('a run that nobody computes says what to type, if its folder needs no quotes', () => {
  assert.deepEqual(next({ folder: 'demo/run', state: state({ todo: '3-9' }) }), ['nero shard demo/run --index 3-9', 'nero merge demo/run']);
  assert.deepEqual(next({ folder: 'run', state: state({ done: 1000 }) }), ['nero merge run']);
  assert.deepEqual(next({ folder: 'run', state: state({}) }), []);
  assert.deepEqual(next({ folder: 'run', state: state({ running: true, todo: '3' }) }), []);
  assert.deepEqual(next({ folder: 'run', state: state({ complete: true }) }), []);
  assert.deepEqual(next({ folder: 'a + b', state: state({ todo: '3' }) }), []);
  assert.deepEqual(next({ folder: 'a;b', state: state({ todo: '3' }) }), []);
});

test('an audit arrives when it was planned and is made', () => {
  const audit = (name: string): Audit => ({ id: name, name, verdict: 'PASS', models: [], runs: [] });
  const plan = (name: string) => ({ name }) as Planned;
  assert.equal(arrived([], { planned: [], audits: [audit('a')] }), undefined);
  assert.equal(arrived(['a'], { planned: [plan('a')], audits: [] }), undefined);
  assert.equal(arrived(['a'], { planned: [], audits: [] }), undefined);
  assert.equal(arrived(['b', 'a'], { planned: [plan('b')], audits: [audit('c'), audit('a')] })?.id, 'a');
});

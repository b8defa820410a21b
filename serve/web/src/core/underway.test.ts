import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { State } from './api';
import { idle, ours, underway } from './underway';

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

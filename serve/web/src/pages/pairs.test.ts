import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunCard } from '../core/api';
import { kindOf, pairID, pairing } from './pairs';

const card = (part: Partial<RunCard>): RunCard => ({
  id: 'a', name: 'a', folder: '', begun: 0, changed: 0, digest: '', group: 'SO(2)', task: 'classification', models: ['m'], metrics: ['confidence'], samples: 5, elements: 72,
  state: { complete: true, done: 5, total: 5, running: false, seconds: null, rate: null }, ...part,
});

test('why two runs cannot be compared', () => {
  const a = card({});
  assert.equal(pairing(a, card({ id: 'b' })), '');
  assert.equal(pairing(a, card({ id: 'b', metrics: ['accuracy', 'confidence'] })), '');
  assert.match(pairing(a, a), /same run/);
  assert.match(pairing(a, card({ id: 'b', group: 'D4' })), /SO\(2\) and D4/);
  assert.match(pairing(a, card({ id: 'b', elements: 36 })), /72 and 36 elements/);
  assert.match(pairing(a, card({ id: 'b', task: 'detection' })), /detection/);
  assert.match(pairing(a, card({ id: 'b', metrics: ['loss'] })), /no metric in common/);
  assert.match(pairing(a, card({ id: 'b', name: 'late', state: { complete: false, done: 0, total: 5, running: true, seconds: null, rate: null } })), /late/);
  assert.equal(pairID(a, card({ id: 'b' })), 'a+b');
});

test('verdicts', () => {
  assert.deepEqual(['PASS', 'pass with remarks', 'FAIL', 'failed', 'UNDECIDED', ''].map(kindOf), ['pass', 'pass', 'fail', 'fail', 'open', 'open']);
});

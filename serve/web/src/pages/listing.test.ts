import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Audit, RunCard } from '../core/api';
import { found, ordered, when } from './listing';

const card = (id: string, part: Partial<RunCard> = {}): RunCard => ({
  id, name: id, folder: `lab/${id}`, begun: 1, changed: 1, digest: 'd', task: 'classification', group: 'SO(2)', models: ['one'], metrics: ['confidence'], samples: 5, elements: 12,
  state: { complete: true, done: 5, total: 5, running: false, seconds: null, rate: null }, ...part,
});
const audit = (run: string, verdict: string): Audit => ({ id: run + verdict, name: 'a', verdict, models: [], runs: [run] });

const runs = [card('may', { changed: 10, samples: 7 }), card('june', { changed: 30, models: ['ResNet'] }), card('april', { changed: 20, state: { complete: false, done: 1, total: 5, running: false, seconds: null, rate: null } })];
const audits = [audit('may', 'PASS'), audit('june', 'FAIL'), audit('june', 'PASS'), audit('april', 'NEEDS ATTENTION')];
const ids = (r: RunCard[]) => r.map((x) => x.id).join();

test('every word of a search has to stand somewhere', () => {
  assert.equal(ids(found(runs, audits, '  ')), 'may,june,april');
  assert.equal(ids(found(runs, audits, 'resnet SO(2)')), 'june');
  assert.equal(ids(found(runs, audits, 'lab/ unfinished')), 'april');
  assert.equal(ids(found(runs, audits, 'fail')), 'june');
  assert.equal(ids(found(runs, audits, 'lab nowhere')), '');
});

test('runs stand in the order that was asked for', () => {
  assert.equal(ids(ordered(runs, audits, 'newest')), 'june,april,may');
  assert.equal(ids(ordered(runs, audits, 'oldest')), 'may,april,june');
  assert.equal(ids(ordered(runs, audits, 'name')), 'april,june,may');
  assert.equal(ids(ordered([...runs, card('none')], audits, 'verdict')), 'june,april,may,none');
  assert.equal(ids(ordered(runs, audits, 'samples')), 'may,april,june');
});

test('times are said as people say them', () => {
  const t = Date.UTC(2026, 4, 3, 14, 5);
  assert.equal(when(t, t + 3_600_000, 'UTC'), 'today 14:05');
  assert.equal(when(t, t + 86_400_000, 'UTC'), '3 May 2026, 14:05');
  assert.equal(when(0, t, 'UTC'), '');
});

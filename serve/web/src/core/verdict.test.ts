import assert from 'node:assert/strict';
import { test } from 'node:test';

import { signOf } from './verdict';

test('words have the sign of their kind, and those that judge nothing have none', () => {
  const got = ['PASS', 'holds', 'ok', 'stay', 'different', 'empty', 'lost', 'differs', 'NEEDS_ATTENTION', 'open', 'untested', 'approximate', 'move', 'new word', '', 'constructor'].map(signOf);
  assert.deepEqual(got.map(([sign]) => sign), ['✓', '✓', '✓', '✓', '✗', '∅', '✗', '✗', '!', '?', '?', '!', '→', '–', '–', '–']);
  assert.deepEqual(got.map(([, kind]) => kind[0]), [...'ppppffffaaaannnn']);
});

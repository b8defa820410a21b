import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered, answersOf, fileOf, join, progress, split, sureness } from './questions';

test('a guess has a mark, and what is not known is none', () => {
  assert.deepEqual(split('any?'), { word: 'any', guess: true });
  assert.deepEqual(split(undefined), { word: '', guess: false });
  assert.equal(join('any', true), 'any?');
  assert.equal(join('unknown', true), 'unknown');
  assert.equal(join('', true), '');
  for (const t of ['yes', 'yes?', '28x28?']) assert.equal(join(split(t).word, split(t).guess), t);
});

test('answers are kept, and an empty one is none', () => {
  assert.deepEqual(answered({ data: 'picture', turn: 'any' }, 'data', 'set'), { data: 'set', turn: 'any' });
  assert.deepEqual(answered({ data: 'picture' }, 'data', ''), {});
  assert.deepEqual(answersOf({ data: 'picture', model_file: 'm.onnx', turn: '' }), { data: 'picture' });
});

test('progress counts the questions that arise', () => {
  const q = (id: string) => ({ id, ask: id });
  assert.deepEqual(progress([q('data'), q('turn')], { data: 'picture', gone: 'x' }), { done: 1, of: 2 });
});

test('the study is shown first, and then what was chosen', () => {
  const files = [{ file: 'hypothesis-1.yaml', text: 'h' }, { file: 'study.yaml', text: 's' }];
  assert.equal(fileOf(files, '')!.text, 's');
  assert.equal(fileOf(files, 'hypothesis-1.yaml')!.text, 'h');
  assert.equal(fileOf([], ''), null);
  assert.equal(sureness('open').sign, '?');
});

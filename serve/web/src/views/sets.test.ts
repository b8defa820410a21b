import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as api from '../core/api';
import { Failure } from '../core/source';
import * as S from './sets';

const slice = (name: string, set: api.Set = { label: 1 }): api.Slice => ({ name, label: -1, n: 3, set });
const doc = (...slices: api.Slice[]): api.Slices => ({ format: 1, slices });
const names = (d: api.Slices) => d.slices.map((s) => s.name);

test('masks and indexes', () => {
  for (const n of [0, 1, 9, 1003]) {
    const mask = new Uint8Array(n).map((_, i) => ((i * 2654435761) >>> 13) & 1);
    assert.equal(S.indexesOf(mask).length, S.size(mask));
    assert.deepEqual(S.fromIndexes(S.indexesOf(mask), n), mask);
  }
  assert.deepEqual([...S.fromIndexes([-1, 2, 99], 3)], [0, 0, 1]);
});

test('combinations stay flat', () => {
  const a = { label: 1 }, b = { rule: 'mean A < .4' }, c = { slice: 'x' };
  assert.deepEqual(S.combine('or', [S.combine('or', [a, b]), c]), { or: [a, b, c] });
  assert.deepEqual(S.combine('and', [S.combine('or', [a, b]), c]), { and: [{ or: [a, b] }, c] });
  assert.deepEqual(S.combine('and', [a]), a);
  assert.deepEqual(S.invert(S.invert(a)), a);
});

test('sets in words', () => {
  const s = { and: [{ or: [{ label: 0 }, { label: 5 }] }, { not: { rule: 'mean A < 1' } }] };
  assert.equal(S.words(s, ['zero']), '(class zero or class 5) and not mean A < 1');
  assert.equal(S.words({}), 'all samples');
  assert.equal(S.words({ indexes: [4] }), '1 chosen sample');
});

test('names', () => {
  assert.equal(S.naming(' ok ', []), '');
  assert.match(S.naming('  ', []), /needs a name/);
  assert.match(S.naming('a', ['a']), /already/);
  assert.match(S.naming('x'.repeat(81), []), /81 characters; at most 80/);
  assert.equal(S.naming('<img src=x onerror=alert(1)> ☃', []), '', 'text is text');
  assert.match(S.naming('a\nb', []), /cannot be shown/);
  assert.equal(S.freshName('a', ['a', 'a 2']), 'a 3');
  assert.equal(S.freshName('', []), 'slice');
  assert.equal(S.naming(S.freshName('y'.repeat(99), ['y'.repeat(75)]), []), '');
});

test('merging loses nothing', () => {
  const base = doc(slice('a'), slice('b'), slice('c'), slice('d'));
  const mine = doc(slice('a', { label: 7 }), slice('b'), slice('d', { label: 8 }), slice('new mine'));
  const theirs = doc(slice('a', { label: 9 }), slice('b', { label: 2 }), slice('c'), slice('new theirs'));
  const m = S.merge(base, mine, theirs);
  assert.deepEqual(m.clashes, ['a']);
  assert.deepEqual(names(m.doc), ['a', 'b', 'new theirs', 'a 2', 'd', 'new mine']);
  assert.deepEqual(m.doc.slices[0].set, { label: 9 }, 'theirs keeps the name');
  assert.deepEqual(m.doc.slices[3].set, { label: 7 });
  assert.deepEqual(m.doc.slices[1].set, { label: 2 }, 'only they changed it');
  assert.ok(!names(m.doc).includes('c'), 'I removed it, they left it');
  assert.deepEqual(S.merge(base, base, theirs).doc, theirs);
  assert.deepEqual(S.merge(base, mine, base).doc.slices.map((s) => s.name).sort(), names(mine).sort());
  assert.equal(new Set(names(m.doc)).size, m.doc.slices.length, 'names are unique');
});

/** A server with one document. */
class Fake implements S.Keeper {
  version = 1;
  puts = 0;
  constructor(public doc: api.Slices) {}
  async slices() { return { doc: this.doc, tag: String(this.version) }; }
  async putSlices(_: string, body: api.Slices, tag: string) {
    this.puts++;
    if (tag !== String(this.version)) throw new Failure(412, 'changed', 'changed');
    this.doc = body;
    return String(++this.version);
  }
}

test('keeping', async () => {
  const base = doc(slice('a')), server = new Fake(base), mine = S.added(base, slice('b'));
  assert.deepEqual(await S.keep(server, 'r', base, mine), { kind: 'kept', doc: mine });
  assert.deepEqual(server.doc, mine);
});

test('somebody else was faster: nothing is overwritten, and both can be kept', async () => {
  const base = doc(slice('a')), server = new Fake(base);
  server.doc = S.added(base, slice('theirs'));
  const mine = S.added(base, slice('mine'));
  const c = await S.keep(server, 'r', base, mine);
  assert.ok(c.kind === 'conflict');
  assert.deepEqual([names(server.doc), server.puts], [['a', 'theirs'], 0]);
  assert.deepEqual(names(c.merged.doc), ['a', 'theirs', 'mine']);
  assert.equal((await S.keep(server, 'r', c.theirs, c.merged.doc)).kind, 'kept');
  assert.deepEqual(names(server.doc), ['a', 'theirs', 'mine']);
});

test('somebody else is faster between the two calls', async () => {
  const base = doc(slice('a')), server = new Fake(base);
  const put = server.putSlices.bind(server);
  server.putSlices = async (id, body, tag) => {
    server.putSlices = put;
    await put(id, S.added(base, slice('theirs')), tag);
    return put(id, body, tag);
  };
  const c = await S.keep(server, 'r', base, S.added(base, slice('mine')));
  assert.equal(c.kind, 'conflict');
  assert.deepEqual(names(server.doc), ['a', 'theirs']);
});

test('other failures are not conflicts', async () => {
  const k: S.Keeper = { slices: async () => ({ doc: doc(), tag: '' }), putSlices: () => Promise.reject(new Failure(507, 'full', 'The disk is full.')) };
  await assert.rejects(S.keep(k, 'r', doc(), doc(slice('a'))), /disk is full/);
});

test('edits leave the document alone', () => {
  const d = doc(slice('a'), slice('b')), copy = structuredClone(d);
  assert.deepEqual(names(S.changed(d, 'a', { name: 'z' })), ['z', 'b']);
  assert.deepEqual(names(S.removed(d, 'a')), ['b']);
  assert.deepEqual(d, copy);
});

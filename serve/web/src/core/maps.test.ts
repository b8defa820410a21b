import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Maps, type Wanted } from './maps';
import { Failure, type ErrorMap } from './source';

const map = (mean: number): ErrorMap => ({ h: 1, w: 1, data: Float32Array.of(mean), mean, ref: 'target' });
const wanted: Wanted = { run: 'r', sample: 3, models: [0, 2], ref: null, elements: [[0], [90], [180]], first: 1 };

test('maps come one element after the other, that on show first, and are not asked for twice', async () => {
  const asked: string[] = [];
  const m = new Maps(async (w, g) => {
    asked.push(`${w.models.join('+')}@${g.join()}`);
    return new Map(w.models.map((k) => [k, map(k + g[0]!)]));
  });
  await m.want(wanted);
  assert.deepEqual(asked, ['0+2@90', '0+2@0', '0+2@180']);
  assert.equal(m.found.value.get(Maps.key(wanted, 2, 1))?.mean, 92);
  await m.want({ ...wanted, models: [2, 1] });
  assert.deepEqual(asked.slice(3), ['1@90', '1@0', '1@180'], 'only what is missing');
});

test('another wish cuts off the one before', async () => {
  let asked = 0;
  const m = new Maps((w, _g, cut) => new Promise((done, fail) => {
    asked++;
    if (w.sample === 4) done(new Map([[0, map(1)], [2, map(2)]]));
    cut.addEventListener('abort', () => fail(new DOMException('aborted', 'AbortError')));
  }));
  const first = m.want(wanted);
  await m.want({ ...wanted, sample: 4 });
  await first;
  assert.equal(asked, 4);
  assert.equal(m.found.value.size, 6);
  assert.equal(m.error.value, '');
});

test('it waits while something else is asked, for a reference that is being found, and while the server is busy', async () => {
  let [busy, turn] = [3, 0];
  const m = new Maps(async () => {
    turn++;
    if (turn === 1) throw new Failure(503, 'busy', 'busy', '', 0.001);
    return new Map(turn === 2 ? [] : [[0, map(turn)]]);
  }, () => busy-- > 0, 1);
  await m.want({ ...wanted, models: [0], elements: [[0]], first: 0 });
  assert.equal(turn, 3);
  assert.ok(busy <= 0);
  assert.equal(m.found.value.get(Maps.key(wanted, 0, 0))?.mean, 3);
});

test('a file without maps says so once', async () => {
  let asked = 0;
  const m = new Maps(async () => {
    asked++;
    throw new Failure(404, 'not-in-file', 'not here');
  });
  await m.want(wanted);
  assert.equal(asked, 1);
  assert.match(m.error.value, /not here/);
});

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { colorMaps, comparisons, empty, format, layouts, maxURL, pages, parse, references, tidy, type State } from './url';
import { Random } from './random';

test('the example of the documentation', () => {
  const { state, notices } = parse('#/run/digits-1f?v=1&i=26&g=152&a=plain&b=augmented&s=class+6&poly=0,0,1,0,.5,1e-1&dr=umap&by=mean1&map=cividis&m=conf&ref=self&cmp=diff&live=1&tab=notes');
  assert.deepEqual(notices, []);
  assert.deepEqual(state, {
    page: 'run', id: 'digits-1f', i: 26, g: [152], a: 'plain', b: 'augmented', s: 'class 6', poly: [0, 0, 1, 0, 0.5, 0.1], dr: 'umap', by: 'mean1',
    map: 'cividis', m: 'conf', ref: 'self', cmp: 'diff', live: true, extra: [['tab', 'notes']],
  } satisfies State);
  assert.equal(format(state), '#/run/digits-1f?v=1&i=26&g=152&a=plain&b=augmented&s=class%206&poly=0,0,1,0,0.5,0.1&dr=umap&by=mean1&map=cividis&m=conf&ref=self&cmp=diff&live=1&tab=notes');
});

test('pages', () => {
  for (const [hash, page, id, notices] of [
    ['', 'runs', '', 0], ['#', 'runs', '', 0], ['#/', 'runs', '', 0], ['#/runs', 'runs', '', 0], ['#/findings', 'findings', '', 0],
    ['#/findings/a%2Fb', 'findings', 'a/b', 0], ['#/run/', 'runs', '', 1], ['#/run', 'runs', '', 1], ['#/nothing/x', 'runs', '', 1],
    ['#/run/%', 'runs', '', 1], ['#/run/x/y', 'run', 'x', 1], ['#/run/A+B', 'run', 'A+B', 0], ['#/run/A%2BB', 'run', 'A+B', 0], ['#/report/x', 'report', 'x', 0],
  ] as const) {
    const got = parse(hash);
    assert.deepEqual([got.state.page, got.state.id, got.notices.length], [page, id, notices], hash);
  }
});

test('bad values are left out with a notice that names the key', () => {
  for (const part of [
    'v=2', 'i=', 'i=-1', 'i=1.5', 'i=99999999999', 'i=2147483648', 'g=', 'g=NaN', 'g=1,', 'g=Infinity', 'g=0x10', 'g=1e999', 'g=' + '1,'.repeat(16) + '1', 'a=', 'b=' + 'x'.repeat(2001),
    'poly=1,2,3,4', 'poly=1,2,3,4,5', 'poly=' + '1,2,'.repeat(60) + '1,2', 'poly=a,b,c,d,e,f', 'dr=PCA', 'map=jet', 'ref=', 'cmp=both', 'live=true', 'm=',
  ]) {
    const { state, notices } = parse('#/run/x?' + part);
    assert.deepEqual(state, empty('run', 'x'), part);
    assert.equal(notices.length, 1, part);
    assert.equal(notices[0]!.key, part.split('=')[0]);
    assert.match(notices[0]!.text, /expected/);
  }
});

test('what cannot be read harms nothing else', () => {
  const { state, notices } = parse('#/run/x?&&=3&%zz=1&a=%ff&i=3&i=4&cmp=over');
  assert.deepEqual(state, { ...empty('run', 'x'), i: 3, cmp: 'over' });
  assert.equal(notices.length, 4);
  assert.ok(parse('#/run/x?a=' + 'b'.repeat(2 * maxURL)).notices.length >= 1);
});

test('keys that this version does not know are kept, in order', () => {
  const hash = '#/run/x?v=1&i=1&zoom=2&constructor=1&__proto__=2&toString=';
  const { state, notices } = parse(hash);
  assert.deepEqual(notices, []);
  assert.deepEqual(state.extra, [['zoom', '2'], ['constructor', '1'], ['__proto__', '2'], ['toString', '']]);
  assert.equal(format(state), hash);
});

test('format writes nothing that parse refuses', () => {
  const s = { ...empty('run', 'x'), g: [NaN], poly: [0, 0, Infinity, 1, 2, 2], s: '\ud800x', extra: [['i', '3'], ['', 'x'], ['k', '1'], ['k', '2']] as [string, string][] };
  assert.equal(format(s), '#/run/x?v=1&s=%EF%BF%BDx&k=1');
});

const r0 = new Random(11);
const coordinate = (r: Random) => r.pick([0, 1, -1, 90, 152.5, -0.25, 1e-7, 1e21, -123456.789, r.normal(), r.normal() * 1e-12, r.normal() * 1e12]);

/** Any state. */
function any(r: Random): State {
  const page = r.pick(pages);
  const s = empty(page, page === 'runs' ? '' : page === 'run' || r.chance(0.7) ? 'x' + r.text(8) : '');
  const maybe = <T>(f: () => T): T | null => (r.chance(0.5) ? f() : null);
  const word = () => r.text(12) || 'w';
  s.i = maybe(() => r.int(2 ** 31));
  s.g = maybe(() => Array.from({ length: 1 + r.int(4) }, () => coordinate(r)));
  s.a = maybe(word);
  s.b = maybe(word);
  s.s = maybe(word);
  s.poly = maybe(() => tidy(Array.from({ length: 2 * (3 + r.int(100)) }, () => r.normal()))!);
  s.dr = maybe(() => r.pick(layouts));
  s.by = maybe(word);
  s.map = maybe(() => r.pick(colorMaps));
  s.m = maybe(word);
  s.ref = maybe(() => r.pick(references));
  s.cmp = maybe(() => r.pick(comparisons));
  s.live = maybe(() => r.chance(0.5));
  for (let k = r.int(4); k > 0; k--) {
    const key = 'k' + k + r.text(5);
    if (!s.extra.some(([other]) => other === key)) s.extra.push([key, r.text(9)]);
  }
  return s;
}

test('fuzz: parse(format(s)) = s', () => {
  for (let round = 0; round < 3000; round++) {
    const s = any(r0);
    const hash = format(s);
    const got = parse(hash);
    assert.deepEqual(got.notices, [], hash);
    assert.deepEqual(got.state, s, hash);
    assert.match(hash, /^[!-~]*$/);
    assert.doesNotThrow(() => new URL('http://localhost/x/' + hash));
    assert.equal(new URL('http://localhost/x/' + hash).hash, hash.length > 1 ? hash : '', 'a browser keeps the hash as it is');
  }
});

test('fuzz: parse never throws, and what it understood is written back the same', () => {
  const r = new Random(12);
  for (let round = 0; round < 5000; round++) {
    let hash = r.chance(0.5) ? '#/' + r.text(60) : format(any(r));
    for (let k = r.int(5); k > 0; k--) {
      const at = r.int(hash.length + 1);
      hash = hash.slice(0, at) + r.pick(['%', '&', '=', '?', '#', ',', '+', '\ud800', 'i=', '%E0', '-', '9', 'e', '/', '']) + hash.slice(at + r.int(3));
    }
    const { state } = parse(hash);
    const again = parse(format(state));
    assert.deepEqual(again.state, state, hash);
    assert.deepEqual(again.notices, [], hash);
  }
});

/** Twice the signed area. */
function area(p: readonly number[]): number {
  let a = 0;
  for (let k = 0, j = p.length - 2; k < p.length; j = k, k += 2) a += p[j]! * p[k + 1]! - p[k]! * p[j + 1]!;
  return a;
}

test('a lasso gets at most 60 vertices, few digits and nearly the same area', () => {
  const r = new Random(13);
  for (let round = 0; round < 100; round++) {
    const [n, scale, x0, y0, wave] = [3 + r.int(600), 10 ** (r.int(13) - 6), 5 * r.normal(), 5 * r.normal(), r.int(6)];
    const p: number[] = [];
    for (let k = 0; k < n; k++) {
      const t = (2 * Math.PI * k) / n;
      const rad = 1 + 0.2 * Math.sin(wave * t) + 0.002 * r.normal();
      p.push(scale * (x0 + rad * Math.cos(t)), scale * (y0 + rad * Math.sin(t)));
    }
    const q = tidy(p)!;
    assert.ok(q.length <= 120 && q.length >= 6);
    assert.deepEqual(tidy(q), q, 'a second time changes nothing');
    const [before, after] = [area(p), area(q)];
    assert.ok(Math.abs(after - before) < 0.02 * Math.abs(before), `n=${n}: ${before} became ${after}`);
    if (scale === 1) assert.ok(q.join().length < 900, q.join());
  }
  assert.equal(tidy([0, 0, 1, 1]), null);
  assert.equal(tidy([1, 1, 1, 1, 1, 1, 1, 1]), null);
  assert.equal(tidy([0, 0, NaN, 1, 1, 1]), null);
  assert.deepEqual(tidy([0, 0, 1.00004, 0, 1, 0.99996]), [0, 0, 1, 0, 1, 1]);
  const trail = Array.from({ length: 200_000 }, (_, k) => Math.sin(k / 31830 + (k % 2)) + 0.001 * r.normal());
  const t0 = performance.now();
  assert.ok(tidy(trail)!.length <= 120);
  assert.ok(performance.now() - t0 < 2000, 'a long trail takes no long time');
});

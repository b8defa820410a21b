import { test } from 'node:test';
import assert from 'node:assert/strict';
import { polygonContains } from 'd3-polygon';
import { codes, colorize, luts, type Mark } from './color';
import { cells, fit, hash, lasso, paint, radius, scatter, stamp, type Scatter } from './raster';
import { Random } from './random';

/** The pixels as text: a dot for nothing, else the lowest hexadecimal digit of the color. */
const picture = (px: Uint32Array, w: number) =>
  Array.from({ length: px.length / w }, (_, y) => [...px.subarray(y * w, (y + 1) * w)].map((p) => (p === 0 ? '.' : (p & 15).toString(16))).join(''));

const at = { sx: 1, ox: 0, sy: 1, oy: 0 };
const spec = (s: Partial<Scatter>): Scatter => ({ width: 7, height: 5, xy: [], at, colors: new Uint32Array(9).fill(1), mask: null, dim: 2, radius: 1, ...s });
const draw = (s: Scatter) => {
  const px = new Uint32Array(s.width * s.height).fill(15);
  const count = scatter(px, s);
  return { rows: picture(px, s.width), px, ...count };
};

test('marks', () => {
  const show = (mark: Mark, r: number) => {
    const w = 2 * r + 1;
    const px = new Uint32Array(w * w);
    const t = stamp(mark, r);
    for (let k = 0; k < t.length; k += 3) for (let x = t[k + 1]!; x <= t[k + 2]!; x++) px[(t[k]! + r) * w + x + r] = 1;
    return picture(px, w).join('/');
  };
  assert.equal(show('disc', 1), '.1./111/.1.');
  assert.equal(show('disc', 2), '.111./11111/11111/11111/.111.');
  assert.equal(show('square', 2), '11111/11111/11111/11111/11111');
  assert.equal(show('diamond', 2), '..1../.111./11111/.111./..1..');
  assert.equal(show('triangle', 2), '..1../..1../.111./.111./11111');
  assert.equal(show('cross', 2), '1...1/.1.1./..1../.1.1./1...1');
  assert.equal(show('ring', 3), '..111../.11111./11...11/11...11/11...11/.11111./..111..');
  for (const m of ['disc', 'square', 'diamond', 'triangle', 'cross', 'ring'] as const) assert.equal(show(m, 0), '1', m);
});

test('an outline lies around chosen points and below all of them', () => {
  const got = draw(spec({ xy: [2, 2, 3, 2], colors: Uint32Array.of(3, 4), rim: { color: 9, step: 1 } }));
  assert.deepEqual(got.rows, ['..99...', '.9349..', '93444..'.replace('..', '9.'), '.9349..', '..99...']);
  assert.deepEqual([got.drawn, got.chosen], [2, 2], 'each point counts once');
  const masked = draw(spec({ xy: [3, 2, 0, 0], colors: Uint32Array.of(3, 4), mask: Uint8Array.of(1, 0), rim: { color: 9, step: 1 } }));
  assert.deepEqual(masked.rows, ['2..9...', '..939..', '.93339.', '..939..', '...9...'], 'a dimmed one has none');
});

test('points are drawn in order, chosen ones last, and clipped at the edge', () => {
  const got = draw(spec({ xy: [2, 2, 3, 2, 6, 4, -1, 0, -2.5, 2], colors: Uint32Array.of(3, 4, 5, 6, 7) }));
  assert.deepEqual(got.rows, ['6......', '..34...', '.3444..', '..34..5', '.....55']);
  assert.deepEqual([got.drawn, got.chosen], [4, 4]);
  const masked = draw(spec({ xy: [3, 2, 2, 2], colors: Uint32Array.of(3, 4), mask: Uint8Array.of(1, 0) }));
  assert.deepEqual(masked.rows, ['.......', '...3...', '..333..', '...3...', '.......']);
  assert.deepEqual([masked.drawn, masked.chosen], [2, 1]);
  const dimmed = draw(spec({ xy: [3, 2, 1, 2], mask: Uint8Array.of(1, 0) }));
  assert.equal(dimmed.rows[2], '.2111..', 'a dimmed mark is smaller');
  const shapes = draw(spec({ xy: [1, 1, 4, 1], shapes: ['disc', 'cross'], marks: Uint8Array.of(0, 1) }));
  assert.deepEqual(shapes.rows.slice(0, 3), ['.1.1.1.', '111.1..', '.1.1.1.']);
});

test('points that are not finite, or far away, are not drawn', () => {
  for (const r of [0, 1, 3]) {
    const xy = [NaN, 1, 1, NaN, Infinity, 1, 1, -Infinity, 2 ** 32 + 1, 1, 1, -(2 ** 32) + 1, 1e300, 1];
    const got = draw(spec({ xy, radius: r, colors: new Uint32Array(7).fill(1) }));
    assert.equal(got.drawn, 0);
    assert.ok(got.rows.every((row) => row === '.......'));
  }
});

test('the fast way for marks within the canvas draws what the careful way draws', () => {
  const r = new Random(5);
  for (let round = 0; round < 40; round++) {
    const n = 30;
    const s = spec({ width: 24, height: 18, radius: r.int(5), xy: Float32Array.from({ length: 2 * n }, () => 40 * r.float() - 8), colors: Uint32Array.from({ length: n }, (_, i) => i + 1), mask: Uint8Array.from({ length: n }, () => r.int(2)), shapes: ['disc', 'diamond'], marks: Uint8Array.from({ length: n }, () => r.int(2)) });
    // Slow reference: every pixel asks every mark, the last one wins.
    const want = new Uint32Array(24 * 18);
    for (const pass of [0, 1]) for (let i = 0; i < n; i++) {
      if (s.mask![i] !== pass) continue;
      const t = pass === 0 ? stamp('disc', Math.floor(s.radius * 0.6)) : stamp(s.shapes![s.marks![i]!]!, s.radius);
      for (let k = 0; k < t.length; k += 3) for (let x = t[k + 1]!; x <= t[k + 2]!; x++) {
        const [px, py] = [Math.floor(s.xy[2 * i]!) + x, Math.floor(s.xy[2 * i + 1]!) + t[k]!];
        if (px >= 0 && px < 24 && py >= 0 && py < 18) want[py * 24 + px] = pass ? i + 1 : 2;
      }
    }
    assert.deepEqual(picture(draw(s).px, 24), picture(want, 24));
  }
});

test('golden pixels', () => {
  const n = 5000;
  const r = new Random(6);
  const xy = Float32Array.from({ length: 2 * n }, () => r.float() + r.float() + r.float()); // no cosine, which need not agree to the last bit
  const v = Float32Array.from({ length: n }, (_, i) => (i % 97 === 0 ? NaN : r.float()));
  const mask = Uint8Array.from({ length: n }, () => r.int(2));
  const hashes = [1, 2].map((dpr) => {
    const [w, h] = [320 * dpr, 240 * dpr];
    const px = new Uint32Array(w * h);
    scatter(px, { width: w, height: h, xy, at: fit(xy, w, h, 12 * dpr), colors: colorize(v, { lo: 0, hi: 1 }, luts.viridis, 0xff808080), mask, dim: 0xffd9d6d3, radius: radius(n, dpr) });
    return hash(px);
  });
  // Written by this test once the pictures had been looked at.
  assert.deepEqual(hashes, ['6c96fee8', '9f4b536f']);
  const map = new Uint32Array(100 * 60);
  cells(map, 100, 60, paint(Uint8Array.from({ length: 65 * 65 }, (_, i) => i % 256), codes(0, 1, { lo: 0, hi: 1 }, luts.puor, 0)), 65, 65);
  assert.equal(hash(map), 'abf03658');
});

test('fit shows every point', () => {
  const r = new Random(7);
  for (let round = 0; round < 200; round++) {
    const scale = 10 ** (r.int(40) - 20);
    const xy = Float64Array.from({ length: 2 * (1 + r.int(20)) }, () => scale * (r.normal() + 3));
    const [w, h] = [50 + r.int(500), 50 + r.int(500)];
    const p = fit(xy, w, h, 10);
    for (let k = 0; k < xy.length; k += 2) {
      const [x, y] = [xy[k]! * p.sx + p.ox, xy[k + 1]! * p.sy + p.oy];
      assert.ok(x >= 9.9 && x <= w - 9.9 && y >= 9.9 && y <= h - 9.9, `${x} ${y} of ${w} ${h}`);
    }
    assert.equal(p.sy, -p.sx);
  }
  assert.deepEqual(fit([NaN, 1], 10, 20), { sx: 1, ox: 5, sy: -1, oy: 10 });
  assert.deepEqual(fit([3, 4], 10, 20), { sx: 1, ox: 2, sy: -1, oy: 14 });
});

test('radius', () => {
  let last = Infinity;
  for (const n of [1, 600, 5000, 20_000, 100_000, 1_000_000]) {
    assert.ok(radius(n, 1) <= last && radius(n, 2) >= radius(n, 1));
    last = radius(n, 1);
  }
  assert.equal(last, 0);
});

test('a lasso chooses what lies in the polygon', () => {
  const r = new Random(8);
  for (let round = 0; round < 60; round++) {
    const m = 3 + r.int(58);
    const poly: number[] = [];
    // Also crossing itself.
    for (let k = 0; k < m; k++) poly.push(r.normal(), r.normal());
    const n = 400;
    const xy = Float32Array.from({ length: 2 * n }, (_, k) => (k % 50 === 0 ? NaN : r.normal()));
    const within = Uint8Array.from({ length: n }, () => r.int(2));
    const mask = new Uint8Array(n).fill(7);
    const count = lasso(xy, poly, mask);
    const pairs = Array.from({ length: m }, (_, k) => [poly[2 * k]!, poly[2 * k + 1]!] as [number, number]);
    let want = 0;
    for (let i = 0; i < n; i++) {
      const p: [number, number] = [xy[2 * i]!, xy[2 * i + 1]!];
      const inside = p.every(Number.isFinite) && polygonContains(pairs, p) ? 1 : 0;
      assert.equal(mask[i], inside, `${p} in ${m}`);
      want += inside;
    }
    assert.equal(count, want);
    const both = new Uint8Array(n);
    lasso(xy, poly, both, within);
    both.forEach((v, i) => assert.equal(v, mask[i]! & within[i]!));
  }
});

test('a lasso without area chooses nothing, two that share an edge never both choose', () => {
  const xy = Float32Array.of(0, 0, 0.5, 0, 0.5, 0.5, 1, 1);
  const mask = new Uint8Array(4);
  for (const poly of [[], [0, 0, 1, 1], [0, 0, 1, 0, 0.5, 0], [0, 0, 0, 1, 0, 2], [NaN, 0, 1, 0, 1, 1]]) assert.equal(lasso(xy, poly, mask.fill(1)), 0, String(poly));
  const grid = Float32Array.from({ length: 2 * 81 }, (_, k) => ((k % 2 ? Math.floor(k / 18) : (k >> 1) % 9) / 8));
  const [left, right] = [new Uint8Array(81), new Uint8Array(81)];
  lasso(grid, [-1, -1, 0.5, -1, 0.5, 2, -1, 2], left);
  lasso(grid, [0.5, -1, 2, -1, 2, 2, 0.5, 2], right);
  left.forEach((v, i) => assert.equal(v + right[i]!, 1, `point ${i}`));
});

test('a map shows the cell in which the middle of a pixel lies', () => {
  const r = new Random(9);
  for (let round = 0; round < 30; round++) {
    const [w, h, c, rows] = [1 + r.int(30), 1 + r.int(30), 1 + r.int(12), 1 + r.int(12)];
    const colors = Uint32Array.from({ length: c * rows }, () => r.next());
    const px = new Uint32Array(w * h).fill(3);
    cells(px, w, h, colors, c, rows);
    for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) assert.equal(px[y * w + x], colors[Math.floor(((y + 0.5) * rows) / h) * c + Math.floor(((x + 0.5) * c) / w)]);
  }
  assert.throws(() => cells(new Uint32Array(4), 2, 2, new Uint32Array(3), 2, 2), /2 × 2 cells, and 3 colors/);
});

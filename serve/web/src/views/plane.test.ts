import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as P from './plane';

/** A small generator with a seed (mulberry32), so that a failure can be repeated. */
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function cloud(n: number, seed: number): Float32Array {
  const r = random(seed), xy = new Float32Array(2 * n);
  for (let i = 0; i < xy.length; i++) xy[i] = r() * 4 - 2;
  for (let i = 7; i < n; i += 41) xy[2 * i] = xy[2 * i + 1] = NaN;
  return xy;
}

test('bounds leaves out what has no place', () => {
  assert.deepEqual(P.bounds([1, 2, NaN, NaN, -3, 5]), { x0: -3, y0: 2, x1: 1, y1: 5, n: 2 });
  assert.equal(P.bounds([NaN, NaN]).n, 0);
});

test('fit keeps one scale and stays inside the margin', () => {
  const b = { x0: 0, y0: 0, x1: 10, y1: 2, n: 3 }, t = P.fit(b, 220, 120, 10, P.unzoomed);
  assert.equal(t.sx, 20);
  assert.equal(t.sy, -20);
  assert.deepEqual(P.project([0, 0, 10, 2], t), [10, 80, 210, 40]);
});

test('a single sample lies in the middle', () => {
  const t = P.fit(P.bounds([3, 4]), 200, 100, 10, P.unzoomed);
  assert.deepEqual(P.px([3, 4], 0, t), [100, 50]);
});

test('zoomAt holds the point under the pointer', () => {
  const b = { x0: -1, y0: -1, x1: 1, y1: 1, n: 9 }, r = random(1);
  let z = P.unzoomed;
  for (let k = 0; k < 200; k++) {
    const x = r() * 300, y = r() * 200, before = P.fit(b, 300, 200, 8, z), d = P.unproject([x, y], before);
    z = P.zoomAt(z, Math.exp(r() * 2 - 1), x, y, 300, 200);
    const after = P.project(d, P.fit(b, 300, 200, 8, z));
    const slack = 1e-6 * z.k;
    assert.ok(Math.hypot(after[0] - x, after[1] - y) < slack, `${k}: ${after} is not ${x},${y}`);
    assert.ok(z.k >= P.zoomRange[0] && z.k <= P.zoomRange[1]);
  }
});

test('two fingers that move alike shift, and that part scale', () => {
  const shift = P.pinch(P.unzoomed, [10, 10], [50, 10], [15, 17], [55, 17], 100, 100);
  assert.deepEqual(shift, { k: 1, x: 5, y: 7 });
  const scale = P.pinch(P.unzoomed, [40, 50], [60, 50], [30, 50], [70, 50], 100, 100);
  assert.deepEqual(scale, { k: 2, x: 0, y: 0 });
});

test('arrow keys lead to what the eye expects', () => {
  //        3
  //   0    1    2        4 has no place
  const xy = [0, 0, 10, 0, 20, 0, 10, 10, NaN, NaN], t = { sx: 1, ox: 0, sy: -1, oy: 0 };
  const go = (s: number, dx: number, dy: number, m: number[] | null = null) => P.neighbor(xy, m, s, dx, dy, t, 10, 0);
  assert.equal(go(0, 1, 0), 1);
  assert.equal(go(1, 1, 0), 2);
  assert.equal(go(1, -1, 0), 0);
  assert.equal(go(1, 0, -1), 3, 'up on the screen is larger y in data');
  assert.equal(go(3, 0, 1), 1);
  assert.equal(go(2, 1, 0), -1, 'nothing further right');
  assert.equal(go(0, 1, 0, [1, 0, 1, 1, 1]), 2, 'passes over what is outside the slice');
  assert.equal(go(4, 1, 0), 1, 'from nowhere to the middle');
  const steep = [0, 0, 1, 30];
  assert.equal(P.neighbor(steep, null, 0, 1, 0, t, 0, 0), 1, 'the half plane, if the quarter is empty');
});

test('every point is reached by arrows from every other, unless it is hidden', () => {
  const r = random(5), n = 40, xy = new Float32Array(2 * n).map(() => r() * 300), t = { sx: 1, ox: 0, sy: -1, oy: 300 };
  for (let s = 0; s < n; s += 13) {
    const seen = new Set([s]), queue = [s];
    for (let q = queue.pop(); q !== undefined; q = queue.pop()) {
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        const i = P.neighbor(xy, null, q, dx, dy, t, 150, 150);
        if (i >= 0 && !seen.has(i)) { seen.add(i); queue.push(i); }
      }
    }
    assert.ok(seen.size > 0.9 * n, `${seen.size} of ${n} from ${s}`);
  }
});

test('the tree finds what a scan finds', () => {
  const xy = cloud(3000, 2), b = P.bounds(xy), q = P.tree(xy, b), r = random(3);
  P.add(q, 0, 1000);
  P.add(q, 1000, 3000);
  const mask = new Uint8Array(3000).map(() => (r() < 0.6 ? 1 : 0));
  for (let k = 0; k < 300; k++) {
    const t = P.fit(b, 500, 400, 12, P.zoomAt(P.unzoomed, 1 + 5 * r(), 500 * r(), 400 * r(), 500, 400));
    const x = r() * 500, y = r() * 400, m = k % 2 ? mask : null, radius = k % 3 ? 14 : Infinity;
    assert.equal(P.nearest(q, xy, m, x, y, radius, t), P.scanNearest(xy, m, x, y, radius, t), `${k}`);
  }
});

test('an empty cloud has no nearest point', () => {
  const xy = new Float32Array([NaN, NaN]), q = P.tree(xy, P.bounds(xy)), t = P.fit(P.bounds(xy), 10, 10, 1, P.unzoomed);
  P.add(q, 0, 1);
  assert.equal(P.nearest(q, xy, null, 5, 5, 100, t), -1);
});

test('nearestK counts the sample itself and keeps to the slice', () => {
  const xy = [0, 0, 1, 0, 2, 0, 1, 0, NaN, NaN];
  assert.deepEqual(P.nearestK(xy, null, 0, 3), [0, 1, 3]);
  assert.deepEqual(P.nearestK(xy, [0, 0, 1, 1, 1], 0, 9), [0, 3, 2]);
  assert.deepEqual(P.nearestK(xy, null, 4, 3), []);
});

test('together counts what a picture shows as one point', () => {
  assert.equal(P.together([0, 0, 0.001, 0, 1, 0], null, 0, { sx: 100, ox: 0, sy: -100, oy: 0 }), 2);
});

test('project undoes unproject', () => {
  const t = { sx: 37, ox: 120, sy: -37, oy: 80 }, p = [13, 200, 77.5, 0];
  P.project(P.unproject(p, t), t).forEach((v, i) => assert.ok(Math.abs(v - p[i]) < 1e-9));
});

test('labels do not lie on each other', () => {
  const r = random(4), labels = Array.from({ length: 12 }, () => [100 + 60 * r(), 80 + 40 * r(), 14] as const), out = P.spread(labels, 15);
  for (let a = 0; a < 12; a++) {
    assert.equal(out[a][0], labels[a][0], 'labels stay over their points');
    for (let b = a + 1; b < 12; b++) assert.ok(Math.abs(out[a][0] - out[b][0]) >= 14 || Math.abs(out[a][1] - out[b][1]) >= 14, `${a} ${b}`);
  }
  assert.deepEqual(P.spread([[1, 2, 9], [100, 2, 9]], 15), [[1, 2], [100, 2]]);
  assert.deepEqual(P.spread([[5, 5, 9], [5, 5, 9]], 10).map((p) => p[1]), [0, 10]);
});

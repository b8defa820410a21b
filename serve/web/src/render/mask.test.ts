import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { classColor, drawMask, iou, meanIoU, nothing, tally, voidColor } from './mask';

interface Case {
  got: number[];
  want: number[];
  iou: (number | null)[];
  mean: number | null;
}

test('IoU by class is that of the metrics', () => {
  const cases = JSON.parse(readFileSync('testdata/masks.json', 'utf8')) as Case[];
  assert.ok(cases.length > 10);
  const same = (v: number, want: number | null, what: string) => (want === null ? assert.ok(Number.isNaN(v), what) : assert.ok(Math.abs(v - want) < 1e-12, `${what}: ${v}, want ${want}`));
  cases.forEach((c, k) => {
    const t = tally(Int32Array.from(c.got), Int32Array.from(c.want));
    c.iou.forEach((want, l) => same(t ? iou(t.get(l)) : NaN, want, `case ${k}, class ${l}`));
    same(meanIoU(t), c.mean, `case ${k}, mean`);
  });
});

test('masks of two sizes are not compared', () => assert.equal(tally(Int32Array.of(1), Int32Array.of(1, 1)), null));

test('a hundred classes have a hundred colours, and none is that of void', () => {
  const all = Array.from({ length: 100 }, (_, c) => classColor(c) >>> 0);
  assert.equal(new Set(all).size, 100);
  assert.ok(all.every((c) => c >>> 24 === 255) && !all.includes(voidColor));
  assert.equal(classColor(nothing), voidColor);
});

test('what is wrong is drawn in the class that was answered, and void is no fault', () => {
  const out = new Uint32Array(4);
  drawMask({ labels: Int32Array.of(1, 1, 2, 2), reference: Int32Array.of(1, 2, nothing, 2), show: 'wrong' }, out);
  assert.equal(out[1], classColor(1) >>> 0);
  assert.equal(out[2], voidColor);
  assert.equal(out[0], out[3]);
  assert.notEqual(out[0], out[1]);
  drawMask({ labels: Int32Array.of(1, 1, 2, 2), show: 'classes', only: 2 }, out);
  assert.equal(out[2], classColor(2) >>> 0);
  assert.notEqual(out[0], classColor(1) >>> 0);
});

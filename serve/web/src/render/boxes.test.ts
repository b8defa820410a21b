import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Box } from '../core/source';
import { Random } from '../core/random';
import { clipped, corners, iou, opacity, strokeWidth } from './boxes';

const box = (x1: number, y1: number, x2: number, y2: number, angle = 0): Box => ({ x1, y1, x2, y2, angle, score: 1, label: 0 });
const near = (a: number, b: number, tol = 1e-9) => assert.ok(Math.abs(a - b) <= tol, `${a} is not ${b}`);

test('overlap by hand, in continuous coordinates', () => {
  near(iou(box(0, 0, 2, 2), box(1, 1, 3, 3)), 1 / 7);
  near(iou(box(0, 0, 4, 4), box(0, 0, 4, 2)), 0.5);
  assert.equal(iou(box(0, 0, 1, 1), box(1, 0, 2, 1)), 0);
  assert.equal(iou(box(0, 0, 0, 5), box(0, 0, 0, 5)), 0); // nothing in it
  assert.equal(iou(box(3, 0, 1, 5), box(0, 0, 5, 5)), 0); // inside out
  assert.ok(Number.isNaN(iou(box(NaN, 0, 1, 1), box(0, 0, 1, 1))));
});

test('turned boxes: a quarter turn exchanges the sides, a square in a square turned by 45 degrees is an octagon', () => {
  near(iou(box(0, 1, 4, 3, 90), box(1, 0, 3, 4)), 1);
  const octagon = 8 * (Math.SQRT2 - 1); // of a square of side 2 with itself, turned
  near(iou(box(-1, -1, 1, 1, 45), box(-1, -1, 1, 1)), octagon / (8 - octagon), 1e-9);
  const [x, y] = corners(box(-2, -1, 2, 1, 90))[1]; // the right top corner goes counter-clockwise, to the left top
  near(x, -1);
  near(y, -2);
});

test('it is symmetric, at most 1, and does not depend on where both lie', () => {
  const r = new Random(5);
  for (let k = 0; k < 300; k++) {
    const one = () => { const [x, y] = [r.float() * 20, r.float() * 20]; return box(x, y, x + r.float() * 15, y + r.float() * 15, k % 2 ? r.float() * 360 : 0); };
    const [a, b] = [one(), one()];
    const v = iou(a, b);
    assert.ok(v >= 0 && v <= 1 + 1e-9);
    near(v, iou(b, a), 1e-7);
    const move = (c: Box) => ({ ...c, x1: c.x1 + 7, x2: c.x2 + 7, y1: c.y1 - 3, y2: c.y2 - 3 });
    near(v, iou(move(a), move(b)), 1e-7);
  }
});

test('what lies outside the picture is cut off; drawings grow with score and overlap', () => {
  assert.deepEqual(clipped(box(-5, 2, 30, 40), 16, 12), box(0, 2, 16, 12));
  assert.deepEqual(clipped(box(-5, 2, 30, 40, 10), 16, 12), box(-5, 2, 30, 40, 10));
  assert.ok(opacity(0) > 0.1 && opacity(0.5) > opacity(0.2) && opacity(7) === 1 && opacity(NaN) > 0);
  assert.deepEqual([0, 0.5, 1, NaN].map(strokeWidth), [1, 3, 5, 1]);
});

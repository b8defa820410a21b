// Geometry of the scatter: pure functions of points, which are N x 2 in one array with NaN where a sample has no place.

import { quadtree, type Quadtree, type QuadtreeLeaf } from 'd3-quadtree';

/** From data to CSS pixels: x·sx + ox, y·sy + oy. sy is negative, since y points up in data. */
export interface Transform {
  sx: number;
  ox: number;
  sy: number;
  oy: number;
}

/** What the reader did to the fitted picture: a zoom factor and a shift in CSS pixels. */
export interface Zoom {
  k: number;
  x: number;
  y: number;
}

export interface Bounds {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  /** Points with a place. */
  n: number;
}

export const unzoomed: Zoom = { k: 1, x: 0, y: 0 };

/** Zoom factors outside of these show nothing that helps. */
export const zoomRange: readonly [number, number] = [0.5, 4000];

/** bounds is the box around all points that have a place; n is 0 and the box is that of the unit square without any. */
export function bounds(xy: ArrayLike<number>): Bounds {
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity, n = 0;
  for (let i = 0; i + 1 < xy.length; i += 2) {
    const x = xy[i], y = xy[i + 1];
    if (!(Number.isFinite(x) && Number.isFinite(y))) continue;
    n++;
    if (x < x0) x0 = x;
    if (x > x1) x1 = x;
    if (y < y0) y0 = y;
    if (y > y1) y1 = y;
  }
  return n ? { x0, y0, x1, y1, n } : { x0: 0, y0: 0, x1: 1, y1: 1, n: 0 };
}

/**
 * fit puts a box into a picture of w x h CSS pixels with a margin, at one scale for both axes, since distances in an embedding mean
 * something; then the reader's zoom. A box without extent (one sample, or all alike) is put in the middle.
 */
export function fit(b: Bounds, w: number, h: number, margin: number, z: Zoom): Transform {
  const bw = b.x1 - b.x0, bh = b.y1 - b.y0;
  let s = Math.min(bw > 0 ? (w - 2 * margin) / bw : Infinity, bh > 0 ? (h - 2 * margin) / bh : Infinity);
  if (!Number.isFinite(s) || s <= 0) s = 1;
  s *= z.k;
  return { sx: s, ox: w / 2 - s * (b.x0 + b.x1) / 2 + z.x, sy: -s, oy: h / 2 + s * (b.y0 + b.y1) / 2 + z.y };
}

/** zoomAt multiplies the zoom by f so that the point under (x, y), in CSS pixels of a picture of w x h, stays where it is. */
export function zoomAt(z: Zoom, f: number, x: number, y: number, w: number, h: number): Zoom {
  const k = Math.min(zoomRange[1], Math.max(zoomRange[0], z.k * f)), q = k / z.k;
  return { k, x: x - w / 2 - q * (x - w / 2 - z.x), y: y - h / 2 - q * (y - h / 2 - z.y) };
}

/** pinch is the zoom after two fingers went from a0, b0 to a1, b1 (CSS pixels): they scale and shift, and never turn. */
export function pinch(z: Zoom, a0: Point, b0: Point, a1: Point, b1: Point, w: number, h: number): Zoom {
  const d0 = Math.hypot(b0[0] - a0[0], b0[1] - a0[1]) || 1, d1 = Math.hypot(b1[0] - a1[0], b1[1] - a1[1]) || 1;
  const mx = (a0[0] + b0[0]) / 2, my = (a0[1] + b0[1]) / 2;
  const q = zoomAt(z, d1 / d0, mx, my, w, h);
  return { k: q.k, x: q.x + (a1[0] + b1[0]) / 2 - mx, y: q.y + (a1[1] + b1[1]) / 2 - my };
}

/** A place in CSS pixels. */
export type Point = readonly [number, number];

/** px is where point i lies, in CSS pixels; NaN if it has no place. */
export function px(xy: ArrayLike<number>, i: number, t: Transform): Point {
  return [xy[2 * i] * t.sx + t.ox, xy[2 * i + 1] * t.sy + t.oy];
}

/**
 * neighbor is the point that an arrow key leads to from point s: the nearest one within 45° of the direction (dx, dy), counting
 * sideways distance twice; if there is none, the nearest one in the half plane, counting it four times; -1 if there is none either.
 * Points outside the mask and points less than half a pixel ahead are passed over. Directions are those of the screen: y down.
 * From a sample without a place it leads to the point nearest to the middle of the picture, (cx, cy).
 */
export function neighbor(
  xy: ArrayLike<number>, mask: ArrayLike<number> | null, s: number, dx: number, dy: number, t: Transform, cx: number, cy: number,
): number {
  const n = xy.length / 2, X = xy[2 * s] * t.sx + t.ox, Y = xy[2 * s + 1] * t.sy + t.oy;
  if (!(Number.isFinite(X) && Number.isFinite(Y))) return scanNearest(xy, mask, cx, cy, Infinity, t);
  let best = -1, bd = Infinity, wide = -1, wd = Infinity;
  for (let i = 0; i < n; i++) {
    if (i === s || (mask && !mask[i])) continue;
    const ex = xy[2 * i] * t.sx + t.ox - X, ey = xy[2 * i + 1] * t.sy + t.oy - Y;
    const f = ex * dx + ey * dy;
    if (!(f > 0.5)) continue; // also points without a place
    const o = Math.abs(ex * dy - ey * dx);
    if (o <= f) {
      if (f + 2 * o < bd) { bd = f + 2 * o; best = i; }
    } else if (f + 4 * o < wd) { wd = f + 4 * o; wide = i; }
  }
  return best >= 0 ? best : wide;
}

/** scanNearest looks at every point; the nearest one within radius CSS pixels, the first of equals, or -1. */
export function scanNearest(
  xy: ArrayLike<number>, mask: ArrayLike<number> | null, x: number, y: number, radius: number, t: Transform,
): number {
  let best = -1, bd = radius * radius;
  for (let i = 0; 2 * i + 1 < xy.length; i++) {
    if (mask && !mask[i]) continue;
    const ex = xy[2 * i] * t.sx + t.ox - x, ey = xy[2 * i + 1] * t.sy + t.oy - y, d = ex * ex + ey * ey;
    if (d < bd || (d === bd && best < 0)) { bd = d; best = i; }
  }
  return best;
}

/** A tree over indexes of points, in data coordinates. */
export type Tree = Quadtree<number>;

/** tree starts an empty tree that covers the box; add fills it, in as many steps as the caller likes. */
export function tree(xy: ArrayLike<number>, b: Bounds): Tree {
  const q = quadtree<number>().x((i) => xy[2 * i]).y((i) => xy[2 * i + 1]);
  return b.n ? q.cover(b.x0, b.y0).cover(b.x1, b.y1) : q;
}

/** add puts the points from..to into a tree; points without a place are passed over. */
export function add(q: Tree, from: number, to: number): void {
  for (let i = from; i < to; i++) q.add(i);
}

/** nearest is scanNearest with a tree over all points: the same answer, sooner. */
export function nearest(
  q: Tree, xy: ArrayLike<number>, mask: ArrayLike<number> | null, x: number, y: number, radius: number, t: Transform,
): number {
  const X = (x - t.ox) / t.sx, Y = (y - t.oy) / t.sy, ax = Math.abs(t.sx), ay = Math.abs(t.sy);
  let best = -1, bd = radius * radius;
  q.visit((node, x0, y0, x1, y1) => {
    const gx = X < x0 ? x0 - X : X > x1 ? X - x1 : 0, gy = Y < y0 ? y0 - Y : Y > y1 ? Y - y1 : 0;
    if (gx * gx * ax * ax + gy * gy * ay * ay > bd) return true;
    if (node.length) return false;
    for (let leaf: QuadtreeLeaf<number> | undefined = node; leaf; leaf = leaf.next) {
      const i = leaf.data;
      if (mask && !mask[i]) continue;
      const ex = xy[2 * i] * t.sx + t.ox - x, ey = xy[2 * i + 1] * t.sy + t.oy - y, d = ex * ex + ey * ey;
      if (d < bd || (d === bd && (best < 0 || i < best))) { bd = d; best = i; }
    }
    return false;
  });
  return best;
}

/** nearestK is the k points of the mask nearest to point s, s first; ties by index. Fewer if there are not so many; none without a place. */
export function nearestK(xy: ArrayLike<number>, mask: ArrayLike<number> | null, s: number, k: number): number[] {
  const X = xy[2 * s], Y = xy[2 * s + 1];
  if (!(Number.isFinite(X) && Number.isFinite(Y)) || k <= 0) return [];
  const n = xy.length / 2, d = new Float64Array(n), all: number[] = [];
  for (let i = 0; i < n; i++) {
    if (i !== s && mask && !mask[i]) continue;
    d[i] = i === s ? -1 : (xy[2 * i] - X) ** 2 + (xy[2 * i + 1] - Y) ** 2;
    if (d[i] === d[i]) all.push(i);
  }
  all.sort((a, b) => d[a] - d[b] || a - b);
  return all.slice(0, k);
}

/** together is how many points of the mask lie within half a pixel of point s, s included: a picture shows them as one. */
export function together(xy: ArrayLike<number>, mask: ArrayLike<number> | null, s: number, t: Transform): number {
  const [X, Y] = px(xy, s, t);
  let n = 0;
  for (let i = 0; 2 * i + 1 < xy.length; i++) {
    if (mask && !mask[i]) continue;
    if (Math.abs(xy[2 * i] * t.sx + t.ox - X) <= 0.5 && Math.abs(xy[2 * i + 1] * t.sy + t.oy - Y) <= 0.5) n++;
  }
  return n;
}

/** unproject turns a polygon in CSS pixels into data coordinates. */
export function unproject(poly: readonly number[], t: Transform): number[] {
  return poly.map((v, i) => (i % 2 ? (v - t.oy) / t.sy : (v - t.ox) / t.sx));
}

/** project is the other way round. */
export function project(poly: readonly number[], t: Transform): number[] {
  return poly.map((v, i) => (i % 2 ? v * t.sy + t.oy : v * t.sx + t.ox));
}

/** box is the rectangle of two opposite corners, as a polygon. */
export function box(a: Point, b: Point): number[] {
  return [a[0], a[1], b[0], a[1], b[0], b[1], a[0], b[1]];
}

/**
 * spread moves labels up and down until no two overlap, the least that does it in a few rounds. Labels are x, y and width around a
 * middle; height is that of a line.
 */
export function spread(labels: readonly (readonly [x: number, y: number, w: number])[], height: number): [number, number][] {
  const out = labels.map(([x, y]): [number, number] => [x, y]);
  for (let round = 0; round < 40; round++) {
    let moved = false;
    for (let a = 0; a < out.length; a++) {
      for (let b = a + 1; b < out.length; b++) {
        const dx = Math.abs(out[a][0] - out[b][0]) - (labels[a][2] + labels[b][2]) / 2, dy = out[b][1] - out[a][1];
        const lack = height - Math.abs(dy);
        if (!(dx < 0) || !(lack > 0.01)) continue;
        const s = (dy > 0 || (dy === 0 && a < b) ? 1 : -1) * (lack / 2);
        out[a][1] -= s;
        out[b][1] += s;
        moved = true;
      }
    }
    if (!moved) break;
  }
  return out;
}

/** path is a polygon as the points attribute of SVG wants it. */
export function path(poly: readonly number[]): string {
  const s: string[] = [];
  for (let i = 0; i + 1 < poly.length; i += 2) s.push(`${poly[i].toFixed(1)},${poly[i + 1].toFixed(1)}`);
  return s.join(' ');
}

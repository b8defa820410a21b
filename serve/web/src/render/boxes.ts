// Boxes as numbers: corners, overlap, and how they are drawn. Pure functions.

import type { Box } from '../core/source';

export type Point = readonly [number, number];

/** The corners of a box, in the order of a walk round it. An angle turns it about its centre, counter-clockwise as seen, y being downward. */
export function corners(b: Box): Point[] {
  const [cx, cy] = [(b.x1 + b.x2) / 2, (b.y1 + b.y2) / 2];
  const t = ((b.angle || 0) * Math.PI) / 180;
  const [c, s] = b.angle ? [Math.cos(t), Math.sin(t)] : [1, 0];
  return ([[b.x1, b.y1], [b.x2, b.y1], [b.x2, b.y2], [b.x1, b.y2]] as const).map(([x, y]) => [cx + c * (x - cx) + s * (y - cy), cy - s * (x - cx) + c * (y - cy)] as const);
}

const area = (p: readonly Point[]): number => {
  let t = 0;
  for (let i = 0; i < p.length; i++) {
    const [a, b] = [p[i], p[(i + 1) % p.length]];
    t += a[0] * b[1] - b[0] * a[1];
  }
  return Math.abs(t) / 2;
};

/** What of a convex polygon lies in another one (Sutherland and Hodgman 1974). */
function clip(p: readonly Point[], by: readonly Point[]): Point[] {
  let out = [...p];
  for (let i = 0; i < by.length && out.length; i++) {
    const [a, b] = [by[i], by[(i + 1) % by.length]];
    const side = (q: Point) => (b[0] - a[0]) * (q[1] - a[1]) - (b[1] - a[1]) * (q[0] - a[0]);
    const next: Point[] = [];
    for (let j = 0; j < out.length; j++) {
      const [q, r] = [out[j], out[(j + 1) % out.length]];
      const [s, t] = [side(q), side(r)];
      if (s >= 0) next.push(q);
      if (s >= 0 !== t >= 0) {
        const u = s / (s - t);
        next.push([q[0] + u * (r[0] - q[0]), q[1] + u * (r[1] - q[1])]);
      }
    }
    out = next;
  }
  return out;
}

const size = (b: Box): number => Math.max(0, b.x2 - b.x1) * Math.max(0, b.y2 - b.y1);

/** The area that two boxes share over that which they cover together, 0 to 1; 0 where a box is empty or inside out, NaN where a number is missing. */
export function iou(a: Box, b: Box): number {
  const [p, q] = [size(a), size(b)];
  if (Number.isNaN(p + q)) return NaN;
  if (!(p > 0 && q > 0)) return 0;
  const both = a.angle || b.angle ? area(clip(corners(a), corners(b))) : Math.max(0, Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1)) * Math.max(0, Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1));
  return both / (p + q - both);
}

/** The part of a box within a picture of w by h pixels, as references are compared; one that is turned stays whole. */
export const clipped = (b: Box, w: number, h: number): Box => (b.angle || !(w > 0 && h > 0) ? b : { ...b, x1: Math.max(0, Math.min(w, b.x1)), x2: Math.max(0, Math.min(w, b.x2)), y1: Math.max(0, Math.min(h, b.y1)), y2: Math.max(0, Math.min(h, b.y2)) });

/** How strongly a box is drawn: as opaque as the model is confident, never out of sight. */
export const opacity = (score: number): number => 0.25 + 0.75 * Math.max(0, Math.min(1, score || 0));

/** How wide its line is, in pixels of the screen: 1 without overlap, 5 where it covers the reference. */
export const strokeWidth = (overlap: number): number => 1 + 4 * Math.max(0, Math.min(1, overlap || 0));

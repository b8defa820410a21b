// Vector fields as numbers: errors, neighborhoods, arrows. Pure functions.

import type { Field } from '../core/source';

/** The end-point error of a prediction at every pixel: the length of the difference, in the unit of the vectors. Null if the sizes differ. */
export function errors(p: Field, q: Field): Float32Array | null {
  if (p.h !== q.h || p.w !== q.w) return null;
  const out = new Float32Array(p.h * p.w);
  for (let i = 0; i < out.length; i++) out[i] = Math.hypot(p.u[i] - q.u[i], p.v[i] - q.v[i]);
  return out;
}

/** Mean of the finite values, NaN if there is none, and the greatest. */
export function summary(v: ArrayLike<number>): { mean: number; most: number; bad: number } {
  let [t, n, most] = [0, 0, 0];
  for (let i = 0; i < v.length; i++) {
    if (!Number.isFinite(v[i])) continue;
    t += v[i];
    n++;
    if (v[i] > most) most = v[i];
  }
  return { mean: n ? t / n : NaN, most, bad: v.length - n };
}

/** The lengths of the vectors of a field. */
export const speeds = (f: Field): Float32Array => Float32Array.from(f.u, (u, i) => Math.hypot(u, f.v[i]));

/** The side of the neighborhood of which arrows are drawn, in pixels. */
export const side = 8;

/** The first row and column of the neighborhood of a pixel, which lies within the picture. */
export function neighborhood(h: number, w: number, r: number, c: number): [number, number] {
  const from = (n: number, at: number) => Math.max(0, Math.min(n - side, at - side / 2));
  return [from(h, r), from(w, c)];
}

/** An arrow from (x, y) to (x + dx, y + dy), in pixels of the picture measured from its edge. */
export interface Arrow {
  x: number;
  y: number;
  dx: number;
  dy: number;
  r: number;
  c: number;
}

/** Arrows from the centres of the pixels of a block, with `scale` pixels to the unit of the vectors. Vectors that are not finite are left out. */
export function quiver(f: Field, r0: number, c0: number, rows: number, columns: number, scale: number, every = 1): Arrow[] {
  const out: Arrow[] = [];
  for (let r = r0; r < Math.min(f.h, r0 + rows); r += every)
    for (let c = c0; c < Math.min(f.w, c0 + columns); c += every) {
      const [u, v] = [f.u[r * f.w + c], f.v[r * f.w + c]];
      if (Number.isFinite(u) && Number.isFinite(v)) out.push({ x: c + 0.5, y: r + 0.5, dx: u * scale, dy: v * scale, r, c });
    }
  return out;
}

/** The greatest length of vectors within a block, at least `least`. */
export function longest(fields: readonly (Field | undefined)[], r0: number, c0: number, rows: number, columns: number, least = 1e-9): number {
  let m = least;
  for (const f of fields) {
    if (!f) continue;
    for (let r = r0; r < Math.min(f.h, r0 + rows); r++)
      for (let c = c0; c < Math.min(f.w, c0 + columns); c++) {
        const l = Math.hypot(f.u[r * f.w + c], f.v[r * f.w + c]);
        if (l > m && l < Infinity) m = l;
      }
  }
  return m;
}

/**
 * A colour for a vector, as it is known of optical flow: the hue is the direction, and the longer it is, up to `most`, the less white is in it.
 * Right is red, up is green-yellow, left is cyan, down is violet. ABGR as rasters want it; grey for what is not finite.
 */
export function vectorColor(u: number, v: number, most: number): number {
  if (!Number.isFinite(u) || !Number.isFinite(v)) return 0xff808080;
  const hue = ((Math.atan2(-v, u) / (2 * Math.PI)) * 6 + 6) % 6;
  const s = Math.min(1, Math.hypot(u, v) / (most || 1));
  const channel = (n: number) => {
    const k = (n + hue) % 6;
    const full = Math.max(0, Math.min(1, Math.min(k, 4 - k)));
    return Math.round(255 * (1 - s * full));
  };
  return 0xff000000 | (channel(1) << 16) | (channel(3) << 8) | channel(5);
}

// Pictures and masks into pixels.

import type { Picture } from '../core/source';

/** Value of a picture at an offset, in its own unit. */
export const valueAt = (p: Picture, k: number): number => (p.data instanceof Uint8Array ? p.lo + (p.data[k] * (p.hi - p.lo)) / 255 : p.data[k]);

/** A picture as 32-bit pixels: grey for one channel, colour for three, the last as alpha left out for four; others by their first. */
export function pixels(p: Picture, out: Uint32Array, range: readonly [number, number] = [p.lo, p.hi]): void {
  const { h, w, c } = p;
  const scale = 255 / (range[1] - range[0] || 1);
  const byte = (k: number) => {
    const v = (valueAt(p, k) - range[0]) * scale;
    return v >= 255 ? 255 : v > 0 ? Math.round(v) : 0;
  };
  for (let i = 0; i < h * w; i++) {
    const k = i * c;
    if (c >= 3) out[i] = 0xff000000 | (byte(k + 2) << 16) | (byte(k + 1) << 8) | byte(k);
    else {
      const v = byte(k);
      out[i] = 0xff000000 | (v << 16) | (v << 8) | v;
    }
  }
}

/** Values through a table of 256 colours; missing ones are grey. */
export function mapped(values: ArrayLike<number>, range: readonly [number, number], table: Uint32Array, out: Uint32Array): void {
  const scale = 256 / (range[1] - range[0] || 1);
  for (let i = 0; i < out.length; i++) {
    const v = (values[i] - range[0]) * scale;
    out[i] = Number.isNaN(v) ? 0xff808080 : table[v >= 255 ? 255 : v > 0 ? Math.floor(v) : 0];
  }
}

/** The difference of two pictures of one shape, by pixel: mean over channels of the absolute one, or the signed one of the first channel. */
export function difference(x: Picture, y: Picture, signed = false): Float32Array | null {
  if (x.h !== y.h || x.w !== y.w || x.c !== y.c) return null;
  const out = new Float32Array(x.h * x.w);
  for (let i = 0; i < out.length; i++) {
    let t = 0;
    for (let j = 0; j < x.c; j++) {
      const d = valueAt(x, i * x.c + j) - valueAt(y, i * x.c + j);
      t += signed ? d : Math.abs(d);
    }
    out[i] = t / x.c;
  }
  return out;
}

/** The classes of a mask: the channel with the largest value, or the value itself where there is one channel. */
export function classesOf(p: Picture): Int32Array {
  const out = new Int32Array(p.h * p.w);
  for (let i = 0; i < out.length; i++) {
    if (p.c === 1) {
      out[i] = Math.round(valueAt(p, i));
      continue;
    }
    let best = 0;
    for (let j = 1; j < p.c; j++) if (valueAt(p, i * p.c + j) > valueAt(p, i * p.c + best)) best = j;
    out[i] = best;
  }
  return out;
}
